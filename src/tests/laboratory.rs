//! Engines from a repository: builds, tests of commits, and the search for a commit.

use crate::support::{Desk, ended, program, until};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

/// A small repository beside a cache of its own. Its build copies `engine.sh` to `bin/engine`, unless `engine.sh` says
/// that it does not build.
pub struct Workshop {
    pub desk: Desk,
}

pub const BUILD: &str = "echo building; ! grep 'does not build' engine.sh && mkdir -p bin && cp engine.sh bin/engine && \
                     chmod +x bin/engine && echo x >> ../../builds.txt";

impl Workshop {
    pub fn new() -> Self {
        let workshop = Self { desk: Desk::new() };
        std::fs::create_dir(workshop.repo()).unwrap();
        workshop.git(&["init", "--quiet", "--initial-branch=main"]);
        workshop
    }

    pub fn repo(&self) -> PathBuf {
        self.desk.path("engine")
    }

    pub fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.repo()).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words);
        let output = command.env_remove("GIT_DIR").output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Commits an engine script with these arguments of the puppet; returns the commit.
    pub fn commit(&self, subject: &str, puppet: &str) -> String {
        self.write_engine(subject, puppet);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", subject]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn write_engine(&self, version: &str, puppet: &str) {
        let engine = program("renmei-puppet");
        let script = format!("#!/bin/sh\n# {version}\nexec {} {puppet}\n", engine.display());
        std::fs::write(self.repo().join("engine.sh"), script).unwrap();
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
        command.current_dir(self.desk.dir.path()).args(words).stdin(Stdio::null());
        command.env("RENMEI_CACHE", self.desk.path("cache"));
        command
    }

    pub fn renmei(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    pub fn words<'a>(first: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
        let common = ["--repo", "engine", "--build", BUILD, "--program", "bin/engine", "--oversubscribe"];
        let games = ["--time", "byoyomi 60s", "--max-moves", "80", "--json"];
        [first, &common, &games, more].concat()
    }

    /// Number of builds that ended well.
    fn builds(&self) -> usize {
        std::fs::read_to_string(self.desk.path("cache/builds.txt")).map_or(0, |text| text.lines().count())
    }
}

pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(output)))
}

/// All files below a directory with their contents.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = vec![];
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(contents(&path)),
            path => found.push((path.clone(), std::fs::read(&path).unwrap_or_default())),
        }
    }
    found.sort();
    found
}

#[test]
fn two_commits_are_built_once_and_tested_and_the_repository_stays_as_it_was() {
    let workshop = Workshop::new();
    workshop.commit("a beginning", "");
    workshop.commit("resign early", "--mode resign --ply 3");
    workshop.git(&["branch", "old", "HEAD~1"]);
    std::fs::write(workshop.repo().join("notes.txt"), "not for git").unwrap();
    std::fs::write(workshop.repo().join(".git/hooks/post-checkout"), "#!/bin/sh\ntouch hooked\n").unwrap();
    let before = contents(&workshop.repo());
    let words = Workshop::words(&["test", "main", "old"], &["--games", "4"]);
    let output = workshop.renmei(&words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let standings = json(&output)["standings"].clone();
    assert!(standings[0]["name"].as_str().unwrap().starts_with("old@"), "{standings}");
    assert_eq!(standings[0]["wins"], 4);
    let said = text(&output);
    assert!(said.contains("resign early") && said.contains("a beginning"), "{said}");
    assert!(said.contains("1 file changed"), "{said}");
    assert_eq!(contents(&workshop.repo()), before, "nothing of the user's is touched");
    let again = workshop.renmei(&words);
    assert!(text(&again).contains("is complete: nothing was played"), "{}", text(&again));
    assert_eq!(workshop.builds(), 2, "each commit is built once");
}

#[test]
fn two_commits_are_tested_until_elo_is_known() {
    let workshop = Workshop::new();
    workshop.commit("one", "--seed 1");
    workshop.commit("two", "--seed 2");
    let until = ["--until", "200 elo", "--games", "2000"];
    let output = workshop.renmei(&Workshop::words(&["test", "HEAD", "HEAD~1"], &until));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let report = json(&output);
    assert!(report["precision"]["reached_after"].as_u64().is_some(), "{report}");
    assert!(report["games"].as_u64().is_some_and(|games| games < 2000), "{report}");
}

#[test]
fn a_build_that_fails_is_told_with_its_last_lines_and_its_log() {
    let workshop = Workshop::new();
    workshop.commit("fine", "");
    workshop.commit("broken", "# does not build");
    let output = workshop.renmei(&Workshop::words(&["test", "HEAD", "HEAD~1"], &[]));
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("broken failed: it exited with code 1"), "{said}");
    assert!(said.contains("  | building\n"), "{said}");
    let log = said.lines().find_map(|line| line.trim().strip_prefix("the whole log: ")).unwrap();
    assert!(std::fs::read_to_string(log).unwrap().contains("does not build"));
}

#[test]
fn a_build_that_does_not_end_is_given_up_and_leaves_no_process() {
    let workshop = Workshop::new();
    workshop.commit("one", "");
    workshop.commit("two", "");
    let words =
        ["test", "HEAD", "HEAD~1", "--repo", "engine", "--build", "sleep 4242.5 & wait", "--program", "x"];
    let output = workshop.renmei(&[&words[..], &["--build-timeout", "200ms"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("it took longer than"), "{}", text(&output));
    crate::support::none_left("sleep 4242.5");
}

#[test]
fn a_program_that_is_not_made_and_a_commit_that_is_not_there_are_told() {
    let workshop = Workshop::new();
    workshop.commit("one", "");
    workshop.commit("two", "");
    let words = ["test", "HEAD", "HEAD~1", "--repo", "engine", "--build", "true", "--program", "bin/engine"];
    let output = workshop.renmei(&words);
    assert!(text(&output).contains("made no program `bin/engine`"), "{}", text(&output));
    assert_eq!(output.status.code(), Some(2));
    let output = workshop.renmei(&Workshop::words(&["test", "HEAD", "nowhere"], &[]));
    assert!(text(&output).contains("there is no commit `nowhere`"), "{}", text(&output));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn uncommitted_work_is_an_engine_of_its_own() {
    let workshop = Workshop::new();
    workshop.commit("a beginning", "");
    workshop.write_engine("not committed", "--mode resign --ply 3");
    let index = std::fs::read(workshop.repo().join(".git/index")).unwrap();
    let words = Workshop::words(&["test", "worktree", "HEAD"], &["--games", "2"]);
    let output = workshop.renmei(&words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("uncommitted work on"), "{}", text(&output));
    let standings = json(&output)["standings"].clone();
    assert!(standings[1]["name"].as_str().unwrap().starts_with("worktree@"), "{standings}");
    assert_eq!(standings[1]["losses"], 2);
    assert_eq!(std::fs::read(workshop.repo().join(".git/index")).unwrap(), index);
    // The same work resumes; other work is another match.
    assert!(text(&workshop.renmei(&words)).contains("is complete"));
    workshop.write_engine("other work", "--mode resign --ply 5");
    assert!(text(&workshop.renmei(&words)).contains("this is `test-2`"));
}

#[test]
fn a_branch_that_has_moved_is_another_test_in_the_database_that_was_given() {
    let workshop = Workshop::new();
    workshop.commit("one", "");
    let words = Workshop::words(&["test", "main", "HEAD~1"], &["--games", "2", "--db", "kept.db"]);
    for mode in ["--mode resign --ply 3", "--mode resign --ply 5"] {
        workshop.commit(mode, mode);
        let output = workshop.renmei(&words);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    }
    let names = workshop.renmei(&["report", "kept.db", "--event", "test-2"]);
    assert_eq!(names.status.code(), Some(0), "{}", text(&names));
    assert!(!workshop.desk.path("test-2.db").exists());
}

#[test]
fn the_report_of_a_test_names_its_commits_and_the_size_of_their_difference_then_and_later() {
    let workshop = Workshop::new();
    workshop.commit("a beginning", "");
    let new = workshop.commit("resign early", "--mode resign --ply 3");
    let played = workshop.renmei(&Workshop::words(&["test", "main", "HEAD~1"], &["--games", "2"]));
    let commits = json(&played)["commits"].clone();
    assert_eq!(commits["players"][0]["commit"], new, "{}", text(&played));
    assert_eq!(commits["players"][1]["subject"], "a beginning");
    assert!(commits["difference"].as_str().unwrap().contains("1 file changed"), "{commits}");
    // Without the repository and the builds.
    std::fs::remove_dir_all(workshop.repo()).unwrap();
    let later = text(&workshop.renmei(&["report", "test.db"]));
    let line = format!("{}  resign early", &new[..10]);
    assert!(later.contains("\ncommits\n") && later.contains(&line), "{later}");
    assert!(later.contains("1 file changed"), "{later}");
    workshop.renmei(&["report", "test.db", "--html", "page.html"]);
    let page = std::fs::read_to_string(workshop.desk.path("page.html")).unwrap();
    assert!(page.contains("resign early") && page.contains("1 file changed"));
}

#[test]
fn commits_that_build_the_same_program_are_not_tested_against_each_other() {
    let workshop = Workshop::new();
    workshop.commit("one", "");
    std::fs::write(workshop.repo().join("README"), "text").unwrap();
    workshop.git(&["add", "--all"]);
    workshop.git(&["commit", "--quiet", "-m", "only words"]);
    let output = workshop.renmei(&Workshop::words(&["test", "HEAD", "HEAD~1"], &[]));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("both commits build the same program"), "{}", text(&output));
}

#[test]
fn an_engine_of_a_configuration_is_built_from_its_source() {
    let workshop = Workshop::new();
    workshop.commit("a beginning", "");
    let config = format!(
        "[event]\ngames = 2\noversubscribe = true\n[time]\nbyoyomi = \"60s\"\n[rules]\nmax_moves = 80\n\
         [[engines]]\nname = \"ours\"\nsource = {{ git = \"engine\", rev = \"main\", build = {BUILD:?}, program = \
         \"bin/engine\" }}\n[[engines]]\ncommand = {:?}\n",
        program("renmei-random")
    );
    workshop.desk.write("event.toml", &config);
    let output = workshop.renmei(&["run", "event.toml", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(json(&output)["standings"][0]["games"], 2);
    workshop.commit("another", "--seed 2");
    let output = workshop.renmei(&["run", "event.toml", "--json"]);
    assert_eq!(output.status.code(), Some(2), "another commit is another engine: {}", text(&output));
    assert!(text(&output).contains("engines[ours].command.commit was"), "{}", text(&output));
}

#[test]
fn all_faults_of_a_source_are_told_with_file_and_key() {
    let workshop = Workshop::new();
    let config = "[[engines]]\ncommand = \"renmei-random\"\nsource = { git = \"nowhere\", build = \"\", program = \
                  \"../x\" }\n[[engines]]\nname = \"b\"\ncommand = \"renmei-random\"\n";
    workshop.desk.write("event.toml", config);
    let output = workshop.renmei(&["run", "event.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output);
    for fault in [
        "engines[0].source.git: there is no directory",
        "engines[0].source.rev: is missing",
        "engines[0].source.build: is empty",
        "engines[0].source.program: is not a path within the checkout",
        "engines[0].command: stands beside `source`",
        "engines[0].name: is missing",
    ] {
        assert!(said.contains(fault), "{fault}: {said}");
    }
    assert!(said.contains("event.toml:3:"), "{said}");
}

/// Eight commits after the good one: one that changes no program, one that does not build, and the one that loses.
fn history(workshop: &Workshop) -> (String, String) {
    let good = workshop.commit("good", "");
    workshop.commit("a step", "--seed 2");
    std::fs::write(workshop.repo().join("README"), "text").unwrap();
    workshop.git(&["add", "--all"]);
    workshop.git(&["commit", "--quiet", "-m", "only words"]);
    workshop.commit("broken", "# does not build");
    workshop.commit("mended", "--seed 3");
    let guilty = workshop.commit("prune more", "--mode resign --ply 3");
    workshop.commit("a test", "--mode resign --ply 4");
    workshop.commit("tidy", "--mode resign --ply 5");
    (good, guilty)
}

#[test]
fn commits_are_tested_on_another_machine_with_the_same_result() {
    if !testing::has("nats-server", testing::program("nats-server").is_some()) {
        return;
    }
    let workshop = Workshop::new();
    workshop.commit("a beginning", "");
    workshop.commit("resign early", "--mode resign --ply 7");
    let words = Workshop::words(&["test", "main", "main~1"], &["--games", "8", "--openings", "built-in"]);
    let here = workshop.renmei(&[&words[..], &["--db", "here.db"]].concat());
    assert_eq!(here.status.code(), Some(0), "{}", text(&here));
    let told = workshop.desk.path("told.txt");
    let told_to = std::fs::File::create(&told).unwrap();
    let away = [&words[..], &["--db", "away.db", "--hub", "127.0.0.1:0", "--slots", "0"]].concat();
    let mut command = workshop.command(&away);
    let manager = command.stdout(Stdio::piped()).stderr(told_to).spawn().unwrap();
    let patience = Instant::now() + Duration::from_secs(300);
    let line = loop {
        let log = std::fs::read_to_string(&told).unwrap();
        let line = log.split_once("renmei worker '").and_then(|(_, line)| Some(line.split_once('\'')?.0));
        if let Some(line) = line {
            break line.to_owned();
        }
        assert!(Instant::now() < patience, "{log}");
        std::thread::sleep(Duration::from_millis(10));
    };
    let join = ["worker", &line, "--name", "ann", "--slots", "1", "--oversubscribe", "--state", "ann"];
    let worker = workshop.renmei(&join);
    let away = manager.wait_with_output().unwrap();
    assert_eq!((away.status.code(), worker.status.code()), (Some(0), Some(0)), "{}", text(&worker));
    let [here, there] = [&here, &away].map(json);
    for key in ["standings", "endings", "commits", "elo"] {
        assert_eq!(here[key], there[key], "{key}");
    }
    let games = |db: &str| {
        let stored = rusqlite::Connection::open(workshop.desk.path(db)).unwrap();
        let mut games = stored
            .prepare("SELECT index_, black, opening, result, cause, plies FROM games ORDER BY 1")
            .unwrap();
        let row = |row: &rusqlite::Row<'_>| {
            (0..6).map(|at| row.get(at)).collect::<Result<Vec<rusqlite::types::Value>, _>>()
        };
        games.query_map([], row).unwrap().collect::<Result<Vec<_>, _>>().unwrap()
    };
    assert_eq!(games("away.db"), games("here.db"));
    assert_eq!(games("away.db").len(), 8);
}

#[test]
fn the_commit_that_lost_strength_is_found() {
    let workshop = Workshop::new();
    let (good, guilty) = history(&workshop);
    let words = ["bisect", &good, "main"];
    let words = Workshop::words(&words, &["--pairs", "4", "--loss", "200", "--plot", "posterior.svg", "-q"]);
    let output = workshop.renmei(&words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("likeliest of all"), "how the search stands is told: {}", text(&output));
    let help = String::from_utf8_lossy(&workshop.renmei(&["bisect", "--help"]).stdout).into_owned();
    assert!(!help.contains("--hub") && help.contains("--pairs"), "what is refused is not offered: {help}");
    let found = json(&output);
    assert_eq!(found["found"], "commit", "{found}");
    assert_eq!(found["commits"], serde_json::json!([guilty]), "{found}");
    assert!(found["probability"].as_f64().unwrap() >= 0.95);
    let picture = std::fs::read_to_string(workshop.desk.path("posterior.svg")).unwrap();
    assert!(picture.contains("prune more"));
    let again = workshop.renmei(&words);
    assert_eq!(json(&again)["games"], found["games"], "nothing is played again");
}

#[test]
fn a_loss_whose_border_does_not_build_is_one_of_the_commits_between() {
    let workshop = Workshop::new();
    let good = workshop.commit("good", "");
    let broken = workshop.commit("broken", "# does not build");
    let bad = workshop.commit("bad", "--mode resign --ply 3");
    let output =
        workshop.renmei(&Workshop::words(&["bisect", &good, &bad], &["--pairs", "4", "--loss", "200"]));
    assert_eq!(json(&output)["commits"], serde_json::json!([broken, bad]), "{}", text(&output));
}

#[test]
fn where_nothing_was_lost_no_commit_is_accused() {
    let workshop = Workshop::new();
    let good = workshop.commit("good", "");
    workshop.commit("one", "--seed 2");
    workshop.commit("two", "--seed 3");
    let output =
        workshop.renmei(&Workshop::words(&["bisect", &good, "main"], &["--pairs", "8", "--loss", "400"]));
    assert_eq!(output.status.code(), Some(11), "{}", text(&output));
    assert_eq!(json(&output)["found"], "nothing");
}

#[test]
fn a_history_with_merges_is_refused_unless_each_merge_is_one_commit() {
    let workshop = Workshop::new();
    let good = workshop.commit("good", "");
    workshop.git(&["checkout", "--quiet", "-b", "side"]);
    std::fs::write(workshop.repo().join("side"), "").unwrap();
    workshop.commit("aside", "");
    workshop.git(&["checkout", "--quiet", "main"]);
    workshop.commit("ahead", "--seed 2");
    workshop.git(&["merge", "--quiet", "-m", "merged", "side", "-X", "ours"]);
    let bad = workshop.commit("bad", "--mode resign --ply 3");
    let words = Workshop::words(&["bisect", &good, &bad], &["--pairs", "4", "--loss", "200"]);
    let output = workshop.renmei(&words);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("--first-parent takes each merge as one commit"), "{}", text(&output));
    let output = workshop.renmei(&[&words[..], &["--first-parent"]].concat());
    assert_eq!(json(&output)["commits"], serde_json::json!([bad]), "{}", text(&output));
    let output = workshop.renmei(&Workshop::words(&["bisect", &bad, &good], &[]));
    assert!(text(&output).contains("does not come after"), "{}", text(&output));
    let output = workshop.renmei(&Workshop::words(&["bisect", &good, &bad], &["--hub", "127.0.0.1:0"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("and not of `renmei bisect`"));
}

#[test]
fn a_killed_search_goes_on_with_the_games_that_were_played() {
    let workshop = Workshop::new();
    let (good, guilty) = history(&workshop);
    let words = Workshop::words(&["bisect", &good, "main"], &["--pairs", "8", "--loss", "200"]);
    let mut child = workshop.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let counted = || {
        let stored = rusqlite::Connection::open(workshop.desk.path("bisect.db")).ok()?;
        let sql = "SELECT count(*) FROM games WHERE state = 'counted'";
        stored.query_row(sql, [], |row| row.get::<_, i64>(0)).ok()
    };
    until("the search makes progress", || {
        counted().is_some_and(|games| games >= 6) || child.try_wait().unwrap().is_some()
    });
    child.kill().unwrap();
    ended(&mut child);
    let before = counted().unwrap();
    let output = workshop.renmei(&words);
    let found = json(&output);
    assert_eq!(found["commits"], serde_json::json!([guilty]), "{}", text(&output));
    let after = counted().unwrap();
    assert!(before > 0 && found["games"].as_i64().unwrap() <= after, "{before} {after} {found}");
    let twice = "SELECT count(*) FROM (SELECT event, index_ FROM games WHERE state = 'counted' GROUP BY event, index_ \
                 HAVING count(*) > 1)";
    let stored = rusqlite::Connection::open(workshop.desk.path("bisect.db")).unwrap();
    assert_eq!(stored.query_row(twice, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn the_cache_lists_its_builds_and_is_cleared() {
    let workshop = Workshop::new();
    workshop.commit("a beginning", "");
    workshop.commit("resign early", "--mode resign --ply 3");
    workshop.renmei(&Workshop::words(&["test", "HEAD", "HEAD~1"], &["--games", "2"]));
    let listed = text(&workshop.renmei(&["queue", ".", "cache"]));
    assert!(listed.contains("resign early") && listed.contains("2 builds"), "{listed}");
    let cleared = workshop.renmei(&["queue", ".", "cache", "--clear"]);
    assert_eq!(cleared.status.code(), Some(0), "{}", text(&cleared));
    assert!(text(&workshop.renmei(&["queue", ".", "cache"])).contains("0 builds"));
}
