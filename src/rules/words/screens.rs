//! The screens of the terminal.

use crate::{Language, messages};
use referee::{
    evaluation::Evaluation,
    lease::Presence,
    number::{number, plies},
};

messages! {
    // The frame of every screen.
    window_too_small: "the window is too small" = "ウィンドウが小さすぎます";
    over_q_leaves: "over, q leaves" = "終了（q で閉じる）";
    event_is_halted: "halted" = "停止";
    ends_in_about(time: &str): "ends in about {time}" = "残り約 {time}";
    held_screen(waiting: usize): "HELD, {waiting} events wait · " = "表示停止中（未表示 {waiting} 件） · ";
    paused_event: "PAUSED · " = "一時停止中 · ";
    enter_keeps: "▏  Enter keeps, Esc drops" = "▏  Enter で確定、Esc で取消";
    esc_drops: "   Esc drops the filter" = "   Esc で絞り込みを解除";
    keys_close: "Keys · any key closes this" = "キーの一覧 · どのキーでも閉じます";

    // The keys.
    help_screens: "the screens, by the numbers of the last line" = "各画面（番号は最下行）";
    help_more_screens: "table, elo (ratings over the games), engines, openings, log, machines" = "対戦表、Elo（レートの推移）、時間、開始局面、ログ、マシン";
    help_next_screen: "next screen, screen before" = "次の画面、前の画面";
    help_rows: "choose a row or a board; in a game: ten plies" = "行や盤面の選択、対局では10手移動";
    help_boards: "choose a board; in a game: one ply back or on" = "盤面の選択、対局では1手移動";
    help_page: "a page" = "1ページ移動";
    help_ends: "first or last row; in a game: its start; its end, followed" = "先頭・末尾の行、対局では開始局面・最終手（追従）";
    help_open: "open the chosen game" = "選んだ対局を開く";
    help_back: "back" = "戻る";
    help_neighbours: "next game, game before" = "次の対局、前の対局";
    help_filter: "filter by player or ending; Enter keeps it, Esc drops it" = "対局者・終局で絞り込む（Enter で確定、Esc で取消）";
    help_sort: "boards and played: by player, result, length, time left" = "並べ替え：対局者、結果、手数、残り時間";
    help_variation: "in a game: into the line the engine had in mind, and back" = "対局で：エンジンの読み筋を進む、戻る";
    help_save: "in a game: write it to a file, as CSA or as KIF" = "対局で：ファイルに保存（CSA、KIF）";
    help_hold: "hold the screen still, or go on" = "表示の停止・再開";
    help_pieces: "kanji pieces, or letters; turn the board round" = "駒の漢字・英字、盤面反転";
    help_redraw: "draw everything anew" = "再描画";
    help_redraw_or_suspend: "draw everything anew; give the terminal back for a while" = "再描画、端末を一時的に返す";
    help_quit: "leave the screens; games go on, and lines report them" = "画面を閉じる（対局は続き、経過を行で表示）";
    help_stop: "stop: finish the running games; again: adjourn them" = "停止：対局中のものを終えてから。もう一度で指し掛け";
    help_help: "this list" = "この一覧";

    // The event.
    more_players(players: usize): "and {players} more; 5 shows all" = "ほか {players} 名（5 で全員）";
    first_move_and_draws(score: &str, advantage: &str, draws: &str): "first move {score}{advantage} · draws {draws}" = "先手の得点率 {score}{advantage} · 引き分け {draws}";
    running_and_evaluated: "Running games · eval for ☗" = "対局中 · 評価値（☗側）";
    no_game_yet: "no game yet" = "まだ対局がありません";
    players_log_in: "waiting for players to log in" = "対局者の接続を待っています";
    engines_start: "the engines are starting" = "エンジンを起動しています";
    latest_lines: "Latest" = "最新のログ";
    until_known(within: &str): "until Elo is known within {within}" = "Elo の誤差が {within} 以内になるまで";
    known_within(error: &str): "known within {error}" = "現在の誤差 {error}";
    well_enough: " (enough)" = "（十分）";
    repeats_were_left: "only repeats were left" = "既出の棋譜の繰り返しのみ";
    towards(share: f64, hypothesis: &str): "{share:.0}% to {hypothesis}" = "{hypothesis} まで {share:.0}%";

    // Games.
    enter_opens_games: "no game yet; Enter on a game opens it" = "まだ対局がありません。対局を選んで Enter で開きます";
    as_meant(ply: usize, ahead: usize): "ply {ply} as it was meant, move {ahead}" = "{ply} 手目の読み筋 {ahead} 手目";
    ply_of(ply: usize, plies: usize): "ply {ply} of {plies}" = "{ply} / {plies} 手目";
    is_over_after(plies: &str): "over · {plies}" = "終局 · {plies}";
    is_live(ply: usize): "live · ply {ply}" = "対局中 · {ply} 手目";
    at_ply_for_black(ply: usize): "ply {ply} · eval for ☗" = "{ply} 手目 · 評価値（☗側）";
    for_black(evaluation: &str): "{evaluation} for ☗" = "評価値 {evaluation}（☗側）";
    no_info: "no info" = "読み筋なし";
    so_many_nodes(nodes: &str): "{nodes} nodes" = "{nodes} 局面";
    lost_because(reason: &str): "lost: {reason}" = "負けの原因：{reason}";
    moves_followed: "Moves · following" = "指し手 · 追従中";
    g_follows: "Moves · G follows" = "指し手 · G で追従";
    and_eval_for_black: " · eval for ☗" = " · 評価値（☗側）";
    no_move_yet: "no move yet" = "まだ指し手がありません";
    no_game_runs: "no game is running" = "進行中の対局はありません";
    no_game_passes: "no game passes the filter" = "絞り込みに合う対局はありません";
    last_move(made: &str): "last {made}" = "直前の手 {made}";
    evaluations_for_black: "Eval for ☗" = "評価値（☗側）";
    on_common_scale: ", common scale" = "・共通尺度";
    judge_says(evaluation: &str): "judge {evaluation}" = "判定 {evaluation}";
    time_used(time: &str): "{time} used" = "消費 {time}";
    in_byoyomi(time: &str): "{time} byoyomi" = "秒読み {time}";

    // Lists and tables.
    played_by_order(order: &str): "Played · by {order} · Enter opens a game, / filters, s sorts" = "終わった対局 · {order}順 · Enter で開く、/ で絞り込む、s で並べ替え";
    played_again: ", played again" = "、指し直し";
    none_yet: "none yet" = "まだありません";
    log_in_utc: "Log · faults in full, times in UTC" = "ログ · 反則等は全文、時刻は UTC";
    uneven_openings: "Openings · the most uneven first; the score is black's" = "開始局面 · 偏りの大きい順、得点率は先手";
    no_game_has_ended: "no game has ended yet" = "まだ終わった対局がありません";
    ratings_of_field: "Ratings · Elo over the games, relative to the mean of the field" = "レートの推移 · 全参加者の平均を基準とする Elo";
    points_against: "Cross table · points/games against" = "対戦表 · 得点/局数";
    ties_of_swiss: "Swiss · tie-breaks in their order" = "スイス式 · 順位決定の項目順";
    ties_of_points: "points · tie-breaks in their order" = "得点 · 順位決定の項目順";
    bracket: "Bracket · points of the encounters" = "トーナメント表 · 各組の得点";
    engines_since: "Engines · of the moves seen since this screen was opened" = "時間の使い方 · この画面を開いてからの指し手";
    late_and_memory: "late: ms beyond the engine's own time, to a factor of two; memory: the most of a process" = "遅延：エンジンの申告との差（2倍の精度）、メモリ：1プロセスの最大";
    machines_here(machines: &str, slots: &str): "Machines · {machines} with {slots} · beside this one" = "マシン · このマシンのほかに {machines}、同時 {slots}";
    hub_lets_play: "none: `--hub` lets others play, too" = "なし。`--hub` を付けると他のマシンも対局できます";

    // Lines of the log, and notices.
    begins(event: &str, format: &str): "{event} begins: {format}" = "{event} を開始：{format}";
    goes_on(event: &str, format: &str): "{event} goes on: {format}" = "{event} を再開：{format}";
    has_a_bye(round: u32, player: &str, sort: &str): "round {round}: {player} has a {sort}" = "{round}回戦：{player} は{sort}";
    player_joins(player: &str): "{player} joins" = "{player} が参加";
    has_new_trip(player: &str): "{player} is known by a new trip" = "{player} のトリップが変わりました";
    over_and_numbered_later: "that game is over: it is among the finished games as soon as its pair is" = "その対局は終わりました。組の対局が終わると一覧に入ります";
    not_in_database(game: u64): "game {game} is not in the database" = "第{game}局はデータベースにありません";
    game_is_in(game: u64, path: &str): "game {game} is in {path}" = "第{game}局を {path} に保存しました";
    game_not_written(game: u64, reason: &str): "game {game} was not written: {reason}" = "第{game}局を保存できません：{reason}";
}

impl Language {
    /// A number of faults.
    pub fn of_faults(self, faults: u64) -> String {
        match (self, faults) {
            (Self::English, 0) => "no faults".to_owned(),
            (Self::English, _) => number(faults, "fault"),
            (Self::Japanese, 0) => "反則等なし".to_owned(),
            (Self::Japanese, _) => format!("反則等 {faults} 件"),
        }
    }

    /// A number of pairs of games.
    pub fn of_pairs(self, pairs: u64) -> String {
        self.pick(number(pairs, "pair"), format!("{pairs} 組"))
    }

    /// A number of plies.
    pub fn of_plies(self, count: usize) -> String {
        self.pick(plies(count as u64), format!("{count} 手"))
    }

    /// An evaluation from black's side.
    pub fn evaluation(self, evaluation: Evaluation) -> String {
        match evaluation {
            Evaluation::Mate { winner, plies } if self == Self::Japanese => {
                let length = plies.filter(|&plies| plies > 0).map(|plies| format!("{plies}手"));
                format!("{} {}詰", winner.sign(), length.unwrap_or_default())
            }
            evaluation => evaluation.to_string(),
        }
    }

    /// Whether a machine plays.
    pub fn presence(self, presence: Presence) -> &'static str {
        match presence {
            Presence::Here => self.machine_here(),
            Presence::Silent => self.machine_silent(),
            Presence::Left => self.machine_left(),
            Presence::Barred => self.machine_barred(),
        }
    }
}
