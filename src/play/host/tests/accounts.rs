//! Admission: passwords, trips, invitations.

use super::driver::{Client, Host, begin};
use journal::Writer;
use plan::password;
use plan::serve::{Login, ServeConfig};
use std::time::Duration;

fn with_accounts(names: &[(&str, &str)]) -> Host {
    let config = ServeConfig { login: Login::Accounts, ..ServeConfig::default() };
    Host::prepared(config, |path| {
        let store = Writer::open(path).unwrap();
        for (name, word) in names {
            store.set_account(name, &password::hash(word).unwrap()).unwrap();
        }
    })
}

fn client_sending(host: &Host, line: &str) -> Client {
    let mut client = host.connect();
    client.say(line);
    client
}

#[test]
fn with_accounts_the_password_follows_the_game_name() {
    let host = with_accounts(&[("sente", "geheim,1"), ("gote", "riddle")]);
    let mut black = client_sending(&host, "LOGIN sente t-600-10-B,geheim,1");
    black.hears(&["LOGIN:sente OK"]);
    let mut white = client_sending(&host, "LOGIN gote riddle x1");
    white.hears(&["LOGIN:gote OK", "##[LOGIN] +OK x1"]);
    white.say("%%WHO");
    white.hears(&["##[WHO] sente CSA game_waiting t-600-10 +", "##[WHO] gote x1 connected", "##[WHO] +OK"]);
    white.say("%%GAME t-600-10 -");
    black.until("END Game_Summary");
}

#[test]
fn a_login_needs_the_password_and_refusals_do_not_reveal_known_names() {
    let host = with_accounts(&[("sente", "geheim")]);
    for wrong in
        ["sente t-600-10,wrong", "sente t-600-10", "sente geheim2 x1", "nobody t-600-10,geheim", "sente x x1"]
    {
        let mut client = client_sending(&host, &format!("LOGIN {wrong}"));
        client.hears(&["LOGIN:incorrect"]);
        client.say("LOGIN sente t-600-10,geheim");
        client.hears(&["LOGIN:sente OK"]);
    }
    let mut guesser = host.connect();
    for guess in 0..5 {
        guesser.say(&format!("LOGIN sente t-600-10,{guess}"));
        guesser.hears(&["LOGIN:incorrect"]);
    }
    assert_eq!(guesser.line(), None, "the connection is closed after five guesses");
}

#[test]
fn a_host_that_is_slow_to_look_at_a_password_does_not_blame_the_client_for_the_time() {
    let host = with_accounts(&[("sente", "geheim")]);
    let mut guessers: Vec<_> =
        (0..4).map(|guess| client_sending(&host, &format!("LOGIN sente t-600-10,{guess}"))).collect();
    let mut sente = client_sending(&host, "LOGIN sente t-600-10,geheim");
    host.passes(Duration::from_secs(61));
    sente.hears(&["LOGIN:sente OK"]);
    for guesser in &mut guessers {
        guesser.hears(&["LOGIN:incorrect"]);
        assert_eq!(guesser.line(), None, "there is no time left for another guess");
    }
}

#[test]
fn a_player_comes_back_into_its_game_with_the_new_password_of_its_account_and_not_with_the_former() {
    let host = with_accounts(&[("sente", "geheim"), ("gote", "riddle")]);
    let mut black = host.connect().login("sente", "t-600-10-B,geheim");
    let mut white = host.connect().login("gote", "t-600-10-W,riddle");
    begin([&mut black, &mut white]);
    let store = Writer::open(host.dir().join("league.db")).unwrap();
    store.set_account("sente", &password::hash("neu").unwrap()).unwrap();
    drop(store);
    black.cut();
    let mut black = client_sending(&host, "LOGIN sente t-600-10-B,geheim");
    black.hears(&["LOGIN:incorrect"]);
    // No guess, however often it is given.
    for _ in 0..6 {
        black = client_sending(&host, "LOGIN sente t-600-10-B,neu");
        black.hears(&["LOGIN:sente OK"]);
        black.until("END Game_Summary");
    }
    black.say("AGREE");
    black.next("START:");
    white.say("%TORYO");
}

#[test]
fn lines_sent_before_the_password_check_are_read_after_it() {
    let host = with_accounts(&[("a", "p")]);
    let mut player = host.connect();
    player.bytes(b"LOGIN a p x1\n%%GETBUOYCOUNT x\n%%VERS");
    player.say("ION");
    player.hears(&["LOGIN:a OK", "##[LOGIN] +OK x1", "##[GETBUOYCOUNT] -1", "##[GETBUOYCOUNT] +OK"]);
    assert!(player.line().unwrap().starts_with("##[VERSION] Renmei"));
}

#[test]
fn only_invited_players_log_in_and_with_their_trip_if_one_is_set() {
    let trip = password::hash("trip").unwrap();
    let invited = vec!["free".to_owned(), format!("bound:{trip}")];
    let host = Host::start(ServeConfig { login: Login::Invitation, invited, ..ServeConfig::default() });
    client_sending(&host, "LOGIN free t-600-10").hears(&["LOGIN:free OK"]);
    client_sending(&host, "LOGIN bound t-600-10,trip").hears(&["LOGIN:bound OK"]);
    client_sending(&host, "LOGIN bound t-600-10,trap").hears(&["LOGIN:incorrect"]);
    client_sending(&host, "LOGIN other t-600-10,trip").hears(&["LOGIN:incorrect"]);
}
