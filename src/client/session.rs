//! One login after another: get the engine ready, log in, wait for a game, play it, and again.

use super::{
    announced::{Announced, game_name},
    backoff::Backoff,
    link::{Link, LinkError},
    ratings::Ratings,
};
use arena::Say;
use arena::Shutdown;
use arena::lag::SchedulerLag;
use arena::play::{Fixture, GameContext, play_under};
use notation::csa::{
    summary::{Summary, SummaryError},
    wire::ServerLine,
};
use notation::printable;
use plan::client::ClientConfig;
use referee::{
    AbortBy, Color, Outcome,
    adjudicate::Adjudication,
    event::{Event, GameId, Opened, PlayerId},
    game::{Authority, Away, Order, Reply, Setup, SetupError},
    schedule::Pairing,
    sink::{SideRecord, Way},
};
use seat::{
    Seat,
    csa_client::{self, CsaClient, Place},
    margin::Margin,
    transcript::Transcripts,
    usi::Alarm,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::time::{sleep, timeout};

/// The game an engine is called for to see that it is ready; no game of an event has this number.
const READY_CHECK: GameId = GameId(0);
/// Lines of a summary; a game that goes on has one for each move.
const SUMMARY_LINES: usize = 20_000;

/// What comes between us and a game.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("the engine is not ready: {0}")]
    Engine(String),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("the server did not answer the login within {0:?}")]
    NoAnswer(Duration),
    #[error(
        "the server refuses the login of `{0}`: the name is in use there with another secret, or an earlier login of \
         ours still stands"
    )]
    Refused(String),
    #[error("the server says: {0}")]
    Said(String),
    #[error(transparent)]
    Summary(#[from] SummaryError),
    #[error(transparent)]
    CannotPlay(#[from] super::announced::CannotPlay),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error("a summary of more than {SUMMARY_LINES} lines")]
    Endless,
    #[error("the game ended without a ruling")]
    Unruled,
}

/// A game that is offered: as it is to be played, and as it was said.
struct Offer {
    summary: Summary,
    lines: Vec<(Instant, Vec<u8>)>,
}

/// Our side of all logins.
pub struct Session {
    config: Arc<ClientConfig>,
    shutdown: Shutdown,
    transcripts: Transcripts,
    lag: Arc<SchedulerLag>,
    engine: Option<Seat>,
    players: Vec<String>,
    next_game: GameId,
    games: u64,
    margin: Margin,
    backoff: Backoff,
    ratings: Ratings,
    say: Say,
    /// The server is one that is known to take evaluations with moves.
    takes_comments: bool,
    /// The engine was found ready once.
    checked: bool,
}

/// What a session begins with.
pub struct Beginning {
    /// The configuration.
    pub config: Arc<ClientConfig>,
    /// How it is ended.
    pub shutdown: Shutdown,
    /// The transcripts of the games, and where entries are reported.
    pub transcripts: Transcripts,
    /// The lag of this thread.
    pub lag: Arc<SchedulerLag>,
    /// The engine.
    pub engine: Seat,
    /// What is known of the opponents' strength, and where more of it goes.
    pub ratings: Ratings,
    /// Where lines go that are no events.
    pub say: Say,
    /// Who has played in the event.
    pub players: Vec<String>,
    /// The number of the next game.
    pub next_game: GameId,
}

impl Session {
    /// Nothing has happened yet.
    #[must_use]
    pub fn new(begin: Beginning) -> Self {
        let Beginning { config, shutdown, transcripts, lag, engine, ratings, say, players, next_game } =
            begin;
        Self {
            margin: Margin::new(config.margin, config.margin_most),
            backoff: Backoff::new(config.backoff, config.backoff_most),
            ratings,
            say,
            takes_comments: false,
            engine: Some(engine),
            checked: false,
            games: 0,
            config,
            shutdown,
            transcripts,
            lag,
            players,
            next_game,
        }
    }

    /// Plays until enough games are played or somebody wants to leave.
    pub async fn run(mut self) {
        while self.wants_more() {
            let begun = Instant::now();
            let Err(trouble) = self.visit().await else { continue };
            // A login that stood for long was no failure of the server's.
            if begun.elapsed() > self.config.backoff_most {
                self.backoff.reset();
            }
            let wait = self.backoff.failed(rand::random());
            self.fault(format!("{trouble}; the next login is in {:.1} s", wait.as_secs_f64()));
            let finish = self.shutdown.finishing().clone();
            let _leaving = finish.run_until_cancelled(sleep(wait)).await;
        }
    }

    fn wants_more(&self) -> bool {
        !self.shutdown.is_finishing() && self.config.games.is_none_or(|games| self.games < games)
    }

    fn fault(&self, text: String) {
        self.transcripts.sink().happened(Event::Fault { player: None, text });
    }

    /// One login, with all games that are played under it.
    async fn visit(&mut self) -> Result<(), Trouble> {
        let finish = self.shutdown.finishing().clone();
        let arrive = async {
            self.warm().await?;
            self.log_in().await
        };
        let Some(link) = finish.run_until_cancelled(arrive).await else { return Ok(()) };
        let mut link = link?;
        let ClientConfig { host, port, login, .. } = &*self.config;
        (self.say)(&format!(
            "logged in to {host}:{port} as {}; waiting for a game of {}",
            login.name, login.game
        ));
        while self.wants_more() {
            if let Some((game, wish)) = &self.config.login.seek {
                link.say(format!("%%GAME {game} {wish}\n").as_bytes()).await?;
            }
            let Some(summary) = finish.run_until_cancelled(self.summary(&mut link)).await else {
                return Ok(());
            };
            let outcome = self.game(&mut link, summary?).await;
            link.forget();
            let outcome = outcome?;
            match outcome {
                Outcome::Aborted { by: AbortBy::NotStarted } => {
                    self.warm().await?; // perhaps it was the engine's fault
                    continue;
                }
                Outcome::Aborted { by: AbortBy::Stopped } => return Ok(()),
                Outcome::Aborted { .. } => return Err(Trouble::Unruled),
                _ => {}
            }
            self.games += 1;
            self.backoff.reset();
            if self.config.login.seek.is_none() {
                return Ok(()); // in CSA mode a login is for one game
            }
            self.warm().await?;
        }
        Ok(())
    }

    /// The engine starts, if it does not run, and says that it is ready: no game is to wait for it.
    async fn warm(&mut self) -> Result<(), Trouble> {
        let anew = self.config.engine.restart == plan::Restart::EveryGame;
        let Some(engine) = self.engine.as_mut().filter(|_| !(anew && self.checked)) else { return Ok(()) };
        let call = Order::NewGame { game: READY_CHECK, color: Color::Black };
        let gone = || Trouble::Engine("its seat was given up".to_owned());
        engine.orders.send(call).await.map_err(|_| gone())?;
        loop {
            match engine.replies.recv().await {
                Some((READY_CHECK, Reply::Ready)) => break,
                Some((READY_CHECK, Reply::Gone(how))) => {
                    return Err(Trouble::Engine(format!("{how}\n{}", engine.trace.report())));
                }
                Some(_) => {} // a last word of the game before
                None => return Err(gone()),
            }
        }
        self.checked = true;
        let over = Order::Over(Outcome::Aborted { by: AbortBy::NotStarted });
        engine.orders.send(over).await.map_err(|_| gone())
    }

    async fn log_in(&mut self) -> Result<Link, Trouble> {
        let ClientConfig { host, port, keep_alive, patience, login, .. } = &*self.config;
        let mut link = Link::connect(host, *port, *keep_alive, *patience).await?;
        let mode = if login.seek.is_some() { " x1" } else { "" };
        link.say(format!("LOGIN {} {}{mode}\n", login.name, login.password).as_bytes()).await?;
        let answer = async {
            loop {
                let (line, _) = link.line().await?;
                match read(&line) {
                    ServerLine::LoggedIn(_) => return Ok(()),
                    ServerLine::LoginIncorrect => return Err(Trouble::Refused(login.name.clone())),
                    _ => {}
                }
            }
        };
        timeout(*patience, answer).await.map_err(|_| Trouble::NoAnswer(*patience))??;
        link.keep_alive();
        if login.seek.is_some() {
            link.say(b"%%VERSION\n%%RATING\n").await?;
        }
        Ok(link)
    }

    /// Waits for a game to be offered. Blank lines and lines of the extended mode may stand in the midst of a
    /// summary.
    async fn summary(&mut self, link: &mut Link) -> Result<Offer, Trouble> {
        let mut text: Option<String> = None;
        let mut lines = vec![];
        loop {
            let (bytes, at) = link.line().await?;
            let line = String::from_utf8_lossy(&bytes);
            if line.starts_with("##[") {
                self.notice(&line);
                if text.is_none() && line.starts_with("##[ERROR]") && self.config.login.seek.is_some() {
                    return Err(Trouble::Said(printable(line.as_bytes())));
                }
                continue;
            }
            if line == "BEGIN Game_Summary" {
                text = Some(String::new());
                lines.clear();
            }
            let Some(text) = &mut text else { continue };
            text.push_str(&line);
            text.push('\n');
            let ended = line == "END Game_Summary";
            lines.push((at, bytes));
            if ended {
                return Ok(Offer { summary: text.parse()?, lines });
            } else if lines.len() > SUMMARY_LINES {
                return Err(Trouble::Endless);
            }
        }
    }

    fn notice(&mut self, line: &str) {
        self.ratings.hear(line);
        let version = line.strip_prefix("##[VERSION] ");
        self.takes_comments |=
            version.is_some_and(|it| it.starts_with("Shogi Server") || it.starts_with("Renmei"));
    }

    fn comments(&self, summary: &Summary) -> bool {
        let host = self.config.host.as_str();
        let floodgate = game_name(summary).is_some_and(|game| game.is_floodgate())
            || host.contains("wdoor")
            || host.contains("floodgate");
        self.config.comments.unwrap_or(floodgate || self.takes_comments)
    }

    /// Plays an offered game to its end.
    async fn game(&mut self, link: &mut Link, offer: Offer) -> Result<Outcome, Trouble> {
        let Offer { summary, lines } = offer;
        self.offered(&summary);
        let announced = match Announced::read(&summary, &self.config.login.name, &self.config) {
            Ok(announced) => announced,
            Err(why) => {
                let id = summary.game_id.unwrap_or_default();
                link.say(format!("REJECT {id}\n").as_bytes()).await?;
                return Err(why.into());
            }
        };
        let comments = self.comments(&summary);
        let fixture = self.fixture(&announced);
        self.keep(link, &announced, fixture.setup.game, &lines);
        let place = place(&announced, fixture.setup.game, comments);
        let away = Away {
            server: !announced.color,
            left: announced.left,
            lag: self.margin.now(),
            declares: self.config.declares_at_once,
            restarts: self.config.restarts,
        };
        let (server, mut client) = csa_client::seat(place, self.margin.clone(), Instant::now());
        let Some(engine) = self.engine.take() else { return Err(Trouble::Engine("it is gone".to_owned())) };
        let mut seats = if announced.color == Color::Black { [engine, server] } else { [server, engine] };
        let (sink, lag, adjourn) =
            (self.transcripts.sink().clone(), self.lag.clone(), self.shutdown.adjourning().clone());
        let playing = async {
            let context = GameContext { sink: &*sink, spectators: None, lag: &lag, stop: &adjourn };
            let outcome = play_under(Authority::Server(away), fixture, &mut seats, context).await;
            let [black, white] = seats; // giving up the server's seat ends the conversation below
            (outcome, if announced.color == Color::Black { black } else { white })
        };
        let ((outcome, engine), carried) = tokio::join!(playing, carry(link, &mut client));
        self.engine = Some(engine);
        self.margin = client.margin().clone();
        let outcome = outcome?;
        match carried {
            Err(dead) if !outcome.counts() => Err(dead.into()),
            _ => Ok(outcome),
        }
    }

    /// What is said from now on is kept under the game's number, with the offer before it and the name that players
    /// know the game by.
    fn keep(&self, link: &mut Link, announced: &Announced, game: GameId, offer: &[(Instant, Vec<u8>)]) {
        let mut transcript = self.transcripts.open(game, announced.color);
        offer.iter().for_each(|(at, line)| transcript.line(*at, Way::Received, line));
        link.keep(transcript);
        if let Some(name) = announced.id.clone() {
            self.transcripts.sink().keep(SideRecord::Named(game, name));
        }
    }

    /// Says which game is offered, as players know it.
    fn offered(&self, summary: &Summary) {
        let id = summary.game_id.as_deref().unwrap_or("without a name");
        (self.say)(&printable(format!("a game is offered: {id}").as_bytes()));
    }

    fn fixture(&mut self, announced: &Announced) -> Fixture {
        let game = self.next_game;
        self.next_game = GameId(game.0 + 1);
        let [black, white] = announced.names.each_ref().map(|name| self.player(name));
        let index = game.0.saturating_sub(1);
        let pairing =
            Pairing { stage: 0, index, attempt: 0, round: 1, pair: index, opening: 0, black, white };
        let setup = Setup {
            game,
            rules: announced.rules,
            adjudication: Adjudication::default(),
            times: announced.times,
            start: announced.start.clone(),
            opening: announced.opening.clone(),
            hears: [false; 2],
            may_reject: true,
        };
        Fixture { setup, pairing, draws: 0, replays_draws: false, tells_times: true }
    }

    /// The number of a player; a new one is entered before its first game.
    fn player(&mut self, name: &str) -> PlayerId {
        let at = self.players.iter().position(|known| known == name).unwrap_or_else(|| {
            self.players.push(name.to_owned());
            self.transcripts.sink().happened(opened(&self.config, self.players.clone(), false));
            self.players.len() - 1
        });
        PlayerId(u16::try_from(at).unwrap_or(u16::MAX))
    }
}

/// The head of the event.
#[must_use]
pub fn opened(config: &ClientConfig, players: Vec<String>, resumed: bool) -> Event {
    let format = format!("games on {}", config.host);
    Event::Opened(Opened { name: config.name.clone(), players, format, resumed })
}

fn place(announced: &Announced, game: GameId, comments: bool) -> Place {
    Place {
        game,
        game_id: announced.id.clone(),
        color: announced.color,
        start: announced.start.clone(),
        opening: announced.opening.clone(),
        count: announced.count,
        comments,
    }
}

fn read(line: &[u8]) -> ServerLine {
    String::from_utf8_lossy(line).parse().unwrap_or_else(|never| match never {})
}

/// Carries the conversation of a game to the server and back.
async fn carry(link: &mut Link, client: &mut CsaClient) -> Result<(), LinkError> {
    let (mut out, mut dead, mut alarm) = (vec![], None, Alarm::new());
    while !client.is_done() {
        client.deliver().await;
        alarm.set(client.deadline());
        let mut failed = None;
        tokio::select! { biased;
            heard = link.line(), if dead.is_none() && !client.is_ruled() => match heard {
                Ok((line, at)) => client.line(&line, at),
                Err(error) => failed = Some(error),
            },
            order = client.order() => {
                let Some(order) = order else { break };
                client.obey(order, Instant::now(), &mut out);
                if dead.is_none() && !out.is_empty() {
                    failed = link.say(&out).await.err();
                }
                out.clear();
            }
            () = alarm.rings() => client.expire(),
        }
        if let Some(error) = failed {
            client.gone(error.to_string());
            dead = Some(error);
        }
    }
    dead.map_or(Ok(()), Err)
}
