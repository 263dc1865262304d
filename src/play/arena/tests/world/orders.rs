//! What the operator orders while an event is played.

use super::*;

impl World {
    /// The operator orders something, or at the end what lets the event go on.
    pub(super) fn order(&mut self, run: &mut Run<'_>) {
        let held =
            run.dispatcher.operations.in_force(|in_force| in_force.held().next().map(|(game, _)| game));
        let is_paused = run.dispatcher.operations.is_paused();
        let mut running: Vec<GameId> = run.dispatcher.agenda.running.keys().copied().collect();
        running.sort_unstable();
        let last = run.dispatcher.fixtures.next_game.0.saturating_sub(1);
        let any = 1 + self.random.below(last);
        let result =
            self.random.of(&[RuledResult::Black, RuledResult::White, RuledResult::Draw, RuledResult::Void]);
        let is_calm = self.orders == 0;
        self.orders = self.orders.saturating_sub(1);
        let (what, order, game) = match self.random.below(9) {
            0 | 1 if is_paused => return self.switch(run, Action::Resumed),
            0 | 1 if let Some(game) = held => ("played on", Command::PlayOn { game: game.0 }, game),
            _ if is_calm => return,
            0 => return self.switch(run, Action::Paused),
            1 | 2 if let Some(&game) = running.first() => {
                ("adjourned", Command::Adjourn { game: game.0, hold: self.random.chance(50) }, game)
            }
            3 => ("replayed", Command::Replay { game: any }, GameId(any)),
            6 | 7 => self.about_player(),
            8 => match self.taking_back(run) {
                Some(order) => order,
                None => return,
            },
            _ => ("ruled", Command::Rule { game: any, result }, GameId(any)),
        };
        self.ask(run, what, order, game);
    }

    fn about_player(&mut self) -> (&'static str, Command, GameId) {
        let mut name = || self.random.of(&PLAYERS).to_owned();
        let (player, above) = (name(), name());
        let (what, order) = match self.random.below(9) {
            0 | 1 => ("withdrawn", Command::Withdraw { player }),
            2 | 3 => ("returned", Command::Return { player }),
            4 => ("penalised", Command::Penalty { player, points: Points::of(0.5).unwrap() }),
            5 => ("disqualified", Command::Disqualify { player }),
            6 => ("placed", Command::Place { player, above }),
            7 => ("paired", Command::Pair { black: player, white: above }),
            _ => ("given a bye", Command::Bye { player, round: None }),
        };
        (what, order, GameId(0))
    }

    /// An order that takes an earlier one back which the dispatcher has carried out.
    fn taking_back(&mut self, run: &Run<'_>) -> Option<(&'static str, Command, GameId)> {
        let operations = &run.dispatcher.operations;
        let number = 1 + self.random.below(operations.in_force(InForce::next) - 1);
        let game = match operations.inverse(number).ok()? {
            Action::Ruled { game, .. } => game.game,
            Action::Paused | Action::Resumed | Action::Adjourned { .. } | Action::PlayedOn { .. } => {
                return None;
            }
            _ => GameId(0),
        };
        Some(("taken back", Command::Undo { number }, game))
    }

    fn ask(&mut self, run: &mut Run<'_>, what: &str, order: Command, game: GameId) {
        // The dispatcher waits for the disk before it decides about a game that is over.
        if !run.dispatcher.agenda.running.contains_key(&game) {
            self.commit(run);
        }
        let (answer, answered) = mpsc::channel();
        let (by, reason) = ("op".to_owned(), "a reason".to_owned());
        run.dispatcher.asked(Asked { by, reason, order, game, newcomers: vec![], answer });
        // A running game carries it out later.
        if !matches!(answered.try_recv(), Ok(Err(_))) {
            self.count(what);
        }
    }

    /// Has the games played again that faults of engines have ended, as `renmei rerun` does, the last first.
    pub(super) fn mend(&mut self, run: &mut Run<'_>) {
        let by_fault = |stamped: &Stamped| match &stamped.entry {
            Entry::GameEnded(ended) => match ended.outcome {
                Outcome::Win { by, .. } if by.is_fault() => Some(ended.game),
                _ => None,
            },
            _ => None,
        };
        let games: Vec<GameId> = self.known.log.iter().filter_map(by_fault).collect();
        for game in games.into_iter().rev() {
            self.ask(run, "run again", Command::Replay { game: game.0 }, game);
        }
    }

    fn switch(&mut self, run: &mut Run<'_>, action: Action) {
        self.count(if action == Action::Paused { "paused" } else { "resumed" });
        let operations = run.dispatcher.operations.clone();
        operations.record_by("op", "", None, action, |entry| run.dispatcher.happened(entry));
    }
}
