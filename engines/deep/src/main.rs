//! `renmei-deep`: trains networks, measures them, and says what they think of a position.

mod command;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match command::Arguments::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("renmei-deep: {fault}");
            ExitCode::FAILURE
        }
    }
}
