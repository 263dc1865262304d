//! What strangers may cost, counted once for all events that are shown at one address.

use crate::turns::{Room, Turns};
use parking_lot::Mutex;
use platform::limits::Counts;
use std::{net::IpAddr, sync::Arc, time::Duration};

/// Questions that are answered at once, one of an address; the others wait.
const QUESTIONS: Room = Room { places: 2, places_each: 1, waiting: 128, waiting_each: 32 };
/// Logins that are checked: one at a time, one of an address or a known browser.
const LOGINS: Room = Room { places: 1, places_each: 1, waiting: 256, waiting_each: 1 };
/// Passwords of strangers that are checked or hashed, apart from logins.
const STRANGERS: Room = Room { places: 1, places_each: 1, waiting: 64, waiting_each: 1 };
/// Registrations of an address, and for how long they count.
const REGISTRATIONS: (u32, Duration) = (5, Duration::from_secs(3600));
/// Appeals of an address, and for how long they count.
const APPEALS: (u32, Duration) = (5, Duration::from_secs(3600));

/// For whom logins and wrong passwords count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Guesser {
    /// An address.
    Address(IpAddr),
    /// A browser where somebody has logged in to this account before.
    Browser([u8; 32]),
}

/// The queues and counts of those who ask. All copies are one.
#[derive(Clone, Debug)]
pub struct Crowd(pub(crate) Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    /// The queue for the databases, by address.
    pub questions: Arc<Turns<IpAddr>>,
    pub logins: Arc<Turns<Guesser>>,
    pub strangers: Arc<Turns<IpAddr>>,
    pub registrations: Mutex<Counts<IpAddr>>,
    pub appeals: Mutex<Counts<IpAddr>>,
}

impl Default for Crowd {
    fn default() -> Self {
        Self(Arc::new(Shared {
            questions: Turns::new(QUESTIONS),
            logins: Turns::new(LOGINS),
            strangers: Turns::new(STRANGERS),
            registrations: Mutex::new(Counts::within(REGISTRATIONS)),
            appeals: Mutex::new(Counts::within(APPEALS)),
        }))
    }
}
