//! Who may be connected, and how much an address may ask for: every stranger's cost has a bound.

use plan::serve::Proxies;
use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// Whether the connection is encrypted.
    pub is_secure: bool,
}

impl Default for Peer {
    /// Somebody unknown, who is trusted with nothing.
    fn default() -> Self {
        Self { address: IpAddr::V6(Ipv6Addr::UNSPECIFIED), is_secure: false }
    }
}

impl Peer {
    /// The address as limits count it: an IPv6 network of 64 bits is one.
    #[must_use]
    pub fn origin(&self) -> IpAddr {
        match self.address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
            v4 => v4,
        }
    }
}

/// Requests that an address may send at once, and in a second from then on.
const BURST: f64 = 200.0;
const PER_SECOND: f64 = 20.0;
/// Addresses whose budgets are remembered.
const REMEMBERED: usize = 4096;

/// Counts of connections, and budgets of requests.
#[derive(Debug)]
pub struct Limits {
    /// Proxies, each of which has the connections of many.
    pub proxies: Proxies,
    total: usize,
    each: usize,
    taken: Mutex<Taken>,
    budgets: Mutex<HashMap<IpAddr, (Instant, f64)>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by: HashMap<IpAddr, usize>,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There are as many as there may be.
    Full,
    /// Its address has as many as it may have.
    Address,
}

/// The place of a connection; dropping it frees the place.
#[derive(Debug)]
pub struct Place(Arc<Limits>, IpAddr);

impl Limits {
    pub fn new(total: usize, each: usize, proxies: Proxies) -> Arc<Self> {
        Arc::new(Self { proxies, total, each, taken: Mutex::default(), budgets: Mutex::default() })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for a connection.
    pub fn enter(self: &Arc<Self>, peer: Peer) -> Result<Place, Refusal> {
        let origin = peer.origin();
        let mut taken = self.taken();
        let proxied = self.proxies.trusts(peer.address);
        if !proxied && taken.by.get(&origin).copied().unwrap_or(0) >= self.each {
            return Err(Refusal::Address);
        }
        if taken.all >= self.total {
            return Err(Refusal::Full);
        }
        taken.all += 1;
        *taken.by.entry(origin).or_default() += 1;
        Ok(Place(self.clone(), origin))
    }

    /// Whether an address may send another request now, which costs so much.
    pub fn may_ask(&self, peer: Peer, cost: f64) -> bool {
        let now = Instant::now();
        let mut budgets = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        if budgets.len() >= REMEMBERED {
            // Whoever has been silent for long enough has the whole budget again.
            budgets.retain(|_, (at, left)| {
                *left + PER_SECOND * now.saturating_duration_since(*at).as_secs_f64() < BURST
            });
            if budgets.len() >= REMEMBERED {
                budgets.clear();
            }
        }
        let (at, left) = budgets.entry(peer.origin()).or_insert((now, BURST));
        *left = (*left + PER_SECOND * now.saturating_duration_since(*at).as_secs_f64()).min(BURST);
        *at = now;
        if *left < cost {
            return false;
        }
        *left -= cost;
        true
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.0.taken();
        taken.all = taken.all.saturating_sub(1);
        if let Some(count) = taken.by.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                taken.by.remove(&self.1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> Peer {
        Peer { address: text.parse().unwrap(), is_secure: false }
    }

    #[test]
    fn an_address_has_so_many_connections_and_all_together_so_many() {
        let limits = Limits::new(3, 2, Proxies::default());
        let kept = [limits.enter(peer("10.0.0.1")).unwrap(), limits.enter(peer("10.0.0.1")).unwrap()];
        assert_eq!(limits.enter(peer("10.0.0.1")).err(), Some(Refusal::Address));
        let _other = limits.enter(peer("10.0.0.2")).unwrap();
        assert_eq!(limits.enter(peer("10.0.0.3")).err(), Some(Refusal::Full));
        drop(kept);
        assert!(limits.enter(peer("10.0.0.3")).is_ok(), "a place is free again");
    }

    #[test]
    fn a_household_of_ipv6_is_one_address() {
        let limits = Limits::new(9, 1, Proxies::default());
        let _one = limits.enter(peer("2001:db8::1")).unwrap();
        assert_eq!(limits.enter(peer("2001:db8::2")).err(), Some(Refusal::Address));
        assert!(limits.enter(peer("2001:db8:0:1::1")).is_ok());
    }

    #[test]
    fn an_address_that_asks_without_end_is_refused_and_others_are_not() {
        let limits = Limits::new(9, 9, Proxies::default());
        assert!((0..10_000).any(|_| !limits.may_ask(peer("10.0.0.1"), 1.0)));
        assert!(limits.may_ask(peer("10.0.0.2"), 1.0));
    }
}
