//! Lines that are chosen by what is seen of them, through restarts.

use super::*;
use crate::opening::LineChoice;

/// A test of 200 pairs with 30 lines of four families.
fn host(dice: u64) -> Host {
    let stages = [Stage { format: Format::Sprt { max_games: 400 }, ..Stage::default() }];
    let mut host = Host::new(&stages, 2, dice);
    restart(&mut host);
    host
}

/// Restarts as after a kill: only the log is left.
fn restart(host: &mut Host) {
    host.resume();
    let choice = LineChoice::new((0..30).map(|line| line % 4).collect());
    host.schedule = host.schedule.clone().choosing(choice);
    host.standings = Standings::new(&host.stages, host.players).with_lines();
    host.log.iter().for_each(|event| host.standings.fold(event));
}

#[test]
fn both_games_of_a_pair_have_one_line_through_aborts_and_restarts() {
    for dice in 0..10 {
        let mut host = Host { aborts: 9, ..host(dice) };
        for stop in [60, 150, 151, 330] {
            host.play(5, stop);
            restart(&mut host);
        }
        host.play(5, usize::MAX);
        let mut openings: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        host.started.iter().for_each(|game| _ = openings.entry(game.pair).or_default().insert(game.opening));
        assert_eq!(openings.len(), 200);
        assert!(openings.values().all(|openings| openings.len() == 1), "{openings:?}");
        let lines: BTreeSet<u64> = openings.values().flatten().map(|opening| opening % 30).collect();
        assert!(lines.len() > 15, "a line that is open is not forgotten: {lines:?}");
    }
}

#[test]
fn a_restart_chooses_the_line_that_would_have_come_without_it() {
    for dice in 0..20 {
        let mut here = host(dice);
        here.play(4, 200);
        while !here.running.is_empty() {
            here.end_any();
        }
        let mut there = Host { log: here.log.clone(), ..host(dice) };
        restart(&mut there);
        for _ in 0..6 {
            assert_eq!(here.next(), there.next());
        }
    }
}
