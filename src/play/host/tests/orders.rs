//! What the operator orders while a league is open, and what its players hear of it.

use super::driver::{Client, Host, begin};
use arena::operations::{
    command::{Command, RuledResult},
    request::{Answer, Request},
};
use plan::serve::ServeConfig;
use std::time::Duration;

fn host() -> Host {
    Host::start(ServeConfig { grace: Some(60), ..ServeConfig::default() })
}

fn order(host: &Host, command: Command) -> Result<Answer, String> {
    let request = Request { named: None, reason: None, event: None, command };
    host.operate(|operations| operations.carry_out("kai", &request)).map_err(|why| why.to_string())
}

fn done(host: &Host, command: Command) -> Answer {
    order(host, command).unwrap()
}

fn named(name: &str) -> String {
    name.to_owned()
}

/// Two players in a game, black first.
fn pair_up(host: &Host) -> [Client; 2] {
    let mut players = [("kawa", '+'), ("mori", '-')].map(|(name, sign)| {
        let mut player = host.connect().login_x1(name, &format!("secret{name}"));
        player.say(&format!("%%GAME test-600-10 {sign}"));
        player
    });
    begin(players.each_mut());
    players
}

#[test]
fn a_muted_player_gives_evaluations_with_its_moves_and_no_text() {
    let mut host = host();
    let [mut black, mut white] = pair_up(&host);
    done(&host, Command::Mute { name: named("kawa") });
    black.say("+7776FU,'* 35 buy my engine");
    white.hears(&["+7776FU,T0"]);
    white.say("%TORYO");
    black.until("#WIN");
    let stored = "SELECT score_cp || ' ' || coalesce(pv, '-') FROM moves";
    let stored: String = host.end().query_row(stored, [], |row| row.get(0)).unwrap();
    assert_eq!(stored, "35 -");
}

#[test]
fn a_muted_player_is_heard_by_nobody_and_told_so() {
    let host = host();
    let mut loud = host.connect().login_x1("loud", "secret");
    let mut quiet = host.connect().login_x1("quiet", "secret");
    done(&host, Command::Mute { name: named("loud") });
    loud.say("%%CHAT buy my engine");
    loud.next("##[ERROR] the operator has muted you");
    done(&host, Command::Unmute { name: named("loud") });
    loud.say("%%CHAT sorry");
    assert_eq!(quiet.next("##[CHAT]"), "##[CHAT][loud] sorry", "the first line that is heard of them");
    loud.say("%%SETBUOY buoy_x-600-10 +7776FU 3");
    loud.next("##[SETBUOY] +OK");
    let delete = || Command::DeleteBuoy { name: named("buoy_x-600-10") };
    done(&host, delete());
    assert!(order(&host, delete()).unwrap_err().contains("no buoy"));
    quiet.say("%%GETBUOYCOUNT buoy_x-600-10");
    assert_eq!(quiet.next("##[GETBUOYCOUNT]"), "##[GETBUOYCOUNT] -1");
}

#[test]
fn a_ruling_on_a_private_game_is_told_its_players_alone() {
    for (private, is_told) in [("none*", true), ("kawa", false)] {
        let mut config = ServeConfig { grace: Some(60), ..ServeConfig::default() };
        config.http.private = vec![private.to_owned()];
        let host = Host::start(config);
        let mut watcher = host.connect().login_x1("watcher", "secret");
        let [mut kawa, mut mori] = pair_up(&host);
        kawa.say("%TORYO");
        kawa.next("#LOSE");
        mori.next("#WIN");
        let request = Request {
            named: None,
            reason: Some("a fault".to_owned()),
            event: None,
            command: Command::Rule { game: 1, result: RuledResult::Draw },
        };
        host.operate(|operations| operations.carry_out("kai", &request)).unwrap();
        kawa.next("##[OPERATOR] ruled");
        watcher.say("%%VERSION");
        let first = watcher.next("##[");
        assert_eq!(first.starts_with("##[OPERATOR]"), is_told, "{private}: {first}");
    }
}

#[test]
fn a_closed_registration_admits_those_who_have_played() {
    let host = host();
    let [mut kawa, mut mori] = pair_up(&host);
    kawa.say("%TORYO");
    kawa.next("#LOSE");
    mori.next("#WIN");
    done(&host, Command::CloseRegistration);
    let mut new = host.connect();
    new.say("LOGIN new secret x1");
    assert!(new.rest().contains("the registration is closed"));
    kawa.cut();
    host.connect().login_x1("kawa", "secretkawa");
    done(&host, Command::OpenRegistration);
    host.connect().login_x1("new", "secret");
}

#[test]
fn players_of_a_paused_league_meet_when_it_is_resumed() {
    let host = host();
    done(&host, Command::Pause);
    let mut players = ['+', '-'].map(|sign| {
        let mut player = host.connect().login_x1(&format!("p{}", sign as u8), "secret");
        player.say(&format!("%%GAME test-600-10 {sign}"));
        player.next("##[OPERATOR] the event is paused");
        player
    });
    done(&host, Command::Resume);
    players.iter_mut().for_each(|player| drop(player.next("END Game_Summary")));
}

#[test]
fn a_kicked_player_in_a_game_has_the_grace_time_to_come_back() {
    let host = host();
    let [mut kawa, mut mori] = pair_up(&host);
    let answer = done(&host, Command::Kick { name: named("kawa") });
    assert!(answer.text.contains("by the grace time"), "{answer:?}");
    kawa.rest();
    let mut back = host.connect().login_x1("kawa", "secretkawa");
    back.next("END Game_Summary");
    back.say("AGREE");
    back.say("%TORYO");
    mori.next("#WIN");
}

#[test]
fn the_operator_pairs_two_players_by_hand_who_wait_for_the_same_game() {
    let host = host();
    let mut players = ["sente", "gote", "lone"].map(|name| {
        let mut player = host.connect().login_x1(name, &format!("{name}-secret"));
        // Rounds of this game are paired by the clock alone.
        let wish = if name == "lone" { "%%GAME other-600-10 *" } else { "%%GAME floodgate-600-10F *" };
        player.say(wish);
        player
    });
    host.passes(Duration::ZERO);
    let pair = |black, white| Command::Pair { black: named(black), white: named(white) };
    for (white, why) in [
        ("lone", "waits for `floodgate-600-10F`"),
        ("gote", "name two players"),
        ("nobody", "is not logged in"),
    ] {
        let refused = order(&host, pair("gote", white)).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
    let answer = done(&host, pair("gote", "sente"));
    let paired = "paired `gote` (black) with `sente` for `floodgate-600-10F`";
    assert!(answer.text.starts_with(paired), "{answer:?}");
    for (player, turn) in players.iter_mut().zip(["Your_Turn:-", "Your_Turn:+"]) {
        assert_eq!(player.next("Your_Turn:"), turn);
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    players[..2].iter_mut().for_each(|player| drop(player.next("START:")));
}

#[test]
fn an_announcement_is_heard_by_players_in_the_extended_mode() {
    let host = host();
    let mut listener = host.connect().login_x1("listener", "secret");
    let mut waiting = host.connect().login("waiting", "test-600-10,secret");
    done(&host, Command::Announce { text: named("lunch") });
    assert!(listener.next("##[OPERATOR]").contains("lunch"));
    assert_eq!(waiting.drain(), b"");
}

#[test]
fn a_player_who_moves_is_not_idle() {
    let host = host();
    let [mut kawa, mut mori] = pair_up(&host);
    host.passes(Duration::from_millis(2100));
    kawa.say("+7776FU");
    for player in [&mut kawa, &mut mori] {
        player.hears(&["+7776FU,T2"]);
    }
    let list = done(&host, Command::List).list.unwrap();
    assert_eq!(list.players.len(), 2);
    assert!(list.players.iter().all(|player| player.idle_seconds == 0), "{list:?}");
}
