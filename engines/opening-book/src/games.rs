//! Games for book making and training: from Renmei databases, record files and lists of scored lines.

#[cfg(feature = "database")]
mod store;

use std::path::{Path, PathBuf};
use std::{fs, io};

use notation::record::{self, Format, GameRecord};
use rsshogi::board::STARTPOS_SFEN;
use rsshogi::types::{Color, Move};

/// Bytes of packed positions that are read at once: whole entries of PSV (40 bytes) and of hcpe (38 bytes).
const PACKED_PART: usize = 40 * 38 * 1024;

/// Scores beyond this are mates, in centipawns.
pub const MATE_SCORE: i32 = 20_000;

/// A game as book making and training need it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Game {
    /// The start as SFEN.
    pub start: String,
    /// Number of moves at the start that belong to a given opening, which no player chose.
    pub opening: usize,
    /// All moves, each with its score in centipawns from the player who moved.
    pub moves: Vec<(Move, Option<i32>)>,
    /// Names of black and white.
    pub names: [Option<String>; 2],
    /// The result; `None` for an unfinished game.
    pub result: Option<GameResult>,
    /// True if these are single positions of a training file rather than a game, so that the last move does not
    /// end it.
    pub loose: bool,
}

/// The result of a finished game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// One side won.
    Won(Color),
    /// A draw.
    Drawn,
}

/// Why a source cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file or directory cannot be read.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A malformed record.
    #[error("`{}`: {reason}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The reason, with the line.
        reason: String,
    },
    /// Not a readable Renmei database.
    #[cfg(feature = "database")]
    #[error(transparent)]
    Store(#[from] journal::StoreError),
    /// A Renmei database, for a program without SQLite.
    #[cfg(not(feature = "database"))]
    #[error("`{}` is a database: write its games to a file with `renmei export --format psv`", .0.display())]
    Database(PathBuf),
    /// A directory without game records.
    #[error("`{}` contains no game record", .0.display())]
    Empty(PathBuf),
}

/// All games of a database, a record file, a list of scored lines, or all record files below a directory.
///
/// # Errors
/// For the first file that cannot be read.
pub fn games(path: &Path) -> Result<Vec<Game>, SourceError> {
    if !path.is_dir() {
        return file(path);
    }
    let mut files = Vec::new();
    collect(path, &mut files)?;
    if files.is_empty() {
        return Err(SourceError::Empty(path.to_owned()));
    }
    let mut all = Vec::new();
    for path in files {
        all.extend(file(&path)?);
    }
    Ok(all)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), SourceError> {
    let io = |source| SourceError::Io { path: directory.to_owned(), source };
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory).map_err(io)? {
        entries.push(entry.map_err(io)?.path());
    }
    // Sorted for reproducible results: the order of games decides ties, and the order of a directory is
    // arbitrary.
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files)?;
        } else if format_of(&path).is_some() {
            files.push(path);
        }
    }
    Ok(())
}

fn format_of(path: &Path) -> Option<Format> {
    Format::from_extension(path.extension()?.to_str()?)
}

fn file(path: &Path) -> Result<Vec<Game>, SourceError> {
    let bytes = fs::read(path).map_err(|source| SourceError::Io { path: path.to_owned(), source })?;
    if bytes.starts_with(b"SQLite format 3\0") {
        #[cfg(feature = "database")]
        return Ok(store::games(path)?);
        #[cfg(not(feature = "database"))]
        return Err(SourceError::Database(path.to_owned()));
    }
    let refused = |reason| SourceError::Record { path: path.to_owned(), reason };
    if bytes.starts_with(SCORED.as_bytes()) {
        let text = String::from_utf8_lossy(&bytes);
        let lines = scored_lines(&text).filter(|(_, line, _)| !line.is_empty());
        let games = lines.map(|(at, _, game)| game.map_err(|reason| refused(format!("line {at}: {reason}"))));
        return games.collect();
    }
    let hint = format_of(path);
    if !matches!(hint, Some(Format::Psv | Format::Hcpe)) || bytes.is_empty() {
        let records = record::read(&bytes, hint).map_err(|fault| refused(fault.to_string()))?;
        return Ok(records.into_iter().map(Game::from).collect());
    }
    let mut games = Vec::new();
    // In parts, because records take many times the memory of packed positions.
    for (nth, part) in bytes.chunks(PACKED_PART).enumerate() {
        let records = record::read(part, hint)
            .map_err(|fault| refused(format!("behind byte {}: {fault}", nth * PACKED_PART)))?;
        games.extend(records.into_iter().map(|record| Game { loose: true, ..Game::from(record) }));
    }
    Ok(games)
}

impl From<GameRecord> for Game {
    fn from(record: GameRecord) -> Self {
        let drawn = record.ending.as_ref().is_some_and(record::Ending::is_draw);
        let result = record.winner().map(GameResult::Won).or(drawn.then_some(GameResult::Drawn));
        let white_first = record.start.split_whitespace().nth(1) == Some("w");
        let by_mover = |(ply, score): (usize, Option<i32>)| {
            score.map(|score| if ply.is_multiple_of(2) == white_first { -score } else { score })
        };
        let scores = record.plies.iter().map(|ply| ply.score).enumerate().map(by_mover);
        let moves = record.plies.iter().map(|ply| ply.mv).zip(scores).collect();
        Self {
            start: record.start,
            opening: 0,
            moves,
            names: [record.black, record.white],
            result,
            loose: false,
        }
    }
}

/// Why a line of a list of scored lines is no game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScoredFault {
    /// Another number of fields.
    #[error("{0} fields instead of 4")]
    Fields(usize),
    /// A word where a number of plies belongs.
    #[error("`{0}` is not a number of plies")]
    Plies(String),
    /// Moves without scores, or the other way round.
    #[error("{moves} moves but {scores} scores")]
    Lengths {
        /// Number of moves.
        moves: usize,
        /// Number of scores.
        scores: usize,
    },
    /// A word where a score belongs.
    #[error("`{0}` is not a score")]
    Score(String),
    /// A word where an ending belongs.
    #[error("`{0}` is not an ending")]
    Ending(String),
    /// A word where a move belongs.
    #[error("`{0}` is not a move")]
    Move(String),
}

/// Header of a list of scored lines.
const SCORED: &str = "opening_plies\tending\tmoves\tscores";

/// The games of a list, each with the number of its line and the line: number of opening plies, ending, moves from the even
/// start position, and per move a score or `-`. The first line is a header. A game whose ending is unknown has no result.
fn scored_lines(text: &str) -> impl Iterator<Item = (usize, &str, Result<Game, ScoredFault>)> {
    text.lines().enumerate().skip(1).map(|(at, line)| (at + 1, line, scored_line(line)))
}

fn scored_line(line: &str) -> Result<Game, ScoredFault> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [opening, ending, moves, scores] = fields[..] else {
        return Err(ScoredFault::Fields(fields.len()));
    };
    let opening = opening.parse().map_err(|_| ScoredFault::Plies(opening.to_owned()))?;
    let (moves, scores) = (moves.split_ascii_whitespace(), scores.split_ascii_whitespace());
    let [count, scored] = [moves.clone().count(), scores.clone().count()];
    if count != scored {
        return Err(ScoredFault::Lengths { moves: count, scores: scored });
    }
    let scores = scores.map(|score| match score {
        "-" => Ok(None),
        score => score.parse().map(Some).map_err(|_| ScoredFault::Score(score.to_owned())),
    });
    let moves = moves.map(|mv| Move::from_usi(mv).ok_or_else(|| ScoredFault::Move(mv.to_owned())));
    let moves =
        moves.zip(scores).map(|(mv, score)| Ok((mv?, score?))).collect::<Result<Vec<_>, ScoredFault>>()?;
    let to_move = if moves.len().is_multiple_of(2) { Color::BLACK } else { Color::WHITE };
    let result = match ending {
        "resign" | "mate" => Some(GameResult::Won(to_move.flip())),
        "win" | "declaration" => Some(GameResult::Won(to_move)),
        "sennichite" | "max_moves" => Some(GameResult::Drawn),
        _ => None,
    };
    Ok(Game { start: STARTPOS_SFEN.to_owned(), opening, moves, result, ..Game::default() })
}
