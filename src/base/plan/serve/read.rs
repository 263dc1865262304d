//! The tables of `[serve]`, read and checked.

use super::{
    DATABASE, Limits, PlayerTime, Proxies, RatingConfig, Retention, RoundsConfig, ServeConfig, TlsConfig,
    rounds::timezone,
};
use crate::{
    HttpConfig, NotifyConfig,
    keys::SERVE_TLS,
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
    let table = root.table("serve", &ServeConfig::SECTION);
    for key in ONLY_IN_AN_EVENT.into_iter().filter(|key| table.has(key)) {
        table.fault(key, "belongs to an event: in an open league no game waits for a player");
    }
    ServeConfig { notify: NotifyConfig::of(root), http: HttpConfig::of(root), ..ServeConfig::read(&table) }
}

/// Reads the network side of an event; `None` where the file has none.
pub fn of_event(root: &Table<'_>) -> Option<ServeConfig> {
    let table = root.table("serve", &ServeConfig::SECTION);
    if !table.is_given() {
        return None;
    }
    for (key, why) in ELSEWHERE_IN_AN_EVENT.into_iter().filter(|(key, _)| table.has(key)) {
        table.fault(key, why);
    }
    Some(ServeConfig::read(&table))
}

fn tables<'a>(table: &Table<'a>, name: &str) -> Vec<Item<'a>> {
    let expected = format!("tables, each under `[[serve.{name}]]`");
    table.item(name).map(|list| list.elements(&expected)).unwrap_or_default()
}

pub(super) fn database(table: &Table<'_>) -> Option<PathBuf> {
    table.path("database").or_else(|| Some(table.context.environment.path(DATABASE)))
}

pub(crate) fn trusted_proxies(table: &Table<'_>) -> Option<Proxies> {
    table.item("trusted_proxies").map(|list| Proxies::read(&list))
}

pub(crate) fn tls(table: &Table<'_>) -> Option<Option<TlsConfig>> {
    Some(TlsConfig::read(&table.table("tls", &SERVE_TLS), 4082))
}

pub(super) fn times(table: &Table<'_>) -> Option<Vec<PlayerTime>> {
    Some(tables(table, "time").iter().filter_map(player_time).collect())
}

pub(super) fn rounds(table: &Table<'_>) -> Option<Vec<RoundsConfig>> {
    Some(tables(table, "rounds").iter().filter_map(round).collect())
}

pub(super) fn rating(table: &Table<'_>) -> Option<RatingConfig> {
    Some(RatingConfig::checked(&table.table("rating", &RatingConfig::SECTION)))
}

pub(super) fn limits(table: &Table<'_>) -> Option<Limits> {
    Some(Limits::read(&table.table("limits", &Limits::SECTION)))
}

pub(super) fn retention(table: &Table<'_>) -> Option<Retention> {
    Some(Retention::checked(&table.table("retention", &Retention::SECTION)))
}

pub(super) fn name(table: &Table<'_>) -> Option<String> {
    let name = table.text("name")?;
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    if name.is_empty() || name.len() > 32 || !name.bytes().all(fits) {
        table.fault("name", "must be 1 to 32 letters, digits, `_`, `-` or `.`: it is a part of game ids");
    }
    Some(name)
}

pub(crate) fn listen(table: &Table<'_>) -> Option<Vec<SocketAddr>> {
    let list = table.item("listen")?;
    let addresses = addresses(&list, 4081);
    if list.is_empty_list() {
        list.fault(
            "names no address; write one such as \"127.0.0.1:4081\", or \"0.0.0.0:4081\" for every interface",
        );
    }
    Some(addresses)
}

/// The addresses of a list; messages have this port in their examples.
pub(crate) fn addresses(list: &Item<'_>, port: u16) -> Vec<SocketAddr> {
    let elements = list.elements(&format!("a list of addresses such as [\"127.0.0.1:{port}\"]"));
    elements.iter().filter_map(|item| address(item, port)).collect()
}

fn address(item: &Item<'_>, port: u16) -> Option<SocketAddr> {
    let text = item.text(&format!("an address such as \"127.0.0.1:{port}\""))?;
    let address = text.parse().ok();
    if address.is_none() {
        item.fault(format!(
            "`{text}` is not an address; write a numeric IP address and a port, such as \"127.0.0.1:{port}\", or \
             \"0.0.0.0:{port}\" for every interface"
        ));
    }
    address
}

pub(super) fn invited(table: &Table<'_>) -> Option<Vec<String>> {
    let invitation = table.word("login") == Some("invitation");
    let Some(list) = table.item("invited") else {
        if invitation {
            table.fault("invited", "is missing; with `login = \"invitation\"` name those who may log in");
        }
        return None;
    };
    let elements = list.elements("a list of names");
    match (invitation, elements.is_empty()) {
        (true, true) => list.fault("invites nobody; with `login = \"invitation\"` name those who may log in"),
        (false, false) => {
            list.fault("is checked only with `login = \"invitation\"`; write that too, or leave this out")
        }
        _ => {}
    }
    Some(elements.iter().filter_map(invitation_line).collect())
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

pub(super) fn records(table: &Table<'_>) -> Option<Option<PathBuf>> {
    let path = table.path("records")?;
    if path.exists() && !path.is_dir() {
        table.fault("records", format!("`{}` is a file, not a directory", path.display()));
    }
    Some(Some(path))
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

fn round(item: &Item<'_>) -> Option<RoundsConfig> {
    let table = item.table(&RoundsConfig::SECTION)?;
    table.require("game", "name the game that is played in rounds, such as `floodgate-300-10F`");
    let is_scheduled = |game: String| game.parse::<GameName>().is_ok_and(|game| game.is_floodgate());
    if table.has("game") && !table.text("game").is_some_and(is_scheduled) {
        table.fault(
            "game",
            "must be a name such as `floodgate-300-10F`: only players of those wait for a round",
        );
    }
    check_times(&table);
    Some(RoundsConfig::read(&table))
}

pub(super) fn zone(table: &Table<'_>) -> Option<i16> {
    let zone = timezone(&table.text("timezone")?);
    if zone.is_none() {
        table.fault("timezone", "is the distance from UTC, such as `+09:00` for Japan, or `UTC`");
    }
    zone
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

pub(super) fn minutes(table: &Table<'_>) -> Option<Vec<u8>> {
    numbers(&table.item("minutes")?, 59)
}

pub(super) fn hours(table: &Table<'_>) -> Option<Vec<u8>> {
    numbers(&table.item("hours")?, 23)
}

fn numbers(list: &Item<'_>, most: i64) -> Option<Vec<u8>> {
    let elements = list.elements("a list of whole numbers");
    let number = |item: &Item<'_>| item.integer(0, most, "").and_then(|n| u8::try_from(n).ok());
    Some(elements.iter().filter_map(number).collect())
}
