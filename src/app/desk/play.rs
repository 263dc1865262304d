//! A game of the person at this browser against an engine, from any position: an event like every other, in which the person
//! is an engine whose answers this page gives.

use crate::{
    Asked, Desk, clock,
    compose::{self, Kind, MOVES},
    fields::{Fields, quoted},
    game::{choice, hidden},
    lead,
    library::{Library, LibraryError},
    person::COMMAND,
    place::Place,
    refused,
    studied::Studied,
};
use axum::response::Response;
use journal::{FullGame, GameFilter, StoreError};
use maud::{Markup, html};
use plan::{EnginePlan, Event, LibraryEngine, Plan};
use platform::files::{self, Access};
use referee::{Color, Outcome, clock::TimeControl, rules::Rules};
use rsshogi::board::{DeclarationDetail, DeclarationEvaluation};
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, Item, Table, value};
use web::{
    STUDY_PAGE, board,
    components::{Mood, asks, state},
    layout::{Page, percent},
    refusals::Refusal,
};
use words::Language;

/// Seconds after which a page without a game is loaded anew.
const AGAIN: u32 = 1;
/// Minutes for all moves, and seconds for one after them, where nobody says it.
const CLOCK: [&str; 2] = ["10", "30"];
/// What a person says in the place of a move.
const ENDS: [&str; 2] = ["resign", "win"];

/// A game with a person, as it stands.
struct Own {
    game: FullGame,
    studied: Studied,
    side: Color,
    times: [TimeControl; 2],
    rules: Rules,
}

impl Own {
    fn is_over(&self) -> bool {
        self.game.row.outcome.is_some()
    }

    fn is_turn(&self) -> bool {
        !self.is_over() && Color::from(self.studied.mover()) == self.side
    }

    /// Whether a declaration would win now (nyugyoku), and its conditions.
    fn declaration(&self) -> DeclarationEvaluation {
        let mut position = self.studied.position_at(self.studied.at);
        position.set_entering_king_rule(self.rules.entering_king_rule());
        position.evaluate_declaration()
    }

    /// What a page that shows it knows.
    fn known(&self) -> String {
        format!("{} {} {}", self.game.row.game.0, self.studied.at, self.is_over())
    }
}

/// The file with the answers of the person who plays in an event.
fn answers(place: &Place, event: &str) -> PathBuf {
    let file = place.directory().join(format!(".{COMMAND}-{event}"));
    std::path::absolute(&file).unwrap_or(file)
}

/// The text of a new event under its name: the person of a copy gives answers of its own.
pub(crate) fn seated(place: &Place, event: &str, text: &str) -> String {
    let is_own = |document: &DocumentMut| document.to_string().contains(&quoted(COMMAND));
    let Some(mut document) = text.parse::<DocumentMut>().ok().filter(is_own) else { return text.to_owned() };
    let engines = document.get_mut("engines").and_then(Item::as_array_of_tables_mut);
    for engine in engines.into_iter().flat_map(|engines| engines.iter_mut()) {
        let Some(args) = engine.get_mut("args").and_then(Item::as_array_mut) else { continue };
        if args.len() == 2 && args.get(0).and_then(|arg| arg.as_str()) == Some(COMMAND) {
            args.replace(1, answers(place, event).to_string_lossy().into_owned());
        }
    }
    document.to_string()
}

/// True if an engine of an event is the person of its desk.
fn is_person(engine: &EnginePlan, answers: &Path) -> bool {
    engine.args.iter().map(String::as_str).eq([COMMAND, &*answers.to_string_lossy()])
}

impl Desk {
    /// The name of the person in an event, and its plan.
    fn person(&self, event: &str) -> Result<(String, Box<Plan>), Refusal> {
        let file = answers(&self.0.place, event);
        let Event::Arranged { plan, .. } = self.event(event)? else {
            return Err(Refusal::bad(Language::no_such_event));
        };
        let own = plan.engines.iter().find(|engine| is_person(engine, &file));
        let name = own.ok_or_else(|| Refusal::bad(Language::nobody_plays_here))?.name.clone();
        Ok((name, plan))
    }

    /// The game that the person plays in an event, or has played last; `None` before it begins.
    fn own_game(&self, event: &str) -> Result<Option<Own>, Refusal> {
        let (person, plan) = self.person(event)?;
        let Ok((store, summary)) = self.games_of(event) else { return Ok(None) };
        let mut last = None;
        store
            .games(summary.id, &GameFilter::default(), |row| {
                last = row.start.is_some().then_some(row.game).or(last);
                Ok::<_, StoreError>(())
            })
            .map_err(refused)?;
        let Some(last) = last else { return Ok(None) };
        let Some(game) = store.game(summary.id, last).map_err(refused)? else { return Ok(None) };
        let fields =
            vec![("event", event.to_owned()), ("game", last.0.to_string()), ("ply", usize::MAX.to_string())];
        let studied = self.studied(&Fields::default().with(fields))?;
        let side = if game.row.black == person { Color::Black } else { Color::White };
        let time =
            |name: &str| plan.engines.iter().find(|engine| engine.name == name).map(|engine| engine.time);
        let times = [&game.row.black, &game.row.white].map(|name| time(name).unwrap_or_default());
        Ok(Some(Own { game, studied, side, times, rules: plan.rules }))
    }
}

/// The form that begins a game from a position.
pub(crate) fn form(words: Language, studied: &Studied, engines: &[LibraryEngine]) -> Markup {
    html! { details.tab { summary { (words.play_against_engine()) } form.order id="play-here" method="post" action="/play" {
        (hidden(studied))
        (crate::create::token())
        (choice((words.opponent(), "opponent"), engines, Some(words.own_engine()), 0))
        label { span { (words.your_side()) } select name="side" {
            option value="black" { "☗ " (words.black()) } option value="white" { "☖ " (words.white()) }
        } }
        @for (name, label, usual, most) in [("minutes", words.minutes_for_all_moves(), CLOCK[0], clock::MOST[0]), ("amount", words.seconds_after_them(), CLOCK[1], clock::MOST[1])] {
            label { span { (label) } input type="number" name=(name) value=(usual) min="0" max=(most) step="any"; }
        }
        p.buttons { button { (words.begin_game()) } }
    } } }
}

/// Begins a game: from a position, or like one before.
pub(crate) fn begin(Asked { desk, words, fields, .. }: Asked) -> Result<Response, Refusal> {
    let alone = desk.0.place.alone();
    let (title, text) = match fields.text("again") {
        "" => from_position(&desk, words, &fields)?,
        event => like(&desk, event, fields.is("swaps"))?,
    };
    compose::check(&desk.0.place, &text).map_err(refused)?;
    let name = desk.create(&fields, &title, &text, true)?;
    drop(alone);
    desk.comes(|| desk.own_game(&name).is_ok_and(|own| own.is_some()));
    Ok(lead(&address(&name)))
}

/// The title and the text of a game like one before; `swaps`: with the other colours.
fn like(desk: &Desk, event: &str, swaps: bool) -> Result<(String, String), Refusal> {
    desk.person(event)?;
    let text = crate::change::copied(&desk.text_of(event)?, None).0;
    let mut document: DocumentMut = text.parse().map_err(refused)?;
    let engines = document.get_mut("engines").and_then(Item::as_array_of_tables_mut);
    if let Some(engines) = engines.filter(|_| swaps) {
        let mut tables: Vec<Table> = engines.iter().cloned().collect();
        tables.reverse();
        tables.iter_mut().for_each(loosen);
        *engines = tables.into_iter().collect();
    }
    Ok((desk.event(event)?.name().to_owned(), document.to_string()))
}

/// Lets a table follow what stands before it, with the tables in it.
fn loosen(table: &mut Table) {
    table.set_position(None);
    table.iter_mut().filter_map(|(_, item)| item.as_table_mut()).for_each(loosen);
}

/// The title and the text of a game from a position.
fn from_position(desk: &Desk, words: Language, fields: &Fields) -> Result<(String, String), Refusal> {
    let studied = desk.studied(fields)?;
    if studied.legal().is_empty() {
        return Err(Refusal::bad(Language::no_move_is_left));
    }
    let is_black = fields.one_of("side", &["black", "white"])? == "black";
    let control = clock::of_person(fields)
        .ok_or_else(|| Refusal::bad(|words| words.clock_of_person(clock::MOST[0], clock::MOST[1])))?;
    let place = &desk.0.place;
    let opponent = opponent(desk, fields.text("opponent"))?;
    let title = words.game_against(&crate::library::name_of(&opponent));
    let name = place.new_name(&title);
    let openings = match studied.argument() {
        start if start == "startpos" => String::new(),
        argument => {
            let stem = format!("{}-{}", studied.stem(), studied.at);
            let key = place.keep(&stem, "sfen", format!("{argument}\n").as_bytes())?;
            format!("\n[openings]\nfile = {}\npairs = false\n", quoted(&key))
        }
    };
    let mut document: DocumentMut = format!(
        "# Written by the desk: a game of the person at it.\n\n[event]\nname = {}\nformat = {}\ngames = 1\ncolours = \"fixed\"\n\
         look = false\nfault_limit = \"off\"\n\n[time]\ncontrol = {}\n\n[rules]\nmax_moves = {MOVES}\n{openings}",
        quoted(&title),
        quoted(Kind::Match.format()),
        quoted(&control),
    )
    .parse()
    .map_err(refused)?;
    let person = person(words, &answers(place, &name))?;
    let mut both = [person, opponent];
    if !is_black {
        both.reverse();
    }
    document.insert("engines", Item::ArrayOfTables(both.into_iter().collect()));
    Ok((title, document.to_string()))
}

/// The table of the person: this program, which answers with what the board was given.
fn person(words: Language, answers: &Path) -> Result<Table, Refusal> {
    let program = std::env::current_exe().map_err(refused)?;
    let args = [COMMAND.to_owned(), answers.to_string_lossy().into_owned()];
    let mut table = Table::new();
    table.insert("name", value(words.you()));
    table.insert("command", value(&*program.to_string_lossy()));
    table.insert("args", value(args.into_iter().collect::<Array>()));
    Ok(table)
}

/// The table of an engine of the library, or of the one that comes with this program.
fn opponent(desk: &Desk, name: &str) -> Result<Table, Refusal> {
    if !name.is_empty() {
        let library = Library::open(&desk.0.place).map_err(refused)?;
        let mut table = library.for_event(name).map_err(|fault: LibraryError| refused(fault))?;
        // Behind what the head of the file has.
        table.set_position(None);
        return Ok(table);
    }
    let (engine, _) = desk.searcher("")?;
    let mut table = Table::new();
    table.insert("name", value(&engine.name));
    table.insert("command", value(&*engine.command.to_string_lossy()));
    Ok(table)
}

/// The address of the game of an event.
pub(crate) fn address(event: &str) -> String {
    format!("/play?event={}", percent(event))
}

/// The board of a game.
pub(crate) fn page(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let name = fields.text("event");
    let Some(own) = desk.own_game(name)? else {
        let content = html! { h1 { (name) } p role="status" { (words.game_is_awaited()) } p { a href="/" { (words.home()) } } };
        return Ok(Page::new(name, "/study", content).again(AGAIN));
    };
    let (row, studied) = (&own.game.row, &own.studied);
    let title = format!("☗ {} – ☖ {}", row.black, row.white);
    let here = studied.query("", &studied.fields());
    let content = html! {
        a.crumb href="/study" { (words.study()) " ›" }
        div.top { h1 { (title) } (stand(words, &own)) span.grow {}
            @if own.is_over() {
                a.button.main href={ (STUDY_PAGE) (here) } { (words.study_this_game()) }
                form.buttons method="post" action="/play" {
                    input type="hidden" name="again" value=(name);
                    (crate::create::token())
                    button { (words.play_again_like_this()) } button name="swaps" value="1" { (words.play_again_swapped()) }
                }
            }
        }
        div.study id="viewer" data-promote={ (words.promotes()) "/" (words.promotes_not()) } data-legal={ "/study/legal" (here) }
            data-side=(if own.side == Color::Black { "black" } else { "white" }) data-turn=(if own.is_turn() { "yes" } else { "no" })
            data-now={ "/play/now?event=" (percent(name)) } data-known=(if own.is_over() { String::new() } else { own.known() }) {
            (side(words, &own))
            div {
                @if !own.is_over() { p.quiet { (words.kept_like_every_game()) } (orders(words, name, &own)) }
                div id="graph" hidden {}
                h2 { (words.moves()) }
                ol id="moves" tabindex="0" { @for (at, text) in (1..).zip(studied.spelled()) { li { span { (at) } span { (text) } } } }
            }
        }
        (board::game(&own.game, own.times))
    };
    let page = Page::new(title, "/study", content);
    Ok(page.with(&["board.js", "viewer.js", "live.js", "hand.js", "play.js"]))
}

/// Whose turn it is, or how the game has ended.
fn stand(words: Language, own: &Own) -> Markup {
    match own.game.row.outcome {
        None if own.is_turn() => state(Mood::Good, words.your_turn()),
        None => state(Mood::Wait, words.opponent_thinks()),
        Some(Outcome::Win { winner, .. }) if winner == own.side => state(Mood::Good, words.you_won()),
        Some(Outcome::Win { .. }) => state(Mood::Bad, words.you_lost()),
        Some(Outcome::Draw { .. }) => state(Mood::Rest, words.drawn()),
        Some(_) => state(Mood::Rest, words.without_result()),
    }
}

fn side(words: Language, own: &Own) -> Markup {
    let studied = &own.studied;
    let last = studied.shown.plies.last().map(|ply| ply.mv);
    let end = studied.at;
    let button = |id: &str, sign: &str, label: &str| html! { button type="button" id=(id) aria-label=(label) title=(label) { (sign) } };
    html! { div.side.board-side {
        p.player id="above" { span { "☖ " (own.game.row.white) } }
        div id="board" tabindex="0" role="img" aria-label=(words.board_at(end, end)) { (board::drawn(&studied.position_at(end), last, None)) }
        p.player id="below" { span { "☗ " (own.game.row.black) } }
        div.buttons id="choice" role="group" aria-label=(words.promotion()) hidden {}
        div.keys {
            (button("first", "|◀", words.key_start())) (button("back", "◀", words.key_back())) (button("play", words.play(), words.key_play()))
            (button("on", "▶", words.key_on())) (button("last", "▶|", words.key_end())) (button("flip", "⇅", words.key_turn())) (button("pieces", "A", words.key_pieces()))
        }
        h2 id="title" hidden {} p id="thought" hidden {}
        p id="result" role="status" { @if let Some(outcome) = own.game.row.outcome { (words.cause(outcome.cause())) } }
    } }
}

/// A move from a list, for keys and without a script, and the ways to end the game, which ask first.
fn orders(words: Language, event: &str, own: &Own) -> Markup {
    let moves = if own.is_turn() { own.studied.legal() } else { vec![] };
    html! { form.order.line id="move" method="post" action="/play/move" {
        input type="hidden" name="event" value=(event);
        input type="hidden" name="ply" value=(own.studied.at);
        label { span { (words.move_to_try()) } select name="move" { @for mv in &moves { option value=(mv) { (crate::game::one_spelled(&own.studied, mv)) } } } }
        button disabled[moves.is_empty()] { (words.play_move()) }
        @if own.is_turn() {
            @let declaration = own.declaration();
            @if let Some(stand) = stand_of_declaration(words, &declaration) {
                (asks(words.declare_win(), &stand, &html! { button name="ends" value="win" disabled[!declaration.can_declare] { (words.declare_win()) } }))
            }
            (asks(words.resign_game(), words.resigning_ends_the_game(), &html! { button.danger name="ends" value="resign" { (words.resign_game()) } }))
        }
    } }
}

/// How far a declaration is from winning; `None` before the king is where it can be made.
fn stand_of_declaration(words: Language, declaration: &DeclarationEvaluation) -> Option<String> {
    match declaration.detail {
        DeclarationDetail::PointRule {
            king_in_enemy_camp: true,
            pieces_in_camp,
            points,
            required_points,
            ..
        } => Some(words.declaration_stands(pieces_in_camp - 1, points, required_points)),
        _ => declaration.can_declare.then(String::new),
    }
}

/// How far the game is, for the script of its page.
pub(crate) fn now(Asked { desk, fields, .. }: Asked) -> Result<String, Refusal> {
    Ok(desk.own_game(fields.text("event"))?.map(|own| own.known()).unwrap_or_default())
}

/// Plays the person's move.
pub(crate) fn play(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let name = fields.text("event");
    let own = desk.own_game(name)?.ok_or_else(|| Refusal::conflict(Language::game_is_awaited))?;
    if !own.is_turn() || fields.text("ply") != own.studied.at.to_string() {
        return Err(Refusal::conflict(Language::not_your_turn));
    }
    let answer = if fields.is("ends") { fields.one_of("ends", &ENDS)? } else { fields.text("move") };
    if answer == "win" && !own.declaration().can_declare {
        return Err(Refusal::conflict(Language::declaration_would_lose));
    }
    if !ENDS.contains(&answer) && !own.studied.legal().iter().any(|mv| mv == answer) {
        return Err(Refusal::bad(|words| words.not_a_legal_move(answer)));
    }
    let text = format!("{}\n{answer}\n", own.studied.position_at(own.studied.at).to_sfen(None));
    let file = answers(&desk.0.place, name);
    let (directory, file) = (desk.0.place.directory(), Path::new(file.file_name().unwrap_or_default()));
    files::write_below(directory, file, text.as_bytes(), Access::Private).map_err(refused)?;
    let before = own.known();
    desk.comes(|| desk.own_game(name).is_ok_and(|own| own.is_none_or(|own| own.known() != before)));
    Ok(lead(&address(name)))
}
