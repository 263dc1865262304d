//! What the desk changes of an event that is played or waits.

use super::*;

#[test]
fn a_running_event_is_paused_grows_by_an_engine_and_games_and_has_a_deadline() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let random = program("renmei-random").display().to_string();
    let open = Open::of(&directory);
    let engine = open.send("/engines/add", &[("program", &random)]);
    let name = engine.strip_prefix("/engine?name=").unwrap().replace("%20", " ");
    let copy = format!("{name} 2");
    for (other, seed) in [("b", "2"), ("c", "3")] {
        open.send("/engines/order", &[("engine", &name), ("order", "copy")]);
        let fields = [("name", other), ("option:Style", "greedy"), ("option:Seed", seed)];
        open.send("/engine", &[&[("engine", copy.as_str())], &fields[..]].concat());
    }
    let compared = open.get(&format!("/engines/compare?engine={}&engine=b", name.replace(' ', "%20")));
    assert!(
        compared.contains("options.Style") && !compared.contains("<td class=\"name\">command"),
        "{compared}"
    );
    let league = [
        ("kind", "league"),
        ("name", "cup"),
        ("engine", name.as_str()),
        ("engine", "b"),
        ("games", "2000"),
        ("clock", "byoyomi 60s"),
        ("max_moves", "60"),
        ("do", "begin"),
    ];
    assert_eq!(open.send("/new/event", &league), "/");
    until("games", || open.games("cup") > 1);
    let change = |fields: &[(&str, &str)]| {
        let fields: Vec<_> = [("event", "cup")].into_iter().chain(fields.iter().copied()).collect();
        open.post("/events/change", &fields)
    };
    let changed = |fields: &[(&str, &str)]| {
        let answer = change(fields);
        assert_eq!(answer.status, 303, "{fields:?}: {}", answer.body);
    };
    let text = || fs::read_to_string(directory.join("cup.toml")).unwrap();

    open.order("cup", "pause");
    let home = open.get("/");
    assert!(home.contains("paused") && home.contains("value=\"resume\""), "{home}");
    open.order("cup", "resume");
    assert_eq!(
        open.post("/events/order", &[("event", "cup"), ("order", "resume")]).status,
        400,
        "it is not paused"
    );

    changed(&[("joins", "c")]);
    assert!(text().contains("name = \"c\""));
    until("the number of all games", || open.get("/").contains("/ 6000"));
    let refused = change(&[("games", "none"), ("at-once", "3")]);
    assert_eq!(refused.status, 400);
    let form =
        ["action=\"/events/change\"", "value=\"none\"", "value=\"3\"", "class=\"wrong\" role=\"alert\""];
    form.iter().for_each(|part| assert!(refused.body.contains(part), "back in the form: {}", refused.body));
    until("its games", || open.get("/events/publish?event=cup").contains("| c |"));
    let before = text();
    assert_eq!(change(&[("joins", "c")]).status, 400, "it takes part already");
    assert_eq!(change(&[("joins", "nobody")]).status, 400);
    assert_eq!(change(&[("at-once", "2"), ("version", "0")]).status, 400, "the file is another one now");
    assert_eq!(text(), before);

    changed(&[("until", "2020-01-01T22:00"), ("offset", "+09:00")]);
    assert!(
        fs::read_to_string(directory.join("hall.toml"))
            .unwrap()
            .contains("until = \"2020-01-01 22:00 +09:00\"")
    );
    until("its deadline", || open.state("cup") == "waits");
    assert!(open.get("/events/change?event=cup").contains("value=\"2020-01-01T22:00\""));
    assert_eq!(change(&[("until", "tomorrow")]).status, 400);
    changed(&[("until", "")]);
    until("games again", || open.state("cup") == "plays");

    for fewer in ["0", "1999"] {
        assert_eq!(change(&[("games", fewer)]).status, 400, "{fewer}");
    }
    let played = open.games("cup");
    changed(&[("games", "2002")]);
    until("more games with the new file", || open.games("cup") > played + 20 && open.state("cup") == "plays");
    assert!(open.get("/").contains("/ 6006"), "{}", open.get("/"));
}

#[test]
fn engines_whose_programs_are_gone_are_replaced_and_taken_out_of_an_event_with_games() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let random = program("renmei-random");
    fs::create_dir(&directory).unwrap();
    let table = |(number, name): (usize, &&str)| {
        let own = desk.path(&format!("program-{name}{}", env::consts::EXE_SUFFIX));
        fs::copy(&random, &own).unwrap();
        format!(
            "[[engines]]\nname = \"{name}\"\ncommand = '{}'\noptions = {{ Seed = {number} }}\n",
            own.display()
        )
    };
    let tables: Vec<String> = ["a", "b", "c", "d", "new"].iter().enumerate().map(table).collect();
    fs::write(directory.join("engines.toml"), tables.concat()).unwrap();
    let open = Open::of(&directory);
    let mut fields =
        vec![("kind", "league"), ("name", "cup"), ("games", "60"), ("max_moves", "40"), ("do", "begin")];
    fields.extend(["a", "b", "c", "d"].map(|name| ("engine", name)));
    assert_eq!(open.send("/new/event", &fields), "/");
    until("games", || open.games("cup") > 2);
    open.order("cup", "adjourn");
    until("a stop", || open.state("cup") == "stopped");
    for name in ["b", "c"] {
        fs::remove_file(desk.path(&format!("program-{name}{}", env::consts::EXE_SUFFIX))).unwrap();
    }
    open.order("cup", "begin");
    until("a fault", || open.state("cup") == "faulty");

    let page = open.get("/events/change?event=cup");
    assert!(page.contains("name=\"player:b\"") && page.contains("program-b"), "{page}");
    let both = [("event", "cup"), ("player:b", "by:new"), ("player:c", "out"), ("do", "begin")];
    let half = open.post("/events/change", &both[..2]);
    assert!(
        half.status == 400 && half.body.contains("program-c"),
        "the other one is gone, too: {}",
        half.body
    );
    assert_eq!(open.send("/events/change", &both), "/");
    until_within(testing::PATIENCE, || match open.state("cup").as_str() {
        "over" => Ok(()),
        _ => Err(open.get("/")),
    });
    let results = open.get("/events/publish?event=cup");
    assert!(results.contains("| new |"), "{results}");
    let page = open.get("/events/change?event=cup");
    assert!(page.contains("replaced by new") && page.contains("plays no more"), "{page}");

    // The bracket of a knock-out is drawn at its start: nobody takes a place in it, and its file stays as it was.
    let mut fields = vec![("kind", "knock-out"), ("name", "bout"), ("max_moves", "40"), ("do", "begin")];
    fields.extend(["a", "d"].map(|name| ("engine", name)));
    assert_eq!(open.send("/new/event", &fields), "/");
    until("its end", || open.state("bout") == "over");
    let before = fs::read_to_string(directory.join("bout.toml")).unwrap();
    let refused = open.post("/events/change", &[("event", "bout"), ("player:d", "by:new")]);
    assert!(refused.status == 400 && refused.body.contains("drawn at its start"), "{}", refused.body);
    assert_eq!(fs::read_to_string(directory.join("bout.toml")).unwrap(), before);
}

#[test]
fn an_engine_that_plays_already_takes_no_second_place_and_what_would_not_compare_is_not_saved() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let random = program("renmei-random");
    fs::create_dir(&directory).unwrap();
    let moved = desk.path(&format!("moved{}", env::consts::EXE_SUFFIX));
    fs::copy(&random, &moved).unwrap();
    let table = |name: &str, program: &Path, options: &str| {
        format!("[[engines]]\nname = \"{name}\"\ncommand = '{}'\n{options}", program.display())
    };
    let engines = [
        table("a", &random, ""),
        table("b", &random, "options = { Seed = 2 }\n"),
        table("again", &random, ""),
        table("moved", &moved, ""),
    ];
    fs::write(directory.join("engines.toml"), engines.concat()).unwrap();
    let open = Open::of(&directory);
    let league = [("kind", "league"), ("name", "cup"), ("games", "2000"), ("max_moves", "40")];
    let rest = [("engine", "a"), ("engine", "b"), ("do", "begin")];
    assert_eq!(open.send("/new/event", &[&league[..], &rest[..]].concat()), "/");
    until("games", || open.games("cup") > 1);
    let page = open.get("/events/change?event=cup");
    let title = "<h1>Change: cup</h1>";
    assert!(page.contains(title) && page.contains("href=\"/e/cup/\"") && page.contains("by:moved"), "{page}");
    assert!(!page.contains("by:again") && page.contains("<code>again</code> has the program"), "{page}");
    open.order("cup", "adjourn");
    until("a stop", || open.state("cup") == "stopped");

    let text = || fs::read_to_string(directory.join("cup.toml")).unwrap();
    let (before, origin) = (text(), format!("http://{}", open.host));
    let kind = ("Content-Type", "application/x-www-form-urlencoded");
    let sent = |path: &str, fields: &[(&str, &str)], language: &str| {
        let headers = [("Origin", origin.as_str()), kind, ("Accept-Language", language)];
        open.ask("POST", path, &headers, &encoded(fields)).body
    };
    let other = before.replace("max_moves = 40", "max_moves = 50");
    for (language, plays, differs) in [
        ("en", "is the build that plays as <code>a</code>", "rules.max_moves was 40, is 50"),
        ("ja", "ビルドもオプションも同じ", "rules.max_moves：40 から 50 に変更"),
    ] {
        for taken in
            [("joins", "again"), ("joins", "moved"), ("player:b", "by:again"), ("player:b", "by:moved")]
        {
            let answer = sent("/events/change", &[("event", "cup"), taken], language);
            assert!(answer.contains(plays), "{taken:?}: {answer}");
            assert!(!answer.contains("--db") && !answer.contains("--fresh"), "{answer}");
        }
        let answer = sent("/events/text", &[("event", "cup"), ("text", &other)], language);
        assert!(answer.contains(differs) && answer.contains("max_moves = 50"), "{answer}");
        assert!(!answer.contains("--db") && !answer.contains("--fresh"), "{answer}");
    }
    assert_eq!(text(), before);
    open.order("cup", "begin");
    until("games again", || open.state("cup") == "plays");
}
