//! Behaviour of engines in games on a server.

use super::server::{Playing, SUMMARY, Server, endings, faults, rows};

#[test]
fn a_game_is_played_with_pondering_and_the_servers_clock() {
    let server = Server::new();
    let dir = tempfile::tempdir().unwrap();
    let engine =
        super::server::scripted_engine(dir.path(), "0 7g7f ponder 3c3d\n2 2g2f ponder 8c8d\n4 2f2e\n");
    let engine = format!("command = {:?}\nponder = true", engine.display().to_string());
    let text = super::server::config_text(
        server.port(),
        "games = 1\ncomments = \"yes\"\nreserve_most = \"200ms\"",
        &engine,
    );
    let mut playing = Playing::start(dir, &text);
    let mut peer = server.login();
    let fischer = SUMMARY.replace("Total_Time:600\nByoyomi:10", "Total_Time:300\nIncrement:10");
    peer.offer(&fischer);
    peer.hears("+7776FU,'* 30");
    peer.say("+7776FU,T0\n-3334FU,T20");
    peer.hears("+2726FU,'* 30");
    peer.say("+2726FU,T0\n-4132KI,T1");
    peer.hears("+2625FU,'* 30");
    peer.say("+2625FU,T0\n%TORYO\n#RESIGN\n#WIN");
    let db = playing.done();
    assert_eq!(endings(&db), ["black resignation 5"]);
    let heard = std::fs::read_to_string(playing.path("heard")).unwrap();
    let go: Vec<&str> = heard.lines().filter(|line| line.starts_with("go") || *line == "ponderhit").collect();
    assert_eq!(
        go,
        [
            "go btime 299800 wtime 300000 binc 10000 winc 10000",
            "go ponder btime 309800 wtime 300000 binc 10000 winc 10000",
            "ponderhit",
            "go ponder btime 319800 wtime 290000 binc 10000 winc 10000",
            "go btime 319800 wtime 299000 binc 10000 winc 10000",
        ]
    );
    assert!(heard.contains("gameover win"));
    let moves = rows(&db, "SELECT move || ' ' || charged_ms || ' ' || left_ms FROM moves ORDER BY ply");
    assert_eq!(moves[..2], ["7g7f 0 310000", "3c3d 20000 290000"]);
    let scores = rows(&db, "SELECT cast(count(score_cp) AS text) FROM moves");
    assert_eq!(scores, ["3"], "ours have a score");
}

#[test]
fn an_engine_that_crashes_in_its_turn_is_restarted_and_continues() {
    let server = Server::new();
    // Game 1 of its first process is the readiness check.
    let mut playing = Playing::puppet(server.port(), "games = 1", "Mode = \"crash\", Game = 2");
    let mut peer = server.begin();
    let mv = peer.line().unwrap();
    assert!(mv.starts_with('+'), "{mv}");
    peer.say(&format!("{mv},T3\n%TORYO\n#RESIGN\n#WIN"));
    let db = playing.done();
    assert_eq!(endings(&db), ["black resignation 1"]);
    assert!(faults(&db).contains("SIGABRT"), "{}", faults(&db));
    let log = playing.log("1");
    for line in [
        "black < BEGIN Game_Summary",
        "black > AGREE",
        "black > usi",
        "black ! renmei-puppet: assertion failed",
    ] {
        assert!(log.contains(line), "`{line}` of the connection and of both processes: {log}");
    }
}

#[test]
fn an_engine_that_keeps_crashing_is_not_restarted_and_the_game_is_resigned() {
    let server = Server::new();
    let mut playing = Playing::puppet(server.port(), "games = 1\nrestarts = 2", "Mode = \"crash\"");
    let mut peer = server.begin();
    peer.hears("%TORYO");
    peer.say("%TORYO\n#RESIGN\n#LOSE");
    let db = playing.done();
    assert_eq!(endings(&db), ["white resignation 0"]);
    assert_eq!(faults(&db).matches("SIGABRT").count(), 3);
}

#[test]
fn an_illegal_move_is_never_sent_to_the_server() {
    for mode in ["unreachable", "garbage", "win"] {
        let server = Server::new();
        let mut playing = Playing::puppet(server.port(), "games = 1", &format!("Mode = {mode:?}"));
        let mut peer = server.begin();
        peer.hears("%TORYO");
        peer.say("%TORYO,T1\n#RESIGN\n#LOSE");
        let db = playing.done();
        assert_eq!(endings(&db), ["white resignation 0"]);
        let faults = faults(&db);
        assert!(faults.contains("resigned instead") && faults.contains("< bestmove"), "{mode}: {faults}");
    }
}

#[test]
fn a_game_that_is_resigned_for_a_fault_counts_as_one_and_its_record_says_why() {
    for (mode, why) in [
        ("unreachable", "reason: `"),
        ("garbage", "unreadable"),
        ("win", "illegal-declaration"),
        ("crash", "SIGABRT"),
    ] {
        let server = Server::new();
        let settings = format!("Mode = {mode:?}, Game = 2");
        let mut playing = Playing::puppet(server.port(), "games = 1\nrestarts = 0", &settings);
        let mut peer = server.begin();
        peer.hears("%TORYO");
        peer.say("%TORYO,T1\n#RESIGN\n#LOSE");
        assert_eq!(endings(&playing.done()), ["white resignation 0"], "the result is the server's");
        let renmei = |args: &[&str]| {
            let mut renmei = std::process::Command::new(env!("CARGO_BIN_EXE_renmei"));
            let output = renmei.args(args).arg(playing.path("cup.db")).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let report: serde_json::Value = serde_json::from_str(&renmei(&["report", "--json"])).unwrap();
        let faults = |name: &str| {
            let rows = report["standings"].as_array().unwrap();
            rows.iter().find(|row| row["name"] == name).unwrap()["faults"].clone()
        };
        assert_eq!((faults("me"), faults("them")), (1.into(), 0.into()), "{mode}: {report}");
        let record = renmei(&["export"]);
        assert!(
            record.contains("%TORYO") && record.contains("reason: ") && record.contains(why),
            "{mode}: {record}"
        );
        let lines = playing.lines.lock().unwrap().join("\n");
        assert!(lines.contains("white wins by resignation, 0 plies ("), "{mode}: {lines}");
    }
}

#[test]
fn an_illegal_move_from_the_server_aborts_the_game_with_the_line_as_evidence() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "", "0 7g7f\n2 2g2f\n");
    let mut peer = server.begin();
    peer.hears("+7776FU");
    peer.say("+7776FU,T0\n-3335FU,T7\n##[x]\n-8384FU,T1");
    peer.sees_us_leave();
    let peer = server.login();
    let db = playing.leave();
    peer.sees_us_leave();
    assert_eq!(endings(&db), ["aborted server 1"]);
    assert!(faults(&db).contains("`-3335FU,T7`"), "{}", faults(&db));
    let evidence = rows(&db, "SELECT evidence FROM games").concat();
    assert!(evidence.contains("< -3335FU,T7") && evidence.contains("> +7776FU"), "{evidence}");
}

#[test]
fn without_a_ready_engine_the_client_does_not_log_in() {
    let server = Server::new();
    let mut playing = Playing::puppet(server.port(), "", "Mode = \"crashready\"");
    while playing.lines.lock().unwrap().iter().filter(|line| line.contains("not ready")).count() < 3 {
        std::thread::yield_now();
    }
    let db = playing.leave();
    assert_eq!(endings(&db), [""; 0]);
    assert!(faults(&db).contains("the engine is not ready"));
}

#[test]
fn with_auto_declaration_a_win_is_declared_as_soon_as_the_rule_allows() {
    let entered = SUMMARY.replace(
        "PI\n",
        "P1+HI+KA+KI+GI+KE+KY *  *  * \nP2+FU+FU+FU+FU+OU *  *  *  * \nP3+HI * +KA *  *  *  *  *  * \n\
         P4 *  *  *  *  *  *  *  *  * \nP9 *  *  *  * -OU *  *  *  * \nP+00KI00GI00KE00KY\n",
    );
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1\ndeclare = \"at-once\"", "");
    let mut peer = server.login();
    peer.offer(&entered);
    peer.hears("%KACHI");
    peer.say("%KACHI,T0\n%KACHI\n#JISHOGI\n#WIN");
    assert_eq!(endings(&playing.done()), ["black declaration 0"]);
}

#[test]
fn an_engine_that_hangs_loses_on_time_and_is_restarted_for_the_next_game() {
    let server = Server::new();
    let engine = super::server::puppet("Mode = \"hang\", Game = 2") + "\nlimits = { stop = \"50ms\" }";
    let text = super::server::config_text(server.port(), "games = 2", &engine);
    let mut playing = Playing::start(tempfile::tempdir().unwrap(), &text);
    let mut peer = server.begin();
    peer.say("#TIME_UP\n#LOSE");
    // Game 1 of each process is the readiness check.
    let mut peer = server.begin();
    peer.say("#TIME_UP\n#LOSE");
    let db = playing.done();
    assert_eq!(endings(&db), ["white time 0", "white time 0"]);
    assert!(faults(&db).contains("no `bestmove` after `stop`"), "{}", faults(&db));
}

#[test]
fn a_rebuilt_engine_plays_on_under_its_name_and_the_change_is_noted() {
    let server = Server::new();
    let mut first = Playing::scripted(server.port(), "games = 1", "");
    let resigned = |mut peer: super::server::Peer| {
        peer.hears("%TORYO");
        peer.say("%TORYO,T1\n#RESIGN\n#LOSE");
    };
    resigned(server.begin());
    let db = first.done();
    assert_eq!(rows(&db, "SELECT id_name || ' ' || files FROM identities"), ["script []"]);
    let script = first.path("engine.sh");
    let rebuilt = std::fs::read_to_string(&script).unwrap().replace("name script", "name script 2");
    std::fs::write(&script, rebuilt).unwrap();
    let more = format!("games = 1\ndatabase = {:?}", first.path("cup.db").display().to_string());
    let engine = format!("command = {:?}", script.display().to_string());
    let text = super::server::config_text(server.port(), &more, &engine);
    let mut second = Playing::start(tempfile::tempdir().unwrap(), &text);
    resigned(server.begin());
    second.done();
    assert_eq!(rows(&db, "SELECT id_name FROM identities ORDER BY run"), ["script", "script 2"]);
    assert_eq!(endings(&db).len(), 2);
    let faults = faults(&db);
    assert!(faults.contains("engine `engine.sh` has changed: the program `"), "{faults}");
    assert!(faults.contains("it says that it is `script 2`, and was `script`"), "{faults}");
}

/// A game in which each move has to be made within a second.
fn blitz() -> String {
    SUMMARY.replace("Total_Time:600\nByoyomi:10", "Total_Time:0\nByoyomi:1")
}

#[test]
fn an_engine_whose_time_is_over_resigns_and_is_started_again_without_waiting_for_the_server() {
    let server = Server::new();
    let engine = super::server::puppet("Mode = \"hang\", Game = 2") + "\nlimits = { stop = \"50ms\" }";
    let text = super::server::config_text(server.port(), "games = 2\nreserve = \"0ms\"", &engine);
    let mut playing = Playing::start(tempfile::tempdir().unwrap(), &text);
    for _ in 0..2 {
        let mut peer = server.login();
        peer.offer(&blitz());
        // The server says nothing about the flag, as floodgate's does while lines of ours arrive.
        peer.hears("%TORYO");
        peer.say("%TORYO\n#RESIGN\n#LOSE");
    }
    let db = playing.done();
    assert_eq!(endings(&db), ["white resignation 0", "white resignation 0"]);
    assert_eq!(faults(&db).matches("our time is over").count(), 2, "{}", faults(&db));
    // After the last game there is nothing to start it again for.
    assert_eq!(faults(&db).matches("no `bestmove` after `stop`").count(), 1, "{}", faults(&db));
}

#[test]
fn an_engine_that_hangs_at_its_restart_loses_no_more_than_its_own_time() {
    let server = Server::new();
    let dir = tempfile::tempdir().unwrap();
    let engine = super::server::scripted_engine(dir.path(), "");
    // The process after the one that ended in the game is deaf from the start.
    let script = "#!/bin/sh\nif [ -e \"$0.ran\" ]; then exec sleep 600; fi\nwhile read -r line; do case \"$line\" in \
                  usi) echo usiok;; isready) echo readyok;; go*) : > \"$0.ran\"; exit 1;; quit) exit 0;; esac; done\n";
    std::fs::write(&engine, script).unwrap();
    let engine = format!("command = {:?}", engine.display().to_string());
    let text = super::server::config_text(server.port(), "games = 1\nreserve = \"0ms\"", &engine);
    let mut playing = Playing::start(dir, &text);
    let mut peer = server.login();
    peer.offer(&blitz());
    peer.hears("%TORYO");
    peer.say("%TORYO\n#RESIGN\n#LOSE");
    let db = playing.done();
    assert_eq!(endings(&db), ["white resignation 0"]);
    assert!(faults(&db).contains("our time is over"), "{}", faults(&db));
}

/// The first `go` line of an engine in a game with that name, clock and list of moves.
fn first_go(name: &str, time: &str, moves: &str) -> String {
    let server = Server::new();
    let text = "games = 1\nreserve_most = \"200ms\"";
    let mut playing = Playing::scripted(server.port(), text, "");
    let mut peer = server.login();
    let summary = SUMMARY
        .replace("s+t-600-10+", &format!("s+{name}+"))
        .replace("Time_Unit:1sec\nTotal_Time:600\nByoyomi:10", time)
        .replace("+\nEND Position", &format!("+\n{moves}END Position"));
    peer.say(&summary);
    peer.hears(&format!("AGREE s+{name}+me+them+1"));
    peer.say(&format!("START:s+{name}+me+them+1"));
    peer.hears("%TORYO");
    peer.say("%TORYO\n#RESIGN\n#LOSE");
    playing.done();
    let heard = std::fs::read_to_string(playing.path("heard")).unwrap();
    heard.lines().find(|line| line.starts_with("go")).unwrap().to_owned()
}

#[test]
fn in_a_stop_watch_game_the_unit_of_the_watch_is_no_byoyomi() {
    let time = "Time_Unit:1min\nTotal_Time:20\nByoyomi:5\nIncrement:0";
    assert_eq!(first_go("sw-20-05", time, ""), "go btime 19800 wtime 20000 byoyomi 0");
}

#[test]
fn in_a_forked_game_the_times_of_the_moves_are_not_taken_off_again() {
    let time = "Time_Unit:1sec\nTotal_Time:600\nByoyomi:10";
    let moves = "+7776FU,T100\n-3334FU,T50\n";
    assert_eq!(first_go("buoy_test_2-600-10", time, moves), "go btime 599800 wtime 600000 byoyomi 10000");
}

#[test]
fn the_answer_to_the_login_teaches_how_long_the_way_is_before_the_first_move() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1\nreserve_most = \"60s\"", "");
    let mut peer = server.accept();
    peer.hears("LOGIN me t-600-10,secret");
    std::thread::sleep(std::time::Duration::from_millis(800));
    peer.say("LOGIN:me OK");
    peer.offer(SUMMARY);
    peer.hears("%TORYO");
    peer.say("%TORYO\n#RESIGN\n#LOSE");
    playing.done();
    let heard = std::fs::read_to_string(playing.path("heard")).unwrap();
    let go = heard.lines().find(|line| line.starts_with("go")).unwrap();
    let told: u64 = go.split(' ').nth(2).unwrap().parse().unwrap();
    assert!(told <= 599_000, "800 ms and a quarter more are kept back: {go}");
}
