//! `renmei admin` on the command line: the table of the operator's commands becomes clap's.

use arena::operations::command::{COMMANDS, Command, CommandSpec, FieldSpec, Kind};
use clap::{
    Arg, ArgAction, ArgMatches, Args, Error, FromArgMatches, Subcommand,
    builder::{PossibleValue, PossibleValuesParser},
    error::ErrorKind,
    value_parser,
};
use std::path::PathBuf;

/// `renmei admin`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each action is on record with who did it and why: `renmei report DATABASE` lists them.
Examples:
  renmei admin cup.db list
  renmei admin cup.db rule 12 white --reason \"black's machine had two engines running\"
  renmei admin cup.db ban 192.0.2.0/24 --reason flooding")]
pub struct AdminArgs {
    /// The database of the event, which another process plays.
    pub database: PathBuf,
    /// What to do.
    #[command(subcommand)]
    pub command: AdminCommand,
    /// Why; `rule`, `replay`, `swap` and `ban` want a reason.
    #[arg(long, global = true, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who you are, beside the name of your user.
    #[arg(long = "as", global = true, value_name = "NAME")]
    pub named: Option<String>,
    /// Print the answer as JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

/// A command of the operator, as a subcommand.
#[derive(Clone, Debug)]
pub struct AdminCommand(pub Command);

impl Subcommand for AdminCommand {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        let command = command.subcommand_required(true).arg_required_else_help(true);
        COMMANDS.iter().fold(command, |command, spec| command.subcommand(subcommand(spec)))
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        COMMANDS.iter().any(|spec| spec.name == name)
    }
}

impl FromArgMatches for AdminCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let missing = || Error::new(ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let text = |field: &str| {
            let words = matches.get_raw(field).into_iter().flatten();
            words.map(|word| word.to_string_lossy()).collect::<String>()
        };
        let command = Command::read(name, text).map_err(|_| Error::new(ErrorKind::InvalidValue))?;
        command.map(Self).ok_or_else(missing)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn subcommand(spec: &'static CommandSpec) -> clap::Command {
    clap::Command::new(spec.name).about(sentence(spec.about)).args(spec.fields.iter().map(arg))
}

fn arg(field: &'static FieldSpec) -> Arg {
    let arg = Arg::new(field.name).help(sentence(field.about)).required(true);
    let arg = arg.value_name(field.name.to_uppercase());
    match field.kind {
        Kind::Text => arg,
        Kind::Number => arg.value_parser(value_parser!(u64)),
        Kind::Points => arg.value_parser(value_parser!(f64)),
        Kind::Flag => arg.long(field.name).required(false).action(ArgAction::SetTrue),
        Kind::Choice(words) => arg.value_parser(PossibleValuesParser::new(
            words.iter().map(|(word, about)| PossibleValue::new(*word).help(*about)),
        )),
    }
}

/// A sentence as clap shows it: without its last stop.
fn sentence(about: &'static str) -> &'static str {
    let about = about.trim();
    about.strip_suffix('.').unwrap_or(about)
}
