//! `renmei pack`: one file to hand over a database with.

use super::{Exit, Failure};
use crate::cli::PackArgs;
use notation::printable;
use referee::number::number;

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
