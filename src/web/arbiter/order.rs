//! What a form orders, and who may.

use super::forms::Fields;
use crate::{accounts::Signed, refusals::Refusal};
use arena::operations::request::{Command, Decision, RuledResult};
use words::Language;

/// The command of a form.
///
/// # Errors
/// What is wrong with it.
pub fn command(fields: &Fields) -> Result<Command, Refusal> {
    let text = |name: &'static str| {
        fields.optional(name).ok_or_else(|| Refusal::bad(|language| language.empty_field(name)))
    };
    let number = |name: &'static str| -> Result<u64, Refusal> {
        text(name)?.parse().map_err(|_| Refusal::bad(|language| language.field_takes_number(name)))
    };
    Ok(match fields.text("command") {
        "pause" => Command::Pause,
        "resume" => Command::Resume,
        "close" => Command::CloseRegistration,
        "open" => Command::OpenRegistration,
        "announce" => Command::Announce { text: text("text")? },
        "kick" => Command::Kick { name: text("name")? },
        "ban" => Command::Ban { whom: text("whom")? },
        "ban-name" => Command::Ban { whom: text("name")? },
        "ban-address" => Command::Ban { whom: text("address")? },
        "unban" => Command::Unban { whom: text("whom")? },
        "mute" => Command::Mute { name: text("name")? },
        "unmute" => Command::Unmute { name: text("name")? },
        "delete-buoy" => Command::DeleteBuoy { name: text("name")? },
        "adjourn" => Command::Adjourn { game: number("game")?, hold: true },
        "play-on" => Command::PlayOn { game: number("game")? },
        "replay" => Command::Replay { game: number("game")? },
        "rule" => Command::Rule { game: number("game")?, result: result(fields.text("result"))? },
        "pair" => Command::Pair { black: text("black")?, white: text("white")? },
        "answer" => {
            Command::Answer { appeal: number("appeal")?, decision: decision(fields.text("decision"))? }
        }
        "swap" => Command::Swap { out: text("out")?, substitute: text("substitute")? },
        "undo" => Command::Undo { number: number("number")? },
        _ => return Err(Refusal::bad(Language::unknown_order)),
    })
}

fn decision(word: &str) -> Result<Decision, Refusal> {
    match word {
        "dismissed" => Ok(Decision::Dismissed),
        "upheld" => Ok(Decision::Upheld),
        "replay" => Ok(Decision::Replay),
        ruled => result(ruled).map(Decision::Ruled),
    }
}

fn result(word: &str) -> Result<RuledResult, Refusal> {
    match word {
        "black" => Ok(RuledResult::Black),
        "white" => Ok(RuledResult::White),
        "draw" => Ok(RuledResult::Draw),
        "void" => Ok(RuledResult::Void),
        _ => Err(Refusal::bad(Language::unknown_result)),
    }
}

/// Whether a login may order that: results, bans, substitutes and what was decided before are the arbiter's.
///
/// # Errors
/// When it may not.
pub fn may(signed: &Signed, command: &Command) -> Result<(), Refusal> {
    let of_arbiters = match command {
        Command::Rule { .. }
        | Command::Replay { .. }
        | Command::Swap { .. }
        | Command::Answer { .. }
        | Command::Pair { .. }
        | Command::Undo { .. }
        | Command::DropMachine { .. }
        | Command::ReadmitMachine { .. }
        | Command::Ban { .. }
        | Command::Unban { .. } => true,
        Command::List
        | Command::Pause
        | Command::Resume
        | Command::Kick { .. }
        | Command::Mute { .. }
        | Command::Unmute { .. }
        | Command::DeleteBuoy { .. }
        | Command::Announce { .. }
        | Command::Appeal { .. }
        | Command::CloseRegistration
        | Command::OpenRegistration
        | Command::Adjourn { .. }
        | Command::PlayOn { .. } => false,
    };
    match signed.is_arbiter() || !of_arbiters {
        true => Ok(()),
        false => Err(Refusal::forbidden(Language::for_arbiters)),
    }
}
