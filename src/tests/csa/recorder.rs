//! Records the golden conversations; see `testing::conversation`.

use super::{
    client::{Client, Host},
    script::{Line, Step},
    transcripts::{VERSION, settings, untimed, without_trips},
};
use plan::serve::ServeConfig;
use std::{collections::BTreeMap, path::Path, time::Duration};
use testing::conversation::Conversation;

/// Silence on all connections after which all lines have arrived.
const QUIET: Duration = Duration::from_millis(15);

#[test]
#[ignore = "writes src/tests/testing/conversations"]
fn golden_conversations_are_recorded_again() {
    for path in testing::files(&testing::file("conversations")) {
        record(&path);
    }
}

fn record(path: &Path) {
    let conversation = Conversation::load(path);
    let text = testing::text(path);
    let mut recorded: String =
        text.lines().take_while(|line| line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
    let mut recorder = Recorder::new(settings(&conversation));
    for line in &conversation.lines {
        recorder.step(line);
    }
    recorder.lines.iter().for_each(|line| recorded += &format!("{line}\n"));
    std::fs::write(path, recorded).unwrap();
}

struct Recorder {
    host: Host,
    /// Seconds charged per move: 0, however long the recording takes.
    charged: u32,
    /// True if we are inside a game summary, whose moves keep their times.
    in_summary: bool,
    clients: BTreeMap<String, Client>,
    /// Game_IDs of the host and in the file.
    ids: Vec<(String, String)>,
    lines: Vec<Line>,
}

impl Recorder {
    fn new(config: ServeConfig) -> Self {
        let charged = config.least_time;
        let host = Host::start(config);
        Self { host, charged, in_summary: false, clients: BTreeMap::new(), ids: vec![], lines: vec![] }
    }

    fn step(&mut self, line: &Line) {
        let who = &line.who;
        match &line.step {
            Step::Heard(_) | Step::ServerCloses => return,
            Step::Connected => drop(self.clients.insert(who.clone(), self.host.connect())),
            Step::ClientCloses => drop(self.clients.remove(who)),
            Step::Said(text) => {
                let ours =
                    self.ids.iter().fold(text.clone(), |text, (ours, golden)| text.replace(golden, ours));
                match self.clients.get_mut(who) {
                    Some(client) => client.say(&ours),
                    None => {
                        return eprintln!("left out, because the host has closed the connection: `{line}`");
                    }
                }
            }
            Step::Waits(_) => {}
            Step::Server => panic!("a golden conversation has one host"),
        }
        self.lines.push(line.clone());
        if let Step::Waits(text) = &line.step {
            while let Some(heard) = self.clients.get_mut(who).expect("a waiting client is connected").line() {
                let last = heard.starts_with(text);
                self.heard(who, &heard);
                if last {
                    break;
                }
            }
        }
        self.listen();
    }

    /// Records what every connection receives until all are silent.
    fn listen(&mut self) {
        loop {
            let mut news = vec![];
            self.clients.retain(|who, client| {
                let (lines, closed) = client.pending(QUIET);
                news.extend(lines.into_iter().map(|line| (who.clone(), Some(line))));
                news.extend(closed.then(|| (who.clone(), None)));
                !closed
            });
            if news.is_empty() {
                return;
            }
            for (who, line) in news {
                match line {
                    Some(line) => self.heard(&who, &line),
                    None => self.lines.push(Line { at: 0.0, who, step: Step::ServerCloses }),
                }
            }
        }
    }

    fn heard(&mut self, who: &str, line: &str) {
        if let Some(id) =
            line.strip_prefix("Game_ID:").filter(|id| self.ids.iter().all(|(ours, _)| ours != id))
        {
            let (name, _date) = id.rsplit_once('+').expect("an id ends in its date");
            self.ids.push((id.to_owned(), format!("{name}+{}", 20_260_101_000_001 + self.ids.len() as u64)));
        }
        let text = self.ids.iter().fold(line.to_owned(), |text, (ours, golden)| text.replace(ours, golden));
        let text = match text.find("$START_TIME:") {
            Some(at) => format!("{}$START_TIME:2026/01/01 00:00:00", &text[..at]),
            None => text.replace(concat!("Renmei ", env!("CARGO_PKG_VERSION")), &format!("Renmei {VERSION}")),
        };
        let text = without_trips(&text);
        self.in_summary = (self.in_summary || text == "BEGIN Game_Summary") && text != "END Game_Summary";
        let text = match untimed(&text) {
            (played, Some(_)) if !self.in_summary => {
                let between = if text[played.len()..].starts_with(',') { ",T" } else { "] T" };
                format!("{played}{between}{}", self.charged)
            }
            _ => text,
        };
        self.lines.push(Line { at: 0.0, who: who.to_owned(), step: Step::Heard(text) });
    }
}
