//! The line to join with: where it is read from, who sees it, and who remembers it.

use super::*;
use std::io::Write;

/// A worker with its line on standard input, and nothing of it in its arguments.
fn by_standard_input(desk: &Desk, name: &str, line: &str) -> Running {
    let log = File::options().create(true).append(true).open(desk.path(&format!("{name}.log"))).unwrap();
    let state = desk.path(name).display().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    let args =
        ["worker", "--join-file", "-", "--name", name, "--slots", "2", "--oversubscribe", "--state", &state];
    command.current_dir(desk.dir.path()).args(args).stdin(Stdio::piped());
    command.stdout(log.try_clone().unwrap()).stderr(log);
    let mut child = command.spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{line}").unwrap();
    Running(child)
}

#[test]
fn a_worker_that_joined_by_standard_input_shows_its_line_to_nobody_and_comes_back_without_it() {
    if !is_server_here() {
        return;
    }
    let (desk, all) = (Desk::new(), 12);
    event(&desk, all, "");
    hold(&desk);
    let mut manager = manages(&desk, &OWN);
    let line = line(&desk);
    let (_, secret) = line.split_once('#').unwrap();
    let mut ann = by_standard_input(&desk, "ann", &line);
    until("it has pairs", || given_to(&desk, "ann") >= 2);
    let arguments = std::fs::read(format!("/proc/{}/cmdline", ann.0.id())).unwrap();
    assert!(!String::from_utf8_lossy(&arguments).contains(secret));
    let kept = std::fs::metadata(desk.path("ann/line")).unwrap();
    assert_eq!(kept.permissions().mode() & 0o777, 0o600, "others cannot read what it remembers");
    ann.kill();
    let state = desk.path("ann").display().to_string();
    let args = ["worker", "--name", "ann", "--slots", "2", "--oversubscribe", "--state", &state];
    let mut again = start(&desk, "ann.log", &args);
    release(&desk);
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(again.code(), Some(0), "{}", log(&desk, "ann.log"));
    as_alone(&desk, all, "");
}

#[test]
fn a_line_in_the_environment_is_read_and_no_engine_has_it() {
    if !is_server_here() {
        return;
    }
    let desk = Desk::new();
    let engine = event(&desk, 2, "");
    let text = std::fs::read_to_string(desk.path("patient.sh")).unwrap();
    desk.write(
        "patient.sh",
        &text.replacen("#!/bin/sh\n", "#!/bin/sh\nenv > $(dirname $0)/environment\n", 1),
    );
    assert!(engine.ends_with("event.toml"));
    let mut manager = manages(&desk, &OWN);
    let log_file = File::create(desk.path("ann.log")).unwrap();
    let state = desk.path("ann").display().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args([
        "worker",
        "--name",
        "ann",
        "--oversubscribe",
        "--state",
        &state,
    ]);
    command.env("RENMEI_JOIN", line(&desk)).stdin(Stdio::null());
    command.stdout(log_file.try_clone().unwrap()).stderr(log_file);
    let mut ann = Running(command.spawn().unwrap());
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(ann.code(), Some(0), "{}", log(&desk, "ann.log"));
    let seen = log(&desk, "environment");
    assert!(seen.contains("PATH=") && !seen.contains("RENMEI_JOIN"), "{seen}");
}

#[test]
fn a_worker_without_a_line_says_where_it_looks_for_one() {
    let desk = Desk::new();
    let state = desk.path("ann").display().to_string();
    let output = desk.renmei(&["worker", "--name", "ann", "--state", &state]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    for word in ["--join-file FILE", "RENMEI_JOIN", "knows of no event yet"] {
        assert!(said.contains(word), "{said}");
    }
    desk.write("line.txt", "nats://box:4222\n");
    let output = desk.renmei(&["worker", "--join-file", "line.txt", "--state", &state]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`line.txt`: this is no line to join with: there is no `#`"), "{said}");
    let unit = desk.renmei(&["service", "print", "worker", "line.txt"]);
    assert_eq!(unit.status.code(), Some(2), "a unit without a line would never work");
}

#[test]
fn a_journal_is_not_told_the_line_but_where_it_is() {
    if !is_server_here() {
        return;
    }
    use std::os::unix::fs::MetadataExt;
    let desk = Desk::new();
    event(&desk, 2, "");
    let log_file = File::create(desk.path("manager.log")).unwrap();
    let data = log_file.metadata().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).env("JOURNAL_STREAM", format!("{}:{}", data.dev(), data.ino()));
    command.args(["run", "event.toml", "--no-dashboard"]).args(OWN).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(log_file);
    let mut manager = Running(command.spawn().unwrap());
    let file = desk.path("event.db-hub/line");
    until("the manager has kept the line", || log(&desk, "manager.log").contains("other machines join with"));
    let line = std::fs::read_to_string(&file).unwrap();
    let (_, secret) = line.trim().split_once('#').unwrap();
    let said = log(&desk, "manager.log");
    assert!(!said.contains(secret), "{said}");
    assert!(said.contains(&format!("the line for FILE is in `{}`", file.display())), "{said}");
    let state = desk.path("ann").display().to_string();
    let file = file.display().to_string();
    let args = ["worker", "--join-file", &file, "--name", "ann", "--oversubscribe", "--state", &state];
    let insists = [&args[..], &["--sandbox", "strict"]].concat();
    let mut strict = start(&desk, "strict.log", &insists);
    assert_eq!(strict.code(), Some(1), "{}", log(&desk, "strict.log"));
    let why = "is not in a strict sandbox, and this worker was started with `--sandbox strict`";
    assert!(log(&desk, "strict.log").contains(why), "{}", log(&desk, "strict.log"));
    let mut ann = start(&desk, "ann.log", &args);
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(ann.code(), Some(0), "{}", log(&desk, "ann.log"));
}
