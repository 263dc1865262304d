//! `renmei log`: what the engines of a game and its connections said and were told.

use super::{Exit, Failure, find_event};
use clap::Args;
use journal::{EventSummary, Store};
use notation::{date, printable};
use plan::StoredPlan;
use platform::files;
use referee::{
    Color,
    entry::GameId,
    sink::{Channel, Direction, TranscriptLine},
};
use std::{io, path::PathBuf};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each line: the time in UTC, the colour of the player whose connection it is, `<` received or `>` sent by this program, and
the line itself; what a terminal would not print as it is, is escaped. In the database of a host a line that was sent went to
the player; in that of `renmei floodgate` the colour is our own, and what was sent went to the server.

Examples:
  renmei log 7 --db league.db
  renmei log 7 --db floodgate.db
  renmei log league+t-600-10+gps+fairy+20261121120000")]
pub struct LogArgs {
    /// The game: its number or its Game_ID.
    pub game: String,
    /// The database; by default the one in the current directory, or the newest of several.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
}

/// A line as it is shown.
struct Line {
    /// Microseconds since 1970-01-01 UTC.
    at: i64,
    color: Color,
    way: Direction,
    text: String,
}

/// Prints every line of a game, escaped for terminals.
pub fn log(args: &LogArgs) -> Result<Exit, Failure> {
    let db = super::database(args.db.as_deref())?;
    let store = Store::read(&db)?;
    let events = store.events()?;
    let event = find_event(&events, args.event.as_deref())?;
    let number = args.game.parse().ok().map(GameId);
    let game = number.map_or_else(|| store.game_named(event.id, &args.game), |number| Ok(Some(number)))?;
    let lines = game.map_or(Ok(vec![]), |game| lines(&store, event, game))?;
    if lines.is_empty() {
        return Err(Failure::Other(nothing(&store, event, game, &args.game)?));
    }
    lines.iter().for_each(|line| out_line!("{}", text(line)));
    Ok(Exit::Done)
}

/// The lines of a game by time. A file holds more than the database does, which keeps the ends of long games.
fn lines(store: &Store, event: &EventSummary, game: GameId) -> Result<Vec<Line>, Failure> {
    let mut shown = vec![];
    let mut from_file = [false; 2];
    for color in Color::BOTH {
        let found = file(store, event, game, color)?;
        from_file[color.index()] = !found.is_empty();
        shown.extend(found);
    }
    let kept = store.transcript(event.id, game)?;
    let own = |line: &TranscriptLine| line.channel == Channel::Engine && from_file[line.color.index()];
    shown.extend(kept.into_iter().filter(|line| !own(line)).map(|line| Line {
        at: line.at,
        color: line.color,
        way: line.way,
        text: printable(&line.bytes),
    }));
    shown.sort_by_key(|line| line.at);
    Ok(shown)
}

/// The lines that the event's log holds of one side.
fn file(store: &Store, event: &EventSummary, game: GameId, color: Color) -> Result<Vec<Line>, Failure> {
    let plan = StoredPlan::from_json(&event.plan).ok();
    let Some(directory) = plan.as_ref().and_then(|plan| plan.log.directory()) else { return Ok(vec![]) };
    let Some(full) = store.game(event.id, game)? else { return Ok(vec![]) };
    let player = if color == Color::Black { &full.row.black } else { &full.row.white };
    let path = seat::recorder::path(directory, &event.name, game, color, player);
    match files::contents(&path, files::LARGE).and_then(files::utf8) {
        Ok(text) => Ok(text.lines().filter_map(|line| parsed(line, color)).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(vec![]),
        Err(error) => Err(Failure::Other(format!("{}: {error}", path.display()))),
    }
}

/// A line of a file: day, time of day, seconds since the first line, mark, text.
fn parsed(line: &str, color: Color) -> Option<Line> {
    let (time, rest) = line.split_at_checked("2026/11/22 03:45:04".len())?;
    let (micros, rest) = rest.strip_prefix('.')?.split_at_checked(6)?;
    let (_since, rest) = rest.trim_start().split_once(' ')?;
    let way = Direction::of(rest.chars().next()?)?;
    let at = date::parse(time)?.checked_mul(1000)?.checked_add(micros.parse().ok()?)?;
    Some(Line { at, color, way, text: rest.get(2..)?.to_owned() })
}

fn text(line: &Line) -> String {
    let (time, micros) = (date::text(line.at / 1000), line.at % 1_000_000);
    format!("{time}.{micros:06} {} {} {}", line.color, line.way.mark(), line.text)
}

/// Why there is nothing to show, and what to do for the next time.
fn nothing(
    store: &Store,
    event: &EventSummary,
    game: Option<GameId>,
    asked: &str,
) -> Result<String, Failure> {
    let asked = printable(asked.as_bytes());
    let Some(game) = game else { return Ok(format!("the database has no transcript of a game `{asked}`")) };
    Ok(match store.game(event.id, game)? {
        None => format!(
            "the database has no transcript of a game `{asked}`: event `{}` has no such game",
            event.name
        ),
        Some(full) if full.row.pruned_at.is_some() => {
            format!(
                "the lines of game `{asked}` were dropped on {}, as those of old games",
                day(full.row.pruned_at)
            )
        }
        Some(_) => format!(
            "the database has no transcript of a game `{asked}`: lines of engines are kept of games that ended by a \
             fault, and with `--log DIR` of every game"
        ),
    })
}

/// The day of a time in ms since 1970, such as `2026/11/22`.
fn day(at: Option<i64>) -> String {
    date::text(at.unwrap_or_default()).chars().take(10).collect()
}
