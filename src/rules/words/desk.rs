//! The desk.

use crate::messages;

messages! {
    // The gate.
    desk_is_another_browsers: "This desk lets in the browser that its owner has opened it with. Open it by `renmei desk` or its icon." =
        "このデスクは持ち主が開いたブラウザでのみ使えます。`renmei desk` かアイコンから開いてください。";
    desk_is_of_this_machine: "The desk answers browsers of this machine alone, without a proxy between them. Open it by `renmei desk` or its icon." =
        "このデスクはこのマシンのブラウザから、プロキシを通さずに使います。`renmei desk` かアイコンから開いてください。";
    link_was_used: "This link was used before: it leads in once. Open the desk by `renmei desk` or its icon." =
        "このリンクは一度しか使えません。`renmei desk` かアイコンから開き直してください。";
    to_the_desk: "To the desk" = "デスクへ";

    // Home.
    home: "Home" = "ホーム";
    files_are_faulty: "A file of the desk is faulty; mend it by hand:" = "デスクのファイルに誤りがあります。手で直してください:";
    first_add_engines: "An event needs two engines. Choose the folder where yours are; Renmei finds the programs in it and asks each for its name." =
        "大会には二つ以上のエンジンが必要です。エンジンのあるフォルダーを選ぶと、中のプログラムを探して名前を読み取ります。";
    what_renmei_is_for: "What it is for" = "できること";
    welcome: "Two engines are two minutes away from a league" = "エンジンが二つあれば、二分で大会を始められます";
    play_with_built_in: "Play with two that are built in" = "付属のエンジンで対局";
    first_match: "First match" = "最初の対局";
    no_engine_comes_with_this_program: "the engines that come with Renmei are not beside this program: add your own" =
        "付属のエンジンがこのプログラムと同じ場所にありません。お持ちのエンジンを追加してください。";
    find_engines: "Find my engines" = "エンジンを探す";
    no_event_here: "No event yet" = "まだ大会がありません";
    choose_an_event: "Is a new build stronger? Which engine is the best of all? Choose what is played; games begin with one click." =
        "新しいビルドは強くなったか、どのエンジンが一番強いか。形式を選べば、すぐに対局が始まります。";
    ends_about: "ends about" = "終了予定";
    other_orders: "Other orders" = "その他の操作";
    events_that_run: "Running" = "進行中";
    events_that_wait: "Stopped" = "停止中";
    events_that_are_over: "Over" = "終了";
    arbiter_is_wanted(count: usize): "{count} decisions of the arbiter are wanted" = "審判の判断待ちが{count}件あります";
    games_count: "games" = "局";
    so_many_run(running: usize): "{running} running" = "{running}局進行中";
    finish_games: "Stop after the running games" = "対局中のものを終えて停止";
    adjourn_games: "Stop now" = "今すぐ停止（指し掛け）";
    begin_or_go_on: "Begin or go on" = "開始・再開";
    copy: "Copy" = "複製";
    copy_text: "Copy" = "コピー";
    publish: "Publish" = "結果を公開";
    plain_text: "Plain text" = "テキスト";
    change: "Change" = "変更";
    games_at_once_short: "Games at once" = "同時対局数";
    games_at_once_now(name: &str, most: usize): "`{name}`: games at once from now on: {most}." = "`{name}`：同時に{most}局まで";
    number_from_to(least: usize, most: usize): "give a number from {least} to {most}" = "{least}から{most}までの数で入力してください。";
    file_is_taken_up(name: &str): "`{name}`: the change is taken up as soon as the running games are over." = "`{name}`：対局中のものが終わり次第、変更が有効になります。";
    engine_is_added(engine: &str, name: &str): "`{engine}` was added to `{name}`." = "`{engine}` を `{name}` に追加しました。";
    take_out: "Take out" = "外す";
    no_such_engine_here: "no engine of this name plays here" = "その名前のエンジンは参加していません。";
    engine_is_out(engine: &str, name: &str): "`{engine}` no longer plays in `{name}`." = "`{engine}` を `{name}` から外しました。";
    engine_is_replaced(engine: &str, by: &str, name: &str): "`{by}` plays in `{name}` in the place of `{engine}`." = "`{name}` の `{engine}` を `{by}` と交代させました。";
    plays_on: "plays" = "参加";
    plays_no_more: "plays no more" = "以後不参加";
    replace_by(engine: &str): "replace by {engine}" = "{engine} と交代";
    as_the_library_has_it: "set up as in the library now" = "エンジン一覧の今の設定にする";
    save_and_go_on: "Save and go on" = "保存して再開";
    nobody_has_played: "No game was played yet: an engine that is taken out leaves no trace." = "まだ対局がないため、外したエンジンは大会から消えます。";
    what_leaving_does: "Games that were played stay. The others win the remaining games of an engine that is taken out; one that replaces it plays all encounters anew." =
        "指した対局は残ります。外したエンジンの残りの対局は相手の勝ちになります。交代したエンジンは全員と改めて対局します。";
    event_changed_meanwhile: "the file of the event was changed meanwhile, and nothing was saved: open this page again to see both" =
        "大会の設定ファイルはその間に変更されたため、保存していません。ページを開き直して確認してください。";
    plays_already_as(engine: &str, player: &str): "`{engine}` has the program and the set-up of `{player}`: it plays here already." =
        "`{engine}` は `{player}` とプログラムも設定も同じため、すでに参加しています。";
    games_would_not_compare: "Nothing was saved: the games that were played would not be comparable. Copy the event to play it with this:" =
        "指した対局と比較できなくなるため、保存していません。この設定で対局するには大会を複製してください：";
    engine_that_joins: "An engine joins" = "途中参加するエンジン";
    nobody: "nobody" = "なし";
    no_new_game_after: "No new game begins after" = "新しい対局を始める期限";
    no_game_after(name: &str, until: &str): "`{name}`: no new game begins after {until}." = "`{name}`：{until} 以降は新しい対局を始めません。";
    no_deadline(name: &str): "`{name}`: games begin at any time." = "`{name}`：対局の期限はありません。";
    event_is_not_played: "the event is not played now" = "その大会は進行中ではありません。";
    change_the_file: "change the file by hand: its form is an unusual one" = "設定ファイルの書き方が特殊なため、手で変更してください。";
    others_begin_its_games: "others decide when its games begin: change its file by hand" = "対局の開始は相手次第です。設定ファイルを手で変更してください。";
    like_a_real_event: "Like a real event" = "実在の大会と同じ形式で";
    about_preset: "Its stages, rules and clock, with your engines. The comments of the file say where they are from." =
        "実在の大会の段階・規定・持ち時間をお使いのエンジンで。出典は設定ファイルのコメントにあります。";
    preset_denryu: "Denryu-sen 2020" = "第1回電竜戦";
    preset_tsec: "Denryu-sen TSEC" = "電竜戦TSEC";
    preset_sdt: "Shogi Denou tournament 2013" = "第1回将棋電王トーナメント";
    preset_wcsc: "World Computer Shogi Championship" = "世界コンピュータ将棋選手権";
    choose_by_tag: "All with the tag:" = "タグで選ぶ:";
    all_engines: "all engines" = "すべてのエンジン";
    compare: "Compare" = "比較";
    compare_two: "Compare two" = "二つを比較";
    compared: "Two set-ups" = "設定の比較";
    set_up_alike: "Both are set up alike." = "二つの設定は同じです。";
    like_event(name: &str): "like `{name}`" = "`{name}` をもとに";
    copy_is_whole: "The copy has every key of the file, comments included, and begins its own games." = "設定ファイルのすべての項目（コメントを含む）をコピーし、対局は最初から始めます。";
    as_another_kind: "As another kind of event" = "別の形式で";
    left_out_of_copy(keys: &str): "Each event has its own; left out of the copy: `{keys}`" = "大会ごとに別のものが必要なため、コピーから除いた項目：`{keys}`";
    copied_engine_missing(name: &str): "`{name}` cannot be chosen: the library has no such engine that plays; the copy is without it" =
        "`{name}` は選べません。エンジン一覧に使えるものがないため、このエンジンなしのコピーになります。";
    same_file_again: "The same file again" = "同じ設定ファイルでもう一度";
    quit: "Quit" = "終了する";
    closing_the_page_ends_nothing: "Closing this page ends nothing: games go on. Events that run now go on when the desk is opened again." =
        "このページを閉じても対局は続きます。終了しても、進行中の大会は次にデスクを開いたときに再開します。";
    quit_after_games: "Quit after the running games" = "対局中のものを終えてから終了";
    quit_at_once: "Quit now" = "今すぐ終了（指し掛け）";
    desk_ends: "The desk ends: no new game begins." = "デスクを終了します。新しい対局は始まりません。";
    begin_desk_again: "Open it again by `renmei desk` or its icon; every event goes on where it was." =
        "`renmei desk` かアイコンから開き直すと、どの大会も続きから再開します。";
    this_machine: "This machine" = "このマシン";
    machine_is_ready: "This machine is ready for events." = "このマシンで大会を開けます。";
    machine_lacks_something: "This machine lacks something; each row says the command that mends it." =
        "不足しているものがあります。各行に対処のコマンドを示します。";

    // Settings.
    settings_of_desk: "Settings" = "設定";
    language_and_colours: "Language and colours" = "言語と配色";
    pieces_are_changed_below: "The button “A” below a board changes between kanji and letters, and ⇅ turns the board round." =
        "盤の下の「A」ボタンで駒の漢字と英字を切り替え、⇅ で盤を反転します。";
    files_are_the_truth: "Engines and events are files in this folder; what is changed there by hand shows on these pages. Another folder: `renmei desk FOLDER`." =
        "エンジンと大会は、このフォルダーの中のファイルです。手で書き換えた内容もページに表示されます。別のフォルダーを使うには `renmei desk フォルダー` で開きます。";
    address_of_desk: "Address" = "アドレス";
    for_this_machine_alone: "The desk is for this machine alone. Pages that others may see are opened by “Publish” of an event." =
        "デスクはこのマシンでのみ使えます。他の人に見せるページは、大会の「結果を公開」で開きます。";

    // Orders about events.
    event_begins(name: &str): "`{name}` begins." = "`{name}` を始めます。";
    event_is_kept(name: &str): "`{name}` is kept, and waits to be begun." = "`{name}` を保存しました。開始を待っています。";
    event_finishes(name: &str): "`{name}` stops when its running games are over." = "`{name}` は対局中のものが終わると停止します。";
    event_is_adjourned(name: &str): "`{name}` stops; its running games are adjourned." = "`{name}` を停止し、対局を指し掛けにします。";
    event_is_in_bin(name: &str, bin: &str): "`{name}` was deleted; its files are in {bin}." = "`{name}` を削除しました。ファイルは {bin} にあります。";
    event_is_in_bin_without_games(name: &str, bin: &str, database: &str): "`{name}` was deleted; its file is in {bin}. Its games stay in {database}, which lies elsewhere or which another event uses, too." =
        "`{name}` を削除しました。設定ファイルは {bin} にあります。対局は {database} に残ります（別の場所にあるか、ほかの大会も使っています）。";
    another_process_plays_it: "another process plays it, such as `renmei run` in a terminal: end that first" =
        "別のプロセス（端末の `renmei run` など）で進行中です。先にそちらを終了してください。";
    engine_changed_meanwhile: "this engine was changed meanwhile, and nothing was saved: open its page again to see both" =
        "このエンジンの設定はその間に変更されたため、保存していません。ページを開き直して確認してください。";
    changed_meanwhile: "The file was changed meanwhile and has this text now. Yours is below: saving it again replaces the other one." =
        "設定ファイルはその間に変更され、今は次の内容です。入力した内容は下にあります。もう一度保存すると置き換わります。";
    stop_it_first: "it is played, or about to be: stop it first" = "進行中または準備中です。先に停止してください。";
    no_such_event: "there is no such event" = "その大会はありません。";
    change_counts_when_begun: "A change counts from the next time that the event is begun; rules of games that were played cannot be changed." =
        "変更は次に大会を開始したときから有効です。すでに指された対局の規定は変えられません。";
    text_of_event: "The file" = "設定ファイル";

    // Engines.
    engines: "Engines" = "エンジン";
    name_or_tag: "Name or tag" = "名前・タグ";
    engine_is_ready: "ready" = "使用可能";
    engine_lacks_a_file: "lacks a file" = "ファイルなし";
    no_engine_yet: "There is no engine yet." = "まだエンジンがありません。";
    library_is_faulty: "The file `engines.toml` is faulty:" = "`engines.toml` に誤りがあります:";
    add_engines: "Add engines" = "エンジンを追加";
    add: "Add" = "追加";
    path_of_program: "Path of a program" = "プログラムのパス";
    engines_were_added(names: &str): "Added: {names}." = "追加しました：{names}。";
    what_answers: "An engine answers on USI. A program with a window or for another protocol does not: take the one that was made for USI." =
        "エンジンは USI プロトコルで応答します。画面を持つプログラムや他のプロトコル用のものではなく、USI 用のプログラムを選んでください。";
    what_delete_does: "Its file and its games go to the directory `bin`, from where they can be brought back." =
        "設定ファイルと対局は `bin` フォルダーに移ります。そこから元に戻せます。";
    all_engines_play: "Every engine of the library plays here: one that is added there can join." = "登録エンジンはすべて参加しています。新しく登録すると、ここで追加できます。";
    lost_by_failure(games: usize): "Lost by time or by a fault: {games}" = "時間切れや不具合による負け：{games}局";
    no_new_game_begins: "paused: no new game begins" = "一時停止中";
    two_engines_play: "two engines play here: choose two" = "対局するエンジンは2つです。2つ選んでください。";
    engine_was_removed(name: &str): "`{name}` was taken out of the library; its program stays." = "`{name}` を一覧から外しました。プログラムは残ります。";
    folder: "Folder" = "フォルダー";
    open_folder: "Open" = "開く";
    folder_above: "one folder up" = "一つ上のフォルダー";
    no_program_here: "No program lies in this folder." = "このフォルダーにプログラムはありません。";
    choose_programs: "Each program that is chosen is started to read its name and its options." = "選んだプログラムを起動して、名前とオプションを読み取ります。";
    add_chosen: "Add what is chosen" = "選んだものを追加";
    first_of_folder(most: usize): "Only the first {most} entries are shown." = "最初の{most}件だけを表示しています。";
    calls_itself: "Calls itself" = "エンジン名";
    author: "Author" = "作者";
    engine_says_nothing: "It does not answer as an engine does:" = "エンジンとして応答しません:";
    note: "Note" = "メモ";
    tags_column: "Tags" = "タグ";
    tags: "Tags, with commas between" = "タグ（カンマ区切り）";
    arguments: "Arguments, one on each line" = "引数（1行に1つ）";
    working_directory: "Directory; empty: that of the program" = "作業フォルダー（空欄：プログラムのある場所）";
    thinks_on_others_time: "thinks on the opponent's time" = "相手の手番中にも考える（先読み）";
    inactive: "not offered" = "一覧に出さない";
    options: "Options" = "オプション";
    changed: "changed" = "変更済み";
    back_to(usual: &str): "Default: {usual}" = "既定値に戻す：{usual}";
    only_changed: "only what is changed" = "変更したものだけ";
    filter_options: "Filter options" = "オプションを絞り込む";
    choose_file: "Choose…" = "選ぶ…";
    choose_this_folder: "Choose this folder" = "このフォルダーを選ぶ";
    machine_meter(games: usize, cores: usize): "{games} running, {cores} cores" = "{cores}コアで{games}局進行中";
    not_declared: "the engine does not declare it" = "エンジンが宣言していません";
    save: "Save" = "保存";
    saved: "Saved." = "保存しました。";
    remove_from_library: "Take out" = "一覧から外す";
    check_engine: "Check it" = "検査する";
    what_check_does: "The check puts the engine through what a tournament asks of it, and takes a minute or two." =
        "大会で求められる動作を一通り確かめます。1〜2分かかります。";
    last_check: "Last check" = "前回の検査";
    what_removing_does: "Events keep their own copy of it, and its program stays." = "大会の設定とプログラムは残ります。";
    check_of(name: &str): "Check of {name}" = "{name} の検査";
    check_ended(faults: usize, warnings: usize): "Faults: {faults}. Warnings: {warnings}." = "不具合：{faults}、警告：{warnings}";
    verdict_pass: "pass" = "合格";
    verdict_note: "note" = "参考";
    verdict_warn: "warning" = "警告";
    verdict_fault: "fault" = "不具合";
    conversation: "conversation" = "やり取り";

    // New events.
    new_event: "New event" = "新しい大会";
    kind_match: "Match" = "対戦";
    about_match: "Two engines play a number of games, and the report says how much stronger one is." =
        "二つのエンジンが決まった数の対局を行い、どちらがどれだけ強いかを示します。";
    kind_sprt: "SPRT" = "SPRT（逐次検定）";
    about_sprt: "Is the new build stronger? Games are played until the answer is known." =
        "新しい版は強くなったか。答えが出るまで対局を続けます。";
    kind_league: "League" = "総当たりリーグ";
    about_league: "Everybody meets everybody." = "全員が互いに対局します。";
    kind_gauntlet: "Gauntlet" = "ガントレット";
    about_gauntlet: "One engine meets all others." = "一つのエンジンが他の全員と対局します。";
    kind_swiss: "Swiss" = "スイス式";
    about_swiss: "Rounds of players with like scores: many players, few rounds." = "成績の近い相手と組み合わせます。参加者が多く、回戦数を抑えたい大会に向いています。";
    kind_knock_out: "Knock-out" = "トーナメント";
    about_knock_out: "Who loses an encounter is out." = "負けた側が敗退します。";
    name_of_event: "Name of the event" = "大会名";
    new_engine: "New: is it stronger?" = "新（こちらが強いか）";
    old_engine: "than the old one" = "旧";
    one_engine: "One engine" = "エンジン1";
    other_engine: "The other" = "エンジン2";
    summary: "What it will be" = "概要";
    summary_when_right: "These fields do not make an event yet." = "まだ大会になっていません。項目を確認してください。";
    so_many_games(games: u64): "{games} games" = "{games}局";
    lasts_about(hours: u64, minutes: u64, plies: u32): "about {hours} h {minutes} min, if a game has {plies} moves and the players use their time" =
        "約{hours}時間{minutes}分（1局{plies}手で持ち時間を使った場合）";
    lasts_minutes(minutes: u64, plies: u32): "about {minutes} min, if a game has {plies} moves and the players use their time" =
        "約{minutes}分（1局{plies}手で持ち時間を使った場合）";
    number_of_rounds: "Rounds" = "回戦数";
    stops_by_itself: "It stops by itself when the result is clear." = "結果がはっきりした時点で自動的に終わります。";
    precision_to_expect: "Precision to expect" = "見込まれる誤差";
    challenger: "Challenger" = "挑戦者";
    clock: "Clock" = "持ち時間";
    minutes_for_all_moves: "Minutes for all moves" = "持ち時間（分）";
    each_move: "and for each move" = "さらに1手ごとに";
    byoyomi_choice: "seconds of its own (byoyomi)" = "秒読み（秒）";
    increment_choice: "seconds that are added (Fischer)" = "加算（秒）";
    nodes_choice: "nodes, and no clock" = "ノード数（時計なし）";
    so_many: "How many" = "秒数・ノード数";
    another_clock: "Another clock, as files write it: `1h delay 1s`, `depth 9`" = "ほかの持ち時間（設定ファイルの書き方）：`1h delay 1s`、`depth 9`";
    clock_of_all_moves(time: &str): "{time} for all moves" = "持ち時間{time}";
    clock_of_a_move(time: &str): "{time} for each move" = "1手{time}の秒読み";
    clock_of_a_move_afterwards(time: &str): "then {time} for each move" = "切れたら1手{time}の秒読み";
    clock_added(time: &str): "{time} more for each move" = "1手ごとに{time}加算";
    clock_not_charged(time: &str): "the first {time} of each move free" = "各手の最初の{time}は消費なし";
    clock_fixed(time: &str): "exactly {time} for each move" = "1手{time}固定";
    clock_of_nodes(nodes: u64): "{nodes} nodes for each move" = "1手{nodes}ノード";
    clock_of_plies(plies: u32): "each move {plies} plies deep" = "1手深さ{plies}";
    games_of_encounter: "Games of an encounter" = "一組の対局数";
    as_many_as_cores_carry: "as many as the cores carry" = "コア数に合わせる";
    draw_after: "Drawn after so many plies" = "引き分けにする手数";
    elo_of_h0: "Not stronger (H0): a gain of at most" = "強くなっていない（H0）：差はこれ以下";
    elo_of_h1: "Stronger (H1): a gain of at least" = "強くなった（H1）：差はこれ以上";
    what_a_test_answers: "In normalized Elo. Games go on until one of the two is the case: the new engine is not stronger (H0), or it is (H1). Either answer is wrong at most 5 times in 100." =
        "単位は正規化Eloです。新しいエンジンが「強くなっていない」（H0）か「強くなった」（H1）か、どちらかが分かるまで対局します。どちらの答えも、誤る確率は最大5 %です。";
    more_rules: "More rules" = "その他の規定";
    drawn_games: "Drawn games" = "引き分け・千日手";
    draws_count: "count as half a win" = "0.5勝とする";
    draws_again_same: "are played again, with the same colours" = "同じ手番で指し直し";
    draws_again_swapped: "are played again, with colours swapped" = "先後を入れ替えて指し直し";
    level_encounter: "A level encounter" = "引き分けた組";
    higher_seed_goes_on: "the higher seed goes on" = "シード上位が勝ち上がり";
    more_games_decide: "more games decide" = "延長戦で決める";
    knock_out_final: "A knock-out of the best" = "決勝トーナメント";
    no_final: "none: the table decides" = "なし（順位表で決定）";
    final_of_two: "a final of the first two" = "上位2者の決勝戦";
    final_of_four: "the first four" = "上位4者";
    final_of_eight: "the first eight" = "上位8者";
    order_of_the_level: "Players with equal points" = "同点の順位";
    tie_breaks_as_usual: "as usual for this kind" = "形式に応じた標準の順";
    tie_breaks_direct: "who won between them" = "直接対決を優先";
    tie_breaks_of_japan: "as in events in Japan: Solkoff, SB, median" = "国内大会と同様（ソルコフ、SB、ミディアン）";
    hash_tables: "Hash tables" = "ハッシュ";
    megabytes_of(most: u64, free: u64): "{most} of {free} MB that are free" = "{most} MB（空き {free} MB）";
    more_cores_than_there_are(needed: u64, usable: usize): "The games at once need {needed} cores, and this machine has {usable}: fewer games at once, or fewer threads." =
        "同時対局に{needed}コア必要ですが、このマシンは{usable}コアです。同時対局数かスレッド数を減らしてください。";
    more_memory_than_there_is(most: u64, free: u64): "The hash tables of the games at once take {most} MB, and {free} MB are free." =
        "同時対局のハッシュに {most} MB 必要ですが、空きは {free} MB です。";
    games_repeat_without_openings: "All games begin from the start position: engines that always answer alike play the same game again." =
        "すべて初期局面から始まるため、毎回同じ手を指すエンジン同士では同じ対局が繰り返されます。";
    openings_repeat(pairs: u64, count: u64): "There are {pairs} pairs of games and {count} openings: openings come again." =
        "{pairs}組の対局に対して開始局面は{count}個のため、同じ局面が繰り返されます。";
    other_move_limit(engine: &str, own: u32, limit: u32): "{engine} counts on a draw at move {own}, this event at {limit}: set its `MaxMovesToDraw`." =
        "{engine} は{own}手で引き分けと判断しますが、この大会は{limit}手です。`MaxMovesToDraw` を合わせてください。";
    openings: "Openings" = "開始局面";
    openings_of_a_file: "or those of a file" = "または局面集のファイル";
    openings_built_in: "20,000 openings that come with Renmei" = "Renmei 内蔵の20,000局面";
    openings_none: "every game from the start position" = "すべて初期局面から";
    ends_decided_games: "end a game early that both engines see as decided" = "両エンジンが勝敗を認めた対局は早く終える";
    begin: "Begin" = "開始";
    keep_for_later: "Keep for later" = "保存して後で開始";
    show_text: "Show the file" = "設定ファイルを見る";
    begin_with_text: "Begin with this file" = "この内容で開始";

    // Events whose games others begin.
    kind_guests: "A league for guests" = "ゲスト参加のリーグ";
    about_guests: "Programs of others log in here and play each other." = "他の人の対局プログラムがここにログインして対局します。";
    kind_floodgate: "Floodgate" = "floodgate に参加";
    about_floodgate: "One engine plays on floodgate, or on another server, for as long as it is left there." =
        "一つのエンジンを floodgate などのサーバーで対局させ続けます。";
    name_of_league: "Name: letters, digits, `_`, `-`, `.`" = "リーグ名（英数字と `_` `-` `.`）";
    who_reaches_it: "Who reaches it" = "接続できる範囲";
    everybody_in_the_house: "everybody in this network" = "同じネットワークのマシン";
    this_machine_alone: "this machine alone" = "このマシンだけ";
    who_may_log_in: "Who may log in" = "ログインできる人";
    those_with_account: "those with an account, made here later" = "アカウントのある人（後でここで作成）";
    those_invited: "the names below" = "下に挙げた名前の人";
    anybody_at_all: "anybody" = "誰でも";
    names_invited: "Names, with commas between, where only those may log in who are invited" = "招待する名前（招待制のみ。カンマ区切り）";
    how_games_begin: "How games begin" = "対局の始まり方";
    by_agreement: "when two ask for the same game" = "同じ対局名を指定した2人がそろったとき";
    by_rounds: "in rounds, by the clock" = "定刻に一斉に";
    game_of_rounds: "Game of the rounds, with its clock: `floodgate-600-10F`" = "定刻の対局名と持ち時間：`floodgate-600-10F`";
    minutes_of_rounds: "Minutes of the hour at which rounds begin" = "開始する時刻（毎時の分）";
    engine_that_plays: "Engine" = "参加するエンジン";
    name_on_the_server: "Name on the server" = "サーバーでの名前";
    secret_of_your_own: "A secret of your own, which makes the name yours; it is kept in the event's file" =
        "名前を自分のものにする秘密の文字列（設定ファイルに保存されます）";
    name_of_the_game: "Game, with its clock" = "対局名（持ち時間を含む）";
    in_extended_mode: "extended mode: the server sends the ratings of opponents, and a login lasts for many games" =
        "拡張モード（サーバーから相手のレートを受け取り、ログインしたまま対局を続ける）";
    games_until_over: "Games; empty: until it is stopped" = "対局数（空欄：停止するまで）";

    // Guests.
    guests: "Guests" = "ゲスト";
    guests_when_begun: "It does not run: nobody can log in before it is begun." = "停止中です。開始するまでログインできません。";
    game_begins_when_two_ask: "A game begins as soon as two who are here ask for the same game and agree to it." = "接続中の2人が同じ対局名を指定して合意すると、すぐに対局が始まります。";
    event_awaits_games: "waits for a game" = "対局待ち";
    is_absent: "not here" = "未接続";
    another_password: "Another password" = "パスワードを変更";
    remove_guest: "Remove" = "削除";
    password_or_none: "Password; empty: one is made" = "パスワード（空欄：自動で作成）";
    let_in: "Let in" = "追加";
    lines_for_guests: "What a guest needs" = "ゲストに伝える内容";
    password_is_shown_once: "The password is shown once: copy these lines now." = "パスワードが表示されるのは一度だけです。今のうちに控えてください。";
    only_this_machine_comes_in: "Only programs on this machine reach it: the address of `listen` says so." =
        "このマシンのプログラムだけが接続できます（設定ファイルの `listen`）。";
    entrants_show_their_secret: "The entrants of the file may log in; the secret that a name shows first is its own until the end." =
        "設定ファイルの参加者がログインできます。最初に示した秘密の文字列が、終了までその名前のものになります。";
    guest_was_removed(name: &str): "{name} may log in no longer." = "{name} はログインできなくなりました。";
    test_game: "A test game" = "テスト対局";
    what_test_game_does(name: &str): "An engine of the library logs in as the guest `{name}` and waits for an opponent: one game." =
        "登録エンジンがゲスト `{name}` としてログインし、相手を待って1局指します。";
    test_game_waits(event: &str): "`{event}` logs in and waits for an opponent." = "`{event}` がログインして相手を待ちます。";
    nobody_is_invited: "the file has no list `invited` in `[serve]`" = "設定ファイルの `[serve]` に `invited` がありません。";

    disk_is_nearly_full(free: u64, kept: u64): "The disk is nearly full: {free} MB are free, and no game begins with fewer than {kept} MB." =
        "ディスクの空きが残り {free} MB です。{kept} MB 未満では新しい対局を始めません。";


    // An engine on a server.
    on_the_server: "On the server" = "サーバーでの様子";
    boards_and_evaluations: "Boards and evaluations" = "盤面と評価値";
    keep_it_awake: "Keep this machine awake: a machine that sleeps loses its connection, and with it the game." =
        "このマシンをスリープさせないでください。接続が切れ、対局に負けます。";
    seat_rests: "stopped" = "停止中";
    seat_arrives: "starts the engine and logs in" = "エンジンを起動してログインしています";
    seat_waits: "connected, waits for a game" = "接続中、対局待ち";
    seat_plays: "connected, plays" = "接続中、対局中";
    seat_is_away: "not connected, logs in again after a while" = "切断中、しばらくして再接続します";
    next_round: "Next round" = "次の対局開始";
    in_so_long(minutes: i64, seconds: i64): "in {minutes} min {seconds} s" = "あと{minutes}分{seconds}秒";
    reconnections: "Connections that failed" = "接続の失敗";
    public_rating: "public rating" = "公開レート";
    certificate: "Certificate" = "結果の証明";
    what_a_certificate_is: "It covers every game: `renmei verify` compares it with the database, so that nobody changes a result afterwards unseen." =
        "全対局の記録から作られる値です。`renmei verify` でデータベースと照合でき、後からの改変がわかります。";
}
