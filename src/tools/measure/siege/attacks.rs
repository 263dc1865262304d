//! The attacks, and which of them go on together.

use super::{
    attack::{Target, stand_back},
    floods::{Flood, flood, watch},
    strangers::storm,
};
use std::thread::Scope;

/// Threads of a storm, which share ever new numbers, and how often each of them acts in a second.
const THREADS: usize = 4;
const PER_SECOND: u32 = 250;

/// A way to hinder a host.
pub struct Attack {
    /// Its name on the command line.
    pub name: &'static str,
    /// A description.
    pub about: &'static str,
    /// The threads, and what each does until the attack is over.
    pub act: Act,
}

/// What the threads of an attack do.
pub enum Act {
    /// One thread acts.
    One(fn(&Target<'_>)),
    /// One thread floods.
    Flood(Flood),
    /// Several threads do something with ever new numbers.
    Numbered(fn(&Target<'_>, usize)),
}

impl Act {
    /// Starts the threads; each ends with the attack.
    pub fn begin<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, target: &'scope Target<'_>) {
        let threads = if matches!(self, Self::Numbered(_)) { THREADS } else { 1 };
        for thread in 0..threads {
            scope.spawn(move || {
                stand_back();
                match *self {
                    Self::One(act) => act(target),
                    Self::Flood(with) => flood(target, with),
                    Self::Numbered(act) => {
                        let mut number = thread;
                        target.repeat(PER_SECOND, || {
                            act(target, number);
                            number += THREADS;
                        });
                    }
                }
            });
        }
    }
}

/// The waves of the siege, one after the other; attacks of one wave go on together.
pub const WAVES: [&[Attack]; 4] = [&[LIST], &[CHAT, DEAF], &[WHO_WIDE], &[STORM]];

const fn crowd(name: &'static str, connections: usize, addresses: usize, line: &'static str) -> Flood {
    Flood { name, connections, addresses, line }
}

const LIST: Attack = Attack {
    name: "list",
    about: "200 logins of one address ask for %%LIST",
    act: Act::Flood(crowd("lister", 200, 1, "%%LIST\n")),
};
const CHAT: Attack = Attack {
    name: "chat",
    about: "100 logins of ten addresses chat, while newcomers wait for the offer of their game",
    act: Act::Flood(crowd("chatter", 100, 10, "%%CHAT a\n")),
};
const DEAF: Attack = Attack {
    name: "deaf",
    about: "100 logins of ten addresses watch all games, ask for boards and chat, and read nothing",
    act: Act::One(watch),
};
const WHO_WIDE: Attack = Attack {
    name: "who-wide",
    about: "1,000 logins of 100 addresses ask for %%WHO",
    act: Act::Flood(crowd("wide", 1000, 100, "%%WHO\n")),
};
const STORM: Attack = Attack {
    name: "storm",
    about: "1,000 connections a second that say something or nothing and are cut",
    act: Act::Numbered(storm),
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_attack_has_a_name_of_its_own() {
        let names: Vec<&str> = WAVES.iter().flat_map(|wave| wave.iter()).map(|a| a.name).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
    }
}
