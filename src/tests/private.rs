//! Files of an event: whom they can be read by, and that no planted link redirects them.

use crate::support::{Desk, program};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::Command,
};

fn mode(desk: &Desk, name: &str) -> u32 {
    fs::metadata(desk.path(name)).unwrap_or_else(|error| panic!("{name}: {error}")).permissions().mode()
        & 0o777
}

/// Runs the program under the umask of most users.
fn renmei(desk: &Desk, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new("sh");
    command.args(["-c", "umask 022 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_renmei")]).args(args);
    let output = command.current_dir(desk.dir.path()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

fn a_match<'a>(engine: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["match", "--db", "event.db", "--oversubscribe", "--games", "2", "--time", "10s"];
    args.extend(["--max-moves", "20", "--engine", engine, "name=one", "--engine", engine, "name=two"]);
    args.extend(more);
    args
}

#[test]
fn what_an_event_writes_is_readable_by_its_user_alone_and_what_engines_write_is_theirs() {
    let desk = Desk::new();
    let random = program("renmei-random").display().to_string();
    let engine = desk.write("engine.sh", &format!("#!/bin/sh\n: > learned\nmkdir -p book\nexec {random}\n"));
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    let engine = format!("cmd={}", engine.display());
    let more = ["--log", "logs", "--events", "events.json", "--notify", "cat > told"];
    let (code, text) = renmei(&desk, &a_match(&engine, &more));
    assert_eq!(code, Some(0), "{text}");
    for (name, expected) in [
        ("event.db", 0o600),
        ("logs", 0o700),
        ("events.json", 0o600),
        ("learned", 0o644),
        ("book", 0o755),
        ("told", 0o644),
    ] {
        assert_eq!(format!("{name} {:o}", mode(&desk, name)), format!("{name} {expected:o}"));
    }
    for log in fs::read_dir(desk.path("logs")).unwrap() {
        assert_eq!(log.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    // What is made to be handed on is as the user's umask says.
    assert_eq!(renmei(&desk, &["report", "event.db", "--html", "page.html", "--plot", "elo.png"]).0, Some(0));
    assert_eq!(renmei(&desk, &["export", "event.db", "--output", "out/records/"]).0, Some(0));
    assert_eq!(renmei(&desk, &["export", "event.db", "--output", "games.csa"]).0, Some(0));
    assert_eq!(renmei(&desk, &["init", "league"]).0, Some(0));
    for name in ["page.html", "elo.png", "games.csa", "league.toml"] {
        assert_eq!(format!("{name} {:o}", mode(&desk, name)), format!("{name} 644"));
    }
    assert_eq!((mode(&desk, "out"), mode(&desk, "out/records")), (0o755, 0o755));
    for record in fs::read_dir(desk.path("out/records")).unwrap() {
        assert_eq!(record.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o644);
    }
}

#[test]
fn a_link_under_the_name_of_a_log_is_not_followed_and_the_games_go_on() {
    let desk = Desk::new();
    let victim = desk.write("victim", "precious");
    fs::create_dir(desk.path("logs")).unwrap();
    for color in ["black", "white"] {
        for player in ["one", "two"] {
            let name = format!("logs/match-000001-{color}-{player}.log");
            symlink(&victim, desk.path(&name)).unwrap();
        }
    }
    let engine = format!("cmd={}", program("renmei-random").display());
    let (code, text) = renmei(&desk, &a_match(&engine, &["--log", "logs"]));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("symbolic link, which is not followed"), "{text}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    symlink(&victim, desk.path("logs/.renmei-log")).unwrap();
    let (code, text) = renmei(&desk, &a_match(&engine, &["--log", "logs", "--fresh"]));
    assert_eq!(code, Some(2), "{text}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}

#[test]
fn a_link_beside_the_database_stops_the_program_with_its_name() {
    let desk = Desk::new();
    let victim = desk.write("victim", "precious");
    let engine = format!("cmd={}", program("renmei-random").display());
    for name in ["event.db-wal", "event.db-run1", "event.db"] {
        let target = if name == "event.db" { desk.path("nowhere") } else { victim.clone() };
        symlink(&target, desk.path(name)).unwrap();
        let (code, text) = renmei(&desk, &a_match(&engine, &[]));
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains(name) && text.contains("symbolic link, which is not followed"), "{text}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert!(!desk.path("nowhere").exists());
        fs::remove_file(desk.path(name)).unwrap();
        let _made_before_the_lock = fs::remove_file(desk.path("event.db"));
    }
}

#[test]
fn a_link_in_a_directory_of_records_is_replaced_and_not_followed() {
    let desk = Desk::new();
    let victim = desk.write("victim", "precious");
    let engine = format!("cmd={}", program("renmei-random").display());
    assert_eq!(renmei(&desk, &a_match(&engine, &[])).0, Some(0));
    fs::create_dir(desk.path("out")).unwrap();
    for names in ["one-two", "two-one"] {
        symlink(&victim, desk.path(&format!("out/000001-{names}.csa"))).unwrap();
    }
    let (code, text) = renmei(&desk, &["export", "event.db", "--output", "out/"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}
