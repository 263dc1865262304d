//! Two clients on our own host.

use super::{
    host::{Host, certificate},
    server::{Playing, endings, faults, puppet, rows},
};
use plan::serve::ServeConfig;

fn player(host: &Host, name: &str, color: char, seed: u32) -> Playing {
    let engine = puppet(&format!("Seed = {seed}"));
    let text = format!(
        "[floodgate]\nhost = \"127.0.0.1\"\nport = {}\nlogin = \"{name}\"\npassword = \"t-600-10-{color},secret\"\n\
         backoff = \"10ms\"\nbackoff_most = \"50ms\"\ngames = 3\ncomments = \"yes\"\n[engine]\n{engine}\n",
        host.address().port()
    );
    Playing::start(tempfile::tempdir().unwrap(), &text)
}

#[test]
fn a_host_of_ours_takes_evaluations_and_says_so_in_csa_mode_too() {
    let mut host = Host::start(ServeConfig { max_moves: 20, ..ServeConfig::default() });
    let play = |name: &str, color: char| {
        let dir = tempfile::tempdir().unwrap();
        let engine = super::server::scripted_engine(dir.path(), "0 7g7f\n1 3c3d\n");
        let text = format!(
            "[floodgate]\nhost = \"127.0.0.1\"\nport = {}\nlogin = \"{name}\"\npassword = \"t-600-10-{color},secret\"\n\
             games = 1\n[engine]\ncommand = {:?}\n",
            host.address().port(),
            engine.display().to_string()
        );
        Playing::start(dir, &text)
    };
    let (mut black, mut white) = (play("sente", 'B'), play("gote", 'W'));
    black.done();
    white.done();
    let scores = rows(&host.end(), "SELECT ply || ' ' || score_cp FROM moves ORDER BY ply");
    assert_eq!(scores, ["1 30", "2 30"]);
}

#[test]
fn a_client_of_ours_plays_over_tls_with_one_in_the_clear() {
    let dir = tempfile::tempdir().unwrap();
    let tls = certificate(dir.path(), "ours");
    let ca = format!("tls = true\nca = {:?}\n", tls.certificate);
    let mut host = Host::start(ServeConfig { max_moves: 20, tls: Some(tls), ..ServeConfig::default() });
    let player = |name: &str, color: char, port: u16, tls: &str| {
        let text = format!(
            "[floodgate]\nhost = \"127.0.0.1\"\nport = {port}\n{tls}login = \"{name}\"\n\
             password = \"t-600-10-{color},secret\"\ngames = 1\n[engine]\n{}\n",
            puppet("Seed = 1")
        );
        Playing::start(tempfile::tempdir().unwrap(), &text)
    };
    let mut black = player("sente", 'B', host.encrypted().port(), &ca);
    let mut white = player("gote", 'W', host.address().port(), "");
    let (black, white) = (black.done(), white.done());
    let league = host.end();
    for seen in [&black, &white] {
        assert_eq!(endings(seen), endings(&league));
        assert_eq!(faults(seen), "");
    }
}

#[test]
fn a_client_tells_why_it_does_not_trust_a_certificate_and_logs_in_to_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, other) = (certificate(dir.path(), "ours"), certificate(dir.path(), "other"));
    let mut host = Host::start(ServeConfig { tls: Some(ours.clone()), ..ServeConfig::default() });
    let said = |port: u16, name: &str, ca: &std::path::Path| {
        let text = format!(
            "[floodgate]\nhost = \"{name}\"\nport = {port}\ntls = true\nca = {ca:?}\nlogin = \"sente\"\n\
             password = \"t-600-10,secret\"\nbackoff = \"1h\"\n[engine]\n{}\n",
            puppet("Seed = 1")
        );
        Playing::start(tempfile::tempdir().unwrap(), &text).first_fault()
    };
    let why = said(host.encrypted().port(), "127.0.0.1", &other.certificate);
    assert!(why.contains("no trusted authority has signed the certificate"), "{why}");
    let why = said(host.encrypted().port(), "localhost", &ours.certificate);
    assert!(why.contains("certificate not valid for name"), "{why}");
    let why = said(host.address().port(), "127.0.0.1", &ours.certificate);
    assert!(why.contains("no TLS with 127.0.0.1"), "{why}");
    assert!(rows(&host.end(), "SELECT name FROM players").is_empty());
}

#[test]
fn two_clients_and_the_host_store_the_same_games() {
    let mut host = Host::start(ServeConfig { max_moves: 60, ..ServeConfig::default() });
    let mut black = player(&host, "sente", 'B', 1);
    let mut white = player(&host, "gote", 'W', 2);
    let (black, white) = (black.done(), white.done());
    let league = host.end();
    let moves = "SELECT number || ' ' || ply || ' ' || move || ' ' || charged_ms || ' ' || left_ms FROM moves \
                 JOIN games ON games.id = moves.game ORDER BY number, ply";
    for seen in [&black, &white] {
        assert_eq!(endings(seen), endings(&league));
        assert_eq!(rows(seen, moves), rows(&league, moves));
        assert_eq!(faults(seen), "");
        assert_eq!(rows(seen, "SELECT group_concat(name) FROM players").concat().matches("te").count(), 2);
    }
    assert_eq!(endings(&league).len(), 3);
}
