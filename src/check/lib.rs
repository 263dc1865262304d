//! `renmei check`: what would go wrong with an engine in an event, told before the event.
//!
//! One engine is put through the situations of a tournament one after the other, in [`examine`]'s order. An engine
//! that ends or hangs is started anew for the next situation. What was seen becomes rows of a [`Report`], and a table
//! for the configuration file with which the engine can be played.

mod advice;
mod clocks;
mod exam;
mod forms;
mod handshake;
mod info;
mod life;
mod moves;
pub mod positions;
mod procfs;
pub mod report;
pub mod settings;
mod stopping;
mod talk;

pub use report::{Report, Row, Verdict};

use exam::Exam;
pub use settings::Request;
use settings::Settings;
use std::{io, path::PathBuf};
use talk::Talk;

/// Why an engine could not be checked at all.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// `--option` without a value.
    #[error("`--option {0}` is not NAME=VALUE")]
    Option(String),
    /// A duration that cannot be read.
    #[error("`{0}` is not a time such as `120s` or `500ms`")]
    Duration(String),
    /// The file of positions cannot be read.
    #[error("positions `{}` cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line of it is no position.
    #[error("{}:{line}: {reason}", path.display())]
    Position {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The engine's program could not be started.
    #[error("`{}` could not be started: {source}", command.display())]
    Start {
        /// The program.
        command: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// This program could not set itself up.
    #[error("no runtime for the conversation: {0}")]
    Runtime(io::Error),
}

/// A form of `go` beside the clock with byoyomi.
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

/// Checks an engine, giving `progress` each row as it comes.
///
/// # Errors
/// When the arguments make no sense or the engine could not be started; whatever else is wrong is in the report.
pub fn check(request: &Request, progress: fn(&Row)) -> Result<Report, CheckError> {
    let settings = Settings::of(request)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CheckError::Runtime)?;
    runtime.block_on(examine(settings, progress))
}

/// Puts an engine through everything, telling `progress` each row as it comes.
///
/// # Errors
/// When it could not be started.
pub async fn examine(settings: Settings, progress: fn(&Row)) -> Result<Report, CheckError> {
    let mut exam = begin(settings, progress).await?;
    if handshake::greet(&mut exam).await {
        life::rest(&mut exam).await;
        if forms::byoyomi(&mut exam).await {
            forms::others(&mut exam).await;
            moves::positions(&mut exam).await;
            moves::long_games(&mut exam).await;
            moves::rapid(&mut exam).await;
            clocks::all(&mut exam).await;
            stopping::stop(&mut exam).await;
            stopping::ponder(&mut exam).await;
            info::multipv(&mut exam).await;
            moves::missed(&mut exam);
            let infos = exam.infos.row();
            exam.add(infos);
            life::reload(&mut exam).await;
            life::rest(&mut exam).await;
        }
        life::unknown_lines(&mut exam).await;
        life::noise(&mut exam).await;
        life::end(&mut exam).await;
    }
    Ok(exam.report())
}

async fn begin(settings: Settings, progress: fn(&Row)) -> Result<Exam, CheckError> {
    rsshogi::board::init();
    let talk = Talk::start(&settings.plan)
        .await
        .map_err(|source| CheckError::Start { command: settings.plan.command.clone(), source })?;
    Ok(Exam::new(settings, talk, progress))
}

#[cfg(test)]
mod tests;
