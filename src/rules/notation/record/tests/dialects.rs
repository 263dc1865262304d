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
