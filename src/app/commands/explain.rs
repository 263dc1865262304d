//! `renmei explain`: why games were lost.

use super::{
    Exit, Failure, find_event, pretty,
    values::{COMMENTED, EffortArgs, RECORD_FORMATS, one_of},
};
use clap::{Args, builder::RangedU64ValueParser};
use event::{write, write_picture};
use explain::{
    Explanation, Settings, Summary,
    losses::{Digested, Losses, Wanted, searches},
};
use journal::{EventSummary, FullGame, Store};
use notation::record::Format;
use platform::files::{self, Access};
use referee::{annotations::Comment, entry::GameId, evaluation::Evaluation, number::number};
use report::{
    plot::{self, Size},
    scale::Given,
};
use rsshogi::board;
use serde::Serialize;
use std::{
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
    let of = args.losses.as_deref().unwrap_or_default();
    let wanted =
        args.game.map_or(Wanted::Losses { of, last: args.last.map(NonZeroUsize::get) }, Wanted::Game);
    let losses = Losses::read(&store, event, wanted, |_| args.trust)?;
    let settings = Settings { nodes: args.nodes, times: args.times, patience: args.effort.patience() };
    let here = args.effort.pool::<()>().here;
    let progress = |done, of| {
        if of > 1 {
            err_line!("{done} of {} searched", number(of, "game"));
        }
    };
    let explanations = losses.explain(&judge, &searches(&args.db), settings, here, progress, || true)?;
    let left_out = losses.left_out;
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

fn judge(args: &ExplainArgs) -> Result<Digested, Failure> {
    let command = args.judge.judge.as_deref().unwrap_or("renmei-pairwise");
    let engine = explain::engine(command, &args.judge.judge_option)
        .map_err(|why| Failure::Usage(format!("--judge: {why}")))?;
    let digest = explain::digest(&engine)
        .map_err(|why| Failure::Usage(format!("`{}`: {why}", engine.command.display())))?;
    Ok((Arc::new(engine), digest))
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
