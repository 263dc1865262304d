//! What is studied: a game of an event, a record of a file or a position, with the moves that somebody tries. All of it stands
//! in the address, so that each position has one.

use crate::{Desk, fields::Fields, place::kind_of, refused, study::LETTERS};
use notation::record::{self, Format, GameRecord, Ply, Variation};
use platform::files;
use referee::{entry::GameId, running::play};
use rsshogi::{
    board::{LegalAll, MoveList, Position, STARTPOS_SFEN, generate_moves},
    types::{Color, Move},
};
use std::ops::ControlFlow;
use web::{STUDY_PAGE, layout::percent, refusals::Refusal};
use words::Language;

/// Most moves of a line that is shown.
const LONGEST: usize = 4096;

/// Where a game that is studied comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A game of an event, as the pages name it.
    Event(String, u64),
    /// A record of a file, from 1.
    File(String, usize),
    /// A position, as USI has it.
    Position(String),
}

/// Moves that are tried: the line that they leave, after how many of its moves, and the moves in USI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Branch {
    line: usize,
    from: usize,
    moves: Vec<String>,
}

/// A game at a position.
#[derive(Clone, Debug)]
pub(crate) struct Studied {
    pub source: Source,
    /// The whole record; the moves that are tried are its last variation.
    pub record: GameRecord,
    branch: Branch,
    /// The line of the record that is shown, 0 for the game.
    pub line: usize,
    /// That line alone.
    pub shown: GameRecord,
    /// Moves before the position.
    pub at: usize,
    /// True if the file has another record after this one.
    pub has_next: bool,
}

impl Desk {
    /// What the fields name: `event` and `game`, `file` and `record`, or `position`; then `line`, `from` and `moves`, `ply`,
    /// and `try` for one more move.
    pub(crate) fn studied(&self, fields: &Fields) -> Result<Studied, Refusal> {
        rsshogi::board::init();
        let number = |name: &str| fields.text(name).parse().ok();
        let (source, record, has_next) = match (fields.is("event"), fields.is("file")) {
            (true, _) => self.game_of_event(fields)?,
            (_, true) => self.record_of_file(fields.text("file"), number("record").unwrap_or(1))?,
            _ => {
                let text = fields.text("position").to_owned();
                let record = of_position(&text).ok_or_else(|| Refusal::bad(Language::not_a_position))?;
                (Source::Position(text), record, false)
            }
        };
        let line = number("line").unwrap_or(0).min(record.variations.len());
        let moves = fields.text("moves").split_whitespace().map(str::to_owned).collect();
        let branch = Branch { line, from: number("from").unwrap_or(0), moves };
        let mut studied = Studied::new(source, record, has_next, branch)?;
        let end = studied.shown.plies.len();
        studied.at = number("ply").unwrap_or(if fields.is("moves") { end } else { 0 }).min(end);
        match fields.text("try") {
            "" => Ok(studied),
            tried => studied.with(tried),
        }
    }

    fn game_of_event(&self, fields: &Fields) -> Result<(Source, GameRecord, bool), Refusal> {
        let name = fields.text("event").to_owned();
        let (store, event) = self.games_of(&name)?;
        let number: u64 = fields.text("game").parse().map_err(|_| Refusal::bad(Language::game_address))?;
        let game = store.game(event.id, GameId(number)).map_err(refused)?;
        let game = game.ok_or_else(|| Refusal::bad(|words| words.no_game(number)))?;
        if game.row.pruned_at.is_some() {
            return Err(Refusal::bad(|words| words.moves_dropped(number)));
        }
        let annotations = store.annotations(event.id, GameId(number)).map_err(refused)?;
        let id = store.game_name(event.id, GameId(number)).map_err(refused)?;
        let record = records::record_of(&event, &game, id, &annotations).map_err(refused)?;
        Ok((Source::Event(name, number), record, false))
    }

    fn record_of_file(&self, key: &str, number: usize) -> Result<(Source, GameRecord, bool), Refusal> {
        let (mut found, mut has_next) = (None, false);
        let mut at = 0;
        self.each_record(key, |read| {
            at += 1;
            has_next = at > number;
            if at == number {
                found = Some(read);
            }
            if has_next { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let read = found.ok_or_else(|| Refusal::bad(|words| words.no_game(number as u64)))?;
        let record = read.map_err(|fault| refused(format!("{key}: {fault}")))?;
        Ok((Source::File(key.to_owned(), number), record, has_next))
    }

    /// Reads the records of a file of the study, one after the other.
    pub(crate) fn each_record(
        &self,
        key: &str,
        mut each: impl FnMut(record::Read) -> ControlFlow<()>,
    ) -> Result<(), Refusal> {
        rsshogi::board::init();
        let format = kind_of(key.rsplit('/').next().unwrap_or(key)).flatten();
        let path = self.0.place.shelved(key).filter(|path| format.is_some() && path.is_file());
        let path = path.ok_or_else(|| Refusal::bad(|words| words.not_a_record_file(key)))?;
        let bytes = files::contents(&path, crate::study::BODY as u64);
        let bytes = bytes.map_err(|error| refused(format!("{key}: {error}")))?;
        record::each(&bytes, format, |_, read| each(read));
        Ok(())
    }
}

/// The record of what people write for a position: SFEN, or moves in USI, from a position or the even one. Nothing is the even
/// one.
pub(crate) fn of_position(text: &str) -> Option<GameRecord> {
    let text = text.trim();
    let text = text.strip_prefix("position ").unwrap_or(text);
    if text.chars().count() > LETTERS || text.lines().count() > 1 {
        return None;
    }
    let text = if text.is_empty() { "startpos" } else { text };
    let record = record::read(text.as_bytes(), Some(Format::Usi)).ok()?.into_iter().next()?;
    can_be_played(&Position::from_sfen(&record.start).ok()?).then_some(record)
}

/// True if a position can arise: no piece stands where none may stand, and the side that has just moved is not in check.
fn can_be_played(position: &Position) -> bool {
    let (us, them) = (position.turn(), position.turn().flip());
    let king = position.king_square(them);
    position.is_valid() && king.is_on_board() && !position.is_attacked_by(king, us)
}

impl Studied {
    fn new(source: Source, mut record: GameRecord, has_next: bool, branch: Branch) -> Result<Self, Refusal> {
        let left = record.line(branch.line);
        let from = branch.from.min(left.plies.len());
        let tried = tried(&left, from, &branch.moves)?;
        let line = match tried.is_empty() {
            true => branch.line,
            // Behind the last move of a game without an ending they are moves of the game.
            false if branch.line == 0 && from == record.plies.len() && record.ending.is_none() => {
                record.plies.extend(tried);
                0
            }
            false => {
                let variation =
                    Variation { parent: branch.line, ply: from + 1, plies: tried, ..Variation::default() };
                record.variations.push(variation);
                record.variations.len()
            }
        };
        let (shown, branch) = (record.line(line), Branch { from, ..branch });
        if shown.plies.len() > LONGEST {
            return Err(Refusal::bad(|words| words.too_many_moves(LONGEST)));
        }
        Ok(Self { source, record, branch, line, shown, at: 0, has_next })
    }

    /// The moves that lead from a line to the position, so that others can follow them.
    fn branch_here(&self) -> Branch {
        let Branch { line, from, moves } = &self.branch;
        match self.at.checked_sub(*from).filter(|_| !moves.is_empty()) {
            Some(kept) => Branch { moves: moves[..kept.min(moves.len())].to_vec(), ..self.branch.clone() },
            None => Branch { line: *line, from: self.at, moves: vec![] },
        }
    }

    /// The same after one more move: the one that the line has there, or another.
    fn with(self, mv: &str) -> Result<Self, Refusal> {
        if self.shown.plies.get(self.at).is_some_and(|ply| ply.mv.to_usi() == mv) {
            return Ok(Self { at: self.at + 1, ..self });
        }
        let (at, mut branch) = (self.at + 1, self.branch_here());
        branch.moves.push(mv.to_owned());
        let (mut record, tried) = (self.record, &self.branch);
        match (tried.moves.is_empty(), self.line) {
            (true, _) => {}
            (_, 0) => record.plies.truncate(tried.from),
            _ => drop(record.variations.pop()),
        }
        Ok(Self { at, ..Self::new(self.source, record, self.has_next, branch)? })
    }

    /// The position after so many moves.
    pub fn position_at(&self, at: usize) -> Position {
        let mut position = Position::from_sfen(&self.shown.start).unwrap_or_default();
        self.shown.plies.iter().take(at).all(|ply| play(&mut position, ply.mv));
        position
    }

    /// The moves that are legal in its position, in USI.
    pub fn legal(&self) -> Vec<String> {
        let mut moves = MoveList::new();
        generate_moves::<LegalAll>(&self.position_at(self.at), &mut moves);
        moves.iter().map(|mv| mv.to_usi()).collect()
    }

    /// The argument of USI `position` for its position.
    pub fn argument(&self) -> String {
        let start = match self.shown.start.as_str() {
            STARTPOS_SFEN => "startpos".to_owned(),
            sfen => format!("sfen {sfen}"),
        };
        let moves: String = self.before().plies.iter().map(|ply| format!(" {}", ply.mv.to_usi())).collect();
        if moves.is_empty() { start } else { format!("{start} moves{moves}") }
    }

    /// Its line up to the position.
    pub fn before(&self) -> GameRecord {
        let plies = self.shown.plies[..self.at].to_vec();
        GameRecord { plies, ending: None, ..self.shown.clone() }
    }

    /// Its side to move.
    pub fn mover(&self) -> Color {
        self.before().side_to_move()
    }

    /// Fields that name the line that is shown.
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = self.source_fields();
        let Branch { line, from, moves } = &self.branch;
        if *line > 0 {
            fields.push(("line", line.to_string()));
        }
        if !moves.is_empty() {
            fields.extend([("from", from.to_string()), ("moves", moves.join(" "))]);
        }
        fields
    }

    fn source_fields(&self) -> Vec<(&'static str, String)> {
        match &self.source {
            Source::Event(name, game) => vec![("event", name.clone()), ("game", game.to_string())],
            Source::File(key, record) => vec![("file", key.clone()), ("record", record.to_string())],
            Source::Position(text) if text.is_empty() => vec![],
            Source::Position(text) => vec![("position", text.clone())],
        }
    }

    /// The address of a position of the line that is shown.
    pub fn address(&self, at: usize) -> String {
        self.query(STUDY_PAGE, &self.fields()) + &format!("&ply={at}")
    }

    /// The address of a variation of the record, from the position before its first move on; 0 is the game.
    pub fn address_of(&self, line: usize) -> String {
        let before = line.checked_sub(1).and_then(|at| self.record.variations.get(at));
        let at = before.map_or(self.at, |variation| variation.ply);
        let fields = [self.source_fields(), vec![("line", line.to_string())]].concat();
        self.query(STUDY_PAGE, &fields) + &format!("&ply={at}")
    }

    /// The address of a line of play from its position on.
    pub fn address_with(&self, moves: &[String]) -> String {
        let branch = self.branch_here();
        let moves = [branch.moves, moves.to_vec()].concat();
        let fields = Self { branch: Branch { moves, ..branch }, ..self.clone() }.fields();
        self.query(STUDY_PAGE, &fields) + &format!("&ply={}", self.at + 1)
    }

    /// The address of another record of its file.
    pub fn neighbour(&self, by: isize) -> Option<String> {
        let Source::File(key, number) = &self.source else { return None };
        let other = number.checked_add_signed(by).filter(|other| *other > 0 && (by < 0 || self.has_next))?;
        Some(format!("{STUDY_PAGE}?file={}&record={other}", percent(key)))
    }

    /// A path of the desk with fields in its query.
    pub fn query(&self, path: &str, fields: &[(&'static str, String)]) -> String {
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| format!("{name}={}", percent(value))).collect();
        format!("{path}?{}", fields.join("&"))
    }

    /// True if moves are tried.
    pub fn tries(&self) -> bool {
        !self.branch.moves.is_empty()
    }

    /// Its name in names of files.
    pub fn stem(&self) -> String {
        match &self.source {
            Source::Event(name, game) => format!("{}-{game}", notation::file_name(name)),
            Source::File(key, number) => {
                let name = key.rsplit('/').next().unwrap_or(key);
                format!(
                    "{}-{number}",
                    notation::file_name(name.rsplit_once('.').map_or(name, |(stem, _)| stem))
                )
            }
            Source::Position(_) => "board".to_owned(),
        }
    }

    /// The moves of the line, as people read them.
    pub fn spelled(&self) -> Vec<String> {
        record::spelled_moves(&self.shown, 0).unwrap_or_default()
    }
}

/// Moves in USI that can be played after so many moves of a line.
fn tried(line: &GameRecord, from: usize, moves: &[String]) -> Result<Vec<Ply>, Refusal> {
    if moves.iter().map(|word| word.len() + 1).sum::<usize>() > LETTERS {
        return Err(Refusal::bad(Language::not_a_position));
    }
    let mut position = Position::from_sfen(&line.start).unwrap_or_default();
    line.plies.iter().take(from).all(|ply| play(&mut position, ply.mv));
    let legal = |word: &String| {
        let mv = Move::from_usi(word).filter(|mv| play(&mut position, *mv));
        mv.map(Ply::from).ok_or_else(|| Refusal::bad(|words| words.not_a_legal_move(word)))
    };
    moves.iter().map(legal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn studied(text: &str, branch: Branch) -> Studied {
        rsshogi::board::init();
        let record = of_position(text).unwrap();
        Studied::new(Source::Position(text.to_owned()), record, false, branch).unwrap()
    }

    fn shown(studied: &Studied) -> String {
        studied.shown.usi_moves()
    }

    #[test]
    fn a_move_is_tried_on_from_where_it_leaves_a_line() {
        let line = "startpos moves 7g7f 3c3d 2g2f";
        let at = |at| Studied { at, ..studied(line, Branch::default()) };
        let next = at(1).with("3c3d").unwrap();
        assert!(!next.tries() && next.at == 2, "the move that the line has");
        let other = at(1).with("8c8d").unwrap();
        assert_eq!((shown(&other).as_str(), other.at, other.line), ("7g7f 8c8d", 2, 1));
        assert!(other.address(2).ends_with("&from=1&moves=8c8d&ply=2"), "{}", other.address(2));
        let further = other.with("2g2f").unwrap();
        assert_eq!((shown(&further).as_str(), further.record.variations.len()), ("7g7f 8c8d 2g2f", 1));
        let back = Studied { at: 2, ..further }.with("6g6f").unwrap();
        assert_eq!(shown(&back), "7g7f 8c8d 6g6f", "what was tried after it makes room");
        let end = at(3).with("8c8d").unwrap().with("2f2e").unwrap();
        assert_eq!((shown(&end).as_str(), end.line), ("7g7f 3c3d 2g2f 8c8d 2f2e", 0), "the game goes on");
        let instead = Studied { at: 4, ..end }.with("6g6f").unwrap();
        assert_eq!(shown(&instead), "7g7f 3c3d 2g2f 8c8d 6g6f");
        assert!(at(1).with("7g7f").is_err() && at(1).with("nonsense").is_err());
        let pv = ["8c8d".to_owned(), "2g2f".to_owned()];
        assert!(at(1).address_with(&pv).ends_with("&from=1&moves=8c8d%202g2f&ply=2"));
    }

    #[test]
    fn a_position_that_cannot_arise_is_none() {
        rsshogi::board::init();
        for text in
            ["", "startpos", "7g7f 3c3d", "4k4/9/9/9/9/9/9/9/4K4 b 2P 1", "4k4/9/4P4/9/9/9/9/9/9 b G 1"]
        {
            assert!(of_position(text).is_some(), "{text}");
        }
        for text in [
            "4k4/4R4/9/9/9/9/9/9/4K4 b - 1",
            "9/9/9/9/9/9/9/9/4K4 b - 1",
            "4k4/9/9/4P4/4P4/9/9/9/4K4 b - 1",
            "P3k4/9/9/9/9/9/9/9/4K4 b - 1",
            "4k4/4k4/9/9/9/9/9/9/4K4 b - 1",
            "4k4/9/9/9/9/9/9/9/4K4 b 19P 1",
            "nonsense",
            "7g7f\n3c3d",
            &"7g7f ".repeat(2000),
        ] {
            assert!(of_position(text).is_none(), "{text}");
        }
    }
}
