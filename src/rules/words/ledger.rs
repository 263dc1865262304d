//! The page of a ledger.

use crate::{Language, messages};
use referee::number::number;

messages! {
    ledger_ratings: "Ratings" = "レーティング";
    ledger_ratings_of_others: "Ratings of others" = "その他のレーティング";
    ledger_apart: "No game connects these players with those above: their Elo cannot be compared." =
        "上の対局者とは直接・間接の対戦がないため、レーティングを比較できません。";
    ledger_aging(days: f64): "A game loses half of its weight in {days} days: the ratings are those of late, and `games` is a sum of weights." =
        "対局の重みは {days} 日で半減します。最近のレーティングを表し、局数は重みの合計です。";
    ledger_clock: "clock" = "持ち時間";
    ledger_events: "events" = "大会数";
    black_is_worth(elo: &str): "Black's advantage is worth {elo} Elo between equals." = "互角の対局者では、先手の利は {elo} Elo です。";
    black_is_worth_with_draws(elo: &str, draws: f64): "Black's advantage is worth {elo} Elo between equals, and {draws:.1} % of their games are drawn." =
        "互角の対局者では、先手の利は {elo} Elo、引き分けは {draws:.1} % です。";
    relative_to_the_mean: "Elo is relative to the mean of these players." = "Elo はこの対局者の平均を 0 とした値です。";
    relative_to_anchors: "± is that of the difference to the anchors' mean." = "± は基準の平均との差の誤差です。";
    anchor(name: &str, elo: f64, off: &str): "Anchor {name} = {elo}, by its games {off}." = "基準 {name} = {elo}（対局との差 {off}）。";
    what_to_play_next: "What to play next" = "次に行うとよい対局";
    what_it_takes_off(error: &str): "The error is ±{error} Elo on average now. These encounters take most off it for each second of playing:" =
        "レーティングの誤差は平均±{error}です。次の組合せを対局させると、最も効率よく縮まります。";
    encounter: "encounter" = "組合せ";
    against(name: &str, other: &str): "{name} against {other}" = "{name} 対 {other}";
    error_after: "± after 100 games" = "100 局後の ±";
    seconds_a_game: "seconds a game" = "一局の秒数";
    left_out: "Left out" = "除外";
    left_out_as_tuning(event: &str, file: &str): "event `{event}` of `{file}` tunes options, so that its player is another in every game" =
        "`{file}` の大会 `{event}`：オプションの調整で、対局ごとに対局者が異なります";
    left_out_as_copy(event: &str, file: &str): "event `{event}` of `{file}` was read from another file already" =
        "`{file}` の大会 `{event}`：別のファイルから読み込み済みです";
    left_out_as_repeat(event: &str, file: &str, of: &str): "event `{event}` of `{file}` plays the games of `{of}` again: the same games say nothing new" =
        "`{file}` の大会 `{event}`：`{of}` と同じ対局です";
    left_out_as_longer_repeat(event: &str, file: &str, of: &str, more: u64): "event `{event}` of `{file}` plays the games of `{of}` again and {more} more: to have these, name `{file}` first" =
        "`{file}` の大会 `{event}`：`{of}` と同じ対局で、さらに {more} 局あります。`{file}` を先に指定すると含まれます";
    tilde_marks: "+- is half the 95 % interval; ~ marks a value that the games alone do not bound." = "+- は 95 % 区間の半幅、~ は対局だけでは定まらない値です。";
    nothing_shrinks_it: "no encounter is known to shrink this error: the players have no chain of games between them, or no clock in common" =
        "この誤差を減らせる組合せは見つかりません。直接・間接の対戦がないか、共通の持ち時間がありません。";
    ledger_marks: "± is half the 95 % interval; ≈ marks a value that the games alone do not bound." =
        "± は 95 % 区間の半幅、≈ は対局だけでは定まらない値です。";
}

impl Language {
    /// How much is in a ledger.
    pub fn ledger_facts(self, players: usize, games: u64, events: u64, databases: u64) -> String {
        match self {
            Self::English => {
                let [games, events, databases] =
                    [(games, "game"), (events, "event"), (databases, "database")]
                        .map(|(n, noun)| number(n, noun));
                format!("{}, {games} of {events} in {databases}", number(players, "player"))
            }
            Self::Japanese => {
                format!("対局者 {players}、{events} 大会の {games} 局（データベース {databases} 個）")
            }
        }
    }

    /// Games that are left out of a ledger because they repeat others.
    pub fn repeated_games(self, games: u64) -> String {
        self.pick(
            format!("{} that repeat earlier ones move for move", number(games, "game")),
            format!("既出の棋譜の繰り返し {games} 局（証拠に数えません）"),
        )
    }

    /// Games that are left out of a ledger because both sides are one player.
    pub fn own_games(self, games: u64) -> String {
        self.pick(
            format!("{} of a player against itself", number(games, "game")),
            format!("同じ対局者どうしの {games} 局"),
        )
    }
}
