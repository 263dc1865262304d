//! Many machines: the manager's desk for `--hub`.

use crate::{Failure, Sharing};
use arena::{Say, boards::LiveBoards, cores::EngineFacts, desk::RemoteDesk, dispatcher::OpenEvent, speed};
use journal::Fleet;
use machines::hub::{Hub, ServerOptions};
use machines::{
    desk::{EventOfDesk, MachineDesk},
    messages::Terms,
    scaling::Scaling,
};
use plan::{EnginePlan, Plan, Restart};
use platform::{
    files::{self, Access},
    programs::quoted,
};
use referee::clock::{Scale, TimeControl};
use std::{fmt::Display, io, path::Path, sync::Arc};

/// One pair in so many is played again on another machine.
const REPEATED: u64 = 100;

/// The desk for the machines that may join, if any may; says how they do.
pub(crate) fn desk(
    plan: &Plan,
    event: &OpenEvent<'_>,
    sharing: &Sharing,
    boards: Arc<LiveBoards>,
    say: &Say,
) -> Result<Option<Box<dyn RemoteDesk>>, Failure> {
    let Some(listen) = sharing.hub.filter(|_| !event.is_closed()) else { return Ok(None) };
    if let Some(engine) = plan.engines.iter().find(|engine| engine.remote) {
        let name = &engine.name;
        return Err(Failure::Usage(format!(
            "--hub: `{name}` logs in over the network here, and no other machine can play its games"
        )));
    }
    if let Some(engine) = plan.engines.iter().find(|engine| plan.has_left(engine)) {
        let name = &engine.name;
        return Err(Failure::Usage(format!(
            "--hub: `{name}` was replaced or withdrawn, and other machines could not start every engine of the event: play it here alone"
        )));
    }
    let fleet = event.writer().begin_fleet(event.event(), &machines::hub::new_event())?;
    let failed = |why: &dyn Display| Failure::Other(format!("--hub: {why}"));
    let (scaling, scale_here) = scaling(plan, event, sharing, &fleet, say)?;
    let terms = Terms { scaled: scaling.is_on, ..EventOfDesk::terms(plan, &event.identities()) };
    let repeats = repeats(plan, &event.engines, sharing)?;
    let database = plan.database.clone();
    let of_desk = EventOfDesk {
        database,
        event: event.event(),
        fleet,
        terms,
        dropped: event.operations().dropped_machines(),
        repeats,
        scaling,
        scale_here,
        boards,
    };
    let (directory, event) = (Hub::beside(&plan.database), of_desk.fleet.key.clone());
    let options = ServerOptions { directory: directory.clone(), listen, event, program: None };
    let mut line = String::new();
    let open = async {
        let hub = Hub::start(options).await?;
        line = hub.token.line();
        Ok(hub)
    };
    let desk = MachineDesk::connect(of_desk, say.clone(), open).map_err(|why| failed(&why))?;
    print_line(&directory, &line, say)
        .map_err(|why| failed(&format_args!("`{}`: {why}", directory.display())))?;
    Ok(Some(Box::new(desk)))
}

/// Prints the line to join with, which is a secret, and writes it into the private directory of the hub, for
/// `--join-file`: a screen may break it.
fn print_line(directory: &Path, line: &str, say: &Say) -> io::Result<()> {
    files::write_below(directory, Path::new("line"), format!("{line}\n").as_bytes(), Access::Private)?;
    match platform::terminal::is_journal() {
        // Many may read the journal of a unit.
        true => say(&format!(
            "other machines join with: renmei worker --join-file FILE; the line for FILE is in `{}`, and not in this journal",
            directory.join("line").display()
        )),
        false => say(&format!("other machines join with: renmei worker {}", quoted(line))),
    }
    Ok(())
}

/// One pair in how many is played again by another machine; `None`: none is.
fn repeats(plan: &Plan, facts: &[EngineFacts], sharing: &Sharing) -> Result<Option<u64>, Failure> {
    match (sharing.repeat, always_the_same(plan, facts)) {
        (Some(0), _) | (None, false) => Ok(None),
        (share, true) => Ok(Some(share.unwrap_or(REPEATED))),
        (Some(_), false) => Err(Failure::Usage(
            "--repeat: the games of this event need not be the same when they are played again: limit every engine by \
             `nodes` or `depth`, on one core and without `ponder`, and set `restart = \"every-game\"`; or leave `--repeat` \
             out"
                .to_owned(),
        )),
    }
}

/// Whether the engines always play the same games: their nodes or their depth is limited, they think with one thread, and
/// start anew for every game.
fn always_the_same(plan: &Plan, facts: &[EngineFacts]) -> bool {
    let is_counted = |time: &TimeControl| !time.is_timed() && (time.nodes.is_some() || time.depth.is_some());
    let is_steady = |(engine, facts): (&EnginePlan, &EngineFacts)| {
        let alone = facts.cores <= 1.0 && !engine.ponder && engine.gpu == 0.0;
        alone && engine.times().all(is_counted) && engine.restart == Restart::EveryGame
    };
    facts.len() == plan.engines.len() && plan.engines.iter().zip(facts).all(is_steady)
}

/// How the clocks of an event are scaled, and by how much those of games that are played here: this machine is measured,
/// and the first one that is has the speed that all are compared with.
fn scaling(
    plan: &Plan,
    event: &OpenEvent<'_>,
    sharing: &Sharing,
    fleet: &Fleet,
    say: &Say,
) -> Result<(Scaling, Scale), Failure> {
    let is_timed = plan.engines.iter().flat_map(EnginePlan::times).any(TimeControl::is_timed);
    if !is_timed || !plan.look || sharing.equal_clocks {
        if is_timed {
            say("every machine has the clocks of the plan, whatever its speed");
        }
        return Ok((Scaling::default(), Scale::ONE));
    }
    let unreadable = |why| Failure::Other(format!("the speed in the database cannot be read: {why}"));
    let reference = fleet.reference.as_deref().map(serde_json::from_str).transpose().map_err(unreadable)?;
    let mut scaling = Scaling { is_on: true, reference };
    if plan.concurrency == 0 {
        return Ok((scaling, Scale::ONE));
    }
    say("clocks are scaled by the speed of each machine: measuring this one");
    let speed = speed::measure(&plan.engines, plan.concurrency, plan.startups, say);
    let speed = speed.map_err(|why| Failure::Other(format!("the system has no event queue: {why}")))?;
    let judged = scaling.judge(Some(&speed)).map_err(|why| {
        Failure::Other(format!("this machine cannot play: {why}; or let it only manage (`--slots 0`)"))
    })?;
    if judged.is_reference {
        event.writer().set_reference(event.event(), &serde_json::to_string(&speed).unwrap_or_default())?;
    }
    judged.warning.iter().for_each(|warning| say(&format!("this machine: {warning}")));
    if judged.scale != Scale::ONE {
        say(&format!("the clocks of this machine are {} times those of the plan", judged.scale));
    }
    Ok((scaling, judged.scale))
}
