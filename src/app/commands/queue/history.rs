//! `renmei queue DIR history`: what became of the tests.

use crate::commands::{Exit, Failure, values::at_least_one};
use clap::Args;
use event::{queue::Histories, write, write_picture};
use referee::number::number;
use report::plot::{Size, test_history};
use std::path::{Path, PathBuf};

/// `renmei queue DIR history`.
#[derive(Clone, Debug, Args)]
pub struct QueueHistoryArgs {
    /// Only tests of this repository.
    #[arg(long, value_name = "DIR|URL")]
    pub repo: Option<String>,
    /// The newest tests, so many.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = at_least_one::<usize>)]
    pub last: usize,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Write a page with a chart of Elo over the tests.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the chart, `.svg` or `.png`.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

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
