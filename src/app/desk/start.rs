//! How the desk begins: its directory, its gate, the browser, and what a second start does.

use crate::{Desk, ENTRIES, home::orders_here, place::Place};
use event::{
    Exit, Failure, err_line,
    hall::{self, Events, Order},
};
use parking_lot::Mutex;
use plan::ServeConfig;
use platform::files::{self, Access};
use std::{
    fs, io, mem,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Sender},
    },
};
use web::{Gate, Inside, gate::WAY_IN};

/// Name of the page that leads a browser in: a file of the owner alone, because other users of the machine see the arguments
/// of the program that opens a browser.
const WAY: &str = ".desk.html";
/// The file with the port of the desk, which it takes again, so that open pages and bookmarks find it.
const PORT: &str = ".desk.port";
/// The file that one process holds, as long as it plays the directory.
const LOCK: &str = ".desk.lock";

/// How a desk begins.
#[derive(Debug)]
pub struct Options {
    /// The directory; `None`: `Renmei` in the documents of the user.
    pub directory: Option<PathBuf>,
    /// Where its pages are, an address of this machine alone.
    pub address: SocketAddr,
    /// Opens a browser.
    pub opens_browser: bool,
    /// Cores that all games take together.
    pub concurrency: Option<usize>,
    /// Fits the limits of a host to what this process may have open.
    pub fit: fn(&mut ServeConfig),
}

/// The way in for the next browser, as it is known.
#[derive(Default)]
struct Way {
    address: Option<SocketAddr>,
    token: String,
}

/// Plays the events of a directory, with the desk in the browser, until it is quit.
///
/// # Errors
/// When the directory cannot be made or the address is taken.
pub fn run(options: Options) -> Result<Exit, Failure> {
    if !options.address.ip().is_loopback() {
        return Err(Failure::Usage(format!(
            "--http {}: the desk starts programs, so that it is for this machine alone; use an address such as 127.0.0.1:4080",
            options.address
        )));
    }
    let directory = options.directory.clone().map_or_else(documents, Ok)?;
    let failed = |error: io::Error| Failure::Other(format!("{}: {error}", directory.display()));
    files::create_directory(&directory, Access::Private).map_err(failed)?;
    // Whoever could write a file there would have a program started as this user.
    directory.canonicalize().and_then(|place| files::owner_alone(&place)).map_err(failed)?;
    let lock = files::open(&directory.join(LOCK)).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => play(&directory, options),
        Err(fs::TryLockError::WouldBlock) => again(&directory, options.opens_browser),
        Err(fs::TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// `Renmei` in the documents of the user, which desktops name in `user-dirs.dirs`, in the language of the user.
fn documents() -> Result<PathBuf, Failure> {
    let home = std::env::home_dir();
    let home = home.ok_or_else(|| Failure::Usage("name a directory: this user has no home".to_owned()))?;
    let named = fs::read_to_string(home.join(".config/user-dirs.dirs")).unwrap_or_default();
    let usual = || Some(home.join("Documents")).filter(|usual| usual.is_dir());
    let documents = named_documents(&named, &home).or_else(usual);
    Ok(documents.unwrap_or(home).join("Renmei"))
}

/// The directory of documents by a file of the XDG user directories: `XDG_DOCUMENTS_DIR="$HOME/ドキュメント"`.
fn named_documents(text: &str, home: &Path) -> Option<PathBuf> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("XDG_DOCUMENTS_DIR="))?;
    let path = line.trim_matches('"');
    Some(path.strip_prefix("$HOME/").map_or_else(|| PathBuf::from(path), |within| home.join(within)))
}

/// Opens the desk of the process that plays the directory already.
fn again(directory: &Path, opens_browser: bool) -> Result<Exit, Failure> {
    let way = directory.join(WAY);
    err_line!("the desk of {} is open already: {}", directory.display(), way.display());
    if opens_browser {
        browse(&way);
    }
    Ok(Exit::Done)
}

/// The address of a desk: where nobody chose a port, the one that it had before, if that is free.
fn address(directory: &Path, chosen: SocketAddr) -> SocketAddr {
    let known = fs::read_to_string(directory.join(PORT)).ok().and_then(|text| text.trim().parse().ok());
    let before = known.map(|port| SocketAddr::new(chosen.ip(), port));
    before.filter(|at| chosen.port() == 0 && TcpListener::bind(at).is_ok()).unwrap_or(chosen)
}

fn play(directory: &Path, options: Options) -> Result<Exit, Failure> {
    let (orders, inbox) = mpsc::channel();
    let way = Arc::new(Mutex::new(Way::default()));
    let page = directory.to_owned();
    let next = way.clone();
    let gate = Gate::new(Box::new(move |token| {
        let mut way = next.lock();
        let before = mem::replace(&mut way.token, token.to_owned());
        let is_shown = write(&page, &way);
        if !is_shown {
            way.token = before;
        }
        is_shown
    }));
    let place = Place::new(directory.to_owned());
    let events = Events::default();
    let inside = inside(place, Arc::new(gate), orders, events.clone());
    let shown = directory.to_owned();
    let opened = move |address: SocketAddr| {
        let mut way = way.lock();
        way.address = Some(address);
        let page = shown.join(WAY);
        // Without it the next start has another port.
        let _kept = files::write_below(
            &shown,
            Path::new(PORT),
            address.port().to_string().as_bytes(),
            Access::Private,
        );
        if !write(&shown, &way) {
            return;
        }
        err_line!("the desk is on http://{address}/; {} leads a browser in", page.display());
        if options.opens_browser {
            browse(&page);
        }
    };
    let hall = hall::Options {
        http: vec![address(directory, options.address)],
        concurrency: options.concurrency,
        oversubscribe: false,
        until_done: false,
        quiet: true,
        fit: options.fit,
    };
    let desk = hall::Personal { inside, orders: inbox, opened: Box::new(opened), events };
    let ended = hall::run(directory, &hall, Some(desk));
    let _gone = fs::remove_file(directory.join(WAY));
    ended
}

fn inside(place: Place, gate: Arc<Gate>, orders: Sender<Order>, events: Events) -> Inside {
    let here = (place.clone(), events.clone());
    let draw =
        move |name: &str, state: &'static str, words| orders_here((&here.0, &here.1), (name, state), words);
    let routes = Box::new(move |list| Desk::new(place, list, orders, events).routes());
    Inside { gate, entries: ENTRIES.to_vec(), orders: Box::new(draw), routes }
}

/// Writes the page that leads a browser in, once the address is known; false, and a line, where it cannot be written.
fn write(directory: &Path, way: &Way) -> bool {
    let Some(address) = way.address else { return true };
    let to = format!("http://{address}{WAY_IN}?key={}", way.token);
    let page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0; url={to}\"><title>Renmei</title><p><a href=\"{to}\">Renmei</a></p>\n"
    );
    let written = files::write_below(directory, Path::new(WAY), page.as_bytes(), Access::Private);
    if let Err(error) = &written {
        err_line!("no browser can come in: {}: {error}", directory.join(WAY).display());
    }
    written.is_ok()
}

fn browse(page: &Path) {
    if let Err(error) = open::that_detached(page) {
        err_line!("no browser could be started ({error}); open {} in one", page.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_desk_has_the_port_that_it_had_before_unless_that_is_taken_or_another_is_chosen() {
        let dir = tempfile::tempdir().unwrap();
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let taken = TcpListener::bind(any).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert_eq!(address(dir.path(), any), any);
        fs::write(dir.path().join(PORT), port.to_string()).unwrap();
        assert_eq!(address(dir.path(), any), any, "it is taken");
        drop(taken);
        assert_eq!(address(dir.path(), any).port(), port);
        let chosen = SocketAddr::from(([127, 0, 0, 1], 4080));
        assert_eq!(address(dir.path(), chosen), chosen);
        fs::write(dir.path().join(PORT), "what?").unwrap();
        assert_eq!(address(dir.path(), any), any);
    }

    #[test]
    fn documents_are_where_the_desktop_of_the_user_has_them() {
        let home = Path::new("/home/mika");
        let named = |text: &str| named_documents(text, home);
        let japanese = "# of xdg-user-dirs\nXDG_DESKTOP_DIR=\"$HOME/デスクトップ\"\nXDG_DOCUMENTS_DIR=\"$HOME/ドキュメント\"\n";
        assert_eq!(named(japanese), Some(home.join("ドキュメント")));
        assert_eq!(named("XDG_DOCUMENTS_DIR=\"/data/docs\"\n"), Some(PathBuf::from("/data/docs")));
        assert_eq!(named(""), None);
    }
}
