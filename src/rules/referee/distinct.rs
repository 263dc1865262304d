//! Games that repeat an earlier one move for move.
//!
//! Engines that are limited by nodes or depth play the same game again from the same opening. Its result is the one that was
//! known before, so it is no evidence of strength: every statistic counts what is distinct, and [`Distinct`] is the one
//! place that knows it. Points and places count what was played.

use crate::{Outcome, opening::EVEN, pairing::Pairing};
use rating::mix::mix;
use std::{collections::HashSet, num::NonZeroU64};

/// Bits of a hash of moves: as many as a number in JSON and in SQLite holds. Two different games of a million share one with
/// a probability of 1 in 18,000.
const BITS: u32 = 53;

/// The hash of a start position (SFEN, or `startpos`) and all moves from it in USI, those of the opening included: FNV-1a
/// (Fowler, Noll, Vo), mixed. It is stored, so its definition is final.
pub fn moves_hash<'a>(start: &'a str, moves: impl IntoIterator<Item = &'a str>) -> u64 {
    let start = if start == "startpos" { EVEN } else { start };
    let bytes = [start].into_iter().chain(moves).flat_map(|text| text.bytes().chain([b' ']));
    let fnv = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    mix(bytes.fold(0xcbf2_9ce4_8422_2325, fnv)) >> (u64::BITS - BITS)
}

/// What a game consists of: players with their colours, start, moves, outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameKey(NonZeroU64);

impl GameKey {
    /// The key of a game of an event; `None` if its moves are not known.
    pub fn of(pairing: &Pairing, outcome: Outcome, moves: Option<u64>) -> Option<Self> {
        let players = [pairing.black, pairing.white].map(|player| player.index() as u64);
        moves.map(|moves| Self::new(players, outcome, moves))
    }

    /// The key of a game between players of any numbering, black first.
    pub fn new([black, white]: [u64; 2], outcome: Outcome, moves: u64) -> Self {
        let ending = outcome.cause().bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)));
        let result = outcome.black_half_points().map_or(3, u64::from);
        let hash = [black, white, result, ending].into_iter().fold(moves, |hash, part| mix(hash) ^ part);
        Self(NonZeroU64::new(hash).unwrap_or(NonZeroU64::MIN))
    }
}

/// The games and pairs that are evidence. A game takes some thirty bytes.
#[derive(Clone, Debug, Default)]
pub struct Distinct {
    games: HashSet<GameKey>,
    /// The games of the pairs that are evidence.
    paired: HashSet<GameKey>,
    /// Games that others have repeated.
    repeated: HashSet<GameKey>,
}

impl Distinct {
    /// Takes a game that counts; true if none before was the same. A game whose moves are not known is taken for a new one.
    pub fn is_new(&mut self, game: Option<GameKey>) -> bool {
        game.is_none_or(|game| self.games.insert(game) || !self.repeats(game))
    }

    /// Notes that a game was repeated; true.
    fn repeats(&mut self, game: GameKey) -> bool {
        self.repeated.insert(game);
        true
    }

    /// True if others have repeated this game.
    pub fn was_repeated(&self, game: GameKey) -> bool {
        self.repeated.contains(&game)
    }

    /// Forgets a game that does not count any more, so that the next one like it is new.
    pub fn forget(&mut self, game: GameKey) {
        self.games.remove(&game);
    }

    /// Takes back a pair that was taken as new: its games may be in another one.
    pub fn part(&mut self, games: [Option<GameKey>; 2]) {
        games.iter().flatten().for_each(|game| _ = self.paired.remove(game));
    }

    /// Takes a complete pair; true if none of its games is in a pair that was taken as new. Of pairs that are alike one is
    /// evidence, in whatever order their games end. Each game comes with whether it is new if its moves are not known.
    pub fn is_new_pair(&mut self, games: [(Option<GameKey>, bool); 2]) -> bool {
        let is_new =
            games.iter().all(|(key, unknown)| key.map_or(*unknown, |key| !self.paired.contains(&key)));
        if is_new {
            self.paired.extend(games.into_iter().filter_map(|(key, _)| key));
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Color, DrawBy, WinBy, ids::PlayerId};

    fn pairing(black: u32, white: u32) -> Pairing {
        let [black, white] = [black, white].map(PlayerId);
        Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white }
    }

    #[test]
    fn a_game_repeats_another_only_with_the_same_players_colours_moves_and_ending() {
        let mut distinct = Distinct::default();
        let won = Outcome::loss(Color::White, WinBy::Resignation);
        let moves = moves_hash(EVEN, ["7g7f", "3c3d"]);
        assert!(distinct.is_new(GameKey::of(&pairing(0, 1), won, Some(moves))));
        let again = Pairing { stage: 1, index: 9, pair: 4, ..pairing(0, 1) };
        assert!(!distinct.is_new(GameKey::of(&again, won, Some(moves))));
        assert!(distinct.is_new(GameKey::of(&pairing(1, 0), won, Some(moves))));
        assert!(distinct.is_new(GameKey::of(&pairing(0, 2), won, Some(moves))));
        assert!(distinct.is_new(GameKey::of(
            &pairing(0, 1),
            Outcome::loss(Color::White, WinBy::Time),
            Some(moves)
        )));
        assert!(distinct.is_new(GameKey::of(
            &pairing(0, 1),
            Outcome::Draw { by: DrawBy::Sennichite },
            Some(moves)
        )));
        assert!(distinct.is_new(GameKey::of(&pairing(0, 1), won, Some(moves_hash(EVEN, ["7g7f", "8c8d"])))));
        assert!(
            distinct.is_new(GameKey::of(&pairing(0, 1), won, None))
                && distinct.is_new(GameKey::of(&pairing(0, 1), won, None))
        );
    }

    #[test]
    fn of_pairs_that_are_alike_one_is_evidence_and_no_game_is_evidence_in_two() {
        let mut distinct = Distinct::default();
        let won = Outcome::loss(Color::White, WinBy::Resignation);
        let [one, two, three, four] =
            [1, 2, 3, 4].map(|moves| (GameKey::of(&pairing(0, 1), won, Some(moves)), true));
        assert!(distinct.is_new_pair([one, two]));
        assert!(!distinct.is_new_pair([two, one]));
        assert!(!distinct.is_new_pair([one, three]));
        assert!(distinct.is_new_pair([three, four]), "of the pair before nothing was counted");
        assert!(distinct.is_new_pair([(None, true), (None, true)]));
        assert!(!distinct.is_new_pair([(None, true), (None, false)]), "it repeated another before a ruling");
    }

    #[test]
    fn the_hash_of_moves_knows_where_a_move_ends_and_fits_a_number_in_json() {
        assert_ne!(moves_hash(EVEN, ["7g7f", "3c3d"]), moves_hash(EVEN, ["7g7f3", "c3d"]));
        assert_eq!(moves_hash(EVEN, ["7g7f"]), moves_hash("startpos", ["7g7f"]));
        let hash = moves_hash(EVEN, ["7g7f"]);
        assert!(hash < 1 << 53);
        assert_eq!(hash, 1_025_579_672_108_839, "a stored hash");
    }

    #[test]
    fn a_pair_that_is_taken_back_leaves_its_games_to_another_one() {
        let mut distinct = Distinct::default();
        let won = Outcome::loss(Color::White, WinBy::Resignation);
        let [one, two, three] = [1, 2, 3].map(|moves| GameKey::of(&pairing(0, 1), won, Some(moves)));
        assert!(distinct.is_new_pair([(one, true), (two, true)]));
        assert!(!distinct.is_new_pair([(one, true), (three, true)]));
        distinct.part([one, two]);
        assert!(distinct.is_new_pair([(one, true), (three, true)]));
        assert!(distinct.is_new(one) && !distinct.was_repeated(one.unwrap()));
        assert!(!distinct.is_new(one) && distinct.was_repeated(one.unwrap()));
        distinct.forget(one.unwrap());
        assert!(distinct.is_new(one), "the next one like it is new");
    }
}
