//! The rooms of the desk in which games are studied and shown to others.

use crate::messages;

messages! {
    // Jobs.
    jobs: "Jobs" = "処理";
    no_job_yet: "Nothing long was begun yet: checks, explanations, analyses and searches are listed here." =
        "まだ処理はありません。検査・敗因調査・棋譜解析・局面検索がここに並びます。";
    no_such_job: "there is no such job: the list keeps the latest" = "その処理はありません。一覧に残るのは新しいものだけです。";
    job_runs: "It runs; this page follows it." = "実行中です。このページは自動で更新されます。";
    job_runs_so_far(done: usize, of: usize): "{done} of {of}; this page follows it." = "{of}件中{done}件。このページは自動で更新されます。";
    job_is_done: "Done." = "終わりました。";
    job_failed: "It could not be done:" = "できませんでした:";
    job_was_stopped: "Stopped." = "中止しました。";
    stop_job: "Stop it" = "中止する";

    // Why engines lost.
    why_it_lost: "Why it lost" = "敗因を調べる";
    what_explaining_does: "An engine searches the lost games again and finds the move after which each was lost; then the loser searches there with more nodes. While games are played, one core is used." =
        "負けた対局をエンジンで読み直し、どの手で負けになったかを調べます。さらに負けた側のエンジンにその局面を多めのノード数で読ませます。対局中は1コアだけを使います。";
    whose_losses: "Losses of" = "負けた対局者";
    last_losses: "The last so many losses" = "調べる局数（新しい順）";
    losses_are_a_number(most: usize): "give a number of losses from 1 to {most}" = "局数は1から{most}までの数で入力してください。";
    own_judge: "renmei-pairwise, which comes with Renmei" = "renmei-pairwise（Renmei 付属）";
    losses_of(player: &str, event: &str): "Losses of {player} in `{event}`" = "`{event}` での {player} の敗因";
    cause_of_loss: "Cause" = "敗因";
    losses: "Losses" = "敗局";
    phase_of_game: "Phase" = "段階";
    expected_score: "Expected score" = "期待勝率";
    ply: "Ply" = "手数";
    played_move: "Played" = "指し手";
    better_move: "Better" = "最善手";
    lost_by_time: "too short a search" = "読みの時間不足";
    lost_by_horizon: "too few nodes" = "読みの深さ不足";
    lost_by_evaluation: "evaluation" = "形勢判断の誤り";
    lost_by_book: "opening book" = "定跡";
    lost_by_rules: "rules" = "規定";
    lost_by_fault: "fault of the program" = "プログラムの不具合";
    lost_by_a_move: "a move; the loser was not searched again" = "悪手（本人での読み直しなし）";
    opening_phase: "Opening" = "序盤";
    middlegame: "Middlegame" = "中盤";
    endgame: "Endgame" = "終盤";

    // Studies.
    study: "Study" = "研究";
    drop_a_file: "Drop a record or a database here, or choose one: its board opens at once" = "棋譜かデータベースをここにドロップするか選択してください。すぐに盤面が開きます";
    open_file: "Open" = "開く";
    new_board: "New board" = "新しい盤面";
    edit_position: "Edit the position" = "局面を編集";
    study_is_empty: "There is no database and no record yet: drop one above, or copy files into the folder `study`." = "まだデータベースも棋譜もありません。上にドロップするか、`study` フォルダーにファイルを置いてください。";
    files_of_study: "Records and databases" = "棋譜とデータベース";
    all_games_by_rating: "Over all events:" = "全大会:";
    position_to_find: "A position in all games: SFEN, or moves in USI such as `7g7f 3c3d`" = "全対局から局面検索：SFEN、または `7g7f 3c3d` のようなUSIの指し手";
    not_a_position: "this is no position: give SFEN of one that can arise in a game, or legal moves in USI" = "局面として読めません。対局で現れうる局面のSFENか、合法なUSIの指し手を入力してください。";
    too_many_moves(most: usize): "a board shows games of {most} moves at most" = "盤面に表示できるのは{most}手までです。";
    not_a_legal_move(word: &str): "`{word}` is no legal move here" = "`{word}` はこの局面で指せる手ではありません。";
    file: "File" = "ファイル";
    what_is_taken_in(most: usize): "CSA, KIF, KI2, JKF, USI, or a database of Renmei, up to {most} MiB. A file that is there stays as it is." =
        "CSA・KIF・KI2・JKF・USI 形式の棋譜、または Renmei のデータベース（{most} MiB まで）。既にあるファイルは上書きしません。";
    not_a_record_file(name: &str): "`{name}` is not the name of a database or of a record: .db, .csa, .kif, .kifu, .ki2, .jkf, .usi, .sfen" =
        "`{name}` はデータベースや棋譜のファイル名ではありません：.db、.csa、.kif、.kifu、.ki2、.jkf、.usi、.sfen";
    not_a_database(name: &str): "`{name}` is not a database" = "`{name}` はデータベースではありません。";
    file_is_there(name: &str): "`{name}` is there already, and nothing was written: rename the file" = "`{name}` は既にあります。何も書いていません。名前を変えてください。";
    file_is_too_large(most: usize): "the file is larger than {most} MiB: copy it into the folder `study` by hand" = "ファイルが{most} MiB を超えています。`study` フォルダーに直接置いてください。";
    no_file: "no file was chosen" = "ファイルが選ばれていません。";
    file_was_taken_in(key: &str): "`{key}` was taken in." = "`{key}` を取り込みました。";
    nothing_was_kept(name: &str, why: &str): "`{name}` cannot be read, and nothing was written: {why}" = "`{name}` を読めないため、何も書いていません：{why}";
    read_record: "Make its games searchable" = "対局を検索できるようにする";
    read_all_records: "Make all records searchable" = "すべての棋譜を検索できるようにする";
    what_reading_does: "The games come into one list, by player, result and opening, and a position is found in them." = "対局を対局者・結果・序盤で絞り込める一覧にまとめ、局面検索の対象にします。";
    reading_of(key: &str): "Reading of `{key}`" = "`{key}` の読み込み";
    records_were_read(read: usize, known: usize, faults: usize): "Games: {read} read in, {known} known before, {faults} unreadable." =
        "対局：読み込み{read}局、既知{known}局、読めないもの{faults}件";
    records_of_file(games: usize): "{games} games" = "{games}局";
    first_records(most: usize): "The first {most} are shown: make its games searchable to see all." = "先頭{most}局を表示しています。すべて見るには検索できるようにしてください。";
    games_not_opened: "the games could not be opened; the terminal says why" = "対局を開けませんでした。理由は端末に表示されています。";
    search_of_position(position: &str): "Search for {position}" = "局面検索 {position}";
    found_in_games(found: usize, games: u64): "Found in {found} of {games} games." = "{games}局中{found}局で見つかりました。";
    after_moves(moves: usize): "after {moves} moves" = "{moves}手目";

    // One game.
    study_game: "Study this game: analyze, play from here, find a position" = "この対局を研究する（解析・ここから対局・局面検索）";
    board_at(ply: usize, of: usize): "Board at ply {ply} of {of}" = "{of}手中{ply}手目の盤面";
    move_to_try: "A move" = "指し手";
    try_move: "Try it" = "指してみる";
    promotion: "Promotion" = "成り";
    promotes: "Promote" = "成る";
    promotes_not: "Do not" = "成らない";
    main_line: "Game" = "本譜";
    record_before: "‹ game before" = "‹ 前の対局";
    record_after: "next game ›" = "次の対局 ›";
    without_result: "no result" = "勝敗なし";
    copy_as(format: &str): "Copy {format}" = "{format}をコピー";
    keep_as_record: "Keep as a record" = "棋譜として保存";
    record_was_kept(key: &str): "Kept as `{key}`." = "`{key}` に保存しました。";
    find_position: "Find this position in all games" = "この局面を全対局から探す";
    play_from_here: "Two engines play from here" = "ここからエンジン同士で対局";
    to_the_form: "To the form of the match" = "対戦の設定へ";
    analyze_game: "Analyze all moves" = "全指し手を解析";
    nodes_of_position: "Nodes for a position" = "1局面のノード数";
    nodes_are_a_number: "give a number of nodes from 1 to 1000000000" = "ノード数は1から1000000000までの数で入力してください。";
    analysis_of(game: &str, engine: &str): "Analysis of `{game}` by {engine}" = "`{game}` の解析（{engine}）";
    record_was_written(key: &str): "The record with these opinions is {key} in the folder of the desk." = "解析結果付きの棋譜を、デスクのフォルダーの {key} に保存しました。";
    to_the_board: "Look at it on the board" = "盤面で見る";

    // What an engine thinks of a position.
    own_engine: "renmei-pairwise" = "renmei-pairwise（付属）";
    engine_to_ask: "Engine" = "エンジン";
    thinking_time: "Time" = "時間";
    analyze_here: "Analyze here" = "この局面を解析";
    search_mate: "Mate search" = "詰み探索";
    thinking_time_is_a_choice: "choose one of the times" = "時間は一覧から選んでください。";
    thoughts_of(engine: &str): "{engine} thinks" = "{engine} の考慮";
    too_many_questions(most: usize): "{most} engines think already: stop one of them, or wait for it" = "すでに{most}つのエンジンが考慮中です。どれかを中止するか、終わるまで待ってください。";
    mate_was_found(moves: usize): "Mate in {moves}" = "{moves}手詰";
    there_is_no_mate: "There is no mate." = "不詰です。";
    no_mate_in_time: "No mate was found in this time." = "時間内に詰みは見つかりませんでした。";
    engine_searches_no_mate: "This engine has no mate search; Analyze shows a mate that it comes upon." = "このエンジンには詰み探索がありません。解析でも詰みが見つかれば表示されます。";
    engine_resigns: "The engine resigns." = "エンジンは投了します。";
    engine_declares: "The engine declares a win." = "エンジンは入玉宣言をします。";
    depth_of(depth: u32): "depth {depth}" = "深さ{depth}";
    nodes_of(nodes: &str): "{nodes} nodes" = "{nodes}ノード";

    // A game of the person at the browser.
    no_move_is_left: "no move can be played in this position: the game would be over before it begins" =
        "この局面には指せる手がありません。対局は始まる前に終わってしまいます。";
    play_against_engine: "Play against an engine" = "エンジンと対局する";
    your_side: "You are" = "あなたの手番";
    seconds_after_them: "Seconds for a move afterwards" = "その後の1手の秒数";
    begin_game: "Begin the game" = "対局開始";
    you: "You" = "あなた";
    game_against(engine: &str): "You and {engine}" = "あなたと{engine}";
    nobody_plays_here: "nobody plays by hand in this event" = "この大会には人の対局者がいません。";
    game_is_awaited: "The game begins as soon as there is a place for it." = "空きができしだい対局が始まります。";
    your_turn: "your turn" = "あなたの手番です";
    opponent_thinks: "the engine thinks" = "エンジンの考慮中です";
    not_your_turn: "the game has gone on meanwhile, or it is not your turn: look at the board again" = "対局が進んだか、あなたの手番ではありません。盤面をもう一度確認してください。";
    you_won: "you won" = "あなたの勝ち";
    you_lost: "you lost" = "あなたの負け";
    play_move: "Play it" = "指す";
    resign_game: "Resign" = "投了";
    resigning_ends_the_game: "The game ends, and you have lost it." = "対局が終わり、あなたの負けになります。";
    declare_win: "Declare a win" = "入玉宣言";
    declaration_stands(pieces: i32, points: i32, needed: i32): "It wins with {needed} points, 10 pieces beside the king in the camp, and no check. You have {points} points and {pieces} pieces there." =
        "{needed}点以上で、敵陣に玉以外の駒が10枚以上あり、王手がかかっていなければ勝ちです。現在は{points}点、敵陣の駒は{pieces}枚です。";
    declaration_would_lose: "a declaration would lose now: its conditions are not met" = "宣言の条件を満たしていないため、今宣言すると負けになります。";
    clock_of_person(minutes: u32, seconds: u32): "give from 0 to {minutes} minutes for all moves and from 0 to {seconds} seconds for a move afterwards, and not 0 of both" =
        "持ち時間は0〜{minutes}分、その後の1手は0〜{seconds}秒で、少なくとも一方を0より大きくしてください。";
    play_again_like_this: "Play again" = "もう一局";
    play_again_swapped: "Play again, colours swapped" = "先後を替えてもう一局";
    study_this_game: "Study this game" = "この対局を研究";
    kept_like_every_game: "Choose a piece, then its square. The game is refereed and kept like every game; your clock runs while you think, also when this page is closed." =
        "駒を選び、移動先を選んでください。対局は通常の対局と同じく審判され保存されます。ページを閉じても持ち時間は減ります。";

    // The editor of positions.
    position_in_sfen: "Position as SFEN" = "局面（SFEN）";
    start_position: "Begin with" = "元の局面";
    take_position: "Take" = "並べる";
    study_position: "To the board" = "この局面を研究";
    editor_is_used_so: "Choose a piece, then a square or a hand. A piece on the board is turned by choosing it twice." = "駒を選び、升または駒台を選びます。盤上の駒は2回選ぶと成・向きが変わります。";
    black_moves: "Black (☗) to move" = "先手（☗）の手番";
    white_moves: "White (☖) to move" = "後手（☖）の手番";
    empty_board: "Empty board" = "空の盤";

    // Publishing.
    public_page: "Public page" = "公開ページ";
    what_public_page_is: "Boards, table and games for everybody in the house or in the hall; nothing of the desk is on it." =
        "盤面・順位表・棋譜を、同じネットワークの誰でも見られるページです。デスクの操作は含まれません。";
    open_public_page: "Open it" = "公開する";
    close_public_page: "Close it" = "公開を終える";
    port_is_a_number: "give a port from 1024 to 65535" = "ポートは1024から65535までの数で入力してください。";
    port_is_taken(port: u16): "another program uses port {port}; take another one" = "ポート{port}は別のプログラムが使っています。別の番号にしてください。";
    round_is_a_number: "a round is a number from 1" = "回戦は1以上の数で指定してください。";
    public_page_is_open: "The file of the event has the address of its public page." = "公開ページのアドレスを大会のファイルに書きました。";
    public_page_is_not_open_yet: "Nobody answers at this address yet: the page opens with the event." = "このアドレスにはまだ接続できません。公開ページは大会が始まると開きます。";
    public_page_is_closed: "The public page is closed." = "公開ページを閉じました。";
    address_as_picture: "Its address as a QR code" = "アドレスのQRコード";
    no_network_here: "This machine has no network now, so that nobody else reaches the page." = "このマシンは今ネットワークにつながっていないため、他の人は見られません。";
    records_of_games: "Records" = "棋譜";
    round_or_all: "Round; empty: all games" = "回戦（空欄：全対局）";
    record_format: "Format" = "形式";
    with_standings: "with the standings of both players at the head of each record" = "各棋譜の冒頭に両対局者の順位と成績を書く";
    download_as_zip: "Download as zip" = "ZIPでダウンロード";
    so_many_records(games: usize, most: usize): "there are {games} such games; a download has from 1 to {most}" = "該当する対局は{games}局です。一度にダウンロードできるのは1局から{most}局までです。";
    rating_of_library: "Elo over all events of this directory, with its error at 95 %" = "このフォルダーの全大会を通したElo（95 %の誤差）";
}
