//! A game that must continue undisturbed while its host is attacked.

use super::client::{Client, Host};
use rsshogi::{
    board::{LegalAll, MoveList, Position, generate_moves, position_from_sfen},
    types::Move32,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Maximum number of plies; the host must allow as many.
pub const PLIES: usize = 400;
/// Time between two moves.
const PACE: Duration = Duration::from_millis(40);

/// A running game.
pub struct Duel {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<(Duration, String)>>,
}

/// Random numbers from a seed.
pub struct Seeded(pub u64);

impl Seeded {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

impl Duel {
    /// Starts a game between two players with these passwords.
    pub fn begin(host: &Host, passwords: [&str; 2]) -> Self {
        let [black, white] = [("sente", "B"), ("gote", "W")];
        let black = host.connect().login(black.0, &format!("duel-600-10-{},{}", black.1, passwords[0]));
        let white = host.connect().login(white.0, &format!("duel-600-10-{},{}", white.1, passwords[1]));
        let mut players = [black, white];
        for player in &mut players {
            player.until("END Game_Summary");
            player.say("AGREE");
        }
        for player in &mut players {
            assert!(player.line().unwrap().starts_with("START:"));
        }
        let over = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let over = over.clone();
            move || play(players, &over)
        });
        Self { over, thread }
    }

    /// Ends the game and returns its plies. Every move must have reached both players, charged with no more time than
    /// its mover measured.
    pub fn end(self, what: &str) -> u32 {
        self.over.store(true, Ordering::Relaxed);
        let played = self.thread.join().expect("the game was played to its end");
        let mut latencies: Vec<_> = played.iter().map(|(latency, _)| *latency).collect();
        latencies.sort_unstable();
        let p = |percent: usize| latencies[(latencies.len() - 1) * percent / 100].as_secs_f64() * 1000.0;
        let (plies, p50, p99) = (played.len(), p(50), p(99));
        eprintln!("{what}: {plies} moves relayed, p50 {p50:.2} ms, p99 {p99:.2} ms, max {:.2} ms", p(100));
        u32::try_from(plies).unwrap()
    }
}

fn play(mut players: [Client; 2], over: &AtomicBool) -> Vec<(Duration, String)> {
    let mut played = vec![];
    let mut turn = Instant::now();
    let moves = legal_moves(PLIES);
    for (ply, mv) in moves.iter().enumerate() {
        if over.load(Ordering::Relaxed) {
            break;
        }
        thread::sleep(PACE);
        let sent_at = Instant::now();
        players[ply % 2].say(mv);
        let relayed = players[1 - ply % 2].line().expect("the game continues");
        played.push((sent_at.elapsed(), relayed.clone()));
        assert_eq!(players[ply % 2].line().as_ref(), Some(&relayed));
        let (relayed_move, charged) = relayed.split_once(",T").expect("a move with its time");
        assert_eq!(relayed_move, mv);
        assert!(
            charged.parse::<u64>().unwrap() <= turn.elapsed().as_secs(),
            "{relayed} after {:?}",
            turn.elapsed()
        );
        turn = Instant::now();
    }
    let loser = played.len() % 2;
    players[loser].say("%TORYO");
    players[1 - loser].until("#WIN");
    players[loser].until("#LOSE");
    played
}

/// A long game of legal moves, always the same.
pub fn legal_moves(plies: usize) -> Vec<String> {
    rsshogi::board::init();
    let mut position: Position = position_from_sfen(referee::opening::EVEN).unwrap();
    position.init_stack();
    let (mut seeded, mut moves) = (Seeded(7), vec![]);
    while moves.len() < plies {
        let mut legal = MoveList::new();
        generate_moves::<LegalAll>(&position, &mut legal);
        let legal: Vec<_> = legal.iter().copied().collect();
        assert!(!legal.is_empty(), "the seed gives too short a game: {}", moves.len());
        let mv = legal[seeded.below(legal.len())];
        let mv = Move32::from_move_with_piece(mv, position.moved_piece_after_move(mv));
        moves.push(mv.to_csa().unwrap());
        position.apply_move32(mv);
    }
    moves
}
