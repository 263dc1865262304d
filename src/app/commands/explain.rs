//! `renmei explain`: why games were lost.

use super::{
    Exit, Failure, find_event, pretty,
    values::{COMMENTED, EffortArgs, RECORD_FORMATS, one_of},
};
use clap::{Args, builder::RangedU64ValueParser};
use contest::schedule::Pairing;
use event::{write, write_picture};
use explain::{Cache, ExplainFault, Explainer, Explanation, Line, NotStarted, Settings, Summary, of_record};
use journal::{EventSummary, FullGame, GameFilter, GameState, Store};
use notation::record::Format;
use plan::EnginePlan;
use platform::files::{self, Access};
use referee::{
    Color, Outcome,
    annotations::Comment,
    entry::{GameId, PlayerId},
    evaluation::Evaluation,
    number::number,
    rules::Rules,
};
use report::{
    plot::{self, Size},
    scale::Given,
};
use rsshogi::board;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The engine that gives a second opinion.
#[derive(Clone, Debug, Args)]
pub struct JudgeArgs {
    /// Command line of the judge, any USI engine [default: renmei-pairwise].
    #[arg(long, value_name = "COMMAND")]
    pub judge: Option<String>,
    /// An option of the judge, NAME=VALUE; several may be given.
    #[arg(long, value_name = "NAME=VALUE")]
    pub judge_option: Vec<String>,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The judge searches every position of the game with an eighth of the nodes, and the positions around the moves that cost
most with all of them. The move after which the loser's expected score never came back is where the game was lost. Then the
loser itself searches that position again, with up to --times as many nodes as in the game. Causes:
  time        it searched less than half of its usual nodes, and finds a better move with at most twice as many
  horizon     it finds a better move with more nodes
  evaluation  more nodes do not help, or it resigned a game that was open
  book        the turning point lies before the first move that it searched
  rules       it missed a win by declaration, or entered a repetition that loses
  fault       the game was open when it ended by a fault: time, an illegal move, a crash

The loser's program is the one on record, and only if its contents are still those on record. It runs in the strict sandbox,
as a database may be somebody else's; --trust runs it as the event did. What was searched is kept in DATABASE.searches, so
that an interrupted run continues.

Examples:
  renmei explain denou.db 17
  renmei explain denou.db --losses new --last 10 --trust
  renmei explain denou.db --losses new --suite new.sfen -o games/
  renmei explain denou.db 17 --judge '/opt/engine/usi --eval nn.bin' --nodes 1000000")]
pub struct ExplainArgs {
    /// The database.
    pub db: PathBuf,
    /// Number of a game.
    #[arg(value_name = "GAME", required_unless_present = "losses")]
    pub game: Option<u64>,
    /// Explain the games that this player lost.
    #[arg(long, value_name = "PLAYER", conflicts_with = "game")]
    pub losses: Option<String>,
    /// Of those, the last N.
    #[arg(long, value_name = "N", requires = "losses")]
    pub last: Option<NonZeroUsize>,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Nodes of the judge for a position.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub nodes: u64,
    /// The loser searches again with up to so many times its nodes.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = RangedU64ValueParser::<u64>::new().range(1..=1024))]
    pub times: u64,
    /// Start the losers' programs as the database says, outside the sandbox: only for events that you have played.
    #[arg(long)]
    pub trust: bool,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the worst positions of each player as a suite (`renmei suite`).
    #[arg(long, value_name = "FILE")]
    pub suite: Option<PathBuf>,
    /// Write the games into this directory, as KIF with the judge's opinion as comments and as pictures.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Format of these records.
    #[arg(long, value_parser = one_of(&RECORD_FORMATS[..COMMENTED]), default_value = "kifu")]
    pub format: Format,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// An engine with its digest.
type Engine = (Arc<EnginePlan>, String);

/// Explanations as JSON.
#[derive(Serialize)]
struct Document<'a> {
    event: &'a str,
    judge: &'a str,
    nodes: u64,
    games: &'a [Explanation],
    players: &'a [Summary<'a>],
    left_out: &'a [String],
}

/// Explains a game, or the games that a player lost.
pub fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    board::init();
    let store = Store::read(&args.db)?;
    let events = store.events()?;
    let event = find_event(&events, args.event.as_deref())?;
    let judge = judge(args)?;
    let games = games(args, &store, event)?;
    let mut left_out = vec![];
    let engines = engines(args, &store, event, &games, &mut left_out)?;
    let explanations = explained(args, event, games, &judge, &engines, &mut left_out)?;
    left_out.iter().for_each(|line| err_line!("{line}"));
    let summaries = Summary::of(&explanations);
    if let Some(path) = &args.suite {
        write_suite(path, &summaries)?;
    }
    if let Some(directory) = &args.output {
        write_records(args, &store, event, &judge.0.name, directory, &explanations)?;
    }
    if args.json {
        let document = Document {
            event: &event.name,
            judge: &judge.0.name,
            nodes: args.nodes,
            games: &explanations,
            players: &summaries,
            left_out: &left_out,
        };
        out_line!("{}", pretty(&document)?);
    } else {
        explanations.iter().for_each(|one| out_line!("{one}"));
        if args.losses.is_some() {
            summaries.iter().for_each(|summary| out!("{summary}"));
        }
    }
    Ok(if explanations.is_empty() { Exit::Failed } else { Exit::Done })
}

fn judge(args: &ExplainArgs) -> Result<Engine, Failure> {
    let command = args.judge.judge.clone().unwrap_or_else(|| explain::resident("renmei-pairwise"));
    let engine = explain::engine(&command, &args.judge.judge_option)
        .map_err(|why| Failure::Usage(format!("--judge: {why}")))?;
    let digest = explain::digest(&engine)
        .map_err(|why| Failure::Usage(format!("`{}`: {why}", engine.command.display())))?;
    Ok((Arc::new(engine), digest))
}

/// The games to explain, each with the side that lost it.
fn games(args: &ExplainArgs, store: &Store, event: &EventSummary) -> Result<Vec<(FullGame, Color)>, Failure> {
    let lost = |outcome: Option<Outcome>| outcome.and_then(Outcome::winner).map(|winner| !winner);
    if let Some(number) = args.game {
        let game = store.game(event.id, GameId(number))?;
        let game =
            game.ok_or_else(|| Failure::Usage(format!("event `{}` has no game {number}", event.name)))?;
        let loser = lost(game.row.outcome).ok_or_else(|| {
            Failure::Usage(format!("nobody has lost game {number}, so there is nothing to explain"))
        })?;
        return Ok(vec![(game, loser)]);
    }
    let name = args.losses.as_deref().unwrap_or_default();
    let player = event.players.iter().position(|known| known == name).ok_or_else(|| {
        let names = event.players.join(", ");
        Failure::Usage(format!("`{}` has no player `{name}`; it has: {names}", event.name))
    })?;
    let player = PlayerId(u32::try_from(player).unwrap_or(u32::MAX));
    let filter =
        GameFilter { player: Some(player), state: Some(GameState::Counted), ..GameFilter::default() };
    let mut losses = vec![];
    store.games::<Failure>(event.id, &filter, |row| {
        if let Some(color) = lost(row.outcome)
            && seated(&row.pairing, color) == player
        {
            losses.push((row.game, color));
        }
        Ok(())
    })?;
    if losses.is_empty() {
        return Err(Failure::Usage(format!("`{name}` has lost no game of `{}`", event.name)));
    }
    let skipped = args.last.map_or(0, |last| losses.len().saturating_sub(last.get()));
    let whole = |(game, color)| Ok(store.game(event.id, game)?.map(|game| (game, color)));
    losses.drain(skipped..).filter_map(|loss| whole(loss).transpose()).collect()
}

/// The player of a side.
fn seated(pairing: &Pairing, color: Color) -> PlayerId {
    if color == Color::Black { pairing.black } else { pairing.white }
}

/// The losers' engines, by player; why others are not here is added to `left_out`.
fn engines(
    args: &ExplainArgs,
    store: &Store,
    event: &EventSummary,
    games: &[(FullGame, Color)],
    left_out: &mut Vec<String>,
) -> Result<BTreeMap<PlayerId, Engine>, Failure> {
    let plans: Vec<EnginePlan> = part(event, "engines")?.unwrap_or_default();
    let known = store.identities(event.id)?;
    let mut players: Vec<PlayerId> =
        games.iter().map(|(game, loser)| seated(&game.row.pairing, *loser)).collect();
    players.sort_unstable();
    players.dedup();
    let mut engines = BTreeMap::new();
    for player in players {
        let identity = known.iter().rev().find(|known| known.player == player);
        let hash = identity.and_then(|known| known.identity.hash.as_deref());
        let engine = match plans.get(player.index()) {
            Some(plan) => of_record(plan.clone(), hash, args.trust),
            None => Err(NotStarted::NoProgram),
        };
        match engine {
            Ok(engine) => drop(engines.insert(player, engine)),
            Err(why) => {
                let name = event.players.get(player.index()).map_or("?", String::as_str);
                left_out.push(format!("`{name}` was not searched again: {why}"));
            }
        }
    }
    Ok(engines)
}

/// A part of the stored plan; absent from records that were read in.
fn part<T: DeserializeOwned>(event: &EventSummary, key: &str) -> Result<Option<T>, Failure> {
    let unreadable = |error: serde_json::Error| {
        Failure::Other(format!("the stored plan of `{}` cannot be read: {error}", event.name))
    };
    let mut plan: BTreeMap<String, Value> = serde_json::from_str(&event.plan).map_err(unreadable)?;
    plan.remove(key).map(serde_json::from_value).transpose().map_err(unreadable)
}

fn explained(
    args: &ExplainArgs,
    event: &EventSummary,
    games: Vec<(FullGame, Color)>,
    judge: &Engine,
    engines: &BTreeMap<PlayerId, Engine>,
    left_out: &mut Vec<String>,
) -> Result<Vec<Explanation>, Failure> {
    let rules: Rules = part(event, "rules")?.unwrap_or_default();
    let mut lines = vec![];
    for (game, loser) in games {
        let (number, player) = (game.row.game.0, seated(&game.row.pairing, loser));
        match Line::of(&game, &rules) {
            Ok(line) => lines.push((number, line, loser, engines.get(&player))),
            Err(why) => left_out.push(format!("game {number} is left out: {why}")),
        }
    }
    let cache = Cache::open(&searches(&args.db)).map_err(|why| Failure::Other(why.to_string()))?;
    let settings = Settings { nodes: args.nodes, times: args.times, patience: args.effort.patience() };
    let (of, mut done, mut fault) = (lines.len(), BTreeMap::new(), None);
    explain::each(
        args.effort.pool(),
        lines,
        |actors| Explainer::new(judge, &cache, settings, actors),
        async |explainer, (number, line, loser, own)| explainer.explain(*number, line, *loser, *own).await,
        |at, result: Result<Explanation, ExplainFault>| {
            match result {
                Ok(explanation) => {
                    done.insert(at, explanation);
                    if of > 1 {
                        err_line!("{} of {} searched", done.len(), number(of, "game"));
                    }
                }
                Err(why) => drop(fault.get_or_insert(why)),
            }
            fault.is_none()
        },
    )
    .map_err(|why| Failure::Other(why.to_string()))?;
    match fault {
        Some(why) => Err(Failure::Other(format!("{why}; the same command goes on with what was searched"))),
        None => Ok(done.into_values().collect()),
    }
}

/// The file beside a database that keeps searches.
fn searches(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".searches");
    PathBuf::from(name)
}

fn write_suite(path: &Path, summaries: &[Summary<'_>]) -> Result<(), Failure> {
    let tasks: Vec<_> =
        summaries.iter().flat_map(|summary| &summary.worst).filter_map(|one| one.task()).collect();
    let text: String = tasks.iter().map(|task| format!("{task}\n")).collect();
    write(path, text.as_bytes())?;
    err_line!("{}: {}", path.display(), number(tasks.len(), "position"));
    Ok(())
}

/// Writes each game as a record with the judge's opinion as comments, and as a picture.
fn write_records(
    args: &ExplainArgs,
    store: &Store,
    event: &EventSummary,
    judge: &str,
    directory: &Path,
    explanations: &[Explanation],
) -> Result<(), Failure> {
    let fault = |why| Failure::Other(format!("`{}`: {why}", directory.display()));
    files::create_directory(directory, Access::Shared).map_err(fault)?;
    let scales = Given::of(event);
    for one in explanations {
        let Some(game) = store.game(event.id, GameId(one.game))? else { continue };
        let name = format!(
            "{:06}-{}-{}",
            one.game,
            notation::file_name(&game.row.black),
            notation::file_name(&game.row.white)
        );
        let bytes = record(store, event, &game, judge, one, args.format)?;
        let file = PathBuf::from(format!("{name}.{}", args.format.extension()));
        files::write_below(directory, &file, &bytes, Access::Shared).map_err(fault)?;
        let opinions: Vec<(u32, Evaluation)> =
            opinions(one).filter_map(|(ply, judged)| Some((ply, judged.evaluation?))).collect();
        let plot = plot::judged(&game, scales.game(&game.row.pairing), Some((judge, &opinions)), Size::Wide);
        write_picture(&plot, &directory.join(format!("{name}.svg")))?;
    }
    err_line!("{}: {}", directory.display(), number(explanations.len(), "record"));
    Ok(())
}

/// The judge's opinions with the numbers of the moves that they are about.
fn opinions(one: &Explanation) -> impl Iterator<Item = (u32, &explain::Judged)> {
    let first = i64::from(one.ply) - one.at as i64 - 1;
    one.judged.iter().filter_map(move |judged| Some((u32::try_from(first + judged.at as i64).ok()?, judged)))
}

fn record(
    store: &Store,
    event: &EventSummary,
    game: &FullGame,
    judge: &str,
    one: &Explanation,
    format: Format,
) -> Result<Vec<u8>, Failure> {
    let mut annotations = store.annotations(event.id, game.row.game)?;
    for (ply, judged) in opinions(one) {
        let mut text = judged.comment(judge);
        if judged.at == one.at + usize::from(one.mv.is_some()) {
            text = format!("{}\n{text}", one.comment());
        }
        annotations.comments.push(Comment { line: 0, ply, text });
    }
    annotations.comments.sort_by_key(|comment| (comment.line, comment.ply));
    let name = store.game_name(event.id, game.row.game)?;
    Ok(records::one(event, game, name, &annotations, format)?)
}
