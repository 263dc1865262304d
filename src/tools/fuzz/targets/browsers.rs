//! What browsers send to the pages of an event, to its arbiter, behind a proxy, and to the gate of a desk: the line of a
//! request, headers (cookies, `Host`, `X-Forwarded-For`, `Last-Event-ID` ..), a query, the fields of a form.

use super::{databases, text};
use crate::scratch::Scratch;
use journal::{Role, Store, Writer};
use parking_lot::Mutex;
use plan::{HttpConfig, serve::Proxies};
use socket2::{Domain, Socket, Type};
use std::{
    error::Error,
    io::{Read, Write},
    mem,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};
use web::{Crowd, Gate, Hall, Inside, MakeLedger, Office, Registers, Server, Setup, arbiter};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PASSWORD: &str = "a-long-password";
/// Words that divide a connection into requests: a check sends one request, and says where it ends.
const FRAMING: [&str; 6] = ["connection", "content-length", "transfer-encoding", "expect", "upgrade", "te:"];
/// Most bytes of an answer that are read.
const ANSWER: usize = 1 << 20;

/// The pages that are asked.
struct Places {
    event: SocketAddr,
    desk: SocketAddr,
    /// Cookies of an arbiter and of the owner of the desk, and the token of the arbiter's forms.
    cookie: String,
    csrf: String,
}

static PLACES: LazyLock<Places> =
    LazyLock::new(|| Places::open().unwrap_or_else(|fault| panic!("there are no pages: {fault}")));

/// A request in text: a line, headers, and behind a blank line a body. It begins with `proxy` where a proxy sends it on, and
/// with `desk` where it goes to the gate of a desk; `{host}`, `{cookie}` and `{csrf}` stand for those of this place. Every one
/// is answered, and never by a fault of the program.
pub fn browsers(data: &[u8]) {
    let text = text(data);
    let (way, text) = match text.split_once(' ') {
        Some(("proxy", rest)) => (Way::Proxy, rest),
        Some(("desk", rest)) => (Way::Desk, rest),
        _ => (Way::Event, &*text),
    };
    let answer = PLACES.ask(way, text).unwrap_or_else(|fault| panic!("{fault}: {text:?}"));
    assert!(answer.starts_with("HTTP/1.1 "), "no answer to {text:?}: {answer:?}");
    assert!(!answer.starts_with("HTTP/1.1 500"), "a fault of the program at {text:?}: {answer}");
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Event,
    Proxy,
    Desk,
}

impl Places {
    fn open() -> Outcome<Self> {
        let place = Scratch::new();
        let database = place.path("event.db");
        databases::finished(&database);
        let hash = plan::password::hash(PASSWORD)?;
        Writer::open(&database)?.set_web_account("kai", Role::Arbiter, &hash)?;
        let event = Store::read(&database)?.events()?.first().map(|event| event.name.clone());
        let config = HttpConfig {
            listen: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
            trusted_proxies: Proxies::of([IpAddr::V4(Ipv4Addr::LOCALHOST)]),
            ..HttpConfig::default()
        };
        let token = Arc::<Mutex<String>>::default();
        let desk = desk(&HttpConfig { trusted_proxies: Proxies::default(), ..config.clone() }, &token)?;
        let office = Office::new(&database, Registers::Accounts);
        let setup = Setup {
            config,
            database,
            event: event.unwrap_or_default(),
            base: String::new(),
            crowd: Crowd::default(),
            places: arbiter::places(None),
            secure: None,
            office: Some(office.clone()),
            boards: None,
        };
        let server = Server::open(setup, move |_| arbiter::routes(office, None))?;
        let event = server.addresses().0[0];
        // Both stay for as long as the process.
        mem::forget((server, place));
        let mut places = Self { event, desk, cookie: String::new(), csrf: String::new() };
        let token = token.lock().clone();
        places.enter(&token)?;
        Ok(places)
    }

    /// Waits until the event was read, logs in as its arbiter, and enters the desk.
    fn enter(&mut self, token: &str) -> Outcome<()> {
        while self.ask(Way::Event, "GET /table\nhost: {host}")?.starts_with("HTTP/1.1 503") {
            thread::sleep(Duration::from_millis(5));
        }
        let form = "POST /arbiter/login\nhost: {host}\ncontent-type: application/x-www-form-urlencoded\n\n";
        let logged_in = self.ask(Way::Event, &format!("{form}name=kai&password={PASSWORD}"))?;
        let entered = self.ask(Way::Desk, &format!("GET /enter?key={token}\nhost: {{host}}"))?;
        let cookies = |answer: &str| -> Vec<String> {
            let set = answer.lines().filter_map(|line| line.strip_prefix("set-cookie: "));
            set.filter_map(|cookie| Some(cookie.split(';').next()?.to_owned())).collect()
        };
        self.cookie = [cookies(&logged_in), cookies(&entered)].concat().join("; ");
        let page = self.ask(Way::Event, "GET /arbiter\nhost: {host}\ncookie: {cookie}")?;
        let csrf = page.split_once("name=\"csrf\" value=\"").and_then(|(_, rest)| rest.split('"').next());
        self.csrf = csrf.ok_or_else(|| format!("nobody is logged in: {page}"))?.to_owned();
        Ok(())
    }

    /// Sends a request from an address that has sent none before, as each has a budget, and reads the answer: of a stream
    /// only its beginning.
    fn ask(&self, way: Way, text: &str) -> Outcome<String> {
        static ADDRESSES: AtomicU32 = AtomicU32::new(1);
        let [_, a, b, c] = ADDRESSES.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let (from, to) = match way {
            Way::Proxy => (Ipv4Addr::LOCALHOST, self.event),
            Way::Event => (Ipv4Addr::new(127, 1 | a, b, c), self.event),
            Way::Desk => (Ipv4Addr::new(127, 1 | a, b, c), self.desk),
        };
        let host = format!("127.0.0.1:{}", to.port());
        let text =
            text.replace("{host}", &host).replace("{cookie}", &self.cookie).replace("{csrf}", &self.csrf);
        let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let mut request = format!("{} HTTP/1.1\r\n", lines.next().unwrap_or_default().replace('\r', ""));
        if way == Way::Proxy {
            request += &format!("x-forwarded-for: 10.{a}.{b}.{c}\r\n");
        }
        let is_ours = |line: &&str| {
            let line = line.trim().to_ascii_lowercase();
            !line.is_empty() && !FRAMING.iter().any(|word| line.starts_with(word))
        };
        for line in lines.filter(is_ours) {
            request += &format!("{}\r\n", line.replace('\r', ""));
        }
        request += &format!("connection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        answer_to(&request, from, to)
    }
}

/// A gate that nothing is behind; the token that leads in is in `token`.
fn desk(config: &HttpConfig, token: &Arc<Mutex<String>>) -> Outcome<SocketAddr> {
    let last = token.clone();
    let gate = Gate::new(Box::new(move |token| {
        token.clone_into(&mut last.lock());
        true
    }));
    let (entries, orders, routes) = (
        vec![],
        Box::new(|_: &str, _: &'static str, _| Default::default()),
        Box::new(|_| Default::default()),
    );
    let inside = Inside { gate: Arc::new(gate), entries, orders, routes };
    let ledger: MakeLedger = Box::new(|| Err("there is no ledger here".into()));
    let hall = Hall::open(config, None, "desk", ledger, None, Some(inside))?;
    let address = hall.addresses().0[0];
    mem::forget(hall);
    Ok(address)
}

fn answer_to(request: &str, from: Ipv4Addr, to: SocketAddr) -> Outcome<String> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((from, 0)).into())?;
    socket.connect(&to.into())?;
    let mut stream = TcpStream::from(socket);
    // What is refused at once may be closed before all of it was sent.
    let _refused = stream.write_all(request.as_bytes());
    let (mut answer, mut chunk) = (vec![], [0; 8192]);
    while answer.len() < ANSWER {
        let Ok(read @ 1..) = stream.read(&mut chunk) else { break };
        answer.extend_from_slice(&chunk[..read]);
        if String::from_utf8_lossy(&answer).contains("content-type: text/event-stream") {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
