//! What the form of an event wants changed, and the text of its file with the change.

use crate::{
    change::Shown,
    fields::Fields,
    library::{Library, LibraryError, name_of, set},
    refused,
};
use std::ops::RangeInclusive;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value, value};
use web::refusals::Refusal;
use words::{Language, Message};

/// Most games that a field takes.
pub const GAMES: RangeInclusive<usize> = 1..=1_000_000;
/// Most games at once that a field takes.
pub const AT_ONCE: RangeInclusive<usize> = 1..=10_000;
/// What the name of a field begins with that says what becomes of a player; its name follows.
pub const PLAYER: &str = "player:";
/// The value of a player who is taken out.
pub const OUT: &str = "out";
/// What the value begins with of a player whose place another engine takes.
pub const BY: &str = "by:";

/// Why nothing was changed, and the field where that stands.
pub struct Wrong {
    pub field: &'static str,
    pub why: Message,
}

impl From<Refusal> for Wrong {
    fn from(refusal: Refusal) -> Self {
        Self { field: "", why: refusal.message }
    }
}

/// What is changed, as far as it differs from what the form has shown.
#[derive(Debug, Default)]
pub struct Wish {
    pub at_once: Option<usize>,
    pub games: Option<usize>,
    pub out: Vec<String>,
    /// Players, each with the engine of the library that plays in its place.
    pub replaced: Vec<(String, String)>,
    pub joins: Option<String>,
    /// What `hall.toml` is to have; an empty text: nothing.
    pub until: Option<String>,
}

impl Wish {
    pub fn of(fields: &Fields, shown: &Shown) -> Result<Self, Wrong> {
        // What was played cannot become too much.
        let known = shown.games.and_then(|known| usize::try_from(known).ok());
        let least = known.filter(|_| shown.has_games).unwrap_or(*GAMES.start());
        let out = fields.beginning(PLAYER).filter(|(_, fate)| *fate == OUT).map(|(name, _)| name.to_owned());
        let by = |(name, fate): (&str, &str)| Some((name.to_owned(), fate.strip_prefix(BY)?.to_owned()));
        Ok(Self {
            at_once: number(fields, "at-once", shown.at_once, &AT_ONCE)?,
            games: number(fields, "games", shown.games, &(least..=*GAMES.end()))?,
            out: out.collect(),
            replaced: fields.beginning(PLAYER).filter_map(by).collect(),
            joins: Some(fields.text("joins").to_owned()).filter(|name| !name.is_empty()),
            until: until(fields, &shown.until),
        })
    }

    /// True if the file gets engines.
    pub fn brings_engines(&self) -> bool {
        self.joins.is_some() || !self.replaced.is_empty()
    }

    /// The text of the file with the change.
    pub fn written(&self, shown: &Shown, library: &Library) -> Result<String, Refusal> {
        let mut document: DocumentMut = shown.text.parse().map_err(refused)?;
        for (key, number) in [("concurrency", self.at_once), ("games", self.games)] {
            number.map_or(Ok(()), |number| set_in_event(&mut document, key, number))?;
        }
        if !self.out.is_empty() || self.brings_engines() {
            let engines = document.entry("engines").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
            let engines = engines.as_array_of_tables_mut();
            let engines = engines.ok_or_else(|| Refusal::bad(Language::change_the_file))?;
            self.change_players(engines, shown.has_games, library)?;
        }
        Ok(document.to_string())
    }

    /// A player whose games may count keeps its place in the file, where it plays no more.
    fn change_players(
        &self,
        engines: &mut ArrayOfTables,
        has_games: bool,
        library: &Library,
    ) -> Result<(), Refusal> {
        let new = |name: &str| library.for_event(name).map_err(|error: LibraryError| refused(error));
        for name in &self.out {
            let at = place_of(engines, name)?;
            if !has_games {
                engines.remove(at);
            } else if let Some(table) = engines.get_mut(at) {
                set(table, "withdrawn", Some(true.into()));
            }
        }
        for (name, by) in &self.replaced {
            let (at, mut table) = (place_of(engines, name)?, new(by)?);
            if has_games && name != by {
                table.insert("replaces", value(name));
                append(engines, table);
            } else if let Some(known) = engines.get_mut(at) {
                table.set_position(known.position());
                *known = table;
            }
        }
        self.joins.iter().try_for_each(|name| new(name).map(|table| append(engines, table)))
    }

    /// What was done, for the next page.
    pub fn done(&self, name: &str, is_held: bool) -> Message {
        Message::of(|language| {
            let mut done = vec![];
            done.extend(self.at_once.map(|most| language.games_at_once_now(name, most)));
            done.extend(self.out.iter().map(|engine| language.engine_is_out(engine, name)));
            let replaced = self.replaced.iter();
            done.extend(replaced.map(|(engine, by)| language.engine_is_replaced(engine, by, name)));
            done.extend(self.joins.iter().map(|engine| language.engine_is_added(engine, name)));
            done.extend(self.until.as_ref().map(|until| match until.as_str() {
                "" => language.no_deadline(name),
                until => language.no_game_after(name, until),
            }));
            done.extend(self.games.map(|_| match is_held {
                true => language.event_is_kept(name),
                false => language.file_is_taken_up(name),
            }));
            if done.is_empty() { language.saved().to_owned() } else { done.join("\n") }
        })
    }
}

fn place_of(engines: &ArrayOfTables, name: &str) -> Result<usize, Refusal> {
    let found = engines.iter().position(|table| name_of(table) == name);
    found.ok_or_else(|| Refusal::bad(Language::no_such_engine_here))
}

fn append(engines: &mut ArrayOfTables, mut table: Table) {
    // Behind what the file has.
    table.set_position(None);
    engines.push(table);
}

/// A number that differs from the known one.
fn number(
    fields: &Fields,
    field: &'static str,
    known: Option<u64>,
    range: &RangeInclusive<usize>,
) -> Result<Option<usize>, Wrong> {
    let (least, most, text) = (*range.start(), *range.end(), fields.text(field));
    if text.is_empty() || known.is_some_and(|known| known.to_string() == text) {
        return Ok(None);
    }
    let number = text.parse().ok().filter(|number| range.contains(number));
    let why = || Message::of(|language| language.number_from_to(least, most));
    number.map(Some).ok_or_else(|| Wrong { field, why: why() })
}

fn set_in_event(document: &mut DocumentMut, key: &str, number: usize) -> Result<(), Refusal> {
    let table = document.entry("event").or_insert(Item::Table(Table::new()));
    let table = table.as_table_mut().ok_or_else(|| Refusal::bad(Language::change_the_file))?;
    set(table, key, Some(Value::from(i64::try_from(number).unwrap_or(i64::MAX))));
    Ok(())
}

/// A time of `hall.toml` as browsers write one, and its difference from UTC; `None` for a time of every day.
pub fn moment(until: &str) -> Option<(String, &str)> {
    let mut words = until.split_whitespace();
    let (day, time, offset) = (words.next()?, words.next()?, words.next()?);
    day.contains('-').then(|| (format!("{day}T{time}"), offset))
}

/// The end of its hours, if the form changes it: as browsers write a time, and the difference from UTC that a script has added.
fn until(fields: &Fields, known: &str) -> Option<String> {
    let sent = fields.all("until").next()?.replace('T', " ");
    let is_hidden = sent.is_empty() && moment(known).is_none();
    let wanted = if sent.is_empty() { sent } else { format!("{sent} {}", fields.text("offset")) };
    Some(wanted.trim().to_owned()).filter(|wanted| wanted != known && !is_hidden)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Place;

    #[test]
    fn a_number_out_of_its_range_is_refused_at_its_field_with_the_range() {
        let of = |text: &str| number(&Fields::of(&[("at-once", text)]), "at-once", Some(4), &AT_ONCE);
        assert!(matches!((of(" 12 "), of("4"), of("")), (Ok(Some(12)), Ok(None), Ok(None))));
        for wrong in ["0", "10001", "-1", "many"] {
            let refused = of(wrong).err().unwrap();
            assert!(refused.field == "at-once" && refused.why.to_string().contains("1 to 10000"), "{wrong}");
        }
    }

    #[test]
    fn a_deadline_is_changed_where_the_form_says_another_one() {
        let of = |until: &str, known: &str| {
            super::until(&Fields::of(&[("until", until), ("offset", "+09:00")]), known)
        };
        let known = "2020-01-01 22:00 +09:00";
        assert_eq!(of("2020-01-01T22:00", known), None);
        assert_eq!(of("2020-01-01T23:00", known), Some("2020-01-01 23:00 +09:00".to_owned()));
        assert_eq!((of("", known), of("", "")), (Some(String::new()), None));
        assert_eq!(of("", "22:00"), None, "the form cannot show a time of every day");
    }

    #[test]
    fn an_engine_leaves_or_gives_its_place_away_and_what_has_played_keeps_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let mut library = Library::open(&Place::new(dir.path().to_owned())).unwrap();
        ["a", "new"].iter().for_each(|name| drop(library.add(name, dir.path())));
        let text = "[event]\nname = \"cup\" # ours\ngames = 2 # each\n[[engines]]\nname = \"a\"\ncommand = \"gone\"\n\
                    [[engines]]\nname = \"b\" # second\ncommand = \"x\"\n[http]\nlisten = []\n";
        let written = |fields: &[(&str, &str)], has_games| {
            let shown = Shown { text: text.to_owned(), has_games, games: Some(2), ..Shown::default() };
            let wish = Wish::of(&Fields::of(fields), &shown).unwrap_or_else(|wrong| panic!("{}", wrong.why));
            wish.written(&shown, &library).map_err(|refusal| refusal.message.to_string())
        };
        let has = |fields: &[(&str, &str)], has_games, parts: &[&str]| {
            let text = written(fields, has_games).unwrap();
            parts.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
            text
        };
        assert_eq!(written(&[("games", "2")], false).unwrap(), text, "nothing differs");
        has(&[("games", "8")], false, &["name = \"cup\" # ours\ngames = 8 # each\n"]);
        let gone = has(&[("player:b", "out")], false, &["name = \"a\""]);
        assert!(!gone.contains("\"b\""), "{gone}");
        has(&[("player:b", "out")], true, &["name = \"b\" # second\ncommand = \"x\"\nwithdrawn = true\n"]);
        let swapped = has(&[("player:b", "by:new")], false, &["name = \"new\""]);
        assert!(!swapped.contains("\"b\"") && swapped.find("new") < swapped.find("[http]"), "{swapped}");
        has(
            &[("player:b", "by:new")],
            true,
            &["name = \"b\" # second", "name = \"new\"", "replaces = \"b\""],
        );
        let mended = has(&[("player:a", "by:a")], true, &["name = \"a\"", "name = \"b\" # second"]);
        assert!(!mended.contains("gone") && !mended.contains("replaces"), "as the library has it: {mended}");
        assert!(written(&[("player:nobody", "out")], false).unwrap_err().contains("no engine of this name"));
    }
}
