//! Faults of engines, files and machines in Japanese. They are made in English far below the pages, where no reader's
//! language is known; a page and the command line show them by [`Language::fault`]. Values are kept as they are.

use crate::Language;

/// Longest line that is translated, in bytes; a longer one is an engine's.
const LONGEST: usize = 2000;

/// Sentences with a `{}` for each value, and the same in Japanese with the numbers of the values.
macro_rules! faults {
    ($($english:literal = $japanese:literal;)+) => {
        const FAULTS: &[(&str, &str)] = &[$(($english, $japanese)),+];
    };
}

faults! {
    // Engines.
    "engine `{}` cannot play: {}" = "エンジン `{0}` は対局できません：{1}";
    "game {} cannot be set up: {}; then the same command plays on" = "対局{0}を始められません：{1}。その後、同じコマンドで続けられます";
    "`{}` could not be started: {}; this is no fault of the engine: allow Renmei more (`ulimit -n` and `-u`, or LimitNOFILE= and TasksMax= in a unit), or play fewer games at once" = "`{0}` を起動できません：{1}。エンジンのせいではありません。Renmei の上限（`ulimit -n` と `-u`、またはユニットの LimitNOFILE= と TasksMax=）を上げるか、同時対局数を減らしてください";
    "`{}` could not be started: {}" = "`{0}` を起動できません：{1}";
    "{} (it failed to start {} times in a row)" = "{0}（起動に{1}回続けて失敗）";
    "no `usiok` within {} ms" = "{0}ミリ秒以内に `usiok` がありません";
    "no `readyok` within {} ms" = "{0}ミリ秒以内に `readyok` がありません";
    "no `bestmove` after `stop` within {} ms" = "`stop` から{0}ミリ秒以内に `bestmove` がありません";
    "no `bestmove` within {} ms, `stop` included{}" = "`stop` を送っても{0}ミリ秒以内に `bestmove` がありません{1}";
    "it does not read its input" = "入力を読みません";
    "its `option` lines are longer than {} KiB" = "`option` 行の合計が{0} KiBを超えています";
    "it answers what it was not asked: {}" = "求めていない応答をしました：{0}";
    "it declares a win in the start position" = "開始局面で入玉宣言をしました";
    "its answer is no move: {}" = "応答が指し手ではありません：{0}";
    "its move {} in the start position is illegal ({})" = "開始局面での指し手{0}は反則です（{1}）";
    "{}, after {}" = "{0}（{1}の後）";
    "engine `{}` failed: {}" = "エンジン `{0}` が失敗しました：{1}";
    "engine `{}` has not answered within {} s" = "エンジン `{0}` が{1}秒以内に応答しません";
    "its start" = "起動";
    "its end" = "終了";
    "its options and `isready`" = "オプションと `isready`";
    // Engines that join.
    "`{}` is the build that plays as `{}`, with the same options: its games are games of `{}`" = "`{0}` は参加中の `{1}` とビルドもオプションも同じで、その対局は `{2}` の対局になります";
    "an event of several stages takes no engine after its start, as later stages follow from earlier ones: begin another event" = "複数ステージの大会には途中参加できません。別の大会を始めてください";
    "a tuning has one engine" = "調整に参加するエンジンは1つです";
    "a sequential test has two players: a new build is tested in an event of its own" = "逐次検定の参加者は2つです。新しいビルドは別の検定にしてください";
    "the number of its players is fixed by `entrants`" = "参加者数は `entrants` で決まっています";
    "the bracket of a knock-out is drawn at its start: the engine can play in the next event alone" = "トーナメントの組合せは開始時に決まります。次の大会からの参加になります";
    "a Swiss takes engines before its first round; a later one is in the file from the beginning, withdrawn until it comes" = "スイス式に参加できるのは1回戦の前までです。後から来るエンジンは最初から設定に入れ、来るまで棄権にします";
    "the encounters of `format = \"information\"` are computed for the players of its start" = "`format = \"information\"` の組合せは開始時の参加者で計算されます";
    "`{}` logs in over the network, and the entrants are those of the start" = "`{0}` はネットワーク経由の参加者で、開始後には加われません";
    "`{}` replaces `{}`, which has not joined the event" = "`{0}` と交代する `{1}` は参加していません";
    // Programs and files.
    "there is no program `{}`; arguments are written in `args`" = "プログラム `{0}` がありません（引数は `args` に書きます）";
    "there is no program `{}`" = "プログラム `{0}` がありません";
    "`{}` is a directory, not a program" = "`{0}` はプログラムではなくフォルダーです";
    "`{}` is not executable" = "`{0}` に実行権限がありません";
    "there is no database `{}`{}; name another one (`--db FILE` where the command has this option)" = "データベース `{0}` がありません{1}。別のものを指定してください（`--db FILE`）";
    "database `{}` cannot be opened: {}" = "データベース `{0}` を開けません：{1}";
    "database `{}` is locked by another program" = "データベース `{0}` は別のプログラムが使用中です";
    "database `{}` cannot grow: the disk is full" = "ディスクがいっぱいで、データベース `{0}` に書き込めません";
    "database `{}` is read-only" = "データベース `{0}` は読み取り専用です";
    "database `{}` was deleted, moved or replaced while it was shown" = "データベース `{0}` は表示中に削除・移動・置き換えられました";
    "database `{}` is damaged: {}; restore it from a copy, or begin another one" = "データベース `{0}` は壊れています：{1}。コピーから復元するか、新しいものを使ってください";
    "database `{}` was not made by renmei" = "データベース `{0}` は renmei のものではありません";
    "every user of this machine can use `{}`, which holds hashes of passwords or the key of trips, and its mode cannot be changed: {}; run `chmod o-rwx` as its owner" = "パスワードのハッシュかトリップの鍵を含む `{0}` を全ユーザーが使え、権限を変更できません：{1}。所有者が `chmod o-rwx` を実行してください";
    "database `{}`: {} is not as renmei makes it; the file was altered, and nothing in it was executed" = "データベース `{0}` の {1} が renmei のものと違います。ファイルが改変されているため、何も実行していません";
    "database `{}` holds a value that is larger than {} MiB, which renmei never writes: the file was altered" = "データベース `{0}` に {1} MiB を超える値があります。renmei は書かない大きさで、ファイルが改変されています";
    "database `{}` has schema {}, and this renmei reads and writes schema {} alone: open it with the renmei that made it" = "データベース `{0}` のスキーマは {1} ですが、この renmei が扱えるのは {2} だけです。作成した版の renmei で開いてください";
    "`{}` was replaced, overwritten, cut short or removed by another program while its event was played; {}" = "`{0}` は対局中に別のプログラムによって置き換え・上書き・切り詰め・削除されました。{1}";
    "the event until then is in `{}`: move that file to the place of the database, remove the `-wal` and `-shm` beside it, and begin the event again" = "それまでの記録は `{0}` にあります。データベースの場所に移し、隣の `-wal` と `-shm` を消して、大会を再開してください";
    "no copy could be kept of what was played: restore it, or begin another one" = "それまでの記録のコピーは残せませんでした。復元するか、新しい大会を始めてください";
    "input/output error: {}" = "入出力エラー：{0}";
    "lock file `{}`: {}" = "ロックファイル `{0}`：{1}";
    "the thread that writes database `{}` could not be started: {}" = "データベース `{0}` に書き込むスレッドを開始できません：{1}";
    "the thread that writes database `{}` panicked" = "データベース `{0}` に書き込むスレッドが異常終了しました";
    "{} entries were not stored: {}" = "{0}件の記録を保存できませんでした：{1}";
    "database `{}` cannot be used: {}" = "データベース `{0}` は使えません：{1}";
    "database `{}` cannot be written to: {}" = "データベース `{0}` に書き込めません：{1}";
    "`:memory:`, `file:..` and an empty name are no names of files for SQLite; name a file, such as `event.db`" = "`:memory:`、`file:..`、空の名前は、SQLite ではファイル名になりません。`event.db` のようなファイル名を指定してください";
    "the file has a second name elsewhere (a hard link, such as `cp -l` makes), which is not allowed here; remove the other name, or make this a file of its own: `cp FILE NEW`, then `mv NEW FILE`" = "このファイルには別の名前（`cp -l` などで作るハードリンク）があり、ここでは使えません。別の名前を消すか、`cp FILE NEW` と `mv NEW FILE` で独立したファイルにしてください";
    "`{}` is read by another program, so a part of the event is in `{}`: copy both" = "`{0}` を別のプログラムが読んでいるため、大会の一部は `{1}` にあります。両方をコピーしてください";
    "`{}` is not a database, or it is damaged: {}" = "`{0}` はデータベースではないか、壊れています：{1}";
    "database `{}`: {}" = "データベース `{0}`：{1}";
    "this database has no event yet" = "このデータベースにはまだ大会がありません";
    "there is no event `{}` in this database; it has: {}" = "このデータベースに大会 `{0}` はありません。あるのは {1} です";
    "which event? Name it with `--event`: {}" = "どの大会ですか。`--event` で指定してください：{0}";
    "event `{}` is being run by {}" = "大会 `{0}` は{1}が進行中です";
    "cannot listen on {}: {}" = "{0} で待ち受けできません：{1}";
    "No space left on device (os error {})" = "ディスクがいっぱいです（os error {0}）";
    "Address already in use (os error {})" = "アドレスとポートは使用中です（os error {0}）";
    "No such file or directory (os error {})" = "ファイルまたはフォルダーがありません（os error {0}）";
    "`{}` cannot be read: {}" = "`{0}` を読めません：{1}";
    "it is a pipe or a device; name a regular file" = "パイプまたはデバイスです。通常のファイルを指定してください";
    "it is a device; name a file or a pipe" = "デバイスです。ファイルかパイプを指定してください";
    "it is a link to a file that is not there" = "リンク先のファイルがありません";
    "is a directory" = "フォルダーです";
    "it holds something else than {}; give the file another name" = "{0}ではない内容のファイルです。別の名前を指定してください";
    "a page of Renmei" = "Renmei のページ";
    "a picture" = "画像";
    "records" = "棋譜";
    "Permission denied (os error {})" = "権限がありません（os error {0}）";
    "Exec format error (os error {})" = "このマシンで実行できる形式ではありません（os error {0}）";
    "`{}` is halted and not complete:" = "`{0}` は障害の上限に達して停止し、終わっていません：";
    "if the engine was not at fault itself: `renmei rerun {}` has its lost games played again, by the same command or by the hall" = "エンジン自身の問題でなければ、`renmei rerun {0}` で負けた対局の指し直しを指定できます（同じコマンドか会場が続けます）";
    "either mend the engine and begin anew with `--fresh`, or go on by the same command with a higher limit: {}, or `fault_limit` in `[event]`" = "エンジンを直して `--fresh` でやり直すか、上限を上げて同じコマンドで続けてください：{0}、または `[event]` の `fault_limit`";
    // Lines of a configuration.
    "is empty" = "空です";
    "has {} characters; a name has at most {}" = "{0}文字あります。名前は{1}文字以内です";
    "is missing; {}" = "ありません（{0}）";
    "expected {}, found {}" = "{0} が必要ですが {1} があります";
    "{} is out of range; it must be from {} to {}" = "{0} は範囲外です。{1} から {2} までにしてください";
    "unknown value {}; did you mean {}?" = "{0} という値はありません。{1} のことですか";
    "unknown value {}; expected {}" = "{0} という値はありません。使えるのは {1} です";
    "unknown key `{}`; did you mean `{}`?" = "未知のキー `{0}` です。`{1}` のことですか";
    "unknown key `{}`; known are {}" = "未知のキー `{0}` です。使えるのは {1} です";
    "unknown key `{}`: {}" = "未知のキー `{0}` です：{1}";
    "it belongs in `[event]`" = "`[event]` に書きます";
    "unknown key `{}`" = "未知のキー `{0}` です";
    "a file with this table is for {}" = "この表を持つファイルは {0} で使います";
    "cannot be read: {}" = "読めません：{0}";
    "is larger than 1 MB; a configuration has a few kB" = "1 MBを超えています。設定ファイルは数kBのはずです";
    "is written in {}; save it as UTF-8" = "文字コードが {0} です。UTF-8 で保存してください";
    "a backslash in double quotes begins an escape; write paths in single quotes, as in {}" = "二重引用符の中の `\\` は特別な文字です。パスは {0} のように一重引用符で囲んでください";
    "must be more than 0" = "0より大きい値にしてください";
    "must not contain line breaks or other control characters" = "改行などの制御文字は使えません";
    "{} has no unit; write {} or {}" = "{0} に単位がありません。{1} か {2} と書いてください";
    "{} is no finite number" = "{0} は有限の数ではありません";
    "{} is out of range; it must be a finite number from {}" = "{0} は範囲外です。{1} 以上の数にしてください";
    "a text" = "文字列";
    "a text, a number, true or false" = "文字列、数、true、false のいずれか";
    "true or false" = "true か false";
    "true, false or \"auto\"" = "true、false、\"auto\" のいずれか";
    "a table" = "表";
    "a list" = "リスト";
    "a date" = "日付";
    "a path" = "パス";
    "a duration such as {}" = "{0} のような時間";
    "a whole number{}" = "整数{0}";
    "a number" = "数";
    "the text {}" = "文字列 {0}";
    "the number {}" = "数 {0}";
    "the configuration is wrong:" = "設定に誤りがあります：";
    "name the engine's program" = "エンジンのプログラムを指定してください";
    "there is no directory `{}`" = "フォルダー `{0}` がありません";
    "two engines are named {}; write another `name = \"..\"` in one of them" = "{0} という名前のエンジンが二つあります。一方の `name` を変えてください";
    "an event needs at least two engines{}" = "大会にはエンジンが二つ以上必要です{0}";
    "`{}` is not a duration; write it as in {}" = "`{0}` は時間ではありません。{1} のように書いてください";
    // Records.
    "illegal move {} at ply {} ({})" = "{1}手目の {0} は反則です（{2}）";
    "illegal move {} at ply {}" = "{1}手目の {0} は反則です";
    "line {}: {}" = "{0}行目：{1}";
    "the variation in line {} is left out: {}" = "{0}行目の変化は読めないため省きました：{1}";
    "the variation from move {} is cut short: {}" = "{0}手目からの変化は途中までです：{1}";
    "a variation is left out: {}" = "変化を省きました：{0}";
    "no move stands before move {}" = "{0}手目の前に指し手がありません";
    "its first move has no number" = "最初の指し手に番号がありません";
    "illegal move in entry {}" = "{0}番目の指し手は反則です";
    "illegal move" = "反則の指し手です";
    // This machine.
    "the memory and the processes of strict engines are counted by the kernel, in a control group for each" = "厳格なサンドボックスのエンジンのメモリとプロセスは、カーネルがコントロールグループごとに数えます";
    "the memory and the processes of strict engines are counted by this program: no control groups were delegated to it" = "厳格なサンドボックスのエンジンのメモリとプロセスは、このプログラムが数えます（コントロールグループの委任なし）";
    "not known here: the system does not say" = "このシステムでは分かりません";
    "no limit is known here" = "上限は分かりません";
    "found" = "あります";
    "not found: {}" = "ありません（{0}）";
    "an engine that comes with Renmei; it belongs beside `renmei`" = "Renmei 付属のエンジンで、`renmei` と同じ場所に置きます";
    "an engine of the preset `quickstart`" = "`quickstart` で使うエンジン";
    "`test`, `bisect` and `queue` build commits with it" = "`test`・`bisect`・`queue` のビルドに必要";
    "`--hub` and `worker` send games through it" = "`--hub` と `worker` の通信に必要";
    "the engine with a network: see the guide to engines" = "ニューラルネットのエンジン。エンジンの手引きを参照";
    "no NVIDIA driver: renmei-deep computes on the processor" = "NVIDIA のドライバーがないため、renmei-deep は CPU で計算します";
    "`{}` fails: {}" = "`{0}` が失敗します：{1}";
    "the driver and the kernel may be of two versions: boot again, or install the driver again" = "ドライバーとカーネルの版が合っていない可能性があります。再起動するか、ドライバーを入れ直してください";
    "{} with {}; {} at once" = "{0}・{1}（同時に使えるのは{2}）";
    "{} core" = "{0}コア";
    "{} cores" = "{0}コア";
    "{} hardware thread" = "{0}スレッド";
    "{} hardware threads" = "{0}スレッド";
    "{} % of the cores are busy with other programs" = "コアの{0}%を他のプログラムが使用中";
    "engines get slower and may lose on time: end the other programs, or keep cores for them by `concurrency`" = "エンジンが遅くなり、時間切れ負けのおそれがあります。他のプログラムを終了するか、`concurrency` を減らしてください";
    "governor {}: the cores' speed changes with their load" = "ガバナー {0}：負荷でコアの速度が変わります";
    "governor {}" = "ガバナー {0}";
    "for tests of strength: `cpupower frequency-set --governor performance`, which lasts until the next boot" = "棋力の測定には `cpupower frequency-set --governor performance`（次の起動まで有効）";
    "{}; how much of it is free is not known here" = "{0}（空き容量は分かりません）";
    "{} of {} free" = "{1} のうち {0} が空き";
    "engines with large hash tables would be swapped or killed: end other programs, or lower `USI_Hash`" = "大きなハッシュを使うエンジンは遅くなるか強制終了されます。他のプログラムを終了するか、`USI_Hash` を減らしてください";
    "{} late at p99, {} at most, of {}" = "遅れは99%点で{0}、最大{1}（{2}）";
    "{} timer" = "{0}回";
    "{} timers" = "{0}回";
    "clocks are read late by as much: keep the default `margin`, and leave a core free by `concurrency`" = "計時もその分遅れます。`margin` は既定のままにし、`concurrency` で1コア空けてください";
    "{} ns to read" = "読み取りに{0}ナノ秒";
    "the system reads a slow clock; on Linux `cat /sys/devices/system/clocksource/clocksource0/current_clocksource` names it, and a virtual machine may offer a faster one" = "時計の読み取りが遅いシステムです。Linux では `cat /sys/devices/system/clocksource/clocksource0/current_clocksource` で確認でき、仮想マシンなら速い時計に変えられることがあります";
    "`{}` cannot be asked: {}" = "`{0}` を調べられません：{1}";
    "name a directory that is there: `renmei doctor DIRECTORY`" = "存在するフォルダーを指定してください：`renmei doctor DIRECTORY`";
    "{} free in `{}`" = "`{1}` の空きは {0}";
    "an event stops to begin games when its disk is full: `renmei prune`, or another directory" = "ディスクがいっぱいになると新しい対局は始まりません。`renmei prune` で空けるか、別のフォルダーを使ってください";
    "`{}` cannot be written: {}" = "`{0}` に書き込めません：{1}";
    "databases are written beside the configuration: use a directory of your own" = "データベースは設定ファイルと同じ場所に書かれます。書き込めるフォルダーを使ってください";
    "{} a commit" = "1回の書き込みに{0}";
    "short games wait for the disk: a local disk is better than one over the network" = "短い対局ではディスク待ちが生じます。ネットワーク越しでないディスクを使ってください";
    "{} allowed: room for {} connections of a host" = "{0}まで：ホストに接続できるのは{1}";
    "a host has room for fewer connections: `ulimit -Hn 65536`, or LimitNOFILE= in a unit" = "接続できる数が減ります。`ulimit -Hn 65536` か、ユニットの LimitNOFILE= で増やしてください";
    "the desk ended while it ran: begin it again" = "実行中にデスクが終了しました。もう一度始めてください";
    "the server refuses the login of `{}`: {}" = "サーバーが `{0}` のログインを拒否しました：{1}";
    "the server gave no reason: it has no account of this name with this secret, the name is in use with another secret, or our previous login is still open" = "理由は示されていません。この名前とパスワードのアカウントがないか、名前が別のパスワードで使われているか、前回のログインが残っています";
    "{}, who may do everything; so may the engines" = "{0}（管理者です。エンジンにもすべての権限があります）";
    "for engines of others: a user of its own, or `sandbox = \"strict\"`" = "他者のエンジンには専用のユーザーか `sandbox = \"strict\"` を使ってください";
    // What differs in a plan.
    "{} was not there, is now" = "{0}：追加";
    "{} was there, is not now" = "{0}：削除";
    "{} was {}, is {}" = "{0}：{1} から {2} に変更";
}

impl Language {
    /// A fault in this language, line by line; what the catalogue does not have stays English.
    pub fn fault(self, english: &(impl ToString + ?Sized)) -> String {
        let english = english.to_string();
        // Indented lines quote an engine.
        let own = |line: &str| if line.starts_with(' ') { None } else { in_japanese(line) };
        let line = |line: &str| own(line).unwrap_or_else(|| line.to_owned());
        match self {
            Self::English => english,
            Self::Japanese => english.split('\n').map(line).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// A line in Japanese: a sentence, or one behind the place that it is about (`x.toml:6:15: event.seed: ..`).
fn in_japanese(line: &str) -> Option<String> {
    let starts = line.match_indices(": ").map(|(at, colon)| at + colon.len());
    let mut tails = std::iter::once(0).chain(starts).filter(|_| line.len() <= LONGEST);
    tails.find_map(|at| Some(format!("{}{}", &line[..at], sentence(&line[at..])?)))
}

fn sentence(text: &str) -> Option<String> {
    let (values, japanese) =
        FAULTS.iter().find_map(|(form, japanese)| Some((values(form, text)?, japanese)))?;
    let part = |(at, part): (usize, &str)| match part.parse().ok().and_then(|value: usize| values.get(value))
    {
        Some(value) if at % 2 == 1 => in_japanese(value).unwrap_or_else(|| value.clone()),
        _ => part.to_owned(),
    };
    Some(japanese.split(['{', '}']).enumerate().map(part).collect())
}

/// The values of a line of this form.
fn values(form: &str, line: &str) -> Option<Vec<String>> {
    // With an end of their own, form and line end together.
    let (form, line) = (format!("{form}\n"), format!("{line}\n"));
    let (mut literals, mut values) = (form.split("{}"), vec![]);
    let mut rest = line.strip_prefix(literals.next()?)?;
    for literal in literals {
        let (value, behind) = rest.split_once(literal)?;
        values.push(value.to_owned());
        rest = behind;
    }
    rest.is_empty().then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    fn ja(text: &str) -> String {
        Language::Japanese.fault(text)
    }

    #[test]
    fn what_keeps_an_engine_or_a_file_from_use_is_said_in_japanese_with_its_values() {
        for (english, japanese) in [
            (
                "engine `gps` cannot play: no `usiok` within 5000 ms, after `usi`\n  > usi, after all",
                "エンジン `gps` は対局できません：5000ミリ秒以内に `usiok` がありません（`usi`の後）\n  > usi, after all",
            ),
            (
                "`/opt/x` could not be started: Permission denied (os error 13)",
                "`/opt/x` を起動できません：権限がありません（os error 13）",
            ),
            (
                "x.toml:6:15: event.concurrency: 0 is out of range; it must be from 1 to 65535",
                "x.toml:6:15: event.concurrency: 0 は範囲外です。1 から 65535 までにしてください",
            ),
            (
                "x.toml:3:1: event: unknown key `gamse`; did you mean `games`?",
                "x.toml:3:1: event: 未知のキー `gamse` です。`games` のことですか",
            ),
            (
                "x.toml:3:1: unknown key `games`: it belongs in `[event]`",
                "x.toml:3:1: 未知のキー `games` です：`[event]` に書きます",
            ),
            (
                "event.games: expected a whole number, found the text \"ten\"",
                "event.games: 整数 が必要ですが 文字列 \"ten\" があります",
            ),
            (
                "engine `gps` failed: no `readyok` within 5000 ms\n  > usi",
                "エンジン `gps` が失敗しました：5000ミリ秒以内に `readyok` がありません\n  > usi",
            ),
            ("a.kifu: line 3: illegal move 7g7e at ply 1", "a.kifu: 3行目：1手目の 7g7e は反則です"),
            (
                "database `:memory:` cannot be used: `:memory:`, `file:..` and an empty name are no names of files for SQLite; \
                 name a file, such as `event.db`",
                "データベース `:memory:` は使えません：`:memory:`、`file:..`、空の名前は、SQLite ではファイル名になりません。\
                 `event.db` のようなファイル名を指定してください",
            ),
            (
                "`a.db` is read by another program, so a part of the event is in `a.db-wal`: copy both",
                "`a.db` を別のプログラムが読んでいるため、大会の一部は `a.db-wal` にあります。両方をコピーしてください",
            ),
            (
                "which event? Name it with `--event`: `p`, `q`",
                "どの大会ですか。`--event` で指定してください：`p`, `q`",
            ),
            (
                "3 entries were not stored: `a.db-wal` was replaced, overwritten, cut short or removed by another program while its \
                 event was played; the event until then is in `a.kept1.db`: move that file to the place of the database, remove the \
                 `-wal` and `-shm` beside it, and begin the event again",
                "3件の記録を保存できませんでした：`a.db-wal` は対局中に別のプログラムによって置き換え・上書き・切り詰め・削除されました。\
                 それまでの記録は `a.kept1.db` にあります。データベースの場所に移し、隣の `-wal` と `-shm` を消して、大会を再開してください",
            ),
            (
                "database `a.db`: `a.db-wal`: is a directory",
                "データベース `a.db`：`a.db-wal`: フォルダーです",
            ),
            ("2 cores with 4 hardware threads; 4 at once", "2コア・4スレッド（同時に使えるのは4）"),
            ("12.0 GiB of 32.0 GiB free", "32.0 GiB のうち 12.0 GiB が空き"),
            ("info string found: nothing known", "info string found: nothing known"),
        ] {
            assert_eq!(ja(english), japanese);
            assert_eq!(Language::English.fault(english), english);
        }
        let long = "x: ".repeat(LONGEST);
        assert_eq!(ja(&long), long, "an engine's endless line costs nothing");
    }

    #[test]
    fn each_sentence_is_that_of_its_own_line_and_has_the_values_of_its_english() {
        for (english, japanese) in FAULTS {
            let count = english.matches("{}").count();
            let numbers: Vec<String> = (0..count).map(|value| format!("{{{value}}}")).collect();
            assert!(
                numbers.iter().all(|number| japanese.matches(number.as_str()).count() == 1),
                "{japanese}"
            );
            assert_eq!(japanese.matches('{').count(), count, "{japanese}");
            let values: Vec<String> = (0..count).map(|value| format!("v{value}")).collect();
            let fill = |text: &str, places: &[String]| {
                places
                    .iter()
                    .zip(&values)
                    .fold(text.to_owned(), |text, (place, value)| text.replacen(place, value, 1))
            };
            let places = vec!["{}".to_owned(); count];
            assert_eq!(ja(&fill(english, &places)), fill(japanese, &numbers), "another sentence comes first");
        }
    }

    /// The texts of a source file: string literals of several words, with values for their places.
    fn texts(source: &str) -> Vec<String> {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
        let code = lines.collect::<Vec<_>>().join("\n").replace("\\\n", "").replace("\\\"", "\u{1}");
        let literals = code.split('"').skip(1).step_by(2).map(|text| text.replace('\u{1}', "\""));
        let words = |text: &str| {
            text.split(' ')
                .filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase()))
                .count()
        };
        let filled = literals.map(|text| {
            let values = text.split(['{', '}']).enumerate();
            values.map(|(at, part)| if at % 2 == 0 { part } else { "7" }).collect::<String>()
        });
        filled.filter(|text| words(text) > 1).collect()
    }

    #[test]
    fn every_text_of_a_machine_of_a_look_at_an_engine_of_the_reader_of_configurations_and_of_databases_is_in_japanese()
     {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let files = [
            "lab/check/machine/equipment.rs",
            "lab/check/machine/measured.rs",
            "play/seat/usi/look.rs",
            "base/plan/reader.rs",
            "base/journal/error.rs",
        ];
        // The name of a place, what a parser says, and a fault of the program.
        let inner = [
            "command line",
            "duplicate key",
            "missing escaped value",
            "7: a declared key is never read, only 7",
        ];
        for file in files {
            let texts = texts(&fs::read_to_string(source.join(file)).unwrap());
            assert!(texts.len() > 3, "{file}: {texts:?}");
            for text in texts.into_iter().filter(|text| !inner.contains(&text.as_str())) {
                let has_name = Language::Japanese.name_of_check(&text) != text || text.starts_with("sfen ");
                let text = if text == "hardware thread" { format!("7 {text}") } else { text };
                assert!(
                    has_name || !ja(&text).is_ascii(),
                    "{file}: `{text}` has no Japanese in words/faults.rs"
                );
            }
        }
    }
}
