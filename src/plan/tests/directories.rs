//! The directory that an engine runs in, and what an event keeps that was begun when it was another.

use super::{World, client, here};
use crate::{ClientConfig, StoredPlan};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// The directories of two engines, one with these lines.
fn directories(world: &World, lines: &str) -> Vec<Option<PathBuf>> {
    let text = format!(
        "time = \"1s\"\n[[engines]]\nname = \"a\"\n{lines}\n[[engines]]\nname = \"b\"\ncommand = \"beta\"\n"
    );
    world.plan(&text).engines.into_iter().map(|engine| engine.directory).collect()
}

#[test]
fn an_engine_runs_beside_its_program_if_that_is_a_path_and_else_where_renmei_runs() {
    let world = here();
    let (root, bin) = (world.dir.path().to_path_buf(), world.dir.path().join("bin"));
    for command in ["bin/alpha", "./bin/alpha", &bin.join("alpha").display().to_string()] {
        assert_eq!(directories(&world, &format!("command = \"{command}\"")), [Some(bin.clone()), None]);
    }
    let dot = "command = \"./bin/alpha\"\ndirectory = \".\"";
    assert_eq!(directories(&world, dot), [Some(root), None]);
    let text = format!("time = \"1s\"\n[defaults]\ndirectory = \"bin\"\n{}", super::TWO);
    assert!(world.plan(&text).engines.iter().all(|engine| engine.directory.as_deref() == Some(&bin)));
}

#[test]
fn an_event_keeps_the_directories_and_openings_that_were_the_default_when_it_was_begun() {
    let world = here();
    let text = format!(
        "{}[[engines]]\nname = \"c\"\ncommand = \"bin/gamma\"\n",
        super::with("[openings]\nfile = \"built-in\"\n")
    );
    let mut plan = world.plan(&text);
    let before = StoredPlan::from_json(&StoredPlan::of_event(&plan).to_json()).unwrap();
    let bare = StoredPlan::from_json(
        r#"{"openings": null, "engines": [{"name": "a"}, {"name": "b"}, {"name": "c", "directory": null}]}"#,
    );
    assert_eq!(plan.keep_defaults_of(bare.as_ref().unwrap()), ["`c` runs in the current directory"]);
    assert!(plan.openings.is_some(), "the file names them");
    assert_eq!(plan.engines[2].directory, None);
    let mut plan = world.plan(&text);
    plan.openings.as_mut().unwrap().by_default = true;
    assert!(plan.keep_defaults_of(&before).is_empty());
    assert!(plan.openings.is_some() && plan.engines[2].directory.is_some(), "they are as they were");
    assert_eq!(plan.keep_defaults_of(&bare.unwrap()).len(), 2);
    assert_eq!(plan.openings, None);
    let mut named = world.plan(&text.replace("\"bin/gamma\"", "\"bin/gamma\"\ndirectory = \".\""));
    let kept = named.keep_defaults_of(
        &StoredPlan::from_json(r#"{"engines": [{"name": "c", "directory": null}]}"#).unwrap(),
    );
    assert!(
        kept.is_empty() && named.engines[2].directory.is_some(),
        "a change that is refused later, not undone"
    );
}

#[test]
fn games_on_a_server_keep_the_directory_of_their_engine() {
    let world = here();
    let parse =
        |text: &str| ClientConfig::parse(text, Some(Path::new("x.toml")), &world.environment).unwrap();
    let text = client("", "a-1-1,geheim", "").replace("\"alpha\"", "\"bin/alpha\"");
    let mut engine = parse(&text).engine;
    let now = StoredPlan::of_client(&parse(&text), BTreeMap::new());
    assert!(!engine.keep_defaults_of(&now));
    assert_eq!(engine.directory, Some(world.dir.path().join("bin")));
    let before = StoredPlan::of_client(&parse(&client("", "a-1-1,geheim", "")), BTreeMap::new());
    assert!(engine.keep_defaults_of(&before));
    assert_eq!(engine.directory, None);
}

#[test]
fn only_a_relative_value_that_is_missing_where_the_engine_looks_is_misplaced() {
    let world = here();
    let root = world.dir.path();
    fs::write(root.join("bin/own.book"), "").unwrap();
    let text = format!(
        "time = \"1s\"\n[[engines]]\nname = \"a\"\ncommand = \"bin/alpha\"\nargs = [\"--book=book.usi\", \"own.book\", \"\"]\n\
         options = {{ Book = \"book.usi\", Whole = \"{}\", Threads = 1, Absent = \"no.book\" }}\n{}",
        root.join("book.usi").display(),
        super::TWO.replace("\"a\"", "\"c\"")
    );
    let plan = world.plan(&text);
    let told: Vec<_> = plan.engines.iter().flat_map(|engine| engine.misplaced(&[root])).collect();
    let told = told.join("\n").replace(root.to_str().unwrap(), "DIR");
    insta::assert_snapshot!(told, @r"
    `a` runs in `DIR/bin`, where there is no `book.usi` (an argument); there is `DIR/book.usi`: write the whole path, or set `directory`
    `a` runs in `DIR/bin`, where there is no `book.usi` (option `Book`); there is `DIR/book.usi`: write the whole path, or set `directory`
    ");
}
