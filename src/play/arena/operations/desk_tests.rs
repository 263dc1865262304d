//! Orders of the operator and the two who carry them out: the host, and who keeps the games.

use super::*;
use command::RuledResult;
use referee::{AbortBy, sink::SideRecord};
use std::sync::OnceLock;

/// A journal that has everything on the disk at once.
#[derive(Debug, Default)]
struct Disk(Mutex<Vec<Entry>>, OnceLock<Operations>);

impl Sink for Disk {
    fn happened(&self, entry: Entry) {
        self.0.lock().push(entry.clone());
        self.1
            .get()
            .iter()
            .for_each(|operations| operations.take(&[Stamped { at: 0, entry: entry.clone() }]));
    }

    fn keep(&self, _: SideRecord) {}
}

/// A host with one player, who is in a game, and with one buoy; it keeps the games, too, and notes each message it gets.
struct House {
    is_open: bool,
    told: Mutex<Vec<String>>,
    operations: Operations,
}

impl House {
    fn note(&self, line: String) {
        self.told.lock().push(line);
    }
}

impl HostDesk for House {
    fn players(&self) -> Vec<ListedPlayer> {
        let [name, address, state] = ["kawa", "10.0.0.1", "game"].map(str::to_owned);
        vec![ListedPlayer { name, address, state, idle_seconds: 7, round_trip_ms: None }]
    }

    fn absent(&self) -> Vec<String> {
        vec!["late".to_owned()]
    }

    fn buoys(&self) -> Vec<String> {
        vec!["buoy_x-6-0".to_owned()]
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn kick(&self, whom: &Whom, line: &str) -> (usize, usize) {
        self.note(format!("kick {whom}: {line}"));
        let is_here = usize::from(*whom == Whom::Name("kawa".to_owned()));
        (is_here, is_here)
    }

    fn delete_buoy(&self, name: &str) -> bool {
        name == "buoy_x-6-0"
    }

    fn swap(&self, out: &str, substitute: &str) -> Result<(PlayerId, Entry), Message> {
        self.note(format!("swap {out} {substitute}"));
        Ok((PlayerId(1), Entry::Renamed { player: PlayerId(1), name: substitute.to_owned() }))
    }

    fn pair(&self, black: &str, white: &str) -> Result<String, Message> {
        self.note(format!("pair {black} {white}"));
        Ok("t-600-10".to_owned())
    }

    fn tell(&self, game: Option<GameId>, line: &str) {
        self.note(format!("tell {:?}: {}", game.map(|game| game.0), line.trim_end()));
    }

    fn changed(&self) {
        self.note("the host changes".to_owned());
    }
}

const WAS: Outcome = Outcome::Aborted { by: AbortBy::Stopped };

impl GamesDesk for House {
    fn ask(&self, asked: Asked) {
        self.note(format!("{} asks of {}: {:?}", asked.words(), asked.game.0, asked.order));
        let name = String::new();
        let game = NamedGame { game: asked.game, black: name.clone(), white: name, round: 1 };
        let done = match asked.order {
            // The order is dropped without an answer.
            Command::PlayOn { .. } => return,
            Command::Appeal { .. } => Ok(self.operations.record(
                &asked.by,
                &asked.reason,
                None,
                Action::Appealed { game, was: WAS },
            )),
            _ => Ok(Done { number: 0, text: "done".to_owned() }),
        };
        asked.answer(done);
    }

    fn changed(&self) {
        self.note("the games change".to_owned());
    }
}

fn house(is_open: bool) -> (Operations, Arc<House>, Arc<Disk>) {
    let disk = Arc::new(Disk::default());
    let operations = Operations::new(InForce::default(), disk.clone());
    disk.1.set(operations.clone()).unwrap();
    let house = Arc::new(House { is_open, told: Mutex::default(), operations: operations.clone() });
    operations.set_host(Some(house.clone()));
    operations.set_games(Some(house.clone()));
    (operations, house, disk)
}

fn order(operations: &Operations, command: Command) -> Result<Answer, String> {
    let request = Request { named: None, reason: Some(" a reason ".to_owned()), event: None, command };
    operations.carry_out("kai", &request).map_err(|why| why.to_string())
}

fn refusal(why: Result<Done, Message>) -> String {
    why.unwrap_err().to_string()
}

fn text(text: &str) -> String {
    text.to_owned()
}

/// What the grace time makes of the game of a player who is sent away.
const GRACE: &str = "; a game of theirs goes on as after a lost connection, by the grace time of the host";

#[test]
fn an_order_about_players_is_carried_out_by_the_host_and_says_what_was_done() {
    let (operations, house, disk) = house(true);
    let name = || text("kawa");
    for (command, done, told) in [
        (
            Command::Kick { name: name() },
            format!("kicked `kawa`{GRACE}"),
            vec!["kick kawa: the operator has ended your connection: a reason"],
        ),
        (
            Command::Ban { whom: name() },
            format!("banned `kawa`; 1 of them sent away{GRACE}"),
            vec!["kick kawa: the operator has ended your connection: a reason"],
        ),
        (
            Command::Ban { whom: text("192.0.2.0/24") },
            text("banned `192.0.2.0/24`"),
            vec!["kick 192.0.2.0/24: the operator has ended your connection: a reason"],
        ),
        (Command::Unban { whom: name() }, text("unbanned `kawa`"), vec![]),
        (Command::Mute { name: name() }, text("muted `kawa`"), vec![]),
        (Command::Unmute { name: name() }, text("unmuted `kawa`"), vec![]),
        (Command::DeleteBuoy { name: text("buoy_x-6-0") }, text("deleted the buoy `buoy_x-6-0`"), vec![]),
        (
            Command::Announce { text: text(" at noon ") },
            text("announced: at noon"),
            vec!["tell None: ##[OPERATOR] at noon"],
        ),
        (Command::CloseRegistration, text("closed the registration"), vec![]),
        (Command::OpenRegistration, text("opened the registration"), vec![]),
        (
            Command::Pair { black: text("a"), white: text("b") },
            text("paired `a` (black) with `b` for `t-600-10`"),
            vec!["pair a b"],
        ),
        (
            Command::Swap { out: text("a"), substitute: text("c") },
            text("swapped `a` for `c`, who keeps the place and its games"),
            vec![
                "swap a c",
                "kick a: the operator has ended your connection: a reason",
                "tell None: ##[OPERATOR] swapped `a` for `c`, who keeps the place and its games",
            ],
        ),
        (Command::Pause, text("paused the event"), vec!["the games change", "the host changes"]),
    ] {
        let number = operations.in_force(InForce::next);
        let answer = order(&operations, command.clone()).unwrap();
        assert_eq!(answer, Answer { ok: true, text: done, operation: Some(number), ..Answer::default() });
        assert_eq!(std::mem::take(&mut *house.told.lock()), told, "{command:?}");
    }
    let names = disk.0.lock().iter().filter(|entry| matches!(entry, Entry::Renamed { .. })).count();
    assert_eq!((names, operations.substitutes()), (1, vec![(PlayerId(1), text("c"))]));
    let first = operations.in_force(|in_force| in_force.operations()[0].clone());
    assert_eq!((&*first.by, &*first.reason), ("kai", "a reason"));
    let recent = operations.recent(2);
    assert_eq!(recent.iter().map(|(operation, _)| operation.number).collect::<Vec<_>>(), [13, 12]);
    assert_eq!((recent[0].1.clone(), recent[1].1.clone()), (None, None));
}

#[test]
fn an_order_that_cannot_be_carried_out_is_refused_and_leaves_nothing_on_record() {
    let (operations, ..) = house(true);
    let long = "x".repeat(TEXT + 1);
    for (command, why) in [
        (Command::Kick { name: text("mori") }, refusal(refuse(|words| words.player_not_here("mori")))),
        (Command::Kick { name: text("../x") }, refusal(refuse(|words| words.not_a_player_name("../x")))),
        (Command::Ban { whom: text("a b") }, refusal(refuse(|words| words.not_a_ban("a b")))),
        (Command::Ban { whom: text("../x") }, refusal(refuse(|words| words.not_a_ban("../x")))),
        (Command::Mute { name: text("../x") }, refusal(refuse(|words| words.not_a_player_name("../x")))),
        (Command::Unban { whom: text("mori") }, refusal(refuse(|words| words.not_banned("mori")))),
        (Command::Unmute { name: text("mori") }, refusal(refuse(|words| words.not_muted("mori")))),
        (Command::DeleteBuoy { name: text("b") }, refusal(refuse(|words| words.no_buoy("b")))),
        (Command::Announce { text: text(" ") }, refusal(refuse(Language::announcement_needs_words))),
        (Command::Resume, refusal(refuse(Language::not_paused))),
        (Command::OpenRegistration, refusal(refuse(Language::registration_open_already))),
        (Command::Reload, refusal(refuse(Language::event_has_no_file))),
        (Command::PlayOn { game: 3 }, refusal(refuse(Language::event_ended_meanwhile))),
        (
            Command::Announce { text: long.clone() },
            refusal(refuse(|words| words.text_too_long(words.an_announcement(), TEXT))),
        ),
        (
            Command::Withdraw { player: long.clone() },
            refusal(refuse(|words| words.text_too_long(words.a_name(), TEXT))),
        ),
        (
            Command::DropMachine { machine: long },
            refusal(refuse(|words| words.text_too_long(words.name_of_a_machine(), TEXT))),
        ),
    ] {
        assert_eq!(order(&operations, command.clone()).unwrap_err(), why, "{command:?}");
    }
    assert_eq!(operations.in_force(InForce::next), 1);
    assert!(order(&operations, Command::Announce { text: "x".repeat(TEXT) }).is_ok());
    let bare = Request { named: None, reason: None, event: None, command: Command::Ban { whom: text("a") } };
    let why = operations.carry_out("kai", &bare).unwrap_err().to_string();
    assert_eq!(why, refusal(refuse(Language::needs_reason)));
    let named = Request { named: Some(text(" ann ")), command: Command::Pause, ..bare };
    operations.carry_out("desk", &named).unwrap();
    assert_eq!(operations.recent(1)[0].0.by, "desk as ann");
    let undone = order(&operations, Command::Undo { number: 2 }).unwrap();
    assert_eq!(undone.text, "resumed the event, which takes back operation 2");
}

#[test]
fn without_a_host_or_with_one_that_invites_there_is_no_registration_and_games_pair_themselves() {
    let (operations, house, _) = house(false);
    let closed = refusal(refuse(Language::no_registration));
    assert_eq!(order(&operations, Command::CloseRegistration).unwrap_err(), closed);
    let pair = Command::Pair { black: text("a"), white: text("b") };
    assert_eq!(order(&operations, pair.clone()).unwrap().text, "done");
    assert_eq!(*house.told.lock(), [format!("kai: a reason asks of 0: {pair:?}")]);
    operations.set_host(None);
    let nobody = refusal(refuse(Language::no_network));
    for command in [
        Command::Kick { name: text("kawa") },
        Command::Ban { whom: text("kawa") },
        Command::Mute { name: text("kawa") },
        Command::Swap { out: text("a"), substitute: text("b") },
    ] {
        assert_eq!(order(&operations, command).unwrap_err(), nobody);
    }
    assert_eq!(order(&operations, Command::CloseRegistration).unwrap_err(), closed);
    operations.set_games(None);
    let over = refusal(refuse(Language::event_over));
    assert_eq!(order(&operations, Command::Adjourn { game: 1, hold: false }).unwrap_err(), over);
    let early = Operations::new(InForce::default(), Arc::new(Disk::default()));
    early.set_over();
    assert_eq!(order(&early, Command::Reload).unwrap_err(), over);
}

#[test]
fn an_appeal_waits_once_for_each_game_and_person_and_its_answer_says_what_followed() {
    let (operations, house, _) = house(true);
    let appeal = |by: &str, game| {
        let command = Command::Appeal { game };
        let request = Request { named: None, reason: Some(text("why")), event: None, command };
        operations.carry_out(by, &request).map_err(|why| why.to_string())
    };
    appeal("a", 7).unwrap();
    assert_eq!(appeal("a", 7).unwrap_err(), refusal(refuse(|words| words.appeal_waits(7))));
    appeal("b", 7).unwrap();
    appeal("a", 8).unwrap();
    house.told.lock().clear();
    let result = RuledResult::Draw;
    let answers = [
        (1, Decision::Dismissed, "dismissed", None),
        (2, Decision::Ruled(result), "upheld", Some(Command::Rule { game: 7, result })),
        (3, Decision::Replay, "upheld", Some(Command::Replay { game: 8 })),
    ];
    for (number, decision, word, follows) in answers {
        let answer = order(&operations, Command::Answer { appeal: number, decision }).unwrap();
        let game = if number == 3 { 8 } else { 7 };
        let start = format!("{word} the appeal (operation {number}) against the result of game {game}");
        assert!(answer.text.starts_with(&start), "{}", answer.text);
        assert_eq!(answer.text.ends_with("; done"), follows.is_some(), "{}", answer.text);
        let follows = follows.iter().map(|order| format!("kai: a reason asks of {game}: {order:?}"));
        let told = follows.chain([format!("tell Some({game}): ##[OPERATOR] {}", answer.text)]);
        assert_eq!(std::mem::take(&mut *house.told.lock()), told.collect::<Vec<_>>());
        let again = order(&operations, Command::Answer { appeal: number, decision }).unwrap_err();
        assert_eq!(again, refusal(refuse(|words| words.no_waiting_appeal(number))));
    }
    for game in 0..APPEALS as u64 {
        appeal("c", game).unwrap();
    }
    assert_eq!(appeal("c", 999).unwrap_err(), refusal(refuse(Language::appeals_full)));
}

#[test]
fn the_list_has_everybody_and_everything_that_waits() {
    let (operations, _house, _) = house(true);
    let entry = |entry| operations.take(&[Stamped { at: 0, entry }]);
    let opened = referee::entry::Opened {
        name: text("e"),
        players: ["a", "b"].map(text).to_vec(),
        format: String::new(),
        resumed: false,
    };
    entry(Entry::Opened(opened));
    let (black, white) = (PlayerId(1), PlayerId(0));
    let pairing = Pairing { stage: 1, index: 4, attempt: 0, round: 2, pair: 2, opening: 0, black, white };
    let game = operations.named(GameId(9), &pairing);
    assert_eq!((&*game.black, &*game.white, game.round), ("b", "a", 2));
    let record = |action| operations.record("kai", "why", None, action).number;
    let adjourned = Action::Adjourned { game: game.clone(), held: Some(pairing) };
    record(adjourned);
    record(Action::Appealed { game, was: WAS });
    record(Action::MachineDropped { machine: text("koto") });
    let (player, name) = (PlayerId(0), text("a"));
    record(Action::Withdrawn { player, name, stage: 0, round: 1, holds: true });
    record(Action::Banned { whom: Whom::Name(text("mori")) });
    record(Action::Muted { name: text("loud") });
    record(Action::Paused);
    let list = *order(&operations, Command::List).unwrap().list.unwrap();
    let ban = |whom: &str, operation| ListedBan {
        whom: text(whom),
        operation,
        by: text("kai"),
        reason: text("why"),
    };
    let entrant = |name: &str, withdrawn| ListedEntrant { name: text(name), withdrawn };
    let expected = Listed {
        paused: true,
        entrants: vec![entrant("a", true), entrant("b", false)],
        players: list.players.clone(),
        absent: vec![text("late")],
        adjourned: vec![ListedAdjourned { game: 9, black: text("b"), white: text("a") }],
        bans: vec![ban("mori", 5)],
        mutes: vec![text("loud")],
        buoys: vec![text("buoy_x-6-0")],
        appeals: vec![ListedAppeal { operation: 2, game: 9, by: text("kai"), reason: text("why") }],
        dropped: vec![ban("koto", 3)],
        ..Listed::default()
    };
    assert_eq!((list.players.len(), list), (1, expected));
    assert_eq!(operations.dropped_machines(), [(text("koto"), text("why"))]);
    assert_eq!([9, 8].map(|game| operations.is_held(GameId(game))), [true, false]);
    let again = Pairing { attempt: 1, ..pairing };
    assert_eq!(operations.held_at(&again), Some(GameId(9)));
    assert_eq!(operations.held_at(&Pairing { index: 5, ..pairing }), None);
    assert_eq!(operations.held_at(&Pairing { stage: 0, ..pairing }), None);
    operations.set_games(None);
    assert!(order(&operations, Command::List).unwrap().list.unwrap().over);
}
