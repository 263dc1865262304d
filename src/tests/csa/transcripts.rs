//! Replay of conversations: the clients' lines in, our host's lines compared with those of a file.
//!
//! All lines of each connection are compared in order, except for the dates in Game_IDs and records. Charged seconds
//! must equal those of the file where time passes in it ([`pace`]), else zero; only this machine's lateness may be
//! added. Golden conversations come from our own host. Its deviations from floodgate's server are listed, with
//! reasons, in [`deviations`].

use super::{
    client::{Client, Host, SetAtEnd},
    script::{Deviation, Line, Step, deviations, pace, set_apart, wait},
};
use plan::serve::Compat;
use plan::serve::ServeConfig;
use std::{
    collections::{HashMap, VecDeque},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use testing::conversation::{self, Conversation};

/// Number of attempts after which a difference counts, where time passes.
const ATTEMPTS: usize = 6;
/// Placeholder for the program's version in golden conversations.
pub const VERSION: &str = "{VERSION}";
/// Placeholder for a trip in golden conversations: each host has a key of its own.
const TRIP: &str = "{TRIP}";
/// Characters of a trip that is not that of shogi-server.
const TRIP_LENGTH: usize = 24;
const BEAT: Duration = Duration::from_millis(10);

#[test]
fn the_host_reproduces_every_golden_conversation() {
    let failures: Vec<String> = conversation::golden()
        .iter()
        .filter_map(|golden| {
            let replayed = replay(&golden.name, &golden.lines, |_| settings(golden));
            replayed.err().map(|difference| format!("{}: {difference}", golden.name))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

mod oracles {
    use super::*;

    /// This transcript depends on chance; `rounds` replays it.
    const BY_LOT: &str = "23_";

    #[test]
    #[ignore = "needs the oracles in ../shared/protocol/transcripts: recordings of floodgate's server"]
    fn the_host_reproduces_the_recorded_server_lines() {
        let recorded = conversation::oracle().into_iter().filter(|one| !one.name.starts_with(BY_LOT));
        // Transcripts in which time passes run in parallel.
        let (slow, fast): (Vec<_>, Vec<_>) = recorded.partition(|one| pace(&one.name).is_some());
        let failures: Vec<String> = std::thread::scope(|scope| {
            let slow: Vec<_> = slow.iter().map(|one| scope.spawn(move || attempt(one))).collect();
            let fast: Vec<_> = fast.iter().filter_map(attempt).collect();
            let slow = slow.into_iter().filter_map(|thread| thread.join().expect("a replay ends"));
            slow.chain(fast).collect()
        });
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    /// The fault of a replay, if any.
    fn attempt(recorded: &Conversation) -> Option<String> {
        let name = &recorded.name;
        let script = set_apart(name, recorded.lines.clone());
        // Where time passes, a replay on a late machine proves nothing; a fault of the host shows in every attempt.
        let attempts = if pace(name).is_some() { ATTEMPTS } else { 1 };
        let mut difference = None;
        for _ in 0..attempts {
            let (replayed, late) = watched(|| replay(name, &script, config));
            match replayed {
                Ok(lines) => {
                    eprintln!("{name}: {lines} lines as recorded");
                    return None;
                }
                Err(fault) => {
                    eprintln!("{name}: this machine was {late:?} late: {fault}");
                    difference = Some(format!("{name}: {fault}"));
                }
            }
        }
        difference
    }
}

/// Settings of the host of a golden conversation.
pub fn settings(golden: &Conversation) -> ServeConfig {
    let mut config = ServeConfig { name: "golden".to_owned(), ..ServeConfig::default() };
    config.limits.lines_per_second = 100_000;
    for (key, value) in &golden.settings {
        match key.as_str() {
            "compat" if value == "shogi-server" => config.compat = Compat::ShogiServer,
            "compat" if value == "protocol" => config.compat = Compat::Protocol,
            "max_moves" => config.max_moves = value.parse().unwrap(),
            "least_time" => config.least_time = value.parse().unwrap(),
            "grace" => config.grace = Some(value.parse().unwrap()),
            "comments" => config.comments = value.parse().unwrap(),
            _ => panic!("{}: unknown setting `{key} = {value}`", golden.name),
        }
    }
    config
}

/// Runs `work` and measures the greatest lateness of this machine meanwhile.
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
        let done = {
            let _over = SetAtEnd(&over);
            work()
        };
        (done, watch.join().expect("it only sleeps"))
    })
}

/// Settings of the host that a transcript was recorded on, as far as its lines show.
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

struct Playback {
    clients: HashMap<String, Client>,
    earlier: Vec<Client>,
    /// Lines read while waiting for others.
    backlog: HashMap<String, VecDeque<String>>,
    logged_in: HashMap<String, bool>,
    /// Our Game_IDs by recorded ones.
    ids: HashMap<String, String>,
    /// Client that sent the last line without an answer so far.
    speaker: Option<String>,
    deviations: Vec<Deviation>,
    compared: usize,
    pace: Option<f64>,
    /// Least time charged for a move, in seconds.
    least: u64,
    /// Times of the last two moves or agreements: no turn that is reported now began before the first.
    turns: [Instant; 2],
    /// True if we are inside a game summary or a record, whose moves have earlier times.
    is_history: bool,
}

/// Replays the clients' lines on a host; its settings may depend on the remaining lines.
fn replay(name: &str, script: &[Line], config: impl Fn(&[Line]) -> ServeConfig) -> Result<usize, String> {
    let settings = config(script);
    let mut playback = Playback::new(name, settings.least_time);
    let mut host = Host::start(settings);
    let (mut at, mut before) = (0, 0.0);
    while at < script.len() {
        let Line { at: seconds, who, step } = &script[at];
        let fail = |e| format!("step {at}: {e}");
        match step {
            Step::Connected => {
                // The earlier connection with this letter stays open, as it did in the recording.
                playback.earlier.extend(playback.clients.insert(who.clone(), host.connect()));
                playback.backlog.remove(who);
                playback.logged_in.insert(who.clone(), false);
            }
            Step::Said(line) => playback.say(who, line, seconds - before),
            Step::Heard(line) if line.starts_with("##[WHO] ") => {
                let listed = |line: &&Line| {
                    line.who == *who
                        && matches!(&line.step, Step::Heard(line) if line.starts_with("##[WHO] "))
                };
                let count = script[at..].iter().take_while(listed).count();
                playback.hear_sorted(who, &script[at..at + count]).map_err(fail)?;
                at += count - 1;
            }
            Step::Heard(line) => playback.hear(who, line).map_err(fail)?,
            Step::ClientCloses => drop(playback.clients.remove(who)),
            Step::Server => host = Host::start(config(&script[at..])),
            Step::ServerCloses => playback.closed(who).map_err(fail)?,
            Step::Waits(_) => {}
        }
        before = *seconds;
        at += 1;
    }
    let unmet = playback.deviations.first().map(|unmet| format!("`{}` is never sent", unmet.recorded));
    unmet.map_or(Ok(playback.compared), Err)
}

impl Playback {
    fn new(name: &str, least: u32) -> Self {
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
            least: u64::from(least),
            turns: [Instant::now(); 2],
            is_history: false,
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

    /// Waits until the league has read all lines of `who`: it sends a keep-alive and reads its answer.
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
        let recorded = &recorded.replace(VERSION, env!("CARGO_PKG_VERSION"));
        let mark = recorded.strip_suffix(line).unwrap_or_default();
        let expected = match known {
            Some(at) => self.deviations.remove(at).ours.iter().map(|ours| format!("{mark}{ours}")).collect(),
            None => vec![recorded.to_owned()],
        };
        expected.into_iter().try_for_each(|expected| self.compare(who, &expected))
    }

    fn compare(&mut self, who: &str, expected: &str) -> Result<(), String> {
        let heard =
            self.next(who).ok_or_else(|| format!("{who} should receive `{expected}` but is disconnected"))?;
        let id = heard.strip_prefix("Game_ID:");
        if let (Some(recorded), Some(ours)) = (expected.strip_prefix("Game_ID:"), id) {
            self.ids.insert(recorded.to_owned(), ours.to_owned());
        }
        match expected {
            "BEGIN Game_Summary" => self.is_history = true,
            "END Game_Summary" => self.is_history = false,
            _ => {}
        }
        self.compared += 1;
        let (ours, recorded) = (masked(&heard), masked(expected));
        let is_left = self.is_left(&ours, &recorded);
        let ((ours, charged), (recorded, due)) = (untimed(&ours), untimed(&recorded));
        if is_left || ours == recorded && self.is_due(charged, due) {
            Ok(())
        } else {
            Err(format!("{who} should receive `{expected}` but receives `{heard}`"))
        }
    }

    /// True if charging `ours` instead of `recorded` is acceptable.
    fn is_due(&self, ours: Option<u64>, recorded: Option<u64>) -> bool {
        let (Some(ours), Some(recorded)) = (ours, recorded) else { return ours == recorded };
        let late = self.turns[0].elapsed().as_secs();
        match self.pace {
            _ if self.is_history => ours == recorded,
            Some(_) => (recorded..=late.max(recorded)).contains(&ours),
            None => ours <= late.max(self.least),
        }
    }

    /// True if both lines report remaining time and ours is smaller by no more than this machine's lateness.
    fn is_left(&self, ours: &str, recorded: &str) -> bool {
        let read = |line: &str| {
            let (key, seconds) = line.rsplit_once(':').filter(|(key, _)| key.contains("Remaining_Time"))?;
            Some((key.to_owned(), seconds.parse::<u64>().ok()?))
        };
        let Some((ours, recorded)) = read(ours).zip(read(recorded)) else { return false };
        let late = self.turns[0].elapsed().as_secs();
        ours.0 == recorded.0 && (recorded.1.saturating_sub(late)..=recorded.1).contains(&ours.1)
    }

    /// Players are listed in no fixed order.
    fn hear_sorted(&mut self, who: &str, block: &[Line]) -> Result<(), String> {
        let mut heard: Vec<_> = block.iter().filter_map(|_| Some(without_trips(&self.next(who)?))).collect();
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
            Err(format!("{who} should receive {expected:?} but receives {heard:?}"))
        }
    }

    /// A note about an earlier connection of the same name may arrive late.
    fn closed(&mut self, who: &str) -> Result<(), String> {
        if self.logged_in.get(who) != Some(&true) {
            return Ok(());
        }
        match self.clients.remove(who).map(|mut client| client.line()) {
            None | Some(None) => Ok(()),
            Some(Some(line)) => Err(format!("{who} should be disconnected but receives `{line}`")),
        }
    }
}

/// A line without its spectator's mark.
fn plain(line: &str) -> &str {
    match line.strip_prefix("##[MONITOR") {
        Some(marked) => marked.split_once("] ").map_or(line, |(_, line)| line),
        None => line,
    }
}

/// A line without the trips that a host has made with its own key.
pub fn without_trips(line: &str) -> String {
    let mut parts = line.split('+');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let trip = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        text.push('+');
        match trip == TRIP_LENGTH {
            true => text.extend([TRIP, &part[trip..]]),
            false => text += part,
        }
    }
    text
}

/// A line without dates and without trips of a key.
pub fn masked(line: &str) -> String {
    let mut line = without_trips(line);
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

/// A line without its charged time, and that time in seconds.
pub fn untimed(line: &str) -> (&str, Option<u64>) {
    // Spectators receive the time on a separate line.
    let parted = line.split_once(",T").or_else(|| line.rsplit_once("] T"));
    match parted {
        Some((mv, time)) => time.parse().map_or((line, None), |time| (mv, Some(time))),
        None => (line, None),
    }
}
