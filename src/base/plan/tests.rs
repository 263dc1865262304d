//! What a configuration becomes, and what is said of one that is wrong.

mod attribute;
mod clocks;
mod directories;
mod far;
mod faults;
mod fingerprints;
mod ranking;
mod serve;
mod stored;
mod tune;

use crate::{
    Environment, Event, Faults, Fingerprint, GoForms, HallConfig, LibraryEngine, OpeningOrder, Plan, Restart,
    SprtModel,
    keys::{Fallback, Key, REFERENCE},
    reference,
};
use contest::schedule::{Format, Tie};
use referee::{
    clock::{Accounting, TimeControl},
    rules::{AtLimit, Declaration, Rules},
};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};
use tempfile::TempDir;

/// A directory with some programs in `bin` and an opening file.
struct World {
    dir: TempDir,
    environment: Environment,
}

impl World {
    fn new(programs: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for program in programs {
            fs::write(bin.join(program), "").unwrap();
            fs::set_permissions(bin.join(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(dir.path().join("book.usi"), "startpos moves 7g7f 3c3d\n").unwrap();
        let environment = Environment { base: dir.path().to_path_buf(), search: vec![bin], cores: 8 };
        Self { dir, environment }
    }

    fn plan(&self, text: &str) -> Plan {
        match self.document(text) {
            Event::Arranged { plan, .. } => *plan,
            other => panic!("no event: {other:?}"),
        }
    }

    fn document(&self, text: &str) -> Event {
        self.parse(text).unwrap_or_else(|faults| panic!("{faults}"))
    }

    fn parse(&self, text: &str) -> Result<Event, Faults> {
        Event::parse(text, Some(Path::new("x.toml")), &self.environment)
    }

    /// The faults of a text, with the directory written as DIR.
    fn faults(&self, text: &str) -> String {
        self.parse(text).unwrap_err().to_string().replace(self.dir.path().to_str().unwrap(), "DIR")
    }
}

const TWO: &str = r#"
[[engines]]
name = "a"
command = "alpha"
[[engines]]
name = "b"
command = "beta"
"#;

/// A whole configuration around some lines.
fn with(lines: &str) -> String {
    let time = if lines.contains("time") { "" } else { "time = \"1m+1s\"\n" };
    format!("{time}{lines}{TWO}")
}

fn here() -> World {
    World::new(&["alpha", "beta", "gamma"])
}

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn the_shortest_configuration_is_a_round_robin_of_two_games() {
    let world = here();
    let plan = world.plan(&with(""));
    assert_eq!((plan.name.as_str(), plan.seed, plan.concurrency), ("x", 1, 8));
    assert_eq!(plan.database, world.dir.path().join("x.db"));
    assert_eq!(plan.stages.len(), 1);
    assert_eq!((plan.stages[0].format, plan.stages[0].games), (Format::RoundRobin { cycles: 1 }, 2));
    assert_eq!(plan.rules, Rules::default());
    assert_eq!(plan.engines[0].command, world.dir.path().join("bin/alpha"));
    assert_eq!(plan.engines[1].time.main, secs(60));
    assert_eq!(plan.engines[1].time.increment, secs(1));
}

#[test]
fn a_key_that_is_written_out_with_its_default_changes_nothing() {
    let world = here();
    for section in REFERENCE {
        for key in section.keys[0] {
            let Fallback::Is(default) = key.default else { continue };
            let (plain, written) = (around(section.title, key, ""), around(section.title, key, default));
            let place = format!("{}: {} = {default}", section.title, key.name);
            if section.title.ends_with("`engines.toml`") {
                let library = |text: &str| {
                    LibraryEngine::parse(text, Path::new("engines.toml"), &world.environment).unwrap()
                };
                assert_eq!(library(&written), library(&plain), "{place}");
            } else if section.title.ends_with("`hall.toml`") || section.title == "`[[event]]`" {
                let hall = |text: &str| HallConfig::parse(text, None, &world.environment, false).unwrap();
                assert_eq!(hall(&written), hall(&plain), "{place}");
            } else if plain.contains("[attribute]") {
                assert_eq!(attribute::shape(&written), attribute::shape(&plain), "{place}");
            } else {
                assert_eq!(world.document(&written), world.document(&plain), "{place}");
            }
        }
    }
}

/// A configuration in which a key means something, with the key or without it.
fn around(section: &str, key: &Key, value: &str) -> String {
    let line = if value.is_empty() { String::new() } else { format!("{} = {value}\n", key.name) };
    let pair = if value.is_empty() { String::new() } else { format!(", {} = {value}", key.name) };
    match (section, key.name) {
        ("`[event]`", "replay_limit" | "replayed_draws" | "replay_clocks") => {
            with(&format!("[event]\nreplay_draws = \"swap\"\n{line}"))
        }
        ("`[event.fault_limit]`", _) => with(&format!("[event.fault_limit]\n{line}")),
        ("`[event]`", _) => with(&format!("[event]\n{line}")),
        ("`[[stage]]`", "accelerated" | "random_rounds" | "forget_rematches" | "sits_out" | "colours") => {
            with(&format!("[[stage]]\nformat = \"swiss\"\nrounds = 2\n{line}"))
        }
        ("`[[stage]]`", "challengers") => with(&format!("[[stage]]\nformat = \"gauntlet\"\n{line}")),
        ("`[[stage]]`", "tie") => with(&format!("[[stage]]\nformat = \"knock-out\"\n{line}")),
        ("`[[stage]]`", "extra_pairs") => {
            with(&format!("[[stage]]\nformat = \"knock-out\"\ntie = \"more-games\"\n{line}"))
        }
        ("`[[stage]]`", _) => with(&format!("[[stage]]\n{line}")),
        ("`time.black`, `time.white`", _) => {
            let other = if key.name == "byoyomi" { "main" } else { "byoyomi" };
            with(&format!("[time]\nwhite = \"1m\"\n[time.black]\n{other} = \"1s\"\n{line}"))
        }
        (title, _) if title.starts_with("`[time]`") => {
            let other = if key.name == "byoyomi" { "main" } else { "byoyomi" };
            with(&format!("[time]\n{other} = \"1s\"\n{line}"))
        }
        ("`hall.toml`", _) => line,
        ("`[serve]` of `hall.toml`", _) => format!("[serve]\n{line}"),
        ("`[[engines]]` of `engines.toml`", _) => format!("[[engines]]\ncommand = \"alpha\"\n{line}"),
        ("`[[event]]`", _) => format!("[[event]]\nfile = \"cup.toml\"\n{line}"),
        ("`[rules]`", _) => with(&format!("[rules]\n{line}")),
        ("`[scoring]`", _) => with(&format!("[scoring]\n{line}")),
        ("`[tiebreaks]`", _) => with(&format!("[tiebreaks]\n{line}")),
        ("`adjudication.resign`", _) => with(&format!("[adjudication]\nresign = {{ score = 9{pair} }}\n")),
        ("`adjudication.draw`", _) => with(&format!("[adjudication]\ndraw = {{ score = 9{pair} }}\n")),
        ("`[openings]`", _) => with(&format!("[openings]\nfile = \"book.usi\"\n{line}")),
        ("`[sprt]`", _) => with(&format!("[event]\nformat = \"sprt\"\n[sprt]\nelo0 = 0\nelo1 = 5\n{line}")),
        ("`[[engines]]`", _) => format!("{}{line}", with("")),
        ("`source` of an engine", _) => {
            let source = format!("git = \".\", rev = \"main\", build = \"make\", program = \"x\"{pair}");
            format!("{}[[engines]]\nname = \"c\"\nsource = {{ {source} }}\n", with(""))
        }
        ("`limits` of an engine", _) => format!("{}[engines.limits]\n{line}", with("")),
        ("`identity` of an engine", _) => format!("{}[engines.identity]\n{line}", with("")),
        ("`[machines]`", _) => with(&format!("[machines]\n{line}")),
        ("`[http]`", _) => with(&format!("[http]\n{line}")),
        ("`[judge]`", _) => with(&format!("[judge]\ncommand = \"alpha\"\n{line}")),
        ("`[http.tls]`", _) => with(&format!("[http.tls]\ncertificate = \"a.pem\"\nkey = \"a.key\"\n{line}")),
        ("`[serve.tls]`", _) => {
            format!("[serve.tls]\ncertificate = \"a.pem\"\nkey = \"a.key\"\n{line}")
        }
        ("`[serve]`", "wait" | "missing") => with(&format!("[serve]\n{line}")),
        ("`[serve]`", _) => format!("[serve]\n{line}"),
        ("`[[serve.time]]`", "total") => format!("[[serve.time]]\nplayer = \"a\"\nbyoyomi = 1\n{line}"),
        ("`[[serve.time]]`", _) => format!("[[serve.time]]\nplayer = \"a\"\ntotal = 1\n{line}"),
        ("`[[serve.rounds]]`", _) => {
            format!("[[serve.rounds]]\ngame = \"floodgate-300-10F\"\nminutes = [0]\n{line}")
        }
        ("`[serve.rating]`", "half_life_days" | "fresh_days" | "least_games") => {
            format!("[serve.rating]\nmethod = \"floodgate\"\n{line}")
        }
        ("`[serve.rating]`", _) => format!("[serve.rating]\n{line}"),
        ("`[serve.limits]`", _) => format!("[serve.limits]\n{line}"),
        ("`[attribute]`", _) => attribute::with(&line),
        ("`[tune]`", _) => tune(&line, ""),
        ("`[[parameters]]`", _) => tune("", &line),
        ("`[floodgate]`", "color") => client("mode = \"x1\"\ngame = \"a-1-1\"", "x", &line),
        ("`[floodgate]`", _) => client("", "a-1-1,x", &line),
        ("Playing on a server", _) => format!("{line}{}", client("", "a-1-1,x", "")),
        ("Top level", _) => with(""),
        _ => panic!("{section}: no configuration around its keys"),
    }
}

/// A configuration of a tuning with further lines of `[tune]` and of its parameter.
fn tune(tune: &str, parameter: &str) -> String {
    let engine = "time = \"nodes 100\"\n[[engines]]\nname = \"e\"\ncommand = \"alpha\"\n";
    format!("{engine}[tune]\npairs = 50\n{tune}[[parameters]]\nname = \"a\"\nc_end = 1\n{parameter}")
}

/// A configuration of a client around some lines.
fn client(mode: &str, password: &str, line: &str) -> String {
    let login = format!("host = \"h\"\nlogin = \"me\"\npassword = \"{password}\"\n{mode}");
    format!("[floodgate]\n{login}\n{line}[engine]\ncommand = \"alpha\"\n")
}

const FULL: &str = r#"
[event]
name = "spring"
seed = 7
concurrency = 3
gpus = 1
replay_draws = "swap"
[[stage]]
format = "swiss"
rounds = 4
[[stage]]
format = "knock-out"
entrants = 2
games = 4
tie = "more-games"
[time]
main = "10m"
byoyomi = "30s"
margin = "50ms"
accounting = "seconds"
[rules]
max_moves = "none"
declaration = "try"
[openings]
files = ["book.usi"]
plies = 2
order = "random"
[defaults]
options = { Threads = 2, "Skill Level" = 3 }
limits = { ready = "5m" }
[[engines]]
command = "alpha"
args = ["-x", "a b"]
options = { Threads = 4, Ponder = true }
restart = "every-game"
gpu = 0.5
[[engines]]
name = "b"
command = "bin/beta"
time = "nodes 1000"
go = ["nodes"]
zero_time = false
own_time_only = true
limits = { quit = 0 }
environment = { HOME = "/tmp" }
"#;

#[test]
fn a_full_configuration_says_what_it_says() {
    let world = here();
    let plan = world.plan(FULL);
    assert_eq!((plan.replay_draws.times, plan.replay_draws.swap_colors), (4, true));
    assert_eq!(plan.stages[0].format, Format::Swiss { rounds: 4 });
    assert_eq!((plan.stages[0].games, plan.stages[0].entrants), (1, None));
    assert_eq!(plan.stages[1].format, Format::Knockout { tie: Tie::MoreGames { extra: 2 } });
    assert_eq!((plan.stages[1].games, plan.stages[1].entrants), (4, Some(2)));
    assert_eq!((plan.rules.max_moves, plan.rules.declaration), (None, Declaration::Try));
    let openings = plan.openings.unwrap();
    assert_eq!((openings.plies, openings.order), (Some(2), OpeningOrder::Random));
    let [a, b] = &plan.engines[..] else { panic!("two engines") };
    assert_eq!((a.name.as_str(), a.cores, a.gpu, a.restart), ("alpha", 4.0, 0.5, Restart::EveryGame));
    assert_eq!(a.args, ["-x", "a b"]);
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(a.options, [option("Threads", "4"), option("Skill Level", "3"), option("Ponder", "true")]);
    assert_eq!(a.option_sources, ["x.toml:34", "x.toml:29", "x.toml:34"]);
    assert_eq!((a.limits.ready, a.limits.quit), (secs(300), secs(2)));
    assert_eq!((b.limits.ready, b.limits.quit), (secs(300), secs(0)));
    assert_eq!(a.time.byoyomi, secs(30));
    let nodes_only = TimeControl {
        nodes: Some(1000),
        margin: Duration::from_millis(50),
        accounting: Accounting::Seconds,
        patience: secs(120),
        ..TimeControl::default()
    };
    assert_eq!(b.time, nodes_only, "the clock is its own, the counting is the file's");
    let only_nodes = GoForms {
        increment: false,
        movetime: false,
        nodes: true,
        depth: false,
        zero_time: false,
        own_time_only: true,
    };
    assert_eq!(b.go, only_nodes);
}

#[test]
fn no_damage_to_a_file_brings_the_reader_down() {
    let world = here();
    let whole = FULL;
    let others = ["0", "\"", "]", "x"];
    for (number, (at, letter)) in whole.char_indices().enumerate() {
        for other in ["", others[number % others.len()]] {
            let damaged = format!("{}{other}{}", &whole[..at], &whole[at + letter.len_utf8()..]);
            let _ = world.parse(&damaged);
        }
    }
    for skipped in whole.lines() {
        let rest: Vec<_> = whole.lines().filter(|line| *line != skipped).collect();
        let _ = world.parse(&rest.join("\n"));
    }
}

#[test]
fn an_engine_takes_its_time_from_the_nearest_place_that_says_how_much() {
    let world = here();
    let plan = world.plan(
        r#"
        time = { main = "5m", increment = "5s", margin = "1s" }
        [defaults]
        time = { margin = "20ms" }
        [[engines]]
        command = "alpha"
        time.least = "1s"
        [[engines]]
        command = "beta"
        time = { byoyomi = "2s" }
        "#,
    );
    let [a, b] = [plan.engines[0].time, plan.engines[1].time];
    assert_eq!((a.main, a.increment, a.least), (secs(300), secs(5), secs(1)));
    assert_eq!((b.main, b.increment, b.byoyomi), (secs(0), secs(0), secs(2)));
    assert_eq!([a.margin, b.margin], [Duration::from_millis(20); 2]);
}

#[test]
fn a_real_clock_in_milliseconds_forgives_a_little_unless_the_file_says_otherwise() {
    let world = here();
    let margin = |time: &str| {
        let plan = world.plan(&format!(
            "time = {time}\n[[engines]]\ncommand = \"alpha\"\n[[engines]]\ncommand = \"beta\""
        ));
        let [a, b] = [plan.engines[0].time, plan.engines[1].time];
        assert_eq!(a.margin, b.margin);
        a.margin.as_millis()
    };
    assert_eq!(margin("\"byoyomi 1s\""), 100);
    assert_eq!(margin("\"fixed 200ms\""), 100);
    assert_eq!(margin("{ main = \"10s\", increment = \"100ms\", margin = \"0\" }"), 0);
    assert_eq!(margin("{ main = \"10s\", margin = \"20ms\" }"), 20);
    assert_eq!(margin("{ byoyomi = \"10s\", accounting = \"seconds\" }"), 0, "servers forgive nothing");
    assert_eq!(margin("\"nodes 1000\""), 0, "without a clock there is nothing to forgive");
    let remote = "time = \"10s\"\n[[engines]]\ncommand = \"alpha\"\n[[engines]]\nname = \"kawa\"\nremote = true\n[serve]\n";
    assert!(
        world.plan(remote).engines.iter().all(|engine| engine.time.margin.is_zero()),
        "the network counts seconds"
    );
}

#[test]
fn the_cores_of_a_judge_are_not_those_of_games() {
    let world = here();
    let text = |lines: &str| format!("time = \"1m\"\n[judge]\ncommand = \"alpha\"\n{lines}{TWO}");
    let plan = |lines: &str| world.plan(&text(lines));
    assert_eq!(plan("").concurrency, 7);
    assert_eq!(plan("options = { Threads = 3 }").concurrency, 5);
    assert_eq!(plan("cores = 100").concurrency, 1);
    let judge = plan("args = [\"--quiet\"]\nnodes = 7").judge.unwrap();
    assert_eq!(
        (judge.engine.name.as_str(), judge.engine.args.join(" ").as_str(), judge.nodes),
        ("alpha", "--quiet", 7)
    );
    let judge = plan("time = \"200ms\"").judge.unwrap();
    assert_eq!(judge.time, Some(Duration::from_millis(200)));
    let both = world.faults(&text("nodes = 7\ntime = \"200ms\"\n"));
    assert!(both.contains("judge.time: stands beside `nodes`"), "{both}");
    assert_eq!(world.plan(&with("")).judge, None);
}

#[test]
fn games_at_once_are_as_many_as_the_cores_carry() {
    let world = here();
    let games = |lines: &str| world.plan(&format!("{}{lines}", with(""))).concurrency;
    assert_eq!(games("options = { Threads = 3 }"), 2);
    assert_eq!(games("cores = 3\nponder = true"), 2);
    assert_eq!(games("cores = 16"), 1);
    assert_eq!(games("cores = 0"), 8);
    let remote = |players: usize| -> String {
        (0..players).map(|at| format!("[[engines]]\nname = \"r{at}\"\nremote = true\n")).collect()
    };
    let games = |lines: &str| world.plan(&format!("time = \"10s\"\n[serve]\n{lines}")).concurrency;
    assert_eq!(games(&remote(40)), 20, "players who think elsewhere need no core");
    assert_eq!(games(&format!("{}[[engines]]\ncommand = \"alpha\"\n", remote(40))), 8);
}

#[test]
fn an_optional_engine_that_is_not_there_is_skipped_and_the_numbers_follow() {
    let world = World::new(&["alpha", "beta"]);
    let absent = "[[engines]]\ncommand = \"gamma\"\noptional = true\n";
    let stage = "time = \"1m\"\n[event]\nformat = \"gauntlet\"\nchallengers = 2\nentrants = 3\n";
    let plan = world.plan(&format!("{stage}{absent}{TWO}"));
    assert_eq!(plan.engines.iter().map(|engine| engine.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(plan.skipped[0].name, "gamma");
    assert!(plan.skipped[0].reason.starts_with("there is no program `gamma`"));
    assert_eq!(plan.stages[0].format, Format::Gauntlet { challengers: 1, cycles: 1 });
    assert_eq!(plan.stages[0].entrants, Some(2));
}

#[test]
fn the_words_of_the_rules_are_those_of_the_reference() {
    let world = here();
    for (word, expected) in
        [("draw", AtLimit::Draw), ("mate-wins", AtLimit::MateWins), ("check-extends", AtLimit::CheckExtends)]
    {
        assert_eq!(world.plan(&with(&format!("[rules]\nat_limit = \"{word}\"\n"))).rules.at_limit, expected);
    }
    for (word, expected) in
        [("27", Declaration::Csa27), ("24", Declaration::Csa24), ("none", Declaration::None)]
    {
        assert_eq!(
            world.plan(&with(&format!("[rules]\ndeclaration = \"{word}\"\n"))).rules.declaration,
            expected
        );
    }
    let sprt =
        "[event]\nformat = \"sprt\"\n[sprt]\nelo0 = -1.5\nelo1 = 2\nmodel = \"logistic\"\nmax_games = 10\n";
    let plan = world.plan(&with(sprt));
    assert_eq!(plan.stages[0].format, Format::Sprt { max_games: 10 });
    assert_eq!(plan.sprt.map(|sprt| (sprt.model, sprt.elo0)), Some((SprtModel::Logistic, -1.5)));
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn preset(name: &str, programs: &[&str]) -> Plan {
    let path = repository().join("configs").join(name);
    let world = World::new(programs);
    let environment = Environment { base: path.parent().unwrap().to_path_buf(), ..world.environment };
    let text = fs::read_to_string(&path).unwrap();
    Plan::parse(&text, Some(&path), &environment).unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn every_preset_is_a_plan_where_all_engines_are_installed() {
    let presets = fs::read_dir(repository().join("configs")).unwrap();
    let presets = presets.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    // Files of parts, of an open league and of clients are read in tests of their own.
    let others =
        ["attribute.toml", "serve.toml", "floodgate-host.toml", "floodgate.toml", "kawa.toml", "mori.toml"];
    let plans = presets.filter(|name| name.ends_with(".toml") && !others.contains(&name.as_str()));
    let presets: Vec<_> = plans.collect();
    assert!(presets.len() >= 5);
    for name in presets {
        let plan =
            preset(&name, &["renmei-random", "renmei-pairwise", "renmei-deep", "fairy-stockfish", "gpsusi"]);
        assert!(plan.skipped.is_empty());
        assert_eq!(plan.name, name.trim_end_matches(".toml"));
        Fingerprint::of(&plan).unwrap();
    }
}

#[test]
fn the_presets_for_newcomers_need_no_engine_but_ours() {
    for (name, skipped) in [("quickstart.toml", 2), ("denou.toml", 8), ("floodgate-time.toml", 1)] {
        let plan = preset(name, &["renmei-random", "renmei-pairwise"]);
        assert_eq!(plan.skipped.len(), skipped, "{name}");
        assert_eq!(plan.stages.iter().filter_map(|stage| stage.entrants).max().unwrap_or(2), 2);
    }
}

/// `RENMEI_UPDATE=1 cargo test -p plan reference` writes the reference into the guide.
#[test]
fn the_guide_s_reference_and_the_keys_are_equal() {
    let path = repository().join("src/guide/configuration.md");
    let guide = fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- reference: written by a test -->\n", "<!-- end of the reference -->");
    let from = guide.find(begin).expect("the guide has a reference") + begin.len();
    let to = guide.find(end).expect("the reference has an end");
    let expected = format!("\n{}\n", reference());
    if std::env::var_os("RENMEI_UPDATE").is_some() {
        fs::write(&path, format!("{}{expected}{}", &guide[..from], &guide[to..])).unwrap();
        return;
    }
    assert!(
        guide[from..to] == expected,
        "src/guide/configuration.md is out of date: RENMEI_UPDATE=1 cargo test -p plan reference"
    );
}
