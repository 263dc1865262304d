//! The threads that own a device. Searches hand them their questions.
//!
//! Two reasons. A device is fastest with large batches, so its owner forms them from the questions of all threads of
//! the search, which gather on while up to [`Evaluator::ahead`] batches of each are out. And a batch on a busy machine can
//! take seconds: a thread waits for answers only as long as the clock allows, so that `stop` and the time limit are kept
//! whatever the network does. A batch whose search has ended is finished by its thread, and dropped.

use super::{Answer, Encoding, Evaluator, EvaluatorError, Question, filled_up};
use parking_lot::Mutex;
use std::{
    iter,
    sync::{
        Arc, Weak,
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
/// Batches of a thread of the search that may be out at a device of its own.
const AHEAD: usize = 2;

type Answers = Result<Vec<Answer>, EvaluatorError>;

/// Questions for a thread of the desk.
struct Request {
    questions: Vec<Question>,
    reply: Sender<Answers>,
    /// Dead when the caller no longer waits for the answers.
    asker: Weak<()>,
}

/// Answers to come.
#[derive(Debug)]
pub struct Pending {
    answers: Receiver<Answers>,
    clock: Option<Clock>,
    /// Shows the desk that somebody waits.
    _asker: Arc<()>,
}

impl Pending {
    /// Answers that are here.
    pub fn answered(answers: Answers) -> Self {
        let (reply, receiver) = mpsc::channel();
        // The receiver is here.
        let _ = reply.send(answers);
        Self { answers: receiver, clock: None, _asker: Arc::default() }
    }

    /// The answers if they come within `patience`. To be called until it returns some.
    pub fn poll(&self, patience: Duration) -> Option<Answers> {
        match self.answers.recv_timeout(patience) {
            Ok(answers) => Some(answers),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(EvaluatorError::Gone)),
        }
    }

    /// Waits for the answers, or until the clock of the search has stopped.
    ///
    /// # Errors
    /// When the device fails, or the clock has stopped.
    pub fn wait(&self) -> Answers {
        loop {
            match self.poll(POLL) {
                Some(answers) => return answers,
                None if self.clock.as_ref().is_some_and(Clock::is_stopped) => {
                    return Err(EvaluatorError::Stopped);
                }
                None => {}
            }
        }
    }
}

/// An evaluator whose calls return as soon as the clock of the search has stopped.
pub struct Desk {
    evaluator: Arc<dyn Evaluator>,
    ahead: usize,
    /// `None` only on drop.
    requests: Option<Sender<Request>>,
    /// Closed when the last thread has ended.
    ended: Mutex<Receiver<()>>,
    clock: Mutex<Option<Clock>>,
}

impl Desk {
    /// A desk with as many threads as the evaluator serves at the same time. If it computes on a device of its own, batches are
    /// formed from the questions of all threads of a search, and each thread has computed every size once when this returns.
    pub fn new(evaluator: Arc<dyn Evaluator>, threads: usize, own_device: bool) -> Self {
        let ahead = if own_device { AHEAD } else { 0 };
        let (requests, inbox) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let (ready, warm) = mpsc::channel();
        let inbox = Arc::new(Mutex::new(inbox));
        let most = if ahead > 0 { evaluator.batch() } else { 0 };
        for _ in 0..threads.max(1) {
            let (evaluator, inbox, end) = (Arc::clone(&evaluator), Arc::clone(&inbox), end.clone());
            let ready = ready.clone();
            thread::spawn(move || {
                let _until_it_ends = end;
                warm_up(&*evaluator, most);
                drop(ready);
                serve(&*evaluator, &inbox, most);
            });
        }
        drop(ready);
        // Ends when all have dropped their end, also by a panic.
        let _closed: Result<(), _> = warm.recv();
        Self { evaluator, ahead, requests: Some(requests), ended: Mutex::new(ended), clock: Mutex::default() }
    }
}

/// Computes a batch of each size up to `most`. A fault shows at the first evaluation.
fn warm_up(evaluator: &dyn Evaluator, most: usize) {
    let next = |&size: &usize| (size < most).then(|| filled_up(size + 1, most));
    for size in iter::successors((most > 0).then_some(1), next) {
        let _ = evaluator.forward_only(size);
    }
}

/// Evaluates requests until the desk is dropped: each by itself, or together as far as `most` questions.
fn serve(evaluator: &dyn Evaluator, inbox: &Mutex<Receiver<Request>>, most: usize) {
    loop {
        let mut requests = Vec::new();
        {
            let inbox = inbox.lock();
            let Ok(first) = inbox.recv() else { return };
            let mut count = first.questions.len();
            requests.push(first);
            while count < most
                && let Ok(next) = inbox.try_recv()
            {
                count += next.questions.len();
                requests.push(next);
            }
        }
        requests.retain(|request| request.asker.strong_count() > 0);
        answer(evaluator, requests);
    }
}

/// Answers requests by one evaluation; after an error each by itself, so that each gets its own.
fn answer(evaluator: &dyn Evaluator, requests: Vec<Request>) {
    let (mut questions, mut waiting) = (Vec::new(), Vec::new());
    for Request { questions: mut some, reply, .. } in requests {
        let begin = questions.len();
        questions.append(&mut some);
        waiting.push((begin..questions.len(), reply));
    }
    let mut together = evaluator.evaluate(&questions).map(Vec::into_iter);
    for (range, reply) in waiting {
        let answers = match &mut together {
            Ok(answers) => Ok(answers.take(range.len()).collect()),
            Err(_) => evaluator.evaluate(&questions[range]),
        };
        // Without a receiver the answers are dropped.
        let _ = reply.send(answers);
    }
}

impl Evaluator for Desk {
    fn evaluate(&self, questions: &[Question]) -> Answers {
        self.submit(questions.to_vec()).wait()
    }

    fn submit(&self, questions: Vec<Question>) -> Pending {
        if questions.is_empty() {
            return Pending::answered(Ok(Vec::new()));
        }
        let (reply, answers) = mpsc::channel();
        let asker = Arc::default();
        let request = Request { questions, reply, asker: Arc::downgrade(&asker) };
        if self.requests.as_ref().is_none_or(|requests| requests.send(request).is_err()) {
            return Pending::answered(Err(EvaluatorError::Gone));
        }
        Pending { answers, clock: self.clock.lock().clone(), _asker: asker }
    }

    fn ahead(&self) -> usize {
        self.ahead
    }

    fn forward_only(&self, batch: usize) -> Result<(), EvaluatorError> {
        self.evaluator.forward_only(batch)
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

#[cfg(test)]
mod tests {
    use super::{super::UniformEvaluator, *};
    use crate::planes::Packed;
    use parking_lot::Condvar;

    /// Writes down the sizes of its batches, and computes none before the gate is open.
    #[derive(Default)]
    struct Gated {
        warmed: Mutex<Vec<(thread::ThreadId, usize)>>,
        sizes: Mutex<Vec<usize>>,
        open: Mutex<bool>,
        opened: Condvar,
    }

    impl Evaluator for Gated {
        fn evaluate(&self, questions: &[Question]) -> Answers {
            self.sizes.lock().push(questions.len());
            let mut open = self.open.lock();
            self.opened.wait_while(&mut open, |open| !*open);
            if questions.iter().any(|question| question.labels.is_empty()) {
                return Err(EvaluatorError::Question("no moves".to_owned()));
            }
            UniformEvaluator::new(8).evaluate(questions)
        }

        fn forward_only(&self, batch: usize) -> Result<(), EvaluatorError> {
            self.warmed.lock().push((thread::current().id(), batch));
            Ok(())
        }

        fn batch(&self) -> usize {
            8
        }

        fn encoding(&self) -> Encoding {
            UniformEvaluator::new(8).encoding()
        }

        fn kind(&self) -> &str {
            "gated"
        }
    }

    /// As many questions, each with so many moves.
    fn questions(count: usize, moves: u16) -> Vec<Question> {
        vec![Question { planes: Packed(Box::new([])), labels: (0..moves).collect() }; count]
    }

    #[test]
    fn a_device_gets_the_questions_of_several_callers_at_once_and_each_its_own_answers() {
        let gated = Arc::<Gated>::default();
        let desk = Desk::new(Arc::clone(&gated) as Arc<dyn Evaluator>, 1, true);
        let first = desk.submit(questions(1, 9));
        while gated.sizes.lock().is_empty() {
            thread::yield_now();
        }
        assert!(first.poll(Duration::ZERO).is_none(), "the gate is shut");
        // They wait until the device is free again; three make a batch of 8, the last is for the next.
        let asked = [(2, 1), (3, 2), (3, 3), (4, 4)];
        let waiting: Vec<_> =
            asked.iter().map(|&(count, moves)| desk.submit(questions(count, moves))).collect();
        *gated.open.lock() = true;
        gated.opened.notify_all();
        assert_eq!(first.wait().unwrap().len(), 1);
        for (pending, (count, moves)) in waiting.iter().zip(asked) {
            let answers = pending.wait().unwrap();
            assert_eq!(answers.len(), count);
            assert!(answers.iter().all(|answer| answer.priors.len() == usize::from(moves)));
        }
        assert_eq!(*gated.sizes.lock(), [1, 8, 4]);
    }

    #[test]
    fn each_thread_of_a_device_has_computed_every_size_before_the_first_question() {
        let gated = Arc::<Gated>::default();
        let _desk = Desk::new(Arc::clone(&gated) as Arc<dyn Evaluator>, 2, true);
        let warmed = gated.warmed.lock();
        let of = |thread| warmed.iter().filter(move |(one, _)| *one == thread).map(|(_, size)| *size);
        let (one, other) = (warmed[0].0, warmed.iter().find(|(thread, _)| *thread != warmed[0].0).unwrap().0);
        for thread in [one, other] {
            assert_eq!(of(thread).collect::<Vec<_>>(), [1, 2, 4, 8]);
        }
        assert_eq!([1, 3, 5, 100, 101].map(|batch| filled_up(batch, 100)), [1, 4, 8, 100, 101]);
    }

    #[test]
    fn an_error_is_that_of_the_questions_that_caused_it() {
        let gated = Arc::<Gated>::default();
        let desk = Desk::new(Arc::clone(&gated) as Arc<dyn Evaluator>, 1, true);
        let first = desk.submit(questions(1, 9));
        while gated.sizes.lock().is_empty() {
            thread::yield_now();
        }
        let (bad, good) = (desk.submit(questions(1, 0)), desk.submit(questions(1, 5)));
        *gated.open.lock() = true;
        gated.opened.notify_all();
        assert!(matches!(bad.wait(), Err(EvaluatorError::Question(_))));
        assert_eq!(good.wait().unwrap().len(), 1);
        drop(first);
    }
}
