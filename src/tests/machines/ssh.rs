//! Machines over `ssh`: a real sshd on loopback, with keys of its own, that is cut, killed and slow.

use super::*;
use crate::support::processes;
use std::{fs::Permissions, net::TcpStream};
use testing::network::Proxy;

/// An sshd for one test; what workers leave on its machine is in `far`.
pub(super) struct Sshd {
    child: Running,
    pub port: u16,
    pub dir: TempDir,
}

impl Sshd {
    /// `None` where there is none.
    pub fn start() -> Option<Self> {
        let programs = ["sshd", "ssh", "ssh-keygen"].map(testing::program);
        if !testing::has("openssh-server", programs.iter().all(Option::is_some)) {
            return None;
        }
        let [sshd, _, keygen] = programs.map(Option::unwrap);
        // A system that never ran it lacks its directory, which only root makes, and only root needs.
        if nix::unistd::geteuid().is_root() {
            std::fs::create_dir_all("/run/sshd").unwrap();
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("far")).unwrap();
        for key in ["host", "user"] {
            let mut make = Command::new(&keygen);
            make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(dir.path().join(key));
            assert!(make.status().unwrap().success());
        }
        std::fs::copy(dir.path().join("user.pub"), dir.path().join("authorized")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = dir.path().display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nAuthorizedKeysFile {at}/authorized\nPidFile none\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n\
             MaxStartups 100\n"
        );
        std::fs::write(dir.path().join("sshd.conf"), config).unwrap();
        let child = serves(&sshd, &dir, port);
        let sshd = Self { child, port, dir };
        sshd.knows(port);
        Some(sshd)
    }

    /// Kills it with the processes of all its connections, as a machine does that is out of memory, and starts it again.
    pub fn dies_and_comes_back(&mut self) {
        let mut killed = vec![self.child.0.id()];
        while let Some(more) = Some(children(&killed)).filter(|more| !more.is_empty()) {
            killed.extend(more);
        }
        self.child.kill();
        killed.into_iter().skip(1).for_each(kill);
        self.child = serves(&testing::program("sshd").unwrap(), &self.dir, self.port);
    }

    /// Makes the host known at this port.
    pub fn knows(&self, port: u16) {
        let key = std::fs::read_to_string(self.dir.path().join("host.pub")).unwrap();
        let known = format!("[127.0.0.1]:{port},[localhost]:{port} {key}");
        std::fs::write(self.dir.path().join("known"), known).unwrap();
    }

    /// `[machines]` of an event.
    fn machines(&self, more: &str) -> String {
        self.machines_at(self.port, more)
    }

    fn machines_at(&self, port: u16, more: &str) -> String {
        let (at, command) = (self.dir.path().display(), self.command_at(port));
        format!(
            "\n[machines]\nssh_command = {command:?}\nssh_directory = \"{at}/far\"\nssh_slots = 2\n{more}\n"
        )
    }

    /// The command for `ssh` that reaches this host at a port, however busy this machine is.
    pub fn command_at(&self, port: u16) -> Vec<String> {
        let at = self.dir.path().display();
        let words = format!(
            "ssh -F none -p {port} -i {at}/user -o UserKnownHostsFile={at}/known -o GlobalKnownHostsFile=none -o \
             IdentitiesOnly=yes -o ConnectTimeout=120 -4"
        );
        words.split(' ').map(str::to_owned).collect()
    }

    /// What is on the far side.
    fn far(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.dir.path().join("far")).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Processes of workers on the far side, with their engines' numbers left out.
    fn workers(&self) -> Vec<u32> {
        let mark = format!("worker --stdio --state {}", self.dir.path().join("far").display());
        numbers(&mark, |line| !line.contains("umask"))
    }

    /// Processes of `ssh` here.
    fn clients(&self) -> Vec<u32> {
        let mark = format!("{}/user", self.dir.path().display());
        numbers(&mark, |line| line.contains("ssh -F"))
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("sshd.log")).unwrap_or_default()
    }
}

/// Starts it and waits until it listens.
fn serves(sshd: &std::path::Path, dir: &TempDir, port: u16) -> Running {
    let log = File::options().create(true).append(true).open(dir.path().join("sshd.log")).unwrap();
    let mut command = Command::new(sshd);
    command.args(["-D", "-e", "-f"]).arg(dir.path().join("sshd.conf")).stderr(log);
    let child = Running(command.stdin(Stdio::null()).spawn().unwrap());
    until("sshd listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    child
}

/// Processes of connections whose parent is one of these.
fn children(of: &[u32]) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let stat = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("stat")).ok();
    let known = |text: String| {
        let (head, rest) = text.rsplit_once(')')?;
        let (pid, name) = head.split_once(" (")?;
        let (pid, parent) = (pid.parse().ok()?, rest.split(' ').nth(2)?.parse().ok()?);
        (name.starts_with("sshd") && of.contains(&parent) && !of.contains(&pid)).then_some(pid)
    };
    entries.filter_map(stat).filter_map(known).collect()
}

fn numbers(mark: &str, is_meant: impl Fn(&str) -> bool) -> Vec<u32> {
    let found = processes(mark);
    let meant = found.iter().filter(|line| is_meant(line));
    meant.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect()
}

fn kill(process: u32) {
    let process = nix::unistd::Pid::from_raw(i32::try_from(process).unwrap());
    let _gone = nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGKILL);
}

pub(super) fn user_at(host: &str) -> String {
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid()).unwrap().unwrap();
    format!("{}@{host}", user.name)
}

/// An event whose machines are those of a table `[machines]`.
fn event_over(desk: &Desk, games: usize, machines: &str) {
    let file = event(desk, games, "");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text + machines).unwrap();
}

/// Nothing is left on the far side, neither files nor processes.
fn nothing_left(sshd: &Sshd, desk: &Desk) {
    until("the far side is as it was", || sshd.far().is_empty());
    none_left(&sshd.dir.path().join("far").display().to_string());
    none_left(&desk.dir.path().display().to_string());
}

#[test]
fn an_event_over_ssh_is_the_one_that_is_played_here_and_leaves_nothing_behind() {
    let Some(sshd) = Sshd::start() else { return };
    let (desk, all) = (Desk::new(), 24);
    event_over(&desk, all, &sshd.machines(""));
    hold(&desk);
    let hosts = format!("{},{}", user_at("127.0.0.1"), user_at("localhost"));
    let mut manager = manages(&desk, &["--ssh", &hosts, "--slots", "0"]);
    until("both machines have pairs", || {
        given_to(&desk, "127.0.0.1") >= 2 && given_to(&desk, "localhost") >= 2
    });
    assert_eq!(sshd.far().len(), 2, "a directory each");
    release(&desk);
    assert_eq!(manager.code(), Some(0), "{}\n{}", log(&desk, "manager.log"), sshd.log());
    as_alone(&desk, all, "");
    let said = log(&desk, "manager.log");
    assert!(said.contains("machine `127.0.0.1`: sending renmei, "), "{said}");
    assert!(!said.contains("other machines join with"), "there is no server: {said}");
    nothing_left(&sshd, &desk);
}

#[test]
fn connections_that_are_cut_and_workers_and_an_sshd_that_are_killed_cost_no_game_and_double_none() {
    let Some(mut sshd) = Sshd::start() else { return };
    let (desk, all) = (Desk::new(), 24);
    let hosts = format!("ssh = [{:?}]", user_at("127.0.0.1"));
    event_over(&desk, all, &sshd.machines(&hosts));
    hold(&desk);
    let mut manager = manages(&desk, &["--slots", "0"]);
    let own = "127.0.0.1";
    for blow in 0..4 {
        let before = given_to(&desk, own);
        until("it has pairs", || given_to(&desk, own) >= before.max(2) && !sshd.workers().is_empty());
        let engines = || processes(&desk.path("patient.sh").display().to_string());
        until("its engines run", || !engines().is_empty());
        // One game may end, so that an answer is on its way.
        release(&desk);
        std::thread::sleep(Duration::from_millis(50 * blow));
        hold(&desk);
        let counted = count(&desk, COUNTED);
        let killed = if blow == 0 { sshd.clients() } else { sshd.workers() };
        assert!(!killed.is_empty(), "{}", log(&desk, "manager.log"));
        match blow {
            2 => sshd.dies_and_comes_back(),
            _ => killed.iter().copied().for_each(kill),
        }
        until("the worker of that connection is another one, or none", || {
            blow == 0 || sshd.workers().iter().all(|worker| !killed.contains(worker))
        });
        until("it has pairs again", || given_to(&desk, own) > before || count(&desk, COUNTED) > counted);
    }
    release(&desk);
    assert_eq!(manager.code(), Some(0), "{}\n{}", log(&desk, "manager.log"), sshd.log());
    as_alone(&desk, all, "");
    nothing_left(&sshd, &desk);
}

#[test]
fn a_far_worker_ends_its_engines_with_its_connection_and_goes_after_a_while() {
    let Some(sshd) = Sshd::start() else { return };
    let desk = Desk::new();
    let hosts = format!("ssh = [{:?}]\nssh_keep = \"1s\"", user_at("127.0.0.1"));
    event_over(&desk, 8, &sshd.machines(&hosts));
    hold(&desk);
    let mut manager = manages(&desk, &["--slots", "0"]);
    until("it has pairs", || given_to(&desk, "127.0.0.1") >= 2);
    let engine = desk.path("patient.sh").display().to_string();
    until("its engines run", || !processes(&engine).is_empty());
    // Nobody says goodbye.
    manager.kill();
    none_left(&engine);
    nothing_left(&sshd, &desk);
    let mut again = manages(&desk, &["--slots", "0"]);
    until("it has pairs again", || given_to(&desk, "127.0.0.1") >= 4);
    again.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(again.code(), Some(3), "{}", log(&desk, "manager.log"));
    nothing_left(&sshd, &desk);
    release(&desk);
    let mut last = manages(&desk, &["--slots", "0"]);
    assert_eq!(last.code(), Some(0), "{}", log(&desk, "manager.log"));
    as_alone(&desk, 8, "");
    nothing_left(&sshd, &desk);
}

#[test]
fn a_line_that_is_slow_and_stalls_changes_no_game() {
    let Some(sshd) = Sshd::start() else { return };
    let slow = line_to(sshd.port);
    slow.delay(Duration::from_millis(100));
    sshd.knows(slow.address().port());
    let (desk, all) = (Desk::new(), 8);
    let hosts = format!("ssh = [{:?}]", user_at("127.0.0.1"));
    event_over(&desk, all, &sshd.machines_at(slow.address().port(), &hosts));
    hold(&desk);
    let mut manager = manages(&desk, &["--slots", "0"]);
    until("it has pairs", || given_to(&desk, "127.0.0.1") >= 2);
    slow.stall();
    release(&desk);
    std::thread::sleep(Duration::from_secs(8));
    slow.resume();
    assert_eq!(manager.code(), Some(0), "{}\n{}", log(&desk, "manager.log"), sshd.log());
    as_alone(&desk, all, "");
    nothing_left(&sshd, &desk);
}

#[test]
fn a_host_that_nobody_knows_is_not_asked_about_and_the_event_goes_on_without_it() {
    let Some(sshd) = Sshd::start() else { return };
    sshd.knows(1);
    let (desk, all) = (Desk::new(), 8);
    event_over(&desk, all, &sshd.machines(""));
    hold(&desk);
    let mut manager = manages(&desk, &["--ssh", &user_at("127.0.0.1"), "--slots", "2"]);
    until("it is refused", || log(&desk, "manager.log").contains("Host key verification failed"));
    release(&desk);
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    as_alone(&desk, all, "");
    let said = log(&desk, "manager.log");
    assert_eq!(said.matches("Host key verification failed").count(), 1, "{said}");
    let wrong = desk.renmei(&["run", "event.toml", "--ssh", "-oProxyCommand=touch${IFS}pwned"]);
    let why = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.status.code() == Some(2) && !desk.path("pwned").exists(), "{why}");
}

#[test]
fn engines_that_the_far_side_does_not_have_are_fetched_over_the_same_connection() {
    if !testing::has("bubblewrap", testing::program("bwrap").is_some()) {
        return;
    }
    let (desk, all, far) = (Desk::new(), 8, tempfile::tempdir().unwrap());
    // The far side sees nothing of this directory; its home is another one.
    let machines = format!(
        "\n[machines]\nssh = [\"box2\"]\nssh_command = [\"bwrap\", \"--dev-bind\", \"/\", \"/\", \"--tmpfs\", {:?}, \
         \"--die-with-parent\", \"sh\", \"-c\", 'eval \"$2\"', \"ssh\"]\nssh_directory = {:?}\n",
        desk.dir.path(),
        far.path()
    );
    let file = event(&desk, all, "");
    let engine = desk.path("engine");
    std::fs::copy(program("renmei-random"), &engine).unwrap();
    std::fs::set_permissions(&engine, Permissions::from_mode(0o755)).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace(&*desk.path("patient.sh").to_string_lossy(), &engine.to_string_lossy());
    std::fs::write(&file, text + &machines).unwrap();
    let mut manager = manages(&desk, &["--slots", "0"]);
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    as_alone(&desk, all, "");
    let said = log(&desk, "manager.log");
    assert!(said.contains("machine `box2`: engine `a` is the manager's: "), "{said}");
    until("the far side is as it was", || std::fs::read_dir(far.path()).unwrap().next().is_none());
}

/// A line to a port of this machine, whose thread lives as long as the test.
pub(super) fn line_to(port: u16) -> Proxy {
    let (made, line) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            made.send(Proxy::to(([127, 0, 0, 1], port).into()).await.unwrap()).unwrap();
            std::future::pending::<()>().await;
        });
    });
    line.recv().unwrap()
}
