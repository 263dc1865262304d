//! Looks for lines that could be wrong without any test noticing: cargo-mutants in the rooms where a wrong line is a wrong
//! verdict, a wrong clock or a lost game.

use crate::{suite::has_subcommand, triples::triples};
use anyhow::{Context, Result, bail, ensure};
use std::{fs, path::Path, process::ExitCode};
use xtask::{
    args::Flags,
    workspace::{cargo, root, run as run_command, target},
};

/// The rooms, each with the least share of its mutants, in per cent, that its own tests have to catch.
const ROOMS: [(&str, usize); 8] = [
    ("referee", 95),
    ("contest", 95),
    ("rating", 95),
    ("seat", 90),
    ("arena", 90),
    ("host", 90),
    ("journal", 90),
    ("plan", 90),
];

/// The files of a room in which a wrong line is a wrong clock, where it has others; empty: all.
fn files(room: &str) -> &'static [&'static str] {
    match room {
        "plan" => &["src/base/plan/clocks.rs", "src/base/plan/time.rs", "src/base/plan/time_text.rs"],
        _ => &[],
    }
}

/// Mutants that do the same as the line they change. Each has three lines: where and what, the line, and the reason.
const EQUIVALENT: &str = include_str!("equivalent.txt");

/// Looks through the named room, or each of them: the whole of it, one of so many parts of it, or lines that a diff changes.
pub fn run(words: &[&str]) -> Result<ExitCode> {
    let (name, flags) = match words {
        [name, flags @ ..] if !name.starts_with("--") => (Some(*name), flags),
        flags => (None, flags),
    };
    let flags = Flags::read(flags, &[], &["--in-diff", "--shard"])?;
    let rooms = chosen(name)?;
    ensure!(
        has_subcommand("mutants"),
        "cargo-mutants is not installed: `cargo install cargo-mutants --locked`"
    );
    let mut is_enough = true;
    for (room, least) in rooms {
        is_enough &= look_through(room, least, &flags)?;
    }
    Ok(if is_enough { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Tries the mutants of a room; true if enough of them are caught, and none of those that nothing is said to catch.
fn look_through(room: &str, least: usize, flags: &Flags) -> Result<bool> {
    let output = target().join("mutants").join(room);
    let directory = output.to_str().context("the target directory is no text")?;
    fs::create_dir_all(&output)?;
    // Mutants hang as well; examples in comments are compiled one by one, and catch what tests do.
    let mut mutants = cargo(["mutants", "--package", room, "--output", directory, "--timeout", "120"]);
    files(room).iter().for_each(|file| _ = mutants.args(["--file", file]));
    for flag in ["--in-diff", "--shard"] {
        flags.text(flag).into_iter().for_each(|value| _ = mutants.args([flag, value]));
    }
    mutants.args(["--sharding", "round-robin", "--", "--lib"]);
    // It fails as soon as one mutant is missed; what counts here is their share.
    let status = run_command(&mut mutants)?;
    let found = output.join("mutants.out");
    let [caught, late, missed] = ["caught", "timeout", "missed"].map(|list| lines(&found, list));
    let (missed, same): (Vec<_>, Vec<_>) = missed.into_iter().partition(|mutant| !is_equivalent(mutant));
    let wrong: Vec<_> = caught.iter().filter(|mutant| is_equivalent(mutant)).collect();
    let caught = caught.len() + late.len();
    let all = caught + missed.len();
    ensure!(all + same.len() > 0 || status.success(), "cargo-mutants tried nothing in {room}");
    let share = percent(caught, all);
    println!(
        "{room}: {caught} of {all} caught, {share} % ({least} % wanted), {} do the same; {}",
        same.len(),
        found.display()
    );
    wrong.iter().for_each(|mutant| println!("listed in equivalent.txt, and caught: {mutant}"));
    Ok(share >= least && wrong.is_empty())
}

fn chosen(name: Option<&str>) -> Result<Vec<(&'static str, usize)>> {
    let rooms: Vec<_> = ROOMS.into_iter().filter(|(room, _)| name.is_none_or(|name| name == *room)).collect();
    if rooms.is_empty() {
        let known = ROOMS.map(|(room, _)| room).join(", ");
        bail!("no such room: `{}`; expected one of {known}", name.unwrap_or_default());
    }
    Ok(rooms)
}

/// The lines of one of the lists that cargo-mutants writes; none where there is no list.
fn lines(directory: &Path, list: &str) -> Vec<String> {
    let text = fs::read_to_string(directory.join(list).with_extension("txt")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// True if a mutant, as cargo-mutants names it (`FILE:LINE:COLUMN: CHANGE`), is listed as one that does the same.
fn is_equivalent(mutant: &str) -> bool {
    let mut parts = mutant.splitn(4, ':');
    let [Some(path), Some(number), _, Some(change)] =
        [parts.next(), parts.next(), parts.next(), parts.next()]
    else {
        return false;
    };
    let source = fs::read_to_string(root().join(path)).unwrap_or_default();
    let at = number.parse::<usize>().unwrap_or_default().saturating_sub(1);
    let line = source.lines().nth(at).unwrap_or_default().trim();
    let place = format!("{path}:{change}");
    triples(EQUIVALENT).iter().any(|[listed, of, _]| [*listed, *of] == [&*place, line])
}

/// A share in whole per cent, rounded down; of nothing, all of it.
fn percent(part: usize, all: usize) -> usize {
    (100 * part).checked_div(all).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_never_rounded_up_and_all_of_nothing_is_caught() {
        assert_eq!(
            [(95, 100), (949, 1000), (0, 7), (0, 0)].map(|(part, all)| percent(part, all)),
            [95, 94, 0, 100]
        );
    }

    #[test]
    fn an_unknown_room_is_answered_with_those_that_there_are() {
        assert_eq!(chosen(None).unwrap().len(), ROOMS.len());
        assert_eq!(chosen(Some("rating")).unwrap(), [("rating", 95)]);
        let fault = chosen(Some("kitchen")).unwrap_err().to_string();
        assert!(fault.starts_with("no such room: `kitchen`; expected one of referee, contest"), "{fault}");
    }

    #[test]
    fn every_room_is_a_package_of_the_workspace() {
        let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
        for (room, _) in ROOMS {
            assert!(manifest.contains(&format!("\n{room} = {{ path = \"src/")), "{room}");
            files(room).iter().for_each(|file| assert!(root().join(file).is_file(), "{file}"));
        }
    }

    #[test]
    fn every_line_of_a_mutant_that_does_the_same_is_there_and_the_reason_is_given() {
        for [place, line, _why] in triples(EQUIVALENT) {
            let (path, change) = place.split_once(": ").unwrap();
            let source = fs::read_to_string(root().join(path)).unwrap_or_default();
            let at = source.lines().position(|other| other.trim() == line);
            let at = at.unwrap_or_else(|| panic!("`{line}` is no line of {path} any more: take it out"));
            assert!(is_equivalent(&format!("{path}:{}:9: {change}", at + 1)), "{path}: {change}");
            assert!(!is_equivalent(&format!("{path}:{}:9: {change}", at + 2)), "another line of {path}");
        }
    }
}
