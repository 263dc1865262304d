//! Frames: what manager and worker say to each other over a pipe, such as the standard input and output of `ssh`.
//!
//! ```text
//! length of the body   4 bytes, the highest first; at most LONGEST
//! kind                 1 byte
//! number               4 bytes: that of a question, which its answer repeats; 0 otherwise
//! body                 JSON, but for pieces of files
//! ```
//!
//! Each side takes the frames of the other as a stranger's: a length or a kind that cannot be ends the connection, and nothing
//! longer than [`LONGEST`] is ever kept.

use crate::wire::BOARD;
use hub::{LONGEST_MESSAGE, Sha256Sum};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};

/// Version of the frames, and of the dialogue before the first one.
pub const VERSION: u32 = 1;
/// Most bytes of a body.
pub const LONGEST: usize = LONGEST_MESSAGE;
/// Bytes before a body.
pub const HEAD: usize = 9;
/// Bytes of a request for a piece of a file: its hash and a number.
const FETCH: usize = 40;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident = $byte:literal,)*) => {
        /// What a frame is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($(#[doc = $doc])* $kind = $byte,)*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];
        }
    };
}

kinds! {
    /// Worker: a question `hello`.
    Hello = 1,
    /// Worker: a question `beat`.
    Beat = 2,
    /// Worker: a question `told`.
    Told = 3,
    /// Worker: a question `words`.
    Words = 4,
    /// Worker: a question `back`.
    Back = 5,
    /// Worker: a question `result`.
    Result = 6,
    /// Worker: a board, which is not answered.
    Board = 7,
    /// Worker: asks for a piece of a file, by its SHA-256 (32 bytes) and its number (8 bytes, the highest first).
    Fetch = 8,
    /// Worker: it is there. Answered by [`Kind::Pong`].
    Ping = 9,
    /// Manager: who the worker is; its first frame.
    Begin = 64,
    /// Manager: the answer to a question.
    Answer = 65,
    /// Manager: a job.
    Job = 66,
    /// Manager: an order to this worker.
    Order = 67,
    /// Manager: an order to all workers.
    OrderAll = 68,
    /// Manager: a piece of a file.
    Piece = 69,
    /// Manager: there is no such piece.
    NoPiece = 70,
    /// Manager: the answer to [`Kind::Ping`].
    Pong = 71,
    /// Manager: this connection ends for good; nothing is to stay on the machine.
    Bye = 72,
}

impl Kind {
    /// The kind of a question by the name that it has among messages.
    #[must_use]
    pub fn question(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == Some(name))
    }

    /// The name of a question among messages.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Hello => Some("hello"),
            Self::Beat => Some("beat"),
            Self::Told => Some("told"),
            Self::Words => Some("words"),
            Self::Back => Some("back"),
            Self::Result => Some("result"),
            _ => None,
        }
    }

    /// Most bytes of a body of this kind. What no budget counts is short.
    #[must_use]
    pub fn longest(self) -> usize {
        match self {
            Self::Ping => 0,
            Self::Fetch => FETCH,
            Self::Board => BOARD,
            _ => LONGEST,
        }
    }

    /// True for the kinds that a worker sends.
    #[must_use]
    pub fn is_of_worker(self) -> bool {
        (self as u8) < Self::Begin as u8
    }
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is.
    pub kind: Kind,
    /// The number of a question.
    pub number: u32,
    /// The rest.
    pub body: Vec<u8>,
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// What the frame is.
    pub kind: Kind,
    /// The number of a question.
    pub number: u32,
    /// Bytes that follow.
    pub length: usize,
}

/// Why bytes are no frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameFault {
    /// The other side has ended.
    #[error("the connection ended")]
    Ended,
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// No kind has this number.
    #[error("a frame is of the unknown kind {0}")]
    Kind(u8),
    /// A kind that this side does not send.
    #[error("a frame `{0:?}` came from the wrong side")]
    Side(Kind),
    /// The body is longer than any.
    #[error("a frame has {0} bytes, more than {LONGEST}")]
    Long(usize),
    /// The body is longer than those of its kind.
    #[error("a frame `{0:?}` has {1} bytes, more than {most}", most = .0.longest())]
    Longer(Kind, usize),
}

impl Head {
    /// Reads the head of a frame that comes from a worker, or from a manager.
    ///
    /// # Errors
    /// When there is no such frame.
    pub fn read(bytes: [u8; HEAD], of_worker: bool) -> Result<Self, FrameFault> {
        let [a, b, c, d, kind, e, f, g, h] = bytes;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > LONGEST {
            return Err(FrameFault::Long(length));
        }
        let found = Kind::ALL.iter().copied().find(|known| *known as u8 == kind);
        let kind = found.ok_or(FrameFault::Kind(kind))?;
        if kind.is_of_worker() != of_worker {
            return Err(FrameFault::Side(kind));
        }
        if length > kind.longest() {
            return Err(FrameFault::Longer(kind, length));
        }
        Ok(Self { kind, number: u32::from_be_bytes([e, f, g, h]), length })
    }
}

impl Frame {
    /// A frame with a JSON body; `None` if it is too long to be sent.
    #[must_use]
    pub fn json(kind: Kind, number: u32, body: &impl Serialize) -> Option<Self> {
        let body = serde_json::to_vec(body).ok()?;
        (body.len() <= LONGEST).then_some(Self { kind, number, body })
    }

    /// A frame without a body.
    #[must_use]
    pub fn bare(kind: Kind, number: u32) -> Self {
        Self { kind, number, body: vec![] }
    }

    /// A request for a piece of a file.
    #[must_use]
    pub fn fetch(number: u32, sha256: Sha256Sum, piece: u64) -> Self {
        let body = [&sha256.bytes()[..], &piece.to_be_bytes()].concat();
        Self { kind: Kind::Fetch, number, body }
    }

    /// The file and the number of the piece that a [`Kind::Fetch`] asks for.
    #[must_use]
    pub fn fetched(&self) -> Option<(Sha256Sum, u64)> {
        let (sha256, piece) = self.body.split_at_checked(32)?;
        Some((Sha256Sum::from_bytes(sha256.try_into().ok()?), u64::from_be_bytes(piece.try_into().ok()?)))
    }

    /// The frame as it is sent.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let length = u32::try_from(self.body.len()).unwrap_or(u32::MAX);
        let mut bytes = Vec::with_capacity(HEAD + self.body.len());
        bytes.extend(length.to_be_bytes());
        bytes.push(self.kind as u8);
        bytes.extend(self.number.to_be_bytes());
        bytes.extend(&self.body);
        bytes
    }

    /// Reads a frame of a manager, as a worker.
    ///
    /// # Errors
    /// When there is none.
    pub fn read_from(source: &mut impl Read) -> Result<Self, FrameFault> {
        let mut head = [0; HEAD];
        let whole = |read: io::Result<()>| {
            read.map_err(|why| match why.kind() {
                io::ErrorKind::UnexpectedEof => FrameFault::Ended,
                _ => FrameFault::Io(why),
            })
        };
        whole(source.read_exact(&mut head))?;
        let Head { kind, number, length } = Head::read(head, false)?;
        let mut body = vec![0; length];
        whole(source.read_exact(&mut body))?;
        Ok(Self { kind, number, body })
    }
}

/// Who a worker at the end of a pipe is: the first frame of its manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// The event on the wire.
    pub event: hub::EventId,
    /// Its name on the wire.
    pub worker: hub::WorkerId,
    /// Its name for people.
    pub name: String,
    /// The number of this start.
    pub session: u64,
    /// Pairs at once; `None`: as many as the cores carry.
    pub slots: Option<usize>,
    /// True if to play even if the engines need more cores than the machine has.
    pub oversubscribe: bool,
    /// Seconds for which answers and files are kept after the connection broke.
    pub keep: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Frame, FrameFault> {
        Frame::read_from(&mut &bytes[..])
    }

    #[test]
    fn a_frame_is_read_as_it_was_sent_and_nothing_behind_it() {
        let frame = Frame { kind: Kind::Answer, number: 0xDEAD_BEEF, body: b"{}".to_vec() };
        let two = [frame.bytes(), Frame::bare(Kind::Pong, 0).bytes()].concat();
        let mut source = &two[..];
        assert_eq!(Frame::read_from(&mut source).unwrap(), frame);
        assert_eq!(Frame::read_from(&mut source).unwrap(), Frame::bare(Kind::Pong, 0));
        assert!(matches!(Frame::read_from(&mut source), Err(FrameFault::Ended)));
        assert!(matches!(read(&two[..HEAD + 1]), Err(FrameFault::Ended)), "half a frame");
    }

    #[test]
    fn a_length_that_no_frame_has_is_refused_before_anything_is_kept() {
        let mut bytes = Frame::bare(Kind::Job, 1).bytes();
        bytes[..4].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(matches!(read(&bytes), Err(FrameFault::Long(_))));
        let long = Frame { body: vec![0; LONGEST + 1], ..Frame::bare(Kind::Job, 1) };
        assert!(matches!(read(&long.bytes()), Err(FrameFault::Long(_))));
        assert!(Frame::json(Kind::Job, 1, &"x".repeat(LONGEST)).is_none());
    }

    #[test]
    fn what_no_budget_counts_is_short() {
        for (kind, most) in [(Kind::Ping, 0), (Kind::Fetch, 40), (Kind::Board, BOARD)] {
            let head = |length: usize| {
                let mut bytes = Frame::bare(kind, 1).bytes();
                bytes[..4].copy_from_slice(&u32::try_from(length).unwrap().to_be_bytes());
                Head::read(bytes.try_into().unwrap(), true)
            };
            assert_eq!(head(most).unwrap().length, most);
            assert!(matches!(head(most + 1), Err(FrameFault::Longer(of, _)) if of == kind));
        }
    }

    #[test]
    fn a_kind_that_nobody_or_only_the_other_side_sends_is_refused() {
        let mut bytes = Frame::bare(Kind::Pong, 0).bytes();
        for kind in (0..=u8::MAX).filter(|kind| Kind::ALL.iter().all(|known| *known as u8 != *kind)) {
            bytes[4] = kind;
            assert!(matches!(read(&bytes), Err(FrameFault::Kind(found)) if found == kind));
        }
        assert!(matches!(read(&Frame::bare(Kind::Hello, 1).bytes()), Err(FrameFault::Side(Kind::Hello))));
        let head = Frame::bare(Kind::Job, 1).bytes().try_into().unwrap();
        assert!(matches!(Head::read(head, true), Err(FrameFault::Side(Kind::Job))));
    }

    #[test]
    fn questions_have_the_names_of_messages_and_a_piece_is_asked_for_by_hash_and_number() {
        assert_eq!(Kind::question("beat"), Some(Kind::Beat));
        assert_eq!(Kind::question("job"), None);
        let (sha256, piece) = (Sha256Sum::of(b"x"), 1 << 40);
        let fetch = Frame::fetch(3, sha256, piece);
        assert_eq!(fetch.fetched(), Some((sha256, piece)));
        for wrong in [0, 31, 32, 39, 41] {
            assert_eq!(Frame { body: vec![0; wrong], ..fetch.clone() }.fetched(), None);
        }
    }
}
