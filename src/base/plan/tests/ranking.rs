//! `[scoring]` and `[tiebreaks]`.

use super::{Fingerprint, here, with};
use crate::StoredPlan;
use contest::standings::{RankingRules, TieBreak};

const DENRYU: &str = "[event]\nformat = \"swiss\"\nrounds = 4\nseed = 7\n[scoring]\ndraw = { black = 0.4, white = 0.6 }\nbye = 1\n\
    [tiebreaks]\norder = [\"buchholz\", \"median-of-beaten\", \"progressive\", \"lot\"]\nbye = \"nothing\"\n";

#[test]
fn points_by_colour_and_the_order_of_tie_breaks_are_read_and_kept_in_the_database() {
    let plan = here().plan(&with(DENRYU));
    let RankingRules { scoring, tie_breaks, bye_is_opponent, seed, .. } = plan.ranking.clone();
    assert_eq!(scoring.draw.map(|points| points.to_string()), ["0.4", "0.6"]);
    assert_eq!(scoring.win.map(|points| points.to_string()), ["1.0", "1.0"]);
    let order = [TieBreak::Buchholz, TieBreak::MedianOfBeaten, TieBreak::Progressive, TieBreak::Lot];
    assert_eq!((tie_breaks.as_deref(), bye_is_opponent, seed), (Some(&order[..]), false, 7));
    let stored = StoredPlan::from_json(&StoredPlan::from(&plan).to_json()).unwrap();
    assert_eq!(stored.ranking(), plan.ranking);
    let usual = here().plan(&with("[event]\nseed = 7\n"));
    assert!(!StoredPlan::from(&usual).to_json().contains("scoring"));
}

#[test]
fn points_of_an_event_that_has_begun_do_not_change() {
    let world = here();
    let [was, is] = ["0.4", "0.3"].map(|draw| {
        let plan = world.plan(&with(&DENRYU.replace("black = 0.4", &format!("black = {draw}"))));
        Fingerprint::of(&plan).unwrap()
    });
    assert_eq!(was.changes_to(&is), ["scoring.draw[0] was 0.4, is 0.3"]);
    let usual = Fingerprint::of(&world.plan(&with(""))).unwrap();
    let written = Fingerprint::of(&world.plan(&with("[scoring]\ndraw = 0.5\n"))).unwrap();
    assert!(usual.changes_to(&written).is_empty());
}

#[test]
fn wrong_points_and_tie_breaks_are_named_with_what_would_be_right() {
    let text = "[scoring]\nwin = -1\ndraw = { black = 0.4 }\nbye = 0.12345\n[tiebreaks]\n\
        order = [\"buchholtz\", \"wins\", \"wins\", \"progressive\"]\nbye = \"half\"\n";
    insta::assert_snapshot!(here().faults(&with(text)), @r#"
    x.toml:3:7: scoring.win: -1 is out of range; it must be from 0 to 1000
    x.toml:4:8: scoring.draw.white: is missing; say what the result is worth with either colour
    x.toml:5:7: scoring.bye: 0.12345 has more than three decimals
    x.toml:7:10: tiebreaks.order[0]: "buchholtz" is not "buchholz", "sosos", "median", "median-of-beaten", "sonneborn-berger", "direct-encounter", "wins", "wins-as-white", "progressive", "rating", "seed" or "lot"
    x.toml:7:31: tiebreaks.order[2]: "wins" is named twice
    x.toml:7:39: tiebreaks.order[3]: needs rounds, which a Swiss alone has
    x.toml:8:7: tiebreaks.bye: unknown value "half"; expected "own-score" or "nothing"
    "#);
    let foreign = here().faults(&with("[tiebreaks]\norder = [\"Solkoff\", \"SB\", \"MD\"]\n"));
    insta::assert_snapshot!(foreign, @r#"
    x.toml:3:10: tiebreaks.order[0]: "Solkoff" is called "buchholz" here; the guide to configuration has the formulas
    x.toml:3:21: tiebreaks.order[1]: "SB" is called "sonneborn-berger" here; the guide to configuration has the formulas
    x.toml:3:27: tiebreaks.order[2]: "MD" is called "median" or "median-of-beaten" here; the guide to configuration has the formulas
    "#);
    let sprt = "[event]\nformat = \"sprt\"\n[sprt]\nelo0 = 0\nelo1 = 5\n[scoring]\ndraw = 0.4\n";
    let refused = here().faults(&with(sprt));
    assert!(
        refused.contains("scoring: has no effect: neither an SPRT nor a knock-out has a table"),
        "{refused}"
    );
}

#[test]
fn the_guide_defines_every_tie_break() {
    for key in TieBreak::ALL.iter().map(|tie_break| tie_break.key()) {
        assert!(crate::keys::TIEBREAKS.about.contains(&format!("`{key}`")), "{key}");
    }
}

#[test]
fn declared_ratings_rank_where_the_event_says_so() {
    let order = "[event]\nformat = \"swiss\"\nrounds = 2\n[tiebreaks]\norder = [\"rating\"]\n";
    let refused = here().faults(&with(order));
    assert!(
        refused.contains("tiebreaks.order: \"rating\" needs the key `rating` of the engines"),
        "{refused}"
    );
    let world = here();
    let [was, is] = [1500, 1600].map(|rating| {
        let plan = world.plan(&format!("{}rating = {rating}\n", with(order)));
        let stored = StoredPlan::from_json(&StoredPlan::from(&plan).to_json()).unwrap();
        assert_eq!((stored.ranking().ratings, plan.ranking.ratings.len()), (vec![None, Some(rating)], 2));
        Fingerprint::of(&plan).unwrap()
    });
    assert_eq!(was.changes_to(&is), ["tiebreaks.ratings[1] was 1500, is 1600"]);
}
