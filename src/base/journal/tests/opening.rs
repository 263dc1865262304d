use super::*;
use std::fs;

fn refusal(path: &PathBuf) -> String {
    let error = Writer::open(path).unwrap_err();
    assert_eq!(Store::read(path).unwrap_err().to_string(), error.to_string());
    error.to_string()
}

#[test]
fn a_file_that_is_not_a_database_is_refused_and_not_changed() {
    let (_directory, path) = temporary();
    let text = "This is a tournament, but not as we know it.\n".repeat(100);
    fs::write(&path, &text).unwrap();
    let refusal = refusal(&path);
    assert!(refusal.contains("league.db` is not a database"), "{refusal}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_damaged_database_is_refused_when_the_damage_is_read() {
    let (_directory, path) = temporary();
    let event = write(&path, &[opening(), started(1, 0, 1), ended(1, 0, 1, SENNICHITE)]);
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0x5A);
    fs::write(&path, bytes).unwrap();
    let outcome = Store::read(&path).and_then(|store| store.game(event, GameId(1)).map(drop));
    assert!(matches!(outcome, Err(StoreError::NotADatabase { .. })), "{outcome:?}");
}

#[test]
fn another_programs_database_is_refused() {
    let (_directory, path) = temporary();
    rusqlite::Connection::open(&path).unwrap().execute("CREATE TABLE cats (name TEXT)", []).unwrap();
    let refusal = refusal(&path);
    assert!(refusal.ends_with("league.db` was not made by renmei"), "{refusal}");
}

#[test]
fn a_database_of_another_schema_is_refused_and_not_changed() {
    let (_directory, path) = temporary();
    let store = Writer::open(&path).unwrap();
    store.database().conn.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    let before = fs::read(&path).unwrap();
    let expected = format!(
        "has schema 99, and this renmei reads and writes schema {} alone: open it with the renmei that made it",
        crate::SCHEMA
    );
    let refusal = refusal(&path);
    assert!(refusal.ends_with(&expected), "{refusal}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_is_still_empty_is_read_as_a_database_without_events() {
    let (_directory, path) = temporary();
    fs::write(&path, "").unwrap();
    assert!(Store::read(&path).unwrap().events().unwrap().is_empty());
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[test]
fn a_path_that_does_not_exist_is_named_in_the_error() {
    let path = PathBuf::from("/no/such/directory/league.db");
    let refusal = Writer::open(&path).unwrap_err().to_string();
    assert!(refusal.starts_with("database `/no/such/directory/league.db` cannot be opened"), "{refusal}");
}

#[test]
fn a_database_that_is_missing_is_refused_with_the_names_of_those_beside_it() {
    let (directory, path) = temporary();
    write(&path, &[opening()]);
    let refusal = Store::read(directory.path().join("wrong.db")).unwrap_err().to_string();
    let named = format!("wrong.db`, but `{}`; name another one (`--db FILE`", path.display());
    assert!(refusal.contains(&named), "{refusal}");
}

#[test]
fn reading_a_database_leaves_no_file_beside_it() {
    let (directory, path) = temporary();
    write(&path, &[opening()]);
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let store = Store::read(&path).unwrap();
    store.events().unwrap();
    drop(store);
    assert_eq!(names(), before);
}

#[test]
fn a_database_opened_for_reading_cannot_be_written() {
    let (_directory, path) = temporary();
    write(&path, &[opening()]);
    let error =
        Store::read(&path).unwrap().database().write(|conn| crate::insert_event(conn, &HEAD)).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

#[test]
fn a_locked_database_is_named_in_the_error() {
    let (_directory, path) = temporary();
    let (mut store, _) = open(&path);
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    store.database().conn.busy_timeout(Duration::ZERO).unwrap();
    let error = store.open_event(&HEAD).unwrap_err().to_string();
    assert!(error.ends_with("league.db` is locked by another program"), "{error}");
}

#[test]
fn events_in_one_file_number_their_games_separately() {
    let (_directory, path) = temporary();
    let first = write(&path, &[opening(), started(1, 0, 1), ended(1, 0, 1, SENNICHITE)]);
    let mut store = Writer::open(&path).unwrap();
    let cup = store.open_event(&EventHead { name: "cup", fingerprint: "cup", ..HEAD }).unwrap();
    assert_ne!(cup.event, first);
    assert_eq!((cup.resumed, cup.next_game), (false, GameId(1)));
    let league = store.open_event(&EventHead { fingerprint: "changed", ..HEAD }).unwrap();
    assert_eq!((league.event, league.resumed, league.next_game), (first, true, GameId(2)));
    assert_eq!(league.fingerprint, "{}", "the fingerprint of the first run");
}

#[test]
fn an_event_that_never_began_takes_the_newest_plan() {
    let (_directory, path) = temporary();
    drop(open(&path));
    let mut store = Writer::open(&path).unwrap();
    let opened = store.open_event(&EventHead { plan: "new", fingerprint: "new", ..HEAD }).unwrap();
    assert_eq!((opened.resumed, opened.fingerprint.as_str()), (false, "new"));
    assert_eq!(store.events().unwrap()[0].plan, "new");
}

#[test]
#[cfg_attr(windows, ignore = "users of Windows may make no links")]
fn a_second_run_of_an_event_is_refused_while_the_first_is_alive() {
    let (directory, path) = temporary();
    let (first, _) = open(&path);
    let link = directory.path().join("link.db");
    platform::files::symlink(&path, &link).unwrap();
    for path in [&path, &link] {
        let mut second = Writer::open(path).unwrap();
        let error = second.open_event(&HEAD).unwrap_err().to_string();
        let expected = format!("event `league` is being run by process {} on host ", std::process::id());
        assert!(error.starts_with(&expected) && error.ends_with(" UTC"), "{error}");
        second.open_event(&EventHead { name: "cup", ..HEAD }).unwrap();
    }
    drop(first);
    open(&path);
    let left: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("-run")), "{left:?}");
}

#[test]
fn two_programs_may_create_one_database_at_once() {
    let (_directory, path) = temporary();
    std::thread::scope(|scope| {
        let openers: Vec<_> = (0..4).map(|_| scope.spawn(|| Writer::open(&path).map(drop))).collect();
        for opener in openers {
            opener.join().unwrap().unwrap();
        }
    });
}
