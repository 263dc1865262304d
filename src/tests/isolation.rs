//! What an engine cannot do to the machine: by default, and in a strict sandbox.

use crate::support::{Desk, PATIENCE, Played, ended, none_left, processes, program, until, until_within};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    fs,
    net::TcpListener,
    ops::{Deref, DerefMut},
    os::unix::{fs::PermissionsExt, net::UnixListener},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// A mark in the command lines of an engine and what it starts.
fn mark(of: u64) -> String {
    format!("--seed {}", 8_000_000 + u64::from(std::process::id()) * 100 + of)
}

/// Plays the puppet in a mode against an honest one, whose command line has the second mark.
fn against(desk: &Desk, puppet: &str, honest: &str, more: &[&str]) -> Played {
    let cmd = format!("cmd={}", program("renmei-puppet").display());
    let (bad, good) = (format!("args={puppet}"), format!("args={honest}"));
    let engine = [&[&cmd, "name=bad", &bad][..], more].concat();
    desk.play(
        &[&engine, &[&cmd, "name=good", &good]],
        &["--games", "2", "--time", "600s", "--max-moves", "20", "--openings", "none"],
    )
}

/// True if this machine has a strict sandbox; otherwise the running test is left out.
fn has_sandbox() -> bool {
    testing::has("bubblewrap", seat::sandbox::available().is_ok())
}

/// A manager that does not outlive a test that fails.
struct Manager(Child);

impl Deref for Manager {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Manager {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _over_already = self.0.kill();
        let _over_already = self.0.wait();
    }
}

fn start(desk: &Desk, puppet: &str) -> Manager {
    let cmd = format!("cmd={}", program("renmei-puppet").display());
    let honest = format!("cmd={}", program("renmei-random").display());
    let args = format!("args={puppet}");
    // A descriptor that the program inherits and nobody has marked.
    let mut command = Command::new("sh");
    command.args(["-c", "exec 7</dev/null; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_renmei"), "match"]);
    command.args(["--engine", &cmd, "name=bad", &args, "--engine", &honest, "option.ThinkTime=50"]);
    command.args(["--games", "1000", "--time", "600s", "--openings", "none", "--oversubscribe", "--no-look"]);
    command.current_dir(desk.dir.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Manager(command.spawn().unwrap())
}

/// Waits for a process with both texts in its command line.
fn process(mark: &str, word: &str) -> i32 {
    let pid = until_within(PATIENCE, || {
        let mut found = processes(mark).into_iter();
        let line = found.find(|line| line.contains(word) && !line.contains("name=bad"));
        line.map(|line| line.split(' ').next().unwrap().to_owned()).ok_or(format!("no {word} runs"))
    });
    pid.parse().unwrap()
}

#[test]
fn what_an_engine_leaves_behind_ends_with_it() {
    let (desk, mark) = (Desk::new(), mark(1));
    let played = against(&desk, &format!("--mode daemon --delay 36000000 {mark}"), "", &[]);
    assert_eq!(played.code(), Some(0), "{}", played.text());
    none_left(&mark);
}

#[test]
fn what_an_engine_leaves_behind_ends_with_a_killed_manager() {
    let (desk, mark) = (Desk::new(), mark(2));
    let mut manager = start(&desk, &format!("--mode daemon --delay 36000000 {mark}"));
    process(&mark, "--mode sleep");
    kill(Pid::from_raw(manager.id().cast_signed()), Signal::SIGKILL).unwrap();
    ended(&mut manager);
    none_left(&mark);
}

#[test]
fn what_an_engine_leaves_behind_ends_even_if_its_guardian_is_killed() {
    let (desk, mark) = (Desk::new(), mark(3));
    let mut manager = start(&desk, &format!("--mode daemon --delay 36000000 {mark}"));
    let (daemon, guardian) = until_within(PATIENCE, || {
        let daemon = process(&mark, "--mode sleep");
        // Until the process in between has ended, the daemon is its child. The daemon of the engine that is asked for its
        // name before the games ends with it.
        let stat = fs::read_to_string(format!("/proc/{daemon}/stat")).unwrap_or_default();
        let parent =
            stat.rsplit_once(") ").and_then(|(_, fields)| fields.split(' ').nth(1)).unwrap_or_default();
        let line = fs::read_to_string(format!("/proc/{parent}/cmdline")).unwrap_or_default();
        let is_guarded = line.starts_with("renmei-guardian");
        is_guarded
            .then(|| (daemon, parent.parse().unwrap()))
            .ok_or(format!("{daemon} has the parent {parent} {line}"))
    });
    kill(Pid::from_raw(guardian), Signal::SIGKILL).unwrap();
    until("the daemon has ended", || {
        assert!(manager.try_wait().unwrap().is_none(), "the manager plays on");
        !fs::exists(format!("/proc/{daemon}")).unwrap()
    });
    kill(Pid::from_raw(manager.id().cast_signed()), Signal::SIGTERM).unwrap();
    ended(&mut manager);
    none_left(&mark);
}

/// The open descriptors of a process.
fn descriptors(process: i32) -> std::io::Result<Vec<String>> {
    let open = fs::read_dir(format!("/proc/{process}/fd"))?;
    open.map(|fd| Ok(fd?.file_name().to_string_lossy().into_owned())).collect()
}

#[test]
fn an_engine_has_a_session_of_its_own_no_terminal_and_no_descriptor_but_its_pipes() {
    let (desk, mark) = (Desk::new(), mark(4));
    let mut manager = start(&desk, &format!("--sleep-us 0 {mark}"));
    // The engine that is asked for its name before the games may end before it is looked at, and the loader of an engine that
    // begins has a library open for a moment.
    let (engine, stat) = until_within(PATIENCE, || {
        let engine = process(&mark, "renmei-puppet");
        let looked = fs::read_to_string(format!("/proc/{engine}/stat"))
            .and_then(|stat| Ok((stat, descriptors(engine)?)));
        let (stat, mut open) = looked.map_err(|why| why.to_string())?;
        open.sort();
        if open == ["0", "1", "2"] { Ok((engine, stat)) } else { Err(format!("open: {open:?}")) }
    });
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let [group, session, terminal] = [fields[2], fields[3], fields[4]].map(|n| n.parse::<i32>().unwrap());
    assert_eq!((group, session, terminal), (engine, engine, 0), "{stat}");
    kill(Pid::from_raw(manager.id().cast_signed()), Signal::SIGTERM).unwrap();
    ended(&mut manager);
    none_left(&mark);
}

#[test]
fn an_engine_that_kills_its_parent_harms_nobody_else() {
    let (desk, mark) = (Desk::new(), mark(5));
    let played = against(&desk, &format!("--mode kill {mark}"), "", &[]);
    assert_eq!(played.code(), Some(0), "{}", played.text());
    assert_eq!(played.standing("good")["lost_by"].get("disconnection"), None, "{}", played.text());
    none_left(&mark);
}

#[test]
fn a_strict_sandbox_keeps_processes_network_and_files_from_an_engine() {
    if !has_sandbox() {
        return;
    }
    let (desk, mark, victim) = (Desk::new(), mark(6), mark(7));
    fs::set_permissions(desk.dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let (port, file) = (listener.local_addr().unwrap().port(), desk.path("outside"));
    let aims = [
        format!("--mode network {mark} --target 127.0.0.1:{port}"),
        format!("--mode write {mark} --target {}", file.display()),
    ];
    for (number, aim) in aims.iter().enumerate() {
        let by_default = against(&Desk::new(), aim, &victim, &[]);
        assert_eq!(by_default.code(), Some(0), "{}", by_default.text());
        assert!(listener.accept().is_ok() || file.exists(), "{aim} does what it is told to");
        while listener.accept().is_ok() {}
        let _not_there = fs::remove_file(&file);
        let strict = against(&Desk::new(), aim, &victim, &["sandbox=strict"]);
        assert_eq!(strict.code(), Some(0), "{number}: {}", strict.text());
        assert!(listener.accept().is_err() && !file.exists(), "{aim}");
    }
    for aim in [
        format!("--mode kill {mark} --target {}", victim.split_once(" ").unwrap().1),
        format!("--mode daemon --delay 36000000 {mark}"),
    ] {
        let strict = against(&Desk::new(), &aim, &victim, &["sandbox=strict"]);
        assert_eq!(strict.code(), Some(0), "{}", strict.text());
        assert_eq!(strict.standing("good")["lost_by"].get("disconnection"), None, "{}", strict.text());
        none_left(&mark);
    }
}

#[test]
fn an_engine_in_a_strict_sandbox_reaches_no_socket_that_lies_in_a_directory() {
    if !has_sandbox() {
        return;
    }
    // A socket that everybody may connect to: where the manager is not root, that of `renmei admin` is one for an engine.
    let (desk, mark) = (Desk::new(), mark(10));
    fs::set_permissions(desk.dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let path = desk.path("socket");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o777)).unwrap();
    // Where it may write, it still may not speak to anybody.
    let directory = format!("sandbox_write={}", desk.dir.path().display());
    let aim = format!("--mode network {mark} --target {}", path.display());
    let by_default = against(&Desk::new(), &aim, "", &[]);
    assert_eq!(by_default.code(), Some(0), "{}", by_default.text());
    assert!(listener.accept().is_ok(), "it does what it is told to");
    while listener.accept().is_ok() {}
    let strict = against(&Desk::new(), &aim, "", &["sandbox=strict", &directory]);
    assert_eq!(strict.code(), Some(0), "{}", strict.text());
    assert!(listener.accept().is_err(), "the engine has reached a socket of the manager's user");
}

#[test]
fn an_engine_in_a_strict_sandbox_writes_where_it_may() {
    if !has_sandbox() {
        return;
    }
    let (desk, mark) = (Desk::new(), mark(8));
    let book = desk.path("book");
    fs::create_dir(&book).unwrap();
    fs::set_permissions(desk.dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    fs::set_permissions(&book, PermissionsExt::from_mode(0o777)).unwrap();
    let aim = format!("--mode write {mark} --target {}/learned", book.display());
    let write = format!("sandbox_write={}", book.display());
    let played = against(&desk, &aim, "", &["sandbox=strict", &write]);
    assert_eq!(played.code(), Some(0), "{}", played.text());
    assert!(book.join("learned").exists(), "{}", played.text());
}

#[test]
fn an_engine_in_a_strict_sandbox_that_wants_too_much_memory_loses_alone() {
    if !has_sandbox() {
        return;
    }
    let (desk, mark) = (Desk::new(), mark(9));
    let aim = format!("--mode memory --megabytes 600 --ply 3 {mark}");
    let played = against(&desk, &aim, "", &["sandbox=strict", "sandbox_memory_mb=128"]);
    assert_eq!(played.code(), Some(0), "{}", played.text());
    assert_eq!(played.standing("bad")["lost_by"]["disconnection"], 2, "{}", played.text());
    none_left(&mark);
}

/// What an engine can take without a process that shows it, and how the engine is ended for it, or refused it.
const HOARDS: [(&str, &str); 7] = [
    ("memfd", ""),
    ("sysv", ""),
    ("shared", ""),
    ("zero", ""),
    ("sockets", "it had more memory than `sandbox_memory_mb` allows"),
    ("files", "it had more files than a strict sandbox allows"),
    ("processes", "it was ended, because it had more"),
];

#[test]
fn an_engine_in_a_strict_sandbox_takes_no_memory_that_no_process_shows() {
    if !has_sandbox() {
        return;
    }
    let cmd = format!("cmd={}", program("renmei-puppet").display());
    for (number, (what, why)) in HOARDS.into_iter().enumerate() {
        let (desk, mark) = (Desk::new(), mark(20 + number as u64));
        let bad = format!("args=--mode hoard --target {what} --megabytes 600 {mark}");
        let engine = [&cmd, "name=bad", &bad, "sandbox=strict", "sandbox_memory_mb=128"];
        let limits =
            ["--games", "1", "--time", "60s", "--max-moves", "20", "--openings", "none", "--no-look"];
        let played = desk.play(&[&engine, &[&cmd, "name=good"]], &limits);
        assert_eq!(played.code(), Some(0), "{what}: {}", played.text());
        assert_eq!(played.standing("bad")["lost_by"]["disconnection"], 1, "{what}: {}", played.text());
        let told = desk.query("SELECT evidence FROM games").concat().concat();
        assert!(told.contains(why), "{what}: {told}");
        none_left(&mark);
    }
}

/// A match in which a strict engine has processes that compute, and its opponent thinks on; the manager, and one of them.
fn spinning(desk: &Desk, mark: &str) -> (Manager, i32) {
    let cmd = format!("cmd={}", program("renmei-puppet").display());
    let spins = format!("args=--mode spin --megabytes 3 --delay 3600000 {mark}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.args(["match", "--engine", &cmd, "name=bad", &spins, "sandbox=strict", "--db", "event.db"]);
    command.args(["--engine", &cmd, "name=good", "args=--mode late --delay 36000000 --ply 2"]);
    command.args(["--games", "1", "--time", "600s", "--openings", "none", "--oversubscribe", "--no-look"]);
    command.current_dir(desk.dir.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut manager = Manager(command.spawn().unwrap());
    let spinning = process(mark, "--mode compute");
    let state = || {
        let stat = fs::read_to_string(format!("/proc/{spinning}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.chars().next().unwrap()
    };
    until("the engine is stopped", || {
        assert!(manager.try_wait().unwrap().is_none(), "the game is on");
        state() == 'T'
    });
    (manager, spinning)
}

#[test]
fn an_engine_in_a_strict_sandbox_is_stopped_while_its_opponent_is_to_move() {
    if !has_sandbox() {
        return;
    }
    let (desk, mark) = (Desk::new(), mark(30));
    let (mut manager, _) = spinning(&desk, &mark);
    kill(Pid::from_raw(manager.id().cast_signed()), Signal::SIGTERM).unwrap();
    ended(&mut manager);
    none_left(&mark);
}

#[test]
fn an_engine_in_a_strict_sandbox_that_runs_on_while_its_opponent_is_to_move_is_ended() {
    if !has_sandbox() {
        return;
    }
    let (desk, mark) = (Desk::new(), mark(33));
    let (mut manager, spinning) = spinning(&desk, &mark);
    // As if it knew a way to wake itself.
    let patience = Instant::now() + PATIENCE;
    while kill(Pid::from_raw(spinning), Signal::SIGCONT).is_ok() {
        assert!(Instant::now() < patience, "it runs on");
        sleep(Duration::from_millis(1));
    }
    assert_eq!(ended(&mut manager).code(), Some(0));
    let ended = desk.query("SELECT cause, evidence FROM games").concat();
    assert_eq!(ended[0], "disconnection", "{ended:?}");
    assert!(
        ended[1].contains("it was ended, because it computed while its opponent was to move"),
        "{ended:?}"
    );
    none_left(&mark);
}

#[test]
fn an_engine_in_a_strict_sandbox_has_no_variables_of_its_manager_but_those_it_needs() {
    if !has_sandbox() {
        return;
    }
    let (desk, mark) = (Desk::new(), mark(31));
    let cmd = format!("cmd={}", program("renmei-puppet").display());
    let args = format!("args=--sleep-us 0 {mark}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.args(["match", "--engine", &cmd, "name=bad", &args, "sandbox=strict", "--engine", &cmd]);
    command.args(["--games", "1000", "--time", "600s", "--openings", "none", "--oversubscribe", "--no-look"]);
    command.envs([("A_TOKEN", "secret"), ("LC_ALL", "C.UTF-8")]).current_dir(desk.dir.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut manager = Manager(command.spawn().unwrap());
    let begin = format!(" {}", program("renmei-puppet").display());
    let environment = until_within(PATIENCE, || {
        // The sandbox around it has the same words, behind its own; the engine that is asked for its name before the games
        // may end before it is looked at.
        let lines = processes(&mark);
        let pids = lines.iter().filter_map(|line| Some(line.split_once(&begin)?.0));
        let mut engines = pids.filter(|pid| !pid.contains(' '));
        let read =
            |pid| fs::read_to_string(format!("/proc/{pid}/environ")).ok().filter(|text| !text.is_empty());
        engines.find_map(read).ok_or_else(|| format!("no engine among {lines:?}"))
    });
    assert!(environment.contains("LC_ALL=C.UTF-8") && environment.contains("PATH="), "{environment}");
    assert!(!environment.contains("secret"), "{environment}");
    kill(Pid::from_raw(manager.id().cast_signed()), Signal::SIGTERM).unwrap();
    ended(&mut manager);
    none_left(&mark);
}

#[test]
fn a_link_that_an_engine_in_a_strict_sandbox_makes_is_not_followed_by_its_manager() {
    if !has_sandbox() {
        return;
    }
    let (desk, mark) = (Desk::new(), mark(32));
    let (book, secret) = (desk.path("book"), desk.write("secret", "secret"));
    fs::create_dir(&book).unwrap();
    fs::write(book.join("moves.db"), "moves").unwrap();
    for (path, mode) in [(desk.dir.path(), 0o755), (&book, 0o777), (&secret, 0o600)] {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    let (cmd, target) =
        (program("renmei-puppet"), format!("{},{}", book.join("moves.db").display(), secret.display()));
    let config = format!(
        "[event]\nname = 'x'\ndatabase = 'x.db'\ngames = 2\n[time]\nmain = '600s'\n[rules]\nmax_moves = 12\n\
         [[engines]]\nname = 'bad'\ncommand = '{cmd}'\nargs = ['--mode', 'link', '--target', '{target}', {words}]\n\
         directory = '.'\nsandbox = 'strict'\nsandbox_write = ['book']\nidentity = {{ files = ['book/moves.db'] }}\n\
         [[engines]]\nname = 'good'\ncommand = '{cmd}'\n",
        cmd = cmd.display(),
        words = mark.split(' ').map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", "),
    );
    desk.write("x.toml", &config);
    // Before the first game the engine is asked for a move, and has made its link when its files are read.
    let output = desk.renmei(&["run", "x.toml", "--no-dashboard", "--oversubscribe"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(fs::symlink_metadata(book.join("moves.db")).unwrap().is_symlink(), "{said}");
    assert!(said.contains("a link that leads out of a directory which the engine may write to"), "{said}");
    let database = rusqlite::Connection::open(desk.path("x.db")).unwrap();
    let known: String =
        database.query_row("SELECT group_concat(files) FROM identities", [], |row| row.get(0)).unwrap();
    assert!(!known.contains("moves.db"), "what the link leads to was read: {known}");
}

#[test]
fn a_strict_sandbox_that_cannot_be_had_refuses_the_start() {
    let desk = Desk::new();
    let cmd = program("renmei-puppet").display().to_string();
    let config = format!(
        "[event]\nname = 'x'\n[time]\nbyoyomi = '1s'\n[[engines]]\nname = 'a'\ncommand = '{cmd}'\nsandbox = 'strict'\n\
         [[engines]]\nname = 'b'\ncommand = '{cmd}'\n"
    );
    let file = desk.write("x.toml", &config);
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    let output = command.env("PATH", "/nowhere").arg("run").arg(file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("engine `a` cannot play: `sandbox = \"strict\"` needs `bwrap`"), "{said}");
    assert!(!desk.path("x.db").exists(), "no event was begun");
}
