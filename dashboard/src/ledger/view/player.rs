//! One player: what it is, its opponents, and what to play next for its rating.

use super::{Paint, elo, encounters, name_of};
use crate::{
    ledger::{Details, Opponent, Player, State, Table, ui::Ui},
    text,
    theme::Role,
};
use ratatui::layout::Rect;
use referee::rating::rounded;

/// Most encounters that are shown.
const ENCOUNTERS: usize = 5;

/// Draws the screen.
pub fn draw(table: &Table, state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let Some(player) = ui.player.and_then(|node| table.player(node)) else {
        paint.line(area, 1, "  no player is chosen", Role::Quiet);
        return;
    };
    let facts = facts(player, usize::from(area.width).saturating_sub(4).max(8));
    let (above, below) = (facts.len() as u16 + 2, area.height.saturating_sub(facts.len() as u16 + 2));
    let inner = paint.frame(Rect { height: above.min(area.height), ..area }, &text::clean(&player.label));
    for (row, fact) in facts.iter().enumerate() {
        paint.line(inner, row as u16, &format!(" {fact}"), Role::Plain);
    }
    let rest = Rect { y: area.y + above, height: below, ..area };
    let Some(details) = state.details.as_ref().filter(|details| details.node == player.node) else {
        paint.line(rest, 1, "  computing", Role::Quiet);
        return;
    };
    let next = suggested(details).min(rest.height.saturating_sub(8));
    opponents(table, details, ui, Rect { height: rest.height - next, ..rest }, paint);
    if next > 3 {
        what_next(table, details, Rect { y: rest.bottom() - next, height: next, ..rest }, paint);
    }
}

/// The height of the frame with what to play next.
fn suggested(details: &Details) -> u16 {
    details.next.as_ref().map_or(0, |next| next.encounters.len().min(ENCOUNTERS) as u16 + 3)
}

/// What a player is, in lines of at most `width` columns.
fn facts(player: &Player, width: usize) -> Vec<String> {
    let (value, error) = elo(&player.elo);
    let score = player.score.map_or(String::new(), |score| format!(" · score {:.1}%", 100.0 * score));
    let events = referee::number::number(player.events, "event");
    let games = rounded(player.games, 0);
    let mut facts = vec![format!("Elo {value} ±{error} · {games} games{score} · {events}")];
    let also = player.also.join(", ");
    let build = player.build.as_deref().unwrap_or_default();
    let (clock, settings, machine) = (&player.clock, &player.settings, &player.machine);
    let named = [
        ("clock", &**clock),
        ("also called", &also),
        ("settings", settings),
        ("build", build),
        ("machine", machine),
    ];
    for (name, text) in named.into_iter().filter(|(_, text)| !text.is_empty()) {
        facts.extend(text::wrapped(&text::clean(&format!("{name} {text}")), width).into_iter().take(2));
    }
    facts
}

fn opponents(table: &Table, details: &Details, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, "Opponents · Enter opens one, n and N the next player of the list");
    let name = usize::from(inner.width).saturating_sub(56).clamp(8, 40);
    let heading = format!(
        " {} {:>7} {:>6} {:>6} {:>6} {:>7} {:>16}",
        text::left("opponent", name),
        "games",
        "+",
        "=",
        "-",
        "score",
        "Elo by all games"
    );
    paint.line(inner, 0, &heading, Role::Quiet);
    paint.list(inner, 1, (details.opponents.len(), ui.chosen), |at| {
        (opponent(table, &details.opponents[at], name), Role::Plain)
    });
}

fn opponent(table: &Table, opponent: &Opponent, name: usize) -> String {
    let Opponent { node, results: [won, drawn, lost], difference } = opponent;
    let games = won + drawn + lost;
    let score = 100.0 * (*won as f64 + *drawn as f64 / 2.0) / games.max(1) as f64;
    let (value, error) = elo(difference);
    format!(
        " {} {games:>7} {won:>6} {drawn:>6} {lost:>6} {:>7} {:>16}",
        text::left(&text::name(&name_of(table, *node), name), name),
        format!("{score:.1}%"),
        format!("{value} ±{error}")
    )
}

fn what_next(table: &Table, details: &Details, area: Rect, paint: &mut Paint<'_>) {
    let Some(next) = &details.next else { return };
    let error = rounded(next.error, 1);
    let title =
        format!("What to play next for it · ±{error} now, to the mean of the players that games bound");
    let inner = paint.frame(area, &title);
    encounters(table, next, None, inner, paint);
}
