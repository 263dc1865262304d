//! The arbiter's orders about players: penalties, withdrawals and returns, and pairings. They hold for rounds that are not paired yet, so
//! that a restarted event pairs every round as it was paired.

use crate::{
    away::Away,
    dispatcher::Dispatcher,
    operations::{Asked, Done, command::Command},
};
use contest::schedule::{Format, Pairing};
use notation::printable;
use referee::{AbortBy, Color, Outcome, WinBy, entry::PlayerId, operation::Action, points::Points};
use words::{Language, Message, refuse};

impl Dispatcher<'_> {
    /// Carries out an order about a player.
    pub(crate) fn arbitrate(&mut self, asked: &Asked) -> Result<Done, Message> {
        let (stage, round) = self.last_paired();
        let format = self.plan.stages.get(usize::from(stage)).map(|stage| stage.format);
        let action = match &asked.order {
            Command::Penalty { points, .. } if *points <= Points::ZERO => {
                return refuse(Language::penalty_above_zero);
            }
            Command::Penalty { .. }
                if format.is_some_and(|format| {
                    format.is_sequential() || matches!(format, Format::Knockout { .. })
                }) =>
            {
                return refuse(Language::no_points_here);
            }
            Command::Penalty { player, points } => {
                let (player, name) = self.entrant(player)?;
                Action::Penalised { player, name, points: *points, stage, round }
            }
            Command::Withdraw { .. } | Command::Return { .. }
                if format.is_some_and(Format::is_sequential) =>
            {
                return refuse(Language::test_has_two_players);
            }
            Command::Withdraw { player } => {
                let (player, name) = self.entrant(player)?;
                if self.agenda.standings.arbitration().has_withdrawn(player) {
                    return refuse(|words| words.withdrawn_already(&name));
                }
                Action::Withdrawn { player, name, stage, round }
            }
            Command::Return { player } => {
                let (player, name) = self.entrant(player)?;
                if !self.agenda.standings.arbitration().has_withdrawn(player) {
                    return refuse(|words| words.not_withdrawn(&name));
                }
                Action::Returned { player, name, stage, round }
            }
            Command::Pair { black, white } => self.pairing([black, white])?,
            _ => return refuse(|_| "not an order about a player"),
        };
        Ok(self.decided(asked, None, action))
    }

    /// The decision that two players meet in the next round of a Swiss.
    fn pairing(&self, names: [&str; 2]) -> Result<Action, Message> {
        let ((stage, round), standings) = (self.last_paired(), &self.agenda.standings);
        let Some(next) = standings.round_to_pair((stage, round)) else {
            return refuse(Language::no_round_to_pair);
        };
        let [(black, black_name), (white, white_name)] = [self.entrant(names[0])?, self.entrant(names[1])?];
        if black == white {
            return refuse(Language::needs_two_players);
        }
        let (entrants, given) =
            (standings.entrants(stage.into()), standings.arbitration().pairings((stage, next)));
        for (player, name) in [(black, &black_name), (white, &white_name)] {
            if standings.arbitration().has_withdrawn(player) {
                return refuse(|words| words.has_withdrawn(name));
            }
            if !entrants.contains(&player) {
                return refuse(|words| words.not_in_this_stage(name));
            }
            if given.as_flattened().contains(&player) {
                return refuse(|words| words.pairing_is_given(name, next));
            }
        }
        let players = [black, white];
        Ok(Action::PairingGiven { players, black: black_name, white: white_name, stage, round })
    }

    /// Takes back a decision about a player, for rounds that are not paired yet.
    pub(crate) fn take_decision_back(&mut self, asked: &Asked, number: u64) -> Result<Done, Message> {
        let (action, now) = (self.operations.inverse(number)?, self.last_paired());
        if let Action::Penalised { stage, .. } = action
            && stage != now.0
        {
            return refuse(|words| words.stage_follows(usize::from(now.0) + 1));
        }
        if let Action::PairingDropped { stage, round, .. } = action
            && (stage, round) != now
        {
            return refuse(|words| words.round_is_paired(round + 1));
        }
        Ok(self.decided(asked, Some(number), action.as_of(now)))
    }

    fn decided(&mut self, asked: &Asked, undoes: Option<u64>, action: Action) -> Done {
        let done = self.done(asked, undoes, action);
        self.operations.tell(&format!("##[OPERATOR] {}\n", done.text));
        done
    }

    /// The stage and the round that were paired last.
    fn last_paired(&self) -> (u8, u32) {
        let away = self.away.iter().flat_map(Away::games);
        let handed_out = self.agenda.running.values().chain(self.agenda.pending()).chain(away);
        let last = handed_out.map(|game| (game.stage, game.round)).max();
        last.unwrap_or_default().max(self.agenda.standings.now())
    }

    /// The player of a name.
    fn entrant(&self, name: &str) -> Result<(PlayerId, String), Message> {
        let name = name.trim();
        let substitutes = self.operations.substitutes();
        let substitute =
            substitutes.iter().find(|(_, substitute)| substitute == name).map(|(player, _)| *player);
        let is_replaced = |player: PlayerId| substitutes.iter().any(|(replaced, _)| *replaced == player);
        let of_plan = || {
            let at = self.plan.engines.iter().position(|engine| engine.name == name)?;
            Some(PlayerId::at(at)).filter(|player| !is_replaced(*player))
        };
        match substitute.or_else(of_plan) {
            Some(player) => Ok((player, name.to_owned())),
            None => refuse(|words| words.no_such_player(&printable(name.as_bytes()))),
        }
    }

    /// The name of a player now.
    pub(crate) fn name_of(&self, player: PlayerId) -> String {
        let substitute = self.operations.substitutes().into_iter().find(|(replaced, _)| *replaced == player);
        let of_plan = || self.plan.engines.get(player.index()).map(|engine| engine.name.clone());
        substitute.map(|(_, name)| name).or_else(of_plan).unwrap_or_default()
    }

    /// The end of a game that is not played, because a player has withdrawn, with the evidence.
    pub(crate) fn default_of(&self, pairing: &Pairing, out: [bool; 2]) -> (Outcome, String) {
        let outcome = match out {
            [true, true] => Outcome::Aborted { by: AbortBy::Missing },
            [black, _] => Outcome::loss(if black { Color::Black } else { Color::White }, WinBy::Default),
        };
        let players = [pairing.black, pairing.white].into_iter().zip(out).filter(|(_, out)| *out);
        let words = players.map(|(player, _)| format!("{} had withdrawn", self.name_of(player)));
        (outcome, words.collect::<Vec<_>>().join("; "))
    }
}
