//! What a file means, and what is said of one that cannot work.

use super::*;

fn parse(floodgate: &str) -> Result<ClientConfig, String> {
    let text =
        format!("[floodgate]\nhost = \"h\"\nlogin = \"me\"\n{floodgate}\n[engine]\ncommand = \"sh\"\n");
    let environment =
        Environment { base: "/base".into(), search: vec!["/bin".into(), "/usr/bin".into()], cores: 2 };
    ClientConfig::parse(&text, Some(Path::new("/base/cup.toml")), &environment).map_err(|e| e.to_string())
}

#[test]
fn the_usual_file_logs_in_in_csa_mode_with_a_game_and_a_secret() {
    let config = parse("password = \"floodgate-300-10F,abc\"").unwrap();
    assert_eq!((config.host.as_str(), config.port), ("h", 4081));
    assert_eq!((config.login.game.as_str(), &config.login.seek), ("floodgate-300-10F", &None));
    assert_eq!((config.name.as_str(), config.database), ("cup", PathBuf::from("/base/cup.db")));
    assert_eq!((config.backoff, config.backoff_most), (Duration::from_secs(10), Duration::from_secs(900)));
    assert_eq!((config.keep_alive, config.games), (Duration::from_secs(40), None));
}

#[test]
fn the_extended_mode_asks_for_its_game() {
    let config =
        parse("mode = \"x1\"\npassword = \"abc\"\ngame = \"test-600-10\"\ncolor = \"white\"").unwrap();
    assert_eq!(config.login.seek, Some(("test-600-10".to_owned(), '-')));
}

#[test]
fn a_login_that_leads_to_no_game_is_explained() {
    for (floodgate, explained) in [
        ("password = \"secret\"", "names no game"),
        ("password = \"floodgate,secret\"", "names no game"),
        ("password = \"floodgate-300-10F\"", "not rated and never paired"),
        ("password = \"floodgate-300-10F-B,x\"", "asks for a colour"),
        ("password = \"a-1-1,x y\"", "must not contain a blank"),
        ("password = \"a-1-1,x\"\ngame = \"a-1-1\"", "goes with `mode = \"x1\"`"),
        ("mode = \"x1\"\npassword = \"x\"", "floodgate.game: is missing"),
        ("mode = \"x1\"\npassword = \"a-1-1,x\"\ngame = \"a-1-1\"", "the secret alone"),
        ("mode = \"x1\"\npassword = \"x\"\ngame = \"a\"", "three parts"),
        ("", "floodgate.password: is missing"),
    ] {
        let said = parse(floodgate).unwrap_err();
        assert!(said.contains(explained), "{floodgate}: {said}");
    }
}

#[test]
fn the_password_is_never_shown_or_stored() {
    let config = parse("password = \"floodgate-300-10F,abcxyz\"").unwrap();
    assert!(!format!("{config:?}").contains("abcxyz"));
    assert!(!serde_json::to_string(&config).unwrap().contains("abcxyz"));
}

#[test]
fn an_engine_has_no_clock_of_its_own_here() {
    let said = parse("password = \"a-1-1,x\"\n[engine.time]\nmain = \"1s\"").unwrap_err();
    assert!(
        said.contains("has no meaning here: the server says how much time there is")
            || said.contains("duplicate"),
        "{said}"
    );
}

#[test]
fn the_presets_lack_at_most_an_engine() {
    let presets = [
        include_str!("../../../configs/floodgate.toml"),
        include_str!("../../../configs/kawa.toml"),
        include_str!("../../../configs/mori.toml"),
    ];
    for text in presets {
        let environment = Environment { base: "/base".into(), search: vec!["/usr/games".into()], cores: 2 };
        let said = ClientConfig::parse(text, None, &environment).err().map(|faults| faults.to_string());
        let said = said.unwrap_or_default();
        assert!(said.is_empty() || said.starts_with("engine.command: "), "an engine may be missing: {said}");
    }
}

#[test]
fn a_record_is_named_by_its_template_and_the_names_of_strangers_leave_no_directory() {
    let files = RecordFiles {
        directory: "games".into(),
        name: "{date}/{number}-{black}".to_owned(),
        formats: vec!["csa"],
    };
    let path = files.path(&["7", "id", "../../x y", "them", "20261122"]);
    assert_eq!(path, Path::new("games/20261122/7-_.._x_y"));
}

#[test]
fn records_have_the_formats_that_the_file_names() {
    let formats = |line: &str| parse(&format!("password = \"a-1-1,x\"\n{line}"));
    let written =
        |line: &str| formats(&format!("records = \"games\"\n{line}")).unwrap().records.unwrap().formats;
    assert_eq!(written(""), ["csa"]);
    assert_eq!(written("record_formats = [\"kif\", \"jkf\", \"kif\"]"), ["jkf", "kif"]);
    assert!(formats("record_formats = [\"kif\"]").unwrap_err().contains("but no records are written"));
    assert!(
        formats("records = \"games\"\nrecord_formats = [\"pgn\"]")
            .unwrap_err()
            .contains("unknown value \"pgn\"; expected")
    );
}

#[test]
fn a_file_of_trusted_certificates_goes_with_tls() {
    use super::Trust;
    let with = |lines: &str| parse(&format!("password = \"a-1-1,x\"\n{lines}"));
    assert_eq!(with("").unwrap().tls, None);
    assert_eq!(with("tls = true").unwrap().tls, Some(Trust::System));
    assert!(
        matches!(with("tls = true\nca = \"a.pem\"").unwrap().tls, Some(Trust::File(path)) if path.ends_with("a.pem"))
    );
    assert!(
        with("ca = \"a.pem\"").unwrap_err().contains("floodgate.ca: is looked at only with `tls = true`")
    );
}
