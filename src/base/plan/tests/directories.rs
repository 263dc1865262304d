//! The directory that an engine runs in.

use super::{World, here};
use std::{fs, path::PathBuf};

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
