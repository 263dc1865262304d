//! Halts: after too many faults no further game of an engine begins.
//!
//! A game is faulted by the player who lost it outside shogi itself ([`WinBy::is_fault`]): a crash, an illegal move, no
//! answer. A loss on time counts in a row, because a program that hangs loses on time again and again; it does not count
//! for the share, because single ones may be the machine's, or how an engine uses its clock, which is a part of the game.
//! A game that the opponent's fault ended says nothing about a player: it neither adds to its faults in a row nor ends
//! them.

use referee::{Color, Outcome, WinBy, ids::PlayerId, pairing::Pairing};
use serde::{Deserialize, Serialize};
use std::{fmt, mem};

/// How many faults halt the games of a player.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultLimit {
    /// Games in a row that the player's faults ended; `None`: any number.
    pub in_a_row: Option<u64>,
    /// Share of the player's games that its faults, losses on time excepted, may end, from 0 to 1; above it the player is
    /// halted. `None`: any.
    pub share: Option<f64>,
    /// Games of the player before its share is looked at.
    pub games: u64,
}

impl Default for FaultLimit {
    fn default() -> Self {
        Self { in_a_row: Some(5), share: Some(0.1), games: 20 }
    }
}

/// A player whose games are halted, and what it had done by then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Halt {
    /// The player.
    pub player: PlayerId,
    /// Games that its faults had ended, losses on time included.
    pub faults: u64,
    /// Its games that counted.
    pub games: u64,
    /// The part of its limit that was reached.
    #[serde(skip)]
    pub reached: Reached,
}

/// The part of a limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reached {
    /// So many faults in a row.
    InARow {
        /// Number of the faults.
        faults: u64,
        /// True if all of them were losses on time.
        on_time: bool,
    },
    /// Too large a share of the games.
    Share {
        /// Games that its faults ended, losses on time excepted.
        faults: u64,
        /// The most that its share may be.
        most: f64,
    },
}

/// What happened, as a sentence without a subject: `5 games in a row ended by its faults`.
impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reached {
            Reached::InARow { faults: 1, on_time: true } => write!(f, "a game lost on time"),
            Reached::InARow { faults: 1, .. } => write!(f, "a game ended by its fault"),
            Reached::InARow { faults, on_time: true } => write!(f, "{faults} games in a row lost on time"),
            Reached::InARow { faults, .. } => write!(f, "{faults} games in a row ended by its faults"),
            Reached::Share { faults, most } => {
                let (games, percent) = (self.games, 100.0 * most);
                write!(f, "{faults} of its {games} games ended by its faults, more than {percent:.0} %")
            }
        }
    }
}

/// The faults of all players: a fold of the endings that count.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultWatch {
    players: Vec<Watched>,
    halts: Vec<Halt>,
    /// What was folded, in its order: a game that is played again or annulled is a fault no more.
    endings: Vec<Ending>,
}

#[derive(Clone, Copy, Debug)]
struct Ending {
    pairing: Pairing,
    outcome: Outcome,
    annulled: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    limit: Option<FaultLimit>,
    games: u64,
    faults: u64,
    late: u64,
    in_a_row: u64,
    late_in_a_row: u64,
    halted: bool,
}

impl FaultWatch {
    /// Watches players with these limits, by [`PlayerId`].
    pub fn new(limits: impl IntoIterator<Item = Option<FaultLimit>>) -> Self {
        let players = limits.into_iter().map(|limit| Watched { limit, ..Watched::default() }).collect();
        Self { players, ..Self::default() }
    }

    /// Watches a player who came later.
    pub fn watch(&mut self, player: PlayerId, limit: Option<FaultLimit>) {
        let known = self.players.len().max(player.index() + 1);
        self.players.resize(known, Watched::default());
        self.players[player.index()].limit = limit;
    }

    /// The halts so far, in their order. A halt stays, whatever the games end with that were running, unless a game that it
    /// rests on is played again or annulled.
    pub fn halts(&self) -> &[Halt] {
        &self.halts
    }

    /// Folds an ending that counts. A game that was won by default says nothing about either player.
    pub fn end(&mut self, pairing: &Pairing, outcome: Outcome) {
        self.endings.push(Ending { pairing: *pairing, outcome, annulled: false });
        self.fold(pairing, outcome);
    }

    /// Takes back a game that is played again: what followed from its end is decided anew.
    pub fn take_back(&mut self, pairing: &Pairing) {
        let Some(at) = self.endings.iter().rposition(|known| known.pairing == *pairing) else { return };
        self.endings.remove(at);
        self.decide_anew();
    }

    /// Notes that a game was annulled, or that it counts after all.
    pub fn annul(&mut self, pairing: &Pairing, annulled: bool) {
        let Some(ending) = self.endings.iter_mut().rfind(|known| known.pairing == *pairing) else { return };
        ending.annulled = annulled;
        self.decide_anew();
    }

    fn decide_anew(&mut self) {
        self.halts.clear();
        for watched in &mut self.players {
            *watched = Watched { limit: watched.limit, ..Watched::default() };
        }
        let endings = mem::take(&mut self.endings);
        let counting = endings.iter().filter(|ending| !ending.annulled);
        counting.for_each(|ending| self.fold(&ending.pairing, ending.outcome));
        self.endings = endings;
    }

    fn fold(&mut self, pairing: &Pairing, outcome: Outcome) {
        if matches!(outcome, Outcome::Win { by, .. } if by.is_default()) {
            return;
        }
        let faulted = match outcome {
            Outcome::Win { winner, by } if by.is_fault() => Some(!winner),
            _ => None,
        };
        for (color, player) in [(Color::Black, pairing.black), (Color::White, pairing.white)] {
            let Some(watched) = self.players.get_mut(player.index()) else { continue };
            watched.games += 1;
            match faulted {
                Some(loser) if loser == color => {
                    watched.faults += 1;
                    let late = u64::from(outcome.cause() == WinBy::Time.name());
                    watched.late += late;
                    watched.in_a_row += 1;
                    watched.late_in_a_row += late;
                }
                Some(_) => {}
                None => (watched.in_a_row, watched.late_in_a_row) = (0, 0),
            }
            let reached = watched.limit.and_then(|limit| watched.reached(limit));
            if let Some(reached) = reached.filter(|_| !watched.halted) {
                watched.halted = true;
                let (faults, games) = (watched.faults, watched.games);
                self.halts.push(Halt { player, faults, games, reached });
            }
        }
    }
}

impl Watched {
    fn reached(&self, limit: FaultLimit) -> Option<Reached> {
        if let Some(most) = limit.in_a_row.filter(|&most| self.in_a_row >= most.max(1)) {
            return Some(Reached::InARow { faults: most, on_time: self.late_in_a_row == self.in_a_row });
        }
        let most = limit.share.filter(|_| self.games >= limit.games)?;
        let faults = self.faults - self.late;
        (faults as f64 > most * self.games as f64).then_some(Reached::Share { faults, most })
    }
}

/// True if a game with this outcome was decided by a fault of the loser, or by default.
pub fn is_faulted(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Win { by, .. } if by.is_fault() || by.is_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::DrawBy;

    fn pairing() -> Pairing {
        let (black, white) = (PlayerId(0), PlayerId(1));
        Pairing { stage: 0, index: 0, attempt: 0, round: 0, pair: 0, opening: 0, black, white }
    }

    fn halts(limit: FaultLimit, endings: &[Outcome]) -> Vec<Halt> {
        let mut watch = FaultWatch::new([Some(limit), Some(limit)]);
        endings.iter().for_each(|&outcome| watch.end(&pairing(), outcome));
        watch.halts().to_vec()
    }

    const CRASH: Outcome = Outcome::Win { winner: Color::White, by: WinBy::Disconnection };
    const LATE: Outcome = Outcome::Win { winner: Color::Black, by: WinBy::Time };
    const SOUND: Outcome = Outcome::Draw { by: DrawBy::Sennichite };

    #[test]
    fn five_faults_in_a_row_halt_a_player_once_and_for_good() {
        assert_eq!(halts(FaultLimit::default(), &[CRASH; 4]), []);
        let mut endings = vec![CRASH; 7];
        endings.extend([SOUND; 100]);
        let halted = halts(FaultLimit::default(), &endings);
        let reached = Reached::InARow { faults: 5, on_time: false };
        assert_eq!(halted, [Halt { player: PlayerId(0), faults: 5, games: 5, reached }]);
        assert_eq!(halted[0].to_string(), "5 games in a row ended by its faults");
    }

    #[test]
    fn a_sound_game_ends_a_row_and_a_fault_of_the_opponent_does_not() {
        let broken = [CRASH, CRASH, CRASH, CRASH, SOUND, CRASH, CRASH];
        assert_eq!(halts(FaultLimit::default(), &broken), []);
        let mutual = [CRASH, LATE, CRASH, LATE, CRASH, LATE, CRASH, LATE, CRASH];
        assert_eq!(halts(FaultLimit::default(), &mutual)[0].player, PlayerId(0));
    }

    #[test]
    fn more_than_a_tenth_of_twenty_games_halts_a_player() {
        let mut endings = [SOUND; 20];
        (endings[2], endings[9]) = (CRASH, CRASH);
        assert_eq!(halts(FaultLimit::default(), &endings), [], "a tenth is not more than a tenth");
        endings[15] = CRASH;
        assert_eq!(halts(FaultLimit::default(), &endings[..19]), [], "too few games for a share");
        let halted = halts(FaultLimit::default(), &endings);
        assert_eq!(halted[0].to_string(), "3 of its 20 games ended by its faults, more than 10 %");
    }

    #[test]
    fn losses_on_time_count_in_a_row_and_not_as_a_share() {
        let mut endings = vec![];
        for _ in 0..10 {
            endings.extend([LATE, LATE, LATE, LATE, SOUND]);
        }
        assert_eq!(halts(FaultLimit::default(), &endings), []);
        let late = halts(FaultLimit::default(), &[LATE; 5]);
        assert_eq!(
            (late[0].player, late[0].to_string()),
            (PlayerId(1), "5 games in a row lost on time".to_owned())
        );
    }

    #[test]
    fn games_lost_by_default_are_no_faults_and_end_no_row_of_them() {
        const ABSENT: Outcome = Outcome::Win { winner: Color::White, by: WinBy::Default };
        assert_eq!(halts(FaultLimit::default(), &[ABSENT; 100]), []);
        let broken = [CRASH, CRASH, CRASH, CRASH, ABSENT, CRASH];
        assert_eq!(halts(FaultLimit::default(), &broken)[0].faults, 5);
    }

    #[test]
    fn a_fault_of_a_game_that_is_played_again_halts_nobody_and_one_that_counts_still_does() {
        let at = |index| Pairing { index, ..pairing() };
        let mut watch = FaultWatch::new([Some(FaultLimit::default()); 2]);
        (0..5).for_each(|index| watch.end(&at(index), CRASH));
        assert_eq!(watch.halts().len(), 1);
        watch.take_back(&at(2));
        assert_eq!(watch.halts(), []);
        watch.end(&at(2), CRASH);
        assert_eq!(watch.halts().len(), 1);
    }

    #[test]
    fn a_fault_of_an_annulled_game_halts_nobody_until_the_game_counts_after_all() {
        let at = |index| Pairing { index, ..pairing() };
        let mut watch = FaultWatch::new([Some(FaultLimit::default()); 2]);
        (0..5).for_each(|index| watch.end(&at(index), CRASH));
        watch.annul(&at(2), true);
        assert_eq!(watch.halts(), []);
        watch.annul(&at(2), false);
        assert_eq!(watch.halts().len(), 1);
    }

    #[test]
    fn a_limit_that_is_off_halts_nobody() {
        let off = FaultLimit { in_a_row: None, share: None, games: 20 };
        assert_eq!(halts(off, &[CRASH; 100]), []);
    }
}
