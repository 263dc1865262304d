//! Replay of a record while it is read or written.

use rsshogi::board::Position;
use rsshogi::types::{HandPiece, Move};

use super::{Ending, GameRecord, Ply, RecordFault};

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

/// A record under construction and the position it has reached.
pub(super) struct Replay {
    pub record: GameRecord,
    position: Position,
    // A foul ends a game, and some files hold the illegal move before they say so.
    foul: Option<RecordFault>,
}

impl Replay {
    /// Starts from a position; `record` holds the headers read so far.
    pub fn new(position: Position, mut record: GameRecord) -> Self {
        record.start = position.to_sfen(Some(i32::from(position.game_ply()).max(1)));
        Self { record, position, foul: None }
    }

    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Plays a move found on a line.
    pub fn push(&mut self, mv: Move, line: usize) -> Result<(), RecordFault> {
        self.still_open(line)?;
        if play(&mut self.position, mv) {
            self.record.plies.push(Ply::from(mv));
        } else {
            let reason = format!("illegal move {mv} at ply {}", self.record.plies.len() + 1);
            self.foul = Some(RecordFault::new(line, reason));
        }
        Ok(())
    }

    fn still_open(&self, line: usize) -> Result<(), RecordFault> {
        if let Some(foul) = &self.foul {
            return Err(foul.clone());
        }
        match &self.record.ending {
            Some(_) => Err(RecordFault::new(line, "move after the end of the game")),
            None => Ok(()),
        }
    }

    /// Ends the game. After an illegal move, an illegal-move ending is a foul of the mover.
    pub fn end(&mut self, ending: Ending) -> Result<(), RecordFault> {
        let ending = match (self.foul.take(), ending) {
            (None, ending) => ending,
            (Some(_), Ending::Illegal { .. }) => Ending::Illegal { by: self.position.turn() },
            (Some(foul), _) => return Err(foul),
        };
        self.record.ending.get_or_insert(ending);
        Ok(())
    }

    /// Stores the time used for the last move, or before the ending.
    pub fn spend(&mut self, time_ms: u32) {
        match (&self.record.ending, self.record.plies.last_mut()) {
            (None, Some(ply)) => ply.time_ms = Some(time_ms),
            (Some(_), _) => self.record.ending_time_ms = Some(time_ms),
            (None, None) => {}
        }
    }

    /// Adds a comment line to the last move, or to the start.
    pub fn comment(&mut self, text: &str) {
        let comment = self.record.plies.last_mut().map_or(&mut self.record.comment, |ply| &mut ply.comment);
        add_line(comment, text);
    }

    /// Stores the mover's evaluation of the last move.
    pub fn score(&mut self, score: i32) {
        if let Some(ply) = self.record.plies.last_mut() {
            ply.score = Some(score);
        }
    }

    /// The finished record.
    pub fn finish(self) -> Result<GameRecord, RecordFault> {
        self.foul.map_or(Ok(self.record), Err)
    }
}

/// Appends a line to a comment.
pub(super) fn add_line(comment: &mut String, text: &str) {
    if !comment.is_empty() {
        comment.push('\n');
    }
    comment.push_str(text);
}
