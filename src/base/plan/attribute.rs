//! The file of `renmei attribute`: parts and their levels, of which builds are made.

use crate::{
    EnginePlan, Environment, Faults, OpeningOrder, OpeningPlan, Plan, built_in,
    engines::{self, Engines},
    games,
    keys::{
        EVENT, STAGE_KEYS,
        attribute::{ATTRIBUTE, ATTRIBUTE_FILE, LEVELS, PART, PARTS},
    },
    reader::{self, Item, Table},
    stages,
    time::time_control,
};
use contest::schedule::{Format, Stage};
use std::{fmt::Display, path::Path};

/// Games of two builds that meet: a pair of colours.
const ENCOUNTER: u32 = 2;
/// Most rounds of an event.
const ROUNDS: u64 = 10_000;

/// A part of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name; unique in its file.
    pub name: String,
    /// Names of its levels, at least two; the first one is the engine as it is.
    pub levels: Vec<String>,
}

/// The level of each part, by number.
pub type Levels = Vec<usize>;

/// What a design is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The parts.
    pub parts: Vec<Part>,
    /// Number of builds; `None`: as many as seem right.
    pub builds: Option<usize>,
    /// True if pairs of parts have effects of their own.
    pub pairs: bool,
    /// Seed of the event.
    pub seed: u64,
}

/// A checked `renmei attribute` file.
#[derive(Clone, Debug)]
pub struct AttributeConfig {
    /// The parts.
    pub parts: Vec<Part>,
    /// True if pairs of parts have effects of their own.
    pub pairs: bool,
    /// Games of the league.
    pub games: u64,
    /// The builds that are played, in the order of the event's engines.
    pub builds: Vec<Levels>,
    /// The event.
    pub plan: Plan,
}

/// The name of a build in its event: a digit for the level of each part, `0` for the first.
pub fn build_name(levels: &[usize]) -> String {
    levels.iter().map(ToString::to_string).collect()
}

impl AttributeConfig {
    /// Reads a file; `design` chooses the builds.
    ///
    /// # Errors
    /// Everything that is wrong with it, or why there is no such design.
    pub fn load<E: Display>(
        path: &Path,
        design: impl FnOnce(&Wish) -> Result<Vec<Levels>, E>,
    ) -> Result<Self, Faults> {
        reader::read_file(path, |text, environment| Self::parse(text, Some(path), environment, design))
    }

    /// Reads the text of a file; `design` chooses the builds.
    ///
    /// # Errors
    /// Everything that is wrong with it, or why there is no such design.
    pub fn parse<E: Display>(
        text: &str,
        file: Option<&Path>,
        environment: &Environment,
        design: impl FnOnce(&Wish) -> Result<Vec<Levels>, E>,
    ) -> Result<Self, Faults> {
        reader::read(text, file, environment, &[&ATTRIBUTE_FILE], |root| config(root, design))
    }
}

/// A part with what its levels say of the engine.
struct Given<'a> {
    part: Part,
    option: Option<String>,
    /// Places in the file.
    places: Vec<Item<'a>>,
    tables: Vec<Table<'a>>,
}

fn config<E: Display>(
    root: &Table<'_>,
    design: impl FnOnce(&Wish) -> Result<Vec<Levels>, E>,
) -> AttributeConfig {
    let table = root.table("attribute", &ATTRIBUTE);
    let builds = table.integer("builds");
    let games = table.integer("games").unwrap_or(20_000_u64);
    let pairs = table.flag("pairs", true);
    table.refuse_unknown();
    let given = parts(root);
    let parts: Vec<Part> = given.iter().map(|given| given.part.clone()).collect();
    let seed = root.table("event", &EVENT).integer("seed").unwrap_or(1);
    let wish = Wish { parts: parts.clone(), builds, pairs, seed };
    // A part with a fault has too few levels to be designed with.
    let sound = !parts.is_empty() && parts.iter().all(|part| part.levels.len() > 1);
    let builds = match if sound { design(&wish) } else { Ok(vec![]) } {
        Ok(builds) => builds,
        Err(why) => {
            table.fault("builds", why);
            vec![]
        }
    };
    let plan = plan(root, &given, &builds, games);
    AttributeConfig { parts, pairs, games, builds, plan }
}

fn parts<'a>(root: &Table<'a>) -> Vec<Given<'a>> {
    root.require("parts", "name the parts, each under `[[parts]]` with its levels");
    root.require("defaults", "name the engine by its `command`, with what every build has");
    let Some(list) = root.item("parts") else { return vec![] };
    let items = list.elements("tables, each under `[[parts]]`");
    if items.len() > PARTS {
        list.fault(format!("{} parts are more than {PARTS}", items.len()));
        return vec![];
    }
    let mut given: Vec<Given<'_>> = Vec::new();
    for table in items.iter().filter_map(|item| item.table(&PART)) {
        let part = part(&table);
        if given.iter().any(|other| other.part.name == part.part.name) {
            table.fault("name", format!("a second part is named \"{}\"", part.part.name));
        }
        table.refuse_unknown();
        given.push(part);
    }
    given
}

fn part<'a>(table: &Table<'a>) -> Given<'a> {
    let option = table.text("option");
    let name = table.text("name").or_else(|| option.clone()).unwrap_or_default();
    if name.trim().is_empty() || name.contains(['=', ',']) || name.chars().any(char::is_control) {
        table.fault("name", "is no name of a part: a text without `=` and `,`");
    }
    let (values, levels) = (table.item("values"), table.item("levels"));
    let (places, tables): (Vec<_>, Vec<_>) = match (&option, values, levels) {
        (Some(_), Some(values), None) => (values.elements("a list of values"), vec![]),
        (None, None, Some(levels)) => {
            let items = levels.elements("a list of tables, each with a `name`");
            let tables = items.iter().filter_map(|item| item.table(&EnginePlan::SECTION)).collect();
            (items, tables)
        }
        _ => {
            table.fault("", "a part has either `option` and `values`, or `levels`");
            (vec![], vec![])
        }
    };
    let levels: Vec<String> = match &option {
        Some(_) => places.iter().filter_map(Item::scalar).collect(),
        None => tables.iter().map(level_name).collect(),
    };
    check_levels(table, &levels, &places);
    Given { part: Part { name, levels }, option, places, tables }
}

fn level_name(table: &Table<'_>) -> String {
    table.require("name", "a level has a name");
    table.text("name").unwrap_or_default()
}

fn check_levels(table: &Table<'_>, levels: &[String], places: &[Item<'_>]) {
    if !places.is_empty() && !(2..=LEVELS).contains(&places.len()) {
        table.fault("", format!("a part has 2 to {LEVELS} levels, here are {}", places.len()));
    }
    for (at, (level, place)) in levels.iter().zip(places).enumerate() {
        if levels[..at].contains(level) {
            place.fault(format!("a second level is named \"{level}\""));
        }
        if level.trim().is_empty() || level.contains(['=', ',']) || level.chars().any(char::is_control) {
            place.fault("is no name of a level: a text without `=` and `,`");
        }
    }
}

fn plan(root: &Table<'_>, given: &[Given<'_>], builds: &[Levels], games: u64) -> Plan {
    let defaults = root.table("defaults", &EnginePlan::SECTION);
    for key in ["optional", "remote", "name"] {
        if defaults.has(key) {
            defaults.fault(key, "has no meaning here: every build is played, under a name of its own");
        }
    }
    // Where there are no builds, the clock is checked too.
    time_control(&root.items("time"), None);
    let engines = builds.iter().filter_map(|levels| build(root, &defaults, given, levels)).collect();
    let rules = games::rules(root);
    let adjudication = games::adjudication(root);
    let openings = games::openings(root, &rules).unwrap_or_else(built_in_openings);
    let event = root.table("event", &EVENT);
    for key in STAGE_KEYS.iter().filter(|key| event.has(key.name)) {
        event.fault(
            key.name,
            "has no meaning here: builds are paired at random, and `[attribute]` has `games`",
        );
    }
    let mut plan = stages::plan(root, Engines::listed(engines), rules, adjudication, Some(openings));
    let per_round = u64::from(ENCOUNTER) * (builds.len() as u64 / 2).max(1);
    let rounds = games.div_ceil(per_round);
    if rounds > ROUNDS && !builds.is_empty() {
        let most = ROUNDS * per_round;
        root.table("attribute", &ATTRIBUTE)
            .fault("games", format!("{} builds play at most {most} games", builds.len()));
    }
    let format = Format::Random { rounds: u32::try_from(rounds.min(ROUNDS)).unwrap_or(u32::MAX) };
    plan.stages = vec![Stage { format, games: ENCOUNTER, ..Stage::default() }];
    plan
}

/// Without openings, builds that are limited by nodes would play the same games again and again.
fn built_in_openings() -> OpeningPlan {
    OpeningPlan { files: vec![built_in::NAME.into()], order: OpeningOrder::Random, ..OpeningPlan::default() }
}

/// The engine of a build: its levels, over what every build has.
fn build(
    root: &Table<'_>,
    defaults: &Table<'_>,
    given: &[Given<'_>],
    levels: &[usize],
) -> Option<EnginePlan> {
    let chosen = || given.iter().zip(levels);
    let tables = chosen().filter_map(|(given, level)| given.tables.get(*level).cloned());
    let table = tables.chain([defaults.clone()]).reduce(|above, below| above.over(&below))?;
    let values = chosen().filter_map(|(given, level)| {
        let option = given.option.clone()?;
        Some((option, given.part.levels.get(*level)?.clone(), given.places.get(*level)?.clone()))
    });
    engines::build(root, &table, build_name(levels), values)
}
