use super::*;
use std::os::unix::fs::PermissionsExt;
use std::{cell::RefCell, fs};
use tempfile::TempDir;

/// A directory with a program and files in it.
fn home(files: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files.iter().chain(&["engine"]) {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    dir
}

fn engine(dir: &TempDir) -> EnginePlan {
    let directory = Some(dir.path().to_owned());
    EnginePlan {
        name: "e".to_owned(),
        command: dir.path().join("engine"),
        directory,
        ..EnginePlan::default()
    }
}

fn shown(options: &[(&str, OptionKind)]) -> Handshake {
    let decl =
        |(name, kind): &(&str, OptionKind)| OptionDecl { name: (*name).to_owned(), kind: kind.clone() };
    let options = options.iter().map(decl).collect();
    Handshake { name: Some("E 1".to_owned()), options, ..Handshake::default() }
}

fn set(options: &[(&str, &str)]) -> Vec<(String, String)> {
    options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// What plays, and what was said.
fn identify(engine: &EnginePlan, shown: &Handshake) -> (Result<Engine, IdentityError>, Vec<String>) {
    let said = RefCell::new(vec![]);
    let say = |line: &str| said.borrow_mut().push(line.to_owned());
    let database = engine.directory.clone().unwrap_or_default().join("event.db");
    let found = Identifier::new(&database, &say).identify(engine, shown);
    (found, said.into_inner())
}

fn paths(engine: &EnginePlan, shown: &Handshake) -> Vec<String> {
    let (found, said) = identify(engine, shown);
    assert_eq!(said, Vec::<String>::new());
    found.unwrap().identity.files.into_iter().map(|file| file.path).collect()
}

fn text(default: &str) -> OptionKind {
    OptionKind::String { default: default.to_owned() }
}

#[test]
fn the_program_is_known_by_its_contents_and_found_through_links() {
    let dir = home(&[]);
    std::os::unix::fs::symlink("engine", dir.path().join("link")).unwrap();
    let found =
        identify(&EnginePlan { command: dir.path().join("link"), ..engine(&dir) }, &shown(&[])).0.unwrap();
    let path = dir.path().canonicalize().unwrap().join("engine");
    assert_eq!(found.identity.program, path.display().to_string());
    // printf engine | sha256sum
    let hash = "ed9f6f25068608efd412958da4dfc19328ca3511251fa6d5f9c42baf230e32f8";
    assert_eq!(found.identity.hash.as_deref(), Some(hash));
    assert_eq!(found.identity.id_name.as_deref(), Some("E 1"));
}

#[test]
fn files_are_those_that_arguments_and_options_name() {
    let dir = home(&["run.py", "w.bin", "eval/nn.bin", "eval/sub/x", "book.db", "4", "true", "unset"]);
    let plan = EnginePlan {
        args: vec!["run.py".to_owned(), "--weights=w.bin".to_owned(), "--fast".to_owned()],
        options: set(&[("Book", "book.db"), ("Threads", "4"), ("Ponder", "true"), ("Other", "none.bin")]),
        ..engine(&dir)
    };
    let declared =
        [("EvalDir", text("eval")), ("Book", text("unset")), ("Log", text("<empty>")), ("Name", text(""))];
    assert_eq!(paths(&plan, &shown(&declared)), ["book.db", "eval/nn.bin", "eval/sub/x", "run.py", "w.bin"]);
}

#[test]
fn places_where_an_engine_works_are_no_part_of_it() {
    let dir = home(&["bin/nn.bin", "event.db", "event.db-wal", "open/log"]);
    fs::set_permissions(dir.path().join("open"), fs::Permissions::from_mode(0o777)).unwrap();
    let above = dir.path().parent().unwrap().display().to_string();
    let values = [("A", "."), ("B", above.as_str()), ("C", "event.db"), ("D", "open"), ("E", "/dev/null")];
    let plan = EnginePlan { options: set(&values), ..engine(&dir) };
    assert_eq!(paths(&plan, &shown(&[])), Vec::<String>::new());
}

#[test]
fn logs_and_records_that_the_event_writes_are_no_part_of_an_engine() {
    let dir =
        home(&["eval/nn.bin", "eval/e-000001-black-e.log", "eval/records/1.csa", "eval/records/book.db"]);
    let (eval, records) = (dir.path().join("eval"), dir.path().join("eval/records"));
    let plan = EnginePlan { options: set(&[("EvalDir", "eval")]), ..engine(&dir) };
    let identify = || {
        let database = dir.path().join("event.db");
        let mut identifier = Identifier::new(&database, &|_| ()).writing(&records, &["csa"]);
        identifier.identify(&plan, &shown(&[])).unwrap()
    };
    let before = identify();
    let files: Vec<_> = before.identity.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["eval/nn.bin", "eval/records/book.db"]);
    fs::write(eval.join("e-000002-black-e.log"), "more").unwrap();
    fs::write(eval.join("another.1-1000000-white-a-b.log"), "of a directory that only an earlier run knew")
        .unwrap();
    fs::write(records.join("2.csa"), "more").unwrap();
    assert_eq!(identify().changes_since(&before.identity), Vec::<String>::new());
    fs::write(eval.join("nn.bin"), "another").unwrap();
    assert_eq!(identify().changes_since(&before.identity).len(), 1, "what the engine reads is still known");
}

#[test]
fn listed_files_are_added_and_ignored_ones_left_out() {
    let dir = home(&["lib/a.py", "lib/b.txt", "data/net", "eval/nn.bin", "eval/learned.db"]);
    let mut plan = EnginePlan { options: set(&[("EvalDir", "eval")]), ..engine(&dir) };
    plan.identity.files = vec!["lib/*.py".to_owned(), "data".to_owned()];
    plan.identity.ignore = vec!["*.db".to_owned()];
    let found = identify(&plan, &shown(&[])).0.unwrap();
    let files: Vec<_> = found.identity.files.iter().map(|file| (file.path.as_str(), file.listed)).collect();
    assert_eq!(files, [("data/net", true), ("eval/nn.bin", false), ("lib/a.py", true)]);
    plan.identity.files = vec!["none".to_owned()];
    let fault = identify(&plan, &shown(&[])).0.unwrap_err().to_string();
    assert!(
        fault.starts_with("engine `e`: `identity.files` names `none`, which is not there in "),
        "{fault}"
    );
}

#[test]
fn a_directory_with_too_many_files_is_a_fault_where_somebody_named_it() {
    let dir = home(&[]);
    fs::create_dir(dir.path().join("many")).unwrap();
    (0..1001).for_each(|n| fs::write(dir.path().join(format!("many/{n}")), "").unwrap());
    let plan = EnginePlan { options: set(&[("Dir", "many")]), ..engine(&dir) };
    let fault = identify(&plan, &shown(&[])).0.unwrap_err().to_string();
    assert!(fault.starts_with("engine `e`: its option `Dir` names the directory `"), "{fault}");
    assert!(
        fault.contains("holds more than 1000 files: leave it out with `identity.ignore = [\"many\"]`"),
        "{fault}"
    );
    // A default of the engine stops nobody.
    let (found, said) = identify(&engine(&dir), &shown(&[("Dir", text("many"))]));
    assert!(found.unwrap().identity.files.is_empty());
    assert_eq!(said.len(), 1);
    let mut ignoring = plan;
    ignoring.identity.ignore = vec!["many".to_owned()];
    assert_eq!(paths(&ignoring, &shown(&[])), Vec::<String>::new());
}

#[test]
fn an_unreadable_file_is_told_and_unknown() {
    let dir = home(&[]);
    let plan = EnginePlan { command: dir.path().join("gone"), ..engine(&dir) };
    let (found, said) = identify(&plan, &shown(&[]));
    assert_eq!(found.unwrap().identity.hash, None);
    assert!(said[0].contains("cannot be read"), "{said:?}");
}

#[test]
fn a_file_that_was_only_touched_is_the_same_and_one_of_the_engine_itself_is_told_once() {
    let dir = home(&["learned.db", "run.py"]);
    let plan = EnginePlan {
        args: vec!["run.py".to_owned()],
        options: set(&[("Book", "learned.db")]),
        ..engine(&dir)
    };
    let engine = identify(&plan, &shown(&[])).0.unwrap();
    assert!(!engine.is_suspect());
    fs::write(dir.path().join("engine.new"), "engine").unwrap();
    fs::rename(dir.path().join("engine.new"), dir.path().join("engine")).unwrap();
    assert!(engine.is_suspect());
    assert_eq!(engine.news(true), News::default());
    assert!(!engine.is_suspect(), "it is known again");
    fs::write(dir.path().join("learned.db"), "more").unwrap();
    let news = engine.news(true);
    assert!(news.replaced.is_empty() && news.written[0].contains("learned.db"), "{news:?}");
    assert_eq!(engine.news(true), News::default());
    fs::write(dir.path().join("run.py"), "another").unwrap();
    for _ in 0..2 {
        assert!(engine.news(true).replaced[0].ends_with("run.py` was replaced"), "told at every call");
    }
    assert_eq!((engine.news(false).replaced.len(), engine.news(false).replaced.len()), (1, 0));
}

#[test]
fn a_file_of_several_engines_is_read_once() {
    let dir = home(&[]);
    let said = |_: &str| ();
    let mut library = Library::new(&said);
    let first = library.read(&dir.path().join("engine"), &Foreign::default()).unwrap();
    fs::write(dir.path().join("engine"), "changed").unwrap();
    assert_eq!(library.read(&dir.path().join("engine"), &Foreign::default()).unwrap(), first);
}
