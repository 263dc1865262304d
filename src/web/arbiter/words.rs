//! Words of the arbiter's pages in the visitor's language.

use crate::{accounts::Refused, visitor::Lang};
use arena::operations::{Operations, request::Answer};
use journal::Role;
use referee::operation::Operation;

/// Operations among which the one that was just done is looked for.
const RECENT: usize = 50;

/// What a player on the network does, from the protocol's word.
pub fn state(lang: Lang, word: &str) -> &str {
    match word {
        "connected" => lang.say("no game", "対局なし"),
        "game_waiting" => lang.say("waits", "対局待ち"),
        "agree_waiting" => lang.say("has to agree", "同意待ち"),
        "start_waiting" => lang.say("has agreed", "同意済み"),
        "game" => lang.say("plays", "対局中"),
        other => other,
    }
}

/// The role of an account.
pub fn role(lang: Lang, role: Role) -> &'static str {
    match role {
        Role::Arbiter => lang.say("arbiter", "審判"),
        Role::Operator => lang.say("operator", "運営"),
    }
}

/// An operation on record.
pub fn operation(lang: Lang, operation: &Operation) -> String {
    match lang {
        Lang::En => operation.to_string(),
        Lang::Ja => report::japanese_operation(operation),
    }
}

/// What was done, from the answer to an order; why not, in the words of the answer.
pub fn done(lang: Lang, operations: &Operations, answer: &Answer) -> String {
    let Some(number) = answer.operation else { return answer.text.clone() };
    let done = operations.recent(RECENT).into_iter().find(|(operation, _)| operation.number == number);
    match (lang, done) {
        (Lang::Ja, Some((done, _))) => operation(lang, &done),
        _ => format!("{} (operation {number})", answer.text),
    }
}

/// What an operator hears who orders what arbiters may.
pub fn for_arbiters(lang: Lang) -> &'static str {
    lang.say(
        "this is for an arbiter: your account has the role of an operator",
        "この操作は審判のみ行えます。あなたのアカウントは運営です。",
    )
}

/// What there is to say before an event.
pub fn not_begun(lang: Lang) -> &'static str {
    lang.say("the event has not begun yet", "大会はまだ始まっていません")
}

/// Why something is refused.
pub fn refused(lang: Lang, why: &Refused) -> String {
    let japanese = match why {
        Refused::Open => {
            "パスワードは暗号化された接続か、このマシンからのみ受け付けます。https:// で始まるアドレスを使ってください。"
        }
        Refused::Forged => "このページは古くなっています。読み込み直して、もう一度操作してください。",
        Refused::Wrong => "名前またはパスワードが違います。",
        Refused::LockedOut => "パスワードの誤りが多すぎます。10分ほど待ってください。",
        Refused::Busy => "混み合っています。少し待ってから、もう一度操作してください。",
        Refused::Stranger => "ログインしていないか、ログインの期限が切れています。",
        Refused::TooMany => "登録申請が多すぎます。1時間ほど待ってください。",
        Refused::TooManyAppeals => "異議申し立てが多すぎます。1時間ほど待つか、審判に直接伝えてください。",
        Refused::WrongSecret => {
            "この対局の対局者の秘密の文字列でも、登録済みアカウントのパスワードでもありません。審判が代わりに申し立てることもできます。"
        }
        Refused::Password(plan::password::BadPassword::Form) => {
            "パスワードは1〜128文字で、空白は使えません（通信の1行に入るため）。"
        }
        _ => return why.to_string(),
    };
    match lang {
        Lang::En => why.to_string(),
        Lang::Ja => japanese.to_owned(),
    }
}
