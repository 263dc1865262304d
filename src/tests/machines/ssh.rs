//! A real sshd on loopback, with keys of its own.

use super::*;
use std::{io::Write, net::TcpStream};
use testing::network::Proxy;

/// An sshd for one test.
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

    /// The command for `ssh` that reaches this host at a port, however busy this machine is.
    pub fn command_at(&self, port: u16) -> Vec<String> {
        let at = self.dir.path().display();
        let words = format!(
            "ssh -F none -p {port} -i {at}/user -o UserKnownHostsFile={at}/known -o GlobalKnownHostsFile=none -o \
             IdentitiesOnly=yes -o ConnectTimeout=120 -4"
        );
        words.split(' ').map(str::to_owned).collect()
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

fn kill(process: u32) {
    let process = nix::unistd::Pid::from_raw(i32::try_from(process).unwrap());
    let _gone = nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGKILL);
}

pub(super) fn user_at(host: &str) -> String {
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid()).unwrap().unwrap();
    format!("{}@{host}", user.name)
}

#[test]
fn a_worker_behind_a_port_that_ssh_forwards_joins_a_server_that_only_the_manager_reaches() {
    let (Some(sshd), true) = (Sshd::start(), is_server_here()) else { return };
    let (desk, all) = (Desk::new(), 12);
    event(&desk, all, "");
    let mut manager = manages(&desk, &OWN);
    let line = line(&desk);
    let port = line.split_once('#').unwrap().0.rsplit_once(':').unwrap().1;
    // The hosts of this test are one machine, so the port there is another one.
    let there = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let command = sshd.command_at(sshd.port);
    let worker = format!(
        "exec {} worker --join-file - --name box2 --slots 2 --oversubscribe --state {}",
        env!("CARGO_BIN_EXE_renmei"),
        desk.path("box2").display()
    );
    let mut ssh = Command::new(&command[0]);
    ssh.args(&command[1..]).args(["-R", &format!("127.0.0.1:{there}:127.0.0.1:{port}")]);
    ssh.args([&user_at("127.0.0.1"), &worker]).stdin(Stdio::piped());
    let log_file = File::create(desk.path("box2.log")).unwrap();
    let mut box2 = Running(ssh.stdout(log_file.try_clone().unwrap()).stderr(log_file).spawn().unwrap());
    let line = line.replacen(&format!(":{port}#"), &format!(":{there}#"), 1);
    writeln!(box2.0.stdin.take().unwrap(), "{line}").unwrap();
    assert_eq!(manager.code(), Some(0), "{}{}", log(&desk, "manager.log"), log(&desk, "box2.log"));
    assert_eq!(box2.code(), Some(0), "{}", log(&desk, "box2.log"));
    as_alone(&desk, all, "");
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
