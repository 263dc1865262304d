//! Games that were handed out and cannot begin yet: a GPU is taken, or a player of the network is busy or missing.

use crate::{dispatcher::Dispatcher, remote::Remote};
use plan::serve::Missing;
use referee::{
    AbortBy, Color, Outcome, WinBy,
    entry::{Entry, GameEnded, PlayerId},
    schedule::{Next, Pairing},
};
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};
use tokio::time::Instant;

/// Since when players have been missing from games that wait for them.
pub(crate) type Absences = HashMap<PlayerId, Instant>;

/// Least time between two lines about who is awaited.
const BETWEEN: Duration = Duration::from_secs(5);

/// The last line about absent players: their places, and its time.
#[derive(Debug, Default)]
pub(crate) struct Awaited {
    players: Vec<PlayerId>,
    printed: Option<Instant>,
}

impl Dispatcher<'_> {
    /// The next game that can begin: a pending one, or the next of the schedule.
    pub(crate) fn next_game(&mut self) -> Option<Pairing> {
        self.next_game_where(&|this, pairing| this.can_begin(pairing))
    }

    /// The next game that `suits`: a pending one, or the next of the schedule.
    pub(crate) fn next_game_where(&mut self, suits: &dyn Fn(&Self, &Pairing) -> bool) -> Option<Pairing> {
        let suits = |this: &Self, pairing: &Pairing| {
            !this.is_held(pairing) && this.knows_options(pairing) && suits(this, pairing)
        };
        self.take_up_adjourned();
        self.drop_halted();
        self.drop_needless();
        self.withdraw_far_ahead();
        if !self.anybody_plays() {
            return None;
        }
        if let Some(at) = self.pending.iter().position(|pairing| suits(self, pairing)) {
            return Some(self.pending.remove(at));
        }
        while self.pending.len() < self.may_hold() {
            match self.schedule.next(&self.standings) {
                // It stays handed out, so that the schedule goes on to games of others.
                Next::Game(pairing) if self.is_halted(&pairing) => {}
                // So are all games after it.
                Next::Game(pairing) if self.is_far_ahead(&pairing) => {
                    self.schedule.withdrawn(&pairing);
                    return None;
                }
                Next::Game(pairing) if self.is_held(&pairing) => self.held.push(pairing),
                Next::Game(pairing) if suits(self, &pairing) => return Some(pairing),
                Next::Game(pairing) => self.pending.push(pairing),
                Next::Bye { stage, round, player, half_points } => {
                    self.happened(Entry::Bye { stage, round, player, half_points });
                }
                Next::Wait | Next::Done => return None,
            }
        }
        None
    }

    fn is_halted(&self, pairing: &Pairing) -> bool {
        self.standings.is_halted(pairing.black) || self.standings.is_halted(pairing.white)
    }

    /// Takes back the games that an engine was halted before.
    fn drop_halted(&mut self) {
        let standings = &self.standings;
        let halted =
            |pairing: &Pairing| [pairing.black, pairing.white].map(|player| standings.is_halted(player));
        if !standings.halts().is_empty() {
            self.pending.retain(|pairing| halted(pairing) == [false, false]);
            self.held.retain(|pairing| halted(pairing) == [false, false]);
        }
    }

    /// Whether two players are left who are not halted. Without them the rest of the schedule, which may be long, is not
    /// asked for.
    fn anybody_plays(&self) -> bool {
        self.standings.halts().len() + 2 <= self.plan.engines.len().max(2)
    }

    /// Games that may be pending while others overtake them. With remote players there are enough that no player who is
    /// logged in waits for one who is not.
    fn may_hold(&self) -> usize {
        match (&self.remote, self.has_machines()) {
            (Some(_), _) => 2 * self.plan.engines.len(),
            // Second games of pairs wait for a slot here while machines get others.
            (None, true) => 1 + self.plan.concurrency,
            (None, false) => 1,
        }
    }

    fn can_begin(&self, pairing: &Pairing) -> bool {
        let comes = |player: PlayerId| match &self.remote {
            Some(remote) if self.is_remote(player) => !self.plays(player) && remote.players.waits(player),
            _ => true,
        };
        !self.lacks_gpu(pairing) && comes(pairing.black) && comes(pairing.white)
    }

    /// Whether the options of the game's own are known, if it has any.
    pub(crate) fn knows_options(&self, pairing: &Pairing) -> bool {
        self.steering.as_ref().is_none_or(|steering| steering.is_known(pairing))
    }

    fn is_remote(&self, player: PlayerId) -> bool {
        self.plan.engines[player.index()].remote
    }

    fn plays(&self, player: PlayerId) -> bool {
        self.running.values().any(|pairing| [pairing.black, pairing.white].contains(&player))
    }

    /// Rules on games that have waited long enough. Of the games that wait for one player, only the first is ruled on;
    /// then the next has its time.
    pub(crate) fn rule_absences(&mut self) {
        let Some(remote) = self.remote.clone() else { return };
        if self.operations.is_paused() {
            // Nobody is absent from a game that is not to begin.
            self.awaited.players.clear();
            return self.absences.clear();
        }
        let now = Instant::now();
        let mut awaited = HashSet::new();
        let mut ruled = vec![];
        for pairing in &self.pending {
            let players = [pairing.black, pairing.white];
            let absent = players.map(|player| self.is_absent(player, &remote));
            let overdue = [0, 1].map(|side| {
                let first = awaited.insert(players[side]);
                let since = self.absences.get(&players[side]).copied();
                let over = since.is_some_and(|since| now.saturating_duration_since(since) >= remote.wait);
                absent[side] && first && over
            });
            if let Some(outcome) = ruling(absent, overdue, remote.missing) {
                ruled.push((*pairing, outcome, absent));
            }
        }
        self.note_absences(&remote, now);
        self.print_awaited(&remote, now);
        for (pairing, outcome, absent) in ruled {
            self.pending.retain(|pending| *pending != pairing);
            self.settle(pairing, outcome, absent, remote.wait);
        }
    }

    fn is_absent(&self, player: PlayerId, remote: &Remote) -> bool {
        self.is_remote(player) && !self.plays(player) && !remote.players.waits(player)
    }

    /// Notes since when each awaited player has been absent, and forgets those who have logged in.
    fn note_absences(&mut self, remote: &Remote, now: Instant) {
        let awaited = self.pending.iter().flat_map(|pairing| [pairing.black, pairing.white]);
        let absent: HashSet<PlayerId> = awaited.filter(|&player| self.is_absent(player, remote)).collect();
        self.absences.retain(|player, _| absent.contains(player));
        for player in absent {
            self.absences.entry(player).or_insert(now);
        }
    }

    /// Whether players log in over the network.
    pub(crate) fn has_remote_players(&self) -> bool {
        self.remote.is_some()
    }

    /// Prints for whom games wait, when that has changed.
    fn print_awaited(&mut self, remote: &Remote, now: Instant) {
        let mut players: Vec<PlayerId> = self.absences.keys().copied().collect();
        players.sort_unstable();
        let recently =
            self.awaited.printed.is_some_and(|printed| now.saturating_duration_since(printed) < BETWEEN);
        if players == self.awaited.players || (recently && !players.is_empty()) {
            return;
        }
        if let Some(longest) = self.absences.values().min() {
            let left = remote.wait.saturating_sub(now.saturating_duration_since(*longest));
            let names: Vec<String> = players.iter().map(|player| self.player_name(*player)).collect();
            (self.say)(&awaited_words(&names, remote.missing, left));
            self.awaited.printed = Some(now);
        }
        self.awaited.players = players;
    }

    /// The name of a player, or of the substitute who has the place.
    fn player_name(&self, player: PlayerId) -> String {
        let substitute = self.operations.substitutes().into_iter().find(|(place, _)| *place == player);
        substitute.map_or_else(|| self.plan.engines[player.index()].name.clone(), |(_, name)| name)
    }

    /// Ends a game that never began.
    fn settle(&mut self, pairing: Pairing, outcome: Outcome, absent: [bool; 2], wait: Duration) {
        let mut evidence = vec![];
        for (player, _) in
            [pairing.black, pairing.white].into_iter().zip(absent).filter(|(_, absent)| *absent)
        {
            self.absences.remove(&player);
            let name = self.player_name(player);
            evidence.push(format!("{name} did not log in within {} s", wait.as_secs()));
        }
        let game = self.number();
        let evidence = evidence.join("; ");
        self.happened(Entry::GameEnded(GameEnded {
            game,
            pairing,
            outcome,
            plies: 0,
            evidence,
            replayed: false,
        }));
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
