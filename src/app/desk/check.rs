//! Examinations of engines, and of this machine.

use crate::{Asked, engine::address, jobs::Job, lead};
use axum::response::Response;
use check::{Request, Row, Verdict};
use maud::{Markup, html};
use parking_lot::Mutex;
use plan::LibraryEngine;
use std::sync::Arc;
use web::{components::prose, layout::Page, refusals::Refusal};
use words::{Language, Message};

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

/// What the examination of an engine is called.
pub(crate) fn title(engine: &str) -> Message {
    Message::of(|language| language.check_of(engine))
}

/// Begins the examination of an engine.
pub(crate) fn begin(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let name = fields.text("engine");
    let request = request(&desk.engine(name)?);
    let what = (title(name), format!("{request:?}"));
    Ok(lead(&desk.0.jobs.begin(what, &address(name), move |job| examine(job, &request))))
}

/// Examines an engine, and shows what was found so far.
fn examine(job: &Job, request: &Request) -> Result<(), String> {
    let found: Arc<Mutex<Vec<Row>>> = Arc::default();
    let shown = found.clone();
    job.show(move |words| {
        let shown = shown.lock();
        let count = |verdict| shown.iter().filter(|row| row.verdict == verdict).count();
        html! {
            p { (words.check_ended(count(Verdict::Fault), count(Verdict::Warn))) }
            (rows(words, &shown))
        }
    });
    let checked = check::check_while(request, move |row| found.lock().push(row.clone()), || job.is_wanted());
    checked.map(|_| ()).map_err(|error| error.to_string())
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
        td.name { (words.name_of_check(&row.check)) }
        td.name {
            (prose(&words.fault(&row.seen)))
            @if let Some(advice) = &row.advice { div.note { (prose(&words.fault(advice))) } }
            @if !row.lines.is_empty() { details { summary { (words.conversation()) } pre { (row.lines.join("\n")) } } }
        }
    } } } } }
}

/// What this machine has and lacks for events.
pub(crate) fn machine(Asked { desk, words, .. }: Asked) -> Result<Page, Refusal> {
    let report = check::machine(desk.0.place.directory(), |_: &Row| ());
    let content = html! {
        h1 { (words.this_machine()) }
        p role="status" { @if report.passed { (words.machine_is_ready()) } @else { (words.machine_lacks_something()) } }
        (rows(words, &report.rows))
    };
    Ok(Page::new(words.this_machine(), "/", content))
}
