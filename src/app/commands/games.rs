//! What is played, on the command line: the arguments become a configuration, which is then checked and played like any
//! other.

use super::Failure;
use crate::habits::{INFINITE, translated};
use arena::resume;
use clap::Args;
use plan::{Environment, Plan, built_in};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Games of an encounter, where nobody says how many.
const GAMES: u64 = 100;
/// What stands for no openings in `--openings`; `./none` is a file.
const NO_OPENINGS: &str = "none";

/// How long a match is played.
#[derive(Clone, Debug, Args)]
pub struct LengthArgs {
    /// Games of each encounter [default: 100]; with --sprt or --until: the most games that are played [default: 20000].
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX.unsigned_abs()))]
    pub games: Option<u64>,
    /// Stop at a verdict: elo0=0 elo1=5 [alpha=0.05] [beta=0.05] [model=normalized|logistic].
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
    pub sprt: Vec<String>,
    /// Stop when the Elo of two engines is known so well, such as "5 elo": within ±5 at 95 %, corrected for looking after
    /// every pair.
    #[arg(long, value_name = "ELO", conflicts_with = "sprt")]
    pub until: Option<String>,
}

/// Options for what is played, which several commands share.
#[derive(Clone, Debug, Args)]
pub struct GamesArgs {
    /// The same words for every engine that does not say otherwise itself.
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
    pub each: Vec<String>,
    /// Time for every engine: `10s`, `5m+10s`, `byoyomi 1s`, `10m byoyomi 30s`, `nodes 1000`, `depth 6`, `fixed 100ms`.
    #[arg(long, default_value = "byoyomi 1s")]
    pub time: String,
    /// Overrun of a move that is forgiven; `0`: the flag falls at once [default: 100ms].
    #[arg(long, value_name = "TIME")]
    pub margin: Option<String>,
    /// Openings: SFEN or USI move lines, CSA, KIF, KI2 or JKF records; `built-in`: the built-in collection, which is
    /// the default; `none`: every game begins from the start position.
    #[arg(long, value_name = "FILE")]
    pub openings: Vec<PathBuf>,
    /// Number of plies to use of each opening.
    #[arg(long, value_name = "N")]
    pub plies: Option<u32>,
    /// Use the openings in the order of the file instead of in random order.
    #[arg(long)]
    pub sequential: bool,
    /// End a game that a side has evaluated as lost for long enough: score=CENTIPAWNS [moves=3] [two_sided=false].
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
    pub resign: Vec<String>,
    /// End a game that both sides have evaluated as level for long enough: score=CENTIPAWNS [plies=20] [from_ply=80].
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
    pub draw: Vec<String>,
    /// Move limit in plies.
    #[arg(long, default_value_t = 512, value_name = "PLIES")]
    pub max_moves: u32,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=i64::MAX.unsigned_abs()))]
    pub seed: u64,
}

/// How long is played.
#[derive(Clone, Copy)]
pub(super) struct Length<'a> {
    /// The format, unless there is a sequential test.
    pub format: &'a str,
    /// Games of an encounter, or of a test at most; `None`: the default.
    pub games: Option<u64>,
    /// The words of a sequential test; none without.
    pub sprt: &'a [String],
    /// The precision that ends it, such as `5 elo`.
    pub until: Option<&'a str>,
}

impl<'a> Length<'a> {
    /// What the arguments say.
    pub fn of(format: &'a str, args: &'a LengthArgs) -> Self {
        Self { format, games: args.games, sprt: &args.sprt, until: args.until.as_deref() }
    }
}

/// The plan of a match.
pub(super) fn plan(
    name: &str,
    games: &GamesArgs,
    length: Length<'_>,
    engines: Vec<Value>,
) -> Result<Plan, Failure> {
    let config = configuration(name, games, length, engines)?;
    let text = toml::to_string(&config).map_err(|e| Failure::Usage(e.to_string()))?;
    let environment = Environment::here(Path::new(".")).map_err(|e| Failure::Other(e.to_string()))?;
    let mut plan = Plan::parse(&text, None, &environment).map_err(Failure::Config)?;
    if let Some(openings) = &mut plan.openings {
        openings.by_default = games.openings.is_empty() && games.plies.is_none() && !games.sequential;
    }
    Ok(plan)
}

/// Gives a match that differs from the one in this directory a name and a database of its own: `match-2`, `match-3` and
/// so on; where the database is given, a name alone. The same command finds its match again.
pub(super) fn take_a_free_name(plan: &mut Plan, given: Option<&Path>) -> Result<(), Failure> {
    plan.database = given.map_or_else(|| plan.database.clone(), Path::to_path_buf);
    let (first, path) = (plan.name.clone(), plan.database.clone());
    let mut number = 1_u64;
    while !resume::differences(plan)?.is_empty() {
        number += 1;
        plan.name = format!("{first}-{number}");
        if given.is_none() {
            plan.database = path.with_file_name(format!("{}.db", plan.name));
        }
    }
    if number > 1 {
        let database = path.display();
        err_line!(
            "`{first}` in {database} is another match: this is `{}`, in {}; the command that began `{first}` resumes it, \
             and `--name NAME` names a match",
            plan.name,
            plan.database.display()
        );
    }
    Ok(())
}

/// Why words of the command line describe no match.
#[derive(Debug, thiserror::Error)]
pub(super) enum WordFault {
    #[error(
        "--openings none: there are no openings then; leave out the other files, --plies and --sequential"
    )]
    NoOpenings,
    #[error("name the engines either as programs or by `--engine`")]
    BothWays,
    #[error(
        "a match needs at least two engines: `renmei match ./new ./old`, or `renmei match --engine cmd=./new name=new --engine cmd=./old name=old`"
    )]
    OneEngine,
    #[error("`{0}` belongs behind `--engine`; without it, programs are named by their paths alone")]
    NoFlag(String),
    #[error("--engine {0}: cmd=PROGRAM is missing in `{1}`")]
    NoProgram(usize, String),
    #[error("`{0}`: a quotation mark is not closed")]
    Quotes(String),
    #[error("`{0}` is not KEY=VALUE; programs stand before the options")]
    NotAPair(String),
    #[error("`{0}`: {1}")]
    Value(String, &'static str),
}

impl From<WordFault> for Failure {
    fn from(fault: WordFault) -> Self {
        Self::Usage(fault.to_string())
    }
}

pub(super) fn configuration(
    name: &str,
    args: &GamesArgs,
    length: Length<'_>,
    engines: Vec<Value>,
) -> Result<Table, WordFault> {
    let mut config = Table::new();
    config.insert("event".to_owned(), event(name, args, length).into());
    let margin = args.margin.iter().map(|margin| pair("margin", margin.clone()));
    let time = Table::from_iter(margin.chain([pair("control", args.time.clone())]));
    config.insert("time".to_owned(), time.into());
    config
        .insert("rules".to_owned(), Table::from_iter([pair("max_moves", i64::from(args.max_moves))]).into());
    config.extend(openings(args)?.map(|openings| pair("openings", openings)));
    if !length.sprt.is_empty() {
        let most = length.games.map(|games| pair("max_games", i64::try_from(games).unwrap_or(i64::MAX)));
        let sprt = pairs(length.sprt)?.into_iter().chain(most).collect::<Table>();
        config.insert("sprt".to_owned(), sprt.into());
    }
    let endings =
        [("resign", &args.resign), ("draw", &args.draw)].into_iter().filter(|(_, it)| !it.is_empty());
    let endings =
        endings.map(|(key, words)| Ok(pair(key, pairs(words)?))).collect::<Result<Table, WordFault>>()?;
    if !endings.is_empty() {
        config.insert("adjudication".to_owned(), endings.into());
    }
    if !args.each.is_empty() {
        config.insert("defaults".to_owned(), engine(&args.each)?.into());
    }
    config.insert("engines".to_owned(), Value::Array(engines));
    Ok(config)
}

pub(super) fn pair(key: &str, value: impl Into<Value>) -> (String, Value) {
    (key.to_owned(), value.into())
}

/// The table of words KEY=VALUE.
pub(super) fn pairs(words: &[String]) -> Result<Table, WordFault> {
    words.iter().map(|word| key_value(word).map(|(key, value)| pair(key, plain(value)))).collect()
}

fn event(name: &str, args: &GamesArgs, length: Length<'_>) -> Table {
    let format = if length.sprt.is_empty() { length.format } else { "sprt" };
    let mut event = Table::from_iter([
        pair("name", name),
        pair("format", format),
        pair("seed", i64::try_from(args.seed).unwrap_or(i64::MAX)),
        pair("database", format!("{}.db", file_stem(name))),
    ]);
    let games = length.games.or_else(|| length.until.is_none().then_some(GAMES));
    if let Some(games) = games.filter(|_| length.sprt.is_empty()) {
        event.extend([pair("games", i64::try_from(games).unwrap_or(i64::MAX))]);
    }
    event.extend(length.until.map(|until| pair("until", until)));
    event
}

/// A file name without path separators.
fn file_stem(name: &str) -> String {
    let plain = name.chars().map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' });
    notation::no_device(plain.collect())
}

/// The openings: those that are named, else the built-in ones; `None` if there shall be none.
fn openings(args: &GamesArgs) -> Result<Option<Table>, WordFault> {
    let mut files: Vec<_> = args.openings.iter().map(|path| path.display().to_string()).collect();
    if files.iter().any(|file| file == NO_OPENINGS) {
        let alone = files.iter().all(|file| file == NO_OPENINGS) && args.plies.is_none() && !args.sequential;
        return if alone { Ok(None) } else { Err(WordFault::NoOpenings) };
    }
    if files.is_empty() {
        files.push(built_in::NAME.to_owned());
    }
    let order = if args.sequential { "sequential" } else { "random" };
    let files = Value::Array(files.into_iter().map(Value::from).collect());
    let mut openings = Table::from_iter([pair("files", files), pair("order", order)]);
    openings.extend(args.plies.map(|plies| pair("plies", i64::from(plies))));
    Ok(Some(openings))
}

/// Words of `--engine` or `--each` in the configuration's keys.
pub(super) fn engine(words: &[String]) -> Result<Table, WordFault> {
    let mut engine = Table::new();
    let mut arguments = Vec::new();
    let mut control = Vec::new();
    let mut margin = None;
    for word in words {
        let (key, value) = key_value(word)?;
        let fault = |advice| WordFault::Value(word.clone(), advice);
        // The words of fastchess and cutechess-cli for clocks are understood here as well.
        let theirs = match key {
            "tc" | "st" | "timemargin" => Some(translated(key, value).map_err(fault)?),
            _ => None,
        };
        let (key, value) = theirs.as_ref().map_or((key, value), |(key, value)| (*key, value.as_str()));
        match key {
            "time" if value == INFINITE => {
                return Err(fault("write `nodes=N`, `depth=N` or `fixed=100ms` instead"));
            }
            "args" => arguments.extend(split(value).ok_or_else(|| WordFault::Quotes(word.clone()))?),
            "arg" => arguments.push(value.to_owned()),
            // The main time is the first word of a clock.
            "time" => control.insert(0, value.to_owned()),
            "nodes" | "jitter" | "depth" | "fixed" => control.push(format!("{key} {value}")),
            "margin" => margin = Some(value.to_owned()),
            _ => insert(&mut engine, key, value),
        }
    }
    if !arguments.is_empty() {
        engine.extend([pair("args", Value::Array(arguments.into_iter().map(Value::from).collect()))]);
    }
    // A clock may say several limits: they hold together.
    let control = (!control.is_empty()).then(|| control.join(" "));
    match (control, margin) {
        (Some(control), None) => engine.extend([pair("time", control)]),
        (control, Some(margin)) => {
            let control = control.map(|control| pair("control", control));
            engine.extend([pair(
                "time",
                Table::from_iter(control.into_iter().chain([pair("margin", margin)])),
            )]);
        }
        (None, None) => {}
    }
    Ok(engine)
}

fn insert(engine: &mut Table, key: &str, value: &str) {
    let (table, key, value) = match key.split_once('.') {
        Some(("option", option)) => ("options", option, Value::from(value)),
        Some(("limits", limit)) => ("limits", limit, Value::from(value)),
        Some(("env", variable)) => ("environment", variable, Value::from(value)),
        Some(("identity", list)) => {
            ("identity", list, Value::Array(value.split(',').map(Value::from).collect()))
        }
        None if key == "sandbox_write" => {
            let paths = value.split(',').map(Value::from).collect();
            return engine.extend([pair(key, Value::Array(paths))]);
        }
        _ => return engine.extend([engine_key(key, value)].map(|(key, value)| pair(key, value))),
    };
    let inner = engine.entry(table).or_insert_with(|| Table::new().into());
    inner.as_table_mut().into_iter().for_each(|inner| inner.extend([pair(key, value.clone())]));
}

/// The configuration's key and typed value of a word.
fn engine_key<'a>(key: &'a str, value: &str) -> (&'a str, Value) {
    match key {
        "cmd" => ("command", value.into()),
        "dir" => ("directory", value.into()),
        "name" | "directory" | "command" | "host" | "reserve" | "restart" | "sandbox" => (key, value.into()),
        "ssh_command" => (key, Value::Array(value.split_whitespace().map(Value::from).collect())),
        "go" if ["byoyomi-only", "all"].contains(&value) => (key, value.into()),
        "go" => (key, Value::Array(value.split(',').map(Value::from).collect())),
        _ => (key, plain(value)),
    }
}

/// The arguments of a text: cut at blanks, but for those in quotes; `None` if a quotation mark is not closed.
fn split(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (quote, c) {
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

fn key_value(word: &str) -> Result<(&str, &str), WordFault> {
    word.split_once('=').ok_or_else(|| WordFault::NotAPair(word.to_owned()))
}

/// A number or boolean where it parses as one; the configuration's check reports wrong types.
fn plain(value: &str) -> Value {
    if let Ok(number) = value.parse::<i64>() {
        return number.into();
    }
    match (value.parse::<f64>(), value.parse::<bool>()) {
        (Ok(number), _) => number.into(),
        (_, Ok(truth)) => truth.into(),
        _ => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_cut_at_blanks_that_are_not_quoted() {
        assert_eq!(split("  --a 1 ").unwrap(), ["--a", "1"]);
        assert_eq!(split("--book=\"my book\" ''").unwrap(), ["--book=my book", ""]);
        assert_eq!(split(""), Some(vec![]));
        assert_eq!(split("\"open"), None);
    }

    #[test]
    fn limits_of_a_clock_hold_together() {
        let words = ["time=1s+1s", "nodes=100", "jitter=3%", "margin=5ms"].map(str::to_owned);
        let engine = engine(&words).unwrap();
        assert_eq!(engine["time"]["control"].as_str(), Some("1s+1s nodes 100 jitter 3%"));
        assert_eq!(engine["time"]["margin"].as_str(), Some("5ms"));
        let clock = |word: &str| super::engine(&[word.to_owned()]).unwrap()["time"].clone();
        assert_eq!(clock("tc=10+0.1").as_str(), Some("10s+0.1s"));
        assert_eq!(clock("st=0.5").as_str(), Some("fixed 0.5s"));
        let fault = super::engine(&["nonsense".to_owned()]).unwrap_err().to_string();
        assert!(fault.contains("`nonsense` is not KEY=VALUE"), "{fault}");
    }
}
