//! The way of an operator's order to one running game.

use parking_lot::Mutex;
use referee::{Outcome, entry::GameId};
use std::{collections::HashMap, future::pending};
use tokio::sync::oneshot;

/// An order of the operator to a running game: it ends so.
#[derive(Clone, Debug)]
pub struct Intervention {
    /// The ending.
    pub outcome: Outcome,
    /// The operator and the reason, which become the evidence of the ending.
    pub text: String,
}

/// The running games that take orders of the operator.
#[derive(Debug, Default)]
pub struct Interventions(Mutex<HashMap<GameId, oneshot::Sender<Intervention>>>);

impl Interventions {
    /// Takes orders for a game until the result is dropped.
    pub fn watch(&self, game: GameId) -> Watched<'_> {
        let (sender, orders) = oneshot::channel();
        self.0.lock().insert(game, sender);
        Watched { all: self, game, orders: Some(orders) }
    }

    /// Orders a running game; false if no such game takes orders.
    #[must_use]
    pub fn send(&self, game: GameId, order: Intervention) -> bool {
        self.0.lock().remove(&game).is_some_and(|way| way.send(order).is_ok())
    }
}

/// A game that takes orders.
#[derive(Debug)]
pub struct Watched<'a> {
    all: &'a Interventions,
    game: GameId,
    orders: Option<oneshot::Receiver<Intervention>>,
}

impl Watched<'_> {
    /// The order of the operator; pending while there is none.
    pub async fn ordered(&mut self) -> Intervention {
        let order = match &mut self.orders {
            Some(orders) => orders.await.ok(),
            None => None,
        };
        self.orders = None;
        match order {
            Some(order) => order,
            None => pending().await,
        }
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.game);
    }
}

/// The order to a game that may take none.
pub(crate) async fn ordered(watched: &mut Option<Watched<'_>>) -> Intervention {
    match watched {
        Some(watched) => watched.ordered().await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::DrawBy;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn an_order_reaches_its_game_once_while_that_takes_orders() {
        let order = |text: &str| Intervention {
            outcome: Outcome::Draw { by: DrawBy::Ruling },
            text: text.to_owned(),
        };
        let (all, long) = (Interventions::default(), Duration::from_secs(9999));
        assert!(!all.send(GameId(1), order("nobody plays")));
        let mut watched = Some(all.watch(GameId(1)));
        assert!(!all.send(GameId(2), order("to another game")));
        assert!(all.send(GameId(1), order("stop")) && !all.send(GameId(1), order("stop again")));
        assert_eq!(ordered(&mut watched).await.text, "stop");
        assert!(tokio::time::timeout(long, ordered(&mut watched)).await.is_err(), "there is no second one");
        assert!(tokio::time::timeout(long, ordered(&mut None)).await.is_err());
        drop(watched.replace(all.watch(GameId(3))));
        drop(watched);
        assert!(!all.send(GameId(3), order("the game is over")));
        assert!(all.0.lock().is_empty());
    }
}
