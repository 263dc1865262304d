//! The tuning of an engine's options: `[tune]` and `[[parameters]]`.

use crate::{
    OpeningPlan,
    keys::{
        Fallback::{Needed, Says},
        Kind::{Integer, Number, Text},
        STAGE_KEYS,
    },
    reader::Table,
    settings::settings,
};
use contest::schedule::{Format, Stage};
use serde::{Deserialize, Serialize};

/// Marks behind the engine's name: the player with the perturbation added, and the one with it subtracted.
pub const SIDES: [char; 2] = ['+', '-'];

settings! {
    /// The tuning of an engine's options, by pairs of games between two perturbations of their values.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct TunePlan in "`[tune]`",
        "With this table the file has one engine, which plays against itself with two perturbations of its options \
         (`renmei tune`). All of it is part of the event: a tuning goes on as it was begun."
    with {
        /// The tuned options, in the order of the file.
        parameters: Vec<ParameterPlan> = vec![];
    };

    pairs: u64 = 1 shown Needed, Integer(1, 500_000),
        "pairs of games; the steps are computed from it, so that it cannot change later";
    window: u64 = 16, Integer(1, 100_000),
        "pair k plays the values after pair k - `window`, whatever is played at once; at least half the games at once, \
         and one more";
}

settings! {
    /// A tuned option. What the file leaves out, the engine's declaration says before the first game.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct ParameterPlan in "`[[parameters]]`",
        "Whole numbers (options of type `spin`) are rounded at random, so that their mean is the tuned value; decimals \
         are options of type `string` with `min`, `max` and `start`."
    with {
        /// True if the engine takes whole numbers only.
        #[serde(default)]
        whole: bool = false;
    };

    name: String = (String::new()) shown Needed, Text, "name of the option, as the engine declares it";
    start: Option<f64> = None shown Says("the engine's default"), Number(f64::MIN, f64::MAX),
        "value before the first pair";
    min: Option<f64> = None shown Says("the engine's bound"), Number(f64::MIN, f64::MAX),
        "least value, within the engine's bounds";
    max: Option<f64> = None shown Says("the engine's bound"), Number(f64::MIN, f64::MAX),
        "greatest value, within the engine's bounds";
    c_end: f64 = 1.0 shown Needed, Number(0.0, f64::MAX),
        "perturbation in the last pair, above 0; large enough to cost 2 to 3 Elo at the best value";
    r_end: f64 = 0.002, Number(0.0, 100.0),
        "step in the last pair, above 0: share of the perturbation for each game won more than lost";
}

/// Reads `[tune]` and `[[parameters]]`, and refuses in `event` what has no meaning then; `None` without the former.
pub fn read(root: &Table<'_>, event: &Table<'_>, openings: Option<&OpeningPlan>) -> Option<TunePlan> {
    let table = root.table("tune", &TunePlan::SECTION);
    if !table.is_given() {
        if root.has("parameters") {
            root.fault("parameters", "are tuned options; say how long by `[tune]` with `pairs`, too");
        }
        return None;
    }
    table.require("pairs", "say how many pairs of games are played, such as `pairs = 10000`");
    let plan = TunePlan { parameters: parameters(root), ..TunePlan::read(&table) };
    for key in STAGE_KEYS.iter().map(|key| key.name).chain(["replay_draws"]) {
        if event.has(key) {
            event.fault(
                key,
                "has no meaning where options are tuned: `pairs` of `[tune]` says what is played",
            );
        }
    }
    if event.word("starved") == Some("replay") {
        event.fault("starved", "the games of a tuning are not played again; leave it out");
    }
    if root.has("stage") {
        root.fault("stage", "has no meaning where options are tuned; leave it out");
    }
    if openings.is_some_and(|openings| !openings.pairs) {
        root.table("openings", &OpeningPlan::SECTION)
            .fault("pairs", "must be true where options are tuned: both games of a pair begin alike");
    }
    Some(plan)
}

/// The stage of a tuning: one encounter of the two perturbations.
pub fn stage(tune: &TunePlan) -> Stage {
    let games = u32::try_from(2 * tune.pairs).unwrap_or(u32::MAX);
    Stage { format: Format::RoundRobin { cycles: 1 }, games, ..Stage::default() }
}

fn parameters(root: &Table<'_>) -> Vec<ParameterPlan> {
    let items = root.item("parameters").map(|list| list.elements("tables, each under `[[parameters]]`"));
    let mut parameters: Vec<ParameterPlan> = vec![];
    for table in items.unwrap_or_default().iter().filter_map(|item| item.table(&ParameterPlan::SECTION)) {
        let parameter = parameter(&table);
        if parameters.iter().any(|known| known.name == parameter.name) {
            table.fault("name", format!("`{}` is tuned twice; leave one of them out", parameter.name));
        }
        parameters.push(parameter);
    }
    parameters
}

fn parameter(table: &Table<'_>) -> ParameterPlan {
    table.require("name", "name the option as the engine declares it");
    table.require("c_end", "say by how much the value is perturbed in the last pair, such as `c_end = 5`");
    let parameter = ParameterPlan::read(table);
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
