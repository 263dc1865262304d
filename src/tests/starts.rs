//! An engine that cannot be started: told, tried again at growing intervals, halted; and a program that always ends.

use crate::support::{Desk, none_left, processes, program, until};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::Duration,
};

/// A match of `old`, a script whose interpreter can be taken away, against an honest engine.
struct Fragile {
    desk: Desk,
    mark: String,
}

impl Fragile {
    fn new(mark: &str) -> Self {
        let desk = Desk::new();
        let mark = format!("--seed {}{}", std::process::id(), mark.len());
        let puppet = program("renmei-puppet");
        let text = format!("#!{}\nexec {} {mark}\n", desk.path("shell").display(), puppet.display());
        let script = desk.write("engine.sh", &text);
        fs::set_permissions(script, PermissionsExt::from_mode(0o755)).unwrap();
        let fragile = Self { desk, mark };
        fragile.repair();
        fragile
    }

    fn repair(&self) {
        symlink("/bin/sh", self.desk.path("shell")).unwrap();
    }

    /// Makes every further start fail, and ends the engine that runs.
    fn break_down(&self) {
        fs::remove_file(self.desk.path("shell")).unwrap();
        self.kill_engine();
    }

    fn kill_engine(&self) {
        for process in processes(&self.mark) {
            let pid = process.split(' ').next().unwrap().parse().unwrap();
            let _gone = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }

    fn start(&self, more: &[&str]) -> Child {
        self.start_with(&self.desk.path("engine.sh"), more)
    }

    fn start_with(&self, engine: &Path, more: &[&str]) -> Child {
        let (old, new) = (engine.display(), program("renmei-random"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
        command.current_dir(self.desk.dir.path()).args(["match", "--db", "event.db", "--quiet"]);
        command.args(["--engine", &format!("cmd={old}"), "name=old", "restart=on-fault"]);
        command.args(["--engine", &format!("cmd={}", new.display()), "name=new", "option.ThinkTime=5"]);
        command.args(["--time", "600s", "--max-moves", "60", "--openings", "none", "--concurrency", "1"]);
        command.args(more).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Waits until a question to the database has this number or more for an answer.
    fn until(&self, child: &mut Child, question: &str, number: u64) {
        until("the database has the number", || {
            assert!(child.try_wait().unwrap().is_none(), "it ended before `{question}` was {number}");
            let answer = self.desk.try_query(question);
            answer.is_some_and(|rows| rows[0][0].parse::<u64>().unwrap() >= number)
        });
    }

    fn number(&self, question: &str) -> u64 {
        self.desk.query(question)[0][0].parse().unwrap()
    }
}

const BEGUN: &str = "SELECT count(*) FROM moves";
const LOST: &str = "SELECT count(*) FROM games WHERE cause = 'disconnection'";
const FAULTS: &str = "SELECT count(*) FROM faults";
const UNSTARTED: &str = "SELECT count(*) FROM faults WHERE text LIKE '%could not be started%'";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// A match of engines that are started for every game, after these words of a shell.
fn limited(desk: &Desk, limit: &str, more: &str) -> Command {
    let words = "--time 600s --max-moves 20 --openings none --no-dashboard --oversubscribe --db event.db";
    let engines = ["a", "b"].map(|name| format!("--engine cmd=$ENGINE name={name} restart=every-game"));
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limit} exec $RENMEI match {} {words} {more}", engines.join(" "))]);
    command.current_dir(desk.dir.path()).env("RENMEI", env!("CARGO_BIN_EXE_renmei"));
    command.env("ENGINE", program("renmei-random"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn too_few_open_files_for_the_games_at_once_are_raised_or_refused_before_the_first_game() {
    let (desk, games) = (Desk::new(), "--games 40 --concurrency 20");
    let refused = limited(&desk, "ulimit -n 100;", games).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
    let said = "100 open files are allowed, and 20 games at once with all around them need ";
    assert!(text(&refused).contains(said), "{}", text(&refused));
    assert_eq!(desk.query("SELECT count(*) FROM games"), [["0"]]);
    let raised = limited(&desk, "ulimit -Sn 100;", games).output().unwrap();
    assert_eq!(raised.status.code(), Some(0), "{}", text(&raised));
    assert_eq!(desk.query(LOST), [["0"]]);
}

#[test]
fn open_files_that_run_out_in_the_midst_of_an_event_end_it_and_no_engine_loses_by_it() {
    let desk = Desk::new();
    let mut child = limited(&desk, "", "--games 100000 --concurrency 1").spawn().unwrap();
    let counted = || desk.try_query("SELECT count(*) FROM games WHERE state = 'counted'");
    until("a game is over", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its first game");
        counted().is_some_and(|rows| rows[0][0] != "0")
    });
    let mut prlimit = Command::new("prlimit");
    prlimit.args([format!("--pid={}", child.id()), "--nofile=4:4".to_owned()]);
    assert!(prlimit.status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let said = text(&output);
    assert!(
        said.contains("could not be started: Too many open files (os error 24); this is no fault"),
        "{said}"
    );
    assert!(said.contains("then the same command plays on"), "{said}");
    assert_eq!(desk.query(LOST), [["0"]]);
    let unplayed = "SELECT count(*) FROM games WHERE cause = 'not-started' AND state <> 'counted'";
    assert_eq!(desk.query(unplayed), [["1"]]);
    let blamed = "SELECT count(*) FROM faults WHERE player IS NOT NULL";
    assert_eq!(desk.query(blamed), [["0"]], "{:?}", desk.query("SELECT text FROM faults"));
    let played: u64 = counted().unwrap()[0][0].parse().unwrap();
    let more = format!("--games {} --concurrency 1", 2 * (played / 2 + 2));
    let on = limited(&desk, "", &more).output().unwrap();
    assert_eq!(on.status.code(), Some(0), "{}", text(&on));
    assert_eq!(desk.query(LOST), [["0"]]);
}

#[test]
fn an_engine_that_cannot_be_started_any_more_is_halted_after_few_words() {
    let fragile = Fragile::new("halted");
    let mut child = fragile.start(&["--games", "1000"]);
    fragile.until(&mut child, BEGUN, 1);
    fragile.break_down();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    assert!(fragile.number(FAULTS) <= 6, "{:?}", fragile.desk.query("SELECT text FROM faults"));
    assert!(text(&output).len() < 20_000, "{}", text(&output));
    let told = "SELECT count(*) FROM games WHERE evidence LIKE '%it failed to start 4 times in a row%'";
    assert_eq!(fragile.number(told), 1, "{:?}", fragile.desk.query("SELECT evidence FROM games"));
}

#[test]
fn a_deleted_program_is_no_other_engine_but_one_that_cannot_be_started() {
    let fragile = Fragile::new("deleted program");
    let copy = fragile.desk.path("copy");
    fs::copy(program("renmei-puppet"), &copy).unwrap();
    let mut child = fragile.start_with(&copy, &["--games", "1000"]);
    fragile.until(&mut child, BEGUN, 1);
    fs::remove_file(&copy).unwrap();
    for process in processes(&copy.display().to_string()) {
        if !process.contains("match --db") {
            let _gone =
                kill(Pid::from_raw(process.split(' ').next().unwrap().parse().unwrap()), Signal::SIGKILL);
        }
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    assert!(fragile.number(FAULTS) <= 6, "{:?}", fragile.desk.query("SELECT text FROM faults"));
}

#[test]
fn a_signal_ends_a_match_that_waits_for_its_engine() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let fragile = Fragile::new("signalled");
        let mut child = fragile.start(&["--games", "1000", "--fault-limit", "off"]);
        fragile.until(&mut child, BEGUN, 1);
        fragile.break_down();
        fragile.until(&mut child, UNSTARTED, 1);
        fragile.until(&mut child, LOST, 3);
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", text(&output));
        assert!(fragile.number(FAULTS) < 10 && text(&output).len() < 20_000, "{}", text(&output));
    }
}

#[test]
fn a_match_whose_engine_comes_back_goes_on() {
    let fragile = Fragile::new("comes back");
    let mut child = fragile.start(&["--games", "12", "--fault-limit", "off"]);
    fragile.until(&mut child, BEGUN, 1);
    fragile.break_down();
    fragile.until(&mut child, UNSTARTED, 1);
    fragile.repair();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let last = "SELECT cause FROM games ORDER BY number DESC LIMIT 1";
    assert_ne!(fragile.desk.query(last)[0][0], "disconnection", "{}", text(&output));
}

#[test]
fn a_further_signal_ends_the_program_whatever_it_waits_for() {
    let fragile = Fragile::new("further signals");
    let hold = fragile.desk.path("hold");
    let script = format!(
        "#!/bin/sh\ntrap '' TERM\n{} {}\nwhile [ -e {} ]; do sleep 0.1; done\n",
        program("renmei-puppet").display(),
        fragile.mark,
        hold.display()
    );
    let stubborn = fragile.desk.write("stubborn.sh", &script);
    fs::set_permissions(&stubborn, PermissionsExt::from_mode(0o755)).unwrap();
    let stubborn = fragile.desk.write(
        "x.toml",
        &format!(
            "[event]\nname = 'x'\ndatabase = 'event.db'\ngames = 1000\n[time]\nbyoyomi = '600s'\n\
             [defaults]\ncommand = '{}'\nlimits = {{ quit = '1h', terminate = '1h' }}\n\
             [[engines]]\nname = 'a'\n[[engines]]\nname = 'b'\n",
            stubborn.display(),
        ),
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(fragile.desk.dir.path()).arg("run").arg(stubborn);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    fragile.until(&mut child, "SELECT count(*) FROM games WHERE state = 'counted'", 1);
    fs::write(hold, "").unwrap();
    while child.try_wait().unwrap().is_none() {
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).unwrap();
        sleep(Duration::from_millis(200));
    }
    none_left(&fragile.desk.path("stubborn.sh").display().to_string());
}
