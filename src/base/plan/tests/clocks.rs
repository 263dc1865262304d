//! Clocks by colour, stage and round.

use super::{Fingerprint, TWO, here, secs};
use crate::{Plan, StoredPlan, time_text};
use referee::{
    Color,
    clock::{Accounting, TimeControl},
};
use std::time::Duration;

fn clock(plan: &Plan, engine: usize, stage: u8, round: u32) -> [TimeControl; 2] {
    Color::BOTH.map(|color| plan.engines[engine].time_in(stage, round, color))
}

fn main_times(plan: &Plan, engine: usize, stage: u8, round: u32) -> [u64; 2] {
    clock(plan, engine, stage, round).map(|time| time.main.as_secs())
}

#[test]
fn each_colour_may_have_its_own_time() {
    let time = "[time]\nblack = \"5m+2s\"\nwhite = { main = \"10m\", increment = \"2s\" }\nleast = \"1s\"\n";
    let plan = here().plan(&format!("{time}{TWO}"));
    let [black, white] = clock(&plan, 1, 0, 1);
    assert_eq!((black.main, black.increment, white.main), (secs(300), secs(2), secs(600)));
    assert_eq!([black, white].map(|time| time.margin), [Duration::from_millis(100); 2], "the usual margin");
    assert_eq!([black, white].map(|time| time.least), [secs(1); 2]);
    let stored = StoredPlan::from_json(&StoredPlan::from(&plan).to_json()).unwrap();
    assert_eq!(stored.engines[0].clocks, plan.engines[0].clocks);
    let usual = here().plan(&format!("time = \"5m+2s\"\n{TWO}"));
    assert!(usual.engines[0].clocks.is_empty() && !StoredPlan::from(&usual).to_json().contains("clocks"));
}

#[test]
fn a_stage_and_its_rounds_may_have_their_own_time_and_an_engines_own_wins() {
    let text = format!(
        "time = \"1m\"\n[[stage]]\nformat = \"swiss\"\nrounds = 5\n\
         [[stage.time_by_round]]\nfrom = 4\ntime = \"3m\"\n\
         [[stage]]\ntime = {{ black = \"4m\", white = \"5m\", margin = \"0\" }}\n{TWO}\
         [[engines]]\nname = \"c\"\ncommand = \"gamma\"\ntime = \"9m\"\n"
    );
    let plan = here().plan(&text);
    let of = |stage, round| main_times(&plan, 0, stage, round);
    assert_eq!([of(0, 3), of(0, 4), of(0, 5), of(1, 9)], [[60; 2], [180; 2], [180; 2], [240, 300]]);
    assert_eq!(main_times(&plan, 2, 1, 1), [540; 2]);
    assert_eq!([0, 1].map(|stage| clock(&plan, 0, stage, 1)[0].margin.as_millis()), [100, 0]);
}

#[test]
fn stages_that_all_have_their_time_need_none_of_the_file() {
    let text = format!("[[stage]]\ntime = \"1m\"\n[[stage]]\ntime = \"2m\"\nentrants = 2\n{TWO}");
    let plan = here().plan(&text);
    assert_eq!([0, 1].map(|stage| main_times(&plan, 0, stage, 1)), [[60; 2], [120; 2]]);
    let missing = here().faults(&format!("[[stage]]\ntime = \"1m\"\n[[stage]]\nentrants = 2\n{TWO}"));
    assert!(missing.contains("time: is missing; give the engines a clock"), "{missing}");
}

#[test]
fn clocks_of_an_event_that_has_begun_do_not_change() {
    let [was, is] = ["5m", "6m"].map(|white| {
        let text = format!("[time]\nblack = \"1m\"\nwhite = \"{white}\"\n{TWO}");
        Fingerprint::of(&here().plan(&text)).unwrap()
    });
    let changes = was.changes_to(&is);
    assert_eq!(changes[0], "engines[a].clocks[0].white.main was 5m, is 6m");
}

#[test]
fn clocks_that_contradict_each_other_are_refused() {
    let text = format!(
        "[time]\nmain = \"1m\"\nblack = \"1m\"\n[[stage]]\nformat = \"gauntlet\"\ntime = \"2m\"\n\
         time_by_round = [{{ from = 3, time = \"1m\" }}, {{ from = 2 }}]\n{TWO}"
    );
    insta::assert_snapshot!(here().faults(&text), @r#"
    x.toml:1:1: time.white: is missing; say how much time each colour has
    x.toml:3:9: time.black: `main` already says how much time both colours have; give one of the two
    x.toml:7:17: stage[0].time_by_round: has no meaning in format "gauntlet": it belongs to round-robin, double-round-robin, random, information, swiss and knock-out
    x.toml:7:45: stage[0].time_by_round[1].time: is missing; say how much time there is then
    x.toml:7:54: stage[0].time_by_round[1].from: these tables stand in the order of their rounds, each round once
    "#);
    let own = format!(
        "time = \"1m\"\n[event]\ntime = \"2m\"\n{}",
        TWO.replace("command", "time = \"3m\"\ncommand")
    );
    insta::assert_snapshot!(
        here().faults(&own),
        @"x.toml:3:8: event.time: no engine has this clock: each has a `time` of its own; leave out one of the two"
    );
}

#[test]
fn a_clock_that_a_remote_player_hears_counts_what_is_announced_or_is_refused() {
    let one = "[[engines]]\nname = \"b\"\nremote = true\n[[engines]]\ncommand = \"gamma\"\n";
    let told = |text: &str| here().faults(&format!("{text}\n{one}"));
    insta::assert_snapshot!(
        told("[event]\ntime = \"10s+0.5s\""),
        @r#"x.toml:2:8: event.time: `increment` is 500ms, but a `remote` player counts whole seconds, unless `[serve]` has `time_unit = "msec"`"#
    );
    insta::assert_snapshot!(told("[time]\nwhite = \"1m\"\nblack = \"1m delay 250ms\"\naccounting = \"ms\""), @r#"
    x.toml:1:1: time: `delay` is 250ms, but a `remote` player counts whole seconds, unless `[serve]` has `time_unit = "msec"`
    x.toml:1:1: time: leave out `accounting`: with a `remote` player `time_unit` in `[serve]` says it
    "#);
    let plan = here().plan(&format!("time = \"10s+0.5s\"\n{one}[serve]\ntime_unit = \"msec\"\n"));
    assert!(plan.engines.iter().all(|engine| engine.time.accounting == Accounting::Milliseconds));
    let plan = here().plan(&format!("time = \"byoyomi 2s delay 1s\"\n{one}"));
    assert!(plan.engines.iter().all(|engine| engine.time.accounting == Accounting::Seconds));
}

#[test]
fn a_clock_in_a_table_is_the_one_in_a_line() {
    for (line, table) in [
        ("main 1h5m byoyomi 30s", "main = \"65m\", byoyomi = \"30s\""),
        ("main 1m increment 2s delay 1s", "main = \"1m\", increment = \"2s\", delay = \"1s\""),
        ("main 5m increment 10s", "control = \"5m+10s\""),
        ("fixed 1s250ms", "fixed = \"1.25s\""),
        ("nodes 4000 jitter 3% depth 9", "nodes = 4000, jitter = 3, depth = 9"),
    ] {
        let of = |time: &str| here().plan(&format!("time = {time}\n{TWO}")).engines[1].time;
        let time = of(&format!("\"{line}\""));
        assert_eq!(of(&format!("{{ {table} }}")), time);
        assert_eq!(
            of(&format!("{{ {table}, patience = \"7s\" }}")),
            TimeControl { patience: secs(7), ..time }
        );
        assert_eq!(of(&format!("{{ black = {{ {table} }}, white = \"{line}\" }}")), time);
        assert_eq!(time_text::control_text(&time), line);
    }
}

#[test]
fn a_clock_of_later_rounds_is_held_against_its_engine_as_the_usual_one_is() {
    let text = |time: &str, lines: &str| {
        let event = format!("[event]\ntime_by_round = [{{ from = 2, time = {time} }}]");
        format!("time = \"1m\"\n{event}\n{TWO}{lines}\n")
    };
    for (time, lines, fault) in [
        ("\"nodes 9\"", "go = \"byoyomi-only\"", "has a clock with `nodes`, which it does not understand"),
        ("\"depth 9\"", "go = \"byoyomi-only\"", "has a clock with `depth`, which it does not understand"),
        ("\"0+1s\"", "reserve = \"1s\"", "has only 1s for its first move"),
        ("\"fixed 1s\"", "reserve = \"1s\"", "has only 1s for its first move"),
        ("{ byoyomi = \"1s\", jitter = 3 }", "", "`jitter` varies `nodes`, which are not given"),
        (
            "\"nodes 9\"",
            "[[engines]]\nname = \"r\"\nremote = true",
            "a `remote` player has a clock: main time",
        ),
    ] {
        let faults = here().faults(&text(time, lines));
        assert!(faults.contains(fault), "{time}, {lines}: {faults}");
    }
    let plan = here().plan(&text("\"1s+1s\"", "reserve = \"1.999s\""));
    assert_eq!(
        plan.engines[1].times().map(|time| time.main).collect::<Vec<_>>(),
        [secs(60), secs(1), secs(1)]
    );
    let shown = |time: &TimeControl| (time.main, time.margin.as_millis());
    assert_eq!(clock(&plan, 1, 0, 2).each_ref().map(shown), [(secs(1), 100); 2]);
}
