//! A clock in words.

use crate::{
    state::{Clock, Game},
    text,
    theme::Role,
};
use referee::Color;

/// Below this a clock is nearly empty, in ms.
const LOW: u64 = 10_000;

/// The clock of a side after `ply` plies, with its role.
#[must_use]
pub fn words(game: &Game, color: Color, ply: usize, now: i64) -> (String, Role) {
    let Some(Clock { main, byoyomi, running }) = game.clock(color, ply, now) else {
        return (text::clock(game.used(color, ply)) + " used", Role::Quiet);
    };
    let words = match (main, byoyomi) {
        (0, byoyomi) => format!("{} byoyomi", text::clock(byoyomi)),
        (main, 0) => text::clock(main),
        (main, byoyomi) => format!("{} + {}", text::clock(main), text::clock(byoyomi)),
    };
    let role = match running {
        true if main + byoyomi < LOW => Role::Low,
        true => Role::Mover,
        false => Role::Plain,
    };
    (words, role)
}

/// The clock in few columns.
#[must_use]
pub fn short(game: &Game, color: Color, ply: usize, now: i64) -> String {
    match game.clock(color, ply, now) {
        Some(Clock { main: 0, byoyomi, .. }) => text::clock(byoyomi),
        Some(Clock { main, .. }) => text::clock(main),
        None => "-".to_owned(),
    }
}
