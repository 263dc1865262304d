//! A USI engine on any server that speaks the CSA protocol, for weeks and unattended.
//!
//! The server rules; our referee looks on ([`referee::game::Away`]). The engine is started before the login, so that
//! no game waits for it, and again within a game if it crashes. A login that fails or a line that breaks is tried
//! again after a while ([`backoff`]); a line that is dead without saying so is found out ([`link`]); how much time the
//! way to the server costs is learned ([`seat::margin`]). Every game is in the database as that of any other
//! event, under the names that the server gives, with every line that was said in it (`renmei log`).
//!
//! # Leaving
//! The first signal lets the running game end and logs in no more. The second resigns it (`%TORYO` in our turn,
//! else `LOGOUT`, which servers rule as a resignation), waits a few seconds for the ruling, and leaves. After a game
//! the connection is closed without `LOGOUT`: floodgate closes it itself.

pub mod announced;
pub mod backoff;

mod keeper;
pub mod link;
pub mod performance;
pub mod ratings;
mod session;

use arena::Say;
use arena::Shutdown;
use arena::pulse::Pulse;
use journal::bus::{Bus, Note};
use journal::{Asides, EventHead, EventId, Store, StoreError};
pub use keeper::Teller;
use keeper::keep;
use plan::{StoredPlan, client::ClientConfig};
use ratings::Ratings;
use referee::event::{GameId, PlayerId, Stamped};
use seat::usi::{self, UsiPlayer};
use session::{Beginning, Session, opened};
use std::{sync::Arc, thread::JoinHandle};
use tokio::sync::Semaphore;

/// The word for such events in the database.
pub const KIND: &str = "floodgate";

/// A client with its event open.
pub struct Client {
    config: Arc<ClientConfig>,
    bus: Arc<Bus>,
    asides: Asides,
    event: EventId,
    players: Vec<String>,
    next_game: GameId,
    keeper: JoinHandle<Result<Store, StoreError>>,
    ratings: Ratings,
    say: Say,
}

/// Who hears of what happens.
pub struct Audience {
    /// Takes what was committed.
    pub committed: Box<dyn FnMut(Vec<Stamped>) + Send>,
    /// Where lines go that are no events: of logins, of games that are offered.
    pub say: Say,
}

impl Client {
    /// Opens the event in the database, or takes it up again. What was committed goes to `audience`; `shutdown` is
    /// called when the database fails.
    ///
    /// # Errors
    /// When the database cannot be written, or another process has the event.
    pub fn open(
        config: ClientConfig,
        shutdown: &Shutdown,
        ratings: Ratings,
        audience: Audience,
    ) -> Result<Self, StoreError> {
        let path = config.database.clone();
        let plan = StoredPlan::of_client(&config, config.ratings.clone()).to_json();
        let mut store = Store::open(&path)?;
        let head = EventHead { name: &config.name, kind: KIND, plan: &plan, fingerprint: "{}" };
        let begun = store.open_event(&head)?;
        let known = store.events()?.into_iter().find(|event| event.id == begun.event);
        let mut players = known.map(|event| event.players).unwrap_or_default();
        if !players.contains(&config.login.name) {
            players.push(config.login.name.clone());
        }
        let bus = Arc::new(Bus::default());
        bus.happened(opened(&config, players.clone(), begun.resumed));
        let writer = store.into_writer(begun.event, audience.committed)?;
        let asides = Asides::default();
        let keeper = keep(&path, (bus.clone(), asides.clone()), writer, shutdown.adjourn.clone())?;
        let (event, next_game) = (begun.event, begun.next_game);
        let (config, say) = (Arc::new(config), audience.say);
        Ok(Self { config, bus, asides, event, players, next_game, keeper, ratings, say })
    }

    /// Plays until enough games are played, or until told.
    ///
    /// # Errors
    /// When the database has failed.
    pub async fn play(self, shutdown: Shutdown) -> Result<(), StoreError> {
        let pulse = Arc::new(Pulse::default());
        let beating = pulse.clone();
        let beat = tokio::spawn(async move { beating.beat().await });
        let (engine, actor) = usi::open(UsiPlayer {
            engine: Arc::new(self.config.engine.clone()),
            cores: vec![],
            startups: Arc::new(Semaphore::new(1)),
            faults: Some((self.bus.clone(), self.us())),
        });
        let actor = tokio::spawn(actor);
        let session = Session::new(Beginning {
            config: self.config.clone(),
            shutdown: both(shutdown),
            bus: self.bus.clone(),
            asides: self.asides,
            pulse,
            engine,
            ratings: self.ratings.clone(),
            say: self.say,
            players: self.players,
            next_game: self.next_game,
        });
        session.run().await;
        let _panicked_already_told = actor.await;
        beat.abort();
        self.bus.note(Note::Stop { adjourn: false });
        match self.keeper.join() {
            // Ratings change from run to run; reports measure by the last that were known.
            Ok(store) => {
                let plan = StoredPlan::of_client(&self.config, self.ratings.all());
                store?.replan(self.event, &plan.to_json())
            }
            Err(_panicked_already_told) => Ok(()),
        }
    }

    fn us(&self) -> PlayerId {
        let at = self.players.iter().position(|name| *name == self.config.login.name);
        PlayerId(at.and_then(|at| u16::try_from(at).ok()).unwrap_or(0))
    }
}

/// Who breaks a game off does not want another one.
fn both(shutdown: Shutdown) -> Shutdown {
    let Shutdown { finish, adjourn } = shutdown.clone();
    tokio::spawn(async move {
        adjourn.cancelled().await;
        finish.cancel();
    });
    shutdown
}
