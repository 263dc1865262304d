use super::*;
use crate::{Follower, Moves, identity::Watched};
use referee::{
    AbortBy,
    entry::{Judged, Score},
    sink::SideRecord,
};
use rusqlite::Connection;
use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
};

const CHILD: &str = "RENMEI_STORE_TEST_DATABASE";

/// Plays for ever, four games at a time, and prints the number of each game whose end is committed. Run in a child
/// process that is killed.
#[test]
fn child_process_to_be_killed() {
    let Some(path) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let (store, opened) = open(&path);
    let writer = read_by(store, opened.event, announce);
    writer.append([opening()]);
    for first in (opened.next_game.0..).step_by(4) {
        let games = first..first + 4;
        writer.append(games.clone().map(|game| started(game, 0, 1)));
        for ply in 3..23 {
            writer.append(games.clone().map(|game| moved(game, ply, 5)));
        }
        writer.append(games.map(|game| ended(game, 0, 1, win(Color::Black))));
    }
}

fn announce(batch: &[Stamped]) {
    let mut out = std::io::stdout().lock();
    for stamped in batch {
        if let Entry::GameEnded(ended) = &stamped.entry {
            writeln!(out, "ended:{}", ended.game.0).unwrap();
        }
    }
    out.flush().unwrap();
}

/// Kills the process above once it has announced `enough` games, and returns the announced numbers.
fn announced_before_the_kill(path: &PathBuf, enough: usize) -> BTreeSet<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::durability::child_process_to_be_killed", "--nocapture"])
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut announced = BTreeSet::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        announced.extend(line.strip_prefix("ended:").and_then(|number| number.parse::<u64>().ok()));
        if announced.len() == enough {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    announced
}

#[test]
fn every_announced_end_survives_a_kill_and_no_number_is_reused() {
    let (_directory, path) = temporary();
    let mut announced = BTreeSet::new();
    for round in 1..=4 {
        let new = announced_before_the_kill(&path, 50 * round);
        assert!(announced.is_disjoint(&new), "a number was reused");
        announced.extend(new);
        let (store, opened) = open(&path);
        let (mut starts, mut ends, mut counted) = (0, BTreeSet::new(), BTreeSet::new());
        let fold = &mut |stamped: &Stamped| match &stamped.entry {
            Entry::GameStarted(_) => starts += 1,
            Entry::GameEnded(ended) => {
                assert!(ends.insert(ended.game.0), "an end was stored twice");
                counted.extend(ended.outcome.counts().then_some(ended.game.0));
            }
            _ => {}
        };
        store.replay(opened.event, Moves::Without, fold).unwrap();
        assert!(announced.is_subset(&counted), "an announced game is missing");
        assert_eq!(starts, ends.len(), "every game has an end");
        assert!(opened.resumed && opened.next_game.0 > *announced.last().unwrap());
    }
}

#[test]
fn games_running_at_a_crash_are_adjourned_once() {
    let (_directory, path) = temporary();
    let event = write(
        &path,
        &[
            opening(),
            started(1, 0, 1),
            started(2, 1, 2),
            moved(2, 3, 5),
            started(3, 2, 0),
            ended(1, 0, 1, SENNICHITE),
        ],
    );
    let (store, opened) = open(&path);
    let numbers: Vec<_> = opened.adjourned.iter().map(|ended| (ended.game.0, ended.plies)).collect();
    assert_eq!(numbers, [(2, 3), (3, 2)], "plies stored, at least the opening's");
    assert_eq!(opened.adjourned[1].pairing, pairing(3, 2, 0));
    assert_eq!(opened.adjourned[0].outcome, Outcome::Aborted { by: AbortBy::Stopped });
    assert_eq!((opened.resumed, opened.next_game), (true, GameId(4)));
    let mut ends = Vec::new();
    let fold = &mut |stamped: &Stamped| {
        if let Entry::GameEnded(ended) = &stamped.entry {
            ends.push(ended.game.0);
        }
    };
    store.replay(event, Moves::Without, fold).unwrap();
    assert_eq!(ends, [1, 2, 3]);
    drop(store);
    assert_eq!(open(&path).1.adjourned, []);
}

#[test]
fn an_end_is_on_the_disk_when_it_is_announced() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let reader = Store::read(&path).unwrap();
    let (sender, received) = mpsc::channel();
    let writer = read_by(store, opened.event, move |batch| {
        let ended = batch.iter().filter(|stamped| matches!(stamped.entry, Entry::GameEnded(_))).count();
        let stored = "SELECT count(*) FROM games WHERE ended_at IS NOT NULL";
        let stored: i64 = reader.database().conn.query_row(stored, [], |row| row.get(0)).unwrap();
        sender.send((ended, stored)).unwrap();
    });
    let mut announced = 0;
    writer.append([opening()]);
    for game in 1..=20 {
        writer.append([started(game, 0, 1), ended(game, 0, 1, SENNICHITE)]);
        while announced < game as usize {
            let (ended, stored) = received.recv().unwrap();
            announced += ended;
            assert_eq!(stored, announced as i64);
        }
    }
}

#[test]
fn moves_are_committed_without_waiting_for_an_end() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let (sender, received) = mpsc::channel();
    let writer = read_by(store, opened.event, move |batch| sender.send(batch.to_vec()).unwrap());
    let events = [opening(), started(1, 0, 1), moved(1, 3, 5), moved(1, 4, 5)];
    writer.append(events.clone());
    let mut committed = Vec::new();
    while committed.len() < events.len() {
        committed.extend(received.recv().unwrap());
    }
    assert_eq!(committed, events);
}

#[test]
fn a_full_disk_fails_the_journal_and_every_entry_is_accounted_for() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let pages: i64 = store.database().conn.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    store.database().conn.pragma_update(None, "max_page_count", pages + 20).unwrap();
    let committed = Arc::new(Mutex::new(Vec::new()));
    let (seen, failed) = (Arc::clone(&committed), Arc::new(AtomicBool::new(false)));
    let failing = Arc::clone(&failed);
    let reader = Reader::new("test", move |batch| seen.lock().unwrap().extend_from_slice(batch));
    let stop = move || failing.store(true, Ordering::SeqCst);
    let writer = Journal::start(Default::default(), store, opened.event, vec![reader], stop).unwrap();
    writer.append([opening()]);
    let mut handed_over = 1;
    for game in 1.. {
        let events = (3..99).map(|ply| moved(game, ply, 5));
        handed_over += 98;
        let end = ended(game, 0, 1, SENNICHITE);
        writer.append([started(game, 0, 1)].into_iter().chain(events).chain([end]));
        if failed.load(Ordering::SeqCst) {
            break;
        }
    }
    let StoreError::Stopped(unwritten, source) = writer.finish().unwrap_err() else { panic!("it stopped") };
    assert!(source.to_string().ends_with("league.db` cannot grow: the disk is full"), "{source}");
    let committed = committed.lock().unwrap();
    assert_eq!(
        committed.len() + unwritten,
        handed_over,
        "every entry is either committed or counted as lost"
    );

    let (store, opened) = open(&path);
    let mut stored = Vec::new();
    store.replay(opened.event, Moves::Without, &mut |stamped| stored.push(stamped.clone())).unwrap();
    let committed = committed.iter().filter(|stamped| !matches!(stamped.entry, Entry::Moved(_)));
    assert!(committed.eq(&stored), "exactly the announced entries are stored");
}

#[test]
fn a_reader_that_panics_stops_neither_the_event_nor_the_other_readers() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let (sender, received) = mpsc::channel();
    let readers = vec![
        Reader::new("panics", |_| panic!("a test's panic")),
        Reader::new("reads", move |batch| sender.send(batch.len()).unwrap()),
    ];
    let writer = Journal::start(Default::default(), store, opened.event, readers, || ()).unwrap();
    for entry in [opening(), started(1, 0, 1), ended(1, 0, 1, SENNICHITE)] {
        writer.append([entry]);
    }
    writer.finish().unwrap();
    assert_eq!(received.iter().sum::<usize>(), 3);
}

/// Entries of so many games, far more than wait in memory for a reader; the last game is running.
fn long_event(games: u64) -> Vec<Stamped> {
    let game = |number: u64| {
        let moves = (3..13).map(move |ply| moved(number, ply, 5));
        let opinion = judged(number, 8, Score::Cp(30));
        let end = (number < games).then(|| ended(number, 0, 1, SENNICHITE));
        [started(number, 0, 1)].into_iter().chain(moves).chain([opinion]).chain(end)
    };
    [opening()].into_iter().chain((1..=games).flat_map(game)).collect()
}

/// Moves and opinions come once, in the order of their game and before its end; everything else comes as it was.
fn assert_complete(seen: &[Stamped], happened: &[Stamped]) {
    assert_eq!(seen.len(), happened.len(), "no entry was missed, and none came twice");
    let is_of_game = |stamped: &&Stamped| matches!(stamped.entry, Entry::Moved(_) | Entry::Judged(_));
    let log = |all: &[Stamped]| all.iter().filter(|it| !is_of_game(it)).cloned().collect::<Vec<_>>();
    assert_eq!(log(seen), log(happened));
    let is_about = |stamped: &Stamped, id: u64| match &stamped.entry {
        Entry::GameStarted(GameStarted { game, .. })
        | Entry::Moved(Moved { game, .. })
        | Entry::GameEnded(GameEnded { game, .. }) => game.0 == id,
        _ => false,
    };
    for game in 1..=100 {
        let of = |all: &[Stamped]| all.iter().filter(|it| is_about(it, game)).cloned().collect::<Vec<_>>();
        assert_eq!(of(seen), of(happened), "game {game}");
    }
}

#[test]
fn an_event_hears_of_a_panic_of_its_writer() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let (sender, failed) = mpsc::channel();
    let panics = Reader::new("test", |_| ()).while_hasty(|| panic!("a test's panic"));
    let stop = move || sender.send(()).unwrap();
    let writer = Journal::start(Default::default(), store, opened.event, vec![panics], stop).unwrap();
    writer.append([opening()]);
    failed.recv().unwrap();
    let StoreError::Stopped(_, source) = writer.finish().unwrap_err() else { panic!("it stopped") };
    assert!(source.to_string().ends_with("panicked"), "{source}");
}

#[test]
fn a_stalled_reader_delays_no_game_and_misses_nothing() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let (release, held) = mpsc::channel::<()>();
    let (sender, received) = mpsc::channel();
    let writer = read_by(store, opened.event, move |batch| {
        let _released = held.recv();
        batch.iter().for_each(|stamped| sender.send(stamped.clone()).unwrap());
    });
    let happened = long_event(100);
    let (first, last) = happened.split_at(900);
    for entries in first.chunks(7) {
        writer.append(entries.iter().cloned());
        let (told, committed) = mpsc::channel();
        writer.sink().when_kept(Box::new(move || told.send(()).unwrap()));
        committed.recv().unwrap();
    }
    drop(release);
    // It takes batches from memory again once it is at the end of the database.
    let mut seen: Vec<_> = received.iter().take(first.len()).collect();
    writer.append(last.iter().cloned());
    writer.finish().unwrap();
    seen.extend(received.iter());
    assert_complete(&seen, &happened);
}

#[test]
fn a_reader_that_was_behind_takes_what_is_written_while_it_catches_up() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let (sender, received) = mpsc::channel();
    let (pace, steps) = mpsc::sync_channel::<()>(0);
    let writer = read_by(store, opened.event, move |batch| {
        let _free_at_the_end = steps.recv();
        batch.iter().for_each(|stamped| sender.send(stamped.clone()).unwrap());
    });
    let happened = long_event(100);
    for entries in happened.chunks(5) {
        writer.append(entries.iter().cloned());
        let (told, committed) = mpsc::channel();
        writer.sink().when_kept(Box::new(move || told.send(()).unwrap()));
        committed.recv().unwrap();
        // It reads about as fast as is written, so that it falls behind and comes back many times.
        let _it_is_busy = pace.try_send(());
    }
    drop(pace);
    writer.finish().unwrap();
    assert_complete(&received.iter().collect::<Vec<_>>(), &happened);
}

#[test]
fn a_reader_that_never_comes_back_holds_up_neither_the_games_nor_the_end() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let (_never, held) = mpsc::channel::<()>();
    let writer = read_by(store, opened.event, move |_| _ = held.recv());
    writer.append(long_event(10));
    writer.finish().unwrap();
    let mut games = 0;
    let store = Store::read(&path).unwrap();
    let count = &mut |stamped: &Stamped| games += u64::from(matches!(stamped.entry, Entry::GameEnded(_)));
    store.replay(opened.event, Moves::Without, count).unwrap();
    assert_eq!(games, 9);
}

#[test]
fn a_replay_is_one_snapshot_while_games_go_on() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let writer = start(store, opened.event);
    writer.append([opening(), started(1, 0, 1), ended(1, 0, 1, SENNICHITE)]);
    let store = writer.finish().unwrap();
    let reader = Store::read(&path).unwrap();
    let (writer, mut seen) = (start(store, opened.event), 0);
    let fold = &mut |_: &Stamped| {
        seen += 1;
        if seen == 1 {
            writer.append([started(2, 0, 1), ended(2, 0, 1, SENNICHITE)]);
            let (told, kept) = std::sync::mpsc::channel();
            writer.sink().when_kept(Box::new(move || told.send(()).unwrap()));
            kept.recv().unwrap();
        }
    };
    reader.replay(opened.event, Moves::With, fold).unwrap();
    assert_eq!(seen, 3);
    writer.finish().unwrap();
}

#[test]
fn who_waits_for_an_entry_is_told_when_others_can_read_it() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let journal = start(store, opened.event);
    let (told, answer) = std::sync::mpsc::channel();
    journal.append([opening(), started(1, 0, 1), ended(1, 0, 1, win(Color::Black))]);
    let (sink, db) = (journal.sink(), path.clone());
    sink.when_kept(Box::new(move || {
        let other = rusqlite::Connection::open(db).unwrap();
        let ended = "SELECT count(*) FROM games WHERE ended_at IS NOT NULL";
        told.send(other.query_row(ended, [], |row| row.get::<_, i64>(0)).unwrap()).unwrap();
    }));
    assert_eq!(answer.recv(), Ok(1));
    let (told, answer) = std::sync::mpsc::channel();
    sink.when_kept(Box::new(move || told.send(()).unwrap()));
    assert_eq!(answer.recv(), Ok(()), "everything is kept already");
    journal.finish().unwrap();
}

#[test]
fn who_waits_for_an_entry_that_is_lost_is_not_told() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let journal = start(store, opened.event);
    rusqlite::Connection::open(&path).unwrap().execute_batch("DROP TABLE games").unwrap();
    journal.append([started(1, 0, 1), ended(1, 0, 1, win(Color::Black))]);
    let (told, answer) = std::sync::mpsc::channel();
    journal.sink().when_kept(Box::new(move || told.send(()).unwrap()));
    assert!(answer.recv().is_err());
    assert!(journal.finish().is_err());
}

#[test]
fn a_follower_yields_each_entry_once_and_the_moves_of_games_that_it_saw_begin() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let writer = start(store, opened.event);
    writer.append([opening(), started(1, 0, 1), moved(1, 1, 20), ended(1, 0, 1, win(Color::Black))]);
    writer.append([started(2, 0, 1), moved(2, 1, 20)]);
    let store = writer.finish().unwrap();
    let mut follower = Follower::new(Store::read(&path).unwrap(), opened.event);
    let mut look = || {
        let mut seen = vec![];
        follower.look(&mut |_, seq, stamped| seen.push((seq, kind(&stamped.entry)))).unwrap();
        seen
    };
    let first = [(1, "opened"), (2, "started 1"), (3, "ended 1"), (4, "started 2"), (4, "moved 2")];
    assert_eq!(look(), first, "the moves of a game that is over are left out");
    assert_eq!(look(), [], "nothing was committed");
    let writer = start(store, opened.event);
    writer.append([moved(2, 2, 20), started(3, 0, 1), moved(3, 1, 20), ended(2, 0, 1, win(Color::Black))]);
    drop(writer.finish().unwrap());
    assert_eq!(look(), [(5, "started 3"), (5, "moved 2"), (6, "ended 2"), (6, "moved 3")]);
    let (first_end, reader) = (ended(1, 0, 1, SENNICHITE).at, Store::read(&path).unwrap());
    let mut late = Follower::new(reader, opened.event).with_moves_since(first_end + 1);
    let mut seen = vec![];
    late.look(&mut |_, _, stamped| seen.push(kind(&stamped.entry))).unwrap();
    let of_recent = [
        "opened",
        "started 1",
        "ended 1",
        "started 2",
        "started 3",
        "moved 2",
        "moved 2",
        "ended 2",
        "moved 3",
    ];
    assert_eq!(seen, of_recent, "the moves of what ended lately are there from the beginning");
}

fn judged(game: u64, ply: u32, score: Score) -> Stamped {
    let (game, color) = (GameId(game), Color::White);
    at(50, Entry::Judged(Judged { game, ply, color, score, depth: Some(9), nodes: Some(500) }))
}

#[test]
fn what_the_judge_says_is_kept_beside_the_log_and_followed_as_it_comes() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let writer = start(store, opened.event);
    let early = judged(1, 1, Score::Cp(-70));
    writer.append([opening(), started(1, 0, 1), moved(1, 1, 20), early, ended(1, 0, 1, win(Color::Black))]);
    let running = judged(2, 1, Score::Mate(-i32::MAX));
    writer.append([started(2, 0, 1), moved(2, 1, 20), running.clone()]);
    let store = writer.finish().unwrap();
    let mut follower = Follower::new(Store::read(&path).unwrap(), opened.event);
    let mut look = || {
        let mut seen = vec![];
        follower.look(&mut |_, _, stamped| seen.push(stamped)).unwrap();
        seen.retain(|stamped| matches!(stamped.entry, Entry::Judged(_)));
        seen
    };
    assert_eq!(look(), [running], "that of a game that is over is left out, as its moves are");
    let writer = start(store, opened.event);
    let (last, late) = (judged(2, 2, Score::Cp(0)), judged(2, 3, Score::Cp(5)));
    writer.append([moved(2, 2, 20), last.clone(), ended(2, 0, 1, win(Color::Black)), late.clone()]);
    drop(writer.finish().unwrap());
    assert_eq!(look(), [last, late]);
    let store = Store::read(&path).unwrap();
    let stored = store.game(opened.event, GameId(2)).unwrap().unwrap().judged;
    assert_eq!(stored.iter().map(|judged| judged.ply).collect::<Vec<_>>(), [1, 2, 3]);
    let mut replayed = vec![];
    store.replay(opened.event, Moves::With, &mut |stamped| replayed.push(stamped.clone())).unwrap();
    assert!(
        !replayed.iter().any(|stamped| matches!(stamped.entry, Entry::Judged(_))),
        "nothing follows from it"
    );
}

/// The kind of an entry and its game.
fn kind(entry: &Entry) -> &'static str {
    match entry {
        Entry::GameStarted(of) => ["started 1", "started 2", "started 3"][of.game.0 as usize - 1],
        Entry::Moved(of) => ["moved 1", "moved 2", "moved 3"][of.game.0 as usize - 1],
        Entry::GameEnded(of) => ["ended 1", "ended 2", "ended 3"][of.game.0 as usize - 1],
        _ => "opened",
    }
}

/// Deletes rows behind the back of an index, as a file does that has pages of two moments.
fn without_index(path: &Path, index: &str, sql: &str) {
    let schema = |then: &dyn Fn(&Connection)| {
        let conn = Connection::open(path).unwrap();
        conn.execute_batch("PRAGMA writable_schema = on; PRAGMA foreign_keys = off").unwrap();
        then(&conn);
        let version: i64 = conn.query_row("PRAGMA schema_version", [], |row| row.get(0)).unwrap();
        conn.execute_batch(&format!("PRAGMA schema_version = {}", version + 1)).unwrap();
    };
    let row: (String, String, i64, String) = Connection::open(path)
        .unwrap()
        .query_row("SELECT name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name = ?", [index], |row| {
            row.try_into()
        })
        .unwrap();
    schema(&|conn| _ = conn.execute("DELETE FROM sqlite_schema WHERE name = ?", [index]).unwrap());
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
    schema(&|conn| {
        _ = conn.execute("INSERT INTO sqlite_schema VALUES ('index', ?, ?, ?, ?)", row.clone()).unwrap()
    });
}

#[test]
fn an_index_that_differs_from_its_table_is_found_and_made_anew_after_a_process_has_died() {
    let (_directory, path) = temporary();
    let event = write(&path, &[opening(), started(1, 0, 1), ended(1, 0, 1, win(Color::Black))]);
    let (store, _) = open(&path);
    let journal = start(store, event);
    (1..9).for_each(|game| journal.sink().keep(SideRecord::Named(GameId(game), format!("g+{game}"))));
    journal.finish().unwrap();
    assert_eq!(Store::read(&path).unwrap().damage().unwrap(), [""; 0]);
    without_index(&path, "game_names_by_name", "DELETE FROM game_names WHERE number > 3");
    let damage = Store::read(&path).unwrap().damage().unwrap();
    assert_eq!(damage, ["wrong # of entries in index game_names_by_name"]);
    let (store, opened) = open(&path);
    assert_eq!(opened.recovery(), None, "nobody died");
    drop(store);
    // What a process leaves that is killed.
    let lock = format!("{}-run{}", path.display(), event.0);
    std::fs::write(lock, "process 1 on host here").unwrap();
    let (store, opened) = open(&path);
    let said = opened.recovery().unwrap();
    assert!(
        said.contains("made anew") && said.contains("game_names_by_name") && said.contains(" UTC"),
        "{said}"
    );
    assert_eq!(store.damage().unwrap(), [""; 0]);
}

#[test]
fn a_database_whose_process_died_is_checked_and_the_end_of_what_is_stored_is_named() {
    let (_directory, path) = temporary();
    let event = write(&path, &[opening(), started(1, 0, 1)]);
    std::fs::write(format!("{}-run{}", path.display(), event.0), "process 1 on host here").unwrap();
    let (_store, opened) = open(&path);
    let said = opened.recovery().unwrap();
    assert!(said.contains("is sound; what is stored ends at "), "{said}");
}

#[test]
fn the_file_alone_has_an_event_that_is_over_while_somebody_reads_it() {
    let (directory, path) = temporary();
    let entries = [opening(), started(1, 0, 1), ended(1, 0, 1, SENNICHITE)];
    let (store, opened) = open(&path);
    let reader = Store::read(&path).unwrap();
    let journal = start(store, opened.event);
    journal.append(entries);
    drop(journal.finish().unwrap());
    let copy = directory.path().join("copy.db");
    std::fs::copy(&path, &copy).unwrap();
    assert_eq!(
        Store::read(&copy).unwrap().game(opened.event, GameId(1)).unwrap(),
        reader.game(opened.event, GameId(1)).unwrap()
    );
}

#[test]
fn the_end_of_an_event_waits_for_no_reader_and_names_the_log_that_is_left() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let reader = Store::read(&path).unwrap();
    let conn = &reader.database().conn;
    conn.execute_batch("BEGIN").unwrap();
    let _it_reads = conn.query_row("SELECT count(*) FROM games", [], |row| row.get::<_, i64>(0)).unwrap();
    let journal = start(store, opened.event);
    journal.append([opening(), started(1, 0, 1), ended(1, 0, 1, SENNICHITE)]);
    let store = journal.finish().unwrap();
    assert!(store.unmoved_log().unwrap().ends_with("league.db-wal"));
    conn.execute_batch("COMMIT").unwrap();
    assert_eq!(store.unmoved_log(), None);
}

/// An event of which the file has all and the log nothing, and what is found after something happened to the file.
fn examined_after(happens: impl FnOnce(&Path)) -> (TempDir, Result<(), StoreError>) {
    let (directory, path) = temporary();
    let (store, opened) = open(&path);
    let journal = start(store, opened.event);
    journal.append(long_event(1000));
    let store = journal.finish().unwrap();
    store.database().gather().unwrap();
    let mut watched = Watched::new(&store, opened.event);
    watched.examine().unwrap();
    happens(&path);
    // A file that is doubted is looked at again.
    let examined = watched.examine().and_then(|()| watched.examine());
    (directory, examined)
}

/// A copy has all of the event.
fn assert_whole(kept: &Path) {
    let store = Store::read(kept).unwrap();
    let event = store.events().unwrap()[0].id;
    let verified = store.verify(event, None).unwrap();
    assert_eq!((verified.sealed_games, verified.running), (999, 1));
    assert!(verified.alterations.is_empty());
}

/// A database with an event of this name and more games.
fn other_database(path: &Path) -> PathBuf {
    let other = path.with_file_name("other.db");
    let mut events = long_event(1500);
    events[0].at += 1;
    write(&other, &events);
    other
}

#[test]
fn a_file_that_is_replaced_or_removed_is_noticed_and_all_of_its_event_is_kept() {
    let replaced = |path: &Path| fs::rename(other_database(path), path).unwrap();
    let removed = |path: &Path| fs::remove_file(path).unwrap();
    let ways: [fn(&Path); 2] = [replaced, removed];
    for way in ways {
        let (_directory, examined) = examined_after(way);
        let fault = examined.unwrap_err();
        assert!(fault.to_string().contains("the event until then is in"), "{fault}");
        let StoreError::Replaced(_, Some(kept)) = fault else { panic!("{fault}") };
        assert_whole(&kept);
    }
}

#[test]
fn a_file_that_is_overwritten_or_cut_short_is_noticed() {
    let overwritten = |path: &Path| _ = fs::copy(other_database(path), path).unwrap();
    let cut = |path: &Path| fs::File::options().write(true).open(path).unwrap().set_len(8192).unwrap();
    let emptied = |path: &Path| _ = fs::File::create(path).unwrap();
    let ways: [fn(&Path); 3] = [overwritten, cut, emptied];
    for way in ways {
        let (directory, examined) = examined_after(way);
        let fault = examined.unwrap_err();
        let StoreError::Replaced(_, kept) = &fault else { panic!("{fault}") };
        // What the connection has in memory may be all of it; never half.
        kept.iter().for_each(|kept| assert_whole(kept));
        let copies = fs::read_dir(directory.path()).unwrap().flatten();
        let copies = copies.filter(|file| file.file_name().to_string_lossy().ends_with(".kept1.db"));
        assert_eq!(copies.count(), usize::from(kept.is_some()));
    }
}

#[test]
fn a_file_that_is_overwritten_under_its_log_is_noticed_and_all_of_its_event_is_kept() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let journal = start(store, opened.event);
    journal.append(long_event(20));
    let store = journal.finish().unwrap();
    let mut watched = Watched::new(&store, opened.event);
    watched.examine().unwrap();
    fs::copy(other_database(&path), &path).unwrap();
    // It may be a log on its way into the file: it is looked at twice.
    watched.examine().unwrap();
    let StoreError::Replaced(_, Some(kept)) = watched.examine().unwrap_err() else { panic!("it is kept") };
    let kept = Store::read(&kept).unwrap();
    assert_eq!(kept.verify(opened.event, None).unwrap().sealed_games, 19);
}

#[test]
fn a_log_that_has_grown_is_not_moved_into_a_file_that_was_overwritten() {
    let (_directory, path, store, event) = with_log();
    store.database().check(|conn| conn.pragma_update(None, "wal_autocheckpoint", 0)).unwrap();
    let older = fs::read(&path).unwrap();
    let mut watched = Watched::new(&store, event);
    let grows = |watched: &mut Watched<'_>, by: &str| {
        store.replan(event, &by.repeat(6 << 20)).unwrap();
        watched.look_at_log().unwrap();
    };
    grows(&mut watched, "x");
    watched.move_log().unwrap();
    assert!(fs::metadata(&path).unwrap().len() > 6 << 20, "it is moved into its own file");
    grows(&mut watched, "y");
    fs::write(&path, &older).unwrap();
    // It may be another connection that moves the log: nothing has to be judged in the same moment.
    let noticed = (0..3).find_map(|_| watched.move_log().err()).or_else(|| watched.examine().err());
    assert_eq!(fs::read(&path).unwrap(), older, "nothing was written into it");
    assert!(matches!(noticed, Some(StoreError::Replaced(..))), "{noticed:?}");
}

#[test]
fn an_older_copy_over_the_file_is_noticed() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let older = path.with_file_name("older.db");
    let journal = start(store, opened.event);
    journal.append(long_event(20));
    let store = journal.finish().unwrap();
    store.database().gather().unwrap();
    fs::copy(&path, &older).unwrap();
    let journal = start(store, opened.event);
    journal.append([started(21, 0, 1), ended(21, 0, 1, SENNICHITE)]);
    let store = journal.finish().unwrap();
    store.database().gather().unwrap();
    let mut watched = Watched::new(&store, opened.event);
    watched.examine().unwrap();
    fs::copy(&older, &path).unwrap();
    let noticed = [watched.examine(), watched.examine()].into_iter().find_map(Result::err);
    assert!(matches!(noticed, Some(StoreError::Replaced(..))), "{noticed:?}");
}

/// An event of 19 games that are over, most of which are in the log alone.
fn with_log() -> (TempDir, PathBuf, Writer, EventId) {
    let (directory, path) = temporary();
    let (store, opened) = open(&path);
    let journal = start(store, opened.event);
    journal.append(long_event(20));
    (directory, path, journal.finish().unwrap(), opened.event)
}

/// A connection of another program, which waits for nobody.
fn stranger(path: &Path) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.busy_timeout(Duration::ZERO).unwrap();
    conn
}

#[test]
fn a_log_that_is_removed_replaced_overwritten_or_cut_short_is_noticed_before_the_next_commit() {
    let removed = |log: &Path| fs::remove_file(log).unwrap();
    let replaced = |log: &Path| {
        fs::copy(log, log.with_extension("copy")).unwrap();
        fs::rename(log.with_extension("copy"), log).unwrap();
    };
    let directory = |log: &Path| {
        fs::remove_file(log).unwrap();
        fs::create_dir(log).unwrap();
    };
    let emptied = |log: &Path| _ = fs::File::create(log).unwrap();
    let cut = |log: &Path| fs::File::options().write(true).open(log).unwrap().set_len(20_000).unwrap();
    let overwritten = |log: &Path| fs::write(log, vec![b'x'; 4 << 20]).unwrap();
    let ways: [fn(&Path); 6] = [removed, replaced, directory, emptied, cut, overwritten];
    for (at, way) in ways.into_iter().enumerate() {
        let (_directory, path, store, event) = with_log();
        let mut watched = Watched::new(&store, event);
        watched.look_at_log().unwrap();
        way(&platform::files::beside(&path, "-wal"));
        let fault = watched.look_at_log().unwrap_err();
        assert!(fault.to_string().contains("league.db-wal` was replaced"), "{at}: {fault}");
        let StoreError::Replaced(_, Some(kept)) = fault else { panic!("{at}: {fault}") };
        assert_eq!(Store::read(&kept).unwrap().verify(event, None).unwrap().sealed_games, 19, "{at}");
    }
}

#[test]
fn a_log_that_is_moved_into_the_file_and_begun_anew_is_nobody_elses_log() {
    let (_directory, path, store, event) = with_log();
    let mut watched = Watched::new(&store, event);
    let (other, player) = (stranger(&path), Writer::open(&path).unwrap());
    for at in 0..50 {
        let how = ["passive", "full", "restart", "truncate"][at % 4];
        watched.look_at_log().unwrap();
        other.execute_batch(&format!("PRAGMA wal_checkpoint({how})")).unwrap();
        watched.look_at_log().unwrap();
        let writer = [&store, &player][at / 4 % 2];
        writer.replan(event, &at.to_string().repeat(3000)).unwrap();
        watched.look_at_log().unwrap();
        if at % 3 == 0 {
            watched.examine().unwrap();
        }
    }
}

#[test]
fn an_event_whose_log_another_program_has_moved_into_the_file_is_kept_when_that_is_overwritten() {
    let (_directory, path, store, event) = with_log();
    let mut watched = Watched::new(&store, event);
    watched.examine().unwrap();
    stranger(&path).execute_batch("PRAGMA wal_checkpoint(truncate)").unwrap();
    watched.examine().unwrap();
    fs::copy(other_database(&path), &path).unwrap();
    let noticed = [watched.examine(), watched.examine()].into_iter().find_map(Result::err);
    let Some(StoreError::Replaced(_, Some(kept))) = noticed else { panic!("{noticed:?}") };
    assert_eq!(Store::read(&kept).unwrap().verify(event, None).unwrap().sealed_games, 19);
}

#[test]
fn a_log_that_is_moved_into_its_file_and_a_vacuum_are_nobody_elses_file() {
    let moved = |path: &Path| assert!(Writer::open(path).unwrap().database().gather().unwrap());
    let shrunk = |path: &Path| {
        let other = Writer::open(path).unwrap();
        other.database().check(|conn| conn.execute_batch("DELETE FROM moves; VACUUM")).unwrap();
        other.database().gather().unwrap();
    };
    let touched = |path: &Path| {
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    };
    let ways: [fn(&Path); 3] = [moved, shrunk, touched];
    for way in ways {
        examined_after(way).1.unwrap();
    }
}

#[test]
fn a_log_of_which_a_reader_lets_a_part_into_the_file_is_nobody_elses_file() {
    let (_directory, path, store, event) = with_log();
    let mut watched = Watched::new(&store, event);
    watched.examine().unwrap();
    let reader = stranger(&path);
    for game in 21..61 {
        reader.execute_batch("BEGIN; SELECT count(*) FROM games").unwrap();
        let journal = start(Writer::open(&path).unwrap(), event);
        journal.append([started(game, 0, 1), ended(game, 0, 1, SENNICHITE)]);
        journal.finish().unwrap();
        stranger(&path).execute_batch("PRAGMA wal_checkpoint(passive)").unwrap();
        (0..3).for_each(|_| watched.examine().unwrap());
        reader.execute_batch("COMMIT").unwrap();
    }
    fs::copy(other_database(&path), &path).unwrap();
    let noticed = [watched.examine(), watched.examine()].into_iter().find_map(Result::err);
    assert!(matches!(noticed, Some(StoreError::Replaced(..))), "{noticed:?}");
}

#[test]
fn an_event_whose_file_is_replaced_stops() {
    let (_directory, path) = temporary();
    let (journal, failed) = journal_that_may_fail(&path);
    fs::remove_file(&path).unwrap();
    // It is looked at after commits, now and then.
    while failed.recv_timeout(Duration::from_millis(20)).is_err() {
        journal.append([judged(3, 9, Score::Cp(1))]);
    }
    let StoreError::Stopped(_, fault) = journal.finish().unwrap_err() else { panic!("it stopped") };
    assert!(matches!(&*fault, StoreError::Replaced(_, Some(_))), "{fault}");
}

/// A journal, and the news of its failure; three games of it are committed.
fn journal_that_may_fail(path: &PathBuf) -> (Journal, mpsc::Receiver<()>) {
    let (store, opened) = open(path);
    let (sender, failed) = mpsc::channel();
    let stop = move || sender.send(()).unwrap();
    let journal = Journal::start(Default::default(), store, opened.event, vec![], stop).unwrap();
    journal.append(long_event(3));
    let (sender, kept) = mpsc::channel();
    journal.sink().when_kept(Box::new(move || sender.send(()).unwrap()));
    kept.recv().unwrap();
    (journal, failed)
}

#[test]
fn an_event_whose_log_is_removed_stops_and_all_that_was_committed_is_kept() {
    let (_directory, path) = temporary();
    let (journal, failed) = journal_that_may_fail(&path);
    fs::remove_file(platform::files::beside(&path, "-wal")).unwrap();
    journal.append([judged(3, 9, Score::Cp(1))]);
    failed.recv().unwrap();
    let StoreError::Stopped(1, fault) = journal.finish().unwrap_err() else { panic!("it stopped") };
    let StoreError::Replaced(log, Some(kept)) = &*fault else { panic!("{fault}") };
    assert!(log.ends_with("league.db-wal"));
    let kept = Store::read(kept).unwrap();
    assert_eq!(kept.verify(kept.events().unwrap()[0].id, None).unwrap().sealed_games, 2);
}

#[test]
fn a_commit_that_fails_in_an_overwritten_file_says_that_it_was_overwritten() {
    let spoilt = |path: &Path| fs::write(path, [b'x'; 100_000]).unwrap();
    let overwritten = |path: &Path| _ = fs::copy(other_database(path), path).unwrap();
    let emptied = |path: &Path| _ = fs::File::create(path).unwrap();
    let ways: [fn(&Path); 3] = [spoilt, overwritten, emptied];
    for way in ways {
        let (_directory, path) = temporary();
        let (journal, failed) = journal_that_may_fail(&path);
        stranger(&path).execute_batch("PRAGMA wal_checkpoint(truncate)").unwrap();
        way(&path);
        while failed.recv_timeout(Duration::from_millis(20)).is_err() {
            journal.append([judged(3, 9, Score::Cp(1))]);
        }
        let StoreError::Stopped(_, fault) = journal.finish().unwrap_err() else { panic!("it stopped") };
        assert!(matches!(&*fault, StoreError::Replaced(..)), "{fault}");
    }
}
