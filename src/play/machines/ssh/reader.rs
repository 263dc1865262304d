//! What comes from a stranger: lines at first, then frames, each bounded.

use crate::frame::{Frame, FrameFault, HEAD, Head};
use std::{io, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::timeout,
};

/// Most bytes of a line.
const LINE: usize = 4096;
/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// Reads lines and frames, and keeps no more than one of them and a chunk.
pub(super) struct Reader<R> {
    source: R,
    /// Bytes that were read; those before `at` are used up.
    kept: Vec<u8>,
    at: usize,
    /// Most time without a byte.
    patience: Duration,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub fn new(source: R, patience: Duration) -> Self {
        Self { source, kept: vec![], at: 0, patience }
    }

    /// The next line, without its end.
    pub async fn line(&mut self) -> Result<String, FrameFault> {
        loop {
            let rest = &self.kept[self.at..];
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8_lossy(&rest[..end]).trim_end_matches('\r').to_owned();
                self.at += end + 1;
                return Ok(line);
            }
            if rest.len() > LINE {
                return Err(other(format!("a line has more than {LINE} bytes")));
            }
            self.fill().await?;
        }
    }

    /// The next frame of a worker.
    pub async fn frame(&mut self) -> Result<Frame, FrameFault> {
        let head = loop {
            if let Some((head, _)) = self.kept[self.at..].split_first_chunk::<HEAD>() {
                break Head::read(*head, true)?;
            }
            self.fill().await?;
        };
        let Head { kind, number, length } = head;
        while self.kept.len() < self.at + HEAD + length {
            self.fill().await?;
        }
        let from = self.at + HEAD;
        let body = self.kept[from..from + length].to_vec();
        self.at = from + length;
        Ok(Frame { kind, number, body })
    }

    async fn fill(&mut self) -> Result<(), FrameFault> {
        self.kept.drain(..std::mem::take(&mut self.at));
        let before = self.kept.len();
        self.kept.resize(before + CHUNK, 0);
        let read = timeout(self.patience, self.source.read(&mut self.kept[before..])).await;
        let count = read.as_ref().map_or(0, |read| read.as_ref().map_or(0, |count| *count));
        self.kept.truncate(before + count);
        match read {
            Err(_) => Err(other(format!("nothing was heard for {} s", self.patience.as_secs()))),
            Ok(Err(why)) => Err(FrameFault::Io(why)),
            Ok(Ok(0)) => Err(FrameFault::Ended),
            Ok(Ok(_)) => Ok(()),
        }
    }
}

/// A fault in words of ours.
pub(super) fn other(why: String) -> FrameFault {
    FrameFault::Io(io::Error::other(why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Kind, LONGEST};

    const PATIENCE: Duration = Duration::from_millis(100);

    #[tokio::test]
    async fn lines_come_before_frames_and_both_are_read_as_they_were_sent_in_whatever_pieces() {
        let frame = Frame { kind: Kind::Result, number: 7, body: vec![b'x'; LONGEST] };
        let bytes = [b"Welcome to box2!\r\n\nrenmei\n", &frame.bytes()[..], &frame.bytes()].concat();
        let (mut far, near) = tokio::io::duplex(1000);
        let writing =
            tokio::spawn(async move { tokio::io::AsyncWriteExt::write_all(&mut far, &bytes).await });
        let mut reader = Reader::new(near, Duration::from_secs(60));
        assert_eq!(reader.line().await.unwrap(), "Welcome to box2!");
        assert_eq!(reader.line().await.unwrap(), "");
        assert_eq!(reader.line().await.unwrap(), "renmei");
        assert_eq!(reader.frame().await.unwrap(), frame);
        assert_eq!(reader.frame().await.unwrap(), frame);
        writing.await.unwrap().unwrap();
        assert!(matches!(reader.frame().await, Err(FrameFault::Ended)));
    }

    #[tokio::test]
    async fn endless_bytes_without_a_newline_end_the_connection_and_are_not_kept() {
        let mut reader = Reader::new(tokio::io::repeat(b'x'), PATIENCE);
        assert!(reader.line().await.unwrap_err().to_string().contains("more than 4096 bytes"));
        assert!(reader.kept.len() <= LINE + 2 * CHUNK);
    }

    #[tokio::test]
    async fn noise_in_place_of_a_frame_ends_the_connection() {
        let mut reader = Reader::new(tokio::io::repeat(b'x'), PATIENCE);
        assert!(matches!(reader.frame().await, Err(FrameFault::Long(_))));
        let mut reader = Reader::new(tokio::io::repeat(0), PATIENCE);
        assert!(matches!(reader.frame().await, Err(FrameFault::Kind(0))));
    }

    #[tokio::test]
    async fn silence_ends_the_connection_also_in_the_middle_of_a_frame() {
        let (mut far, near) = tokio::io::duplex(1000);
        let half = &Frame { kind: Kind::Beat, number: 7, body: vec![1; 100] }.bytes()[..50];
        tokio::io::AsyncWriteExt::write_all(&mut far, half).await.unwrap();
        let mut reader = Reader::new(near, PATIENCE);
        assert!(reader.frame().await.unwrap_err().to_string().contains("nothing was heard"));
    }
}
