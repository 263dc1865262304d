//! The last results as an Atom feed (RFC 4287), for those who want to hear of them elsewhere.

use crate::{
    Site,
    archive::Search,
    desk::NoAnswer,
    lists::{Line, sign},
    parts::rfc3339,
    refusals::Refusal,
    visitor::Visitor,
};
use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use std::fmt::Write as _;

/// The feed.
pub async fn feed(
    State(site): State<Site>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let games = match site.ask(|desk| desk.search(&Search::default())).await {
        Ok(found) => found.games,
        Err(NoAnswer::NotYet) => vec![],
        Err(error) => return Err(error.into()),
    };
    let text = text(site.event(), &visitor.site_address(&headers), &games);
    let headers =
        [(header::CONTENT_TYPE, "application/atom+xml; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];
    Ok((headers, text).into_response())
}

fn text(event: &str, here: &str, games: &[Line]) -> String {
    let (event, here) = (xml(event), xml(here));
    let updated = rfc3339(games.iter().filter_map(|game| game.ended).max().unwrap_or(0));
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<id>{here}/feed.xml</id>\n\
         <title>{event}</title>\n<updated>{updated}</updated>\n<author><name>{event}</name></author>\n\
         <link rel=\"self\" href=\"{here}/feed.xml\"/>\n<link href=\"{here}/\"/>\n"
    );
    for game in games {
        let [black, white] = game.names.each_ref().map(|name| xml(name));
        let (number, result, cause) = (game.number, sign(game.result), xml(&game.cause));
        let ended = rfc3339(game.ended.unwrap_or(0));
        // Writing to a text never fails.
        let _written = writeln!(
            text,
            "<entry><id>{here}/games/{number}</id><title>#{number} \u{2617} {black} {result} \u{2616} {white} ({cause})</title>\
             <updated>{ended}</updated><link href=\"{here}/games/{number}\"/></entry>"
        );
    }
    text + "</feed>\n"
}

/// A text of a stranger as XML.
fn xml(text: &str) -> String {
    report::plot::plain(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_an_entry_and_a_hostile_name_is_no_markup() {
        let game = Line {
            number: 7,
            players: [0, 1],
            names: ["</title><script>".to_owned(), "b&b".to_owned()],
            started: Some(0),
            ended: Some(86_400_000),
            result: "black",
            cause: "resignation".to_owned(),
            plies: 90,
            counts: true,
        };
        let text = text("cup", "https://shogi.example", &[game]);
        assert!(
            !text.contains("<script")
                && text.contains("&lt;/title&gt;&lt;script&gt;")
                && text.contains("b&amp;b")
        );
        assert!(text.contains("<id>https://shogi.example/games/7</id>"), "{text}");
        assert_eq!(text.matches("<updated>1970-01-02T00:00:00Z</updated>").count(), 2, "{text}");
    }
}
