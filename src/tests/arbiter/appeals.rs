//! Appeals: who may file one, what an arbiter makes of it, and what strangers try.

use super::{HERE, League, Player, form};
use std::{
    io::Write,
    process::{Command, Stdio},
};

/// Two players of an open league whose secrets make their trips.
fn players(league: &League, game: &str) -> [Player; 2] {
    let mut players = [("sente", "+"), ("gote", "-")].map(|(name, color)| {
        let mut player = league.player();
        player.say(&format!("LOGIN {name} {name}-secret x1"));
        player.until("##[LOGIN] +OK");
        player.say(&format!("%%GAME {game} {color}"));
        player
    });
    for player in &mut players {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    players.iter_mut().for_each(|player| drop(player.until("START:")));
    players
}

/// Sente resigns.
fn ends(players: &mut [Player; 2]) {
    players[0].say("%TORYO");
    players[0].until("#LOSE");
    players[1].until("#WIN");
}

fn appeal(league: &League, from: [u8; 4], fields: &[(&str, &str)], more: &[(&str, &str)]) -> super::Answer {
    league.ask(from, "POST", "/appeal", more, &form(fields))
}

fn of_sente<'a>(secret: &'a str, words: &'a str) -> [(&'a str, &'a str); 4] {
    [("game", "1"), ("name", "sente"), ("secret", secret), ("words", words)]
}

/// The page of the first game, once the pages know that it is over.
fn page_of_the_game(league: &League, what: &str) -> String {
    let since = std::time::Instant::now();
    loop {
        let page = league.ask(HERE, "GET", "/games/1", &[], "").body;
        if page.contains(what) {
            return page;
        }
        assert!(since.elapsed() < super::PATIENCE, "no `{what}`: {page}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_player_appeals_and_the_arbiters_answer_is_shown_with_the_game() {
    let league = League::start("open");
    let (kai, ope) = (league.signed("kai"), league.signed("ope"));
    let mut players = players(&league, "t-600-10");
    // The arbiter knows of the game at once, the pages as soon as they have followed the store.
    kai.page_with("/games/1");
    page_of_the_game(&league, "sente");
    let early = appeal(&league, HERE, &of_sente("sente-secret", "he moved twice"), &[]);
    assert_eq!(early.status, 409, "{}", early.body);
    assert!(early.body.contains("appeal when it is over"), "{}", early.body);
    ends(&mut players);
    page_of_the_game(&league, "/appeal?game=1");
    let guessed = appeal(&league, HERE, &of_sente("gote-secret", "he moved twice"), &[]);
    assert_eq!(guessed.status, 403, "a secret of somebody else: {}", guessed.body);
    let filed = appeal(&league, HERE, &of_sente("sente-secret", "<b>my clock</b> stood still"), &[]);
    assert_eq!(filed.status, 200, "{}", filed.body);
    let again = appeal(&league, HERE, &of_sente("sente-secret", "really"), &[]);
    assert!(again.status == 409 && again.body.contains("waits already"), "{}", again.body);
    let page = kai.page();
    assert!(
        page.contains("&lt;b&gt;my clock&lt;/b&gt; stood still") && page.contains("sente (on the page)"),
        "{page}"
    );
    let number =
        league.desk.query("SELECT number FROM operations WHERE action = 'appealed'").concat().concat();
    let answer =
        |decision| [("command", "answer"), ("appeal", &number), ("decision", decision), ("reason", "it did")];
    assert_eq!(ope.send("/arbiter/do", &answer("black")).status, 403, "an operator does not decide");
    assert_eq!(kai.send("/arbiter/do", &answer("black")).status, 303);
    assert_eq!(kai.send("/arbiter/do", &answer("dismissed")).status, 409, "it was answered");
    let shown = page_of_the_game(&league, "upheld the appeal (operation ");
    assert!(shown.contains("appealed against the result of game 1") && shown.contains("it did"), "{shown}");
    let result = league.desk.query("SELECT result || ' ' || cause FROM games").concat();
    assert_eq!(result, ["black ruling"]);
}

#[test]
fn an_appeal_can_be_filed_and_dismissed_at_the_terminal() {
    let league = League::start("open");
    let mut players = players(&league, "t-600-10");
    ends(&mut players);
    page_of_the_game(&league, "/appeal?game=1");
    let admin = |words: &[&str]| league.desk.renmei(&[&["admin", "event.db"], words].concat());
    assert!(!admin(&["appeal", "1"]).status.success(), "an appeal wants a reason");
    let filed = admin(&["appeal", "1", "--as", "sente", "--reason", "the clock"]);
    assert!(filed.status.success(), "{}", String::from_utf8_lossy(&filed.stderr));
    let listed = String::from_utf8_lossy(&admin(&["list"]).stdout).into_owned();
    assert!(
        listed.contains("appeal  1 against the result of game 1") && listed.contains("the clock"),
        "{listed}"
    );
    assert!(admin(&["answer", "1", "dismissed", "--reason", "it was right"]).status.success());
    let listed = String::from_utf8_lossy(&admin(&["list"]).stdout).into_owned();
    assert!(!listed.contains("appeal"), "{listed}");
    assert_eq!(league.desk.query("SELECT result FROM games").concat(), ["white"], "the result stands");
}

#[test]
fn strangers_cannot_flood_the_arbiter_with_appeals() {
    let league = League::start("open");
    let mut players = players(&league, "t-600-10");
    ends(&mut players);
    page_of_the_game(&league, "/appeal?game=1");
    let elsewhere = [("origin", "https://evil.example")];
    let sente = of_sente("sente-secret", "why");
    assert_eq!(appeal(&league, HERE, &sente, &elsewhere).status, 403, "a form of another site");
    let long = "x".repeat(501);
    assert_eq!(appeal(&league, HERE, &of_sente("sente-secret", &long), &[]).status, 400);
    let unknown = [("game", "7"), ("name", "sente"), ("secret", "sente-secret"), ("words", "why")];
    assert_eq!(appeal(&league, HERE, &unknown, &[]).status, 404);
    let answers: Vec<u16> = (0..6).map(|_| appeal(&league, HERE, &sente, &[]).status).collect();
    assert_eq!(
        answers,
        [200, 409, 409, 409, 409, 429],
        "five in an hour of an address, one that waits for a game"
    );
    let guesser = [127, 0, 0, 2];
    let wrong = of_sente("wrong", "why");
    let guesses: Vec<u16> = (0..11).map(|_| appeal(&league, guesser, &wrong, &[]).status).collect();
    assert_eq!(guesses[..10], [403; 10]);
    assert_eq!(guesses[10], 429, "whoever guesses is locked out");
    let arbiter = league.log_in(guesser, "kai", super::PASSWORD, &[]);
    assert_eq!(arbiter.status, 303, "and the arbiter at the same address is not: {}", arbiter.body);
    let appeals = league.desk.query("SELECT count(*) FROM operations WHERE action = 'appealed'").concat();
    assert_eq!(appeals, ["1"]);
}

#[test]
fn the_time_that_an_appeal_takes_does_not_tell_which_names_have_accounts() {
    let league = League::start("open");
    let mut add = Command::new(env!("CARGO_BIN_EXE_renmei"));
    add.current_dir(league.desk.dir.path()).args(["account", "add", "kuma", "--db", "event.db"]);
    let mut add = add.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    add.stdin.take().unwrap().write_all(b"secret-of-a-player\n").unwrap();
    assert!(crate::support::ended(&mut add).success());
    ends(&mut players(&league, "t-600-10"));
    page_of_the_game(&league, "/appeal?game=1");
    // Time of the processor, which another program does not add to. In hundredths of a second (proc_pid_stat(5)).
    let worked = || -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", league.child.id())).unwrap();
        let fields = stat.rsplit_once(") ").unwrap().1.split(' ').skip(11).take(2);
        fields.map(|ticks| ticks.parse::<u64>().unwrap()).sum()
    };
    let takes = |name: &str, network: u8| {
        let before = worked();
        for host in 1..=10 {
            let fields = [("game", "1"), ("name", name), ("secret", "a-wrong-secret"), ("words", "unfair")];
            let answer = appeal(&league, [127, 0, network, host], &fields, &[]);
            assert_eq!(answer.status, 403, "{name}: {}", answer.body);
        }
        worked() - before
    };
    let (known, unknown) = (takes("kuma", 1), takes("nobody", 2));
    assert!(unknown * 2 > known && known * 2 > unknown, "{known} with an account, {unknown} without one");
}
