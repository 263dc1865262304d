//! A league from its first login to its last, in one thread, on simulated time, with clients and lines that fail.
//!
//! A seed decides everything: when clients come, play, reject and resign, and a list of faults, each with its step: lines that
//! come in halves, twice, out of turn or as rubbish, connections that are cut, stalled or doubled, orders of the operator, and
//! hosts that stop or are killed and go on with the database that they leave. After the last fault everybody leaves, and the
//! league has to be as good as new.
//!
//! What is real: the lobby, the connections, the games, the operator's handle, the journal. What is played by the test: the
//! clients ([`super::driver`]).

use super::driver::{Client, Host};
use arena::operations::command::{Command, RuledResult};
use plan::serve::ServeConfig;
use rusqlite::Connection;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
    time::Duration,
};
use testing::Random;

/// The players, those in the extended mode first.
const NAMES: [&str; 5] = ["asa", "bei", "chie", "dai", "emi"];
const EXTENDED: usize = 2;
/// Main time and byoyomi of every game, grace time and time to agree, in seconds.
const MAIN: u64 = 12;
const BYOYOMI: u64 = 4;
const GRACE: u64 = 8;
const AGREEMENT: u64 = 10;
/// Steps in which faults happen, and the time after which nothing of them may be left, in seconds.
const STEPS: u64 = 250;
const REST: u64 = 60;
/// The game that everybody plays, until somebody resigns.
const LINE: [&str; 24] = [
    "+2726FU", "-8384FU", "+2625FU", "-8485FU", "+6978KI", "-4132KI", "+2524FU", "-2324FU", "+2824HI",
    "-0023FU", "+2428HI", "-8586FU", "+8786FU", "-8286HI", "+0087FU", "-8682HI", "+3938GI", "-7172GI",
    "+5968OU", "-5142OU", "+9796FU", "-9394FU", "+1716FU", "-1314FU",
];

/// How often something has happened, by its name.
type Counts = BTreeMap<String, u64>;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The connection ends.
    Cut,
    /// The client neither reads nor writes for so many steps.
    Stall(u64),
    /// The end of the next line comes later than its beginning.
    Half,
    /// The next line comes twice.
    Twice,
    /// A move comes whoever is to move.
    Early,
    /// A line of this number among those that mean nothing.
    Rubbish(u64),
    /// The player logs in once more.
    Again,
    /// Somebody with another secret logs in under the name.
    Stranger,
    /// The player leaves.
    Logout,
    /// More lines than a connection may send in a second.
    Flood,
    /// The operator orders this.
    Order(u64),
    /// The host stops, and starts again.
    Stop,
    /// The host is killed, and starts again.
    Kill,
}

/// A fault of a player, or of all.
#[derive(Clone, Copy, Debug)]
struct Happening {
    step: u64,
    who: usize,
    fault: Fault,
}

impl Happening {
    fn of(random: &mut Random) -> Self {
        let fault = match random.below(28) {
            0..4 => Fault::Cut,
            4..6 => Fault::Stall(1 + random.below(40)),
            6..9 => Fault::Half,
            9..11 => Fault::Twice,
            11..13 => Fault::Early,
            13 => Fault::Rubbish(random.draw()),
            14..17 => Fault::Again,
            17 => Fault::Stranger,
            18 => Fault::Logout,
            19 => Fault::Flood,
            20..25 => Fault::Order(random.draw()),
            25 => Fault::Stop,
            _ => Fault::Kill,
        };
        Self { step: random.below(STEPS), who: random.below(NAMES.len() as u64) as usize, fault }
    }
}

/// The game that a client has before it.
#[derive(Clone, Debug, Default)]
struct Table {
    id: String,
    is_black: bool,
    /// True once the whole offer is here.
    is_offered: bool,
    has_agreed: bool,
    has_begun: bool,
    /// Moves that the client has heard.
    plies: usize,
    /// The ply that it has answered.
    answered: Option<usize>,
}

impl Table {
    fn is_to_move(&self) -> bool {
        let is_own = self.plies.is_multiple_of(2) == self.is_black;
        self.has_begun && is_own && self.answered != Some(self.plies)
    }
}

/// A player and its client.
struct Person {
    name: &'static str,
    is_extended: bool,
    client: Option<Client>,
    /// The beginning of a line that the client has read.
    carry: Vec<u8>,
    table: Option<Table>,
    /// True if it has asked for a game.
    seeks: bool,
    /// Steps in which it does nothing.
    stalled: u64,
    /// What happens to its next line.
    next: Option<Fault>,
    /// The end of a line whose beginning is sent.
    rest: Vec<u8>,
}

impl Person {
    fn password(&self) -> String {
        let secret = format!("secret{}", self.name);
        if self.is_extended { format!("{secret} x1") } else { format!("w-{MAIN}-{BYOYOMI},{secret}") }
    }

    fn is_gone(&mut self) {
        (self.client, self.table, self.seeks, self.next) = (None, None, false, None);
        self.carry.clear();
        self.rest.clear();
    }
}

/// A game, as its players were told of it.
#[derive(Debug, Default)]
struct Game {
    /// Its moves with their times, as anybody has heard them.
    moves: Vec<String>,
    has_begun: bool,
    /// Since when a side is to move; `None` where nobody was there to hear it, or the client was not sound.
    since: Option<Duration>,
    /// Seconds that are left of the main time, of black and of white.
    left: [u64; 2],
    /// What players heard at its end.
    results: BTreeSet<&'static str>,
    is_over: bool,
    /// True if its host was killed in it: what was not committed may be forgotten.
    is_torn: bool,
}

struct World {
    random: Random,
    faults: Vec<Happening>,
    config: ServeConfig,
    host: Option<Host>,
    people: Vec<Person>,
    games: BTreeMap<String, Game>,
    now: Duration,
    is_paused: bool,
    /// Results that the operator has ruled, by the number of the game.
    ruled: BTreeMap<i64, &'static str>,
    /// Connections so far: each comes from an address of its own.
    connections: u16,
    counts: Counts,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let count = 2 + random.below(14);
        let mut faults: Vec<_> = (0..count).map(|_| Happening::of(&mut random)).collect();
        faults.sort_by_key(|happening| happening.step);
        let (grace, least_time) = (random.of(&[0, GRACE, GRACE]), random.of(&[0, 0, 2]));
        let config =
            ServeConfig { grace: Some(grace), least_time, agreement: AGREEMENT, ..ServeConfig::default() };
        let person = |(at, name)| Person {
            name,
            is_extended: at < EXTENDED,
            client: None,
            carry: vec![],
            table: None,
            seeks: false,
            stalled: 0,
            next: None,
            rest: vec![],
        };
        Self {
            // Of its own, so that a shorter list of faults leaves the rest of the story as it is.
            random: Random(random.draw()),
            faults,
            host: Some(Host::start(config.clone())),
            config,
            people: NAMES.into_iter().enumerate().map(person).collect(),
            games: BTreeMap::new(),
            now: Duration::ZERO,
            is_paused: false,
            ruled: BTreeMap::new(),
            connections: 0,
            counts: Counts::new(),
        }
    }

    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    fn host(&self) -> &Host {
        self.host.as_ref().expect("a host is replaced at once")
    }

    /// Plays the league to its end.
    ///
    /// # Errors
    /// What does not hold.
    fn play(&mut self) -> Result<(), String> {
        for step in 0..STEPS {
            let due: Vec<_> =
                self.faults.iter().filter(|happening| happening.step == step).copied().collect();
            for Happening { who, fault, .. } in due {
                self.suffer(who, fault)?;
                self.listen()?;
            }
            match self.random.below(100) {
                0..35 => {
                    let time = 1 + self.random.below(1_500);
                    self.pass(Duration::from_millis(time))?;
                }
                _ => {
                    let who = self.random.below(NAMES.len() as u64) as usize;
                    self.act(who)?;
                    self.listen()?;
                }
            }
            self.people.iter_mut().for_each(|person| person.stalled = person.stalled.saturating_sub(1));
        }
        self.end()
    }

    /// Lets time pass. No flag may be up when it is over.
    fn pass(&mut self, time: Duration) -> Result<(), String> {
        self.now += time;
        self.host().passes(time);
        self.listen()?;
        let live: BTreeSet<_> = self.people.iter().filter_map(|person| person.at_board()).collect();
        for (id, game) in self.games.iter().filter(|(id, game)| !game.is_over && live.contains(id.as_str())) {
            let most = game.left[game.moves.len() % 2] + BYOYOMI + 1;
            if game.since.is_some_and(|since| self.now - since > Duration::from_secs(most)) {
                return Err(format!(
                    "{id}: no flag has fallen since {:?}; now is {:?}",
                    game.since, self.now
                ));
            }
        }
        Ok(())
    }

    /// A player does what its client does by itself.
    fn act(&mut self, who: usize) -> Result<(), String> {
        let (whim, person) = (self.random.below(100), &mut self.people[who]);
        if person.stalled > 0 {
            return Ok(());
        }
        if person.client.is_none() {
            return self.log_in(who);
        }
        if !person.rest.is_empty() {
            let rest = std::mem::take(&mut person.rest);
            self.send(who, &rest);
            return Ok(());
        }
        let line = match &mut person.table {
            None if person.is_extended && !person.seeks => {
                person.seeks = true;
                format!("%%GAME w-{MAIN}-{BYOYOMI} *")
            }
            Some(table) if table.is_offered && !table.has_agreed => match whim {
                0..4 => "REJECT".to_owned(),
                4..12 => return Ok(()),
                _ => {
                    table.has_agreed = true;
                    "AGREE".to_owned()
                }
            },
            Some(table) if table.is_to_move() => {
                table.answered = Some(table.plies);
                let mv = LINE.get(table.plies).filter(|_| whim > 4);
                mv.map_or("%TORYO", |mv| mv).to_owned()
            }
            _ => return Ok(()),
        };
        self.say(who, &line);
        Ok(())
    }

    /// Sends a line, in the way that is due.
    fn say(&mut self, who: usize, line: &str) {
        let bytes = format!("{line}\n").into_bytes();
        match self.people[who].next.take() {
            Some(Fault::Half) => {
                let (beginning, rest) = bytes.split_at(bytes.len() / 2);
                self.people[who].rest = rest.to_vec();
                self.send(who, beginning);
                self.count("half a line");
            }
            Some(Fault::Twice) => {
                self.send(who, &[&bytes[..], &bytes].concat());
                self.count("a line twice");
                self.is_unsound(who);
            }
            _ => self.send(who, &bytes),
        }
    }

    fn send(&mut self, who: usize, bytes: &[u8]) {
        self.people[who].client.iter_mut().for_each(|client| client.bytes(bytes));
    }

    /// The player's lines are no measure of its time in this turn.
    fn is_unsound(&mut self, who: usize) {
        let id = self.people[who].table.as_ref().map(|table| table.id.clone());
        id.and_then(|id| self.games.get_mut(&id)).into_iter().for_each(|game| game.since = None);
    }

    fn connect(&mut self, login: &str) -> (Client, Option<String>) {
        self.connections += 1;
        let [high, low] = self.connections.to_be_bytes();
        let mut client = self.host().connect_from([10, 0, high, low]);
        client.say(&format!("LOGIN {login}"));
        let answer = client.line();
        (client, answer)
    }

    fn log_in(&mut self, who: usize) -> Result<(), String> {
        let name = self.people[who].name;
        let login = format!("{name} {}", self.people[who].password());
        let (mut client, mut answer) = self.connect(&login);
        let is_in = |answer: &Option<String>| *answer == Some(format!("LOGIN:{name} OK"));
        if !is_in(&answer) && self.people[who].client.is_none() {
            // The end of a connection comes after all that it has sent, of which only so much is heard in a second.
            self.pass(Duration::from_secs(3))?;
            (client, answer) = self.connect(&login);
        }
        let plays = self.people[who].table.is_some();
        match (is_in(&answer), self.people[who].client.is_some()) {
            (true, had) => {
                if had {
                    self.count(if plays { "taken over" } else { "replaced" });
                }
                self.is_unsound(who);
                let person = &mut self.people[who];
                person.is_gone();
                person.client = Some(client);
                Ok(())
            }
            // An offer is neither taken over nor thrown away.
            (false, true) if plays => Ok(()),
            (false, _) => Err(format!("{name} is not let in: {answer:?}")),
        }
    }

    fn suffer(&mut self, who: usize, fault: Fault) -> Result<(), String> {
        let is_here = self.people[who].client.is_some();
        let name = self.people[who].name;
        match fault {
            Fault::Stop | Fault::Kill => return self.restart(fault == Fault::Kill),
            Fault::Order(number) => return self.order(number),
            _ if !is_here => return Ok(()),
            Fault::Cut => {
                let plays = self.people[who].table.as_ref().is_some_and(|table| table.has_begun);
                self.count(if plays { "cut in a game" } else { "cut" });
                self.people[who].is_gone();
            }
            Fault::Stall(steps) => {
                self.count("stalled");
                self.people[who].stalled = steps;
                self.is_unsound(who);
            }
            Fault::Half | Fault::Twice => self.people[who].next = Some(fault),
            Fault::Early => {
                let plies = self.people[who].table.as_ref().map_or(0, |table| table.plies);
                self.is_unsound(who);
                self.count("out of turn");
                // The move after the next, so that it is a legal one in its turn.
                self.mumble(who, LINE.get(plies + 1).unwrap_or(&"%TORYO"));
            }
            Fault::Rubbish(number) => {
                self.count("rubbish");
                let lines = [
                    "\u{0}\u{1}\u{fffd}",
                    "%%",
                    "%%CHAT",
                    "CHALLENGE",
                    "",
                    "LOGIN asa asa x1",
                    "AGREE x",
                    "##[ERROR]",
                ];
                self.mumble(who, Random(number).of(&lines));
            }
            Fault::Again => return self.log_in(who),
            // Who is stalled may have been sent away without knowing it.
            Fault::Stranger if self.people[who].stalled > 0 => {}
            Fault::Stranger => {
                let (_, answer) = self.connect(&format!("{name} w-{MAIN}-{BYOYOMI},another"));
                if answer.as_deref() != Some("LOGIN:incorrect") {
                    return Err(format!("a stranger is let in as {name}: {answer:?}"));
                }
                self.count("a stranger");
            }
            Fault::Logout => {
                self.count("logout");
                self.mumble(who, "LOGOUT");
            }
            Fault::Flood => {
                self.count("flood");
                self.is_unsound(who);
                self.mumble(who, &["%%VERSION"; 120].join("\n"));
            }
        }
        Ok(())
    }

    /// Sends a line, unless another is under way or nobody is there to send it.
    fn mumble(&mut self, who: usize, line: &str) {
        let person = &self.people[who];
        if person.rest.is_empty() && person.stalled == 0 {
            self.send(who, format!("{line}\n").as_bytes());
        }
    }

    fn order(&mut self, number: u64) -> Result<(), String> {
        let mut random = Random(number);
        let game = 1 + random.below(self.games.len() as u64 + 1);
        let (ruling, result) = random.of(&[
            (RuledResult::Black, "black"),
            (RuledResult::White, "white"),
            (RuledResult::Draw, "draw"),
            (RuledResult::Void, "aborted"),
        ]);
        let name = random.of(&NAMES).to_owned();
        let (what, command) = match random.below(8) {
            _ if self.is_paused => ("resumed", Command::Resume),
            0 => ("paused", Command::Pause),
            1 => ("kicked", Command::Kick { name }),
            2 => ("muted", Command::Mute { name }),
            3 => ("adjourned", Command::Adjourn { game, hold: false }),
            4 => ("announced", Command::Announce { text: name }),
            _ => ("ruled", Command::Rule { game, result: ruling }),
        };
        if self.host().order(command).is_ok() {
            self.count(what);
            match what {
                "paused" | "resumed" => self.is_paused = what == "paused",
                "ruled" => _ = self.ruled.insert(game.cast_signed(), result),
                _ => {}
            }
        }
        Ok(())
    }

    /// Another host goes on with the database of one that has ended or was killed.
    fn restart(&mut self, is_killed: bool) -> Result<(), String> {
        self.count(if is_killed { "killed" } else { "stopped" });
        let mut before = self.host.take().expect("a host is replaced at once");
        let config = self.config.clone();
        let next = if is_killed {
            Host::prepared(config, |path| before.copy_what_is_committed(path))
        } else {
            before.stop();
            self.host = Some(before);
            self.listen()?;
            Host::after(self.host(), config)
        };
        self.host = Some(next);
        self.people.iter_mut().for_each(Person::is_gone);
        for game in self.games.values_mut().filter(|game| !game.is_over) {
            (game.is_over, game.is_torn, game.since) = (true, is_killed, None);
        }
        if self.host().operate(|operations| operations.is_paused()) != self.is_paused {
            return Err(format!("it was paused: {}, and is not so after the restart", self.is_paused));
        }
        Ok(())
    }

    /// Has every client hear what it was sent, after everything has happened that is due.
    fn listen(&mut self) -> Result<(), String> {
        self.host().comes_to_rest();
        for who in 0..NAMES.len() {
            let person = &mut self.people[who];
            let Some(client) = person.client.as_mut().filter(|_| person.stalled == 0) else { continue };
            let (bytes, is_over) = client.heard();
            person.carry.extend_from_slice(&bytes);
            while let Some(end) = self.people[who].carry.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.people[who].carry.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line[..end]).into_owned();
                self.hear(who, &line).map_err(|why| format!("{}: `{line}`: {why}", self.people[who].name))?;
            }
            if is_over {
                self.people[who].is_gone();
            }
        }
        Ok(())
    }

    fn hear(&mut self, who: usize, line: &str) -> Result<(), String> {
        let person = &mut self.people[who];
        if line == "BEGIN Game_Summary" {
            person.table = Some(Table::default());
            person.seeks = false;
            return Ok(());
        }
        if line.starts_with("##[ERROR]") && person.table.is_none() {
            person.seeks = false;
        }
        let Some(table) = &mut person.table else { return Ok(()) };
        if let Some(id) = line.strip_prefix("Game_ID:") {
            id.clone_into(&mut table.id);
            if !self.games.contains_key(id) && self.is_paused {
                return Err("a game is offered while the event is paused".to_owned());
            }
            self.games.entry(id.to_owned()).or_insert_with(|| Game { left: [MAIN; 2], ..Game::default() });
        }
        let id = table.id.clone();
        let is_move =
            line.len() > 7 && (line.starts_with('+') || line.starts_with('-')) && line.contains(",T");
        match line {
            "Your_Turn:+" => table.is_black = true,
            "END Game_Summary" => table.is_offered = true,
            _ if line.starts_with("START:") => {
                table.has_begun = true;
                let game = self.games.get_mut(&id).ok_or("no such game")?;
                if !std::mem::replace(&mut game.has_begun, true) {
                    game.since = Some(self.now);
                }
            }
            _ if is_move => {
                table.plies += 1;
                let ply = table.plies - 1;
                return self.moved(&id, ply, line);
            }
            "#WIN" | "#LOSE" | "#DRAW" | "#CENSORED" | "#CHUDAN" => {
                let winner = if (line == "#WIN") == table.is_black { "black" } else { "white" };
                let result = if matches!(line, "#WIN" | "#LOSE") { winner } else { "none" };
                self.is_over(who, &id, Some(result))?;
            }
            _ if line.starts_with("REJECT:") => self.is_over(who, &id, None)?,
            _ => {}
        }
        Ok(())
    }

    fn is_over(&mut self, who: usize, id: &str, result: Option<&'static str>) -> Result<(), String> {
        self.people[who].table = None;
        let game = self.games.get_mut(id).ok_or("no such game")?;
        game.is_over = true;
        game.results.extend(result);
        if game.results.len() > 1 {
            return Err(format!("players of {id} heard {:?}", game.results));
        }
        Ok(())
    }

    /// A move is heard: the first time with its time, and then as it was.
    fn moved(&mut self, id: &str, ply: usize, line: &str) -> Result<(), String> {
        let game = self.games.get_mut(id).ok_or("no such game")?;
        if let Some(known) = game.moves.get(ply) {
            return if known == line { Ok(()) } else { Err(format!("ply {ply} of {id} was `{known}`")) };
        }
        let (mv, spent) = line.split_once(",T").ok_or("no time")?;
        let spent: u64 = spent.parse().map_err(|_| "no time")?;
        if game.moves.len() != ply || LINE.get(ply) != Some(&mv) {
            return Err(format!("ply {ply} of {id} after {:?}", game.moves));
        }
        let left = &mut game.left[ply % 2];
        if spent > *left + BYOYOMI {
            return Err(format!("{spent} s are charged where {left} s were left"));
        }
        let least = u64::from(self.config.least_time);
        let passed = game.since.map(|since| (self.now - since).as_secs().max(least));
        if passed.is_some_and(|passed| passed != spent) {
            return Err(format!("{spent} s are charged for {passed:?} s in {id}"));
        }
        *left = left.saturating_sub(spent);
        game.moves.push(line.to_owned());
        game.since = Some(self.now);
        Ok(())
    }

    /// Everybody leaves. After a while nothing is left of it, and players find their games as on the first day.
    fn end(&mut self) -> Result<(), String> {
        if self.is_paused {
            self.host().order(Command::Resume)?;
            self.is_paused = false;
        }
        self.people.iter_mut().for_each(|person| {
            person.is_gone();
            person.stalled = 0;
        });
        for _ in 0..REST {
            self.pass(Duration::from_secs(1))?;
        }
        let list = self.host().order(Command::List)?.list.ok_or("no list")?;
        if !list.players.is_empty() {
            return Err(format!("players who left are there: {:?}", list.players));
        }
        for pair in [[0, 1], [2, 3], [4, 0]] {
            self.play_calmly(pair)?;
        }
        let database = self.host.as_mut().expect("a host is replaced at once").end();
        self.compare(&database).map_err(|error| error.to_string())?
    }

    /// Two players log in, play and leave.
    fn play_calmly(&mut self, pair: [usize; 2]) -> Result<(), String> {
        let results = |world: &Self| world.games.values().filter(|game| !game.results.is_empty()).count();
        let before = results(self);
        pair.into_iter().try_for_each(|who| self.log_in(who))?;
        for _ in 0..20 {
            for who in pair {
                let person = &self.people[who];
                match &person.table {
                    Some(table) if table.plies >= 4 && table.is_to_move() => self.mumble(who, "%TORYO"),
                    Some(table) if table.is_offered && !table.has_agreed => {
                        self.people[who].table.iter_mut().for_each(|table| table.has_agreed = true);
                        self.mumble(who, "AGREE");
                    }
                    Some(table) if table.is_to_move() => self.mumble(who, LINE[table.plies]),
                    None if person.is_extended => self.mumble(who, &format!("%%GAME w-{MAIN}-{BYOYOMI} *")),
                    _ => {}
                }
                self.listen()?;
                if results(self) > before {
                    return Ok(());
                }
            }
        }
        Err(format!("{pair:?} find no game, or it does not end"))
    }

    /// Compares what players were told with what is on record.
    fn compare(&self, database: &Connection) -> rusqlite::Result<Result<(), String>> {
        let open: i64 =
            database.query_row("SELECT count(*) FROM games WHERE ended_at IS NULL", [], |row| row.get(0))?;
        if open > 0 {
            return Ok(Err(format!("{open} games have no end")));
        }
        let mut game = database.prepare(
            "SELECT number, id, result, coalesce(ended_result, result) FROM games JOIN game_names USING (event, number)
             WHERE game_names.name = ?",
        )?;
        let mut moves =
            database.prepare("SELECT charged_ms / 1000 FROM moves WHERE game = ? ORDER BY ply")?;
        for (id, told) in &self.games {
            type Row = (i64, i64, String, String);
            let row: Option<Row> = game.query_map([id], |row| row.try_into())?.next().transpose()?;
            let Some((number, key, result, ended)) = row else {
                match told.is_torn {
                    true => continue,
                    false => return Ok(Err(format!("{id} is not on record: {told:?}"))),
                }
            };
            let kept: Vec<i64> = moves.query_map([key], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let heard: Vec<i64> =
                told.moves.iter().map(|mv| mv.split_once(",T").unwrap().1.parse().unwrap()).collect();
            let fits = kept.starts_with(&heard) || told.is_torn && heard.starts_with(&kept);
            if !fits {
                return Ok(Err(format!("{id}: players heard {heard:?}, and on record is {kept:?}")));
            }
            let is_decided = ["black", "white"].contains(&&*ended);
            if told.results.iter().any(|heard| if is_decided { *heard != ended } else { *heard != "none" }) {
                return Ok(Err(format!("{id}: players heard {:?}, and on record is {ended}", told.results)));
            }
            if self.ruled.get(&number).is_some_and(|ruled| *ruled != result) {
                return Ok(Err(format!("{id} was ruled {:?}, and is {result}", self.ruled.get(&number))));
            }
        }
        Ok(Ok(()))
    }
}

impl Person {
    /// The game that it sees.
    fn at_board(&self) -> Option<&str> {
        let table = self.table.as_ref().filter(|table| table.has_begun && self.stalled == 0)?;
        self.client.is_some().then_some(&table.id)
    }
}

/// Plays a league with these faults only.
fn play(seed: u64, faults: Option<&[Happening]>) -> Result<Counts, String> {
    let mut world = World::new(seed);
    faults.into_iter().for_each(|faults| world.faults = faults.to_vec());
    world.play()?;
    Ok(world.counts)
}

/// Leaves out one fault after the other, as long as the league still fails.
fn smallest(seed: u64, mut why: String) -> String {
    let mut faults = World::new(seed).faults;
    let mut at = 0;
    while at < faults.len() {
        let left: Vec<_> =
            faults.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, it)| *it).collect();
        match play(seed, Some(&left)) {
            Err(again) => (faults, why) = (left, again),
            Ok(_) => at += 1,
        }
    }
    format!("{why}, with {faults:?}")
}

#[test]
fn whatever_clients_lines_and_hosts_do_players_hear_what_is_on_record_and_the_league_goes_on() {
    let seeds = testing::seeds(400, 16);
    let are_many = seeds.end - seeds.start >= 200;
    let all = Mutex::new(Counts::new());
    testing::for_each_seed(seeds, 8, |seed| {
        let shrunk = |why| if testing::is_brief() { why } else { smallest(seed, why) };
        let counts = play(seed, None).map_err(shrunk)?;
        let mut all = all.lock().unwrap();
        counts.into_iter().for_each(|(what, count)| *all.entry(what).or_default() += count);
        Ok(())
    });
    let all = all.into_inner().unwrap();
    eprintln!("{all:?}");
    let kinds = [
        "a line twice",
        "a stranger",
        "adjourned",
        "announced",
        "cut",
        "cut in a game",
        "flood",
        "half a line",
        "kicked",
        "killed",
        "logout",
        "muted",
        "out of turn",
        "paused",
        "replaced",
        "resumed",
        "rubbish",
        "ruled",
        "stalled",
        "stopped",
        "taken over",
    ];
    let missing: Vec<_> = kinds.into_iter().filter(|kind| !all.contains_key(*kind)).collect();
    assert!(!are_many || missing.is_empty(), "{missing:?} did not happen: {all:?}");
}
