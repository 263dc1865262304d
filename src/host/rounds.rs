//! Rounds by the clock: at its times, everybody who waits for a game of that name is paired.

use super::{
    connection::HostContext,
    lobby::{Lobby, LoginId, Status},
    rating_history::PlayedGames,
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
pub(super) async fn keep(rounds: RoundsConfig, context: HostContext) {
    let Ok(game) = rounds.game.parse::<GameName>() else { return };
    let begun = now();
    while let Some(next) = rounds.next(begun, now()) {
        let left = u64::try_from(next - now()).unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(left)).await;
        if now() < next {
            continue;
        }
        let (logins, seekers) = context.lobby().waiting_for(&game);
        let (method, seed) = (rounds.pairing, rand::random());
        // Many who wait take a while to pair; the games of this thread go on meanwhile.
        let paired = tokio::task::spawn_blocking(move || pair(&seekers, method, seed)).await;
        if let Ok(paired) = paired {
            context.lobby().begin_round(&game, &logins, &paired);
        }
    }
}

impl Lobby {
    fn waiting_for(&self, game: &GameName) -> (Vec<LoginId>, Vec<Seeker>) {
        let played = self.history.read();
        let waiting = self
            .players
            .iter()
            .filter(|(_, player)| matches!(&player.status, Status::GameWaiting(name, _) if name == game));
        let seeker = |name: &str, id: &str| self.seeker(&played, name, id);
        waiting.map(|(login, player)| (*login, seeker(&player.name, &player.id))).unzip()
    }

    fn seeker(&self, played: &PlayedGames, name: &str, id: &str) -> Seeker {
        let player = self.roster.player(id);
        Seeker { human: name.ends_with("_human"), ..played.seeker(player, self.config.rating.mean) }
    }

    /// Begins the games of a round; who has left meanwhile is missed by its opponent, who waits for the next.
    fn begin_round(&mut self, game: &GameName, logins: &[LoginId], paired: &Paired) {
        if self.closing || paired.tables.is_empty() {
            return;
        }
        let round = self.history.read().round + 1;
        let waits = |lobby: &Self, login: LoginId| {
            let status = lobby.players.get(&login).map(|player| &player.status);
            matches!(status, Some(Status::GameWaiting(name, Wish::Either)) if name == game)
        };
        for &(black, white) in &paired.tables {
            let players = [logins[black], logins[white]];
            if players.into_iter().all(|login| waits(self, login)) {
                self.begin(game, players, round);
            }
        }
        if let Some(player) = paired.bye.and_then(|bye| self.players.get(&logins[bye])) {
            let player: PlayerId = self.roster.player(&player.id);
            self.transcripts.sink().happened(Event::Bye { stage: 0, round, player, half_points: 0 });
        }
    }
}
