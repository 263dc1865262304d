//! Reads a command line of fastchess or cutechess-cli.

use super::{
    engine::Engine,
    error::{HabitError, HabitErrors},
    is_option,
    table::{Habit, Meaning, OPTIONS, habit},
};
use notation::usi::nearest;
use std::ffi::OsString;

/// An option with its values.
pub struct Words<'a> {
    /// Its name, with its dash.
    pub name: &'a str,
    /// Its values, as they stand.
    pub values: Vec<&'a str>,
}

/// The options read so far.
#[derive(Default)]
pub struct Reading {
    engines: Vec<Engine>,
    each: Engine,
    rounds: Option<u64>,
    games: Option<u64>,
    /// Words of Renmei, with the translated ones in place.
    own: Vec<OsString>,
    notes: Vec<String>,
    seen: Vec<&'static str>,
    faults: Vec<HabitError>,
}

impl Reading {
    /// Reads the words behind `match`.
    pub fn of(words: &[OsString]) -> Result<Self, HabitErrors> {
        let mut reading = Self::default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            if !is_option(word) {
                reading.own.push(word.clone());
                continue;
            }
            let values_count = words[at..].iter().take_while(|word| !begins_option(word)).count();
            let text = |word: &'_ OsString| word.to_str().map(str::to_owned);
            let (name, values): (_, Option<Vec<_>>) =
                (text(word), words[at..at + values_count].iter().map(text).collect());
            let typed = word;
            at += values_count;
            let (Some(name), Some(values)) = (name, values) else {
                reading.faults.push(HabitError::NotUtf8(typed.display().to_string()));
                continue;
            };
            let words = Words { name: &name, values: values.iter().map(String::as_str).collect() };
            let read = reading.option(&words);
            reading.faults.extend(read.err());
        }
        if reading.faults.is_empty() { Ok(reading) } else { Err(HabitErrors(reading.faults)) }
    }

    fn option(&mut self, words: &Words<'_>) -> Result<(), HabitError> {
        let Some(habit) = habit(words.name) else {
            let near = nearest(words.name, OPTIONS.iter().map(|habit| habit.name));
            return Err(HabitError::Unknown(words.name.to_owned(), near));
        };
        if self.seen.contains(&habit.name) && !["-engine", "-each"].contains(&habit.name) {
            return Err(HabitError::Twice(habit.name));
        }
        self.seen.push(habit.name);
        match habit.meaning {
            Meaning::Is(flag) => self.flag(habit, flag, words),
            Meaning::Reads => self.translate(words),
            Meaning::Always => Ok(()),
            Meaning::Noted => {
                self.notes.push(format!("{}: {}", habit.name, habit.here));
                Ok(())
            }
            Meaning::Refused => Err(words.no_counterpart(habit.here)),
        }
    }

    fn flag(&mut self, habit: &Habit, flag: &str, words: &Words<'_>) -> Result<(), HabitError> {
        if habit.values.is_empty() {
            words.none()?;
            self.push([flag]);
        } else {
            self.push([flag, words.one()?]);
        }
        Ok(())
    }

    fn push<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.own.extend(words.into_iter().map(OsString::from));
    }

    /// The words after `match` for Renmei, and the notes.
    pub fn own_words(mut self) -> Result<(Vec<OsString>, Vec<String>), HabitErrors> {
        let mut own = self.engine_words().map_err(|fault| HabitErrors(vec![fault]))?;
        if let Some(games) = self.number_of_games() {
            self.push(["--games", &games.to_string()]);
        }
        own.append(&mut self.own);
        let words: Vec<_> =
            own.iter().map(|word| platform::programs::quoted(&word.to_string_lossy())).collect();
        self.notes.push(format!("equivalent command: renmei match {}", words.join(" ")));
        Ok((own, self.notes))
    }

    /// Games of an encounter. Rounds have two games as in fastchess; without rounds the number is that of all games, as in
    /// cutechess-cli.
    fn number_of_games(&self) -> Option<u64> {
        match (self.rounds, self.games) {
            (None, games) => games,
            (Some(rounds), games) => Some(rounds.saturating_mul(games.unwrap_or(2))),
        }
    }

    fn engine_words(&mut self) -> Result<Vec<OsString>, HabitError> {
        let mut words: Vec<OsString> = Vec::new();
        let mut group = |flag: &str, engine: &Engine| -> Result<(), HabitError> {
            words.push(flag.into());
            words.extend(engine.words()?.into_iter().map(OsString::from));
            Ok(())
        };
        if self.engines.is_empty() {
            if self.each != Engine::default() {
                // Behind the programs, which must not be taken for its words.
                let each: Vec<_> = self.each.words()?;
                self.push(["--each"].into_iter().chain(each.iter().map(String::as_str)));
            }
            return Ok(words);
        }
        if self.own.iter().any(|word| word == "--engine") {
            return Err(HabitError::BothFlags);
        }
        let mut engines: Vec<_> = std::mem::take(&mut self.engines);
        engines.iter_mut().for_each(|engine| *engine = std::mem::take(engine).over(&self.each));
        name(&mut engines);
        for engine in &mut engines {
            engine.place();
            group("--engine", engine)?;
        }
        Ok(words)
    }

    /// Reads an option whose values are translated.
    fn translate(&mut self, words: &Words<'_>) -> Result<(), HabitError> {
        match words.name {
            "-engine" => self.engines.push(words.engine()?),
            "-each" => self.each = std::mem::take(&mut self.each).over(&words.engine()?),
            "-rounds" => self.rounds = Some(words.number()?),
            "-games" => self.games = Some(words.number()?),
            "-repeat" if !matches!(words.values[..], [] | ["2"]) => {
                return Err(words.no_counterpart("an opening is played twice, once with each colour"));
            }
            "-openings" => self.openings(words)?,
            "-sprt" => self.sprt(words)?,
            "-resign" => self.resign(words)?,
            "-draw" => self.draw(words)?,
            "-concurrency" => match words.one()?.parse::<i64>() {
                Ok(games) if games < 1 => {
                    self.notes.push(format!("{}: as many games as the cores carry", words.whole()))
                }
                Ok(games) => self.push(["--concurrency", &games.to_string()]),
                Err(_) => return Err(words.expected("a whole number")),
            },
            "-maxmoves" => self.max_moves(words.number()?),
            "-tournament" => self.tournament(words)?,
            "-seeds" => match words.number()? {
                0 | 1 => {}
                n => return Err(HabitError::Seeds(n)),
            },
            "-variant" if words.one()? != "shogi" => {
                return Err(words.no_counterpart("Renmei plays only shogi"));
            }
            "-wait" if words.number()? != 0 => {
                return Err(words.no_counterpart("games follow each other at once; leave it out"));
            }
            "-pgnout" => self.records(words)?,
            "-use-affinity" => self.affinity(words),
            "-startup-ms" => self.limit("start", words)?,
            "-ucinewgame-ms" => self.limit("new_game", words)?,
            "-ping-ms" => self.limit("ready", words)?,
            _ => {}
        }
        Ok(())
    }

    fn openings(&mut self, words: &Words<'_>) -> Result<(), HabitError> {
        let [file, format, order, plies, start, policy] =
            words.keys(["file", "format", "order", "plies", "start", "policy"])?;
        let fault =
            |value: &str, advice| Err(HabitError::NoCounterpart(format!("{} {value}", words.name), advice));
        let file = words.needs("file=FILE", file)?;
        match format.unwrap_or("usi") {
            "pgn" => {
                return fault("format=pgn", "shogi has no PGN; give SFEN or USI lines, CSA, KIF, KI2 or JKF");
            }
            "epd" | "sfen" | "usi" | "csa" | "kif" | "ki2" | "jkf" => {}
            other => return fault(&format!("format={other}"), "Renmei detects the format; leave it out"),
        }
        if let Some(start) = start.filter(|start| *start != "1") {
            return Err(HabitError::Start { start: start.to_owned(), file: file.to_owned() });
        }
        if let Some(policy) = policy.filter(|policy| *policy != "default") {
            return fault(
                &format!("policy={policy}"),
                "each pair of games has its own opening; leave it out",
            );
        }
        match order.unwrap_or("sequential") {
            "random" => {}
            "sequential" => self.push(["--sequential"]),
            other => return fault(&format!("order={other}"), "write order=random or order=sequential"),
        }
        self.push(["--openings", file]);
        if let Some(plies) = plies {
            self.push(["--plies", plies]);
        }
        Ok(())
    }

    fn sprt(&mut self, words: &Words<'_>) -> Result<(), HabitError> {
        let keys = ["elo0", "elo1", "alpha", "beta", "model"];
        let values = words.keys(keys)?;
        if let Some(model) = values[4].filter(|model| !["normalized", "logistic"].contains(model)) {
            let typed = format!("{} model={model}", words.name);
            return Err(HabitError::NoCounterpart(typed, "write model=normalized or model=logistic"));
        }
        self.pairs("--sprt", keys.into_iter().zip(values));
        Ok(())
    }

    fn resign(&mut self, words: &Words<'_>) -> Result<(), HabitError> {
        let [moves, score, two_sided] = words.keys(["movecount", "score", "twosided"])?;
        words.needs("score=CENTIPAWNS", score)?;
        self.pairs("--resign", [("score", score), ("moves", moves.or(Some("1"))), ("two_sided", two_sided)]);
        Ok(())
    }

    /// `-draw`. Their full moves are two plies each.
    fn draw(&mut self, words: &Words<'_>) -> Result<(), HabitError> {
        let [from, moves, score] = words.keys(["movenumber", "movecount", "score"])?;
        let doubled = |key: &str, text: Option<&str>, least: u64| match text.unwrap_or("0").parse::<u64>() {
            Ok(number) => Ok(number.saturating_mul(2).max(least).to_string()),
            Err(_) => {
                let typed = format!("{} {key}={}", words.name, text.unwrap_or_default());
                Err(HabitError::Expected(typed, "a whole number".to_owned()))
            }
        };
        let from = doubled("movenumber", from, 1)?;
        let plies = doubled("movecount", moves.or(Some("1")), 2)?;
        let values = [("score", score.or(Some("0"))), ("plies", Some(&plies)), ("from_ply", Some(&from))];
        self.pairs("--draw", values);
        Ok(())
    }

    fn pairs<'a>(&mut self, flag: &str, pairs: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) {
        let given = pairs.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?)));
        let words: Vec<String> = [flag.to_owned()].into_iter().chain(given).collect();
        self.push(words.iter().map(String::as_str));
    }

    /// Full moves; 0 means no limit in fastchess.
    fn max_moves(&mut self, moves: u64) {
        match moves {
            0 => self.notes.push("-maxmoves 0: the limit of `--max-moves` remains".to_owned()),
            moves => self.push(["--max-moves", &moves.saturating_mul(2).to_string()]),
        }
    }

    fn tournament(&mut self, words: &Words<'_>) -> Result<(), HabitError> {
        match words.one()? {
            "roundrobin" | "round-robin" => {}
            "gauntlet" => self.push(["--gauntlet"]),
            "knockout" => {
                let advice = "write a file for `renmei run`; `renmei init denou` has an example";
                return Err(words.no_counterpart(advice));
            }
            _ => return Err(words.no_counterpart("write roundrobin or gauntlet")),
        }
        Ok(())
    }

    /// `-pgnout`: the file is its first word; the others are about PGN.
    fn records(&mut self, words: &Words<'_>) -> Result<(), HabitError> {
        let named = words.values.iter().find_map(|word| word.strip_prefix("file="));
        let file = named.or_else(|| words.values.first().copied().filter(|word| !word.contains('=')));
        let file = words.needs("file=FILE", file)?;
        self.notes.push(format!(
            "{}: `{file}` gets CSA records, or USI if its name ends in .usi; `renmei export` writes other formats",
            words.name
        ));
        self.push(["--records", file]);
        Ok(())
    }

    fn affinity(&mut self, words: &Words<'_>) {
        if let Some(cores) = words.values.first() {
            self.notes.push(format!(
                "{}: Renmei chooses the cores; `taskset -c {cores} renmei match ...` restricts it to these",
                words.whole()
            ));
        }
        self.push(["--affinity"]);
    }

    /// A limit of every engine, in milliseconds.
    fn limit(&mut self, key: &str, words: &Words<'_>) -> Result<(), HabitError> {
        let limit = format!("limits.{key}={}ms", words.number()?);
        self.each = std::mem::take(&mut self.each).over(&Engine::read(words.name, &[&limit])?);
        Ok(())
    }
}

/// Names the engines without a name after their programs; those that would have the same name are numbered.
fn name(engines: &mut [Engine]) {
    let programs: Vec<_> = engines
        .iter()
        .map(|engine| engine.command().filter(|_| !engine.is_named()).unwrap_or_default().to_owned())
        .collect();
    for (engine, name) in engines.iter_mut().zip(super::names_of(&programs)) {
        if !engine.is_named() && !name.is_empty() {
            engine.name(name);
        }
    }
}

/// True if a word ends the values of an option. A negative number is a value.
fn begins_option(word: &OsString) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.len() > 1 && bytes[0] == b'-' && !bytes[1].is_ascii_digit() && bytes[1] != b'.'
}

impl<'a> Words<'a> {
    /// The option with its values, as they were typed.
    fn whole(&self) -> String {
        [self.name].into_iter().chain(self.values.iter().copied()).collect::<Vec<_>>().join(" ")
    }

    fn one(&self) -> Result<&'a str, HabitError> {
        match self.values[..] {
            [value] => Ok(value),
            [] => Err(HabitError::Needs(self.name.to_owned(), "a value")),
            _ => Err(self.expected("one value")),
        }
    }

    fn none(&self) -> Result<(), HabitError> {
        if self.values.is_empty() { Ok(()) } else { Err(self.expected("no value")) }
    }

    fn number(&self) -> Result<u64, HabitError> {
        self.one()?.parse().map_err(|_| self.expected("a whole number"))
    }

    fn needs(&self, what: &'static str, value: Option<&'a str>) -> Result<&'a str, HabitError> {
        value.ok_or_else(|| HabitError::Needs(self.name.to_owned(), what))
    }

    fn expected(&self, form: &str) -> HabitError {
        HabitError::Expected(self.whole(), form.to_owned())
    }

    fn no_counterpart(&self, advice: &'static str) -> HabitError {
        HabitError::NoCounterpart(self.whole(), advice)
    }

    fn engine(&self) -> Result<Engine, HabitError> {
        Engine::read(self.name, &self.values)
    }

    /// The values of these keys; any other word is a fault.
    fn keys<const N: usize>(&self, keys: [&str; N]) -> Result<[Option<&'a str>; N], HabitError> {
        let mut found = [None; N];
        for word in &self.values {
            let known = word.split_once('=').and_then(|(key, value)| {
                let at = keys.iter().position(|known| *known == key)?;
                Some((at, value))
            });
            let Some((at, value)) = known else {
                let keys = keys.map(|key| format!("{key}=")).join(", ");
                return Err(HabitError::Expected(format!("{} {word}", self.name), keys));
            };
            found[at] = Some(value);
        }
        Ok(found)
    }
}
