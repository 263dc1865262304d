//! The words of the wire: what programs of another version, scripts and pages of others read. They stand in one table, so
//! that none of them changes unseen.

use super::{Desk, Pages};
use arena::{
    operations::{
        command::{COMMANDS, Command, FieldSpec, Kind, Right},
        request::{
            Answer as Done, Listed, ListedAdjourned, ListedAppeal, ListedBan, ListedEntrant, ListedGame,
            ListedMachine, ListedPlayer, Request,
        },
    },
    speed::Speed,
};
use contest::schedule::{Pairing, ReplayDraws};
use machines::messages::{
    Answer, Back, Beat, Beaten, Hello, Holding, Job, JobGame, Order, PROTOCOL, Player, SentEngine, Sight,
    Taken, Terms, Told, Verdicts, Welcome,
};
use plan::{EnginePlan, SandboxPlan};
use referee::{
    Color, Outcome, WinBy,
    adjudicate::Adjudication,
    clock::TimeControl,
    entry::{Entry, GameEnded, GameId, GameStarted, Moved, PlayerId, Score, Stamped, Thought},
    evaluation::ScoreScale,
    identity::{FileIdentity, Identity},
    lease::LeaseId,
    rules::Rules,
};
use rsshogi::types::Move;
use serde::Serialize;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs, time::Duration};

const START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
const SECOND: Duration = Duration::from_secs(1);

/// A line of the table: what it is, and its JSON.
fn line(name: &str, value: &impl Serialize) -> String {
    format!("{name} {}", serde_json::to_string(value).unwrap())
}

fn pairing() -> Pairing {
    let (black, white) = (PlayerId(0), PlayerId(1));
    Pairing { stage: 0, index: 1, attempt: 2, round: 3, pair: 4, opening: 5, black, white }
}

fn moved() -> Moved {
    let thought = Thought {
        depth: Some(1),
        seldepth: Some(2),
        score: Some(Score::Cp(-30)),
        nodes: Some(4),
        nps: Some(5),
        time: Some(6),
        pv: Some("7g7f".to_owned()),
    };
    Moved {
        game: GameId(7),
        ply: 1,
        color: Color::Black,
        mv: Move::from_usi("7g7f").unwrap(),
        charged: SECOND,
        elapsed: SECOND,
        left: SECOND,
        thought: Some(Box::new(thought)),
    }
}

/// The entries of a game that a machine has played.
fn game() -> Vec<Stamped> {
    let time = TimeControl { main: SECOND, ..TimeControl::default() };
    let started = GameStarted {
        game: GameId(7),
        pairing: pairing(),
        start: START.to_owned(),
        opening: "7g7f".to_owned(),
        times: Some(Box::new([time; 2])),
    };
    let outcome = Outcome::Win { winner: Color::White, by: WinBy::Time };
    let ended = GameEnded { moves_hash: Some(9), ..GameEnded::new(GameId(7), pairing(), outcome, 1) };
    let fault = Entry::Fault { player: Some(PlayerId(1)), text: "game 7: late".to_owned() };
    let entries = [Entry::GameStarted(started), Entry::Moved(moved()), fault, Entry::GameEnded(ended)];
    entries.map(|entry| Stamped { at: 5, entry }).to_vec()
}

fn player() -> Player {
    let file = FileIdentity { path: "nn.bin".to_owned(), sha256: "1".to_owned(), listed: true };
    let identity = Identity {
        program: "/e".to_owned(),
        hash: Some("2".to_owned()),
        id_name: Some("E 1".to_owned()),
        files: vec![file],
    };
    let tree = json!({ "sha256": "3", "bytes": 4, "executable": false });
    let sent = SentEngine { tree: serde_json::from_value(tree).unwrap(), program: "e".to_owned() };
    let (engine, sandbox) = (EnginePlan::default(), SandboxPlan::default());
    Player { engine, sandbox, identity: Some(identity), sent: Some(sent) }
}

/// What manager and workers say: a message that was changed is of another [`PROTOCOL`].
fn messages() -> Vec<String> {
    let holding = Holding { now: 5, held: vec![LeaseId(1)], outbox: vec![LeaseId(2)] };
    let verdicts = Verdicts { lost: vec![LeaseId(3)], boards: 4 };
    let hello = Hello {
        protocol: PROTOCOL,
        build: "0.1.0".to_owned(),
        session: 1,
        name: "box2".to_owned(),
        slots: 2,
        cores: 4,
        speed: Some(Speed { nps: vec![Some(1000.0), None], spread: 0.5 }),
        ready: true,
        words: vec!["slow".to_owned()],
        holding: holding.clone(),
    };
    let terms = Terms {
        epoch: 1,
        event: "cup".to_owned(),
        look: true,
        scaled: false,
        players: vec![player()],
        rules: Rules::default(),
        adjudication: Adjudication::default(),
        verdicts: verdicts.clone(),
    };
    let played = JobGame {
        pairing: pairing(),
        times: [TimeControl { byoyomi: SECOND, ..TimeControl::default() }; 2],
        scales: [ScoreScale::default(); 2],
        start: START.to_owned(),
        opening: vec!["7g7f".to_owned()],
        draws: 1,
        seed: 2,
        replay: ReplayDraws::default(),
        tells_times: true,
        options: [vec![("Hash".to_owned(), "16".to_owned())], vec![]],
    };
    let why = || "no room".to_owned();
    let welcomes = [Welcome::Come(Box::new(terms)), Welcome::Refused { why: why(), for_good: true }];
    let beaten = [Beaten::Known(verdicts), Beaten::HelloAgain];
    let taken = [Taken::Committed, Taken::Later, Taken::Refused { why: why() }];
    let orders = [Order::Hello { epoch: 1 }, Order::Stop, Order::Over, Order::Barred { why: why() }];
    let mut lines = vec![
        line("hello", &hello),
        line("beat", &Beat { epoch: 1, session: 1, lag: 2, holding }),
        line("board", &Sight { lease: LeaseId(1), game: 0, from: 0, moves: vec![(5, moved())] }),
        line("job", &Job { epoch: 1, lease: LeaseId(1), repeats: false, games: vec![played] }),
        line("result", &Answer { lease: LeaseId(1), repeats: false, games: vec![game()] }),
        line("told", &Told { player: Some(PlayerId(0)), text: "signal 6".to_owned() }),
        line("back", &Back { leases: vec![LeaseId(1)], why: why(), player: None, leaves: true }),
    ];
    lines.extend(welcomes.iter().map(|welcome| match welcome {
        // Whoever adds an answer adds its line above.
        Welcome::Come(_) | Welcome::Refused { .. } => line("welcome", welcome),
    }));
    lines.extend(beaten.iter().map(|beaten| match beaten {
        Beaten::Known(_) | Beaten::HelloAgain => line("beaten", beaten),
    }));
    lines.extend(taken.iter().map(|taken| match taken {
        Taken::Committed | Taken::Later | Taken::Refused { .. } => line("taken", taken),
    }));
    lines.extend(orders.iter().map(|order| match order {
        Order::Hello { .. } | Order::Stop | Order::Over | Order::Barred { .. } => line("order", order),
    }));
    lines
}

/// A value of a field, and the words that it may have.
fn value(field: &FieldSpec) -> (&'static str, String) {
    match field.kind {
        Kind::Text => ("text", String::new()),
        Kind::Number | Kind::Optional => ("7", String::new()),
        Kind::Points => ("1.5", String::new()),
        Kind::Flag => ("true", String::new()),
        Kind::Choice(words) => {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            (all[0], format!(" {}={}", field.name, all.join("|")))
        }
    }
}

/// What the operator's door takes, with who may give an order on the pages, and what it answers.
fn door() -> Vec<String> {
    let order = |name: &str| {
        let fields = COMMANDS.iter().find(|spec| spec.name == name).map(|spec| spec.fields).unwrap();
        let of = |field: &str| value(fields.iter().find(|known| known.name == field).unwrap()).0.to_owned();
        let command = Command::read(name, of).unwrap().unwrap();
        let words: String = fields.iter().map(|field| value(field).1).collect();
        let right = match command.right() {
            Right::Operator => "operator",
            Right::Arbiter => "arbiter",
            Right::Socket => "socket",
        };
        let reason = if command.needs_reason() { " reason" } else { "" };
        format!("{}{words} {right}{reason}", line(&format!("command {name}"), &command))
    };
    let mut lines: Vec<String> = COMMANDS.iter().map(|spec| order(spec.name)).collect();
    let text = |text: &str| Some(text.to_owned());
    let request =
        Request { named: text("kai"), reason: text("ill"), event: text("cup"), command: Command::Pause };
    let ban = || ListedBan { whom: "b".to_owned(), operation: 1, by: "c".to_owned(), reason: "d".to_owned() };
    let [name, by, reason] = ["a", "b", "c"].map(str::to_owned);
    let listed = Listed {
        paused: true,
        over: true,
        entrants: vec![ListedEntrant { name: name.clone(), withdrawn: true }],
        has_file: true,
        registration_closed: true,
        players: vec![ListedPlayer {
            name: name.clone(),
            address: "192.0.2.7".to_owned(),
            state: "game".to_owned(),
            idle_seconds: 1,
            round_trip_ms: Some(2.5),
        }],
        absent: vec![name.clone()],
        games: vec![ListedGame {
            game: 7,
            black: name.clone(),
            white: by.clone(),
            plies: 1,
            black_ms: Some(2),
            white_ms: None,
        }],
        adjourned: vec![ListedAdjourned { game: 7, black: name.clone(), white: by.clone() }],
        bans: vec![ban()],
        mutes: vec![name.clone()],
        buoys: vec![name.clone()],
        appeals: vec![ListedAppeal { operation: 1, game: 7, by, reason }],
        dropped: vec![ban()],
        machines: vec![ListedMachine {
            name,
            state: "here".to_owned(),
            slots: 1,
            pairs: 2,
            oldest_seconds: Some(3),
            games: 4,
            word: "slow".to_owned(),
        }],
    };
    let done = Done {
        ok: true,
        text: "paused".to_owned(),
        event: text("cup"),
        operation: Some(3),
        list: Some(Box::new(listed)),
    };
    lines.extend([line("request", &request), line("answer", &done)]);
    lines
}

/// The keys of a value below a path, each with the kinds of what it has.
fn keys(path: &str, value: &Value, found: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Object(fields) => {
            return fields.iter().for_each(|(key, value)| keys(&format!("{path}.{key}"), value, found));
        }
        Value::Array(items) => {
            return items.iter().for_each(|item| keys(&format!("{path}[]"), item, found));
        }
        Value::String(_) => "text",
        Value::Number(_) => "number",
        Value::Bool(_) => "flag",
        Value::Null => "null",
    };
    found.insert(format!("{path} {kind}"));
}

/// What pages and commands say to programs of stored events: the keys of their JSON.
fn json_of(event: &str, contents: &str, found: &mut BTreeSet<String>) {
    let desk = Desk::new();
    drop(journal::Writer::open(desk.path("event.db")).unwrap());
    let conn = rusqlite::Connection::open(desk.path("event.db")).unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    conn.execute_batch(contents).unwrap();
    drop(conn);
    let report = desk.renmei(&["report", "event.db", "--json"]);
    keys(&format!("{event} report"), &serde_json::from_slice(&report.stdout).unwrap(), found);
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |_| true);
    for page in ["now", "table", "rounds", "games", "games/1", "players/0", "machines"] {
        keys(&format!("{event} /api/{page}"), &pages.json(&format!("/api/{page}")), found);
    }
}

#[test]
fn the_words_that_other_versions_scripts_and_pages_of_others_read_stay_as_they_are() {
    let mut read = BTreeSet::new();
    json_of("event", include_str!("../tools/fuzz/samples/finished.sql"), &mut read);
    json_of("league", include_str!("../tools/fuzz/samples/league.sql"), &mut read);
    let (version, mut build) = (Desk::new().renmei(&["version", "--json"]), BTreeSet::new());
    keys("version", &serde_json::from_slice(&version.stdout).unwrap(), &mut build);
    // What a build does not know is null.
    read.extend(build.iter().filter_map(|key| Some(key.rsplit_once(' ')?.0.to_owned())));
    let protocol = format!("protocol {PROTOCOL}");
    let lines = [vec![protocol.clone()], messages(), door(), read.into_iter().collect()].concat();
    let table = lines.join("\n") + "\n";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/testing/wire.txt");
    let kept = fs::read_to_string(file).unwrap_or_default();
    let is_same_protocol = kept.lines().next() == Some(&protocol);
    for message in messages() {
        assert!(
            !is_same_protocol || kept.lines().any(|known| known == message),
            "a message between manager and workers changes with `PROTOCOL`: {message}"
        );
    }
    if std::env::var_os("RENMEI_UPDATE").is_some() {
        fs::write(file, &table).unwrap();
    }
    assert_eq!(table, fs::read_to_string(file).unwrap(), "written anew with RENMEI_UPDATE=1");
}
