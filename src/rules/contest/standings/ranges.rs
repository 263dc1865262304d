//! Sets of schedule indices.

use std::{collections::BTreeMap, ops::Range};

/// A set of schedule indices, kept as ranges. Games end nearly in order, so a million indices need a few ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    /// Start (inclusive) to end (exclusive); no two touch.
    ends: BTreeMap<u64, u64>,
    len: u64,
}

impl Ranges {
    /// Number of indices in the set.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if the set has no index.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True if `index` is in the set.
    pub fn contains(&self, index: u64) -> bool {
        self.around(index).is_some()
    }

    /// The first index from `from` on that is not in the set.
    pub fn first_absent(&self, from: u64) -> u64 {
        self.around(from).map_or(from, |range| range.end)
    }

    /// The ranges, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ends.iter().map(|(&start, &end)| start..end)
    }

    /// True if every index of this set is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|range| other.first_absent(range.start) >= range.end)
    }

    /// Adds `index`; false if it was in the set.
    pub fn insert(&mut self, index: u64) -> bool {
        if index == u64::MAX || self.contains(index) {
            return false;
        }
        let mut range = index..index + 1;
        if let Some(before) = index.checked_sub(1).and_then(|before| self.around(before)) {
            range.start = before.start;
        }
        if let Some(end) = self.ends.remove(&range.end) {
            range.end = end;
        }
        self.ends.insert(range.start, range.end);
        self.len += 1;
        true
    }

    /// Removes `index`; false if it was not in the set.
    pub fn remove(&mut self, index: u64) -> bool {
        let Some(range) = self.around(index) else { return false };
        self.ends.remove(&range.start);
        if range.start < index {
            self.ends.insert(range.start, index);
        }
        if index + 1 < range.end {
            self.ends.insert(index + 1, range.end);
        }
        self.len -= 1;
        true
    }

    fn around(&self, index: u64) -> Option<Range<u64>> {
        let (&start, &end) = self.ends.range(..=index).next_back()?;
        (index < end).then_some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_hold_what_a_plain_set_holds(steps in prop::collection::vec((any::<bool>(), 0..40_u64), 0..200)) {
            let (mut ranges, mut plain) = (Ranges::default(), BTreeSet::new());
            for (add, index) in steps {
                if add {
                    prop_assert_eq!(ranges.insert(index), plain.insert(index));
                } else {
                    prop_assert_eq!(ranges.remove(index), plain.remove(&index));
                }
            }
            prop_assert_eq!(ranges.iter().flatten().collect::<Vec<_>>(), plain.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(ranges.len(), plain.len() as u64);
            for from in 0..41 {
                let absent = (from..).find(|index| !plain.contains(index)).unwrap();
                prop_assert_eq!(ranges.first_absent(from), absent);
            }
        }
    }

    #[test]
    fn indices_that_come_nearly_in_order_are_one_range() {
        let mut ranges = Ranges::default();
        (0..1000_u64).map(|index| index ^ 7).for_each(|index| assert!(ranges.insert(index)));
        assert_eq!((ranges.iter().count(), ranges.first_absent(0)), (1, 1000));
    }
}
