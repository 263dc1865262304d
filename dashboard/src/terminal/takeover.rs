//! Taking over and restoring the terminal: raw mode, the alternate screen, and stderr, whose lines would damage the
//! screen.
//!
//! The original state is kept in statics, so that the panic hook of any thread can restore it.

use parking_lot::Mutex;
use platform::terminal::{self, Stderr};
use ratatui::crossterm::{
    cursor::Show,
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use std::{
    io::{self, BufRead, BufReader, IsTerminal},
    panic,
    sync::{
        Arc, LazyLock, Once,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

static DOWN: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));
static STDERR: Mutex<Option<Stderr>> = Mutex::new(None);

/// Flag that is set while the terminal is not taken over.
pub fn down() -> Arc<AtomicBool> {
    DOWN.clone()
}

/// A terminal that is taken over; dropping this restores it.
pub struct Takeover {
    lines: Option<mpsc::Receiver<String>>,
}

impl Takeover {
    /// Takes over the terminal.
    pub fn enter() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                restore();
                before(info);
            }));
        });
        let mut takeover = Self { lines: None };
        takeover.enter_again()?;
        Ok(takeover)
    }

    /// Takes over the terminal again after [`Takeover::leave`].
    pub fn enter_again(&mut self) -> io::Result<()> {
        DOWN.store(false, SeqCst);
        self.lines = if io::stderr().is_terminal() { Some(catch_stderr()?) } else { None };
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen)
    }

    /// Restores the terminal.
    pub fn leave(&mut self) {
        restore();
    }

    /// True if a panic of some thread restored the terminal.
    pub fn is_lost(&self) -> bool {
        DOWN.load(SeqCst)
    }

    /// Lines written to stderr since the last call.
    pub fn stderr_lines(&self) -> Vec<String> {
        self.lines.as_ref().map(|lines| lines.try_iter().collect()).unwrap_or_default()
    }
}

impl Drop for Takeover {
    fn drop(&mut self) {
        restore();
        // Lines that the screen has not shown are printed now.
        self.stderr_lines().iter().for_each(|line| eprintln!("{}", crate::text::clean(line)));
    }
}

pub(super) fn restore() {
    if DOWN.swap(true, SeqCst) {
        return;
    }
    let _failed = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _failed = disable_raw_mode();
    if let Some(stderr) = STDERR.lock().take() {
        stderr.put_back();
    }
}

/// Redirects stderr into a channel of lines.
fn catch_stderr() -> io::Result<mpsc::Receiver<String>> {
    let (read, kept) = terminal::catch_stderr()?;
    *STDERR.lock() = Some(kept);
    let (sender, lines) = mpsc::channel();
    thread::Builder::new().name("stderr".to_owned()).spawn(move || {
        let lines = BufReader::new(read).split(b'\n').map_while(Result::ok);
        for line in lines {
            let _receiver_gone = sender.send(String::from_utf8_lossy(&line).into_owned());
        }
    })?;
    Ok(lines)
}
