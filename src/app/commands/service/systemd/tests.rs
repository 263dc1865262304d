//! Units as systemd and our own command line read them.

use super::*;
use crate::{cli::Cli, commands::Command};
use clap::Parser;
use std::fs;
use std::process;

fn unit(account: Account) -> Unit {
    Unit {
        service: Service::Serve,
        event: "100 % league".to_owned(),
        program: "/opt/renmei/renmei".to_owned(),
        file: "/srv/league/my league.toml".to_owned(),
        directory: "/srv/league".to_owned(),
        path: "/usr/bin:/bin".to_owned(),
        account,
        database: "/srv/league/my league.db".to_owned(),
        writes: vec!["/srv/league".to_owned(), "/srv/records of 100%".to_owned()],
        longest_game: Duration::from_secs(300 * 60),
    }
}

fn accounts() -> [Account; 4] {
    [Account::Caller, Account::Owner("shogi".to_owned()), Account::Dynamic, Account::Unnamed]
}

/// Sections, keys and values.
fn entries(text: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut entries = vec![];
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once('=') {
            Some((key, value)) => entries.push((section.clone(), key.to_owned(), value.to_owned())),
            None => section = line.trim_matches(['[', ']']).to_owned(),
        }
    }
    entries
}

fn value(text: &str, key: &str) -> Option<String> {
    entries(text).into_iter().find(|(_, known, _)| known == key).map(|(.., value)| value)
}

#[test]
fn paths_are_escaped_in_a_unit() {
    assert_eq!(argument("/a b/100%/$x/\"y\"\\"), r#""/a b/100%%/$$x/\"y\"\\""#);
    assert_eq!(quoted("PATH=/a:$b"), "\"PATH=/a:$b\"");
}

/// Every directive that a unit of ours may have, as systemd.unit, .service, .exec, .kill and .resource-control name them
/// (systemd 247, of Debian 11, or later).
const KNOWN: [(&str, &str); 3] = [
    ("Unit", "Description Wants After"),
    (
        "Service",
        "Type User DynamicUser StateDirectory StateDirectoryMode WorkingDirectory Environment ExecStart Restart RestartSec \
         RestartPreventExitStatus SuccessExitStatus ExecStop KillMode KillSignal TimeoutStopSec MemoryMax OOMPolicy TasksMax Delegate \
         LimitNOFILE LimitCORE UMask ProtectSystem ReadWritePaths ProtectHome PrivateTmp NoNewPrivileges \
         CapabilityBoundingSet AmbientCapabilities ProtectKernelModules ProtectKernelLogs ProtectKernelTunables \
         ProtectHostname RestrictSUIDSGID RestrictRealtime KeyringMode RestrictAddressFamilies SystemCallFilter \
         SystemCallErrorNumber",
    ),
    ("Install", "WantedBy"),
];

#[test]
fn every_directive_is_one_that_systemd_knows_in_its_section_and_stands_once() {
    for account in accounts() {
        let text = unit(account).text();
        let entries = entries(&text);
        for (at, (section, key, _)) in entries.iter().enumerate() {
            let known = KNOWN.iter().find(|(known, _)| known == section).map(|(_, keys)| *keys);
            assert!(known.is_some_and(|keys| keys.split(' ').any(|known| known == key)), "[{section}] {key}");
            assert!(entries[..at].iter().all(|(_, before, _)| before != key), "{key} stands twice");
        }
    }
}

/// Words of a command line as systemd splits them.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (vec![], String::new(), false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => word.extend(chars.next()),
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.into_iter().map(|word| word.replace("%%", "%").replace("$$", "$")).collect()
}

#[test]
fn the_command_line_of_every_unit_is_one_of_ours() {
    for service in [Service::Run, Service::Serve, Service::Floodgate] {
        for account in accounts() {
            let text = Unit { service, ..unit(account.clone()) }.text();
            let words = words(&value(&text, "ExecStart").unwrap());
            let cli = Cli::try_parse_from(&words).unwrap_or_else(|fault| panic!("{words:?}: {fault}"));
            let (file, db) = match &cli.command {
                Command::Run(args) => (args.file.clone(), args.playing.event.place.db.clone()),
                Command::Serve(args) => (args.file.clone(), args.event.place.db.clone()),
                Command::Floodgate(args) => (args.file.clone(), args.db.clone()),
                _ => panic!("{words:?}"),
            };
            assert_eq!(file, Path::new("/srv/league/my league.toml"));
            let own = (account == Account::Dynamic).then(|| "/var/lib/renmei-my_league/my league.db".into());
            assert_eq!(db, own, "a user that comes and goes has a database in a directory that stays");
        }
    }
}

#[test]
fn a_queue_is_a_service_of_its_user_and_of_nobody_else() {
    let place = tempfile::tempdir().unwrap();
    let queue = |user| ServiceWork { service: Service::Queue, file: place.path().to_owned(), user };
    let refused = |user| work(&queue(user)).unwrap_err().to_string();
    assert!(refused(true).contains("there is no queue in"), "{}", refused(true));
    fs::write(place.path().join("queue.db"), "").unwrap();
    assert!(refused(false).contains("add `--user`"), "{}", refused(false));
    let work = work(&queue(true)).unwrap();
    assert_eq!(Some(work.event.as_str()), place.path().file_name().unwrap().to_str());
    let unit = Unit { service: Service::Queue, file: "/home/a/my tests".to_owned(), ..unit(Account::Caller) };
    let words = words(&value(&unit.text(), "ExecStart").unwrap());
    let Command::Queue(args) = Cli::try_parse_from(&words).unwrap().command else { panic!("{words:?}") };
    assert_eq!((args.dir.as_path(), args.command.is_none()), (Path::new("/home/a/my tests"), true));
    assert_eq!(value(&unit.text(), "ProtectHome"), None, "builds need the home directory");
}

#[test]
fn a_hall_is_a_service_that_writes_where_its_events_do_and_waits_for_the_longest_game() {
    let place = tempfile::tempdir().unwrap();
    let event = |name: &str, log: &str, time: &str| {
        let text = format!(
            "[event]\nname = '{name}'\nlog = '{log}'\n[time]\nmain = '{time}'\n\
             [[engines]]\nname = 'a'\ncommand = 'sh'\n[[engines]]\nname = 'b'\ncommand = 'true'\n"
        );
        fs::write(place.path().join(format!("{name}.toml")), text).unwrap();
    };
    event("cup", "logs/cup", "10m");
    event("night", "logs/night", "40m");
    let hall = |user| ServiceWork { service: Service::Hall, file: place.path().to_owned(), user };
    let found = work(&hall(false)).unwrap();
    assert!(found.longest_game >= Duration::from_secs(80 * 60), "{:?}", found.longest_game);
    for written in ["", "logs/cup", "logs/night"] {
        assert!(found.writes.contains(&place.path().join(written)), "{written}: {:?}", found.writes);
    }
    let unit = Unit { service: Service::Hall, file: "/srv/my hall".to_owned(), ..unit(Account::Unnamed) };
    let words = words(&value(&unit.text(), "ExecStart").unwrap());
    let Command::Hall(args) = Cli::try_parse_from(&words).unwrap().command else { panic!("{words:?}") };
    assert_eq!(args.dir, Path::new("/srv/my hall"));
    fs::write(place.path().join("cup.toml"), "[event]\nnam = 'cup'").unwrap();
    assert!(work(&hall(false)).unwrap_err().to_string().contains("nam"));
}

#[test]
fn a_service_writes_only_where_its_configuration_does() {
    let text = unit(Account::Owner("shogi".to_owned())).text();
    assert_eq!(value(&text, "ProtectSystem").as_deref(), Some("strict"));
    assert_eq!(value(&text, "ReadWritePaths").as_deref(), Some(r#""-/srv/league" "-/srv/records of 100%%""#));
    assert_eq!(value(&text, "ProtectHome").as_deref(), Some("yes"));
    assert_eq!(
        (value(&text, "LimitCORE").as_deref(), value(&text, "UMask").as_deref()),
        (Some("0"), Some("0077"))
    );
    let dynamic = unit(Account::Dynamic).text();
    assert_eq!(value(&dynamic, "StateDirectory").as_deref(), Some("renmei-my_league"));
    assert_eq!((value(&dynamic, "ReadWritePaths"), value(&dynamic, "User")), (None, None));
    let home =
        Unit { program: "/home/a/.cargo/bin/renmei".to_owned(), ..unit(Account::Owner("a".to_owned())) }
            .text();
    assert_eq!(
        value(&home, "ProtectHome").as_deref(),
        Some("read-only"),
        "else its own program would be hidden"
    );
    let temporary = Unit { directory: "/tmp/league".to_owned(), ..unit(Account::Unnamed) }.text();
    assert_eq!(value(&temporary, "PrivateTmp"), None, "else its own directory would be hidden");
}

#[test]
fn a_stop_waits_for_the_longest_game_but_not_for_ever() {
    let stop = |minutes: u64| {
        let longest_game = Duration::from_secs(60 * minutes);
        value(&Unit { longest_game, ..unit(Account::Unnamed) }.text(), "TimeoutStopSec")
    };
    assert_eq!(stop(0).as_deref(), Some("15min"));
    assert_eq!(stop(53).as_deref(), Some("53min"));
    assert_eq!(stop(100_000).as_deref(), Some("120min"));
}

#[test]
fn systemd_itself_finds_no_fault_in_any_unit_where_it_is_installed() {
    if process::Command::new("systemd-analyze").arg("--version").output().is_err() {
        eprintln!("not checked: there is no systemd-analyze on this machine");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for (at, account) in accounts().into_iter().enumerate() {
        let user = account == Account::Caller;
        // Only the program must be there.
        let text =
            Unit { program: "/bin/true".to_owned(), directory: "/".to_owned(), ..unit(account) }.text();
        // Nobody of that name lives here.
        let text = text.replace("User=shogi\n", "");
        let file = directory.path().join(format!("renmei-test{at}.service"));
        fs::write(&file, text).unwrap();
        let mut verify = process::Command::new("systemd-analyze");
        let verify = verify.args(user.then_some("--user")).args(["verify", "--man=no"]).arg(&file);
        let output = verify.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let ours: Vec<_> = said.lines().filter(|line| line.contains("renmei-test")).collect();
        assert_eq!(ours, [""; 0], "{said}");
    }
}
