use super::*;
use referee::{
    opening::EVEN,
    rating::{ELO_PER_NAT, Pentanomial},
    sprt::{Model, Sprt, Verdict},
};

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

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.roll()).sum::<f64>() - 6.0
    }
}

/// What a line is planted to be: bias in natural logarithms of odds, and separation.
#[derive(Clone, Copy)]
struct Planted {
    bias: f64,
    separation: f64,
}

impl Planted {
    fn wins_black(self, gap: f64, dice: &mut Dice) -> bool {
        dice.roll() < 1.0 / (1.0 + (-(self.bias + self.separation * gap / ELO_PER_NAT)).exp())
    }
}

/// The lines of six families, planted.
fn planted(lines: usize, spread: [f64; 2], dice: &mut Dice) -> Vec<Planted> {
    let line = |_| Planted {
        bias: 0.1 + spread[0] * dice.normal(),
        separation: (1.0 + spread[1] * dice.normal()).max(0.1),
    };
    (0..lines).map(line).collect()
}

/// A ledger of four players 100 Elo apart, with so many games from each line.
fn played(truth: &[Planted], games: usize, dice: &mut Dice) -> Ledger {
    let node = |number: usize| crate::Node {
        name: format!("p{number}"),
        also: vec![],
        build: None,
        settings: String::new(),
        clock: String::new(),
        machine: String::new(),
        events: 1,
    };
    let mut ledger = Ledger { nodes: (0..4).map(node).collect(), ..Ledger::default() }.with_lines();
    let families = [EVEN, "9/9/9/9/9/9/9/9/R8 b - 1", "8r/9/9/9/9/9/9/9/R8 b - 1"].map(Family::of);
    for (at, &line) in truth.iter().enumerate() {
        let mut known = Line {
            start: format!("line {at}"),
            moves: String::new(),
            family: families[at % families.len()],
            games: BTreeMap::new(),
            level: (0, 0),
        };
        for _ in 0..games {
            let black = (dice.roll() * 4.0) as usize;
            let white = (black + 1 + (dice.roll() * 3.0) as usize) % 4;
            let result = usize::from(!line.wins_black(100.0 * (black as f64 - white as f64), dice)) * 2;
            known.games.entry((black, white)).or_default()[result] += 1;
            ledger.meetings.entry((black, white, 0)).or_default().results[result] += 1;
        }
        ledger.lines.as_mut().unwrap().known.push(known);
    }
    ledger
}

/// A sequential test of players `gap` Elo apart with lines in turn: its verdict and games.
fn test(truth: &[Planted], lines: &[usize], gap: f64, dice: &mut Dice) -> (Verdict, u64) {
    let sprt = Sprt::new(Model::Normalized, 0.0, 40.0, 0.05, 0.05).unwrap();
    let (first, mut pairs) = ((dice.roll() * lines.len() as f64) as usize, [0; 5]);
    for pair in 0..20_000 {
        let line = truth[lines[(first + pair) % lines.len()]];
        let won = [line.wins_black(gap, dice), !line.wins_black(-gap, dice)];
        pairs[won.into_iter().map(|won| 2 * usize::from(won)).sum::<usize>()] += 1;
        let verdict = sprt.verdict(sprt.llr(&Pentanomial(pairs).into()).unwrap());
        if verdict != Verdict::Continue {
            return (verdict, 2 * (pair as u64 + 1));
        }
    }
    panic!("no verdict in 20,000 pairs")
}

/// 200 tests of players 40 Elo apart, with all lines and with a set that was learned from 40 games a line: the games to H1
/// are as many fewer as the set promises.
#[test]
fn a_learned_set_brings_tests_to_h1_with_as_many_fewer_games_as_it_promises() {
    let mut dice = Dice(31);
    let truth = planted(600, [0.9, 0.3], &mut dice);
    let ledger = played(&truth, 40, &mut dice);
    let learned = ledger.learn(&ledger.rate(&[]).unwrap());
    let chosen = learned.choose(200, None);
    let promised = learned.gain(&chosen);
    let all: Vec<usize> = (0..truth.len()).collect();
    let games = [&all, &chosen].map(|lines| {
        let tests: Vec<(Verdict, u64)> = (0..200).map(|_| test(&truth, lines, 40.0, &mut dice)).collect();
        let passed: Vec<u64> = tests.iter().filter(|test| test.0 == Verdict::H1).map(|test| test.1).collect();
        assert!(passed.len() >= 180, "{} of 200 tests passed", passed.len());
        passed.iter().sum::<u64>() as f64 / passed.len() as f64
    });
    println!(
        "games to H1: {:.0} from all lines, {:.0} from the set; promised {promised:.2}",
        games[0], games[1]
    );
    let gain = games[0] / games[1];
    assert!(gain > 1.25 && (gain / promised - 1.0).abs() < 0.25, "{gain}, promised {promised}");
}

/// Of equal players no more tests pass with a set than alpha allows.
#[test]
fn a_learned_set_lets_equals_pass_no_more_often() {
    let mut dice = Dice(32);
    let truth = planted(300, [0.9, 0.3], &mut dice);
    let ledger = played(&truth, 20, &mut dice);
    let learned = ledger.learn(&ledger.rate(&[]).unwrap());
    let chosen = learned.choose(100, None);
    let passed = (0..200).filter(|_| test(&truth, &chosen, 0.0, &mut dice).0 == Verdict::H1).count();
    // 5 % of 200, and three standard deviations.
    assert!(passed <= 10 + 9, "{passed} of 200");
}

#[test]
fn a_set_has_the_best_lines_of_each_family_by_its_share_the_better_the_earlier() {
    let mut dice = Dice(33);
    let truth = planted(90, [1.0, 0.0], &mut dice);
    let learned = {
        let ledger = played(&truth, 60, &mut dice);
        ledger.learn(&ledger.rate(&[]).unwrap())
    };
    let chosen = learned.choose(31, None);
    let of = |family: usize| chosen.iter().filter(|&&line| line % 3 == family).count();
    assert_eq!([of(0), of(1), of(2)].iter().sum::<usize>(), 31);
    assert!((0..3).all(|family| (10..=11).contains(&of(family))));
    let worst =
        |lines: &[usize]| lines.iter().map(|&line| learned.lines[line].worth.information).fold(2.0, f64::min);
    assert!(worst(&chosen[..10]) > worst(&chosen), "the last lines are not the best");
    let lopsided = learned.choose(9, Some(250.0));
    let mean = lopsided.iter().map(|&line| learned.lines[line].worth.bias.abs()).sum::<f64>() / 9.0;
    assert!((mean - 250.0).abs() < 60.0, "lines of 250 Elo were asked for: {mean}");
    assert!(learned.gain(&lopsided) < 1.0 && learned.gain(&chosen) > 1.0);
}

/// Two orders of the same moves are one line, and what was played from either counts for it.
#[test]
fn lines_that_transpose_are_one() {
    let mut lines = Lines::default();
    let one = lines.number(EVEN, "7g7f 3c3d 2g2f").unwrap();
    assert_eq!(lines.number(EVEN, "2g2f 3c3d 7g7f"), Some(one));
    assert_ne!(lines.number(EVEN, "2g2f 3c3d"), Some(one));
    assert_eq!(lines.number(EVEN, "7g7e"), None, "no such move");
    assert_eq!(lines.number(EVEN, "7g7e"), None, "and it is not looked at again");
    assert_eq!(lines.known.len(), 2);
}
