use super::*;

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
