//! The running games as the operator sees them: a fold of the committed entries.

use super::request::ListedGame;
use contest::schedule::Pairing;
use referee::{
    Color,
    entry::{Entry, GameId, PlayerId, Stamped},
    running::RunningGame,
};
use std::{collections::BTreeMap, time::Duration};

/// The running games.
#[derive(Debug, Default)]
pub(super) struct Boards {
    players: Vec<String>,
    games: BTreeMap<GameId, RunningGame>,
}

impl Boards {
    pub fn fold(&mut self, Stamped { at, entry }: &Stamped) {
        match entry {
            Entry::Opened(opened) => {
                self.games.clear();
                self.players.clone_from(&opened.players);
            }
            // An event that is taken up again begins with all players.
            Entry::Entered { player, name } if player.index() == self.players.len() => {
                self.players.push(name.clone());
            }
            Entry::Renamed { player, name } => {
                self.players.get_mut(player.index()).into_iter().for_each(|known| known.clone_from(name));
            }
            Entry::GameStarted(started) => {
                let game = RunningGame::new(started, Default::default(), *at);
                self.games.insert(started.game, game);
            }
            Entry::Moved(moved) => {
                if let Some(game) = self.games.get_mut(&moved.game) {
                    game.moved(moved, *at);
                    // An operator sees no thoughts, and they are most of a game's memory.
                    game.plies.iter_mut().last().into_iter().for_each(|ply| ply.thought = None);
                }
            }
            Entry::GameEnded(ended) => drop(self.games.remove(&ended.game)),
            _ => {}
        }
    }

    /// The names of all players.
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// The names of the players at a place of the schedule, black's first.
    pub fn names(&self, pairing: &Pairing) -> [String; 2] {
        let name = |player: PlayerId| self.players.get(player.index()).cloned().unwrap_or_default();
        [pairing.black, pairing.white].map(name)
    }

    /// The games, with what their clocks show at that time, in ms since 1970.
    pub fn listed(&self, now: i64) -> Vec<ListedGame> {
        let line = |game: &RunningGame| {
            let [black, white] = self.names(&game.pairing);
            let [black_ms, white_ms] = Color::BOTH.map(|color| left(game, color, now));
            let plies = u32::try_from(game.plies.len()).unwrap_or(u32::MAX);
            ListedGame { game: game.id.0, black, white, plies, black_ms, white_ms }
        };
        self.games.values().map(line).collect()
    }
}

/// Main time that a side has left, in ms; `None` before its first move.
fn left(game: &RunningGame, color: Color, now: i64) -> Option<u64> {
    let own = game.last_of(color, usize::MAX).filter(|ply| ply.charged.is_some())?;
    let thinks = game.plies.last().filter(|last| last.color != color && last.charged.is_some());
    let since = thinks.map_or(0, |last| u64::try_from(now - last.at).unwrap_or(0));
    u64::try_from(own.left.saturating_sub(Duration::from_millis(since)).as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::entry::Opened;

    #[test]
    fn an_engine_that_has_joined_is_listed_once_while_it_plays_and_after_a_restart() {
        let opened = |players: &[&str]| {
            let players = players.iter().map(|&name| name.to_owned()).collect();
            Entry::Opened(Opened { name: "e".to_owned(), players, format: String::new(), resumed: false })
        };
        let joins = Entry::Entered { player: PlayerId(2), name: "c".to_owned() };
        for known in [&["a", "b"][..], &["a", "b", "c"]] {
            let mut boards = Boards::default();
            [opened(known), joins.clone()]
                .into_iter()
                .for_each(|entry| boards.fold(&Stamped { at: 0, entry }));
            assert_eq!(boards.players(), ["a", "b", "c"]);
        }
    }

    #[test]
    fn the_operator_sees_the_games_that_run_and_what_the_clock_of_the_side_to_move_shows() {
        rsshogi::board::init();
        let mut boards = Boards::default();
        let mut fold = |at: i64, entry| boards.fold(&Stamped { at, entry });
        let players = ["a", "b"].map(str::to_owned).to_vec();
        fold(
            0,
            Entry::Opened(Opened { name: "e".to_owned(), players, format: String::new(), resumed: false }),
        );
        fold(0, Entry::Renamed { player: PlayerId(1), name: "d".to_owned() });
        let (game, black, white) = (GameId(7), PlayerId(1), PlayerId(0));
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let (start, opening) = (referee::opening::EVEN.to_owned(), "7g7f".to_owned());
        let started = referee::entry::GameStarted { game, pairing, start, opening, times: None };
        for number in [7, 8] {
            fold(
                1000,
                Entry::GameStarted(referee::entry::GameStarted { game: GameId(number), ..started.clone() }),
            );
        }
        let moved = |ply, color, usi: &str, left| {
            let mv = rsshogi::types::Move::from_usi(usi).unwrap();
            let [charged, elapsed, left] = [1, 1, left].map(Duration::from_secs);
            let thought = Some(Box::default());
            Entry::Moved(referee::entry::Moved { game, ply, color, mv, charged, elapsed, left, thought })
        };
        fold(2000, moved(2, Color::White, "3c3d", 60));
        fold(3000, moved(3, Color::Black, "2g2f", 50));
        let won = referee::Outcome::loss(Color::White, referee::WinBy::Mate);
        fold(3000, Entry::GameEnded(referee::entry::GameEnded::new(GameId(8), pairing, won, 9)));
        assert!(boards.games[&game].plies.iter().all(|ply| ply.thought.is_none()));
        let listed = |now| {
            let listed = boards.listed(now);
            assert_eq!(listed.len(), 1, "the other game is over");
            let ListedGame { game, black, white, plies, black_ms, white_ms } = &listed[0];
            assert_eq!((*game, &**black, &**white, *plies), (7, "d", "a", 3));
            (*black_ms, *white_ms)
        };
        assert_eq!(listed(3000), (Some(50_000), Some(60_000)));
        assert_eq!(listed(13_500), (Some(50_000), Some(49_500)), "white is to move");
        assert_eq!(listed(999_000), (Some(50_000), Some(0)));
        assert_eq!(listed(0), (Some(50_000), Some(60_000)), "no clock goes back");
        let other = RunningGame::new(&started, Default::default(), 0);
        assert_eq!(left(&other, Color::Black, 9000), None, "a move of the opening took no time");
    }
}
