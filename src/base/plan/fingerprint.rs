//! The part of a plan that must not change while an event is interrupted.
//!
//! The database keeps the fingerprint of the plan that an event was begun with, and a resumed run compares it with that
//! of its own plan. Settings without influence on the games are left out: concurrency, cores, the database, limits
//! outside the turns, patience. The sizes of the stages are kept, but may change: see [`contest::schedule::size`].

use crate::{EnginePlan, OpeningChange, OpeningPlan, Plan, ScoreView, SourcePlan};
use crate::{built_in, clocks::ClockIn, time_text};
use contest::{schedule::Stage, scoring::Scoring, standings::RankingRules};
use platform::content::{hex, sha256};
use referee::clock::TimeControl;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{io, path::Path};

/// The key of the names of the engines, in their order.
const ORDER: &str = "order of the engines";
/// The key of the engines by name.
const ENGINES: &str = "engines";

/// Summary of a plan, stored as JSON and compared with that of a later plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(Value);

impl Fingerprint {
    /// The fingerprint of a plan, with the contents of its opening files.
    ///
    /// # Errors
    /// If an opening file cannot be read.
    pub fn of(plan: &Plan) -> io::Result<Self> {
        let engines: serde_json::Map<_, _> =
            plan.engines.iter().map(|engine| (engine.name.clone(), self::engine(engine))).collect();
        // Events of before there were such rules have the usual ones.
        let RankingRules { scoring, tie_breaks, bye_is_opponent, .. } = plan.ranking.clone();
        let ratings = plan.ranking.ranks_by_rating().then_some(&plan.ranking.ratings);
        let is_ordered = tie_breaks.is_some() || !bye_is_opponent;
        let order: Vec<_> = plan.engines.iter().map(|engine| &engine.name).collect();
        Ok(Self(json!({
            "seed": plan.seed,
            "stages": plan.stages,
            "scoring": (scoring != Scoring::default()).then_some(scoring),
            "tiebreaks": is_ordered.then(|| json!({ "order": tie_breaks, "bye_is_opponent": bye_is_opponent, "ratings": ratings })),
            "replay_draws": plan.replay_draws,
            "sprt": plan.sprt,
            "tune": plan.tune,
            "rules": plan.rules,
            "adjudication": plan.adjudication,
            "openings": plan.openings.as_ref().map(openings).transpose()?,
            ORDER: order,
            ENGINES: engines,
        })))
    }

    /// Differences in words, one line each, such as `engines[fairy].options.Threads was 1, is 2`; empty if the games of
    /// both plans are comparable. Sizes of stages are no difference.
    pub fn changes_to(&self, now: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        compare("", &self.0, &now.with_sizes_of(self), &mut changes);
        changes
    }

    /// The fingerprint with an engine more, whose part of it is given as JSON; unreadable JSON adds none.
    #[must_use]
    pub fn with_engine(mut self, name: &str, configuration: &str) -> Self {
        let Ok(configuration) = serde_json::from_str(configuration) else { return self };
        if let Some(order) = self.0.get_mut(ORDER).and_then(Value::as_array_mut) {
            order.push(name.into());
        }
        if let Some(engines) = self.0.get_mut(ENGINES).and_then(Value::as_object_mut) {
            engines.insert(name.to_owned(), configuration);
        }
        self
    }

    /// The fingerprint of a later plan without the engines at its end that this one has not, and these in their order:
    /// each with its name and its part of the fingerprint as JSON.
    pub fn newcomers_of(&self, now: &Self) -> (Self, Vec<(String, String)>) {
        let order = |of: &Self| of.0[ORDER].as_array().cloned().unwrap_or_default();
        let (was, is, mut rest) = (order(self), order(now), now.clone());
        if was.is_empty() || !is.starts_with(&was) {
            return (rest, vec![]);
        }
        let mut newcomers = vec![];
        for name in is[was.len()..].iter().filter_map(Value::as_str) {
            let engines = rest.0.get_mut(ENGINES).and_then(Value::as_object_mut);
            let configuration = engines.and_then(|engines| engines.remove(name));
            newcomers.push((name.to_owned(), configuration.unwrap_or_default().to_string()));
        }
        if let Some(order) = rest.0.get_mut(ORDER) {
            *order = was.into();
        }
        (rest, newcomers)
    }

    /// The fingerprint with the parts that another one has of these engines.
    #[must_use]
    pub fn with_engines_of<'a>(mut self, other: &Self, names: impl Iterator<Item = &'a str>) -> Self {
        for name in names {
            let known = other.0.get(ENGINES).and_then(|engines| engines.get(name));
            let own = self.0.get_mut(ENGINES).and_then(|engines| engines.get_mut(name));
            if let (Some(known), Some(own)) = (known, own) {
                own.clone_from(known);
            }
        }
        self
    }

    /// The stages of the plan; `None` if they are not as this program writes them.
    pub fn stages(&self) -> Option<Vec<Stage>> {
        serde_json::from_value(self.0.get("stages")?.clone()).ok()
    }

    /// The fingerprint with the stages of `before` where they differ in size alone.
    fn with_sizes_of(&self, before: &Self) -> Value {
        let mut value = self.0.clone();
        let (Some(was), Some(is)) = (before.stages(), self.stages()) else { return value };
        let Some(stages) = value["stages"].as_array_mut() else { return value };
        for (at, stage) in stages.iter_mut().enumerate().take(was.len()) {
            if was[at].without_size() == is[at].without_size() {
                *stage = before.0["stages"][at].clone();
            }
        }
        value
    }
}

fn clocks(engine: &EnginePlan) -> Option<Value> {
    let clock = |clock: &ClockIn| {
        let [black, white] = clock.times.each_ref().map(time);
        json!({ "stage": clock.stage, "from": clock.from, "black": black, "white": white })
    };
    (!engine.clocks.is_empty()).then(|| engine.clocks.iter().map(clock).collect())
}

fn engine(engine: &EnginePlan) -> Value {
    let mut fingerprint = if engine.remote {
        json!({ "remote": true, "time": time(&engine.time), "clocks": clocks(engine) })
    } else {
        started(engine)
    };
    if engine.scores != ScoreView::default() {
        fingerprint["scores"] = json!(engine.scores);
    }
    if let Some(scale) = engine.scale {
        fingerprint["scale"] = scale.centipawns().into();
    }
    fingerprint
}

/// An engine that this program starts.
fn started(engine: &EnginePlan) -> Value {
    let pairs = |pairs: &[(String, String)]| {
        Value::Object(pairs.iter().cloned().map(|(k, v)| (k, v.into())).collect())
    };
    let (program, directory) = match &engine.source {
        // Where a cache lies is of no influence on the games.
        Some(source) => (self::source(source), (!engine.directory_by_default).then_some(&engine.directory)),
        None => (json!(engine.command), Some(&engine.directory)),
    };
    let mut fingerprint = json!({
        "command": program,
        "args": engine.args,
        "directory": directory,
        "environment": pairs(&engine.environment),
        "options": pairs(&engine.options),
        "time": time(&engine.time),
        "clocks": clocks(engine),
        "reserve": time_text::text(engine.reserve),
        "go": engine.go,
        "ponder": engine.ponder,
        "restart": engine.restart,
    });
    if let Some(host) = &engine.host {
        fingerprint["host"] = host.as_str().into();
    }
    if let Some(replaced) = &engine.replaces {
        fingerprint["replaces"] = replaced.as_str().into();
    }
    fingerprint
}

fn source(source: &SourcePlan) -> Value {
    let SourcePlan { commit, build, program, keep, .. } = source;
    json!({ "commit": commit, "build": build, "program": program, "keep": keep })
}

fn time(time: &TimeControl) -> Value {
    json!({
        "main": time_text::text(time.main),
        "byoyomi": time_text::text(time.byoyomi),
        "increment": time_text::text(time.increment),
        "delay": time_text::text(time.delay),
        "fixed": time.fixed.map(time_text::text),
        "nodes": time.nodes,
        "jitter": time.is_jittered().then_some(time.jitter),
        "depth": time.depth,
        "margin": time_text::text(time.margin),
        "accounting": time.accounting,
        "least": time_text::text(time.least),
    })
}

fn openings(plan: &OpeningPlan) -> io::Result<Value> {
    let contents = plan.files.iter().map(|path| content_hash(path)).collect::<io::Result<Vec<_>>>()?;
    Ok(json!({
        // Files may move; their contents, in their order, must stay.
        "files": contents,
        "plies": plan.plies,
        "order": plan.order,
        "change": (plan.change != OpeningChange::default()).then_some(plan.change),
        "pairs": plan.pairs,
        "dedupe": plan.dedupe,
    }))
}

/// What tells the contents of a file from those of an edited one.
fn content_hash(path: &Path) -> io::Result<String> {
    let (hash, _) = sha256(&mut &*built_in::contents(path)?)?;
    Ok(format!("contents {}", hex(&hash[..8])))
}

fn compare(path: &str, was: &Value, is: &Value, changes: &mut Vec<String>) {
    match (was, is) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, was) in before {
                compare(&join(path, key), was, after.get(key).unwrap_or(&Value::Null), changes);
            }
            for (key, is) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
                compare(&join(path, key), &Value::Null, is, changes);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (i, (was, is)) in before.iter().zip(after).enumerate() {
                compare(&format!("{path}[{i}]"), was, is, changes);
            }
        }
        _ if was == is => {}
        (Value::Null, Value::Object(_)) => changes.push(format!("{path} was not there, is now")),
        (Value::Object(_), Value::Null) => changes.push(format!("{path} was there, is not now")),
        _ => changes.push(format!("{path} was {}, is {}", told(was), told(is))),
    }
}

fn join(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        "engines" => format!("engines[{key}]"),
        _ => format!("{path}.{key}"),
    }
}

fn told(value: &Value) -> String {
    match value {
        Value::Null => "not given".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(told).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
