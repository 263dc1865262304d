//! One build: check the commit out, run the command, keep what the engine needs.

use crate::{
    GLANCE, LabError, Surroundings,
    cache::{Mark, Shelf, open, remove},
    git::{self, Commit, Git},
    log,
};
use plan::SourcePlan;
use platform::{
    content::{hex, sha256_of_file},
    files,
    locks::Lock,
    programs::{self, Group},
};
use sha2::{Digest, Sha256};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    thread,
    time::{Instant, SystemTime},
};

/// A program that was built of a commit. As long as it lives, the cache keeps the build.
#[derive(Debug)]
pub struct Built {
    /// The commit.
    pub commit: Commit,
    /// The program.
    pub program: PathBuf,
    /// SHA-256 of the program in hexadecimal digits.
    pub sha256: String,
    _in_use: Lock,
}

impl Shelf {
    /// The build of a commit: the one that is there, or a new one. The caller holds the lock of the repository.
    pub(crate) fn build(
        &self,
        source: &SourcePlan,
        commit: Commit,
        lock: &File,
        around: &Surroundings<'_>,
    ) -> Result<Built, LabError> {
        let id = format!("{}-{}", git::short(&commit.id), recipe(source, &commit.id));
        let directory = self.directory.join("builds").join(&id);
        if let Some(built) = kept(&directory, &commit)? {
            return Ok(built);
        }
        (around.say)(&format!("building {commit}: {}", source.build));
        let checkout = self.checkout(&commit.id, source.incremental)?;
        let part = self.directory.join("part");
        remove(&part)?;
        fs::create_dir_all(&part).map_err(LabError::io("cannot make", &part))?;
        let failed = self.directory.join("failed").join(format!("{id}.txt"));
        let made = run(source, &checkout, lock, &failed, around).and_then(|()| program(source, &checkout));
        let program = match made {
            Ok(program) => program,
            Err(Fault::Stopped) => return Err(LabError::Interrupted),
            Err(Fault::Unbegun(error)) => return Err(LabError::io("cannot build in", &checkout)(error)),
            Err(Fault::Failed(why)) => {
                let tail = log::tail(&failed);
                return Err(LabError::Build { commit: commit.to_string(), why, tail, log: failed });
            }
        };
        keep(source, &checkout, &part)?;
        let sha256 = sha256_of_file(&program).map_err(LabError::io("cannot read", &program))?;
        let Commit { id, subject } = commit.clone();
        let mark = Mark {
            commit: id,
            subject,
            build: source.build.clone(),
            program: source.program.clone(),
            sha256,
        };
        let text =
            serde_json::to_vec_pretty(&mark).map_err(|e| LabError::io("cannot write", &part)(e.into()))?;
        fs::rename(&failed, part.join("log.txt")).map_err(LabError::io("cannot keep", &failed))?;
        fs::write(part.join("built.json"), text).map_err(LabError::io("cannot write", &part))?;
        remove(&directory)?;
        // A build is in the cache as a whole or not at all.
        fs::rename(&part, &directory).map_err(LabError::io("cannot keep", &directory))?;
        let missing =
            || LabError::io("cannot keep", &directory)(io::Error::other("it is not there any more"));
        kept(&directory, &commit)?.ok_or_else(missing)
    }

    /// The worktree of the clone, with a commit in it.
    fn checkout(&self, commit: &str, incremental: bool) -> Result<PathBuf, LabError> {
        let path = self.directory.join("checkout");
        let fresh = || -> Result<(), LabError> {
            remove(&path)?;
            self.git().run(&["worktree", "prune"])?;
            let target = path.display().to_string();
            self.git()
                .run(&["worktree", "add", "--quiet", "--force", "--detach", "--", &target, commit])
                .map(drop)
        };
        let git = Git::at(&path);
        let moved = path.join(".git").is_file()
            && git.succeeds(&["checkout", "--quiet", "--force", "--detach", commit])
            && git.succeeds(&["reset", "--quiet", "--hard", commit]);
        if !moved {
            fresh()?;
        }
        // Twice forced: also repositories that a build has fetched into the checkout.
        git.run(&["clean", "--quiet", if incremental { "-ffd" } else { "-ffdx" }])?;
        Ok(path)
    }
}

/// Digits of what makes a build: the same commit may be built in several ways.
fn recipe(source: &SourcePlan, commit: &str) -> String {
    let SourcePlan { build, program, keep, incremental, .. } = source;
    let text = format!("{commit}\0{build}\0{}\0{keep:?}\0{incremental}", program.display());
    hex(&Sha256::digest(text.as_bytes()))[..10].to_owned()
}

/// A build that is in the cache.
fn kept(directory: &Path, commit: &Commit) -> Result<Option<Built>, LabError> {
    let file = directory.join("built.json");
    let Some(mark) =
        files::contents(&file, files::SMALL).ok().and_then(|text| serde_json::from_slice::<Mark>(&text).ok())
    else {
        return Ok(None);
    };
    let program = directory.join(&mark.program);
    // A program that somebody has changed in the cache is not the one that was built.
    if sha256_of_file(&program).ok().as_ref() != Some(&mark.sha256) {
        return Ok(None);
    }
    let lock = Lock::shared(open(&directory.join("lock"))?);
    let in_use = lock.map_err(|error| LabError::io("cannot lock", directory)(error.into()))?;
    let _the_time_of_use_is_a_courtesy =
        File::open(&file).and_then(|file| file.set_modified(SystemTime::now()));
    Ok(Some(Built { commit: commit.clone(), program, sha256: mark.sha256, _in_use: in_use }))
}

/// Why there is no program.
enum Fault {
    /// No process began, whatever the commit is.
    Unbegun(io::Error),
    Failed(String),
    Stopped,
}

/// Runs the build in the checkout. Its processes hold the lock of the repository as their standard input, an empty file:
/// nothing else is built there as long as one of them lives, even if this program dies.
fn run(
    source: &SourcePlan,
    checkout: &Path,
    lock: &File,
    log: &Path,
    around: &Surroundings<'_>,
) -> Result<(), Fault> {
    let start = || -> io::Result<Group> {
        let out = File::create(log)?;
        let mut command = programs::shell(&source.build);
        git::clean(&mut command);
        platform::files::give_users_umask(&mut command);
        command.current_dir(checkout);
        command.stdin(Stdio::from(lock.try_clone()?)).stdout(out.try_clone()?).stderr(out);
        Group::start(&mut command)
    };
    let mut group = start().map_err(Fault::Unbegun)?;
    let begun = Instant::now();
    let ended = loop {
        match group.child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if (around.stopped)() => break Err(Fault::Stopped),
            Ok(None) if begun.elapsed() > source.timeout => {
                let seconds = source.timeout.as_secs();
                break Err(Fault::Failed(format!("it took longer than {seconds} s (`timeout`)")));
            }
            Ok(None) => thread::sleep(GLANCE),
            Err(error) => break Err(Fault::Failed(format!("its end could not be awaited: {error}"))),
        }
    };
    // Whatever it has left running would write into the next build.
    group.end();
    match ended? {
        status if status.success() => Ok(()),
        status => Err(Fault::Failed(words(status))),
    }
}

fn words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("it exited with code {code}"),
        None => format!("{status}"),
    }
}

/// The program that the build has made.
fn program(source: &SourcePlan, checkout: &Path) -> Result<PathBuf, Fault> {
    let (path, shown) = (checkout.join(&source.program), source.program.display());
    match fs::metadata(&path) {
        Ok(data) if !data.is_file() => {
            Err(Fault::Failed(format!("`{shown}` is no program, but a directory")))
        }
        Ok(data) if !platform::files::is_executable(&path, &data) => {
            Err(Fault::Failed(format!("it made `{shown}`, which is not executable")))
        }
        Ok(_) => Ok(path),
        Err(_) => Err(Fault::Failed(format!("it ended well, but made no program `{shown}` (`program`)"))),
    }
}

/// Copies the program, what git tracks and what the source names from the checkout.
fn keep(source: &SourcePlan, checkout: &Path, target: &Path) -> Result<(), LabError> {
    let tracked = Git::at(checkout).run(&["ls-files", "-z"])?;
    let tracked = tracked.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    for path in tracked.chain(source.keep.iter().cloned()) {
        let (from, to) = (checkout.join(&path), target.join(&path));
        if fs::symlink_metadata(&from).is_err() && !source.keep.contains(&path) {
            // The build has deleted a file that git tracks.
            continue;
        }
        copy(&from, &to).map_err(LabError::io("cannot copy", from))?;
    }
    // A program may be a link to what the build has made, which is not kept.
    let (from, to) = (checkout.join(&source.program), target.join(&source.program));
    remove(&to)?;
    let parent = to.parent().unwrap_or(target);
    let copied = fs::create_dir_all(parent).and_then(|()| fs::copy(&from, &to));
    copied.map(drop).map_err(LabError::io("cannot copy", from))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let data = fs::symlink_metadata(from)?;
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if data.is_symlink() {
        let _replaced = fs::remove_file(to);
        return platform::files::symlink(&fs::read_link(from)?, to);
    }
    if data.is_dir() {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    fs::copy(from, to).map(drop)
}
