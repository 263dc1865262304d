//! What became of the tests of a queue, read from its database.

use crate::{Failure, standings};
use journal::{EventSummary, QueuedTest, Store, Tests};
use plan::{Environment, Plan};
use report::{Report, TestHistory, TestLine, TestResult, TestTerms, event_info, plan as stored_plan};
use std::{collections::BTreeMap, path::Path};

/// Reads what became of tests again and again. What does not change any more is read once.
#[derive(Debug, Default)]
pub struct Histories {
    /// Results of tests that are over, each with the time of its end.
    over: BTreeMap<u64, (Option<i64>, Option<TestResult>)>,
    terms: BTreeMap<u64, Option<TestTerms>>,
}

impl Histories {
    /// The newest `last` tests, of a repository where one is given.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read(&mut self, database: &Path, repo: Option<&str>, last: usize) -> Result<TestHistory, Failure> {
        let store = &Store::read(database)?;
        let events = store.events()?;
        let of = |test: &QueuedTest| events.iter().find(|event| event.name == test.event);
        let mut tests: Vec<QueuedTest> = store.queued_tests(Tests::All)?;
        tests.retain(|test| repo.is_none_or(|wanted| test.repository == wanted));
        // What was taken off the queue before a game leaves nothing to show.
        tests.retain(|test| !test.removed || of(test).is_some_and(|event| event.counted > 0));
        let left_out = tests.len().saturating_sub(last);
        let paused = store.queue_is_paused()?;
        let lines = tests.iter().skip(left_out).map(|test| self.line(store, test, of(test), paused));
        let tests = lines.collect::<Result<_, _>>()?;
        let directory = database.canonicalize().ok();
        let name = directory.as_deref().and_then(Path::parent).and_then(Path::file_name);
        let queue = name.map_or_else(|| "queue".to_owned(), |name| name.to_string_lossy().into_owned());
        Ok(TestHistory { queue, tests, left_out })
    }

    fn line(
        &mut self,
        store: &Store,
        test: &QueuedTest,
        event: Option<&EventSummary>,
        paused: bool,
    ) -> Result<TestLine, Failure> {
        let played = event.is_some_and(|event| store.is_played(event.id));
        let terms = || plan(test).ok().map(|plan| TestTerms::of(&plan));
        Ok(TestLine {
            test: test.number,
            title: test.title.clone(),
            note: test.note.clone(),
            event: test.event.clone(),
            state: state(test, played, paused),
            repository: test.repository.clone(),
            commits: serde_json::from_str(&test.commits).ok(),
            terms: self.terms.entry(test.number).or_insert_with(terms).clone(),
            added_at: test.added_at,
            over_at: test.over_at,
            result: event.map(|event| self.result(store, test, event)).transpose()?.flatten(),
            fault: test.fault.clone(),
        })
    }

    fn result(
        &mut self,
        store: &Store,
        test: &QueuedTest,
        event: &EventSummary,
    ) -> Result<Option<TestResult>, Failure> {
        if let Some((over_at, result)) = self.over.get(&test.number)
            && test.over
            && *over_at == test.over_at
        {
            return Ok(result.clone());
        }
        let info = event_info(event, stored_plan(event)?);
        let result = TestResult::of(&Report::new(&info, &standings(store, event)?, event.closed));
        if test.over {
            self.over.insert(test.number, (test.over_at, result.clone()));
        }
        Ok(result)
    }
}

/// The plan of a test's event, as it was added.
pub(super) fn plan(test: &QueuedTest) -> Result<Plan, Failure> {
    let environment =
        Environment::here(Path::new(&test.base)).map_err(|error| Failure::Other(error.to_string()))?;
    Plan::parse(&test.config, None, &environment).map_err(Failure::Config)
}

/// The state of a test in a word.
pub fn state(test: &QueuedTest, played: bool, paused: bool) -> &'static str {
    match () {
        () if test.over => "over",
        () if test.removed => "removed",
        () if played => "playing",
        () if test.fault.is_some() => "failed",
        () if test.is_unapproved() => "unapproved",
        () if test.paused || paused => "paused",
        () => "waiting",
    }
}
