//! The file of `renmei floodgate`. A login that cannot lead to a game is refused here, before the server sees it.

use crate::{
    EnginePlan, Environment, Faults, HttpConfig, LogPlan, NotifyConfig,
    engines::lone,
    keys::{
        CLIENT,
        Fallback::{Is, Needed, Says},
        Kind::{self, Flag, Integer, IntegerOr, Text, Words},
        LOG, RESERVE,
    },
    log::log,
    reader::{self, Item, Table},
    settings::settings,
};
use notation::csa::{
    game_name::{Entry, GameName, Wish},
    wire::is_player_name,
};
use referee::rules::Declaration;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
    time::Duration,
};

/// Longest sleep of a client while its server cannot be reached, unless its `backoff` is longer; a host that starts again
/// waits for its players at least as long.
pub const AWAY: Duration = Duration::from_secs(60);

settings! {
    /// A checked `renmei floodgate` file.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct ClientConfig in "`[floodgate]`", ""
    with {
        /// True if a win is declared as soon as the referee allows it, not only when the engine declares it.
        declares_at_once: bool = false;
        /// The engine.
        engine: EnginePlan = EnginePlan::default();
        /// Where notices go.
        #[serde(skip)]
        notify: NotifyConfig = NotifyConfig::default();
        /// Who may watch in a browser.
        #[serde(skip)]
        http: HttpConfig = HttpConfig::default();
        /// Ratings of opponents, by name.
        ratings: BTreeMap<String, f64> = BTreeMap::new();
    };

    name: String = (String::new()) by name shown Says("the file's name"), Text,
        "with it the event is found again in its database";
    database: PathBuf = (PathBuf::new()) by database shown Says("the file's name with `.db`"), Kind::Path, "the SQLite file";
    host: String = (String::new()) by host shown Needed, Text, "the server";
    port: u16 = 4081, Integer(1, 65_535), "its port";
    tls: Option<Trust> = None by trust shown Is("false"), Flag,
        "speak TLS; the server has to show a certificate for the name in `host`";
    ca shown Says("the roots that the system trusts"), Kind::Path,
        "with `tls`: the certificates that are trusted instead, in PEM, such as that of a league of one's own";
    login: Login = (Login::default()) by login shown Needed, Text,
        "name to log in with: 1 to 32 letters, digits, `_`, `-`, `@` or `.`";
    password shown Needed, Text,
        "in CSA mode the game and a secret of your own: `floodgate-300-10F,secret`; in x1 mode the secret alone";
    mode shown Is("\"csa\""), Words(&["csa", "x1"]), "how to log in: `csa`, or shogi-server's extended mode";
    game shown Says("in CSA mode the password says it"), Text, "in x1 mode: the game to wait for";
    color shown Is("\"any\""), Words(&["any", "black", "white"]), "in x1 mode: the colour to ask for";
    games: Option<u64> = None shown Is("\"unlimited\""), IntegerOr(1, i64::MAX, "unlimited"),
        "games to play; `unlimited`: until a signal";
    comments: Option<bool> = None by comments shown Is("\"auto\""), Words(&["auto", "yes", "no"]),
        "send the evaluation and the line expected with each move; `auto`: to servers that are known to take it";
    declare shown Is("\"engine\""), Words(&["engine", "at-once"]),
        "declare a win when the engine declares it and the rule allows it, or as soon as the rule allows it";
    declaration: Option<Declaration> = None by declaration shown Is("\"announced\""),
        Words(&["announced", "27", "24", "none"]),
        "the rule of declarations; `announced`: 27 points where the server says `Jishogi 1.1`, else none";
    records: Option<RecordFiles> = None by record_files shown Says("none"), Kind::Path,
        "directory for the record of each game, written at its end";
    record_name shown Is("\"{id}\""), Text,
        "name of these files without the format's ending; `{number}`, `{id}` (the server's Game_ID), `{black}`, `{white}` and \
         `{date}` stand for what they say";
    record_formats shown Is("[\"csa\"]"), Kind::Other("texts"),
        "formats of these records: `\"csa\"`, `\"kif\"` (Shift_JIS), `\"kifu\"` (UTF-8) or `\"jkf\"`; one file for each";
    look: bool = true, Flag,
        "before the first login of the event, have the engine set its options, get ready and make a move";
    restarts: u32 = 3, Integer(0, 1000),
        "restarts of the engine within a game, at most; after that the game is resigned";
    log: LogPlan = (LogPlan::default()) by log shown Is("\"faults\""), LOG, crate::keys::log!();
    reserve: Duration = (Duration::from_millis(200)) shown Is("\"200ms\""), Kind::Duration { zero: true },
        "least time kept back for the network";
    reserve_most: Duration = (Duration::from_secs(3)) shown Is("\"3s\""), Kind::Duration { zero: false },
        "most time kept back for the network, whatever is measured";
    hurry shown Is("\"300ms\""), Kind::Duration { zero: true },
        "an engine that still thinks this long before its time for a move ends (less what is kept back) gets `stop`";
    untimed: Duration = (Duration::from_secs(10)) shown Is("\"10s\""), Kind::Duration { zero: false },
        "time for a move in games without a clock";
    keep_alive: Duration = (Duration::from_secs(40)) shown Is("\"40s\""), Kind::Duration { zero: false },
        "silence after which a blank line is sent";
    patience: Duration = (Duration::from_secs(30)) shown Is("\"30s\""), Kind::Duration { zero: false },
        "longest time for a connection, and for the answer to a login";
    backoff: Duration = (Duration::from_secs(10)) shown Is("\"10s\""), Kind::Duration { zero: false },
        "the first wait before logging in again after a failure";
    backoff_most: Duration = (Duration::from_secs(900)) shown Is("\"15m\""), Kind::Duration { zero: false },
        "longest wait; each wait is twice the one before, half of it random, and one minute at most while the server cannot be reached";
    reserve_mb: #[serde(skip)] u64 = (crate::RESERVE_MB) shown Is("512"), RESERVE, crate::keys::reserve!();
}

/// Whose certificates are trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Trust {
    /// Those that the system trusts.
    System,
    /// Those in a file.
    File(PathBuf),
}

/// Time before the end of a move's time at which an engine gets `stop`, by default.
const HURRY: Duration = Duration::from_millis(300);
/// The name of record files by default.
const BY_ID: &str = "{id}";

/// Where the record of each game is written, and under which name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordFiles {
    /// The directory.
    pub directory: PathBuf,
    /// The name without its extension, with [`RecordFiles::PLACES`].
    pub name: String,
    /// The extensions, which name the formats.
    pub formats: Vec<&'static str>,
}

impl RecordFiles {
    /// What a name may contain, and what is put in its place: the number of the game in the database, its Game_ID on the
    /// server, the names of the players, the day of its start (UTC).
    pub const PLACES: [&str; 5] = ["{number}", "{id}", "{black}", "{white}", "{date}"];

    /// The file of a game with these values, in the order of [`Self::PLACES`], without its extension. Characters that are not common in names of
    /// files are replaced: the values come from strangers.
    pub fn path(&self, values: &[&str; 5]) -> PathBuf {
        let fits = |c: char| if c.is_alphanumeric() || "_-+@.".contains(c) { c } else { '_' };
        let name = Self::PLACES.iter().zip(values).fold(self.name.clone(), |name, (place, value)| {
            let value: String = value.chars().map(fits).collect();
            name.replace(place, value.trim_start_matches('.'))
        });
        // A template may have directories in it.
        let names = name.split('/').map(|name| notation::no_device(name.to_owned()));
        self.directory.join(names.collect::<Vec<_>>().join("/"))
    }
}

/// Login on a server.
#[derive(Clone, Default, PartialEq, Serialize)]
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
        reader::read(text, file, environment, &[&CLIENT], client)
    }
}

pub(crate) fn client(root: &Table<'_>) -> ClientConfig {
    let table = root.table("floodgate", &ClientConfig::SECTION);
    let engine = root.table("engine", &EnginePlan::SECTION);
    root.require("floodgate", "say which server to play on");
    root.require("engine", "say which engine plays");
    let hurry = table.duration("hurry").unwrap_or(HURRY);
    ClientConfig {
        declares_at_once: table.word("declare") == Some("at-once"),
        engine: EnginePlan { hurry: Some(hurry), ..lone(&engine).unwrap_or_default() },
        notify: NotifyConfig::of(root),
        http: HttpConfig::of(root),
        ratings: root.item("ratings").map(|item| ratings(&item)).unwrap_or_default(),
        ..ClientConfig::read(&table)
    }
}

/// The file's name.
fn name(table: &Table<'_>) -> Option<String> {
    let given = table.item("name").map(|item| item.name().unwrap_or_default().to_owned());
    given.or_else(|| Some(table.context.stem("floodgate")))
}

/// The file's name with `.db`, in its directory.
fn database(table: &Table<'_>) -> Option<PathBuf> {
    let beside = || table.context.environment.base.join(table.context.stem("floodgate") + ".db");
    table.path("database").or_else(|| Some(beside()))
}

fn host(table: &Table<'_>) -> Option<String> {
    Some(needed(table, "host", "name the server"))
}

fn comments(table: &Table<'_>) -> Option<Option<bool>> {
    Some(match table.word("comments")? {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    })
}

fn declaration(table: &Table<'_>) -> Option<Option<Declaration>> {
    Some(match table.word("declaration")? {
        "27" => Some(Declaration::Csa27),
        "24" => Some(Declaration::Csa24),
        "none" => Some(Declaration::None),
        _ => None,
    })
}

fn trust(table: &Table<'_>) -> Option<Option<Trust>> {
    let (tls, ca) = (table.flag("tls", false), table.path("ca"));
    if ca.is_some() && !tls {
        table.fault("ca", "is looked at only with `tls = true`; write that too, or leave this out");
    }
    Some(tls.then(|| ca.map_or(Trust::System, Trust::File)))
}

fn record_files(table: &Table<'_>) -> Option<Option<RecordFiles>> {
    let (directory, name) = (table.path("records"), table.text("record_name"));
    if directory.is_none() && name.as_deref().is_some_and(|name| name != BY_ID) {
        table.fault(
            "record_name",
            "names files, but no records are written; set `records` to their directory",
        );
    }
    let name = name.unwrap_or_else(|| BY_ID.to_owned());
    let plain = RecordFiles::PLACES.iter().fold(name.clone(), |name, place| name.replace(place, ""));
    if plain.contains(['{', '}']) {
        let known = RecordFiles::PLACES.join(", ");
        table.fault("record_name", format!("has an unknown placeholder; expected one of {known}"));
    } else if !name.contains("{id}") && !name.contains("{number}") {
        table.fault("record_name", "needs `{id}` or `{number}`, or one game would overwrite another");
    } else if !Path::new(&name)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        table.fault("record_name", "must stay below the directory of `records`");
    }
    let formats = formats(table, directory.is_some());
    Some(directory.map(|directory| RecordFiles { directory, name, formats }))
}

/// The formats of records, each once.
fn formats(table: &Table<'_>, is_written: bool) -> Vec<&'static str> {
    let Some(item) = table.item("record_formats") else { return vec!["csa"] };
    let elements = item.elements("a list of formats");
    let words = elements.iter().filter_map(|item| item.word(&["csa", "kif", "kifu", "jkf"]));
    let formats: Vec<_> = words.collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    if elements.is_empty() {
        item.fault("names no format");
    }
    if !is_written && formats != ["csa"] {
        item.fault("names formats, but no records are written; set `records` to their directory");
    }
    formats
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

fn login(table: &Table<'_>) -> Option<Login> {
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
    Some(Login { name, password, seek, game })
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
