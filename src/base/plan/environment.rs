//! The surroundings of a configuration: directories for its files and programs, and the usable cores.

use crate::fault::nearest;
use platform::{files::is_program, programs::GAMES};
use std::{
    env::consts::EXE_SUFFIX,
    fs, io,
    path::{Path, PathBuf},
};

/// Directories for files and programs, and the usable cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The directory that relative paths start from; absolute.
    pub base: PathBuf,
    /// Directories to search for programs, in this order; for engines of Renmei the last one first, where the manager
    /// was installed: one elsewhere may be of another version.
    pub search: Vec<PathBuf>,
    /// Cores that this process may use.
    pub cores: usize,
}

/// Why a command names no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProgram {
    /// A directory.
    #[error("`{}` is a directory, not a program", .0.display())]
    Directory(PathBuf),
    /// A file that cannot be executed.
    #[error("`{}` is not executable", .0.display())]
    NotExecutable(PathBuf),
    /// A command line.
    #[error("there is no program `{0}`; arguments are written in `args`")]
    Arguments(String),
    /// A path with nothing there.
    #[error("there is no program `{}`", .0.display())]
    Path(PathBuf),
    /// A name that is found nowhere, and the program that may be meant.
    #[error(
        "there is no program `{name}` on the path{games} or beside renmei{hint}",
        games = GAMES.iter().map(|place| format!(", in {place}")).collect::<String>(),
        hint = meant.as_ref().map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
    )]
    Name {
        /// The name.
        name: String,
        /// What may be meant.
        meant: Option<String>,
    },
}

impl Environment {
    /// The environment of this process: programs on `PATH`, where packages install engines ([`GAMES`]) and beside this
    /// program.
    ///
    /// # Errors
    /// When `base` cannot be made absolute, as the working directory no longer exists, or is not UTF-8: the paths of a
    /// plan are stored as text.
    pub fn here(base: &Path) -> io::Result<Self> {
        let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.to_path_buf()));
        let mut search: Vec<_> = std::env::split_paths(&path).filter(|dir| dir.is_absolute()).collect();
        search.extend(GAMES.iter().map(PathBuf::from));
        search.extend(beside);
        search.retain(|dir| dir.to_str().is_some());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let base = std::path::absolute(base)?;
        if base.to_str().is_none() {
            let message = format!("the name of the directory `{}` is not UTF-8", base.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(Self { base, search, cores })
    }

    /// True if a program of this name is found by searching.
    pub fn finds(&self, name: &str) -> bool {
        !is_path(name) && self.program(name).is_ok()
    }

    /// The absolute path that a path of the configuration means.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.base.join(path).components().collect()
    }

    /// The program that a command names.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn program(&self, command: &str) -> Result<PathBuf, NoProgram> {
        let candidates: Vec<_> = match is_path(command) {
            true => vec![self.path(command)],
            false => {
                let beside = self.search.last().filter(|_| command.starts_with("renmei-"));
                beside.into_iter().chain(&self.search).map(|dir| dir.join(command)).collect()
            }
        };
        match candidates.iter().find_map(|path| existing(path)) {
            Some(path) => Ok(path),
            None => Err(self.why_none(command, &candidates)),
        }
    }

    fn why_none(&self, command: &str, candidates: &[PathBuf]) -> NoProgram {
        if let Some(path) = candidates.iter().find(|path| path.exists()) {
            let is = if path.is_dir() { NoProgram::Directory } else { NoProgram::NotExecutable };
            return is(path.clone());
        }
        if command.contains(char::is_whitespace) {
            return NoProgram::Arguments(command.to_owned());
        }
        if let ([path], true) = (candidates, is_path(command)) {
            return NoProgram::Path(path.clone());
        }
        let known: Vec<_> = self.search.iter().flat_map(|dir| names(dir)).collect();
        let near = nearest(command, known.iter().map(String::as_str)).map(str::to_owned);
        let meant = is_program(&self.path(command)).then(|| format!("./{command}")).or(near);
        NoProgram::Name { name: command.to_owned(), meant }
    }

    /// The reason why a file cannot be read; `None` if it can.
    pub(crate) fn why_unreadable(path: &Path) -> Option<String> {
        match platform::files::regular(path) {
            Ok(_) => None,
            Err(_) if path.is_dir() => Some(format!("`{}` is a directory, not a file", path.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Some(format!("there is no file `{}`{}", path.display(), neighbour(path)))
            }
            Err(error) => Some(format!("`{}` cannot be read: {error}", path.display())),
        }
    }
}

/// True if a command says where its program is.
pub fn is_path(command: &str) -> bool {
    command.contains(std::path::is_separator)
}

/// The name of a command's program, without its directories and the ending that the system's programs have.
pub fn program_name(command: &str) -> &str {
    let name = command.rsplit(std::path::is_separator).next().unwrap_or_default();
    name.strip_suffix(EXE_SUFFIX).unwrap_or(name)
}

/// The program at a path, which may lack the ending that the system's programs have.
fn existing(path: &Path) -> Option<PathBuf> {
    [path.to_owned(), platform::files::beside(path, EXE_SUFFIX)].into_iter().find(|path| is_program(path))
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

/// The file in the same directory with the nearest name.
fn neighbour(path: &Path) -> String {
    let known = path.parent().map(names).unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let meant = nearest(&name, known.iter().map(String::as_str));
    meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_of_renmei_is_the_one_beside_the_manager_and_any_other_the_first_on_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let search = ["path", "beside"].map(|name| dir.path().join(name)).to_vec();
        let names = ["renmei-random", "other"].map(|name| format!("{name}{EXE_SUFFIX}"));
        for program in search.iter().flat_map(|dir| names.iter().map(|name| dir.join(name))) {
            fs::create_dir_all(program.parent().unwrap()).unwrap();
            fs::write(&program, "").unwrap();
            #[cfg(unix)]
            fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        let found = |place: usize, name: usize| Ok(search[place].join(&names[name]));
        let here = Environment { base: dir.path().to_path_buf(), search: search.clone(), cores: 1 };
        assert_eq!(here.program("renmei-random"), found(1, 0));
        assert_eq!(here.program("other"), found(0, 1));
        let below = format!("path{}other", std::path::MAIN_SEPARATOR);
        assert_eq!(here.program(&below), found(0, 1), "a path starts from the configuration");
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_no_plan_can_name_is_refused() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
        let error = Environment::here(Path::new(OsStr::from_bytes(b"/tmp/\xff"))).unwrap_err();
        assert!(error.to_string().contains("is not UTF-8"), "{error}");
    }

    #[test]
    fn programs_are_searched_beside_this_program_and_where_packages_put_engines() {
        let here = Environment::here(Path::new("")).unwrap();
        assert!(here.base.is_absolute() && here.cores >= 1);
        assert_eq!(here.search.contains(&PathBuf::from("/usr/games")), !cfg!(windows));
        assert!(here.search.iter().all(|place| place.is_absolute()), "a place that moves with the directory");
        let exe = std::env::current_exe().unwrap();
        assert_eq!(here.program(exe.file_name().unwrap().to_str().unwrap()), Ok(exe));
    }
}
