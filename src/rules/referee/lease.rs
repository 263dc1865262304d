//! Leases: the right of one machine to play the games of a pair.
//!
//! A lease is a random number that is on the disk before its games are handed out. Only the lease that was issued last
//! for a place of the schedule can be committed, and only once; that is what makes every game count exactly once,
//! whatever is lost or repeated on the way.

use crate::{clock::Scale, ids::GameId, pairing::Pairing};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, str::FromStr};

/// The random number of a lease; 16 hexadecimal digits as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseId(pub u64);

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A text that is not the number of a lease: 16 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the number of a lease")]
pub struct NoLease(pub String);

impl FromStr for LeaseId {
    type Err = NoLease;

    fn from_str(text: &str) -> Result<Self, NoLease> {
        let digits = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|_| digits);
        number.map(Self).ok_or_else(|| NoLease(text.to_owned()))
    }
}

impl Serialize for LeaseId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LeaseId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// A lease as it is stored before its games are handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its number.
    pub lease: LeaseId,
    /// The start of the manager that issued it.
    pub epoch: u64,
    /// Name of the machine.
    pub machine: String,
    /// The machine's own random name, which it keeps.
    pub worker: String,
    /// By how much its clocks are longer than those of the plan.
    pub scale: Scale,
    /// The games, in their order.
    pub games: Vec<Pairing>,
}

/// A machine as its event knows it, for whoever looks on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineState {
    /// Its name.
    pub name: String,
    /// Pairs that it plays at once.
    pub slots: u32,
    /// Its cores.
    pub cores: u32,
    /// Nodes per second of the event's engines in one slot, where they were measured.
    pub nps: Option<u64>,
    /// By how much its clocks are longer than those of the plan.
    pub scale: Scale,
    /// Pairs that it has now.
    pub playing: u32,
    /// Faults that it brought on record in this run.
    pub faults: u32,
    /// Time from its last question to the answer, in ms.
    pub lag: u32,
    /// Whether it is there.
    pub presence: Presence,
    /// What was told of it last; may be empty.
    pub word: String,
    /// When it was heard last, in ms since 1970-01-01 UTC.
    pub seen: i64,
    /// Since when it has had its oldest pair, in ms since 1970-01-01 UTC; `None`: it has none.
    pub held_since: Option<i64>,
}

/// Whether a machine is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Presence {
    /// It plays.
    Here,
    /// It gives no sign of life.
    Silent,
    /// It has left, or the event was interrupted.
    Left,
    /// It gets no more games.
    Barred,
}

impl Presence {
    /// The word for it in the database, on screens and pages.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// The presence of a word.
    pub fn of(word: &str) -> Option<Self> {
        <Self as strum::VariantArray>::VARIANTS.iter().copied().find(|presence| presence.word() == word)
    }
}

/// A lease whose games are stored; written in the transaction of their entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The lease.
    pub lease: LeaseId,
    /// Name of the machine.
    pub machine: String,
    /// SHA-256 of the machine's answer in hexadecimal digits.
    pub sha256: String,
    /// The numbers that the games have been given.
    pub games: Vec<GameId>,
}

/// A pair that another machine has played again, to be compared; it counts nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// The first game of the pair.
    pub game: Pairing,
    /// Name of the machine that played it first.
    pub machine: String,
    /// Name of the machine that played it again.
    pub again: String,
    /// Where the games differ; `None`: they are the same.
    pub difference: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_lease_is_read_back_and_nothing_else_is_taken_for_one() {
        for number in [0, 1, u64::MAX] {
            assert_eq!(LeaseId(number).to_string().parse(), Ok(LeaseId(number)));
        }
        for text in ["", "1", "000000000000000g", "+00000000000000f", "00000000000000000"] {
            assert!(text.parse::<LeaseId>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_presence_of_a_machine_is_read_back_from_its_word_and_from_no_other() {
        for presence in <Presence as strum::VariantArray>::VARIANTS {
            assert_eq!(Presence::of(presence.word()), Some(*presence));
        }
        assert_eq!(Presence::of("nowhere"), None);
    }
}
