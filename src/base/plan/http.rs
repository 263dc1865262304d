//! `[http]`: an event in the browser.

use crate::serve::{Proxies, TlsConfig, addresses, trusted_proxies};
use crate::{
    keys::{
        Fallback::{Is, Says},
        HTTP_TLS,
        Kind::{Integer, Other},
    },
    pattern,
    reader::Table,
    settings::settings,
    time_text::{self, TimeTextError},
};
use std::{net::SocketAddr, time::Duration};

settings! {
    /// Who may watch an event in a browser, and what they see. It is not stored with the plan.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HttpConfig in "`[http]`", "The event in the browser, see the guide to watching. Also in a file of `renmei \
        floodgate`.";

    listen: Vec<SocketAddr> = (vec![]) by listen shown Is("[]"), Other("list of addresses"),
        "addresses of the pages, such as `\"127.0.0.1:8080\"`; `\"0.0.0.0:8080\"`: every interface; none: no pages";
    delay: Delay = (Delay::None) by delay shown Is("\"0\""), Other("text"),
        "how far the pages are behind the games: `\"5 moves\"` of each running game, or a time such as `\"30s\"`, which \
         also keeps ends of games back";
    viewers: usize = 1000, Integer(1, 100_000), "connections of browsers at once";
    viewers_per_address: usize = 50, Integer(1, 100_000), "connections of one address at once";
    trusted_proxies: Proxies = (Proxies::default()) by trusted_proxies shown Is("[]"), Other("list of addresses"),
        "addresses or networks of reverse proxies, which are believed when they say where a viewer comes from \
         (`X-Forwarded-For`) and whether by TLS (`X-Forwarded-Proto`)";
    private: Vec<String> = (vec![]) by private shown Is("[]"), Other("texts"),
        "players and Game_IDs whose games no page and no list shows, on the network neither; `*` and `?` stand for any \
         letters, and for one";
    tls: Option<TlsConfig> = None by tls shown Says("none"), Other("table"),
        "addresses of the pages over HTTPS, see `[http.tls]`";
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

/// Why a text is no delay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DelayFault {
    /// No number of moves, or too large a one.
    #[error("`{0}` is no number of moves up to {most}", most = LONGEST.0)]
    Moves(String),
    /// No duration.
    #[error(transparent)]
    Time(#[from] TimeTextError),
    /// Too long a one.
    #[error("`{0}` is longer than a day")]
    Long(String),
}

/// Most moves and longest time of a delay.
const LONGEST: (usize, Duration) = (1000, Duration::from_secs(86_400));

impl Delay {
    /// The latest time of what viewers may know, in ms since 1970-01-01 UTC; without a delay by time that of everything.
    pub fn horizon(self, now: i64) -> i64 {
        match self {
            Self::Time(delay) => now.saturating_sub(i64::try_from(delay.as_millis()).unwrap_or(i64::MAX)),
            Self::None | Self::Moves(_) => i64::MAX,
        }
    }

    /// Reads `0`, `5 moves`, `30s`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, DelayFault> {
        let moves = text.strip_suffix("moves").or_else(|| text.strip_suffix("move")).map(str::trim);
        match moves {
            Some(number) => match number.parse() {
                Ok(0) => Ok(Self::None),
                Ok(moves @ 1..) if moves <= LONGEST.0 => Ok(Self::Moves(moves)),
                _ => Err(DelayFault::Moves(text.to_owned())),
            },
            None => match time_text::duration(text)? {
                Duration::ZERO => Ok(Self::None),
                time if time <= LONGEST.1 => Ok(Self::Time(time)),
                _ => Err(DelayFault::Long(text.to_owned())),
            },
        }
    }
}

impl HttpConfig {
    /// True if there are pages.
    pub fn is_wanted(&self) -> bool {
        !self.listen.is_empty() || self.tls.is_some()
    }

    pub(crate) fn of(root: &Table<'_>) -> Self {
        Self::read(&root.table("http", &Self::SECTION))
    }
}

/// True if a name, or its part before the trip, fits one of the patterns.
pub fn is_private(patterns: &[String], name: &str) -> bool {
    let bare = name.split('+').next().unwrap_or(name);
    patterns.iter().any(|pattern| pattern::names(pattern, name) || pattern::names(pattern, bare))
}

fn listen(table: &Table<'_>) -> Option<Vec<SocketAddr>> {
    Some(addresses(&table.item("listen")?, 8080))
}

fn delay(table: &Table<'_>) -> Option<Delay> {
    let item = table.item("delay")?;
    let text = item.text("a text such as \"5 moves\" or \"30s\"")?;
    Delay::parse(text).map_err(|error| item.fault(error)).ok()
}

fn private(table: &Table<'_>) -> Option<Vec<String>> {
    let list = table.item("private")?.elements("a list of texts");
    Some(list.iter().filter_map(|item| item.text("a text").map(str::to_owned)).collect())
}

fn tls(table: &Table<'_>) -> Option<Option<TlsConfig>> {
    Some(TlsConfig::read(&table.table("tls", &HTTP_TLS), 8443))
}
