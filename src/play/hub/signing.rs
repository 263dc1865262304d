//! Signed jobs: whoever may write to a worker's subject runs programs there, so a worker takes jobs of the manager alone.
//!
//! ```text
//! magic (4) | epoch (8) | number (8) | signature (64) | body
//! ```
//!
//! Signed are, besides these, the event, the worker, and the session of that worker: a job that was recorded is none for
//! another event, another worker, another start of that worker, an earlier start of the manager, or a second time.

use crate::{EventId, SignatureFault, WorkerId};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use std::{
    collections::BTreeSet,
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

const MAGIC: &[u8; 4] = b"RMJ1";
const HEADER: usize = 4 + 8 + 8 + 64;
/// Numbers that a worker remembers of one manager; a message that is older than all of them comes too late.
const REMEMBERED: usize = 1_024;

/// The address of all workers, and that of whoever asks to be let in.
const EVERYBODY: &str = "every worker....";
const JOINING: &str = "joining worker..";

/// For whom a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience<'a> {
    /// A worker, since its start in which it has drawn the number `session` and told it in its hello.
    Worker {
        /// The worker.
        id: &'a WorkerId,
        /// Drawn at random by each start of a worker.
        session: u64,
    },
    /// All workers of the event.
    Everybody,
}

impl Audience<'_> {
    /// 16 characters and a number: no identity of a worker, which is hexadecimal, is another address.
    fn address(&self) -> (&str, u64) {
        match self {
            Self::Worker { id, session } => (id.as_str(), *session),
            Self::Everybody => (EVERYBODY, 0),
        }
    }
}

/// Signs what the manager sends to workers.
pub struct Signer {
    key: Ed25519KeyPair,
    number: AtomicU64,
}

/// The public half of the key that signs jobs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct JobKey([u8; 32]);

/// What a worker knows to check messages with. One of these lives as long as the worker's session.
pub struct Verifier {
    key: JobKey,
    event: EventId,
    worker: WorkerId,
    session: u64,
    epoch: u64,
    seen: BTreeSet<u64>,
}

impl Signer {
    /// With a new key.
    #[must_use]
    pub fn random() -> Self {
        Self::from_seed(&rand::random())
    }

    /// With a key of 32 random bytes.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "a seed of 32 bytes is accepted")]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let key = Ed25519KeyPair::from_seed_unchecked(seed).expect("a seed has 32 bytes");
        Self { key, number: AtomicU64::new(0) }
    }

    /// The public half.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the length is fixed")]
    pub fn key(&self) -> JobKey {
        let public = self.key.public_key().as_ref();
        JobKey(public.try_into().expect("a public key has 32 bytes"))
    }

    /// A signed message. `epoch` is the number of the manager's start, raised by each.
    #[must_use]
    pub fn seal(&self, event: EventId, audience: Audience<'_>, epoch: u64, body: &[u8]) -> Vec<u8> {
        self.signed(event, audience.address(), epoch, body)
    }

    /// A signed answer to a worker that asked with this number to be let in.
    pub(crate) fn seal_answer(&self, event: EventId, nonce: u64, body: &[u8]) -> Vec<u8> {
        self.signed(event, (JOINING, nonce), 0, body)
    }

    fn signed(&self, event: EventId, address: (&str, u64), epoch: u64, body: &[u8]) -> Vec<u8> {
        let number = self.number.fetch_add(1, Ordering::Relaxed) + 1;
        let signed = signed_text(event, address, epoch, number, body);
        let signature = self.key.sign(&signed);
        [&MAGIC[..], &epoch.to_be_bytes(), &number.to_be_bytes(), signature.as_ref(), body].concat()
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({:?})", self.key())
    }
}

impl JobKey {
    /// The key with these bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Debug for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobKey({})", crate::hex::encode(&self.0[..4]))
    }
}

impl Verifier {
    /// For a worker in a session.
    #[must_use]
    pub fn new(key: JobKey, event: EventId, worker: WorkerId, session: u64) -> Self {
        Self { key, event, worker, session, epoch: 0, seen: BTreeSet::new() }
    }

    /// The body of a message that came on the worker's own subject.
    ///
    /// # Errors
    /// When the manager has not signed it for this worker and session, or it came before, or a later start of the
    /// manager has written already. Nothing is remembered of a message that is refused.
    pub fn open<'m>(&mut self, message: &'m [u8]) -> Result<&'m [u8], SignatureFault> {
        let me = self.worker.clone();
        let session = self.session;
        self.check(Audience::Worker { id: &me, session }, message)
    }

    /// The body of a message that came on the subject of all.
    ///
    /// # Errors
    /// See [`Verifier::open`].
    pub fn open_for_all<'m>(&mut self, message: &'m [u8]) -> Result<&'m [u8], SignatureFault> {
        self.check(Audience::Everybody, message)
    }

    fn check<'m>(&mut self, audience: Audience<'_>, message: &'m [u8]) -> Result<&'m [u8], SignatureFault> {
        let (epoch, number, body) = proved(self.key, self.event, audience.address(), message)?;
        match epoch.cmp(&self.epoch) {
            std::cmp::Ordering::Less => {
                return Err(SignatureFault::OldEpoch { epoch, latest: self.epoch });
            }
            std::cmp::Ordering::Greater => self.seen.clear(),
            std::cmp::Ordering::Equal => {}
        }
        self.epoch = epoch;
        let is_full = self.seen.len() == REMEMBERED;
        let too_old = is_full && self.seen.first().is_some_and(|oldest| number < *oldest);
        if too_old || !self.seen.insert(number) {
            return Err(SignatureFault::Repeated { number });
        }
        if is_full {
            self.seen.pop_first();
        }
        Ok(body)
    }
}

/// The body of an answer to a worker that asked with this number to be let in.
pub(crate) fn open_answer(
    key: JobKey,
    event: EventId,
    nonce: u64,
    message: &[u8],
) -> Result<&[u8], SignatureFault> {
    proved(key, event, (JOINING, nonce), message).map(|(_, _, body)| body)
}

/// Epoch, number and body of a message, if it was signed with this key for this address.
fn proved<'m>(
    key: JobKey,
    event: EventId,
    address: (&str, u64),
    message: &'m [u8],
) -> Result<(u64, u64, &'m [u8]), SignatureFault> {
    let (header, body) = message.split_at_checked(HEADER).ok_or(SignatureFault::Unsigned)?;
    let (magic, header) = header.split_at(4);
    if magic != MAGIC {
        return Err(SignatureFault::Unsigned);
    }
    let (epoch, number, signature) = (number_at(header, 0), number_at(header, 8), &header[16..]);
    let signed = signed_text(event, address, epoch, number, body);
    let key = UnparsedPublicKey::new(&ED25519, key.0);
    key.verify(&signed, signature).map_err(|_| SignatureFault::Forged)?;
    Ok((epoch, number, body))
}

fn number_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// What is signed: every field has a fixed length but the last, so that no two messages have the same text.
fn signed_text(event: EventId, (to, session): (&str, u64), epoch: u64, number: u64, body: &[u8]) -> Vec<u8> {
    debug_assert_eq!(to.len(), 16);
    let mut text = Vec::with_capacity(80 + body.len());
    text.extend_from_slice(b"renmei job 1\n");
    text.extend(event.bytes());
    text.extend_from_slice(to.as_bytes());
    text.extend(session.to_be_bytes());
    text.extend(epoch.to_be_bytes());
    text.extend(number.to_be_bytes());
    text.extend_from_slice(body);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> EventId {
        EventId::from_bytes([1; 16])
    }

    fn worker(name: &str) -> WorkerId {
        WorkerId::of(name)
    }

    fn verifier(signer: &Signer, name: &str, session: u64) -> Verifier {
        Verifier::new(signer.key(), event(), worker(name), session)
    }

    fn sealed(signer: &Signer, name: &str, session: u64, epoch: u64) -> Vec<u8> {
        signer.seal(event(), Audience::Worker { id: &worker(name), session }, epoch, b"play")
    }

    #[test]
    fn a_signed_job_is_opened_once() {
        let signer = Signer::random();
        let mut verifier = verifier(&signer, "a", 5);
        let message = sealed(&signer, "a", 5, 1);
        assert_eq!(verifier.open(&message).unwrap(), b"play");
        assert!(matches!(verifier.open(&message), Err(SignatureFault::Repeated { .. })));
    }

    #[test]
    fn a_job_without_a_signature_is_refused() {
        let signer = Signer::random();
        let mut verifier = verifier(&signer, "a", 5);
        for message in [&b""[..], b"play", &[b'x'; 500], &MAGIC[..]] {
            assert_eq!(verifier.open(message), Err(SignatureFault::Unsigned));
        }
    }

    #[test]
    fn a_job_that_is_altered_in_any_byte_is_refused() {
        let signer = Signer::random();
        let message = sealed(&signer, "a", 5, 1);
        for at in 0..message.len() {
            let mut altered = message.clone();
            altered[at] ^= 1;
            assert!(verifier(&signer, "a", 5).open(&altered).is_err(), "altered at {at}");
        }
    }

    #[test]
    fn a_job_signed_with_another_key_is_refused() {
        let message = sealed(&Signer::random(), "a", 5, 1);
        assert_eq!(verifier(&Signer::random(), "a", 5).open(&message), Err(SignatureFault::Forged));
    }

    #[test]
    fn a_job_is_refused_by_another_worker_another_session_another_event_and_on_the_subject_of_all() {
        let signer = Signer::random();
        let message = sealed(&signer, "a", 5, 1);
        assert!(verifier(&signer, "b", 5).open(&message).is_err());
        assert!(verifier(&signer, "a", 6).open(&message).is_err());
        assert!(verifier(&signer, "a", 5).open_for_all(&message).is_err());
        let other = EventId::from_bytes([2; 16]);
        let mut elsewhere = Verifier::new(signer.key(), other, worker("a"), 5);
        assert!(elsewhere.open(&message).is_err());
    }

    #[test]
    fn a_job_of_an_earlier_start_of_the_manager_is_refused_after_a_later_one_has_written() {
        let signer = Signer::random();
        let mut verifier = verifier(&signer, "a", 5);
        let (first, second) = (sealed(&signer, "a", 5, 1), sealed(&signer, "a", 5, 2));
        verifier.open(&second).unwrap();
        assert_eq!(verifier.open(&first), Err(SignatureFault::OldEpoch { epoch: 1, latest: 2 }));
    }

    #[test]
    fn jobs_may_overtake_each_other_but_none_is_opened_twice_after_thousands() {
        let signer = Signer::random();
        let mut verifier = verifier(&signer, "a", 5);
        let messages: Vec<_> = (0..2_000).map(|_| sealed(&signer, "a", 5, 1)).collect();
        for pair in messages.chunks(2) {
            verifier.open(&pair[1]).unwrap();
            verifier.open(&pair[0]).unwrap();
        }
        assert!(messages.iter().all(|message| verifier.open(message).is_err()));
        assert!(verifier.seen.len() <= REMEMBERED);
    }

    #[test]
    fn a_message_for_all_is_opened_by_every_worker() {
        let signer = Signer::random();
        let message = signer.seal(event(), Audience::Everybody, 1, b"stop");
        assert_eq!(verifier(&signer, "a", 5).open_for_all(&message).unwrap(), b"stop");
        assert_eq!(verifier(&signer, "b", 6).open_for_all(&message).unwrap(), b"stop");
        assert!(verifier(&signer, "a", 5).open(&message).is_err());
    }
}
