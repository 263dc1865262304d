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
    study_about: "Databases and records of the directory and of its folder `study`; copy files there, or take one in below. Over all events:" =
        "フォルダーとその中の `study` にあるデータベースと棋譜です。ファイルを置くか、下から取り込んでください。全大会:";
    study_is_empty: "There is no database and no record yet." = "まだデータベースも棋譜もありません。";
    position_to_find: "Position: SFEN, or moves in USI such as `7g7f 3c3d`" = "局面：SFEN、または `7g7f 3c3d` のようなUSIの指し手";
    not_a_position: "this is no position: give SFEN, or legal moves in USI" = "局面として読めません。SFENか、合法なUSIの指し手を入力してください。";
    take_in_file: "Take in a file" = "ファイルを取り込む";
    take_in: "Take in" = "取り込む";
    file: "File" = "ファイル";
    what_is_taken_in(most: usize): "A database of Renmei, or a record in CSA, KIF, KI2, JKF or USI, up to {most} MiB. A file that is there stays as it is." =
        "Renmei のデータベース、または CSA・KIF・KI2・JKF・USI 形式の棋譜（{most} MiB まで）。既にあるファイルは上書きしません。";
    not_a_record_file(name: &str): "`{name}` is not the name of a database or of a record: .db, .csa, .kif, .kifu, .ki2, .jkf, .usi, .sfen" =
        "`{name}` はデータベースや棋譜のファイル名ではありません：.db、.csa、.kif、.kifu、.ki2、.jkf、.usi、.sfen";
    not_a_database(name: &str): "`{name}` is not a database" = "`{name}` はデータベースではありません。";
    file_is_there(name: &str): "`{name}` is there already, and nothing was written: rename the file" = "`{name}` は既にあります。何も書いていません。名前を変えてください。";
    file_is_too_large(most: usize): "the file is larger than {most} MiB: copy it into the folder `study` by hand" = "ファイルが{most} MiB を超えています。`study` フォルダーに直接置いてください。";
    no_file: "no file was chosen" = "ファイルが選ばれていません。";
    file_was_taken_in(key: &str): "`{key}` was taken in." = "`{key}` を取り込みました。";
    read_record: "Read it in" = "読み込む";
    reading_of(key: &str): "Reading of `{key}`" = "`{key}` の読み込み";
    records_were_read(read: usize, known: usize, faults: usize): "Games: {read} read in, {known} known before, {faults} unreadable." =
        "対局：読み込み{read}局、既知{known}局、読めないもの{faults}件";
    games_not_opened: "the games could not be opened; the terminal says why" = "対局を開けませんでした。理由は端末に表示されています。";
    search_of_position(position: &str): "Search for {position}" = "局面検索 {position}";
    found_in_games(found: usize, games: u64): "Found in {found} of {games} games." = "{games}局中{found}局で見つかりました。";
    after_moves(moves: usize): "after {moves} moves" = "{moves}手目";

    // One game.
    study_game: "Study this game: play from here, analyze, find a position" = "この対局を研究する（ここから指す・解析・局面検索）";
    position_after: "The position after move" = "何手目の局面か";
    find_position: "Find this position in all games" = "この局面を全対局から探す";
    play_from_here: "Play from here" = "ここから対局";
    analyze_game: "Analyze the game" = "棋譜を解析";
    nodes_of_position: "Nodes for a position" = "1局面のノード数";
    nodes_are_a_number: "give a number of nodes from 1 to 1000000000" = "ノード数は1から1000000000までの数で入力してください。";
    analysis_of(game: u64, event: &str, engine: &str): "Game {game} of `{event}` by {engine}" = "`{event}` 第{game}局の解析（{engine}）";
    record_was_written(key: &str): "The record with these opinions is {key} in the folder of the desk." = "解析結果付きの棋譜を、デスクのフォルダーの {key} に保存しました。";
    evaluation_for_black: "Eval for ☗" = "☗評価値";
    expected_line: "Expected line" = "読み筋";

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
