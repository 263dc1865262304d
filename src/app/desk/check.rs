//! Examinations of engines, each on a thread of its own, with what was found so far.

use crate::{Desk, engine::address, fields::Fields, lead, waiting};
use axum::{extract::State, response::Response};
use check::{Request, Row, Verdict};
use maud::{Markup, html};
use parking_lot::Mutex;
use plan::LibraryEngine;
use std::{collections::BTreeMap, sync::Arc, thread};
use web::{
    layout::{Page, percent},
    refusals::Refusal,
    visitor::Visitor,
};
use words::Language;

/// Examinations by the names of their engines.
#[derive(Default)]
pub struct Checks(Mutex<BTreeMap<String, Arc<Mutex<Progress>>>>);

/// How far an examination is.
#[derive(Debug, Default)]
struct Progress {
    rows: Vec<Row>,
    /// How it ended: `Ok` where it came to its end.
    ended: Option<Result<(), String>>,
}

impl Checks {
    /// Begins an examination, if none of this engine runs.
    fn begin(&self, engine: &LibraryEngine) {
        let name = engine.plan.name.clone();
        let mut all = self.0.lock();
        if all.get(&name).is_some_and(|progress| progress.lock().ended.is_none()) {
            return;
        }
        let progress = Arc::new(Mutex::new(Progress::default()));
        all.insert(name.clone(), progress.clone());
        let request = request(engine);
        let rows = progress.clone();
        let examine = move || {
            let found = check::check(&request, move |row: &Row| rows.lock().rows.push(row.clone()));
            progress.lock().ended = Some(found.map(|_| ()).map_err(|error| error.to_string()));
        };
        if let Err(error) = thread::Builder::new().name("check".to_owned()).spawn(examine)
            && let Some(progress) = all.get(&name)
        {
            progress.lock().ended = Some(Err(error.to_string()));
        }
    }
}

fn request(engine: &LibraryEngine) -> Request {
    let plan = &engine.plan;
    Request {
        args: plan.args.clone(),
        dir: plan.directory.clone().filter(|_| !plan.directory_by_default),
        option: plan.options.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        sandbox: plan.sandbox.kind,
        ..Request::new(&plan.command)
    }
}

/// Begins the examination of an engine.
pub(crate) async fn begin(State(desk): State<Desk>, fields: Fields) -> Result<Response, Refusal> {
    let name = fields.text("engine").to_owned();
    let to = format!("/engine/check?name={}", percent(&name));
    let begun = waiting(move || desk.engine(&name).map(|engine| desk.0.checks.begin(&engine))).await?;
    begun.map(|()| lead(&to))
}

/// How far the examination of an engine is; the page comes again by itself until it has ended.
pub(crate) async fn page(State(desk): State<Desk>, visitor: Visitor, query: Fields) -> Result<Page, Refusal> {
    let (words, name) = (visitor.language, query.text("name").to_owned());
    let progress = desk.0.checks.0.lock().get(&name).cloned();
    let progress = progress.ok_or_else(|| Refusal::bad(Language::not_checked))?;
    let progress = progress.lock();
    let content = html! {
        h1 { (words.check_of(&name)) }
        @match &progress.ended {
            None => p role="status" { (words.check_runs()) },
            Some(Ok(())) => p role="status" { (words.check_ended(count(&progress.rows, Verdict::Fault), count(&progress.rows, Verdict::Warn))) },
            Some(Err(_)) => p role="alert" { (words.check_failed()) },
        }
        @if let Some(Err(why)) = &progress.ended { pre { (why) } }
        (rows(words, &progress.rows))
        p { a href=(address(&name)) { (words.back()) } }
    };
    let page = Page::new(words.check_of(&name), "/engines", content);
    Ok(if progress.ended.is_some() { page } else { page.again(1) })
}

fn count(rows: &[Row], verdict: Verdict) -> usize {
    rows.iter().filter(|row| row.verdict == verdict).count()
}

/// Rows of an examination.
pub(crate) fn rows(words: Language, rows: &[Row]) -> Markup {
    let word = |verdict| match verdict {
        Verdict::Pass => words.verdict_pass(),
        Verdict::Note => words.verdict_note(),
        Verdict::Warn => words.verdict_warn(),
        Verdict::Fault => words.verdict_fault(),
    };
    html! { table.checks { tbody { @for row in rows { tr.fault[row.verdict == Verdict::Fault].warn[row.verdict == Verdict::Warn] {
        td.name { (word(row.verdict)) }
        td.name { (row.check) }
        td.name {
            (row.seen)
            @if let Some(advice) = &row.advice { div.note { (advice) } }
            @if !row.lines.is_empty() { details { summary { (words.conversation()) } pre { (row.lines.join("\n")) } } }
        }
    } } } } }
}

/// What this machine has and lacks for events.
pub(crate) async fn machine(State(desk): State<Desk>, visitor: Visitor) -> Result<Page, Refusal> {
    let words = visitor.language;
    let report = waiting(move || check::machine(desk.0.place.directory(), |_: &Row| ())).await?;
    let content = html! {
        h1 { (words.this_machine()) }
        p role="status" { @if report.passed { (words.machine_is_ready()) } @else { (words.machine_lacks_something()) } }
        (rows(words, &report.rows))
    };
    Ok(Page::new(words.this_machine(), "/", content))
}
