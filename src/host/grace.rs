//! A player whose line dropped in a game, and who comes back.
//!
//! The connection outlives its socket for the grace time: it holds the seat, hears the game, and is the player to
//! everybody else. Who logs in under the same name with the same secret takes the seat from it, also while the old
//! line still seems to be there. The clocks do not stop: who is to move and does not come back loses on time, if that
//! is the sooner.

use super::{
    door::Visitor,
    lobby::{Key, Lobby, Note, Offer, Player, Stage, Status},
};
use tokio::sync::{mpsc, oneshot};

/// A login that was accepted.
#[derive(Debug)]
pub struct Entered {
    /// The login.
    pub key: Key,
    /// The player's seat in a game that goes on, once its former connection has given it up.
    pub seat: Option<oneshot::Receiver<Box<Offer>>>,
}

impl Lobby {
    /// Enters a player with its id and password.
    pub(super) fn enter(
        &mut self,
        key: Key,
        visitor: &Visitor,
        [id, password]: [String; 2],
        secret: Option<String>,
        status: Status,
        mailbox: mpsc::Sender<Note>,
    ) {
        let (name, extended) = (visitor.name.clone(), visitor.extended);
        self.names.insert(name.clone(), key);
        self.players.insert(key, Player { name, id, password, secret, extended, status, mailbox });
    }

    pub(super) fn welcome(&mut self, visitor: &Visitor, mailbox: &mpsc::Sender<Note>) -> Key {
        let ok = if visitor.extended { "##[LOGIN] +OK x1\n" } else { "" };
        let lines = format!("LOGIN:{} OK\n{ok}", visitor.name);
        let _empty_mailbox = mailbox.try_send(Note::Lines(lines));
        self.next_key += 1;
        Key(self.next_key - 1)
    }

    /// The login whose running game the visitor may go on with. Without a secret anybody could come for it.
    pub(super) fn held_for(&self, visitor: &Visitor) -> Option<Key> {
        let key = *self.names.get(&visitor.name)?;
        let Player { status, secret, .. } = self.players.get(&key)?;
        let in_game = matches!(status, Status::InGame(.., Stage::Game));
        let same = secret.is_some() && *secret == visitor.secret();
        (in_game && same && !self.config.grace().is_zero()).then_some(key)
    }

    /// Lets a player in again who has a game to go on with.
    pub(super) fn come_back(&mut self, visitor: &Visitor, held: Key, mailbox: mpsc::Sender<Note>) -> Entered {
        let key = self.welcome(visitor, &mailbox);
        let (give, seat) = oneshot::channel();
        if let Some(player) = self.players.get(&held) {
            // Who cannot be told drops what it is told with: then there is no seat, and the receiver knows.
            let _behind = player.mailbox.try_send(Note::HandOver(give));
            let (id, password) = (player.id.clone(), visitor.password.clone());
            let (status, secret) = (player.status.clone(), player.secret.clone());
            self.leave(held);
            self.enter(key, visitor, [id, password], secret, status, mailbox);
        }
        Entered { key, seat: Some(seat) }
    }
}
