//! A sequential test: its state between the bounds, and its course.

use super::paint::Paint;
use crate::{state::State, theme::Role};
use ratatui::layout::Rect;
use referee::{entry::PlayerId, rating::rounded};
use report::{Language, TestReport, model_word, verdict_phrase};

/// Rows for a window of this height.
pub fn rows(window: u16) -> u16 {
    if window >= 50 {
        16
    } else if window >= 34 {
        10
    } else {
        4
    }
}

/// Draws the test.
pub fn draw(state: &State, test: &TestReport, area: Rect, paint: &mut Paint<'_>) {
    let (plan, names) = (test.plan, [0, 1].map(|at| state.player(PlayerId(at))).join(" vs "));
    let [elo0, elo1, alpha, beta] = [plan.elo0, plan.elo1, plan.alpha, plan.beta];
    let words = format!("{names} · {} [{elo0}, {elo1}] · α {alpha} β {beta}", model_word(plan.model));
    let inner = paint.frame(area, &format!("SPRT {words}"));
    let share = ((test.llr - test.lower) / (test.upper - test.lower)).clamp(0.0, 1.0);
    let columns = usize::from(inner.width).saturating_sub(24).max(3);
    let at = ((columns - 1) as f64 * share).round() as usize;
    let bar: String = (0..columns).map(|column| if column == at { '●' } else { '─' }).collect();
    paint.line(inner, 0, &format!(" H0 {:>6.2} ├{bar}┤ {:<+6.2} H1", test.lower, test.upper), Role::Plain);
    let role = match &test.verdict {
        Some(_) => Role::Strong,
        None if test.llr > 0.0 => Role::Good,
        None => Role::Plain,
    };
    paint.line(inner, 1, &state_words(test, paint.words), role);
    if inner.height > 4 {
        chart(state, test, Rect { y: inner.y + 2, height: inner.height - 2, ..inner }, paint);
    }
}

fn state_words(test: &TestReport, words: Language) -> String {
    let towards = match &test.verdict {
        Some(verdict) => verdict_phrase(verdict, words),
        None if test.llr >= 0.0 => words.towards(100.0 * test.llr / test.upper, "H1"),
        None => words.towards(100.0 * test.llr / test.lower, "H0"),
    };
    let counts = test.in_order.pentanomial.map(|n| n.to_string()).join(" ");
    let pairs = words.of_pairs(test.in_order.pairs);
    format!(" LLR {} ({towards}) · {pairs} · {counts}", rounded(test.llr, 2))
}

/// The ratio over the pairs, H1 above and H0 below.
fn chart(state: &State, test: &TestReport, area: Rect, paint: &mut Paint<'_>) {
    let label = 8;
    let Some(width) = area.width.checked_sub(label + 1).filter(|&width| width > 0) else { return };
    let row = |llr: f64| {
        let share = ((test.upper - llr) / (test.upper - test.lower)).clamp(0.0, 1.0);
        (share * f64::from(area.height - 1)).round() as u16
    };
    for (llr, name) in [(test.upper, "H1"), (0.0, "0"), (test.lower, "H0")] {
        let y = area.y + row(llr);
        paint.text(area.x, y, label - 1, &format!("{name:>7}"), Role::Quiet);
        paint.text(area.x + label, y, width, &"┈".repeat(usize::from(width)), Role::Quiet);
    }
    let Some(&(last, _)) = state.walk.points.last() else { return };
    for &(pairs, llr) in &state.walk.points {
        let x = (pairs as f64 / last as f64 * f64::from(width - 1)).round() as u16;
        paint.text(area.x + label + x, area.y + row(llr), 1, "•", Role::Plain);
    }
}
