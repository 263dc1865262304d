//! Databases of strangers: a database of this program with altered fields, or with altered bytes.

use crate::scratch::Scratch;
use arbitrary::{Result, Unstructured};
use journal::{EventSummary, GameFilter, Moves, Store, StoreError, Writer};
use notation::record::Format;
use records::{Export, export};
use report::{EventHistory, Report, builds, event_info, plan, plot};
use rusqlite::{Connection, types::Value};
use std::{fs, path::Path, sync::LazyLock};

/// Contents of the databases that are altered: a finished event, an open league, games on a server, three games each.
const CONTENTS: [&str; 3] = [
    include_str!("../samples/finished.sql"),
    include_str!("../samples/league.sql"),
    include_str!("../samples/floodgate.sql"),
];

/// A database that is altered.
struct Sample {
    bytes: Vec<u8>,
    /// Tables with their columns.
    columns: Vec<(String, String)>,
}

static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    CONTENTS.iter().map(|contents| sample(contents).unwrap_or_else(|fault| panic!("{fault}"))).collect()
});

fn sample(contents: &str) -> rusqlite::Result<Sample> {
    let place = Scratch::new();
    let path = place.path("sample.db");
    drop(Writer::open(&path).unwrap_or_else(|fault| panic!("{fault}")));
    let conn = Connection::open(&path)?;
    conn.pragma_update(None, "journal_mode", "delete")?;
    conn.pragma_update(None, "foreign_keys", false)?;
    conn.execute_batch(contents)?;
    let columns = conn
        .prepare(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    drop(conn);
    Ok(Sample { bytes: fs::read(&path).unwrap_or_default(), columns })
}

/// Writes the database of a finished event.
pub(super) fn finished(path: &Path) {
    fs::write(path, &SAMPLES[0].bytes).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
}

/// A database with altered fields or bytes: everything that reads one reads it or refuses it.
pub fn databases(data: &[u8]) {
    let place = Scratch::new();
    let path = place.path("altered.db");
    if make(&path, &mut Unstructured::new(data)).is_ok() {
        let _refused = look(&path, &place);
    }
}

/// Most alterations of one database.
const ALTERATIONS: usize = 16;

fn make(path: &Path, choice: &mut Unstructured<'_>) -> Result<()> {
    let sample = choice.choose_iter(SAMPLES.iter())?;
    let by_bytes = choice.ratio(1, 4)?;
    let mut bytes = sample.bytes.clone();
    if by_bytes {
        for _ in 0..ALTERATIONS {
            if choice.is_empty() {
                break;
            }
            let at = choice.choose_index(bytes.len())?;
            bytes[at] = choice.arbitrary()?;
        }
    }
    let written = fs::write(path, bytes);
    written.unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    if by_bytes {
        return Ok(());
    }
    let conn = Connection::open(path).unwrap_or_else(|fault| panic!("{fault}"));
    let careless = "PRAGMA journal_mode = memory; PRAGMA synchronous = off; PRAGMA foreign_keys = off; \
                    PRAGMA ignore_check_constraints = on; BEGIN";
    conn.execute_batch(careless).unwrap_or_else(|fault| panic!("{fault}"));
    for _ in 0..ALTERATIONS {
        if choice.is_empty() {
            break;
        }
        alter(&conn, sample, choice)?;
    }
    conn.execute_batch("COMMIT").unwrap_or_else(|fault| panic!("{fault}"));
    Ok(())
}

/// Alters a field, deletes a row, or copies the value of another row. What the schema itself refuses is left.
fn alter(conn: &Connection, sample: &Sample, choice: &mut Unstructured<'_>) -> Result<()> {
    let (table, column) = choice.choose(&sample.columns)?;
    let row = u32::from(choice.arbitrary::<u8>()?);
    let at = format!(
        "rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET {row} % (1 + (SELECT count(*) FROM {table})))"
    );
    // Tables without row ids are altered as a whole.
    let rowid = conn.prepare(&format!("SELECT rowid FROM {table}")).is_ok();
    let place = if rowid { at } else { "true".to_owned() };
    let _refused = match choice.int_in_range(0..=9)? {
        0 => conn.execute(&format!("DELETE FROM {table} WHERE {place}"), []),
        1 => conn.execute(
            &format!("UPDATE OR REPLACE {table} SET {column} = (SELECT {column} FROM {table} ORDER BY random() LIMIT 1) WHERE {place}"),
            [],
        ),
        _ => conn.execute(&format!("UPDATE OR REPLACE {table} SET {column} = ? WHERE {place}"), [value(choice)?]),
    };
    Ok(())
}

fn value(choice: &mut Unstructured<'_>) -> Result<Value> {
    const EDGES: [i64; 10] = [0, 1, -1, 255, 256, 65_536, 1 << 31, 1 << 53, i64::MAX, i64::MIN];
    Ok(match choice.int_in_range(0..=5)? {
        0 => Value::Null,
        1 => Value::Integer(*choice.choose(&EDGES)?),
        2 => Value::Integer(choice.arbitrary()?),
        3 => Value::Real(choice.arbitrary()?),
        4 => Value::Text(choice.arbitrary::<&str>()?.to_owned()),
        _ => Value::Blob(choice.arbitrary::<&[u8]>()?.to_owned()),
    })
}

/// Everything that `report`, `log`, `export` and the engines read of a database.
fn look(path: &Path, place: &Scratch) -> std::result::Result<(), StoreError> {
    let store = Store::read(path)?;
    let _accounts = store.accounts();
    for event in store.events()? {
        let _refused = look_at(&store, &event);
        let output = place.path("games").join("");
        let (db, name) = (path.to_owned(), Some(event.name));
        let _refused = export(&Export {
            db,
            event: name,
            game: vec![],
            all: true,
            format: Format::Csa3,
            output,
            access: platform::files::Access::Private,
        });
    }
    let _games = opening_book::games::games(path);
    Ok(())
}

fn look_at(store: &Store, event: &EventSummary) -> std::result::Result<(), StoreError> {
    store.replay(event.id, Moves::With, &mut |_| ())?;
    let _ratings = store.ratings(event.id);
    let _identities = store.identities(event.id);
    let _buoys = store.buoys(event.id);
    let _delivered = store.delivered(event.id, "hook");
    store.full_games(event.id, &GameFilter::default(), |game| {
        let _lines = store.transcript(event.id, game.row.game);
        let _plot = plot::evaluation(&game, Default::default(), plot::Size::Wide).standalone();
        Ok::<_, StoreError>(())
    })?;
    let Ok(stored) = plan(event) else { return Ok(()) };
    let info = event_info(event, stored);
    let mut standings = info.standings();
    store.replay(event.id, Moves::Without, &mut |stamped| standings.fold(&stamped.entry))?;
    let mut report = Report::new(&info, &standings, event.closed).with_rows(store, event)?;
    report.played_by = builds(store, event)?;
    let _texts = report::Language::ALL.map(|words| report::ReportText(&report, words).to_string());
    serde_json::to_string(&report).unwrap_or_else(|fault| panic!("the report is no JSON: {fault}"));
    if let Ok(history) = EventHistory::read(store, event, Moves::With) {
        let _pages = web::freeze(store, event, "report.html", report::Language::English);
        let _plots = [
            plot::elo(&history.report, plot::Size::Wide),
            plot::ratings(&history, plot::Size::Wide, report::Language::Japanese),
        ];
    }
    Ok(())
}
