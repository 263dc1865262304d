//! Replay of conversations with our own host and with floodgate's server from each player's side: the server's lines
//! in, our answers and stored games compared. Our engine plays the player's recorded moves when our game asks for
//! them.
//!
//! Compared are each line that we send (up to its comment; an illegal move is resigned instead), every move with its
//! charged time, and the ending.

use super::server::config_text;
use client::announced::Announced;
use notation::csa::{move_from_csa, summary::Summary};
use plan::Environment;
use plan::client::ClientConfig;
use referee::{
    Color,
    entry::{Entry, GameId},
    game::{Answer, Authority, Game, Input, Order, Output, Reply, Said, ServerRuled, Setup},
};
use seat::{
    Seat,
    csa_client::{self, CsaClient, SeatTerms},
    reserve::Reserve,
};
use std::{
    collections::{BTreeSet, VecDeque},
    path::Path,
    time::Duration,
};
use testing::conversation::{self, Conversation, Line, Step};
use tokio::time::Instant;

/// Endings that the players of each golden conversation must see, in order.
const GOLDEN: &[(&str, &str, &str)] = &[
    ("agreement", "A", "not counted: not-started, not counted: stopped, white wins by resignation"),
    ("agreement", "B", "not counted: stopped, not counted: not-started, white wins by resignation"),
    ("buoys", "A B", "black wins by resignation, white wins by resignation"),
    ("chudan", "A B", "black wins by illegal-move:unreadable"),
    ("comeback", "A", "white wins by resignation"),
    ("comeback", "B", "not counted: server, white wins by resignation"),
    ("commands", "A B", "black wins by resignation"),
    ("declaration_out_of_turn", "A B", "black wins by illegal-declaration, black wins by resignation"),
    ("declaration_refused", "A B", "black wins by illegal-declaration"),
    ("disconnection", "A", "not counted: server"),
    ("disconnection", "B", "white wins by resignation"),
    ("disconnection_before_the_game", "A", "not counted: not-started"),
    ("disconnection_before_the_game", "B", "not counted: server"),
    ("extended_mode", "A B", "black wins by resignation, white wins by resignation"),
    ("fischer", "A B", "white wins by resignation"),
    ("fork", "A B", "black wins by resignation, white wins by resignation"),
    ("handicaps", "A B", "9 times white wins by resignation"),
    ("illegal_move_protocol", "A B", "white wins by illegal-move:unreadable"),
    (
        "illegal_moves",
        "A B",
        "11 times white wins by illegal-move:unreadable, black wins by illegal-move:unreadable",
    ),
    ("keep_alive", "A B", "white wins by resignation"),
    ("least_time", "A B", "white wins by resignation"),
    ("logout_in_a_game", "A B", "black wins by resignation"),
    ("max_moves", "A B", "draw by max-moves"),
    ("out_of_turn", "A B", "white wins by illegal-move:unreadable"),
    ("perpetual_check", "A B", "white wins by perpetual-check"),
    ("perpetual_check_protocol", "A B", "white wins by perpetual-check"),
    ("rejection_in_csa_mode", "A", "not counted: not-started"),
    ("rejection_in_csa_mode", "B", "not counted: stopped"),
    ("resignation", "A B", "white wins by resignation"),
    ("resignation_shogi_server", "A B", "white wins by resignation"),
    ("sennichite", "A B", "draw by sennichite"),
    ("sennichite_shogi_server", "A B", "draw by sennichite"),
    ("spectators", "A B", "black wins by resignation"),
    ("spectators_comments", "A B", "black wins by resignation"),
    ("spectators_of_a_repetition", "A B", "draw by sennichite"),
    ("stop_watch", "A B", "white wins by resignation"),
    ("time_up", "A B", "white wins by time"),
    ("time_up_protocol", "A B", "white wins by time"),
];

/// Endings that the players of each transcript must see, in order. (In 13 the players' own connections break, in 12
/// and 18 one player rejects; in 21 two connections share a letter, so that the first game has no end.)
const ENDINGS: &[(&str, &str, &str)] = &[
    ("01", "A B", "white wins by resignation"),
    ("02", "A B", "white wins by resignation"),
    ("03", "A B", "white wins by illegal-move:unreadable"),
    (
        "04",
        "A B",
        "11 times white wins by illegal-move:unreadable, black wins by illegal-move:unreadable, 3 times white wins by illegal-move:unreadable, white wins by illegal-declaration, white wins by resignation, white wins by illegal-move:unreadable",
    ),
    ("05", "A B", "black wins by illegal-move:unreadable"),
    ("06", "A B", "draw by sennichite"),
    ("07", "A B", "white wins by perpetual-check"),
    ("08", "A B", "black wins by perpetual-check"),
    ("09", "A B", "draw by sennichite"),
    ("10", "A B", "draw by max-moves"),
    ("11", "A B", "white wins by declaration, black wins by resignation"),
    ("12", "A", "not counted: not-started, white wins by resignation, not counted: not-started"),
    ("12", "B", "not counted: stopped, white wins by resignation, not counted: stopped"),
    (
        "13",
        "A",
        "not counted: server, black wins by resignation, not counted: not-started, black wins by resignation",
    ),
    ("13", "B", "white wins by resignation, 2 times not counted: server, black wins by resignation"),
    ("14", "A B", "black wins by resignation"),
    ("16", "A B", "black wins by resignation"),
    ("17", "A", "white wins by resignation, not counted: stopped"),
    ("17", "B", "white wins by resignation, not counted: not-started"),
    ("18", "A", "9 times not counted: stopped"),
    ("18", "B", "9 times not counted: not-started"),
    ("19", "A B", "white wins by resignation"),
    ("20a", "A B", "white wins by time"),
    ("20b", "A B", "black wins by time"),
    ("20c", "A B", "black wins by time, white wins by time"),
    ("20d", "A B", "white wins by time"),
    ("20e", "A B", "white wins by time"),
    ("20f", "A B", "2 times black wins by resignation"),
    ("20g", "A B", "not counted: not-started"),
    ("21", "A B", "not counted: server, black wins by resignation"),
    ("22", "A B", "black wins by resignation"),
    ("23", "eng1 eng2 eng4", "2 times white wins by resignation"),
    ("23", "eng3 joe_human", "3 times white wins by resignation"),
    (
        "24",
        "A B",
        "black wins by illegal-move:unreadable, white wins by time, white wins by illegal-declaration, draw by sennichite",
    ),
];

/// The replay of one connection.
struct Replay {
    config: ClientConfig,
    begun: Instant,
    now: Instant,
    summary: Option<String>,
    table: Option<Table>,
    /// Moves and special moves of the player that our game has not asked for yet.
    to_say: VecDeque<String>,
    last: String,
    endings: Vec<String>,
    problems: Vec<String>,
    compared: usize,
}

struct Table {
    game: Game,
    client: CsaClient,
    seat: Seat,
    ours: Color,
    asked: Option<Instant>,
    /// Moves as sent by the server.
    received: Vec<String>,
    /// Moves as stored by our game.
    stored: Vec<String>,
}

impl Replay {
    fn new() -> Self {
        let text = config_text(1, "", "command = \"sh\"");
        let config = ClientConfig::parse(&text, None, &Environment::here(Path::new("/")).unwrap()).unwrap();
        let now = Instant::now();
        Self {
            config,
            begun: now,
            now,
            summary: None,
            table: None,
            to_say: VecDeque::new(),
            last: String::new(),
            endings: vec![],
            problems: vec![],
            compared: 0,
        }
    }

    fn step(&mut self, line: &Line) {
        self.now = self.begun + Duration::from_secs_f64(line.at);
        match &line.step {
            Step::Heard(line) => self.heard(line),
            Step::Said(line) => self.client_line(line),
            Step::Connected => {
                self.gone();
                self.to_say.clear();
            }
            Step::ClientCloses | Step::ServerCloses => self.gone(),
            Step::Waits(_) | Step::Server => {}
        }
    }

    fn client_line(&mut self, line: &str) {
        let is_move = line.starts_with(['+', '-']) || line.starts_with('%') && !line.starts_with("%%");
        if line == "LOGOUT" && self.table.is_some() {
            let asked = self.table.as_ref().is_some_and(|table| table.asked.is_some());
            let said = self.input(Input::Stop);
            self.check(if asked { "%TORYO" } else { "LOGOUT" }, said);
        } else if line.starts_with("REJECT") && self.table.is_some() {
            let said = self.input(Input::Stop);
            self.check(line, said.map(|said| said.split(' ').next().unwrap().to_owned()));
        } else if is_move {
            self.say(line);
        }
    }

    /// A repeated move is read once.
    fn say(&mut self, line: &str) {
        if self.table.is_some() && self.last != line {
            line.clone_into(&mut self.last);
            self.to_say.push_back(line.to_owned());
            self.answer();
        }
    }

    fn gone(&mut self) {
        if let Some(table) = &mut self.table {
            table.client.gone("closed".to_owned());
            self.settle();
        }
    }

    fn heard(&mut self, line: &str) {
        if let Some(table) = &mut self.table {
            if line.starts_with(['+', '-']) && line.contains(",T") {
                table.received.push(line.to_owned());
            }
            table.client.line(line.trim().as_bytes(), self.now, &mut vec![]);
            self.settle();
            return;
        }
        match (line, &mut self.summary) {
            ("BEGIN Game_Summary", _) => self.summary = Some(String::new()),
            (_, None) => return,
            _ => {}
        }
        let text = self.summary.get_or_insert_default();
        text.push_str(line);
        text.push('\n');
        if line == "END Game_Summary" {
            let summary: Summary = self.summary.take().unwrap().parse().unwrap();
            self.begin(&summary);
        }
    }

    fn begin(&mut self, summary: &Summary) {
        let announced = Announced::read(summary, "", &self.config).unwrap();
        let terms = SeatTerms {
            game: GameId(1),
            game_id: announced.id.clone(),
            color: announced.color,
            start: announced.start.clone(),
            opening: announced.opening.clone(),
            count: announced.count,
            comments: false,
        };
        let reserve = Reserve::new(Duration::ZERO, Duration::from_secs(1));
        let (seat, client) = csa_client::seat(terms, reserve, self.now);
        let setup = Setup {
            rules: announced.rules,
            opening: announced.opening,
            ..Setup::of(GameId(1), announced.times, &announced.start)
        };
        let (server, left) = (!announced.color, announced.left);
        let terms = ServerRuled { server, left, lag: Duration::ZERO, declares: false, restarts: 0 };
        let (game, _) = Game::start_under(setup, Authority::Server(terms)).unwrap();
        let (ours, received, stored) = (announced.color, vec![], vec![]);
        self.table = Some(Table { game, client, seat, ours, asked: None, received, stored });
        self.to_say.clear();
        self.last.clear();
        let agreed = self.input(Input::Reply(ours, Reply::Ready));
        self.check("AGREE", agreed.map(|line| line.split(' ').next().unwrap().to_owned()));
    }

    /// Our game's line to the server in reply to this input.
    fn input(&mut self, input: Input) -> Option<String> {
        let Some(table) = &mut self.table else { return None };
        let mut out = vec![];
        for output in table.game.handle(input) {
            match output {
                Output::Tell(color, order @ Order::Go { .. }) if color == table.ours => {
                    table.asked = matches!(order, Order::Go { .. }).then_some(self.now);
                }
                Output::Tell(color, order) if color != table.ours => {
                    table.client.obey(order, self.now, &mut out);
                }
                Output::Happened(Entry::Moved(moved)) => {
                    table.stored.push(format!("{},T{}", moved.mv.to_usi(), moved.charged.as_secs()));
                }
                Output::Ended(outcome, _) => self.endings.push(outcome.to_string()),
                _ => {}
            }
        }
        if table.game.is_over() {
            self.end();
        }
        (!out.is_empty()).then(|| String::from_utf8(out).unwrap().trim_end().to_owned())
    }

    fn end(&mut self) {
        let Some(table) = self.table.take() else { return };
        self.compared += table.stored.len();
        // A move is identified by its destination: `+7776FU,T12` is `7g7f,T12`.
        let received = table.received.iter().map(|line| {
            let rank = char::from(line.as_bytes()[4] - b'1' + b'a');
            (format!("{}{rank}", &line[3..4]), line.split(",T").nth(1).unwrap().to_owned())
        });
        let stored = table
            .stored
            .iter()
            .map(|line| (line[2..4].to_owned(), line.split(",T").nth(1).unwrap().to_owned()));
        if !received.eq(stored) {
            self.problems.push(format!("sent {:?} but stored {:?}", table.received, table.stored));
        }
    }

    /// Passes pending lines of the conversation to the game.
    fn settle(&mut self) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        while let Some(table) = &mut self.table {
            runtime.block_on(table.client.deliver());
            let server = !table.ours;
            let Ok((_, reply)) = table.seat.replies.try_recv() else { break };
            self.input(Input::Reply(server, reply));
        }
        self.answer();
    }

    /// Our engine plays the player's recorded move when it is asked.
    fn answer(&mut self) {
        let Some(table) = &mut self.table else { return };
        let Some((asked, line)) = table.asked.filter(|_| !self.to_say.is_empty()).zip(self.to_say.front())
        else {
            return;
        };
        let line = line.clone();
        let word = line.split(',').next().unwrap();
        let (said, expected) = match (word, move_from_csa(table.game.position(), word)) {
            ("%TORYO", _) => (Said::Resign, "%TORYO".to_owned()),
            ("%KACHI", _) => {
                let right = table.game.position().evaluate_declaration().can_declare;
                (Said::Win, if right { "%KACHI" } else { "%TORYO" }.to_owned())
            }
            (_, Some(mv)) => {
                let legal = referee::legality::foul(table.game.position(), mv).is_none();
                (Said::Move(mv), if legal { word } else { "%TORYO" }.to_owned())
            }
            _ => (Said::Unreadable(line.clone()), "%TORYO".to_owned()),
        };
        table.asked = None;
        self.to_say.pop_front();
        let ours = table.ours;
        let elapsed = self.now.saturating_duration_since(asked);
        let answer = Answer { said, elapsed, ponders: false, thought: None };
        let sent = self.input(Input::Reply(ours, Reply::Answer(answer)));
        self.check(&expected, sent);
    }

    fn check(&mut self, expected: &str, said: Option<String>) {
        let expected = if expected.starts_with("REJECT") { "REJECT" } else { expected };
        self.compared += 1;
        if said.as_deref() != Some(expected) {
            self.problems.push(format!("should send `{expected}` but sends {said:?}"));
        }
    }
}

/// Replays each player of each conversation and compares the endings with those expected.
fn check_answers(conversations: &[Conversation], key: fn(&str) -> &str, expected: &[(&str, &str, &str)]) {
    let (mut seen, mut problems, mut compared) = (vec![], vec![], 0);
    for conversation in conversations {
        let name = &conversation.name;
        let players: BTreeSet<&String> = conversation.lines.iter().map(|line| &line.who).collect();
        for who in players {
            let mut replay = Replay::new();
            conversation.of(who).for_each(|line| replay.step(line));
            replay.gone();
            problems.extend(replay.problems.into_iter().map(|problem| format!("{name} {who}: {problem}")));
            compared += replay.compared;
            note(&mut seen, key(name), who, &replay.endings);
        }
    }
    eprintln!("{compared} lines and moves compared");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let expected: Vec<Seen> = expected
        .iter()
        .map(|(name, who, ends)| ((*name).to_owned(), (*who).to_owned(), (*ends).to_owned()))
        .collect();
    let printed: String =
        seen.iter().map(|(name, who, ends)| format!("    ({name:?}, {who:?}, {ends:?}),\n")).collect();
    assert!(seen == expected, "seen are:\n{printed}");
}

#[test]
fn our_own_hosts_lines_give_the_recorded_answers_and_endings() {
    check_answers(&conversation::golden(), |name| name, GOLDEN);
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/protocol/transcripts: recordings of floodgate's server"]
    fn recorded_server_lines_give_the_recorded_answers_times_and_endings() {
        check_answers(&conversation::oracle(), |name| name.split('_').next().unwrap(), ENDINGS);
    }
}

/// A transcript, its players, and the endings they saw.
type Seen = (String, String, String);

/// Players who saw the same endings share a line.
fn note(seen: &mut Vec<Seen>, name: &str, who: &str, endings: &[String]) {
    if endings.is_empty() {
        return;
    }
    let runs = endings.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 => run[0].clone(),
        times => format!("{times} times {}", run[0]),
    });
    let ends = runs.collect::<Vec<_>>().join(", ");
    match seen.iter_mut().find(|(known, _, known_ends)| known == name && *known_ends == ends) {
        Some((_, players, _)) => {
            players.push(' ');
            players.push_str(who);
        }
        None => seen.push((name.to_owned(), who.to_owned(), ends)),
    }
}
