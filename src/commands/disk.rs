//! The reserve of the disk, as its commands use it: what is watched, and who is told.

use super::Failure;
use arena::{
    Say,
    disk::{DiskNews, DiskWatch, watch},
    resting::RestingThread,
};
use journal::now;
use notify::Notifier;
use plan::NoticeKind;
use std::path::PathBuf;

/// Watches the disk where `places` are; each change is said, and told to whoever wants notices.
///
/// # Errors
/// When the system has no thread.
pub fn watched(
    places: Vec<PathBuf>,
    reserve_mb: u64,
    say: &Say,
    notifier: Option<&Notifier>,
) -> Result<(DiskWatch, RestingThread), Failure> {
    let (say, notifier) = (say.clone(), notifier.cloned());
    let tell = move |news: &DiskNews| {
        let text = news.to_string();
        say(&text);
        if let Some(notifier) = &notifier {
            notifier.tell(NoticeKind::Disk, now().unsigned_abs(), &text);
        }
    };
    watch(places, reserve_mb, tell).map_err(|error| Failure::Other(format!("the disk: {error}")))
}
