//! The operator's orders after the last game: the event of a database is opened for one order, and closed again behind it.

use crate::{
    arbitration::Bench,
    operations::{
        Asked, Done, GamesDesk, Operations,
        command::Command,
        request::{Answer, Request},
    },
    rulings::{past, unreadable},
};
use contest::standings::Standings;
use journal::{EventHead, EventId, EventSummary, Journal, Moves, Store, StoreError};
use plan::StoredPlan;
use referee::{
    entry::{Entry, GameId},
    operation::InForce,
    sink::{SideRecord, Sink},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use words::{Language, Message, refuse};

/// Carries a request out on the event of a database that it names, for a person whom the system calls `user`, and answers when
/// it is on the disk; `None`: there is no such event that is over.
///
/// # Errors
/// The refusal.
pub fn carry_out(database: &Path, user: &str, request: &Request) -> Result<Option<Answer>, Message> {
    let events = Store::read(database).and_then(|store| store.events()).map_err(unreadable)?;
    let is_meant = |event: &EventSummary| event.closed && request.event.as_ref() == Some(&event.name);
    let Some(event) = events.into_iter().find(is_meant) else { return Ok(None) };
    if !is_possible(&request.command) {
        return refuse(Language::only_corrections_now);
    }
    let plan = StoredPlan::from_json(&event.plan).map_err(|error| Message::of(|_| error.to_string()))?;
    // The event is there: its own plan and fingerprint stay.
    let head = EventHead { name: &event.name, kind: &event.kind, plan: &event.plan, fingerprint: "{}" };
    let opening = Journal::open(database, &head).map_err(|error| match error {
        StoreError::Running { .. } => Message::of(Language::another_order_has_it),
        error => unreadable(error),
    })?;
    let mut standings = Standings::new(&plan.stages, event.players.len()).with_rules(plan.ranking());
    let (mut is_over, mut in_force, mut naming) = (false, InForce::default(), vec![]);
    let mut fold = |stamped: &referee::entry::Stamped| {
        is_over = stamped.entry == Entry::Closed;
        match &stamped.entry {
            Entry::Operator(operation) => in_force.fold(operation),
            Entry::Opened(_) | Entry::Entered { .. } | Entry::Renamed { .. } => naming.push(stamped.clone()),
            _ => {}
        }
        standings.fold(&stamped.entry);
    };
    opening.replay(Moves::Results, &mut fold).map_err(unreadable)?;
    if !is_over {
        return Ok(None);
    }
    let operations = Operations::new(in_force, Arc::new(Closing(opening.sink())));
    operations.take(&naming);
    let database = database.to_owned();
    let names = event.players.clone();
    let desk =
        Afterwards { database, event: event.id, plan, names, standings, operations: operations.clone() };
    operations.set_games((request.command != Command::List).then(|| Arc::new(desk) as Arc<dyn GamesDesk>));
    operations.set_over();
    let journal = opening.start(vec![operations.reader()], || ()).map_err(unreadable)?;
    let answer = operations.carry_out(user, request);
    operations.set_games(None);
    journal.finish().map_err(unreadable)?;
    answer.map(Some)
}

/// True for orders that change what was played or what is said of it, and for the list of what is in force.
fn is_possible(command: &Command) -> bool {
    matches!(
        command,
        Command::Rule { .. }
            | Command::Penalty { .. }
            | Command::Disqualify { .. }
            | Command::Place { .. }
            | Command::Appeal { .. }
            | Command::Answer { .. }
            | Command::Announce { .. }
            | Command::Undo { .. }
            | Command::List
    )
}

/// The sink of an event that is over: an operation opens it again, and its end follows at once.
#[derive(Debug)]
struct Closing(Arc<dyn Sink>);

impl Sink for Closing {
    fn happened(&self, entry: Entry) {
        self.0.happened(entry);
        self.0.happened(Entry::Closed);
    }

    fn keep(&self, record: SideRecord) {
        self.0.keep(record);
    }

    fn when_kept(&self, then: Box<dyn FnOnce() + Send>) {
        self.0.when_kept(then);
    }
}

/// Who keeps the games of an event that is over.
struct Afterwards {
    database: PathBuf,
    event: EventId,
    plan: StoredPlan,
    names: Vec<String>,
    standings: Standings,
    operations: Operations,
}

impl Afterwards {
    fn decide(&self, asked: &Asked) -> Result<Done, Message> {
        let bench = Bench {
            stages: &self.plan.stages,
            names: self.names.iter().map(String::as_str).collect(),
            standings: &self.standings,
            operations: &self.operations,
            handed_out: None,
        };
        let (undoes, action) = match asked.order {
            Command::Penalty { .. } | Command::Disqualify { .. } | Command::Place { .. } => {
                (None, bench.about_player(asked)?)
            }
            Command::Undo { number } if asked.game == GameId(0) => (Some(number), bench.back(number)?),
            Command::Rule { .. } | Command::Appeal { .. } | Command::Undo { .. } => {
                let past = past(&self.database, self.event, asked.game)?;
                let about = |why| self.operations.about(&why, asked.game, &past.pairing, past.outcome);
                bench.correction(asked, past).map_err(about)?
            }
            _ => return refuse(Language::only_corrections_now),
        };
        Ok(self.operations.record(&asked.by, &asked.reason, undoes, action))
    }
}

impl GamesDesk for Afterwards {
    fn ask(&self, asked: Asked) {
        let done = self.decide(&asked);
        asked.answer(done);
    }

    fn changed(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use contest::{
        stage::{Format, Stage},
        standings::RankingRules,
    };
    use referee::{
        Color, Outcome, WinBy,
        entry::{GameEnded, GameStarted, Opened, PlayerId, Stamped},
        pairing::Pairing,
    };

    /// An event of three players and two rounds: `a` beats `b` and `c`.
    fn played(database: &Path, format: Format, is_over: bool) {
        let players = ["a", "b", "c"].map(str::to_owned);
        let stage = Stage { format, games: 1, ..Stage::default() };
        let plan = StoredPlan::of_results("cup", &players, stage, RankingRules::default()).to_json();
        let head = EventHead { name: "cup", kind: "run", plan: &plan, fingerprint: "{}" };
        let journal = Journal::open(database, &head).unwrap().start(vec![], || ()).unwrap();
        let (name, format) = ("cup".to_owned(), String::new());
        let opened = Opened { name, players: players.to_vec(), format, resumed: false };
        journal.append([Stamped { at: 1, entry: Entry::Opened(opened) }]);
        for (index, white) in [(0, 1), (1, 2)] {
            let round = index as u32 + 1;
            let [black, white] = [PlayerId(0), PlayerId(white)];
            let pairing =
                Pairing { stage: 0, index, attempt: 0, round, pair: index, opening: index, black, white };
            let (game, start, opening) = (GameId(index + 1), "startpos".to_owned(), String::new());
            let started = GameStarted { game, pairing, start, opening, times: None };
            let won = Outcome::Win { winner: Color::Black, by: WinBy::Resignation };
            let ended = Entry::GameEnded(GameEnded::new(game, pairing, won, 0));
            journal.append([Entry::GameStarted(started), ended].map(|entry| Stamped { at: 2, entry }));
        }
        if is_over {
            journal.append([Stamped { at: 3, entry: Entry::Closed }]);
        }
        journal.finish().unwrap();
    }

    fn ordered(database: &Path, order: &str) -> Result<Option<Answer>, String> {
        let command = serde_json::from_str(order).unwrap();
        let (reason, event) = (Some("two engines".to_owned()), Some("cup".to_owned()));
        let request = Request { named: None, reason, event, command };
        carry_out(database, "kai", &request).map_err(|why| why.to_string())
    }

    /// The points of the players, and whether the event is over.
    fn table(database: &Path) -> (Vec<String>, bool) {
        let store = Store::read(database).unwrap();
        let event = store.events().unwrap().remove(0);
        let plan = StoredPlan::from_json(&event.plan).unwrap();
        let mut standings = Standings::new(&plan.stages, 3);
        store.replay(event.id, Moves::Results, &mut |stamped| standings.fold(&stamped.entry)).unwrap();
        let mut rows = standings.ranking(0);
        rows.sort_by_key(|row| row.player);
        assert_eq!(store.verify(event.id, None).unwrap().alterations, []);
        (rows.iter().map(|row| row.points.to_string()).collect(), event.closed)
    }

    #[test]
    fn an_order_after_the_last_game_corrects_the_table_and_leaves_the_event_over() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("cup.db");
        played(&database, Format::Swiss { rounds: 2 }, true);
        let answer = ordered(&database, r#"{"rule":{"game":1,"result":"white"}}"#).unwrap().unwrap();
        assert!(answer.ok && answer.operation == Some(1), "{answer:?}");
        assert_eq!(table(&database), (["1.0", "1.0", "0.0"].map(str::to_owned).to_vec(), true));
        let penalty = ordered(&database, r#"{"penalty":{"player":"a","points":0.5}}"#).unwrap().unwrap();
        assert_eq!(penalty.operation, Some(2));
        let again = ordered(&database, r#"{"penalty":{"player":"a","points":0.5}}"#).unwrap_err();
        assert!(again.starts_with("operation 2 is this penalty, for the same reason"), "{again}");
        assert_eq!(table(&database).0[0], "0.5");
        let appeal = ordered(&database, r#"{"appeal":{"game":2}}"#).unwrap().unwrap();
        assert!(appeal.ok && table(&database).1, "{appeal:?}");
        let answer = ordered(&database, r#"{"answer":{"appeal":3,"decision":"white"}}"#).unwrap().unwrap();
        assert!(answer.ok, "{answer:?}");
        ordered(&database, r#"{"undo":{"number":1}}"#).unwrap().unwrap();
        assert_eq!(table(&database), (["0.5", "0.0", "1.0"].map(str::to_owned).to_vec(), true));
        let unequal = ordered(&database, r#"{"place":{"player":"b","above":"c"}}"#).unwrap_err();
        assert!(unequal.contains("not level"), "{unequal}");
        ordered(&database, r#"{"disqualify":{"player":"a"}}"#).unwrap().unwrap();
        assert_eq!(table(&database).0, ["0.0", "0.0", "0.0"]);
        ordered(&database, r#"{"place":{"player":"b","above":"c"}}"#).unwrap().unwrap();
        let place = |player: &str, above: &str| {
            let order = format!(r#"{{"place":{{"player":"{player}","above":"{above}"}}}}"#);
            ordered(&database, &order)
        };
        for (player, above) in [("b", "c"), ("c", "b")] {
            let again = place(player, above).unwrap_err();
            assert!(again.starts_with("`b` is placed above `c` already, itself"), "{again}");
            assert!(again.ends_with("`undo` takes a place back"), "{again}");
        }
        assert!(place("b", "b").unwrap_err().contains("name two players"));
        let again = ordered(&database, r#"{"disqualify":{"player":"a"}}"#).unwrap_err();
        assert!(again.contains("already; `undo 7` takes"), "{again}");
        ordered(&database, r#"{"undo":{"number":7}}"#).unwrap().unwrap();
        assert_eq!(table(&database).0, ["0.5", "0.0", "1.0"]);
        let operations = Store::read(&database).unwrap().operations(journal::EventId(1)).unwrap();
        assert_eq!(operations.len(), 9, "each with its reason: {operations:?}");
    }

    #[test]
    fn an_event_that_is_over_plays_no_game_again_and_keeps_what_a_knockout_followed_from() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("cup.db");
        played(&database, Format::Swiss { rounds: 2 }, true);
        for order in [r#"{"replay":{"game":1}}"#, r#""pause""#] {
            assert!(ordered(&database, order).unwrap_err().contains("can still be done"), "{order}");
        }
        assert!(ordered(&database, r#"{"rule":{"game":9,"result":"white"}}"#).unwrap_err().contains('9'));
        let again = r#"{"answer":{"appeal":1,"decision":"replay"}}"#;
        ordered(&database, r#"{"appeal":{"game":1}}"#).unwrap();
        let list = ordered(&database, r#""list""#).unwrap().unwrap().list.unwrap();
        assert_eq!((list.over, list.appeals[0].operation, list.entrants.len()), (true, 1, 3));
        assert!(ordered(&database, again).unwrap_err().contains("can still be done"));
        assert!(table(&database).1);
        let knockout = directory.path().join("knockout.db");
        played(&knockout, Format::Knockout { tie: contest::stage::Tie::default() }, true);
        assert!(ordered(&knockout, r#"{"rule":{"game":1,"result":"white"}}"#).is_err());
    }

    #[test]
    fn an_event_that_is_not_over_is_left_to_the_process_that_plays_it() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("cup.db");
        played(&database, Format::Swiss { rounds: 2 }, false);
        let order = r#"{"rule":{"game":1,"result":"white"}}"#;
        assert_eq!(ordered(&database, order), Ok(None));
        let over = directory.path().join("over.db");
        played(&over, Format::Swiss { rounds: 2 }, true);
        let event = Store::read(&over).unwrap().events().unwrap().remove(0);
        let head = EventHead { name: "cup", kind: "run", plan: &event.plan, fingerprint: "{}" };
        let _open = Journal::open(&over, &head).unwrap();
        let refused = ordered(&over, order).unwrap_err();
        assert!(refused.contains("perhaps for another order: nothing was changed"), "{refused}");
        assert_eq!(table(&over).0[0], "2.0");
    }
}
