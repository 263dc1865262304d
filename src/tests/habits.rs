//! What users of fastchess and cutechess-cli type is played as it stands, or refused by name; bare programs, too.

use crate::support::{Desk, program};
use serde_json::Value;
use std::{fs, process::Output};

fn random() -> String {
    format!("cmd={}", program("renmei-random").display())
}

/// Words of a command line; `RANDOM` is `cmd=` with the path of `renmei-random`.
fn words(line: &str) -> Vec<String> {
    line.split_whitespace()
        .map(|word| if word == "RANDOM" { random() } else { word.replace('~', " ") })
        .collect()
}

fn renmei(desk: &Desk, line: &str) -> Output {
    let words = words(line);
    desk.renmei(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The plan of the event that a command line has played.
fn played(desk: &Desk, line: &str) -> Value {
    let output = renmei(desk, line);
    assert!(matches!(output.status.code(), Some(0 | 10 | 11)), "{line}: {}", stderr(&output));
    serde_json::from_str(&desk.query("SELECT plan FROM events")[0][0]).unwrap()
}

const TWO: &str = "match --db event.db -engine RANDOM name=new -engine RANDOM name=old";

#[test]
fn a_command_line_of_fastchess_is_played_as_it_stands() {
    let desk = Desk::new();
    desk.write("book.epd", "startpos moves 7g7f 3c3d 2g2f\nstartpos moves 2g2f 8c8d 2f2e\n");
    let plan = played(
        &desk,
        &format!(
            "{TWO} nodes=900 -each tc=1:30+0.1 option.Style=greedy timemargin=40 restart=on -rounds 2 -games 2 \
             -repeat -concurrency 2 -force-concurrency -openings file=book.epd format=epd order=random plies=2 \
             -maxmoves 6 -srand 7 -event habits -recover -resign movecount=4 score=600 twosided=true \
             -draw movenumber=30 movecount=8 score=10"
        ),
    );
    let [new, old] = [&plan["engines"][0], &plan["engines"][1]];
    for engine in [new, old] {
        assert_eq!(engine["time"]["main"]["secs"], 90, "{engine}");
        assert_eq!(engine["time"]["increment"]["nanos"], 100_000_000);
        assert_eq!(engine["time"]["margin"]["nanos"], 40_000_000);
        assert_eq!(engine["options"], serde_json::json!([["Style", "greedy"]]));
        assert_eq!(engine["restart"], "every-game");
    }
    assert_eq!((&new["name"], &old["name"]), (&"new".into(), &"old".into()));
    assert_eq!((&new["time"]["nodes"], &old["time"]["nodes"]), (&Value::Null, &900.into()));
    assert_eq!(
        (&plan["name"], &plan["seed"], &plan["concurrency"]),
        (&"habits".into(), &7.into(), &2.into())
    );
    assert_eq!((&plan["stages"][0]["games"], &plan["rules"]["max_moves"]), (&4.into(), &12.into()));
    assert_eq!((&plan["openings"]["order"], &plan["openings"]["plies"]), (&"random".into(), &2.into()));
    let resign = serde_json::json!({ "score": 600, "moves": 4, "two_sided": true });
    let draw = serde_json::json!({ "score": 10, "plies": 16, "from_ply": 60 });
    assert_eq!((&plan["adjudication"]["resign"], &plan["adjudication"]["draw"]), (&resign, &draw));
    assert_eq!(desk.query("SELECT count(*) FROM games WHERE state = 'counted'"), [["4"]]);
}

#[test]
fn the_word_match_may_be_left_out_and_what_was_understood_is_told() {
    let desk = Desk::new();
    let line =
        TWO.replacen("match --db event.db", "", 1) + " -each tc=60+0.6 -games 2 -maxmoves 5 --db event.db";
    let output = renmei(&desk, &line);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(told.contains("renmei match --engine") && told.contains("time=60s+0.6s"), "{told}");
    assert!(told.contains("--games 2") && told.contains("--max-moves 10"), "{told}");
    assert_eq!(desk.query("SELECT count(*) FROM games WHERE state = 'counted'"), [["2"]]);
}

#[test]
fn a_sequential_test_has_as_many_games_as_its_rounds_allow() {
    let desk = Desk::new();
    let line =
        format!("{TWO} option.Style=greedy -each st=60 -rounds 6 -repeat -sprt elo0=0 elo1=300 alpha=0.05");
    let plan = played(&desk, &line);
    assert_eq!(plan["stages"][0]["format"], serde_json::json!({ "format": "sprt", "max_games": 12 }));
    assert_eq!((&plan["sprt"]["elo1"], &plan["sprt"]["model"]), (&300.0.into(), &"normalized".into()));
    assert_eq!(plan["engines"][0]["time"]["fixed"]["secs"], 60);
}

#[test]
fn what_has_no_counterpart_is_refused_by_name_with_what_to_do_and_nothing_is_started() {
    let desk = Desk::new();
    for (words, reasons) in [
        ("-tb /tb", &["-tb /tb:", "shogi has no tablebases"][..]),
        ("-each tc=40/60", &["tc=40/60", "byoyomi"]),
        ("-each tc=inf", &["tc=inf", "nodes="]),
        ("-each tc=fast", &["tc=fast", "10+0.1"]),
        ("-each proto=xboard", &["proto=xboard", "USI"]),
        ("-each conf=mine", &["conf=mine", "cmd="]),
        ("-variant standard", &["-variant standard", "shogi"]),
        ("-tournament knockout", &["-tournament knockout", "renmei init denou"]),
        ("-openings file=x.pgn format=pgn", &["format=pgn", "SFEN"]),
        ("-openings order=random", &["-openings", "file="]),
        ("-sprt elo0=0 elo1=5 model=bayesian", &["model=bayesian", "logistic"]),
        ("-concurency 4", &["-concurency", "did you mean `-concurrency`?"]),
        ("-rounds many", &["-rounds many", "whole number"]),
        ("-rounds", &["-rounds", "needs"]),
        ("-quick cmd=a cmd=b", &["-quick", "renmei match ./A ./B"]),
        ("-resign score=600 moves=3", &["-resign", "moves=3", "movecount"]),
        ("-rounds 1 -rounds 2", &["-rounds", "twice"]),
        ("--engine cmd=renmei-random", &["-engine", "--engine"]),
    ] {
        let output = renmei(&desk, &format!("{TWO} {words}"));
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {told}");
        for reason in reasons {
            assert!(told.contains(reason), "{words}: {told}");
        }
        assert!(!desk.db().exists(), "{words}: nothing is begun");
    }
}

#[test]
fn what_renmei_does_in_another_way_is_told_and_played() {
    let desk = Desk::new();
    let line = format!(
        "{TWO} -each st=60 -games 2 -maxmoves 5 -pgnout file=games.pgn notation=uci -ratinginterval 10 \
                        -recover -report penta=true -variant shogi"
    );
    let output = renmei(&desk, &line);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("-pgnout") && told.contains("renmei export"), "{told}");
    assert!(!told.contains("-recover"), "what is always so needs no word: {told}");
}

#[test]
fn an_engine_in_the_manner_of_fastchess_runs_where_renmei_runs_or_in_its_dir_where_its_command_begins() {
    let desk = Desk::new();
    fs::create_dir_all(desk.path("new/bin")).unwrap();
    let random = program("renmei-random");
    std::os::unix::fs::symlink(&random, desk.path("new/bin/engine")).unwrap();
    let line = "match --db event.db -engine cmd=./new/bin/engine name=a -engine cmd=./bin/engine name=b dir=new -each st=60 \
                -games 2 -maxmoves 5";
    let plan = played(&desk, line);
    let root = desk.dir.path();
    let place = |at: usize, key: &str| plan["engines"][at][key].as_str().unwrap().to_owned();
    assert_eq!(
        [place(0, "directory"), place(1, "directory")],
        [root.display().to_string(), root.join("new").display().to_string()]
    );
    assert_eq!(place(1, "command"), root.join("new/bin/engine").display().to_string());
}

#[test]
fn programs_alone_make_a_match_and_are_named_after_their_files() {
    let desk = Desk::new();
    for directory in ["a", "b"] {
        fs::create_dir(desk.path(directory)).unwrap();
        std::os::unix::fs::symlink(program("renmei-random"), desk.path(directory).join("engine")).unwrap();
    }
    std::os::unix::fs::symlink(program("renmei-random"), desk.path("new")).unwrap();
    let line = "match ./new a/engine ./b/engine --each time=60s option.Style=greedy --games 2 --max-moves 10 --db event.db";
    let plan = played(&desk, line);
    let engines = plan["engines"].as_array().unwrap();
    let names: Vec<_> = engines.iter().map(|engine| engine["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["new", "a", "b"]);
    assert!(engines.iter().all(|engine| engine["options"][0][1] == "greedy"), "{plan}");
    assert_eq!(engines[2]["directory"], desk.path("b").display().to_string());
    for (line, reason) in [
        ("match ./new", "a match needs at least two engines"),
        ("match", "renmei match ./new ./old"),
        ("match ./new cmd=./old", "`cmd=./old` belongs behind `--engine`"),
        ("match new old", "did you mean `./new`?"),
        (
            "match --sprt elo0=0 elo1=5 ./new ./old",
            "`./new` is not KEY=VALUE; programs stand before the options",
        ),
        ("match ./new --engine cmd=./new", "either as programs or by `--engine`"),
        ("match ./new ./new --each name=x", "each engine has a name of its own"),
    ] {
        let output = renmei(&desk, line);
        let told = stderr(&output);
        assert!(output.status.code() == Some(2) && told.contains(reason), "{line}: {told}");
    }
}

#[test]
fn a_match_without_openings_takes_the_built_in_ones_and_says_so() {
    let short = "match renmei-random renmei-random --games 2 --max-moves 40 --time 60s --db event.db";
    let desk = Desk::new();
    let output = renmei(&desk, short);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("built-in openings") && stderr(&output).contains("--openings none"));
    assert_eq!(desk.query("SELECT count(*) FROM games WHERE opening_moves <> ''"), [["2"]]);
    // The same command goes on.
    assert_eq!(renmei(&desk, short).status.code(), Some(0));
    let desk = Desk::new();
    let output = renmei(&desk, &format!("{short} --openings none"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stderr(&output).contains("built-in"), "{}", stderr(&output));
    assert_eq!(desk.query("SELECT count(*) FROM games WHERE opening_moves <> ''"), [["0"]]);
    let again = renmei(&desk, short);
    assert!(
        again.status.code() == Some(2) && stderr(&again).contains("openings was not there"),
        "{}",
        stderr(&again)
    );
    let both = renmei(&desk, &format!("{short} --openings none --openings built-in"));
    assert!(both.status.code() == Some(2) && stderr(&both).contains("none"), "{}", stderr(&both));
}

#[test]
fn the_help_of_match_lists_every_habit_with_its_meaning() {
    let desk = Desk::new();
    let help = String::from_utf8(renmei(&desk, "match --help").stdout).unwrap();
    for habit in
        ["-engine", "-each", "-rounds", "-repeat", "-pgnout", "-tb", "tc=", "st=", "timemargin=", "-seeds"]
    {
        assert!(help.lines().any(|line| line.trim_start().starts_with(habit)), "{habit}: {help}");
    }
}

#[test]
fn options_of_later_versions_of_fastchess_are_understood_or_answered() {
    let desk = Desk::new();
    let line = format!(
        "{TWO} -each st=60 -games 2 -maxmoves 5 -startup-ms 20000 -ucinewgame-ms 9000 -strict -check-mate-pvs \
         -ratinginterval 1"
    );
    let output = renmei(&desk, &line);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("limits.start=20000ms") && told.contains("limits.new_game=9000ms"), "{told}");
    assert!(told.contains("-strict: ") && told.contains("-check-mate-pvs: "), "{told}");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("after 1 of 2 games"), "a line after each game: {out}");
    let output = renmei(&desk, &format!("{TWO} -each st=60 -use-affinity 0-1 -help"));
    assert!(stderr(&output).contains("-help"), "{}", stderr(&output));
}

#[test]
fn the_records_of_pgnout_are_written_game_by_game() {
    let desk = Desk::new();
    // One after the other: records stand in the order in which their games end.
    let line =
        format!("{TWO} -each st=60 -games 2 -maxmoves 5 -concurrency 1 -pgnout file=games.pgn notation=uci");
    assert_eq!(renmei(&desk, &line).status.code(), Some(0));
    let records = fs::read_to_string(desk.path("games.pgn")).unwrap();
    assert_eq!(records.matches("N+").count(), 2, "{records}");
    let exported = desk.renmei(&["export", "event.db"]);
    assert_eq!(records, String::from_utf8_lossy(&exported.stdout), "as `renmei export` writes them");
    let checked = desk.renmei(&["import", "--verify", "games.pgn"]);
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
    // The same command goes on with the file, one line of USI for each game.
    let line = format!("{TWO} -each st=60 -games 4 -maxmoves 5 -pgnout games.usi");
    assert_eq!(renmei(&desk, &line).status.code(), Some(0));
    assert_eq!(fs::read_to_string(desk.path("games.usi")).unwrap().lines().count(), 2);
}

#[test]
fn an_engine_is_named_after_its_program_however_it_is_given_and_a_uci_name_of_an_option_is_recognized() {
    let desk = Desk::new();
    let random = program("renmei-random");
    for name in ["new", "old"] {
        std::os::unix::fs::symlink(&random, desk.path(name)).unwrap();
    }
    let line =
        "match --db event.db --engine cmd=./new --engine cmd=./old --each fixed=60s --games 2 --max-moves 10";
    assert_eq!(renmei(&desk, line).status.code(), Some(0));
    assert_eq!(desk.query("SELECT name FROM players ORDER BY 1").concat(), ["new", "old"]);
    let output = renmei(&desk, "match --db other.db ./new ./old --each option.Hash=16");
    assert!(stderr(&output).contains("no option `Hash`; did you mean `USI_Hash`?"), "{}", stderr(&output));
}
