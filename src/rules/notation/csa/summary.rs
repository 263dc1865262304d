//! `Game_Summary`: the announcement of a game that begins or is resumed.

mod read;

use super::{position_lines, wire::ChargedTime};
use referee::{Color, clock::TimeControl};
use rsshogi::board::Position;
use std::{fmt, time::Duration};

/// The line of a summary by which a host of Renmei announces that it accepts floodgate's comments (`'* score pv`) after moves.
/// Readers of summaries skip keys that they do not know.
pub const TAKES_COMMENTS: &str = "Move_Comments:floodgate";

/// A game as the server announces it. Written in the order of shogi-server, read in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// `Protocol_Version`.
    pub version: String,
    /// `Protocol_Mode`; `Server` if absent.
    pub mode: Option<String>,
    /// `Format`.
    pub format: String,
    /// `Declaration`: the rule announced for declarations.
    pub declaration: Option<String>,
    /// `Game_ID`.
    pub game_id: Option<String>,
    /// The players, black first.
    pub names: [String; 2],
    /// `Your_Turn`: the side of the reader; `None` for a spectator.
    pub your_turn: Option<Color>,
    /// `Rematch_On_Draw`.
    pub rematch_on_draw: Option<bool>,
    /// `To_Move`: the side to move before the moves listed. (shogi-server always sends `+` to spectators.)
    pub to_move: Color,
    /// `Max_Moves`; 0 is no limit.
    pub max_moves: Option<u32>,
    /// The clocks.
    pub times: Times,
    /// The position block as SFEN, with the side to move at its end.
    pub start: String,
    /// Moves played so far, with their time.
    pub moves: Vec<(String, Option<ChargedTime>)>,
    /// Unknown lines, such as extensions of other servers.
    pub others: Vec<String>,
}

/// The time blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// None: no limit.
    #[default]
    Unlimited,
    /// One for both sides, `BEGIN Time`.
    Same(TimeBlock),
    /// One for each, `BEGIN Time+` and `BEGIN Time-`.
    Each(Box<[TimeBlock; 2]>),
}

/// A time block; every count is in time units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeBlock {
    /// `Time_Unit`.
    pub unit: Option<TimeUnit>,
    /// `Total_Time`: main time.
    pub total: Option<u64>,
    /// `Byoyomi`.
    pub byoyomi: Option<u64>,
    /// `Increment`: Fischer.
    pub increment: Option<u64>,
    /// `Delay`.
    pub delay: Option<u64>,
    /// `Least_Time_Per_Move`.
    pub least: Option<u64>,
    /// `Time_Roundup`.
    pub roundup: Option<bool>,
    /// The extra lines for spectators.
    pub standing: Option<Standing>,
}

/// The state of the game that a spectator receives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Main time left, black first.
    pub remaining: [u64; 2],
    /// Last move, such as `+7776FU,T12`; empty before the first.
    pub last_move: String,
    /// Plies played.
    pub current_turn: u32,
}

/// Unit of the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeUnit {
    /// Number of spans in the unit.
    pub count: u32,
    /// The span.
    pub of: Span,
}

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Milliseconds.
    Msec,
    /// Seconds.
    Sec,
    /// Minutes.
    Min,
}

/// A summary that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    /// A required line is missing.
    #[error("game summary without `{0}`")]
    Missing(&'static str),
    /// A line has an invalid value.
    #[error("unreadable line of the game summary: `{0}`")]
    Line(String),
    /// The position block is invalid.
    #[error("position of the game summary: {0}")]
    Position(&'static str),
}

impl TimeUnit {
    /// A second.
    pub const SECOND: Self = Self { count: 1, of: Span::Sec };
    /// A millisecond.
    pub const MILLISECOND: Self = Self { count: 1, of: Span::Msec };

    /// A time in whole units.
    pub fn count(self, time: Duration) -> u64 {
        let millis = match self.of {
            Span::Msec => 1,
            Span::Sec => 1000,
            Span::Min => 60_000,
        };
        let units = time.as_millis() / (u128::from(self.count.max(1)) * millis);
        u64::try_from(units).unwrap_or(u64::MAX)
    }
}

impl TimeBlock {
    /// A time control in whole units; fractions are dropped. An exact time for each move is a byoyomi without main time.
    pub fn counted(time: &TimeControl, unit: TimeUnit) -> Self {
        Self {
            unit: Some(unit),
            total: Some(unit.count(time.main)),
            byoyomi: Some(unit.count(time.fixed.unwrap_or(time.byoyomi))),
            increment: Some(unit.count(time.increment)),
            delay: Some(unit.count(time.delay)).filter(|delay| *delay > 0),
            least: Some(unit.count(time.least)),
            ..Self::default()
        }
    }
}

impl Times {
    /// One block if both sides have the same time control, one each otherwise.
    pub fn counted(times: &[TimeControl; 2], unit: TimeUnit) -> Self {
        match times[0] == times[1] {
            true => Self::Same(TimeBlock::counted(&times[0], unit)),
            false => Self::Each(Box::new([0, 1].map(|side| TimeBlock::counted(&times[side], unit)))),
        }
    }

    /// Its blocks.
    pub fn blocks_mut(&mut self) -> &mut [TimeBlock] {
        match self {
            Self::Unlimited => &mut [],
            Self::Same(block) => std::slice::from_mut(block),
            Self::Each(blocks) => &mut blocks[..],
        }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = match self.of {
            Span::Msec => "msec",
            Span::Sec => "sec",
            Span::Min => "min",
        };
        write!(f, "{}{span}", self.count)
    }
}

/// The whole block, each line with a line end.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "BEGIN Game_Summary")?;
        writeln!(f, "Protocol_Version:{}", self.version)?;
        line(f, "Protocol_Mode", self.mode.as_ref())?;
        writeln!(f, "Format:{}", self.format)?;
        line(f, "Declaration", self.declaration.as_ref())?;
        line(f, "Game_ID", self.game_id.as_ref())?;
        writeln!(f, "Name+:{}\nName-:{}", self.names[0], self.names[1])?;
        line(f, "Your_Turn", self.your_turn.map(sign).as_ref())?;
        line(f, "Rematch_On_Draw", self.rematch_on_draw.map(yes).as_ref())?;
        writeln!(f, "To_Move:{}", sign(self.to_move))?;
        line(f, "Max_Moves", self.max_moves.as_ref())?;
        self.others.iter().try_for_each(|other| writeln!(f, "{other}"))?;
        match &self.times {
            Times::Unlimited => {}
            Times::Same(block) => block.write(f, "Time")?,
            Times::Each(blocks) => {
                blocks[0].write(f, "Time+")?;
                blocks[1].write(f, "Time-")?;
            }
        }
        writeln!(f, "BEGIN Position")?;
        let position = Position::from_sfen(&self.start).map_err(|_| fmt::Error)?;
        f.write_str(&position_lines(&position))?;
        for (mv, time) in &self.moves {
            match time {
                Some(time) => writeln!(f, "{mv},T{time}")?,
                None => writeln!(f, "{mv}")?,
            }
        }
        writeln!(f, "END Position\nEND Game_Summary")
    }
}

impl TimeBlock {
    fn write(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        writeln!(f, "BEGIN {name}")?;
        line(f, "Time_Unit", self.unit.as_ref())?;
        line(f, "Total_Time", self.total.as_ref())?;
        line(f, "Byoyomi", self.byoyomi.as_ref())?;
        line(f, "Increment", self.increment.as_ref())?;
        line(f, "Delay", self.delay.as_ref())?;
        line(f, "Least_Time_Per_Move", self.least.as_ref())?;
        line(f, "Time_Roundup", self.roundup.map(yes).as_ref())?;
        if let Some(Standing { remaining, last_move, current_turn }) = &self.standing {
            writeln!(f, "Remaining_Time+:{}\nRemaining_Time-:{}", remaining[0], remaining[1])?;
            writeln!(f, "Last_Move:{last_move}\nCurrent_Turn:{current_turn}")?;
        }
        writeln!(f, "END {name}")
    }
}

fn line(f: &mut fmt::Formatter<'_>, key: &str, value: Option<&impl fmt::Display>) -> fmt::Result {
    value.map_or(Ok(()), |value| writeln!(f, "{key}:{value}"))
}

/// `+` or `-`.
pub fn sign(color: Color) -> char {
    if color == Color::Black { '+' } else { '-' }
}

fn yes(is: bool) -> &'static str {
    if is { "YES" } else { "NO" }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
