//! When a test of two players ends before its last game.

use contest::{
    stage,
    standings::{REPEATS, Standings},
};
use plan::Plan;
use referee::{
    entry::Entry,
    rating::{Pentanomial, precision::Precision},
    sprt::{Sprt, SprtError},
};

/// The rule by which a sequential test, or one that ends at a precision, has a verdict.
pub(super) struct VerdictRule {
    test: Option<Sprt>,
    precision: Option<Precision>,
    heeds_faults: bool,
}

impl VerdictRule {
    /// The rule of a plan; without a test there is never a verdict.
    pub fn of(plan: &Plan) -> Result<Self, SprtError> {
        let test = plan.sprt.map(|sprt| sprt.test()).transpose()?;
        let (precision, heeds_faults) = (stage::precision(&plan.stages), plan.fault_limit.is_some());
        Ok(Self { test, precision, heeds_faults })
    }

    /// The verdict, if it is reached now: evaluated after each pair in schedule order.
    pub fn reached(&self, standings: &Standings) -> Option<Entry> {
        // A halted test has no verdict, whatever the games end with that are still running.
        if standings.verdict().is_some() || !standings.halts().is_empty() {
            return None;
        }
        let decided = standings.due().iter().find_map(|counts| {
            let (verdict, llr) = match &self.test {
                Some(test) => test.verdict_on(counts, self.heeds_faults)?,
                None => (self.precision?.verdict_on(counts)?, 0.0),
            };
            Some(Entry::Verdict { verdict: verdict.to_owned(), llr, pairs: counts.pairs })
        });
        decided.or_else(|| self.exhausted(standings))
    }

    /// The end of a test whose games only repeat earlier ones: it would go on to its last game without a verdict.
    fn exhausted(&self, standings: &Standings) -> Option<Entry> {
        let counts = standings.sequence().filter(|_| standings.only_repeats())?.in_order;
        let llr = self.test.and_then(|test| test.llr(&Pentanomial(counts.pentanomial).into()).ok());
        let (verdict, llr) = (REPEATS.to_owned(), llr.unwrap_or_default());
        Some(Entry::Verdict { verdict, llr, pairs: counts.pairs })
    }
}
