//! One login after another: start the engine, log in, wait for a game, play it, and again.

use super::{
    announced::{Announced, game_name},
    backoff::Backoff,
    fixtures::Fixtures,
    link::{Link, LinkError},
    presence::{Presence, Stage},
    ratings::Ratings,
};
use arena::Say;
use arena::Shutdown;
use arena::Unplayed;
use arena::disk::DiskWatch;
use arena::lag::SchedulerLag;
use arena::play::{Fixture, GameContext, play_under};
use notation::csa::{
    summary::{Summary, SummaryError, TAKES_COMMENTS},
    wire::ServerLine,
};
use notation::printable;
use plan::client::{AWAY, ClientConfig};
use referee::{
    AbortBy, Color, Outcome,
    entry::{Entry, GameId},
    game::{Authority, Order, Reply, ServerRuled},
    sink::{Direction, SideRecord},
};
use seat::{
    Seat,
    csa_client::{self, CsaClient, SeatTerms},
    reserve::Reserve,
    transcript::Transcripts,
    usi::Alarm,
};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep, timeout};

/// The number under which an engine is asked whether it is ready. No game of an event has it.
const READY_CHECK: GameId = GameId(0);
/// Failed starts in a row before giving up an engine that was never ready: most likely its command is wrong.
const FIRST_STARTS: u32 = 5;
/// The same for an engine that was ready before. The waits between them grow, by default to hours together.
const STARTS: u32 = 20;
/// Time between two looks at a disk that is nearly full.
const GLANCE: Duration = Duration::from_secs(1);
/// Time for the server to explain a refused login.
const EXPLANATION: Duration = Duration::from_secs(1);
/// Least wait for another try to log in again while a game runs.
const AGAIN: Duration = Duration::from_secs(1);
/// Time for the server to offer a game again to a player who has come back.
const RETURN: Duration = Duration::from_secs(10);
/// Most lines of a summary; that of a game that goes on has one for each move.
const SUMMARY_LINES: usize = 20_000;

/// Reason why a login failed or ended early.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the engine is not ready: {0}")]
    Engine(String),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("the server did not answer the login within {0:?}")]
    NoAnswer(Duration),
    #[error("the server refuses the login of `{0}`: {1}")]
    Refused(String, String),
    #[error(
        "the server closed the connection while we waited for a game; if this repeats, another program logs in as \
         `{0}` too"
    )]
    Displaced(String),
    #[error("the server closed the connection after the rejected game")]
    ClosedAfterReject,
    #[error("the server reports an error: {0}")]
    Said(String),
    #[error(transparent)]
    Summary(#[from] SummaryError),
    #[error(transparent)]
    CannotPlay(#[from] super::announced::CannotPlay),
    #[error(transparent)]
    Unplayed(#[from] Unplayed),
    #[error("the game summary has more than {SUMMARY_LINES} lines")]
    Endless,
    #[error("the game ended without a ruling")]
    Unruled,
}

/// The sleep before the next login. One minute at most where nobody is disturbed, as the server cannot be reached: a host
/// that starts again waits for its players that long.
fn pause(config: &ClientConfig, backoff: &mut Backoff, failure: &Failure) -> Duration {
    let wait = backoff.failed(rand::random());
    match failure {
        Failure::Link(LinkError::Connect(..) | LinkError::Slow(..)) => wait.min(AWAY.max(config.backoff)),
        _ => wait,
    }
}

/// A game that the server offers: its summary, and the lines that it came in.
struct OfferedGame {
    summary: Summary,
    lines: Vec<(Instant, Vec<u8>)>,
}

/// A login in the midst of a game that did not lead back to it: the server offers another game, or none yet.
struct Anew(Option<OfferedGame>);

/// Logs in, plays and logs in again, until enough games are played.
pub struct LoginLoop {
    context: LoopContext,
    /// `None` while a game has it.
    engine: Option<Seat>,
    fixtures: Fixtures,
    games: u64,
    reserve: Reserve,
    backoff: Backoff,
    /// The last game was lost with its connection, and there is another one.
    anew: Option<Anew>,
    /// True once the server is known to accept evaluations with moves.
    takes_comments: bool,
    /// True once the engine was ready.
    checked: bool,
    /// Failed starts of the engine in a row.
    failed_starts: u32,
}

/// The end of a client's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// All games that were asked for are played, or none were counted.
    Complete,
    /// A shutdown came before the last game.
    Short {
        /// Games that were asked for and not played.
        unplayed: u64,
    },
    /// The engine failed to start too often.
    Engine {
        /// True if the engine was ready before in this run.
        was_ready: bool,
        /// The last failure.
        why: String,
    },
}

/// Parts that all logins share.
pub struct LoopContext {
    pub config: Arc<ClientConfig>,
    /// Requests to stop.
    pub shutdown: Shutdown,
    /// The transcripts of the games, and the sink that entries are reported to.
    pub transcripts: Transcripts,
    /// The lag of this thread.
    pub lag: Arc<SchedulerLag>,
    /// The opponents' ratings, which the server adds to.
    pub ratings: Ratings,
    /// The server's names of games that an earlier process left unfinished.
    pub cut_off: Vec<String>,
    /// Shows lines that are no entries.
    pub say: Say,
    /// Where the client is, for those who watch it.
    pub presence: Presence,
    /// Watches for a full disk, on which no game begins.
    pub disk: DiskWatch,
}

impl LoginLoop {
    /// The loop of an engine before the first login.
    pub fn new(context: LoopContext, engine: Seat, fixtures: Fixtures) -> Self {
        let config = &context.config;
        Self {
            reserve: Reserve::new(config.reserve, config.reserve_most),
            backoff: Backoff::new(config.backoff, config.backoff_most),
            anew: None,
            takes_comments: false,
            engine: Some(engine),
            checked: false,
            failed_starts: 0,
            games: 0,
            fixtures,
            context,
        }
    }

    /// Plays until enough games are played, a shutdown is wished, or the engine has failed too often.
    pub async fn run(mut self) -> Finish {
        while self.wants_more() {
            if self.context.disk.is_low() {
                let finish = self.context.shutdown.finishing().clone();
                let _leaving = finish.run_until_cancelled(sleep(GLANCE)).await;
                continue;
            }
            let begun = Instant::now();
            let Err(failure) = self.one_login().await else { continue };
            if self.context.shutdown.is_finishing() {
                self.fault(failure.to_string());
                break;
            }
            if let Failure::Engine(why) = &failure {
                self.failed_starts += 1;
                let most = if self.checked { STARTS } else { FIRST_STARTS };
                if self.failed_starts >= most {
                    self.fault(failure.to_string());
                    return Finish::Engine { was_ready: self.checked, why: why.clone() };
                }
            }
            // After a login that lasted the waiting times start over.
            if begun.elapsed() > self.context.config.backoff_most {
                self.backoff.reset();
            }
            let wait = pause(&self.context.config, &mut self.backoff, &failure);
            self.context.presence.failed(&failure.to_string());
            tracing::info!(target: "client", %failure, ?wait, "the login failed or the connection broke");
            self.fault(format!("{failure}; next login in {:.1} s", wait.as_secs_f64()));
            let finish = self.context.shutdown.finishing().clone();
            let _leaving = finish.run_until_cancelled(sleep(wait)).await;
        }
        match self.context.config.games {
            Some(games) if self.games < games => Finish::Short { unplayed: games - self.games },
            _ => Finish::Complete,
        }
    }

    fn wants_more(&self) -> bool {
        !self.context.shutdown.is_finishing()
            && self.context.config.games.is_none_or(|games| self.games < games)
    }

    fn fault(&self, text: String) {
        self.context.transcripts.sink().happened(Entry::Fault { player: None, text });
    }

    /// One login, with all games that are played under it.
    async fn one_login(&mut self) -> Result<(), Failure> {
        let finish = self.context.shutdown.finishing().clone();
        self.context.presence.set(Stage::Arrives);
        let arrive = async {
            self.warm().await?;
            self.log_in().await
        };
        let Some(link) = finish.run_until_cancelled(arrive).await else { return Ok(()) };
        let mut link = link?;
        let ClientConfig { host, port, login, .. } = &*self.context.config;
        (self.context.say)(&format!(
            "logged in to {host}:{port} as {}; waiting for a game of {}",
            login.name, login.game
        ));
        let (mut rejected, mut offered) = (false, None);
        while self.wants_more() {
            let offer = match offered.take() {
                Some(offer) => offer,
                None => {
                    if let Some((game, wish)) = &self.context.config.login.seek {
                        link.say(format!("%%GAME {game} {wish}\n").as_bytes()).await?;
                    }
                    self.context.presence.set(Stage::Waits);
                    let offer = summary(&mut link, |line| self.notice(line));
                    let Some(offer) = finish.run_until_cancelled(offer).await else { break };
                    offer.map_err(|failure| self.displaced(failure, rejected))?
                }
            };
            let floodgate = game_name(&offer.summary).is_some_and(|game| game.is_floodgate());
            self.context.presence.set(Stage::Plays);
            let outcome = self.game(&mut link, offer).await;
            link.forget();
            let outcome = outcome?;
            rejected = outcome == Outcome::Aborted { by: AbortBy::NotStarted };
            let goes_on = match self.anew.take() {
                Some(Anew(offer)) => {
                    offered = offer;
                    true
                }
                None => self.goes_on(outcome)?,
            };
            if !goes_on || !self.wants_more() || self.context.disk.is_low() {
                // Floodgate closes the connection of a CSA login itself; other servers wait for this.
                if self.context.config.login.seek.is_some() || !floodgate {
                    link.log_out().await;
                }
                break;
            }
            self.warm().await?;
        }
        Ok(())
    }

    /// A server closes an idle connection when the same player logs in anew, and shogi-server after a rejected game.
    fn displaced(&self, failure: Failure, rejected: bool) -> Failure {
        match failure {
            Failure::Link(LinkError::Closed) if rejected => Failure::ClosedAfterReject,
            Failure::Link(LinkError::Closed) => Failure::Displaced(self.context.config.login.name.clone()),
            other => other,
        }
    }

    /// Counts a game; returns true if the login allows another one.
    fn goes_on(&mut self, outcome: Outcome) -> Result<bool, Failure> {
        match outcome {
            // The engine may be the reason: it is started again before the next game.
            Outcome::Aborted { by: AbortBy::NotStarted } => Ok(true),
            Outcome::Aborted { by: AbortBy::Stopped } => Ok(false),
            Outcome::Aborted { .. } => Err(Failure::Unruled),
            Outcome::Win { .. } | Outcome::Draw { .. } => {
                self.games += 1;
                self.backoff.reset();
                // In CSA mode a login is for one game.
                Ok(self.context.config.login.seek.is_some())
            }
        }
    }

    /// Starts the engine, if it does not run, and waits until it is ready, so that no game waits for it.
    async fn warm(&mut self) -> Result<(), Failure> {
        let anew = self.context.config.engine.restart == plan::Restart::EveryGame;
        let Some(engine) = self.engine.as_mut().filter(|_| !(anew && self.checked)) else { return Ok(()) };
        let call = Order::NewGame { game: READY_CHECK, color: Color::Black };
        let gone = || Failure::Engine("its seat is closed".to_owned());
        engine.orders.send(call).await.map_err(|_| gone())?;
        loop {
            match engine.replies.recv().await {
                Some((READY_CHECK, Reply::Ready)) => break,
                Some((READY_CHECK, Reply::Gone(how) | Reply::Unseated(how))) => {
                    return Err(Failure::Engine(format!("{how}\n{}", engine.trace.report())));
                }
                Some(_) => {} // a late reply of the previous game
                None => return Err(gone()),
            }
        }
        self.checked = true;
        self.failed_starts = 0;
        let over = Order::Over(Outcome::Aborted { by: AbortBy::NotStarted });
        engine.orders.send(over).await.map_err(|_| gone())
    }

    async fn log_in(&mut self) -> Result<Link, Failure> {
        let (link, answer) = self.greet().await?;
        self.reserve.greeted(answer);
        Ok(link)
    }

    /// Connects and logs in; also returns the time until the answer to the login.
    async fn greet(&self) -> Result<(Link, Duration), Failure> {
        let ClientConfig { host, port, tls, keep_alive, patience, login, .. } = &*self.context.config;
        let mut link = Link::connect(host, *port, tls.as_ref(), *keep_alive, *patience).await?;
        tracing::debug!(target: "client", host, port, "connected");
        let mode = if login.seek.is_some() { " x1" } else { "" };
        // Before the line is written: on a busy machine the answer may come before this task goes on.
        let asked = Instant::now();
        link.say(format!("LOGIN {} {}{mode}\n", login.name, login.password).as_bytes()).await?;
        let answer = async {
            loop {
                let (line, at) = link.line().await?;
                match read(&line) {
                    ServerLine::LoggedIn(_) => return Ok(at.saturating_duration_since(asked)),
                    ServerLine::LoginIncorrect => {
                        return Err(Failure::Refused(login.name.clone(), refusal(&mut link).await));
                    }
                    _ => {}
                }
            }
        };
        let answered = timeout(*patience, answer).await.map_err(|_| Failure::NoAnswer(*patience))??;
        link.keep_alive();
        tracing::info!(target: "client", name = login.name, "logged in");
        if login.seek.is_some() {
            link.say(b"%%VERSION\n%%RATING\n").await?;
        }
        Ok((link, answered))
    }

    fn notice(&mut self, line: &str) {
        self.context.ratings.hear(line);
        let version = line.strip_prefix("##[VERSION] ");
        self.takes_comments |=
            version.is_some_and(|it| it.starts_with("Shogi Server") || it.starts_with("Renmei"));
    }

    fn comments(&self, summary: &Summary) -> bool {
        let host = self.context.config.host.as_str();
        let floodgate = game_name(summary).is_some_and(|game| game.is_floodgate())
            || host.contains("wdoor")
            || host.contains("floodgate");
        let says_so = summary.others.iter().any(|line| line == TAKES_COMMENTS);
        self.context.config.comments.unwrap_or(floodgate || says_so || self.takes_comments)
    }

    /// Plays an offered game to its end.
    async fn game(&mut self, link: &mut Link, offer: OfferedGame) -> Result<Outcome, Failure> {
        let OfferedGame { summary, lines } = offer;
        self.offered(&summary);
        let LoopContext { config, .. } = &self.context;
        let announced = match Announced::read(&summary, &config.login.name, config) {
            Ok(announced) => announced,
            Err(why) => {
                let id = summary.game_id.unwrap_or_default();
                link.say(format!("REJECT {id}\n").as_bytes()).await?;
                return Err(why.into());
            }
        };
        let comments = self.comments(&summary);
        let fixture = self.fixtures.fixture(&announced);
        self.keep(link, &announced, fixture.setup.game, &lines);
        self.play(link, &announced, fixture, comments).await
    }

    /// Plays a game under the rulings of the server, and carries its conversation.
    async fn play(
        &mut self,
        link: &mut Link,
        announced: &Announced,
        fixture: Fixture,
        comments: bool,
    ) -> Result<Outcome, Failure> {
        let LoopContext { config, shutdown, transcripts, lag, .. } = &self.context;
        let ruled = ServerRuled {
            server: !announced.color,
            left: announced.left,
            lag: self.reserve.now(),
            declares: config.declares_at_once,
            restarts: config.restarts,
        };
        let terms = seat_terms(announced, fixture.setup.game, comments);
        let (server, mut client) = csa_client::seat(terms, self.reserve.clone(), Instant::now());
        let Some(engine) = self.engine.take() else { return Err(Failure::Engine("it is gone".to_owned())) };
        let mut seats = if announced.color == Color::Black { [engine, server] } else { [server, engine] };
        let (sink, stop) = (&**transcripts.sink(), shutdown.adjourning());
        let playing = async {
            let context = GameContext { sink, spectators: None, lag, stop, interventions: None };
            let outcome = play_under(Authority::Server(ruled), fixture, &mut seats, context).await;
            let [black, white] = seats; // giving up the server's seat ends the conversation below
            (outcome, if announced.color == Color::Black { black } else { white })
        };
        let ((outcome, engine), carried) = tokio::join!(playing, self.converse(link, &mut client));
        self.engine = Some(engine);
        self.reserve = client.reserve().clone();
        let outcome = outcome?;
        match carried {
            Err(dead) if !outcome.counts() => return Err(dead.into()),
            carried => self.anew = carried.ok().flatten(),
        }
        Ok(outcome)
    }

    /// Carries the conversation of a game to its end. Where the connection breaks in its midst, the game goes on while we
    /// log in again: our clock runs, and a host of Renmei keeps the game for its grace time.
    async fn converse(&self, link: &mut Link, client: &mut CsaClient) -> Result<Option<Anew>, LinkError> {
        loop {
            let Err(dead) = carry(link, client).await else { return Ok(None) };
            if !client.may_return() {
                client.gone(dead.to_string());
                client.deliver().await;
                client.wait().await;
                return Err(dead);
            }
            self.fault(format!("{dead}; logging in again to go on with the game"));
            self.context.presence.failed(&dead.to_string());
            client.lost();
            client.deliver().await;
            let (again, offer) = tokio::select! { biased;
                () = client.wait() => return Err(dead),
                found = self.come_back() => found,
            };
            let lines = offer.as_ref().map_or(&[][..], |offer| &offer.lines);
            link.replace(again, lines);
            let back = match &offer {
                Some(offer) => self.go_on(link, client, &offer.summary).await,
                None => false,
            };
            self.context.presence.set(Stage::Plays);
            if !back {
                client.gone(format!("{dead}, and the server does not offer the game again"));
                client.deliver().await;
                client.wait().await;
                return Ok(Some(Anew(offer)));
            }
        }
    }

    /// Logs in while a game runs, until it succeeds, and waits a moment for the game to be offered again.
    async fn come_back(&self) -> (Link, Option<OfferedGame>) {
        let config = &*self.context.config;
        let mut backoff = Backoff::new(AGAIN.min(config.backoff), config.backoff_most);
        loop {
            let arrived = async {
                let (mut link, _) = self.greet().await?;
                match timeout(RETURN, summary(&mut link, |_| {})).await {
                    Ok(offer) => Ok((link, Some(offer?))),
                    Err(_) => Ok::<_, Failure>((link, None)),
                }
            };
            match arrived.await {
                Ok(found) => return found,
                Err(failure) => {
                    let wait = pause(config, &mut backoff, &failure);
                    self.fault(format!("{failure}; next login in {:.1} s", wait.as_secs_f64()));
                    sleep(wait).await;
                }
            }
        }
    }

    /// Goes on with the game if it is the one that is offered.
    async fn go_on(&self, link: &mut Link, client: &mut CsaClient, summary: &Summary) -> bool {
        let LoopContext { config, say, .. } = &self.context;
        let Ok(announced) = Announced::read(summary, &config.login.name, config) else { return false };
        let mut out = vec![];
        let terms = seat_terms(&announced, GameId(0), false);
        if !client.resume(&terms, &summary.moves, Instant::now(), &mut out) {
            return false;
        }
        say(&printable(format!("back in the game: {}", announced.id.unwrap_or_default()).as_bytes()));
        // A connection that has broken again is noticed by what follows.
        let _broken = link.say(&out).await;
        true
    }

    /// Starts the transcript of the game with the lines of the offer, and keeps the server's name of the game.
    fn keep(&self, link: &mut Link, announced: &Announced, game: GameId, offer: &[(Instant, Vec<u8>)]) {
        let mut transcript = self.context.transcripts.open(game, announced.color);
        offer.iter().for_each(|(at, line)| transcript.line(*at, Direction::Received, line));
        link.keep(transcript);
        let sink = self.context.transcripts.sink();
        if !announced.opening_times.is_empty() {
            sink.keep(SideRecord::OpeningTimes(game, announced.opening_times.clone()));
        }
        if let Some(name) = announced.id.clone() {
            sink.keep(SideRecord::Named(game, name));
        }
    }

    /// Shows the offered game.
    fn offered(&self, summary: &Summary) {
        let id = summary.game_id.as_deref().unwrap_or("without a name");
        let again = self.context.cut_off.iter().any(|name| name == id);
        let what = if again { "the interrupted game continues" } else { "the server offers a game" };
        (self.context.say)(&printable(format!("{what}: {id}").as_bytes()));
    }
}

fn seat_terms(announced: &Announced, game: GameId, comments: bool) -> SeatTerms {
    SeatTerms {
        game,
        game_id: announced.id.clone(),
        color: announced.color,
        start: announced.start.clone(),
        opening: announced.opening.clone(),
        count: announced.count,
        comments,
    }
}

/// The server's reason for refusing a login; without one, the most likely reason.
async fn refusal(link: &mut Link) -> String {
    let explained = async {
        loop {
            match link.line().await {
                Ok((line, _)) if matches!(read(&line), ServerLine::Text(_) | ServerLine::Notice(_)) => {
                    return Some(printable(&line));
                }
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    };
    timeout(EXPLANATION, explained).await.ok().flatten().unwrap_or_else(|| {
        "the server gave no reason: it has no account of this name with this secret, the name is in use with another secret, or \
         our previous login is still open"
            .to_owned()
    })
}

fn read(line: &[u8]) -> ServerLine {
    String::from_utf8_lossy(line).parse().unwrap_or_else(|never| match never {})
}

/// Waits for a game to be offered. Lines of the extended mode may stand inside a summary.
async fn summary(link: &mut Link, mut notice: impl FnMut(&str)) -> Result<OfferedGame, Failure> {
    let mut text: Option<String> = None;
    let mut lines = vec![];
    loop {
        let (bytes, at) = link.line().await?;
        let line = String::from_utf8_lossy(&bytes);
        if line.starts_with("##[") {
            notice(&line);
            // The server refuses the game, so none will come; the next login asks again.
            if text.is_none() && line.starts_with("##[ERROR]") {
                return Err(Failure::Said(printable(line.as_bytes())));
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
            return Ok(OfferedGame { summary: text.parse()?, lines });
        } else if lines.len() > SUMMARY_LINES {
            return Err(Failure::Endless);
        }
    }
}

/// Carries the conversation of a game to the server and back, until the game has ended here or the connection breaks.
async fn carry(link: &mut Link, client: &mut CsaClient) -> Result<(), LinkError> {
    let (mut out, mut alarm) = (vec![], Alarm::default());
    while !client.is_done() {
        client.deliver().await;
        alarm.set(client.deadline());
        tokio::select! { biased;
            heard = link.line(), if !client.is_ruled() => {
                let (line, at) = heard?;
                client.line(&line, at, &mut out);
            }
            order = client.order() => {
                let Some(order) = order else { break };
                client.obey(order, Instant::now(), &mut out);
            }
            () = alarm.rings() => client.expire(),
        }
        if !out.is_empty() {
            link.say(&out).await?;
            out.clear();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_asks_a_server_that_cannot_be_reached_every_minute_and_spares_one_that_refuses_it() {
        let config = ClientConfig::default();
        let longest = |failure: &Failure| {
            let mut backoff = Backoff::new(config.backoff, config.backoff_most);
            (0..20).map(|_| pause(&config, &mut backoff, failure)).max().unwrap()
        };
        let gone = LinkError::Connect("host".to_owned(), std::io::ErrorKind::ConnectionRefused.into());
        assert!(longest(&gone.into()) <= AWAY);
        assert!(longest(&Failure::Refused("a".to_owned(), "incorrect".to_owned())) > 5 * AWAY);
    }
}
