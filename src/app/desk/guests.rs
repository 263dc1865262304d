//! Guests of an event: who may log in, what they are sent, and who is there.

use crate::{
    Asked, Desk,
    compose::{self, Kind},
    confirmed,
    fields::Fields,
    place::Place,
    refused,
};
use arena::operations::{
    command::Command,
    request::{Listed, Request},
};
use axum::response::Response;
use event::{hall::Now, league::set_account, network::registers};
use journal::{Account, Store, Writer};
use maud::{Markup, html};
use notation::csa::wire::is_player_name;
use plan::{
    ClientConfig, Event, LibraryEngine, ServeConfig, password,
    serve::{Login, RoundsConfig},
};
use std::{
    mem,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};
use toml_edit::{Array, DocumentMut, Value};
use web::{
    Registers,
    arbiter::{Entrance, Games, settings},
    components::prose,
    layout::{Page, percent},
    refusals::Refusal,
    time,
};
use words::{Language, Message};

/// The game of examples, where players choose it themselves.
const GAME: &str = "test-600-10";
/// The guest that an engine of the library is in a test game.
const TESTER: &str = "tester";
/// Letters of a password that is made here.
const LETTERS: usize = 10;

/// A password that was given to a guest, for the next page of the event.
pub(crate) struct Issued {
    name: String,
    password: String,
}

/// An event whose players log in.
struct House {
    event: Event,
    serve: ServeConfig,
    accounts: Vec<Account>,
    /// Who is there, and where, while the event runs.
    now: Option<(Listed, Entrance)>,
}

impl Desk {
    /// The event of a file, whose players log in.
    fn house(&self, name: &str) -> Result<House, Refusal> {
        let event = self.event(name)?;
        let serve = match &event {
            Event::League(serve) | Event::Arranged { serve: Some(serve), .. } => (**serve).clone(),
            _ => return Err(Refusal::bad(Language::nobody_logs_in)),
        };
        let accounts = match event.database().exists() {
            true => Store::read(event.database()).and_then(|store| store.accounts()).map_err(refused)?,
            false => vec![],
        };
        let now = match self.0.running.of(name) {
            Some(Now::Host { office, entrance }) => office.operations().and_then(|operations| {
                let list = Request { named: None, reason: None, event: None, command: Command::List };
                Some((*operations.carry_out("", &list).ok()?.list?, entrance))
            }),
            _ => None,
        };
        Ok(House { event, serve, accounts, now })
    }

    /// The event of a file of the directory.
    pub(crate) fn event(&self, name: &str) -> Result<Event, Refusal> {
        Event::load(&self.0.place.existing(name)?).map_err(refused)
    }

    /// Lets a guest in by the file of the event, with the hash of a secret, or with `None` no longer.
    fn invite(&self, event: &str, name: &str, hash: Option<&str>) -> Result<(), Refusal> {
        let place = &self.0.place;
        let _alone = place.alone();
        let mut document: DocumentMut = self.text_of(event)?.parse().map_err(refused)?;
        let invited = document.get_mut("serve").and_then(|serve| serve.get_mut("invited"));
        let invited: &mut Array = invited
            .and_then(|invited| invited.as_array_mut())
            .ok_or_else(|| Refusal::bad(Language::nobody_is_invited))?;
        let is_other = |line: &Value| line.as_str().is_none_or(|line| line.split(':').next() != Some(name));
        invited.retain(is_other);
        hash.into_iter().for_each(|hash| invited.push(format!("{name}:{hash}")));
        let text = document.to_string();
        compose::check(place, &text).map_err(refused)?;
        place.write(&format!("{event}.toml"), &text).map_err(refused)
    }
}

/// The address of the page of an event.
fn address(event: &str) -> String {
    format!("/guests?event={}", percent(event))
}

/// Lets a guest in, gives another password, or takes the account away.
pub(crate) fn order(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let event = fields.text("event");
    let house = desk.house(event)?;
    let is_test = fields.text("order") == "test";
    let name = if is_test { TESTER } else { fields.text("name") };
    if !is_player_name(name) {
        return Err(Refusal::bad(Language::name_form));
    }
    match fields.text("order") {
        "admit" => {
            let issued = desk.admit(&house, event, name, fields.text("password"))?;
            Ok(desk.0.issued.lead(&address(event), issued))
        }
        "test" => desk.test(&house, &fields),
        "remove" => {
            match house.serve.login {
                Login::Invitation => desk.invite(event, name, None)?,
                _ => remove(&house, name)?,
            }
            let done = Message::of(|language| language.guest_was_removed(name));
            Ok(desk.confirm(&address(event), done))
        }
        _ => Err(Refusal::bad(Language::unknown_order)),
    }
}

/// Takes an account away.
fn remove(house: &House, name: &str) -> Result<(), Refusal> {
    let writer = Writer::open(house.event.database()).map_err(refused)?;
    writer.remove_account(name).map(drop).map_err(refused)
}

impl Desk {
    /// Has an engine of the library log in as a guest, who gets an account where guests need one, for one game.
    fn test(&self, house: &House, fields: &Fields) -> Result<Response, Refusal> {
        let (at, game) = (house.address(), house.game(fields.text("game")));
        let (Some(at), Some(game)) = (at, game) else {
            return Err(Refusal::conflict(Language::guests_when_begun));
        };
        let tester = house.tester(&self.0.place);
        let secret = match house.serve.login {
            Login::Accounts => self.admit(house, fields.text("event"), &tester, "")?.password,
            Login::Open => {
                web::accounts::random().chars().filter(char::is_ascii_alphanumeric).take(LETTERS).collect()
            }
            Login::Invitation => return Err(Refusal::bad(Language::change_counts_when_begun)),
        };
        let seat = fields.clone().with(vec![
            ("kind", Kind::Floodgate.word().to_owned()),
            ("name", tester.clone()),
            ("host", host(at).to_string()),
            ("port", at.port().to_string()),
            ("login", tester),
            ("secret", secret),
            ("game", game),
            ("games", "1".to_owned()),
        ]);
        let name = self.make_event(&seat)?;
        let done = Message::of(|language| language.test_game_waits(&name));
        Ok(self.confirm(&address(fields.text("event")), done))
    }

    /// Takes the accounts away of engines whose test games are over.
    fn drop_testers(&self, house: &mut House) -> Result<(), Refusal> {
        let port = house.address().map(|at| at.port());
        let is_done = |account: &Account| {
            let is_test = |seat: &ClientConfig| seat.login.name == account.name && Some(seat.port) == port;
            account.name.starts_with(TESTER)
                && matches!(self.event(&account.name), Ok(Event::Seat(seat)) if is_test(&seat))
                && self.listing(&account.name).is_some_and(|seat| seat.state == "over")
        };
        let (done, kept) = mem::take(&mut house.accounts).into_iter().partition(is_done);
        house.accounts = kept;
        let names: Vec<Account> = done;
        names.iter().try_for_each(|account| remove(house, &account.name))
    }

    /// Gives a guest a password: the one that was typed, or one that is made here.
    fn admit(&self, house: &House, event: &str, name: &str, typed: &str) -> Result<Issued, Refusal> {
        let random = web::accounts::random();
        let made = random.chars().filter(char::is_ascii_alphanumeric).take(LETTERS);
        let password = if typed.is_empty() { made.collect() } else { typed.to_owned() };
        let hash = password::hash(&password).map_err(|_| Refusal::bad(Language::password_form))?;
        match house.serve.login {
            Login::Accounts => _ = set_account(house.event.database(), name, &hash).map_err(refused)?,
            Login::Invitation => self.invite(event, name, Some(&hash))?,
            Login::Open => return Err(Refusal::bad(Language::no_registration_needed)),
        }
        Ok(Issued { name: name.to_owned(), password })
    }
}

/// The page.
pub(crate) fn page(Asked { desk, words, fields, done }: Asked) -> Result<Page, Refusal> {
    let (name, issued) = (fields.text("event"), desk.0.issued.take(&fields));
    let mut house = desk.house(name)?;
    desk.drop_testers(&mut house)?;
    let title = format!("{}: {}", words.guests(), house.event.name());
    let registers = registers(house.serve.login);
    let content = html! {
        div.head { h1 { (title) } @if house.now.is_some() { a href={ "/e/" (percent(name)) "/" } { (words.boards_and_evaluations()) } } }
        (confirmed(words, done.as_ref()))
        (house.there(words))
        @match house.serve.login {
            Login::Open => p { @if house.is_league() { (words.anybody_may()) } @else { (words.entrants_show_their_secret()) } },
            Login::Accounts => (house.admits(words, name, house.accounts.iter().map(|account| account.name.as_str()))),
            Login::Invitation => {
                p { (words.change_counts_when_begun()) }
                (house.admits(words, name, house.serve.invited.iter().map(|line| line.split(':').next().unwrap_or_default())))
            }
        }
        (house.lines(words, issued.as_ref(), fields.text("game"), registers))
        (house.test(words, name, fields.text("game"), &desk.library().unwrap_or_default()))
    };
    Ok(Page::new(title, "/", content).with(&["copy.js", "times.js"]))
}

impl House {
    /// The name of the next tester: one that nobody plays under, and that no event has.
    fn tester(&self, place: &Place) -> String {
        let is_taken = |name: &String| {
            let logged_in = self.now.iter().any(|(list, _)| list.players.iter().any(|it| it.name == *name));
            let has_account = self.accounts.iter().any(|account| account.name == *name);
            logged_in || has_account || place.new_name(name) != *name
        };
        let mut names = (2..).map(|number| format!("{TESTER}-{number}"));
        Some(TESTER.to_owned())
            .filter(|name| !is_taken(name))
            .or_else(|| names.find(|name| !is_taken(name)))
            .unwrap_or_default()
    }

    /// When the next game of the league begins.
    fn next(&self, words: Language) -> Markup {
        let at = |rounds: &RoundsConfig| Some((rounds.next(0, journal::now())?, rounds.game.clone()));
        // Rounds after a span of time begin by the start of the league.
        let by_clock = self.serve.rounds.iter().filter(|rounds| rounds.every.is_none());
        html! { @if self.is_league() { p role="status" { @match by_clock.filter_map(at).min() {
            Some((at, game)) => { (words.next_round()) ": " strong { (time(at)) } " · " code { (game) } },
            None => (words.game_begins_when_two_ask()),
        } } } }
    }

    /// Who is logged in, who is expected, and what comes next.
    fn there(&self, words: Language) -> Markup {
        let Some((list, _)) = &self.now else { return html! { p { (words.guests_when_begun()) } } };
        html! {
            (self.next(words))
            h2 { (words.players()) " (" (words.players_here(list.players.len()))
                @if !list.absent.is_empty() { (words.players_absent(list.absent.len())) } ")" }
            @let is_here = |name: &str| list.players.iter().any(|player| player.name == name);
            ul {
                @for player in &list.players { li { strong { (player.name) } " " (player.address) } }
                @for account in self.accounts.iter().filter(|account| !is_here(&account.name)) {
                    li { (account.name) " – " (words.is_absent()) }
                }
                @for name in &list.absent { li { (name) " – " (words.is_absent()) } }
            }
        }
    }

    /// Those who may log in, and the form for one more.
    fn admits<'a>(&self, words: Language, event: &str, names: impl Iterator<Item = &'a str>) -> Markup {
        html! {
            h2 { (words.who_may_log_in()) }
            @for name in names {
                form.order.line method="post" action="/guests" {
                    input type="hidden" name="event" value=(event);
                    input type="hidden" name="name" value=(name);
                    strong { (name) }
                    button name="order" value="admit" { (words.another_password()) }
                    button name="order" value="remove" { (words.remove_guest()) }
                }
            }
            form.order.line method="post" action="/guests" {
                input type="hidden" name="event" value=(event);
                label { span { (words.name()) } input name="name" maxlength="32" required autocomplete="off" spellcheck="false" list="entrants"; }
                label { span { (words.password_or_none()) } input name="password" maxlength="128" autocomplete="off" spellcheck="false"; }
                button name="order" value="admit" { (words.let_in()) }
            }
            datalist id="entrants" { @for name in self.entrants() { option value=(name) {} } }
        }
    }

    fn is_league(&self) -> bool {
        matches!(self.event, Event::League(_))
    }

    /// The players of an event who log in.
    fn entrants(&self) -> impl Iterator<Item = &str> {
        let engines = match &self.event {
            Event::Arranged { plan, .. } => &plan.engines[..],
            _ => &[],
        };
        engines.iter().filter(|engine| engine.remote).map(|engine| engine.name.as_str())
    }

    /// Where guests log in.
    fn address(&self) -> Option<SocketAddr> {
        let at = self.now.as_ref().and_then(|(_, entrance)| entrance.plain.first());
        at.or(self.serve.listen.first()).copied()
    }

    /// The order of a test game, where the league lets an engine in at once.
    fn test(&self, words: Language, event: &str, asked: &str, engines: &[LibraryEngine]) -> Markup {
        let is_possible = self.is_league() && self.now.is_some() && self.serve.login != Login::Invitation;
        let ready = || engines.iter().filter(|engine| !engine.inactive && engine.missing.is_none());
        html! { @if is_possible && ready().next().is_some() {
            h2 { (words.test_game()) }
            p { (prose(&words.what_test_game_does(TESTER))) }
            form.order.line method="post" action="/guests" {
                input type="hidden" name="event" value=(event);
                input type="hidden" name="game" value=(asked);
                label { span { (words.engine_that_plays()) } select name="engine" { @for engine in ready() { option { (engine.plan.name) } } } }
                button name="order" value="test" { (words.begin()) }
            }
        } }
    }

    /// What a guest is sent: the password that was just given, or what stands in its place.
    fn lines(&self, words: Language, issued: Option<&Issued>, asked: &str, registers: Registers) -> Markup {
        let at = self.address();
        let (host, port) =
            at.map_or_else(Default::default, |at| (host(at).to_string(), at.port().to_string()));
        let secret =
            if registers == Registers::Accounts { words.word_password() } else { words.word_secret() };
        let (name, secret) = match issued {
            Some(Issued { name, password }) => (name.as_str(), password.as_str()),
            None => (words.word_name(), secret),
        };
        let game = self.game(asked);
        let password = game.as_ref().map_or_else(|| secret.to_owned(), |game| format!("{game},{secret}"));
        html! {
            h2 { (words.lines_for_guests()) @if issued.is_some() { ": " (name) } }
            @if issued.is_some() { p.done role="status" { (words.password_is_shown_once()) } }
            @if at.is_some_and(|at| at.ip().is_loopback()) { p { (prose(words.only_this_machine_comes_in())) } }
            @if self.is_league() { p { (words.game_names()) } }
            (settings(words, (&host, &port), name, &password))
        }
    }

    /// The game that guests name as they log in; `None` where an event that does not run says it later.
    fn game(&self, asked: &str) -> Option<String> {
        let running = self.now.as_ref().map(|(_, entrance)| &entrance.games);
        let known = match running {
            Some(Games::League(games) | Games::Event(games)) => games.first().cloned(),
            None => self.serve.rounds.first().map(|rounds| rounds.game.clone()),
        };
        let chosen = || Some(asked).filter(|asked| !asked.is_empty()).unwrap_or(GAME).to_owned();
        known.or_else(|| self.is_league().then(chosen))
    }
}

/// The address of this machine, where it listens on all of them.
fn host(at: SocketAddr) -> IpAddr {
    let own = || platform::network::own_address().unwrap_or(Ipv4Addr::LOCALHOST.into());
    if at.ip().is_unspecified() { own() } else { at.ip() }
}
