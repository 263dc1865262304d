//! Who may be connected, and how much an address may ask for: every stranger's cost has a bound.

use crate::refusals::Refusal;
use axum::http::StatusCode;
use parking_lot::{Mutex, MutexGuard};
use plan::serve::Proxies;
use platform::limits::{Bucket, Budgets, Origin};
use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};
use tokio::{sync::Notify, time::Instant};
use words::Language;

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// True if the connection is encrypted.
    pub is_secure: bool,
    /// The port of this machine that it came to.
    pub port: u16,
}

impl Default for Peer {
    /// Somebody unknown, who is trusted with nothing.
    fn default() -> Self {
        Self { address: IpAddr::V6(Ipv6Addr::UNSPECIFIED), is_secure: false, port: 0 }
    }
}

impl Peer {
    /// The address as limits count it: an IPv6 network of 64 bits is one.
    pub fn origin(&self) -> IpAddr {
        Origin::of(self.address).0
    }
}

/// Requests that an address may send at once, and in a second from then on.
const BURST: (u32, u32) = (200, 20);
/// Connections of an address beyond its limit that may show a login with their first request.
const SPARE: usize = 8;

/// Counts of connections, and budgets of requests.
///
/// When all places are taken, a newcomer takes one of the address with the most, if that has at least two more than the
/// newcomer's: the one whose last request is the oldest. A connection of a trusted proxy counts for the address that its
/// last request came from. A crowd that takes all places of its address does not lock out an arbiter there: a few more
/// connections are accepted, and kept if their first request has a login.
#[derive(Debug)]
pub struct Limits {
    /// Proxies, each of which has the connections of many.
    pub proxies: Proxies,
    total: usize,
    each: usize,
    taken: Mutex<Taken>,
    budgets: Mutex<Budgets<Asker>>,
}

/// For whom a request counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asker {
    /// An address. Requests for the arbiter's pages, such as a first login, have a budget apart from the others.
    Address(IpAddr, bool),
    /// A browser with a login to the arbiter's pages, by the hash of its token.
    Login([u8; 32]),
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    places: HashMap<u64, Held>,
    by: HashMap<IpAddr, usize>,
}

/// A place that is taken.
#[derive(Debug)]
struct Held {
    /// For whom it counts; unspecified while a proxy has named nobody.
    origin: IpAddr,
    /// Number of its last request among all.
    asked: u64,
    /// True if it is beyond the limit of its address, and has shown no login yet.
    is_spare: bool,
    gives_way: Arc<Notify>,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPlace {
    /// There are as many as there may be.
    Full,
    /// Its address has as many as it may have.
    Address,
}

impl From<NoPlace> for Refusal {
    fn from(why: NoPlace) -> Self {
        let words = match why {
            NoPlace::Full => Language::viewers_full,
            NoPlace::Address => Language::too_many_connections,
        };
        Self::new(StatusCode::SERVICE_UNAVAILABLE, words).after(30)
    }
}

/// The place of a connection; dropping it frees the place.
#[derive(Debug)]
pub struct Place {
    limits: Arc<Limits>,
    number: u64,
    gives_way: Arc<Notify>,
}

impl Place {
    /// Resolves when the connection has to give way to another.
    pub async fn gives_way(&self) {
        self.gives_way.notified().await;
    }

    /// Notes a request of the connection, for whom it counts from now on, and whether it has a login.
    ///
    /// # Errors
    /// When that address has as many as it may have, and the request has no login.
    pub fn asks_for(&self, peer: Peer, has_login: bool) -> Result<(), NoPlace> {
        let origin = peer.origin();
        let mut taken = self.limits.taken();
        let (here, next) = (taken.of(origin), taken.next);
        taken.next += 1;
        // A place that has given way is not there any more.
        let Some(held) = taken.places.get_mut(&self.number) else { return Ok(()) };
        held.asked = next;
        held.is_spare &= !has_login;
        if held.is_spare {
            return Err(NoPlace::Address);
        }
        let before = held.origin;
        if before == origin || origin.is_unspecified() {
            return Ok(());
        }
        if here >= self.limits.each && !has_login {
            return Err(NoPlace::Address);
        }
        held.origin = origin;
        taken.uncount(before);
        *taken.by.entry(origin).or_default() += 1;
        Ok(())
    }
}

impl Taken {
    /// Places of an address.
    fn of(&self, origin: IpAddr) -> usize {
        self.by.get(&origin).copied().unwrap_or(0)
    }

    fn uncount(&mut self, origin: IpAddr) {
        if let Some(count) = self.by.get_mut(&origin) {
            *count -= 1;
            if *count == 0 {
                self.by.remove(&origin);
            }
        }
    }

    fn leave(&mut self, number: u64) {
        if let Some(held) = self.places.remove(&number) {
            self.uncount(held.origin);
        }
    }

    /// Makes the oldest spare connection of an address give way, if there are as many as there may be.
    fn make_spare_room(&mut self, origin: IpAddr) {
        let spare = || self.places.iter().filter(|(_, held)| held.is_spare && held.origin == origin);
        if spare().count() >= SPARE
            && let Some((&number, held)) = spare().min_by_key(|(_, held)| held.asked)
        {
            held.gives_way.notify_one();
            self.leave(number);
        }
    }

    /// Makes a connection give way to a newcomer whose address has `here` places.
    fn make_room(&mut self, here: usize) -> bool {
        let known = self.by.iter().filter(|(origin, _)| !origin.is_unspecified());
        let Some((&heaviest, &count)) = known.max_by_key(|(_, count)| **count) else { return false };
        if count <= here + 1 {
            return false;
        }
        let of_heaviest = self.places.iter().filter(|(_, held)| held.origin == heaviest);
        let Some((&number, held)) = of_heaviest.min_by_key(|(_, held)| held.asked) else { return false };
        held.gives_way.notify_one();
        self.leave(number);
        true
    }
}

impl Limits {
    pub fn new(total: usize, each: usize, proxies: Proxies) -> Arc<Self> {
        let budgets = Mutex::new(Budgets::new(Bucket::with_limit(BURST.0, BURST.1)));
        Arc::new(Self { proxies, total, each, taken: Mutex::default(), budgets })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock()
    }

    /// Takes a place for a connection.
    pub fn enter(self: &Arc<Self>, peer: Peer) -> Result<Place, NoPlace> {
        let proxied = self.proxies.trusts(peer.address);
        let origin = if proxied { IpAddr::V6(Ipv6Addr::UNSPECIFIED) } else { peer.origin() };
        let mut taken = self.taken();
        let here = if proxied { 0 } else { taken.of(origin) };
        let is_spare = here >= self.each;
        if is_spare {
            taken.make_spare_room(origin);
        }
        if taken.places.len() >= self.total && !taken.make_room(here) {
            return Err(NoPlace::Full);
        }
        let (number, gives_way) = (taken.next, Arc::new(Notify::new()));
        taken.next += 1;
        taken.places.insert(number, Held { origin, asked: number, is_spare, gives_way: gives_way.clone() });
        *taken.by.entry(origin).or_default() += 1;
        Ok(Place { limits: self.clone(), number, gives_way })
    }

    /// Takes a request from the budget of an asker; false if the budget is empty.
    pub fn may_ask(&self, asker: Asker) -> bool {
        let now = Instant::now();
        self.budgets.lock().of(asker, now).take(1, now)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.limits.taken().leave(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> Peer {
        Peer { address: text.parse().unwrap(), is_secure: false, port: 0 }
    }

    #[test]
    fn an_address_has_so_many_connections_and_all_together_so_many() {
        let limits = Limits::new(3, 2, Proxies::default());
        let kept = [limits.enter(peer("10.0.0.1")).unwrap(), limits.enter(peer("10.0.0.1")).unwrap()];
        let one_more = limits.enter(peer("10.0.0.1")).unwrap();
        assert_eq!(one_more.asks_for(peer("10.0.0.1"), false), Err(NoPlace::Address));
        drop(one_more);
        let _other = limits.enter(peer("10.0.0.2")).unwrap();
        let _third = limits.enter(peer("10.0.0.3")).unwrap();
        assert_eq!(limits.enter(peer("10.0.0.4")).err(), Some(NoPlace::Full));
        drop(kept);
        assert!(limits.enter(peer("10.0.0.4")).is_ok(), "a place is free again");
    }

    #[tokio::test]
    async fn a_newcomer_takes_the_place_of_the_address_with_the_most_that_asked_longest_ago() {
        let limits = Limits::new(4, 3, Proxies::default());
        let crowd: Vec<Place> = (0..3).map(|_| limits.enter(peer("10.0.0.1")).unwrap()).collect();
        let _alone = limits.enter(peer("10.0.0.2")).unwrap();
        crowd[0].asks_for(peer("10.0.0.1"), false).unwrap();
        let newcomers = [limits.enter(peer("10.0.0.3")).unwrap(), limits.enter(peer("10.0.0.4")).unwrap()];
        crowd[1].gives_way().await;
        crowd[2].gives_way().await;
        assert_eq!(limits.enter(peer("10.0.0.5")).err(), Some(NoPlace::Full), "nobody has two");
        drop((crowd, newcomers));
        assert_eq!(limits.taken().places.len(), 1);
    }

    #[tokio::test]
    async fn a_connection_of_a_proxy_counts_for_whom_it_asks() {
        let limits = Limits::new(4, 3, Proxies::of(["10.0.0.9".parse().unwrap()]));
        let enter = || limits.enter(peer("10.0.0.9"));
        let crowd: Vec<Place> = (0..4).map(|_| enter().unwrap()).collect();
        assert_eq!(enter().err(), Some(NoPlace::Full), "for whom they are is not known yet");
        for place in &crowd[..3] {
            place.asks_for(peer("192.0.2.1"), false).unwrap();
        }
        assert_eq!(crowd[3].asks_for(peer("192.0.2.1"), false), Err(NoPlace::Address));
        assert!(enter().is_ok());
        crowd[0].gives_way().await;
    }

    #[tokio::test]
    async fn a_login_has_a_place_where_a_crowd_has_taken_all_of_its_address() {
        let limits = Limits::new(99, 2, Proxies::default());
        let enter = || limits.enter(peer("10.0.0.1")).unwrap();
        let crowd: Vec<Place> = (0..2 + SPARE).map(|_| enter()).collect();
        let arbiter = enter();
        crowd[2].gives_way().await;
        assert_eq!(arbiter.asks_for(peer("10.0.0.1"), true), Ok(()));
        let later: Vec<Place> = (0..2 * SPARE).map(|_| enter()).collect();
        assert_eq!(arbiter.asks_for(peer("10.0.0.1"), false), Ok(()), "it keeps its place");
        assert_eq!(later[2 * SPARE - 1].asks_for(peer("10.0.0.1"), false), Err(NoPlace::Address));
        assert_eq!(limits.taken().places.len(), 3 + SPARE, "the others are bounded");
    }

    #[test]
    fn a_household_of_ipv6_is_one_address() {
        let limits = Limits::new(9, 1, Proxies::default());
        let _one = limits.enter(peer("2001:db8::1")).unwrap();
        let other = limits.enter(peer("2001:db8::2")).unwrap();
        assert_eq!(other.asks_for(peer("2001:db8::2"), false), Err(NoPlace::Address));
        assert!(limits.enter(peer("2001:db8:0:1::1")).is_ok());
    }

    #[test]
    fn an_address_that_asks_without_end_is_refused_and_others_are_not() {
        let limits = Limits::new(9, 9, Proxies::default());
        let address = |text: &str| Asker::Address(peer(text).origin(), false);
        assert!((0..10_000).any(|_| !limits.may_ask(address("10.0.0.1"))));
        assert!(limits.may_ask(address("10.0.0.2")));
        assert!(limits.may_ask(Asker::Address(peer("10.0.0.1").origin(), true)), "a login at its address is");
    }
    #[tokio::test(start_paused = true)]
    async fn a_crowd_does_not_fill_the_budget_of_an_address_that_has_used_it_up() {
        let limits = Limits::new(9, 9, Proxies::default());
        let address = |number: u32| Asker::Address(IpAddr::V4(number.into()), false);
        assert!((0..300).any(|_| !limits.may_ask(address(0))));
        assert!((1..100_000).all(|number| limits.may_ask(address(number))));
        assert!(!limits.may_ask(address(0)));
    }
}
