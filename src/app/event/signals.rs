//! The signals of the program, the same for every command that plays.
//!
//! | signal | the first time | again |
//! |---|---|---|
//! | SIGINT (Ctrl-C) | no new games; those that run are finished | the running games end now |
//! | SIGTERM, SIGHUP | the running games end now | the program ends at once |
//!
//! A game that ends now is adjourned and played again when the event goes on (`run`, `match`, `serve` with an event),
//! broken off (`serve` with an open league), or resigned (`floodgate`). The journal and every engine are closed in order.
//! A signal that comes [`PATIENCE`] after that was asked for ends the program as if nobody had caught it, whatever it
//! waits for; what was committed stays, and its engines end with it.

use crate::output;
use arena::Shutdown;
use platform::signals::{self, Signal, Signals};
use std::{
    io, thread,
    time::{Duration, Instant},
};

/// Signals that come closer together are one wish: a terminal that is closed sends SIGHUP twice.
const PATIENCE: Duration = Duration::from_secs(1);

/// Turns signals into the wish to end, on a thread of its own; `finishing` is called at the first SIGINT. From now on the
/// program waits for no reader of what it prints.
///
/// # Errors
/// When the system has no thread or handler for it.
pub fn listen(shutdown: Shutdown, finishing: impl Fn() + Send + 'static) -> io::Result<()> {
    output::never_wait();
    let mut signals = Signals::listen()?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut ending_since: Option<Instant> = None;
        for signal in signals.forever() {
            tracing::info!(target: "signals", signal = signal.number(), "signal received");
            if signal == Signal::Interrupt && !shutdown.is_finishing() {
                shutdown.finish();
                finishing();
            } else if ending_since.is_some_and(|since| since.elapsed() >= PATIENCE) {
                leave(signal);
            } else {
                ending_since.get_or_insert_with(Instant::now);
                shutdown.adjourn();
            }
        }
    })?;
    Ok(())
}

/// Ends the program now. Nothing here may wait for another thread, which is what may have hung.
fn leave(signal: Signal) {
    let _printed_or_not = thread::Builder::new().spawn(|| {
        dashboard::terminal::give_back();
        eprintln!("renmei: ended at once by a further signal; the same command continues the event");
    });
    thread::sleep(Duration::from_millis(100));
    signals::end_by(signal);
}
