//! A verdict is worth its error rate, and an interval its 95 %, however many games repeat earlier ones.

use super::*;
use crate::schedule::Format;
use referee::{
    Color, DrawBy,
    rating::mix::mix,
    sprt::{Model, Sprt},
};

/// How games repeat earlier ones.
#[derive(Clone, Copy, Debug)]
enum Repeats {
    /// Both games of a pair are those of one earlier pair.
    Pairs(f64),
    /// Each game of a pair is an earlier one with the same colours, or is not.
    Games(f64),
}

/// Equal players: a game is lost, drawn or won with the same probability by either.
struct Equals {
    dice: u64,
    repeats: Repeats,
    /// Games played so far with either colour, as half points of the first player and moves.
    played: [Vec<(u8, u64)>; 2],
}

impl Equals {
    fn new(seed: u64, repeats: Repeats) -> Self {
        Self { dice: seed << 32, repeats, played: [vec![], vec![]] }
    }

    /// A number in 0..1.
    fn roll(&mut self) -> f64 {
        self.dice += 1;
        (mix(self.dice) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn earlier(&mut self, color: usize) -> (u8, u64) {
        let at = (self.roll() * self.played[color].len() as f64) as usize;
        self.played[color][at]
    }

    fn fresh(&mut self, color: usize) -> (u8, u64) {
        let game = ((self.roll() * 3.0) as u8, self.dice);
        self.played[color].push(game);
        game
    }

    fn pair(&mut self) -> [(u8, u64); 2] {
        if self.played[0].is_empty() {
            return [self.fresh(0), self.fresh(1)];
        }
        let repeats = self.repeats;
        match repeats {
            Repeats::Pairs(share) if self.roll() < share => {
                let at = (self.roll() * self.played[0].len() as f64) as usize;
                [self.played[0][at], self.played[1][at]]
            }
            Repeats::Pairs(_) => [self.fresh(0), self.fresh(1)],
            Repeats::Games(share) => {
                [0, 1].map(|color| if self.roll() < share { self.earlier(color) } else { self.fresh(color) })
            }
        }
    }

    /// The ends of the games of a pair; without `moves` nothing tells that they repeat others.
    fn ends(&mut self, pair: u64, moves: bool) -> [Entry; 2] {
        let games = self.pair();
        [0, 1].map(|game| {
            let (half_points, hash) = games[game as usize];
            let [black, white] = if game == 0 { [0, 1] } else { [1, 0] }.map(PlayerId);
            let outcome = match (half_points, game) {
                (1, _) => Outcome::Draw { by: DrawBy::Sennichite },
                (2, 0) | (0, 1) => Outcome::Win { winner: Color::Black, by: WinBy::Mate },
                _ => Outcome::Win { winner: Color::White, by: WinBy::Mate },
            };
            let pairing = Pairing {
                stage: 0,
                index: 2 * pair + game,
                attempt: 0,
                round: 1,
                pair,
                opening: pair,
                black,
                white,
            };
            let (evidence, moves_hash) = (String::new(), moves.then_some(hash));
            let game = GameId(2 * pair + game + 1);
            Entry::GameEnded(GameEnded {
                game,
                pairing,
                outcome,
                plies: 9,
                evidence,
                replayed: false,
                moves_hash,
            })
        })
    }
}

fn standings() -> Standings {
    Standings::new(&[Stage { format: Format::Sprt { max_games: 1_000_000 }, ..Stage::default() }], 2)
}

/// The share of tests of equal players that accept H1.
fn share_of_h1(repeats: Repeats, moves: bool) -> f64 {
    let test = Sprt::new(Model::Normalized, 0.0, 60.0, 0.05, 0.05).unwrap();
    let tests = testing::repetitions(1000, 60);
    let accepts = |seed: &u64| {
        let (mut equals, mut standings) = (Equals::new(*seed, repeats), standings());
        (0..3000).find_map(|pair| {
            equals.ends(pair, moves).iter().find_map(|end| {
                standings.fold(end);
                let verdict = standings.due().iter().find_map(|counts| test.verdict_on(counts, false));
                verdict.map(|(word, _)| word == "H1")
            })
        })
    };
    (0..tests).filter(|seed| accepts(seed) == Some(true)).count() as f64 / tests as f64
}

/// The share of matches of four hundred pairs whose interval holds the truth.
fn coverage(repeats: Repeats) -> f64 {
    let matches = testing::repetitions(1000, 60);
    let holds = |seed: &u64| {
        let (mut equals, mut standings) = (Equals::new(*seed, repeats), standings());
        (0..400).for_each(|pair| equals.ends(pair, true).iter().for_each(|end| standings.fold(end)));
        let numbers = standings.total().numbers(PlayerId(0), PlayerId(1));
        numbers.elo_low.is_none_or(|low| low <= 0.0) && numbers.elo_high.is_none_or(|high| high >= 0.0)
    };
    (0..matches).filter(holds).count() as f64 / matches as f64
}

const SHARES: [Repeats; 4] =
    [Repeats::Pairs(0.0), Repeats::Pairs(0.5), Repeats::Pairs(0.98), Repeats::Games(0.5)];

#[test]
fn a_test_of_equal_players_accepts_h1_as_seldom_as_alpha_says_with_no_half_and_nearly_all_pairs_repeated() {
    for repeats in SHARES {
        let share = share_of_h1(repeats, true);
        assert!(share <= testing::repetitions(0.07, 0.1), "{repeats:?}: {share}");
    }
    let share = share_of_h1(Repeats::Pairs(0.98), false);
    assert!(share > 0.2, "counted as evidence, repeats would mislead: {share}");
}

#[test]
fn the_interval_of_elo_holds_the_truth_with_no_half_and_nearly_all_pairs_repeated() {
    for repeats in SHARES {
        let share = coverage(repeats);
        assert!(share >= testing::repetitions(0.93, 0.9), "{repeats:?}: {share}");
    }
}
