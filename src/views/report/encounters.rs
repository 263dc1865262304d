//! Encounters: what two players have made of their games against each other.

use crate::exhibit::{Cell, Column, Exhibit};
use crate::{EventInfo, Language};
use contest::standings::{Standings, Tally, Wdl};
use referee::{
    entry::PlayerId,
    points::Points,
    rating::{Estimate, digits, rounded, signed},
};
use serde::Serialize;

/// The encounter of two players, from the side of `name`.
#[derive(Clone, Debug, Serialize)]
pub struct Encounter {
    /// The player listed first in the configuration.
    pub name: String,
    /// Its opponent.
    pub opponent: String,
    /// Games that count.
    pub games: u64,
    /// Those that repeat no earlier one move for move: what Elo, its interval and LOS are computed from.
    pub distinct_games: u64,
    /// Won by `name`.
    pub wins: u64,
    /// Lost by `name`.
    pub losses: u64,
    /// Drawn.
    pub draws: u64,
    /// The distinct games, from the side of `name`.
    pub distinct: Wdl,
    /// Points of `name` and of its opponent by the event's scoring, without byes and penalties.
    pub points: [Points; 2],
    /// Score of `name` over the games that Elo is computed from.
    pub score: Option<f64>,
    /// Elo difference by the score of distinct games; from complete colour-swapped pairs if every game belongs to one.
    pub elo: Option<f64>,
    /// Half its 95 % interval by the normal distribution, as fishtest and fastchess print it.
    pub elo_error: Option<f64>,
    /// Lower end of the 95 % interval that is exact in small and lopsided samples; `None` if `name` lost every game.
    pub elo_low: Option<f64>,
    /// Upper end of that interval; `None` if `name` won every game.
    pub elo_high: Option<f64>,
    /// Normalized Elo.
    pub nelo: Option<f64>,
    /// Half its 95 % interval.
    pub nelo_error: Option<f64>,
    /// `measured`, `at_least`, `at_most` or `unknown`; bounds are in `elo_bound`.
    pub elo_kind: &'static str,
    /// The finite end of the interval when all games were won, or all lost.
    pub elo_bound: Option<f64>,
    /// Probability that `name` is stronger.
    pub los: f64,
    /// Drawn games of all games; of pairs the even ones of all pairs.
    pub draw_ratio: Option<f64>,
    /// Pairs that `name` won to those that it lost; `None` where it lost none.
    pub pairs_ratio: Option<f64>,
    /// Colour-swapped pairs of distinct games by the points of `name`: 0, 1/2, 1, 3/2, 2.
    pub pentanomial: [u64; 5],
    /// Those of them in which both games have the same moves.
    pub alike_pairs: u64,
}

impl Encounter {
    /// The opponent of a player, and how often the player won and lost; `None` for anybody else.
    pub fn seen_by(&self, name: &str) -> Option<(&str, [u64; 2])> {
        match () {
            () if self.name == name => Some((&self.opponent, [self.wins, self.losses])),
            () if self.opponent == name => Some((&self.name, [self.losses, self.wins])),
            () => None,
        }
    }

    /// The points of a player against another, and the share of its score between 0 and 1; `None` for other players.
    pub(crate) fn points_against(&self, name: &str, opponent: &str) -> Option<(Points, f64)> {
        let (_, [wins, _]) = self.seen_by(name).filter(|(other, _)| *other == opponent)?;
        let share = (wins as f64 + self.draws as f64 / 2.0) / self.games.max(1) as f64;
        Some((self.points[usize::from(self.name != name)], share))
    }
}

/// Points of both sides where a win is worth one.
pub(crate) fn halves(games: Wdl) -> [f64; 2] {
    [games, games.reversed()].map(|games| games.half_points() as f64 / 2.0)
}

/// The points of two players in their distinct games, in brackets, where others repeat them; what is said of their strength is
/// computed from these.
pub(crate) fn distinct_points(total: &Tally, [one, other]: [PlayerId; 2], words: Language) -> String {
    bracketed(total.between(one, other), total.distinct_between(one, other), words)
}

fn bracketed(games: Wdl, distinct: Wdl, words: Language) -> String {
    let [wins, losses] = halves(distinct);
    match distinct.games() < games.games() {
        true => words.in_distinct_games(wins, losses),
        false => String::new(),
    }
}

/// Games before which nothing is said of their likeness: a pair alone is often played alike. Those that repeat others count.
const ENOUGH: u64 = 8;

/// That most distinct pairs of two players were played alike in so many games, so that they may be one and the same program.
pub(crate) fn alike_words(games: u64, alike: u64, pairs: u64, words: Language) -> Option<String> {
    (games >= ENOUGH && 2 * alike > pairs).then(|| words.played_alike(alike, pairs))
}

impl Encounter {
    /// What the pairs say beside Elo: normalized Elo, and the ratios of drawn pairs and of those won to those lost; and that
    /// most of them were played alike.
    pub(crate) fn pairs_lines(&self, words: Language) -> Vec<String> {
        let known = |value: Option<f64>, digits| value.map_or("-".to_owned(), |value| rounded(value, digits));
        let nelo = self.nelo.map_or("-".to_owned(), |nelo| signed(nelo, 1));
        let error = self.nelo_error.map_or(String::new(), |error| format!(" +-{}", rounded(error, 1)));
        let draws = known(self.draw_ratio.map(|ratio| 100.0 * ratio), 1);
        let ratios = words.nelo_and_ratios(&format!("{nelo}{error}"), &draws, &known(self.pairs_ratio, 2));
        let alike = alike_words(self.games, self.alike_pairs, self.pentanomial.iter().sum(), words);
        [ratios].into_iter().chain(alike).collect()
    }

    /// The points of both, beside them those in distinct games where others repeat them.
    pub(crate) fn points_words(&self, words: Language) -> String {
        let games = Wdl { wins: self.wins, draws: self.draws, losses: self.losses };
        let [wins, losses] = halves(games);
        format!("{wins} : {losses}{}", bracketed(games, self.distinct, words))
    }
}

pub(crate) fn rows(info: &EventInfo, standings: &Standings) -> Vec<Encounter> {
    let total = standings.total();
    let mut met: Vec<(PlayerId, PlayerId)> = total.met.keys().map(|&(a, b)| (a.min(b), a.max(b))).collect();
    met.sort_unstable();
    met.dedup();
    let line = |&(player, opponent): &(PlayerId, PlayerId)| {
        let wdl = total.between(player, opponent);
        let numbers = total.numbers(player, opponent);
        let points = [(player, opponent), (opponent, player)]
            .map(|(own, other)| total.points(&info.ranking.scoring, own, other));
        let bound = match numbers.elo {
            Estimate::AtLeast { value } | Estimate::AtMost { value } => Some(value),
            _ => None,
        };
        Encounter {
            name: info.player(player).to_owned(),
            opponent: info.player(opponent).to_owned(),
            games: wdl.games(),
            distinct_games: total.distinct_between(player, opponent).games(),
            distinct: total.distinct_between(player, opponent),
            wins: wdl.wins,
            losses: wdl.losses,
            draws: wdl.draws,
            points,
            score: numbers.score,
            elo: numbers.elo.value(),
            elo_error: numbers.elo.error(),
            elo_low: numbers.elo_low,
            elo_high: numbers.elo_high,
            nelo: numbers.nelo.value(),
            nelo_error: numbers.nelo.error(),
            elo_kind: numbers.elo.kind(),
            elo_bound: bound,
            los: numbers.los,
            draw_ratio: numbers.draw_ratio,
            pairs_ratio: numbers.pairs_ratio,
            pentanomial: total.pentanomial(player, opponent),
            alike_pairs: total.alike_pairs(player, opponent),
        }
    };
    met.iter().map(line).collect()
}

/// The table of these encounters.
pub(crate) fn table(pairs: &[Encounter], words: Language) -> Exhibit {
    let columns = vec![
        Column::left(words.pick("pair", "組合せ"), |met: &Encounter| {
            Cell::words(words.against(&met.name, &met.opponent))
        }),
        Column::right(words.game_column(), |met: &Encounter| Cell::count(met.games)),
        Column::right(words.pick("wins", "勝"), |met: &Encounter| Cell::count(met.wins)),
        Column::right(words.pick("loss", "敗"), |met: &Encounter| Cell::count(met.losses)),
        Column::right(words.pick("draw", "分"), |met: &Encounter| Cell::count(met.draws)),
        Column::right(words.score(), |met: &Encounter| Cell::share(met.score, 1)),
        Column::right(words.elo(), |met: &Encounter| {
            Cell::known(met.elo, |elo| Cell::number(signed(elo, met.digits())))
        }),
        Column::right(words.pick("95 % interval", "95 % 区間"), |met: &Encounter| {
            Cell::number(met.interval())
        }),
        Column::right("LOS", |met: &Encounter| Cell::share(Some(met.los), 0)),
    ];
    let of_the_first = "Elo is that of the first of the pair against the second; so is LOS";
    let note = words.pick(of_the_first, "Elo と LOS は先に挙げた対局者から見た値");
    Exhibit::of(columns, pairs).with_notes((!pairs.is_empty()).then(|| note.to_owned()))
}

impl Encounter {
    /// The digits after the point that the interval leaves to Elo.
    fn digits(&self) -> usize {
        self.elo_low.zip(self.elo_high).map_or(0, |(low, high)| digits((high - low) / 2.0))
    }

    fn interval(&self) -> String {
        let digits = self.digits();
        match (self.elo_low, self.elo_high) {
            (Some(low), Some(high)) => format!("{} .. {}", signed(low, digits), signed(high, digits)),
            (Some(low), None) => format!(">{}", signed(low, 0)),
            (None, Some(high)) => format!("<{}", signed(high, 0)),
            (None, None) => "-".to_owned(),
        }
    }
}
