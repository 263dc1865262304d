//! Evaluations of one game, from black's side.

use super::{Plot, Size, axis::Axis, paint};
use journal::FullGame;
use maud::{Markup, html};
use referee::{
    Color,
    evaluation::{Evaluation, GameScales},
};

const HEIGHT: f64 = 260.0;

/// Both engines' evaluations over the plies of a game, on the scale of expected score: steep where games are decided,
/// flat where they are over. With a scale of one of the players all are on the common scale, and the picture says so.
pub fn evaluation(game: &FullGame, scales: GameScales, size: Size) -> Plot {
    let opinions: Vec<_> = game.judged.iter().map(|judged| (judged.ply, judged.evaluation())).collect();
    judged(game, scales, Some(("judge", &opinions[..])).filter(|(_, opinions)| !opinions.is_empty()), size)
}

/// The same with a third opinion beside the players': the judge's name and its evaluation after each ply.
pub fn judged(
    game: &FullGame,
    own: GameScales,
    judge: Option<(&str, &[(u32, Evaluation)])>,
    size: Size,
) -> Plot {
    let last = game.moves.last().map_or(1, |(_, moved)| moved.ply);
    let x = Axis::new(1.0, f64::from(last.max(2)), 56.0, size.width() - 12.0);
    let y = Axis::new(0.0, 1.0, HEIGHT - 40.0, 8.0);
    let points = |color: Color| -> Vec<(f64, f64)> {
        let moves = game.moves.iter().map(|(_, moved)| moved).filter(|moved| moved.color == color);
        moves
            .filter_map(|moved| {
                let share = own.curve(Evaluation::of_move(moved)?, color).black_share();
                Some((x.at(f64::from(moved.ply)), y.at(share)))
            })
            .collect()
    };
    let (left, _) = x.ends();
    let body = html! {
        (scales(&x, &y, size, if own.are_given() { "ply; up: eval for ☗, common scale" } else { SIDE }))
        @if let Some((name, opinions)) = judge {
            @let played = opinions.iter().filter(|(ply, _)| *ply > 0);
            @let curve: Vec<_> =
                played.map(|(ply, it)| (x.at(f64::from(*ply)), y.at(it.black_share()))).collect();
            g class="s2" {
                (paint::curve(&curve, "curve thin"))
                (paint::text(left + 8.0, 38.0, "named", &super::short(name, 24)))
            }
        }
        g class="ink" { (paint::curve(&points(Color::Black), "curve")) }
        g class="s1" { (paint::curve(&points(Color::White), "curve")) }
        g class="ink" { (paint::text(left + 8.0, 22.0, "named", &format!("☗ {}", super::short(&game.row.black, 24)))) }
        g class="s1" {
            (paint::text(left + 8.0, HEIGHT - 48.0, "named", &format!("☖ {}", super::short(&game.row.white, 24))))
        }
    };
    let [black, white] = [&game.row.black, &game.row.white].map(|name| super::short(name, 36));
    let label = format!("Game {} · ☗ {black} – ☖ {white}", game.row.game.0);
    Plot::new(size, HEIGHT, label, body)
}

/// The evaluations of several engines over the plies of a game, each with the engine's name, on the same scale.
pub fn opinions(title: &str, engines: &[(&str, Vec<(u32, Evaluation)>)], size: Size) -> Plot {
    let last = engines.iter().filter_map(|(_, points)| Some(points.last()?.0)).max().unwrap_or(2);
    let x = Axis::new(0.0, f64::from(last.max(2)), 56.0, size.width() - 12.0);
    let y = Axis::new(0.0, 1.0, HEIGHT - 40.0, 8.0);
    let points = |of: &[(u32, Evaluation)]| -> Vec<(f64, f64)> {
        of.iter().map(|(ply, it)| (x.at(f64::from(*ply)), y.at(it.black_share()))).collect()
    };
    let body = html! {
        (scales(&x, &y, size, SIDE))
        @for (place, (name, own)) in engines.iter().enumerate() {
            g class=(paint::series(place)) {
                (paint::curve(&points(own), "curve"))
                (paint::text(x.ends().0 + 8.0, 22.0 + 16.0 * place as f64, "named", &super::short(name, 24)))
            }
        }
    };
    Plot::new(size, HEIGHT, title, body)
}

/// Whose side evaluations are from.
const SIDE: &str = "ply; up: eval for ☗";

/// Lines at round evaluations, and the plies.
fn scales(x: &Axis, y: &Axis, size: Size, words: &str) -> Markup {
    let (left, right) = x.ends();
    html! {
        @for cp in [-2000, -1000, -300, 0, 300, 1000, 2000] {
            @let at = y.at(Evaluation::Cp(cp).black_share());
            (paint::line((left, at), (right, at), if cp == 0 { "zero" } else { "grid" }))
            (paint::text(left - 8.0, at + 4.0, "quiet end", &super::axis::signed(f64::from(cp))))
        }
        (paint::scale_x(x, y, if size == Size::Wide { 8 } else { 4 }, words))
    }
}
