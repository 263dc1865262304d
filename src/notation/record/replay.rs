//! Replay of a record while it is read or written.

use rsshogi::board::Position;
use rsshogi::types::{HandPiece, Move};

use super::{Ending, GameRecord, Ply, RecordFault, Variation};

/// Whether a move is legal.
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
                return Err(RecordFault::new(
                    index + 1,
                    format!("illegal move {} at ply {}", ply.mv, index + 1),
                ));
            }
            each(&position, index, ply);
            play(&mut position, ply.mv);
        }
        Ok(position)
    }
}

/// Variations of one record at most, and moves that are replayed to find where they begin: a stranger's file may not
/// cost more. Further variations are left out, which the record's doubts say.
const VARIATIONS: usize = 1000;
const REPLAYED: usize = 200_000;

/// A record under construction and the position it has reached.
pub(super) struct Replay {
    pub record: GameRecord,
    start: Position,
    position: Position,
    /// The line that is read: 0 is the game, `n` the `n`-th variation.
    line: usize,
    /// Moves replayed for variations.
    replayed: usize,
    // A foul ends a game, and some files hold the illegal move before they say so.
    foul: Option<RecordFault>,
}

/// The parts of a line of play that a reader fills.
struct Line<'r> {
    plies: &'r mut Vec<Ply>,
    ending: &'r mut Option<Ending>,
    ending_time_ms: &'r mut Option<u32>,
    ending_comment: &'r mut String,
}

impl Replay {
    /// Starts from a position; `record` holds the headers read so far.
    pub fn new(position: Position, mut record: GameRecord) -> Self {
        record.start = position.to_sfen(Some(i32::from(position.game_ply()).max(1)));
        Self { record, start: position.clone(), position, line: 0, replayed: 0, foul: None }
    }

    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The ending of the line that is read.
    pub fn ending(&self) -> Option<&Ending> {
        match self.variation() {
            Some(variation) => variation.ending.as_ref(),
            None => self.record.ending.as_ref(),
        }
    }

    /// The last move of the line that is read, which may stand before the variation.
    pub fn last_move(&self) -> Option<Move> {
        let (line, at) = self.last()?;
        Some(self.plies(line).get(at)?.mv)
    }

    /// Whether a variation is read.
    pub const fn in_variation(&self) -> bool {
        self.line > 0
    }

    fn variation(&self) -> Option<&Variation> {
        self.record.variations.get(self.line.checked_sub(1)?)
    }

    fn plies(&self, line: usize) -> &[Ply] {
        let variation = line.checked_sub(1).and_then(|at| self.record.variations.get(at));
        variation.map_or(&self.record.plies, |variation| &variation.plies)
    }

    fn line(&mut self) -> Line<'_> {
        let record = &mut self.record;
        match self.line.checked_sub(1).and_then(|at| record.variations.get_mut(at)) {
            Some(Variation { plies, ending, ending_time_ms, ending_comment, .. }) => {
                Line { plies, ending, ending_time_ms, ending_comment }
            }
            None => Line {
                plies: &mut record.plies,
                ending: &mut record.ending,
                ending_time_ms: &mut record.ending_time_ms,
                ending_comment: &mut record.ending_comment,
            },
        }
    }

    /// The line and the index of the last move: of the line that is read, or of the one that it branches off.
    fn last(&self) -> Option<(usize, usize)> {
        let before = |variation: &Variation| {
            let first = variation.parent.checked_sub(1).and_then(|at| self.record.variations.get(at));
            Some((variation.parent, variation.ply.checked_sub(1 + first.map_or(1, |first| first.ply))?))
        };
        match self.plies(self.line).len().checked_sub(1) {
            Some(last) => Some((self.line, last)),
            None => self.variation().and_then(before),
        }
    }

    fn last_ply(&mut self) -> Option<&mut Ply> {
        let (line, at) = self.last()?;
        match line.checked_sub(1) {
            Some(variation) => self.record.variations.get_mut(variation)?.plies.get_mut(at),
            None => self.record.plies.get_mut(at),
        }
    }

    /// Begins a variation whose first move has this number, from 1. It branches off the line read last, or off the one
    /// that the number belongs to.
    ///
    /// # Errors
    /// No line has the move before it, or the record has too many variations. The line read last stays.
    pub fn branch(&mut self, ply: usize) -> Result<(), String> {
        self.drop_empty();
        let mut parent = self.line;
        while let Some(variation) = parent.checked_sub(1).and_then(|at| self.record.variations.get(at)) {
            if variation.ply < ply {
                break;
            }
            parent = variation.parent;
        }
        let path = self.record.line(parent).plies;
        if ply == 0 || ply > path.len() + 1 {
            return Err(format!("no move stands before move {ply}"));
        }
        self.replayed += ply;
        if self.record.variations.len() >= VARIATIONS || self.replayed > REPLAYED {
            return Err("the record has too many variations".to_owned());
        }
        let mut position = self.start.clone();
        path.iter().take(ply - 1).all(|ply| play(&mut position, ply.mv));
        self.position = position;
        self.record.variations.push(Variation { parent, ply, ..Variation::default() });
        self.line = self.record.variations.len();
        Ok(())
    }

    /// Plays a move found on a line.
    pub fn push(&mut self, mv: Move, line: usize) -> Result<(), RecordFault> {
        self.still_open(line)?;
        if play(&mut self.position, mv) {
            self.line().plies.push(Ply::from(mv));
        } else {
            let reason = format!("illegal move {mv} at ply {}", self.number());
            self.foul = Some(RecordFault::new(line, reason));
        }
        Ok(())
    }

    /// The number of the next move of the line that is read, from 1.
    fn number(&self) -> usize {
        self.plies(self.line).len() + self.variation().map_or(1, |variation| variation.ply)
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

    /// Ends the line that is read in another way than its ending so far.
    pub fn end_anew(&mut self, ending: Ending) {
        *self.line().ending = Some(ending);
    }

    /// Notes what is doubtful about the record.
    pub fn doubt(&mut self, text: String) {
        if self.record.doubts.len() < VARIATIONS {
            self.record.doubts.push(text);
        }
    }

    /// Leaves the rest of a variation out that cannot be read, and notes it; the moves before stay.
    pub fn drop_rest(&mut self, reason: &str) {
        self.foul = None;
        let ply = self.variation().map_or(0, |variation| variation.ply);
        self.doubt(format!("the variation from move {ply} is cut short: {reason}"));
        self.drop_empty();
    }

    /// Removes a variation in which nothing was read.
    fn drop_empty(&mut self) {
        let nothing = |variation: &Variation| variation.plies.is_empty() && variation.ending.is_none();
        if self.variation().is_some_and(nothing) {
            self.line = self.record.variations.pop().map_or(0, |variation| variation.parent);
        }
    }

    /// Stores the time used for the last move, or before the ending.
    pub fn spend(&mut self, time_ms: u32) {
        let line = self.line();
        match (&line.ending, line.plies.last_mut()) {
            (None, Some(ply)) => ply.time_ms = Some(time_ms),
            (Some(_), _) => *line.ending_time_ms = Some(time_ms),
            (None, None) => {}
        }
    }

    /// Adds a comment line to the ending, the last move, or the start.
    pub fn comment(&mut self, text: &str) {
        if self.ending().is_some() {
            return add_line(self.line().ending_comment, text);
        }
        match self.last_ply() {
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
            Some(foul) if self.in_variation() => self.drop_rest(&foul.reason),
            Some(foul) => return Err(foul),
            None => self.drop_empty(),
        }
        Ok(self.record)
    }
}

/// Appends a line to a comment.
pub(super) fn add_line(comment: &mut String, text: &str) {
    if !comment.is_empty() {
        comment.push('\n');
    }
    comment.push_str(text);
}
