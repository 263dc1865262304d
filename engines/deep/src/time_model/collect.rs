//! Collects cases: searches whose best move is recorded at every doubling of the visits.

use super::Features;
use crate::{
    evaluator::EvaluatorError,
    search::{Progress, Searcher, Task},
};
use opening_book::games::Game as Record;
use rsshogi::{board::MoveList, movegen::generate_legal_all, types::Move};
use std::time::Duration;
use usi_shell::{Game, SplitMix64};

/// Number of visits at the first mark.
const FIRST: u64 = 16;

/// The best moves of one search, by mark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    marks: Vec<Mark>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    visits: u64,
    best: Move,
    share: f64,
}

impl Trace {
    /// Searches a position up to `visits`.
    ///
    /// # Errors
    /// When the evaluator fails.
    pub fn of(
        searcher: &mut Searcher,
        game: &Game,
        task: &Task,
        visits: u64,
    ) -> Result<Self, EvaluatorError> {
        searcher.new_game();
        let mut trace = Self::default();
        let task = Task { playouts: Some(visits), report_interval: Duration::from_millis(2), ..task.clone() };
        let outcome = searcher.think(game, &task, &mut |progress| {
            trace.note(progress);
            true
        })?;
        trace.note_last(&outcome.progress, visits);
        Ok(trace)
    }

    fn note(&mut self, progress: &Progress) {
        let due = self.marks.last().map_or(FIRST, |last| last.visits * 2);
        if progress.visits >= due {
            self.mark(progress);
        }
    }

    /// Records the end as a mark if it is close to a doubling.
    fn note_last(&mut self, progress: &Progress, visits: u64) {
        let last = self.marks.last().map_or(0, |last| last.visits);
        if progress.visits >= visits * 9 / 10 && last < progress.visits * 3 / 4 {
            self.mark(progress);
        }
    }

    fn mark(&mut self, progress: &Progress) {
        let Some(best) = progress.moves.first() else { return };
        let share = best.visits as f64 / progress.visits.max(1) as f64;
        self.marks.push(Mark { visits: progress.visits, best: best.mv, share });
    }

    /// All pairs of an earlier and a later mark: the features at the earlier one, and whether another move was
    /// best at any mark up to the later one.
    pub fn cases(&self) -> impl Iterator<Item = (Features, bool)> {
        self.marks.iter().enumerate().flat_map(|(nth, now)| {
            self.marks[nth + 1..].iter().scan(false, move |changed, later| {
                *changed |= later.best != now.best;
                let future = (later.visits - now.visits) as f64;
                Some((Features::new(now.share, now.visits as f64, future), *changed))
            })
        })
    }
}

/// One random position per game, excluding its first and last ones; for lists of openings from their second
/// half.
pub(super) fn positions(games: &[Record], most: usize, rng: &mut SplitMix64) -> Vec<Game> {
    let mut order: Vec<usize> = (0..games.len()).collect();
    for end in (1..order.len()).rev() {
        order.swap(end, (rng.next_u64() % (end as u64 + 1)) as usize);
    }
    order.into_iter().filter_map(|game| position(&games[game], rng)).take(most).collect()
}

fn position(record: &Record, rng: &mut SplitMix64) -> Option<Game> {
    let played = record.moves.len();
    let from = if record.result.is_some() { record.opening.min(played) } else { played / 2 };
    let ply = from + (rng.next_u64() % (played - from + 1) as u64) as usize;
    let mut game = Game::from_sfen(&record.start).ok()?;
    for (mv, _) in &record.moves[..ply] {
        game.play(&mv.to_usi())?;
    }
    let mut legal = MoveList::new();
    generate_legal_all(game.position(), &mut legal);
    (legal.len() > 1).then_some(game)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(marks: &[(u64, &str)]) -> Trace {
        let mark = |&(visits, mv): &(u64, &str)| Mark { visits, best: mv.parse().unwrap(), share: 0.5 };
        Trace { marks: marks.iter().map(mark).collect() }
    }

    #[test]
    fn a_best_move_that_returns_counts_as_changed() {
        let trace = trace(&[(16, "7g7f"), (32, "2g2f"), (64, "7g7f"), (128, "7g7f")]);
        let changed: Vec<bool> = trace.cases().map(|(_, changed)| changed).collect();
        // From 16: to 32, 64, 128; from 32: to 64, 128; from 64: to 128.
        assert_eq!(changed, [true, true, true, true, true, false]);
    }

    #[test]
    fn one_position_of_each_game_is_taken() {
        let moves = ["7g7f", "3c3d", "2g2f"].map(|mv| (mv.parse().unwrap(), None)).to_vec();
        let record = Record { start: rsshogi::board::STARTPOS_SFEN.to_owned(), moves, ..Record::default() };
        let games = vec![record; 5];
        let found = positions(&games, 3, &mut SplitMix64::new(1));
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|game| !game.moves().is_empty()));
    }
}
