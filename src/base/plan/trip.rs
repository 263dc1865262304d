//! Trips: what makes the name of a player recognisable, and reveals nothing of its secret.
//!
//! The trip is the argon2id hash of the secret, keyed with a random key of the host's and salted with the name. Who sees
//! trips cannot try secrets, because the key is not known. Who has the key as well, for example with a copy of the
//! database, tries each secret for each name at the price of a slow hash. One secret gives two names different trips.

use std::cell::RefCell;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use referee::sink::TripKey;

/// Memory of the hash, in KiB. Less than for an account: a host hashes once for every new player of a league.
const MEMORY: u32 = 4096;
/// Bytes of a trip. It is shorter than the MD5 of shogi-server, so that the two cannot be mistaken for each other.
const BYTES: usize = 12;

thread_local! {
    /// The memory of the hash, kept by the thread that makes trips: fetching it anew costs up to a quarter of a hash.
    static BLOCKS: RefCell<Vec<Block>> = const { RefCell::new(vec![]) };
}

/// The trip of a name with a secret, in hexadecimal digits; `None` for a secret that is too long to be hashed.
pub fn trip(TripKey(key): &TripKey, name: &str, secret: &str) -> Option<String> {
    let params = Params::new(MEMORY, 1, 1, Some(BYTES)).ok()?;
    let hash = Argon2::new_with_secret(key, Algorithm::Argon2id, Version::V0x13, params).ok()?;
    let (salt, mut bytes) = (format!("renmei trip {name}"), [0; BYTES]);
    BLOCKS.with_borrow_mut(|blocks| {
        blocks.resize(hash.params().block_count(), Block::default());
        hash.hash_password_into_with_memory(secret.as_bytes(), salt.as_bytes(), &mut bytes, blocks).ok()
    })?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who has played under a trip is known by it: another trip for the same secret would be another player.
    #[test]
    fn a_trip_stays_the_same_from_version_to_version() {
        assert_eq!(trip(&TripKey([1; 32]), "kawa", "word").unwrap(), "26ff03079dffb60f0be50785");
    }

    #[test]
    fn a_trip_depends_on_the_key_the_name_and_the_secret() {
        let [one, two] = [TripKey([1; 32]), TripKey([2; 32])];
        let made = |key, name, secret| trip(key, name, secret).unwrap();
        assert_eq!(made(&one, "kawa", "word"), made(&one, "kawa", "word"));
        let others = [made(&two, "kawa", "word"), made(&one, "yama", "word"), made(&one, "kawa", "ward")];
        for other in others {
            assert_ne!(other, made(&one, "kawa", "word"));
            assert_eq!(other.len(), 24);
        }
    }
}
