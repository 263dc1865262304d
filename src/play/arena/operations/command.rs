//! The commands of an operator, in one table.
//!
//! JSON at the socket is what serde makes of [`Command`]. [`COMMANDS`] has the rest: `renmei admin` makes its subcommands
//! and their help of it, and the arbiter's page reads its forms by it.

use platform::programs::quoted;
use referee::{AbortBy, Color, DrawBy, Outcome, WinBy, points::Points};
use serde::{
    Deserialize, Serialize,
    de::{
        DeserializeOwned, IntoDeserializer,
        value::{Error as ValueError, StrDeserializer},
    },
};
use std::path::Path;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct CommandSpec {
    /// Its name on the command line and in forms.
    pub name: &'static str,
    /// A sentence about it.
    pub about: &'static str,
    /// What it takes, in the order of the command line.
    pub fields: &'static [FieldSpec],
}

/// Who may give a command on the pages; at the socket all of them may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Operators and arbiters.
    Operator,
    /// Arbiters: they decide on results, bans, substitutes and what was decided before.
    Arbiter,
    /// Nobody: the pages have no form for it.
    Socket,
}

/// A value that a command takes.
#[derive(Clone, Copy, Debug)]
pub struct FieldSpec {
    /// Its name.
    pub name: &'static str,
    /// A sentence about it.
    pub about: &'static str,
    /// Its kind.
    pub kind: Kind,
}

/// A kind of values.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Words of the operator.
    Text,
    /// A whole number.
    Number,
    /// A whole number, or nothing.
    Optional,
    /// A decimal number.
    Points,
    /// `true` where it is wanted.
    Flag,
    /// One of these words, each with a sentence about it.
    Choice(&'static [(&'static str, &'static str)]),
}

/// A field that cannot be read.
#[derive(Clone, Copy, Debug)]
pub struct Misread {
    /// Its name.
    pub field: &'static str,
    /// What it has to be.
    pub kind: Kind,
}

/// A value that can be read from the command line or a form: as from a string in JSON, unless it says otherwise.
trait Value: DeserializeOwned {
    const KIND: Kind;

    fn read(text: &str) -> Option<Self> {
        let text: StrDeserializer<'_, ValueError> = text.into_deserializer();
        Self::deserialize(text).ok()
    }
}

impl Value for String {
    const KIND: Kind = Kind::Text;

    fn read(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.to_owned())
    }
}

impl Value for u64 {
    const KIND: Kind = Kind::Number;

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Value for Option<u64> {
    const KIND: Kind = Kind::Optional;

    fn read(text: &str) -> Option<Self> {
        if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) }
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Flag;

    fn read(text: &str) -> Option<Self> {
        Some(text == "true")
    }
}

impl Value for Points {
    const KIND: Kind = Kind::Points;

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().and_then(Self::of)
    }
}

impl Value for Color {
    const KIND: Kind = Kind::Choice(&[("black", "Black"), ("white", "White")]);
}

impl Value for RuledResult {
    const KIND: Kind = Kind::Choice(&[
        ("black", "Black wins"),
        ("white", "White wins"),
        ("draw", "A draw"),
        ("void", "The game does not count, and is not played again"),
    ]);
}

impl Value for Decision {
    const KIND: Kind = Kind::Choice(&[
        ("dismissed", "The result stands"),
        ("upheld", "The appeal was right, and what follows was ordered before"),
        ("replay", "The appeal was right: the game is played again"),
        ("black", "The appeal was right: black wins"),
        ("white", "The appeal was right: white wins"),
        ("draw", "The appeal was right: the game is a draw"),
        ("void", "The appeal was right: the game does not count, and is not played again"),
    ]);
}

macro_rules! commands {
    (@reason) => { false };
    (@reason reason) => { true };
    ($($(#[doc = $about:literal])+
       $variant:ident $name:literal $right:ident $($reason:ident)?
       $({ $($(#[doc = $help:literal])+ $(#[serde($($serde:tt)+)])? $field:ident: $type:ty,)+ })?;)+) => {
        /// A command of the operator.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub enum Command {
            $($(#[doc = $about])+
              $variant $({ $($(#[doc = $help])+ $(#[serde($($serde)+)])? $field: $type,)+ })?,)+
        }

        /// The table of all commands.
        pub const COMMANDS: &[CommandSpec] = &[$(CommandSpec {
            name: $name,
            about: concat!($($about),+),
            fields: &[$($(FieldSpec {
                name: stringify!($field),
                about: concat!($($help),+),
                kind: <$type as Value>::KIND,
            },)+)?],
        }),+];

        impl Command {
            /// The command line that gives an event an order. It names the event: its database may have others, also later.
            pub fn line(database: &Path, event: &str, order: &str) -> String {
                let [database, event] = [&*database.to_string_lossy(), event].map(quoted);
                format!("renmei admin {database} --event {event} {order}")
            }

            /// Who may give it on the pages.
            pub fn right(&self) -> Right {
                match self { $(Self::$variant { .. } => Right::$right,)+ }
            }

            /// True if it is carried out only with a reason.
            pub fn needs_reason(&self) -> bool {
                match self { $(Self::$variant { .. } => commands!(@reason $($reason)?),)+ }
            }

            /// The command of that name, with its fields as texts; `None`: there is no such command.
            ///
            /// # Errors
            /// The first field that cannot be read.
            pub fn read(name: &str, field: impl Fn(&str) -> String) -> Result<Option<Self>, Misread> {
                Ok(Some(match name {
                    $($name => Self::$variant $({
                        $($field: {
                            let misread = Misread { field: stringify!($field), kind: <$type as Value>::KIND };
                            <$type as Value>::read(&field(misread.field)).ok_or(misread)?
                        },)+
                    })?,)+
                    _ => return Ok(None),
                }))
            }
        }
    };
}

// A row: help, variant, name on the command line and in forms, who may give it on the pages, `reason` where one is needed,
// and what it takes.
commands! {
    /// Show players, running games with their clocks, bans, mutes and buoys.
    List "list" Socket;
    /// Begin no new games; running games go on.
    Pause "pause" Operator;
    /// Begin new games again.
    Resume "resume" Operator;
    /// End the connection of a player; a game of theirs goes on as after a lost connection.
    Kick "kick" Operator {
        /// The name.
        name: String,
    };
    /// Keep a player, an address or a network out.
    Ban "ban" Arbiter reason {
        /// A name, or an address such as 192.0.2.7, 192.0.2.0/24 or 2001:db8:1:2::/64.
        whom: String,
    };
    /// End a ban.
    Unban "unban" Arbiter {
        /// As it was given to `ban`.
        whom: String,
    };
    /// Let nobody hear the chat and comments of a player.
    Mute "mute" Operator {
        /// The name.
        name: String,
    };
    /// Let a player be heard again.
    Unmute "unmute" Operator {
        /// The name.
        name: String,
    };
    /// Delete a buoy of any player.
    DeleteBuoy "delete-buoy" Operator {
        /// The name of its games.
        name: String,
    };
    /// Announce a text on the pages and to clients in the extended mode.
    Announce "announce" Operator {
        /// The text.
        text: String,
    };
    /// Close the registration of an open league: only those who have played in it may log in.
    CloseRegistration "close" Operator;
    /// Open the registration again.
    OpenRegistration "open" Operator;
    /// End a running game; it is played on from its position, with its clocks.
    Adjourn "adjourn" Operator {
        /// Its number.
        game: u64,
        /// Not before `play-on` says so.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hold: bool,
    };
    /// Play a game on that was adjourned with `--hold`; `replay` plays it again from its opening.
    PlayOn "play-on" Operator {
        /// Its number.
        game: u64,
    };
    /// Give a player of an adjourned game that waits another main time, with which it is played on.
    Clock "clock" Arbiter reason {
        /// The number of the adjourned game.
        game: u64,
        /// Whose clock.
        color: Color,
        /// What is left of the main time, such as 4m30s.
        left: String,
    };
    /// Give a game a result, running or over; what it ended with stays on record.
    Rule "rule" Arbiter reason {
        /// Its number.
        game: u64,
        /// The result.
        result: RuledResult,
    };
    /// Let a game that is over not count, and be played again from its opening.
    Replay "replay" Arbiter reason {
        /// Its number.
        game: u64,
    };
    /// Give a machine no more games; every game that it has played is played again.
    DropMachine "drop" Socket reason {
        /// The name of the machine.
        machine: String,
    };
    /// Let a machine that was dropped join again; its games stay played again.
    ReadmitMachine "readmit" Socket {
        /// The name of the machine.
        machine: String,
    };
    /// Let two players of a Swiss meet in the round that is paired next; those of an open league who wait for the same game
    /// play it now.
    Pair "pair" Arbiter {
        /// The name of black.
        black: String,
        /// The name of white.
        white: String,
    };
    /// Put an appeal against the result of a game on record, for somebody who cannot file it on the pages; `--reason` says
    /// why.
    Appeal "appeal" Socket reason {
        /// The number of the game.
        game: u64,
    };
    /// Decide on an appeal.
    Answer "answer" Arbiter reason {
        /// The number of the appeal's operation, as `list` shows it.
        appeal: u64,
        /// The decision.
        decision: Decision,
    };
    /// Give the place of an entrant who logs in, with its games and its score, to another who logs in.
    Swap "swap" Arbiter reason {
        /// The name of the entrant.
        out: String,
        /// The name of the substitute.
        substitute: String,
    };
    /// Take points from a player in the table of the stage that is played.
    Penalty "penalty" Arbiter reason {
        /// The name of the player.
        player: String,
        /// The points, such as 1 or 0.5.
        points: Points,
    };
    /// Take all results of a player out of every table, as if its games had not been played; it plays no later round.
    Disqualify "disqualify" Arbiter reason {
        /// The name of the player.
        player: String,
    };
    /// Place a player above another with whom it is level in the table of the stage that is played, as by a lot.
    Place "place" Arbiter reason {
        /// The name of the player.
        player: String,
        /// The name of the other one.
        above: String,
    };
    /// Let a player play no game from the next round on; opponents that it would have had win by default.
    Withdraw "withdraw" Arbiter reason {
        /// The name of the player.
        player: String,
    };
    /// Let a player who was withdrawn play again from the next round on; so a late player enters.
    Return "return" Arbiter {
        /// The name of the player.
        player: String,
    };
    /// Give a player a half-point bye in a later round of a Swiss: it is not paired there.
    Bye "bye" Arbiter {
        /// The name of the player.
        player: String,
        /// The round, from 1; without it the one that is paired next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round: Option<u64>,
    };
    /// Read the file of the event again: engines that were added at its end join the event, and may replace others.
    Reload "reload" Arbiter;
    /// Take back an operation that is in effect: a ban, a mute, a pause, a ruling, a swap, a penalty, a disqualification, a place, a withdrawal, a pairing, a bye.
    Undo "undo" Arbiter {
        /// Its number.
        number: u64,
    };
}

/// The result that a game is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuledResult {
    /// Black wins.
    Black,
    /// White wins.
    White,
    /// A draw.
    Draw,
    /// The game does not count, and is not played again.
    Void,
}

impl RuledResult {
    /// The outcome of the game.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Black => Outcome::Win { winner: Color::Black, by: WinBy::Ruling },
            Self::White => Outcome::Win { winner: Color::White, by: WinBy::Ruling },
            Self::Draw => Outcome::Draw { by: DrawBy::Ruling },
            Self::Void => Outcome::Aborted { by: AbortBy::Annulled },
        }
    }
}

/// The decision on an appeal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The result stands.
    Dismissed,
    /// The appeal was right, and what follows from it is ordered otherwise.
    Upheld,
    /// The appeal was right: the game is played again.
    Replay,
    /// The appeal was right: the game has this result.
    #[serde(untagged)]
    Ruled(RuledResult),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_names_the_orders_that_need_a_reason() {
        let guide = include_str!("../../../guide/hosting.md");
        let line = guide.lines().find(|line| line.contains("want a reason")).unwrap();
        let (named, _) = line.split_once(" want a reason").unwrap();
        let mut named: Vec<_> = named.split('`').skip(1).step_by(2).collect();
        let needs = include_str!("command.rs").lines().filter(|line| line.ends_with(" reason {"));
        let mut needs: Vec<_> = needs.filter_map(|line| line.split('"').nth(1)).collect();
        named.sort_unstable();
        needs.sort_unstable();
        assert_eq!(named, needs);
    }

    #[test]
    fn a_command_is_read_from_texts_as_from_json() {
        let field = |name: &str| match name {
            "game" | "appeal" | "number" | "points" | "round" => "7".to_owned(),
            "result" => "void".to_owned(),
            "color" => "white".to_owned(),
            "decision" => "white".to_owned(),
            "hold" => "true".to_owned(),
            name => format!("some {name}"),
        };
        for spec in COMMANDS {
            let command = Command::read(spec.name, field).unwrap().unwrap();
            let json = serde_json::to_string(&command).unwrap();
            assert_eq!(serde_json::from_str::<Command>(&json).unwrap(), command, "{json}");
        }
        let read = |name, text: &str| Command::read(name, |_| text.to_owned());
        assert!(read("pauze", "").unwrap().is_none());
        assert_eq!(read("kick", "").unwrap_err().field, "name");
        assert_eq!(read("replay", "seven").unwrap_err().field, "game");
        let ruled = Command::Answer { appeal: 7, decision: Decision::Ruled(RuledResult::White) };
        assert_eq!(Command::read("answer", field).unwrap(), Some(ruled));
    }
}
