//! The thread of the terminal: it reads keys, draws at most ten frames a second, and restores the terminal at its
//! end.

mod takeover;
mod window;

use crate::{
    feed::Inbox,
    input::{self, Form, Screen},
    state::{MachineLine, State},
    ui::{Ui, Wish},
    view,
};
use contest::standings::{Scale, Standings};
use parking_lot::Mutex;
use platform::signals;
use ratatui::crossterm::event::Event as TerminalEvent;
use referee::{
    entry::{GameId, Stamped},
    running::RunningGame,
};
use report::{EventInfo, Language};
use std::{
    error::Error,
    io::{self, Write},
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use window::Window;

/// How long a notice stands in the place of the keys.
const NOTICE: Duration = Duration::from_secs(8);

/// Longest wait for a terminal that takes nothing.
const STUCK: Duration = Duration::from_secs(3);

/// Lines that wait for the log at most; the oldest make room.
const UNREAD: usize = 1000;

/// Time between look-ups of ratings.
const LOOK: Duration = Duration::from_secs(1);

/// Time between looks at machines that are not shown.
const GLANCE: Duration = Duration::from_secs(10);

/// What the screens ask for beside the stream of entries.
pub trait Source: Send {
    /// The entries of a finished game; empty if there are none.
    fn game(&mut self, game: GameId) -> Vec<Stamped>;

    /// Writes a game to a file; returns its path.
    ///
    /// # Errors
    /// The reason of the failure.
    fn save(&mut self, game: GameId, form: Form) -> Result<String, Box<dyn Error>>;

    /// The other machines that play games of the event.
    fn machines(&mut self) -> Vec<MachineLine>;

    /// The games that these play now; `None` in an event on one machine.
    fn elsewhere(&mut self) -> Option<Vec<RunningGame>>;

    /// Ratings on an external scale, if there are any.
    fn scale(&mut self, standings: &Standings, players: &[String]) -> Option<Scale>;
}

/// The inputs of a dashboard.
pub struct Setting {
    /// The event.
    pub info: EventInfo,
    /// Entries of earlier runs, in order.
    pub before: Vec<Stamped>,
    /// What is not in its entries.
    pub source: Box<dyn Source>,
    /// True if another process plays the event.
    pub watching: bool,
    /// The language of the reader.
    pub language: Language,
}

/// Restores the terminal if it is taken over, for a program that ends without dropping the dashboard.
pub fn give_back() {
    takeover::restore();
}

/// The dashboard on the terminal. Dropping it restores the terminal.
#[derive(Debug)]
pub struct Dashboard {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The owner asks the thread to end.
    leave: AtomicBool,
    /// The event is over and the owner waits for the reader, so Ctrl-C only leaves.
    lingers: AtomicBool,
    /// A key was pressed.
    touched: AtomicBool,
    /// The thread has restored the terminal.
    gone: AtomicBool,
    /// Lines for the log that the thread has not fetched yet.
    unread: Mutex<Vec<Unread>>,
}

impl Shared {
    fn take_unread(&self) -> Vec<Unread> {
        std::mem::take(&mut *self.unread.lock())
    }
}

impl Dashboard {
    /// Starts the thread; the terminal is taken when the first event comes.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn open(setting: Setting, inbox: Inbox) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let show = move || {
            let shown = show(setting, &inbox, &theirs);
            theirs.gone.store(true, SeqCst);
            theirs.take_unread().iter().for_each(|unread| on_stderr(&unread.line));
            if let Err(error) = shown {
                eprintln!("the terminal cannot be used: {error}");
            }
        };
        let thread = Some(thread::Builder::new().name("screen".to_owned()).spawn(show)?);
        Ok(Self { shared, thread })
    }

    /// A writer that discards lines while the screens are shown and writes to stdout afterwards.
    pub fn quiet_stdout(&self) -> QuietStdout {
        QuietStdout(self.shared.clone())
    }

    /// A log whose lines go to the log screen while the screens are shown and to stderr afterwards.
    pub fn log(&self) -> Log {
        Log(self.shared.clone())
    }

    /// Waits until the reader leaves; does not wait for a reader who has never pressed a key.
    pub fn linger(mut self) {
        self.shared.lingers.store(true, Relaxed);
        if self.shared.touched.load(Relaxed) {
            self.join();
        }
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // The panic hook has printed the message already.
            let _panic = thread.join();
        }
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.shared.leave.store(true, Relaxed);
        let begun = Instant::now();
        // A terminal that was stopped (Ctrl-S) takes nothing, not even its own restoration.
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            if begun.elapsed() > STUCK {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.join();
    }
}

/// See [`Dashboard::quiet_stdout`].
#[derive(Debug)]
pub struct QuietStdout(Arc<Shared>);

impl Write for QuietStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.gone.load(Relaxed) { io::stdout().write(bytes) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// A line for the log.
#[derive(Debug)]
struct Unread {
    /// In ms since 1970 UTC.
    at: i64,
    line: String,
    /// True if it stands at the foot of the screen, too.
    noticed: bool,
}

/// See [`Dashboard::log`].
#[derive(Clone, Debug)]
pub struct Log(Arc<Shared>);

impl Log {
    /// Writes a line, which also stands at the foot of the screen for a while.
    pub fn write(&self, line: &str) {
        self.take(line, true);
    }

    /// Writes a line into the log alone: such lines may come so often that they would hide the foot of the screen.
    pub fn note(&self, line: &str) {
        self.take(line, false);
    }

    fn take(&self, line: &str, noticed: bool) {
        let unread = Unread { at: now(), line: line.to_owned(), noticed };
        let mut waiting = self.0.unread.lock();
        if waiting.len() >= UNREAD {
            waiting.remove(0);
        }
        waiting.push(unread);
        drop(waiting);
        if self.0.gone.load(SeqCst) {
            self.0.take_unread().iter().for_each(|unread| on_stderr(&unread.line));
        }
    }
}

/// Writes a line to stderr; a closed stderr is no error.
fn on_stderr(line: &str) {
    let _closed = writeln!(io::stderr(), "{}", crate::text::clean_lines(line));
}

fn show(setting: Setting, inbox: &Inbox, shared: &Shared) -> io::Result<()> {
    let Setting { info, before, source, watching, language } = setting;
    let mut state = State::new(info).in_language(language);
    before.into_iter().for_each(|stamped| state.fold(&stamped));
    while inbox.waiting() == 0 {
        if inbox.is_over() || shared.leave.load(Relaxed) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(20));
    }
    let ui = Ui { palette: window::palette(), watching, ..Ui::default() };
    let window = Window::open()?;
    ScreenLoop { state, ui, source, asked: None, inbox, shared, window, looked: None, noticed: None }.run()
}

struct ScreenLoop<'a> {
    state: State,
    ui: Ui,
    source: Box<dyn Source>,
    /// Time of the last look at the machines.
    asked: Option<Instant>,
    inbox: &'a Inbox,
    shared: &'a Shared,
    window: Window,
    /// Time of the last look-up of ratings.
    looked: Option<Instant>,
    /// When the notice was written.
    noticed: Option<Instant>,
}

impl ScreenLoop<'_> {
    fn run(mut self) -> io::Result<()> {
        while !self.is_over() {
            self.hear()?;
            self.draw_if_needed()?;
            if !self.window.rest() {
                return Ok(());
            }
            while let Some(event) = self.window.event()? {
                if self.terminal_event(&event)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// True if the dashboard has to end.
    fn is_over(&self) -> bool {
        let alone = self.ui.watching || self.shared.lingers.load(Relaxed);
        self.shared.leave.load(Relaxed) || self.window.is_lost() || (alone && self.window.is_stopped())
    }

    /// Writes a notice into the last line.
    fn notify(&mut self, line: &str) {
        self.ui.notice = Some(crate::text::clean(line));
        self.noticed = Some(Instant::now());
        self.window.dirty = true;
    }

    /// Takes note of what time has changed: a notice that has stood long enough, and the end of the event.
    fn age(&mut self) {
        if self.noticed.is_some_and(|noticed| noticed.elapsed() >= NOTICE) {
            (self.noticed, self.ui.notice, self.window.dirty) = (None, None, true);
        }
        let lingers = self.shared.lingers.load(Relaxed);
        self.window.dirty |= lingers != self.ui.lingers;
        self.ui.lingers = lingers;
    }

    fn hear(&mut self) -> io::Result<()> {
        self.age();
        self.window.obey_suspension()?;
        for line in self.window.stderr_lines() {
            self.state.log_line(now(), false, &line);
            self.notify(&line);
        }
        for Unread { at, line, noticed } in self.shared.take_unread() {
            self.state.log_line(at, false, &line);
            self.window.dirty = true;
            if noticed {
                self.notify(&line);
            }
        }
        if self.ui.paused {
            self.ui.waiting = self.inbox.waiting();
            self.window.dirty = true;
            return Ok(());
        }
        let news = self.inbox.take();
        self.window.dirty |= !news.is_empty();
        news.iter().flat_map(|batch| batch.iter()).for_each(|stamped| self.state.fold(stamped));
        Ok(())
    }

    fn draw_if_needed(&mut self) -> io::Result<()> {
        if !self.window.is_due() {
            return Ok(());
        }
        if !self.ui.paused {
            self.look_up();
            self.look_at_machines();
            self.look_elsewhere();
            self.state.tick(now());
        }
        self.fetch();
        let (state, ui) = (&self.state, &self.ui);
        self.window.draw(|area, buf| view::draw(state, ui, area, buf))
    }

    /// Looks up external ratings from time to time.
    fn look_up(&mut self) {
        if self.looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            let players: Vec<String> =
                self.state.info.engines.iter().map(|engine| engine.name.clone()).collect();
            let scale = self.source.scale(&self.state.standings, &players);
            scale.into_iter().for_each(|scale| self.state.rescale(scale));
            self.looked = Some(Instant::now());
        }
    }

    /// Looks at the machines from time to time: often while they are shown.
    fn look_at_machines(&mut self) {
        let pause = if self.ui.screen == Screen::Machines { LOOK } else { GLANCE };
        if self.asked.is_none_or(|asked| asked.elapsed() >= pause) {
            self.state.machines = self.source.machines();
            self.asked = Some(Instant::now());
        }
    }

    /// Looks at the games that other machines play. A game that is shown may be gone: then it is over, and has a number.
    fn look_elsewhere(&mut self) {
        let Some(games) = self.source.elsewhere() else { return };
        self.state.show_elsewhere(games);
        let shown = self.ui.game.filter(|game| game.is_elsewhere() && !self.state.boards.contains_key(game));
        if shown.is_some() {
            self.ui.game = None;
            self.notify(self.state.language.over_and_numbered_later());
        }
    }

    /// Loads the shown game from the archive if its board is not in memory.
    fn fetch(&mut self) {
        if let Some(game) = self.ui.game.filter(|game| !self.state.boards.contains_key(game)) {
            let events = self.source.game(game);
            self.state.recall(&events);
            if !self.state.boards.contains_key(&game) {
                self.notify(&self.state.language.not_in_database(game.0));
                self.ui.game = None;
            }
        }
    }

    /// Whether the reader leaves.
    fn terminal_event(&mut self, event: &TerminalEvent) -> io::Result<bool> {
        let TerminalEvent::Key(key) = event else { return Ok(false) };
        self.shared.touched.store(true, Relaxed);
        self.ui.notice = None;
        let Some(action) = input::action(*key, self.ui.writing) else {
            self.ui.help &= key.is_release();
            return Ok(false);
        };
        match self.ui.act(action, &self.state) {
            None => {}
            Some(Wish::Quit) => return Ok(true),
            Some(Wish::Interrupt) if self.ui.watching || self.shared.lingers.load(Relaxed) => {
                return Ok(true);
            }
            Some(Wish::Interrupt) => signals::interrupt()?,
            Some(Wish::Suspend) => self.window.suspend()?,
            Some(Wish::Redraw) => self.window.anew()?,
            Some(Wish::Save(game, form)) => {
                let notice = match self.source.save(game, form) {
                    Ok(path) => self.state.language.game_is_in(game.0, &path),
                    Err(reason) => self.state.language.game_not_written(game.0, &reason.to_string()),
                };
                self.notify(&notice);
            }
        }
        self.fetch();
        Ok(false)
    }
}

/// Milliseconds since 1970 UTC.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
