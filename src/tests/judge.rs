//! A judge of running games, through the real binary: what it says is shown and kept, and no game waits for it.

use crate::support::{Desk, program};

/// Two engines that play the same games in every event and take 20 ms for each move, with or without a judge.
fn config(judge: &str) -> String {
    let command = program("renmei-puppet");
    format!(
        "[event]\nname = \"judged\"\ngames = 2\nconcurrency = 1\noversubscribe = true\n[openings]\nfile = \"built-in\"\n\
         [rules]\nmax_moves = 60\n[time]\nfixed = \"20ms\"\nmargin = \"60s\"\n{judge}\n\
         [defaults]\ncommand = '{}'\noptions = {{ Nps = 1000 }}\n\
         [[engines]]\nname = \"one\"\noptions = {{ Seed = 1 }}\n[[engines]]\nname = \"two\"\noptions = {{ Seed = 2 }}\n",
        command.display()
    )
}

fn faulty(mode: &str) -> String {
    let command = program("renmei-puppet");
    format!(
        "[judge]\ncommand = '{}'\nargs = [\"--mode\", \"{mode}\"]\nnodes = 1000\npatience = \"1s\"",
        command.display()
    )
}

/// Everything that the games of an event are, but for times.
fn games(desk: &Desk) -> Vec<Vec<String>> {
    let sql = "SELECT g.number, g.result, g.cause, g.plies, g.opening_moves, \
               (SELECT group_concat(move, ' ') FROM (SELECT move FROM moves WHERE game = g.id ORDER BY ply)) \
               FROM games g ORDER BY g.number";
    desk.query(sql)
}

fn play(judge: &str) -> Desk {
    let desk = Desk::new();
    desk.write("event.toml", &config(judge));
    let done = desk.renmei(&["run", "event.toml", "--db", "event.db"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    desk
}

#[test]
fn a_judge_that_fails_in_any_way_changes_no_game_and_no_ruling() {
    let without = games(&play(""));
    assert_eq!(without.len(), 2);
    assert!(without.iter().all(|game| game[2] == "max-moves" || game[2] == "mate"), "{without:?}");
    let fails_unnoticed = &|mode: &str| {
        let desk = play(&faulty(mode));
        assert_eq!(games(&desk), without, "{mode}");
        let verified = desk.renmei(&["verify", "event.db"]);
        assert_eq!(verified.status.code(), Some(0), "{mode}: {}", String::from_utf8_lossy(&verified.stdout));
    };
    // Engines that wait for their time leave the processor to each other.
    for modes in [["crash", "hang", "flood", "longline"], ["nopiece", "garbage", "crashready", "ignorequit"]]
    {
        std::thread::scope(|scope| {
            for mode in modes {
                scope.spawn(move || fails_unnoticed(mode));
            }
        });
    }
}

#[test]
fn what_a_judge_says_is_kept_beside_the_game_and_stands_in_its_record() {
    let command = program("renmei-pairwise");
    let desk = play(&format!("[judge]\ncommand = '{}'\nnodes = 20", command.display()));
    assert_eq!(games(&desk), games(&play("")), "a judge changes no game");
    let said = desk.query("SELECT number, ply, score_cp, mate FROM judgements ORDER BY number, ply");
    assert!(!said.is_empty(), "nothing was judged");
    let plies = desk.query("SELECT number, plies FROM games");
    let longest =
        |number: &str| plies.iter().find(|game| game[0] == number).unwrap()[1].parse::<u32>().unwrap();
    assert!(said.iter().all(|row| row[1].parse::<u32>().unwrap() <= longest(&row[0])), "{said:?}");
    let exported = desk.renmei(&["export", "event.db", "--format", "csa"]);
    let records = String::from_utf8_lossy(&exported.stdout);
    assert_eq!(records.matches("judge: ").count(), said.len(), "{records}");
    let drawn =
        desk.renmei(&["report", "event.db", "--plot", "eval.svg", "--of", &format!("eval:{}", said[0][0])]);
    assert_eq!(drawn.status.code(), Some(0), "{}", String::from_utf8_lossy(&drawn.stderr));
    assert!(std::fs::read_to_string(desk.path("eval.svg")).unwrap().contains(">judge<"));
}

#[test]
fn the_opinions_of_a_judge_with_a_scale_are_on_the_common_one() {
    let command = program("renmei-pairwise");
    let said = |scale: &str| {
        let desk = play(&format!("[judge]\ncommand = '{}'\nnodes = 20\n{scale}", command.display()));
        let rows = desk.query("SELECT score_cp FROM judgements WHERE score_cp IS NOT NULL");
        rows.into_iter().map(|row| row[0].parse().unwrap()).collect::<Vec<i64>>()
    };
    // One of its centipawns is worth a hundred of the common scale.
    let scaled = said("scale = 6");
    assert!(!scaled.is_empty() && scaled.iter().all(|cp| cp % 100 == 0 || cp.abs() == 99_999), "{scaled:?}");
    let plain = said("");
    assert!(plain.iter().any(|cp| cp % 100 != 0), "{plain:?}");
}

#[test]
fn a_judge_by_time_searches_about_that_long_and_stands_on_the_page_of_the_report() {
    let log = "\nlog = \"off\"";
    let desk = Desk::new();
    let engine = desk.path("judge.sh");
    // It notes how it is asked.
    let script = format!(
        "#!/bin/sh\nwhile read -r line; do case \"$line\" in go*) echo \"$line\" >>'{}';; esac; echo \"$line\"; done | {}\n",
        desk.path("asked").display(),
        program("renmei-pairwise").display()
    );
    std::fs::write(&engine, script).unwrap();
    std::fs::set_permissions(&engine, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let judge = format!("[judge]\ncommand = '{}'\ntime = \"30ms\"", engine.display());
    let config = config(&judge).replace("\n[openings]", &format!("{log}\n[openings]"));
    desk.write("event.toml", &config);
    let done = desk.renmei(&["run", "event.toml", "--db", "event.db"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let asked = std::fs::read_to_string(desk.path("asked")).unwrap();
    assert!(asked.lines().count() > 2 && asked.lines().all(|line| line == "go movetime 30"), "{asked}");
    let page = desk.renmei(&["report", "event.db", "--html", "event.html"]);
    assert_eq!(page.status.code(), Some(0), "{}", String::from_utf8_lossy(&page.stderr));
    let page = std::fs::read_to_string(desk.path("event.html")).unwrap();
    let games = crate::report::games_of(&page);
    let games: Vec<serde_json::Value> =
        games.lines().step_by(2).map(|line| serde_json::from_str(line).unwrap()).collect();
    let said = desk.query("SELECT number, count(*) FROM judgements GROUP BY number");
    for row in &said {
        let game = games.iter().find(|game| game["number"] == row[0].parse::<u64>().unwrap()).unwrap();
        let judged = game["judged"].as_array().unwrap().len();
        assert_eq!(judged, row[1].parse::<usize>().unwrap(), "game {}", row[0]);
    }
    assert!(!said.is_empty());
}

#[test]
fn an_event_that_needs_more_cores_with_its_judge_than_there_are_is_refused() {
    let desk = Desk::new();
    let command = program("renmei-puppet");
    let judge = format!("[judge]\ncommand = '{}'\ncores = 1000", command.display());
    desk.write("event.toml", &config(&judge).replace("oversubscribe = true\n", ""));
    let done = desk.renmei(&["run", "event.toml"]);
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("and 1000 cores for the judge: 1001 cores are needed"), "{stderr}");
    assert!(!desk.path("judged.db").exists(), "nothing was begun");
}

#[test]
fn a_judge_that_cannot_be_started_is_refused_before_the_event() {
    let desk = Desk::new();
    desk.write("event.toml", &config("[judge]\ncommand = \"no-such-engine\"\nnodes = 0"));
    let done = desk.renmei(&["run", "event.toml"]);
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("judge.command") && stderr.contains("judge.nodes"), "{stderr}");
}
