//! Drawing of a ledger: pure functions of the state and the reader's view into a buffer.

mod player;

use super::{
    Encounter, Player, State, Suggestions, Table, Work,
    ui::{Line, Screen, Ui},
};
use crate::{
    text,
    theme::Role,
    view::{Paint, SMALLEST},
};
use ratatui::{buffer::Buffer, layout::Rect};
use referee::rating::{Estimate, digits, rounded, signed};

/// What stands between two sets of players.
const APART: &str = "no game connects these with those above: their Elo cannot be compared";

/// The keys with their meanings.
const KEYS: &[(&str, &str)] = &[
    ("1 - 4  Tab", "the screens, by the numbers of the last line; the next one"),
    ("↑ ↓  k j", "choose a row"),
    ("PgUp PgDn  ^U ^D", "ten rows"),
    ("Home End  g G", "first or last row"),
    ("Enter", "open the chosen player, or opponent"),
    ("n N", "at a player: the next one, the one before"),
    ("Esc  Backspace", "back"),
    ("/", "filter by name, clock, setting or build; Enter keeps it, Esc drops it"),
    ("s", "players by Elo, error, games, name"),
    ("R", "read all databases again"),
    ("^L", "draw everything anew"),
    ("q  ^C", "leave"),
    ("?  F1", "this list"),
];

/// Draws everything.
pub fn draw(state: &State, ui: &Ui, area: Rect, buf: &mut Buffer) {
    let mut paint = Paint::new(buf, ui.palette);
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        paint.text(area.x, area.y, area.width, "the window is too small", Role::Plain);
        return;
    }
    let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
    title(state, Rect { height: 1, ..area }, &mut paint);
    match (&state.table, ui.screen) {
        (None, _) => waiting(state, body, &mut paint),
        (Some(table), Screen::Players) => players(table, ui, body, &mut paint),
        (Some(table), Screen::Next) => next(table, ui, body, &mut paint),
        (Some(_), Screen::Notes) => all_notes(state, ui, body, &mut paint),
        (Some(table), Screen::Player) => player::draw(table, state, ui, body, &mut paint),
    }
    footer(ui, Rect { y: area.bottom() - 1, height: 1, ..area }, &mut paint);
    if ui.help {
        crate::view::help(KEYS.iter().copied(), body, &mut paint);
    }
}

/// How much was read at the left; at the right what the source is at.
fn title(state: &State, area: Rect, paint: &mut Paint<'_>) {
    let work = state.work.as_ref().map(work_words).unwrap_or_default();
    let wide = (text::columns(&work) as u16).min(area.width / 2);
    let facts = state.table.as_ref().map_or(String::new(), |table| format!(" · {}", table.facts));
    paint.text(area.x, area.y, area.width - wide, &format!(" Ledger{facts}"), Role::Strong);
    paint.text(area.right() - wide, area.y, wide, &work, Role::Mover);
}

fn work_words(Work { words, seconds }: &Work) -> String {
    let since = if *seconds > 0 { format!(" · {seconds} s") } else { String::new() };
    format!("{words}{since} ")
}

fn waiting(state: &State, area: Rect, paint: &mut Paint<'_>) {
    let words = state.work.as_ref().map(work_words).unwrap_or_default();
    paint.line(area, 1, &format!("  {words}"), Role::Plain);
    for (row, line) in (3..).zip(&state.lines) {
        paint.line(area, row, &format!("  {line}"), Role::Quiet);
    }
}

fn footer(ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    if ui.writing || !ui.filter.is_empty() {
        return crate::view::filter(&ui.filter, ui.writing, area, paint);
    }
    if let Some(notice) = &ui.notice {
        paint.text(area.x, area.y, area.width, &format!(" {notice}"), Role::Strong);
        return;
    }
    let mut x = area.x + 1;
    for (screen, key) in Screen::ALL.into_iter().zip('1'..) {
        let role = if screen == ui.screen { Role::Chosen } else { Role::Quiet };
        x += paint.text(
            x,
            area.y,
            area.right().saturating_sub(x),
            &format!(" {key} {} ", screen.name()),
            role,
        );
    }
    let keys = "? help  q quit ";
    let at = area.right().saturating_sub(keys.len() as u16);
    if at >= x {
        paint.text(at, area.y, keys.len() as u16, keys, Role::Quiet);
    }
}

/// The columns of the list of players.
struct Columns {
    name: usize,
    clock: usize,
    /// Columns of the picture of an interval.
    picture: usize,
}

/// Columns of the numbers of a player.
const NUMBERS: usize = 48;
/// The widest name, and the widest picture.
const WIDEST: usize = 36;
/// Columns of names and clocks from which on there is a column of clocks.
const NARROW: usize = 24;

impl Columns {
    fn of(table: &Table, width: u16) -> Self {
        let all = || table.groups.iter().flat_map(|group| &group.players);
        let widest =
            |text: fn(&Player) -> &str| all().map(|player| text::columns(text(player))).max().unwrap_or(0);
        let room = usize::from(width).saturating_sub(NUMBERS + 1);
        let clock = widest(|player| &player.clock).min(room / 2);
        // In a narrow window names are more.
        let clock = if clock > 0 && room >= NARROW { clock.max("clock".len()) } else { 0 };
        let beside = if clock > 0 { clock + 2 } else { 0 };
        let name = widest(|player| &player.label).clamp(6, WIDEST).min(room.saturating_sub(beside));
        let rest = room.saturating_sub(name + beside + 2);
        Self { name, clock, picture: if rest < 12 { 0 } else { rest.min(WIDEST) } }
    }

    fn heading(&self) -> String {
        let clock =
            if self.clock > 0 { format!("  {}", text::left("clock", self.clock)) } else { String::new() };
        let numbers = format!("{:>9} {:>6} {:>9} {:>7} {:>7}", "Elo", "±", "games", "score", "events");
        format!("    # {}{clock}{numbers}", text::left("player", self.name))
    }

    fn row(&self, place: usize, player: &Player, span: (f64, f64)) -> String {
        let clean = |text: &str| text::clean(text);
        let name = text::left(&text::name(&clean(&player.label), self.name), self.name);
        let clock = match self.clock {
            0 => String::new(),
            width => format!("  {}", text::left(&text::name(&clean(&player.clock), width), width)),
        };
        let (elo, error) = elo(&player.elo);
        let score = player.score.map_or("-".to_owned(), |score| format!("{:.1}%", 100.0 * score));
        let games = rounded(player.games, 0);
        let row = format!(
            "{:>5} {name}{clock}{elo:>9} {error:>6} {games:>9} {score:>7} {:>7}  {}",
            place + 1,
            player.events,
            picture(&player.elo, span, self.picture)
        );
        // Without a picture nothing follows the numbers.
        row.trim_end().to_owned()
    }
}

/// Elo and half its interval, with as many digits as that allows.
fn elo(elo: &Estimate) -> (String, String) {
    let digits = elo.error().filter(|error| *error > 0.0).map_or(0, digits);
    let mark = if elo.is_bounded() { "" } else { "~" };
    let value = match *elo {
        Estimate::AtLeast { value } => format!(">{}", signed(value, 0)),
        Estimate::AtMost { value } => format!("<{}", signed(value, 0)),
        _ => elo.value().map_or("n/a".to_owned(), |value| format!("{mark}{}", signed(value, digits))),
    };
    (value, elo.error().map_or("-".to_owned(), |error| rounded(error, digits)))
}

/// The interval of an Elo between the ends of its set, as a line with a dot.
fn picture(elo: &Estimate, (low, high): (f64, f64), width: usize) -> String {
    let (Some(value), true) = (elo.value(), width > 0 && high > low) else { return String::new() };
    let column = |elo: f64| {
        let share = ((elo - low) / (high - low)).clamp(0.0, 1.0);
        (share * (width - 1) as f64).round() as usize
    };
    let error = elo.error().unwrap_or(0.0);
    let (from, at, to) = (column(value - error), column(value), column(value + error));
    let sign = |here: usize| match here {
        _ if here == at => '●',
        _ if (from..=to).contains(&here) => '─',
        _ => ' ',
    };
    (0..=to).map(sign).collect()
}

/// The ends of the pictures of a set: its Elo, the intervals of those that games bound included.
fn span(players: &[Player]) -> (f64, f64) {
    let ends = players.iter().filter_map(|player| {
        let error = player.elo.error().filter(|_| player.elo.is_bounded()).unwrap_or(0.0);
        player.elo.value().map(|value| (value - error, value + error))
    });
    ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (from, to)| (low.min(from), high.max(to)))
}

/// All players, and what is to be known of the Elo of the set of the chosen one.
fn players(table: &Table, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let title = format!("Players · by {} · Enter opens a player, / filters, s sorts", ui.order.name());
    let inner = paint.frame(area, &title);
    let lines = ui.lines(table);
    let rows: Vec<usize> = (0..lines.len()).filter(|&at| matches!(lines[at], Line::Player { .. })).collect();
    let Some(&chosen) = rows.get(ui.chosen.min(rows.len().saturating_sub(1))) else {
        paint.line(inner, 1, "  no player passes the filter", Role::Quiet);
        return;
    };
    let notes = match lines[chosen] {
        Line::Player { group, .. } => &table.groups[group].notes[..],
        Line::Apart => &[],
    };
    let foot = if inner.height >= 12 { notes.len().min(6) as u16 } else { 0 };
    let columns = Columns::of(table, inner.width);
    paint.line(inner, 0, &columns.heading(), Role::Quiet);
    let list = Rect { height: inner.height - foot, ..inner };
    let spans: Vec<(f64, f64)> = table.groups.iter().map(|group| span(&group.players)).collect();
    paint.list(list, 1, (lines.len(), chosen), |at| match lines[at] {
        Line::Player { group, place, player } => (columns.row(place, player, spans[group]), Role::Plain),
        Line::Apart => (format!("      {APART}"), Role::Quiet),
    });
    for (row, note) in (inner.height - foot..).zip(notes.iter().take(foot.into())) {
        paint.line(inner, row, &format!(" {}", text::clean(note)), Role::Quiet);
    }
}

/// What to play next for the rating of everyone.
fn next(table: &Table, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint
        .frame(area, "What to play next · what takes most off the error for each second of playing first");
    let Some(next) = &table.next else {
        paint.line(
            inner,
            1,
            "  no encounter is known to shrink the errors: no chain of games, or no clock in common",
            Role::Quiet,
        );
        return;
    };
    let error = rounded(next.error, 1);
    let now =
        format!(" the error is ±{error} Elo on average now, to the mean of the players that games bound");
    paint.line(inner, 0, &now, Role::Plain);
    let rows = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
    encounters(table, next, Some(ui.chosen), rows, paint);
}

/// Encounters and what they are worth, below a heading.
fn encounters(table: &Table, next: &Suggestions, chosen: Option<usize>, area: Rect, paint: &mut Paint<'_>) {
    let room = usize::from(area.width).saturating_sub(39);
    let names: Vec<String> = next.encounters.iter().map(|encounter| pair(table, encounter)).collect();
    let width = names.iter().map(|name| text::columns(name)).max().unwrap_or(0).max(9).min(room);
    let heading = format!(" {} ± after 100 games  seconds a game", text::left("encounter", width));
    paint.line(area, 0, &heading, Role::Quiet);
    let line = |at: usize| {
        let Encounter { error_after, seconds, .. } = &next.encounters[at];
        let seconds = seconds.map_or("-".to_owned(), |seconds| rounded(seconds, 2));
        let name = text::left(&text::name(&names[at], width), width);
        format!(" {name} {:>17} {seconds:>15}", rounded(*error_after, 1))
    };
    match chosen {
        Some(chosen) => paint.list(area, 1, (names.len(), chosen), |at| (line(at), Role::Plain)),
        None => (0..names.len()).for_each(|at| paint.line(area, at as u16 + 1, &line(at), Role::Plain)),
    }
}

fn pair(table: &Table, encounter: &Encounter) -> String {
    encounter.players.map(|node| name_of(table, node)).join(" against ")
}

fn name_of(table: &Table, node: usize) -> String {
    table.player(node).map_or_else(|| "?".to_owned(), |player| text::clean(&player.label))
}

/// All that is to be known beside the players.
#[must_use]
pub fn notes(state: &State) -> Vec<&str> {
    let notes = state.table.iter().flat_map(|table| &table.notes);
    notes.chain(&state.lines).map(String::as_str).collect()
}

fn all_notes(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, "Notes");
    let notes = notes(state);
    if notes.is_empty() {
        paint.line(inner, 1, "  nothing was left out", Role::Quiet);
        return;
    }
    let chosen = ui.chosen.min(notes.len() - 1);
    // The chosen note is shown in full at the foot.
    let whole = text::wrapped(&text::clean(notes[chosen]), usize::from(inner.width).saturating_sub(2).max(8));
    let foot = (whole.len() as u16).min(inner.height / 2);
    let list = Rect { height: inner.height - foot, ..inner };
    paint.list(list, 0, (notes.len(), chosen), |at| (format!(" {}", text::clean(notes[at])), Role::Plain));
    for (row, line) in (inner.height - foot..).zip(&whole) {
        paint.line(inner, row, &format!(" {line}"), Role::Quiet);
    }
}
