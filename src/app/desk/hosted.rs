//! The kinds of events in which others decide when games begin: a league for guests, and an engine's seat on a server.

use crate::{
    fields::{Fields, number, quoted},
    form::{Form, choice, field, offered, wrong},
    library::{Library, LibraryError},
};
use maud::{Markup, html};
use toml_edit::{Array, DocumentMut, Item};
use words::Language;

/// What a league is called, as its name is a part of ids of games.
const LEAGUE: &str = "league";
const FLOODGATE: (&str, &str) = ("floodgate", "wdoor.c.u-tokyo.ac.jp");
const PORT: &str = "4081";
/// The game of rounds, and the minutes of the hour at which they begin.
const ROUNDS: (&str, &str) = ("floodgate-600-10F", "0, 30");
/// The game on floodgate.
const GAME: &str = "floodgate-300-10F";
/// Moves after which a game of a league is drawn.
const MOVES: &str = "256";

fn or<'a>(fields: &'a Fields, name: &str, usual: &'a str) -> &'a str {
    Some(fields.text(name)).filter(|text| !text.is_empty()).unwrap_or(usual)
}

/// Words between commas or on lines of their own.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', '、', '\n']).map(str::trim).filter(|word| !word.is_empty())
}

/// The text of a league whose file has this name.
pub(crate) fn league(fields: &Fields, file: &str) -> String {
    let (login, port) = (or(fields, "login", "accounts"), or(fields, "port", PORT));
    let address = if or(fields, "reach", "house") == "house" { "0.0.0.0" } else { "127.0.0.1" };
    let mut text = format!(
        "# Written by the desk. `renmei serve` plays this file, too.\n\n[serve]\n\
         name = {}  # in the database, and in the id of every game\n\
         database = {}\n\
         listen = [{}]  # \"0.0.0.0:..\": everybody in the house; \"127.0.0.1:..\": this machine alone\n\
         max_moves = {}\n\
         login = {}  # who may log in: \"accounts\", \"invitation\" or \"open\"\n",
        quoted(or(fields, "name", LEAGUE)),
        quoted(&format!("{file}.db")),
        quoted(&format!("{address}:{port}")),
        number(fields, "max_moves", MOVES),
        quoted(login),
    );
    if login == "invitation" {
        let invited: Array = words_of(fields.text("invited")).collect();
        text += &format!("invited = {invited}\n");
    }
    if fields.text("pairing") == "rounds" {
        let minute =
            |word: &str| word.parse::<u8>().map_or_else(|_| quoted(word), |minute| minute.to_string());
        let minutes: Vec<String> = words_of(or(fields, "minutes", ROUNDS.1)).map(minute).collect();
        text += &format!(
            "\n[[serve.rounds]]\ngame = {}\nminutes = [{}]  # of every hour\n",
            quoted(or(fields, "game", ROUNDS.0)),
            minutes.join(", ")
        );
    }
    text
}

/// The text of an engine's seat on a server.
pub(crate) fn seat(fields: &Fields, library: &Library) -> Result<String, LibraryError> {
    let (name, host) = FLOODGATE;
    let (game, secret) = (or(fields, "game", GAME), fields.text("secret"));
    let login = if fields.is("extended") {
        format!("mode = \"x1\"\ngame = {}\npassword = {}", quoted(game), quoted(secret))
    } else {
        let password = quoted(&format!("{game},{secret}"));
        format!("password = {password}  # the game, a comma, and a secret that makes the name yours")
    };
    let mut text = format!(
        "# Written by the desk. `renmei floodgate` plays this file, too.\n\n[floodgate]\n\
         name = {}\nhost = {}\nport = {}\nlogin = {}\n{login}\n",
        quoted(or(fields, "name", name)),
        quoted(or(fields, "host", host)),
        number(fields, "port", PORT),
        quoted(fields.text("login")),
    );
    if fields.is("games") {
        text += &format!("games = {}\n", number(fields, "games", ""));
    }
    let mut document: DocumentMut = text.parse()?;
    if fields.is("engine") {
        let mut table = library.for_event(fields.text("engine"))?;
        // The server says how much time there is.
        table.remove("time");
        table.set_position(None);
        document.insert("engine", Item::Table(table));
    }
    Ok(document.to_string())
}

/// The fields of the form of a league.
pub(crate) fn fields_of_league(words: Language, form: &Form) -> Markup {
    html! {
        (field(form, "name", words.name_of_league(), LEAGUE, true))
        div.columns {
            (choice(form, "reach", words.who_reaches_it(), &[("house", words.everybody_in_the_house()), ("here", words.this_machine_alone())]))
            (field(form, "port", words.port_field(), PORT, true))
        }
        (choice(form, "login", words.who_may_log_in(), &[
            ("accounts", words.those_with_account()), ("invitation", words.those_invited()), ("open", words.anybody_at_all()),
        ]))
        div.where-invitation { (field(form, "invited", words.names_invited(), "", false)) }
        (choice(form, "pairing", words.how_games_begin(), &[("agreement", words.by_agreement()), ("rounds", words.by_rounds())]))
        div.where-rounds {
            (field(form, "game", words.game_of_rounds(), ROUNDS.0, false))
            (field(form, "minutes", words.minutes_of_rounds(), ROUNDS.1, false))
        }
        (field(form, "max_moves", words.draw_after(), MOVES, true))
    }
}

/// The fields of the form of a seat.
pub(crate) fn fields_of_seat(words: Language, form: &Form) -> Markup {
    let (name, host) = FLOODGATE;
    html! {
        (field(form, "name", words.name_of_event(), name, true))
        label { span { (words.engine_that_plays()) }
            select name="engine" { @for engine in offered(form) {
                option value=(engine.plan.name) selected[form.fields.text("engine") == engine.plan.name] { (engine.plan.name) }
            } }
            (wrong(form, "engine"))
        }
        div.columns {
            (field(form, "host", words.host(), host, true))
            (field(form, "port", words.port_field(), PORT, true))
        }
        (field(form, "login", words.name_on_the_server(), "", true))
        (field(form, "secret", words.secret_of_your_own(), "", true))
        div.columns {
            (field(form, "game", words.name_of_the_game(), GAME, true))
            (field(form, "games", words.games_until_over(), "", false))
        }
        label.tick { input type="checkbox" name="extended" value="1" checked[form.fields.is("extended")]; span { (words.in_extended_mode()) } }
    }
}
