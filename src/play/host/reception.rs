//! A port that several events share: a connection goes to the event that its login means.
//!
//! A login names a player and, by the password's part before the comma, it may name a game. A game leads to the events that
//! have it, of these the name to the one that has such an entrant. Where one event is left without a look at the name, that
//! judges by itself: a spectator, or a name that nobody knows. The event then hears the login as if it had come
//! by a port of its own. Until that a connection costs a place among few, and some seconds; what is decided here is no
//! secret: entrants and games stand on the pages of the event.

use super::{
    channel::{Channel, Event},
    error::HostError,
    event::EventNetwork,
    listener::{Connections, Enter, Port, Threshold},
    places::{Places, TakenPlace},
    vestibule::{self, Gatekeeper, Vestibule},
    visits::Visits,
};
use arena::{Say, actor_thread::ActorThread};
use notation::csa::{game_name::Entry, wire::ClientLine};
use parking_lot::Mutex;
use plan::serve::Proxies;
use platform::limits::{Bucket, SharedBucket};
use std::{
    io,
    net::IpAddr,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// How long a connection has to log in.
const LOGIN: Duration = Duration::from_secs(20);
/// How long it has to read why it is refused.
const FAREWELL: Duration = Duration::from_secs(2);
/// Longest login, with blank lines before it.
const LOGIN_BYTES: usize = 512;
/// For how long the names of an event are taken as they were: a stranger who asks often asks the event seldom.
const FRESH: Duration = Duration::from_secs(1);
/// Refusals that are shown to the operator in an hour.
const SHOWN: u64 = 60;
/// The game of a password that names none.
const NO_GAME: &str = "default-1500-0";
const TYPE: &str = "type 'LOGIN name password' or 'LOGIN name password x1'\n";

/// The events behind a port. Dropping it closes the port, and not the connections that have gone to an event.
pub struct Reception {
    events: Arc<Mutex<Events>>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Reception {
    /// Opens the ports, on a thread of their own.
    ///
    /// # Errors
    /// When the system has no thread, or cannot watch a port.
    pub fn open(ports: Vec<Port>, proxies: Proxies, say: Say) -> io::Result<Self> {
        let (events, stop) = (Arc::<Mutex<Events>>::default(), CancellationToken::new());
        let visits = Visits::default();
        visits.write_to(say.clone());
        let gatekeeper = Gatekeeper { proxies: Arc::new(proxies), bans: Arc::new(|_| false), visits };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (sender, opened) = mpsc::channel();
        let (shared, stopped, vestibule) = (events.clone(), stop.clone(), Vestibule::start()?);
        let work = move || {
            runtime.block_on(async {
                let network = ActorThread::current();
                let enter = desk(shared, network.clone(), gatekeeper.clone(), say);
                let connections = Connections::new(gatekeeper, vestibule, network, enter);
                let _nobody_waits =
                    sender.send(ports.into_iter().try_for_each(|port| connections.listen(port, &stopped)));
                stopped.cancelled().await;
            });
        };
        let thread = Some(thread::Builder::new().name("reception".to_owned()).spawn(work)?);
        let this = Self { events, stop, thread };
        opened.recv().map_err(io::Error::other)??;
        Ok(this)
    }

    /// Sends the players of an event to it, until what this returns is dropped.
    pub fn lead_to(&self, event: &EventNetwork) -> Led {
        let mut events = self.events.lock();
        let number = events.next;
        events.next += 1;
        let games = event.game_names();
        events.open.push(Open {
            number,
            threshold: event.threshold.clone(),
            games,
            names: vec![],
            asked: None,
        });
        Led { number, events: self.events.clone() }
    }
}

impl Drop for Reception {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _panic_printed = thread.join();
        }
    }
}

/// An event to which players are sent; they are not any more when it is dropped.
pub struct Led {
    number: u64,
    events: Arc<Mutex<Events>>,
}

impl Drop for Led {
    fn drop(&mut self) {
        self.events.lock().open.retain(|event| event.number != self.number);
    }
}

#[derive(Default)]
struct Events {
    next: u64,
    open: Vec<Open>,
}

/// An event behind the port.
struct Open {
    number: u64,
    threshold: Threshold,
    games: Vec<String>,
    /// The entrants who log in, as of the last time that they were asked for.
    names: Vec<String>,
    asked: Option<Instant>,
}

impl Open {
    /// Asks who logs in: the arbiter may let a program play under another name.
    fn refresh(&mut self) {
        if self.asked.is_none_or(|asked| asked.elapsed() >= FRESH) {
            self.asked = Some(Instant::now());
            self.names = self.threshold.host().lobby().remote_names();
        }
    }
}

/// The entrants and the games of an event.
type Known<'a> = (&'a [String], &'a [String]);

/// Where a login leads: the number of one of the events.
fn meant(events: &[Known<'_>], name: &str, game: Option<&str>) -> Result<usize, HostError> {
    let has = |list: &[String], word: &str| list.iter().any(|known| known == word);
    let games = |of: &[usize]| {
        let mut games: Vec<_> = of.iter().flat_map(|at| events[*at].1).map(String::as_str).collect();
        games.sort_unstable();
        games.iter().map(|game| format!("`{game},SECRET`")).collect::<Vec<_>>().join(" or ")
    };
    let all: Vec<usize> = (0..events.len()).collect();
    let open: Vec<usize> =
        all.iter().copied().filter(|at| game.is_none_or(|game| has(events[*at].1, game))).collect();
    let named: Vec<usize> = open.iter().copied().filter(|at| has(events[*at].0, name)).collect();
    match (&named[..], &open[..], game) {
        (&[at], ..) | (&[], &[at], _) => Ok(at),
        (&[], &[], Some(game)) => Err(HostError::NoGame(game.to_owned(), games(&all))),
        (&[], ..) => Err(HostError::NoPlayer(name.to_owned())),
        (several, ..) => Err(HostError::Several(name.to_owned(), games(several))),
    }
}

/// What is done with those who come in: their login is read, and they are sent on.
fn desk(events: Arc<Mutex<Events>>, network: ActorThread, gatekeeper: Gatekeeper, say: Say) -> Enter {
    let (places, refusals) =
        (Arc::<Places>::default(), Arc::new(SharedBucket::from(Bucket::per_hour(SHOWN))));
    let limits = vestibule::limits();
    Arc::new(move |channel, address| {
        let place = match Places::enter(&places, address, &limits) {
            Ok(place) => place,
            Err(full) => return gatekeeper.turn_away(&network, channel, &full.to_string(), false),
        };
        let (events, say, refusals) = (events.clone(), say.clone(), refusals.clone());
        let refused = move |why: &str| {
            if refusals.take(1, Instant::now()) {
                say(&format!("{address}: {why}"));
            }
        };
        network.run(async move { receive(channel, address, &place, &events, &refused).await });
    })
}

/// Reads a login and sends its connection on; one that leads nowhere is refused.
async fn receive(
    mut channel: Channel,
    address: IpAddr,
    place: &TakenPlace,
    events: &Mutex<Events>,
    refused: &(dyn Fn(&str) + Send + Sync),
) {
    let heard = tokio::select! { biased;
        () = place.place.gives_way() => Err(vestibule::CROWDED.to_owned()),
        heard = timeout(LOGIN, first_line(&mut channel)) => {
            heard.map_err(|_| format!("no login came within {} s", LOGIN.as_secs()))
        }
    };
    let answer = match heard.map(|heard| heard.and_then(|heard| Some((read(&heard)?, heard)))) {
        Err(why) => format!("##[ERROR] {why}\n"),
        Ok(None) => TYPE.to_owned(),
        Ok(Some(((name, game, extended), heard))) => match choose(events, &name, game.as_deref()) {
            Ok(threshold) => {
                if let Ok(channel) = channel.depart() {
                    threshold.pass(channel, address, heard);
                }
                return;
            }
            Err(why) => {
                refused(&why.to_string());
                let more = if extended { format!("##[ERROR] {why}\n") } else { String::new() };
                format!("LOGIN:incorrect\n{more}")
            }
        },
    };
    let _left_before = timeout(FAREWELL, channel.tell(answer.as_bytes())).await;
}

fn choose(events: &Mutex<Events>, name: &str, game: Option<&str>) -> Result<Threshold, HostError> {
    let mut events = events.lock();
    events.open.iter_mut().for_each(Open::refresh);
    let known: Vec<Known<'_>> =
        events.open.iter().map(|event| (&event.names[..], &event.games[..])).collect();
    meant(&known, name, game).map(|at| events.open[at].threshold.clone())
}

/// The name, the game and whether the mode is the extended one, of a login with its blank lines before it.
fn read(heard: &[u8]) -> Option<(String, Option<String>, bool)> {
    let line = heard.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty())?;
    match std::str::from_utf8(line).ok()?.parse() {
        Ok(ClientLine::Login { name, password, extended }) => {
            let known = notation::csa::wire::is_player_name(&name);
            let game = Entry::read(&password).game.as_str().to_owned();
            known.then(|| (name, Some(game).filter(|game| game != NO_GAME), extended))
        }
        _ => None,
    }
}

/// All bytes up to the first line that is not blank, with what came behind it; `None`: it ended, or is too long.
async fn first_line(channel: &mut Channel) -> Option<Vec<u8>> {
    let (mut heard, mut chunk) = (vec![], [0; LOGIN_BYTES]);
    loop {
        let Event::Read(Ok((bytes @ 1.., _))) = channel.event(&mut chunk, true, false).await else {
            return None;
        };
        heard.extend_from_slice(&chunk[..bytes]);
        let blank = heard.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match heard[blank..].contains(&b'\n') {
            true => return Some(heard),
            false if heard.len() > LOGIN_BYTES => return None,
            false => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_login_leads_to_the_event_of_its_player_and_of_several_to_that_of_its_game() {
        let (cup, night) =
            ((words("a b both"), words("cup-600-10")), (words("c both"), words("night-60-5F")));
        let events = [(&cup.0[..], &cup.1[..]), (&night.0[..], &night.1[..])];
        let meant = |name, game| meant(&events, name, game);
        assert_eq!(meant("a", None), Ok(0));
        assert_eq!(meant("c", None), Ok(1));
        assert_eq!(meant("both", Some("night-60-5F")), Ok(1));
        assert_eq!(meant("watcher", Some("cup-600-10")), Ok(0), "a spectator names a game");
        let several = meant("both", None).unwrap_err().to_string();
        assert!(several.contains("`cup-600-10,SECRET` or `night-60-5F,SECRET`"), "{several}");
        assert_eq!(meant("x", None), Err(HostError::NoPlayer("x".to_owned())));
        assert_eq!(super::meant(&events[..1], "x", None), Ok(0), "one event judges for itself");
        let early = super::meant(&events[..1], "both", Some("night-60-5F")).unwrap_err().to_string();
        assert!(early.contains("no event here has the game `night-60-5F`"), "an event yet to come: {early}");
        assert!(super::meant(&[], "a", None).is_err());
    }

    #[test]
    fn a_login_is_read_behind_blank_lines_and_with_the_line_ends_of_windows() {
        let read = |text: &str| read(text.as_bytes());
        let login = |extended| Some(("a".to_owned(), Some("cup-600-10".to_owned()), extended));
        assert_eq!(read("\n\r\nLOGIN a cup-600-10,x\r\n"), login(false));
        assert_eq!(read("LOGIN a cup-600-10,x x1\nmore"), login(true));
        assert_eq!(read("LOGIN a secret\n"), Some(("a".to_owned(), None, false)));
        assert_eq!(read("LOGIN a\n"), None);
        assert_eq!(read("LOGIN ../a x\n"), None);
        assert_eq!(super::read(b"LOGIN \xff x\n"), None);
    }
}
