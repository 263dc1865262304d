//! Other machines that search, reached over `ssh`: each has to have the same builds of the engines.

use super::super::Failure;
use super::AnalyzeArgs;
use arena::{identity::Identifier, preflight};
use event::aloud;
use explain::Muster;
use plan::{EnginePlan, Plan};
use referee::{
    identity::{Identity, short},
    number::number,
};
use seat::usi::Handshake;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Most searches at once on a machine that says itself how many cores it has.
const MOST_CORES: usize = 128;

/// Another machine with its engines.
pub struct Host {
    /// As `ssh` takes it.
    pub name: String,
    /// The engines as they are started there, in the order of those here.
    pub engines: Vec<Arc<EnginePlan>>,
    jobs: Option<usize>,
    here: Arc<Vec<(Handshake, Identity)>>,
    own: PathBuf,
}

/// The machines of the arguments. The engines of this machine are looked at, to compare those of the others with them.
///
/// # Errors
/// When a machine is named twice, or an engine cannot be looked at.
pub fn hosts(args: &AnalyzeArgs, engines: &[(Arc<EnginePlan>, String)]) -> Result<Vec<Host>, Failure> {
    if args.ssh.is_empty() {
        return Ok(vec![]);
    }
    let names: Vec<String> = args.ssh.iter().map(|host| host.name.clone()).collect();
    plan::check_hosts(&names).map_err(|why| Failure::Usage(format!("--ssh {why}")))?;
    let command: Vec<String> = args.ssh_command.split_whitespace().map(str::to_owned).collect();
    let own =
        std::path::absolute(&args.output).unwrap_or_else(|_| args.output.clone()).join("searches.jsonl");
    let here = Arc::new(known(engines, &own)?);
    let host = |host: &super::HostArg| {
        let engine =
            |typed: &String| explain::engine_on(&host.name, &command, typed, &args.option).map(Arc::new);
        let engines = args.engine.iter().map(engine).collect::<Result<_, _>>();
        let (name, jobs) = (host.name.clone(), host.jobs.map(usize::from));
        Ok(Host {
            name,
            engines: engines.map_err(|why| Failure::Usage(why.to_string()))?,
            jobs,
            here: here.clone(),
            own: own.clone(),
        })
    };
    args.ssh.iter().map(host).collect()
}

/// What the engines of this machine declare and what they are; `own` is written here and is no file of theirs.
fn known(engines: &[(Arc<EnginePlan>, String)], own: &Path) -> Result<Vec<(Handshake, Identity)>, Failure> {
    let plans = engines.iter().map(|(engine, _)| EnginePlan::clone(engine)).collect();
    let plan = Plan { look: false, oversubscribe: true, ..Plan::of_engines("", plans, PathBuf::new()) };
    // An engine that cannot be started says so at the first search.
    let found = preflight::look(&plan, &aloud()).map_err(|why| Failure::Other(why.to_string()))?;
    let mute = |_: &str| ();
    let mut identifier = Identifier::new(own, &mute);
    let known = engines.iter().zip(found.shown).map(|((engine, _), shown)| {
        let identity = identifier.identify(engine, &shown)?.identity;
        Ok((shown, identity))
    });
    known.collect()
}

impl Host {
    /// How it is shown.
    pub fn shown(&self) -> String {
        format!("machine `{}`", self.name)
    }

    /// What asks the machine for its engines, and returns how many searches run there at once, or why none do.
    pub fn muster(&self) -> Muster {
        let (engines, here, jobs, own) =
            (self.engines.clone(), self.here.clone(), self.jobs, self.own.clone());
        Arc::new(move || {
            let mute = |_: &str| ();
            let mut identifier = Identifier::new(&own, &mute);
            let mut cores = 1;
            for (engine, (shown, here)) in engines.iter().zip(&*here) {
                let there = identifier.identify(engine, shown)?;
                if let Some(why) = difference(here, &there.identity) {
                    return Err(format!("engine `{}`: {why}", engine.name).into());
                }
                cores = there.far_cores().unwrap_or(cores);
            }
            let jobs = jobs.unwrap_or(cores.min(MOST_CORES));
            Ok(u32::try_from(jobs)?)
        })
    }
}

/// Why an engine of another machine is not the one that is here.
fn difference(here: &Identity, there: &Identity) -> Option<String> {
    let hashes = [&here.hash, &there.hash].map(|hash| hash.as_deref().unwrap_or_default());
    if hashes[0] != hashes[1] {
        let [own, other] = hashes.map(short);
        return Some(format!("`{}` is another build ({own} here, {other} there)", there.program));
    }
    let of = |identity: &Identity, path: &str| {
        identity.files.iter().find(|file| file.path == path).map(|file| file.sha256.clone())
    };
    let mut paths = here.files.iter().chain(&there.files).map(|file| &file.path);
    let path = paths.find(|path| of(here, path) != of(there, path))?;
    Some(match (of(here, path), of(there, path)) {
        (Some(own), Some(other)) => {
            format!("its file `{path}` is another one ({} here, {} there)", short(&own), short(&other))
        }
        (Some(_), None) => format!("its file `{path}` is not there"),
        _ => format!("its file `{path}` is not here"),
    })
}

/// How many positions each machine has searched, in a line.
pub fn share<'a>(here: usize, there: impl Iterator<Item = (&'a str, usize)>) -> String {
    let line = format!("{} searched here", number(here, "position"));
    there.fold(line, |line, (name, count)| format!("{line}, {count} on `{name}`"))
}
