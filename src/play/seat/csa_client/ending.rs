//! The meaning of the last lines of a server.

use notation::csa::wire::{Ending, GameResult};
use referee::{AbortBy, Color, DrawBy, Foul, Outcome, WinBy};

/// The lines that may belong to the end of a game.
#[derive(Debug)]
pub struct Words {
    us: Color,
    heard: Vec<String>,
    resigned: bool,
    declared: bool,
    foul: Option<Foul>,
    reason: Option<Ending>,
    result: Option<GameResult>,
}

/// Lines kept as evidence; no server sends more.
const KEPT: usize = 8;

impl Words {
    /// No line yet; `us` is our side.
    pub fn new(us: Color) -> Self {
        Self { us, heard: vec![], resigned: false, declared: false, foul: None, reason: None, result: None }
    }

    /// `%TORYO`, `%KACHI` and the like.
    pub fn special(&mut self, word: &str, raw: String) {
        self.resigned |= word == "%TORYO";
        self.declared |= word == "%KACHI";
        self.keep(raw);
    }

    /// A reason.
    pub fn reason(&mut self, reason: Ending, raw: String) {
        self.reason = Some(reason);
        self.keep(raw);
    }

    /// A result.
    pub fn result(&mut self, result: GameResult, raw: String) {
        self.result = Some(result);
        self.keep(raw);
    }

    /// The confirmation of our logout in the midst of the game: our resignation.
    pub fn let_go(&mut self, raw: String) {
        self.resigned = true;
        self.result = Some(GameResult::Lose);
        self.keep(raw);
    }

    /// The foul of the move that the server calls illegal.
    pub fn foul(&mut self, foul: Foul) {
        self.foul = Some(foul);
    }

    fn keep(&mut self, raw: String) {
        if self.heard.len() < KEPT {
            self.heard.push(raw);
        }
    }

    /// The outcome of the game, and the lines that said so.
    pub fn outcome(&self) -> (Outcome, String) {
        let outcome = match self.result {
            Some(GameResult::Win) => Outcome::Win { winner: self.us, by: self.won_by() },
            Some(GameResult::Lose) => Outcome::Win { winner: !self.us, by: self.won_by() },
            Some(GameResult::Draw) => Outcome::Draw { by: self.drawn_by() },
            Some(GameResult::Censored) => Outcome::Draw { by: DrawBy::MaxMoves },
            None => Outcome::Aborted { by: AbortBy::Server },
        };
        (outcome, self.heard.join(" "))
    }

    /// A reason that fits no winner is an adjudication by the server; the lines are evidence.
    fn won_by(&self) -> WinBy {
        match self.reason {
            Some(Ending::Resign) => WinBy::Resignation,
            Some(Ending::TimeUp) => WinBy::Time,
            Some(Ending::IllegalMove) if self.declared => WinBy::IllegalDeclaration,
            // Floodgate's server does not tell the move that was illegal.
            Some(Ending::IllegalMove) => WinBy::IllegalMove(self.foul.unwrap_or(Foul::Unreadable)),
            Some(Ending::Jishogi) => WinBy::Declaration,
            Some(Ending::OuteSennichite) => WinBy::PerpetualCheck,
            None if self.resigned => WinBy::Resignation,
            None if self.declared => WinBy::Declaration,
            Some(Ending::IllegalAction) => WinBy::IllegalAction,
            Some(Ending::Sennichite | Ending::MaxMoves | Ending::Chudan) | None => WinBy::Adjudication,
        }
    }

    fn drawn_by(&self) -> DrawBy {
        match self.reason {
            Some(Ending::Sennichite) => DrawBy::Sennichite,
            Some(Ending::Jishogi) => DrawBy::Impasse,
            Some(Ending::MaxMoves) => DrawBy::MaxMoves,
            Some(Ending::Resign | Ending::TimeUp | Ending::IllegalMove | Ending::IllegalAction)
            | Some(Ending::OuteSennichite | Ending::Chudan)
            | None => DrawBy::Adjudication,
        }
    }
}
