//! `hall.toml`: what the events of a hall share, and what sets one before the others.

use crate::{
    Environment, Faults, HttpConfig,
    keys::{
        Fallback::{Is, Needed, Says},
        Kind::{Flag, Integer, Other, Text},
    },
    pattern, program_name,
    reader::{self, Item, Table},
    serve::{Proxies, TlsConfig, listen, tls, trusted_proxies},
    settings::settings,
};
use notation::date;
use std::{net::SocketAddr, path::Path};

/// Name of the file, in the directory of a hall.
pub const FILE: &str = "hall.toml";
const DAY: i64 = 86_400_000;
const HOUR: i64 = 3_600_000;
const MINUTE: i64 = 60_000;

settings! {
    /// What the events of a hall share, and what sets one before the others.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HallConfig in "`hall.toml`", "The file of `renmei hall`, in its directory; all of it may be left out. It is read \
        when the hall begins, and what it says of an event again when that is begun.";

    concurrency: Option<usize> = None shown Says("the usable cores"), Integer(1, 10_000),
        "cores that the games of all events take together; a game takes those of its heavier engine";
    oversubscribe: bool = false, Flag, "whether `concurrency` may be more than the machine's cores";
    event: Vec<HallEvent> = (vec![]) by events shown Says("all alike"), Other("tables"),
        "what sets an event before the others, see `[[event]]`";
    licences: Vec<(String, usize)> = (vec![]) by licences shown Says("as many as there are games"),
        Other("table of whole numbers"),
        "most processes at once of an engine, over all events, by the name that events give it, its program or the path of \
         that; `*` and `?` stand for any letters, and for one";
    serve: Option<HallPort> = None by serve shown Says("each event has its own"), Other("table"),
        "one address for the players of all events that have `[serve]`, see `[serve]` of `hall.toml`";
    http: HttpConfig = (HttpConfig::default()) by http shown Says("no pages"), Other("table"),
        "the pages of all events: addresses, certificate, proxies and limits, as `[http]` of an event; `delay` and \
         `private` are those of each event";
}

settings! {
    /// An address for the players of all events.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HallPort in "`[serve]` of `hall.toml`", "One address for the players of all events that have `[serve]`, whose own \
        `listen`, `tls` and `trusted_proxies` are then not used. A login leads to the event \
        whose game it names in its password; without a game, to the one that has an entrant of its name.";

    listen: Vec<SocketAddr> = (vec![SocketAddr::from(([127, 0, 0, 1], 4081))]) by listen shown Is("[\"127.0.0.1:4081\"]"),
        Other("list of addresses"),
        "addresses to accept connections on";
    tls: Option<TlsConfig> = None by tls shown Says("none"), Other("table"),
        "addresses on which clients speak TLS, with the keys of `[serve.tls]`";
    trusted_proxies: Proxies = (Proxies::default()) by trusted_proxies shown Is("[]"), Other("list of addresses"),
        "addresses or networks of reverse proxies: a connection from there begins with a line of the PROXY protocol";
}

settings! {
    /// What sets an event before the others.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HallEvent in "`[[event]]`", "Of `hall.toml`. A time is one of each day (`\"22:00\"`) or of one day \
        (`\"2026-11-24 22:00\"`), in UTC, or by an offset behind it (`\"22:00 +09:00\"`)."
    with {
        /// When games begin.
        window: Window = Window::default();
    };

    file: String = (String::new()) shown Needed, Text, "name of the event's file, in the directory";
    note: String = (String::new()) shown Is("\"\""), Text, "what is to be known of the event, for the list on the pages";
    held: bool = false, Flag, "whether no game of the event begins, until it is begun on the desk";
    priority: i64 = 0, Integer(-1000, 1000), "a game of a higher one begins before any of a lower one";
    from shown Says("at once"), Text, "when games begin; those of a day have an end, too, which may be on the next day";
    until shown Says("the event's end"), Text, "when no more games begin; those that are played are finished";
}

/// When games of an event begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// Always.
    #[default]
    Always,
    /// From a time in ms since 1970-01-01 UTC to another one.
    Once(i64, i64),
    /// From a time of each day, in ms since midnight UTC, to the next one of another time.
    Daily(i64, i64),
}

impl Window {
    /// True if games begin now, in ms since 1970-01-01 UTC.
    pub fn is_open(self, now: i64) -> bool {
        let today = now.rem_euclid(DAY);
        match self {
            Self::Always => true,
            Self::Once(from, until) => (from..until).contains(&now),
            Self::Daily(from, until) if from <= until => (from..until).contains(&today),
            Self::Daily(from, until) => today >= from || today < until,
        }
    }
}

impl HallConfig {
    /// Reads the file in a directory; without one, the defaults. `oversubscribe` allows more cores than the machine has,
    /// as the key of the file does.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn load(directory: &Path, oversubscribe: bool) -> Result<Self, Faults> {
        let path = directory.join(FILE);
        if !path.exists() {
            return Ok(Self { oversubscribe, ..Self::default() });
        }
        reader::read_file(&path, |text, environment| {
            Self::parse(text, Some(&path), environment, oversubscribe)
        })
    }

    /// Reads and checks the text of the file.
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(
        text: &str,
        file: Option<&Path>,
        environment: &Environment,
        oversubscribe: bool,
    ) -> Result<Self, Faults> {
        reader::read(text, file, environment, &[&Self::SECTION], |root| {
            let mut config = Self::read(root);
            config.oversubscribe |= oversubscribe;
            if config.concurrency.is_some_and(|cores| cores > environment.cores) && !config.oversubscribe {
                root.fault("concurrency", too_many(environment.cores));
            }
            config
        })
    }

    /// What is said of the event of a file.
    pub fn of(&self, file: &str) -> HallEvent {
        self.event.iter().find(|event| event.file == file).cloned().unwrap_or_default()
    }
}

/// Why so many cores are refused.
pub fn too_many(cores: usize) -> String {
    format!("{cores} cores can be used here; more than that only with `oversubscribe`")
}

/// True if a licence is for an engine: by its name, its program, or the path of that.
pub fn is_licence_of(licence: &str, name: &str, command: &str) -> bool {
    [name, command, program_name(command)].iter().any(|of| pattern::names(licence, of))
}

fn events(root: &Table<'_>) -> Option<Vec<HallEvent>> {
    let items = root.item("event")?.elements("tables, each under `[[event]]`");
    let mut events: Vec<HallEvent> = vec![];
    for table in items.iter().filter_map(|item| item.table(&HallEvent::SECTION)) {
        table.require("file", "name the file of the event, such as `file = \"cup.toml\"`");
        let window = window(&table);
        let event = HallEvent { window: window.unwrap_or_default(), ..HallEvent::read(&table) };
        if events.iter().any(|known| known.file == event.file) {
            table.fault("file", format!("`{}` is named twice; leave one of them out", event.file));
        }
        events.push(event);
    }
    Some(events)
}

fn licences(root: &Table<'_>) -> Option<Vec<(String, usize)>> {
    let entries = root.item("licences")?.free_entries();
    let number =
        |item: &Item<'_>| item.integer(1, 10_000, "").and_then(|number| usize::try_from(number).ok());
    Some(entries.into_iter().filter_map(|(name, item)| Some((name, number(&item)?))).collect())
}

fn serve(root: &Table<'_>) -> Option<Option<HallPort>> {
    let table = root.table("serve", &HallPort::SECTION);
    if !table.is_given() {
        return Some(None);
    }
    let port = HallPort::read(&table);
    table.refuse_unknown();
    Some(Some(port))
}

fn http(root: &Table<'_>) -> Option<HttpConfig> {
    let table = root.table("http", &HttpConfig::SECTION);
    for key in ["delay", "private"] {
        if table.has(key) {
            table.fault(key, "is a matter of each event: say it in the `[http]` of its file");
        }
    }
    Some(HttpConfig::of(root))
}

/// A time of a file: in ms since 1970-01-01 UTC, or since midnight UTC.
#[derive(Clone, Copy)]
pub(crate) enum Moment {
    At(i64),
    OfDay(i64),
}

fn window(table: &Table<'_>) -> Option<Window> {
    let [from, until] = ["from", "until"].map(|key| {
        let text = table.text(key)?;
        let moment = moment(&text);
        if moment.is_none() {
            let form = "is no time; write it as in \"22:00\", \"22:00 +09:00\" or \"2026-11-24 22:00\"";
            table.fault(key, format!("`{text}` {form}"));
        }
        moment
    });
    match (from, until) {
        (None, None) => None,
        (Some(Moment::OfDay(from)), Some(Moment::OfDay(until))) if from != until => {
            Some(Window::Daily(from, until))
        }
        (Some(Moment::At(from)), Some(Moment::At(until))) if from >= until => {
            table.fault("until", "must be after `from`");
            None
        }
        (Some(Moment::At(from)), Some(Moment::At(until))) => Some(Window::Once(from, until)),
        (Some(Moment::At(from)), None) if !table.has("until") => Some(Window::Once(from, i64::MAX)),
        (None, Some(Moment::At(until))) if !table.has("from") => Some(Window::Once(i64::MIN, until)),
        _ => {
            table.fault(
                "from",
                "a time of day needs another one: say both `from` and `until`, as times of day or with dates",
            );
            None
        }
    }
}

/// Reads `22:00`, with a date before and an offset from UTC behind where they are given.
pub(crate) fn moment(text: &str) -> Option<Moment> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let offset = match words.last().and_then(|word| word.strip_prefix(['+', '-']).map(|time| (word, time))) {
        Some((word, time)) => {
            let sign = if word.starts_with('-') { -1 } else { 1 };
            words.pop();
            sign * of_day(time)?
        }
        None => 0,
    };
    match words[..] {
        [time] => Some(Moment::OfDay((of_day(time)? - offset).rem_euclid(DAY))),
        [day, time] => {
            let is_day = day.len() == 10 && day.split('-').count() == 3;
            let day = date::parse(day).filter(|_| is_day)?;
            Some(Moment::At(day + of_day(time)? - offset))
        }
        _ => None,
    }
}

/// The ms since midnight of `22:00`.
fn of_day(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |text: &str, most: i64| match text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit()) {
        true => text.parse::<i64>().ok().filter(|number| *number <= most),
        false => None,
    };
    Some(number(hours, 23)? * HOUR + number(minutes, 59)? * MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<HallConfig, Faults> {
        let environment = Environment { base: "/".into(), search: vec![], cores: 4 };
        HallConfig::parse(text, Some(Path::new("hall.toml")), &environment, false)
    }

    #[test]
    fn the_command_line_allows_more_cores_than_there_are_as_the_file_does() {
        let environment = Environment { base: "/".into(), search: vec![], cores: 4 };
        let read = |by_command| HallConfig::parse("concurrency = 5", None, &environment, by_command);
        assert!(read(false).is_err());
        assert!(read(true).is_ok_and(|config| config.oversubscribe && config.concurrency == Some(5)));
    }

    #[test]
    fn a_hall_is_read_and_every_fault_is_told() {
        let config = read(
            "concurrency = 3\n[[event]]\nfile = \"cup.toml\"\npriority = 7\nfrom = \"22:00 +09:00\"\nuntil = \"08:30 +09:00\"\n\
             [licences]\nstrong = 2\n\"other-*\" = 1\n[http]\nlisten = [\"127.0.0.1:0\"]\n",
        )
        .unwrap();
        assert_eq!(config.concurrency, Some(3));
        assert_eq!(config.of("cup.toml").priority, 7);
        assert_eq!(config.of("cup.toml").window, Window::Daily(13 * HOUR, 23 * HOUR + 30 * MINUTE));
        assert_eq!(config.of("another.toml"), HallEvent::default());
        assert_eq!(config.licences, [("strong".to_owned(), 2), ("other-*".to_owned(), 1)]);
        assert!(config.http.is_wanted());
        let faults = read(
            "concurrency = 5\nconcurency = 1\n[[event]]\npriority = 9999\nfrom = \"noon\"\n[licences]\nx = 0\n[http]\ndelay = \"5s\"\n",
        )
        .unwrap_err()
        .to_string();
        for word in [
            "4 cores",
            "did you mean `concurrency`",
            "file: is missing",
            "9999",
            "`noon` is no time",
            "licences.x",
            "each event",
        ] {
            assert!(faults.contains(word), "{word}: {faults}");
        }
        for wrong in
            ["from = \"22:00\"", "from = \"22:00\"\nuntil = \"2026-11-24 08:00\"", "until = \"25:00\""]
        {
            assert!(read(&format!("[[event]]\nfile = \"a.toml\"\n{wrong}\n")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_window_opens_and_closes() {
        let night = Window::Daily(22 * HOUR, 8 * HOUR);
        assert!(night.is_open(23 * HOUR) && night.is_open(DAY + 7 * HOUR) && !night.is_open(DAY + 8 * HOUR));
        let day = Window::Daily(8 * HOUR, 22 * HOUR);
        assert!(!day.is_open(23 * HOUR) && day.is_open(3 * DAY + 8 * HOUR));
        let of = |text: &str| {
            read(&format!("[[event]]\nfile = \"a.toml\"\n{text}\n")).unwrap().of("a.toml").window
        };
        let once = of("from = \"1970-01-02 01:00 +01:00\"\nuntil = \"1970-01-03 00:00\"");
        assert_eq!(once, Window::Once(DAY, 2 * DAY));
        assert!(!once.is_open(DAY - 1) && once.is_open(DAY) && !once.is_open(2 * DAY));
        assert!(of("until = \"1970-01-03 00:00\"").is_open(0));
    }

    #[test]
    fn a_licence_is_for_a_name_a_program_or_a_path() {
        assert!(is_licence_of("strong", "strong", "/opt/x"));
        assert!(is_licence_of("engine-?", "a", "/opt/engine-2"));
        assert!(is_licence_of("/opt/*", "a", "/opt/engine-2"));
        assert!(!is_licence_of("engine", "a", "/opt/engine-2"));
    }
}
