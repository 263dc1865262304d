//! How workers get in, and what they may do inside.

use crate::{
    support::{Place, join_at, need_server, next, notice, soon},
    tls::trusting,
};
use async_nats::{ConnectErrorKind, ConnectOptions, Subscriber};
use machines::hub::{Connection, Hub, HubError, Joined, Subjects, Token};
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

#[tokio::test]
async fn a_worker_joins_with_the_printed_line_says_hello_and_gets_a_job() {
    need_server!();
    let place = Place::new();
    let mut hub = place.hub().await;
    let mut hellos = hub.client.subscribe(hub.subjects.requests()).await.unwrap();
    hub.client.flush().await.unwrap();

    let token: Token = hub.token.line().parse().unwrap();
    let worker = place.join(&token, "box2").await.unwrap();
    assert_eq!(worker.name.as_str(), "box2");
    notice(&mut hub, "machine `box2` was let in").await;
    assert_eq!(hub.name_of(&worker.id).as_deref(), Some("box2"));

    let mut jobs = worker.client.subscribe(worker.subjects.to_worker(&worker.id, 7, "*")).await.unwrap();
    worker.client.publish(worker.subjects.request(&worker.id, "hello"), "hello".into()).await.unwrap();
    let hello = next(&mut hellos).await;
    assert_eq!(hub.subjects.sender(hello.subject.as_str()).as_ref(), Some(&worker.id));

    // What is for an earlier start of it does not reach it.
    for (session, job) in [(6, "earlier"), (7, "play")] {
        let subject = hub.subjects.to_worker(&worker.id, session, "job");
        hub.client.publish(subject, job.into()).await.unwrap();
    }
    assert_eq!(next(&mut jobs).await.payload, "play");
    hub.close().await;
}

#[tokio::test]
async fn a_worker_can_neither_write_nor_read_what_is_anothers() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let subjects = &hub.subjects;
    let victim = place.join(&hub.token, "victim").await.unwrap();
    let mut everything = hub.client.subscribe(format!("renmei.{}.>", place.event)).await.unwrap();
    hub.client.flush().await.unwrap();
    let thief = place.join(&hub.token, "thief").await.unwrap();
    assert_ne!(&victim.id, &thief.id);

    refused_to_write(&thief, &victim, subjects).await;
    // What it may write comes after all that it may not: nothing of that has come.
    assert_eq!(next(&mut everything).await.subject.as_str(), subjects.request(&thief.id, "hello"));

    refused_to_read(&thief, &victim, &hub, &mut everything).await;
    hub.close().await;
}

/// Writes wherever it must not, and then its own hello.
async fn refused_to_write(thief: &Joined, victim: &Joined, subjects: &Subjects) {
    let client = &thief.client;
    for subject in [
        subjects.request(&victim.id, "hello"),
        subjects.request(&victim.id, "result"),
        subjects.board(&victim.id, 1),
        subjects.request(&victim.id, "fetch"),
        subjects.to_worker(&victim.id, 1, "job"),
        subjects.to_worker(&thief.id, 1, "job"),
        subjects.to_worker(&victim.id, 1, "ctl"),
        subjects.all(),
        format!("_INBOX_{}.1", victim.id),
        "$JS.API.STREAM.CREATE.MINE".to_owned(),
        "$SYS.REQ.SERVER.PING".to_owned(),
        "renmei.join".to_owned(),
    ] {
        client.publish(subject, "x".into()).await.unwrap();
    }
    client.publish(subjects.request(&thief.id, "hello"), "x".into()).await.unwrap();
    client.flush().await.unwrap();
}

/// Listens wherever it must not: it hears nothing but its own.
async fn refused_to_read(thief: &Joined, victim: &Joined, hub: &Hub, everything: &mut Subscriber) {
    let subjects = &hub.subjects;
    let event = subjects.event();
    let mut heard = Vec::new();
    for subject in [
        ">".to_owned(),
        format!("renmei.{event}.>"),
        format!("renmei.{event}.w.>"),
        subjects.to_worker(&victim.id, 1, "*"),
        subjects.requests(),
        format!("_INBOX_{}.>", victim.id),
        "_INBOX_manager.>".to_owned(),
        "renmei.join".to_owned(),
    ] {
        heard.push(thief.client.subscribe(subject).await.unwrap());
    }
    let mut own = thief.client.subscribe(subjects.to_worker(&thief.id, 1, "*")).await.unwrap();
    // Once this has come, the server has seen what was asked for before it.
    thief.client.publish(subjects.request(&thief.id, "hello"), "x".into()).await.unwrap();
    next(everything).await;
    for subject in [
        subjects.to_worker(&victim.id, 1, "job"),
        subjects.to_worker(&victim.id, 1, "ctl"),
        subjects.to_worker(&thief.id, 1, "job"),
    ] {
        hub.client.publish(subject, "x".into()).await.unwrap();
    }
    assert_eq!(next(&mut own).await.subject.as_str(), subjects.to_worker(&thief.id, 1, "job"));
    for subscriber in &mut heard {
        use futures_util::{FutureExt, StreamExt};
        let message = subscriber.next().now_or_never().flatten();
        assert!(message.is_none(), "{message:?}");
    }
}

#[tokio::test]
async fn a_line_with_a_wrong_secret_is_refused_and_the_operator_hears_of_it() {
    need_server!();
    let (place, other) = (Place::new(), Place::new());
    let mut hub = place.hub().await;
    let wrong = other.hub().await;
    // The same server and event, but somebody else's secret: a line is bytes, whose parts can be exchanged.
    let line = exchange_secret(&hub.token.line(), &wrong.token.line());
    let error = place.join(&line.parse().unwrap(), "box").await.unwrap_err();
    assert!(matches!(error, HubError::Refused { .. }), "{error}");
    let refused = notice(&mut hub, "nats-server refused ").await;
    let last =
        refused.strip_prefix("nats-server refused 1 connection without a valid key, the last one from ");
    let Some(last) = last else { panic!("{refused}") };
    assert!(last.contains("127.0.0.1:"), "{last}");
    hub.close().await;
}

/// A line with the join secret of another.
fn exchange_secret(line: &str, other: &str) -> String {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    use sha2::{Digest, Sha256};
    let bytes = |line: &str| URL_SAFE_NO_PAD.decode(line.split_once('#').unwrap().1).unwrap();
    let (mut mine, theirs) = (bytes(line), bytes(other));
    let secret = 0..32;
    mine[secret.clone()].copy_from_slice(&theirs[secret]);
    let body = mine.len() - 4;
    let sum = Sha256::digest(&mine[..body]);
    mine[body..].copy_from_slice(&sum[..4]);
    format!("{}#{}", line.split_once('#').unwrap().0, URL_SAFE_NO_PAD.encode(mine))
}

#[tokio::test]
async fn nobody_gets_in_without_a_key() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let url = hub.token.line().replace("nats+tls", "tls");
    let connect = |options: ConnectOptions| {
        options.tls_client_config(trusting()).connect(url.split('#').next().unwrap())
    };
    // A server before 2.9.23 lets everybody in whose only account is that of the system.
    for options in
        [ConnectOptions::new(), ConnectOptions::new().user_and_password("ann".into(), "pass".into())]
    {
        let refused = connect(options).await.unwrap_err();
        assert_eq!(refused.kind(), ConnectErrorKind::AuthorizationViolation, "{refused}");
    }
    hub.close().await;
}

#[tokio::test]
async fn a_worker_that_is_sent_away_loses_its_connection_and_does_not_come_back() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let worker = place.join(&hub.token, "box").await.unwrap();
    let other = place.join(&hub.token, "other").await.unwrap();
    hub.expel(&worker.id).await.unwrap();
    let mut connection = worker.connection.clone();
    soon(connection.wait_for(|state| *state == Connection::Refused)).await.unwrap();
    assert_eq!(*other.connection.borrow(), Connection::Up);
    drop(worker);
    let error = place.join(&hub.token, "box").await.unwrap_err().to_string();
    assert!(error.contains("`box` was sent away by the operator"), "{error}");
    hub.close().await;
}

#[tokio::test]
async fn two_machines_of_one_name_get_two_names_and_one_machine_runs_a_name_once() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let first = place.join(&hub.token, "box").await.unwrap();
    let again = place.join(&hub.token, "box").await.unwrap_err().to_string();
    assert!(again.contains("another worker runs here as `box`"), "{again}");
    let elsewhere = join_at(&place.path("another machine"), &hub.token, "box").await.unwrap();
    assert_eq!((first.name.as_str(), elsewhere.name.as_str()), ("box", "box-2"));
    let id = first.id.clone();
    drop(first);
    let back = place.join(&hub.token, "box").await.unwrap();
    assert_eq!((&back.id, back.name.as_str()), (&id, "box"));
    hub.close().await;
}

#[tokio::test]
async fn workers_that_come_while_the_server_takes_over_others_are_let_in() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let token = &hub.token;
    let mut coming = tokio::task::JoinSet::new();
    for at in 0..30 {
        let (directory, token) = (place.path("worker"), token.clone());
        // As a worker does, each tries again when its connection was broken off too often, or the answer came too late.
        coming.spawn(async move {
            loop {
                match join_at(&directory, &token, &format!("w{at}")).await {
                    Err(HubError::Connect { .. } | HubError::NoManager { .. }) => {}
                    joined => return joined,
                }
            }
        });
    }
    while let Some(joined) = soon(coming.join_next()).await {
        joined.unwrap().unwrap();
    }
}

#[tokio::test]
async fn keys_are_private_and_in_no_log_or_configuration() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let worker = place.join(&hub.token, "box").await.unwrap();
    for root in [Hub::beside(&place.path("event.db")), place.path("worker/keys")] {
        for (path, mode) in all_below(&root) {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode & 0o777 & !expected, 0, "{}", path.display());
        }
    }
    let configuration = fs::read_to_string(Hub::beside(&place.path("event.db")).join("nats.conf")).unwrap();
    // A seed has 58 characters and begins with S, a public key has 56 and begins with U.
    let mut words = configuration.split(|c: char| !c.is_ascii_alphanumeric());
    assert!(
        !words.any(|word| word.len() == 58 && word.starts_with('S')),
        "a private key is in the configuration"
    );
    assert!(configuration.contains(worker.id.as_str()));
    hub.close().await;
}

fn all_below(root: &Path) -> Vec<(std::path::PathBuf, u32)> {
    let mut all = Vec::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        all.push((directory.clone(), fs::metadata(&directory).unwrap().permissions().mode()));
        for entry in fs::read_dir(&directory).unwrap().flatten() {
            match entry.path().is_dir() {
                true => directories.push(entry.path()),
                false => all.push((entry.path(), entry.metadata().unwrap().permissions().mode())),
            }
        }
    }
    all
}
