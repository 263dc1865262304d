//! The desk.

use crate::messages;

messages! {
    // The gate.
    desk_is_another_browsers: "This desk lets in the browser that its owner has opened it with. Open it by `renmei desk` or its icon." =
        "このデスクは持ち主が開いたブラウザでのみ使えます。`renmei desk` かアイコンから開いてください。";
    link_was_used: "This link was used before: it leads in once. Open the desk by `renmei desk` or its icon." =
        "このリンクは一度しか使えません。`renmei desk` かアイコンから開き直してください。";
    to_the_desk: "To the desk" = "デスクへ";

    // Home.
    home: "Home" = "ホーム";
    files_are_faulty: "A file of the desk is faulty; mend it by hand:" = "デスクのファイルに誤りがあります。手で直してください:";
    first_add_engines: "A league needs two engines. Add those that you have." = "大会には二つ以上のエンジンが必要です。お持ちのエンジンを追加してください。";
    events_that_run: "Running" = "進行中";
    events_that_wait: "Stopped" = "停止中";
    events_that_are_over: "Over" = "終了";
    games_count: "games" = "局";
    so_many_run(running: usize): "{running} running" = "{running}局進行中";
    finish_games: "Stop after the running games" = "対局中のものを終えて停止";
    adjourn_games: "Stop now" = "今すぐ停止(指し掛け)";
    begin_or_go_on: "Begin or go on" = "開始・再開";
    copy: "Copy" = "複製";
    publish: "Publish" = "結果を公開";
    plain_text: "Plain text" = "テキスト";
    change: "Change" = "変更";
    games_at_once_short: "Games at once" = "同時対局数";
    games_at_once_now(name: &str, most: usize): "`{name}`: at most {most} games at once." = "`{name}`: 同時に{most}局まで";
    games_are_a_number: "give a number of games from 1 to 10000" = "対局数は1から10000までの数で入力してください。";
    like_event(name: &str): "like `{name}`" = "`{name}` をもとに";
    same_file_again: "The same file again" = "同じ設定ファイルでもう一度";
    quit: "Quit" = "終了する";
    closing_the_page_ends_nothing: "Closing this page ends nothing: games go on. Events that run now go on when the desk is opened again." =
        "このページを閉じても対局は続きます。終了しても、進行中の大会は次にデスクを開いたときに再開します。";
    quit_after_games: "Quit after the running games" = "対局中のものを終えてから終了";
    quit_at_once: "Quit now" = "今すぐ終了(指し掛け)";
    desk_ends: "The desk ends: no new game begins." = "デスクを終了します。新しい対局は始まりません。";
    begin_desk_again: "Open it again by `renmei desk` or its icon; every event goes on where it was." =
        "`renmei desk` かアイコンから開き直すと、どの大会も続きから再開します。";
    this_machine: "This machine" = "このマシン";
    machine_is_ready: "This machine is ready for events." = "このマシンで大会を開けます。";
    machine_lacks_something: "This machine lacks something; each row says the command that mends it." =
        "不足しているものがあります。各行に対処のコマンドを示します。";

    // Orders about events.
    event_begins(name: &str): "`{name}` begins." = "`{name}` を始めます。";
    event_is_kept(name: &str): "`{name}` is kept, and waits to be begun." = "`{name}` を保存しました。開始を待っています。";
    event_finishes(name: &str): "`{name}` stops when its running games are over." = "`{name}` は対局中のものが終わると停止します。";
    event_is_adjourned(name: &str): "`{name}` stops; its running games are adjourned." = "`{name}` を停止し、対局を指し掛けにします。";
    event_is_in_bin(name: &str, bin: &str): "`{name}` was deleted; its files are in {bin}." = "`{name}` を削除しました。ファイルは {bin} にあります。";
    stop_it_first: "it is played, or about to be: stop it first" = "進行中または準備中です。先に停止してください。";
    no_such_event: "there is no such event" = "その大会はありません。";
    change_counts_when_begun: "A change counts from the next time that the event is begun; rules of games that were played cannot be changed." =
        "変更は次に大会を開始したときから有効です。すでに指された対局の規定は変えられません。";
    text_of_event: "The file" = "設定ファイル";

    // Engines.
    engines: "Engines" = "エンジン";
    no_engine_yet: "There is no engine yet." = "まだエンジンがありません。";
    library_is_faulty: "The file `engines.toml` is faulty:" = "`engines.toml` に誤りがあります:";
    add_engines: "Add engines" = "エンジンを追加";
    add: "Add" = "追加";
    path_of_program: "Path of a program" = "プログラムのパス";
    engines_were_added(names: &str, silent: usize): "Added: {names}. Programs that did not answer as an engine does: {silent}." =
        "追加しました: {names}。エンジンとして応答しなかったプログラム: {silent}";
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
    tags: "Tags, with commas between" = "タグ(カンマ区切り)";
    arguments: "Arguments, one on each line" = "引数(1行に1つ)";
    working_directory: "Directory; empty: that of the program" = "作業フォルダー(空欄: プログラムのある場所)";
    thinks_on_others_time: "thinks on the opponent's time" = "相手の手番中にも考える(先読み)";
    inactive: "not offered" = "一覧に出さない";
    options: "Options" = "オプション";
    changed_from(usual: &str): "changed; the engine's own: {usual}" = "変更済み(既定値: {usual})";
    not_declared: "the engine does not declare it" = "エンジンが宣言していません";
    save: "Save" = "保存";
    saved: "Saved." = "保存しました。";
    remove_from_library: "Take out" = "一覧から外す";
    check_engine: "Check it" = "検査する";
    what_check_does: "The check puts the engine through what a tournament asks of it, and takes a minute or two." =
        "大会で求められる動作を一通り確かめます。1〜2分かかります。";
    check_of(name: &str): "Check of {name}" = "{name} の検査";
    check_ended(faults: usize, warnings: usize): "Faults: {faults}. Warnings: {warnings}." = "不具合: {faults}、警告: {warnings}";
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
    kind_sprt: "SPRT" = "SPRT(逐次検定)";
    about_sprt: "Is the new build stronger? Games are played until the answer is known." =
        "新しい版は強くなったか。答えが出るまで対局を続けます。";
    kind_league: "League" = "総当たりリーグ";
    about_league: "Everybody meets everybody." = "全員が互いに対局します。";
    kind_gauntlet: "Gauntlet" = "ガントレット";
    about_gauntlet: "One engine meets all others." = "一つのエンジンが他の全員と対局します。";
    kind_swiss: "Swiss" = "スイス式";
    about_swiss: "Rounds of players with like scores: many players, few rounds." = "勝ち点の近い相手と対局します。人数が多く回戦が少ない大会に向きます。";
    kind_knock_out: "Knock-out" = "トーナメント";
    about_knock_out: "Who loses an encounter is out." = "負けた側が敗退します。";
    name_of_event: "Name of the event" = "大会名";
    candidate: "Candidate: is this one stronger?" = "検定の対象(こちらが強いか)";
    challenger: "Challenger" = "挑戦者";
    clock: "Clock: `byoyomi 10s`, `5m+2s`, `nodes 10000`" = "持ち時間: `byoyomi 10s`(秒読み)、`5m+2s`(加算)、`nodes 10000`";
    games_of_encounter: "Games of an encounter" = "一組の対局数";
    games_at_once: "Games at once; empty: as many as the cores carry" = "同時対局数(空欄: コア数に合わせる)";
    draw_after: "Drawn after so many plies" = "引き分けにする手数";
    elo_of_h0: "H0: no stronger than (Elo)" = "H0: 強さの差はこれ以下 (Elo)";
    elo_of_h1: "H1: as strong as (Elo)" = "H1: 強さの差はこれ以上 (Elo)";
    openings: "Openings: `built-in`, `none`, or the path of a file" = "開始局面: `built-in`(内蔵)、`none`(初期局面)、またはファイルのパス";
    openings_built_in: "20,000 openings that come with Renmei" = "Renmei 内蔵の20,000局面";
    openings_none: "every game from the start position" = "すべて初期局面から";
    ends_decided_games: "end a game early that both engines see as decided" = "両エンジンが勝敗を認めた対局は早く終える";
    begin: "Begin" = "開始";
    keep_for_later: "Keep for later" = "保存して後で開始";
    show_text: "Show the file" = "設定ファイルを見る";
    begin_with_text: "Begin with this file" = "この内容で開始";
}
