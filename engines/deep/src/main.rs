//! `renmei-deep`: without a command a USI engine; the commands make what it plays with, and measure it.

mod command;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match command::Arguments::parse().run() {
        Ok(code) => code,
        Err(fault) => {
            eprintln!("renmei-deep: {fault}");
            ExitCode::FAILURE
        }
    }
}
