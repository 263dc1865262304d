//! Records of games, and the list of them that programs read.

use crate::{Site, desk::NoAnswer, refusals::Refusal, visitor::Visitor};
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use notation::record::Format;
use referee::entry::GameId;
use words::{Language, Phrase};

/// Games of the list, newest first.
const LISTED: u64 = 1000;

/// The type of a text in UTF-8.
const UTF8: &str = "text/plain; charset=utf-8";

/// The record of a game. Other sites may read it.
pub async fn record(site: &Site, number: &str, ending: &str) -> Result<Response, Refusal> {
    let missing = |words: Phrase| Refusal::new(StatusCode::NOT_FOUND, words);
    let (format, kind) = match ending {
        "csa" => (Format::Csa, UTF8),
        // As `renmei export` writes these endings.
        "kif" => (Format::Kif, "text/plain; charset=Shift_JIS"),
        "kifu" => (Format::Kifu, UTF8),
        "jkf" => (Format::Jkf, "application/json"),
        _ => return Err(missing(Language::record_formats)),
    };
    let number: u32 = number.parse().map_err(|_| missing(Language::record_address))?;
    let bytes = site.ask(move |desk| desk.record(GameId(number.into()), format)).await?;
    // A record with characters that Shift_JIS lacks is in UTF-8.
    let kind = if format == Format::Kif && str::from_utf8(&bytes).is_ok() { UTF8 } else { kind };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    Ok((headers, bytes).into_response())
}

/// The list: of each game a line with its title, and a line with the address of its record; running games first. This is
/// the form that the World Computer Shogi Championship serves and ShogiHome reads.
pub async fn list(
    State(site): State<Site>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let here = site.at_address(&visitor, &headers);
    let event = report::plot::plain(site.event());
    let title = |number: u64, names: &[String; 2]| format!("{event} #{number} ▲{} - △{}", names[0], names[1]);
    let running = site.now(|live| {
        live.games.values().map(|game| (game.id.0, title(game.id.0, &live.players(game)))).collect::<Vec<_>>()
    });
    let over = match site.ask(|desk| desk.listed(LISTED)).await {
        Ok(lines) => lines,
        Err(NoAnswer::NotYet) => vec![],
        Err(error) => return Err(error.into()),
    };
    let over = over.iter().map(|line| (line.number, title(line.number, &line.names)));
    let mut text = format!("# {event}\n");
    for (number, title) in running.unwrap_or_default().into_iter().rev().chain(over) {
        text.push_str(&format!("{title}\n{here}/games/{number}.csa\n"));
    }
    let headers =
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
    Ok((headers, text).into_response())
}
