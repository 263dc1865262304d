//! Results of every pair of players by colour.

use std::collections::BTreeMap;

/// Results of one ordered pair of players: counts, or weights of any unit such as games discounted by age.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Results {
    /// Games won by black.
    pub black_wins: f64,
    /// Games drawn.
    pub draws: f64,
    /// Games won by white.
    pub white_wins: f64,
}

impl Results {
    pub(super) fn games(&self) -> f64 {
        self.black_wins + self.draws + self.white_wins
    }

    fn add(&mut self, more: Self) {
        self.black_wins += more.black_wins;
        self.draws += more.draws;
        self.white_wins += more.white_wins;
    }
}

/// Results that a table cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// A player's number is beyond the table.
    #[error("player {player} of a table for {players}")]
    NoSuchPlayer {
        /// The number given.
        player: usize,
        /// The players of the table.
        players: usize,
    },
    /// Both colours were given to one player.
    #[error("player {0} against itself")]
    Itself(usize),
    /// A count below zero, infinite or not a number.
    #[error("results that are no counts: {0:?}")]
    NoCount(Results),
}

/// The results of a field, stored sparsely: pairs that never met take no memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrossTable {
    players: usize,
    cells: BTreeMap<(usize, usize), Results>,
}

impl CrossTable {
    /// A table for players `0..players` without a game.
    pub fn new(players: usize) -> Self {
        Self { players, cells: BTreeMap::new() }
    }

    /// Makes room for players up to `players`; never shrinks.
    pub fn grow(&mut self, players: usize) {
        self.players = self.players.max(players);
    }

    /// Adds results of games in which `black` had black against `white`.
    ///
    /// # Errors
    /// [`TableError`] for players outside the table, one player against itself, and invalid counts; the table is then
    /// unchanged.
    pub fn add(&mut self, black: usize, white: usize, results: Results) -> Result<(), TableError> {
        let players = self.players;
        if let Some(player) = [black, white].into_iter().find(|&player| player >= players) {
            return Err(TableError::NoSuchPlayer { player, players });
        }
        if black == white {
            return Err(TableError::Itself(black));
        }
        let Results { black_wins, draws, white_wins } = results;
        if [black_wins, draws, white_wins].iter().any(|n| !n.is_finite() || *n < 0.0) {
            return Err(TableError::NoCount(results));
        }
        if results.games() > 0.0 {
            self.cells.entry((black, white)).or_default().add(results);
        }
        Ok(())
    }

    /// Number of players.
    pub fn players(&self) -> usize {
        self.players
    }

    /// The pairs that met: `(black, white, results)`, in the order of their numbers.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize, &Results)> {
        self.cells.iter().map(|(&(black, white), results)| (black, white, results))
    }
}
