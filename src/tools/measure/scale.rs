//! `cargo xtask bench scale`: what grows with the players of a league, with games and with events, at four sizes, and how
//! fast.

mod programs;

use crate::table::table;
use anyhow::{Context, Result};
use contest::schedule::{
    Pairing,
    rounds::{Method, Seeker, pair},
};
use platform::usage::{Resident, processor_time, resident};
use referee::{
    Color, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, PlayerId, Stamped},
    rating::{CrossTable, Results, fit, mix::mix},
};
use report::{
    Announcer, EventInfo, Named,
    progress::{Interval, Progress},
};
use std::{fs, hint::black_box, io, path::PathBuf, process::ExitCode};
use xtask::{args::Flags, workspace};

/// Flags of the command.
pub const FLAGS: [&str; 2] = ["--program", "--only"];

/// Players, each four times as many as before.
const SIZES: [usize; 4] = [625, 2_500, 10_000, 40_000];
/// Processor time in seconds that is the least to be compared.
const LEAST: f64 = 1e-4;

/// A kind of work on that many players.
type Work = fn(usize);

const ALL: [(&str, Work); 6] = [
    ("pairing by rating", |players| pairing(players, Method::LeastDifference)),
    ("pairing by points", |players| pairing(players, Method::Swiss)),
    ("pairing at random", |players| pairing(players, Method::Random)),
    ("ratings, 20 games a player", ratings),
    ("names of newcomers", newcomers),
    ("lines, a game a player", lines),
];

/// Prints a row for each kind of work, and for each figure of a program.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let program = match flags.text("--program") {
        Some(program) => PathBuf::from(program).canonicalize()?,
        None => {
            workspace::build_release(true)?;
            workspace::release("renmei")
        }
    };
    let is_wanted = |what: &str| flags.text("--only").is_none_or(|only| what.contains(only));
    let wanted = ALL.into_iter().filter(|(what, _)| is_wanted(what));
    let rows = wanted.map(|(what, work)| row(what, work)).collect::<Result<Vec<_>>>()?;
    let sizes = SIZES.map(|players| format!("{players} players"));
    if rows.is_empty() {
        print!("{}", table(&programs::HEADER, &programs::rows(&program, &is_wanted)?));
        return Ok(ExitCode::SUCCESS);
    }
    let header = [&["ms of processor time"][..], &sizes.each_ref().map(String::as_str), &["slope", "MiB"]];
    print!("{}", table(&header.concat(), &rows));
    println!("slope: the work grows with this power of the players; MiB: memory of the largest\n");
    print!("{}", table(&programs::HEADER, &programs::rows(&program, &is_wanted)?));
    Ok(ExitCode::SUCCESS)
}

fn row(what: &str, work: Work) -> Result<Vec<String>> {
    let (mut row, mut seconds, mut memory) = (vec![what.to_owned()], [0.0; 4], 0);
    for (time, players) in seconds.iter_mut().zip(SIZES) {
        // From here on the peak is that of this work.
        fs::write("/proc/self/clear_refs", "5").context("the peak of memory could not be reset")?;
        let (before, begun) = (own_memory()?.now, processor_time()?);
        work(players);
        *time = (processor_time()? - begun).as_secs_f64().max(LEAST);
        memory = own_memory()?.peak.saturating_sub(before) / 1024;
        row.push(format!("{:.1}", *time * 1000.0));
    }
    row.extend([format!("{:.2}", slope(seconds)), memory.to_string()]);
    eprintln!("{}", row.join("  "));
    Ok(row)
}

fn own_memory() -> Result<Resident> {
    resident(std::process::id()).context("the system does not say how much memory is used")
}

/// The power of the size with which the work grows: 1 where four times the players take four times as long.
fn slope(times: [f64; 4]) -> f64 {
    (times[3] / times[0]).ln() / (SIZES[3] as f64 / SIZES[0] as f64).ln()
}

/// A number from 0 to 1 that looks random.
fn drawn(of: usize, number: usize) -> f64 {
    (mix(mix(of as u64) ^ number as u64) >> 11) as f64 / (1_u64 << 53) as f64
}

fn pairing(players: usize, method: Method) {
    let seeker = |number: usize| {
        let balance = (drawn(1, number) * 5.0) as i32 - 2;
        Seeker {
            rating: 1500.0 + 800.0 * (drawn(2, number) + drawn(3, number) - 1.0),
            half_points: (drawn(4, number) * 24.0) as u32,
            balance,
            streak: (balance.signum(), balance.unsigned_abs().min(2)),
            last_opponent: Some(number ^ 1),
            number,
            human: drawn(5, number) < 0.05,
            ..Seeker::default()
        }
    };
    let seekers: Vec<Seeker> = (0..players).map(seeker).collect();
    black_box(pair(&seekers, method, 7));
}

fn ratings(players: usize) {
    let mut table = CrossTable::new(players);
    for game in 0..10 * players {
        let (black, white) = (game % players, (drawn(6, game) * players as f64) as usize);
        let expected = 1.0 / (1.0 + (2.0 * (drawn(7, white) - drawn(7, black))).exp());
        let black_won = drawn(8, game) < expected;
        let results = if black_won { [1.0, 0.0] } else { [0.0, 1.0] };
        let [black_wins, white_wins] = results;
        // Only a game against oneself is refused.
        let _no_game = table.add(black, white, Results { black_wins, white_wins, ..Results::default() });
    }
    black_box(fit(&table));
}

fn newcomers(players: usize) {
    let mut announcer = Announcer::new(EventInfo { open: true, ..EventInfo::default() });
    announcer.lines = Some(Box::new(io::sink()));
    for number in 0..players {
        let (player, name) =
            (PlayerId::at(number), format!("engine{}+{:012x}", number / 2, mix(number as u64)));
        announcer.announce(&[Stamped { at: 0, entry: Entry::Entered { player, name } }]);
    }
}

fn lines(players: usize) {
    let engines = (0..players).map(|player| Named::whole(&player.to_string())).collect();
    let info = EventInfo { engines, ..EventInfo::default() };
    let standings = info.standings();
    let mut progress = Progress::new(info, Some(u64::MAX), standings, Interval::Paced);
    for number in 0..players as u64 {
        let (black, white) = (PlayerId::at(number as usize), PlayerId::at((number as usize + 1) % players));
        let pairing =
            Pairing { stage: 0, index: number, attempt: 0, round: 1, pair: number, opening: 0, black, white };
        let outcome = Outcome::loss(Color::BOTH[number as usize % 2], WinBy::Resignation);
        let entry = Entry::GameEnded(GameEnded::new(GameId(number + 1), pairing, outcome, 80));
        let at = 10 * number as i64;
        black_box(progress.take(&Stamped { at, entry }, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_what_takes_four_times_as_long_for_four_times_as_many_is_one() {
        assert!((slope([1.0, 4.0, 16.0, 64.0]) - 1.0).abs() < 1e-9);
        assert!((slope([1.0, 16.0, 256.0, 4096.0]) - 2.0).abs() < 1e-9);
    }
}
