//! The real binary with the embedded network, driven through its pipes.
#![allow(clippy::unwrap_used)] // helpers of tests

#[path = "../../usi-shell/tests/driver/mod.rs"]
mod driver;

use driver::Talk;
use std::fs;
use usi_shell::Game;

const PLAYERS: [&str; 4] = ["mcts", "softmax", "policy", "value"];
const MATE_IN_ONE: &str = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1";
const MATED: &str = "sfen 4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1";
/// Black's king and ten other pieces are in White's camp, with 28 points.
const DECLARABLE: &str = "sfen +R+R+B+BK4/PPPPPP3/9/9/9/9/9/9/4k4 b 2G 1";
/// The rooks have shuffled three times; 7b8b would be the fourth occurrence of the start position.
const REPEATING: &str = "startpos moves 2h3h 8b7b 3h2h 7b8b 2h3h 8b7b 3h2h 7b8b 2h3h 8b7b 3h2h";

fn deep(player: &str, options: &[(&str, &str)]) -> Talk {
    let mut talk = Talk::start(env!("CARGO_BIN_EXE_renmei-deep"), &[]);
    talk.ask("usi", "usiok");
    for (name, value) in [("Player", player), ("Device", "cpu"), ("USI_Hash", "32")].iter().chain(options) {
        talk.send(&format!("setoption name {name} value {value}"));
    }
    talk.ask("isready", "readyok");
    talk.send("usinewgame");
    talk
}

fn is_legal(position: &str, mv: &str) -> bool {
    Game::parse(&format!("position {position}")).unwrap().play(mv).is_some()
}

#[test]
fn every_player_plays_by_the_rules() {
    for player in PLAYERS {
        let mut talk = deep(player, &[]);
        for position in ["startpos", "startpos moves 7g7f 3c3d 8h2b+ 3a2b", REPEATING] {
            let mv = talk.best_by(position, "go nodes 60");
            assert!(is_legal(position, &mv), "{player}: {mv} in {position}");
        }
        // The policy player does not search for mates.
        if player != "policy" {
            assert_eq!(talk.best_by(MATE_IN_ONE, "go nodes 100"), "G*5b", "{player}");
        }
        assert_eq!(talk.best_by(MATED, "go nodes 60"), "resign", "{player}");
        assert_eq!(talk.best_by(DECLARABLE, "go nodes 60"), "win", "{player}");
    }
}

#[test]
fn every_player_is_stopped_and_ponders() {
    for player in PLAYERS {
        let mut talk = deep(player, &[]);
        talk.send("position startpos");
        talk.send("go infinite");
        assert!(talk.ask("stop", "bestmove").starts_with("bestmove "), "{player}");
        talk.send("position startpos moves 7g7f 3c3d");
        talk.send("go ponder btime 1000 wtime 1000 byoyomi 50");
        let line = talk.ask("ponderhit", "bestmove");
        let mv = line.split(' ').nth(1).unwrap();
        assert!(is_legal("startpos moves 7g7f 3c3d", mv), "{player}: {line}");
    }
}

#[test]
fn policy_and_value_players_report_every_move() {
    for player in ["policy", "value"] {
        let mut talk = deep(player, &[]);
        let lines = talk.search("startpos", "go byoyomi 1000");
        let message: Vec<(&str, f32)> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("info string ")?.split_once(" : "))
            .map(|(mv, number)| (mv, number.parse().unwrap()))
            .collect();
        assert_eq!(message.len(), 30, "{player}");
        assert!(message.is_sorted_by(|one, other| one.1 >= other.1), "{player}");
        assert_eq!(lines.last().unwrap(), &format!("bestmove {}", message[0].0), "{player}");
        let sum: f32 = message.iter().map(|one| one.1).sum();
        assert_eq!((sum - 1.0).abs() < 0.01, player == "policy", "{player} {sum}");
    }
}

#[test]
fn temperature_makes_games_differ_and_a_seed_makes_them_alike() {
    let moves = |seed: &str, temperature: &str| {
        let options = [("Seed", seed), ("MoveTemperature", temperature), ("MovesWithTemperature", "1")];
        let mut talk = deep("policy", &options);
        let first: Vec<String> = (0..12).map(|_| talk.best_by("startpos", "go nodes 1")).collect();
        let later: Vec<String> = (0..3).map(|_| talk.best_by("startpos moves 7g7f", "go nodes 1")).collect();
        assert!(later.windows(2).all(|pair| pair[0] == pair[1]), "{later:?}");
        first
    };
    assert_eq!(moves("5", "1500"), moves("5", "1500"));
    assert_ne!(moves("5", "1500"), moves("6", "1500"));
    assert!(moves("5", "0").windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_book_is_played_from_and_a_missing_one_ends_the_program() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL";
    let text = format!("#YANEURAOU-DB2016 1.00\nsfen {start} b - 1\n9g9f 1c1d 0 0 1\n");
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    let mut talk = deep("policy", &[("BookFile", file.path().to_str().unwrap())]);
    let line = talk.search("startpos", "go byoyomi 100").pop().unwrap();
    assert_eq!(line, "bestmove 9g9f ponder 1c1d");
    talk.send("setoption name BookFile value /nowhere/book.db");
    assert!(talk.ask("isready", "info string").contains("/nowhere/book.db"));
}

#[test]
fn missing_files_and_devices_are_named() {
    for (name, value, message) in [
        ("Network", "/nowhere/net.toml", "/nowhere/net.toml"),
        ("Device", "gpu", "`gpu` is not a device"),
        ("Device", "cuda:4000", "cuda:4000"),
    ] {
        let mut talk = Talk::start(env!("CARGO_BIN_EXE_renmei-deep"), &["usi"]);
        talk.ask("usi", "usiok");
        talk.send("setoption name Device value cpu");
        talk.send(&format!("setoption name {name} value {value}"));
        talk.send("isready");
        let lines = talk.until("info string engine not ready");
        assert!(lines.last().unwrap().contains(message), "{lines:?}");
    }
}

#[test]
fn the_draw_value_decides_whether_a_player_repeats() {
    // White has to repeat, with a draw worth nothing to White, or everything.
    for player in ["value", "softmax"] {
        let play = |value: &str| {
            let options = [("DrawValueWhite", value), ("DrawValueBlack", value), ("Deterministic", "true")];
            deep(player, &options).best_by(REPEATING, "go nodes 100")
        };
        assert_ne!(play("0"), "7b8b", "{player}");
        assert_eq!(play("1000"), "7b8b", "{player}");
    }
}

#[test]
fn a_mate_is_solved_on_request() {
    let mut talk = deep("policy", &[]);
    talk.send(&format!("position {MATE_IN_ONE}"));
    assert_eq!(talk.ask("go mate 10000", "checkmate"), "checkmate G*5b");
    talk.send("position startpos");
    assert_eq!(talk.ask("go mate 10000", "checkmate"), "checkmate nomate");
}

#[test]
fn a_search_reports_lines_with_scores_and_win_probabilities() {
    let mut talk = deep("mcts", &[("MultiPV", "3"), ("Deterministic", "true")]);
    let mut run = || {
        talk.send("usinewgame");
        let lines = talk.search("startpos", "go nodes 200");
        let infos: Vec<String> = lines.iter().filter(|line| line.contains(" pv ")).cloned().collect();
        let fixed = |line: &String| line.split(" pv ").nth(1).map(str::to_owned);
        assert!(infos.iter().all(|line| line.contains(" score cp ") && line.contains(" wdl ")), "{infos:?}");
        let last = &infos[infos.len() - 3..];
        let ranks = ["multipv 3", "multipv 2", "multipv 1"];
        assert!(last.iter().zip(ranks).all(|(line, rank)| line.contains(rank)), "{last:?}");
        (lines.last().unwrap().clone(), last.iter().map(fixed).collect::<Vec<_>>())
    };
    assert_eq!(run(), run());
}

#[test]
fn a_hopeless_player_resigns_by_option() {
    // White has only its king.
    let lost = "sfen 4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w RB2G2S2N2L9P 1";
    for player in ["policy", "value"] {
        assert_ne!(deep(player, &[]).best_by(lost, "go nodes 50"), "resign", "{player}");
        let mut talk = deep(player, &[("ResignValue", "200")]);
        assert_eq!(talk.best_by(lost, "go nodes 50"), "resign", "{player}");
    }
}

/// A driver of NVIDIA's in place of a real one, as far as it is asked: its newest CUDA, and what it says at the start.
fn with_driver(version: u32, start: u32) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let source = format!(
        "int cuDriverGetVersion(int *v) {{ *v = {version}; return 0; }}\nint cuInit(unsigned f) {{ return {start}; }}\n\
         int cuGetErrorName(int e, const char **n) {{ *n = \"CUDA_ERROR_NO_DEVICE\"; return 0; }}\n"
    );
    fs::write(place.path().join("driver.c"), source).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let compiled = std::process::Command::new(compiler)
        .args(["-shared", "-fPIC", "-o", "libcuda.so.1", "driver.c"])
        .current_dir(&place)
        .status();
    assert!(compiled.unwrap().success());
    place
}

/// The device line of a machine with these libraries before its own.
fn told_of(device: &str, libraries: &std::path::Path) -> String {
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_renmei-deep"))
        .args(["bench", "--device", device, "--seconds", "0", "--batches", "1"])
        .env("LD_LIBRARY_PATH", libraries)
        .output()
        .unwrap();
    assert!(!run.status.success());
    String::from_utf8_lossy(&run.stderr).into_owned()
}

#[test]
fn a_missing_driver_is_told_from_a_libtorch_without_cuda_and_from_a_driver_without_a_gpu() {
    let empty = tempfile::tempdir().unwrap();
    fs::write(empty.path().join("libcuda.so.1"), "no library").unwrap();
    let message = told_of("cuda:0", empty.path());
    assert!(message.contains("`cuda:0` cannot be used: there is no NVIDIA driver"), "{message}");
    let driver = with_driver(13_000, 100);
    let message = told_of("cuda:0", driver.path());
    let half = message.contains("`cargo xtask libtorch --cuda` fetches the other (2.5 GB)");
    assert!(half || message.contains("shows no GPU (CUDA_ERROR_NO_DEVICE)"), "{message}");
}

/// What a short bench before a simulated device prints.
fn bench(more: &[&str]) -> String {
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_renmei-deep"))
        .args("bench --device simulated:0us+0us --seconds 0.01 --batches 16".split(' '))
        .args(["--positions", "3", "--warm", "64"])
        .args(more)
        .output()
        .unwrap();
    String::from_utf8_lossy(&run.stdout).into_owned()
}

#[test]
fn scripts_read_a_bench_as_json() {
    let found: serde_json::Value = serde_json::from_str(&bench(&["--json"])).unwrap();
    assert_eq!(
        (&found["evaluator"], &found["batches"][0]["batch"]),
        (&"simulated device".into(), &16.into())
    );
    let search = &found["search"];
    let speed = |place: &str| search.pointer(place).and_then(serde_json::Value::as_f64).unwrap();
    assert!(speed("/search_per_s/mean") >= speed("/search_per_s/least"), "{found}");
    assert!(speed("/playouts_per_s") > 0.0 && speed("/forward_per_s") > 0.0, "{found}");
}

#[test]
fn a_search_is_measured_before_a_device_that_sleeps() {
    let text = bench(&[]);
    assert!(text.contains("none on simulated device") && text.contains("% collisions"), "{text}");
    let refused = told_of("simulated:200us", std::path::Path::new(""));
    assert!(refused.contains("is not a time of a batch and of a position"), "{refused}");
}

#[test]
fn an_engine_says_at_its_start_on_which_device_it_runs() {
    let mut talk = Talk::start(env!("CARGO_BIN_EXE_renmei-deep"), &[]);
    talk.ask("usi", "usiok");
    talk.send("setoption name Device value cpu");
    talk.send("isready");
    let lines = talk.until("readyok");
    assert!(lines.iter().any(|line| line.starts_with("info string device cpu, ")), "{lines:?}");
}

/// Processes that keep a core busy each, until they are dropped.
struct Busy(Vec<std::process::Child>);

impl Busy {
    fn four() -> Self {
        let one = || std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Self((0..4).map(|_| one()).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn every_player_answers_stop_beside_four_busy_processes() {
    let _busy = Busy::four();
    for player in PLAYERS {
        let mut talk = deep(player, &[]);
        talk.send("position startpos");
        talk.send("go nodes 10000000");
        let line = talk.ask("stop", "bestmove");
        assert!(is_legal("startpos", line.split(' ').nth(1).unwrap()), "{player}: {line}");
    }
}
