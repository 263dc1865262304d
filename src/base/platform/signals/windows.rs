//! Windows: events of the console.

use super::Signal;
use std::{
    io, process,
    sync::{
        Arc, Mutex, Once, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT,
    SetConsoleCtrlHandler,
};

/// What hears of events.
static LISTENERS: Mutex<Vec<Listener>> = Mutex::new(vec![]);

enum Listener {
    Queue(mpsc::Sender<Signal>),
    Flag(Arc<AtomicBool>),
}

/// The wishes that this program ends, from now on.
#[derive(Debug)]
pub struct Signals(mpsc::Receiver<Signal>);

impl Signals {
    /// Takes the default effect from these events.
    ///
    /// # Errors
    /// When the system has no handler for them.
    pub fn listen() -> io::Result<Self> {
        let (queue, signals) = mpsc::channel();
        hear(Listener::Queue(queue))?;
        Ok(Self(signals))
    }

    /// Waits for the next one.
    pub fn forever(&mut self) -> impl Iterator<Item = Signal> + '_ {
        self.0.iter()
    }
}

#[allow(unsafe_code)]
fn hear(listener: Listener) -> io::Result<()> {
    static HANDLER: Once = Once::new();
    LISTENERS.lock().unwrap_or_else(PoisonError::into_inner).push(listener);
    let mut added = Ok(());
    // SAFETY: the handler is a function, which lives as long as the program.
    HANDLER.call_once(|| added = crate::windows::done(unsafe { SetConsoleCtrlHandler(Some(handler), 1) }));
    added
}

/// Called on a thread that the system makes for it.
#[allow(unsafe_code)]
unsafe extern "system" fn handler(event: u32) -> i32 {
    let signal = match event {
        CTRL_C_EVENT => Signal::Interrupt,
        CTRL_BREAK_EVENT => Signal::Terminate,
        CTRL_CLOSE_EVENT | CTRL_LOGOFF_EVENT | CTRL_SHUTDOWN_EVENT => Signal::HangUp,
        _ => return 0,
    };
    dispatch(signal);
    if signal == Signal::HangUp {
        // The system ends the program when this returns, and else some seconds later.
        loop {
            thread::sleep(Duration::from_secs(60));
        }
    }
    1
}

/// Hands a wish to all that listen.
pub(crate) fn dispatch(signal: Signal) {
    let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
    listeners.retain(|listener| match listener {
        Listener::Queue(queue) => queue.send(signal).is_ok(),
        Listener::Flag(flag) => {
            flag.store(true, Ordering::SeqCst);
            true
        }
    });
}

/// Ends this program as if nobody had caught the signal.
pub fn end_by(_signal: Signal) {
    // STATUS_CONTROL_C_EXIT
    process::exit(0xC000_013A_u32.cast_signed());
}

/// Sets a flag at each wish that this program ends.
///
/// # Errors
/// When the system has no handler for it.
pub fn flag_end(flag: &Arc<AtomicBool>) -> io::Result<()> {
    hear(Listener::Flag(flag.clone()))
}

/// Nothing to do: the system suspends no programs.
///
/// # Errors
/// None.
pub fn flag_suspension(_flag: &Arc<AtomicBool>, _default: &Arc<AtomicBool>) -> io::Result<()> {
    Ok(())
}

/// True if the system suspends programs.
pub fn can_suspend() -> bool {
    false
}

/// Suspends this program until it is continued.
///
/// # Errors
/// Always: the system suspends no programs.
pub fn suspend() -> io::Result<()> {
    Err(crate::unanswered("how a program is suspended"))
}

/// Sends an interrupt to this program, as Ctrl-C does.
///
/// # Errors
/// None.
pub fn interrupt() -> io::Result<()> {
    dispatch(Signal::Interrupt);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code)]
    fn events_of_the_console_are_wishes_and_no_event_ends_the_program_by_itself() {
        let mut signals = Signals::listen().unwrap();
        for (event, signal) in [(CTRL_C_EVENT, Signal::Interrupt), (CTRL_BREAK_EVENT, Signal::Terminate)] {
            // SAFETY: the handler takes any number.
            assert_eq!(unsafe { handler(event) }, 1);
            assert_eq!(signals.forever().next(), Some(signal));
        }
        // SAFETY: as above.
        assert_eq!(unsafe { handler(u32::MAX) }, 0, "another event has its default effect");
    }
}
