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

use cli::Command;
use commands::{Exit, Failure};
use event::output;
use std::process::ExitCode;

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
    report(perform(arguments.command)).into()
}

/// Does what the command line asks for.
fn perform(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => commands::run(&args, screen::open),
        Command::Match(args) => commands::ad_hoc(&args, screen::open),
        Command::Test(args) => commands::test(&args, screen::open),
        Command::Attribute(args) => commands::attribute(&args, screen::open),
        Command::Bisect(args) => commands::bisect(&args),
        Command::Tune(args) => commands::tune(&args, screen::open),
        Command::Queue(args) => commands::queue(&args),
        Command::Hall(args) => commands::hall(&args),
        Command::Cache(args) => commands::cache(args),
        Command::Worker(args) => commands::worker(&args),
        Command::Serve(args) => commands::serve(&args, screen::open),
        Command::Floodgate(args) => commands::floodgate(&args, screen::open),
        Command::Report(args) => commands::report(&args),
        Command::Watch(args) => screen::watch(&args),
        Command::Web(args) => commands::web(&args),
        Command::Account(args) => commands::account(&args),
        Command::Admin(args) => commands::admin(&args),
        Command::Log(args) => commands::log(&args),
        Command::Rerun(args) => commands::rerun(&args),
        Command::Prune(args) => commands::prune(&args),
        Command::Sprt(args) => commands::sprt(&args),
        Command::Init(args) => commands::init(&args),
        Command::Systemd(args) => commands::systemd(&args),
        Command::Service(args) => commands::service(&args, |command| report(perform(command))),
        Command::Completions { shell } => commands::completions(shell),
        Command::Doctor(args) => commands::doctor(&args),
        Command::Version(args) => commands::version(&args),
        Command::Man(args) => commands::manual(&args),
        Command::Check(args) => commands::check(&args),
        Command::Export(args) => commands::export(&args),
        Command::Import(args) => commands::import(&args),
        Command::Pack(args) => commands::pack(&args),
        Command::Verify(args) => commands::verify(&args),
        Command::Ledger(args) => commands::ledger(&args),
        Command::Explain(args) => commands::explain(&args),
        Command::Analyze(args) => commands::analyze(&args),
        Command::Suite(args) => commands::suite(&args),
    }
}

/// The exit code of a command; the reason of a failure goes to stderr.
fn report(done: Result<Exit, Failure>) -> Exit {
    done.unwrap_or_else(|failure| {
        err_line!("renmei: {failure}");
        Exit::from(&failure)
    })
}
