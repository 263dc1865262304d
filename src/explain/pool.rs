//! Work on several engines at once.

use futures_util::future::join_all;
use std::{cell::RefCell, io, time::Duration};
use tokio::{runtime::Builder, time::timeout};
use tokio_util::task::TaskTracker;

/// Most time that engines have to leave after the last question.
const LEAVING: Duration = Duration::from_secs(5);

/// The workers: each has engines of its own.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// Number of workers, from 1.
    pub workers: usize,
}

/// Does `work` for each of `items`, on as many workers as the pool has; each worker has a state of its own, made by
/// `open`, which puts its engines into the tracker. `done` receives each result, with the place of its item, as it comes.
/// It returns whether the work goes on: otherwise no further item is begun.
///
/// # Errors
/// When the runtime cannot be made.
pub fn each<T, S, R>(
    pool: Pool,
    items: impl IntoIterator<Item = T>,
    open: impl Fn(&TaskTracker) -> S,
    work: impl AsyncFn(&mut S, T) -> R,
    done: impl FnMut(usize, R) -> bool,
) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let queue = RefCell::new(items.into_iter().enumerate());
    let (done, stopped) = (RefCell::new(done), RefCell::new(false));
    let actors = TaskTracker::new();
    let worker = || async {
        let mut state = open(&actors);
        while !*stopped.borrow() {
            let Some((at, item)) = next(&queue) else { break };
            let result = work(&mut state, item).await;
            if !(done.borrow_mut())(at, result) {
                stopped.replace(true);
            }
        }
    };
    runtime.block_on(async {
        join_all((0..pool.workers.max(1)).map(|_| worker())).await;
        actors.close();
        // An engine that does not leave is killed with the runtime.
        let _left = timeout(LEAVING, actors.wait()).await;
    });
    Ok(())
}

/// A function of its own, so that the borrow does not outlive it.
fn next<T>(queue: &RefCell<impl Iterator<Item = T>>) -> Option<T> {
    queue.borrow_mut().next()
}
