//! What a form orders, and who may.

use super::{Fields, field};
use crate::visitor::Lang;
use arena::operations::request::{Command, Decision, RuledResult};
use journal::Role;

/// The command of a form.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn command(fields: &Fields, lang: Lang) -> Result<Command, String> {
    let text = |name: &str| -> Result<String, String> {
        match field(fields, name) {
            "" => Err(match lang {
                Lang::En => format!("the field `{name}` is empty"),
                Lang::Ja => "必要な項目が空です。".to_owned(),
            }),
            text => Ok(text.to_owned()),
        }
    };
    let number = |name: &str| -> Result<u64, String> {
        text(name)?.parse().map_err(|_| match lang {
            Lang::En => format!("the field `{name}` takes a number"),
            Lang::Ja => "番号には数字を入れてください。".to_owned(),
        })
    };
    Ok(match field(fields, "command") {
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
        "rule" => Command::Rule { game: number("game")?, result: result(field(fields, "result"))? },
        "pair" => Command::Pair { black: text("black")?, white: text("white")? },
        "answer" => {
            Command::Answer { appeal: number("appeal")?, decision: decision(field(fields, "decision"))? }
        }
        "swap" => Command::Swap { out: text("out")?, substitute: text("substitute")? },
        "undo" => Command::Undo { number: number("number")? },
        _ => {
            let unknown = lang.say(
                "unknown order; load the page again",
                "不明な操作です。ページを読み込み直してください。",
            );
            return Err(unknown.to_owned());
        }
    })
}

fn decision(word: &str) -> Result<Decision, String> {
    match word {
        "dismissed" => Ok(Decision::Dismissed),
        "upheld" => Ok(Decision::Upheld),
        "replay" => Ok(Decision::Replay),
        ruled => result(ruled).map(Decision::Ruled),
    }
}

fn result(word: &str) -> Result<RuledResult, String> {
    match word {
        "black" => Ok(RuledResult::Black),
        "white" => Ok(RuledResult::White),
        "draw" => Ok(RuledResult::Draw),
        "void" => Ok(RuledResult::Void),
        _ => Err("a result is `black`, `white`, `draw` or `void`".to_owned()),
    }
}

/// Whether a role may order that: results, bans, substitutes and what was decided before are the arbiter's.
#[must_use]
pub fn may(role: Role, command: &Command) -> bool {
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
    role == Role::Arbiter || !of_arbiters
}
