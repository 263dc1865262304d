//! Results by opening.

use super::State;
use contest::standings::Wdl;
use std::collections::BTreeMap;

/// Results of black by the number of the opening, the most uneven ones first.
pub fn by_opening(state: &State) -> Vec<(u64, Wdl)> {
    let mut by_opening: BTreeMap<u64, Wdl> = BTreeMap::new();
    for played in state.played.iter().filter(|played| !played.replayed) {
        let Some(half_points) = played.outcome.black_half_points() else { continue };
        let wdl = by_opening.entry(played.pairing.opening).or_default();
        match half_points {
            0 => wdl.losses += 1,
            1 => wdl.draws += 1,
            _ => wdl.wins += 1,
        }
    }
    let mut rows: Vec<(u64, Wdl)> = by_opening.into_iter().collect();
    rows.sort_by_key(|(opening, wdl)| (std::cmp::Reverse(wdl.wins.abs_diff(wdl.losses)), *opening));
    rows
}
