//! One connection: made, used, and made again.

use super::{
    SshOptions,
    boot::{self, BootFault, Program, boot},
    child::Child,
    reader::{Reader, other},
};
use crate::{
    carrier::Arrival,
    frame::{Begin, Frame, FrameFault, Kind},
    manager::{KeyName, Letter, Sender},
};
use hub::{EventId, Shelf, WorkerId};
use notation::clipped;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::{mpsc, watch},
    time::{sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Frames that may wait to be written; a worker that leaves more unread is cut off.
const QUEUE: usize = 4096;
/// Pieces of files that a worker may have asked for; then it is not read until they are written.
const PIECES: usize = 8;
/// How often a worker is sent the same piece over one connection, and how often it may ask for one that is not there: it
/// asks for a file once, and again if it had no room or the file was altered there.
const AGAIN: u32 = 16;
const MISSES: u32 = 100;
/// Signs of life that may come within a second.
const SIGNS: u32 = 1000;
/// Time without a byte from a worker, which says every few seconds that it is there.
const SILENCE: Duration = Duration::from_secs(60);
/// Pause before a broken connection is made again, at first and at most; after a worker that could not play.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];
const CANNOT_PLAY: Duration = Duration::from_secs(60);
/// A connection that has lasted so long is a new beginning.
const LASTED: Duration = Duration::from_secs(10);
/// Time for a worker to end that is asked to, and for `ssh` after the last byte.
pub(super) const GRACE: Duration = Duration::from_secs(15);
const LAST: Duration = Duration::from_secs(5);
/// Lines of the standard error of `ssh` that are shown at once, the time after which one more is, and the bytes of a line.
const LINES: f64 = 40.0;
const ANOTHER: f64 = 10.0;
const LINE: usize = 300;
/// Lines of `ssh` that are kept to say why there is no connection.
const KEPT: usize = 3;
/// Exit codes of a worker: it played to the end, could not play, was stopped, was refused.
const ENDS: [i32; 4] = [0, COULD_NOT, 3, REFUSED];
const COULD_NOT: i32 = 1;
const REFUSED: i32 = 5;

/// Whether a connection is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Open,
    /// The machine was dropped, or the manager refused it.
    Barred,
    /// The manager ends.
    Closing,
}

/// A connection that is there.
pub(super) struct Line {
    pub session: u64,
    pub queue: mpsc::Sender<Frame>,
    /// Cuts the connection off when it is dropped.
    pub _cut: DropGuard,
}

/// The task of a host.
pub(super) struct Link {
    pub host: String,
    pub name: String,
    pub id: WorkerId,
    pub event: EventId,
    pub options: Arc<SshOptions>,
    pub program: Arc<Program>,
    pub shelf: Shelf,
    pub arrivals: mpsc::Sender<Arrival>,
    pub gate: watch::Receiver<Gate>,
    pub line: Arc<Mutex<Option<Line>>>,
    /// The last reason that was said.
    pub told: String,
    /// True if there may be a directory on the host.
    pub is_there: bool,
}

impl Link {
    /// Connects, again and again, until the manager ends.
    pub async fn run(mut self) {
        let mut failures = 0;
        while self.is_open().await {
            let begun = Instant::now();
            let (fault, code) = self.connect().await;
            *self.line.lock() = None;
            // The one who closed the gate knows why the connection ended.
            match *self.gate.borrow() {
                Gate::Open => {}
                Gate::Barred => continue,
                Gate::Closing => break,
            }
            failures = if begun.elapsed() > LASTED { 0 } else { failures + 1 };
            if code == Some(REFUSED) {
                self.refused().await;
                continue;
            }
            let pause = pause(failures, code);
            self.tell(&fault, pause).await;
            tokio::select! {
                () = sleep(pause) => {}
                _ = self.gate.wait_for(|gate| *gate == Gate::Closing) => break,
            }
        }
        self.sweep().await;
    }

    /// Waits until a connection is wanted; false: never again.
    async fn is_open(&mut self) -> bool {
        let gate = self.gate.wait_for(|gate| *gate != Gate::Barred).await;
        gate.is_ok_and(|gate| *gate == Gate::Open)
    }

    /// The worker has ended because the manager does not want it: it comes back when the operator readmits a machine.
    async fn refused(&mut self) {
        self.say("is not wanted, and is left alone").await;
        let _manager_gone = self.gate.changed().await;
    }

    async fn say(&self, words: &str) {
        let line = format!("machine `{}`: {words}", self.name);
        let _manager_gone = self.arrivals.send(Arrival::Say(line)).await;
    }

    /// Says why there is no connection, once.
    async fn tell(&mut self, fault: &str, pause: Duration) {
        if self.told != fault {
            self.told = fault.to_owned();
            self.say(&format!("{fault}; trying again in {} s, and then less often", pause.as_secs())).await;
        }
    }

    /// Has a worker play until the connection ends: why it ended, and the exit code of `ssh`, which is that of the worker.
    async fn connect(&mut self) -> (String, Option<i32>) {
        let directory = boot::directory(&self.options, &self.id);
        let found = match self.program.find().await {
            Ok(found) => found.clone(),
            Err(why) => return (why.to_string(), None),
        };
        let started = Child::start(&self.options, &self.host, &boot::shell(&directory, &found));
        let (child, (mut input, output, errors)) = match started {
            Ok(started) => started,
            Err(why) => return (format!("`{}` does not start: {why}", self.options.command.join(" ")), None),
        };
        let complaints = Complaints::default();
        let listening =
            tokio::spawn(complaints.clone().listen(errors, self.name.clone(), self.arrivals.clone()));
        let mut output = Reader::new(output, SILENCE);
        let fault = self.converse(&mut input, &mut output, &found, &complaints).await;
        drop(input);
        let code = child.end(LAST).await;
        listening.abort();
        if code.is_some_and(|code| ENDS.contains(&code)) && complaints.is_up() {
            self.is_there = false;
        }
        let heard = std::mem::take(&mut complaints.0.lock().kept).join("; ");
        (if heard.is_empty() { fault } else { heard }, code)
    }

    /// Boots a worker and passes on what it says; why that ended.
    async fn converse(
        &mut self,
        input: &mut ChildStdin,
        output: &mut Reader<ChildStdout>,
        found: &boot::Found,
        complaints: &Complaints,
    ) -> String {
        let mut gate = self.gate.clone();
        let program = self.program.clone();
        self.is_there = true;
        let booted = {
            // Less than what else is said: it may be left out.
            let say = |words| {
                let line = format!("machine `{}`: {words}", self.name);
                let _full = self.arrivals.try_send(Arrival::Say(line));
            };
            let booting = boot(input, output, &program, found, say);
            tokio::select! {
                booted = booting => booted,
                _ = gate.wait_for(|gate| *gate != Gate::Open) => return "it is not wanted any more".to_owned(),
            }
        };
        match booted {
            Ok(()) => {}
            Err(BootFault::Frame(FrameFault::Ended)) => {
                return "the connection ended before a worker was there".to_owned();
            }
            Err(why) => return why.to_string(),
        }
        complaints.0.lock().is_up = true;
        self.told.clear();
        let (queue, queued) = mpsc::channel(QUEUE);
        let session = crate::new_session();
        let begin = Begin {
            event: self.event,
            worker: self.id.clone(),
            name: self.name.clone(),
            session,
            slots: self.options.slots,
            oversubscribe: self.options.oversubscribe,
            keep: self.options.keep.as_secs(),
        };
        if let Some(begin) = Frame::json(Kind::Begin, 0, &begin) {
            let _fits = queue.try_send(begin);
        }
        let farewell = queue.downgrade();
        let cut = CancellationToken::new();
        *self.line.lock() = Some(Line { session, queue, _cut: cut.clone().drop_guard() });
        let (pieces, asked) = mpsc::channel(PIECES);
        tokio::select! {
            fault = self.read(session, output, pieces) => fault.to_string(),
            fault = self.write(input, queued, asked) => fault,
            () = cut.cancelled() => "it does not read what it is sent".to_owned(),
            () = farewell_to(gate, farewell) => "it did not end when it was asked to".to_owned(),
        }
    }

    /// Passes on what the worker sends, as fast as it is taken.
    async fn read(
        &self,
        session: u64,
        output: &mut Reader<ChildStdout>,
        pieces: mpsc::Sender<Frame>,
    ) -> FrameFault {
        let from = Sender { id: self.id.clone(), key: KeyName::Known(self.name.clone()) };
        let (mut ponged, mut signs): (Option<Instant>, u32) = (None, 0);
        loop {
            let frame = match output.frame().await {
                Ok(frame) => frame,
                Err(why) => return why,
            };
            let arrival = match frame.kind {
                // One that comes too soon after another needs no answer.
                Kind::Ping => {
                    if ponged.is_none_or(|then| then.elapsed() >= Duration::from_secs(1)) {
                        (ponged, signs) = (Some(Instant::now()), 0);
                        self.queue(Frame::bare(Kind::Pong, frame.number));
                    }
                    signs += 1;
                    if signs > SIGNS {
                        return other("it gives signs of life without end".to_owned());
                    }
                    continue;
                }
                Kind::Fetch => {
                    if pieces.send(frame).await.is_err() {
                        return FrameFault::Ended;
                    }
                    continue;
                }
                Kind::Board => Arrival::Sight(from.clone(), frame.body),
                kind => match kind.name() {
                    Some(name) => Arrival::Letter(Letter {
                        from: from.clone(),
                        kind: name.to_owned(),
                        payload: frame.body,
                        reply: format!("{session}.{}", frame.number),
                    }),
                    None => continue,
                },
            };
            if self.arrivals.send(arrival).await.is_err() {
                return FrameFault::Ended;
            }
        }
    }

    fn queue(&self, frame: Frame) {
        if let Some(line) = &*self.line.lock() {
            // A worker that reads nothing needs no sign of life either.
            let _full = line.queue.try_send(frame);
        }
    }

    /// Writes what is queued, and between that pieces of files, one at a time.
    async fn write(
        &self,
        input: &mut ChildStdin,
        mut queued: mpsc::Receiver<Frame>,
        mut asked: mpsc::Receiver<Frame>,
    ) -> String {
        let mut given = Given::default();
        loop {
            let frame = tokio::select! { biased;
                Some(frame) = queued.recv() => frame,
                Some(fetch) = asked.recv() => {
                    let piece = self.piece(&fetch).await;
                    if given.is_too_much(&fetch, &piece) {
                        return "it asks for files again and again".to_owned();
                    }
                    piece
                }
                else => return "nothing is left to send".to_owned(),
            };
            let written = async {
                input.write_all(&frame.bytes()).await?;
                input.flush().await
            };
            if let Err(why) = written.await {
                return format!("nothing can be sent: {why}");
            }
        }
    }

    /// The answer to a request for a piece of a file.
    async fn piece(&self, fetch: &Frame) -> Frame {
        let found = match fetch.fetched() {
            Some((sha256, piece)) => self.shelf.piece(sha256, piece).await,
            None => Ok(None),
        };
        match found {
            Ok(Some(body)) => Frame { kind: Kind::Piece, number: fetch.number, body },
            Ok(None) => Frame::bare(Kind::NoPiece, fetch.number),
            Err(why) => {
                self.say(&format!("a file cannot be sent: {why}")).await;
                Frame::bare(Kind::NoPiece, fetch.number)
            }
        }
    }

    /// Removes what a worker that was cut off has left.
    async fn sweep(&mut self) {
        if !std::mem::take(&mut self.is_there) {
            return;
        }
        let directory = boot::directory(&self.options, &self.id);
        let started = Child::start(&self.options, &self.host, &boot::sweep(&directory));
        let code = match started {
            Ok((child, _pipes)) => child.end(GRACE).await,
            Err(_) => None,
        };
        if code != Some(0) {
            let keep = self.options.keep.as_secs();
            let words = format!(
                "`{directory}` may have stayed there: a worker that lives removes it {keep} s after its connection broke"
            );
            self.say(&words).await;
        }
    }
}

/// The pieces of files that a worker was sent over a connection.
#[derive(Default)]
struct Given {
    pieces: HashMap<Vec<u8>, u32>,
    misses: u32,
}

impl Given {
    /// Counts an answer to a request; true if no worker needs so many. Only pieces that are there are remembered.
    fn is_too_much(&mut self, fetch: &Frame, answer: &Frame) -> bool {
        if answer.kind != Kind::Piece {
            self.misses += 1;
            return self.misses > MISSES;
        }
        let times = self.pieces.entry(fetch.body.clone()).or_default();
        *times += 1;
        *times > AGAIN
    }
}

/// Says goodbye once the connection is not wanted any more, and returns when the worker has had time to end.
async fn farewell_to(mut gate: watch::Receiver<Gate>, queue: mpsc::WeakSender<Frame>) {
    drop(gate.wait_for(|gate| *gate != Gate::Open).await);
    if let Some(queue) = queue.upgrade() {
        let _full = queue.try_send(Frame::bare(Kind::Bye, 0));
    }
    sleep(GRACE).await;
}

/// The pause after so many failures one after the other, and this exit code.
fn pause(failures: u32, code: Option<i32>) -> Duration {
    let [first, most] = PAUSES;
    let pause = first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(most);
    if code == Some(COULD_NOT) { pause.max(CANNOT_PLAY) } else { pause }
}

/// What `ssh`, and the worker through it, write to standard error. Before a worker is there the last lines are kept, which
/// say why there is none; then they are shown, as many as a budget allows.
#[derive(Clone, Default)]
struct Complaints(Arc<Mutex<Heard>>);

#[derive(Default)]
struct Heard {
    is_up: bool,
    kept: Vec<String>,
}

impl Complaints {
    fn is_up(&self) -> bool {
        self.0.lock().is_up
    }

    /// Reads to the end, so that the far side never waits for it.
    async fn listen(self, errors: ChildStderr, name: String, arrivals: mpsc::Sender<Arrival>) {
        let mut lines = Lines::new(errors);
        let (mut left, mut since) = (LINES, Instant::now());
        while let Some(line) = lines.next().await {
            {
                let mut heard = self.0.lock();
                if !heard.is_up {
                    heard.kept.push(line);
                    let surplus = heard.kept.len().saturating_sub(KEPT);
                    heard.kept.drain(..surplus);
                    continue;
                }
            }
            left = (left + since.elapsed().as_secs_f64() / ANOTHER).min(LINES);
            since = Instant::now();
            if left < 1.0 {
                continue;
            }
            left -= 1.0;
            let last = if left < 1.0 { " (further lines are left out)" } else { "" };
            let line = format!("machine `{name}`: {line}{last}");
            if timeout(SILENCE, arrivals.send(Arrival::Say(line))).await.is_err() {
                return;
            }
        }
    }
}

/// Lines of text of a stranger: what is too long is cut, what a terminal obeys is shown.
struct Lines<R>(BufReader<R>);

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(source: R) -> Self {
        Self(BufReader::new(source))
    }

    /// The next line that is not empty; `None`: there are no more.
    async fn next(&mut self) -> Option<String> {
        loop {
            let mut line = vec![];
            let mut most = (&mut self.0).take(4 * LINE as u64);
            most.read_until(b'\n', &mut line).await.ok().filter(|count| *count > 0)?;
            let text = String::from_utf8_lossy(&line);
            if !text.trim().is_empty() {
                return Some(clipped(text.trim(), LINE));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute_and_a_worker_that_cannot_play_is_left_alone_for_one() {
        let seconds = |failures, code| pause(failures, code).as_secs();
        assert_eq!(
            (0..9).map(|failures| seconds(failures, None)).collect::<Vec<_>>(),
            [1, 1, 2, 4, 8, 16, 32, 60, 60]
        );
        assert_eq!(seconds(u32::MAX, Some(255)), 60);
        assert_eq!(seconds(1, Some(COULD_NOT)), 60);
    }

    #[test]
    fn each_piece_of_a_file_is_given_a_few_times_and_any_number_of_others_too() {
        let mut given = Given::default();
        let sha256 = hub::Sha256Sum::of(b"x");
        let mut gives = |piece| {
            let answer = Frame { kind: Kind::Piece, number: 1, body: vec![1] };
            !given.is_too_much(&Frame::fetch(1, sha256, piece), &answer)
        };
        assert!((0..10_000).all(&mut gives), "a large file");
        assert_eq!((0..100).filter(|_| gives(7)).count(), AGAIN as usize - 1);
        assert!(gives(8));
    }

    #[tokio::test]
    async fn lines_of_a_stranger_are_cut_and_cannot_move_the_cursor() {
        let text = ["one\n\n\x1b[2Jtwo\r\n", &"x".repeat(100_000), "\nend"].concat();
        let mut lines = Lines::new(text.as_bytes());
        assert_eq!(lines.next().await.unwrap(), "one");
        let two = lines.next().await.unwrap();
        assert!(two.contains("two") && !two.contains('\x1b'), "{two:?}");
        let mut longest = 0;
        let mut last = String::new();
        while let Some(line) = lines.next().await {
            longest = longest.max(line.len());
            last = line;
        }
        assert!(longest <= LINE + 3 && last == "end", "{longest} {last}");
    }
}
