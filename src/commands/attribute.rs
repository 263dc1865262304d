//! `renmei attribute`: a league of builds, and what their parts are worth.

use super::{Exit, Failure, OpenScreen, play::override_plan};
use crate::cli::AttributeArgs;
use event::{
    Playing,
    attribution::{self, Options},
};

/// Plays the league of a file, unless it is only to be reported, and prints what its parts are worth.
pub fn attribute(args: &AttributeArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let AttributeArgs { file, report, predict, confirm, plot, html, playing } = args.clone();
    let adjust = |plan: &mut _| override_plan(plan, &playing);
    let (only_report, adjust) = (report, &adjust);
    let playing = Playing { report: false, ..(&playing).into() };
    let options = Options { file, adjust, only_report, predict, confirm, plot, html, playing };
    attribution::attribute(&options, open_screen)
}
