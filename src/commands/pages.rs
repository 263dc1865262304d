//! The pages of an event: opened where they are wanted, and `renmei web` for an event that is over or played elsewhere.

use super::{Exit, Failure, find_event};
use crate::{cli::WebArgs, signals};
use arena::Shutdown;
use journal::Store;
use plan::{HttpConfig, http::Delay};
use std::{net::SocketAddr, path::Path};
use web::{Office, Server, Setup, WebError, arbiter};

impl From<WebError> for Failure {
    fn from(error: WebError) -> Self {
        match error {
            WebError::Store(error) => Self::Store(error),
            error => Self::Other(error.to_string()),
        }
    }
}

/// Opens the pages of an event, if they are wanted; addresses of the command line replace those of the configuration.
pub(super) fn open(
    config: &HttpConfig,
    addresses: &[SocketAddr],
    database: &Path,
    event: &str,
    office: Option<&Office>,
) -> Result<Option<Server>, Failure> {
    let mut config = config.clone();
    if !addresses.is_empty() {
        config.listen = addresses.to_vec();
    }
    if !config.is_wanted() {
        return Ok(None);
    }
    let places = office.map_or_else(Vec::new, |_| arbiter::PLACES.to_vec());
    let setup = Setup { config, database: database.to_owned(), event: event.to_owned(), places };
    let further = |_: &_| office.map_or_else(axum::Router::new, |office| arbiter::routes(office.clone()));
    Ok(Some(Server::open(setup, further)?))
}

/// Lines that tell where the pages are.
pub(super) fn lines(server: &Server) -> Vec<String> {
    server.addresses().iter().map(|address| format!("pages on http://{address}/")).collect()
}

/// Shows an event of a database in the browser until a signal.
///
/// # Errors
/// When there is no such event, or an address is taken.
pub fn web(args: &WebArgs) -> Result<Exit, Failure> {
    let events = Store::read(&args.db)?.events()?;
    let event = find_event(&events, args.event.as_deref())?;
    let delay = args.delay.unwrap_or(Delay::None);
    let config = HttpConfig { delay, private: args.private.clone(), ..HttpConfig::default() };
    let addresses = match &args.http[..] {
        [] => vec![SocketAddr::from(([127, 0, 0, 1], 8080))],
        given => given.to_vec(),
    };
    let server = open(&config, &addresses, &args.db, &event.name, None)?;
    let shutdown = Shutdown::default();
    signals::listen(shutdown.clone(), || ()).map_err(|e| Failure::Other(format!("signals: {e}")))?;
    server.iter().flat_map(lines).for_each(|line| err_line!("{line}"));
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.map_err(|e| Failure::Other(e.to_string()))?.block_on(shutdown.finishing().cancelled());
    Ok(Exit::Done)
}
