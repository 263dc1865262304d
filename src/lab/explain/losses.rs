//! The lost games of an event with the engines that lost them, as its database has them.

use super::{
    Cache, CacheFault, ExplainFault, Explainer, Explanation, Line, NotStarted, Settings, of_record,
    pool::{Here, Pool, each},
};
use check::while_wanted;
use journal::{EventSummary, FullGame, GameFilter, GameRow, GameState, Store, StoreError};
use plan::EnginePlan;
use referee::{
    Color, Outcome,
    entry::{GameId, PlayerId},
    rules::Rules,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// An engine with its digest.
pub type Digested = (Arc<EnginePlan>, String);

/// What is to be explained.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// The game of this number.
    Game(u64),
    /// The games that a player lost, or the last ones of them.
    Losses {
        /// The player.
        of: &'a str,
        /// How many.
        last: Option<usize>,
    },
}

/// Lost games could not be read or explained.
#[derive(Debug, thiserror::Error)]
pub enum LossFault {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is nothing of what is asked for.
    #[error("{0}")]
    Nothing(String),
    /// The stored plan.
    #[error("the stored plan of `{event}` cannot be read: {source}")]
    Plan {
        /// The event.
        event: String,
        /// The fault in it.
        source: serde_json::Error,
    },
    /// Searches that were kept before.
    #[error(transparent)]
    Cache(#[from] CacheFault),
    /// The runtime.
    #[error("the search could not begin: {0}")]
    Runtime(#[from] io::Error),
    /// A search.
    #[error("{0}; the same command goes on with what was searched")]
    Explain(#[from] ExplainFault),
}

/// Lost games, each with its number, its line and its loser.
#[derive(Debug)]
pub struct Losses {
    games: Vec<(u64, Line, Color, PlayerId)>,
    engines: BTreeMap<PlayerId, Digested>,
    /// Games and engines that are left out, and why.
    pub left_out: Vec<String>,
}

impl Losses {
    /// Reads the games of an event, and finds the engines that lost them. Those that `is_trusted` run as the event ran
    /// them, others in the strict sandbox.
    ///
    /// # Errors
    /// When there is no such game or player, or the database cannot be read.
    pub fn read(
        store: &Store,
        event: &EventSummary,
        wanted: Wanted<'_>,
        is_trusted: impl Fn(&EnginePlan) -> bool,
    ) -> Result<Self, LossFault> {
        let rules: Rules = part(event, "rules")?.unwrap_or_default();
        let (mut games, mut left_out) = (vec![], vec![]);
        for (game, loser) in lost(store, event, wanted)? {
            let number = game.row.game.0;
            match Line::of(&game, &rules) {
                Ok(line) => games.push((number, line, loser, seated(&game.row, loser))),
                Err(why) => left_out.push(format!("game {number} is left out: {why}")),
            }
        }
        let plans: Vec<EnginePlan> = part(event, "engines")?.unwrap_or_default();
        let known = store.identities(event.id)?;
        let mut players: Vec<PlayerId> = games.iter().map(|(.., player)| *player).collect();
        players.sort_unstable();
        players.dedup();
        let mut engines = BTreeMap::new();
        for player in players {
            let identity = known.iter().rev().find(|known| known.player == player);
            let hash = identity.and_then(|known| known.identity.hash.as_deref());
            let engine = match plans.get(player.index()) {
                Some(plan) => of_record(plan.clone(), hash, is_trusted(plan)),
                None => Err(NotStarted::NoProgram),
            };
            match engine {
                Ok(engine) => drop(engines.insert(player, engine)),
                Err(why) => {
                    let name = event.players.get(player.index()).map_or("?", String::as_str);
                    left_out.push(format!("`{name}` was not searched again: {why}"));
                }
            }
        }
        Ok(Self { games, engines, left_out })
    }

    /// Explains the games, as long as they are wanted; `done` hears how many of how many are done.
    ///
    /// # Errors
    /// When an engine does not answer, or searches cannot be kept.
    pub fn explain(
        &self,
        judge: &Digested,
        cache: &Path,
        settings: Settings,
        here: Here<'_>,
        mut done: impl FnMut(usize, usize),
        is_wanted: impl Fn() -> bool,
    ) -> Result<Vec<Explanation>, LossFault> {
        let cache = Cache::open(cache)?;
        let (of, mut explained, mut fault) = (self.games.len(), BTreeMap::new(), None);
        each(
            Pool { here, guests: vec![] },
            &self.games,
            |actors| Explainer::new(judge, &cache, settings, actors),
            async |explainer, (number, line, loser, player)| {
                let explained = explainer.explain(*number, line, *loser, self.engines.get(player));
                while_wanted(explained, &is_wanted).await.transpose()
            },
            |at, result: Result<Option<Explanation>, ExplainFault>| match result {
                Ok(Some(explanation)) => {
                    explained.insert(at, explanation);
                    done(explained.len(), of);
                    true
                }
                Ok(None) => false,
                Err(why) => {
                    fault = Some(why);
                    false
                }
            },
        )?;
        fault.map_or_else(|| Ok(explained.into_values().collect()), |why| Err(why.into()))
    }
}

/// The file beside a database that keeps searches.
pub fn searches(database: &Path) -> PathBuf {
    platform::files::beside(database, ".searches")
}

/// A part of the stored plan; absent from records that were read in.
///
/// # Errors
/// When the plan cannot be read.
pub fn part<T: DeserializeOwned>(event: &EventSummary, key: &str) -> Result<Option<T>, LossFault> {
    let unreadable = |source| LossFault::Plan { event: event.name.clone(), source };
    let mut plan: BTreeMap<String, Value> = serde_json::from_str(&event.plan).map_err(unreadable)?;
    plan.remove(key).map(serde_json::from_value).transpose().map_err(unreadable)
}

/// The games, each with the side that lost it.
fn lost(
    store: &Store,
    event: &EventSummary,
    wanted: Wanted<'_>,
) -> Result<Vec<(FullGame, Color)>, LossFault> {
    let lost = |outcome: Option<Outcome>| outcome.and_then(Outcome::winner).map(|winner| !winner);
    let (name, last) = match wanted {
        Wanted::Losses { of, last } => (of, last),
        Wanted::Game(number) => {
            let missing = || LossFault::Nothing(format!("event `{}` has no game {number}", event.name));
            let game = store.game(event.id, GameId(number))?.ok_or_else(missing)?;
            let words = || format!("nobody has lost game {number}, so there is nothing to explain");
            let loser = lost(game.row.outcome).ok_or_else(|| LossFault::Nothing(words()))?;
            return Ok(vec![(game, loser)]);
        }
    };
    let player = event.players.iter().position(|known| known == name).ok_or_else(|| {
        let names = event.players.join(", ");
        LossFault::Nothing(format!("`{}` has no player `{name}`; it has: {names}", event.name))
    })?;
    let player = PlayerId(u32::try_from(player).unwrap_or(u32::MAX));
    let filter =
        GameFilter { player: Some(player), state: Some(GameState::Counted), ..GameFilter::default() };
    let mut losses = vec![];
    store.games::<StoreError>(event.id, &filter, |row| {
        if let Some(color) = lost(row.outcome)
            && seated(&row, color) == player
        {
            losses.push((row.game, color));
        }
        Ok(())
    })?;
    if losses.is_empty() {
        return Err(LossFault::Nothing(format!("`{name}` has lost no game of `{}`", event.name)));
    }
    let skipped = last.map_or(0, |last| losses.len().saturating_sub(last));
    let whole = |(game, color)| Ok(store.game(event.id, game)?.map(|game| (game, color)));
    losses.drain(skipped..).filter_map(|loss| whole(loss).transpose()).collect()
}

/// The player of a side.
fn seated(row: &GameRow, color: Color) -> PlayerId {
    if color == Color::Black { row.pairing.black } else { row.pairing.white }
}
