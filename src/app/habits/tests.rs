//! The table and the reader agree, and agree with the flags of `renmei match`.

use super::{
    table::{ENGINE_WORDS, Habit, Meaning, OPTIONS},
    *,
};
use crate::cli::Cli;
use clap::CommandFactory;

fn os(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(|word| word.replace('~', " ").into()).collect()
}

/// The translated words behind `match`, and the notes but for the one that repeats them.
fn translated(line: &str) -> Result<(String, Vec<String>), String> {
    let Translation { words, mut notes } =
        translate(os(&format!("renmei {line}"))).map_err(|fault| fault.to_string())?;
    notes.pop();
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    Ok((words[1..].join(" "), notes))
}

fn own(line: &str) -> String {
    translated(line).unwrap_or_else(|fault| panic!("{line}: {fault}")).0
}

const TWO: &str = "-engine cmd=/x/a name=a dir=. -engine cmd=/x/b name=b dir=.";
const OWN: &str = "match --engine cmd=/x/a name=a dir=. --engine cmd=/x/b name=b dir=.";

#[test]
fn a_command_line_in_renmei_s_own_words_is_left_as_it_is() {
    for line in [
        "match --engine cmd=a --name b",
        "-v run x.toml",
        "match ./a ./b -q",
        "match -vv ./a ./b",
        "",
        "check -x",
        "-qv",
    ] {
        let words = os(&format!("renmei {line}"));
        assert_eq!(translate(words.clone()), Ok(Translation { words, notes: vec![] }));
    }
}

#[test]
fn a_value_that_looks_like_an_option_is_refused_with_what_to_write_instead() {
    let fault = translated(&format!("{TWO} -openings file=-lines")).unwrap_err();
    assert_eq!(fault, "`-lines` would be read as an option; if it is a file, write `./-lines`");
    assert!(own(&format!("{TWO} -openings file=./-lines")).contains("--openings ./-lines"));
}

#[test]
fn every_line_of_the_table_is_read_and_every_translated_option_has_its_translation() {
    assert_eq!(OPTIONS.len(), include_str!("options.txt").lines().count());
    assert_eq!(ENGINE_WORDS.len(), include_str!("engine_words.txt").lines().count());
    for Habit { name, .. } in OPTIONS.iter().filter(|habit| habit.meaning == Meaning::Reads) {
        let typed = translated(&format!("{TWO} {name} nonsense=1 more"));
        assert!(typed.is_err() || *name == "-use-affinity", "{name}");
    }
}

#[test]
fn every_flag_of_the_table_is_one_of_match_and_every_name_stands_once() {
    let cli = Cli::command();
    let command = cli.find_subcommand("match").unwrap();
    let known = |flag: &str| command.get_arguments().any(|arg| arg.get_long() == flag.strip_prefix("--"));
    for (at, Habit { name, here, meaning, .. }) in OPTIONS.iter().enumerate() {
        assert!(is_option(&name.into()) && OPTIONS[..at].iter().all(|other| other.name != *name), "{name}");
        if let Meaning::Is(flag) = meaning {
            assert!(known(flag), "{flag}");
        }
        let clean = |word: &str| word.trim_matches(|c: char| !c.is_ascii_alphabetic() && c != '-').to_owned();
        for flag in here.split(' ').map(clean).filter(|word| word.starts_with("--")) {
            assert!(
                known(&flag) || ["--version", "--help", "--format"].contains(&flag.as_str()),
                "{name}: {flag}"
            );
        }
    }
    for (at, word) in ENGINE_WORDS.iter().enumerate() {
        assert!(ENGINE_WORDS[..at].iter().all(|other| other.name != word.name), "{}", word.name);
    }
}

#[test]
fn what_the_table_refuses_is_refused_with_its_reason_and_what_it_tells_is_told() {
    for Habit { name, here, meaning, .. } in OPTIONS.iter() {
        match meaning {
            Meaning::Refused => {
                assert_eq!(translated(&format!("{TWO} {name} x")).unwrap_err(), format!("{name} x: {here}"));
            }
            Meaning::Noted => {
                let (words, notes) = translated(&format!("{TWO} {name} x y=z")).unwrap();
                assert_eq!((words.as_str(), notes), (OWN, vec![format!("{name}: {here}")]));
            }
            Meaning::Always => assert_eq!(own(&format!("{TWO} {name}")), OWN),
            Meaning::Is(_) | Meaning::Reads => {}
        }
    }
    for word in ENGINE_WORDS.iter().filter(|word| word.meaning == Meaning::Refused) {
        let typed = if word.values.is_empty() { word.name.to_owned() } else { format!("{}=x", word.name) };
        assert_eq!(
            translated(&format!("{TWO} -each {typed}")).unwrap_err(),
            format!("-each {typed}: {}", word.here)
        );
    }
}

#[test]
fn a_line_for_chess_engines_that_names_their_protocol_means_usi() {
    assert_eq!(own(&format!("{TWO} -each proto=uci")), OWN);
}

#[test]
fn clocks_are_read_as_cutechess_writes_them() {
    let clock = |tc: &str| {
        own(&format!("{TWO} -each tc={tc}")).rsplit(" time=").next().unwrap().replace(" dir=.", "")
    };
    for (theirs, ours) in [
        ("10+0.1", "10s+0.1s"),
        ("1:30+1", "90s+1s"),
        ("300", "300s"),
        ("0/60+0.6", "60s+0.6s"),
        ("2+0.02s", "2s+0.02s"),
        ("0:05", "5s"),
        ("10m~byoyomi~30s", "10m byoyomi 30s"),
    ] {
        assert_eq!(clock(theirs), ours);
        let text = plan::time_text::time_control(ours);
        assert!(text.is_ok_and(|time| time.is_timed()), "{ours}");
    }
    for wrong in ["40/60", "ten", "1:2:3", "", "10+"] {
        assert!(translated(&format!("{TWO} -each tc={wrong}")).is_err(), "{wrong}");
    }
    assert!(own(&format!("{TWO} -each tc=inf depth=6")).ends_with("name=b dir=. depth=6"));
}

#[test]
fn games_are_rounds_times_games_and_rounds_have_two() {
    for (theirs, ours) in [
        ("-rounds 200 -repeat", "--games 400"),
        ("-rounds 10 -games 2", "--games 20"),
        ("-games 100", "--games 100"),
        ("-repeat 2 -rounds 1", "--games 2"),
    ] {
        assert_eq!(own(&format!("{TWO} {theirs}")), format!("{OWN} {ours}"));
    }
}

#[test]
fn words_for_every_engine_stand_instead_of_its_own_and_go_to_bare_programs_as_they_are() {
    let line = "-engine cmd=/x/a name=a arg=1 nodes=5 -engine cmd=/x/b -each option.Hash=1 -each nodes=9 option.Hash=2 arg=2";
    let first = "--engine cmd=/x/a name=a arg=1 nodes=9 option.Hash=2 arg=2 dir=.";
    assert_eq!(
        own(line),
        format!("match {first} --engine cmd=/x/b option.Hash=2 nodes=9 arg=2 name=b dir=.")
    );
    assert_eq!(
        own("match ./a ./b -each tc=1+1 ponder -rounds 3"),
        "match ./a ./b --each time=1s+1s ponder=true --games 6"
    );
}

#[test]
fn what_is_told_can_be_typed_again() {
    let told =
        translate(os("renmei -engine cmd=/x/a~b name=it's -engine cmd=/x/b -each tc=1m~byoyomi~1s")).unwrap();
    let line = told.notes.last().unwrap();
    assert_eq!(
        line,
        "equivalent command: renmei match --engine 'cmd=/x/a b' 'name=it'\\''s' 'time=1m byoyomi 1s' dir=. \
         --engine cmd=/x/b 'time=1m byoyomi 1s' name=b dir=."
    );
    let names = |programs: [&str; 3]| names_of(&programs.map(str::to_owned));
    assert_eq!(names(["a", "b", "a"]), ["a-1", "b", "a-2"]);
    assert_eq!(names(["./new/bin/fs", "./old/bin/fs", "gps"]), ["new", "old", "gps"]);
    assert_eq!(names(["./new/fs", "fs", "./old/fs"]), ["fs-1", "fs-2", "fs-3"]);
}

#[test]
fn every_fault_of_a_command_line_is_named_at_once_and_a_concurrency_of_minus_one_is_the_default() {
    let line = format!(
        "{TWO} -each proto=xboard nodes=1 -variant standard -rounds 1 -openings file=b start=2 -concurrency -1 -noswap"
    );
    let faults = translated(&line).unwrap_err();
    assert_eq!(
        faults.lines().collect::<Vec<_>>(),
        [
            "-each proto=xboard: Renmei's engines speak USI: write proto=usi, or leave it out",
            "-variant standard: Renmei plays only shogi",
            "-openings start=2: cut the file instead: `tail -n +2 b`",
            "-noswap: both colours always play each opening; leave it out",
        ]
    );
    let (words, notes) = translated(&format!("{TWO} -concurrency -1")).unwrap();
    assert_eq!(
        (words.as_str(), notes),
        (OWN, vec!["-concurrency -1: as many games as the cores carry".to_owned()])
    );
    assert_eq!(own(&format!("{TWO} -concurrency 3")), format!("{OWN} --concurrency 3"));
}
