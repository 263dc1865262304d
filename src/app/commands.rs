//! The commands, a file each: arguments, help and execution.

mod account;
mod admin;
mod analyze;
mod attribute;
mod bisect;
mod check;
mod descriptors;
mod desk;
mod doctor;
mod explain;
mod export;
mod floodgate;
mod games;
mod hall;
mod import;
mod init;
mod ledger;
mod log;
mod man;
#[path = "commands/match.rs"]
pub mod matches;
mod pack;
mod person;
mod playing;
mod prune;
mod queue;
mod report;
mod rerun;
mod run;
mod serve;
mod service;
mod sprt;
mod suite;
mod test;
mod tune;
mod values;
mod verify;
mod version;
mod watch;
mod web;
#[cfg_attr(not(feature = "machines"), path = "commands/worker/missing.rs")]
mod worker;

pub use event::{Exit, Failure, OpenScreen, event_to_change, find_event, pretty};

use crate::{cli, screen};
use clap::Subcommand;
use std::{
    io,
    path::{Path, PathBuf},
};
use words::Language;

/// The commands by what they are for, as `renmei --help` lists them.
pub const GROUPS: [(&str, &[&str]); 7] = [
    ("Play", &["desk", "init", "run", "match", "hall", "floodgate"]),
    ("Host", &["serve", "account", "admin", "rerun"]),
    ("Watch", &["watch", "web", "log"]),
    ("Results", &["report", "ledger", "sprt", "explain", "analyze"]),
    ("Improve", &["test", "bisect", "tune", "attribute", "queue", "suite"]),
    ("Files", &["export", "import", "pack", "verify", "prune"]),
    ("Machine", &["doctor", "check", "worker", "service", "completions", "version"]),
];

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Play the event of a configuration file, or resume it.
    Run(run::RunArgs),
    /// Play engines against each other without a configuration file.
    Match(Box<matches::MatchArgs>),
    /// Play two commits of a repository against each other.
    Test(Box<test::TestArgs>),
    /// Find the commit of a repository that lost strength.
    Bisect(Box<bisect::BisectArgs>),
    /// Play a league of builds: which parts of an engine are worth how much.
    Attribute(Box<attribute::AttributeArgs>),
    /// Tune options of an engine by games.
    Tune(Box<tune::TuneArgs>),
    /// Play tests of commits one after another, or by shares.
    Queue(Box<queue::QueueArgs>),
    /// Open the desk: engines, events and results in the browser, without a terminal.
    Desk(desk::DeskArgs),
    /// Play the events of all configuration files in a directory beside each other.
    Hall(hall::HallArgs),
    /// Play games of an event that another machine manages.
    Worker(worker::WorkerArgs),
    /// Host a league over the network, by the CSA server protocol.
    Serve(serve::ServeArgs),
    /// Play with an engine on floodgate, or on another CSA server.
    Floodgate(floodgate::FloodgateArgs),
    /// Check what this machine has and lacks for events, and how to mend it.
    Doctor(doctor::DoctorArgs),
    /// Check what would go wrong with an engine in an event.
    Check(check::CheckArgs),
    /// Report an event: standings, Elo and endings as text, JSON, page or picture.
    Report(report::ReportArgs),
    /// Show an event in the terminal while another process plays it, or after its end.
    Watch(watch::WatchArgs),
    /// Show an event in the browser while another process plays it, or after its end.
    Web(web::WebArgs),
    /// Export games of a database as record files.
    Export(export::ExportArgs),
    /// Import record files, or results alone, into a database.
    Import(import::ImportArgs),
    /// Pack a database with its records and seals into one file to hand over.
    Pack(pack::PackArgs),
    /// Verify that a database is as it was played, and name what was altered.
    Verify(verify::VerifyArgs),
    /// Rate the players of many events together, with error bars.
    Ledger(ledger::LedgerArgs),
    /// Explain why games were lost: the move, the phase and the cause.
    Explain(explain::ExplainArgs),
    /// Let engines search every position of record files, and comment the moves.
    Analyze(analyze::AnalyzeArgs),
    /// Count the positions of a suite that an engine solves.
    Suite(suite::SuiteArgs),
    /// Manage the players who may log in to a league.
    Account(account::AccountArgs),
    /// Drop the moves of old games from a database; results and ratings stay.
    Prune(prune::PruneArgs),
    /// Play games again that a player lost by a fault: a crash, an illegal move, no answer.
    Rerun(rerun::RerunArgs),
    /// Act as the operator of an event that is played: pause it, rule on a game, ban a player.
    Admin(admin::AdminArgs),
    /// Print the conversation with the engines or players of a game, line by line.
    Log(log::LogArgs),
    /// Compute an SPRT, Elo and error bounds from counts.
    Sprt(sprt::SprtArgs),
    /// Write a preset configuration into this directory; without a name, list the presets.
    Init(init::InitArgs),
    /// Keep an event, a host, a client or a worker running as a service of this machine.
    Service(service::ServiceArgs),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print what this program was built of, and the versions of what it speaks.
    Version(version::VersionArgs),
    /// Be a person at the desk, as an engine of its games; for the desk alone.
    #[command(hide = true)]
    Person(person::PersonArgs),
    /// Write manual pages into a directory, for packages.
    #[command(hide = true)]
    Man(man::ManArgs),
}

impl Command {
    /// Does what the command line asks for, in the language of the user.
    ///
    /// # Errors
    /// When it cannot be done.
    pub fn execute(&self, language: Language) -> Result<Exit, Failure> {
        let screen = OpenScreen { language, open: screen::open };
        match self {
            Self::Run(args) => run::run(args, screen),
            Self::Match(args) => matches::play(args, screen),
            Self::Test(args) => test::test(args, screen),
            Self::Bisect(args) => bisect::bisect(args),
            Self::Attribute(args) => attribute::attribute(args, screen),
            Self::Tune(args) => tune::tune(args, screen),
            Self::Queue(args) => queue::queue(args),
            Self::Desk(args) => desk::desk(args),
            Self::Hall(args) => hall::hall(args),
            Self::Worker(args) => worker::worker(args),
            Self::Serve(args) => serve::serve(args, screen),
            Self::Floodgate(args) => floodgate::floodgate(args, screen),
            Self::Doctor(args) => doctor::doctor(args),
            Self::Check(args) => check::check(args),
            Self::Report(args) => report::report(args, language),
            Self::Watch(args) => watch::watch(args, language),
            Self::Web(args) => web::web(args),
            Self::Export(args) => export::export(args),
            Self::Import(args) => import::import(args, language),
            Self::Pack(args) => pack::pack(args),
            Self::Verify(args) => verify::verify(args),
            Self::Ledger(args) => ledger::ledger(args, language),
            Self::Explain(args) => explain::explain(args),
            Self::Analyze(args) => analyze::analyze(args),
            Self::Suite(args) => suite::suite(args),
            Self::Account(args) => account::account(args),
            Self::Prune(args) => prune::prune(args),
            Self::Rerun(args) => rerun::rerun(args),
            Self::Admin(args) => admin::admin(args),
            Self::Log(args) => log::log(args),
            Self::Sprt(args) => sprt::sprt(args),
            Self::Init(args) => init::init(args),
            Self::Service(args) => service::service(args, |command| command.ended(Language::English)),
            Self::Version(args) => version::version(args),
            Self::Person(args) => person::person(args),
            Self::Man(args) => man::manual(args),
            Self::Completions { shell } => completions(*shell),
        }
    }

    /// Executes the command; the reason of a failure goes to stderr.
    pub fn ended(&self, language: Language) -> Exit {
        self.execute(language).unwrap_or_else(|failure| {
            err_line!("renmei: {}", language.fault(&failure));
            Exit::from(&failure)
        })
    }
}

/// The database of a command: the one that is named, else the only one in the current directory, or the newest of several.
pub(crate) fn database(named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let found = journal::databases_in(Path::new("."));
    let newest = found.first().ok_or_else(|| {
        Failure::Usage(
            "this directory has no database (*.db); name one, as in `renmei report league.db`".to_owned(),
        )
    })?;
    if found.len() > 1 {
        err_line!(
            "`{}`, the newest of {} databases here; name another one to see it",
            newest.display(),
            found.len()
        );
    }
    Ok(newest.clone())
}

/// Prints a completion script.
fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    clap_complete::generate(shell, &mut cli::command(), "renmei", &mut io::stdout());
    Ok(Exit::Done)
}
