//! Results of an event, counted by who met whom.

use super::{EventId, Store, StoreError, operations::disqualified, row};
use referee::{Outcome, clock::TimeControl, entry::PlayerId};
use rusqlite::Row;
use std::collections::HashMap;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// The games of one player with black against another, with the same clocks, on the same machine, within a day.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// Black.
    pub black: PlayerId,
    /// White.
    pub white: PlayerId,
    /// Time controls, black's first, where the plan does not have them.
    pub times: Option<Box<[TimeControl; 2]>>,
    /// The machine, if it was another than the manager's.
    pub machine: Option<String>,
    /// The part of the event in which the games ended: how many of the given moments had passed.
    pub part: usize,
    /// Day of the ends, counted from 1970-01-01 UTC; 0 where days are not told apart.
    pub day: i64,
    /// Games won by black, drawn, won by white.
    pub results: [u64; 3],
    /// What each of those games consists of, where that is known: its place in the results, its ending before any ruling and
    /// the hash of its moves.
    pub moves: Vec<(usize, Outcome, u64)>,
    /// Games with a known duration, and their seconds together.
    pub timed: (u64, f64),
}

/// How finely games are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fineness<'a> {
    /// Moments in ascending order, in ms since 1970-01-01 UTC. Games that end before and after one are told apart.
    pub moments: &'a [i64],
    /// True if days are told apart.
    pub by_day: bool,
}

/// What the games of a count have in common. Texts are numbers of a list, because most games have the same.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    players: [u32; 2],
    times: usize,
    machine: usize,
    part: usize,
    day: i64,
}

/// The results of a count, what its games consist of, and the known durations in ms.
#[derive(Default)]
struct Count {
    results: [u64; 3],
    moves: Vec<(usize, Outcome, u64)>,
    timed: (u64, i64),
}

/// Texts that come again and again, each with its number.
#[derive(Default)]
struct Texts(Vec<Option<String>>);

impl Texts {
    fn number(&mut self, text: Option<&str>) -> usize {
        let known = self.0.iter().position(|known| known.as_deref() == text);
        known.unwrap_or_else(|| {
            self.0.push(text.map(str::to_owned));
            self.0.len() - 1
        })
    }
}

/// The counts of an event that is read.
#[derive(Default)]
struct Counting {
    times: Texts,
    machines: Texts,
    counts: HashMap<Key, Count>,
}

impl Store {
    /// Counts the games of an event that count, for players none of whom is disqualified, in one pass over them. Memory holds the counts, and of each game the hash of
    /// its moves.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tallies(&self, event: EventId, fineness: Fineness<'_>) -> Result<Vec<Tally>, StoreError> {
        self.database().check(|conn| {
            let sql = "SELECT black, white, times, machine, coalesce(ended_result, result),
                coalesce(ended_cause, cause), started_at, ended_at, moves_hash, result FROM games WHERE event = ?1 AND state = 'counted'";
            let out = disqualified(conn, event.0)?;
            let mut games = conn.prepare_cached(sql)?;
            let mut rows = games.query([event.0])?;
            let mut counting = Counting::default();
            while let Some(row) = rows.next()? {
                if ![row.get(0)?, row.get(1)?].map(PlayerId).iter().any(|player| out.contains(player)) {
                    counting.add(row, fineness)?;
                }
            }
            counting.tallies()
        })
    }
}

impl Counting {
    fn add(&mut self, row: &Row<'_>, fineness: Fineness<'_>) -> rusqlite::Result<()> {
        let text = |column| row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from);
        let (started, ended): (Option<i64>, i64) = (row.get(6)?, row.get(7)?);
        let key = Key {
            players: [row.get(0)?, row.get(1)?],
            times: self.times.number(text(2)?),
            machine: self.machines.number(text(3)?),
            part: fineness.moments.partition_point(|&moment| moment <= ended),
            day: if fineness.by_day && started.is_some() { ended / DAY } else { 0 },
        };
        let result = text(9)?;
        let count = self.counts.entry(key).or_default();
        let place = ["black", "draw", "white"].iter().position(|word| result == Some(word));
        if let Some(place) = place {
            count.results[place] += 1;
            // What was not over has no game that it repeats, whatever it was ruled to have ended with.
            let ended = row::outcome(row, 4)?.filter(|ended| ended.counts());
            if let (Some(ended), Some(moves)) = (ended, row.get::<_, Option<i64>>(8)?) {
                count.moves.push((place, ended, moves.cast_unsigned()));
            }
        }
        if let Some(started) = started.filter(|&started| started <= ended) {
            count.timed = (count.timed.0 + 1, count.timed.1.saturating_add(ended.saturating_sub(started)));
        }
        Ok(())
    }

    /// The counts in an order that does not depend on the memory.
    fn tallies(self) -> rusqlite::Result<Vec<Tally>> {
        let Self { times, machines, counts } = self;
        let clocks = |text: &Option<String>| text.as_deref().map(|json| row::clocks(json, 2)).transpose();
        let clocks = times.0.iter().map(clocks).collect::<rusqlite::Result<Vec<_>>>()?;
        let mut counts: Vec<(Key, Count)> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(Key { players, times, machine, part, day }, _)| {
            (*part, *players, *times, *machine, *day)
        });
        let tally = |(Key { players, times, machine, part, day }, Count { results, moves, timed })| {
            let [black, white] = players.map(PlayerId);
            let (times, machine) = (clocks[times].clone(), machines.0[machine].clone());
            let timed = (timed.0, timed.1 as f64 / 1000.0);
            Tally { black, white, times, machine, part, day, results, moves, timed }
        };
        Ok(counts.into_iter().map(tally).collect())
    }
}
