//! The scores of each player on one scale: how many of its centipawns are one unit of log odds, by the results of its games.

use crate::Language;
use crate::exhibit::{Cell, Column, Exhibit};
use contest::schedule::Pairing;
use journal::{EventSummary, FullGame, GameFilter, GameState, Store, StoreError};
use plan::StoredPlan;
use referee::{
    Color, Outcome, WinBy,
    entry::{PlayerId, Score},
    evaluation::{GameScales, ScoreScale},
    rating::rounded,
};
use serde::Serialize;

/// 97.5 % of the normal distribution: for 95 % intervals.
const Z: f64 = 1.959_963_985;
/// Scores beyond this are of won games, and say nothing of the scale.
const WON_SCORE: i32 = 3000;
/// Centipawns of one unit of log odds on the common scale.
const COMMON: f64 = ScoreScale::COMMON.centipawns() as f64;
/// Steps of the fit; it converges in about ten.
const STEPS: usize = 100;
/// Games from which on a scale is fitted.
const MIN_GAMES: usize = 20;

/// The scale of a player's scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scale {
    /// The player.
    pub name: String,
    /// Its games with scores.
    pub games: usize,
    /// Its moves with scores.
    pub scores: usize,
    /// Centipawns of one unit of log odds; absent where the games do not tell.
    pub centipawns: Option<f64>,
    /// The 95 % interval.
    pub interval: Option<[f64; 2]>,
}

/// Scores of one game, in centipawns of the mover, and the mover's result: 1, 0.5 or 0.
#[derive(Clone, Debug, Default)]
struct Seen {
    scores: Vec<f64>,
    result: f64,
}

/// The scales of the players of an event, in their order.
///
/// The expected score of a mover is taken for `1 / (1 + exp(-score / scale))`, as the win-draw-loss models of chess engines
/// have it, and the scale that makes the results most likely is found by Newton's method (a logistic regression through the
/// origin, a draw being half a win). Scores of one game share its result: the interval is that of the sandwich estimate of P.
/// J. Huber (1967) with a game as a cluster. Games that adjudication ended by these scores are left out, and so are forfeits.
///
/// # Errors
/// When the database cannot be read.
pub fn scales(store: &Store, event: &EventSummary) -> Result<Vec<Scale>, StoreError> {
    let mut seen: Vec<Vec<Seen>> = event.players.iter().map(|_| vec![]).collect();
    let filter = GameFilter { state: Some(GameState::Counted), ..GameFilter::default() };
    store.full_games::<StoreError>(event.id, &filter, |game| {
        let Some(outcome) = game.row.outcome.filter(|outcome| tells(*outcome)) else { return Ok(()) };
        for color in Color::BOTH {
            let pairing = &game.row.pairing;
            let player = if color == Color::Black { pairing.black } else { pairing.white };
            let scores = scores(&game, color);
            if let (Some(own), false) = (seen.get_mut(player.index()), scores.is_empty()) {
                let result = f64::from(outcome.half_points(color).unwrap_or(1)) / 2.0;
                own.push(Seen { scores, result });
            }
        }
        Ok(())
    })?;
    Ok(event.players.iter().zip(&seen).map(|(name, seen)| scale(name, seen)).collect())
}

/// The scales that the plan of an event gives to its players' scores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given(Vec<Option<ScoreScale>>);

impl Given {
    /// Those of an event, by player. A plan of another form, such as that of an open league, gives none.
    pub fn of(event: &EventSummary) -> Self {
        let engines = StoredPlan::from_json(&event.plan).map(|plan| plan.engines).unwrap_or_default();
        Self(engines.iter().map(|engine| engine.scale).collect())
    }

    /// That of a player; `None` where none is given.
    pub fn player(&self, player: PlayerId) -> Option<ScoreScale> {
        self.0.get(player.index()).copied().flatten()
    }

    /// Those of the players of a game.
    pub fn game(&self, pairing: &Pairing) -> GameScales {
        GameScales::new([pairing.black, pairing.white].map(|player| self.player(player)))
    }
}

fn tells(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Win { by, .. } => match by {
            WinBy::Mate | WinBy::Resignation | WinBy::Declaration => true,
            WinBy::PerpetualCheck | WinBy::Ruling => true,
            WinBy::Adjudication | WinBy::Default | WinBy::Time | WinBy::Disconnection => false,
            WinBy::IllegalMove(_) | WinBy::IllegalAction | WinBy::IllegalDeclaration => false,
        },
        Outcome::Draw { .. } => true,
        Outcome::Aborted { .. } => false,
    }
}

fn scores(game: &FullGame, color: Color) -> Vec<f64> {
    let own = game.moves.iter().map(|(_, moved)| moved).filter(|moved| moved.color == color);
    let score = own.filter_map(|moved| match moved.thought.as_ref()?.score? {
        Score::Cp(cp) if cp.abs() <= WON_SCORE => Some(f64::from(cp)),
        _ => None,
    });
    score.collect()
}

fn scale(name: &str, seen: &[Seen]) -> Scale {
    let scores = seen.iter().map(|game| game.scores.len()).sum();
    let fitted = if seen.len() >= MIN_GAMES { slope(seen) } else { None };
    // The slope is the inverse of the scale; where its interval has 0, the scale has no upper end.
    let fitted = fitted.filter(|(slope, error)| slope - Z * error > 0.0);
    Scale {
        name: name.to_owned(),
        games: seen.len(),
        scores,
        centipawns: fitted.map(|(slope, _)| 1.0 / slope),
        interval: fitted.map(|(slope, error)| [1.0 / (slope + Z * error), 1.0 / (slope - Z * error)]),
    }
}

/// The slope of the log odds by centipawns that makes the results most likely, and its standard error.
fn slope(seen: &[Seen]) -> Option<(f64, f64)> {
    let share = |slope: f64, score: f64| 1.0 / (1.0 + (-slope * score).exp());
    // Each game weighs as much as another, however long it is.
    let sums = |slope: f64| {
        let (mut gradient, mut curvature, mut meat) = (0.0, 0.0, 0.0);
        for game in seen {
            let weight = 1.0 / game.scores.len() as f64;
            let mut own = 0.0;
            for &score in &game.scores {
                let share = share(slope, score);
                own += weight * score * (game.result - share);
                curvature += weight * score * score * share * (1.0 - share);
            }
            gradient += own;
            meat += own * own;
        }
        (gradient, curvature, meat)
    };
    let mut slope = 1.0 / COMMON;
    for _ in 0..STEPS {
        let (gradient, curvature, meat) = sums(slope);
        if curvature <= 0.0 {
            return None;
        }
        let step = (gradient / curvature).clamp(-0.5 / COMMON, 0.5 / COMMON);
        slope += step;
        if step.abs() < 1e-9 {
            return slope.is_finite().then(|| (slope, meat.sqrt() / curvature));
        }
    }
    None
}

/// The scales as text for a terminal.
pub fn text(scales: &[Scale], words: Language) -> String {
    let interval = |scale: &Scale| match scale.interval {
        Some([low, high]) => Cell::words(format!("{low:.0} {} {high:.0}", words.pick("to", "〜"))),
        None => Cell::words(words.pick(
            "too few games, or scores that do not go with their results",
            "対局が少ないか、評価値と結果が合いません",
        )),
    };
    let columns = vec![
        Column::left(words.player(), |scale: &Scale| Cell::words(&scale.name)),
        Column::right(words.game_column(), |scale: &Scale| Cell::count(scale.games as u64)),
        Column::right(words.pick("scores", "評価値"), |scale: &Scale| Cell::count(scale.scores as u64)),
        Column::right(words.pick("centipawns", "尺度"), |scale: &Scale| {
            Cell::known(scale.centipawns, |centipawns| Cell::number(rounded(centipawns, 0)))
        }),
        Column::left("95 %", interval),
    ];
    Exhibit::of(columns, scales).to_string() + &keys(scales, words)
}

/// The keys of a configuration with which adjudication reads scores so.
fn keys(scales: &[Scale], words: Language) -> String {
    let key = |scale: &Scale| {
        let centipawns = scale.centipawns?.round();
        let name = notation::printable(scale.name.as_bytes());
        Some(format!("scale = {centipawns:<6} # at the engine {name}\n"))
    };
    let keys: String = scales.iter().filter_map(key).collect();
    if keys.is_empty() { keys } else { format!("\n{}\n{keys}", words.for_common_scale()) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Games whose scores are those of a player with this scale: a fixed grid of scores, each with its expected results.
    fn games(scale: f64) -> Vec<Seen> {
        let grid = (-10..=10).map(|step| f64::from(step) * 100.0);
        grid.flat_map(|score| {
            let wins = (1000.0 / (1.0 + (-score / scale).exp())).round() as usize;
            (0..1000).map(move |at| Seen { scores: vec![score], result: f64::from(u8::from(at < wins)) })
        })
        .collect()
    }

    #[test]
    fn the_scale_that_made_the_results_is_found() {
        for truth in [200.0, 600.0, 1500.0] {
            let found = scale("a", &games(truth));
            assert!((found.centipawns.unwrap() / truth - 1.0).abs() < 0.01, "{truth}: {found:?}");
            let [low, high] = found.interval.unwrap();
            assert!(low < truth && truth < high && high / low < 1.2, "{found:?}");
        }
    }

    #[test]
    fn scores_that_say_nothing_of_the_result_have_no_scale() {
        let seen: Vec<Seen> = (0..200)
            .map(|at| Seen {
                scores: vec![if at % 2 == 0 { 300.0 } else { -300.0 }],
                result: f64::from(at / 2 % 2),
            })
            .collect();
        assert_eq!(scale("a", &seen).centipawns, None);
        assert_eq!(scale("a", &games(600.0)[..5]).centipawns, None);
    }
}
