//! Which tests of a queue are played now.

/// A test that has games to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its number; earlier tests have lower ones.
    pub number: u64,
    /// Its priority.
    pub priority: i64,
}

/// The tests to play now: of those with the highest priority the first ones, `at_once` at most. Tests of a lower priority
/// wait until none of a higher one waits, so that a share is only ever divided among equals.
pub fn chosen(tests: &[Candidate], at_once: usize) -> Vec<u64> {
    let Some(highest) = tests.iter().map(|test| test.priority).max() else { return vec![] };
    let mut first: Vec<u64> =
        tests.iter().filter(|test| test.priority == highest).map(|test| test.number).collect();
    first.sort_unstable();
    first.truncate(at_once);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(priorities: &[i64]) -> Vec<Candidate> {
        (1..).zip(priorities).map(|(number, &priority)| Candidate { number, priority }).collect()
    }

    #[test]
    fn the_highest_priority_comes_first_and_then_the_order_of_their_addition() {
        assert_eq!(chosen(&tests(&[0, 5, -1, 5]), 1), [2]);
        assert_eq!(chosen(&tests(&[0, 5, -1, 5]), 4), [2, 4]);
        assert_eq!(chosen(&tests(&[0, 0, 0]), 2), [1, 2]);
        assert_eq!(chosen(&[], 3), [0; 0]);
    }
}
