//! Which sites a request may come from. Pages at a loopback address are for the people at this machine; any website that
//! one of them visits could ask for these pages too, by a name of its own that leads here (DNS rebinding).

use crate::limits::Peer;
use axum::http::{HeaderMap, header};
use std::net::{IpAddr, SocketAddr};

/// True if only this machine reaches an address that the pages are on.
pub fn is_private(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Whether `Host` can only mean this machine, or is an address, to which no site can lead a browser by a name. A request
/// without a host comes from no browser.
pub fn names_this_machine(headers: &HeaderMap) -> bool {
    host(headers).is_none_or(|(name, _)| name == "localhost" || address(name).is_some())
}

/// True if `Host` is a name of this machine with the port that the connection came to: what forwards another port may
/// do so in the clear.
pub fn is_here(headers: &HeaderMap, peer: Peer) -> bool {
    host(headers).is_some_and(|(name, port)| {
        let is_name = name == "localhost" || address(name).is_some_and(|address| address.is_loopback());
        is_name && (peer.port == 0 || port == Some(peer.port))
    })
}

/// Name and port in `Host`; without a port that of HTTP.
fn host(headers: &HeaderMap) -> Option<(&str, Option<u16>)> {
    let host = headers.get(header::HOST)?.to_str().unwrap_or("?");
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').unwrap_or(("?", "")),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let port = port.strip_prefix(':').map_or(Some(80), |port| port.parse().ok());
    Some((name, port))
}

fn address(name: &str) -> Option<IpAddr> {
    name.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn of(host: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))])
    }

    #[test]
    fn a_name_that_somebody_else_gives_this_machine_is_none_of_its_own() {
        for own in ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "192.0.2.7:8080"] {
            assert!(names_this_machine(&of(own)), "{own}");
        }
        for other in ["evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "", "[evil"] {
            assert!(!names_this_machine(&of(other)), "{other}");
        }
        assert!(names_this_machine(&HeaderMap::new()), "no browser asks without a host");
    }

    #[test]
    fn a_forwarded_port_is_not_this_machines_own() {
        let peer = Peer { port: 8080, ..Peer::default() };
        assert!(is_here(&of("localhost:8080"), peer) && is_here(&of("[::1]:8080"), peer));
        for other in ["localhost:9000", "localhost", "192.0.2.7:8080", "evil.example:8080"] {
            assert!(!is_here(&of(other), peer), "{other}");
        }
        assert!(is_here(&of("localhost"), Peer { port: 80, ..peer }));
    }
}
