//! `renmei import`: record files into a database.

use super::{Exit, Failure, pretty};
use clap::Args;
use std::{
    cell::Cell,
    path::PathBuf,
    time::{Duration, Instant},
};
use words::Language;

/// Least time between two lines about a long import.
const PACE: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, Args)]
pub struct ImportArgs {
    /// Record files of any format, and directories with them; format and encoding are detected. Or one file .tsv or .csv
    /// with results of games without moves: columns `round`, `black`, `white`, `result`, or a table with a column a round or
    /// a player; or a tournament report of FIDE, .trf.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The database to import into; not needed with --verify.
    #[arg(long, value_name = "FILE", required_unless_present = "verify")]
    pub db: Option<PathBuf>,
    /// Replay each record through the referee and report disagreements.
    #[arg(long)]
    pub verify: bool,
    /// Name of the event that receives the games.
    #[arg(long, default_value = "import", value_name = "NAME", requires = "db")]
    pub event: String,
    /// File with the tables `[scoring]` and `[tiebreaks]` for a file of results; else a win is 1 point, and the tie-breaks are
    /// those of the format.
    #[arg(long, value_name = "FILE", requires = "db")]
    pub rules: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

impl From<&ImportArgs> for records::Import {
    fn from(args: &ImportArgs) -> Self {
        let ImportArgs { files, db, verify, event, rules, .. } = args.clone();
        Self { files, db, verify, event, rules }
    }
}

/// Imports records into a database, and verifies them if requested.
pub fn import(args: &ImportArgs, language: Language) -> Result<Exit, Failure> {
    let (read, told) = (Cell::new(0_u64), Cell::new(Instant::now()));
    let line = match args.db {
        Some(_) => Language::records_read_twice_so_far,
        None => Language::records_read_so_far,
    };
    let is_wanted = || {
        read.set(read.get() + 1);
        if told.get().elapsed() >= PACE {
            told.set(Instant::now());
            err_line!("{}", line(language, read.get()));
        }
        true
    };
    let report = records::import_while(&args.into(), &is_wanted)?;
    match args.json {
        false => out!("{report}"),
        true => out_line!("{}", pretty(&report)?),
    }
    Ok(match report.exit_code() {
        0 => Exit::Done,
        20 => Exit::Faults,
        _ => Exit::Failed,
    })
}
