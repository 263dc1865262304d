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

fn decided(number: u64, undoes: Option<u64>, action: Action) -> Entry {
    let (by, reason) = ("kai".to_owned(), "by lot".to_owned());
    Entry::Operator(Box::new(Operation { number, by, reason, undoes, action }))
}

#[test]
fn a_disqualified_player_is_last_and_no_table_has_its_games_until_that_is_taken_back() {
    let info = info(ROUND_ROBIN, 4);
    let mut standings = standings(&info, &GAMES, None);
    let out =
        |holds| Action::Disqualified { player: PlayerId(0), name: "a".to_owned(), stage: 0, round: 1, holds };
    standings.fold(&decided(1, None, out(true)));
    let report = Report::new(&info, &standings, true);
    assert_eq!(said(&report), "Winner: b, 2/2");
    let last = report.standings.last().unwrap();
    assert_eq!((&*last.name, last.games, last.points, report.games), ("a", 0, Points::ZERO, 3));
    assert_eq!(report.pairs.len(), 3, "the cross table");
    let ended = |report: &Report| report.endings.values().sum::<u64>();
    assert_eq!((ended(&report), report.first_move.black.games()), (3, 3));
    let rows = &report.stages[0].table;
    assert!(rows[3].row.disqualified && rows[3].row.rank == 4);
    let sonneborn_berger = |at: usize| rows[at].row.tie_breaks[0].1;
    assert_eq!(
        [0, 1].map(sonneborn_berger),
        [Some(1_000_000), Some(0)],
        "b beat c, who has one point, and d"
    );
    let text = ReportText(&report, Language::English).to_string();
    assert!(text.contains("kai disqualified `a`: none of its results count: by lot"), "{text}");
    standings.fold(&decided(2, Some(1), out(false)));
    let report = Report::new(&info, &standings, true);
    assert_eq!((said(&report), report.stages[0].decisions.len()), ("Winner: a, 2.5/3".to_owned(), 0));
    assert_eq!((ended(&report), report.games), (6, 6));
}

#[test]
fn an_arbiter_places_a_player_above_another_who_is_level_and_the_reason_stands_beside_the_table() {
    let info = info(ROUND_ROBIN, 3);
    let mut circle = standings(&info, &[(0, 1, 2), (1, 2, 2), (2, 0, 2)], None);
    let placed = |player, below, holds| {
        let [name, other] = ["c", "a"].map(str::to_owned);
        Action::Placed { player: PlayerId(player), name, below: PlayerId(below), other, stage: 0, holds }
    };
    circle.fold(&decided(1, None, placed(2, 0, true)));
    let report = Report::new(&info, &circle, true);
    let order: Vec<_> = report.standings.iter().map(|row| (&*row.name, row.rank)).collect();
    assert_eq!(order, [("c", 1), ("b", 2), ("a", 3)]);
    assert_eq!(said(&report), "Winner: c, 1/2");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["stages"][0]["decisions"][0]["reason"], "by lot");
    assert!(ReportText(&report, Language::English).to_string().contains("by lot"));
    let mut ahead = circle.clone();
    let (player, points) = (PlayerId(0), Points::thousandths(1_000));
    let lost = Action::Penalised { player, name: "a".to_owned(), points, stage: 0, round: 1 };
    ahead.fold(&decided(2, None, lost));
    let decisions = &Report::new(&info, &ahead, true).stages[0].decisions;
    assert_eq!(
        decisions.iter().map(|it| it.number).collect::<Vec<_>>(),
        [2],
        "the two are not level any more"
    );
    circle.fold(&decided(2, Some(1), placed(2, 0, false)));
    assert_eq!(said(&Report::new(&info, &circle, true)), "Winners, level: a, b, c, 1/2");
}

#[test]
fn a_knock_out_says_who_went_on_and_by_what() {
    let info = info(Format::Knockout { tie: contest::stage::Tie::HigherSeed }, 4);
    let played = standings(&info, &[(0, 3, 2), (1, 2, 1), (0, 1, 0)], None);
    let text = ReportText(&Report::new(&info, &played, true), Language::English).to_string();
    for said in [
        "round 1: a goes on, 1 : 0 against d\n",
        "round 1: b goes on, 0.5 : 0.5 against c, level: the higher seed goes on\n",
        "round 2: b goes on, 1 : 0 against a\n",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
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
