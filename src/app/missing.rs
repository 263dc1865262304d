//! What is said of a command line that lacks something: what it lacks, in words, and an example.

use clap::{
    Command, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};
use std::ffi::OsString;

/// An example for each command that needs something and whose help has none.
const EXAMPLES: [(&str, &str); 8] = [
    ("run", "renmei run league.toml        # `renmei init` writes a first one"),
    ("serve", "renmei serve league.toml      # `renmei init serve` writes a first one"),
    ("floodgate", "renmei floodgate floodgate.toml        # `renmei init floodgate` writes a first one"),
    ("export", "renmei export league.db --format kif --output games/"),
    ("import", "renmei import games/ --db archive.db"),
    ("completions", "renmei completions bash"),
    ("account add", "renmei account add gps --db league.db"),
    ("account remove", "renmei account remove gps --db league.db"),
];

/// The message for a command line without something that its command needs; `None` for any other error.
pub fn explained(error: &Error, mut program: Command, words: &[OsString]) -> Option<String> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return None };
    program.build();
    let (names, commands) = command(&program, words);
    let command = commands.last()?;
    let meant = missing.iter().map(|missing| {
        let arg = command.get_arguments().find(|arg| arg.to_string() == *missing);
        let help = arg.and_then(|arg| arg.get_help()).map(ToString::to_string).unwrap_or_default();
        format!("  {missing}  {help}\n")
    });
    let meant: String = meant.collect();
    let example = example(&names, &commands).map(|example| format!("{example}\n\n")).unwrap_or_default();
    Some(format!("`{names}` needs\n{meant}\n{example}`{names} --help` explains it"))
}

/// Words of other programs that people type, and what to write here.
const HABITS: &[(&str, &str)] = &[
    ("--hash", "an option of the engines: `--each option.USI_Hash=256`"),
    ("--threads", "an option of the engines: `--each option.Threads=4`; games at once: `--concurrency 4`"),
    ("--tc", "write `--time 10s+0.1s`"),
    ("--st", "write `--time \"fixed 500ms\"`"),
    ("--nodes", "write `--time \"nodes 1000\"`"),
    ("--depth", "write `--time \"depth 6\"`"),
    ("--rounds", "write `--games 200`: two games for each round"),
    ("--book", "write `--openings FILE`"),
    ("--resume", "the same command again resumes; leave it out"),
    ("--pgnout", "write `--records FILE`"),
    ("--event", "write `--name NAME`"),
    ("--elo0", "write `--sprt elo0=0 elo1=5`"),
    ("--elo1", "write `--sprt elo0=0 elo1=5`"),
    ("--alpha", "write `--sprt elo0=0 elo1=5 alpha=0.05 beta=0.05`"),
    ("--beta", "write `--sprt elo0=0 elo1=5 alpha=0.05 beta=0.05`"),
    ("--compliance", "`renmei check PROGRAM`"),
    ("gauntlet", "`renmei match PROGRAM PROGRAM PROGRAM --gauntlet`"),
    ("spsa", "`renmei tune`"),
    ("bench", "`renmei doctor` examines this machine, `renmei check PROGRAM` an engine"),
    (
        "elo",
        "`renmei report FILE.db` prints the Elo of an event, `renmei sprt --pentanomial ..` that of counts",
    ),
    (
        "tournament",
        "`renmei match` for engines on the command line, `renmei run FILE.toml` for a configuration",
    ),
    ("league", "`renmei run FILE.toml` plays a league, `renmei serve FILE.toml` hosts one"),
    ("play", "`renmei match` for engines on the command line, `renmei run FILE.toml` for a configuration"),
    ("server", "`renmei serve`"),
    ("client", "`renmei floodgate`"),
    ("rating", "`renmei ledger`: ratings over many events; `renmei report`: those of one"),
    ("ratings", "`renmei ledger`: ratings over many events; `renmei report`: those of one"),
    ("standings", "`renmei report`"),
    ("stats", "`renmei report`"),
    ("resume", "the command that began the event resumes it"),
    ("convert", "`renmei import FILE --db FILE.db`, then `renmei export`"),
    ("engine", "`renmei check PROGRAM`"),
];

/// An error about an unknown argument or command with advice instead of clap's tips, which go by the look of a word alone.
pub fn advised(mut error: Error, program: &Command, words: &[OsString]) -> Error {
    let (typed, similar) = match error.kind() {
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        _ => return error,
    };
    let Some(ContextValue::String(typed)) = error.get(typed) else { return error };
    let (name, commands) = command(program, words);
    // Advice to write a flag is for the commands that have it.
    let has = |flag: &str| {
        commands.last().is_some_and(|it| it.get_arguments().any(|arg| arg.get_long() == Some(flag)))
    };
    let fits = |advice: &str| {
        let flag = advice.split('`').nth(1).and_then(|words| words.split(' ').next()?.strip_prefix("--"));
        flag.is_none_or(has)
    };
    let meant = |(word, advice): &&(&str, &str)| *word == typed && fits(advice);
    let is_file = similar == ContextKind::SuggestedSubcommand && typed.contains(['/', '\\', '.']);
    let program_or_file = is_file.then_some(
        "engines play in `renmei match PROGRAM PROGRAM`, a configuration in `renmei run FILE.toml`",
    );
    if let Some(advice) = HABITS.iter().find(meant).map(|(_, advice)| *advice).or(program_or_file) {
        error.remove(similar);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
        return error;
    }
    if let Some(owners) = typed.strip_prefix("--").and_then(|flag| owners(program, flag)) {
        let advice = format!("an option of {owners}, and not of `{name}`");
        error.remove(similar);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
        return error;
    }
    let is_near = |word: &str| plan::nearest(typed, [word]).is_some();
    let near = match error.get(similar) {
        Some(ContextValue::String(word)) => is_near(word),
        Some(ContextValue::Strings(words)) => words.iter().any(|word| is_near(word)),
        _ => true,
    };
    if !near {
        error.remove(similar);
    }
    error
}

/// The commands that have an option; `None` without any.
fn owners(program: &Command, flag: &str) -> Option<String> {
    let has = |command: &&Command| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
    let names: Vec<_> =
        program.get_subcommands().filter(has).map(|it| format!("`{}`", it.get_name())).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The command that was typed, with its name as typed, and those around it before it.
fn command<'a>(program: &'a Command, words: &[OsString]) -> (String, Vec<&'a Command>) {
    let (mut name, mut found) = (program.get_name().to_owned(), vec![program]);
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(inner) = found.last().and_then(|outer| outer.find_subcommand(word)) {
            (name, found) = (format!("{name} {word}"), [&found[..], &[inner]].concat());
        }
    }
    (name, found)
}

/// An example of a command, or of the one around it.
fn example(name: &str, commands: &[&Command]) -> Option<String> {
    let known = EXAMPLES.iter().find(|(known, _)| name.ends_with(&format!(" {known}")));
    let of_help = |command: &&Command| {
        command
            .get_after_help()
            .map(ToString::to_string)
            .and_then(|help| help.find("Example").map(|at| help[at..].to_owned()))
    };
    let of_helps = || commands.iter().skip(1).rev().find_map(of_help);
    known.map(|(_, example)| format!("Example:\n  {example}")).or_else(of_helps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn said(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let program = Cli::command();
        let error = program.clone().try_get_matches_from(&words).unwrap_err();
        advised(error, &program, &words).render().to_string()
    }

    #[test]
    fn words_of_other_programs_are_answered_and_a_word_that_only_looks_alike_is_not_proposed() {
        for (line, answer) in [
            ("renmei match ./a ./b --hash 4", "`--each option.USI_Hash=256`"),
            ("renmei bisect --tc 1 a b", "write `--time 10s+0.1s`"),
            ("renmei elo", "`renmei report FILE.db` prints the Elo"),
            ("renmei server", "`renmei serve`"),
        ] {
            let said = said(line);
            assert!(said.contains(answer) && !said.contains("similar"), "{said}");
        }
        for line in ["renmei report --hash", "renmei hlep me"] {
            assert!(!said(line).contains("USI_Hash"), "{line}");
        }
        assert!(said("renmei match ./a ./b --gmaes 4").contains("'--games'"));
        let elsewhere = said("renmei bisect a b --hub 127.0.0.1:0");
        assert!(elsewhere.contains("an option of `run`, `match`, `test`, "), "{elsewhere}");
        assert!(
            elsewhere.contains("and not of `renmei bisect`") && !elsewhere.contains("as a value"),
            "{elsewhere}"
        );
        assert!(!said("renmei report x.db --loss 3").contains("similar"));
    }
}
