//! Databases into the ledger.

use super::{
    Ledger,
    node::{Key, Node, Who},
};
use journal::{EventSummary, Fineness, GameFilter, GameState, KnownIdentity, Store, StoreError, Tally};
use plan::{
    stored::{StoredEngine, StoredPlan},
    time_text::control_text,
};
use referee::{Color, distinct::GameKey, entry::PlayerId};
use std::{
    collections::{BTreeSet, HashSet, hash_map::Entry},
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

/// Games at the beginning of an event that are compared with those of other events.
const BEGIN: usize = 20;
/// Different lengths that these have at least.
const LENGTHS: usize = 10;

/// Why a database is not in the ledger.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An event that is not in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub event: String,
    /// Its database.
    pub file: PathBuf,
    /// Why it is not.
    pub reason: Reason,
}

/// Why an event is not in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It tunes options: its player is another in every game.
    Tuning,
    /// It was read from another file.
    Copy,
    /// The same builds play the games of an event again that was read before: engines that are limited by nodes play the same
    /// games wherever plan and seed are the same, and the same games say nothing new.
    Repeat {
        /// The database of that event.
        of: PathBuf,
        /// Games that it has beyond those of that event.
        more: u64,
    },
}

/// An event that is being read.
pub(crate) struct Reading<'a> {
    pub event: &'a EventSummary,
    plan: Option<StoredPlan>,
    identities: Vec<KnownIdentity>,
    /// Nodes that have played in it.
    seen: HashSet<usize>,
}

impl Ledger {
    /// Adds the events of a database. An event that is in the ledger already, as in a copy of the database, is left out
    /// ([`Ledger::left_out`]), and so is one that plays the same games again; and tunings, whose player is another in every
    /// game.
    ///
    /// # Errors
    /// When the database cannot be read; what was read of it before stays in the ledger.
    pub fn read(&mut self, path: &Path) -> Result<(), LedgerError> {
        self.read_some(path, |_| true)
    }

    /// Adds those events of a database whose names are `wanted`, as [`Ledger::read`] does.
    ///
    /// # Errors
    /// As of [`Ledger::read`].
    pub fn read_some(&mut self, path: &Path, wanted: impl Fn(&str) -> bool) -> Result<(), LedgerError> {
        let store = Store::read(path)?;
        let mut events = store.events()?;
        events.retain(|event| wanted(&event.name));
        self.counts.databases += u64::from(!events.is_empty());
        for event in &events {
            let plan = StoredPlan::from_json(&event.plan).ok();
            let identities = store.identities(event.id)?;
            let mut reading = Reading { event, plan, identities, seen: HashSet::new() };
            let reason = self.reason(path, &store, &reading)?;
            match reason {
                Some(reason) => {
                    let (event, file) = (event.name.clone(), path.to_owned());
                    self.left_out.push(LeftOut { event, file, reason });
                }
                None => self.read_event(&store, &mut reading)?,
            }
        }
        Ok(())
    }

    /// Why an event is left out; `None`: it is not.
    fn reason(
        &mut self,
        path: &Path,
        store: &Store,
        reading: &Reading<'_>,
    ) -> Result<Option<Reason>, StoreError> {
        let event = reading.event;
        if reading.plan.as_ref().is_some_and(|plan| plan.tune.is_some()) {
            return Ok(Some(Reason::Tuning));
        }
        if !self.events.insert((event.name.clone(), event.created_at)) {
            return Ok(Some(Reason::Copy));
        }
        let Some(begin) = self.begin(store, reading)? else { return Ok(None) };
        Ok(match self.begins.entry(begin) {
            Entry::Vacant(place) => {
                place.insert((path.to_owned(), event.counted));
                None
            }
            Entry::Occupied(known) => {
                let (of, games) = known.get();
                Some(Reason::Repeat { of: of.clone(), more: event.counted.saturating_sub(*games) })
            }
        })
    }

    /// A hash of the first games of an event: builds, players, openings, lengths and results. `None` where they are few, or so
    /// much alike that those of another event could be the same by chance, as games that all end at a limit of moves.
    fn begin(&self, store: &Store, reading: &Reading<'_>) -> Result<Option<u64>, StoreError> {
        let (mut hasher, mut lengths, mut games) = (DefaultHasher::new(), BTreeSet::new(), 0);
        // What played in the first run: another build, or one with other options, is another player though it plays alike.
        let until = reading.identities.iter().map(|known| known.since + 1).min().unwrap_or(i64::MAX);
        for (player, name) in (0..).map(PlayerId).zip(&reading.event.players) {
            self.who(reading, player, name, until).hash(&mut hasher);
        }
        let counted = GameFilter { state: Some(GameState::Counted), ..GameFilter::default() };
        let read = store.games::<Option<StoreError>>(reading.event.id, &counted, |row| {
            let result = row.outcome.and_then(|outcome| outcome.black_half_points());
            (&row.black, &row.white, &row.start, &row.opening, row.plies, result).hash(&mut hasher);
            lengths.insert(row.plies);
            games += 1;
            if games < BEGIN { Ok(()) } else { Err(None) }
        });
        match read {
            Err(Some(error)) => Err(error),
            _ => Ok((games == BEGIN && lengths.len() >= LENGTHS).then(|| hasher.finish())),
        }
    }

    fn read_event(&mut self, store: &Store, reading: &mut Reading<'_>) -> Result<(), LedgerError> {
        // What plays changes only where a run begins.
        let mut begins: Vec<i64> = reading.identities.iter().map(|known| known.since).collect();
        begins.sort_unstable();
        begins.dedup();
        let moments = begins.get(1..).unwrap_or_default();
        let fineness = Fineness { moments, by_day: self.half_life.is_some() };
        for tally in store.tallies(reading.event.id, fineness)? {
            let until = moments.get(tally.part).copied().unwrap_or(i64::MAX);
            self.add(reading, &tally, until);
        }
        for &node in &reading.seen {
            self.nodes[node].events += 1;
        }
        self.counts.events += 1;
        Ok(())
    }

    fn add(&mut self, reading: &mut Reading<'_>, tally: &Tally, until: i64) {
        let [black, white] = [(Color::Black, tally.black), (Color::White, tally.white)]
            .map(|(color, player)| self.node(reading, tally, color, player, until));
        if black == white {
            self.counts.own_games += tally.results.iter().sum::<u64>();
            return;
        }
        let results = self.distinct_results(tally, [black, white]);
        self.counts.games += results.iter().sum::<u64>();
        reading.seen.extend([black, white]);
        let meeting = self.meetings.entry((black, white, tally.day)).or_default();
        for (sum, more) in meeting.results.iter_mut().zip(results) {
            *sum += more;
        }
        meeting.timed.0 += tally.timed.0;
        meeting.timed.1 += tally.timed.1;
    }

    /// The results of those games that repeat no other one of the ledger move for move.
    fn distinct_results(&mut self, tally: &Tally, nodes: [usize; 2]) -> [u64; 3] {
        let (mut results, players) = (tally.results, nodes.map(|node| node as u64));
        for &(place, ended, moves) in &tally.moves {
            if !self.distinct.is_new(Some(GameKey::new(players, ended, moves))) {
                results[place] -= 1;
                self.counts.repeats += 1;
            }
        }
        results
    }

    fn node(
        &mut self,
        reading: &Reading<'_>,
        tally: &Tally,
        color: Color,
        player: PlayerId,
        until: i64,
    ) -> usize {
        let name = reading.event.players.get(player.0 as usize).map_or("", String::as_str);
        let key = Key {
            who: self.who(reading, player, name, until),
            clock: if self.apart.clock { reading.clock(tally, color) } else { String::new() },
            machine: tally.machine.clone().filter(|_| self.apart.machine).unwrap_or_default(),
        };
        if let Some(&node) = self.keys.get(&key) {
            let found = &mut self.nodes[node];
            if found.name != name && !found.also.iter().any(|also| also == name) {
                found.also.push(name.to_owned());
            }
            return node;
        }
        self.nodes.push(Node::new(&key, name));
        self.keys.insert(key, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    fn who(&self, reading: &Reading<'_>, player: PlayerId, name: &str, until: i64) -> Who {
        let by_name = || Who::Name(name.to_owned());
        if !self.apart.build {
            return by_name();
        }
        let is_its = |known: &&KnownIdentity| known.player == player && known.since < until;
        let Some(known) = reading.identities.iter().rfind(is_its) else { return by_name() };
        let identity = &known.identity;
        let Some(program) = identity.hash.clone() else { return by_name() };
        let mut files: Vec<String> = identity.files.iter().map(|file| file.sha256.clone()).collect();
        files.sort_unstable();
        let engine = reading.engine(player);
        let settings = engine.map(StoredEngine::settings).unwrap_or_default();
        Who::Build(std::iter::once(program).chain(files).collect(), settings)
    }
}

impl Reading<'_> {
    fn engine(&self, player: PlayerId) -> Option<&StoredEngine> {
        self.plan.as_ref()?.engines.get(player.0 as usize)
    }

    /// The clock of a player. Another machine has clocks of its own speed, which stand for those of the plan. Where the
    /// colours have clocks of their own, both are the clock of each player: it plays both colours.
    fn clock(&self, tally: &Tally, color: Color) -> String {
        let planned = [tally.black, tally.white].map(|player| self.engine(player)?.time);
        let of_game = tally.times.as_deref().map(|times| times.map(Some));
        let times = match (tally.machine.is_some(), of_game) {
            (true, _) if planned[0].is_some() => planned,
            (_, of_game) => of_game.unwrap_or(planned),
        };
        let [black, white] = times.map(|time| time.map(|time| control_text(&time)).unwrap_or_default());
        let is_by_colour = planned[0].is_some() && planned[0] == planned[1] && black != white;
        match color {
            _ if is_by_colour => format!("black {black}, white {white}"),
            Color::Black => black,
            Color::White => white,
        }
    }
}
