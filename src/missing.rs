//! What is said of a command line that lacks something: what it lacks, in words, and an example.

use clap::{
    Command, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};
use std::ffi::OsString;

/// An example for each command that needs something and whose help has none.
const EXAMPLES: [(&str, &str); 9] = [
    ("run", "renmei run league.toml        # `renmei init` writes a first one"),
    ("serve", "renmei serve league.toml      # `renmei init serve` writes a first one"),
    ("floodgate", "renmei floodgate floodgate.toml        # `renmei init floodgate` writes a first one"),
    ("watch", "renmei watch league.db"),
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
    Some(format!("`{names}` needs\n{meant}\n{example}`{names} --help` tells more"))
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
