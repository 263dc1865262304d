//! Reports: their headings, columns and sentences.

use crate::{Language, messages};
use referee::rating::{digits, elo_words, signed};

messages! {
    // The heading.
    distinct(games: &str): "{games} distinct" = "重複を除くと {games} 局";
    opening_lines(lines: u64): "opening lines: {lines}" = "開始局面 {lines} 種";
    games_running(games: usize): "{games} running" = "{games} 局進行中";
    complete: "complete" = "終了";
    what_elo_means: "Ratings in Elo are relative to the mean of the field; ± is half the 95 % interval." = "Elo は全参加者の平均を基準とする値、± は95%信頼区間の半幅です。";
    standings_and_newest: "standings and the newest games" = "順位表と最近の対局";
    not_complete: "not complete" = "途中";
    winner(name: &str, score: &str): "Winner: {name}, {score}" = "優勝：{name}（{score}）";
    winners(names: &str, score: &str): "Winners, level: {names}, {score}" = "同点優勝：{names}（{score}）";
    first_by_elo(name: &str, elo: &str): "First by Elo: {name}, {elo}" = "Elo 首位：{name}（{elo}）";
    level(name: &str, other: &str, score: &str): "{name} and {other} drew, {score}" = "{name} と {other} は引き分け（{score}）";
    open_league: "open league" = "自由対局リーグ";
    imported_records: "imported records" = "取り込んだ棋譜";
    records_read_so_far(records: u64): "{records} records read so far" = "棋譜 {records} 件まで読みました";
    records_read_twice_so_far(records: u64): "{records} records read so far; each is read twice" = "棋譜 {records} 件まで読みました（どの棋譜も2回読みます）";
    games_on(server: &str): "games on {server}" = "{server} での対局";
    tuning_of(pairs: u64): "tuning, {pairs} pairs of games" = "オプションの調整（{pairs} 組の対局）";
    older_games: "Older games" = "以前の棋譜";
    range_of_games(first: &str, last: &str): "games {first} – {last}" = "棋譜 {first} – {last}";

    // Standings and tables.
    replaced_by(by: &str): "replaced by {by}" = "{by} に交代";
    stronger_than_next: "likelihood that it is stronger than the next" = "次位より強い確率";
    halted(name: &str, reason: &str): "halted: {name}: {reason}" = "停止：{name}：{reason}";
    elo_is_tentative: "~ the games alone do not bound this Elo: all won or lost, or too few opponents" = "~ 対局だけでは Elo が定まりません（全勝・全敗、または相手が少ない）";
    cross_table: "Cross table" = "対戦表";
    points_and_tie_breaks: "Points and tie-breaks" = "得点と順位決定";
    how_ties_are_broken: "What decides between equal points" = "同点の順位の決め方";
    who_goes_on: "Who goes on" = "勝ち上がり";
    who_beat_whom: "Who beat whom" = "対戦表";
    speed_and_depth: "Speed and depth" = "速度と深さ";
    first_players(shown: usize, all: usize): "the first {shown} of {all} players" = "上位 {shown} 名（全 {all} 名）";
    stages: "Stages" = "ステージ";

    // The sequential test.
    sequential_test: "Sequential test" = "逐次検定（SPRT）";
    accepted(hypothesis: &str, claim: &str): "{hypothesis} accepted: {claim}" = "{hypothesis} を採択：{claim}";
    faults_decided: "no verdict on strength: faults decided" = "強さの判定なし：反則等で終了";
    only_repeats: "no verdict: the last games repeated earlier ones move for move, and repeated games are no evidence" = "判定なし：以後の対局は既出の棋譜の繰り返しで、証拠になりません";
    probably_stronger(name: &str, percent: u32): "{name} is probably stronger, {percent} %" = "{name} のほうが強い確率 {percent} %";
    about_more_games(games: &str): "about {games} more games" = "あと約{games}局";
    no_verdict_yet: "no verdict yet" = "判定はまだ出ていません";
    stopped_without_verdict: "stopped before a verdict" = "判定前に中断";
    precision: "Precision" = "精度";
    known_well_enough(within: &str, pairs: u64): "stopped when Elo was known within {within} (interval corrected for looking), after {pairs} pairs" = "{pairs} 組で Elo の誤差が {within} 以内になり終了（途中経過の確認を補正済み）";
    known_to_be_far(pairs: u64): "stopped after {pairs} pairs: the difference is beyond 400 Elo (95 %), where an error in Elo is never small" = "{pairs} 組で終了：差は 95 % で 400 Elo を超え、対局数を増やしても正確には測れません";
    only_repeats_and_known(error: &str): "the last games repeated earlier ones move for move, and repeated games are no evidence; Elo is known within {error} (interval corrected for looking)" = "以後の対局は既出の棋譜の繰り返しで、証拠になりません。Elo の誤差は {error}（途中経過の確認を補正済み）";
    all_played_and_known(error: &str): "all games were played; Elo is known within {error} (interval corrected for looking)" = "全局終了：Elo の誤差は {error}（途中経過の確認を補正済み）";
    stopped_by_hand_and_known(pairs: u64, error: &str): "stopped by hand after {pairs} pairs, when Elo was known within {error} (interval corrected for looking)" = "{pairs} 組で中断：Elo の誤差は {error}（途中経過の確認を補正済み）";
    known_so_far(error: &str): "so far Elo is known within {error} (interval corrected for looking)" = "現在の Elo の誤差は {error}（途中経過の確認を補正済み）";
    test_pairs(pairs: u64): "{pairs} pairs: " = "{pairs} 組：";

    // Tests of a queue.
    tests: "Tests" = "テスト";
    no_test_yet: "No test was added yet." = "まだテストは追加されていません。";
    tested_commits(new: &str, old: &str): "{new} against {old}" = "{new} 対 {old}";
    time_and_length: "time and length" = "持ち時間・局数";
    bounds: "bounds" = "仮説（Elo）";
    between_bounds(lower: &str, upper: &str): "H0 at {lower}, H1 at {upper}" = "{lower} で H0、{upper} で H1 を採択";
    wins_losses_draws: "W – L – D" = "勝–敗–分";
    pairs_by_points: "pairs of games by points: 0, ½, 1, 1½, 2" = "2局1組の得点別の組数：0、½、1、1½、2";
    state_or_verdict: "state" = "状態・判定";
    over_or_added: "over or added" = "終了／追加";
    test_waiting: "waiting" = "順番待ち";
    test_unapproved: "waits for approval" = "承認待ち";
    test_paused: "paused" = "一時停止中";
    test_playing: "playing" = "対局中";
    test_failed: "failed" = "失敗";
    test_removed: "removed" = "取り消し";
    verdict_accepted(hypothesis: &str): "{hypothesis} accepted" = "{hypothesis} を採択";
    verdict_faults: "ended by faults" = "反則等で終了";
    verdict_precise: "known well enough" = "十分な精度";
    older_tests_left_out(tests: usize): "{tests} older tests are left out" = "以前のテスト {tests} 件は省略";

    // Endings.
    shares_of_results(won: &str, lost: &str, drawn: &str): "Black (☗) won {won}, white (☖) {lost}, {drawn} were drawn" = "先手（☗）の勝ち {won}、後手（☖）の勝ち {lost}、引き分け {drawn}";
    first_move_worth(elo: &str, error: &str): "; moving first is worth {elo} ± {error} Elo" = "。先手の利は {elo} ± {error} Elo";
    lost_by_a_fault: "Lost by a fault" = "反則・故障による負け";
    last_of(shown: usize, all: &str): "the last {shown} of {all}" = "最後の {shown} 局（全 {all} 局）";
    failure(name: &str, color: &str, opponent: &str, cause: &str): "{name} ({color}) against {opponent}, {cause}" = "{name}（{color}）対 {opponent}、{cause}";
    uncounted(cause: &str): "{cause} (not counted)" = "{cause}（無効）";

    // Times.
    mean: "mean" = "平均";
    longest: "longest" = "最長";
    depth: "depth" = "深さ";
    nodes_a_second: "nodes/s" = "局面/秒";
    late: "late p50" = "遅延 p50";
    what_late_means: "measured minus reported time, to a factor of two" = "実測と報告の時間差（2倍の精度）";
    memory: "memory" = "メモリ";
    what_memory_means: "peak memory of one of its processes" = "1プロセスの最大メモリ";
    seconds_by_ply: "Seconds a move, by ply" = "一手の秒数（手数別）";

    // Builds and commits.
    commits: "Commits" = "コミット";
    commit: "commit" = "コミット";
    subject: "subject" = "件名";
    no_difference: "no difference in the files of git" = "git のファイルに差はありません";
    played_by: "Played by" = "対局プログラム";
    program: "program" = "プログラム";
    builds_are_mixed(builds: usize, name: &str): "! {builds} builds played as {name}: its figures mix them" = "! {name} として {builds} 種類のビルドが対局しました：成績は混ざっています";

    // Machines.
    first_player: "first player" = "先に挙げた参加者";
    on_time: "on time" = "時間切れ";
    open_pairs: "open pairs" = "未了の組";
    played_twice: "played twice" = "再対局の組";
    differ: "differ" = "相違";
    results_differ(name: &str, chi_squared: f64): "! the results on {name} are not those on the other machines (chi squared {chi_squared:.1}): its clock, its load or its memory" = "! {name} の結果が他のマシンと異なります（カイ二乗 {chi_squared:.1}）：時計、負荷、メモリを確認してください";
    time_losses_differ(name: &str, chi_squared: f64): "! losses on time on {name} are not those on the other machines (chi squared {chi_squared:.1}): its clock, its load or its memory" = "! {name} の時間切れの数が他のマシンと異なります（カイ二乗 {chi_squared:.1}）：時計、負荷、メモリを確認してください";
    pairs_differ(differed: u64, repeated: u64, name: &str): "! {differed} of {repeated} pairs that both {name} and another machine have played were not the same: `faults` names both" = "! {name} と他のマシンの両方で指した {repeated} 組のうち {differed} 組が一致しません：`faults` に双方の名前があります";

    // Games on a page.
    player_ending_number: "player, ending, number" = "対局者・終局・番号";
    newest_first: "newest first" = "新しい順";
    oldest_first: "oldest first" = "古い順";
    most_plies_first: "longest first" = "手数の多い順";
    fewest_plies_first: "shortest first" = "手数の少ない順";
    games_need_script: "The games are shown by this page's script." = "棋譜はこのページのスクリプトが表示します。";
    more: "more" = "続き";
    key_start: "start (Home)" = "開始局面（Home）";
    key_back: "a ply back (←)" = "一手戻る（←）";
    play: "Play" = "再生";
    key_play: "play (space)" = "再生・停止（space）";
    key_on: "a ply on (→)" = "一手進む（→）";
    key_end: "end (End)" = "最終手（End）";
    key_turn: "turn the board (f)" = "盤面反転（f）";
    key_pieces: "letters or kanji (a)" = "英字・漢字の切り替え（a）";

    // Axes and titles of pictures.
    pairs_axis: "pairs of games" = "組（2局ずつ）";
    ply_axis: "ply" = "手目";
    games_by_ending: "games by ending" = "終局別の局数";
    log_likelihood_ratio: "log-likelihood ratio" = "対数尤度比";
    lower_ratings_over_games: "ratings over the games" = "レートの推移";
    lower_seconds_by_ply: "seconds a move, by ply" = "一手の秒数（手数別）";

    // The text of a report.
    skipped_engine(name: &str): "skipped: {name}" = "省略：{name}";
    black_scores(score: &str, advantage: &str, endings: &str): "black scores {score}{advantage}; endings: {endings}" = "先手の得点率 {score}{advantage}、終局：{endings}";
    games_not_counted(endings: &str): "not counted: {endings}" = "無効：{endings}";
    lost_waiting(starved: u64, games: u64): "losses on time: {starved} of {games} by an engine that had waited for a processor as long as it was late; play fewer games at once (`concurrency`), or leave other work to another machine" =
        "時間切れ {games} 局のうち {starved} 局では、エンジンが遅れた時間だけプロセッサを待たされていました。同時対局数（`concurrency`）を減らすか、他の処理を別のマシンに移してください";
    lost_by_little(replied: u64, games: u64, most: f64, margin: u64): "losses on time: {replied} of {games} late by {most} ms at most; `margin = \"{margin}ms\"` (`match --margin {margin}ms`) forgives that in a new event, `reserve` lets an engine stop earlier" =
        "時間切れ {games} 局のうち {replied} 局の遅れは最大 {most} ms です。新しい大会では `margin = \"{margin}ms\"`（`match --margin {margin}ms`）で許容でき、`reserve` でエンジンを早めに指させることもできます";
    faults_in_log(which: &str): "lost by a fault{which}; `renmei log GAME` shows what was said" = "反則・故障による負け{which}。やり取りは `renmei log 対局番号` で確認できます";
    pairs_and_points(pairs: u64, points: &str): "pairs {pairs} ({points})" = "{pairs} 組（{points}）";
    llr_between(llr: &str, lower: f64, upper: f64, all: &str): "LLR {llr} in [{lower:.2}, {upper:.2}]; of all finished pairs {all}" = "LLR {llr}（範囲 [{lower:.2}, {upper:.2}]）、終わった全組では {all}";
    what_h0_and_h1_say(first: &str, second: &str, elo0: f64, elo1: f64): "H1 says that {first} is at least {elo1} stronger than {second}, H0 that it is at most {elo0} stronger." =
        "H1 は「{first} は {second} より {elo1} 以上強い」、H0 は「差は {elo0} 以下」という仮説です。";
    what_llr_says(lower: f64, upper: f64): "LLR weighs the evidence: it begins at 0, and the test ends with H1 at {upper:.2}, with H0 at {lower:.2}." =
        "LLR は証拠の重さです。0 から始まり、{upper:.2} に達すると H1、{lower:.2} に達すると H0 を採択して検定を終えます。";
    faults_decided_after(pairs: u64, llr: f64): "no verdict on strength: after {pairs} pairs faults decided at LLR {llr:.2}, and the pairs without faults do not bear it out" =
        "強さの判定なし：{pairs} 組、LLR {llr:.2} で反則等により終了しましたが、反則等のない組はそれを裏付けていません";
    repeats_ended(pairs: u64): "no verdict: the last {pairs} pairs repeated earlier games move for move, and repeated games are no evidence; use more opening lines, or vary the nodes (`nodes 4000 jitter 3%`)" =
        "判定なし：最後の {pairs} 組は既出の棋譜の繰り返しで、証拠になりません。開始局面を増やすか、探索局面数を変動させてください（`nodes 4000 jitter 3%`）";
    accepted_after(hypothesis: &str, pairs: &str, llr: f64): "{hypothesis} accepted after {pairs} at LLR {llr:.2}" = "{pairs}、LLR {llr:.2} で {hypothesis} を採択";
    halted_after(pairs: &str): "halted after {pairs}, without a verdict: an engine has reached its limit of faults" = "{pairs}で停止、判定なし：エンジンの障害が上限に達しました";
    stopped_after(pairs: &str): "stopped by hand after {pairs}, without a verdict: the error rates are those of the test played to its end" = "{pairs}で中断、判定なし：誤る確率は最後まで行った検定のものです";
    no_verdict: "no verdict" = "判定なし";
    that_is(claim: &str): "that is: {claim}" = "すなわち、{claim}";
    result_of_two(name: &str, opponent: &str, score: &str, said: &str): "{name} against {opponent} {score}: {said}" = "{name} 対 {opponent} {score}　{said}";
    in_distinct_games(wins: f64, losses: f64): " ({wins} : {losses} in distinct games)" = "（重複を除くと {wins} : {losses}）";
    nelo_and_ratios(nelo: &str, draws: &str, pairs: &str): "nElo {nelo}, draw ratio {draws} %, pairs ratio {pairs}" = "nElo {nelo}、引き分け率 {draws} %、ペア比 {pairs}";
    knockout_goes_on(round: &str, winner: &str, loser: &str, own: f64, other: f64, by: &str): "{round}: {winner} goes on, {own} : {other} against {loser}{by}" = "{round}：{winner} が勝ち上がり（対 {loser}、{own} : {other}{by}）";
    by_more_games(extra: u64): ", after {extra} games more" = "、追加 {extra} 局";
    by_seed: ", level: the higher seed goes on" = "、同点のため上位シード";
    played_alike(alike: u64, pairs: u64): "both played the same moves in {alike} of {pairs} pairs: are they one and the same program, as after a build that was forgotten?" = "{pairs} 組のうち {alike} 組で両者の指し手が同一です。ビルドし忘れなどで同じプログラムになっていませんか";
    by_score_alone(said: &str, plain: &str): "{said}; by the score alone {plain}" = "{said}。補正前は {plain}";
    corrected_for_stop: ", corrected for the stop of the test" = "、検定の打ち切りを補正済み";
    corrected_for_looking: ", corrected for looking" = "、途中経過の確認を補正済み";
    los_of(share: &str, name: &str): "LOS {share}: how likely {name} is the stronger one" = "LOS {share}：{name} のほうが強い確率";
    elo_and_los: "Elo is relative to the mean of the field; LOS: how likely one is stronger than the next" = "Elo は全参加者の平均を 0 とした値、LOS は次位より強い確率です";
    audit_games(ended: &str, on: u64, share: f64): "adjudication by score: {ended} ended, {on} played on ({share:.0} % of them are to be)" = "評価値による判定：{ended}を終了、{on} 局は判定せずに続行（予定 {share:.0} %）";
    audit_wrong(wrong: u64, won: u64, drawn: u64, share: f64, low: f64, high: f64): "{wrong} would have been wrong: {won} won and {drawn} drawn by the side given up, {share:.0} % (95 %: {low:.0} to {high:.0} %)" =
        "誤判定 {wrong} 局：負けとされた側の勝ち {won}、引き分け {drawn}、{share:.0} %（95 %：{low:.0} 〜 {high:.0} %）";
    audit_cost(points: f64, plies: f64): "that is {points:.2} points a game ended so; each game played on was {plies:.0} plies longer" = "判定1局あたり {points:.2} 点の誤り、続行した対局は平均 {plies:.0} 手長くなりました";
    listed_games(games: &str): "games: {games}" = "対局：{games}";
    tuning_so_far(pairs: u64, of: u64): "tuning: {pairs} of {of} pairs" = "オプションの調整：{of} 組のうち {pairs} 組";
    for_common_scale: "for adjudication on the common scale of 600:" = "共通尺度 600 での判定用:";
    measured_on_server(name: &str, performance: &str, games: &str, opponents: &str): "{name} on the scale of its rated opponents: {performance} ({games}, {opponents})" = "{name} のレーティング（レートのある相手から推定）：{performance}（{games}、{opponents}）";
}

impl Language {
    /// What a winner has scored, from points, wins, losses and draws.
    pub fn won_and_lost(self, (points, games): (&str, u64), [wins, losses, draws]: [u64; 3]) -> String {
        match (self, draws) {
            (Self::English, _) => format!("{points}/{games}"),
            (Self::Japanese, 0) => format!("{wins}勝{losses}敗"),
            (Self::Japanese, _) => format!("{wins}勝{losses}敗{draws}分"),
        }
    }

    /// A difference in Elo with its 95 % interval. An end is `None` where everything was won, or lost.
    pub fn elo_words(self, elo: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
        if self == Self::English {
            return elo_words(elo, low, high);
        }
        match (elo, low, high) {
            (Some(elo), Some(low), Some(high)) => {
                let [elo, low, high] = [elo, low, high].map(|end| signed(end, digits((high - low) / 2.0)));
                format!("{elo} Elo（95 % 区間 {low} 〜 {high}）")
            }
            (_, Some(low), None) => format!("全勝、少なくとも {} Elo（95 %）", signed(low, 0)),
            (_, None, Some(high)) => format!("全敗、高くても {} Elo（95 %）", signed(high, 0)),
            _ => "対局がなく Elo は不明".to_owned(),
        }
    }
}
