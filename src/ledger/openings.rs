//! What games of many events say about the lines that they began from.
//!
//! Players have the ratings of the ledger, so every game between two of known difference says something about its line:
//! whom it favours, and how well it tells the two apart ([`Worths`]). Lines that lead to one position are one line.

use super::{Ledger, Rated, read::Reading};
use journal::{GameFilter, GameRow, GameState, Store, StoreError, Tally};
use referee::{
    Color,
    opening::{
        Family, Opening,
        worth::{LineGames, LineRecord, Worth, Worths, information},
    },
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Lines and their games.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    known: Vec<Line>,
    by_goal: HashMap<String, usize>,
    by_moves: HashMap<(String, String), Option<usize>>,
}

#[derive(Clone, Debug)]
struct Line {
    start: String,
    moves: String,
    family: Family,
    /// Games won by black, drawn, won by white, by the nodes of black and white.
    games: BTreeMap<(usize, usize), [u64; 3]>,
    level: (u64, u64),
}

/// The first game of a pair.
struct Half {
    line: usize,
    players: [u32; 2],
    black_half_points: u8,
}

/// What was learned of all lines.
#[derive(Clone, Debug, Serialize)]
pub struct Learned {
    /// All of them together.
    #[serde(flatten)]
    pub worths: Worths,
    /// The lines, in the order in which they were first played.
    pub lines: Vec<LearnedLine>,
}

/// What was learned of a line.
#[derive(Clone, Debug, Serialize)]
pub struct LearnedLine {
    /// Its start position as SFEN.
    pub start: String,
    /// Its moves in USI, separated by blanks.
    pub moves: String,
    /// Its family.
    #[serde(serialize_with = "as_text")]
    pub family: Family,
    /// Games that began from it, between rated players.
    pub games: u64,
    /// What it is worth.
    #[serde(flatten)]
    pub worth: Worth,
}

fn as_text<S: serde::Serializer>(family: &Family, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(family)
}

impl Ledger {
    /// The ledger, which counts games by the lines that they begin from as well.
    #[must_use]
    pub fn with_lines(self) -> Self {
        Self { lines: Some(Lines::default()), ..self }
    }

    /// Counts the games of an event by their lines. Its players are nodes already.
    pub(crate) fn read_lines(
        &mut self,
        store: &Store,
        reading: &Reading<'_>,
        moments: &[i64],
    ) -> Result<(), StoreError> {
        let Some(mut lines) = self.lines.take() else { return Ok(()) };
        let mut halves = HashMap::new();
        let counted = GameFilter { state: Some(GameState::Counted), ..GameFilter::default() };
        let read = store.games(reading.event.id, &counted, |row| {
            let until = moments.get(moments.partition_point(|&moment| Some(moment) <= row.ended_at));
            let nodes = self.nodes_of(reading, &row, until.copied().unwrap_or(i64::MAX));
            lines.add(&row, nodes, &mut halves);
            Ok(())
        });
        self.lines = Some(lines);
        read
    }

    fn nodes_of(&mut self, reading: &Reading<'_>, row: &GameRow, until: i64) -> [usize; 2] {
        let (black, white) = (row.pairing.black, row.pairing.white);
        let times = row.times.clone();
        let tally = Tally {
            black,
            white,
            times,
            machine: None,
            part: 0,
            day: 0,
            results: [0; 3],
            moves: vec![],
            timed: (0, 0.0),
        };
        [(Color::Black, black), (Color::White, white)]
            .map(|(color, player)| self.node(reading, &tally, color, player, until))
    }

    /// What the games say about lines, with the players' ratings.
    #[must_use]
    pub fn learn(&self, rated: &Rated) -> Learned {
        let rows = rated
            .groups
            .iter()
            .enumerate()
            .flat_map(|(at, group)| group.rows.iter().map(move |row| (at, row)));
        let elo: HashMap<usize, (usize, f64)> =
            rows.filter_map(|(at, row)| Some((row.node, (at, row.elo.value()?)))).collect();
        let gap = |black: usize, white: usize| match black == white {
            true => Some(0.0),
            false => {
                let (black, white) = (elo.get(&black)?, elo.get(&white)?);
                (black.0 == white.0).then_some(black.1 - white.1)
            }
        };
        let known = self.lines.iter().flat_map(|lines| &lines.known);
        let mut families = BTreeMap::new();
        let record = |line: &Line| {
            let next = families.len();
            let family = *families.entry(line.family).or_insert(next);
            let games = line.games.iter().filter_map(|(&(black, white), &results)| {
                Some(LineGames { gap: gap(black, white)?, results })
            });
            LineRecord { family, games: games.collect(), level: line.level }
        };
        let records: Vec<LineRecord> = known.clone().map(record).collect();
        let worths = Worths::learn(&records);
        let line = |(line, (record, worth)): (&Line, (&LineRecord, &Worth))| LearnedLine {
            start: line.start.clone(),
            moves: line.moves.clone(),
            family: line.family,
            games: record.games.iter().flat_map(|games| games.results).sum(),
            worth: *worth,
        };
        let lines = known.zip(records.iter().zip(&worths.lines)).map(line).collect();
        Learned { worths, lines }
    }
}

impl Lines {
    fn add(&mut self, row: &GameRow, nodes: [usize; 2], halves: &mut HashMap<(u8, u64), Half>) {
        let (Some(start), Some(black)) =
            (&row.start, row.outcome.and_then(|outcome| outcome.black_half_points()))
        else {
            return;
        };
        let Some(line) = self.number(start, row.opening.as_deref().unwrap_or_default()) else { return };
        let pairing = &row.pairing;
        let known = &mut self.known[line];
        known.games.entry((nodes[0], nodes[1])).or_default()[usize::from(2 - black.min(2))] += 1;
        let players = [pairing.black.0, pairing.white.0];
        let key = (pairing.stage, pairing.pair);
        match halves.remove(&key) {
            Some(half) if half.line == line && half.players == [players[1], players[0]] => {
                known.level.0 += u64::from(half.black_half_points == black);
                known.level.1 += 1;
            }
            _ => {
                halves.insert(key, Half { line, players, black_half_points: black });
            }
        }
    }

    /// The number of a line; `None` if its moves are none.
    fn number(&mut self, start: &str, moves: &str) -> Option<usize> {
        let key = (start.to_owned(), moves.to_owned());
        if let Some(&known) = self.by_moves.get(&key) {
            return known;
        }
        let found = Opening::of_usi(start, moves).and_then(|opening| opening.goal()).map(|goal| {
            *self.by_goal.entry(goal).or_insert_with_key(|goal| {
                let (start, moves) = key.clone();
                let (family, games) = (Family::of(goal), BTreeMap::new());
                self.known.push(Line { start, moves, family, games, level: (0, 0) });
                self.known.len() - 1
            })
        });
        self.by_moves.insert(key, found);
        found
    }
}

impl Learned {
    /// A set of so many lines. Of each family the best ones, as many as its share of all lines; and the better the earlier,
    /// with the families mixed. Best are lines whose pairs say most, or with a `bias` those that are nearest to it, in
    /// favour of either colour.
    #[must_use]
    pub fn choose(&self, count: usize, bias: Option<f64>) -> Vec<usize> {
        let mut families: BTreeMap<Family, Vec<usize>> = BTreeMap::new();
        for (at, line) in self.lines.iter().enumerate() {
            families.entry(line.family).or_default().push(at);
        }
        let cost = |line: &usize| match bias {
            Some(bias) => self.lines[*line].worth.distance(bias),
            None => -self.lines[*line].worth.information,
        };
        let quotas = quotas(&families, count.min(self.lines.len()), self.lines.len());
        let mut chosen: Vec<(f64, usize)> = vec![];
        for (mut lines, quota) in families.into_values().zip(quotas) {
            lines.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
            let placed = lines.into_iter().take(quota).enumerate();
            chosen.extend(placed.map(|(place, line)| ((place as f64 + 0.5) / quota as f64, line)));
        }
        chosen.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        chosen.into_iter().map(|(_, line)| line).collect()
    }

    /// How much a pair from the chosen lines is expected to say about a difference, relative to one from all lines. As many
    /// times fewer games bring a sequential test to its end.
    #[must_use]
    pub fn gain(&self, chosen: &[usize]) -> f64 {
        let of = |lines: &[Worth]| information(lines);
        let chosen: Vec<Worth> = chosen.iter().map(|&line| self.lines[line].worth).collect();
        match of(&self.worths.lines) {
            all if all > 0.0 => of(&chosen) / all,
            _ => 1.0,
        }
    }
}

/// How many lines each family has of those that are chosen: its share of all, the largest remainders rounded up.
fn quotas(families: &BTreeMap<Family, Vec<usize>>, count: usize, all: usize) -> Vec<usize> {
    let shares: Vec<f64> =
        families.values().map(|lines| count as f64 * lines.len() as f64 / all.max(1) as f64).collect();
    let mut quotas: Vec<usize> = shares.iter().map(|share| *share as usize).collect();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|&a, &b| shares[b].fract().total_cmp(&shares[a].fract()));
    let missing = count.saturating_sub(quotas.iter().sum());
    order.iter().take(missing).for_each(|&at| quotas[at] += 1);
    quotas
}

#[cfg(test)]
mod tests;
