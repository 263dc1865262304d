//! The directory that an engine runs in: its own, as in the programs with a window, unless somebody names another.

use crate::support::{Desk, program};
use std::{fs, os::unix::fs::PermissionsExt};

/// An engine as it is unpacked: a script in a directory of its own that plays only if it finds its evaluation there,
/// and notes where it ran.
fn unpacked(desk: &Desk) {
    fs::create_dir_all(desk.path("engines/new/eval")).unwrap();
    fs::write(desk.path("engines/new/eval/nn.bin"), "weights").unwrap();
    let note = desk.path("ran-in").display().to_string();
    let random = program("renmei-random").display().to_string();
    script(
        desk,
        "engines/new/engine.sh",
        &format!(
            "pwd >> {note}\ntest -f eval/nn.bin || {{ echo 'no eval/nn.bin' >&2; exit 3; }}\nexec {random}"
        ),
    );
}

fn script(desk: &Desk, name: &str, lines: &str) {
    let path = desk.write(name, &format!("#!/bin/sh\n{lines}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The directories that the engine ran in, without repetitions.
fn ran_in(desk: &Desk) -> Vec<String> {
    let text = fs::read_to_string(desk.path("ran-in")).unwrap();
    let root = fs::canonicalize(desk.dir.path()).unwrap().display().to_string();
    let mut places: Vec<_> = text.lines().map(|line| line.replace(&root, "DESK")).collect();
    places.sort();
    places.dedup();
    places
}

const SHORT: [&str; 6] = ["--games", "2", "--max-moves", "12", "--time", "60s"];

#[test]
fn an_engine_that_is_named_by_its_path_runs_in_its_own_directory_and_finds_its_evaluation() {
    let desk = Desk::new();
    unpacked(&desk);
    let engines: [&[&str]; 2] =
        [&["cmd=./engines/new/engine.sh", "name=new"], &["cmd=renmei-random", "name=old"]];
    let played = desk.play(&engines, &SHORT);
    assert_eq!(played.code(), Some(0), "{}", played.text());
    assert_eq!(ran_in(&desk), ["DESK/engines/new"]);
    assert_eq!(played.json()["endings"].get("disconnection"), None, "{}", played.text());
}

#[test]
fn a_dot_as_directory_is_the_directory_that_renmei_was_started_in() {
    let desk = Desk::new();
    unpacked(&desk);
    let engines: [&[&str]; 2] =
        [&["cmd=./engines/new/engine.sh", "name=new", "dir=."], &["cmd=renmei-random", "name=old"]];
    let played = desk.play(&engines, &SHORT);
    assert_eq!(played.code(), Some(2), "its evaluation is not there: {}", played.text());
    assert_eq!(ran_in(&desk), ["DESK"]);
}

#[test]
fn a_file_of_a_configuration_elsewhere_finds_the_engines_beside_it() {
    let desk = Desk::new();
    unpacked(&desk);
    desk.write(
        "engines/event.toml",
        "time = '60s'\n[event]\ngames = 2\n[rules]\nmax_moves = 12\n[[engines]]\nname = 'new'\n\
         command = './new/engine.sh'\n[[engines]]\nname = 'old'\ncommand = 'renmei-random'\n",
    );
    let output = desk.renmei(&["run", "engines/event.toml", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(ran_in(&desk), ["DESK/engines/new"]);
}

#[test]
fn a_value_that_names_a_file_only_where_renmei_runs_is_told_with_both_places() {
    let desk = Desk::new();
    unpacked(&desk);
    desk.write("my.book", "");
    desk.write("7", "");
    desk.write("engines/new/own.book", "");
    let engines: [&[&str]; 2] = [
        &["cmd=./engines/new/engine.sh", "name=new", "args=my.book own.book absent.book"],
        &["cmd=renmei-puppet", "name=old", "args=--seed 7"],
    ];
    let told = desk.play(&engines, &SHORT).text();
    let root = desk.dir.path().display().to_string();
    let told = told.replace(&root, "DESK");
    let line = "`new` runs in `DESK/engines/new`, where there is no `my.book` (an argument); there is \
                `DESK/my.book`: write the whole path, or set `directory`";
    assert!(told.contains(line), "{told}");
    assert_eq!(told.matches("an argument").count(), 1, "{told}");
}

#[test]
fn a_check_runs_the_engine_in_its_own_directory_or_in_the_one_named() {
    let desk = Desk::new();
    unpacked(&desk);
    let check = |args: &[&str]| {
        let output = desk.renmei(&[&["check", "--json"], args].concat());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    script(&desk, "engines/new/short.sh", &format!("pwd >> {}\nexit 3", desk.path("ran-in").display()));
    check(&["engines/new/short.sh"]);
    assert_eq!(ran_in(&desk), ["DESK/engines/new"]);
    fs::remove_file(desk.path("ran-in")).unwrap();
    let told = check(&["--dir", "engines", "engines/new/short.sh"]);
    assert_eq!(ran_in(&desk), ["DESK/engines"]);
    assert!(told.contains("directory = "), "the table of the configuration has it: {told}");
}
