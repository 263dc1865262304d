//! Engines of the manager, on a worker: fetched once, kept private, and looked at again before each use.
//!
//! ```text
//! DIRECTORY/NAME/        the files of an engine; NAME is the hash of their list
//! DIRECTORY/NAME.list    the list; its time of change is that of the last use
//! DIRECTORY/NAME.new/    being fetched
//! ```
//!
//! What was altered is thrown away and fetched again. A file that another engine has at the same place is not fetched twice.
//! The directory is that of one worker, which no second process uses.

use crate::hub::{
    FileFault, FileRef, HubError, MOST_FILE_BYTES, TreeRef,
    directory::failed,
    file_ref::{LONGEST_LIST, List, Listed},
    shelf::{blocking, hash, io_fault},
};
use bytes::Bytes;
use futures_util::{StreamExt, future::BoxFuture, stream};
use parking_lot::Mutex;
use platform::{
    content,
    files::{self, Identity, Stamp},
};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fmt, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

/// Pieces that are asked for at once.
const IN_FLIGHT: usize = 8;
/// How often a piece is asked for, and the pause between.
const ATTEMPTS: usize = 4;
const PAUSE: Duration = Duration::from_millis(500);

/// Where pieces of files come from: asked for a file by its hash and for the number of a piece, it answers with the piece,
/// with `None` if there is no such file, or with what went wrong.
pub type Pieces = Arc<dyn Fn(&str, u64) -> BoxFuture<'static, Result<Option<Bytes>, Cause>> + Send + Sync>;
type Cause = Box<dyn Error + Send + Sync>;

/// Engines that were fetched.
#[derive(Clone)]
pub struct Cache {
    root: PathBuf,
    most_bytes: u64,
    pieces: Pieces,
    /// Directories that this process uses: they stay.
    used: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cache({})", self.root.display())
    }
}

impl Cache {
    /// A cache in a directory, of so many bytes at most.
    ///
    /// # Errors
    /// When the directory cannot be made, or is not this user's alone.
    pub fn at(root: &Path, most_bytes: u64, pieces: Pieces) -> Result<Self, HubError> {
        files::create_directory(root, files::Access::Private).map_err(failed(root))?;
        files::owner_alone(root).map_err(failed(root))?;
        let root = fs::canonicalize(root).map_err(failed(root))?;
        Ok(Self { root, most_bytes, pieces, used: Arc::default() })
    }

    /// The directory of an engine, from the cache or from the manager. Its files may be read and run, not written.
    ///
    /// # Errors
    /// When the manager does not have it or sends something else, there is no room for it, or the list of its files would
    /// write outside of it.
    pub async fn fetch(&self, tree: &TreeRef) -> Result<PathBuf, FileFault> {
        let listed = tree.list();
        if listed.bytes > LONGEST_LIST {
            let (path, bytes, most) = ("the list of files".into(), listed.bytes, LONGEST_LIST);
            return Err(FileFault::TooLarge { path, bytes, most });
        }
        let mut text = vec![];
        self.download(listed, &mut text).await?;
        let list = List::read(&text, &listed.sha256)?;
        let path = self.root.join(&listed.sha256);
        self.used.lock().insert(path.clone());
        let name = format!("{}.list", listed.sha256);
        files::write_below(&self.root, Path::new(&name), &text, files::Access::Private)
            .map_err(io_fault(&path))?;
        let (at, wanted) = (path.clone(), list.clone());
        if !blocking(move || is_tree(&at, &wanted)).await? {
            self.build(&path, &list).await?;
        }
        Ok(path)
    }

    /// Makes the directory of an engine anew, beside the old one, which it then replaces.
    async fn build(&self, path: &Path, list: &List) -> Result<(), FileFault> {
        let (new, failed) = (path.with_extension("new"), io_fault(path));
        let private = |path: &Path| files::create_directory(path, files::Access::Private);
        remove(&new).and_then(|()| private(&new)).map_err(failed)?;
        for listed in &list.files {
            let (at, cache, wanted) = (new.join(&listed.path), self.clone(), listed.clone());
            at.parent().map_or(Ok(()), private).map_err(failed)?;
            let to = at.clone();
            if !blocking(move || cache.link(&wanted, &to)).await? {
                self.fetch_file(&listed.file, &at).await?;
            }
        }
        remove(path).and_then(|()| fs::rename(&new, path)).map_err(failed)
    }

    /// Links a file to the same one of another engine; whether there was one.
    fn link(&self, listed: &Listed, at: &Path) -> Result<bool, FileFault> {
        for (tree, _) in
            entries(&self.root).into_iter().filter(|(path, data)| data.is_dir() && !at.starts_with(path))
        {
            if is_file(&tree, listed)? && fs::hard_link(tree.join(&listed.path), at).is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Fetches a file to a path where no file is yet.
    async fn fetch_file(&self, file: &FileRef, at: &Path) -> Result<(), FileFault> {
        let failed = io_fault(at);
        if file.bytes > MOST_FILE_BYTES {
            return Err(FileFault::TooLarge { path: at.into(), bytes: file.bytes, most: MOST_FILE_BYTES });
        }
        let (cache, bytes) = (self.clone(), file.bytes);
        blocking(move || cache.make_room(bytes)).await?;
        let mut written = files::create(at).map_err(failed)?;
        self.download(file, &mut written).await?;
        files::seal(&written, file.executable).map_err(failed)?;
        written.sync_all().map_err(failed)
    }

    /// Fetches all pieces of a file.
    async fn download(&self, file: &FileRef, to: &mut (impl Write + Send)) -> Result<(), FileFault> {
        let mut hasher = Sha256::new();
        let pieces = (0..file.pieces()).map(|piece| self.piece(file, piece));
        let mut pieces = stream::iter(pieces).buffered(IN_FLIGHT);
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            hasher.update(&piece);
            to.write_all(&piece).map_err(io_fault(&self.root))?;
        }
        match content::hex(&hasher.finalize()) == file.sha256 {
            true => Ok(()),
            false => Err(FileFault::Corrupt(file.sha256.clone())),
        }
    }

    /// A piece of a file, of exactly the size that it must have.
    async fn piece(&self, file: &FileRef, piece: u64) -> Result<Bytes, FileFault> {
        let sha256 = file.sha256.clone();
        let mut cause = String::new();
        for _ in 0..ATTEMPTS {
            match (self.pieces)(&file.sha256, piece).await {
                Ok(None) => return Err(FileFault::Missing(sha256)),
                Ok(Some(bytes)) if bytes.len() as u64 == file.piece_bytes(piece) => return Ok(bytes),
                Ok(Some(_)) => return Err(FileFault::Corrupt(sha256)),
                // The manager or its server is being started again, or the line broke.
                Err(why) => {
                    cause = why.to_string();
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
        Err(FileFault::Fetch(cause))
    }

    /// Deletes what was used longest ago, and is not used now, until so many bytes more have room.
    fn make_room(&self, bytes: u64) -> Result<(), FileFault> {
        let most = self.most_bytes;
        while self.bytes() + bytes > most {
            let list = |tree: &Path| tree.with_extension("list");
            let age = |tree: &PathBuf| {
                let found = fs::metadata(list(tree)).and_then(|data| data.modified());
                found.unwrap_or(SystemTime::UNIX_EPOCH)
            };
            let used = self.used.lock().clone();
            let trees = entries(&self.root).into_iter().filter(|(_, data)| data.is_dir());
            let unused = trees.map(|(path, _)| path).filter(|path| !used.contains(&path.with_extension("")));
            let full = || FileFault::CacheFull { path: self.root.clone(), bytes, most };
            let oldest = unused.min_by_key(age).ok_or_else(full)?;
            tracing::info!(target: "hub", "{} makes room", oldest.display());
            remove(&oldest).and_then(|()| remove(&list(&oldest))).map_err(io_fault(&oldest))?;
        }
        Ok(())
    }

    /// Bytes on the disk; a file that has several names is counted once.
    fn bytes(&self) -> u64 {
        let mut sizes = BTreeMap::new();
        let mut directories = vec![self.root.clone()];
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
}

/// True if a directory has the files of a list, as they should be. What else is in it is an engine's own.
fn is_tree(path: &Path, list: &List) -> Result<bool, FileFault> {
    for listed in &list.files {
        if !is_file(path, listed)? {
            return Ok(false);
        }
    }
    Ok(fs::symlink_metadata(path).is_ok_and(|data| data.is_dir()))
}

/// True if a directory has a file as it should be, with no link on the way.
fn is_file(tree: &Path, listed: &Listed) -> Result<bool, FileFault> {
    let above = Path::new(&listed.path).ancestors().skip(1).map(|path| tree.join(path));
    if !above.into_iter().all(|path| fs::symlink_metadata(path).is_ok_and(|data| data.is_dir())) {
        return Ok(false);
    }
    let (path, file) = (tree.join(&listed.path), &listed.file);
    let mut opened = match files::read_linked(&path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(io_fault(&path)(error)),
    };
    let stamp = Stamp::of(&opened).map_err(io_fault(&path))?;
    let may_run = stamp.is_executable().is_none_or(|is_program| is_program == file.executable);
    let looks_right = stamp.bytes == file.bytes && may_run;
    let is_right = looks_right && hash(&mut opened).map_err(io_fault(&path))?.0 == file.sha256;
    if !is_right {
        tracing::warn!(target: "hub", "{} was altered, and is not used", path.display());
    }
    Ok(is_right)
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
