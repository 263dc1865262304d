//! Options declared by an engine, and their values.

use std::fmt::{self, Display};
use std::ops::RangeInclusive;

use rsshogi::types::EnteringKingRule;

/// Option declared by the shell for every engine: milliseconds of each move lost between engine and clock.
pub const NETWORK_DELAY: &str = "NetworkDelay";

/// Option declared by the shell for every engine: how it divides its time, a [`TimePolicy`](crate::TimePolicy) as text.
pub const TIME_POLICY: &str = "TimePolicy";

/// Option declared by [`OptionSpec::entering_king_rule`].
pub const ENTERING_KING_RULE: &str = "EnteringKingRule";

/// One declaration: `option name NAME type ...`. Names may contain spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionSpec {
    name: String,
    kind: OptionKind,
}

/// Type, default and range of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Check(bool),
    /// A whole number within a range.
    Spin {
        /// Value before any `setoption`.
        default: i64,
        /// Smallest and largest value allowed.
        range: RangeInclusive<i64>,
    },
    /// One of a list of words.
    Combo {
        /// Value before any `setoption`.
        default: String,
        /// The words allowed.
        choices: Vec<String>,
    },
    /// An action without a value; calls [`Engine::set_option`](crate::Engine::set_option).
    Button,
    /// Free text.
    String(String),
    /// A path.
    Filename(String),
}

impl OptionSpec {
    fn new(name: &str, kind: OptionKind) -> Self {
        Self { name: name.to_owned(), kind }
    }

    /// Declares a boolean option.
    pub fn check(name: &str, default: bool) -> Self {
        Self::new(name, OptionKind::Check(default))
    }

    /// Declares an integer option.
    pub fn spin(name: &str, default: i64, range: RangeInclusive<i64>) -> Self {
        Self::new(name, OptionKind::Spin { default, range })
    }

    /// Declares a choice between words.
    pub fn combo(name: &str, default: &str, choices: &[&str]) -> Self {
        let choices = choices.iter().map(|&choice| choice.to_owned()).collect();
        Self::new(name, OptionKind::Combo { default: default.to_owned(), choices })
    }

    /// Declares an action.
    pub fn button(name: &str) -> Self {
        Self::new(name, OptionKind::Button)
    }

    /// Declares a text option; `""` is sent as `<empty>`.
    pub fn string(name: &str, default: &str) -> Self {
        Self::new(name, OptionKind::String(default.to_owned()))
    }

    /// Declares a path option; `""` is sent as `<empty>`.
    pub fn filename(name: &str, default: &str) -> Self {
        Self::new(name, OptionKind::Filename(default.to_owned()))
    }

    /// Declares `EnteringKingRule` with YaneuraOu's values, which managers know. Its value is read with
    /// [`Options::entering_king_rule`].
    pub fn entering_king_rule() -> Self {
        Self::combo(ENTERING_KING_RULE, "CSARule27", &ENTERING_KING_RULES.map(|(word, _)| word))
    }

    /// Name of the option.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn default(&self) -> Value {
        match &self.kind {
            OptionKind::Check(default) => Value::Check(*default),
            OptionKind::Spin { default, .. } => Value::Spin(*default),
            OptionKind::Combo { default, .. } => Value::Text(default.clone()),
            OptionKind::String(default) | OptionKind::Filename(default) => Value::Text(default.clone()),
            OptionKind::Button => Value::None,
        }
    }

    fn parse(&self, text: &str) -> Result<Value, OptionError> {
        let fault = |expected: String| OptionError::Value {
            name: self.name.clone(),
            value: text.to_owned(),
            expected,
        };
        match &self.kind {
            OptionKind::Check(_) => {
                text.parse().map(Value::Check).map_err(|_| fault("`true` or `false`".to_owned()))
            }
            OptionKind::Spin { range, .. } => text
                .parse()
                .ok()
                .filter(|number| range.contains(number))
                .map(Value::Spin)
                .ok_or_else(|| fault(format!("a number from {} to {}", range.start(), range.end()))),
            OptionKind::Combo { choices, .. } => choices
                .iter()
                .find(|choice| choice.eq_ignore_ascii_case(unwire(text)))
                .map(|choice| Value::Text(choice.clone()))
                .ok_or_else(|| fault(format!("one of {}", choices.join(", ")))),
            OptionKind::String(_) | OptionKind::Filename(_) => Ok(Value::Text(unwire(text).to_owned())),
            OptionKind::Button => Ok(Value::None),
        }
    }
}

impl Display for OptionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option name {} type ", self.name)?;
        match &self.kind {
            OptionKind::Check(default) => write!(f, "check default {default}"),
            OptionKind::Spin { default, range } => {
                write!(f, "spin default {default} min {} max {}", range.start(), range.end())
            }
            OptionKind::Combo { default, choices } => {
                write!(f, "combo default {}", wire(default))?;
                choices.iter().try_for_each(|choice| write!(f, " var {}", wire(choice)))
            }
            OptionKind::Button => write!(f, "button"),
            OptionKind::String(default) => write!(f, "string default {}", wire(default)),
            OptionKind::Filename(default) => write!(f, "filename default {}", wire(default)),
        }
    }
}

fn wire(text: &str) -> &str {
    if text.is_empty() { "<empty>" } else { text }
}

fn unwire(text: &str) -> &str {
    if text == "<empty>" { "" } else { text }
}

const ENTERING_KING_RULES: [(&str, EnteringKingRule); 6] = [
    ("NoEnteringKing", EnteringKingRule::None),
    ("CSARule24", EnteringKingRule::Point24),
    ("CSARule24H", EnteringKingRule::Point24Handicap),
    ("CSARule27", EnteringKingRule::Point27),
    ("CSARule27H", EnteringKingRule::Point27Handicap),
    ("TryRule", EnteringKingRule::TryRule),
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Check(bool),
    Spin(i64),
    Text(String),
    None,
}

/// Why a `setoption` line was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// The line is not of the form `setoption name N [value V]`.
    #[error("setoption without a name")]
    Nameless,
    /// The option is not declared.
    #[error("no option `{0}`")]
    Unknown(String),
    /// The value has the wrong type or is out of range.
    #[error("option `{name}` needs {expected}, not `{value}`")]
    Value {
        /// Name of the option.
        name: String,
        /// The value sent.
        value: String,
        /// The values accepted.
        expected: String,
    },
}

/// The declared options with their current values.
#[derive(Clone, Debug)]
pub struct Options(Vec<(OptionSpec, Value)>);

impl Options {
    /// All of `specs` at their defaults.
    pub fn declare(specs: impl IntoIterator<Item = OptionSpec>) -> Self {
        let with_default = |spec: OptionSpec| {
            let value = spec.default();
            (spec, value)
        };
        Self(specs.into_iter().map(with_default).collect())
    }

    /// The declarations, in order.
    pub fn specs(&self) -> impl Iterator<Item = &OptionSpec> {
        self.0.iter().map(|(spec, _)| spec)
    }

    /// Applies a `setoption name N [value V]` line and returns the declared name of the option.
    ///
    /// Names are case-insensitive. `None` means that the engine has not declared one of the options that
    /// managers send to every engine (`USI_Hash`, `USI_Ponder`), which is not an error.
    ///
    /// # Errors
    /// When the line is refused; no value has changed then.
    pub fn apply(&mut self, line: &str) -> Result<Option<String>, OptionError> {
        let rest = line.trim().strip_prefix("setoption").unwrap_or(line).trim_start();
        let rest = rest.strip_prefix("name ").ok_or(OptionError::Nameless)?;
        let (name, value) = rest.split_once(" value ").unwrap_or((rest, ""));
        // Some managers send `value` with nothing after it to clear a text.
        let name = name.trim().strip_suffix(" value").unwrap_or(name.trim());
        let Some((spec, slot)) = self.0.iter_mut().find(|(spec, _)| spec.name.eq_ignore_ascii_case(name))
        else {
            let implied = ["USI_Hash", "USI_Ponder"].contains(&name);
            return if implied { Ok(None) } else { Err(OptionError::Unknown(name.to_owned())) };
        };
        *slot = spec.parse(value.trim())?;
        Ok(Some(spec.name.clone()))
    }

    /// Value of the boolean option `name`.
    ///
    /// # Panics
    /// When the engine has not declared the option, a programming error. The same holds for the other getters.
    pub fn check(&self, name: &str) -> bool {
        match self.value(name) {
            Some(Value::Check(value)) => *value,
            _ => panic!("option `{name}` was not declared as check"),
        }
    }

    /// Value of the integer option `name`.
    ///
    /// # Panics
    /// As [`check`](Self::check).
    pub fn spin(&self, name: &str) -> i64 {
        match self.value(name) {
            Some(Value::Spin(value)) => *value,
            _ => panic!("option `{name}` was not declared as spin"),
        }
    }

    /// Value of the integer option `name`, 0 if negative.
    ///
    /// # Panics
    /// As [`check`](Self::check).
    pub fn number(&self, name: &str) -> usize {
        usize::try_from(self.spin(name)).unwrap_or(0)
    }

    /// Value of the limit option `name`; `None` for 0.
    ///
    /// # Panics
    /// As [`check`](Self::check).
    pub fn limit(&self, name: &str) -> Option<u64> {
        Some(self.spin(name).unsigned_abs()).filter(|&value| value > 0)
    }

    /// Value of the combo, string or filename option `name`.
    ///
    /// # Panics
    /// As [`check`](Self::check).
    pub fn text(&self, name: &str) -> &str {
        match self.value(name) {
            Some(Value::Text(value)) => value,
            _ => panic!("option `{name}` was not declared as combo, string or filename"),
        }
    }

    /// The declaration rule chosen by [`OptionSpec::entering_king_rule`].
    ///
    /// # Panics
    /// As [`check`](Self::check).
    pub fn entering_king_rule(&self) -> EnteringKingRule {
        let word = self.text(ENTERING_KING_RULE);
        let known = ENTERING_KING_RULES.iter().find(|(known, _)| *known == word);
        known.map_or(EnteringKingRule::None, |&(_, rule)| rule)
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(spec, _)| spec.name == name).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options::declare([
            OptionSpec::check("Own Book", true),
            OptionSpec::spin("MultiPV", 1, 1..=500),
            OptionSpec::combo("Style", "calm", &["calm", "wild", ""]),
            OptionSpec::button("Clear Hash"),
            OptionSpec::string("Greeting", ""),
            OptionSpec::filename("EvalFile", "nn.bin"),
            OptionSpec::entering_king_rule(),
        ])
    }

    #[test]
    fn declarations_are_spelled_as_usi_wants_them() {
        let lines: Vec<String> = options().specs().map(OptionSpec::to_string).collect();
        assert_eq!(
            lines[..6],
            [
                "option name Own Book type check default true",
                "option name MultiPV type spin default 1 min 1 max 500",
                "option name Style type combo default calm var calm var wild var <empty>",
                "option name Clear Hash type button",
                "option name Greeting type string default <empty>",
                "option name EvalFile type filename default nn.bin",
            ]
        );
    }

    #[test]
    fn values_are_taken_and_names_may_contain_spaces() {
        let mut options = options();
        let mut set = |line: &str| options.apply(line).unwrap().unwrap();
        assert_eq!(set("setoption name own book value false"), "Own Book");
        assert_eq!(set("setoption name MultiPV value 500"), "MultiPV");
        assert_eq!(set("setoption name Style value Wild"), "Style");
        assert_eq!(set("setoption name Clear Hash"), "Clear Hash");
        assert_eq!(set("setoption name Greeting value hello, name value x"), "Greeting");
        assert_eq!(set("setoption name EvalFile value <empty>"), "EvalFile");
        assert_eq!(set("setoption name EnteringKingRule value TryRule"), "EnteringKingRule");
        assert!(!options.check("Own Book"));
        assert_eq!(options.spin("MultiPV"), 500);
        assert_eq!(options.text("Style"), "wild");
        assert_eq!(options.text("Greeting"), "hello, name value x");
        assert_eq!(options.text("EvalFile"), "");
        assert_eq!(options.entering_king_rule(), EnteringKingRule::TryRule);
        options.apply("setoption name Greeting value").unwrap();
        assert_eq!(options.text("Greeting"), "");
    }

    #[test]
    fn a_faulty_value_is_named_and_changes_nothing() {
        let mut options = options();
        let mut fault = |line: &str| options.apply(line).unwrap_err().to_string();
        assert_eq!(
            fault("setoption name MultiPV value 501"),
            "option `MultiPV` needs a number from 1 to 500, not `501`"
        );
        assert_eq!(
            fault("setoption name Own Book value 1"),
            "option `Own Book` needs `true` or `false`, not `1`"
        );
        assert_eq!(fault("setoption name Contempt value 3"), "no option `Contempt`");
        assert_eq!(fault("setoption MultiPV 3"), "setoption without a name");
        assert!(
            fault("setoption name Style value mad").starts_with("option `Style` needs one of calm, wild")
        );
        assert_eq!(options.spin("MultiPV"), 1);
    }

    #[test]
    fn the_implied_options_are_taken_silently() {
        assert_eq!(options().apply("setoption name USI_Hash value 256"), Ok(None));
        assert_eq!(options().apply("setoption name USI_Ponder value true"), Ok(None));
    }
}
