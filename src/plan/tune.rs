//! The tuning of an engine's options: `[tune]` and `[[parameters]]`.

use crate::{
    OpeningPlan,
    keys::{PARAMETER, TUNE},
    reader::Table,
};
use referee::schedule::{Format, Stage};
use serde::{Deserialize, Serialize};

/// Marks behind the engine's name: the player with the perturbation added, and the one with it subtracted.
pub const SIDES: [char; 2] = ['+', '-'];

/// The tuning of an engine's options, by pairs of games between two perturbations of their values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunePlan {
    /// Pairs of games, fixed before the first one: the steps are computed from it.
    pub pairs: u64,
    /// Pair `k` plays the values after pair `k - window`, so that many pairs can be played at once.
    pub window: u64,
    /// The tuned options, in the order of the file.
    pub parameters: Vec<ParameterPlan>,
}

/// A tuned option. What the file leaves out, the engine's declaration says before the first game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterPlan {
    /// Name of the option, as the engine declares it.
    pub name: String,
    /// Value before the first pair; `None`: the engine's default.
    pub start: Option<f64>,
    /// Least value; `None`: the engine's.
    pub min: Option<f64>,
    /// Greatest value; `None`: the engine's.
    pub max: Option<f64>,
    /// Perturbation of the last pair, in units of the option.
    pub c_end: f64,
    /// Step of the last pair, in units of its perturbation for each game won more than lost.
    pub r_end: f64,
    /// Whether the engine takes whole numbers only.
    #[serde(default)]
    pub whole: bool,
}

/// Reads `[tune]` and `[[parameters]]`, and refuses in `event` what has no meaning then; `None` without the former.
pub fn read(root: &Table<'_>, event: &Table<'_>, openings: Option<&OpeningPlan>) -> Option<TunePlan> {
    let table = root.table("tune", &TUNE);
    if !table.is_given() {
        if root.has("parameters") {
            root.fault("parameters", "are tuned options; say how long by `[tune]` with `pairs`, too");
        }
        return None;
    }
    table.require("pairs", "say how many pairs of games are played, such as `pairs = 10000`");
    let (pairs, window) = (table.integer("pairs").unwrap_or(1), table.integer("window").unwrap_or(16));
    table.refuse_unknown();
    for key in [
        "format",
        "games",
        "rounds",
        "cycles",
        "challengers",
        "entrants",
        "tie",
        "extra_pairs",
        "replay_draws",
    ] {
        if event.has(key) {
            event.fault(
                key,
                "has no meaning where options are tuned: `pairs` of `[tune]` says what is played",
            );
        }
    }
    if root.has("stage") {
        root.fault("stage", "has no meaning where options are tuned; leave it out");
    }
    if openings.is_some_and(|openings| !openings.pairs) {
        root.table("openings", &crate::keys::OPENINGS)
            .fault("pairs", "must be true where options are tuned: both games of a pair begin alike");
    }
    Some(TunePlan { pairs, window, parameters: parameters(root) })
}

/// The stage of a tuning: one encounter of the two perturbations.
pub fn stage(tune: &TunePlan) -> Stage {
    let games = u32::try_from(2 * tune.pairs).unwrap_or(u32::MAX);
    Stage { format: Format::RoundRobin { cycles: 1 }, games, entrants: None }
}

fn parameters(root: &Table<'_>) -> Vec<ParameterPlan> {
    let items = root.item("parameters").map(|list| list.elements("tables, each under `[[parameters]]`"));
    let mut parameters: Vec<ParameterPlan> = vec![];
    for table in items.unwrap_or_default().iter().filter_map(|item| item.table(&PARAMETER)) {
        let parameter = parameter(&table);
        if parameters.iter().any(|known| known.name == parameter.name) {
            table.fault("name", format!("`{}` is tuned twice; leave one of them out", parameter.name));
        }
        parameters.push(parameter);
        table.refuse_unknown();
    }
    parameters
}

fn parameter(table: &Table<'_>) -> ParameterPlan {
    table.require("name", "name the option as the engine declares it");
    table.require("c_end", "say by how much the value is perturbed in the last pair, such as `c_end = 5`");
    let parameter = ParameterPlan {
        name: table.text("name").unwrap_or_default(),
        start: table.number("start"),
        min: table.number("min"),
        max: table.number("max"),
        c_end: table.number("c_end").unwrap_or(1.0),
        r_end: table.number("r_end").unwrap_or(0.002),
        whole: false,
    };
    for key in ["c_end", "r_end"] {
        if table.number(key).is_some_and(|number| number <= 0.0) {
            table.fault(key, "must be more than 0");
        }
    }
    if let (Some(min), Some(max)) = (parameter.min, parameter.max)
        && min >= max
    {
        table.fault("max", format!("must be above `min`: {max} is not above {min}"));
    }
    parameter
}
