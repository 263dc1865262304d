//! The overview of the event: standings, sequential test, running games, latest lines of the log.

use super::{paint::Paint, precision, sprt};
use crate::{
    state::{Figures, Game, Line, State},
    text,
    theme::Role,
    ui::Ui,
};
use ratatui::layout::Rect;
use referee::{
    entry::PlayerId,
    rating::{Estimate, rounded, signed},
    running::Ply,
};

/// Draws the screen.
pub fn draw(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let mut below = area;
    if let Some(gauge) = &state.figures.gauge {
        let strip = Rect { height: sprt::rows(area.height).min(below.height), ..below };
        sprt::draw(state, gauge, strip, paint);
        below = Rect { y: below.y + strip.height, height: below.height - strip.height, ..below };
    }
    if let Some(reached) = &state.figures.precision {
        let strip = Rect { height: precision::ROWS.min(below.height), ..below };
        precision::draw(reached, strip, paint);
        below = Rect { y: below.y + strip.height, height: below.height - strip.height, ..below };
    }
    let wide = area.width >= 120;
    let games = ui.games(state);
    let players = u16::try_from(state.figures.lines.len()).unwrap_or(u16::MAX);
    let needed = players.saturating_add(5);
    let (left, right) = match wide {
        true => {
            let left = Rect { width: (below.width / 2 + 2).min(104), ..below };
            (left, Rect { x: left.right(), width: below.width - left.width, ..below })
        }
        false => {
            // The standings come first; of the running games at least one is shown.
            let height = needed.min(below.height.saturating_sub(3));
            let left = Rect { height, ..below };
            (left, Rect { y: left.bottom(), height: below.height - height, ..below })
        }
    };
    let upper = Rect { height: left.height.min(needed.max(8)), ..left };
    standings(state, upper, paint);
    if left.height > upper.height + 2 {
        let rest = Rect { y: upper.bottom(), height: left.height - upper.height, ..left };
        latest(state, rest, paint);
    }
    running(state, ui, &games, right, paint);
}

fn standings(state: &State, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, "Standings");
    let rated = state.figures.duel.is_none();
    let [los, wins, name] = columns(state, usize::from(inner.width), rated);
    let (los, wins) = (los > 0, wins > 0);
    let scale = if state.scale.is_some() { " rating" } else { "    Elo" };
    let mut heading = format!("  # {} games    +    −    =  score", text::left("engine", name));
    heading += &if rated { format!(" {scale}    ±") } else { String::new() };
    heading += if los { "   LOS" } else { "" };
    heading += if wins { " wins ☗/☖" } else { "" };
    paint.line(inner, 0, &heading, Role::Quiet);
    let notes = 1 + u16::from(state.figures.duel.is_some() && inner.height > 4);
    let room = inner.height.saturating_sub(1 + notes);
    let left_out = state.figures.lines.len().saturating_sub(usize::from(room));
    if let Some(shown) = room.checked_sub(1).filter(|_| left_out > 0) {
        let words = format!("    and {} more; 5 shows all", left_out + 1);
        paint.line(inner, 1 + shown, &words, Role::Quiet);
    }
    let room = if left_out > 0 { room.saturating_sub(1) } else { room };
    for (at, line) in state.figures.lines.iter().enumerate().take(usize::from(room)) {
        let row = standing(state, at, line, name, [rated, los, wins]);
        let y = 1 + at as u16;
        paint.line(inner, y, &row, Role::Plain);
        if line.faults > 0 {
            let words = text::name(state.player(line.player), name);
            paint.text(inner.x + 4, inner.y + y, name as u16, &words, Role::Fault);
            let end = text::columns(&row) as u16 + 1;
            let faults = format!("{} lost by fault", line.faults);
            let fits = usize::from(inner.width.saturating_sub(end)) >= text::columns(&faults);
            let faults = if fits { faults } else { format!("!{}", line.faults) };
            paint.text(inner.x + end, inner.y + y, inner.width.saturating_sub(end), &faults, Role::Fault);
        }
    }
    let scale = state.scale.as_ref().map(|scale| scale.words.as_str()).filter(|words| !words.is_empty());
    let below = scale.map_or_else(|| summary(&state.figures), |words| format!("  {words}"));
    paint.line(inner, inner.height.saturating_sub(1), &below, Role::Quiet);
    if let Some(words) = state.figures.duel.as_ref().filter(|_| inner.height > 4) {
        let first = text::name(state.player(PlayerId(0)), 20);
        paint.line(inner, inner.height.saturating_sub(2), &format!("  {first}: {words}"), Role::Strong);
    }
}

/// Columns for LOS and for wins by colour, 0 where names need the room, and those for names.
fn columns(state: &State, width: usize, rated: bool) -> [usize; 3] {
    let longest = state.figures.lines.iter().map(|line| text::columns(state.player(line.player))).max();
    let longest = longest.unwrap_or(0).clamp(6, 30);
    let plain = width.saturating_sub(if rated { 46 } else { 33 });
    let fits = |taken: usize| plain.saturating_sub(taken) >= longest;
    let los = if rated && (fits(6) || width >= 96) { 6 } else { 0 };
    let wins = if fits(los + 12) { 12 } else { 0 };
    [los, wins, plain.saturating_sub(los + wins).clamp(6, 30)]
}

fn standing(state: &State, at: usize, line: &Line, name: usize, [rated, los, wins]: [bool; 3]) -> String {
    let mut words = format!(
        " {:>2} {} {:>5} {:>4} {:>4} {:>4} {:>6}",
        at + 1,
        text::left(&text::name(state.player(line.player), name), name),
        line.games.games(),
        line.games.wins,
        line.games.losses,
        line.games.draws,
        percent(line.games.score(), 1),
    );
    if rated {
        let error = line.rating.unwrap_or(line.elo).error();
        let error = error.map_or_else(|| "-".to_owned(), |error| format!("{error:.0}"));
        words += &format!(" {:>7} {error:>4}", line.rating.map_or_else(|| elo(line.elo), rating));
    }
    if los {
        words += &format!(" {:>5}", percent(line.los, 0));
    }
    if wins {
        words += &format!(" {:>4}/{:<4}", line.wins[0], line.wins[1]);
    }
    words
}

fn elo(elo: Estimate) -> String {
    match elo {
        Estimate::Measured { .. } => elo.value().map_or_else(String::new, |elo| signed(elo, 0)),
        Estimate::Unknown => "-".to_owned(),
        _ => elo.value().map_or_else(|| "-".to_owned(), |elo| format!("~{}", signed(elo, 0))),
    }
}

/// A rating on an external scale, which is not a difference and has no sign.
fn rating(rating: Estimate) -> String {
    match rating {
        Estimate::Measured { value, .. } => rounded(value, 0),
        Estimate::Tentative { value, .. } => format!("~{}", rounded(value, 0)),
        Estimate::AtLeast { value } => format!(">{value:.0}"),
        Estimate::AtMost { value } => format!("<{value:.0}"),
        Estimate::Unknown => "-".to_owned(),
    }
}

fn percent(share: Option<f64>, digits: usize) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.digits$}%", 100.0 * share))
}

fn summary(figures: &Figures) -> String {
    let advantage = match figures.first_move {
        Some((elo, Some(error))) => format!(" ({} ± {error:.0} Elo)", signed(elo, 0)),
        _ => String::new(),
    };
    format!(
        "  first move {}{advantage} · draws {}",
        percent(figures.black_score, 1),
        percent(figures.draws, 1)
    )
}

fn running(state: &State, ui: &Ui, games: &[&Game], area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, "Running games · eval for ☗");
    if games.is_empty() {
        let begun = state.played.len() > state.before;
        let why = match (state.closed, begun) {
            (true, _) => "the event is over",
            (false, true) => "none",
            (false, false) if state.info.free => "no game yet",
            (false, false) if state.info.logins => "waiting for players to log in",
            (false, false) => "the engines are starting",
        };
        paint.line(inner, 0, &format!("  {why}"), Role::Quiet);
    }
    let row = |at: usize| (compact(state, games[at], usize::from(inner.width)), Role::Plain);
    paint.list(inner, 0, (games.len(), ui.chosen), row);
}

/// A game in one line.
fn compact(state: &State, game: &Game, width: usize) -> String {
    let end = game.plies.len();
    let last = game.plies.last();
    let evaluation = last.and_then(Ply::evaluation);
    let evaluation = evaluation.map(|evaluation| evaluation.to_string()).unwrap_or_default();
    // Names need the room more than the last move does.
    let last = last.filter(|_| width >= 70);
    let fixed = if width >= 70 { 45 } else { 39 };
    let names = width.saturating_sub(fixed).clamp(12, 44) / 2;
    let made = last.map_or_else(String::new, |ply| text::left(&ply.mv.to_usi(), 5) + " ");
    let [black, white] = game.players().map(|player| text::name(state.player(player), names));
    let [black_clock, white_clock] =
        referee::Color::BOTH.map(|color| super::clock::short(game, color, end, state.now));
    format!(
        " {}{} {:>5} ☗☖ {:<5} {} {:>3} {}{:>12}",
        text::left(&game.label(), 5),
        text::right(&black, names),
        black_clock,
        white_clock,
        text::left(&white, names),
        end,
        made,
        evaluation,
    )
}

/// The latest lines of the log, newest first.
fn latest(state: &State, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, "Latest");
    for (row, line) in state.log.iter().rev().enumerate().take(usize::from(inner.height)) {
        let first = line.text.lines().next().unwrap_or_default();
        let role = if line.fault { Role::Fault } else { Role::Plain };
        paint.line(inner, row as u16, &format!("  {} {first}", text::time_of_day(line.at)), role);
    }
}
