//! What a form orders, and who may.

use super::{Fields, field};
use crate::visitor::Lang;
use arena::operations::command::{Command, Kind, Misread, Right};
use journal::Role;

/// The command of a form.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn command(fields: &Fields, lang: Lang) -> Result<Command, String> {
    // The form of a player bans by name or by address.
    let (name, whom) = match field(fields, "command") {
        "ban-name" => ("ban", "name"),
        "ban-address" => ("ban", "address"),
        name => (name, "whom"),
    };
    let text = |name: &str| match name {
        "whom" => field(fields, whom).to_owned(),
        // On the page, a game that is ended waits for the operator.
        "hold" => "true".to_owned(),
        name => field(fields, name).to_owned(),
    };
    let command = Command::read(name, text).map_err(|misread| words(misread, fields, lang))?;
    command.filter(|command| command.right() != Right::Socket).ok_or_else(|| {
        let unknown = lang
            .say("unknown order; load the page again", "不明な操作です。ページを読み込み直してください。");
        unknown.to_owned()
    })
}

fn words(Misread { field: name, kind }: Misread, fields: &Fields, lang: Lang) -> String {
    match kind {
        Kind::Choice(words) => {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let (last, others) = words.split_last().map_or(("", &[][..]), |(last, others)| (last, others));
            format!("a {name} is {} or {last}", others.join(", "))
        }
        Kind::Number if !field(fields, name).is_empty() => match lang {
            Lang::En => format!("the field `{name}` takes a number"),
            Lang::Ja => "番号には数字を入れてください。".to_owned(),
        },
        _ => match lang {
            Lang::En => format!("the field `{name}` is empty"),
            Lang::Ja => "必要な項目が空です。".to_owned(),
        },
    }
}

/// Whether a role may order that.
#[must_use]
pub fn may(role: Role, command: &Command) -> bool {
    role == Role::Arbiter || command.right() == Right::Operator
}
