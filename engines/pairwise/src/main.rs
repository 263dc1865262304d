//! `renmei-pairwise`: without a command a USI engine; the commands prepare what it plays with.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A USI shogi engine. Without a command it speaks USI on stdin and stdout.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {}

fn main() -> ExitCode {
    match Arguments::parse().command {
        None => ExitCode::SUCCESS,
        Some(command) => match command {},
    }
}
