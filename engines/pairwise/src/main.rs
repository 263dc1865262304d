//! `renmei-pairwise`: without a command a USI engine; the commands prepare what it plays with.

use std::{error::Error, io, process::ExitCode};

use clap::{Parser, Subcommand};
use pairwise::learn::{self, LearnArguments};

/// A USI shogi engine. Without a command it speaks USI on stdin and stdout.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Learn(LearnArguments),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        None => ExitCode::SUCCESS,
        Some(Command::Learn(arguments)) => told(learn::run(&arguments, &mut io::stdout())),
    }
}

fn told(result: Result<(), impl Error>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    eprintln!("renmei-pairwise: {error}");
    ExitCode::FAILURE
}
