//! `renmei attribute`: a league of builds, and what their parts are worth.

use super::{Exit, Failure, OpenScreen, playing::PlayingArgs, values::at_least_one};
use clap::Args;
use event::{
    Playing,
    attribution::{self, Options},
};
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
pub struct AttributeArgs {
    /// The configuration file: the engine, its parts, and how much is played.
    pub file: PathBuf,
    /// Play nothing: print the results so far, also while another process plays.
    #[arg(long)]
    pub report: bool,
    /// Predict a build, played or not; parts that are not named are at their first level.
    #[arg(long, value_name = "PART=LEVEL,...")]
    pub predict: Vec<String>,
    /// After the league, play the best build that was not in it against all others, so many games, and
    /// compare its strength with the prediction.
    #[arg(long, value_name = "GAMES", value_parser = at_least_one::<u64>, conflicts_with = "report")]
    pub confirm: Option<u64>,
    /// Draw what pairs are worth into a file, `.svg` or `.png`.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Write a page with everything.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Options for playing; `--json` prints what parts are worth as JSON.
    #[command(flatten)]
    pub playing: PlayingArgs,
}

/// Plays the league of a file, unless it is only to be reported, and prints what its parts are worth.
pub fn attribute(args: &AttributeArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let AttributeArgs { file, report, predict, confirm, plot, html, playing } = args.clone();
    let adjust = |plan: &mut _| playing.apply(plan);
    let (only_report, adjust) = (report, &adjust);
    let playing = Playing { report: false, ..playing.playing() };
    let options = Options { file, adjust, only_report, predict, confirm, plot, html, playing };
    attribution::attribute(&options, open_screen)
}
