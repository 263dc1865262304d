//! Parameter files of YaneuraOu (`.params`): a line for each option, with fields between commas.
//!
//! `name, type, value, min, max, step, delta` and a comment behind `//`. `type` is `int` or `float`; `step` is the
//! perturbation of the last pair (`c_end`); `delta` is the step of the last pair in units of the option, which is
//! `r_end` times `step`. A line with `[[NOT USED]]` is kept and not tuned.

use plan::ParameterPlan;

/// Mark of a line that is not tuned.
const NOT_USED: &str = "[[NOT USED]]";

/// A file, line by line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParamsFile {
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq)]
enum Line {
    /// An option, its `delta`, and its comment with all that stands before it.
    Option { parameter: ParameterPlan, delta: f64, rest: String },
    /// Kept as it is.
    Other(String),
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ParamsFault {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: LineFault,
}

/// What is wrong with a line of a file of parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LineFault {
    /// Not a list with commas.
    #[error("it is not `name, type, value, min, max, step, delta`")]
    Form,
    /// Another number of fields.
    #[error("it has {0} fields; `name, type, value, min, max, step, delta` are 7")]
    Fields(usize),
    /// An empty name.
    #[error("the name of the option is missing")]
    NoName,
    /// An option that is named before.
    #[error("`{0}` stands here twice")]
    Twice(String),
    /// An unknown type.
    #[error("the type is `int` or `float`, not `{}`", notation_of(.0))]
    Type(String),
    /// A word where a number belongs.
    #[error("`{}` is no number", notation_of(.0))]
    NoNumber(String),
    /// No value lies between the bounds.
    #[error("the greatest value {max} is not above the least, {min}")]
    Bounds {
        /// The least value.
        min: f64,
        /// The greatest value.
        max: f64,
    },
    /// A step without a size.
    #[error("step and delta have to be above 0")]
    Step,
    /// A step that is out of proportion: delta over step.
    #[error("delta is {0:e} times step; it has to be from 1e-9 to 100 times")]
    Delta(f64),
}

impl ParamsFile {
    /// Reads a file.
    ///
    /// # Errors
    /// The first line that is no option.
    pub fn parse(text: &str) -> Result<Self, ParamsFault> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text.lines().enumerate().map(|(at, text)| {
            let fault = |what| ParamsFault { line: at + 1, what };
            line(text.trim_end()).map_err(fault)
        });
        let file = Self { lines: lines.collect::<Result<_, _>>()? };
        let mut names: Vec<_> = file.parameters().map(|parameter| &parameter.name).collect();
        names.sort();
        match names.windows(2).find(|names| names[0] == names[1]) {
            Some(names) => {
                Err(ParamsFault { line: file.last_of(names[0]), what: LineFault::Twice(names[0].clone()) })
            }
            None => Ok(file),
        }
    }

    /// A file of these parameters, in their order.
    pub fn of(parameters: &[ParameterPlan]) -> Self {
        let line = |parameter: &ParameterPlan| Line::Option {
            parameter: parameter.clone(),
            delta: parameter.r_end * parameter.c_end,
            rest: String::new(),
        };
        Self { lines: parameters.iter().map(line).collect() }
    }

    /// The tuned options, in the order of the file.
    pub fn parameters(&self) -> impl Iterator<Item = &ParameterPlan> {
        self.lines.iter().filter_map(|line| match line {
            Line::Option { parameter, .. } => Some(parameter),
            Line::Other(_) => None,
        })
    }

    fn last_of(&self, name: &str) -> usize {
        let is = |line: &Line| matches!(line, Line::Option { parameter, .. } if parameter.name == name);
        self.lines.iter().rposition(is).map_or(0, |at| at + 1)
    }

    /// The file with these values, by name; everything else stays as it was.
    #[must_use]
    pub fn with(mut self, value: &dyn Fn(&str) -> Option<f64>) -> Self {
        for line in &mut self.lines {
            if let Line::Option { parameter, .. } = line {
                parameter.start = value(&parameter.name).or(parameter.start);
            }
        }
        self
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| written(line) + "\n").collect()
    }
}

fn line(text: &str) -> Result<Line, LineFault> {
    let (fields, comment) = text.split_once("//").unwrap_or((text, ""));
    if fields.trim().is_empty() || text.contains(NOT_USED) {
        return Ok(Line::Other(text.to_owned()));
    }
    let rest = text[fields.trim_end().len()..].to_owned();
    debug_assert!(rest.ends_with(comment));
    let fields: Vec<_> = fields.split(',').map(str::trim).collect();
    let [name, kind, numbers @ ..] = &fields[..] else {
        return Err(LineFault::Form);
    };
    if numbers.len() != 5 {
        return Err(LineFault::Fields(fields.len()));
    }
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(LineFault::NoName);
    }
    let whole = match *kind {
        "int" => true,
        "float" => false,
        other => return Err(LineFault::Type(other.to_owned())),
    };
    let mut values = [0.0; 5];
    for (value, text) in values.iter_mut().zip(numbers) {
        *value = text
            .parse()
            .ok()
            .filter(|it: &f64| it.is_finite())
            .ok_or_else(|| LineFault::NoNumber((*text).to_owned()))?;
    }
    let [start, min, max, c_end, delta] = values;
    if min >= max {
        return Err(LineFault::Bounds { min, max });
    }
    if c_end <= 0.0 || delta <= 0.0 {
        return Err(LineFault::Step);
    }
    let (name, r_end) = ((*name).to_owned(), delta / c_end);
    if !(1e-9..=100.0).contains(&r_end) {
        return Err(LineFault::Delta(r_end));
    }
    let parameter =
        ParameterPlan { name, start: Some(start), min: Some(min), max: Some(max), c_end, r_end, whole };
    Ok(Line::Option { parameter, delta, rest })
}

/// A word of the file for a message, without characters that act on a terminal.
fn notation_of(word: &str) -> String {
    word.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn written(line: &Line) -> String {
    match line {
        Line::Other(text) => text.clone(),
        Line::Option { parameter, delta, rest } => {
            let ParameterPlan { name, start, min, max, c_end, whole, .. } = parameter;
            let kind = if *whole { "int" } else { "float" };
            let number = |value: &Option<f64>| value.unwrap_or_default();
            let (value, min, max) = (number(start), number(min), number(max));
            format!("{name}, {kind}, {value}, {min}, {max}, {c_end}, {delta}{rest}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "bonus_1, int, 1092.0, 0.0, 2184.0, 109.2, 0.2184 // of the history\n\nscale,float,0.75,0,2,0.1,0.0002\n\
                        old, int, 1, 0, 2, 1, 0.1 [[NOT USED]]\n";

    #[test]
    fn a_file_is_read_and_written_with_other_values_and_keeps_all_else() {
        let file = ParamsFile::parse(FILE).unwrap();
        let read: Vec<_> = file.parameters().cloned().collect();
        assert_eq!(read.len(), 2, "what is not used is not tuned");
        assert_eq!((read[0].name.as_str(), read[0].start, read[0].whole), ("bonus_1", Some(1092.0), true));
        assert!((read[0].r_end - 0.002).abs() < 1e-12, "delta is r_end times step");
        assert!(!read[1].whole);
        let text = file.with(&|name| (name == "scale").then_some(0.5)).text();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "bonus_1, int, 1092, 0, 2184, 109.2, 0.2184 // of the history");
        assert!(lines[1].is_empty() && lines[2].starts_with("scale, float, 0.5, 0, 2, 0.1, "));
        assert_eq!(lines[3], "old, int, 1, 0, 2, 1, 0.1 [[NOT USED]]");
    }

    #[test]
    fn a_faulty_line_is_named_with_its_number() {
        let fault = |text: &str| ParamsFile::parse(text).unwrap_err().to_string();
        assert_eq!(
            fault("a, int, 1, 0, 2, 1\n"),
            "line 1: it has 6 fields; `name, type, value, min, max, step, delta` are 7"
        );
        assert!(fault("\na, word, 1, 0, 2, 1, 1").starts_with("line 2: the type is `int` or `float`"));
        assert!(fault("a, int, NaN, 0, 2, 1, 1").contains("`NaN` is no number"));
        assert!(fault("a, int, 1, 2, 2, 1, 1").contains("not above the least"));
        assert!(fault("a, int, 1, 0, 2, 0, 1").contains("above 0"));
        assert_eq!(fault("a,int,1,0,2,1,1\na,int,1,0,2,1,1"), "line 2: `a` stands here twice");
    }
}
