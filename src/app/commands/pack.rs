//! `renmei pack`: one file to hand over a database with.

use super::{Exit, Failure};
use clap::Args;
use notation::printable;
use referee::number::number;
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The file has a copy of the database without passwords, registrations and keys, the records of all games, and a manifest with
SHA-256 and the seal of each event. The event may be played meanwhile.

Example:
  renmei pack cup.db -o cup.tar.gz")]
pub struct PackArgs {
    /// The database.
    pub database: PathBuf,
    /// The file to write; it must not exist.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Packs a database.
pub fn pack(args: &PackArgs) -> Result<Exit, Failure> {
    let manifest = records::pack::pack(&args.database, &args.output)?;
    for event in &manifest.events {
        let name = printable(event.name.as_bytes());
        let state = if event.closed { "" } else { ", not over" };
        out_line!("event `{name}`: {}{state}", number(event.games, "game"));
        if let Some(head) = &event.head {
            out_line!("  head {head}");
        }
    }
    let output = args.output.display();
    out_line!(
        "`{output}` is written; publish the heads where others cannot change them: `renmei verify {output}` compares"
    );
    Ok(Exit::Done)
}
