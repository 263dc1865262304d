//! Live output of an event: lines about entries, after their commit.

use super::{EventInfo, Language, Named, progress::Progress};
use contest::{fault_limit::is_faulted, standings::Verdict};
use notation::{csa::game_name::short_ids, printable, printable_json};
use referee::{
    AbortBy, Outcome,
    entry::{Entry, GameEnded, GameId, Stamped, WARNING},
    number::plies,
};
use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufWriter, Write},
};

/// A file to which every entry is appended as a line of JSON.
#[derive(Debug)]
pub struct EventFile(Option<BufWriter<File>>);

impl EventFile {
    /// Appends to this file.
    pub fn new(file: File) -> Self {
        Self(Some(BufWriter::new(file)))
    }

    /// Appends a committed batch. If the file cannot be written, one message goes to stderr and the event continues.
    pub fn write(&mut self, batch: &[Stamped]) {
        if let Some(Err(error)) = self.0.as_mut().map(|to| lines(to, batch)) {
            let _reader_gone = writeln!(io::stderr(), "entries are no longer written: {error}");
            self.0 = None;
        }
    }
}

/// Announces committed entries: a line of text per game, how the event stands every so often, a line of JSON per entry.
pub struct Announcer {
    info: EventInfo,
    /// Players of an open league by their names without a trip: the short names of namesakes depend on each other.
    namesakes: HashMap<String, Vec<usize>>,
    /// The output of lines of text.
    pub lines: Option<Box<dyn Write + Send>>,
    /// Lines about the progress.
    pub progress: Option<Progress>,
    /// True if the lines of games and byes are left out.
    pub quiet: bool,
    /// The file for lines of JSON.
    pub json: Option<EventFile>,
}

impl Announcer {
    /// An announcer without outputs.
    pub fn new(info: EventInfo) -> Self {
        let (namesakes, lines, progress, quiet, json) = Default::default();
        Self { info, namesakes, lines, progress, quiet, json }
    }

    /// Announces a committed batch. An output whose reader is gone is dropped; the event continues.
    pub fn announce(&mut self, batch: &[Stamped]) {
        if let Some(json) = &mut self.json {
            json.write(batch);
        }
        let now = journal::now();
        for stamped in batch {
            let line = self.line(&stamped.entry).filter(|_| !self.quiet || !is_frequent(&stamped.entry));
            let progress = self.progress.as_mut().and_then(|progress| progress.take(stamped, now));
            for line in line.into_iter().chain(progress) {
                if self.lines.as_mut().is_some_and(|to| writeln!(to, "{line}").is_err()) {
                    self.lines = None;
                }
            }
        }
    }

    /// Keeps the names of players who come and go, and of those who play in another's place.
    fn name(&mut self, event: &Entry) {
        let engines = &mut self.info.engines;
        if !self.info.open {
            match event {
                Entry::Opened(opened) => {
                    engines.iter_mut().zip(&opened.players).for_each(|(known, name)| known.rename(name));
                }
                Entry::Renamed { player, name } => {
                    engines.get_mut(player.index()).into_iter().for_each(|known| known.rename(name));
                }
                _ => {}
            }
            return;
        }
        match event {
            Entry::Opened(opened) => {
                *engines = opened.players.iter().map(|name| Named::whole(name)).collect();
            }
            Entry::Entered { name, .. } => {
                engines.push(Named::whole(name));
                let bearers = self.namesakes.entry(bare(name)).or_default();
                bearers.push(engines.len() - 1);
                return shorten(engines, bearers);
            }
            Entry::Renamed { player, name } => {
                engines.get_mut(player.index()).into_iter().for_each(|known| *known = Named::whole(name));
            }
            _ => return,
        }
        self.namesakes.clear();
        for (at, engine) in engines.iter().enumerate() {
            self.namesakes.entry(bare(&engine.id)).or_default().push(at);
        }
        self.namesakes.values().for_each(|bearers| shorten(engines, bearers));
    }

    fn line(&mut self, event: &Entry) -> Option<String> {
        self.name(event);
        match event {
            Entry::Opened(opened) => {
                let how = if opened.resumed { "goes on" } else { "begins" };
                Some(format!("{} {how}: {}", opened.name, opened.format))
            }
            Entry::GameEnded(end) => Some(self.game_line(end)),
            Entry::Bye { stage, round, player, half_points } => {
                let (stage, words) = (self.info.stages.get(usize::from(*stage)), Language::English);
                let is_half = stage.is_some_and(|stage| stage.is_half_bye(*half_points));
                let sort = if is_half { words.half_bye() } else { words.bye() };
                Some(words.has_a_bye(*round, self.info.player(*player), sort))
            }
            Entry::Fault { text, .. } if text.starts_with(WARNING) => None, // printed when the engine was looked at
            Entry::Fault { text, .. } => Some(format!("fault:{}", shown(text, None))),
            Entry::Verdict { verdict, llr, pairs } => {
                Some(Verdict { verdict: verdict.clone(), llr: *llr, pairs: *pairs }.words())
            }
            Entry::Operator(operation) => Some(printable(operation.to_string().as_bytes())),
            Entry::Entered { player, name } => {
                if !self.info.open && player.index() == self.info.engines.len() {
                    self.info.engines.push(Named::whole(name));
                }
                None
            }
            Entry::Renamed { .. }
            | Entry::GameStarted(_)
            | Entry::Moved(_)
            | Entry::Memory { .. }
            | Entry::Judged(_)
            | Entry::Closed => None,
        }
    }

    fn game_line(&self, end: &GameEnded) -> String {
        let (black, white) = (self.info.player(end.pairing.black), self.info.player(end.pairing.white));
        let mut line = format!(
            "game {}  {black} - {white}  {}  {} ({})",
            end.game.0,
            end.outcome.score_words(),
            end.outcome.cause(),
            plies(end.plies)
        );
        line.extend(end.reason().map(|reason| format!(": {}", printable(reason.as_bytes()))));
        if is_dispute(end.outcome) {
            line.push_str(&shown(&end.evidence, Some(end.game)));
        }
        line
    }
}

/// The name of an id.
fn bare(id: &str) -> String {
    id.split('+').next().unwrap_or_default().to_owned()
}

/// Gives namesakes names that tell them apart.
fn shorten(engines: &mut [Named], bearers: &[usize]) {
    let ids: Vec<String> = bearers.iter().map(|&at| engines[at].id.clone()).collect();
    bearers.iter().zip(short_ids(&ids)).for_each(|(&at, name)| engines[at].name = name);
}

/// Entries of which an event has many.
fn is_frequent(entry: &Entry) -> bool {
    matches!(entry, Entry::GameEnded(_) | Entry::Bye { .. })
}

/// Lines shown of a fault, beside those of a conversation.
const FAULT: usize = 50;
/// Lines shown of each channel of the conversation with an engine that lost by a fault.
const SHOWN: usize = 5;

/// Evidence below the line it belongs to: the last lines of the conversation, without those of the search, and of stderr.
fn shown(evidence: &str, game: Option<GameId>) -> String {
    let mark = |line: &str| line.trim_start().split_once(' ').map_or("", |(mark, _)| mark).to_owned();
    let is_said = |line: &&str| matches!(&*mark(line), ">" | "<" | "!");
    let [stderr, protocol] = [true, false].map(|of_stderr| {
        let is_search = |line: &str| line.trim_start().starts_with("< info ");
        let said = evidence.lines().filter(is_said);
        said.filter(|line| (mark(line) == "!") == of_stderr && !is_search(line)).collect::<Vec<_>>()
    });
    let last = |lines: &Vec<_>| lines.len().saturating_sub(SHOWN);
    let most = if game.is_some() { SHOWN } else { FAULT };
    let words = evidence.lines().filter(|line| !is_said(line)).take(most);
    let said = [&protocol[last(&protocol)..], &stderr[last(&stderr)..]].concat();
    let lines: Vec<&str> = words.chain(said).collect();
    let mut text: String =
        lines.iter().map(|line| format!("\n      {}", printable(line.as_bytes()))).collect();
    if let Some(game) = game.filter(|_| protocol.len() + stderr.len() > 0) {
        text.push_str(&format!("\n      more of it: `renmei log {}`", game.0));
    }
    text
}

/// Endings that may be disputed.
fn is_dispute(outcome: Outcome) -> bool {
    let is_stop = outcome == Outcome::Aborted { by: AbortBy::Stopped };
    is_faulted(outcome) || !outcome.counts() && !is_stop
}

fn lines(to: &mut impl Write, batch: &[Stamped]) -> io::Result<()> {
    for stamped in batch {
        let json = serde_json::to_string(stamped)?;
        writeln!(to, "{}", printable_json(&json))?;
    }
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use contest::schedule::Pairing;
    use referee::{Color, DrawBy, WinBy, entry::PlayerId};

    #[test]
    fn the_number_in_a_result_line_is_the_games_own_in_whatever_order_games_end() {
        let info = EventInfo { engines: ["a", "b"].map(Named::whole).into(), ..EventInfo::default() };
        let mut announcer = Announcer::new(info);
        let mut line = |game, outcome| {
            let (black, white) = (PlayerId(0), PlayerId(1));
            let (stage, attempt, round, pair, opening) = (0, 0, 1, 0, 0);
            let pairing = Pairing { stage, index: game, attempt, round, pair, opening, black, white };
            let end = GameEnded::new(GameId(game), pairing, outcome, 9);
            announcer.line(&Entry::GameEnded(end)).unwrap()
        };
        let draw = line(2, Outcome::Draw { by: DrawBy::Sennichite });
        assert_eq!(draw, "game 2  a - b  1/2  sennichite (9 plies)");
        assert!(line(10, Outcome::loss(Color::White, WinBy::Resignation)).starts_with("game 10  a - b  1-0"));
        assert!(line(1, Outcome::Aborted { by: AbortBy::Stopped }).starts_with("game 1  a - b  "));
    }

    #[test]
    fn a_bye_that_was_given_is_a_half_point_bye() {
        let stages = vec![contest::stage::Stage { games: 1, ..Default::default() }];
        let info = EventInfo { stages, engines: vec![Named::whole("a")], ..EventInfo::default() };
        let mut announcer = Announcer::new(info);
        let mut line = |half_points| {
            let bye = Entry::Bye { stage: 0, round: 2, player: PlayerId(0), half_points };
            announcer.line(&bye).unwrap()
        };
        assert_eq!([1, 2].map(&mut line), ["round 2: a has a half-point bye", "round 2: a has a bye"]);
    }

    #[test]
    fn of_players_who_come_to_a_league_only_namesakes_are_told_apart_by_their_trips() {
        let mut announcer = Announcer::new(EventInfo { open: true, ..EventInfo::default() });
        let ids = ["a+97d76f4c", "b+1234567", "a+97d7bb00", "c+1"];
        for (player, name) in (0..).map(PlayerId).zip(ids) {
            announcer.name(&Entry::Entered { player, name: name.to_owned() });
        }
        let names = |announcer: &Announcer| -> Vec<String> {
            announcer.info.engines.iter().map(|engine| engine.name.clone()).collect()
        };
        assert_eq!(names(&announcer), ["a+97d76", "b", "a+97d7b", "c"]);
        announcer.name(&Entry::Renamed { player: PlayerId(2), name: "c+2".to_owned() });
        assert_eq!(names(&announcer), ["a", "b", "c+2", "c+1"]);
        let players = names(&announcer).into_iter().chain(["b+7".to_owned()]).collect();
        let opened =
            referee::entry::Opened { name: String::new(), players, format: String::new(), resumed: true };
        announcer.name(&Entry::Opened(opened));
        assert_eq!(names(&announcer), ["a", "b", "c+2", "c+1", "b+7"]);
    }

    #[test]
    fn a_line_has_the_name_of_the_substitute() {
        let info = EventInfo { engines: ["a", "b"].map(Named::whole).into(), ..EventInfo::default() };
        let mut announcer = Announcer::new(info);
        let (black, white) = (PlayerId(0), PlayerId(1));
        announcer.line(&Entry::Renamed { player: white, name: "kai".to_owned() });
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let mut line = || {
            let end = GameEnded::new(GameId(1), pairing, Outcome::loss(Color::White, WinBy::Resignation), 9);
            announcer.line(&Entry::GameEnded(end)).unwrap()
        };
        assert!(line().starts_with("game 1  a - kai  1-0"), "{}", line());
    }

    #[test]
    fn a_loss_by_a_fault_shows_the_last_lines_without_those_of_the_search_and_the_command_for_more() {
        let mut evidence =
            "white: `7g7f` came after 203 ms of 200 ms\n  the engine waited 90 ms\n".to_owned();
        for line in ["> usi", "< usiok", "> isready", "< readyok", "> go byoyomi 100", "< bestmove 7g7f"] {
            evidence += &format!("  {line}\n  < info depth 9 score cp 3\n");
        }
        evidence += "  ! out of memory\n";
        let shown: Vec<_> =
            shown(&evidence, Some(GameId(11))).lines().map(|line| line.trim().to_owned()).collect();
        assert_eq!(
            shown,
            [
                "",
                "white: `7g7f` came after 203 ms of 200 ms",
                "the engine waited 90 ms",
                "< usiok",
                "> isready",
                "< readyok",
                "> go byoyomi 100",
                "< bestmove 7g7f",
                "! out of memory",
                "more of it: `renmei log 11`",
            ]
        );
        assert_eq!(
            super::shown("withdrawn by the arbiter", Some(GameId(2))).trim(),
            "withdrawn by the arbiter"
        );
    }
}
