//! The configuration of a new event, as a person would write it.

use crate::{
    clock,
    fields::{Fields, number, quoted},
    hosted,
    library::{Library, LibraryError, set},
    place::Place,
};
use plan::{Environment, Event, Faults};
use std::path::Path;
use toml_edit::{ArrayOfTables, DocumentMut, Item};
use web::components::Icon;
use words::{Language, Phrase};

/// A kind of event that forms make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum Kind {
    Match,
    Sprt,
    League,
    Gauntlet,
    Swiss,
    Knockout,
    /// A league whose players log in.
    Guests,
    /// An engine on a server.
    Floodgate,
}

impl Kind {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its word in forms.
    pub fn word(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Sprt => "sprt",
            Self::League => "league",
            Self::Gauntlet => "gauntlet",
            Self::Swiss => "swiss",
            Self::Knockout => "knock-out",
            Self::Guests => "guests",
            Self::Floodgate => "floodgate",
        }
    }

    /// The kind of a word; a league for every other one.
    pub fn of(word: &str) -> Self {
        Self::ALL.iter().copied().find(|kind| kind.word() == word).unwrap_or(Self::League)
    }

    /// The format of `[event]`.
    pub fn format(self) -> &'static str {
        match self {
            Self::Match | Self::League => "round-robin",
            other => other.word(),
        }
    }

    pub fn name(self) -> Phrase {
        match self {
            Self::Match => Language::kind_match,
            Self::Sprt => Language::kind_sprt,
            Self::League => Language::kind_league,
            Self::Gauntlet => Language::kind_gauntlet,
            Self::Swiss => Language::kind_swiss,
            Self::Knockout => Language::kind_knock_out,
            Self::Guests => Language::kind_guests,
            Self::Floodgate => Language::kind_floodgate,
        }
    }

    pub fn about(self) -> Phrase {
        match self {
            Self::Match => Language::about_match,
            Self::Sprt => Language::about_sprt,
            Self::League => Language::about_league,
            Self::Gauntlet => Language::about_gauntlet,
            Self::Swiss => Language::about_swiss,
            Self::Knockout => Language::about_knock_out,
            Self::Guests => Language::about_guests,
            Self::Floodgate => Language::about_floodgate,
        }
    }

    pub fn icon(self) -> Icon {
        match self {
            Self::Match => Icon::Match,
            Self::Sprt => Icon::Test,
            Self::League => Icon::League,
            Self::Gauntlet => Icon::Gauntlet,
            Self::Swiss => Icon::Swiss,
            Self::Knockout => Icon::Knockout,
            Self::Guests => Icon::Guests,
            Self::Floodgate => Icon::Server,
        }
    }

    /// True if others decide when its games begin.
    pub fn is_hosted(self) -> bool {
        matches!(self, Self::Guests | Self::Floodgate)
    }

    /// True if one engine stands before the others: it is tested, or challenges them.
    pub fn has_candidate(self) -> bool {
        matches!(self, Self::Sprt | Self::Gauntlet)
    }

    /// True if a table ranks its players.
    pub fn has_table(self) -> bool {
        matches!(self, Self::League | Self::Gauntlet | Self::Swiss)
    }

    /// True if a knock-out of the first may follow.
    pub fn may_have_final(self) -> bool {
        matches!(self, Self::League | Self::Swiss)
    }

    /// Games of an encounter, where nobody says it.
    pub fn games(self) -> &'static str {
        match self {
            Self::Match => "100",
            Self::Swiss => "1",
            _ => "2",
        }
    }
}

/// Real events whose rules, rounds and clock a new event can have: the word in forms, the name, the file.
pub const PRESETS: [(&str, Phrase, &str); 4] = [
    ("denryu", Language::preset_denryu, include_str!("../../../configs/denryu.toml")),
    ("tsec", Language::preset_tsec, include_str!("../../../configs/tsec.toml")),
    ("sdt", Language::preset_sdt, include_str!("../../../configs/sdt.toml")),
    ("wcsc", Language::preset_wcsc, include_str!("../../../configs/wcsc.toml")),
];

/// Clocks that the form offers.
pub const CLOCKS: [&str; 7] =
    ["byoyomi 1s", "byoyomi 3s", "byoyomi 10s", "5m+2s", "10m byoyomi 10s", "300s+10s", "nodes 10000"];
/// Orders of players with equal scores, beside the usual one of a format.
const TIE_BREAKS: [(&str, &str); 2] = [
    ("direct", "order = [\"direct-encounter\", \"sonneborn-berger\"]"),
    (
        "japan",
        "order = [\"buchholz\", \"sonneborn-berger\", \"median\", \"direct-encounter\", \"seed\"]\nbye = \"nothing\"",
    ),
];
/// Moves after which a game is drawn, where nobody says it.
pub const MOVES: &str = "320";

/// The text of an event from the fields of the form, for a file of this name without `.toml`.
pub fn text(fields: &Fields, library: &Library, file: &str) -> Result<String, LibraryError> {
    match Kind::of(fields.text("kind")) {
        Kind::Guests => Ok(hosted::league(fields, file)),
        Kind::Floodgate => hosted::seat(fields, library),
        kind => arranged(kind, fields, library),
    }
}

/// The text of an event whose games are arranged here.
fn arranged(kind: Kind, fields: &Fields, library: &Library) -> Result<String, LibraryError> {
    let preset = PRESETS.iter().find(|(word, ..)| *word == fields.text("preset"));
    let mut document = match preset {
        Some((.., text)) => like_preset(text, fields)?,
        None => head(kind, fields).parse()?,
    };
    let mut engines = ArrayOfTables::new();
    let candidate = Some(fields.text("candidate")).filter(|name| kind.has_candidate() && !name.is_empty());
    let others = fields.all("engine").filter(|name| Some(*name) != candidate);
    for name in candidate.into_iter().chain(others) {
        let mut table = library.for_event(name)?;
        // Behind what the head has.
        table.set_position(None);
        engines.push(table);
    }
    document.insert("engines", Item::ArrayOfTables(engines));
    Ok(document.to_string())
}

/// Everything of a real event but its engines and its network: its comments, too, which say where its rules are from.
fn like_preset(text: &str, fields: &Fields) -> Result<DocumentMut, LibraryError> {
    let mut document: DocumentMut = text.parse()?;
    ["serve", "defaults", "http", "engines"].iter().for_each(|key| _ = document.remove(key));
    if let Some(event) = document.get_mut("event").and_then(Item::as_table_mut) {
        set(event, "database", None);
        set(event, "name", Some(fields.text("name").into()));
    }
    Ok(document)
}

/// Everything but the engines.
fn head(kind: Kind, fields: &Fields) -> String {
    let mut text = String::from("# Written by the desk. `renmei run` plays this file, too.\n\n[event]\n");
    let mut line = |line: String| {
        text += &line;
        text.push('\n');
    };
    line(format!("name = {}", quoted(fields.text("name"))));
    if fields.is("concurrency") {
        line(format!("concurrency = {}  # games at once", number(fields, "concurrency", "1")));
    }
    if fields.is("replay_draws") && kind != Kind::Sprt {
        line(format!(
            "replay_draws = {}  # drawn games are played again",
            quoted(fields.text("replay_draws"))
        ));
    }
    let has_final = fields.is("final") && kind.may_have_final();
    if has_final {
        line("\n[[stage]]".to_owned());
    }
    line(format!("format = {}", quoted(kind.format())));
    if kind != Kind::Sprt {
        line(format!("games = {}  # of an encounter", number(fields, "games", kind.games())));
    }
    if kind == Kind::Swiss {
        line(format!("rounds = {}", number(fields, "rounds", "5")));
    }
    if kind == Kind::Knockout && fields.is("tie") {
        line(format!("tie = {}  # decides a level encounter", quoted(fields.text("tie"))));
    }
    if has_final {
        line("\n[[stage]]\nformat = \"knock-out\"".to_owned());
        line(format!("entrants = {}  # the first of the stage before", number(fields, "final", "4")));
        line("games = 2\ntie = \"more-games\"".to_owned());
    }
    let tie_breaks = TIE_BREAKS.iter().find(|(word, _)| *word == fields.text("tiebreaks"));
    if let Some((_, keys)) = tie_breaks.filter(|_| kind.has_table()) {
        line(format!("\n[tiebreaks]\n{keys}"));
    }
    if kind == Kind::Sprt {
        line(format!(
            "\n[sprt]\nelo0 = {}  # H0: the first engine is no stronger than this\nelo1 = {}  # H1: it is as strong as this",
            number(fields, "elo0", "0"),
            number(fields, "elo1", "10")
        ));
    }
    line(format!("\n[time]\ncontrol = {}", quoted(&clock::of_form(fields))));
    line(format!("\n[rules]\nmax_moves = {}", number(fields, "max_moves", MOVES)));
    let file = Some(fields.text("openings_file")).filter(|file| !file.is_empty());
    match file.unwrap_or_else(|| fields.text("openings")) {
        "" | "built-in" => line("\n[openings]\nfile = \"built-in\"\norder = \"random\"".to_owned()),
        "none" => {}
        file => line(format!("\n[openings]\nfile = {}", quoted(file))),
    }
    if fields.is("adjudicate") {
        line("\n# A game that both engines see as decided ends early.".to_owned());
        line("[adjudication.resign]\nscore = 2000\nmoves = 4\ntwo_sided = true".to_owned());
    }
    text
}

/// Everything that is wrong with a text as the event of a new file in the directory.
pub fn check(place: &Place, text: &str) -> Result<Event, Faults> {
    check_as(place, Path::new("event.toml"), text)
}

/// The same for a file of this name, by which the event and its database are called where the text does not name them.
pub fn check_as(place: &Place, file: &Path, text: &str) -> Result<Event, Faults> {
    let unreadable = |error: std::io::Error| Faults::of_file(file, error.to_string());
    let environment = Environment::here(place.directory()).map_err(unreadable)?;
    Event::parse(text, Some(file), &environment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::field_of;
    use plan::serve::Login;

    fn desk() -> (tempfile::TempDir, Place, Library) {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path().to_owned());
        let mut library = Library::open(&place).unwrap();
        for name in ["one", "two", "three"] {
            library.add(name, &std::env::current_exe().unwrap());
        }
        library.write(&place).unwrap();
        (dir, place, library)
    }

    #[test]
    fn each_kind_of_event_is_right_with_nothing_but_its_engines() {
        let (_dir, place, library) = desk();
        for kind in Kind::ALL.iter().copied().filter(|kind| !kind.is_hosted()) {
            let engines = if kind == Kind::Sprt || kind == Kind::Match { 2 } else { 3 };
            let mut fields = vec![("kind", kind.word()), ("name", "a \"quoted\" name"), ("candidate", "two")];
            fields.extend(["one", "two", "three"].into_iter().take(engines).map(|name| ("engine", name)));
            let text = text(&Fields::of(&fields), &library, "cup").unwrap();
            let event =
                check(&place, &text).unwrap_or_else(|faults| panic!("{}: {faults}\n{text}", kind.word()));
            let Event::Arranged { plan, .. } = event else { panic!("{text}") };
            assert_eq!((plan.name.as_str(), plan.engines.len()), ("a \"quoted\" name", engines));
            let first = if kind.has_candidate() { "two" } else { "one" };
            assert_eq!(plan.engines[0].name, first, "{}", kind.word());
        }
    }

    #[test]
    fn draws_ties_finals_and_tie_breaks_of_the_form_are_those_of_the_plan() {
        let (_dir, place, library) = desk();
        let made = |kind, fields: &[(&str, &str)]| {
            let engines = ["one", "two", "three"].map(|name| ("engine", name));
            let fields = [&[("kind", kind), ("name", "cup")], &engines[..], fields].concat();
            let text = text(&Fields::of(&fields), &library, "cup").unwrap();
            check(&place, &text).map_err(|faults| (faults, text))
        };
        let plan = |kind, fields: &[(&str, &str)]| match made(kind, fields) {
            Ok(Event::Arranged { plan, .. }) => *plan,
            other => panic!("{kind}: {other:?}"),
        };
        let swiss = plan(
            "swiss",
            &[("final", "2"), ("rounds", "2"), ("tiebreaks", "japan"), ("replay_draws", "swap")],
        );
        assert_eq!((swiss.stages.len(), swiss.stages[1].entrants), (2, Some(2)));
        assert_eq!(swiss.ranking.tie_breaks.as_ref().map(Vec::len), Some(5));
        assert_ne!(swiss.replay_draws, plan("swiss", &[("rounds", "2")]).replay_draws);
        assert_eq!(
            plan("league", &[("tiebreaks", "direct")]).ranking.tie_breaks.as_ref().map(Vec::len),
            Some(2)
        );
        let (seeded, decided) = (plan("knock-out", &[]), plan("knock-out", &[("tie", "more-games")]));
        assert_ne!(seeded.stages[0].format, decided.stages[0].format);
        let (faults, text) = made("league", &[("final", "8")]).unwrap_err();
        assert!(faults.iter().any(|fault| field_of(&fault.key) == "final"), "{faults}\n{text}");
    }

    #[cfg(unix)]
    #[test]
    fn openings_that_are_a_pipe_are_a_fault_of_the_form_and_nobody_waits_for_them() {
        let (dir, place, library) = desk();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let openings = pipe.display().to_string();
        let fields = [("kind", "match"), ("engine", "one"), ("engine", "two"), ("openings", &openings)];
        let text = text(&Fields::of(&fields), &library, "cup").unwrap();
        let (sender, answer) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(check(&place, &text).map(drop)));
        let checked = answer.recv_timeout(std::time::Duration::from_secs(60)).expect("it waits for the pipe");
        let fault =
            format!("openings.file: `{openings}` cannot be read: it is a pipe or a device; name a regular");
        assert!(checked.is_err_and(|faults| faults.to_string().contains(&fault)), "{fault}");
    }

    #[test]
    fn the_rules_of_a_real_event_are_taken_with_engines_of_the_library() {
        let (_dir, place, library) = desk();
        for (preset, ..) in PRESETS {
            let fields = [
                ("preset", preset),
                ("name", "ours"),
                ("engine", "one"),
                ("engine", "two"),
                ("engine", "three"),
            ];
            let text = text(&Fields::of(&fields), &library, "cup").unwrap();
            // Three engines are too few for some of their stages.
            if let Err(faults) = check(&place, &text) {
                assert!(faults.iter().all(|fault| fault.key.starts_with("stage")), "{preset}: {faults}");
            }
            assert!(
                text.contains("name = \"ours\"") && text.contains("[[stage]]") && !text.contains("[serve]"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_fault_stands_at_its_field() {
        let (_dir, place, library) = desk();
        let faulty = [
            (("games", "many"), "games"),
            (("clock", "a while"), "clock"),
            (("openings", "/nowhere.sfen"), "openings"),
            (("concurrency", "-1"), "concurrency"),
            (("max_moves", "x\ny"), "max_moves"),
        ];
        for (field, at) in faulty {
            let fields = [("kind", "league"), ("name", "cup"), ("engine", "one"), ("engine", "two"), field];
            let text = text(&Fields::of(&fields), &library, "cup").unwrap();
            let faults = check(&place, &text).unwrap_err();
            assert!(faults.iter().any(|fault| field_of(&fault.key) == at), "{field:?}: {faults}");
        }
        let fields = Fields::of(&[("kind", "league"), ("name", "cup"), ("engine", "one")]);
        let faults = check(&place, &text(&fields, &library, "cup").unwrap()).unwrap_err();
        assert_eq!(field_of(&faults.iter().next().unwrap().key), "engine", "{faults}");
    }

    #[test]
    fn a_league_for_guests_needs_nothing_but_what_its_form_has() {
        let (_dir, place, library) = desk();
        let league = |fields: &[(&str, &str)]| {
            let fields = [&[("kind", "guests")], fields].concat();
            check(&place, &text(&Fields::of(&fields), &library, "friday").unwrap())
        };
        let Event::League(config) = league(&[]).unwrap() else { panic!("it is a league") };
        assert_eq!((config.name.as_str(), config.login), ("league", Login::Accounts));
        assert_eq!(config.database, place.directory().join("friday.db"));
        assert_eq!(config.listen, ["0.0.0.0:4081".parse::<std::net::SocketAddr>().unwrap()]);
        let rounds =
            [("pairing", "rounds"), ("reach", "here"), ("login", "invitation"), ("invited", "mori, kawa")];
        let Event::League(config) = league(&rounds).unwrap() else { panic!("it is a league") };
        assert_eq!((config.invited.len(), &config.rounds[0].minutes[..]), (2, &[0, 30][..]));
        assert!(config.listen[0].ip().is_loopback());
        for (faulty, at) in [
            (&[("name", "金曜 杯")][..], "name"),
            (&[("port", "x\n[http]")], "port"),
            (&[("login", "invitation")], "invited"),
            (&[("pairing", "rounds"), ("game", "cup-600-10")], "game"),
            (&[("pairing", "rounds"), ("minutes", "0, noon")], "minutes"),
        ] {
            let faults = league(faulty).unwrap_err();
            assert!(faults.iter().any(|fault| field_of(&fault.key) == at), "{faulty:?}: {faults}");
        }
    }

    #[test]
    fn a_seat_on_a_server_needs_a_name_a_secret_and_an_engine() {
        let (_dir, place, library) = desk();
        let seat = |fields: &[(&str, &str)]| {
            let fields = [&[("kind", "floodgate")], fields].concat();
            check(&place, &text(&Fields::of(&fields), &library, "floodgate").unwrap())
        };
        let whole = [("login", "mori"), ("secret", "abc"), ("engine", "two"), ("games", "3")];
        let Event::Seat(config) = seat(&whole).unwrap() else { panic!("it is a seat") };
        assert_eq!((config.host.as_str(), config.port), ("wdoor.c.u-tokyo.ac.jp", 4081));
        assert_eq!((config.login.password.as_str(), config.games), ("floodgate-300-10F,abc", Some(3)));
        assert_eq!(config.engine.name, "two");
        let extended = [&[("extended", "1"), ("game", "test-600-10")], &whole[..]].concat();
        let Event::Seat(config) = seat(&extended).unwrap() else { panic!("it is a seat") };
        assert_eq!(
            (config.login.password.as_str(), config.login.seek),
            ("abc", Some(("test-600-10".to_owned(), '*')))
        );
        for (at, left_out) in [("login", 0), ("secret", 1), ("engine", 2)] {
            let some: Vec<_> =
                whole.iter().enumerate().filter(|(n, _)| *n != left_out).map(|(_, f)| *f).collect();
            let faults = seat(&some).unwrap_err();
            assert!(faults.iter().any(|fault| field_of(&fault.key) == at), "{at}: {faults}");
        }
        assert!(matches!(
            text(&Fields::of(&[("kind", "floodgate"), ("engine", "x")]), &library, "f"),
            Err(LibraryError::NoEngine(_))
        ));
    }
}
