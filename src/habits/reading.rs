//! A command line of fastchess or cutechess-cli, as it is read.

use super::{
    engine::Engine,
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

/// What was read so far.
#[derive(Default)]
pub struct Reading {
    engines: Vec<Engine>,
    each: Engine,
    rounds: Option<u64>,
    games: Option<u64>,
    /// Words of Renmei's own, with the translated ones in their places.
    own: Vec<OsString>,
    notes: Vec<String>,
    seen: Vec<&'static str>,
}

impl Reading {
    /// Reads the words behind `match`.
    ///
    /// # Errors
    /// The first option that has no meaning here.
    pub fn of(words: &[OsString]) -> Result<Self, String> {
        let mut reading = Self::default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            if !is_option(word) {
                reading.own.push(word.clone());
                continue;
            }
            let values = words[at..].iter().take_while(|word| !begins_option(word)).count();
            let text = |word: &'_ OsString| word.to_str().map(str::to_owned);
            let (name, values): (_, Option<Vec<_>>) =
                (text(word), words[at..at + values].iter().map(text).collect());
            let (Some(name), Some(values)) = (name, values) else {
                return Err(format!("{}: its values are not UTF-8", word.display()));
            };
            at += values.len();
            let words = Words { name: &name, values: values.iter().map(String::as_str).collect() };
            reading.option(&words)?;
        }
        Ok(reading)
    }

    fn option(&mut self, words: &Words<'_>) -> Result<(), String> {
        let Some(habit) = habit(words.name) else {
            let near = nearest(words.name, OPTIONS.iter().map(|habit| habit.name));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(format!(
                "`{}` is no option of `renmei match`, fastchess or cutechess-cli{near}",
                words.name
            ));
        };
        if self.seen.contains(&habit.name) && !["-engine", "-each"].contains(&habit.name) {
            return Err(format!("{} is given twice", habit.name));
        }
        self.seen.push(habit.name);
        match habit.meaning {
            Meaning::Is(flag) => self.flag(habit, flag, words),
            Meaning::Reads(read) => read(self, words),
            Meaning::Always => Ok(()),
            Meaning::Told => {
                self.notes.push(format!("{}: {}", habit.name, habit.here));
                Ok(())
            }
            Meaning::Refused => Err(format!("{}: {}", words.whole(), habit.here)),
        }
    }

    fn flag(&mut self, habit: &Habit, flag: &str, words: &Words<'_>) -> Result<(), String> {
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

    /// The command line behind `match` in Renmei's own words, and the lines to tell.
    ///
    /// # Errors
    /// When the options do not go together.
    pub fn own_words(mut self) -> Result<(Vec<OsString>, Vec<String>), String> {
        let mut own = self.engine_words()?;
        if let Some(games) = self.number_of_games() {
            self.push(["--games", &games.to_string()]);
        }
        own.append(&mut self.own);
        let words: Vec<_> = own.iter().map(|word| crate::output::quoted(&word.to_string_lossy())).collect();
        self.notes.push(format!("in Renmei's own words: renmei match {}", words.join(" ")));
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

    fn engine_words(&mut self) -> Result<Vec<OsString>, String> {
        let mut words: Vec<OsString> = Vec::new();
        let mut group = |flag: &str, engine: &Engine| -> Result<(), String> {
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
            return Err("name all engines by -engine, or all by --engine".to_owned());
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

    /// `-engine`.
    pub fn engine(&mut self, words: &Words<'_>) -> Result<(), String> {
        self.engines.push(words.engine()?);
        Ok(())
    }

    /// `-each`.
    pub fn each(&mut self, words: &Words<'_>) -> Result<(), String> {
        self.each = std::mem::take(&mut self.each).over(&words.engine()?);
        Ok(())
    }

    /// `-rounds`.
    pub fn rounds(&mut self, words: &Words<'_>) -> Result<(), String> {
        self.rounds = Some(words.number()?);
        Ok(())
    }

    /// `-games`.
    pub fn games(&mut self, words: &Words<'_>) -> Result<(), String> {
        self.games = Some(words.number()?);
        Ok(())
    }

    /// `-repeat`.
    #[allow(clippy::unused_self, reason = "all options have this form")]
    pub fn repeat(&mut self, words: &Words<'_>) -> Result<(), String> {
        match words.values[..] {
            [] | ["2"] => Ok(()),
            _ => Err(format!("{}: an opening is played twice, once with each colour", words.whole())),
        }
    }

    /// `-openings`.
    pub fn openings(&mut self, words: &Words<'_>) -> Result<(), String> {
        let [file, format, order, plies, start, policy] =
            words.keys(["file", "format", "order", "plies", "start", "policy"])?;
        let fault = |value: &str, reason: &str| Err(format!("{} {value}: {reason}", words.name));
        let Some(file) = file else { return fault("", "needs file=FILE") };
        match format.unwrap_or("usi") {
            "pgn" => {
                return fault("format=pgn", "shogi has no PGN; give SFEN or USI lines, CSA, KIF, KI2 or JKF");
            }
            "epd" | "sfen" | "usi" | "csa" | "kif" | "ki2" | "jkf" => {}
            other => return fault(&format!("format={other}"), "the format is detected; leave it out"),
        }
        if let Some(start) = start.filter(|start| *start != "1") {
            let instead = format!("cut the file instead: `tail -n +{start} {file}`");
            return fault(&format!("start={start}"), &instead);
        }
        if let Some(policy) = policy.filter(|policy| *policy != "default") {
            return fault(
                &format!("policy={policy}"),
                "each pair of games has an opening of its own; leave it out",
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

    /// `-sprt`.
    pub fn sprt(&mut self, words: &Words<'_>) -> Result<(), String> {
        let keys = ["elo0", "elo1", "alpha", "beta", "model"];
        let values = words.keys(keys)?;
        if let Some(model) = values[4].filter(|model| !["normalized", "logistic"].contains(model)) {
            return Err(format!("{} model={model}: write model=normalized or model=logistic", words.name));
        }
        self.pairs("--sprt", keys.into_iter().zip(values));
        Ok(())
    }

    /// `-resign`.
    pub fn resign(&mut self, words: &Words<'_>) -> Result<(), String> {
        let [moves, score, two_sided] = words.keys(["movecount", "score", "twosided"])?;
        words.needs("score=CENTIPAWNS", score)?;
        self.pairs("--resign", [("score", score), ("moves", moves.or(Some("1"))), ("two_sided", two_sided)]);
        Ok(())
    }

    /// `-draw`. Their full moves are two plies each.
    pub fn draw(&mut self, words: &Words<'_>) -> Result<(), String> {
        let [from, moves, score] = words.keys(["movenumber", "movecount", "score"])?;
        let doubled = |key: &str, text: Option<&str>, least: u64| match text.unwrap_or("0").parse::<u64>() {
            Ok(number) => Ok(number.saturating_mul(2).max(least).to_string()),
            Err(_) => {
                Err(format!("{} {key}={}: it must be a whole number", words.name, text.unwrap_or_default()))
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

    /// `-maxmoves`, in full moves; 0 is no limit of theirs.
    pub fn max_moves(&mut self, words: &Words<'_>) -> Result<(), String> {
        match words.number()? {
            0 => self.notes.push("-maxmoves 0: the limit of `--max-moves` remains".to_owned()),
            moves => self.push(["--max-moves", &moves.saturating_mul(2).to_string()]),
        }
        Ok(())
    }

    /// `-tournament`.
    pub fn tournament(&mut self, words: &Words<'_>) -> Result<(), String> {
        match words.one()? {
            "roundrobin" | "round-robin" => {}
            "gauntlet" => self.push(["--gauntlet"]),
            "knockout" => {
                return Err(format!(
                    "{}: write a file for `renmei run`; `renmei init denou` has an example",
                    words.whole()
                ));
            }
            _ => return Err(format!("{}: write roundrobin or gauntlet", words.whole())),
        }
        Ok(())
    }

    /// `-seeds`.
    #[allow(clippy::unused_self, reason = "all options have this form")]
    pub fn seeds(&mut self, words: &Words<'_>) -> Result<(), String> {
        match words.number()? {
            0 | 1 => Ok(()),
            n => Err(format!("-seeds {n}: write `challengers = {n}` in a file for `renmei run`")),
        }
    }

    /// `-variant`.
    #[allow(clippy::unused_self, reason = "all options have this form")]
    pub fn variant(&mut self, words: &Words<'_>) -> Result<(), String> {
        match words.one()? {
            "shogi" => Ok(()),
            _ => Err(format!("{}: only shogi is played here", words.whole())),
        }
    }

    /// `-pgnout`: the file is its first word; the others are about PGN.
    pub fn records(&mut self, words: &Words<'_>) -> Result<(), String> {
        let named = words.values.iter().find_map(|word| word.strip_prefix("file="));
        let file = named.or_else(|| words.values.first().copied().filter(|word| !word.contains('=')));
        let Some(file) = file else { return Err(format!("{} needs file=FILE", words.name)) };
        self.notes.push(format!(
            "{}: the records in `{file}` are CSA, USI where its name ends in .usi; `renmei export` writes other formats",
            words.name
        ));
        self.push(["--records", file]);
        Ok(())
    }

    /// `-use-affinity`.
    pub fn affinity(&mut self, words: &Words<'_>) -> Result<(), String> {
        if let Some(cores) = words.values.first() {
            let whole = words.whole();
            self.notes.push(format!(
                "{whole}: Renmei chooses the cores; `taskset -c {cores} renmei match ...` keeps it to these"
            ));
        }
        self.push(["--affinity"]);
        Ok(())
    }

    /// `-startup-ms`.
    pub fn start_limit(&mut self, words: &Words<'_>) -> Result<(), String> {
        self.limit("start", words)
    }

    /// `-ucinewgame-ms`.
    pub fn new_game_limit(&mut self, words: &Words<'_>) -> Result<(), String> {
        self.limit("new_game", words)
    }

    /// `-ping-ms`.
    pub fn ready_limit(&mut self, words: &Words<'_>) -> Result<(), String> {
        self.limit("ready", words)
    }

    /// A limit of every engine, in milliseconds.
    fn limit(&mut self, key: &str, words: &Words<'_>) -> Result<(), String> {
        let limit = format!("limits.{key}={}ms", words.number()?);
        self.each = std::mem::take(&mut self.each).over(&Engine::read(&[&limit])?);
        Ok(())
    }

    /// `-wait`.
    #[allow(clippy::unused_self, reason = "all options have this form")]
    pub fn wait(&mut self, words: &Words<'_>) -> Result<(), String> {
        match words.number()? {
            0 => Ok(()),
            _ => Err(format!("{}: a game follows at once; leave it out", words.whole())),
        }
    }
}

/// Names the engines without a name after their programs; those that would have the same name are numbered.
fn name(engines: &mut [Engine]) {
    let programs: Vec<_> = engines
        .iter()
        .map(|engine| engine.program().filter(|_| !engine.is_named()).unwrap_or_default().to_owned())
        .collect();
    for (engine, name) in engines.iter_mut().zip(super::names_of(&programs)) {
        if !engine.is_named() && !name.is_empty() {
            engine.name(name);
        }
    }
}

/// Whether a word ends the values of an option. A negative number is a value.
fn begins_option(word: &OsString) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.len() > 1 && bytes[0] == b'-' && !bytes[1].is_ascii_digit() && bytes[1] != b'.'
}

impl<'a> Words<'a> {
    /// The option with its values, as they were typed.
    fn whole(&self) -> String {
        [self.name].into_iter().chain(self.values.iter().copied()).collect::<Vec<_>>().join(" ")
    }

    fn one(&self) -> Result<&'a str, String> {
        match self.values[..] {
            [value] => Ok(value),
            [] => Err(format!("{} needs a value", self.name)),
            _ => Err(format!("{}: one value is expected", self.whole())),
        }
    }

    fn none(&self) -> Result<(), String> {
        if self.values.is_empty() { Ok(()) } else { Err(format!("{}: no value is expected", self.whole())) }
    }

    fn number(&self) -> Result<u64, String> {
        self.one()?.parse().map_err(|_| format!("{}: it must be a whole number", self.whole()))
    }

    fn needs(&self, what: &str, value: Option<&str>) -> Result<(), String> {
        value.map(drop).ok_or_else(|| format!("{} needs {what}", self.name))
    }

    fn engine(&self) -> Result<Engine, String> {
        Engine::read(&self.values).map_err(|fault| format!("{} {fault}", self.name))
    }

    /// The values of these keys; any other word is a fault.
    fn keys<const N: usize>(&self, keys: [&str; N]) -> Result<[Option<&'a str>; N], String> {
        let mut found = [None; N];
        for word in &self.values {
            let known = word.split_once('=').and_then(|(key, value)| {
                let at = keys.iter().position(|known| *known == key)?;
                Some((at, value))
            });
            let Some((at, value)) = known else {
                return Err(format!(
                    "{} {word}: its words are {}",
                    self.name,
                    keys.map(|key| format!("{key}=")).join(", ")
                ));
            };
            found[at] = Some(value);
        }
        Ok(found)
    }
}
