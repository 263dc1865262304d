//! The running games as the operator sees them: a fold of the committed entries.

use super::request::ListedGame;
use referee::{
    Color,
    entry::{Entry, GameId, PlayerId, Stamped},
    schedule::Pairing,
};
use std::collections::BTreeMap;

/// The running games.
#[derive(Debug, Default)]
pub(super) struct Boards {
    players: Vec<String>,
    games: BTreeMap<GameId, Board>,
}

#[derive(Debug)]
struct Board {
    players: [String; 2],
    plies: u32,
    left: [Option<u64>; 2],
    /// The side that moved last, and when, in ms since 1970.
    last: Option<(Color, i64)>,
}

impl Boards {
    pub fn fold(&mut self, Stamped { at, entry }: &Stamped) {
        match entry {
            Entry::Opened(opened) => {
                self.games.clear();
                self.players.clone_from(&opened.players);
            }
            Entry::Entered { name, .. } => self.players.push(name.clone()),
            Entry::GameStarted(started) => {
                let players = self.names(&started.pairing);
                let plies = started.opening.split_whitespace().count() as u32;
                self.games.insert(started.game, Board { players, plies, left: [None; 2], last: None });
            }
            Entry::Moved(moved) => {
                if let Some(board) = self.games.get_mut(&moved.game) {
                    board.plies = moved.ply;
                    board.left[moved.color.index()] = u64::try_from(moved.left.as_millis()).ok();
                    board.last = Some((moved.color, *at));
                }
            }
            Entry::GameEnded(ended) => drop(self.games.remove(&ended.game)),
            _ => {}
        }
    }

    /// The names of the players at a place of the schedule, black's first.
    pub fn names(&self, pairing: &Pairing) -> [String; 2] {
        let name = |player: PlayerId| self.players.get(player.index()).cloned().unwrap_or_default();
        [pairing.black, pairing.white].map(name)
    }

    /// The games, with what their clocks show at that time, in ms since 1970.
    pub fn listed(&self, now: i64) -> Vec<ListedGame> {
        let line = |(game, board): (&GameId, &Board)| {
            let [black, white] = board.players.clone();
            let [black_ms, white_ms] = [Color::Black, Color::White].map(|color| board.left(color, now));
            ListedGame { game: game.0, black, white, plies: board.plies, black_ms, white_ms }
        };
        self.games.iter().map(line).collect()
    }
}

impl Board {
    fn left(&self, color: Color, now: i64) -> Option<u64> {
        let left = self.left[color.index()]?;
        let thinks = self.last.filter(|(moved, _)| *moved != color);
        let since = thinks.map_or(0, |(_, at)| u64::try_from(now - at).unwrap_or(0));
        Some(left.saturating_sub(since))
    }
}
