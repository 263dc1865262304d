//! Files in directories that others may write to, such as an untrusted engine: links cannot lead out of them, and a pipe in
//! place of a file does not block.

#[cfg_attr(target_os = "linux", path = "foreign/linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "foreign/unix.rs")]
#[cfg_attr(windows, path = "foreign/windows.rs")]
mod side;

use super::named::checked;
use std::{
    collections::VecDeque,
    ffi::OsString,
    fs::{self, File},
    io,
    path::{Component, Path, PathBuf, absolute},
    sync::Arc,
};

/// Most links on the way to a file, as the system has it.
const LINKS: usize = 40;

/// Directories that others may write to. Without any, every link is followed, as it is the user's.
#[derive(Clone, Debug, Default)]
pub struct Foreign(Arc<[PathBuf]>);

/// Where a path leads.
enum Place {
    /// To a place that is the user's own.
    Own(PathBuf),
    /// Into a foreign directory, and on from there.
    Foreign { root: PathBuf, rest: PathBuf },
}

impl Foreign {
    /// These directories; a file among them cannot be replaced by those who may write to it.
    pub fn new<'a>(directories: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        Self(directories.into_iter().map(real).collect())
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// When it cannot be read, or a link in a foreign directory leads out of it, or it is no regular file.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        checked(match self.way(path)? {
            Place::Own(path) => return super::regular(&path),
            Place::Foreign { root, rest } => side::open(&root, &rest)?,
        })
    }

    /// The path without links.
    ///
    /// # Errors
    /// When there is nothing, or a link in a foreign directory leads out of it.
    pub fn real(&self, path: &Path) -> io::Result<PathBuf> {
        match self.way(path)? {
            Place::Own(path) => path.canonicalize(),
            Place::Foreign { root, rest } => side::real(&root, &rest),
        }
    }

    /// Follows a path up to the first foreign directory on it. Whatever is on this part of the way is the user's.
    fn way(&self, path: &Path) -> io::Result<Place> {
        if self.0.is_empty() {
            return Ok(Place::Own(path.to_owned()));
        }
        let path = absolute(path)?;
        let (mut at, mut left, mut links) = (side::top(&path)?, names(&path), 0);
        loop {
            if self.0.contains(&at) {
                return Ok(Place::Foreign { root: at, rest: left.iter().collect() });
            }
            let Some(name) = left.pop_front() else { return Ok(Place::Own(at)) };
            if name == ".." {
                at.pop();
                continue;
            }
            let next = at.join(name);
            match fs::read_link(&next) {
                Ok(_) if links == LINKS => {
                    return Err(io::Error::other("too many symbolic links follow one another"));
                }
                Ok(target) => {
                    links += 1;
                    if target.is_absolute() {
                        at = side::top(&target)?;
                    }
                    names(&target).into_iter().rev().for_each(|name| left.push_front(name));
                }
                Err(_) => at = side::spelled(next),
            }
        }
    }
}

/// The names in a path, one after the other.
fn names(path: &Path) -> VecDeque<OsString> {
    let plain = |component: &Component<'_>| matches!(component, Component::Normal(_) | Component::ParentDir);
    path.components().filter(plain).map(|component| component.as_os_str().to_owned()).collect()
}

/// The error of a link that leads out of its directory.
fn outside() -> io::Error {
    io::Error::other("it is a link that leads out of a directory which the engine may write to")
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use std::{io::Read, os::unix::fs::symlink};

    fn text(file: io::Result<File>) -> String {
        let mut text = String::new();
        file.unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_link_in_a_foreign_directory_leads_nowhere_else() {
        let place = tempfile::tempdir().unwrap();
        let (home, own) = (place.path().canonicalize().unwrap().join("engine"), place.path().join("own"));
        fs::create_dir_all(home.join("book/deep")).unwrap();
        fs::create_dir(&own).unwrap();
        fs::write(own.join("secret"), "secret").unwrap();
        fs::write(home.join("book/moves"), "moves").unwrap();
        symlink(own.join("secret"), home.join("book/theirs")).unwrap();
        symlink("../../own/secret", home.join("book/relative")).unwrap();
        symlink(&own, home.join("book/directory")).unwrap();
        symlink("deep/../moves", home.join("book/inside")).unwrap();
        symlink(home.join("book"), home.join("link")).unwrap();
        symlink(own.join("secret"), home.join("mine")).unwrap();
        let book = home.join("book");
        let foreign = Foreign::new([&book]);
        for name in ["book/theirs", "book/relative", "book/directory/secret", "link/theirs", "book/../mine"] {
            let (path, why) = (home.join(name), "leads out of a directory which the engine may write to");
            assert!(foreign.open(&path).unwrap_err().to_string().contains(why), "{name}");
            assert!(foreign.real(&path).unwrap_err().to_string().contains(why), "{name}");
        }
        for name in ["book/moves", "book/inside", "link/inside"] {
            assert_eq!(text(foreign.open(&home.join(name))), "moves", "{name}");
            assert_eq!(foreign.real(&home.join(name)).unwrap(), home.join("book/moves"), "{name}");
        }
        // Links that the user has made are the user's own affair.
        assert_eq!(text(foreign.open(&home.join("mine"))), "secret");
        assert_eq!(text(Foreign::default().open(&home.join("book/theirs"))), "secret");
        assert_eq!(foreign.real(&book).unwrap(), book);
        assert!(foreign.open(&book).is_err());
    }

    /// The kernel gives a lookup with `..` up when anything is renamed meanwhile, wherever that is.
    #[test]
    fn a_file_is_found_while_others_are_renamed() {
        let place = tempfile::tempdir().unwrap();
        let (home, [one, other]) =
            (place.path().join("engine"), ["one", "other"].map(|name| place.path().join(name)));
        fs::create_dir_all(home.join("deep")).unwrap();
        fs::write(home.join("moves"), "moves").unwrap();
        symlink("deep/../moves", home.join("book")).unwrap();
        fs::write(&one, "").unwrap();
        let foreign = Foreign::new([&home]);
        let reads = std::thread::spawn(move || (0..20_000).all(|_| foreign.open(&home.join("book")).is_ok()));
        while !reads.is_finished() {
            fs::rename(&one, &other).unwrap();
            fs::rename(&other, &one).unwrap();
        }
        assert!(reads.join().unwrap());
    }

    #[test]
    fn a_pipe_in_place_of_a_file_holds_nobody_up() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("book");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let foreign = Foreign::new([&place.path().to_owned()]);
        assert_eq!(
            foreign.open(&path).unwrap_err().to_string(),
            "it is a pipe or a device; name a regular file"
        );
    }
}
