//! `[serve.retention]`: what an open league keeps of old games.

use crate::reader::Table;
use serde::Serialize;

/// Which games keep their moves and lines. Players, results and times of all games stay, so that standings and ratings
/// do not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retention {
    /// Days for which a game keeps them after its end; `None`: for ever.
    pub days: Option<u32>,
    /// Newest games that keep them; `None`: all.
    pub games: Option<u64>,
}

impl Retention {
    /// Whether any game loses its moves.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        *self != Self::default()
    }

    pub(super) fn read(table: &Table<'_>) -> Self {
        let retention = Self { days: table.integer("days"), games: table.integer("games") };
        if table.is_given() && !retention.is_wanted() && !table.has("days") && !table.has("games") {
            table.fault("", "keeps everything: give `days` or `games`, or leave the table out");
        }
        table.refuse_unknown();
        retention
    }
}
