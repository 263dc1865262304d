//! An attribution as one self-contained page.

use super::Attribution;
use crate::{
    html::shell,
    plot::{Size, plain},
};
use maud::{Markup, html};
use referee::number::number;
use words::Language;

/// Renders the page.
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
    shell(Language::English, &title, &body, "")
}

fn findings(attribution: &Attribution) -> Markup {
    let (pairs, parts): (Vec<_>, Vec<_>) = attribution.effects.iter().partition(|effect| effect.is_pair());
    html! {
        h2 { "Parts" }
        p.note { "Elo of a level against the first one of its part, on average over the other parts." }
        (super::effects(&parts).page("Parts"))
        h2 { "Pairs" }
        p.note { "Elo of two levels together beyond the sum of both." }
        figure { (attribution.heat(Size::Wide).inline()) (attribution.heat(Size::Narrow).inline()) }
        details { summary { "All pairs, largest first" } (super::effects(&pairs).page("Pairs")) }
        h2 { "Builds" }
        (attribution.builds_table().page("Builds"))
        h2 { "How much of the win rates is explained" }
        p.note { "R2 on builds that were held out; the largest weight of a column, in points of a game from -1 to 1." }
        (attribution.explained_table().page("How much of the win rates is explained"))
    }
}
