//! Game records of every format, alone and through a database.

use crate::scratch::Scratch;
use notation::record::{Ending, Format, GameRecord, Ply, read, write};
use records::{Export, Import, export, import};
use rsshogi::board::Position;
use std::fs;

/// Records of one file that are written again; more would only take time.
const FEW: usize = 3;

/// A file of records. Its first byte says which format its name suggests. What was read is written in every format
/// that can hold it, and what was written is read again: with the same start and moves, and as the same game when that
/// is written once more.
pub fn records(data: &[u8]) {
    let Some((hint, bytes)) = data.split_first() else { return };
    let hint = Format::ALL.get(usize::from(*hint % 16)).copied();
    for record in read(bytes, hint).unwrap_or_default().into_iter().take(FEW) {
        Format::ALL.iter().for_each(|format| trip(&record, *format));
    }
}

fn trip(record: &GameRecord, format: Format) {
    let Ok(bytes) = write(record, format) else { return };
    let shown = || String::from_utf8_lossy(&bytes).into_owned();
    let again = read(&bytes, Some(format));
    let again = again.unwrap_or_else(|fault| panic!("{format:?}: {fault}\n{}\nof {record:?}", shown()));
    // These two hold positions with a score, of games with a result.
    if matches!(format, Format::Psv | Format::Hcpe) {
        return;
    }
    let [again] = &again[..] else { panic!("{format:?}: {} games of one\n{}", again.len(), shown()) };
    assert_eq!(again.usi_moves(), record.usi_moves(), "{format:?}\n{}", shown());
    assert_eq!(board(again), board(record), "{format:?}\n{}", shown());
    let once_more = write(again, format).unwrap_or_else(|fault| panic!("{format:?}: {fault}\n{}", shown()));
    let third = read(&once_more, Some(format));
    let third = third.unwrap_or_else(|fault| panic!("{format:?}: {fault}\n{}", shown()));
    assert_eq!(third.iter().map(played).collect::<Vec<_>>(), [played(again)], "{format:?}\n{}", shown());
    assert_eq!(third.iter().map(lines).collect::<Vec<_>>(), [lines(again)], "{format:?}\n{}", shown());
}

/// The moves of each variation, from the start of the game on.
fn lines(record: &GameRecord) -> Vec<String> {
    (1..=record.variations.len()).map(|line| record.line(line).usi_moves()).collect()
}

/// What was played, without texts for people: formats trim them, and break their lines, in their own ways.
fn played(record: &GameRecord) -> GameRecord {
    let plies = record.plies.iter().map(|ply| Ply { comment: String::new(), ..ply.clone() }).collect();
    let ending = record.ending.clone().filter(|ending| !matches!(ending, Ending::Unknown(_)));
    let (start, ending_time_ms) = (record.start.clone(), record.ending_time_ms);
    GameRecord { start, plies, ending, ending_time_ms, ..GameRecord::default() }
}

/// The start position without its move number, which diagrams do not have.
fn board(record: &GameRecord) -> Option<String> {
    Position::from_sfen(&record.start).ok().map(|position| position.to_sfen(Some(1)))
}

/// A file of records that is imported: the export of its event, imported into another database, is that event.
pub fn imports(data: &[u8]) {
    let Some((name, bytes)) = data.split_first() else { return };
    let place = Scratch::new();
    let name =
        ["x.csa", "x.kif", "x.kifu", "x.ki2", "x.jkf", "x.usi", "x.sfen", "x.txt"][usize::from(*name % 8)];
    let [first, second] = ["first.db", "second.db"].map(|name| place.path(name));
    let into = |file, db| Import {
        files: vec![file],
        db: Some(db),
        verify: true,
        event: "records".to_owned(),
        rules: None,
    };
    let out = |db, output| Export {
        db,
        event: None,
        game: vec![],
        all: true,
        format: Format::Csa3,
        output,
        access: platform::files::Access::Private,
    };
    let file = place.file(name, bytes);
    // Nothing that could be read is no reason to make a database.
    let seen = import(&Import { db: None, ..into(file.clone(), first.clone()) });
    if seen.is_ok_and(|seen| seen.records == 0) {
        return;
    }
    let report = import(&into(file, first.clone())).unwrap_or_else(|fault| panic!("{fault}"));
    let _told = report.to_string();
    let [once, twice] = ["once.csa", "twice.csa"].map(|name| place.path(name));
    let exported = export(&out(first, once.clone())).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(exported.games, report.imported);
    let again = import(&into(once.clone(), second.clone())).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(again.faults, [], "{}", shown(&once));
    assert_eq!(again.imported, report.imported, "{}", shown(&once));
    export(&out(second, twice.clone())).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(shown(&once), shown(&twice));
}

fn shown(file: &std::path::Path) -> String {
    fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
