//! Whole files: our own, and public samples as oracles.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use rsshogi::board::Position;
use rsshogi::types::{Color, Move};

const SERVER: &[u8] = include_bytes!("../testdata/server.csa");
const HANDICAP: &[u8] = include_bytes!("../testdata/handicap.kifu");
const RELATIVE: &[u8] = include_bytes!("../testdata/relative.ki2u");
const USI: &[u8] = include_bytes!("../testdata/games.usi");

const FORMATS: [Format; Format::ALL.len()] = *Format::ALL.first_chunk().unwrap();

fn text(text: &str) -> Result<Vec<GameRecord>, RecordFault> {
    read(text.as_bytes(), None)
}

fn samples() -> Vec<GameRecord> {
    [SERVER, HANDICAP, RELATIVE, USI].into_iter().flat_map(|file| read(file, None).unwrap()).collect()
}

fn moves(usi: &str) -> Vec<Move> {
    usi.split(' ').map(|word| Move::from_usi(word).unwrap()).collect()
}

/// Moves, ending and black's name of every game in a file.
fn outline(games: &[GameRecord]) -> Vec<(usize, Option<Ending>, &str)> {
    games
        .iter()
        .map(|game| (game.plies.len(), game.ending.clone(), game.black.as_deref().unwrap_or_default()))
        .collect()
}

#[test]
fn a_file_that_is_read_in_parts_holds_the_same_games_wherever_it_is_parted() {
    let packed: Vec<u8> =
        samples().iter().filter_map(|record| write(record, Format::Psv).ok()).flatten().collect();
    for bytes in [SERVER, USI, &packed[..]] {
        let whole = read(bytes, None).unwrap();
        for parted in [80, bytes.len() / 2 / 40 * 40, bytes.len()] {
            let (head, rest) = bytes.split_at(parted);
            let mut games = vec![];
            each_of(head, io::BufReader::with_capacity(7, rest), None, |_, read| {
                games.push(read.unwrap());
                ControlFlow::Continue(())
            });
            assert_eq!(games, whole, "parted at {parted}");
        }
    }
}

#[test]
fn a_game_in_whose_middle_a_file_breaks_off_is_none() {
    struct Broken;
    impl io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let (mut games, mut faults) = (0, vec![]);
    each_of(b"7g7f 3c3d\n7g7f\n2g2f", io::BufReader::new(Broken), Some(Format::Usi), |_, read| {
        match read {
            Ok(_) => games += 1,
            Err(fault) => faults.push(fault.what.to_string()),
        }
        ControlFlow::Continue(())
    });
    assert_eq!((games, faults), (2, vec!["cannot be read: the disk is gone".to_owned()]));
}

/// What is left of a record after a format has held it; see the table of the module.
fn said(record: &GameRecord, format: Format) -> GameRecord {
    let mut said = record.clone();
    let whole_seconds = |time: &mut Option<u32>| *time = time.map(|ms| ms / 1000 * 1000);
    if format != Format::Csa3 {
        whole_seconds(&mut said.ending_time_ms);
        said.plies.iter_mut().for_each(|ply| whole_seconds(&mut ply.time_ms));
    }
    match format {
        Format::Kif | Format::Kifu | Format::Jkf => {}
        Format::Csa | Format::Csa3 => said.variations.clear(),
        Format::Ki2 | Format::Ki2u => {
            said.ending_time_ms = None;
            let own = said.variations.iter_mut().flat_map(|variation| &mut variation.plies);
            said.plies.iter_mut().chain(own).for_each(|ply| ply.time_ms = None);
        }
        Format::Usi | Format::Psv | Format::Hcpe => {
            let plies = said.plies.iter().map(|ply| Ply::from(ply.mv)).collect();
            said = GameRecord { start: said.start, plies, ..GameRecord::default() };
        }
    }
    // JKF readers take an empty comment line for none.
    if format == Format::Jkf {
        said.comment = said.comment.replace("\n\n", "\n");
    }
    // Diagrams and CSA boards have no move number.
    if !matches!(format, Format::Usi | Format::Psv) {
        said.start = Position::from_sfen(&said.start).unwrap().to_sfen(Some(1));
    }
    said
}

#[test]
fn every_text_format_keeps_what_it_can_hold() {
    for (record, format) in samples().iter().flat_map(|record| FORMATS.map(|format| (record, format))) {
        if matches!(format, Format::Psv | Format::Hcpe) {
            continue;
        }
        let bytes = write(record, format).unwrap();
        let again = read(&bytes, None)
            .unwrap_or_else(|fault| panic!("{format:?}: {fault}\n{}", String::from_utf8_lossy(&bytes)));
        assert_eq!(again, [said(record, format)], "{format:?}\n{}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn binary_formats_keep_moves_scores_and_the_winner() {
    let played = "7g7f 3c3d 8h2b+ 3a2b B*5e";
    for (ending, winner) in [
        (Ending::Resign, Some(Color::BLACK)),
        (Ending::TimeUp, Some(Color::BLACK)),
        (Ending::Sennichite, None),
    ] {
        let mut record = GameRecord { ending: Some(ending), ..GameRecord::default() };
        record.plies = moves(played)
            .into_iter()
            .zip([10, -20, 30_000, -40_000, 0])
            .map(|(mv, score)| Ply { score: Some(score), ..Ply::from(mv) })
            .collect();
        for (format, size) in [(Format::Psv, 40), (Format::Hcpe, 38)] {
            let bytes = write(&record, format).unwrap();
            assert_eq!(bytes.len(), 5 * size);
            for hint in [None, Some(format), Some(Format::Kif)] {
                let [again] = &read(&bytes, hint).unwrap()[..] else { panic!("one game") };
                assert_eq!((again.usi_moves().as_str(), again.winner()), (played, winner));
                let scores: Vec<_> = again.plies.iter().filter_map(|ply| ply.score).collect();
                assert_eq!(scores, [10, -20, 30_000, -32_767, 0]);
                assert_eq!(again.ending.as_ref().unwrap().is_draw(), winner.is_none());
            }
        }
    }
}

#[test]
fn a_psv_entry_is_laid_out_as_yaneuraou_has_it() {
    let record = GameRecord {
        plies: vec![Ply { score: Some(-2), ..Ply::from(moves("7g7f")[0]) }],
        ending: Some(Ending::Resign),
        ..GameRecord::default()
    };
    let bytes = write(&record, Format::Psv).unwrap();
    // Score -2; 7g7f is 60 * 128 + 59; ply 1; black won; padding.
    assert_eq!(bytes[32..], [0xfe, 0xff, 0x3b, 0x1e, 1, 0, 1, 0]);
}

#[test]
fn a_game_without_a_result_is_no_training_data() {
    let fault = write(&samples().remove(2), Format::Psv).unwrap_err();
    assert_eq!(fault.to_string(), "line 11: a game without a result");
}

#[test]
fn every_ending_survives_where_the_format_has_a_word_for_it() {
    use Ending::*;
    let sided = [Color::BLACK, Color::WHITE]
        .into_iter()
        .flat_map(|by| [Illegal { by }, IllegalDeclaration { by }, PerpetualCheck { by }, Won { by }]);
    let plain = [
        Resign,
        TimeUp,
        Mate,
        NoMate,
        Declaration,
        Sennichite,
        MaxMoves,
        Impasse,
        Draw,
        Interrupted,
        WinByDefault,
        LossByDefault,
        Unknown("封じ手".into()),
    ];
    let endings: Vec<Ending> = sided.chain(plain).collect();
    let kinds: std::collections::HashSet<_> = endings.iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds.len(), KINDS);
    // Whoever adds an ending adds it above, and counts it.
    const KINDS: usize = 17;
    endings.iter().for_each(|ending| match ending {
        Illegal { .. } | IllegalDeclaration { .. } | PerpetualCheck { .. } | Won { .. } => {}
        Resign | TimeUp | Mate | NoMate | Declaration | Sennichite | MaxMoves | Impasse | Draw => {}
        Interrupted | WinByDefault | LossByDefault | Unknown(_) => {}
    });
    for (ending, length) in endings.iter().flat_map(|ending| [(ending, 2), (ending, 3)]) {
        let plies = moves("7g7f 3c3d 2g2f").into_iter().take(length).map(Ply::from).collect();
        let record = GameRecord { plies, ending: Some(ending.clone()), ..GameRecord::default() };
        let has_words = |format: &Format| !matches!(format, Format::Usi | Format::Psv | Format::Hcpe);
        for format in FORMATS.into_iter().filter(has_words) {
            let again = read(&write(&record, format).unwrap(), None).unwrap().remove(0);
            let expected = match (ending, format) {
                (Won { .. }, Format::Csa | Format::Csa3 | Format::Jkf) => None,
                (PerpetualCheck { by }, Format::Jkf) => Some(Illegal { by: *by }),
                (IllegalDeclaration { by }, format) if !matches!(format, Format::Csa | Format::Csa3) => {
                    Some(Illegal { by: *by })
                }
                // A summary line says who won, and a win against the side to move is taken for a resignation.
                (Won { by }, _) if *by != record.side_to_move() => Some(Resign),
                (LossByDefault, Format::Ki2 | Format::Ki2u) => Some(Resign),
                (WinByDefault, Format::Ki2 | Format::Ki2u) => Some(Won { by: record.side_to_move() }),
                _ => Some(ending.clone()),
            };
            assert_eq!(again.ending, expected, "{format:?}");
            assert!(expected.is_none() || again.winner() == record.winner(), "{ending:?} {format:?}");
        }
    }
}

#[test]
fn a_server_file_with_two_games_is_read_with_its_dialects() {
    let games = read(SERVER, Some(Format::Kif)).unwrap();
    let fouled = Ending::Illegal { by: Color::BLACK };
    assert_eq!(outline(&games), [(4, Some(Ending::MaxMoves), "alpha"), (2, Some(fouled), "gamma")]);
    let game = &games[0];
    assert_eq!(game.usi_moves(), "7g7f 3c3d 8h2b+ 3a2b");
    assert_eq!(game.ended.as_deref(), Some("2026/01/02 03:04:05"));
    let times: Vec<_> = game.plies.iter().filter_map(|ply| ply.time_ms).collect();
    assert_eq!(times, [3000, 0, 12_000, 5000]);
    assert_eq!((game.plies[0].score, &game.plies[0].pv), (Some(25), &moves("3c3d 2g2f")));
    assert_eq!((game.plies[1].score, &game.plies[1].pv), (Some(18), &moves("2g2f 4c4d")));
    assert_eq!(game.plies[2].comment, "an early exchange, with commas");
}

#[test]
fn a_handicap_game_is_read_with_its_dialects() {
    let game = read(HANDICAP, None).unwrap().remove(0);
    assert_eq!(game.start, "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1");
    assert_eq!(game.usi_moves(), "7a6b 7g7f 5c5d 4g4f 6b5c 4f4e 4a3b 4e4d 4c4d 8h4d 5c4d");
    assert_eq!((game.black.as_deref(), game.white.as_deref()), (Some("初段"), Some("師匠")));
    assert_eq!((game.event.as_deref(), game.site.as_deref()), (Some("練習対局"), Some("東京")));
    assert_eq!(game.time_control.as_deref(), Some("5400+60+0"));
    assert_eq!(game.comment, "指導対局\n\n二局目");
    assert_eq!((game.plies[2].time_ms, game.plies[2].comment.as_str()), (Some(70_000), "落ち着いた手"));
    assert_eq!((game.ending, game.ending_time_ms), (Some(Ending::Unknown("封じ手".into())), Some(30_000)));
}

#[test]
fn every_handicap_is_written_by_its_name_and_read_again() {
    for named in handicap::NAMED {
        let first = if named.is_handicap() { "3c3d" } else { "7g7f" };
        let plies = moves(first).into_iter().map(Ply::from).collect();
        let game = GameRecord { start: named.sfen.to_owned(), plies, ..GameRecord::default() };
        let written = FORMATS.map(|format| (format, write(&game, format)));
        for (format, bytes) in written {
            let Ok(bytes) = bytes else { continue }; // packed formats hold games with a result only
            let again = read(&bytes, Some(format)).unwrap().remove(0);
            assert_eq!((&again.start, &again.plies), (&game.start, &game.plies), "{} {format:?}", named.kif);
        }
        let text = |format| String::from_utf8(write(&game, format).unwrap()).unwrap();
        assert!(text(Format::Kifu).contains(&format!("手合割：{}\n", named.kif)));
        assert!(text(Format::Jkf).contains(&format!("\"preset\": \"{}\"", named.jkf)));
    }
}

#[test]
fn a_start_position_that_nobody_knows_is_a_fault_and_a_diagram_wins_over_every_name() {
    for (file, fault) in [
        (
            "手合割：十九枚落ち\n   1 ３四歩(33)\n",
            "line 1: unknown start position `十九枚落ち` without a diagram",
        ),
        (
            "先手：あ\n手合割：その他\n   1 ７六歩(77)\n",
            "line 2: unknown start position `その他` without a diagram",
        ),
        ("手合割：詰将棋\n▲７六歩\n", "line 1: unknown start position `詰将棋` without a diagram"),
        (
            r#"{"initial":{"preset":"9"},"moves":[{}]}"#,
            "line 1: unknown start position `9` without a diagram",
        ),
        (
            r#"{"initial":{"preset":"OTHER"},"moves":[{}]}"#,
            "line 1: unknown start position `OTHER` without a diagram",
        ),
        (
            r#"{"header":{"手合割":"謎"},"moves":[{}]}"#,
            "line 1: unknown start position `謎` without a diagram",
        ),
    ] {
        let said = text(file).unwrap_err().to_string();
        assert!(said.starts_with(fault), "{file}: {said}");
        assert!(said.ends_with("八枚落ち 十枚落ち"), "the known names are told: {said}");
    }
    let start = |file: &str| text(file).unwrap().remove(0).start;
    assert!(start("手合割：平手　　\n   1 ７六歩(77)\n").starts_with("lnsgkgsnl/1r5b1"));
    assert!(start("手合割：\n   1 ７六歩(77)\n").starts_with("lnsgkgsnl/1r5b1"));
    assert!(start(r#"{"header":{"手合割":"左七枚落ち"},"moves":[{}]}"#).starts_with("2sgkg3/9/"));
    let board = "|v香v桂v銀v金v玉v金v銀v桂v香|一\n".to_owned()
        + &"| ・ ・ ・ ・ ・ ・ ・ ・ ・|\n".repeat(7)
        + "| ・ ・ ・ ・ 玉 ・ ・ ・ ・|九\n";
    assert!(start(&format!("手合割：その他\n{board}   1 ４九玉(59)\n")).ends_with("/4K4 b - 1"));
    let given = start(&format!("手合割：六枚落ち\n{board}"));
    assert!(given.ends_with("/4K4 w - 1"), "in a handicap game White begins: {given}");
}

#[test]
fn the_writers_spell_what_other_programs_read() {
    let mut record = GameRecord {
        black: Some("あ".into()),
        time_control: Some("300+0+10".into()),
        ..GameRecord::default()
    };
    let [first, second] = moves("7g7f 3c3d")[..] else { panic!("two moves") };
    let ply = Ply { time_ms: Some(6123), score: Some(30), pv: vec![second], ..Ply::from(first) };
    record.plies = vec![ply, Ply { time_ms: Some(61_000), comment: "良い手".into(), ..Ply::from(second) }];
    (record.ending, record.ending_time_ms) = (Some(Ending::Resign), Some(2000));
    let spelled = |format| String::from_utf8(write(&record, format).unwrap()).unwrap();
    assert_eq!(
        spelled(Format::Csa3),
        "'CSA encoding=UTF-8\nV3.0\nN+あ\n$TIME:300+0+10\nPI\n+\n+7776FU\nT6.123\n'** 30 -3334FU\n-3334FU\nT61\n'*良い手\n%TORYO\nT2\n"
    );
    assert_eq!(
        spelled(Format::Kifu),
        "#KIF version=2.0 encoding=UTF-8\n持ち時間：5分+10秒加算\n先手：あ\n手合割：平手\n手数----指手---------消費時間--\n   \
         1 ７六歩(77)   ( 0:06/00:00:06)\n**評価値=30\n**読み筋=△３四歩\n   \
         2 ３四歩(33)   ( 1:01/00:01:01)\n*良い手\n   3 投了         ( 0:02/00:00:08)\nまで2手で後手の勝ち\n"
    );
    assert_eq!(spelled(Format::Usi), "startpos moves 7g7f 3c3d\n");
}

#[test]
fn a_refused_file_names_line_and_reason() {
    for (file, fault) in [
        ("V2.2\nPI\n+\n+7776FU\n-7776FU\n", "line 5: no such move here: `-7776FU` (illegal-move:no-piece)"),
        ("V2.2\nPI\n+\n+8822UM\n%TORYO\n", "line 4: illegal move 8h2b+ at ply 1 (illegal-move:unreachable)"),
        ("V2.2\nP1-OU\n+\n", "line 2: row with fewer than nine cells: `P1-OU`"),
        ("V2.2\nPI\n+\nWHAT\n", "line 4: unknown statement: `WHAT`"),
        ("V2.2\nPI\n+\n+7776FU\nTx\n", "line 5: no time: `Tx`"),
        ("V2.2\nPI\n+\n+7776FU\n%TORYO\n-3334FU\n", "line 6: move after the end of the game"),
        (
            "手合割：平手\n   1 ７六歩(77)\n   2 ３四歩(44)\n",
            "line 3: the piece named does not stand on the origin: `３四歩(44)`",
        ),
        (
            "   1 ７六歩(77)\n   2 ５五角(22)\n",
            "line 2: illegal move 2b5e at ply 2 (illegal-move:unreachable)",
        ),
        ("後手の持駒：駒\n", "line 1: unknown piece in a hand: `後手の持駒：駒`"),
        ("|v香|一\n", "line 1: diagram row with fewer than nine cells: `|v香|一`"),
        ("▲７六歩\n▲７五歩\n", "line 2: no such move here: `７五歩`"),
        ("startpos moves 7g7f 7g7f 3c3d", "line 1: illegal move 7g7f at ply 2 (illegal-move:no-piece)"),
        ("startpos moves 7g7f dance", "line 1: `dance` is not a move"),
        ("startposmoves 7g7f", "line 1: `startposmoves` is not a move"),
        ("startpos7g7f 3c3d", "line 1: `startpos7g7f` is not a move"),
        ("7g7f\nsfen 9/9 b - 1\n", "line 2: position `9/9 b - 1`: invalid square"),
        (
            "{\"moves\": [{},\n{\"move\": {\"from\": {\"x\": 7, \"y\": 7}, \"to\": {\"x\": 7, \"y\": 5}}}]}",
            "line 2: illegal move in entry 1",
        ),
        ("{\"moves\": [\n}", "line 2: expected value at line 2 column 1"),
        ("hello", "line 1: unknown record format"),
        ("", "line 1: unknown record format"),
    ] {
        assert_eq!(text(file).unwrap_err().to_string(), fault, "{file}");
    }
    assert_eq!(read(&[0; 80], None).unwrap_err().to_string(), "line 1: unknown record format");
}

#[test]
fn a_diagram_with_more_than_ten_pawns_in_hand_is_read_again() {
    for pawns in 1..=18 {
        let start =
            format!("4k4/9/9/9/9/9/9/9/4K4 w 2R2b{pawns}P 1").replace(" 1P", " P").replace("b1P", "bP");
        let start = Position::from_sfen(&start).unwrap().to_sfen(Some(1));
        let record =
            GameRecord { start: start.clone(), ending: Some(Ending::Interrupted), ..GameRecord::default() };
        for format in [Format::Kif, Format::Ki2u] {
            let bytes = write(&record, format).unwrap();
            assert_eq!(read(&bytes, None).map(|read| read[0].start.clone()), Ok(start.clone()), "{format:?}");
        }
    }
    let digits = "後手の持駒：なし\n|v玉 ・ ・ ・ ・ ・ ・ ・ ・|一\n".to_owned()
        + &"| ・ ・ ・ ・ ・ ・ ・ ・ ・|\n".repeat(8)
        + "先手の持駒：歩18\n";
    assert!(text(&digits).unwrap()[0].start.contains("18P"), "other programs write digits");
}

#[test]
fn an_unknown_ending_is_written_as_one_word_that_every_format_reads_again() {
    for file in [r#"{"moves":[{},{"special":"CHU,DAN X"}]}"#, "   1 ７六歩(77)\n   2 封,じ手\n"] {
        let record = text(file).unwrap().remove(0);
        let Some(Ending::Unknown(word)) = &record.ending else { panic!("{:?}", record.ending) };
        assert!(word.chars().all(|c| c.is_alphanumeric() || c == '_'), "{word}");
        for format in [Format::Csa, Format::Csa3, Format::Kifu, Format::Ki2u, Format::Jkf] {
            let again = read(&write(&record, format).unwrap(), None).unwrap().remove(0);
            assert_eq!(again.plies, record.plies, "{format:?}");
        }
    }
    let record = GameRecord { ending: Some(Ending::Unknown("76歩".into())), ..GameRecord::default() };
    let again = read(&write(&record, Format::Kifu).unwrap(), None).unwrap();
    assert_eq!(again[0].plies, [], "a word that looks like a move is no move");
    // Its bytes in CP932 are those of 同銀 in UTF-8.
    let word = String::from("蜷碁橿");
    let plies = moves("7g7f").into_iter().map(Ply::from).collect();
    let record = GameRecord { plies, ending: Some(Ending::Unknown(word)), ..GameRecord::default() };
    let again = read(&write(&record, Format::Kif).unwrap(), None).unwrap();
    assert_eq!(again[0].plies, record.plies, "nor is one that looks so in another encoding");
}

#[test]
fn an_illegal_record_is_not_written() {
    let record = GameRecord {
        plies: moves("7g7f 7g7f").into_iter().map(Ply::from).collect(),
        ..GameRecord::default()
    };
    for format in FORMATS {
        let fault =
            write(&GameRecord { ending: Some(Ending::Resign), ..record.clone() }, format).unwrap_err();
        assert_eq!(fault.to_string(), "line 2: illegal move 7g7f at ply 2", "{format:?}");
    }
}

#[test]
fn an_extension_is_only_a_hint() {
    assert_eq!(Format::from_extension("KIF"), Some(Format::Kif));
    assert_eq!(Format::from_extension("txt"), None);
    assert_eq!(read(SERVER, Some(Format::Jkf)), read(SERVER, Some(Format::Csa)));
}

proptest! {
    #[test]
    fn a_damaged_file_never_panics(
        which in 0..7usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 0..12),
    ) {
        let sample = &samples()[1];
        let mut bytes = match which {
            0 => SERVER.to_vec(),
            1 => HANDICAP.to_vec(),
            2 => RELATIVE.to_vec(),
            3 => USI.to_vec(),
            4 => write(sample, Format::Jkf).unwrap(),
            5 => write(sample, Format::Psv).unwrap(),
            _ => write(sample, Format::Hcpe).unwrap(),
        };
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
            match kind {
                _ if bytes.is_empty() => bytes.push(byte),
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ => bytes[at] = b"0123456789+-*%',/\n"[usize::from(byte) % 18],
            }
        }
        for record in read(&bytes, None).unwrap_or_default() {
            for format in FORMATS {
                if let Ok(written) = write(&record, format) {
                    prop_assert!(read(&written, Some(format)).is_ok(), "{:?}: {}", format, String::from_utf8_lossy(&written));
                }
            }
        }
    }
}

/// Spells every legal move of a position as KI2 and CSA do, and reads it again.
fn moves_are_found_again(sfen: &str) {
    use rsshogi::board::{LegalAll, MoveList, generate_moves};
    let position = Position::from_sfen(sfen).unwrap();
    let mut legal = MoveList::new();
    generate_moves::<LegalAll>(&position, &mut legal);
    for &mv in legal.iter() {
        let ki2 = kif_write::ki2_move(&position, mv);
        assert_eq!(kif_move::resolve(&position, None, &ki2), Ok(mv), "{ki2} in {sfen}");
        let csa = crate::csa::move_to_csa(&position, mv).unwrap();
        assert_eq!(crate::csa::move_from_csa(&position, &csa), Some(mv), "{csa} in {sfen}");
    }
}

#[test]
fn every_legal_move_is_found_again_from_its_ki2_and_csa_spelling() {
    let crowded = [
        "4k4/9/9/3+B+B4/9/3GGG3/3G1G3/9/4K4 b RS2N2L3Prs 1",
        "k8/3ggg3/3g1g3/9/4p4/3+p1+r3/5+r3/9/K8 w 2b2s 1",
    ];
    crowded.into_iter().for_each(moves_are_found_again);
    testing::positions().iter().for_each(|listed| moves_are_found_again(&listed.sfen));
}

/// The samples of the repository, and which game of `quickstart.usi` they are.
const SAMPLES: [(&str, usize); 8] = [
    ("000034-fairy-gps.csa", 34),
    ("000035-gps-fairy.kif", 35),
    ("000036-fairy-gps.kifu", 36),
    ("000037-gps-fairy.ki2", 37),
    ("000038-fairy-gps.ki2u", 38),
    ("000039-gps-fairy.jkf", 39),
    ("000040.psv", 40),
    ("000040.hcpe", 40),
];

#[test]
fn our_own_records_hold_the_same_games_in_every_format() {
    let directory = testing::repository().join("kifu/samples");
    let sample = |name: &str| {
        let hint = Path::new(name).extension().and_then(|it| Format::from_extension(&it.to_string_lossy()));
        read(&std::fs::read(directory.join(name)).unwrap(), hint)
            .unwrap_or_else(|fault| panic!("{name}: {fault}"))
    };
    let league = sample("quickstart.usi");
    assert_eq!(league.len(), 48);
    for (name, number) in SAMPLES {
        let games = sample(name);
        assert_eq!(games.len(), 1, "{name}");
        // Packed positions begin where the engines did, behind the opening.
        let (moves, whole) = (games[0].usi_moves(), league[number - 1].usi_moves());
        assert!(whole.ends_with(&moves) && moves.len() > 40, "{name}: {moves:?}");
        assert!(
            moves.len() == whole.len() || games[0].start != league[number - 1].start,
            "{name}: {moves:?}"
        );
        survives(&games[0], name);
    }
    for (game, number) in sample("gps-fairy.csa").iter().zip(33..) {
        assert_eq!(game.usi_moves(), league[number - 1].usi_moves(), "game {number}");
        assert_ne!(game.ending, None, "game {number}");
    }
}

fn survives(game: &GameRecord, name: &str) {
    for format in FORMATS.into_iter().filter(|format| !matches!(format, Format::Psv | Format::Hcpe)) {
        let again = read(&write(game, format).unwrap(), None).unwrap().remove(0);
        assert_eq!(again.usi_moves(), game.usi_moves(), "{name} {format:?}");
        // Packed positions know the winner alone, which the other formats have no word for.
        let unspelled = matches!(format, Format::Usi) || matches!(game.ending, Some(Ending::Won { .. }));
        assert!(again.ending == game.ending || unspelled, "{name} {format:?}");
    }
}

mod dialects;
mod memory;
mod variations;

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/data: positions of random games"]
    fn every_legal_move_of_the_oracle_is_found_again_from_its_ki2_and_csa_spelling() {
        testing::oracle_positions().iter().step_by(20).for_each(|listed| moves_are_found_again(&listed.sfen));
    }

    /// The public sample files: games in the file, plies of the main line (counted in the files), ending.
    const SHARED: [(&str, &[usize], Option<Ending>); 36] = [
        ("2005_GPS_K-SHOGI.csa", &[173], Some(Ending::Resign)),
        ("8mai.ki2", &[25], Some(Ending::Interrupted)),
        ("8mai.ki2u", &[25], Some(Ending::Interrupted)),
        ("8mai.kif", &[25], Some(Ending::Interrupted)),
        ("8mai_hirate.csa", &[25], Some(Ending::Interrupted)),
        ("9fu_komabetsu.csa", &[61], Some(Ending::Mate)),
        ("ainyuugyoku.kif", &[2], None),
        ("alphazero_elmo_12_lossy.ki2", &[30], None),
        ("chudan.kif", &[3], Some(Ending::Interrupted)),
        ("csa-sjis.csa", &[20], None),
        ("division-input.sfen", &[13, 14, 18], None),
        (
            "dr1test1test0+tu-1_aobazero_viper-300-5F+aobazero+viper+20200719201040.csa",
            &[400],
            Some(Ending::Declaration),
        ),
        ("fork.ki2", &[3], Some(Ending::Resign)),
        ("fork.kif", &[3], Some(Ending::Resign)),
        ("formal.csa", &[2], Some(Ending::Interrupted)),
        ("illegal.kif", &[2], Some(Ending::Illegal { by: Color::BLACK })),
        ("illegal_win.csa", &[2], Some(Ending::Illegal { by: Color::WHITE })),
        ("katomomo.ki2", &[113], Some(Ending::Resign)),
        ("kif-sjis.kif", &[6], Some(Ending::Resign)),
        ("kifu-utf8.kifu", &[19], None),
        ("last_comment.kif", &[3], None),
        ("max_moves_draw.csa", &[256], None),
        ("no_henka.kif", &[11], None),
        ("noeol.ki2", &[3], Some(Ending::Interrupted)),
        ("not_sennichite.csa", &[89], Some(Ending::Sennichite)),
        ("record.csa", &[6], Some(Ending::Resign)),
        ("record.jkf", &[6], Some(Ending::Resign)),
        ("record.kif", &[6], Some(Ending::Resign)),
        ("record.kifu", &[12], Some(Ending::Illegal { by: Color::BLACK })),
        ("record_000003.ki2u", &[18], None),
        ("sample01.jkf", &[2], None),
        ("shogidb2.kifu", &[110], Some(Ending::Resign)),
        ("src01.kifu", &[10], None),
        ("test_branch.kif", &[7], None),
        ("test_sfen.usi", &[3], None),
        ("wdoor+floodgate-900-0+gps_normal+gps_l+20100507120007.csa", &[158], Some(Ending::Resign)),
    ];

    /// Files that are refused, with the fault.
    const REFUSED: [(&str, &str); 3] = [
        ("README.txt", "line 1: unknown record format"),
        ("test_basic.usen", "line 1: unknown record format"),
        // Its last move takes the bishop through the knight on 7g.
        ("test_various_pieces.csa", "line 14: illegal move 8h5e at ply 11 (illegal-move:unreachable)"),
    ];

    #[test]
    #[ignore = "needs the oracles in ../shared/data/records: public records of many programs"]
    fn all_public_samples_are_read_or_refused_with_line_and_reason() {
        let mut refused = Vec::new();
        let mut seen = Vec::new();
        for file in testing::files(&testing::oracle("data/records")) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let hint =
                file.extension().and_then(|extension| Format::from_extension(&extension.to_string_lossy()));
            match read(&std::fs::read(&file).unwrap(), hint) {
                Ok(games) => {
                    let plies: Vec<usize> = games.iter().map(|game| game.plies.len()).collect();
                    println!("{name:60.60} {plies:?} {:?}", games[0].ending);
                    let known =
                        SHARED.iter().find(|(known, ..)| *known == name).unwrap_or_else(|| panic!("{name}"));
                    assert_eq!((known.1, &known.2), (&plies[..], &games[0].ending), "{name}");
                    survives(&games[0], &name);
                    seen.push(name);
                }
                Err(fault) => {
                    println!("{name:60.60} refused: {fault}");
                    refused.push((name, fault.to_string()));
                }
            }
        }
        refused.sort();
        assert_eq!(seen.len(), SHARED.len());
        assert_eq!(refused, REFUSED.map(|(name, fault)| (name.to_owned(), fault.to_owned())));
    }
}

#[test]
fn clocks_that_no_key_of_csa_can_hold_are_a_comment_that_is_read_again() {
    for clocks in ["byoyomi 12s500ms", "black byoyomi 10s, white main 5m increment 3s", "nodes 1000"] {
        let record = GameRecord {
            time_control: Some(clocks.into()),
            plies: moves("7g7f 3c3d").into_iter().map(Ply::from).collect(),
            ..GameRecord::default()
        };
        for format in [Format::Csa, Format::Csa3] {
            let csa = String::from_utf8(write(&record, format).unwrap()).unwrap();
            assert!(csa.contains(&format!("\n'clocks: {clocks}\nPI\n")), "{csa}");
            let again = text(&csa).unwrap().remove(0);
            assert_eq!((again.time_control.as_deref(), again.comment.as_str()), (Some(clocks), ""));
        }
    }
}
