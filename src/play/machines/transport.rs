//! The way from a worker to its manager: a NATS server, or a pipe with [frames](crate::frame).

use crate::{
    MachineError,
    frame::{Begin, Frame, Kind},
    messages::Sight,
    wire::{BOARD, MessageFault, Wire, WireError},
    worker::{Audience, Input},
};
use arena::Shutdown;
use async_nats::Subscriber;
use bytes::Bytes;
use futures_util::StreamExt;
use hub::{Connection, Pieces, WorkerId};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use std::{
    collections::HashMap,
    fmt,
    io::{self, Read, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

/// Time for an answer over a pipe, which may have much to carry before it.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two signs of life on a pipe, and the time without a byte after which its manager is gone.
const SIGN: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_secs(60);
/// Frames that wait to be written, and orders that wait to be read; then whoever brings more waits.
const QUEUE: usize = 16;
const ORDERS: usize = 4096;

/// The way to a manager.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A server, which both sides connect to.
    Server(Wire),
    /// A pipe, such as the standard input and output of `ssh`.
    Pipe(Pipe),
}

/// What a worker hears from its manager unasked.
pub enum Inbox {
    /// On a server: orders to this worker, orders to all, jobs.
    Server(Box<[Subscriber; 3]>, Wire),
    /// On a pipe.
    Pipe(mpsc::Receiver<Frame>),
}

impl Transport {
    /// Asks the manager.
    ///
    /// # Errors
    /// See [`WireError`].
    pub async fn ask<A: DeserializeOwned>(
        &self,
        worker: &WorkerId,
        kind: &str,
        message: Vec<u8>,
    ) -> Result<A, WireError> {
        match self {
            Self::Server(wire) => wire.ask(worker, kind, message).await,
            Self::Pipe(pipe) => pipe.ask(kind, message).await,
        }
    }

    /// Shows a board; false if there is no way for the next one. Nothing waits for it.
    pub async fn show(&self, worker: &WorkerId, sight: &Sight) -> bool {
        match self {
            Self::Server(wire) => wire.show(worker, sight).await,
            Self::Pipe(pipe) => pipe.show(sight),
        }
    }

    /// Begins to listen. On a pipe only once.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn inbox(&self, worker: &WorkerId) -> Result<Inbox, MachineError> {
        match self {
            Self::Server(wire) => {
                let (orders, jobs) =
                    (wire.to_worker(worker, "ctl").await?, wire.to_worker(worker, "job").await?);
                Ok(Inbox::Server(Box::new([orders, wire.to_all().await?, jobs]), wire.clone()))
            }
            Self::Pipe(pipe) => pipe.0.told.lock().take().map(Inbox::Pipe).ok_or(MachineError::PipeTaken),
        }
    }

    /// Waits until everything said is on its transport.
    pub async fn flush(&self) {
        match self {
            Self::Server(wire) => wire.flush().await,
            // What waits for an answer has left, and nothing else matters.
            Self::Pipe(_) => {}
        }
    }
}

impl Inbox {
    /// The next order or job. Nothing is lost when this future is dropped.
    pub async fn next(&mut self) -> Input {
        match self {
            Self::Server(subscribers, wire) => {
                let [orders, to_all, jobs] = &mut **subscribers;
                tokio::select! { biased;
                    Some(order) = orders.next() => Input::Order(wire.read(&order.payload, false), Audience::This),
                    Some(order) = to_all.next() => Input::Order(wire.read(&order.payload, true), Audience::All),
                    Some(job) = jobs.next() => Input::Job(wire.read(&job.payload, false)),
                    else => std::future::pending().await,
                }
            }
            Self::Pipe(frames) => match frames.recv().await {
                Some(frame) if frame.kind == Kind::Job => Input::Job(read(&frame.body)),
                Some(frame) if frame.kind == Kind::OrderAll => Input::Order(read(&frame.body), Audience::All),
                Some(frame) => Input::Order(read(&frame.body), Audience::This),
                None => std::future::pending().await,
            },
        }
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, MessageFault> {
    Ok(serde_json::from_slice(body)?)
}

/// A pipe to the manager. It ends with the manager: when it is cut, so are the games.
#[derive(Clone)]
pub struct Pipe(Arc<PipeState>);

struct PipeState {
    out: mpsc::Sender<Frame>,
    /// Questions that wait for their answers.
    waiting: Mutex<HashMap<u32, oneshot::Sender<Frame>>>,
    next: AtomicU32,
    /// Jobs and orders, until somebody listens.
    told: Mutex<Option<mpsc::Receiver<Frame>>>,
    connection: watch::Sender<Connection>,
    heard: Mutex<Instant>,
    /// True if the manager has ended this connection for good.
    is_over: AtomicBool,
    shutdown: Shutdown,
}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pipe(..)")
    }
}

impl Pipe {
    /// Waits for the first frame of the manager, and begins to read and write. When the pipe ends, games are adjourned by
    /// `shutdown`.
    ///
    /// # Errors
    /// When the first frame is another one, or the system has no thread.
    pub fn open(
        mut input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        shutdown: &Shutdown,
    ) -> Result<(Self, Begin), MachineError> {
        let first = Frame::read_from(&mut input)?;
        if first.kind != Kind::Begin {
            return Err(MachineError::Begin(first.kind));
        }
        let begin = serde_json::from_slice(&first.body)?;
        let (out, frames) = mpsc::channel(QUEUE);
        let (tell, told) = mpsc::channel(ORDERS);
        let ends = PipeState {
            out,
            waiting: Mutex::default(),
            next: AtomicU32::new(1),
            told: Mutex::new(Some(told)),
            connection: watch::Sender::new(Connection::Up),
            heard: Mutex::new(Instant::now()),
            is_over: AtomicBool::new(false),
            shutdown: shutdown.clone(),
        };
        let ends = Arc::new(ends);
        let (reader, writer, signs) = (ends.clone(), ends.clone(), ends.clone());
        spawn("stdin", move || reader.read(input, &tell))?;
        spawn("stdout", move || writer.write(output, frames))?;
        spawn("signs", move || signs.give_signs())?;
        Ok((Self(ends), begin))
    }

    /// How the pipe stands.
    #[must_use]
    pub fn connection(&self) -> watch::Receiver<Connection> {
        self.0.connection.subscribe()
    }

    /// True if the pipe broke, and the manager may come back; false if it has ended it for good, or it is still there.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        *self.0.connection.borrow() != Connection::Up && !self.0.is_over.load(Relaxed)
    }

    /// Pieces of files, by the pipe.
    #[must_use]
    pub fn pieces(&self) -> Pieces {
        let pipe = self.clone();
        Arc::new(move |sha256, piece| {
            let pipe = pipe.clone();
            Box::pin(async move {
                // However long it takes: the line may be slow, and a manager that is gone ends the pipe.
                let answer = pipe.send(|number| Frame::fetch(number, sha256, piece)).await?;
                let frame = answer.await.map_err(|_| WireError::Ended)?;
                Ok((frame.kind == Kind::Piece).then(|| Bytes::from(frame.body)))
            })
        })
    }

    async fn ask<A: DeserializeOwned>(&self, kind: &str, body: Vec<u8>) -> Result<A, WireError> {
        let kind = Kind::question(kind).ok_or_else(|| WireError::NoQuestion(kind.to_owned()))?;
        let answer = self.send(|number| Frame { kind, number, body }).await?;
        match timeout(PATIENCE, answer).await {
            Ok(Ok(frame)) => Ok(read(&frame.body)?),
            Ok(Err(_)) => Err(WireError::Ended),
            Err(_) => Err(WireError::Late(PATIENCE)),
        }
    }

    /// Sends a question; its answer comes by the channel, which is closed when the pipe is.
    async fn send(&self, frame: impl FnOnce(u32) -> Frame) -> Result<oneshot::Receiver<Frame>, WireError> {
        let (answer, answered) = oneshot::channel();
        let number = self.0.next.fetch_add(1, Relaxed);
        {
            let mut waiting = self.0.waiting.lock();
            waiting.retain(|_, question| !question.is_closed());
            waiting.insert(number, answer);
        }
        if *self.0.connection.borrow() != Connection::Up {
            return Err(WireError::Ended);
        }
        self.0.out.send(frame(number)).await.map_err(|_| WireError::Ended)?;
        Ok(answered)
    }

    fn show(&self, sight: &Sight) -> bool {
        match Frame::json(Kind::Board, 0, sight).filter(|frame| frame.body.len() <= BOARD) {
            Some(frame) => self.0.out.try_send(frame).is_ok(),
            None => true,
        }
    }
}

impl PipeState {
    fn read(&self, input: impl Read, tell: &mpsc::Sender<Frame>) {
        let mut input = Noted { source: input, heard: &self.heard };
        while let Ok(frame) = Frame::read_from(&mut input) {
            let goes_on = match frame.kind {
                Kind::Answer | Kind::Piece | Kind::NoPiece => {
                    if let Some(question) = self.waiting.lock().remove(&frame.number) {
                        let _nobody_waits = question.send(frame);
                    }
                    true
                }
                Kind::Job | Kind::Order | Kind::OrderAll => tell.blocking_send(frame).is_ok(),
                Kind::Bye => {
                    self.is_over.store(true, Relaxed);
                    false
                }
                _ => true,
            };
            if !goes_on {
                break;
            }
        }
        self.end();
    }

    fn write(&self, mut output: impl Write, mut frames: mpsc::Receiver<Frame>) {
        while let Some(frame) = frames.blocking_recv() {
            if output.write_all(&frame.bytes()).and_then(|()| output.flush()).is_err() {
                break;
            }
        }
        self.end();
    }

    /// Tells the manager every few seconds that this worker is there, and ends the pipe when the manager is silent.
    fn give_signs(&self) {
        while *self.connection.borrow() == Connection::Up {
            // A queue that is full says it, too.
            let _full = self.out.try_send(Frame::bare(Kind::Ping, 0));
            thread::sleep(SIGN);
            if self.heard.lock().elapsed() > SILENCE {
                self.end();
            }
        }
    }

    fn end(&self) {
        self.connection.send_if_modified(|connection| {
            let was_up = *connection == Connection::Up;
            *connection = Connection::Down;
            was_up
        });
        self.waiting.lock().clear();
        self.shutdown.adjourn();
    }
}

/// Notes when bytes have come.
struct Noted<'a, R> {
    source: R,
    heard: &'a Mutex<Instant>,
}

impl<R: Read> Read for Noted<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(to)?;
        *self.heard.lock() = Instant::now();
        Ok(count)
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), MachineError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(MachineError::Thread)
}
