//! Other commands, as scripts use them.

use crate::support::{Desk, program};
use serde_json::Value;

fn league(desk: &Desk) -> Value {
    let random = format!("cmd={}", program("renmei-random").display());
    let played = desk.play(
        &[
            &[&random, "name=uniform"],
            &[&random, "name=greedy", "option.Style=greedy"],
            &[&random, "name=other", "option.Seed=9"],
        ],
        &["--games", "4", "--time", "300s", "--max-moves", "200", "--events", "events.jsonl"],
    );
    played.json()
}

#[test]
fn a_league_has_the_same_report_live_and_from_its_database() {
    let desk = Desk::new();
    let live = league(&desk);
    assert_eq!(live["games"], 12);
    assert_eq!(live["complete"], true);
    let names: Vec<_> = live["standings"].as_array().unwrap().iter().map(|line| &line["name"]).collect();
    assert_eq!(names[0], "greedy");
    for line in live["standings"].as_array().unwrap() {
        let sum = ["wins", "losses", "draws"].map(|key| line[key].as_u64().unwrap()).iter().sum::<u64>();
        assert_eq!(line["games"], sum);
        assert!(line["elo"].is_number() && line["elo_error"].is_number(), "{line}");
    }
    let db = desk.db().display().to_string();
    let stored: Value = serde_json::from_slice(&desk.renmei(&["report", &db, "--json"]).stdout).unwrap();
    assert_eq!(stored, live);
    let text = String::from_utf8(desk.renmei(&["report", &db]).stdout).unwrap();
    assert!(text.contains("greedy") && text.contains("black scores"), "{text}");
}

#[test]
fn the_events_file_has_every_game_and_move_in_order() {
    let desk = Desk::new();
    league(&desk);
    let text = std::fs::read_to_string(desk.path("events.jsonl")).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
    assert_eq!(
        (events[0]["event"].as_str(), count("game-started"), count("game-ended")),
        (Some("opened"), 12, 12)
    );
    assert_eq!(events.last().unwrap()["event"], "closed");
    let moves: usize = desk.query("SELECT count(*) FROM moves")[0][0].parse().unwrap();
    assert_eq!(count("moved"), moves);
}

#[test]
fn engines_that_always_answer_alike_are_warned_of_where_they_meet_more_often_than_there_are_lines() {
    let random = format!("cmd={}", program("renmei-random").display());
    let stderr_of = |more: &[&str]| {
        let desk = Desk::new();
        desk.write("openings.sfen", "startpos moves 7g7f\nstartpos moves 2g2f\n");
        let engines: [&[&str]; 2] = [&[&random, "nodes=1"], &[&random, "nodes=1", "name=other"]];
        desk.play(&engines, &[&["--max-moves", "20"], more].concat()).text()
    };
    let of_one_line = stderr_of(&["--games", "4", "--openings", "none"]);
    assert!(
        of_one_line.contains("1 opening line for up to 2 pairs of the same two players"),
        "{of_one_line}"
    );
    let of_two = stderr_of(&["--games", "6", "--openings", "openings.sfen"]);
    assert!(of_two.contains("2 opening lines for up to 3 pairs of the same two players"), "{of_two}");
    for more in [&["--games", "4", "--openings", "openings.sfen"][..], &["--games", "4"]] {
        assert!(!stderr_of(more).contains("repeated games are no evidence"));
    }
}

#[test]
fn the_calculator_answers_scripts_and_exit_codes() {
    let desk = Desk::new();
    let sprt = |args: &[&str]| desk.renmei(&[&["sprt"], args].concat());
    let h1 = sprt(&[
        "--pentanomial",
        "365",
        "16618",
        "36229",
        "16974",
        "390",
        "--elo0",
        "0",
        "--elo1",
        "2",
        "--json",
    ]);
    let json: Value = serde_json::from_slice(&h1.stdout).unwrap();
    assert!((json["llr"].as_f64().unwrap() - 2.250_368).abs() < 1e-6, "{json}");
    assert_eq!(h1.status.code(), Some(0), "between the bounds");
    let clear = ["--wdl", "136", "11", "6", "--elo1", "50"];
    assert_eq!(sprt(&clear).status.code(), Some(10));
    assert_eq!(sprt(&["--wdl", "6", "11", "136", "--elo1", "50"]).status.code(), Some(11));
    let wrong = sprt(&["--wdl", "1", "1", "1", "--elo0", "5", "--elo1", "1"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("elo0 = 5 is not below elo1 = 1"));
}

#[test]
fn a_test_is_planned_by_draws_and_openings_and_by_what_two_players_have_shown() {
    let desk = Desk::new();
    let plan = |args: &[&str]| desk.renmei(&[&["sprt", "plan"], args].concat());
    let done = plan(&["elo0=0", "elo1=5", "--draws", "30", "--bias", "60", "--json"]);
    let json: Value = serde_json::from_slice(&done.stdout).unwrap();
    let prospects = json["prospects"].as_array().unwrap();
    let of = |difference: f64| prospects.iter().find(|row| row["difference"] == difference).unwrap();
    let passes = [0.0, 2.5, 5.0].map(|difference| of(difference)["passes"].as_f64().unwrap());
    assert!(
        passes.iter().zip([0.05, 0.5, 0.95]).all(|(found, known)| (found - known).abs() < 0.01),
        "{passes:?}"
    );
    assert!(of(2.5)["games"].as_f64().unwrap() > of(0.0)["games"].as_f64().unwrap(), "{json}");
    let engine = format!("cmd={}", program("renmei-random").display());
    let engines =
        ["match", "--engine", &engine, "name=new", "--engine", &engine, "name=old", "option.Seed=2"];
    let rest = ["--games", "40", "--time", "300s", "--max-moves", "80", "--db", "shown.db", "--quiet"];
    assert_eq!(desk.renmei(&[&engines[..], &rest].concat()).status.code(), Some(0));
    let shown = plan(&["elo0=0", "elo1=50", "model=logistic", "--db", "shown.db", "--players", "new,old"]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(text.contains("pairs as new and old played them: 40 games") && text.contains("passes"), "{text}");
    for (words, why) in [
        (&["elo0=0"][..], "elo1 is missing"),
        (&["elo0=0", "elo1=5", "gamma=1"], "unknown key `gamma`"),
        (&["elo0=5", "elo1=0"], "elo0 = 5 is not below elo1 = 0"),
        (&["elo0=0", "elo1=5", "--draws", "100"], "pairs that always end level decide nothing"),
        (
            &["elo0=0", "elo1=5", "--db", "shown.db", "--players", "new,other"],
            "`new` and `other` have not met",
        ),
    ] {
        let refused = plan(words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}");
        let text = String::from_utf8_lossy(&refused.stderr);
        assert!(text.contains(why), "{words:?}: {text}");
    }
}

#[test]
fn a_sequential_test_stops_at_its_verdict_and_returns_it_as_exit_code() {
    let desk = Desk::new();
    let random = format!("cmd={}", program("renmei-random").display());
    let played = desk.play(
        &[&[&random, "name=greedy", "option.Style=greedy"], &[&random, "name=uniform"]],
        &["--games", "400", "--time", "300s", "--sprt", "elo0=0", "elo1=100"],
    );
    assert_eq!(played.code(), Some(10), "{}", played.text());
    let json = played.json();
    assert_eq!(json["sprt"]["verdict"], "H1");
    assert!(json["games"].as_u64().unwrap() < 400);
    assert_eq!(json["games"].as_u64().unwrap() % 2, 0, "started pairs were finished");
}

#[test]
fn more_games_at_once_than_cores_are_refused_unless_forced() {
    let desk = Desk::new();
    let random = format!("cmd={}", program("renmei-random").display());
    let args = ["match", "--engine", &random, "--engine", &random, "--games", "2", "--concurrency", "1000"];
    let refused = desk.renmei(&args);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("oversubscribe"), "{stderr}");
}

#[test]
fn peak_memory_of_engines_is_stored() {
    let desk = Desk::new();
    let random = format!("cmd={}", program("renmei-random").display());
    let engines = [&[random.as_str(), "name=a"][..], &[random.as_str(), "name=b"]];
    desk.play(&engines, &["--games", "8", "--concurrency", "1", "--time", "300s", "--max-moves", "30"]);
    let kept = desk.query("SELECT DISTINCT player FROM memory WHERE kib BETWEEN 500 AND 1000000 ORDER BY 1");
    assert_eq!(kept, [["0"], ["1"]]);
    let over = desk.query("SELECT kind FROM log ORDER BY seq DESC LIMIT 1");
    assert_eq!(over, [["closed"]], "no entry follows the end");
}

#[test]
fn help_has_examples_and_completions_list_commands() {
    let desk = Desk::new();
    let help = String::from_utf8(desk.renmei(&["match", "--help"]).stdout).unwrap();
    assert!(help.contains("--sprt") && help.contains("Examples:"), "{help}");
    let bash = String::from_utf8(desk.renmei(&["completions", "bash"]).stdout).unwrap();
    assert!(bash.contains("_renmei"));
    let version = String::from_utf8(desk.renmei(&["--version"]).stdout).unwrap();
    assert!(version.starts_with("renmei "));
}

#[test]
fn the_version_names_the_build_and_what_it_speaks() {
    let desk = Desk::new();
    let version: Value = serde_json::from_slice(&desk.renmei(&["version", "--json"]).stdout).unwrap();
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    assert!(version["target"].as_str().unwrap().contains(std::env::consts::ARCH), "{version}");
    assert!(version["rustc"].as_str().unwrap().starts_with("rustc 1."), "{version}");
    assert!(version["sqlite"].as_str().unwrap().starts_with("3."), "{version}");
    assert_eq!(version["protocols"]["csa"], "1.2.1");
    assert_eq!(version["protocols"]["machines"].is_u64(), cfg!(feature = "machines"), "{version}");
    // A database of this build has the schema that it names.
    let random = format!("cmd={}", program("renmei-random").display());
    let two: [&[&str]; 2] = [&[&random, "name=a"], &[&random, "name=b"]];
    desk.play(&two, &["--games", "1", "--max-moves", "1", "--openings", "none"]);
    let stored = &desk.query("PRAGMA user_version")[0][0];
    assert_eq!(*stored, version["protocols"]["database"].to_string());
    let text = String::from_utf8(desk.renmei(&["version"]).stdout).unwrap();
    for value in ["version", "target", "profile", "sqlite"] {
        assert!(text.contains(version[value].as_str().unwrap()), "{value}: {text}");
    }
}

#[test]
fn a_manual_page_is_written_of_each_command() {
    let desk = Desk::new();
    assert!(desk.renmei(&["man", "pages"]).status.success());
    let page = |name: &str| std::fs::read_to_string(desk.path("pages").join(name)).unwrap();
    assert!(page("renmei.1").contains("renmei\\-run(1)"), "{}", page("renmei.1"));
    assert!(page("renmei-run.1").contains("configuration file of the event"));
    assert!(page("renmei-queue-add.1").contains("renmei\\-queue\\-add"));
    assert!(!desk.path("pages/renmei-man.1").exists(), "hidden");
}

#[test]
fn a_command_that_lacks_something_says_what_that_is_and_shows_an_example() {
    let desk = Desk::new();
    for (line, what, example) in [
        ("run", "<FILE>  The configuration file of the event", "renmei run league.toml"),
        ("serve", "<FILE>  Configuration file", "renmei serve league.toml"),
        ("floodgate", "<FILE>  Configuration file", "renmei floodgate floodgate.toml"),
        ("check", "<COMMAND>  The engine's program", "renmei check fairy-stockfish"),
        ("report", "this directory has no database (*.db)", "renmei report league.db"),
        ("export", "<DB>  The database", "renmei export league.db"),
        ("import", "<FILES>...  Record files", "renmei import games/ --db archive.db"),
        ("import games", "--db <FILE>  The database to import into", "renmei import games/ --db archive.db"),
        ("log", "<GAME>  The game: its number", "renmei log 7 --db league.db"),
        ("systemd serve", "<FILE>  Its configuration file", "renmei systemd serve league.toml"),
        ("completions", "<SHELL>  The shell", "renmei completions bash"),
        ("-v account add", "<NAME>  The player's name", "renmei account add gps --db league.db"),
        ("account remove", "<NAME>  The player's name", "renmei account remove gps"),
        ("match", "needs at least two engines", "renmei match ./new ./old"),
    ] {
        let output = desk.renmei(&line.split(' ').collect::<Vec<_>>());
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{line}: {told}");
        assert!(told.contains(what) && told.contains(example), "{line}: {told}");
    }
}

#[test]
fn the_engines_explain_themselves() {
    let told = |engine: &str, argument: &str| {
        let output = std::process::Command::new(program(engine)).arg(argument).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    for (engine, word) in
        [("renmei-random", "ThinkTime"), ("renmei-puppet", "doublemove"), ("renmei-pairwise", "learn")]
    {
        let (code, text) = told(engine, "--help");
        assert!(code == Some(0) && text.contains(word), "{engine}: {text}");
    }
    let (code, text) = told("renmei-random", "--style");
    assert!(code == Some(2) && text.contains("renmei-random --help"), "{text}");
    assert!(told("renmei-random", "--version").1.starts_with("Renmei random "));
}

#[test]
fn one_game_is_singular_wherever_it_is_told() {
    let desk = Desk::new();
    let random = format!("cmd={}", program("renmei-random").display());
    let one = ["--games", "1", "--max-moves", "1", "--openings", "none"];
    let engines: [&[&str]; 2] = [&[&random, "name=a"], &[&random, "name=b"]];
    desk.play(&engines, &one);
    let told = |args: &[&str]| {
        let output = desk.renmei(args);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let run = told(
        &[
            &["match", "--engine", &random, "name=a", "--engine", &random, "name=b", "--db", "other.db"],
            &one[..],
        ]
        .concat(),
    );
    let all = [
        run,
        told(&["report", "event.db"]),
        told(&["report", "event.db", "--list"]),
        told(&["report", "event.db", "--html", "x.html"]),
        told(&["export", "event.db", "--output", "x.csa"]),
        told(&["import", "--verify", "x.csa"]),
        std::fs::read_to_string(desk.path("x.html")).unwrap(),
    ]
    .join("\n");
    for (singular, plural) in
        [("1 game", "1 games"), ("1 ply", "1 plies"), ("1 record in 1 file", "1 records")]
    {
        assert!(all.contains(singular) && !all.contains(plural), "{singular}: {all}");
    }
}
