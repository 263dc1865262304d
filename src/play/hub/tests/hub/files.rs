//! Files on their way to workers.

use crate::support::{Place, need_server, notice};
use hub::{FileFault, Hub, HubNotice, Joined, async_nats::jetstream};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

/// Three pieces, the last one not full, and no two bytes of one another's piece.
fn content() -> Vec<u8> {
    (0..1_200_000_u32)
        .flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 24).to_be_bytes()[3..].to_vec())
        .collect()
}

async fn hub_and_worker(place: &Place, cache_bytes: u64) -> (Hub, Joined) {
    let hub = place.hub().await;
    let options = hub::JoinOptions {
        directory: place.path("worker"),
        name: "box".to_owned(),
        credentials: None,
        server: None,
        cache_bytes,
    };
    let worker = hub::join(hub.token(), options).await.unwrap();
    (hub, worker)
}

fn write(path: &Path, bytes: &[u8], mode: u32) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn an_engine_arrives_as_it_was_sent_private_and_as_a_program() {
    need_server!();
    let place = Place::new();
    let (hub, worker) = hub_and_worker(&place, 1 << 30).await;
    let engine = place.path("engine");
    write(&engine, &content(), 0o755);
    let empty = place.path("empty");
    write(&empty, b"", 0o644);
    let (sent, none) = (hub.depot().put(&engine).await.unwrap(), hub.depot().put(&empty).await.unwrap());
    assert_eq!(hub.depot().put(&engine).await.unwrap(), sent);
    let held = worker.cache().fetch(&sent).await.unwrap();
    assert_eq!(fs::read(held.path()).unwrap(), content());
    assert_eq!(fs::metadata(held.path()).unwrap().permissions().mode() & 0o777, 0o500);
    let held = worker.cache().fetch(&none).await.unwrap();
    assert_eq!(fs::metadata(held.path()).unwrap().permissions().mode() & 0o777, 0o400);
    hub.close().await;
    // What was fetched needs no server any more.
    assert!(worker.cache().fetch(&sent).await.is_ok());
}

#[tokio::test]
async fn a_file_that_was_altered_in_the_cache_is_found_before_it_is_used_and_fetched_again() {
    need_server!();
    let place = Place::new();
    let (hub, worker) = hub_and_worker(&place, 1 << 30).await;
    let engine = place.path("engine");
    write(&engine, &content(), 0o755);
    let sent = hub.depot().put(&engine).await.unwrap();
    let path = worker.cache().fetch(&sent).await.unwrap().path().to_owned();
    let times = fs::metadata(&path).unwrap();
    let mut altered = content();
    altered[5] ^= 1;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(&path, &altered).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o500)).unwrap();
    // As if nobody had touched it.
    fs::File::open(&path).unwrap().set_modified(times.modified().unwrap()).unwrap();
    let held = worker.cache().fetch(&sent).await.unwrap();
    assert_eq!(fs::read(held.path()).unwrap(), content());
    hub.close().await;
}

#[tokio::test]
async fn pieces_that_the_server_altered_are_thrown_away() {
    need_server!();
    let place = Place::new();
    let (hub, worker) = hub_and_worker(&place, 1 << 30).await;
    let engine = place.path("engine");
    write(&engine, &content(), 0o755);
    let sent = hub.depot().put(&engine).await.unwrap();
    let context = jetstream::new(hub.client().clone());
    for piece in [vec![7; 512 * 1024], vec![7; 5]] {
        let subject = format!("renmei.{}.file.{}.1", place.event, sent.sha256);
        context.publish(subject, piece.into()).await.unwrap().await.unwrap();
        let fault = worker.cache().fetch(&sent).await.unwrap_err();
        assert!(matches!(fault, FileFault::Corrupt { .. }), "{fault}");
    }
    let mut unknown = sent;
    unknown.bytes = 3;
    unknown.sha256 =
        hub.depot().put(&place.path("other").tap(|path| write(path, b"abc", 0o644))).await.unwrap().sha256;
    context.purge_stream(format!("FILES_{}", place.event)).await;
    let fault = worker.cache().fetch(&unknown).await.unwrap_err();
    assert!(matches!(fault, FileFault::Missing { .. }), "{fault}");
    hub.close().await;
}

trait Tap: Sized {
    fn tap(self, with: impl FnOnce(&Self)) -> Self {
        with(&self);
        self
    }
}

impl Tap for std::path::PathBuf {}

trait PurgeStream {
    async fn purge_stream(&self, name: String);
}

impl PurgeStream for jetstream::Context {
    async fn purge_stream(&self, name: String) {
        self.get_stream(name).await.unwrap().purge().await.unwrap();
    }
}

#[tokio::test]
async fn a_directory_arrives_with_its_files_and_an_altered_one_is_made_anew() {
    need_server!();
    let place = Place::new();
    let (hub, worker) = hub_and_worker(&place, 1 << 30).await;
    let root = place.path("engine");
    fs::create_dir_all(root.join("eval")).unwrap();
    write(&root.join("play"), b"#!/bin/sh\n", 0o755);
    write(&root.join("eval/nn.bin"), &content(), 0o644);
    symlink("eval/nn.bin", root.join("nn.bin")).unwrap();
    let files = ["play", "eval/nn.bin", "nn.bin"].map(|name| (name.to_owned(), root.join(name)));
    let sent = hub.depot().put_files(files, &Default::default()).await.unwrap();
    let json = serde_json::to_string(&sent).unwrap();
    let sent: hub::TreeRef = serde_json::from_str(&json).unwrap();

    let held = worker.cache().fetch_directory(&sent).await.unwrap();
    assert_eq!(fs::read(held.path().join("eval/nn.bin")).unwrap(), content());
    assert_eq!(fs::read(held.path().join("nn.bin")).unwrap(), content());
    assert_eq!(fs::metadata(held.path().join("play")).unwrap().permissions().mode() & 0o777, 0o500);
    // An engine's own file does not disturb; a file in the place of another does.
    fs::write(held.path().join("engine.log"), "hello").unwrap();
    let again = worker.cache().fetch_directory(&sent).await.unwrap();
    assert!(again.path().join("engine.log").exists());
    fs::remove_file(held.path().join("play")).unwrap();
    write(&held.path().join("play"), b"#!/bin/sh\nexit\n", 0o500);
    let again = worker.cache().fetch_directory(&sent).await.unwrap();
    assert_eq!(fs::read(again.path().join("play")).unwrap(), b"#!/bin/sh\n");
    fs::remove_dir_all(again.path().join("eval")).unwrap();
    symlink("/etc", again.path().join("eval")).unwrap();
    let again = worker.cache().fetch_directory(&sent).await.unwrap();
    assert_eq!(fs::read(again.path().join("eval/nn.bin")).unwrap(), content());
    hub.close().await;
}

#[tokio::test]
async fn a_full_cache_forgets_what_was_used_longest_ago_and_nothing_that_is_in_use() {
    need_server!();
    let place = Place::new();
    let (hub, worker) = hub_and_worker(&place, 2_500_000).await;
    let mut sent = Vec::new();
    for name in ["a", "b", "c"] {
        let mut bytes = content();
        bytes.extend(name.as_bytes());
        write(&place.path(name), &bytes, 0o644);
        sent.push(hub.depot().put(&place.path(name)).await.unwrap());
    }
    let cache = worker.cache();
    let first = cache.fetch(&sent[0]).await.unwrap();
    let second = cache.fetch(&sent[1]).await.unwrap().path().to_owned();
    let third = cache.fetch(&sent[2]).await.unwrap();
    assert!(first.path().exists() && third.path().exists() && !second.exists());
    let fault = cache.fetch(&sent[1]).await.unwrap_err();
    assert!(matches!(fault, FileFault::CacheFull { .. }), "{fault}");
    drop(first);
    assert!(cache.fetch(&sent[1]).await.is_ok());
    hub.close().await;
}

#[tokio::test]
async fn a_server_that_lost_its_store_gets_its_files_again() {
    need_server!();
    let place = Place::new();
    let (mut hub, worker) = hub_and_worker(&place, 1 << 30).await;
    let engine = place.path("engine");
    write(&engine, &content(), 0o755);
    let sent = hub.depot().put(&engine).await.unwrap();
    let store = Hub::beside(&place.path("event.db")).join("store");
    let (process, _) = hub.server().unwrap();
    std::process::Command::new("kill").args(["-STOP", &process.to_string()]).status().unwrap();
    fs::remove_dir_all(&store).unwrap();
    std::process::Command::new("kill").args(["-KILL", &process.to_string()]).status().unwrap();
    notice(&mut hub, |notice| *notice == HubNotice::Back).await;
    crate::support::soon(async {
        while worker.cache().fetch(&sent).await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    })
    .await;
    hub.close().await;
}

#[tokio::test]
async fn a_link_that_an_engine_has_made_is_not_sent_whenever_it_was_made() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let (root, book) = (place.path("engine"), place.path("engine/book"));
    fs::create_dir_all(&root).unwrap();
    write(&place.path("secret"), b"s", 0o600);
    symlink("../secret", &book).unwrap();
    let files = [("book".to_owned(), book.clone())];
    let foreign = platform::files::Foreign::new([&root]);
    let fault = hub.depot().put_files(files.clone(), &foreign).await.unwrap_err().to_string();
    assert!(fault.contains("a link that leads out of a directory which the engine may write to"), "{fault}");
    // A link of the user's own is followed.
    assert!(hub.depot().put_files(files, &platform::files::Foreign::default()).await.is_ok());
    hub.close().await;
}
