//! Reads a TOML document by the list of keys and notes a fault for every difference from the list.

use crate::{
    environment::Environment,
    fault::{Faults, Lines, Noted, nearest, shown},
    keys::{BUDGET_KEYS, ELSEWHERE, EVENT, FILES, Key, Kind, STAGE, Section},
    time_text,
};
use platform::files;
use serde::de::{DeserializeOwned, IntoDeserializer, value::Error as WordError};
use std::{
    cell::RefCell,
    collections::BTreeSet,
    fmt::Display,
    io,
    path::{Path, PathBuf},
    time::Duration,
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// Most characters of the name of an event or of an engine: it stands in lines, tables and names of files.
pub const NAME: usize = 128;

/// Shared by all tables of a document: its origin, and the faults so far.
pub struct Context<'a> {
    pub file: Option<&'a Path>,
    lines: Lines<'a>,
    pub environment: &'a Environment,
    faults: RefCell<Noted>,
}

impl Context<'_> {
    /// Notes a fault at a byte of the text.
    pub fn fault(&self, at: usize, key: &str, message: impl Display) {
        self.faults.borrow_mut().note(at, key, &message.to_string());
    }

    /// How often a fault was noted by now.
    pub fn faults(&self) -> usize {
        self.faults.borrow().notes()
    }

    /// True if a fault at a byte of the text, or behind it, would not be listed.
    pub fn is_full(&self, at: usize) -> bool {
        self.faults.borrow().is_full(at)
    }

    /// Counts faults that are not listed.
    pub fn pass_over(&self, faults: usize) {
        self.faults.borrow_mut().pass_over(faults);
    }

    /// Fails if there are faults by now.
    fn sound(&self) -> Result<(), Faults> {
        self.faults.borrow_mut().take(self.file, &self.lines).map_or(Ok(()), Err)
    }

    /// The name of the file without its extension, or `otherwise` for a text without a file.
    pub fn stem(&self, otherwise: &str) -> String {
        let stem = self.file.and_then(Path::file_stem);
        stem.map_or_else(|| otherwise.to_owned(), |stem| stem.to_string_lossy().into_owned())
    }

    /// `file:line` of a byte of the text, for faults that are found later.
    pub fn line(&self, at: usize) -> String {
        match self.file {
            Some(file) => format!("{}:{}", file.display(), self.lines.line(at)),
            None => "command line".to_owned(),
        }
    }
}

/// The text of a configuration file.
///
/// # Errors
/// When it cannot be read, is no regular file, or is larger than any configuration.
pub fn text_of(path: &Path) -> Result<String, Faults> {
    let unreadable = |error: io::Error| Faults::of_file(path, format!("cannot be read: {error}"));
    let text = files::contents(path, files::SMALL).map_err(unreadable)?;
    String::from_utf8(text).map_err(|fault| {
        let encoding = notation::record::encoding_of(fault.as_bytes());
        Faults::of_file(path, format!("is written in {encoding}; save it as UTF-8"))
    })
}

/// Reads a file, once; relative paths in it start from its directory.
///
/// # Errors
/// When the file cannot be read, and every fault that `meaning` finds.
pub fn read_file<T>(
    path: &Path,
    meaning: impl FnOnce(&str, &Environment) -> Result<T, Faults>,
) -> Result<T, Faults> {
    let unreadable = |error: io::Error| Faults::of_file(path, format!("cannot be read: {error}"));
    let text = text_of(path)?;
    let environment = Environment::here(path.parent().unwrap_or(path)).map_err(unreadable)?;
    meaning(&text, &environment)
}

/// What is wrong with `"C:\engines\a.exe"`.
const BACKSLASH: &str = r"a backslash in double quotes begins an escape; write paths in single quotes, as in 'C:\engines\engine.exe'";

/// Bytes of a text that are parsed at first, and what the next attempt has more of.
const HEAD: (usize, f64) = (64 * 1024, 1.5);
/// Errors in a part of a text after which the rest is not parsed: the parser keeps each of them.
const TOO_BROKEN: usize = 200;

/// The document and the errors of a text; of one that is broken throughout those of its first part.
fn parsed(text: &str) -> (Spanned<DeTable<'_>>, Vec<toml::de::Error>) {
    let mut bytes = HEAD.0;
    while bytes < text.len() {
        let head = &text[..text.floor_char_boundary(bytes)];
        // Not within a line, as far as there are lines: what is cut off would be an error of its own.
        let whole = head.rfind('\n').map_or(head, |end| &head[..=end]);
        let (document, errors) = DeTable::parse_recoverable(whole);
        if errors.len() > TOO_BROKEN {
            return (document, errors);
        }
        bytes = (bytes as f64 * HEAD.1) as usize;
    }
    DeTable::parse_recoverable(text)
}

/// Reads a document whose top level has the keys of one of `sections`: of the one that knows its tables, or else of the
/// first. `meaning` notes faults in the tables it reads.
///
/// # Errors
/// Every fault of the document.
pub fn read<T>(
    text: &str,
    file: Option<&Path>,
    environment: &Environment,
    sections: &[&'static Section],
    meaning: impl FnOnce(&Table<'_>) -> T,
) -> Result<T, Faults> {
    let context = Context { file, lines: Lines::of(text), environment, faults: RefCell::default() };
    let (document, errors) = parsed(text);
    for error in &errors {
        let span = error.span().unwrap_or_default();
        let key = if error.message() == "duplicate key" { &text[span.clone()] } else { "" };
        let message = match error.message() {
            escape if escape.starts_with("missing escaped value") => BACKSLASH,
            other => other,
        };
        context.fault(span.start, key, message);
    }
    // A broken line makes the keys after it wrong as well; those faults would mislead.
    context.sound()?;
    let section = section_of(sections, document.get_ref());
    refuse_other_file(&context, section, document.get_ref());
    context.sound()?;
    let root = Table::root(&context, section, document.get_ref());
    let meant = meaning(&root);
    root.refuse_unknown();
    context.sound().map(|()| meant)
}

fn section_of(sections: &[&'static Section], document: &DeTable<'_>) -> &'static Section {
    let given = FILES.iter().map(|(table, _)| *table).find(|table| document.contains_key(*table));
    let knows = |section: &&&'static Section| given.is_some_and(|table| section.key(table).is_some());
    sections.iter().find(knows).unwrap_or(&sections[0])
}

/// Notes the one fault of a file that is meant for another command; each of its keys would be another fault.
fn refuse_other_file(context: &Context<'_>, section: &Section, document: &DeTable<'_>) {
    let given = FILES.iter().filter(|(table, _)| document.contains_key(*table));
    let (ours, others): (Vec<_>, Vec<_>) = given.partition(|(table, _)| section.key(table).is_some());
    if let ([], [(table, command), ..]) = (&ours[..], &others[..]) {
        let at = document
            .iter()
            .find(|(name, _)| name.get_ref() == table)
            .map_or(0, |(name, _)| name.span().start);
        context.fault(at, table, format!("a file with this table is for {command}"));
    }
}

/// A table of the document; without layers, a table that the document lacks.
#[derive(Clone)]
pub struct Table<'a> {
    pub context: &'a Context<'a>,
    pub path: String,
    section: &'static Section,
    at: usize,
    /// The table itself, then the tables that provide the keys it lacks.
    layers: Vec<(String, &'a DeTable<'a>)>,
    asked: RefCell<BTreeSet<&'static str>>,
}

/// A value of the document.
#[derive(Clone)]
pub struct Item<'a> {
    pub context: &'a Context<'a>,
    pub path: String,
    pub at: usize,
    pub value: &'a DeValue<'a>,
}

/// A whole number, or the word that is allowed instead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum IntegerOr<T> {
    Integer(T),
    Word,
}

impl<'a> Table<'a> {
    /// The document itself.
    pub fn root(context: &'a Context<'a>, section: &'static Section, table: &'a DeTable<'a>) -> Self {
        let layers = vec![(String::new(), table)];
        Self { context, path: String::new(), section, at: 0, layers, asked: RefCell::default() }
    }

    /// The table `name`; without layers if the document lacks it.
    pub fn table(&self, name: &str, section: &'static Section) -> Table<'a> {
        let path = join(&self.path, name);
        let items = self.items(name);
        let at = items.first().map_or(self.at, |item| item.at);
        let layers = items.iter().filter_map(|item| Some((item.path.clone(), item.entries()?))).collect();
        Table { context: self.context, path, section, at, layers, asked: RefCell::default() }
    }

    /// This table, with another one for the keys that it lacks.
    pub fn over(mut self, below: &Table<'a>) -> Self {
        self.layers.extend(below.layers.iter().cloned());
        self
    }

    /// True if the document has this table at all.
    pub fn is_given(&self) -> bool {
        !self.layers.is_empty()
    }

    /// The value of a key, from the first layer that has one.
    pub fn item(&self, name: &str) -> Option<Item<'a>> {
        self.items(name).into_iter().next()
    }

    /// The values of a key, one for each layer that has one.
    pub fn items(&self, name: &str) -> Vec<Item<'a>> {
        if let Some(key) = self.section.key(name) {
            self.asked.borrow_mut().insert(key.name);
        }
        let value = |(path, table): &(String, &'a DeTable<'a>)| {
            let value = table.get(name)?;
            Some(Item::new(self.context, join(path, name), value))
        };
        self.layers.iter().filter_map(value).collect()
    }

    /// True if the table itself has a key, apart from the layers below it.
    pub fn has_itself(&self, name: &str) -> bool {
        self.has(name) && self.layers.first().is_some_and(|(_, table)| table.contains_key(name))
    }

    /// True if a key is given.
    pub fn has(&self, name: &str) -> bool {
        self.item(name).is_some()
    }

    /// Notes a fault of a key, at its value if it has one and else at the table.
    pub fn fault(&self, name: &str, message: impl Display) {
        match self.item(name) {
            Some(item) => item.fault(message),
            None if name.is_empty() => self.context.fault(self.at, &self.path, message),
            None => self.context.fault(self.at, &join(&self.path, name), message),
        }
    }

    /// Notes a fault for every unknown key.
    pub fn refuse_unknown(&self) {
        for (path, table) in &self.layers {
            for name in table.keys().filter(|name| self.section.key(name.get_ref()).is_none()) {
                if self.context.is_full(name.span().start) {
                    self.context.pass_over(1);
                    continue;
                }
                let word = name.get_ref();
                self.context.fault(name.span().start, &join(path, word), self.unknown(word));
            }
        }
        debug_assert!(
            !self.is_given() || self.section.all().all(|key| self.asked.borrow().contains(key.name)),
            "{}: a declared key is never read, only {:?}",
            self.section.title,
            self.asked
        );
    }

    fn unknown(&self, word: &str) -> String {
        let word = &*shown(word);
        let known = || self.section.all().map(|key| key.name);
        let head = |text: &str| text.split('.').next().is_some_and(|head| known().any(|key| key == head));
        let elsewhere = ELSEWHERE.iter().find(|(theirs, ours)| *theirs == word && head(ours));
        if let Some((_, command)) = FILES.iter().find(|(table, _)| *table == word) {
            return format!("unknown key `{word}`: a file with this table is for {command}");
        }
        if self.section.title == STAGE.title && EVENT.keys[0].iter().any(|key| key.name == word) {
            return format!("unknown key `{word}`: it belongs in `[event]`");
        }
        match nearest(word, known()).or(elsewhere.map(|(_, ours)| *ours)) {
            Some(meant) => format!("unknown key `{word}`; did you mean `{meant}`?"),
            None if known().count() > 20 => format!("unknown key `{word}`"),
            None => format!("unknown key `{word}`; known are {}", listed(known(), "and")),
        }
    }

    /// Notes a fault if a key is absent.
    pub fn require(&self, name: &str, hint: &str) {
        if !self.has(name) {
            self.fault(name, format!("is missing; {hint}"));
        }
    }

    fn kind(&self, name: &str) -> Kind {
        self.section.key(name).map_or(Kind::Text, |Key { kind, .. }| *kind)
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.item(name)?.text("a text").map(str::to_owned)
    }

    /// A path, made absolute.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.item(name)?.path()
    }

    /// `true` or `false`.
    pub fn switch(&self, name: &str) -> Option<bool> {
        self.item(name)?.flag()
    }

    /// `true` or `false`, or a default.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.switch(name).unwrap_or(default)
    }

    /// `true`, `false`, or the word `auto`, which is `None`.
    pub fn flag_or_auto(&self, name: &str) -> Option<bool> {
        let item = self.item(name)?;
        match item.value {
            DeValue::Boolean(value) => Some(*value),
            DeValue::String(word) if word == "auto" => None,
            _ => item.wrong("true, false or \"auto\""),
        }
    }

    /// A duration.
    pub fn duration(&self, name: &str) -> Option<Duration> {
        let item = self.item(name)?;
        let duration = item.duration()?;
        let zero = !matches!(self.kind(name), Kind::Duration { zero: false });
        if duration.is_zero() && !zero {
            item.fault("must be more than 0");
            return None;
        }
        Some(duration)
    }

    /// A whole number within the range of its key; `None` also for the word of the key.
    pub fn integer<T: TryFrom<i64>>(&self, name: &str) -> Option<T> {
        let Kind::Integer(least, most) = self.kind(name) else {
            return match self.integer_or(name)? {
                IntegerOr::Integer(number) => Some(number),
                IntegerOr::Word => None,
            };
        };
        self.item(name)?.integer(least, most, "").and_then(|n| T::try_from(n).ok())
    }

    /// A whole number within the range of its key, or its word.
    pub fn integer_or<T: TryFrom<i64>>(&self, name: &str) -> Option<IntegerOr<T>> {
        let Kind::IntegerOr(least, most, word) = self.kind(name) else { return None };
        let item = self.item(name)?;
        if matches!(item.value, DeValue::String(text) if text == word) {
            return Some(IntegerOr::Word);
        }
        let number = item.integer(least, most, &format!(" or \"{word}\""))?;
        T::try_from(number).ok().map(IntegerOr::Integer)
    }

    /// A number within the range of its key.
    pub fn number(&self, name: &str) -> Option<f64> {
        let Kind::Number(least, most) = self.kind(name) else { return None };
        self.item(name)?.number(least, most)
    }

    /// One of the words of its key.
    pub fn word(&self, name: &str) -> Option<&'static str> {
        let Kind::Words(words) = self.kind(name) else { return None };
        self.item(name)?.word(words)
    }

    /// One of the words of its key, as the value that serde reads from this word.
    pub fn choice<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        let word = self.word(name).map(IntoDeserializer::<WordError>::into_deserializer);
        word.and_then(|word| T::deserialize(word).ok()).unwrap_or_default()
    }

    /// The first key for the amount of time that is given, for both colours alike.
    pub fn budget_key(&self) -> Option<&'static str> {
        BUDGET_KEYS.into_iter().find(|key| self.has(key))
    }
}

impl<'a> Item<'a> {
    fn new(context: &'a Context<'a>, path: String, value: &'a Spanned<DeValue<'a>>) -> Self {
        Self { context, path, at: value.span().start, value: value.get_ref() }
    }

    /// Notes a fault of this value.
    pub fn fault(&self, message: impl Display) {
        self.context.fault(self.at, &self.path, message);
    }

    /// Notes a fault: the value is of another type than expected.
    pub fn wrong<T>(&self, expected: &str) -> Option<T> {
        self.fault(format!("expected {expected}, found {}", described(self.value)));
        None
    }

    fn entries(&self) -> Option<&'a DeTable<'a>> {
        match self.value {
            DeValue::Table(table) => Some(table),
            _ => self.wrong("a table"),
        }
    }

    /// This value as a table of its own.
    pub fn table(&self, section: &'static Section) -> Option<Table<'a>> {
        let layers = vec![(self.path.clone(), self.entries()?)];
        let (context, path, at) = (self.context, self.path.clone(), self.at);
        Some(Table { context, path, section, at, layers, asked: RefCell::default() })
    }

    /// The entries of a free table, in the order of the file.
    pub fn free_entries(&self) -> Vec<(String, Item<'a>)> {
        let entries = self.entries().into_iter().flat_map(|table| table.iter());
        let mut entries: Vec<_> = entries
            .map(|(name, value)| {
                let name = name.get_ref().to_string();
                (name.clone(), Item::new(self.context, join(&self.path, &name), value))
            })
            .collect();
        entries.sort_by_key(|(_, item)| item.at);
        entries
    }

    /// The elements of an array.
    pub fn elements(&self, expected: &str) -> Vec<Item<'a>> {
        let DeValue::Array(array) = self.value else {
            self.wrong::<()>(expected);
            return Vec::new();
        };
        let element = |(i, value)| Item::new(self.context, format!("{}[{i}]", self.path), value);
        array.iter().enumerate().map(element).collect()
    }

    /// True if this value is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// True if this value is a list without elements.
    pub fn is_empty_list(&self) -> bool {
        matches!(self.value, DeValue::Array(array) if array.is_empty())
    }

    /// The text, if the value is one.
    pub fn as_text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// A text without control characters, which a line protocol cannot carry.
    pub fn text(&self, expected: &str) -> Option<&'a str> {
        let DeValue::String(text) = self.value else { return self.wrong(expected) };
        if text.chars().any(char::is_control) {
            self.fault("must not contain line breaks or other control characters");
            return None;
        }
        Some(text)
    }

    /// A name of somebody or something: 1 to [`NAME`] characters, with no blanks around them.
    pub fn name(&self) -> Option<&'a str> {
        let name = self.text("a text")?.trim();
        if name.is_empty() {
            self.fault("is empty");
        }
        match name.chars().count() {
            ..=NAME => Some(name),
            count => {
                self.fault(format!("has {count} characters; a name has at most {NAME}"));
                None
            }
        }
    }

    /// A text, a number or a boolean, as it is sent to an engine.
    pub fn scalar(&self) -> Option<String> {
        match self.value {
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
            DeValue::Float(number) => Some(number.as_str().to_owned()),
            DeValue::Boolean(value) => Some(value.to_string()),
            _ => self.text("a text, a number, true or false").map(str::to_owned),
        }
    }

    /// A path, made absolute.
    pub fn path(&self) -> Option<PathBuf> {
        let text = self.text("a path")?;
        if text.is_empty() {
            self.fault("is empty");
            return None;
        }
        Some(self.context.environment.path(text))
    }

    fn flag(&self) -> Option<bool> {
        match self.value {
            DeValue::Boolean(value) => Some(*value),
            _ => self.wrong("true or false"),
        }
    }

    fn duration(&self) -> Option<Duration> {
        let text = match self.value {
            DeValue::Integer(number) if number.as_str() != "0" => {
                self.fault(format!("{number} has no unit; write \"{number}s\" or \"{number}ms\""));
                return None;
            }
            DeValue::Integer(_) => "0",
            _ => self.text("a duration such as \"10s\"")?,
        };
        time_text::duration(text).map_err(|error| self.fault(error)).ok()
    }

    /// A whole number from `least` to `most`; `or` names an alternative for the messages.
    pub fn integer(&self, least: i64, most: i64, or: &str) -> Option<i64> {
        let DeValue::Integer(number) = self.value else {
            return self.wrong(&format!("a whole number{or}"));
        };
        let parsed = i64::from_str_radix(number.as_str(), number.radix()).ok();
        let value = parsed.filter(|n| (least..=most).contains(n));
        if value.is_none() {
            self.out_of_range(number, least, most, or);
        }
        value
    }

    pub fn number(&self, least: f64, most: f64) -> Option<f64> {
        let text = match self.value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => return self.wrong("a number"),
        };
        let value = text.parse().ok().filter(|n| (least..=most).contains(n));
        if value.is_none() {
            match (least, most) {
                (f64::MIN, f64::MAX) => self.fault(format!("{text} is no finite number")),
                (_, f64::MAX) => {
                    self.fault(format!("{text} is out of range; it must be a finite number from {least}"))
                }
                _ => self.out_of_range(text, least, most, ""),
            }
        }
        value
    }

    fn out_of_range(&self, value: impl Display, least: impl Display, most: impl Display, or: &str) {
        self.fault(format!("{value} is out of range; it must be from {least} to {most}{or}"));
    }

    /// One of these words.
    pub fn word(&self, words: &[&'static str]) -> Option<&'static str> {
        let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let expected = listed(quoted.iter().map(String::as_str), "or");
        let text = self.text(&expected)?;
        let word = words.iter().find(|word| **word == text);
        if word.is_none() {
            let text = &*shown(text);
            match nearest(text, words.iter().copied()) {
                Some(meant) => self.fault(format!("unknown value \"{text}\"; did you mean \"{meant}\"?")),
                None => self.fault(format!("unknown value \"{text}\"; expected {expected}")),
            }
        }
        word.copied()
    }
}

fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{}\"", shown(text)),
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// `a`, `b` or `c`.
pub fn listed<'a>(words: impl IntoIterator<Item = &'a str>, conjunction: &str) -> String {
    let words: Vec<_> = words.into_iter().collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {conjunction} {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

fn join(path: &str, name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let name = shown(name);
    let name = if bare { name.into_owned() } else { format!("\"{name}\"") };
    if path.is_empty() { name } else { format!("{path}.{name}") }
}
