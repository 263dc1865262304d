//! The arbiter's pages, registration, appeals and the check of a program.

use crate::messages;

messages! {
    // Logging in.
    arbiter: "Arbiter" = "審判";
    for_those_who_run_it: "For operators and arbiters of this event. The host creates accounts with `renmei account web add NAME`." = "運営者専用のページです。アカウントはホストが `renmei account web add NAME` で作成します。";
    name: "Name" = "名前";
    password: "Password" = "パスワード";
    log_in: "Log in" = "ログイン";
    log_out: "Log out" = "ログアウト";
    role_arbiter: "arbiter" = "審判";
    role_operator: "operator" = "運営";

    // The desk.
    close: "Close" = "閉じる";
    reason_required: "Reason (on record)" = "理由（記録されます）";
    reason_optional: "Reason (may be empty)" = "理由（省略可）";
    ruled_result: "Result" = "結果";
    black_wins: "black wins" = "先手勝ち";
    white_wins: "white wins" = "後手勝ち";
    draw: "draw" = "引き分け";
    void: "void" = "無効";
    paused: "Paused: no new game begins." = "休止中：新しい対局は始まりません。";
    running: "Running." = "進行中。";
    pause: "Pause" = "休止";
    resume: "Resume" = "再開";
    open_registration: "Open the registration" = "受付を開く";
    close_registration: "Close the registration" = "受付を閉じる";
    announce: "Announce" = "お知らせ";
    words_for_everybody: "Words for everybody" = "全員への文面";
    running_games: "Running games" = "対局中";
    none: "None." = "なし。";
    so_many_plies(plies: u32): "{plies} plies" = "{plies}手";
    adjourn: "Adjourn (the position is kept)" = "指し掛け（局面を保存）";
    rule: "Rule" = "裁定";
    to_the_game: "To the game" = "対局を見る";
    play_on: "Play on from the position" = "続きから再開（指し継ぎ）";
    play_again: "Play again from the opening" = "初手から指し直し";
    adjourned: "Adjourned" = "指し掛け";
    by_number: "A game by its number" = "番号で指定";
    number_of_game: "Number of the game" = "対局番号";
    replay: "Play again (a game that is over)" = "指し直し（終局後）";
    appeals: "Appeals" = "異議申し立て";
    answer: "Answer" = "回答";
    decision: "Decision" = "判断";
    appeal_dismissed: "dismissed: the result stands" = "却下：結果は変わりません";
    appeal_replayed: "upheld: play again" = "認める：指し直し";
    appeal_upheld: "upheld: ordered before" = "認める：裁定済み";
    players: "Players" = "選手";
    players_here(players: usize): "here: {players}" = "接続中 {players}";
    players_absent(players: usize): ", absent: {players}" = "、不在 {players}";
    what_seconds_mean: "seconds: since the player's last line" = "秒：最後の受信から";
    absent: "absent" = "不在";
    seconds(seconds: u64): "{seconds} s" = "{seconds}秒";
    since_last_line: "Seconds since a line of this player: " = "最後の受信からの秒数：";
    disconnect: "Disconnect" = "切断";
    mute: "Mute" = "発言禁止";
    ban_name: "Ban the name" = "名前を禁止";
    ban_address: "Ban the address" = "アドレスを禁止";
    pair_two: "Pair two players" = "2人を対局させる";
    both_wait: "Both wait for the same game." = "同じ対局を待っている2人を指定します。";
    black_player: "Black" = "先手";
    white_player: "White" = "後手";
    substitute: "Substitute" = "代理";
    who_leaves: "Entrant to replace" = "退く選手";
    who_substitutes: "Login name of the substitute" = "代わりの選手のログイン名";
    swap: "Swap" = "交代";
    ban: "Ban" = "禁止";
    whom_to_ban: "Name, address or network" = "名前・アドレス・ネットワーク";
    bans: "Bans" = "禁止";
    end_the_ban: "End the ban" = "解除";
    muted: "Muted" = "発言禁止";
    unmute: "Let speak" = "解除";
    buoys: "Buoys" = "ブイ";
    delete: "Delete" = "削除";
    on_record: "On record" = "記録";
    nothing_yet: "Nothing yet." = "まだありません。";
    take_back: "Take back" = "取り消す";
    taken_back: "(taken back)" = "（取り消し済み）";
    has_no_game: "no game" = "対局なし";
    waits: "waits" = "対局待ち";
    has_to_agree: "has to agree" = "同意待ち";
    has_agreed: "has agreed" = "同意済み";
    plays: "plays" = "対局中";

    // Refusals.
    open_connection: "passwords are only taken over TLS or from this machine, at the port of the pages: use an address that begins with https://, or ask the host" = "パスワードは暗号化された接続か、このマシンからのみ受け付けます。https:// で始まるアドレスを使ってください。";
    out_of_date: "this did not come from a page of this site that is up to date; load the page again and repeat it" = "このページは古くなっています。読み込み直して、もう一度操作してください。";
    wrong_password: "the name or the password is wrong" = "名前またはパスワードが違います。";
    locked_out: "too many wrong passwords from your address; wait ten minutes" = "パスワードの誤りが多すぎます。10分ほど待ってください。";
    passwords_busy: "too many passwords are being checked; try again in a moment" = "混み合っています。少し待ってから、もう一度操作してください。";
    not_logged_in: "you are not logged in, or no longer" = "ログインしていないか、ログインの期限が切れています。";
    too_many_registrations: "too many registrations from your address; try again in an hour" = "登録申請が多すぎます。1時間ほど待ってください。";
    too_many_appeals: "too many appeals from your address; try again in an hour, or speak to the arbiter" = "異議申し立てが多すぎます。1時間ほど待つか、審判に直接伝えてください。";
    wrong_secret: "this is neither the secret with which a player of this game logs in, nor the password of an account here; an arbiter can file the appeal for you" = "この対局の対局者の秘密の文字列でも、登録済みアカウントのパスワードでもありません。審判が代わりに申し立てることもできます。";
    password_form: "a password has 1 to 128 characters, without blanks, as it stands in a line of the protocol" = "パスワードは1〜128文字で、空白は使えません（通信の1行に入るため）。";
    for_arbiters: "this is for an arbiter: your account has the role of an operator" = "この操作は審判のみ行えます。あなたのアカウントは運営です。";
    empty_field(field: &str): "the field `{field}` is empty" = "項目 `{field}` が空です。";
    field_takes_number(field: &str): "the field `{field}` takes a number" = "項目 `{field}` には数字を入れてください。";
    unknown_order: "unknown order; load the page again" = "不明な操作です。ページを読み込み直してください。";
    field_takes_one_of(field: &str, words: &str): "the field `{field}` takes one of {words}" = "項目 `{field}` には {words} のいずれかを入れてください。";
    reason_too_long: "a reason has at most 500 characters, and no control characters" = "理由は500文字以内で、制御文字は使えません。";

    // Appeals.
    appeal: "Appeal" = "異議申し立て";
    how_to_appeal: "Say why the result is wrong. The appeal and its answer are shown to everybody in the page of the game." = "結果が誤りである理由を書いてください。申し立てと回答は対局のページに公開されます。";
    secret_is_readable: "This page is not encrypted: others may read the secret on its way." = "このページは暗号化されていません。秘密の文字列が途中で読まれる可能性があります。";
    name_of_appellant: "Login name of a player of this game, or of an account here" = "この対局の対局者、または登録済みのログイン名";
    secret_of_appellant: "The secret or password of that login" = "そのログインの秘密の文字列またはパスワード";
    why: "Why" = "理由";
    file_appeal: "Appeal" = "申し立てる";
    appeal_filed: "The appeal is on record. The answer will be shown in the page of the game." = "申し立てを受け付けました。回答は対局のページに表示されます。";
    not_a_login_name: "not a valid login name" = "ログイン名として使えない名前です。";
    appeal_needs_words: "an appeal says why the result is wrong" = "結果が誤りである理由を書いてください。";
    appeal_too_long: "an appeal has at most 500 characters, and no control characters" = "申し立ては500文字以内で、制御文字は使えません。";
    nobody_plays: "the event is not being played now" = "大会は現在進行していません。";
    no_such_game: "there is no such game here" = "その対局はありません。";
    still_running(game: u64): "game {game} is still running: appeal when it is over" = "第{game}局は対局中です。終局後に申し立ててください。";
    game_not_found_now: "the game cannot be looked up now" = "現在、対局を調べられません。";

    // Registration.
    take_part: "Take part" = "参加";
    nobody_logs_in: "this event takes no logins" = "この大会にはログインできません。";
    anybody_may: "No account is needed: log in with any name and a secret of your own." = "アカウントは不要です。好きな名前と、自分だけの秘密の文字列でログインしてください。";
    entrants_are_configured: "The configuration of this event names its entrants. Ask the host for a place." = "参加者は大会の設定で決まっています。主催者に問い合わせてください。";
    registration_closed: "The registration is closed." = "受付は終了しました。";
    check_by_last_game: "Check a program by its last game" = "直前の対局でプログラムを確認する";
    how_to_register: "Choose the name and the password with which your program will log in. An arbiter decides; with an invitation you can play at once." = "対局プログラムがログインに使う名前とパスワードを決めてください。審判の承認後に参加できます。招待があればすぐに参加できます。";
    password_is_readable: "This page is not encrypted: choose a password that you use nowhere else." = "このページは暗号化されていません。他で使っていないパスワードにしてください。";
    new_password: "Password (8 characters or more, no blanks: programs send it in a line of words)" = "パスワード（8文字以上。通信の1行に入るため空白は使えません）";
    note_to_arbiter: "For the arbiter: who you are, and your program" = "審判への伝言（氏名、プログラム名など）";
    register: "Register" = "登録";
    no_registration_needed: "no registration is needed here" = "登録は不要です。";
    registration_is_closed: "the registration is closed" = "受付は終了しました。";
    name_form: "a name has 1 to 32 letters, digits, `_`, `-`, `@` or `.`, and does not begin with a dot" = "名前は1〜32文字の英数字と `_` `-` `@` `.` です（先頭に `.` は使えません）。";
    password_too_short: "a password has at least 8 characters" = "パスワードは8文字以上です。";
    note_too_long: "words for the arbiter have at most 200 characters, in one line" = "審判への伝言は1行、200文字以内です。";
    registration_waits: "Your registration waits for an arbiter. Until then the host refuses your login." = "登録を受け付けました。審判が承認するまでログインできません。";
    may_log_in: "You can log in now." = "ログインできます。";
    name_taken: "this name is taken or requested; choose another" = "この名前は使われているか、申請中です。別の名前にしてください。";
    too_many_wait: "too many registrations wait for an arbiter; try again later" = "承認待ちの登録が多すぎます。しばらくしてからお試しください。";
    registrations: "Registrations" = "登録申請";
    invite: "Invite" = "招待";
    for_whom: "For whom" = "招待する相手";
    approve: "Approve" = "承認";
    refuse: "Refuse" = "却下";
    unknown_decision: "unknown decision; load the page again" = "不明な操作です。ページを読み込み直してください。";
    nobody_waits: "no registration of this name is waiting, or the name has an account already" = "この名前の申請はもうないか、すでにアカウントがあります。";
    note_of_invitation: "a note of at most 200 characters names the invited person" = "招待する相手を200文字以内で書いてください。";
    invitation_address: "Give this address to the invited person; it holds for 14 days, once:" = "次のアドレスを招待する相手に渡してください（14日間有効、1回限り）：";
    too_many_invitations: "too many invitations are open" = "招待の数が上限に達しています。";

    // Settings of clients.
    word_password: "PASSWORD" = "パスワード";
    word_secret: "SECRET" = "秘密の文字列";
    word_name: "NAME" = "ログイン名";
    settings: "Settings of your program" = "対局プログラムの設定";
    shogihome_menu: "Menu: game over the network (CSA protocol)." = "メニュー：通信対局（CSA プロトコル）";
    version: "Version" = "バージョン";
    csa_version: "CSA protocol 1.2.1, with or without comments" = "CSAプロトコル1.2.1（読み筋コメントの有無は自由）";
    host: "Host" = "接続先ホスト";
    port_field: "Port" = "ポート番号";
    your_login_name: "your login name" = "ログイン名";
    other_clients: "Other clients" = "その他のクライアント";
    first_line: "The first line that they send:" = "最初に送る行：";
    port: "port" = "ポート";
    over_tls: "(TLS)" = "（TLS）";
    event_pairs: "The event pairs its entrants: log in and wait for your games. Every login takes the same secret." = "対局は大会側が組みます。ログインして待ってください。秘密の文字列は毎回同じものを使います。";
    name_of_games: "Name of the games:" = "対局名：";
    game_names: "The password begins with the name of the games: NAME-SECONDS-BYOYOMI, or NAME-SECONDS-INCREMENTF. Players who ask for the same name meet. Then a comma and your secret follow." = "パスワードの先頭は対局名です：名前-持ち時間(秒)-秒読み、または 名前-持ち時間(秒)-加算F。同じ対局名の2人が対局します。続けてコンマと秘密の文字列を書きます。";
    timed_rounds: "Timed rounds:" = "定刻の対局：";

    // The check of a program.
    check_a_program: "Check a program" = "プログラムの確認";
    how_to_check: "Play a game here with your program, then ask what stood out in it." = "プログラムで一局指してから、気になる点を確認できます。";
    login_name: "Login name" = "ログイン名";
    check: "Check" = "確認";
    no_lines_of: "There is no game of this name with lines that are kept." = "この名前の対局記録がありません。";
    nothing_stands_out: "Nothing stands out." = "問題は見つかりませんでした。";
    sends_times(lines: usize): "it sends times with its moves ({lines} lines such as `+7776FU,T3`): only the server says times; send `+7776FU` alone" = "指し手に消費時間を付けて送っています（`+7776FU,T3` のような行が {lines} 行）。時間を付けるのはサーバーだけです。";
    agrees_late(seconds: u64): "its AGREE took {seconds} s: get the engine ready before the login, or other servers give up waiting" = "AGREE まで {seconds} 秒かかっています。ログイン前にエンジンを準備してください。";
    never_agrees: "it was offered a game and sent no AGREE: answer `END Game_Summary` with `AGREE`" = "対局の提案に AGREE を返していません。";
    blanks(lines: usize): "{lines} lines have blanks before or after the words: not every server cuts them off" = "{lines} 行に余分な空白があります。";
    unknown_lines(lines: usize): "{lines} lines mean nothing in the protocol and were left out" = "プロトコルにない行が {lines} 行ありました。";
    unread_comments(lines: usize): "{lines} comments are not read: one begins with `'*`, as in `+7776FU,'* 35 -3334FU`" = "読まれないコメントが {lines} 件あります。コメントは `'*` で始めてください。";
    hasty_blank_lines(lines: usize): "{lines} blank lines came less than 30 s after another line: the protocol asks for no more" = "空行の送信間隔が30秒未満のものが {lines} 件あります。";
}
