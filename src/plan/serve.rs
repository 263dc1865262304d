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
pub(crate) use read::{league, of_event};
pub use retention::Retention;
pub use rounds::RoundsConfig;
pub use tls::TlsConfig;

use crate::{HttpConfig, NotifyConfig};
use referee::rules::{Declaration, Rules};
use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, path::PathBuf, time::Duration};

/// Database of an open league whose file names none.
const DATABASE: &str = "league.db";
/// Seconds that a game waits for a player whose connection broke, by default.
const GRACE: u64 = 60;

/// A checked `[serve]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServeConfig {
    /// Name of an open league: in the database, and the first part of every game's id.
    pub name: String,
    /// Addresses to accept connections on.
    pub listen: Vec<SocketAddr>,
    /// Addresses on which clients speak TLS.
    #[serde(skip_serializing)]
    pub tls: Option<TlsConfig>,
    /// Proxies that say where a client comes from.
    #[serde(skip_serializing)]
    pub trusted_proxies: Proxies,
    /// Database of an open league.
    pub database: PathBuf,
    /// Which to follow where the protocol's text and shogi-server differ.
    pub compat: Compat,
    /// Move limit of an open league, in plies; 0: no limit.
    pub max_moves: u32,
    /// Least time that an open league charges for a move, in seconds.
    pub least_time: u32,
    /// Declaration rule of an open league.
    pub declaration: Declaration,
    /// Whether the start position counts for sennichite in an open league; `None`: as `compat` has it.
    pub count_start_position: Option<bool>,
    /// Who may log in.
    pub login: Login,
    /// With [`Login::Invitation`]: names, each with `:` and the hash of its trip where a trip is required.
    #[serde(skip_serializing)]
    pub invited: Vec<String>,
    /// Directory for a record of every game, `YYYY/MM/DD/<Game_ID>.csa`.
    pub records: Option<PathBuf>,
    /// Whether other users of the machine, such as a web server, may read the records.
    #[serde(skip_serializing)]
    pub share_records: bool,
    /// Seconds that a running game waits for a player whose connection broke; `None`: as `compat` has it.
    pub grace: Option<u64>,
    /// Seconds that both players of a game have to agree to it.
    pub agreement: u64,
    /// Whether spectators of moves (`%%MONITOR2`) see the comments of the players.
    pub comments: bool,
    /// Unit of clocks and announced times.
    pub time_unit: Counted,
    /// Players of an open league with a time of their own.
    pub time: Vec<PlayerTime>,
    /// Seconds that a game of an event waits for an absent player.
    pub wait: u64,
    /// What becomes of the game then.
    pub missing: Missing,
    /// Timed rounds of an open league.
    pub rounds: Vec<RoundsConfig>,
    /// How players are rated.
    pub rating: RatingConfig,
    /// Limits per client.
    pub limits: Limits,
    /// What an open league keeps of old games.
    pub retention: Retention,
    /// Megabytes of free disk below which an open league begins no new games; 0: it does not look.
    pub reserve_mb: u64,
    /// Who is told what happens in an open league.
    #[serde(skip)]
    pub notify: NotifyConfig,
    /// Who may watch an open league in a browser.
    #[serde(skip)]
    pub http: HttpConfig,
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

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            name: "league".to_owned(),
            listen: vec![SocketAddr::from(([127, 0, 0, 1], 4081))],
            tls: None,
            trusted_proxies: Proxies::default(),
            database: PathBuf::from(DATABASE),
            compat: Compat::Protocol,
            max_moves: 256,
            least_time: 0,
            declaration: Declaration::Csa27,
            count_start_position: None,
            login: Login::Open,
            invited: vec![],
            records: None,
            share_records: false,
            grace: None,
            agreement: 120,
            comments: false,
            time_unit: Counted::Sec,
            time: vec![],
            wait: 120,
            missing: Missing::Forfeit,
            rounds: vec![],
            rating: RatingConfig::default(),
            limits: Limits::default(),
            retention: Retention::default(),
            reserve_mb: crate::RESERVE_MB,
            notify: NotifyConfig::default(),
            http: HttpConfig::default(),
        }
    }
}

impl ServeConfig {
    /// The rules of every game.
    #[must_use]
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
    #[must_use]
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
    #[must_use]
    pub fn least(&self) -> Duration {
        Duration::from_secs(u64::from(self.least_time))
    }
}
