//! The lobby: decides on logins and pairings, and sends players and spectators their lines.
//!
//! The lobby decides; the facts are in its registries ([`Presence`], [`Games`], [`Buoys`]), and an [`Arranger`] makes
//! the games. Nothing here waits or owns a socket: lines for a player go into the mailbox of its connection, arranged
//! games go out through a channel. It works on a thread of its own, for which no game waits.
//!
//! # Players whose connection drops in a game
//! The connection outlives its socket for the grace time: it keeps the seat, hears the game, and is the player to
//! everybody else. A login under the same name with the same secret takes the seat from it, also while the old socket
//! still seems to be open. The clocks do not stop: a player who is to move and does not come back loses on time, if
//! that is the sooner.

use super::{
    arrange::{ArrangedGame, Arranger},
    buoys::Buoys,
    entrants::Entrants,
    error::HostError,
    games::{Games, Shown},
    mailbox::{Mailbox, Message, Offer},
    places::Place,
    presence::{LoginId, Player, Presence, Progress, Status},
    quotas::{Asker, Quotas},
    rating_history::RatingHistory,
    requests::{LoggedIn, LoginRequest, Membership, Note, PASSWORD, Refusal},
    visits::Visits,
};
use arena::{
    actor_thread::ActorThread, disk::DiskWatch, operations::Operations, play::Fixture, spectators::Sight,
};
use contest::schedule::Pairing;
use notation::csa::{
    game_name::{Entry, GameName, Wish, player_id},
    summary::Summary,
    wire::is_player_name,
};
use plan::serve::{Compat, Login, ServeConfig};
use referee::{
    Color,
    clock::TimeControl,
    entry::{GameId, GameStarted, PlayerId},
    operation::InForce,
    sink::{Buoy, SideRecord},
};
use seat::Seat;
use std::{net::IpAddr, sync::Arc, time::Instant};
use tokio::sync::{mpsc, oneshot};

/// Why no game begins on a disk without room.
pub(super) const NEARLY_FULL: &str =
    "the disk of this host is nearly full: no new games begin until there is room";

/// The lobby of a host.
#[derive(Debug)]
pub struct Lobby {
    pub(super) config: Arc<ServeConfig>,
    pub(super) presence: Presence,
    pub(super) games: Games,
    pub(super) buoys: Buoys,
    pub(super) arranger: Arranger,
    pub(super) history: RatingHistory,
    /// How players come to their games.
    matchmaking: Matchmaking,
    /// How many games may begin, by player and address.
    quotas: Quotas,
    /// Whether there is room on the disk for new games.
    pub(super) disk: DiskWatch,
    /// What the operator has ordered.
    pub(super) operations: Operations,
    /// Lines about logins and departures.
    pub(super) visits: Visits,
    /// No game begins any more.
    pub(super) closing: bool,
    /// The answer to `%%RATING`, and when it was made.
    pub(super) rated: Option<(Instant, Arc<str>)>,
}

/// How players come to their games.
#[derive(Debug)]
pub enum Matchmaking {
    /// Players who ask for the same game meet: an open league.
    Open(GameQueue),
    /// The schedule of an event pairs its entrants.
    Scheduled(Entrants),
}

/// The way out for arranged games, with their numbers.
#[derive(Debug)]
pub struct GameQueue {
    sender: mpsc::UnboundedSender<ArrangedGame>,
    next: GameId,
    /// The threads that games are played on, in turn.
    threads: Vec<ActorThread>,
}

impl GameQueue {
    /// A queue whose first game has the number `next`; there is at least one thread.
    pub fn new(sender: mpsc::UnboundedSender<ArrangedGame>, next: GameId, threads: Vec<ActorThread>) -> Self {
        Self { sender, next, threads }
    }

    fn number(&mut self) -> (GameId, ActorThread) {
        let game = self.next;
        self.next = GameId(game.0 + 1);
        (game, self.threads[game.0 as usize % self.threads.len()].clone())
    }
}

impl Lobby {
    /// An empty lobby with the buoys of earlier runs.
    pub fn new(
        arranger: Arranger,
        matchmaking: Matchmaking,
        buoys: Vec<Buoy>,
        history: RatingHistory,
        operations: Operations,
    ) -> Self {
        let config = arranger.config.clone();
        let buoys = Buoys::new(buoys, config.limits, arranger.transcripts.sink().clone());
        let (presence, games, quotas) =
            (Presence::default(), Games::new(config.http.private.clone()), Quotas::new(config.limits));
        let disk = DiskWatch::default();
        Self {
            config,
            presence,
            games,
            buoys,
            arranger,
            history,
            matchmaking,
            quotas,
            disk,
            operations,
            visits: Visits::default(),
            closing: false,
            rated: None,
        }
    }

    /// Logs a player in. In CSA mode it waits for its game at once. An earlier login of the name gives way if it is of the
    /// same player and has no game.
    ///
    /// # Errors
    /// The answer to a login that is refused.
    pub fn login(
        &mut self,
        request: &LoginRequest,
        mailbox: Mailbox,
        place: Arc<Place>,
        notes: &mpsc::UnboundedSender<Note>,
    ) -> Result<LoggedIn, Refusal> {
        let LoginRequest { name, password, extended, trip, returning_only } = request;
        if !is_player_name(name) || password.len() > PASSWORD {
            return Err(Refusal::new("", true));
        }
        if let Some(bad) = Entry::fault(password).filter(|_| self.is_open() && !extended) {
            return Err(Refusal::new(&format!("{bad}\n"), true));
        }
        self.unbarred(request, &place)?;
        if let Some(former) = self.resumable(request) {
            let (login, seat) = self.resume(request, former, mailbox, place);
            if self.closing
                && let Some(player) = self.presence.get(login)
            {
                let _gone = player.mailbox.tell(Message::Closing);
            }
            self.visited(login, |name, address| format!("{name} is back in its game, from {address}"));
            return Ok(logged_in(request, login, notes, Some(seat)));
        }
        if self.closing {
            return Err(Refusal::because(request, "the host is closing"));
        }
        if *returning_only && !self.is_entrant(name) {
            return Err(Refusal::because(request, "the host is full; try again later"));
        }
        self.displace(request, &place)?;
        let id = self.shown_id(request);
        match self.is_open() {
            true => self.recognise(request, &id),
            false => self.admit(name, &id, trip.as_deref(), *extended)?,
        }
        let login = self.enter(request, id, Status::Connected, mailbox, place);
        self.visited(login, |name, address| format!("{name} logged in from {address}"));
        match &self.matchmaking {
            Matchmaking::Scheduled(_) => self.await_round(login),
            Matchmaking::Open(_) if !extended => {
                let entry = Entry::read(password);
                self.seek(login, entry.game, entry.wish, false);
            }
            Matchmaking::Open(_) => {}
        }
        Ok(logged_in(request, login, notes, None))
    }

    /// Admits an entrant of the event, known by its trip from then on, or a spectator.
    pub(super) fn admit(
        &mut self,
        name: &str,
        id: &str,
        trip: Option<&str>,
        extended: bool,
    ) -> Result<(), Refusal> {
        if let Matchmaking::Scheduled(entrants) = &mut self.matchmaking {
            let bound = entrants.admit(name, id, trip, extended)?;
            bound.into_iter().for_each(|bound| self.arranger.sink().keep(SideRecord::Bound(bound)));
        }
        Ok(())
    }

    /// Whether the operator keeps a login out: by a ban, or, of players who have not played yet, by a closed registration.
    fn unbarred(&self, request: &LoginRequest, place: &Place) -> Result<(), Refusal> {
        let reason = |in_force: &InForce| Some(in_force.ban(&request.name, place.address)?.reason.clone());
        if let Some(reason) = self.operations.in_force(reason) {
            let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            return Err(Refusal::because(request, &format!("the operator has banned you{why}")));
        }
        let closed = self.is_open() && self.operations.in_force(InForce::registration_is_closed);
        match closed && !self.has_played(request) {
            true => Err(Refusal::because(
                request,
                "the registration is closed: only players who have played here may log in",
            )),
            false => Ok(()),
        }
    }

    /// Gives the place of an entrant of the event to another; `None` in an open league.
    pub(super) fn swap_entrant(
        &mut self,
        out: &str,
        substitute: &str,
    ) -> Result<Option<PlayerId>, words::Message> {
        match &mut self.matchmaking {
            Matchmaking::Scheduled(entrants) => entrants.swap(out, substitute).map(Some),
            Matchmaking::Open(_) => Ok(None),
        }
    }

    /// True if a player has played here, under whichever form of the trip.
    fn has_played(&self, request: &LoginRequest) -> bool {
        let roster = self.arranger.roster();
        roster.knows(&self.shown_id(request)) || former_ids(request).iter().any(|former| roster.knows(former))
    }

    /// True if players come to the event as they like.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.matchmaking, Matchmaking::Open(_))
    }

    /// True if the name is that of an entrant of the event, for whom a game may wait.
    fn is_entrant(&self, name: &str) -> bool {
        matches!(&self.matchmaking, Matchmaking::Scheduled(entrants) if entrants.game_of(name).is_some())
    }

    /// The id by which others know the player. A password that the host keeps is not shown to others, in no form.
    fn shown_id(&self, request: &LoginRequest) -> String {
        let LoginRequest { name, trip, .. } = request;
        match (self.config.login, self.config.compat, trip) {
            (Login::Open, Compat::Protocol, Some(trip)) => format!("{name}+{trip}"),
            (Login::Open, Compat::ShogiServer, _) => player_id(name, request.secret().as_deref()),
            _ => name.clone(),
        }
    }

    /// Renames a player of the event who is known by the other form of its trip: that of
    /// another `compat`. Only who has the secret can log in with both.
    fn recognise(&mut self, request: &LoginRequest, id: &str) {
        if self.config.login != Login::Open {
            return;
        }
        for former in former_ids(request).iter().filter(|former| *former != id) {
            if let Some(renamed) = self.arranger.roster().rename(former, id) {
                self.arranger.sink().happened(renamed);
                self.buoys.owner_renamed(former, id);
                tracing::info!(target: "host", id, "a player of earlier runs is known by a new trip");
            }
        }
    }

    /// Makes an earlier login of the name give way. Players without a secret are the same if they come from one
    /// address, or are an entrant, whose whole password is its secret.
    fn displace(&mut self, request: &LoginRequest, place: &Place) -> Result<(), Refusal> {
        let LoginRequest { name, password, .. } = request;
        let Some((former, player)) = self.presence.named(name) else { return Ok(()) };
        let mark = request.mark();
        let same = match &player.mark {
            Some(_) => self.is_same(request, player),
            None => {
                let bound = matches!(self.matchmaking, Matchmaking::Scheduled(_));
                let near = bound || player.place.origin == place.origin;
                mark.is_none() && player.password == *password && near
            }
        };
        if !same || player.is_in_game() {
            let why = format!("username {name} is already connected");
            let guessed = !same && player.mark.is_some() && mark.is_some();
            return Err(Refusal { guessed, ..Refusal::because(request, &why) });
        }
        let _leaving_already = player.mailbox.tell(Message::Replaced);
        self.leave(former);
        Ok(())
    }

    fn enter(
        &mut self,
        request: &LoginRequest,
        id: String,
        status: Status,
        mailbox: Mailbox,
        place: Arc<Place>,
    ) -> LoginId {
        let LoginRequest { name, password, extended, trip, .. } = request.clone();
        // shogi-server sends chat to players in a game, too.
        let (mark, chats_in_games) = (request.mark(), self.config.compat == Compat::ShogiServer);
        self.presence.enter(Player {
            mark,
            trip,
            name,
            id,
            password,
            extended,
            status,
            chats_in_games,
            mailbox,
            place,
        })
    }

    /// The login whose running game the request may go on with. Without a secret anybody could come for it.
    fn resumable(&self, request: &LoginRequest) -> Option<LoginId> {
        let (login, player) = self.presence.named(&request.name)?;
        let in_game = matches!(player.status, Status::InGame(.., Progress::Game));
        (in_game && self.is_same(request, player) && !self.config.grace().is_zero()).then_some(login)
    }

    /// True if a login is known to be of the player of its name. The password of an account was checked on the way in, and
    /// may be a new one since that player came.
    fn is_same(&self, request: &LoginRequest, player: &Player) -> bool {
        player.mark.is_some() && (self.config.login == Login::Accounts || player.mark == request.mark())
    }

    /// Logs a player in who goes on with a game.
    fn resume(
        &mut self,
        request: &LoginRequest,
        former: LoginId,
        mailbox: Mailbox,
        place: Arc<Place>,
    ) -> (LoginId, oneshot::Receiver<Box<Offer>>) {
        let (give, seat) = oneshot::channel();
        let (mut id, mut status) = (String::new(), Status::Connected);
        if let Some(player) = self.presence.get(former) {
            // If the connection is gone, the sender is dropped, so the receiver sees no seat.
            let _gone = player.mailbox.tell(Message::HandOver(give));
            (id, status) = (player.id.clone(), player.status.clone());
            self.leave(former);
        }
        (self.enter(request, id, status, mailbox, place), seat)
    }

    /// Removes a player, also from the spectators of games.
    pub fn leave(&mut self, login: LoginId) {
        // Nobody watches games in CSA mode.
        if self.presence.remove(login).is_some_and(|player| player.extended) {
            self.games.forget(login);
        }
    }

    /// A player's connection has ended in its game.
    pub fn dropped(&self, login: LoginId) {
        let grace = self.config.grace().as_secs();
        self.visited(login, |name, _| {
            format!("{name} lost its connection in its game, and has {grace} s to come back")
        });
    }

    /// A player has left.
    pub fn left(&mut self, login: LoginId) {
        self.visited(login, |name, _| format!("{name} left"));
        self.leave(login);
    }

    fn visited(&self, login: LoginId, line: impl FnOnce(&str, IpAddr) -> String) {
        if let Some(player) = self.presence.get(login) {
            let line = line(&player.name, player.place.address);
            self.visits.happened(&player.place, tokio::time::Instant::now(), &line);
        }
    }

    /// Answers a player.
    pub(super) fn send(&self, login: LoginId, lines: impl Into<Arc<str>>) {
        if let Some(player) = self.presence.get(login) {
            player.mailbox.answer(lines);
        }
    }

    /// Sends an error to a player.
    pub(super) fn error(&self, login: LoginId, text: &str) {
        self.send(login, format!("##[ERROR] {text}\n"));
    }

    /// Notes the progress of the player's game.
    pub fn progressed(&mut self, login: LoginId, progress: Progress) {
        self.presence.set_progress(login, progress);
    }

    /// Frees a player whose game is over.
    pub fn free(&mut self, login: LoginId) {
        self.presence.set_status(login, Status::Connected);
        self.await_round(login);
    }

    /// Takes what a game shows, and shows it to its spectators.
    pub fn see(&mut self, shown: &Shown) {
        let sight = match shown {
            Shown::Comment(game, mv, comment) => return self.games.commented(*game, mv, comment),
            Shown::Sight(sight) => sight,
        };
        if let Sight::Started(started) = sight
            && !self.games.contains(started.game)
        {
            let GameStarted { game, pairing, start, opening, times } = &**started;
            self.announce(*game, pairing, (start, opening), times.as_deref());
        }
        if let Sight::Ended { game, .. } = sight {
            self.quotas.ended(*game);
        }
        let shown = self.games.see(sight);
        for (login, lines) in shown {
            if let Some(player) = self.presence.get(login) {
                player.mailbox.show(lines);
            }
        }
    }

    /// Removes a game that could not be set up.
    pub fn cancelled(&mut self, game: GameId) {
        self.games.remove(game);
        self.quotas.ended(game);
    }

    /// Ends matchmaking: no new games, and players without a game are sent away.
    pub fn close(&mut self) {
        self.closing = true;
        for (_, player) in self.presence.iter() {
            let _leaving_already = player.mailbox.tell(Message::Closing);
        }
    }

    /// Makes a player wait for an opponent, or meet one who waits. A player who cannot is sent the reason.
    pub(super) fn seek(&mut self, login: LoginId, game: GameName, wish: Wish, challenge: bool) {
        if matches!(self.matchmaking, Matchmaking::Scheduled(_)) {
            return self.await_round(login);
        }
        if let Err(why) = self.admissible(&game, wish) {
            return self.error(login, &why.to_string());
        }
        if self.is_hindered(login) {
            return;
        }
        if self.operations.is_paused() {
            if self.presence.get(login).is_some_and(|player| player.extended) {
                self.send(login, "##[OPERATOR] the event is paused: the game begins later\n".to_owned());
            }
            return self.presence.set_status(login, Status::GameWaiting(game, wish));
        }
        match self.rival(login, &game, wish) {
            Some(rival) => self.meet(game, rival, (login, wish)),
            None if challenge => self.error(login, &format!("can't find rival for {game}")),
            None => self.presence.set_status(login, Status::GameWaiting(game, wish)),
        }
    }

    /// True if no game begins because the disk is nearly full.
    pub(super) fn is_disk_low(&self) -> bool {
        self.disk.is_low()
    }

    /// Finds a player who waits for the same game and may begin one.
    fn rival(&mut self, login: LoginId, game: &GameName, wish: Wish) -> Option<(LoginId, Wish)> {
        if game.is_floodgate() {
            return None;
        }
        loop {
            let mut waiting = self.presence.waiting_for(game);
            let fits = |(other, _, theirs): (LoginId, &Player, Wish)| {
                (other != login && theirs.fits(wish)).then_some((other, theirs))
            };
            let rival = waiting.find_map(fits)?;
            drop(waiting);
            if !self.is_hindered(rival.0) {
                return Some(rival);
            }
        }
    }

    /// Lets players meet who have waited for the same game while none began.
    pub(super) fn seek_again(&mut self) {
        let waits = |login: &LoginId, presence: &Presence| match &presence.get(*login)?.status {
            Status::GameWaiting(game, wish) => Some((game.clone(), *wish)),
            _ => None,
        };
        let logins: Vec<LoginId> = self.presence.iter().map(|(login, _)| login).collect();
        for login in logins {
            if let Some((game, wish)) = waits(&login, &self.presence) {
                self.seek(login, game, wish, false);
            }
        }
    }

    /// True if a player has used up a quota; the player then gets the reason and leaves the queue for games.
    pub(super) fn is_hindered(&mut self, login: LoginId) -> bool {
        let Some(player) = self.presence.get(login) else { return true };
        let (id, origin) = (player.id.as_str(), player.place.origin);
        let asker = Asker { id, origin, is_new: !self.arranger.roster().knows(id) };
        let Err(why) = self.quotas.admit(asker, tokio::time::Instant::now()) else { return false };
        self.error(login, &why.to_string());
        self.presence.set_status(login, Status::Connected);
        true
    }

    pub(super) fn admissible(&self, game: &GameName, wish: Wish) -> Result<(), HostError> {
        if self.closing {
            Err(HostError::Closing)
        } else if self.disk.is_low() {
            Err(HostError::NearlyFull)
        } else if game.is_stop_watch() && game.time().main.is_zero() {
            Err(HostError::StopWatch(game.clone()))
        } else if game.is_buoy() && !self.buoys.contains(game.as_str()) {
            Err(HostError::NoBuoy(game.to_string()))
        } else if game.is_floodgate() && wish != Wish::Either {
            Err(HostError::Color(game.clone(), wish))
        } else if game.handicap().is_some() && wish == Wish::Either {
            Err(HostError::NoColor)
        } else {
            Ok(())
        }
    }

    /// Begins a game of two players. The one who waited has its colour; where neither asks for one, it is drawn.
    fn meet(&mut self, name: GameName, waiting: (LoginId, Wish), coming: (LoginId, Wish)) {
        let color = waiting.1.color().or(coming.1.color().map(|color| !color));
        let waits_black = color.map_or_else(rand::random, |color| color == Color::Black);
        let players = if waits_black { [waiting.0, coming.0] } else { [coming.0, waiting.0] };
        self.begin(&name, players, 1);
    }

    /// Begins a game of two players, black first, in a round counted from 1.
    pub(super) fn begin(&mut self, name: &GameName, logins: [LoginId; 2], round: u32) {
        let Matchmaking::Open(queue) = &mut self.matchmaking else { return };
        let [Some(black), Some(white)] = logins.map(|login| self.presence.get(login)) else { return };
        let opening = self.buoys.take(name.as_str());
        let (game, thread) = queue.number();
        let begun = [black, white].map(|player| (player.id.as_str(), player.place.origin));
        self.quotas.begun(game, begun, tokio::time::Instant::now());
        let (fixture, announcement) = self.arranger.arrange(game, name, [black, white], &opening, round);
        let summary = announcement.summary.clone();
        self.arranger.list(&mut self.games, game, announcement);
        let opening = &fixture.setup.opening;
        let [black, white] = [0, 1].map(|side| {
            self.seat(logins[side], game, Color::BOTH[side], name.clone(), (&summary, opening), &thread)
        });
        let (Some(black), Some(white), Matchmaking::Open(queue)) = (black, white, &self.matchmaking) else {
            return;
        };
        let _closing = queue.sender.send(ArrangedGame { fixture, seats: [black, white], thread });
    }

    /// Seats a player in a game with that summary and opening.
    fn seat(
        &mut self,
        login: LoginId,
        game: GameId,
        color: Color,
        name: GameName,
        (summary, opening): (&Summary, &[rsshogi::types::Move]),
        thread: &ActorThread,
    ) -> Option<Seat> {
        let allowance = self.presence.get(login)?.place.budget.kept.clone();
        let terms = self.arranger.terms((game, color), summary.clone(), opening.to_vec(), allowance);
        self.presence.set_status(login, Status::InGame(name, color, Progress::AgreeWaiting));
        Some(self.arranger.offer(self.presence.get(login)?, terms, thread))
    }

    /// Makes an entrant wait for its next game; an entrant does not have to ask for it.
    pub(super) fn await_round(&mut self, login: LoginId) {
        let Matchmaking::Scheduled(entrants) = &self.matchmaking else { return };
        let game = self.presence.get(login).and_then(|player| entrants.game_of(&player.name));
        if let Some(game) = game {
            self.presence.set_status(login, Status::GameWaiting(game, Wish::Either));
        }
    }

    /// True if an entrant is logged in and waits for a game.
    pub fn waits(&self, player: PlayerId) -> bool {
        self.waiting(player).is_some()
    }

    /// The names of the games of an event.
    pub fn game_names(&self) -> Vec<String> {
        let Matchmaking::Scheduled(entrants) = &self.matchmaking else { return vec![] };
        entrants.game_names()
    }

    /// The entrants of an event who log in over the network, by name.
    pub fn remote_names(&self) -> Vec<String> {
        let Matchmaking::Scheduled(entrants) = &self.matchmaking else { return vec![] };
        entrants.remote_names().map(str::to_owned).collect()
    }

    /// The entrants of an event who are not logged in, by name.
    pub fn absent(&self) -> Vec<String> {
        let Matchmaking::Scheduled(entrants) = &self.matchmaking else { return vec![] };
        let away = entrants.remote_names().filter(|name| self.presence.named(name).is_none());
        let mut away: Vec<String> = away.map(str::to_owned).collect();
        away.sort_unstable();
        away
    }

    fn waiting(&self, player: PlayerId) -> Option<LoginId> {
        let Matchmaking::Scheduled(entrants) = &self.matchmaking else { return None };
        let (login, player) = self.presence.named(entrants.name(player)?)?;
        matches!(player.status, Status::GameWaiting(..)).then_some(login)
    }

    /// Seats the remote players of a scheduled game, if all of them are still logged in.
    pub fn seat_remote(&mut self, fixture: &Fixture, thread: &ActorThread) -> Option<[Option<Seat>; 2]> {
        let Fixture { setup, pairing, .. } = fixture;
        let players = [pairing.black, pairing.white];
        let mut logins = [None; 2];
        for side in [0, 1].into_iter().filter(|&side| setup.hears[side]) {
            logins[side] = Some(self.waiting(players[side])?);
        }
        let opening: Vec<String> = setup.opening.iter().map(|mv| mv.to_usi()).collect();
        let opening = opening.join(" ");
        let summary = self.announce(setup.game, pairing, (&setup.start, &opening), Some(&setup.times))?;
        Some([0, 1].map(|side| {
            let Matchmaking::Scheduled(entrants) = &self.matchmaking else { return None };
            let name = entrants.game_name(players[side])?;
            self.seat(logins[side]?, setup.game, Color::BOTH[side], name, (&summary, &setup.opening), thread)
        }))
    }

    /// Lists a scheduled game, with the summary that everybody gets of it.
    fn announce(
        &mut self,
        game: GameId,
        pairing: &Pairing,
        (start, opening): (&str, &str),
        times: Option<&[TimeControl; 2]>,
    ) -> Option<Summary> {
        let Matchmaking::Scheduled(entrants) = &self.matchmaking else { return None };
        let announcement =
            entrants.announce(&mut self.arranger, &self.config, pairing, (start, opening), times)?;
        let summary = announcement.summary.clone();
        self.arranger.list(&mut self.games, game, announcement);
        Some(summary)
    }
}

/// The ids that a player may be known by in an open league: that of shogi-server, and that of a trip.
fn former_ids(request: &LoginRequest) -> Vec<String> {
    let (Some(secret), Some(trip)) = (request.secret(), &request.trip) else { return vec![] };
    vec![player_id(&request.name, Some(&secret)), format!("{}+{trip}", request.name)]
}

fn logged_in(
    request: &LoginRequest,
    login: LoginId,
    notes: &mpsc::UnboundedSender<Note>,
    seat: Option<oneshot::Receiver<Box<Offer>>>,
) -> LoggedIn {
    let ok = if request.extended { "##[LOGIN] +OK x1\n" } else { "" };
    let greeting = format!("LOGIN:{} OK\n{ok}", request.name);
    LoggedIn { membership: Membership { login, notes: notes.clone() }, greeting, seat }
}
