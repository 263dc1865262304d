use super::*;

#[test]
fn a_csa_record_says_who_played_what_when_and_how_long() {
    let place = Place::new();
    place.played(["Asa", "Bei"], &[RESIGNED]);
    place.export(|args| args.format = Format::Csa).unwrap();
    let text = fs::read_to_string(place.path("out")).unwrap();
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
fn all_games_go_into_one_file_where_the_format_has_a_way_to_part_them() {
    let place = Place::new();
    place.played(["Asa", "Bei"], &[RESIGNED, RESIGNED, Outcome::Aborted { by: AbortBy::Stopped }]);
    place.export(|args| args.format = Format::Csa).unwrap();
    let text = fs::read_to_string(place.path("out")).unwrap();
    assert_eq!((text.matches("\n/\n").count(), text.matches("%TORYO").count()), (1, 2));
    place.export(|args| args.format = Format::Usi).unwrap();
    let line = format!("startpos moves {LINE}\n");
    assert_eq!(fs::read_to_string(place.path("out")).unwrap(), line.repeat(2));
    let told = place.export(|args| args.format = Format::Kif).unwrap_err().to_string();
    assert_eq!(told, "KIF holds one game a file and these are 2: name a directory with `--output DIR/`");
    place.export(|args| (args.format, args.game) = (Format::Kif, vec!["2".into()])).unwrap();
}

#[test]
fn packed_formats_hold_the_moves_that_an_engine_judged_in_games_with_a_result() {
    let place = Place::new();
    place.played(["Asa", "Bei"], &[RESIGNED, Outcome::Aborted { by: AbortBy::Server }]);
    for (format, size) in [(Format::Psv, 40), (Format::Hcpe, 38)] {
        let report = place.export(|args| (args.format, args.all) = (format, true)).unwrap();
        let bytes = fs::read(place.path("out")).unwrap();
        assert_eq!(bytes.len(), 5 * size, "six moves were played, one of them without a word");
        assert_eq!(i16::from_le_bytes([bytes[32], bytes[33]]), 30, "the mover's view");
        assert_eq!(report.left_out, [(GameId(2), "a game without a result".to_owned())]);
    }
}

#[test]
fn one_file_a_game_stays_in_its_directory_whatever_the_players_are_called() {
    let place = Place::new();
    place.played(["../../x\n%TORYO", "a/b\\c\0d"], &[RESIGNED, RESIGNED]);
    let output = PathBuf::from(format!("{}/", place.path("dir").display()));
    for format in [Format::Csa, Format::Kif, Format::Kifu, Format::Ki2, Format::Jkf] {
        let report = place.export(|args| (args.format, args.output) = (format, output.clone())).unwrap();
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
        fs::read_dir(place.dir.path()).unwrap().filter(|it| it.as_ref().unwrap().path().is_dir()).count(),
        1
    );
    // A name with a line end must not end the game either.
    let report = Place::new();
    let read = report.import(&[&output], |_| {}).unwrap();
    assert_eq!((read.records, read.faults), (10, vec![]));
}

#[test]
fn what_is_not_there_is_said() {
    let place = Place::new();
    assert!(matches!(place.export(|_| {}), Err(RecordsError::Store(_))));
    place.played(["Asa", "Bei"], &[RESIGNED]);
    let told = |edit: fn(&mut Export)| place.export(edit).unwrap_err().to_string();
    assert_eq!(told(|args| args.game = vec!["2".into()]), "event `league` has no game 2");
    assert_eq!(told(|args| args.game = vec!["two".into()]), "`two` names no game; write `7` or `10-20`");
    let unknown = told(|args| args.event = Some("cup".into()));
    assert!(unknown.starts_with("there is no event `cup` in `") && unknown.ends_with("; it holds `league`"));
}
