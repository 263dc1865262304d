//! Lines of a manager for an engine.

use std::fmt;
use std::str::FromStr;

use rsshogi::types::Move;
use thiserror::Error;

use super::push_move;
use super::words::{Words, shortened};

/// One line for an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuiLine {
    /// `usi`
    Usi,
    /// `setoption name N [value V]`
    SetOption {
        /// The option's name.
        name: String,
        /// Its value; none for a button. An empty value is written `<empty>`.
        value: Option<String>,
    },
    /// `isready`
    IsReady,
    /// `usinewgame`
    UsiNewGame,
    /// `position ..`
    Position(PositionLine),
    /// `go ..`
    Go(GoLimits),
    /// `stop`
    Stop,
    /// `ponderhit`
    PonderHit,
    /// `gameover ..`
    GameOver(GameEnd),
    /// `quit`
    Quit,
}

/// A start position and the moves since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PositionLine {
    /// The start position as SFEN; `None` is `startpos`.
    pub sfen: Option<String>,
    /// The moves played since.
    pub moves: Vec<Move>,
}

/// The limits of a search. Times are in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GoLimits {
    /// Think on the opponent's time.
    pub ponder: bool,
    /// Black's main time left, in milliseconds.
    pub btime: Option<u64>,
    /// White's main time left, in milliseconds.
    pub wtime: Option<u64>,
    /// Time for each move once the main time is used up, in milliseconds.
    pub byoyomi: Option<u64>,
    /// Black's increment, in milliseconds.
    pub binc: Option<u64>,
    /// White's increment, in milliseconds.
    pub winc: Option<u64>,
    /// Exact time for this move, in milliseconds.
    pub movetime: Option<u64>,
    /// Nodes to search.
    pub nodes: Option<u64>,
    /// Depth to search, in plies.
    pub depth: Option<u32>,
    /// Think until `stop`.
    pub infinite: bool,
    /// Solve a mate problem.
    pub mate: Option<MateLimit>,
}

/// The limit of a mate search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MateLimit {
    /// Until `stop`.
    Infinite,
    /// A time in milliseconds.
    Ms(u64),
}

/// The result of a game for the receiving engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameEnd {
    /// The engine won.
    Win,
    /// The engine lost.
    Lose,
    /// The game was drawn.
    Draw,
}

/// A line for an engine that is not understood.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum GuiFault {
    /// The line is not part of the protocol.
    #[error("unknown command `{0}`")]
    Unknown(String),
    /// A `position` line has no start position.
    #[error("position line without startpos or sfen")]
    NoStart,
    /// A `position` line holds a word that is no move.
    #[error("`{0}` is not a move")]
    NotAMove(String),
}

impl FromStr for GuiLine {
    type Err = GuiFault;

    fn from_str(line: &str) -> Result<Self, GuiFault> {
        let line = line.trim();
        let unknown = || GuiFault::Unknown(shortened(line).to_owned());
        let mut words = Words(line);
        Ok(match words.next().unwrap_or_default() {
            "usi" if words.is_empty() => Self::Usi,
            "isready" if words.is_empty() => Self::IsReady,
            "usinewgame" if words.is_empty() => Self::UsiNewGame,
            "stop" if words.is_empty() => Self::Stop,
            "ponderhit" if words.is_empty() => Self::PonderHit,
            "quit" if words.is_empty() => Self::Quit,
            "setoption" => set_option(words).ok_or_else(unknown)?,
            "position" => Self::Position(PositionLine::of(words)?),
            "go" => Self::Go(GoLimits::of(words)),
            "gameover" => Self::GameOver(words.rest().parse().map_err(|()| unknown())?),
            _ => return Err(unknown()),
        })
    }
}

fn set_option(mut words: Words) -> Option<GuiLine> {
    (words.next()? == "name").then_some(())?;
    let text = words.rest();
    let (name, value) = match text.split_once(" value ") {
        Some((name, value)) => (name, Some(value.trim())),
        None => match text.strip_suffix(" value") {
            Some(name) => (name, Some("")),
            None => (text, None),
        },
    };
    let value = value.map(|value| if value == "<empty>" { "" } else { value }.to_owned());
    let name = name.trim().to_owned();
    (!name.is_empty()).then_some(GuiLine::SetOption { name, value })
}

/// Board, side to move, hands and move number.
const SFEN_FIELDS: usize = 4;

impl PositionLine {
    fn of(mut words: Words) -> Result<Self, GuiFault> {
        let mut sfen = None;
        match words.next() {
            Some("startpos") => {}
            Some("sfen") => sfen = Some(String::new()),
            _ => return Err(GuiFault::NoStart),
        }
        let mut fields = 0;
        while let Some(word) = words.next().filter(|word| *word != "moves") {
            let sfen = sfen.as_mut().filter(|_| fields < SFEN_FIELDS);
            let sfen = sfen.ok_or_else(|| GuiFault::NotAMove(word.to_owned()))?;
            if fields > 0 {
                sfen.push(' ');
            }
            sfen.push_str(word);
            fields += 1;
        }
        let moves = std::iter::from_fn(|| words.next())
            .map(|word| {
                Move::from_usi(word)
                    .filter(|mv| mv.is_normal())
                    .ok_or_else(|| GuiFault::NotAMove(word.to_owned()))
            })
            .collect::<Result<_, _>>()?;
        match sfen {
            Some(sfen) if sfen.is_empty() => Err(GuiFault::NoStart),
            sfen => Ok(Self { sfen, moves }),
        }
    }
}

impl GoLimits {
    // Unknown words are ignored, as engines do.
    fn of(mut words: Words) -> Self {
        let mut go = Self::default();
        while let Some(word) = words.next() {
            match word {
                "ponder" => go.ponder = true,
                "infinite" => go.infinite = true,
                "btime" => go.btime = words.number(),
                "wtime" => go.wtime = words.number(),
                "byoyomi" => go.byoyomi = words.number(),
                "binc" => go.binc = words.number(),
                "winc" => go.winc = words.number(),
                "movetime" => go.movetime = words.number(),
                "nodes" => go.nodes = words.number(),
                "depth" => go.depth = words.number(),
                "mate" => {
                    go.mate = words.number().map_or(Some(MateLimit::Infinite), |ms| Some(MateLimit::Ms(ms)))
                }
                _ => {}
            }
        }
        // `go mate infinite`: the word belongs to the mate search.
        if go.mate == Some(MateLimit::Infinite) {
            go.infinite = false;
        }
        go
    }
}

impl FromStr for GameEnd {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "win" => Ok(Self::Win),
            "lose" => Ok(Self::Lose),
            "draw" => Ok(Self::Draw),
            _ => Err(()),
        }
    }
}

impl fmt::Display for GuiLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usi => f.write_str("usi"),
            Self::SetOption { name, value: None } => write!(f, "setoption name {name}"),
            Self::SetOption { name, value: Some(value) } => {
                write!(f, "setoption name {name} value {}", if value.is_empty() { "<empty>" } else { value })
            }
            Self::IsReady => f.write_str("isready"),
            Self::UsiNewGame => f.write_str("usinewgame"),
            Self::Position(position) => write!(f, "{position}"),
            Self::Go(limits) => write!(f, "{limits}"),
            Self::Stop => f.write_str("stop"),
            Self::PonderHit => f.write_str("ponderhit"),
            Self::GameOver(GameEnd::Win) => f.write_str("gameover win"),
            Self::GameOver(GameEnd::Lose) => f.write_str("gameover lose"),
            Self::GameOver(GameEnd::Draw) => f.write_str("gameover draw"),
            Self::Quit => f.write_str("quit"),
        }
    }
}

impl fmt::Display for PositionLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sfen {
            Some(sfen) => write!(f, "position sfen {sfen}")?,
            None => f.write_str("position startpos")?,
        }
        if self.moves.is_empty() {
            return Ok(());
        }
        let mut text = String::with_capacity(6 * self.moves.len());
        for &mv in &self.moves {
            text.push(' ');
            push_move(&mut text, mv);
        }
        write!(f, " moves{text}")
    }
}

impl fmt::Display for GoLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.ponder { "go ponder" } else { "go" })?;
        let numbers = [
            ("btime", self.btime),
            ("wtime", self.wtime),
            ("byoyomi", self.byoyomi),
            ("binc", self.binc),
            ("winc", self.winc),
            ("movetime", self.movetime),
            ("nodes", self.nodes),
            ("depth", self.depth.map(u64::from)),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                write!(f, " {name} {number}")?;
            }
        }
        match self.mate {
            Some(MateLimit::Infinite) => f.write_str(" mate infinite")?,
            Some(MateLimit::Ms(ms)) => write!(f, " mate {ms}")?,
            None => {}
        }
        f.write_str(if self.infinite { " infinite" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_for_an_engine_survives_a_round_trip() {
        for line in [
            "usi",
            "setoption name Skill Level value 7",
            "setoption name Clear Hash",
            "setoption name BookDir value C:/my value books",
            "setoption name Debug Log File value <empty>",
            "isready",
            "usinewgame",
            "position startpos",
            "position startpos moves 7g7f 3c3d 8h2b+ 3a2b B*5e",
            "position sfen lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1 moves 7a6b",
            "go btime 60000 wtime 59000 byoyomi 10000",
            "go ponder btime 0 wtime 0 binc 1000 winc 2000",
            "go nodes 4000",
            "go depth 6",
            "go movetime 100",
            "go infinite",
            "go mate infinite",
            "go mate 5000",
            "stop",
            "ponderhit",
            "gameover win",
            "gameover lose",
            "gameover draw",
            "quit",
        ] {
            assert_eq!(line.parse::<GuiLine>().unwrap().to_string(), line);
        }
    }

    #[test]
    fn go_passes_over_words_it_does_not_know() {
        let go = GoLimits { nodes: Some(7), ..GoLimits::default() };
        assert_eq!("go rtime 100 nodes 7".parse(), Ok(GuiLine::Go(go)));
    }

    #[test]
    fn an_unknown_line_is_refused_with_a_reason() {
        let fault = |line: &str| line.parse::<GuiLine>().unwrap_err().to_string();
        assert_eq!(fault("dance"), "unknown command `dance`");
        assert_eq!(fault("gameover maybe"), "unknown command `gameover maybe`");
        assert_eq!(fault("setoption value 3"), "unknown command `setoption value 3`");
        assert_eq!(fault("position moves 7g7f"), "position line without startpos or sfen");
        assert_eq!(fault("position startpos moves 7g7f 0x0x"), "`0x0x` is not a move");
        assert_eq!(fault("position startposmoves 7g7f"), "position line without startpos or sfen");
        assert_eq!(fault("position startpos movesfoo 7g7f"), "`movesfoo` is not a move");
        assert_eq!(fault("position sfen 9/9 b - 1 movesfoo 7g7f"), "`movesfoo` is not a move");
        assert_eq!(fault("usi now"), "unknown command `usi now`");
    }
}
