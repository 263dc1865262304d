//! Unix: signals.

use super::Signal;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP},
    flag, low_level,
};
use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
};

const ENDS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The wishes that this program ends, from now on.
#[derive(Debug)]
pub struct Signals(signal_hook::iterator::Signals);

impl Signals {
    /// Takes the default effect from these signals.
    ///
    /// # Errors
    /// When the system has no handler for them.
    pub fn listen() -> io::Result<Self> {
        signal_hook::iterator::Signals::new(ENDS).map(Self)
    }

    /// Waits for the next one.
    pub fn forever(&mut self) -> impl Iterator<Item = Signal> + '_ {
        self.0.forever().map(|number| match number {
            SIGINT => Signal::Interrupt,
            SIGHUP => Signal::HangUp,
            _ => Signal::Terminate,
        })
    }
}

/// Ends this program as if nobody had caught the signal. It returns only if that fails.
pub fn end_by(signal: Signal) {
    let _does_not_return = low_level::emulate_default_handler(signal.number());
}

/// Sets a flag at each wish that this program ends.
///
/// # Errors
/// When the system has no handler for it.
pub fn flag_end(flag: &Arc<AtomicBool>) -> io::Result<()> {
    ENDS.into_iter().try_for_each(|signal| flag::register(signal, flag.clone()).map(drop))
}

/// Sets a flag at a wish that this program is suspended; while `default` is set, the program is suspended at once.
///
/// # Errors
/// When the system has no handler for it.
pub fn flag_suspension(flag: &Arc<AtomicBool>, default: &Arc<AtomicBool>) -> io::Result<()> {
    flag::register_conditional_default(SIGTSTP, default.clone())?;
    flag::register(SIGTSTP, flag.clone()).map(drop)
}

/// True if the system suspends programs.
pub fn can_suspend() -> bool {
    true
}

/// Suspends this program until it is continued.
///
/// # Errors
/// When the system does not.
pub fn suspend() -> io::Result<()> {
    low_level::emulate_default_handler(SIGTSTP)
}

/// Sends an interrupt to this program, as Ctrl-C does.
///
/// # Errors
/// When the system does not.
pub fn interrupt() -> io::Result<()> {
    low_level::raise(SIGINT)
}
