//! The mailbox of a connection: a lane for its game and its login, and one for lines. Lines can fill their own lane only,
//! so neither chat nor spectators' lines keep a player from a game.

use arena::actor_thread::ActorThread;
use referee::entry::GameId;
use seat::csa_host::CsaHost;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use tokio::sync::{mpsc, oneshot};

/// Messages about its game and its login that can be under way to a connection: an offer, and one that ends it. The next
/// offer comes only after the game before is over.
const PRIORITY: usize = 8;
/// Lines, or blocks of them, that may wait for a connection.
const LINES: usize = 64;
/// Places that chat leaves free for other lines.
const ABOVE_CHAT: usize = 32;
/// Places that lines of watched games leave free for answers.
const ABOVE_SIGHTS: usize = 8;

/// A message to a connection about its game or its login.
#[derive(Debug)]
pub enum Message {
    /// A game to be played.
    Game(Box<Offer>),
    /// The same player has logged in again: the connection closes.
    Replaced,
    /// The same player has logged in again to go on with its game: the connection hands the game over and closes.
    HandOver(oneshot::Sender<Box<Offer>>),
    /// The operator sends the player away, with that text. A game goes on as after a lost connection.
    SentAway(Arc<str>),
    /// The host closes.
    Closing,
}

/// A seat in a game.
#[derive(Debug)]
pub struct Offer {
    /// The conversation.
    pub host: CsaHost,
    /// The game.
    pub game: GameId,
    /// The thread of the game.
    pub thread: ActorThread,
}

/// The lobby's end of a mailbox.
#[derive(Clone, Debug)]
pub struct Mailbox {
    priority: mpsc::Sender<Message>,
    lines: mpsc::Sender<Arc<str>>,
    left_out: Arc<AtomicU32>,
}

/// The connection's end of a mailbox.
#[derive(Debug)]
pub struct Inbox {
    /// Messages about the game and the login.
    pub priority: mpsc::Receiver<Message>,
    /// Lines to send.
    pub lines: mpsc::Receiver<Arc<str>>,
    left_out: Arc<AtomicU32>,
}

/// A new mailbox.
pub fn mailbox() -> (Mailbox, Inbox) {
    let (priority, priority_end) = mpsc::channel(PRIORITY);
    let (lines, lines_end) = mpsc::channel(LINES);
    let left_out = Arc::<AtomicU32>::default();
    let inbox = Inbox { priority: priority_end, lines: lines_end, left_out: left_out.clone() };
    (Mailbox { priority, lines, left_out }, inbox)
}

impl Mailbox {
    /// Sends a message about the game or the login; false when the connection is gone.
    pub fn tell(&self, message: Message) -> bool {
        self.priority.try_send(message).is_ok()
    }

    /// True if an answer has room. It is asked before the answer is made.
    pub fn has_room(&self) -> bool {
        self.lines.capacity() > 0
    }

    /// Sends an answer.
    pub fn answer(&self, lines: impl Into<Arc<str>>) {
        self.send(lines.into(), 0);
    }

    /// Sends lines of a game that is watched. They are left out for a client that does not read them.
    pub fn show(&self, lines: Arc<str>) {
        self.send(lines, ABOVE_SIGHTS);
    }

    /// Sends a chat. It is dropped for a client that is behind with reading.
    pub fn chat(&self, line: Arc<str>) {
        if self.lines.capacity() > ABOVE_CHAT {
            let _gone = self.lines.try_send(line);
        }
    }

    fn send(&self, lines: Arc<str>, spare: usize) {
        if self.lines.capacity() <= spare || self.lines.try_send(lines).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Inbox {
    /// How many answers and sights were left out since this was last asked.
    pub fn left_out(&self) -> u32 {
        self.left_out.swap(0, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_and_watched_games_fill_neither_the_lane_of_games_nor_the_places_of_answers() {
        let (mailbox, mut inbox) = mailbox();
        (0..1000).for_each(|_| mailbox.chat("chat\n".into()));
        assert_eq!(inbox.lines.len(), LINES - ABOVE_CHAT);
        assert_eq!(inbox.left_out(), 0, "nobody misses chat");
        (0..1000).for_each(|_| mailbox.show("move\n".into()));
        assert_eq!(inbox.lines.len(), LINES - ABOVE_SIGHTS);
        assert!(mailbox.has_room() && mailbox.tell(Message::Closing));
        mailbox.answer("answer\n");
        assert_eq!(inbox.lines.len(), LINES - ABOVE_SIGHTS + 1);
        assert_eq!(inbox.left_out(), 1000 - (ABOVE_CHAT - ABOVE_SIGHTS) as u32, "the reader is told of it");
        while inbox.lines.try_recv().is_ok() {}
        assert_eq!(inbox.left_out(), 0);
    }
}
