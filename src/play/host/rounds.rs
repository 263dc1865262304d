//! Rounds by the clock: at the times of a schedule, all players who wait for a game of its name are paired.

use super::{
    context::HostContext,
    lobby::{Lobby, NEARLY_FULL},
    presence::{LoginId, Player, Status},
    rating_history::PlayedGames,
};
use contest::schedule::rounds::{Paired, Seeker, pair};
use journal::now;
use notation::csa::game_name::{GameName, Wish};
use plan::serve::RoundsConfig;
use referee::entry::{Entry, PlayerId};
use std::time::Duration;

/// Begins the rounds of a schedule, until the host closes.
pub(super) async fn keep(rounds: RoundsConfig, context: HostContext) {
    let Ok(game) = rounds.game.parse::<GameName>() else { return };
    let begun = now();
    while let Some(next) = rounds.next(begun, now()) {
        let left = u64::try_from(next - now()).unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(left)).await;
        if now() < next {
            continue;
        }
        let (logins, seekers) = context.lobby().seekers(&game);
        let (method, seed) = (rounds.pairing, rand::random());
        // Pairing many players takes a while; the games of this thread go on meanwhile.
        let paired = tokio::task::spawn_blocking(move || pair(&seekers, method, seed)).await;
        if let Ok(paired) = paired {
            context.lobby().begin_round(&game, &logins, &paired);
        }
    }
}

impl Lobby {
    fn seekers(&self, game: &GameName) -> (Vec<LoginId>, Vec<Seeker>) {
        let played = self.history.read();
        let waiting = self.presence.waiting_for(game);
        waiting.map(|(login, player, _)| (login, self.seeker(&played, player))).unzip()
    }

    fn seeker(&self, played: &PlayedGames, player: &Player) -> Seeker {
        let number = self.arranger.roster().player(&player.id);
        let human = player.name.ends_with("_human");
        Seeker { human, ..played.seeker(number, self.config.rating.mean) }
    }

    fn waits_for(&self, login: LoginId, game: &GameName) -> bool {
        let status = self.presence.get(login).map(|player| &player.status);
        matches!(status, Some(Status::GameWaiting(name, Wish::Either)) if name == game)
    }

    /// Begins the games of a round. If a player has left meanwhile, its opponent waits for the next round.
    fn begin_round(&mut self, game: &GameName, logins: &[LoginId], paired: &Paired) {
        if self.closing || self.operations.is_paused() || paired.tables.is_empty() {
            return;
        }
        if self.is_disk_low() {
            return logins.iter().for_each(|login| self.error(*login, NEARLY_FULL));
        }
        let round = self.history.read().round + 1;
        for &(black, white) in &paired.tables {
            let players = [logins[black], logins[white]];
            let hindered = players.map(|login| self.waits_for(login, game) && self.is_hindered(login));
            if hindered == [false; 2] && players.into_iter().all(|login| self.waits_for(login, game)) {
                self.begin(game, players, round);
            }
        }
        if let Some(player) = paired.bye.and_then(|bye| self.presence.get(logins[bye])) {
            let player: PlayerId = self.arranger.roster().player(&player.id);
            self.arranger.sink().happened(Entry::Bye { stage: 0, round, player, half_points: 0 });
        }
    }
}
