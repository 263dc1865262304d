//! The way in: what a player's program is given to log in.

use crate::accounts::Registers;
use axum::http::{HeaderMap, header};
use maud::{Markup, html};
use std::net::SocketAddr;
use words::Language;

/// Name of the games in examples, where players choose it themselves.
const EXAMPLE: &str = "test-600-10";

/// Where players log in, and for which games.
#[derive(Clone, Debug)]
pub struct Entrance {
    /// Addresses of the CSA protocol.
    pub plain: Vec<SocketAddr>,
    /// Addresses of the CSA protocol over TLS.
    pub encrypted: Vec<SocketAddr>,
    /// The games.
    pub games: Games,
}

/// How a player comes to a game.
#[derive(Clone, Debug)]
pub enum Games {
    /// An open league: players name their game as they log in. The names of games with rounds.
    League(Vec<String>),
    /// The event pairs its entrants. The names of its games.
    Event(Vec<String>),
}

impl Entrance {
    /// True if players name their game, and may come as they like.
    pub fn is_league(&self) -> bool {
        matches!(self.games, Games::League(_))
    }

    /// What a program needs to log in, and examples of the settings of clients.
    pub(super) fn shown(&self, words: Language, headers: &HeaderMap, registers: Registers) -> Markup {
        let secret = match registers {
            Registers::Accounts => words.word_password(),
            _ => words.word_secret(),
        };
        let (Games::League(games) | Games::Event(games)) = &self.games;
        let password = format!("{},{secret}", games.first().map_or(EXAMPLE, String::as_str));
        let at = self.plain.first().or(self.encrypted.first());
        let (host, port) = at.map_or_else(Default::default, |at| (host(at, headers), at.port().to_string()));
        html! {
            h2 { (words.settings()) }
            (self.facts(words, headers))
            (settings(words, (&host, &port), words.word_name(), &password))
        }
    }

    fn facts(&self, words: Language, headers: &HeaderMap) -> Markup {
        let line = |at: &SocketAddr| html! { code { (host(at, headers)) } " " (words.port()) " " code { (at.port()) } };
        html! {
            ul {
                @for at in &self.plain { li { (line(at)) } }
                @for at in &self.encrypted { li { (line(at)) " " (words.over_tls()) } }
                @match &self.games {
                    Games::Event(games) => {
                        li { (words.event_pairs()) }
                        @for game in games { li { (words.name_of_games()) " " code { (game) } } }
                    }
                    Games::League(rounds) => {
                        li { (words.game_names()) }
                        @for game in rounds { li { (words.timed_rounds()) " " code { (game) } } }
                    }
                }
            }
        }
    }
}

/// What a player enters into a program to log in, for clients that are often used.
pub fn settings(words: Language, (host, port): (&str, &str), name: &str, password: &str) -> Markup {
    html! {
        h3 { "ShogiHome" }
        p { (words.shogihome_menu()) }
        (table(&[
            (words.version(), words.csa_version()),
            (words.host(), host),
            (words.port_field(), port),
            ("ID", name),
            (words.password(), password),
        ]))
        h3 { "usi-csa-bridge" }
        pre data-copy=(words.copy_text()) { code { "server:\n  protocolVersion: v121\n  host: " (host) "\n  port: " (port) "\n  id: " (name) "\n  password: " (format!("{password:?}")) } }
        h3 { (words.other_clients()) }
        pre data-copy=(words.copy_text()) { code { "host=" (host) "\nport=" (port) "\nuser=" (name) "\npass=" (password) } }
        p { (words.first_line()) " " code data-copy=(words.copy_text()) { "LOGIN " (name) " " (password) } }
    }
}

/// Two columns: what a field is called, and what goes there.
fn table(rows: &[(&str, &str)]) -> Markup {
    html! {
        table.settings { tbody { @for (field, value) in rows { tr { th scope="row" { (field) } td { code { (value) } } } } } }
    }
}

/// The name of the host: its address, or where it listens on all, the one under which these pages were asked for.
fn host(at: &SocketAddr, headers: &HeaderMap) -> String {
    let asked = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = match asked.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => asked,
    };
    let is_name =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b".-[]:".contains(&b));
    if at.ip().is_unspecified() && is_name { name.to_owned() } else { at.ip().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_listens_everywhere_has_the_name_of_its_pages() {
        let named = |host: &str| HeaderMap::from_iter([(header::HOST, host.parse().unwrap())]);
        let everywhere = SocketAddr::from(([0, 0, 0, 0], 4081));
        assert_eq!(host(&everywhere, &named("shogi.example.org:8080")), "shogi.example.org");
        assert_eq!(host(&everywhere, &named("[::1]:8080")), "[::1]");
        assert_eq!(host(&everywhere, &named("<b>")), "0.0.0.0");
        assert_eq!(host(&SocketAddr::from(([192, 0, 2, 7], 4081)), &named("x:1")), "192.0.2.7");
    }
}
