//! `renmei export`.

use super::{
    Joint, RecordsError, ending,
    game::{Frame, make_plain},
    recording::holds_a_game,
};
use journal::{EventSummary, FullGame, GameFilter, GameRow, Store};
use notation::{
    file_name,
    record::{self, DISTANT_MATE, Format, GameRecord, Ply, Variation},
};
use platform::files::{self, Access};
use referee::{Outcome, annotations::Annotations, entry::GameId, number::number};
use std::{
    fmt, fs,
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
    /// The permissions of the files.
    pub access: Access,
}

/// Result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportReport {
    /// Number of games written.
    pub games: usize,
    /// Number of positions written; `None` in formats of games.
    pub positions: Option<usize>,
    /// Number of moves of these games that are no position of the file, as they have no score.
    pub unscored: usize,
    /// The games left out, by reason.
    pub left_out: Vec<LeftOut>,
    /// The games written in UTF-8, as Shift_JIS lacks characters of them.
    pub in_utf8: Vec<GameId>,
}

/// Games, or parts of games, that an export left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The games.
    pub games: Vec<GameId>,
    /// The part of each of them, such as `variations`; `None`: the whole games.
    pub part: Option<&'static str>,
    /// The reason, as a lowercase fragment: `no move has a score`.
    pub reason: String,
}

impl ExportReport {
    /// What was left out, and what was written otherwise than asked: a line each.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        let in_utf8 = (!self.in_utf8.is_empty()).then(|| {
            let games = number(self.in_utf8.len(), "game");
            format!("{games} written in UTF-8, as Shift_JIS lacks characters: {}", ranges(&self.in_utf8))
        });
        self.left_out.iter().map(ToString::to_string).chain(in_utf8)
    }

    fn leave_out(&mut self, game: GameId, part: Option<&'static str>, reason: &str) {
        match self.left_out.iter_mut().find(|left| left.part == part && left.reason == reason) {
            Some(left) => left.games.push(game),
            None => self.left_out.push(LeftOut { games: vec![game], part, reason: reason.to_owned() }),
        }
    }
}

impl fmt::Display for LeftOut {
    /// `3 games left out, no move has a score: 1-2, 7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = self.part {
            write!(f, "{part} of ")?;
        }
        write!(f, "{} left out, {}: {}", number(self.games.len(), "game"), self.reason, ranges(&self.games))
    }
}

/// The summary, in a line.
impl fmt::Display for ExportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", number(self.games, "game"))?;
        if let Some(positions) = self.positions {
            write!(f, ", {}", number(positions, "position"))?;
        }
        write!(f, " written")?;
        if self.unscored > 0 {
            write!(f, ", {} without a score left out", number(self.unscored, "move"))?;
        }
        Ok(())
    }
}

/// Numbers of games as they are chosen: `1-3, 7`.
fn ranges(games: &[GameId]) -> String {
    let mut ranges: Vec<(u64, u64)> = vec![];
    for GameId(game) in games {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *game => *last = *game,
            _ => ranges.push((*game, *game)),
        }
    }
    let text = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Writes games of an event as records: one file per game in a directory, or all games in one file or on stdout. Nothing
/// is written, and no file made, where no game is.
///
/// # Errors
/// When the event or a requested game does not exist, the format cannot hold several games in one file, or a file
/// cannot be written.
pub fn export(args: &Export) -> Result<ExportReport, RecordsError> {
    rsshogi::board::init();
    let store = Store::read(&args.db)?;
    let event = event(&store, args.event.as_deref(), &args.db)?;
    let mut report = ExportReport::default();
    let games = selected(&store, &event, args, &mut report)?;
    let mut output = Output { args, to: None };
    let (format, extension) = (args.format, args.format.extension());
    if Joint::of(format) == Joint::Single && games.len() > 1 && !output.is_directory() {
        return Err(RecordsError::OneGameAFile(extension, games.len()));
    }
    report.positions = is_packed(format).then_some(0);
    let frame = Frame::of(&event)?;
    for number in games {
        let Some(game) = store.game(event.id, number)? else {
            return Err(RecordsError::NoGame(event.name, number.0));
        };
        if game.row.pruned_at.is_some() {
            report.leave_out(number, None, "the moves were dropped, as those of old games");
            continue;
        }
        let annotations = store.annotations(event.id, number)?;
        let record = record(&frame, &game, store.game_name(event.id, number)?, &annotations);
        if let Some((bytes, format)) = bytes(&record, format, number, &mut report)? {
            let names = [&game.row.black, &game.row.white];
            output.write(number, names, format.extension(), &bytes)?;
            report.games += 1;
        }
    }
    output.finish()?;
    Ok(report)
}

/// The record of a game of an event, which need not be over; `name` is its Game_ID, `annotations` its comments and
/// variations.
///
/// # Errors
/// When the plan of the event cannot be read.
pub fn record_of(
    event: &EventSummary,
    game: &FullGame,
    name: Option<String>,
    annotations: &Annotations,
) -> Result<GameRecord, RecordsError> {
    rsshogi::board::init();
    Ok(record(&Frame::of(event)?, game, name, annotations))
}

/// The same in a format.
///
/// # Errors
/// When the plan of the event cannot be read, or the format cannot hold the game.
pub fn one(
    event: &EventSummary,
    game: &FullGame,
    name: Option<String>,
    annotations: &Annotations,
    format: Format,
) -> Result<Vec<u8>, RecordsError> {
    bytes_of(&Frame::of(event)?, game, name, annotations, format)
}

/// The record of a game in the frame of its event; `name` is its Game_ID.
pub(crate) fn bytes_of(
    frame: &Frame,
    game: &FullGame,
    name: Option<String>,
    annotations: &Annotations,
    format: Format,
) -> Result<Vec<u8>, RecordsError> {
    rsshogi::board::init();
    let number = game.row.game.0;
    record::write(&record(frame, game, name, annotations), format)
        .map_err(|fault| RecordsError::Game(number, fault.to_string()))
}

fn record(frame: &Frame, game: &FullGame, name: Option<String>, annotations: &Annotations) -> GameRecord {
    let mut record = frame.record(game, name, annotations);
    if let Some(outcome) = game.row.outcome {
        ending::end(&mut record, outcome);
        ending::explain(&mut record, outcome, &game.row.evidence);
        ending::note_ruling(&mut record, game.row.ruling.as_ref());
    }
    make_plain(&mut record);
    record
}

/// Finds an event by name; by default the last one.
pub(crate) fn event(store: &Store, name: Option<&str>, db: &Path) -> Result<EventSummary, RecordsError> {
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

fn selected(
    store: &Store,
    event: &EventSummary,
    args: &Export,
    report: &mut ExportReport,
) -> Result<Vec<GameId>, RecordsError> {
    let ranges: Vec<_> = args.game.iter().map(|text| range(text)).collect::<Result<_, _>>()?;
    let mut games = Vec::new();
    store.games(event.id, &GameFilter::default(), |row| {
        let is_chosen = match ranges.is_empty() {
            // An imported record may have no result; an unfinished game of ours has no record yet.
            true => args.all || counts(&row) || row.outcome == Some(ending::NO_RESULT),
            false => ranges.iter().any(|range| range.contains(&row.game.0)),
        };
        match is_chosen {
            true => games.push(row.game),
            false if ranges.is_empty() => {
                report.leave_out(row.game, None, "not counted (`--all` includes them)")
            }
            false => {}
        }
        Ok::<_, RecordsError>(())
    })?;
    let missing = ranges.iter().find(|range| !games.iter().any(|game| range.contains(&game.0)));
    missing.map_or(Ok(games), |range| Err(RecordsError::NoGame(event.name.clone(), *range.start())))
}

fn counts(row: &GameRow) -> bool {
    row.outcome.is_some_and(Outcome::counts) && !row.replayed
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

/// Encodes a record, and notes what the format leaves out; `None` where it leaves out the game. The format is the one that
/// was written.
fn bytes(
    record: &GameRecord,
    format: Format,
    game: GameId,
    report: &mut ExportReport,
) -> Result<Option<(Vec<u8>, Format)>, RecordsError> {
    match record::written(record, format) {
        Ok((bytes, _)) if is_packed(format) => {
            Ok(scored(record, &bytes, game, report).map(|bytes| (bytes, format)))
        }
        Ok((bytes, used)) => {
            if used != format {
                report.in_utf8.push(game);
            }
            if !record.variations.iter().all(|variation| holds(format, record, variation)) {
                report.leave_out(game, Some("variations"), "the format has no place for them");
            }
            Ok(Some((bytes, used)))
        }
        Err(fault) if is_packed(format) => {
            report.leave_out(game, None, &fault.what.to_string());
            Ok(None)
        }
        Err(fault) => Err(RecordsError::Game(game.0, fault.to_string())),
    }
}

fn holds(format: Format, record: &GameRecord, variation: &Variation) -> bool {
    match format {
        Format::Kif | Format::Kifu | Format::Ki2 | Format::Ki2u => true,
        // JKF has variations only beside a move or an ending of the game.
        Format::Jkf => variation.parent > 0 || variation.ply <= record.plies.len() || record.ending.is_some(),
        _ => false,
    }
}

/// The packed positions whose move has a score that fits 16 bits. A mate of unknown length has none.
fn scored(record: &GameRecord, bytes: &[u8], game: GameId, report: &mut ExportReport) -> Option<Vec<u8>> {
    let is_scored = |ply: &Ply| ply.score.is_some_and(|score| score.abs() < DISTANT_MATE);
    let entries = bytes.chunks((bytes.len() / record.plies.len().max(1)).max(1));
    let kept: Vec<_> =
        entries.zip(&record.plies).filter(|(_, ply)| is_scored(ply)).map(|(entry, _)| entry).collect();
    let distant = record.plies.iter().filter(|ply| ply.score.is_some() && !is_scored(ply)).count();
    if distant > 0 {
        report.leave_out(game, Some("positions"), "a mate of unknown length is no score");
    }
    if kept.is_empty() {
        report.leave_out(game, None, "no move has a score");
        return None;
    }
    report.unscored += record.plies.len() - kept.len() - distant;
    report.positions = report.positions.map(|positions| positions + kept.len());
    Some(kept.concat())
}

/// Where the records go.
struct Output<'a> {
    args: &'a Export,
    /// The file of all games, which the first of them opens; in a directory each has its own.
    to: Option<Box<dyn Write>>,
}

impl Output<'_> {
    fn is_stdout(&self) -> bool {
        self.args.output == Path::new("-")
    }

    fn is_directory(&self) -> bool {
        let path = &self.args.output;
        !self.is_stdout() && (path.is_dir() || path.to_string_lossy().ends_with(std::path::is_separator))
    }

    fn fault(&self) -> impl FnOnce(io::Error) -> RecordsError {
        RecordsError::io(if self.is_stdout() { Path::new("stdout") } else { self.args.output.as_path() })
    }

    fn open(&self) -> io::Result<Box<dyn Write>> {
        let Export { output, format, access, .. } = self.args;
        let file = match access {
            _ if self.is_stdout() => return Ok(Box::new(BufWriter::new(io::stdout().lock()))),
            // A name of the program's own choice.
            Access::Private => files::create(output),
            _ => files::create_shared(output, "records", |head| holds_a_game(head, *format)),
        };
        Ok(Box::new(BufWriter::new(file?)))
    }

    fn write(
        &mut self,
        game: GameId,
        names: [&String; 2],
        extension: &str,
        bytes: &[u8],
    ) -> Result<(), RecordsError> {
        let Export { output, format, access, .. } = self.args;
        if self.is_directory() {
            let [black, white] = names.map(|name| file_name(name));
            let name = PathBuf::from(format!("{:06}-{black}-{white}.{extension}", game.0));
            let path = output.join(&name);
            // A file that is there may be somebody's own; a link is replaced, and its file stays.
            let is_there = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
            let written = match *access != Access::Private && is_there {
                true => files::create_shared(&path, "records", |head| holds_a_game(head, *format))
                    .and_then(|mut file| file.write_all(bytes)),
                false => files::create_directory(output, *access)
                    .and_then(|()| files::write_below(output, &name, bytes, *access)),
            };
            return written.map_err(RecordsError::io(path));
        }
        let written = match (&mut self.to, Joint::of(*format)) {
            (None, _) => self.open().and_then(|to| self.to.insert(to).write_all(bytes)),
            (Some(to), Joint::Between(text)) => {
                to.write_all(text.as_bytes()).and_then(|()| to.write_all(bytes))
            }
            (Some(to), _) => to.write_all(bytes),
        };
        written.map_err(self.fault())
    }

    fn finish(mut self) -> Result<(), RecordsError> {
        self.to.as_mut().map_or(Ok(()), |to| to.flush()).map_err(self.fault())
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
