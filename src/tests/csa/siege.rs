//! What many clients can take from others: their clock, their logins.

use super::client::{Client, Host};
use journal::Writer;
use plan::{
    password,
    serve::{Counted, Login, ServeConfig},
};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Address of the attacker; honest players come from 127.0.0.1.
const ATTACKER: [u8; 4] = [127, 0, 0, 2];
const HONEST: [u8; 4] = [127, 0, 0, 1];

/// Starts a game of two players in the extended mode, who chat and watch like anybody else; black first.
fn game(host: &Host, name: &str) -> [Client; 2] {
    let mut players = [("sente", "+"), ("gote", "-")].map(|(player, color)| {
        let mut client = host.connect().login_x1(player, "secret");
        client.say(&format!("%%GAME {name} {color}"));
        client
    });
    for player in &mut players {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in &mut players {
        while !player.line().unwrap().starts_with("START:") {}
    }
    players
}

/// The time charged in the line of a move, in its unit.
fn charged(line: &str) -> u64 {
    line.split_once(",T").unwrap_or_else(|| panic!("no move: {line}")).1.parse().unwrap()
}

#[test]
fn who_floods_the_host_in_the_opponents_turn_takes_no_time_from_its_clock() {
    let mut config = ServeConfig { time_unit: Counted::Msec, ..ServeConfig::default() };
    config.limits.connections_per_address = 1000;
    let host = Host::start(config);
    let [mut honest, mut other] = game(&host, "t-600-0");
    let mut flood: Vec<Client> = (0..100)
        .map(|n| host.connect_from(ATTACKER).login_x1(&format!("stormer_of_the_host_{n}"), "x"))
        .collect();
    let packets =
        ["%%WHO\n".repeat(341), "%%LIST\n".repeat(292), "x\n".repeat(1024), "%%CHAT a\n".repeat(227)];
    let (mut told, mut measured) = (0, Duration::ZERO);
    let moves = ["+7776FU", "+2726FU", "+2625FU", "+6978KI", "+3948GI"];
    let replies = ["-3334FU", "-8384FU", "-8485FU", "-4132KI", "-7162GI"];
    // In the first turn nobody is attacked: it began while the attackers logged in.
    let packets = std::iter::once(String::new()).chain(packets);
    let mut began = None;
    for ((mv, reply), packet) in moves.into_iter().zip(replies).zip(packets) {
        flood.iter_mut().for_each(|one| one.bytes(packet.as_bytes()));
        thread::sleep(Duration::from_millis(20));
        honest.say(mv);
        let took = began.map(|began: Instant| began.elapsed());
        let line = honest.line().unwrap();
        if let Some(took) = took {
            measured += took;
            told += charged(&line);
        }
        other.line().unwrap();
        other.say(reply);
        // The turn began when the opponent's move arrived, not when this program read it.
        let waited = honest.next_arrived();
        began = Instant::now().checked_sub(waited);
        honest.line().unwrap();
        other.line().unwrap();
    }
    let most = u64::try_from(measured.as_millis()).unwrap() + 5 * 4 + 100;
    assert!(told <= most, "charged {told} ms, measured {} ms", measured.as_millis());
}

#[test]
fn who_floods_the_host_in_its_own_turn_gains_no_time() {
    let mut config = ServeConfig { time_unit: Counted::Msec, ..ServeConfig::default() };
    config.limits.connections_per_address = 1000;
    let host = Host::start(config);
    let [mut cheat, mut other] = game(&host, "t-2-0");
    let mut flood: Vec<Client> = (0..100)
        .map(|n| host.connect_from(ATTACKER).login_x1(&format!("stormer_of_the_host_{n}"), "x"))
        .collect();
    thread::sleep(Duration::from_millis(1900));
    flood.iter_mut().for_each(|one| one.bytes("%%WHO\n".repeat(341).as_bytes()));
    thread::sleep(Duration::from_millis(300));
    cheat.say("+7776FU");
    cheat.hears(&["#TIME_UP", "#LOSE"]);
    other.hears(&["#TIME_UP", "#WIN"]);
}

/// A league with accounts whose passwords are `word`.
fn with_accounts(config: ServeConfig, names: &[&str]) -> Host {
    Host::prepared(ServeConfig { login: Login::Accounts, ..config }, |path| {
        let (store, hash) = (Writer::open(path).unwrap(), password::hash("word").unwrap());
        names.iter().for_each(|name| assert!(store.set_account(name, &hash).unwrap()));
    })
}

#[test]
fn guessers_of_one_address_do_not_hold_up_the_login_from_another() {
    let mut config = ServeConfig::default();
    config.limits.connections_per_address = 1000;
    let host = with_accounts(config, &["late"]);
    let mut guessers: Vec<Client> = (0..100).map(|_| host.connect_from(ATTACKER)).collect();
    guessers.iter_mut().for_each(|one| one.say("LOGIN late guess x1"));
    // The host has taken in every guess once it has answered the first of them.
    guessers[0].hears(&["LOGIN:incorrect"]);
    let answered = AtomicUsize::new(0);
    thread::scope(|scope| {
        for guesser in &mut guessers[1..] {
            scope.spawn(|| {
                if guesser.line().as_deref() == Some("LOGIN:incorrect") {
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let _late = host.connect_from(HONEST).login_x1("late", "word");
        let before = answered.load(Ordering::SeqCst);
        assert!(before < 50, "{before} guesses were checked first");
    });
}
