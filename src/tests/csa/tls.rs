//! TLS, and proxies that say where a client comes from.

use super::client::{Client, Host, certificate};
use plan::serve::{Counted, Proxies, ServeConfig};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    sync::Arc,
    time::Duration,
};

use testing::PATIENCE;

/// A client that speaks TLS and trusts one certificate.
struct Encrypted(BufReader<StreamOwned<ClientConnection, TcpStream>>);

impl Encrypted {
    fn connect(host: &Host, trusted: &Path) -> Self {
        Self::over(TcpStream::connect(host.encrypted()).unwrap(), trusted)
    }

    fn over(socket: TcpStream, trusted: &Path) -> Self {
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(trusted).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let tls = ClientConnection::new(Arc::new(config), name).unwrap();
        Self(BufReader::new(StreamOwned::new(tls, socket)))
    }

    fn say(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next line; `None` at the end, which the host has announced.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let bytes = self.0.read_line(&mut line).unwrap();
        (bytes > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    fn hears(&mut self, line: &str) {
        assert_eq!(self.line().as_deref(), Some(line));
    }

    fn until(&mut self, beginning: &str) -> String {
        loop {
            let line = self.line().expect("the connection stays");
            if line.starts_with(beginning) {
                return line;
            }
        }
    }
}

fn with_tls(dir: &Path) -> ServeConfig {
    ServeConfig { tls: Some(certificate(dir, "ours")), ..ServeConfig::default() }
}

#[test]
fn a_client_over_tls_plays_a_game_with_one_in_the_clear_and_both_are_told_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::start(with_tls(dir.path()));
    let mut black = Encrypted::connect(&host, &dir.path().join("ours.pem"));
    black.say("LOGIN sente t-600-10-B,t");
    black.hears("LOGIN:sente OK");
    let mut white = host.connect().login("gote", "t-600-10-W,t");
    black.until("END Game_Summary");
    white.until("END Game_Summary");
    black.say("AGREE");
    white.say("AGREE");
    black.until("START:");
    assert!(white.line().unwrap().starts_with("START:"));
    // Half a line in a record of its own is no line.
    black.0.get_mut().write_all(b"+77").unwrap();
    black.say("76FU");
    assert!(black.line().unwrap().starts_with("+7776FU,T"));
    assert!(white.line().unwrap().starts_with("+7776FU,T"));
    white.say("-3334FU");
    black.until("-3334FU");
    black.say("%TORYO");
    black.until("#RESIGN");
    black.hears("#LOSE");
    assert_eq!(black.line(), None, "the end is announced, so that it cannot be taken for a cut");
    let ended: String =
        host.end().query_row("SELECT result || ' ' || cause FROM games", [], |row| row.get(0)).unwrap();
    assert_eq!(ended, "white resignation");
}

#[test]
fn who_waits_for_its_own_limit_over_tls_waits_on_its_own_clock() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = ServeConfig { time_unit: Counted::Msec, ..with_tls(dir.path()) };
    config.limits.lines_per_second = 50;
    let host = Host::start(config);
    let mut black = Encrypted::connect(&host, &dir.path().join("ours.pem"));
    black.say("LOGIN sente t-600-10-B,t");
    black.hears("LOGIN:sente OK");
    let mut white = host.connect().login("gote", "t-600-10-W,t");
    black.until("END Game_Summary");
    white.until("END Game_Summary");
    black.say("AGREE");
    white.say("AGREE");
    black.until("START:");
    assert!(white.line().unwrap().starts_with("START:"));
    black.say(&("\n".repeat(110) + "+7776FU"));
    let line = white.line().unwrap();
    let charged: u64 = line.strip_prefix("+7776FU,T").unwrap().parse().unwrap();
    assert!(charged >= 900, "{line}");
}

#[test]
fn a_long_answer_arrives_whole_over_tls() {
    let dir = tempfile::tempdir().unwrap();
    let host = Host::start(with_tls(dir.path()));
    let mut reader = Encrypted::connect(&host, &dir.path().join("ours.pem"));
    reader.say("LOGIN reader x x1");
    reader.hears("LOGIN:reader OK");
    reader.hears("##[LOGIN] +OK x1");
    let crowd: Vec<Client> = (0..150)
        .map(|n| host.connect().login_x1(&format!("a_player_with_a_long_name_{n:03}"), "x"))
        .collect();
    for _ in 0..4 {
        reader.say("%%WHO");
        let mut listed = 0;
        while reader.until("##[WHO]") != "##[WHO] +OK" {
            listed += 1;
        }
        assert_eq!(listed, crowd.len() + 1);
    }
}

#[test]
fn half_handshakes_take_no_places_and_who_speaks_no_tls_is_told_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = with_tls(dir.path());
    config.limits.connections = 4;
    config.limits.connections_per_address = 4;
    let host = Host::start(config);
    // As often as the host has places for an address, and more.
    let half: Vec<TcpStream> = (0..20).map(|_| sent(&host, &HALF)).collect();
    let mut plain = host.connect().login_x1("plain", "x");
    let mut encrypted = Encrypted::connect(&host, &dir.path().join("ours.pem"));
    encrypted.say("LOGIN encrypted x x1");
    encrypted.hears("LOGIN:encrypted OK");
    plain.say("%%WHO");
    plain.until("##[WHO] +OK");
    let answer = rest(sent(&host, b"LOGIN sente t-600-10,t\n"));
    assert_eq!(answer.first(), Some(&21), "an alert of TLS: {answer:?}");
    drop(half);
}

/// The first bytes of a ClientHello.
const HALF: [u8; 6] = [22, 3, 1, 2, 0, 1];

/// A connection to the port of TLS on which these bytes are sent.
fn sent(host: &Host, bytes: &[u8]) -> TcpStream {
    let mut socket = TcpStream::connect(host.encrypted()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(bytes).unwrap();
    socket
}

/// What comes until the connection is closed.
fn rest(mut socket: TcpStream) -> Vec<u8> {
    let mut rest = vec![];
    let _reset = socket.read_to_end(&mut rest);
    rest
}

#[test]
fn who_finds_no_place_for_a_handshake_is_told_so_by_an_alert() {
    let dir = tempfile::tempdir().unwrap();
    let host = Host::start(with_tls(dir.path()));
    // On a slow machine the first of a crowd may have left before the last one comes.
    let is_told = || {
        let mut crowd: Vec<_> = (0..33).map(|_| sent(&host, &HALF)).collect();
        crowd.pop().map(rest) == Some(vec![21, 3, 3, 0, 2, 2, 49])
    };
    assert!((0..10).any(|_| is_told()));
}

#[test]
fn a_renewed_certificate_is_shown_without_a_restart_and_a_broken_one_is_not() {
    let (dir, renewed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let host = Host::start(with_tls(dir.path()));
    let (shown, key) = (dir.path().join("ours.pem"), dir.path().join("ours.key"));
    let first = dir.path().join("first.pem");
    fs::copy(&shown, &first).unwrap();
    let logs_in = |trusted: &Path, name: &str| {
        let mut client = Encrypted::connect(&host, trusted);
        let line = format!("LOGIN {name} x x1\n");
        let heard = client.0.get_mut().write_all(line.as_bytes()).is_ok();
        heard.then_some(client)
    };
    let mut staying = logs_in(&first, "staying").unwrap();
    staying.hears("LOGIN:staying OK");
    staying.hears("##[LOGIN] +OK x1");
    fs::write(&shown, "-----BEGIN CERTIFICATE-----\nbroken\n").unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    logs_in(&first, "second").expect("the old one stays in use").hears("LOGIN:second OK");
    let new = certificate(renewed.path(), "ours");
    fs::copy(&new.key, &key).unwrap();
    fs::copy(&new.certificate, &shown).unwrap();
    let mut tries = 0;
    let mut third = loop {
        match logs_in(&new.certificate, "third") {
            Some(client) => break client,
            None => std::thread::sleep(Duration::from_millis(100)),
        }
        tries += 1;
        assert!(tries < 600, "the new certificate is shown within a minute");
    };
    third.hears("LOGIN:third OK");
    staying.say("%%WHO");
    staying.until("##[WHO] +OK");
}

fn behind_proxy(trusted: &str, dir: &Path) -> Host {
    let mut config = with_tls(dir);
    config.trusted_proxies = Proxies::of([trusted.parse().unwrap()]);
    config.limits.login_failures = 1;
    config.login = plan::serve::Login::Accounts;
    Host::start(config)
}

/// Connects from an address and says who the client is.
fn proxied(host: &Host, from: [u8; 4], header: &str) -> Client {
    let mut client = host.connect_from(from);
    client.bytes(header.as_bytes());
    client
}

/// Whether logins of the address that a connection comes from are looked at, or it is locked out.
fn is_heard(mut client: Client) -> bool {
    client.say("LOGIN nobody wrong x1");
    client.line().as_deref() == Some("LOGIN:incorrect") && {
        client.say("LOGIN nobody wrong x1");
        client.line().as_deref() == Some("LOGIN:incorrect")
    }
}

#[test]
fn a_trusted_proxy_says_where_a_client_comes_from_and_lockouts_are_for_the_client() {
    let dir = tempfile::tempdir().unwrap();
    let host = behind_proxy("127.0.0.9", dir.path());
    let from = |client: &str| format!("PROXY TCP4 {client} 127.0.0.1 4711 4081\r\n");
    let first = proxied(&host, [127, 0, 0, 9], &from("192.0.2.1"));
    assert!(is_refused_after_one_guess(first));
    let mut same = proxied(&host, [127, 0, 0, 9], &from("192.0.2.1"));
    same.say("LOGIN nobody wrong x1");
    same.hears(&["LOGIN:incorrect"]);
    assert!(same.is_let_go(), "the client's address is locked out");
    let other = proxied(&host, [127, 0, 0, 9], &from("192.0.2.2"));
    assert!(is_refused_after_one_guess(other), "others behind the proxy are not");
}

/// Guesses once; whether the next guess ends the connection.
fn is_refused_after_one_guess(mut client: Client) -> bool {
    client.say("LOGIN nobody wrong x1");
    client.line().as_deref() == Some("LOGIN:incorrect")
}

#[test]
fn a_forged_proxy_line_of_somebody_else_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let host = behind_proxy("127.0.0.9", dir.path());
    let mut forger = proxied(&host, [127, 0, 0, 5], "PROXY TCP4 192.0.2.1 127.0.0.1 4711 4081\r\n");
    forger.hears(&["LOGIN:incorrect", "type 'LOGIN name password' or 'LOGIN name password x1'"]);
    forger.say("LOGIN nobody wrong x1");
    forger.hears(&["LOGIN:incorrect"]);
    let mut again = proxied(&host, [127, 0, 0, 5], "");
    again.say("LOGIN nobody wrong x1");
    again.hears(&["LOGIN:incorrect"]);
    assert!(again.is_let_go(), "its own address is locked out");
    let named = proxied(&host, [127, 0, 0, 9], "PROXY TCP4 192.0.2.1 127.0.0.1 4711 4081\r\n");
    assert!(is_heard(named), "and not the one that it named");
}

#[test]
fn a_trusted_proxy_that_says_nothing_is_refused_and_tls_begins_behind_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let host = behind_proxy("127.0.0.9", dir.path());
    let mut silent = proxied(&host, [127, 0, 0, 9], "LOGIN nobody wrong x1\n");
    silent.hears(&["##[ERROR] the proxy does not say from where you come"]);
    assert!(silent.is_let_go());
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 9], 0)).into()).unwrap();
    socket.connect(&host.encrypted().into()).unwrap();
    let mut socket = TcpStream::from(socket);
    socket.write_all(b"PROXY TCP6 2001:db8::1 ::1 4711 4082\r\n").unwrap();
    let mut client = Encrypted::over(socket, &dir.path().join("ours.pem"));
    client.say("LOGIN nobody wrong x1");
    client.hears("LOGIN:incorrect");
}
