//! Accounts on the command line.

use journal::Store;
use plan::password;
use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

fn account(args: &[&str], typed: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_renmei"))
        .arg("account")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _refused_unread = child.stdin.take().unwrap().write_all(typed.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn accounts_are_created_listed_and_removed_on_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("league.db");
    let db = db.to_str().unwrap();
    let text = |output: Output| String::from_utf8(output.stdout).unwrap();
    assert_eq!(text(account(&["add", "gps", "--db", db], "word\n")), "gps has an account now\n");
    assert_eq!(text(account(&["add", "gps", "--db", db], "other\n")), "gps has another password now\n");
    let store = Store::read(db).unwrap();
    let hash = store.account_hash("gps").unwrap().unwrap();
    assert!(password::fits("other", &hash) && !password::fits("word", &hash));
    assert!(text(account(&["list", "--db", db], "")).starts_with("gps  "));
    for (wrong, typed) in
        [("../gps", "word\n"), ("\u{1b}[2J", "word\n"), ("gps", "\n"), ("gps", "two words\n")]
    {
        let refused = account(&["add", wrong, "--db", db], typed);
        assert_eq!(refused.status.code(), Some(2), "{wrong:?} {typed:?}");
        assert!(!refused.stderr.contains(&0x1b));
    }
    assert_eq!(text(account(&["remove", "gps", "--db", db], "")), "gps no longer has an account\n");
    assert_eq!(account(&["remove", "gps", "--db", db], "").status.code(), Some(1));
    let line = text(account(&["invite", "gps"], "trip\n"));
    let hash = line.trim().trim_matches('"').strip_prefix("gps:").unwrap();
    assert!(password::fits("trip", hash));
}
