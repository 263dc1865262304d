//! The tables about the ranking: `[scoring]` and `[tiebreaks]`.

use crate::{
    EnginePlan, Faults,
    keys::{BY_COLOUR, RESULTS_FILE, SCORING, TIEBREAKS},
    reader::{self, Item, Table, listed},
};
use contest::{
    scoring::Scoring,
    stage::{Format, Stage},
    standings::{RankingRules, TieBreak},
};
use referee::points::Points;
use std::{path::Path, slice};

/// Most points that a game may be worth.
const MAX_POINTS: f64 = 1000.0;

/// Reads the file of the rules that the tables of results from elsewhere have.
///
/// # Errors
/// When the file cannot be read, and every fault in it.
pub fn load(path: &Path, stage: &Stage) -> Result<RankingRules, Faults> {
    reader::read_file(path, |text, environment| {
        reader::read(text, Some(path), environment, &[&RESULTS_FILE], |root| {
            rules(root, slice::from_ref(stage), &[], 0)
        })
    })
}

/// Reads `[scoring]` and `[tiebreaks]`; `seed` is the event's.
pub fn rules(root: &Table<'_>, stages: &[Stage], engines: &[EnginePlan], seed: u64) -> RankingRules {
    let scoring = root.table("scoring", &SCORING);
    let tie_breaks = root.table("tiebreaks", &TIEBREAKS);
    for table in [("scoring", &scoring), ("tiebreaks", &tie_breaks)] {
        if table.1.is_given() && stages.iter().all(|stage| !is_ranked(stage.format)) {
            let why = "has no effect: neither an SPRT nor a knock-out has a table with points; remove it";
            root.fault(table.0, why);
        }
    }
    let rules = RankingRules {
        scoring: self::scoring(&scoring),
        tie_breaks: tie_breaks.item("order").map(|item| order(&item, stages)),
        bye_is_opponent: tie_breaks.word("bye") != Some("nothing"),
        seed,
        ratings: engines.iter().map(|engine| engine.rating).collect(),
        open: false,
    };
    if rules.ranks_by_rating() && rules.ratings.iter().all(Option::is_none) {
        tie_breaks.fault("order", "\"rating\" needs the key `rating` of the engines, and none has it");
    }
    scoring.refuse_unknown();
    tie_breaks.refuse_unknown();
    rules
}

fn is_ranked(format: Format) -> bool {
    !format.is_sequential() && !matches!(format, Format::Knockout { .. })
}

fn scoring(table: &Table<'_>) -> Scoring {
    let default = Scoring::default();
    let by_colour = |key: &str, default| table.item(key).map_or(default, |item| by_colour(&item, default));
    Scoring {
        win: by_colour("win", default.win),
        draw: by_colour("draw", default.draw),
        bye: table.item("bye").and_then(|item| points(&item)).unwrap_or(default.bye),
    }
}

/// What a result is worth as black and as white: one number for both, or a table.
fn by_colour(item: &Item<'_>, default: [Points; 2]) -> [Points; 2] {
    if !item.is_table() {
        return points(item).map_or(default, |both| [both; 2]);
    }
    let Some(table) = item.table(&BY_COLOUR) else { return default };
    for color in ["black", "white"] {
        table.require(color, "say what the result is worth with either colour");
    }
    let of = |key: &str, otherwise| table.item(key).and_then(|item| points(&item)).unwrap_or(otherwise);
    let both = [of("black", default[0]), of("white", default[1])];
    table.refuse_unknown();
    both
}

fn points(item: &Item<'_>) -> Option<Points> {
    let number = item.number(0.0, MAX_POINTS)?;
    let points = Points::of(number);
    if points.is_none() {
        item.fault(format!("{number} has more than three decimals"));
    }
    points
}

/// Names that tie-breaks have elsewhere, each with what stands for it here.
const ELSEWHERE: [(&str, &str); 6] = [
    ("solkoff", "\"buchholz\""),
    ("sos", "\"buchholz\""),
    ("sb", "\"sonneborn-berger\""),
    ("md", "\"median\" or \"median-of-beaten\""),
    ("sodos", "\"sonneborn-berger\""),
    ("cumulative", "\"progressive\""),
];

/// What is wrong with the name of a tie-break.
fn unknown(word: &str) -> String {
    if let Some((_, here)) = ELSEWHERE.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)) {
        return format!("\"{word}\" is called {here} here; the guide to configuration has the formulas");
    }
    let known: Vec<_> = TieBreak::ALL.iter().map(|known| format!("\"{}\"", known.key())).collect();
    format!("\"{word}\" is not {}", listed(known.iter().map(String::as_str), "or"))
}

fn order(item: &Item<'_>, stages: &[Stage]) -> Vec<TieBreak> {
    let mut order = vec![];
    for element in item.elements("a list of tie-breaks") {
        let Some(word) = element.text("the name of a tie-break") else { continue };
        let Some(tie_break) = TieBreak::ALL.iter().copied().find(|known| known.key() == word) else {
            element.fault(unknown(word));
            continue;
        };
        let has_rounds = stages.iter().any(|stage| matches!(stage.format, Format::Swiss { .. }));
        if tie_break == TieBreak::Progressive && !has_rounds {
            element.fault("needs rounds, which a Swiss alone has");
        }
        match order.contains(&tie_break) {
            true => element.fault(format!("\"{word}\" is named twice")),
            false => order.push(tie_break),
        }
    }
    order
}
