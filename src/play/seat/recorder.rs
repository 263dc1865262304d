//! The thread that keeps what engines said and were told: it formats the lines, so that no game waits for it.
//!
//! Games that ended by a fault go to the database. Where a directory is given, every game goes there too, a file for each
//! side. A full or slow disk ends the files, and never a game.

use crate::recording::{Block, Complete, RecordedGame};
use notation::{date, file_name, printable};
use referee::{
    Color,
    entry::{Entry, GameId},
    sink::{Channel, Direction, SideRecord, Sink, TranscriptPiece},
};
use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, SyncSender},
    },
    thread::{self, JoinHandle},
};

/// Notes that wait for the thread at most.
const QUEUE: usize = 256;
/// Bytes of games that ended by a fault, kept in the database by one run at most.
const MAX_KEPT: u64 = 256 * 1024 * 1024;

/// What a recorder needs to know of its event.
pub struct RecorderSpec {
    /// Name of the event, for the names of files.
    pub event: String,
    /// Where every game is written down; `None`: nowhere.
    pub directory: Option<PathBuf>,
    /// Takes the games that ended by a fault.
    pub sink: Arc<dyn Sink>,
    /// Shows a line to the people who follow the event.
    pub say: Arc<dyn Fn(&str) + Send + Sync>,
}

/// A handle to the thread, for each seat.
#[derive(Clone, Debug)]
pub struct Recorder {
    notes: SyncSender<Note>,
    /// Pieces that found the queue full.
    lost: Arc<AtomicU64>,
    /// True if every game is written down.
    streams: bool,
}

/// The running thread.
#[derive(Debug)]
pub struct Recorded {
    recorder: Recorder,
    thread: JoinHandle<()>,
}

#[derive(Debug)]
enum Note {
    Lines { game: GameId, color: Color, name: Arc<str>, block: Block },
    Complete { name: Arc<str>, complete: Box<Complete> },
    Finish,
}

/// The extension of the files of the log.
const EXTENSION: &str = "log";

/// The file of a game's side in a directory of an event.
pub fn path(directory: &Path, event: &str, game: GameId, color: Color, player: &str) -> PathBuf {
    let (event, player) = (file_name(event), file_name(player));
    directory.join(format!("{event}-{:06}-{color}-{player}.{EXTENSION}", game.0))
}

/// True if a file has such a name, of whichever event: a directory that one run was given may be unknown to the next.
pub fn is_log(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let is_game = |part: &str| part.len() >= 6 && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = name.split('-').collect();
    path.extension().is_some_and(|extension| extension == EXTENSION)
        && parts.windows(2).any(|two| is_game(two[0]) && ["black", "white"].contains(&two[1]))
}

/// Renames the files of an event that has another name now, so that its games keep their lines.
///
/// # Errors
/// When the directory cannot be read, or a file not be renamed.
pub fn rename(directory: &Path, event: &str, now: &str) -> io::Result<()> {
    let [before, now] = [event, now].map(|event| file_name(event) + "-");
    let found = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    for entry in found {
        let name = entry?.file_name();
        // The name of an event has no `-` there: what follows is a game.
        if let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(&before)) {
            fs::rename(directory.join(&name), directory.join(format!("{now}{rest}")))?;
        }
    }
    Ok(())
}

impl Recorded {
    /// Starts the thread. A directory is made if it does not exist.
    ///
    /// # Errors
    /// When the directory cannot be made, or the system has no thread.
    pub fn start(spec: RecorderSpec) -> io::Result<Self> {
        if let Some(directory) = &spec.directory {
            fs::create_dir_all(directory)?;
        }
        let (notes, inbox) = mpsc::sync_channel(QUEUE);
        let lost = Arc::<AtomicU64>::default();
        let recorder = Recorder { notes, lost: lost.clone(), streams: spec.directory.is_some() };
        let keeper = Keeper { spec, lost, files: HashMap::new(), kept: 0, full: false };
        let thread = thread::Builder::new().name("recorder".to_owned()).spawn(move || keeper.run(&inbox))?;
        Ok(Self { recorder, thread })
    }

    /// A handle for a seat.
    pub fn handle(&self) -> Recorder {
        self.recorder.clone()
    }

    /// Waits until everything that was handed over is kept.
    pub fn finish(self) {
        let _thread_gone = self.recorder.notes.send(Note::Finish);
        let _panic_printed = self.thread.join();
    }
}

impl Recorder {
    /// True if lines are handed over while a game is played.
    pub fn streams(&self) -> bool {
        self.streams
    }

    /// Hands over lines of a running game.
    pub fn lines(&self, game: GameId, color: Color, name: &Arc<str>, block: Block) {
        self.put(Note::Lines { game, color, name: name.clone(), block });
    }

    /// Hands over the last lines of a game, and all of them if it is kept.
    pub fn complete(&self, name: &Arc<str>, complete: Complete) {
        if complete.recorded.is_some() || complete.fresh.is_some() {
            self.put(Note::Complete { name: name.clone(), complete: Box::new(complete) });
        }
    }

    /// A game never waits for a slow disk.
    fn put(&self, note: Note) {
        if self.notes.try_send(note).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What the thread owns.
struct Keeper {
    spec: RecorderSpec,
    lost: Arc<AtomicU64>,
    files: HashMap<(GameId, Color), Log>,
    /// Bytes in the database.
    kept: u64,
    /// True if it was said that the database takes no more.
    full: bool,
}

/// An open file, and the time of its first line.
struct Log {
    file: BufWriter<File>,
    first: Option<i64>,
}

impl Keeper {
    fn run(mut self, inbox: &Receiver<Note>) {
        let mut told = false;
        while let Ok(note) = inbox.recv() {
            match note {
                Note::Finish => break,
                Note::Lines { game, color, name, block } => self.write(game, color, &name, &block, false),
                Note::Complete { name, complete } => {
                    let Complete { game, color, recorded, fresh } = *complete;
                    if let Some(fresh) = fresh {
                        self.write(game, color, &name, &fresh, true);
                    }
                    if let Some(recorded) = recorded {
                        self.keep(game, color, &recorded);
                    }
                }
            }
            let lost = self.lost.load(Ordering::Relaxed);
            if lost > 0 && !std::mem::replace(&mut told, true) {
                (self.spec.say)("the disk is too slow for the log: lines of engines are left out of it");
            }
        }
    }

    /// Writes lines to the file of their game; a disk that takes no more ends the files.
    fn write(&mut self, game: GameId, color: Color, name: &str, block: &Block, last: bool) {
        let Some(directory) = self.spec.directory.clone() else { return };
        let path = path(&directory, &self.spec.event, game, color, name);
        let written = self.open(game, color, name, &path).and_then(|log| log.write(block));
        let mut written = written;
        if last && let Some(mut log) = self.files.remove(&(game, color)) {
            written = written.and_then(|()| log.file.flush());
        }
        if let Err(error) = written {
            (self.spec.say)(&format!(
                "{}: {error}: the log of engines ends here, the games go on",
                path.display()
            ));
            self.spec.directory = None;
            self.files.clear();
        }
    }

    fn open(&mut self, game: GameId, color: Color, name: &str, path: &Path) -> io::Result<&mut Log> {
        Ok(match self.files.entry((game, color)) {
            std::collections::hash_map::Entry::Occupied(open) => open.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                let mut file = BufWriter::new(platform::files::create(path)?);
                writeln!(
                    file,
                    "# game {}, {color}: {} (UTC, seconds since the first line; > to the engine, < from it, ! its stderr)",
                    game.0,
                    printable(name.as_bytes())
                )?;
                place.insert(Log { file, first: None })
            }
        })
    }

    /// Keeps a whole game in the database.
    fn keep(&mut self, game: GameId, color: Color, recorded: &RecordedGame) {
        if self.kept + recorded.len() as u64 > MAX_KEPT {
            if !std::mem::replace(&mut self.full, true) {
                let text = format!(
                    "games that ended by a fault take {} MiB of the database: the lines of engines in further ones are \
                     not kept; `--log DIR` writes all of them to files",
                    MAX_KEPT >> 20
                );
                self.spec.sink.happened(Entry::Fault { player: None, text });
            }
            return;
        }
        self.kept += recorded.len() as u64;
        for (part, piece) in (0..).zip(pieces(recorded)) {
            let (at, lines) = piece;
            let channel = Channel::Engine;
            let piece = TranscriptPiece { game, color, channel, part, at, lines };
            self.spec.sink.keep(SideRecord::Transcript(piece));
        }
    }
}

impl Log {
    fn write(&mut self, block: &Block) -> io::Result<()> {
        for (at, way, bytes) in block.lines() {
            let since = (at - *self.first.get_or_insert(at)).max(0);
            let (time, micros) = (date::text(at / 1000), at % 1_000_000);
            let (seconds, part, mark) = (since / 1_000_000, since % 1_000_000, way.mark());
            writeln!(self.file, "{time}.{micros:06} {seconds:>4}.{part:06} {mark} {}", printable(bytes))?;
        }
        self.file.flush()
    }
}

/// The pieces of a game for the database, each with the time of its first line in ms.
fn pieces(recorded: &RecordedGame) -> impl Iterator<Item = (i64, Vec<u8>)> {
    let (left_out, bytes) = recorded.left_out;
    recorded.blocks.iter().enumerate().filter(|(_, block)| !block.is_empty()).map(move |(number, block)| {
        let mut lines = Vec::with_capacity(block.len());
        let mut began = None;
        for (at, way, line) in block.lines() {
            let first = *began.get_or_insert(at / 1000 * 1000);
            if lines.is_empty() && number == OLDER && left_out > 0 {
                let what = format!("{left_out} lines ({bytes} bytes) are left out here");
                line_to(&mut lines, at - first, Direction::Remark, what.as_bytes());
            }
            line_to(&mut lines, at - first, way, line);
        }
        (began.unwrap_or_default() / 1000, lines)
    })
}

/// Which block follows the lines that were left out.
const OLDER: usize = 2;

/// Appends a line as [`TranscriptPiece`] has them.
fn line_to(lines: &mut Vec<u8>, micros: i64, way: Direction, bytes: &[u8]) {
    let _infallible = write!(lines, "{micros} {} ", way.mark());
    lines.extend_from_slice(bytes);
    lines.push(b'\n');
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
