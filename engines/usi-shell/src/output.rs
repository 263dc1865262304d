//! The engine's output: one line per write.

use parking_lot::Mutex;
use std::fmt::{self, Display, Write as _};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use rsshogi::types::Move;

/// Output of the engine. Clones share it, and lines of different threads never mix.
#[derive(Clone)]
pub struct Output {
    sink: Arc<Mutex<dyn Write + Send>>,
    last: Arc<Mutex<Reported>>,
}

/// What the last `info` lines said of the best line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reported {
    /// The score in centipawns; `i32::MAX` or its negative for a mate.
    pub score: Option<i32>,
    /// The move, and the expected reply.
    pub line: Option<[Move; 2]>,
}

impl Output {
    /// Wraps `sink`, which is stdout in [`run`](crate::run).
    pub fn new(sink: impl Write + Send + 'static) -> Self {
        Self { sink: Arc::new(Mutex::new(sink)), last: Arc::default() }
    }

    /// Prints `line` with its newline in one write, and flushes.
    ///
    /// A manager that reads the pipe never sees half a line. A failed write is ignored: once the reader has
    /// closed stdout, stdin ends as well, which ends the engine.
    pub fn line(&self, line: impl Display) {
        let mut text = line.to_string();
        if text.contains(['\n', '\r']) {
            text = text.replace(['\n', '\r'], " ");
        }
        text.push('\n');
        let mut sink = self.sink.lock();
        let _ = sink.write_all(text.as_bytes()).and_then(|()| sink.flush());
    }

    /// Prints `info string MESSAGE`: free text for people.
    pub fn say(&self, message: impl Display) {
        self.line(format_args!("info string {message}"));
    }

    /// Prints an `info` line about the search.
    pub fn info(&self, info: &Info) {
        if info.multipv.is_none_or(|rank| rank == 1) {
            self.last.lock().note(info);
        }
        self.line(info);
    }

    /// What the last search reported.
    pub(crate) fn reported(&self) -> Reported {
        self.last.lock().clone()
    }

    /// Forgets what was reported: another game begins.
    pub(crate) fn forget(&self) {
        *self.last.lock() = Reported::default();
    }
}

impl Reported {
    fn note(&mut self, info: &Info) {
        let Some(score) = info.score else { return };
        self.score = Some(match score {
            Score::Cp(centipawns) => centipawns,
            Score::Mate(plies) if plies > 0 => i32::MAX,
            Score::Mate(_) => -i32::MAX,
        });
        self.line = info.pv.first_chunk().copied();
    }
}

/// The score of a position, from the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Centipawns.
    Cp(i32),
    /// Mate in this many plies; negative when the side to move is mated.
    Mate(i32),
}

impl Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cp(centipawns) => write!(f, "cp {centipawns}"),
            Self::Mate(plies) => write!(f, "mate {plies}"),
        }
    }
}

/// The fields of an `info` line; a field that is `None` or empty is not printed.
///
/// `nps` is computed from `nodes` and `time`.
#[derive(Clone, Debug, Default)]
pub struct Info {
    /// Depth of the search in plies.
    pub depth: Option<u32>,
    /// Greatest depth reached, in plies.
    pub seldepth: Option<u32>,
    /// Rank of this line when several are reported, from 1.
    pub multipv: Option<u32>,
    /// Score from the side to move.
    pub score: Option<Score>,
    /// Win, draw and loss probabilities of the side to move, in permille.
    pub wdl: Option<[u32; 3]>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Time spent; printed in ms.
    pub time: Option<Duration>,
    /// Occupancy of the transposition table, in permille.
    pub hashfull: Option<u32>,
    /// Principal variation.
    pub pv: Vec<Move>,
}

impl Info {
    fn nps(&self) -> Option<u64> {
        let micros = u64::try_from(self.time?.as_micros()).ok()?;
        self.nodes?.checked_mul(1_000_000)?.checked_div(micros)
    }
}

impl Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::from("info");
        let mut field = |name: &str, value: Option<String>| match value {
            Some(value) => write!(text, " {name} {value}"),
            None => Ok(()),
        };
        field("depth", self.depth.map(|depth| depth.to_string()))?;
        field("seldepth", self.seldepth.map(|depth| depth.to_string()))?;
        field("multipv", self.multipv.map(|rank| rank.to_string()))?;
        field("score", self.score.map(|score| score.to_string()))?;
        field("wdl", self.wdl.map(|[win, draw, loss]| format!("{win} {draw} {loss}")))?;
        field("nodes", self.nodes.map(|nodes| nodes.to_string()))?;
        field("nps", self.nps().map(|nps| nps.to_string()))?;
        field("time", self.time.map(|time| time.as_millis().to_string()))?;
        field("hashfull", self.hashfull.map(|permille| permille.to_string()))?;
        // The pv extends to the end of the line, so it comes last.
        field("pv", (!self.pv.is_empty()).then(|| join(&self.pv)))?;
        f.write_str(&text)
    }
}

/// The moves in USI spelling with a space between them.
pub(crate) fn join(moves: &[Move]) -> String {
    moves.iter().map(Move::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_info_line_names_what_is_known_and_ends_with_the_moves() {
        let info = Info {
            depth: Some(3),
            score: Some(Score::Mate(-2)),
            wdl: Some([0, 3, 997]),
            nodes: Some(5000),
            time: Some(Duration::from_millis(10)),
            pv: ["7g7f", "P*3c"].iter().map(|mv| mv.parse().unwrap()).collect(),
            ..Info::default()
        };
        assert_eq!(
            info.to_string(),
            "info depth 3 score mate -2 wdl 0 3 997 nodes 5000 nps 500000 time 10 pv 7g7f P*3c"
        );
        assert_eq!(Info::default().to_string(), "info");
    }

    #[test]
    fn the_best_line_of_the_last_search_is_remembered() {
        let out = Output::new(std::io::sink());
        let pv: Vec<Move> = ["7g7f", "3c3d"].iter().map(|mv| mv.parse().unwrap()).collect();
        out.info(&Info { score: Some(Score::Cp(-40)), pv: pv.clone(), ..Info::default() });
        out.info(&Info { score: Some(Score::Cp(-90)), multipv: Some(2), ..Info::default() });
        out.info(&Info { nodes: Some(9), ..Info::default() });
        assert_eq!(out.reported(), Reported { score: Some(-40), line: Some([pv[0], pv[1]]) });
        out.forget();
        assert_eq!(out.reported(), Reported::default());
    }

    #[test]
    fn no_speed_is_claimed_for_no_time() {
        let info = Info { nodes: Some(1), time: Some(Duration::ZERO), ..Info::default() };
        assert_eq!(info.to_string(), "info nodes 1 time 0");
    }
}
