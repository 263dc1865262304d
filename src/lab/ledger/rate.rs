//! Ratings of the players that games connect.

use super::Ledger;
use referee::rating::{CrossTable, Estimate, Ratings, Results, Z_95, fit};
use serde::Serialize;
use std::collections::BTreeMap;

/// A player of known Elo.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// A name, or the first digits of a build: each player that is called so is an anchor.
    pub name: String,
    /// Its Elo.
    pub elo: f64,
}

/// Why anchors cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorError {
    /// Nobody is called so.
    #[error("no player is called `{0}`: a name of a player, or the first four digits or more of a build")]
    Unknown(String),
}

/// The ratings of a ledger.
#[derive(Clone, Debug, Serialize)]
pub struct Rated {
    /// Sets of players that games connect, the one with most games first. Ratings of two sets cannot be compared, unless
    /// both have anchors.
    pub groups: Vec<Group>,
}

/// Players that games connect.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The players, best first.
    pub rows: Vec<Row>,
    /// Games among them.
    pub games: u64,
    /// Advantage of black, in Elo.
    pub black_advantage: Estimate,
    /// The probability of a draw between equals.
    pub draw_ratio: Option<f64>,
    /// The anchors, and by how much the games disagree with them.
    pub anchors: Vec<Anchored>,
    #[serde(skip)]
    pub(crate) ratings: Ratings,
    /// The nodes, by their numbers in `ratings`.
    #[serde(skip)]
    pub(crate) nodes: Vec<usize>,
    /// Seconds of a game between two nodes, and of any game.
    #[serde(skip)]
    pub(crate) seconds: Seconds,
}

/// How long games take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seconds {
    pub of_pair: BTreeMap<(usize, usize), f64>,
    pub of_any: Option<f64>,
}

/// A player's rating.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its number in [`Ledger::nodes`].
    pub node: usize,
    /// Elo: relative to the mean of the group, or on the scale of the anchors. The error is relative to the same.
    pub elo: Estimate,
    /// Games, or with a half-life their weight.
    pub games: f64,
    /// Points a game, 0..=1.
    pub score: Option<f64>,
}

/// An anchor of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Anchored {
    /// Its number in [`Ledger::nodes`].
    pub node: usize,
    /// The Elo that was given.
    pub elo: f64,
    /// Elo by the games, on the scale that fits all anchors of the group best (least squares), minus the Elo that was
    /// given; 0 where there is one anchor.
    pub off: f64,
}

impl Ledger {
    /// Rates all players. The mean of a group is 0, or the Elo of its anchors are met as well as possible.
    ///
    /// # Errors
    /// When an anchor is no player.
    pub fn rate(&self, anchors: &[Anchor]) -> Result<Rated, AnchorError> {
        let mut fixed = BTreeMap::new();
        for anchor in anchors {
            let called = (0..self.nodes.len()).filter(|&node| self.nodes[node].is_called(&anchor.name));
            let before = fixed.len();
            fixed.extend(called.map(|node| (node, anchor.elo)));
            if fixed.len() == before {
                return Err(AnchorError::Unknown(anchor.name.clone()));
            }
        }
        let mut groups: Vec<Group> =
            self.connected().into_iter().map(|nodes| self.group(nodes, &fixed)).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.games));
        Ok(Rated { groups })
    }

    /// The sets of nodes that games connect.
    fn connected(&self) -> Vec<Vec<usize>> {
        let mut root: Vec<usize> = (0..self.nodes.len()).collect();
        fn find(root: &mut [usize], mut node: usize) -> usize {
            while root[node] != node {
                root[node] = root[root[node]];
                node = root[node];
            }
            node
        }
        for &(black, white, _) in self.meetings.keys() {
            let (a, b) = (find(&mut root, black), find(&mut root, white));
            root[a.max(b)] = a.min(b);
        }
        let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &(black, white, _) in self.meetings.keys() {
            for node in [black, white] {
                let set = sets.entry(find(&mut root, node)).or_default();
                set.push(node);
            }
        }
        sets.into_values()
            .map(|mut set| {
                set.sort_unstable();
                set.dedup();
                set
            })
            .collect()
    }

    /// The weight of a game of a day.
    fn weight(&self, day: i64, newest: i64) -> f64 {
        self.half_life.map_or(1.0, |half_life| 0.5_f64.powf((newest - day) as f64 / half_life))
    }

    fn group(&self, nodes: Vec<usize>, fixed: &BTreeMap<usize, f64>) -> Group {
        let newest = self.meetings.keys().map(|&(_, _, day)| day).max().unwrap_or_default();
        let dated = self.meetings.keys().map(|&(_, _, day)| day).filter(|&day| day > 0);
        let oldest = dated.min().unwrap_or_default();
        let number: BTreeMap<usize, usize> = nodes.iter().enumerate().map(|(at, &node)| (node, at)).collect();
        let (mut table, mut games) = (CrossTable::new(nodes.len()), 0);
        let mut times: BTreeMap<(usize, usize), (u64, f64)> = BTreeMap::new();
        for (&(black, white, day), meeting) in &self.meetings {
            let (Some(&black), Some(&white)) = (number.get(&black), number.get(&white)) else { continue };
            let weight = self.weight(day.max(oldest), newest);
            let [black_wins, draws, white_wins] = meeting.results.map(|games| games as f64 * weight);
            // Two players of the table, and counts: nothing that it refuses.
            let _refused = table.add(black, white, Results { black_wins, draws, white_wins });
            games += meeting.results.iter().sum::<u64>();
            let sum = times.entry((black.min(white), black.max(white))).or_default();
            *sum = (sum.0 + meeting.timed.0, sum.1 + meeting.timed.1);
        }
        let ratings = fit(&table);
        let scale = Scale::of(&ratings, &nodes, fixed);
        let mut rows: Vec<Row> = (0..nodes.len()).map(|at| scale.row(&ratings, &nodes, at)).collect();
        rows.sort_by(|a, b| b.elo.value().unwrap_or(f64::MIN).total_cmp(&a.elo.value().unwrap_or(f64::MIN)));
        let (black_advantage, draw_ratio) = (ratings.black_advantage, ratings.draw_ratio);
        let seconds = Seconds::of(&times);
        Group { rows, games, black_advantage, draw_ratio, anchors: scale.anchors, ratings, nodes, seconds }
    }
}

impl Seconds {
    fn of(times: &BTreeMap<(usize, usize), (u64, f64)>) -> Self {
        let mean = |(games, seconds): (u64, f64)| (games > 0).then(|| (seconds / games as f64).max(0.001));
        let all = times.values().fold((0, 0.0), |sum, time| (sum.0 + time.0, sum.1 + time.1));
        let of_pair = times.iter().filter_map(|(&pair, &time)| Some((pair, mean(time)?))).collect();
        Self { of_pair, of_any: mean(all) }
    }
}

/// Where the Elo of a group is zero.
struct Scale {
    shift: f64,
    /// The anchors' numbers in the ratings.
    at: Vec<usize>,
    anchors: Vec<Anchored>,
    /// Mean variance of the anchors' differences.
    spread: f64,
}

impl Scale {
    fn of(ratings: &Ratings, nodes: &[usize], fixed: &BTreeMap<usize, f64>) -> Self {
        let of_node = |at: &usize| Some((*at, ratings.players[*at].elo.value()?, *fixed.get(&nodes[*at])?));
        let found: Vec<(usize, f64, f64)> = (0..nodes.len()).filter_map(|at| of_node(&at)).collect();
        let count = found.len().max(1) as f64;
        let shift = found.iter().map(|(_, by_games, given)| given - by_games).sum::<f64>() / count;
        let anchored = |&(at, by_games, elo): &(usize, f64, f64)| Anchored {
            node: nodes[at],
            elo,
            off: by_games + shift - elo,
        };
        let anchors = found.iter().map(anchored).collect();
        let at: Vec<usize> = found.iter().map(|&(at, ..)| at).collect();
        let pairs = at.iter().flat_map(|&a| at.iter().map(move |&b| (a, b)));
        let spread = pairs.filter_map(|(a, b)| ratings.variance_between(a, b)).sum::<f64>() / (count * count);
        Self { shift, at, anchors, spread }
    }

    fn row(&self, ratings: &Ratings, nodes: &[usize], at: usize) -> Row {
        let player = &ratings.players[at];
        Row { node: nodes[at], elo: self.shifted(ratings, at), games: player.games, score: player.score }
    }

    /// The rating of a player on the scale of the anchors, with its error against their mean.
    fn shifted(&self, ratings: &Ratings, at: usize) -> Estimate {
        let elo = ratings.players[at].elo;
        if self.at.is_empty() {
            return elo;
        }
        let between = self.at.iter().filter_map(|&anchor| ratings.variance_between(at, anchor));
        let variance = between.sum::<f64>() / self.at.len() as f64 - self.spread / 2.0;
        let wide = Z_95 * variance.max(0.0).sqrt();
        match elo {
            Estimate::Measured { value, error } => {
                Estimate::Measured { value: value + self.shift, error: error.map(|_| wide) }
            }
            Estimate::Tentative { value, .. } => {
                Estimate::Tentative { value: value + self.shift, error: wide }
            }
            other => other,
        }
    }
}
