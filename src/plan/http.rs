//! `[http]`: an event in the browser.

use crate::serve::{Proxies, TlsConfig};
use crate::{
    keys::{HTTP, HTTP_TLS},
    pattern,
    reader::{Item, Table},
    time_text,
};
use std::{net::SocketAddr, time::Duration};

/// Who may watch an event in a browser, and what they see. It is not stored with the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpConfig {
    /// Addresses to accept connections on; none, and no TLS either: there are no pages.
    pub listen: Vec<SocketAddr>,
    /// How far behind the games the pages are.
    pub delay: Delay,
    /// Connections at once.
    pub viewers: usize,
    /// Connections at once of one address.
    pub viewers_per_address: usize,
    /// Proxies that say where a viewer comes from.
    pub trusted_proxies: Proxies,
    /// Patterns for names of players and Game_IDs whose games nobody is shown.
    pub private: Vec<String>,
    /// Where browsers speak TLS.
    pub tls: Option<TlsConfig>,
}

/// How far behind the games the pages are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delay {
    /// Not at all.
    #[default]
    None,
    /// By so many moves of a game; its end shows all of them.
    Moves(usize),
    /// By so long, ends of games included.
    Time(Duration),
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            listen: vec![],
            delay: Delay::None,
            viewers: 1000,
            viewers_per_address: 50,
            trusted_proxies: Proxies::default(),
            private: vec![],
            tls: None,
        }
    }
}

/// Most moves and longest time of a delay.
const LONGEST: (usize, Duration) = (1000, Duration::from_secs(86_400));

impl Delay {
    /// The latest time of what viewers may know, in ms since 1970-01-01 UTC; without a delay by time that of everything.
    #[must_use]
    pub fn horizon(self, now: i64) -> i64 {
        match self {
            Self::Time(delay) => now.saturating_sub(i64::try_from(delay.as_millis()).unwrap_or(i64::MAX)),
            Self::None | Self::Moves(_) => i64::MAX,
        }
    }

    /// Reads `0`, `5 moves`, `30s`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let moves = text.strip_suffix("moves").or_else(|| text.strip_suffix("move")).map(str::trim);
        match moves {
            Some(number) => match number.parse() {
                Ok(0) => Ok(Self::None),
                Ok(moves @ 1..) if moves <= LONGEST.0 => Ok(Self::Moves(moves)),
                _ => Err(format!("`{text}` is no number of moves up to {}", LONGEST.0)),
            },
            None => match time_text::duration(text).map_err(|error| error.to_string())? {
                Duration::ZERO => Ok(Self::None),
                time if time <= LONGEST.1 => Ok(Self::Time(time)),
                _ => Err(format!("`{text}` is longer than a day")),
            },
        }
    }
}

impl HttpConfig {
    /// Whether there are pages.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        !self.listen.is_empty() || self.tls.is_some()
    }

    /// Whether games of a player of this name, or the game of this Game_ID, are private. A trip behind a name plays no part.
    #[must_use]
    pub fn is_private(&self, name: &str) -> bool {
        is_private(&self.private, name)
    }

    pub(crate) fn read(root: &Table<'_>) -> Self {
        let table = root.table("http", &HTTP);
        let default = Self::default();
        let listen = table
            .item("listen")
            .map(|list| list.elements("a list of addresses such as [\"127.0.0.1:8080\"]"));
        let config = Self {
            listen: listen.iter().flatten().filter_map(address).collect(),
            delay: delay(&table),
            viewers: table.integer("viewers").unwrap_or(default.viewers),
            viewers_per_address: table.integer("viewers_per_address").unwrap_or(default.viewers_per_address),
            trusted_proxies: table
                .item("trusted_proxies")
                .map(|list| Proxies::read(&list))
                .unwrap_or_default(),
            private: texts(&table, "private"),
            tls: TlsConfig::read(&table.table("tls", &HTTP_TLS), 8443),
        };
        table.refuse_unknown();
        config
    }
}

/// Whether a name, or its part before the trip, fits one of the patterns.
#[must_use]
pub fn is_private(patterns: &[String], name: &str) -> bool {
    let bare = name.split('+').next().unwrap_or(name);
    patterns.iter().any(|pattern| pattern::names(pattern, name) || pattern::names(pattern, bare))
}

fn delay(table: &Table<'_>) -> Delay {
    let Some(item) = table.item("delay") else { return Delay::None };
    let text = item.text("a text such as \"5 moves\" or \"30s\"");
    text.and_then(|text| Delay::parse(text).map_err(|error| item.fault(error)).ok()).unwrap_or_default()
}

fn texts(table: &Table<'_>, name: &str) -> Vec<String> {
    let list = table.item(name).map(|list| list.elements("a list of texts")).unwrap_or_default();
    list.iter().filter_map(|item| item.text("a text").map(str::to_owned)).collect()
}

fn address(item: &Item<'_>) -> Option<SocketAddr> {
    let text = item.text("an address such as \"127.0.0.1:8080\"")?;
    let address = text.parse().ok();
    if address.is_none() {
        item.fault(format!(
            "`{text}` is not an address; write a numeric IP address and a port, such as \"127.0.0.1:8080\", or \
             \"0.0.0.0:8080\" for every interface"
        ));
    }
    address
}
