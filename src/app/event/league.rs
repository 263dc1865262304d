//! Events over the network: an open league, and an event of a plan with remote players.

use crate::{EventRun, Failure, aloud, hall::Now, runner::EventRunner, runtime};
use arena::{Say, operations::Operations, remote::Remote};
use host::{
    Certificates, League, Port, RatingHistory, event::EventNetwork, reception::Reception, visits::Visits,
};
use journal::{Reader, Store, Writer};
use plan::{
    Plan, ServeConfig, StoredPlan,
    hall::HallPort,
    serve::{Login, TlsConfig},
};
use referee::sink::Sink;
use report::EventInfo;
use std::{
    mem,
    net::{SocketAddr, TcpListener},
    path::Path,
    sync::Arc,
};
use web::{
    Registers,
    arbiter::{Entrance, Games},
};

/// The network side of an event.
pub(crate) struct Network {
    /// The source of remote players.
    pub remote: Remote,
    /// Shows committed entries to players and spectators.
    pub reader: Reader,
    /// Lines about listening addresses, already printed on stderr.
    pub listening: Vec<String>,
    /// The way in, as the pages show it.
    pub entrance: Entrance,
    /// Lines about who comes and goes.
    pub visits: Visits,
}

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
            admit(&mut run, &database, league.operations());
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

/// Who gets accounts for the games of a league.
pub fn registers(login: Login) -> Registers {
    match login {
        Login::Accounts => Registers::Accounts,
        Login::Open => Registers::Anybody,
        Login::Invitation => Registers::Configured,
    }
}

/// Opens the operator's door, and says if the operator has paused the league.
fn admit(run: &mut EventRun, database: &Path, operations: Operations) {
    if operations.is_paused() {
        let shown = database.display();
        (run.say)(&format!(
            "the operator has paused the league: no new game begins until `renmei admin {shown} resume`"
        ));
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

/// Takes a database with hashes of passwords away from other users, and prints that.
///
/// # Errors
/// When its rights cannot be changed.
pub fn protect(database: &Path) -> Result<(), Failure> {
    Store::protect(database)?.iter().for_each(|line| err_line!("{line}"));
    Ok(())
}

/// The ports of a host, and what is said of them.
struct Bound {
    ports: Vec<Port>,
    lines: Vec<String>,
    plain: Vec<SocketAddr>,
    encrypted: Vec<SocketAddr>,
}

/// Listens on all addresses, plain and with TLS.
fn bind(addresses: &[SocketAddr], tls: Option<&TlsConfig>) -> Result<Bound, Failure> {
    let mut bound = Bound { ports: vec![], lines: vec![], plain: vec![], encrypted: vec![] };
    let listen = |address: &SocketAddr| {
        let listener = TcpListener::bind(address).and_then(|one| one.local_addr().map(|at| (one, at)));
        listener.map_err(|e| Failure::Other(format!("cannot listen on {address}: {e}")))
    };
    for address in addresses {
        let (listener, at) = listen(address)?;
        bound.lines.push(format!("listening on {at}"));
        bound.plain.push(at);
        bound.ports.push(Port::plain(listener));
    }
    if let Some(tls) = tls {
        let certificates = Certificates::open(tls).map_err(|e| Failure::Other(e.to_string()))?;
        let certificates = Arc::new(certificates);
        bound.lines.extend(certificates.warning());
        for address in &tls.listen {
            let (listener, at) = listen(address)?;
            bound.lines.push(format!("listening with TLS on {at}"));
            bound.encrypted.push(at);
            bound.ports.push(Port::encrypted(listener, certificates.clone()));
        }
    }
    Ok(bound)
}

/// An address that the events of a hall share.
pub(crate) struct SharedPort {
    reception: Reception,
    /// Lines about the addresses.
    pub lines: Vec<String>,
    plain: Vec<SocketAddr>,
    encrypted: Vec<SocketAddr>,
}

impl SharedPort {
    /// Listens for the players of events that are yet to come.
    pub(crate) fn open(config: &HallPort) -> Result<Self, Failure> {
        let Bound { ports, lines, plain, encrypted } = bind(&config.listen, config.tls.as_ref())?;
        let reception = Reception::open(ports, config.trusted_proxies.clone(), aloud());
        let reception = reception.map_err(|e| Failure::Other(e.to_string()))?;
        Ok(Self { reception, lines, plain, encrypted })
    }
}

/// Opens the network side of an event, with addresses of its own or those that it shares.
pub(crate) fn network(
    mut serve: ServeConfig,
    plan: &Plan,
    (sink, operations): (Arc<dyn Sink>, Operations),
    shared: Option<&SharedPort>,
    say: &Say,
) -> Result<Network, Failure> {
    protect(&plan.database)?;
    let names: Vec<_> = plan.engines.iter().map(|engine| engine.name.clone()).collect();
    host::trip_warnings(&serve, &names).iter().for_each(|warning| say(warning));
    if shared.is_some() {
        (serve.listen, serve.tls) = (vec![], None);
    }
    let Bound { ports, lines: listening, mut plain, mut encrypted } =
        bind(&serve.listen, serve.tls.as_ref())?;
    if let Some(shared) = shared {
        (plain, encrypted) = (shared.plain.clone(), shared.encrypted.clone());
    }
    listening.iter().for_each(|line| say(line));
    let network = EventNetwork::open(serve, plan, ports, operations, sink)
        .map_err(|e| Failure::Other(e.to_string()))?;
    let entrance = Entrance { plain, encrypted, games: Games::Event(network.game_names()) };
    let (remote, visits, mut read) = (network.remote(), network.visits(), network.reader());
    let led = shared.map(|shared| shared.reception.lead_to(&network));
    let reader = Reader::new("network", move |batch| {
        // The network closes after the last entry.
        let _open = (&led, &network);
        read(batch);
    });
    Ok(Network { remote, reader, listening, entrance, visits })
}
