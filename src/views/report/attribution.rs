//! What parts of an engine are worth: text, JSON and a page, from one [`Attribution`].

mod page;
mod text;

pub use page::page;

use crate::exhibit::{Cell, Column, Exhibit};
use crate::plot::{self, Plot, Size};
use referee::rating::{rounded, signed};
use serde::Serialize;

/// What a league of builds says of their parts. Elo is relative to the mean of the builds that were played.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Attribution {
    /// Name of the event.
    pub event: String,
    /// Games that count.
    pub games: u64,
    /// Builds that were played.
    pub builds: usize,
    /// The parts.
    pub parts: Vec<PartRow>,
    /// Why there are no effects yet.
    pub missing: Option<String>,
    /// The effects, largest first; parts and pairs together.
    pub effects: Vec<EffectRow>,
    /// Standard deviation of what a build has of its own, in Elo.
    pub own: Option<f64>,
    /// Black's advantage in Elo.
    pub black_advantage: Option<f64>,
    /// The probability of a draw between equals.
    pub draw_ratio: Option<f64>,
    /// Share of the variance of win rates that is explained on builds that were held out.
    pub explained: Vec<ExplainedRow>,
    /// The engine as it is: every part at its first level.
    pub base: Option<BuildRow>,
    /// The build from which most is expected among those that were not played.
    pub best_unplayed: Option<BuildRow>,
    /// Builds that were asked for.
    pub predictions: Vec<BuildRow>,
    /// Builds that were expected first and played then.
    pub confirmed: Vec<BuildRow>,
}

/// A part.
#[derive(Clone, Debug, Serialize)]
pub struct PartRow {
    /// Its name.
    pub name: String,
    /// Names of its levels; the others are measured against the first.
    pub levels: Vec<String>,
}

/// An effect, with its 95 % interval.
#[derive(Clone, Debug, Serialize)]
pub struct EffectRow {
    /// One level of a part, or two of two parts, as `part = level`.
    pub of: Vec<String>,
    /// Elo.
    pub elo: f64,
    /// Half the 95 % interval.
    pub elo_error: f64,
}

impl EffectRow {
    /// What it is the effect of, in words.
    pub fn name(&self) -> String {
        self.of.join(" with ")
    }

    fn is_pair(&self) -> bool {
        self.of.len() > 1
    }
}

/// How much of the win rates is explained by some columns.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedRow {
    /// `P`: levels of parts; `PP`: pairs of them; `P+PP`: both.
    pub columns: &'static str,
    /// Number of columns.
    pub number: usize,
    /// R2 on held-out builds by ridge regression; below 0 it is worse than the mean.
    pub ridge: Option<f64>,
    /// The same by plain least squares.
    pub least_squares: Option<f64>,
    /// Largest weight of a column by ridge regression, in points of a game from -1 to 1.
    pub ridge_largest: f64,
    /// The same by plain least squares.
    pub least_squares_largest: f64,
}

impl ExplainedRow {
    /// A weight beyond this is no explanation of points from -1 to 1.
    const BLOWN_UP: f64 = 10.0;

    fn blows_up(&self) -> bool {
        let worse = self.ridge.zip(self.least_squares).is_some_and(|(ridge, plain)| plain < ridge - 0.5);
        self.least_squares_largest > Self::BLOWN_UP || worse
    }
}

/// What is expected of a build, and how it has played.
#[derive(Clone, Debug, Serialize)]
pub struct BuildRow {
    /// Its name in the event: a digit for the level of each part.
    pub name: String,
    /// Its levels, as `part = level`.
    pub levels: Vec<String>,
    /// Elo that is expected.
    pub elo: f64,
    /// Half the 95 % interval.
    pub elo_error: f64,
    /// Elo by its own games, with half its 95 % interval; none if it has not played.
    pub played: Option<(f64, f64)>,
}

impl Attribution {
    /// Names of the levels other than the first, as in the effects.
    fn levels(&self) -> Vec<String> {
        let levels = |part: &PartRow| {
            let name = part.name.clone();
            part.levels.iter().skip(1).map(move |level| format!("{name} = {level}")).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(levels).collect()
    }

    /// The builds of which something is expected, each with what it is.
    fn named_builds(&self) -> impl Iterator<Item = (&'static str, &BuildRow)> {
        let base = self.base.iter().map(|build| ("the engine as it is", build));
        let best = self.best_unplayed.iter().map(|build| ("the best that was not played", build));
        let asked = self.predictions.iter().map(|build| ("asked for", build));
        let confirmed = self.confirmed.iter().map(|build| ("expected first, then played", build));
        base.chain(best).chain(asked).chain(confirmed)
    }

    /// The table of those builds.
    fn builds_table(&self) -> Exhibit {
        type Named<'a> = (&'static str, &'a BuildRow);
        let played = |(_, build): &Named<'_>| {
            Cell::known(build.played, |(elo, error)| {
                let is_within = (elo - build.elo).abs() <= build.elo_error;
                let within = if is_within { "within" } else { "outside" };
                Cell::number(format!("{} +-{error:.0}, {within}", signed(elo, 0)))
            })
        };
        let columns = vec![
            Column::left("build", |(_, build): &Named<'_>| Cell::words(&build.name)),
            Column::left("what it is", |(what, _): &Named<'_>| Cell::words(*what)),
            Column::right("expected", |(_, build): &Named<'_>| Cell::number(signed(build.elo, 0))),
            Column::right("+-", |(_, build): &Named<'_>| Cell::number(rounded(build.elo_error, 0))),
            Column::right("by its games", played).about("and whether that is within the interval expected"),
            Column::left("levels", |(_, build): &Named<'_>| Cell::words(build.levels.join(", "))),
        ];
        let builds: Vec<Named<'_>> = self.named_builds().collect();
        Exhibit::of(columns, &builds)
    }

    /// The table of what is explained.
    fn explained_table(&self) -> Exhibit {
        let share = |r2: Option<f64>| Cell::known(r2, |r2| Cell::number(rounded(r2, 3)));
        let weight = |weight: f64| Cell::number(rounded(weight, 2));
        let columns = vec![
            Column::left("columns", |row: &ExplainedRow| Cell::words(row.columns)),
            Column::right("number", |row: &ExplainedRow| Cell::count(row.number as u64)),
            Column::right("ridge", move |row: &ExplainedRow| share(row.ridge)),
            Column::right("weight", move |row: &ExplainedRow| weight(row.ridge_largest)),
            Column::right("least squares", move |row: &ExplainedRow| share(row.least_squares)),
            Column::right("weight", move |row: &ExplainedRow| weight(row.least_squares_largest)),
        ];
        Exhibit::of(columns, &self.explained)
    }

    /// The map of pairs.
    pub fn heat(&self, size: Size) -> Plot {
        let levels = self.levels();
        let cell = |row: usize, column: usize| {
            let wanted: Vec<&String> = match row == column {
                true => vec![&levels[row]],
                false => vec![&levels[row.min(column)], &levels[row.max(column)]],
            };
            let effect = self.effects.iter().find(|effect| effect.of.iter().eq(wanted.iter().copied()))?;
            Some((effect.elo, effect.elo_error))
        };
        plot::heat(&format!("{} · Elo of parts and pairs", self.event), &levels, cell, size)
    }
}

/// The table of these effects.
fn effects(effects: &[&EffectRow]) -> Exhibit {
    let columns = vec![
        Column::left("effect", |effect: &&EffectRow| Cell::words(effect.name())),
        Column::right("Elo", |effect: &&EffectRow| Cell::number(signed(effect.elo, 1))),
        Column::right("+-", |effect: &&EffectRow| Cell::number(rounded(effect.elo_error, 1))),
    ];
    Exhibit::of(columns, effects)
}
