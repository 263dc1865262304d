//! `admin drop` in a sequential test: the dropped games are played again by the machines that stay, and the test goes on.

use crate::machines::{
    field::{COUNTED, Field, Players, end, is_well, until},
    goal::Goal,
};
use anyhow::{Result, ensure};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Games that are stored before the machine is dropped: far more than a test may be ahead.
const BEFORE: u64 = 160;
/// Games of the test.
const GAMES: u64 = 300;
/// Wanted: from the drop until the next game is stored.
const NEXT: Duration = Duration::from_secs(15);

/// Drops one of two machines in a sequential test, and looks when it goes on, and how it ends.
pub fn drop_in_a_test(directory: &Path, renmei: &Path) -> Result<Vec<Goal>> {
    let players = Players { think_ms: 1, seed: 11, plies: 20, games: 0, stays: false };
    let test = format!("[sprt]\nelo0 = -1\nelo1 = 1\nmax_games = {GAMES}\n[openings]\nfile = \"built-in\"");
    let field = Field::new(directory.join("drop"), renmei, players, "format = \"sprt\"", &test)?;
    let mut manager = field.manager(None, "127.0.0.1:0")?;
    let line = field.line(&mut manager)?;
    let [mut dropped, mut stays] =
        [field.worker(None, "ann", 2, &line)?, field.worker(None, "bob", 2, &line)?];
    until("games are played", || Ok(field.count(COUNTED) >= BEFORE))?;
    let of_ann = "SELECT count(*) FROM games WHERE state = 'counted' AND machine = 'ann'";
    let lost = field.count(of_ann);
    let order = ["admin", "--reason", "its fan died", "event.db", "drop", "ann"];
    let ended = end(&mut field.start(None, "admin.log", &order)?)?;
    ensure!(ended == Some(0), "`admin drop` ended with {ended:?}: {}", field.log("admin.log"));
    let (begun, last) = (Instant::now(), field.count("SELECT max(number) FROM games"));
    let goes_on = || Ok(field.count("SELECT max(number) FROM games WHERE state = 'counted'") > last);
    let next = until("the test goes on", goes_on).map(|()| begun.elapsed());
    let shown =
        next.as_ref().map_or_else(|why| why.to_string(), |next| format!("{:.1} s", next.as_secs_f64()));
    let first = Goal::measured(
        "a test goes on within 15 s after a machine was dropped",
        format!("{shown} after {lost} games were dropped"),
        next.is_ok_and(|next| next <= NEXT),
    );
    let code = end(&mut manager)?;
    ensure!(is_well(code), "the test ended with {code:?}: {}", field.log("manager.log"));
    let codes = [end(&mut dropped)?, end(&mut stays)?];
    let (places, double) = (
        field.count("SELECT count(DISTINCT index_) FROM games WHERE state = 'counted'"),
        field.count(COUNTED),
    );
    let figure =
        format!("{places} places, {double} games, {} of ann; exit codes {codes:?}", field.count(of_ann));
    let holds = places == GAMES && double == GAMES && field.count(of_ann) == 0 && codes == [Some(5), Some(0)];
    let second =
        Goal::measured("and ends with every game once, none of them the dropped machine's", figure, holds);
    field.remove()?;
    Ok(vec![first, second])
}
