//! First steps of a new user, with only the installed programs.

use crate::support::{Desk, program};
use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

/// The programs as `cargo install` leaves them: in one directory that is not on the PATH.
fn installed(desk: &Desk) -> std::path::PathBuf {
    let bin = desk.path("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["renmei", "renmei-random", "renmei-pairwise"] {
        let from = Path::new(env!("CARGO_BIN_EXE_renmei")).with_file_name(name);
        if fs::hard_link(&from, bin.join(name)).is_err() {
            fs::copy(&from, bin.join(name)).unwrap();
        }
    }
    bin.join("renmei")
}

fn run(program: &Path, dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).env("PATH", "/nowhere").stdin(Stdio::null());
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
fn the_quickstart_preset_is_played_by_the_installed_programs_in_any_directory() {
    let desk = Desk::new();
    let renmei = installed(&desk);
    let elsewhere = desk.path("somewhere else");
    fs::create_dir(&elsewhere).unwrap();
    let written = run(&renmei, &elsewhere, &["init", "quickstart"]);
    assert_eq!(text(&written), "wrote quickstart.toml\nto play it: renmei run quickstart.toml\n");
    // Other engines installed on the machine would take minutes.
    let config = elsewhere.join("quickstart.toml");
    let preset = fs::read_to_string(&config).unwrap();
    let (ours, _) = preset.split_once("[[engines]]\nname = \"fairy").unwrap();
    fs::write(&config, ours.replace("games = 8 ", "games = 2 ").replace("nodes 200", "nodes 20")).unwrap();
    let played = run(&renmei, &elsewhere, &["run", "quickstart.toml", "--quiet", "--oversubscribe"]);
    assert_eq!(played.status.code(), Some(0), "{}", text(&played));
    let standings = String::from_utf8_lossy(&played.stdout);
    for player in ["uniform", "greedy", "pairwise"] {
        assert!(standings.contains(player), "{standings}");
    }
    assert!(elsewhere.join("quickstart.db").exists());
}

const PRESETS: [&str; 16] = [
    "quickstart",
    "sprt",
    "machines",
    "gauntlet",
    "denou",
    "learn",
    "tune",
    "attribute",
    "floodgate-time",
    "denryu",
    "wcsc",
    "sdt",
    "floodgate-host",
    "floodgate",
    "serve",
    "league",
];

#[test]
fn the_presets_of_the_laboratory_say_how_they_are_played() {
    let desk = Desk::new();
    for command in ["tune", "attribute"] {
        let said = text(&desk.renmei(&["init", command]));
        assert!(said.contains(&format!("to play it: renmei {command} {command}.toml")), "{said}");
    }
    // An engine that was built without these options is named with the first one that it lacks.
    let refused = text(&desk.renmei(&["tune", "tune.toml"]));
    assert!(refused.contains("the engine has no option `FutilityMargin`"), "{refused}");
}

#[test]
fn init_without_a_name_lists_every_preset() {
    let desk = Desk::new();
    let listed = String::from_utf8(desk.renmei(&["init"]).stdout).unwrap();
    for preset in PRESETS {
        let line = listed.lines().find(|line| line.split_whitespace().next() == Some(preset));
        assert!(line.is_some_and(|line| line.len() > preset.len() + 20), "{preset} in {listed}");
    }
    let unknown = desk.renmei(&["init", "quikstart"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown).contains("'quickstart'"), "{}", text(&unknown));
}

#[test]
fn every_preset_is_complete_and_refers_to_no_file_of_the_repository() {
    for preset in PRESETS {
        let desk = Desk::new();
        let written = desk.renmei(&["init", preset]);
        assert_eq!(written.status.code(), Some(0), "{}", text(&written));
        let files: Vec<_> =
            fs::read_dir(desk.dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let expected = match preset {
            "league" => 3,
            "denryu" => 2,
            _ => 1,
        };
        assert_eq!(files.len(), expected);
        assert!(desk.path(&format!("{preset}.toml")).exists());
        for file in files {
            let text = fs::read_to_string(file).unwrap();
            assert!(!text.contains("configs/") && !text.contains("kifu/"), "{text}");
        }
    }
}

#[test]
fn init_overwrites_only_with_force_and_otherwise_writes_nothing() {
    let desk = Desk::new();
    desk.write("mori.toml", "mine");
    let refused = desk.renmei(&["init", "league"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused).contains("`mori.toml` exists in this directory"), "{}", text(&refused));
    assert!(!desk.path("league.toml").exists());
    assert_eq!(fs::read_to_string(desk.path("mori.toml")).unwrap(), "mine");
    assert_eq!(desk.renmei(&["init", "league", "--force"]).status.code(), Some(0));
    assert!(fs::read_to_string(desk.path("mori.toml")).unwrap().contains("gpsusi"));
}

#[test]
fn built_in_openings_are_used_in_a_match_and_compared_by_contents_on_resume() {
    let desk = Desk::new();
    let random = format!("cmd={}", program("renmei-random").display());
    let engines: [&[&str]; 2] = [&[&random, "name=a"], &[&random, "name=b"]];
    let play = |openings: &str, games: &str| {
        desk.play(&engines, &["--games", games, "--max-moves", "40", "--openings", openings])
    };
    let played = play("built-in", "4");
    assert_eq!(played.code(), Some(0), "{}", played.text());
    let openings = desk.query("SELECT DISTINCT opening_moves FROM games");
    assert_eq!(openings.len(), 2, "a line for each pair of games: {openings:?}");
    // The same openings have the same fingerprint; others do not.
    assert_eq!(play("built-in", "4").code(), Some(0));
    let other = desk.write("other.sfen", "startpos moves 7g7f\n");
    let changed = play(&other.display().to_string(), "4");
    assert!(changed.text().contains("openings.files"), "{}", changed.text());
}

/// Sections, keys and values of a unit.
fn entries(unit: &str) -> Vec<(&str, &str)> {
    unit.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('=')).collect()
}

#[test]
fn a_unit_has_the_paths_of_the_program_and_of_a_valid_configuration() {
    let desk = Desk::new();
    desk.renmei(&["init", "serve"]);
    let printed = desk.renmei(&["service", "print", "serve", "serve.toml"]);
    let unit = text(&printed);
    assert_eq!(printed.status.code(), Some(0), "{unit}");
    let entries = entries(&unit);
    let value = |key: &str| entries.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
    let dir = desk.dir.path().canonicalize().unwrap();
    let start = format!(
        "\"{}\" serve \"{}\" --no-dashboard",
        env!("CARGO_BIN_EXE_renmei"),
        dir.join("serve.toml").display()
    );
    assert_eq!(value("ExecStart"), Some(start.as_str()));
    assert_eq!(value("WorkingDirectory"), dir.to_str());
    assert_eq!((value("KillMode"), value("Restart")), (Some("mixed"), Some("on-failure")));
    assert_eq!(value("WantedBy"), Some("multi-user.target"));
    let user = text(&desk.renmei(&["service", "print", "--user", "serve", "serve.toml"]));
    assert!(user.contains("WantedBy=default.target") && !user.contains("\nUser="), "{user}");
    desk.write("wrong.toml", "[floodgate]\nhots = \"x\"\n");
    let wrong = desk.renmei(&["service", "print", "floodgate", "wrong.toml"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(wrong.stdout.is_empty() && text(&wrong).contains("`host`"), "{}", text(&wrong));
}

#[test]
fn diagnostics_report_engines_and_databases_and_are_off_by_default() {
    let random = format!("cmd={}", program("renmei-random").display());
    let diagnostics = |more: &[&str], variable: Option<&str>| {
        let desk = Desk::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
        command.args(more).args(["match", "--engine", &random, "--engine", &random, "--games", "2"]);
        command.args(["--max-moves", "20", "--oversubscribe", "--quiet", "--db", "a.db"]);
        command.env_remove("RENMEI_LOG").envs(variable.map(|filter| ("RENMEI_LOG", filter)));
        let output = command.current_dir(desk.dir.path()).stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    // A busy machine has warnings for the user.
    let (_, quiet) = diagnostics(&[], None);
    assert!(["DEBUG", "INFO", "seat: "].iter().all(|word| !quiet.contains(word)), "{quiet}");
    let (code, lines) = diagnostics(&["-vv"], None);
    assert_eq!(code, Some(0));
    for word in ["DEBUG seat: engine started pid=", "engine ended pid=", "DEBUG journal: ", "DEBUG arena: "] {
        assert!(lines.contains(word), "{word} in {lines}");
    }
    let (_, lines) = diagnostics(&[], Some("journal=debug"));
    assert!(lines.contains("DEBUG journal: ") && !lines.contains("seat"), "{lines}");
    let (code, lines) = diagnostics(&[], Some("seat=loud"));
    assert_eq!(code, Some(2));
    assert!(lines.contains("RENMEI_LOG=`seat=loud` is not a filter"), "{lines}");
}
