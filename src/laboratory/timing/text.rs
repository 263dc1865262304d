//! An estimate as text for a terminal.

use super::{Doubling, Estimate, Phase};
use referee::rating::signed;
use std::fmt;

/// Share of moves without nodes, and of moves far from the time that they had, that is worth a warning.
const MOST_UNSEARCHED: f64 = 0.05;
const MOST_FAR: f64 = 0.05;

impl fmt::Display for Doubling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ±{:.0} Elo, ", signed(self.elo, 0), self.error)?;
        match self.games {
            0 => f.write_str("as given"),
            games => write!(f, "measured from {games} games"),
        }
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { games, moves, speed, doubling, .. } = self;
        writeln!(f, "{games} games, {moves} searched moves, {speed:.0} nodes/ms")?;
        writeln!(f, "twice the nodes: {doubling}")?;
        writeln!(
            f,
            "\n{:<10}{:>7}{:>10}{:>18}{:>10}{:>7}",
            "plies", "moves", "weight", "seconds a game", "policy", "Elo"
        )?;
        let rows = self.phases.iter().filter(|phase| phase.moves > 0.0);
        rows.clone().try_for_each(|phase| writeln!(f, "{phase}"))?;
        let seconds = |at: usize| rows.clone().map(|phase| phase.seconds[at]).sum::<f64>();
        let total = row("all", rows.clone().map(|phase| phase.moves).sum(), 1.0, [seconds(0), seconds(1)]);
        writeln!(f, "{total}{:>7}", signed(rows.clone().map(|phase| phase.elo).sum::<f64>(), 0))?;
        writeln!(f, "left at the end: {:.2} s, by the policy {:.2} s", self.left[0], self.left[1])?;
        writeln!(f, "lost on time: {}, by the policy {}", self.lost_on_time[0], self.lost_on_time[1])?;
        let [low, high] = self.interval;
        write!(
            f,
            "predicted: {} Elo (95 %: {} to {})",
            signed(self.elo, 0),
            signed(low, 0),
            signed(high, 0)
        )?;
        self.doubts(f)
    }
}

impl Estimate {
    /// What speaks against the prediction.
    fn doubts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| format!("{:.0} % of the moves", 100.0 * share);
        if self.unsearched > MOST_UNSEARCHED {
            let moves = percent(self.unsearched);
            write!(
                f,
                "\n  do not trust it: {moves} have no nodes. The clock, or a busy machine, left no time to search"
            )?;
        }
        if self.far > MOST_FAR {
            let moves = percent(self.far);
            write!(
                f,
                "\n  trust it less: {moves} get less than a quarter or more than four times their time"
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plies = self.to.map_or(format!("{}-", self.from), |to| format!("{}-{to}", self.from));
        write!(f, "{}{:>7}", row(&plies, self.moves, self.weight, self.seconds), signed(self.elo, 0))
    }
}

fn row(plies: &str, moves: f64, weight: f64, [now, then]: [f64; 2]) -> String {
    format!("{plies:<10}{moves:>7.1}{:>8.0} %{now:>18.2}{then:>10.2}", 100.0 * weight)
}
