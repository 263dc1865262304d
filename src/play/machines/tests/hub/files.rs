//! Files on their way to workers.

use machines::hub::{Cache, FileFault, Pieces, Shelf, TreeRef};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use tempfile::TempDir;

/// Three pieces, the last one not full, and no two bytes of one another's piece.
fn content() -> Vec<u8> {
    (0..1_200_000_u32)
        .flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 24).to_be_bytes()[3..].to_vec())
        .collect()
}

fn write(path: &Path, bytes: &[u8], mode: u32) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A manager's files, and a worker that asks for them.
struct Desk {
    place: TempDir,
    shelf: Shelf,
    /// Pieces that were sent.
    sent: Arc<AtomicUsize>,
}

impl Desk {
    fn new() -> Self {
        Self { place: tempfile::tempdir().unwrap(), shelf: Shelf::default(), sent: Arc::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// The cache of a worker, which is given pieces by the shelf, altered on their way.
    fn cache_by(&self, most_bytes: u64, alter: fn(Vec<u8>) -> Option<Vec<u8>>) -> Cache {
        let (shelf, sent) = (self.shelf.clone(), self.sent.clone());
        let pieces: Pieces = Arc::new(move |sha256, piece| {
            let (shelf, sha256) = (shelf.clone(), sha256.to_owned());
            sent.fetch_add(1, Relaxed);
            Box::pin(async move {
                let found = shelf.piece(&sha256, piece).await?;
                Ok(found.and_then(alter).map(Into::into))
            })
        });
        Cache::at(&self.path("worker"), most_bytes, pieces).unwrap()
    }

    fn cache(&self) -> Cache {
        self.cache_by(1 << 30, Some)
    }

    /// An engine of one file.
    async fn engine(&self, name: &str, bytes: &[u8], mode: u32) -> TreeRef {
        write(&self.path(name), bytes, mode);
        let files = [("engine".to_owned(), self.path(name))];
        self.shelf.add_files(files, &Default::default()).await.unwrap()
    }
}

#[tokio::test]
async fn an_engine_arrives_as_it_was_sent_private_and_is_fetched_once() {
    let desk = Desk::new();
    let root = desk.path("engine");
    fs::create_dir_all(root.join("eval")).unwrap();
    write(&root.join("play"), b"#!/bin/sh\n", 0o755);
    write(&root.join("empty"), b"", 0o644);
    write(&root.join("eval/nn.bin"), &content(), 0o644);
    symlink("eval/nn.bin", root.join("nn.bin")).unwrap();
    let files = ["play", "empty", "eval/nn.bin", "nn.bin"].map(|name| (name.to_owned(), root.join(name)));
    let sent = desk.shelf.add_files(files, &Default::default()).await.unwrap();
    let json = serde_json::to_string(&sent).unwrap();
    let sent: TreeRef = serde_json::from_str(&json).unwrap();
    let at = desk.cache().fetch(&sent).await.unwrap();
    assert_eq!(fs::read(at.join("eval/nn.bin")).unwrap(), content());
    assert_eq!(fs::read(at.join("nn.bin")).unwrap(), content());
    let mode = |name: &str| fs::metadata(at.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("play"), mode("empty"), mode("eval/nn.bin")), (0o500, 0o400, 0o400));
    // An engine's own file does not disturb. Of what is there only the list comes again.
    fs::write(at.join("engine.log"), "hello").unwrap();
    desk.sent.store(0, Relaxed);
    assert_eq!(desk.cache().fetch(&sent).await.unwrap(), at);
    assert!(at.join("engine.log").exists());
    assert_eq!(desk.sent.load(Relaxed), 1);
}

#[tokio::test]
async fn a_file_that_another_engine_has_at_the_same_place_is_not_fetched_twice() {
    let desk = Desk::new();
    let (cache, root) = (desk.cache(), desk.path("engine"));
    fs::create_dir_all(&root).unwrap();
    write(&root.join("nn.bin"), &content(), 0o644);
    for build in ["one", "two"] {
        write(&root.join("play"), build.as_bytes(), 0o755);
        let files = ["play", "nn.bin"].map(|name| (name.to_owned(), root.join(name)));
        let sent = desk.shelf.add_files(files, &Default::default()).await.unwrap();
        let at = cache.fetch(&sent).await.unwrap();
        assert_eq!(fs::read_to_string(at.join("play")).unwrap(), build);
        assert_eq!(fs::read(at.join("nn.bin")).unwrap(), content());
    }
    assert_eq!(
        desk.sent.load(Relaxed),
        1 + 1 + 3 + 1 + 1,
        "a list, a program and the file; a list and a program"
    );
}

#[tokio::test]
async fn a_file_that_was_altered_in_the_cache_is_found_before_it_is_used_and_fetched_again() {
    let desk = Desk::new();
    let (cache, sent) = (desk.cache(), desk.engine("engine", &content(), 0o755).await);
    let path = cache.fetch(&sent).await.unwrap().join("engine");
    let times = fs::metadata(&path).unwrap();
    let mut altered = content();
    altered[5] ^= 1;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(&path, &altered).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o500)).unwrap();
    // As if nobody had touched it.
    fs::File::open(&path).unwrap().set_modified(times.modified().unwrap()).unwrap();
    cache.fetch(&sent).await.unwrap();
    assert_eq!(fs::read(&path).unwrap(), content());
    // A file in the place of another, and a link in the place of a directory.
    fs::remove_file(&path).unwrap();
    write(&path, b"#!/bin/sh\nexit\n", 0o500);
    cache.fetch(&sent).await.unwrap();
    assert_eq!(fs::read(&path).unwrap(), content());
    let tree = path.parent().unwrap();
    fs::rename(tree, desk.path("elsewhere")).unwrap();
    symlink(desk.path("elsewhere"), tree).unwrap();
    cache.fetch(&sent).await.unwrap();
    assert!(fs::symlink_metadata(tree).unwrap().is_dir());
}

#[tokio::test]
async fn pieces_that_were_altered_on_their_way_are_thrown_away() {
    let desk = Desk::new();
    let sent = desk.engine("engine", &content(), 0o755).await;
    let other: fn(Vec<u8>) -> Option<Vec<u8>> = |piece| Some(vec![7; piece.len()]);
    let short: fn(Vec<u8>) -> Option<Vec<u8>> = |_| Some(vec![7; 5]);
    for alter in [other, short] {
        let fault = desk.cache_by(1 << 30, alter).fetch(&sent).await.unwrap_err();
        assert!(matches!(fault, FileFault::Corrupt { .. }), "{fault}");
    }
    let fault = desk.cache_by(1 << 30, |_| None).fetch(&sent).await.unwrap_err();
    assert!(matches!(fault, FileFault::Missing { .. }), "{fault}");
}

#[tokio::test]
async fn a_full_cache_forgets_what_was_used_longest_ago_and_nothing_that_is_in_use() {
    let desk = Desk::new();
    let mut sent = Vec::new();
    for name in ["a", "b", "c"] {
        let bytes = [&content(), name.as_bytes()].concat();
        sent.push(desk.engine(name, &bytes, 0o644).await);
    }
    let small = || desk.cache_by(2_500_000, Some);
    let first = small().fetch(&sent[0]).await.unwrap();
    let second = small().fetch(&sent[1]).await.unwrap();
    // The first is used again, so the second is what was used longest ago.
    let old = std::time::SystemTime::UNIX_EPOCH;
    fs::File::open(second.with_extension("list")).unwrap().set_modified(old).unwrap();
    let cache = small();
    cache.fetch(&sent[0]).await.unwrap();
    let third = cache.fetch(&sent[2]).await.unwrap();
    assert!(first.exists() && third.exists() && !second.exists());
    let fault = cache.fetch(&sent[1]).await.unwrap_err();
    assert!(matches!(fault, FileFault::CacheFull { .. }), "{fault}");
    assert!(small().fetch(&sent[1]).await.is_ok(), "nothing is in use by a new worker");
}

#[tokio::test]
async fn a_link_that_an_engine_has_made_is_not_sent_whenever_it_was_made() {
    let desk = Desk::new();
    let (root, book) = (desk.path("engine"), desk.path("engine/book"));
    fs::create_dir_all(&root).unwrap();
    write(&desk.path("secret"), b"s", 0o600);
    symlink("../secret", &book).unwrap();
    let files = [("book".to_owned(), book.clone())];
    let foreign = platform::files::Foreign::new([&root]);
    let fault = desk.shelf.add_files(files.clone(), &foreign).await.unwrap_err().to_string();
    assert!(fault.contains("a link that leads out of a directory which the engine may write to"), "{fault}");
    // A link of the user's own is followed.
    assert!(desk.shelf.add_files(files, &platform::files::Foreign::default()).await.is_ok());
}
