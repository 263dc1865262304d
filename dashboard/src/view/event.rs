//! The overview of the event: standings, sequential test, running games, latest lines of the log.

use super::{paint::Paint, precision, sprt};
use crate::{
    state::{Game, State},
    text,
    theme::Role,
    ui::Ui,
};
use ratatui::layout::Rect;
use referee::{entry::PlayerId, running::Ply};
use report::{
    Language, PlayerRow, Report,
    exhibit::{self, Cell},
};

/// Draws the screen.
pub fn draw(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let report = &state.figures.report;
    let mut below = area;
    if let Some(test) = &report.sprt {
        let strip = Rect { height: sprt::rows(area.height).min(below.height), ..below };
        sprt::draw(state, test, strip, paint);
        below = Rect { y: below.y + strip.height, height: below.height - strip.height, ..below };
    }
    if let Some(precision) = &report.precision {
        let strip = Rect { height: precision::ROWS.min(below.height), ..below };
        precision::draw(precision, strip, paint);
        below = Rect { y: below.y + strip.height, height: below.height - strip.height, ..below };
    }
    let wide = area.width >= 120;
    let games = ui.games(state);
    let players = u16::try_from(report.standings.len()).unwrap_or(u16::MAX);
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
    let (words, report) = (paint.words, &state.figures.report);
    let inner = paint.frame(area, words.standings());
    let (rows, duel) = (&report.standings, report.duel_words(words));
    let notes = 1 + u16::from(duel.is_some() && inner.height > 4);
    let room = usize::from(inner.height.saturating_sub(1 + notes));
    let shown = if rows.len() > room { room.saturating_sub(1) } else { rows.len() };
    // A row keeps the name of when it was computed.
    let name = |row: &PlayerRow| Cell::words(state.player(row.player));
    let table = exhibit::standings::standings(&rows[..shown], duel.is_some(), words, name);
    paint.table(inner, &table, None);
    if rows.len() > room && room > 0 {
        let more = format!("    {}", words.more_players(rows.len() - shown));
        paint.line(inner, 1 + shown as u16, &more, Role::Quiet);
    }
    let scale = state.scale.as_ref().map(|scale| scale.words.as_str()).filter(|words| !words.is_empty());
    let below = scale.map_or_else(|| summary(report, words), |words| format!("  {words}"));
    paint.line(inner, inner.height.saturating_sub(1), &below, Role::Quiet);
    if let Some(duel) = duel.filter(|_| inner.height > 4) {
        let first = text::name(state.player(PlayerId(0)), 20);
        paint.line(inner, inner.height.saturating_sub(2), &format!("  {first}: {duel}"), Role::Strong);
    }
}

fn summary(report: &Report, words: Language) -> String {
    let first = &report.first_move;
    let advantage = match (Cell::elo(first.elo).text(), first.elo.error()) {
        (elo, Some(error)) => format!(" ({elo} ± {error:.0} Elo)"),
        _ => String::new(),
    };
    let games = first.distinct.games();
    let draws = (games > 0).then(|| first.distinct.draws as f64 / games as f64);
    let [score, draws] = [first.score, draws].map(|share| Cell::share(share, 1).text());
    format!("  {}", words.first_move_and_draws(&score, &advantage, &draws))
}

fn running(state: &State, ui: &Ui, games: &[&Game], area: Rect, paint: &mut Paint<'_>) {
    let words = paint.words;
    let inner = paint.frame(area, words.running_and_evaluated());
    if games.is_empty() {
        let begun = state.played.len() > state.before;
        let why = match (state.closed, begun) {
            (true, _) => words.event_is_over(),
            (false, true) => words.pick("none", "なし"),
            (false, false) if state.info.open => words.no_game_yet(),
            (false, false) if state.info.engines.iter().any(|engine| engine.remote) => words.players_log_in(),
            (false, false) => words.engines_start(),
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
    let evaluation = text::right(
        &evaluation.map(|evaluation| state.language.evaluation(evaluation)).unwrap_or_default(),
        12,
    );
    // Names need the room more than the last move does.
    let last = last.filter(|_| width >= 70);
    let fixed = if width >= 70 { 45 } else { 39 };
    let names = width.saturating_sub(fixed).clamp(12, 44) / 2;
    let made = last.map_or_else(String::new, |ply| text::left(&ply.mv.to_usi(), 5) + " ");
    let [black, white] = game.players().map(|player| text::name(state.player(player), names));
    let [black_clock, white_clock] =
        referee::Color::BOTH.map(|color| super::clock::short(game, color, end, state.now));
    format!(
        " {}{} {:>5} ☗☖ {:<5} {} {:>3} {}{}",
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
    let inner = paint.frame(area, paint.words.latest_lines());
    for (row, line) in state.log.iter().rev().enumerate().take(usize::from(inner.height)) {
        let first = line.text.lines().next().unwrap_or_default();
        let role = if line.fault { Role::Fault } else { Role::Plain };
        paint.line(inner, row as u16, &format!("  {} {first}", text::time_of_day(line.at)), role);
    }
}
