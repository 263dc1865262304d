//! `[serve]` of a configuration file: an open league, or the network side of an event.

mod clocks;
mod limits;
mod proxies;
mod rating;
mod read;
mod retention;
mod rounds;
mod tls;

pub use clocks::{Counted, PlayerTime};
pub use limits::Limits;
pub use proxies::Proxies;
pub use rating::{Method, RatingConfig};
pub(crate) use read::{addresses, league, listen, of_event, tls, trusted_proxies};
use read::{database, invited, limits, name, rating, records, retention, rounds, times};
pub use retention::Retention;
pub use rounds::RoundsConfig;
pub use tls::TlsConfig;

use crate::{
    HttpConfig, NotifyConfig,
    keys::{
        Fallback::{Is, Says},
        Kind::{Flag, Integer, Other, Path, Text, Words},
        RESERVE,
    },
    settings::settings,
};
use referee::rules::{Declaration, Rules};
use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, path::PathBuf, time::Duration};

/// A day, in seconds.
const DAY: i64 = 86_400;
/// Database of an open league whose file names none.
const DATABASE: &str = "league.db";
/// Seconds that a game waits for a player whose connection broke, by default.
const GRACE: u64 = 60;

settings! {
    /// A checked `[serve]`.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct ServeConfig in "`[serve]`", "For `renmei serve`: without `[event]` and `[[engines]]` the file describes an open \
        league, whose games have the rules given here; with them, the network side of an event, whose rules stand in the \
        event's own tables."
    with {
        /// Where notices of an open league go.
        #[serde(skip)]
        notify: NotifyConfig = NotifyConfig::default();
        /// Who may watch an open league in a browser.
        #[serde(skip)]
        http: HttpConfig = HttpConfig::default();
    };

    name: String = ("league".to_owned()) by name shown Is("\"league\""), Text,
        "open league: its name in the database and in the id of every game; 1 to 32 letters, digits, `_`, `-` or `.`";
    database: PathBuf = (PathBuf::from(DATABASE)) by database shown Is("\"league.db\""), Path,
        "open league: the SQLite file";
    listen: Vec<SocketAddr> = (vec![SocketAddr::from(([127, 0, 0, 1], 4081))]) by listen shown Is("[\"127.0.0.1:4081\"]"),
        Other("list of addresses"),
        "addresses to accept connections on";
    tls: #[serde(skip_serializing)] Option<TlsConfig> = None by tls shown Says("none"), Other("table"),
        "addresses on which clients speak TLS, see `[serve.tls]`";
    trusted_proxies: #[serde(skip_serializing)] Proxies = (Proxies::default()) by trusted_proxies shown Is("[]"),
        Other("list of addresses"),
        "addresses or networks of reverse proxies: a connection from there begins with a line of the PROXY protocol \
         (version 1 or 2), which says where the client comes from, and is refused without it";
    compat: Compat = (Compat::Protocol) shown Is("\"protocol\""), Words(&["protocol", "shogi-server"]),
        "which to follow where the protocol's text and shogi-server differ; shogi-server shows the MD5 of secrets";
    max_moves: u32 = 256, Integer(0, 100_000), "open league: move limit in plies; 0: no limit";
    least_time: u32 = 0, Integer(0, DAY), "open league: least time charged for a move, in seconds";
    declaration: Declaration = (Declaration::Csa27) shown Is("\"27\""), Words(&["27", "24", "try", "none"]),
        "open league: the rule of entering kings, as in `[rules]`";
    count_start_position: Option<bool> = None shown Says("`true`; `false` with `compat = \"shogi-server\"`"), Flag,
        "open league: the start position counts for sennichite";
    login: Login = (Login::Open) shown Is("\"open\""), Words(&["open", "accounts", "invitation"]),
        "who may log in: anybody, under any name, which a secret makes recognisable; the accounts of the database \
         (`renmei account`); the names in `invited`";
    invited: #[serde(skip_serializing)] Vec<String> = (vec![]) by invited shown Is("[]"), Other("list of texts"),
        "with `login = \"invitation\"`: names, or lines as `renmei account invite NAME` prints them, with the hash of \
         a secret";
    records: Option<PathBuf> = None by records shown Says("none"), Path,
        "directory for a record of every game, `YYYY/MM/DD/<Game_ID>.csa`, as floodgate writes them";
    share_records: #[serde(skip_serializing)] bool = false, Flag,
        "let other users of the machine read the records, for a web server (files 0644, directories 0755); otherwise \
         only the user of the host may (0600, 0700)";
    grace: Option<u64> = None shown Says("60; 0 with `compat = \"shogi-server\"`"), Integer(0, DAY),
        "seconds that a running game waits for a player whose connection broke; 0: the game is lost at once";
    agreement: u64 = 120, Integer(1, DAY), "seconds that both players have to agree to a game";
    comments: bool = false, Flag, "show the comments of moves (`'* score pv`) to spectators of moves (`%%MONITOR2`)";
    time_unit: Counted = (Counted::Sec) shown Is("\"sec\""), Words(&["sec", "msec"]),
        "unit of clocks and announced times: seconds or milliseconds";
    time: Vec<PlayerTime> = (vec![]) by times shown Says("none"), Other("tables"),
        "open league: times of single players, see `[[serve.time]]`";
    wait: u64 = 120, Integer(0, 365 * DAY), "event: seconds that a game waits for an absent player";
    missing: Missing = (Missing::Forfeit) shown Is("\"forfeit\""), Words(&["forfeit", "skip"]),
        "event: a game whose player stays absent is won by the opponent, or is left out";
    rounds: Vec<RoundsConfig> = (vec![]) by rounds shown Says("none"), Other("tables"),
        "open league: timed rounds, see `[[serve.rounds]]`";
    rating: RatingConfig = (RatingConfig::default()) by rating shown Says("all its defaults"), Other("table"),
        "how players are rated, see `[serve.rating]`";
    limits: Limits = (Limits::default()) by limits shown Says("all its defaults"), Other("table"),
        "limits per client, see `[serve.limits]`";
    retention: Retention = (Retention::default()) by retention shown Says("everything is kept"), Other("table"),
        "open league: what is kept of old games, see `[serve.retention]`";
    reserve_mb: u64 = (crate::RESERVE_MB) shown Is("512"), RESERVE, crate::keys::reserve!();
}

/// Which to follow where the protocol's text and shogi-server, the server of floodgate, differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compat {
    /// The text: `%TORYO,T4`, `%KACHI,T8` once.
    #[default]
    Protocol,
    /// shogi-server: `%TORYO`, `%KACHI` said twice, the start position no part of a repetition.
    ShogiServer,
}

/// What becomes of a game of an event when one player stays absent. When both do, the game is left out in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// The player who is present wins by default.
    #[default]
    Forfeit,
    /// The game is left out and scores for neither.
    Skip,
}

/// Who may log in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Login {
    /// Anybody, under any name; a secret identifies a player.
    #[default]
    Open,
    /// Players with an account in the database.
    Accounts,
    /// Players that the configuration file invites.
    Invitation,
}

impl ServeConfig {
    /// The rules of every game.
    pub fn rules(&self) -> Rules {
        Rules {
            max_moves: Some(self.max_moves).filter(|max| *max > 0),
            declaration: self.declaration,
            handicap_credit: false,
            count_start_position: self.count_start_position.unwrap_or(self.compat == Compat::Protocol),
            mate_ends_game: false,
            ..Rules::default()
        }
    }

    /// Time that a running game waits for a player whose connection broke.
    pub fn grace(&self) -> Duration {
        let default = if self.compat == Compat::Protocol { GRACE } else { 0 };
        Duration::from_secs(self.grace.unwrap_or(default))
    }

    /// The names invited, with the hashes of their trips.
    pub fn invitations(&self) -> impl Iterator<Item = (String, Option<String>)> {
        self.invited.iter().map(|line| match line.split_once(':') {
            Some((name, hash)) => (name.to_owned(), Some(hash.to_owned())),
            None => (line.clone(), None),
        })
    }

    /// Least time charged for a move.
    pub fn least(&self) -> Duration {
        Duration::from_secs(u64::from(self.least_time))
    }
}
