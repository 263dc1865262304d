//! The desk: a hall with forms, for one person at this machine, in the browser.
//!
//! The files of a directory stay the truth. A form writes the TOML that a person would write (`compose` an event,
//! `library` an engine), what somebody edits by hand shows in the form, and `renmei run` plays the same file. The desk
//! has no second store and no second way to play: it gives [`Order`]s to the hall, and whoever comes through its gate is
//! the arbiter of every event.
//!
//! What a stranger could ask of it is refused by [`web::Gate`]; what is left to these pages is that they write only in the
//! directory, by names that `place` checks.

mod browse;
mod change;
mod check;
mod clock;
mod compare;
mod compose;
mod create;
mod edit;
mod engine;
mod engines;
mod events;
mod fields;
mod forecast;
mod form;
mod game;
mod guests;
mod home;
mod hosted;
mod jobs;
mod library;
mod options;
pub mod person;
mod place;
mod play;
mod publish;
mod searches;
mod seat;
mod settings;
mod start;
mod studied;
mod study;
mod thought;
mod wish;

pub use start::{Options, run};

use axum::{
    Router,
    extract::{DefaultBodyLimit, State},
    response::{IntoResponse, Response},
    routing::{self, MethodFilter, MethodRouter},
};
use event::hall::{Events, Order};
use fields::Fields;
use maud::{Markup, html};
use parking_lot::Mutex;
use place::Place;
use std::{
    collections::VecDeque,
    sync::{Arc, mpsc::Sender},
};
use web::{
    List, Made,
    components::{Icon, prose},
    layout::Way,
    refusals::Refusal,
    visitor::Visitor,
};
use words::{Language, Message};

/// Entries of the navigation.
const ENTRIES: [Way; 6] = [
    ("/", Language::home, Icon::Home),
    ("/engines", Language::engines, Icon::Engines),
    (web::EVENTS_PAGE, Language::all_events, Icon::Events),
    ("/study", Language::study, Icon::Study),
    ("/jobs", Language::jobs, Icon::Jobs),
    ("/settings", Language::settings_of_desk, Icon::Settings),
];

/// Most pages that are still to show what was done.
const KEPT: usize = 100;

/// What the pages of a desk share. A clone is cheap.
#[derive(Clone)]
pub(crate) struct Desk(Arc<Shared>);

pub(crate) struct Shared {
    place: Place,
    list: List,
    orders: Sender<Order>,
    running: Events,
    handshakes: engine::Handshakes,
    jobs: jobs::Jobs,
    ratings: Made<engines::Ratings>,
    done: Once<Message>,
    issued: Once<guests::Issued>,
    submits: create::Submits,
}

/// What pages show once, each to the tab that was led there: the newest, by the token of its address.
pub(crate) struct Once<T>(Mutex<VecDeque<(String, T)>>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Once<T> {
    /// Leads to a page that shows this.
    fn lead(&self, path: &str, shown: T) -> Response {
        let (token, sign) = (web::accounts::random(), if path.contains('?') { '&' } else { '?' });
        let address = format!("{path}{sign}once={token}");
        let mut kept = self.0.lock();
        kept.push_back((token, shown));
        // A page that nobody opens keeps nothing for ever.
        while kept.len() > KEPT {
            kept.pop_front();
        }
        lead(&address)
    }

    /// What the page of this address shows, the first time.
    fn take(&self, query: &Fields) -> Option<T> {
        let (mut kept, token) = (self.0.lock(), query.text("once"));
        let at = kept.iter().position(|(known, _)| known == token)?;
        kept.remove(at).map(|(_, shown)| shown)
    }
}

impl Desk {
    pub(crate) fn new(place: Place, list: List, orders: Sender<Order>, running: Events) -> Self {
        let (handshakes, done, issued, submits) = Default::default();
        let jobs = jobs::Jobs::of(place.directory());
        let ratings = engines::ratings(place.directory().to_owned());
        Self(Arc::new(Shared {
            place,
            list,
            orders,
            running,
            handshakes,
            jobs,
            ratings,
            done,
            issued,
            submits,
        }))
    }

    /// The pages.
    pub(crate) fn routes(self) -> Router {
        Router::new()
            .route("/", routing::get(home::page))
            .route("/machine", get(check::machine))
            .route("/quit", post(home::quit))
            .route("/settings", routing::get(settings::page))
            .route("/engines", routing::get(engines::page))
            .route("/engines/browse", get(browse::page))
            .route("/engines/add", post(engines::add))
            .route("/engines/order", post(engines::order))
            .route("/engines/compare", get(compare::page))
            .route("/engine", get(engine::page).merge(post(engine::save)))
            .route("/engine/check", post(check::begin))
            .route("/new", get(create::kinds))
            .route("/new/event", get(create::blank).merge(post(create::show)))
            .route("/new/summary", post(create::sum))
            .route("/new/first", post(create::first))
            .route("/new/text", post(create::keep))
            .route("/guests", get(guests::page).merge(post(guests::order)))
            .route("/seat", get(seat::page))
            .route("/events/order", routing::post(events::order))
            .route("/events/publish", get(publish::page))
            .route("/events/public", post(publish::publish))
            .route("/events/records", get(publish::records))
            .route("/events/explain", get(searches::form).merge(post(searches::explain)))
            .route("/events/change", get(change::page).merge(post(change::change)))
            .route("/events/text", get(change::copy).merge(post(change::save)))
            .route(
                "/study",
                get(study::page)
                    .merge(routing::post(study::take_in))
                    .layer(DefaultBodyLimit::max(study::BODY)),
            )
            .route("/study/open", get(study::open))
            .route("/study/import", post(study::import))
            .route("/study/file", get(study::file))
            .route("/study/find", post(study::find))
            .route("/study/edit", get(edit::page))
            .route(web::STUDY_PAGE, get(game::page))
            .route("/study/legal", get(game::legal))
            .route("/study/text", get(game::text))
            .route("/study/keep", post(game::keep))
            .route("/study/think", post(thought::begin))
            .route("/study/thoughts", get(jobs::look))
            .route("/study/play", post(game::play))
            .route("/study/analyze", post(searches::analyze))
            .route("/play", get(play::page).merge(post(play::begin)))
            .route("/play/now", get(play::now))
            .route("/play/move", post(play::play))
            .route("/jobs", get(jobs::list))
            .route("/job", get(jobs::page))
            .route("/job/stop", post(jobs::stop))
            .with_state(self)
    }

    /// Gives an order to the hall.
    fn order(&self, order: Order) -> Result<(), Refusal> {
        self.0.orders.send(order).map_err(|_| Refusal::conflict(Language::desk_ends))
    }

    /// Leads to a page that says what was done.
    fn confirm(&self, path: &str, done: Message) -> Response {
        self.0.done.lead(path, done)
    }

    fn confirmation(&self, query: &Fields) -> Option<Message> {
        self.0.done.take(query)
    }
}

/// What is asked of the desk.
pub(crate) struct Asked {
    desk: Desk,
    words: Language,
    fields: Fields,
    /// What the page that was asked before has done.
    done: Option<Message>,
}

/// Answers requests on a thread that may wait.
fn answered<T: IntoResponse + Send + 'static>(
    method: MethodFilter,
    answer: fn(Asked) -> Result<T, Refusal>,
) -> MethodRouter<Desk> {
    routing::on(method, async move |State(desk): State<Desk>, visitor: Visitor, fields: Fields| {
        let (words, done) = (visitor.language, desk.confirmation(&fields));
        waiting(move || answer(Asked { desk, words, fields, done })).await?
    })
}

fn get<T: IntoResponse + Send + 'static>(page: fn(Asked) -> Result<T, Refusal>) -> MethodRouter<Desk> {
    answered(MethodFilter::GET, page)
}

fn post<T: IntoResponse + Send + 'static>(order: fn(Asked) -> Result<T, Refusal>) -> MethodRouter<Desk> {
    answered(MethodFilter::POST, order)
}

/// Leads to a page, so that a reload repeats nothing.
fn lead(path: &str) -> Response {
    axum::response::Redirect::to(path).into_response()
}

/// A refusal with the words of a fault.
fn refused(fault: impl std::fmt::Display) -> Refusal {
    let words = fault.to_string();
    Refusal::bad(move |language| language.fault(&words))
}

/// What was done by the order before.
fn confirmed(words: Language, done: Option<&Message>) -> Markup {
    html! { @if let Some(done) = done { p.done role="status" { (prose(done.text(words))) } } }
}

/// Works on a thread that may wait.
async fn waiting<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    Ok(tokio::task::spawn_blocking(work).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header::LOCATION;

    #[test]
    fn each_tab_reads_its_own_confirmation_and_a_reload_none() {
        let kept = Once::default();
        let query = |response: Response| {
            let address = response.headers()[LOCATION].to_str().unwrap().to_owned();
            Fields::of(&[("once", address.split_once("once=").unwrap().1)])
        };
        let tabs = [kept.lead("/", "begun"), kept.lead("/guests?event=cup", "removed")];
        assert!(tabs[1].headers()[LOCATION].to_str().unwrap().starts_with("/guests?event=cup&once="));
        let [first, second] = tabs.map(query);
        assert_eq!(kept.take(&Fields::default()), None, "a tab that nothing was done in");
        assert_eq!((kept.take(&second), kept.take(&first)), (Some("removed"), Some("begun")));
        assert_eq!(kept.take(&first), None);
        let oldest = query(kept.lead("/", "0"));
        (0..KEPT).for_each(|_| drop(kept.lead("/", "later")));
        assert_eq!(kept.take(&oldest), None);
    }
}
