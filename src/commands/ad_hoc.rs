//! `renmei match`: the arguments become a configuration, which is then checked and played like any other.

use super::{
    Exit, Failure,
    play::{OpenScreen, play},
};
use crate::cli::MatchArgs;
use plan::{Environment, Plan};
use std::path::Path;
use toml::{Table, Value};

/// Plays engines against each other without a configuration file.
///
/// # Errors
/// When the arguments are wrong or the engines cannot play.
pub fn ad_hoc(args: &MatchArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let config = configuration(args).map_err(Failure::Usage)?;
    let text = toml::to_string(&config).map_err(|e| Failure::Usage(e.to_string()))?;
    let environment = Environment::here(Path::new(".")).map_err(|e| Failure::Other(e.to_string()))?;
    let plan = Plan::parse(&text, None, &environment).map_err(Failure::Config)?;
    play(plan, &args.playing, open_screen)
}

fn configuration(args: &MatchArgs) -> Result<Table, String> {
    let mut config = Table::new();
    config.insert("event".to_owned(), event(args).into());
    let margin = args.margin.iter().map(|margin| pair("margin", margin.clone()));
    let time = Table::from_iter(margin.chain([pair("control", args.time.clone())]));
    config.insert("time".to_owned(), time.into());
    config
        .insert("rules".to_owned(), Table::from_iter([pair("max_moves", i64::from(args.max_moves))]).into());
    if !args.openings.is_empty() {
        config.insert("openings".to_owned(), openings(args).into());
    }
    if !args.sprt.is_empty() {
        config.insert("sprt".to_owned(), sprt(args)?.into());
    }
    let engines = args.engines.iter().enumerate().map(|(at, words)| engine(at, words).map(Value::from));
    config.insert("engines".to_owned(), Value::Array(engines.collect::<Result<_, _>>()?));
    Ok(config)
}

fn pair(key: &str, value: impl Into<Value>) -> (String, Value) {
    (key.to_owned(), value.into())
}

fn event(args: &MatchArgs) -> Table {
    let format = match (args.sprt.is_empty(), args.gauntlet) {
        (false, _) => "sprt",
        (true, true) => "gauntlet",
        (true, false) => "round-robin",
    };
    let mut event = Table::from_iter([
        pair("name", args.name.clone()),
        pair("format", format),
        pair("seed", i64::try_from(args.seed).unwrap_or(i64::MAX)),
        pair("database", format!("{}.db", file_stem(&args.name))),
    ]);
    if args.sprt.is_empty() {
        event.extend([pair("games", i64::try_from(args.games).unwrap_or(i64::MAX))]);
    }
    if let Some(concurrency) = args.playing.concurrency {
        event.extend([pair("concurrency", i64::try_from(concurrency).unwrap_or(i64::MAX))]);
    }
    event.extend([pair("oversubscribe", args.playing.oversubscribe)]);
    event
}

/// A file name without path separators.
fn file_stem(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' }).collect()
}

fn openings(args: &MatchArgs) -> Table {
    let files = args.openings.iter().map(|path| Value::from(path.display().to_string())).collect();
    let order = if args.sequential { "sequential" } else { "random" };
    let mut openings = Table::from_iter([pair("files", Value::Array(files)), pair("order", order)]);
    if let Some(plies) = args.plies {
        openings.extend([pair("plies", i64::from(plies))]);
    }
    openings
}

fn sprt(args: &MatchArgs) -> Result<Table, String> {
    let mut sprt = Table::from_iter([pair("max_games", i64::try_from(args.games).unwrap_or(i64::MAX))]);
    for word in &args.sprt {
        let (key, value) = key_value(word)?;
        sprt.insert(key.to_owned(), plain(value));
    }
    Ok(sprt)
}

/// The table of one `--engine`, in the configuration's keys.
fn engine(at: usize, words: &[String]) -> Result<Table, String> {
    let mut engine = Table::new();
    for word in words {
        let (key, value) = key_value(word)?;
        let entry = |table: &str, key: &str| (table.to_owned(), key.to_owned(), Value::from(value));
        let (table, key, value) = match (key.strip_prefix("option."), key.strip_prefix("env.")) {
            (Some(option), _) => entry("options", option),
            (_, Some(variable)) => entry("environment", variable),
            _ => {
                let (key, value) = engine_key(key, value);
                engine.insert(key.to_owned(), value);
                continue;
            }
        };
        let inner = engine.entry(table).or_insert_with(|| Table::new().into());
        if let Some(inner) = inner.as_table_mut() {
            inner.insert(key, value);
        }
    }
    let command = engine.get("command").and_then(Value::as_str);
    let none = || format!("--engine {}: cmd=PROGRAM is missing in `{}`", at + 1, words.join(" "));
    let program = Path::new(command.ok_or_else(none)?).file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{program}-{}", at + 1);
    engine.entry("name").or_insert_with(|| name.into());
    Ok(engine)
}

/// The configuration's key and typed value of a word.
fn engine_key<'a>(key: &'a str, value: &str) -> (&'a str, Value) {
    let list = |words: Vec<&str>| Value::Array(words.into_iter().map(Value::from).collect());
    match key {
        "cmd" => ("command", value.into()),
        "dir" => ("directory", value.into()),
        "name" | "directory" | "command" | "reserve" | "restart" | "time" => (key, value.into()),
        "nodes" | "depth" => ("time", format!("{key} {value}").into()),
        "args" => (key, list(value.split_whitespace().collect())),
        "go" if ["byoyomi-only", "all"].contains(&value) => (key, value.into()),
        "go" => (key, list(value.split(',').collect())),
        _ => (key, plain(value)),
    }
}

fn key_value(word: &str) -> Result<(&str, &str), String> {
    word.split_once('=').ok_or_else(|| format!("`{word}` is not KEY=VALUE"))
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
