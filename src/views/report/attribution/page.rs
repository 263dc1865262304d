//! An attribution as one self-contained page.

use super::{Attribution, BuildRow, EffectRow};
use crate::{
    html::{minus, shell},
    plot::{Size, plain},
};
use maud::{Markup, html};
use referee::number::number;
use referee::rating::{rounded, signed};

/// Renders the page.
#[must_use]
pub fn page(attribution: &Attribution) -> String {
    let title = plain(&attribution.event);
    let (games, builds) = (number(attribution.games, "game"), number(attribution.builds as u64, "build"));
    let body = html! {
        header {
            h1 { (title) }
            p { "What parts of the engine are worth" }
            p.facts { (builds) " of " (number(attribution.parts.len() as u64, "part")) " · " (games) }
        }
        main {
            @match &attribution.missing {
                Some(missing) => p { "No effects yet: " (missing) },
                None => (findings(attribution)),
            }
        }
        footer { "Made by Renmei. ± is half the 95 % interval. Elo of builds is relative to the mean of those that were played." }
    };
    shell(&title, &body)
}

fn findings(attribution: &Attribution) -> Markup {
    let (pairs, parts): (Vec<_>, Vec<_>) = attribution.effects.iter().partition(|effect| effect.is_pair());
    html! {
        h2 { "Parts" }
        p.note { "Elo of a level against the first one of its part, on average over the other parts." }
        (effects(&parts))
        h2 { "Pairs" }
        p.note { "Elo of two levels together beyond the sum of both." }
        figure { (attribution.heat(Size::Wide).inline()) (attribution.heat(Size::Narrow).inline()) }
        details { summary { "All pairs, largest first" } (effects(&pairs)) }
        h2 { "Builds" }
        (builds(attribution))
        h2 { "How much of the win rates is explained" }
        p.note { "R2 on builds that were held out; the largest weight of a column, in points of a game from -1 to 1." }
        (explained(attribution))
    }
}

fn effects(effects: &[&EffectRow]) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { th.name { "effect" } th { "Elo" } th { "±" } } }
            tbody { @for effect in effects {
                tr {
                    td.name { (plain(&effect.name())) }
                    td { (minus(&signed(effect.elo, 1))) }
                    td { (rounded(effect.elo_error, 1)) }
                }
            } }
        } }
    }
}

fn builds(attribution: &Attribution) -> Markup {
    let played = |build: &BuildRow| {
        build
            .played
            .map_or_else(String::new, |(elo, error)| format!("{} ± {error:.0}", minus(&signed(elo, 0))))
    };
    html! {
        div.scroll { table {
            thead { tr { th.name { "build" } th { "expected" } th { "±" } th { "by its games" } th.name { "levels" } } }
            tbody { @for (what, build) in attribution.named_builds() {
                tr {
                    td.name { (what) }
                    td { (minus(&signed(build.elo, 0))) }
                    td { (rounded(build.elo_error, 0)) }
                    td { (played(build)) }
                    td.name { (plain(&build.levels.join(", "))) }
                }
            } }
        } }
    }
}

fn explained(attribution: &Attribution) -> Markup {
    let share = |r2: Option<f64>| r2.map_or_else(|| "n/a".to_owned(), |r2| minus(&rounded(r2, 3)));
    html! {
        div.scroll { table {
            thead { tr { th.name { "columns" } th { "number" } th { "ridge" } th { "weight" } th { "least squares" } th { "weight" } } }
            tbody { @for row in &attribution.explained {
                tr {
                    td.name { (row.columns) }
                    td { (row.number) }
                    td { (share(row.ridge)) }
                    td { (rounded(row.ridge_largest, 2)) }
                    td { (share(row.least_squares)) }
                    td { (rounded(row.least_squares_largest, 2)) }
                }
            } }
        } }
    }
}
