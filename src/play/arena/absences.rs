//! Players of the network who are missing from games that wait for them, and what becomes of these games.

use crate::remote::Remote;
use contest::schedule::Pairing;
use plan::{client::AWAY, serve::Missing};
use referee::{AbortBy, Color, Outcome, WinBy, entry::PlayerId};
use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

/// Least wait for a player when an event begins again: its client may be asleep, and then connects and logs in.
const RETURNING: Duration = AWAY.saturating_add(Duration::from_secs(15));
/// Least time between two lines about who is awaited.
const BETWEEN: Duration = Duration::from_secs(5);

/// Until when players are awaited, and the last line about them.
#[derive(Debug, Default)]
pub(crate) struct Absences {
    until: HashMap<PlayerId, Instant>,
    /// True if the event was begun before, so that clients which have lost it may be asleep.
    resumed: bool,
    /// When the players are back whom an earlier run has left.
    back_by: Option<Instant>,
    printed: Vec<PlayerId>,
    printed_at: Option<Instant>,
}

/// The end of a game that never began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ruling {
    pub pairing: Pairing,
    pub outcome: Outcome,
    /// Which players did not come, black first.
    pub absent: [bool; 2],
}

impl Absences {
    /// Nobody is awaited yet in an event that begins, or begins again.
    pub fn of(resumed: bool) -> Self {
        Self { resumed, ..Self::default() }
    }

    /// Nobody is absent from games that are not to begin.
    pub fn clear(&mut self) {
        self.printed.clear();
        self.until.clear();
    }

    /// Rules on games that have waited long enough. Of the games that wait for one player, only the first is ruled on;
    /// then the next has its time. Also returns the line that says for whom games wait, when that has changed.
    pub fn look(
        &mut self,
        pending: &[Pairing],
        remote: &Remote,
        now: Instant,
        is_absent: impl Fn(PlayerId) -> bool,
        name: impl Fn(PlayerId) -> String,
    ) -> (Vec<Ruling>, Option<String>) {
        let mut awaited = HashSet::new();
        let mut rulings = vec![];
        for &pairing in pending {
            let players = [pairing.black, pairing.white];
            let absent = players.map(&is_absent);
            let overdue = [0, 1].map(|side| {
                let first = awaited.insert(players[side]);
                let over = self.until.get(&players[side]).is_some_and(|until| *until <= now);
                absent[side] && first && over
            });
            let outcome = ruling(absent, overdue, remote.missing);
            rulings.extend(outcome.map(|outcome| Ruling { pairing, outcome, absent }));
        }
        // Those who have logged in meanwhile are forgotten.
        let absent: HashSet<PlayerId> = awaited.into_iter().filter(|&player| is_absent(player)).collect();
        self.until.retain(|player, _| absent.contains(player));
        let back_by = *self.back_by.get_or_insert(if self.resumed { now + RETURNING } else { now });
        for player in absent {
            self.until.entry(player).or_insert(back_by.max(now + remote.wait));
        }
        let line = self.line(remote, now, name);
        for Ruling { pairing, absent, .. } in &rulings {
            let absent =
                [pairing.black, pairing.white].into_iter().zip(absent).filter(|(_, absent)| **absent);
            absent.for_each(|(player, _)| _ = self.until.remove(&player));
        }
        (rulings, line)
    }

    fn line(&mut self, remote: &Remote, now: Instant, name: impl Fn(PlayerId) -> String) -> Option<String> {
        let mut players: Vec<PlayerId> = self.until.keys().copied().collect();
        players.sort_unstable();
        let recently = self.printed_at.is_some_and(|at| now.saturating_duration_since(at) < BETWEEN);
        if players == self.printed || (recently && !players.is_empty()) {
            return None;
        }
        let line = self.until.values().min().map(|first| {
            let left = first.saturating_duration_since(now);
            let names: Vec<String> = players.iter().map(|player| name(*player)).collect();
            self.printed_at = Some(now);
            awaited_words(&names, remote.missing, left)
        });
        self.printed = players;
        line
    }
}

/// Who is awaited, and what follows if they do not come.
fn awaited_words(names: &[String], missing: Missing, left: Duration) -> String {
    let (names, seconds) = (notation::printable(names.join(", ").as_bytes()), left.as_secs_f64().round());
    match (missing, names.contains(", ")) {
        (Missing::Forfeit, false) => format!("waiting for {names}, who forfeits in {seconds} s"),
        (Missing::Forfeit, true) => format!("waiting for {names}, who forfeit in {seconds} s"),
        (Missing::Skip, _) => format!("waiting for {names}; without them games are left out in {seconds} s"),
    }
}

/// The ruling on a game of absent players; `None`: the game waits on.
fn ruling(absent: [bool; 2], overdue: [bool; 2], missing: Missing) -> Option<Outcome> {
    let left_out = Outcome::Aborted { by: AbortBy::Missing };
    let loser = match (overdue, absent) {
        ([true, true], _) => return Some(left_out),
        ([true, _], [_, false]) => Color::Black,
        ([_, true], [false, _]) => Color::White,
        _ => return None,
    };
    Some(match missing {
        Missing::Forfeit => Outcome::loss(loser, WinBy::Default),
        Missing::Skip => left_out,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        actor_thread::ActorThread,
        play::Fixture,
        remote::{RemotePlayers, Seating},
        spectators::Spectators,
    };
    use std::sync::Arc;

    /// An empty house.
    struct Nobody;

    impl RemotePlayers for Nobody {
        fn waits(&self, _: PlayerId) -> bool {
            false
        }

        fn seat(&self, _: Fixture, _: ActorThread) -> Seating {
            Box::pin(async { None })
        }

        fn spectators(&self) -> &dyn Spectators {
            unimplemented!("no game begins")
        }

        fn settle(&self, _: Duration) {}
    }

    #[test]
    fn an_event_that_goes_on_gives_its_players_the_time_that_their_clients_sleep() {
        let secs = Duration::from_secs;
        let remote = Remote { players: Arc::new(Nobody), wait: secs(20), missing: Missing::Forfeit };
        let (black, white) = (PlayerId(0), PlayerId(1));
        let game = Pairing { stage: 0, index: 0, attempt: 0, round: 0, pair: 0, opening: 0, black, white };
        let (mut absences, begin) = (Absences::of(true), Instant::now());
        let mut rulings_at = |after, is_here: bool| {
            let is_absent = |player| player == white && !is_here;
            let look =
                absences.look(&[game], &remote, begin + secs(after), is_absent, |_| "sleeper".to_owned());
            look.0.len()
        };
        assert_eq!([0, 30, 74].map(|after| rulings_at(after, false)), [0; 3], "its client is asleep");
        assert_eq!(rulings_at(75, false), 1);
        assert_eq!(rulings_at(76, true), 0);
        assert_eq!([80, 99].map(|after| rulings_at(after, false)), [0; 2]);
        assert_eq!(rulings_at(100, false), 1, "who leaves later is awaited as ever");
    }

    #[test]
    fn a_line_names_the_absent_and_what_follows() {
        let words = |names: &[&str], missing| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            awaited_words(&names, missing, Duration::from_millis(94_600))
        };
        let forfeit = words(&["mori", "kawa"], Missing::Forfeit);
        assert_eq!(forfeit, "waiting for mori, kawa, who forfeit in 95 s");
        assert_eq!(words(&["mori"], Missing::Forfeit), "waiting for mori, who forfeits in 95 s");
        let skipped = words(&["mori"], Missing::Skip);
        assert_eq!(skipped, "waiting for mori; without them games are left out in 95 s");
    }

    #[test]
    fn who_is_here_wins_by_default_and_a_game_without_players_is_left_out() {
        let left_out = Some(Outcome::Aborted { by: AbortBy::Missing });
        let of = |absent, overdue| ruling(absent, overdue, Missing::Forfeit);
        assert_eq!(of([true, false], [true, false]), Some(Outcome::loss(Color::Black, WinBy::Default)));
        assert_eq!(of([false, true], [false, true]), Some(Outcome::loss(Color::White, WinBy::Default)));
        assert_eq!(of([true, true], [true, true]), left_out);
        assert_eq!(of([true, true], [true, false]), None, "the other may still come");
        assert_eq!(of([true, false], [false, false]), None);
        assert_eq!(ruling([true, false], [true, false], Missing::Skip), left_out);
    }
}
