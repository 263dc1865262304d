//! Evaluation queue: a thread of its own evaluates the questions of the search in batches.

use crate::evaluator::{Answer, Evaluator, EvaluatorError, Question};
use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

/// The questions about the successors of one position, with the position they belong to.
struct Request<T> {
    of: T,
    questions: Vec<Question>,
}

/// The search's end of the queue.
pub(super) struct EvaluationQueue<T> {
    requests: Sender<Request<T>>,
    answers: Receiver<Result<(T, Vec<Answer>), EvaluatorError>>,
    /// Number of pending questions.
    pending: usize,
}

impl<T> EvaluationQueue<T> {
    /// Queues questions.
    pub(super) fn ask(&mut self, of: T, questions: Vec<Question>) {
        self.pending += questions.len();
        // If the evaluation thread has ended, its error is reported by `answers`.
        let _ = self.requests.send(Request { of, questions });
    }

    /// Number of pending questions.
    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    /// The answers to an earlier request, in the order of its questions. `None` if none arrive within
    /// `patience`, or none is pending.
    pub(super) fn answers(&mut self, patience: Duration) -> Result<Option<(T, Vec<Answer>)>, EvaluatorError> {
        let patience = if self.pending > 0 { patience } else { Duration::ZERO };
        let got = self.answers.recv_timeout(patience).ok();
        let got = got.transpose()?;
        if let Some((_, values)) = &got {
            self.pending -= values.len();
        }
        Ok(got)
    }
}

/// Runs `search` with an evaluation queue. Requests that arrive while the network is busy are evaluated together,
/// up to the evaluator's batch size; with `one_by_one` each alone, so that results do not depend on timing.
pub(super) fn with_queue<T: Send, R>(
    evaluator: &dyn Evaluator,
    one_by_one: bool,
    search: impl FnOnce(EvaluationQueue<T>) -> R,
) -> R {
    let (requests, inbox) = mpsc::channel();
    let (outbox, answers) = mpsc::channel();
    let closed = AtomicBool::new(false);
    thread::scope(|scope| {
        let closing = &closed;
        scope.spawn(move || {
            let most = if one_by_one { 1 } else { evaluator.batch() };
            work(evaluator, most, &inbox, &outbox, closing);
        });
        let result = search(EvaluationQueue { requests, answers, pending: 0 });
        closed.store(true, Ordering::Relaxed);
        result
    })
}

fn work<T>(
    evaluator: &dyn Evaluator,
    most: usize,
    inbox: &Receiver<Request<T>>,
    outbox: &Sender<Result<(T, Vec<Answer>), EvaluatorError>>,
    closed: &AtomicBool,
) {
    while let Ok(first) = inbox.recv() {
        let (mut pile, mut owners) = (first.questions, vec![(first.of, 0)]);
        owners[0].1 = pile.len();
        while pile.len() < most {
            let Ok(request) = inbox.try_recv() else { break };
            owners.push((request.of, request.questions.len()));
            pile.extend(request.questions);
        }
        let mut values = Vec::with_capacity(pile.len());
        for batch in pile.chunks(evaluator.batch().max(1)) {
            // The search has ended, so the remaining requests are dropped.
            if closed.load(Ordering::Relaxed) {
                return;
            }
            match evaluator.evaluate(batch) {
                Ok(answers) => values.extend(answers),
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
