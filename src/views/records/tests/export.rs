use super::*;

#[test]
fn a_csa_record_has_players_moves_dates_and_times() {
    let workspace = Workspace::new();
    workspace.played(["Asa", "Bei"], &[RESIGNED]);
    workspace.export(|args| args.format = Format::Csa).unwrap();
    let text = fs::read_to_string(workspace.path("out")).unwrap();
    assert_eq!(
        text,
        "V2.2\nN+Asa\nN-Bei\n$EVENT:league\n$START_TIME:2026/11/21 09:36:11\n$END_TIME:2026/11/21 09:37:01\n\
         $TIME_LIMIT:00:00+10\nPI\n+\n+7776FU\n-3334FU\n\
         +2726FU\nT3\n'** 30 -8384FU +2625FU -8485FU +6978KI -4132KI\n\
         -8384FU\nT4\n\
         +2625FU\nT5\n'** 50 -8485FU +6978KI -4132KI\n\
         -8485FU\nT6\n'** -60 +6978KI -4132KI\n\
         +6978KI\nT7\n'** 70 -4132KI\n\
         -4132KI\nT8\n'** 99993\n%TORYO\n"
    );
}

#[test]
fn all_games_go_into_one_file_where_the_format_can_separate_them() {
    let workspace = Workspace::new();
    workspace.played(["Asa", "Bei"], &[RESIGNED, RESIGNED, Outcome::Aborted { by: AbortBy::Stopped }]);
    workspace.export(|args| args.format = Format::Csa).unwrap();
    let text = fs::read_to_string(workspace.path("out")).unwrap();
    assert_eq!((text.matches("\n/\n").count(), text.matches("%TORYO").count()), (1, 2));
    workspace.export(|args| args.format = Format::Usi).unwrap();
    let line = format!("startpos moves {LINE}\n");
    assert_eq!(fs::read_to_string(workspace.path("out")).unwrap(), line.repeat(2));
    let error = workspace.export(|args| args.format = Format::Kif).unwrap_err().to_string();
    assert_eq!(
        error,
        "a .kif file holds one game, and 2 are selected: name a directory with `--output DIR/`"
    );
    workspace.export(|args| (args.format, args.game) = (Format::Kif, vec!["2".into()])).unwrap();
}

#[test]
fn packed_formats_hold_scored_moves_of_games_with_a_result() {
    let workspace = Workspace::new();
    workspace.played(["Asa", "Bei"], &[RESIGNED, Outcome::Aborted { by: AbortBy::Server }]);
    for (format, size) in [(Format::Psv, 40), (Format::Hcpe, 38)] {
        let report = workspace.export(|args| (args.format, args.all) = (format, true)).unwrap();
        let bytes = fs::read(workspace.path("out")).unwrap();
        assert_eq!(bytes.len(), 5 * size, "six moves were played, one of them without a score");
        assert_eq!(i16::from_le_bytes([bytes[32], bytes[33]]), 30, "the mover's view");
        let [left] = &report.left_out[..] else { panic!("{report:?}") };
        assert_eq!(left.to_string(), "1 game left out, a game without a result: 2");
        assert_eq!(report.to_string(), "1 game, 5 positions written, 3 moves without a score left out");
    }
}

#[test]
fn no_player_name_makes_a_file_leave_its_directory() {
    let workspace = Workspace::new();
    workspace.played(["../../x\n%TORYO", "a/b\\c\0d"], &[RESIGNED, RESIGNED]);
    let output = PathBuf::from(format!("{}/", workspace.path("dir").display()));
    for format in [Format::Csa, Format::Kif, Format::Kifu, Format::Ki2, Format::Jkf] {
        let report = workspace.export(|args| (args.format, args.output) = (format, output.clone())).unwrap();
        assert_eq!(report.games, 2);
    }
    let mut names: Vec<_> = fs::read_dir(&output)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names[0], "000001-.._.._x__TORYO-a_b_c_d.csa");
    assert_eq!(names.len(), 10);
    assert_eq!(
        fs::read_dir(workspace.dir.path()).unwrap().filter(|it| it.as_ref().unwrap().path().is_dir()).count(),
        1
    );
    // Nor must a line end in a name end the record.
    let report = Workspace::new();
    let read = report.import(&[&output], |_| {}).unwrap();
    assert_eq!((read.records, read.faults), (10, vec![]));
}

#[test]
fn a_file_of_somebody_elses_stays_where_a_record_of_that_name_would_go() {
    let workspace = Workspace::new();
    workspace.played(["asa", "bei"], &[RESIGNED, RESIGNED]);
    let output = PathBuf::from(format!("{}/", workspace.path("dir").display()));
    let export = || workspace.export(|args| (args.format, args.output) = (Format::Csa, output.clone()));
    export().unwrap();
    // Records are replaced by records.
    export().unwrap();
    let mine = output.join("000001-asa-bei.csa");
    fs::write(&mine, "my own notes\n").unwrap();
    let fault = export().unwrap_err().to_string();
    assert!(fault.contains("000001-asa-bei.csa") && fault.contains("something else than records"), "{fault}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "my own notes\n");
}

#[test]
fn a_missing_game_or_event_is_named_in_the_error() {
    let workspace = Workspace::new();
    assert!(matches!(workspace.export(|_| {}), Err(RecordsError::Store(_))));
    workspace.played(["Asa", "Bei"], &[RESIGNED]);
    let error = |edit: fn(&mut Export)| workspace.export(edit).unwrap_err().to_string();
    assert_eq!(error(|args| args.game = vec!["2".into()]), "event `league` has no game 2");
    assert_eq!(
        error(|args| args.game = vec!["two".into()]),
        "`two` is not a game number; write `7` or `10-20`"
    );
    let unknown = error(|args| args.event = Some("cup".into()));
    assert!(unknown.starts_with("there is no event `cup` in `") && unknown.ends_with("; it holds `league`"));
}

#[test]
fn a_number_that_stands_for_a_mate_leaves_as_the_engine_printed_it() {
    let workspace = Workspace::new();
    let mut game = game(0, RESIGNED);
    for stamped in &mut game {
        let Entry::Moved(moved) = &mut stamped.entry else { continue };
        let score = Some(Score::Cp(if moved.ply == 3 { 1_148_897 } else { 42 }));
        moved.thought = Some(Box::new(Thought { score, ..Thought::default() }));
    }
    workspace.played_as(["Asa", "Bei"], std::iter::once(game));
    workspace.export(|args| args.output = workspace.path("mate.csa")).unwrap();
    let record = fs::read_to_string(workspace.path("mate.csa")).unwrap();
    assert!(record.contains("** 1148897") && !record.contains("99999"), "{record}");
}

#[test]
fn a_packed_file_has_no_mate_of_unknown_length_and_no_file_is_empty() {
    let workspace = Workspace::new();
    let mut distant = game(0, RESIGNED);
    let mut silent = game(1, RESIGNED);
    for stamped in distant.iter_mut().chain(&mut silent) {
        let Entry::Moved(moved) = &mut stamped.entry else { continue };
        moved.thought = (moved.game == GameId(1)).then(|| {
            let score = if moved.ply == 5 { Score::Mate(i32::MAX) } else { Score::Cp(7) };
            Box::new(Thought { score: Some(score), ..Thought::default() })
        });
    }
    workspace.played_as(["Asa", "Bei"], [distant, silent].into_iter());
    let output = PathBuf::from(format!("{}/", workspace.path("packed").display()));
    for (format, size) in [(Format::Psv, 40), (Format::Hcpe, 38)] {
        let report = workspace.export(|args| (args.format, args.output) = (format, output.clone())).unwrap();
        let files: Vec<_> = fs::read_dir(&output).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        let bytes = fs::read(&files[0]).unwrap();
        assert_eq!(bytes.len(), 5 * size);
        assert!(bytes.chunks(size).all(|entry| i16::from_le_bytes([entry[32], entry[33]]) == 7));
        fs::remove_file(&files[0]).unwrap();
        let left: Vec<_> = report.left_out.iter().map(ToString::to_string).collect();
        let distant = "positions of 1 game left out, a mate of unknown length is no score: 1";
        assert_eq!(left, [distant, "1 game left out, no move has a score: 2"]);
        assert_eq!(report.to_string(), "1 game, 5 positions written, 2 moves without a score left out");
    }
    let file = workspace.path("none.psv");
    workspace
        .export(|args| (args.format, args.output, args.game) = (Format::Psv, file.clone(), vec!["2".into()]))
        .unwrap();
    assert!(!file.exists(), "nothing to write");
}

#[test]
fn games_that_do_not_count_are_named_when_they_are_left_out() {
    let workspace = Workspace::new();
    let stopped = Outcome::Aborted { by: AbortBy::Stopped };
    workspace.played(["Asa", "Bei"], &[RESIGNED, stopped, stopped, RESIGNED, stopped]);
    let report = workspace.export(|_| {}).unwrap();
    assert_eq!(report.games, 2);
    let left: Vec<_> = report.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(left, ["3 games left out, not counted (`--all` includes them): 2-3, 5"]);
}

#[test]
fn names_that_shift_jis_lacks_stay_apart_and_the_export_says_how() {
    let workspace = Workspace::new();
    workspace.played(["é1", "è1"], &[RESIGNED, RESIGNED]);
    let output = PathBuf::from(format!("{}/", workspace.path("kif").display()));
    let report = workspace.export(|args| (args.format, args.output) = (Format::Kif, output.clone())).unwrap();
    let notes: Vec<_> = report.notes().collect();
    assert_eq!(notes, ["2 games written in UTF-8, as Shift_JIS lacks characters: 1-2"]);
    let report = workspace.import(&[&output], |_| {}).unwrap();
    assert_eq!((report.imported, report.faults), (2, vec![]));
    let store = Store::read(workspace.db()).unwrap();
    assert_eq!(store.events().unwrap()[1].players, ["é1", "è1"]);
    let mut files: Vec<_> = fs::read_dir(&output).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.iter().all(|file| file.extension().is_some_and(|ending| ending == "kifu")), "{files:?}");
}
