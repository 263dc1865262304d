//! Why a command line of fastchess or cutechess-cli is not translated.

/// Every fault of a command line, in its order; at least one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct HabitErrors(pub Vec<HabitError>);

/// Why a command line of fastchess or cutechess-cli is not translated. The first text of most is what was typed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HabitError {
    #[error("`{0}` would be read as an option; if it is a file, write `./{0}`")]
    LooksLikeOption(String),
    #[error("{0}: the values are not UTF-8")]
    NotUtf8(String),
    #[error("`{0}` is not an option of `renmei match`, fastchess or cutechess-cli{hint}", hint = .1.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Unknown(String, Option<&'static str>),
    #[error("{0} is given twice")]
    Twice(&'static str),
    #[error("name all engines with -engine, or all with --engine")]
    BothFlags,
    #[error("{0}: {1}")]
    NoCounterpart(String, &'static str),
    #[error("-openings start={start}: cut the file instead: `tail -n +{start} {file}`")]
    Start { start: String, file: String },
    #[error("-seeds {0}: write `challengers = {0}` in a file for `renmei run`")]
    Seeds(u64),
    #[error("{0} needs {1}")]
    Needs(String, &'static str),
    #[error("{0}: expected {1}")]
    Expected(String, String),
    #[error("tc=inf needs another limit; add nodes=N, depth=N or st=SECONDS")]
    Endless,
}
