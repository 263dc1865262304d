//! A player whose line dropped in a game, and who comes back.
//!
//! The connection outlives its socket for the grace time: it holds the seat, hears the game, and is the player to
//! everybody else. Who logs in under the same name with the same secret takes the seat from it, also while the old
//! line still seems to be there. The clocks do not stop: who is to move and does not come back loses on time, if that
//! is the sooner.

use super::{
    admission::LoginRequest,
    lobby::{Lobby, LoginId, Message, Offer, Player, Progress, Status},
};
use tokio::sync::{mpsc, oneshot};

/// A login that was accepted.
#[derive(Debug)]
pub struct LoggedIn {
    /// The login.
    pub login: LoginId,
    /// The player's seat in a game that goes on, once its former connection has given it up.
    pub seat: Option<oneshot::Receiver<Box<Offer>>>,
}

impl Lobby {
    /// Enters a player with its id and password.
    pub(super) fn enter(
        &mut self,
        login: LoginId,
        request: &LoginRequest,
        [id, password]: [String; 2],
        secret: Option<String>,
        status: Status,
        mailbox: mpsc::Sender<Message>,
    ) {
        let (name, extended) = (request.name.clone(), request.extended);
        self.names.insert(name.clone(), login);
        self.players.insert(login, Player { name, id, password, secret, extended, status, mailbox });
    }

    pub(super) fn welcome(&mut self, request: &LoginRequest, mailbox: &mpsc::Sender<Message>) -> LoginId {
        let ok = if request.extended { "##[LOGIN] +OK x1\n" } else { "" };
        let lines = format!("LOGIN:{} OK\n{ok}", request.name);
        let _empty_mailbox = mailbox.try_send(Message::Lines(lines));
        self.next_login += 1;
        LoginId(self.next_login - 1)
    }

    /// The login whose running game the request may go on with. Without a secret anybody could come for it.
    pub(super) fn held_for(&self, request: &LoginRequest) -> Option<LoginId> {
        let login = *self.names.get(&request.name)?;
        let Player { status, secret, .. } = self.players.get(&login)?;
        let in_game = matches!(status, Status::InGame(.., Progress::Game));
        let same = secret.is_some() && *secret == request.secret();
        (in_game && same && !self.config.grace().is_zero()).then_some(login)
    }

    /// Lets a player in again who has a game to go on with.
    pub(super) fn come_back(
        &mut self,
        request: &LoginRequest,
        held: LoginId,
        mailbox: mpsc::Sender<Message>,
    ) -> LoggedIn {
        let login = self.welcome(request, &mailbox);
        let (give, seat) = oneshot::channel();
        if let Some(player) = self.players.get(&held) {
            // Who cannot be told drops what it is told with: then there is no seat, and the receiver knows.
            let _behind = player.mailbox.try_send(Message::HandOver(give));
            let (id, password) = (player.id.clone(), request.password.clone());
            let (status, secret) = (player.status.clone(), player.secret.clone());
            self.leave(held);
            self.enter(login, request, [id, password], secret, status, mailbox);
        }
        LoggedIn { login, seat: Some(seat) }
    }
}
