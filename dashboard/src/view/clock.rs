//! A clock in words.

use crate::{
    state::{Game, State},
    text,
    theme::Role,
};
use referee::{Color, running::ShownClock};
use std::time::Duration;

/// Below this a clock is nearly empty.
const LOW: Duration = Duration::from_secs(10);

/// The clock of a side after `ply` plies, with its role.
pub fn words(game: &Game, color: Color, ply: usize, state: &State) -> (String, Role) {
    let Some(ShownClock { main, byoyomi, running }) = game.clock(color, ply, state.now) else {
        return (state.language.time_used(&text::clock(game.used(color, ply))), Role::Quiet);
    };
    let words = match (main, byoyomi) {
        (Duration::ZERO, byoyomi) => state.language.in_byoyomi(&text::clock(byoyomi)),
        (main, Duration::ZERO) => text::clock(main),
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
pub fn short(game: &Game, color: Color, ply: usize, now: i64) -> String {
    match game.clock(color, ply, now) {
        Some(ShownClock { main: Duration::ZERO, byoyomi, .. }) => text::clock(byoyomi),
        Some(ShownClock { main, .. }) => text::clock(main),
        None => "-".to_owned(),
    }
}
