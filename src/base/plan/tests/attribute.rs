//! The file of `renmei attribute`.

use super::*;
use crate::{
    AttributeConfig,
    attribute::{Levels, Wish},
};
use contest::schedule::Format;

const FILE: &str = r#"
[attribute]
games = 10

[time]
nodes = 100

[defaults]
command = "renmei-random"
options = { Seed = 5, Style = "uniform" }

[[parts]]
option = "Style"
values = ["greedy", "uniform"]

[[parts]]
name = "program"
levels = [{ name = "random" }, { name = "pairwise", command = "renmei-pairwise", args = ["usi"], options = { Seed = 7 } }]
"#;

/// A file with a line in `[attribute]`.
pub fn with(line: &str) -> String {
    FILE.replace("games = 10\n", line)
}

/// What a file comes to.
pub fn shape(text: &str) -> (crate::Plan, u64, bool) {
    let config = read(text, |wish| {
        assert_eq!(wish.builds, None);
        all(wish)
    });
    let config = config.unwrap_or_else(|faults| panic!("{faults}"));
    let plan = crate::Plan { base: PathBuf::new(), database: PathBuf::new(), engines: vec![], ..config.plan };
    (plan, config.games, config.pairs)
}

fn read(
    text: &str,
    design: impl FnOnce(&Wish) -> Result<Vec<Levels>, String>,
) -> Result<AttributeConfig, Faults> {
    let world = World::new(&["renmei-random", "renmei-pairwise"]);
    AttributeConfig::parse(text, None, &world.environment, design)
}

fn all(_: &Wish) -> Result<Vec<Levels>, String> {
    Ok(vec![vec![0, 0], vec![0, 1], vec![1, 0], vec![1, 1]])
}

#[test]
fn a_build_has_the_values_and_keys_of_its_levels_over_those_of_every_build() {
    let config = read(FILE, all).unwrap();
    let names: Vec<_> = config.plan.engines.iter().map(|engine| engine.name.as_str()).collect();
    assert_eq!(names, ["00", "01", "10", "11"]);
    let [first, .., last] = &config.plan.engines[..] else { panic!("four builds") };
    let options = |engine: &crate::EnginePlan| {
        let mut options = engine.options.clone();
        options.sort();
        options
    };
    let pairs =
        |pairs: [(&str, &str); 2]| pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    assert_eq!(options(first), pairs([("Seed", "5"), ("Style", "greedy")]));
    assert_eq!(options(last), pairs([("Seed", "7"), ("Style", "uniform")]));
    assert!(first.command.ends_with("renmei-random") && last.command.ends_with("renmei-pairwise"));
    assert_eq!((first.args.len(), last.args.len()), (0, 1));
    assert_eq!(first.options.len(), first.option_sources.len());
    // Two encounters of two games are a round.
    assert_eq!(config.plan.stages[0].format, Format::Random { rounds: 3 });
    assert!(config.plan.openings.is_some(), "at a fixed number of nodes every game would be the same");
}

#[test]
fn every_fault_of_parts_is_told_at_its_key() {
    let faults = |from: &str, to: &str| {
        assert!(FILE.contains(from), "{from}");
        read(&FILE.replace(from, to), all).unwrap_err().to_string()
    };
    let told = |from: &str, to: &str, fault: &str| {
        let faults = faults(from, to);
        assert!(faults.contains(fault), "{faults}");
    };
    told(
        "games = 10",
        "games = 10\nbuild = 3",
        "attribute.build: unknown key `build`; did you mean `builds`?",
    );
    told(
        "[attribute]",
        "[event]\nformat = \"swiss\"\n[attribute]",
        "event.format: has no meaning here: builds are paired at random",
    );
    told("\"greedy\", \"uniform\"", "\"greedy\", \"greedy\"", "a second level is named \"greedy\"");
    told(
        "values = [\"greedy\", \"uniform\"]",
        "",
        "parts[0]: a part has either `option` and `values`, or `levels`",
    );
    told("name = \"program\"", "name = \"Style\"", "a second part is named \"Style\"");
    told("name = \"program\"", "name = \"a=b\"", "parts[1].name: is no name of a part");
    told(
        "command = \"renmei-pairwise\"",
        "comand = \"x\"",
        "parts[1].levels[1].comand: unknown key `comand`; did you mean `command`?",
    );
    told(
        "command = \"renmei-random\"",
        "command = \"renmei-random\"\noptional = true",
        "defaults.optional: has no meaning here",
    );
    told(
        "[attribute]",
        "[[engines]]\nname = \"x\"\n[attribute]",
        "unknown key `engines`: a file with this table is for `renmei run`",
    );
    let refused = read(FILE, |_| Err("four are too few".to_owned())).unwrap_err().to_string();
    assert!(refused.contains("attribute.builds: four are too few"), "{refused}");
}

#[test]
fn more_games_than_rounds_are_refused() {
    let refused = read(&FILE.replace("games = 10", "games = 50_000"), all).unwrap_err().to_string();
    assert!(refused.contains("attribute.games: 4 builds play at most 40000 games"), "{refused}");
}

#[test]
fn the_preset_of_parts_is_a_league_of_builds() {
    let path = repository().join("configs/attribute.toml");
    let world = World::new(&["renmei-pairwise"]);
    let text = fs::read_to_string(&path).unwrap();
    let builds = |wish: &Wish| {
        assert_eq!((wish.parts.len(), wish.builds, wish.pairs), (8, Some(64), true));
        Ok::<_, String>((0..64).map(|build| (0..8).map(|part| build >> part & 1).collect()).collect())
    };
    let config = AttributeConfig::parse(&text, Some(&path), &world.environment, builds);
    let config = config.unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!((config.plan.engines.len(), config.games), (64, 20_000));
    assert_eq!(config.plan.name, "attribute");
}
