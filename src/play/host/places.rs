//! The places of a host: who may be connected when it is full.
//!
//! Connections are counted by address, an IPv6 address by its first 64 bits, which one household has. When the host is
//! full, a newcomer takes the place of the connection that has been idle for longest among those of the address with the
//! most, if that has at least two more than the newcomer's. Players in a game do not count here and are never sent away.
//! A few places beyond the limit are kept for players who return to their game.

use super::budget::AddressBudget;
use parking_lot::Mutex;
use plan::serve::Limits;
use platform::limits::Origin;
use std::{
    cmp::Reverse,
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{sync::Notify, time::Instant};

/// Share of the places that is kept in addition for returning players.
const RESERVE: usize = 16;
/// Addresses without a connection whose budgets are remembered.
const ABSENT: usize = 1024;
/// Least places kept for returning players.
const LEAST_RESERVE: usize = 4;

/// What a connection is doing, in the order in which connections give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::FromRepr)]
#[repr(u8)]
pub enum Standing {
    /// It has not logged in.
    Stranger,
    /// A player or spectator without a game.
    Idle,
    /// A player who waits for a game.
    Waiting,
    /// A player in a game.
    Playing,
}

impl Standing {
    fn read(number: u8) -> Self {
        Self::from_repr(number).unwrap_or(Self::Playing)
    }
}

/// A place that is taken; dropping it frees the place.
#[derive(Debug)]
pub struct TakenPlace {
    /// The place.
    pub place: Arc<Place>,
    places: Arc<Places>,
}

impl Drop for TakenPlace {
    fn drop(&mut self) {
        self.places.leave(&self.place);
    }
}

/// The place of a connection.
#[derive(Debug)]
pub struct Place {
    number: u64,
    /// The origin of the client.
    pub origin: Origin,
    /// The address of the client.
    pub address: IpAddr,
    /// True if it is one of those kept for returning players.
    pub reserved: bool,
    standing: AtomicU8,
    /// Milliseconds after `opened` at which something last came or went.
    active: AtomicU64,
    /// How long bytes take to the client and back, in microseconds; 0: unknown.
    round_trip: AtomicU32,
    opened: Instant,
    gives_way: Notify,
    /// The budget that the connections of this origin share.
    pub budget: AddressBudget,
}

impl Place {
    /// What the connection is doing.
    pub fn standing(&self) -> Standing {
        Standing::read(self.standing.load(Ordering::Relaxed))
    }

    /// Notes what the connection is doing.
    pub fn set_standing(&self, standing: Standing) {
        self.standing.store(standing as u8, Ordering::Relaxed);
    }

    /// Notes that something came or went.
    pub fn is_active(&self, now: Instant) {
        let since = now.saturating_duration_since(self.opened).as_millis();
        self.active.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Notes how long bytes take to the client and back.
    pub fn set_round_trip(&self, time: Duration) {
        self.round_trip.store(u32::try_from(time.as_micros()).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// How long bytes take to the client and back; `None`: unknown.
    pub fn round_trip(&self) -> Option<Duration> {
        let micros = self.round_trip.load(Ordering::Relaxed);
        (micros > 0).then(|| Duration::from_micros(micros.into()))
    }

    /// Since when the connection is idle.
    pub fn idle_since(&self) -> Instant {
        self.opened + Duration::from_millis(self.active.load(Ordering::Relaxed))
    }

    /// Resolves when the connection has to give way to another.
    pub async fn gives_way(&self) {
        self.gives_way.notified().await;
    }
}

/// Why there is no place for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    #[error("the host is full: it has {0} places; try again later")]
    Host(usize),
    #[error("{0} connections have come from your address, and there may be no more at once")]
    Address(usize),
}

/// The places of a host.
#[derive(Debug, Default)]
pub struct Places(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    origins: HashMap<Origin, Group>,
    count: usize,
}

/// The connections of an origin.
#[derive(Debug)]
struct Group {
    budget: AddressBudget,
    places: HashMap<u64, Arc<Place>>,
}

impl Places {
    /// A place for a connection from an address.
    ///
    /// # Errors
    /// When there is none for it.
    pub fn enter(places: &Arc<Self>, address: IpAddr, limits: &Limits) -> Result<TakenPlace, Full> {
        let origin = Origin::of(address);
        let mut taken = places.0.lock();
        taken.forget_the_absent();
        let group = taken.origins.get(&origin);
        if group.is_some_and(|group| group.places.len() >= limits.connections_per_address) {
            return Err(Full::Address(limits.connections_per_address));
        }
        let full = taken.count >= limits.connections;
        let here = group.filter(|_| full).map_or(0, Group::without_game);
        let made_room = full && taken.make_room(here);
        let reserved = full && !made_room;
        let reserve = LEAST_RESERVE.max(limits.connections / RESERVE);
        if reserved && taken.count >= limits.connections + reserve && !taken.send_a_stranger_away() {
            return Err(Full::Host(limits.connections));
        }
        let number = taken.next;
        (taken.next, taken.count) = (number + 1, taken.count + 1);
        let budget = || AddressBudget::new(limits);
        let fresh = || Group { budget: budget(), places: HashMap::new() };
        let group = taken.origins.entry(origin).or_insert_with(fresh);
        let (standing, active) = (AtomicU8::new(Standing::Stranger as u8), AtomicU64::new(0));
        let round_trip = AtomicU32::new(0);
        let place = Arc::new(Place {
            number,
            origin,
            address: address.to_canonical(),
            reserved,
            standing,
            active,
            round_trip,
            opened: Instant::now(),
            gives_way: Notify::new(),
            budget: group.budget.clone(),
        });
        group.places.insert(number, place.clone());
        Ok(TakenPlace { place, places: places.clone() })
    }

    fn leave(&self, place: &Place) {
        let mut taken = self.0.lock();
        let Some(group) = taken.origins.get_mut(&place.origin) else { return };
        let counted = group.places.remove(&place.number).is_some();
        taken.count -= usize::from(counted);
    }
}

impl Taken {
    /// Forgets addresses without a connection. Their budgets are remembered for a while, or whoever has spent one would
    /// get a new one with the next connection.
    fn forget_the_absent(&mut self) {
        if self.origins.len() > 2 * self.count + ABSENT {
            self.origins.retain(|_, group| !group.places.is_empty());
        }
    }

    /// Makes a connection give way to a newcomer whose address has `here` places without a game.
    fn make_room(&mut self, here: usize) -> bool {
        let counted = self.origins.values().map(|group| (group.without_game(), group));
        let fullest = counted.filter(|(count, _)| *count > here + 1).max_by_key(|(count, _)| *count);
        fullest.and_then(|(_, group)| group.most_idle()).is_some_and(|place| self.dismiss(&place))
    }

    /// Makes the connection give way that has taken longest to log in, of the address with the most such connections: who
    /// comes alone is not sent away by a crowd that comes faster than logins are checked.
    fn send_a_stranger_away(&mut self) -> bool {
        let strangers = self.origins.values().filter_map(Group::strangers);
        let longest = strangers.max_by_key(|(count, place)| (*count, Reverse(place.opened)));
        longest.is_some_and(|(_, place)| self.dismiss(&place))
    }

    /// The place counts no more; the connection closes as soon as it hears of it.
    fn dismiss(&mut self, place: &Place) -> bool {
        place.gives_way.notify_one();
        let group = self.origins.get_mut(&place.origin);
        let counted = group.is_some_and(|group| group.places.remove(&place.number).is_some());
        self.count -= usize::from(counted);
        counted
    }
}

impl Group {
    /// The connections that are not in a game.
    fn without_game(&self) -> usize {
        self.places.values().filter(|place| place.standing() != Standing::Playing).count()
    }

    /// How many connections have not logged in, and which of them has taken longest.
    fn strangers(&self) -> Option<(usize, Arc<Place>)> {
        let strangers = || self.places.values().filter(|place| place.standing() == Standing::Stranger);
        let longest = strangers().min_by_key(|place| (place.opened, place.number))?;
        Some((strangers().count(), longest.clone()))
    }

    /// The connection that gives way first; `None` where all play.
    fn most_idle(&self) -> Option<Arc<Place>> {
        let idle = self.places.values().filter(|place| place.standing() != Standing::Playing);
        idle.min_by_key(|place| (place.standing(), place.idle_since(), place.number)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(connections: usize) -> Limits {
        Limits { connections, ..Limits::default() }
    }

    fn enter(places: &Arc<Places>, address: &str, limits: &Limits) -> Option<TakenPlace> {
        Places::enter(places, address.parse().unwrap(), limits).ok()
    }

    #[tokio::test]
    async fn the_fullest_address_gives_way_and_players_in_a_game_do_not() {
        let (places, limits) = (Arc::new(Places::default()), limits(4));
        let many: Vec<_> = (0..4).filter_map(|_| enter(&places, "10.0.0.1", &limits)).collect();
        many.iter().for_each(|taken| taken.place.set_standing(Standing::Waiting));
        many[0].place.set_standing(Standing::Playing);
        many[2].place.set_standing(Standing::Idle);
        let first = enter(&places, "10.0.0.2", &limits).unwrap();
        assert!(!first.place.reserved);
        many[2].place.gives_way().await;
        let second = enter(&places, "10.0.0.2", &limits).unwrap();
        assert!(second.place.reserved, "two who wait against one: nobody gives way");
        let other = enter(&places, "10.0.0.3", &limits).unwrap();
        assert!(!other.place.reserved, "two against none");
        drop((first, second, other));
        drop(many);
        assert_eq!(places.0.lock().count, 0);
    }

    #[tokio::test]
    async fn the_reserve_is_not_held_by_those_who_do_not_log_in() {
        let (places, limits) = (Arc::new(Places::default()), limits(1));
        let mut held = vec![enter(&places, "10.0.0.1", &limits).unwrap()];
        held[0].place.set_standing(Standing::Playing);
        for n in 2..=5 {
            held.push(enter(&places, &format!("10.0.0.{n}"), &limits).unwrap());
        }
        assert!(held[1..].iter().all(|taken| taken.place.reserved));
        let next = enter(&places, "10.0.0.9", &limits).unwrap();
        held[1].place.gives_way().await;
        held.iter().for_each(|taken| taken.place.set_standing(Standing::Playing));
        next.place.set_standing(Standing::Playing);
        assert!(enter(&places, "10.0.0.10", &limits).is_none());
    }

    #[tokio::test]
    async fn who_comes_alone_is_not_sent_away_by_a_crowd_that_does_not_log_in() {
        let (places, limits) = (Arc::new(Places::default()), limits(1));
        let playing = enter(&places, "10.0.0.1", &limits).unwrap();
        playing.place.set_standing(Standing::Playing);
        let alone = enter(&places, "10.0.0.2", &limits).unwrap();
        let crowd: Vec<_> = (0..20).filter_map(|_| enter(&places, "10.0.0.3", &limits)).collect();
        assert_eq!(crowd.len(), 20, "each takes the place of the one before");
        crowd[0].place.gives_way().await;
        let sent_away = tokio::time::timeout(Duration::ZERO, alone.place.gives_way()).await;
        assert!(sent_away.is_err(), "it keeps its place");
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_knows_since_when_it_is_idle_and_how_far_its_client_is() {
        let (places, limits) = (Arc::new(Places::default()), limits(4));
        let taken = enter(&places, "::ffff:10.0.0.1", &limits).unwrap();
        let (opened, place) = (Instant::now(), &taken.place);
        assert_eq!((place.idle_since(), place.round_trip()), (opened, None));
        assert_eq!(
            (place.standing(), place.address.to_string()),
            (Standing::Stranger, "10.0.0.1".to_owned())
        );
        tokio::time::advance(Duration::from_millis(1500)).await;
        place.is_active(Instant::now());
        place.set_round_trip(Duration::from_micros(1));
        assert_eq!(place.idle_since(), opened + Duration::from_millis(1500));
        assert_eq!(place.round_trip(), Some(Duration::from_micros(1)));
        let standings = [Standing::Stranger, Standing::Idle, Standing::Waiting, Standing::Playing];
        for standing in standings {
            place.set_standing(standing);
            assert_eq!(place.standing(), standing);
        }
    }

    #[tokio::test]
    async fn of_a_crowd_the_idlest_gives_way_first_and_an_address_has_no_more_than_its_share() {
        let (places, mut limits) = (Arc::new(Places::default()), limits(3));
        let crowd: Vec<_> = (0..3).filter_map(|_| enter(&places, "10.0.0.1", &limits)).collect();
        let now = Instant::now();
        for (taken, after) in crowd.iter().zip([2, 1, 3]) {
            taken.place.set_standing(Standing::Idle);
            taken.place.is_active(now + Duration::from_secs(after));
        }
        let _other = enter(&places, "10.0.0.2", &limits).unwrap();
        crowd[1].place.gives_way().await;
        limits.connections_per_address = 2;
        let full = Places::enter(&places, "10.0.0.1".parse().unwrap(), &limits).unwrap_err();
        assert_eq!(full, Full::Address(2));
        limits.connections_per_address = 3;
        assert!(enter(&places, "10.0.0.1", &limits).is_some(), "who gave way has no place any more");
    }

    #[tokio::test]
    async fn of_every_sixteen_places_one_more_is_kept_and_four_at_least() {
        for (connections, kept) in [(1, 4), (64, 4), (80, 5)] {
            let (places, limits) = (Arc::new(Places::default()), limits(connections));
            let mut held = vec![];
            while let Some(taken) = enter(&places, &format!("10.0.{}.1", held.len()), &limits) {
                taken.place.set_standing(Standing::Playing);
                held.push(taken);
            }
            assert_eq!(held.len(), connections + kept);
            assert_eq!(held.iter().filter(|taken| taken.place.reserved).count(), kept);
            let full = Places::enter(&places, "10.1.0.1".parse().unwrap(), &limits).unwrap_err();
            assert_eq!(full, Full::Host(connections));
        }
    }

    #[tokio::test]
    async fn budgets_of_addresses_without_a_connection_are_remembered_up_to_a_bound() {
        let (places, limits) = (Arc::new(Places::default()), Limits::default());
        let pass =
            |n: usize| drop(enter(&places, &format!("10.{}.{}.1", n / 250, n % 250), &limits).unwrap());
        (0..=ABSENT).for_each(pass);
        assert_eq!(places.0.lock().origins.len(), ABSENT + 1);
        pass(ABSENT + 1);
        assert_eq!(places.0.lock().origins.len(), 1);
    }
}
