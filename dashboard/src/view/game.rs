//! One game: the board, both engines, the evaluations and the moves, at any ply.

use super::{board, clock, graph, paint::Paint};
use crate::{
    board::Board,
    state::{Game, State},
    text,
    theme::Role,
    ui::Ui,
};
use ratatui::layout::Rect;
use referee::{Color, evaluation::Evaluation};
use report::Language;
use rsshogi::types::Move;

/// The shown game and ply.
struct Shown<'a> {
    state: &'a State,
    ui: &'a Ui,
    game: &'a Game,
    ply: usize,
    board: Board,
}

/// Draws the screen.
pub fn draw(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let Some(game) = ui.game.and_then(|game| state.boards.get(&game)) else {
        paint.line(area, 1, &format!("  {}", paint.words.enter_opens_games()), Role::Quiet);
        return;
    };
    let ply = ui.ply.unwrap_or(game.plies.len()).min(game.plies.len());
    let shown = Shown { state, ui, game, ply, board: shown_board(game, ply, ui.ahead) };
    let large = area.width >= 110 && area.height >= 34;
    let (columns, rows) = if large { board::LARGE } else { board::SMALL };
    let list = if area.width >= 110 { 40 } else { 27 }.min(area.width / 3 + 1);
    let upper_height = (rows + 7).max(area.height * 6 / 10).min(area.height);
    let left = Rect { width: (columns + 4).min(area.width - list), height: upper_height, ..area };
    let right = Rect { x: area.right() - list, width: list, ..area };
    let lower = Rect { y: left.bottom(), height: area.height - upper_height, ..area };
    let lower = Rect { width: area.width - list, ..lower };
    let middle =
        Rect { x: left.right(), width: right.x.saturating_sub(left.right()), height: upper_height, ..area };
    the_board(&shown, left, large, paint);
    engines(&shown, middle, paint);
    moves(&shown, right, paint);
    if lower.height >= 4 {
        let names = game.players().map(|player| state.player(player));
        let scales = state.scales(game);
        let title =
            graph::title(names, scales, game.opinion(ply), lower.width.saturating_sub(4), paint.words);
        let inner = paint.frame(lower, &title);
        graph::draw(game, scales, ply, inner, paint);
    }
}

/// The board after so many plies, or so many moves into the line that the engine of the last ply expected.
fn shown_board(game: &Game, ply: usize, ahead: usize) -> Board {
    let Some(at) = ply.checked_sub(1).filter(|_| ahead > 0) else { return Board::of(game, ply) };
    let mut board = Board::of(game, at);
    game.variation(at).into_iter().take(ahead).for_each(|mv| _ = board.play(mv));
    board
}

fn the_board(shown: &Shown<'_>, area: Rect, large: bool, paint: &mut Paint<'_>) {
    let Shown { state, ui, game, ply, board } = shown;
    let (words, end) = (paint.words, game.plies.len());
    let title = match (&game.end, ui.ply) {
        _ if ui.ahead > 0 => words.as_meant(*ply, ui.ahead),
        (_, Some(ply)) => words.ply_of(ply, end),
        (Some(_), None) => words.is_over_after(&words.of_plies(end)),
        (None, None) => words.is_live(end),
    };
    let inner = paint.frame(area, &format!("{} · {title}", game.label()));
    let (above, below) = if ui.flipped { (Color::Black, Color::White) } else { (Color::White, Color::Black) };
    let name = |color: Color, paint: &mut Paint<'_>, row| {
        let mark = color.sign();
        let (time, role) = clock::words(game, color, *ply, state);
        let width = inner.width.saturating_sub(text::columns(&time) as u16 + 1);
        let room = usize::from(width).saturating_sub(4);
        let words = format!(" {mark} {}", text::name(state.player(game.players()[color.index()]), room));
        let to_move = board.turn() == color && game.end.is_none();
        let own = if to_move { Role::Mover } else { Role::Plain };
        paint.text(inner.x, inner.y + row, width.saturating_sub(1), &words, own);
        paint.text(inner.x + width, inner.y + row, inner.width - width, &time, role);
    };
    let rows = if large { board::LARGE.1 } else { board::SMALL.1 };
    name(above, paint, 0);
    paint.line(inner, 1, &format!("   {}", board::hand(board, above, ui)), Role::Plain);
    let at = Rect { x: inner.x + 1, y: inner.y + 2, ..inner };
    board::draw(board, ui, at, large, paint);
    paint.line(inner, rows + 2, &format!("   {}", board::hand(board, below, ui)), Role::Plain);
    if inner.height > rows + 3 {
        name(below, paint, rows + 3);
    }
    if let Some(end) = game.end.as_ref().filter(|_| ui.ply.is_none()) {
        paint.line(inner, rows + 4, &format!(" {}", words.outcome(end.outcome)), Role::Strong);
    }
}

/// The output of both engines, white above and black below.
fn engines(shown: &Shown<'_>, area: Rect, paint: &mut Paint<'_>) {
    let half = area.height / 2;
    let (above, below) =
        if shown.ui.flipped { (Color::Black, Color::White) } else { (Color::White, Color::Black) };
    engine(shown, above, Rect { height: half, ..area }, paint);
    engine(shown, below, Rect { y: area.y + half, height: area.height - half, ..area }, paint);
}

fn engine(shown: &Shown<'_>, color: Color, area: Rect, paint: &mut Paint<'_>) {
    let Shown { state, game, ply, .. } = shown;
    let name = state.player(game.players()[color.index()]);
    let room = usize::from(area.width).saturating_sub(6);
    let inner = paint.frame(area, &format!("{} {}", color.sign(), text::name(name, room)));
    let inner = failure(shown, color, inner, paint);
    let at = game.plies[..*ply].iter().rposition(|ply| ply.color == color);
    let Some(at) = at else { return };
    let (made, words) = (&game.plies[at], paint.words);
    let time = made.charged.map_or_else(|| words.pick("opening", "開始局面").to_owned(), text::clock);
    paint.line(inner, 0, &format!(" {} {}  {time}", at + 1, game.word(at)), Role::Plain);
    let Some(thought) = &made.thought else {
        paint.line(inner, 1, &format!(" {}", words.no_info()), Role::Quiet);
        return;
    };
    let mut facts = vec![];
    facts.extend(made.evaluation().map(|evaluation| match evaluation {
        Evaluation::Cp(_) => words.for_black(&evaluation.to_string()),
        Evaluation::Mate { .. } => words.evaluation(evaluation),
    }));
    facts.extend(thought.depth.map(|depth| match thought.seldepth {
        Some(seldepth) => format!("{} {depth}/{seldepth}", words.depth()),
        None => format!("{} {depth}", words.depth()),
    }));
    facts.extend(thought.nodes.map(|nodes| words.so_many_nodes(&text::short(nodes))));
    facts.extend(thought.nps.map(|nps| format!("{}/s", text::short(nps))));
    let mut row = 1;
    for line in wrapped(&facts, "  ", usize::from(inner.width).saturating_sub(2)) {
        paint.line(inner, row, &format!(" {line}"), Role::Plain);
        row += 1;
    }
    let mut variation = variation(game, at, thought.pv.as_deref().unwrap_or_default(), shown.ui);
    let steps = shown.ui.ahead;
    if at + 1 == *ply && (1..=variation.len()).contains(&steps) {
        variation[steps - 1].insert(0, '▸');
    }
    for line in wrapped(&variation, " ", usize::from(inner.width).saturating_sub(2)) {
        paint.line(inner, row, &format!(" {line}"), Role::Quiet);
        row += 1;
    }
}

/// At the bottom of an engine's box: why it lost, where it failed. Returns the rest of the box.
fn failure(shown: &Shown<'_>, color: Color, inner: Rect, paint: &mut Paint<'_>) -> Rect {
    let end = shown.game.end.as_ref().filter(|end| end.outcome.winner() == Some(!color));
    let Some(reason) = end.and_then(|end| end.reason.as_ref()).filter(|_| shown.ui.ply.is_none()) else {
        return inner;
    };
    let lines =
        text::wrapped(&paint.words.lost_because(reason), usize::from(inner.width).saturating_sub(2).max(8));
    let rest = inner.height.saturating_sub(lines.len() as u16).max(1);
    for (row, line) in (rest..inner.height).zip(&lines) {
        paint.line(inner, row, &format!(" {line}"), Role::Fault);
    }
    Rect { height: rest, ..inner }
}

/// The principal variation of the ply `at` in words: legal moves, and the first word that is none.
fn variation(game: &Game, at: usize, pv: &str, ui: &Ui) -> Vec<String> {
    let mut board = Board::of(game, at);
    let legal = game.variation(at);
    let spell = |mv: Move| {
        let words = if ui.ascii { mv.to_usi() } else { board.spell(mv) };
        board.play(mv);
        words
    };
    let rest = pv.split_whitespace().nth(legal.len()).map(text::clean);
    legal.iter().copied().map(spell).chain(rest).collect()
}

/// Words in lines of at most `width` columns.
fn wrapped(words: &[String], between: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in words {
        match lines.last_mut() {
            Some(line) if text::columns(line) + between.len() + text::columns(word) <= width => {
                line.extend([between, word]);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}

/// A list of moves that is wider than this has their evaluations.
const LISTED: u16 = 32;

fn moves(shown: &Shown<'_>, area: Rect, paint: &mut Paint<'_>) {
    let Shown { ui, game, ply, .. } = shown;
    let words = paint.words;
    let follows = if ui.ply.is_none() { words.moves_followed() } else { words.g_follows() };
    let title = follows.to_owned() + if area.width > LISTED { words.and_eval_for_black() } else { "" };
    let inner = paint.frame(area, &title);
    let room = usize::from(inner.height).max(1);
    let first = ply.saturating_sub(room / 2).min((game.plies.len() + 1).saturating_sub(room)).max(1);
    let moves = game.words((first + room).min(game.plies.len()));
    for (row, at) in (first..=game.plies.len()).take(room).enumerate() {
        let role = if at == *ply { Role::Chosen } else { Role::Plain };
        paint.row(inner, row as u16, &move_line(game, at, &moves[at - 1], ui, (inner.width, words)), role);
    }
    if game.plies.is_empty() {
        paint.line(inner, 0, &format!("  {}", words.no_move_yet()), Role::Quiet);
    }
}

fn move_line(game: &Game, at: usize, made: &str, ui: &Ui, (width, words): (u16, Language)) -> String {
    let ply = &game.plies[at - 1];
    let made = if ui.ascii { &ply.mv.to_usi() } else { made };
    let time = ply.charged.map_or_else(|| "-".to_owned(), text::clock);
    let listed = width + 2 > LISTED;
    let name = usize::from(width).saturating_sub(if listed { 25 } else { 12 });
    let line = format!("{at:>4} {} {time:>6}", text::left(made, name));
    let evaluation = ply.evaluation().filter(|_| listed);
    evaluation.map_or_else(|| line.clone(), |it| format!("{line} {}", text::right(&words.evaluation(it), 12)))
}
