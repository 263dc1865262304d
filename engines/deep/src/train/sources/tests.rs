use super::*;
use rsshogi::{
    board::{Position, hirate_position},
    records::formats::hcpe::{HcpeGameResult, HuffmanCodedPosAndEval, encode_entry},
    types::Move,
};
use std::fs;

fn written(name: &str, bytes: &[u8]) -> (tempfile::TempDir, Source) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join(name);
    fs::write(&path, bytes).unwrap();
    (place, path.to_str().unwrap().parse().unwrap())
}

fn fault(name: &str, bytes: &[u8]) -> String {
    let (_place, source) = written(name, bytes);
    load(&[source]).unwrap_err().to_string()
}

#[test]
fn a_list_gives_what_was_played_after_the_random_plies() {
    let text = "opening_plies\tending\tmoves\tscores\n1\tresign\t7g7f 3c3d 2g2f\t- 25 -579847\n";
    let (_place, source) = written("games.tsv", text.as_bytes());
    let corpus = load(&[source]).unwrap();
    let message: Vec<_> =
        corpus.samples.iter().map(|one| (one.mv.to_usi(), one.score, one.half_points)).collect();
    assert_eq!(
        message,
        [("3c3d".to_owned(), Some(25), Some(0)), ("2g2f".to_owned(), Some(-30_000), Some(2))]
    );
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/data/teacher: 202 games of one program"]
    fn the_teachers_games_are_all_followed() {
        let corpus = load(&[Source::Games(testing::oracle("data/teacher/gpsusi_ld4.tsv"))]).unwrap();
        assert_eq!((corpus.games, corpus.broken), (202, 0));
        assert!(corpus.samples.len() > 26_000, "{}", corpus.samples.len());
    }
}

/// Two lines, packed by xz.
#[rustfmt::skip]
const PACKED_LINES: [u8; 80] = [
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21, 0x01,
    0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x18, 0x37, 0x67, 0x37, 0x66, 0x20,
    0x33, 0x63, 0x33, 0x64, 0x20, 0x32, 0x67, 0x32, 0x66, 0x0a, 0x32, 0x67, 0x32, 0x66, 0x20, 0x38,
    0x63, 0x38, 0x64, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x93, 0xde, 0x86, 0x27, 0x00, 0x01, 0x2d, 0x19,
    0x04, 0x47, 0xc7, 0x64, 0x90, 0x42, 0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
];

#[test]
fn lines_of_play_give_moves_without_a_value() {
    let plain = written("lines.txt", b"7g7f 3c3d 2g2f\n2g2f 8c8d\n");
    let packed = written("lines.txt.xz", &PACKED_LINES);
    for (_place, source) in [plain, packed] {
        let corpus = load(&[source]).unwrap();
        let moves: Vec<_> = corpus.samples.iter().map(|one| one.mv.to_usi()).collect();
        assert_eq!((corpus.games, moves.join(" ")), (2, "7g7f 3c3d 2g2f 2g2f 8c8d".to_owned()));
        assert!(corpus.samples.iter().all(|one| one.target(0.5).is_none()));
    }
}

#[test]
fn a_malformed_line_of_play_is_refused_with_its_number() {
    let of = |line: &str| fault("lines.txt", format!("7g7f\n{line}\n").as_bytes());
    assert!(of("7g7f 9z9z").contains("lines.txt`, line 2: `9z9z` is no move"), "{}", of("7g7f 9z9z"));
    assert!(of("").contains("line 2: no moves"), "{}", of(""));
    let cut = fault("lines.txt.xz", &PACKED_LINES[..40]);
    assert!(cut.contains("lines.txt.xz`"), "{cut}");
}

#[test]
fn a_line_with_an_illegal_move_is_left_out_counted_and_named() {
    let (_place, source) = written("lines.txt", b"7g7f 3c3d\n7g7f 7g7f\n8d8a\n2g2f\n");
    let corpus = load(&[source]).unwrap();
    assert_eq!((corpus.games, corpus.broken, corpus.samples.len()), (2, 2, 3));
    let first = corpus.first_fault.unwrap();
    assert!(first.ends_with("lines.txt`, line 2: illegal move `7g7f` at ply 2"), "{first}");
}

#[test]
fn psv_entries_are_read_back() {
    let entry = psv(&hirate_position(), "7g7f", -30, 1, 1);
    let (_place, source) = written("some.psv", &[entry, psv(&after("7g7f"), "3c3d", 31, 2, -1)].concat());
    let corpus = load(&[source]).unwrap();
    let message: Vec<_> =
        corpus.samples.iter().map(|one| (one.mv.to_usi(), one.score, one.half_points)).collect();
    assert_eq!(message, [("7g7f".to_owned(), Some(-30), Some(2)), ("3c3d".to_owned(), Some(31), Some(0))]);
    assert_eq!(corpus.samples[0].game, corpus.samples[1].game, "the ply goes on, so it is one game");
}

#[test]
fn hcpe_entries_are_read_back_from_the_movers_view() {
    let after = after("7g7f");
    let white =
        |result| HuffmanCodedPosAndEval::from_position(&after, 55, Move::from_usi("3c3d").unwrap(), result);
    let bytes = [HcpeGameResult::WhiteWin, HcpeGameResult::BlackWin, HcpeGameResult::Draw]
        .map(|result| encode_entry(&white(result)))
        .concat();
    let (_place, source) = written("some.hcpe", &bytes);
    let corpus = load(&[source]).unwrap();
    let points: Vec<_> = corpus.samples.iter().map(|one| (one.mv.to_usi(), one.half_points)).collect();
    assert_eq!(points, [2, 0, 1].map(|half| ("3c3d".to_owned(), Some(half))));
    assert!(corpus.samples.iter().all(|one| one.score == Some(55)));
}

#[test]
fn unreadable_sources_are_named_with_line_or_entry() {
    assert!(fault("a.psv", &[0; 41]).contains("a.psv`"));
    let illegal =
        [psv(&hirate_position(), "7g7f", 0, 1, 0), psv(&hirate_position(), "5i5a", 0, 1, 0)].concat();
    let message = fault("b.psv", &illegal);
    assert!(message.contains("b.psv`: behind byte 0: line 2"), "{message}");
    let message = fault("c.tsv", b"opening_plies\tending\tmoves\tscores\n0\tresign\t7g7f\t1 2\n");
    assert!(message.contains("line 2: 1 moves but 2 scores"), "{message}");
    let message = fault("d.db", b"SQLite format 3\0 and so on");
    assert!(
        message.contains("d.db` is a database: write its games to a file with `renmei export"),
        "{message}"
    );
    let missing = load(&[Source::Games("nowhere.psv".into())]).unwrap_err().to_string();
    assert!(missing.contains("nowhere.psv"), "{missing}");
}

fn after(mv: &str) -> Position {
    let mut position = hirate_position();
    position.init_stack();
    position.try_apply_move32(position.move32_from_usi(mv).unwrap()).unwrap();
    position
}

fn psv(position: &Position, mv: &str, score: i16, ply: u16, result: i8) -> Vec<u8> {
    let mut entry = position.to_packed_sfen().data.to_vec();
    entry.extend(score.to_le_bytes());
    entry.extend(Move::from_usi(mv).unwrap().raw().to_le_bytes());
    entry.extend(ply.to_le_bytes());
    entry.extend([result as u8, 0]);
    entry
}
