//! Keys of a hub: made once, kept in its directory.

use crate::hub::{HubError, directory::Directory};
use nkeys::{KeyPair, KeyPairType};
use rcgen::{CertificateParams, DnType};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

const FILE: &str = "keys.json";
/// The server's certificate, and its private key.
pub(crate) const CERTIFICATE: &str = "certificate.pem";
pub(crate) const PRIVATE: &str = "private.pem";

/// The secrets of a hub. They are never printed.
#[derive(Serialize, Deserialize)]
pub(crate) struct Keys {
    join: [u8; 32],
    manager: [u8; 32],
    /// SHA-256 of the certificate.
    pub certificate: [u8; 32],
}

impl Keys {
    /// The keys of a directory; made if there are none.
    pub fn of(directory: &Directory) -> Result<Self, HubError> {
        let damaged = || HubError::Keys(directory.path(FILE));
        if let Some(bytes) = directory.read(FILE)? {
            let keys: Self = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
            let complete = directory.read(CERTIFICATE)?.is_some() && directory.read(PRIVATE)?.is_some();
            return if complete { Ok(keys) } else { Err(damaged()) };
        }
        let certificate = make_certificate(directory)?;
        let keys = Self { join: rand::random(), manager: rand::random(), certificate };
        // Last, so that whoever finds it finds all of them.
        directory.write(FILE, &serde_json::to_vec(&keys).map_err(|_| damaged())?)?;
        Ok(keys)
    }

    /// The private half of the key of whoever asks to join.
    pub fn join_secret(&self) -> [u8; 32] {
        self.join
    }

    /// The key of whoever asks to join.
    pub fn join(&self) -> UserKey {
        UserKey(self.join)
    }

    /// The manager's key.
    pub fn manager(&self) -> UserKey {
        UserKey(self.manager)
    }

    /// The key that asks the server to read its configuration again, in the account of the server itself.
    pub fn reload(&self) -> UserKey {
        let hash = Sha256::new().chain_update("renmei reload").chain_update(self.manager);
        UserKey(hash.finalize().into())
    }
}

/// A user's key on a server, an nkey.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct UserKey(pub [u8; 32]);

impl UserKey {
    /// A new one.
    pub fn random() -> Self {
        Self(rand::random())
    }

    /// The public half as text, `U...`.
    pub fn public(&self) -> String {
        self.pair().public_key()
    }

    /// The private half as text, `SU...`.
    pub fn seed(&self) -> String {
        self.pair().seed().expect("the pair was made of its seed")
    }

    /// The key whose private half was written as text.
    pub fn from_seed(text: &str) -> Option<Self> {
        let (_, seed) = nkeys::decode_seed(text.trim()).ok()?;
        let key = Self(seed);
        // A seed of another kind is another text.
        (key.seed() == text.trim()).then_some(key)
    }

    fn pair(&self) -> KeyPair {
        KeyPair::new_from_raw(KeyPairType::User, self.0).expect("a seed has 32 bytes")
    }
}

impl fmt::Debug for UserKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UserKey({})", self.public())
    }
}

/// True if a text is the public half of a user's key.
pub(crate) fn is_public(text: &str) -> bool {
    text.starts_with('U') && KeyPair::from_public_key(text).is_ok()
}

/// Makes the certificate of a server and writes it. It says nothing: what counts is its hash.
fn make_certificate(directory: &Directory) -> Result<[u8; 32], HubError> {
    let failed = |error: rcgen::Error| HubError::Certificate(error.to_string());
    let key = rcgen::KeyPair::generate().map_err(failed)?;
    let mut parameters = CertificateParams::new(vec!["renmei.invalid".to_owned()]).map_err(failed)?;
    parameters.distinguished_name.push(DnType::CommonName, "renmei");
    let certificate = parameters.self_signed(&key).map_err(failed)?;
    directory.write(PRIVATE, key.serialize_pem().as_bytes())?;
    directory.write(CERTIFICATE, certificate.pem().as_bytes())?;
    Ok(Sha256::digest(certificate.der()).into())
}
