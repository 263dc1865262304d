//! `renmei run`: the event of a configuration file.

use super::{Exit, Failure, OpenScreen, playing::PlayingArgs};
use clap::Args;
use event::{Playing, reread::Reread};
use plan::{Event, Plan};
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
    event::play::play(load(args)?, None, &playing, open_screen)
}

/// Reads the plan of a file, and applies the options of the command line.
fn load(args: &RunArgs) -> Result<Plan, Failure> {
    match Event::load_hosted(&args.file).map_err(Failure::Config)? {
        Event::Arranged { mut plan, .. } => {
            args.playing.apply(&mut plan)?;
            Ok(*plan)
        }
        other => Err(Failure::Usage(format!("{}: {}", args.file.display(), other.refusal()))),
    }
}
