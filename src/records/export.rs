//! `renmei export`.

use super::{
    Joint, RecordsError, ending,
    game::{Frame, make_plain},
    joined,
};
use files::Access;
use journal::{EventSummary, FullGame, GameFilter, GameState, Store};
use notation::{
    file_name,
    record::{self, Format, GameRecord, RecordFault},
};
use referee::entry::GameId;
use std::{
    io::{self, BufWriter, Write},
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

/// Arguments of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The database.
    pub db: PathBuf,
    /// Name of the event; `None`: the last one.
    pub event: Option<String>,
    /// Games by number (`7`, `10-20`); empty: all that count.
    pub game: Vec<String>,
    /// Includes games that do not count.
    pub all: bool,
    /// The format.
    pub format: Format,
    /// A directory (`DIR/`) for one file per game, a file for all games, or `-` for stdout.
    pub output: PathBuf,
    /// Who may read the files.
    pub access: Access,
}

/// Result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportReport {
    /// Number of games written.
    pub games: usize,
    /// Games that are left out, with the reason: those whose moves were dropped, and those that PSV or hcpe cannot hold.
    pub left_out: Vec<(GameId, String)>,
}

/// Writes games of an event as records: one file per game in a directory, or all games in one file or on stdout.
///
/// # Errors
/// When the event or a requested game does not exist, the format cannot hold several games in one file, or a file
/// cannot be written.
pub fn export(args: &Export) -> Result<ExportReport, RecordsError> {
    rsshogi::board::init();
    let store = Store::read(&args.db)?;
    let event = event(&store, args.event.as_deref(), &args.db)?;
    let games = selected(&store, &event, args)?;
    let target = Target::of(&args.output);
    let (format, (extension, joint)) = (args.format, joined(args.format));
    if joint == Joint::Single && games.len() > 1 && !matches!(target, Target::Directory(_)) {
        return Err(RecordsError::OneGameAFile { format: name(format), games: games.len() });
    }
    let mut output = Output::open(target, extension, joint, args.access)?;
    let (frame, mut report) = (Frame::of(&event)?, ExportReport::default());
    for number in games {
        let Some(game) = store.game(event.id, number)? else {
            return Err(RecordsError::NoGame(event.name, number.0));
        };
        if game.row.pruned_at.is_some() {
            report.left_out.push((number, "its moves were dropped, as those of old games".to_owned()));
            continue;
        }
        let record = record(&frame, &game, store.game_name(event.id, number)?);
        match bytes(&record, format) {
            Ok(bytes) => {
                output.write(number, [&game.row.black, &game.row.white], &bytes)?;
                report.games += 1;
            }
            Err(fault) if is_packed(format) => report.left_out.push((number, fault.reason)),
            Err(fault) => return Err(RecordsError::Game { game: number.0, reason: fault.to_string() }),
        }
    }
    output.finish()?;
    Ok(report)
}

/// The record of a game of an event, which need not be over; `name` is its Game_ID.
///
/// # Errors
/// When the plan of the event cannot be read, or the format cannot hold the game.
pub fn one(
    event: &EventSummary,
    game: &FullGame,
    name: Option<String>,
    format: Format,
) -> Result<Vec<u8>, RecordsError> {
    bytes_of(&Frame::of(event)?, game, name, format)
}

/// The record of a game in the frame of its event; `name` is its Game_ID.
pub(crate) fn bytes_of(
    frame: &Frame,
    game: &FullGame,
    name: Option<String>,
    format: Format,
) -> Result<Vec<u8>, RecordsError> {
    rsshogi::board::init();
    let number = game.row.game.0;
    bytes(&record(frame, game, name), format)
        .map_err(|fault| RecordsError::Game { game: number, reason: fault.to_string() })
}

fn record(frame: &Frame, game: &FullGame, name: Option<String>) -> GameRecord {
    let mut record = frame.record(game, name);
    if let Some(outcome) = game.row.outcome {
        ending::end(&mut record, outcome);
        ending::explain(&mut record, outcome, &game.row.evidence);
        ending::tell_ruling(&mut record, game.row.ruling.as_ref());
    }
    make_plain(&mut record);
    record
}

/// Finds an event by name; by default the last one.
///
/// # Errors
/// When there is no such event, or the database cannot be read.
pub fn event(store: &Store, name: Option<&str>, db: &Path) -> Result<EventSummary, RecordsError> {
    let mut events = store.events()?;
    let Some(name) = name else {
        return events.pop().ok_or_else(|| RecordsError::NoEvent(db.to_owned()));
    };
    let known = events.iter().map(|event| format!("`{}`", event.name)).collect::<Vec<_>>().join(", ");
    let found = events.into_iter().find(|event| event.name == name);
    found.ok_or_else(|| RecordsError::UnknownEvent {
        name: name.to_owned(),
        db: db.to_owned(),
        known: if known.is_empty() { "none".to_owned() } else { known },
    })
}

fn selected(store: &Store, event: &EventSummary, args: &Export) -> Result<Vec<GameId>, RecordsError> {
    let ranges: Vec<_> = args.game.iter().map(|text| range(text)).collect::<Result<_, _>>()?;
    let counted = (ranges.is_empty() && !args.all).then_some(GameState::Counted);
    let filter = GameFilter { state: counted, ..GameFilter::default() };
    let mut games = Vec::new();
    store.games(event.id, &filter, |row| {
        if ranges.is_empty() || ranges.iter().any(|range| range.contains(&row.game.0)) {
            games.push(row.game);
        }
        Ok::<_, RecordsError>(())
    })?;
    let missing = ranges.iter().find(|range| !games.iter().any(|game| range.contains(&game.0)));
    missing.map_or(Ok(games), |range| Err(RecordsError::NoGame(event.name.clone(), *range.start())))
}

fn range(text: &str) -> Result<RangeInclusive<u64>, RecordsError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(first..=last),
        _ => Err(RecordsError::Selection(text.to_owned())),
    }
}

fn is_packed(format: Format) -> bool {
    matches!(format, Format::Psv | Format::Hcpe)
}

fn name(format: Format) -> &'static str {
    match format {
        Format::Ki2 | Format::Ki2u => "KI2",
        Format::Jkf => "JKF",
        _ => "KIF",
    }
}

/// Encodes a record; packed formats get only the positions whose move has a score.
fn bytes(record: &GameRecord, format: Format) -> Result<Vec<u8>, RecordFault> {
    let bytes = record::write(record, format)?;
    if !is_packed(format) || record.plies.is_empty() {
        return Ok(bytes);
    }
    let entries = bytes.chunks(bytes.len() / record.plies.len());
    let scored = entries.zip(&record.plies).filter(|(_, ply)| ply.score.is_some());
    Ok(scored.flat_map(|(entry, _)| entry).copied().collect())
}

/// Destination of the records.
enum Target {
    Stdout,
    Directory(PathBuf),
    File(PathBuf),
}

impl Target {
    fn of(output: &Path) -> Self {
        match output {
            path if path == Path::new("-") => Self::Stdout,
            path if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") => {
                Self::Directory(path.to_owned())
            }
            path => Self::File(path.to_owned()),
        }
    }
}

enum Output {
    Directory { path: PathBuf, extension: &'static str, access: Access },
    Stream { path: PathBuf, to: Box<dyn Write>, joint: Joint, begun: bool },
}

impl Output {
    fn open(
        target: Target,
        extension: &'static str,
        joint: Joint,
        access: Access,
    ) -> Result<Self, RecordsError> {
        let stream = |path, to| Self::Stream { path, to, joint, begun: false };
        Ok(match target {
            Target::Directory(path) => {
                files::create_directory(&path, access).map_err(RecordsError::io(&path))?;
                Self::Directory { path, extension, access }
            }
            Target::Stdout => stream("stdout".into(), Box::new(BufWriter::new(io::stdout().lock()))),
            Target::File(path) => {
                let file = match access {
                    // A name of the program's own choice.
                    Access::Private => files::create(&path),
                    _ => files::create_shared(&path),
                };
                let file = file.map_err(RecordsError::io(&path))?;
                stream(path, Box::new(BufWriter::new(file)))
            }
        })
    }

    fn write(&mut self, game: GameId, names: [&String; 2], bytes: &[u8]) -> Result<(), RecordsError> {
        match self {
            Self::Directory { path, extension, access } => {
                let [black, white] = names.map(|name| file_name(name));
                let name = PathBuf::from(format!("{:06}-{black}-{white}.{extension}", game.0));
                files::write_below(path, &name, bytes, *access).map_err(RecordsError::io(path.join(name)))
            }
            Self::Stream { path, to, joint, begun } => {
                let between = match joint {
                    Joint::Between(text) if *begun => text,
                    _ => "",
                };
                *begun = true;
                to.write_all(between.as_bytes())
                    .and_then(|()| to.write_all(bytes))
                    .map_err(RecordsError::io(path.as_path()))
            }
        }
    }

    fn finish(self) -> Result<(), RecordsError> {
        match self {
            Self::Directory { .. } => Ok(()),
            Self::Stream { path, mut to, .. } => to.flush().map_err(RecordsError::io(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_chosen_by_number_and_by_range() {
        assert_eq!(range("7").unwrap(), 7..=7);
        assert_eq!(range("10-20").unwrap(), 10..=20);
        for nonsense in ["", "x", "3-", "-3", "20-10", "1-2-3"] {
            assert!(range(nonsense).is_err(), "{nonsense}");
        }
    }
}
