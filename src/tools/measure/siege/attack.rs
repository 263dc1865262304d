//! Parts of all attacks: the target, the pace, the addresses of the attackers.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

/// The target of an attack, with its end and its counters.
pub struct Target<'a> {
    /// Where the host listens.
    pub address: SocketAddr,
    /// That the attack is over.
    pub stop: &'a AtomicBool,
    /// Packets, connections or games sent so far.
    pub sent: AtomicU64,
}

impl Target<'_> {
    /// True if the attack goes on.
    pub fn stands(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Acts so often a second until the attack is over.
    pub fn repeat(&self, per_second: u32, mut act: impl FnMut()) {
        let mut pace = Pace::new(per_second);
        while self.stands() {
            pace.wait();
            act();
        }
    }

    /// Counts something that was sent.
    pub fn hit(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }
}

/// Bounds what an attacker does: so often a second and not more, however fast the host is. The attackers' processor time
/// is that of the machine under attack, as it would not be if they were elsewhere.
struct Pace {
    every: Duration,
    next: Instant,
}

impl Pace {
    /// So many times a second, from now on.
    fn new(per_second: u32) -> Self {
        Self { every: Duration::from_secs(1) / per_second, next: Instant::now() }
    }

    /// Waits for the next time. What was missed is not made up for.
    fn wait(&mut self) {
        thread::sleep(self.next.saturating_duration_since(Instant::now()));
        self.next = self.next.max(Instant::now()) + self.every;
    }
}

/// Lets the players and the host go first: on another machine the attackers would not compete with them.
pub fn stand_back() {
    let _refused = platform::threads::yield_by(10);
}

/// The address of an attacker: 127.0.0.2 and further, 200 for each third number.
pub fn address(n: usize) -> [u8; 4] {
    [127, 0, (n / 200) as u8, (n % 200 + 2) as u8]
}
