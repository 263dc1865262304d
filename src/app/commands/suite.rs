//! `renmei suite`: the moves of an engine in positions whose best moves are known.

use super::{Exit, Failure, analyze::MOST_BYTES, pretty, values::EffortArgs};
use clap::{Args, builder::RangedU64ValueParser};
use explain::{
    AskFault, Asker, Found, Here, Pool,
    suite::{self, Task},
};
use platform::files;
use rsshogi::board;
use serde::Serialize;
use std::{path::PathBuf, time::Duration};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
A suite is a text file with a position a line: SFEN, then `bm` with moves in USI of which one has to be found, `am` with
moves to avoid, `id` with a name, each ended by `;`:
  lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 bm 7g7f 2g2f; id \"first move\";

Exit codes: 0 at least --least positions were solved (by default all), 20 fewer were.

Examples:
  renmei suite ./engine new.sfen --nodes 100000
  renmei suite './engine --threads 1' new.sfen --option USI_Hash=64 --least 8")]
pub struct SuiteArgs {
    /// Command line of the engine.
    pub engine: String,
    /// The suite; `-`: standard input.
    pub file: PathBuf,
    /// Nodes for a position.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub nodes: u64,
    /// An option of the engine, NAME=VALUE; several may be given.
    #[arg(long, value_name = "NAME=VALUE")]
    pub option: Vec<String>,
    /// Positions that have to be solved [default: all].
    #[arg(long, value_name = "N")]
    pub least: Option<usize>,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// A position with the engine's answer.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    task: &'a Task,
    solved: bool,
    #[serde(flatten)]
    found: Found,
}

/// Asks an engine for its moves in all positions of a suite.
pub fn suite(args: &SuiteArgs) -> Result<Exit, Failure> {
    board::init();
    let engine =
        explain::engine(&args.engine, &args.option).map_err(|why| Failure::Usage(why.to_string()))?;
    let name = args.file.display();
    let text = files::typed_contents(&args.file, MOST_BYTES).and_then(files::utf8);
    let text = text.map_err(|why| Failure::Usage(format!("`{name}`: {why}")))?;
    let tasks = suite::read(&text).map_err(|why| Failure::Usage(format!("`{name}`: {why}")))?;
    let patience = args.effort.patience();
    let mut answers: Vec<Option<Result<Found, AskFault>>> = tasks.iter().map(|_| None).collect();
    let positions = tasks.iter().map(|task| (format!("sfen {}", task.sfen), suite::mover(&task.sfen)));
    explain::each(
        args.effort.pool(),
        positions,
        |actors| Asker::impatient(&engine, patience, actors),
        async |asker, (position, mover)| asker.ask(position, *mover, args.nodes).await,
        |at, answer| {
            let goes_on = answer.is_ok();
            answers[at] = Some(answer);
            goes_on
        },
    )
    .map_err(|why| Failure::Other(why.to_string()))?;
    // The first fault has ended the work, so that later positions may have no answer.
    let answers: Vec<Found> = answers
        .into_iter()
        .flatten()
        .collect::<Result<_, _>>()
        .map_err(|why| Failure::Other(why.to_string()))?;
    let rows: Vec<Row<'_>> = tasks
        .iter()
        .zip(answers)
        .map(|(task, found)| Row { solved: task.passes(&found.mv), task, found })
        .collect();
    print(&rows, args.json)?;
    let solved = rows.iter().filter(|row| row.solved).count();
    Ok(if solved >= args.least.unwrap_or(rows.len()) { Exit::Done } else { Exit::Faults })
}

fn print(rows: &[Row<'_>], json: bool) -> Result<(), Failure> {
    if json {
        out_line!("{}", pretty(&rows)?);
        return Ok(());
    }
    for (at, Row { task, solved, found }) in rows.iter().enumerate() {
        let mark = if *solved { "solved" } else { "  -   " };
        let wanted =
            [("bm", &task.best), ("am", &task.avoid)].into_iter().filter(|(_, moves)| !moves.is_empty());
        let wanted: Vec<String> = wanted.map(|(code, moves)| format!("{code} {}", moves.join(" "))).collect();
        let id = if task.id.is_empty() { String::new() } else { format!("  {}", task.id) };
        out_line!("{:>4}  {mark}  {:<8}  {}{id}", at + 1, found.mv, wanted.join(", "));
    }
    let solved = rows.iter().filter(|row| row.solved).count();
    out_line!("{solved} of {} solved", rows.len());
    Ok(())
}

impl EffortArgs {
    /// The workers of these arguments.
    pub fn pool<S>(&self) -> Pool<'_, S> {
        let cores = platform::cores::usable().len().max(1);
        Pool { here: Here::alone(self.jobs.map_or(cores, usize::from)), guests: vec![] }
    }

    /// Most time for a search.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.patience)
    }
}
