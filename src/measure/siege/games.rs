//! Paced games: both players think for a moment, and note how long their moves took to arrive and what was charged.

use super::client::{Client, now};
use anyhow::{Context, Result};
use std::{
    iter,
    net::SocketAddr,
    sync::atomic::{AtomicU8, Ordering},
    thread::{self, Scope, ScopedJoinHandle},
    time::{Duration, Instant},
};

/// Time that a player thinks.
const PACE: Duration = Duration::from_millis(100);
/// Plies of a game; after 180 the rooks would have repeated a position four times.
const PLIES: usize = 150;
/// Time between two newcomers.
const NEWCOMERS: Duration = Duration::from_millis(2500);
/// Address of the players.
const HONEST: [u8; 4] = [127, 0, 0, 1];
/// Address of the newcomer.
const ELSEWHERE: [u8; 4] = [127, 1, 0, 1];

/// What is going on: nothing, the attack, or the end.
#[derive(Default)]
pub struct Phase(AtomicU8);

impl Phase {
    /// The attack begins.
    pub fn attack(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    /// No move is made any more.
    pub fn end(&self) {
        self.0.store(2, Ordering::Relaxed);
    }

    fn now(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a player or a newcomer notes, in ms; the first is the phase.
pub enum Noted {
    /// How long a move took to the opponent, and what was charged beyond what its mover measured.
    Move(u8, f64, f64),
    /// How long a newcomer took to log in and out.
    Login(u8, f64),
}

/// The names of all players of so many games, and of the newcomer.
pub fn names(games: usize) -> Vec<String> {
    let players = (0..games).flat_map(|game| [format!("black{game}"), format!("white{game}")]);
    players.chain(["newcomer".to_owned()]).collect()
}

/// The players.
pub struct Players<'scope> {
    games: Vec<ScopedJoinHandle<'scope, Result<Vec<Noted>>>>,
    newcomers: ScopedJoinHandle<'scope, Vec<Noted>>,
}

impl<'scope> Players<'scope> {
    /// Begins all games.
    ///
    /// # Errors
    /// When a player cannot log in.
    pub fn begin<'env>(
        scope: &'scope Scope<'scope, 'env>,
        address: SocketAddr,
        games: usize,
        phase: &'env Phase,
    ) -> Result<Self> {
        let login = |name: String| Client::login(HONEST, address, &name);
        let tables: Result<Vec<_>> = (0..games)
            .map(|game| Ok([login(format!("black{game}"))?, login(format!("white{game}"))?]))
            .collect();
        let play = |(game, table): (usize, [Client; 2])| scope.spawn(move || play_on(table, game, phase));
        let games = tables?.into_iter().enumerate().map(play).collect();
        Ok(Self { games, newcomers: scope.spawn(move || come_and_go(address, phase)) })
    }

    /// Waits for the ends of the games; returns the notes, and how many games were lost otherwise than by resignation.
    ///
    /// # Errors
    /// Never so far; kept for the caller, who cannot go on without the notes.
    pub fn end(self) -> Result<(Vec<Noted>, u64)> {
        let (mut noted, mut lost) = (vec![], 0);
        for game in self.games {
            match game.join().ok().context("a player panicked")? {
                Ok(notes) => noted.extend(notes),
                Err(fault) => {
                    eprintln!("a game ended: {fault:#}");
                    lost += 1;
                }
            }
        }
        noted.extend(self.newcomers.join().ok().context("the newcomer panicked")?);
        Ok((noted, lost))
    }
}

/// Logs in and out again and again. A login that fails counts as one that takes as long as the patience lasts.
fn come_and_go(address: SocketAddr, phase: &Phase) -> Vec<Noted> {
    let mut noted = vec![];
    while phase.now() < 2 {
        let (began, at) = (Instant::now(), phase.now());
        let came = Client::login(ELSEWHERE, address, "newcomer").and_then(|mut newcomer| {
            newcomer.say("LOGOUT")?;
            newcomer.until("LOGOUT:completed")
        });
        match came {
            Ok(_) => noted.push(Noted::Login(at, ms(began.elapsed()))),
            Err(fault) => eprintln!("a newcomer did not get in: {fault:#}"),
        }
        thread::sleep(NEWCOMERS);
    }
    noted
}

/// Plays one game after the other.
fn play_on(mut table: [Client; 2], number: usize, phase: &Phase) -> Result<Vec<Noted>> {
    let mut noted = vec![];
    while phase.now() < 2 {
        play(&mut table, number, phase, &mut noted)?;
    }
    Ok(noted)
}

fn play(table: &mut [Client; 2], number: usize, phase: &Phase, noted: &mut Vec<Noted>) -> Result<()> {
    for (player, color) in table.iter_mut().zip(["+", "-"]) {
        player.say(&format!("%%GAME siege{number}-3600-0 {color}"))?;
    }
    for player in &mut *table {
        player.until("END Game_Summary")?;
        player.say("AGREE")?;
    }
    let [began, _] = table.each_mut().map(|player| player.until("START:"));
    let mut began = began?.1;
    let mut plies = 0;
    for (ply, mv) in moves().enumerate().take(PLIES) {
        thread::sleep(PACE);
        let at = phase.now();
        if at == 2 {
            break;
        }
        let sent = now();
        table[ply % 2].say(&mv)?;
        let measured = now().saturating_sub(began);
        let (told, arrived) = table[1 - ply % 2].game_line()?;
        let (echoed, _) = table[ply % 2].game_line()?;
        let charged = told.strip_prefix(&format!("{mv},T")).and_then(|time| time.parse().ok());
        let charged: f64 = charged.with_context(|| format!("`{told}` instead of {mv} and its time"))?;
        anyhow::ensure!(told == echoed, "`{told}` was told, and `{echoed}` to the mover");
        noted.push(Noted::Move(at, ms(arrived.saturating_sub(sent)), charged - ms(measured)));
        (began, plies) = (arrived, ply + 1);
    }
    table[plies % 2].say("%TORYO")?;
    table[plies % 2].until("#LOSE")?;
    table[1 - plies % 2].until("#WIN")?;
    Ok(())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Rooks that move in cycles of different lengths, so that no position comes a fourth time within 180 plies.
fn moves() -> impl Iterator<Item = String> {
    let cycle = |files: &'static [u8], rank: u8, sign: char| {
        let next = files.iter().cycle().skip(1);
        files.iter().cycle().zip(next).map(move |(from, to)| format!("{sign}{from}{rank}{to}{rank}HI"))
    };
    let (mut black, mut white) = (cycle(&[2, 3, 4, 5, 6, 7], 8, '+'), cycle(&[8, 7, 6, 5, 4], 2, '-'));
    let mut blacks = false;
    iter::from_fn(move || {
        blacks = !blacks;
        if blacks { black.next() } else { white.next() }
    })
}

/// What was felt in a phase, in ms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Felt {
    /// Number of moves.
    pub moves: usize,
    /// Time in which 99 of 100 moves arrived.
    pub latency_p99: f64,
    /// What was charged too much for a move, in all but one of 100.
    pub overcharged_p99: f64,
    /// The most that was charged too much.
    pub overcharged_most: f64,
    /// Logins of newcomers.
    pub logins: usize,
    /// The longest of them.
    pub login_most: f64,
}

/// What was felt without and with the attack.
pub fn felt(noted: &[Noted]) -> [Felt; 2] {
    [0, 1].map(|phase| {
        let (mut latencies, mut excess, mut logins) = (vec![], vec![], vec![]);
        for note in noted {
            match *note {
                Noted::Move(at, latency, over) if at == phase => {
                    latencies.push(latency);
                    excess.push(over);
                }
                Noted::Login(at, time) if at == phase => logins.push(time),
                _ => {}
            }
        }
        Felt {
            moves: latencies.len(),
            latency_p99: percentile(&mut latencies, 99),
            overcharged_p99: percentile(&mut excess, 99),
            overcharged_most: percentile(&mut excess, 100),
            logins: logins.len(),
            login_most: percentile(&mut logins, 100),
        }
    })
}

fn percentile(numbers: &mut [f64], percent: usize) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len().saturating_sub(1) * percent / 100).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooks_move_to_and_fro_on_free_squares() {
        let moves: Vec<String> = moves().take(14).collect();
        assert_eq!(moves[..4], ["+2838HI", "-8272HI", "+3848HI", "-7262HI"]);
        assert_eq!(moves[10..], ["+7828HI", "-8272HI", "+2838HI", "-7262HI"]);
    }

    #[test]
    fn phases_are_told_apart_and_percentiles_taken() {
        let noted: Vec<Noted> = (1..=200).map(|n| Noted::Move(n % 2, f64::from(n), -f64::from(n))).collect();
        let [calm, attacked] = felt(&noted);
        assert_eq!((calm.moves, attacked.moves), (100, 100));
        assert_eq!((calm.latency_p99, attacked.latency_p99), (198.0, 197.0));
        assert_eq!((calm.overcharged_most, attacked.overcharged_most), (-2.0, -1.0));
        assert!(calm.login_most.is_nan());
    }
}
