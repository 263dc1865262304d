//! Events that are taken up again by other engines, at another size, or from their beginning.

use super::*;
use crate::{Moves, Rescheduled};
use referee::{
    identity::{FileIdentity, Identity},
    sink::{EntrantTrip, SideRecord, TripKey},
};
use rusqlite::Connection;

fn engine(hash: &str) -> Identity {
    let files = vec![FileIdentity { path: "eval/nn.bin".to_owned(), sha256: "f".to_owned(), listed: true }];
    let (program, id_name) = ("/e/new".to_owned(), Some("New 1".to_owned()));
    Identity { program, hash: Some(hash.to_owned()), id_name, files }
}

#[test]
fn identities_are_kept_for_each_run() {
    let (_directory, path) = temporary();
    let runs = [engine("1"), Identity { hash: None, id_name: None, files: vec![], ..engine("2") }];
    for identity in &runs {
        let opening_of_run = Journal::open(&path, &HEAD).unwrap();
        let journal = opening_of_run.start(vec![], || ()).unwrap();
        journal.append([opening()]);
        journal.sink().keep(SideRecord::Identified(PlayerId(1), Box::new(identity.clone())));
        journal.finish().unwrap();
    }
    let store = Store::read(&path).unwrap();
    let event = store.events().unwrap()[0].id;
    let known = store.identities(event).unwrap();
    assert!(known.iter().all(|known| known.player == PlayerId(1)));
    assert_eq!(known.into_iter().map(|known| known.identity).collect::<Vec<_>>(), runs);
}

#[test]
fn an_event_that_was_set_aside_keeps_its_games_under_another_name() {
    let (_directory, path) = temporary();
    let first = write(&path, &[opening(), started(1, 0, 1), ended(1, 0, 1, SENNICHITE), started(2, 1, 0)]);
    let mut store = Writer::open(&path).unwrap();
    assert_eq!(store.set_aside("cup").unwrap(), None, "there is no such event");
    let aside = store.set_aside(HEAD.name).unwrap();
    assert_eq!(aside.as_deref(), Some("league.1"));
    assert_eq!(store.set_aside(HEAD.name).unwrap(), None);
    let anew = store.open_event(&HEAD).unwrap();
    assert_eq!((anew.resumed, anew.next_game), (false, GameId(1)));
    let events = store.events().unwrap();
    assert_eq!(events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), ["league.1", "league"]);
    assert_eq!((events[0].id, events[0].counted, events[0].running), (first, 1, 0));
    assert_eq!(events[0].plan, r#"{"a":1,"name":"league.1"}"#);
}

#[test]
fn an_event_that_is_played_is_not_set_aside() {
    let (_directory, path) = temporary();
    write(&path, &[opening()]);
    let (_playing, _) = open(&path);
    let error = Writer::open(&path).unwrap().set_aside(HEAD.name).unwrap_err().to_string();
    assert!(error.starts_with("event `league` is being run by process"), "{error}");
}

#[test]
fn an_event_that_grows_is_open_again_with_its_games_in_their_new_places() {
    let (_directory, path) = temporary();
    let event =
        write(&path, &[opening(), started(1, 0, 1), ended(1, 0, 1, SENNICHITE), at(9, Entry::Closed)]);
    let store = Writer::open(&path).unwrap();
    assert!(store.events().unwrap()[0].closed);
    let mut pairing = store.game(event, GameId(1)).unwrap().unwrap().row.pairing;
    (pairing.index, pairing.pair) = (40, 20);
    let games = [(GameId(1), pairing)];
    let to = Rescheduled { plan: "{}", fingerprint: "grown", games: &games, reopens: true };
    store.reschedule(event, &to).unwrap();
    assert_eq!(store.game(event, GameId(1)).unwrap().unwrap().row.pairing, pairing);
    assert_eq!(store.fingerprint(HEAD.name).unwrap().as_deref(), Some("grown"));
    assert!(!store.events().unwrap()[0].closed);
    let mut entries = vec![];
    store.replay(event, Moves::Without, &mut |stamped| entries.push(stamped.clone())).unwrap();
    assert_eq!(entries.len(), 3, "the end is taken back: {entries:?}");
}

#[test]
fn a_renamed_player_keeps_its_games_and_is_known_by_its_new_name_alone() {
    let (_directory, path) = temporary();
    let renamed = at(9, Entry::Renamed { player: PlayerId(0), name: "Asa+new".to_owned() });
    let end = ended(1, 0, 1, win(Color::Black));
    let event = write(&path, &[opening(), started(1, 0, 1), end, renamed.clone()]);
    let store = Store::read(&path).unwrap();
    let mut entries = vec![];
    store.replay(event, Moves::Without, &mut |stamped| entries.push(stamped.clone())).unwrap();
    let Entry::Opened(opened) = &entries[0].entry else { panic!("{entries:?}") };
    assert_eq!(opened.players, ["Asa+new", "Bei", "Chie"]);
    assert_eq!(entries[3], renamed);
    let row = store.game(event, GameId(1)).unwrap().unwrap().row;
    assert_eq!((row.black.as_str(), row.pairing.black), ("Asa+new", PlayerId(0)));
    let first = "SELECT player, games, wins FROM standings LIMIT 1";
    let first = store.database().conn.query_row(first, [], |row| row.try_into());
    assert_eq!(first, Ok(("Asa+new".to_owned(), 1, 1)));
    assert_eq!(
        store.verify(event, None).unwrap().alterations,
        [],
        "the game was sealed under the former name"
    );
}

#[test]
fn a_name_that_was_altered_after_a_player_was_renamed_is_found() {
    let (_directory, path) = temporary();
    let rename = |name: &str| at(9, Entry::Renamed { player: PlayerId(0), name: name.to_owned() });
    let end = ended(1, 0, 1, win(Color::Black));
    let event = write(&path, &[opening(), rename("Asa+1"), started(1, 0, 1), end, rename("Asa+2")]);
    let alterations = || Store::read(&path).unwrap().verify(event, None).unwrap().alterations;
    assert_eq!(alterations(), []);
    let conn = Connection::open(&path).unwrap();
    conn.execute("UPDATE players SET name = 'Asa+3' WHERE player = 0", []).unwrap();
    let found = alterations();
    assert_eq!(
        found.iter().map(|found| found.text.as_str()).collect::<Vec<_>>(),
        ["the new name of a player: name altered (entry 5)"]
    );
}

#[test]
fn a_new_name_in_the_head_of_a_run_is_on_record_as_one() {
    let (_directory, path) = temporary();
    let end = ended(1, 0, 1, win(Color::Black));
    write(&path, &[opening(), started(1, 0, 1), end]);
    let mut again = opening();
    if let Entry::Opened(opened) = &mut again.entry {
        opened.players[0] = "Dai".to_owned();
    }
    let event = write(&path, &[again]);
    let store = Store::read(&path).unwrap();
    assert_eq!(store.verify(event, None).unwrap().alterations, []);
    let renamed: u32 =
        store.database().conn.query_row("SELECT count(*) FROM renamed", [], |row| row.get(0)).unwrap();
    assert_eq!(renamed, 1);
}

#[test]
fn the_key_and_the_first_trip_of_each_entrant_are_kept_with_the_event() {
    let (_directory, path) = temporary();
    let key = TripKey([7; 32]);
    let bound = |trip: &str| EntrantTrip { name: "Asa".to_owned(), trip: trip.to_owned() };
    let journal = Journal::open(&path, &HEAD).unwrap().start(vec![], || ()).unwrap();
    journal.append([opening()]);
    let event = journal.event();
    assert_eq!(Store::read(&path).unwrap().trip_key(event).unwrap(), None);
    journal.sink().keep(SideRecord::TripKey(key.clone()));
    journal.sink().keep(SideRecord::Bound(bound("first")));
    journal.sink().keep(SideRecord::Bound(bound("second")));
    journal.finish().unwrap();
    let store = Store::read(&path).unwrap();
    assert_eq!(store.trip_key(event).unwrap(), Some(key.clone()));
    assert_eq!(store.entrant_trips(event).unwrap(), [bound("first")]);
    assert_eq!(format!("{key:?}"), "TripKey(..)", "diagnostics do not show it");
}
