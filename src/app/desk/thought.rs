//! What an engine thinks of a position, while it thinks: a process of its own for a bounded time, one at a time for a board.

use crate::{Asked, game::SECONDS, jobs::Job, lead, studied::Studied};
use axum::response::Response;
use check::{Silence, Talk, while_wanted};
use maud::{Markup, html};
use notation::{
    record::{self, GameRecord, Ply},
    usi::{Checkmate, EngineLine, Info},
};
use parking_lot::Mutex;
use plan::{EnginePlan, ScoreView};
use referee::{Color, evaluation::Evaluation, running::play};
use rsshogi::{board::Position, types::Move};
use std::{
    collections::BTreeMap,
    mem,
    sync::Arc,
    time::{Duration, Instant},
};
use web::refusals::Refusal;
use words::{Language, Message};

/// Lines of play that are asked for, where the engine can show several.
const LINES: u32 = 3;
/// Moves of a line that are shown.
const LONGEST: usize = 24;
/// Time between two looks at what the engine has printed.
const GLANCE: Duration = Duration::from_millis(200);
/// Time for the answer to `stop`.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time beyond that of a mate search, whose engine may wait for a processor; the reader can stop it.
const LATE: Duration = Duration::from_secs(120);
/// Last lines shown of an engine that failed.
const LAST: usize = 8;
/// Options for the number of threads, by their names in the engines of the field.
const THREADS: [&str; 3] = ["Threads", "Thread", "USI_Threads"];

/// A question to an engine.
struct Question {
    engine: EnginePlan,
    studied: Studied,
    mate: bool,
    time: Duration,
    /// Games are played meanwhile: one thread is enough.
    is_modest: bool,
}

/// What is known so far.
#[derive(Default)]
struct Known {
    lines: BTreeMap<u32, Line>,
    mate: Option<Checkmate>,
    /// What the engine plays, where it has shown no line.
    mv: Option<String>,
}

/// A line of play.
struct Line {
    evaluation: Option<Evaluation>,
    depth: Option<u32>,
    nodes: Option<u64>,
    nps: Option<u64>,
    moves: Vec<String>,
    words: Vec<String>,
}

/// Asks an engine about a position; the question before it on the same board is dropped.
pub(crate) fn begin(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let studied = desk.studied(&fields)?;
    let kind = fields.one_of("do", &["search", "mate", "stop"])?;
    let before = fields.text("job").to_owned();
    desk.0.jobs.drop_question(&before);
    let back = studied.address(studied.at);
    if kind == "stop" {
        return Ok(lead(&format!("{back}&job={before}")));
    }
    let seconds = fields.text("seconds").parse().ok().filter(|seconds| SECONDS.contains(seconds));
    let seconds = seconds.ok_or_else(|| Refusal::bad(Language::thinking_time_is_a_choice))?;
    let engine = desk.searcher(fields.text("engine"))?.0.as_ref().clone();
    let (title, terms) = (
        Message::of(|words| words.thoughts_of(&engine.name)),
        format!("{} {kind} {seconds}", studied.argument()),
    );
    let (time, mate, is_modest) = (Duration::from_secs(seconds), kind == "mate", desk.0.list.plays());
    let question = Question { engine, studied, mate, time, is_modest };
    let job = desk.0.jobs.ask((title, terms), &back, move |job| consider(job, question))?;
    Ok(lead(&format!("{back}&job={job}")))
}

/// Has the engine think, and shows what it prints.
fn consider(job: &Job, question: Question) -> Result<(), String> {
    rsshogi::board::init();
    let known: Arc<Mutex<Known>> = Arc::default();
    let (shown, studied) = (known.clone(), question.studied.clone());
    job.show(move |words| drawn(words, &shown.lock(), &studied));
    let (best, name) = (known.clone(), question.engine.name.clone());
    job.points(move || best.lock().best());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let talked = runtime.block_on(while_wanted(question.put(&known), || job.is_wanted()));
    runtime.shutdown_background();
    talked.unwrap_or(Ok(())).map_err(|why| format!("`{name}` {why}"))
}

impl Question {
    async fn put(&self, known: &Mutex<Known>) -> Result<(), String> {
        let started = Talk::start(&self.engine).await;
        let mut talk = started.map_err(|error| format!("could not be started: {error}"))?;
        let heard = self.talk(&mut talk, known).await;
        if let Err(silence) = heard {
            return Err(failure(&mut talk, silence).await);
        }
        talk.send(&["stop", "quit"]);
        let _left = talk.ends_within(PATIENCE).await;
        talk.kill().await;
        Ok(())
    }

    /// The conversation, up to the answer or the end of the time.
    async fn talk(&self, talk: &mut Talk, known: &Mutex<Known>) -> Result<(), Silence> {
        let limits = self.engine.limits;
        let mut declared = vec![];
        let asked = talk.send(&["usi"]);
        let greeting = talk.wait(asked + limits.start, |line| {
            if let EngineLine::Option(option) = line {
                declared.push(option.name.clone());
            }
            *line == EngineLine::UsiOk
        });
        greeting.await?;
        for (name, value) in self.options(&declared) {
            let value = if value.is_empty() { value } else { format!(" value {value}") };
            talk.send(&[&format!("setoption name {name}{value}")]);
        }
        talk.ready(limits.ready).await?;
        talk.infos.clear();
        let go =
            if self.mate { format!("go mate {}", self.time.as_millis()) } else { "go infinite".to_owned() };
        let asked = talk.send(&["usinewgame", &format!("position {}", self.studied.argument()), &go]);
        let end = asked + self.time;
        let is_answer =
            |line: &EngineLine| matches!(line, EngineLine::BestMove { .. } | EngineLine::Checkmate(_));
        loop {
            let heard = talk.wait(end.min(Instant::now() + GLANCE), is_answer).await;
            self.note(mem::take(&mut talk.infos), known);
            match heard {
                Ok(line) => break self.answer(line.parsed, known),
                Err(Silence::Ended) => return Err(Silence::Ended),
                Err(Silence::Late) if Instant::now() < end => {}
                // A search ends with its time; a mate search says itself that it has found none in it.
                Err(Silence::Late) if !self.mate => break,
                Err(Silence::Late) => {
                    let line = talk.wait(end + LATE, is_answer).await?;
                    break self.answer(line.parsed, known);
                }
            }
        }
        Ok(())
    }

    /// The options of the engine, and those of an analysis as far as it has them.
    fn options(&self, declared: &[String]) -> Vec<(String, String)> {
        let own = self.engine.options.iter().cloned();
        let several = (!self.mate).then(|| ("MultiPV".to_owned(), LINES.to_string()));
        let alone =
            THREADS.map(|name| (name.to_owned(), "1".to_owned())).into_iter().filter(|_| self.is_modest);
        own.chain(several.into_iter().chain(alone).filter(|(name, _)| declared.contains(name))).collect()
    }

    fn note(&self, infos: impl IntoIterator<Item = String>, known: &Mutex<Known>) {
        for text in infos {
            let info = Info::of(&text);
            let rank = info.multipv.unwrap_or(1);
            let moves = playable(&self.studied, info.pv.split_whitespace());
            if rank <= LINES && !moves.is_empty() {
                let line = self.line(&info, moves);
                known.lock().lines.insert(rank, line);
            }
        }
    }

    fn line(&self, info: &Info, moves: Vec<Move>) -> Line {
        let sees = match self.engine.scores {
            ScoreView::Black => Color::Black,
            _ => self.studied.mover().into(),
        };
        let evaluation = info.score.map(|score| Evaluation::of(score.value.into(), sees));
        let words = spelled(&self.studied, &moves);
        let moves = moves.into_iter().map(Move::to_usi).collect();
        Line { evaluation, depth: info.depth, nodes: info.nodes, nps: info.nps, moves, words }
    }

    fn answer(&self, line: EngineLine, known: &Mutex<Known>) {
        let mut known = known.lock();
        match line {
            EngineLine::BestMove { mv, .. } => known.mv = Some(mv),
            EngineLine::Checkmate(mate) => known.mate = Some(mate),
            _ => {}
        }
        if let Some(Checkmate::Moves(moves)) = &known.mate {
            let moves = playable(&self.studied, moves.iter().map(String::as_str));
            let line = self.line(&Info::default(), moves);
            known.lines.insert(1, line);
        }
    }
}

/// Why an engine has said nothing, with its last lines.
async fn failure(talk: &mut Talk, silence: Silence) -> String {
    let what = match silence {
        Silence::Ended => talk.ending().await,
        Silence::Late => "does not answer in time".to_owned(),
    };
    let report = talk.trace.report();
    let lines: Vec<_> = report.lines().map(str::trim).collect();
    format!("{what}\n{}", lines[lines.len().saturating_sub(LAST)..].join("\n"))
}

/// The first of an engine's moves that can be played: engines print lines unchecked.
fn playable<'a>(studied: &Studied, moves: impl Iterator<Item = &'a str>) -> Vec<Move> {
    let mut position: Position = studied.position_at(studied.at);
    moves.take(LONGEST).map_while(Move::from_usi).take_while(|mv| play(&mut position, *mv)).collect()
}

fn spelled(studied: &Studied, moves: &[Move]) -> Vec<String> {
    let mut record: GameRecord = studied.before();
    record.plies.extend(moves.iter().map(|mv| Ply::from(*mv)));
    record::spelled_moves(&record, studied.at).unwrap_or_default()
}

impl Known {
    /// The move that an arrow shows.
    fn best(&self) -> Option<String> {
        let line = self.lines.get(&1).and_then(|line| line.moves.first());
        self.mv.clone().filter(|mv| Move::from_usi(mv).is_some()).or_else(|| line.cloned())
    }
}

fn drawn(words: Language, known: &Known, studied: &Studied) -> Markup {
    let said = match (&known.mate, known.mv.as_deref()) {
        (Some(Checkmate::Moves(moves)), _) => Some(words.mate_was_found(moves.len())),
        (Some(Checkmate::NoMate), _) => Some(words.there_is_no_mate().to_owned()),
        (Some(Checkmate::Timeout), _) => Some(words.no_mate_in_time().to_owned()),
        (Some(Checkmate::NotImplemented), _) => Some(words.engine_searches_no_mate().to_owned()),
        (_, Some("resign")) => Some(words.engine_resigns().to_owned()),
        (_, Some("win")) => Some(words.engine_declares().to_owned()),
        _ => None,
    };
    let sides = |line: &Line| {
        let depth = line.depth.map(|depth| words.depth_of(depth));
        let nodes = line.nodes.map(|nodes| words.nodes_of(&large(nodes)));
        let speed = line.nps.map(|nps| format!("{}/s", large(nps)));
        [depth, nodes, speed].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    };
    html! {
        @if let Some(said) = said { p { strong { (said) } } }
        ol.lines { @for line in known.lines.values() { li {
            @if let Some(evaluation) = line.evaluation { strong { (words.evaluation(evaluation).replace('-', "−")) } " " }
            span.quiet { (sides(line)) }
            a href=(studied.address_with(&line.moves)) { (line.words.join(" ")) }
        } } }
    }
}

/// A number as people read it.
fn large(number: u64) -> String {
    let scale = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    let found = scale.into_iter().find(|(size, _)| number >= *size);
    found.map_or_else(
        || number.to_string(),
        |(size, letter)| format!("{:.1}{letter}", number as f64 / size as f64),
    )
}
