//! `[serve.retention]`: what an open league keeps of old games.

use crate::{
    keys::{Fallback::Says, Kind::Integer},
    reader::Table,
    settings::settings,
};
use serde::Serialize;

settings! {
    /// Which games keep their moves and lines. Players, results and times of all games stay, so that standings and
    /// ratings do not change.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub struct Retention in "`[serve.retention]`", "An open league that is given this table drops the moves, the lines and the evidence of old games while it \
        runs, a game at a time. Players, results and times of every game stay, so that standings and ratings do not \
        change. Files in `records` stay as well. `renmei prune` does the same at rest, and makes the file smaller.";

    days: Option<u32> = None shown Says("for ever"), Integer(1, 36_500),
        "days for which a game keeps its moves after its end";
    games: Option<u64> = None shown Says("all"), Integer(1, i64::MAX), "newest games that keep their moves";
}

impl Retention {
    /// True if any game loses its moves.
    pub fn is_wanted(&self) -> bool {
        *self != Self::default()
    }

    pub(super) fn checked(table: &Table<'_>) -> Self {
        let retention = Self::read(table);
        if table.is_given() && !retention.is_wanted() && !table.has("days") && !table.has("games") {
            table.fault("", "keeps everything: give `days` or `games`, or leave the table out");
        }
        retention
    }
}
