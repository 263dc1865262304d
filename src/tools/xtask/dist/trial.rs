//! `cargo xtask dist --try`: each artefact is unpacked and used where nothing else is installed: a league that is killed,
//! resumed and reported, and then everything is removed and looked for.

mod bare;
mod place;
mod wine;

use crate::{VERSION, artefacts, target::Target};
use anyhow::{Context, Result, ensure};
use place::{Place, Running};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};
use xtask::cross::CrossRoot;

/// Games of the quickstart preset that are played without engines of other people: three players, eight games each pair.
const GAMES: u64 = 24;
/// Games after which the manager is killed.
const KILLED_AFTER: usize = 5;
/// How long a league may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// How often the file of events is read.
const LOOK: Duration = Duration::from_millis(50);

/// An artefact in a place.
struct Tried {
    artefact: PathBuf,
    place: String,
    result: Result<Figures>,
}

/// What was measured, from the beginning of unpacking.
struct Figures {
    to_first_game: Duration,
    to_standings: Duration,
}

/// Tries the artefacts of these targets, and prints a table.
pub fn run(directory: &Path, targets: &[&Target]) -> Result<ExitCode> {
    let mut tried = Vec::new();
    let mut reasons = Vec::new();
    for artefact in artefacts(directory)? {
        let name = artefact.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !targets.iter().any(|target| is_of(&name, target)) {
            continue;
        }
        match places(&name) {
            Ok(places) => {
                for place in places {
                    tried.push(attempt(&artefact, place));
                }
            }
            Err(reason) => reasons.push(format!("{name}: {reason:#}")),
        }
    }
    ensure!(
        !tried.is_empty() || !reasons.is_empty(),
        "no artefact of these targets in `{}`",
        directory.display()
    );
    print!("{}", table(&tried, &reasons));
    let failed = tried.iter().any(|tried| tried.result.is_err());
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn is_of(name: &str, target: &Target) -> bool {
    name.contains(target.name) || target.architecture.is_some_and(|architecture| name.contains(architecture))
}

/// The places where an artefact is tried; the reason, if this machine has none.
fn places(name: &str) -> Result<Vec<Result<Box<dyn Place>>>> {
    let is_arm = name.contains("arm64") || name.contains("aarch64");
    if name.ends_with(".zip") {
        return Ok(vec![wine::Wine::open().map(|place| Box::new(place) as Box<dyn Place>)]);
    }
    let emulator = is_arm.then(|| CrossRoot::open().map(|root| root.qemu())).transpose()?;
    ensure!(!name.contains("-oci-"), "not tried: try it with podman");
    let releases: &[&str] = if name.ends_with(".deb") { &bare::RELEASES } else { &bare::RELEASES[..1] };
    let open = |release: &&str| {
        bare::Bare::open(release, emulator.clone()).map(|place| Box::new(place) as Box<dyn Place>)
    };
    Ok(releases.iter().map(open).collect())
}

fn attempt(artefact: &Path, place: Result<Box<dyn Place>>) -> Tried {
    let artefact = artefact.to_path_buf();
    let mut place = match place {
        Ok(place) => place,
        Err(fault) => return Tried { artefact, place: "no place".to_owned(), result: Err(fault) },
    };
    eprintln!("trying {} in {}", artefact.display(), place.name());
    let result = league(&artefact, place.as_mut());
    let gone = place.remove().context("removing it");
    let result = result.and_then(|figures| gone.map(|()| figures));
    Tried { artefact, place: place.name(), result }
}

/// Plays the quickstart league: killed after some games, resumed, reported.
fn league(artefact: &Path, place: &mut dyn Place) -> Result<Figures> {
    let begun = Instant::now();
    place.install(artefact)?;
    told(place, &["init", "quickstart"])?;
    let mut running = start(place)?;
    let to_first_game = wait(place, &mut running, begun, |events| count(events, "game-started") > 0)?;
    wait(place, &mut running, begun, |events| count(events, "game-ended") >= KILLED_AFTER)?;
    running.kill()?;
    let report: Value = serde_json::from_str(&told(place, &["report", "quickstart.db", "--json"])?)?;
    let kept = report["games"].as_u64().unwrap_or(0);
    ensure!(kept > 0 && kept < GAMES, "after a kill {kept} of {GAMES} games were kept");
    let standings = start(place)?.finish(PATIENCE)?;
    let to_standings = begun.elapsed();
    for player in ["uniform", "greedy", "pairwise"] {
        ensure!(standings.contains(player), "the standings lack {player}: {standings}");
    }
    let report: Value = serde_json::from_str(&told(place, &["report", "quickstart.db", "--json"])?)?;
    ensure!(report["games"] == GAMES && report["complete"] == true, "{} of {GAMES} games", report["games"]);
    told(place, &["verify", "quickstart.db"])?;
    told(place, &["report", "quickstart.db", "--html", "report.html"])?;
    let page = place.work().join("report.html");
    ensure!(fs::read_to_string(&page)?.contains("</html>"), "`{}` is no page", page.display());
    let version: Value = serde_json::from_str(&told(place, &["version", "--json"])?)?;
    ensure!(version["version"] == VERSION && version["commit"].is_string(), "{version}");
    Ok(Figures { to_first_game, to_standings })
}

fn start(place: &dyn Place) -> Result<Running> {
    let words = ["run", "quickstart.toml", "--events", "events.jsonl", "--no-dashboard", "--quiet"];
    Running::start(place.command(&words))
}

/// What a command of `renmei` prints.
fn told(place: &dyn Place, words: &[&str]) -> Result<String> {
    let mut command = place.command(words);
    let output = command.stdin(Stdio::null()).output().context("it could not be started")?;
    let faults = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`renmei {}`: {}, {}", words.join(" "), output.status, faults.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Waits for the events of a running league; the time since `begun`.
fn wait(
    place: &dyn Place,
    running: &mut Running,
    begun: Instant,
    enough: impl Fn(&str) -> bool,
) -> Result<Duration> {
    let file = place.work().join("events.jsonl");
    let limit = Instant::now() + PATIENCE;
    loop {
        if enough(&fs::read_to_string(&file).unwrap_or_default()) {
            return Ok(begun.elapsed());
        }
        ensure!(Instant::now() < limit, "nothing came of the league in {} s", PATIENCE.as_secs());
        if let Some(fault) = running.ended()? {
            anyhow::bail!("the league ended early: {fault}");
        }
        thread::sleep(LOOK);
    }
}

fn count(events: &str, kind: &str) -> usize {
    events.matches(&format!("\"event\":\"{kind}\"")).count()
}

fn table(tried: &[Tried], reasons: &[String]) -> String {
    let mut text = format!(
        "\n{:<46} {:<22} {:>8} {:>11} {:>10}\n",
        "artefact", "tried in", "MB", "first game", "standings"
    );
    for Tried { artefact, place, result } in tried {
        let name = artefact.file_name().unwrap_or_default().to_string_lossy();
        let megabytes = fs::metadata(artefact).map_or(0.0, |file| file.len() as f64 / 1e6);
        text += &format!("{name:<46} {place:<22} {megabytes:>8.1} ");
        text += &match result {
            Ok(Figures { to_first_game, to_standings }) => {
                format!("{:>9.1} s {:>8.1} s\n", to_first_game.as_secs_f64(), to_standings.as_secs_f64())
            }
            Err(fault) => format!("FAILED: {fault:#}\n"),
        };
    }
    text += "Times are from the beginning of unpacking; the league was killed and resumed between them.\n";
    reasons.iter().fold(text, |text, reason| text + reason + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TARGETS;

    #[test]
    fn artefacts_belong_to_their_target() {
        let of = |name: &str| {
            TARGETS.iter().filter(|target| is_of(name, target)).map(|target| target.name).collect::<Vec<_>>()
        };
        assert_eq!(of("renmei_0.1.0_amd64.deb"), ["x86_64-unknown-linux-musl"]);
        assert_eq!(of("renmei-0.1.0-oci-arm64.tar"), ["aarch64-unknown-linux-musl"]);
        assert_eq!(of("renmei-0.1.0-x86_64-pc-windows-gnu.zip"), ["x86_64-pc-windows-gnu"]);
    }

    #[test]
    fn the_table_names_failures_and_what_was_not_tried() {
        let tried = |result| Tried { artefact: "a.deb".into(), place: "Debian sid".to_owned(), result };
        let figures =
            Figures { to_first_game: Duration::from_millis(1200), to_standings: Duration::from_secs(20) };
        let text =
            table(&[tried(Ok(figures)), tried(Err(anyhow::anyhow!("no")))], &["b.tar: why".to_owned()]);
        assert!(
            text.contains("1.2 s     20.0 s\n")
                && text.contains("FAILED: no\n")
                && text.ends_with("b.tar: why\n"),
            "{text}"
        );
    }
}
