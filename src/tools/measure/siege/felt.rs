//! Effects on the players, by phase.

/// An observation of a player or a newcomer, in ms.
pub enum Noted {
    /// A move: how long it took to the opponent, and what was charged beyond what its mover measured.
    Move {
        phase: u8,
        clock: usize,
        /// From the mover to the opponent's end of the connection.
        took: f64,
        /// Charged too much.
        over: f64,
    },
    /// How long two newcomers took to log in, meet and end a game.
    Newcomers(u8, f64),
    /// That newcomers did not get a game.
    Refused(u8),
    /// That a paced game ended otherwise than its players wanted.
    Lost(u8),
}

/// Effects of a phase, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Felt {
    /// Number of moves.
    pub moves: usize,
    /// Time in which 99 of 100 moves arrived.
    pub latency_p99: f64,
    /// Overcharge of a move, 99th percentile.
    pub overcharged_p99: f64,
    /// The most that was charged too much for a move.
    pub overcharged_most: f64,
    /// Mean overcharge of a move of the player with the highest one.
    pub clock: f64,
    /// Pairs of newcomers with a game.
    pub newcomers: usize,
    /// Pairs without a game.
    pub refused: usize,
    /// Paced games that ended otherwise than their players wanted.
    pub lost: usize,
    /// The longest time that newcomers took.
    pub newcomers_most: f64,
}

/// Sums up the observations of a phase.
pub fn felt(noted: &[Noted], phase: u8) -> Felt {
    let (mut latencies, mut excess, mut games) = (vec![], vec![], vec![]);
    let (mut refused, mut lost) = (0, 0);
    let mut clocks = std::collections::BTreeMap::<usize, (f64, f64)>::new();
    for note in noted {
        match *note {
            Noted::Move { phase: at, clock, took, over } if at == phase => {
                latencies.push(took);
                excess.push(over);
                let (sum, moves) = clocks.entry(clock).or_default();
                (*sum, *moves) = (*sum + over, *moves + 1.0);
            }
            Noted::Newcomers(at, time) if at == phase => games.push(time),
            Noted::Refused(at) if at == phase => refused += 1,
            Noted::Lost(at) if at == phase => lost += 1,
            _ => {}
        }
    }
    let means = clocks.into_values().map(|(sum, moves)| sum / moves);
    Felt {
        moves: latencies.len(),
        latency_p99: percentile(&mut latencies, 99),
        overcharged_p99: percentile(&mut excess, 99),
        overcharged_most: percentile(&mut excess, 100),
        clock: means.fold(f64::NEG_INFINITY, f64::max),
        newcomers: games.len(),
        refused,
        lost,
        newcomers_most: percentile(&mut games, 100),
    }
}

fn percentile(numbers: &mut [f64], percent: usize) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len().saturating_sub(1) * percent / 100).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_told_apart_and_percentiles_taken() {
        let note = |n: u32| Noted::Move {
            phase: (n % 2) as u8,
            clock: n as usize % 4,
            took: f64::from(n),
            over: -f64::from(n),
        };
        let noted: Vec<Noted> = (1..=200).map(note).collect();
        let (calm, attacked) = (felt(&noted, 0), felt(&noted, 1));
        assert_eq!((calm.moves, attacked.moves), (100, 100));
        assert_eq!((calm.latency_p99, attacked.latency_p99), (198.0, 197.0));
        assert_eq!((calm.overcharged_most, attacked.overcharged_most), (-2.0, -1.0));
        assert_eq!((calm.clock, attacked.clock), (-100.0, -99.0), "the worst of each");
        assert!(calm.newcomers_most.is_nan());
    }

    #[test]
    fn newcomers_who_get_no_game_are_counted() {
        let noted =
            [Noted::Newcomers(1, 3.0), Noted::Refused(1), Noted::Newcomers(1, 7.0), Noted::Refused(0)];
        let felt = felt(&noted, 1);
        assert_eq!((felt.newcomers, felt.refused, felt.newcomers_most), (2, 1, 7.0));
    }
}
