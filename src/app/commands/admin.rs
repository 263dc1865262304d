//! `renmei admin`: asks the process that plays an event to do what its operator wants; after the last game, the database.

use super::{Exit, Failure, event_to_change};
use arena::{
    afterwards,
    operations::{
        command::{COMMANDS, Command, CommandSpec, FieldSpec, Kind},
        request::{Answer, Listed, ListedMachine, Request},
    },
};
use clap::{
    Arg, ArgAction, ArgMatches, Args, Error, FromArgMatches, Subcommand,
    builder::{PossibleValue, PossibleValuesParser},
    error::ErrorKind,
    value_parser,
};
use event::door::connect;
use journal::{Store, now};
use notation::printable;
use platform::account::User;
use referee::{lease::MachineState, number::number};
use std::{
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    time::Duration,
};
use words::Language;

/// `renmei admin`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each action is on record with who did it and why: `renmei report DATABASE` lists them.
Examples:
  renmei admin cup.db list
  renmei admin cup.db rule 12 white --reason \"black's machine had two engines running\"
  renmei admin cup.db ban 192.0.2.0/24 --reason flooding")]
pub struct AdminArgs {
    /// The database of the event, which another process plays, or which is over.
    pub database: PathBuf,
    /// What to do.
    #[command(subcommand)]
    pub command: AdminCommand,
    /// Why; orders that change results, or who may play, need a reason.
    #[arg(long, global = true, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who you are, beside the name of your user.
    #[arg(long = "as", global = true, value_name = "NAME")]
    pub named: Option<String>,
    /// Name of the event. It is asked for where the database has several events, and not exactly one of them is not over.
    #[arg(long, global = true, value_name = "NAME")]
    pub event: Option<String>,
    /// Print the answer as JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

impl AdminArgs {
    fn request(&self, event: Option<&str>, command: Command) -> Request {
        let event = event.map(str::to_owned);
        Request { named: self.named.clone(), reason: self.reason.clone(), event, command }
    }

    /// The event that is meant, `None` where the database has none yet; and the name before each answer, where it has several.
    fn event(&self) -> Result<(Option<String>, String), Failure> {
        let exists = self.database.exists();
        let events = if exists { Store::read(&self.database)?.events()? } else { vec![] };
        if events.is_empty() {
            return Ok((self.event.clone(), String::new()));
        }
        let name = event_to_change(&events, self.event.as_deref())?.name.clone();
        let whose = (events.len() > 1).then(|| format!("`{}`: ", printable(name.as_bytes())));
        Ok((Some(name), whose.unwrap_or_default()))
    }
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
        Kind::Optional => arg.value_parser(value_parser!(u64)).required(false),
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

/// Most time for the answer; an order to a game is answered when the game has carried it out.
const PATIENCE: Duration = Duration::from_secs(60);

/// The same for a file that is read again: engines are built and tried before they join.
const TRIAL: Duration = Duration::from_secs(3600);

/// Sends a command to the process that plays an event, and prints the answer.
pub fn admin(args: &AdminArgs) -> Result<Exit, Failure> {
    let (AdminCommand(command), (event, whose)) = (args.command.clone(), args.event()?);
    if let Command::DropMachine { machine } = &command {
        return drop_machine(args, event.as_deref(), &whose, machine);
    }
    let mut answer = ask(&args.database, &args.request(event.as_deref(), command))?;
    if let Some(list) = &mut answer.list {
        list.machines = machines(&Store::read(&args.database)?, answer.event.as_deref())?;
    }
    if args.json {
        out_line!("{}", serde_json::to_string(&answer).map_err(|e| Failure::Other(e.to_string()))?);
        return Ok(if answer.ok { Exit::Done } else { Exit::Failed });
    }
    if !answer.ok {
        return Err(Failure::Other(format!("{whose}{}", printable(answer.text.as_bytes()))));
    }
    match (&answer.list, answer.operation) {
        (Some(list), _) => print(list, &whose),
        (None, Some(number)) => {
            out_line!("{whose}{} (operation {number})", printable(answer.text.as_bytes()))
        }
        (None, None) => out_line!("{whose}{}", printable(answer.text.as_bytes())),
    }
    Ok(Exit::Done)
}

/// Gives a machine no more games, and has every game that it has played played again, each by an operation of its own.
fn drop_machine(args: &AdminArgs, event: Option<&str>, whose: &str, machine: &str) -> Result<Exit, Failure> {
    let dropped =
        ask(&args.database, &args.request(event, Command::DropMachine { machine: machine.to_owned() }))?;
    let shown = printable(machine.as_bytes());
    // A repeated command is for the games that stayed when it was given first.
    let was_dropped = dropped.text == Language::English.machine_dropped_before(&shown);
    if !dropped.ok && !was_dropped {
        return Err(Failure::Other(format!("{whose}{}", printable(dropped.text.as_bytes()))));
    }
    let store = Store::read(&args.database)?;
    let (mut played_again, mut stay) = (0, vec![]);
    let played = dropped.event.as_deref();
    for event in store.events()?.iter().filter(|event| Some(&*event.name) == played) {
        for game in store.games_of_machine(event.id, machine)? {
            let answer = ask(&args.database, &args.request(played, Command::Replay { game: game.0 }))?;
            if answer.ok { played_again += 1 } else { stay.push(printable(answer.text.as_bytes())) }
        }
    }
    stay.iter().for_each(|why| err_line!("{whose}{why}"));
    out_line!(
        "{whose}`{shown}` gets no more games; {} of it played again, {} not",
        number(played_again, "game"),
        stay.len()
    );
    Ok(if stay.is_empty() { Exit::Done } else { Exit::Failed })
}

/// The machines of an event.
fn machines(store: &Store, event: Option<&str>) -> Result<Vec<ListedMachine>, Failure> {
    let events = store.events()?;
    let Some(event) = events.iter().find(|one| Some(&*one.name) == event) else { return Ok(vec![]) };
    let (states, counts) = (store.machine_states(event.id)?, store.machines(event.id, i64::MAX)?);
    let games = |name: &str| counts.iter().find(|counts| counts.machine.as_deref() == Some(name));
    let listed = |state: MachineState| ListedMachine {
        games: games(&state.name).map_or(0, |counts| counts.games),
        state: state.presence.word().to_owned(),
        slots: state.slots,
        pairs: state.playing,
        oldest_seconds: state
            .held_since
            .map(|since| now().saturating_sub(since).max(0).unsigned_abs() / 1000),
        word: state.word,
        name: state.name,
    };
    Ok(states.into_iter().map(listed).collect())
}

fn machine_line(machine: &ListedMachine) -> String {
    let ListedMachine { name, state, slots, pairs, oldest_seconds, games, word } = machine;
    let oldest = oldest_seconds.map_or_else(String::new, |seconds| format!(", the oldest for {seconds} s"));
    let word = if word.is_empty() { String::new() } else { format!("; {}", printable(word.as_bytes())) };
    let (slots, pairs) = (number(*slots as usize, "slot"), number(*pairs as usize, "pair"));
    let (name, games) = (printable(name.as_bytes()), number(*games as usize, "game"));
    format!("machine {name:<32} {state}, {slots}, {games} played, has {pairs}{oldest}{word}")
}

/// Asks the process that plays an event; an event that is over is opened again for the request.
pub(super) fn ask(database: &Path, request: &Request) -> Result<Answer, Failure> {
    let event = request.event.as_deref();
    let stream = match connect(database, event) {
        Ok(stream) => stream,
        Err(error) => return afterwards(database, request)?.ok_or_else(|| absent(database, event, &error)),
    };
    let failed = |error: io::Error| {
        Failure::Other(format!("the process that plays in `{}` does not answer: {error}", database.display()))
    };
    let patience = if request.command == Command::Reload { TRIAL } else { PATIENCE };
    stream.set_read_timeout(Some(patience)).map_err(failed)?;
    let mut line = serde_json::to_vec(request).map_err(|e| Failure::Other(e.to_string()))?;
    line.push(b'\n');
    (&stream).write_all(&line).map_err(failed)?;
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).map_err(failed)?;
    serde_json::from_str(&answer).map_err(|_| failed(io::ErrorKind::UnexpectedEof.into()))
}

/// What becomes of a request where nobody plays; `None`: no event is over.
fn afterwards(database: &Path, request: &Request) -> Result<Option<Answer>, Failure> {
    if !database.exists() {
        return Ok(None);
    }
    let user = User::own().map_err(|error| Failure::Other(format!("your user is not known: {error}")))?;
    let name = user.name().unwrap_or_else(|| format!("user {user}"));
    let answer = afterwards::carry_out(database, &name, request);
    let answer = answer.unwrap_or_else(|why| Some(Answer::refused(why.to_string())));
    Ok(answer.map(|answer| Answer { event: request.event.clone(), ..answer }))
}

/// Why nobody can be asked.
fn absent(database: &Path, event: Option<&str>, error: &io::Error) -> Failure {
    let shown = database.display();
    let what = event.map_or("an event".to_owned(), |event| format!("`{}`", printable(event.as_bytes())));
    Failure::Other(match error.kind() {
        io::ErrorKind::NotFound if !database.exists() => format!("there is no database `{shown}`"),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => format!(
            "nobody plays {what} in `{shown}` now: `renmei admin` asks the `renmei run` or `renmei serve` that does"
        ),
        io::ErrorKind::PermissionDenied => {
            format!("only the user who plays the event in `{shown}`, and root, may do this")
        }
        _ => format!("the process that plays in `{shown}` cannot be asked: {error}"),
    })
}

fn print(list: &Listed, whose: &str) {
    let state = match (list.over, list.paused) {
        (true, _) => "over",
        (_, true) => "paused: no new game begins",
        _ => "running",
    };
    let door = if list.registration_closed { "; the registration is closed" } else { "" };
    out_line!("{whose}the event is {state}{door}");
    for player in &list.players {
        let (name, address) = (printable(player.name.as_bytes()), &player.address);
        let way = player.round_trip_ms.map_or_else(String::new, |ms| format!(", {ms:.1} ms there and back"));
        out_line!(
            "player  {name:<32} {address:<15} {}, idle for {} s{way}",
            player.state,
            player.idle_seconds
        );
    }
    list.absent.iter().for_each(|name| out_line!("absent  {}", printable(name.as_bytes())));
    for game in &list.games {
        let clock = |left: Option<u64>| left.map_or_else(|| "-".to_owned(), |ms| format!("{} s", ms / 1000));
        let (black, white) = (printable(game.black.as_bytes()), printable(game.white.as_bytes()));
        let (left_black, left_white) = (clock(game.black_ms), clock(game.white_ms));
        let number = game.game;
        out_line!("game {number}  {black} ({left_black}) - {white} ({left_white}), ply {}", game.plies);
    }
    for game in &list.adjourned {
        let (black, white) = (printable(game.black.as_bytes()), printable(game.white.as_bytes()));
        out_line!("adjourned {}  {black} - {white}: `play-on {0}`, or `replay {0}`", game.game);
    }
    let bans = list.bans.iter().map(|ban| ("ban", ban));
    for (what, ban) in bans.chain(list.dropped.iter().map(|machine| ("dropped", machine))) {
        let why = if ban.reason.is_empty() {
            String::new()
        } else {
            format!(": {}", printable(ban.reason.as_bytes()))
        };
        out_line!(
            "{what:<7} {} by {} (operation {}){why}",
            printable(ban.whom.as_bytes()),
            printable(ban.by.as_bytes()),
            ban.operation
        );
    }
    list.machines.iter().for_each(|machine| out_line!("{}", machine_line(machine)));
    for appeal in &list.appeals {
        let (by, reason) = (printable(appeal.by.as_bytes()), printable(appeal.reason.as_bytes()));
        out_line!(
            "appeal  {} against the result of game {} by {by}: {reason}",
            appeal.operation,
            appeal.game
        );
    }
    list.mutes.iter().for_each(|name| out_line!("muted   {}", printable(name.as_bytes())));
    list.buoys.iter().for_each(|name| out_line!("buoy    {}", printable(name.as_bytes())));
}
