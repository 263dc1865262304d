//! The limit of faults: the table `fault_limit` of `[event]`, and its short form, which is that of the command line too.

use crate::{
    keys::{FAULT_LIMIT, Key, Kind},
    reader::{IntegerOr, Table},
};
use contest::fault_limit::FaultLimit;
use toml::de::DeValue;

/// Reads the key `fault_limit` of `[event]`; `None`: faults halt nobody.
pub fn read(event: &Table<'_>) -> Option<FaultLimit> {
    let Some(item) = event.item("fault_limit") else { return Some(FaultLimit::default()) };
    if matches!(item.value, DeValue::String(_)) {
        let text = item.text("a text")?;
        return parse(text).map_err(|error| item.fault(error)).ok()?;
    }
    if !matches!(item.value, DeValue::Table(_)) {
        return item.wrong("a table, or \"off\"");
    }
    let table = event.table("fault_limit", &FAULT_LIMIT);
    let default = FaultLimit::default();
    let limit = FaultLimit {
        in_a_row: match table.integer_or("in_a_row") {
            Some(IntegerOr::Integer(faults)) => Some(faults),
            Some(IntegerOr::Word) => None,
            None => default.in_a_row,
        },
        share: table.number("share").or(default.share),
        games: table.integer("games").unwrap_or(default.games),
    };
    table.refuse_unknown();
    Some(limit)
}

/// Why a text is no limit of faults.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FaultLimitFault {
    /// Another form.
    #[error(
        "`{0}` is no limit of faults: write `off`, a number of faults in a row, or such as `in_a_row=10,share=0.2,games=50`"
    )]
    Form(String),
    /// A key that takes whole numbers.
    #[error("{0} must be a whole number from {1} to {2}")]
    Whole(&'static str, f64, f64),
    /// A key that takes other numbers.
    #[error("{0} must be from {1} to {2}")]
    Range(&'static str, f64, f64),
}

/// The short form: `off`, a number of faults in a row, or keys of the table as `in_a_row=10,share=0.2`.
///
/// # Errors
/// When the text is none of them, or a value is out of the range of its key.
pub fn parse(text: &str) -> Result<Option<FaultLimit>, FaultLimitFault> {
    if text == "off" {
        return Ok(None);
    }
    let mut limit = FaultLimit::default();
    for word in text.split(',') {
        let (name, value) = word.split_once('=').unwrap_or(("in_a_row", word));
        let key = FAULT_LIMIT.key(name.trim()).ok_or_else(|| unknown(text))?;
        let value = value.trim();
        match key.name {
            "in_a_row" if value == "off" => limit.in_a_row = None,
            "in_a_row" => limit.in_a_row = Some(number(key, value, text)? as u64),
            "share" => limit.share = Some(number(key, value, text)?),
            _ => limit.games = number(key, value, text)? as u64,
        }
    }
    Ok(Some(limit))
}

/// A number in the range of its key.
fn number(key: &Key, value: &str, text: &str) -> Result<f64, FaultLimitFault> {
    let (least, most, whole) = match key.kind {
        Kind::Integer(least, most) | Kind::IntegerOr(least, most, _) => (least as f64, most as f64, true),
        Kind::Number(least, most) => (least, most, false),
        _ => return Err(unknown(text)),
    };
    let number: f64 = value.parse().map_err(|_| unknown(text))?;
    match (least..=most).contains(&number) && (!whole || number.fract() == 0.0) {
        true => Ok(number),
        false if whole => Err(FaultLimitFault::Whole(key.name, least, most)),
        false => Err(FaultLimitFault::Range(key.name, least, most)),
    }
}

fn unknown(text: &str) -> FaultLimitFault {
    FaultLimitFault::Form(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_form_is_a_word_a_number_or_keys() {
        let default = FaultLimit::default();
        assert_eq!(parse("off"), Ok(None));
        assert_eq!(parse("10"), Ok(Some(FaultLimit { in_a_row: Some(10), ..default })));
        let long = FaultLimit { in_a_row: None, share: Some(0.25), games: 50 };
        assert_eq!(parse("in_a_row=off, share=0.25, games=50"), Ok(Some(long)));
        for wrong in ["", "0", "2.5", "share=2", "shre=0.1", "on", "share=x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
