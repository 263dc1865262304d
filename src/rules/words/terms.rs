//! Terms of the field that several pages and reports share.

use crate::{Language, messages};
use contest::{
    stage::{Format, Stage},
    standings::TieBreak,
};
use referee::{AbortBy, Color, DrawBy, Outcome, WinBy, number::number};
use std::{collections::HashSet, sync::LazyLock};

messages! {
    black: "black" = "先手";
    white: "white" = "後手";
    black_won: "black won" = "先手勝ち";
    white_won: "white won" = "後手勝ち";
    drawn: "drawn" = "引き分け";
    not_counted: "not counted" = "無効";
    player: "player" = "対局者";
    engine: "engine" = "対局者";
    opponent: "opponent" = "相手";
    opponents: "Opponents" = "相手別";
    game: "Game" = "対局";
    games: "Games" = "棋譜";
    game_column: "games" = "局数";
    moves: "Moves" = "指し手";
    move_column: "moves" = "手数";
    plies: "plies" = "手数";
    result: "result" = "勝敗";
    ending: "ending" = "終局";
    endings: "Endings" = "終局";
    time: "Time" = "時間";
    round_column: "round" = "回戦";
    round(round: u32): "round {round}" = "{round}回戦";
    quarter_final: "quarter-final" = "準々決勝";
    semi_final: "semi-final" = "準決勝";
    final_round: "final" = "決勝";
    stage(number: u32): "Stage {number}" = "ステージ {number}";
    score: "score" = "得点率";
    points: "score" = "得点";
    penalty: "penalty" = "減点";
    faults: "faults" = "反則等";
    standings: "Standings" = "順位表";
    declared_rating: "rating" = "レーティング";
    elo: "Elo" = "Elo";
    machine: "machine" = "マシン";
    the_manager: "here" = "運営側";
    filter_games: "Filter the games" = "棋譜を絞り込む";
    sort_games: "Sort the games" = "並べ替え";
    board: "Board" = "盤面";
    results: "Results" = "結果";
}

/// The causes of endings, each once, with their words in Japanese.
static CAUSES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let won = WinBy::ALL.iter().map(|by| (family(by.name()), won_by(*by)));
    let drawn = DrawBy::ALL.iter().map(|by| (by.name(), drawn_by(*by)));
    let aborted = AbortBy::ALL.iter().map(|by| (by.name(), aborted_by(*by)));
    let mut causes: Vec<(&str, &str)> = won.chain(drawn).chain(aborted).collect();
    let mut seen = HashSet::new();
    causes.retain(|(cause, _)| seen.insert(*cause));
    causes
});

/// The name of all illegal moves, or that of another cause.
fn family(cause: &str) -> &str {
    if cause.starts_with("illegal-move") { "illegal-move" } else { cause }
}

fn won_by(by: WinBy) -> &'static str {
    match by {
        WinBy::Mate => "詰み",
        WinBy::Resignation => "投了",
        WinBy::Time => "時間切れ",
        WinBy::Declaration => "入玉宣言",
        WinBy::IllegalMove(_) => "反則手",
        WinBy::IllegalAction => "反則行為",
        WinBy::IllegalDeclaration => "不正な宣言",
        WinBy::PerpetualCheck => "連続王手の千日手",
        WinBy::Default => "不戦",
        WinBy::Disconnection => "接続切れ",
        WinBy::Adjudication => "判定",
        WinBy::Ruling => "裁定",
    }
}

fn drawn_by(by: DrawBy) -> &'static str {
    match by {
        DrawBy::Sennichite => "千日手",
        DrawBy::MaxMoves => "手数制限",
        DrawBy::Impasse => "持将棋",
        DrawBy::Adjudication => "引分判定",
        DrawBy::Ruling => "裁定",
    }
}

fn aborted_by(by: AbortBy) -> &'static str {
    match by {
        AbortBy::Stopped => "中断",
        AbortBy::NotStarted => "不開始",
        AbortBy::Server => "サーバ",
        AbortBy::Missing => "不参加",
        AbortBy::Annulled => "取消",
        AbortBy::NoResult => "結果なし",
    }
}

/// The checks of engines and machines, with their names in Japanese.
const CHECKS: [(&str, &str); 31] = [
    ("system", "システム"),
    ("directory", "フォルダー"),
    ("processor", "プロセッサー"),
    ("frequency", "クロック周波数"),
    ("load", "負荷"),
    ("memory", "メモリー"),
    ("timer", "タイマー"),
    ("clock", "時計"),
    ("user", "ユーザー"),
    ("open files", "開けるファイル数"),
    ("disk", "ディスク"),
    ("writing", "書き込み"),
    ("strict sandbox", "厳格なサンドボックス"),
    ("usi", "USI の応答"),
    ("options", "オプション"),
    ("identity", "同一性"),
    ("files", "ファイル"),
    ("device", "装置"),
    ("info", "読みの出力"),
    ("info scores", "評価値の出力"),
    ("legal moves", "合法手"),
    ("mated", "詰まされた局面"),
    ("mate in one", "一手詰"),
    ("at rest", "待機中"),
    ("between games", "対局の間"),
    ("long games", "長手数の対局"),
    ("rapid questions", "短い間隔の問い"),
    ("resigning", "投了"),
    ("same again", "再現性"),
    ("stderr", "標準エラー出力"),
    ("other output", "その他の出力"),
];

impl Language {
    /// The name of a check; a name that is the same in Japanese is not in the table.
    pub fn name_of_check(self, name: &str) -> &str {
        let japanese = CHECKS.iter().find(|(known, _)| *known == name).map_or(name, |(_, japanese)| japanese);
        self.pick(name, japanese)
    }

    /// The heading of a tie-break's column; the English one is its name.
    pub fn tie_break(self, tie_break: TieBreak) -> &'static str {
        let japanese = match tie_break {
            TieBreak::Buchholz => "ソルコフ",
            TieBreak::Sosos => "SOSOS",
            TieBreak::Median => "メジアン",
            TieBreak::MedianOfBeaten => "メジアン（勝った相手）",
            TieBreak::SonnebornBerger => "SB",
            TieBreak::DirectEncounter => "直接対決",
            TieBreak::Wins => "勝数",
            TieBreak::WinsAsWhite => "後手番の勝数",
            TieBreak::Progressive => "累進",
            TieBreak::Rating => self.declared_rating(),
            TieBreak::Seed => "シード順",
            TieBreak::Lot => "抽選",
        };
        self.pick(tie_break.name(), japanese)
    }

    /// What a tie-break counts.
    pub fn about_tie_break(self, tie_break: TieBreak) -> &'static str {
        let (english, japanese) = match tie_break {
            TieBreak::Buchholz => ("the sum of the opponents' points", "対戦相手の得点の合計"),
            TieBreak::Sosos => ("the sum of the opponents' Buchholz scores", "対戦相手のソルコフの合計"),
            TieBreak::Median => {
                ("Buchholz without the highest and the lowest opponent", "最高と最低の相手を除いたソルコフ")
            }
            TieBreak::MedianOfBeaten => (
                "the sum of the points of beaten opponents, without the highest and the lowest",
                "勝った相手の得点の合計（最高と最低を除く）",
            ),
            TieBreak::SonnebornBerger => (
                "the own points of each game times the opponent's points, summed up",
                "各局の自分の得点×相手の得点の合計",
            ),
            TieBreak::DirectEncounter => {
                ("the points of the games among those who are level", "同点者同士の対局の得点")
            }
            TieBreak::Wins => ("games won", "勝った局数"),
            TieBreak::WinsAsWhite => ("games won as white", "後手で勝った局数"),
            TieBreak::Progressive => ("the sum of the points after each round", "各回戦終了時の得点の合計"),
            TieBreak::Rating => ("the declared rating", "申告レーティング"),
            TieBreak::Seed => {
                ("the place in the order of entry, the lower the better", "参加順（小さいほど上位）")
            }
            TieBreak::Lot => ("a lot drawn from the seed of the event", "大会の乱数による抽選"),
        };
        self.pick(english, japanese)
    }

    /// Every cause that viewers can search for, as in the column `cause`, and its words.
    pub fn causes(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        CAUSES.iter().map(move |&(cause, japanese)| (cause, self.pick(cause, japanese)))
    }

    /// A clock as configurations write it; in Japanese with words for its parts.
    pub fn clock_text(self, text: &str) -> String {
        const WORDS: [(&str, &str); 10] = [
            ("byoyomi ", "秒読み"),
            ("increment ", "加算"),
            ("delay ", "猶予"),
            ("fixed ", "固定"),
            ("nodes ", "ノード数"),
            ("depth ", "深さ"),
            ("ms", "ミリ秒"),
            ("h", "時間"),
            ("m", "分"),
            ("s", "秒"),
        ];
        let in_japanese =
            || WORDS.iter().fold(text.to_owned(), |text, (word, japanese)| text.replace(word, japanese));
        self.pick(text.to_owned(), in_japanese())
    }

    /// The cause of an ending, as in the column `cause`, in words.
    pub fn cause(self, cause: &str) -> &str {
        let known = CAUSES.iter().find(|(known, _)| *known == family(cause));
        self.pick(cause, known.map_or(cause, |(_, japanese)| japanese))
    }

    /// An outcome.
    pub fn outcome(self, outcome: Outcome) -> String {
        if self == Self::English {
            return outcome.to_string();
        }
        let result = match outcome {
            Outcome::Win { winner, by: WinBy::Default } => {
                let side = if winner == Color::Black { self.black() } else { self.white() };
                return format!("{side}の不戦勝");
            }
            Outcome::Win { winner: Color::Black, .. } => self.black_won(),
            Outcome::Win { winner: Color::White, .. } => self.white_won(),
            Outcome::Draw { .. } => self.drawn(),
            Outcome::Aborted { .. } => self.not_counted(),
        };
        format!("{result}（{}）", self.cause(outcome.cause()))
    }

    /// A number of games.
    pub fn of_games(self, games: u64) -> String {
        match self {
            Self::English => number(games, "game"),
            Self::Japanese => format!("{games} 局"),
        }
    }

    /// A round of a knock-out with so many rounds: the last ones have names of their own.
    pub fn knockout_round(self, round: u32, rounds: u32) -> String {
        match rounds.checked_sub(round) {
            Some(0) => self.final_round().to_owned(),
            Some(1) => self.semi_final().to_owned(),
            Some(2) => self.quarter_final().to_owned(),
            _ => self.round(round),
        }
    }
}

/// The format of stages in Japanese.
pub fn format_in_japanese(stages: &[Stage]) -> String {
    stages.iter().map(stage_in_japanese).collect::<Vec<_>>().join("、続いて")
}

fn stage_in_japanese(stage: &Stage) -> String {
    let games = stage.games;
    let entrants = stage.entrants.map(|n| format!("上位{n}名の")).unwrap_or_default();
    match stage.format {
        Format::RoundRobin { cycles: 1 } => format!("{entrants}総当たり戦（1組{games}局）"),
        Format::RoundRobin { cycles } => format!("{entrants}総当たり戦（1組{games}局を{cycles}回）"),
        Format::Gauntlet { challengers, cycles } => {
            let games = u64::from(cycles) * u64::from(games);
            format!("{entrants}ガントレット（挑戦者{challengers}、1組{games}局）")
        }
        Format::Random { rounds } => format!("{entrants}ランダムな組合せ（{rounds}回戦、各{games}局）"),
        Format::Information { rounds } => {
            format!("{entrants}情報量による組合せ（{rounds}回戦、各{games}局）")
        }
        Format::Swiss { rounds } => format!("{entrants}スイス式（{rounds}回戦、各{games}局）"),
        Format::Knockout { .. } => format!("{entrants}トーナメント（{games}番勝負）"),
        Format::Sprt { max_games } => format!("逐次検定（SPRT、最大{max_games}局）"),
        Format::Precision { max_games, within } => {
            format!("Elo の誤差が {within} 以内になるまで（最大{max_games}局）")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_has_words_in_japanese_and_is_searched_for_by_one_name() {
        let names = WinBy::ALL.iter().map(|by| by.name()).chain(DrawBy::ALL.iter().map(|by| by.name()));
        for name in names.chain(AbortBy::ALL.iter().map(|by| by.name())) {
            assert!(!Language::Japanese.cause(name).is_ascii(), "{name}");
            assert_eq!(Language::Japanese.causes().filter(|(known, _)| *known == family(name)).count(), 1);
        }
    }

    #[test]
    fn formats_and_rounds_have_the_terms_of_japanese_tournaments() {
        let stage = |format, games, entrants| Stage { format, games, entrants, ..Stage::default() };
        let stages = [
            stage(Format::Swiss { rounds: 7 }, 1, None),
            stage(Format::RoundRobin { cycles: 1 }, 2, Some(4)),
        ];
        assert_eq!(
            format_in_japanese(&stages),
            "スイス式（7回戦、各1局）、続いて上位4名の総当たり戦（1組2局）"
        );
        let rounds = [1, 2, 3, 4].map(|round| Language::Japanese.knockout_round(round, 4));
        assert_eq!(rounds, ["1回戦", "準々決勝", "準決勝", "決勝"]);
        let rounds = [1, 2, 3, 4].map(|round| Language::English.knockout_round(round, 4));
        assert_eq!(rounds, ["round 1", "quarter-final", "semi-final", "final"]);
    }
}
