//! Numbers for the games and players of the event: the server names them, the database numbers them.

use super::announced::Announced;
use arena::play::Fixture;
use contest::schedule::Pairing;
use plan::client::ClientConfig;
use referee::{
    entry::{Entry, GameId, Opened, PlayerId},
    game::Setup,
    sink::Sink,
};
use std::sync::Arc;

/// Makes fixtures of announced games.
#[derive(Debug)]
pub struct Fixtures {
    sink: Arc<dyn Sink>,
    players: Vec<String>,
    next_game: GameId,
}

impl Fixtures {
    /// The players who are known from earlier runs, and the number of the next game. New players are reported to
    /// `sink`.
    pub fn new(sink: Arc<dyn Sink>, players: Vec<String>, next_game: GameId) -> Self {
        Self { sink, players, next_game }
    }

    /// The fixture of an announced game, under the next number.
    pub fn fixture(&mut self, announced: &Announced) -> Fixture {
        let game = self.next_game;
        self.next_game = GameId(game.0 + 1);
        let [black, white] = announced.names.each_ref().map(|name| self.player(name));
        let index = game.0.saturating_sub(1);
        let pairing =
            Pairing { stage: 0, index, attempt: 0, round: 1, pair: index, opening: 0, black, white };
        let setup = Setup {
            rules: announced.rules,
            opening: announced.opening.clone(),
            ..Setup::of(game, announced.times, &announced.start)
        };
        Fixture { tells_times: true, ..Fixture::of(setup, pairing) }
    }

    /// The number of a player; a new one is entered before its first game.
    fn player(&mut self, name: &str) -> PlayerId {
        let at = self.players.iter().position(|known| known == name).unwrap_or_else(|| {
            let player = PlayerId::at(self.players.len());
            self.players.push(name.to_owned());
            self.sink.happened(Entry::Entered { player, name: name.to_owned() });
            player.index()
        });
        PlayerId::at(at)
    }
}

/// The head of the event.
pub fn opened(config: &ClientConfig, players: Vec<String>, resumed: bool) -> Entry {
    let format = format!("games on {}", config.host);
    Entry::Opened(Opened { name: config.name.clone(), players, format, resumed })
}
