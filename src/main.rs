//! The program: what was typed becomes one command, and the command an exit code.

use renmei::{
    cli::{self, Command},
    commands::{self, Exit},
};
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match cli::parse().command {
        Command::Run(args) => commands::run(&args),
        Command::Match(args) => commands::ad_hoc(&args),
        Command::Serve(args) => commands::serve(&args),
        Command::Report(args) => commands::report(&args),
        Command::Sprt(args) => commands::sprt(&args),
        Command::Completions { shell } => commands::completions(shell),
        Command::Check(_) | Command::Export(_) | Command::Import(_) => todo!(),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => {
            eprintln!("renmei: {failure}");
            Exit::from(&failure).into()
        }
    }
}
