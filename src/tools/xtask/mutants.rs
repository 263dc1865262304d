//! Looks for lines that could be wrong without any test noticing: cargo-mutants in the rooms where a wrong line is a wrong
//! verdict, a wrong clock or a lost game.

use crate::suite::has_subcommand;
use anyhow::{Context, Result, bail, ensure};
use std::{fs, path::Path, process::ExitCode};
use xtask::{
    args::Flags,
    workspace::{cargo, run as run_command, target},
};

/// The rooms, each with the least share of its mutants, in per cent, that its own tests have to catch.
const ROOMS: [(&str, usize); 7] = [
    ("referee", 95),
    ("contest", 95),
    ("rating", 95),
    ("seat", 90),
    ("arena", 90),
    ("host", 90),
    ("journal", 90),
];

/// Looks through the named room, or each of them; with `--in-diff FILE` only at lines that the diff changes.
pub fn run(words: &[&str]) -> Result<ExitCode> {
    let (name, flags) = match words {
        [name, flags @ ..] if !name.starts_with("--") => (Some(*name), flags),
        flags => (None, flags),
    };
    let flags = Flags::read(flags, &[], &["--in-diff"])?;
    let rooms = chosen(name)?;
    ensure!(
        has_subcommand("mutants"),
        "cargo-mutants is not installed: `cargo install cargo-mutants --locked`"
    );
    let mut is_enough = true;
    for (room, least) in rooms {
        let output = target().join("mutants").join(room);
        let directory = output.to_str().context("the target directory is no text")?;
        fs::create_dir_all(&output)?;
        let mut mutants = cargo(["mutants", "--package", room, "--output", directory]);
        if let Some(diff) = flags.text("--in-diff") {
            mutants.args(["--in-diff", diff]);
        }
        // It fails as soon as one mutant is missed; what counts here is their share.
        let status = run_command(&mut mutants)?;
        let found = output.join("mutants.out");
        let [caught, late, missed] = ["caught", "timeout", "missed"].map(|list| lines(&found, list));
        let all = caught + late + missed;
        ensure!(all > 0 || status.success(), "cargo-mutants tried nothing in {room}");
        let share = percent(caught + late, all);
        println!(
            "{room}: {} of {all} caught, {share} % ({least} % wanted); {}",
            caught + late,
            found.display()
        );
        is_enough &= share >= least;
    }
    Ok(if is_enough { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
fn lines(directory: &Path, list: &str) -> usize {
    let text = fs::read_to_string(directory.join(list).with_extension("txt"));
    text.map_or(0, |text| text.lines().count())
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
        let manifest = fs::read_to_string(xtask::workspace::root().join("Cargo.toml")).unwrap();
        for (room, _) in ROOMS {
            assert!(manifest.contains(&format!("\n{room} = {{ path = \"src/")), "{room}");
        }
    }
}
