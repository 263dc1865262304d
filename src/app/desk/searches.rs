//! Searches after the game, as works of the desk: why an engine lost, and an engine's opinion of a game.

use crate::{
    Asked, Desk,
    fields::Fields,
    game::choice,
    jobs::Job,
    lead,
    place::{Place, SHELF},
    refused,
    studied::Studied,
};
use axum::response::Response;
use check::while_wanted;
use explain::{
    Cache, Cause, Engine, ExplainFault, Explanation, Here, Judged, Line, Phase, Pool, Settings, Summary,
    losses::{Digested, Losses, Wanted, searches},
};
use maud::{Markup, html};
use notation::record::{self, Format, GameRecord};
use plan::{Event, LibraryEngine};
use platform::files::{self, Access};
use referee::rules::Rules;
use rsshogi::types::Move;
use std::{path::Path, sync::Arc, time::Duration};
use web::{
    List, STUDY_PAGE,
    layout::{Page, percent},
    refusals::Refusal,
};
use words::{Language, Message};

/// Nodes for a position, where nobody says how many, and most of them.
pub(crate) const NODES: [u64; 2] = [100_000, 1_000_000_000];
/// The loser is given so many times its nodes.
const TIMES: u64 = 8;
/// Most time for a search.
const PATIENCE: Duration = Duration::from_secs(300);
/// Most losses that are explained at once.
const LOSSES: usize = 100;

impl Desk {
    /// An engine that searches: one of the library, or without a name the one that comes with Renmei.
    pub(crate) fn searcher(&self, name: &str) -> Result<Digested, Refusal> {
        let plan = match name {
            "" => explain::engine("renmei-pairwise", &[]).map_err(refused)?,
            name => self.engine(name)?.plan,
        };
        let digest = explain::digest(&plan);
        let digest = digest.map_err(|error| refused(format!("`{}`: {error}", plan.command.display())))?;
        Ok((Arc::new(plan), digest))
    }
}

/// Has the workers of this machine search: on all cores, or on one while games are played.
fn on_free_cores<T>(list: &List, search: impl FnOnce(Here<'_>) -> T) -> T {
    search(Here { workers: platform::cores::usable().len(), is_needed: &|| list.plays() })
}

/// The form: whose losses are explained, and by whom.
pub(crate) fn form(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let name = fields.text("event");
    let (_, event) = desk.games_of(name)?;
    let engines = desk.library()?;
    let content = html! {
        h1 { (words.why_it_lost()) ": " (event.name) }
        p { (words.what_explaining_does()) }
        form.order method="post" action="/events/explain" {
            input type="hidden" name="event" value=(name);
            label { span { (words.whose_losses()) } select name="player" {
                @for player in &event.players { option value=(player) { (player) } }
            } }
            label { span { (words.last_losses()) } input type="number" name="last" value="5" min="1" max=(LOSSES) required; }
            (judge(words, &engines))
            p.buttons { button { (words.why_it_lost()) } }
        }
    };
    Ok(Page::new(words.why_it_lost(), "/", content))
}

/// The fields that say which engine searches, and how much.
pub(crate) fn judge(words: Language, engines: &[LibraryEngine]) -> Markup {
    let [usual, most] = NODES;
    html! {
        (choice((words.engine_to_ask(), "judge"), engines, Some(words.own_judge()), 0))
        label { span { (words.nodes_of_position()) } input type="number" name="nodes" value=(usual) min="1" max=(most) required; }
    }
}

fn nodes(fields: &Fields) -> Result<u64, Refusal> {
    let nodes = fields.text("nodes").parse().ok().filter(|nodes| (1..=NODES[1]).contains(nodes));
    nodes.ok_or_else(|| Refusal::bad(Language::nodes_are_a_number))
}

/// Begins to explain the losses of an engine.
pub(crate) fn explain(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let (name, player) = (fields.text("event").to_owned(), fields.text("player").to_owned());
    let last = fields.text("last").parse().ok().filter(|last| (1..=LOSSES).contains(last));
    let last = last.ok_or_else(|| Refusal::bad(|words| words.losses_are_a_number(LOSSES)))?;
    let (judge, nodes) = (desk.searcher(fields.text("judge"))?, nodes(&fields)?);
    let (store, event) = desk.games_of(&name)?;
    // What the file starts anyway runs as it does there; a database may be somebody else's.
    let own = match desk.0.place.file(&name).map(|file| Event::load(&file)) {
        Some(Ok(Event::Arranged { plan, .. })) => plan.engines,
        _ => vec![],
    };
    let is_own = |it: &plan::EnginePlan| {
        own.iter().any(|own| (&own.command, &own.args, &own.options) == (&it.command, &it.args, &it.options))
    };
    rsshogi::board::init();
    let wanted = Wanted::Losses { of: &player, last: Some(last) };
    let losses = Losses::read(&store, &event, wanted, is_own).map_err(refused)?;
    let cache = searches(store.path());
    let title = Message::of(|words| words.losses_of(&player, &name));
    let terms = format!("{} {fields:?}", event.created_at);
    let (list, back) = (desk.0.list.clone(), format!("/events/explain?event={}", percent(&name)));
    let work = move |job: &Job| {
        let judge = (&judge, nodes, cache.as_path());
        on_free_cores(&list, |here| explained(job, &name, &losses, judge, here))
    };
    Ok(lead(&desk.0.jobs.begin((title, terms), &back, work)))
}

fn explained(
    job: &Job,
    name: &str,
    losses: &Losses,
    (judge, nodes, cache): (&Digested, u64, &Path),
    here: Here<'_>,
) -> Result<(), String> {
    let settings = Settings { nodes, times: TIMES, patience: PATIENCE };
    let (did, is_wanted) = (|done, of| job.did(done, of), || job.is_wanted());
    let found = losses.explain(judge, cache, settings, here, did, is_wanted);
    let found = found.map_err(|why| why.to_string())?;
    let (base, left_out) = (web::Hall::base(name), losses.left_out.clone());
    job.show(move |words| {
        html! {
            (causes(words, &found))
            (moves(words, &base, &found))
            @for why in &left_out { p.note { (why) } }
        }
    });
    Ok(())
}

fn cause(words: Language, cause: Cause) -> &'static str {
    match cause {
        Cause::Time => words.lost_by_time(),
        Cause::Horizon => words.lost_by_horizon(),
        Cause::Evaluation => words.lost_by_evaluation(),
        Cause::Book => words.lost_by_book(),
        Cause::Rules => words.lost_by_rules(),
        Cause::Fault => words.lost_by_fault(),
        Cause::Unsearched => words.lost_by_a_move(),
    }
}

fn phase(words: Language, phase: Phase) -> &'static str {
    match phase {
        Phase::Opening => words.opening_phase(),
        Phase::Middlegame => words.middlegame(),
        Phase::Endgame => words.endgame(),
    }
}

/// How many losses have which cause, by phase.
fn causes(words: Language, found: &[Explanation]) -> Markup {
    html! { @for summary in Summary::of(found) {
        div.scroll { table.games {
            thead { tr {
                th.name { (words.cause_of_loss()) } th { (words.losses()) }
                @for &one in Phase::ALL { th { (phase(words, one)) } }
            } }
            tbody { @for share in &summary.causes { tr {
                td.name { (cause(words, share.cause)) } td { (share.losses) }
                @for losses in share.phases { td { (losses) } }
            } } }
        } }
    } }
}

/// The move that lost each game.
fn moves(words: Language, base: &str, found: &[Explanation]) -> Markup {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    html! { div.scroll { table.games {
        thead { tr {
            th.name { (words.game()) } th.name { (words.cause_of_loss()) } th { (words.ply()) } th.name { (words.phase_of_game()) }
            th { (words.expected_score()) } th.name { (words.played_move()) } th.name { (words.better_move()) }
        } }
        tbody { @for one in found { tr {
            td.name { a href={ (base) "/games/" (one.game) } { "#" (one.game) " ☗ " (one.players[0]) " – ☖ " (one.players[1]) } }
            td.name { (cause(words, one.cause)) }
            td { (one.ply) }
            td.name { (phase(words, one.phase)) }
            td { (percent(one.shares[0])) " → " (percent(one.shares[1])) }
            td.name { (one.mv.as_ref().map_or("–", |mv| &mv.played)) }
            td.name { (one.mv.as_ref().and_then(|mv| mv.better.as_deref()).unwrap_or("–")) }
        } } }
    } } }
}

/// Lets an engine search every position of a line of play.
pub(crate) fn analyze(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let studied = desk.studied(&fields)?;
    let (engine, nodes) = (desk.searcher(fields.text("judge"))?, nodes(&fields)?);
    let moves = studied.shown.plies.iter().map(|ply| ply.mv).collect();
    let line = Line::replayed(&studied.shown.start, moves, &Rules::default()).map_err(refused)?;
    let title = Message::of(|words| words.analysis_of(&studied.stem(), &engine.0.name));
    let terms = format!("{} {nodes} {}", studied.shown.usi_moves(), engine.1);
    let (list, place, back) = (desk.0.list.clone(), desk.0.place.clone(), studied.address(studied.at));
    let work = move |job: &Job| {
        on_free_cores(&list, |here| analyzed(job, (&studied, &line), (&engine, nodes, here), &place))
    };
    Ok(lead(&desk.0.jobs.begin((title, terms), &back, work)))
}

fn analyzed(
    job: &Job,
    (studied, line): (&Studied, &Line),
    (engine, nodes, here): (&Digested, u64, Here<'_>),
    place: &Place,
) -> Result<(), String> {
    let shelf = place.directory().join(SHELF);
    files::create_directory(&shelf, Access::Private).map_err(|error| error.to_string())?;
    let cache = Cache::open(&shelf.join(".searches.jsonl")).map_err(|fault| fault.to_string())?;
    let (of, judged) = (line.moves() + 1, judged(job, line, (engine, nodes, here), &cache)?);
    if judged.len() < of {
        return Ok(());
    }
    let record = opined(studied.shown.clone(), &engine.0.name, &judged);
    let bytes = record::write(&record, Format::Kifu).map_err(|fault| fault.to_string())?;
    let stem = format!("{}-{}", studied.stem(), notation::file_name(&engine.0.name));
    let file = place.keep(&stem, "kifu", &bytes).map_err(|refusal| refusal.message.to_string())?;
    let board = format!("{STUDY_PAGE}?file={}&ply={}", percent(&file), studied.at);
    job.show(move |words| {
        html! {
            p { (words.record_was_written(&file)) }
            p.buttons { a.button.main href=(board) { (words.to_the_board()) } }
        }
    });
    Ok(())
}

/// The engine's opinions of the positions, as many as were wanted.
fn judged(
    job: &Job,
    line: &Line,
    (engine, nodes, here): (&Digested, u64, Here<'_>),
    cache: &Cache,
) -> Result<Vec<Judged>, String> {
    let (of, mut judged, mut fault) = (line.moves() + 1, Vec::<Judged>::new(), None);
    explain::each(
        Pool { here, guests: vec![] },
        0..of,
        |actors| Engine::new(engine, cache, PATIENCE, actors),
        async |engine, at| {
            let found = engine.judge(line, *at, nodes);
            while_wanted(found, || job.is_wanted()).await.transpose()
        },
        |_, found: Result<Option<Judged>, ExplainFault>| {
            match found {
                Ok(found) => judged.extend(found),
                Err(why) => fault = Some(why.to_string()),
            }
            job.did(judged.len(), of);
            job.is_wanted() && fault.is_none()
        },
    )
    .map_err(|error| error.to_string())?;
    judged.sort_by_key(|judged| judged.at);
    fault.map_or(Ok(judged), Err)
}

/// A line of play with the engine's opinions: each as the evaluation of the move before it, with the play that is expected
/// then, and as a comment.
fn opined(mut record: GameRecord, engine: &str, judged: &[Judged]) -> GameRecord {
    for one in judged {
        let comment = match one.at.checked_sub(1).and_then(|at| record.plies.get_mut(at)) {
            None => &mut record.comment,
            Some(ply) => {
                let line = if one.found.pv.is_empty() { &one.found.mv } else { &one.found.pv };
                ply.pv = line.split_whitespace().map_while(Move::from_usi).collect();
                ply.score = one.centipawns;
                &mut ply.comment
            }
        };
        *comment = [comment.as_str(), &one.comment(engine)].join("\n").trim().to_owned();
    }
    record
}
