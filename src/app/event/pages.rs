//! The pages of an event: opened beside a running event, or alone for one that is over or played elsewhere.

use crate::{Exit, Failure, find_event, prepare::listen, runtime};
use arena::{Shutdown, boards::LiveBoards};
use axum::Router;
use host::Certificates;
use journal::Store;
use plan::{HttpConfig, serve::TlsConfig};
use std::{net::SocketAddr, path::Path, sync::Arc};
use tokio::time::timeout;
use web::{
    Crowd, Hall, Inside, MakeLedger, MakeTests, Office, Pages, Secure, Server, Setup, Site,
    arbiter::{self, Entrance},
};

/// Time between two looks whether the database that is shown is still there.
const GLANCE: std::time::Duration = std::time::Duration::from_secs(1);

/// The office of an event's arbiter, and the way in for its players.
pub(crate) type Door = (Office, Option<Entrance>);

/// Opens the pages of an event, if they are wanted; addresses of the command line replace those of the configuration.
pub(crate) fn open(
    config: &HttpConfig,
    addresses: &[SocketAddr],
    database: &Path,
    event: &str,
    office: Option<Door>,
    boards: Option<Arc<LiveBoards>>,
) -> Result<Option<Server>, Failure> {
    let mut config = config.clone();
    if !addresses.is_empty() {
        config.listen = addresses.to_vec();
    }
    if !config.is_wanted() {
        return Ok(None);
    }
    let secure = config.tls.as_ref().map(secure).transpose()?;
    let setup =
        Setup { secure, boards, ..setup(config, (database, event), office.as_ref(), Crowd::default()) };
    Ok(Some(Server::open(setup, move |_| routes(office))?))
}

/// What the pages of an event without TLS are opened with.
fn setup(config: HttpConfig, (database, event): (&Path, &str), office: Option<&Door>, crowd: Crowd) -> Setup {
    let places = office.map_or_else(Vec::new, |(_, entrance)| arbiter::places(entrance.as_ref()));
    let (database, event, office) =
        (database.to_owned(), event.to_owned(), office.map(|(office, _)| office.clone()));
    let (secure, base, boards) = (None, String::new(), None);
    Setup { secure, config, database, event, base, crowd, places, office, boards }
}

/// Opens the page of a list of events, and the way to their pages, if they are wanted.
pub(crate) fn open_hall(
    config: &HttpConfig,
    name: &str,
    ledger: MakeLedger,
    tests: Option<MakeTests>,
    inside: Option<Inside>,
) -> Result<Option<Hall>, Failure> {
    if !config.is_wanted() {
        return Ok(None);
    }
    let secure = config.tls.as_ref().map(secure).transpose()?;
    Ok(Some(Hall::open(config, secure.as_ref(), name, ledger, tests, inside)?))
}

/// The pages of an event of a list, before they are added to it.
pub(crate) fn of_hall(
    hall: &Hall,
    base: String,
    event: (&Path, &str),
    config: &HttpConfig,
    office: Option<Door>,
) -> Result<Pages, Failure> {
    let setup = Setup { base, ..setup(config.clone(), event, office.as_ref(), hall.crowd()) };
    Ok(Pages::open(setup, move |_| routes(office))?)
}

fn routes(office: Option<Door>) -> Router<Site> {
    office.map_or_else(Router::new, |(office, entrance)| arbiter::routes(office, entrance))
}

/// The certificate of the pages, which is read again when its files have changed.
fn secure(tls: &TlsConfig) -> Result<Secure, Failure> {
    let certificates = Certificates::open(tls).map_err(|error| Failure::Other(error.to_string()))?;
    if let Some(warning) = certificates.warning() {
        err_line!("warning: {warning}");
    }
    let in_use = move || {
        certificates.look();
        certificates.in_use()
    };
    Ok(Secure { listen: tls.listen.clone(), in_use: Arc::new(in_use) })
}

/// Lines that tell where the pages are.
pub(crate) fn lines((plain, secure): (&[SocketAddr], &[SocketAddr])) -> Vec<String> {
    let plain = plain.iter().map(|address| format!("pages on http://{address}/"));
    let secure = secure.iter().map(|address| format!("pages on https://{address}/"));
    plain.chain(secure).collect()
}

/// Shows an event of a database in the browser until a signal.
///
/// # Errors
/// When there is no such event, an address is taken, or the database is gone.
pub fn show(
    database: &Path,
    event: Option<&str>,
    config: &HttpConfig,
    addresses: &[SocketAddr],
) -> Result<Exit, Failure> {
    let store = Store::read(database)?;
    let events = store.events()?;
    let event = find_event(&events, event)?;
    let server = open(config, addresses, database, &event.name, None, None)?;
    let shutdown = Shutdown::default();
    listen(&shutdown)?;
    server.iter().flat_map(|server| lines(server.addresses())).for_each(|line| err_line!("{line}"));
    runtime()?.block_on(async {
        while timeout(GLANCE, shutdown.finishing().cancelled()).await.is_err() {
            store.check_place()?;
        }
        Ok(Exit::Done)
    })
}
