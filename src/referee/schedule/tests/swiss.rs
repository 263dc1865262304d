use super::*;

/// What a Swiss round is checked against: the history before it.
struct History {
    met: HashSet<(usize, usize)>,
    balance: Vec<i64>,
    byes: Vec<u32>,
}

/// The lower id first.
fn pair(game: &Pairing) -> (usize, usize) {
    (game.black.index().min(game.white.index()), game.black.index().max(game.white.index()))
}

impl History {
    fn add(&mut self, games: &[&Pairing], balance: &[i64], bye: Option<usize>) {
        self.met.extend(games.iter().map(|game| pair(game)));
        self.balance.iter_mut().zip(balance).for_each(|(sum, more)| *sum += more);
        bye.into_iter().for_each(|player| self.byes[player] += 1);
    }

    fn may_meet(&self, a: usize, b: usize, keep_colors: bool) -> bool {
        let stuck = keep_colors && self.balance[a] == self.balance[b] && self.balance[a].abs() >= 2;
        !self.met.contains(&(a.min(b), a.max(b))) && !stuck
    }

    /// Whether the players of a set can all be paired, by trying.
    fn can_pair(&self, set: u32, keep_colors: bool, failed: &mut HashSet<u32>) -> bool {
        if set == 0 {
            return true;
        }
        let a = set.trailing_zeros() as usize;
        let rest = set & (set - 1);
        let found = !failed.contains(&set)
            && (a + 1..32)
                .filter(|b| rest >> b & 1 == 1 && self.may_meet(a, *b, keep_colors))
                .any(|b| self.can_pair(rest & !(1 << b), keep_colors, failed));
        if !found {
            failed.insert(set);
        }
        found
    }

    fn rematch_is_avoidable(&self) -> bool {
        let all = (1_u32 << self.byes.len()) - 1;
        if self.byes.len().is_multiple_of(2) {
            return self.can_pair(all, false, &mut HashSet::new());
        }
        let fewest = self.byes.iter().min();
        let candidates = (0..self.byes.len()).filter(|&player| Some(&self.byes[player]) == fewest);
        candidates.into_iter().any(|player| self.can_pair(all & !(1 << player), false, &mut HashSet::new()))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn a_swiss_has_rematches_and_colour_surpluses_only_where_they_cannot_be_avoided(
        players in 2..17_usize, short in 0..15_usize, dice: u64,
    ) {
        let rounds = (players - 1).saturating_sub(short).max(1) as u32;
        let host = {
            let mut host = Host::new(&[stage(Format::Swiss { rounds }, 1)], players, dice);
        host.year = dice;
            host.play(4, usize::MAX);
            host
        };
        let counted = host.counted();
        prop_assert_eq!(counted.len(), players / 2 * rounds as usize);
        let byes: BTreeMap<u32, PlayerId> = host.byes().into_iter().collect();
        prop_assert_eq!(byes.len(), players % 2 * rounds as usize);
        let mut past = History { met: HashSet::new(), balance: vec![0; players], byes: vec![0; players] };
        for round in 1..=rounds {
            let games: Vec<_> = counted.values().filter(|game| game.round == round).collect();
            let bye = byes.get(&round).map(|player| player.index());
            let rematch = games.iter().any(|game| past.met.contains(&pair(game)));
            prop_assert!(!rematch || !past.rematch_is_avoidable(), "round {round}");
            if let Some(bye) = bye {
                prop_assert_eq!(past.byes[bye], *past.byes.iter().min().unwrap());
            }
            let after = balances(games.iter().copied(), players);
            let surplus = (0..players).any(|player| (past.balance[player] + after[player]).abs() > 2);
            if surplus && !rematch {
                let all = ((1_u32 << players) - 1) & !bye.map_or(0, |bye| 1 << bye);
                prop_assert!(!past.can_pair(all, true, &mut HashSet::new()), "round {round}");
            }
            past.add(&games, &after, bye);
        }
    }

    #[test]
    fn colours_of_a_swiss_of_usual_length_differ_by_two_at_most(players in 8..17_usize, dice: u64) {
        let mut host = Host::new(&[stage(Format::Swiss { rounds: 6 }, 1)], players, dice);
        host.year = dice;
        host.play(4, usize::MAX);
        let balances = balances(host.counted().values(), players);
        prop_assert!(balances.iter().all(|balance| balance.abs() <= 2), "{balances:?}");
    }
}

#[test]
fn the_first_round_of_a_swiss_pairs_the_upper_half_against_the_lower() {
    let stages = [stage(Format::Swiss { rounds: 3 }, 1)];
    let mut host = Host::new(&stages, 7, 1);
    let Next::Bye { player, half_points, round, .. } = host.next() else { panic!("the bye comes first") };
    assert_eq!((player, half_points, round), (PlayerId(6), 2, 1));
    let pairs: Vec<_> = std::iter::from_fn(|| match host.next() {
        Next::Game(game) => Some((game.black.0.min(game.white.0), game.black.0.max(game.white.0))),
        _ => None,
    })
    .collect();
    assert_eq!(pairs, [(0, 3), (1, 4), (2, 5)]);
    let blacks: Vec<bool> = host.running.iter().map(|game| game.black.0 < 3).collect();
    assert!(blacks[0] != blacks[1] && blacks[0] == blacks[2], "colours alternate from table to table");
}

#[test]
fn a_swiss_round_begins_when_the_one_before_is_complete() {
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 2 }, 2)], 4, 1);
    let first: Vec<Next> = (0..5).map(|_| host.next()).collect();
    assert!(first[..4].iter().all(|next| matches!(next, Next::Game(game) if game.round == 1)));
    assert_eq!(first[4], Next::Wait);
    for _ in 0..3 {
        host.end_any();
    }
    assert_eq!(host.next(), Next::Wait);
    host.end_any();
    assert!(matches!(host.next(), Next::Game(game) if game.round == 2));
}

#[test]
fn a_hundred_players_are_paired_round_after_round() {
    let host = played(&[stage(Format::Swiss { rounds: 9 }, 1)], 101);
    assert_eq!(host.counted().len(), 450);
    let byes: HashSet<_> = host.byes().into_iter().map(|(_, player)| player).collect();
    assert_eq!(byes.len(), 9);
}

#[test]
fn players_of_equal_score_meet_while_there_are_enough_of_them() {
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 3 }, 1)], 16, 1);
    let mut wins = [0; 16];
    for round in 1..=3 {
        let games: Vec<Pairing> = std::iter::from_fn(|| match host.next() {
            Next::Game(game) => Some(game),
            _ => None,
        })
        .collect();
        assert_eq!(games.len(), 8);
        for game in games {
            assert_eq!(wins[game.black.index()], wins[game.white.index()], "round {round}");
            let black_wins = mixed(game.index) & 1 == 0;
            wins[if black_wins { game.black } else { game.white }.index()] += 1;
            host.end(game, Outcome::loss(if black_wins { Color::White } else { Color::Black }, WinBy::Mate));
        }
    }
}
