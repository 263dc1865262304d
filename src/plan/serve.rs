//! `[serve]` of a configuration file: an open league, or the network side of an event.

mod clocks;
mod proxies;
mod rating;
mod read;
mod retention;
mod rounds;
mod tls;

pub use clocks::{Counted, PlayerTime};
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

/// Limits per client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Connections at once from one address, or from one IPv6 network of 64 bits.
    pub connections_per_address: usize,
    /// Lines other than a login before a connection is closed.
    pub login_attempts: u32,
    /// Seconds that a connection has to log in.
    pub login_seconds: u64,
    /// Wrong passwords from one address after which it is locked out; 0: never.
    pub login_failures: u32,
    /// Seconds in which they are counted, and for which the address is locked out.
    pub lockout_seconds: u64,
    /// Seconds without a line in either direction after which a client without a game is sent away; 0: never.
    pub idle_seconds: u64,
    /// Seconds for which a client without a game may leave everything unread.
    pub unread_seconds: u64,
    /// Bytes of a line that are read; the rest of a longer line is dropped.
    pub line_bytes: usize,
    /// Lines read in a second from a connection, moves in turn not counted; later lines wait. All connections of an
    /// address have four times as many, all connections together forty times.
    pub lines_per_second: u32,
    /// Bytes that wait for a client that does not read, before it is disconnected.
    pub unread_bytes: usize,
    /// Buoys at once.
    pub buoys: usize,
    /// Buoys at once of one player.
    pub buoys_per_player: usize,
    /// Buoys at once that were set from one address, or from one IPv6 network of 64 bits.
    pub buoys_per_address: usize,
    /// Games that a player of an open league may begin in an hour, and a quarter of what all players of an address may;
    /// 0: any number.
    pub games_per_hour: u32,
    /// Games at once in which players of one address play; `None`: see [`Limits::games_at_once`].
    pub games_per_address: Option<usize>,
    /// Names that begin their first game in an open league, from one address in an hour; 0: any number; `None`: see
    /// [`Limits::names`].
    pub names_per_hour: Option<u32>,
    /// Bytes that are kept of a player's lines in a game, and as many of its comments.
    pub game_bytes: usize,
    /// Megabytes of junk, long lines and comments that are kept of all players of an address in an hour.
    pub kept_mb_per_hour: u64,
}

impl Limits {
    /// Games at once in which players of one address play: by default two fifths of its connections, so that a room
    /// full of players is never refused, and some connections are left over.
    #[must_use]
    pub fn games_at_once(&self) -> usize {
        let (connections, few) = (self.connections_per_address, 16);
        let default = (connections / 2).min(few).max(connections / 5 * 2).max(1);
        self.games_per_address.unwrap_or(default)
    }

    /// Names that begin their first game, from one address in an hour: by default as many as its connections.
    #[must_use]
    pub fn names(&self) -> u32 {
        let default = u32::try_from(self.connections_per_address).unwrap_or(u32::MAX);
        self.names_per_hour.unwrap_or(default)
    }
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

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            connections_per_address: 256,
            login_attempts: 5,
            login_seconds: 60,
            login_failures: 10,
            lockout_seconds: 600,
            idle_seconds: 3600,
            unread_seconds: 60,
            line_bytes: 8192,
            lines_per_second: 50,
            unread_bytes: 512 * 1024,
            buoys: 1000,
            buoys_per_player: 20,
            buoys_per_address: 50,
            games_per_hour: 600,
            games_per_address: None,
            names_per_hour: None,
            game_bytes: 128 * 1024,
            kept_mb_per_hour: 8,
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
