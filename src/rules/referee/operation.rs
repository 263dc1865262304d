//! What the operator of an event does, on record: each action is an entry of the stream, and what it means for results,
//! logins and the schedule is a fold of these entries, live and after a restart alike.

use crate::{
    Color, Outcome,
    ids::{GameId, PlayerId},
    pairing::Pairing,
    points::Points,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, mem,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
    time::Duration,
};

/// A game that an operation is about, with everything that people know it by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedGame {
    /// Its number.
    pub game: GameId,
    /// The name of black at the time of the operation.
    pub black: String,
    /// The name of white at that time.
    pub white: String,
    /// Its round, from 1.
    pub round: u32,
}

impl fmt::Display for NamedGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { game, black, white, round } = self;
        write!(f, "game {} ({black} - {white}, round {round})", game.0)
    }
}

/// An action of the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Its number, from 1 in the event.
    pub number: u64,
    /// The person: the system's user name, and the name that was given beside it.
    pub by: String,
    /// The reason in the operator's words; empty where none was given.
    pub reason: String,
    /// The operation that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// What was done.
    #[serde(flatten)]
    pub action: Action,
}

/// What an operator can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantNames)]
#[serde(rename_all = "kebab-case", tag = "action")]
#[strum(serialize_all = "kebab-case")]
pub enum Action {
    /// No new game begins; running games go on.
    Paused,
    /// New games begin again.
    Resumed,
    /// Only players who have played in the event may log in.
    RegistrationClosed,
    /// New players may log in again.
    RegistrationOpened,
    /// A player's connection was ended.
    Kicked {
        /// The name.
        name: String,
    },
    /// A name or a network may not log in any more.
    Banned {
        /// Who.
        whom: Whom,
    },
    /// A ban ended.
    Unbanned {
        /// Who.
        whom: Whom,
    },
    /// Nobody hears a player's chat and comments any more.
    Muted {
        /// The name.
        name: String,
    },
    /// A player is heard again.
    Unmuted {
        /// The name.
        name: String,
    },
    /// A buoy was deleted.
    BuoyDeleted {
        /// The name of its games.
        name: String,
    },
    /// A text was announced.
    Announced {
        /// The text.
        text: String,
    },
    /// Somebody who had registered was given an account.
    RegistrationApproved {
        /// The name.
        name: String,
    },
    /// Somebody who had registered was not given an account.
    RegistrationRefused {
        /// The name.
        name: String,
    },
    /// A running game was ended, and is played on from its position.
    Adjourned {
        /// The game.
        #[serde(flatten)]
        game: NamedGame,
        /// Its place in the schedule, where it waits for the operator; absent for a game that is played on at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        held: Option<Pairing>,
    },
    /// An adjourned game that waited for the operator is played on from its position.
    PlayedOn {
        /// The adjourned game.
        #[serde(flatten)]
        game: NamedGame,
    },
    /// A player of an adjourned game that waits for the operator has another time on the clock when it is played on.
    ClockSet {
        /// The adjourned game.
        #[serde(flatten)]
        game: NamedGame,
        /// Whose clock.
        color: Color,
        /// What is left of the main time, in ms.
        left_ms: u64,
    },
    /// An adjourned game that waited for the operator is played again from its opening.
    Restarted {
        /// The adjourned game.
        #[serde(flatten)]
        game: NamedGame,
    },
    /// A game has the result that the operator gave it.
    Ruled {
        /// The game.
        #[serde(flatten)]
        game: NamedGame,
        /// Its place in the schedule.
        pairing: Pairing,
        /// What it had ended with; absent for a game that was running and ended by the ruling.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<Outcome>,
        /// The result from now on.
        outcome: Outcome,
    },
    /// A game that was over does not count any more, and its place in the schedule is open again.
    Replayed {
        /// The game.
        #[serde(flatten)]
        game: NamedGame,
        /// Its place in the schedule.
        pairing: Pairing,
        /// What it had ended with.
        was: Outcome,
    },
    /// Two players of an open league who waited for the same game were given one.
    Paired {
        /// The name of black.
        black: String,
        /// The name of white.
        white: String,
        /// The name of the games that they waited for.
        name: String,
    },
    /// Two players of a Swiss meet in the round after that, whatever its rules would pair.
    PairingGiven {
        /// Black and white.
        players: [PlayerId; 2],
        /// The name of black.
        black: String,
        /// The name of white.
        white: String,
        /// The stage, from 0.
        stage: u8,
        /// The last round of it that was paired before, from 1; 0: none was.
        round: u32,
        /// False if the decision was taken back.
        holds: bool,
    },
    /// A player has a half-point bye in a later round of a Swiss.
    ByeGiven {
        /// The player.
        player: PlayerId,
        /// Its name.
        name: String,
        /// The stage, from 0.
        stage: u8,
        /// The round, from 1.
        round: u32,
        /// False if the bye was taken back.
        holds: bool,
    },
    /// Somebody asked for another result of a game; the reason says why.
    Appealed {
        /// The game.
        #[serde(flatten)]
        game: NamedGame,
        /// What it had ended with.
        was: Outcome,
    },
    /// An appeal was decided on.
    AppealAnswered {
        /// The number of the appeal's operation.
        appeal: u64,
        /// The game.
        #[serde(flatten)]
        game: NamedGame,
        /// What it had ended with when the appeal came.
        was: Outcome,
        /// True if the appeal was right; what follows is an operation of its own.
        upheld: bool,
    },
    /// The place of an entrant in the event, with its games and its score, is that of another who logs in.
    Swapped {
        /// The place.
        player: PlayerId,
        /// The name of the entrant who had it.
        out: String,
        /// The name of the substitute.
        substitute: String,
    },
    /// A player lost points of a table; fewer than none: it got points back.
    Penalised {
        /// The player.
        player: PlayerId,
        /// Its name.
        name: String,
        /// The points.
        points: Points,
        /// The stage whose table it is, from 0.
        stage: u8,
        /// The last round of it that was paired before, from 1.
        round: u32,
    },
    /// No result of a player counts any more, and it plays no game of later rounds.
    Disqualified {
        /// The player.
        player: PlayerId,
        /// Its name.
        name: String,
        /// The stage of the last round that was paired before, from 0.
        stage: u8,
        /// That round, from 1; 0: none was.
        round: u32,
        /// False if a disqualification was taken back.
        holds: bool,
    },
    /// A player stands above another in the table of a stage where the two are level.
    Placed {
        /// The player.
        player: PlayerId,
        /// Its name.
        name: String,
        /// The other player.
        below: PlayerId,
        /// Its name.
        other: String,
        /// The stage, from 0.
        stage: u8,
        /// False if the decision was taken back.
        holds: bool,
    },
    /// A player plays no game of later rounds.
    Withdrawn {
        /// The player.
        player: PlayerId,
        /// Its name.
        name: String,
        /// The stage of the last round that was paired before, from 0.
        stage: u8,
        /// That round, from 1; 0: none was.
        round: u32,
        /// False if the player plays again in later rounds.
        holds: bool,
    },
    /// An engine joined the event, and may have replaced another one, which begins no further game.
    Joined {
        /// The new player.
        player: PlayerId,
        /// Its name.
        name: String,
        /// The player that it replaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<PlayerId>,
        /// The name of that player.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        out: Option<String>,
        /// What its games depend on, as in the fingerprint of an event: JSON.
        configuration: String,
    },
    /// A machine that was dropped may join again. Games of it that are played again stay so.
    MachineReadmitted {
        /// Its name.
        machine: String,
    },
    /// A machine gets no more games of the event; those that it has played are played again, each by an operation.
    MachineDropped {
        /// Its name.
        machine: String,
    },
}

impl Action {
    /// The word for it in the database, JSON and reports.
    pub fn word(&self) -> &'static str {
        self.into()
    }

    /// The game that it is about.
    pub fn game(&self) -> Option<GameId> {
        match self {
            Self::Adjourned { game, .. }
            | Self::PlayedOn { game }
            | Self::ClockSet { game, .. }
            | Self::Restarted { game }
            | Self::Ruled { game, .. }
            | Self::Replayed { game, .. }
            | Self::Appealed { game, .. }
            | Self::AppealAnswered { game, .. } => Some(game.game),
            _ => None,
        }
    }

    /// What it decides, where a later decision of the same ends its effect.
    fn matter(&self) -> Option<(&'static str, String)> {
        Some(match self {
            Self::Paused | Self::Resumed => ("pause", String::new()),
            Self::RegistrationClosed | Self::RegistrationOpened => ("registration", String::new()),
            Self::Banned { whom } | Self::Unbanned { whom } => ("ban", whom.to_string()),
            Self::Muted { name } | Self::Unmuted { name } => ("mute", name.clone()),
            Self::Swapped { player, .. } => ("place", player.0.to_string()),
            Self::Withdrawn { player, .. } => ("withdrawal", player.0.to_string()),
            Self::Ruled { game, .. } | Self::Replayed { game, .. } => ("result", game.game.0.to_string()),
            _ => return None,
        })
    }

    /// What takes it back, a decision about a player as of the same round.
    fn taken_back(&self) -> Option<Self> {
        let mut back = self.clone();
        match &mut back {
            Self::Paused => return Some(Self::Resumed),
            Self::Resumed => return Some(Self::Paused),
            Self::RegistrationClosed => return Some(Self::RegistrationOpened),
            Self::RegistrationOpened => return Some(Self::RegistrationClosed),
            Self::Banned { whom } => return Some(Self::Unbanned { whom: whom.clone() }),
            Self::Unbanned { whom } => return Some(Self::Banned { whom: whom.clone() }),
            Self::Muted { name } => return Some(Self::Unmuted { name: name.clone() }),
            Self::Unmuted { name } => return Some(Self::Muted { name: name.clone() }),
            Self::Swapped { out, substitute, .. } => mem::swap(out, substitute),
            Self::Ruled { was: Some(was), outcome, .. } => mem::swap(was, outcome),
            Self::Penalised { points, .. } => *points = -*points,
            Self::Disqualified { holds, .. }
            | Self::Placed { holds, .. }
            | Self::Withdrawn { holds, .. }
            | Self::PairingGiven { holds, .. }
            | Self::ByeGiven { holds, .. } => *holds = !*holds,
            _ => return None,
        }
        Some(back)
    }

    /// Takes a disqualification, or its end, into the players whose games count for nobody. Returns whether it is one.
    pub fn disqualifies(&self, players: &mut BTreeSet<PlayerId>) -> bool {
        let Self::Disqualified { player, holds, .. } = self else { return false };
        _ = if *holds { players.insert(*player) } else { players.remove(player) };
        true
    }

    /// The same decision about a player as of another round.
    #[must_use]
    pub fn as_of(mut self, when: (u8, u32)) -> Self {
        if let Self::Penalised { stage, round, .. }
        | Self::Disqualified { stage, round, .. }
        | Self::Withdrawn { stage, round, .. } = &mut self
        {
            (*stage, *round) = when;
        }
        self
    }

    /// What a game that was over has changed to: its place, what it was, and what it is; `None`: it does not count, and
    /// is played again.
    pub fn correction(&self) -> Option<(GameId, &Pairing, Outcome, Option<Outcome>)> {
        match self {
            Self::Ruled { game, pairing, was: Some(was), outcome } => {
                Some((game.game, pairing, *was, Some(*outcome)))
            }
            Self::Replayed { game, pairing, was } => Some((game.game, pairing, *was, None)),
            _ => None,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused => f.write_str("paused the event"),
            Self::Resumed => f.write_str("resumed the event"),
            Self::RegistrationClosed => f.write_str("closed the registration"),
            Self::RegistrationOpened => f.write_str("opened the registration"),
            Self::Kicked { name } => write!(f, "kicked `{name}`"),
            Self::Banned { whom } => write!(f, "banned `{whom}`"),
            Self::Unbanned { whom } => write!(f, "unbanned `{whom}`"),
            Self::Muted { name } => write!(f, "muted `{name}`"),
            Self::Unmuted { name } => write!(f, "unmuted `{name}`"),
            Self::BuoyDeleted { name } => write!(f, "deleted the buoy `{name}`"),
            Self::Announced { text } => write!(f, "announced: {text}"),
            Self::RegistrationApproved { name } => write!(f, "approved the registration of `{name}`"),
            Self::RegistrationRefused { name } => write!(f, "refused the registration of `{name}`"),
            Self::Adjourned { game, .. } => write!(f, "adjourned {game}"),
            Self::PlayedOn { game } => write!(f, "resumed {game} from its position"),
            Self::ClockSet { game, color, left_ms } => {
                let seconds = Duration::from_millis(*left_ms).as_secs_f64();
                write!(f, "set the clock of {color} in {game} to {seconds} s")
            }
            Self::Restarted { game } => write!(f, "restarted {game} from its opening"),
            Self::Ruled { game, was, outcome, .. } => {
                write!(f, "ruled {game}: {outcome}")?;
                was.map_or(Ok(()), |was| write!(f, " (it was: {was})"))
            }
            Self::Replayed { game, was, .. } => {
                write!(f, "has {game} played again (it was: {was})")
            }
            Self::Joined { name, out: Some(out), .. } => write!(f, "replaced `{out}` by `{name}`"),
            Self::Joined { name, .. } => write!(f, "added `{name}`"),
            Self::MachineDropped { machine } => {
                write!(f, "dropped the machine `{machine}`, which gets no more games")
            }
            Self::MachineReadmitted { machine } => {
                write!(f, "readmitted the machine `{machine}`, which may join again")
            }
            Self::Paired { black, white, name } => {
                write!(f, "paired `{black}` (black) with `{white}` for `{name}`")
            }
            Self::PairingGiven { black, white, round, holds, .. } => {
                let round = round.saturating_add(1);
                match holds {
                    true => write!(f, "paired `{black}` (black) with `{white}` (white) in round {round}"),
                    false => {
                        write!(f, "left the pairing of `{black}` and `{white}` in round {round} to the rules")
                    }
                }
            }
            Self::ByeGiven { name, round, holds: true, .. } => {
                write!(f, "gave `{name}` a half-point bye in round {round}")
            }
            Self::ByeGiven { name, round, .. } => write!(f, "took back the bye of `{name}` in round {round}"),
            Self::Appealed { game, was } => {
                write!(f, "appealed against the result of {game}: {was}")
            }
            Self::AppealAnswered { appeal, game, was, upheld } => {
                let verdict = if *upheld { "upheld" } else { "dismissed" };
                write!(f, "{verdict} the appeal (operation {appeal}) against the result of {game}: {was}")
            }
            Self::Penalised { name, points, stage, .. } => {
                let stage = u32::from(*stage) + 1;
                match *points < Points::ZERO {
                    true => write!(f, "gave `{name}` {} points back in stage {stage}", -*points),
                    false => write!(f, "took {points} points from `{name}` in stage {stage}"),
                }
            }
            Self::Disqualified { name, holds, .. } => match holds {
                true => write!(f, "disqualified `{name}`: none of its results count"),
                false => write!(f, "took back the disqualification of `{name}`"),
            },
            Self::Placed { name, other, stage, holds, .. } => {
                let stage = u32::from(*stage) + 1;
                match holds {
                    true => {
                        write!(f, "placed `{name}` above `{other}` in stage {stage}, where they are level")
                    }
                    false => write!(f, "left `{name}` and `{other}` level in stage {stage}"),
                }
            }
            Self::Withdrawn { name, holds: true, .. } => {
                write!(f, "withdrew `{name}` from the next round on")
            }
            Self::Withdrawn { name, .. } => write!(f, "let `{name}` play again from the next round on"),
            Self::Swapped { out, substitute, .. } => {
                write!(f, "swapped `{out}` for `{substitute}`, who keeps the place and its games")
            }
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {}: {} {}", self.number, self.by, self.action)?;
        if let Some(undone) = self.undoes {
            write!(f, ", which takes back operation {undone}")?;
        }
        if self.reason.is_empty() { Ok(()) } else { write!(f, ": {}", self.reason) }
    }
}

/// Whom a ban is for: a name, or a network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whom {
    /// The player of that name.
    Name(String),
    /// Everybody from a network: its first address and the bits that its addresses share.
    Network(IpAddr, u8),
}

impl Whom {
    /// True if a login under that name from that address is meant.
    pub fn is(&self, name: &str, address: IpAddr) -> bool {
        matches!(self, Self::Name(banned) if banned == name) || self.contains(address)
    }

    /// True if an address belongs to the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        matches!(self, Self::Network(first, bits) if masked(address.to_canonical(), *bits) == Some(*first))
    }
}

/// The first address of the network of an address; `None` for more bits than it has.
fn masked(address: IpAddr, bits: u8) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) => {
            let free = u32::from(32_u8.checked_sub(bits)?);
            let mask = u32::MAX.checked_shl(free).unwrap_or(0);
            Some(Ipv4Addr::from_bits(address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let free = u32::from(128_u8.checked_sub(bits)?);
            let mask = u128::MAX.checked_shl(free).unwrap_or(0);
            Some(Ipv6Addr::from_bits(address.to_bits() & mask).into())
        }
    }
}

/// A text that names neither a player nor a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither a player's name nor a network such as 192.0.2.7, 192.0.2.0/24 or 2001:db8:1:2::/64")]
pub struct NotAnAddress;

impl FromStr for Whom {
    type Err = NotAnAddress;

    /// An address stands for itself, an IPv6 address for its network of 64 bits, which one household has.
    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse::<u8>().map_err(|_| NotAnAddress)?)),
            None => (text, None),
        };
        match (address.parse::<IpAddr>(), bits) {
            (Ok(address), bits) => {
                let address = address.to_canonical();
                let bits = bits.unwrap_or(if address.is_ipv4() { 32 } else { 64 });
                masked(address, bits).map(|first| Self::Network(first, bits)).ok_or(NotAnAddress)
            }
            (Err(_), None) if !text.is_empty() && !text.contains(char::is_whitespace) => {
                Ok(Self::Name(text.to_owned()))
            }
            _ => Err(NotAnAddress),
        }
    }
}

impl fmt::Display for Whom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Network(address @ IpAddr::V4(_), 32) => write!(f, "{address}"),
            Self::Network(address, bits) => write!(f, "{address}/{bits}"),
        }
    }
}

impl Serialize for Whom {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Whom {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// The operator's news for everybody who follows an event: a fold of the operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicNotice {
    /// True if no new game begins.
    pub paused: bool,
    /// The last announcement, with its time in ms since 1970 UTC.
    pub announced: Option<(i64, String)>,
}

impl PublicNotice {
    /// Folds an action of that time.
    pub fn fold(&mut self, at: i64, action: &Action) {
        match action {
            Action::Paused => self.paused = true,
            Action::Resumed => self.paused = false,
            Action::Announced { text } => self.announced = Some((at, text.clone())),
            _ => {}
        }
    }
}

/// What the operations so far have left in force. Memory grows with the operations.
#[derive(Clone, Debug, Default)]
pub struct InForce {
    operations: Vec<Operation>,
    undone: BTreeSet<u64>,
    paused: bool,
    registration_closed: bool,
    bans: BTreeMap<Whom, u64>,
    mutes: BTreeMap<String, u64>,
    substitutes: BTreeMap<PlayerId, String>,
    /// Players who have withdrawn and not come back, and, with `true`, those who are disqualified.
    withdrawn: BTreeSet<(PlayerId, bool)>,
    /// Machines that get no more games, each with the number of the operation.
    machines: BTreeMap<String, u64>,
    /// Appeals that nobody has decided on.
    appeals: BTreeMap<u64, GameId>,
    /// True if a game was ever adjourned.
    has_adjourned: bool,
    /// Adjourned games that wait for the operator, with their places in the schedule.
    held: BTreeMap<GameId, Pairing>,
    /// Clocks that the operator has stated for adjourned games, in ms, black first.
    clocks: BTreeMap<GameId, [Option<u64>; 2]>,
}

impl InForce {
    /// Folds an operation.
    pub fn fold(&mut self, operation: &Operation) {
        match &operation.action {
            Action::Paused => self.paused = true,
            Action::Resumed => self.paused = false,
            Action::RegistrationClosed => self.registration_closed = true,
            Action::RegistrationOpened => self.registration_closed = false,
            Action::Banned { whom } => drop(self.bans.insert(whom.clone(), operation.number)),
            Action::Unbanned { whom } => drop(self.bans.remove(whom)),
            Action::Muted { name } => drop(self.mutes.insert(name.clone(), operation.number)),
            Action::Unmuted { name } => drop(self.mutes.remove(name)),
            Action::MachineDropped { machine } => _ = self.machines.insert(machine.clone(), operation.number),
            Action::MachineReadmitted { machine } => _ = self.machines.remove(machine),
            Action::Kicked { .. } | Action::BuoyDeleted { .. } | Action::Announced { .. } => {}
            Action::RegistrationApproved { .. } | Action::RegistrationRefused { .. } => {}
            Action::Paired { .. } | Action::PairingGiven { .. } | Action::ByeGiven { .. } => {}
            Action::Penalised { .. } | Action::Placed { .. } => {}
            Action::Ruled { .. } | Action::Replayed { .. } => {}
            // A player who was replaced plays no further game, so its games wait for nobody.
            Action::Joined { replaces, .. } => {
                let plays_on = |player| Some(player) != *replaces;
                self.held.retain(|_, pairing| plays_on(pairing.black) && plays_on(pairing.white));
            }
            Action::Adjourned { game, held } => {
                self.has_adjourned = true;
                self.held.extend(held.map(|pairing| (game.game, pairing)));
            }
            Action::Withdrawn { player, holds, .. } | Action::Disqualified { player, holds, .. } => {
                let out = (*player, matches!(operation.action, Action::Disqualified { .. }));
                _ = if *holds { self.withdrawn.insert(out) } else { self.withdrawn.remove(&out) };
            }
            Action::PlayedOn { game } | Action::Restarted { game } => drop(self.held.remove(&game.game)),
            Action::ClockSet { game, color, left_ms } => {
                self.clocks.entry(game.game).or_default()[color.index()] = Some(*left_ms);
            }
            Action::Appealed { game, .. } => drop(self.appeals.insert(operation.number, game.game)),
            Action::AppealAnswered { appeal, .. } => drop(self.appeals.remove(appeal)),
            Action::Swapped { player, substitute, .. } => {
                drop(self.substitutes.insert(*player, substitute.clone()));
            }
        }
        self.undone.extend(operation.undoes);
        self.operations.push(operation.clone());
    }

    /// The operations, in their order.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The operation of that number.
    pub fn get(&self, number: u64) -> Option<&Operation> {
        self.operations.iter().rev().find(|operation| operation.number == number)
    }

    /// True if an operation was taken back.
    pub fn is_undone(&self, number: u64) -> bool {
        self.undone.contains(&number)
    }

    /// The number of the next operation.
    pub fn next(&self) -> u64 {
        self.operations.last().map_or(0, |operation| operation.number) + 1
    }

    /// True if no new game begins.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// True if only players who have played before may log in.
    pub fn registration_is_closed(&self) -> bool {
        self.registration_closed
    }

    /// The bans, each with its operation.
    pub fn bans(&self) -> impl Iterator<Item = (&Whom, &Operation)> {
        self.bans.iter().filter_map(|(whom, number)| Some((whom, self.get(*number)?)))
    }

    /// The ban that keeps a name or an address out.
    pub fn ban(&self, name: &str, address: IpAddr) -> Option<&Operation> {
        let (_, number) = self.bans.iter().find(|(whom, _)| whom.is(name, address))?;
        self.get(*number)
    }

    /// True if an address is banned.
    pub fn bans_address(&self, address: IpAddr) -> bool {
        self.bans.keys().any(|whom| whom.contains(address))
    }

    /// The names that nobody hears.
    pub fn mutes(&self) -> impl Iterator<Item = &str> {
        self.mutes.keys().map(String::as_str)
    }

    /// True if nobody hears the player of that name.
    pub fn is_muted(&self, name: &str) -> bool {
        self.mutes.contains_key(name)
    }

    /// The appeals that nobody has decided on, in their order: each with the game.
    pub fn appeals(&self) -> impl Iterator<Item = (&Operation, GameId)> {
        self.appeals.iter().filter_map(|(number, game)| Some((self.get(*number)?, *game)))
    }

    /// True if a game was ever adjourned.
    pub fn has_adjourned(&self) -> bool {
        self.has_adjourned
    }

    /// The adjourned games that wait for the operator, with their places in the schedule.
    pub fn held(&self) -> impl Iterator<Item = (GameId, &Pairing)> {
        self.held.iter().map(|(game, pairing)| (*game, pairing))
    }

    /// The main time that the operator has stated for an adjourned game, black first; `None`: what was left.
    pub fn clocks(&self, game: GameId) -> [Option<Duration>; 2] {
        self.clocks.get(&game).copied().unwrap_or_default().map(|left| left.map(Duration::from_millis))
    }

    /// The names of those who play in the place of an entrant of the configuration.
    pub fn substitutes(&self) -> impl Iterator<Item = (PlayerId, &str)> {
        self.substitutes.iter().map(|(player, name)| (*player, name.as_str()))
    }

    /// True if a player has withdrawn and not come back, or is disqualified.
    pub fn has_withdrawn(&self, player: PlayerId) -> bool {
        [false, true].iter().any(|by_arbiter| self.withdrawn.contains(&(player, *by_arbiter)))
    }

    /// The machines that get no more games, each with its operation.
    pub fn dropped_machines(&self) -> impl Iterator<Item = (&str, &Operation)> {
        self.machines.iter().filter_map(|(name, number)| Some((name.as_str(), self.get(*number)?)))
    }

    /// What takes an operation back that is in effect.
    ///
    /// # Errors
    /// The reason why nothing does.
    pub fn inverse(&self, number: u64) -> Result<Action, NoInverse> {
        let operation = self.get(number).ok_or(NoInverse::Unknown(number))?;
        if self.is_undone(number) {
            return Err(NoInverse::Undone(number));
        }
        if let Some(undone) = operation.undoes {
            return Err(NoInverse::Undo(number, undone));
        }
        // What was taken back is in nobody's way.
        let is_decided = |later: &&Operation| {
            let counts = later.undoes.is_none() && !self.is_undone(later.number);
            counts && later.number > number && later.action.matter() == operation.action.matter()
        };
        let later = operation.action.matter().and_then(|_| self.operations.iter().rev().find(is_decided));
        match (&operation.action, later) {
            (_, Some(later)) => Err(NoInverse::Superseded(number, later.number)),
            (Action::MachineDropped { machine }, _) => Err(NoInverse::Machine(number, machine.clone())),
            (action, _) => action.taken_back().ok_or(NoInverse::Final(number, action.word())),
        }
    }
}

/// The reason why nothing takes an operation back, with the number of the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoInverse {
    /// There is no such operation.
    Unknown(u64),
    /// It was taken back before.
    Undone(u64),
    /// It took back this one.
    Undo(u64, u64),
    /// This later one decided the same matter.
    Superseded(u64, u64),
    /// It dropped this machine, which is readmitted by its name.
    Machine(u64, String),
    /// No action takes back one of this word.
    Final(u64, &'static str),
}

#[cfg(test)]
#[path = "operation_tests.rs"]
mod tests;
