//! Every transcript recorded from floodgate's server: its client lines in, our lines out, compared line by line.
//!
//! Compared are all lines of each connection in their order. Not compared are the dates in game ids and records. The
//! seconds charged are those recorded where time passes in the transcript ([`pace`]), else none; no more may be added to
//! them than this machine was late. Where we depart from what was recorded is listed, with reasons, in [`deviations`].

use super::{
    client::{Client, Host},
    script::{Deviation, Line, Step, deviations, pace, read, wait},
};
use plan::serve::Compat;
use plan::serve::ServeConfig;
use std::{
    collections::{HashMap, VecDeque},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// In it chance has a hand: it is replayed in `rounds`.
const BY_LOT: &str = "23_";

/// Where time passes, a machine that was later than this has shown nothing: it tries again.
const LATE: Duration = Duration::from_millis(100);
const ATTEMPTS: usize = 5;
const BEAT: Duration = Duration::from_millis(10);

#[test]
fn recorded_client_lines_bring_the_recorded_server_lines() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/protocol/transcripts");
    let Ok(files) = std::fs::read_dir(&dir) else {
        eprintln!("no transcripts in {}: nothing is compared", dir.display());
        return;
    };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    // Those in which time passes wait beside each other.
    let (slow, fast): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| pace(&name(path)).is_some());
    let failures: Vec<String> = std::thread::scope(|scope| {
        let slow: Vec<_> = slow.into_iter().map(|path| scope.spawn(move || attempt(&path))).collect();
        let fast: Vec<_> = fast.iter().filter_map(attempt).collect();
        let slow = slow.into_iter().filter_map(|thread| thread.join().expect("a replay ends"));
        slow.chain(fast).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// What went wrong, if anything did.
fn attempt(path: &PathBuf) -> Option<String> {
    let name = name(path);
    if name.starts_with(BY_LOT) {
        return None;
    }
    let script = read(&name, &std::fs::read_to_string(path).unwrap());
    for _ in 0..ATTEMPTS {
        let (replayed, late) = watched(|| replay(&name, &script));
        match replayed {
            Ok(lines) => eprintln!("{name}: {lines} lines as recorded"),
            Err(difference) if late > LATE && pace(&name).is_some() => {
                eprintln!("{name}: again, as this machine was {late:?} late: {difference}");
                continue;
            }
            Err(difference) => return Some(format!("{name}: {difference}")),
        }
        return None;
    }
    Some(format!("{name}: this machine is too late for it every time"))
}

/// Does it, and tells how late this machine was meanwhile.
fn watched<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut late = Duration::ZERO;
            while !over.load(Ordering::Relaxed) {
                let begun = Instant::now();
                std::thread::sleep(BEAT);
                late = late.max(begun.elapsed().saturating_sub(BEAT));
            }
            late
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        (done, watch.join().expect("it only sleeps"))
    })
}

/// The league the transcript was recorded on, as far as its lines tell.
fn config(script: &[Line]) -> ServeConfig {
    let value = |key: &str| {
        script.iter().find_map(|line| match &line.step {
            Step::Heard(line) => line.strip_prefix(key).map(str::to_owned),
            _ => None,
        })
    };
    let id = value("Game_ID:").unwrap_or_else(|| "test+".to_owned());
    let mut config = ServeConfig { compat: Compat::ShogiServer, ..ServeConfig::default() };
    config.name = id.split('+').next().unwrap().to_owned();
    config.max_moves = value("Max_Moves:").map_or(256, |max| max.parse().unwrap());
    config.least_time = value("Least_Time_Per_Move:").map_or(0, |least| least.parse().unwrap());
    config.agreement = 1;
    config.limits.lines_per_second = 100_000;
    config
}

struct Stage {
    clients: HashMap<String, Client>,
    earlier: Vec<Client>,
    /// Lines read while waiting for something else.
    backlog: HashMap<String, VecDeque<String>>,
    logged_in: HashMap<String, bool>,
    /// Our game ids by the recorded ones.
    ids: HashMap<String, String>,
    /// Who spoke last, and was not answered yet.
    speaker: Option<String>,
    deviations: Vec<Deviation>,
    compared: usize,
    pace: Option<f64>,
    /// When the last two moves or agreements were said: no turn that is told about now began before the first.
    turns: [Instant; 2],
    /// Within a game summary or a record so far, where moves are those of another time.
    told_before: bool,
}

fn replay(name: &str, script: &[Line]) -> Result<usize, String> {
    let mut host = Host::start(config(script));
    let mut stage = Stage::new(name);
    let (mut at, mut before) = (0, 0.0);
    while at < script.len() {
        let Line { at: seconds, who, step } = &script[at];
        let fail = |e| format!("step {at}: {e}");
        match step {
            Step::Connected => {
                // The earlier connection of that letter stays, as it did when this was recorded.
                stage.earlier.extend(stage.clients.insert(who.clone(), host.connect()));
                stage.backlog.remove(who);
                stage.logged_in.insert(who.clone(), false);
            }
            Step::Said(line) => stage.say(who, line, seconds - before),
            Step::Heard(line) if line.starts_with("##[WHO] ") => {
                let listed = |line: &&Line| {
                    line.who == *who
                        && matches!(&line.step, Step::Heard(line) if line.starts_with("##[WHO] "))
                };
                let count = script[at..].iter().take_while(listed).count();
                stage.hear_sorted(who, &script[at..at + count]).map_err(fail)?;
                at += count - 1;
            }
            Step::Heard(line) => stage.hear(who, line).map_err(fail)?,
            Step::ClientCloses => drop(stage.clients.remove(who)),
            Step::Server => host = Host::start(config(&script[at..])),
            Step::ServerCloses => stage.closed(who).map_err(fail)?,
        }
        before = *seconds;
        at += 1;
    }
    let unmet = stage.deviations.first().map(|unmet| format!("`{}` is never said", unmet.recorded));
    unmet.map_or(Ok(stage.compared), Err)
}

impl Stage {
    fn new(name: &str) -> Self {
        Self {
            clients: HashMap::new(),
            earlier: vec![],
            backlog: HashMap::new(),
            logged_in: HashMap::new(),
            ids: HashMap::new(),
            speaker: None,
            deviations: deviations(name),
            compared: 0,
            pace: pace(name),
            turns: [Instant::now(); 2],
            told_before: false,
        }
    }

    fn say(&mut self, who: &str, line: &str, waited: f64) {
        if let Some(speaker) = self.speaker.take().filter(|speaker| speaker != who) {
            self.settle(&speaker);
        }
        if let Some(pace) = self.pace {
            std::thread::sleep(Duration::from_secs_f64(wait(waited, pace)));
            if line.starts_with(['+', '-']) || line == "AGREE" {
                self.turns = [self.turns[1], Instant::now()];
            }
        }
        let mut line = line.to_owned();
        for (recorded, ours) in &self.ids {
            line = line.replace(recorded, ours);
        }
        if let Some(client) = self.clients.get_mut(who) {
            client.say(&line);
            self.speaker = Some(who.to_owned());
        }
    }

    /// Has the league heard all that `who` has said? The answer to a keep-alive comes after it.
    fn settle(&mut self, who: &str) {
        if !self.logged_in.get(who).is_some_and(|known| *known) {
            return;
        }
        let Some(client) = self.clients.get_mut(who) else { return };
        client.say("");
        while let Some(line) = client.line().filter(|line| !line.is_empty()) {
            self.backlog.entry(who.to_owned()).or_default().push_back(line);
        }
    }

    fn next(&mut self, who: &str) -> Option<String> {
        let line = self
            .backlog
            .get_mut(who)
            .and_then(VecDeque::pop_front)
            .or_else(|| self.clients.get_mut(who).and_then(Client::line));
        if line.as_deref().is_some_and(|line| line.starts_with("LOGIN:") && line.ends_with(" OK")) {
            self.logged_in.insert(who.to_owned(), true);
        }
        line
    }

    fn hear(&mut self, who: &str, recorded: &str) -> Result<(), String> {
        let line = plain(recorded);
        let met = |known: &Deviation| known.after.is_empty() && line.starts_with(known.recorded);
        let known = self.deviations.iter().position(met);
        for deviation in self.deviations.iter_mut().filter(|known| !known.after.is_empty()) {
            if line.starts_with(deviation.after) {
                deviation.after = "";
            }
        }
        let mark = recorded.strip_suffix(line).unwrap_or_default();
        let expected = match known {
            Some(at) => self.deviations.remove(at).ours.iter().map(|ours| format!("{mark}{ours}")).collect(),
            None => vec![recorded.to_owned()],
        };
        expected.into_iter().try_for_each(|expected| self.compare(who, &expected))
    }

    fn compare(&mut self, who: &str, expected: &str) -> Result<(), String> {
        let heard = self.next(who).ok_or_else(|| format!("{who} should hear `{expected}` but is let go"))?;
        let id = heard.strip_prefix("Game_ID:");
        if let (Some(recorded), Some(ours)) = (expected.strip_prefix("Game_ID:"), id) {
            self.ids.insert(recorded.to_owned(), ours.to_owned());
        }
        match plain(expected) {
            "BEGIN Game_Summary" => self.told_before = true,
            "END Game_Summary" => self.told_before = false,
            _ => {}
        }
        self.compared += 1;
        let (ours, recorded) = (masked(&heard), masked(expected));
        let ((ours, charged), (recorded, due)) = (untimed(&ours), untimed(&recorded));
        if ours == recorded && self.is_due(charged, due) {
            Ok(())
        } else {
            Err(format!("{who} should hear `{expected}` but hears `{heard}`"))
        }
    }

    /// Whether `ours` may be charged where `recorded` was.
    fn is_due(&self, ours: Option<u64>, recorded: Option<u64>) -> bool {
        let (Some(ours), Some(recorded)) = (ours, recorded) else { return ours == recorded };
        let late = self.turns[0].elapsed().as_secs();
        match self.pace {
            _ if self.told_before => ours == recorded,
            Some(_) => (recorded..=late.max(recorded)).contains(&ours),
            None => ours <= late,
        }
    }

    /// Players are listed in no certain order.
    fn hear_sorted(&mut self, who: &str, block: &[Line]) -> Result<(), String> {
        let mut heard: Vec<_> = block.iter().filter_map(|_| self.next(who)).collect();
        let line = |line: &Line| match &line.step {
            Step::Heard(line) => line.clone(),
            other => format!("{other:?}"),
        };
        let mut expected: Vec<_> = block.iter().map(line).collect();
        heard.sort();
        expected.sort();
        self.compared += block.len();
        if heard == expected {
            Ok(())
        } else {
            Err(format!("{who} should hear {expected:?} but hears {heard:?}"))
        }
    }

    /// A note about an earlier connection of the same name may come late.
    fn closed(&mut self, who: &str) -> Result<(), String> {
        if self.logged_in.get(who) != Some(&true) {
            return Ok(());
        }
        match self.clients.remove(who).map(|mut client| client.line()) {
            None | Some(None) => Ok(()),
            Some(Some(line)) => Err(format!("{who} should be let go but hears `{line}`")),
        }
    }
}

/// A line without the mark it bears for spectators.
fn plain(line: &str) -> &str {
    match line.strip_prefix("##[MONITOR") {
        Some(marked) => marked.split_once("] ").map_or(line, |(_, line)| line),
        None => line,
    }
}

/// A line without dates.
pub fn masked(line: &str) -> String {
    let mut line = line.to_owned();
    if let Some(at) = line.find("$START_TIME:") {
        line.truncate(at);
    }
    let bytes = line.as_bytes();
    let date = (0..bytes.len()).find(|&at| {
        bytes[at] == b'+'
            && bytes.get(at + 1..at + 15).is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
    });
    if let Some(at) = date {
        let (date, mask) = (line[at..at + 15].to_owned(), "+DATE");
        line = line.replace(&date, mask);
    }
    line
}

/// A line, and the seconds charged that it tells.
pub fn untimed(line: &str) -> (&str, Option<u64>) {
    match line.split_once(",T") {
        Some((mv, time)) => time.parse().map_or((line, None), |time| (mv, Some(time))),
        None => (line, None),
    }
}
