//! Lines for people about games on a server, written once the entries are in the database.

use notation::printable;
use referee::{
    entry::{Entry, GameEnded, GameId, PlayerId, Stamped},
    number::plies,
};

/// Writes a line for each entry that is worth one.
#[derive(Debug, Default)]
pub struct GameLines {
    players: Vec<String>,
}

impl GameLines {
    /// The line about an entry, if it is worth one, with the text of strangers made safe for a terminal.
    pub fn line(&mut self, stamped: &Stamped) -> Option<String> {
        self.words(stamped).map(|line| printable(line.as_bytes()))
    }

    fn words(&mut self, stamped: &Stamped) -> Option<String> {
        match &stamped.entry {
            Entry::Opened(opened) => {
                self.players.clone_from(&opened.players);
                None
            }
            Entry::Entered { name, .. } => {
                self.players.push(name.clone());
                None
            }
            Entry::GameStarted(started) => {
                let game = self.game(started.game, started.pairing.black, started.pairing.white);
                Some(format!("{game} begins"))
            }
            Entry::GameEnded(end) => Some(self.ended(end)),
            Entry::Fault { text, .. } => text.lines().next().map(|line| format!("fault: {line}")),
            _ => None,
        }
    }

    fn ended(&self, end: &GameEnded) -> String {
        let why = end.reason().map_or_else(String::new, |why| format!(" ({why})"));
        let game = self.game(end.game, end.pairing.black, end.pairing.white);
        format!("{game}: {}, {}{why}", end.outcome, plies(end.plies))
    }

    fn game(&self, game: GameId, black: PlayerId, white: PlayerId) -> String {
        format!("game {}: {} - {}", game.0, self.name(black), self.name(white))
    }

    fn name(&self, player: PlayerId) -> &str {
        self.players.get(player.index()).map_or("?", String::as_str)
    }
}
