//! Everything a page of an event is made of: one pass over its stored events.

use super::{Head, Named, Report, html::pack::Packer};
use journal::{EventSummary, Moves, Store, StoreError};
use plan::{StoredPlan, StoredPlanError};
use referee::{
    event::{Event, PlayerId, Stamped},
    rating::{Course, Milestone, fit},
    sprt::{Sprt, Walk},
    standings::Standings,
    usage::Usage,
};

/// An event as its stored events tell it.
#[derive(Debug)]
pub struct Dossier {
    /// The report.
    pub report: Report,
    /// The players' names, by [`PlayerId`].
    pub players: Vec<String>,
    /// The players, best first.
    pub order: Vec<PlayerId>,
    /// How the ratings moved.
    pub course: Course,
    /// How the sequential test went.
    pub walk: Walk,
    /// What the players did with their time, by [`PlayerId`]; empty without moves.
    pub usage: Vec<Usage>,
    /// When the first and the last thing happened, in ms since 1970 UTC.
    pub span: Option<(i64, i64)>,
    /// Games that run.
    pub running: usize,
    /// The games for the page, packed; none without moves.
    pub games: Packer,
}

/// Why an event cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum DossierError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored plan.
    #[error("the stored plan of `{event}` cannot be read: {source}")]
    Plan {
        /// The event.
        event: String,
        /// What is wrong with it.
        source: StoredPlanError,
    },
}

/// The stored plan of an event.
///
/// # Errors
/// When a newer program has stored it, or it is no plan.
pub fn plan(event: &EventSummary) -> Result<StoredPlan, DossierError> {
    let unreadable = |source| DossierError::Plan { event: event.name.clone(), source };
    StoredPlan::from_json(&event.plan).map_err(unreadable)
}

/// What a report has to know of a stored event. Its players come from the database: the plan of a league does not know
/// them.
#[must_use]
pub fn head(event: &EventSummary, plan: StoredPlan) -> Head {
    let format = match event.kind.as_str() {
        "import" => "imported records".to_owned(),
        _ => plan::format_words(&plan.stages),
    };
    Head {
        name: event.name.clone(),
        stages: plan.stages,
        sprt: plan.sprt,
        engines: event.players.iter().map(|name| Named { name: name.clone() }).collect(),
        format,
    }
}

impl Dossier {
    /// Reads an event; without moves it knows nothing of time and has no games.
    ///
    /// # Errors
    /// When the database or the stored plan cannot be read.
    pub fn read(store: &Store, event: &EventSummary, moves: Moves) -> Result<Self, DossierError> {
        let head = head(event, plan(event)?);
        let mut fold = Fold::new(&head, moves == Moves::With);
        store.replay(event.id, moves, &mut |stamped| fold.take(stamped))?;
        Ok(fold.told(&head, event))
    }

    /// The milestones of the ratings, the present included.
    #[must_use]
    pub fn milestones(&self) -> Vec<Milestone> {
        let mut milestones = self.course.milestones().to_vec();
        let now = self.course.now();
        if now.games > 0 && milestones.last().is_none_or(|last| last.games < now.games) {
            milestones.push(now);
        }
        milestones
    }
}

struct Fold {
    standings: Standings,
    test: Option<Sprt>,
    walk: Walk,
    usage: Vec<Usage>,
    results: Vec<(PlayerId, PlayerId, referee::Outcome)>,
    span: Option<(i64, i64)>,
    games: Packer,
    packs: bool,
}

impl Fold {
    fn new(head: &Head, packs: bool) -> Self {
        Self {
            standings: Standings::new(&head.stages, head.engines.len()),
            test: head.sprt.and_then(|plan| plan.test().ok()),
            walk: Walk::default(),
            usage: vec![Usage::default(); head.engines.len()],
            results: vec![],
            span: None,
            games: Packer::default(),
            packs,
        }
    }

    fn take(&mut self, stamped: &Stamped) {
        let (first, last) = self.span.unwrap_or((stamped.at, stamped.at));
        self.span = Some((first.min(stamped.at), last.max(stamped.at)));
        if self.packs {
            self.games.take(stamped);
        }
        if let Event::Moved(moved) = &stamped.event {
            let players = self.games.players(moved.game);
            let usage = players.and_then(|players| self.usage.get_mut(players[moved.color.index()].index()));
            if let Some(usage) = usage {
                usage.add(moved);
            }
            return;
        }
        if let Event::Memory { player, kib } = stamped.event
            && let Some(usage) = self.usage.get_mut(player.index())
        {
            usage.memory = usage.memory.max(kib);
        }
        if let Event::GameEnded(end) = &stamped.event
            && end.outcome.counts()
            && !end.replayed
        {
            self.results.push((end.pairing.black, end.pairing.white, end.outcome));
        }
        self.standings.fold(&stamped.event);
        if let Some(test) = &self.test {
            self.standings.due().iter().for_each(|counts| self.walk.step(test, counts));
        }
    }

    fn told(self, head: &Head, event: &EventSummary) -> Dossier {
        let mut course = Course::new(head.engines.len());
        course.extend(self.results.into_iter());
        Dossier {
            report: Report::new(head, &self.standings, event.closed),
            players: head.engines.iter().map(|engine| engine.name.clone()).collect(),
            order: self.standings.order(&fit(&self.standings.cross_table())),
            course,
            walk: self.walk,
            usage: self.usage,
            span: self.span,
            running: self.standings.running().count(),
            games: self.games,
        }
    }
}
