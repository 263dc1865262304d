//! One event on many machines: real workers, a real server, and what is killed in between.

mod analyze;
mod boards;
mod dropped;
mod far;
mod joining;
mod repeats;
mod ssh;
mod unequal;
mod words;

use crate::support::{Desk, ended, none_left, program, until};
use std::{
    fs::File,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};
use tempfile::TempDir;
use testing::network::Namespaces;

/// The address of an event's server.
struct Hub {
    port: u16,
}

impl Hub {
    /// `None` where there is no server to start.
    fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        is_server_here().then_some(Self { port })
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// Kills the server of an event.
fn kill_server(desk: &Desk) {
    let text = std::fs::read_to_string(desk.path("event.db-hub/server.pid")).unwrap();
    let process: i32 = text.split(' ').next().unwrap().parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), nix::sys::signal::Signal::SIGKILL).unwrap();
}

/// A process that is killed at the end of a test that fails.
struct Running(Child);

impl Running {
    fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.0.id()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        ended(&mut self.0);
    }

    fn code(&mut self) -> Option<i32> {
        until("a process ends", || self.0.try_wait().unwrap().is_some());
        ended(&mut self.0).code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _dead_already = self.0.kill();
        let _reaped_already = self.0.wait();
    }
}

/// An engine that does not answer `go` while a file `hold` exists beside it.
fn held_engine(desk: &Desk) -> PathBuf {
    let random = program("renmei-random").display().to_string();
    let script = format!(
        "#!/bin/sh\nhold=${{0%/*}}/hold\nwhile read -r line; do\n  case \"$line\" in go*) while [ -e \"$hold\" ]; \
         do sleep 0.1; done;; esac\n  echo \"$line\"\ndone | {random}\n"
    );
    let path = desk.write("patient.sh", &script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// From now on no engine answers, so that nothing ends before the test allows it.
fn hold(desk: &Desk) {
    desk.write("hold", "");
}

fn release(desk: &Desk) {
    std::fs::remove_file(desk.path("hold")).unwrap();
}

/// An event of two engines that play the same game from the same opening, whenever and wherever it is played.
fn event(desk: &Desk, games: usize, more: &str) -> String {
    let engine = held_engine(desk).display().to_string();
    let text = format!(
        r#"
[event]
name = "many"
database = "event.db"
games = {games}
concurrency = 2
oversubscribe = true
look = false
{more}

[rules]
max_moves = 30

[openings]
file = "built-in"
order = "random"

[defaults]
time = "600s"
restart = "every-game"

[[engines]]
name = "a"
command = "{engine}"
options = {{ ThinkTime = 5, Seed = 11, Style = "greedy" }}

[[engines]]
name = "b"
command = "{engine}"
options = {{ ThinkTime = 5, Seed = 23 }}
"#
    );
    desk.write("event.toml", &text).display().to_string()
}

/// A process whose words go to a file.
fn start(desk: &Desk, log: &str, args: &[&str]) -> Running {
    let log = File::options().create(true).append(true).open(desk.path(log)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args(args).stdin(Stdio::null());
    command.stdout(log.try_clone().unwrap()).stderr(log);
    Running(command.spawn().unwrap())
}

fn manager(desk: &Desk, hub: &Hub, slots: &str) -> Running {
    manages(desk, &["--hub", &hub.address(), "--slots", slots])
}

fn manages(desk: &Desk, more: &[&str]) -> Running {
    let file = desk.path("event.toml").display().to_string();
    start(desk, "manager.log", &[&["run", &file, "--no-dashboard"], more].concat())
}

/// The line to join with, as the manager prints it; the same at each start.
fn line(desk: &Desk) -> String {
    let mut line = String::new();
    until("the manager prints a line", || {
        let said = log(desk, "manager.log");
        let found = said.split_once("other machines join with: renmei worker '");
        line = found.and_then(|(_, rest)| Some(rest.split_once('\'')?.0.to_owned())).unwrap_or_default();
        !line.is_empty()
    });
    line
}

/// The event's name on the wire.
fn key(desk: &Desk) -> String {
    let mut key = String::new();
    until("the manager has a desk", || {
        let found = desk.try_query("SELECT key FROM fleets").unwrap_or_default();
        key = found.first().map(|row| row[0].clone()).unwrap_or_default();
        !key.is_empty()
    });
    key
}

fn worker(desk: &Desk, name: &str) -> Running {
    joins(desk, name, &line(desk))
}

fn joins(desk: &Desk, name: &str, line: &str) -> Running {
    let state = desk.path(name).display().to_string();
    let args = ["worker", line, "--name", name, "--slots", "2", "--oversubscribe", "--state", &state];
    start(desk, &format!("{name}.log"), &args)
}

fn count(desk: &Desk, sql: &str) -> usize {
    let found = desk.try_query(sql).unwrap_or_default();
    found.first().and_then(|row| row[0].parse().ok()).unwrap_or(0)
}

const COUNTED: &str = "SELECT count(*) FROM games WHERE state = 'counted'";

fn log(desk: &Desk, name: &str) -> String {
    std::fs::read_to_string(desk.path(name)).unwrap_or_default()
}

/// The games of an event by their places, without what may differ: numbers, instants, machines.
fn games(desk: &Desk) -> Vec<Vec<String>> {
    desk.query(
        "SELECT stage, index_, attempt, round, pair, opening, black, white, start, opening_moves, result, cause, plies,
                (SELECT group_concat(move, ' ') FROM (SELECT move FROM moves WHERE game = g.id ORDER BY ply))
         FROM games g WHERE state = 'counted' ORDER BY stage, index_",
    )
}

/// The same event, played by one machine alone, which never waits: by the engine itself.
fn alone(games_: usize, more: &str) -> (Desk, Option<i32>) {
    let desk = Desk::new();
    let file = event(&desk, games_, more);
    let text = std::fs::read_to_string(&file).unwrap();
    let (held, engine) = (desk.path("patient.sh"), program("renmei-random"));
    std::fs::write(&file, text.replace(&*held.to_string_lossy(), &engine.to_string_lossy())).unwrap();
    let code = start(&desk, "alone.log", &["run", &file, "--no-dashboard"]).code();
    (desk, code)
}

/// Every place was played once, as it is played alone, and nothing is left over.
fn as_alone(desk: &Desk, games_: usize, more: &str) {
    let (alone, code) = alone(games_, more);
    assert_eq!(code, Some(0), "{}", log(&alone, "alone.log"));
    assert_eq!(games(desk), games(&alone));
    assert_eq!(count(desk, COUNTED), games_);
    assert_eq!(desk.query("SELECT count(*), count(DISTINCT number) FROM games")[0][0], games_.to_string());
    let verified = desk.renmei(&["verify", "event.db"]);
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stdout));
}

/// Leases that were given to a machine.
fn given_to(desk: &Desk, name: &str) -> usize {
    count(desk, &format!("SELECT count(*) FROM leases WHERE machine = '{name}'"))
}

/// True if a worker keeps answers that nobody has taken.
fn keeps_answers(desk: &Desk, name: &str) -> bool {
    let kept = std::fs::read_dir(desk.path(name).join(key(desk)));
    kept.is_ok_and(|mut files| {
        files.any(|file| file.unwrap().path().extension().is_some_and(|end| end == "json"))
    })
}

#[test]
fn an_event_begun_on_one_machine_goes_on_with_three_and_ends_on_one_as_if_it_never_left() {
    let Some(hub) = Hub::start() else { return };
    let (desk, all) = (Desk::new(), 48);
    let file = event(&desk, all, "");
    let mut one = start(&desk, "manager.log", &["run", &file, "--no-dashboard", "--concurrency", "1"]);
    until("it has begun", || count(&desk, COUNTED) >= 4);
    hold(&desk);
    one.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(one.code(), Some(3), "{}", log(&desk, "manager.log"));
    let mut many = manager(&desk, &hub, "0");
    let names = ["ann", "bob", "cid"];
    let mut workers = names.map(|name| worker(&desk, name));
    until("each machine has pairs", || names.iter().all(|name| given_to(&desk, name) >= 2));
    // It ends once their running games have ended, long before the event is over.
    many.signal(nix::sys::signal::Signal::SIGINT);
    release(&desk);
    assert_eq!(many.code(), Some(3), "{}", log(&desk, "manager.log"));
    assert_eq!(count(&desk, "SELECT count(DISTINCT machine) FROM games WHERE state = 'counted'"), 3);
    for worker in &mut workers {
        worker.signal(nix::sys::signal::Signal::SIGINT);
        assert_eq!(worker.code(), Some(3));
    }
    let mut one = start(&desk, "manager.log", &["run", &file, "--no-dashboard"]);
    assert_eq!(one.code(), Some(0), "{}", log(&desk, "manager.log"));
    let counted = "SELECT count(DISTINCT index_) FROM games WHERE state = 'counted'";
    assert_eq!((count(&desk, counted), count(&desk, COUNTED)), (all, all));
    // The first machine was stopped in mid-game: that game has two attempts.
    let (alone, _) = self::alone(all, "");
    let without_attempts = |desk: &Desk| -> Vec<Vec<String>> {
        games(desk).into_iter().map(|game| [&game[..2], &game[3..]].concat()).collect()
    };
    assert_eq!(without_attempts(&desk), without_attempts(&alone));
    none_left(&desk.dir.path().display().to_string());
}

#[test]
fn a_worker_killed_in_mid_game_costs_no_game_and_doubles_none() {
    let Some(hub) = Hub::start() else { return };
    let (desk, all) = (Desk::new(), 20);
    event(&desk, all, "");
    hold(&desk);
    let mut manager = manager(&desk, &hub, "0");
    let mut ann = worker(&desk, "ann");
    let mut bob = worker(&desk, "bob");
    until("both play", || given_to(&desk, "ann") >= 2 && given_to(&desk, "bob") >= 2);
    for _ in 0..2 {
        ann.kill();
        let before = given_to(&desk, "ann");
        ann = worker(&desk, "ann");
        until("it has pairs again", || given_to(&desk, "ann") >= before + 2);
    }
    release(&desk);
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!((ann.code(), bob.code()), (Some(0), Some(0)), "they hear that the event is over");
    as_alone(&desk, all, "");
}

#[test]
fn a_manager_killed_goes_on_with_what_its_workers_have_played_meanwhile() {
    let Some(hub) = Hub::start() else { return };
    let (desk, all) = (Desk::new(), 20);
    event(&desk, all, "");
    hold(&desk);
    let mut first = manager(&desk, &hub, "0");
    let mut ann = worker(&desk, "ann");
    until("pairs are away", || given_to(&desk, "ann") >= 2);
    until("the worker has them", || log(&desk, "ann.log").contains("plays in `many`"));
    std::thread::sleep(Duration::from_secs(1));
    first.kill();
    release(&desk);
    until("answers wait for a manager", || keeps_answers(&desk, "ann"));
    assert_eq!(count(&desk, COUNTED), 0);
    let mut second = manager(&desk, &hub, "0");
    assert_eq!(second.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(ann.code(), Some(0), "{}", log(&desk, "ann.log"));
    assert_eq!(count(&desk, "SELECT epoch FROM fleets"), 2);
    let first_lease = "SELECT count(*) FROM leases WHERE id = 1 AND epoch = 1 AND committed_at IS NOT NULL";
    assert_eq!(count(&desk, first_lease), 1, "what the first manager gave was taken by the second");
    as_alone(&desk, all, "");
}

#[test]
fn a_server_killed_is_missed_and_costs_no_game() {
    let Some(hub) = Hub::start() else { return };
    let (desk, all) = (Desk::new(), 20);
    event(&desk, all, "");
    hold(&desk);
    let mut manager = manager(&desk, &hub, "0");
    let mut ann = worker(&desk, "ann");
    until("pairs are away", || given_to(&desk, "ann") >= 2);
    kill_server(&desk);
    release(&desk);
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(ann.code(), Some(0), "{}", log(&desk, "ann.log"));
    assert!(log(&desk, "manager.log").contains("nats-server is there again"));
    as_alone(&desk, all, "");
}

#[test]
fn a_sequential_test_on_many_machines_ends_with_the_same_verdict_at_the_same_pair() {
    let Some(hub) = Hub::start() else { return };
    // Bounds that the stronger engine reaches in some thirty games.
    let sprt =
        "format = \"sprt\"\n[sprt]\nelo0 = 0\nelo1 = 300\nalpha = 0.35\nbeta = 0.35\nmax_games = 400\n";
    let sprt_event = |desk: &Desk| {
        let path = event(desk, 0, sprt);
        let text = std::fs::read_to_string(&path)
            .unwrap()
            .replace("games = 0\n", "")
            .replace("max_moves = 30", "max_moves = 200");
        std::fs::write(&path, text).unwrap();
        path
    };
    let (desk, alone) = (Desk::new(), Desk::new());
    let path = sprt_event(&alone);
    let code = start(&alone, "alone.log", &["run", &path, "--no-dashboard"]).code();
    sprt_event(&desk);
    hold(&desk);
    let mut manager = manager(&desk, &hub, "1");
    let names = ["ann", "bob"];
    let mut workers = names.map(|name| worker(&desk, name));
    until("each machine has pairs", || names.iter().all(|name| given_to(&desk, name) >= 2));
    release(&desk);
    assert_eq!(manager.code(), code, "{}{}", log(&desk, "manager.log"), log(&alone, "alone.log"));
    assert_eq!(workers.each_mut().map(Running::code), [Some(0), Some(0)]);
    let verdict = "SELECT verdict, llr, pairs FROM verdicts";
    assert_eq!(desk.query(verdict), alone.query(verdict));
    let pairs = &desk.query(verdict)[0][2];
    let tested = format!("SELECT count(*) FROM games WHERE state = 'counted' AND pair < {pairs}");
    assert_eq!(count(&desk, &tested), 2 * pairs.parse::<usize>().unwrap());
    let unfair = "SELECT pair FROM games WHERE state = 'counted' GROUP BY pair HAVING count(*) <> 2";
    assert_eq!(desk.query(unfair), Vec::<Vec<String>>::new(), "pairs that had begun were completed");
}

#[test]
fn a_machine_with_other_files_that_it_cannot_be_sent_is_refused_in_a_sentence() {
    let Some(hub) = Hub::start() else { return };
    let (desk, outside) = (Desk::new(), tempfile::tempdir().unwrap());
    let file = event(&desk, 4, "");
    let book = outside.path().join("book.db");
    std::fs::write(&book, "the manager's").unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let names = format!("name = \"a\"\nargs = [\"{}\"]", book.display());
    std::fs::write(&file, text.replacen("name = \"a\"", &names, 1)).unwrap();
    let mut manager = manager(&desk, &hub, "0");
    line(&desk);
    std::fs::write(&book, "another").unwrap();
    let mut ann = worker(&desk, "ann");
    assert_eq!(ann.code(), Some(1), "{}", log(&desk, "ann.log"));
    let said = log(&desk, "ann.log");
    assert!(said.contains("engine `a` is not the one of the manager: its file"), "{said}");
    until("the manager has it on record", || {
        count(&desk, "SELECT count(*) FROM faults WHERE text LIKE 'machine `%cannot play: engine `a`%'") == 1
    });
    manager.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(manager.code(), Some(3));
    assert_eq!(count(&desk, COUNTED), 0);
}

#[test]
fn a_worker_says_what_is_missing() {
    let desk = Desk::new();
    let refused = |args: &[&str]| {
        let output = desk.renmei(args);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let no_token = refused(&["worker", "nats+tls://box:4222"]);
    assert!(no_token.contains("this is no line to join with: there is no `#`"), "{no_token}");
    let no_server = refused(&["worker", "box:4222#abcd"]);
    assert!(no_server.contains("does not begin with `nats+tls://`"), "{no_server}");
    event(&desk, 4, "");
    let alone = refused(&["run", "event.toml", "--slots", "0"]);
    assert!(alone.contains("--hub <ADDR>"), "{alone}");
}

fn is_server_here() -> bool {
    testing::has("nats-server", testing::program("nats-server").is_some())
}

/// The command that makes everything, on a port that is free.
const OWN: [&str; 4] = ["--hub", "127.0.0.1:0", "--slots", "0"];

#[test]
fn two_commands_play_an_event_over_tls_as_one_machine_alone() {
    if !is_server_here() {
        return;
    }
    let (desk, all) = (Desk::new(), 20);
    event(&desk, all, "");
    let mut manager = manages(&desk, &OWN);
    let line = line(&desk);
    assert!(line.starts_with("nats+tls://127.0.0.1:"), "{line}");
    let mut ann = joins(&desk, "ann", &line);
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(ann.code(), Some(0), "{}", log(&desk, "ann.log"));
    assert!(log(&desk, "manager.log").contains("machine `ann` was let in"), "{}", log(&desk, "manager.log"));
    as_alone(&desk, all, "");
    none_left(&desk.dir.path().display().to_string());
}

#[test]
fn a_tuning_that_another_machine_plays_has_the_values_of_one_that_is_played_here() {
    if !is_server_here() {
        return;
    }
    let (here, there) = (Desk::new(), Desk::new());
    for desk in [&here, &there] {
        let text = format!(
            "[event]\nname = \"t\"\ndatabase = \"event.db\"\noversubscribe = true\n[time]\nnodes = 200\n\
             [rules]\nmax_moves = 40\n[openings]\nfile = \"built-in\"\norder = \"random\"\n\
             [[engines]]\nname = \"e\"\ncommand = \"{}\"\noptions = {{ USI_Hash = 1, MaxMovesToDraw = 40 }}\n\
             [tune]\npairs = 12\nwindow = 3\n[[parameters]]\nname = \"NodesLimit\"\nstart = 30\nmin = 1\nmax = 300\n\
             c_end = 20\nr_end = 0.06\n",
            program("renmei-pairwise").display()
        );
        desk.write("event.toml", &text);
    }
    assert_eq!(here.renmei(&["run", "event.toml"]).status.code(), Some(0));
    let mut manager = manages(&there, &OWN);
    let mut ann = joins(&there, "ann", &line(&there));
    assert_eq!(manager.code(), Some(0), "{}", log(&there, "manager.log"));
    assert_eq!(ann.code(), Some(0), "{}", log(&there, "ann.log"));
    assert_eq!(given_to(&there, "ann"), 12, "leases");
    let played =
        "SELECT index_, color, options FROM games JOIN game_options USING (event, number) ORDER BY 1, 2";
    assert_eq!(there.query(played), here.query(played));
    assert_eq!(games(&there), games(&here));
    let values = |desk: &Desk| {
        let report = desk.renmei(&["report", "event.db", "--json"]);
        serde_json::from_slice::<serde_json::Value>(&report.stdout).unwrap()["tuning"].clone()
    };
    assert_eq!(values(&there), values(&here), "numbers in JSON are exact");
}

#[test]
fn a_manager_killed_with_its_server_goes_on_with_the_same_line_and_its_workers() {
    if !is_server_here() {
        return;
    }
    let (desk, all) = (Desk::new(), 20);
    event(&desk, all, "");
    hold(&desk);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let own = ["--hub", &format!("127.0.0.1:{port}"), "--slots", "0"];
    let mut first = manages(&desk, &own);
    let line = line(&desk);
    let mut ann = joins(&desk, "ann", &line);
    until("pairs are away", || given_to(&desk, "ann") >= 2);
    first.kill();
    release(&desk);
    let mut second = manages(&desk, &own);
    assert_eq!(second.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(ann.code(), Some(0), "{}", log(&desk, "ann.log"));
    let lines = log(&desk, "manager.log").matches(line.as_str()).count();
    assert_eq!(lines, 2, "the line stays the same: {}", log(&desk, "manager.log"));
    as_alone(&desk, all, "");
}

#[test]
fn a_worker_with_the_line_of_another_event_is_refused_in_a_sentence() {
    if !is_server_here() {
        return;
    }
    let (desk, other) = (Desk::new(), Desk::new());
    event(&desk, 4, "");
    event(&other, 4, "");
    let (mut one, mut two) = (manages(&desk, &OWN), manages(&other, &OWN));
    let (here, (_, secret)) =
        (line(&desk), line(&other).split_once('#').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap());
    let (address, _) = here.split_once('#').unwrap();
    let mut ann = joins(&desk, "ann", &format!("{address}#{secret}"));
    assert_eq!(ann.code(), Some(1), "{}", log(&desk, "ann.log"));
    let said = log(&desk, "ann.log");
    assert!(said.contains("is not the one of this line: its certificate is another"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    for manager in [&mut one, &mut two] {
        manager.signal(nix::sys::signal::Signal::SIGTERM);
        assert_eq!(manager.code(), Some(3));
    }
}

/// An event whose engines lie in a directory of their own, with a file that an option names.
fn event_with_engines_of_its_own(desk: &Desk, games: usize) {
    let path = event(desk, games, "");
    let own = desk.path("own");
    std::fs::create_dir_all(own.join("eval")).unwrap();
    std::fs::copy(program("renmei-random"), own.join("engine")).unwrap();
    desk.write("own/eval/weights.bin", "heavy");
    let (old, new) =
        (desk.path("patient.sh").display().to_string(), own.join("engine").display().to_string());
    let text = std::fs::read_to_string(&path).unwrap();
    let text =
        text.replace(&old, &new).replace("[defaults]", "[defaults]\nidentity = { files = [\"eval\"] }");
    std::fs::write(path, text).unwrap();
}

/// Files in the cache of a worker.
fn cached(desk: &Desk, name: &str, file: &str) -> Vec<PathBuf> {
    let trees = std::fs::read_dir(desk.path(name).join("files")).into_iter().flatten().flatten();
    // What is being made has an extension.
    let whole = trees.map(|tree| tree.path()).filter(|tree| tree.extension().is_none());
    whole.map(|tree| tree.join(file)).filter(|path| path.is_file()).collect()
}

#[test]
fn an_engine_that_only_the_manager_has_is_fetched_and_plays_unless_it_was_altered() {
    if !is_server_here() || !testing::has("bubblewrap", testing::program("bwrap").is_some()) {
        return;
    }
    let (desk, all) = (Desk::new(), 24);
    event_with_engines_of_its_own(&desk, all);
    let mut manager = manages(&desk, &OWN);
    let line = line(&desk);
    const OTHER: &str = "#!/bin/sh\ntouch \"$(dirname \"$0\")/played\"\n";
    std::fs::create_dir(desk.path("other")).unwrap();
    desk.write("other/engine", OTHER);
    // The worker sees another directory in the place of the engine's.
    let join = || {
        let (own, other) = (desk.path("own").display().to_string(), desk.path("other").display().to_string());
        let log = File::options().create(true).append(true).open(desk.path("ann.log")).unwrap();
        let mut command = Command::new("bwrap");
        command.args(["--dev-bind", "/", "/", "--bind", &other, &own, "--die-with-parent"]);
        command.args([env!("CARGO_BIN_EXE_renmei"), "worker", &line, "--name", "ann", "--slots", "2"]);
        command.arg("--oversubscribe").arg("--state").arg(desk.path("ann")).current_dir(desk.dir.path());
        Running(command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap())
    };
    let mut ann = join();
    until("it was fetched", || !cached(&desk, "ann", "engine").is_empty());
    ann.kill();
    for file in ["engine", "eval/weights.bin"] {
        let path = cached(&desk, "ann", file).pop().expect("it was fetched");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        // An engine of the killed worker may live for a moment, and nobody writes into a program that runs.
        until("nobody runs it", || std::fs::write(&path, OTHER).is_ok());
    }
    let mut ann = join();
    assert_eq!(manager.code(), Some(0), "{}{}", log(&desk, "manager.log"), log(&desk, "ann.log"));
    assert_eq!(ann.code(), Some(0), "{}", log(&desk, "ann.log"));
    assert!(log(&desk, "ann.log").contains("is the manager's: `"), "{}", log(&desk, "ann.log"));
    assert_eq!(cached(&desk, "ann", "played"), Vec::<PathBuf>::new(), "what was altered played");
    assert!(!desk.path("other/played").exists(), "another program at the same place played");
    let weights = cached(&desk, "ann", "eval/weights.bin").pop().unwrap();
    assert_eq!(std::fs::read_to_string(weights).unwrap(), "heavy");
    assert_eq!(count(&desk, COUNTED), all);
    let alone = Desk::new();
    event_with_engines_of_its_own(&alone, all);
    let path = alone.path("event.toml").display().to_string();
    assert_eq!(start(&alone, "alone.log", &["run", &path, "--no-dashboard"]).code(), Some(0));
    assert_eq!(games(&desk), games(&alone));
}

#[test]
fn two_commands_play_an_event_between_two_machines_joined_by_a_cable() {
    if !is_server_here() {
        return;
    }
    let machines = match Namespaces::new() {
        Ok(machines) => machines,
        Err(why) => return eprintln!("not run: {why}"),
    };
    let (desk, all) = (Desk::new(), 12);
    event(&desk, all, "");
    let on = |machine: usize, name: &str, args: &[&str]| {
        let log = File::options().create(true).append(true).open(desk.path(name)).unwrap();
        let mut command = machines.command(machine, env!("CARGO_BIN_EXE_renmei"));
        command.current_dir(desk.dir.path()).args(args).stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log);
        Running(command.spawn().unwrap())
    };
    let mut manager = on(
        0,
        "manager.log",
        &["run", "event.toml", "--hub", "0.0.0.0:4222", "--slots", "0", "--no-dashboard"],
    );
    // Such a machine has no way out, so the line names it by what it knows.
    let (_, secret) = line(&desk).split_once('#').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let there = format!("nats+tls://{}:4222#{secret}", machines.address(0));
    let state = desk.path("box2").display().to_string();
    let mut worker =
        on(1, "box2.log", &["worker", &there, "--name", "box2", "--oversubscribe", "--state", &state]);
    until("it has pairs", || given_to(&desk, "box2") >= 2);
    machines.plug(false).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    machines.plug(true).unwrap();
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(worker.code(), Some(0), "{}", log(&desk, "box2.log"));
    as_alone(&desk, all, "");
}
