//! Viewers: clients of the stream, all on one thread. A frame counts as seen when the kernel has its last bytes at the
//! viewer's end of the connection, however late this program reads them.

use super::players::micros;
use crate::siege::{
    client::{connect, receive},
    stand_back,
};
use anyhow::{Context, Result, ensure};
use parking_lot::Mutex;
use platform::network::stamp_arrivals;
use serde_json::Value;
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    io::{Read, Write},
    net::SocketAddr,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{io::Interest, net::TcpStream, task::LocalSet};

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// State shared by the viewers and the other threads.
#[derive(Default)]
pub struct Wishes {
    /// The cut viewer closes its connection, and comes back when this is false again.
    pub cut: AtomicBool,
    /// All viewers leave.
    pub stop: AtomicBool,
    /// Viewers whose stream has begun.
    pub watching: AtomicUsize,
    /// Faults of viewers.
    pub faults: Mutex<Vec<String>>,
}

/// A frame that arrived at a viewer.
#[derive(Clone, Copy)]
pub struct Arrival {
    /// Number of the frame.
    pub frame: u64,
    /// When, in µs since 1970.
    pub at: u64,
}

/// Observations of all viewers.
#[derive(Default)]
pub struct Seen {
    pub arrivals: Vec<Arrival>,
    /// Moves of each frame: game and ply.
    pub frames: HashMap<u64, Vec<(u64, u32)>>,
    /// Times at which a viewer was sent to the whole, in µs since 1970.
    pub resets: Vec<u64>,
    /// Games as the cut viewer knows them, with the moves by their plies.
    pub known: BTreeMap<u64, BTreeMap<u32, String>>,
    /// Bytes that all viewers read.
    pub bytes: u64,
}

/// Watches until it is stopped.
///
/// # Errors
/// When the pages refuse a viewer.
pub fn watch(pages: SocketAddr, count: usize, wishes: &Arc<Wishes>) -> Result<Seen> {
    stand_back();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let seen = Rc::new(RefCell::new(Seen::default()));
    let all = async {
        let mut tasks = vec![];
        for number in 0..count {
            let viewer =
                Viewer { number, pages, seen: seen.clone(), wishes: wishes.clone(), last: String::new() };
            tasks.push(tokio::task::spawn_local(viewer.stay()));
            // A crowd comes within seconds, not at once.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        while !wishes.stop.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tasks.iter().for_each(tokio::task::JoinHandle::abort);
        for task in tasks {
            if let Ok(Err(fault)) = task.await {
                wishes.faults.lock().push(format!("{fault:#}"));
            }
        }
    };
    LocalSet::new().block_on(&runtime, all);
    drop(runtime);
    Rc::into_inner(seen).map(RefCell::into_inner).context("a viewer did not end")
}

struct Viewer {
    number: usize,
    pages: SocketAddr,
    seen: Rc<RefCell<Seen>>,
    wishes: Arc<Wishes>,
    /// The id of the last frame that it has seen.
    last: String,
}

impl Viewer {
    /// True for the viewer that is cut off; it remembers every move.
    fn remembers(&self) -> bool {
        self.number == 0
    }

    fn address(&self) -> [u8; 4] {
        [127, 3, (self.number / 200) as u8, (self.number % 200 + 1) as u8]
    }

    async fn stay(mut self) -> Result<()> {
        let whole = get(self.address(), self.pages, "/api/now").context("/api/now")?;
        let whole: Value = serde_json::from_slice(&whole).context("/api/now")?;
        self.last = whole["since"].as_str().context("/api/now has no `since`")?.to_owned();
        if self.remembers() {
            let mut seen = self.seen.borrow_mut();
            whole["games"].as_array().into_iter().flatten().for_each(|game| seen.learn_whole(game));
        }
        self.wishes.watching.fetch_add(1, Ordering::Relaxed);
        loop {
            self.follow().await?;
            while self.wishes.cut.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// Follows the stream until it is cut.
    async fn follow(&mut self) -> Result<()> {
        let stream = connect(self.address(), self.pages)?;
        stamp_arrivals(&stream)?;
        let request = format!("GET /events?since={} HTTP/1.1\r\nHost: {}\r\n\r\n", self.last, self.pages);
        (&stream).write_all(request.as_bytes())?;
        stream.set_nonblocking(true)?;
        let stream = TcpStream::from_std(stream)?;
        let (mut chunk, mut frames) = (vec![0; CHUNK], Frames::default());
        loop {
            if self.remembers() && self.wishes.cut.load(Ordering::Relaxed) {
                return Ok(());
            }
            // The viewer to be cut must not wait for the next frame.
            let patience = if self.remembers() { 100 } else { 60_000 };
            let ready = tokio::time::timeout(Duration::from_millis(patience), stream.readable()).await;
            match ready {
                Ok(ready) => ready?,
                Err(_) if self.remembers() => continue,
                Err(_) => anyhow::bail!("a viewer saw nothing for a minute"),
            }
            let (read, at) = match stream.try_io(Interest::READABLE, || receive(&stream, &mut chunk)) {
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error.into()),
            };
            ensure!(read > 0, "the pages hung up on viewer {}", self.number);
            let mut seen = self.seen.borrow_mut();
            seen.bytes += read as u64;
            frames.take(&chunk[..read], micros(at), self.remembers(), &mut seen, &mut self.last)?;
        }
    }
}

/// A page as it comes, without its head.
pub fn get(from: [u8; 4], pages: SocketAddr, path: &str) -> Result<Vec<u8>> {
    let mut stream = connect(from, pages)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nHost: {pages}\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut answer = vec![];
    stream.read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|end| end == b"\r\n\r\n").context("an answer without a head")?;
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    ensure!(head.starts_with("HTTP/1.1 200"), "{path}: {}", head.lines().next().unwrap_or_default());
    Ok(answer.split_off(end + 4))
}

/// Reads events from the pieces in which they arrive. An event stands in one chunk of the transfer encoding, whose lines
/// are skipped like others that are not of the stream.
#[derive(Default)]
struct Frames {
    line: Vec<u8>,
    /// True if the rest of a line is known already.
    skips: bool,
    is_reset: bool,
    frame: Option<u64>,
}

impl Frames {
    fn take(
        &mut self,
        mut bytes: &[u8],
        at: u64,
        remembers: bool,
        seen: &mut Seen,
        last: &mut String,
    ) -> Result<()> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            if !self.skips {
                self.line.extend_from_slice(&bytes[..end]);
            }
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.line_ended(&line, at, remembers, seen, last)?;
        }
        if !self.skips {
            self.line.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn line_ended(
        &mut self,
        line: &[u8],
        at: u64,
        remembers: bool,
        seen: &mut Seen,
        last: &mut String,
    ) -> Result<()> {
        let was_skipped = std::mem::take(&mut self.skips);
        if line.starts_with(b"event: ") {
            self.is_reset = line == b"event: reset";
        } else if let Some(id) = line.strip_prefix(b"id: ") {
            *last = String::from_utf8_lossy(id).into_owned();
            let number = last.split_once('-').and_then(|(_, number)| number.parse().ok());
            self.frame = Some(number.with_context(|| format!("`{last}` is no id"))?);
            // Frames are the same for all viewers: one of them reads each.
            self.skips = !remembers && self.frame.is_some_and(|frame| seen.frames.contains_key(&frame));
        } else if was_skipped || line.starts_with(b"data: ") {
            let Some(frame) = self.frame.take() else { return Ok(()) };
            if self.is_reset {
                seen.resets.push(at);
                return Ok(());
            }
            // Of the cut viewer only its final knowledge counts.
            if !remembers {
                seen.arrivals.push(Arrival { frame, at });
            }
            if !was_skipped {
                seen.read(frame, &line[6..], remembers)?;
            }
        }
        Ok(())
    }
}

impl Seen {
    fn read(&mut self, frame: u64, data: &[u8], remembers: bool) -> Result<()> {
        let data: Value = serde_json::from_slice(data).context("a frame")?;
        let items = data["items"].as_array().context("a frame without items")?;
        let moved = |item: &Value| {
            (item["k"] == "m")
                .then(|| Some((item["g"].as_u64()?, u32::try_from(item["p"].as_u64()?).ok()?)))
                .flatten()
        };
        self.frames.entry(frame).or_insert_with(|| items.iter().filter_map(moved).collect());
        if remembers {
            for item in items {
                match moved(item) {
                    Some((game, ply)) => {
                        let mv = item["m"].as_str().unwrap_or_default().to_owned();
                        self.known.entry(game).or_default().insert(ply, mv);
                    }
                    None if item["k"] == "s" => self.learn_whole(&item["game"]),
                    None => {}
                }
            }
        }
        Ok(())
    }

    fn learn_whole(&mut self, game: &Value) {
        let known = self.known.entry(game["number"].as_u64().unwrap_or_default()).or_default();
        for ply in game["moves"].as_array().into_iter().flatten() {
            let number = ply["p"].as_u64().and_then(|ply| u32::try_from(ply).ok()).unwrap_or_default();
            known.insert(number, ply["m"].as_str().unwrap_or_default().to_owned());
        }
    }
}
