//! The choice of cores, and the claims on them.

use super::*;
use plan::EnginePlan;

fn machine(cores: usize) -> Machine {
    let core = |number| Core { number, threads: vec![number] };
    Machine { cores: (0..cores).map(core).collect(), parallelism: cores }
}

fn engine() -> EnginePlan {
    EnginePlan {
        name: "it".to_owned(),
        command: "it".into(),
        margin_given: true,
        cores: 1.0,
        ..EnginePlan::default()
    }
}

fn plan(engines: [EnginePlan; 2], concurrency: usize) -> Plan {
    Plan { concurrency, gpus: 1.0, ..Plan::of_engines("event", engines.into(), "event.db".into()) }
}

const SINGLE: EngineFacts = EngineFacts {
    id_name: None,
    cores: 1.0,
    declares_threads: true,
    process_threads: Some(1),
    warnings: vec![],
};

#[test]
fn games_of_single_threaded_engines_are_pinned_where_each_has_a_core() {
    let plan = plan([engine(), engine()], 2);
    assert_eq!(games_to_pin(&plan, &[SINGLE; 2], &machine(2)), Ok(2));
    assert!(games_to_pin(&plan, &[SINGLE; 2], &machine(1)).is_err(), "two games, one core");
    let quota = Machine { parallelism: 1, ..machine(2) };
    assert!(games_to_pin(&plan, &[SINGLE; 2], &quota).is_err(), "a quota of one core");
}

#[test]
fn whoever_might_lose_by_it_is_left_alone() {
    let two = |engine: EnginePlan| plan([engine.clone(), engine], 1);
    let usual = two(engine());
    let pinned = |plan: &Plan, facts: EngineFacts| games_to_pin(plan, &[SINGLE, facts], &machine(8)).is_ok();
    assert!(pinned(&usual, SINGLE));
    assert!(!pinned(&usual, EngineFacts { cores: 8.0, ..SINGLE }), "Threads = 8");
    assert!(!pinned(&two(EnginePlan { ponder: true, ..engine() }), SINGLE));
    assert!(!pinned(&two(EnginePlan { gpu: 0.5, ..engine() }), SINGLE));
    let silent = |seen| EngineFacts { declares_threads: false, process_threads: seen, ..SINGLE };
    assert!(pinned(&usual, silent(Some(2))), "one reads, one searches");
    assert!(!pinned(&usual, silent(Some(9))) && !pinned(&usual, silent(None)));
    assert!(games_to_pin(&usual, &[], &machine(8)).is_err(), "nothing is known of the engines");
}

#[test]
fn hardware_threads_of_one_core_count_once() {
    let pairs = |thread: usize| vec![thread % 4, thread % 4 + 4];
    let cores = physical(&[0, 1, 4, 5, 7], pairs);
    let core = |number, threads: &[usize]| Core { number, threads: threads.to_vec() };
    assert_eq!(cores, [core(0, &[0, 4]), core(1, &[1, 5]), core(3, &[7])]);
    assert_eq!(physical(&[2], |_| vec![]), [core(2, &[2])], "a machine that does not tell");
}

#[test]
fn two_managers_never_claim_the_same_core() {
    let prefix = format!("renmei-test-{}-", std::process::id());
    let claim = |wanted| ClaimedCores::claim(&prefix, machine(3).cores.iter(), wanted);
    let first = claim(2).unwrap();
    assert_eq!(first.threads(), [0, 1]);
    assert!(claim(2).is_none(), "one core is left");
    let second = claim(1).unwrap();
    assert_eq!(second.threads(), [2]);
    drop(first);
    assert_eq!(claim(2).unwrap().threads(), [0, 1]);
}

#[test]
fn a_core_that_works_for_others_is_not_idle() {
    let load = |[first, second]: [(u64, u64); 2]| {
        let load = |(work, all)| Load { work, all };
        BTreeMap::from([(0, load(first)), (1, load(second))])
    };
    let (before, after) = (load([(20, 125), (20, 125)]), load([(21, 130), (24, 130)]));
    assert_eq!(idle(&before, &after), [0]);
    assert!(idle(&BTreeMap::new(), &after).is_empty(), "their load is not known");
}
