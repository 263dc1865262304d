//! The attacks, and which of them share a host.

use super::{
    attack::Attack,
    cheats::{agree, premoves, self_play, stall},
    floods::{Flood, buoys, flood, halves, watch},
    pages::{logins, secrets, since, streams},
    strangers::{guesses, hold, names, storm, trips},
};

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
    begin: |scope, target| flood(scope, target, crowd("asker", 200, 1, "%%WHO\n")),
};
const LIST: Attack = Attack {
    name: "list",
    about: "200 logins of one address ask for %%LIST",
    begin: |scope, target| flood(scope, target, crowd("lister", 200, 1, "%%LIST\n")),
};
const JUNK: Attack = Attack {
    name: "junk",
    about: "200 logins of another address send lines that mean nothing",
    begin: |scope, target| flood(scope, target, crowd("junker", 200, 2, "x\n")),
};
const CHAT: Attack = Attack {
    name: "chat",
    about: "100 logins of ten addresses chat, while newcomers wait for the offer of their game",
    begin: |scope, target| flood(scope, target, crowd("chatter", 100, 10, "%%CHAT a\n")),
};
const NUL: Attack = Attack {
    name: "nul",
    about: "50 logins of ten addresses chat in NUL bytes, which are shown as five bytes each",
    begin: |scope, target| {
        let line: &'static str = Box::leak(format!("%%CHAT {}\n", "\0".repeat(8100)).into_boxed_str());
        flood(scope, target, crowd("nul", 50, 10, line));
    },
};
const DEAF: Attack = Attack {
    name: "deaf",
    about: "100 logins of ten addresses watch all games, ask for boards and chat, and read nothing",
    begin: |scope, target| watch(scope, target),
};
const HALVES: Attack = Attack {
    name: "halves",
    about: "100 connections send a line without an end, and 100 a byte now and then",
    begin: |scope, target| halves(scope, target),
};
const WHO_WIDE: Attack = Attack {
    name: "who-wide",
    about: "1,000 logins of 100 addresses ask for %%WHO",
    begin: |scope, target| flood(scope, target, crowd("wide", 1000, 100, "%%WHO\n")),
};
const NAMES: Attack = Attack {
    name: "names",
    about: "one address logs in under ever new names",
    begin: |scope, target| names(scope, target),
};
const DISK: Attack = Attack {
    name: "disk",
    about: "ten addresses play against themselves, with 8,000 bytes of junk around every move",
    begin: |scope, target| self_play(scope, target),
};
const TRIPS: Attack = Attack {
    name: "trips",
    about: "30 addresses guess the secrets of players in their games",
    begin: |scope, target| trips(scope, target),
};
const AGREE: Attack = Attack {
    name: "agree",
    about: "four pairs agree to the games of others, and reject them",
    begin: |scope, target| agree(scope, target),
};
const BUOYS: Attack = Attack {
    name: "buoys",
    about: "40 logins of four addresses set buoys of 500 moves and fork every game",
    begin: |scope, target| buoys(scope, target),
};
const PLACES: Attack = Attack {
    name: "places",
    about: "ten addresses hold as many connections as they get",
    begin: |scope, target| hold(scope, target),
};
const STORM: Attack = Attack {
    name: "storm",
    about: "1,000 connections a second that say something or nothing and are cut",
    begin: |scope, target| storm(scope, target),
};
const PREMOVES: Attack = Attack {
    name: "premoves",
    about: "four pairs send all moves of a game at once, those of the opponent too",
    begin: |scope, target| premoves(scope, target),
};
const STALL: Attack = Attack {
    name: "stall",
    about: "four pairs send 110 blank lines before each move of black, to think while no clock runs",
    begin: |scope, target| stall(scope, target),
};
const GUESSES: Attack = Attack {
    name: "guesses",
    about: "three addresses guess passwords of players in a game and of newcomers",
    begin: |scope, target| guesses(scope, target),
};
const LOGINS: Attack = Attack {
    name: "logins",
    about: "70 addresses guess passwords of arbiters on the pages",
    begin: |scope, target| logins(scope, target),
};
const SECRETS: Attack = Attack {
    name: "secrets",
    about: "the arbiter's own address appeals with wrong secrets",
    begin: |scope, target| secrets(scope, target),
};
const STREAMS: Attack = Attack {
    name: "streams",
    about: "20 addresses hold 1,000 silent streams of the pages",
    begin: |scope, target| streams(scope, target),
};
const SINCE: Attack = Attack {
    name: "since",
    about: "40 connections of one address ask for everything since the beginning",
    begin: |scope, target| since(scope, target),
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
