//! `renmei account`: manages the accounts of a league.

use super::{Exit, Failure};
use clap::{Args, Subcommand};
use event::{league::set_account, network::protect};
use journal::{Store, Writer};
use notation::csa::wire::{NAME_MAX, is_player_name};
use notation::date;
use plan::password;
use platform::terminal::Hidden;
use std::{
    io::{self, BufRead, IsTerminal},
    path::PathBuf,
};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
A password is asked for at the terminal, or read from the first line of stdin; it is never an argument.
In CSA mode it is what follows the game's name: LOGIN name game-600-10,password

Examples:
  renmei account add gps --db league.db
  echo $PASSWORD | renmei account add gps --db league.db
  renmei account invite gps      # a line for `[serve] invited`")]
pub struct AccountArgs {
    /// The operation.
    #[command(subcommand)]
    pub command: AccountCommand,
}

/// Operations on accounts.
#[derive(Clone, Debug, Subcommand)]
pub enum AccountCommand {
    /// Create an account, or change its password.
    Add {
        /// The player's name: 1 to 32 letters, digits, `_`, `-`, `@` or `.`.
        name: String,
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
    /// List the accounts.
    List {
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
    /// Delete an account; a game that its player is playing continues.
    Remove {
        /// The player's name.
        name: String,
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
    /// Accounts of those who run the event from its page: `renmei serve --http`, see the guide to the arbiter's page.
    Web {
        /// The operation.
        #[command(subcommand)]
        command: WebAccountCommand,
    },
    /// Print the invitation of a player with a trip, a line for `[serve] invited`.
    Invite {
        /// The player's name.
        name: String,
    },
}

/// Operations on accounts of the pages.
#[derive(Clone, Debug, Subcommand)]
pub enum WebAccountCommand {
    /// Create an account, or change its password and role; who is logged in with it is logged out.
    Add {
        /// The name: 1 to 32 letters, digits, `_`, `-`, `@` or `.`.
        name: String,
        /// What it may do: an `operator` pauses, announces and sends away, an `arbiter` also decides.
        #[arg(long, value_name = "ROLE")]
        role: journal::Role,
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
    /// List the accounts.
    List {
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
    /// Delete an account; who is logged in with it is logged out.
    Remove {
        /// The name.
        name: String,
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
}

/// Fewest characters of a password for the pages, which everybody may guess at.
const SHORTEST_OF_PAGES: usize = 10;

/// Creates, lists and deletes accounts.
pub fn account(args: &AccountArgs) -> Result<Exit, Failure> {
    match &args.command {
        AccountCommand::Add { name, db } => {
            let hash = prompted_hash(name, &hashed_for_games)?;
            let done =
                if set_account(db, name, &hash)? { "has an account now" } else { "has another password now" };
            out_line!("{name} {done}");
        }
        AccountCommand::List { db } => {
            for account in Store::read(db)?.accounts()? {
                out_line!("{:NAME_MAX$}  since {}", account.name, date::text(account.created_at));
            }
        }
        AccountCommand::Remove { name, db } => {
            if !Writer::open(db)?.remove_account(name)? {
                return Err(Failure::Other(format!("there is no account `{}`", name.escape_debug())));
            }
            out_line!("{name} no longer has an account");
        }
        AccountCommand::Web { command } => web(command)?,
        AccountCommand::Invite { name } => {
            out_line!("\"{name}:{}\"", prompted_hash(name, &hashed_for_games)?)
        }
    }
    Ok(Exit::Done)
}

/// Manages the accounts of the pages.
fn web(command: &WebAccountCommand) -> Result<(), Failure> {
    match command {
        WebAccountCommand::Add { name, role, db } => {
            let hash = prompted_hash(name, &hashed_for_pages)?;
            let new = Writer::open(db)?.set_web_account(name, *role, &hash)?;
            protect(db)?;
            let done = if new { "has an account of the pages now" } else { "has another password now" };
            out_line!("{name} {done}, as {role}");
        }
        WebAccountCommand::List { db } => {
            for account in Store::read(db)?.web_accounts()? {
                let (role, since) = (account.role.to_string(), date::text(account.created_at));
                out_line!("{:NAME_MAX$}  {role:<8}  since {since}", account.name);
            }
        }
        WebAccountCommand::Remove { name, db } => {
            if !Writer::open(db)?.remove_web_account(name)? {
                let name = name.escape_debug();
                return Err(Failure::Other(format!("there is no account `{name}` of the pages")));
            }
            out_line!("{name} no longer has an account of the pages");
        }
    }
    Ok(())
}

/// The hash of a password that is long enough for the pages.
fn hashed_for_pages(password: &str) -> Result<String, Failure> {
    if password.chars().count() < SHORTEST_OF_PAGES {
        let why = format!("a password for the pages has at least {SHORTEST_OF_PAGES} characters");
        return Err(Failure::Usage(why));
    }
    password::hash_of_pages(password).map_err(|e| Failure::Usage(e.to_string()))
}

fn hashed_for_games(password: &str) -> Result<String, Failure> {
    password::hash(password).map_err(|e| Failure::Usage(e.to_string()))
}

/// Prompts for the password of `name` and returns its hash.
fn prompted_hash(name: &str, hashed: &dyn Fn(&str) -> Result<String, Failure>) -> Result<String, Failure> {
    if !is_player_name(name) {
        let why = format!("a name has 1 to {NAME_MAX} letters, digits, `_`, `-`, `@` or `.`");
        return Err(Failure::Usage(format!("`{}`: {why}", name.escape_debug())));
    }
    let other = |e: io::Error| Failure::Other(format!("the password cannot be read: {e}"));
    let password =
        if io::stdin().is_terminal() { read_twice().map_err(other)? } else { Some(line().map_err(other)?) };
    let password = password.ok_or_else(|| Failure::Usage("the two passwords differ".to_owned()))?;
    hashed(&password)
}

/// Reads a password twice without echo; `None` if the two differ.
fn read_twice() -> io::Result<Option<String>> {
    let _hidden = Hidden::new()?;
    let ask = |text: &str| {
        err_line!("{text}");
        line()
    };
    let (once, again) = (ask("password (it is not shown):")?, ask("once more:")?);
    Ok((once == again).then_some(once))
}

fn line() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
