//! What the arbiter's orders about players and about games that are over come to, while an event is played and after its last
//! game. Penalties, withdrawals and returns, pairings and byes hold for rounds that are not paired yet, so that a restarted event
//! pairs every round as it was paired.

use crate::operations::{Asked, Operations, command::Command};
use contest::{
    schedule::{Format, Pairing, Stage},
    standings::{Settled, Standings},
};
use notation::printable;
use referee::{AbortBy, Color, Outcome, WinBy, entry::PlayerId, operation::Action, points::Points};
use std::ops::RangeInclusive;
use words::{Language, Message, refuse};

/// What an order is decided by.
pub(crate) struct Bench<'a> {
    pub stages: &'a [Stage],
    /// The names of the players at the start.
    pub names: Vec<&'a str>,
    pub standings: &'a Standings,
    pub operations: &'a Operations,
    /// The games that are handed out and not over; `None`: the event is over.
    pub handed_out: Option<Vec<Pairing>>,
}

/// A game that is over.
#[derive(Clone, Copy, Debug)]
pub struct Past {
    /// Its place in the schedule.
    pub pairing: Pairing,
    /// What it counts as.
    pub outcome: Outcome,
}

impl Bench<'_> {
    /// The decision about a player that an order asks for.
    pub fn about_player(&self, asked: &Asked) -> Result<Action, Message> {
        let (stage, round) = self.last_paired();
        let format = self.format(stage);
        Ok(match &asked.order {
            Command::Penalty { points, .. } if *points <= Points::ZERO => {
                return refuse(Language::penalty_above_zero);
            }
            Command::Penalty { .. } | Command::Disqualify { .. }
                if format.is_some_and(|format| {
                    format.is_sequential() || matches!(format, Format::Knockout { .. })
                }) =>
            {
                return refuse(Language::no_points_here);
            }
            Command::Penalty { player, points } => {
                let (player, name) = self.entrant(player)?;
                let action = Action::Penalised { player, name, points: *points, stage, round };
                let arbitration = self.standings.arbitration();
                if let Some(order) =
                    arbitration.decision(|it| it.action == action && it.reason == asked.reason)
                {
                    return refuse(|words| words.penalised_already(order));
                }
                action
            }
            Command::Disqualify { player } => {
                let (player, name) = self.entrant(player)?;
                self.is_qualified(player, &name)?;
                Action::Disqualified { player, name, stage, round, holds: true }
            }
            Command::Place { player, above } => {
                let [(player, name), (below, other)] = [self.entrant(player)?, self.entrant(above)?];
                self.may_place([(player, &name), (below, &other)], stage)?;
                Action::Placed { player, name, below, other, stage, holds: true }
            }
            Command::Withdraw { .. } | Command::Return { .. }
                if format.is_some_and(Format::is_sequential) =>
            {
                return refuse(Language::test_has_two_players);
            }
            Command::Withdraw { player } => {
                let (player, name) = self.entrant(player)?;
                if self.standings.arbitration().has_withdrawn(player) {
                    return refuse(|words| words.withdrawn_already(&name));
                }
                Action::Withdrawn { player, name, stage, round, holds: true }
            }
            Command::Return { player } => {
                let (player, name) = self.entrant(player)?;
                self.is_qualified(player, &name)?;
                if !self.standings.arbitration().has_withdrawn(player) {
                    return refuse(|words| words.not_withdrawn(&name));
                }
                Action::Withdrawn { player, name, stage, round, holds: false }
            }
            Command::Pair { black, white } => self.pairing([black, white])?,
            Command::Bye { player, round } => self.bye(player, *round)?,
            _ => return refuse(|_| "not an order about a player"),
        })
    }

    /// Refuses to place a player above another where play, or an earlier decision, has their order.
    fn may_place(&self, players: [(PlayerId, &str); 2], stage: u8) -> Result<(), Message> {
        let [(player, name), (below, other)] = players;
        if player == below {
            return refuse(Language::needs_two_players);
        }
        let places = self.standings.arbitration().places(stage);
        let mut placed = [players, [players[1], players[0]]].into_iter();
        if let Some([above, under]) = placed.find(|pair| places.contains(&pair.map(|(player, _)| player))) {
            return refuse(|words| words.placed_already(above.1, under.1));
        }
        let ranking = self.standings.ranking(stage.into());
        let row = |(of, name)| ranking.iter().find(|row| row.player == of).ok_or(name);
        match players.map(row) {
            [Ok(one), Ok(two)] if one.compare_played(two).is_eq() => Ok(()),
            [Ok(_), Ok(_)] => refuse(|words| words.not_level(name, other)),
            [Err(name), _] | [_, Err(name)] => refuse(|words| words.not_in_this_stage(name)),
        }
    }

    /// Refuses an order about a player whose disqualification would have to be taken back first.
    fn is_qualified(&self, player: PlayerId, name: &str) -> Result<(), Message> {
        let Some(order) = self.standings.arbitration().disqualification(player) else { return Ok(()) };
        refuse(|words| words.disqualified_already(name, order))
    }

    fn format(&self, stage: u8) -> Option<Format> {
        self.stages.get(usize::from(stage)).map(|stage| stage.format)
    }

    /// The decision that two players meet in the next round of a Swiss.
    fn pairing(&self, names: [&str; 2]) -> Result<Action, Message> {
        let ((stage, round), next) = (self.last_paired(), *self.rounds_to_pair()?.start());
        let [(black, black_name), (white, white_name)] = [self.entrant(names[0])?, self.entrant(names[1])?];
        if black == white {
            return refuse(Language::needs_two_players);
        }
        for (player, name) in [(black, &black_name), (white, &white_name)] {
            self.is_free(player, name, (stage, next))?;
        }
        let players = [black, white];
        let (black, white) = (black_name, white_name);
        Ok(Action::PairingGiven { players, black, white, stage, round, holds: true })
    }

    /// The decision that a player has a bye in a round of a Swiss, the next one if none is named.
    fn bye(&self, name: &str, round: Option<u64>) -> Result<Action, Message> {
        let ((stage, _), rounds) = (self.last_paired(), self.rounds_to_pair()?);
        let wanted = round.unwrap_or((*rounds.start()).into());
        let round = u32::try_from(wanted).ok().filter(|round| (1..=*rounds.end()).contains(round));
        let Some(round) = round else { return refuse(|words| words.no_such_round(wanted, *rounds.end())) };
        if !rounds.contains(&round) {
            return refuse(|words| words.round_is_paired(round));
        }
        let (player, name) = self.entrant(name)?;
        self.is_free(player, &name, (stage, round))?;
        Ok(Action::ByeGiven { player, name, stage, round, holds: true })
    }

    /// The rounds that pairings and byes may be given for.
    fn rounds_to_pair(&self) -> Result<RangeInclusive<u32>, Message> {
        self.standings
            .rounds_to_pair(self.last_paired())
            .ok_or_else(|| Message::of(Language::no_round_to_pair))
    }

    /// Refuses an order about a player of whom something else was decided for a round of a Swiss.
    fn is_free(&self, player: PlayerId, name: &str, when: (u8, u32)) -> Result<(), Message> {
        let arbitration = self.standings.arbitration();
        self.is_qualified(player, name)?;
        if arbitration.has_withdrawn(player) {
            return refuse(|words| words.has_withdrawn(name));
        }
        if !self.standings.entrants(when.0.into()).contains(&player) {
            return refuse(|words| words.not_in_this_stage(name));
        }
        if arbitration.is_out(player, when) {
            return refuse(|words| words.bye_is_given(name, when.1));
        }
        match arbitration.pairings(when).as_flattened().contains(&player) {
            true => refuse(|words| words.pairing_is_given(name, when.1)),
            false => Ok(()),
        }
    }

    /// The decision that takes another one about a player back, for rounds that are not paired yet.
    pub fn back(&self, number: u64) -> Result<Action, Message> {
        let (action, now) = (self.operations.inverse(number)?, self.last_paired());
        if let Action::Penalised { stage, .. } | Action::Placed { stage, .. } = action
            && stage != now.0
        {
            return refuse(|words| words.stage_follows(usize::from(now.0) + 1));
        }
        if let Action::PairingGiven { stage, round, .. } = action
            && (stage, round) != now
        {
            return refuse(|words| words.round_is_paired(round + 1));
        }
        if let Action::ByeGiven { stage, round, .. } = action
            && (stage, round) <= now
        {
            return refuse(|words| words.round_is_paired(round));
        }
        Ok(action.as_of(now))
    }

    /// The action that changes what a game counts as, and the operation that it takes back.
    pub fn correction(
        &self,
        asked: &Asked,
        Past { pairing, outcome: was }: Past,
    ) -> Result<(Option<u64>, Action), Message> {
        let game = asked.game;
        if matches!(asked.order, Command::Rule { .. }) && self.operations.is_held(game) {
            return refuse(|words| words.rule_when_played_on(game.0));
        }
        let (undoes, action) = asked.correction(self.operations, pairing, was)?;
        if matches!(action, Action::Appealed { .. }) {
            return Ok((undoes, action));
        }
        let is_left_out = was.is_left_out() && matches!(action, Action::Ruled { .. });
        if !was.counts() && !is_left_out {
            let finished = self.standings.finished(pairing.stage.into());
            let is_played = finished.is_some_and(|finished| finished.contains(pairing.index));
            let is_final = was.is_left_out() || self.handed_out.is_none() && !is_played;
            let replaced = self.replaced(&pairing);
            return refuse(|words| match (words.outcome(was), &replaced) {
                (was, _) if is_final => words.does_not_count(game.0, &was),
                (was, _) if is_played => words.another_was_played(game.0, &was),
                (_, Some(name)) => words.given_up(game.0, name),
                (was, None) => words.another_is_to_be_played(game.0, &was),
            });
        }
        if let Some(why) = self.forbids_change(&pairing) {
            return refuse(|words| words.stays_as_it_is(game.0, why.text(words)));
        }
        if matches!(action, Action::Replayed { .. }) {
            self.is_still_played(&pairing)?;
        }
        Ok((undoes, action))
    }

    /// Refuses an order after which a game would wait for ever, because a player of it was replaced.
    pub fn is_still_played(&self, pairing: &Pairing) -> Result<(), Message> {
        let Some(name) = self.replaced(pairing) else { return Ok(()) };
        refuse(|words| words.player_is_replaced(&name))
    }

    /// The name of a player of a game who was replaced.
    pub fn replaced(&self, pairing: &Pairing) -> Option<String> {
        let replaced = |player: &PlayerId| self.standings.is_replaced(*player);
        let player = [pairing.black, pairing.white].into_iter().find(replaced)?;
        Some(printable(self.name_of(player).as_bytes()))
    }

    /// What follows from the result at this place and would have to be undone, if anything does yet.
    fn forbids_change(&self, pairing: &Pairing) -> Option<Message> {
        let is_knockout = matches!(self.format(pairing.stage), Some(Format::Knockout { .. }));
        match self.standings.settled(pairing) {
            // Rounds that were played stay as they were paired, and none follows.
            Some(Settled::Round(_)) if self.handed_out.is_none() && !is_knockout => return None,
            Some(why) => return Some(Message::of(|words| words.settled(why))),
            None => {}
        }
        let ranked = self.stages.len() > 1 || self.standings.follows_results(pairing);
        let follows = |other: &&Pairing| (other.stage, other.round) > (pairing.stage, pairing.round);
        let other = self.handed_out.iter().flatten().find(follows).filter(|_| ranked)?;
        Some(Message::of(|words| words.round_is_paired(other.round)))
    }

    /// The stage and the round that were paired last.
    pub(crate) fn last_paired(&self) -> (u8, u32) {
        let last = self.handed_out.iter().flatten().map(|game| (game.stage, game.round)).max();
        last.unwrap_or_default().max(self.standings.now())
    }

    /// The player of a name.
    fn entrant(&self, name: &str) -> Result<(PlayerId, String), Message> {
        let name = name.trim();
        let substitutes = self.operations.substitutes();
        let substitute =
            substitutes.iter().find(|(_, substitute)| substitute == name).map(|(player, _)| *player);
        let is_replaced = |player: PlayerId| substitutes.iter().any(|(replaced, _)| *replaced == player);
        let of_plan = || {
            let at = self.names.iter().position(|known| *known == name)?;
            Some(PlayerId::at(at)).filter(|player| !is_replaced(*player))
        };
        match substitute.or_else(of_plan) {
            Some(player) => Ok((player, name.to_owned())),
            None => refuse(|words| words.no_such_player(&printable(name.as_bytes()))),
        }
    }

    /// The name of a player now.
    pub fn name_of(&self, player: PlayerId) -> String {
        let substitute = self.operations.substitutes().into_iter().find(|(replaced, _)| *replaced == player);
        let of_plan = || self.names.get(player.index()).map(|&name| name.to_owned());
        substitute.map(|(_, name)| name).or_else(of_plan).unwrap_or_default()
    }

    /// The end of a game that is not played, because a player has withdrawn, with the evidence.
    pub fn default_of(&self, pairing: &Pairing, out: [bool; 2]) -> (Outcome, String) {
        let outcome = match out {
            [true, true] => Outcome::Aborted { by: AbortBy::Missing },
            [black, _] => Outcome::loss(if black { Color::Black } else { Color::White }, WinBy::Default),
        };
        let players = [pairing.black, pairing.white].into_iter().zip(out).filter(|(_, out)| *out);
        let words = players.map(|(player, _)| format!("{} had withdrawn", self.name_of(player)));
        (outcome, words.collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
#[path = "arbitration_tests.rs"]
mod tests;
