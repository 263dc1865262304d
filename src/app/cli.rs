//! The command line: from words to a command.

use crate::{
    commands::{Command, GROUPS, matches},
    habits, missing,
};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use std::{ffi::OsString, fmt::Write as _};
use words::Language;

/// Tournaments and match servers for computer shogi.
#[derive(Debug, Parser)]
#[command(name = "renmei", version, about, max_term_width = 100, after_long_help = EXIT_CODES)]
pub struct Cli {
    /// Print diagnostics on stderr: -v engines, logins and databases, -vv more. RENMEI_LOG sets a filter instead.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Language of reports, of the dashboard, and of pages and pictures that are written [default: that of LC_ALL,
    /// LC_MESSAGES or LANG, else the system's].
    #[arg(long, global = true, value_name = "en|ja", value_parser = language)]
    pub language: Option<Language>,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

fn language(code: &str) -> Result<Language, String> {
    Language::of(code).ok_or_else(|| "expected en or ja".to_owned())
}

/// The exit codes that scripts can rely on, as the manual page lists them.
const EXIT_CODES: &str = "\
Exit codes:
  0   done (SPRT: still undecided when the games ran out)
  1   the request failed; the reason is on stderr
  2   the command line or the configuration is wrong, or another build of an engine has played before; nothing was started
  3   stopped before the end; the same command resumes
  4   halted: an engine reached its limit of faults, and the rest cannot be played without it
  5   `worker`: the manager does not want this machine; the reason is on stderr
  10  SPRT accepted H1 (the difference is above elo0)
  11  SPRT accepted H0 (the difference is below elo1); `bisect`: nothing was lost
  12  SPRT without a verdict: faults of an engine decided, or halted it
  20  `check`: the engine has faults; `doctor`: no event can run here; `import --verify`: records disagree with the referee; `suite`: a position was not solved; `verify`: the database was altered";

/// The command line as its help, completions and manual pages show it.
pub fn command() -> clap::Command {
    let command = flowing(Cli::command());
    let overview = overview(&command);
    command.override_help(overview)
}

/// The command with the paragraphs behind its options in one line each.
fn flowing(command: clap::Command) -> clap::Command {
    let text = command.get_after_help().map(|text| paragraphs(&text.to_string()));
    let command = match text {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(flowing)
}

/// A text with each paragraph in one line, so that it is broken where the terminal ends. Indented lines, such as examples, stay.
fn paragraphs(text: &str) -> String {
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let mut joined = String::new();
    for (at, line) in text.lines().enumerate() {
        let before = joined.rsplit('\n').next().unwrap_or_default();
        let goes_on = is_prose(before) && is_prose(line);
        joined += if at == 0 {
            ""
        } else if goes_on {
            " "
        } else {
            "\n"
        };
        joined += line;
    }
    joined
}

/// The help of the program: all commands by what they are for, on one screen.
fn overview(command: &clap::Command) -> String {
    let mut text =
        "Tournaments and match servers for computer shogi.\n\nUsage: renmei [-v] [--language en|ja] <COMMAND>\n\n".to_owned();
    for (group, names) in GROUPS {
        for (at, name) in names.iter().enumerate() {
            let group = if at == 0 { group } else { "" };
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _never_fails = writeln!(text, "{group:<9}{name:<13}{about}");
        }
    }
    text += "\n`renmei COMMAND --help` explains a command, `renmei --version` prints the version; -v and -vv print diagnostics.\n\
             Exit codes: 0 done, 1 failed, 2 wrong command line or configuration, 3 stopped (the same command resumes);\n\
             10, 11: H1, H0 of a test; 20: a check found faults. The manual page and the README list all.\n";
    text
}

/// Parses the command line; prints help or the error and exits where there is no command to execute.
pub fn parse() -> Cli {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // A program that was started by a double-click has a window of its own, and nobody can type a command there.
    if words.len() == 1 && platform::terminal::is_own_console() {
        words.push("desk".into());
    }
    let translation = habits::translate(words).unwrap_or_else(|faults| {
        faults.0.iter().for_each(|fault| err_line!("renmei: {fault}"));
        std::process::exit(2)
    });
    translation.notes.iter().for_each(|line| err_line!("{line}"));
    let command =
        command().mut_subcommand("match", |command| command.after_long_help(paragraphs(&matches::help())));
    let matches = command.clone().try_get_matches_from(&translation.words).unwrap_or_else(|error| {
        match missing::explained(&error, command.clone(), &translation.words) {
            Some(message) => err_line!("renmei: {message}"),
            None => exit(&missing::advised(error, &command, &translation.words)),
        }
        std::process::exit(2)
    });
    match from(&matches) {
        Ok(cli) => cli,
        Err(error) => exit(&error),
    }
}

/// Parses a command line that this program has composed.
///
/// # Errors
/// When clap refuses the words.
pub fn parse_words(words: &[String]) -> Result<Cli, clap::Error> {
    from(&command().try_get_matches_from(words)?)
}

/// Prints a message of clap and exits. Colours are for messages that do not repeat what a terminal would obey.
fn exit(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    if text.chars().any(|c| c != '\n' && notation::is_hidden(c)) {
        err_line!("{}", text.trim_end());
        std::process::exit(error.exit_code());
    }
    error.exit()
}

fn from(matches: &ArgMatches) -> Result<Cli, clap::Error> {
    let mut cli = Cli::from_arg_matches(matches)?;
    if let (Command::Match(args), Some((_, arguments))) = (&mut cli.command, matches.subcommand()) {
        let groups = arguments.get_occurrences::<String>("engine").into_iter().flatten();
        args.engines = groups.map(|words| words.cloned().collect()).collect();
    }
    Ok(cli)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_of_a_help_is_one_line_and_examples_stay() {
        let text = "One\ntwo.\n\nExamples:\n  first\n  second\n\nThree\nfour.";
        assert_eq!(paragraphs(text), "One two.\n\nExamples:\n  first\n  second\n\nThree four.");
    }

    #[test]
    fn the_help_lists_every_command_once_on_one_screen() {
        let command = Cli::command();
        let mut shown: Vec<_> =
            command.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name).collect();
        let mut listed: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        shown.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, shown);
        let overview = overview(&command);
        assert!(
            overview.lines().count() <= 48 && overview.lines().all(|line| line.chars().count() <= 112),
            "{overview}"
        );
    }
}
