//! `renmei queue DIR history`: what became of the tests.

use crate::{
    cli::QueueHistoryArgs,
    commands::{Exit, Failure},
};
use event::{queue::Histories, write, write_picture};
use referee::number::number;
use report::plot::{Size, test_history};
use std::path::Path;

/// Shows the history of a queue, or writes it as a page or a picture.
pub fn history(database: &Path, args: &QueueHistoryArgs) -> Result<Exit, Failure> {
    // A repository is known by its absolute path; a part of a URL names it too.
    let wanted = args.repo.as_ref().map(|repo| {
        Path::new(repo).canonicalize().map_or_else(|_| repo.clone(), |path| path.display().to_string())
    });
    let history = Histories::default().read(database, wanted.as_deref(), args.last)?;
    if let Some(path) = &args.html {
        write(path, history.page().as_bytes())?;
        err_line!("{}: {}", path.display(), number(history.tests.len(), "test"));
    }
    if let Some(path) = &args.plot {
        write_picture(&test_history(&history, Size::Wide), path)?;
    }
    if args.json {
        out_line!("{}", crate::commands::pretty(&history)?);
    } else if args.html.is_none() && args.plot.is_none() {
        out!("{history}");
    }
    Ok(Exit::Done)
}
