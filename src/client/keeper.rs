//! Everything that happens, on its way to the database; and the lines that tell people of it once it is there.

use journal::bus::{self, Bus, Note};
use journal::{Asides, Store, StoreError, Writer};
use referee::event::{Event, GameEnded, GameId, PlayerId, Stamped};
use std::{
    path::Path,
    sync::Arc,
    thread::{self, JoinHandle},
};
use tokio_util::sync::CancellationToken;

/// The thread that brings everything from the bus to the store, with what was said on the way, until it is told to stop or the disk fails; then
/// `failed` is cancelled.
///
/// # Errors
/// When there is no thread.
pub fn keep(
    path: &Path,
    (bus, asides): (Arc<Bus>, Asides),
    writer: Writer,
    failed: CancellationToken,
) -> Result<JoinHandle<Result<Store, StoreError>>, StoreError> {
    let work = move || {
        let kept = pump(&bus, &asides, &writer).and_then(|()| writer.finish());
        if kept.is_err() {
            failed.cancel();
        }
        kept
    };
    let thread = thread::Builder::new().name("events".to_owned()).spawn(work);
    thread.map_err(|source| StoreError::Thread { path: path.to_owned(), source: Arc::new(source) })
}

fn pump(bus: &Bus, asides: &Asides, writer: &Writer) -> Result<(), StoreError> {
    let mut notes: Vec<Note> = vec![];
    loop {
        bus.drain(&mut notes);
        let over = notes.iter().any(|note| matches!(note, bus::Note::Stop { .. }));
        let event = |note| match note {
            Note::Event(stamped) => Some(stamped),
            Note::Free(_) | Note::Stop { .. } => None,
        };
        writer.write(notes.drain(..).filter_map(event))?;
        writer.keep(asides.take())?;
        if over {
            return Ok(());
        }
    }
}

/// Tells people in lines what was committed.
#[derive(Debug, Default)]
pub struct Teller {
    players: Vec<String>,
}

impl Teller {
    /// The line about an event, if it is worth one. What strangers have said in it is made safe for a terminal.
    pub fn line(&mut self, stamped: &Stamped) -> Option<String> {
        self.words(stamped).map(|line| notation::printable(line.as_bytes()))
    }

    fn words(&mut self, stamped: &Stamped) -> Option<String> {
        match &stamped.event {
            Event::Opened(opened) => {
                self.players.clone_from(&opened.players);
                None
            }
            Event::GameStarted(started) => {
                let game = self.game(started.game, started.pairing.black, started.pairing.white);
                Some(format!("{game} begins"))
            }
            Event::GameEnded(end) => Some(self.ended(end)),
            Event::Fault { text, .. } => text.lines().next().map(|line| format!("fault: {line}")),
            _ => None,
        }
    }

    fn ended(&self, end: &GameEnded) -> String {
        let why = end.evidence.lines().next().unwrap_or_default();
        let why = if end.outcome.counts() || why.is_empty() { String::new() } else { format!(" ({why})") };
        let game = self.game(end.game, end.pairing.black, end.pairing.white);
        format!("{game}: {}, {} plies{why}", end.outcome, end.plies)
    }

    fn game(&self, game: GameId, black: PlayerId, white: PlayerId) -> String {
        format!("game {}: {} - {}", game.0, self.name(black), self.name(white))
    }

    fn name(&self, player: PlayerId) -> &str {
        self.players.get(player.index()).map_or("?", String::as_str)
    }
}
