//! Two clients on our own host.

use super::{
    host::Host,
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
