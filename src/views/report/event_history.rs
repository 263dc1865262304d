//! An event's history: everything its page shows, from one pass over the stored entries.

use super::{EventInfo, Named, Report, rounds::RoundTable, scale::Given};
use contest::{schedule::Pairing, standings::Standings};
use journal::{EventSummary, Moves, Store, StoreError};
use notation::csa::game_name::short_ids;
use plan::{StoredPlan, StoredPlanError};
use referee::{
    AbortBy, Outcome,
    entry::{Entry, GameId, PlayerId, Stamped},
    operation::Action,
    rating::{Course, Milestone, fit},
    sprt::{Sprt, Walk},
    usage::Usage,
};
use std::{collections::HashMap, sync::OnceLock};

/// The end of a game that neither player came to.
const MISSED: Outcome = Outcome::Aborted { by: AbortBy::Missing };

/// The history of an event, folded from its stored entries.
#[derive(Debug)]
pub struct EventHistory {
    /// The report.
    pub report: Report,
    /// Names of the players, by [`PlayerId`].
    pub players: Vec<String>,
    /// The players, best first.
    pub order: Vec<PlayerId>,
    /// Who met whom in each round; empty where there are no rounds.
    pub rounds: RoundTable,
    /// Development of the ratings.
    pub course: Course,
    /// Development of the sequential test.
    pub walk: Walk,
    /// How the players used their time, by [`PlayerId`]; empty without moves.
    pub usage: Vec<Usage>,
    /// Times of the first and the last entry, in ms since 1970-01-01 UTC.
    pub span: Option<(i64, i64)>,
    /// Number of running games.
    pub running: usize,
    /// The scales of the players' scores.
    pub scales: Given,
    numbers: OnceLock<HashMap<String, usize>>,
    milestones: OnceLock<Vec<Milestone>>,
}

/// Why the history of an event cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum EventHistoryError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored plan.
    #[error("cannot read the stored plan of `{event}`: {source}")]
    Plan {
        /// The event.
        event: String,
        /// The fault in it.
        source: StoredPlanError,
    },
}

/// Reads the stored plan of an event.
///
/// # Errors
/// When it is no plan.
pub fn plan(event: &EventSummary) -> Result<StoredPlan, EventHistoryError> {
    let unreadable = |source| EventHistoryError::Plan { event: event.name.clone(), source };
    StoredPlan::from_json(&event.plan).map_err(unreadable)
}

/// The configuration that a report of a stored event needs. Its players come from the database, because the plan of a
/// league has none.
pub fn event_info(event: &EventSummary, plan: StoredPlan) -> EventInfo {
    // Where players come and go, the plan has no players, and its one stage stands for no schedule.
    let league = event.kind == "serve" && plan.engines.is_empty();
    let format = match event.kind.as_str() {
        "import" if plan.engines.is_empty() => Some("imported records".to_owned()),
        "serve" if league => Some("open league".to_owned()),
        "floodgate" => Some(words::Language::English.games_on(plan.server().unwrap_or("a server"))),
        _ => None,
    };
    let names = if league { short_ids(&event.players) } else { event.players.clone() };
    let info = EventInfo::of_stored(plan);
    let named = |(id, name): (&String, String)| {
        let known = info.engines.iter().find(|engine| engine.name == name).cloned();
        Named { name, id: id.clone(), ..known.unwrap_or_else(|| Named::whole(id)) }
    };
    let engines = event.players.iter().zip(names).map(named).collect();
    let (name, open) = (event.name.clone(), format.is_some());
    EventInfo { engines, name, open, format: format.unwrap_or_else(|| info.format.clone()), ..info }
}

/// How the players of an event used their time, by [`PlayerId`].
///
/// # Errors
/// When the database or the stored plan cannot be read.
pub fn usage(store: &Store, event: &EventSummary) -> Result<Vec<Usage>, EventHistoryError> {
    let mut fold = HistoryFold::new(&event_info(event, plan(event)?), true);
    store.replay(event.id, Moves::With, &mut |stamped| fold.take(stamped))?;
    Ok(fold.usage)
}

impl EventHistory {
    /// Reads an event; without moves the history has no times.
    ///
    /// # Errors
    /// When the database or the stored plan cannot be read.
    pub fn read(store: &Store, event: &EventSummary, moves: Moves) -> Result<Self, EventHistoryError> {
        let info = event_info(event, plan(event)?);
        let mut fold = HistoryFold::new(&info, moves == Moves::With);
        store.replay(event.id, moves, &mut |stamped| fold.take(stamped))?;
        fold.read(&info, store, event)
    }

    /// Adds what the stored rows of the event say beside its entries.
    fn with_rows(self, store: &Store, event: &EventSummary) -> Result<Self, EventHistoryError> {
        let mut history = self;
        history.report = history.report.with_rows(store, event)?;
        history.report.played_by = super::builds(store, event)?;
        Ok(history)
    }

    /// The number of a player.
    pub fn number(&self, name: &str) -> Option<usize> {
        let numbered =
            || self.players.iter().enumerate().map(|(number, name)| (name.clone(), number)).collect();
        self.numbers.get_or_init(numbered).get(name).copied()
    }

    /// Milestones of the ratings, up to the present.
    pub fn milestones(&self) -> &[Milestone] {
        self.milestones.get_or_init(|| {
            let mut milestones = self.course.milestones().to_vec();
            let now = self.course.now();
            if now.games > 0 && milestones.last().is_none_or(|last| last.games < now.games) {
                milestones.push(now);
            }
            milestones
        })
    }
}

/// What a history is folded from, entry by entry.
#[derive(Clone, Debug)]
pub struct HistoryFold {
    standings: Standings,
    test: Option<Sprt>,
    walk: Walk,
    usage: Vec<Usage>,
    results: Vec<(GameId, Pairing, Outcome)>,
    span: Option<(i64, i64)>,
    /// True if times are counted, which needs all moves.
    is_timed: bool,
}

impl HistoryFold {
    /// Nothing yet; `is_timed`: with times, which need all moves.
    pub fn new(info: &EventInfo, is_timed: bool) -> Self {
        Self {
            standings: info.standings(),
            test: info.sprt.and_then(|plan| plan.test().ok()),
            walk: Walk::default(),
            usage: vec![Usage::default(); info.engines.len()],
            results: vec![],
            span: None,
            is_timed,
        }
    }

    /// Takes an entry.
    pub fn take(&mut self, stamped: &Stamped) {
        let (first, last) = self.span.unwrap_or((stamped.at, stamped.at));
        self.span = Some((first.min(stamped.at), last.max(stamped.at)));
        if let Entry::Moved(moved) = &stamped.entry {
            let pairing = self.standings.pairing(moved.game).filter(|_| self.is_timed);
            let player = pairing.map(|pairing| [pairing.black, pairing.white][moved.color.index()].index());
            if let Some(usage) = player.and_then(|player| self.usage.get_mut(player)) {
                usage.add(moved);
            }
            return;
        }
        if let Entry::Memory { player, kib } = stamped.entry
            && let Some(usage) = self.usage.get_mut(player.index())
        {
            usage.memory = usage.memory.max(kib);
        }
        if let Entry::GameEnded(end) = &stamped.entry
            && (end.outcome.counts() || end.outcome == MISSED)
            && !end.replayed
        {
            self.results.push((end.game, end.pairing, end.outcome));
        }
        if let Entry::Operator(operation) = &stamped.entry {
            self.correct(&operation.action);
        }
        self.standings.fold(&stamped.entry);
        if let Some(test) = &self.test {
            self.standings.due().iter().for_each(|counts| self.walk.step(test, counts));
        }
    }

    /// Gives a game another result, in its place.
    fn correct(&mut self, action: &Action) {
        let Some((game, pairing, _, is)) = action.correction() else { return };
        let is = is.filter(|outcome| outcome.counts());
        let found = self.results.iter().rposition(|(other, ..)| *other == game);
        match (found, is) {
            (Some(at), Some(outcome)) => self.results[at].2 = outcome,
            (Some(at), None) => drop(self.results.remove(at)),
            (None, Some(outcome)) => self.results.push((game, *pairing, outcome)),
            (None, None) => {}
        }
    }

    /// The games that count, and those that nobody came to.
    pub(crate) fn results(&self) -> &[(GameId, Pairing, Outcome)] {
        &self.results
    }

    /// The standings so far.
    pub fn standings(&self) -> &Standings {
        &self.standings
    }

    /// The history so far, with what the stored rows of the event say beside its entries.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read(
        self,
        info: &EventInfo,
        store: &Store,
        event: &EventSummary,
    ) -> Result<EventHistory, EventHistoryError> {
        self.finish(info, event).with_rows(store, event)
    }

    fn finish(self, info: &EventInfo, event: &EventSummary) -> EventHistory {
        let mut course = Course::new(info.engines.len());
        let distinct = |(_, pairing, outcome): &&(_, Pairing, Outcome)| {
            outcome.counts() && self.standings.is_distinct(pairing)
        };
        let results: Vec<_> = self.results.iter().filter(distinct).collect();
        course.extend(results.into_iter().map(|(_, Pairing { black, white, .. }, outcome)| {
            (black.index(), white.index(), outcome.black_half_points())
        }));
        let ratings = fit(&self.standings.cross_table());
        let order: Vec<PlayerId> =
            self.standings.order(&ratings).into_iter().map(|(_, player)| player).collect();
        let rounds = match info.open {
            true => RoundTable::default(),
            false => RoundTable::named(info, &self.standings, &order, &self.results),
        };
        EventHistory {
            rounds,
            report: Report::rated(info, &self.standings, &ratings, event.closed),
            players: info.engines.iter().map(|engine| engine.name.clone()).collect(),
            order,
            course,
            walk: self.walk,
            usage: self.usage,
            span: self.span,
            running: self.standings.running().count(),
            scales: Given::of(event),
            numbers: OnceLock::new(),
            milestones: OnceLock::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Language, Named, ReportText};
    use contest::stage::{Format, Stage};
    use referee::{
        Color,
        entry::{GameStarted, Moved, Thought},
        opening::EVEN,
    };
    use rsshogi::types::Move;
    use std::time::Duration;

    #[test]
    fn depth_speed_and_lateness_are_those_of_the_moves_of_each_build_with_either_colour() {
        let stages = vec![Stage { format: Format::RoundRobin { cycles: 1 }, games: 2, ..Stage::default() }];
        let engines = ["new", "old"].map(Named::whole).to_vec();
        let info = EventInfo { stages, engines, ..EventInfo::default() };
        let mut fold = HistoryFold::new(&info, true);
        // By game, black first: thinking time in ms, lateness in µs, depth, nodes.
        let [new, old] = [[(1000, 3_000, 10), (3000, 50_000, 20)], [(2000, 900, 8), (2000, 900, 9)]];
        let nodes = [[2_000_000, 1_000_000], [600_000, 2_000_000]];
        for (index, sides, nodes) in [(0, [new[0], old[0]], nodes[0]), (1, [old[1], new[1]], nodes[1])] {
            let [black, white] = [index, 1 - index].map(PlayerId);
            let (game, start) = (GameId(u64::from(index) + 1), EVEN.to_owned());
            let pair = u64::from(index);
            let pairing =
                Pairing { stage: 0, index: pair, attempt: 0, round: 1, pair, opening: 0, black, white };
            let opening = String::new();
            let started = GameStarted { game, pairing, start, opening, times: None };
            let mut entries = vec![Entry::GameStarted(started)];
            for (side, usi) in ["7g7f", "3c3d"].into_iter().enumerate() {
                let (ms, late, depth) = sides[side];
                let (charged, late) = (Duration::from_millis(ms), Duration::from_micros(late));
                let (depth, nodes, time) = (Some(depth), Some(nodes[side]), Some(ms));
                entries.push(Entry::Moved(Moved {
                    game,
                    ply: side as u32 + 1,
                    color: Color::BOTH[side],
                    mv: Move::from_usi(usi).unwrap(),
                    charged,
                    elapsed: charged + late,
                    left: charged,
                    thought: Some(Box::new(Thought { depth, nodes, time, ..Thought::default() })),
                }));
            }
            entries.into_iter().for_each(|entry| fold.take(&Stamped { at: 0, entry }));
        }
        let mut report = Report::new(&info, &fold.standings, true);
        report.usage = fold.usage;
        let text = ReportText(&report, Language::English).to_string();
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for line in [
            "engine moves mean longest depth nodes/s late p50 p99 faults",
            "new 2 2.0 s 3.0 s 15.0 1000000 4.0 ms 64.0 ms -",
            "old 2 2.0 s 2.0 s 8.5 400000 1.0 ms 1.0 ms -",
        ] {
            assert!(lines.iter().any(|known| known.ends_with(line)), "{line}\n{text}");
        }
    }
}
