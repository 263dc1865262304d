//! Two players who meet until their Elo is known well enough: what is known, and how the event ended.

use crate::{Language, text::pairs_words};
use contest::{
    stage::{self, Stage},
    standings::{REPEATS, Standings, TestCounts},
};
use referee::{
    precision::{Known, Precision},
    rating::{digits, rounded},
};
use serde::Serialize;

/// How well the Elo of two players is known.
#[derive(Clone, Debug, Serialize)]
pub struct PrecisionReport {
    /// The error in Elo that ends the event.
    pub within: Precision,
    /// The error in Elo that is left, at 95 % at every look; `None` while an end of the interval is missing.
    pub error: Option<f64>,
    /// The first player's Elo against the second with its interval; `None` before the first pair.
    pub known: Option<Known>,
    /// Whole pairs in schedule order when Elo was known well enough; `None` before that.
    pub reached_after: Option<u64>,
    /// True if it ended because its games only repeated earlier ones.
    pub only_repeats: bool,
    /// Counts of the whole pairs of distinct games in schedule order, which the interval is computed from.
    pub in_order: TestCounts,
    /// True if the event was stopped before: it is not over, and no game of it runs.
    pub stopped: bool,
    /// True if all games were played.
    pub complete: bool,
}

impl PrecisionReport {
    pub(crate) fn new(stages: &[Stage], standings: &Standings, complete: bool) -> Option<Self> {
        let within = stage::precision(stages)?;
        let in_order = standings.sequence()?.in_order;
        let known = within.known(in_order.pentanomial);
        let stop = standings.verdict();
        let only_repeats = stop.is_some_and(|stop| stop.verdict == REPEATS);
        let reached_after = stop.filter(|_| !only_repeats).map(|stop| stop.pairs);
        let error = known.and_then(|known| known.error());
        Some(Self { within, error, known, reached_after, only_repeats, in_order, stopped: false, complete })
    }

    /// How the event ended, or how far it is.
    pub(crate) fn state_words(&self, language: Language) -> String {
        let pairs = self.in_order.pairs;
        let error = error_words(self.error);
        match self.reached_after {
            Some(pairs) if self.known.is_some_and(Known::is_far) => language.known_to_be_far(pairs),
            Some(pairs) => language.known_well_enough(&self.within.to_string(), pairs),
            None if self.only_repeats => language.only_repeats_and_known(&error),
            None if self.complete => language.all_played_and_known(&error),
            None if self.stopped => language.stopped_by_hand_and_known(pairs, &error),
            None => language.known_so_far(&error),
        }
    }

    /// Its lines in a text.
    pub(crate) fn text(&self, words: Language) -> String {
        let within = words.until_known(&self.within.to_string()) + words.pick(" at 95 %", "（95 %）");
        let pairs = pairs_words(self.in_order.pentanomial, words);
        format!("{within}\n  {pairs}\n  {}\n", self.state_words(words))
    }
}

/// An error that is left, without its unit; `∞` while an end of the interval is missing.
pub fn error_words(error: Option<f64>) -> String {
    error.map_or_else(|| "±∞".to_owned(), |error| format!("±{}", rounded(error, digits(error).max(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(pairs: [u64; 5]) -> PrecisionReport {
        let within: Precision = "20 elo".parse().unwrap();
        let known = within.known(pairs);
        PrecisionReport {
            within,
            error: known.and_then(|known| known.error()),
            known,
            reached_after: None,
            only_repeats: false,
            in_order: TestCounts { pairs: pairs.iter().sum(), pentanomial: pairs, ..TestCounts::default() },
            stopped: false,
            complete: false,
        }
    }

    #[test]
    fn a_report_says_how_the_event_ended_and_how_well_elo_is_known() {
        let few = report([10, 0, 20, 0, 12]);
        let error = error_words(few.error);
        let words = |report: &PrecisionReport| report.state_words(Language::English);
        assert_eq!(
            words(&few),
            format!("so far Elo is known within {error} (interval corrected for looking)")
        );
        let stopped = PrecisionReport { stopped: true, ..few.clone() };
        assert_eq!(
            words(&stopped),
            format!(
                "stopped by hand after 42 pairs, when Elo was known within {error} (interval corrected for looking)"
            )
        );
        let played = PrecisionReport { complete: true, ..few };
        assert!(words(&played).starts_with("all games were played; Elo is known within ±"));
        let reached =
            PrecisionReport { reached_after: Some(900), complete: true, ..report([220, 0, 470, 0, 214]) };
        assert_eq!(
            reached.text(Language::English),
            "until Elo is known within ±20 at 95 %\n  pairs 904 (0: 220, 1/2: 0, 1: 470, 3/2: 0, 2: 214)\n  stopped when Elo \
             was known within ±20 (interval corrected for looking), after 900 pairs\n"
        );
        assert!(words(&report([0, 0, 0, 0, 3])).contains("±∞"), "all won: there is no upper end");
        let shut_out = PrecisionReport { reached_after: Some(200), ..report([0, 0, 0, 0, 200]) };
        assert!(words(&shut_out).contains("beyond 400 Elo"), "{}", words(&shut_out));
        let repeats = PrecisionReport { only_repeats: true, complete: true, ..report([10, 0, 20, 0, 12]) };
        assert!(words(&repeats).starts_with("the last games repeated earlier ones"), "{}", words(&repeats));
    }
}
