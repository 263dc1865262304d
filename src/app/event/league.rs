//! An open league.

use crate::{
    EventRun, Failure,
    network::{Bound, bind, protect},
    runner::{EventRunner, Now},
    runtime,
};
use arena::operations::{Operations, command::Command};
use host::{League, RatingHistory};
use journal::{Store, Writer};
use plan::{ServeConfig, StoredPlan};
use report::EventInfo;
use std::{mem, path::Path};
use web::arbiter::{Entrance, Games};

impl EventRunner<'_> {
    /// Hosts an open league until it is stopped: it has no end.
    pub fn league(mut self, config: ServeConfig) -> Result<(), Failure> {
        let Self { venue, playing, shutdown, .. } = self;
        protect(&config.database)?;
        let Bound { ports, lines, plain, encrypted } = bind(&config.listen, config.tls.as_ref())?;
        let history = RatingHistory::default();
        let of_screen = history.clone();
        let scale = Box::new(move |_: &_, _: &_| of_screen.scale());
        let mut run = self.surround(config.clone().into(), Some(scale), None)?;
        let finishing = "no new games begin; running games are finished, and a second signal breaks them off";
        venue.listen(&run.say, Some(finishing))?;
        let (name, stages) = (config.name.clone(), StoredPlan::from(&config).stages);
        run.announce(EventInfo { name, stages, open: true, ..EventInfo::default() }, playing, None)?;
        let games = Games::League(config.rounds.iter().map(|rounds| rounds.game.clone()).collect());
        let entrance = Entrance { plain, encrypted, games };
        let office = run.publish(&self.pages, Some(entrance.clone()), None)?;
        venue.begun(office.clone().map(|office| Now::Host { office, entrance }), None);
        let (database, name) = (config.database.clone(), config.name.clone());
        let runtime = runtime()?;
        let served = runtime.block_on(async {
            let mut league = League::open(config, history, shutdown, mem::take(&mut run.readers))?;
            league.disk = run.watch_disk()?;
            if !playing.quiet {
                league.visits.write_to(run.note.clone());
            }
            office.iter().for_each(|office| office.open(league.operations()));
            admit(&mut run, &Command::line(&database, &name, "resume"), league.operations());
            league.warnings().iter().chain(&lines).for_each(|line| (run.say)(line));
            league.serve(ports, shutdown.clone()).await.map_err(Failure::from)
        });
        run.close();
        served?;
        if let Some(head) = head(&database, &name)? {
            (run.say)(&format!("head {head}"));
        }
        run.finish();
        Ok(())
    }
}

/// Opens the operator's door, and says if the operator has paused the league.
fn admit(run: &mut EventRun, resume: &str, operations: Operations) {
    if operations.is_paused() {
        (run.say)(&format!("the operator has paused the league: no new game begins until `{resume}`"));
    }
    run.admit(operations);
}

/// The seal of the last entry of a league, to be compared by `renmei verify --head`.
fn head(database: &Path, name: &str) -> Result<Option<String>, Failure> {
    let store = Store::read(database)?;
    let league = store.event_named(name)?;
    Ok(league.map(|league| store.head(league)).transpose()?.flatten())
}

/// Gives a player an account of a league, or another password, by its hash; returns whether the account is new.
///
/// # Errors
/// When the database cannot be written, or its rights cannot be changed.
pub fn set_account(database: &Path, name: &str, hash: &str) -> Result<bool, Failure> {
    let is_new = Writer::open(database)?.set_account(name, hash)?;
    protect(database)?;
    Ok(is_new)
}
