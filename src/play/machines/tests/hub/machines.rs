//! A worker on another machine: across a cable, and across a bad line.

use crate::support::{Place, need_server, next, soon};
use machines::hub::{Connection, Hub, ServerOptions, Token};
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};
use testing::network::{Namespaces, Proxy};

#[tokio::test]
async fn a_worker_joins_across_two_machines_joined_by_a_cable() {
    need_server!();
    let machines = match Namespaces::new() {
        Ok(machines) => machines,
        Err(why) => return eprintln!("left out: {why}"),
    };
    let place = Place::new();
    let (mut manager, lines) = on(&machines, 0, "machines::process_of_a_manager", |command| {
        command.env("HUB_TEST_DIRECTORY", place.path("event.db-hub"));
        command.env("HUB_TEST_LISTEN", format!("{}:0", machines.address(0)));
    });
    let line = said(lines, "line ");
    assert!(line.starts_with(&format!("nats+tls://{}:", machines.address(0))), "{line}");
    let (mut worker, lines) = on(&machines, 1, "machines::process_of_a_worker", |command| {
        command.env("HUB_TEST_DIRECTORY", place.path("worker")).env("HUB_TEST_LINE", &line);
    });
    assert_eq!(said(lines, "heard "), "welcome, box2");
    for process in [&mut worker, &mut manager] {
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

type Lines = std::io::Lines<BufReader<std::process::ChildStdout>>;

/// A part of this test program on a machine.
fn on(machines: &Namespaces, machine: usize, part: &str, with: impl Fn(&mut Command)) -> (Child, Lines) {
    let program = std::env::current_exe().unwrap();
    let mut command = machines.command(machine, program.to_str().unwrap());
    command.args(["--exact", part, "--ignored", "--nocapture"]);
    with(&mut command);
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    (process, lines)
}

fn said(lines: Lines, what: &str) -> String {
    let found = lines.map_while(Result::ok).find_map(|line| Some(line.split_once(what)?.1.to_owned()));
    found.unwrap_or_else(|| panic!("nobody said `{what}`"))
}

#[tokio::test]
#[ignore = "the process of another test"]
async fn process_of_a_manager() {
    let Some(directory) = std::env::var_os("HUB_TEST_DIRECTORY") else { return };
    let listen = std::env::var("HUB_TEST_LISTEN").unwrap().parse().unwrap();
    let options = ServerOptions {
        directory: directory.into(),
        listen,
        event: machines::hub::new_event(),
        program: None,
    };
    let hub = Hub::start(options).await.unwrap();
    let mut hellos = hub.client.subscribe(hub.subjects.requests()).await.unwrap();
    println!("\nline {}", hub.token.line());
    loop {
        let hello = next(&mut hellos).await;
        let id = hub.subjects.sender(hello.subject.as_str()).unwrap();
        let answer =
            format!("welcome, {}", hub.members().iter().find(|member| member.id == id).unwrap().name);
        hub.client.publish(hub.subjects.to_worker(&id, 1, "ctl"), answer.into()).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "the process of another test"]
async fn process_of_a_worker() {
    let Some(directory) = std::env::var_os("HUB_TEST_DIRECTORY") else { return };
    let token: Token = std::env::var("HUB_TEST_LINE").unwrap().parse().unwrap();
    let worker = crate::support::join_at(directory.as_ref(), &token, "box2").await.unwrap();
    let mut own = worker.client.subscribe(worker.subjects.to_worker(&worker.id, 1, "*")).await.unwrap();
    worker.client.publish(worker.subjects.request(&worker.id, "hello"), "hello".into()).await.unwrap();
    println!("\nheard {}", String::from_utf8_lossy(&next(&mut own).await.payload));
}

#[tokio::test]
async fn a_worker_behind_a_line_that_is_slow_stalls_and_breaks_is_heard_again() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let port = hub.token.port();
    let proxy = Proxy::to(([127, 0, 0, 1], port).into()).await.unwrap();
    proxy.delay(Duration::from_millis(200));
    let token = hub.token.at("127.0.0.1", proxy.address().port()).unwrap();
    let mut hellos = hub.client.subscribe(hub.subjects.requests()).await.unwrap();
    hub.client.flush().await.unwrap();
    let worker = place.join(&token, "far").await.unwrap();
    let hello = || worker.client.publish(worker.subjects.request(&worker.id, "hello"), "hello".into());
    hello().await.unwrap();
    next(&mut hellos).await;

    proxy.stall();
    hello().await.unwrap();
    let waited = tokio::time::timeout(Duration::from_millis(300), next(&mut hellos)).await;
    assert!(waited.is_err(), "something came through a line that stalls");
    proxy.resume();
    next(&mut hellos).await;

    let mut connection = worker.connection.clone();
    proxy.cut();
    soon(connection.wait_for(|state| *state == Connection::Down)).await.unwrap();
    soon(connection.wait_for(|state| *state == Connection::Up)).await.unwrap();
    hello().await.unwrap();
    next(&mut hellos).await;
    hub.close().await;
}
