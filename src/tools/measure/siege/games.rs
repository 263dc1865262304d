//! Paced games: both players think for a moment, and note how long their moves took to arrive and what was charged.

use super::{
    client::{Client, now, resign, start},
    felt::Noted,
};
use anyhow::{Context, Result, ensure};
use std::{
    iter,
    net::SocketAddr,
    sync::atomic::{AtomicU8, Ordering},
    thread::{self, Scope, ScopedJoinHandle},
    time::{Duration, Instant},
};

/// Time that a player thinks.
const PACE: Duration = Duration::from_millis(100);
/// Plies of a game, a minute of them.
const PLIES: usize = 600;
/// Plies in which only rooks move.
const ROOKS: usize = 118;
/// Files on which pawns move in between; those of the bishops' diagonals stay closed.
const PAWNS: [(u8, u8); 6] = [(9, 1), (6, 4), (5, 5), (4, 6), (1, 9), (8, 2)];
/// Time between two pairs of newcomers.
const NEWCOMERS: Duration = Duration::from_millis(2500);
/// Names that newcomers have in turn.
const NAMES: usize = 10;

/// The phase: quiet (0), a wave (1 and up), a pause without observations, or the end.
pub struct Phase(AtomicU8);

impl Phase {
    /// The phase in which notes do not count.
    pub const UNNOTED: u8 = 254;
    /// The end.
    const END: u8 = 255;

    /// A phase that does not count.
    pub fn new() -> Self {
        Self(AtomicU8::new(Self::UNNOTED))
    }

    /// Goes on to a phase.
    pub fn set(&self, phase: u8) {
        self.0.store(phase, Ordering::Relaxed);
    }

    /// No move is made any more.
    pub fn end(&self) {
        self.set(Self::END);
    }

    /// The phase now.
    pub fn now(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    /// True if this is the end.
    pub fn is_over(&self) -> bool {
        self.now() == Self::END
    }
}

fn newcomers(number: usize) -> [String; 2] {
    let number = number % NAMES * 2;
    [format!("newcomer{number}"), format!("newcomer{}", number + 1)]
}

/// A game of a table as its players saw it: the charged time of each move, in ms. The side to move resigned.
pub type PlayedGame = Vec<u64>;

/// Observations and games.
#[derive(Default)]
pub struct Sum {
    /// All notes.
    pub noted: Vec<Noted>,
    /// The games of each table.
    pub tables: Vec<Vec<PlayedGame>>,
}

pub struct Players<'scope> {
    games: Vec<ScopedJoinHandle<'scope, Table>>,
    newcomers: ScopedJoinHandle<'scope, Vec<Noted>>,
}

impl<'scope> Players<'scope> {
    /// Begins all games. Each player has an address of its own, as on a network.
    pub fn begin<'env>(
        scope: &'scope Scope<'scope, 'env>,
        address: SocketAddr,
        games: usize,
        phase: &'env Phase,
    ) -> Result<Self> {
        let login = |name: String, number: usize| {
            Client::login([127, 2, (number / 200) as u8, (number % 200 + 1) as u8], address, &name)
        };
        let tables: Result<Vec<_>> = (0..games)
            .map(|game| {
                Ok([login(format!("black{game}"), 2 * game)?, login(format!("white{game}"), 2 * game + 1)?])
            })
            .collect();
        let play = |(number, players): (usize, [Client; 2])| {
            scope.spawn(move || {
                let mut table = Table { number, noted: vec![], games: vec![] };
                if let Err(fault) = table.play_on(players, phase) {
                    eprintln!("a game of black{number} ended: {fault:#}");
                    table.noted.push(Noted::Lost(phase.now()));
                }
                table
            })
        };
        let games = tables?.into_iter().enumerate().map(play).collect();
        Ok(Self { games, newcomers: scope.spawn(move || come_and_go(address, phase)) })
    }

    /// Waits for the ends of the games.
    pub fn end(self) -> Result<Sum> {
        let mut sum = Sum::default();
        for game in self.games {
            let table = game.join().ok().context("a player panicked")?;
            sum.noted.extend(table.noted);
            sum.tables.push(table.games);
        }
        sum.noted.extend(self.newcomers.join().ok().context("the newcomers panicked")?);
        Ok(sum)
    }
}

/// Two newcomers after the other log in, meet in a game, and leave.
fn come_and_go(address: SocketAddr, phase: &Phase) -> Vec<Noted> {
    let (mut noted, mut number) = (vec![], 0);
    while !phase.is_over() {
        let (began, at) = (Instant::now(), phase.now());
        let met = meet(address, number);
        noted.push(match &met {
            Ok(()) => Noted::Newcomers(at, ms(began.elapsed())),
            Err(fault) => {
                eprintln!("newcomers did not get a game: {fault:#}");
                Noted::Refused(at)
            }
        });
        number += 1;
        thread::sleep(NEWCOMERS);
    }
    noted
}

/// Two players log in, are offered a game, agree, and end it.
fn meet(address: SocketAddr, number: usize) -> Result<()> {
    let names = newcomers(number);
    let login = |side: usize| {
        let from = [127, 1, (number / 100 % 250) as u8, (number % 100 * 2 + side + 1) as u8];
        Client::login(from, address, &names[side])
    };
    let mut players = [login(0)?, login(1)?];
    start(&mut players, &format!("{}-600-10", names[0]))?;
    resign(&mut players, 0)?;
    for player in &mut players {
        player.say("LOGOUT")?;
        player.until("LOGOUT:completed")?;
    }
    Ok(())
}

/// Two players and their games, one after the other.
struct Table {
    number: usize,
    noted: Vec<Noted>,
    games: Vec<PlayedGame>,
}

impl Table {
    fn play_on(&mut self, mut players: [Client; 2], phase: &Phase) -> Result<()> {
        while !phase.is_over() {
            self.play(&mut players, phase)?;
        }
        Ok(())
    }

    fn play(&mut self, players: &mut [Client; 2], phase: &Phase) -> Result<()> {
        let mut began = start(players, &format!("siege{}-3600-0", self.number))?;
        let mut played = vec![];
        for (ply, mv) in moves().enumerate().take(PLIES) {
            thread::sleep(PACE);
            if phase.is_over() {
                break;
            }
            let (at, sent) = (phase.now(), now());
            players[ply % 2].say(&mv)?;
            let measured = now().saturating_sub(began);
            let (message, arrived) = players[1 - ply % 2].game_line()?;
            let (echoed, _) = players[ply % 2].game_line()?;
            let charged = message.strip_prefix(&format!("{mv},T")).and_then(|time| time.parse::<u64>().ok());
            let charged = charged.with_context(|| format!("`{message}` instead of {mv} and its time"))?;
            ensure!(message == echoed, "`{message}` to the opponent, and `{echoed}` to the mover");
            let (took, over) = (ms(arrived.saturating_sub(sent)), charged as f64 - ms(measured));
            self.noted.push(Noted::Move { phase: at, clock: 2 * self.number + ply % 2, took, over });
            played.push(charged);
            began = arrived;
        }
        let mover = played.len() % 2;
        self.games.push(played);
        resign(players, mover)
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Rooks that move in cycles of different lengths, and in between a pawn of each side, so that no position comes a fourth
/// time within 840 plies.
pub fn moves() -> impl Iterator<Item = String> {
    let cycle = |files: &'static [u8], rank: u8, sign: char| {
        let next = files.iter().cycle().skip(1);
        files.iter().cycle().zip(next).map(move |(from, to)| format!("{sign}{from}{rank}{to}{rank}HI"))
    };
    let (mut black, mut white) = (cycle(&[2, 3, 4, 5, 6, 7], 8, '+'), cycle(&[8, 7, 6, 5, 4], 2, '-'));
    let mut pawns = PAWNS
        .into_iter()
        .flat_map(|(ours, theirs)| [format!("+{ours}7{ours}6FU"), format!("-{theirs}3{theirs}4FU")]);
    let mut ply = 0;
    iter::from_fn(move || {
        ply += 1;
        match (ply - 1) % (ROOKS + 2) {
            ply if ply >= ROOKS => pawns.next(),
            ply if ply % 2 == 0 => black.next(),
            _ => white.next(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooks_move_to_and_fro_on_free_squares_and_a_pawn_now_and_then() {
        let moves: Vec<String> = moves().take(PLIES + 150).collect();
        assert_eq!(moves[..4], ["+2838HI", "-8272HI", "+3848HI", "-7262HI"]);
        assert_eq!(moves[10..14], ["+7828HI", "-8272HI", "+2838HI", "-7262HI"]);
        assert_eq!(moves[ROOKS..ROOKS + 2], ["+9796FU", "-1314FU"]);
        assert_eq!(moves.len(), PLIES + 150);
    }
}
