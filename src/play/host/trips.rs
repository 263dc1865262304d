//! The key of an event's trips, and what its operator has to know of them.

use notation::printable;
use plan::serve::{Compat, Login, ServeConfig};
use referee::sink::{SideRecord, Sink, TripKey};

/// The key of earlier runs, or else a new one, which is kept with the event.
pub fn key(stored: Option<TripKey>, sink: &dyn Sink) -> TripKey {
    stored.unwrap_or_else(|| {
        let key = TripKey(rand::random());
        sink.keep(SideRecord::TripKey(key.clone()));
        key
    })
}

/// Warnings of a configuration that shows more of the players' secrets than it has to, or names trips that none of the
/// players of the event has.
pub fn warnings(config: &ServeConfig, players: &[String]) -> Vec<String> {
    if config.login != Login::Open {
        return vec![];
    }
    let md5 = "`compat = \"shogi-server\"` shows the MD5 of secrets: whoever sees `%%WHO` or a record can find a short \
               secret by trying, and play in the player's name";
    let md5 = (config.compat == Compat::ShogiServer).then(|| md5.to_owned());
    let times = config.time.iter().map(|time| ("player` in `[[serve.time]]", &time.player));
    let fixed = config.rating.fixed.iter().map(|fixed| ("fixed` in `[serve.rating]", fixed));
    let unknown = times.chain(fixed).filter(|(_, id)| id.contains('+') && !players.contains(id));
    let unknown = unknown.map(|(key, id)| {
        format!(
            "`{key}` is `{}`, and no player has this trip so far: write the name alone, or the id as `%%WHO` shows it",
            printable(id.as_bytes())
        )
    });
    md5.into_iter().chain(unknown).collect()
}
