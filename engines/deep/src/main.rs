//! `renmei-deep`: a USI engine by default; the commands train networks and measure them.

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
