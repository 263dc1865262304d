//! The command line of `renmei-pairwise`: a USI engine by default; the commands prepare its data.

use crate::Fault;
use crate::bench::{self, BenchArguments};
use crate::engine::Pairwise;
use crate::learn::{self, LearnArguments};
use crate::scale::{self, ScaleArguments};
use clap::{Parser, Subcommand};
use opening_book::BookArguments;
use std::{io, process::ExitCode};

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
pub fn main() -> ExitCode {
    let mut out = io::stdout();
    let done = match Arguments::parse().command {
        None | Some(Command::Usi) => return usi_shell::run(Pairwise::default()),
        Some(Command::Learn(arguments)) => learn::run(&arguments, &mut out),
        Some(Command::Book(arguments)) => opening_book::run(&arguments, &mut out).map_err(Fault::from),
        Some(Command::Bench(arguments)) => bench::run(&arguments, &mut out),
        Some(Command::Scale(arguments)) => scale::run(&arguments),
    };
    let Err(error) = done else { return ExitCode::SUCCESS };
    eprintln!("renmei-pairwise: {error}");
    ExitCode::FAILURE
}
