//! Searches that end early, and searches that continue.

use super::*;
use usi_shell::Budget;

fn progress(visits: &[(u64, f32)]) -> Progress {
    let mv = |&(visits, value): &(u64, f32)| RootMove {
        mv: "7g7f".parse().unwrap(),
        visits,
        value,
        draw: 0.0,
        prior: 0.1,
        proven: None,
        line: vec![],
    };
    let playouts = visits.iter().map(|one| one.0).sum();
    let moves = visits.iter().map(mv).collect();
    Progress { moves, visits: playouts, playouts, elapsed: Duration::from_millis(500), ..Progress::default() }
}

fn spending(spent: u64, soft: u64, hard: u64) -> Option<Spending> {
    let ms = Duration::from_millis;
    Some(Spending { spent: ms(spent), budget: Budget { soft: ms(soft), hard: ms(hard) } })
}

const PLAN: Plan = Plan { factor: 1.0, playouts: None };

#[test]
fn a_forced_move_and_a_proven_one_are_played_at_once() {
    let forced = progress(&[(3, 0.5)]);
    assert_eq!(PLAN.verdict(&forced, spending(1, 1000, 3000)), Some(Reason::Forced));
    let mut won = progress(&[(3, 0.5), (2, 0.5)]);
    won.moves[0].proven = Some(Proven::Win(5));
    assert_eq!(PLAN.verdict(&won, spending(1, 1000, 3000)), Some(Reason::Proven));
    // Analysis and pondering have no time limit.
    assert_eq!(PLAN.verdict(&won, None), None);
}

#[test]
fn a_search_ends_when_no_move_can_catch_up() {
    // 1,000 playouts in 0.5 s are 200 more in the remaining 0.1 s.
    let ahead = progress(&[(650, 0.6), (350, 0.5)]);
    assert_eq!(PLAN.verdict(&ahead, spending(900, 1000, 3000)), Some(Reason::Ahead));
    assert_eq!(PLAN.verdict(&ahead, spending(500, 1000, 3000)), None);
    // In byoyomi too.
    assert_eq!(PLAN.verdict(&ahead, spending(900, 1000, 1000)), Some(Reason::Ahead));
    let counted = Plan { playouts: Some(1200), ..PLAN };
    assert_eq!(counted.verdict(&ahead, None), Some(Reason::Ahead));
}

#[test]
fn a_doubtful_move_gets_up_to_twice_the_base_time() {
    let clear = progress(&[(500, 0.6), (300, 0.5), (200, 0.5)]);
    assert_eq!(PLAN.verdict(&clear, spending(1001, 1000, 3000)), Some(Reason::Spent));
    let doubtful = progress(&[(400, 0.6), (350, 0.55), (250, 0.5)]);
    assert_eq!(PLAN.verdict(&doubtful, spending(1001, 1000, 3000)), None);
    assert!(PLAN.verdict(&doubtful, spending(2001, 1000, 3000)).is_some());
    let better = progress(&[(500, 0.5), (300, 0.6), (200, 0.5)]);
    assert_eq!(PLAN.verdict(&better, spending(1001, 1000, 3000)), None);
}

#[test]
fn saved_time_is_spent_later_and_never_exceeded() {
    let mut savings = Savings::default();
    let ms = Duration::from_millis;
    assert!((savings.factor() - 1.0).abs() < 1e-9);
    (0..30).for_each(|_| savings.note(ms(600), ms(1000)));
    assert!((savings.factor() - 1.0 / 0.6).abs() < 0.01, "{}", savings.factor());
    (0..30).for_each(|_| savings.note(ms(50), ms(1000)));
    assert!((savings.factor() - LONGEST).abs() < 1e-9);
    (0..60).for_each(|_| savings.note(ms(1900), ms(1000)));
    assert!((savings.factor() - 1.0).abs() < 1e-9);
    let plan = Plan { factor: 2.0, ..PLAN };
    let base = |hard| plan.base(&spending(0, 1000, hard).unwrap());
    assert_eq!((base(3000), base(1500)), (ms(2000), ms(1500)));
}
