//! The dashboard on this program's events: fed by the journal while they are played here, and by polling the database
//! while another process plays them.

use arena::boards::LiveBoards;
use contest::{
    standings::Standings,
    standings::{LookUp, Scale},
};
use dashboard::{EventInfo, Setting, Source, input::Form, state::MachineLine};
use event::{Failure, Screen};
use journal::{EventId, Follower, FullGame, Store, StoreError};
use notation::record::Format as RecordFormat;
use plan::Event;
use referee::{
    entry::{Entry, GameEnded, GameId, GameStarted, Stamped},
    lease::MachineState,
    running::RunningGame,
};
use std::{
    collections::{BTreeMap, HashSet},
    error::Error,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    sync::Arc,
};
use words::Language;

/// Opens the dashboard for an event that is about to be played; `None` without a suitable terminal.
pub fn open(
    language: Language,
    event: &Event,
    scale: Option<LookUp>,
    boards: Option<Arc<LiveBoards>>,
) -> Result<Option<Screen>, Failure> {
    if !has_terminal() {
        return Ok(None);
    }
    let (name, database) = (event.name().to_owned(), event.database().to_owned());
    let info = EventInfo::of_stored(event.into());
    let before = before(&database, &name)?;
    boards.iter().for_each(|boards| boards.watch());
    let source = EventSource { database, name, open: None, scale, boards };
    let setting = Setting { info, before, source: Box::new(source), watching: false, language };
    let (feed, inbox) = dashboard::feed::pair();
    let screen = dashboard::Dashboard::open(setting, inbox).map_err(no_thread)?;
    let game_lines = Box::new(screen.quiet_stdout());
    let log = screen.log();
    let notes = screen.log();
    let say = Arc::new(move |line: &str| log.write(line));
    let note = Arc::new(move |line: &str| notes.note(line));
    let linger = Box::new(move || screen.linger());
    Ok(Some(Screen { feed: Box::new(move |batch| feed.send(batch.clone())), game_lines, say, note, linger }))
}

pub fn has_terminal() -> bool {
    let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    io::stdout().is_terminal() && io::stdin().is_terminal() && !dumb
}

pub fn no_thread(error: io::Error) -> Failure {
    Failure::Other(format!("the dashboard's thread could not be started: {error}"))
}

/// Entries of the event so far; empty if the database or the event does not exist yet.
fn before(database: &Path, name: &str) -> Result<Vec<Stamped>, StoreError> {
    let Ok(store) = Store::read(database) else { return Ok(vec![]) };
    let Some(event) = store.event_named(name)? else { return Ok(vec![]) };
    past(&mut Follower::new(store, event))
}

/// What a follower sees first.
pub fn past(follower: &mut Follower) -> Result<Vec<Stamped>, StoreError> {
    let mut past = Past::default();
    follower.look(&mut |_, _, stamped| past.take(stamped))?;
    Ok(past.entries())
}

/// A compact past: of the starts of finished games, only the first of each opening is kept. The dashboard needs no
/// others, and an event may have a hundred thousand.
#[derive(Default)]
struct Past {
    kept: Vec<Stamped>,
    begun: BTreeMap<GameId, Stamped>,
    openings: HashSet<u64>,
}

impl Past {
    fn take(&mut self, stamped: Stamped) {
        match &stamped.entry {
            Entry::GameStarted(started) => {
                self.begun.insert(started.game, stamped);
                return;
            }
            Entry::Moved(moved) => self.kept.extend(self.begun.remove(&moved.game)),
            Entry::GameEnded(end) => {
                let start = self.begun.remove(&end.game);
                self.kept.extend(start.filter(|_| self.openings.insert(end.pairing.opening)));
            }
            _ => {}
        }
        self.kept.push(stamped);
    }

    fn entries(mut self) -> Vec<Stamped> {
        self.kept.extend(self.begun.into_values());
        self.kept
    }
}

/// The database of an event, which may not be there yet, and what the program knows beside it.
pub struct EventSource {
    pub database: PathBuf,
    pub name: String,
    pub open: Option<(Store, EventId)>,
    /// Looks up ratings on an external scale.
    pub scale: Option<LookUp>,
    /// The games that other machines play now.
    pub boards: Option<Arc<LiveBoards>>,
}

impl EventSource {
    fn open(&mut self) -> Option<(&Store, EventId)> {
        if self.open.is_none() {
            let store = Store::read(&self.database).ok()?;
            self.open = store.event_named(&self.name).ok().flatten().map(|event| (store, event));
        }
        self.open.as_ref().map(|(store, event)| (store, *event))
    }
}

impl Source for EventSource {
    fn game(&mut self, game: GameId) -> Vec<Stamped> {
        let found = self.open().and_then(|(store, event)| store.game(event, game).ok().flatten());
        found.map(events_of).unwrap_or_default()
    }

    /// Saves games into the working directory.
    fn save(&mut self, game: GameId, form: Form) -> Result<String, Box<dyn Error>> {
        let (format, extension) = match form {
            Form::Csa => (RecordFormat::Csa, "csa"),
            Form::Kif => (RecordFormat::Kifu, "kifu"),
        };
        let output = PathBuf::from(format!("game-{}.{extension}", game.0));
        let (db, event) = (self.database.clone(), Some(self.name.clone()));
        let (game, access) = (vec![game.0.to_string()], platform::files::Access::Shared);
        let args = records::Export { db, event, game, all: false, format, output, access };
        let written = records::export(&args)?;
        match written.games {
            0 => Err("the game is not in the database yet".into()),
            _ => Ok(args.output.display().to_string()),
        }
    }

    fn machines(&mut self) -> Vec<MachineLine> {
        let Some((store, event)) = self.open() else { return vec![] };
        let states = store.machine_states(event).unwrap_or_default();
        // Games are counted only where somebody else has played any.
        let counts =
            if states.is_empty() { vec![] } else { store.machines(event, i64::MAX).unwrap_or_default() };
        let games = |name: &str| counts.iter().find(|counts| counts.machine.as_deref() == Some(name));
        let line = |state: MachineState| {
            let games = games(&state.name).map_or(0, |counts| counts.games);
            MachineLine { state, games }
        };
        states.into_iter().map(line).collect()
    }

    fn elsewhere(&mut self) -> Option<Vec<RunningGame>> {
        let boards = self.boards.as_ref()?;
        Some(boards.read(|boards| boards.values().cloned().collect()))
    }

    fn scale(&mut self, standings: &Standings, players: &[String]) -> Option<Scale> {
        self.scale.as_mut().map(|scale| scale(standings, players))
    }
}

/// The entries of a stored game.
fn events_of(game: FullGame) -> Vec<Stamped> {
    let FullGame { row, moves, judged, .. } = game;
    let (game, pairing, plies) = (row.game, row.pairing, row.plies.unwrap_or(0));
    let start = row.start.unwrap_or_else(|| referee::opening::EVEN.to_owned());
    let opening = row.opening.unwrap_or_default();
    let times = row.times;
    let started = Entry::GameStarted(GameStarted { game, pairing, start, opening, times });
    let mut events = vec![Stamped { at: row.started_at.or(row.ended_at).unwrap_or(0), entry: started }];
    events.extend(moves.into_iter().map(|(at, moved)| Stamped { at, entry: Entry::Moved(moved) }));
    let last = events.last().map_or(0, |stamped| stamped.at);
    events.extend(judged.into_iter().map(|judged| Stamped { at: last, entry: Entry::Judged(judged) }));
    if let (Some(outcome), Some(at)) = (row.outcome, row.ended_at) {
        let (evidence, replayed) = (row.evidence, row.replayed);
        let ended = GameEnded { evidence, replayed, ..GameEnded::new(game, pairing, outcome, plies) };
        events.push(Stamped { at, entry: Entry::GameEnded(ended) });
    }
    events
}
