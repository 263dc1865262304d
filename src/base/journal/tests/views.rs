use super::*;
use crate::Moves;
use referee::{AbortBy, DrawBy};
use rusqlite::{Connection, types::Value};

/// Three games that count, one adjourned, one running, and a bye.
fn small_league() -> (TempDir, Store) {
    let (directory, path) = temporary();
    let aborted = Outcome::Aborted { by: referee::AbortBy::Stopped };
    let timed_out = Outcome::Win { winner: Color::White, by: WinBy::Time };
    let mut replayed = ended(6, 0, 1, SENNICHITE);
    let Entry::GameEnded(inner) = &mut replayed.entry else { unreachable!() };
    inner.replayed = true;
    let mut events = vec![opening(), started(1, 0, 1), moved(1, 3, 11), moved(1, 4, 30)];
    events.extend((0..98).map(|i| moved(1, 5 + 2 * i, 12)));
    events.push(moved(1, 201, 110));
    events.extend([ended(1, 0, 1, win(Color::Black)), started(2, 1, 0), ended(2, 1, 0, SENNICHITE)]);
    events.extend([started(3, 2, 0), ended(3, 2, 0, timed_out), started(4, 1, 2), ended(4, 1, 2, aborted)]);
    events.extend([started(6, 0, 1), replayed]);
    events.push(at(9, Entry::Bye { stage: 0, round: 1, player: PlayerId(2), half_points: 2 }));
    events.push(started(5, 2, 1));
    write(&path, &events);
    (directory, Store::read(&path).unwrap())
}

/// Rows of a query, each as its values joined by ` | `.
fn rows(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(sql).unwrap();
    let columns = statement.column_count();
    let row = statement.query_map([], |row| {
        let values = (0..columns).map(|i| match row.get_unwrap(i) {
            Value::Null => "-".to_owned(),
            Value::Integer(value) => value.to_string(),
            Value::Real(value) => format!("{value:.1}"),
            Value::Text(value) => value,
            Value::Blob(_) => "blob".to_owned(),
        });
        Ok(values.collect::<Vec<_>>().join(" | "))
    });
    row.unwrap().map(Result::unwrap).collect()
}

#[test]
fn standings_count_the_games_that_count() {
    let (_directory, store) = small_league();
    let sql = "SELECT player, games, wins, losses, draws, points, bye_points, score_percent FROM standings";
    let expected = [
        "Asa | 3 | 2 | 0 | 1 | 2.5 | 0.0 | 83.3",
        "Chie | 1 | 0 | 1 | 0 | 0.0 | 1.0 | 0.0",
        "Bei | 2 | 0 | 1 | 1 | 0.5 | 0.0 | 25.0",
    ];
    assert_eq!(rows(&store.database().conn, sql), expected);
}

#[test]
fn head_to_head_lists_each_encounter_from_both_sides() {
    let (_directory, store) = small_league();
    let sql = "SELECT player, opponent, games, wins, losses, draws, score_percent FROM head_to_head";
    let expected = [
        "Asa | Bei | 2 | 1 | 0 | 1 | 75.0",
        "Asa | Chie | 1 | 1 | 0 | 0 | 100.0",
        "Bei | Asa | 2 | 0 | 1 | 1 | 25.0",
        "Chie | Asa | 1 | 0 | 1 | 0 | 0.0",
    ];
    assert_eq!(rows(&store.database().conn, sql), expected);
}

#[test]
fn games_are_listed_with_their_result_in_words() {
    let (_directory, store) = small_league();
    let sql = "SELECT number, black, white, result_in_words, state, seconds FROM game_list ORDER BY number";
    let expected = [
        "1 | Asa | Bei | Asa wins by resignation | counted | 60.5",
        "2 | Bei | Asa | draw by sennichite | counted | 60.5",
        "3 | Chie | Asa | Asa wins by time | counted | 60.5",
        "4 | Bei | Chie | not counted: stopped | adjourned | 60.5",
        "5 | Chie | Bei | running | running | -",
        "6 | Asa | Bei | draw by sennichite, played again | replayed | 60.5",
    ];
    assert_eq!(rows(&store.database().conn, sql), expected);
    let started = rows(&store.database().conn, "SELECT started FROM game_list WHERE number = 1");
    assert_eq!(started, ["2027-01-15 08:00:01.000"]);
}

#[test]
fn endings_are_counted_by_cause() {
    let (_directory, store) = small_league();
    let sql = "SELECT result, cause, games, black_wins, white_wins FROM endings ORDER BY cause";
    let expected = [
        "win | resignation | 1 | 1 | 0",
        "draw | sennichite | 2 | 0 | 0",
        "aborted | stopped | 1 | 0 | 0",
        "win | time | 1 | 0 | 1",
    ];
    assert_eq!(rows(&store.database().conn, sql), expected);
}

#[test]
fn moves_are_listed_with_players_and_latency() {
    let (_directory, store) = small_league();
    let sql =
        "SELECT player, ply, color, move, elapsed_ms, engine_ms, latency_ms, score FROM move_list LIMIT 2";
    let expected =
        ["Asa | 3 | black | 2g2f | 11.0 | 10 | 1.0 | 55", "Bei | 4 | white | 2g2f | 30.0 | 10 | 20.0 | 55"];
    assert_eq!(rows(&store.database().conn, sql), expected);
    let slowest = "SELECT player, ply, elapsed_ms FROM slowest_moves LIMIT 2";
    assert_eq!(rows(&store.database().conn, slowest), ["Asa | 201 | 110.0", "Bei | 4 | 30.0"]);
    let latencies = "SELECT player, moves, p50_ms, p90_ms, p99_ms, max_ms FROM latencies";
    let expected = ["Asa | 100 | 2.0 | 2.0 | 2.0 | 100.0", "Bei | 1 | 20.0 | 20.0 | 20.0 | 20.0"];
    assert_eq!(rows(&store.database().conn, latencies), expected);
}

#[test]
fn every_query_of_the_schema_page_runs() {
    let (_directory, store) = small_league();
    let page = include_str!("../SCHEMA.md");
    let queries: Vec<_> = page.split("```sql").skip(1).filter_map(|text| text.split("```").next()).collect();
    assert_eq!(queries.len(), 5);
    for query in queries {
        store.database().conn.prepare(query).unwrap().query([]).unwrap().next().unwrap();
    }
}

#[test]
fn the_schema_page_names_every_table_view_and_column() {
    let (_directory, store) = small_league();
    let page = include_str!("../SCHEMA.md");
    let sql = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'
         UNION SELECT c.name FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table'";
    for name in rows(&store.database().conn, sql) {
        assert!(page.contains(&format!("`{name}`")), "SCHEMA.md does not name `{name}`");
    }
}

#[test]
fn an_event_has_a_summary() {
    let (_directory, store) = small_league();
    let [event] = store.events().unwrap().try_into().unwrap();
    assert_eq!(
        (event.name.as_str(), event.kind.as_str(), event.plan.as_str()),
        ("league", "run", r#"{"a":1}"#)
    );
    assert_eq!((event.counted, event.running, event.closed), (3, 1, false));
    assert_eq!(event.players, ["Asa", "Bei", "Chie"]);
}

/// The steps by which SQLite answers a query.
fn steps(path: &std::path::Path, sql: &str) -> Vec<String> {
    let conn = rusqlite::Connection::open(path).unwrap();
    let mut plan = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let event = vec![1; plan.parameter_count()];
    let steps = plan.query_map(rusqlite::params_from_iter(event), |row| row.get::<_, String>(3)).unwrap();
    steps.collect::<Result<_, _>>().unwrap()
}

#[test]
fn counts_and_faults_of_a_large_event_are_looked_up_by_their_indexes() {
    let (_directory, path) = temporary();
    write(&path, &[opening(), started(1, 0, 1), ended(1, 0, 1, win(Color::Black))]);
    let events = steps(&path, crate::read::EVENTS);
    for index in ["games_counted", "games_running"] {
        let found = events.iter().any(|step| step.starts_with("SEARCH g") && step.contains(index));
        assert!(found, "{index}: {events:?}");
    }
    let faults = steps(&path, &crate::read::lost_by_fault());
    assert!(faults[0].contains("games_of_faults"), "{faults:?}");
    assert!(!faults.iter().any(|step| step.contains("TEMP B-TREE")), "{faults:?}");
}

/// True if an attempt came to no end of its own: what is played at its place goes on from what was there before.
fn is_no_end(by: AbortBy) -> bool {
    match by {
        AbortBy::Stopped | AbortBy::NotStarted => true,
        AbortBy::Server | AbortBy::Missing | AbortBy::Annulled | AbortBy::NoResult => false,
    }
}

#[test]
fn queries_list_the_causes_after_which_a_place_goes_on_from_what_was_there_before() {
    let quoted = |quote: &str, between: &str| {
        let words =
            AbortBy::ALL.iter().filter(|by| is_no_end(**by)).map(|by| format!("{quote}{}{quote}", by.name()));
        words.collect::<Vec<_>>().join(between)
    };
    let sql = format!("cause NOT IN ({})", quoted("'", ", "));
    let [pruned, adjourned] = [include_str!("../prune.rs"), include_str!("../adjourned.rs")];
    assert!(pruned.contains(&sql) && adjourned.contains(&sql), "{sql}");
    assert!(adjourned.contains(&format!("(None, {}) =>", quoted("\"", " | "))));
}

#[test]
fn every_ending_has_the_state_that_queries_go_by() {
    let conn = crate::database::expected().unwrap();
    let fields = "event, number, stage, index_, attempt, round, pair, opening, black, white, ended_at";
    let sql = format!(
        "INSERT INTO games ({fields}, result, cause) VALUES (1, ?1, 0, 0, 0, 1, 0, 0, 0, 1, 9, ?2, ?3)"
    );
    conn.execute_batch("PRAGMA foreign_keys = off").unwrap();
    for (outcome, number) in every_outcome().into_iter().zip(1_i64..) {
        conn.execute(&sql, (number, crate::row::result(outcome), outcome.cause())).unwrap();
        let state = "SELECT state FROM games WHERE number = ?";
        let found: String = conn.query_row(state, [number], |row| row.get(0)).unwrap();
        let state = match outcome {
            Outcome::Aborted { by: AbortBy::Stopped } => "adjourned",
            Outcome::Aborted { .. } => "aborted",
            Outcome::Win { .. } | Outcome::Draw { .. } => "counted",
        };
        assert_eq!(found, state, "{outcome}");
    }
}

/// Every ending; of wins, those of white.
fn every_outcome() -> Vec<Outcome> {
    let wins = WinBy::ALL.iter().map(|&by| Outcome::Win { winner: Color::White, by });
    let draws = DrawBy::ALL.iter().map(|&by| Outcome::Draw { by });
    wins.chain(draws).chain(AbortBy::ALL.iter().map(|&by| Outcome::Aborted { by })).collect()
}

/// Words that databases hold and this program reads back. A word that changes is another number of the schema; a further one is
/// added to the list.
#[test]
fn a_stored_word_changes_with_the_number_of_the_schema() {
    let endings = every_outcome().into_iter().map(|outcome| {
        format!(
            "{} {} {}",
            crate::row::result(outcome),
            outcome.cause(),
            serde_json::to_string(&outcome).unwrap()
        )
    });
    let kinds = crate::row::TABLES.map(|(kind, table)| format!("{kind} {table}"));
    let actions = <referee::operation::Action as strum::VariantNames>::VARIANTS;
    let words: Vec<_> = endings.chain(kinds).chain(actions.iter().map(|word| (*word).to_owned())).collect();
    let words = format!("schema {}\n{}\n", crate::SCHEMA, words.join("\n"));
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/words.txt");
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    let is_lost = |line: &str| !words.lines().any(|word| word == line);
    let is_same_schema = kept.lines().next() == words.lines().next();
    assert!(
        !(is_same_schema && kept.lines().any(is_lost)),
        "a stored word changes with `SCHEMA` in database.rs"
    );
    if std::env::var_os("RENMEI_UPDATE").is_some() {
        std::fs::write(file, &words).unwrap();
    }
    assert_eq!(words, std::fs::read_to_string(file).unwrap(), "written anew with RENMEI_UPDATE=1");
}

#[test]
fn every_cause_that_is_a_fault_is_looked_up_as_one() {
    let conn = rusqlite::Connection::open_in_memory().unwrap();
    for by in WinBy::ALL {
        let sql = format!("SELECT {} FROM (SELECT ?1 AS cause)", crate::read::LOST_BY_FAULT);
        let found: bool = conn.query_row(&sql, [by.name()], |row| row.get(0)).unwrap();
        assert_eq!(found, by.is_fault(), "{by:?}");
    }
    let (indexed, _) = crate::read::LOST_BY_FAULT.split_once(" AND ").unwrap();
    assert!(include_str!("../schema.sql").contains(indexed));
}

#[test]
fn a_replay_of_the_results_gives_the_standings_of_the_whole_log() {
    let (_directory, path) = temporary();
    let entries = [
        opening(),
        started(1, 0, 1),
        moved(1, 3, 10),
        ended(1, 0, 1, win(Color::Black)),
        started(2, 1, 2),
        ended(2, 1, 2, SENNICHITE),
        started(3, 0, 2),
    ];
    let event = write(&path, &entries);
    let store = Store::read(&path).unwrap();
    let read = |moves| {
        let mut read = vec![];
        store.replay(event, moves, &mut |stamped| read.push(stamped.clone())).unwrap();
        read
    };
    let results = read(Moves::Results);
    let expected: Vec<_> = read(Moves::Without)
        .into_iter()
        .filter(|stamped| !matches!(&stamped.entry, Entry::GameStarted(begun) if begun.game != GameId(3)))
        .collect();
    assert_eq!(results, expected);
    assert_eq!(results.iter().filter(|stamped| matches!(stamped.entry, Entry::GameEnded(_))).count(), 2);
}
