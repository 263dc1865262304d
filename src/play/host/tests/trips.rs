//! Trips: what others see of a player's secret, who may take a name that is in use, and players who are known by another form of their trip.

use super::driver::{Client, Host};
use plan::serve::{Compat, ServeConfig};
use std::time::Duration;

/// Address of the attacker; honest players come from 127.0.0.1.
const ATTACKER: [u8; 4] = [127, 0, 0, 2];

/// The line of a player in the answer to `%%WHO`.
fn who(asks: &mut Client, name: &str) -> String {
    asks.say("%%WHO");
    let mut found = None;
    loop {
        match asks.line().unwrap() {
            end if end == "##[WHO] +OK" => return found.expect("the player is logged in"),
            line => {
                found = line
                    .strip_prefix("##[WHO] ")
                    .filter(|line| line.starts_with(name))
                    .map(str::to_owned)
                    .or(found)
            }
        }
    }
}

/// The id in such a line.
fn id(asks: &mut Client, name: &str) -> String {
    who(asks, name).split(' ').next().unwrap().to_owned()
}

/// The player `kawa` as shogi-server shows it.
const OLD_KAWA: &str = "kawa+0bbdf4a066ea111701fa0e768d868466";

/// A league whose players `kawa` and `mori` played three games with trips as shogi-server shows them.
fn old_league() -> Host {
    let mut before = Host::start(ServeConfig { compat: Compat::ShogiServer, ..ServeConfig::default() });
    for _ in 0..3 {
        resigned(&before, ("kawa", "kawa-secret"), ("mori", "mori-secret"));
    }
    drop(before.end());
    Host::after(&before, ServeConfig::default())
}

/// Plays a game that black, `sente`, resigns at once.
fn resigned(host: &Host, sente: (&str, &str), gote: (&str, &str)) {
    let mut black = host.connect().login(sente.0, &format!("t-600-10-B,{}", sente.1));
    let mut white = host.connect().login(gote.0, &format!("t-600-10-W,{}", gote.1));
    for player in [&mut black, &mut white] {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in [&mut black, &mut white] {
        assert!(player.line().unwrap().starts_with("START:"));
    }
    black.say("%TORYO");
    white.until("#WIN");
    black.until("#LOSE");
    black.rest();
    white.rest();
}

/// Starts a game with a move played; `sente` has the secret `mine`. Black first.
fn game(host: &Host) -> [Client; 2] {
    let mut players = [("sente", "+"), ("gote", "-")].map(|(name, color)| {
        let mut player = host.connect().login_x1(name, "mine");
        player.say(&format!("%%GAME t-600-10 {color}"));
        player
    });
    for player in &mut players {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in &mut players {
        while !player.line().unwrap().starts_with("START:") {}
    }
    players[0].say("+7776FU");
    for player in &mut players {
        player.hears(&["+7776FU,T0"]);
    }
    players
}

#[test]
fn what_is_shown_of_a_secret_depends_on_the_host_and_on_the_name() {
    let mut shown = vec![];
    for host in [(); 2].map(|()| Host::start(ServeConfig::default())) {
        for name in ["kawa", "yama"] {
            let mut player = host.connect().login_x1(name, "secret");
            let id = id(&mut player, name);
            let trip = id.strip_prefix(&format!("{name}+")).unwrap().to_owned();
            assert!(trip.len() == 24 && trip.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
            assert!(
                !shown.contains(&trip),
                "two players, or two hosts, show the same for one secret: {shown:?}"
            );
            shown.push(trip);
        }
    }
}

#[test]
fn a_player_has_the_same_trip_after_a_restart() {
    let mut before = Host::start(ServeConfig::default());
    let shown = id(&mut before.connect().login_x1("kawa", "secret"), "kawa");
    drop(before.end());
    let after = Host::after(&before, ServeConfig::default());
    assert_eq!(id(&mut after.connect().login_x1("kawa", "secret"), "kawa"), shown);
}

#[test]
fn trips_are_shown_as_shogi_server_shows_them_only_where_that_is_asked_for() {
    let host = Host::start(ServeConfig { compat: Compat::ShogiServer, ..ServeConfig::default() });
    let shown = id(&mut host.connect().login_x1("sente", "trip"), "sente");
    assert_eq!(shown, "sente+7da7993d1249cb28b4e0c3e8524d15d2");
}

#[test]
fn nobody_takes_over_a_player_who_is_known_by_the_other_trip_without_its_secret() {
    let mut host = old_league();
    let mut stranger = host.connect().login_x1("kawa", "guess");
    let shown = id(&mut stranger, "kawa");
    stranger.say("LOGOUT");
    stranger.rest();
    resigned(&host, ("kawa", "guess"), ("other", "x"));
    // The hash that was shown is no secret.
    resigned(&host, ("kawa", "0bbdf4a066ea111701fa0e768d868466"), ("other", "x"));
    let db = host.end();
    let games = "SELECT count(*) FROM game_list WHERE ?1 IN (black, white)";
    let of = |name: &str| db.query_row(games, [name], |row| row.get::<_, u32>(0)).unwrap();
    assert_eq!((of(OLD_KAWA), of(&shown)), (3, 1));
}

#[test]
fn a_league_keeps_its_players_when_it_goes_over_to_the_other_form_of_trips_and_back() {
    let mut host = Host::start(ServeConfig::default());
    resigned(&host, ("kawa", "a"), ("mori", "b"));
    for compat in [Compat::ShogiServer, Compat::Protocol] {
        drop(host.end());
        let config = ServeConfig { compat, ..ServeConfig::default() };
        let next = Host::after(&host, config);
        resigned(&next, ("kawa", "a"), ("mori", "b"));
        host = next;
    }
    let players: u32 = host.end().query_row("SELECT count(*) FROM players", [], |row| row.get(0)).unwrap();
    assert_eq!(players, 2);
}

#[test]
fn who_guesses_at_a_running_game_is_locked_out_and_its_player_is_not() {
    let host = Host::start(ServeConfig::default());
    let [black, mut white] = game(&host);
    black.cut();
    for guess in 0..5 {
        let mut guesser = host.connect_from(ATTACKER);
        guesser.say(&format!("LOGIN sente guess{guess} x1"));
        guesser.hears(&["LOGIN:incorrect", "username sente is already connected"]);
        guesser.rest();
    }
    // Not even the right secret is looked at any more, from there and for this name.
    let mut guesser = host.connect_from(ATTACKER);
    guesser.say("LOGIN sente mine x1");
    guesser.hears(&["LOGIN:incorrect"]);
    guesser.rest();
    let _another = host.connect_from(ATTACKER).login_x1("neighbour", "x");
    let mut black = host.connect().login_x1("sente", "mine");
    black.until("END Game_Summary");
    black.say("AGREE");
    while !black.line().unwrap().starts_with("START:") {}
    white.say("-3334FU");
    black.until("-3334FU,T0");
}

#[test]
fn who_guesses_at_many_names_is_locked_out_for_all() {
    let host = Host::start(ServeConfig::default());
    let mut players: Vec<Client> =
        (0..10).map(|n| host.connect().login_x1(&format!("player{n}"), "mine")).collect();
    for n in 0..10 {
        let mut guesser = host.connect_from(ATTACKER);
        guesser.say(&format!("LOGIN player{n} guess x1"));
        guesser.hears(&["LOGIN:incorrect", &format!("username player{n} is already connected")]);
    }
    let mut guesser = host.connect_from(ATTACKER);
    guesser.say("LOGIN newcomer guess x1");
    guesser.hears(&["LOGIN:incorrect"]);
    for player in &mut players {
        player.say("%%VERSION");
        player.until("##[VERSION] +OK");
    }
}

#[test]
fn a_player_without_a_trip_gives_way_only_to_a_login_from_its_own_address() {
    let host = Host::start(ServeConfig::default());
    let mut waiting = host.connect().login("nobody", "t-600-10");
    let mut stranger = host.connect_from(ATTACKER);
    stranger.say("LOGIN nobody t-600-10");
    stranger.hears(&["LOGIN:incorrect"]);
    stranger.rest();
    let mut watcher = host.connect().login_x1("watcher", "x");
    assert_eq!(who(&mut watcher, "nobody"), "nobody CSA game_waiting t-600-10 *");
    let _again = host.connect().login("nobody", "t-600-10");
    waiting.rest();
}

#[test]
fn an_answer_to_another_game_is_told_and_leaves_the_offer_as_it_is() {
    for compat in [Compat::Protocol, Compat::ShogiServer] {
        another_game(&Host::start(ServeConfig { compat, ..ServeConfig::default() }));
    }
}

fn another_game(host: &Host) {
    let mut black = host.connect().login("sente", "t-600-10-B,t");
    let mut white = host.connect().login_x1("gote", "t");
    white.say("%%GAME t-600-10 -");
    let mut own = String::new();
    loop {
        match white.line().unwrap() {
            end if end == "END Game_Summary" => break,
            line => own = line.strip_prefix("Game_ID:").map_or(own, str::to_owned),
        }
    }
    black.until("END Game_Summary");
    for (player, word) in [(0, "AGREE"), (1, "REJECT"), (1, "AGREE")] {
        let player = if player == 0 { &mut black } else { &mut white };
        player.say(&format!("{word} league+other-600-10+a+b+20261122000000"));
        let told = format!(
            "##[ERROR] {word} of another game: league+other-600-10+a+b+20261122000000; your game is {own}"
        );
        player.hears(&[&told]);
    }
    assert_eq!(who(&mut white, "sente").split(' ').nth(2), Some("agree_waiting"));
    // With the right id, and without one, as the protocol has it.
    black.say(&format!("AGREE {own}"));
    white.say("AGREE");
    let start = format!("START:{own}");
    black.hears(&[&start]);
    white.hears(&[&start]);
    // Nor does it harm a game that is played.
    white.say("REJECT league+other-600-10+a+b+20261122000000");
    assert!(white.line().unwrap().starts_with("##[ERROR] REJECT of another game"));
    black.say("+7776FU");
    white.hears(&["+7776FU,T0"]);
}

#[test]
fn one_player_or_one_address_cannot_set_all_buoys() {
    let mut config = ServeConfig::default();
    (config.limits.buoys_per_player, config.limits.buoys_per_address) = (2, 3);
    let mut host = Host::start(config.clone());
    let mut greedy = host.connect_from(ATTACKER).login_x1("greedy", "x");
    let set = |player: &mut Client, name: &str| {
        player.say(&format!("%%SETBUOY buoy_{name}-600-10 +7776FU 1"));
        player.line().unwrap()
    };
    let ok = "##[SETBUOY] +OK";
    assert_eq!([set(&mut greedy, "a"), set(&mut greedy, "b")], [ok, ok]);
    let full = "##[ERROR] you have set 2 buoys, and may set no more; %%DELETEBUOY deletes one";
    assert_eq!(set(&mut greedy, "c"), full);
    let mut twin = host.connect_from(ATTACKER).login_x1("twin", "x");
    assert_eq!(set(&mut twin, "c"), ok);
    let full_here = "##[ERROR] 3 buoys were set from your address, and no more may be";
    assert_eq!(set(&mut twin, "d"), full_here);
    let mut other = host.connect().login_x1("other", "x");
    assert_eq!(set(&mut other, "d"), ok, "another address has room");
    greedy.say("%%DELETEBUOY buoy_a-600-10");
    greedy.hears(&["##[DELETEBUOY] +OK"]);
    assert_eq!(set(&mut greedy, "e"), ok);
    other.say("%%SETBUOY buoy_f-600-10 +7776FU 10001");
    other.hears(&["##[ERROR] invalid count: 10001; a buoy is good for 10000 games at most"]);
    drop(host.end());
    // What a player has set counts in the next run as well.
    let again = Host::after(&host, config);
    let mut greedy = again.connect_from(ATTACKER).login_x1("greedy", "x");
    assert_eq!(set(&mut greedy, "g"), full);
}

#[test]
fn an_agreement_in_one_packet_with_chats_and_a_search_is_heard() {
    let host = Host::start(ServeConfig::default());
    let mut players = ["sente", "gote"].map(|name| host.connect().login_x1(name, "secret"));
    for (player, color) in players.iter_mut().zip(["+", "-"]) {
        player.say(&format!("%%GAME t-600-10 {color}"));
    }
    for player in &mut players {
        player.until("END Game_Summary");
        player.bytes((("%%CHAT a\n").repeat(70) + "%%GAME t-600-10 *\nAGREE\n").as_bytes());
    }
    // The lines of both together are more than their budgets have at once.
    (0..20).for_each(|_| host.passes(Duration::from_secs(1)));
    for player in &mut players {
        while !player.line().unwrap().starts_with("START:") {}
    }
}
