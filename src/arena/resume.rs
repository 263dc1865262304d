//! An event that is begun, or taken up where it was left: what may have changed in between, and what may not.

use crate::{error::RunError, identity::Engine};
use journal::{EventHead, GameFilter, Journal, Moves, Opening, Rescheduled, Store, StoreError, Writer};
use plan::{Fingerprint, Plan, StoredPlan, format_words};
use referee::{
    entry::PlayerId,
    identity::Identity,
    schedule::{Format, Stage, size::Resizing},
    standings::Standings,
};
use std::{io, sync::Arc};

/// An opened event, and what people should know of it.
pub(crate) struct Resumed {
    pub(crate) opening: Opening,
    pub(crate) words: Vec<String>,
}

/// Opens the event of a plan and refuses what would mix games that are not comparable. The engines that play are given
/// by player; `None` for one that is not started here.
pub(crate) fn open(plan: &Plan, engines: &[Option<Arc<Engine>>]) -> Result<Resumed, RunError> {
    let fingerprint = fingerprint(plan)?;
    let (plan_json, fingerprint_json) = (StoredPlan::of_event(plan).to_json(), json(&fingerprint)?);
    let head = EventHead { name: &plan.name, kind: "run", plan: &plan_json, fingerprint: &fingerprint_json };
    let opening = Journal::open(&plan.database, &head)?;
    let mut words = vec![];
    if opening.event().resumed {
        let before = read(&opening.event().fingerprint)?;
        let changes = before.changes_to(&fingerprint);
        if !changes.is_empty() {
            return Err(RunError::Changed { name: plan.name.clone(), changes });
        }
        let complete = is_closed(&opening)? && before.stages().is_none_or(|stages| stages == plan.stages);
        words.extend(compare(plan, engines, &opening, complete)?);
        words.extend(resize(plan, &before, &head, &opening)?);
        // What may change from run to run, such as the limit of faults, is reported as it is now, and `renmei log` looks
        // for files where the last run wrote them.
        opening.writer().replan(opening.event().event, &plan_json)?;
    }
    Ok(Resumed { opening, words })
}

/// Why the event that the database has under the name of this plan is another one; empty if the plan begins it or takes
/// it up. Only the plan is compared, and nothing is written.
///
/// # Errors
/// When the database or an opening file cannot be read.
pub fn differences(plan: &Plan) -> Result<Vec<String>, RunError> {
    if !plan.database.exists() {
        return Ok(vec![]);
    }
    match Store::read(&plan.database)?.fingerprint(&plan.name)? {
        Some(before) => Ok(read(&before)?.changes_to(&fingerprint(plan)?)),
        None => Ok(vec![]),
    }
}

/// Gives what was played of an event another name, which is returned; `None` if nothing was.
///
/// # Errors
/// When another process plays the event, or the database cannot be written.
pub fn set_aside(plan: &Plan) -> Result<Option<String>, RunError> {
    if !plan.database.exists() {
        return Ok(None);
    }
    Ok(Writer::open(&plan.database)?.set_aside(&plan.name)?)
}

fn fingerprint(plan: &Plan) -> Result<Fingerprint, RunError> {
    Fingerprint::of(plan).map_err(|e| RunError::Io("openings".to_owned(), e))
}

fn unreadable(error: serde_json::Error) -> RunError {
    RunError::Io("the fingerprint as JSON".to_owned(), io::Error::from(error))
}

fn json(fingerprint: &Fingerprint) -> Result<String, RunError> {
    serde_json::to_string(fingerprint).map_err(unreadable)
}

fn read(fingerprint: &str) -> Result<Fingerprint, RunError> {
    serde_json::from_str(fingerprint).map_err(unreadable)
}

fn is_closed(opening: &Opening) -> Result<bool, StoreError> {
    let events = opening.store().events()?;
    Ok(events.iter().any(|event| event.id == opening.event().event && event.closed))
}

/// Compares the engines with those that played before; what was not recorded then is told.
fn compare(
    plan: &Plan,
    engines: &[Option<Arc<Engine>>],
    opening: &Opening,
    complete: bool,
) -> Result<Option<String>, RunError> {
    let known = opening.store().identities(opening.event().event)?;
    let before = |player: PlayerId| -> Option<&Identity> {
        known.iter().rev().find(|known| known.player == player).map(|known| &known.identity)
    };
    let (mut changes, mut unknown) = (vec![], vec![]);
    for (number, engine) in (0..).zip(engines) {
        let Some(engine) = engine else { continue };
        match before(PlayerId(number)) {
            Some(before) => {
                let words = engine.changes_since(before).into_iter();
                changes.extend(words.map(|words| format!("engine `{}`: {words}", engine.name)));
            }
            None => unknown.push(format!("`{}`", engine.name)),
        }
    }
    let name = plan.name.clone();
    if !changes.is_empty() {
        return Err(RunError::Replaced { name, changes, complete });
    }
    if unknown.is_empty() {
        return Ok(None);
    }
    let unknown = unknown.join(", ");
    let then = match complete {
        true => "whether it is the same now is unknown",
        false => "it is taken to be the same, and recorded from now on",
    };
    Ok(Some(format!("what played as {unknown} was not recorded when `{name}` was played before: {then}")))
}

/// Brings the event to the size of the plan; returns what to tell about it.
fn resize(
    plan: &Plan,
    before: &Fingerprint,
    head: &EventHead<'_>,
    opening: &Opening,
) -> Result<Option<String>, RunError> {
    let Some(was) = before.stages().filter(|was| *was != plan.stages) else { return Ok(None) };
    let (event, store, players) = (opening.event().event, opening.store(), plan.engines.len());
    let resizing = Resizing::new(&was, &plan.stages, players);
    let (mut games, mut fault) = (vec![], None);
    store.games::<StoreError>(event, &GameFilter::default(), |row| {
        match resizing.place(&row.pairing) {
            Ok(moved) => games.extend(moved.map(|pairing| (row.game, pairing))),
            Err(found) => fault = fault.max(Some(found)),
        }
        Ok(())
    })?;
    if let Some(fault) = fault {
        return Err(RunError::Size { name: plan.name.clone(), fault });
    }
    let reopens = is_closed(opening)? && has_more_to_play(&was, plan, opening)?;
    let (plan_json, fingerprint) = (head.plan, head.fingerprint);
    opening
        .writer()
        .reschedule(event, &Rescheduled { plan: plan_json, fingerprint, games: &games, reopens })?;
    let (was, is) = (format_words(&was), plan.format_words());
    Ok((was != is).then(|| format!("`{}` was {was}; from now on it is {is}", plan.name)))
}

/// Whether a complete event gets games by its new size: a test with a verdict gets none.
fn has_more_to_play(was: &[Stage], plan: &Plan, opening: &Opening) -> Result<bool, StoreError> {
    let mut standings = Standings::new(was, plan.engines.len()).with_rules(plan.ranking.clone());
    opening.replay(Moves::Without, &mut |stamped| standings.fold(&stamped.entry))?;
    let decided =
        |stage: &Stage| matches!(stage.format, Format::Sprt { .. }) && standings.verdict().is_some();
    Ok(was.iter().zip(&plan.stages).any(|(was, is)| was != is && !decided(is)))
}
