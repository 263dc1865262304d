//! The file of a running event, read again for engines that were added to it.

use crate::{
    Failure,
    prepare::{build, identify, sound},
};
use arena::{
    Say, Shutdown,
    cores::EngineFacts,
    joining::{EventFile, Newcomer},
    preflight, resume,
    turnstile::Permit,
};
use laboratory::{Built, Cache};
use parking_lot::Mutex;
use plan::{EnginePlan, Plan};
use std::{path::PathBuf, sync::Arc};
use words::Message;

/// Reads the plan of a running event again, as a later run of the same command would.
#[derive(Clone)]
pub struct Reread(Arc<dyn Fn() -> Result<Plan, Failure> + Send + Sync>);

impl Reread {
    /// A way to read the plan.
    pub fn new(read: impl Fn() -> Result<Plan, Failure> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }
}

/// The other events of a hall, which share cores and licences with an event that an engine is to join.
pub(crate) trait Neighbours: Send + Sync {
    /// Waits for the licences that a look at newcomers needs, the last engines of a plan.
    fn licensed(&self, plan: &Plan, newcomers: &[EnginePlan]) -> Result<Option<Permit>, Failure>;

    /// Takes newcomers in, which have been tried.
    fn take_in(&self, plan: &Plan, newcomers: &[EnginePlan], facts: &[EngineFacts]) -> Result<(), Failure>;
}

/// The file of a running event.
pub(crate) struct RunningFile {
    reread: Reread,
    neighbours: Option<Box<dyn Neighbours>>,
    name: String,
    database: PathBuf,
    say: Say,
    shutdown: Shutdown,
    /// Builds that newcomers play with, so that the cache keeps them.
    in_use: Mutex<Vec<Built>>,
}

impl RunningFile {
    pub fn new(
        reread: Reread,
        neighbours: Option<Box<dyn Neighbours>>,
        plan: &Plan,
        say: Say,
        shutdown: Shutdown,
    ) -> Self {
        let (name, database) = (plan.name.clone(), plan.database.clone());
        Self { reread, neighbours, name, database, say, shutdown, in_use: Mutex::default() }
    }

    /// Reads the file, compares it with the event, and tries what is new in it.
    fn read(&self) -> Result<Vec<Newcomer>, Failure> {
        let plan = (self.reread.0)()?;
        if (&plan.name, &plan.database) != (&self.name, &self.database) {
            return Err(Failure::Usage(format!(
                "the file describes `{}` in `{}` now, and `{}` in `{}` is played",
                plan.name,
                plan.database.display(),
                self.name,
                self.database.display()
            )));
        }
        let newcomers = resume::newcomers(&plan)?;
        if newcomers.is_empty() {
            return Ok(vec![]);
        }
        let (engines, configurations): (Vec<_>, Vec<_>) = newcomers.into_iter().unzip();
        let mut tried = Plan { engines, ..plan.clone() };
        if tried.engines.iter().any(|engine| engine.source.is_some()) {
            let built = build(&mut tried, &Cache::here()?, &self.shutdown, &self.say)?;
            self.in_use.lock().extend(built);
        }
        let neighbours = self.neighbours.as_deref();
        let permit = neighbours.map(|others| others.licensed(&plan, &tried.engines)).transpose()?;
        // One after the other: the games of the others go on.
        let found = sound(preflight::look_in_turn(&tried, &self.say))?;
        drop(permit);
        let identities = identify(&tried, &found.shown, &self.say)?;
        resume::check_newcomers(&plan, &identities)?;
        neighbours.map(|others| others.take_in(&plan, &tried.engines, &found.engines)).transpose()?;
        let ready = tried.engines.into_iter().zip(identities).zip(found.engines).zip(configurations);
        Ok(ready
            .map(|(((engine, identity), facts), configuration)| Newcomer {
                engine,
                identity,
                facts,
                configuration,
            })
            .collect())
    }
}

impl EventFile for RunningFile {
    fn newcomers(&self) -> Result<Vec<Newcomer>, Message> {
        self.read().map_err(|why| Message::of(|language| language.fault(&why)))
    }
}

/// Compares a plan with what was played of its event, and tries the engines at its end that are new, each once. Nothing is
/// written.
///
/// # Errors
/// Why the event cannot go on by this plan.
pub fn try_newcomers(plan: &Plan) -> Result<(), Failure> {
    let read = plan.clone();
    let (reread, quiet) = (Reread::new(move || Ok(read.clone())), Arc::new(|_: &str| ()));
    RunningFile::new(reread, None, plan, quiet, Shutdown::default()).read().map(drop)
}
