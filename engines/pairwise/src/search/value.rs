//! Search values: centipawns for the side to move; wins and losses lie beyond the evaluation's range.

use usi_shell::Score;

/// Maximum depth of a line, in plies from the root.
pub const MAX_PLY: usize = 127;

/// Greater than every value.
pub const INFINITE: i32 = 32_001;

/// Value of a delivered mate; one less per ply from the root.
pub const MATE: i32 = 32_000;

/// Value of a win by declaration or by the opponent's perpetual check; one less per ply from the root. It lies
/// below every mate, because it may depend on the number of repetitions and a mate does not.
pub const RULE: i32 = 31_000;

/// Upper bound of evaluations.
pub const EVALUATION_LIMIT: i32 = 30_000;

/// Smallest mate value.
const MATES_FROM: i32 = MATE - MAX_PLY as i32 - 1;

/// Smallest winning value.
const WINS_FROM: i32 = RULE - MAX_PLY as i32 - 1;

/// The value for the side that is mated `ply` plies from the root.
pub const fn mated_in(ply: usize) -> i32 {
    ply as i32 - MATE
}

/// The value for the side that mates `ply` plies from the root.
pub const fn mate_in(ply: usize) -> i32 {
    MATE - ply as i32
}

/// The value for the side that wins by a rule `ply` plies from the root.
pub const fn rule_win_in(ply: usize) -> i32 {
    RULE - ply as i32
}

/// True if `value` is a proven win or loss.
pub const fn is_decided(value: i32) -> bool {
    value.abs() >= WINS_FROM
}

/// True if `value` is a proven loss.
pub const fn is_loss(value: i32) -> bool {
    value <= -WINS_FROM
}

/// A value as stored in the transposition table: wins are counted from the node instead of the root.
pub const fn to_table(value: i32, ply: usize) -> i32 {
    if value >= WINS_FROM {
        value + ply as i32
    } else if value <= -WINS_FROM {
        value - ply as i32
    } else {
        value
    }
}

/// The inverse of [`to_table`].
pub const fn from_table(value: i32, ply: usize) -> i32 {
    if value >= WINS_FROM {
        value - ply as i32
    } else if value <= -WINS_FROM {
        value + ply as i32
    } else {
        value
    }
}

/// The value as a USI score.
pub const fn to_score(value: i32) -> Score {
    if value >= MATES_FROM {
        Score::Mate(MATE - value)
    } else if value <= -MATES_FROM {
        Score::Mate(-(MATE + value))
    } else {
        Score::Cp(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mate_is_reported_in_plies_and_a_rule_win_in_centipawns() {
        assert_eq!(to_score(mate_in(3)), Score::Mate(3));
        assert_eq!(to_score(mated_in(4)), Score::Mate(-4));
        assert_eq!(to_score(rule_win_in(0)), Score::Cp(31_000));
        assert_eq!(to_score(-55), Score::Cp(-55));
    }

    #[test]
    fn a_win_counts_from_the_position_in_the_table_and_from_the_root_in_the_tree() {
        for value in [mate_in(9), mated_in(9), rule_win_in(9), -rule_win_in(9), 1234, -7] {
            assert_eq!(from_table(to_table(value, 5), 5), value);
        }
        assert_eq!(from_table(to_table(mate_in(9), 5), 2), mate_in(6));
        assert_eq!(to_table(77, 5), 77);
    }

    #[test]
    fn wins_lie_beyond_every_evaluation() {
        assert!(is_decided(rule_win_in(MAX_PLY)) && is_decided(mated_in(MAX_PLY)));
        assert!(!is_decided(EVALUATION_LIMIT) && !is_loss(-EVALUATION_LIMIT));
        assert!(is_loss(mated_in(0)) && !is_loss(mate_in(0)));
        assert!(mate_in(MAX_PLY) > rule_win_in(0));
    }
}
