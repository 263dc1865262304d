//! The command of a form, and the right to give it.

use super::forms::Fields;
use crate::{accounts::Signed, refusals::Refusal};
use arena::operations::command::{Command, Kind, Misread, Right};
use words::Language;

/// The command of a form.
///
/// # Errors
/// When there is no such command on the page, or a field is missing or malformed.
pub fn command(fields: &Fields) -> Result<Command, Refusal> {
    // The form of a player bans by name or by address.
    let (name, whom) = match fields.text("command") {
        "ban-name" => ("ban", "name"),
        "ban-address" => ("ban", "address"),
        name => (name, "whom"),
    };
    let text = |name: &str| match name {
        "whom" => fields.text(whom).to_owned(),
        // On the page, a game that is ended waits for the operator.
        "hold" => "true".to_owned(),
        name => fields.text(name).to_owned(),
    };
    let command = Command::read(name, text).map_err(|misread| refusal(misread, fields))?;
    let on_page = command.filter(|command| command.right() != Right::Socket);
    on_page.ok_or_else(|| Refusal::bad(Language::unknown_order))
}

fn refusal(Misread { field, kind }: Misread, fields: &Fields) -> Refusal {
    match kind {
        Kind::Choice(choices) => {
            let words: Vec<_> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
            Refusal::bad(|language| language.field_takes_one_of(field, &words.join(", ")))
        }
        Kind::Number | Kind::Optional if !fields.text(field).is_empty() => {
            Refusal::bad(|language| language.field_takes_number(field))
        }
        _ => Refusal::bad(|language| language.empty_field(field)),
    }
}

/// Allows an account its command.
///
/// # Errors
/// When the command is an arbiter's and the account is not.
pub fn may(signed: &Signed, command: &Command) -> Result<(), Refusal> {
    match signed.is_arbiter() || command.right() == Right::Operator {
        true => Ok(()),
        false => Err(Refusal::forbidden(Language::for_arbiters)),
    }
}
