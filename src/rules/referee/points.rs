//! Points: what games bring in the tables of an event.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{
    fmt,
    iter::Sum,
    ops::{Add, AddAssign, Mul, Neg, Sub},
};

/// Points with up to three decimals, exact: an event may give 0.4 for a draw. As text and JSON they are a decimal number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Points(i64);

impl Points {
    /// No points.
    pub const ZERO: Self = Self(0);
    /// One point.
    pub const ONE: Self = Self(1000);

    /// So many thousandths of a point.
    pub const fn thousandths(thousandths: i64) -> Self {
        Self(thousandths)
    }

    /// The thousandths of a point.
    pub const fn in_thousandths(self) -> i64 {
        self.0
    }

    /// As a decimal number without needless decimals: `5`, `22.4`.
    pub fn shortest(self) -> String {
        let text = decimals(self.0, 3, 0);
        text.strip_suffix('.').map_or_else(|| text.clone(), str::to_owned)
    }

    /// Points given as a decimal number; `None` with more than three decimals or beyond a million.
    pub fn of(number: f64) -> Option<Self> {
        let thousandths = (number * 1000.0).round();
        let is_exact = number.abs() <= 1e6 && (number * 1000.0 - thousandths).abs() < 1e-6;
        is_exact.then_some(Self(thousandths as i64))
    }
}

impl Add for Points {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Points {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Points {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Points {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Mul<u64> for Points {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(i64::try_from(times).unwrap_or(i64::MAX)))
    }
}

impl Sum for Points {
    fn sum<I: Iterator<Item = Self>>(points: I) -> Self {
        points.fold(Self::ZERO, Add::add)
    }
}

/// With one decimal at least: `5.0`, `22.4`, `0.125`.
impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = decimals(self.0, 3, 1);
        f.pad(&number)
    }
}

/// A whole number of units of which ten to the power of `places` are one, as a decimal number with `least` decimals or more.
pub fn decimals(units: i64, places: u32, least: usize) -> String {
    let one = 10_u64.pow(places);
    let (whole, part) = (units.unsigned_abs() / one, units.unsigned_abs() % one);
    let mut part = format!("{part:0width$}", width = places as usize);
    while part.len() > least && part.ends_with('0') {
        part.pop();
    }
    let sign = if units < 0 { "-" } else { "" };
    format!("{sign}{whole}.{part}")
}

impl Serialize for Points {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0 as f64 / 1000.0)
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        Self::of(number).ok_or_else(|| de::Error::custom(format!("{number} points: three decimals at most")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_exact_decimals_in_text_and_in_json() {
        let draw = Points::of(0.4).unwrap();
        assert_eq!((draw * 56).to_string(), "22.4");
        assert_eq!([draw * 5, draw * 56, -draw].map(Points::shortest), ["2", "22.4", "-0.4"]);
        assert_eq!(
            [Points::ONE * 5, Points::thousandths(125), -draw].map(|p| p.to_string()),
            ["5.0", "0.125", "-0.4"]
        );
        assert_eq!(serde_json::to_string(&[draw, Points::ONE]).unwrap(), "[0.4,1.0]");
        assert_eq!(serde_json::from_str::<Points>("0.6").unwrap(), Points::ONE - draw);
        assert!(serde_json::from_str::<Points>("0.12345").is_err() && Points::of(f64::NAN).is_none());
        assert_eq!(Points::of(0.1).unwrap() * 3, Points::of(0.3).unwrap());
    }

    #[test]
    fn a_number_of_points_has_three_decimals_at_most_and_is_no_more_than_a_million() {
        let of = |number| Points::of(number).map(Points::in_thousandths);
        assert_eq!(
            [1e6, -1e6, 0.001, 0.125].map(of),
            [Some(1_000_000_000), Some(-1_000_000_000), Some(1), Some(125)]
        );
        assert_eq!([1_000_000.001, 0.000_1, 0.123_4, f64::INFINITY].map(of), [None; 4]);
        let [half, one] = [Points::thousandths(500), Points::ONE];
        assert_eq!(
            (half + one, one - half, [half, one].into_iter().sum()),
            (Points(1500), half, Points(1500))
        );
        let mut sum = half;
        sum += one;
        assert_eq!(
            (sum, half.shortest(), Points::ZERO.shortest()),
            (Points(1500), "0.5".to_owned(), "0".to_owned())
        );
        assert_eq!((decimals(-1_250_000, 6, 2), decimals(7, 0, 0)), ("-1.25".to_owned(), "7.".to_owned()));
    }
}
