//! One game, studied: a new match from one of its positions, the position in other games, an engine's opinion.

use crate::{Asked, Desk, fields::Fields, lead, refused};
use axum::response::Response;
use explain::{
    Line,
    losses::{self, LossFault},
};
use journal::{EventSummary, FullGame, Store};
use maud::{Markup, html};
use notation::record::{self, Format};
use plan::LibraryEngine;
use referee::{entry::GameId, rules::Rules};
use web::{
    layout::{Page, percent},
    refusals::Refusal,
};
use words::Language;

/// A game of an event, at a position.
pub(crate) struct Taken {
    /// The event, as the pages name it.
    pub name: String,
    pub store: Store,
    pub event: EventSummary,
    pub game: FullGame,
    pub line: Line,
    /// Moves before the position.
    pub at: usize,
}

impl Taken {
    /// The argument of USI `position` for its position.
    pub fn position(&self) -> String {
        self.line.position(self.at)
    }

    /// Its page.
    pub fn address(&self) -> String {
        let number = self.game.row.game.0;
        format!("{}?event={}&game={number}&ply={}", web::STUDY_PAGE, percent(&self.name), self.at)
    }

    /// Its name in names of files.
    pub fn stem(&self) -> String {
        format!("{}-{}", notation::file_name(&self.name), self.game.row.game.0)
    }

    /// Its moves as people read them.
    pub fn moves(&self) -> Vec<String> {
        let whole = self.line.position(self.line.moves());
        let read = record::read(whole.as_bytes(), Some(Format::Usi)).unwrap_or_default();
        read.first().and_then(|game| record::spelled_moves(game, 0).ok()).unwrap_or_default()
    }
}

impl Desk {
    /// The game that the fields name: `event`, `game`, `ply`.
    pub(crate) fn taken(&self, fields: &Fields) -> Result<Taken, Refusal> {
        rsshogi::board::init();
        let name = fields.text("event").to_owned();
        let (store, event) = self.games_of(&name)?;
        let number: u64 = fields.text("game").parse().map_err(|_| Refusal::bad(Language::game_address))?;
        let game = store.game(event.id, GameId(number)).map_err(refused)?;
        let game = game.ok_or_else(|| Refusal::bad(|words| words.no_game(number)))?;
        let rules: Rules =
            losses::part(&event, "rules").map_err(|fault: LossFault| refused(fault))?.unwrap_or_default();
        let line = Line::of(&game, &rules).map_err(|why| refused(format!("#{number}: {why}")))?;
        let at = fields.text("ply").parse().unwrap_or_else(|_| line.moves()).min(line.moves());
        Ok(Taken { name, store, event, game, line, at })
    }
}

/// The page of a game.
pub(crate) fn page(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    Ok(shown(words, &desk.taken(&fields)?, &desk.library()?))
}

fn shown(words: Language, taken: &Taken, engines: &[LibraryEngine]) -> Page {
    let row = &taken.game.row;
    let title = format!("#{} ☗ {} – ☖ {}", row.game.0, row.black, row.white);
    let moves = taken.moves();
    let content = html! {
        h1 { (title) }
        p { a href=(crate::study::address_of(&taken.name, Some(row.game.0))) { (taken.event.name) } }
        form.order method="post" action="/study/play" {
            input type="hidden" name="event" value=(taken.name);
            input type="hidden" name="game" value=(row.game.0);
            label { span { (words.position_after()) }
                select name="ply" { @for at in 0..=taken.line.moves() {
                    option value=(at) selected[at == taken.at] { (at) " " (at.checked_sub(1).and_then(|at| moves.get(at)).map_or("", String::as_str)) }
                } }
            }
            p.buttons { button formaction="/study/find" { (words.find_position()) } }
            fieldset { legend { (words.play_from_here()) }
                @for at in [0, 1] { (choice(words, "engine", engines, None, at)) }
                p.buttons { button { (words.play_from_here()) } }
            }
            fieldset { legend { (words.analyze_game()) }
                (crate::searches::judge(words, engines))
                p.buttons { button formaction="/study/analyze" { (words.analyze_game()) } }
            }
        }
    };
    Page::new(title, "/study", content)
}

/// A choice of an engine of the library: its place in the list is preset, and `usual` stands before all of them.
pub(crate) fn choice(
    words: Language,
    field: &str,
    engines: &[LibraryEngine],
    usual: Option<&str>,
    at: usize,
) -> Markup {
    let offered = engines.iter().filter(|engine| !engine.inactive && engine.missing.is_none());
    html! { label { span { (words.engine()) } select name=(field) {
        @if let Some(usual) = usual { option value="" { (usual) } }
        @for (place, engine) in offered.enumerate() {
            option value=(engine.plan.name) selected[usual.is_none() && place == at] { (engine.plan.name) }
        }
    } } }
}

/// Leads to the form of a match that begins from a position of a game.
pub(crate) fn play(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let taken = desk.taken(&fields)?;
    let stem = format!("{}-{}", taken.stem(), taken.at);
    let openings = desk.0.place.keep(&stem, "sfen", format!("{}\n", taken.position()).as_bytes())?;
    let engines: String = fields.all("engine").map(|name| format!("&engine={}", percent(name))).collect();
    let (name, openings) = (percent(&stem), percent(&openings));
    Ok(lead(&format!("/new/event?kind=match&name={name}&openings={openings}{engines}")))
}
