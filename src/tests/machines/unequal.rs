//! Machines that are not equally fast.

use super::*;
use std::{
    io::{Read, Write},
    net::TcpStream,
};

/// An event of engines that say how fast they are: as `BOX_NPS` says.
fn timed_event(desk: &Desk, games: usize) {
    let puppet = program("renmei-puppet").display().to_string();
    let path = desk.write("puppet.sh", &format!("#!/bin/sh\nexec {puppet} --nps \"$BOX_NPS\"\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let engine = path.display();
    let text = format!(
        "[event]\nname = \"many\"\ndatabase = \"event.db\"\ngames = {games}\nconcurrency = 1\noversubscribe = true\n\
         [rules]\nmax_moves = 30\n[defaults]\ntime = \"600s\"\n\
         [[engines]]\nname = \"a\"\ncommand = \"{engine}\"\n[[engines]]\nname = \"b\"\ncommand = \"{engine}\"\n"
    );
    desk.write("event.toml", &text);
}

fn with_speed(desk: &Desk, name: &str, nps: &str, args: &[&str]) -> Running {
    let log = File::options().create(true).append(true).open(desk.path(&format!("{name}.log"))).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args(args).stdin(Stdio::null()).env("BOX_NPS", nps);
    command.stdout(log.try_clone().unwrap()).stderr(log);
    Running(command.spawn().unwrap())
}

fn joins_with_speed(desk: &Desk, name: &str, nps: &str) -> Running {
    let state = desk.path(name).display().to_string();
    let line = line(desk);
    let args = ["worker", &line, "--name", name, "--slots", "1", "--oversubscribe", "--state", &state];
    with_speed(desk, name, nps, &args)
}

#[test]
fn a_machine_half_as_fast_has_twice_the_time_and_one_ten_times_as_slow_is_refused_with_its_figure() {
    let Some(hub) = Hub::start() else { return };
    let desk = Desk::new();
    timed_event(&desk, 40);
    let args = [
        "run",
        "event.toml",
        "--no-dashboard",
        "--hub",
        &hub.address(),
        "--slots",
        "0",
        "--http",
        "127.0.0.1:0",
    ];
    let mut manager = with_speed(&desk, "manager", "1000000", &args);
    line(&desk);
    until("it is paused", || desk.renmei(&["admin", "event.db", "pause"]).status.success());
    let mut ann = joins_with_speed(&desk, "ann", "1000000");
    until("ann is the reference", || log(&desk, "manager.log").contains("machine `ann` is here"));
    let mut bob = joins_with_speed(&desk, "bob", "500000");
    until("bob is measured", || log(&desk, "manager.log").contains("machine `bob` is here"));
    assert!(log(&desk, "manager.log").contains("its clocks are 2.00 times those of the plan"));
    let mut cid = joins_with_speed(&desk, "cid", "100000");
    assert_eq!(cid.code(), Some(5), "{}", log(&desk, "cid.log"));
    let said = log(&desk, "cid.log");
    assert!(said.contains("searches 100 thousand nodes per second and the reference 1000"), "{said}");
    assert!(said.contains("its clocks would be 10.0 times those of the plan"), "{said}");
    until("it is shown who is here", || {
        count(&desk, "SELECT count(*) FROM machines WHERE presence = 'here'") == 2
    });
    let shown = page(&desk, "/api/machines");
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let names: Vec<_> = shown.as_array().unwrap().iter().map(|row| row["name"].as_str()).collect();
    assert_eq!(names, [None, Some("ann"), Some("bob")], "{shown}");
    assert_eq!((&shown[2]["clocks"], &shown[2]["nps"]), (&"2.00".into(), &500_000.into()), "{shown}");
    let shown = page(&desk, "/machines");
    assert!(shown.contains("<h1>Machines</h1>") && shown.contains(">bob<"), "{shown}");
    until("a link leads to it", || page(&desk, "/").contains("href=\"/machines\""));
    assert!(desk.renmei(&["admin", "event.db", "resume"]).status.success());
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!((ann.code(), bob.code()), (Some(0), Some(0)));
    let clocks = "SELECT DISTINCT machine, json_extract(times, '$[0].main.secs') FROM games
         WHERE state = 'counted' ORDER BY 1";
    assert_eq!(desk.query(clocks), [["ann", ""], ["bob", "1200"]]);
    assert_eq!(count(&desk, "SELECT count(*) FROM fleets WHERE reference LIKE '%1000000%'"), 1);
    assert_eq!(count(&desk, "SELECT count(*) FROM machines WHERE presence = 'left'"), 2);
    let report = desk.renmei(&["report", "event.db"]);
    let report = String::from_utf8_lossy(&report.stdout).into_owned();
    assert!(report.lines().any(|line| line.contains("bob") && line.contains("2.00")), "{report}");
    assert_eq!(desk.renmei(&["verify", "event.db"]).status.code(), Some(0));
}

/// A page of the manager, asked for as a browser does.
pub(super) fn page(desk: &Desk, path: &str) -> String {
    let mut answer = String::new();
    ask(desk, path).read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// A connection on which a page of the manager was asked for.
pub(super) fn ask(desk: &Desk, path: &str) -> TcpStream {
    let said = log(desk, "manager.log");
    let (_, rest) = said.split_once("pages on http://").unwrap();
    let address = rest.split_once('/').unwrap().0.to_owned();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    stream
}
