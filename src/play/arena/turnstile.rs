//! Games of several events on one machine: each new game goes to the event that is furthest behind its share.
//!
//! A [`Turnstile`] has as many places as games may be played at once. Each event has a [`Lane`] to it. What counts is how
//! many games of a lane have begun, divided by its share: the lowest of those who wait is next. A lane that nobody waits
//! in holds nobody up, and gains nothing by it: it comes back level with the others (start-time fair queueing, Goyal, Vin
//! and Cheng 1996). A lane of a higher priority comes before all of a lower one, a lane that is shut begins nothing, and a
//! game may take several places.
//!
//! Some engines may run only so many times at once (their **licences**). A game takes those of both its players together
//! or none, so that no two games wait for each other; of the lanes that wait for a licence the highest priority comes
//! first, then the lane that has waited longest. The place of a game that lacks a licence goes to another game meanwhile.

use parking_lot::{Condvar, Mutex};
use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

/// The places of games that several events share. All copies are one.
#[derive(Clone)]
pub struct Turnstile(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    left: Condvar,
}

struct State {
    /// Places in all.
    places: usize,
    free: usize,
    /// How many there are who want no new game to begin.
    closed: usize,
    /// Games that are played.
    held: usize,
    lanes: BTreeMap<u64, Waiting>,
    next_lane: u64,
    /// The progress of the lane that a game began in last, before that game.
    now: f64,
    /// Licences that nobody has, by name.
    licences: BTreeMap<Arc<str>, usize>,
    /// Number of the next lane that waits for a licence.
    next_ticket: u64,
}

/// Licences by name, each as often as it is needed.
type Licences = BTreeMap<Arc<str>, usize>;

/// A lane as the turnstile sees it.
struct Waiting {
    share: f64,
    /// A higher one comes first.
    priority: i64,
    /// Places of a game.
    weight: usize,
    /// True if games may begin.
    open: bool,
    /// The licences that each player needs, by number.
    needs: Vec<Vec<Arc<str>>>,
    /// The licences that the next game needs and lacks, and the ticket of the lane in the queue for them.
    lacks: Option<(u64, Licences)>,
    /// Games begun, each divided by the share at that time.
    progress: f64,
    held: usize,
    /// Games at once, at most.
    most: usize,
    wants: bool,
    /// It had no game to begin when it was asked last. One whose places are all taken is not idle: it keeps what it is
    /// behind.
    idle: bool,
    wake: Option<Wake>,
}

impl Waiting {
    /// True if a game may begin, as far as the lane itself is concerned.
    fn may_begin(&self) -> bool {
        self.open && self.held < self.most
    }
}

/// Called when it may be the turn of a lane that waits.
pub type Wake = Box<dyn Fn() + Send>;

/// The way of an event to the turnstile; its places are given back when it is dropped.
pub struct Lane {
    turnstile: Turnstile,
    number: u64,
}

/// The licences of a game. They are given back when it is dropped, which has to be after the end of the processes that
/// need them.
pub struct Permit {
    turnstile: Turnstile,
    taken: Licences,
    /// The players of the game that need a licence.
    players: Vec<usize>,
}

impl Permit {
    /// True if an engine of this player is one that a licence was taken for.
    pub fn is_for(&self, player: usize) -> bool {
        self.players.contains(&player)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.taken.is_empty() {
            return;
        }
        let mut state = self.turnstile.0.state.lock();
        for (name, count) in &self.taken {
            *state.licences.entry(name.clone()).or_default() += count;
        }
        state.wake_unlicensed();
    }
}

impl Turnstile {
    /// A turnstile for so many games at once.
    pub fn new(places: usize) -> Self {
        let state = State {
            places,
            free: places,
            closed: 0,
            held: 0,
            lanes: BTreeMap::new(),
            next_lane: 0,
            now: 0.0,
            licences: BTreeMap::new(),
            next_ticket: 0,
        };
        Self(Arc::new(Shared { state: Mutex::new(state), left: Condvar::new() }))
    }

    /// The turnstile with so many licences of each name.
    #[must_use]
    pub fn with_licences<'a>(self, licences: impl IntoIterator<Item = (&'a str, usize)>) -> Self {
        let licences = licences.into_iter().map(|(name, count)| (name.into(), count));
        self.0.state.lock().licences.extend(licences);
        self
    }

    /// The places in all.
    pub fn places(&self) -> usize {
        self.0.state.lock().places
    }

    /// The places that no game has.
    pub fn free(&self) -> usize {
        self.0.state.lock().free
    }

    /// A lane for an event. It begins level with the others.
    #[must_use]
    pub fn lane(&self, share: u32) -> Lane {
        let mut state = self.0.state.lock();
        let progress = state.now;
        let number = state.next_lane;
        state.next_lane += 1;
        let share = f64::from(share.max(1));
        let lane = Waiting {
            share,
            priority: 0,
            weight: 1,
            open: true,
            needs: vec![],
            lacks: None,
            progress,
            held: 0,
            most: usize::MAX,
            wants: false,
            idle: true,
            wake: None,
        };
        state.lanes.insert(number, lane);
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

    /// Tells those who lack a licence that it may be free.
    fn wake_unlicensed(&self) {
        let waiting = self.lanes.values().filter(|lane| lane.lacks.is_some());
        waiting.filter_map(|lane| lane.wake.as_ref()).for_each(|wake| wake());
    }

    fn is_turn_of(&self, number: u64) -> bool {
        let place = |number: &u64, lane: &Waiting| (Reverse(lane.priority), lane.progress, *number);
        let Some(own) = self.lanes.get(&number) else { return false };
        let mut others = self.lanes.iter().filter(|(other, lane)| **other != number && lane.wants);
        let mut is_first = || others.all(|(other, lane)| place(&number, own) < place(other, lane));
        own.may_begin() && self.free >= own.weight && self.closed == 0 && (own.weight == 0 || is_first())
    }

    /// True if these licences are free, and no lane before this one waits for one of them.
    fn grants(&self, number: u64, needed: &Licences) -> bool {
        let Some(own) = self.lanes.get(&number) else { return false };
        let place = |lane: &Waiting, ticket| (Reverse(lane.priority), ticket);
        let ticket = own.lacks.as_ref().map_or(u64::MAX, |(ticket, _)| *ticket);
        let others = self.lanes.iter().filter(|(other, lane)| **other != number && lane.open);
        let mut before = others
            .filter_map(|(_, lane)| lane.lacks.as_ref().map(|(other, wanted)| (place(lane, *other), wanted)));
        let is_free =
            |name: &Arc<str>, count: &usize| self.licences.get(name).is_some_and(|free| free >= count);
        needed.iter().all(|(name, count)| is_free(name, count))
            && !before.any(|(other, wanted)| {
                other < place(own, ticket) && needed.keys().any(|name| wanted.contains_key(name))
            })
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

    /// Ranks the lane: one of a higher priority comes before all of a lower one.
    #[must_use]
    pub fn ranked(self, priority: i64) -> Self {
        self.with(|lane, _| lane.priority = priority);
        self
    }

    /// Has each game take so many places, or all where there are fewer; one that takes none waits for no other lane. Before
    /// the first game.
    #[must_use]
    pub fn taking(self, places: usize) -> Self {
        let most = self.turnstile.places();
        self.with(|lane, _| lane.weight = places.min(most.max(1)));
        self
    }

    /// Names the licences that each player needs, by number.
    #[must_use]
    pub fn licensed(self, needs: Vec<Vec<Arc<str>>>) -> Self {
        self.with(|lane, _| lane.needs = needs);
        self
    }

    /// Names the licences that a player needs who joins.
    pub fn license_player(&self, player: usize, names: Vec<Arc<str>>) {
        self.with(|lane, _| {
            lane.needs.resize(lane.needs.len().max(player + 1), vec![]);
            lane.needs[player] = names;
        });
    }

    /// Sets how many games are played at once, at most; those beyond it are finished.
    pub fn set_most(&self, most: usize) {
        self.with(|lane, _| {
            lane.most = most.max(1);
            lane.wake.iter().for_each(|wake| wake());
        });
    }

    /// Opens the lane, or shuts it: no game begins, those that are played go on.
    pub fn set_open(&self, open: bool) {
        let mut state = self.turnstile.0.state.lock();
        let Some(lane) = state.lanes.get_mut(&self.number) else { return };
        if std::mem::replace(&mut lane.open, open) == open {
            return;
        }
        lane.wants = false;
        lane.wake.iter().for_each(|wake| wake());
        state.wake();
        state.wake_unlicensed();
    }

    /// Takes the licences of a game, after a place for it. Without them the place is given back, and the lane waits and is
    /// called.
    pub fn license(&self, players: [usize; 2]) -> Option<Permit> {
        let mut guard = self.turnstile.0.state.lock();
        let state = &mut *guard;
        let needs = |player: &usize| state.lanes.get(&self.number).and_then(|lane| lane.needs.get(*player));
        let players =
            players.into_iter().filter(|player| needs(player).is_some_and(|names| !names.is_empty()));
        let players: Vec<usize> = players.collect();
        let mut taken = Licences::new();
        for name in players.iter().filter_map(needs).flatten() {
            *taken.entry(name.clone()).or_default() += 1;
        }
        let is_granted = taken.is_empty() || state.grants(self.number, &taken);
        let ticket = state.next_ticket;
        let lane = state.lanes.get_mut(&self.number)?;
        if !is_granted {
            let ticket = lane.lacks.take().map_or(ticket, |(ticket, _)| ticket);
            lane.lacks = Some((ticket, taken));
            state.next_ticket += 1;
            drop(guard);
            self.back_out();
            return None;
        }
        let has_waited = lane.lacks.take().is_some();
        for (name, count) in &taken {
            state.licences.entry(name.clone()).and_modify(|free| *free -= count);
        }
        if has_waited {
            state.wake_unlicensed();
        }
        drop(guard);
        Some(Permit { turnstile: self.turnstile.clone(), taken, players })
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
        lane.wants = lane.may_begin() && !turn;
        if turn {
            let (begun, weight) = (lane.progress, lane.weight);
            lane.progress += weight as f64 / lane.share;
            lane.held += 1;
            state.free -= weight;
            state.held += 1;
            if weight > 0 {
                state.now = begun;
            }
        }
        turn
    }

    /// Gives back a place that was taken for a game that there is none of.
    pub fn back_out(&self) {
        self.with(|lane, _| {
            lane.progress -= lane.weight as f64 / lane.share;
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
        let (wanted, lacked) = (std::mem::take(&mut lane.wants), lane.lacks.take());
        if wanted {
            state.wake();
        }
        if lacked.is_some() {
            state.wake_unlicensed();
        }
    }

    /// True if it waits for a place or a licence, or until it is opened.
    pub fn waits(&self) -> bool {
        let waits = |lane: &Waiting| lane.wants || lane.lacks.is_some() || !lane.may_begin();
        self.turnstile.0.state.lock().lanes.get(&self.number).is_some_and(waits)
    }

    fn with(&self, change: impl FnOnce(&mut Waiting, u64)) {
        let mut state = self.turnstile.0.state.lock();
        if let Some(lane) = state.lanes.get_mut(&self.number) {
            change(lane, self.number);
        }
    }

    fn give_back(&self, games: usize) {
        let mut state = self.turnstile.0.state.lock();
        let Some(lane) = state.lanes.get_mut(&self.number) else { return };
        let games = games.min(lane.held);
        let was_full = lane.held >= lane.most;
        lane.held -= games;
        if was_full {
            lane.wake.iter().for_each(|wake| wake());
        }
        let places = games * lane.weight;
        state.free += places;
        state.held -= games;
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
        state.wake_unlicensed();
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
    fn an_event_with_a_limit_of_games_leaves_the_other_places_to_others_until_it_is_raised() {
        let turnstile = Turnstile::new(4);
        let (few, many) = (turnstile.lane(100), turnstile.lane(100));
        few.set_most(1);
        assert!(few.enter() && !few.enter() && few.waits());
        assert!(many.enter() && many.enter() && many.enter() && !many.enter(), "it holds nobody up");
        many.leave();
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        few.on_turn(move || _ = counted.fetch_add(1, Ordering::SeqCst));
        many.pass();
        few.set_most(2);
        assert!(calls.load(Ordering::SeqCst) > 0 && few.enter() && !few.enter());
        few.set_most(1);
        few.leave();
        assert!(!few.enter(), "games beyond a lower limit are finished first");
        few.leave();
        assert!(few.enter());
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

    #[test]
    fn a_lane_of_a_higher_priority_comes_first_and_one_that_is_shut_holds_nobody_up() {
        let turnstile = Turnstile::new(1);
        let (low, high) = (turnstile.lane(100), turnstile.lane(100).ranked(5));
        assert!(low.enter() && !high.enter() && !low.enter());
        low.leave();
        assert!(!low.enter(), "the other waits");
        assert!(high.enter() && !low.enter() && !high.enter());
        high.set_open(false);
        high.leave();
        assert!(!high.enter() && high.waits());
        assert!(low.enter());
        low.leave();
        high.set_open(true);
        assert!(high.enter());
    }

    #[test]
    fn a_large_game_waits_for_all_its_places_and_no_small_one_overtakes_it() {
        let turnstile = Turnstile::new(4);
        let (small, large) = (turnstile.lane(100), turnstile.lane(100).taking(3));
        assert!(small.enter() && small.enter());
        assert!(!large.enter());
        small.pass();
        small.leave();
        assert!(large.enter(), "three places are free");
        assert_eq!(turnstile.free(), 0);
        large.leave();
        assert_eq!(turnstile.free(), 3);
        let huge = turnstile.lane(100).taking(99);
        small.leave();
        assert!(huge.enter() && turnstile.free() == 0, "all places are enough for a game");
    }

    #[test]
    fn games_that_use_no_core_take_no_place_and_wait_for_nobody() {
        let turnstile = Turnstile::new(1);
        let (here, remote) = (turnstile.lane(100), turnstile.lane(100).taking(0));
        assert!(here.enter() && !here.enter());
        assert!((0..20).all(|_| remote.enter()), "the only place is taken, and another event waits for it");
        here.leave();
        assert!(here.enter() && turnstile.free() == 0);
        remote.leave();
        assert_eq!(turnstile.free(), 0, "nothing was taken that could be given back");
    }

    fn needs(players: &[&[&str]]) -> Vec<Vec<Arc<str>>> {
        players.iter().map(|names| names.iter().map(|name| (*name).into()).collect()).collect()
    }

    #[test]
    fn a_licence_is_had_so_many_times_and_a_game_that_lacks_one_keeps_no_place() {
        let turnstile = Turnstile::new(4).with_licences([("x", 1)]);
        let lanes = [0, 1].map(|_| turnstile.lane(100).licensed(needs(&[&["x"], &[]])));
        assert!(lanes[0].enter());
        let permit = lanes[0].license([0, 1]).unwrap();
        assert!(permit.is_for(0) && !permit.is_for(1));
        assert!(lanes[1].enter() && lanes[1].license([1, 0]).is_none());
        assert!(lanes[1].waits());
        assert_eq!(turnstile.free(), 3);
        assert!(lanes[1].enter() && lanes[1].license([1, 1]).is_some(), "its other games go on");
        drop(permit);
        assert!(lanes[1].enter() && lanes[1].license([1, 0]).is_some());
    }

    #[test]
    fn whoever_has_waited_longest_for_a_licence_is_next_and_is_called() {
        let turnstile = Turnstile::new(9).with_licences([("x", 1), ("y", 1)]);
        let lane = |names: &[&str]| turnstile.lane(100).licensed(needs(&[names, &[]]));
        let (first, both, last) = (lane(&["x"]), lane(&["x", "y"]), lane(&["x"]));
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        both.on_turn(move || {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        let take = |lane: &Lane| if lane.enter() { lane.license([0, 1]) } else { None };
        let permit = take(&first).unwrap();
        assert!(take(&both).is_none() && take(&last).is_none());
        let called = calls.load(Ordering::SeqCst);
        drop(permit);
        assert!(calls.load(Ordering::SeqCst) > called);
        assert!(take(&first).is_none() && take(&last).is_none(), "another has waited longer");
        let permit = take(&both).unwrap();
        last.pass();
        drop(permit);
        assert!(take(&first).is_some(), "the last waits no more");
    }
}
