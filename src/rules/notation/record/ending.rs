//! Endings of games in the words of CSA and KIF.

use rsshogi::types::Color;

/// The ending of a game. Endings without a named side concern the side to move after the last move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The side to move resigned.
    Resign,
    /// The side to move overstepped its time.
    TimeUp,
    /// The side to move is mated.
    Mate,
    /// The mate problem has no solution.
    NoMate,
    /// The side to move won by declaration.
    Declaration,
    /// Fourfold repetition: a draw.
    Sennichite,
    /// One side gave perpetual check and lost.
    PerpetualCheck {
        /// The checker.
        by: Color,
    },
    /// One side made an illegal move (or a foul of another kind) and lost.
    Illegal {
        /// The side at fault.
        by: Color,
    },
    /// One side declared without the right to and lost.
    IllegalDeclaration {
        /// The side at fault.
        by: Color,
    },
    /// The move limit was reached: a draw.
    MaxMoves,
    /// Draw by impasse.
    Impasse,
    /// A draw of another kind.
    Draw,
    /// The game was broken off.
    Interrupted,
    /// The side to move won because its opponent did not appear.
    WinByDefault,
    /// The side to move lost because it did not appear.
    LossByDefault,
    /// A win without a recorded cause.
    Won {
        /// The winner.
        by: Color,
    },
    /// Any other word, such as one for a sealed move.
    Unknown(String),
}

use Ending::*;

/// Defines the words of CSA and KIF for endings with one word in each. An ending that is neither there nor among the
/// others does not compile.
macro_rules! words {
    ($others:pat => None; $($ending:ident => $csa:literal, $kif:literal;)+) => {
        static WORDS: &[(Ending, &str, &str)] = &[$(($ending, $csa, $kif)),+];

        impl Ending {
            /// The words of CSA and KIF for an ending that concerns the side to move, or both sides.
            fn words(&self) -> Option<(&'static str, &'static str)> {
                match self {
                    $($ending => Some(($csa, $kif)),)+
                    $others => None,
                }
            }
        }
    };
}

words! {
    PerpetualCheck { .. } | Illegal { .. } | IllegalDeclaration { .. } | Won { .. } | Unknown(_) => None;
    Resign => "TORYO", "投了";
    TimeUp => "TIME_UP", "切れ負け";
    Mate => "TSUMI", "詰み";
    NoMate => "FUZUMI", "不詰";
    Declaration => "KACHI", "入玉勝ち";
    Sennichite => "SENNICHITE", "千日手";
    MaxMoves => "MAX_MOVES", "最大手数";
    Impasse => "JISHOGI", "持将棋";
    Draw => "HIKIWAKE", "引き分け";
    Interrupted => "CHUDAN", "中断";
    WinByDefault => "FUSENSHO", "不戦勝";
    LossByDefault => "FUSENPAI", "不戦敗";
}

/// Names of the sides in a summary line.
const SIDES: [(&str, Color); 4] =
    [("先手", Color::BLACK), ("下手", Color::BLACK), ("後手", Color::WHITE), ("上手", Color::WHITE)];

/// Characters kept of an unknown word.
const UNKNOWN_LONGEST: usize = 32;

impl Ending {
    /// The winner, given the side to move after the last move; `None` for draws and games without a result.
    pub fn winner(&self, to_move: Color) -> Option<Color> {
        match self {
            Resign | TimeUp | Mate | LossByDefault => Some(to_move.flip()),
            Declaration | WinByDefault => Some(to_move),
            PerpetualCheck { by } | Illegal { by } | IllegalDeclaration { by } => Some(by.flip()),
            Won { by } => Some(*by),
            NoMate | Sennichite | MaxMoves | Impasse | Draw | Interrupted | Unknown(_) => None,
        }
    }

    /// True for a draw.
    pub const fn is_draw(&self) -> bool {
        matches!(self, Sennichite | MaxMoves | Impasse | Draw)
    }

    /// An ending in an unknown word, reduced to a short word of letters and digits that no format takes for a separator.
    pub(super) fn unknown(word: &str) -> Self {
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '+' | '-') { c } else { '_' };
        Unknown(word.chars().map(plain).take(UNKNOWN_LONGEST).collect())
    }

    /// The ending of a CSA special, without its `%`.
    pub(super) fn from_csa(word: &str, to_move: Color) -> Self {
        match (word, sided(word)) {
            ("OUTE_SENNICHITE", _) => PerpetualCheck { by: to_move.flip() },
            ("ILLEGAL_MOVE", _) => Illegal { by: to_move },
            (_, Some((by, "OUTE_SENNICHITE"))) => PerpetualCheck { by },
            (_, Some((by, "ILLEGAL_ACTION"))) => Illegal { by },
            _ => {
                let known = WORDS.iter().find(|(_, csa, _)| *csa == word);
                known.map_or_else(|| Self::unknown(word), |(ending, ..)| ending.clone())
            }
        }
    }

    /// The CSA special, without its `%`; `None` where CSA has no word.
    pub(super) fn to_csa(&self, to_move: Color) -> Option<String> {
        match self {
            Illegal { by } | IllegalDeclaration { by } if *by == to_move => Some("ILLEGAL_MOVE".to_owned()),
            PerpetualCheck { by } | Illegal { by } | IllegalDeclaration { by } => {
                Some(signed(*by, "ILLEGAL_ACTION"))
            }
            Unknown(word) => Some(word.clone()),
            _ => self.words().map(|(csa, _)| csa.to_owned()),
        }
    }

    /// The ending in one word for [`from_word`](Self::from_word): as in CSA, with words of our own where CSA has none.
    pub fn word(&self, to_move: Color) -> String {
        match self {
            PerpetualCheck { by } => signed(*by, "OUTE_SENNICHITE"),
            IllegalDeclaration { by } => signed(*by, "ILLEGAL_DECLARATION"),
            Won { by } => signed(*by, "WON"),
            known => known.to_csa(to_move).unwrap_or_default(),
        }
    }

    /// The inverse of [`word`](Self::word).
    pub fn from_word(word: &str, to_move: Color) -> Self {
        match sided(word) {
            Some((by, "ILLEGAL_DECLARATION")) => IllegalDeclaration { by },
            Some((by, "WON")) => Won { by },
            _ => Self::from_csa(word, to_move),
        }
    }

    /// The ending that shogi-server notes in its comment `'summary:TYPE:NAME win:NAME lose`; `names` are those of black
    /// and white. shogi-server records perpetual check, the move limit and illegal moves only there. Its old versions
    /// name either player first, so the names decide; where they do not, black is first. `None` for a summary without a
    /// result.
    pub(super) fn from_summary(summary: &str, names: [&str; 2], to_move: Color) -> Option<Self> {
        let (kind, results) = summary.split_once(':')?;
        let (first, second) = results.rsplit_once(':').unwrap_or((results, ""));
        let results = [first, second];
        let loser = results.iter().position(|result| result.ends_with(" lose"));
        let loser = loser.map(|at| player_of(results, at, names));
        Some(match (kind, loser) {
            ("toryo", Some(loser)) if loser == to_move => Resign,
            ("time up", Some(loser)) if loser == to_move => TimeUp,
            ("kachi", Some(loser)) if loser != to_move => Declaration,
            ("oute_sennichite", Some(by)) => PerpetualCheck { by },
            ("illegal kachi", Some(by)) => IllegalDeclaration { by },
            ("illegal move" | "uchifuzume" | "oute_kaihimore", Some(by)) => Illegal { by },
            ("sennichite", None) => Sennichite,
            ("max_moves", None) => MaxMoves,
            (_, Some(loser)) => Won { by: loser.flip() },
            _ => return None,
        })
    }

    /// True if this ending is a more exact one than `sign`, for which CSA has no word.
    pub(super) fn refines(&self, sign: &Self) -> bool {
        match self {
            PerpetualCheck { .. } => matches!(sign, Sennichite | Illegal { .. }),
            IllegalDeclaration { .. } => matches!(sign, Declaration | Illegal { .. }),
            MaxMoves | Sennichite => matches!(sign, Draw | Impasse),
            _ => false,
        }
    }

    /// The ending of a KIF word in place of a move.
    pub(super) fn from_kif(word: &str, to_move: Color) -> Self {
        match word {
            "時間切れ" => TimeUp,
            "詰" => Mate,
            "入玉宣言" => Declaration,
            "反則負け" => Illegal { by: to_move },
            "反則勝ち" => Illegal { by: to_move.flip() },
            "先手反則負け" | "後手反則勝ち" => Illegal { by: Color::BLACK },
            "後手反則負け" | "先手反則勝ち" => Illegal { by: Color::WHITE },
            "引分" | "裁定引分" => Draw,
            _ => {
                let known = WORDS.iter().find(|(.., kif)| *kif == word);
                known.map_or_else(|| Self::unknown(word), |(ending, ..)| ending.clone())
            }
        }
    }

    /// True for a KIF word of an ending.
    pub(super) fn is_kif_word(text: &str) -> bool {
        !matches!(Self::from_kif(text, Color::BLACK), Unknown(_))
    }

    /// The KIF word in place of a move; `None` where KIF has none.
    pub(super) fn to_kif(&self, to_move: Color) -> Option<&str> {
        match self {
            PerpetualCheck { by } | Illegal { by } | IllegalDeclaration { by } => {
                Some(if *by == to_move { "反則負け" } else { "反則勝ち" })
            }
            // Readers know no other word for a draw; a program comment names its kind.
            MaxMoves | Impasse | Draw => Some("持将棋"),
            // In place of a move, this would be read as one.
            Unknown(word) if !word.starts_with(|c: char| c.is_alphabetic() && c != '同') => None,
            Unknown(word) => Some(word),
            _ => self.words().map(|(_, kif)| kif),
        }
    }

    /// The KIF word of an ending for which [`to_kif`](Self::to_kif) has a more general one.
    pub(super) fn to_kif_comment(&self) -> Option<&'static str> {
        self.words().filter(|_| matches!(self, MaxMoves | Draw)).map(|(_, kif)| kif)
    }

    /// The ending of a summary line (`まで113手で先手の勝ち`), the only place of an ending in KI2.
    pub(super) fn from_kif_summary(line: &str, to_move: Color) -> Option<Self> {
        let line = line.trim_start_matches("まで");
        let result = line.split_once("手で").map_or(line, |(_, result)| result).trim();
        let has = |word| result.contains(word);
        // `後手の反則により先手の勝ち`: the side named last is the one that wins or loses.
        let named = SIDES
            .iter()
            .filter_map(|(name, color)| Some((result.rfind(name)?, *color)))
            .max_by_key(|it| it.0);
        let loser = named.map(|(at, color)| {
            let loses = ["負け", "投了"].iter().any(|word| result[at..].contains(word));
            if loses { color } else { color.flip() }
        });
        Some(match loser {
            Some(by) if has("王手の千日手") => PerpetualCheck { by },
            Some(by) if has("反則") => Illegal { by },
            _ if has("時間切れ") || has("切れ負け") => TimeUp,
            _ if has("入玉") => Declaration,
            _ if has("千日手") => Sennichite,
            _ if has("最大手数") => MaxMoves,
            _ if has("持将棋") => Impasse,
            _ if has("引き分け") || has("引分") => Draw,
            _ if has("中断") => Interrupted,
            _ if has("不詰") => NoMate,
            _ if result.ends_with('詰') || result.ends_with("詰み") => Mate,
            Some(loser) if loser == to_move => Resign,
            Some(loser) => Won { by: loser.flip() },
            None if result.is_empty() => return None,
            None => Self::from_kif(result, to_move),
        })
    }

    /// The text of a summary line after `まで..手で`, by the sides' names.
    pub(super) fn kif_summary(&self, to_move: Color, handicap: bool) -> String {
        let side = |color: Color| match (color == Color::BLACK, handicap) {
            (true, false) => "先手",
            (false, false) => "後手",
            (true, true) => "下手",
            (false, true) => "上手",
        };
        match self {
            Resign | LossByDefault => format!("{}の勝ち", side(to_move.flip())),
            WinByDefault => format!("{}の勝ち", side(to_move)),
            TimeUp => format!("時間切れにより{}の勝ち", side(to_move.flip())),
            Declaration => format!("{}の入玉勝ち", side(to_move)),
            Illegal { by } | IllegalDeclaration { by } => format!("{}の反則負け", side(*by)),
            PerpetualCheck { by } => format!("連続王手の千日手により{}の反則負け", side(*by)),
            Won { by } => format!("{}の勝ち", side(*by)),
            other => other.to_kif(to_move).unwrap_or_default().to_owned(),
        }
    }
}

/// A word with the sign of a side, as in `+ILLEGAL_ACTION`.
fn signed(by: Color, word: &str) -> String {
    format!("{}{word}", if by == Color::BLACK { '+' } else { '-' })
}

/// Splits the sign of a side from a word.
fn sided(word: &str) -> Option<(Color, &str)> {
    let black = word.strip_prefix('+').map(|word| (Color::BLACK, word));
    black.or_else(|| Some((Color::WHITE, word.strip_prefix('-')?)))
}

/// The player that the `at`-th result of a summary, `NAME lose`, is about.
fn player_of(results: [&str; 2], at: usize, names: [&str; 2]) -> Color {
    let in_order = [Color::BLACK, Color::WHITE];
    let named = |at: usize| {
        let name = results[at].rsplit_once(' ').map_or(results[at], |(name, _)| name);
        let color = in_order.into_iter().zip(names).find(|(_, known)| !known.is_empty() && *known == name);
        color.map(|(color, _)| color)
    };
    match (named(at), named(1 - at)) {
        _ if names[0] == names[1] => in_order[at],
        (Some(own), _) => own,
        (None, Some(other)) => other.flip(),
        (None, None) => in_order[at],
    }
}

/// The doubt about an ending and a summary that contradict each other.
pub(super) fn contradiction(sign: &Ending, summary: &Ending, to_move: Color) -> String {
    let words = |ending: &Ending| {
        let word = ending.to_csa(to_move).map_or_else(String::new, |word| format!("`{word}`, "));
        let result = match ending.winner(to_move) {
            Some(Color::BLACK) => "black wins",
            Some(_) => "white wins",
            None if ending.is_draw() => "a draw",
            None => "no result",
        };
        format!("{word}{result}")
    };
    format!("ending and summary contradict each other: {}; {}", words(sign), words(summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDES: [Color; 2] = [Color::BLACK, Color::WHITE];

    fn all() -> Vec<Ending> {
        let sided = SIDES
            .into_iter()
            .flat_map(|by| [Illegal { by }, IllegalDeclaration { by }, PerpetualCheck { by }, Won { by }]);
        let plain = [
            Resign,
            TimeUp,
            Mate,
            NoMate,
            Declaration,
            Sennichite,
            MaxMoves,
            Impasse,
            Draw,
            Interrupted,
            WinByDefault,
            LossByDefault,
        ];
        sided.chain(plain).chain([Unknown("封じ手".into())]).collect()
    }

    #[test]
    fn a_csa_word_keeps_the_winner_and_mostly_the_reason() {
        for (ending, to_move) in all().into_iter().flat_map(|ending| SIDES.map(|side| (ending.clone(), side)))
        {
            let Some(word) = ending.to_csa(to_move) else {
                assert!(matches!(ending, Won { .. }));
                continue;
            };
            let read = Ending::from_csa(&word, to_move);
            assert_eq!(read.winner(to_move), ending.winner(to_move), "{ending:?}");
            let summed = matches!(ending, PerpetualCheck { .. } | IllegalDeclaration { .. });
            assert!(read == ending || summed, "{ending:?}");
        }
    }

    #[test]
    fn every_ending_is_read_again_from_its_word() {
        for (ending, to_move) in all().into_iter().flat_map(|ending| SIDES.map(|side| (ending.clone(), side)))
        {
            assert_eq!(Ending::from_word(&ending.word(to_move), to_move), ending);
        }
    }

    #[test]
    fn a_kif_word_keeps_the_winner_and_mostly_the_reason() {
        for (ending, to_move) in all().into_iter().flat_map(|ending| SIDES.map(|side| (ending.clone(), side)))
        {
            let Some(word) = ending.to_kif(to_move) else {
                assert!(matches!(ending, Won { .. }));
                continue;
            };
            let read = Ending::from_kif(word, to_move);
            assert_eq!(read.winner(to_move), ending.winner(to_move), "{ending:?}");
            let general =
                matches!(ending, PerpetualCheck { .. } | IllegalDeclaration { .. } | MaxMoves | Draw);
            assert!(read == ending || general, "{ending:?}");
        }
    }

    #[test]
    fn a_summary_line_keeps_the_winner_and_reasons_other_than_defaults() {
        for (ending, to_move) in all().into_iter().flat_map(|ending| SIDES.map(|side| (ending.clone(), side)))
        {
            for handicap in [false, true] {
                let line = format!("まで12手で{}", ending.kif_summary(to_move, handicap));
                let read = Ending::from_kif_summary(&line, to_move).unwrap();
                assert_eq!(read.winner(to_move), ending.winner(to_move), "{line}");
                let general = matches!(ending, IllegalDeclaration { .. } | MaxMoves | Draw);
                let merged = general || matches!(ending, WinByDefault | LossByDefault | Won { .. });
                assert!(read == ending || merged, "{line}: {read:?}");
            }
        }
    }

    #[test]
    fn summaries_of_the_wild_are_understood() {
        for (line, ending) in [
            ("まで113手で先手の勝ち", Resign),
            ("まで5手で時間切れにより先手の勝ち", TimeUp),
            ("まで25手で中断", Interrupted),
            ("まで3手で後手の反則勝ち", Illegal { by: Color::BLACK }),
            ("まで3手で詰", Mate),
            ("まで3手で不詰", NoMate),
        ] {
            assert_eq!(Ending::from_kif_summary(line, Color::WHITE), Some(ending), "{line}");
        }
        let summed = |summary| Ending::from_summary(summary, ["gps", "bonanza"], Color::BLACK);
        assert_eq!(summed("max_moves:gps draw:bonanza draw"), Some(MaxMoves));
        let perpetual = PerpetualCheck { by: Color::BLACK };
        assert_eq!(summed("oute_sennichite:gps lose:bonanza win"), Some(perpetual));
        assert_eq!(summed("abnormal:gps lose:bonanza win"), Some(Won { by: Color::WHITE }));
        assert_eq!(summed("abnormal:gps draw:bonanza draw"), None);
    }

    #[test]
    fn the_names_of_a_summary_decide_who_won() {
        let summed = |summary, names| Ending::from_summary(summary, names, Color::WHITE);
        let (foul, mine) = (Illegal { by: Color::BLACK }, ["gps", "bonanza"]);
        for (summary, names) in [
            ("illegal move:gps lose:bonanza win", mine),
            ("illegal move:bonanza win:gps lose", mine),
            ("illegal move:bonanza win:somebody lose", mine),
            ("illegal move:somebody lose:another win", mine),
            ("illegal move:same lose:same win", ["same", "same"]),
            ("illegal move:a b lose:c win", ["a b", "c"]),
            ("illegal move: lose: win", ["", ""]),
        ] {
            assert_eq!(summed(summary, names), Some(foul.clone()), "{summary}");
        }
        let backwards = summed("toryo:bonanza win:gps lose", mine);
        assert_eq!(backwards, Some(Won { by: Color::WHITE }), "black resigns although white is to move");
    }
}
