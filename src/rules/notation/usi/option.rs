//! `option` declarations and validation of values.

use std::fmt;

use thiserror::Error;

use super::words::Words;

/// The word that stands for an empty string in USI.
const EMPTY: &str = "<empty>";

/// A declared option; names and values may contain blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionDecl {
    /// The option's name.
    pub name: String,
    /// Its type, with default and bounds.
    pub kind: OptionKind,
}

/// The type of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Check {
        /// Default of the engine.
        default: bool,
    },
    /// A whole number.
    Spin {
        /// Default of the engine.
        default: i64,
        /// Smallest value allowed, if declared.
        min: Option<i64>,
        /// Greatest value allowed, if declared.
        max: Option<i64>,
    },
    /// One of several words.
    Combo {
        /// Default of the engine.
        default: String,
        /// The words to choose from.
        choices: Vec<String>,
    },
    /// An action without a value.
    Button,
    /// Free text.
    String {
        /// Default of the engine.
        default: String,
    },
    /// The path of a file.
    Filename {
        /// Default of the engine.
        default: String,
    },
}

/// A value that does not fit an option.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("option `{name}` {reason}")]
pub struct OptionFault {
    /// The option.
    pub name: String,
    /// The reason, such as `is between 1 and 9, not 10`.
    pub reason: String,
}

/// The candidate most similar to a word, ignoring case; `None` if none is similar.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

impl OptionDecl {
    /// Checks a value for this option; a button's value is empty.
    ///
    /// # Errors
    /// The fault; for a combo, with the nearest word on offer.
    pub fn check(&self, value: &str) -> Result<(), OptionFault> {
        let reason = match &self.kind {
            OptionKind::Check { .. } if value != "true" && value != "false" => {
                format!("is `true` or `false`, not `{value}`")
            }
            OptionKind::Spin { min, max, .. } => {
                let (min, max) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
                match value.parse::<i64>() {
                    Err(_) => format!("is a whole number, not `{value}`"),
                    Ok(value) if !(min..=max).contains(&value) => {
                        format!("is between {min} and {max}, not {value}")
                    }
                    Ok(_) => return Ok(()),
                }
            }
            OptionKind::Combo { choices, .. } if !choices.iter().any(|choice| choice == value) => {
                let nearest = nearest(value, choices.iter().map(String::as_str));
                let hint = nearest.map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
                format!("does not offer `{value}`{hint}")
            }
            OptionKind::Button if !value.is_empty() => {
                format!("is a button and takes no value, not `{value}`")
            }
            _ => return Ok(()),
        };
        Err(OptionFault { name: self.name.clone(), reason })
    }

    /// Reads a declaration after the word `option`.
    pub(super) fn of(mut words: Words) -> Option<Self> {
        if words.next()? != "name" {
            return None;
        }
        let (name, kind, rest) = split_name(words.rest())?;
        let kind = match kind {
            "check" => OptionKind::Check { default: default_of(rest) == "true" },
            "button" => OptionKind::Button,
            "string" => OptionKind::String { default: text_default(rest) },
            "filename" => OptionKind::Filename { default: text_default(rest) },
            "spin" => spin(rest)?,
            _ => combo(rest),
        };
        Some(Self { name: name.to_owned(), kind })
    }
}

/// Splits `NAME type KIND REST`. A name may contain the word `type`, so a known kind must follow.
fn split_name(text: &str) -> Option<(&str, &str, &str)> {
    const KINDS: [&str; 6] = ["check", "spin", "combo", "button", "string", "filename"];
    text.match_indices("type ").filter(|(at, _)| text[..*at].ends_with(' ')).find_map(|(at, mark)| {
        let mut words = Words(&text[at + mark.len()..]);
        let kind = words.next().filter(|kind| KINDS.contains(kind))?;
        let name = text[..at].trim();
        (!name.is_empty()).then(|| (name, kind, words.rest()))
    })
}

fn text_default(rest: &str) -> String {
    unquoted(default_of(rest))
}

/// The text after the word `default`; empty when another word or none follows the type.
fn default_of(rest: &str) -> &str {
    let mut words = Words(rest);
    if words.next() == Some("default") { words.rest().trim() } else { "" }
}

fn unquoted(value: &str) -> String {
    if value == EMPTY { String::new() } else { value.to_owned() }
}

fn spin(rest: &str) -> Option<OptionKind> {
    let (mut default, mut min, mut max) = (None, None, None);
    for (key, value) in attributes(rest) {
        let number = Some(value.parse::<i64>().ok()?);
        match key {
            "default" => default = number,
            "min" => min = number,
            "max" => max = number,
            _ => {}
        }
    }
    Some(OptionKind::Spin { default: default.or(min).unwrap_or(0), min, max })
}

fn combo(rest: &str) -> OptionKind {
    let (mut default, mut choices) = (String::new(), Vec::new());
    for (key, value) in attributes(rest) {
        match key {
            "default" => default = unquoted(&value),
            "var" => choices.push(unquoted(&value)),
            _ => {}
        }
    }
    OptionKind::Combo { default, choices }
}

/// Splits `default A B var C D`. A value extends to the next key and has at least one word, so that a choice may be
/// called `default`.
fn attributes(rest: &str) -> Vec<(&str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut words = Words(rest);
    while let Some(word) = words.next() {
        let is_key = matches!(word, "default" | "min" | "max" | "var");
        match found.last_mut() {
            Some((key, value)) if value.is_empty() && !(is_key && *key == "default" && word != "default") => {
                value.push_str(word);
            }
            Some((_, value)) if !is_key => {
                value.push(' ');
                value.push_str(word);
            }
            _ if is_key => found.push((word, String::new())),
            _ => {}
        }
    }
    found
}

impl fmt::Display for OptionDecl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option name {} type ", self.name)?;
        match &self.kind {
            OptionKind::Check { default } => write!(f, "check default {default}"),
            OptionKind::Spin { default, min, max } => {
                write!(f, "spin default {default}")?;
                min.map_or(Ok(()), |min| write!(f, " min {min}"))?;
                max.map_or(Ok(()), |max| write!(f, " max {max}"))
            }
            OptionKind::Combo { default, choices } => {
                write!(f, "combo default {}", quoted(default))?;
                choices.iter().try_for_each(|choice| write!(f, " var {}", quoted(choice)))
            }
            OptionKind::Button => f.write_str("button"),
            OptionKind::String { default } => write!(f, "string default {}", quoted(default)),
            OptionKind::Filename { default } => write!(f, "filename default {}", quoted(default)),
        }
    }
}

fn quoted(value: &str) -> &str {
    if value.is_empty() { EMPTY } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usi::EngineLine;

    fn read(line: &str) -> OptionDecl {
        match EngineLine::parse(line.as_bytes()) {
            EngineLine::Option(option) => option,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn every_kind_of_declaration_survives_a_round_trip() {
        for line in [
            "option name USI_Ponder type check default false",
            "option name Skill Level type spin default 20 min -20 max 20",
            "option name Protocol type combo default usi var uci var usi var ucci var xboard",
            "option name Search type type combo default deep and slow var deep and slow var fast",
            "option name Style type combo default default var default var risky",
            "option name Clear Hash type button",
            "option name Debug Log File type string default <empty>",
            "option name BookDir type string default C:/my books/type var default",
            "option name EvalFile type filename default nn.bin",
        ] {
            assert_eq!(read(line).to_string(), line);
        }
    }

    #[test]
    fn an_empty_default_may_be_a_trailing_blank_or_a_word() {
        let empty = OptionKind::String { default: String::new() };
        assert_eq!(read("option name Debug Log File type string default ").kind, empty);
        assert_eq!(read("option name Debug Log File type string default <empty>").kind, empty);
        assert_eq!(read("option name Debug Log File type string").kind, empty);
        let combo = read("option name Book type combo default var a b var c");
        assert_eq!(
            combo.kind,
            OptionKind::Combo { default: String::new(), choices: vec!["a b".into(), "c".into()] }
        );
    }

    #[test]
    fn a_broken_declaration_is_an_unknown_line() {
        for line in
            ["option", "option name X", "option name X type lever", "option name Y type spin default soft"]
        {
            assert_eq!(EngineLine::parse(line.as_bytes()), EngineLine::Unknown(line.into()));
        }
    }

    #[test]
    fn a_spin_takes_whole_numbers_in_its_range() {
        let threads = read("option name Threads type spin default 1 min 1 max 512");
        assert_eq!(threads.check("512"), Ok(()));
        assert_eq!(
            threads.check("0").unwrap_err().to_string(),
            "option `Threads` is between 1 and 512, not 0"
        );
        assert_eq!(
            threads.check("two").unwrap_err().to_string(),
            "option `Threads` is a whole number, not `two`"
        );
    }

    #[test]
    fn a_combo_names_the_nearest_word_it_offers() {
        let rule = read(
            "option name EnteringKingRule type combo default CSARule27 var CSARule24 var CSARule27 var TryRule",
        );
        assert_eq!(rule.check("TryRule"), Ok(()));
        assert_eq!(
            rule.check("tryrul").unwrap_err().to_string(),
            "option `EnteringKingRule` does not offer `tryrul`; did you mean `TryRule`?"
        );
        assert_eq!(rule.check("%").unwrap_err().to_string(), "option `EnteringKingRule` does not offer `%`");
    }

    #[test]
    fn a_check_is_true_or_false_and_a_button_has_no_value() {
        let ponder = read("option name USI_Ponder type check default true");
        assert_eq!((ponder.check("false"), ponder.check("yes").is_err()), (Ok(()), true));
        let clear = read("option name Clear Hash type button");
        assert_eq!((clear.check(""), clear.check("1").is_err()), (Ok(()), true));
    }
}
