//! Tunings: what a configuration of one becomes, and what is said of one that is wrong.

use super::World;
use crate::{Fingerprint, StoredPlan};
use contest::schedule::Format;

const ENGINE: &str = "time = \"nodes 100\"\n[[engines]]\nname = \"e\"\ncommand = \"alpha\"\n";
const PARAMETER: &str = "[[parameters]]\nname = \"Reduction\"\nc_end = 5\n";

fn world() -> World {
    World::new(&["alpha", "beta"])
}

#[test]
fn the_only_engine_plays_against_itself_as_many_pairs_as_are_wanted() {
    let plan = world().plan(&format!("{ENGINE}[tune]\npairs = 50\n{PARAMETER}"));
    assert_eq!(plan.engines.iter().map(|engine| engine.name.as_str()).collect::<Vec<_>>(), ["e+", "e-"]);
    assert_eq!(plan.engines[0].command, plan.engines[1].command);
    assert_eq!((plan.stages[0].format, plan.stages[0].games), (Format::RoundRobin { cycles: 1 }, 100));
    let tune = plan.tune.clone().unwrap();
    assert_eq!((tune.window, tune.parameters[0].c_end, tune.parameters[0].r_end), (16, 5.0, 0.002));
    let stored = StoredPlan::from_json(&StoredPlan::from(&plan).to_json()).unwrap();
    assert_eq!([plan.format_words(), stored.format_words()], ["tuning, 50 pairs of games"; 2]);
    assert_eq!((stored.seed(), stored.tune), (Some(1), Some(tune)));
}

#[test]
fn a_tuning_goes_on_only_as_it_was_begun() {
    let world = world();
    let of = |pairs: u64, window: u64| {
        let plan = world.plan(&format!("{ENGINE}[tune]\npairs = {pairs}\nwindow = {window}\n{PARAMETER}"));
        Fingerprint::of(&plan).unwrap()
    };
    assert_eq!(of(50, 16).changes_to(&of(60, 16)), ["tune.pairs was 50, is 60"]);
    assert_eq!(of(50, 16).changes_to(&of(50, 8)), ["tune.window was 16, is 8"]);
}

#[test]
fn what_has_no_meaning_in_a_tuning_is_told() {
    let world = world();
    let two = format!("{ENGINE}[[engines]]\nname = \"f\"\ncommand = \"beta\"\n[tune]\npairs = 5\n");
    assert!(
        world.faults(&two).contains("engines: to tune, name one engine, here are 2"),
        "{}",
        world.faults(&two)
    );
    let words = "[event]\nformat = \"swiss\"\ngames = 4\nreplay_draws = \"same\"\n[openings]\nfile = \"built-in\"\npairs = false\n";
    let faults = world.faults(&format!(
        "{ENGINE}{words}[tune]\n[[parameters]]\nname = \"a\"\nc_end = 0\nmin = 3\nmax = 2\n[[parameters]]\nname = \"a\"\n"
    ));
    for fault in [
        "event.format: has no meaning where options are tuned",
        "event.games: has no meaning",
        "event.replay_draws: has no meaning",
        "openings.pairs: must be true",
        "tune.pairs: is missing",
        "parameters[0].c_end: must be more than 0",
        "parameters[0].max: must be above `min`: 2 is not above 3",
        "parameters[1].name: `a` is tuned twice",
        "parameters[1].c_end: is missing",
    ] {
        assert!(faults.contains(fault), "{fault}\n{faults}");
    }
    let alone = world.faults(&format!("{}{PARAMETER}", super::with("")));
    assert!(alone.contains("parameters: are tuned options"), "{alone}");
}

#[test]
fn a_number_that_is_none_is_refused_without_three_hundred_digits_of_bounds() {
    let parameter = "[[parameters]]\nname = \"a\"\nstart = nan\nc_end = -1\n";
    let faults = world().faults(&format!("{ENGINE}[tune]\npairs = 5\n{parameter}"));
    for fault in [
        "parameters[0].start: nan is no finite number",
        "parameters[0].c_end: -1 is out of range; it must be a finite number from 0",
    ] {
        assert!(faults.contains(fault), "{fault}\n{faults}");
    }
    assert!(!faults.contains("00000000"), "{faults}");
}
