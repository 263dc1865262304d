//! `info` lines. An engine may print thousands for one move, so parsing is cheap and on demand.

use std::fmt;

use super::words::{Words, bytes_words};

/// The content of an `info` line; every part is optional. Scores are from the mover's side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Search depth in plies.
    pub depth: Option<u32>,
    /// Selective depth in plies.
    pub seldepth: Option<u32>,
    /// Rank of the line among several, from 1.
    pub multipv: Option<u32>,
    /// Score of the line.
    pub score: Option<Score>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Nodes a second.
    pub nps: Option<u64>,
    /// Thinking time by the engine's own count, in milliseconds.
    pub time_ms: Option<u64>,
    /// Fill of the hash table in permille.
    pub hashfull: Option<u32>,
    /// The expected line, raw; empty when there was none. It ends the line.
    pub pv: String,
    /// Free text; empty when there was none. It ends the line.
    pub string: String,
}

/// A score, exact or a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// The number.
    pub value: ScoreValue,
    /// Exact, or a bound.
    pub bound: Bound,
}

/// The number of a score, from the mover's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreValue {
    /// Centipawns.
    Cp(i32),
    /// Plies to mate, negative when the mover is mated; 0 is "mated now".
    Mate(i32),
    /// `mate +`: the mover mates, length unknown.
    Mates,
    /// `mate -`: the mover is mated, length unknown.
    Mated,
}

impl From<ScoreValue> for referee::entry::Score {
    fn from(value: ScoreValue) -> Self {
        match value {
            ScoreValue::Cp(cp) => Self::Cp(cp),
            ScoreValue::Mate(plies) => Self::Mate(plies),
            ScoreValue::Mates => Self::Mate(i32::MAX),
            ScoreValue::Mated => Self::Mate(-i32::MAX),
        }
    }
}

/// The exactness of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// The true score.
    #[default]
    Exact,
    /// The true score is at least this.
    Lower,
    /// The true score is at most this.
    Upper,
}

/// An `info` line that is not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoLine<'a>(&'a [u8]);

impl<'a> InfoLine<'a> {
    /// A line that begins with the word `info`.
    pub(super) const fn of(line: &'a [u8]) -> Self {
        Self(line)
    }

    /// The line as it was printed, without the blanks around it.
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// True if the line has a score and no `multipv` other than 1. Only words before `pv` or `string` are read, because an
    /// engine may print thousands of these lines for one move.
    pub fn scores_best_line(self) -> bool {
        let (mut words, mut scores) = (bytes_words(self.0), false);
        while let Some(word) = words.next() {
            match word {
                b"score" => scores = true,
                b"multipv" if words.next() != Some(b"1") => return false,
                b"pv" | b"string" => break,
                _ => {}
            }
        }
        scores
    }

    /// The device that the engine reports in a line `info string device ..`, made printable and cut.
    pub fn device(self) -> Option<String> {
        const KEPT: usize = 300;
        let device = self.0.strip_prefix(b"info string device ")?.trim_ascii();
        (!device.is_empty()).then(|| crate::printable(&device[..device.len().min(KEPT)]))
    }

    /// Reads the line; bytes that are not UTF-8 become U+FFFD.
    pub fn read(self) -> Info {
        Info::of(&String::from_utf8_lossy(self.0))
    }
}

impl Info {
    /// Reads an `info` line into a new value.
    pub fn of(line: &str) -> Self {
        let mut info = Self::default();
        info.parse_into(line);
        info
    }

    /// Reads an `info` line into this value, reusing its buffers; fields absent from the line are cleared.
    pub fn parse_into(&mut self, line: &str) {
        self.clear();
        let mut words = Words(line);
        while let Some(word) = words.next() {
            match word {
                "depth" => self.depth = words.number(),
                "seldepth" => self.seldepth = words.number(),
                "multipv" => self.multipv = words.number(),
                "nodes" => self.nodes = words.number(),
                "nps" => self.nps = words.number(),
                "time" => self.time_ms = words.number(),
                "hashfull" => self.hashfull = words.number(),
                "score" => self.score = Score::of(&mut words),
                "lowerbound" => self.set_bound(Bound::Lower),
                "upperbound" => self.set_bound(Bound::Upper),
                "pv" => return self.pv.push_str(words.rest().trim_end()),
                "string" => return self.string.push_str(words.rest().trim_end()),
                _ => {}
            }
        }
    }

    fn clear(&mut self) {
        let (mut pv, mut string) = (std::mem::take(&mut self.pv), std::mem::take(&mut self.string));
        pv.clear();
        string.clear();
        *self = Self { pv, string, ..Self::default() };
    }

    // The bound follows the number as a word of its own.
    fn set_bound(&mut self, bound: Bound) {
        if let Some(score) = &mut self.score {
            score.bound = bound;
        }
    }
}

impl Score {
    fn of(words: &mut Words) -> Option<Self> {
        let value = match words.next()? {
            "cp" => ScoreValue::Cp(clamped(words.next()?)?),
            "mate" => match words.next()? {
                "+" => ScoreValue::Mates,
                "-" => ScoreValue::Mated,
                plies => ScoreValue::Mate(clamped(plies)?),
            },
            _ => return None,
        };
        Some(Self { value, bound: Bound::Exact })
    }
}

// Engines print sentinels beyond 32 bits; only their sign matters.
fn clamped(word: &str) -> Option<i32> {
    let number = word.parse::<i64>().ok()?;
    Some(number.clamp(-i64::from(i32::MAX), i64::from(i32::MAX)) as i32)
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: [(&str, Option<u64>); 7] = [
            ("depth", self.depth.map(u64::from)),
            ("seldepth", self.seldepth.map(u64::from)),
            ("time", self.time_ms),
            ("nodes", self.nodes),
            ("nps", self.nps),
            ("hashfull", self.hashfull.map(u64::from)),
            ("multipv", self.multipv.map(u64::from)),
        ];
        f.write_str("info")?;
        for (name, number) in numbers {
            if let Some(number) = number {
                write!(f, " {name} {number}")?;
            }
        }
        if let Some(score) = self.score {
            write!(f, " score {score}")?;
        }
        match (self.pv.as_str(), self.string.as_str()) {
            ("", "") => Ok(()),
            ("", string) => write!(f, " string {string}"),
            (pv, _) => write!(f, " pv {pv}"),
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            ScoreValue::Cp(cp) => write!(f, "cp {cp}")?,
            ScoreValue::Mate(plies) => write!(f, "mate {plies}")?,
            ScoreValue::Mates => f.write_str("mate +")?,
            ScoreValue::Mated => f.write_str("mate -")?,
        }
        match self.bound {
            Bound::Exact => Ok(()),
            Bound::Lower => f.write_str(" lowerbound"),
            Bound::Upper => f.write_str(" upperbound"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::EngineLineRef, *};

    fn score(value: ScoreValue, bound: Bound) -> Option<Score> {
        Some(Score { value, bound })
    }

    #[test]
    fn a_full_line_is_read_in_every_part() {
        let line = "info depth 12 seldepth 18 time 1004 nodes 123456 nps 122964 hashfull 31 multipv 2 \
                    score cp 57 lowerbound pv 7g7f 3c3d 2g2f";
        let info = Info::of(line);
        assert_eq!((info.depth, info.seldepth, info.multipv), (Some(12), Some(18), Some(2)));
        assert_eq!((info.nodes, info.nps), (Some(123_456), Some(122_964)));
        assert_eq!((info.time_ms, info.hashfull), (Some(1004), Some(31)));
        assert_eq!(info.score, score(ScoreValue::Cp(57), Bound::Lower));
        assert_eq!(info.pv, "7g7f 3c3d 2g2f");
        assert_eq!(info.to_string(), line);
    }

    #[test]
    fn mates_of_known_and_unknown_length_are_distinguished() {
        for (text, value) in [
            ("mate 5", ScoreValue::Mate(5)),
            ("mate -4", ScoreValue::Mate(-4)),
            ("mate 0", ScoreValue::Mate(0)),
            ("mate +", ScoreValue::Mates),
            ("mate -", ScoreValue::Mated),
        ] {
            let info = Info::of(&format!("info score {text} upperbound"));
            assert_eq!(info.score, score(value, Bound::Upper), "{text}");
            assert_eq!(info.to_string(), format!("info score {text} upperbound"));
        }
        assert_eq!(Info::of("info score mate +7").score, score(ScoreValue::Mate(7), Bound::Exact));
    }

    #[test]
    fn a_score_beyond_32_bits_keeps_its_sign() {
        assert_eq!(
            Info::of("info score cp -99999999999").score,
            score(ScoreValue::Cp(-i32::MAX), Bound::Exact)
        );
    }

    #[test]
    fn unknown_words_and_broken_numbers_are_passed_over() {
        let info = Info::of("info currmove 7g7f currmovenumber 1 depth many nodes 7 score cp x tbhits 0");
        assert_eq!(info, Info { nodes: Some(7), ..Info::default() });
    }

    #[test]
    fn free_text_is_not_read_as_numbers() {
        let info = Info::of("info string depth 9 multipv 4");
        assert_eq!((info.depth, info.string.as_str()), (None, "depth 9 multipv 4"));
    }

    #[test]
    fn a_reused_value_forgets_the_line_before() {
        let mut info = Info::of("info depth 9 score cp 3 pv 7g7f");
        info.parse_into("info string hello");
        assert_eq!(info, Info { string: "hello".into(), ..Info::default() });
    }

    #[test]
    fn only_a_score_of_the_best_line_counts() {
        for (line, scores) in [
            ("info depth 3 score cp -20 pv 7g7f", true),
            ("info multipv 1 score mate 3", true),
            ("info score cp 5 multipv 2 pv 7g7f", false),
            ("info multipv score cp 5", false),
            ("info depth 3 nodes 100", false),
            ("info string the score is cp 5", false),
            ("info underscore cp 5", false),
        ] {
            assert_eq!(InfoLine::of(line.as_bytes()).scores_best_line(), scores, "{line}");
        }
    }

    #[test]
    fn only_info_lines_count_as_info() {
        let is_info = |line: &[u8]| matches!(EngineLineRef::parse(line), EngineLineRef::Info(_));
        assert!(is_info(b"info depth 1") && is_info(b" info") && is_info(b"info\r"));
        assert!(!is_info(b"information") && !is_info(b"bestmove 7g7f"));
    }
}
