//! Where a request comes from that a reverse proxy has sent on. Only proxies of the configuration are believed.

use crate::limits::Peer;
use axum::http::HeaderMap;
use plan::serve::Proxies;
use std::net::{IpAddr, Ipv6Addr};

/// Most proxies in a row that are looked at.
const PROXIES: usize = 16;

/// The other end of a request: the peer of the connection or, behind trusted proxies, whom the first of them names. A
/// proxy that names nobody speaks for somebody unknown.
pub fn client(peer: Peer, headers: &HeaderMap, proxies: &Proxies) -> Peer {
    if !proxies.trusts(peer.address) {
        return peer;
    }
    let lines = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let named: Vec<&str> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
    // The last is what our own proxy saw; what stands before it may be anybody's words.
    let mut address = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
    for name in named.iter().rev().take(PROXIES) {
        match name.parse::<IpAddr>() {
            Ok(found) => address = found.to_canonical(),
            Err(_) => break,
        }
        if !proxies.trusts(address) {
            break;
        }
    }
    let proto = headers.get_all("x-forwarded-proto").iter().next_back().and_then(|value| value.to_str().ok());
    let last = proto.and_then(|proto| proto.rsplit(',').next()).map(str::trim);
    Peer { address, is_secure: last == Some("https"), ..peer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn seen(from: &str, pairs: &[(&'static str, &'static str)]) -> (String, bool) {
        let proxies = Proxies::of(["127.0.0.1".parse().unwrap(), "10.0.0.1".parse().unwrap()]);
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let peer = Peer { address: from.parse().unwrap(), is_secure: false, port: 0 };
        let peer = client(peer, &headers, &proxies);
        (peer.address.to_string(), peer.is_secure)
    }

    #[test]
    fn a_trusted_proxy_is_believed_and_nobody_else() {
        let said = [("x-forwarded-for", "192.0.2.7"), ("x-forwarded-proto", "https")];
        assert_eq!(seen("127.0.0.1", &said), ("192.0.2.7".to_owned(), true));
        assert_eq!(seen("192.0.2.9", &said), ("192.0.2.9".to_owned(), false), "anybody can send such a line");
        assert_eq!(
            seen("127.0.0.1", &[]),
            ("::".to_owned(), false),
            "somebody unknown, and not this machine"
        );
    }

    #[test]
    fn what_a_viewer_puts_before_the_proxys_word_counts_for_nothing() {
        let forged = [("x-forwarded-for", "127.0.0.1, 192.0.2.7"), ("x-forwarded-proto", "https, http")];
        assert_eq!(seen("127.0.0.1", &forged), ("192.0.2.7".to_owned(), false));
        let chain = [("x-forwarded-for", "8.8.8.8, 192.0.2.7"), ("x-forwarded-for", "10.0.0.1")];
        assert_eq!(seen("127.0.0.1", &chain).0, "192.0.2.7", "two proxies of ours");
        assert_eq!(seen("127.0.0.1", &[("x-forwarded-for", "127.0.0.1, x")]).0, "::");
    }
}
