//! The identity of an engine on another host, as its far side hashes it.

use super::{Engine, Identifier, IdentityFault, News, NoFile, NotRead, Source, values};
use parking_lot::Mutex;
use plan::{EnginePlan, pattern};
use platform::files::Foreign;
use referee::identity::{FileIdentity, Identity};
use seat::{
    far::{self, Answer, FarError, Value},
    usi::Handshake,
};
use std::collections::BTreeMap;

/// Round trips from here on are worth a word.
const SLOW_MS: f64 = 0.1;

/// An engine on another host and its files as they were.
#[derive(Debug)]
pub(super) struct Far {
    engine: EnginePlan,
    asked: Vec<Asked>,
    sha256: String,
    /// Cores of the host.
    pub cores: usize,
    files: BTreeMap<String, (String, Source)>,
}

/// A value that may name a file there.
#[derive(Debug)]
struct Asked {
    value: Value,
    source: Source,
    /// Pattern of `identity.files`.
    pattern: Option<String>,
    /// Words for messages.
    whence: String,
    /// True if the plan sets it.
    is_set: bool,
}

impl Identifier<'_> {
    /// What plays as this engine of another host.
    pub(super) fn identify_far(
        &mut self,
        engine: &EnginePlan,
        shown: &Handshake,
    ) -> Result<Engine, IdentityFault> {
        let (name, host) = (&engine.name, engine.host.as_deref().unwrap_or_default());
        let asked = asked(engine, shown);
        let answer = ask(engine, &asked)?;
        let round_trip = answer.round_trip.as_secs_f64() * 1000.0;
        if round_trip >= SLOW_MS {
            self.library.say(&format!(
                "engine `{name}` plays on `{host}`: its clock pays {round_trip:.1} ms for the network with each move"
            ));
        }
        let files = files_of(engine, &asked, &answer, &|line| self.library.say(line))?;
        let mut identity = Identity {
            program: format!("{host}:{}", answer.program),
            hash: Some(answer.sha256.clone()),
            id_name: shown.name.clone(),
            files: vec![],
        };
        for (path, (sha256, source)) in &files {
            let (path, sha256, listed) = (path.clone(), sha256.clone(), *source == Source::Listed);
            identity.files.push(FileIdentity { path, sha256, listed });
        }
        let far = Far { engine: engine.clone(), asked, sha256: answer.sha256, cores: answer.cores, files };
        let (ignore, name) = (engine.identity.ignore.clone(), name.clone());
        let (foreign, watched) = (Foreign::default(), Mutex::default());
        Ok(Engine { identity, ignore, name, foreign, watched, far: Some(Mutex::new(far)) })
    }
}

impl Far {
    /// Asks the host again; what was replaced is told at each call, what an engine may have written once.
    pub fn news(&mut self) -> News {
        let mut news = News::default();
        let host = self.engine.host.as_deref().unwrap_or_default();
        let found = ask(&self.engine, &self.asked).map_err(IdentityFault::from).and_then(|answer| {
            let files = files_of(&self.engine, &self.asked, &answer, &|_| ())?;
            Ok((answer, files))
        });
        let (answer, now) = match found {
            Ok(found) => found,
            Err(why) => return News { unknown: Some(why.to_string()), ..news },
        };
        if answer.sha256 != self.sha256 {
            news.replaced.push(format!("the program `{host}:{}` was replaced", answer.program));
        }
        self.files.retain(|path, (sha256, source)| {
            if now.get(path).is_some_and(|(now, _)| now == sha256) {
                return true;
            }
            match source {
                Source::Program | Source::Argument | Source::Listed => {
                    news.replaced.push(format!("its file `{host}:{path}` was replaced"));
                    true
                }
                Source::Option => {
                    let words = format!("its file `{host}:{path}` has changed since the start of this run");
                    news.written.push(words);
                    false
                }
            }
        });
        news
    }
}

fn ask(engine: &EnginePlan, asked: &[Asked]) -> Result<Answer, FarError> {
    let values: Vec<_> = asked.iter().map(|asked| asked.value.clone()).collect();
    far::ask(engine, &values, far::PATIENCE)
}

/// The values of an engine that may name a file.
fn asked(engine: &EnginePlan, shown: &Handshake) -> Vec<Asked> {
    let ignored = |path: &str| engine.identity.ignore.iter().any(|pattern| pattern::covers(pattern, path));
    let mut asked = vec![];
    let mut add = |path: &str, source, pattern: Option<&String>, whence: String, is_set| {
        let path = path.trim();
        let is_plain = path.parse::<f64>().is_ok() || path.parse::<bool>().is_ok();
        if !path.is_empty() && path != "<empty>" && !path.contains('\0') && !is_plain && !ignored(path) {
            let value = Value { path: path.to_owned(), is_listed: source == Source::Listed };
            asked.push(Asked { value, source, pattern: pattern.cloned(), whence, is_set });
        }
    };
    for pattern in &engine.identity.files {
        let (root, _) = pattern::root(pattern);
        let root = if root.is_empty() { "." } else { root };
        add(root, Source::Listed, Some(pattern), format!("`identity.files` names `{pattern}`, and"), true);
    }
    for argument in &engine.args {
        let value = argument.split_once('=').map(|(_, value)| value);
        for value in [Some(argument.as_str()), value].into_iter().flatten() {
            add(value, Source::Argument, None, format!("its argument `{argument}`"), true);
        }
    }
    for (option, value, is_set) in values(engine, shown) {
        add(value, Source::Option, None, format!("its option `{option}`"), is_set);
    }
    asked
}

/// The files of an answer that belong to the engine, each once.
fn files_of(
    engine: &EnginePlan,
    asked: &[Asked],
    answer: &Answer,
    say: &dyn Fn(&str),
) -> Result<BTreeMap<String, (String, Source)>, IdentityFault> {
    let mut files = BTreeMap::new();
    for (number, asked) in asked.iter().enumerate() {
        if answer.is_beyond_count(number) {
            let (whence, directory) = (asked.whence.clone(), asked.value.path.clone());
            let (shown, why) = (directory.clone(), NotRead::Files(far::MOST_FILES));
            let fault = IdentityFault::Directory { whence, directory, shown, why };
            if asked.is_set {
                return Err(fault);
            }
            say(&format!("engine `{}`: {fault}", engine.name));
            continue;
        }
        let before = files.len();
        for file in answer.files.iter().filter(|file| file.value == number) {
            let is_plain = |pattern: &String| pattern::root(pattern).1;
            let covers = |pattern: &String| is_plain(pattern) || pattern::covers(pattern, &file.path);
            let ignored = engine.identity.ignore.iter().any(|pattern| pattern::covers(pattern, &file.path));
            if !ignored && asked.pattern.as_ref().is_none_or(covers) {
                files.entry(file.path.clone()).or_insert((file.sha256.clone(), asked.source));
            }
        }
        if let Some(pattern) = asked.pattern.as_ref().filter(|_| files.len() == before) {
            let (host, why) = (engine.host.as_deref().unwrap_or_default(), NoFile::Unmatched);
            let directory = format!("{host}:{}", answer.directory);
            return Err(IdentityFault::Listed { pattern: pattern.clone(), directory, why });
        }
    }
    Ok(files)
}
