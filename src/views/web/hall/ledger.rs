//! The page with one rating over all events of an address.

use super::{Rooms, made::Make};
use crate::{layout::Page, refusals::Refusal, visitor::Visitor};
use axum::extract::State;
use maud::{Markup, html};
use std::{sync::Arc, time::Duration};

/// Least age of a ledger before another one is made.
pub(super) const FRESH: Duration = Duration::from_secs(60);

/// Makes the ledger of the events of an address: its sections, in the languages of [`words::Language::ALL`].
pub type MakeLedger = Make<Sections>;

pub(super) type Sections = [Markup; 2];

/// One rating over all events.
pub(super) async fn page(State(rooms): State<Arc<Rooms>>, visitor: Visitor) -> Result<Page, Refusal> {
    let words = visitor.language;
    let [english, japanese] = rooms.ledger.value().await?;
    let content = html! {
        h1 { (words.ledger()) }
        p { a href="/" { (words.all_events()) } " · " (words.ledger_about()) }
        (words.pick(english, japanese))
    };
    Ok(Page::new(words.ledger(), "/ledger", content))
}
