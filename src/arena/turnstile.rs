//! Games of several events on one machine: each new game goes to the event that is furthest behind its share.
//!
//! A [`Turnstile`] has as many places as games may be played at once. Each event has a [`Lane`] to it. What counts is how
//! many games of a lane have begun, divided by its share: the lowest of those who wait is next. A lane that nobody waits
//! in holds nobody up, and gains nothing by it: it comes back level with the others (start-time fair queueing, Goyal, Vin
//! and Cheng 1996).

use parking_lot::{Condvar, Mutex};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// The places of games that several events share. All copies are one.
#[derive(Clone)]
pub struct Turnstile(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    left: Condvar,
}

struct State {
    free: usize,
    /// How many there are who want no new game to begin.
    closed: usize,
    /// Games that are played.
    held: usize,
    lanes: BTreeMap<u64, Waiting>,
    next_lane: u64,
    /// The progress of the lane that a game began in last, before that game.
    now: f64,
}

/// A lane as the turnstile sees it.
struct Waiting {
    share: f64,
    /// Games begun, each divided by the share at that time.
    progress: f64,
    held: usize,
    wants: bool,
    /// It had no game to begin when it was asked last. One whose places are all taken is not idle: it keeps what it is
    /// behind.
    idle: bool,
    wake: Option<Wake>,
}

/// Called when it may be the turn of a lane that waits.
pub type Wake = Box<dyn Fn() + Send>;

/// The way of an event to the turnstile; its places are given back when it is dropped.
pub struct Lane {
    turnstile: Turnstile,
    number: u64,
}

impl fmt::Debug for Turnstile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turnstile").finish_non_exhaustive()
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Turnstile {
    /// A turnstile for so many games at once.
    #[must_use]
    pub fn new(places: usize) -> Self {
        let state =
            State { free: places, closed: 0, held: 0, lanes: BTreeMap::new(), next_lane: 0, now: 0.0 };
        Self(Arc::new(Shared { state: Mutex::new(state), left: Condvar::new() }))
    }

    /// A lane for an event. It begins level with the others.
    #[must_use]
    pub fn lane(&self, share: u32) -> Lane {
        let mut state = self.0.state.lock();
        let progress = state.now;
        let number = state.next_lane;
        state.next_lane += 1;
        let share = f64::from(share.max(1));
        state
            .lanes
            .insert(number, Waiting { share, progress, held: 0, wants: false, idle: true, wake: None });
        Lane { turnstile: self.clone(), number }
    }

    /// Waits until no game is played, and does `work` before the next begins.
    pub fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut state = self.0.state.lock();
        state.closed += 1;
        self.0.left.wait_while(&mut state, |state| state.held > 0);
        drop(state);
        let _open = Reopen(self);
        work()
    }
}

/// Opens the turnstile again, also after a panic.
struct Reopen<'a>(&'a Turnstile);

impl Drop for Reopen<'_> {
    fn drop(&mut self) {
        let mut state = self.0.0.state.lock();
        state.closed -= 1;
        state.wake();
    }
}

impl State {
    /// Tells those who wait that it may be their turn.
    fn wake(&self) {
        let waiting = self.lanes.values().filter(|lane| lane.wants);
        waiting.filter_map(|lane| lane.wake.as_ref()).for_each(|wake| wake());
    }

    fn is_turn_of(&self, number: u64) -> bool {
        let place = |number: &u64, lane: &Waiting| (lane.progress, *number);
        let Some(own) = self.lanes.get(&number).map(|lane| place(&number, lane)) else { return false };
        let mut others = self.lanes.iter().filter(|(other, lane)| **other != number && lane.wants);
        self.free > 0 && self.closed == 0 && others.all(|(other, lane)| own < place(other, lane))
    }
}

impl Lane {
    /// Sets who is called when it may be the turn of this lane.
    pub fn on_turn(&self, wake: impl Fn() + Send + 'static) {
        self.with(|lane, _| lane.wake = Some(Box::new(wake)));
    }

    /// Changes the share, for games that begin from now on.
    pub fn set_share(&self, share: u32) {
        self.with(|lane, _| lane.share = f64::from(share.max(1)));
    }

    /// Takes a place for a game. Without one the lane waits, and is called.
    #[must_use]
    pub fn enter(&self) -> bool {
        let mut state = self.turnstile.0.state.lock();
        let now = state.now;
        if let Some(lane) = state.lanes.get_mut(&self.number)
            && std::mem::take(&mut lane.idle)
        {
            lane.progress = lane.progress.max(now);
        }
        let turn = state.is_turn_of(self.number);
        let Some(lane) = state.lanes.get_mut(&self.number) else { return false };
        lane.wants = !turn;
        if turn {
            let begun = lane.progress;
            lane.progress += 1.0 / lane.share;
            lane.held += 1;
            state.free -= 1;
            state.held += 1;
            state.now = begun;
        }
        turn
    }

    /// Gives back a place that was taken for a game that there is none of.
    pub fn back_out(&self) {
        self.with(|lane, _| {
            lane.progress -= 1.0 / lane.share;
            lane.idle = true;
        });
        self.leave();
    }

    /// Gives back the place of a game that is over.
    pub fn leave(&self) {
        self.give_back(1);
    }

    /// Waits no longer, because no game is to begin.
    pub fn pass(&self) {
        let mut state = self.turnstile.0.state.lock();
        let Some(lane) = state.lanes.get_mut(&self.number) else { return };
        lane.idle = true;
        if std::mem::take(&mut lane.wants) {
            state.wake();
        }
    }

    /// Whether it waits for a place.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.turnstile.0.state.lock().lanes.get(&self.number).is_some_and(|lane| lane.wants)
    }

    fn with(&self, change: impl FnOnce(&mut Waiting, u64)) {
        let mut state = self.turnstile.0.state.lock();
        if let Some(lane) = state.lanes.get_mut(&self.number) {
            change(lane, self.number);
        }
    }

    fn give_back(&self, places: usize) {
        let mut state = self.turnstile.0.state.lock();
        let Some(lane) = state.lanes.get_mut(&self.number) else { return };
        let places = places.min(lane.held);
        lane.held -= places;
        state.free += places;
        state.held -= places;
        state.wake();
        drop(state);
        self.turnstile.0.left.notify_all();
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.give_back(usize::MAX);
        let mut state = self.turnstile.0.state.lock();
        state.lanes.remove(&self.number);
        state.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Has all lanes ask, each as long as it has places, until so many games are begun; then the oldest game ends.
    fn begun(lanes: &[Lane], games: usize) -> Vec<usize> {
        let (mut begun, mut played) = (vec![0; lanes.len()], vec![]);
        while begun.iter().sum::<usize>() < games {
            // Twice: where one waits for another, its turn may come when that has asked.
            for (at, lane) in lanes.iter().enumerate().chain(lanes.iter().enumerate()) {
                while lane.enter() {
                    begun[at] += 1;
                    played.push(at);
                }
            }
            lanes[played.remove(0)].leave();
        }
        begun
    }

    #[test]
    fn games_go_to_events_by_their_shares() {
        let turnstile = Turnstile::new(4);
        let lanes = [turnstile.lane(100), turnstile.lane(300), turnstile.lane(100)];
        let begun = begun(&lanes, 1000);
        assert!(begun[0].abs_diff(200) <= 4 && begun[1].abs_diff(600) <= 4, "{begun:?}");
    }

    #[test]
    fn an_event_that_has_no_game_to_play_holds_nobody_up() {
        let turnstile = Turnstile::new(1);
        let (idle, busy) = (turnstile.lane(100), turnstile.lane(1));
        for _ in 0..50 {
            assert!(busy.enter());
            busy.leave();
        }
        assert!(busy.enter());
        assert!(!idle.enter(), "the place is taken");
        busy.leave();
        assert!(!busy.enter(), "the other waits and is far behind");
        idle.pass();
        assert!(busy.enter(), "the other waits no more");
    }

    #[test]
    fn a_new_event_does_not_catch_up_on_games_that_were_played_before_it_came() {
        let turnstile = Turnstile::new(2);
        let old = turnstile.lane(100);
        for _ in 0..500 {
            assert!(old.enter());
            old.leave();
        }
        let lanes = [old, turnstile.lane(100)];
        let begun = begun(&lanes, 100);
        assert!(begun[0].abs_diff(50) <= 2, "{begun:?}");
    }

    #[test]
    fn an_event_that_was_idle_does_not_catch_up() {
        let turnstile = Turnstile::new(2);
        let lanes = [turnstile.lane(100), turnstile.lane(100)];
        assert!(lanes[1].enter());
        lanes[1].leave();
        lanes[1].pass();
        for _ in 0..500 {
            assert!(lanes[0].enter());
            lanes[0].leave();
        }
        let begun = begun(&lanes, 100);
        assert!(begun[0].abs_diff(50) <= 2, "{begun:?}");
    }

    #[test]
    fn one_place_is_divided_by_shares_too() {
        let turnstile = Turnstile::new(1);
        let lanes = [turnstile.lane(300), turnstile.lane(100)];
        let begun = begun(&lanes, 400);
        assert!(begun[0].abs_diff(300) <= 3, "{begun:?}");
    }

    #[test]
    fn an_event_that_asks_late_for_a_place_keeps_what_it_is_behind() {
        let turnstile = Turnstile::new(1);
        let (quick, slow) = (turnstile.lane(100), turnstile.lane(100));
        assert!(slow.enter());
        slow.leave();
        for _ in 0..10 {
            assert!(quick.enter());
            quick.leave();
        }
        assert!(quick.enter() && !slow.enter() && !quick.enter());
        quick.leave();
        let mut made_up = 0;
        while slow.enter() {
            slow.leave();
            made_up += 1;
        }
        assert!((9..=11).contains(&made_up), "{made_up} games");
    }

    #[test]
    fn whoever_waits_is_called_when_a_place_is_free_and_a_dropped_event_gives_its_places_back() {
        let turnstile = Turnstile::new(2);
        let (first, second) = (turnstile.lane(1), turnstile.lane(1));
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        second.on_turn(move || {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        assert!(first.enter() && first.enter() && !second.enter());
        assert!(second.waits());
        drop(first);
        assert!(calls.load(Ordering::SeqCst) > 0);
        assert!(second.enter() && second.enter() && !second.enter());
    }

    #[test]
    fn a_place_for_a_game_that_there_is_none_of_does_not_count() {
        let turnstile = Turnstile::new(1);
        let (first, second) = (turnstile.lane(1), turnstile.lane(1));
        assert!(first.enter());
        first.back_out();
        assert!(!first.waits() && second.enter());
    }

    #[test]
    fn work_that_is_to_be_alone_waits_for_the_games_and_no_game_begins_meanwhile() {
        let turnstile = Turnstile::new(2);
        let lane = turnstile.lane(1);
        assert!(lane.enter());
        let worker = turnstile.clone();
        let work = std::thread::spawn(move || {
            let other = worker.lane(1);
            worker.alone(|| other.enter())
        });
        while lane.enter() {
            lane.leave();
        }
        lane.leave();
        assert!(!work.join().unwrap(), "a game began during the work");
        assert!(lane.enter());
    }
}
