use super::*;
use proptest::prelude::*;

fn seekers(ratings: &[f64]) -> Vec<Seeker> {
    let seeker = |(number, &rating)| Seeker { rating, number, ..Seeker::default() };
    ratings.iter().enumerate().map(seeker).collect()
}

fn pairs(paired: &Paired) -> Vec<(usize, usize)> {
    paired.tables.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect()
}

/// By trying every way.
fn least_sum(field: &Field<'_>, open: &[usize]) -> Cost {
    let Some((&first, rest)) = open.split_first() else { return Cost::default() };
    let ways = rest.iter().map(|&other| {
        let left: Vec<usize> = rest.iter().copied().filter(|&s| s != other).collect();
        field.cost(first, other) + least_sum(field, &left)
    });
    ways.min().unwrap_or_default()
}

fn any_seekers() -> impl Strategy<Value = Vec<Seeker>> {
    let seeker = (0..400_i32, 0..6_u32, -3..4_i32, 0..3_u32, any::<bool>(), 0..9_usize, any::<bool>());
    prop::collection::vec(seeker, 0..=8).prop_map(|all| {
        let seeker = |(number, (rating, half_points, balance, byes, bye_last, last, human))| Seeker {
            rating: f64::from(rating),
            half_points,
            balance,
            streak: (balance.signum(), balance.unsigned_abs()),
            byes,
            bye_last: bye_last && byes > 0,
            last_opponent: Some(last).filter(|&last| last < 8 && last != number),
            number,
            human,
        };
        all.into_iter().enumerate().map(seeker).collect()
    })
}

proptest! {
    #[test]
    fn no_other_way_to_pair_a_round_costs_less(
        seekers in any_seekers(),
        seed in any::<u64>(),
        method in prop::sample::select(vec![Method::LeastDifference, Method::Swiss, Method::Random]),
    ) {
        let fewest = seekers.iter().map(|s| s.byes).min().unwrap_or(0);
        let field = Field { seekers: &seekers, method, seed, fewest };
        let paired = pair(&seekers, method, seed);
        let bye = paired.bye.map(|bye| (bye, seekers.len()));
        let mut seen: Vec<usize> = paired.tables.iter().flat_map(|&(a, b)| [a, b]).chain(paired.bye).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..seekers.len()).collect::<Vec<_>>());
        let sum = pairs(&paired).into_iter().chain(bye).map(|(a, b)| field.cost(a, b));
        let sum = sum.fold(Cost::default(), |sum, cost| sum + cost);
        let all: Vec<usize> = (0..seekers.len().next_multiple_of(2)).collect();
        prop_assert_eq!(sum, least_sum(&field, &all));
    }
}

#[test]
fn neighbours_in_rating_meet_even_where_the_nearest_pair_has_to_be_parted() {
    // The nearest two, 200 and 210, would leave 100 and 900 to each other.
    let paired = pair(&seekers(&[100.0, 200.0, 210.0, 900.0]), Method::LeastDifference, 1);
    assert_eq!(pairs(&paired), [(0, 1), (2, 3)]);
}

#[test]
fn no_player_meets_its_last_opponent_while_there_is_another() {
    let mut four = seekers(&[100.0, 110.0, 900.0, 910.0]);
    for (one, other) in [(0, 1), (1, 0), (2, 3), (3, 2)] {
        four[one].last_opponent = Some(other);
    }
    let paired = pair(&four, Method::LeastDifference, 1);
    assert!(pairs(&paired).iter().all(|pair| ![(0, 1), (2, 3)].contains(pair)), "{paired:?}");
    assert_eq!(pair(&four[..2], Method::LeastDifference, 1).tables.len(), 1, "two alone meet again");
}

#[test]
fn over_many_rounds_byes_colours_and_opponents_are_shared_out() {
    let mut five = seekers(&[1500.0, 1510.0, 1700.0, 2000.0, 1000.0]);
    let mut last_bye = None;
    for round in 0..50 {
        let paired = pair(&five, Method::LeastDifference, round);
        assert!(paired.bye.is_some() && paired.bye != last_bye, "round {round}");
        last_bye = paired.bye;
        for &(black, white) in &paired.tables {
            assert_ne!(five[black].last_opponent, Some(white), "round {round}");
            for (player, opponent, color) in [(black, white, 1), (white, black, -1)] {
                let seeker = &mut five[player];
                seeker.balance += color;
                seeker.last_opponent = Some(opponent);
                let again = if seeker.streak.0 == color { seeker.streak.1 + 1 } else { 1 };
                seeker.streak = (color, again);
                seeker.bye_last = false;
            }
        }
        let bye = &mut five[paired.bye.unwrap()];
        (bye.byes, bye.bye_last) = (bye.byes + 1, true);
        assert!(five.iter().all(|s| s.balance.abs() <= 2), "round {round}: {five:?}");
    }
    assert!(five.iter().all(|seeker| seeker.byes == 10), "{five:?}");
}

#[test]
fn the_rules_hold_across_a_field_that_is_too_large_to_be_matched_at_once() {
    // The humans are the strongest, so that their neighbours are humans; last time neighbours met.
    let seeker = |number: usize| Seeker {
        rating: f64::from(number as u32),
        human: number >= 150,
        last_opponent: Some(number ^ 1).filter(|&last| last < 301),
        byes: u32::from(number != 70),
        number,
        ..Seeker::default()
    };
    let seekers: Vec<Seeker> = (0..301).map(seeker).collect();
    for method in [Method::LeastDifference, Method::Swiss, Method::Random] {
        let paired = pair(&seekers, method, 1);
        let mut seen: Vec<usize> =
            paired.tables.iter().flat_map(|&(a, b)| [a, b]).chain(paired.bye).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..301).collect::<Vec<_>>(), "{method:?}");
        assert_eq!(paired.bye, Some(70), "{method:?}: the fewest byes");
        assert!(pairs(&paired).iter().all(|(one, other)| one ^ 1 != *other), "{method:?}: no rematch");
        let humans = pairs(&paired).into_iter().filter(|(one, _)| *one >= 150).count();
        assert_eq!(humans, 1, "{method:?}: 151 humans and 149 programs");
    }
}

/// The time is printed for people; nothing is judged by it.
#[test]
#[allow(clippy::disallowed_types)]
fn many_players_are_paired_in_a_moment() {
    let ratings: Vec<f64> =
        (0..testing::repetitions(200, 60)).map(|n| f64::from(draw(7, n, 0) % 200_000) / 100.0).collect();
    let begun = std::time::Instant::now();
    let paired = pair(&seekers(&ratings), Method::LeastDifference, 1);
    eprintln!("paired in {:.1} ms", begun.elapsed().as_secs_f64() * 1000.0);
    let sum: f64 = paired.tables.iter().map(|&(a, b)| (ratings[a] - ratings[b]).abs()).sum();
    let mut sorted = ratings.clone();
    sorted.sort_by(f64::total_cmp);
    let neighbours: f64 = sorted.chunks(2).map(|pair| pair[1] - pair[0]).sum();
    assert!(
        (sum - neighbours).abs() < 1e-6,
        "on a line, the least sum pairs neighbours: {sum}, {neighbours}"
    );
}
