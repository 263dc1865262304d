//! Japanese for what the handle of the operator answers in English: the same answers go to terminals and to scripts, so
//! they arrive here as text. `{}` is what an answer says of this case: a number, a name, or an answer within it.

use crate::Language;
use std::borrow::Cow;

/// Defines the table of answers, a line each.
macro_rules! answers {
    ($($english:literal = $japanese:literal;)+) => {
        /// Answers in English and in Japanese, with their placeholders in the same order. Of two that fit, the first is
        /// taken.
        const ANSWERS: &[(&str, &str)] = &[$(($english, $japanese)),+];
    };
}

answers! {
    // Of the event.
    "the event is over" = "大会は終了しています。";
    "the event has not begun: ask again in a moment" = "大会はまだ始まっていません。少し待ってください。";
    "the event ended meanwhile" = "その間に大会が終了しました。";
    "the event is paused already" = "すでに休止中です。";
    "the event is not paused" = "休止中ではありません。";
    "the event is paused: `resume` first" = "休止中です。先に再開してください。";
    "this goes on record with its reason: say it with `--reason TEXT`" = "理由を記入してください（記録されます）。";
    "{} has at most {} characters, and no control characters" = "{}は{}文字以内で、制御文字は使えません。";
    "a reason" = "理由";
    "a name" = "名前";
    "an announcement" = "お知らせ";
    "the name of a machine" = "マシン名";
    "an announcement needs words" = "お知らせの文面を入れてください。";
    "the entrants of this event are those of its configuration; there is no registration to close or open" = "参加者は大会の設定で決まっているため、受付の開閉はありません。";
    "the registration is closed already" = "受付はすでに終了しています。";
    "the registration is open already" = "受付はすでに開いています。";
    "operation {} is done, but not on the disk after {} s: is the disk full?" = "操作{}は実行されましたが、{}秒たっても保存できません。ディスクの空きを確認してください。";
    // Of players.
    "nobody logs in to this event over the network" = "この大会にネットワーク経由の参加者はいません。";
    "`{}` cannot be a player's name" = "`{}` は選手名に使えません。";
    "`{}` is not logged in; `list` shows who is" = "`{}` は接続していません。";
    "`{}` is not banned; `list` shows the bans" = "`{}` は禁止されていません。";
    "`{}` is not muted" = "`{}` は発言禁止ではありません。";
    "there is no buoy `{}`" = "ブイ `{}` はありません。";
    "`{}` is playing: adjourn the game, or rule on it, and swap then" = "`{}` は対局中です。指し掛けか裁定の後に交代してください。";
    "players of an open league come as they like; there is no place to give" = "自由対局リーグには交代する枠がありません。";
    "an event pairs its games itself, by its format; `rule`, `replay` and `swap` change what it has paired" = "対局は大会の形式に従って組まれます。変更は裁定、指し直し、交代で行います。";
    "nobody plays against itself: name two players" = "別々の2人を指定してください。";
    "`{}` waits for `{}`, and `{}` for `{}`" = "`{}` は `{}` を、`{}` は `{}` を待っています。";
    "`{}` has used up a quota, and waits no longer" = "`{}` は上限に達したため、もう待っていません。";
    "`{}` asks for the other colour" = "`{}` は反対の手番を希望しています。";
    "`{}` waits for no game" = "`{}` は対局を待っていません。";
    // Of games.
    "there is no game {} in this event" = "この大会に第{}局はありません。";
    "there is no game {}" = "第{}局はありません。";
    "game {} is still running: appeal when it is over" = "第{}局は対局中です。終局後に申し立ててください。";
    "game {} is still running; `adjourn --hold` ends it, then `replay` plays it again" = "第{}局は対局中です。指し掛けにしてから指し直してください。";
    "game {} is just being ended by another order" = "第{}局は別の操作で終局処理中です。";
    "game {} is only being set up: ask again in a moment" = "第{}局は準備中です。少し待ってください。";
    "game {} could not be played at all" = "第{}局は対局できませんでした。";
    "game {} ended by itself meanwhile: {}" = "第{}局はその間に終局しました：{}";
    "game {} is adjourned: play it on, and rule on it then" = "第{}局は指し掛けです。再開してから裁定してください。";
    "game {} is over: {}" = "第{}局は終局しています：{}";
    "game {} is not over" = "第{}局は終局していません。";
    "game {} has that result already" = "第{}局はすでにその結果です。";
    "game {} does not count ({}); the game played in its place does" = "第{}局は無効で（{}）、代わりの対局が有効です。";
    "game {} does not count: it is played again" = "第{}局は無効です：指し直しになります。";
    "game {} does not count: {}" = "第{}局は無効です：{}";
    "game {} stays as it is: {}" = "第{}局の結果は変えられません：{}";
    "game {} has only just ended: ask again in a moment" = "第{}局は終局したばかりです。少し待ってください。";
    "game {} does not wait to be played on; `list` shows those that do" = "第{}局は再開待ちではありません。";
    "stage {} has begun, and its entrants follow from this result" = "ステージ{}が始まり、その参加者はこの結果で決まりました。";
    "the sequential test has its verdict, and is decided once" = "逐次検定はすでに判定が出ています。";
    "round {} has begun, and its pairings follow from this result" = "{}回戦が始まり、その組合せはこの結果で決まりました。";
    "round {} is paired already" = "{}回戦はすでに組まれています。";
    "the game has not answered yet; `list` shows whether it is still running" = "対局からまだ応答がありません。";
    "an open league has no schedule in which a game has a place: `rule GAME void` takes it out, and its players may ask for another" = "自由対局リーグに指し直しはありません。裁定で無効にし、選手が改めて対局を申し込みます。";
    "an open league has no schedule in which a game has a place; its players may ask for another" = "自由対局リーグに再開はありません。選手が改めて対局を申し込みます。";
    // Of appeals and operations.
    "an appeal of yours against the result of game {} waits already" = "第{}局への申し立てはすでに受け付けています。";
    "too many appeals wait for a decision; speak to the arbiter" = "回答待ちの申し立てが多すぎます。審判に直接伝えてください。";
    "operation {} is no appeal that waits; `list` shows those that do" = "操作{}は回答待ちの申し立てではありません。";
    "there is no operation {}" = "操作{}はありません。";
    "operation {} was taken back before" = "操作{}はすでに取り消されています。";
    "operation {} is not taken back by its number: `readmit {}` lets the machine join again, and its games stay played again" = "操作{}は番号では取り消せません。マシン `{}` は `readmit` で復帰できますが、対局は指し直しのままです。";
    "operation {} {} cannot be taken back" = "操作{}{}は取り消せません。";
    "`{}` does not play any more: undo the later swap first" = "`{}` はもう出場していません。後の交代を先に取り消してください。";
    "a later operation is about the same game as operation {}: undo that first" = "操作{}と同じ対局への後の操作があります。そちらを先に取り消してください。";
    // Outcomes.
    "{} wins by {}" = "{}勝ち（{}）";
    "draw by {}" = "引き分け（{}）";
    "not counted: {}" = "無効（{}）";
    // What a text is not.
    "`{}` is {}" = "`{}` は{}";
    "neither a player's name nor a network such as 192.0.2.7, 192.0.2.0/24 or 2001:db8:1:2::/64" = "選手名でも、192.0.2.7、192.0.2.0/24、2001:db8:1:2::/64 のようなネットワークでもありません。";
    "black" = "先手";
    "white" = "後手";
}

impl Language {
    /// An answer of the operator's handle. One that is not in the catalogue stays in English.
    #[must_use]
    pub fn reply(self, english: &str) -> Cow<'_, str> {
        match self {
            Self::English => english.into(),
            Self::Japanese => in_japanese(english).into(),
        }
    }
}

fn in_japanese(english: &str) -> String {
    let found = ANSWERS.iter().find_map(|(known, japanese)| Some((arguments(known, english)?, japanese)));
    let Some((arguments, japanese)) = found else {
        return Language::Japanese.cause(english).to_owned();
    };
    let mut arguments = arguments.into_iter();
    let mut parts = japanese.split("{}");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + &in_japanese(arguments.next().unwrap_or_default()) + part)
}

/// What stands in the places of the placeholders, if a text has the form of a known one.
fn arguments<'a>(known: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let (first, rest) = known.split_once("{}").unwrap_or((known, ""));
    let mut left = text.strip_prefix(first)?;
    if first.len() == known.len() {
        return left.is_empty().then(Vec::new);
    }
    let mut arguments = vec![];
    let mut literals = rest.split("{}").peekable();
    while let Some(literal) = literals.next() {
        let at = if literals.peek().is_none() {
            left.ends_with(literal).then(|| left.len() - literal.len())
        } else {
            left.find(literal)
        };
        let (argument, behind) = left.split_at(at?);
        arguments.push(argument);
        left = &behind[literal.len()..];
    }
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        fs,
        path::{Path, PathBuf},
    };

    #[test]
    fn answers_have_the_same_number_of_placeholders_in_both_languages() {
        for (english, japanese) in ANSWERS {
            assert_eq!(english.matches("{}").count(), japanese.matches("{}").count(), "{english}");
        }
    }

    #[test]
    fn an_answer_within_an_answer_is_translated_too() {
        let japanese = |text| Language::Japanese.reply(text).into_owned();
        assert_eq!(
            japanese("game 7 is over: black wins by resignation"),
            "第7局は終局しています：先手勝ち（投了）"
        );
        assert_eq!(
            japanese("game 7 stays as it is: round 2 is paired already"),
            "第7局の結果は変えられません：2回戦はすでに組まれています。"
        );
        assert_eq!(
            japanese("`a` waits for `g`, and `b` for `h`"),
            "`a` は `g` を、`b` は `h` を待っています。"
        );
        assert_eq!(japanese("the event is not paused"), "休止中ではありません。");
        assert_eq!(japanese("something new"), "something new", "better in English than not at all");
        assert_eq!(Language::English.reply("game 7 is not over"), "game 7 is not over");
    }

    /// The sources of a room.
    fn sources(room: &Path) -> Vec<String> {
        let entries = fs::read_dir(room).unwrap().map(|entry| entry.unwrap().path());
        let of = |path: PathBuf| match path.is_dir() {
            true => sources(&path),
            false if path.extension().is_some_and(|ending| ending == "rs") => {
                vec![fs::read_to_string(path).unwrap()]
            }
            false => vec![],
        };
        entries.flat_map(of).collect()
    }

    /// The literal texts in the sources of a room, with their placeholders written as here.
    fn literals(source: &str) -> String {
        let mut text = String::new();
        let mut rest = source;
        while let Some((before, after)) = rest.split_once('{') {
            text += before;
            match after.split_once('}') {
                Some((name, behind)) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                    text += "{}";
                    rest = behind;
                }
                _ => {
                    text.push('{');
                    rest = after;
                }
            }
        }
        let joined = text + rest;
        let lines = joined.split("\\\n").map(str::trim_start);
        lines.collect()
    }

    #[test]
    fn every_answer_of_the_catalogue_is_one_that_a_room_gives() {
        let rooms = ["arena", "host", "referee"]
            .map(|room| Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(room));
        let said: String =
            rooms.iter().flat_map(|room| sources(room)).map(|source| literals(&source)).collect();
        let made = ["the registration is closed already", "the registration is open already"];
        for (english, _) in ANSWERS.iter().filter(|(english, _)| !made.contains(english)) {
            assert!(said.contains(english), "no room answers {english:?}: its words have changed");
        }
    }
}
