//! Notices, as a fold of the entries of an event.

use super::Subject;
use contest::{
    fault_limit::FaultLimit,
    standings::{REPEATS, Standings},
};
use plan::NoticeKind;
use referee::{
    entry::{Entry, Stamped},
    precision::PRECISE,
    sprt::BY_FAULTS,
};
use serde_json::{Map, Value, json};
use std::fmt::Display;

/// Version of the JSON; fields are only added to a version.
const VERSION: u32 = 1;
/// Players listed in a notice, at most.
const PLAYERS: usize = 100;

#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub kind: NoticeKind,
    /// Its name, the same whenever it is derived from the same entries.
    pub id: String,
    /// When it happened, in ms since 1970-01-01 UTC.
    pub at: i64,
    /// True if the sequential test of the event had a verdict by then.
    pub decided: bool,
    /// The JSON to deliver.
    pub body: Value,
}

impl Notice {
    /// True for the end of a sequential test: by a verdict, or without one.
    pub fn ends_test(&self) -> bool {
        match self.kind {
            NoticeKind::Verdict | NoticeKind::FaultLimit => true,
            NoticeKind::End => !self.decided,
            NoticeKind::EngineHalted | NoticeKind::Restarted | NoticeKind::Disk => false,
        }
    }
}

/// Derives the notices from the entries.
#[derive(Debug)]
pub struct NoticeFold {
    event: String,
    standings: Standings,
    players: Vec<String>,
    /// The limit of faults of players who join.
    limit: Option<FaultLimit>,
    /// Time of the first entry, which distinguishes events of one name.
    begun: Option<i64>,
    runs: u64,
    verdicts: u64,
}

impl NoticeFold {
    /// The fold before the first entry.
    pub fn new(subject: &Subject) -> Self {
        let limits = subject.fault_limits.iter().copied();
        Self {
            event: subject.name.clone(),
            standings: Standings::new(&subject.stages, subject.fault_limits.len()).with_fault_limits(limits),
            players: vec![],
            limit: subject.fault_limits.iter().flatten().next().copied(),
            begun: None,
            runs: 0,
            verdicts: 0,
        }
    }

    /// Folds an entry, and returns its notices.
    pub fn fold(&mut self, Stamped { at, entry }: &Stamped) -> Vec<Notice> {
        if matches!(entry, Entry::Moved(_) | Entry::Memory { .. } | Entry::Judged(_)) {
            return vec![];
        }
        let halts = self.standings.halts().len();
        self.standings.fold(entry);
        match entry {
            Entry::Opened(opened) => {
                self.players.clone_from(&opened.players);
                self.begun.get_or_insert(*at);
                self.runs += u64::from(opened.resumed || self.runs == 0);
                opened.resumed.then(|| self.restarted(*at)).into_iter().collect()
            }
            Entry::Entered { player, name } => {
                if player.index() == self.players.len() {
                    self.players.push(name.clone());
                    self.standings.limit_faults(*player, self.limit);
                }
                vec![]
            }
            Entry::Renamed { player, name } => {
                self.players.get_mut(player.index()).into_iter().for_each(|known| known.clone_from(name));
                vec![]
            }
            Entry::Verdict { verdict, llr, pairs } => {
                self.verdicts += 1;
                vec![self.verdict(*at, verdict, *llr, *pairs)]
            }
            Entry::GameEnded(_) => {
                (halts..self.standings.halts().len()).map(|n| self.halted(*at, n)).collect()
            }
            Entry::Closed => {
                // Not their number: an end that is taken back, as the event grows or games are played again, goes from the log.
                let text = format!("complete after {} games", self.games());
                vec![self.notice(NoticeKind::End, at, *at, &text)]
            }
            _ => vec![],
        }
    }

    fn restarted(&self, at: i64) -> Notice {
        let text = format!("started again, run {}", self.runs);
        self.notice(NoticeKind::Restarted, self.runs, at, &text).with("run", self.runs.into())
    }

    fn verdict(&self, at: i64, verdict: &str, llr: f64, pairs: u64) -> Notice {
        let text = match verdict {
            PRECISE => format!("Elo is known well enough after {pairs} pairs"),
            BY_FAULTS => format!("no verdict on strength after {pairs} pairs: faults decided"),
            REPEATS => format!("no verdict after {pairs} pairs: the last games repeated earlier ones"),
            _ => format!("{verdict} accepted after {pairs} pairs, LLR {llr:.2}"),
        };
        let (key, test) = match verdict {
            PRECISE => ("precision", json!({ "pairs": pairs })),
            _ => ("sprt", json!({ "verdict": verdict, "llr": llr, "pairs": pairs })),
        };
        self.notice(NoticeKind::Verdict, self.verdicts, at, &text).with(key, test)
    }

    fn halted(&self, at: i64, number: usize) -> Notice {
        let halt = self.standings.halts()[number];
        let name = self.player(halt.player.index());
        let text = format!("engine `{name}` is halted: {halt}");
        // A raised limit halts the same engine again, after further faults.
        let key = format!("{}/{}", halt.player.0, halt.faults);
        let why =
            json!({ "name": name, "faults": halt.faults, "games": halt.games, "reason": halt.to_string() });
        self.notice(NoticeKind::EngineHalted, key, at, &text).with("halted", why)
    }

    /// A notice of the event as it stands.
    pub fn notice(&self, kind: NoticeKind, key: impl Display, at: i64, text: &str) -> Notice {
        let id = format!("{}/{}/{}/{key}", self.event, self.begun.unwrap_or(at), kind.word());
        let text = format!("{}: {text}", self.event);
        let body = json!({
            "version": VERSION,
            "id": id,
            "notice": kind.word(),
            "event": self.event,
            "at": at,
            "text": text,
            "content": text,
            "games": self.games(),
            "players": self.standing(),
        });
        Notice { kind, id, at, decided: self.standings.verdict().is_some(), body }
    }

    /// Games that count.
    pub fn games(&self) -> u64 {
        self.standings.total().met.values().map(|met| met.games()).sum()
    }

    fn player(&self, index: usize) -> &str {
        self.players.get(index).map_or("?", String::as_str)
    }

    fn standing(&self) -> Vec<Value> {
        let row = |(index, record): (usize, &contest::standings::Record)| {
            let games = record.games();
            json!({
                "name": self.player(index),
                "wins": games.wins,
                "draws": games.draws,
                "losses": games.losses,
                "faults": record.faults(),
            })
        };
        self.standings.total().players.iter().enumerate().take(PLAYERS).map(row).collect()
    }
}

impl Notice {
    fn with(mut self, name: &str, value: Value) -> Self {
        self.body.as_object_mut().unwrap_or(&mut Map::new()).insert(name.to_owned(), value);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contest::fault_limit::FaultLimit;
    use contest::stage::{Format, Stage};
    use referee::{
        Color, Outcome, WinBy,
        entry::{GameEnded, GameId, Opened, PlayerId},
        operation::{Action, NamedGame, Operation},
        pairing::Pairing,
    };

    fn fold() -> NoticeFold {
        NoticeFold::new(&Subject {
            database: "x.db".into(),
            name: "x".to_owned(),
            stages: vec![Stage { format: Format::Sprt { max_games: 100 }, games: 2, ..Stage::default() }],
            fault_limits: vec![Some(FaultLimit::default()); 2],
        })
    }

    fn entries(resumed: bool) -> Vec<Entry> {
        let players = vec!["good".to_owned(), "bad".to_owned()];
        let opened = |resumed| {
            Entry::Opened(Opened {
                name: "x".to_owned(),
                players: players.clone(),
                format: "sprt".to_owned(),
                resumed,
            })
        };
        let mut entries = vec![opened(false)];
        entries.extend(resumed.then(|| opened(true)));
        entries.extend((0..6).map(|index| {
            let (black, white) = (PlayerId(0), PlayerId(1));
            let pairing =
                Pairing { stage: 0, index, attempt: 0, round: 0, pair: index / 2, opening: 0, black, white };
            let outcome = Outcome::Win { winner: Color::Black, by: WinBy::Disconnection };
            let game = GameId(index + 1);
            Entry::GameEnded(GameEnded::new(game, pairing, outcome, 3))
        }));
        entries.push(Entry::Verdict { verdict: "faults".to_owned(), llr: 3.0, pairs: 3 });
        entries.push(Entry::Closed);
        entries
    }

    fn told(entries: &[Entry]) -> Vec<Notice> {
        let mut fold = fold();
        let stamped = entries.iter().enumerate();
        stamped.flat_map(|(at, entry)| fold.fold(&Stamped { at: at as i64, entry: entry.clone() })).collect()
    }

    #[test]
    fn the_same_entries_give_the_same_notices() {
        let first = told(&entries(false));
        let kinds: Vec<_> = first.iter().map(|notice| notice.kind).collect();
        assert_eq!(kinds, [NoticeKind::EngineHalted, NoticeKind::Verdict, NoticeKind::End]);
        assert_eq!(first, told(&entries(false)));
        assert_eq!(first[0].body["halted"]["name"], "bad");
        assert_eq!(first[0].body["text"], "x: engine `bad` is halted: 5 games in a row ended by its faults");
        assert_eq!(first[1].id, "x/0/verdict/1");
        let wants: Vec<_> = first.iter().map(Notice::ends_test).collect();
        assert_eq!(wants, [false, true, false], "the end after a verdict is no news of the test");
    }

    #[test]
    fn an_end_after_games_were_played_again_is_another_one_without_their_faults() {
        let mut entries = entries(false);
        let Entry::GameEnded(lost) = entries[1].clone() else { panic!("{:?}", entries[1]) };
        let (number, black, white) = (lost.game, "good".to_owned(), "bad".to_owned());
        let game = NamedGame { game: number, black, white, round: 0 };
        let action = Action::Replayed { game, pairing: lost.pairing, was: lost.outcome };
        let (by, reason) = ("kai".to_owned(), String::new());
        entries.push(Entry::Operator(Box::new(Operation { number: 1, by, reason, undoes: None, action })));
        let (game, pairing) = (GameId(7), Pairing { attempt: 1, ..lost.pairing });
        let outcome = Outcome::Win { winner: Color::Black, by: WinBy::Resignation };
        entries.push(Entry::GameEnded(GameEnded::new(game, pairing, outcome, 40)));
        entries.push(Entry::Closed);
        let notices = told(&entries);
        let ends: Vec<_> = notices.iter().filter(|notice| notice.kind == NoticeKind::End).collect();
        let faults = ends.iter().map(|end| end.body["players"][1]["faults"].clone()).collect::<Vec<_>>();
        assert_eq!(faults, [6, 5]);
        assert!(ends[0].id != ends[1].id && ends.iter().all(|end| end.body["games"] == 6), "{ends:?}");
    }

    #[test]
    fn a_new_start_is_told_with_the_number_of_the_run() {
        let notices = told(&entries(true));
        assert_eq!((notices[0].kind, &notices[0].body["run"]), (NoticeKind::Restarted, &2.into()));
        assert_eq!(notices[0].body["text"], "x: started again, run 2");
    }
}
