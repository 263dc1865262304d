//! `renmei-pairwise`: without a command a USI engine; the commands prepare what it plays with.

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use pairwise::bench::{self, BenchArguments};
use pairwise::engine::Pairwise;

/// A USI shogi engine. Without a command it speaks USI on stdin and stdout.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Speak USI on stdin and stdout
    Usi,
    /// Measure how fast the engine searches and evaluates
    Bench(BenchArguments),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        None | Some(Command::Usi) => usi_shell::run(Pairwise::default()),
        Some(Command::Bench(arguments)) => told(bench::run(&arguments)),
    }
}

/// Prints what a command has to say, or why it failed.
fn told<E: Error>(result: Result<String, E>) -> ExitCode {
    match result {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}
