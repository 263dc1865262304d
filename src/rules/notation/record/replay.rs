//! Replay of a record while it is read or written.

use referee::legality::foul;
use rsshogi::board::Position;
use rsshogi::types::{HandPiece, Move};

use super::{Ending, Flaw, GameRecord, Ply, RecordFault, Variation};

/// True if a move is legal.
pub(super) fn can_play(position: &Position, mv: Move) -> bool {
    // Binary files have arbitrary 16 bits, and rsshogi does not check squares.
    let origin = mv
        .dropped_piece()
        .map_or(mv.from_sq().is_on_board(), |piece| HandPiece::from_piece_type(piece).is_some());
    mv.is_normal()
        && origin
        && mv.to_sq().is_on_board()
        && position.is_legal_move32(position.move32_from_move(mv))
}

/// Why a variation cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoBranch {
    #[error("its first move has no number")]
    NoNumber,
    #[error("no move stands before move {0}")]
    Nowhere(usize),
    #[error("the record has too many variations")]
    TooMany,
}

/// Plays a move if it is legal.
pub(super) fn play(position: &mut Position, mv: Move) -> bool {
    can_play(position, mv) && position.try_apply_move32(position.move32_from_move(mv)).is_ok()
}

/// Reads a line of moves with `step` until one is unreadable or illegal.
pub(super) fn line_of<T>(
    position: &Position,
    words: impl Iterator<Item = T>,
    step: impl Fn(&Position, T) -> Option<Move>,
) -> Vec<Move> {
    let mut position = position.clone();
    words.map_while(|word| step(&position, word).filter(|mv| play(&mut position, *mv))).collect()
}

impl GameRecord {
    /// Calls `each` with the position before every ply, and returns the position after the last.
    pub(super) fn replayed(
        &self,
        mut each: impl FnMut(&Position, usize, &Ply),
    ) -> Result<Position, RecordFault> {
        let start = Position::from_sfen(&self.start);
        let mut position = start.map_err(|fault| RecordFault::new(1, format!("start position: {fault}")))?;
        for (index, ply) in self.plies.iter().enumerate() {
            if !can_play(&position, ply.mv) {
                return Err(RecordFault { line: index + 1, what: Flaw::Illegal(ply.mv, index + 1, None) });
            }
            each(&position, index, ply);
            play(&mut position, ply.mv);
        }
        Ok(position)
    }
}

/// Limits on the variations of a record and on the moves replayed to find their starts, as files are untrusted. Further
/// variations are left out and noted as doubts.
const VARIATIONS: usize = 1000;
const REPLAYED: usize = 200_000;

/// A record under construction and the position it has reached.
pub(super) struct Replay {
    /// The headers and the comment on the start.
    pub record: GameRecord,
    start: Position,
    position: Position,
    /// The game, then its variations.
    lines: Vec<Variation>,
    /// Index of the line that is read.
    at: usize,
    /// Moves replayed for variations.
    replayed: usize,
    // A foul ends a game, and some files hold the illegal move before the ending that names it.
    foul: Option<RecordFault>,
}

impl Replay {
    /// Starts from a position; `record` holds the headers read so far.
    pub fn new(position: Position, mut record: GameRecord) -> Self {
        record.start = position.to_sfen(Some(i32::from(position.game_ply()).max(1)));
        let lines = vec![Variation { ply: 1, ..Variation::default() }];
        Self { record, start: position.clone(), position, lines, at: 0, replayed: 0, foul: None }
    }

    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Number of moves of the line that is read.
    pub fn len(&self) -> usize {
        self.lines[self.at].plies.len()
    }

    /// The ending of the line that is read.
    pub fn ending(&self) -> Option<&Ending> {
        self.lines[self.at].ending.as_ref()
    }

    /// The last move of the line that is read, which may be before the variation.
    pub fn last_move(&self) -> Option<Move> {
        let (line, at) = self.last()?;
        Some(self.lines[line].plies.get(at)?.mv)
    }

    /// True while a variation is read.
    pub const fn in_variation(&self) -> bool {
        self.at > 0
    }

    fn line(&mut self) -> &mut Variation {
        &mut self.lines[self.at]
    }

    /// The line and the index of the last move: of the line that is read, or of its parent.
    fn last(&self) -> Option<(usize, usize)> {
        let Variation { parent, ply, plies, .. } = &self.lines[self.at];
        match plies.len().checked_sub(1) {
            Some(last) => Some((self.at, last)),
            None => Some((*parent, ply.checked_sub(1 + self.lines[*parent].ply)?)),
        }
    }

    /// The moves of a line from the start position on.
    fn path(&self, line: usize) -> Vec<Move> {
        let (mut moves, mut at, mut end) = (Vec::new(), line, usize::MAX);
        loop {
            let Variation { parent, ply, plies, .. } = &self.lines[at];
            moves.extend(plies.iter().take(end.saturating_sub(*ply)).rev().map(|ply| ply.mv));
            if at == 0 {
                moves.reverse();
                return moves;
            }
            (at, end) = (*parent, *ply);
        }
    }

    /// Begins a variation whose first move has this number, from 1. It branches off the line read last, or off the ancestor
    /// that the number belongs to.
    ///
    /// # Errors
    /// No line has the move before it, or the record has too many variations. The line read last stays.
    pub fn branch(&mut self, ply: usize) -> Result<(), NoBranch> {
        self.drop_empty();
        let mut parent = self.at;
        while parent > 0 && self.lines[parent].ply >= ply {
            parent = self.lines[parent].parent;
        }
        let path = self.path(parent);
        if ply == 0 || ply > path.len() + 1 {
            return Err(NoBranch::Nowhere(ply));
        }
        self.replayed += ply;
        if self.lines.len() > VARIATIONS || self.replayed > REPLAYED {
            return Err(NoBranch::TooMany);
        }
        self.position = self.start.clone();
        path.iter().take(ply - 1).all(|mv| play(&mut self.position, *mv));
        self.at = self.lines.len();
        self.lines.push(Variation { parent, ply, ..Variation::default() });
        Ok(())
    }

    /// Plays a move found on a line.
    pub fn push(&mut self, mv: Move, line: usize) -> Result<(), RecordFault> {
        self.still_open(line)?;
        if play(&mut self.position, mv) {
            self.line().plies.push(Ply::from(mv));
        } else {
            let ply = self.len() + self.lines[self.at].ply;
            self.foul = Some(RecordFault { line, what: Flaw::Illegal(mv, ply, foul(&self.position, mv)) });
        }
        Ok(())
    }

    /// Takes the illegal move that the line that is read ends with so far.
    pub fn take_foul(&mut self) -> Option<RecordFault> {
        self.foul.take()
    }

    fn still_open(&self, line: usize) -> Result<(), RecordFault> {
        if let Some(foul) = &self.foul {
            return Err(foul.clone());
        }
        match self.ending() {
            Some(_) => Err(RecordFault::new(line, "move after the end of the game")),
            None => Ok(()),
        }
    }

    /// Ends the line that is read. After an illegal move, an illegal-move ending is a foul of the mover.
    pub fn end(&mut self, ending: Ending) -> Result<(), RecordFault> {
        let ending = match (self.foul.take(), ending) {
            (None, ending) => ending,
            (Some(_), Ending::Illegal { .. }) => Ending::Illegal { by: self.position.turn() },
            (Some(foul), _) => return Err(foul),
        };
        self.line().ending.get_or_insert(ending);
        Ok(())
    }

    /// Replaces the ending of the line that is read.
    pub fn end_anew(&mut self, ending: Ending) {
        self.line().ending = Some(ending);
    }

    /// Removes the ending of the line that is read, and its time; the last move takes its comment.
    pub fn reopen(&mut self) {
        let line = self.line();
        (line.ending, line.ending_time_ms) = (None, None);
        let comment = std::mem::take(&mut line.ending_comment);
        comment.lines().for_each(|text| self.comment(text));
    }

    /// Notes a doubt about the record.
    pub fn doubt(&mut self, text: String) {
        if self.record.doubts.len() < VARIATIONS {
            self.record.doubts.push(text);
        }
    }

    /// Leaves out the unreadable rest of a variation, and notes it; the moves before stay.
    pub fn drop_rest(&mut self, reason: &str) {
        self.foul = None;
        let ply = self.lines[self.at].ply;
        self.doubt(format!("the variation from move {ply} is cut short: {reason}"));
        self.drop_empty();
    }

    /// Removes a variation in which nothing was read.
    fn drop_empty(&mut self) {
        if self.in_variation() && self.len() == 0 && self.ending().is_none() {
            self.at = self.lines.pop().map_or(0, |variation| variation.parent);
        }
    }

    /// True if the last move, or the ending, has no time yet.
    pub fn is_untimed(&self) -> bool {
        let line = &self.lines[self.at];
        match (&self.foul, &line.ending, line.plies.last()) {
            (None, None, Some(ply)) => ply.time_ms.is_none(),
            (None, None, None) => false,
            _ => line.ending_time_ms.is_none(),
        }
    }

    /// Stores the time used for the last move, or before the ending; that of an illegal move, which the record leaves
    /// out, counts as the latter.
    pub fn spend(&mut self, time_ms: u32) {
        let foul = self.foul.is_some();
        let line = self.line();
        match (&line.ending, line.plies.last_mut()) {
            (None, Some(ply)) if !foul => ply.time_ms = Some(time_ms),
            (None, None) if !foul => {}
            _ => line.ending_time_ms = Some(time_ms),
        }
    }

    /// Adds a comment line to the ending, the last move, or the start.
    pub fn comment(&mut self, text: &str) {
        if self.ending().is_some() {
            return add_line(&mut self.line().ending_comment, text);
        }
        match self.last().and_then(|(line, at)| self.lines[line].plies.get_mut(at)) {
            Some(ply) => add_line(&mut ply.comment, text),
            None => add_line(&mut self.record.comment, text),
        }
    }

    /// Stores the mover's evaluation of the last move.
    pub fn score(&mut self, score: i32) {
        if let Some(ply) = self.line().plies.last_mut() {
            ply.score = Some(score);
        }
    }

    /// Stores the line expected after the last move.
    pub fn expect(&mut self, pv: Vec<Move>) {
        if let Some(ply) = self.line().plies.last_mut() {
            ply.pv = pv;
        }
    }

    /// The finished record.
    pub fn finish(mut self) -> Result<GameRecord, RecordFault> {
        match self.foul.take() {
            Some(foul) if self.in_variation() => self.drop_rest(&foul.what.to_string()),
            Some(foul) => return Err(foul),
            None => self.drop_empty(),
        }
        let mut lines = self.lines.into_iter();
        let Variation { plies, ending, ending_time_ms, ending_comment, .. } =
            lines.next().unwrap_or_default();
        let variations = lines.collect();
        Ok(GameRecord { plies, ending, ending_time_ms, ending_comment, variations, ..self.record })
    }
}

/// Appends a line to a comment.
pub(super) fn add_line(comment: &mut String, text: &str) {
    if !comment.is_empty() {
        comment.push('\n');
    }
    comment.push_str(text);
}
