//! What is said of a configuration that is wrong.

use super::{World, here, with};
use crate::{Event, Plan};
use std::{fs, path::Path};

#[test]
fn everything_that_is_wrong_is_told_at_once_with_its_place_and_what_would_be_right() {
    let text = r#"tiime = "5m"

[event]
format = "round-robbin"
gamse = 4
concurrency = 0

[time]
main = 10
byoyommi = "1s"

[rules]
max_moves = "256"

[openings]
files = ["bok.usi", 3]

[defaults]
optionss = { A = 1 }

[[engines]]
name = "a"
command = "alpa"
time = "byoyomi 1"
options = { Threads = 2, "Skill Level" = [1] }

[[engines]]
name = "a"
command = "beta"
time.nodes = 1000
go = "byoyomi-only"
limits = { redy = "3s", start = "0" }

[[engines]]
name = "c"
nodes = 500
"#;
    insta::assert_snapshot!(here().faults(text), @r#"
    x.toml:1:1: tiime: unknown key `tiime`; did you mean `time`?
    x.toml:4:10: event.format: unknown value "round-robbin"; did you mean "round-robin"?
    x.toml:5:1: event.gamse: unknown key `gamse`; did you mean `games`?
    x.toml:6:15: event.concurrency: 0 is out of range; it must be from 1 to 65535 or "auto"
    x.toml:9:8: time.main: 10 has no unit; write "10s" or "10ms"
    x.toml:10:1: time.byoyommi: unknown key `byoyommi`; did you mean `byoyomi`?
    x.toml:13:13: rules.max_moves: expected a whole number or "none", found the text "256"
    x.toml:16:10: openings.files[0]: there is no file `DIR/bok.usi`; did you mean `book.usi`?
    x.toml:16:21: openings.files[1]: expected a path, found the number 3
    x.toml:19:1: defaults.optionss: unknown key `optionss`; did you mean `options`?
    x.toml:23:11: engines[0].command: there is no program `alpa` on the path, in /usr/games or beside renmei; did you mean `alpha`?
    x.toml:24:8: engines[0].time: `1` has no unit; did you mean `1s` or `1ms`?
    x.toml:25:42: engines[0].options."Skill Level": expected a text, a number, true or false, found a list
    x.toml:28:8: engines[1].name: two engines are named "a"; write another `name = ".."` in one of them
    x.toml:31:6: engines[1].go: "a" has a clock with `nodes`, which it does not understand; give it a `time` of its own, or add "nodes" to this list
    x.toml:32:12: engines[1].limits.redy: unknown key `redy`; did you mean `ready`?
    x.toml:32:33: engines[1].limits.start: must be more than 0
    x.toml:34:1: engines[2].command: is missing; name the engine's program
    x.toml:36:1: engines[2].nodes: unknown key `nodes`; did you mean `time.nodes`?
    "#);
}

#[test]
fn broken_toml_is_told_with_its_lines() {
    insta::assert_snapshot!(here().faults("[event\nname = \"x\"\nseed = = 3\n"), @r#"
    x.toml:1:7: unclosed table, expected `]`
    x.toml:3:8: extra `=`, expected nothing
    x.toml:3:10: unexpected key or value, expected newline, `#`
    "#);
}

#[test]
fn a_key_that_stands_there_twice_is_a_fault() {
    insta::assert_snapshot!(here().faults("[event]\nseed = 1\nseed = 2\n"), @"x.toml:3:1: seed: duplicate key");
}

#[test]
fn the_empty_file_is_told_what_it_lacks() {
    insta::assert_snapshot!(here().faults(""), @"x.toml:1:1: engines: an event needs at least two engines");
}

#[test]
fn a_file_that_is_not_there_is_a_fault() {
    insta::assert_snapshot!(Event::load(Path::new("nowhere.toml")).unwrap_err().to_string(), @"nowhere.toml: cannot be read: No such file or directory (os error 2)");
}

#[test]
fn a_file_in_another_encoding_is_named_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("sjis.toml");
    // `name = "水匠"` in Shift_JIS.
    fs::write(&file, b"name = \"\x90\x85\x8f\xa0\"\n").unwrap();
    let faults = Event::load(&file).unwrap_err().to_string();
    assert!(faults.ends_with("sjis.toml: is written in Shift_JIS (CP932); save it as UTF-8"), "{faults}");
}

#[test]
fn a_path_with_backslashes_in_double_quotes_is_answered_with_single_quotes() {
    let world = here();
    let faults = |path: &str| world.faults(&format!("[[engines]]\ncommand = \"{path}\"\n"));
    for path in [r"C:\engines\a.exe", r"C:\new\a.exe", r"C:\new\test.exe"] {
        let faults = faults(path);
        assert!(faults.contains("in single quotes, as in 'C:\\"), "{path}: {faults}");
    }
}

#[test]
fn without_a_file_faults_are_told_by_their_keys() {
    let faults = Plan::parse(&with("[event]\ngames = 0\n"), None, &here().environment).unwrap_err();
    assert_eq!(faults.to_string(), "event.games: 0 is out of range; it must be from 1 to 1000000");
}

/// Each of these lines, set before the engines, with the one fault that it brings.
fn told_before(lines: &[&str]) -> String {
    lines.iter().map(|lines| told(&here(), lines, &with(lines))).collect()
}

/// Each of these lines, set below the last engine, with the one fault that it brings.
fn told_of_engine(lines: &[&str]) -> String {
    lines.iter().map(|lines| told(&here(), lines, &format!("{}{lines}", with("")))).collect()
}

fn told(world: &World, lines: &str, text: &str) -> String {
    let faults = world.faults(text);
    assert_eq!(faults.lines().count(), 1, "{faults}");
    let (_, fault) = faults.split_once(' ').unwrap();
    format!("{}\n    {fault}\n", lines.replace('\n', " | "))
}

#[test]
fn each_contradiction_of_an_event_is_told() {
    insta::assert_snapshot!(told_before(&[
        "[event]\nname = \" \"",
        "[event]\naffinity = true\noversubscribe = true",
        "[event]\ndatabase = \"bin\"",
        "[event]\ndatabase = \":memory:\"",
        "[event]\ndatabase = \"nowhere/x.db\"",
        "[event]\nreplay_limit = 2",
        "[event]\nseed = -1",
        "[event]\ngpus = inf",
        "[event]\nbest_of = 3",
        "event = 3",
        "colour = 3",
    ]), @r#"
    [event] | name = " "
        event.name: is empty
    [event] | affinity = true | oversubscribe = true
        event.affinity: cannot be with `oversubscribe = true`: pinned games need cores of their own
    [event] | database = "bin"
        event.database: `DIR/bin` is a directory, not a file
    [event] | database = ":memory:"
        event.database: `:memory:`, `file:..` and an empty name are no names of files for SQLite; name a file, such as `event.db`
    [event] | database = "nowhere/x.db"
        event.database: the directory of `DIR/nowhere/x.db` does not exist
    [event] | replay_limit = 2
        event.replay_limit: no draw is played again; say `replay_draws = "same"` or `"swap"` too
    [event] | seed = -1
        event.seed: -1 is out of range; it must be from 0 to 9223372036854775807
    [event] | gpus = inf
        event.gpus: inf is out of range; it must be from 0 to 1024
    [event] | best_of = 3
        event.best_of: unknown key `best_of`; did you mean `games`?
    event = 3
        event: expected a table, found the number 3
    colour = 3
        colour: unknown key `colour`; known are event, stage, time, rules, adjudication, scoring, tiebreaks, openings, sprt, defaults, engines, tune, parameters, notify, http, judge and serve
    "#);
}

#[test]
fn each_contradiction_of_a_stage_is_told() {
    insta::assert_snapshot!(told_before(&[
        "[event]\nformat = \"swiss\"",
        "[event]\nrounds = 5",
        "[event]\nformat = \"double-round-robin\"\ncycles = 2",
        "[event]\nformat = \"gauntlet\"\nchallengers = 2",
        "[event]\nentrants = 3",
        "[event]\nentrants = \"al\"",
        "[event]\nformat = \"swiss\"\nrounds = 3\ntie = \"higher-seed\"",
        "[event]\nformat = \"knock-out\"\nextra_pairs = 3",
        "[event]\nformat = \"knockout\"",
        "[event]\ngames = 2\n[[stage]]",
        "[[stage]]\nentrants = 2\n[[stage]]\nentrants = 3",
        "stage = []",
    ]), @r#"
    [event] | format = "swiss"
        event.rounds: is missing; a Swiss needs a number of rounds, such as `rounds = 5`
    [event] | rounds = 5
        event.rounds: has no meaning in format "round-robin": it belongs to random, information and swiss
    [event] | format = "double-round-robin" | cycles = 2
        event.cycles: has no meaning in format "double-round-robin": it has two cycles; use "round-robin" for more
    [event] | format = "gauntlet" | challengers = 2
        event.challengers: 2 of 2 players challenge, so that nobody is left to meet them
    [event] | entrants = 3
        event.entrants: 3 is more than the 2 engines of the file
    [event] | entrants = "al"
        event.entrants: expected a whole number or "all", found the text "al"
    [event] | format = "swiss" | rounds = 3 | tie = "higher-seed"
        event.tie: has no meaning in format "swiss": it belongs to knock-out
    [event] | format = "knock-out" | extra_pairs = 3
        event.extra_pairs: no more games are played; say `tie = "more-games"` too
    [event] | format = "knockout"
        event.format: unknown value "knockout"; did you mean "knock-out"?
    [event] | games = 2 | [[stage]]
        event.games: belongs in a `[[stage]]` where there are stages
    [[stage]] | entrants = 2 | [[stage]] | entrants = 3
        stage[1].entrants: 3 is more than the 2 entrants of the stage before
    stage = []
        stage: names no stage
    "#);
}

#[test]
fn each_contradiction_of_an_sprt_is_told() {
    insta::assert_snapshot!(told_before(&[
        "[event]\nformat = \"sprt\"",
        "[event]\nformat = \"sprt\"\n[sprt]\nelo0 = 0",
        "[event]\nformat = \"sprt\"\n[sprt]\nelo0 = 5\nelo1 = 5",
        "[event]\nformat = \"sprt\"\n[sprt]\nelo0 = 0\nelo1 = 5\nalpha = 0.5",
        "[event]\nformat = \"sprt\"\n[sprt]\nelo0 = 0\nelo1 = 5\nmax_games = 5",
        "[event]\nformat = \"sprt\"\ngames = 2\n[sprt]\nelo0 = 0\nelo1 = 5",
        "[event]\nformat = \"sprt\"\nreplay_draws = \"same\"\n[sprt]\nelo0 = 0\nelo1 = 5",
        "[sprt]\nelo0 = 0\nelo1 = 5",
    ]), @r#"
    [event] | format = "sprt"
        sprt: is missing; format "sprt" needs its two hypotheses `elo0` and `elo1`
    [event] | format = "sprt" | [sprt] | elo0 = 0
        sprt.elo1: is missing; say how much stronger the first engine is by H1, such as `elo1 = 10`
    [event] | format = "sprt" | [sprt] | elo0 = 5 | elo1 = 5
        sprt.elo1: must be above `elo0`: 5 is not above 5
    [event] | format = "sprt" | [sprt] | elo0 = 0 | elo1 = 5 | alpha = 0.5
        sprt.alpha: 0.5 is out of range; it must be from 0.0001 to 0.4999
    [event] | format = "sprt" | [sprt] | elo0 = 0 | elo1 = 5 | max_games = 5
        sprt.max_games: must be even: games are played in colour-swapped pairs
    [event] | format = "sprt" | games = 2 | [sprt] | elo0 = 0 | elo1 = 5
        event.games: has no meaning in format "sprt": an SPRT has `max_games` in `[sprt]` instead
    [event] | format = "sprt" | replay_draws = "same" | [sprt] | elo0 = 0 | elo1 = 5
        event.replay_draws: a sequential test counts its draws; leave it out
    [sprt] | elo0 = 0 | elo1 = 5
        sprt: no stage has format "sprt"; say `format = "sprt"` or leave this table out
    "#);
    let three = format!(
        "{}[[engines]]\ncommand = \"gamma\"",
        with("[event]\nformat = \"sprt\"\n[sprt]\nelo0 = 0\nelo1 = 5")
    );
    insta::assert_snapshot!(told(&here(), "three engines", &three), @r#"
    three engines
        event.format: an SPRT is between two engines, here are 3
    "#);
}

#[test]
fn each_contradiction_of_the_games_is_told() {
    insta::assert_snapshot!(told_before(&[
        "[rules]\nmax_moves = 0",
        "[rules]\nmax_moves = \"none\"\nat_limit = \"draw\"",
        "[rules]\ndeclaration = \"28\"",
        "[rules]\nmate_ends_game = \"yes\"",
        "[adjudication]\nresign = { moves = 3 }",
        "[adjudication]\ndraw = { score = -1 }",
        "[defaults]\nscale = 0",
        "[openings]\nplies = 3",
        "[openings]\nfile = \"bok.usi\"",
        "[openings]\nfile = \"bin\"",
        "[openings]\nfile = \"book.usi\"\nfiles = [\"book.usi\"]",
        "[openings]\nfiles = []",
        "[openings]\nfile = \"book.usi\"\nplies = 600",
        "[event]\ngames = 3\n[openings]\nfile = \"book.usi\"\npairs = true",
    ]), @r#"
    [rules] | max_moves = 0
        rules.max_moves: 0 is out of range; it must be from 1 to 100000 or "none"
    [rules] | max_moves = "none" | at_limit = "draw"
        rules.at_limit: there is no limit with `max_moves = "none"`; leave one of the two out
    [rules] | declaration = "28"
        rules.declaration: unknown value "28"; expected "27", "24", "try" or "none"
    [rules] | mate_ends_game = "yes"
        rules.mate_ends_game: expected true or false, found the text "yes"
    [adjudication] | resign = { moves = 3 }
        adjudication.resign.score: is missing; say at how many centipawns a side is lost, such as `score = 2000`
    [adjudication] | draw = { score = -1 }
        adjudication.draw.score: -1 is out of range; it must be from 0 to 1000000
    [defaults] | scale = 0
        defaults.scale: 0 is out of range; it must be from 1 to 1000000
    [openings] | plies = 3
        openings.file: is missing; name a file of openings, or `"built-in"`
    [openings] | file = "bok.usi"
        openings.file: there is no file `DIR/bok.usi`; did you mean `book.usi`?
    [openings] | file = "bin"
        openings.file: `DIR/bin` is a directory, not a file
    [openings] | file = "book.usi" | files = ["book.usi"]
        openings.files: `file` already names the openings; write them all here
    [openings] | files = []
        openings.files: names no file
    [openings] | file = "book.usi" | plies = 600
        openings.plies: 600 plies of opening leave no move of the 512 in `rules.max_moves`
    [event] | games = 3 | [openings] | file = "book.usi" | pairs = true
        openings.pairs: colour-swapped pairs need an even number of games, here are 3 an encounter
    "#);
}

#[test]
fn each_contradiction_of_a_clock_is_told() {
    insta::assert_snapshot!(told_before(&[
        "time = \"5m+10\"",
        "time = 5",
        "time = { margin = \"1s\" }",
        "time = { main = \"0\" }",
        "time = { main = \"5m\", fixed = \"1s\" }",
        "time = { control = \"5m\", byoyomi = \"1s\" }",
        "time = { byoyomi = \"500ms\", accounting = \"seconds\" }",
        "time = { main = \"10s\", least = \"1.5s\", accounting = \"seconds\" }",
        "time = { main = \"10s\", delay = \"1.5ms\" }",
        "time = { byoyomi = \"2s\", least = \"2s\", accounting = \"seconds\" }",
        "time = { fixed = \"1s\", least = \"2s\" }",
        "time = { nodes = 0 }",
        "time = { nodes = 1000, patience = 0 }",
        "time = { byoyomi = \"1sec\" }",
        "time = { byoyomi = 1.5 }",
    ]), @r#"
    time = "5m+10"
        time: `10` has no unit; did you mean `10s` or `10ms`?
    time = 5
        time: expected a text such as "5m+10s" or a table, found the number 5
    time = { margin = "1s" }
        time: does not say how much time there is; write it as in `5m+10s`, `10m byoyomi 30s`, `byoyomi 1s`, `fixed 100ms`, `nodes 1000` or `depth 6`
    time = { main = "0" }
        time: there is no time and no limit in it; write it as in `5m+10s`, `10m byoyomi 30s`, `byoyomi 1s`, `fixed 100ms`, `nodes 1000` or `depth 6`
    time = { main = "5m", fixed = "1s" }
        time: `fixed` is all the time of a move; `main` cannot go with it
    time = { control = "5m", byoyomi = "1s" }
        time.byoyomi: `control` already says how much time there is; give one of the two
    time = { byoyomi = "500ms", accounting = "seconds" }
        time: `byoyomi` is 500ms, but `accounting = "seconds"` counts whole seconds
    time = { main = "10s", least = "1.5s", accounting = "seconds" }
        time: `least` is 1s500ms, but `accounting = "seconds"` counts whole seconds
    time = { main = "10s", delay = "1.5ms" }
        time: `delay` is 1.500ms, but clocks count whole milliseconds
    time = { byoyomi = "2s", least = "2s", accounting = "seconds" }
        time: nobody can win: `least` alone uses up all the time of the first move
    time = { fixed = "1s", least = "2s" }
        time: nobody can win: `least` alone uses up all the time of the first move
    time = { nodes = 0 }
        time.nodes: 0 is out of range; it must be from 1 to 9223372036854775807
    time = { nodes = 1000, patience = 0 }
        time.patience: must be more than 0
    time = { byoyomi = "1sec" }
        time.byoyomi: `1sec` has an unknown unit; the units are `h`, `m`, `s` and `ms`
    time = { byoyomi = 1.5 }
        time.byoyomi: expected a duration such as "10s", found the number 1.5
    "#);
}

#[test]
fn each_contradiction_of_an_engine_is_told() {
    insta::assert_snapshot!(told_of_engine(&[
        "time = \"nodes 100\"\ngo = \"byoyomi-only\"",
        "time = \"depth 9\"\ngo = [\"nodes\"]",
        "go = [\"nods\"]",
        "gpu = 1",
        "time = \"byoyomi 1s\"\nreserve = \"1s\"",
        "directory = \"nowhere\"",
        "cmd = \"x\"",
        "threads = 4",
        "args = \"-x\"",
        "options = { \"A\" = \"x\\ny\" }",
        "limits = { start = 30 }",
        "restart = \"always\"",
        "[[engines]]\nname = \"b\"\ncommand = \"gamma\"",
        "[[engines]]\nname = \"c\"",
        "[[engines]]\ncommand = \"gama\"",
        "[[engines]]\ncommand = \"gamma -x\"",
        "[[engines]]\ncommand = \"./gamma\"",
        "[[engines]]\ncommand = \"./book.usi\"",
        "[[engines]]\ncommand = \"./bin\"",
        "[defaults]\nname = \"x\"",
    ]), @r#"
    time = "nodes 100" | go = "byoyomi-only"
        engines[1].go: "b" has a clock with `nodes`, which it does not understand; give it a `time` of its own, or add "nodes" to this list
    time = "depth 9" | go = ["nodes"]
        engines[1].go: "b" has a clock with `depth`, which it does not understand; give it a `time` of its own, or add "depth" to this list
    go = ["nods"]
        engines[1].go[0]: unknown value "nods"; did you mean "nodes"?
    gpu = 1
        event.gpus: "b" needs 1 of a GPU, the event has 0
    time = "byoyomi 1s" | reserve = "1s"
        engines[1].reserve: keeps back 1s, but "b" has only 1s for its first move; lower `reserve`, or give the engine more time
    directory = "nowhere"
        engines[1].directory: there is no directory `DIR/nowhere`
    cmd = "x"
        engines[1].cmd: unknown key `cmd`; did you mean `command`?
    threads = 4
        engines[1].threads: unknown key `threads`; did you mean `options.Threads`?
    args = "-x"
        engines[1].args: expected a list of texts, found the text "-x"
    options = { "A" = "x\ny" }
        engines[1].options.A: must not contain line breaks or other control characters
    limits = { start = 30 }
        engines[1].limits.start: 30 has no unit; write "30s" or "30ms"
    restart = "always"
        engines[1].restart: unknown value "always"; expected "on-fault", "every-game" or "never"
    [[engines]] | name = "b" | command = "gamma"
        engines[2].name: two engines are named "b"; write another `name = ".."` in one of them
    [[engines]] | name = "c"
        engines[2].command: is missing; name the engine's program
    [[engines]] | command = "gama"
        engines[2].command: there is no program `gama` on the path, in /usr/games or beside renmei; did you mean `gamma`?
    [[engines]] | command = "gamma -x"
        engines[2].command: there is no program `gamma -x`; arguments are written in `args`
    [[engines]] | command = "./gamma"
        engines[2].command: there is no program `DIR/gamma`
    [[engines]] | command = "./book.usi"
        engines[2].command: `DIR/book.usi` is not executable
    [[engines]] | command = "./bin"
        engines[2].command: `DIR/bin` is a directory, not a program
    [defaults] | name = "x"
        defaults.name: each engine has a name of its own
    "#);
}

#[test]
fn an_event_with_one_engine_left_names_those_that_are_not_there() {
    let text = "time = \"1m\"\n[[engines]]\ncommand = \"alpha\"\n[[engines]]\ncommand = \"delta\"\noptional = true\n";
    insta::assert_snapshot!(here().faults(text), @"x.toml:2:1: engines: an event needs at least two engines; delta is left out: there is no program `delta` on the path, in /usr/games or beside renmei");
}

#[test]
fn a_player_of_the_network_has_a_login_name_and_a_clock_and_nothing_else() {
    let text = r#"
[serve]
wait = 10
[time]
nodes = 5
[[engines]]
command = "alpha"
[[engines]]
name = "far away"
remote = true
command = "beta"
options = { Threads = 2 }
"#;
    insta::assert_snapshot!(here().faults(text), @r#"
    x.toml:8:1: engines[1].time: a `remote` player has a clock: main time, byoyomi or increment
    x.toml:9:8: engines[1].name: is not a name for a login: 1 to 32 letters, digits, `_`, `-`, `@` or `.`
    x.toml:11:11: engines[1].command: has no meaning for a `remote` player, which is started elsewhere
    x.toml:12:11: engines[1].options: has no meaning for a `remote` player, which is started elsewhere
    "#);
}

#[test]
fn a_precision_is_checked_with_its_place() {
    let three = with("[event]\nuntil = \"5 elo\"\n") + "[[engines]]\nname = \"third\"\ncommand = \"alpha\"\n";
    let texts = [
        "[event]\nuntil = \"0 elo\"",
        "[event]\nuntil = \"5 Elo?\"",
        "[event]\nuntil = 5",
        "[event]\nuntil = \"5 elo\"\ngames = 3\ncycles = 2\nreplay_draws = \"same\"",
        "[event]\nuntil = \"5 elo\"\nformat = \"sprt\"\n[sprt]\nelo0 = 0\nelo1 = 5",
        "[event]\nuntil = \"5 elo\"\n[sprt]\nelo0 = 0\nelo1 = 5",
        "[event]\nuntil = \"5 elo\"\nformat = \"swiss\"\nrounds = 2",
    ];
    let faults: Vec<String> = texts.iter().map(|text| here().faults(&with(text))).collect();
    insta::assert_snapshot!([faults.join("\n--\n"), here().faults(&three)].join("\n--\n"), @r#"
    x.toml:3:9: event.until: 0 Elo is not between 0.1 and 400
    --
    x.toml:3:9: event.until: `5 Elo?` is not a number of Elo; say such as "5 elo"
    --
    x.toml:3:9: event.until: expected a text, found the number 5
    --
    x.toml:4:9: event.games: must be even: games are played in colour-swapped pairs
    x.toml:5:10: event.cycles: has no meaning beside `until`: it belongs to round-robin and gauntlet
    x.toml:6:16: event.replay_draws: a sequential test counts its draws; leave it out
    --
    x.toml:3:9: event.until: has no meaning in format "sprt": an SPRT ends by its verdict
    --
    x.toml:4:1: sprt: no stage has format "sprt"; say `format = "sprt"` or leave this table out
    --
    x.toml:3:9: event.until: has no meaning in format "swiss": it is for two engines of a round robin
    --
    x.toml:3:9: event.until: is for two engines, here are 3
    "#);
}

#[test]
fn a_key_of_the_event_in_a_stage_is_told_where_it_belongs() {
    let text = "[[stage]]\nformat = \"swiss\"\nrounds = 2\nbreak = \"3m\"\nroundz = 1\n";
    insta::assert_snapshot!(here().faults(&with(text)), @r#"
    x.toml:5:1: stage[0].break: unknown key `break`: it belongs in `[event]`
    x.toml:6:1: stage[0].roundz: unknown key `roundz`; did you mean `rounds`?
    "#);
    let gauntlet = "[event]\nformat = \"gauntlet\"\nbreak = \"3m\"\n";
    insta::assert_snapshot!(
        here().faults(&with(gauntlet)),
        @"x.toml:4:9: event.break: needs rounds, which neither a gauntlet nor a sequential test has"
    );
}

#[test]
fn a_break_is_a_duration_or_times_of_the_day() {
    let read = |text: &str| here().faults(&with(&format!("[event]\nbreak = {text}\n")));
    let faults: String = ["\"24:30\"", "\"13:30, noon\"", "\"13.30\"", "[\"13:30\"]", "\"2026-11-24 22:00\""]
        .map(|text| read(text) + "\n")
        .concat();
    insta::assert_snapshot!(faults, @r#"
    x.toml:3:9: event.break: `24:30` is no time of the day; write it as in "13:30", which is UTC, or "13:30 +09:00"
    x.toml:3:9: event.break: `noon` is no time of the day; write it as in "13:30", which is UTC, or "13:30 +09:00"
    x.toml:3:9: event.break: `13.30` has no unit; did you mean `13.30s` or `13.30ms`?
    x.toml:3:9: event.break: expected a duration such as "10s", found a list
    x.toml:3:9: event.break: `2026-11-24 22:00` is no time of the day; write it as in "13:30", which is UTC, or "13:30 +09:00"
    "#);
}

#[test]
fn of_thousands_of_faults_the_first_ones_are_listed_and_none_is_long() {
    let unknown: String = (0..10_000).map(|key| format!("k{key} = 1\n")).collect();
    let long = "x".repeat(100_000);
    let attacks = [
        ("equal keys", format!("[event]\n{}", "games = 2\n".repeat(16_000)), "duplicate key"),
        ("unknown keys", format!("[event]\n{unknown}"), "unknown key `k0`"),
        ("broken lines", "=\n".repeat(16_000), "key"),
        (
            "engines of one name",
            "[[engines]]\nname = \"e\"\ncommand = \"x y\"\n".repeat(4_000),
            "two engines are named",
        ),
        ("a long key", format!("[event]\n{long} = 1\n"), "unknown key `xxx"),
        ("a long value", format!("[event]\nformat = \"{long}\"\n"), "unknown value \"xxx"),
    ];
    for (name, text, first) in attacks {
        let faults = Event::parse(&text, Some(Path::new("x.toml")), &here().environment).unwrap_err();
        let shown = faults.to_string();
        assert!(shown.contains(first), "{name}: {shown:.300}");
        assert!(faults.iter().count() <= 51 && shown.len() < 20_000, "{name}: {} bytes", shown.len());
    }
}

#[test]
fn a_text_that_is_broken_throughout_is_not_parsed_to_its_end_and_one_with_a_broken_end_is() {
    let more = |text: &str| {
        let faults = here().faults(text);
        let last = faults.lines().last().unwrap_or_default().to_owned();
        let count = last
            .split_once("at least ")
            .map(|(_, rest)| rest)
            .and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
        (faults, count.unwrap_or_default())
    };
    let (_, broken) = more(&"=\n".repeat(500_000));
    assert!((1000..100_000).contains(&broken), "{broken} faults were parsed");
    let (_, one_line) = more(&"=".repeat(1_000_000));
    assert!((1000..200_000).contains(&one_line), "{one_line} faults were parsed");
    let (faults, _) = more(&("# a comment\n".repeat(80_000) + "event = \n"));
    assert_eq!(faults.lines().count(), 1, "{faults}");
}

#[test]
fn names_too_long_for_a_line_are_faults() {
    let long = "n".repeat(100_000);
    let engine = |name: &str| format!("[[engines]]\nname = \"{name}\"\ncommand = \"alpha\"\n");
    let event = |name: &str| format!("time = \"byoyomi 1s\"\n[event]\nname = \"{name}\"\n");
    let longest = "長".repeat(crate::NAME);
    let text = event(&long) + &engine(&long) + &engine(&longest);
    assert_eq!(
        here().faults(&text),
        "x.toml:3:8: event.name: has 100000 characters; a name has at most 128\n\
         x.toml:5:8: engines[0].name: has 100000 characters; a name has at most 128"
    );
}
