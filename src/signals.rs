//! The signals of the program, the same for every command that plays.
//!
//! | signal | the first time | again |
//! |---|---|---|
//! | SIGINT (Ctrl-C) | no new games; those that run are finished | the running games end now |
//! | SIGTERM, SIGHUP | the running games end now | the same |
//!
//! A game that ends now is adjourned and played again when the event goes on (`run`, `match`, `serve` with an event),
//! broken off (`serve` with an open league), or resigned (`floodgate`). Whatever the signal, the journal and every
//! engine are closed in order.

use arena::Shutdown;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::{io, thread};

/// Turns signals into the wish to end, on a thread of its own; `finishing` is called at the first SIGINT.
///
/// # Errors
/// When the system has no thread or handler for it.
pub fn listen(shutdown: Shutdown, finishing: impl Fn() + Send + 'static) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            tracing::info!(target: "signals", signal, "signal received");
            if signal == SIGINT && !shutdown.is_finishing() {
                shutdown.finish();
                finishing();
            } else {
                shutdown.adjourn();
            }
        }
    })?;
    Ok(())
}
