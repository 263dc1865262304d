//! The terminal taken and given back: raw mode, the alternate screen, and stderr, whose lines would tear the picture.
//!
//! What was taken is kept in statics, so that the panic hook of any thread can give it back.

use nix::{
    fcntl::OFlag,
    unistd::{dup2_stderr, pipe2},
};
use ratatui::crossterm::{
    cursor::Show,
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal},
    os::fd::{AsFd, OwnedFd},
    panic,
    sync::{
        Arc, LazyLock, Mutex, Once, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

static DOWN: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));
static STDERR: Mutex<Option<OwnedFd>> = Mutex::new(None);

/// Set while the terminal is not taken.
pub fn down() -> Arc<AtomicBool> {
    DOWN.clone()
}

/// A terminal that is taken; dropping it gives it back.
pub struct Takeover {
    lines: Option<mpsc::Receiver<String>>,
}

impl Takeover {
    /// Takes the terminal.
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

    /// Takes it again after [`Takeover::leave`].
    pub fn enter_again(&mut self) -> io::Result<()> {
        DOWN.store(false, SeqCst);
        self.lines = if io::stderr().is_terminal() { Some(catch_stderr()?) } else { None };
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen)
    }

    /// Gives it back.
    pub fn leave(&mut self) {
        restore();
    }

    /// Whether it was given back by a panic somewhere.
    pub fn is_lost(&self) -> bool {
        DOWN.load(SeqCst)
    }

    /// What was written to stderr meanwhile.
    pub fn stderr_lines(&self) -> Vec<String> {
        self.lines.as_ref().map(|lines| lines.try_iter().collect()).unwrap_or_default()
    }
}

impl Drop for Takeover {
    fn drop(&mut self) {
        restore();
        // What nobody saw on the screen is said now.
        self.stderr_lines().iter().for_each(|line| eprintln!("{line}"));
    }
}

fn restore() {
    if DOWN.swap(true, SeqCst) {
        return;
    }
    let _gone = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _gone = disable_raw_mode();
    if let Some(stderr) = STDERR.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _gone = dup2_stderr(stderr);
    }
}

/// Turns stderr into lines that can be shown.
fn catch_stderr() -> io::Result<mpsc::Receiver<String>> {
    let (read, write) = pipe2(OFlag::O_CLOEXEC)?;
    let kept = io::stderr().as_fd().try_clone_to_owned()?;
    dup2_stderr(write)?;
    *STDERR.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    let (told, lines) = mpsc::channel();
    thread::Builder::new().name("stderr".to_owned()).spawn(move || {
        let lines = BufReader::new(File::from(read)).split(b'\n').map_while(Result::ok);
        for line in lines {
            let _nobody_looks = told.send(String::from_utf8_lossy(&line).into_owned());
        }
    })?;
    Ok(lines)
}
