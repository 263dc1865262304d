//! The attacks, and which of them share a host.

use super::{
    attack::{Target, stand_back},
    cheats::{Game, agree, play, premoves, self_play, stall},
    floods::{Flood, buoys, flood, halves, watch},
    pages::{logins, secrets, since, streams},
    strangers::{guesses, hold, names, storm, trips},
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
    /// So many threads play games under this name, each against itself.
    Pairs(&'static str, usize, Game),
}

impl Act {
    fn threads(&self) -> usize {
        match *self {
            Self::One(_) | Self::Flood(_) => 1,
            Self::Numbered(threads, ..) | Self::Pairs(_, threads, _) => threads,
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
                    Self::Pairs(name, _, game) => play(target, (name, thread), game),
                }
            });
        }
    }
}

/// A host that is attacked, and the waves of its attacks, one after the other; those of one wave go on together.
pub struct Siege {
    /// Further keys of the host's configuration.
    pub keys: &'static str,
    /// Adds accounts.
    pub accounts: bool,
    /// Adds pages, with an arbiter.
    pub pages: bool,
    pub waves: &'static [&'static [Attack]],
}

/// All hosts.
pub const SIEGES: [Siege; 4] = [
    Siege {
        keys: "",
        accounts: false,
        pages: false,
        waves: &[
            &[WHO],
            &[LIST, JUNK],
            &[CHAT, NUL],
            &[DEAF, HALVES],
            &[WHO_WIDE],
            &[NAMES, STALL],
            &[DISK],
            &[TRIPS, AGREE, BUOYS],
        ],
    },
    Siege {
        keys: "[serve.limits]\nconnections = 500\n",
        accounts: false,
        pages: false,
        waves: &[&[PLACES], &[STORM, PREMOVES]],
    },
    Siege { keys: "login = \"accounts\"\n", accounts: true, pages: false, waves: &[&[GUESSES]] },
    Siege {
        keys: "[http]\nlisten = [\"127.0.0.1:0\"]\n",
        accounts: false,
        pages: true,
        waves: &[&[LOGINS, SECRETS], &[STREAMS, SINCE]],
    },
];

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
const NUL: Attack = Attack {
    name: "nul",
    about: "50 logins of ten addresses chat in NUL bytes, which are shown as five bytes each",
    act: Act::One(|target| {
        let line: &'static str = Box::leak(format!("%%CHAT {}\n", "\0".repeat(8100)).into_boxed_str());
        flood(target, crowd("nul", 50, 10, line));
    }),
};
const DEAF: Attack = Attack {
    name: "deaf",
    about: "100 logins of ten addresses watch all games, ask for boards and chat, and read nothing",
    act: Act::One(watch),
};
const HALVES: Attack = Attack {
    name: "halves",
    about: "100 connections send a line without an end, and 100 a byte now and then",
    act: Act::One(halves),
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
const DISK: Attack = Attack {
    name: "disk",
    about: "ten addresses play against themselves, with 8,000 bytes of junk around every move",
    act: Act::Pairs("junk", 10, self_play),
};
const TRIPS: Attack = Attack {
    name: "trips",
    about: "30 addresses guess the secrets of players in their games",
    act: Act::Numbered(4, 100, trips),
};
const AGREE: Attack = Attack {
    name: "agree",
    about: "four pairs agree to the games of others, and reject them",
    act: Act::Pairs("agree", 4, agree),
};
const BUOYS: Attack = Attack {
    name: "buoys",
    about: "40 logins of four addresses set buoys of 500 moves and fork every game",
    act: Act::One(buoys),
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
const PREMOVES: Attack = Attack {
    name: "premoves",
    about: "four pairs send all moves of a game at once, those of the opponent too",
    act: Act::Pairs("premove", 4, premoves),
};
const STALL: Attack = Attack {
    name: "stall",
    about: "four pairs send 110 blank lines before each move of black, to think while no clock runs",
    act: Act::Pairs("stall", 4, stall),
};
const GUESSES: Attack = Attack {
    name: "guesses",
    about: "three addresses guess passwords of players in a game and of newcomers",
    act: Act::Numbered(4, 200, guesses),
};
const LOGINS: Attack = Attack {
    name: "logins",
    about: "70 addresses guess passwords of arbiters on the pages",
    act: Act::Numbered(72, 20, logins),
};
const SECRETS: Attack = Attack {
    name: "secrets",
    about: "the arbiter's own address appeals with wrong secrets",
    act: Act::Numbered(4, 10, secrets),
};
const STREAMS: Attack = Attack {
    name: "streams",
    about: "20 addresses hold 1,000 silent streams of the pages",
    act: Act::One(streams),
};
const SINCE: Attack = Attack {
    name: "since",
    about: "40 connections of one address ask for everything since the beginning",
    act: Act::Numbered(40, 20, since),
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_attack_has_a_name_of_its_own() {
        let names: Vec<&str> = SIEGES
            .iter()
            .flat_map(|siege| siege.waves)
            .flat_map(|wave| wave.iter())
            .map(|a| a.name)
            .collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
    }

    #[test]
    fn the_long_form_takes_less_than_45_minutes() {
        let phases: u64 = SIEGES.iter().map(|siege| 1 + siege.waves.len() as u64).sum();
        assert!(phases * (super::super::LONG + super::super::REST.as_secs()) < 45 * 60, "{phases} phases");
    }
}
