//! Work that waits for its turn. Of those who wait the one goes first who has used the least time lately, so that a crowd
//! of requests from one address delays that address and nobody else.

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Time in which half of what was used is forgotten.
const HALF_LIFE: Duration = Duration::from_secs(10);
/// Askers whose use is remembered.
const REMEMBERED: usize = 4096;

/// Lowers the priority of this thread: games come first.
pub fn yield_to_games() {
    let _refused = platform::threads::yield_by(10);
}

/// What a queue bears.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Turns at once.
    pub places: usize,
    /// Turns of one asker at once.
    pub places_each: usize,
    /// Askers who wait.
    pub waiting: usize,
    /// How often one asker may wait.
    pub waiting_each: usize,
}

/// A queue before slow work. `K` is whom turns are counted for, such as an address.
#[derive(Debug)]
pub struct Turns<K: Asker> {
    room: Room,
    state: Mutex<State<K>>,
}

/// Whom turns are counted for.
pub trait Asker: Copy + Eq + Hash + std::fmt::Debug {}
impl<K: Copy + Eq + Hash + std::fmt::Debug> Asker for K {}

#[derive(Debug)]
struct State<K: Asker> {
    next: u64,
    waiting: BTreeMap<u64, (K, oneshot::Sender<Turn<K>>)>,
    running: HashMap<K, usize>,
    used: HashMap<K, (Instant, f64)>,
}

/// The right to work now. Dropping it ends the turn, and its time counts.
#[derive(Debug)]
pub struct Turn<K: Asker> {
    turns: Arc<Turns<K>>,
    asker: K,
    begun: Instant,
}

/// Somebody in the queue, who leaves it with this value.
struct Queued<'a, K: Asker>(&'a Turns<K>, u64);

impl<K: Asker> Turns<K> {
    /// An empty queue.
    pub fn new(room: Room) -> Arc<Self> {
        let state =
            State { next: 0, waiting: BTreeMap::new(), running: HashMap::new(), used: HashMap::new() };
        Arc::new(Self { room, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock()
    }

    /// Waits for a turn; `None` where the queue is full, or somebody who has used less has taken the place in it.
    pub async fn take(self: &Arc<Self>, asker: K) -> Option<Turn<K>> {
        let (sender, turn) = oneshot::channel();
        let number = self.enter(asker, sender)?;
        let _queued = Queued(self, number);
        self.advance();
        turn.await.ok()
    }

    fn enter(&self, asker: K, sender: oneshot::Sender<Turn<K>>) -> Option<u64> {
        let mut state = self.state();
        let here = state.waiting.values().filter(|(other, _)| *other == asker).count();
        if here >= self.room.waiting_each {
            return None;
        }
        if state.waiting.len() >= self.room.waiting {
            let last = state.heaviest(asker, here)?;
            state.waiting.remove(&last);
        }
        let number = state.next;
        state.next += 1;
        state.waiting.insert(number, (asker, sender));
        Some(number)
    }

    /// Gives free places to those who wait.
    fn advance(self: &Arc<Self>) {
        loop {
            let mut state = self.state();
            let Some((asker, sender)) = state.begin(self.room) else { return };
            drop(state);
            let turn = Turn { turns: self.clone(), asker, begun: Instant::now() };
            // Somebody who has gone away meanwhile gives the turn back at once.
            let _gone = sender.send(turn);
        }
    }
}

impl<K: Asker> State<K> {
    /// Seconds that an asker has used lately.
    fn used(&self, asker: K, now: Instant) -> f64 {
        self.used.get(&asker).map_or(0.0, |(at, seconds)| {
            let lives = now.saturating_duration_since(*at).as_secs_f64() / HALF_LIFE.as_secs_f64();
            seconds * (-lives).exp2()
        })
    }

    /// Takes the next out of the queue, if there is a free place for one.
    fn begin(&mut self, room: Room) -> Option<(K, oneshot::Sender<Turn<K>>)> {
        if self.running.values().sum::<usize>() >= room.places {
            return None;
        }
        let now = Instant::now();
        let may = |asker: &K| self.running.get(asker).is_none_or(|running| *running < room.places_each);
        let waiting = self.waiting.iter().filter(|(_, (asker, _))| may(asker));
        let waiting = waiting.map(|(number, (asker, _))| (self.used(*asker, now), *number));
        let (_, first) =
            waiting.min_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal))?;
        let (asker, sender) = self.waiting.remove(&first)?;
        *self.running.entry(asker).or_default() += 1;
        Some((asker, sender))
    }

    /// The last in the queue of the asker who waits most often, or of those the one who has used most, if a newcomer who
    /// waits `here` times should go before it.
    fn heaviest(&self, newcomer: K, here: usize) -> Option<u64> {
        let now = Instant::now();
        let mut counts: HashMap<K, (usize, u64)> = HashMap::new();
        for (number, (asker, _)) in &self.waiting {
            let (count, last) = counts.entry(*asker).or_default();
            (*count, *last) = (*count + 1, *number);
        }
        let weighed = counts.into_iter().map(|(asker, (count, last))| (count, self.used(asker, now), last));
        let most = weighed.max_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
        let (count, used, last) = most?;
        let gives_way = count > here + 1 || count > here && used > self.used(newcomer, now);
        gives_way.then_some(last)
    }

    fn end(&mut self, asker: K, took: Duration) {
        if let Some(running) = self.running.get_mut(&asker) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&asker);
            }
        }
        let now = Instant::now();
        let used = self.used(asker, now) + took.as_secs_f64();
        if self.used.len() >= REMEMBERED && !self.used.contains_key(&asker) {
            let least = self.used.keys().copied().map(|asker| (self.used(asker, now), asker));
            let least = least.min_by(|one, other| one.0.total_cmp(&other.0));
            least.map(|(_, asker)| self.used.remove(&asker));
        }
        self.used.insert(asker, (now, used));
    }
}

impl<K: Asker> Drop for Queued<'_, K> {
    fn drop(&mut self) {
        self.0.state().waiting.remove(&self.1);
    }
}

impl<K: Asker> Drop for Turn<K> {
    fn drop(&mut self) {
        self.turns.state().end(self.asker, self.begun.elapsed());
        self.turns.advance();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;

    const ROOM: Room = Room { places: 1, places_each: 1, waiting: 3, waiting_each: 3 };

    /// Everybody who asks, in the order of their turns; the first has used something already.
    async fn order(turns: &Arc<Turns<char>>, askers: &str) -> String {
        let first = turns.take('x').await.unwrap();
        let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
        for asker in askers.chars() {
            let (turns, told) = (turns.clone(), told.clone());
            tokio::spawn(async move {
                if let Some(turn) = turns.take(asker).await {
                    let _kept = told.send(asker);
                    drop(turn);
                }
            });
            tokio::task::yield_now().await;
        }
        drop((first, told));
        let mut order = String::new();
        while let Some(asker) = heard.recv().await {
            order.push(asker);
        }
        order
    }

    #[tokio::test]
    async fn who_has_used_less_goes_first() {
        let turns = Turns::new(ROOM);
        turns.state().end('a', Duration::from_secs(5));
        assert_eq!(order(&turns, "aab").await, "baa");
    }

    #[tokio::test]
    async fn a_newcomer_takes_the_place_of_the_one_who_waits_most_often() {
        let turns = Turns::new(ROOM);
        assert_eq!(order(&turns, "aaab").await.matches('a').count(), 2);
        assert!(order(&turns, "aaab").await.contains('b'));
        assert_eq!(
            order(&Turns::new(ROOM), "abcd").await,
            "abc",
            "those who wait as often keep their places"
        );
    }

    #[tokio::test]
    async fn an_asker_has_so_many_turns_at_once_and_leaves_the_other_places_free() {
        let turns = Turns::new(Room { places: 2, ..ROOM });
        let _one = turns.take('a').await.unwrap();
        let mut second = Box::pin(turns.take('a'));
        let is_ready = std::future::poll_fn(|cx| std::task::Poll::Ready(second.as_mut().poll(cx).is_ready()));
        assert!(!is_ready.await);
        assert!(turns.take('b').await.is_some());
        drop(second);
        assert!(turns.state().waiting.is_empty(), "who goes away leaves the queue");
    }

    #[test]
    fn what_was_used_is_forgotten_and_what_is_remembered_is_bounded() {
        let turns = Turns::new(ROOM);
        let mut state = turns.state();
        state.end(0, Duration::from_secs(8));
        let later = Instant::now() + 3 * HALF_LIFE;
        assert!((state.used(0, later) - 1.0).abs() < 0.01);
        (1..REMEMBERED + 100).for_each(|n| state.end(n, Duration::from_millis(1)));
        assert!(state.used.len() <= REMEMBERED && state.used.contains_key(&0));
    }
}
