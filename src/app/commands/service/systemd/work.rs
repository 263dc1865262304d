//! What a service does, as its configuration says it: what it writes, and how long its games can last.

use crate::commands::service::Service;
use event::hall::event_files;
use notation::csa::game_name::Entry;
use plan::{ClientConfig, EnginePlan, Event, Faults, HallConfig, Plan, ServeConfig};
use referee::clock::TimeControl;
use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

/// What a service does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Name of its event.
    pub event: String,
    /// Its database.
    pub database: PathBuf,
    /// Directories that it writes to.
    pub writes: BTreeSet<PathBuf>,
    /// How long a game can last by its clocks; zero where the configuration has none.
    pub longest_game: Duration,
}

impl Work {
    /// A queue with this database. Its tests choose the clocks.
    pub fn of_queue(database: PathBuf) -> Self {
        let directory = parent(&database).unwrap_or_default();
        let event = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { event, writes: [directory].into(), longest_game: HOUR, database }
    }
}

/// As long as a game may last where others choose its clocks.
const HOUR: Duration = Duration::from_secs(3600);
/// Moves of both sides in a game that is longer than most.
const MANY: u32 = 256;

/// Checks a configuration as the service will read it.
pub fn read(service: Service, file: &Path) -> Result<Work, Faults> {
    if service == Service::Hall {
        return hall(file);
    }
    if service == Service::Floodgate {
        return Ok(client(&ClientConfig::load(file)?));
    }
    Ok(work(&Event::load_hosted(file)?))
}

fn work(event: &Event) -> Work {
    match event {
        Event::Arranged { plan, serve } => arranged(plan, serve.as_deref()),
        Event::League(league) => host(league),
        Event::Seat(config) => client(config),
    }
}

/// All events that are there now; of one that is added later only the hall's own directory can be known.
fn hall(directory: &Path) -> Result<Work, Faults> {
    HallConfig::load(directory, false)?;
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // The databases lie in the directory, which is there already: so the service has no user that comes and goes.
    let mut work = Work { event: name, database: directory.to_owned(), ..Work::default() };
    work.writes.insert(directory.to_owned());
    let unreadable = |e: io::Error| Faults::of_file(directory, format!("cannot be read: {e}"));
    for file in event_files(directory).map_err(unreadable)? {
        let Work { writes, longest_game, .. } = self::work(&Event::load(&file)?);
        work.writes.extend(writes);
        work.longest_game = work.longest_game.max(longest_game);
    }
    Ok(work)
}

fn arranged(plan: &Plan, serve: Option<&ServeConfig>) -> Work {
    let mut work = Work { event: plan.name.clone(), database: plan.database.clone(), ..Work::default() };
    work.writes.extend([&plan.database].into_iter().filter_map(|file| parent(file)));
    work.writes.extend(plan.log.directory().map(Path::to_owned));
    work.writes.extend(serve.and_then(|serve| serve.records.clone()));
    work.writes.extend(plan.engines.iter().filter_map(learning));
    let longest = plan.engines.iter().flat_map(EnginePlan::times).map(longest).max();
    work.longest_game = longest.unwrap_or_default();
    work
}

fn host(league: &ServeConfig) -> Work {
    let mut work = Work { event: league.name.clone(), database: league.database.clone(), ..Work::default() };
    work.writes.extend(parent(&league.database));
    work.writes.extend(league.records.clone());
    // Its players choose the clocks.
    work.longest_game = HOUR;
    work
}

fn client(config: &ClientConfig) -> Work {
    let mut work = Work { event: config.name.clone(), database: config.database.clone(), ..Work::default() };
    work.writes.extend(parent(&config.database));
    work.writes.extend(config.log.directory().map(Path::to_owned));
    work.writes.extend(config.records.as_ref().map(|records| records.directory.clone()));
    work.writes.extend(learning(&config.engine));
    work.longest_game = longest(&Entry::read(&config.login.password).game.time());
    work
}

fn parent(file: &Path) -> Option<PathBuf> {
    file.parent().map(Path::to_owned)
}

/// The directory of an engine that has one of its own: learned books and logs go there.
fn learning(engine: &EnginePlan) -> Option<PathBuf> {
    engine.directory.clone().filter(|_| !engine.directory_by_default)
}

fn longest(time: &TimeControl) -> Duration {
    let each = [time.byoyomi, time.increment, time.delay, time.fixed.unwrap_or_default()];
    let each = each.into_iter().fold(Duration::ZERO, Duration::saturating_add);
    time.main.saturating_mul(2).saturating_add(each.saturating_mul(MANY))
}
