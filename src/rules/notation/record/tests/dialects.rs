//! What other programs and servers write beyond the formats.

use super::*;

fn one(record: &str) -> GameRecord {
    text(record).unwrap_or_else(|fault| panic!("{fault}: {record}")).remove(0)
}

#[test]
fn a_move_from_no_square_is_a_drop_as_denryu_sen_writes_it() {
    let game = one(
        "手合割：平手\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ２二角成(88)\n**対局 評価値 -186 読み筋 △２二銀(31) ▲６五角打(00) △３三角打(00)\n   \
                    4 同　銀(31)\n   5 ６五角打(00)\n**対局 評価値 +12\n   6 投了\n",
    );
    assert_eq!(game.usi_moves(), "7g7f 3c3d 8h2b+ 3a2b B*6e");
    assert_eq!((game.plies[2].score, &game.plies[2].pv), (Some(-186), &moves("3a2b B*6e B*3c")));
    assert_eq!((game.plies[4].score, game.plies[4].comment.as_str()), (Some(12), ""));
}

#[test]
fn an_analysis_of_shogigui_gives_its_first_candidate_and_keeps_the_others_as_a_comment() {
    let second = "**解析 0 候補2 時間 00:05 評価値 -70 読み筋 ▲６六歩(67)";
    let game = one(&format!(
        "   1 ７六歩(77)\n**解析 0 ○ 候補1 時間 00:05 深さ 20/31 評価値 -58 読み筋 △３四歩(33) ▲２六歩(27)\n{second}\n**解析 は難しい\n"
    ));
    assert_eq!((game.plies[0].score, &game.plies[0].pv), (Some(-58), &moves("3c3d 2g2f")));
    assert_eq!(game.plies[0].comment, format!("{}\n*解析 は難しい", &second[1..]));
}

#[test]
fn a_foul_that_names_its_side_agrees_with_the_summary() {
    for (word, summary, by) in [
        ("先手反則負け", "後手の反則勝ち", Color::BLACK),
        ("後手反則負け", "先手の反則勝ち", Color::WHITE),
        ("後手反則勝ち", "先手の反則負け", Color::BLACK),
    ] {
        let game = one(&format!("   1 ７六歩(77)\n   2 ３四歩(33)\n   3 {word}\nまで2手で{summary}\n"));
        assert_eq!((game.ending, game.doubts), (Some(Ending::Illegal { by }), vec![]), "{word}");
    }
}

#[test]
fn the_words_with_which_shogigui_ends_a_line_of_usi_are_endings() {
    for (word, ending) in [
        ("resign", Ending::Resign),
        ("rep_draw", Ending::Sennichite),
        ("timeout", Ending::TimeUp),
        ("break", Ending::Interrupted),
        ("draw", Ending::Draw),
        ("win", Ending::Won { by: Color::WHITE }),
    ] {
        assert_eq!(one(&format!("position startpos moves 7g7f 3c3d 1g1f {word}")).ending, Some(ending));
    }
}

#[test]
fn moves_without_a_start_begin_at_the_even_position() {
    let game = one("moves 7g7f 3c3d 2g2f");
    assert_eq!((game.start.as_str(), game.plies.len()), (GameRecord::default().start.as_str(), 3));
}

const DOJO: &str = "V2\nN+alpha\nN-beta\nTo_Move:+\n$EVENT:EARTH+nr_alpha-600-30+alpha+beta+20260126125026\n\
    I+1249,840,x2|81WS\nI-*1154,392,x2|ADR\nPI\n+\n'rating:alpha:beta\n+7776FU\nT6\n-8384FU\nT27\n";

#[test]
fn files_of_81dojo_are_read_with_headers_and_endings_of_their_own() {
    let game =
        one(&format!("{DOJO}+7675FU\nT4\n-0054FU\nT2\n'ILLEGAL_MOVE(-0054FU)\n#ILLEGAL_MOVE\n#SENTE_WIN\n"));
    assert_eq!((game.plies.len(), game.ending), (3, Some(Ending::Illegal { by: Color::WHITE })));
    assert_eq!((game.plies[2].time_ms, game.ending_time_ms), (Some(4000), Some(2000)));
    let resigned = one(&format!("{DOJO}%TORYO\n#RESIGN\n#GOTE_WIN\n"));
    assert_eq!((resigned.ending, resigned.doubts), (Some(Ending::Resign), vec![]));
    let won = one(&format!("{DOJO}#SENTE_WIN\n"));
    assert_eq!(won.ending, Some(Ending::Won { by: Color::BLACK }));
    let doubtful = one(&format!("{DOJO}%TORYO\n#SENTE_WIN\n"));
    assert_eq!(doubtful.doubts.len(), 1, "{:?}", doubtful.doubts);
}

#[test]
fn a_time_without_a_move_is_named_in_its_own_line() {
    let fault = "time without a move before it; perhaps the move stands in a comment: `T2`";
    for (lines, at) in [("'rating'+2726FU\nT2\n-3334FU\nT2\n", 5), ("+7776FU\nT1\n'rating'-3334FU\nT2\n", 7)]
    {
        let file = format!("V2.2\nPI\n+\n{lines}%TORYO\n");
        assert_eq!(text(&file).unwrap_err().to_string(), format!("line {at}: {fault}"), "{file}");
    }
}

#[test]
fn utf16_is_read_by_its_byte_order_mark() {
    let kif = "手合割：平手\n   1 ７六歩(77)\n   2 投了\n";
    let units = || "\u{feff}".encode_utf16().chain(kif.encode_utf16());
    for bytes in
        [units().flat_map(u16::to_le_bytes).collect::<Vec<_>>(), units().flat_map(u16::to_be_bytes).collect()]
    {
        assert_eq!(outline(&read(&bytes, None).unwrap()), [(1, Some(Ending::Resign), "")]);
    }
}

#[test]
fn a_mate_in_the_words_of_shogigui_is_read_and_written() {
    let of = |note: &str| one(&format!("   1 ７六歩(77)\n{note}\n   2 投了\n"));
    let written = |game: &GameRecord| String::from_utf8(write(game, Format::Kifu).unwrap()).unwrap();
    for (words, score) in [
        ("+詰", DISTANT_MATE),
        ("-詰", -DISTANT_MATE),
        ("+詰 13", DISTANT_MATE - 13),
        ("-詰 4", 4 - DISTANT_MATE),
        ("-詰5", 5 - DISTANT_MATE),
        ("詰 13手", DISTANT_MATE - 13),
    ] {
        let game = of(&format!("**対局 時間 00:05 評価値 {words} 読み筋 △３四歩(33)"));
        assert_eq!((game.plies[0].score, &game.plies[0].pv), (Some(score), &moves("3c3d")), "{words}");
        let again = one(&written(&game));
        assert_eq!((again.plies[0].score, &again.plies[0].pv), (Some(score), &moves("3c3d")), "{words}");
    }
    let note = written(&of("**解析 0 ○ 候補1 評価値 -詰 4 読み筋 △３四歩(33)"));
    assert!(note.contains("**対局 評価値 -詰 4\n**読み筋=△３四歩\n"), "{note}");
    let unread = of("**対局 評価値 詰めろ");
    assert_eq!((unread.plies[0].score, unread.plies[0].comment.as_str()), (None, "*対局 評価値 詰めろ"));
}

const TWO_MOVES: &str = "   1 ７六歩(77)\n   2 ３四歩(33)\n";

#[test]
fn an_ending_is_read_with_a_mark_and_from_a_summary_alone() {
    for (ending, expected, written) in [
        ("   3 ▲投了\n", Ending::Resign, "   3 投了\nまで2手で後手の勝ち\n"),
        ("まで2手で後手勝ち\n", Ending::Resign, "   3 投了\nまで2手で後手の勝ち\n"),
        ("まで2手で先手投了\n", Ending::Resign, "   3 投了\nまで2手で後手の勝ち\n"),
        ("まで2手で投了\n", Ending::Resign, "   3 投了\nまで2手で後手の勝ち\n"),
        (
            "まで2手で先手反則負け\n",
            Ending::Illegal { by: Color::BLACK },
            "   3 反則負け\nまで2手で先手の反則負け\n",
        ),
        (
            "まで2手で後手の反則により先手の勝ち\n",
            Ending::Illegal { by: Color::WHITE },
            "   3 反則勝ち\nまで2手で後手の反則負け\n",
        ),
        (
            "まで2手で先手の反則により後手の勝ち\n",
            Ending::Illegal { by: Color::BLACK },
            "   3 反則負け\nまで2手で先手の反則負け\n",
        ),
    ] {
        let game = one(&format!("手合割：平手\n{TWO_MOVES}{ending}"));
        assert_eq!((game.ending.as_ref(), &game.doubts[..]), (Some(&expected), &[][..]), "{ending}");
        let kif = String::from_utf8(write(&game, Format::Kifu).unwrap()).unwrap();
        assert!(kif.ends_with(&format!("{TWO_MOVES}{written}")), "{kif}");
    }
    let odd = GameRecord { ending: Some(Ending::Unknown("76歩".into())), ..one(TWO_MOVES) };
    let kif = String::from_utf8(write(&odd, Format::Kifu).unwrap()).unwrap();
    assert!(kif.ends_with(TWO_MOVES), "a summary says something or is not there: {kif}");
}

#[test]
fn hands_are_read_glued_with_commas_and_by_full_names() {
    let board = "| ・ ・ ・ ・v玉 ・ ・ ・ ・|一\n".to_owned()
        + &"| ・ ・ ・ ・ ・ ・ ・ ・ ・|\n".repeat(7)
        + "| ・ ・ ・ ・ 玉 ・ ・ ・ ・|九\n";
    for (hand, sfen) in [
        ("飛角二金", "r2bg"),
        ("飛、角二、金", "r2bg"),
        ("飛車二　角二　金四", "2r2b4g"),
        ("飛車角行金将銀将桂馬香車歩兵十八", "rbgsnl18p"),
        ("金４ 歩１０", "4g10p"),
        ("なし", "-"),
    ] {
        let game = one(&format!("後手の持駒：{hand}\n{board}先手の持駒：なし\n   1 ５八玉(59)\n"));
        assert_eq!(game.start.split(' ').nth(2), Some(sfen), "{hand}");
    }
}

#[test]
fn a_move_taken_back_costs_no_more_than_what_cannot_be_played_from_there() {
    let game = |rest: &str| one(&format!("V2.2\nPI\n+\n+7776FU\nT1\n%MATTA\nT3\n'*困った\n{rest}"));
    let goes_on = game("-3334FU\nT2\n%TORYO\nT4\n");
    assert_eq!((goes_on.usi_moves().as_str(), goes_on.ending), ("7g7f 3c3d", Some(Ending::Resign)));
    assert_eq!((goes_on.plies[1].time_ms, goes_on.ending_time_ms), (Some(2000), Some(4000)));
    assert_eq!(goes_on.plies[0].comment, "困った");
    assert_eq!(goes_on.doubts, ["a move is taken back (`%MATTA`) after move 1: the game goes on from there"]);
    let cut = game("+2726FU\nT2\n-3334FU\n%TORYO\n");
    assert_eq!((cut.usi_moves().as_str(), cut.ending), ("7g7f", Some(Ending::Unknown("MATTA".into()))));
    assert_eq!(cut.doubts, ["a move is taken back (`%MATTA`) after move 1: the rest is left out"]);
    assert_eq!(game("").doubts, [""; 0]);
}

#[test]
fn bookmarks_are_kept() {
    let kif = "#KIF version=2.0 encoding=UTF-8\n手合割：平手\n手数----指手---------消費時間--\n&初手\n   1 ７六歩(77)\n&しおり一\n*注\n   2 ３四歩(33)\n";
    let game = one(kif);
    assert_eq!(String::from_utf8(write(&game, Format::Kifu).unwrap()).unwrap(), kif);
    assert_eq!(game.plies[0].comment, "&しおり一\n注");
}

#[test]
fn a_book_of_yaneuraou_is_named_in_one_sentence() {
    let book = "#YANEURAOU-DB2016 1.00\nsfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n7g7f 8c8d 0 32 1\n2g2f none none none 3\n";
    for bytes in [book.as_bytes(), "\u{feff}#YANEURAOU-DB2016 1.00\n".as_bytes(), b"YANE-BINBOOK-V1\0\0\0"] {
        let mut read = vec![];
        each(bytes, Some(Format::Usi), |line, record| {
            read.push((line, record.unwrap_err().to_string()));
            ControlFlow::Continue(())
        });
        let what = "line 1: an opening book of YaneuraOu: moves for positions, not games; give it to an engine as its book";
        assert_eq!(read, [(1, what.to_owned())]);
    }
}

#[test]
fn a_position_of_a_url_has_underscores_for_blanks() {
    let sfen = "lnsgkgsnl/1r5b1/p1ppppppp/9/1p5P1/9/PPPPPPP1P/1B5R1/LNSGKGSNL b - 5";
    assert_eq!(one(&sfen.replace(' ', "_")).start, sfen);
    assert_eq!(one(&format!("sfen {sfen} moves 7g7f").replace(' ', "_")).usi_moves(), "7g7f");
    assert_eq!(one(&format!("{} moves 7g7f", sfen.replace(' ', "_"))).start, sfen);
}

#[test]
fn clocks_of_csa_are_those_of_the_sides() {
    for (headers, expected, written) in [
        (
            "$TIME+:450+0+5\n$TIME-:900+0+5\n",
            "black 450+0+5, white 900+0+5",
            "$TIME+:450+0+5\n$TIME-:900+0+5\n",
        ),
        (
            "$TIMET+:450+0+5\n$TIMET-:900+0+5\n",
            "black 450+0+5, white 900+0+5",
            "$TIME+:450+0+5\n$TIME-:900+0+5\n",
        ),
        ("$TIME+:450+0+5\n$TIME-:450+0+5\n", "450+0+5", "$TIME:450+0+5\n"),
        ("$TIME-:450+0+5\n", "white 450+0+5", "$TIME-:450+0+5\n"),
    ] {
        let game = one(&format!("V3.0\n{headers}PI\n+\n+7776FU\n"));
        assert_eq!(game.time_control.as_deref(), Some(expected));
        let csa = String::from_utf8(write(&game, Format::Csa3).unwrap()).unwrap();
        assert!(csa.contains(&format!("V3.0\n{written}PI\n")), "{csa}");
        let again = one(&String::from_utf8(write(&game, Format::Kifu).unwrap()).unwrap());
        assert_eq!(again.time_control.as_deref(), Some(expected));
    }
}

#[test]
fn a_record_with_characters_that_shift_jis_lacks_is_written_in_utf8_and_says_so() {
    for (format, used) in [(Format::Kif, Format::Kifu), (Format::Ki2, Format::Ki2u)] {
        let mut record = GameRecord { black: Some("é1".into()), ..one(TWO_MOVES) };
        let (bytes, written_as) = written(&record, format).unwrap();
        assert_eq!((&bytes, written_as), (&write(&record, used).unwrap(), used));
        assert_eq!(read(&bytes, Some(format)).unwrap(), [record.clone()]);
        record.black = Some("水匠".into());
        assert_eq!(written(&record, format).unwrap().1, format);
        assert!(str::from_utf8(&write(&record, format).unwrap()).is_err());
    }
}
