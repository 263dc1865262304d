//! The command line of `renmei-pairwise`: a USI engine by default; the commands prepare its data.

use crate::bench::{self, BenchArguments};
use crate::engine::Pairwise;
use crate::learn::{self, LearnArguments};
use crate::scale::{self, ScaleArguments};
use clap::{Parser, Subcommand};
use opening_book::BookArguments;
use std::{error::Error, io, process::ExitCode};

/// A USI shogi engine. Without a command it speaks USI on stdin and stdout.
#[derive(Parser)]
#[command(name = "renmei-pairwise", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Speak USI on stdin and stdout
    Usi,
    Learn(LearnArguments),
    Book(BookArguments),
    Bench(BenchArguments),
    Scale(ScaleArguments),
}

/// Parses the command line and runs the command.
#[must_use]
pub fn main() -> ExitCode {
    let mut out = io::stdout();
    match Arguments::parse().command {
        None | Some(Command::Usi) => usi_shell::run(Pairwise::default()),
        Some(Command::Learn(arguments)) => exit_code(learn::run(&arguments, &mut out)),
        Some(Command::Book(arguments)) => exit_code(opening_book::run(&arguments, &mut out)),
        Some(Command::Bench(arguments)) => exit_code(bench::run(&arguments, &mut out)),
        Some(Command::Scale(arguments)) => exit_code(scale::run(&arguments)),
    }
}

fn exit_code(result: Result<(), impl Error>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    eprintln!("renmei-pairwise: {error}");
    ExitCode::FAILURE
}
