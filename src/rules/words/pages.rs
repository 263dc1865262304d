//! The pages that everybody may see.

use crate::messages;

messages! {
    // The frame of every page.
    now: "Now" = "対局中";
    rounds: "Rounds" = "組合せ";
    round_table: "Results by round" = "勝敗表";
    no_rounds: "There are no rounds yet." = "まだ対局がありません。";
    about_round_table: "27b+: a win as black against the player of line 27; w white, = a draw, - a loss, f by default, bye without an opponent, bye= a half-point bye" = "☗27○：27行目の相手に先手で勝ち。☖後手、△引き分け、●負け、不戦は不戦勝・不戦敗";
    bye: "bye" = "不戦勝";
    half_bye: "half-point bye" = "休み（半点）";
    machines: "Machines" = "対局マシン";
    to_the_content: "to the content" = "本文へ";
    made_by_renmei: "Made by Renmei." = "Renmei 製";
    pages: "Pages" = "ページ";
    is_paused: "The event is paused: no new game begins for now." = "一時停止中です。新しい対局は始まりません。";
    automatic_colours: "auto" = "自動";
    light_colours: "light" = "明";
    dark_colours: "dark" = "暗";
    not_shown: "Not shown" = "表示できません";
    not_done: "Not done" = "実行されませんでした";
    to_the_running_games: "To the running games" = "対局一覧へ";
    back: "Back" = "戻る";

    // The events of a hall.
    all_events: "All events" = "全大会";
    ledger: "Ledger" = "通算レーティング";
    ledger_about: "Every player of these events in one rating; events with delayed pages or private games are left out" =
        "全大会を通したレーティング（遅延表示または非公開対局のある大会を除く）";
    no_event_yet: "No event has begun yet." = "まだ大会は始まっていません。";
    the_event: "event" = "大会";
    progress: "games" = "対局数";
    leader: "leader" = "首位";
    last_news: "last" = "最終更新";
    event_or_player: "event, player, note" = "大会名・対局者・メモ";
    nothing_found: "Nothing found." = "見つかりません。";
    event_faulty: "faulty" = "設定エラー";
    event_plays: "playing" = "進行中";
    event_waits: "waiting" = "待機中";
    event_has_ended: "over" = "終了";
    event_stopped: "stopped" = "中断";

    // Running games.
    player_or_number: "player, number" = "対局者、番号";
    in_their_order: "in their order" = "番号順";
    closest_first: "closest first" = "接戦順";
    most_decided_first: "most decided first" = "大差順";
    longest_first: "longest first" = "手数順";
    side_of_evaluations: "eval for ☗: + is good for black, − for white" = "評価値は☗側から：+ は先手良し、− は後手良し";
    last_results: "Last results" = "最近の結果";

    // The archive.
    any: "any" = "すべて";
    from_day: "from" = "開始日";
    to_day: "to" = "終了日";
    least_plies: "least plies" = "最小手数";
    most_plies: "most plies" = "最大手数";
    first_moves: "first moves" = "初手から";
    search: "Search" = "検索";
    for_programs: "for ShogiHome and other programs" = "（ShogiHome などから開けます）";
    pages_of_games: "Pages of games" = "棋譜のページ";
    newer: "‹ newer" = "‹ 新しい";
    older: "older ›" = "古い ›";
    began: "began" = "開始";
    and_not_counted: ", not counted" = "（無効）";

    // A game.
    date_unknown: "date unknown" = "日付不明";
    to_the_last_move: "▶ to the last move" = "▶ 最終手へ";
    moves_dropped_here: "The moves of this game were dropped, as those of old games." = "古い対局のため指し手は保存されていません。";
    record: "Record: " = "棋譜：";
    appeal_against_it: "Appeal against the result" = "結果に異議を申し立てる";
    board_needs_script: "The board is drawn by this page's script; the record needs none." = "盤面の表示にはスクリプトが必要です。";
    comments: "Comments" = "コメント";
    variations: "Variations" = "変化";
    at_the_start: "start" = "開始局面";
    at_the_end: "end" = "終局";
    at_move(ply: u32): "move {ply}" = "{ply}手目";
    from_move(ply: u32): "from move {ply}" = "{ply}手目から";
    of_variation(number: usize): " of variation {number}" = "、変化{number}";

    // A player.
    lost_by_faults: "lost by faults" = "反則等による負け";
    ratings_over_games: "Ratings over the games" = "レートの推移";
    last_games: "Last games" = "最近の対局";
    all_games: "all games" = "すべての棋譜";

    // Machines.
    state: "state" = "状態";
    pairs_at_once: "pairs at once" = "同時ペア数";
    pairs_it_has: "pairs it has" = "割当ペア数";
    oldest_since: "the oldest since" = "最古のペア";
    nodes_per_second: "nodes per second" = "局面/秒";
    clocks: "clocks" = "時計の倍率";
    lag: "lag (ms)" = "遅延（ms）";
    heard: "heard" = "最終応答";
    all_played_here: "All games are played here." = "すべての対局を運営側のマシンで行っています。";
    machine_here: "here" = "対局中";
    machine_silent: "silent" = "応答なし";
    machine_left: "left" = "退出";
    machine_barred: "barred" = "除外";

    // Lines of the stream.
    verdict(verdict: &str): "verdict: {verdict}" = "判定：{verdict}";
    event_is_over: "the event is over" = "大会は終了しました";

    // Refusals.
    no_page: "There is no page of this address." = "このページはありません。";
    too_many_viewers: "too many viewers ask at once; try again in a few seconds" = "アクセスが集中しています。数秒後にもう一度お試しください。";
    not_begun: "the event has not begun yet" = "大会はまだ始まっていません。";
    request_cannot_be_read(why: &str): "the address or the form has a value that cannot be read: {why}" = "アドレスかフォームに読み取れない値があります：{why}";
    form_is_too_large: "the form is too large, and nothing was done" = "フォームが大きすぎるため、何も実行していません。";
    page_failed: "the page could not be made; the operator finds the reason in the diagnostics" = "ページを表示できません。原因は運営側の診断ログにあります。";
    no_game(game: u64): "there is no game {game} here" = "第{game}局はありません。";
    no_player(player: usize): "there is no player {player}" = "{player}番の対局者はいません。";
    game_address: "a game has a number, such as /games/7" = "対局は /games/7 のように番号で指定してください。";
    player_address: "a player has a number, such as /players/0" = "対局者は /players/0 のように番号で指定してください。";
    record_address: "a record has the number of a game, such as /games/7.csa" = "棋譜は /games/7.csa のように番号で指定してください。";
    record_formats: "records are .csa, .kif, .kifu or .jkf" = "棋譜の形式は .csa、.kif、.kifu、.jkf のいずれかです。";
    moves_dropped(game: u64): "the moves of game {game} were dropped, as those of old games" = "第{game}局の指し手は、古い対局のため保存されていません。";
    too_many_letters(key: &str, most: usize): "`{key}` has more than {most} letters" = "`{key}` は{most}文字以内です。";
    not_a_result(key: &str, text: &str): "`{key}`: `{text}` is not black, white, draw or none" = "`{key}`：`{text}` は使えません。black、white、draw、none のいずれかです。";
    not_an_opening(key: &str, text: &str): "`{key}`: `{text}` is not up to 20 moves such as `7g7f 3c3d` or `▲７六歩 △３四歩`" = "`{key}`：`{text}` は使えません。`7g7f 3c3d` や `▲７六歩 △３四歩` のように20手以内で指定してください。";
    not_a_number(key: &str, text: &str): "`{key}`: `{text}` is not a whole number" = "`{key}`：`{text}` は整数ではありません。";
    not_a_day(key: &str, text: &str): "`{key}`: `{text}` is not a day such as 2026-11-22" = "`{key}`：`{text}` は日付ではありません。2026-11-22 のように書いてください。";
    too_many_requests: "too many requests from your address; wait a few seconds" = "リクエストが多すぎます。数秒待ってください。";
    request_took_too_long: "the request took too long" = "時間内に応答できませんでした。";
    viewers_full: "all places for viewers are taken; try again later" = "接続数が上限に達しています。しばらくしてからお試しください。";
    too_many_connections: "too many connections from your address; close other pages of this site" = "同じアドレスからの接続が多すぎます。このサイトの他のページを閉じてください。";
    asked_by_another_name: "these pages are for this machine alone, and were asked for by another name: use http://localhost or the address; for a proxy with a name, set `[http] trusted_proxies`" = "これらのページはこのマシン専用です。http://localhost またはアドレスで開いてください。名前のあるプロキシを使う場合は `[http] trusted_proxies` を設定してください。";
}
