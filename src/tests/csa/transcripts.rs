//! Every transcript recorded from floodgate's server: its client lines in, our lines out, compared line by line.
//!
//! Compared are all lines of each connection in their order. Not compared, since they are the moment's: the dates in game
//! ids and records, and the seconds charged. The other deviations are listed in [`deviations`], each with its reason.

use super::client::{Client, Host};
use renmei::{league::config::ServeConfig, seat::csa_host::Compat};
use std::{
    collections::{HashMap, VecDeque},
    path::Path,
};

/// Something that happened on a connection.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Connected,
    Said(String),
    Heard(String),
    ClientCloses,
    ServerCloses,
    /// A heading; games and connections of one section are done before the next.
    Section(String),
}

type Script = Vec<(String, Step)>;

/// Transcripts that are not replayed, and why.
const NOT_REPLAYED: [(&str, &str); 9] = [
    (
        "20a_time_up",
        "#TIME_UP is told at the instant here, not when the mover says something; tested by itself",
    ),
    ("20b_time_up", "as 20a"),
    ("20c_time_up", "as 20a"),
    ("20d_time_up", "as 20a"),
    ("20e_time_up", "as 20a"),
    ("20f_stopwatch", "stop-watch clocks are not kept yet"),
    ("20g_agree", "waits for 120 s"),
    ("21_duplicate", "two connections bear one letter in it; the stall it shows is not there"),
    ("23_floodgate", "floodgate's timed rounds are not there yet"),
];

/// Sections that are not replayed, and why.
const LEFT_OUT: [(&str, &str, &str); 3] = [
    (
        "13_",
        "(b)",
        "who drops the line loses at once here, not when the opponent has moved; tested by itself",
    ),
    ("24_", "sennichite", "shogi-server shows spectators the board before the last move of a repetition"),
    ("24_", "time up", "#TIME_UP is told at the instant here; tested by itself"),
];

struct Deviation {
    /// Beginning of the transcript's name.
    of: &'static str,
    /// Beginning of the recorded line, without a spectator's mark; each deviation is met once.
    recorded: &'static str,
    ours: Vec<String>,
}

/// Recorded lines that we say otherwise.
fn deviations() -> Vec<Deviation> {
    let deviation = |of, recorded, ours: &[&str]| {
        let ours = ours.iter().map(|line| (*line).to_owned()).collect();
        Deviation { of, recorded, ours }
    };
    let version = format!("##[VERSION] Renmei {}", env!("CARGO_PKG_VERSION"));
    vec![
        deviation("17_", "##[VERSION] Shogi Server", &[&version]),
        // A buoy that an earlier recording had left behind.
        deviation("17_", "##[ERROR] duplicated buoy game name: buoy_test_1", &["##[SETBUOY] +OK"]),
        // shogi-server reads the number of moves to fork after as 0, whatever it is.
        deviation(
            "17_",
            "##[ERROR] number of moves to fork is out of range: 2.",
            &["##[FORK]: new buoy game name: buoy_myfork-600-10", "##[FORK] +OK", "##[SETBUOY] +OK"],
        ),
    ]
}

#[test]
fn recorded_client_lines_bring_the_recorded_server_lines() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/protocol/transcripts");
    let Ok(files) = std::fs::read_dir(&dir) else {
        eprintln!("no transcripts in {}: nothing is compared", dir.display());
        return;
    };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let mut failures = vec![];
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match NOT_REPLAYED.iter().find(|(prefix, _)| name.starts_with(prefix)) {
            Some((_, why)) => eprintln!("{name}: not replayed: {why}"),
            None => match replay(&name, &script(&std::fs::read_to_string(&path).unwrap())) {
                Ok(lines) => eprintln!("{name}: {lines} lines as recorded"),
                Err(difference) => failures.push(format!("{name}: {difference}")),
            },
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// `<seconds> <client> <direction> <line>`.
fn script(text: &str) -> Script {
    let step = |line: &str| {
        let (client, rest) = line.trim_start().split_once(' ')?.1.trim_start().split_once(' ')?;
        let (direction, said) = rest.trim_start().split_at_checked(1)?;
        let section = said.strip_prefix(" === ").filter(|_| client == "-");
        let said = said.strip_prefix(' ').unwrap_or(said);
        let plain = if matches!(said, "(LF only)" | "(CRLF only)") { "" } else { said };
        let step = match (direction, said) {
            (">", _) => Step::Said(plain.strip_suffix("\\r\\n").unwrap_or(plain).to_owned()),
            ("<", _) => Step::Heard(plain.to_owned()),
            (_, "[connected]") => Step::Connected,
            (_, "[client closes the socket]") => Step::ClientCloses,
            (_, "[server closed the connection]") => Step::ServerCloses,
            _ => Step::Section(section?.to_owned()),
        };
        Some((client.to_owned(), step))
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(step).collect()
}

/// The league the transcript was recorded on, as far as its lines tell.
fn config(script: &Script) -> ServeConfig {
    let value = |key: &str| {
        script.iter().find_map(|(_, step)| match step {
            Step::Heard(line) => line.strip_prefix(key).map(str::to_owned),
            _ => None,
        })
    };
    let id = value("Game_ID:").unwrap_or_else(|| "test+".to_owned());
    let mut config = ServeConfig { compat: Compat::ShogiServer, ..ServeConfig::default() };
    config.name = id.split('+').next().unwrap().to_owned();
    config.max_moves = value("Max_Moves:").map_or(256, |max| max.parse().unwrap());
    config.limits.lines_per_second = 100_000;
    config
}

#[derive(Default)]
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
}

fn replay(name: &str, script: &Script) -> Result<usize, String> {
    let host = Host::start(config(script));
    let deviations = deviations().into_iter().filter(|known| name.starts_with(known.of)).collect();
    let mut stage = Stage { deviations, ..Stage::default() };
    let (mut at, mut left_out) = (0, false);
    while at < script.len() {
        let (who, step) = &script[at];
        if let Step::Section(title) = step {
            left_out = LEFT_OUT.iter().any(|(of, start, _)| name.starts_with(of) && title.starts_with(start));
        }
        if left_out {
            at += 1;
            continue;
        }
        match step {
            Step::Connected => {
                // The earlier connection of that letter stays, as it did when this was recorded.
                stage.earlier.extend(stage.clients.insert(who.clone(), host.connect()));
                stage.backlog.remove(who);
                stage.logged_in.insert(who.clone(), false);
            }
            Step::Said(line) => stage.say(who, line),
            Step::Heard(line) if line.starts_with("##[WHO] ") => {
                let block = script[at..].iter().take_while(|(client, step)| {
                    client == who && matches!(step, Step::Heard(line) if line.starts_with("##[WHO] "))
                });
                let count = block.count();
                stage.hear_sorted(who, &script[at..at + count]).map_err(|e| format!("step {at}: {e}"))?;
                at += count - 1;
            }
            Step::Heard(line) => stage.hear(who, line).map_err(|e| format!("step {at}: {e}"))?,
            Step::ClientCloses => drop(stage.clients.remove(who)),
            Step::Section(_) => {}
            Step::ServerCloses => stage.closed(who).map_err(|e| format!("step {at}: {e}"))?,
        }
        at += 1;
    }
    Ok(stage.compared)
}

impl Stage {
    fn say(&mut self, who: &str, line: &str) {
        if let Some(speaker) = self.speaker.take().filter(|speaker| speaker != who) {
            self.settle(&speaker);
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
        let known = self.deviations.iter().position(|known| plain(recorded).starts_with(known.recorded));
        let expected = match known {
            Some(at) => self.deviations.remove(at).ours,
            None => vec![recorded.to_owned()],
        };
        for expected in expected {
            let heard = self.next(who);
            let id = heard.as_deref().and_then(|heard| heard.strip_prefix("Game_ID:"));
            if let (Some(recorded), Some(ours)) = (recorded.strip_prefix("Game_ID:"), id) {
                self.ids.insert(recorded.to_owned(), ours.to_owned());
            }
            self.compared += 1;
            let heard = heard.as_deref().map(masked);
            if heard.as_deref() != Some(&masked(&expected)) {
                return Err(format!("{who} should hear `{expected}` but hears {heard:?}"));
            }
        }
        Ok(())
    }

    /// Players are listed in no certain order.
    fn hear_sorted(&mut self, who: &str, block: &[(String, Step)]) -> Result<(), String> {
        let mut heard: Vec<_> = block.iter().filter_map(|_| self.next(who)).collect();
        let line = |(_, step): &(String, Step)| match step {
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

/// A line without dates and seconds charged.
fn masked(line: &str) -> String {
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
    match line.split_once(",T") {
        Some((mv, time)) if time.bytes().all(|b| b.is_ascii_digit()) => format!("{mv},T"),
        _ => line,
    }
}
