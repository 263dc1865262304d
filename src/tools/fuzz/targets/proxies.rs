//! What a reverse proxy says of its client.

use notation::proxy::{client, missing};

/// Most bytes of a header.
const MAX_HEADER: usize = 2064;

/// The first bytes of a connection: whoever takes only what is missing never takes too much, and comes to an end.
pub fn proxies(data: &[u8]) {
    let mut taken = 0;
    while let Ok(more) = missing(&data[..taken]) {
        if more == 0 {
            let _refused_or_not = client(&data[..taken]);
            return;
        }
        taken += more;
        assert!(taken <= MAX_HEADER, "a header is bounded");
        if taken > data.len() {
            return;
        }
    }
}
