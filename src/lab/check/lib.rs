//! `renmei check` and `renmei doctor`: find the faults of an engine, and of a machine, before an event.
//!
//! [`check`] puts one engine through the situations of a tournament in a fixed order. An engine that ends or hangs
//! is restarted for the next situation. The result is a [`Report`] with rows and a configuration table under which the
//! engine can be played.

mod advice;
mod clocks;
mod exam;
mod far;
mod forms;
mod handshake;
mod info;
mod life;
mod machine;
mod moves;
mod positions;
mod report;
mod settings;
mod stopping;
mod talk;

pub use machine::{MachineReport, machine};
pub use report::{Report, Row, Verdict};

use exam::Exam;
pub use positions::SpotFault;
pub use settings::Request;
use settings::Settings;
use std::{io, path::PathBuf, time::Duration};
pub use talk::{Line, Silence, Talk};

/// Time between two looks whether some work is still wanted.
const GLANCE: Duration = Duration::from_millis(100);

/// An engine could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// `--option` without a value.
    #[error("`--option {0}` is not NAME=VALUE")]
    Option(String),
    /// `--host` without a host.
    #[error("--host: {0}")]
    Host(#[from] plan::HostsFault),
    /// `--dir` without a directory.
    #[error("--dir: no such directory: `{}`", .0.display())]
    Directory(PathBuf),
    /// `--ready` without a duration.
    #[error("--ready: {0}")]
    Duration(#[from] plan::time_text::TimeTextError),
    /// The file of positions cannot be read.
    #[error("cannot read the positions in `{}`: {}", .0.display(), .1)]
    File(PathBuf, #[source] io::Error),
    /// A line of the file is not a position.
    #[error("{}:{line}: {fault}", path.display())]
    Position {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The fault.
        fault: SpotFault,
    },
    /// A configuration in the place of a program.
    #[error(
        "`{file}` is a configuration file; `renmei check` expects the program of an engine \
        (`renmei run {file}` tests all engines before the first game)", file = .0.display()
    )]
    Configuration(PathBuf),
    /// The engine's program could not be started.
    #[error("`{}` could not be started: {}", .0.display(), .1)]
    Start(PathBuf, #[source] io::Error),
    /// Nobody wanted it any more.
    #[error("the check was stopped")]
    Stopped,
    /// The async runtime could not be started.
    #[error("the async runtime could not be started: {0}")]
    Runtime(io::Error),
}

/// A form of `go` other than byoyomi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoForm {
    /// `go nodes`.
    Nodes,
    /// `go depth`.
    Depth,
    /// `go movetime`.
    Movetime,
    /// `go` with `binc` and `winc`.
    Increment,
    /// `go ponder`.
    Ponder,
}

/// Checks an engine and passes each row to `progress` as it is found.
///
/// # Errors
/// When the arguments are invalid or the engine cannot be started; all other problems are in the report.
pub fn check(request: &Request, progress: impl Fn(&Row) + 'static) -> Result<Report, CheckError> {
    check_while(request, progress, || true)
}

/// The same, for as long as it is wanted; the engine is ended then.
///
/// # Errors
/// Those of [`check`], and when it is not wanted any more.
pub fn check_while(
    request: &Request,
    progress: impl Fn(&Row) + 'static,
    is_wanted: impl Fn() -> bool,
) -> Result<Report, CheckError> {
    let settings = Settings::of(request)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CheckError::Runtime)?;
    let examined = while_wanted(examine(settings, Box::new(progress)), is_wanted);
    runtime.block_on(examined).unwrap_or(Err(CheckError::Stopped))
}

/// What comes of some work; `None`, and the work is dropped, soon after it is not wanted any more.
pub async fn while_wanted<R>(work: impl Future<Output = R>, is_wanted: impl Fn() -> bool) -> Option<R> {
    let unwanted = async {
        while is_wanted() {
            tokio::time::sleep(GLANCE).await;
        }
    };
    tokio::select! {
        done = work => Some(done),
        () = unwanted => None,
    }
}

async fn examine(settings: Settings, progress: Box<dyn Fn(&Row)>) -> Result<Report, CheckError> {
    let mut exam = begin(settings, progress).await?;
    if handshake::greet(&mut exam).await {
        life::rest(&mut exam).await;
        far::identity(&mut exam).await;
        if forms::byoyomi(&mut exam).await {
            forms::others(&mut exam).await;
            moves::positions(&mut exam).await;
            moves::long_games(&mut exam).await;
            moves::rapid(&mut exam).await;
            clocks::all(&mut exam).await;
            stopping::stop(&mut exam).await;
            stopping::ponder(&mut exam).await;
            forms::multipv(&mut exam).await;
            moves::missed(&mut exam);
            let infos = exam.infos.row();
            exam.add(infos);
            moves::side_of_scores(&mut exam).await;
            life::reload(&mut exam).await;
            life::rest(&mut exam).await;
        }
        life::unknown_lines(&mut exam).await;
        life::noise(&mut exam).await;
        life::end(&mut exam).await;
    }
    Ok(exam.report())
}

async fn begin(settings: Settings, progress: Box<dyn Fn(&Row)>) -> Result<Exam, CheckError> {
    rsshogi::board::init();
    let talk = Talk::start(&settings.plan)
        .await
        .map_err(|source| CheckError::Start(settings.plan.command.clone(), source))?;
    Ok(Exam::new(settings, talk, progress))
}

#[cfg(test)]
mod tests;
