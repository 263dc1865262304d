//! Records of games, and the list of them that programs read.

use super::no_json;
use crate::{Site, desk::NoAnswer, visitor::Visitor};
use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use notation::record::Format;
use referee::entry::GameId;

/// Games of the list, newest first.
const LISTED: u64 = 1000;

/// The record of a game. Other sites may read it.
pub async fn record(site: &Site, number: &str, ending: &str) -> Response {
    let (format, kind) = match ending {
        "csa" => (Format::Csa, "text/plain; charset=utf-8"),
        // As `renmei export` writes these endings.
        "kif" => (Format::Kif, "text/plain; charset=Shift_JIS"),
        "kifu" => (Format::Kifu, "text/plain; charset=utf-8"),
        "jkf" => (Format::Jkf, "application/json"),
        _ => return no_json(&NoAnswer::Missing("records are .csa, .kif, .kifu or .jkf".to_owned())),
    };
    let Ok(number) = number.parse::<u32>() else {
        return no_json(&NoAnswer::Missing(
            "a record has the number of a game, such as /games/7.csa".to_owned(),
        ));
    };
    match site.ask(move |desk| desk.record(GameId(number.into()), format)).await {
        Ok(bytes) => {
            let headers = [
                (header::CONTENT_TYPE, kind),
                (header::CACHE_CONTROL, "no-cache"),
                (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
            ];
            (headers, bytes).into_response()
        }
        Err(error) => no_json(&error),
    }
}

/// The list: of each game a line with its title, and a line with the address of its record; running games first. This is
/// the form that the World Computer Shogi Championship serves and ShogiHome reads.
pub async fn list(State(site): State<Site>, visitor: Visitor, headers: HeaderMap) -> Response {
    let here = here(&headers, visitor.peer.is_secure);
    let event = report::plot::plain(site.event());
    let title = |number: u64, names: &[String; 2]| format!("{event} #{number} ▲{} - △{}", names[0], names[1]);
    let running = site.now(|live| {
        live.games.values().map(|game| (game.id.0, title(game.id.0, &live.players(game)))).collect::<Vec<_>>()
    });
    let over = match site.ask(|desk| desk.listed(LISTED)).await {
        Ok(lines) => lines,
        Err(NoAnswer::NotYet) => vec![],
        Err(error) => return no_json(&error),
    };
    let over = over.iter().map(|line| (line.number, title(line.number, &line.names)));
    let mut text = format!("# {event}\n");
    for (number, title) in running.unwrap_or_default().into_iter().rev().chain(over) {
        text.push_str(&format!("{title}\n{here}/games/{number}.csa\n"));
    }
    let headers =
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
    (headers, text).into_response()
}

/// The address of this site as the request names it, for programs that need whole addresses.
pub(super) fn here(headers: &HeaderMap, is_secure: bool) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let is_host = |b: u8| b.is_ascii_alphanumeric() || b".-:[]_".contains(&b);
    let host = if host.len() <= 255 && host.bytes().all(is_host) { host } else { "localhost" };
    let scheme = headers.get("x-forwarded-proto").and_then(|scheme| scheme.to_str().ok());
    let scheme = if is_secure || scheme == Some("https") { "https" } else { "http" };
    format!("{scheme}://{host}")
}
