//! Ratings of simulated players with known strengths.

mod independent;

use super::*;
use referee::rating::score_of_elo;

/// Draws of a generator with a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Ledger {
    /// A ledger of so many players without a game.
    fn of(players: usize) -> Self {
        let node = |number| Node {
            name: format!("p{number}"),
            also: vec![],
            build: None,
            settings: String::new(),
            clock: String::new(),
            machine: String::new(),
            events: 1,
        };
        Self { nodes: (0..players).map(node).collect(), ..Self::default() }
    }

    fn play(&mut self, black: usize, white: usize, results: [u64; 3]) {
        let meeting = self.meetings.entry((black, white, 0)).or_default();
        meeting.results.iter_mut().zip(results).for_each(|(sum, more)| *sum += more);
        meeting.timed = (meeting.results.iter().sum(), 10.0 * meeting.results.iter().sum::<u64>() as f64);
    }

    /// A game of players with these strengths, without draws.
    fn play_at(&mut self, black: usize, white: usize, elo: &[f64], dice: &mut Dice) {
        let is_won = dice.roll() < score_of_elo(elo[black] - elo[white]);
        self.play(black, white, if is_won { [1, 0, 0] } else { [0, 0, 1] });
    }
}

fn anchored(name: &str, elo: f64) -> Vec<Anchor> {
    vec![Anchor { name: name.to_owned(), elo }]
}

fn value(group: &Group, node: usize) -> (f64, f64) {
    let row = group.rows.iter().find(|row| row.node == node).unwrap();
    (row.elo.value().unwrap(), row.elo.error().unwrap_or_default())
}

/// Seasons of six players at random encounters: the share of differences to the anchor that lie within their intervals.
/// A hundred seasons, a thousand under `RENMEI_REQUIRE_ALL=1`.
#[test]
fn intervals_hold_the_truth_as_often_as_they_promise() {
    let truth = [0.0, 60.0, -80.0, 150.0, -200.0, 20.0];
    let seasons = if std::env::var_os("RENMEI_REQUIRE_ALL").is_some() { 1000 } else { 100 };
    let (mut held, mut all) = (0, 0);
    for season in 0..seasons {
        let (mut ledger, mut dice) = (Ledger::of(truth.len()), Dice(season));
        for _ in 0..600 {
            let black = (dice.roll() * 6.0) as usize;
            let white = (black + 1 + (dice.roll() * 5.0) as usize) % 6;
            ledger.play_at(black, white, &truth, &mut dice);
        }
        let rated = ledger.rate(&anchored("p0", 0.0)).unwrap();
        for (node, truth) in truth.iter().enumerate().skip(1) {
            let (elo, error) = value(&rated.groups[0], node);
            held += i32::from((elo - truth).abs() <= error);
            all += 1;
        }
    }
    let share = f64::from(held) / f64::from(all);
    println!("{:.1} % of {all} intervals hold the truth", 100.0 * share);
    // Three standard deviations of the share, with errors of one season that go together.
    let slack = 3.0 * (0.95_f64 * 0.05 / f64::from(all) * 3.0).sqrt();
    assert!((share - 0.95).abs() < slack.max(0.01), "{share}");
}

#[test]
fn players_without_a_common_opponent_are_rated_apart() {
    let mut ledger = Ledger::of(5);
    for (black, white, results) in
        [(0, 1, [6, 2, 2]), (1, 0, [3, 2, 5]), (2, 3, [5, 0, 5]), (3, 2, [9, 1, 0])]
    {
        ledger.play(black, white, results);
    }
    let rated = ledger.rate(&[]).unwrap();
    let sets: Vec<Vec<usize>> =
        rated.groups.iter().map(|group| group.rows.iter().map(|row| row.node).collect()).collect();
    assert_eq!(sets, [vec![0, 1], vec![3, 2]], "node 4 has no game");
    assert!(rated.groups[0].rows[0].elo.value().unwrap() > 0.0);
}

#[test]
fn an_anchor_keeps_its_elo_and_two_share_what_the_games_say_otherwise() {
    let mut ledger = Ledger::of(3);
    for (black, white) in [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)] {
        ledger.play(black, white, [5, 5, 5]);
    }
    let one = ledger.rate(&anchored("p1", 2000.0)).unwrap();
    assert_eq!(value(&one.groups[0], 1), (2000.0, 0.0));
    assert!((value(&one.groups[0], 0).0 - 2000.0).abs() < 1e-6, "all are level");
    assert!(value(&one.groups[0], 0).1 > 50.0, "its error is that against the anchor");
    let both = [anchored("p0", 1900.0), anchored("p1", 2000.0)].concat();
    let two = ledger.rate(&both).unwrap();
    let off: Vec<i64> = two.groups[0].anchors.iter().map(|anchor| anchor.off.round() as i64).collect();
    assert_eq!(off, [50, -50]);
    let unknown = ledger.rate(&anchored("nobody", 0.0)).unwrap_err();
    assert!(unknown.to_string().starts_with("no player is called `nobody`"), "{unknown}");
}

#[test]
fn old_games_lose_their_weight_by_the_half_life() {
    let mut ledger = Ledger { half_life: Some(30.0), ..Ledger::of(2) };
    let won = |results| Meeting { results, timed: (0, 0.0) };
    ledger.meetings.insert((0, 1, 20_000), won([10, 0, 0]));
    ledger.meetings.insert((0, 1, 20_030), won([0, 0, 10]));
    let rated = ledger.rate(&[]).unwrap();
    let row = rated.groups[0].rows.iter().find(|row| row.node == 0).unwrap();
    assert!((row.games - 15.0).abs() < 1e-9 && (row.score.unwrap() - 1.0 / 3.0).abs() < 1e-9, "{row:?}");
}

/// What a suggestion promises is what the games then bring, and more than another encounter brings.
#[test]
fn the_suggested_encounter_shrinks_the_error_as_it_says() {
    let mut ledger = Ledger::of(4);
    for (black, white) in [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)] {
        ledger.play(black, white, [20, 10, 20]);
    }
    let aim = Aim::Difference(0, 3);
    let before = ledger.rate(&[]).unwrap();
    let suggested = before.groups[0].suggest(aim, |_, _| true, 6);
    let best = &suggested[0];
    assert_eq!(best.players, [0, 3], "{suggested:?}");
    assert!(suggested.windows(2).all(|pair| pair[0].error_after <= pair[1].error_after + 1e-9));
    let error_of = |ledger: &Ledger| {
        let rated = ledger.rate(&anchored("p0", 0.0)).unwrap();
        value(&rated.groups[0], 3).1
    };
    assert!((error_of(&ledger) - best.error).abs() < 0.5, "{} {}", error_of(&ledger), best.error);
    ledger.play(0, 3, [20, 10, 20]);
    ledger.play(3, 0, [20, 10, 20]);
    assert!((error_of(&ledger) - best.error_after).abs() < 1.0, "{} {}", error_of(&ledger), best.error_after);
    assert_eq!(before.groups[0].suggest(aim, |_, _| false, 6), []);
}

/// For all players, an encounter of the two that played least comes first.
#[test]
fn for_everyone_the_least_known_are_suggested() {
    let mut ledger = Ledger::of(4);
    for (black, white, games) in [(0, 1, 100), (1, 0, 100), (1, 2, 100), (2, 1, 100), (2, 3, 4), (3, 2, 4)] {
        ledger.play(black, white, [games, games / 2, games]);
    }
    let rated = ledger.rate(&[]).unwrap();
    let suggested = rated.groups[0].suggest(Aim::Everyone, |_, _| true, 6);
    assert!(suggested[0].players.contains(&3), "{suggested:?}");
    assert!(suggested[0].error_after < suggested[0].error && suggested[0].seconds == Some(10.0));
}
