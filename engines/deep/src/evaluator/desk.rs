//! Evaluations that a stopped search does not wait for.
//!
//! A batch on a busy machine can take seconds. The threads of a search hand their questions to threads of the desk and
//! wait for the answers only as long as the clock allows; they evaluate nothing themselves, so that `stop` and the time
//! limit are kept whatever the network does. A batch whose search has ended is finished by its thread, and dropped.

use super::{Answer, Encoding, Evaluator, EvaluatorError, Question};
use parking_lot::Mutex;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};
use usi_shell::Clock;

/// Interval at which a waiting thread looks at the clock.
const POLL: Duration = Duration::from_millis(2);
/// How long the end of the program waits for a batch: libtorch must not be unloaded under it.
const LAST_BATCH: Duration = Duration::from_secs(5);

type Answers = Result<Vec<Answer>, EvaluatorError>;

/// Questions for a thread of the desk.
struct Request {
    questions: Vec<Question>,
    reply: Sender<Answers>,
    /// Set when the caller no longer waits for the answers.
    given_up: Arc<AtomicBool>,
}

/// An evaluator whose calls return as soon as the clock of the search has stopped.
pub struct Desk {
    evaluator: Arc<dyn Evaluator>,
    /// `None` only on drop.
    requests: Option<Sender<Request>>,
    /// Closed when the last thread has ended.
    ended: Mutex<Receiver<()>>,
    clock: Mutex<Option<Clock>>,
}

impl Desk {
    /// A desk with as many threads as the evaluator serves at the same time.
    pub fn new(evaluator: Arc<dyn Evaluator>, threads: usize) -> Self {
        let (requests, inbox) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let inbox = Arc::new(Mutex::new(inbox));
        for _ in 0..threads.max(1) {
            let (evaluator, inbox, end) = (Arc::clone(&evaluator), Arc::clone(&inbox), end.clone());
            thread::spawn(move || {
                let _until_it_ends = end;
                serve(&*evaluator, &inbox);
            });
        }
        Self { evaluator, requests: Some(requests), ended: Mutex::new(ended), clock: Mutex::default() }
    }

    fn is_stopped(&self) -> bool {
        let clock = self.clock.lock();
        clock.as_ref().is_some_and(Clock::is_stopped)
    }

    fn wait(&self, answers: &Receiver<Answers>) -> Answers {
        loop {
            match answers.recv_timeout(POLL) {
                Ok(answers) => return answers,
                Err(RecvTimeoutError::Timeout) if self.is_stopped() => return Err(EvaluatorError::Stopped),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(EvaluatorError::Gone),
            }
        }
    }
}

/// Evaluates requests until the desk is dropped.
fn serve(evaluator: &dyn Evaluator, inbox: &Mutex<Receiver<Request>>) {
    loop {
        let next = inbox.lock().recv();
        let Ok(Request { questions, reply, given_up }) = next else { return };
        if !given_up.load(Relaxed) {
            // Without a receiver the answers are dropped.
            let _ = reply.send(evaluator.evaluate(&questions));
        }
    }
}

impl Evaluator for Desk {
    fn evaluate(&self, questions: &[Question]) -> Answers {
        if questions.is_empty() {
            return Ok(Vec::new());
        }
        let (reply, answers) = mpsc::channel();
        let given_up = Arc::<AtomicBool>::default();
        let request = Request { questions: questions.to_vec(), reply, given_up: Arc::clone(&given_up) };
        let sent = self.requests.as_ref().is_some_and(|requests| requests.send(request).is_ok());
        let answers = if sent { self.wait(&answers) } else { Err(EvaluatorError::Gone) };
        given_up.store(true, Relaxed);
        answers
    }

    fn batch(&self) -> usize {
        self.evaluator.batch()
    }

    fn encoding(&self) -> Encoding {
        self.evaluator.encoding()
    }

    fn kind(&self) -> &str {
        self.evaluator.kind()
    }

    fn attend(&self, clock: &Clock) {
        *self.clock.lock() = Some(clock.clone());
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.requests = None;
        let ended = self.ended.get_mut();
        let _closed = ended.recv_timeout(LAST_BATCH);
    }
}
