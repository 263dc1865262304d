//! `renmei run`: the event of a configuration file.

use super::{Exit, Failure, OpenScreen, playing::PlayingArgs};
use clap::Args;
use event::{Playing, reread::Reread};
use plan::{Document, Plan};
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// The configuration file of the event.
    pub file: PathBuf,
    #[command(flatten)]
    pub playing: PlayingArgs,
}

/// Plays the event of a configuration file.
pub fn run(args: &RunArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let again = args.clone();
    let reread = Reread::new(move || load(&again));
    let playing = Playing { reread: Some(reread), ..args.playing.playing() };
    event::play::play(load(args)?, &playing, open_screen)
}

/// Reads the plan of a file, and applies the options of the command line.
fn load(args: &RunArgs) -> Result<Plan, Failure> {
    match Document::load(&args.file).map_err(Failure::Config)? {
        Document::Event { mut plan, .. } => {
            args.playing.apply(&mut plan)?;
            Ok(*plan)
        }
        Document::League(_) => Err(Failure::Usage(format!(
            "{}: this file describes an open league, not an event; host it with `renmei serve`",
            args.file.display()
        ))),
    }
}
