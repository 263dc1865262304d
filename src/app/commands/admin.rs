//! `renmei admin`: asks the process that plays an event to do what its operator wants; after the last game, the database.

use super::{Exit, Failure, event_to_change};
use arena::{
    afterwards,
    operations::{
        command::{COMMANDS, Command, CommandSpec, FieldSpec, Kind},
        request::{
            Answer, Listed, ListedAdjourned, ListedAppeal, ListedBan, ListedGame, ListedMachine,
            ListedPlayer, Request,
        },
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
use platform::{account::User, door::Stream};
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
        (None, Some(number)) => say(&format!("{whose}{} (operation {number})", answer.text)),
        (None, None) => say(&format!("{whose}{}", answer.text)),
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

/// A text with what stands before it; nothing for an empty one.
fn behind(mark: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{mark}{text}") }
}

fn machine_line(machine: &ListedMachine) -> String {
    let ListedMachine { name, state, slots, pairs, oldest_seconds, games, word } = machine;
    let oldest = oldest_seconds.map_or_else(String::new, |seconds| format!(", the oldest for {seconds} s"));
    let (word, games) = (behind("; ", word), number(*games as usize, "game"));
    let (slots, pairs) = (number(*slots as usize, "slot"), number(*pairs as usize, "pair"));
    format!("machine {name:<32} {state}, {slots}, {games} played, has {pairs}{oldest}{word}")
}

/// Asks the process that plays an event; an event that is over is opened again for the request.
pub(super) fn ask(database: &Path, request: &Request) -> Result<Answer, Failure> {
    let event = request.event.as_deref();
    let stream = match connect(database, event) {
        Ok(stream) => stream,
        Err(error) => return afterwards(database, request)?.ok_or_else(|| absent(database, event, &error)),
    };
    let patience = if request.command == Command::Reload { TRIAL } else { PATIENCE };
    let answer = stream.set_read_timeout(Some(patience)).and_then(|()| exchanged(&stream, request));
    answer.map_err(|error| {
        let shown = database.display();
        Failure::Other(format!(
            "the process that plays in `{shown}` has not answered ({error}): `renmei report` shows whether the order is on record"
        ))
    })
}

/// The answer to a request. One that is refused at the door may find it closed before it is written, and the answer all the
/// same.
fn exchanged(stream: &Stream, request: &Request) -> io::Result<Answer> {
    let (mut line, mut answer) = (serde_json::to_vec(request)?, String::new());
    line.push(b'\n');
    let written = { stream }.write_all(&line);
    let read = BufReader::new(stream).read_line(&mut answer);
    if answer.is_empty() {
        written.and(read)?;
    }
    serde_json::from_str(&answer).map_err(|_| io::ErrorKind::UnexpectedEof.into())
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
            "nobody plays {what} in `{shown}` now: `renmei admin` asks the `renmei run`, `serve` or `hall` that does, so begin it \
             first; without it, `renmei rerun` has games played again that were lost by faults"
        ),
        io::ErrorKind::PermissionDenied => {
            format!("only the user who plays the event in `{shown}`, and root, may do this")
        }
        _ => format!("the process that plays in `{shown}` cannot be asked: {error}"),
    })
}

/// Prints a line that others may have had a part in.
fn say(line: &str) {
    out_line!("{}", printable(line.as_bytes()));
}

fn print(list: &Listed, whose: &str) {
    let state = match (list.over, list.paused) {
        (true, _) => "over",
        (_, true) => "paused: no new game begins",
        _ => "running",
    };
    let door = if list.registration_closed { "; the registration is closed" } else { "" };
    say(&format!("{whose}the event is {state}{door}"));
    for ListedPlayer { name, address, state, idle_seconds, round_trip_ms } in &list.players {
        let way = round_trip_ms.map_or_else(String::new, |ms| format!(", {ms:.1} ms there and back"));
        say(&format!("player  {name:<32} {address:<15} {state}, idle for {idle_seconds} s{way}"));
    }
    list.absent.iter().for_each(|name| say(&format!("absent  {name}")));
    for ListedGame { game, black, white, black_ms, white_ms, plies } in &list.games {
        let clock = |left: &Option<u64>| left.map_or_else(|| "-".to_owned(), |ms| format!("{} s", ms / 1000));
        let [left_black, left_white] = [black_ms, white_ms].map(clock);
        say(&format!("game {game}  {black} ({left_black}) - {white} ({left_white}), ply {plies}"));
    }
    for ListedAdjourned { game, black, white } in &list.adjourned {
        say(&format!("adjourned {game}  {black} - {white}: `play-on {game}`, or `replay {game}`"));
    }
    let bans = list.bans.iter().map(|ban| ("ban", ban));
    for (what, ban) in bans.chain(list.dropped.iter().map(|machine| ("dropped", machine))) {
        let ListedBan { whom, operation, by, reason } = ban;
        say(&format!("{what:<7} {whom} by {by} (operation {operation}){}", behind(": ", reason)));
    }
    list.machines.iter().for_each(|machine| say(&machine_line(machine)));
    for ListedAppeal { operation, game, by, reason } in &list.appeals {
        say(&format!("appeal  {operation} against the result of game {game} by {by}: {reason}"));
    }
    list.mutes.iter().for_each(|name| say(&format!("muted   {name}")));
    list.buoys.iter().for_each(|name| say(&format!("buoy    {name}")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use platform::door::{self, Listener};

    #[test]
    fn an_order_to_an_event_that_nobody_plays_names_what_plays_it_and_what_is_possible_without() {
        let place = tempfile::tempdir().unwrap();
        let why = absent(place.path(), Some("cup"), &io::ErrorKind::NotFound.into()).to_string();
        for words in ["nobody plays `cup`", "`hall` that does, so begin it first", "`renmei rerun`"] {
            assert!(why.contains(words), "{words}: {why}");
        }
    }

    #[test]
    fn a_refusal_at_the_door_is_heard_although_the_order_could_not_be_written() {
        let place = tempfile::tempdir().unwrap();
        let (path, beside) = (place.path().join("cup.db-admin"), place.path().join("cup.db"));
        std::fs::write(&beside, "").unwrap();
        let (listener, _door) = Listener::open(&path).unwrap();
        let stream = door::connect(&path, &beside).unwrap();
        let refusal = serde_json::to_string(&Answer::refused("too many orders at once")).unwrap();
        writeln!(&listener.accept().unwrap(), "{refusal}").unwrap();
        let request = Request { named: None, reason: None, event: None, command: Command::Resume };
        let answer = exchanged(&stream, &request).unwrap();
        assert_eq!((answer.ok, answer.text.as_str()), (false, "too many orders at once"));
        let silent = door::connect(&path, &beside).unwrap();
        drop(listener.accept().unwrap());
        assert!(exchanged(&silent, &request).is_err());
    }
}
