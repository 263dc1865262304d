//! The tables about games: `[rules]`, `[adjudication]`, `[openings]`.

use crate::OpeningPlan;
use crate::{
    built_in,
    environment::Environment,
    keys::{ADJUDICATION, DRAW, RESIGN, RULES},
    reader::{IntegerOr, Item, Table},
};
use referee::{
    adjudicate::{AUDIT_WHOLE, Adjudication, DrawRule, ResignRule},
    rules::Rules,
};
use std::path::PathBuf;

/// Reads `[rules]`.
pub fn rules(root: &Table<'_>) -> Rules {
    let table = root.table("rules", &RULES);
    let default = Rules::default();
    let rules = Rules {
        max_moves: match table.integer_or("max_moves") {
            Some(IntegerOr::Integer(moves)) => Some(moves),
            Some(IntegerOr::Word) => None,
            None => default.max_moves,
        },
        at_limit: table.choice("at_limit"),
        declaration: table.choice("declaration"),
        handicap_credit: table.flag("handicap_credit", default.handicap_credit),
        count_start_position: table.flag("count_start_position", default.count_start_position),
        mate_ends_game: table.flag("mate_ends_game", default.mate_ends_game),
    };
    if rules.max_moves.is_none() && table.has("at_limit") {
        table.fault("at_limit", "there is no limit with `max_moves = \"none\"`; leave one of the two out");
    }
    table.refuse_unknown();
    rules
}

/// Reads `[adjudication]`.
pub fn adjudication(root: &Table<'_>) -> Adjudication {
    let table = root.table("adjudication", &ADJUDICATION);
    let resign = table.item("resign").and_then(|item| item.table(&RESIGN));
    let draw = table.item("draw").and_then(|item| item.table(&DRAW));
    table.refuse_unknown();
    Adjudication {
        resign: resign.map(|table| resign_rule(&table)),
        draw: draw.map(|table| draw_rule(&table)),
    }
}

fn resign_rule(table: &Table<'_>) -> ResignRule {
    table.require("score", "say at how many centipawns a side is lost, such as `score = 2000`");
    let rule = ResignRule {
        score: table.integer("score").unwrap_or_default(),
        moves: table.integer("moves").unwrap_or(3),
        two_sided: table.flag("two_sided", false),
        audit: (table.number("audit").unwrap_or(0.0) * f64::from(AUDIT_WHOLE)).round() as u16,
    };
    table.refuse_unknown();
    rule
}

fn draw_rule(table: &Table<'_>) -> DrawRule {
    table.require("score", "say within how many centipawns a game is level, such as `score = 10`");
    let rule = DrawRule {
        score: table.integer("score").unwrap_or_default(),
        plies: table.integer("plies").unwrap_or(20),
        from_ply: table.integer("from_ply").unwrap_or(80),
    };
    table.refuse_unknown();
    rule
}

/// Reads `[openings]`.
pub fn openings(root: &Table<'_>, rules: &Rules) -> Option<OpeningPlan> {
    let table = root.table("openings", &OpeningPlan::SECTION);
    if !table.is_given() {
        return None;
    }
    let plan = OpeningPlan::read(&table);
    if let (Some(plies), Some(most)) = (plan.plies, rules.max_moves)
        && plies >= most
    {
        table.fault(
            "plies",
            format!("{plies} plies of opening leave no move of the {most} in `rules.max_moves`"),
        );
    }
    Some(plan)
}

/// Reads the files of openings.
pub fn files(table: &Table<'_>) -> Option<Vec<PathBuf>> {
    let (file, files) = (table.item("file"), table.item("files"));
    if let (Some(_), Some(files)) = (&file, &files) {
        files.fault("`file` already names the openings; write them all here");
    }
    if file.is_none() && files.is_none() {
        table.fault("file", "is missing; name a file of openings, or `\"built-in\"`");
    }
    let listed = files.iter().flat_map(|files| {
        let elements = files.elements("a list of paths");
        if elements.is_empty() {
            files.fault("names no file");
        }
        elements
    });
    Some(file.into_iter().chain(listed).filter_map(|item| readable(&item)).collect())
}

fn readable(item: &Item<'_>) -> Option<PathBuf> {
    if item.text("a path")? == built_in::NAME {
        return Some(built_in::NAME.into());
    }
    let path = item.path()?;
    if let Some(reason) = Environment::why_unreadable(&path) {
        item.fault(reason);
    }
    Some(path)
}
