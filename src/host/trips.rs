//! The key of an event's trips, and what its operator has to know of them.

use plan::serve::{Compat, Login, ServeConfig};
use referee::sink::{SideRecord, Sink, TripKey};

/// The key of earlier runs, or else a new one, which is kept with the event.
#[must_use]
pub fn key(stored: Option<TripKey>, sink: &dyn Sink) -> TripKey {
    stored.unwrap_or_else(|| {
        let key = TripKey(rand::random());
        sink.keep(SideRecord::TripKey(key.clone()));
        key
    })
}

/// Warns of a configuration that shows more of the players' secrets than it has to, and of trips in it that no player has.
pub fn say(config: &ServeConfig, players: &[String]) {
    if config.login != Login::Open {
        return;
    }
    if config.compat == Compat::ShogiServer {
        tracing::warn!(
            target: "host",
            "`compat = \"shogi-server\"` shows trips as MD5: whoever sees `%%WHO` or a record can try out secrets, and \
             with the right one play in the player's name"
        );
    }
    let named = config.time.iter().map(|time| ("serve.time", &time.player));
    let fixed = config.rating.fixed.iter().map(|fixed| ("serve.rating.fixed", fixed));
    for (key, id) in named.chain(fixed).filter(|(_, id)| id.contains('+') && !players.contains(id)) {
        tracing::warn!(
            target: "host",
            "`{key}` names {id:?}, and no player has this trip: write the name alone, or the id that `%%WHO` shows"
        );
    }
}
