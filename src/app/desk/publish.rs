//! What others see of an event: its table to be copied, its records, and its public page.

use crate::{Asked, confirmed, form::shown, refused};
use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use event::{Failure, hall::Order, reported};
use journal::{EventSummary, GameFilter, GameState, Store, StoreError};
use maud::{Markup, html};
use notation::record::Format;
use plan::{Event, Faults, HttpConfig};
use platform::network::own_address;
use qrcode::{QrCode, render::svg};
use referee::{annotations::Comment, entry::GameId};
use report::{Report, exhibit::Exhibit};
use std::{
    error::Error,
    io::{Cursor, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    ops::RangeInclusive,
    path::Path,
    time::Duration,
};
use toml_edit::{Array, DocumentMut, Item, Table, Value};
use web::{
    components::prose,
    layout::{Page, percent},
    refusals::Refusal,
};
use words::{Language, Message};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// Ports of public pages: the first free one, where nobody says another one.
const PORTS: RangeInclusive<u16> = 8080..=8099;
/// Longest wait for an answer of the public page.
const ANSWER: Duration = Duration::from_secs(1);
/// Most records of a download.
const RECORDS: usize = 20_000;

/// What the page shows.
struct Shown {
    event: Event,
    report: Option<Report>,
    tables: Vec<Exhibit>,
    house: Option<IpAddr>,
    /// True if the public page listens.
    is_open: bool,
}

/// The page.
pub(crate) fn page(Asked { desk, words, fields, done }: Asked) -> Result<Page, Refusal> {
    let name = fields.text("event");
    let event = desk.event(name)?;
    let report = report_of(event.database(), event.name())?;
    let tables = report.as_ref().map(|report| report.tables(words)).unwrap_or_default();
    let is_open = listens(event.http());
    let found = Shown { event, report, tables, house: own_address(), is_open };
    let all = |draw: fn(&Exhibit) -> String| found.tables.iter().map(draw).collect::<Vec<_>>().join("\n");
    let content = html! {
        h1 { (words.publish()) ": " (found.event.name()) }
        (confirmed(words, done.as_ref()))
        (public(words, name, &found))
        @if let Some(report) = &found.report {
            (records_form(words, name))
            h2 { (words.standings()) }
            (copied(words, "Markdown", &all(Exhibit::markdown)))
            (copied(words, "BBCode", &all(Exhibit::bbcode)))
            (copied(words, "HTML", &all(Exhibit::html)))
            (copied(words, words.plain_text(), &all(Exhibit::to_string)))
            @if let Some(head) = &report.head { h2 { (words.certificate()) } p { code data-copy=(words.copy_text()) { (head) } } p { (prose(words.what_a_certificate_is())) } }
        }
    };
    Ok(Page::new(words.publish(), "/", content).with(&["copy.js"]))
}

/// The report of an event of a database; `None`: it has not begun.
pub(crate) fn report_of(database: &Path, event: &str) -> Result<Option<Report>, Refusal> {
    match database.exists().then(|| reported(database, event)).transpose() {
        Err(Failure::Usage(_)) => Ok(None),
        report => report.map_err(refused),
    }
}

fn copied(words: Language, title: &str, text: &str) -> Markup {
    html! {
        details.tab name="table" open[title == "Markdown"] {
            summary { (title) }
            textarea readonly rows=(text.lines().count().clamp(3, 12)) spellcheck="false" aria-label=(title) data-copy=(words.copy_text()) { (text) }
        }
    }
}

/// True if nobody listens at a port of this machine.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok()
}

/// True if somebody answers at an address of the pages.
fn listens(http: &HttpConfig) -> bool {
    let here = |at: &SocketAddr| match at.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), at.port()),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::new(Ipv6Addr::LOCALHOST.into(), at.port()),
        _ => *at,
    };
    http.listen.iter().any(|at| TcpStream::connect_timeout(&here(at), ANSWER).is_ok())
}

/// The public page: on or off, its addresses, and one of them to be photographed.
fn public(words: Language, name: &str, found: &Shown) -> Markup {
    let listen = &found.event.http().listen;
    let reached = |address: &SocketAddr| match address.ip().is_unspecified() {
        true => found.house.map(|house| SocketAddr::new(house, address.port())),
        false => Some(*address),
    };
    let links: Vec<String> = listen.iter().filter_map(reached).map(|at| format!("http://{at}/")).collect();
    html! {
        h2 { (words.public_page()) }
        p { (words.what_public_page_is()) }
        @if !found.is_open && !listen.is_empty() { p.note { (words.public_page_is_not_open_yet()) } }
        @for link in &links { p { @if found.is_open { a href=(link) { (link) } } @else { (link) } } }
        @if let Some(code) = links.first().filter(|_| found.is_open).and_then(|link| quick(link)) {
            p { img src=(code) width="220" height="220" alt=(words.address_as_picture()); }
        }
        @if !listen.is_empty() && links.is_empty() { p.note { (words.no_network_here()) } }
        form.order.line method="post" action="/events/public" {
            input type="hidden" name="event" value=(name);
            @if listen.is_empty() {
                label { span { (words.port_field()) } input type="number" name="port" value=(PORTS.clone().find(|port| is_free(*port)).unwrap_or(*PORTS.start())) min="1024" max="65535" required; }
                button name="is" value="on" { (words.open_public_page()) }
            } @else { button name="is" value="off" { (words.close_public_page()) } }
        }
    }
}

/// A picture of an address for the cameras of phones, as the address of an image.
fn quick(link: &str) -> Option<String> {
    let code = QrCode::new(link).ok()?;
    let picture = code.render::<svg::Color<'_>>().min_dimensions(220, 220).build();
    Some(format!("data:image/svg+xml,{}", percent(&picture)))
}

/// Opens or closes the public page of an event: its file says where it is.
pub(crate) fn publish(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let name = fields.text("event");
    let alone = desk.0.place.alone();
    let text = desk.text_of(name)?;
    let listen = match fields.one_of("is", &["on", "off"])? {
        "off" => None,
        _ => {
            let port = fields.text("port").parse().ok().filter(|port| (1024..).contains(port));
            let port: u16 = port.ok_or_else(|| Refusal::bad(Language::port_is_a_number))?;
            if !is_free(port) {
                return Err(Refusal::conflict(|words| words.port_is_taken(port)));
            }
            Some(port)
        }
    };
    let text = with_listen(&text, listen)?;
    let faulty = |faults: Faults| refused(faults.iter().map(shown).collect::<Vec<_>>().join("\n"));
    let event = crate::compose::check(&desk.0.place, &text).map_err(faulty)?;
    desk.0.place.write(&format!("{name}.toml"), &text).map_err(refused)?;
    desk.order(Order::Others(name.to_owned(), text))?;
    drop(alone);
    // One that has not begun has no pages yet.
    if listen.is_some() && desk.has_pages(name) {
        desk.comes(|| listens(event.http()));
    }
    let done = match listen {
        Some(_) => Message::of(Language::public_page_is_open),
        None => Message::of(Language::public_page_is_closed),
    };
    Ok(desk.confirm(&format!("/events/publish?event={}", percent(name)), done))
}

/// The text of an event whose public page is at a port, or nowhere.
fn with_listen(text: &str, port: Option<u16>) -> Result<String, Refusal> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| refused(error))?;
    let http = document.entry("http").or_insert(Item::Table(Table::new()));
    let http = http.as_table_mut().ok_or_else(|| refused("`http` is no table"))?;
    let listen = port.map(|port| Value::Array(Array::from_iter([format!("0.0.0.0:{port}")])));
    crate::library::set(http, "listen", listen);
    if http.is_empty() {
        document.remove("http");
    }
    Ok(document.to_string())
}

fn records_form(words: Language, name: &str) -> Markup {
    html! {
        h2 { (words.records_of_games()) }
        form.order method="get" action="/events/records" {
            input type="hidden" name="event" value=(name);
            label { span { (words.round_or_all()) } input type="number" name="round" min="1" max="100000"; }
            label { span { (words.record_format()) } select name="format" {
                @for ending in ["kifu", "kif", "csa", "jkf"] { option value=(ending) { (ending) } }
            } }
            label.tick { input type="checkbox" name="standings" value="1" checked; span { (words.with_standings()) } }
            p.buttons { button.main { (words.download_as_zip()) } }
        }
    }
}

/// The records of a round, or of all games that count, in one file.
pub(crate) fn records(Asked { desk, words, fields, .. }: Asked) -> Result<Response, Refusal> {
    let name = fields.text("event");
    let round = Some(fields.text("round")).filter(|text| !text.is_empty()).map(str::parse::<u32>);
    let round = round.transpose().map_err(|_| Refusal::bad(Language::round_is_a_number))?;
    let format = Format::from_extension(fields.text("format"));
    let format = format.ok_or_else(|| Refusal::bad(Language::unknown_order))?;
    let (store, event) = desk.games_of(name)?;
    let report = reported(store.path(), &event.name).map_err(refused)?;
    let tables = if fields.is("standings") { report.tables(words) } else { vec![] };
    let games = counted(&store, &event, round)?;
    let bytes = zipped(&store, &event, &games, (format, &tables)).map_err(refused)?;
    let round = round.map(|round| format!("-{round}")).unwrap_or_default();
    let name = format!("attachment; filename*=UTF-8''{}{round}.zip", percent(name).replace('/', "%2F"));
    let headers = [(header::CONTENT_TYPE, "application/zip".to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, bytes).into_response())
}

/// The games of a round, or all, that count.
fn counted(store: &Store, event: &EventSummary, round: Option<u32>) -> Result<Vec<GameId>, Refusal> {
    let filter = GameFilter { round, state: Some(GameState::Counted), ..GameFilter::default() };
    let mut games = vec![];
    let listed = store.games::<StoreError>(event.id, &filter, |row| {
        games.push(row.game);
        Ok(())
    });
    listed.map_err(refused)?;
    match games.len() {
        1..=RECORDS => Ok(games),
        other => Err(Refusal::bad(|words| words.so_many_records(other, RECORDS))),
    }
}

/// The records of games in one file, with how their players stand in tables.
fn zipped(
    store: &Store,
    event: &EventSummary,
    games: &[GameId],
    (format, tables): (Format, &[Exhibit]),
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut zip = ZipWriter::new(Cursor::new(vec![]));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for &number in games {
        let Some(game) = store.game(event.id, number)? else { continue };
        let mut annotations = store.annotations(event.id, number)?;
        let [black, white] = [&game.row.black, &game.row.white];
        let lines = [("☗", black), ("☖", white)];
        let lines: Vec<String> = lines.iter().filter_map(|(side, name)| stands(tables, side, name)).collect();
        if !lines.is_empty() {
            // The number of the move before the first one is the start.
            let first =
                game.row.start.as_deref().and_then(|sfen| sfen.rsplit(' ').next()?.parse::<u32>().ok());
            let ply = first.unwrap_or(1).saturating_sub(1);
            annotations.comments.insert(0, Comment { line: 0, ply, text: lines.join("\n") });
        }
        let bytes = ::records::one(event, &game, store.game_name(event.id, number)?, &annotations, format)?;
        let [black, white] = [black, white].map(|name| notation::file_name(name));
        zip.start_file(format!("{:06}-{black}-{white}.{}", number.0, format.extension()), options)?;
        zip.write_all(&bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// How a player stands in the first table that has it: each column with its heading, as a line of a record.
fn stands(tables: &[Exhibit], side: &str, player: &str) -> Option<String> {
    tables.iter().find_map(|table| {
        let row = table.rows.iter().find(|row| row.iter().any(|cell| cell.text() == player))?;
        let columns = table.headings.iter().zip(row).filter(|(_, cell)| cell.text() != player);
        let columns = columns.map(|(heading, cell)| format!("{} {}", heading.words, cell.text()));
        Some(format!("{side} {player}: {}", columns.collect::<Vec<_>>().join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::exhibit::{Cell, Column};

    #[test]
    fn the_public_page_stands_in_the_file_beside_what_somebody_wrote_and_goes_without_a_trace() {
        let text = "# mine\n[event]\nname = \"cup\" # ours\n";
        let open = with_listen(text, Some(8080)).unwrap();
        assert_eq!(open, format!("{text}\n[http]\nlisten = [\"0.0.0.0:8080\"]\n"));
        assert_eq!(with_listen(&open, None).unwrap(), text);
        let own = "[http]\ndelay = \"5 moves\"\nlisten = [\"192.0.2.7:80\"] # hall\n";
        let moved = with_listen(own, Some(9000)).unwrap();
        assert!(moved.contains("[\"0.0.0.0:9000\"] # hall") && moved.contains("delay"), "{moved}");
        assert_eq!(with_listen(own, None).unwrap(), "[http]\ndelay = \"5 moves\"\n");
    }

    #[test]
    fn a_record_says_how_its_players_stand() {
        let columns = vec![
            Column::right("#", |(rank, _): &(u64, &str)| Cell::count(*rank)),
            Column::left("engine", |(_, name): &(u64, &str)| Cell::words(*name)),
            Column::right("Solkoff", |_: &(u64, &str)| Cell::number("12.5")),
        ];
        let table = Exhibit::of(columns, &[(1, "one"), (2, "two")]);
        assert_eq!(stands(&[table], "☗", "two").unwrap(), "☗ two: # 2, Solkoff 12.5");
        assert_eq!(stands(&[], "☗", "two"), None);
    }

    #[test]
    fn an_address_is_a_picture_that_the_policy_of_the_pages_lets_through() {
        let picture = quick("http://192.0.2.7:8080/").unwrap();
        assert!(
            picture.starts_with("data:image/svg+xml,") && !picture.contains(['<', '"', ' ']),
            "{picture}"
        );
    }
}
