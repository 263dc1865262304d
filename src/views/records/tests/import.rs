use super::*;
use journal::{Bounds, GameFilter, Writer};

fn exported(workspace: &Workspace, event: &str, format: Format, to: &str) -> Vec<u8> {
    let output = workspace.path(to);
    workspace
        .export(|args| {
            (args.event, args.format, args.output, args.all) = (Some(event.into()), format, output, true)
        })
        .unwrap();
    fs::read(workspace.path(to)).unwrap()
}

#[test]
fn every_ending_survives_a_round_trip_through_csa() {
    for format in [Format::Csa, Format::Csa3] {
        let workspace = Workspace::new();
        workspace.played(["Asa", "Bei"], &outcomes());
        let out = exported(&workspace, "league", format, "a.csa");
        let report = workspace.import(&[&workspace.path("a.csa")], |_| {}).unwrap();
        assert_eq!((report.imported, report.faults.len()), (outcomes().len(), 0));
        let again = exported(&workspace, "import", format, "b.csa");
        assert_eq!(String::from_utf8(again).unwrap(), String::from_utf8(out).unwrap());
        let mut stored = vec![];
        let store = Store::read(workspace.db()).unwrap();
        let event = store.events().unwrap()[1].id;
        store
            .games(event, &GameFilter::default(), |row| {
                stored.push(row.outcome.unwrap());
                Ok::<_, StoreError>(())
            })
            .unwrap();
        assert_eq!(stored, outcomes());
    }
}

#[test]
fn moves_and_winner_survive_a_round_trip_through_every_format() {
    use Format::*;
    for format in [Kif, Kifu, Ki2, Ki2u, Jkf, Usi, Psv, Hcpe] {
        let workspace = Workspace::new();
        workspace.played(["Asa", "Bei"], &[RESIGNED]);
        let extension = format.extension();
        let (a, b) = (format!("a.{extension}"), format!("b.{extension}"));
        let out = exported(&workspace, "league", format, &a);
        let report = workspace.import(&[&workspace.path(&a)], |_| {}).unwrap();
        assert_eq!(report.faults, [], "{format:?}");
        assert_eq!(exported(&workspace, "import", format, &b), out, "{format:?}");
        let winner = |event: usize| {
            let store = Store::read(workspace.db()).unwrap();
            let event = store.events().unwrap()[event].id;
            store.game(event, GameId(1)).unwrap().unwrap().row.outcome.unwrap().winner()
        };
        assert!(format == Usi || winner(1) == Some(Color::White), "{format:?}");
    }
}

#[test]
fn an_imported_event_has_standings_and_moves() {
    let workspace = Workspace::new();
    let csa = "V2.2\nN+Asa\nN-Bei\n$START_TIME:2026/11/21 09:36:11\n$TIME_LIMIT:00:01+10\nPI\n+\n\
               +7776FU\nT3\n'** 20 -3334FU\n-3334FU\nT70\n%TORYO\n";
    workspace.import(&[&workspace.put("a.csa", csa)], |args| args.event = "floodgate".into()).unwrap();
    let store = Store::read(workspace.db()).unwrap();
    let event = store.events().unwrap().remove(0);
    assert_eq!((event.name.as_str(), event.kind.as_str(), event.closed), ("floodgate", "import", true));
    let game = store.game(event.id, GameId(1)).unwrap().unwrap();
    assert_eq!((game.row.black.as_str(), game.row.started_at), ("Asa", Some(STARTED)));
    let moves: Vec<_> =
        game.moves.iter().map(|(at, moved)| (*at - STARTED, moved.ply, moved.left.as_secs())).collect();
    assert_eq!(moves, [(3000, 1, 57), (73_000, 2, 0)], "one minute each, then byoyomi");
    let points: f64 = rusqlite::Connection::open(workspace.db())
        .unwrap()
        .query_row("SELECT points FROM standings WHERE player = 'Bei'", [], |row| row.get(0))
        .unwrap();
    assert!(points > 0.9);
}

#[test]
fn a_record_without_an_ending_ends_by_the_rules() {
    let workspace = Workspace::new();
    let shuffle = "5i5h 5a5b 5h5i 5b5a ".repeat(3);
    let lines = format!("{shuffle}\nsfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1 moves G*5b\n7g7f\n");
    workspace.import(&[&workspace.put("a.usi", lines)], |_| {}).unwrap();
    let store = Store::read(workspace.db()).unwrap();
    let event = store.events().unwrap().remove(0).id;
    let ended = |game| store.game(event, GameId(game)).unwrap().unwrap().row.outcome.unwrap().to_string();
    assert_eq!([1, 2, 3].map(ended), ["draw by sennichite", "black wins by mate", "not counted: no-result"]);
}

#[test]
fn no_record_is_imported_twice_from_any_file() {
    let workspace = Workspace::new();
    let file = workspace.put("a.usi", "7g7f 3c3d\n7g7f 3c3d\n2g2f\n");
    let first = workspace.import(&[&file], |_| {}).unwrap();
    assert_eq!((first.imported, first.known), (3, 0), "two equal lines are two games");
    let again = workspace.import(&[&file], |_| {}).unwrap();
    assert_eq!((again.imported, again.known), (0, 3));
    let longer = workspace.put("b.usi", "startpos moves 7g7f 3c3d\n7g7f 3c3d\n2g2f\n7g7f\n");
    let longer = workspace.import(&[&longer], |_| {}).unwrap();
    assert_eq!((longer.imported, longer.known), (1, 3));
}

#[test]
fn equal_games_are_as_many_in_files_of_their_own_as_in_one() {
    let workspace = Workspace::new();
    let forfeit = "V2.2\nN+Asa\nN-Bei\n$START_TIME:2026/11/21 09:36:11\nPI\n+\n%FUSENPAI\n";
    let files: Vec<_> = (0..24).map(|at| workspace.put(&format!("in/{at}.csa"), forfeit)).collect();
    let import = || {
        let report = workspace.import(&[&workspace.path("in"), &files[3]], |_| {}).unwrap();
        (report.files, report.imported, report.known)
    };
    assert_eq!(import(), (24, 24, 0), "a file that is named twice is read once");
    assert_eq!(import(), (24, 0, 24));
    let one = workspace.put("one.csa", [forfeit; 24].join("/\n"));
    let report = workspace.import(&[&one], |_| {}).unwrap();
    assert_eq!((report.imported, report.known), (0, 24));
}

#[test]
fn a_game_whose_moves_were_dropped_is_not_imported_again() {
    let workspace = Workspace::new();
    let file = workspace.put("a.usi", "7g7f 3c3d\n7g7f 3c3d\n2g2f\n");
    workspace.import(&[&file], |_| {}).unwrap();
    let store = Writer::open(workspace.db()).unwrap();
    let event = store.events().unwrap().remove(0).id;
    let bounds = Bounds { newest: Some(1), since: None, settled: i64::MAX };
    for game in [1, 2] {
        assert_eq!(store.prune_next(event, bounds, GameId(game - 1)).unwrap(), Some(GameId(game)));
    }
    drop(store);
    let again = workspace.import(&[&file], |_| {}).unwrap();
    assert_eq!((again.imported, again.known), (0, 3));
}

#[test]
fn clocks_come_out_as_they_came_in() {
    let workspace = Workspace::new();
    let kif = |clock: &str| {
        format!(
            "先手：Asa\n後手：Bei\n手合割：平手\n{clock}\n   1 ７六歩(77)   ( 0:01/00:00:01)\n   2 投了\n"
        )
    };
    let csa = |clock: &str| format!("V3.0\nN+Asa\nN-Bei\n{clock}\nPI\n+\n+7776FU\nT1\n%TORYO\n");
    let jkf = r#"{"header":{"持ち時間":"10分","秒読み":"30秒"},"moves":[{},{"move":{"color":0,"from":{"x":7,"y":7},"to":{"x":7,"y":6},"piece":"FU"}},{"special":"TORYO"}]}"#;
    for (name, text, written) in [
        ("a1.kifu", kif("持ち時間：10分\n秒読み：30秒"), "持ち時間：10分+30秒\n"),
        ("a2.kifu", kif("先手持ち時間：10分\n後手持ち時間：5分"), "先手持ち時間：10分\n後手持ち時間：5分\n"),
        ("a3.csa", csa("$TIME+:450+0+5\n$TIME-:900+0+5"), "$TIME+:450+0+5\n$TIME-:900+0+5\n"),
        ("a4.csa", csa("$TIMET+:450+0+5\n$TIMET-:900+0+5"), "$TIME+:450+0+5\n$TIME-:900+0+5\n"),
        ("a5.kifu", kif("持ち時間：120秒切れ負け"), "持ち時間：2分\n"),
        ("a6.kifu", kif("持ち時間：90秒、秒読み10秒"), "持ち時間：1分30秒+10秒\n"),
        ("a7.kifu", kif("持ち時間：600秒 加算5秒"), "持ち時間：10分+5秒加算\n"),
        ("a8.jkf", jkf.to_owned(), "\"持ち時間\": \"10分+30秒\""),
    ] {
        let file = workspace.put(name, text);
        workspace.import(&[&file], |args| args.event = name.into()).unwrap();
        let format = files::hint(&file).unwrap();
        let format = if format == Format::Csa { Format::Csa3 } else { format };
        let out = String::from_utf8(exported(&workspace, name, format, "out")).unwrap();
        assert!(out.contains(written), "{name}: {out}");
    }
    let left = "SELECT m.left_ms FROM moves m JOIN games g ON g.id = m.game JOIN events e ON e.id = g.event
                WHERE e.name = ?1";
    let conn = rusqlite::Connection::open(workspace.db()).unwrap();
    let left = |name: &str| conn.query_row(left, [name], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!((left("a2.kifu"), left("a3.csa")), (599_000, 454_000));
}

#[test]
fn later_imports_add_players() {
    let workspace = Workspace::new();
    let game = |black: &str| format!("V2.2\nN+{black}\nN-Bei\nPI\n+\n+7776FU\nT1\n%TORYO\n");
    workspace.import(&[&workspace.put("a.csa", game("Asa"))], |_| {}).unwrap();
    workspace.import(&[&workspace.put("b.csa", game("Chie"))], |_| {}).unwrap();
    let store = Store::read(workspace.db()).unwrap();
    let event = store.events().unwrap().remove(0);
    assert_eq!(event.players, ["Asa", "Bei", "Chie"]);
    assert_eq!(store.game(event.id, GameId(2)).unwrap().unwrap().row.black, "Chie");
}

#[test]
fn an_event_played_here_accepts_no_records() {
    let workspace = Workspace::new();
    workspace.played(["Asa", "Bei"], &[RESIGNED]);
    let error = workspace
        .import(&[&workspace.put("a.usi", "7g7f\n")], |args| args.event = "league".into())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "event `league` was played by this program; choose another event with --event for imported games"
    );
}

#[test]
fn bad_records_are_reported_by_file_and_line_and_the_rest_is_imported() {
    let workspace = Workspace::new();
    workspace.put("in/a.usi", "7g7f\n5e5d\n7g7f 8c8d 8h2b\n2g2f 4a3b\n");
    workspace.put(
        "in/deep/b.csa",
        "PI\n+\n+7776FU\n%TORYO\n/\nPI\n+\n+7775FU\n%TORYO\n/\nPI\n+\n+2726FU\n%CHUDAN\n",
    );
    workspace.put("in/notes.txt", "no record");
    workspace.put("in/c.kif", "hello");
    let report = workspace.import(&[&workspace.path("in"), &workspace.path("absent.csa")], |_| {}).unwrap();
    assert_eq!((report.files, report.records, report.imported), (4, 4, 4));
    let text = report.to_string().replace(&format!("{}/", workspace.dir.path().display()), "");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "in/a.usi:2: illegal move 5e5d at ply 1 (illegal-move:no-piece)",
            "in/a.usi:3: illegal move 8h2b at ply 3 (illegal-move:unreachable)",
            "in/c.kif:1: holds no move",
            "in/deep/b.csa:8: illegal move 7g7e at ply 1 (illegal-move:unreachable)",
            "absent.csa: cannot be read: No such file or directory (os error 2)",
            "4 records in 4 files, 4 imported, 0 there before, 3 without a result, 5 unreadable",
        ]
    );
    assert_eq!(report.exit_code(), 1);
}

/// A game with comments everywhere, a variation inside a variation, and an ending that gives no result.
const NOTED: &str = "\
#KIF version=2.0 encoding=UTF-8
先手：Asa
後手：Bei
手合割：平手
手数----指手---------消費時間--
*はじめに
   1 ７六歩(77)   ( 0:02/00:00:02)
   2 ３四歩(33)   ( 0:01/00:00:01)
*よくある手
*二行目
   3 封じ手       ( 0:09/00:00:11)
*続きは明日
まで2手で封じ手

変化：2手
   2 ８四歩(83)   ( 0:07/00:00:07)
**評価値=120
*居飛車
   3 投了         ( 0:03/00:00:05)
*早い投了
まで2手で後手の勝ち

変化：2手
   2 ４四歩(43)   ( 0:01/00:00:01)
   3 ２六歩(27)   ( 0:01/00:00:03)

変化：3手
   3 ６八銀(79)   ( 0:05/00:00:07)
";

#[test]
fn comments_variations_and_an_unknown_ending_come_out_as_they_went_in() {
    let workspace = Workspace::new();
    let report = workspace.import(&[&workspace.put("a.kifu", NOTED)], |_| {}).unwrap();
    assert_eq!((report.imported, report.without_result, report.findings), (1, 1, vec![]));
    for format in [Format::Kifu, Format::Kif, Format::Jkf] {
        let bytes = exported(&workspace, "import", format, "out");
        let again = workspace.put(&format!("again.{}", format.extension()), &bytes);
        let event = format!("{format:?}");
        workspace.import(&[&again], |args| args.event.clone_from(&event)).unwrap();
        let kifu = String::from_utf8(exported(&workspace, &event, Format::Kifu, "out")).unwrap();
        assert_eq!(kifu, NOTED, "{format:?}");
    }
    let csa = String::from_utf8(exported(&workspace, "import", Format::Csa, "out")).unwrap();
    for comment in ["+\n'*はじめに\n+7776FU", "'*よくある手\n'*二行目\n", "%封じ手\nT9\n'*続きは明日\n"]
    {
        assert!(csa.contains(comment), "{csa}");
    }
    let report =
        workspace.export(|args| (args.event, args.format) = (Some("import".into()), Format::Csa)).unwrap();
    assert_eq!(report.games, 1, "a game without a result is exported like any other");
    let left: Vec<_> = report.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(left, ["variations of 1 game left out, the format has no place for them: 1"]);
}

#[test]
fn a_record_without_a_date_becomes_a_game_without_one() {
    let workspace = Workspace::new();
    let dated = NOTED.replace("手合割", "開始日時：2026/11/21 09:36:11\n手合割");
    workspace.import(&[&workspace.put("a.kifu", NOTED), &workspace.put("b.kifu", dated)], |_| {}).unwrap();
    let sql = "SELECT started IS NULL, ended IS NULL, result_in_words FROM game_list ORDER BY number";
    let rows: Vec<(bool, bool, String)> = rusqlite::Connection::open(workspace.db())
        .unwrap()
        .prepare(sql)
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(rows, [(true, true, "no result".to_owned()), (false, false, "no result".to_owned())]);
    let store = Store::read(workspace.db()).unwrap();
    let event = store.events().unwrap().remove(0);
    let verified = store.verify(event.id, None).unwrap();
    assert_eq!((verified.alterations, verified.sealed_games), (vec![], 2));
    let game = store.game(event.id, GameId(1)).unwrap().unwrap();
    assert!(game.row.is_undated());
    let at: Vec<_> = game.moves.iter().map(|(at, _)| *at).collect();
    assert_eq!(at, [2000, 3000], "the moves count from the start");
}

#[test]
fn of_countless_faults_of_a_file_the_first_are_reported_and_the_others_counted() {
    let workspace = Workspace::new();
    let file = workspace.put("a.usi", format!("7g7f\n{}", "7g7e\n".repeat(20_000)));
    let report = workspace.import(&[&file], |args| args.db = None).unwrap();
    assert_eq!((report.records, report.faults.len()), (1, FAULTS));
    assert_eq!(report.more_faults, [MoreFaults { file, faults: 19_900, illegal: 19_900 }]);
    let text = report.to_string();
    assert!(
        text.ends_with(".usi: 19900 more faulty records\n1 record in 1 file, 20000 unreadable\n"),
        "{text}"
    );
    assert_eq!(text.lines().count(), FAULTS + 2);
}

#[test]
fn a_record_that_contradicts_itself_is_reported_by_every_import() {
    let workspace = Workspace::new();
    let game = "N+Asa\nN-Bei\nPI\n+\n+7776FU\n%TORYO\n'summary:toryo:Bei win:Asa lose\n";
    let file = workspace.put("a.csa", game);
    let report = workspace.import(&[&file], |_| {}).unwrap();
    let text = "ending and summary contradict each other: `TORYO`, black wins; white wins";
    assert_eq!(report.findings.iter().map(|finding| finding.text.as_str()).collect::<Vec<_>>(), [text]);
    assert_eq!(report.exit_code(), 0);
    let report = workspace.import(&[&file], |args| (args.db, args.verify) = (None, true)).unwrap();
    assert_eq!((report.findings.len(), report.exit_code()), (1, 20));
}

#[test]
fn a_mate_of_unknown_length_stays_one() {
    let workspace = Workspace::new();
    let game = "N+Asa\nN-Bei\nPI\n+\n+7776FU\nT1\n'** 100000\n-3334FU\nT1\n'** -100000\n+2726FU\nT1\n'** 99993\n%TORYO\n";
    workspace.import(&[&workspace.put("a.csa", game)], |_| {}).unwrap();
    let sql = "SELECT score FROM move_list ORDER BY ply";
    let scores: Vec<String> = rusqlite::Connection::open(workspace.db())
        .unwrap()
        .prepare(sql)
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(scores, ["mate +", "mate +", "mate 7"]);
    let csa = String::from_utf8(exported(&workspace, "import", Format::Csa, "out")).unwrap();
    assert_eq!(csa.replace("V2.2\n", ""), game);
    assert_eq!(
        exported(&workspace, "import", Format::Psv, "a.psv").len(),
        40,
        "it is no score of a position"
    );
}

#[test]
fn a_mate_counted_in_another_way_leaves_with_its_number() {
    let workspace = Workspace::new();
    let game = "N+Asa\nN-Bei\nPI\n+\n+7776FU\nT1\n'** 1148897\n-3334FU\nT1\n'** -1148897\n%TORYO\n";
    workspace.import(&[&workspace.put("a.csa", game)], |_| {}).unwrap();
    let csa = String::from_utf8(exported(&workspace, "import", Format::Csa, "out")).unwrap();
    assert_eq!(csa.replace("V2.2\n", ""), game);
}

#[test]
fn a_file_in_utf16_is_imported_like_any_other() {
    let workspace = Workspace::new();
    let kif = "\u{feff}先手：朝\n後手：米\n   1 ７六歩(77)\n   2 投了\n";
    let bytes: Vec<_> = kif.encode_utf16().flat_map(u16::to_le_bytes).collect();
    workspace.import(&[&workspace.put("a.kif", bytes)], |_| {}).unwrap();
    let usi = String::from_utf8(exported(&workspace, "import", Format::Usi, "out")).unwrap();
    assert_eq!(usi, "startpos moves 7g7f\n");
}

#[test]
fn the_ply_of_training_positions_comes_back_as_it_was() {
    let workspace = Workspace::new();
    workspace.played(["Asa", "Bei"], &[RESIGNED]);
    let bytes = exported(&workspace, "league", Format::Psv, "a.psv");
    for first in [0_u16, 57] {
        let mut entry = bytes[..40].to_vec();
        entry[36..38].copy_from_slice(&first.to_le_bytes());
        let event = format!("from {first}");
        let file = workspace.put("b.psv", &entry);
        workspace.import(&[&file], |args| args.event.clone_from(&event)).unwrap();
        assert_eq!(exported(&workspace, &event, Format::Psv, "out"), entry, "{first}");
    }
}

#[test]
fn the_samples_are_imported_without_a_fault() {
    let workspace = Workspace::new();
    let report = workspace.import(&[&samples()], |args| args.verify = true).unwrap();
    assert_eq!(report.records, 64);
    assert_eq!((report.faults, report.findings), (vec![], vec![]));
    assert_eq!(report.imported + report.known, report.records);
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/data/records: public records of many programs"]
    fn public_records_are_imported_or_reported_with_line_and_reason() {
        let workspace = Workspace::new();
        let report =
            workspace.import(&[&testing::oracle("data/records")], |args| args.verify = true).unwrap();
        eprintln!("{report}");
        assert!(report.imported >= 35, "{report}");
        assert!(report.faults.iter().all(|fault| fault.line.is_some()), "{report}");
    }
}

#[test]
fn a_file_larger_than_what_is_read_of_it_at_once_is_imported_to_its_end() {
    let workspace = Workspace::new();
    let comment = format!("'{}\n", "x".repeat(1 << 20));
    let game = |name: &str| format!("N+{name}\nN-B\nPI\n+\n+7776FU\n%TORYO\n/\n");
    let text = [game("A"), format!("{comment}/\n").repeat(9), game("Z")].concat();
    let report = workspace.import(&[&workspace.put("large.csa", text)], |_| {}).unwrap();
    assert_eq!((report.records, report.imported, report.faults.len()), (2, 2, 0));
}

#[test]
fn an_import_that_is_stopped_keeps_what_it_has_and_another_goes_on() {
    let workspace = Workspace::new();
    let game = |at: u32| format!("N+A{at}\nN-B\nPI\n+\n+7776FU\n%TORYO\n");
    let file = workspace.put("games.csa", (0..50).map(game).collect::<Vec<_>>().join("/\n"));
    let db = Some(workspace.db());
    let args = Import { files: vec![file], db, verify: false, event: "import".to_owned(), rules: None };
    let never = import_while(&args, &|| false).unwrap();
    assert_eq!((never.records, never.imported), (0, 0));
    assert!(!workspace.db().exists(), "nothing was begun");
    // Behind the survey, which asks once for each record.
    let asked = std::cell::Cell::new(0);
    let wanted = || asked.replace(asked.get() + 1) < 60;
    let stopped = import_while(&args, &wanted).unwrap();
    assert!((1..50).contains(&stopped.imported), "{}", stopped.imported);
    let rest = import(&args).unwrap();
    assert_eq!((rest.known, rest.imported), (stopped.imported, 50 - stopped.imported));
}

#[cfg(unix)]
#[test]
fn the_records_of_a_pipe_are_read_once_and_imported() {
    use std::{io::Write, os::fd::AsRawFd};
    let workspace = Workspace::new();
    workspace.played(["Asa", "Bei"], &outcomes());
    let out = exported(&workspace, "league", Format::Csa, "a.csa");
    let (reader, mut writer) = std::io::pipe().unwrap();
    std::thread::spawn(move || writer.write_all(&out).unwrap());
    let named = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
    let report = workspace.import(&[&named], |_| {}).unwrap();
    assert_eq!((report.imported, report.faults.len()), (outcomes().len(), 0));
}
