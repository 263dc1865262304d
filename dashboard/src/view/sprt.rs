//! A sequential test: its state between the bounds, and its course.

use super::paint::Paint;
use crate::{
    state::{Gauge, State},
    theme::Role,
};
use ratatui::layout::Rect;
use referee::number::number;
use referee::rating::rounded;
use referee::standings::REPEATS;

/// Rows for a window of this height.
#[must_use]
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
pub fn draw(state: &State, gauge: &Gauge, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, &format!("SPRT {}", state.info.test_words));
    let share = ((gauge.llr - gauge.lower) / (gauge.upper - gauge.lower)).clamp(0.0, 1.0);
    let columns = usize::from(inner.width).saturating_sub(24).max(3);
    let at = ((columns - 1) as f64 * share).round() as usize;
    let bar: String = (0..columns).map(|column| if column == at { '●' } else { '─' }).collect();
    paint.line(inner, 0, &format!(" H0 {:>6.2} ├{bar}┤ {:<+6.2} H1", gauge.lower, gauge.upper), Role::Plain);
    let role = match &gauge.verdict {
        Some(_) => Role::Strong,
        None if gauge.llr > 0.0 => Role::Good,
        None => Role::Plain,
    };
    paint.line(inner, 1, &words(gauge), role);
    if inner.height > 4 {
        chart(state, gauge, Rect { y: inner.y + 2, height: inner.height - 2, ..inner }, paint);
    }
}

fn words(gauge: &Gauge) -> String {
    let towards = match &gauge.verdict {
        Some(verdict) if verdict == referee::sprt::BY_FAULTS => "faults decided".to_owned(),
        Some(verdict) if verdict == REPEATS => "only repeats were left".to_owned(),
        Some(verdict) => format!("{verdict} accepted"),
        None if gauge.llr >= 0.0 => format!("{:.0}% to H1", 100.0 * gauge.llr / gauge.upper),
        None => format!("{:.0}% to H0", 100.0 * gauge.llr / gauge.lower),
    };
    let counts = gauge.pentanomial.map(|n| n.to_string()).join(" ");
    format!(" LLR {} ({towards}) · {} · {counts}", rounded(gauge.llr, 2), number(gauge.pairs, "pair"))
}

/// The ratio over the pairs, H1 above and H0 below.
fn chart(state: &State, gauge: &Gauge, area: Rect, paint: &mut Paint<'_>) {
    let label = 8;
    let Some(width) = area.width.checked_sub(label + 1).filter(|&width| width > 0) else { return };
    let row = |llr: f64| {
        let share = ((gauge.upper - llr) / (gauge.upper - gauge.lower)).clamp(0.0, 1.0);
        (share * f64::from(area.height - 1)).round() as u16
    };
    for (llr, name) in [(gauge.upper, "H1"), (0.0, "0"), (gauge.lower, "H0")] {
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
