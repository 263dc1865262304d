//! Work on several engines at once, on this machine and on others.

use futures_util::future::join_all;
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    error::Error,
    fmt::Display,
    io,
    iter::Peekable,
    sync::Arc,
    time::Duration,
};
use tokio::{runtime::Builder, sync::Notify, task::spawn_blocking, time::timeout};
use tokio_util::task::TaskTracker;

/// Most time that engines have to leave after the last question.
const LEAVING: Duration = Duration::from_secs(5);
/// Items in a row that a worker of a guest may fail at.
const FAULTS: u32 = 3;
/// Time before it is asked again, which grows with each failure.
const REST: Duration = Duration::from_secs(3);
/// Time between the beginnings of two workers of a guest.
const STAGGER: Duration = Duration::from_millis(200);

/// Time between two looks whether games still need this machine.
const GLANCE: Duration = Duration::from_secs(1);

/// The workers of this machine.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    /// Their number, from 1.
    pub workers: usize,
    /// True while games need the machine: the first worker goes on alone then.
    pub is_needed: &'a dyn Fn() -> bool,
}

impl Here<'_> {
    /// Workers on a machine without games.
    pub fn alone(workers: usize) -> Self {
        Self { workers, is_needed: &|| false }
    }
}

/// The workers: each has engines of its own.
pub struct Pool<'a, S> {
    /// Workers of this machine.
    pub here: Here<'a>,
    /// Other machines.
    pub guests: Vec<Guest<'a, S>>,
}

/// Asks a machine how many workers it has, or why none.
pub type Muster = Arc<dyn Fn() -> Result<u32, Box<dyn Error + Send + Sync>> + Send + Sync>;

/// Another machine. It may be away, slow or lost: what its workers fail at is done by others.
pub struct Guest<'a, S> {
    /// Its name in messages.
    pub name: String,
    /// Asks it how many workers it has; it may block, on a thread of its own.
    pub muster: Muster,
    /// Opens a worker, with engines that are tasks of the tracker.
    pub open: Box<dyn Fn(&TaskTracker) -> S + 'a>,
    /// Shows a line to people.
    pub say: &'a dyn Fn(&str),
}

/// Does `work` for each of `items`, on as many workers as the pool has; each worker has a state of its own, on this machine
/// made by `open`, which puts its engines into the tracker. `done` receives each result, with the place of its item, as it
/// comes. It returns whether the work goes on: otherwise what is not done yet is dropped. An item at which a worker of a
/// guest fails goes back to the others, and is no result.
///
/// # Errors
/// When the runtime cannot be made.
pub fn each<T, S, R, E: Display>(
    pool: Pool<'_, S>,
    items: impl IntoIterator<Item = T>,
    open: impl Fn(&TaskTracker) -> S,
    work: impl AsyncFn(&mut S, &T) -> Result<R, E>,
    done: impl FnMut(usize, Result<R, E>) -> bool,
) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(all(pool, items, open, work, done));
    // A machine that does not answer is not waited for.
    runtime.shutdown_background();
    Ok(())
}

async fn all<T, S, R, E: Display>(
    pool: Pool<'_, S>,
    items: impl IntoIterator<Item = T>,
    open: impl Fn(&TaskTracker) -> S,
    work: impl AsyncFn(&mut S, &T) -> Result<R, E>,
    done: impl FnMut(usize, Result<R, E>) -> bool,
) {
    let desk = Desk::new(items.into_iter().enumerate());
    let (done, actors) = (RefCell::new(done), TaskTracker::new());
    let Here { workers, is_needed } = pool.here;
    let here = (0..workers.max(1)).map(|at| {
        let gives_way = move || at > 0 && is_needed();
        attend(&desk, open(&actors), (None, gives_way), &work, &done)
    });
    let guest = async |guest: &Guest<'_, S>| {
        let Some(workers) = desk.mustered(guest).await else { return };
        let worker = |at| attend(&desk, (guest.open)(&actors), (Some((guest, at)), || false), &work, &done);
        let given_up = join_all((0..workers).map(worker)).await;
        if let Some(why) = given_up.into_iter().collect::<Option<Vec<_>>>().and_then(|mut why| why.pop()) {
            (guest.say)(&format!("{} is not asked any more: {why}", guest.name));
        }
    };
    tokio::join!(join_all(here), join_all(pool.guests.iter().map(guest)));
    actors.close();
    // An engine that does not leave is killed with the runtime.
    let _left = timeout(LEAVING, actors.wait()).await;
}

/// A worker of this machine, or of a guest, where it has a number; it begins no item while it gives way to games. It returns
/// why one of a guest is given up.
async fn attend<T, S, R, E: Display>(
    desk: &Desk<T, impl Iterator<Item = (usize, T)>>,
    mut state: S,
    (guest, gives_way): (Option<(&Guest<'_, S>, u32)>, impl Fn() -> bool),
    work: &impl AsyncFn(&mut S, &T) -> Result<R, E>,
    done: &RefCell<impl FnMut(usize, Result<R, E>) -> bool>,
) -> Option<String> {
    // Not all workers of a guest log in at the same moment: sshd drops such logins at random.
    let turn = guest.map_or(Duration::ZERO, |(_, number)| STAGGER * number);
    let _is_over = timeout(turn, desk.over()).await;
    let mut faults = 0;
    while let Some((at, item)) = desk.next_unless(&gives_way).await {
        let result = desk.unless_stopped(work(&mut state, &item)).await?;
        match (result, guest) {
            (Err(why), Some((guest, _))) => {
                desk.give_back((at, item));
                faults += 1;
                if faults == FAULTS {
                    return Some(why.to_string());
                }
                (guest.say)(&format!("{}: {why}; others do what it had", guest.name));
                let _is_over = timeout(REST * faults + turn, desk.over()).await;
            }
            (result, _) => {
                faults = 0;
                desk.took((done.borrow_mut())(at, result));
            }
        }
    }
    None
}

/// The items that are left, and those in work.
struct Desk<T, I: Iterator<Item = (usize, T)>> {
    queue: RefCell<Peekable<I>>,
    /// Items that a guest has not done.
    returned: RefCell<VecDeque<(usize, T)>>,
    /// Items in work.
    held: Cell<usize>,
    is_stopped: Cell<bool>,
    news: Notify,
}

impl<T, I: Iterator<Item = (usize, T)>> Desk<T, I> {
    fn new(items: I) -> Self {
        Self {
            queue: RefCell::new(items.peekable()),
            returned: RefCell::default(),
            held: Cell::new(0),
            is_stopped: Cell::new(false),
            news: Notify::new(),
        }
    }

    /// The next item, also one that comes back later, for a worker that does not give way by then; `None` when all is done,
    /// or the work was stopped.
    async fn next_unless(&self, gives_way: impl Fn() -> bool) -> Option<(usize, T)> {
        while gives_way() && timeout(GLANCE, self.over()).await.is_err() {}
        self.until(|| if self.is_over() { Some(None) } else { self.take().map(Some) }).await
    }

    fn take(&self) -> Option<(usize, T)> {
        let returned = self.returned.borrow_mut().pop_front();
        let item = returned.or_else(|| self.queue.borrow_mut().next())?;
        self.held.set(self.held.get() + 1);
        Some(item)
    }

    fn give_back(&self, item: (usize, T)) {
        self.returned.borrow_mut().push_back(item);
        self.took(true);
    }

    /// An item is out of work; `goes_on`: whether others follow.
    fn took(&self, goes_on: bool) {
        self.held.set(self.held.get() - 1);
        self.is_stopped.set(self.is_stopped.get() || !goes_on);
        self.news.notify_waiters();
    }

    fn is_over(&self) -> bool {
        let is_empty = || self.returned.borrow().is_empty() && self.queue.borrow_mut().peek().is_none();
        self.is_stopped.get() || (self.held.get() == 0 && is_empty())
    }

    async fn over(&self) {
        self.until(|| self.is_over().then_some(())).await;
    }

    /// The end of some work; `None` if all work was stopped before.
    async fn unless_stopped<R>(&self, work: impl Future<Output = R>) -> Option<R> {
        tokio::select! { biased;
            result = work => Some(result),
            () = self.until(|| self.is_stopped.get().then_some(())) => None,
        }
    }

    /// What `look` finds, now or after some item.
    async fn until<R>(&self, look: impl Fn() -> Option<R>) -> R {
        loop {
            // It hears what happens from here on.
            let news = self.news.notified();
            if let Some(found) = look() {
                return found;
            }
            news.await;
        }
    }

    /// The number of workers of a guest; `None` if it takes no part, or all is done before it has answered.
    async fn mustered<S>(&self, guest: &Guest<'_, S>) -> Option<u32> {
        let muster = guest.muster.clone();
        let found = tokio::select! {
            found = spawn_blocking(move || muster()) => found.unwrap_or_else(|panicked| Err(panicked.into())),
            () = self.over() => return None,
        };
        match found {
            Ok(workers) => {
                (guest.say)(&format!("{}: {workers} at once", guest.name));
                Some(workers)
            }
            Err(why) => {
                (guest.say)(&format!("{} takes no part: {why}", guest.name));
                None
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tokio::time::sleep;

    /// Time for an item on this machine.
    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn only_the_first_worker_begins_items_while_games_need_the_machine() {
        let begun = tokio::time::Instant::now();
        let played = Cell::new(0);
        // Games are played in the second hour, and again in the fourth, which lasts.
        let is_needed = || ![0, 2].contains(&(begun.elapsed().as_secs() / 3600));
        let (at_once, most) = (Cell::new(0), RefCell::new(BTreeMap::<u64, usize>::new()));
        let work = async |(): &mut (), _: &usize| {
            at_once.set(at_once.get() + 1);
            // Items that were begun before are done in the first minute.
            let seconds = begun.elapsed().as_secs();
            if seconds % 3600 > LONG.as_secs() {
                let mut most = most.borrow_mut();
                let known = most.entry(seconds / 3600).or_default();
                *known = at_once.get().max(*known);
            }
            sleep(LONG).await;
            at_once.set(at_once.get() - 1);
            Ok::<_, String>(())
        };
        let done = |_, _| {
            played.set(played.get() + 1);
            true
        };
        let here = Here { workers: 3, is_needed: &is_needed };
        all(Pool { here, guests: vec![] }, 0..500, |_| (), work, done).await;
        assert_eq!(played.get(), 500, "also the last ones, while games are played");
        assert_eq!((most.borrow()[&0], most.borrow()[&2]), (3, 3));
        assert_eq!((most.borrow()[&1], most.borrow()[&3]), (1, 1));
    }

    /// What came of thirty items: how often each was done, by whom, and the lines that were shown. `guest` says how its
    /// workers do an item, given how many items they have begun before.
    async fn thirty(
        muster: fn() -> Result<u32, Box<dyn Error + Send + Sync>>,
        guest: impl AsyncFn(usize) -> Result<&'static str, String>,
    ) -> (BTreeMap<usize, usize>, BTreeMap<&'static str, usize>, Vec<String>) {
        let lines = RefCell::new(vec![]);
        let say = |line: &str| lines.borrow_mut().push(line.to_owned());
        let begun = Cell::new(0);
        let work = async |is_here: &mut bool, _: &usize| {
            if *is_here {
                sleep(LONG).await;
                return Ok("here");
            }
            begun.set(begun.get() + 1);
            guest(begun.get() - 1).await
        };
        let (mut items, mut by) = (BTreeMap::new(), BTreeMap::new());
        let other =
            Guest { name: "box".to_owned(), muster: Arc::new(muster), open: Box::new(|_| false), say: &say };
        let pool = Pool { here: Here::alone(2), guests: vec![other] };
        let done = |at, who: Result<&'static str, String>| {
            *items.entry(at).or_default() += 1;
            *by.entry(who.unwrap()).or_default() += 1;
            true
        };
        all(pool, 0..30, |_| true, work, done).await;
        (items, by, lines.into_inner())
    }

    fn each_once(items: &BTreeMap<usize, usize>) -> bool {
        items.len() == 30 && items.values().all(|count| *count == 1)
    }

    #[tokio::test(start_paused = true)]
    async fn a_guest_does_its_share_and_each_item_is_done_once() {
        let quick = async |_| {
            sleep(LONG / 4).await;
            Ok("box")
        };
        let (items, by, lines) = thirty(|| Ok(1), quick).await;
        assert!(each_once(&items) && by["box"] > by["here"], "{by:?}");
        assert_eq!(lines, ["box: 1 at once"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_guest_that_is_lost_costs_what_it_had_alone_and_is_given_up() {
        let lost = async |begun| {
            sleep(LONG / 4).await;
            if begun < 5 { Ok("box") } else { Err("the line is dead".to_owned()) }
        };
        let (items, by, lines) = thirty(|| Ok(2), lost).await;
        assert!(each_once(&items), "{items:?}");
        assert_eq!((by["box"], by["here"]), (5, 25));
        let failed =
            lines.iter().filter(|line| *line == "box: the line is dead; others do what it had").count();
        assert_eq!(
            (failed, lines.last().unwrap().as_str()),
            (4, "box is not asked any more: the line is dead")
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_guest_that_comes_back_is_asked_again() {
        let flaky = async |begun: usize| {
            sleep(LONG / 4).await;
            if begun % 3 == 2 { Err("gone".to_owned()) } else { Ok("box") }
        };
        let (items, by, lines) = thirty(|| Ok(1), flaky).await;
        assert!(each_once(&items) && by["box"] > by["here"], "{by:?}");
        assert!(!lines.iter().any(|line| line.contains("not asked")), "{lines:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_item_of_a_guest_that_dies_is_done_by_a_worker_that_had_nothing_left() {
        // It takes the first item, and is lost when everything else is done.
        let slow = async |_| {
            sleep(100 * LONG).await;
            Err("dead".to_owned())
        };
        let (items, by, _) = thirty(|| Ok(1), slow).await;
        assert!(each_once(&items));
        assert_eq!(by["here"], 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_guest_that_takes_no_part_is_named_with_the_reason() {
        let (items, by, lines) = thirty(|| Err("another build".into()), async |_| Ok("box")).await;
        assert!(each_once(&items) && by["here"] == 30);
        assert_eq!(lines, ["box takes no part: another build"]);
    }
}
