//! The server: how it starts, ends, and what is said when it does not.

use crate::support::{Place, need_server, next, notice, soon};
use machines::hub::{Connection, Hub, HubError, ServerOptions};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

async fn fails(options: ServerOptions) -> String {
    Hub::start(options).await.unwrap_err().to_string()
}

#[tokio::test]
async fn what_is_wrong_with_the_server_is_told_in_a_sentence() {
    need_server!();
    let place = Place::new();
    let missing = ServerOptions { program: Some(place.path("no-such-program")), ..place.options() };
    assert!(fails(missing).await.starts_with("nats-server is not on the path: apt install nats-server"));

    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = busy.local_addr().unwrap();
    let said = fails(ServerOptions { listen, ..place.options() }).await;
    assert!(said.starts_with(&format!("the address {listen} is in use by another program")), "{said}");

    let said = fails(ServerOptions { listen: "192.0.2.1:4222".parse().unwrap(), ..place.options() }).await;
    assert!(said.starts_with("nats-server cannot listen on 192.0.2.1:4222:"), "{said}");

    let said = fails(ServerOptions { program: Some("/bin/false".into()), ..place.options() }).await;
    assert!(said.starts_with("nats-server ended at its start"), "{said}");
}

#[tokio::test]
async fn a_directory_that_is_a_file_or_a_damaged_key_is_told_with_its_path() {
    need_server!();
    let place = Place::new();
    let directory = Hub::beside(&place.path("event.db"));
    fs::write(&directory, "").unwrap();
    let said = fails(place.options()).await;
    assert!(said.contains(&directory.display().to_string()), "{said}");
    fs::remove_file(&directory).unwrap();
    place.hub().await.close().await;
    fs::write(directory.join("keys.json"), "{").unwrap();
    let said = fails(place.options()).await;
    assert!(said.contains("keys.json is damaged: delete the directory"), "{said}");
}

#[tokio::test]
async fn a_line_stays_valid_when_the_manager_is_started_again_and_no_two_managers_share_a_directory() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let error = Hub::start(place.options()).await.unwrap_err();
    assert!(matches!(error, HubError::InUse { .. }), "{error}");
    let (line, port) = (hub.token.line(), hub.token.port());
    let worker = place.join(&hub.token, "box").await.unwrap();
    let id = worker.id.clone();
    hub.close().await;
    let listen = ([127, 0, 0, 1], port).into();
    let hub = Hub::start(ServerOptions { listen, ..place.options() }).await.unwrap();
    assert_eq!(hub.token.line(), line);
    // The worker that was there comes back by itself.
    let mut hellos = hub.client.subscribe(hub.subjects.requests()).await.unwrap();
    hub.client.flush().await.unwrap();
    let hello = tokio::spawn(async move {
        loop {
            worker.client.publish(worker.subjects.request(&worker.id, "hello"), "back".into()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    assert_eq!(hub.subjects.sender(next(&mut hellos).await.subject.as_str()), Some(id));
    hello.abort();
    hub.close().await;
}

#[tokio::test]
async fn a_worker_whose_server_comes_back_with_another_event_is_told_so_by_the_server() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let listen = ([127, 0, 0, 1], hub.token.port()).into();
    let worker = place.join(&hub.token, "box").await.unwrap();
    let orders = worker.subjects.to_worker(&worker.id, 1, "ctl");
    let _orders = worker.client.subscribe(orders).await.unwrap();
    worker.client.flush().await.unwrap();
    assert_eq!(*worker.connection.borrow(), Connection::Up);
    hub.close().await;
    let event = machines::hub::new_event();
    let hub = Hub::start(ServerOptions { listen, event, ..place.options() }).await.unwrap();
    let mut connection = worker.connection.clone();
    soon(connection.wait_for(|state| *state == Connection::Elsewhere)).await.unwrap();
    hub.close().await;
}

#[tokio::test]
async fn a_server_that_was_killed_is_started_again_and_everybody_goes_on_at_the_same_port() {
    need_server!();
    let place = Place::new();
    let mut hub = place.hub().await;
    let worker = place.join(&hub.token, "box").await.unwrap();
    let process = hub.process.unwrap();
    kill(process, "KILL");
    notice(&mut hub, "nats-server ended, and is started again: ").await;
    notice(&mut hub, "nats-server is there again").await;
    let mut hellos = hub.client.subscribe(hub.subjects.requests()).await.unwrap();
    let (client, subject) = (worker.client.clone(), worker.subjects.request(&worker.id, "hello"));
    let hello = tokio::spawn(async move {
        loop {
            client.publish(subject.clone(), "still here".into()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    next(&mut hellos).await;
    hello.abort();
    place.join(&hub.token, "newcomer").await.unwrap();
    hub.close().await;
}

fn kill(process: i32, signal: &str) {
    let status = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status().unwrap();
    assert!(status.success());
}

fn is_alive(process: i32) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}

/// This test program, as a manager in a process of its own.
fn manager(directory: &Path) -> (Child, i32) {
    let mut manager = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "server::process_of_a_manager", "--ignored", "--nocapture"])
        .env("HUB_TEST_DIRECTORY", directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(manager.stdout.take().unwrap()).lines();
    let server = lines.map_while(Result::ok).find_map(|line| line.split("server ").nth(1)?.parse().ok());
    (manager, server.expect("the manager starts a server"))
}

#[tokio::test]
#[ignore = "the process of another test"]
async fn process_of_a_manager() {
    let Some(directory) = std::env::var_os("HUB_TEST_DIRECTORY") else { return };
    let options = ServerOptions {
        directory: directory.into(),
        listen: "127.0.0.1:0".parse().unwrap(),
        event: machines::hub::new_event(),
        program: None,
    };
    let hub = Hub::start(options).await.unwrap();
    println!("\nserver {}", hub.process.unwrap());
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_manager_that_is_killed_takes_its_server_with_it_and_the_next_one_starts() {
    need_server!();
    let place = Place::new();
    let options = place.options();
    let (mut first, server) = manager(&options.directory);
    assert!(is_alive(server));
    first.kill().unwrap();
    first.wait().unwrap();
    let hub = Hub::start(options).await.unwrap();
    assert!(!is_alive(server), "the server of the killed manager has ended before the next starts");
    hub.close().await;
}

#[tokio::test]
async fn a_server_that_was_left_behind_is_ended_and_another_process_with_its_number_is_not() {
    need_server!();
    let place = Place::new();
    let options = place.options();
    place.hub().await.close().await;
    let record = |process: u32| {
        let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        let start = text[text.rfind(')').unwrap() + 2..].split(' ').nth(19).unwrap();
        fs::write(options.directory.join("server.pid"), format!("{process} {start}\n")).unwrap();
    };
    let configuration = fs::canonicalize(options.directory.join("nats.conf")).unwrap();
    let program = ["/usr/sbin/nats-server", "nats-server"].into_iter().find(|path| Path::new(path).exists());
    let mut left = Command::new(program.unwrap_or("nats-server"))
        .arg("-c")
        .arg(configuration)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    record(left.id());
    place.hub().await.close().await;
    soon(async {
        while left.try_wait().unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;

    let mut stranger = Command::new("sleep").arg("600").spawn().unwrap();
    record(stranger.id());
    place.hub().await.close().await;
    assert!(stranger.try_wait().unwrap().is_none(), "a stranger's process was ended");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}
