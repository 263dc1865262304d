//! Values of arguments that several commands have.

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser},
};
use notation::record::Format;
use std::{
    num::{NonZeroUsize, ParseIntError},
    str::FromStr,
};

/// A parser for a word of a list, with a line of help for each.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let values = words.iter().map(|(name, _, about)| PossibleValue::new(*name).help(*about));
    PossibleValuesParser::new(values).try_map(|word| {
        let found = words.iter().find(|(name, ..)| *name == word);
        found.map(|(_, value, _)| *value).ok_or("not one of the listed values")
    })
}

/// Record formats for export.
pub const RECORD_FORMATS: [(&str, Format, &str); 10] = [
    ("csa", Format::Csa, "CSA 2.2"),
    ("csa3", Format::Csa3, "CSA 3.0"),
    ("kif", Format::Kif, "KIF in Shift_JIS"),
    ("kifu", Format::Kifu, "KIF in UTF-8"),
    ("ki2", Format::Ki2, "KI2 in Shift_JIS"),
    ("ki2u", Format::Ki2u, "KI2 in UTF-8"),
    ("jkf", Format::Jkf, "JSON kifu format"),
    ("usi", Format::Usi, "USI position lines, one game per line"),
    ("psv", Format::Psv, "Packed positions with scores (YaneuraOu)"),
    ("hcpe", Format::Hcpe, "Packed positions with scores (Apery, dlshogi)"),
];

/// The formats of records that have comments, at the head of the list of all.
pub const COMMENTED: usize = 7;

/// Parses a whole number of at least 1.
pub fn at_least_one<T: FromStr<Err = ParseIntError> + From<u8> + PartialOrd>(
    text: &str,
) -> Result<T, String> {
    let number: T = text.parse().map_err(|error: ParseIntError| error.to_string())?;
    if number < T::from(1) { Err("it must be at least 1".to_owned()) } else { Ok(number) }
}

/// Parses a number between two bounds.
pub fn from_to<const MIN: i32, const MAX: i32>(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    let within = (f64::from(MIN)..=f64::from(MAX)).contains(&number);
    if within { Ok(number) } else { Err(format!("it must be from {MIN} to {MAX}")) }
}

/// Parses a percentage.
pub fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a number from 0 to 100".to_owned()),
    }
}

/// Parses the names of two players.
pub fn two_names(text: &str) -> Result<(String, String), String> {
    let (one, other) = text.split_once(',').ok_or("two names are separated by a comma: `new,old`")?;
    Ok((one.to_owned(), other.to_owned()))
}

/// How much is searched, and on how many cores.
#[derive(Clone, Debug, Args)]
pub struct EffortArgs {
    /// Searches that run at once, each with an engine of its own [default: the cores of this machine].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Most seconds for one search; an engine that needs more is started again once, and then has failed. An engine that
    /// takes longer to answer `usi` or `isready` has failed at once.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = RangedU64ValueParser::<u64>::new().range(1..=86_400))]
    pub patience: u64,
}
