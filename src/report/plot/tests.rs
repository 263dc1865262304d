use super::*;
use crate::{EventInfo, Named, Report, html::Language};
use referee::{
    Color, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, PlayerId},
    schedule::{Format, Pairing, Stage},
    standings::Standings,
};

const HOSTILE: &str = "<script>alert('x')</script>&\u{202e}\u{7}\"";

/// Two players; the first won both games.
fn report() -> Report {
    let stages = vec![Stage { format: Format::RoundRobin { cycles: 1 }, games: 2, entrants: None }];
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
        let (game, evidence) = (GameId(index + 1), String::new());
        let ended = GameEnded { game, pairing, outcome, plies: 9, evidence, replayed: false };
        standings.fold(&Entry::GameEnded(ended));
    }
    let engines = [HOSTILE, "other"].map(Named::whole).to_vec();
    let (name, fault_limits) = (HOSTILE.to_owned(), vec![]);
    let info = EventInfo {
        name,
        stages,
        sprt: None,
        fault_limits,
        engines,
        format: String::new(),
        open: false,
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
    assert_eq!(short("将棋エンジン", 7), "将棋エ…");
    assert_eq!(short("abc", 3), "abc");
    assert_eq!(plain("a\u{200b}\u{1b}[2Jb"), "a\u{fffd}\u{fffd}[2Jb");
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
