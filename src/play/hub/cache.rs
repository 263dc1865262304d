//! Files of the manager, on a worker: fetched once, kept private, and looked at again before each use.
//!
//! ```text
//! DIRECTORY/blobs/NAME          content of a file; NAME is its hash, with `x` if it is a program
//! DIRECTORY/blobs/NAME.lock     held by whoever uses it; its time of change is that of the last use
//! DIRECTORY/blobs/NAME.part     being fetched, by whoever has locked it
//! DIRECTORY/trees/NAME/         a directory, of hard links to blobs; NAME is the hash of its list
//! DIRECTORY/trees/NAME.lock
//! ```
//!
//! What was altered is thrown away and fetched again. A file counts as unaltered if its hash is right, or if neither its
//! inode, its size nor its times have changed since its hash was right: whoever writes to a file changes its `ctime`.

use crate::{
    FileFault, FileRef, HubError, MOST_FILE_BYTES, Sha256Sum, Subjects, TreeRef,
    depot::{blocking, hash, io_fault},
    directory::failed,
    file_ref::{LONGEST_LIST, List},
};
use async_nats::{Client, HeaderMap};
use bytes::Bytes;
use futures_util::{StreamExt, future::BoxFuture, stream};
use parking_lot::Mutex;
use platform::{
    files::{self, Identity, Stamp},
    locks::Lock,
};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, HashMap},
    error::Error,
    fmt, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

/// Pieces that are asked for at once.
const IN_FLIGHT: usize = 8;
/// How long the server has for a piece, and how often it is asked.
const PATIENCE: Duration = Duration::from_secs(30);
const ATTEMPTS: usize = 4;
/// How often a lock is tried while another process fetches the same file.
const GLANCE: Duration = Duration::from_millis(50);

/// How old something half made is that nobody works on any more.
const UNFINISHED: Duration = Duration::from_secs(3_600);

/// Where pieces of files come from: asked for a file by its hash and for the number of a piece, it answers with the piece,
/// with `None` if there is no such file, or with what went wrong.
pub type Pieces =
    Arc<dyn Fn(Sha256Sum, u64) -> BoxFuture<'static, Result<Option<Bytes>, Cause>> + Send + Sync>;
type Cause = Box<dyn Error + Send + Sync>;

#[derive(Clone)]
struct Source(Pieces);

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source(..)")
    }
}

/// Files that were fetched.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    most_bytes: u64,
    source: Option<Source>,
    /// Files whose hash was right, and how they looked then.
    verified: Arc<Mutex<HashMap<PathBuf, Stamp>>>,
    /// One fetches at a time: it has the whole line, and counts what is there.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// A file or a directory of the cache in use. It stays in the cache for as long as this value lives.
#[derive(Debug)]
pub struct Held {
    path: PathBuf,
    _lock: Lock,
}

impl Held {
    /// Where it is. It may be read and run, not written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Cache {
    /// A cache in a directory, without a source: what it lacks it cannot fetch.
    ///
    /// # Errors
    /// When the directory cannot be made, or is not this user's alone.
    pub fn at(root: &Path, most_bytes: u64) -> Result<Self, HubError> {
        for directory in [root.to_path_buf(), root.join("blobs"), root.join("trees")] {
            files::create_directory(&directory, files::Access::Private).map_err(failed(&directory))?;
            files::owner_alone(&directory).map_err(failed(&directory))?;
        }
        let root = fs::canonicalize(root).map_err(failed(root))?;
        sweep(&root.join("trees"));
        Ok(Self { root, most_bytes, source: None, verified: Arc::default(), turn: Arc::default() })
    }

    /// The cache with a source of what it lacks.
    #[must_use]
    pub fn with(self, pieces: Pieces) -> Self {
        Self { source: Some(Source(pieces)), ..self }
    }

    /// A file, from the cache or from the server.
    ///
    /// # Errors
    /// When the server does not have it or sends something else, or there is no room for it.
    pub async fn fetch(&self, file: &FileRef) -> Result<Held, FileFault> {
        let _turn = self.turn.lock().await;
        self.fetch_blob(file).await
    }

    /// A directory, from the cache or from the server.
    ///
    /// # Errors
    /// See [`Cache::fetch`]; and when the list of its files would write outside of it.
    pub async fn fetch_directory(&self, tree: &TreeRef) -> Result<Held, FileFault> {
        let _turn = self.turn.lock().await;
        let file = tree.list();
        let most = LONGEST_LIST;
        if file.bytes > most {
            return Err(FileFault::TooLarge { path: "the list of files".into(), bytes: file.bytes, most });
        }
        let listed = self.fetch_blob(&file).await?;
        let text = fs::read(listed.path()).map_err(io_fault(listed.path()))?;
        let list = List::read(&text, file.sha256)?;
        let path = self.root.join("trees").join(file.sha256.to_string());
        let lock = lock_in_use(&path)?;
        let (cache, at, wanted) = (self.clone(), path.clone(), list.clone());
        if !blocking(move || cache.is_tree(&at, &wanted)).await? {
            self.build_tree(&path, &list).await?;
        }
        Ok(Held { path, _lock: lock })
    }

    async fn fetch_blob(&self, file: &FileRef) -> Result<Held, FileFault> {
        let path = self.root.join("blobs").join(name(file));
        if file.bytes > MOST_FILE_BYTES {
            return Err(FileFault::TooLarge { path, bytes: file.bytes, most: MOST_FILE_BYTES });
        }
        let lock = lock_in_use(&path)?;
        if !self.check(&path, file).await? {
            let part = loop {
                match lock_part(&path)? {
                    Some(part) => break part,
                    None => tokio::time::sleep(GLANCE).await,
                }
            };
            // Another process may have fetched it meanwhile.
            if !self.check(&path, file).await? {
                self.make_room(file.bytes).await?;
                self.download(file, part, &path).await?;
            }
        }
        Ok(Held { path, _lock: lock })
    }

    /// Whether a file is what it should be.
    async fn check(&self, path: &Path, file: &FileRef) -> Result<bool, FileFault> {
        let (cache, path, file) = (self.clone(), path.to_path_buf(), *file);
        blocking(move || cache.is_blob(&path, &file)).await
    }

    fn is_blob(&self, path: &Path, file: &FileRef) -> Result<bool, FileFault> {
        let mut opened = match files::read_linked(path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(io_fault(path)(error)),
        };
        let stamp = Stamp::of(&opened).map_err(io_fault(path))?;
        let mut verified = self.verified.lock();
        if verified.get(path) == Some(&stamp) {
            return Ok(true);
        }
        let may_run = stamp.is_executable().is_none_or(|is_program| is_program == file.executable);
        let looks_right = stamp.bytes == file.bytes && may_run;
        let is_right = looks_right && hash(&mut opened).map_err(io_fault(path))?.0 == file.sha256;
        match is_right {
            true => verified.insert(path.to_path_buf(), stamp),
            false => {
                tracing::warn!(target: "hub", "{} was altered, and is not used", path.display());
                verified.remove(path)
            }
        };
        Ok(is_right)
    }

    /// Fetches a file into its part, and gives it its name when it is complete and right.
    async fn download(&self, file: &FileRef, part: Lock, path: &Path) -> Result<(), FileFault> {
        let failed = io_fault(path);
        part.set_len(0).map_err(failed)?;
        let mut hasher = Sha256::new();
        let sha256 = file.sha256.to_string();
        let pieces = (0..file.pieces()).map(|piece| self.piece(file, &sha256, piece));
        let mut pieces = stream::iter(pieces).buffered(IN_FLIGHT);
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            hasher.update(&piece);
            (&*part).write_all(&piece).map_err(failed)?;
        }
        if Sha256Sum(hasher.finalize().into()) != file.sha256 {
            let _nothing_to_keep = fs::remove_file(part_of(path));
            return Err(FileFault::Corrupt { sha256: file.sha256.to_string() });
        }
        files::seal(&part, file.executable).map_err(failed)?;
        part.sync_all().map_err(failed)?;
        fs::rename(part_of(path), path).map_err(failed)
    }

    /// A piece of a file, of exactly the size that it must have.
    async fn piece(&self, file: &FileRef, sha256: &str, piece: u64) -> Result<Bytes, FileFault> {
        let missing = || FileFault::Missing { sha256: sha256.to_owned() };
        let Some(Source(pieces)) = &self.source else { return Err(missing()) };
        let mut cause = String::new();
        for _ in 0..ATTEMPTS {
            match pieces(file.sha256, piece).await {
                Ok(None) => return Err(missing()),
                Ok(Some(bytes)) if bytes.len() as u64 == file.piece_bytes(piece) => return Ok(bytes),
                Ok(Some(_)) => return Err(FileFault::Corrupt { sha256: sha256.to_owned() }),
                // The server is being started again, or the line broke.
                Err(why) => {
                    cause = why.to_string();
                    tokio::time::sleep(GLANCE * 10).await;
                }
            }
        }
        Err(FileFault::Server { doing: "fetched", cause })
    }

    /// Whether a directory has the files of a list, as they should be. What else is in it is an engine's own.
    fn is_tree(&self, path: &Path, list: &List) -> Result<bool, FileFault> {
        for listed in &list.files {
            let file = path.join(&listed.path);
            if !is_plain(path, &listed.path) || !self.is_blob(&file, &listed.file)? {
                return Ok(false);
            }
        }
        Ok(fs::symlink_metadata(path).is_ok_and(|data| data.is_dir()))
    }

    /// Makes a directory anew: of links to blobs, beside the old one, which it then replaces.
    async fn build_tree(&self, path: &Path, list: &List) -> Result<(), FileFault> {
        let beside = |what: &str| path.with_extension(format!("{what}-{:016x}", rand::random::<u64>()));
        let (new, old) = (beside("new"), beside("old"));
        let failed = io_fault(path);
        let private = |path: &Path| files::create_directory(path, files::Access::Private);
        private(&new).map_err(failed)?;
        for listed in &list.files {
            let blob = self.fetch_blob(&listed.file).await?;
            let at = new.join(&listed.path);
            at.parent().map_or(Ok(()), private).map_err(failed)?;
            fs::hard_link(blob.path(), &at).map_err(failed)?;
        }
        if fs::rename(path, &old).is_ok() {
            let _the_next_prunes_it = fs::remove_dir_all(&old);
        }
        fs::rename(&new, path).map_err(failed)
    }

    /// Deletes what was used longest ago until so many bytes more have room.
    async fn make_room(&self, bytes: u64) -> Result<(), FileFault> {
        let cache = self.clone();
        blocking(move || {
            let most = cache.most_bytes;
            while cache.bytes() + bytes > most {
                if !cache.delete_oldest()? {
                    return Err(FileFault::CacheFull { path: cache.root, bytes, most });
                }
            }
            Ok(())
        })
        .await
    }

    /// Bytes on the disk; a file that has several names is counted once.
    fn bytes(&self) -> u64 {
        let mut sizes = BTreeMap::new();
        let mut directories = vec![self.root.join("blobs"), self.root.join("trees")];
        while let Some(directory) = directories.pop() {
            for (path, data) in entries(&directory) {
                if data.is_dir() {
                    directories.push(path);
                } else if let Ok(file) = Identity::at(&path) {
                    sizes.insert(file, data.len());
                }
            }
        }
        sizes.values().sum()
    }

    /// Deletes the file or directory that was used longest ago and that nobody uses; whether there was one.
    fn delete_oldest(&self) -> Result<bool, FileFault> {
        let all = ["blobs", "trees"].map(|part| entries(&self.root.join(part)));
        let mut locks: Vec<_> = all
            .into_iter()
            .flatten()
            .filter(|(path, _)| path.extension().is_some_and(|extension| extension == "lock"))
            .map(|(path, data)| (data.modified().unwrap_or(SystemTime::UNIX_EPOCH), path))
            .collect();
        locks.sort();
        for (_, lock) in locks {
            let Ok(file) = files::open(&lock) else { continue };
            let Ok(_held) = Lock::exclusive(file) else { continue };
            let path = lock.with_extension("");
            tracing::info!(target: "hub", "{} makes room", path.display());
            remove(&path).and_then(|()| remove(&part_of(&path))).map_err(io_fault(&path))?;
            // Last: whoever waits for it finds that it is gone, and makes it anew.
            remove(&lock).map_err(io_fault(&lock))?;
            return Ok(true);
        }
        Ok(false)
    }
}

/// Pieces as a server of NATS has them.
pub(crate) fn of_server(client: Client, subjects: Subjects) -> Pieces {
    Arc::new(move |sha256, piece| {
        let (client, subject) = (client.clone(), subjects.file_request(&sha256.to_string(), piece));
        Box::pin(async move {
            let request = async_nats::Request::new().timeout(Some(PATIENCE)).headers(HeaderMap::new());
            match client.send_request(subject, request).await {
                Ok(message) if message.status.is_some_and(|status| status.as_u16() == 404) => Ok(None),
                Ok(message) => Ok(Some(message.payload)),
                Err(error) => Err(error.into()),
            }
        })
    })
}

/// The name of a file in the cache: one that is a program and one that is none are two.
fn name(file: &FileRef) -> String {
    format!("{}{}", file.sha256, if file.executable { "x" } else { "" })
}

fn part_of(path: &Path) -> PathBuf {
    path.with_extension("part")
}

/// Keeps an entry from being deleted, and notes that it is used now.
fn lock_in_use(path: &Path) -> Result<Lock, FileFault> {
    let lock = path.with_extension("lock");
    let failed = io_fault(&lock);
    loop {
        let file = files::open(&lock).map_err(failed)?;
        // Whoever has it alone deletes it, which is done at once.
        let held = Lock::wait_shared(file).map_err(failed)?;
        if files::is_at(&held, &lock) {
            held.set_modified(SystemTime::now()).map_err(failed)?;
            return Ok(held);
        }
    }
}

/// Takes the part of an entry; none if another process has it.
fn lock_part(path: &Path) -> Result<Option<Lock>, FileFault> {
    let part = part_of(path);
    let file = files::open(&part).map_err(io_fault(&part))?;
    let held = Lock::exclusive(file).ok();
    // What another process has completed has another name now, and is not ours to write to.
    Ok(held.filter(|held| files::is_at(held, &part)))
}

/// True if no directory on the way to a file is a link.
fn is_plain(root: &Path, path: &str) -> bool {
    let above = Path::new(path).ancestors().skip(1);
    above.map(|path| root.join(path)).all(|path| fs::symlink_metadata(path).is_ok_and(|data| data.is_dir()))
}

/// Deletes what workers that were killed have left half made; an hour later nobody works on it.
fn sweep(trees: &Path) {
    for (path, data) in entries(trees) {
        let is_part = path.extension().and_then(|end| end.to_str()).is_some_and(|end| end.contains('-'));
        let is_old = data.modified().is_ok_and(|then| then.elapsed().is_ok_and(|age| age > UNFINISHED));
        if is_part && is_old {
            let _the_next_start_tries_again = remove(&path);
        }
    }
}

fn entries(directory: &Path) -> Vec<(PathBuf, fs::Metadata)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?))).collect()
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => return Ok(()),
    };
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
