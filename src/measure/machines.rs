//! `cargo xtask soak --machines`: an event on many machines, and what it is to reach. Everything runs on this machine, in
//! processes and network namespaces; the table at the end has each goal beside its figure.
//!
//! | part | what is measured |
//! |---|---|
//! | `kills` | blows of every kind on an event of three machines, and on a sequential test: nothing is lost or doubled |
//! | `stop` | from the verdict of a test until every worker has heard of it |
//! | `restart` | from the start of a manager that was killed until its first lease or commit |
//! | `loss` | from the kill of a worker until its pairs are handed out again |
//! | `drop` | `admin drop` in a sequential test: from the order until it goes on, and its end |
//! | `hostile` | workers that flood the manager with lists, or take many pairs and play none; `siege` has the same |
//! | `three` | what three machines play to one, where engines sleep |
//! | `throughput` | results a second, and what each worker costs: simulated workers, the real manager, server and database |

mod blows;
mod crowd;
mod drops;
mod field;
mod goal;
pub mod hostile;
mod kills;
mod load;
mod script;
mod throughput;
mod times;

use crate::process::program;
use anyhow::{Result, bail};
use goal::Goal;
use kills::Storm;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};
use throughput::Run;
use xtask::{args::Flags, workspace::Scratch};

/// Flags of the command that have a value.
pub const FLAGS: [&str; 5] = ["--kills", "--seed", "--only", "--seconds", "--program"];
/// Flags of the command that have none.
pub const SWITCHES: [&str; 2] = ["--short", "--thousand"];
/// The parts, in their order.
const PARTS: [&str; 8] = ["kills", "stop", "restart", "loss", "drop", "hostile", "three", "throughput"];

/// Context of all parts.
struct Soak<'a> {
    flags: &'a Flags,
    directory: PathBuf,
    renmei: PathBuf,
    is_short: bool,
    goals: Vec<Goal>,
}

/// Runs the parts, and prints the table of goals.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let only = flags.text("--only");
    if let Some(part) = only.filter(|part| !PARTS.contains(part)) {
        bail!("`--only {part}`: there is no such part; there are {}", PARTS.join(", "));
    }
    let renmei = program(flags)?.canonicalize()?;
    let scratch = Scratch::new("machines")?;
    let mut soak = Soak::new(flags, &scratch, renmei)?;
    for part in PARTS.iter().filter(|part| only.is_none_or(|only| only == **part)) {
        eprintln!("soak --machines: {part}");
        let done = match *part {
            "kills" => soak.kills(),
            "stop" => times::stop(&soak.directory, &soak.renmei).map(|goal| soak.reached([goal])),
            "restart" => soak.restart(),
            // Longer than a minute's soak.
            "loss" if soak.is_short && only.is_none() => Ok(()),
            "loss" => times::loss(&soak.directory, &soak.renmei).map(|goal| soak.reached([goal])),
            "drop" => drops::drop_in_a_test(&soak.directory, &soak.renmei).map(|goals| soak.reached(goals)),
            "hostile" => soak.hostile(&hostile::ATTACKS),
            "three" => soak.three(),
            _ => soak.throughput(),
        };
        if let Err(why) = done {
            soak.reached([Goal::measured(part, format!("failed: {why:#}"), false)]);
        }
    }
    Ok(soak.judged())
}

/// Attacks the manager of an event by workers that were let in, one attack after the other, and prints the table of goals.
pub fn besiege(flags: &Flags, renmei: &Path, attacks: &[&str]) -> Result<ExitCode> {
    if attacks.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let scratch = Scratch::new("machines")?;
    let mut soak = Soak::new(flags, &scratch, renmei.canonicalize()?)?;
    if let Err(why) = soak.hostile(attacks) {
        soak.reached([Goal::measured("workers that were let in", format!("failed: {why:#}"), false)]);
    }
    Ok(soak.judged())
}

impl<'a> Soak<'a> {
    fn new(flags: &'a Flags, scratch: &Scratch, renmei: PathBuf) -> Result<Self> {
        let directory = scratch.file(".").canonicalize()?;
        Ok(Self { flags, directory, renmei, is_short: flags.has("--short"), goals: vec![] })
    }

    /// Prints the table.
    fn judged(&self) -> ExitCode {
        print!("{}", goal::goals(&self.goals));
        let missed = self.goals.iter().any(|goal| goal.holds == Some(false));
        if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }

    fn hostile(&mut self, attacks: &[&str]) -> Result<()> {
        for attack in attacks {
            let goals = match *attack {
                "beats" => hostile::beats(&self.directory, &self.renmei, self.seconds()?)?,
                "far" => hostile::far(&self.directory, &self.renmei, self.seconds()?)?,
                _ => hostile::hoard(&self.directory, &self.renmei)?,
            };
            self.reached(goals);
        }
        Ok(())
    }

    /// Keeps goals for the table, and prints them at once.
    fn reached(&mut self, goals: impl IntoIterator<Item = Goal>) {
        for goal in goals {
            eprintln!("  {}: {}", goal.what, goal.figure);
            self.goals.push(goal);
        }
    }

    fn kills(&mut self) -> Result<()> {
        let blows = self.flags.number("--kills", if self.is_short { 12 } else { 100 })?;
        let storm = Storm { blows, seed: self.flags.number("--seed", 1)?, may_be_long: !self.is_short };
        let goals = kills::games(&self.directory, &self.renmei, storm)?;
        self.reached(goals);
        let storm = Storm { blows: blows.div_ceil(4), ..storm };
        let goals = kills::test(&self.directory, &self.renmei, storm)?;
        self.reached(goals);
        Ok(())
    }

    fn restart(&mut self) -> Result<()> {
        let times = if self.is_short { 1 } else { 5 };
        let goal = times::restart(&self.directory, &self.renmei, times)?;
        self.reached([goal]);
        let goal = times::restart_of_many(&self.directory, &self.renmei, times)?;
        self.reached([goal]);
        Ok(())
    }

    fn three(&mut self) -> Result<()> {
        let lasts = self.seconds()?;
        let goal = times::three(&self.directory, &self.renmei, lasts)?;
        self.reached([goal]);
        Ok(())
    }

    /// How long something is counted.
    fn seconds(&self) -> Result<Duration> {
        Ok(Duration::from_secs(self.flags.number("--seconds", if self.is_short { 5 } else { 20 })?))
    }

    fn throughput(&mut self) -> Result<()> {
        let lasts = self.seconds()?;
        let mut runs = match self.is_short {
            true => vec![(50, 12)],
            false => vec![(1, 12), (10, 12), (50, 12), (50, 100), (100, 12)],
        };
        if self.flags.has("--thousand") {
            runs.push((1000, 12));
        }
        let mut seen = vec![];
        for (workers, plies) in runs {
            seen.push(throughput::measure(&self.directory, &self.renmei, Run { workers, plies, lasts })?);
            print!("{}", throughput::rows(&seen[seen.len() - 1..]));
        }
        println!("\nwhat grows with what\n{}", throughput::rows(&seen));
        self.reached(throughput::goals(&seen));
        Ok(())
    }
}
