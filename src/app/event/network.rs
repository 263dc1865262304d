//! The network side of events: the addresses on which players log in, and who gets accounts.

use crate::{Failure, aloud};
use arena::{Say, operations::Operations, remote::Remote};
use host::{Certificates, Port, event::EventNetwork, reception::Reception, visits::Visits};
use journal::{Reader, Store};
use plan::{
    Event, Plan, ServeConfig,
    hall::HallPort,
    serve::{Login, TlsConfig},
};
use referee::sink::Sink;
use std::{
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

/// Who gets accounts for the games of an event; `None`: it has no arbiter.
pub(crate) fn registers_of(event: &Event) -> Option<Registers> {
    match event {
        Event::Arranged { .. } => Some(Registers::Configured),
        Event::League(config) => Some(registers(config.login)),
        Event::Seat(_) => None,
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

/// Takes a database with hashes of passwords away from other users, and prints that.
///
/// # Errors
/// When its rights cannot be changed.
pub fn protect(database: &Path) -> Result<(), Failure> {
    Store::protect(database)?.iter().for_each(|line| err_line!("{line}"));
    Ok(())
}

/// The ports of a host, and what is said of them.
pub(crate) struct Bound {
    pub ports: Vec<Port>,
    pub lines: Vec<String>,
    pub plain: Vec<SocketAddr>,
    pub encrypted: Vec<SocketAddr>,
}

/// Listens on all addresses, plain and with TLS.
pub(crate) fn bind(addresses: &[SocketAddr], tls: Option<&TlsConfig>) -> Result<Bound, Failure> {
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
    let (remote, visits, mut read) = (network.remote.clone(), network.visits(), network.reader());
    let led = shared.map(|shared| shared.reception.lead_to(&network));
    let reader = Reader::new("network", move |batch| {
        // The network closes after the last entry.
        let _open = (&led, &network);
        read(batch);
    });
    Ok(Network { remote, reader, listening, entrance, visits })
}
