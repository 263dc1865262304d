//! The games that go to other machines, and what comes back.

use super::{Dispatcher, option_records};
use crate::{
    agenda::Place,
    away::{Away, numbered},
    error::RunError,
    note::{DeskNote, PlayedJob},
};
use referee::{
    entry::{Entry, GameId, Stamped},
    lease::{Committed, LeaseId},
    sink::{GameOptions, SideRecord},
};

impl Dispatcher<'_> {
    /// Opens the desk, and takes over what machines still have of an earlier run, before anything is handed out.
    pub(super) fn open_desk(&mut self) -> Result<(), RunError> {
        let Some(away) = &mut self.context.away else { return Ok(()) };
        let leases = away.open(self.notes.clone(), self.journal.sink())?;
        let mut search = self.agenda.search(leases);
        while let Some(bye) = self.agenda.find(&mut search) {
            self.happened(bye);
        }
        for lease in self.agenda.adopt(search) {
            let fixtures = lease.games.iter().map(|game| self.fixture(GameId(0), *game).0).collect();
            if let Some(away) = &mut self.context.away {
                away.adopt(lease, fixtures);
            }
        }
        self.context.away.as_mut().map_or(Ok(()), Away::begin)
    }

    /// True if games are away whose results are awaited.
    pub(super) fn awaits_machines(&self) -> bool {
        self.context.games_away().next().is_some() && !self.shutdown.is_adjourning()
    }

    /// Gives a pair to a machine; false if there is none to give.
    pub(super) fn send_away(&mut self) -> bool {
        let Some(first) = self.next_game(Place::Elsewhere) else { return false };
        let mut games = vec![first];
        games.extend(self.next_game(Place::With(first)));
        let fixtures = games.iter().map(|game| self.fixture(GameId(0), *game).0).collect();
        let is_given = self.context.away.as_mut().is_some_and(|away| away.give(&games, fixtures));
        match is_given {
            true => self.watchdog.calm(),
            false => self.agenda.put_back(games),
        }
        is_given
    }

    pub(super) fn heard(&mut self, note: DeskNote) {
        match note {
            DeskNote::Free => {}
            DeskNote::Played(job) => self.came_back(*job),
            DeskNote::Lost(lease) => self.lost(lease),
            DeskNote::Hinders(machine, why) => self.drop_hindering(&machine, &why),
            DeskNote::Fault(player, text) => self.happened(Entry::Fault { player, text }),
        }
    }

    /// Hands the games of a lease out again, before all others; after a verdict they are not played any more.
    fn lost(&mut self, lease: LeaseId) {
        let games = self.context.away.as_mut().and_then(|away| away.take(lease));
        self.agenda.put_back(games.into_iter().flatten());
    }

    /// Stores the games of a lease in one transaction with the lease itself.
    fn came_back(&mut self, job: PlayedJob) {
        let PlayedJob { lease, machine, sha256, games, kept } = job;
        // Its answer was on the way when the operator dropped it.
        if self.is_dropped(&machine) {
            return self.lost(lease);
        }
        let Some(pairings) = self.context.away.as_mut().and_then(|away| away.take(lease)) else { return };
        let draws: Vec<u32> = pairings.iter().map(|game| self.agenda.standings.replays(game)).collect();
        let options: Vec<[GameOptions; 2]> =
            pairings.iter().map(|pairing| self.context.options(pairing)).collect();
        let (mut batch, mut numbers, mut records) = (vec![], vec![], vec![]);
        for (entries, options) in games.into_iter().zip(&options) {
            let number = self.fixtures.number();
            numbers.push(number);
            records.extend(option_records(number, options));
            for Stamped { at, entry } in entries {
                let entry = numbered(entry, number);
                self.fold_into(Stamped { at: at.min(journal::now()), entry }, &mut batch);
            }
        }
        let committed = Committed { lease, machine, sha256, games: numbers };
        records.push(SideRecord::Committed(Box::new(committed)));
        self.journal.append_with(batch, records);
        self.journal.sink().when_kept(kept);
        pairings.into_iter().zip(draws).for_each(|(pairing, draws)| self.return_draw(pairing, draws));
    }

    /// Tells the machines that no further pair begins, once.
    pub(super) fn stop_machines(&mut self) {
        if self.agenda.standings.verdict().is_some() || !self.goes_on() {
            self.context.away.iter_mut().for_each(Away::stop);
        }
    }
}
