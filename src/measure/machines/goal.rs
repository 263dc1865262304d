//! The table at the end: each goal beside its figure.

use crate::table::table;

/// A goal, and what was measured of it.
#[derive(Clone, Debug)]
pub struct Goal {
    /// The goal.
    pub what: String,
    /// The measurement.
    pub figure: String,
    /// The verdict; `None` without a goal or a measurement.
    pub holds: Option<bool>,
}

impl Goal {
    /// A goal that was measured.
    pub fn measured(what: &str, figure: String, holds: bool) -> Self {
        Self { what: what.to_owned(), figure, holds: Some(holds) }
    }

    /// A figure for which nothing is wanted, or why there is none.
    pub fn plain(what: &str, figure: String) -> Self {
        Self { what: what.to_owned(), figure, holds: None }
    }
}

/// The table of goals; figures stand to the left of what they are judged by, so that a line can be read alone.
pub fn goals(goals: &[Goal]) -> String {
    let row = |goal: &Goal| {
        let verdict = match goal.holds {
            Some(true) => "holds",
            Some(false) => "missed",
            None => "-",
        };
        vec![goal.what.clone(), goal.figure.clone(), verdict.to_owned()]
    };
    table(&["goal", "figure", ""], &goals.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_that_is_missed_says_so_beside_its_figure() {
        let rows = [
            Goal::measured("lost games: 0", "0 of 400".to_owned(), true),
            Goal::measured("2000 results/s", "1200".to_owned(), false),
            Goal::plain("partition", "not run".to_owned()),
        ];
        let message = goals(&rows);
        let ends: Vec<&str> = message.lines().skip(1).filter_map(|line| line.split("  ").last()).collect();
        assert_eq!(ends.iter().map(|end| end.trim()).collect::<Vec<_>>(), ["holds", "missed", "-"]);
    }
}
