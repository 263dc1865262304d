//! The soak of days in a short form: the real host, killed and restarted.
#![allow(clippy::unwrap_used, missing_docs)]

use std::{path::Path, process::Command};

#[test]
fn no_result_that_a_client_was_told_is_lost_when_a_league_is_killed() {
    let measure = Path::new(env!("CARGO_BIN_EXE_measure"));
    let renmei = measure.with_file_name("renmei");
    if !renmei.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "renmei", "--bin", "renmei"]);
        if measure.components().any(|part| part.as_os_str() == "release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success(), "the manager does not build");
    }
    let mut soak = Command::new(measure);
    soak.args(["soak", "--days", "--games", "300", "--clients", "16", "--restarts", "2", "--program"]);
    let output = soak.arg(renmei).output().unwrap();
    let (said, why) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{why}");
    assert!(said.contains("each is in the database once with its result"), "{said}");
}
