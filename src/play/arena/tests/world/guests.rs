//! The players of an event: scripts behind the seats of a host or of engines, with their faults.

use super::*;

/// The game that guests play, until one of them resigns.
pub(super) const LINE: [&str; 24] = [
    "2g2f", "8c8d", "2f2e", "8d8e", "6i7h", "4a3b", "2e2d", "2c2d", "2h2d", "P*2c", "2d2h", "8e8f", "8g8f",
    "8b8f", "P*8g", "8f8b", "3i3h", "7a7b", "5i6h", "5a4b", "9g9f", "9c9d", "1g1f", "1c1d",
];

/// The players of an event, and what they were told.
pub(super) struct Guests {
    pub(super) random: Mutex<Random>,
    /// True if they do nothing that is a fault.
    pub(super) are_sound: bool,
    pub(super) crowd: Crowd,
    /// The ends of games in the order in which players heard of them.
    pub(super) told: Arc<Mutex<Vec<(GameId, Outcome)>>>,
}

/// Spectators who look away.
#[derive(Debug)]
pub(super) struct Crowd;

impl Spectators for Crowd {
    fn see(&self, _: Sight) {}
}

impl RemotePlayers for Guests {
    fn waits(&self, _: PlayerId) -> bool {
        true
    }

    fn seat(&self, _: Fixture, thread: ActorThread) -> Seating {
        let seats = Color::BOTH.map(|_| {
            let (seat, end) = seat::pair();
            let random = Random(self.random.lock().unwrap().draw());
            thread.run(guest(end, random, self.are_sound, self.told.clone()));
            Some(seat)
        });
        Box::pin(async move { Some(seats) })
    }

    fn spectators(&self) -> &dyn Spectators {
        &self.crowd
    }

    fn settle(&self, _: Duration) {}
}

/// A player at its board, who may leave, think for too long, answer twice or not at all, or play what is no move.
async fn guest(
    mut end: ActorEnd,
    mut random: Random,
    is_sound: bool,
    told: Arc<Mutex<Vec<(GameId, Outcome)>>>,
) {
    let mut game = GameId(0);
    let resigns_at = random.below(LINE.len() as u64 + 1) as usize;
    while let Some(order) = end.inbox.recv().await {
        match order {
            Order::NewGame { game: next, .. } => {
                game = next;
                let rejects = !is_sound && random.chance(4);
                let reply = if rejects { Reply::Rejected { expired: false } } else { Reply::Ready };
                let _over = end.outbox.send((game, reply)).await;
            }
            Order::Go { position, .. } => {
                let plies = position.split_whitespace().skip_while(|word| *word != "moves").skip(1).count();
                let longest = if !is_sound && random.chance(2) { 2 * MAIN * 1000 } else { 1500 };
                let elapsed = Duration::from_millis(random.below(longest));
                sleep(elapsed).await;
                let mv = LINE.get(plies).filter(|_| plies < resigns_at);
                let said = match random.below(200) {
                    _ if is_sound => answer(mv),
                    0 => return,
                    1 => continue,
                    2 => Said::Unreadable("bestmove".to_owned()),
                    3 => Said::Win,
                    _ => answer(mv),
                };
                let answer = Reply::Answer(Answer { said, elapsed, ponders: false, thought: None });
                let times = if !is_sound && random.chance(1) { 2 } else { 1 };
                for _ in 0..times {
                    let _over = end.outbox.send((game, answer.clone())).await;
                }
            }
            Order::Over(outcome) => told.lock().unwrap().push((game, outcome)),
            _ => {}
        }
    }
}

/// The next move of the line, or the end of it.
fn answer(mv: Option<&&str>) -> Said {
    mv.map_or(Said::Resign, |mv| Said::Move(Move::from_usi(mv).unwrap()))
}
