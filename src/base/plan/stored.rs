//! The plan of an event as the database keeps it, in the column `plan` of the table `events`: JSON.
//!
//! The fields of [`StoredPlan`] are those that this program reads back. Everything else of a plan is written beside
//! them for people's queries (`plan ->> '$.rules.max_moves'`) and is kept as it is, but no code reads it;
//! only the defaults that an event was begun with are looked up there.

use crate::clocks::ClockIn;
use crate::{
    ClientConfig, EnginePlan, Event, LogPlan, Plan, Restart, ServeConfig, SprtPlan, TunePlan, is_limited,
};
use contest::{
    fault_limit::FaultLimit,
    schedule::{Format, Stage},
    standings::RankingRules,
};
use referee::{clock::TimeControl, evaluation::ScoreScale};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The plan of an event as the database keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredPlan {
    /// Name of the event.
    #[serde(default)]
    pub name: String,
    /// Stages of the event. An open league, games on a server and imported records have one stage, in which everybody
    /// may meet everybody.
    #[serde(default = "open_field")]
    pub stages: Vec<Stage>,
    /// The sequential test, if there is one.
    #[serde(default)]
    pub sprt: Option<SprtPlan>,
    /// The rules of the tables, if they are not the usual ones; lots are drawn from [`Self::seed`].
    #[serde(default, skip_serializing_if = "RankingRules::is_usual")]
    ranking: RankingRules,
    /// The tuning that the games serve, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tune: Option<TunePlan>,
    /// Faults that halt the games of an engine; `None`: none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_limit: Option<FaultLimit>,
    /// The players, in the order of their numbers; empty where players come and go.
    #[serde(default)]
    pub engines: Vec<StoredEngine>,
    /// On a server: the name of our player there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub us: Option<String>,
    /// On a server: ratings of opponents, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratings: Option<BTreeMap<String, f64>>,
    /// Which conversations with engines are kept.
    #[serde(default)]
    pub log: LogPlan,
    /// What no code reads back.
    #[serde(flatten)]
    details: Map<String, Value>,
}

/// A player of a stored plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredEngine {
    /// Name of the player.
    pub name: String,
    /// True if it is a program in the network that logs in.
    #[serde(default)]
    pub remote: bool,
    /// When a new process is started.
    #[serde(default)]
    pub restart: Restart,
    /// Its clock; `None` if the plan does not say.
    #[serde(default)]
    pub time: Option<TimeControl>,
    /// Its clocks in some games in place of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<ClockIn>,
    /// Its declared rating.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<u32>,
    /// The scale of its scores, where the configuration has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScoreScale>,
    /// What no code reads back.
    #[serde(flatten)]
    details: Map<String, Value>,
}

/// Why a stored plan cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a plan of this program: {0}")]
pub struct StoredPlanError(String);

impl From<serde_json::Error> for StoredPlanError {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<&Plan> for StoredPlan {
    fn from(plan: &Plan) -> Self {
        let details =
            details(plan, &["name", "stages", "sprt", "ranking", "tune", "engines", "fault_limit", "log"]);
        let engines = plan.engines.iter().map(StoredEngine::of).collect();
        let (stages, sprt, fault_limit) = (plan.stages.clone(), plan.sprt, plan.fault_limit);
        let ranking = RankingRules { seed: 0, ratings: vec![], ..plan.ranking.clone() };
        let (tune, log) = (plan.tune.clone(), plan.log.clone());
        Self { stages, sprt, ranking, tune, fault_limit, engines, log, ..Self::open(&plan.name, details) }
    }
}

impl From<&ServeConfig> for StoredPlan {
    fn from(config: &ServeConfig) -> Self {
        Self::open(&config.name, Map::from_iter([("serve".to_owned(), details(config, &[]).into())]))
    }
}

impl From<&ClientConfig> for StoredPlan {
    fn from(config: &ClientConfig) -> Self {
        let details = Map::from_iter([("floodgate".to_owned(), details(config, &[]).into())]);
        let (us, ratings) = (Some(config.login.name.clone()), Some(config.ratings.clone()));
        let log = config.log.clone();
        Self { us, ratings, log, ..Self::open(&config.name, details) }
    }
}

impl From<&Event> for StoredPlan {
    fn from(event: &Event) -> Self {
        match event {
            Event::Arranged { plan, .. } => Self::from(&**plan),
            Event::League(config) => Self::from(&**config),
            Event::Seat(config) => Self::from(&**config),
        }
    }
}

impl StoredPlan {
    /// The format in words, as [`Plan::format_words`].
    pub fn format_words(&self) -> String {
        crate::words_of(&self.stages, self.tune.as_ref())
    }

    /// The plan of records that were played elsewhere.
    pub fn of_records(name: &str) -> Self {
        Self::open(name, Map::new())
    }

    /// The plan of results without moves, of games that were played elsewhere.
    pub fn of_results(name: &str, players: &[String], stage: Stage, ranking: RankingRules) -> Self {
        let player = |name: &String| StoredEngine { name: name.clone(), ..StoredEngine::default() };
        let engines = players.iter().map(player).collect();
        Self { stages: vec![stage], engines, ranking, ..Self::of_records(name) }
    }

    fn open(name: &str, details: Map<String, Value>) -> Self {
        Self { name: name.to_owned(), stages: open_field(), details, ..Self::default() }
    }

    /// The JSON that the database keeps.
    pub fn to_json(&self) -> String {
        json(self).to_string()
    }

    /// Reads what the database keeps.
    ///
    /// # Errors
    /// When it is no plan.
    pub fn from_json(json: &str) -> Result<Self, StoredPlanError> {
        Ok(serde_json::from_str(json)?)
    }

    /// The server that the games were played on.
    pub fn server(&self) -> Option<&str> {
        self.details.get("floodgate")?.get("host")?.as_str()
    }

    /// The limits of faults of the players.
    pub fn fault_limits(&self) -> impl Iterator<Item = Option<FaultLimit>> {
        self.engines
            .iter()
            .map(|engine| self.fault_limit.filter(|_| is_limited(engine.remote, engine.restart)))
    }

    /// The rules of the tables.
    pub fn ranking(&self) -> RankingRules {
        let ratings = self.engines.iter().map(|engine| engine.rating).collect();
        RankingRules { seed: self.seed().unwrap_or_default(), ratings, ..self.ranking.clone() }
    }

    /// The seed of every random choice; `None` if the plan does not say.
    pub fn seed(&self) -> Option<u64> {
        self.details.get("seed")?.as_u64()
    }

    /// Size of the difference between the two commits that were tested, in git's words.
    pub fn difference(&self) -> Option<&str> {
        self.details.get("difference")?.as_str()
    }

    /// The rating of an opponent on a server.
    pub fn rating(&self, name: &str) -> Option<f64> {
        self.ratings.as_ref()?.get(name).copied()
    }
}

impl StoredEngine {
    /// Its arguments and options as one text, by which two players of one program are told apart.
    pub fn settings(&self) -> String {
        let words = |key| self.details.get(key).and_then(Value::as_array).into_iter().flatten();
        let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut settings: Vec<String> = words("args").map(word).collect();
        let options = words("options").filter_map(|option| Some((option.get(0)?, option.get(1)?)));
        settings.extend(options.map(|(name, value)| format!("{}={}", word(name), word(value))));
        settings.join(" ")
    }

    fn of(engine: &EnginePlan) -> Self {
        let details = details(engine, &["name", "remote", "restart", "time", "clocks", "rating", "scale"]);
        let &EnginePlan { ref name, remote, restart, time, ref clocks, rating, scale, .. } = engine;
        let (name, clocks) = (name.clone(), clocks.clone());
        Self { name, remote, restart, time: Some(time), clocks, rating, scale, details }
    }

    /// The commit that it was built of, and the first line of its message.
    pub fn commit(&self) -> Option<(&str, &str)> {
        let source = self.details.get("source")?;
        let text = |key| source.get(key).and_then(Value::as_str);
        Some((text("commit").filter(|commit| !commit.is_empty())?, text("subject")?))
    }
}

/// A value as JSON. The one thing that JSON cannot hold is a path that is not UTF-8; the error then stands in place of
/// the value, so that the event is played all the same.
fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_else(|error| serde_json::json!({ "error": error.to_string() }))
}

/// The fields of a value without those that the stored plan has a type for.
fn details(value: &impl Serialize, typed: &[&str]) -> Map<String, Value> {
    match json(value) {
        Value::Object(fields) => {
            fields.into_iter().filter(|(name, _)| !typed.contains(&name.as_str())).collect()
        }
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}

/// One stage in which everybody may meet everybody.
fn open_field() -> Vec<Stage> {
    vec![Stage { format: Format::RoundRobin { cycles: 1 }, games: 1, ..Stage::default() }]
}
