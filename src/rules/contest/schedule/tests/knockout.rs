use super::*;
use referee::operation::{Action, NamedGame, Operation};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_knock_out_ends_with_one_winner_after_as_many_encounters_as_there_are_losers(
        players in 2..34_usize, games in 1..6_u32, extra in 0..3_u32, at_once in 1..9_usize, dice: u64,
    ) {
        let tie = if extra == 0 { Tie::HigherSeed } else { Tie::MoreGames { extra } };
        let mut host = Host::new(&[stage(Format::Knockout { tie }, games)], players, dice);
        host.year = dice;
        host.play(at_once, usize::MAX);
        let mut lost = BTreeSet::new();
        let mut encounters: BTreeMap<(PlayerId, PlayerId), Vec<Pairing>> = BTreeMap::new();
        for game in host.counted().into_values() {
            encounters.entry((game.black.min(game.white), game.black.max(game.white))).or_default().push(game);
        }
        for (&(higher, lower), met) in &encounters {
            let score: u64 = met.iter().map(|game| {
                let color = if game.black == higher { Color::Black } else { Color::White };
                u64::from(result(game, dice).half_points(color).unwrap())
            }).sum();
            // Seeds are the order of entry: a level encounter goes to the lower id.
            lost.insert(if score >= met.len() as u64 { lower } else { higher });
            prop_assert!(met.len() as u64 <= u64::from(games + 2 * extra));
        }
        prop_assert_eq!((encounters.len(), lost.len()), (players - 1, players - 1));
        let ranking = host.standings.ranking(0);
        prop_assert!(!lost.contains(&ranking[0].player));
        prop_assert_eq!(ranking[0].round, Some(players.next_power_of_two().ilog2() + 1));
        prop_assert_eq!(host.byes().len(), players.next_power_of_two() - players);
    }
}

#[test]
fn best_of_three_ends_after_two_wins_and_begins_no_needless_game() {
    let mut host = Host::new(&[stage(Format::Knockout { tie: Tie::HigherSeed }, 3)], 2, 1);
    let (Next::Game(first), Next::Game(second)) = (host.next(), host.next()) else {
        panic!("two are certain")
    };
    assert_eq!(host.next(), Next::Wait, "the third may not be needed");
    let wins = |game: &Pairing, player: u32| {
        Outcome::loss(if game.black.0 == player { Color::White } else { Color::Black }, WinBy::Mate)
    };
    host.end(second, wins(&second, 1));
    assert_eq!(host.next(), Next::Wait);
    host.end(first, wins(&first, 1));
    assert_eq!(host.next(), Next::Done);
    assert_eq!(host.standings.ranking(0)[0].player, PlayerId(1));
}

#[test]
fn a_level_encounter_has_two_more_games_at_a_time_and_then_the_higher_seed() {
    let draw = Outcome::Draw { by: DrawBy::MaxMoves };
    let mut host = Host::new(&[stage(Format::Knockout { tie: Tie::MoreGames { extra: 2 } }, 2)], 2, 1);
    for batch in 0..3 {
        let (Next::Game(first), Next::Game(second)) = (host.next(), host.next()) else { panic!("{batch}") };
        assert_eq!(host.next(), Next::Wait);
        host.end(second, draw);
        host.end(first, draw);
    }
    assert_eq!(host.next(), Next::Done);
    assert_eq!(host.standings.ranking(0)[0].player, PlayerId(0));
}

#[test]
fn extra_games_that_a_ruling_made_needless_do_not_turn_the_encounter_round() {
    let mut host = Host::new(&[stage(Format::Knockout { tie: Tie::MoreGames { extra: 1 } }, 2)], 4, 1);
    let wins = |game: &Pairing, player: PlayerId| {
        Outcome::loss(if game.black == player { Color::White } else { Color::Black }, WinBy::Mate)
    };
    // Two encounters of two games each: in that of `strong` and `weak` each wins one.
    let games: Vec<Pairing> = (0..4)
        .map(|_| match host.next() {
            Next::Game(game) => game,
            other => panic!("{other:?}"),
        })
        .collect();
    let level = |game: &&Pairing| game.pair == games[0].pair;
    let strong = games[0].black.min(games[0].white);
    let weak = games[0].black.max(games[0].white);
    let level: Vec<Pairing> = games.iter().filter(level).copied().collect();
    for game in &games {
        let winner = if *game == level[1] { weak } else { game.black.min(game.white) };
        host.end(*game, wins(game, winner));
    }
    let (Next::Game(extra), Next::Game(last)) = (host.next(), host.next()) else { panic!("level") };
    let game = NamedGame { game: GameId(1), black: String::new(), white: String::new(), round: 1 };
    let (was, outcome) = (Some(wins(&level[0], strong)), wins(&level[0], weak));
    let action = Action::Ruled { game, pairing: level[0], was, outcome };
    let (by, reason) = ("op".to_owned(), String::new());
    host.tell(Entry::Operator(Box::new(Operation { number: 1, by, reason, undoes: None, action })));
    let Next::Game(semi) = host.next() else { panic!("`weak` goes on") };
    assert!(semi.round == 2 && [semi.black, semi.white].contains(&weak), "{semi:?}");
    host.end(extra, wins(&extra, strong));
    host.end(last, wins(&last, strong));
    let decided = host.standings.advances(0);
    let encounter = decided.iter().find(|decided| decided.players.contains(&strong)).unwrap();
    assert_eq!((encounter.players, encounter.points, encounter.extra), ([weak, strong], [2.0, 0.0], 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The bracket is told from the games alone: each entrant's last round, and what each encounter came to.
    #[test]
    fn everybody_is_ranked_by_the_round_it_was_in_last_and_each_encounter_has_its_score(
        players in 2..20_usize, games in 1..5_u32, extra in 0..3_u32, dice: u64,
    ) {
        let tie = if extra == 0 { Tie::HigherSeed } else { Tie::MoreGames { extra } };
        let mut host = Host::new(&[stage(Format::Knockout { tie }, games)], players, dice);
        host.year = dice;
        host.play(3, usize::MAX);
        let mut encounters: BTreeMap<(u32, PlayerId, PlayerId), Vec<Pairing>> = BTreeMap::new();
        for game in host.counted().into_values() {
            let key = (game.round, game.black.min(game.white), game.black.max(game.white));
            encounters.entry(key).or_default().push(game);
        }
        let rounds = players.next_power_of_two().ilog2();
        let full = players.next_power_of_two() >> 1;
        let in_round = |round: u32| encounters.keys().filter(|key| key.0 == round).count();
        prop_assert_eq!(in_round(1), players - full);
        prop_assert!((2..=rounds).all(|round| in_round(round) == full >> (round - 1)));
        let mut reached = vec![1; players];
        let mut decided = vec![];
        for (&(round, higher, lower), met) in &encounters {
            let half_points = |player: PlayerId| -> u64 {
                let color = |game: &Pairing| if game.black == player { Color::Black } else { Color::White };
                met.iter().map(|game| u64::from(result(game, dice).half_points(color(game)).unwrap())).sum()
            };
            let points = [half_points(higher), half_points(lower)];
            let winner_first = if points[0] >= points[1] { [higher, lower] } else { [lower, higher] };
            for player in winner_first {
                reached[player.index()] = reached[player.index()].max(round);
            }
            reached[winner_first[0].index()] = reached[winner_first[0].index()].max(round + 1);
            let extra = (met.len() as u64).saturating_sub(u64::from(games));
            let points = winner_first.map(|player| half_points(player) as f64 / 2.0);
            decided.push((round, winner_first, points, extra, points[0] == points[1]));
        }
        for (_, player) in host.byes() {
            reached[player.index()] = reached[player.index()].max(2);
        }
        let table = host.standings.ranking(0);
        for row in &table {
            prop_assert_eq!(row.round, Some(reached[row.player.index()]), "{:?}", row.player);
            let better = reached.iter().filter(|other| **other > reached[row.player.index()]).count();
            prop_assert_eq!(row.rank as usize, better + 1);
            prop_assert!(row.tie_breaks.is_empty());
        }
        let mut advances: Vec<_> = host
            .standings
            .advances(0)
            .iter()
            .map(|it| (it.round, it.players, it.points, it.extra, it.by_seed))
            .collect();
        prop_assert!(advances.is_sorted_by_key(|advance| advance.0), "round by round");
        advances.sort_by_key(|advance| (advance.0, advance.1[0].min(advance.1[1])));
        prop_assert_eq!(advances, decided);
    }
}

#[test]
fn the_first_and_the_second_seed_meet_in_the_final_and_seed_n_meets_the_nth_last() {
    let first_round = |players: usize| {
        let mut host = Host::new(&[stage(Format::Knockout { tie: Tie::HigherSeed }, 1)], players, 1);
        let (mut pairs, mut byes) = (vec![], vec![]);
        loop {
            match host.next() {
                Next::Game(game) if game.round == 1 => {
                    pairs.push((game.black.0.min(game.white.0), game.black.0.max(game.white.0)));
                }
                Next::Bye { player, half_points, round, .. } => {
                    assert_eq!((half_points, round), (0, 1));
                    byes.push(player.0);
                }
                _ => return (pairs, byes),
            }
        }
    };
    assert_eq!(first_round(8), (vec![(0, 7), (3, 4), (1, 6), (2, 5)], vec![]));
    assert_eq!(first_round(6), (vec![(3, 4), (2, 5)], vec![0, 1]));
    assert_eq!(first_round(2), (vec![(0, 1)], vec![]));
    let host = played(&[stage(Format::Knockout { tie: Tie::HigherSeed }, 1)], 1);
    assert!(host.started.is_empty() && host.standings.ranking(0)[0].round == Some(1));
}

#[test]
fn a_game_begins_only_if_no_result_of_the_running_ones_can_make_it_needless() {
    // Best of so many: the games that are certain at the start, and those after each win of the first player in a row.
    for (games, certain) in
        [(1, vec![1]), (2, vec![2]), (3, vec![2, 1]), (5, vec![3, 1, 1]), (7, vec![4, 1, 1, 1])]
    {
        let mut host = Host::new(&[stage(Format::Knockout { tie: Tie::HigherSeed }, games)], 2, 1);
        let mut begun = vec![];
        loop {
            let mut more = 0;
            while let Next::Game(_) = host.next() {
                more += 1;
            }
            if host.running.is_empty() {
                break;
            }
            begun.push(more);
            let game = host.running.remove(0);
            // The players win in turn, so that the encounter stays open as long as it can.
            let winner = host.counted().len() as u32 % 2;
            let loser = if game.black.0 == winner { Color::White } else { Color::Black };
            host.end(game, Outcome::loss(loser, WinBy::Mate));
        }
        let total: usize = begun.iter().sum();
        assert_eq!((begun[0], total), (certain[0], games as usize), "best of {games}: {begun:?}");
    }
}
