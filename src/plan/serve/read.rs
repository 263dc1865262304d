//! The tables of `[serve]`, read and checked.

use super::{
    DATABASE, Limits, PlayerTime, Proxies, RatingConfig, Retention, RoundsConfig, ServeConfig, TlsConfig,
    rounds::timezone,
};
use crate::{
    HttpConfig, NotifyConfig,
    keys::serve::{SERVE, SERVE_ROUNDS, SERVE_TLS},
    password,
    reader::{Item, Table},
};
use notation::csa::{game_name::GameName, wire::is_player_name};
use std::{net::SocketAddr, path::PathBuf};

/// What is said of the tables of an event in the file of an open league.
const LEAGUE_ONLY: &str = "an open league has `[serve]` alone, and its rules there; with `[event]` or `[[engines]]` the \
                           file is that of an event";

/// Keys that an event has elsewhere, or not at all.
const ELSEWHERE_IN_AN_EVENT: [(&str, &str); 10] = [
    ("name", "belongs in `[event]` where there is an event"),
    ("database", "belongs in `[event]` where there is an event"),
    ("max_moves", "belongs in `[rules]` where there is an event"),
    ("declaration", "belongs in `[rules]` where there is an event"),
    ("count_start_position", "belongs in `[rules]` where there is an event"),
    ("least_time", "belongs in `[time]`, as `least`, where there is an event"),
    ("time", "belongs in the player's own `time` where there is an event"),
    ("reserve_mb", "belongs in `[event]` where there is an event"),
    (
        "retention",
        "is for open leagues; an event keeps its games, and `renmei prune` drops the moves of old ones",
    ),
    ("rounds", "has no place where there is an event: the event pairs its games itself"),
];

/// Keys that only games of an event need.
const ONLY_IN_AN_EVENT: [&str; 2] = ["wait", "missing"];

/// Reads the `[serve]` of an open league.
pub fn league(root: &Table<'_>) -> ServeConfig {
    for key in crate::keys::ROOT
        .all()
        .filter(|key| !["serve", "notify", "http"].contains(&key.name) && root.has(key.name))
    {
        root.fault(key.name, LEAGUE_ONLY);
    }
    let table = root.table("serve", &SERVE);
    for key in ONLY_IN_AN_EVENT.into_iter().filter(|key| table.has(key)) {
        table.fault(key, "belongs to an event: in an open league no game waits for a player");
    }
    ServeConfig { notify: NotifyConfig::read(root), http: HttpConfig::of(root), ..serve(&table) }
}

/// Reads the network side of an event; `None` where the file has none.
pub fn of_event(root: &Table<'_>) -> Option<ServeConfig> {
    let table = root.table("serve", &SERVE);
    if !table.is_given() {
        return None;
    }
    for (key, why) in ELSEWHERE_IN_AN_EVENT.into_iter().filter(|(key, _)| table.has(key)) {
        table.fault(key, why);
    }
    Some(serve(&table))
}

fn serve(table: &Table<'_>) -> ServeConfig {
    let default = ServeConfig::default();
    let config = ServeConfig {
        name: name(table).unwrap_or(default.name),
        listen: listen(table).unwrap_or(default.listen),
        tls: TlsConfig::read(&table.table("tls", &SERVE_TLS), 4082),
        trusted_proxies: table.item("trusted_proxies").map(|list| Proxies::read(&list)).unwrap_or_default(),
        database: table.path("database").unwrap_or_else(|| table.context.environment.path(DATABASE)),
        compat: table.choice("compat"),
        max_moves: table.integer("max_moves").unwrap_or(default.max_moves),
        least_time: table.integer("least_time").unwrap_or(default.least_time),
        declaration: table.choice("declaration"),
        count_start_position: table
            .has("count_start_position")
            .then(|| table.flag("count_start_position", true)),
        login: table.choice("login"),
        invited: invited(table),
        records: records(table),
        share_records: table.flag("share_records", false),
        grace: table.integer("grace"),
        agreement: table.integer("agreement").unwrap_or(default.agreement),
        comments: table.flag("comments", default.comments),
        time_unit: table.choice("time_unit"),
        time: tables(table, "time").iter().filter_map(player_time).collect(),
        wait: table.integer("wait").unwrap_or(default.wait),
        missing: table.choice("missing"),
        rounds: tables(table, "rounds").iter().filter_map(rounds).collect(),
        rating: RatingConfig::checked(&table.table("rating", &RatingConfig::SECTION)),
        limits: Limits::read(&table.table("limits", &Limits::SECTION)),
        retention: Retention::checked(&table.table("retention", &Retention::SECTION)),
        reserve_mb: table.integer("reserve_mb").unwrap_or(default.reserve_mb),
        notify: default.notify,
        http: default.http,
    };
    table.refuse_unknown();
    config
}

fn tables<'a>(table: &Table<'a>, name: &str) -> Vec<Item<'a>> {
    let expected = format!("tables, each under `[[serve.{name}]]`");
    table.item(name).map(|list| list.elements(&expected)).unwrap_or_default()
}

fn name(table: &Table<'_>) -> Option<String> {
    let name = table.text("name")?;
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    if name.is_empty() || name.len() > 32 || !name.bytes().all(fits) {
        table.fault("name", "must be 1 to 32 letters, digits, `_`, `-` or `.`: it is a part of game ids");
    }
    Some(name)
}

pub(super) fn listen(table: &Table<'_>) -> Option<Vec<SocketAddr>> {
    let list = table.item("listen")?;
    let elements = list.elements("a list of addresses such as [\"127.0.0.1:4081\"]");
    if list.is_empty_list() {
        list.fault(
            "names no address; write one such as \"127.0.0.1:4081\", or \"0.0.0.0:4081\" for every interface",
        );
    }
    Some(elements.iter().filter_map(address).collect())
}

fn address(item: &Item<'_>) -> Option<SocketAddr> {
    let text = item.text("an address such as \"127.0.0.1:4081\"")?;
    let address = text.parse().ok();
    if address.is_none() {
        item.fault(format!(
            "`{text}` is not an address; write a numeric IP address and a port, such as \"127.0.0.1:4081\", or \
             \"0.0.0.0:4081\" for every interface"
        ));
    }
    address
}

fn invited(table: &Table<'_>) -> Vec<String> {
    let invitation = table.word("login") == Some("invitation");
    let Some(list) = table.item("invited") else {
        if invitation {
            table.fault("invited", "is missing; with `login = \"invitation\"` name those who may log in");
        }
        return vec![];
    };
    let elements = list.elements("a list of names");
    match (invitation, elements.is_empty()) {
        (true, true) => list.fault("invites nobody; with `login = \"invitation\"` name those who may log in"),
        (false, false) => {
            list.fault("is checked only with `login = \"invitation\"`; write that too, or leave this out")
        }
        _ => {}
    }
    elements.iter().filter_map(invitation_line).collect()
}

fn invitation_line(item: &Item<'_>) -> Option<String> {
    let line = item.text("a name, or a line of `renmei account invite NAME`")?;
    let (name, hash) = line.split_once(':').map_or((line, None), |(name, hash)| (name, Some(hash)));
    if !is_player_name(name) {
        item.fault(format!(
            "`{name}` is not a name for a login: 1 to 32 letters, digits, `_`, `-`, `@` or `.`"
        ));
    } else if !hash.is_none_or(password::is_hash) {
        item.fault("what follows the name is not a hash; `renmei account invite NAME` prints the whole line");
    }
    Some(line.to_owned())
}

fn records(table: &Table<'_>) -> Option<PathBuf> {
    let path = table.path("records")?;
    if path.exists() && !path.is_dir() {
        table.fault("records", format!("`{}` is a file, not a directory", path.display()));
    }
    Some(path)
}

fn player_time(item: &Item<'_>) -> Option<PlayerTime> {
    let table = item.table(&PlayerTime::SECTION)?;
    table.require("player", "name the player whose time this is");
    let time = PlayerTime::read(&table);
    let is_read = |key: &str| table.has(key) == table.integer::<u32>(key).is_some();
    let is_sound = table.has("player") == table.text("player").is_some()
        && ["total", "byoyomi", "increment"].into_iter().all(is_read);
    if !time.is_timed() && is_sound {
        table.fault("", "gives the player no time at all; give it `total`, `byoyomi` or `increment`");
    }
    Some(time)
}

fn rounds(item: &Item<'_>) -> Option<RoundsConfig> {
    let table = item.table(&SERVE_ROUNDS)?;
    table.require("game", "name the game that is played in rounds, such as `floodgate-300-10F`");
    let game = table.text("game").unwrap_or_default();
    if table.has("game") && !game.parse::<GameName>().is_ok_and(|game| game.is_floodgate()) {
        table.fault(
            "game",
            "must be a name such as `floodgate-300-10F`: only players of those wait for a round",
        );
    }
    let rounds = RoundsConfig {
        game,
        minutes: numbers(&table, "minutes", 59),
        hours: numbers(&table, "hours", 23),
        timezone: zone(&table),
        every: table.duration("every"),
        pairing: table.choice("pairing"),
    };
    check_times(&table);
    table.refuse_unknown();
    Some(rounds)
}

fn zone(table: &Table<'_>) -> i16 {
    let Some(text) = table.text("timezone") else { return 0 };
    timezone(&text).unwrap_or_else(|| {
        table.fault("timezone", "is the distance from UTC, such as `+09:00` for Japan, or `UTC`");
        0
    })
}

fn check_times(table: &Table<'_>) {
    if table.has("every") {
        for key in ["minutes", "hours", "timezone"].into_iter().filter(|key| table.has(key)) {
            table.fault(key, "`every` already says when rounds begin; give one of the two");
        }
    } else if !table.has("minutes") {
        table.fault(
            "minutes",
            "is missing; say when rounds begin, such as `minutes = [0, 30]` or `every = \"90s\"`",
        );
    } else if table.item("minutes").is_some_and(|list| list.is_empty_list()) {
        table.fault("minutes", "names no minute; write them as in `minutes = [0, 30]`");
    }
}

fn numbers(table: &Table<'_>, name: &str, most: i64) -> Vec<u8> {
    let elements = table.item(name).map(|list| list.elements("a list of whole numbers")).unwrap_or_default();
    let number = |item: &Item<'_>| item.integer(0, most, "").and_then(|n| u8::try_from(n).ok());
    elements.iter().filter_map(number).collect()
}
