//! The terminal while screens are shown: taken over, drawn at most ten times a second, and given back at the end.

use super::takeover::{self, Takeover};
use crate::theme::Palette;
use platform::{signals, terminal::hangs_up};
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    buffer::Buffer,
    crossterm::{
        event::{self, Event},
        execute,
        terminal::{Clear, ClearType},
    },
    layout::Rect,
};
use std::{
    io::{self, Stdout},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Least time between frames.
const FRAME: Duration = Duration::from_millis(100);

/// Time between frames when only clocks change.
const TICK: Duration = Duration::from_millis(500);

/// The colours that the environment asks for.
pub fn palette() -> Palette {
    let var = |name| std::env::var(name).ok();
    Palette::of(var("NO_COLOR").as_deref(), var("COLORTERM").as_deref())
}

/// Signals that the screens handle.
struct Signals {
    stop: Arc<AtomicBool>,
    suspend: Arc<AtomicBool>,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        let (stop, suspend) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        signals::flag_end(&stop)?;
        // While the screens are shown, the terminal is restored first; at other times the signal has its default
        // effect.
        signals::flag_suspension(&suspend, &takeover::down())?;
        Ok(Self { stop, suspend })
    }
}

/// The terminal with the screens on it. Dropping it restores the terminal.
pub struct Window {
    signals: Signals,
    takeover: Takeover,
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// True if the next frame is not the one that is shown.
    pub dirty: bool,
    drawn: Option<Instant>,
}

impl Window {
    /// Takes over the terminal.
    pub fn open() -> io::Result<Self> {
        let signals = Signals::listen()?;
        let takeover = Takeover::enter()?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        Ok(Self { signals, takeover, terminal, dirty: true, drawn: None })
    }

    /// True if a panic of some thread restored the terminal.
    pub fn is_lost(&self) -> bool {
        self.takeover.is_lost()
    }

    /// True if a signal asked the program to end.
    pub fn is_stopped(&self) -> bool {
        self.signals.stop.load(Relaxed)
    }

    /// Lines written to stderr since the last call.
    pub fn stderr_lines(&self) -> Vec<String> {
        self.takeover.stderr_lines()
    }

    /// Waits for a key or the next frame. Returns false if the terminal is gone.
    pub fn rest(&self) -> bool {
        let rest = self.drawn.map_or(FRAME, |drawn| FRAME.saturating_sub(drawn.elapsed()));
        // The library would read the end of file of a closed window for ever.
        !hangs_up(if rest.is_zero() { FRAME } else { rest })
    }

    /// The next key or change of the window's size that has come already. The window of another size is drawn anew.
    pub fn event(&mut self) -> io::Result<Option<Event>> {
        if !event::poll(Duration::ZERO)? {
            return Ok(None);
        }
        let event = event::read()?;
        self.dirty = true;
        if let Event::Resize(..) = event {
            self.anew()?;
        }
        Ok(Some(event))
    }

    /// True if a frame is to be drawn now: something has changed, or clocks have, and the last frame is long enough ago.
    pub fn is_due(&self) -> bool {
        let since = self.drawn.map(|drawn| drawn.elapsed());
        since.is_none_or(|since| since >= FRAME && (self.dirty || since >= TICK))
    }

    /// Draws a frame.
    pub fn draw(&mut self, view: impl FnOnce(Rect, &mut Buffer)) -> io::Result<()> {
        self.terminal.draw(|frame| view(frame.area(), frame.buffer_mut()))?;
        (self.dirty, self.drawn) = (false, Some(Instant::now()));
        Ok(())
    }

    /// Suspends the program if a signal asked for it.
    pub fn obey_suspension(&mut self) -> io::Result<()> {
        if self.signals.suspend.swap(false, Relaxed) { self.suspend() } else { Ok(()) }
    }

    /// Suspends the program, where the system can; the terminal is restored meanwhile.
    pub fn suspend(&mut self) -> io::Result<()> {
        if !signals::can_suspend() {
            return Ok(());
        }
        self.takeover.leave();
        signals::suspend()?;
        self.signals.suspend.store(false, Relaxed);
        self.takeover.enter_again()?;
        self.anew()
    }

    /// Clears the terminal and draws it again. The library's own clear would wait for the terminal to report its
    /// cursor.
    pub fn anew(&mut self) -> io::Result<()> {
        execute!(io::stdout(), Clear(ClearType::All))?;
        self.terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        self.dirty = true;
        Ok(())
    }
}
