//! Output to stdout and stderr. A closed pipe (`renmei report | head`) is ignored; `println!` would panic.
//!
//! Whatever is printed passes through here, and is made safe for a terminal here, whoever wrote the text: names, errors,
//! paths, what engines and strangers said. A line end is the only control character that comes through.
//!
//! A program that plays waits for no reader ([`never_wait`]): a stream has a thread of its own, a bounded queue before it,
//! and lines beyond are counted and left out. So a terminal that was stopped, or a pipe that nobody reads, holds up
//! neither a game nor the end of the program.

use notation::printable_lines;
use parking_lot::{Condvar, Mutex};
use std::{
    io::{self, Write},
    mem,
    sync::{
        Arc, LazyLock, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// Prints a line on stdout.
#[macro_export]
macro_rules! out_line {
    ($($text:tt)*) => {
        $crate::output::print($crate::output::Stream::Out, &format!("{}\n", format_args!($($text)*)))
    };
}

/// Prints text on stdout, without a line end of its own.
#[macro_export]
macro_rules! out {
    ($($text:tt)*) => {
        $crate::output::print($crate::output::Stream::Out, &format!($($text)*))
    };
}

/// Prints a line on stderr.
#[macro_export]
macro_rules! err_line {
    ($($text:tt)*) => {
        $crate::output::print($crate::output::Stream::Err, &format!("{}\n", format_args!($($text)*)))
    };
}

/// A standard stream.
#[derive(Clone, Copy, Debug)]
pub enum Stream {
    /// stdout.
    Out,
    /// stderr.
    Err,
}

static LOST: OnceLock<String> = OnceLock::new();
static NEVER_WAITS: AtomicBool = AtomicBool::new(false);
static OUTLETS: [LazyLock<Option<Arc<Outlet>>>; 2] = [
    LazyLock::new(|| Outlet::open("stdout", io::stdout()).ok()),
    LazyLock::new(|| Outlet::open("stderr", io::stderr()).ok()),
];

/// From now on nobody waits for the readers of the streams: the program plays.
pub fn never_wait() {
    NEVER_WAITS.store(true, Ordering::Relaxed);
}

/// Waits a bounded time until everything is written, at the end of the program.
pub fn settle() {
    let left_out = Stream::Out.outlet().map_or(0, |outlet| outlet.wait(PATIENCE));
    if left_out > 0 {
        say(&format!(
            "stdout is not read: lines were left out ({left_out}); `renmei report` prints the report again"
        ));
    }
    Stream::Err.outlet().map(|outlet| outlet.wait(PATIENCE));
}

/// Prints a line on stderr, made safe, without waiting for its reader if the program plays.
pub fn say(line: &str) {
    let _reader_gone = Stream::Err.write_all(printable_lines(&format!("{line}\n")).as_bytes());
}

/// Prints text, made safe, after everything that was printed before.
pub fn print(mut to: Stream, text: &str) {
    for stream in [Stream::Out, Stream::Err] {
        stream.outlet().map(|outlet| outlet.wait(PATIENCE));
    }
    let written = to.write_all(printable_lines(text).as_bytes());
    // A reader that has gone wants no more.
    if let (Err(error), Stream::Out) = (written, to)
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        LOST.get_or_init(|| error.to_string());
    }
}

/// Why something that was printed on stdout is not there: the disk of its file is full, say.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

impl Stream {
    fn outlet(self) -> Option<&'static Outlet> {
        let waits = !NEVER_WAITS.load(Ordering::Relaxed);
        if waits { None } else { OUTLETS[self as usize].as_deref() }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (self.outlet(), self) {
            (Some(outlet), _) => outlet.put(bytes),
            (None, Self::Out) => io::stdout().write_all(bytes)?,
            (None, Self::Err) => io::stderr().write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes that wait for a reader at most.
const QUEUE: usize = 1 << 20;
/// Bytes of one write.
const PIECE: usize = 4096;
/// Longest wait for a reader.
const PATIENCE: Duration = Duration::from_secs(2);

/// The queue before a stream, and its thread.
#[derive(Debug, Default)]
struct Outlet {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    text: Vec<u8>,
    /// Lines that found no room after the text.
    left_out: u64,
    is_writing: bool,
    /// True if the last wait for the reader was in vain, until it reads again.
    is_stuck: bool,
}

impl Outlet {
    fn open(name: &str, mut to: impl Write + Send + 'static) -> io::Result<Arc<Self>> {
        let outlet = Arc::<Self>::default();
        let shared = outlet.clone();
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            loop {
                let text = shared.take();
                let _reader_gone = text.chunks(PIECE).try_for_each(|piece| {
                    to.write_all(piece)?;
                    to.flush()?;
                    shared.queue.lock().is_stuck = false;
                    io::Result::Ok(())
                });
            }
        })?;
        Ok(outlet)
    }

    /// Takes text if there is room. Waits for nobody.
    fn put(&self, text: &[u8]) {
        let mut queue = self.queue.lock();
        let is_full = !queue.text.is_empty() && queue.text.len() + text.len() > QUEUE;
        match is_full || queue.left_out > 0 {
            true => queue.left_out += text.iter().filter(|byte| **byte == b'\n').count() as u64,
            false => queue.text.extend_from_slice(text),
        }
        drop(queue);
        self.changed.notify_all();
    }

    /// What is written next: all of the text, and how many lines are missing after it.
    fn take(&self) -> Vec<u8> {
        let mut queue = self.queue.lock();
        queue.is_writing = false;
        self.changed.notify_all();
        self.changed.wait_while(&mut queue, |queue| queue.text.is_empty());
        queue.is_writing = true;
        let mut text = mem::take(&mut queue.text);
        let left_out = mem::take(&mut queue.left_out);
        if left_out > 0 {
            text.extend_from_slice(format!("... {left_out} lines left out: nobody read them\n").as_bytes());
        }
        text
    }

    /// Waits until everything is written, or for a while; not again for a reader that was waited for in vain. Returns the
    /// number of lines that are not written.
    fn wait(&self, patience: Duration) -> u64 {
        let mut queue = self.queue.lock();
        let is_busy = |queue: &mut Queue| !queue.is_stuck && (queue.is_writing || !queue.text.is_empty());
        if self.changed.wait_while_for(&mut queue, is_busy, patience).timed_out() {
            queue.is_stuck = true;
        }
        let waiting = queue.text.iter().filter(|byte| **byte == b'\n').count() as u64;
        waiting + queue.left_out
    }
}

/// A writer of lines whose content is made safe. A line is written when it is complete.
#[derive(Debug)]
pub struct Printable<W: Write> {
    to: W,
    line: Vec<u8>,
}

impl<W: Write> Printable<W> {
    /// Passes lines on to `to`.
    pub fn new(to: W) -> Self {
        Self { to, line: vec![] }
    }
}

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            let text = notation::printable(&line[..end]);
            self.to.write_all(format!("{text}\n").as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A pipe that is read once `held` is closed.
    struct Pipe(mpsc::Receiver<()>, mpsc::Sender<Vec<u8>>);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _closed = self.0.recv();
            let _nobody_listens = self.1.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_waits_for_a_reader_that_has_stopped_and_what_it_missed_is_counted() {
        let (go_on, held) = mpsc::channel();
        let (sender, read) = mpsc::channel();
        let outlet = Outlet::open("test", Pipe(held, sender)).unwrap();
        outlet.put(b"first\n");
        // As soon as this is being written, all the rest waits behind it.
        while !outlet.queue.lock().is_writing {
            thread::yield_now();
        }
        let line = [&[b'x'; 1023][..], b"\n"].concat();
        (0..QUEUE / line.len() + 7).for_each(|_| outlet.put(&line));
        assert_eq!(outlet.wait(Duration::ZERO), QUEUE as u64 / 1024 + 7);
        assert!(outlet.wait(Duration::MAX) > 7, "it was waited for in vain once");
        drop(go_on);
        outlet.queue.lock().is_stuck = false;
        assert_eq!(outlet.wait(Duration::MAX), 0);
        let text = String::from_utf8(read.try_iter().flatten().collect()).unwrap();
        assert_eq!(text.lines().count(), 2 + QUEUE / 1024, "{}", text.len());
        assert_eq!(text.lines().last(), Some("... 7 lines left out: nobody read them"));
        outlet.put(b"again\n");
        assert_eq!(outlet.wait(Duration::MAX), 0);
        assert_eq!(read.try_iter().flatten().collect::<Vec<_>>(), b"again\n");
    }
}
