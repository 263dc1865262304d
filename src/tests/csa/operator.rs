//! The real binary, as its operator sees it: what it logs, and what it needs of the system.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
    time::Duration,
};
use tempfile::TempDir;

struct Serving {
    child: Child,
    log: BufReader<ChildStderr>,
    address: String,
    _dir: TempDir,
}

impl Serving {
    /// Starts `renmei serve` under a shell command that ends in `exec "$@"`.
    fn start(shell: &str, limits: &str, prepare: impl FnOnce(&Path)) -> (Self, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("serve.toml");
        std::fs::write(&config, format!("[serve]\ndatabase = \"cup.db\"\n{limits}")).unwrap();
        prepare(&dir.path().join("cup.db"));
        let mut child = Command::new("sh")
            .args(["-c", shell, "sh", env!("CARGO_BIN_EXE_renmei"), "serve"])
            .args([&config, &PathBuf::from("--listen"), &PathBuf::from("127.0.0.1:0")])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut before = vec![];
        let address = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).unwrap() > 0, "the host does not listen: {before:?}");
            match line.trim().strip_prefix("listening on ") {
                Some(address) => break address.to_owned(),
                None => before.push(line.trim().to_owned()),
            }
        };
        (Self { child, log, address, _dir: dir }, before)
    }

    fn connect(&self) -> BufReader<TcpStream> {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(testing::PATIENCE)).unwrap();
        BufReader::new(stream)
    }

    fn logged(&mut self) -> String {
        let mut line = String::new();
        self.log.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _over_already = self.child.kill();
        let _over = self.child.wait();
    }
}

#[test]
fn wrong_passwords_and_lock_outs_are_logged_in_lines_that_fail2ban_reads() {
    let account = |path: &Path| {
        let mut add = Command::new(env!("CARGO_BIN_EXE_renmei"))
            .args(["account", "add", "kuma", "--db", path.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        add.stdin.take().unwrap().write_all(b"honey\n").unwrap();
        assert!(crate::support::ended(&mut add).success());
    };
    let limits = "login = \"accounts\"\n[serve.limits]\nlogin_failures = 2\nlockout_seconds = 100\n";
    let (mut host, _) = Serving::start("exec \"$@\"", limits, account);
    for _ in 0..2 {
        let mut guesser = host.connect();
        guesser.get_mut().write_all(b"LOGIN kuma wax\n").unwrap();
        let mut line = String::new();
        guesser.read_line(&mut line).unwrap();
        assert_eq!(line, "LOGIN:incorrect\n");
    }
    let lines = [host.logged(), host.logged(), host.logged()];
    for line in &lines[..2] {
        assert!(line.ends_with("WARN login: wrong password from 127.0.0.1 for \"kuma\""), "{lines:?}");
    }
    assert!(lines[2].ends_with("WARN login: locked out 127.0.0.1 for 100 s"), "{lines:?}");
    let filter = fail2ban();
    for line in &lines {
        // As fail2ban sees it: in a file, without the date that it has cut out, and in the journal.
        let (_date, rest) = line.split_once(' ').unwrap();
        for seen in [line.clone(), rest.to_owned(), format!("kuroshio renmei[812]: {line}")] {
            let found = filter.iter().find_map(|failregex| failregex.captures(&seen));
            let host = found.unwrap_or_else(|| panic!("no match: {seen}"))["host"].to_owned();
            assert_eq!(host, "127.0.0.1");
        }
    }
}

/// The filter of the hosting guide, with the addresses that fail2ban puts in place of `<HOST>`.
fn fail2ban() -> Vec<regex::Regex> {
    let guide = include_str!("../../guide/hosting.md");
    let (_, filter) = guide.split_once("failregex = ").unwrap();
    let (filter, _) = filter.split_once("journalmatch").unwrap();
    let host = r"(?:::f{4,6}:)?(?P<host>[\w\-.^_:]*\w)";
    let read = |line: &str| regex::Regex::new(&line.trim().replace("<HOST>", host)).unwrap();
    let filter: Vec<_> = filter.trim().lines().map(read).collect();
    assert_eq!(filter.len(), 2);
    filter
}

#[test]
fn a_refused_login_is_logged_with_its_address_and_no_name_passes_for_another() {
    let (mut host, _) = Serving::start("exec \"$@\"", "", |_| ());
    let log_in = |login: &str| {
        let mut player = host.connect();
        player.get_mut().write_all(login.as_bytes()).unwrap();
        let mut line = String::new();
        player.read_line(&mut line).unwrap();
        (player, line)
    };
    let _kuma = log_in("LOGIN kuma t-600-10,honey\n");
    assert_eq!(log_in("LOGIN kuma other x1\n").1, "LOGIN:incorrect\n");
    let name = "x\u{1b}[2J:password_from_192.0.2.9_for";
    assert_eq!(log_in(&format!("LOGIN {name} t-600-10,x\n")).1, "LOGIN:incorrect\n");
    assert_eq!(host.logged(), "kuma logged in from 127.0.0.1");
    let lines = [host.logged(), host.logged()];
    assert!(lines[0].ends_with("WARN login: wrong password from 127.0.0.1 for \"kuma\""), "{lines:?}");
    assert!(lines[1].contains("WARN login: refused 127.0.0.1 as \"x"), "{lines:?}");
    assert!(lines[1].chars().all(|c| !c.is_control()), "{lines:?}");
    let [guess, other] = lines.map(|line| fail2ban().iter().any(|failregex| failregex.is_match(&line)));
    assert_eq!((guess, other), (true, false));
}

#[test]
fn a_host_with_few_descriptors_says_so_and_keeps_enough_for_its_records() {
    let limits = "records = \"records\"\n[serve.limits]\nconnections = 4096\n";
    let (host, said) = Serving::start("ulimit -n 340; exec \"$@\"", limits, |_| ());
    let rest = "340 open files are allowed, so there is room for 160 connections and not for the 4096 of";
    assert!(said[0].starts_with(rest), "{said:?}");
    // Far more than there is room for, from many addresses; then a game is played to its end and recorded.
    let strangers: Vec<socket2::Socket> = (0..400)
        .map(|n| {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
            let from = std::net::SocketAddr::from(([127, 0, 1, (n % 250 + 1) as u8], 0));
            socket.bind(&from.into()).unwrap();
            socket.connect(&host.address.parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
            socket
        })
        .collect();
    drop(strangers);
    let mut players = [("a", "B"), ("b", "W")].map(|(name, color)| {
        // The places of the strangers become free a moment after they have gone.
        loop {
            let mut player = host.connect();
            let _refused = writeln!(player.get_mut(), "LOGIN {name} t-600-10-{color},t");
            let mut line = String::new();
            if player.read_line(&mut line).is_ok_and(|read| read > 0) && line == format!("LOGIN:{name} OK\n")
            {
                break player;
            }
        }
    });
    for player in &mut players {
        let mut line = String::new();
        while line != "END Game_Summary\n" {
            line.clear();
            assert!(player.read_line(&mut line).unwrap() > 0);
        }
        player.get_mut().write_all(b"AGREE\n").unwrap();
    }
    let mut line = String::new();
    while !line.starts_with("START:") {
        line.clear();
        assert!(players[0].read_line(&mut line).unwrap() > 0);
    }
    players[0].get_mut().write_all(b"%TORYO\n").unwrap();
    let mut all = String::new();
    players[0].read_to_string(&mut all).unwrap();
    assert!(all.ends_with("#RESIGN\n#LOSE\n"), "{all}");
    let records = host._dir.path().join("records");
    let patience = std::time::Instant::now() + testing::PATIENCE;
    while !files(&records).iter().any(|file| file.extension().is_some_and(|end| end == "csa")) {
        assert!(std::time::Instant::now() < patience, "no record was written");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// All files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { vec![entry.path()] })
        .collect()
}

#[test]
fn a_host_that_shows_md5_of_secrets_or_knows_no_player_of_a_key_says_so() {
    let limits = "compat = \"shogi-server\"\n[[serve.time]]\nplayer = \"kuma+0bbdf4a0\"\ntotal = 60\n";
    let (_host, said) = Serving::start("exec \"$@\"", limits, |_| ());
    let [md5, time] = &said[..] else { panic!("{said:?}") };
    assert!(md5.starts_with("`compat = \"shogi-server\"` shows the MD5 of secrets"), "{said:?}");
    let unknown = "`player` in `[[serve.time]]` is `kuma+0bbdf4a0`, and no player has this trip so far";
    assert!(time.starts_with(unknown), "{said:?}");
    let (_host, said) = Serving::start("exec \"$@\"", "", |_| ());
    assert!(said.is_empty(), "{said:?}");
}
