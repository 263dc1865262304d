//! `renmei match`: the arguments become a configuration, which is then checked and played like any other.

use super::{
    Exit, Failure,
    play::{OpenScreen, play},
};
use crate::cli::MatchArgs;
use arena::resume;
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
    let mut plan = Plan::parse(&text, None, &environment).map_err(Failure::Config)?;
    if args.playing.name.is_none() && args.playing.db.is_none() {
        take_a_free_name(&mut plan)?;
    }
    play(plan, &args.playing, open_screen)
}

/// Gives a match that differs from the one in this directory a name and a database of its own: `match-2`, `match-3` and
/// so on. The same command finds its match again.
fn take_a_free_name(plan: &mut Plan) -> Result<(), Failure> {
    let (first, path) = (plan.name.clone(), plan.database.clone());
    let (mut other, mut number) = (resume::differences(plan)?, 1_u64);
    while !other.is_empty() {
        number += 1;
        plan.name = format!("{first}-{number}");
        plan.database = path.with_file_name(format!("{}.db", plan.name));
        other = resume::differences(plan)?;
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

fn configuration(args: &MatchArgs) -> Result<Table, String> {
    let mut config = Table::new();
    config.insert("event".to_owned(), event(args).into());
    let time = Table::from_iter([pair("control", args.time.clone()), pair("margin", args.margin.clone())]);
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
    let name = args.playing.name.as_deref().unwrap_or("match");
    let mut event = Table::from_iter([
        pair("name", name),
        pair("format", format),
        pair("seed", i64::try_from(args.seed).unwrap_or(i64::MAX)),
        pair("database", format!("{}.db", file_stem(name))),
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
        let (table, key, value) = match key.split_once('.') {
            Some(("option", option)) => entry("options", option),
            Some(("env", variable)) => entry("environment", variable),
            Some(("identity", kind)) => ("identity".to_owned(), kind.to_owned(), list(value.split(','))),
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
    match key {
        "cmd" => ("command", value.into()),
        "dir" => ("directory", value.into()),
        "name" | "directory" | "command" | "reserve" | "restart" | "time" => (key, value.into()),
        "nodes" | "depth" => ("time", format!("{key} {value}").into()),
        "args" => (key, list(value.split_whitespace())),
        "go" if ["byoyomi-only", "all"].contains(&value) => (key, value.into()),
        "go" => (key, list(value.split(','))),
        _ => (key, plain(value)),
    }
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> Value {
    Value::Array(words.map(Value::from).collect())
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
