//! Ratings and the state of a test: computed from the standings, at most once a second.

use contest::standings::{Scale, Standings};
use referee::rating::{CrossTable, fit};
use report::{EventInfo, Report};

/// Values that take too long to compute for every frame.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The report of the event so far.
    pub report: Report,
    /// True if entries have been folded since.
    pub stale: bool,
    computed: Option<i64>,
}

/// Most players for whom Elo is computed here: the work grows with their cube. A league rates larger fields itself.
pub(super) const RATED: usize = 150;

/// Milliseconds between two computations.
const PAUSE: i64 = 1000;

impl Figures {
    /// True if the values should be computed again.
    pub fn is_due(&self, now: i64) -> bool {
        self.stale && self.computed.is_none_or(|computed| now - computed >= PAUSE || now < computed)
    }

    /// Computes the values.
    pub fn of(info: &EventInfo, standings: &Standings, scale: Option<&Scale>, now: i64) -> Self {
        let table = standings.cross_table();
        let ratings = fit(&if table.players() > RATED { CrossTable::default() } else { table });
        let report = Report::figures(info, standings, &ratings, scale, false);
        Self { report, stale: false, computed: Some(now) }
    }
}
