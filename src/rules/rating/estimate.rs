//! A number with its precision.

use serde::Serialize;
use std::fmt;

/// An estimate, on the scale of its field (mostly Elo), with half its 95 % interval.
///
/// In JSON `{"kind": "measured", "value": 12.3, "error": 4.5}`; prints as `+12 +-5`, `~+412 +-350`, `>+183`, `n/a`.
/// The precision of the format is kept: `{:.1}` prints `+12.3 +-4.5`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Default, strum::IntoStaticStr)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Estimate {
    /// The games bound the value on both sides.
    Measured {
        /// The maximum likelihood.
        value: f64,
        /// Half the 95 % interval; none where the sample shows no spread at all, as when every game is drawn.
        error: Option<f64>,
    },
    /// The likelihood has no maximum: the value rests on a weak prior, and grows with more games of the same kind.
    Tentative {
        /// The maximum of likelihood times prior.
        value: f64,
        /// Half the 95 % interval, the prior included.
        error: f64,
    },
    /// Everything was won: only a lower end (97.5 %) is known.
    AtLeast {
        /// The lower end.
        value: f64,
    },
    /// Everything was lost: only an upper end (97.5 %) is known.
    AtMost {
        /// The upper end.
        value: f64,
    },
    /// The games give no information.
    #[default]
    Unknown,
}

impl Estimate {
    /// The point estimate; `None` for one-sided bounds.
    pub fn value(&self) -> Option<f64> {
        match *self {
            Self::Measured { value, .. } | Self::Tentative { value, .. } => Some(value),
            Self::AtLeast { .. } | Self::AtMost { .. } | Self::Unknown => None,
        }
    }

    /// Half the 95 % interval; `None` if unknown.
    pub fn error(&self) -> Option<f64> {
        match *self {
            Self::Measured { error, .. } => error,
            Self::Tentative { error, .. } => Some(error),
            Self::AtLeast { .. } | Self::AtMost { .. } | Self::Unknown => None,
        }
    }

    /// How reliable it is, in a word.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    /// The same with an error that is so many times as large.
    #[must_use]
    pub fn widened(self, times: f64) -> Self {
        match self {
            Self::Measured { value, error } => {
                Self::Measured { value, error: error.map(|error| error * times) }
            }
            Self::Tentative { value, error } => Self::Tentative { value, error: error * times },
            bound => bound,
        }
    }

    /// True if the games alone bound the value on both sides.
    pub fn is_bounded(&self) -> bool {
        matches!(self, Self::Measured { .. })
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(0);
        let text = match *self {
            Self::Measured { value, error: Some(error) } => {
                format!("{} +-{error:.digits$}", signed(value, digits))
            }
            Self::Measured { value, error: None } => format!("{} +-n/a", signed(value, digits)),
            Self::Tentative { value, error } => format!("~{} +-{error:.digits$}", signed(value, digits)),
            Self::AtLeast { value } => format!(">{}", signed(value, digits)),
            Self::AtMost { value } => format!("<{}", signed(value, digits)),
            Self::Unknown => "n/a".to_owned(),
        };
        match f.width() {
            Some(width) => write!(f, "{text:>width$}"),
            None => f.write_str(&text),
        }
    }
}

/// A number with its sign; what rounds to zero is `+0`, never `-0`.
pub fn signed(value: f64, digits: usize) -> String {
    let text = rounded(value, digits);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

/// A number with so many digits after the point; what rounds to zero is `0`, never `-0`.
pub fn rounded(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_prints_what_is_known() {
        let measured = Estimate::Measured { value: 412.25, error: Some(98.04) };
        assert_eq!(measured.to_string(), "+412 +-98");
        assert_eq!(format!("{measured:.1}"), "+412.2 +-98.0");
        assert_eq!(Estimate::Measured { value: -0.2, error: None }.to_string(), "+0 +-n/a");
        assert_eq!(Estimate::Tentative { value: -500.0, error: 700.0 }.to_string(), "~-500 +-700");
        assert_eq!(Estimate::AtLeast { value: 800.0 }.to_string(), ">+800");
        assert_eq!(Estimate::AtMost { value: -800.0 }.to_string(), "<-800");
        assert_eq!(format!("{:6}", Estimate::Unknown), "   n/a");
    }

    #[test]
    fn what_rounds_to_zero_has_no_minus() {
        assert_eq!([-0.4, -0.0, 0.4, -0.6].map(|value| signed(value, 0)), ["+0", "+0", "+0", "-1"]);
        assert_eq!([-0.004, -0.006, 0.1].map(|value| rounded(value, 2)), ["0.00", "-0.01", "0.10"]);
    }

    #[test]
    fn json_names_the_kind_and_holds_no_infinity() {
        let json = serde_json::to_string(&Estimate::Measured { value: 0.0, error: None }).unwrap();
        assert_eq!(json, r#"{"kind":"measured","value":0.0,"error":null}"#);
        assert_eq!(serde_json::to_string(&Estimate::Unknown).unwrap(), r#"{"kind":"unknown"}"#);
    }
}
