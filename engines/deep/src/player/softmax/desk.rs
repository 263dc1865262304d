//! Where the walker hands in its questions: the network answers them on a thread of its own, many at a time.

use crate::evaluator::{Evaluator, EvaluatorError, Question};
use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

/// Questions that belong together, and whose they are.
struct Sheet<T> {
    of: T,
    questions: Vec<Question>,
}

/// The walker's side.
pub(super) struct Desk<T> {
    sheets: Sender<Sheet<T>>,
    answers: Receiver<Result<(T, Vec<f32>), EvaluatorError>>,
    /// Questions under way.
    ahead: usize,
}

impl<T> Desk<T> {
    /// Hands in questions.
    pub(super) fn ask(&mut self, of: T, questions: Vec<Question>) {
        self.ahead += questions.len();
        // A worker that is gone has left its fault behind.
        let _ = self.sheets.send(Sheet { of, questions });
    }

    /// Questions under way.
    pub(super) fn ahead(&self) -> usize {
        self.ahead
    }

    /// The answers to an earlier sheet: the chance to win of each position's player to move. `None` when none come
    /// within `patience`, or nothing is under way.
    pub(super) fn answers(&mut self, patience: Duration) -> Result<Option<(T, Vec<f32>)>, EvaluatorError> {
        let patience = if self.ahead > 0 { patience } else { Duration::ZERO };
        let got = self.answers.recv_timeout(patience).ok();
        let got = got.transpose()?;
        if let Some((_, values)) = &got {
            self.ahead -= values.len();
        }
        Ok(got)
    }
}

/// Runs `walk` with a desk. Sheets that come while the network is busy are answered together, up to a batch of the
/// evaluator's; `one_by_one`: each sheet alone, so that the answers do not depend on who was faster.
pub(super) fn with_desk<T: Send, R>(
    evaluator: &dyn Evaluator,
    one_by_one: bool,
    walk: impl FnOnce(Desk<T>) -> R,
) -> R {
    let (sheets, inbox) = mpsc::channel();
    let (outbox, answers) = mpsc::channel();
    let closed = AtomicBool::new(false);
    thread::scope(|scope| {
        let closing = &closed;
        scope.spawn(move || {
            let most = if one_by_one { 1 } else { evaluator.batch() };
            work(evaluator, most, &inbox, &outbox, closing);
        });
        let walked = walk(Desk { sheets, answers, ahead: 0 });
        closed.store(true, Ordering::Relaxed);
        walked
    })
}

fn work<T>(
    evaluator: &dyn Evaluator,
    most: usize,
    inbox: &Receiver<Sheet<T>>,
    outbox: &Sender<Result<(T, Vec<f32>), EvaluatorError>>,
    closed: &AtomicBool,
) {
    while let Ok(first) = inbox.recv() {
        let (mut pile, mut owners) = (first.questions, vec![(first.of, 0)]);
        owners[0].1 = pile.len();
        while pile.len() < most {
            let Ok(sheet) = inbox.try_recv() else { break };
            owners.push((sheet.of, sheet.questions.len()));
            pile.extend(sheet.questions);
        }
        let mut values = Vec::with_capacity(pile.len());
        for batch in pile.chunks(evaluator.batch().max(1)) {
            // Nobody reads what comes after the move was made.
            if closed.load(Ordering::Relaxed) {
                return;
            }
            match evaluator.evaluate(batch) {
                Ok(answers) => values.extend(answers.iter().map(|answer| answer.value)),
                Err(fault) => {
                    let _ = outbox.send(Err(fault));
                    return;
                }
            }
        }
        let mut values = values.into_iter();
        for (of, count) in owners {
            let _ = outbox.send(Ok((of, values.by_ref().take(count).collect())));
        }
    }
}
