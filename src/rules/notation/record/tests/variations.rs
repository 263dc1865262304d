//! What a record holds beside its moves: variations, comments, and what the reader doubts.

use super::*;

/// A game of five moves with variations at moves 2, 3 and 5, one of them inside another, as Kifu for Windows orders them.
const BRANCHED: &str = "\
手合割：平手
手数----指手---------消費時間--
*はじめに
   1 ７六歩(77)   ( 0:02/00:00:02)
   2 ３四歩(33)   ( 0:01/00:00:01)+
   3 ２六歩(27)   ( 0:01/00:00:03)+
*よくある手
   4 ８四歩(83)   ( 0:05/00:00:06)
   5 投了         ( 0:04/00:00:07)
*感想戦へ
まで4手で後手の勝ち

変化：5手
   5 ２五歩(26)   ( 0:01/00:00:08)

変化：3手
   3 ６六歩(67)   ( 0:03/00:00:05)
*角道を止める
   4 ６二銀(71)   ( 0:02/00:00:03)+
   5 中断         ( 0:00/00:00:05)
*ここまで
まで4手で中断

変化：4手
   4 ４四歩(43)   ( 0:09/00:00:10)

変化：2手
   2 ８四歩(83)   ( 0:07/00:00:07)
";

/// Each line of play of a record: the line it branches off, its moves from the start on, its ending.
fn lines(record: &GameRecord) -> Vec<(usize, String, Option<Ending>)> {
    let parent = |line: usize| line.checked_sub(1).map_or(0, |at| record.variations[at].parent);
    (0..=record.variations.len())
        .map(|line| (parent(line), record.line(line).usi_moves(), record.line(line).ending))
        .collect()
}

fn branched() -> GameRecord {
    text(BRANCHED).unwrap().remove(0)
}

#[test]
fn variations_of_kif_are_read_with_their_comments_times_and_endings() {
    let record = branched();
    let line = |parent, moves: &str, ending| (parent, moves.to_owned(), ending);
    assert_eq!(
        lines(&record),
        [
            line(0, "7g7f 3c3d 2g2f 8c8d", Some(Ending::Resign)),
            line(0, "7g7f 3c3d 2g2f 8c8d 2f2e", None),
            line(0, "7g7f 3c3d 6g6f 7a6b", Some(Ending::Interrupted)),
            line(2, "7g7f 3c3d 6g6f 4c4d", None),
            line(0, "7g7f 8c8d", None),
        ]
    );
    assert_eq!((record.comment.as_str(), record.ending_comment.as_str()), ("はじめに", "感想戦へ"));
    let stopped = &record.variations[1];
    assert_eq!(
        (stopped.plies[0].comment.as_str(), stopped.ending_comment.as_str()),
        ("角道を止める", "ここまで")
    );
    assert_eq!((stopped.plies[0].time_ms, stopped.ending_time_ms), (Some(3000), Some(0)));
    assert_eq!(record.doubts, [""; 0]);
}

#[test]
fn variations_and_the_comment_of_the_ending_survive_kif_ki2_and_jkf() {
    let record = branched();
    for format in [Format::Kif, Format::Kifu, Format::Jkf] {
        let bytes = write(&record, format).unwrap();
        assert_eq!(
            read(&bytes, None).unwrap(),
            std::slice::from_ref(&record),
            "{format:?}\n{}",
            decode::decoded(&bytes)
        );
    }
    for format in [Format::Ki2, Format::Ki2u] {
        let again = read(&write(&record, format).unwrap(), None).unwrap().remove(0);
        let known = |(parent, moves, ending): (usize, String, Option<Ending>)| (parent, moves, ending);
        assert_eq!(lines(&again).into_iter().map(known).collect::<Vec<_>>(), lines(&record), "{format:?}");
        assert_eq!(again.ending_comment, record.ending_comment);
        assert_eq!(again.variations[1].ending_comment, "ここまで");
    }
}

#[test]
fn jkf_continues_a_variation_with_one_behind_its_last_move() {
    let kif = "   1 ７六歩(77)\n   2 投了\n\n変化：1手\n   1 ２六歩(27)\n   2 ８四歩(83)\n\n変化：3手\n   3 ２五歩(26)\n";
    let record = text(kif).unwrap().remove(0);
    assert_eq!(record.variations[1].parent, 1);
    let again = read(&write(&record, Format::Jkf).unwrap(), None).unwrap().remove(0);
    assert_eq!(again.line(1).usi_moves(), "2g2f 8c8d 2f2e");
}

#[test]
fn csa_keeps_comments_that_begin_with_an_asterisk_apart_from_notes_of_engines() {
    let plies = moves("7g7f").into_iter().map(|mv| Ply { comment: "*30\n *a\n  b".into(), ..Ply::from(mv) });
    let record = GameRecord { plies: plies.collect(), ..GameRecord::default() };
    assert_eq!(read(&write(&record, Format::Csa).unwrap(), None).unwrap(), [record]);
}

#[test]
fn csa_keeps_the_comment_of_the_ending_behind_it() {
    for format in [Format::Csa, Format::Csa3] {
        let csa = String::from_utf8(write(&branched(), format).unwrap()).unwrap();
        assert!(csa.ends_with("%TORYO\nT4\n'*感想戦へ\n"), "{csa}");
        let again = text(&csa).unwrap().remove(0);
        assert_eq!((again.ending_comment.as_str(), again.plies[3].comment.as_str()), ("感想戦へ", ""));
    }
}

#[test]
fn a_variation_that_cannot_be_read_costs_itself_and_is_named() {
    let read = |branch: &str| {
        let record =
            text(&format!("   1 ７六歩(77)\n   2 ３四歩(33)\n   3 投了\n{branch}")).unwrap().remove(0);
        assert_eq!((record.usi_moves().as_str(), record.ending), ("7g7f 3c3d", Some(Ending::Resign)));
        (record.variations.len(), record.doubts)
    };
    let (kept, doubts) =
        read("\n変化：2手\n   2 ８四歩(83)\n   3 ９九銀(11)\n\n変化：2手\n   2 ４四歩(43)\n");
    assert_eq!(kept, 2);
    let reason = "line 7: the piece named does not stand on the origin: `９九銀(11)`";
    assert_eq!(doubts, [format!("the variation from move 2 is cut short: {reason}")]);
    let (kept, doubts) = read("変化：9手\n   9 ８四歩(83)\n");
    assert_eq!(
        (kept, doubts),
        (0, vec!["the variation in line 4 is left out: no move stands before move 9".to_owned()])
    );
    let (kept, doubts) = read("変化：手\n   2 ８四歩(83)\n");
    assert_eq!(
        (kept, doubts),
        (0, vec!["the variation in line 4 is left out: its first move has no number".to_owned()])
    );
}

#[test]
fn a_file_with_countless_variations_costs_a_bounded_number_of_moves() {
    let many = "変化：2手\n   2 ８四歩(83)\n".repeat(3000);
    let record = text(&format!("   1 ７六歩(77)\n   2 投了\n{many}")).unwrap().remove(0);
    assert_eq!((record.variations.len(), record.doubts.len()), (1000, 1000));
    assert!(record.doubts[0].ends_with("the record has too many variations"), "{}", record.doubts[0]);
}

#[test]
fn jkf_with_nulls_for_what_is_not_there_is_read() {
    let mv = |from: &str, to: &str, piece: &str| {
        format!(
            r#"{{"move":{{"color":null,"from":{from},"to":{to},"piece":"{piece}","same":null}},"comments":null,"time":null}}"#
        )
    };
    let squares = [("[7,7]", "[7,6]"), ("[3,3]", "[3,4]"), ("[8,8]", "[2,2]"), ("[3,1]", "[2,2]")];
    let place = |square: &str| {
        let (x, y) = (&square[1..2], &square[3..4]);
        format!(r#"{{"x":{x},"y":{y}}}"#)
    };
    let mut moves: Vec<String> =
        squares.iter().map(|(from, to)| mv(&place(from), &place(to), "FU")).collect();
    moves[2] = moves[2].replace(r#""same":null"#, r#""promote":true"#);
    moves.push(mv("null", &place("[5,5]"), "KA"));
    let jkf = format!(r#"{{"header":null,"initial":null,"moves":[{{}},{}]}}"#, moves.join(","));
    assert_eq!(text(&jkf).unwrap()[0].usi_moves(), "7g7f 3c3d 8h2b+ 3a2b B*5e");
}

#[test]
fn kif_lines_with_two_brackets_of_time_are_read_with_the_time_of_the_move() {
    let kif = "手合割：平手\n   1 ７六歩(77) (0:12/00:00:12) (00:00:12)\n   2 ３四歩(33)　( 1:05)( 0:01:05/0:01:05)+\n   3 投了 (0:03) (0:00:15)\n";
    let record = text(kif).unwrap().remove(0);
    let times: Vec<_> = record.plies.iter().map(|ply| ply.time_ms).collect();
    assert_eq!((times, record.ending_time_ms), (vec![Some(12_000), Some(65_000)], Some(3000)));
}

#[test]
fn a_draw_has_the_word_that_other_readers_know_and_comes_back_as_what_it_was() {
    let plies: Vec<Ply> = moves("7g7f 3c3d").into_iter().map(Ply::from).collect();
    for ending in [Ending::MaxMoves, Ending::Draw, Ending::Impasse] {
        let record =
            GameRecord { plies: plies.clone(), ending: Some(ending.clone()), ..GameRecord::default() };
        for format in [Format::Kifu, Format::Ki2u] {
            let written = String::from_utf8(write(&record, format).unwrap()).unwrap();
            assert!(written.contains("まで2手で持将棋\n"), "{written}");
            assert_eq!(written.contains("   3 持将棋\n"), format == Format::Kifu, "{written}");
            assert_eq!(text(&written).unwrap()[0].ending, Some(ending.clone()));
        }
    }
    let odd = text("   1 ７六歩(77)\n   2 投了\n#ending=最大手数\n").unwrap().remove(0);
    assert_eq!(odd.ending, Some(Ending::Resign), "a comment never changes the result");
}

#[test]
fn the_opening_of_a_kif_has_a_column_of_time_and_still_no_time() {
    let mut record = GameRecord { ending: Some(Ending::Resign), ..GameRecord::default() };
    record.plies = moves("7g7f 3c3d 2g2f 8c8d").into_iter().map(Ply::from).collect();
    (record.plies[2].time_ms, record.plies[3].time_ms) = (Some(0), Some(61_000));
    let written = String::from_utf8(write(&record, Format::Kifu).unwrap()).unwrap();
    assert!(written.contains("   1 ７六歩(77)   ( 0:00/00:00:00)\n"), "{written}");
    let again = text(&written).unwrap().remove(0);
    assert_eq!(again.plies, record.plies);
    record.plies.iter_mut().for_each(|ply| ply.time_ms = None);
    let written = String::from_utf8(write(&record, Format::Kifu).unwrap()).unwrap();
    assert!(written.contains("   1 ７六歩(77)\n"), "no time is known: {written}");
}

#[test]
fn a_kif_record_names_its_encoding() {
    let kif = write(&branched(), Format::Kif).unwrap();
    assert!(kif.starts_with(b"#KIF version=2.0 encoding=Shift_JIS\n"));
    assert!(write(&branched(), Format::Kifu).unwrap().starts_with(b"#KIF version=2.0 encoding=UTF-8\n"));
}

/// A game of five moves whose records end so; black is `asa` and to move is white.
fn ended(end: &str) -> GameRecord {
    text(&format!("N+asa\nN-bei\nPI\n+\n+7776FU\n-3334FU\n+2726FU\n-8384FU\n+2625FU\n{end}"))
        .unwrap()
        .remove(0)
}

#[test]
fn a_refused_declaration_is_a_loss_of_the_player_who_declared() {
    let record = ended("%KACHI\n'summary:illegal kachi:asa win:bei lose\n");
    assert_eq!(record.ending, Some(Ending::IllegalDeclaration { by: Color::WHITE }));
    assert_eq!((record.winner(), record.doubts), (Some(Color::BLACK), vec![]));
    let accepted = ended("%KACHI\n'summary:kachi:asa lose:bei win\n");
    assert_eq!((accepted.ending, accepted.doubts), (Some(Ending::Declaration), vec![]));
}

#[test]
fn a_summary_that_names_white_first_still_has_its_winner() {
    let record = ended("'summary:illegal move:bei lose:asa win\n");
    assert_eq!(record.winner(), Some(Color::BLACK));
    let record = ended("%TORYO\n'summary:toryo:bei lose:asa win\n");
    assert_eq!((record.ending, record.doubts), (Some(Ending::Resign), vec![]));
}

#[test]
fn a_summary_that_contradicts_the_sign_rules_and_is_doubted() {
    for (end, winner, doubt) in [
        ("%TORYO\n'summary:toryo:asa lose:bei win\n", Some(Color::WHITE), "`TORYO`, black wins; white wins"),
        (
            "%TORYO\n'summary:sennichite:asa draw:bei draw\n",
            None,
            "`TORYO`, black wins; `SENNICHITE`, a draw",
        ),
        ("%KACHI\n'summary:kachi:asa win:bei lose\n", Some(Color::BLACK), "`KACHI`, white wins; black wins"),
        (
            "%TIME_UP\n'summary:toryo:asa win:bei lose\n",
            Some(Color::BLACK),
            "`TIME_UP`, black wins; `TORYO`, black wins",
        ),
    ] {
        let record = ended(end);
        assert_eq!(record.winner(), winner, "{end}");
        assert_eq!(record.doubts, [format!("ending and summary contradict each other: {doubt}")]);
    }
    for end in [
        "%TORYO\n'summary:abnormal:asa win:bei lose\n",
        "%SENNICHITE\n'summary:oute_sennichite:asa lose:bei win\n",
        "%JISHOGI\n'summary:max_moves:asa draw:bei draw\n",
        "%CHUDAN\n'summary:abnormal:asa draw:bei draw\n",
    ] {
        assert_eq!(ended(end).doubts, [""; 0], "{end}");
    }
    let kif = text("   1 ７六歩(77)\n   2 投了\nまで1手で後手の勝ち\n").unwrap().remove(0);
    assert_eq!((kif.winner(), kif.doubts.len()), (Some(Color::BLACK), 1));
}

#[test]
fn the_ply_of_a_training_position_comes_back_as_it_was() {
    let plies = moves("7g7f 3c3d").into_iter().map(|mv| Ply { score: Some(5), ..Ply::from(mv) }).collect();
    let record = GameRecord { plies, ending: Some(Ending::Resign), ..GameRecord::default() };
    for (first, second, games) in
        [(0u16, 1u16, 1), (1, 2, 1), (9, 10, 1), (300, 301, 1), (0, 0, 2), (7, 3, 2)]
    {
        let mut bytes = write(&record, Format::Psv).unwrap();
        bytes[36..38].copy_from_slice(&first.to_le_bytes());
        bytes[76..78].copy_from_slice(&second.to_le_bytes());
        let read = read(&bytes, None).unwrap();
        let again: Vec<u8> = read.iter().flat_map(|record| write(record, Format::Psv).unwrap()).collect();
        assert_eq!((read.len(), again == bytes), (games, true), "{first} {second}");
    }
}
