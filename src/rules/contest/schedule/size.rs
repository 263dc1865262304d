//! The size of a stage: its games of an encounter, cycles, rounds or most games. An event may grow after it has begun.
//!
//! A game keeps its encounter, and its number among the games of the encounter. Its index follows from both and from the
//! size of the stage, and so does the number of its pair; they are computed anew when the size changes. An encounter of
//! an odd number of games thereby gets the partner of its last game.
//!
//! The games of an encounter are no size where later pairings follow from its result. And no
//! size of a stage changes any more when games of a later stage have begun.

use super::{Joined, entrants, joined::Field};
use crate::stage::{Format, Stage};
use referee::pairing::Pairing;

impl Stage {
    /// The stage with the least size; equal for two stages that differ in size alone.
    pub fn without_size(&self) -> Self {
        let (format, games) = match self.format {
            Format::RoundRobin { .. } => (Format::RoundRobin { cycles: 1 }, 1),
            Format::Gauntlet { challengers, .. } => (Format::Gauntlet { challengers, cycles: 1 }, 1),
            Format::Random { .. } => (Format::Random { rounds: 1 }, 1),
            Format::Swiss { .. } => (Format::Swiss { rounds: 1 }, self.games),
            Format::Information { .. } => (Format::Information { rounds: 1 }, self.games),
            // The games of an encounter mean nothing in a sequential test.
            Format::Sprt { .. } => (Format::Sprt { max_games: 2 }, 1),
            Format::Precision { within, .. } => (Format::Precision { max_games: 2, within }, 1),
            Format::Knockout { .. } => (self.format, self.games),
        };
        Self { format, games, ..self.clone() }
    }
}

/// Why a game that was begun has no place in the schedule of another size. The greatest of all games says what is
/// needed at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum SizeFault {
    /// More games of an encounter were begun.
    #[error("{0} games of an encounter were begun, so that `games` is at least {0}")]
    Games(u64),
    /// A later cycle was begun.
    #[error("cycle {0} was begun, so that `cycles` is at least {0}")]
    Cycles(u64),
    /// A later round was begun.
    #[error("round {0} was begun, so that `rounds` is at least {0}")]
    Rounds(u32),
    /// More games of the sequential test were begun.
    #[error("{0} games were begun, so that `max_games` is at least {0}")]
    MaxGames(u64),
    /// A game of a later stage was begun.
    #[error(
        "games of stage {later} were begun, and who plays them follows from stage {stage}, which keeps its size"
    )]
    Later {
        /// The stage whose size changes, from 1.
        stage: usize,
        /// The stage that was begun, from 1.
        later: usize,
    },
}

/// Gives the games of an event their places under other sizes of its stages.
#[derive(Clone, Debug)]
pub struct Resizing<'a> {
    was: &'a [Stage],
    is: &'a [Stage],
    players: usize,
    joined: &'a [Joined],
}

impl<'a> Resizing<'a> {
    /// The step from one list of stages to another that differs in size alone.
    pub fn new(was: &'a [Stage], is: &'a [Stage], players: usize) -> Self {
        Self { was, is, players, joined: &[] }
    }

    /// The step with players who have joined; they are among the players.
    #[must_use]
    pub fn with(self, joined: &'a [Joined]) -> Self {
        Self { joined, ..self }
    }

    /// The place of a game that was begun; `None`: it keeps its own.
    ///
    /// # Errors
    /// When the game has no place any more.
    pub fn place(&self, pairing: &Pairing) -> Result<Option<Pairing>, SizeFault> {
        let at = usize::from(pairing.stage);
        if let Some(stage) = (0..at).find(|&before| self.was.get(before) != self.is.get(before)) {
            return Err(SizeFault::Later { stage: stage + 1, later: at + 1 });
        }
        let (Some(was), Some(is)) = (self.was.get(at), self.is.get(at)) else { return Ok(None) };
        let (encounter, game) = (pairing.index / was.stride(), pairing.index % was.stride());
        let entrants = entrants(self.is, self.players, at);
        let joined = if at == 0 { self.joined } else { &[] };
        // The seed has no part in the numbers of encounters.
        let field = |stage| Field { stage, entrants, joined, seed: 0 };
        let (whose, place) = field(was).place(encounter).unwrap_or((None, encounter));
        let one_pass = Field { stage: &is.without_size(), entrants, joined, seed: 0 }.of(whose).max(1);
        let (pass, at) = (place / one_pass, place % one_pass);
        let (cycle, game) = (pass / was.passes(), pass % was.passes() * was.stride() + game);
        if game >= is.passes() * is.stride() {
            return Err(SizeFault::Games(game + 1));
        }
        let (pass, game) = (cycle * is.passes() + game / is.stride(), game % is.stride());
        let Some(encounter) = field(is).number((whose, pass * one_pass + at)) else {
            return Err(too_few(is, cycle, place, pairing));
        };
        let index = encounter * is.stride() + game;
        let pair = encounter * is.stride().div_ceil(2) + game / 2;
        let moved = Pairing { index, pair, ..*pairing };
        Ok((moved != *pairing).then_some(moved))
    }
}

/// What a stage lacks that has no such encounter.
fn too_few(stage: &Stage, cycle: u64, encounter: u64, pairing: &Pairing) -> SizeFault {
    match stage.format {
        Format::Swiss { .. } | Format::Random { .. } | Format::Information { .. } => {
            SizeFault::Rounds(pairing.round)
        }
        Format::Sprt { .. } => SizeFault::MaxGames(2 * (encounter + 1)),
        Format::Precision { .. } => SizeFault::Games(2 * (encounter + 1)),
        _ => SizeFault::Cycles(cycle + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        schedule::{Next, OpeningsPer, ReplayDraws, Schedule},
        standings::Standings,
    };
    use referee::{
        AbortBy, DrawBy, Outcome,
        entry::{Entry, GameEnded, GameId},
    };

    fn round_robin(games: u32, cycles: u32) -> Stage {
        Stage { format: Format::RoundRobin { cycles }, games, ..Stage::default() }
    }

    /// Plays games of an event in the order of its schedule and returns the pairings; `before` was played already.
    fn play(stages: &[Stage], players: usize, before: &[Pairing], most: usize) -> Vec<Pairing> {
        let mut standings = Standings::new(stages, players);
        let fold = |standings: &mut Standings, pairing: Pairing, number: usize| {
            let outcome = Outcome::Draw { by: DrawBy::Sennichite };
            let game = GameId(number as u64);
            let ended = GameEnded::new(game, pairing, outcome, 1);
            standings.fold(&Entry::GameEnded(ended));
        };
        before.iter().enumerate().for_each(|(at, pairing)| fold(&mut standings, *pairing, at));
        let mut schedule = Schedule::new(stages, players, 1, ReplayDraws::default(), OpeningsPer::Pair);
        let mut played = before.to_vec();
        while played.len() < before.len() + most {
            match schedule.next(&standings) {
                Next::Game(pairing) => {
                    fold(&mut standings, pairing, played.len());
                    played.push(pairing);
                }
                Next::Bye { stage, round, player, half_points } => {
                    standings.fold(&Entry::Bye { stage, round, player, half_points });
                }
                Next::Wait | Next::Done => break,
            }
        }
        played
    }

    fn moved(was: &[Stage], is: &[Stage], players: usize, games: &[Pairing]) -> Vec<Pairing> {
        let resizing = Resizing::new(was, is, players);
        games.iter().map(|pairing| resizing.place(pairing).unwrap().unwrap_or(*pairing)).collect()
    }

    /// What the event would be if it had the size from the beginning: players and colours of all games, in any order.
    fn tables(games: &[Pairing]) -> Vec<(u64, u32, u32)> {
        let mut tables: Vec<_> = games.iter().map(|game| (game.index, game.black.0, game.white.0)).collect();
        tables.sort_unstable();
        tables
    }

    /// Every two games of a pair have their colours swapped, and one opening.
    fn pairs_are_fair(games: &[Pairing]) {
        for (at, one) in games.iter().enumerate() {
            for other in &games[at + 1..] {
                if one.pair == other.pair {
                    assert_eq!((one.black, one.white), (other.white, other.black));
                    assert_eq!(one.opening, other.opening, "{one:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn an_event_that_grows_plays_the_games_that_it_lacks_and_no_other() {
        for players in 2..=5 {
            for (was, is) in [
                (round_robin(2, 1), round_robin(4, 1)),
                (round_robin(1, 1), round_robin(2, 1)),
                (round_robin(3, 2), round_robin(6, 3)),
            ] {
                let (was, is) = ([was], [is]);
                let whole = play(&is, players, &[], usize::MAX / 2);
                for begun in [0, 1, 3, usize::MAX / 2] {
                    let before = moved(&was, &is, players, &play(&was, players, &[], begun));
                    let after = play(&is, players, &before, usize::MAX / 2);
                    assert_eq!(tables(&after), tables(&whole), "{players} players, {begun} begun");
                    pairs_are_fair(&after);
                }
            }
        }
    }

    #[test]
    fn rounds_of_a_swiss_and_games_of_a_sequential_test_are_added_behind() {
        let swiss = |rounds| [Stage { format: Format::Swiss { rounds }, games: 2, ..Stage::default() }];
        let before = play(&swiss(2), 5, &[], usize::MAX / 2);
        let moved_games = moved(&swiss(2), &swiss(4), 5, &before);
        assert_eq!(moved_games, before);
        let random = |rounds, games| [Stage { format: Format::Random { rounds }, games, ..Stage::default() }];
        let before = play(&random(2, 2), 5, &[], usize::MAX / 2);
        assert_eq!(moved(&random(2, 2), &random(4, 2), 5, &before), before);
        let before = moved(&random(2, 2), &random(4, 4), 5, &before);
        let after = play(&random(4, 4), 5, &before, usize::MAX / 2);
        assert_eq!(tables(&after), tables(&play(&random(4, 4), 5, &[], usize::MAX / 2)));
        pairs_are_fair(&after);
        let within = "5 elo".parse().unwrap();
        let known =
            |max_games| [Stage { format: Format::Precision { max_games, within }, ..Stage::default() }];
        let before = play(&known(10), 2, &[], 100);
        assert_eq!(moved(&known(10), &known(16), 2, &before), before);
        assert_eq!(play(&known(16), 2, &before, 100).len(), 16);
        let sprt = |max_games| [Stage { format: Format::Sprt { max_games }, games: 2, ..Stage::default() }];
        let before = play(&sprt(10), 2, &[], 100);
        assert_eq!(before.len(), 10);
        assert_eq!(moved(&sprt(10), &sprt(16), 2, &before), before);
        assert_eq!(play(&sprt(16), 2, &before, 100).len(), 16);
    }

    #[test]
    fn an_event_never_shrinks_below_what_was_begun() {
        let fault = |was: &Stage, is: &Stage, players: usize| {
            let (was, is) = ([was.clone()], [is.clone()]);
            let games = play(&was, players, &[], usize::MAX / 2);
            let resizing = Resizing::new(&was, &is, players);
            games.iter().filter_map(|game| resizing.place(game).err()).max()
        };
        assert_eq!(fault(&round_robin(6, 1), &round_robin(4, 1), 3), Some(SizeFault::Games(6)));
        assert_eq!(fault(&round_robin(2, 3), &round_robin(2, 1), 3), Some(SizeFault::Cycles(3)));
        let swiss = |rounds| Stage { format: Format::Swiss { rounds }, games: 1, ..Stage::default() };
        assert_eq!(fault(&swiss(3), &swiss(2), 4), Some(SizeFault::Rounds(3)));
        let sprt = |max_games| Stage { format: Format::Sprt { max_games }, games: 2, ..Stage::default() };
        let known = |max_games| {
            let within = "5 elo".parse().unwrap();
            Stage { format: Format::Precision { max_games, within }, games: 2, ..Stage::default() }
        };
        assert_eq!(fault(&known(12), &known(8), 2), Some(SizeFault::Games(12)));
        let fault = fault(&sprt(12), &sprt(8), 2).unwrap();
        assert_eq!(fault.to_string(), "12 games were begun, so that `max_games` is at least 12");
    }

    #[test]
    fn a_stage_keeps_its_size_once_the_next_has_begun() {
        let knockout = Stage {
            format: Format::Knockout { tie: Default::default() },
            games: 2,
            entrants: Some(2),
            ..Stage::default()
        };
        let (was, is) = ([round_robin(2, 1), knockout.clone()], [round_robin(4, 1), knockout]);
        let games = play(&was, 3, &[], usize::MAX / 2);
        let resizing = Resizing::new(&was, &is, 3);
        assert!(games[..6].iter().all(|game| resizing.place(game).is_ok()));
        assert_eq!(resizing.place(&games[6]), Err(SizeFault::Later { stage: 1, later: 2 }));
    }

    #[test]
    fn games_of_an_encounter_are_a_size_only_where_nothing_follows_from_them() {
        let stage = |format, games| Stage { format, games, ..Stage::default() };
        let differs = |format| stage(format, 2).without_size() != stage(format, 4).without_size();
        assert!(
            differs(Format::Swiss { rounds: 3 }) && differs(Format::Knockout { tie: Default::default() })
        );
        assert!(!differs(Format::RoundRobin { cycles: 1 }));
        assert!(!differs(Format::Gauntlet { challengers: 1, cycles: 1 }));
        assert_ne!(
            stage(Format::Gauntlet { challengers: 1, cycles: 1 }, 2).without_size(),
            stage(Format::Gauntlet { challengers: 2, cycles: 1 }, 2).without_size()
        );
    }

    #[test]
    fn a_game_that_was_broken_off_keeps_its_place_too() {
        let (was, is) = ([round_robin(2, 1)], [round_robin(4, 1)]);
        let pairing = play(&was, 3, &[], 6)[5];
        let [place] = moved(&was, &is, 3, &[pairing])[..] else { panic!("one game") };
        let mut standings = Standings::new(&is, 3);
        let outcome = Outcome::Aborted { by: AbortBy::Stopped };
        let game = GameId(6);
        let ended = GameEnded::new(game, place, outcome, 0);
        standings.fold(&Entry::GameEnded(ended));
        let mut schedule = Schedule::new(&is, 3, 1, ReplayDraws::default(), OpeningsPer::Pair);
        let mut again = std::iter::from_fn(|| match schedule.next(&standings) {
            Next::Game(pairing) => Some(pairing),
            _ => None,
        });
        let again = again.find(|game| game.index == place.index).unwrap();
        assert_eq!((again.attempt, again.black, again.white), (1, pairing.black, pairing.white));
    }
}
