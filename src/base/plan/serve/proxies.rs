//! Addresses of reverse proxies, which are believed when they say where a client comes from.

use crate::reader::Item;
use referee::operation::Whom;
use std::net::IpAddr;

/// The proxies that are believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<Whom>);

impl Proxies {
    /// The proxies at these addresses.
    pub fn of(addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        let bits = |address: IpAddr| if address.is_ipv4() { 32 } else { 128 };
        let canonical = addresses.into_iter().map(|address| address.to_canonical());
        Self(canonical.map(|address| Whom::Network(address, bits(address))).collect())
    }

    /// True if nobody is believed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a connection from this address is that of a proxy.
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }

    pub(crate) fn read(list: &Item<'_>) -> Self {
        let elements = list.elements("a list of addresses such as [\"127.0.0.1\"]");
        Self(elements.iter().filter_map(network).collect())
    }
}

/// An address, here also an IPv6 one, means itself alone.
fn network(item: &Item<'_>) -> Option<Whom> {
    let text = item.text("an address such as \"127.0.0.1\", or a network such as \"10.0.0.0/8\"")?;
    let alone = text.parse::<IpAddr>().map(|address| {
        let address = address.to_canonical();
        format!("{address}/{}", if address.is_ipv4() { 32 } else { 128 })
    });
    match alone.as_deref().unwrap_or(text).parse() {
        Ok(network @ Whom::Network(..)) => Some(network),
        _ => {
            item.fault(format!(
                "`{text}` is neither an address such as \"127.0.0.1\" nor a network such as \"10.0.0.0/8\""
            ));
            None
        }
    }
}
