use super::*;
use crate::standings::{RankingRules, TieBreak};
use referee::{
    operation::{Action, Operation},
    points::Points,
    rating::fit,
};

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

    /// True if the players of a set can all be paired, by trying.
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
fn many_players_are_paired_round_after_round() {
    let players = testing::repetitions(101, 41);
    let host = played(&[stage(Format::Swiss { rounds: 9 }, 1)], players);
    assert_eq!(host.counted().len(), 9 * (players / 2));
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

fn with_rules(rounds: u32, games: u32, pairing: SwissRules) -> [Stage; 1] {
    [Stage { pairing, ..stage(Format::Swiss { rounds }, games) }]
}

/// The pairs of the next round, lower ids first, and who has the bye.
fn next_round(host: &mut Host) -> (Vec<(usize, usize)>, Option<usize>) {
    let (mut pairs, mut bye) = (vec![], None);
    loop {
        match host.next() {
            Next::Game(game) => pairs.push(pair(&game)),
            Next::Bye { player, .. } => bye = Some(player.index()),
            Next::Wait | Next::Done => return (pairs, bye),
        }
    }
}

fn end_round(host: &mut Host) {
    while !host.running.is_empty() {
        host.end_any();
    }
}

#[test]
fn an_accelerated_round_pairs_each_half_with_itself() {
    let rules = SwissRules { accelerated: 2, ..SwissRules::default() };
    let mut host = Host::new(&with_rules(4, 1, rules), 8, 1);
    let (pairs, _) = next_round(&mut host);
    assert_eq!(pairs, [(0, 2), (1, 3), (4, 6), (5, 7)]);
    // The higher seed wins everywhere. With half a point more the winners of the upper half have 1.5 points, the winners
    // of the lower half 1, and the losers of the upper half 0.5.
    while let Some(game) = host.running.first().copied() {
        host.running.remove(0);
        let loser = if game.black < game.white { Color::White } else { Color::Black };
        host.end(game, Outcome::loss(loser, WinBy::Resignation));
    }
    let (pairs, _) = next_round(&mut host);
    assert_eq!(pairs, [(0, 1), (4, 5), (2, 3), (6, 7)]);
    let table = host.standings.ranking(0);
    assert!(table.iter().all(|row| row.points <= Points::ONE), "virtual points are in no table");
}

#[test]
fn random_rounds_are_drawn_without_rematches_whatever_the_results() {
    let rules = SwissRules { random_rounds: 3, ..SwissRules::default() };
    let rounds = |year| {
        let mut host = Host::new(&with_rules(5, 1, rules), 12, 1);
        host.year = year;
        let rounds: Vec<_> = (0..3)
            .map(|_| {
                let (pairs, _) = next_round(&mut host);
                end_round(&mut host);
                pairs
            })
            .collect();
        rounds
    };
    let one = rounds(1);
    assert_ne!(one[0], (0..6).map(|seed| (seed, seed + 6)).collect::<Vec<_>>());
    let all: HashSet<_> = one.iter().flatten().collect();
    assert_eq!(all.len(), 18, "nobody meets twice");
    assert_eq!(one[0], rounds(2)[0]);
}

#[test]
fn a_swiss_that_forgets_has_rematches_only_after_so_many_rounds() {
    let rules = SwissRules { forget_rematches: 3, ..SwissRules::default() };
    let mut host = Host::new(&with_rules(9, 2, rules), 8, 1);
    let mut met = vec![];
    for _ in 0..9 {
        let (mut pairs, _) = next_round(&mut host);
        pairs.dedup();
        met.push(pairs);
        end_round(&mut host);
    }
    for block in met.chunks(3) {
        let pairs: HashSet<_> = block.iter().flatten().collect();
        assert_eq!(pairs.len(), 12, "no rematch within three rounds");
    }
    let all: HashSet<_> = met[..6].iter().flatten().collect();
    assert!(all.len() < 24, "players meet again before all others: {} pairs in six rounds", all.len());
}

#[test]
fn the_bye_goes_by_the_rule_of_the_stage() {
    let first_byes = |sits_out| {
        let rules = SwissRules { sits_out, ..SwissRules::default() };
        let mut host = Host::new(&with_rules(3, 1, rules), 7, 1);
        let byes: Vec<_> = (0..3)
            .filter_map(|_| {
                let bye = next_round(&mut host).1;
                end_round(&mut host);
                bye
            })
            .collect();
        byes
    };
    assert_eq!(first_byes(SitsOut::LowestSeed), [6, 5, 4]);
    assert_eq!(first_byes(SitsOut::LowestScore)[0], 6);
    let drawn = first_byes(SitsOut::Lot);
    assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), 3, "{drawn:?}");
    assert_ne!(drawn, [6, 5, 4]);
}

fn decided(host: &mut Host, action: Action) {
    let (by, reason) = ("arbiter".to_owned(), "late".to_owned());
    host.tell(Entry::Operator(Box::new(Operation { number: 1, by, reason, undoes: None, action })));
}

fn withdrawal(player: u32, round: u32) -> Action {
    Action::Withdrawn { player: PlayerId(player), name: format!("p{player}"), stage: 0, round, holds: true }
}

/// Rounds of a Swiss of single games of whom the first player always beats the last one: its pairs and its bye.
fn play_round(host: &mut Host) -> (Vec<(usize, usize)>, Option<usize>) {
    let round = next_round(host);
    end_round(host);
    round
}

#[test]
fn who_has_withdrawn_is_not_paired_and_the_odd_one_out_has_the_bye() {
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 4 }, 1)], 7, 1);
    next_round(&mut host);
    decided(&mut host, withdrawal(0, 1));
    end_round(&mut host);
    assert_eq!(host.schedule.total_by(&host.standings), Some(12), "three tables for the other six");
    let (pairs, bye) = play_round(&mut host);
    assert_eq!((bye, pairs.len()), (None, 3));
    assert!(pairs.iter().all(|pair| pair.0 > 0), "{pairs:?}");
    decided(&mut host, withdrawal(1, 2));
    let (pairs, bye) = next_round(&mut host);
    assert!(pairs.len() == 2 && pairs.iter().all(|pair| pair.0 > 1) && bye.is_some_and(|player| player > 1));
    host.resume();
    assert_eq!(
        next_round(&mut host).0,
        pairs,
        "a restart in the middle of a round pairs it as it was paired"
    );
    end_round(&mut host);
    let player = PlayerId(0);
    decided(&mut host, Action::Withdrawn { player, name: "p0".to_owned(), stage: 0, round: 3, holds: false });
    let (pairs, bye) = play_round(&mut host);
    assert!(pairs.iter().any(|pair| pair.0 == 0), "who has come back plays: {pairs:?}");
    assert_eq!((pairs.len(), bye), (3, None));
    assert_eq!(host.next(), Next::Done);
    assert_eq!(host.schedule.total_by(&host.standings), Some(host.counted().len() as u64));
}

fn given([black, white]: [u32; 2], round: u32) -> Action {
    let (players, name) = ([black, white].map(PlayerId), |player| format!("p{player}"));
    Action::PairingGiven { players, black: name(black), white: name(white), stage: 0, round, holds: true }
}

#[test]
fn a_round_has_the_pairings_that_were_given_and_pairs_all_others_by_the_rules() {
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 3 }, 1)], 7, 1);
    decided(&mut host, given([1, 0], 0));
    let (pairs, bye) = next_round(&mut host);
    assert_eq!((&pairs[..], bye), (&[(0, 1), (2, 4), (3, 5)][..], Some(6)));
    assert_eq!((host.running[0].black, host.running[0].white), (PlayerId(1), PlayerId(0)));
    host.resume();
    assert_eq!(
        next_round(&mut host).0,
        pairs,
        "a restart in the middle of the round pairs it as it was paired"
    );
    decided(&mut host, given([0, 1], 1));
    decided(&mut host, given([6, 2], 1));
    end_round(&mut host);
    let (pairs, _) = next_round(&mut host);
    assert_eq!(pairs[..2], [(0, 1), (2, 6)], "a rematch, as it was given");
    assert_eq!(pairs.len(), 3, "{pairs:?}");
    end_round(&mut host);
    assert!(!next_round(&mut host).0.contains(&(0, 1)), "it was given for that round alone");
}

#[test]
fn a_pairing_that_was_given_does_not_hold_if_it_was_taken_back_or_a_player_has_withdrawn() {
    let by_the_rules = next_round(&mut Host::new(&[stage(Format::Swiss { rounds: 1 }, 1)], 8, 1));
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 1 }, 1)], 8, 1);
    decided(&mut host, given([0, 1], 0));
    let (players, black, white) = ([0, 1].map(PlayerId), "p0".to_owned(), "p1".to_owned());
    decided(&mut host, Action::PairingGiven { players, black, white, stage: 0, round: 0, holds: false });
    assert_eq!(next_round(&mut host), by_the_rules);
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 1 }, 1)], 8, 1);
    decided(&mut host, given([0, 1], 0));
    decided(&mut host, given([2, 3], 0));
    decided(&mut host, withdrawal(1, 0));
    let (pairs, bye) = next_round(&mut host);
    assert_eq!(pairs[0], (2, 3));
    assert!(pairs.len() == 3 && bye.is_some() && pairs.iter().all(|pair| pair.1 != 1), "{pairs:?}");
}

fn bye(player: u32, round: u32, holds: bool) -> Action {
    Action::ByeGiven { player: PlayerId(player), name: format!("p{player}"), stage: 0, round, holds }
}

#[test]
fn a_bye_that_was_given_is_worth_half_of_one_and_the_others_are_paired() {
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 3 }, 2)], 6, 1);
    decided(&mut host, bye(0, 1, true));
    decided(&mut host, bye(4, 1, true));
    decided(&mut host, bye(1, 2, true));
    decided(&mut host, bye(5, 3, true));
    decided(&mut host, bye(5, 3, false));
    assert_eq!(host.schedule.total_by(&host.standings), Some(2 * (2 + 2 + 3)), "five players are two tables");
    let (mut pairs, _) = next_round(&mut host);
    pairs.dedup();
    assert_eq!(pairs, [(1, 3), (2, 5)]);
    assert_eq!(host.byes(), [(1, PlayerId(0)), (1, PlayerId(4))]);
    let worth: Vec<_> = host.standings.byes(0).map(|(_, _, half_points)| half_points).collect();
    assert_eq!(worth, [2, 2], "two games would bring four half points");
    host.resume();
    assert_eq!(next_round(&mut host).0[..1], [(1, 3)], "a restart in the middle of the round pairs it alike");
    end_round(&mut host);
    let row = host.standings.ranking(0).into_iter().find(|row| row.player == PlayerId(0)).unwrap();
    assert_eq!(row.points, Points::ONE);
    assert_eq!(row.tie_break(TieBreak::Buchholz), Some(1000), "an opponent with the player's own score");
    next_round(&mut host);
    let second: Vec<_> = host.byes().into_iter().filter(|(round, _)| *round == 2).collect();
    assert_eq!(second.len(), 2, "one was given, and one is the rule's: {second:?}");
    assert!(second.contains(&(2, PlayerId(1))), "{second:?}");
    end_round(&mut host);
    assert_eq!(next_round(&mut host).0.len(), 6, "the bye of round 3 was taken back");
}

#[test]
fn a_bye_that_was_given_takes_no_bye_by_rule_away_and_falls_with_a_withdrawal() {
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 3 }, 1)], 5, 1);
    // The lowest of all has the bye of round 2 as if it had had none.
    decided(&mut host, bye(4, 1, true));
    assert_eq!(play_round(&mut host), (vec![(0, 2), (1, 3)], Some(4)));
    decided(
        &mut host,
        Action::Penalised {
            player: PlayerId(4),
            name: String::new(),
            points: Points::ONE * 3,
            stage: 0,
            round: 1,
        },
    );
    assert_eq!(play_round(&mut host).1, Some(4));
    assert_eq!(host.standings.byes(0).map(|(_, _, half_points)| half_points).collect::<Vec<_>>(), [1, 2]);
    decided(&mut host, bye(0, 3, true));
    decided(&mut host, withdrawal(0, 2));
    assert_eq!((play_round(&mut host).0.len(), host.byes().len()), (2, 2), "who has left has no bye");
    assert_eq!(host.next(), Next::Done);
}

#[test]
fn a_round_in_which_everybody_has_a_bye_is_over() {
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 2 }, 1)], 2, 1);
    decided(&mut host, bye(0, 1, true));
    decided(&mut host, bye(1, 1, true));
    assert_eq!(host.schedule.total_by(&host.standings), Some(1));
    assert!(matches!([host.next(), host.next()], [Next::Bye { round: 1, .. }, Next::Bye { round: 1, .. }]));
    assert!(matches!(host.next(), Next::Game(Pairing { round: 2, .. })));
}

#[test]
fn a_disqualification_holds_for_the_rounds_that_are_paired_after_it() {
    let disqualified = |holds, round| Action::Disqualified {
        player: PlayerId(0),
        name: "p0".to_owned(),
        stage: 0,
        round,
        holds,
    };
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 3 }, 1)], 4, 1);
    let (first, _) = play_round(&mut host);
    let loser = first.iter().find_map(|&(a, b)| (a == 0).then_some(b).or((b == 0).then_some(a))).unwrap();
    let before = host.standings.ranking(0);
    decided(&mut host, disqualified(true, 1));
    let row =
        |host: &Host, player| host.standings.ranking(0).into_iter().find(|row| row.player == player).unwrap();
    let [out, met] = [0, loser].map(|player| row(&host, PlayerId(player as u32)));
    assert!(out.disqualified && out.rank == 4 && out.games.games() == 0, "{out:?}");
    assert_eq!((met.games.games(), met.points), (0, Points::ZERO));
    assert_eq!(host.standings.total().games(), 1, "the other table's");
    let (second, bye) = next_round(&mut host);
    assert!(second.len() == 1 && second[0].0 != 0 && second[0].1 != 0 && bye.is_some(), "{second:?}");
    decided(&mut host, disqualified(false, 2));
    assert_eq!(host.standings.ranking(0).len(), before.len());
    assert!(!row(&host, PlayerId(0)).disqualified);
    assert_eq!(row(&host, PlayerId(loser as u32)).games.games(), 1);
}

#[test]
fn a_disqualification_and_a_withdrawal_are_taken_back_each_by_itself() {
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 3 }, 1)], 4, 1);
    let (player, stage, round) = (PlayerId(0), 0, 0);
    let withdrawn = |holds| Action::Withdrawn { player, name: String::new(), stage, round, holds };
    let disqualified = |holds| Action::Disqualified { player, name: String::new(), stage, round, holds };
    for (action, is_out) in [
        (disqualified(true), true),
        (withdrawn(false), true),
        (withdrawn(true), true),
        (disqualified(false), true),
        (withdrawn(false), false),
    ] {
        decided(&mut host, action);
        assert_eq!(host.standings.arbitration().has_withdrawn(player), is_out);
    }
}

#[test]
fn after_a_withdrawal_nobody_has_a_second_bye_while_another_had_none() {
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 6 }, 1)], 10, 1);
    play_round(&mut host);
    decided(&mut host, withdrawal(2, 1));
    let byes: Vec<usize> = (0..5).filter_map(|_| play_round(&mut host).1).collect();
    assert_eq!(byes.len(), 5);
    assert_eq!(byes.iter().collect::<BTreeSet<_>>().len(), 5, "{byes:?}");
}

#[test]
fn a_win_by_default_is_a_bye_and_no_meeting() {
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 2 }, 1)], 3, 1);
    let (pairs, bye) = next_round(&mut host);
    let game = host.running.pop().unwrap();
    let here = game.black.index();
    host.end(game, Outcome::loss(Color::White, WinBy::Default));
    let (again, next) = next_round(&mut host);
    assert!(next != bye && next != Some(here), "both have had a point without a game: {again:?}");
    assert!(!again.contains(&pairs[0]));
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 2 }, 1)], 2, 1);
    next_round(&mut host);
    let game = host.running.pop().unwrap();
    host.end(game, Outcome::loss(Color::White, WinBy::Default));
    next_round(&mut host);
    let again = host.running[0];
    assert_eq!((again.black, again.white), (game.black, game.white), "a colour that was not played is none");
}

#[test]
fn a_penalty_counts_in_the_table_at_once_and_in_pairings_from_the_next_round_on() {
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 3 }, 1)], 4, 1);
    let (first, _) = next_round(&mut host);
    let (player, name, points) = (PlayerId(0), "p0".to_owned(), Points::thousandths(1500));
    decided(&mut host, Action::Penalised { player, name, points, stage: 0, round: 1 });
    let row =
        |host: &Host| host.standings.ranking(0).into_iter().find(|row| row.player == PlayerId(0)).unwrap();
    assert_eq!((row(&host).points, row(&host).penalty), (-points, points));
    // A restart in the middle of the round pairs it as it was paired.
    let running = host.running.clone();
    host.resume();
    let (again, _) = next_round(&mut host);
    assert_eq!(again, first);
    assert_eq!(running.len(), host.running.len());
    while let Some(game) = host.running.pop() {
        let loser = if game.black < game.white { Color::White } else { Color::Black };
        host.end(game, Outcome::loss(loser, WinBy::Resignation));
    }
    assert_eq!(row(&host).points, Points::thousandths(-500));
    let (pairs, _) = next_round(&mut host);
    assert!(!pairs.contains(&(0, 1)), "the winner with a penalty meets a loser: {pairs:?}");
}

#[test]
fn the_next_in_line_enters_a_stage_instead_of_who_has_withdrawn_in_the_break_before() {
    let last = Stage { entrants: Some(2), ..stage(Format::RoundRobin { cycles: 1 }, 2) };
    let mut host = Host::new(&[stage(Format::Swiss { rounds: 2 }, 1), last], 6, 1);
    play_round(&mut host);
    play_round(&mut host);
    let entrants = |host: &Host| host.standings.entrants(1);
    let table: Vec<PlayerId> = host.standings.ranking(0).iter().map(|row| row.player).collect();
    assert_eq!(entrants(&host), table[..2]);
    decided(&mut host, withdrawal(table[0].0, 2));
    assert_eq!(entrants(&host), table[1..3]);
    host.play(1, usize::MAX);
    let finals: Vec<_> = host.counted().into_values().filter(|game| game.stage == 1).collect();
    assert_eq!(finals.len(), 2);
    assert!(finals.iter().all(|game| table[1..3].contains(&game.black) && table[1..3].contains(&game.white)));
    // Once the stage was paired its players stay.
    let late = Action::Withdrawn { player: table[1], name: String::new(), stage: 1, round: 1, holds: true };
    decided(&mut host, late);
    assert_eq!(entrants(&host), table[1..3]);
}

#[test]
fn seeds_enter_later_stages_and_others_play_for_the_places_behind() {
    let entry = |seeded, of, skip| EntryRules { seeded, of, skip };
    let round_robin = stage(Format::RoundRobin { cycles: 1 }, 1);
    let stages = [
        stage(Format::Swiss { rounds: 3 }, 1),
        Stage { entrants: Some(8), entry: entry(4, None, 0), ..stage(Format::Swiss { rounds: 3 }, 1) },
        Stage { entrants: Some(4), entry: entry(2, None, 0), ..round_robin.clone() },
        Stage { entry: entry(0, Some(1), 2), ..round_robin },
    ];
    let mut host = Host::new(&stages, 14, 1);
    let tie_breaks = Some(vec![TieBreak::SonnebornBerger]);
    host.standings = host.standings.with_rules(RankingRules { tie_breaks, ..RankingRules::default() });
    host.play(3, usize::MAX);
    let entrants = |at| host.standings.entrants(at).into_iter().map(|player| player.0).collect::<Vec<_>>();
    assert_eq!(entrants(0), [6, 7, 8, 9, 10, 11, 12, 13], "the first six of the list enter later");
    assert_eq!(entrants(1)[..4], [2, 3, 4, 5]);
    let table = |at: usize| host.standings.ranking(at).iter().map(|row| row.player.0).collect::<Vec<_>>();
    assert_eq!(entrants(1)[4..], table(0)[..4]);
    assert_eq!(entrants(2), [vec![0, 1], table(1)[..2].to_vec()].concat());
    assert_eq!(entrants(3), table(1)[2..]);
    assert_eq!(host.schedule.total(), Some(host.counted().len() as u64));
    let order = host.standings.order(&fit(&host.standings.cross_table()));
    let order: Vec<u32> = order.into_iter().map(|(_, player)| player.0).collect();
    assert_eq!([&order[..4], &order[4..10]], [&table(2)[..], &table(3)[..]]);
}

#[test]
fn all_boards_of_a_round_have_one_opening_if_the_event_says_so() {
    let mut host =
        Host::new(&[stage(Format::Swiss { rounds: 3 }, 4), stage(Format::RoundRobin { cycles: 2 }, 2)], 6, 1);
    host.schedule = Schedule::new(&host.stages, 6, SEED, host.replay, OpeningsPer::Round);
    host.play(3, usize::MAX);
    let mut openings: BTreeMap<(u8, u32), HashSet<u64>> = BTreeMap::new();
    for game in host.counted().values() {
        openings.entry((game.stage, game.round)).or_default().insert(game.opening);
    }
    let found: Vec<Vec<u64>> = openings
        .into_values()
        .map(|set| {
            let mut sorted: Vec<u64> = set.into_iter().collect();
            sorted.sort_unstable();
            sorted
        })
        .collect();
    let expected: Vec<Vec<u64>> =
        (0..3).map(|at| vec![2 * at, 2 * at + 1]).chain((6..16).map(|at| vec![at])).collect();
    assert_eq!(found, expected);
}

/// What a player brings to a round, told from the games and byes before it.
#[derive(Clone, Default)]
struct Past {
    /// In thousandths of a point, with what acceleration adds.
    score: i64,
    byes: i64,
    met: BTreeMap<usize, i64>,
    balance: i64,
    last: i64,
    streak: i64,
}

/// The seven lines of the documentation for one event, by plain sums over all pairings of a round.
struct Lines {
    past: Vec<Past>,
    /// Players from the best to the last.
    order: Vec<usize>,
    colours_matter: bool,
    sits_out: SitsOut,
}

impl Lines {
    fn before(host: &Host, round: u32, games: i64, rules: SwissRules) -> Self {
        let players = host.players;
        let mut past = vec![Past::default(); players];
        let blocks = (round - 1).checked_div(rules.forget_rematches);
        let remembered = blocks.map_or(1, |blocks| blocks * rules.forget_rematches + 1);
        let mut encounters: BTreeMap<(u32, usize, usize), Vec<Pairing>> = BTreeMap::new();
        for game in host.counted().into_values().filter(|game| game.round < round) {
            let (a, b) = pair(&game);
            encounters.entry((game.round, a, b)).or_default().push(game);
        }
        for (&(at, a, b), met) in &encounters {
            for (own, other) in [(a, b), (b, a)] {
                let mut surplus = 0_i64;
                for game in met {
                    let color = if game.black.index() == own { Color::Black } else { Color::White };
                    surplus += if color == Color::Black { 1 } else { -1 };
                    past[own].score += 500 * i64::from(result(game, host.year).half_points(color).unwrap());
                }
                if at >= remembered {
                    *past[own].met.entry(other).or_default() += 1;
                }
                past[own].balance += surplus;
                if surplus != 0 {
                    past[own].streak = if past[own].last == surplus { past[own].streak + 1 } else { 1 };
                    past[own].last = surplus;
                }
            }
        }
        for (_, player) in host.byes().into_iter().filter(|(at, _)| *at < round) {
            past[player.index()].byes += 1;
            past[player.index()].score += 1000 * games;
        }
        let (all, half) = (rules.accelerated, rules.accelerated.div_ceil(2));
        let extra = match round {
            at if at <= half => 1000 * games,
            at if at <= all => 500 * games,
            _ => 0,
        };
        past.iter_mut().take(2 * players.div_ceil(4)).for_each(|ahead| ahead.score += extra);
        let mut order: Vec<usize> = (0..players).collect();
        order.sort_by_key(|&player| (-past[player].score, player));
        let colours_matter = games % 2 == 1 && rules.colours == Colours::Balanced;
        Self { past, order, colours_matter, sits_out: rules.sits_out }
    }

    /// Lines 4 and 6 where this player has black against that one.
    fn colours(&self, black: usize, white: usize) -> (i64, i64) {
        let of = |player: usize, color: i64| {
            let Past { balance, last, streak, .. } = self.past[player];
            let (after, repeats) = (balance + color, if last == color { streak } else { 0 });
            (i64::from(after.abs() >= 3), 4 * after * after + repeats * repeats)
        };
        let (one, other) = (of(black, 1), of(white, -1));
        if self.colours_matter { (one.0 + other.0, one.1 + other.1) } else { (0, 0) }
    }

    /// The lines of one pair, the better player first; without an opponent it has the bye.
    fn lines(&self, high: usize, low: Option<usize>) -> [i64; 7] {
        let place = |player: usize| self.order.iter().position(|other| *other == player).unwrap() as i64;
        let own = &self.past[high];
        let Some(low) = low else {
            let fewest = self.past.iter().map(|past| past.byes).min().unwrap();
            let last = self.past.len() as i64 - 1;
            let from_the_end = match self.sits_out {
                SitsOut::LowestSeed => last - high as i64,
                _ => last - place(high),
            };
            return [own.byes - fewest, 0, from_the_end, 0, 0, 0, 0];
        };
        let difference = own.score - self.past[low].score;
        let (excess, imbalance) = self.colours(high, low).min(self.colours(low, high));
        let level = self.past.iter().filter(|past| past.score == own.score).count() as i64;
        let ideal = if difference == 0 { level / 2 } else { 1 };
        let off = place(low) - place(high) - ideal;
        let meetings = own.met.get(&low).copied().unwrap_or(0);
        [0, meetings, 0, excess, difference * difference, imbalance, off * off]
    }

    fn sum(&self, pairs: &[(usize, Option<usize>)]) -> [i64; 7] {
        pairs.iter().fold([0; 7], |sum, &(high, low)| {
            let lines = self.lines(high, low);
            std::array::from_fn(|at| sum[at] + lines[at])
        })
    }

    /// The least sum over all pairings of these players, the best first.
    fn least(&self, open: &[usize]) -> [i64; 7] {
        let Some((&high, rest)) = open.split_first() else { return [0; 7] };
        let bye = (open.len() % 2 == 1).then_some(None);
        let partners = rest.iter().copied().map(Some).chain(bye);
        let sums = partners.map(|low| {
            let left: Vec<usize> = rest.iter().copied().filter(|player| Some(*player) != low).collect();
            let (own, others) = (self.lines(high, low), self.least(&left));
            std::array::from_fn(|at| own[at] + others[at])
        });
        sums.min().unwrap()
    }
}

fn any_rules() -> impl Strategy<Value = SwissRules> {
    let sits_out = prop_oneof![Just(SitsOut::LowestScore), Just(SitsOut::LowestSeed)];
    let colours = prop_oneof![3 => Just(Colours::Balanced), 1 => Just(Colours::Fixed)];
    (0..5_u32, 0..4_u32, sits_out, colours).prop_map(|(accelerated, forget_rematches, sits_out, colours)| {
        SwissRules { accelerated, forget_rematches, sits_out, colours, ..SwissRules::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The pairings of every round against the documented lines, each pairing that is possible being tried.
    #[test]
    fn no_pairing_of_a_round_is_better_by_the_seven_lines_and_colours_follow_them(
        players in 2..8_usize, games in 1..4_u32, rounds in 1..7_u32, rules in any_rules(), dice: u64,
    ) {
        let mut host = Host::new(&with_rules(rounds, games, rules), players, dice);
        host.year = dice;
        host.play(4, usize::MAX);
        let byes: BTreeMap<u32, PlayerId> = host.byes().into_iter().collect();
        for round in 1..=rounds {
            let lines = Lines::before(&host, round, games.into(), rules);
            let place = |player: usize| lines.order.iter().position(|other| *other == player).unwrap();
            let mut pairs: Vec<(usize, Option<usize>)> = vec![];
            let first = host.counted().into_values().filter(|game| game.round == round);
            let first: Vec<_> = first.filter(|game| game.index.is_multiple_of(games.into())).collect();
            for game in &first {
                let (black, white) = (game.black.index(), game.white.index());
                let (high, low) = if place(black) < place(white) { (black, white) } else { (white, black) };
                pairs.push((high, Some(low)));
                if rules.colours == Colours::Fixed {
                    prop_assert!(black < white);
                    continue;
                }
                let (given, turned) = (lines.colours(black, white), lines.colours(white, black));
                prop_assert!(given <= turned, "round {round}: {black} has black against {white}");
                let Past { balance, last, .. } = lines.past[high];
                let due = if balance == 0 { -last } else { -balance.signum() };
                if given == turned && due != 0 {
                    prop_assert_eq!(high == black, due > 0, "round {}: the higher one, {}, has its due", round, high);
                }
            }
            pairs.extend(byes.get(&round).map(|player| (player.index(), None)));
            prop_assert_eq!(lines.sum(&pairs), lines.least(&lines.order), "round {}: {:?}", round, pairs);
        }
    }
}

#[test]
fn acceleration_gives_a_won_encounter_in_its_first_half_and_half_of_it_in_its_second() {
    // The higher seed always wins. What the first half of the field has in virtual points decides who meets whom.
    let paired = |accelerated| {
        let rules = SwissRules { accelerated, ..SwissRules::default() };
        let mut host = Host::new(&with_rules(4, 1, rules), 8, 1);
        let mut rounds = vec![];
        for _ in 0..4 {
            rounds.push(next_round(&mut host).0);
            while let Some(game) = host.running.pop() {
                let loser = if game.black < game.white { Color::White } else { Color::Black };
                host.end(game, Outcome::loss(loser, WinBy::Mate));
            }
        }
        rounds
    };
    let half = |pairs: &[(usize, usize)]| pairs.iter().filter(|pair| pair.0 < 4 && pair.1 > 3).count();
    let across: Vec<Vec<usize>> =
        (0..=4).map(|accelerated| paired(accelerated).iter().map(|pairs| half(pairs)).collect()).collect();
    assert_eq!(across[0][0], 4, "without it the upper half meets the lower one");
    assert!(across[1..].iter().all(|rounds| rounds[0] == 0), "{across:?}");
    // Of one accelerated round none is left in the second. Of two the second has half a point: winners of the lower half
    // are behind those of the upper one, and ahead of its losers. Of three and four it has a whole point, which makes them
    // level with these losers.
    let second: Vec<usize> = across.iter().map(|rounds| rounds[1]).collect();
    assert_eq!(second, [0, 4, 0, 2, 2], "{across:?}");
}
