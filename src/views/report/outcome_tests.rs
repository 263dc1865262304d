//! Who has won, in every place that says so.

use super::*;
use contest::{schedule::Pairing, stage::Format};
use referee::{
    WinBy,
    entry::{Entry, GameEnded, GameId},
    operation::{Action, Operation},
    points::Points,
};

fn info(format: Format, players: usize) -> EventInfo {
    let stages = vec![Stage { format, games: 1, ..Stage::default() }];
    let engines = ["a", "b", "c", "d"][..players].iter().map(|name| Named::whole(name)).collect();
    EventInfo { stages, engines, ..EventInfo::default() }
}

/// Games by black and white with the points of black, in halves; `moves`: what they consist of.
fn standings(info: &EventInfo, games: &[(u32, u32, u8)], moves: Option<u64>) -> Standings {
    let mut standings = info.standings();
    for (index, &(black, white, half_points)) in (0..).zip(games) {
        let [black, white] = [black, white].map(PlayerId);
        let pairing =
            Pairing { stage: 0, index, attempt: 0, round: 1, pair: index, opening: index, black, white };
        let outcome = match half_points {
            0 => Outcome::loss(Color::Black, WinBy::Resignation),
            1 => Outcome::Draw { by: referee::DrawBy::Sennichite },
            _ => Outcome::loss(Color::White, WinBy::Resignation),
        };
        let ended = GameEnded { moves_hash: moves, ..GameEnded::new(GameId(index + 1), pairing, outcome, 9) };
        standings.fold(&Entry::GameEnded(ended));
    }
    standings
}

const ROUND_ROBIN: Format = Format::RoundRobin { cycles: 1 };

/// The player a beats b and c and draws with d, b beats c and d, c beats d.
const GAMES: [(u32, u32, u8); 6] = [(0, 1, 2), (2, 0, 0), (0, 3, 1), (1, 2, 2), (3, 1, 0), (2, 3, 2)];

fn said(report: &Report) -> String {
    report.outcome_words(Language::English).unwrap()
}

#[test]
fn the_winner_of_a_round_robin_has_the_most_points_less_penalties_in_line_table_and_json() {
    let info = info(ROUND_ROBIN, 4);
    let mut standings = standings(&info, &GAMES, None);
    assert_eq!(said(&Report::new(&info, &standings, true)), "Winner: a, 2.5/3");
    let (player, points) = (PlayerId(0), Points::thousandths(2_000));
    let action = Action::Penalised { player, name: "a".to_owned(), points, stage: 0, round: 1 };
    let (by, reason) = ("kai".to_owned(), "late".to_owned());
    let operation = Operation { number: 1, by, reason, undoes: None, action };
    standings.fold(&Entry::Operator(Box::new(operation)));
    let report = Report::new(&info, &standings, true);
    assert_eq!(said(&report), "Winner: b, 2/3");
    let json = serde_json::to_value(&report).unwrap();
    for table in [&json["standings"], &json["stages"][0]["table"]] {
        let order = [0, 1, 2, 3].map(|at| table[at]["name"].as_str().unwrap_or_default());
        assert_eq!(order, ["b", "c", "a", "d"], "{table}");
        assert_eq!(table[2]["rank"], 3);
    }
    let text = ReportText(&report, Language::English).to_string();
    assert!(text.contains("penalty"), "{text}");
}

#[test]
fn players_who_are_level_share_the_first_place() {
    let info = info(ROUND_ROBIN, 3);
    let circle = standings(&info, &[(0, 1, 2), (1, 2, 2), (2, 0, 2)], None);
    assert_eq!(said(&Report::new(&info, &circle, true)), "Winners, level: a, b, c, 1/2");
}

#[test]
fn a_gauntlet_has_no_winner_and_no_second_table_but_a_first_by_elo() {
    let info = info(Format::Gauntlet { challengers: 1, cycles: 1 }, 4);
    let report = Report::new(&info, &standings(&info, &[(0, 1, 2), (2, 0, 2), (0, 3, 2)], None), true);
    assert!(said(&report).starts_with("First by Elo: c, "), "{}", said(&report));
    assert!(report.stages.iter().all(|stage| stage.table.is_empty()));
}

#[test]
fn a_match_of_two_is_won_by_points_and_says_what_its_distinct_games_are_worth() {
    let info = info(ROUND_ROBIN, 2);
    let games = standings(&info, &[(0, 1, 2), (0, 1, 2), (1, 0, 2), (0, 1, 2)], Some(7));
    let report = Report::new(&info, &games, true);
    assert_eq!(said(&report), "Winner: a, 3 : 1");
    let text = ReportText(&report, Language::English).to_string();
    assert!(text.contains("a against b 3 : 1 (1 : 1 in distinct games): +0 Elo"), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["pairs"][0]["wins"], &json["pairs"][0]["distinct"]["wins"]), (&3.into(), &1.into()));
    assert_eq!(json["first_move"]["score"], 1.0);
    assert_eq!(
        (&json["first_move"]["black"]["wins"], &json["first_move"]["distinct"]["wins"]),
        (&4.into(), &2.into())
    );
}
