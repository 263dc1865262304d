//! The program: from the command line to an exit code.

#[macro_use]
extern crate event;

mod cli;
mod commands;
mod diagnostics;
mod guide;
mod habits;
mod missing;
mod screen;

use commands::Exit;
use event::output;
use std::process::ExitCode;
use words::Language;

fn main() -> ExitCode {
    if let Some(ended) = platform::life::init() {
        return ended;
    }
    platform::files::keep_private();
    let arguments = cli::parse();
    if let Err(fault) = diagnostics::start(arguments.verbose) {
        err_line!("renmei: {fault}");
        return Exit::Wrong.into();
    }
    let language = arguments.language.unwrap_or_else(|| Language::of_locale(&platform::terminal::locale()));
    let ended = arguments.command.ended(language);
    output::settle();
    match output::lost() {
        Some(why) if ended == Exit::Done => {
            err_line!("renmei: stdout: {why}: what was printed is not all there");
            Exit::Failed.into()
        }
        _ => ended.into(),
    }
}
