//! The study: databases and records of the directory, what is dropped in, and positions in all of their games.

use crate::{
    Asked, Desk, confirmed,
    jobs::Job,
    lead,
    place::{Place, SHELF, SQLITE, kind_of},
    refused,
    studied::of_position,
    waiting,
};
use axum::{
    extract::{Multipart, State, multipart::MultipartError},
    response::{IntoResponse, Response},
};
use event::{find_event, hall::Order};
use journal::{EventSummary, FullGame, GameFilter, Store, StoreError};
use maud::{Markup, html};
use notation::record;
use plan::Event;
use platform::files::{self, Access};
use records::Import;
use referee::{opening::Opening, running::play};
use rsshogi::{
    board::Position,
    types::{Color, Move},
};
use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};
use web::{
    Hall, STUDY_PAGE,
    components::prose,
    layout::{Page, percent},
    refusals::Refusal,
};
use words::{Language, Message};

/// Largest file that is taken in, in MiB.
const MOST: usize = 32;
/// Largest form with a file, in bytes.
pub(crate) const BODY: usize = (MOST << 20) + (64 << 10);
/// Longest position that is searched for, in letters: a game of a thousand moves.
pub(crate) const LETTERS: usize = 8000;
/// The event of all records together.
const ALL: &str = "records";
/// Where a database is looked at before it is taken in, below the folder of the study.
const LOOKED_AT: &str = ".looked-at";
/// Games that a search, or a list, shows.
const FOUND: usize = 500;

/// A file of the study, as the page lists it: a record, or a database with its events by their names on the pages, or with
/// what is wrong with it.
type Listed = (String, Option<Result<Vec<(String, EventSummary)>, StoreError>>);

/// The page.
pub(crate) fn page(Asked { desk, words, done, .. }: Asked) -> Result<Page, Refusal> {
    let files = listed(&desk.0.place);
    let content = html! {
        div.top { h1 { (words.study()) } a.button.main href=(STUDY_PAGE) { (words.new_board()) } a.button href="/study/edit" { (words.edit_position()) } }
        (confirmed(words, done.as_ref()))
        form.drop method="post" action="/study" enctype="multipart/form-data" id="drop" {
            label { strong { (words.drop_a_file()) } span.quiet { (words.what_is_taken_in(MOST)) }
                input type="file" name="file" required accept=".db,.csa,.kif,.kifu,.ki2,.jkf,.usi,.sfen";
            }
            button { (words.open_file()) }
        }
        form.order.line method="post" action="/study/find" {
            label { span { (prose(words.position_to_find())) } input name="position" maxlength=(LETTERS) required spellcheck="false"; }
            button { (words.search()) }
        }
        h2 { (words.files_of_study()) }
        @if files.is_empty() { p { (prose(words.study_is_empty())) } } @else { (table(words, &files)) }
        @if files.iter().any(|(_, events)| events.is_none()) {
            form.order.line method="post" action="/study/import" { input type="hidden" name="all" value="1"; button { (words.read_all_records()) } p.quiet { (words.what_reading_does()) } }
        }
        p.quiet { (words.all_games_by_rating()) " " a href="/ledger" { (words.ledger()) } " · " a href=(web::EVENTS_PAGE) { (words.all_events()) } }
    };
    Ok(Page::new(words.study(), "/study", content).with(&["drop.js"]))
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
    html! { div.scroll.sheet tabindex="0" role="region" aria-label=(words.files_of_study()) { table.games {
        thead { tr { th.name { (words.file()) } th.name { (words.the_event()) } th { (words.games()) } } }
        tbody { @for (key, events) in files.iter().take(FOUND) { @match events {
            None => tr { td.name { a href={ "/study/file?file=" (percent(key)) } { (key) } } td {} td {} },
            Some(Err(why)) => tr { td.name { (key) } td.name { div.note { (words.fault(why)) } } td {} },
            Some(Ok(events)) => @for (name, event) in events { tr {
                td.name { (key) }
                td.name { a href=(address_of(name, None)) { (event.name) } }
                td { (event.counted) }
            } },
        } } }
    } @if files.len() > FOUND { p.note { (words.first_of_folder(FOUND)) } } } }
}

/// The records of a file, or the board of the only one.
pub(crate) fn file(Asked { desk, words, fields, .. }: Asked) -> Result<Response, Refusal> {
    let (key, sought) = (fields.text("file"), fields.text("player").to_lowercase());
    let (mut all, mut rows) = (0, vec![]);
    desk.each_record(key, |read| {
        all += 1;
        let row = Row::of(all, read);
        if rows.len() < FOUND && row.has(&sought) {
            rows.push(row);
        }
        ControlFlow::Continue(())
    })?;
    let board = |number: usize| format!("{STUDY_PAGE}?file={}&record={number}", percent(key));
    if all == 1 && sought.is_empty() {
        return Ok(lead(&board(1)));
    }
    let content = html! {
        a.crumb href="/study" { (words.study()) " ›" }
        div.top { h1 { (key) } span.quiet { (words.records_of_file(all)) } }
        form.order.line method="get" action="/study/file" {
            input type="hidden" name="file" value=(key);
            label { span { (words.player()) } input name="player" value=(fields.text("player")) maxlength="200"; }
            button { (words.search()) }
        }
        form.order.line method="post" action="/study/import" {
            input type="hidden" name="file" value=(key);
            button { (words.read_record()) } p.quiet { (words.what_reading_does()) }
        }
        div.scroll.sheet tabindex="0" role="region" aria-label=(key) { table.games {
            thead { tr { th { "#" } th.name { (words.black()) } th {} th.name { (words.white()) } th { (words.plies()) } th.name { (words.began()) } } }
            tbody { @for row in &rows { tr {
                td { a href=(board(row.number)) { (row.number) } }
                @match &row.game {
                    Ok((names, result, plies, began)) => {
                        td.name.won[*result == "1–0"] { a href=(board(row.number)) { "☗ " (names[0]) } } td.result { (result) }
                        td.name.won[*result == "0–1"] { a href=(board(row.number)) { "☖ " (names[1]) } } td { (plies) } td.name { (began) }
                    }
                    Err(why) => td.name colspan="5" { (words.fault(why)) }
                }
            } } }
        } }
        @if rows.len() == FOUND { p.note { (words.first_records(FOUND)) } }
    };
    Ok(Page::new(key, "/study", content).into_response())
}

/// A record in the list of its file: names, result, plies and date, or why it cannot be read.
struct Row {
    number: usize,
    game: Result<([String; 2], &'static str, usize, String), String>,
}

impl Row {
    fn of(number: usize, read: record::Read) -> Self {
        let game = read.map_err(|fault| fault.to_string()).map(|record| {
            let result = match record.winner() {
                Some(Color::BLACK) => "1–0",
                Some(_) => "0–1",
                None => "–",
            };
            let names = [record.black, record.white].map(Option::unwrap_or_default);
            (names, result, record.plies.len(), record.started.unwrap_or_default())
        });
        Self { number, game }
    }

    fn has(&self, sought: &str) -> bool {
        let of = |names: &[String; 2]| names.iter().any(|name| name.to_lowercase().contains(sought));
        sought.is_empty() || self.game.as_ref().is_ok_and(|(names, ..)| of(names))
    }
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
        let _alone = desk.0.place.alone();
        readable(&desk.0.place, &name, &bytes)?;
        let key = desk.0.place.take_in(&name, &bytes)?;
        match kind_of(&name) {
            Some(Some(_)) => Ok(lead(&format!("/study/file?file={}", percent(&key)))),
            _ => Ok(desk.confirm("/study", Message::of(|words| words.file_was_taken_in(&key)))),
        }
    })
    .await?
}

/// Refuses a file of which no game can be read.
fn readable(place: &Place, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
    let fault = match kind_of(name) {
        Some(Some(format)) => {
            rsshogi::board::init();
            let mut fault = Some("it has no game".to_owned());
            record::each(bytes, Some(format), |_, read| {
                fault = fault.take().and(read.err()).map(|why| why.to_string());
                if fault.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            fault
        }
        Some(None) if bytes.starts_with(SQLITE) => damage(place, name, bytes),
        _ => None,
    };
    let shown = notation::printable(name.as_bytes());
    fault.map_or(Ok(()), |why| Err(Refusal::bad(|words| words.nothing_was_kept(&shown, &words.fault(&why)))))
}

/// What is wrong with a database, which is looked at in a folder of its own.
fn damage(place: &Place, name: &str, bytes: &[u8]) -> Option<String> {
    let below = Path::new(SHELF).join(LOOKED_AT);
    let path = place.directory().join(&below).join(name);
    let look = || -> Result<(), StoreError> {
        let store = Store::read(&path)?;
        match store.damage()?.into_iter().next() {
            Some(fault) => Err(StoreError::Damaged(path.clone(), fault)),
            None => store.events().map(drop),
        }
    };
    let written = files::write_below(place.directory(), &below.join(name), bytes, Access::Private);
    let found =
        written.map_err(|error| error.to_string()).and_then(|()| look().map_err(|fault| fault.to_string()));
    let _gone = fs::remove_dir_all(place.directory().join(&below));
    found.err().map(|why| why.replace(&path.display().to_string(), name))
}

/// Reads a record into a database beside it, or all records into one.
pub(crate) fn import(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let place = &desk.0.place;
    let is_record = |key: &str| kind_of(key.rsplit('/').next().unwrap_or(key)).flatten().is_some();
    let (keys, name) = match (fields.is("all"), fields.text("file")) {
        (true, _) => (place.shelf().into_iter().filter(|key| is_record(key)).collect(), ALL.to_owned()),
        (_, key) => (vec![key.to_owned()], key.rsplit('/').next().unwrap_or(key).to_owned()),
    };
    let file = |key: &String| place.shelved(key).filter(|file| is_record(key) && file.is_file());
    let files =
        keys.iter().map(|key| file(key).ok_or_else(|| Refusal::bad(|words| words.not_a_record_file(key))));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let into = format!("{SHELF}/{name}.db");
    let database = place.shelved(&into).ok_or_else(|| Refusal::bad(Language::no_file))?;
    platform::files::create_directory(&place.directory().join(SHELF), Default::default()).map_err(refused)?;
    let title = Message::of(|words| words.reading_of(&name));
    let import = Import { files, db: Some(database), verify: false, event: name, rules: None };
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

/// Searches all databases for a position: one that is typed, or that of a board.
pub(crate) fn find(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let text = match fields.is("ply") {
        true => desk.studied(&fields)?.argument(),
        false => fields.text("position").to_owned(),
    };
    let sought = position(&text).ok_or_else(|| Refusal::bad(Language::not_a_position))?;
    let title = Message::of(|words| words.search_of_position(&sought));
    let place = desk.0.place.clone();
    Ok(lead(&desk.0.jobs.begin((title, sought.clone()), "/study", move |job| search(job, &place, &sought))))
}

/// A position without its number as SFEN, from how people give it.
fn position(text: &str) -> Option<String> {
    let record = of_position(text).filter(|_| !text.trim().is_empty())?;
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
