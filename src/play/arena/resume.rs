//! An event that is begun, or taken up where it was left: what may have changed in between, and what may not.

use crate::{
    error::RunError,
    identity::Engine,
    joining::{self, Known},
    open_journal::OpenJournal,
    steering::Steering,
};
use contest::{
    schedule::{Joined, Stage, size::Resizing},
    standings::Standings,
};
use journal::{EventHead, EventId, GameFilter, Moves, Opening, Rescheduled, Store, StoreError, Writer};
use plan::{EnginePlan, Fingerprint, Plan, StoredPlan, format_words};
use referee::{
    entry::{GameId, PlayerId},
    identity::Identity,
    operation::{Action, Operation},
};
use std::{io, sync::Arc};

/// An event that is begun or taken up, and what people should know of it.
pub(crate) struct Resumed {
    /// What was played before.
    pub(crate) standings: Standings,
    /// Options of later games, as they follow from it.
    pub(crate) steering: Option<Box<dyn Steering>>,
    pub(crate) words: Vec<String>,
    /// The parts of the fingerprint of the last engines of the plan, which have not joined the event yet.
    pub(crate) pending: Vec<String>,
}

/// The name of an engine that was not there at the start, and its part of the fingerprint as JSON.
type NewEngine = (String, String);

/// What an event is that has begun: its fingerprint then, and the engines that have joined since.
struct Begun {
    fingerprint: Fingerprint,
    joined: Vec<NewEngine>,
    newcomers: Vec<Joined>,
    /// True if a game was begun.
    has_begun: bool,
}

impl Begun {
    fn of(fingerprint: &str, operations: &[(i64, Operation)], has_begun: bool) -> Result<Self, RunError> {
        let (mut joined, mut newcomers) = (vec![], vec![]);
        for (_, operation) in operations {
            if let Action::Joined { player, name, replaces, configuration, .. } = &operation.action {
                joined.push((name.clone(), configuration.clone()));
                newcomers.push(Joined { player: *player, replaces: *replaces });
            }
        }
        Ok(Self { fingerprint: read(fingerprint)?, joined, newcomers, has_begun })
    }

    /// The fingerprint now.
    fn grown(&self) -> Fingerprint {
        let joined = self.joined.iter();
        joined.fold(self.fingerprint.clone(), |grown, (name, configuration)| {
            grown.with_engine(name, configuration)
        })
    }

    /// What differs in a plan, and the engines at its end that are new: each with its part of the fingerprint. What became
    /// of an engine that has left is of no interest.
    fn compare(&self, plan: &Plan, now: &Fingerprint) -> Result<(Vec<String>, Vec<NewEngine>), RunError> {
        let grown = self.grown();
        let (known, newcomers) = grown.newcomers_of(now);
        let known = known.with_engines_of(&grown, left(plan));
        let changes = grown.changes_to(&known);
        if !changes.is_empty() || newcomers.is_empty() {
            return Ok((changes, vec![]));
        }
        let (known, new) = plan.engines.split_at(plan.engines.len() - newcomers.len());
        let misplaced = || new.iter().find_map(|engine| joining::misplaced(engine, known));
        match joining::forbidden(plan, self.has_begun).map(str::to_owned).or_else(misplaced) {
            Some(why) => Err(cannot_join(plan, &newcomers, &why)),
            None => Ok((changes, newcomers)),
        }
    }
}

/// The names of the engines that play no more.
fn left(plan: &Plan) -> impl Iterator<Item = &str> {
    plan.engines.iter().filter(|engine| plan.has_left(engine)).map(|engine| engine.name.as_str())
}

fn cannot_join(plan: &Plan, newcomers: &[NewEngine], why: &str) -> RunError {
    let engines = newcomers.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    RunError::Joining { name: plan.name.clone(), engines, why: why.to_owned() }
}

/// Opens the event of a plan and refuses what would mix games that are not comparable. The engines that play are given
/// by player; `None` for one that is not started here.
pub(crate) fn open(
    plan: &Plan,
    engines: &[Option<Arc<Engine>>],
    steering: Option<Box<dyn Steering>>,
) -> Result<(OpenJournal, Resumed), RunError> {
    let fingerprint = fingerprint(plan)?;
    let (plan_json, fingerprint_json) = (StoredPlan::from(plan).to_json(), json(&fingerprint)?);
    let head = EventHead { name: &plan.name, kind: "run", plan: &plan_json, fingerprint: &fingerprint_json };
    OpenJournal::open(
        &plan.database,
        &head,
        |opening| {
            let (words, pending) = take_up(plan, engines, &head, &fingerprint, opening)?;
            let standings = Standings::new(&plan.stages, plan.engines.len() - pending.len())
                .with_rules(plan.ranking.clone())
                .with_fault_limits(plan.fault_limits());
            Ok(Resumed { standings, steering, words, pending })
        },
        |resumed, stamped| {
            resumed.standings.fold(&stamped.entry);
            let _heard_before = resumed.steering.as_mut().and_then(|steering| steering.fold(&stamped.entry));
        },
    )
}

/// Compares a plan with its event, and brings the event to the size of the plan. Returns what people should know, and the
/// parts of the fingerprint of the engines that are new.
fn take_up(
    plan: &Plan,
    engines: &[Option<Arc<Engine>>],
    head: &EventHead<'_>,
    fingerprint: &Fingerprint,
    opening: &Opening,
) -> Result<(Vec<String>, Vec<String>), RunError> {
    if !opening.event().resumed {
        refuse_replacements(plan)?;
        return Ok((vec![], vec![]));
    }
    let operations = opening.store().operations(opening.event().event)?;
    let has_begun = opening.event().next_game > GameId(1);
    let before = Begun::of(&opening.event().fingerprint, &operations, has_begun)?;
    let (changes, newcomers) = before.compare(plan, fingerprint)?;
    if !changes.is_empty() {
        return Err(RunError::Changed { name: plan.name.clone(), changes });
    }
    let known = plan.engines.len() - newcomers.len();
    let stages = before.fingerprint.stages();
    let complete = newcomers.is_empty()
        && is_closed(opening)?
        && stages.as_ref().is_none_or(|stages| *stages == plan.stages);
    let identities = last_identities(opening.store(), opening.event().event, known)?;
    let recovery = opening.event().recovery();
    let mut words = Vec::from_iter(recovery.map(|text| format!("{text}; what followed is played again")));
    words.extend(compare(plan, &engines[..known], &identities, complete)?);
    refuse_doubles(plan, engines, &identities)?;
    words.extend(resize(plan, &before, known, head, opening)?);
    if !newcomers.is_empty() && is_closed(opening)? {
        opening.writer().reopen(opening.event().event)?;
    }
    // What may change from run to run, such as the limit of faults, is reported as it is now, and `renmei log` looks
    // for files where the last run wrote them.
    opening.writer().replan(opening.event().event, head.plan)?;
    let pending = newcomers.into_iter().map(|(_, configuration)| configuration).collect();
    Ok((words, pending))
}

/// The engines at the end of a plan that its event, which is played, has not: each with its part of the fingerprint.
/// Nothing is written.
///
/// # Errors
/// [`RunError::Changed`] where the plan is another one, [`RunError::Joining`] where no engine can join, and faults of the
/// database.
pub fn newcomers(plan: &Plan) -> Result<Vec<(EnginePlan, String)>, RunError> {
    let store = Store::read(&plan.database)?;
    let event = store.events()?.into_iter().find(|event| event.name == plan.name);
    let (Some(event), Some(before)) = (event, store.fingerprint(&plan.name)?) else { return Ok(vec![]) };
    let has_begun = event.counted + event.running > 0;
    let before = Begun::of(&before, &store.operations(event.id)?, has_begun)?;
    let (changes, newcomers) = before.compare(plan, &fingerprint(plan)?)?;
    if !changes.is_empty() {
        return Err(RunError::Changed { name: plan.name.clone(), changes });
    }
    let known = plan.engines.len() - newcomers.len();
    Ok(plan.engines[known..].iter().cloned().zip(newcomers.into_iter().map(|(_, part)| part)).collect())
}

/// Refuses newcomers, which are tried and known, that cannot join the event.
///
/// # Errors
/// [`RunError::Joining`] with the reason, and faults of the database.
pub fn check_newcomers(plan: &Plan, engines: &[Engine]) -> Result<(), RunError> {
    let store = Store::read(&plan.database)?;
    let Some(event) = store.events()?.into_iter().find(|event| event.name == plan.name) else {
        return Ok(());
    };
    let known = plan.engines.len() - engines.len();
    let identities = last_identities(&store, event.id, known)?;
    refuse_each(plan, known, &identities, |at| engines.get(at - known))
}

fn refuse_doubles(
    plan: &Plan,
    engines: &[Option<Arc<Engine>>],
    identities: &[Option<Identity>],
) -> Result<(), RunError> {
    refuse_each(plan, identities.len(), identities, |at| engines.get(at).and_then(Option::as_deref))
}

fn refuse_each<'e>(
    plan: &Plan,
    known: usize,
    identities: &[Option<Identity>],
    engine: impl Fn(usize) -> Option<&'e Engine>,
) -> Result<(), RunError> {
    let mut players: Vec<_> = plan.engines[..known]
        .iter()
        .zip(identities)
        .map(|(engine, identity)| Known { engine, identity: identity.as_ref() })
        .collect();
    for (at, newcomer) in plan.engines.iter().enumerate().skip(known) {
        let identified = engine(at);
        if let Some(why) = joining::double(newcomer, identified, &players) {
            return Err(cannot_join(plan, &[(newcomer.name.clone(), String::new())], &why));
        }
        players.push(Known { engine: newcomer, identity: identified.map(|engine| &engine.identity) });
    }
    Ok(())
}

/// Refuses an event whose engines replace each other before its first game.
fn refuse_replacements(plan: &Plan) -> Result<(), RunError> {
    let Some(engine) = plan.engines.iter().find(|engine| engine.replaces.is_some()) else { return Ok(()) };
    let out = engine.replaces.as_deref().unwrap_or_default();
    Err(RunError::Engines(vec![format!(
        "engine `{}` replaces `{out}`, which has played no game of `{}`: take `{out}` and the key `replaces` out of the file",
        engine.name, plan.name
    )]))
}

/// What each of the first players was when it played last, if that was recorded.
fn last_identities(
    store: &Store,
    event: EventId,
    players: usize,
) -> Result<Vec<Option<Identity>>, StoreError> {
    let known = store.identities(event)?;
    let last = |player: PlayerId| known.iter().rev().find(|known| known.player == player);
    Ok((0..players).map(|at| last(PlayerId::at(at)).map(|known| known.identity.clone())).collect())
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

/// Gives what was played of an event another name, which is returned, and its logs with it; `None` if nothing was.
///
/// # Errors
/// When another process plays the event, the database cannot be written, or a log not be renamed.
pub fn set_aside(plan: &Plan) -> Result<Option<String>, RunError> {
    if !plan.database.exists() {
        return Ok(None);
    }
    let aside = Writer::open(&plan.database)?.set_aside(&plan.name)?;
    if let (Some(aside), Some(directory)) = (&aside, plan.log.directory()) {
        seat::recorder::rename(directory, &plan.name, aside)
            .map_err(|error| RunError::Io(directory.display().to_string(), error))?;
    }
    Ok(aside)
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

/// Compares the engines with those that played before; what was not recorded then is told. Engines that have left play
/// no more.
fn compare(
    plan: &Plan,
    engines: &[Option<Arc<Engine>>],
    before: &[Option<Identity>],
    complete: bool,
) -> Result<Option<String>, RunError> {
    let (mut changes, mut unknown) = (vec![], vec![]);
    for (engine, before) in engines.iter().zip(before) {
        let Some(engine) = engine else { continue };
        match before {
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
    before: &Begun,
    players: usize,
    head: &EventHead<'_>,
    opening: &Opening,
) -> Result<Option<String>, RunError> {
    let was = before.fingerprint.stages().filter(|was| *was != plan.stages);
    let Some(was) = was else { return Ok(None) };
    let (event, store) = (opening.event().event, opening.store());
    let resizing = Resizing::new(&was, &plan.stages, players).with(&before.newcomers);
    let (mut games, mut fault) = (vec![], None);
    store.games::<StoreError>(event, &GameFilter::default(), |row| {
        match resizing.place(&row.pairing) {
            Ok(moved) => games.extend(moved.map(|pairing| (row.game, pairing))),
            Err(found) => fault = fault.max(Some(found)),
        }
        Ok(())
    })?;
    if let Some(fault) = fault {
        return Err(RunError::Size(plan.name.clone(), fault));
    }
    let reopens = is_closed(opening)? && has_more_to_play(&was, plan, opening)?;
    // Those who joined are no part of what the event was begun with.
    let (fingerprint, _) = before.fingerprint.newcomers_of(&fingerprint(plan)?);
    let fingerprint = fingerprint.with_engines_of(&before.fingerprint, left(plan));
    let (plan_json, fingerprint) = (head.plan, json(&fingerprint)?);
    opening.writer().reschedule(
        event,
        &Rescheduled { plan: plan_json, fingerprint: &fingerprint, games: &games, reopens },
    )?;
    let (was, is) = (format_words(&was), format_words(&plan.stages));
    Ok((was != is).then(|| format!("`{}` was {was}; from now on it is {is}", plan.name)))
}

/// Whether a complete event gets games by its new size: a test with a verdict gets none.
fn has_more_to_play(was: &[Stage], plan: &Plan, opening: &Opening) -> Result<bool, StoreError> {
    let mut standings = Standings::new(was, plan.engines.len()).with_rules(plan.ranking.clone());
    opening.replay(Moves::Without, &mut |stamped| standings.fold(&stamped.entry))?;
    let decided = |stage: &Stage| stage.format.is_sequential() && standings.verdict().is_some();
    Ok(was.iter().zip(&plan.stages).any(|(was, is)| was != is && !decided(is)))
}
