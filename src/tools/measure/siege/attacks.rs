//! The attacks, and which of them go on together.

use super::{
    attack::{Target, stand_back},
    floods::{Flood, flood, watch},
    strangers::{hold, names, storm, trips},
};
use std::thread::Scope;

/// Threads that share ever new numbers.
const SHARING: usize = 4;

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
    /// So many threads do something with ever new numbers, so often a second each. Four of them share the numbers.
    Numbered(usize, u32, fn(&Target<'_>, usize, usize)),
}

impl Act {
    fn threads(&self) -> usize {
        match *self {
            Self::One(_) | Self::Flood(_) => 1,
            Self::Numbered(threads, ..) => threads,
        }
    }

    /// Starts the threads; each ends with the attack.
    pub fn begin<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, target: &'scope Target<'_>) {
        for thread in 0..self.threads() {
            scope.spawn(move || {
                stand_back();
                match *self {
                    Self::One(act) => act(target),
                    Self::Flood(with) => flood(target, with),
                    Self::Numbered(_, per_second, act) => {
                        let mut number = thread % SHARING;
                        target.repeat(per_second, || {
                            act(target, number, thread);
                            number += SHARING;
                        });
                    }
                }
            });
        }
    }
}

/// The waves of the siege, one after the other; attacks of one wave go on together.
pub const WAVES: [&[Attack]; 6] =
    [&[WHO], &[LIST, JUNK], &[CHAT, DEAF], &[WHO_WIDE], &[NAMES, TRIPS], &[PLACES, STORM]];

const fn crowd(name: &'static str, connections: usize, addresses: usize, line: &'static str) -> Flood {
    Flood { name, connections, addresses, line }
}

const WHO: Attack = Attack {
    name: "who",
    about: "200 logins of one address, each sending a packet of 341 %%WHO in every turn of the opponents",
    act: Act::Flood(crowd("asker", 200, 1, "%%WHO\n")),
};
const LIST: Attack = Attack {
    name: "list",
    about: "200 logins of one address ask for %%LIST",
    act: Act::Flood(crowd("lister", 200, 1, "%%LIST\n")),
};
const JUNK: Attack = Attack {
    name: "junk",
    about: "200 logins of another address send lines that mean nothing",
    act: Act::Flood(crowd("junker", 200, 2, "x\n")),
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
const NAMES: Attack = Attack {
    name: "names",
    about: "one address logs in under ever new names",
    act: Act::Numbered(4, 400, names),
};
const TRIPS: Attack = Attack {
    name: "trips",
    about: "30 addresses guess the secrets of players in their games",
    act: Act::Numbered(4, 100, trips),
};
const PLACES: Attack = Attack {
    name: "places",
    about: "ten addresses hold as many connections as they get",
    act: Act::One(hold),
};
const STORM: Attack = Attack {
    name: "storm",
    about: "1,000 connections a second that say something or nothing and are cut",
    act: Act::Numbered(4, 250, storm),
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
