//! What is made for the pages when somebody asks for it, and kept for a while.

use crate::refusals::Refusal;
use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{sync::Mutex, task::spawn_blocking};

/// What was made is kept so many times as long as it took: its making has a twentieth of a core at most.
const SHARE: u32 = 20;

/// Makes a value that takes time.
pub type Make<T> = Box<dyn Fn() -> Result<T, Box<dyn Error + Send + Sync>> + Send + Sync>;

/// A value that is made when somebody asks for it.
pub struct Made<T> {
    make: Arc<Make<T>>,
    /// Least age before another one is made.
    fresh: Duration,
    /// The last one. One request makes it while others wait; the work itself holds the lock, so that requests which are
    /// dropped leave no second work beside it.
    kept: Arc<Mutex<Option<Kept<T>>>>,
}

struct Kept<T> {
    made: Instant,
    cost: Duration,
    value: T,
}

impl<T> std::fmt::Debug for Made<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Made").finish_non_exhaustive()
    }
}

impl<T: Clone + Send + 'static> Made<T> {
    /// What `make` makes is `fresh` for so long at least.
    pub fn new(fresh: Duration, make: Make<T>) -> Self {
        Self { make: Arc::new(make), fresh, kept: Arc::default() }
    }

    /// The last value, or one that is made now.
    ///
    /// # Errors
    /// When it cannot be made.
    pub async fn value(&self) -> Result<T, Refusal> {
        let mut kept = self.kept.clone().lock_owned().await;
        let is_fresh = |kept: &&Kept<T>| kept.made.elapsed() < self.fresh.max(kept.cost * SHARE);
        if let Some(kept) = kept.as_ref().filter(is_fresh) {
            return Ok(kept.value.clone());
        }
        let make = self.make.clone();
        let made = spawn_blocking(move || {
            let began = Instant::now();
            let value = make()?;
            *kept = Some(Kept { made: Instant::now(), cost: began.elapsed(), value: value.clone() });
            Ok::<_, Box<dyn Error + Send + Sync>>(value)
        });
        made.await.map_err(|fault| Refusal::fault(&fault))?.map_err(|fault| Refusal::fault(&fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    #[tokio::test]
    async fn visitors_who_come_and_go_begin_no_second_ledger_beside_the_first() {
        static RUNNING: AtomicU32 = AtomicU32::new(0);
        static MADE: AtomicU32 = AtomicU32::new(0);
        let ledger = Arc::new(Made::new(
            Duration::from_secs(60),
            Box::new(|| {
                assert_eq!(RUNNING.fetch_add(1, SeqCst), 0, "one beside another");
                std::thread::sleep(Duration::from_millis(100));
                RUNNING.fetch_sub(1, SeqCst);
                MADE.fetch_add(1, SeqCst);
                Ok(["rated", "順位"])
            }),
        ));
        for _ in 0..10 {
            let visitor = tokio::spawn({
                let ledger = ledger.clone();
                async move { ledger.value().await.is_ok() }
            });
            tokio::time::sleep(Duration::from_millis(5)).await;
            visitor.abort();
        }
        assert!(ledger.value().await.is_ok_and(|made| made[0] == "rated"));
        assert_eq!(MADE.load(SeqCst), 1, "a visitor who left has begun it, and the one who stays has it");
    }
}
