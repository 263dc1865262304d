//! Many machines: the manager's desk for `--hub` and `--workers`, and `renmei worker`.

use super::{Exit, Failure, play};
use crate::cli::{PlayingArgs, WorkerArgs};
use arena::{Say, Shutdown, desk::RemoteDesk, dispatcher::OpenEvent};
use hub::{EventId, ForeignOptions, Hub, ServerOptions};
use machines::{
    desk::{EventOfDesk, MachineDesk},
    worker::{Ended, WorkerOptions, work},
};
use plan::Plan;
use std::{env, fs, path::PathBuf, sync::Arc};

/// The desk for the machines that may join, if any may; says how they do.
pub(super) fn desk(
    plan: &Plan,
    event: &OpenEvent<'_>,
    args: &PlayingArgs,
    say: &Say,
) -> Result<Option<Box<dyn RemoteDesk>>, Failure> {
    let Some(flag) = flag(args).filter(|_| !event.is_closed()) else { return Ok(None) };
    if let Some(engine) = plan.engines.iter().find(|engine| engine.remote) {
        let name = &engine.name;
        return Err(Failure::Usage(format!(
            "{flag}: `{name}` logs in over the network here, and no other machine can play its games"
        )));
    }
    let fleet = event.begin_fleet(&EventId::random().to_string())?;
    let failed = |why: String| Failure::Other(format!("{flag}: {why}"));
    let key = fleet.key.parse().map_err(|why: hub::HubError| failed(why.to_string()))?;
    let terms = EventOfDesk::terms(plan, &event.identities());
    let of_desk = EventOfDesk { database: plan.database.clone(), event: event.event(), fleet, terms };
    let mut line = String::new();
    let open = async {
        let hub = open(plan, key, args).await.map_err(|why| why.to_string())?;
        line = hub.token().line();
        Ok(hub)
    };
    let desk = MachineDesk::connect(of_desk, say.clone(), open).map_err(failed)?;
    // A secret: shown to whoever runs the event, and written nowhere.
    say(&format!("other machines join with: renmei worker '{line}'"));
    Ok(Some(Box::new(desk)))
}

/// The flag by which other machines may join.
pub(super) fn flag(args: &PlayingArgs) -> Option<&'static str> {
    args.hub.map(|_| "--hub").or(args.workers.as_ref().map(|_| "--workers"))
}

/// The hub of an event: a server of its own, or somebody else's.
async fn open(plan: &Plan, event: EventId, args: &PlayingArgs) -> Result<Hub, hub::HubError> {
    let directory = Hub::beside(&plan.database);
    match (args.hub, args.workers.clone()) {
        (None, Some(server)) => {
            let credentials = args.credentials.clone();
            Hub::connect(ForeignOptions { directory, server, credentials, event }).await
        }
        (listen, _) => {
            let listen = listen.unwrap_or(([0, 0, 0, 0], 4222).into());
            Hub::start(ServerOptions { directory, listen, event, host: None, program: None }).await
        }
    }
}

/// Plays games of an event that another machine manages.
///
/// # Errors
/// When this machine cannot play them.
pub fn worker(args: &WorkerArgs) -> Result<Exit, Failure> {
    let name = args.name.clone().unwrap_or_else(host_name);
    let state = match &args.state {
        Some(state) => state.clone(),
        None => state_directory()?.join(format!("worker-{}", notation::file_name(&name))),
    };
    let options = WorkerOptions {
        line: args.line.clone(),
        credentials: args.credentials.clone(),
        name,
        slots: args.slots,
        tags: args.tags.clone(),
        state,
        oversubscribe: args.oversubscribe,
        session: machines::new_session(),
    };
    let shutdown = Shutdown::default();
    play::listen(&shutdown)?;
    let say: Say = Arc::new(|line: &str| err_line!("{line}"));
    match work(&options, &shutdown, &say) {
        Ok(Ended::Over) => Ok(Exit::Done),
        Ok(Ended::Stopped) => Ok(Exit::Stopped),
        Err(why) => Err(Failure::Other(why)),
    }
}

/// The name of the host, as Linux has it, in the letters that the name of a machine may have.
fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let name: String = name.trim().trim_start_matches(['.', '-']).chars().filter(plain).take(32).collect();
    if name.is_empty() { "machine".to_owned() } else { name }
}

/// The directory for the state of programs (XDG Base Directory Specification).
fn state_directory() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    state.map(|state| state.join("renmei")).ok_or_else(|| {
        Failure::Usage(
            "neither XDG_STATE_HOME nor HOME is set: say where answers are kept with `--state DIR`"
                .to_owned(),
        )
    })
}
