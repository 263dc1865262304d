//! Drawing: pure functions of the state and the reader's view into a buffer.

mod board;
mod clock;
mod event;
mod game;
mod games;
mod graph;
mod lists;
mod machines;
mod openings;
mod paint;
mod precision;
mod ratings;
mod sprt;
mod stages;
mod tables;

use crate::{
    input::{Screen, keys},
    state::State,
    text,
    theme::Role,
    ui::Ui,
};
use platform::signals;
use ratatui::{buffer::Buffer, layout::Rect};
use referee::number::noun_for;

pub(crate) use lists::help;
pub(crate) use paint::Paint;

/// The smallest window that is drawn into.
pub(crate) const SMALLEST: (u16, u16) = (40, 10);

/// Draws everything.
pub fn draw(state: &State, ui: &Ui, area: Rect, buf: &mut Buffer) {
    let mut paint = Paint::new(buf, ui.palette, state.language);
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        paint.text(area.x, area.y, area.width, state.language.window_too_small(), Role::Plain);
        return;
    }
    let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
    title(state, ui, Rect { height: 1, ..area }, &mut paint);
    match ui.screen {
        Screen::Event => event::draw(state, ui, body, &mut paint),
        Screen::Games => games::draw(state, ui, body, &mut paint),
        Screen::Game => game::draw(state, ui, body, &mut paint),
        Screen::Played => lists::played(state, ui, body, &mut paint),
        Screen::Table => tables::cross(state, ui, body, &mut paint),
        Screen::Ratings => ratings::draw(state, ui, body, &mut paint),
        Screen::Engines => tables::engines(state, ui, body, &mut paint),
        Screen::Openings => openings::draw(state, ui, body, &mut paint),
        Screen::Log => lists::log(state, ui, body, &mut paint),
        Screen::Machines => machines::draw(state, ui, body, &mut paint),
    }
    footer(
        ui,
        !state.machines.is_empty(),
        Rect { y: area.y + area.height - 1, height: 1, ..area },
        &mut paint,
    );
    if ui.help {
        help(keys(signals::can_suspend(), state.language), body, &mut paint);
    }
}

/// The event at the left; progress and faults at the right.
fn title(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let (running, words) = (state.running().count(), paint.words);
    let total = state.total.map(|total| format!("/{total}")).unwrap_or_default();
    let noun = words.pick(noun_for(&state.total.unwrap_or(state.counted()), "game"), "局".to_owned());
    let mut facts = format!("{}{total} {noun}", state.counted());
    let over = state.closed || ui.lingers;
    if over {
        facts += &format!(" · {}", words.over_q_leaves());
    } else if running > 0 {
        facts += &format!(" · {}", words.games_running(running));
    } else if !state.standings.halts().is_empty() {
        facts += &format!(" · {}", words.event_is_halted());
    }
    if let Some(left) = state.to_go().filter(|_| !over) {
        facts += &format!(" · {}", words.ends_in_about(&text::lasting(left)));
    }
    let role = if state.faults > 0 { Role::Fault } else { Role::Plain };
    let faults = format!(" · {} ", words.of_faults(state.faults));
    let held = if ui.paused { words.held_screen(ui.waiting) } else { String::new() };
    let paused = if state.notice.paused && !over { words.paused_event() } else { "" };
    let facts = held + paused + &facts;
    let wide = text::columns(&facts) as u16 + text::columns(&faults) as u16;
    let at = area.x + area.width.saturating_sub(wide);
    let name = format!(" {} · {}", state.info.name, state.info.format_in(words));
    paint.text(area.x, area.y, area.width.saturating_sub(wide + 2), &name, Role::Strong);
    paint.text(at, area.y, area.width.min(wide), &facts, Role::Plain);
    let fault_at = at + text::columns(&facts) as u16;
    paint.text(fault_at, area.y, (area.x + area.width).saturating_sub(fault_at), &faults, role);
}

/// The filter, in the place of the keys.
pub(crate) fn filter(filter: &str, writing: bool, area: Rect, paint: &mut Paint<'_>) {
    let cursor = if writing { paint.words.enter_keeps() } else { paint.words.esc_drops() };
    let words = format!(" / {}{cursor}", text::clean(filter));
    paint.text(area.x, area.y, area.width, &words, Role::Strong);
}

fn footer(ui: &Ui, on_machines: bool, area: Rect, paint: &mut Paint<'_>) {
    if ui.writing || !ui.filter.is_empty() {
        return filter(&ui.filter, ui.writing, area, paint);
    }
    if let Some(notice) = &ui.notice {
        paint.text(area.x, area.y, area.width, &format!(" {notice}"), Role::Strong);
        return;
    }
    let roomy = area.width >= 104;
    let mut x = area.x + u16::from(roomy);
    for screen in Screen::of_event(on_machines) {
        let role = if screen == ui.screen { Role::Chosen } else { Role::Quiet };
        let gap = if roomy { " " } else { "" };
        let (keys, name) = screen.keys_and_name(paint.words);
        let label = format!("{gap}{keys:.1} {name} ");
        x += paint.text(x, area.y, (area.x + area.width).saturating_sub(x), &label, role);
    }
    let help = paint.words.pick("? help", "? 一覧");
    let keys =
        if roomy { format!("{help}  {} ", paint.words.pick("q quit", "q 終了")) } else { help.to_owned() };
    let wide = text::columns(&keys) as u16;
    let at = (area.x + area.width).saturating_sub(wide);
    if at >= x {
        paint.text(at, area.y, wide, &keys, Role::Quiet);
    }
}

/// The text of a picture, as a terminal shows it.
#[cfg(test)]
pub(crate) fn text_of(buf: &Buffer) -> String {
    let area = buf.area;
    let mut words = String::new();
    for y in 0..area.height {
        let (mut line, mut x) = (String::new(), 0);
        while x < area.width {
            let symbol = buf[(x, y)].symbol();
            line.push_str(symbol);
            x += text::columns(symbol).max(1) as u16;
        }
        words.push_str(line.trim_end());
        words.push('\n');
    }
    words
}

#[cfg(test)]
mod tests;
