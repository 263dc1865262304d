use super::*;
use crate::{EventInfo, Named, Report, html::Language};
use contest::{
    schedule::{Format, Pairing, Stage},
    standings::Standings,
};
use referee::{
    Color, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, PlayerId},
    evaluation::{GameScales, ScoreScale},
};

const HOSTILE: &str = "<script>alert('x')</script>&\u{202e}\u{7}\"";

/// Two players; the first won both games.
fn report() -> Report {
    let stages = vec![Stage { format: Format::RoundRobin { cycles: 1 }, games: 2, ..Stage::default() }];
    let mut standings = Standings::new(&stages, 2);
    for index in 0..2_u64 {
        let (black, white) = if index == 0 { (0, 1) } else { (1, 0) };
        let pairing = Pairing {
            stage: 0,
            index,
            attempt: 0,
            round: 1,
            pair: 0,
            opening: 0,
            black: PlayerId(black),
            white: PlayerId(white),
        };
        let winner = if index == 0 { Color::Black } else { Color::White };
        let outcome = Outcome::Win { winner, by: WinBy::Mate };
        let game = GameId(index + 1);
        let ended = GameEnded::new(game, pairing, outcome, 9);
        standings.fold(&Entry::GameEnded(ended));
    }
    let engines = [HOSTILE, "other"].map(Named::whole).to_vec();
    let (name, fault_limits) = (HOSTILE.to_owned(), vec![]);
    let info = EventInfo {
        name,
        stages,
        ranking: Default::default(),
        sprt: None,
        fault_limits,
        engines,
        format: String::new(),
        open: false,
        tuning: None,
        commits: None,
    };
    Report::new(&info, &standings, true)
}

#[test]
fn a_picture_is_valid_xml_and_hostile_names_are_text() {
    for size in [Size::Wide, Size::Narrow] {
        for plot in [elo(&report(), size), endings(&report(), size, Language::English)] {
            let svg = plot.standalone();
            let tree = resvg::usvg::roxmltree::Document::parse(&svg).unwrap();
            assert!(tree.descendants().all(|node| !node.has_tag_name("script")), "{svg}");
            assert!(!svg.contains(['\u{7}', '\u{202e}']), "{svg}");
        }
    }
    assert!(elo(&report(), Size::Wide).standalone().contains("&lt;script&gt;"));
}

#[test]
fn a_png_has_two_pixels_per_unit_and_is_not_blank() {
    let png = elo(&report(), Size::Wide).png().unwrap();
    let pixels = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
    assert_eq!(pixels.width(), 2 * (760 + 32));
    let paper = pixels.pixels()[0];
    assert!(pixels.pixels().iter().filter(|&&pixel| pixel != paper).count() > 500);
}

#[test]
fn names_are_shortened_by_columns_and_lose_invisible_characters() {
    assert_eq!(short("将棋エンジン", 7), "将…ン");
    assert_eq!(short("abc", 3), "abc");
    assert_eq!(plain("a\u{200b}\u{1b}[2Jb"), "a\u{fffd}\u{fffd}[2Jb");
    assert_eq!(plain("two\nlines\r"), "two\nlines\u{fffd}");
    assert_eq!(plain("e\u{301}"), "e\u{301}", "accents stay");
}

#[test]
fn ticks_are_round_and_limited_in_number() {
    let axis = axis::Axis::new(-1437.0, 1360.0, 0.0, 100.0);
    assert_eq!(axis.ticks(6), [-1000.0, -500.0, 0.0, 500.0, 1000.0]);
    assert_eq!(axis::Axis::new(0.0, 0.34, 0.0, 1.0).ticks(5).len(), 4);
    assert!(axis::Axis::new(5.0, 5.0, 0.0, 1.0).at(5.0).is_finite());
    assert_eq!([0.0, -0.0, 12_000.0, 0.25, -3.0].map(axis::signed), ["0", "0", "+12k", "+0.25", "−3"]);
}

#[test]
fn no_two_ticks_of_an_axis_have_the_same_label() {
    for most in [0.0013, 0.0034, 0.02, 0.7, 3.0, 1999.0, 48_000.0] {
        let labels: Vec<String> =
            axis::Axis::new(0.0, most, 0.0, 1.0).ticks(5).into_iter().map(axis::label).collect();
        let different: std::collections::HashSet<&String> = labels.iter().collect();
        assert!(different.len() == labels.len() && labels.len() > 2, "{labels:?}");
        assert!(labels.iter().all(|label| !label.ends_with('.') && label.len() < 7), "{labels:?}");
    }
}

#[test]
fn a_bar_of_the_search_has_its_number_below_it_and_the_likeliest_commit_is_marked() {
    let commits: Vec<(String, f64)> =
        [0.02, 0.9, 0.08].iter().enumerate().map(|(at, p)| (format!("c{at} subject"), *p)).collect();
    let svg = posterior("search", &commits, 0.0, Size::Wide).standalone();
    assert!(svg.contains("2  90.0 %  c1 subject"), "{svg}");
    let bar = svg.split("<g class=\"bad\">").nth(1).unwrap();
    let number = |text: &str, name: &str| -> f64 {
        let (_, rest) = text.split_once(&format!("{name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    };
    let (left, width) = (number(bar, " x"), number(bar, "width"));
    let label = svg.split("<text ").find(|text| text.ends_with(">2</text>")).unwrap();
    assert!((number(label, "x") - (left + width / 2.0)).abs() < 1.0, "{label}: {bar}");
}

#[test]
fn a_tuning_shows_the_values_of_its_options() {
    let course = Course {
        name: "RazorMargin".to_owned(),
        points: vec![(0.0, 0.0), (100.0, 2.5)],
        values: [500.0, 620.04, 617.0],
    };
    let svg = tuning("t", &[course], &[(100.0, 1.0)], Size::Wide).standalone();
    assert!(svg.contains("RazorMargin: start 500.0, last 620.0, averaged 617.0"), "{svg}");
}

/// The curve of a game in which both engines find that black is better by 600 on the common scale; those of white have
/// another scale.
fn both_for_black(scale: u32) -> String {
    use journal::{FullGame, GameRow};
    use referee::entry::{Moved, Score, Thought};
    let moved = |(ply, usi, score): (u32, &str, Score)| {
        let thought = Thought { score: Some(score), ..Thought::default() };
        let [charged, elapsed, left] = [std::time::Duration::ZERO; 3];
        let color = if ply % 2 == 1 { Color::Black } else { Color::White };
        let mv = rsshogi::types::Move::from_usi(usi).unwrap();
        let thought = Some(Box::new(thought));
        (0, Moved { game: GameId(1), ply, color, mv, charged, elapsed, left, thought })
    };
    let (black, white) = (PlayerId(0), PlayerId(1));
    let row = GameRow {
        game: GameId(1),
        pairing: Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white },
        black: "first".to_owned(),
        white: "second".to_owned(),
        start: None,
        opening: None,
        times: None,
        started_at: None,
        ended_at: None,
        outcome: None,
        plies: Some(4),
        moves_hash: None,
        evidence: String::new(),
        replayed: false,
        pruned_at: None,
        ruling: None,
    };
    let [own, other] = [Score::Cp(600), Score::Cp(-i32::try_from(scale).unwrap())];
    let moves = [(1, "7g7f", own), (2, "3c3d", other), (3, "2g2f", own), (4, "8c8d", other)];
    evaluation(
        &FullGame { row, moves: moves.map(moved).to_vec(), opening_times: vec![], judged: vec![] },
        GameScales::new([None, ScoreScale::new(scale).filter(|_| scale != 600)]),
        Size::Wide,
    )
    .standalone()
}

#[test]
fn engines_that_agree_have_curves_at_one_height_and_the_picture_says_whose_side_it_is() {
    for scale in [600, 918] {
        let svg = both_for_black(scale);
        let heights: Vec<&str> = svg
            .split("points=\"")
            .skip(1)
            .flat_map(|rest| rest.split('"').next().unwrap().split(' '))
            .map(|point| point.split(',').nth(1).unwrap())
            .collect();
        assert_eq!(heights.len(), 4, "{svg}");
        assert!(heights.iter().all(|height| *height == heights[0]), "{scale}: {heights:?}");
        assert!(svg.contains("eval for ☗") && svg.contains("☗ first") && svg.contains("☖ second"), "{svg}");
        assert_eq!(svg.contains("common scale"), scale != 600, "only where a scale is given: {svg}");
    }
}

#[test]
fn a_long_name_keeps_both_its_ends() {
    assert_eq!(short("engine-2026-11-20-dev", 12), "engine…0-dev");
    assert_eq!(short("将棋エンジン二〇二六", 9), "将棋…二六");
    assert_eq!(short("short", 12), "short");
}
