//! A stream as it is known or stored, and what has to be so at any time.

use super::*;

/// A stream: what is in the log, and the moves of each game.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) log: Vec<Stamped>,
    pub(super) moves: BTreeMap<GameId, Vec<Stamped>>,
}

impl Record {
    pub(super) fn take(&mut self, stamped: &Stamped) {
        match &stamped.entry {
            Entry::Moved(Moved { game, .. }) => self.moves.entry(*game).or_default().push(stamped.clone()),
            _ => self.log.push(stamped.clone()),
        }
    }

    /// The log in words.
    pub(super) fn story(&self) -> String {
        let line = |stamped: &Stamped| match &stamped.entry {
            Entry::GameStarted(it) => format!("  {} begins: {:?}\n", it.game.0, it.pairing),
            Entry::Operator(it) => format!("  {} orders {}: {:?}\n", it.by, it.number, it.action),
            Entry::GameEnded(it) => {
                let Pairing { index, attempt, .. } = it.pairing;
                format!("  {} ends, {index} attempt {attempt}: {} {}\n", it.game.0, it.outcome, it.replayed)
            }
            other => format!("  {other:?}\n"),
        };
        self.log.iter().map(line).collect()
    }

    pub(super) fn count(&self) -> u64 {
        (self.log.len() + self.moves.values().map(Vec::len).sum::<usize>()) as u64
    }

    /// Whether it begins with another one.
    ///
    /// # Errors
    /// What of the other one is missing, or is another now.
    pub(super) fn goes_on_from(&self, earlier: &Self) -> Result<(), String> {
        let gone =
            |what: &Stamped, now: Option<&Stamped>| format!("{what:?} was committed; now there is {now:?}");
        for (at, entry) in earlier.log.iter().enumerate() {
            if self.log.get(at) != Some(entry) {
                return Err(gone(entry, self.log.get(at)));
            }
        }
        for (game, moves) in &earlier.moves {
            let now = self.moves.get(game).map(Vec::as_slice).unwrap_or_default();
            for (at, entry) in moves.iter().enumerate() {
                if now.get(at) != Some(entry) {
                    return Err(gone(entry, now.get(at)));
                }
            }
        }
        Ok(())
    }

    /// Entries at the end of the log that are ends of games which were broken off.
    pub(super) fn broken_off(&self) -> u64 {
        let is_broken_off = |stamped: &&Stamped| match &stamped.entry {
            Entry::GameEnded(ended) => ended.outcome == STOPPED,
            _ => false,
        };
        self.log.iter().rev().take_while(is_broken_off).count() as u64
    }

    pub(super) fn ended(&self, game: GameId) -> Option<Outcome> {
        self.log.iter().find_map(|stamped| match &stamped.entry {
            Entry::GameEnded(ended) if ended.game == game => Some(ended.outcome),
            _ => None,
        })
    }

    /// Whether each number is one game, and each place of the schedule has the same two players as ever.
    ///
    /// # Errors
    /// What is not so.
    pub(super) fn check_places(&self) -> Result<(), String> {
        let (mut places, mut ends) = (BTreeMap::new(), BTreeSet::new());
        for stamped in &self.log {
            let (game, pairing) = match &stamped.entry {
                Entry::GameStarted(started) => (started.game, started.pairing),
                Entry::GameEnded(ended) if ends.insert(ended.game) => (ended.game, ended.pairing),
                Entry::GameEnded(ended) => return Err(format!("game {} ends twice", ended.game.0)),
                _ => continue,
            };
            let Pairing { stage, index, round, pair, black, white, .. } = pairing;
            let first = *places.entry((stage, index)).or_insert((round, pair, black, white));
            if first != (round, pair, black, white) {
                return Err(format!("game {}: {pairing:?} was paired as {first:?} before", game.0));
            }
        }
        Ok(())
    }
}
