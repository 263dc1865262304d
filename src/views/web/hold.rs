//! The delay of the pages: entries wait here until viewers may see them.

use plan::http::Delay;
use referee::entry::{Entry, GameId, Stamped};
use std::collections::{BTreeMap, VecDeque};

/// Entries that viewers may not see yet.
#[derive(Debug, Default)]
pub struct Hold {
    delay: Delay,
    /// With a delay by time, in order.
    waiting: VecDeque<(u64, Stamped)>,
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
            (Delay::Time(_), _) => self.waiting.push_back((seq, stamped)),
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

    /// Hands on what may be seen by now.
    pub fn release(&mut self, now: i64, f: &mut dyn FnMut(u64, Stamped)) {
        let until = self.delay.horizon(now);
        while self.waiting.front().is_some_and(|(_, stamped)| stamped.at <= until) {
            if let Some((seq, stamped)) = self.waiting.pop_front() {
                f(seq, stamped);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contest::schedule::Pairing;
    use referee::{
        AbortBy, Color, Outcome,
        entry::{GameEnded, Moved, PlayerId},
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
