//! The thread that follows the store: woken after each commit, or looking by itself where another process plays.

use crate::{
    Site,
    game::Game,
    hold::Hold,
    live::{Item, Live},
};
use journal::{EventId, Follower, Store, StoreError, now};
use parking_lot::{Condvar, Mutex};
use referee::{
    entry::{GameId, Stamped},
    running::RunningGame,
};
use report::{event_info, plan};
use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

/// Time between two looks without a call.
const PAUSE: Duration = Duration::from_millis(400);
/// Least time between two looks: of frequent commits several are shown at once.
const BREATH: Duration = Duration::from_millis(25);

/// Most time between two looks, however large the crowd.
const LONGEST: Duration = Duration::from_secs(2);
/// Moves of a game in a frame from which on a crowd is told the game as it is, and not each move.
const MANY: usize = 8;

/// Wakes the thread. Calling costs nothing and waits for nobody.
#[derive(Debug, Default)]
pub struct Bell {
    state: Mutex<(bool, bool)>,
    rung: Condvar,
}

impl Bell {
    /// Something was committed.
    pub fn ring(&self) {
        self.state.lock().0 = true;
        self.rung.notify_one();
    }

    /// There is nothing more to follow after the next look.
    pub fn stop(&self) {
        *self.state.lock() = (true, true);
        self.rung.notify_one();
    }

    /// Waits for a call, or a while; whether it is the last look.
    fn wait(&self, longest: Duration) -> bool {
        let mut state = self.state.lock();
        self.rung.wait_while_for(&mut state, |(rung, _)| !*rung, longest);
        state.0 = false;
        state.1
    }
}

/// Follows the event until the bell stops it, or nothing more can happen.
pub fn follow(site: &Site, bell: &Arc<Bell>) {
    let mut feed = Feed::new(site);
    loop {
        let begun = Instant::now();
        if let Err(error) = feed.look() {
            // The file may be moved or replaced; it is opened anew.
            tracing::warn!("the pages could not read the database: {error}");
            feed.open = None;
            std::thread::sleep(PAUSE);
        }
        if site.is_settled() {
            site.0.relay.settle();
            return;
        }
        // A slow look is followed by a longer pause, so that it never takes a whole core; so is a frame that a crowd has
        // to take.
        let breath = BREATH.max(begun.elapsed()).max(feed.room).min(LONGEST);
        if bell.wait(Duration::ZERO) {
            break;
        }
        std::thread::sleep(breath);
        if bell.wait(PAUSE.saturating_sub(breath)) {
            break;
        }
    }
    if let Err(error) = feed.look() {
        tracing::warn!("the pages could not read the database: {error}");
    }
}

/// Entries of the past that are folded together.
const PAST: usize = 10_000;

pub(crate) struct Feed<'a> {
    site: &'a Site,
    pub(crate) open: Option<Follower>,
    /// The state of the event before the first look: nobody sees it before that look is over, so that no viewer takes a
    /// part of the past for the whole.
    fresh: Option<Live>,
    /// When the event was created.
    created_at: i64,
    hold: Hold,
    /// The time that viewers have for the last frame.
    room: Duration,
    /// State of the boards of other machines at the last look.
    boards: u64,
}

impl<'a> Feed<'a> {
    /// Nothing is open yet.
    pub(crate) fn new(site: &'a Site) -> Self {
        let (open, fresh, room) = (None, None, Duration::ZERO);
        let hold = Hold::new(site.config().delay);
        Self { site, open, fresh, created_at: 0, hold, room, boards: 0 }
    }

    pub(crate) fn look(&mut self) -> Result<(), StoreError> {
        if self.open.is_none() {
            self.open = self.begin()?;
        }
        let Some(follower) = &mut self.open else { return Ok(()) };
        let (shared, hold, event) = (&self.site.0, &mut self.hold, follower.event());
        self.room = Duration::ZERO;
        if !shared.has_machines.load(Ordering::Relaxed) {
            // That page alone reports machines that cannot be read.
            let machines = follower.store().machine_states(event).unwrap_or_default();
            shared.has_machines.store(!machines.is_empty(), Ordering::Relaxed);
        }
        // Read first, and only then lock what pages read.
        let (mut fresh, mut news) = (self.fresh.take(), vec![]);
        follower.look(&mut |store, seq, stamped| {
            hold.take(seq, stamped, &mut |seq, stamped| news.push((seq, stamped)));
            // A million games of the past are not kept until the last of them was read: no viewer is sent them.
            if news.len() >= PAST {
                fresh.iter_mut().for_each(|live| _ = fold(live, store, event, &mut news));
            }
        })?;
        // A look at a log that is still empty is none: the next one leaves out the moves of games that are over by then.
        if !follower.has_read() {
            self.fresh = fresh;
            return Ok(());
        }
        hold.release(now(), &mut |seq, stamped| news.push((seq, stamped)));
        let boards = shared.boards.as_ref().filter(|boards| boards.has_news(&mut self.boards));
        if news.is_empty() && boards.is_none() && fresh.is_none() {
            return Ok(());
        }
        let mut shown = shared.live.write();
        let is_first = fresh.is_some();
        if is_first {
            *shown = fresh;
        }
        let Some(live) = shown.as_mut() else { return Ok(()) };
        let mut items = fold(live, follower.store(), event, &mut news);
        live.name();
        items.extend(boards.into_iter().flat_map(|boards| boards.read(|boards| live.take_elsewhere(boards))));
        let thinned = shared.relay.is_crowded(items.len()).then(|| thinned(&items, live)).flatten();
        let place = (self.created_at, live.seq);
        self.room = match is_first {
            // Whoever has waited for the event takes what there is from the store now.
            true => shared.relay.send(vec![], None, place, now()),
            false if items.is_empty() => Duration::ZERO,
            false => shared.relay.send(items, thinned, place, now()),
        };
        Ok(())
    }

    /// Opens the store once there is an event.
    pub(crate) fn begin(&mut self) -> Result<Option<Follower>, StoreError> {
        if !self.site.database().exists() {
            return Ok(None);
        }
        let store = Store::read(self.site.database())?;
        let events = store.events()?;
        let Some(summary) = events.into_iter().find(|event| event.name == self.site.event()) else {
            return Ok(None);
        };
        let Ok(plan) = plan(&summary) else { return Ok(None) };
        let info = event_info(&summary, plan.clone());
        // Its first entry brings its players, and may be one that viewers have to wait for.
        if info.engines.is_empty() && !info.open {
            return Ok(None);
        }
        let live = Live::new(&info, &plan, self.site.config().private.clone());
        (self.fresh, self.created_at) = (Some(live), summary.created_at);
        self.hold = Hold::new(self.site.config().delay);
        // The new state knows none of them.
        self.boards = 0;
        // Viewers have not seen the end of games that are over since then, so these are running games to them.
        let unseen = self.site.config().delay.horizon(now());
        Ok(Some(Follower::new(store, summary.id).with_moves_since(unseen)))
    }
}

/// Folds entries with their numbers; returns what viewers are sent of them.
fn fold(live: &mut Live, store: &Store, event: EventId, news: &mut Vec<(u64, Stamped)>) -> Vec<Item> {
    let names = |game: GameId| store.names(event, game).ok().flatten().unwrap_or_default();
    news.drain(..).filter_map(|(seq, stamped)| live.take(seq, &stamped, names)).collect()
}

/// What a crowd of viewers of all games is told of a frame with very many moves: each game with more than [`MANY`] of them comes once,
/// as it is now. `None`: every move.
fn thinned(items: &[Item], live: &Live) -> Option<Vec<Item>> {
    let mut moves: HashMap<GameId, usize> = HashMap::new();
    let moved = |item: &Item| matches!(item, Item::Moved { .. }).then(|| item.game()).flatten();
    items.iter().filter_map(moved).for_each(|game| *moves.entry(game).or_default() += 1);
    moves.retain(|_, count| *count > MANY);
    if moves.is_empty() {
        return None;
    }
    let left_out = |item: &&Item| !moved(item).is_some_and(|game| moves.contains_key(&game));
    let mut told: Vec<Item> = items.iter().filter(left_out).cloned().collect();
    let whole = moves.keys().filter_map(|game| live.games.get(game));
    let listed = |game: &RunningGame| Box::new(Game::listed(game, live.players(game)));
    told.extend(whole.map(|game| Item::Started { game: listed(game) }));
    Some(told)
}
