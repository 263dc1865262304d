//! Rounds by the clock: at its times, everybody who waits for a game of that name is paired.

use super::{
    connection::Hall,
    ledger::Pages,
    lobby::{Key, Lobby, Status},
};
use journal::now;
use notation::csa::game_name::{GameName, Wish};
use plan::serve::RoundsConfig;
use referee::{
    event::{Event, PlayerId},
    schedule::rounds::{Paired, Seeker, pair},
};
use std::time::Duration;

/// Begins the rounds of a schedule, until the league closes.
pub(super) async fn keep(rounds: RoundsConfig, hall: Hall) {
    let Ok(game) = rounds.game.parse::<GameName>() else { return };
    let begun = now();
    while let Some(next) = rounds.next(begun, now()) {
        let left = u64::try_from(next - now()).unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(left)).await;
        if now() < next {
            continue;
        }
        let (keys, seekers) = hall.lobby().waiting_for(&game);
        let (method, seed) = (rounds.pairing, rand::random());
        // Many who wait take a while to pair; the games of this thread go on meanwhile.
        let paired = tokio::task::spawn_blocking(move || pair(&seekers, method, seed)).await;
        if let Ok(paired) = paired {
            hall.lobby().begin_round(&game, &keys, &paired);
        }
    }
}

impl Lobby {
    fn waiting_for(&self, game: &GameName) -> (Vec<Key>, Vec<Seeker>) {
        let pages = self.ledger.read();
        let waiting = self
            .players
            .iter()
            .filter(|(_, player)| matches!(&player.status, Status::GameWaiting(name, _) if name == game));
        let seeker = |name: &str, id: &str| self.seeker(&pages, name, id);
        waiting.map(|(key, player)| (*key, seeker(&player.name, &player.id))).unzip()
    }

    fn seeker(&self, pages: &Pages, name: &str, id: &str) -> Seeker {
        let player = self.roster.player(id);
        Seeker { human: name.ends_with("_human"), ..pages.seeker(player, self.config.rating.mean) }
    }

    /// Begins the games of a round; who has left meanwhile is missed by its opponent, who waits for the next.
    fn begin_round(&mut self, game: &GameName, keys: &[Key], paired: &Paired) {
        if self.closing || paired.tables.is_empty() {
            return;
        }
        let round = self.ledger.read().round + 1;
        let waits = |lobby: &Self, key: Key| {
            let status = lobby.players.get(&key).map(|player| &player.status);
            matches!(status, Some(Status::GameWaiting(name, Wish::Either)) if name == game)
        };
        for &(black, white) in &paired.tables {
            let players = [keys[black], keys[white]];
            if players.into_iter().all(|key| waits(self, key)) {
                self.begin(game, players, round);
            }
        }
        if let Some(player) = paired.bye.and_then(|bye| self.players.get(&keys[bye])) {
            let player: PlayerId = self.roster.player(&player.id);
            self.transcripts.sink().happened(Event::Bye { stage: 0, round, player, half_points: 0 });
        }
    }
}
