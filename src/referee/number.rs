//! Numbers of things in words.

use std::fmt::Display;

/// A number of things: `1 game`, `2 games`. The plural of the noun ends in `s`.
#[must_use]
pub fn number<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let end = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular_and_any_other_number_plural() {
        assert_eq!([0_u64, 1, 2].map(|count| number(count, "game")), ["0 games", "1 game", "2 games"]);
    }
}
