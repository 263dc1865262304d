//! Games of clients that answer at once: paced, or as fast as the host relays their moves.

use crate::siege::{
    client::{Client, now, resign, start},
    moves,
};
use anyhow::{Context, Result};
use std::{
    net::SocketAddr,
    sync::atomic::{AtomicU8, Ordering},
    thread::{self, Scope, ScopedJoinHandle},
    time::{Duration, Instant},
};

/// Time between two moves of a paced game: two a second.
const PACE: Duration = Duration::from_millis(500);
/// Plies of a game. No position comes a fourth time within 840.
const PLIES: usize = 600;

/// The phase of the games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Paced, and nothing is noted.
    Rest,
    /// Paced, without viewers.
    Paced,
    /// As fast as it goes, without viewers.
    Full,
    /// Paced, before viewers.
    PacedWatched,
    /// As fast as it goes, before viewers.
    FullWatched,
    /// No more moves.
    End,
}

impl Phase {
    const ALL: [Self; 6] =
        [Self::Rest, Self::Paced, Self::Full, Self::PacedWatched, Self::FullWatched, Self::End];

    fn is_paced(self) -> bool {
        !matches!(self, Self::Full | Self::FullWatched)
    }
}

/// The phase, as all threads see it.
pub struct Course(AtomicU8);

impl Course {
    /// Begins with a rest.
    pub fn new() -> Self {
        Self(AtomicU8::new(Phase::Rest as u8))
    }

    /// Goes on to a phase.
    pub fn set(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Relaxed);
    }

    pub fn now(&self) -> Phase {
        Phase::ALL.get(usize::from(self.0.load(Ordering::Relaxed))).copied().unwrap_or(Phase::End)
    }
}

/// A move on its way to the opponent.
pub struct Relayed {
    /// The phase in which it was sent.
    pub phase: Phase,
    /// From its sender to the opponent's end of the connection, in µs.
    pub took: u32,
}

/// A game: its name, and when each move was sent, in µs since 1970.
pub struct Played {
    /// The Game_ID.
    pub id: String,
    /// The phase and the time of each ply.
    pub sent: Vec<(Phase, u64)>,
}

/// Everything that was played.
#[derive(Default)]
pub struct Sum {
    /// Moves in the phases that count.
    pub relayed: Vec<Relayed>,
    pub games: Vec<Played>,
}

/// The threads of all tables.
pub struct Players<'scope>(Vec<ScopedJoinHandle<'scope, Result<Sum>>>);

impl<'scope> Players<'scope> {
    /// Logs everybody in and begins all games.
    pub fn begin<'env>(
        scope: &'scope Scope<'scope, 'env>,
        address: SocketAddr,
        tables: usize,
        course: &'env Course,
    ) -> Result<Self> {
        let login = |color: &str, table: usize| {
            let from = [127, 2, (table / 200) as u8, (table % 200 + 1) as u8];
            Client::login(from, address, &format!("{color}{table}"))
        };
        let players: Result<Vec<_>> =
            (0..tables).map(|table| Ok([login("black", table)?, login("white", table)?])).collect();
        let begun = Instant::now();
        let play = |(number, players): (usize, [Client; 2])| {
            // Spread over the time of a move, so that not all games move at once.
            let first = begun + PACE * (number as u32) / (tables as u32);
            scope.spawn(move || Table { number, players, first, sum: Sum::default() }.play_on(course))
        };
        Ok(Self(players?.into_iter().enumerate().map(play).collect()))
    }

    /// Waits for the ends of all games.
    ///
    /// # Errors
    /// When a game ended otherwise than its players wanted.
    pub fn end(self) -> Result<Sum> {
        let mut sum = Sum::default();
        for table in self.0 {
            let played = table.join().ok().context("a player panicked")??;
            sum.relayed.extend(played.relayed);
            sum.games.extend(played.games);
        }
        Ok(sum)
    }
}

struct Table {
    number: usize,
    players: [Client; 2],
    /// When its first paced move is due; the others follow at the pace.
    first: Instant,
    sum: Sum,
}

impl Table {
    fn play_on(mut self, course: &Course) -> Result<Sum> {
        while course.now() != Phase::End {
            self.play(course).with_context(|| format!("table {}", self.number))?;
        }
        Ok(self.sum)
    }

    fn play(&mut self, course: &Course) -> Result<()> {
        let name = format!("web{}-36000-0", self.number);
        let mut game = Played { id: start(&mut self.players, &name)?.0, sent: vec![] };
        for (ply, mv) in moves().enumerate().take(PLIES) {
            if course.now().is_paced() {
                let over = self.first.elapsed().as_micros() % PACE.as_micros();
                thread::sleep(PACE - Duration::from_micros(u64::try_from(over).unwrap_or(0)));
            }
            let (phase, sent) = (course.now(), now());
            if phase == Phase::End {
                break;
            }
            self.players[ply % 2].say(&mv)?;
            let (_, arrived) = self.players[1 - ply % 2].game_line()?;
            self.players[ply % 2].game_line()?;
            game.sent.push((phase, micros(sent)));
            if phase != Phase::Rest && course.now() == phase {
                let took = u32::try_from(arrived.saturating_sub(sent).as_micros()).unwrap_or(u32::MAX);
                self.sum.relayed.push(Relayed { phase, took });
            }
        }
        let mover = game.sent.len() % 2;
        self.sum.games.push(game);
        resign(&mut self.players, mover)
    }
}

/// µs since 1970.
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
