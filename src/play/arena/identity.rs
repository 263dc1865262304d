//! What plays: the program of an engine, the name by which it introduces itself, and the files that it reads.
//!
//! The files are those that the arguments and the options of an engine name, relative to its directory, options that it
//! declares and nobody set included; a directory stands for everything in it. A value that names nothing on the disk is
//! no file. The directory of the engine and those above it are places where it works, not what it reads, and so are
//! directories that everybody may write into, such as `/tmp`: options that name them are left out, and so are the database
//! of the event and the logs and records that it writes. Where an engine that nobody trusts may write, no link leads to
//! anything else.

mod far;
mod files;
#[cfg(test)]
mod tests;

use crate::{IdentityError, IdentityFault, NoFile, NotRead, note::Note};
use far::Far;
use files::{Library, Stamp, below};
use notation::usi::{OptionDecl, OptionKind};
use parking_lot::Mutex;
use plan::{EnginePlan, Sandbox, pattern};
use platform::{files::Foreign, lack};
use referee::{
    entry::{Entry, PlayerId},
    identity::{FileIdentity, Identity},
    sink::Sink,
};
use seat::{
    recorder,
    usi::{Gate, Handshake},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, mpsc::Sender},
};

/// Reads the identities of engines; a file is read once, however many engines have it.
pub struct Identifier<'a> {
    library: Library<'a>,
    database: PathBuf,
    /// Directories that the event writes files into, with the extensions of these files.
    outputs: Vec<(PathBuf, Vec<&'static str>)>,
}

/// How a file became part of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// It is the program.
    Program,
    /// An argument names it, or lies above it.
    Argument,
    /// The plan lists it.
    Listed,
    /// An option names it, or lies above it.
    Option,
}

/// Directories in which an engine that nobody trusts may put links.
pub fn foreign(engine: &EnginePlan) -> Foreign {
    match engine.sandbox.kind {
        Sandbox::Strict => Foreign::new(&engine.sandbox.write),
        Sandbox::Default => Foreign::default(),
    }
}

impl<'a> Identifier<'a> {
    /// Reads nothing yet. `say` shows lines to people; the `database` of the event is never part of an engine.
    pub fn new(database: &Path, say: &'a dyn Fn(&str)) -> Self {
        let database = database.canonicalize().unwrap_or_else(|_| database.to_owned());
        Self { library: Library::new(say), database, outputs: vec![] }
    }

    /// Leaves out the files with these extensions in a directory that the event writes them into. Everything else there
    /// may be read by an engine.
    #[must_use]
    pub fn writing(mut self, directory: &Path, extensions: &[&'static str]) -> Self {
        let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        self.outputs.push((real, extensions.to_vec()));
        self
    }

    /// What plays as this engine; `shown` is its handshake.
    ///
    /// # Errors
    /// What is wrong with the files that belong to it.
    pub fn identify(&mut self, engine: &EnginePlan, shown: &Handshake) -> Result<Engine, IdentityError> {
        let found = match engine.host {
            Some(_) => self.identify_far(engine, shown),
            None => self.identify_here(engine, shown),
        };
        found.map_err(|fault| IdentityError { engine: engine.name.clone(), fault })
    }

    fn identify_here(&mut self, engine: &EnginePlan, shown: &Handshake) -> Result<Engine, IdentityFault> {
        if let Some(hint) = seat::far::hint(engine) {
            self.library.say(&format!("engine `{}`: {hint}", engine.name));
        }
        let home = Home::of(engine);
        let named = self.named(engine, shown, &home)?;
        let (mut identity, mut watched) =
            (Identity { id_name: shown.name.clone(), ..Identity::default() }, vec![]);
        let program = home.foreign.real(&engine.command).unwrap_or_else(|_| engine.command.clone());
        identity.program = program.display().to_string();
        for (path, source) in std::iter::once((program, Source::Program)).chain(named) {
            let read = match self.library.read(&path, &home.foreign) {
                Ok(read) => read,
                Err(error) => {
                    let name = &engine.name;
                    self.library.say(&format!(
                        "`{}` of engine `{name}` cannot be read ({error}), so that nobody will notice when it changes",
                        path.display()
                    ));
                    continue;
                }
            };
            let sha256 = read.sha256.clone();
            match source {
                Source::Program => identity.hash = Some(sha256),
                source => {
                    let (path, listed) = (home.shown(&path), source == Source::Listed);
                    identity.files.push(FileIdentity { path, sha256, listed });
                }
            }
            watched.push(Watched { path, stamp: read.stamp, sha256: read.sha256, source });
        }
        let ignore = engine.identity.ignore.clone();
        let (name, foreign) = (engine.name.clone(), home.foreign);
        Ok(Engine { identity, ignore, name, foreign, watched: Mutex::new(watched), far: None })
    }

    /// The files of an engine apart from its program, each once.
    fn named(
        &self,
        engine: &EnginePlan,
        shown: &Handshake,
        home: &Home,
    ) -> Result<BTreeMap<PathBuf, Source>, IdentityFault> {
        let mut named = BTreeMap::new();
        let mut add = |files: Vec<PathBuf>, source: Source| {
            files.into_iter().for_each(|file| _ = named.entry(file).or_insert(source));
        };
        for pattern in &engine.identity.files {
            let files = self.listed(engine, pattern, home)?;
            add(files, Source::Listed);
        }
        for argument in &engine.args {
            let value = argument.split_once('=').map(|(_, value)| value);
            for value in [Some(argument.as_str()), value].into_iter().flatten() {
                add(
                    self.files(engine, value, &format!("its argument `{argument}`"), true, home)?,
                    Source::Argument,
                );
            }
        }
        for (option, value, is_set) in values(engine, shown) {
            add(self.files(engine, value, &format!("its option `{option}`"), is_set, home)?, Source::Option);
        }
        Ok(named)
    }

    /// The files that a value names: none, itself, or those in its directory.
    fn files(
        &self,
        engine: &EnginePlan,
        value: &str,
        whence: &str,
        is_set: bool,
        home: &Home,
    ) -> Result<Vec<PathBuf>, IdentityFault> {
        let Some(path) = home.find(value) else { return Ok(vec![]) };
        let left_out = |path: &Path| self.is_left_out(engine, path, home);
        if left_out(&path) {
            return Ok(vec![]);
        }
        // What cannot be reached is read, too: that says why not.
        if path.is_file() || home.foreign.real(&path).is_err() {
            return Ok(vec![path]);
        }
        if !path.is_dir() || home.directory.starts_with(&path) || is_open_to_all(&path) {
            return Ok(vec![]);
        }
        let why = match below(&path, &home.foreign, &left_out) {
            Ok(files) => return Ok(files),
            Err(why) => why,
        };
        let (directory, shown) = (path.display().to_string(), home.shown(&path));
        let fault = IdentityFault::Directory { whence: whence.to_owned(), directory, shown, why };
        if is_set {
            return Err(fault);
        }
        self.library.say(&format!("engine `{}`: {fault}", engine.name));
        Ok(vec![])
    }

    /// The files that a pattern of the plan stands for.
    fn listed(&self, engine: &EnginePlan, pattern: &str, home: &Home) -> Result<Vec<PathBuf>, IdentityFault> {
        let none = |why| IdentityFault::Listed {
            pattern: pattern.to_owned(),
            directory: home.directory.display().to_string(),
            why,
        };
        let (root, is_plain) = pattern::root(pattern);
        let root = home.find(if root.is_empty() { "." } else { root }).ok_or_else(|| none(NoFile::Absent))?;
        if root.is_file() {
            return Ok(vec![root]);
        }
        let left_out = |path: &Path| self.is_left_out(engine, path, home);
        let files = below(&root, &home.foreign, &left_out).map_err(|why| none(why.into()))?;
        let covered = |file: &PathBuf| is_plain || pattern::covers(pattern, &home.shown(file));
        let files: Vec<_> = files.into_iter().filter(covered).collect();
        if files.is_empty() { Err(none(NoFile::Unmatched)) } else { Ok(files) }
    }

    fn is_left_out(&self, engine: &EnginePlan, path: &Path, home: &Home) -> bool {
        let shown = home.shown(path);
        let of_database = || path.to_string_lossy().starts_with(&*self.database.to_string_lossy());
        let is_written = |(directory, extensions): &(PathBuf, Vec<&str>)| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            path.parent() == Some(directory) && extension.is_some_and(|it| extensions.contains(&it))
        };
        of_database()
            || recorder::is_log(path)
            || self.outputs.iter().any(is_written)
            || engine.identity.ignore.iter().any(|pattern| pattern::covers(pattern, &shown))
    }
}

/// True if everybody may write into a directory, as into `/tmp`.
fn is_open_to_all(directory: &Path) -> bool {
    platform::files::exposure(directory).is_ok_and(|exposure| exposure.everybody_writes)
}

/// The directory that an engine runs in.
struct Home {
    directory: PathBuf,
    /// What the engine may write to.
    foreign: Foreign,
}

impl Home {
    fn of(engine: &EnginePlan) -> Self {
        let here = || std::env::current_dir().unwrap_or_default();
        let directory = engine.directory.clone().unwrap_or_else(here);
        Self { directory: directory.canonicalize().unwrap_or(directory), foreign: foreign(engine) }
    }

    /// The file or directory that a value names, if there is one. Links are followed in directories, not in the name of
    /// the file, which people know.
    fn find(&self, value: &str) -> Option<PathBuf> {
        let value = value.trim();
        let is_plain = value.parse::<f64>().is_ok() || value.parse::<bool>().is_ok();
        if value.is_empty() || value == "<empty>" || value.contains('\0') || is_plain {
            return None;
        }
        let path = self.directory.join(value);
        if path.is_dir()
            && let Ok(real) = self.foreign.real(&path)
        {
            return Some(real);
        }
        let parent = path.parent()?;
        let parent = self.foreign.real(parent).unwrap_or_else(|_| parent.to_owned());
        let name = path.file_name()?;
        path.exists().then(|| parent.join(name))
    }

    /// A path as people are shown it: below the directory without it.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.directory).unwrap_or(path).display().to_string()
    }
}

/// The values of the options that may name a file: name, value, and whether the plan sets it.
fn values<'e>(engine: &'e EnginePlan, shown: &'e Handshake) -> Vec<(&'e str, &'e str, bool)> {
    let is_set = |name: &str| engine.options.iter().any(|(set, _)| set == name);
    let set = engine.options.iter().map(|(name, value)| (name.as_str(), value.as_str(), true));
    let declared = shown.options.iter().filter(|option| !is_set(&option.name));
    set.chain(declared.filter_map(|option| Some((option.name.as_str(), default(option)?, false)))).collect()
}

fn default(option: &OptionDecl) -> Option<&str> {
    match &option.kind {
        OptionKind::Combo { default, .. }
        | OptionKind::String { default }
        | OptionKind::Filename { default } => Some(default),
        OptionKind::Check { .. } | OptionKind::Spin { .. } | OptionKind::Button => None,
    }
}

/// An engine that is known, and its files as they were.
#[derive(Debug)]
pub struct Engine {
    /// Name of the player.
    pub name: String,
    /// What it is.
    pub identity: Identity,
    ignore: Vec<String>,
    foreign: Foreign,
    watched: Mutex<Vec<Watched>>,
    /// What its host says of it, if that is another machine.
    far: Option<Mutex<Far>>,
}

#[derive(Clone, Debug)]
struct Watched {
    path: PathBuf,
    stamp: Stamp,
    sha256: String,
    source: Source,
}

impl Engine {
    /// What is another than in an earlier run, in words.
    pub fn changes_since(&self, before: &Identity) -> Vec<String> {
        let ignored = |path: &str| self.ignore.iter().any(|pattern| pattern::covers(pattern, path));
        before.changes_to(&self.identity, &ignored)
    }

    /// Cores of its host, if that is another machine.
    pub fn far_cores(&self) -> Option<usize> {
        self.far.as_ref().map(|far| far.lock().cores)
    }

    /// True if a file may have changed since it was read; a quick question to the system. An engine on another host is
    /// suspect before each start, as only the host knows.
    pub fn is_suspect(&self) -> bool {
        self.far.is_some()
            || self.watched.lock().iter().any(|file| Stamp::at(&file.path).ok() != Some(file.stamp))
    }
}

/// What a further look at the files of an engine has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// It is another engine now: its program, a file of its arguments or one that the plan lists was replaced.
    pub replaced: Vec<String>,
    /// Files of its options that were written, each told once: by the engine itself, as a rule.
    pub written: Vec<String>,
    /// Why its host did not say what the engine is now.
    pub unknown: Option<String>,
}

impl Engine {
    /// Reads the files again that may have changed. What was replaced is told once, or `again` at every call.
    pub fn news(&self, again: bool) -> News {
        if let Some(far) = &self.far {
            return far.lock().news();
        }
        let mut library = Library::new(&|_| ());
        let mut news = News::default();
        self.watched.lock().retain_mut(|file| {
            let stamp = Stamp::at(&file.path).ok();
            // A program that is not there, as while it is being built, is no other engine: it cannot be started.
            if stamp == Some(file.stamp) || stamp.is_none() && file.source == Source::Program {
                return true;
            }
            let path = file.path.display();
            match library.read(&file.path, &self.foreign) {
                Ok(read) if read.sha256 == file.sha256 => {
                    file.stamp = read.stamp;
                    return true;
                }
                Err(error) if lack::is_ours(&error) => {
                    news.unknown = Some(format!("`{path}` cannot be read: {error}"));
                    return true;
                }
                _ => {}
            }
            match file.source {
                Source::Program => news.replaced.push(format!("the program `{path}` was replaced")),
                Source::Argument | Source::Listed => {
                    news.replaced.push(format!("its file `{path}` was replaced"))
                }
                Source::Option => {
                    news.written.push(format!("its file `{path}` has changed since the start of this run"));
                    return false;
                }
            }
            again
        });
        news
    }
}

/// Keeps an engine from being started again in an event once it is another one.
#[derive(Debug)]
pub struct Guard {
    /// The engine as it was when this run began.
    pub engine: Arc<Engine>,
    /// The player.
    pub player: PlayerId,
    /// Sink for what is worth a note.
    pub sink: Arc<dyn Sink>,
    /// The dispatcher's mailbox.
    pub notes: Sender<Note>,
}

impl Gate for Guard {
    fn is_suspect(&self) -> bool {
        self.engine.is_suspect()
    }

    fn opens(&self) -> bool {
        let News { replaced, written, unknown } = self.engine.news(true);
        let engine = &self.engine.name;
        if let Some(why) = unknown {
            let text = format!("engine `{engine}`: what it is now is not known before this start: {why}");
            self.sink.happened(Entry::Fault { player: Some(self.player), text });
        }
        for words in written {
            let text = format!(
                "engine `{engine}`: {words}; an event does not continue with changed files, so if the engine writes it \
                 itself, name it in `identity.ignore`"
            );
            self.sink.happened(Entry::Fault { player: Some(self.player), text });
        }
        if replaced.is_empty() {
            return true;
        }
        let changes = replaced.iter().map(|words| format!("engine `{engine}`: {words}"));
        let _dispatcher_gone = self.notes.send(Note::Replaced(self.player, changes.collect()));
        false
    }
}
