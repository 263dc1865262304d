//! `renmei match`: engines against each other, without a configuration file.

use super::{
    Exit, Failure, OpenScreen,
    games::{GamesArgs, Length, LengthArgs, WordFault, engine, pair, pairs, plan, take_a_free_name},
    playing::PlayingArgs,
};
use crate::habits::{self, names_of};
use clap::Args;
use plan::EnginePlan;
use platform::content::sha256_of_file;
use std::{fs, path::Path};
use toml::{Table, Value};

const MATCH_EXAMPLES: &str = "\
Games go to `match.db` in this directory, with `--name NAME` to `NAME.db`, with `--db FILE` to that file. The same command
resumes an interrupted match, or makes it longer (`--games`). A match of other engines, or with another clock, begins
`match-2` in `match-2.db` where neither is said. `renmei report match.db` shows the result again.

Examples:
  renmei match ./new ./old --each nodes=4000 option.USI_Hash=64 --games 1000
  renmei match --engine cmd=fairy-stockfish name=new nodes=4000 \\
               --engine cmd=fairy-stockfish name=old nodes=1000 option.Hash=16 \\
               --games 1000 --sprt elo0=0 elo1=10
  renmei match -engine cmd=./new name=new -engine cmd=./old name=old -each tc=10+0.1 \\
               -rounds 100 -repeat        # habits of fastchess, cutechess-cli: see --help";

/// The end of `renmei match --help`.
pub fn help() -> String {
    format!("{MATCH_EXAMPLES}\n\n{}", habits::help())
}

#[derive(Clone, Debug, Args)]
#[command(
    after_help = MATCH_EXAMPLES,
    override_usage = "renmei match [OPTIONS] <PROGRAM> <PROGRAM>...\n       \
                      renmei match [OPTIONS] --engine <KEY=VALUE>... --engine <KEY=VALUE>..."
)]
pub struct MatchArgs {
    /// The engines' programs, which are named after their files; before the options.
    #[arg(value_name = "PROGRAM")]
    pub programs: Vec<String>,
    /// An engine: cmd=PROGRAM name=NAME args="..." arg=ARG dir=DIR time=TIME fixed=TIME nodes=N depth=N margin=TIME
    /// reserve=TIME go=FORMS ponder=true restart=WHEN option.NAME=VALUE env.NAME=VALUE limits.NAME=TIME identity.ignore=FILES; to be given at least twice.
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE", action = clap::ArgAction::Append)]
    pub engine: Vec<String>,
    /// The same words, grouped by `--engine`.
    #[arg(skip)]
    pub engines: Vec<Vec<String>>,
    /// The first engine plays against each of the others, instead of everybody against everybody.
    #[arg(long, conflicts_with_all = ["sprt", "until"])]
    pub gauntlet: bool,
    /// How long it is played.
    #[command(flatten)]
    pub length: LengthArgs,
    /// What is played.
    #[command(flatten)]
    pub games: GamesArgs,
    #[command(flatten)]
    pub playing: PlayingArgs,
}

/// Plays engines against each other without a configuration file.
pub fn play(args: &MatchArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    // Programs behind `--sprt` are read as its words: that error comes before the one about missing engines.
    pairs(&args.length.sprt)?;
    let engines = engines(args)?;
    let format = if args.gauntlet { "gauntlet" } else { "round-robin" };
    let length = Length::of(format, &args.length);
    let place = &args.playing.event.place;
    let mut plan = plan(place.name.as_deref().unwrap_or("match"), &args.games, length, engines)?;
    if place.name.is_none() && place.db.is_none() {
        take_a_free_name(&mut plan, None)?;
    }
    for (at, a) in plan.engines.iter().enumerate() {
        for b in plan.engines[at + 1..].iter().filter(|b| are_one_build(a, b)) {
            err_line!("`{}` and `{}` are the same build: their programs are identical files", a.name, b.name);
        }
    }
    args.playing.play(plan, open_screen)
}

/// True if two programs at different paths are identical files. A program that is named twice is meant to be.
fn are_one_build(a: &EnginePlan, b: &EnginePlan) -> bool {
    let path = |engine: &EnginePlan| fs::canonicalize(&engine.command).ok();
    let (Some(a), Some(b)) = (path(a), path(b)) else { return false };
    let length = |path: &Path| fs::metadata(path).map(|file| file.len()).ok();
    let hash = |path: &Path| sha256_of_file(path).ok();
    a != b && length(&a) == length(&b) && hash(&a).is_some_and(|hash_of_a| Some(hash_of_a) == hash(&b))
}

/// The tables of the engines.
fn engines(args: &MatchArgs) -> Result<Vec<Value>, WordFault> {
    if !args.programs.is_empty() && !args.engines.is_empty() {
        return Err(WordFault::BothWays);
    }
    if args.programs.len() + args.engines.len() < 2 {
        return Err(WordFault::OneEngine);
    }
    if let Some(word) = args.programs.iter().find(|word| word.starts_with("cmd=")) {
        return Err(WordFault::NoFlag(word.clone()));
    }
    let names = names_of(&args.programs);
    let alone = args.programs.iter().zip(names).map(|(program, name)| {
        Ok(Table::from_iter([pair("command", program.clone()), pair("name", name)]).into())
    });
    alone.chain(named(&args.engines)?.into_iter().map(|engine| Ok(engine.into()))).collect()
}

/// The tables of all `--engine`; those without a name have that of their program.
fn named(groups: &[Vec<String>]) -> Result<Vec<Table>, WordFault> {
    let mut engines = groups.iter().map(|words| engine(words)).collect::<Result<Vec<_>, _>>()?;
    let mut programs = Vec::with_capacity(engines.len());
    for (at, (engine, words)) in engines.iter().zip(groups).enumerate() {
        let none = || WordFault::NoProgram(at + 1, words.join(" "));
        let command = engine.get("command").and_then(Value::as_str).ok_or_else(none)?;
        programs.push(if engine.contains_key("name") { String::new() } else { command.to_owned() });
    }
    for (engine, name) in engines.iter_mut().zip(names_of(&programs)) {
        engine.entry("name").or_insert_with(|| name.into());
    }
    Ok(engines)
}
