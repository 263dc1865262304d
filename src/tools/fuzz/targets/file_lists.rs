//! Lists of the files of an engine that a manager sends to its machines.

use crate::scratch::Scratch;
use machines::hub::{Cache, Pieces, TreeRef, sha256};
use serde_json::json;
use std::{fs, path::Path, sync::Arc};

/// Most bytes of a cache.
const CACHE: u64 = 1 << 20;

/// What a list names is made below the directory of the engine, and nowhere else. Only empty files can be fetched.
pub fn file_lists(data: &[u8]) {
    let place = Scratch::new();
    let (name, list) = (sha256(data), data.to_vec());
    let tree = json!({ "sha256": name, "bytes": data.len(), "executable": false });
    let tree: TreeRef = serde_json::from_value(tree).expect("it is the name of a list");
    let pieces: Pieces = Arc::new(move |file, piece| {
        let sent = (file == name && piece == 0).then(|| list.clone());
        Box::pin(async move { Ok(sent.map(Into::into)) })
    });
    let cache = Cache::at(&place.path("cache"), CACHE, pieces).expect("the directory can be made");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there is a runtime");
    if let Ok(made) = runtime.block_on(cache.fetch(&tree)) {
        assert!(made.starts_with(fs::canonicalize(place.path("cache")).expect("it is there")), "{made:?}");
        assert_eq!(bytes_below(&made), 0);
    }
    let beside: Vec<_> = fs::read_dir(place.path("")).into_iter().flatten().flatten().collect();
    assert_eq!(beside.len(), 1, "beside the cache: {beside:?}");
}

fn bytes_below(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => bytes_below(&entry.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        })
        .sum()
}
