//! `renmei check`, as it is read by a person.

use crate::support::{Desk, program};

/// Stdout and stderr of a check of a puppet.
fn checked(flags: &[&str], mode: &str) -> (String, String) {
    let puppet = program("renmei-puppet").display().to_string();
    let output = Desk::new().renmei(&[&["check"], flags, &[&puppet, "--mode", mode]].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The advice below the row of a check.
fn advice<'a>(table: &'a str, check: &str) -> &'a str {
    let row = table.lines().skip_while(|line| !line.get(7..).is_some_and(|line| line.starts_with(check)));
    row.skip(1)
        .find_map(|line| line.trim_start().strip_prefix("-> "))
        .unwrap_or_else(|| panic!("{check}: {table}"))
}

#[test]
fn each_row_is_printed_once_and_a_lone_fault_is_singular() {
    let (stdout, stderr) = checked(&[], "crashready");
    let both = stdout.clone() + &stderr;
    for row in ["pass   usi", "FAULT  isready", "-> "] {
        assert_eq!(both.matches(row).count(), 1, "{row}: {both}");
    }
    assert!(stdout.contains("0 warnings, 1 fault in"), "{stdout}");
    let (json, progress) = checked(&["--json"], "crashready");
    assert!(
        serde_json::from_str::<serde_json::Value>(&json).is_ok() && progress.contains("FAULT  isready"),
        "{progress}"
    );
}

#[test]
fn an_engine_that_ends_is_not_told_to_wait_longer_and_one_that_is_silent_is() {
    let (ended, _) = checked(&[], "crashready");
    assert!(advice(&ended, "isready").contains("the engine exited while loading"), "{ended}");
    assert!(
        advice(&ended, "isready").contains("its working directory is `") && !ended.contains("--ready"),
        "{ended}"
    );
    let (silent, _) = checked(&["--ready", "1s"], "noready");
    assert!(advice(&silent, "isready").contains("raise `--ready`"), "{silent}");
}

#[test]
fn an_engine_that_fails_at_every_question_is_not_told_that_a_form_of_go_is_to_blame() {
    for (mode, reason) in
        [("exit", "every such exit loses a game"), ("nullmove", "every such answer loses a game")]
    {
        let (table, _) = checked(&[], mode);
        assert!(advice(&table, "go byoyomi").contains(reason), "{table}");
        assert!(!table.contains("zero_time"), "{table}");
        assert_eq!(table.matches("go byoyomi   ").count(), 1, "one fault, told once: {table}");
    }
}

#[test]
fn an_end_by_accident_is_not_taken_for_a_form_of_go_that_the_engine_does_not_know() {
    let (table, _) = checked(&[], "dieafter");
    assert!(
        !table.contains("the engine does not support node limits") && !table.contains("go = "),
        "{table}"
    );
    assert!(advice(&table, "lapses").contains("loses a game"), "{table}");
    assert!(!table.contains("the engine misses a `go`"), "{table}");
}

#[test]
fn an_engine_is_examined_in_a_strict_sandbox_or_not_at_all() {
    let puppet = program("renmei-puppet").display().to_string();
    let mut check = std::process::Command::new(env!("CARGO_BIN_EXE_renmei"));
    let refused = check.env("PATH", "/nowhere").args(["check", "--sandbox", &puppet]).output().unwrap();
    let said = String::from_utf8_lossy(&[&refused.stdout[..], &refused.stderr[..]].concat()).into_owned();
    assert!(!refused.status.success() && said.contains("needs `bwrap`"), "{said}");
    if !testing::has("bubblewrap", seat::sandbox::available().is_ok()) {
        return;
    }
    let (stdout, stderr) = checked(&["--sandbox"], "honest");
    assert!(stdout.contains("pass   isready") && !stdout.contains("FAULT"), "{stdout}{stderr}");
}

#[test]
fn a_machine_is_examined_and_a_directory_that_cannot_be_written_is_a_fault() {
    let desk = Desk::new();
    let here = desk.path("").display().to_string();
    let fine = desk.renmei(&["doctor", &here, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&fine.stdout).unwrap();
    let row =
        |check: &str| report["rows"].as_array().unwrap().iter().find(|row| row["check"] == check).cloned();
    assert_eq!((fine.status.code(), &report["passed"]), (Some(0), &true.into()), "{report}");
    assert_eq!(row("renmei-random").unwrap()["seen"], "found");
    assert_eq!(row("writing").unwrap()["verdict"], "pass");
    let missing = desk.path("missing").display().to_string();
    let refused = desk.renmei(&["doctor", &missing]);
    let text = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert_eq!(refused.status.code(), Some(20), "{text}");
    assert!(text.contains("FAULT  writing"), "{text}");
}
