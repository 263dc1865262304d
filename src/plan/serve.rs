//! `[serve]` of a configuration file: what is played, where, and how much strangers may ask for.

mod clocks;
mod rating;
mod rounds;

pub use clocks::{Counted, PlayerTime};
pub use rating::{Method, RatingConfig};
pub use rounds::RoundsConfig;

use crate::password;
use notation::csa::wire::is_player_name;
use referee::rules::{Declaration, Rules};
use serde::{Deserialize, Serialize};
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

/// Seconds a game is held for who lost its line.
const GRACE: u64 = 60;

/// A league's configuration, checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServeConfig {
    /// The event's name: in the database, and the first part of every game's id.
    pub name: String,
    /// Where connections are accepted.
    pub listen: Vec<SocketAddr>,
    /// The database, relative to the configuration file.
    pub database: PathBuf,
    /// Whose habits are followed where the protocol's text and shogi-server disagree.
    pub compat: Compat,
    /// The move limit in plies; 0: none.
    pub max_moves: u32,
    /// Least time charged for a move, in seconds.
    pub least_time: u32,
    /// The declaration rule.
    pub declaration: Declaration,
    /// Whether the start position counts for sennichite; by default as `compat` has it.
    pub count_start_position: Option<bool>,
    /// Who may log in.
    pub login: Login,
    /// With `login = "invitation"`: names, each followed by `:` and the hash of the trip it has to show, if any.
    #[serde(skip_serializing)]
    pub invited: Vec<String>,
    /// Where a record of every game is written, `YYYY/MM/DD/<Game_ID>.csa`, relative to the configuration file.
    pub records: Option<PathBuf>,
    /// Seconds that a running game is held for a player whose line dropped; by default 60, and 0, which loses at once,
    /// where `compat` is shogi-server's.
    pub grace: Option<u64>,
    /// How long both players of a game have to agree to it, in seconds.
    pub agreement: u64,
    /// Whether those who watch the moves of a game (`%%MONITOR2`) see what players say of them.
    pub comments: bool,
    /// What time is counted in.
    pub time_unit: Counted,
    /// Players with a time of their own.
    pub time: Vec<PlayerTime>,
    /// In an event, how many seconds a game waits for a player who is not here.
    pub wait: u64,
    /// In an event, what becomes of it then.
    pub missing: Missing,
    /// When games whose names begin with `floodgate-` are paired.
    pub rounds: Vec<RoundsConfig>,
    /// How players are rated.
    pub rating: RatingConfig,
    /// What strangers may ask for.
    pub limits: Limits,
}

/// Whose habits are followed where the protocol's text and the server of floodgate disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compat {
    /// The text: `%TORYO,T4`, `%KACHI,T8` once.
    #[default]
    Protocol,
    /// shogi-server: `%TORYO`, `%KACHI` said twice, the start position no part of a repetition.
    ShogiServer,
}

/// What becomes of a game when one player did not appear. When neither did, it is left out in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Who is here wins by default.
    #[default]
    Forfeit,
    /// It is left out, and nobody scores.
    Skip,
}

/// Who may log in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Login {
    /// Anybody, under any name; a trip makes a player known again.
    #[default]
    Open,
    /// Who has an account in the database.
    Accounts,
    /// Who is invited in the configuration file.
    Invitation,
}

/// What strangers may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Connections at once from one address.
    pub connections_per_address: usize,
    /// Lines that are no login before a connection is closed.
    pub login_attempts: u32,
    /// Seconds a connection may take to log in.
    pub login_seconds: u64,
    /// Bytes of a line that are read; the rest of a longer one is dropped.
    pub line_bytes: usize,
    /// Lines a second that are heard, moves in turn aside; more wait.
    pub lines_per_second: u32,
    /// Bytes that may wait for a client that does not read.
    pub unread_bytes: usize,
    /// Buoys that may be set at once.
    pub buoys: usize,
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            name: "league".to_owned(),
            listen: vec![SocketAddr::from(([127, 0, 0, 1], 4081))],
            database: PathBuf::from("league.db"),
            compat: Compat::Protocol,
            max_moves: 256,
            least_time: 0,
            declaration: Declaration::Csa27,
            count_start_position: None,
            login: Login::Open,
            invited: vec![],
            records: None,
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
            line_bytes: 8192,
            lines_per_second: 50,
            unread_bytes: 512 * 1024,
            buoys: 1000,
        }
    }
}

/// Why a league's configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ServeConfigError {
    /// The file.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// It is no TOML, or says what is not known; with line and column.
    #[error("{0}: {1}")]
    Toml(PathBuf, Box<toml::de::Error>),
    /// A value that cannot be.
    #[error("{file}: `{key}` {why}")]
    Value {
        /// The file.
        file: PathBuf,
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    serve: ServeConfig,
}

/// The part of an event's file that is about the network.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    serve: ServeConfig,
}

/// What an event says elsewhere.
const OF_THE_EVENT: [(&str, &str); 8] = [
    ("serve.name", "belongs into `[event]` where there is an event"),
    ("serve.database", "belongs into `[event]` where there is an event"),
    ("serve.max_moves", "belongs into `[rules]` where there is an event"),
    ("serve.declaration", "belongs into `[rules]` where there is an event"),
    ("serve.count_start_position", "belongs into `[rules]` where there is an event"),
    ("serve.rounds", "has no place where there is an event: it pairs its games itself"),
    ("serve.time", "belongs into the player's own `time` where there is an event"),
    ("serve.least_time", "belongs into `[time]`, as `least`, where there is an event"),
];

impl ServeConfig {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// When it cannot be read, or says what cannot be; the key is named.
    pub fn load(path: &Path) -> Result<Self, ServeConfigError> {
        let text = std::fs::read_to_string(path).map_err(|e| ServeConfigError::File(path.to_owned(), e))?;
        let mut config = Self::read(&text, path)?;
        if let Some(directory) = path.parent() {
            config.database = directory.join(&config.database);
        }
        Ok(config)
    }

    /// The network side of an event: what `[serve]` says in a file that has an event, too.
    ///
    /// # Errors
    /// When it cannot be read, or says what the event has to say.
    pub fn of_event(path: &Path) -> Result<Self, ServeConfigError> {
        let text = std::fs::read_to_string(path).map_err(|e| ServeConfigError::File(path.to_owned(), e))?;
        let toml = |e| ServeConfigError::Toml(path.to_owned(), Box::new(e));
        let table: toml::Table = text.parse().map_err(toml)?;
        let serve = table.get("serve").and_then(toml::Value::as_table);
        let elsewhere = OF_THE_EVENT
            .iter()
            .find(|(key, _)| serve.is_some_and(|serve| serve.contains_key(key.trim_start_matches("serve."))));
        if let Some(&(key, why)) = elsewhere {
            return Err(ServeConfigError::Value { file: path.to_owned(), key, why });
        }
        let part: Part = toml::from_str(&text).map_err(toml)?;
        part.serve.checked(path)
    }

    /// Whether a file is that of an event, not of a league of free pairing.
    #[must_use]
    pub fn is_event(path: &Path) -> bool {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.parse::<toml::Table>()
            .is_ok_and(|table| table.contains_key("engines") || table.contains_key("event"))
    }

    fn read(text: &str, path: &Path) -> Result<Self, ServeConfigError> {
        let file: File =
            toml::from_str(text).map_err(|e| ServeConfigError::Toml(path.to_owned(), Box::new(e)))?;
        file.serve.checked(path)
    }

    fn checked(mut self, path: &Path) -> Result<Self, ServeConfigError> {
        if let (Some(records), Some(directory)) = (&mut self.records, path.parent()) {
            *records = directory.join(&records);
        }
        match self.fault() {
            Some((key, why)) => Err(ServeConfigError::Value { file: path.to_owned(), key, why }),
            None => Ok(self),
        }
    }

    fn fault(&self) -> Option<(&'static str, &'static str)> {
        let named = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
        let limits = &self.limits;
        let zero =
            limits.connections == 0 || limits.connections_per_address == 0 || limits.lines_per_second == 0;
        if self.name.is_empty() || self.name.len() > 32 || !self.name.bytes().all(named) {
            Some(("serve.name", "must be 1 to 32 letters, digits, `_`, `-` or `.`: it is a part of game ids"))
        } else if self.listen.is_empty() {
            Some(("serve.listen", "names no address"))
        } else if !(128..=1024 * 1024).contains(&limits.line_bytes) {
            Some(("serve.limits.line_bytes", "must be 128 to 1048576"))
        } else if !self
            .invitations()
            .all(|(name, hash)| is_player_name(&name) && hash.is_none_or(|hash| password::is_hash(&hash)))
        {
            Some((
                "serve.invited",
                "must hold names, or lines as `renmei account invite NAME` prints them: name, `:`, hash",
            ))
        } else if self.invited.is_empty() && self.login == Login::Invitation {
            Some(("serve.invited", "invites nobody"))
        } else if !(1..=86_400).contains(&self.agreement) {
            Some(("serve.agreement", "must be 1 to 86400 seconds"))
        } else if !self.time.iter().all(PlayerTime::is_timed) {
            Some(("serve.time", "gives a player no time at all"))
        } else if let Some(why) = self.rounds.iter().find_map(RoundsConfig::fault) {
            Some(("serve.rounds", why))
        } else if !self.rating.is_usable() {
            Some(("serve.rating", "holds a number that no rating can rest on"))
        } else if limits.unread_bytes < 16 * 1024 {
            Some(("serve.limits.unread_bytes", "must be at least 16384: a game summary has to fit"))
        } else if zero {
            Some(("serve.limits", "must let somebody in: a limit is 0"))
        } else {
            None
        }
    }

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

    /// How long a running game is held for a player whose line dropped.
    #[must_use]
    pub fn grace(&self) -> Duration {
        let habit = if self.compat == Compat::Protocol { GRACE } else { 0 };
        Duration::from_secs(self.grace.unwrap_or(habit))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ServeConfig, String> {
        ServeConfig::read(text, Path::new("serve.toml")).map_err(|e| e.to_string())
    }

    #[test]
    fn the_open_default_is_what_the_preset_says() {
        let preset = read(include_str!("../../configs/serve.toml")).unwrap();
        assert_eq!(preset, ServeConfig::default());
    }

    #[test]
    fn a_wrong_value_is_named_with_its_key() {
        let wrong = |text: &str| read(text).unwrap_err();
        assert!(wrong("[serve]\nname = \"a/b\"").starts_with("serve.toml: `serve.name` must be"));
        assert!(wrong("[serve]\nlisten = []").contains("`serve.listen` names no address"));
        assert!(wrong("[serve]\nport = 1").contains("unknown field `port`"));
        assert!(wrong("[serve]\ncompat = \"x\"").contains("shogi-server"));
        let invitation = |who| wrong(&format!("[serve]\nlogin = \"invitation\"\ninvited = [{who}]"));
        assert!(invitation("").contains("`serve.invited` invites nobody"));
        assert!(invitation("\"a b\"").contains("`serve.invited` must hold names"));
        assert!(invitation("\"a:trip\"").contains("`serve.invited` must hold names"));
        assert!(wrong("[serve.limits]\nline_bytes = 3").contains("`serve.limits.line_bytes`"));
    }

    #[test]
    fn shogi_servers_habit_leaves_the_start_position_out_unless_told() {
        let counts = |text| read(text).unwrap().rules().count_start_position;
        assert!(counts("[serve]"));
        assert!(!counts("[serve]\ncompat = \"shogi-server\""));
        assert!(counts("[serve]\ncompat = \"shogi-server\"\ncount_start_position = true"));
    }

    #[test]
    fn what_an_event_says_itself_its_network_side_cannot_say_again() {
        let dir = tempfile::tempdir().unwrap();
        let of = |text: &str| {
            let path = dir.path().join("x.toml");
            std::fs::write(&path, text).unwrap();
            ServeConfig::of_event(&path)
                .map_err(|e| e.to_string().replace(&path.display().to_string(), "x.toml"))
        };
        assert_eq!(of("[event]\nname = \"cup\"\n").unwrap(), ServeConfig::default());
        assert_eq!(of("[serve]\nwait = 5\nmissing = \"skip\"\n").unwrap().missing, Missing::Skip);
        let twice = of("[serve]\nmax_moves = 9\n").unwrap_err();
        assert_eq!(twice, "x.toml: `serve.max_moves` belongs into `[rules]` where there is an event");
    }
}
