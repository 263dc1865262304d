//! Delivery to a webhook: the notice is the body of a POST.

use std::time::Duration;
use ureq::Agent;

/// Most time for a request, with its answer.
const LIMIT: Duration = Duration::from_secs(10);

/// A URL that receives notices.
#[derive(Debug)]
pub struct Webhook {
    agent: Agent,
    url: String,
}

impl Webhook {
    /// A webhook.
    pub fn new(url: &str) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(LIMIT))
            .user_agent(concat!("renmei/", env!("CARGO_PKG_VERSION")));
        Self { agent: config.build().into(), url: url.to_owned() }
    }

    /// Sends a notice. Any status of success is a receipt.
    ///
    /// # Errors
    /// Why it was not received; the URL is not part of it, because it may hold a secret.
    pub fn deliver(&self, body: &str) -> Result<(), String> {
        let request = self.agent.post(&self.url).header("Content-Type", "application/json");
        match request.send(body) {
            Ok(_) => Ok(()),
            Err(ureq::Error::StatusCode(status)) => Err(format!("the server answers with status {status}")),
            Err(error) => Err(error.to_string()),
        }
    }
}
