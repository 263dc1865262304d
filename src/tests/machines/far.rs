//! Engines on another host, which a real sshd on loopback stands for.

use super::{
    ssh::{Sshd, line_to, user_at},
    *,
};
use std::{fs, path::Path, process::Output};

/// A build of an engine on the host: the random player behind lines of its own.
fn build(path: &Path, lines: &str) {
    let random = program("renmei-random");
    let part = path.with_extension("part");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&part, format!("#!/bin/sh\n{lines}\nexec {}\n", random.display())).unwrap();
    fs::set_permissions(&part, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(&part, path).unwrap();
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// An event of an engine on the host against the same program here, or another program.
fn event(desk: &Desk, sshd: &Sshd, port: u16, far: &Path, near: &Path, games: usize, more: &str) {
    let (command, host) = (sshd.command_at(port), user_at("127.0.0.1"));
    let keys = "concurrency = 1\noversubscribe = true\naffinity = false\nlog = \"off\"";
    let text = format!(
        "time = \"600s\"\nrules.max_moves = 12\n[event]\nname = \"cup\"\ndatabase = \"event.db\"\ngames = {games}\n{keys}\n\
         [[engines]]\nname = \"far\"\nhost = {host:?}\nssh_command = {command:?}\ncommand = {far:?}\n{more}\n[[engines]]\n\
         name = \"near\"\ncommand = {near:?}\n"
    );
    desk.write("event.toml", &text);
}

fn run(desk: &Desk, flags: &[&str]) -> Output {
    desk.renmei(&[&["run", "event.toml", "--quiet"], flags].concat())
}

const HASHES: &str = "SELECT DISTINCT sha256 FROM identities ORDER BY player";

#[test]
fn an_engine_on_a_host_is_known_by_its_contents_as_one_of_this_machine_is() {
    let Some(sshd) = Sshd::start() else { return };
    let (desk, far) = (Desk::new(), sshd.dir.path().join("far/it's a build/engine"));
    build(&far, "echo 'option name Book type filename default book.db'");
    fs::write(far.with_file_name("book.db"), "one").unwrap();
    event(&desk, &sshd, sshd.port, &far, &far, 4, "");
    let output = run(&desk, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(desk.query(HASHES).len(), 1, "the same file is the same build");
    assert_eq!(desk.query("SELECT DISTINCT player FROM identities WHERE sha256 IS NOT NULL").len(), 2);
    assert_eq!(desk.query("SELECT count(*) FROM games WHERE state = 'counted'"), [["4"]]);
    let host = user_at("127.0.0.1");
    build(&far, "echo 'option name Book type filename default book.db' # another");
    let refused = run(&desk, &[]);
    let words = format!("engine `far`: the program `{host}:{}` was rebuilt or replaced (", far.display());
    assert!(refused.status.code() == Some(2) && text(&refused).contains(&words), "{}", text(&refused));
    build(&far, "echo 'option name Book type filename default book.db'");
    fs::write(far.with_file_name("book.db"), "two").unwrap();
    let refused = run(&desk, &[]);
    assert!(text(&refused).contains("engine `far`: its file `book.db` has changed ("), "{}", text(&refused));
    fs::write(far.with_file_name("book.db"), "one").unwrap();
    let again = run(&desk, &[]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again));
}

#[test]
fn an_engine_that_is_replaced_on_its_host_halts_the_event_before_it_is_started_again() {
    let Some(sshd) = Sshd::start() else { return };
    let (desk, far) = (Desk::new(), sshd.dir.path().join("far/engine"));
    let hold = sshd.dir.path().join("hold");
    let held = |mark: &str| {
        format!(
            "# {mark}\nwhile read -r line; do\n  case \"$line\" in go*) while [ -e {hold:?} ]; do sleep 0.1; done;; esac\n  \
             echo \"$line\"\ndone | {}\nexit",
            program("renmei-random").display()
        )
    };
    build(&far, &held("1"));
    fs::write(&hold, "").unwrap();
    event(&desk, &sshd, sshd.port, &far, &program("renmei-random"), 6, "restart = \"every-game\"");
    let file = desk.path("event.toml");
    let look = fs::read_to_string(&file).unwrap().replace("[event]", "[event]\nlook = false");
    fs::write(&file, look).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args(["run", "event.toml", "--quiet"]);
    let log = File::create(desk.path("log")).unwrap();
    let mut child = Running(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap());
    let playing = "SELECT 1 FROM games WHERE ended_at IS NULL";
    until("a game is played", || desk.try_query(playing).is_some_and(|rows| !rows.is_empty()));
    build(&far, &held("2"));
    fs::remove_file(&hold).unwrap();
    let (code, said) = (child.code(), fs::read_to_string(desk.path("log")).unwrap());
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains("because an engine is another one now") && said.contains("/engine` was replaced"),
        "{said}"
    );
    assert_eq!(desk.query("SELECT count(*) FROM games WHERE state = 'counted'"), [["1"]]);
}

#[test]
fn a_line_that_is_cut_in_a_game_is_ruled_with_the_words_of_ssh() {
    let Some(sshd) = Sshd::start() else { return };
    let line = line_to(sshd.port);
    sshd.knows(line.address().port());
    let (desk, far) = (Desk::new(), sshd.dir.path().join("far/engine"));
    // It answers the look before the event, and then thinks for ever.
    let seen = sshd.dir.path().join("seen");
    let once = format!(
        "while read -r line; do\n  case \"$line\" in go*) while [ -e {seen:?} ]; do sleep 0.1; done;; quit) : > {seen:?};; esac\n  echo \
         \"$line\"\ndone | {}\nexit",
        program("renmei-random").display()
    );
    build(&far, &once);
    event(&desk, &sshd, line.address().port(), &far, &program("renmei-random"), 2, "");
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args(["run", "event.toml", "--quiet"]);
    let log = File::create(desk.path("log")).unwrap();
    let mut child = Running(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap());
    let playing = "SELECT 1 FROM games WHERE ended_at IS NULL";
    until("a game is played", || desk.try_query(playing).is_some_and(|rows| !rows.is_empty()));
    std::thread::sleep(Duration::from_secs(1));
    line.cut();
    let ruled = "SELECT cause, evidence FROM games WHERE ended_at IS NOT NULL";
    until("the game is ruled", || desk.try_query(ruled).is_some_and(|rows| !rows.is_empty()));
    child.kill();
    let ruling = desk.query(ruled).concat().join(" ");
    assert!(
        ruling.contains("255") && ruling.contains("closed by"),
        "{ruling}\n{}",
        fs::read_to_string(desk.path("log")).unwrap()
    );
}

#[test]
fn an_engine_that_reads_on_through_the_end_of_its_input_is_ended_on_its_host() {
    let Some(mut sshd) = Sshd::start() else { return };
    let (desk, far) = (Desk::new(), sshd.dir.path().join("far/engine"));
    // It plays, and then stays for ever, with a child, whatever becomes of its pipes.
    let stays = format!(
        "trap '' HUP TERM PIPE INT\n{}\nsh -c \"trap '' HUP TERM; while :; do sleep 0.1; done\" {far:?} &\n\
         while :; do sleep 0.1; done\nexit",
        program("renmei-random").display()
    );
    build(&far, &stays);
    let mark = far.display().to_string();
    event(&desk, &sshd, sshd.port, &far, &program("renmei-random"), 2, "limits.quit = \"200ms\"");
    let output = run(&desk, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    none_left(&mark);
    // The whole sshd is killed while it waits for a move.
    let hold = sshd.dir.path().join("hold");
    let thinks = stays.replace(
        "trap '' HUP TERM PIPE INT\n",
        &format!("trap '' HUP TERM PIPE INT\nwhile read -r line; do\n  case \"$line\" in go*) while [ -e {hold:?} ]; do sleep 0.1; done;; esac\n  echo \"$line\"\ndone | "),
    );
    build(&far, &thinks);
    fs::write(&hold, "").unwrap();
    let file = desk.path("event.toml");
    let look = fs::read_to_string(&file)
        .unwrap()
        .replace("[event]\nname = \"cup\"", "[event]\nlook = false\nname = \"cut\"");
    fs::write(&file, look).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args(["run", "event.toml", "--quiet"]);
    let log = File::create(desk.path("log")).unwrap();
    let mut child = Running(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap());
    let playing = "SELECT 1 FROM games WHERE ended_at IS NULL";
    until("a game is played", || desk.try_query(playing).is_some_and(|rows| !rows.is_empty()));
    sshd.dies_and_comes_back();
    let ruled = "SELECT 1 FROM games WHERE cause = 'disconnection'";
    until("the game is ruled", || desk.try_query(ruled).is_some_and(|rows| !rows.is_empty()));
    child.kill();
    none_left(&mark);
}

#[test]
fn a_check_names_the_build_and_the_round_trip_and_a_host_that_is_away() {
    let Some(sshd) = Sshd::start() else { return };
    let line = line_to(sshd.port);
    line.delay(Duration::from_millis(15));
    sshd.knows(line.address().port());
    let (desk, far) = (Desk::new(), sshd.dir.path().join("far/engine"));
    build(&far, "");
    let (host, path) = (user_at("127.0.0.1"), far.display().to_string());
    let check = |command: &str| {
        let skip = [
            "--skip",
            "nodes",
            "--skip",
            "depth",
            "--skip",
            "movetime",
            "--skip",
            "increment",
            "--skip",
            "ponder",
        ];
        let positions = desk
            .write("few.sfen", "lnsgkgsnl/5r1b1/p1ppppppp/1p7/9/9/PPPPPPPPP/1B3K1RL/LNSG1GSN1 b - 5\n")
            .display()
            .to_string();
        let args = ["check", "--host", &host, "--ssh-command", command, "--positions", &positions];
        desk.renmei(&[&args[..], &skip, &[&path]].concat())
    };
    let shown = text(&check(&sshd.command_at(line.address().port()).join(" ")));
    assert!(shown.contains(&format!("`{host}:{path}`, SHA-256 ")), "{shown}");
    assert!(shown.contains("round trip") && shown.contains("`margin = \""), "{shown}");
    assert!(shown.contains(&format!("host = \"{host}\"")), "{shown}");
    let away = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let shown = text(&check(&sshd.command_at(away).join(" ")));
    assert!(shown.contains("Connection refused") && shown.contains("FAULT"), "{shown}");
    event(&desk, &sshd, away, &far, &far, 2, "");
    let output = run(&desk, &[]);
    assert!(
        output.status.code() != Some(0) && text(&output).contains("Connection refused"),
        "{}",
        text(&output)
    );
    let words = format!("engine `far` cannot play on the host `{host}`: ");
    assert!(text(&output).contains(&words), "{}", text(&output));
}
