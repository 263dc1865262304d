//! `renmei export`: games of a database as record files.

use super::{
    Exit, Failure,
    values::{RECORD_FORMATS, one_of},
};
use clap::Args;
use notation::record::Format;
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// The database.
    pub db: PathBuf,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Games by number (`7`, `10-20`); by default all that count.
    #[arg(long, value_name = "N")]
    pub game: Vec<String>,
    /// Include games that do not count: aborted ones, and draws that were played again.
    #[arg(long, conflicts_with = "game")]
    pub all: bool,
    /// The format; by default that of the output file's extension, otherwise csa.
    #[arg(long, value_parser = one_of(&RECORD_FORMATS))]
    pub format: Option<Format>,
    /// A directory (`DIR/`) for one file per game, a file for all games, or `-` for stdout.
    #[arg(long, short, default_value = "-", value_name = "PATH")]
    pub output: PathBuf,
}

impl From<&ExportArgs> for records::Export {
    fn from(args: &ExportArgs) -> Self {
        let ExportArgs { db, event, game, all, format, output } = args.clone();
        let extension = output.extension().and_then(|extension| extension.to_str());
        let format = format.or_else(|| extension.and_then(Format::from_extension)).unwrap_or(Format::Csa);
        // Who exports games wants to hand them on.
        Self { db, event, game, all, format, output, access: platform::files::Access::Shared }
    }
}

/// Exports games as records.
pub fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let report = records::export(&args.into())?;
    report.notes().for_each(|note| err_line!("{note}"));
    err_line!("{report}");
    Ok(Exit::Done)
}
