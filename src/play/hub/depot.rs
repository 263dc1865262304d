//! Files for workers, on the manager's side: pieces in a stream of the server, named by the hash of the whole.
//!
//! ```text
//! renmei.EVENT.file.SHA256.0, .1, .2 ...     512 kB each
//! renmei.EVENT.file.SHA256.complete          written last
//! ```
//!
//! This is no object store of the client library, because reading one takes the right to make consumers: whoever has it may
//! have the server write into any subject. A piece is read by its name, and that is all a worker may do.

use crate::{
    FileFault, FileRef, HubError, Sha256Sum, Shelf, Subjects, TreeRef,
    file_ref::PIECE,
    shelf::{self, Content},
};
use async_nats::{
    Client,
    jetstream::{
        self, Context, ErrorCode,
        context::{GetStreamErrorKind, PublishAckFuture},
        stream::{self, LastRawMessageErrorKind},
    },
};
use bytes::Bytes;
use platform::{content, files::Foreign};
use sha2::{Digest, Sha256};
use std::{
    collections::VecDeque,
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::sync::mpsc;

/// Pieces on their way at once.
const IN_FLIGHT: usize = 8;
/// How long the server has to keep a piece.
const PATIENCE: Duration = Duration::from_secs(60);

/// Files on the server that workers may read by their hash.
#[derive(Clone, Debug)]
pub struct Depot {
    context: Context,
    subjects: Subjects,
    /// What its stream may keep, in bytes; none: whatever the server lets this user keep.
    most_bytes: Option<i64>,
    /// What was sent, to be sent again if the server has lost it.
    shelf: Shelf,
}

impl Depot {
    /// The depot of an event; its stream is made if there is none. Each word on `restarts` has it look whether the server
    /// still has everything.
    pub(crate) async fn new(
        client: Client,
        subjects: Subjects,
        most_bytes: Option<i64>,
        mut restarts: mpsc::Receiver<()>,
    ) -> Result<Self, HubError> {
        let context = jetstream::context::ContextBuilder::new().timeout(PATIENCE).build(client);
        let depot = Self { context, subjects, most_bytes, shelf: Shelf::default() };
        depot.make_stream().await?;
        let again = depot.clone();
        tokio::spawn(async move {
            while restarts.recv().await.is_some() {
                if let Err(fault) = again.restore().await {
                    tracing::warn!(target: "hub", "{fault}");
                }
            }
        });
        Ok(depot)
    }

    /// The files that were sent.
    #[must_use]
    pub fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// Sends a file, unless the server has it. It must stay where it is: a server that lost its store gets it again.
    ///
    /// # Errors
    /// When it is too large, cannot be read, is altered meanwhile, or the server does not keep it.
    pub async fn put(&self, path: &Path) -> Result<FileRef, FileFault> {
        let (file, content) = shelf::look_at(path, &Foreign::default()).await?;
        self.send(file, content).await
    }

    /// Sends files, and a list of them as those of a directory, each with its path below it. No link leads out of what is
    /// foreign.
    ///
    /// # Errors
    /// When there are too many, a path leads out of the directory, or a file cannot be sent.
    pub async fn put_files(
        &self,
        found: impl IntoIterator<Item = (String, PathBuf)>,
        foreign: &Foreign,
    ) -> Result<TreeRef, FileFault> {
        let (files, tree) = shelf::list(found, foreign).await?;
        for (file, content) in files {
            self.send(file, content).await?;
        }
        Ok(tree)
    }

    /// Sends again what the server has lost.
    async fn restore(&self) -> Result<(), FileFault> {
        self.make_stream().await.map_err(|error| server_fault(&error))?;
        for (file, content) in self.shelf.all() {
            self.send(file, content).await?;
        }
        Ok(())
    }

    async fn send(&self, file: FileRef, content: Content) -> Result<FileRef, FileFault> {
        if !self.has(&file).await? {
            let (pieces_in, mut pieces) = mpsc::channel(2);
            let source = content.clone();
            let reader = tokio::task::spawn_blocking(move || read_pieces(&source, &pieces_in));
            let sent = self.send_pieces(&file, &mut pieces).await;
            drop(pieces);
            let found = reader.await.map_err(|error| server_fault(&error))?;
            sent?;
            if found? != file.sha256 {
                return Err(FileFault::Altered { path: content.path() });
            }
            let ack = self.publish(self.complete(&file), Bytes::new()).await?;
            settle(ack).await?;
        }
        self.shelf.add(file, content);
        Ok(file)
    }

    async fn send_pieces(&self, file: &FileRef, pieces: &mut mpsc::Receiver<Bytes>) -> Result<(), FileFault> {
        let mut on_their_way = VecDeque::new();
        let mut number = 0;
        while let Some(piece) = pieces.recv().await {
            if on_their_way.len() == IN_FLIGHT
                && let Some(ack) = on_their_way.pop_front()
            {
                settle(ack).await?;
            }
            let subject = self.subjects.file_piece(&file.sha256.to_string(), number);
            on_their_way.push_back(self.publish(subject, piece).await?);
            number += 1;
        }
        for ack in on_their_way {
            settle(ack).await?;
        }
        Ok(())
    }

    async fn publish(&self, subject: String, bytes: Bytes) -> Result<PublishAckFuture, FileFault> {
        self.context.publish(subject, bytes).await.map_err(|error| server_fault(&error))
    }

    /// Whether the server has all of a file.
    async fn has(&self, file: &FileRef) -> Result<bool, FileFault> {
        let stream = match self.context.get_stream(self.subjects.file_stream()).await {
            Ok(stream) => stream,
            Err(error) if is_missing(error.kind()) => {
                self.make_stream().await.map_err(|error| server_fault(&error))?;
                return Ok(false);
            }
            Err(error) => return Err(server_fault(&error)),
        };
        match stream.get_last_raw_message_by_subject(&self.complete(file)).await {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), LastRawMessageErrorKind::NoMessageFound) => Ok(false),
            Err(error) => Err(server_fault(&error)),
        }
    }

    fn complete(&self, file: &FileRef) -> String {
        self.subjects.file_complete(&file.sha256.to_string())
    }

    async fn make_stream(&self) -> Result<(), HubError> {
        let config = stream::Config {
            name: self.subjects.file_stream(),
            subjects: vec![self.subjects.files()],
            max_messages_per_subject: 1,
            max_bytes: self.most_bytes.unwrap_or(-1),
            // A piece of another file is never dropped for a new one.
            discard: stream::DiscardPolicy::New,
            allow_direct: true,
            ..Default::default()
        };
        self.context.get_or_create_stream(config).await.map(|_| ()).map_err(|error| HubError::NoJetStream {
            address: "the hub".to_owned(),
            cause: error.to_string(),
        })
    }
}

fn is_missing(kind: GetStreamErrorKind) -> bool {
    matches!(kind, GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

async fn settle(ack: PublishAckFuture) -> Result<(), FileFault> {
    ack.await.map(|_| ()).map_err(|error| server_fault(&error))
}

fn server_fault(error: &dyn std::error::Error) -> FileFault {
    let source = error.source().map(|source| format!(" ({source})")).unwrap_or_default();
    FileFault::Server { doing: "sent", cause: format!("{error}{source}") }
}

/// What waits for the disk, apart from what waits for the network.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileFault> + Send + 'static,
) -> Result<T, FileFault> {
    tokio::task::spawn_blocking(work).await.map_err(|error| server_fault(&error))?
}

/// The error of a file here.
pub(crate) fn io_fault(path: &Path) -> impl Fn(io::Error) -> FileFault + Copy + '_ {
    move |source| FileFault::Io { path: path.to_path_buf(), source }
}

/// Hash and size of what can be read.
pub(crate) fn hash(source: &mut impl Read) -> io::Result<(Sha256Sum, u64)> {
    content::sha256(source).map(|(hash, bytes)| (Sha256Sum(hash), bytes))
}

/// Reads a content piece by piece; returns the hash of what it read.
fn read_pieces(content: &Content, pieces: &mpsc::Sender<Bytes>) -> Result<Sha256Sum, FileFault> {
    let path = content.path();
    let failed = io_fault(&path);
    let mut source = content.open().map_err(failed)?;
    let mut hasher = Sha256::new();
    loop {
        let mut piece = Vec::new();
        source.by_ref().take(PIECE).read_to_end(&mut piece).map_err(failed)?;
        hasher.update(&piece);
        // Whoever sends them may have given up.
        if piece.is_empty() || pieces.blocking_send(piece.into()).is_err() {
            return Ok(Sha256Sum(hasher.finalize().into()));
        }
    }
}
