//! The games that are over, in memory: a search of a million of them takes milliseconds there, and a second in the
//! database. A game takes 64 bytes.

use journal::{EndedGame, EventId, Store, StoreError};
use referee::entry::GameId;
use std::collections::HashMap;

/// First moves of a game that are kept.
pub const KEPT: usize = 8;

/// Games whose first moves are read at once while nobody asks.
const AT_ONCE: usize = 500;

/// Who won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    /// Black.
    Black,
    /// White.
    White,
    /// Nobody; the game counts.
    Draw,
    /// The game does not count.
    None,
}

impl Result {
    fn of(word: &str) -> Self {
        match word {
            "black" => Self::Black,
            "white" => Self::White,
            "draw" => Self::Draw,
            _ => Self::None,
        }
    }

    /// Black's score of a game that counts, in half points.
    pub fn black_half_points(self) -> u8 {
        match self {
            Self::Black => 2,
            Self::White => 0,
            Self::Draw | Self::None => 1,
        }
    }

    /// `black`, `white`, `draw` or `none`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::White => "white",
            Self::Draw => "draw",
            Self::None => "none",
        }
    }
}

/// A game that is over.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Number of the game.
    pub number: u64,
    /// Stage, from 0.
    pub stage: u8,
    /// Round, from 1.
    pub round: u32,
    /// Black and white, by number.
    pub players: [u32; 2],
    /// Start in ms since 1970-01-01 UTC; `i64::MIN` for a game that never began.
    pub started: i64,
    /// End in the same.
    pub ended: i64,
    /// Plies at the end.
    pub plies: u32,
    /// The winner.
    pub result: Result,
    /// True if it counts.
    pub counts: bool,
    /// The cause of its ending, in [`Catalogue::causes`].
    cause: u16,
    /// Codes of its first moves, 0 after the last; unknown before [`Catalogue::read_openings`].
    moves: [u16; KEPT],
}

/// The games of an event that are over, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Catalogue {
    games: Vec<Entry>,
    causes: Vec<String>,
    places: HashMap<String, u16>,
    /// The last entry of the log that was read.
    seq: u64,
    /// Number of the first game whose moves are not known yet.
    unread: u64,
}

/// Whether a pattern of `[http] private` fits a name of a game. The store is asked, because the feed may not have come to
/// the game yet.
fn is_private(game: &EndedGame<'_>, private: &[String]) -> bool {
    game.names.iter().flatten().any(|name| plan::http::is_private(private, name))
}

impl Catalogue {
    /// Takes what ended since the last call, without the games that fit a pattern of `private`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn refresh(
        &mut self,
        store: &Store,
        event: EventId,
        private: &[String],
    ) -> std::result::Result<(), StoreError> {
        let seq = self.seq;
        self.seq = store.ended_since(event, seq, !private.is_empty(), &mut |game| {
            if !is_private(&game, private) {
                self.take(&game);
            }
        })?;
        Ok(())
    }

    /// Takes what ended since the last call, and a part of the first moves that are not known yet. Returns whether all are
    /// known.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn prepare(
        &mut self,
        store: &Store,
        event: EventId,
        private: &[String],
    ) -> std::result::Result<bool, StoreError> {
        self.refresh(store, event, private)?;
        self.read_openings(store, event, false)
    }

    fn take(&mut self, game: &EndedGame<'_>) {
        let game = Entry {
            number: game.game.0,
            stage: game.stage,
            round: game.round,
            players: game.players.map(|player| player.0),
            started: game.started.unwrap_or(i64::MIN),
            ended: game.ended,
            plies: game.plies,
            result: Result::of(game.result),
            counts: game.counts,
            cause: self.cause_place(game.cause),
            moves: [0; KEPT],
        };
        // Most games end in the order of their numbers.
        if self.games.last().is_none_or(|last| last.number < game.number) {
            return self.games.push(game);
        }
        match self.games.binary_search_by_key(&game.number, |known| known.number) {
            Ok(at) => self.games[at] = Entry { moves: self.games[at].moves, ..game },
            Err(at) => {
                // A game may end after one with a higher number whose moves are known already.
                self.unread = self.unread.min(game.number);
                self.games.insert(at, game);
            }
        }
    }

    /// The place of a cause in their list. A database of somebody else may have any number of them.
    fn cause_place(&mut self, cause: &str) -> u16 {
        if let Some(place) = self.places.get(cause) {
            return *place;
        }
        let place = u16::try_from(self.causes.len()).unwrap_or(u16::MAX);
        if place < u16::MAX {
            self.causes.push(cause.to_owned());
            self.places.insert(cause.to_owned(), place);
        }
        place
    }

    /// The games, oldest first.
    pub fn oldest(&self) -> impl Iterator<Item = &Entry> {
        self.games.iter()
    }

    /// The games, newest first.
    pub fn newest(&self) -> impl Iterator<Item = &Entry> {
        self.games.iter().rev()
    }

    /// The cause of a game's ending.
    pub fn cause(&self, game: &Entry) -> &str {
        self.causes.get(usize::from(game.cause)).map_or("", String::as_str)
    }

    /// True if each cause, by its place, fits.
    pub fn causes(&self, fits: impl Fn(&str) -> bool) -> Vec<bool> {
        self.causes.iter().map(|cause| fits(cause)).collect()
    }

    /// Reads the first moves of games that are not known yet: all of them, or a part while nobody asks. Returns whether
    /// all are known.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read_openings(
        &mut self,
        store: &Store,
        event: EventId,
        all: bool,
    ) -> std::result::Result<bool, StoreError> {
        let first = self.games.partition_point(|game| game.number < self.unread);
        let most = if all { usize::MAX } else { AT_ONCE };
        for game in self.games[first..].iter_mut().take(most) {
            if game.moves[0] == 0 {
                let mut codes = game.moves.iter_mut();
                store.first_moves(event, GameId(game.number), KEPT, &mut |usi| {
                    codes.next().into_iter().for_each(|code| *code = code_of(usi));
                })?;
            }
            self.unread = game.number + 1;
        }
        Ok(self.games.last().is_none_or(|last| last.number < self.unread))
    }
}

impl Entry {
    /// True if a player, by number, takes part.
    pub fn has(&self, player: u32) -> bool {
        self.players.contains(&player)
    }

    /// True if the cause of its ending is one of these, by their places.
    pub fn ended_by(&self, causes: &[bool]) -> bool {
        causes.get(usize::from(self.cause)).copied().unwrap_or(false)
    }

    /// True if the game begins with these moves, as far as its own first moves are kept.
    pub fn begins_with(&self, moves: &[u16]) -> bool {
        moves.iter().zip(&self.moves).all(|(asked, played)| asked == played)
    }
}

/// A code for a move in USI; no two moves have the same, and none has 0.
pub fn code_of(usi: &str) -> u16 {
    let bytes = usi.as_bytes();
    let square = |at: usize| -> Option<u16> {
        let (file, rank) = (bytes.get(at)?.checked_sub(b'1')?, bytes.get(at + 1)?.checked_sub(b'a')?);
        (file < 9 && rank < 9).then(|| u16::from(file) * 9 + u16::from(rank))
    };
    let from = match bytes {
        [piece, b'*', ..] => b"PLNSBRG".iter().position(|known| known == piece).map(|at| 81 + at as u16),
        _ => square(0),
    };
    let is_promotion = u16::from(bytes.get(4) == Some(&b'+'));
    match (from, square(2)) {
        (Some(from), Some(to)) => 2 * (81 * from + to) + is_promotion + 1,
        _ => u16::MAX,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use contest::schedule::Pairing;
    use journal::{EventHead, Journal};
    use referee::{
        DrawBy, Outcome,
        entry::{Entry as Happened, GameEnded, GameStarted, Opened, PlayerId, Stamped},
        sink::SideRecord,
    };
    use std::path::Path;

    /// Plays games of black and white, by their numbers, into an event.
    pub(crate) fn play(path: &Path, games: &[(u64, u32, u32)]) -> EventId {
        let head = EventHead { name: "e", kind: "run", plan: "{}", fingerprint: "{}" };
        let journal = Journal::open(path, &head).unwrap().start(vec![], || ()).unwrap();
        let players = ["mori", "kawa", "secret+trip"].map(str::to_owned).to_vec();
        let opened = Opened { name: "e".to_owned(), players, format: String::new(), resumed: games[0].0 > 1 };
        journal.happened(Happened::Opened(opened));
        for &(number, black, white) in games {
            let (game, black, white) = (GameId(number), PlayerId(black), PlayerId(white));
            let pairing =
                Pairing { stage: 0, index: number, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
            let (start, opening) = (referee::opening::EVEN.to_owned(), String::new());
            let started = GameStarted { game, pairing, start, opening, times: None };
            let outcome = Outcome::Draw { by: DrawBy::Sennichite };
            let ended = GameEnded::new(game, pairing, outcome, 9);
            let entries = [Happened::GameStarted(started), Happened::GameEnded(ended)];
            let named = SideRecord::Named(game, format!("game{number}"));
            journal.append_with(entries.map(|entry| Stamped { at: 5, entry }), [named]);
        }
        let event = journal.event();
        journal.finish().unwrap();
        event
    }

    #[test]
    fn private_games_are_left_out_by_what_the_store_says_of_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("event.db");
        let event = play(&path, &[(1, 0, 1), (2, 0, 2), (3, 1, 0)]);
        let store = Store::read(&path).unwrap();
        let private = ["secret".to_owned(), "game3".to_owned(), "game5".to_owned()];
        let mut catalogue = Catalogue::default();
        let numbers = |catalogue: &Catalogue| catalogue.newest().map(|game| game.number).collect::<Vec<_>>();
        catalogue.refresh(&store, event, &private).unwrap();
        assert_eq!(numbers(&catalogue), [1]);
        play(&path, &[(4, 1, 0), (5, 0, 1), (6, 2, 1)]);
        catalogue.refresh(&store, event, &private).unwrap();
        assert_eq!(numbers(&catalogue), [4, 1], "also of games that ended since");
        let mut all = Catalogue::default();
        all.refresh(&store, event, &[]).unwrap();
        assert_eq!(numbers(&all), [6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn moves_have_codes_of_their_own() {
        let moves = ["7g7f", "7f7g", "8h2b", "8h2b+", "P*2b", "R*2b", "1a1b", "9i9h", "resign"];
        let mut codes: Vec<u16> = moves.iter().map(|usi| code_of(usi)).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), moves.len());
        assert!(codes[0] > 0);
    }

    #[test]
    fn a_game_is_small() {
        assert!(size_of::<Entry>() <= 64, "{}", size_of::<Entry>());
    }
}
