//! The course of the ratings: the field rated again after every so many games.

use super::{CrossTable, Estimate, Results, fit};

/// Milestones of an event: between 64 and 128 of them once there are that many games, whatever its length; of a field of
/// more than 400 players between 2 and 4.
///
/// Games added in one call cost a hundred fits at most, so that a long event opens quickly; after that there is one
/// fit for every `stride` games.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    stride: u64,
    games: u64,
    table: CrossTable,
    milestones: Vec<Milestone>,
}

/// The ratings after some games.
#[derive(Clone, Debug, PartialEq)]
pub struct Milestone {
    /// Games that count, all players together.
    pub games: u64,
    /// Elo by player, relative to the mean of the field; for the players of that time.
    pub elo: Vec<Estimate>,
}

const MAX_MILESTONES: u64 = 128;
/// Most milestones of a large field, each of which costs a second or more.
const MOST_LARGE: u64 = 4;
/// Players of a large field.
const LARGE: usize = 400;

impl Course {
    /// No game yet.
    pub fn new(players: usize) -> Self {
        Self { stride: 1, games: 0, table: CrossTable::new(players), milestones: vec![] }
    }

    /// Makes room for players up to `players`; earlier milestones have no rating for them.
    pub fn grow(&mut self, players: usize) {
        self.table.grow(players);
    }

    /// The ratings after so many games each, the earliest first.
    pub fn milestones(&self) -> &[Milestone] {
        &self.milestones
    }

    /// Adds games in the order of their ends, as the numbers of black and white and the half points of black; those without
    /// points do not count.
    pub fn extend(&mut self, games: impl ExactSizeIterator<Item = (usize, usize, Option<u8>)>) {
        self.widen(self.games + games.len() as u64);
        for (black, white, half_points) in games {
            let Some(half_points) = half_points else { continue };
            let [black_wins, draws, white_wins] = [2, 1, 0].map(|n| f64::from(u8::from(n == half_points)));
            let results = Results { black_wins, draws, white_wins };
            if self.table.add(black, white, results).is_err() {
                continue;
            }
            self.games += 1;
            if self.games.is_multiple_of(self.stride) {
                self.milestones.push(self.now());
            }
        }
    }

    /// The ratings now, whether or not a milestone is due.
    pub fn now(&self) -> Milestone {
        let elo = fit(&self.table).players.into_iter().map(|player| player.elo).collect();
        Milestone { games: self.games, elo }
    }

    fn widen(&mut self, games: u64) {
        let most = if self.table.players() > LARGE { MOST_LARGE } else { MAX_MILESTONES };
        while games / self.stride >= most {
            self.stride *= 2;
        }
        self.milestones.retain(|milestone| milestone.games.is_multiple_of(self.stride));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two players of whom the first wins two games in three.
    fn games(count: usize) -> impl ExactSizeIterator<Item = (usize, usize, Option<u8>)> {
        (0..count).map(|game| (0, 1, Some(if game % 3 == 0 { 0 } else { 2 })))
    }

    #[test]
    fn a_course_is_the_same_for_one_batch_and_for_single_games() {
        let (mut whole, mut bits) = (Course::new(2), Course::new(2));
        whole.extend(games(1000));
        for game in games(1000) {
            bits.extend(std::iter::once(game));
        }
        assert_eq!(whole, bits);
        assert_eq!((whole.stride, whole.milestones().len()), (8, 125));
    }

    #[test]
    fn a_milestone_holds_the_ratings_of_its_games() {
        let mut course = Course::new(2);
        course.extend(games(200));
        let milestone = &course.milestones()[40];
        assert_eq!(milestone.games, 82);
        let mut table = CrossTable::new(2);
        let lost = games(82).filter(|game| game.2 == Some(0)).count() as f64;
        let results = Results { black_wins: 82.0 - lost, draws: 0.0, white_wins: lost };
        table.add(0, 1, results).unwrap();
        let rated = fit(&table).players[0].elo.value().unwrap();
        assert!((milestone.elo[0].value().unwrap() - rated).abs() < 1e-9);
    }

    #[test]
    fn games_of_unknown_players_and_games_that_do_not_count_change_nothing() {
        let mut course = Course::new(2);
        course.extend([(0, 1, None), (0, 7, Some(2))].into_iter());
        assert!(course.milestones().is_empty());
        assert_eq!(course.now().games, 0);
    }

    #[test]
    fn a_milestone_more_than_fit_doubles_the_stride_and_a_large_field_has_few() {
        let mut course = Course::new(2);
        course.extend(games(127));
        assert_eq!((course.stride, course.milestones().len()), (1, 127));
        course.extend(games(1));
        assert_eq!((course.stride, course.milestones().len()), (2, 64));
        assert!(course.milestones().iter().all(|milestone| milestone.games % 2 == 0));
        let stride = |players| {
            let mut course = Course::new(players);
            course.widen(3);
            let few = course.stride;
            course.widen(4);
            (few, course.stride)
        };
        assert_eq!((stride(400), stride(401)), ((1, 1), (1, 2)));
    }
}
