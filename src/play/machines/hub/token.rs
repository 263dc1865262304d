//! The line to join an event with: `nats+tls://HOST:PORT#TOKEN`.
//!
//! After `#` stand, in base64 without padding: the join secret, the SHA-256 of the server's certificate, and four bytes of a
//! checksum, so that a line that was copied in part is told as such.

use crate::hub::HubError;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use std::{fmt, net::SocketAddr, str::FromStr};

/// Longest line that is read.
const LONGEST: usize = 600;
/// The beginning of a line.
const SCHEME: &str = "nats+tls://";

/// Everything that a worker needs to find an event and to know that it is the right one. Whoever has it may join: it is
/// shown by [`Token::line`] alone, and hidden wherever a value is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    pub(crate) server: ServerAddress,
    /// The private half of the key of whoever asks to join.
    pub(crate) secret: [u8; 32],
    /// SHA-256 of the server's certificate.
    pub(crate) certificate: [u8; 32],
}

/// Where a server is: `nats+tls://HOST:PORT`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ServerAddress {
    host: String,
    port: u16,
}

impl Token {
    /// The line of a server; its host is checked.
    pub(crate) fn new(
        (host, port): (&str, u16),
        secret: [u8; 32],
        certificate: [u8; 32],
    ) -> Result<Self, HubError> {
        Ok(Self { server: ServerAddress { host: checked_host(host)?, port }, secret, certificate })
    }

    /// The whole line, with its secret.
    pub fn line(&self) -> String {
        let mut bytes = [self.secret, self.certificate].concat();
        bytes.extend(checksum(&bytes));
        format!("{}#{}", self.server, URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.server.port
    }

    /// The same for a server at another address: a proxy, a forwarded port.
    ///
    /// # Errors
    /// When the host is none.
    pub fn at(&self, host: &str, port: u16) -> Result<Self, HubError> {
        Self::new((host, port), self.secret, self.certificate)
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
        let (secret, rest) = body.split_first_chunk::<32>().ok_or_else(damaged)?;
        let certificate = rest.try_into().map_err(|_| damaged())?;
        if &checksum(body) != sum {
            return Err(damaged());
        }
        Ok(Self { server, secret: *secret, certificate })
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
    pub fn of(address: SocketAddr) -> Self {
        Self { host: address.ip().to_string(), port: address.port() }
    }

    /// The address as async-nats reads it.
    pub fn url(&self) -> String {
        format!("tls://{}:{}", bracketed(&self.host), self.port)
    }
}

impl FromStr for ServerAddress {
    type Err = HubError;

    fn from_str(text: &str) -> Result<Self, HubError> {
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| bad("it does not begin with `nats+tls://`"))?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        // An IPv6 address without a port ends in its bracket.
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ => (rest, "4222"),
        };
        let port = port.parse().ok().filter(|port| *port != 0);
        let port = port.ok_or_else(|| bad("its port is not a number from 1 to 65535"))?;
        Ok(Self { host: checked_host(host)?, port })
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}:{}", bracketed(&self.host), self.port)
    }
}

/// A host name or an address, without the brackets of an IPv6 address.
fn checked_host(text: &str) -> Result<String, HubError> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let is_v6 = inner.parse::<std::net::Ipv6Addr>().is_ok();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let is_name = !inner.is_empty() && inner.len() <= 253 && inner.chars().all(plain);
    let is_host = is_v6 || is_name && inner == text;
    is_host.then(|| inner.to_owned()).ok_or_else(|| bad("its host is not a host name or an address"))
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

    fn token() -> Token {
        Token::new(("box.example", 4222), [7; 32], [9; 32]).unwrap()
    }

    #[test]
    fn a_token_survives_a_round_trip() {
        for token in [token(), token().at("[::1]", 4300).unwrap()] {
            assert_eq!(token.line().parse::<Token>().unwrap(), token);
        }
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
            (format!("nats://h:1#{secret}"), "does not begin with `nats+tls://`"),
            (format!("{line}!"), "characters that no token has"),
            (format!("{line} and {}", "x".repeat(600)), "too long"),
        ] {
            let fault = text.parse::<Token>().unwrap_err().to_string();
            assert!(fault.contains(expected), "{text}: {fault}");
            assert!(!fault.contains(secret), "{fault}");
        }
    }
}
