//! Refusals of the operator's handle, and of the host and the dispatcher behind it: terminals and scripts read them in
//! English, the arbiter's page in the language of its visitor.

use crate::{Language, messages};
use contest::standings::Settled;
use referee::operation::NoInverse;

messages! {
    // Of the event.
    event_over: "the event is over" = "大会は終了しています。";
    only_corrections_now: "the event is over: `rule`, `penalty`, `disqualify`, `place`, `appeal`, `answer`, `announce`, `undo` and `list` are what can still be done; `renmei rerun` has games played again that were lost by faults" = "大会は終了しています。できるのは裁定・減点・失格・順位の決定・異議とその回答・お知らせ・取り消し・一覧だけです。エンジンの障害で負けた対局は `renmei rerun` で指し直しにできます。";
    another_order_has_it: "another process has the event open, perhaps for another order: nothing was changed; give the order again in a moment" = "別のプロセスが（おそらく別の操作のために）大会を開いています。何も変更していません。少し待ってからもう一度操作してください。";
    event_not_begun: "the event has not begun: ask again in a moment" = "大会はまだ始まっていません。少し待ってください。";
    event_ended_meanwhile: "the event ended meanwhile" = "その間に大会が終了しました。";
    paused_already: "the event is paused already" = "すでに一時停止中です。";
    not_paused: "the event is not paused" = "一時停止中ではありません。";
    resume_first: "the event is paused: `resume` first" = "一時停止中です。先に再開してください。";
    needs_reason: "this order goes on record with a reason: give one with `--reason TEXT`" = "理由を記入してください（記録されます）。";
    text_too_long(what: &str, most: usize): "{what} has at most {most} characters, and no control characters" = "{what}は{most}文字以内で、制御文字は使えません。";
    a_reason: "a reason" = "理由";
    a_name: "a name" = "名前";
    an_announcement: "an announcement" = "お知らせ";
    name_of_a_machine: "the name of a machine" = "マシン名";
    announcement_needs_words: "an announcement needs words" = "お知らせの文面を入れてください。";
    no_registration: "the entrants of this event are those of its configuration; there is no registration to close or open" = "参加者は大会の設定で決まっているため、受付の開閉はありません。";
    registration_closed_already: "the registration is closed already" = "受付はすでに終了しています。";
    registration_open_already: "the registration is open already" = "受付はすでに開いています。";
    not_on_disk(operation: u64, seconds: u64): "operation {operation} is done, but not on the disk after {seconds} s: is the disk full?" = "操作{operation}は実行されましたが、{seconds}秒たっても保存できません。ディスクの空きを確認してください。";

    // Of players.
    no_network: "nobody logs in to this event over the network" = "この大会にネットワーク経由の参加者はいません。";
    not_a_player_name(name: &str): "`{name}` cannot be a player's name" = "`{name}` は対局者名に使えません。";
    not_a_ban(whom: &str): "`{whom}` is neither a player's name nor a network such as 192.0.2.7, 192.0.2.0/24 or 2001:db8:1:2::/64" = "`{whom}` は対局者名でも、192.0.2.7、192.0.2.0/24、2001:db8:1:2::/64 のようなネットワークでもありません。";
    player_not_here(name: &str): "`{name}` is not logged in; `list` shows the players" = "`{name}` は接続していません。";
    not_banned(whom: &str): "`{whom}` is not banned; `list` shows the bans" = "`{whom}` は禁止されていません。";
    not_muted(name: &str): "`{name}` is not muted" = "`{name}` は発言禁止ではありません。";
    no_buoy(name: &str): "there is no buoy `{name}`" = "ブイ `{name}` はありません。";
    entrant_plays(name: &str): "`{name}` is playing: adjourn the game, or rule on it, and swap then" = "`{name}` は対局中です。指し掛けか裁定の後に交代してください。";
    entrant_already(name: &str): "`{name}` is an entrant already" = "`{name}` はすでに参加しています。";
    no_remote_entrant(name: &str): "`{name}` is not an entrant of the network" = "`{name}` はネットワーク経由の参加者ではありません。";
    league_has_no_places: "an open league has no places of entrants to swap" = "自由対局リーグには交代する枠がありません。";
    no_round_to_pair: "pairings and byes can be given for later rounds of a Swiss, and none follows" = "組合せや休みを指定できるのはスイス式の次の回戦からで、次の回戦はありません。";
    no_such_round(round: u64, rounds: u32): "there is no round {round}: the stage has rounds 1 to {rounds}" = "{round}回戦はありません（1〜{rounds}回戦）。";
    has_withdrawn(name: &str): "`{name}` has withdrawn; `return` lets a player play again" = "`{name}` は棄権しています。先に復帰させてください。";
    not_in_this_stage(name: &str): "`{name}` does not play in this stage" = "`{name}` は現在のステージに参加していません。";
    pairing_is_given(name: &str, round: u32): "a pairing of `{name}` in round {round} is given already; `undo` takes it back" = "`{name}` の{round}回戦の組合せはすでに指定されています。変更するには、その操作を取り消してください。";
    bye_is_given(name: &str, round: u32): "`{name}` has a bye in round {round} already; `undo` takes it back" = "`{name}` は{round}回戦がすでに休みです。対局させるには、その操作を取り消してください。";
    needs_two_players: "this is one player twice: name two players" = "別々の2人を指定してください。";
    wait_for_different_games(one: &str, game: &str, two: &str, other: &str): "`{one}` waits for `{game}`, and `{two}` for `{other}`" = "`{one}` は `{game}` を、`{two}` は `{other}` を待っています。";
    quota_used_up(name: &str): "`{name}` has used up a quota, and waits no longer" = "`{name}` は上限に達したため、もう待っていません。";
    wants_other_colour(name: &str): "`{name}` asks for the other colour" = "`{name}` は反対の手番を希望しています。";
    waits_for_no_game(name: &str): "`{name}` waits for no game" = "`{name}` は対局を待っていません。";

    no_such_player(name: &str): "no player of this event has the name `{name}`" = "この大会に `{name}` という参加者はいません。";
    withdrawn_already(name: &str): "`{name}` is withdrawn already" = "`{name}` はすでに棄権しています。";
    not_withdrawn(name: &str): "`{name}` is not withdrawn" = "`{name}` は棄権していません。";
    disqualified_already(name: &str, operation: u64): "`{name}` is disqualified already; `undo {operation}` takes that back" = "`{name}` はすでに失格です。取り消すには `undo {operation}` を使ってください。";
    penalised_already(operation: u64): "operation {operation} is this penalty, for the same reason; a further one needs a reason of its own, and `undo {operation}` takes that back" = "操作{operation}で同じ理由の同じ減点をすでに与えています。さらに減点するには別の理由を付けてください。取り消すには `undo {operation}` を使ってください。";
    not_level(name: &str, other: &str): "`{name}` and `{other}` are not level in the table of the stage that is played: their points or tie-breaks decide" = "`{name}` と `{other}` は現在のステージの表で同順位ではありません（勝ち点か順位決定の項目で決まります）。";
    placed_already(name: &str, other: &str): "`{name}` is placed above `{other}` already, itself or by way of others; `undo` takes a place back" = "`{name}` はすでに `{other}` の上位と決められています（他の参加者を介した場合も含む）。`undo` で取り消せます。";
    penalty_above_zero: "a penalty is more than 0 points" = "減点は0より大きい数にしてください。";
    no_points_here: "the stage that is played has no table with points" = "現在のステージには勝ち点の表がありません。";
    test_has_two_players: "a sequential test has two players; stop it instead" = "逐次検定は2者の対局です。棄権ではなく、検定を止めてください。";
    league_has_no_rounds: "an open league has no rounds and no table with points" = "自由対局リーグに組合せと勝ち点の表はありません。";

    // Of engines that join.
    event_has_no_file: "this event has no file that engines are added to" = "この大会には実行中に読み直せる設定ファイルがありません。";
    file_has_no_newcomer: "the file has no engine that the event has not" = "設定ファイルに新しいエンジンはありません。";
    event_is_stopping: "the event is being stopped; its next start reads the file" = "大会は停止処理中です。次回の起動時にファイルが読み直されます。";
    machines_take_no_newcomers: "other machines play games of this event and know the engines of its start: stop it, and start it again with the new file" = "他のマシンが対局中のため、実行中の追加はできません。いったん止め、新しいファイルで再起動してください。";
    network_takes_no_newcomers: "players of the network are in this event and know the field of its start: add the engine to the file, stop the event between two games, and start it again; the players log in again by themselves" = "ネットワーク経由の参加者がいる大会では、実行中にエンジンを追加できません。ファイルに追加し、対局の合間に止めて再起動してください。";
    engine_plays_already(name: &str): "`{name}` plays in the event already" = "`{name}` はすでに参加しています。";
    engine_needs_cores(name: &str): "each game of this run has cores of its own, and `{name}` needs more of them: stop the event, and start it again with the new file" = "各対局に割り当てたコアが `{name}` には足りません。いったん止め、新しいファイルで再起動してください。";
    player_is_replaced(name: &str): "`{name}` was replaced and plays no further game; `rule` gives this one a result" = "`{name}` は交代済みで、もう対局しません。結果は裁定で変更できます。";

    // Of games.
    about_game(why: &str, game: &str, outcome: &str): "{why}; {game}: {outcome}" = "{why}　{game}の結果：{outcome}";
    no_game_in_event(game: u64): "there is no game {game} in this event" = "この大会に第{game}局はありません。";
    replay_needs_end(game: u64): "game {game} is still running; `adjourn --hold` ends it, then `replay` plays it again" = "第{game}局は対局中です。指し掛けにしてから指し直してください。";
    ended_by_another_order(game: u64): "another order is ending game {game}" = "第{game}局は別の操作で終局処理中です。";
    being_set_up(game: u64): "game {game} is being set up: ask again in a moment" = "第{game}局は準備中です。少し待ってください。";
    could_not_be_played(game: u64): "game {game} could not be played at all" = "第{game}局は対局できませんでした。";
    ended_meanwhile(game: u64, outcome: &str): "game {game} ended by itself meanwhile: {outcome}" = "第{game}局はその間に終局しました：{outcome}";
    rule_when_played_on(game: u64): "game {game} is adjourned: play it on, and rule on it then" = "第{game}局は指し掛けです。再開してから裁定してください。";
    game_over(game: u64, outcome: &str): "game {game} is over: {outcome}" = "第{game}局は終局しています：{outcome}";
    not_over(game: u64): "game {game} is not over, or has just ended: ask again in a moment" = "第{game}局は終局していないか、終局したばかりです。少し待ってください。";
    same_result(game: u64): "game {game} has that result already" = "第{game}局はすでにその結果です。";
    another_was_played(game: u64, outcome: &str): "game {game} does not count ({outcome}): another was played in its place" = "第{game}局は無効です（{outcome}）。代わりの対局が行われました。";
    another_is_to_be_played(game: u64, outcome: &str): "game {game} does not count ({outcome}): the game to be played in its place is not over yet; give the order for that one" = "第{game}局は無効です（{outcome}）。代わりの対局はまだ終わっていません。操作はその対局に対して行ってください。";
    is_played_again(game: u64): "game {game} does not count: it is played again" = "第{game}局は無効です：指し直しになります。";
    does_not_count(game: u64, outcome: &str): "game {game} does not count: {outcome}" = "第{game}局は無効です：{outcome}";
    stays_as_it_is(game: u64, why: &str): "game {game} stays as it is: {why}" = "第{game}局の結果は変えられません：{why}";
    not_a_time(text: &str): "`{text}` is no time that a clock can have: such as 4m30s, from 1ms to 1000h" = "`{text}` は持ち時間として読めません（例：4m30s）。";
    no_whole_seconds(text: &str): "the clock counts whole seconds, and `{text}` has a part of one" = "この時計は秒単位です。`{text}` には1秒未満があります。";
    no_clock_to_set(game: u64): "the player has no main time in game {game}" = "第{game}局のこの対局者に持ち時間はありません。";
    given_up(game: u64, name: &str): "game {game} is given up: `{name}` was replaced and plays no further game; it counts for nobody, and nothing can be ordered of it" = "第{game}局は打ち切られました。`{name}` は交代済みで、もう対局しません。成績には含まれず、操作の必要もありません。";
    not_held(game: u64): "game {game} does not wait to be played on; `list` shows those that do" = "第{game}局は再開待ちではありません。";
    stage_follows(stage: usize): "stage {stage} has begun, and its entrants follow from this result" = "ステージ{stage}が始まり、その参加者はこの結果で決まりました。";
    test_is_decided: "the sequential test has its verdict, and is decided once" = "逐次検定はすでに判定が出ています。";
    round_follows(round: u32): "round {round} has begun, and its pairings follow from this result" = "{round}回戦が始まり、その組合せはこの結果で決まりました。";
    round_is_paired(round: u32): "round {round} is paired already" = "{round}回戦はすでに組まれています。";
    no_answer_yet: "the game has not answered yet; `list` shows whether it is still running" = "対局からまだ応答がありません。";
    league_replays_nothing: "an open league has no schedule in which a game has a place: `rule GAME void` takes it out, and its players may ask for another" = "自由対局リーグに指し直しはありません。裁定で無効にし、参加者が改めて対局を申し込みます。";
    league_plays_nothing_on: "an open league has no schedule in which a game has a place; its players may ask for another" = "自由対局リーグに再開はありません。参加者が改めて対局を申し込みます。";

    // Of machines.
    no_such_machine(machine: &str): "no machine `{machine}` has a part in this event; `renmei report` lists them" = "この大会にマシン `{machine}` はありません。";
    machine_not_dropped(machine: &str): "no machine `{machine}` is dropped; `list` shows those that are" = "マシン `{machine}` は除外されていません。";
    machine_dropped_before(machine: &str): "`{machine}` was dropped before" = "マシン `{machine}` はすでに除外されています。";
    league_has_no_machines: "no other machines play games of a league" = "リーグの対局を行う他のマシンはありません。";

    // Of appeals and operations.
    appeal_waits(game: u64): "an appeal of yours against the result of game {game} waits already" = "第{game}局への申し立てはすでに受け付けています。";
    appeals_full: "too many appeals wait for a decision; speak to the arbiter" = "回答待ちの申し立てが多すぎます。審判に直接伝えてください。";
    no_waiting_appeal(operation: u64): "operation {operation} is not a waiting appeal; `list` shows those" = "操作{operation}は回答待ちの申し立てではありません。";
    no_operation(operation: u64): "there is no operation {operation}" = "操作{operation}はありません。";
    taken_back_before(operation: u64): "operation {operation} was taken back before" = "操作{operation}はすでに取り消されています。";
    readmit_instead(operation: u64, machine: &str): "operation {operation} is not taken back by its number: `readmit {machine}` lets the machine join again, and its games stay played again" = "操作{operation}は番号では取り消せません。マシン `{machine}` は `readmit` で復帰できますが、対局は指し直しのままです。";
    cannot_be_taken_back(operation: u64, action: &str): "operation {operation} (`{action}`) cannot be taken back" = "操作{operation}（`{action}`）は取り消せません。";
    undo_stays(operation: u64, undone: u64): "operation {operation} took back operation {undone}, and an undo is not taken back itself: give the order of operation {undone} again" = "操作{operation}は操作{undone}の取り消しです。取り消しは取り消せません。必要なら、操作{undone}と同じ操作をもう一度行ってください。";
    superseded(operation: u64, later: u64): "operation {operation} is no longer in effect: operation {later} decided the same matter later; nothing was taken back" = "操作{operation}はもう効力がありません。同じ件は後の操作{later}で決められています。何も取り消していません。";
}

impl Language {
    /// Why an operation is not taken back.
    pub fn no_inverse(self, why: &NoInverse) -> String {
        match why {
            NoInverse::Unknown(operation) => self.no_operation(*operation),
            NoInverse::Undone(operation) => self.taken_back_before(*operation),
            NoInverse::Undo(operation, undone) => self.undo_stays(*operation, *undone),
            NoInverse::Superseded(operation, later) => self.superseded(*operation, *later),
            NoInverse::Machine(operation, machine) => self.readmit_instead(*operation, machine),
            NoInverse::Final(operation, action) => self.cannot_be_taken_back(*operation, action),
        }
    }

    /// Why a result is not changed.
    pub fn settled(self, why: Settled) -> String {
        match why {
            Settled::Stage(stage) => self.stage_follows(stage),
            Settled::Verdict => self.test_is_decided().to_owned(),
            Settled::Round(round) => self.round_follows(round),
        }
    }
}
