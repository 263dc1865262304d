//! Published tables come out of their games, to the last column that their facts determine.

use super::*;
use crate::{scoring::Scoring, stage::Format};
use referee::{Color, DrawBy, points::Points};

/// A Swiss of seven rounds from the wiki of chess programming: rank, name, a column a round (rank of the opponent, colour,
/// result), points, and the sum of the opponents' scores where the table has one.
const TCEC4: &str = include_str!("published/tcec4.tsv");
const TCEC5: &str = include_str!("published/tcec5.tsv");

/// A row of the table: the rounds as (opponent's rank, is black by shogi's order of moves, result), points, the sum.
struct Published {
    rounds: Vec<(usize, bool, char)>,
    sums: Vec<f64>,
}

fn table(text: &str) -> Vec<Published> {
    let round = |cell: &str| {
        let (game, result) = cell.split_at(cell.len() - 1);
        let (rank, color) = game.split_at(game.len() - 1);
        // In chess, white moves first.
        (rank.parse().unwrap(), color == "w", result.chars().next().unwrap())
    };
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        Published {
            rounds: cells[2..9].iter().map(|cell| round(cell)).collect(),
            sums: cells[9..].iter().map(|cell| cell.parse().unwrap()).collect(),
        }
    };
    text.lines().skip(1).map(row).collect()
}

/// The standings after the games of a table. The best player of the table is the last one to enter.
fn played(rows: &[Published]) -> Standings {
    let stage = Stage { format: Format::Swiss { rounds: 7 }, games: 1, ..Stage::default() };
    let mut standings = Standings::new(&[stage], rows.len());
    let id = |rank: usize| PlayerId((rows.len() - rank) as u32);
    let mut index = 0;
    for round in 0..7 {
        for (row, rank) in rows.iter().zip(1..) {
            let (opponent, true, result) = row.rounds[round] else { continue };
            let outcome = match result {
                '=' => Outcome::Draw { by: DrawBy::Sennichite },
                '+' => Outcome::Win { winner: Color::Black, by: WinBy::Mate },
                _ => Outcome::Win { winner: Color::White, by: WinBy::Mate },
            };
            let pairing = Pairing {
                stage: 0,
                index,
                attempt: 0,
                round: round as u32 + 1,
                pair: index,
                opening: 0,
                black: id(rank),
                white: id(opponent),
            };
            let game = GameId(index);
            standings.fold(&Entry::GameEnded(GameEnded::new(game, pairing, outcome, 100)));
            index += 1;
        }
    }
    standings
}

#[test]
fn two_tables_of_a_swiss_come_out_as_they_were_published() {
    for (text, players) in [(TCEC4, 32), (TCEC5, 36)] {
        let rows = table(text);
        let ranking = played(&rows).ranking(0);
        assert_eq!((rows.len(), ranking.len()), (players, players));
        for (rank, row) in (1..).zip(&ranking) {
            let published = &rows[players - 1 - row.player.index()];
            let seen = [Some(row.points), row.tie_break(TieBreak::Buchholz).map(Points::thousandths)];
            let wanted: Vec<_> = published.sums.iter().map(|sum| Points::of(*sum)).collect();
            assert_eq!(seen[..wanted.len()], wanted[..], "rank {rank}");
            // Players who are level in every published column may stand in any order.
            assert_eq!(rows[rank - 1].sums, published.sums, "rank {rank}");
        }
    }
}

/// The games of a double round robin of ten, each of them won by the player who entered earlier.
fn double_round_robin(scoring: Scoring, draws: bool) -> Standings {
    let stage = Stage { format: Format::RoundRobin { cycles: 2 }, games: 1, ..Stage::default() };
    let rules = RankingRules {
        scoring,
        tie_breaks: Some(vec![
            TieBreak::Buchholz,
            TieBreak::SonnebornBerger,
            TieBreak::WinsAsWhite,
            TieBreak::Lot,
        ]),
        ..RankingRules::default()
    };
    let mut standings = Standings::new(&[stage], 10).with_rules(rules);
    let pairs = (0..10).flat_map(|a| (a + 1..10).flat_map(move |b| [(a, b), (b, a)]));
    for (index, (black, white)) in (0..).zip(pairs) {
        let winner = if black < white { Color::Black } else { Color::White };
        let outcome = match draws {
            true => Outcome::Draw { by: DrawBy::Sennichite },
            false => Outcome::Win { winner, by: WinBy::Mate },
        };
        let (black, white) = (PlayerId(black), PlayerId(white));
        let pairing =
            Pairing { stage: 0, index, attempt: 0, round: 1, pair: index, opening: 0, black, white };
        let ended = GameEnded::new(GameId(index), pairing, outcome, 9);
        standings.fold(&Entry::GameEnded(ended));
    }
    standings
}

#[test]
fn in_a_double_round_robin_of_ten_the_opponents_have_twice_what_is_not_ones_own() {
    // As in the A class of the third Denryu-sen: ten teams, 18 games, 90 points; the published sums of opponents' scores are
    // 150 beside 15 wins and 166 beside 7 wins, which is 2 (90 - wins).
    for row in double_round_robin(Scoring::default(), false).ranking(0) {
        let buchholz = row.tie_break(TieBreak::Buchholz).map(Points::thousandths);
        assert_eq!(buchholz, Some((Points::ONE * 90 - row.points) * 2));
        assert_eq!(row.tie_break(TieBreak::WinsAsWhite), Some(i64::from(9 - row.player.0)));
    }
}

#[test]
fn draws_of_0_4_and_0_6_add_up_exactly() {
    let [black, white] = [400, 600].map(Points::thousandths);
    let scoring = Scoring { draw: [black, white], ..Scoring::default() };
    let ranking = double_round_robin(scoring, true).ranking(0);
    for row in &ranking {
        assert_eq!((row.points.to_string(), row.half_points), ("9.0".to_owned(), 18));
        assert_eq!(TieBreak::SonnebornBerger.text(row.tie_break(TieBreak::SonnebornBerger)), "81.00");
    }
    let lots: Vec<_> = ranking.iter().map(|row| TieBreak::Lot.text(row.tie_break(TieBreak::Lot))).collect();
    assert_eq!(lots, ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    assert_ne!(ranking.iter().map(|row| row.player.0).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
}

#[test]
fn the_tie_breaks_of_a_swiss_with_a_bye_are_those_worked_out_by_hand() {
    let stage = Stage { format: Format::Swiss { rounds: 2 }, games: 1, ..Stage::default() };
    let order = vec![
        TieBreak::Sosos,
        TieBreak::Median,
        TieBreak::MedianOfBeaten,
        TieBreak::Progressive,
        TieBreak::Seed,
    ];
    let table = |bye_is_opponent: bool| {
        let tie_breaks = Some([vec![TieBreak::Buchholz, TieBreak::SonnebornBerger], order.clone()].concat());
        let rules = RankingRules { tie_breaks, bye_is_opponent, ..RankingRules::default() };
        let mut standings = Standings::new(std::slice::from_ref(&stage), 3).with_rules(rules);
        let game = |index, round, black, white| {
            let (black, white) = (PlayerId(black), PlayerId(white));
            let pairing =
                Pairing { stage: 0, index, attempt: 0, round, pair: index, opening: 0, black, white };
            let outcome = Outcome::Win { winner: Color::Black, by: WinBy::Mate };
            Entry::GameEnded(GameEnded::new(GameId(index), pairing, outcome, 9))
        };
        let bye = |round, player| Entry::Bye { stage: 0, round, player: PlayerId(player), half_points: 2 };
        // Round 1: 0 beats 1, 2 has the bye. Round 2: 2 beats 0, 1 has the bye. Scores: 1, 1, 2.
        [bye(1, 2), game(0, 1, 0, 1), bye(2, 1), game(1, 2, 2, 0)]
            .iter()
            .for_each(|entry| standings.fold(entry));
        let text = |row: &Row| {
            let values = row.tie_breaks.iter().map(|(tie_break, value)| tie_break.text(*value));
            format!("{}: {}", row.player.0, values.collect::<Vec<_>>().join(" "))
        };
        standings.ranking(0).iter().map(text).collect::<Vec<_>>()
    };
    // The opponents of 2 are 0 (1 point) and the bye, of 0 they are 1 and 2, of 1 they are 0 and the bye.
    assert_eq!(
        table(true),
        ["2: 3.0 3.00 3.0 0.0 0.0 3.0 3", "0: 3.0 1.00 5.0 0.0 0.0 2.0 1", "1: 2.0 1.00 3.0 0.0 0.0 1.0 2"]
    );
    assert_eq!(
        table(false),
        ["2: 1.0 1.00 3.0 0.0 0.0 3.0 3", "0: 3.0 1.00 2.0 0.0 0.0 2.0 1", "1: 1.0 0.00 3.0 0.0 0.0 1.0 2"]
    );
}
