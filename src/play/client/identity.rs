//! The identity of the engine on a server. No engine is refused, as a server rates names; a change is noted.

use arena::{
    IdentityError,
    identity::{Engine, Identifier},
    preflight::option_faults,
};
use plan::ClientConfig;
use referee::{
    entry::{Entry, PlayerId},
    identity::Identity,
    sink::{SideRecord, Sink},
};
use seat::usi::{self, Gate, Reach, Step, UsiPlayer};
use std::sync::Arc;
use tokio::sync::watch;

/// The identity of the engine; `None` if it cannot be started, which the login loop reports and retries.
///
/// # Errors
/// Faults of the engine's files.
pub async fn identify(config: &ClientConfig, say: &dyn Fn(&str)) -> Result<Option<Engine>, IdentityError> {
    let player = UsiPlayer::alone(Arc::new(config.engine.clone()));
    match usi::look(player, Reach::Handshake, &watch::channel(Step::default()).0).await {
        Ok(shown) => {
            // The look before the first login has reported them.
            if !config.look {
                option_faults(&config.engine, &shown).iter().for_each(|fault| say(&warning(fault)));
            }
            let mut identifier = Identifier::new(&config.database, say);
            if let Some(records) = &config.records {
                identifier = identifier.writing(&records.directory, &records.formats);
            }
            identifier.identify(&config.engine, &shown).map(Some)
        }
        Err(_) => Ok(None),
    }
}

/// The warning about an option; the option is set all the same, since some engines hide options.
pub fn warning(fault: &str) -> String {
    notation::printable(format!("warning: {fault}").as_bytes())
}

/// Stores the engine of this run, and notes its changes since `before`.
pub fn record(engine: &Engine, before: Option<&Identity>, player: PlayerId, sink: &dyn Sink) {
    sink.keep(SideRecord::Identified(player, Box::new(engine.identity.clone())));
    let changes = before.map(|before| engine.changes_since(before)).unwrap_or_default();
    if !changes.is_empty() {
        note(engine, &changes, player, sink);
    }
}

fn note(engine: &Engine, changes: &[String], player: PlayerId, sink: &dyn Sink) {
    let text = format!("engine `{}` has changed: {}", engine.name, changes.join("; "));
    sink.happened(Entry::Fault { player: Some(player), text });
}

/// Notes a change of the engine during a run; the engine is started all the same.
#[derive(Debug)]
pub struct Notice {
    /// The engine as it was when this run began.
    pub engine: Engine,
    /// The player.
    pub player: PlayerId,
    /// Sink for the note.
    pub sink: Arc<dyn Sink>,
}

impl Gate for Notice {
    fn is_suspect(&self) -> bool {
        self.engine.is_suspect()
    }

    fn opens(&self) -> bool {
        let replaced = self.engine.news(false).replaced;
        if !replaced.is_empty() {
            note(&self.engine, &replaced, self.player, &*self.sink);
        }
        true
    }
}
