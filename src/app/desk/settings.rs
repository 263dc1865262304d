//! Settings: the choices of the pages, and where everything is. Nothing is stored but the cookies of every page.

use crate::Desk;
use axum::{extract::State, http::HeaderMap};
use maud::html;
use web::{
    components::prose,
    layout::{Page, preferences},
    visitor::Visitor,
};

/// The page.
pub(crate) async fn page(State(desk): State<Desk>, visitor: Visitor, headers: HeaderMap) -> Page {
    let words = visitor.language;
    let directory = desk.0.place.directory();
    let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let content = html! {
        h1 { (words.settings_of_desk()) }
        h2 { (words.language_and_colours()) }
        p { (preferences("", &visitor)) }
        p { (words.pieces_are_changed_below()) }
        h2 { (words.folder()) }
        p { code { (directory.display()) } }
        p { (prose(words.files_are_the_truth())) }
        h2 { (words.address_of_desk()) }
        p { code { (visitor.site_address(&headers)) } }
        p { (prose(words.for_this_machine_alone())) }
        p { a href="/machine" { (words.this_machine()) } }
        (crate::home::end(words))
    };
    Page::new(words.settings_of_desk(), "/settings", content)
}
