use super::*;
use crate::{Bounds, Moves, Prunable};
use referee::{
    AbortBy,
    operation::{Action, NamedGame, Operation},
};

/// Four games of 40 plies, of which the third still runs.
fn league() -> (TempDir, PathBuf, EventId) {
    let (directory, path) = temporary();
    let mut entries = vec![opening()];
    for game in 1..=4 {
        entries.push(started(game, 0, 1));
        entries.extend((3..=40).map(|ply| moved(game, ply, 5)));
        let mut end = ended(game, 0, 1, Outcome::Win { winner: Color::White, by: WinBy::Time });
        let Entry::GameEnded(inner) = &mut end.entry else { unreachable!() };
        inner.evidence = "black: it said bestmove after 70 s\n  > go\n  < bestmove 7g7f\n".to_owned();
        entries.extend((game != 3).then_some(end));
    }
    let event = write(&path, &entries);
    (directory, path, event)
}

fn replayed(store: &Store, event: EventId) -> Vec<Stamped> {
    let mut entries = vec![];
    store.replay(event, Moves::Without, &mut |stamped| entries.push(stamped.clone())).unwrap();
    entries
}

fn prune(store: &Writer, event: EventId, bounds: Bounds) -> Vec<u64> {
    let mut pruned = vec![];
    while let Some(game) =
        store.prune_next(event, bounds, GameId(pruned.last().copied().unwrap_or(0))).unwrap()
    {
        pruned.push(game.0);
    }
    pruned
}

#[test]
fn a_pruned_game_keeps_its_result_and_reason_and_loses_its_moves() {
    let (_directory, path, event) = league();
    let store = Writer::open(&path).unwrap();
    let all = Bounds { settled: i64::MAX, since: None, newest: Some(1) };
    let found = store.prunable(event, all).unwrap();
    assert_eq!((found.games, found.moves), (2, 2 * 38), "the newest game and the running one stay");
    assert!(found.bytes > 2 * 38 * 60);
    let before = replayed(&store, event);
    assert_eq!(prune(&store, event, all), [1, 2]);
    assert_eq!(store.prunable(event, all).unwrap(), Prunable::default());
    let moves = |game| store.game(event, GameId(game)).unwrap().unwrap().moves.len();
    assert_eq!([1, 2, 3, 4].map(moves), [0, 0, 38, 38]);
    let row = store.game(event, GameId(1)).unwrap().unwrap().row;
    assert_eq!(row.evidence, "black: it said bestmove after 70 s");
    assert!(row.pruned_at.is_some_and(|at| at > 1_700_000_000_000));
    let verified = store.verify(event, None).unwrap();
    assert_eq!((verified.pruned, verified.alterations), (2, vec![]));
    let after = replayed(&store, event);
    assert_eq!(before.len(), after.len());
    for (before, after) in before.into_iter().zip(after) {
        match (before.entry, after.entry) {
            (Entry::GameEnded(before), Entry::GameEnded(after)) => {
                assert_eq!(GameEnded { evidence: after.evidence.clone(), ..before }, after);
            }
            (before, after) => assert_eq!(before, after),
        }
    }
    store.vacuum().unwrap();
}

#[test]
fn games_are_pruned_by_age_and_by_number_and_not_while_somebody_may_write_them() {
    let (_directory, path, event) = league();
    let store = Writer::open(&path).unwrap();
    let ended = |game: i64| 1_800_000_060_500 + game * 1000;
    let bounds = |settled, since, newest| Bounds { settled, since, newest };
    for (bounds, games) in [
        (bounds(i64::MAX, None, None), 0),
        (bounds(i64::MAX, Some(ended(2)), None), 1),
        (bounds(i64::MAX, Some(ended(2)), Some(1)), 2),
        (bounds(i64::MAX, Some(ended(1)), Some(0)), 3),
        (bounds(ended(2), None, Some(0)), 1),
        (bounds(i64::MAX, Some(i64::MAX), Some(u64::MAX)), 3),
    ] {
        assert_eq!(store.prunable(event, bounds).unwrap().games, games, "{bounds:?}");
    }
}

/// An adjourned game and a replayed draw, each followed by an attempt that was stopped, and then by one that was played.
#[test]
fn a_game_that_another_one_goes_on_from_keeps_its_moves_until_that_one_is_over() {
    let (_directory, path) = temporary();
    let attempt = |number: u64, attempt, replayed, outcome| {
        let place = Pairing { attempt, ..pairing(1 + number % 2, 0, 1) };
        let mut start = started(number, 0, 1);
        let Entry::GameStarted(begun) = &mut start.entry else { unreachable!() };
        begun.pairing = place;
        let end = GameEnded { replayed, ..GameEnded::new(GameId(number), place, outcome, 40) };
        let end = at(1_800_000_060_500, Entry::GameEnded(end));
        [start].into_iter().chain((3..=40).map(move |ply| moved(number, ply, 5))).chain([end])
    };
    let (black, white) = ("Asa".to_owned(), "Bei".to_owned());
    let game = NamedGame { game: GameId(2), black, white, round: 1 };
    let adjourned = Action::Adjourned { game, held: None };
    let operation =
        Operation { number: 1, by: "op".into(), reason: String::new(), undoes: None, action: adjourned };
    let stopped = Outcome::Aborted { by: AbortBy::Stopped };
    let mut entries = vec![opening()];
    entries.extend(attempt(1, 0, true, SENNICHITE));
    entries.extend(attempt(2, 0, false, stopped));
    entries.push(at(1_800_000_060_500, Entry::Operator(Box::new(operation))));
    entries.extend((3..=4).flat_map(|number| attempt(number, 1, false, stopped)));
    let event = write(&path, &entries);
    let all = Bounds { settled: i64::MAX, since: None, newest: Some(0) };
    let store = Writer::open(&path).unwrap();
    assert_eq!(prune(&store, event, all), [3, 4], "the games that were stopped have nothing that is needed");
    drop(store);
    let played: Vec<_> = (5..=6).flat_map(|number| attempt(number, 2, false, win(Color::Black))).collect();
    write(&path, &played);
    assert_eq!(prune(&Writer::open(&path).unwrap(), event, all), [1, 2, 5, 6]);
}
