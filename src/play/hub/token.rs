//! The line to join an event with: `nats+tls://HOST:PORT#TOKEN`.
//!
//! After `#` stand, in base64 without padding: a version, the event, the public half of the key that signs jobs, and for a
//! server of the event's own the join secret and the SHA-256 of its certificate; at last four bytes of a checksum, so that
//! a line that was copied in part is told as such.

use crate::{EventId, HubError, JobKey};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use std::{fmt, net::SocketAddr, str::FromStr};

/// Longest line that is read.
const LONGEST: usize = 600;
/// The version of a token whose server was started by the event.
const OWN: u8 = 1;
/// The version of a token for somebody else's server.
const FOREIGN: u8 = 2;

/// Everything that a worker needs to find an event and to know that it is the right one. Whoever has it may join: it is
/// shown by [`Token::line`] alone, and hidden wherever a value is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    pub(crate) server: ServerAddress,
    pub(crate) event: EventId,
    pub(crate) job_key: JobKey,
    pub(crate) entrance: Option<Entrance>,
}

/// How a worker gets into a server that the event has started.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Entrance {
    /// The private half of the key of whoever asks to join.
    pub secret: [u8; 32],
    /// SHA-256 of the server's certificate.
    pub certificate: [u8; 32],
}

/// Where a server is: `nats+tls://HOST:PORT`, `tls://HOST:PORT` or `nats://HOST:PORT`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerAddress {
    scheme: Scheme,
    host: String,
    port: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scheme {
    /// TLS with a certificate that the token names.
    Pinned,
    /// TLS with a certificate that the machine's authorities vouch for.
    Tls,
    /// Plain, or TLS if the server asks for it.
    Plain,
}

impl Token {
    /// Of a server that the event has started.
    pub(crate) fn own(
        (host, port): (&str, u16),
        event: EventId,
        job_key: JobKey,
        entrance: Entrance,
    ) -> Result<Self, HubError> {
        let host = checked_host(host).ok_or_else(|| bad("its host is not a host name or an address"))?;
        Ok(Self {
            server: ServerAddress { scheme: Scheme::Pinned, host, port },
            event,
            job_key,
            entrance: Some(entrance),
        })
    }

    /// Of somebody else's server.
    pub(crate) fn foreign(server: ServerAddress, event: EventId, job_key: JobKey) -> Self {
        Self { server, event, job_key, entrance: None }
    }

    /// The whole line, with its secret.
    #[must_use]
    pub fn line(&self) -> String {
        let mut bytes = vec![if self.entrance.is_some() { OWN } else { FOREIGN }];
        bytes.extend(self.event.bytes());
        bytes.extend(self.job_key.bytes());
        if let Some(entrance) = &self.entrance {
            bytes.extend(entrance.secret);
            bytes.extend(entrance.certificate);
        }
        bytes.extend(checksum(&bytes));
        format!("{}#{}", self.server, URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Where the server is.
    #[must_use]
    pub fn server(&self) -> &ServerAddress {
        &self.server
    }

    /// The event.
    #[must_use]
    pub fn event(&self) -> EventId {
        self.event
    }

    /// True if the event has started the server. If not, everybody with that server's credentials is trusted as far as
    /// its permissions go; only jobs are proved to come from the manager.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.entrance.is_some()
    }

    /// The same for a server at another address: a proxy, a forwarded port.
    ///
    /// # Errors
    /// When the host is none.
    pub fn at(&self, host: &str, port: u16) -> Result<Self, HubError> {
        let host = checked_host(host).ok_or_else(|| bad("its host is not a host name or an address"))?;
        Ok(Self { server: ServerAddress { host, port, ..self.server.clone() }, ..self.clone() })
    }
}

impl FromStr for Token {
    type Err = HubError;

    fn from_str(line: &str) -> Result<Self, HubError> {
        let line = line.trim();
        if line.len() > LONGEST {
            return Err(bad("it is too long; copy the line that the manager printed, and nothing else"));
        }
        let Some((address, text)) = line.split_once('#') else {
            return Err(bad(
                "there is no `#` with what follows it; quote the line, since `#` begins a comment in some shells",
            ));
        };
        let server: ServerAddress = address.parse()?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| {
            bad("what follows `#` has characters that no token has; copy the whole line again")
        })?;
        let damaged = || bad("what follows `#` is incomplete or was altered; copy the whole line again");
        let (body, sum) = bytes.split_last_chunk::<4>().ok_or_else(damaged)?;
        if &checksum(body) != sum {
            return Err(damaged());
        }
        let mut rest = Bytes(body);
        let version = rest.take::<1>().ok_or_else(damaged)?[0];
        let (Some(event), Some(job_key)) = (rest.take(), rest.take()) else { return Err(damaged()) };
        let entrance = match version {
            OWN => Some(Entrance {
                secret: rest.take().ok_or_else(damaged)?,
                certificate: rest.take().ok_or_else(damaged)?,
            }),
            FOREIGN => None,
            _ => return Err(bad("it was made by a newer renmei; install the manager's version here")),
        };
        match (rest.0, server.scheme, &entrance) {
            ([], Scheme::Pinned, Some(_)) | ([], Scheme::Tls | Scheme::Plain, None) => {}
            ([], ..) => {
                return Err(bad("its beginning, before `://`, was altered; copy the whole line again"));
            }
            _ => return Err(damaged()),
        }
        Ok(Self { server, event: EventId::from_bytes(event), job_key: JobKey::from_bytes(job_key), entrance })
    }
}

/// The address alone: what follows `#` is a secret.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#...", self.server)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({self})")
    }
}

impl ServerAddress {
    /// The host.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A server of the event's own.
    pub(crate) fn pinned(address: SocketAddr) -> Self {
        Self { scheme: Scheme::Pinned, host: address.ip().to_string(), port: address.port() }
    }

    /// The address as async-nats reads it.
    pub(crate) fn url(&self) -> String {
        let scheme = match self.scheme {
            Scheme::Pinned | Scheme::Tls => "tls",
            Scheme::Plain => "nats",
        };
        format!("{scheme}://{}:{}", bracketed(&self.host), self.port)
    }

    /// True if the connection must be encrypted.
    pub(crate) fn is_tls(&self) -> bool {
        self.scheme != Scheme::Plain
    }
}

impl FromStr for ServerAddress {
    type Err = HubError;

    fn from_str(text: &str) -> Result<Self, HubError> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let scheme = match scheme {
            "nats+tls" => Scheme::Pinned,
            "tls" => Scheme::Tls,
            "nats" => Scheme::Plain,
            _ => return Err(bad("it does not begin with `nats+tls://`, `tls://` or `nats://`")),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        // An IPv6 address without a port ends in its bracket.
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ => (rest, "4222"),
        };
        let port = port.parse().ok().filter(|port| *port != 0);
        let port = port.ok_or_else(|| bad("its port is not a number from 1 to 65535"))?;
        let host = checked_host(host).ok_or_else(|| bad("its host is not a host name or an address"))?;
        Ok(Self { scheme, host, port })
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Pinned => "nats+tls",
            Scheme::Tls => "tls",
            Scheme::Plain => "nats",
        };
        write!(f, "{scheme}://{}:{}", bracketed(&self.host), self.port)
    }
}

/// Bytes that are taken piece by piece.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }
}

/// A host name or an address, without the brackets of an IPv6 address.
fn checked_host(text: &str) -> Option<String> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let is_v6 = inner.parse::<std::net::Ipv6Addr>().is_ok();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let is_name = !inner.is_empty() && inner.len() <= 253 && inner.chars().all(plain);
    (is_v6 || is_name && inner == text).then(|| inner.to_owned())
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    let digest = Sha256::digest(bytes);
    [digest[0], digest[1], digest[2], digest[3]]
}

fn bad(why: &'static str) -> HubError {
    HubError::Token(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signer;

    fn token() -> Token {
        let entrance = Entrance { secret: [7; 32], certificate: [9; 32] };
        Token::own(("box.example", 4222), EventId::from_bytes([3; 16]), Signer::random().key(), entrance)
            .unwrap()
    }

    #[test]
    fn a_token_survives_a_round_trip() {
        let token = token();
        assert_eq!(token.line().parse::<Token>().unwrap(), token);
        let foreign = Token::foreign("nats://[::1]:4300".parse().unwrap(), token.event, token.job_key);
        assert!(foreign.line().starts_with("nats://[::1]:4300#"), "{}", foreign.line());
        assert_eq!(foreign.line().parse::<Token>().unwrap(), foreign);
    }

    #[test]
    fn a_printed_token_shows_no_secret() {
        let token = token();
        let secret = token.line().split_once('#').unwrap().1.to_owned();
        assert_eq!(token.to_string(), "nats+tls://box.example:4222#...");
        assert!(!format!("{token:?} {:?}", Some(&token)).contains(&secret[..12]));
    }

    #[test]
    fn a_token_that_was_cut_off_at_any_place_or_altered_in_any_place_is_refused_in_a_sentence() {
        let line = token().line();
        for end in 0..line.len() {
            let fault = line[..end].parse::<Token>().unwrap_err().to_string();
            assert!(fault.starts_with("this is no line to join with: "), "{fault}");
        }
        let body = line.find('#').unwrap() + 1;
        for at in body..line.len() {
            let other = if line.as_bytes()[at] == b'A' { "B" } else { "A" };
            let altered = format!("{}{other}{}", &line[..at], &line[at + 1..]);
            assert!(altered.parse::<Token>().is_err(), "altered at {at}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_token_is_told_with_what_to_do() {
        let line = token().line();
        let (address, secret) = line.split_once('#').unwrap();
        for (text, expected) in [
            (address.to_owned(), "there is no `#`"),
            (format!("http://h:1#{secret}"), "does not begin with `nats+tls://`"),
            (format!("nats+tls://h:0#{secret}"), "port is not a number"),
            (format!("nats+tls://h h:1#{secret}"), "host is not a host name"),
            (format!("nats://h:1#{secret}"), "before `://`, was altered"),
            (format!("{line}!"), "characters that no token has"),
            (format!("{line} and {}", "x".repeat(600)), "too long"),
        ] {
            let fault = text.parse::<Token>().unwrap_err().to_string();
            assert!(fault.contains(expected), "{text}: {fault}");
            assert!(!fault.contains(secret), "{fault}");
        }
    }
}
