//! `renmei worker --stdio`: a worker at the far end of `ssh`, in a directory of its own that it leaves with nothing behind.
//!
//! Its games end when its standard input does. If the connection was cut, its answers and files stay for a while, for the
//! worker that the manager starts here next.

use super::{Attached, CACHE, Ended, WorkerOptions, event_queue, serve};
use crate::{
    MachineError,
    frame::VERSION,
    outbox::Outbox,
    transport::{Pipe, Transport},
};
use arena::{Say, Shutdown};
use hub::{Cache, EventId, WorkerId};
use platform::{files, locks::Lock};
use std::{
    fs,
    io::{self, Write},
    path::Path,
    thread,
    time::{Duration, Instant, SystemTime},
};

/// What the names of directories of workers begin with.
pub const FAR_DIRECTORY: &str = ".renmei-ssh-";
/// Held by the worker that uses a directory.
const LOCK: &str = "lock";
/// How long a worker before this one is waited for, which still ends its games.
const BEFORE: Duration = Duration::from_secs(30);
/// Time between two looks whether somebody else uses the directory.
const GLANCE: Duration = Duration::from_secs(1);
/// How long it is tried to remove a directory that an engine may still write to.
const TRIES: u32 = 50;
const TRY: Duration = Duration::from_millis(100);
/// The age from which on a directory that nobody uses was left by a worker that was killed.
const OLD: Duration = Duration::from_secs(86_400);

/// Works at the end of a pipe until the event is over, the pipe ends, or `shutdown`; removes the directory.
///
/// # Errors
/// Why this machine cannot play.
pub fn work_over_stdio(directory: &Path, shutdown: &Shutdown, say: &Say) -> Result<Ended, MachineError> {
    let is_ours = directory
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with(FAR_DIRECTORY));
    if !is_ours {
        return Err(MachineError::FarDirectory);
    }
    let failed = |source| MachineError::Directory { path: directory.to_owned(), source };
    files::create_directory(directory, files::Access::Private).map_err(failed)?;
    let directory = fs::canonicalize(directory).map_err(failed)?;
    files::open(&directory.join(LOCK)).map_err(failed)?;
    sweep(&directory);
    let ended = play(&directory, shutdown, say);
    if let Ok((_, Some(keep))) = &ended {
        linger(&directory, *keep);
    }
    remove(&directory);
    ended.map(|(ended, _)| ended)
}

/// Plays; returns how long the directory is kept, if the pipe was cut.
fn play(directory: &Path, shutdown: &Shutdown, say: &Say) -> Result<(Ended, Option<Duration>), MachineError> {
    let mut out = io::stdout();
    let greeting = format!("{}worker {VERSION}\n", crate::ssh::MARK);
    out.write_all(greeting.as_bytes()).and_then(|()| out.flush()).map_err(MachineError::Output)?;
    let (pipe, begin) = Pipe::open(io::stdin(), out, shutdown)?;
    let options = WorkerOptions {
        name: begin.name,
        slots: begin.slots,
        tags: vec![],
        state: directory.to_owned(),
        oversubscribe: begin.oversubscribe,
        strict: false,
        session: begin.session,
    };
    let cache = Cache::at(&directory.join("files"), CACHE)?;
    let attached = Attached {
        transport: Transport::Pipe(pipe.clone()),
        cache: cache.with(pipe.pieces()),
        connection: pipe.connection(),
        outbox: outbox(directory, begin.event, &begin.worker, shutdown)?,
    };
    let runtime = event_queue()?;
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = serve(&options, attached, shutdown, say) => ended,
            // A look at engines, or a file that is on its transport, is not waited for.
            () = cut_before(&pipe, shutdown) => Ok(Ended::Stopped),
        }
    });
    runtime.shutdown_background();
    match pipe.is_cut() {
        true => Ok((ended.unwrap_or(Ended::Stopped), Some(Duration::from_secs(begin.keep)))),
        false => Ok((ended?, None)),
    }
}

/// The directory's answers, once the worker before this one has ended.
fn outbox(
    directory: &Path,
    event: EventId,
    worker: &WorkerId,
    shutdown: &Shutdown,
) -> Result<Outbox, MachineError> {
    let until = Instant::now() + BEFORE;
    loop {
        match Outbox::open(directory, event, worker.clone()) {
            Err(_) if Instant::now() < until && !shutdown.is_finishing() => thread::sleep(TRY),
            opened => return opened,
        }
    }
}

/// Returns once the pipe has ended, and games have had time to.
async fn cut_before(pipe: &Pipe, shutdown: &Shutdown) {
    /// Time for games to end.
    const GAMES: Duration = Duration::from_secs(10);
    shutdown.adjourning().cancelled().await;
    let mut connection = pipe.connection();
    let _ended = connection.wait_for(|connection| *connection != hub::Connection::Up).await;
    tokio::time::sleep(GAMES).await;
}

/// Waits for another worker to take the directory over, but no longer than this.
fn linger(directory: &Path, keep: Duration) {
    let until = Instant::now() + keep;
    while Instant::now() < until && is_free(directory) {
        thread::sleep(GLANCE);
    }
}

/// True if the directory is there, and no worker uses it.
fn is_free(directory: &Path) -> bool {
    take(directory).is_some()
}

/// The lock of a directory that no worker uses.
fn take(directory: &Path) -> Option<Lock> {
    let lock = directory.join(LOCK);
    let file = lock.is_file().then(|| files::open(&lock).ok()).flatten()?;
    Lock::exclusive(file).ok()
}

/// Removes the directory, unless another worker uses it.
fn remove(directory: &Path) {
    let Some(_lock) = take(directory) else { return };
    for _ in 0..TRIES {
        match fs::remove_dir_all(directory) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => thread::sleep(TRY),
            _ => return,
        }
    }
}

/// Removes what workers have left beside this one that were killed.
fn sweep(directory: &Path) {
    let beside = directory.parent().map(fs::read_dir).into_iter().flatten().flatten().flatten();
    for path in beside.map(|entry| entry.path()).filter(|path| path != directory) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let used = fs::metadata(path.join(LOCK)).and_then(|lock| lock.modified());
        let is_old = used.is_ok_and(|then| SystemTime::now().duration_since(then).is_ok_and(|age| age > OLD));
        if name.starts_with(FAR_DIRECTORY) && is_old {
            remove(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_directory_of_ours_that_nobody_uses_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let (own, other) = (root.path().join(".renmei-ssh-1"), root.path().join("documents"));
        for path in [&own, &other] {
            fs::create_dir(path).unwrap();
            fs::write(path.join(LOCK), "").unwrap();
        }
        let say: Say = std::sync::Arc::new(|_: &str| ());
        let why = work_over_stdio(&other, &Shutdown::default(), &say).unwrap_err();
        assert!(matches!(why, MachineError::FarDirectory) && other.exists(), "{why}");
        let used = take(&own).unwrap();
        remove(&own);
        assert!(own.exists() && !is_free(&own), "another worker uses it");
        linger(&own, Duration::from_secs(600));
        drop(used);
        remove(&own);
        assert!(!own.exists() && !is_free(&own));
        linger(&own, Duration::from_secs(600));
    }

    #[test]
    fn what_a_killed_worker_left_is_removed_after_a_day() {
        let root = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - OLD - Duration::from_secs(60);
        for (name, then) in [(".renmei-ssh-1", old), (".renmei-ssh-2", SystemTime::now()), ("documents", old)]
        {
            let lock = root.path().join(name).join("lock");
            fs::create_dir(lock.parent().unwrap()).unwrap();
            fs::File::create(&lock).unwrap().set_modified(then).unwrap();
        }
        sweep(&root.path().join(".renmei-ssh-3"));
        let mut left: Vec<_> =
            fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".renmei-ssh-2", "documents"]);
    }
}
