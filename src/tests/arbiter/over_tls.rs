//! The pages over HTTPS by themselves.

use super::{HERE, PASSWORD, PATIENCE, account, form};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, pki_types::CertificateDer};
use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// Writes a certificate of shogi.example and its key; returns what trusts it.
fn certificate(dir: &Path) -> CertificateDer<'static> {
    let params = rcgen::CertificateParams::new(["shogi.example".to_owned()]).unwrap();
    let secret = rcgen::KeyPair::generate().unwrap();
    let made = params.self_signed(&secret).unwrap();
    fs::write(dir.join("pages.key"), secret.serialize_pem()).unwrap();
    fs::write(dir.join("pages.pem"), made.pem()).unwrap();
    made.der().clone()
}

/// What the pages answer a client that trusts that certificate alone.
fn ask(pages: SocketAddr, trusted: &CertificateDer<'static>, request: &str) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let client = ClientConnection::new(Arc::new(config), "shogi.example".try_into().unwrap()).unwrap();
    let socket = TcpStream::connect(pages)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut stream = StreamOwned::new(client, socket);
    stream.write_all(request.as_bytes())?;
    let mut answer = vec![];
    match stream.read_to_end(&mut answer) {
        // The pages hang up without a farewell of TLS.
        Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => return Err(error),
        _ => {}
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _over_already = self.0.kill();
        let _over = self.0.wait();
    }
}

#[test]
fn an_arbiter_logs_in_over_https_without_a_proxy_and_a_renewed_certificate_is_shown_at_once() {
    let desk = super::Desk::new();
    let first = certificate(desk.dir.path());
    desk.write(
        "league.toml",
        "[serve]\ndatabase = \"event.db\"\nlisten = [\"127.0.0.1:0\"]\n\
         [http.tls]\nlisten = [\"127.0.0.1:0\"]\ncertificate = \"pages.pem\"\nkey = \"pages.key\"\n",
    );
    account(&desk, "kai", "arbiter", PASSWORD);
    let log = fs::File::create(desk.path("log.txt")).unwrap();
    let serve = Command::new(env!("CARGO_BIN_EXE_renmei"))
        .current_dir(desk.dir.path())
        .args(["serve", "league.toml", "--no-dashboard"])
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn();
    let mut league = Ended(serve.unwrap());
    let since = Instant::now();
    let pages = loop {
        let log = fs::read_to_string(desk.path("log.txt")).unwrap();
        let line = log.lines().find_map(|line| line.strip_prefix("pages on https://"));
        if let Some(address) = line.filter(|line| line.ends_with('/')) {
            break address.trim_end_matches('/').parse::<SocketAddr>().unwrap();
        }
        assert!(since.elapsed() < PATIENCE && league.0.try_wait().unwrap().is_none(), "{log}");
        thread::sleep(Duration::from_millis(20));
    };
    let body = form(&[("name", "kai"), ("password", PASSWORD)]);
    // A name that is not this machine's: in the clear it would be refused.
    let login = format!(
        "POST /arbiter/login HTTP/1.1\r\nHost: shogi.example\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = ask(pages, &first, &login).unwrap();
    assert!(answer.starts_with("HTTP/1.1 303") && answer.contains("; Secure"), "{answer}");
    let list = "GET /games/list.txt HTTP/1.1\r\nHost: shogi.example\r\nConnection: close\r\n\r\n";
    assert!(ask(pages, &first, list).unwrap().starts_with("HTTP/1.1 200"));
    // Whoever speaks in the clear there is hung up on, and others are served.
    let mut clear = TcpStream::connect(SocketAddr::from((HERE, pages.port()))).unwrap();
    clear.write_all(list.as_bytes()).unwrap();
    let mut said = vec![];
    let _reset = clear.read_to_end(&mut said);
    assert!(!String::from_utf8_lossy(&said).contains("HTTP/1.1 200"));
    let renewed = certificate(desk.dir.path());
    assert!(ask(pages, &renewed, list).unwrap().starts_with("HTTP/1.1 200"), "the new one is shown");
    assert!(ask(pages, &first, list).is_err(), "and no longer the old one");
    fs::write(desk.path("pages.pem"), "no certificate").unwrap();
    assert!(ask(pages, &renewed, list).unwrap().starts_with("HTTP/1.1 200"), "a broken one is not taken");
}
