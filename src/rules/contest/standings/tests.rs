use super::*;
use crate::{fault_limit::FaultLimit, schedule::Format, scoring::Scoring, stage::Tie};
use proptest::prelude::*;
use referee::{
    AbortBy, Color, DrawBy, Outcome, WinBy,
    entry::{GameStarted, Opened},
    operation::{Action, NamedGame, Operation},
};

const DRAW: Outcome = Outcome::Draw { by: DrawBy::Sennichite };

fn wins(winner: Color) -> Outcome {
    Outcome::Win { winner, by: WinBy::Time }
}

fn black_wins() -> Outcome {
    wins(Color::Black)
}

fn stage(format: Format, games: u32) -> Stage {
    Stage { format, games, ..Stage::default() }
}

/// Single games are pairs of their own, else two games are one.
fn pairing(index: u64, pair: u64, black: u32, white: u32) -> Pairing {
    let (black, white) = (PlayerId(black), PlayerId(white));
    Pairing { stage: 0, index, attempt: 0, round: 1, pair, opening: pair, black, white }
}

fn end(pairing: Pairing, outcome: Outcome) -> Entry {
    Entry::GameEnded(GameEnded::new(GameId(9), pairing, outcome, 80))
}

fn replayed(pairing: Pairing) -> Entry {
    Entry::GameEnded(GameEnded { replayed: true, ..GameEnded::new(GameId(9), pairing, DRAW, 80) })
}

fn start(game: u64, pairing: Pairing) -> Entry {
    let game = GameId(game);
    Entry::GameStarted(GameStarted {
        game,
        pairing,
        start: String::new(),
        opening: String::new(),
        times: None,
    })
}

/// A stage of single games, played in the order of the list: black, white, outcome.
fn single_games(format: Format, players: usize, games: &[(u32, u32, Outcome)]) -> Standings {
    let mut standings = Standings::new(&[stage(format, 1)], players);
    for (index, &(black, white, outcome)) in (0..).zip(games) {
        standings.fold(&end(pairing(index, index, black, white), outcome));
    }
    standings
}

fn order(standings: &Standings) -> Vec<u32> {
    standings.ranking(0).iter().map(|row| row.player.0).collect()
}

#[test]
fn buchholz_and_sonneborn_berger_of_two_rounds_are_those_worked_out_by_hand() {
    // Scores: 0 has 1.5, 1 has 1, 2 has 0, 3 has 1.5.
    let games = [(0, 2, black_wins()), (3, 1, DRAW), (1, 0, DRAW), (2, 3, wins(Color::White))];
    let standings = single_games(Format::Swiss { rounds: 2 }, 4, &games);
    let rows: Vec<_> = standings
        .ranking(0)
        .iter()
        .map(|row| {
            let value = |tie_break| TieBreak::text(tie_break, row.tie_break(tie_break));
            let [buchholz, sonneborn_berger, direct] =
                [TieBreak::Buchholz, TieBreak::SonnebornBerger, TieBreak::DirectEncounter].map(value);
            format!("{} {} {buchholz} {sonneborn_berger} {direct}", row.player.0, row.points)
        })
        .collect();
    assert_eq!(
        rows,
        [
            "0 1.5 1.0 0.50 0.0", // met 2 (0) and 1 (1): Buchholz 1; beat 2 and drew with 1: SB 0.5
            "3 1.5 1.0 0.50 0.0", // likewise; the two have not met, so the order of entry decides
            "1 1.0 3.0 1.50 -",   // met 3 and 0 (1.5 each): Buchholz 3; two draws: SB 1.5
            "2 0.0 3.0 0.00 -",
        ]
    );
}

#[test]
fn a_bye_counts_as_an_opponent_with_ones_own_score() {
    let stages = [stage(Format::Swiss { rounds: 2 }, 1)];
    let mut standings = Standings::new(&stages, 3);
    let bye = |round, player| Entry::Bye { stage: 0, round, player: PlayerId(player), half_points: 2 };
    for event in [
        bye(1, 2),
        end(pairing(0, 0, 0, 1), black_wins()),
        bye(2, 1),
        bye(2, 1), // told twice by a resumed run
        end(pairing(1, 1, 2, 0), black_wins()),
    ] {
        standings.fold(&event);
    }
    let rows: Vec<_> = standings
        .ranking(0)
        .iter()
        .map(|row| {
            let value = |tie_break| TieBreak::text(tie_break, row.tie_break(tie_break));
            let [buchholz, sonneborn_berger] = [TieBreak::Buchholz, TieBreak::SonnebornBerger].map(value);
            format!("{} {} {buchholz} {sonneborn_berger}", row.player.0, row.points)
        })
        .collect();
    assert_eq!(rows, ["2 2.0 3.0 3.00", "0 1.0 3.0 1.00", "1 1.0 2.0 1.00"]);
    assert_eq!(standings.total().players[1].byes, 1);
}

#[test]
fn games_and_byes_of_a_disqualified_player_are_struck_until_that_is_taken_back() {
    let mut standings = Standings::new(&[stage(Format::Swiss { rounds: 2 }, 1)], 3);
    let first = pairing(0, 0, 0, 1);
    standings.fold(&Entry::Bye { stage: 0, round: 2, player: PlayerId(0), half_points: 2 });
    standings.fold(&end(first, black_wins()));
    for (holds, [distinct, struck]) in [(true, [false, true]), (false, [true, false])] {
        let (player, name, reason) = (PlayerId(0), "a".to_owned(), "by proof".to_owned());
        let action = Action::Disqualified { player, name, stage: 0, round: 1, holds };
        let (number, undoes) = if holds { (4, None) } else { (5, Some(4)) };
        let operation = Operation { number, by: "kai".to_owned(), reason, undoes, action };
        standings.fold(&Entry::Operator(Box::new(operation)));
        let order = standings.arbitration().disqualification(PlayerId(0));
        assert_eq!(
            (order, standings.arbitration().disqualification(PlayerId(1))),
            (struck.then_some(4), None)
        );
        assert_eq!([standings.is_distinct(&first), standings.is_struck(&first)], [distinct, struck]);
        assert_eq!(standings.byes(0).count(), usize::from(distinct));
    }
}

#[test]
fn who_resigns_because_of_a_fault_of_its_own_has_a_fault_in_the_table() {
    let mut standings = Standings::new(&[stage(Format::RoundRobin { cycles: 1 }, 2)], 2);
    for (at, evidence) in [(pairing(0, 0, 0, 1), "white: it ended"), (pairing(1, 0, 1, 0), "black: it ended")]
    {
        let outcome = Outcome::Win { winner: Color::Black, by: WinBy::Resignation };
        let ended = GameEnded::new(GameId(9), at, outcome, 80);
        standings.fold(&Entry::GameEnded(GameEnded { evidence: evidence.to_owned(), ..ended }));
    }
    let faults: Vec<u64> = standings.total().players.iter().map(|record| record.faults()).collect();
    assert_eq!(faults, [0, 1]);
}

#[test]
fn players_level_in_score_and_sonneborn_berger_are_ranked_by_their_direct_encounter() {
    let games = [
        (1, 0, black_wins()),
        (1, 2, DRAW),
        (1, 3, wins(Color::White)),
        (0, 2, black_wins()),
        (0, 3, DRAW),
        (2, 3, DRAW),
    ];
    let standings = single_games(Format::RoundRobin { cycles: 1 }, 4, &games);
    let ranking = standings.ranking(0);
    let level = |row: &Row| (row.half_points, row.tie_break(TieBreak::SonnebornBerger));
    assert_eq!(level(&ranking[1]), level(&ranking[2]));
    let direct = |at: usize| ranking[at].tie_break(TieBreak::DirectEncounter);
    assert_eq!((direct(1), direct(2)), (Some(1000), Some(0)));
    assert_eq!(order(&standings), [3, 1, 0, 2]);
}

#[test]
fn a_player_without_a_game_keeps_the_order_of_entry() {
    assert_eq!(order(&Standings::new(&[stage(Format::RoundRobin { cycles: 1 }, 2)], 3)), [0, 1, 2]);
}

/// The order of the whole event with the ranks.
fn event_order(standings: &Standings) -> Vec<(u32, u32)> {
    let order = standings.order(&rating::fit(&standings.cross_table()));
    order.into_iter().map(|(rank, player)| (rank, player.0)).collect()
}

fn penalty(player: u32, thousandths: i64) -> Entry {
    let (player, points) = (PlayerId(player), Points::thousandths(thousandths));
    let action = Action::Penalised { name: String::new(), player, points, stage: 0, round: 1 };
    let (by, reason) = ("kai".to_owned(), "a reason".to_owned());
    Entry::Operator(Box::new(Operation { number: 1, by, reason, undoes: None, action }))
}

/// A beats B and C, B beats C and D, C and D beat A and each other in no game.
const CIRCLE: [(u32, u32, Color); 4] =
    [(0, 1, Color::Black), (1, 2, Color::Black), (3, 0, Color::Black), (2, 3, Color::Black)];

#[test]
fn a_round_robin_is_won_by_points_then_sonneborn_berger_and_equals_share_a_rank() {
    let games = CIRCLE.map(|(black, white, winner)| (black, white, wins(winner)));
    let mut standings = single_games(Format::RoundRobin { cycles: 1 }, 4, &games);
    assert_eq!(event_order(&standings), [(1, 0), (1, 1), (1, 2), (1, 3)], "one point each");
    assert!(standings.by_points() && standings.is_ranked(0));
    standings.fold(&penalty(0, 500));
    assert_eq!(event_order(&standings)[3], (4, 0), "a penalty counts in the order of the event");
    assert_eq!(standings.points(PlayerId(0)), Points::thousandths(500));
    assert_eq!(standings.ranking(0).iter().map(|row| row.rank).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[test]
fn points_decide_where_they_can_be_won_and_elo_where_they_cannot() {
    // The first has two points of three, and the second one of one: by Elo, and by nothing else, the second is stronger.
    let games = [(0, 2, black_wins()), (0, 3, black_wins()), (1, 0, black_wins())];
    let order_of = |format| event_order(&single_games(format, 4, &games))[0];
    assert_eq!(order_of(Format::RoundRobin { cycles: 1 }), (1, 0));
    assert_eq!(order_of(Format::Gauntlet { challengers: 1, cycles: 1 }), (1, 1));
    let standings = single_games(Format::RoundRobin { cycles: 1 }, 4, &games);
    let open = standings.with_rules(RankingRules { open: true, ..RankingRules::default() });
    assert_eq!(event_order(&open)[0], (1, 1), "an open league has no points to win");
    assert!(!open.is_ranked(0));
}

#[test]
fn the_winner_of_the_last_stage_is_the_winner_of_the_event_and_of_a_knock_out_the_last_who_is_left() {
    let stages =
        [stage(Format::RoundRobin { cycles: 1 }, 1), stage(Format::Knockout { tie: Tie::HigherSeed }, 1)];
    let stages = [stages[0].clone(), Stage { entrants: Some(2), ..stages[1].clone() }];
    let mut standings = Standings::new(&stages, 3);
    for (index, black, white) in [(0, 0, 1), (1, 0, 2), (2, 1, 2)] {
        standings.fold(&end(pairing(index, index, black, white), black_wins()));
    }
    assert_eq!(event_order(&standings), [(1, 0), (2, 1), (3, 2)]);
    let last = Pairing { stage: 1, ..pairing(0, 0, 0, 1) };
    standings.fold(&end(last, wins(Color::White)));
    assert_eq!(
        event_order(&standings),
        [(1, 1), (2, 0), (3, 2)],
        "two points of three before it count no more"
    );
}

#[test]
fn a_game_whose_other_half_is_still_played_changes_no_elo() {
    let mut standings = Standings::new(&[stage(Format::RoundRobin { cycles: 30 }, 2)], 2);
    // A wide opening: black wins both games of a pair, so that pairs say much more than single games.
    for pair in 0..30 {
        standings.fold(&end(pairing(2 * pair, pair, 0, 1), black_wins()));
        standings.fold(&end(pairing(2 * pair + 1, pair, 1, 0), black_wins()));
    }
    let numbers = |standings: &Standings| standings.total().numbers(PlayerId(0), PlayerId(1));
    let whole = numbers(&standings);
    standings.fold(&end(pairing(60, 30, 0, 1), black_wins()));
    assert_eq!((numbers(&standings).elo_low, numbers(&standings).elo_high), (whole.elo_low, whole.elo_high));
    assert_eq!(standings.total().games(), 61);
    let odd = single_games(Format::RoundRobin { cycles: 3 }, 2, &[(0, 1, black_wins()), (1, 0, DRAW)]);
    assert_eq!(numbers(&odd).games, 2, "games without a partner count alone");
}

fn played(pairing: Pairing, outcome: Outcome, moves: u64) -> Entry {
    Entry::GameEnded(GameEnded { moves_hash: Some(moves), ..GameEnded::new(GameId(9), pairing, outcome, 80) })
}

fn discard(pairing: Pairing, was: Outcome) -> Entry {
    corrected(pairing, was, None)
}

#[test]
fn a_game_that_does_not_count_is_no_earlier_one_of_those_that_are_like_it() {
    let test = Stage { format: Format::Sprt { max_games: 1000 }, ..Stage::default() };
    let mut standings = Standings::new(&[test], 2);
    let game = |pair: u64, half: u64| match half {
        0 => pairing(2 * pair, pair, 0, 1),
        _ => pairing(2 * pair + 1, pair, 1, 0),
    };
    let ends = |pair| [played(game(pair, 0), black_wins(), 1), played(game(pair, 1), DRAW, 2)];
    // Engines that always play alike: three pairs, of which one is evidence.
    (0..3).flat_map(ends).for_each(|entry| standings.fold(&entry));
    let evidence = |standings: &Standings| {
        let sequence = standings.sequence().unwrap();
        let pairs = standings.total().pentanomial(PlayerId(0), PlayerId(1)).iter().sum::<u64>();
        (standings.total().distinct_games(), pairs, sequence.in_order.pairs, sequence.finished.pairs)
    };
    assert_eq!(evidence(&standings), (2, 1, 1, 1));
    // The first pair is discarded: one of the others is evidence in its stead, as soon as it is in order.
    standings.fold(&discard(game(0, 0), black_wins()));
    standings.fold(&discard(game(0, 1), DRAW));
    assert_eq!(evidence(&standings), (2, 1, 0, 1));
    assert!([game(1, 0), game(1, 1)].iter().all(|game| standings.is_distinct(game)));
    // Played again alike, it repeats the one that has taken its place.
    ends(0).iter().for_each(|entry| standings.fold(entry));
    assert_eq!(evidence(&standings), (2, 1, 1, 1));
    // The same entries without the games that were discarded lead to the same evidence.
    let mut without =
        Standings::new(&[Stage { format: Format::Sprt { max_games: 1000 }, ..Stage::default() }], 2);
    [1, 2, 0].into_iter().flat_map(ends).for_each(|entry| without.fold(&entry));
    assert_eq!(evidence(&without), evidence(&standings));
}

#[test]
fn pairs_of_which_both_games_have_the_same_moves_are_counted_and_taken_back() {
    let mut standings = Standings::new(&[stage(Format::RoundRobin { cycles: 5 }, 2)], 2);
    let game = |index: u64| pairing(index, index / 2, (index % 2) as u32, 1 - (index % 2) as u32);
    for (index, moves) in [(0, 5), (1, 5), (2, 7), (3, 8), (4, 9), (5, 9)] {
        standings.fold(&played(game(index), black_wins(), moves));
    }
    let alike = |standings: &Standings| standings.total().alike_pairs(PlayerId(0), PlayerId(1));
    assert_eq!(alike(&standings), 2);
    standings.fold(&corrected(game(4), black_wins(), Some(DRAW)));
    assert_eq!(alike(&standings), 2, "a ruling changes no moves");
    standings.fold(&played(game(6), black_wins(), 3));
    standings.fold(&corrected(game(6), black_wins(), Some(DRAW)));
    standings.fold(&played(game(7), black_wins(), 3));
    assert_eq!(alike(&standings), 3, "also before the second game of the pair");
    standings.fold(&discard(game(6), DRAW));
    standings.fold(&played(game(6), black_wins(), 4));
    assert_eq!(alike(&standings), 2, "played again with other moves");
    standings.fold(&discard(game(0), black_wins()));
    assert_eq!(alike(&standings), 1);
}

#[test]
fn a_player_is_halted_at_its_own_limit_of_faults_and_others_are_not() {
    let limit = FaultLimit { in_a_row: Some(2), ..FaultLimit::default() };
    let stages = [stage(Format::RoundRobin { cycles: 5 }, 2)];
    let mut standings = Standings::new(&stages, 2).with_fault_limits([None, Some(limit)]);
    // Either loses two games in a row by a fault.
    for (index, black, white, loser) in
        [(0, 0, 1, Color::White), (1, 1, 0, Color::Black), (2, 0, 1, Color::Black), (3, 1, 0, Color::White)]
    {
        let fault = Outcome::loss(loser, WinBy::Disconnection);
        standings.fold(&end(pairing(index, index / 2, black, white), fault));
    }
    let halted: Vec<PlayerId> = standings.halts().iter().map(|halt| halt.player).collect();
    assert_eq!(halted, [PlayerId(1)]);
}

#[test]
fn a_replay_of_the_only_game_is_new() {
    let mut standings = single_games(Format::RoundRobin { cycles: 1 }, 2, &[]);
    let game = pairing(0, 0, 0, 1);
    standings.fold(&played(game, black_wins(), 7));
    standings.fold(&discard(game, black_wins()));
    assert_eq!(standings.total().distinct_games(), 0);
    standings.fold(&played(game, black_wins(), 7));
    assert_eq!((standings.total().games(), standings.total().distinct_games()), (1, 1));
}

#[test]
fn records_count_wins_and_losses_by_cause_and_colour() {
    let crash = Outcome::loss(Color::White, WinBy::Disconnection);
    let games = [(0, 1, black_wins()), (1, 0, black_wins()), (0, 1, crash), (1, 0, DRAW)];
    let standings = single_games(Format::RoundRobin { cycles: 4 }, 2, &games);
    let [first, second] = &standings.total().players[..] else { panic!("two players") };
    assert_eq!(first.black, Wdl { wins: 2, draws: 0, losses: 0 });
    assert_eq!(first.white, Wdl { wins: 0, draws: 1, losses: 1 });
    assert_eq!((first.half_points(), second.half_points()), (5, 3));
    assert_eq!((second.lost("time"), second.lost("disconnection"), second.lost("mate")), (1, 1, 0));
    assert_eq!((first.won_by["time"], first.drawn_by["sennichite"]), (1, 1));
    assert_eq!(standings.total().between(PlayerId(1), PlayerId(0)), Wdl { wins: 1, draws: 1, losses: 2 });
    assert_eq!(standings.stage(0), Some(standings.total()));
}

#[test]
fn pairs_are_counted_from_the_side_of_the_lower_id_when_both_games_are_over() {
    let stages = [stage(Format::RoundRobin { cycles: 9 }, 2)];
    let mut standings = Standings::new(&stages, 2);
    let (a, b) = (PlayerId(0), PlayerId(1));
    standings.fold(&end(pairing(0, 0, 1, 0), black_wins())); // lower id: 0
    standings.fold(&end(pairing(2, 1, 0, 1), black_wins())); // 2
    assert_eq!(standings.total().pentanomial(a, b), [0; 5]);
    standings.fold(&end(pairing(1, 0, 0, 1), DRAW)); // 0 + 1
    standings.fold(&end(pairing(3, 1, 1, 0), wins(Color::White))); // 2 + 2
    assert_eq!(standings.total().pentanomial(a, b), [0, 1, 0, 0, 1]);
    assert_eq!(standings.total().pentanomial(b, a), [1, 0, 0, 1, 0]);
}

#[test]
fn the_last_game_of_an_odd_encounter_waits_for_no_partner() {
    let stages = [stage(Format::RoundRobin { cycles: 1000 }, 3)];
    let mut standings = Standings::new(&stages, 2);
    for encounter in 0..1000 {
        let last = pairing(encounter * 3 + 2, encounter * 2 + 1, 0, 1);
        standings.fold(&end(last, DRAW));
    }
    assert!(standings.progress[0].halves.is_empty());
    assert_eq!(standings.total().players[0].games().draws, 1000);
}

#[test]
fn a_test_is_evaluated_after_each_pair_in_schedule_order() {
    let mut standings = Standings::new(&[stage(Format::Sprt { max_games: 100 }, 2)], 2);
    let game = |index: u64| pairing(index, index / 2, (index % 2) as u32, 1 - (index % 2) as u32);
    for index in [3, 2, 5, 4, 6, 0] {
        standings.fold(&end(game(index), black_wins()));
        assert!(standings.due().is_empty(), "pair 0 is not complete");
    }
    let finished = standings.sequence().unwrap().finished;
    assert_eq!((finished.pairs, finished.trinomial, finished.pentanomial), (2, [2, 0, 4], [0, 0, 2, 0, 0]));
    standings.fold(&end(game(1), DRAW));
    let due: Vec<_> = standings.due().iter().map(|at| (at.pairs, at.trinomial, at.pentanomial)).collect();
    assert_eq!(
        due,
        [(1, [0, 1, 1], [0, 0, 0, 1, 0]), (2, [1, 1, 2], [0, 0, 1, 1, 0]), (3, [2, 1, 3], [0, 0, 2, 1, 0]),]
    );
    assert_eq!(standings.sequence().unwrap().in_order.pairs, 3);
    standings.fold(&Entry::Closed);
    assert!(standings.due().is_empty(), "each is due once");
}

#[test]
fn games_that_do_not_count_are_seen_among_the_endings_only() {
    let mut standings = Standings::new(&[stage(Format::RoundRobin { cycles: 1 }, 1)], 2);
    let game = pairing(0, 0, 0, 1);
    standings.fold(&end(game, Outcome::Aborted { by: AbortBy::Stopped }));
    standings.fold(&replayed(game));
    let record = &standings.total().players[1];
    assert_eq!((record.games().games(), record.half_points()), (0, 0));
    assert_eq!((record.uncounted["stopped"], record.uncounted["sennichite"]), (1, 1));
    assert_eq!(standings.replays(&game), 1);
    assert!(standings.finished(0).unwrap().is_empty());
}

#[test]
fn a_repeated_ending_counts_once() {
    let ending = end(pairing(0, 0, 0, 1), black_wins());
    let mut standings = Standings::new(&[stage(Format::RoundRobin { cycles: 1 }, 1)], 2);
    standings.fold(&ending);
    standings.fold(&ending);
    assert_eq!(standings.total().players[0].games().games(), 1);
}

#[test]
fn games_run_from_their_start_to_their_end_or_until_the_event_is_resumed() {
    let mut standings = Standings::new(&[stage(Format::RoundRobin { cycles: 9 }, 1)], 2);
    standings.fold(&start(1, pairing(0, 0, 0, 1)));
    standings.fold(&start(9, pairing(1, 1, 1, 0)));
    assert_eq!(standings.running().count(), 2);
    standings.fold(&end(pairing(1, 1, 1, 0), DRAW));
    assert_eq!(standings.running().map(|(game, _)| game).collect::<Vec<_>>(), [GameId(1)]);
    let (name, format) = (String::new(), String::new());
    standings.fold(&Entry::Opened(Opened { name, players: Vec::new(), format, resumed: true }));
    assert_eq!(standings.running().count(), 0);
}

#[test]
fn a_joining_player_is_counted_from_then_on_and_running_games_go_on() {
    let mut standings = Standings::new(&[stage(Format::RoundRobin { cycles: 1 }, 1)], 0);
    let opened = |players: &[&str]| {
        let (name, format) = (String::new(), String::new());
        let players = players.iter().map(|&name| name.to_owned()).collect();
        Entry::Opened(Opened { name, players, format, resumed: false })
    };
    standings.fold(&opened(&["Asa", "Bei"]));
    standings.fold(&start(1, pairing(0, 0, 0, 1)));
    standings.fold(&opened(&["Asa", "Bei", "Chie"]));
    assert_eq!((standings.players(), standings.running().count()), (3, 1));
    standings.fold(&end(pairing(1, 1, 2, 0), black_wins()));
    assert_eq!(standings.total().players[2].games().wins, 1);
}

#[test]
fn events_of_unknown_players_and_stages_are_ignored() {
    let mut standings = Standings::new(&[stage(Format::RoundRobin { cycles: 1 }, 1)], 2);
    let elsewhere = Pairing { stage: 3, ..pairing(0, 0, 0, 1) };
    for game in [elsewhere, pairing(0, 0, 0, 7), pairing(0, 0, 1, 1)] {
        standings.fold(&start(1, game));
        standings.fold(&end(game, black_wins()));
    }
    standings.fold(&Entry::Bye { stage: 9, round: 1, player: PlayerId(0), half_points: 2 });
    standings.fold(&Entry::Bye { stage: 0, round: 1, player: PlayerId(9), half_points: 2 });
    assert_eq!(standings.total(), &Tally::new(2));
    assert!(standings.ranking(5).is_empty() && standings.entrants(5).is_empty());
}

#[test]
fn tallies_are_written_as_lists_of_pairs() {
    let mut standings = Standings::new(&[stage(Format::RoundRobin { cycles: 1 }, 2)], 2);
    standings.fold(&end(pairing(0, 0, 0, 1), black_wins()));
    standings.fold(&end(pairing(1, 0, 1, 0), DRAW));
    let json = serde_json::to_value(standings.total()).unwrap();
    let first = serde_json::json!({"black": 0, "white": 1, "black_wins": 1, "draws": 0, "white_wins": 0});
    assert_eq!(json["met"][0], first);
    let pairs = &json["evidence"]["pairs"];
    assert_eq!(*pairs, serde_json::json!([{"tested": 0, "opponent": 1, "counts": [0, 0, 0, 1, 0]}]));
    assert_eq!(json["players"][1]["lost_by"]["time"], 1);
}

/// The pairs of a test of six lines between engines that always answer alike.
fn repeating_pairs(pairs: u64, lines: u64) -> impl Iterator<Item = Entry> {
    (0..2 * pairs).map(move |index| {
        let (pair, swapped) = (index / 2, index % 2 == 1);
        let (black, white) = if swapped { (1, 0) } else { (0, 1) };
        let line = pair % lines;
        let outcome = if line.is_multiple_of(2) || swapped { black_wins() } else { DRAW };
        let Entry::GameEnded(ended) = end(Pairing { pair, ..pairing(index, 0, black, white) }, outcome)
        else {
            panic!("an end")
        };
        Entry::GameEnded(GameEnded { moves_hash: Some(line), ..ended })
    })
}

fn sprt() -> Stage {
    stage(Format::Sprt { max_games: 1000 }, 2)
}

#[test]
fn a_game_that_repeats_another_counts_for_points_and_is_no_evidence() {
    let mut standings = Standings::new(&[sprt()], 2);
    repeating_pairs(60, 6).for_each(|entry| standings.fold(&entry));
    let total = standings.total();
    assert_eq!((total.games(), total.distinct_games()), (120, 12));
    assert_eq!(total.players[0].games().games(), 120);
    assert_eq!(total.pentanomial(PlayerId(0), PlayerId(1)), [0, 3, 3, 0, 0]);
    assert_eq!(total.numbers(PlayerId(0), PlayerId(1)).games, 12);
    let table: Vec<_> = standings.cross_table().cells().map(|(.., results)| *results).collect();
    assert_eq!(table.iter().map(|cell| cell.black_wins + cell.draws + cell.white_wins).sum::<f64>(), 12.0);
    let sequence = standings.sequence().unwrap();
    assert_eq!((sequence.in_order.pairs, sequence.finished.pairs), (6, 6));
    assert_eq!(sequence.in_order.pentanomial, [0, 3, 3, 0, 0]);
    assert_eq!(sequence.in_order.trinomial.iter().sum::<u64>(), 12);
    assert!(standings.due().is_empty(), "a repeat decides nothing");
}

#[test]
fn a_pair_with_one_game_that_repeats_another_is_no_evidence_as_a_pair() {
    let mut standings = Standings::new(&[sprt()], 2);
    for (index, moves) in [1, 2, 1, 3].into_iter().enumerate() {
        let index = index as u64;
        let (black, white) = if index.is_multiple_of(2) { (0, 1) } else { (1, 0) };
        let pairing = Pairing { pair: index / 2, ..pairing(index, 0, black, white) };
        let Entry::GameEnded(ended) = end(pairing, black_wins()) else { panic!("an end") };
        standings.fold(&Entry::GameEnded(GameEnded { moves_hash: Some(moves), ..ended }));
    }
    assert_eq!(standings.total().distinct_games(), 3);
    assert_eq!(standings.sequence().unwrap().in_order.pairs, 1);
}

#[test]
fn a_test_whose_last_hundred_pairs_repeat_earlier_games_has_only_repeats_left() {
    let mut standings = Standings::new(&[sprt()], 2);
    let mut entries = repeating_pairs(107, 6);
    entries.by_ref().take(2 * 105).for_each(|entry| standings.fold(&entry));
    assert!(!standings.only_repeats());
    entries.by_ref().take(2).for_each(|entry| standings.fold(&entry));
    assert!(standings.only_repeats());
    let verdict = Verdict { verdict: REPEATS.to_owned(), llr: 0.1, pairs: 6 };
    assert!(
        verdict
            .words()
            .starts_with("no verdict after 6 distinct pairs: the last 100 pairs repeated earlier games")
    );
}

#[test]
fn the_advantage_of_black_goes_by_pairs_whose_openings_decide_both_games() {
    let advantage = |pairs: &[[Outcome; 2]]| {
        let mut standings = Standings::new(&[sprt()], 2);
        for (index, outcome) in pairs.iter().flatten().enumerate() {
            let index = index as u64;
            let (black, white) = if index.is_multiple_of(2) { (0, 1) } else { (1, 0) };
            standings.fold(&end(Pairing { pair: index / 2, ..pairing(index, 0, black, white) }, *outcome));
        }
        let ratings = rating::fit(&standings.cross_table());
        standings.black_advantage(&ratings).error().unwrap() / ratings.black_advantage.error().unwrap()
    };
    let (won, lost) = (black_wins(), Outcome::loss(Color::Black, WinBy::Time));
    let by_opening: Vec<_> =
        (0..100).map(|pair| if pair % 2 == 0 { [won, won] } else { [lost, lost] }).collect();
    assert!((advantage(&by_opening) - 2f64.sqrt()).abs() < 0.05, "both games of an opening end alike");
    let by_player: Vec<_> =
        (0..100).map(|pair| if pair % 2 == 0 { [won, lost] } else { [lost, won] }).collect();
    assert_eq!(advantage(&by_player), 1.0);
}

#[test]
fn a_ruling_on_a_game_leaves_it_as_new_as_it_was() {
    let mut standings = Standings::new(&[sprt()], 2);
    repeating_pairs(7, 6).for_each(|entry| standings.fold(&entry));
    let repeated = Pairing { pair: 6, ..pairing(12, 0, 0, 1) };
    let first = Pairing { pair: 0, ..pairing(0, 0, 0, 1) };
    standings.fold(&corrected(repeated, black_wins(), Some(DRAW)));
    standings.fold(&corrected(first, black_wins(), Some(DRAW)));
    let total = standings.total();
    assert_eq!((total.games(), total.distinct_games()), (14, 12));
    assert_eq!(total.pentanomial(PlayerId(0), PlayerId(1)), [0, 4, 2, 0, 0]);
}

fn named(game: u64) -> NamedGame {
    NamedGame { game: GameId(game), black: "a".to_owned(), white: "b".to_owned(), round: 1 }
}

/// An operator's correction of a game that is over.
fn corrected(pairing: Pairing, was: Outcome, is: Option<Outcome>) -> Entry {
    let game = named(9);
    let action = match is {
        Some(outcome) => Action::Ruled { game, pairing, was: Some(was), outcome },
        None => Action::Replayed { game, pairing, was },
    };
    let (by, reason) = ("kai".to_owned(), "a reason".to_owned());
    Entry::Operator(Box::new(Operation { number: 1, by, reason, undoes: None, action }))
}

const ANNULLED: Outcome = Outcome::Aborted { by: AbortBy::Annulled };

proptest! {
    #[test]
    fn corrected_results_count_as_if_the_games_had_ended_so(
        format in prop::sample::select(vec![
            Format::Sprt { max_games: 100 },
            Format::RoundRobin { cycles: 10 },
            Format::Swiss { rounds: 12 },
        ]),
        ends in prop::collection::vec(0..4_usize, 1..20),
        corrections in prop::collection::vec((0..20_usize, 0..5_usize), 0..12),
    ) {
        let outcomes = [black_wins(), wins(Color::White), DRAW, ANNULLED];
        let game = |index: u64| pairing(index, index / 2, (index % 2) as u32, 1 - (index % 2) as u32);
        let fresh = || Standings::new(&[stage(format, 2)], 2);
        let mut standings = fresh();
        let mut games: Vec<Option<Outcome>> = vec![];
        for (index, &end_of) in (0..).zip(&ends) {
            standings.fold(&end(game(index), outcomes[end_of]));
            games.push(Some(outcomes[end_of]));
        }
        let mut taken_out = vec![];
        for (at, to) in corrections {
            let Some(Some(was)) = games.get(at).copied() else { continue };
            let is = outcomes.get(to).copied();
            if is.is_none() && !was.counts() {
                continue;
            }
            standings.fold(&corrected(game(at as u64), was, is));
            games[at] = is;
            taken_out.extend(is.is_none().then_some((at as u64, was)));
        }
        let mut expected = fresh();
        for (index, outcome) in (0..).zip(&games) {
            if let Some(outcome) = outcome {
                expected.fold(&end(game(index), *outcome));
            }
        }
        for (index, was) in taken_out {
            let Entry::GameEnded(mut again) = end(game(index), was) else { continue };
            again.replayed = true;
            expected.fold(&Entry::GameEnded(again));
        }
        prop_assert_eq!(standings.total(), expected.total());
        prop_assert_eq!(standings.stage(0), expected.stage(0));
        prop_assert_eq!(standings.sequence(), expected.sequence());
        prop_assert_eq!(standings.finished(0), expected.finished(0));
        prop_assert_eq!(standings.time_losses().games, expected.time_losses().games);
        let (mine, other) = (&standings.progress[0], &expected.progress[0]);
        prop_assert_eq!(&mine.encounters, &other.encounters);
        prop_assert_eq!(&mine.halves, &other.halves);
    }
}

#[test]
fn a_ruling_takes_the_test_back_to_its_pair_and_evaluates_it_anew_from_there() {
    let mut standings = Standings::new(&[stage(Format::Sprt { max_games: 100 }, 2)], 2);
    let game = |index: u64| pairing(index, index / 2, (index % 2) as u32, 1 - (index % 2) as u32);
    (0..6).for_each(|index| standings.fold(&end(game(index), black_wins())));
    standings.fold(&corrected(game(2), black_wins(), Some(wins(Color::White))));
    let due: Vec<_> = standings.due().iter().map(|at| (at.pairs, at.pentanomial)).collect();
    assert_eq!(due, [(2, [1, 0, 1, 0, 0]), (3, [1, 0, 2, 0, 0])]);
    standings.fold(&corrected(game(2), wins(Color::White), None));
    assert_eq!(standings.sequence().unwrap().in_order.pairs, 1, "the later pairs wait for the game");
    standings.fold(&end(game(2), black_wins()));
    assert_eq!(standings.due().last().unwrap().pentanomial, [0, 0, 3, 0, 0]);
}

#[test]
fn a_test_skips_a_pair_of_which_a_game_is_left_out_and_takes_it_back_in_order() {
    let mut standings = Standings::new(&[stage(Format::Sprt { max_games: 100 }, 2)], 2);
    let game = |index: u64| pairing(index, index / 2, (index % 2) as u32, 1 - (index % 2) as u32);
    let in_order = |standings: &Standings| {
        let counts = standings.sequence().unwrap().in_order;
        (counts.pairs, counts.trinomial.iter().sum::<u64>())
    };
    [0, 4, 5].iter().for_each(|&index| standings.fold(&end(game(index), black_wins())));
    standings.fold(&end(game(1), ANNULLED));
    assert!(standings.due().is_empty(), "the pair that is left out counts nothing");
    standings.fold(&end(game(2), black_wins()));
    standings.fold(&end(game(3), ANNULLED));
    assert_eq!(standings.due().iter().map(|at| at.pairs).collect::<Vec<_>>(), [1], "the third pair waited");
    standings.fold(&corrected(game(2), black_wins(), Some(ANNULLED)));
    assert_eq!(in_order(&standings), (1, 2));
    standings.fold(&corrected(game(3), ANNULLED, Some(DRAW)));
    assert_eq!(in_order(&standings), (1, 2), "the other game of the pair is still left out");
    standings.fold(&corrected(game(1), ANNULLED, Some(DRAW)));
    assert_eq!(standings.due().iter().map(|at| at.pairs).collect::<Vec<_>>(), [1, 2]);
    standings.fold(&corrected(game(2), ANNULLED, Some(DRAW)));
    assert_eq!(standings.due().iter().map(|at| at.pairs).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(in_order(&standings), (3, 6));
}

#[test]
fn a_result_stays_from_which_pairings_have_followed() {
    let mut standings = Standings::new(&[stage(Format::Swiss { rounds: 3 }, 1)], 4);
    let round = |index, round, black, white| Pairing { round, ..pairing(index, index, black, white) };
    standings.fold(&end(round(0, 1, 0, 1), black_wins()));
    standings.fold(&end(round(1, 1, 2, 3), black_wins()));
    assert_eq!(standings.settled(&round(0, 1, 0, 1)), None);
    standings.fold(&start(3, round(2, 2, 0, 2)));
    assert_eq!(standings.settled(&round(0, 1, 0, 1)), Some(Settled::Round(2)));
    assert_eq!(standings.settled(&round(2, 2, 0, 2)), None);
}

/// A game as tables see it.
#[derive(Clone, Copy, Debug)]
struct Played {
    index: u64,
    round: u32,
    players: [u32; 2],
    /// Twice the score of black.
    black: u8,
}

/// Tie-breaks told from a list of games and byes, formula by formula as they are documented.
struct Table<'a> {
    games: &'a [Played],
    byes: &'a [(u32, u32)],
    players: u32,
    /// Games of an encounter.
    length: u64,
    is_swiss: bool,
    rules: &'a RankingRules,
}

impl Table<'_> {
    fn worth(&self, game: &Played, player: u32) -> i64 {
        let Scoring { win, draw, .. } = self.rules.scoring;
        let color = usize::from(game.players[1] == player);
        let own = if color == 0 { game.black } else { 2 - game.black };
        [0, draw[color].in_thousandths(), win[color].in_thousandths()][usize::from(own)]
    }

    fn bye(&self) -> i64 {
        self.rules.scoring.bye.in_thousandths() * self.length as i64
    }

    fn own(&self, player: u32) -> impl Iterator<Item = &Played> {
        self.games.iter().filter(move |game| game.players.contains(&player))
    }

    fn byes_of(&self, player: u32) -> usize {
        self.byes.iter().filter(|(_, other)| *other == player).count()
    }

    fn score(&self, player: u32) -> i64 {
        let games: i64 = self.own(player).map(|game| self.worth(game, player)).sum();
        games + self.byes_of(player) as i64 * self.bye()
    }

    /// The opponents, once for each encounter, with whether they scored less in it.
    fn opponents(&self, player: u32) -> Vec<(u32, bool)> {
        let other = |game: &Played| if game.players[0] == player { game.players[1] } else { game.players[0] };
        let mut met: BTreeMap<(u64, u32), Vec<&Played>> = BTreeMap::new();
        for game in self.own(player) {
            let encounter = if self.is_swiss { game.index / self.length } else { 0 };
            met.entry((encounter, other(game))).or_default().push(game);
        }
        met.iter()
            .flat_map(|(&(_, opponent), games)| {
                let sum = |player: u32| games.iter().map(|game| self.worth(game, player)).sum::<i64>();
                let times = if self.is_swiss { 1 } else { games.len().div_ceil(self.length as usize) };
                std::iter::repeat_n((opponent, sum(player) > sum(opponent)), times)
            })
            .collect()
    }

    fn buchholz(&self, player: u32) -> i64 {
        let byes = if self.rules.bye_is_opponent { self.byes_of(player) as i64 } else { 0 };
        let others: i64 = self.opponents(player).iter().map(|(other, _)| self.score(*other)).sum();
        others + byes * self.score(player)
    }

    fn without_ends(mut scores: Vec<i64>) -> i64 {
        scores.sort_unstable();
        scores.iter().skip(1).rev().skip(1).sum()
    }

    fn value(&self, tie_break: TieBreak, player: u32) -> Option<i64> {
        let opponents = self.opponents(player);
        let byes = if self.rules.bye_is_opponent { self.byes_of(player) } else { 0 };
        let level = |other: u32| self.score(other) == self.score(player);
        Some(match tie_break {
            TieBreak::Buchholz => self.buchholz(player),
            TieBreak::Sosos => opponents.iter().map(|(other, _)| self.buchholz(*other)).sum(),
            TieBreak::Median => {
                let own = std::iter::repeat_n(self.score(player), byes);
                Self::without_ends(opponents.iter().map(|(other, _)| self.score(*other)).chain(own).collect())
            }
            TieBreak::MedianOfBeaten => {
                let beaten = opponents.iter().filter(|(_, beaten)| *beaten);
                Self::without_ends(beaten.map(|(other, _)| self.score(*other)).collect())
            }
            TieBreak::SonnebornBerger => {
                let of_game = |game: &Played| {
                    let other = if game.players[0] == player { game.players[1] } else { game.players[0] };
                    self.worth(game, player) * self.score(other)
                };
                let games: i64 = self.own(player).map(of_game).sum();
                games + byes as i64 * self.bye() * self.score(player)
            }
            TieBreak::DirectEncounter => {
                if (0..self.players).filter(|other| level(*other)).count() == 1 {
                    return None;
                }
                let among = self.own(player).filter(|game| game.players.iter().all(|other| level(*other)));
                among.map(|game| self.worth(game, player)).sum()
            }
            TieBreak::Wins | TieBreak::WinsAsWhite => {
                let won = |game: &&Played| match game.players[0] == player {
                    true => game.black == 2 && tie_break == TieBreak::Wins,
                    false => game.black == 0,
                };
                self.own(player).filter(won).count() as i64
            }
            TieBreak::Progressive => {
                let last = self.games.iter().map(|game| game.round).max().filter(|_| self.is_swiss)?;
                let after = |round: u32| {
                    let games = self.own(player).filter(|game| game.round <= round);
                    let byes =
                        self.byes.iter().filter(|(at, other)| *other == player && *at <= round).count();
                    games.map(|game| self.worth(game, player)).sum::<i64>() + byes as i64 * self.bye()
                };
                (1..=last).map(after).sum()
            }
            TieBreak::Rating => return self.rules.ratings[player as usize].map(i64::from),
            TieBreak::Seed => -i64::from(player) - 1,
            TieBreak::Lot => return None,
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_tie_break_is_what_its_formula_makes_of_the_games(
        swiss: bool,
        players in 2..8_u32,
        length in 1..4_u64,
        rounds in 1..5_u32,
        scoring in prop::array::uniform5(0..12_i64),
        bye_is_opponent: bool,
        results in prop::collection::vec(0..3_u8, 100),
        lots in any::<u64>(),
    ) {
        let [win, win_as_white, draw, draw_as_white, bye] =
            scoring.map(|tenths| Points::thousandths(100 * tenths));
        let scoring = Scoring { win: [win, win_as_white], draw: [draw, draw_as_white], bye };
        // Direct encounters first, so that the players who are level are those of equal score.
        let order: Vec<TieBreak> = std::iter::once(TieBreak::DirectEncounter)
            .chain(TieBreak::ALL.iter().copied().filter(|of| *of != TieBreak::DirectEncounter))
            .collect();
        let ratings = (0..players).map(|player| (player != 1).then_some(1500 + player)).collect();
        let rules = RankingRules {
            scoring,
            tie_breaks: Some(order.clone()),
            bye_is_opponent,
            seed: lots,
            ratings,
            open: false,
        };
        let format = match swiss {
            true => Format::Swiss { rounds },
            false => Format::RoundRobin { cycles: rounds },
        };
        let stages = [stage(format, length as u32)];
        let mut standings = Standings::new(&stages, players as usize).with_rules(rules.clone());
        let (mut games, mut byes) = (vec![], vec![]);
        let tables = u64::from(players / 2);
        for round in 1..=rounds {
            // Any pairing does: the players in an order that the round turns.
            let mut order: Vec<u32> = (0..players).collect();
            order.sort_unstable_by_key(|player| (player * 7 + round * (1 + lots as u32 % 5)) % 11 * 16 + player);
            if players % 2 == 1 {
                byes.push((round, order.pop().unwrap()));
            }
            for (table, two) in (0..).zip(order.chunks(2)) {
                for game in 0..length {
                    let index = (u64::from(round - 1) * tables + table) * length + game;
                    let both = if game % 2 == 0 { [two[0], two[1]] } else { [two[1], two[0]] };
                    games.push(Played { index, round, players: both, black: results[index as usize % 100] });
                }
            }
        }
        for &(round, player) in byes.iter().filter(|_| swiss) {
            let half_points = 2 * length as u8;
            standings.fold(&Entry::Bye { stage: 0, round, player: PlayerId(player), half_points });
        }
        for played in &games {
            let outcome = [wins(Color::White), DRAW, wins(Color::Black)][usize::from(played.black)];
            let [black, white] = played.players;
            let pairing = Pairing { round: played.round, ..pairing(played.index, played.index, black, white) };
            standings.fold(&end(pairing, outcome));
        }
        byes.retain(|_| swiss);
        let table =
            Table { games: &games, byes: &byes, players, length, is_swiss: swiss, rules: &rules };
        let ranking = standings.ranking(0);
        for row in &ranking {
            let player = row.player.0;
            prop_assert_eq!(row.points.in_thousandths(), table.score(player));
            prop_assert_eq!(standings.points(row.player), row.points);
            for tie_break in order.iter().copied().filter(|of| *of != TieBreak::Lot) {
                prop_assert_eq!(row.tie_break(tie_break), table.value(tie_break, player), "{:?} of {}", tie_break, player);
            }
        }
        let mut lots: Vec<_> = ranking.iter().filter_map(|row| row.tie_break(TieBreak::Lot)).collect();
        lots.sort_unstable();
        prop_assert_eq!(lots, (1..=i64::from(players)).map(|lot| -lot).rev().collect::<Vec<_>>());
        // Points first, then each tie-break in its order, the greater being the better and none the worst.
        let key = |row: &Row| (row.points, row.tie_breaks.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        prop_assert!(ranking.windows(2).all(|two| key(&two[0]) > key(&two[1])), "no two are level after the seed");
        prop_assert!(ranking.iter().zip(1..).all(|(row, rank)| row.rank == rank));
    }
}

#[test]
fn values_of_tie_breaks_are_written_in_their_unit() {
    let table = [
        (TieBreak::Buchholz, 12_500, "12.5", 12.5),
        (TieBreak::Sosos, 12_345, "12.345", 12.345),
        (TieBreak::Median, 0, "0.0", 0.0),
        (TieBreak::MedianOfBeaten, 1000, "1.0", 1.0),
        (TieBreak::SonnebornBerger, 1_250_000, "1.25", 1.25),
        (TieBreak::DirectEncounter, 500, "0.5", 0.5),
        (TieBreak::Wins, 7, "7", 7.0),
        (TieBreak::WinsAsWhite, 3, "3", 3.0),
        (TieBreak::Progressive, 4500, "4.5", 4.5),
        (TieBreak::Rating, 1800, "1800", 1800.0),
        (TieBreak::Seed, -3, "3", 3.0),
        (TieBreak::Lot, -1, "1", 1.0),
    ];
    assert!(table.iter().map(|row| row.0).eq(TieBreak::ALL.iter().copied()));
    for (tie_break, value, text, number) in table {
        assert_eq!(tie_break.text(Some(value)), text, "{tie_break:?}");
        let json = tie_breaks::in_json(&[(tie_break, Some(value)), (TieBreak::Lot, None)]);
        assert_eq!(
            json.get(tie_break.key()).copied().flatten().filter(|_| tie_break != TieBreak::Lot),
            Some(number).filter(|_| tie_break != TieBreak::Lot)
        );
        assert_eq!(json[TieBreak::Lot.key()], None);
        assert_eq!(tie_break.text(None), "-");
        assert_eq!(
            serde_json::from_value::<TieBreak>(serde_json::to_value(tie_break).unwrap()).unwrap(),
            tie_break
        );
    }
    assert!(serde_json::from_str::<TieBreak>("\"luck\"").is_err());
}

#[test]
fn losses_on_time_are_counted_with_how_late_they_were_and_taken_back() {
    let late = |evidence: &str| {
        let game = pairing(0, 0, 0, 1);
        GameEnded { evidence: evidence.to_owned(), ..GameEnded::new(GameId(1), game, black_wins(), 9) }
    };
    let waited = referee::game::starved_text(Duration::from_millis(850));
    let mut losses = TimeLosses::default();
    losses.add(&late("white: `7g7f` came after 203 ms of 200 ms\n"));
    losses.add(&late("white: `7g7f` came after 201 ms of 200 ms\n"));
    losses.add(&late(&format!("white: no reply within 400 ms\n  {waited}\n")));
    losses.add(&GameEnded::new(GameId(1), pairing(0, 0, 0, 1), DRAW, 9));
    let latest = Duration::from_millis(3);
    assert_eq!(losses, TimeLosses { games: 3, replied: 2, latest, starved: 1 });
    losses.take_back(DRAW);
    assert_eq!(losses.games, 3);
    losses.take_back(black_wins());
    assert_eq!(losses, TimeLosses { games: 2, replied: 2, latest, starved: 1 });
    losses.take_back(black_wins());
    losses.take_back(black_wins());
    assert_eq!(losses, TimeLosses { games: 0, replied: 0, latest, starved: 0 });
}

#[test]
fn a_verdict_says_what_it_rests_on() {
    let words = |verdict: &str, llr, pairs| Verdict { verdict: verdict.to_owned(), llr, pairs }.words();
    assert_eq!(words("H1", 2.956, 120), "verdict after 120 pairs: H1 (LLR 2.96)");
    assert_eq!(words("H0", -2.95, 1), "verdict after 1 pair: H0 (LLR -2.95)");
    assert_eq!(words(BY_FAULTS, 3.0, 8), "no verdict after 8 pairs: faults decided (LLR 3.00)");
    assert_eq!(words(PRECISE, 0.0, 800), "Elo is known well enough after 800 pairs");
}

#[test]
fn what_follows_from_a_result_settles_it_by_round_by_verdict_and_by_stage() {
    let stages = [
        stage(Format::RoundRobin { cycles: 2 }, 1),
        Stage { entrants: Some(2), ..stage(Format::Sprt { max_games: 10 }, 2) },
        Stage { entrants: Some(2), ..stage(Format::RoundRobin { cycles: 1 }, 1) },
    ];
    let mut standings = Standings::new(&stages, 3);
    let at = |stage, round| Pairing { stage, round, ..pairing(0, 0, 0, 1) };
    assert_eq!((standings.now(), standings.settled(&at(0, 1))), ((0, 0), None));
    standings.fold(&start(1, at(0, 1)));
    standings.fold(&start(2, Pairing { index: 1, ..at(0, 2) }));
    assert_eq!(standings.settled(&at(0, 1)), None, "a round robin follows from no result");
    assert_eq!(standings.now(), (0, 2));
    standings.fold(&start(3, at(1, 1)));
    assert_eq!((standings.now(), standings.settled(&at(0, 1))), ((1, 1), Some(Settled::Stage(2))));
    assert_eq!(standings.settled(&at(1, 1)), None);
    standings.fold(&Entry::Verdict { verdict: "H1".to_owned(), llr: 3.0, pairs: 9 });
    assert_eq!(standings.settled(&at(1, 1)), Some(Settled::Verdict));
    standings.fold(&start(4, at(2, 1)));
    assert_eq!(
        standings.settled(&at(0, 1)),
        Some(Settled::Stage(2)),
        "the next one, whatever else has begun"
    );
    assert_eq!(standings.settled(&at(1, 1)), Some(Settled::Stage(3)));
    assert!(!standings.follows_results(&at(0, 1)) && !standings.follows_results(&at(9, 1)));
    standings.fold(&Entry::Bye { stage: 2, round: 5, player: PlayerId(0), half_points: 2 });
    assert_eq!(standings.now(), (2, 5), "a bye is of a round, too");
}

#[test]
fn pairings_are_given_for_the_next_round_of_a_swiss_and_for_no_other() {
    let stages = [stage(Format::Swiss { rounds: 3 }, 1), stage(Format::RoundRobin { cycles: 1 }, 1)];
    let standings = Standings::new(&stages, 4);
    let next = [(0, 0), (0, 2), (0, 3), (1, 0), (7, 0)].map(|paired| standings.rounds_to_pair(paired));
    assert_eq!(next, [Some(1..=3), Some(3..=3), None, None, None]);
}

#[test]
fn an_arbiter_places_level_players_and_nobody_else() {
    let placed = |number, (above, below), undoes: Option<u64>| {
        let (player, below, holds) = (PlayerId(above), PlayerId(below), undoes.is_none());
        let action =
            Action::Placed { player, name: String::new(), below, other: String::new(), stage: 0, holds };
        let (by, reason) = ("kai".to_owned(), String::new());
        Entry::Operator(Box::new(Operation { number, by, reason, undoes, action }))
    };
    // 0 and 1 are level with one point each, 2 and 3 without.
    let games = [(0, 2, black_wins()), (1, 3, black_wins())];
    let mut standings = single_games(Format::RoundRobin { cycles: 1 }, 4, &games);
    let ranks = |standings: &Standings| {
        standings.ranking(0).iter().map(|row| (row.player.0, row.rank, row.placed)).collect::<Vec<_>>()
    };
    assert_eq!(ranks(&standings), [(0, 1, 0), (1, 1, 0), (2, 3, 0), (3, 3, 0)]);
    assert!(!standings.is_decided(0));
    standings.fold(&placed(1, (1, 0), None));
    standings.fold(&placed(2, (3, 0), None));
    assert!(standings.is_decided(0) && !standings.is_decided(1));
    assert_eq!(ranks(&standings), [(1, 1, 1), (0, 2, -1), (2, 3, 0), (3, 3, 0)], "3 is not level with 0");
    standings.fold(&placed(3, (1, 0), Some(1)));
    assert_eq!(ranks(&standings)[0], (0, 1, 0));
}

#[test]
fn places_of_two_combine_to_the_order_of_all_who_are_level() {
    let mut standings = single_games(Format::RoundRobin { cycles: 1 }, 4, &[]);
    for (player, below) in [(2, 3), (0, 1), (3, 0)].map(|(player, below)| (PlayerId(player), PlayerId(below)))
    {
        let (name, other) = Default::default();
        let action = Action::Placed { player, name, below, other, stage: 0, holds: true };
        let (by, reason) = Default::default();
        standings.fold(&Entry::Operator(Box::new(Operation { number: 1, by, reason, undoes: None, action })));
    }
    let ranks = standings.ranking(0).iter().map(|row| (row.player.0, row.rank)).collect::<Vec<_>>();
    assert_eq!(ranks, [(2, 1), (3, 2), (0, 3), (1, 4)]);
    assert!(standings.arbitration().places(0).contains(&[PlayerId(2), PlayerId(1)]));
}

#[test]
fn a_score_is_the_share_of_the_points_and_a_draw_is_half_of_one() {
    let games = Wdl { wins: 3, draws: 1, losses: 1 };
    assert_eq!((games.games(), games.half_points(), games.score()), (5, 7, Some(0.7)));
    assert_eq!((games.reversed().score(), Wdl::default().score()), (Some(0.3), None));
    assert_eq!(games + Wdl { wins: 1, draws: 2, losses: 4 }, Wdl { wins: 4, draws: 3, losses: 5 });
    let scoring = Scoring::default();
    let worth = [0, 1, 2].map(|half_points| scoring.half_points(Color::White, half_points).in_thousandths());
    assert_eq!(worth, [0, 500, 1000]);
    assert_eq!([1, 2, 5].map(|half_points| scoring.byes(half_points).in_thousandths()), [500, 1000, 2500]);
}
