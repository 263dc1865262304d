//! The hash chain over an event: what is altered later is named.

use super::*;
use crate::Verified;
use rusqlite::Connection;

/// A finished event of four games, a bye and a verdict.
fn event() -> Vec<Stamped> {
    let mut entries = vec![opening()];
    for game in 1..=4 {
        let (black, white) = if game % 2 == 1 { (0, 1) } else { (1, 2) };
        entries.push(started(game, black, white));
        entries.extend((3..=6).map(|ply| moved(game, ply, 100 + u64::from(ply))));
        let outcome = if game == 2 { SENNICHITE } else { win(Color::Black) };
        entries.push(ended(game, black, white, outcome));
    }
    entries
        .push(at(1_800_000_100_000, Entry::Bye { stage: 0, round: 2, player: PlayerId(2), half_points: 2 }));
    let verdict = Entry::Verdict { verdict: "H1".into(), llr: 3.0, pairs: 2 };
    entries.push(at(1_800_000_100_001, verdict));
    entries.push(at(1_800_000_100_002, Entry::Closed));
    entries
}

fn verify(path: &PathBuf, event: EventId) -> Verified {
    let store = Store::read(path).unwrap();
    let verified = store.verify(event, None).unwrap();
    let mut told = vec![];
    let by_many = store.verify_on(3, event, None, &mut |read, all| told.push((read, all))).unwrap();
    assert_eq!(by_many, verified, "several threads find the same");
    assert!(told.iter().all(|(read, all)| read <= all) && !told.is_empty(), "{told:?}");
    verified
}

#[test]
fn the_search_for_inserted_games_walks_through_the_log_once() {
    let (_directory, path) = temporary();
    write(&path, &event());
    let conn = Connection::open(&path).unwrap();
    let sql = format!("EXPLAIN QUERY PLAN {}", crate::verify::INSERTED);
    let mut plan = conn.prepare(&sql).unwrap();
    let steps = plan.query_map([1], |row| row.get::<_, String>(3)).unwrap();
    let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
    assert!(!steps.iter().any(|step| step.contains("CORRELATED")), "{steps:?}");
}

/// What is found after `vandalism`.
fn after(vandalism: &str) -> Vec<String> {
    let (_directory, path) = temporary();
    let event = write(&path, &event());
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(&format!("PRAGMA foreign_keys = off; {vandalism}")).unwrap();
    drop(conn);
    verify(&path, event).alterations.iter().map(ToString::to_string).collect()
}

#[test]
fn every_entry_of_an_untouched_event_has_a_seal_that_verifies() {
    let (_directory, path) = temporary();
    let event = write(&path, &event());
    let verified = verify(&path, event);
    assert_eq!(verified.alterations, []);
    assert_eq!((verified.sealed_games, verified.other_entries), (4, 4));
    assert_eq!(verified.head, Store::read(&path).unwrap().head(event).unwrap());
    assert_eq!(verified.head.unwrap().len(), 64);
}

#[test]
fn an_altered_move_time_result_or_name_is_named_with_its_game() {
    let game_2 = |column: &str| format!("UPDATE games SET {column} WHERE number = 2");
    let moves = |set: &str| format!("UPDATE moves SET {set} WHERE game = 3 AND ply = 4");
    for (vandalism, found) in [
        (moves("move = '8c8d'"), "game 3: moves altered (entry 7)"),
        (moves("charged_ms = 1"), "game 3: times altered (entry 7)"),
        (moves("score_cp = -9000"), "game 3: evaluations altered (entry 7)"),
        (
            "DELETE FROM moves WHERE game = 3 AND ply = 6".into(),
            "game 3: moves, times, evaluations altered (entry 7)",
        ),
        (game_2("result = 'black', cause = 'resignation'"), "game 2: ending altered (entry 5)"),
        (game_2("replayed = 1"), "game 2: ending altered (entry 5)"),
        (game_2("evidence = 'it said so'"), "game 2: evidence altered (entry 5)"),
        (game_2("opening_moves = ''"), "game 2: beginning altered (entry 5)"),
        (game_2("black = 0"), "game 2: players altered (entry 5)"),
        (game_2("round = 7"), "game 2: place altered (entry 5)"),
        (
            "UPDATE players SET name = 'Dai' WHERE player = 2".into(),
            "the name of player 2 (`Dai` now) was altered: 2 games differ",
        ),
        ("UPDATE byes SET player = 0".into(), "a bye: content altered (entry 10)"),
        ("UPDATE verdicts SET verdict = 'H0'".into(), "a verdict: content altered (entry 11)"),
        ("DELETE FROM verdicts".into(), "a verdict: content altered (entry 11)"),
    ] {
        assert_eq!(after(&vandalism), [found], "{vandalism}");
    }
    let excused = format!("{}; UPDATE games SET pruned_at = 1 WHERE number = 3", moves("charged_ms = 1"));
    assert_eq!(
        after(&excused),
        ["game 3: times altered (entry 7)"],
        "only moves that are gone are not compared"
    );
    let configured = after("UPDATE events SET fingerprint = '{\"margin\":0}'");
    assert!(
        configured.len() == 1 && configured[0].starts_with("the configuration (`fingerprint`)"),
        "{configured:?}"
    );
}

#[test]
fn removed_inserted_and_reordered_games_are_named() {
    let delete = "DELETE FROM moves WHERE game = 2; DELETE FROM games WHERE number = 2;";
    assert_eq!(after(delete), ["game 2 was removed (entry 5)"]);
    let with_log = format!("{delete} DELETE FROM log WHERE game = 2;");
    assert_eq!(after(&with_log), ["entry 4 was removed", "game 2 was removed (entry 5)"]);
    let with_seal = format!("{with_log} DELETE FROM seals WHERE seq = 5");
    assert_eq!(after(&with_seal), ["entries 4 to 5 were removed"]);
    let renumbered = format!(
        "{with_seal};
        UPDATE log SET seq = seq - 2 WHERE seq > 5; UPDATE seals SET seq = seq - 2 WHERE seq > 5"
    );
    let found = after(&renumbered);
    assert!(found[0].starts_with("the seal of game 3 does not follow from the one before it"), "{found:?}");
    let swapped = after(
        "UPDATE log SET game = 9 WHERE seq = 3; UPDATE log SET game = 1 WHERE seq = 5;
        UPDATE log SET game = 2 WHERE seq = 3",
    );
    assert_eq!(swapped.len(), 2, "{swapped:?}");
    assert!(swapped[0].starts_with("entry 3 is game 2, but was sealed as game 1"), "{swapped:?}");
    assert!(swapped[1].starts_with("entry 5 is game 1, but was sealed as game 2"), "{swapped:?}");
    let exchanged = after(
        "UPDATE games SET number = 99 WHERE number = 1; UPDATE games SET number = 1 WHERE number = 3;
        UPDATE games SET number = 3 WHERE number = 99",
    );
    assert_eq!(exchanged.len(), 2, "{exchanged:?}");
    let inserted = "INSERT INTO games (event, number, stage, index_, attempt, round, pair, opening, black, white,
        started_at, ended_at, result, cause, plies, evidence, replayed)
        SELECT event, 5, stage, 4, attempt, round, 3, opening, black, white, started_at, ended_at, result, cause, plies,
        evidence, replayed FROM games WHERE number = 1;";
    assert_eq!(after(inserted), ["game 5 was inserted: the log has no entry for its end"]);
    let logged = format!("{inserted} INSERT INTO log VALUES (1, 13, 'ended', 5);");
    assert_eq!(after(&logged), ["game 5 was inserted, or its seal was removed (entry 13)"]);
    assert_eq!(
        after("INSERT INTO byes VALUES (1, 99, 0, 0, 1, 0, 2)"),
        ["a bye was inserted: the log has no entry 99 of its kind"]
    );
    let first = after("DELETE FROM seals WHERE seq < 4");
    assert_eq!(
        first,
        [
            "the start of a run was inserted, or its seal was removed (entry 1)",
            "game 1 was inserted, or its seal was removed (entry 3)",
            "the beginning of the chain was altered or removed (entry 5)"
        ]
    );
}

#[test]
fn a_head_noted_earlier_is_found_in_a_longer_chain_and_in_no_other() {
    let (_directory, path) = temporary();
    let all = event();
    let id = write(&path, &all[..7]);
    let head = Store::read(&path).unwrap().head(id).unwrap().unwrap();
    write(&path, &all[7..]);
    let asked = |head: &str| Store::read(&path).unwrap().verify(id, Some(head)).unwrap().asked_head_at;
    assert_eq!(asked(&head), Some(3));
    assert_eq!(asked(&head.to_uppercase()), Some(3));
    let conn = Connection::open(&path).unwrap();
    // Whoever alters everything can compute the chain anew, but not the head that others have noted.
    conn.execute_batch("UPDATE moves SET move = '9g9f' WHERE game = 1 AND ply = 3; DELETE FROM seals;")
        .unwrap();
    reseal(&conn);
    drop(conn);
    assert_eq!(verify(&path, id).alterations, []);
    assert_eq!(asked(&head), None);
}

/// Writes all seals anew, as a forger would.
fn reseal(conn: &Connection) {
    let mut chain = crate::seal::Chain::of(conn, 1).unwrap();
    let mut log = conn
        .prepare(
            "SELECT l.seq, l.kind, g.id, g.number FROM log l LEFT JOIN games g ON g.id = l.game
        WHERE kind <> 'started' ORDER BY seq",
        )
        .unwrap();
    let mut rows = log.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (seq, kind): (i64, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        let game: Option<i64> = row.get(2).unwrap();
        let mut parts = match game {
            Some(game) => {
                let name = |player: i64| {
                    let sql = "SELECT name FROM players WHERE event = 1 AND player = ?";
                    let name: String = conn.query_row(sql, [player], |row| row.get(0)).unwrap();
                    crate::seal::text_digest(&name)
                };
                crate::seal::StoredGame::read(conn, game).unwrap().parts(&name).to_vec()
            }
            None => vec![crate::seal::stored_digest(conn, 1, seq, &kind).unwrap().unwrap()],
        };
        if kind == "opened" {
            parts.push(crate::seal::text_digest("{}"));
        }
        chain.seal(conn, seq, &kind, row.get(3).unwrap(), &parts).unwrap();
    }
}

#[test]
fn the_chain_goes_on_after_a_kill_in_the_middle_of_games() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let all = event();
    let journal = start(store, opened.event);
    // The first run ends in the middle of game 2, as a killed program does.
    journal.append(all[..10].iter().cloned());
    drop(journal);
    let (store, opened) = open(&path);
    assert_eq!(opened.adjourned.len(), 1);
    let journal = start(store, opened.event);
    journal.append(all[13..].iter().cloned());
    journal.finish().unwrap();
    let verified = verify(&path, opened.event);
    assert_eq!(verified.alterations, []);
    assert_eq!((verified.sealed_games, verified.running), (4, 0));
}

#[test]
fn entries_whose_seals_were_all_removed_are_found_also_when_the_event_goes_on() {
    let (_directory, path) = temporary();
    let all = event();
    let id = write(&path, &all[..13]);
    Connection::open(&path).unwrap().execute_batch("DELETE FROM seals").unwrap();
    let verified = verify(&path, id);
    assert_eq!((verified.sealed_games, verified.head), (0, None));
    assert!(verified.alterations.iter().all(|it| it.text.contains("or its seal was removed")));
    assert_eq!(verified.alterations.iter().filter_map(|it| it.game).collect::<Vec<_>>(), [1, 2]);
    write(&path, &all[13..]);
    let further = verify(&path, id);
    assert_eq!((further.sealed_games, further.alterations), (2, verified.alterations));
}

#[test]
fn an_end_that_is_taken_back_because_the_event_grows_breaks_no_chain() {
    let (_directory, path) = temporary();
    let all = event();
    let id = write(&path, &all);
    let (store, _) = open(&path);
    let grown = crate::Rescheduled {
        plan: "{}",
        fingerprint: "{\"games\":8}",
        games: &[(GameId(1), pairing(9, 0, 1))],
        reopens: true,
    };
    store.reschedule(id, &grown).unwrap();
    drop(store);
    write(&path, &[opening(), started(5, 0, 1), ended(5, 0, 1, SENNICHITE), all[all.len() - 1].clone()]);
    let verified = verify(&path, id);
    assert_eq!(verified.alterations, []);
    assert_eq!(verified.sealed_games, 5);
}
