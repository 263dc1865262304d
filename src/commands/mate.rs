//! `renmei mate`: mate problems for engines, and proofs of their answers.

use super::{Exit, Failure, pretty};
use crate::cli::MateArgs;
use explain::{
    AskFault, Pool,
    mate::{Solved, Solver, proof},
};
use plan::EnginePlan;
use rsshogi::{board, types::Move};
use serde::Serialize;
use std::{path::Path, sync::Arc, time::Duration};

/// Largest file of problems that is read.
const MOST_BYTES: u64 = 64 << 20;
/// Columns of a name.
const NAME: usize = 24;

/// A mate problem.
struct Problem {
    name: String,
    sfen: String,
    /// The solution of the record; may be empty.
    moves: Vec<Move>,
}

/// A problem with an answer.
#[derive(Serialize)]
struct Row {
    problem: String,
    sfen: String,
    /// The engine; absent for the solution of the record.
    engine: Option<String>,
    #[serde(flatten)]
    solved: Solved,
    /// `forced`, `not forced` or `line mates`, or why the line is no mate; absent without a line.
    proof: Option<String>,
    /// True if the line is a mate by the rules.
    mates: bool,
}

/// Asks engines for mates, or proves the solutions of records.
pub fn mate(args: &MateArgs) -> Result<Exit, Failure> {
    board::init();
    let engine = |command: &String| {
        let engine = explain::engine(command, &args.option).map_err(|why| Failure::Usage(why.to_string()))?;
        Ok(Arc::new(engine))
    };
    let engines: Vec<Arc<EnginePlan>> = args.engine.iter().map(engine).collect::<Result<_, Failure>>()?;
    let (problems, left_out) = problems(args);
    left_out.iter().for_each(|line| err_line!("left out: {line}"));
    if problems.is_empty() {
        return Err(Failure::Usage("no problem could be read".to_owned()));
    }
    let rows = match engines.is_empty() {
        true => problems.iter().map(given).collect(),
        false => solved(args, &problems, &engines)?,
    };
    match args.json {
        true => out_line!("{}", pretty(&rows)?),
        false => print(&rows),
    }
    Ok(match (left_out.is_empty(), rows.iter().all(|row| row.mates)) {
        (false, _) => Exit::Failed,
        (true, true) => Exit::Done,
        (true, false) => Exit::Faults,
    })
}

fn problems(args: &MateArgs) -> (Vec<Problem>, Vec<String>) {
    let (files, faults) = records::found(&args.problems);
    let mut left_out: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let mut problems = vec![];
    for file in files {
        let read = records::read(&file, MOST_BYTES);
        let is_one = read.len() == 1;
        for (at, record) in read.into_iter().enumerate() {
            match record {
                Err(fault) => left_out.push(fault.to_string()),
                Ok(record) => problems.push(Problem {
                    name: name(&file, (!is_one).then_some(at + 1)),
                    sfen: record.start,
                    moves: record.plies.iter().map(|ply| ply.mv).collect(),
                }),
            }
        }
    }
    (problems, left_out)
}

fn name(file: &Path, number: Option<usize>) -> String {
    let stem = notation::file_name(&file.file_stem().unwrap_or_default().to_string_lossy()).to_string();
    number.map_or(stem.clone(), |number| format!("{stem} {number}"))
}

/// The proof of a record's own solution.
fn given(problem: &Problem) -> Row {
    let moves = problem.moves.iter().map(|mv| mv.to_usi()).collect();
    let solved = Solved { answer: "given", moves, ..Solved::default() };
    judged(problem, None, solved)
}

fn judged(problem: &Problem, engine: Option<String>, solved: Solved) -> Row {
    let moves: Option<Vec<Move>> = solved.moves.iter().map(|mv| Move::from_usi(mv)).collect();
    let judged = moves.filter(|moves| !moves.is_empty()).map(|moves| proof(&problem.sfen, &moves));
    let mates = matches!(judged, Some(Ok(_)));
    let proof = judged.map(|judged| match judged {
        Ok(proof) => proof.to_string(),
        Err(flaw) => flaw.to_string(),
    });
    Row { problem: problem.name.clone(), sfen: problem.sfen.clone(), engine, solved, proof, mates }
}

fn solved(args: &MateArgs, problems: &[Problem], engines: &[Arc<EnginePlan>]) -> Result<Vec<Row>, Failure> {
    let cores = platform::cores::usable().len().max(1);
    let pool = Pool { workers: args.jobs.map_or(cores, usize::from), guests: vec![] };
    let (time, of) = (Duration::from_secs(args.time), problems.len());
    let mut rows: Vec<Vec<Row>> = (0..of).map(|_| vec![]).collect();
    let (mut done, mut fault) = (0, None);
    explain::each(
        pool,
        problems,
        |_| engines.iter().cloned().map(Solver::new).collect::<Vec<_>>(),
        async |solvers, problem| {
            let mut own = vec![];
            for (solver, engine) in solvers.iter_mut().zip(engines) {
                let solved = solver.solve(&problem.sfen, time).await?;
                own.push(judged(problem, Some(engine.name.clone()), solved));
            }
            Ok(own)
        },
        |at, answered: Result<Vec<Row>, AskFault>| {
            done += 1;
            match answered {
                Ok(own) => rows[at] = own,
                Err(why) => drop(fault.get_or_insert(why)),
            }
            if of > 1 {
                err_line!("{done} of {of} problems");
            }
            fault.is_none()
        },
    )
    .map_err(|why| Failure::Other(why.to_string()))?;
    match fault {
        Some(why) => Err(Failure::Other(why.to_string())),
        None => Ok(rows.into_iter().flatten().collect()),
    }
}

fn print(rows: &[Row]) {
    out_line!(
        "{:<NAME$}  {:<16}  {:<14}  {:>5}  {:>8}  {:>12}  proof",
        "problem",
        "engine",
        "answer",
        "plies",
        "time",
        "nodes"
    );
    for row in rows {
        let Solved { answer, moves, seconds, nodes } = &row.solved;
        let nodes = nodes.map_or("-".to_owned(), |nodes| nodes.to_string());
        let time = if row.engine.is_some() { format!("{seconds:.2} s") } else { "-".to_owned() };
        out_line!(
            "{:<NAME$}  {:<16}  {answer:<14}  {:>5}  {time:>8}  {nodes:>12}  {}",
            row.problem,
            row.engine.as_deref().unwrap_or("the record"),
            moves.len(),
            row.proof.as_deref().unwrap_or("-")
        );
    }
    out_line!("{} of {} mate by the rules", rows.iter().filter(|row| row.mates).count(), rows.len());
}
