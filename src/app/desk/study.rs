//! The study: databases and records of the directory, what is dropped in, and positions in all of their games.

use crate::{
    Asked, Desk, confirmed,
    jobs::Job,
    lead,
    place::{Place, SHELF, kind_of},
    refused, waiting,
};
use axum::{
    extract::{Multipart, State, multipart::MultipartError},
    response::Response,
};
use event::{find_event, hall::Order};
use journal::{EventSummary, FullGame, GameFilter, Store, StoreError};
use maud::{Markup, html};
use notation::record::{self, Format};
use plan::Event;
use records::Import;
use referee::{opening::Opening, running::play};
use rsshogi::{board::Position, types::Move};
use std::path::{Path, PathBuf};
use web::{
    Hall, STUDY_PAGE,
    layout::{Page, percent},
    refusals::Refusal,
};
use words::{Language, Message};

/// Largest file that is taken in, in MiB.
const MOST: usize = 32;
/// Largest form with a file, in bytes.
pub(crate) const BODY: usize = (MOST << 20) + (64 << 10);
/// Longest position that is searched for, in letters: a game of a thousand moves.
const LETTERS: usize = 8000;
/// Games that a search shows.
const FOUND: usize = 500;

/// A file of the study, as the page lists it: a record, or a database with its events by their names on the pages, or with
/// what is wrong with it.
type Listed = (String, Option<Result<Vec<(String, EventSummary)>, StoreError>>);

/// The page.
pub(crate) fn page(Asked { desk, words, done, .. }: Asked) -> Result<Page, Refusal> {
    let files = listed(&desk.0.place);
    let content = html! {
        h1 { (words.study()) }
        (confirmed(words, done.as_ref()))
        p { (words.study_about()) " " a href="/ledger" { (words.ledger()) } " · " a href=(web::EVENTS_PAGE) { (words.all_events()) } }
        form.order.line method="post" action="/study/find" {
            label { span { (words.position_to_find()) } input name="position" maxlength=(LETTERS) required spellcheck="false"; }
            button { (words.search()) }
        }
        @if files.is_empty() { p { (words.study_is_empty()) } } @else { (table(words, &files)) }
        form.order method="post" action="/study" enctype="multipart/form-data" {
            h2 { (words.take_in_file()) }
            p { (words.what_is_taken_in(MOST)) }
            label { span { (words.file()) } input type="file" name="file" required accept=".db,.csa,.kif,.kifu,.ki2,.jkf,.usi,.sfen"; }
            p.buttons { button.main { (words.take_in()) } }
        }
    };
    Ok(Page::new(words.study(), "/study", content))
}

fn listed(place: &Place) -> Vec<Listed> {
    let file = |key: String| {
        let path = place.directory().join(&key);
        let is_record = path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("db"));
        let named = |event: EventSummary| (shown_name(place, &key, &event.name), event);
        let events = || Store::read(&path).and_then(|store| store.events());
        let events = (!is_record).then(|| events().map(|events| events.into_iter().map(named).collect()));
        (key, events)
    };
    place.shelf().into_iter().map(file).collect()
}

fn table(words: Language, files: &[Listed]) -> Markup {
    html! { div.scroll.sheet tabindex="0" role="region" aria-label=(words.study()) { table.games {
        thead { tr { th.name { (words.file()) } th.name { (words.the_event()) } th { (words.games()) } } }
        tbody { @for (key, events) in files { @match events {
            None => tr {
                td.name { (key) }
                td.name {
                    form method="post" action="/study/import" {
                        input type="hidden" name="file" value=(key);
                        button { (words.read_record()) }
                    }
                }
                td {}
            },
            Some(Err(why)) => tr { td.name { (key) } td.name { div.note { (words.fault(why)) } } td {} },
            Some(Ok(events)) => @for (name, event) in events { tr {
                td.name { (key) }
                td.name { a href=(address_of(name, None)) { (event.name) } }
                td { (event.counted) }
            } },
        } } }
    } } }
}

/// The key of a database and the name of an event in it: `study/cup.db/Friday`.
fn parted(name: &str) -> Option<(&str, &str)> {
    let end = name.to_ascii_lowercase().find(".db/")? + 3;
    Some((&name[..end], &name[end + 1..]))
}

impl Desk {
    /// The database of an event of the pages, and its name there: `NAME` is an event of the directory, `KEY/EVENT` one of
    /// a database of the study.
    pub(crate) fn source(&self, name: &str) -> Result<(PathBuf, String), Refusal> {
        let none = || Refusal::bad(Language::no_such_event);
        let place = &self.0.place;
        if let Some((key, event)) = parted(name) {
            return Ok((
                place.shelved(key).filter(|path| path.is_file()).ok_or_else(none)?,
                event.to_owned(),
            ));
        }
        let event = Event::load(&place.existing(name)?).map_err(refused)?;
        Ok((event.database().to_owned(), event.name().to_owned()))
    }

    /// The database of an event, and what it says of the event.
    pub(crate) fn games_of(&self, name: &str) -> Result<(Store, EventSummary), Refusal> {
        let (database, event) = self.source(name)?;
        let store = Store::read(&database).map_err(refused)?;
        let events = store.events().map_err(refused)?;
        let event = find_event(&events, Some(&event)).map_err(refused)?.clone();
        Ok((store, event))
    }
}

/// Opens the games of a database: they are shown as those of any event.
pub(crate) fn open(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let name = fields.text("name");
    let (database, event) = desk.source(name)?;
    let (_, found) = desk.games_of(name)?;
    if parted(name).is_some() && !desk.has_pages(name) {
        desk.order(Order::Show(name.to_owned(), database, event))?;
        if !desk.comes(|| desk.has_pages(name)) {
            return Err(Refusal::conflict(Language::games_not_opened));
        }
        // Pages that have read nothing yet have no games to show.
        desk.comes(|| found.counted == 0 || desk.listing(name).is_some_and(|one| one.games > 0));
    }
    let game = fields.text("game").parse().map(|game: u64| format!("/{game}")).unwrap_or_default();
    Ok(lead(&format!("{}/games{game}", Hall::base(name))))
}

/// Takes in a file that is dropped in.
pub(crate) async fn take_in(State(desk): State<Desk>, mut form: Multipart) -> Result<Response, Refusal> {
    let faulty = |error: MultipartError| match error.status().as_u16() {
        413 => Refusal::new(error.status(), |words| words.file_is_too_large(MOST)),
        _ => refused(error),
    };
    let field = form.next_field().await.map_err(faulty)?;
    let field = field.ok_or_else(|| Refusal::bad(Language::no_file))?;
    let name = field.file_name().unwrap_or_default().to_owned();
    let bytes = field.bytes().await.map_err(faulty)?;
    if bytes.len() > MOST << 20 {
        return Err(Refusal::bad(|words| words.file_is_too_large(MOST)));
    }
    waiting(move || {
        let key = desk.0.place.take_in(&name, &bytes)?;
        Ok(desk.confirm("/study", Message::of(|words| words.file_was_taken_in(&key))))
    })
    .await?
}

/// Reads a record into a database beside it.
pub(crate) fn import(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let key = fields.text("file").to_owned();
    let name = Path::new(&key).file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let file = desk.0.place.shelved(&key).filter(|file| file.is_file());
    let file = file.filter(|_| kind_of(&name).flatten().is_some());
    let file = file.ok_or_else(|| Refusal::bad(|words| words.not_a_record_file(&key)))?;
    let into = format!("{SHELF}/{name}.db");
    let database = desk.0.place.shelved(&into).ok_or_else(|| Refusal::bad(Language::no_file))?;
    platform::files::create_directory(&desk.0.place.directory().join(SHELF), Default::default())
        .map_err(refused)?;
    let title = Message::of(|words| words.reading_of(&key));
    let import = Import { files: vec![file], db: Some(database), verify: false, event: name, rules: None };
    Ok(lead(&desk.0.jobs.begin((title, into.clone()), "/study", move |job| read_in(job, &import, &into))))
}

fn read_in(job: &Job, import: &Import, key: &str) -> Result<(), String> {
    let report = records::import_while(import, &|| job.is_wanted()).map_err(|error| error.to_string())?;
    let faults = report.faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let to = address_of(&format!("{key}/{}", import.event), None);
    let (read, known) = (report.imported, report.known);
    job.show(move |words| {
        html! {
            p { (words.records_were_read(read, known, report.faults.len())) }
            @if read + known > 0 { p { a href=(to) { (words.games()) } } }
            @if !faults.is_empty() { pre { (words.fault(&faults)) } }
        }
    });
    Ok(())
}

/// Searches all databases for a position: one that is typed, or that of a game.
pub(crate) fn find(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let text = match fields.is("game") {
        true => desk.taken(&fields)?.position(),
        false => fields.text("position").to_owned(),
    };
    let sought = position(&text).ok_or_else(|| Refusal::bad(Language::not_a_position))?;
    let title = Message::of(|words| words.search_of_position(&sought));
    let place = desk.0.place.clone();
    Ok(lead(&desk.0.jobs.begin((title, sought.clone()), "/study", move |job| search(job, &place, &sought))))
}

/// A position without its number as SFEN, from how people give it: SFEN, or moves in USI, from a position or the even one.
fn position(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix("position ").unwrap_or(text);
    if text.chars().count() > LETTERS || text.lines().count() != 1 {
        return None;
    }
    let record = record::read(text.as_bytes(), Some(Format::Usi)).ok()?.into_iter().next()?;
    let moves = record.plies.iter().map(|ply| ply.mv).collect();
    Opening { start: record.start, moves }.goal()
}

/// A game that comes to a position.
struct Hit {
    event: String,
    game: u64,
    players: [String; 2],
    /// Moves before the position.
    at: usize,
}

fn search(job: &Job, place: &Place, sought: &str) -> Result<(), String> {
    rsshogi::board::init();
    let whole = format!("{sought} 1");
    let sought = Position::from_sfen(&whole).map_err(|_| whole.clone())?.key();
    let mut databases = place.shelf();
    databases.retain(|key| kind_of(key.rsplit('/').next().unwrap_or(key)) == Some(None));
    let (mut found, mut left_out, mut games) = (vec![], vec![], 0_u64);
    for (at, key) in databases.iter().enumerate() {
        // `None` ends the search: it was stopped, or has found enough.
        let mut look = |store: &Store, event: &EventSummary| {
            store.full_games::<Option<StoreError>>(event.id, &GameFilter::default(), |game| {
                if !job.is_wanted() || found.len() == FOUND {
                    return Err(None);
                }
                games += 1;
                let Some(at) = reached(&game, |it| it.key() == sought) else { return Ok(()) };
                let (event, players) =
                    (shown_name(place, key, &event.name), [game.row.black, game.row.white]);
                found.push(Hit { event, game: game.row.game.0, players, at });
                Ok(())
            })
        };
        let store = Store::read(place.directory().join(key)).map_err(Some);
        let looked = store.and_then(|store| store.events()?.iter().try_for_each(|event| look(&store, event)));
        match looked {
            Err(None) => break,
            Err(Some(why)) => left_out.push(format!("{key}: {why}")),
            Ok(()) => {}
        }
        job.did(at + 1, databases.len());
    }
    job.show(move |words| hits(words, &found, games, &left_out));
    Ok(())
}

/// What was found in so many games, and what could not be searched.
fn hits(words: Language, found: &[Hit], games: u64, left_out: &[String]) -> Markup {
    html! {
        p { (words.found_in_games(found.len(), games)) }
        ul { @for one in found { li {
            a href=(address_of(&one.event, Some(one.game))) { "#" (one.game) " ☗ " (one.players[0]) " – ☖ " (one.players[1]) }
            " · " (one.event) " · "
            a href={ (STUDY_PAGE) "?event=" (percent(&one.event)) "&game=" (one.game) "&ply=" (one.at) } { (words.after_moves(one.at)) }
        } } }
        @if found.len() == FOUND { p { (words.first_of_folder(FOUND)) } }
        @for why in left_out { p.note { (words.fault(why)) } }
    }
}

/// The name of an event of a database on the pages.
fn shown_name(place: &Place, key: &str, event: &str) -> String {
    let own = key.strip_suffix(".db").filter(|stem| place.file(stem).is_some_and(|file| file.is_file()));
    own.map_or_else(|| format!("{key}/{event}"), str::to_owned)
}

/// The address of the games of an event, or of one of them.
pub(crate) fn address_of(event: &str, game: Option<u64>) -> String {
    match (parted(event), game) {
        (Some(_), None) => format!("/study/open?name={}", percent(event)),
        (Some(_), Some(game)) => format!("/study/open?name={}&game={game}", percent(event)),
        (None, None) => Hall::base(event) + "/games",
        (None, Some(game)) => format!("{}/games/{game}", Hall::base(event)),
    }
}

/// The number of moves after which a game comes to a position.
fn reached(game: &FullGame, is_sought: impl Fn(&Position) -> bool) -> Option<usize> {
    let mut position = Position::from_sfen(game.row.start.as_deref()?).ok()?;
    let opening =
        game.row.opening.as_deref().unwrap_or_default().split_whitespace().map_while(Move::from_usi);
    let mut moves = opening.chain(game.moves.iter().map(|(_, moved)| moved.mv));
    let mut at = 0;
    while !is_sought(&position) {
        if !play(&mut position, moves.next()?) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_the_same_however_it_is_given() {
        let after = position("startpos moves 7g7f 3c3d").unwrap();
        for text in [
            "position startpos moves 7g7f 3c3d",
            "7g7f 3c3d",
            &format!("sfen {after} 3"),
            &format!("{after} 77"),
        ] {
            assert_eq!(position(text).as_deref(), Some(after.as_str()), "{text}");
        }
        for none in ["", "startpos moves 7g7e", "nonsense", "7g7f\n3c3d", &"7g7f ".repeat(2000)] {
            assert_eq!(position(none), None, "{none}");
        }
    }

    #[test]
    fn an_event_of_a_database_is_named_by_its_file() {
        assert_eq!(parted("study/cup.db/Friday / A"), Some(("study/cup.db", "Friday / A")));
        assert_eq!(parted("old.DB/x"), Some(("old.DB", "x")));
        assert_eq!(parted("Friday-cup"), None);
    }
}
