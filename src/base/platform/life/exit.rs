//! The end of a process, to be awaited.

use super::Ending;
use tokio::sync::oneshot;

/// The end of a process; it can be awaited again and again.
#[derive(Debug)]
pub struct Exit {
    told: oneshot::Receiver<Ending>,
    ending: Option<Ending>,
    /// Resolves when everything else that the process started has ended, too, or is given up.
    cleared: Option<oneshot::Receiver<()>>,
}

impl Exit {
    /// The end of a process that has started nothing else, told by its sender; a dropped sender tells an unknown end.
    pub fn new(told: oneshot::Receiver<Ending>) -> Self {
        Self { told, ending: None, cleared: None }
    }

    /// As [`new`](Self::new), for a process with everything that it has started.
    #[cfg(any(target_os = "linux", windows))]
    pub(crate) fn with_tree(told: oneshot::Receiver<Ending>, cleared: oneshot::Receiver<()>) -> Self {
        Self { cleared: Some(cleared), ..Self::new(told) }
    }

    /// Resolves when the process has ended.
    pub async fn happened(&mut self) {
        if self.ending.is_none() {
            self.ending = Some((&mut self.told).await.unwrap_or(Ending::Unknown));
        }
    }

    /// Resolves when the process and everything that it started have ended. After some seconds, processes that the
    /// system does not end are given up.
    pub async fn of_all(&mut self) {
        self.happened().await;
        if let Some(cleared) = self.cleared.take() {
            let _given_up = cleared.await;
        }
    }

    /// How it ended; `None` before [`happened`](Self::happened) has resolved.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }
}
