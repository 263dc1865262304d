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
use maud::{Markup, PreEscaped, html};
use report::plot::plain;

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
    let text = text(site.event(), &site.at_address(&visitor, &headers), &games);
    let headers =
        [(header::CONTENT_TYPE, "application/atom+xml; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];
    Ok((headers, text).into_response())
}

fn text(event: &str, here: &str, games: &[Line]) -> String {
    let (event, here) = (plain(event), plain(here));
    let updated = games.iter().filter_map(|game| game.ended).max().unwrap_or(0);
    let title = |game: &Line| {
        let [black, white] = &game.names;
        plain(&format!("#{} ☗ {black} {} ☖ {white} ({})", game.number, sign(game.result), game.cause))
    };
    let feed = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        feed xmlns="http://www.w3.org/2005/Atom" {
            id { (here) "/feed.xml" }
            title { (event) }
            updated { (rfc3339(updated)) }
            author { name { (event) } }
            (link("self", &format!("{here}/feed.xml")))
            (link("alternate", &format!("{here}/")))
            @for game in games { entry {
                @let address = format!("{here}/games/{}", game.number);
                id { (address) }
                title { (title(game)) }
                updated { (rfc3339(game.ended.unwrap_or(0))) }
                (link("alternate", &address))
            } }
        }
    };
    feed.into_string()
}

/// A link; in XML, unlike in HTML, its element has to be closed.
fn link(rel: &str, href: &str) -> Markup {
    html! { (PreEscaped("<link rel=\"")) (rel) (PreEscaped("\" href=\"")) (href) (PreEscaped("\"/>")) }
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
