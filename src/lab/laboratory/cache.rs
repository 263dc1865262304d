//! The cache of builds.
//!
//! ```text
//! CACHE/KEY/repository.git     a bare clone of the user's repository, which is only read
//! CACHE/KEY/checkout           a worktree of that clone: every commit is built at the same place, so that commits
//!                              whose code is the same make the same program
//! CACHE/KEY/lock               held while something is built, also by the processes of the build
//! CACHE/KEY/builds/ID/         what git tracks of the commit, and the program; log.txt, built.json
//! CACHE/KEY/failed/ID.txt      the log of a build that failed
//! ```

use crate::{
    Built, LabError, Surroundings,
    git::{self, Commit, Git},
};
use plan::{SourcePlan, WORKTREE};
use platform::{content::hex, files, locks::Lock};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    thread,
    time::SystemTime,
};

/// Builds of a repository that are kept; the oldest that nobody uses go first.
const MOST_BUILDS: usize = 300;

/// The directory of all builds.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

/// What is written beside a build that is complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub commit: String,
    pub subject: String,
    pub build: String,
    pub program: PathBuf,
    pub sha256: String,
}

/// A build in the cache.
#[derive(Clone, Debug)]
pub struct CachedBuild {
    /// Its directory.
    pub path: PathBuf,
    /// The commit, with its subject.
    pub commit: Commit,
    /// The command that built it.
    pub build: String,
    /// Size of its files in bytes.
    pub bytes: u64,
    /// When it was used last.
    pub used: SystemTime,
}

/// The part of the cache that belongs to a repository.
pub(crate) struct Shelf {
    pub directory: PathBuf,
    location: String,
}

impl Cache {
    /// The cache of this user: `RENMEI_CACHE`, or `renmei` in `XDG_CACHE_HOME` or `~/.cache`.
    ///
    /// # Errors
    /// When none of them is set to an absolute path.
    pub fn here() -> Result<Self, LabError> {
        let directory =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let root = directory("RENMEI_CACHE")
            .or_else(|| directory("XDG_CACHE_HOME").map(|cache| cache.join("renmei")))
            .or_else(|| directory("HOME").map(|home| home.join(".cache/renmei")))
            // Windows has none of them.
            .or_else(|| directory("LOCALAPPDATA").map(|local| local.join("renmei").join("cache")));
        Ok(Self { root: root.ok_or(LabError::NoPlace)? })
    }

    /// A cache in a directory.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// Its directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The commit that a revision of a repository means, or for [`WORKTREE`] one of its uncommitted work, which exists in
    /// the cache alone.
    ///
    /// # Errors
    /// When there is none, or the repository cannot be read.
    pub fn resolve(
        &self,
        repository: &str,
        rev: &str,
        around: &Surroundings<'_>,
    ) -> Result<Commit, LabError> {
        let shelf = self.shelf(repository)?;
        let _lock = shelf.lock(around)?;
        let id = shelf.fetch(rev, around)?;
        git::commit(&shelf.git(), &id)
    }

    /// The commits after `good` up to `bad`, both of them resolved; see [`git::line`].
    ///
    /// # Errors
    /// See [`git::line`].
    pub fn line(
        &self,
        repository: &str,
        good: &str,
        bad: &str,
        first_parent: bool,
    ) -> Result<Vec<Commit>, LabError> {
        git::line(&self.shelf(repository)?.git(), good, bad, first_parent)
    }

    /// The size of the difference between two commits, both of them resolved, in git's words; empty if there is none.
    ///
    /// # Errors
    /// When git fails.
    pub fn difference(&self, repository: &str, old: &str, new: &str) -> Result<String, LabError> {
        let text = self.shelf(repository)?.git().run(&["diff", "--shortstat", "--no-ext-diff", old, new])?;
        Ok(text.trim().to_owned())
    }

    /// The program of a source: from the cache, or built now.
    ///
    /// # Errors
    /// When the commit does not exist, does not build, or a file cannot be written.
    pub fn build(&self, source: &SourcePlan, around: &Surroundings<'_>) -> Result<Built, LabError> {
        let shelf = self.shelf(&source.git)?;
        let lock = shelf.lock(around)?;
        let id = shelf.fetch(&source.rev, around)?;
        let commit = git::commit(&shelf.git(), &id)?;
        let built = shelf.build(source, commit, &lock, around)?;
        self.prune(MOST_BUILDS, &shelf.directory)?;
        Ok(built)
    }

    /// All builds, those that were used last at first.
    pub fn builds(&self) -> Vec<CachedBuild> {
        let mut builds: Vec<_> = below(&self.root).iter().flat_map(|shelf| builds_of(shelf)).collect();
        builds.sort_by_key(|build| std::cmp::Reverse(build.used));
        builds
    }

    /// Deletes the builds that nobody uses, with clones and checkouts; returns the number of builds that are in use.
    ///
    /// # Errors
    /// When something cannot be deleted.
    pub fn clear(&self) -> Result<usize, LabError> {
        let mut kept = 0;
        for shelf in below(&self.root) {
            let Some(_lock) = try_lock(&shelf.join("lock")) else {
                kept += builds_of(&shelf).len().max(1);
                continue;
            };
            self.prune(0, &shelf)?;
            let left = builds_of(&shelf).len();
            for name in ["checkout", "repository.git", "failed"] {
                remove(&shelf.join(name))?;
            }
            if left == 0 {
                remove(&shelf)?;
            }
            kept += left;
        }
        Ok(kept)
    }

    /// Deletes the builds of a repository that nobody uses beyond the `most` that were used last.
    fn prune(&self, most: usize, shelf: &Path) -> Result<(), LabError> {
        let mut builds = builds_of(shelf);
        builds.sort_by_key(|build| std::cmp::Reverse(build.used));
        for build in builds.iter().skip(most) {
            if let Some(_unused) = try_lock(&build.path.join("lock")) {
                remove(&build.path)?;
            }
        }
        Ok(())
    }

    fn shelf(&self, repository: &str) -> Result<Shelf, LabError> {
        let (location, name) = match Path::new(repository).is_absolute() {
            true => {
                let git = Git::at(Path::new(repository));
                // All worktrees of a repository share a clone, and every worktree has files of its own.
                let common = git.run(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
                let name = Path::new(&common).components().rev().find(|part| part.as_os_str() != ".git");
                let name =
                    name.map(|part| part.as_os_str().to_string_lossy().into_owned()).unwrap_or_default();
                (common, name)
            }
            false => {
                (repository.to_owned(), repository.rsplit(['/', ':']).next().unwrap_or_default().to_owned())
            }
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let name: String = name.trim_end_matches(".git").chars().filter(|c| plain(*c)).take(40).collect();
        let key = hex(&Sha256::digest(location.as_bytes()));
        let directory = self.root.join(format!("{name}-{}", &key[..12]));
        for part in ["builds", "failed"] {
            let path = directory.join(part);
            fs::create_dir_all(&path).map_err(LabError::io("cannot make", path))?;
        }
        let local = Path::new(repository).is_absolute();
        Ok(Shelf { directory, location: if local { repository.to_owned() } else { location } })
    }
}

impl Shelf {
    /// Git in the clone.
    pub fn git(&self) -> Git {
        Git::at(&self.directory.join("repository.git"))
    }

    /// Waits until nobody else builds for this repository.
    fn lock(&self, around: &Surroundings<'_>) -> Result<Lock, LabError> {
        let path = self.directory.join("lock");
        let mut told = false;
        loop {
            let file = open(&path)?;
            match Lock::exclusive(file) {
                Ok(lock) => return Ok(lock),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(LabError::io("cannot lock", path)(error)),
            }
            if (around.stopped)() {
                return Err(LabError::Interrupted);
            }
            if !told {
                (around.say)(&format!(
                    "another build is under way in {}: waiting for it",
                    self.directory.display()
                ));
                told = true;
            }
            thread::sleep(crate::GLANCE);
        }
    }

    /// Brings a commit into the clone; returns its hash.
    fn fetch(&self, rev: &str, around: &Surroundings<'_>) -> Result<String, LabError> {
        self.clone_once(around)?;
        let user = Git::at(Path::new(&self.location));
        let is_here = rev.len() >= 40 && self.has(rev);
        let id = match Path::new(&self.location).is_absolute() {
            // A commit never changes; one of uncommitted work is nowhere else.
            _ if is_here => parse(&self.git(), rev)?,
            true if rev == WORKTREE => return self.uncommitted(&user, around),
            true => parse(&user, rev)?,
            false => {
                let refs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
                let fetch = ["fetch", "--quiet", "--no-write-fetch-head", "--", &self.location];
                self.git().run_until(&[&fetch[..], &refs].concat(), around.stopped)?;
                parse(&self.git(), rev)?
            }
        };
        if !self.has(&id) {
            let spec = format!("+{id}:refs/renmei/{id}");
            let fetch =
                ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", &self.location, &spec];
            self.git().run_until(&fetch, around.stopped)?;
        }
        self.git().run(&["update-ref", &format!("refs/renmei/{id}"), &id])?;
        Ok(id)
    }

    /// True if the clone has a commit.
    fn has(&self, id: &str) -> bool {
        self.git().succeeds(&["cat-file", "-e", &format!("{id}^{{commit}}")])
    }

    fn clone_once(&self, around: &Surroundings<'_>) -> Result<(), LabError> {
        let clone = self.directory.join("repository.git");
        if clone.exists() {
            return Ok(());
        }
        let part = self.directory.join("repository.part");
        remove(&part)?;
        (around.say)(&format!("reading the repository {}", self.location));
        let target = part.display().to_string();
        let clone_to = ["clone", "--quiet", "--bare", "--template=", "--", &self.location, &target];
        Git::at(&self.directory).run_until(&clone_to, around.stopped)?;
        fs::rename(&part, &clone).map_err(LabError::io("cannot make", clone))
    }

    /// A commit of the user's files as they are, with what is not committed, in our clone: the user's index and objects
    /// stay as they are. The same files make the same commit.
    fn uncommitted(&self, user: &Git, around: &Surroundings<'_>) -> Result<String, LabError> {
        let top = PathBuf::from(user.run(&["rev-parse", "--show-toplevel"])?);
        let head = self.fetch("HEAD", &Surroundings { say: &|_| (), stopped: around.stopped })?;
        let index = self.directory.join("index");
        remove(&index)?;
        let date = Path::new("2000-01-01T00:00:00Z");
        let who = Path::new("renmei");
        let git = Git::at(&top)
            .with("GIT_DIR", &self.directory.join("repository.git"))
            .with("GIT_WORK_TREE", &top)
            .with("GIT_INDEX_FILE", &index)
            .with("GIT_AUTHOR_DATE", date)
            .with("GIT_COMMITTER_DATE", date)
            .with("GIT_AUTHOR_NAME", who)
            .with("GIT_AUTHOR_EMAIL", who)
            .with("GIT_COMMITTER_NAME", who)
            .with("GIT_COMMITTER_EMAIL", who);
        git.run(&["read-tree", &head])?;
        let exclude = user.run(&["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"])?;
        match fs::metadata(&exclude).is_ok_and(|data| data.is_file()) {
            true => git.run(&["-c", &format!("core.excludesFile={exclude}"), "add", "--all"])?,
            false => git.run(&["add", "--all"])?,
        };
        let tree = git.run(&["write-tree"])?;
        let message = format!("uncommitted work on {}", git::short(&head));
        let id = git.run(&["commit-tree", "--no-gpg-sign", "-p", &head, "-m", &message, &tree])?;
        git.run(&["update-ref", &format!("refs/renmei/{id}"), &id])?;
        Ok(id)
    }
}

/// The commit that a revision means.
fn parse(git: &Git, rev: &str) -> Result<String, LabError> {
    git.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{rev}^{{commit}}")]).map_err(
        |error| match error {
            LabError::Git { directory, says, .. } if says.is_empty() => {
                LabError::History(format!("there is no commit `{rev}` in `{}`", directory.display()))
            }
            other => other,
        },
    )
}

/// Deletes a file or a directory, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), LabError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => return Ok(()),
    };
    removed.map_err(LabError::io("cannot delete", path))
}

/// Opens the file of a lock.
pub(crate) fn open(path: &Path) -> Result<File, LabError> {
    files::open(path).map_err(LabError::io("cannot open", path))
}

fn try_lock(path: &Path) -> Option<Lock> {
    Lock::exclusive(open(path).ok()?).ok()
}

fn below(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The builds of a repository.
fn builds_of(shelf: &Path) -> Vec<CachedBuild> {
    let of = |path: PathBuf| {
        let file = path.join("built.json");
        let mark: Mark = serde_json::from_slice(&files::contents(&file, files::SMALL).ok()?).ok()?;
        let used = fs::metadata(&file).ok()?.modified().ok()?;
        let commit = Commit { id: mark.commit, subject: mark.subject };
        Some(CachedBuild { bytes: size(&path), path, commit, build: mark.build, used })
    };
    below(&shelf.join("builds")).into_iter().filter_map(of).collect()
}

/// Bytes of the files below a directory; links are not followed.
fn size(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => below(path).iter().map(|path| size(path)).sum(),
        Ok(data) => data.len(),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{net::TcpListener, sync::Arc, sync::atomic::AtomicBool, sync::atomic::Ordering};

    #[test]
    fn a_clone_that_hangs_is_given_up_when_it_is_asked_to_end() {
        let place = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("git://{}/engine", listener.local_addr().unwrap());
        let asked = Arc::<AtomicBool>::default();
        let asks = asked.clone();
        // A server that says nothing, until git is gone.
        let server = thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            asks.store(true, Ordering::SeqCst);
            std::io::copy(&mut client, &mut std::io::sink()).map(drop)
        });
        let stopped = || asked.load(Ordering::SeqCst);
        let around = Surroundings { say: &|_| (), stopped: &stopped };
        let ended = Cache::at(place.path()).resolve(&url, "main", &around);
        assert!(matches!(ended, Err(LabError::Interrupted)), "{ended:?}");
        let _cut_off = server.join().unwrap();
    }
}
