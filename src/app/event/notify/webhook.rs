//! Delivery to a webhook: the notice is the body of a POST.

use super::channel::NotReceived;
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
    pub fn new(url: &str) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(LIMIT))
            // A client that follows a redirection may turn the POST into a GET without the notice.
            .max_redirects(0)
            .user_agent(concat!("renmei/", env!("CARGO_PKG_VERSION")));
        Self { agent: config.build().into(), url: url.to_owned() }
    }

    /// Sends a notice. A status of success is the receipt; redirections are not followed and count as failures.
    pub fn deliver(&self, body: &str) -> Result<(), NotReceived> {
        let request = self.agent.post(&self.url).header("Content-Type", "application/json");
        match request.send(body) {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) if answer.status().is_redirection() => {
                Err(NotReceived::Redirected(answer.status().as_u16()))
            }
            Ok(answer) => Err(NotReceived::Status(answer.status().as_u16())),
            Err(ureq::Error::StatusCode(status)) => Err(NotReceived::Status(status)),
            Err(error) => Err(error.into()),
        }
    }
}
