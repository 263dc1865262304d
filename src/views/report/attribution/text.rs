//! An attribution as text.

use super::{Attribution, BuildRow, EffectRow};
use crate::text::{padded, width};
use notation::printable;
use referee::number::number;
use referee::rating::{rounded, signed};
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
        rows(f, &parts)?;
        if !pairs.is_empty() {
            writeln!(f, "\nElo of two levels together beyond the sum of both (95 %)")?;
            let hidden = pairs.len().saturating_sub(2 * PAIRS);
            rows(f, &pairs[..pairs.len().min(PAIRS + if hidden > 0 { 0 } else { PAIRS })])?;
            if hidden > 0 {
                writeln!(f, "  ... {hidden} more between them (--json has all) ...")?;
                rows(f, &pairs[pairs.len() - PAIRS..])?;
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

fn rows(f: &mut fmt::Formatter<'_>, effects: &[&EffectRow]) -> fmt::Result {
    let names: Vec<String> = effects.iter().map(|effect| effect.name()).collect();
    let width = width(names.iter().map(String::as_str));
    effects.iter().zip(&names).try_for_each(|(effect, name)| {
        let (elo, error) = (signed(effect.elo, 1), rounded(effect.elo_error, 1));
        writeln!(f, "  {}  {elo:>7} +-{error}", padded(name, width))
    })
}

impl Attribution {
    fn explained(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.explained.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nR2 of win rates on builds that were held out, and the largest weight of a column")?;
        writeln!(f, "  columns         ridge  weight   least squares  weight")?;
        let share = |r2: Option<f64>| r2.map_or_else(|| "n/a".to_owned(), |r2| rounded(r2, 3));
        for row in &self.explained {
            writeln!(
                f,
                "  {:4} {:>5}  {:>10}  {:>6.2}  {:>14}  {:>6.2}",
                row.columns,
                row.number,
                share(row.ridge),
                row.ridge_largest,
                share(row.least_squares),
                row.least_squares_largest
            )?;
        }
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
        for (what, build) in self.named_builds() {
            self.build(f, what, build)?;
        }
        Ok(())
    }

    fn build(&self, f: &mut fmt::Formatter<'_>, what: &str, build: &BuildRow) -> fmt::Result {
        let BuildRow { name, elo, elo_error, .. } = build;
        let played = match build.played {
            Some((played, error)) => {
                let within = if (played - elo).abs() <= *elo_error { "within" } else { "outside" };
                format!("; by its games {} +-{error:.0}, {within} that interval", signed(played, 0))
            }
            None => String::new(),
        };
        writeln!(f, "  {name}  {} +-{elo_error:.0}  {what}{played}", signed(*elo, 0))?;
        writeln!(f, "      {}", printable(build.levels.join(", ").as_bytes()))
    }
}
