//! Numbers of things in words.

use std::fmt::Display;

/// A number of things: `1 game`, `2 games`. The plural of the noun ends in `s`.
pub fn number<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    format!("{count} {}", noun_for(&count, noun))
}

/// The noun for a number of things: `game`, `games`.
pub fn noun_for<N: PartialEq + From<u8>>(count: &N, noun: &str) -> String {
    let end = if *count == N::from(1) { "" } else { "s" };
    format!("{noun}{end}")
}

/// A number of plies: `1 ply`, `2 plies`.
pub fn plies<N: Display + PartialEq + From<u8>>(count: N) -> String {
    if count == N::from(1) { format!("{count} ply") } else { format!("{count} plies") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular_and_any_other_number_plural() {
        assert_eq!([0_u64, 1, 2].map(|count| number(count, "game")), ["0 games", "1 game", "2 games"]);
        assert_eq!([1_u32, 2].map(plies), ["1 ply", "2 plies"]);
        assert_eq!(noun_for(&1_usize, "pair"), "pair");
    }
}
