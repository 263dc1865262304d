//! Games as they are to be played: their numbers, openings and clocks, and what they take over from a game before them.

use super::Dispatcher;
use crate::{
    adjourned::{self, NotKept},
    play::Fixture,
};
use contest::schedule::Pairing;
use plan::Plan;
use referee::{
    entry::{GameId, PlayerId},
    game::Setup,
    opening::Openings,
    operation::InForce,
    sink::GameOptions,
};
use std::{sync::mpsc, time::Duration};

/// How often a game between remote players may be rejected; the player who rejects it once more loses it.
const REJECTIONS: u32 = 2;
/// Most time until a draw is on the disk whose clocks another game takes over.
const DISK: Duration = Duration::from_secs(20);

/// Sets up games that have not begun.
pub(crate) struct Fixtures {
    openings: Openings,
    /// Players that this run began with.
    began_with: usize,
    pub(super) next_game: GameId,
}

impl Fixtures {
    pub fn new(openings: Openings, plan: &Plan, next_game: GameId) -> Self {
        Self { openings, began_with: plan.engines.len(), next_game }
    }

    /// The number of a new game.
    pub fn number(&mut self) -> GameId {
        let game = self.next_game;
        self.next_game = GameId(game.0 + 1);
        game
    }

    /// A game from its opening, with the clocks of the plan. `draws`: how often it was drawn before without counting.
    fn set_up(
        &self,
        plan: &Plan,
        game: GameId,
        pairing: Pairing,
        draws: u32,
        options: [GameOptions; 2],
    ) -> Fixture {
        let engines = [pairing.black, pairing.white].map(|player| &plan.engines[player.index()]);
        let times = plan.times(&pairing);
        let opening = self.openings.pick(pairing.opening);
        let setup = Setup {
            game,
            rules: plan.rules,
            adjudication: plan.adjudication,
            scales: plan.scales(&pairing),
            times,
            start: opening.start.clone(),
            opening: opening.moves.clone(),
            scores: vec![],
            hears: engines.map(|engine| engine.remote),
            may_reject: pairing.attempt < REJECTIONS,
            seed: pairing.seed(plan.seed),
        };
        // Who follows the event since its start does not know the clocks of newcomers.
        let has_joined = |player: PlayerId| player.index() >= self.began_with;
        let tells_times = times != engines.map(|engine| engine.time)
            || has_joined(pairing.black)
            || has_joined(pairing.white);
        Fixture { setup, pairing, draws, replay: plan.replay_draws, tells_times, options }
    }
}

impl Dispatcher<'_> {
    /// A game as it is to be played, and whether its clocks are those of a game before it: one that was adjourned, or a draw.
    pub(super) fn fixture(&mut self, game: GameId, pairing: Pairing) -> (Fixture, bool) {
        let (draws, options) = (self.agenda.standings.replays(&pairing), self.context.options(&pairing));
        let mut fixture = self.fixtures.set_up(&self.plan, game, pairing, draws, options);
        let setup = &mut fixture.setup;
        let is_played_on = self.play_on(&pairing, setup) || self.take_clocks_over(&pairing, setup);
        fixture.tells_times |= is_played_on;
        (fixture, is_played_on)
    }

    /// Sets an adjourned game up with its position and its clocks; false for every other game.
    fn play_on(&self, pairing: &Pairing, setup: &mut Setup) -> bool {
        let stated = |game| self.operations.in_force(|in_force: &InForce| in_force.clocks(game));
        let (database, event) = (&self.plan.database, self.journal.event());
        self.agenda.may_be_played_on(pairing, &self.context)
            && self.take_over(setup, "begins from its opening, not where it was adjourned", |setup| {
                adjourned::play_on(database, event, pairing, setup, stated)
            })
    }

    /// Gives the players of a replayed draw the time that it left them; false for every other game.
    fn take_clocks_over(&self, pairing: &Pairing, setup: &mut Setup) -> bool {
        let (database, event) = (&self.plan.database, self.journal.event());
        self.agenda.carries_clocks(pairing)
            && self.take_over(
                setup,
                "begins with full clocks, not with those of the draw before it",
                |setup| adjourned::take_clocks_over(database, event, pairing, setup, &self.plan),
            )
    }

    /// Changes a game by what an earlier one has left; false if there is none. One that cannot be read is said to be so.
    fn take_over(
        &self,
        setup: &mut Setup,
        without: &str,
        find: impl FnOnce(&mut Setup) -> Result<bool, NotKept>,
    ) -> bool {
        // The games before it at its place have to be on the disk as well as the operations: another one may have gone on
        // from the adjourned game since.
        let found = self.await_disk().map_err(str::to_owned);
        let found = found.and_then(|()| find(setup).map_err(|error| error.to_string()));
        found.unwrap_or_else(|why| {
            (self.say)(&format!("game {} {without}: {why}", setup.game.0));
            false
        })
    }

    /// Waits until everything so far is on the disk.
    pub(crate) fn await_disk(&self) -> Result<(), &'static str> {
        let (kept, answer) = mpsc::channel();
        self.journal.sink().when_kept(Box::new(move || {
            let _waits_no_more = kept.send(());
        }));
        answer.recv_timeout(DISK).map_err(|_| "the database does not answer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatcher::in_order;
    use plan::EnginePlan;

    #[test]
    fn a_game_tells_its_clocks_where_a_player_has_joined_and_may_be_turned_down_twice() {
        let engine = |name: &str| EnginePlan { name: name.to_owned(), ..EnginePlan::default() };
        let mut plan = Plan::of_engines("cup", vec![engine("a"), engine("b")], "cup.db".into());
        let mut fixtures = Fixtures::new(in_order(vec![], &plan), &plan, GameId(7));
        assert_eq!([fixtures.number(), fixtures.number()], [GameId(7), GameId(8)]);
        plan.engines.push(engine("c"));
        let game = |white, attempt| {
            let (black, white) = (PlayerId(0), PlayerId(white));
            let pairing =
                Pairing { stage: 0, index: 0, attempt, round: 1, pair: 0, opening: 0, black, white };
            let fixture = fixtures.set_up(&plan, GameId(9), pairing, 0, Default::default());
            (fixture.tells_times, fixture.setup.may_reject)
        };
        assert_eq!([game(1, 0), game(2, 1), game(1, 2)], [(false, true), (true, true), (false, false)]);
    }
}
