//! `renmei queue DIR history`: what became of the tests.

use crate::{
    cli::QueueHistoryArgs,
    commands::{Exit, Failure},
};
use event::{write, write_picture};
use journal::{EventSummary, Moves, QueuedTest, Store, Tests};
use referee::number::number;
use report::{
    Report, TestHistory, TestLine, TestResult, event_info, plan,
    plot::{Size, test_history},
};
use std::path::Path;

/// Shows the history of a queue, or writes it as a page or a picture.
pub fn history(database: &Path, args: &QueueHistoryArgs) -> Result<Exit, Failure> {
    let store = Store::read(database)?;
    let history = read(&store, database, args)?;
    if let Some(path) = &args.html {
        write(path, history.page().as_bytes())?;
        err_line!("{}: {}", path.display(), number(history.tests.len(), "test"));
    }
    if let Some(path) = &args.plot {
        write_picture(&test_history(&history, Size::Wide), path)?;
    }
    if args.json {
        out_line!("{}", crate::commands::pretty(&history)?);
    } else if args.html.is_none() && args.plot.is_none() {
        out!("{history}");
    }
    Ok(Exit::Done)
}

fn read(store: &Store, database: &Path, args: &QueueHistoryArgs) -> Result<TestHistory, Failure> {
    let events = store.events()?;
    let of = |test: &QueuedTest| events.iter().find(|event| event.name == test.event);
    // A repository is known by its absolute path; a part of a URL names it too.
    let wanted = args.repo.as_ref().map(|repo| {
        Path::new(repo).canonicalize().map_or_else(|_| repo.clone(), |path| path.display().to_string())
    });
    let mut tests: Vec<QueuedTest> = store.queued_tests(Tests::All)?;
    tests.retain(|test| wanted.as_ref().is_none_or(|wanted| test.repository == *wanted));
    // What was taken off the queue before a game leaves nothing to show.
    tests.retain(|test| !test.removed || of(test).is_some_and(|event| event.counted > 0));
    let left_out = tests.len().saturating_sub(args.last);
    let paused = store.queue_is_paused()?;
    let lines = tests.iter().skip(left_out).map(|test| line(store, test, of(test), paused));
    let directory = database.canonicalize().ok();
    let name = directory.as_deref().and_then(Path::parent).and_then(Path::file_name);
    let queue = name.map_or_else(|| "queue".to_owned(), |name| name.to_string_lossy().into_owned());
    Ok(TestHistory { queue, tests: lines.collect::<Result<_, _>>()?, left_out })
}

fn line(
    store: &Store,
    test: &QueuedTest,
    event: Option<&EventSummary>,
    paused: bool,
) -> Result<TestLine, Failure> {
    let played = event.is_some_and(|event| store.is_played(event.id));
    Ok(TestLine {
        test: test.number,
        title: test.title.clone(),
        note: test.note.clone(),
        event: test.event.clone(),
        state: super::state(test, played, paused),
        repository: test.repository.clone(),
        commits: serde_json::from_str(&test.commits).ok(),
        added_at: test.added_at,
        over_at: test.over_at,
        result: event.map(|event| result(store, event)).transpose()?.flatten(),
        fault: test.fault.clone(),
    })
}

fn result(store: &Store, event: &EventSummary) -> Result<Option<TestResult>, Failure> {
    let info = event_info(event, plan(event)?);
    let mut standings = info.standings();
    store.replay(event.id, Moves::Without, &mut |stamped| standings.fold(&stamped.entry))?;
    Ok(TestResult::of(&Report::new(&info, &standings, event.closed)))
}
