//! Many machines: the manager's desk for `--workers`, and `renmei worker`.

use super::{Exit, Failure, play};
use crate::cli::{PlayingArgs, WorkerArgs};
use arena::{Say, Shutdown, desk::RemoteDesk, dispatcher::OpenEvent};
use machines::{
    desk::{EventOfDesk, MachineDesk},
    wire::{Address, Wire},
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
    let Some(server) = args.workers.clone().filter(|_| !event.is_closed()) else { return Ok(None) };
    if let Some(engine) = plan.engines.iter().find(|engine| engine.remote) {
        let name = &engine.name;
        return Err(Failure::Usage(format!(
            "--workers: `{name}` logs in over the network here, and no other machine can play its games"
        )));
    }
    let fleet = event.begin_fleet(&machines::new_key())?;
    let address = Address { event: fleet.key.clone(), ..server };
    let terms = EventOfDesk::terms(plan, &event.identities());
    let of_desk = EventOfDesk { database: plan.database.clone(), event: event.event(), fleet, terms };
    let connecting = address.clone();
    let connect = async move { Wire::connect(&connecting, "manager").await };
    let desk = MachineDesk::connect(of_desk, say.clone(), connect)
        .map_err(|why| Failure::Other(format!("--workers: {why}")))?;
    say(&format!("other machines join with: renmei worker '{address}'"));
    Ok(Some(Box::new(desk)))
}

/// Plays games of an event that another machine manages.
///
/// # Errors
/// When this machine cannot play them.
pub fn worker(args: &WorkerArgs) -> Result<Exit, Failure> {
    if args.address.event.is_empty() {
        let why = "the address names no event: take the line that `renmei run` prints, with what follows `#`";
        return Err(Failure::Usage(why.to_owned()));
    }
    let name = args.name.clone().unwrap_or_else(host_name);
    let state = match &args.state {
        Some(state) => state.clone(),
        None => state_directory()?.join(format!("worker-{}", notation::file_name(&name))),
    };
    let options = WorkerOptions {
        address: args.address.clone(),
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

/// The name of the host, as Linux has it.
fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "machine".to_owned(),
        name => name.to_owned(),
    }
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
