//! A database that somebody else has made, and a directory that somebody else can write to.

use super::*;
use platform::files::symlink;
use rusqlite::Connection;
use std::fs;

/// A finished event whose file was then changed by `vandalism`.
fn vandalised(vandalism: &str) -> (TempDir, PathBuf) {
    let (directory, path) = temporary();
    write(&path, &[opening(), started(1, 0, 1), moved(1, 3, 5), ended(1, 0, 1, SENNICHITE)]);
    Connection::open(&path).unwrap().execute_batch(vandalism).unwrap();
    (directory, path)
}

#[test]
fn a_trigger_of_somebody_else_never_runs() {
    let (_directory, path) = vandalised(
        "CREATE TRIGGER evil AFTER INSERT ON games BEGIN UPDATE players SET name = 'evil'; END;
         CREATE TRIGGER evil2 AFTER INSERT ON log BEGIN DELETE FROM events; END;",
    );
    let event = write(&path, &[started(2, 1, 0), ended(2, 1, 0, SENNICHITE)]);
    let store = Store::read(&path).unwrap();
    assert_eq!(store.events().unwrap()[0].players, ["Asa", "Bei", "Chie"]);
    assert_eq!(store.verify(event, None).unwrap().alterations, []);
}

#[test]
fn a_schema_that_is_not_ours_is_refused_before_anything_in_it_is_used() {
    let rename = "ALTER TABLE notices RENAME TO kept; ";
    for (vandalism, what) in [
        (format!("{rename}CREATE VIEW notices AS SELECT hex(zeroblob(100000000)) AS event"), "table `notices`"),
        (
            format!("{rename}CREATE TABLE notices (event, channel, notice, at AS (hex(zeroblob(event))))"),
            "table `notices`",
        ),
        ("DROP TABLE notices".into(), "table `notices`"),
        ("DROP VIEW standings; CREATE VIEW standings AS SELECT randomblob(9)".into(), "view `standings`"),
        (
            "DROP INDEX games_running; CREATE INDEX games_running ON games (hex(zeroblob(event)))".into(),
            "index `games_running`",
        ),
        (
            "PRAGMA writable_schema = on;
             UPDATE sqlite_schema SET sql = replace(sql, 'left_ms    INTEGER', 'left_ms    TEXT') WHERE name = 'moves'"
                .into(),
            "table `moves`",
        ),
    ] {
        let (_directory, path) = vandalised(&vandalism);
        for refused in [Store::read(&path).map(drop), Writer::open(&path).map(drop)] {
            let told = refused.unwrap_err().to_string();
            assert!(told.contains(&format!("{what} is not as renmei makes it")), "{vandalism}: {told}");
        }
    }
    let (_directory, path) =
        vandalised("CREATE VIEW mine AS SELECT 1; CREATE TABLE notes (x); DROP VIEW latencies");
    Writer::open(&path).unwrap();
}

#[test]
fn a_table_named_like_a_pragma_does_not_pass_a_file_off_as_ours() {
    let (_directory, path) = temporary();
    let forged =
        "CREATE TABLE pragma_application_id (x); INSERT INTO pragma_application_id VALUES (1380863301);
                  CREATE TABLE pragma_user_version (x); INSERT INTO pragma_user_version VALUES (1);";
    Connection::open(&path).unwrap().execute_batch(forged).unwrap();
    let told = Store::read(&path).unwrap_err().to_string();
    assert!(told.ends_with("was not made by renmei"), "{told}");
}

#[test]
fn an_oversized_value_is_refused_and_not_loaded() {
    let (_directory, path) = vandalised("UPDATE games SET evidence = CAST(zeroblob(70000000) AS TEXT)");
    let store = Store::read(&path).unwrap();
    let event = store.events().unwrap()[0].id;
    let told = store.game(event, GameId(1)).unwrap_err().to_string();
    assert!(told.contains("a value that is larger than 64 MiB"), "{told}");
    assert!(store.verify(event, None).is_err());
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_database_or_beside_it_is_refused_and_nobody_is_waited_for() {
    let (directory, path) = temporary();
    write(&path, &[opening()]);
    for name in ["pipe.db", "league.db-wal", "league.db-shm", "league.db-journal"] {
        let pipe = directory.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let database = if name == "pipe.db" { &pipe } else { &path };
        for refused in [Writer::open(database).map(drop), Store::read(database).map(drop)] {
            let told = refused.unwrap_err().to_string();
            assert!(told.contains(name) && told.contains("not a regular file"), "{told}");
        }
        fs::remove_file(pipe).unwrap();
    }
}

#[test]
fn a_directory_in_the_place_of_a_database_or_beside_it_is_named() {
    let (directory, path) = temporary();
    write(&path, &[opening()]);
    for name in ["directory.db", "league.db-wal", "league.db-shm", "league.db-journal"] {
        let place = directory.path().join(name);
        fs::create_dir(&place).unwrap();
        let database = if name == "directory.db" { &place } else { &path };
        for refused in [Writer::open(database).map(drop), Store::read(database).map(drop)] {
            let told = refused.unwrap_err().to_string();
            assert!(told.contains(name) && told.ends_with(": is a directory"), "{told}");
        }
        fs::remove_dir(place).unwrap();
    }
}

#[test]
fn a_name_by_which_sqlite_means_no_file_is_refused() {
    let (directory, path) = temporary();
    let file = format!("file:{}?mode=memory", path.display());
    for name in ["", ":memory:", &file, &directory.path().join(":memory:").display().to_string()] {
        let told = Writer::open(name).unwrap_err().to_string();
        assert!(told.contains("name a file, such as `event.db`"), "{told}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
#[cfg_attr(windows, ignore = "users of Windows may make no links")]
fn no_link_beside_a_database_is_followed() {
    let (directory, path) = temporary();
    write(&path, &[opening()]);
    let victim = directory.path().join("victim");
    for beside in ["league.db-wal", "league.db-shm", "league.db-journal", "league.db-run1", "league.db-run2"]
    {
        fs::write(&victim, "precious").unwrap();
        let link = directory.path().join(beside);
        let _not_there = fs::remove_file(&link);
        symlink(&victim, &link).unwrap();
        let opened = Writer::open(&path).and_then(|mut store| store.open_event(&HEAD).map(drop));
        match beside {
            "league.db-run2" => opened.unwrap(),
            _ => {
                let told = opened.unwrap_err().to_string();
                assert!(
                    told.contains(beside) && told.contains("symbolic link, which is not followed"),
                    "{told}"
                );
            }
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{beside}");
        fs::remove_file(link).unwrap();
    }
    let (new, elsewhere) = (directory.path().join("new.db"), directory.path().join("elsewhere"));
    symlink(&elsewhere, &new).unwrap();
    assert!(Writer::open(&new).unwrap_err().to_string().contains("symbolic link"));
    assert!(!elsewhere.exists());
    // A link that a user has made to a database leads there.
    let latest = directory.path().join("latest.db");
    symlink(&path, &latest).unwrap();
    assert_eq!(Store::read(&latest).unwrap().events().unwrap().len(), 1);
}

#[test]
fn a_database_with_a_second_name_is_read_and_not_written_to_by_either_name() {
    let (directory, path) = temporary();
    write(&path, &[opening()]);
    let other = directory.path().join("other.db");
    let mut player = Writer::open(&path).unwrap();
    player.open_event(&HEAD).unwrap();
    fs::hard_link(&path, &other).unwrap();
    for name in [&other, &path] {
        let told = Writer::open(name).unwrap_err().to_string();
        assert!(told.contains("has a second name elsewhere (a hard link"), "{told}");
        assert!(told.contains(&name.canonicalize().unwrap().display().to_string()), "{told}");
    }
    drop(player);
    assert_eq!(Store::read(&other).unwrap().events().unwrap().len(), 1);
    fs::remove_file(&other).unwrap();
    Writer::open(&path).unwrap();
}

#[cfg(unix)]
#[test]
fn a_database_with_hashes_that_everybody_can_read_is_closed_to_others_once() {
    use std::os::unix::fs::PermissionsExt;
    let (_directory, path) = temporary();
    let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    write(&path, &[opening()]);
    mode(0o644);
    assert_eq!(Store::protect(&path).unwrap(), None, "it holds no secret");
    Writer::open(&path).unwrap().set_account("asa", "$argon2").unwrap();
    mode(0o644);
    let told = Store::protect(&path).unwrap().unwrap();
    assert!(told.contains("holds hashes of passwords"), "{told}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(Store::protect(&path).unwrap(), None);
}
