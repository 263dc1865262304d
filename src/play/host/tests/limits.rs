//! What a client can take from others, and from its own clock: its limits, chat, places.

use super::driver::{Client, Host, begin};
use journal::Writer;
use plan::{
    password,
    serve::{Counted, Login, ServeConfig},
};
use std::time::Duration;

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
    begin(players.each_mut());
    players
}

/// The time charged in the line of a move, in its unit.
fn charged(line: &str) -> u64 {
    line.split_once(",T").unwrap_or_else(|| panic!("no move: {line}")).1.parse().unwrap()
}

/// A league with accounts whose passwords are `word`.
fn with_accounts(config: ServeConfig, names: &[&str]) -> Host {
    Host::prepared(ServeConfig { login: Login::Accounts, ..config }, |path| {
        let (store, hash) = (Writer::open(path).unwrap(), password::hash("word").unwrap());
        names.iter().for_each(|name| assert!(store.set_account(name, &hash).unwrap()));
    })
}

#[test]
fn who_waits_for_its_own_limit_before_a_move_waits_on_its_own_clock() {
    let mut config = ServeConfig { time_unit: Counted::Msec, ..ServeConfig::default() };
    config.limits.lines_per_second = 50;
    let host = Host::start(config);
    let [mut cheat, mut other] = game(&host, "t-600-0");
    let moves = ["+7776FU", "+2726FU", "+2625FU", "+6978KI", "+3948GI"];
    let replies = ["-3334FU", "-8384FU", "-8485FU", "-4132KI", "-7162GI"];
    let half_of_a_line = "x".repeat(2048 * 60);
    let before = [
        "\n".repeat(110),
        "%%CHAT a\n".repeat(60),
        "%%LIST\n".repeat(60),
        "x\n".repeat(60),
        format!("{half_of_a_line}\n"),
    ];
    for ((mv, reply), lines) in moves.into_iter().zip(replies).zip(before) {
        cheat.bytes(format!("{lines}{mv}\n").as_bytes());
        other.waits();
        let line = other.line().unwrap();
        assert!(line.starts_with(mv) && charged(&line) >= 900, "{line} after {:?}", &lines[..8]);
        other.say(reply);
        let line = other.line().unwrap();
        assert!(line.starts_with(reply), "{line}");
        while !cheat.line().unwrap().starts_with(reply) {}
    }
}

#[test]
fn a_move_that_waits_for_its_senders_limit_until_the_flag_falls_is_too_late() {
    let mut config = ServeConfig::default();
    config.limits.lines_per_second = 50;
    let host = Host::start(config);
    let [mut cheat, mut other] = game(&host, "t-2-0");
    cheat.bytes(("\n".repeat(250) + "+7776FU\n").as_bytes());
    other.waits();
    other.hears(&["#TIME_UP", "#WIN"]);
    cheat.until("#LOSE");
}

#[test]
fn chat_in_the_same_packet_keeps_nobody_from_a_game() {
    let host = Host::start(ServeConfig::default());
    let mut players = ["sente", "gote"].map(|name| host.connect().login_x1(name, "secret"));
    for (player, color) in players.iter_mut().zip(["+", "-"]) {
        let packet = "%%CHAT a\n".repeat(70) + &format!("%%GAME t-600-10 {color}\n");
        player.bytes(packet.as_bytes());
    }
    (0..20).for_each(|_| host.passes(Duration::from_secs(1)));
    begin(players.each_mut());
}

#[test]
fn a_chat_is_cut_and_cuts_off_nobody_who_does_not_read() {
    let mut config = ServeConfig::default();
    config.limits.lines_per_second = 1_000_000;
    let host = Host::start(config);
    let mut slow = host.connect().login_x1("slow", "x");
    let mut chats = host.connect().login_x1("chats", "x");
    let mut line = b"%%CHAT ".to_vec();
    line.extend([0].repeat(8100));
    line.push(b'\n');
    for _ in 0..400 {
        chats.bytes(&line);
        let heard = chats.line().unwrap();
        assert!(heard.len() < 2048, "a chat of {} characters is sent on", heard.len());
    }
    // Everything that waits is read, and the connection is still there.
    slow.say("%%VERSION");
    slow.until("##[VERSION] +OK");
}

#[test]
fn a_player_in_a_game_hears_chat_only_when_it_asks_for_it() {
    let host = Host::start(ServeConfig::default());
    let [mut black, mut white] = game(&host, "t-600-10");
    white.say("%%CHATON");
    white.hears(&["##[CHATON] +OK"]);
    let mut third = host.connect().login_x1("third", "x");
    third.say("%%CHAT hello");
    third.hears(&["##[CHAT][third] hello"]);
    white.hears(&["##[CHAT][third] hello"]);
    white.say("%%CHATOFF");
    white.hears(&["##[CHATOFF] +OK"]);
    third.say("%%CHAT again");
    third.hears(&["##[CHAT][third] again"]);
    black.say("+7776FU");
    black.hears(&["+7776FU,T0"]);
    white.hears(&["+7776FU,T0"]);
    white.say("%TORYO");
    black.until("#WIN");
    third.say("%%CHAT over");
    black.hears(&["##[CHAT][third] over"]);
}

#[test]
fn one_address_cannot_hold_all_places() {
    let mut config = ServeConfig::default();
    (config.limits.connections, config.limits.connections_per_address) = (8, 8);
    let host = Host::start(config);
    let mut players = game(&host, "t-600-10");
    let mut held: Vec<Client> = (0..6)
        .map(|n| {
            host.passes(Duration::from_secs(1));
            host.connect_from(ATTACKER).login_x1(&format!("held{n}"), "x")
        })
        .collect();
    let mut guests: Vec<Client> =
        (0..2).map(|n| host.connect().login_x1(&format!("guest{n}"), "x")).collect();
    held[..2].iter_mut().for_each(|idle| drop(idle.rest()));
    for client in held[2..].iter_mut().chain(&mut guests) {
        client.say("%%VERSION");
        client.until("##[VERSION] +OK");
    }
    players[0].say("+7776FU");
    players[1].hears(&["+7776FU,T6"]);
}

#[test]
fn a_dropped_player_comes_back_to_a_host_that_is_full() {
    let mut config = ServeConfig::default();
    config.limits.connections = 4;
    let host = Host::start(config);
    let [black, mut white] = game(&host, "t-600-10");
    black.cut();
    host.passes(Duration::ZERO);
    // Every place is taken, by as many addresses.
    let _strangers: Vec<Client> =
        (2..5).map(|n| host.connect_from([127, 0, 0, n]).login_x1(&format!("stranger{n}"), "x")).collect();
    let mut refused = host.connect_from([127, 0, 0, 9]);
    refused.say("LOGIN newcomer x x1");
    assert_ne!(refused.line().as_deref(), Some("LOGIN:newcomer OK"));
    let mut black = host.connect_from([127, 0, 0, 10]).login_x1("sente", "secret");
    black.until("END Game_Summary");
    black.say("AGREE");
    while !black.line().unwrap().starts_with("START:") {}
    black.say("+7776FU");
    white.hears(&["+7776FU,T0"]);
}

#[test]
fn who_finds_no_place_and_who_logs_in_too_late_are_told_why() {
    let mut config = ServeConfig::default();
    config.limits.connections_per_address = 1;
    let host = Host::start(config);
    let (mut silent, mut second) = (host.connect(), host.connect());
    second.say("LOGIN kuma t-600-10,x");
    second.hears(&["##[ERROR] 1 connections have come from your address, and there may be no more at once"]);
    assert_eq!(second.line(), None);
    host.passes(Duration::from_secs(60));
    silent.hears(&["##[ERROR] no login came within 60 s"]);
    assert_eq!(silent.line(), None);
}

#[test]
fn an_address_that_guesses_is_locked_out_and_no_other() {
    let host = with_accounts(ServeConfig::default(), &["late"]);
    for _ in 0..10 {
        let mut guesser = host.connect_from(ATTACKER);
        guesser.say("LOGIN late guess x1");
        guesser.hears(&["LOGIN:incorrect"]);
    }
    let mut guesser = host.connect_from(ATTACKER);
    guesser.say("LOGIN late word x1");
    assert_ne!(guesser.line().as_deref(), Some("LOGIN:late OK"));
    let _late = host.connect_from(HONEST).login_x1("late", "word");
}
