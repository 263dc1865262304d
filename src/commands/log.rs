//! `renmei log`: the transcript of a game played over the network.

use super::{Exit, Failure};
use crate::cli::LogArgs;
use journal::Store;
use notation::date;
use notation::printable;
use referee::entry::GameId;
use referee::sink::{TranscriptLine, Way};

/// Prints every line of a game, escaped for terminals.
///
/// # Errors
/// When the database has no such event or game.
pub fn log(args: &LogArgs) -> Result<Exit, Failure> {
    let store = Store::read(&args.db)?;
    let event = records::event(&store, args.event.as_deref(), &args.db)?.id;
    let number = args.game.parse().ok().map(GameId);
    let lines = match number.map_or_else(|| store.game_named(event, &args.game), |number| Ok(Some(number)))? {
        Some(game) => store.transcript(event, game)?,
        None => vec![],
    };
    if lines.is_empty() {
        let game = printable(args.game.as_bytes());
        return Err(Failure::Other(format!("the database has no transcript of a game `{game}`")));
    }
    lines.iter().for_each(|line| out_line!("{}", text(line)));
    Ok(Exit::Done)
}

fn text(line: &TranscriptLine) -> String {
    let (time, micros) = (date::text(line.at / 1000), line.at % 1_000_000);
    let way = if line.way == Way::Received { '<' } else { '>' };
    format!("{time}.{micros:06} {} {way} {}", line.color, printable(&line.bytes))
}
