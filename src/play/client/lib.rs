//! A USI engine on any server that speaks the CSA protocol, for weeks and unattended.
//!
//! The server rules; our referee only follows the game ([`referee::game::ServerRuled`]). The engine is started before the
//! login, so that no game waits for it, and again within a game if it crashes. After a failed login or a broken
//! connection the client waits and logs in again ([`backoff`]); it detects dead connections ([`link`]) and learns how
//! much time the network costs ([`seat::reserve`]). The games are in the database like those of any other event, under
//! the names that the server gives, with every line that was sent and received (`renmei log`).
//!
//! # Leaving
//! After the first signal the running game is finished, and no login follows. The second resigns it (`%TORYO` in our turn,
//! else `LOGOUT`, which servers rule as a resignation), waits a few seconds for the ruling, and leaves. After the last
//! game of a login `LOGOUT` is sent (CSA server protocol 1.2.1), but not on floodgate, which closes the connection itself.

pub mod announced;
pub mod backoff;

mod fixtures;
mod game_lines;
mod identity;
pub mod link;
mod login_loop;
pub mod performance;
pub mod presence;
pub mod ratings;
mod tls;

use arena::Say;
use arena::Shutdown;
use arena::{
    disk::DiskWatch, dispatcher::start_recorder, identity::Engine, lag::SchedulerLag,
    open_journal::OpenJournal,
};
use fixtures::{Fixtures, opened};
pub use game_lines::GameLines;
use identity::Notice;
pub use identity::{identify, warning};
use journal::{Appended, EventHead, Journal, Opening, Reader, StoreError};
pub use login_loop::Finish;
use login_loop::{LoginLoop, LoopContext};
use plan::{StoredPlan, client::ClientConfig};
use presence::Presence;
use ratings::Ratings;
use referee::{
    entry::{Entry, GameId, PlayerId},
    identity::Identity,
};
use seat::{
    recorder::Recorded,
    transcript::Transcripts,
    usi::{self, Gate, UsiPlayer},
};
use std::sync::Arc;

/// The word for such events in the database.
pub const KIND: &str = "floodgate";

/// A client with its event open.
pub struct Client {
    config: Arc<ClientConfig>,
    journal: Journal,
    players: Vec<String>,
    next_game: GameId,
    /// The server's names of the games that were running when the last process died.
    cut_off: Vec<String>,
    ratings: Ratings,
    say: Say,
    presence: Presence,
    engine: Option<Engine>,
    before: Option<Identity>,
    /// No game begins while the disk is nearly full.
    pub disk: DiskWatch,
}

/// The views of the event.
pub struct Audience {
    /// Readers of the entries.
    pub readers: Vec<Reader>,
    /// Shows lines that are no entries, about logins and offered games.
    pub say: Say,
    /// Where the client is, for those who watch it.
    pub presence: Presence,
}

impl Client {
    /// Opens the event in the database, or takes it up again; `engine` is what [`identify`] has found. When the database
    /// fails, `shutdown` adjourns.
    ///
    /// # Errors
    /// When the database cannot be written, or another process has the event.
    pub fn open(
        config: ClientConfig,
        shutdown: &Shutdown,
        ratings: Ratings,
        audience: Audience,
        engine: Option<Engine>,
    ) -> Result<Self, StoreError> {
        let plan = StoredPlan::from(&config).to_json();
        let head = EventHead { name: &config.name, kind: KIND, plan: &plan, fingerprint: "{}" };
        let (open, cut_off) = OpenJournal::open(&config.database, &head, cut_off, |_, _| ())?;
        let opening = &open.opening;
        let mut players = opening.players().to_vec();
        if !players.contains(&config.login.name) {
            players.push(config.login.name.clone());
        }
        let us = players.iter().position(|name| *name == config.login.name);
        let known = opening.store().identities(opening.event().event)?;
        let before = known.into_iter().rev().find(|known| Some(known.player.index()) == us);
        let (next_game, resumed) = (opening.event().next_game, opening.event().resumed);
        let recovery = opening.event().recovery();
        let failed = shutdown.clone();
        let journal = open.opening.start(audience.readers, move || failed.adjourn())?;
        journal.happened(opened(&config, players.clone(), resumed));
        recovery.into_iter().for_each(|text| journal.happened(Entry::Fault { player: None, text }));
        for (game, name) in &cut_off {
            let text = format!(
                "game {} ({name}) was cut off when this program ended: the server counts a loss of the side that left, \
                 unless it allows a return; here the game does not count",
                game.0
            );
            journal.happened(Entry::Fault { player: None, text });
        }
        Ok(Self {
            config: Arc::new(config),
            journal,
            players,
            next_game,
            cut_off: cut_off.into_iter().map(|(_, name)| name).collect(),
            ratings,
            say: audience.say,
            presence: audience.presence,
            engine,
            before: before.map(|known| known.identity),
            disk: DiskWatch::default(),
        })
    }

    /// The number of entries that the event has been given, for lines that have to stand between entries.
    pub fn appended(&self) -> Appended {
        self.journal.appended()
    }

    /// Plays until enough games are played, until `shutdown`, or until the engine cannot be started any more.
    ///
    /// # Errors
    /// When the database has failed.
    pub async fn play(mut self, shutdown: Shutdown) -> Result<Finish, StoreError> {
        let lag = Arc::new(SchedulerLag::default());
        let measured = lag.clone();
        let measuring = tokio::spawn(async move { measured.measure().await });
        let recorded = start_recorder(&self.config.name, &self.config.log, self.journal.sink(), &self.say);
        let recorded = recorded.unwrap_or_else(|error| {
            (self.say)(&format!("{error}: no log is written"));
            None
        });
        let player = UsiPlayer {
            reports: Some((self.journal.sink(), self.us())),
            gate: self.gate(),
            recorder: recorded.as_ref().map(Recorded::handle),
            ..UsiPlayer::alone(Arc::new(self.config.engine.clone()))
        };
        let (engine, actor) = usi::open(player);
        let actor = tokio::spawn(actor);
        let sink = self.journal.sink();
        let fixtures = Fixtures::new(sink.clone(), self.players, self.next_game);
        let context = LoopContext {
            config: self.config.clone(),
            shutdown,
            transcripts: Transcripts::new(sink),
            lag,
            ratings: self.ratings.clone(),
            cut_off: self.cut_off,
            say: self.say,
            presence: self.presence,
            disk: self.disk,
        };
        let finish = LoginLoop::new(context, engine, fixtures).run().await;
        let _panic_printed = actor.await;
        recorded.into_iter().for_each(Recorded::finish);
        measuring.abort();
        let event = self.journal.event();
        // Ratings change from run to run; reports use the last ones known.
        let mut plan = StoredPlan::from(&*self.config);
        plan.ratings = Some(self.ratings.all());
        self.journal.finish()?.replan(event, &plan.to_json())?;
        Ok(finish)
    }

    /// Stores the engine's identity, and notes its changes from now on.
    fn gate(&mut self) -> Option<Arc<dyn Gate>> {
        let (engine, player, sink) = (self.engine.take()?, self.us(), self.journal.sink());
        identity::record(&engine, self.before.as_ref(), player, &*sink);
        Some(Arc::new(Notice { engine, player, sink }))
    }

    fn us(&self) -> PlayerId {
        let at = self.players.iter().position(|name| *name == self.config.login.name);
        PlayerId::at(at.unwrap_or(0))
    }
}

/// The games that were running when the last process died, with the server's names for them.
fn cut_off(opening: &Opening) -> Result<Vec<(GameId, String)>, StoreError> {
    let event = opening.event();
    let named = |game: GameId| {
        let name = opening.store().game_name(event.event, game)?;
        Ok((game, name.unwrap_or_else(|| "without a name".to_owned())))
    };
    event.adjourned.iter().map(|end| named(end.game)).collect()
}
