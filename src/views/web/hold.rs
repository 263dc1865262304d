//! The delay of the pages: entries wait here until viewers may see them.

use plan::http::Delay;
use referee::entry::{Entry, GameId, Stamped};
use std::collections::{BTreeMap, VecDeque};

/// Entries that viewers may not see yet.
#[derive(Debug, Default)]
pub struct Hold {
    delay: Delay,
    /// With a delay by time, in the order in which they are shown: moves may be read after what happened since.
    waiting: BTreeMap<(i64, u64), (u64, Stamped)>,
    /// The latest times of the log and of each running game. A clock that is set back changes no order.
    latest: BTreeMap<Option<GameId>, i64>,
    /// Entries taken so far.
    taken: u64,
    /// Numbers of the entries of the log that wait, in order.
    log: VecDeque<u64>,
    /// With a delay by moves, of each running game.
    moves: BTreeMap<GameId, VecDeque<(u64, Stamped)>>,
}

impl Hold {
    pub fn new(delay: Delay) -> Self {
        Self { delay, ..Self::default() }
    }

    /// Takes an entry and hands on what may be seen because of it.
    pub fn take(&mut self, seq: u64, stamped: Stamped, f: &mut dyn FnMut(u64, Stamped)) {
        match (self.delay, &stamped.entry) {
            (Delay::None, _) => f(seq, stamped),
            (Delay::Time(_), _) => self.wait(seq, stamped),
            (Delay::Moves(most), Entry::Moved(moved)) => {
                let held = self.moves.entry(moved.game).or_default();
                held.push_back((seq, stamped));
                if held.len() > most
                    && let Some((seq, stamped)) = held.pop_front()
                {
                    f(seq, stamped);
                }
            }
            (Delay::Moves(_), Entry::GameEnded(end)) => {
                let held = self.moves.remove(&end.game).unwrap_or_default();
                held.into_iter().for_each(|(seq, stamped)| f(seq, stamped));
                f(seq, stamped);
            }
            (Delay::Moves(_), _) => f(seq, stamped),
        }
    }

    /// An entry comes after those of its game and, unless it is a move or what the judge said, after those of the log.
    fn wait(&mut self, seq: u64, stamped: Stamped) {
        let (game, is_in_log) = match &stamped.entry {
            Entry::Moved(moved) => (Some(moved.game), false),
            Entry::Judged(judged) => (Some(judged.game), false),
            Entry::GameStarted(started) => (Some(started.game), true),
            Entry::GameEnded(end) => (Some(end.game), true),
            _ => (None, true),
        };
        let places = [game, None].into_iter().take(1 + usize::from(is_in_log));
        let at =
            places.clone().filter_map(|place| self.latest.get(&place).copied()).fold(stamped.at, i64::max);
        places.for_each(|place| _ = self.latest.insert(place, at));
        if let Entry::GameEnded(end) = &stamped.entry {
            self.latest.remove(&Some(end.game));
        }
        self.taken += 1;
        self.log.extend(is_in_log.then_some(seq));
        self.waiting.insert((at, self.taken), (seq, stamped));
    }

    /// Hands on what may be seen by now.
    pub fn release(&mut self, now: i64, f: &mut dyn FnMut(u64, Stamped)) {
        let until = self.delay.horizon(now);
        while self.waiting.first_key_value().is_some_and(|((at, _), _)| *at <= until) {
            let Some((_, (seq, stamped))) = self.waiting.pop_first() else { return };
            match (&stamped.entry, self.log.front()) {
                // It has the number of the entry before it, which may have to wait longer.
                (Entry::Moved(_) | Entry::Judged(_), Some(next)) => f(seq.min(next - 1), stamped),
                (Entry::Moved(_) | Entry::Judged(_), None) => f(seq, stamped),
                _ => {
                    self.log.pop_front();
                    f(seq, stamped);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contest::schedule::Pairing;
    use journal::{EventHead, Follower, Journal, Store};
    use referee::{
        AbortBy, Color, Outcome,
        entry::{GameEnded, GameStarted, Moved, Opened, PlayerId},
    };
    use std::time::Duration;

    fn moved(ply: u32, at: i64) -> Stamped {
        let mv = rsshogi::types::Move::from_usi("7g7f").unwrap();
        let time = Duration::ZERO;
        let (game, color) = (GameId(1), Color::Black);
        let moved = Moved { game, ply, color, mv, charged: time, elapsed: time, left: time, thought: None };
        Stamped { at, entry: Entry::Moved(moved) }
    }

    fn ended() -> Stamped {
        let (black, white) = (PlayerId(0), PlayerId(1));
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let outcome = Outcome::Aborted { by: AbortBy::Stopped };
        let ended = GameEnded::new(GameId(1), pairing, outcome, 3);
        Stamped { at: 9, entry: Entry::GameEnded(ended) }
    }

    /// A game that begins at this time and has two moves, each entry 100 ms after the one before.
    fn whole(game: u64, begins: i64) -> Vec<Stamped> {
        let Entry::GameEnded(end) = ended().entry else { unreachable!() };
        let pairing = Pairing { index: game, ..end.pairing };
        let game = GameId(game);
        let (start, opening) = (referee::opening::EVEN.to_owned(), String::new());
        let started = GameStarted { game, pairing, start, opening, times: None };
        let moves = [("7g7f", Color::Black), ("3c3d", Color::White)].map(|(usi, color)| {
            let Entry::Moved(moved) = moved(1 + color.index() as u32, 0).entry else { unreachable!() };
            let mv = rsshogi::types::Move::from_usi(usi).unwrap();
            Entry::Moved(Moved { game, color, mv, ..moved })
        });
        let end = Entry::GameEnded(GameEnded { game, pairing, ..end });
        let entries = [Entry::GameStarted(started)].into_iter().chain(moves).chain([end]);
        entries.zip(0..).map(|(entry, at)| Stamped { at: begins + 100 * at, entry }).collect()
    }

    #[test]
    fn after_a_restart_each_game_whose_end_nobody_has_seen_is_told_with_all_its_moves() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("event.db");
        let head = EventHead { name: "e", kind: "run", plan: "{}", fingerprint: "{}" };
        let journal = Journal::open(&path, &head).unwrap().start(vec![], || ()).unwrap();
        let players = vec!["a".to_owned(), "b".to_owned()];
        let opened = Opened { name: "e".to_owned(), players, format: String::new(), resumed: false };
        journal.append([Stamped { at: 0, entry: Entry::Opened(opened) }]);
        (1..=4).for_each(|game| journal.append(whole(game, 1000 * game as i64)));
        let event = journal.event();
        journal.finish().unwrap();
        let delay = Delay::Time(Duration::from_millis(1500));
        for restarted in (0..8000).step_by(250) {
            let store = Store::read(&path).unwrap();
            let mut follower = Follower::new(store, event).with_moves_since(delay.horizon(restarted));
            let (mut hold, mut told) = (Hold::new(delay), vec![]);
            follower
                .look(&mut |_, seq, stamped| hold.take(seq, stamped, &mut |_, _| panic!("it waits")))
                .unwrap();
            let mut f = |_, stamped: Stamped| {
                told.extend(match stamped.entry {
                    Entry::GameStarted(started) => Some((started.game.0, "start")),
                    Entry::Moved(moved) => Some((moved.game.0, "move")),
                    Entry::GameEnded(end) => Some((end.game.0, "end")),
                    _ => None,
                });
            };
            hold.release(restarted, &mut f);
            hold.release(i64::MAX, &mut f);
            for game in 1..=4 {
                let of_game: Vec<_> =
                    told.iter().filter(|(of, _)| *of == game).map(|(_, what)| *what).collect();
                let is_seen = 1000 * game as i64 + 300 < delay.horizon(restarted);
                let expected: &[_] =
                    if is_seen { &["start", "end"] } else { &["start", "move", "move", "end"] };
                assert_eq!(of_game, expected, "game {game}, restarted at {restarted}");
            }
        }
    }

    #[test]
    fn viewers_are_so_many_moves_behind_until_the_game_is_over() {
        let (mut hold, mut seen) = (Hold::new(Delay::Moves(2)), vec![]);
        let mut f = |_, stamped: Stamped| seen.push(matches!(stamped.entry, Entry::Moved(_)));
        (1..=3).for_each(|ply| hold.take(1, moved(ply, 0), &mut f));
        hold.take(2, ended(), &mut f);
        assert_eq!(seen, [true, true, true, false], "the last two come with the end");
        let (mut hold, mut seen) = (Hold::new(Delay::Moves(2)), 0);
        (1..=3).for_each(|ply| hold.take(1, moved(ply, 0), &mut |_, _| seen += 1));
        assert_eq!(seen, 1);
    }

    #[test]
    fn moves_that_are_read_after_later_entries_are_shown_in_their_turn() {
        let (mut hold, mut seen) = (Hold::new(Delay::Time(Duration::from_millis(10))), vec![]);
        let other = Stamped { at: 30, entry: Entry::Closed };
        hold.take(1, Stamped { at: 25, ..ended() }, &mut |_, _| panic!("it is too early"));
        hold.take(2, other, &mut |_, _| panic!("it is too early"));
        for (ply, at) in [(1, 20), (2, 40)] {
            hold.take(2, moved(ply, at), &mut |_, _| panic!("it is too early"));
        }
        let word = |stamped: &Stamped| match &stamped.entry {
            Entry::Moved(_) => "moved",
            Entry::Closed => "closed",
            _ => "ended",
        };
        hold.release(45, &mut |seq, stamped| seen.push((seq, word(&stamped))));
        assert_eq!(seen, [(0, "moved"), (1, "ended"), (2, "closed")]);
        hold.release(50, &mut |seq, stamped| seen.push((seq, word(&stamped))));
        assert_eq!(seen[3..], [(2, "moved")]);
    }

    #[test]
    fn viewers_are_so_long_behind_and_learn_of_an_end_as_late() {
        let (mut hold, mut seen) = (Hold::new(Delay::Time(Duration::from_millis(10))), vec![]);
        hold.take(1, moved(1, 0), &mut |_, _| panic!("it is too early"));
        hold.take(2, ended(), &mut |_, _| panic!("it is too early"));
        hold.release(18, &mut |seq, _| seen.push(seq));
        assert_eq!(seen, [1]);
        hold.release(19, &mut |seq, _| seen.push(seq));
        assert_eq!(seen, [1, 2]);
    }
}
