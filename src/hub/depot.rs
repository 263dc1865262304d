//! Files for workers, on the manager's side.

use crate::{HubError, Subjects};
use async_nats::{
    Client,
    jetstream::{self, Context, stream},
};
use tokio::sync::mpsc;

/// Files on the server that workers may read by their hash.
#[derive(Debug)]
pub struct Depot {
    context: Context,
    subjects: Subjects,
}

impl Depot {
    /// The depot of an event; its stream is made if there is none.
    pub(crate) async fn new(
        client: Client,
        subjects: Subjects,
        _restarts: mpsc::Receiver<()>,
    ) -> Result<Self, HubError> {
        let context = jetstream::new(client);
        let depot = Self { context, subjects };
        depot.make_stream().await?;
        Ok(depot)
    }

    async fn make_stream(&self) -> Result<(), HubError> {
        let config = stream::Config {
            name: self.subjects.file_stream(),
            subjects: vec![self.subjects.files()],
            max_messages_per_subject: 1,
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
