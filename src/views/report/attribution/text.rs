//! An attribution as text.

use super::{Attribution, effects};
use notation::printable;
use referee::{number::number, rating::signed};
use std::fmt;

/// Pairs that are listed from each end.
const PAIRS: usize = 10;

impl fmt::Display for Attribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (builds, parts) = (number(self.builds as u64, "build"), number(self.parts.len() as u64, "part"));
        let event = printable(self.event.as_bytes());
        writeln!(f, "{event} · {builds} of {parts} · {}", number(self.games, "game"))?;
        if let Some(missing) = &self.missing {
            return writeln!(f, "\nno effects yet: {missing}");
        }
        let (pairs, parts): (Vec<_>, Vec<_>) = self.effects.iter().partition(|effect| effect.is_pair());
        writeln!(
            f,
            "\nElo of a level against the first one of its part, on average over the other parts (95 %)"
        )?;
        write!(f, "{}", effects(&parts))?;
        if !pairs.is_empty() {
            writeln!(f, "\nElo of two levels together beyond the sum of both (95 %)")?;
            let hidden = pairs.len().saturating_sub(2 * PAIRS);
            let first = pairs.len().min(if hidden > 0 { PAIRS } else { 2 * PAIRS });
            write!(f, "{}", effects(&pairs[..first]))?;
            if hidden > 0 {
                writeln!(f, "  ... {hidden} more between them (--json has all) ...")?;
                write!(f, "{}", effects(&pairs[pairs.len() - PAIRS..]))?;
            }
        }
        if let (Some(own), Some(black), Some(draws)) = (self.own, self.black_advantage, self.draw_ratio) {
            writeln!(
                f,
                "\nbeyond parts and pairs builds differ by {own:.0} Elo (standard deviation); black's advantage {} Elo; {:.1} % \
                 of games between equals are drawn",
                signed(black, 0),
                100.0 * draws
            )?;
        }
        self.explained(f)?;
        self.builds(f)
    }
}

impl Attribution {
    fn explained(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.explained.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nR2 of win rates on builds that were held out, and the largest weight of a column")?;
        write!(f, "{}", self.explained_table())?;
        let blown: Vec<_> =
            self.explained.iter().filter(|row| row.blows_up()).map(|row| row.columns).collect();
        match blown.is_empty() {
            true => writeln!(f, "  plain least squares does not blow up here"),
            false => writeln!(f, "  plain least squares blows up with {}: trust ridge", blown.join(", ")),
        }
    }

    fn builds(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nElo that is expected of a build, relative to the mean of those that were played (95 %)"
        )?;
        write!(f, "{}", self.builds_table())
    }
}
