//! The pages of an event: opened beside a running event, or alone for one that is over or played elsewhere.

use crate::{Exit, Failure, find_event, prepare::listen};
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
use words::Phrase;

/// Time between two looks whether the database that is shown is still there.
const GLANCE: std::time::Duration = std::time::Duration::from_secs(1);

/// Opens the pages of an event, if they are wanted; addresses of the command line replace those of the configuration.
pub(crate) fn open(
    config: &HttpConfig,
    addresses: &[SocketAddr],
    database: &Path,
    event: &str,
    office: Option<(&Office, Option<Entrance>)>,
    boards: Option<Arc<LiveBoards>>,
) -> Result<Option<Server>, Failure> {
    let mut config = config.clone();
    if !addresses.is_empty() {
        config.listen = addresses.to_vec();
    }
    if !config.is_wanted() {
        return Ok(None);
    }
    let office = office.map(|(office, entrance)| (office.clone(), entrance));
    let places = places(office.as_ref());
    let secure = config.tls.as_ref().map(secure).transpose()?;
    let (database, event) = (database.to_owned(), event.to_owned());
    let desk = office.as_ref().map(|(office, _)| office.clone());
    let (base, crowd) = (String::new(), Crowd::default());
    let setup = Setup { secure, config, database, event, base, crowd, places, office: desk, boards };
    Ok(Some(Server::open(setup, |_| routes(office))?))
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
    (database, event): (&Path, &str),
    config: &HttpConfig,
    office: Option<(Office, Option<Entrance>)>,
) -> Result<Pages, Failure> {
    let setup = Setup {
        secure: None,
        config: config.clone(),
        database: database.to_owned(),
        event: event.to_owned(),
        base,
        crowd: hall.crowd(),
        places: places(office.as_ref()),
        office: office.as_ref().map(|(office, _)| office.clone()),
        boards: None,
    };
    Ok(Pages::open(setup, |_| routes(office))?)
}

/// Entries of the navigation that the arbiter's pages add.
fn places(office: Option<&(Office, Option<Entrance>)>) -> Vec<(&'static str, Phrase)> {
    office.map_or_else(Vec::new, |(_, entrance)| arbiter::places(entrance.as_ref()))
}

fn routes(office: Option<(Office, Option<Entrance>)>) -> Router<Site> {
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
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.map_err(|e| Failure::Other(e.to_string()))?.block_on(async {
        while timeout(GLANCE, shutdown.finishing().cancelled()).await.is_err() {
            store.check_place()?;
        }
        Ok(Exit::Done)
    })
}
