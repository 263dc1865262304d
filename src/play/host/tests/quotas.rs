//! What one address can add to a host: games, names, and what is kept of them.

use super::driver::{Client, Host};
use plan::serve::{Limits, ServeConfig};
use std::time::Duration;

const ATTACKER: [u8; 4] = [127, 0, 0, 2];
const HONEST: [u8; 4] = [127, 0, 0, 1];

fn host(limits: impl FnOnce(&mut Limits)) -> Host {
    let mut config = ServeConfig::default();
    limits(&mut config.limits);
    Host::start(config)
}

fn log_in(host: &Host, from: [u8; 4], names: [&str; 2]) -> [Client; 2] {
    names.map(|name| host.connect_from(from).login_x1(name, "secret"))
}

/// Makes two players ask for a game with each other, and agree.
fn begin(players: &mut [Client; 2], name: &str) {
    for (player, color) in players.iter_mut().zip(["+", "-"]) {
        player.say(&format!("%%GAME {name}-600-10 {color}"));
    }
    for player in &mut *players {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in players {
        while !player.line().unwrap().starts_with("START:") {}
    }
}

fn end([black, white]: &mut [Client; 2]) {
    black.say("%TORYO");
    black.until("#LOSE");
    white.until("#WIN");
}

/// The error that a player gets who asks for a game.
fn refusal(player: &mut Client) -> String {
    player.say("%%GAME next-600-10 +");
    loop {
        let line = player.line().unwrap();
        if let Some(why) = line.strip_prefix("##[ERROR] ") {
            return why.to_owned();
        }
    }
}

#[test]
fn a_player_who_has_begun_its_games_of_the_hour_is_told_when_to_ask_again() {
    let host = host(|limits| limits.games_per_hour = 2);
    let mut players = log_in(&host, HONEST, ["sente", "gote"]);
    for _ in 0..2 {
        begin(&mut players, "t");
        end(&mut players);
    }
    let why = refusal(&mut players[0]);
    assert!(why.starts_with("you have begun 2 games in an hour; ask again in "), "{why}");
    // Others are not concerned, up to four times as many games of the address.
    let mut others = log_in(&host, HONEST, ["kawa", "mori"]);
    for _ in 0..2 {
        begin(&mut others, "t");
        end(&mut others);
    }
    let mut last = log_in(&host, HONEST, ["a", "b"]);
    begin(&mut last, "t");
}

#[test]
fn an_address_that_plays_against_itself_has_so_many_games_at_once_and_others_play_on() {
    let host = host(|limits| limits.games_per_address = Some(1));
    let mut first = log_in(&host, ATTACKER, ["a", "b"]);
    for (player, color) in first.iter_mut().zip(["+", "-"]) {
        player.say(&format!("%%GAME rejected-600-10 {color}"));
    }
    first.iter_mut().for_each(|player| player.until("END Game_Summary"));
    first[0].say("REJECT");
    for player in &mut first {
        while !player.line().unwrap().starts_with("REJECT:") {}
    }
    begin(&mut first, "self");
    let mut second = log_in(&host, ATTACKER, ["c", "d"]);
    let why = refusal(&mut second[0]);
    assert_eq!(why, "1 games are played from your address, and there may be 1 at once");
    let mut honest = log_in(&host, HONEST, ["sente", "gote"]);
    begin(&mut honest, "t");
    end(&mut first);
    begin(&mut second, "self");
}

#[test]
fn new_names_have_a_quota_and_who_has_played_before_plays_on() {
    let config = ServeConfig::default();
    let mut before = Host::start(config.clone());
    let mut known = log_in(&before, HONEST, ["sente", "gote"]);
    begin(&mut known, "t");
    end(&mut known);
    drop(before.end());
    let mut limited = config;
    limited.limits.names_per_hour = Some(2);
    let host = Host::after(&before, limited);
    let mut new = log_in(&host, HONEST, ["a", "b"]);
    begin(&mut new, "t");
    let mut newer = log_in(&host, HONEST, ["c", "d"]);
    let why = refusal(&mut newer[0]);
    assert!(why.starts_with("2 new names have come from your address in an hour; ask again in "), "{why}");
    let mut known = log_in(&host, HONEST, ["sente", "gote"]);
    begin(&mut known, "t");
    end(&mut new);
    begin(&mut new, "t");
}

#[test]
fn junk_lines_and_comments_add_little_to_the_database_and_the_moves_are_all_there() {
    const PLIES: usize = 36;
    let mut host = host(|limits| limits.lines_per_second = 100_000);
    let mut players = log_in(&host, ATTACKER, ["a", "b"]);
    begin(&mut players, "self");
    let junk = [&b"\x1b".repeat(8000)[..], b"\n"].concat();
    let comment = [&b",'* 1 +7776FU"[..], &b"\x1b".repeat(8000), b"\n"].concat();
    for ply in 0..PLIES {
        let (turn, file) = (ply / 2, ply / 2 % 9 + 1);
        let mv = match (ply % 2, turn < 9) {
            (0, true) => format!("+{file}7{file}6FU"),
            (0, false) => format!("+{file}6{file}5FU"),
            (_, true) => format!("-{file}3{file}4FU"),
            (_, false) => ["-5152OU", "-5251OU"][(turn + 1) % 2].to_owned(),
        };
        players[ply % 2].bytes(&junk);
        players[ply % 2].bytes(&[mv.as_bytes(), &comment].concat());
        let expected = format!("{mv},T0");
        players.iter_mut().for_each(|player| player.until(&expected));
    }
    players[0].bytes(&[b"+1234XX", &comment[..]].concat());
    players[0].until("#LOSE");
    players[1].until("#WIN");
    let database = host.end();
    let sum = |sql: &str| database.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap() as usize;
    assert_eq!(sum("SELECT count(*) FROM moves"), PLIES);
    let wire = sum("SELECT sum(length(lines)) FROM wire");
    let comments = sum("SELECT coalesce(sum(length(pv)), 0) FROM moves");
    let evidence = sum("SELECT length(evidence) FROM games");
    assert!(wire < 2 * 128 * 1024 + 2000, "{wire} bytes of lines");
    assert!(comments <= PLIES * 803, "{comments} bytes of comments");
    assert!(evidence < 24 * 450, "{evidence} bytes of evidence");
}

#[test]
fn a_client_without_a_game_is_sent_away_when_it_has_been_idle_and_one_that_waits_is_not() {
    let host = host(|limits| limits.idle_seconds = 1);
    let mut waiting = host.connect().login_x1("waiting", "x");
    waiting.say("%%GAME t-600-10 +");
    let mut idle = host.connect().login_x1("idle", "x");
    host.passes(Duration::from_secs(1));
    assert_eq!(idle.line().as_deref(), Some("##[ERROR] you have been idle for too long"));
    idle.rest();
    waiting.say("%%VERSION");
    waiting.until("##[VERSION] +OK");
}

#[test]
fn a_client_that_leaves_everything_unread_is_disconnected() {
    let host = host(|limits| {
        (limits.unread_seconds, limits.lines_per_second) = (1, 1_000_000);
        limits.unread_bytes = 1 << 30;
    });
    let mut deaf = host.connect().login_x1("deaf", "x");
    // Each blank line is answered by one; more than the kernel holds for both ends.
    deaf.flood(&[b'\n'; 1 << 16]);
    let mut other = host.connect().login_x1("other", "x");
    let mut is_there = || {
        other.say("%%WHO");
        let mut seen = false;
        loop {
            match other.line().unwrap() {
                end if end == "##[WHO] +OK" => return seen,
                line => seen |= line.starts_with("##[WHO] deaf+"),
            }
        }
    };
    assert!(is_there());
    host.passes(Duration::from_secs(1));
    assert!(!is_there());
}
