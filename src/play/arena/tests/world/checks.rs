//! What has to hold whenever an event is opened, and at its end.

use super::*;

impl World {
    /// Compares what an event is when it is opened with all that was known of it.
    pub(super) fn examine(&mut self, event: &OpenEvent<'_>) -> Result<(), String> {
        let opening = &event.journal.opening;
        let mut stored = Record::default();
        let replayed = opening.replay(Moves::With, &mut |stamped| stored.take(stamped));
        replayed.map_err(|error| error.to_string())?;
        stored.goes_on_from(&self.known)?;
        stored.check_places()?;
        let (new, broken_off) = (stored.count() - self.known.count(), stored.broken_off());
        let mut lasted = (0..=broken_off.min(new)).map(|ends| new - ends);
        let candidates = [0, self.on_their_way].map(|count| lasted.clone().any(|lasted| lasted == count));
        if candidates == [false, false] {
            let (count, most) = (lasted.next().unwrap_or_default(), self.on_their_way);
            return Err(format!("{count} of {most} entries of a commit are there: it was torn"));
        }
        let follows = follows(event.standings(), &event.journal.operations);
        let expected: Vec<_> = self
            .followed
            .iter()
            .zip(candidates)
            .filter(|(_, is)| *is)
            .filter_map(|(was, _)| was.as_ref())
            .collect();
        if !expected.is_empty() && !expected.contains(&&follows) {
            return Err(format!("live it was {expected:?}, and after a restart {follows}"));
        }
        let told = self.told.lock().unwrap();
        for (game, outcome) in told.iter().filter(|(_, outcome)| *outcome != STOPPED) {
            let ended = stored.ended(*game);
            if ended != Some(*outcome) {
                return Err(format!(
                    "a player was told that game {} ended with {outcome}: {ended:?}",
                    game.0
                ));
            }
        }
        drop(told);
        let verified = opening.store().verify(event.event(), None).map_err(|error| error.to_string())?;
        if !verified.alterations.is_empty() {
            return Err(format!("the seals do not fit: {:?}", verified.alterations));
        }
        (self.known, self.on_their_way, self.followed) = (stored, 0, [Some(follows), None]);
        Ok(())
    }

    /// The event is over, or cannot go on because of halts, and stays as it is when the power is cut once more.
    pub(super) fn finish(&mut self, is_complete: bool) -> Result<(), String> {
        self.disk.plan_nothing();
        self.disk.make_room();
        self.disk.die();
        self.disk.restart(Death::PowerCut);
        let plan = self.plan.clone();
        let event = OpenEvent::open(&plan, vec![], None).map_err(|error| error.to_string())?;
        self.examine(&event)?;
        if event.is_closed() != is_complete {
            return Err(format!("the event was complete: {is_complete}, and now: {}", event.is_closed()));
        }
        let (standings, store) = (event.standings(), event.journal.opening.store());
        let finished = standings.finished(0).map(|finished| finished.len());
        if is_complete && standings.games_to_play().is_some_and(|games| Some(games) != finished) {
            return Err(format!("{finished:?} of {:?} games are over", standings.games_to_play()));
        }
        // Where results decide about later games, a halt can be for good.
        let is_independent = matches!(plan.stages[0].format, Format::RoundRobin { .. });
        if !is_complete && is_independent {
            return Err(format!("the games of sound engines cannot be played: {:?}", standings.halts()));
        }
        let (mut counting, mut twice) = (BTreeSet::new(), vec![]);
        let counts_once = |row: journal::GameRow| {
            let counts = row.outcome.is_some_and(Outcome::counts) && !row.replayed;
            let place = (row.pairing.stage, row.pairing.index);
            twice.extend((counts && !counting.insert(place)).then_some(place));
            Ok::<_, StoreError>(())
        };
        store.games(event.event(), &GameFilter::default(), counts_once).map_err(|error| error.to_string())?;
        if !twice.is_empty() {
            return Err(format!("places {twice:?} count twice"));
        }
        match store.damage() {
            Ok(faults) if faults.is_empty() => Ok(()),
            damaged => Err(format!("the file is damaged: {damaged:?}")),
        }
    }
}
