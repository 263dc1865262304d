use super::*;
use crate::{GameFilter, GameRow, GameState, Moves};
use proptest::{collection::vec, option, prelude::*};
use referee::{
    AbortBy,
    clock::TimeControl,
    entry::Judged,
    operation::{Action, NamedGame, Operation},
};

fn replayed(path: &PathBuf, event: EventId, moves: Moves) -> Vec<Stamped> {
    let mut events = Vec::new();
    Store::read(path).unwrap().replay(event, moves, &mut |stamped| events.push(stamped.clone())).unwrap();
    events
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    let colors = prop_oneof![Just(Color::Black), Just(Color::White)];
    prop_oneof![
        (colors, prop::sample::select(WinBy::ALL)).prop_map(|(winner, by)| Outcome::Win { winner, by }),
        prop::sample::select(DrawBy::ALL).prop_map(|by| Outcome::Draw { by }),
        prop::sample::select(AbortBy::ALL).prop_map(|by| Outcome::Aborted { by }),
    ]
}

fn counts() -> impl Strategy<Value = u64> {
    prop_oneof![0..1000u64, Just(i64::MAX as u64)]
}

fn thoughts() -> impl Strategy<Value = Thought> {
    let scores = prop_oneof![any::<i32>().prop_map(Score::Cp), any::<i32>().prop_map(Score::Mate)];
    (
        option::of(any::<u32>()),
        option::of(any::<u32>()),
        option::of(scores),
        option::of(counts()),
        option::of(counts()),
        option::of(counts()),
        option::of(".*"),
    )
        .prop_map(|(depth, seldepth, score, nodes, nps, time, pv)| Thought {
            depth,
            seldepth,
            score,
            nodes,
            nps,
            time,
            pv,
        })
}

fn moves() -> impl Strategy<Value = (i64, Moved)> {
    let spelled = prop::sample::select(vec!["7g7f", "P*5e", "8h2b+", "1a9i", "R*9a"]);
    (any::<i64>(), spelled, counts(), 0..1u64 << 40, counts(), any::<bool>(), option::of(thoughts()))
        .prop_map(|(at, mv, charged, elapsed, left, white, thought)| {
            let moved = Moved {
                game: GameId(0),
                ply: 0,
                color: if white { Color::White } else { Color::Black },
                mv: Move::from_usi(mv).unwrap(),
                charged: Duration::from_millis(charged),
                elapsed: Duration::from_micros(elapsed),
                left: Duration::from_millis(left),
                thought: thought.filter(|thought| *thought != Thought::default()).map(Box::new),
            };
            (at, moved)
        })
}

fn times() -> impl Strategy<Value = Option<Box<[TimeControl; 2]>>> {
    let time = || {
        (0..1u64 << 40, counts()).prop_map(|(main, byoyomi)| TimeControl {
            main: Duration::from_millis(main),
            byoyomi: Duration::from_millis(byoyomi),
            ..TimeControl::default()
        })
    };
    option::of((time(), time()).prop_map(|(black, white)| Box::new([black, white])))
}

/// Entries of one game: perhaps a start, its moves, perhaps an end.
fn games() -> impl Strategy<Value = Vec<Stamped>> {
    let places = (any::<u8>(), counts(), any::<u32>(), any::<u32>(), counts(), counts(), 0..3u32, 0..3u32);
    let ends = option::of((any::<i64>(), outcomes(), any::<u32>(), ".*", any::<bool>()));
    (places, option::of((any::<i64>(), ".*", ".*", times(), vec(moves(), 0..5))), ends).prop_map(
        |(place, start, end)| {
            let (stage, index, attempt, round, pair, opening, black, white) = place;
            let (black, white) = (PlayerId(black), PlayerId(white));
            let pairing = Pairing { stage, index, attempt, round, pair, opening, black, white };
            let mut events = Vec::new();
            if let Some((time, start, opening, times, moves)) = start {
                let started = GameStarted { game: GameId(0), pairing, start, opening, times };
                events.push(at(time, Entry::GameStarted(started)));
                for (ply, (time, moved)) in (1..).zip(moves) {
                    events.push(at(time, Entry::Moved(Moved { ply, ..moved })));
                }
            }
            if let Some((time, outcome, plies, evidence, replayed)) = end {
                let ended =
                    GameEnded { evidence, replayed, ..GameEnded::new(GameId(0), pairing, outcome, plies) };
                events.push(at(time, Entry::GameEnded(ended)));
            }
            events
        },
    )
}

fn rare_entries() -> impl Strategy<Value = Stamped> {
    let players = || (0..3u32).prop_map(PlayerId);
    let events = prop_oneof![
        (any::<u8>(), any::<u32>(), players(), any::<u8>()).prop_map(
            |(stage, round, player, half_points)| { Entry::Bye { stage, round, player, half_points } }
        ),
        (option::of(players()), ".*").prop_map(|(player, text)| Entry::Fault { player, text }),
        (players(), counts()).prop_map(|(player, kib)| Entry::Memory { player, kib }),
        ("H[01]", -5.0..5.0f64, counts()).prop_map(|(verdict, llr, pairs)| Entry::Verdict {
            verdict,
            llr,
            pairs
        }),
        Just(Entry::Closed),
        Just(Entry::Opened(match opening().entry {
            Entry::Opened(opened) => Opened { resumed: true, format: "Swiss".to_owned(), ..opened },
            _ => unreachable!(),
        })),
    ];
    (any::<i64>(), events).prop_map(|(time, event)| at(time, event))
}

fn number(stamped: &mut Stamped, number: u64) {
    match &mut stamped.entry {
        Entry::GameStarted(started) => started.game = GameId(number),
        Entry::Moved(moved) => moved.game = GameId(number),
        Entry::GameEnded(ended) => ended.game = GameId(number),
        _ => {}
    }
}

/// A stream of entries: overlapping games with rare entries in between.
fn streams() -> impl Strategy<Value = Vec<Stamped>> {
    let turns = vec(any::<prop::sample::Index>(), 60);
    (vec(games(), 0..6), vec(rare_entries(), 0..6), turns).prop_map(|(mut games, rarities, turns)| {
        for (i, game) in (1..).zip(&mut games) {
            game.iter_mut().for_each(|stamped| number(stamped, i));
        }
        let mut lines: Vec<_> = games.into_iter().map(Vec::into_iter).collect();
        lines.push(rarities.into_iter());
        let mut stream = vec![opening()];
        for turn in turns {
            let line = turn.index(lines.len());
            stream.extend(lines[line].next());
        }
        stream.extend(lines.into_iter().flatten());
        stream
    })
}

fn is_move(stamped: &&Stamped) -> bool {
    matches!(stamped.entry, Entry::Moved(_))
}

fn moves_of(events: &[Stamped], number: u64) -> Vec<&Stamped> {
    let of_game =
        |stamped: &&Stamped| matches!(&stamped.entry, Entry::Moved(moved) if moved.game == GameId(number));
    events.iter().filter(of_game).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::repetitions(48, 16), ..ProptestConfig::default() })]
    #[test]
    fn a_replay_gives_what_was_written(events in streams()) {
        let (_directory, path) = temporary();
        let event = write(&path, &events);
        let without_moves: Vec<_> = events.iter().filter(|stamped| !is_move(stamped)).cloned().collect();
        prop_assert_eq!(&replayed(&path, event, Moves::Without), &without_moves);
        let with_moves = replayed(&path, event, Moves::With);
        prop_assert_eq!(with_moves.len(), events.len());
        for game in 1..=6 {
            prop_assert_eq!(moves_of(&with_moves, game), moves_of(&events, game));
        }
        prop_assert_eq!(Store::read(&path).unwrap().verify(event, None).unwrap().alterations, []);
    }
}

/// The number of a kind of entry, from 0. Whoever adds a kind adds an entry of it to the test below.
fn kind(entry: &Entry) -> usize {
    match entry {
        Entry::Opened(_) => 0,
        Entry::Entered { .. } => 1,
        Entry::Renamed { .. } => 2,
        Entry::GameStarted(_) => 3,
        Entry::Moved(_) => 4,
        Entry::Judged(_) => 5,
        Entry::GameEnded(_) => 6,
        Entry::Bye { .. } => 7,
        Entry::Fault { .. } => 8,
        Entry::Memory { .. } => 9,
        Entry::Verdict { .. } => 10,
        Entry::Operator(_) => 11,
        Entry::Closed => KINDS - 1,
    }
}

const KINDS: usize = 13;

#[test]
fn every_kind_of_entry_is_read_again_as_it_was_written() {
    let (_directory, path) = temporary();
    let (game, name) = (GameId(1), |name: &str| name.to_owned());
    let judged =
        Judged { game, ply: 3, color: Color::White, score: Score::Cp(-7), depth: Some(2), nodes: Some(9) };
    let (by, reason, action) = (name("kai"), name("ill"), Action::Paused);
    let operation = Operation { number: 1, by, reason, undoes: None, action };
    let mut entries = vec![
        opening(),
        at(1, Entry::Entered { player: PlayerId(3), name: name("Dan") }),
        at(2, Entry::Renamed { player: PlayerId(0), name: name("Asa+new") }),
        started(1, 0, 1),
        moved(1, 3, 5),
        at(3, Entry::Judged(judged)),
        ended(1, 0, 1, SENNICHITE),
        at(4, Entry::Bye { stage: 0, round: 2, player: PlayerId(2), half_points: 1 }),
        at(5, Entry::Fault { player: Some(PlayerId(1)), text: name("signal 6") }),
        at(6, Entry::Memory { player: PlayerId(1), kib: 7 }),
        at(7, Entry::Verdict { verdict: name("H1"), llr: 2.5, pairs: 8 }),
        at(8, Entry::Operator(Box::new(operation))),
        at(9, Entry::Closed),
    ];
    let kinds: Vec<usize> = entries.iter().map(|stamped| kind(&stamped.entry)).collect();
    assert_eq!(kinds, (0..KINDS).collect::<Vec<_>>());
    let event = write(&path, &entries);
    // What a judge says is kept beside the log, and the opening has every player, with its last name.
    entries.retain(|stamped| !matches!(stamped.entry, Entry::Judged(_)));
    if let Entry::Opened(opened) = &mut entries[0].entry {
        opened.players[0] = name("Asa+new");
        opened.players.push(name("Dan"));
    }
    assert_eq!(replayed(&path, event, Moves::With), entries);
}

#[test]
fn moves_come_before_the_end_of_their_game_and_those_of_running_games_last() {
    let (_directory, path) = temporary();
    let end = ended(2, 1, 2, SENNICHITE);
    let [one, two] = [moved(1, 3, 5), moved(2, 3, 5)];
    let written = [opening(), started(1, 0, 1), one, started(2, 1, 2), two, end];
    let event = write(&path, &written);
    let order = [0, 1, 3, 4, 5, 2].map(|i| written[i].clone());
    assert_eq!(replayed(&path, event, Moves::With), order);
}

#[test]
fn an_empty_thought_is_stored_as_none_and_absurd_counts_saturate() {
    let (_directory, path) = temporary();
    let mut silent = moved(1, 3, 5);
    let mut absurd = moved(1, 4, 5);
    let Entry::Moved(inner) = &mut silent.entry else { unreachable!() };
    inner.thought = Some(Box::default());
    let Entry::Moved(inner) = &mut absurd.entry else { unreachable!() };
    inner.thought = Some(Box::new(Thought { nodes: Some(u64::MAX), ..Thought::default() }));
    let event = write(&path, &[opening(), started(1, 0, 1), silent, absurd]);
    let game = Store::read(&path).unwrap().game(event, GameId(1)).unwrap().unwrap();
    assert_eq!(game.moves[0].1.thought, None);
    assert_eq!(game.moves[1].1.thought.as_ref().unwrap().nodes, Some(i64::MAX as u64));
}

#[test]
fn games_are_read_with_names_moves_and_times_and_found_by_filters() {
    let (_directory, path) = temporary();
    let draw = ended(1, 2, 0, SENNICHITE);
    let lost = ended(2, 0, 1, Outcome::Win { winner: Color::White, by: WinBy::Default });
    let event = write(&path, &[opening(), started(1, 2, 0), moved(1, 3, 12), draw, lost, started(3, 1, 2)]);
    let store = Store::read(&path).unwrap();
    let game = store.game(event, GameId(1)).unwrap().unwrap();
    assert_eq!((game.row.black.as_str(), game.row.white.as_str()), ("Chie", "Asa"));
    assert_eq!((game.row.outcome, game.row.plies), (Some(SENNICHITE), Some(40)));
    assert_eq!(game.row.opening.as_deref(), Some("7g7f 3c3d"));
    assert_eq!((game.row.started_at, game.row.ended_at), (Some(1_800_000_001_000), Some(1_800_000_061_500)));
    assert_eq!(vec![at(game.moves[0].0, Entry::Moved(game.moves[0].1.clone()))], vec![moved(1, 3, 12)]);
    assert_eq!(store.game(event, GameId(9)).unwrap(), None);

    let numbers = |filter: GameFilter| {
        let mut numbers = Vec::new();
        let collect = |row: GameRow| {
            numbers.push(row.game.0);
            Ok::<_, StoreError>(())
        };
        store.games(event, &filter, collect).unwrap();
        numbers
    };
    assert_eq!(numbers(GameFilter::default()), [1, 2, 3]);
    assert_eq!(numbers(GameFilter { player: Some(PlayerId(0)), ..GameFilter::default() }), [1, 2]);
    let pair = (Some(PlayerId(0)), Some(PlayerId(1)));
    assert_eq!(numbers(GameFilter { player: pair.0, opponent: pair.1, ..GameFilter::default() }), [2]);
    assert_eq!(numbers(GameFilter { state: Some(GameState::Running), ..GameFilter::default() }), [3]);
    assert_eq!(numbers(GameFilter { cause: Some("default".into()), ..GameFilter::default() }), [2]);
}

#[test]
fn all_games_are_read_with_their_moves_in_one_pass() {
    let (_directory, path) = temporary();
    let (first, second) = ([moved(1, 3, 20), moved(1, 4, 30)], [moved(2, 3, 40)]);
    let mut events = vec![opening(), started(1, 0, 1), started(2, 1, 0)];
    events.extend(first.iter().chain(&second).cloned());
    events.extend([ended(1, 0, 1, win(Color::White)), ended(2, 1, 0, SENNICHITE)]);
    let event = write(&path, &events);
    let store = Store::read(&path).unwrap();
    let read = |filter: &GameFilter| {
        let mut all = Vec::new();
        let mut keep = |game| {
            all.push(game);
            Ok::<_, StoreError>(())
        };
        store.full_games(event, filter, &mut keep).unwrap();
        all
    };
    let each = |game| store.game(event, GameId(game)).unwrap().unwrap();
    assert_eq!(read(&GameFilter::default()), [each(1), each(2)]);
    assert_eq!(each(1).moves.len(), 2);
    let drawn = GameFilter { cause: Some("sennichite".to_owned()), ..GameFilter::default() };
    assert_eq!(read(&drawn), [each(2)]);
}

#[test]
fn an_invalid_row_is_reported_with_what_is_wrong() {
    let (_directory, path) = temporary();
    let event = write(&path, &[opening(), started(1, 0, 1), moved(1, 3, 5), ended(1, 0, 1, SENNICHITE)]);
    let store = Writer::open(&path).unwrap();
    for (vandalism, complaint) in [
        ("UPDATE moves SET move = 'e2e4'", "`e2e4` is not a move in USI"),
        ("UPDATE games SET cause = 'boredom'", "`boredom` is not an ending of a game with result `draw`"),
        ("UPDATE games SET result = NULL", "game 1 has an end without a result"),
    ] {
        store.database().conn.execute(vandalism, []).unwrap();
        let error = store.replay(event, Moves::With, &mut |_| ()).unwrap_err().to_string();
        assert!(error.contains(complaint) && error.contains("league.db"), "{error}");
        store.database().conn.execute("UPDATE moves SET move = '7g7f'", []).unwrap();
    }
}

#[test]
fn a_move_of_a_game_that_never_started_is_refused() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let writer = start(store, opened.event);
    writer.append([opening(), moved(7, 1, 5)]);
    let error = writer.finish().unwrap_err().to_string();
    assert!(
        error.starts_with("2 entries were not stored: ") && error.ends_with("game 7 is not running"),
        "{error}"
    );
}

#[test]
fn a_ruling_changes_the_result_of_a_game_and_leaves_what_the_game_ended_with_on_record() {
    let (_dir, path) = temporary();
    let was = win(Color::Black);
    let operated = |number, action| {
        let (by, reason) = ("kai".to_owned(), "two engines".to_owned());
        let operation = Operation { number, by, reason, undoes: None, action };
        at(9, Entry::Operator(Box::new(operation)))
    };
    let (game, place) = (GameId(1), pairing(1, 0, 1));
    let named = NamedGame { game, black: "kuma".to_owned(), white: "taka".to_owned(), round: 1 };
    let outcome = Outcome::Draw { by: DrawBy::Ruling };
    let events = [
        opening(),
        started(1, 0, 1),
        ended(1, 0, 1, was),
        operated(1, Action::Ruled { game: named.clone(), pairing: place, was: Some(was), outcome }),
        operated(2, Action::Banned { whom: "192.0.2.0/24".parse().unwrap() }),
        operated(3, Action::Replayed { game: named, pairing: place, was: outcome }),
    ];
    let event = write(&path, &events);
    assert_eq!(replayed(&path, event, Moves::Without), events, "the stream is what happened, in its order");
    let row = Store::read(&path).unwrap().game(event, game).unwrap().unwrap().row;
    assert_eq!((row.outcome, row.replayed), (Some(outcome), true));
    assert_eq!(row.ruling.unwrap().was, was);
    let operations = Store::read(&path).unwrap().operations(event).unwrap();
    assert_eq!(operations.iter().map(|(_, operation)| operation.number).collect::<Vec<_>>(), [1, 2, 3]);
}
