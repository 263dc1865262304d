//! Engines for machines that do not have them: the program and the files that are known to belong to it are sent to the
//! machine, and lie there as they lie below the directory of the engine.

use crate::hub::{Cache, FileFault, Shelf};
use crate::messages::{Player, SentEngine};
use arena::{Say, identity::foreign};
use plan::EnginePlan;
use platform::content;
use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

/// Where a program lies that is not below the directory of its engine.
const ELSEWHERE: &str = "program";

/// The files of every engine whose identity is known. One that cannot be sent is played by machines that have it.
pub async fn send(players: &mut [Player], say: &Say) -> Shelf {
    let shelf = Shelf::default();
    for player in players {
        let Some((program, files)) = files_of(player) else { continue };
        match shelf.add_files(files, &foreign(&player.engine())).await {
            Ok(tree) => player.sent = Some(SentEngine { tree, program }),
            Err(why) => say(&format!(
                "engine `{}` cannot be sent, and is played by machines that have it: {why}",
                player.engine.name
            )),
        }
    }
    shelf
}

/// The program of an engine, and its files, by their paths below its directory.
fn files_of(player: &Player) -> Option<(String, BTreeMap<String, PathBuf>)> {
    let (engine, identity) = (&player.engine, player.identity.as_ref()?);
    if engine.host.is_some() {
        return None;
    }
    identity.hash.as_ref()?;
    let home = directory(engine).canonicalize().ok()?;
    let at = engine.command.parent()?.canonicalize().ok()?.join(engine.command.file_name()?);
    let program = match at.strip_prefix(&home) {
        Ok(below) => below.to_owned(),
        Err(_) => Path::new(ELSEWHERE).join(engine.command.file_name()?),
    };
    let program = program.to_str()?.to_owned();
    let of_it = identity.files.iter().filter(|file| Path::new(&file.path).is_relative());
    let mut files: BTreeMap<String, PathBuf> =
        of_it.map(|file| (file.path.clone(), home.join(&file.path))).collect();
    files.insert(program.clone(), engine.command.clone());
    Some((program, files))
}

fn directory(engine: &EnginePlan) -> PathBuf {
    engine.directory.clone().unwrap_or_else(|| env::current_dir().unwrap_or_default())
}

/// The engine of a player as it is started on this machine: its own if it is the same, else one that is fetched; whether it
/// was.
///
/// # Errors
/// Why it cannot be fetched.
pub async fn engine(player: &Player, cache: &Cache) -> Result<(EnginePlan, bool), FileFault> {
    let mut engine = player.engine();
    let looked = player.clone();
    let here = tokio::task::spawn_blocking(move || is_here(&looked)).await.unwrap_or_default();
    let Some(sent) = player.sent.as_ref().filter(|_| !(here.program && here.files)) else {
        return Ok((engine, false));
    };
    let (was, now) = (directory(&engine), cache.fetch(&sent.tree).await?);
    // A program of the system stays where its libraries are.
    if !(here.program && sent.program.starts_with(ELSEWHERE)) {
        engine.command = now.join(&sent.program);
    }
    let moved = |value: &str| Path::new(value).strip_prefix(&was).ok().map(|below| now.join(below));
    for (_, value) in &mut engine.options {
        if let Some(there) = moved(value) {
            *value = there.display().to_string();
        }
    }
    for argument in &mut engine.args {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (format!("{name}="), value),
            None => (String::new(), argument.as_str()),
        };
        if let Some(there) = moved(value) {
            *argument = format!("{name}{}", there.display());
        }
    }
    engine.directory = Some(now);
    Ok((engine, true))
}

/// What of an engine is on this machine as it is on the manager's.
#[derive(Clone, Copy, Default)]
struct Here {
    program: bool,
    files: bool,
}

fn is_here(player: &Player) -> Here {
    let Some(identity) = &player.identity else { return Here { program: true, files: true } };
    let (home, theirs) = (directory(&player.engine), foreign(&player.engine()));
    let is_same = |path: &Path, sha256: &str| {
        let found = theirs.open(path).and_then(|mut file| content::sha256(&mut file));
        found.is_ok_and(|(found, _)| content::hex(&found) == sha256)
    };
    let program = identity.hash.as_ref().is_none_or(|hash| is_same(&player.engine.command, hash));
    let mut of_it = identity.files.iter().filter(|file| Path::new(&file.path).is_relative());
    let files = home.is_dir() && of_it.all(|file| is_same(&home.join(&file.path), &file.sha256));
    Here { program, files }
}
