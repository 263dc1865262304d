//! Games of somebody else's event, played again: whether its engines make the same moves here.
//!
//! Only games come into question whose engines are limited by nodes or depth, think with one thread and alone, and are here:
//! a program that the person at this machine has named, whose SHA-256 is that on record. Options and arguments come from
//! the file, whose author nobody knows, so that every engine runs in the strict sandbox, and without environment variables
//! of the file.

use crate::Failure;
use arena::{
    Say, Unplayed,
    identity::Identifier,
    note::Note,
    operations::Interventions,
    play::Fixture,
    worker::{Field, Worker, WorkerContext, WorkerSpec},
};
use journal::{EventSummary, FullGame, GameFilter, Store};
use parking_lot::Mutex;
use plan::{EnginePlan, Sandbox};
use referee::{
    Outcome,
    adjudicate::Adjudication,
    entry::{Entry, GameId, PlayerId},
    game::Setup,
    identity::Identity,
    number::number,
    rules::Rules,
    sink::{SideRecord, Sink},
};
use rsshogi::types::Move;
use seat::{sandbox, usi::Handshake};
use serde_json::Value;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    time::{Duration, Instant},
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Most time of a game. The limits of the engines come from the file, too.
const GAME: Duration = Duration::from_secs(600);
/// Names of the option for the number of threads.
const THREADS: [&str; 3] = ["Threads", "Thread", "USI_Threads"];

/// What became of the games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Games that were played again.
    pub games: usize,
    /// How some of them went another way.
    pub differences: Vec<String>,
    /// Games that come into question, those that were not chosen included.
    pub suitable: usize,
    /// Games that count and do not come into question.
    pub unsuitable: usize,
}

/// Plays so many percent of the suitable games of all events again; `programs` are the engines that are here.
///
/// # Errors
/// When there is no strict sandbox here, or the database cannot be read.
pub fn replay(database: &Path, percent: f64, programs: &[PathBuf], say: &Say) -> Result<Replayed, Failure> {
    if let Err(lack) = sandbox::available() {
        return Err(Failure::Other(format!(
            "engines of a file of somebody else are played in the strict sandbox alone: {lack}"
        )));
    }
    let store = Store::read(database)?;
    let mut replayed = Replayed::default();
    for event in store.events()?.iter().filter(|event| event.kind == "run") {
        let event = Event::read(&store, event, programs, say)?;
        let games = event.suitable(&mut replayed)?;
        let wanted = (games.len() as f64 * percent / 100.0).ceil() as usize;
        replayed.suitable += games.len();
        // Spread over the event.
        for at in 0..wanted.min(games.len()) {
            let game = games[at * games.len() / wanted];
            replayed.games += 1;
            replayed.differences.extend(event.difference(game)?);
        }
    }
    Ok(replayed)
}

/// An event whose games are played again.
struct Event<'a> {
    store: &'a Store,
    summary: &'a EventSummary,
    rules: Rules,
    adjudication: Adjudication,
    seed: u64,
    /// The engines by player, as they are started here; `None` for one that is not here, or may play otherwise each time.
    engines: Vec<Option<Arc<EnginePlan>>>,
}

impl<'a> Event<'a> {
    fn read(
        store: &'a Store,
        summary: &'a EventSummary,
        programs: &[PathBuf],
        say: &Say,
    ) -> Result<Self, Failure> {
        let unreadable = |error: serde_json::Error| {
            Failure::Other(format!("the stored plan of `{}` cannot be read: {error}", summary.name))
        };
        let mut plan: HashMap<String, Value> = serde_json::from_str(&summary.plan).map_err(unreadable)?;
        let mut take = |key: &str| plan.remove(key).unwrap_or_default();
        let rules = serde_json::from_value(take("rules")).map_err(unreadable)?;
        let adjudication = serde_json::from_value(take("adjudication")).map_err(unreadable)?;
        let seed = serde_json::from_value(take("seed")).map_err(unreadable)?;
        let engines: Vec<EnginePlan> = serde_json::from_value(take("engines")).map_err(unreadable)?;
        let known = store.identities(summary.id)?;
        let said = |line: &str| say(line);
        let mut identifier = Identifier::new(store.path(), &said);
        let here = (0..).zip(engines).map(|(player, engine)| {
            let identity = known.iter().rev().find(|known| known.player == PlayerId(player))?;
            found(engine, &identity.identity, programs, &mut identifier).map(Arc::new)
        });
        let engines = here.collect();
        Ok(Self { store, summary, rules, adjudication, seed, engines })
    }

    /// The games that can be played again.
    fn suitable(&self, replayed: &mut Replayed) -> Result<Vec<GameId>, Failure> {
        let is_here = |player: PlayerId| self.engines.get(player.index()).is_some_and(Option::is_some);
        let mut games = vec![];
        self.store.games::<Failure>(self.summary.id, &GameFilter::default(), |row| {
            let begun =
                row.outcome.is_some_and(Outcome::counts) && row.start.is_some() && row.ruling.is_none();
            if begun && is_here(row.pairing.black) && is_here(row.pairing.white) {
                games.push(row.game);
            } else if row.outcome.is_some_and(Outcome::counts) {
                replayed.unsuitable += 1;
            }
            Ok(())
        })?;
        Ok(games)
    }

    /// Plays a game again; where it goes another way.
    fn difference(&self, game: GameId) -> Result<Option<String>, Failure> {
        let Some(stored) = self.store.game(self.summary.id, game)? else { return Ok(None) };
        let (moves, outcome) = self.play(&stored)?;
        let before: Vec<Move> = stored.moves.iter().map(|(_, moved)| moved.mv).collect();
        let other = moves.iter().zip(&before).position(|(now, then)| now != then);
        let name = notation::printable(self.summary.name.as_bytes());
        Ok(match (other, stored.row.outcome) {
            (Some(ply), _) => {
                let [now, then] = [moves[ply], before[ply]].map(|mv| mv.to_usi());
                Some(format!("`{name}`, game {}: move {} was {then}, and is {now} here", game.0, ply + 1))
            }
            (None, Some(then)) if moves.len() != before.len() || outcome != Ok(then) => {
                let now = outcome.map_or_else(|why| why.to_string(), |outcome| outcome.cause().to_owned());
                let (plies, were) = (number(moves.len(), "move"), number(before.len(), "move"));
                Some(format!(
                    "`{name}`, game {}: {} after {were} was {now} after {plies} here",
                    game.0,
                    then.cause()
                ))
            }
            _ => None,
        })
    }

    /// Plays a game from its opening, with processes of its own; its moves, and its end or why there was none.
    fn play(&self, stored: &FullGame) -> Result<(Vec<Move>, Result<Outcome, Unplayed>), Failure> {
        let failed = |error: std::io::Error| Failure::Other(format!("a thread for a game: {error}"));
        let moves = Arc::<Moves>::default();
        let ((notes, inbox), adjourn) = (mpsc::channel(), CancellationToken::new());
        let context = WorkerContext {
            sink: moves.clone(),
            notes,
            field: Field::new(self.engines.iter().map(|engine| (engine.clone().unwrap_or_default(), None))),
            remote: None,
            startups: Arc::new(Semaphore::new(2)),
            spare: Arc::new(Semaphore::new(0)),
            recorder: None,
            adjourn: adjourn.clone(),
            interventions: Arc::<Interventions>::default(),
        };
        let worker =
            Worker::start(WorkerSpec { number: 0, slots: 1, cores: vec![] }, context).map_err(failed)?;
        let is_played = worker.play(self.fixture(stored)?, None);
        let until = Instant::now() + GAME;
        let over = loop {
            match inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Note::Over(over)) => break Some(over.outcome),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) if !adjourn.is_cancelled() => adjourn.cancel(),
                Err(RecvTimeoutError::Timeout) => std::thread::sleep(Duration::from_millis(10)),
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };
        let _panic_printed = worker.let_go().join();
        let outcome = over.filter(|_| is_played).unwrap_or(Err(Unplayed::NoWorker));
        let moves = std::mem::take(&mut *moves.0.lock());
        Ok((moves, outcome))
    }

    fn fixture(&self, stored: &FullGame) -> Result<Fixture, Failure> {
        let row = &stored.row;
        let before = self.store.moves_before(self.summary.id, row)?;
        let time = |player: PlayerId| {
            self.engines
                .get(player.index())
                .and_then(Option::as_ref)
                .map(|engine| engine.time)
                .unwrap_or_default()
        };
        let plan = [time(row.pairing.black), time(row.pairing.white)];
        let scale = |player: PlayerId| self.engines.get(player.index())?.as_ref()?.scale;
        let scales = [row.pairing.black, row.pairing.white].map(|player| scale(player).unwrap_or_default());
        let opening = row.opening.as_deref().unwrap_or_default();
        let setup = Setup {
            game: row.game,
            rules: self.rules,
            adjudication: self.adjudication,
            scales,
            times: row.times.as_deref().copied().unwrap_or(plan),
            start: row.start.clone().unwrap_or_default(),
            opening: opening.split_whitespace().filter_map(Move::from_usi).collect(),
            scores: before.iter().map(|(_, moved)| moved.score()).collect(),
            hears: [false; 2],
            may_reject: false,
            seed: row.pairing.seed(self.seed),
        };
        Ok(Fixture::of(setup, row.pairing))
    }
}

/// The engine as it is started here, if one of the programs is it and it plays the same each time.
fn found(
    engine: EnginePlan,
    known: &Identity,
    programs: &[PathBuf],
    identifier: &mut Identifier<'_>,
) -> Option<EnginePlan> {
    let is_counted = engine.time.nodes.is_some() || engine.time.depth.is_some();
    let threads = engine.options.iter().find(|(name, _)| THREADS.contains(&name.as_str()));
    let is_alone = threads.is_none_or(|(_, count)| count == "1") && !engine.ponder && engine.gpu == 0.0;
    if !is_counted || !is_alone || engine.remote || !engine.environment.is_empty() {
        return None;
    }
    programs.iter().find_map(|program| {
        let mut here = engine.clone();
        (here.command, here.directory, here.source, here.host) = (program.clone(), None, None, None);
        (here.sandbox.kind, here.sandbox.write) = (Sandbox::Strict, vec![]);
        let identity = identifier.identify(&here, &Handshake::default()).ok()?.identity;
        let is_it = identity.hash.is_some() && identity.hash == known.hash;
        (is_it && known.changes_to(&identity, &|_| false).is_empty()).then_some(here)
    })
}

/// Keeps the moves of a game.
#[derive(Debug, Default)]
struct Moves(Mutex<Vec<Move>>);

impl Sink for Moves {
    fn happened(&self, entry: Entry) {
        if let Entry::Moved(moved) = entry {
            self.0.lock().push(moved.mv);
        }
    }

    fn keep(&self, _: SideRecord) {}
}
