//! How fast an engine searches on this machine: nodes per second over fixed positions. USI has no benchmark, so the engine
//! is asked for moves, as in a game.

use super::{Actor, Failing, GAME, LookFault, PATIENCE, Step, UsiPlayer, patient};
use crate::{
    pair,
    process::{Launcher, System},
};
use referee::{
    Color,
    clock::Budget,
    game::{Answer, Order, Reply},
};
use std::time::Duration;
use tokio::{sync::watch, time::Instant};

/// Positions from the opening and the middle game.
const POSITIONS: [&str; 2] = [
    "startpos moves 7g7f 8c8d 2g2f 8d8e 8h7g 3c3d 7i6h 2b7g+ 6h7g 3a2b",
    "sfen l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
];
/// Rounds over all positions; the first warms caches and tables up, and is not counted.
const ROUNDS: usize = 4;
/// Time for each position.
const EACH: Duration = Duration::from_millis(250);
/// Searches that are shorter measure nothing: the engine does not use its time.
const SHORTEST: Duration = Duration::from_millis(100);

/// Starts an engine, has it search fixed positions, and ends it. Nodes per second in each round; empty if it tells none, or
/// does not use the time that it is given.
///
/// # Errors
/// The fault, with the last lines of the engine.
pub async fn speed(player: UsiPlayer) -> Result<Vec<f64>, LookFault> {
    let (_seat, end) = pair();
    Actor::new(player, end, System).speed().await
}

impl<L: Launcher> Actor<L> {
    async fn speed(mut self) -> Result<Vec<f64>, LookFault> {
        let rounds = self.rounds().await;
        let trace = self.end.trace.clone();
        self.close_within(patient(self.player.engine.limits)).await;
        rounds.map_err(|(step, how)| LookFault { step, how, trace: trace.report() })
    }

    async fn rounds(&mut self) -> Result<Vec<f64>, (Step, Failing)> {
        let (progress, _) = watch::channel(Step::Queued);
        self.conversation.sit(GAME, Color::Black);
        self.start().await;
        match self.next_reply(&progress).await.map_err(|how| (Step::Ready, how))? {
            Some(Reply::Ready) => {}
            other => return Err((Step::Ready, Failing::Unasked(Box::new(other)))),
        }
        let mut rounds = vec![];
        for round in 0..ROUNDS {
            let mut sum = 0.0;
            for position in POSITIONS {
                let nps = self.search(position, &progress).await.map_err(|how| (Step::Move, how))?;
                let Some(nps) = nps else { return Ok(vec![]) };
                sum += nps;
            }
            if round > 0 {
                rounds.push(sum / POSITIONS.len() as f64);
            }
        }
        Ok(rounds)
    }

    /// Nodes per second of a search, where the engine tells them.
    async fn search(
        &mut self,
        position: &str,
        progress: &watch::Sender<Step>,
    ) -> Result<Option<f64>, Failing> {
        let budget = Budget { fixed: Some(EACH), ..Budget::default() };
        let order = Order::Go { position: position.to_owned(), last: None, budget };
        let begun = Instant::now();
        self.conversation.order(order, begun, &mut self.effects);
        let limit = self.player.engine.limits.stop;
        let reply = self.reply_within(EACH + PATIENCE, limit, progress).await?;
        match reply {
            Some(Reply::Answer(answer)) => Ok(told(&answer, begun.elapsed())),
            other => Err(Failing::Unasked(Box::new(other))),
        }
    }
}

/// What an engine tells of its speed: its own figure, or its nodes over the time that it took.
fn told(answer: &Answer, took: Duration) -> Option<f64> {
    let thought = answer.thought.as_ref()?;
    let own = thought.nps.filter(|nps| *nps > 0).map(|nps| nps as f64);
    let counted = || Some(thought.nodes.filter(|nodes| *nodes > 0)? as f64 / took.as_secs_f64());
    (took >= SHORTEST).then(|| own.or_else(counted)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::{entry::Thought, game::Said};

    fn answer(nodes: Option<u64>, nps: Option<u64>) -> Answer {
        let thought = Some(Box::new(Thought { nodes, nps, ..Thought::default() }));
        Answer { said: Said::Resign, elapsed: Duration::ZERO, ponders: false, thought }
    }

    #[test]
    fn the_speed_is_what_the_engine_says_or_its_nodes_over_its_time() {
        let second = Duration::from_secs(1);
        assert_eq!(told(&answer(Some(500), Some(700)), second), Some(700.0));
        assert_eq!(told(&answer(Some(500), None), second / 2), Some(1000.0));
        assert_eq!(told(&answer(None, None), second), None);
        assert_eq!(told(&answer(Some(0), Some(0)), second), None);
        assert_eq!(told(&answer(Some(50), Some(0)), SHORTEST), Some(500.0));
        assert_eq!(told(&answer(Some(500), Some(700)), second / 100), None, "it does not use its time");
    }
}
