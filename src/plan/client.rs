//! The file of `renmei floodgate`. A login that cannot lead to a game is refused here, before the server sees it.

use crate::{
    EnginePlan, Environment, Faults, HttpConfig, LogPlan, NotifyConfig,
    engines::lone,
    keys::{
        ENGINE,
        client::{CLIENT, FLOODGATE},
    },
    log::log,
    reader::{self, IntegerOr as Or, Item, Table},
};
use notation::csa::{
    game_name::{Entry, GameName, Wish},
    wire::is_player_name,
};
use referee::rules::Declaration;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

/// A checked `renmei floodgate` file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClientConfig {
    /// Name of the event in the database.
    pub name: String,
    /// The SQLite file.
    pub database: PathBuf,
    /// Host name or address of the server.
    pub host: String,
    /// Port of the server.
    pub port: u16,
    /// Whether and how the server is spoken to by TLS; `None`: in the clear.
    pub tls: Option<Trust>,
    /// Login on the server.
    pub login: Login,
    /// Games to play; `None`: until a signal.
    pub games: Option<u64>,
    /// Whether moves carry the engine's evaluation; `None`: on servers that are known to accept it.
    pub comments: Option<bool>,
    /// Whether a win is declared as soon as the referee allows it, not only when the engine declares it.
    pub declares_at_once: bool,
    /// The declaration rule; `None`: as the server announces it.
    pub declaration: Option<Declaration>,
    /// Whether the engine has to make a move before the first login.
    pub look: bool,
    /// Restarts of the engine within a game, at most.
    pub restarts: u32,
    /// Least time kept back for the network.
    pub margin: Duration,
    /// Most time kept back for the network.
    pub margin_most: Duration,
    /// Time for a move in games without a clock.
    pub untimed: Duration,
    /// Silence after which a blank line is sent.
    pub keep_alive: Duration,
    /// Longest time for a connection, and for the answer to a login.
    pub patience: Duration,
    /// First wait after a failure.
    pub backoff: Duration,
    /// Longest wait after failures.
    pub backoff_most: Duration,
    /// Where the record of each game is written.
    pub records: Option<RecordFiles>,
    /// The engine.
    pub engine: EnginePlan,
    /// Who is told what happens.
    #[serde(skip)]
    pub notify: NotifyConfig,
    /// Who may watch in a browser.
    #[serde(skip)]
    pub http: HttpConfig,
    /// Ratings of opponents, by name.
    pub ratings: BTreeMap<String, f64>,
    /// Which conversations with the engine are kept.
    pub log: LogPlan,
    /// Megabytes of free disk below which it does not log in for a game; 0: nobody looks.
    #[serde(skip)]
    pub reserve_mb: u64,
}

/// Whose certificates are trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Trust {
    /// Those that the system trusts.
    System,
    /// Those in a file.
    File(PathBuf),
}

/// The name of record files by default.
const BY_ID: &str = "{id}";

/// Where the record of each game is written, and under which name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordFiles {
    /// The directory.
    pub directory: PathBuf,
    /// The name without its extension, with [`RecordFiles::PLACES`].
    pub name: String,
}

impl RecordFiles {
    /// What a name may contain, and what is put in its place: the number of the game in the database, its Game_ID on the
    /// server, the names of the players, the day of its start (UTC).
    pub const PLACES: [&str; 5] = ["{number}", "{id}", "{black}", "{white}", "{date}"];

    /// The file of a game with these values, in the order of [`Self::PLACES`]. Characters that are not common in names of
    /// files are replaced: the values come from strangers.
    #[must_use]
    pub fn path(&self, values: &[&str; 5]) -> PathBuf {
        let fits = |c: char| if c.is_alphanumeric() || "_-+@.".contains(c) { c } else { '_' };
        let name = Self::PLACES.iter().zip(values).fold(self.name.clone(), |name, (place, value)| {
            let value: String = value.chars().map(fits).collect();
            name.replace(place, value.trim_start_matches('.'))
        });
        self.directory.join(format!("{name}.csa"))
    }
}

/// Login on a server.
#[derive(Clone, PartialEq, Serialize)]
pub struct Login {
    /// The name.
    pub name: String,
    /// The password; never stored or shown.
    #[serde(skip)]
    pub password: String,
    /// In the extended mode: the game asked for, and the colour.
    pub seek: Option<(String, char)>,
    /// Name of the game, as far as the file says it.
    pub game: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("name", &self.name).field("game", &self.game).finish_non_exhaustive()
    }
}

impl ClientConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(path: &Path) -> Result<Self, Faults> {
        reader::read_file(path, |text, environment| Self::parse(text, Some(path), environment))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str, file: Option<&Path>, environment: &Environment) -> Result<Self, Faults> {
        reader::read(text, file, environment, &CLIENT, |root| client(root, file))
    }
}

fn client(root: &Table<'_>, file: Option<&Path>) -> ClientConfig {
    let table = root.table("floodgate", &FLOODGATE);
    let engine = root.table("engine", &ENGINE);
    root.require("floodgate", "say which server to play on");
    root.require("engine", "say which engine plays");
    let stem =
        file.and_then(Path::file_stem).map_or_else(|| "floodgate".into(), |stem| stem.to_string_lossy());
    let span = |name: &str, default: u64| table.duration(name).unwrap_or(Duration::from_millis(default));
    let config = ClientConfig {
        name: table.text("name").unwrap_or_else(|| stem.clone().into_owned()),
        database: table.path("database").unwrap_or_else(|| beside(root, &stem)),
        host: needed(&table, "host", "name the server"),
        port: table.integer("port").unwrap_or(4081),
        tls: trust(&table),
        login: login(&table),
        games: match table.integer_or("games") {
            Some(Or::Integer(games)) => Some(games),
            _ => None,
        },
        comments: match table.word("comments") {
            Some("yes") => Some(true),
            Some("no") => Some(false),
            _ => None,
        },
        declares_at_once: table.word("declare") == Some("at-once"),
        declaration: match table.word("declaration") {
            Some("27") => Some(Declaration::Csa27),
            Some("24") => Some(Declaration::Csa24),
            Some("none") => Some(Declaration::None),
            _ => None,
        },
        look: table.flag("look", true),
        restarts: table.integer("restarts").unwrap_or(3),
        margin: span("margin", 200),
        margin_most: span("margin_most", 3000),
        untimed: span("untimed", 10_000),
        keep_alive: span("keep_alive", 40_000),
        patience: span("patience", 30_000),
        backoff: span("backoff", 10_000),
        backoff_most: span("backoff_most", 900_000),
        records: record_files(&table),
        engine: EnginePlan { hurry: Some(span("hurry", 300)), ..lone(&engine).unwrap_or_default() },
        notify: NotifyConfig::read(root),
        http: HttpConfig::of(root),
        ratings: root.item("ratings").map(|item| ratings(&item)).unwrap_or_default(),
        log: log(&table),
        reserve_mb: table.integer("reserve_mb").unwrap_or(crate::RESERVE_MB),
    };
    table.refuse_unknown();
    config
}

fn trust(table: &Table<'_>) -> Option<Trust> {
    let (tls, ca) = (table.flag("tls", false), table.path("ca"));
    if ca.is_some() && !tls {
        table.fault("ca", "is looked at only with `tls = true`; write that too, or leave this out");
    }
    tls.then(|| ca.map_or(Trust::System, Trust::File))
}

fn record_files(table: &Table<'_>) -> Option<RecordFiles> {
    let (directory, name) = (table.path("records"), table.text("record_name"));
    if directory.is_none() && name.as_deref().is_some_and(|name| name != BY_ID) {
        table.fault(
            "record_name",
            "names files that nobody asks for; say with `records` where they are written",
        );
    }
    let name = name.unwrap_or_else(|| BY_ID.to_owned());
    let plain = RecordFiles::PLACES.iter().fold(name.clone(), |name, place| name.replace(place, ""));
    if plain.contains(['{', '}']) {
        let known = RecordFiles::PLACES.join(", ");
        table.fault("record_name", format!("has a place that is none of {known}"));
    } else if !name.contains("{id}") && !name.contains("{number}") {
        table.fault("record_name", "needs `{id}` or `{number}`, or one game would overwrite another");
    } else if name.starts_with('/') || name.split('/').any(|part| part == "..") {
        table.fault("record_name", "must stay below the directory of `records`");
    }
    Some(RecordFiles { directory: directory?, name })
}

/// The file's name with `.db`, in its directory.
fn beside(root: &Table<'_>, stem: &str) -> PathBuf {
    root.context.environment.base.join(format!("{stem}.db"))
}

fn needed(table: &Table<'_>, name: &str, hint: &str) -> String {
    let text = table.text(name);
    if text.as_deref().is_none_or(str::is_empty) {
        table.fault(name, format!("is missing; {hint}"));
    }
    text.unwrap_or_default()
}

fn ratings(item: &Item<'_>) -> BTreeMap<String, f64> {
    let mut ratings = BTreeMap::new();
    for (name, entry) in item.free_entries() {
        match entry.scalar().and_then(|text| text.parse::<f64>().ok()).filter(|rating| rating.is_finite()) {
            Some(rating) => _ = ratings.insert(name, rating),
            None => entry.fault("is not a rating; write a number such as 2850"),
        }
    }
    ratings
}

fn login(table: &Table<'_>) -> Login {
    let name = needed(table, "login", "give the name to log in with");
    let password = needed(table, "password", "on floodgate: `floodgate-300-10F,` and a secret of your own");
    if !name.is_empty() && !is_player_name(&name) {
        table.fault(
            "login",
            "must be 1 to 32 letters, digits, `_`, `-`, `@` or `.`; the first must not be a dot",
        );
    }
    if password.contains(' ') {
        table.fault("password", "must not contain a blank: the line `LOGIN name password` is cut at blanks");
    }
    let color = table.word("color").unwrap_or("any");
    let (seek, game) = match table.word("mode") {
        Some("x1") => extended(table, &password, color),
        _ => (None, plain(table, &password, color)),
    };
    Login { name, password, seek, game }
}

/// In CSA mode the password begins with the game; without one the server assumes a game that nobody plays.
fn plain(table: &Table<'_>, password: &str, color: &str) -> String {
    for (key, given) in [("game", table.has("game")), ("color", color != "any")] {
        if given {
            table.fault(
                key,
                "goes with `mode = \"x1\"`; in CSA mode the password says it: `game-300-10F,secret`, or with a \
                 colour `game-300-10F-B,secret`",
            );
        }
    }
    let entry = Entry::read(password);
    let says_game = password.split(',').next().is_some_and(|head| head.starts_with(entry.game.as_str()));
    if !password.is_empty() && !says_game {
        table.fault(
            "password",
            "names no game, so that the server would take it for `default-1500-0` and nobody would come; in CSA \
             mode it is the game, a comma and a secret of your own: `floodgate-300-10F,secret` (300 s and 10 s more \
             for each move; `-10` without F is byoyomi)",
        );
        return String::new();
    }
    if entry.game.is_floodgate() {
        if entry.trip.is_none() {
            table.fault(
                "password",
                "names a floodgate game but no secret behind a comma; without one you are not rated and never \
                 paired: `floodgate-300-10F,secret`",
            );
        }
        if entry.wish != Wish::Either {
            table.fault(
                "password",
                "asks for a colour; floodgate's schedule gives them: leave `-B` or `-W` out",
            );
        }
    }
    entry.game.to_string()
}

/// In x1 mode the password is the secret alone, and a command asks for the game.
fn extended(table: &Table<'_>, password: &str, color: &str) -> (Option<(String, char)>, String) {
    if password.split_once(',').is_some_and(|(head, _)| Entry::read(head).game.as_str() == head) {
        table.fault(
            "password",
            "begins with a game, as in CSA mode; in x1 mode it is the secret alone, and `game` says the game",
        );
    }
    let game = needed(table, "game", "in x1 mode say the game to wait for, such as `floodgate-300-10F`");
    match game.parse::<GameName>() {
        Err(why) if !game.is_empty() => table.fault("game", why.to_string().trim_end_matches('.')),
        Ok(name) if name.is_floodgate() && color != "any" => {
            table.fault("color", "floodgate's schedule gives the colours; leave it out");
        }
        _ => {}
    }
    let wish = match color {
        "black" => '+',
        "white" => '-',
        _ => '*',
    };
    (Some((game.clone(), wish)), game)
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
