//! The way in: what a player's program is given to log in.

use crate::{accounts::Registers, visitor::Visitor};
use axum::http::{HeaderMap, header};
use maud::{Markup, html};
use std::net::SocketAddr;

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
    /// Whether players name their game, and may come as they like.
    #[must_use]
    pub fn is_league(&self) -> bool {
        matches!(self.games, Games::League(_))
    }

    /// What a program needs to log in, and examples of the settings of clients.
    pub(super) fn shown(&self, visitor: &Visitor, headers: &HeaderMap, registers: Registers) -> Markup {
        let say = |en, ja| visitor.say(en, ja);
        let secret = match registers {
            Registers::Accounts => say("PASSWORD", "パスワード"),
            _ => say("SECRET", "秘密の文字列"),
        };
        let (Games::League(games) | Games::Event(games)) = &self.games;
        let password = format!("{},{secret}", games.first().map_or(EXAMPLE, String::as_str));
        let at = self.plain.first().or(self.encrypted.first());
        let (host, port) = at.map_or_else(Default::default, |at| (host(at, headers), at.port().to_string()));
        html! {
            h2 { (say("Settings of your program", "対局プログラムの設定")) }
            (self.facts(visitor, headers))
            h3 { "ShogiHome" }
            p { (say("Menu: game over the network (CSA protocol).", "メニュー：通信対局（CSA プロトコル）")) }
            (table(&[
                (say("Version", "バージョン"), say("CSA protocol 1.2.1, with or without comments", "CSAプロトコル1.2.1（読み筋コメントの有無は自由）")),
                (say("Host", "接続先ホスト"), &host),
                (say("Port", "ポート番号"), &port),
                ("ID", say("your login name", "ログイン名")),
                (say("Password", "パスワード"), &password),
            ]))
            h3 { (say("Other clients", "その他のクライアント")) }
            pre { code { "host=" (host) "\nport=" (port) "\nuser=" (say("NAME", "ログイン名")) "\npass=" (password) } }
            p { (say("The first line that they send:", "最初に送る行：")) " " code { "LOGIN " (say("NAME", "ログイン名")) " " (password) } }
        }
    }

    fn facts(&self, visitor: &Visitor, headers: &HeaderMap) -> Markup {
        let say = |en, ja| visitor.say(en, ja);
        let line = |at: &SocketAddr| html! { code { (host(at, headers)) } " " (say("port", "ポート")) " " code { (at.port()) } };
        html! {
            ul {
                @for at in &self.plain { li { (line(at)) } }
                @for at in &self.encrypted { li { (line(at)) " " (say("(TLS)", "（TLS）")) } }
                @match &self.games {
                    Games::Event(games) => {
                        li { (say(
                            "The event pairs its entrants: log in and wait for your games. Every login takes the same secret.",
                            "対局は大会側が組みます。ログインして待ってください。秘密の文字列は毎回同じものを使います。")) }
                        @for game in games { li { (say("Name of the games:", "対局名：")) " " code { (game) } } }
                    }
                    Games::League(rounds) => {
                        li { (say(
                            "The password begins with the name of the games: NAME-SECONDS-BYOYOMI, or NAME-SECONDS-INCREMENTF. Players who ask for the same name meet. Then a comma and your secret follow.",
                            "パスワードの先頭は対局名です：名前-持ち時間(秒)-秒読み、または 名前-持ち時間(秒)-加算F。同じ対局名の2人が対局します。続けてコンマと秘密の文字列を書きます。")) }
                        @for game in rounds { li { (say("Timed rounds:", "定刻の対局：")) " " code { (game) } } }
                    }
                }
            }
        }
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
    match at.ip().is_unspecified() && is_name {
        true => name.to_owned(),
        false => at.ip().to_string(),
    }
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
