//! The page with one rating over all events of an address.

use super::Rooms;
use crate::{layout::Page, refusals::Refusal, visitor::Visitor};
use axum::extract::State;
use maud::{Markup, html};
use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{sync::Mutex, task::spawn_blocking};

/// Least age of a ledger before another one is made.
const FRESH: Duration = Duration::from_secs(60);
/// A ledger is kept so many times as long as it took: its making has a twentieth of a core at most.
const SHARE: u32 = 20;

/// Makes the ledger of the events of an address: its sections, in the languages of [`words::Language::ALL`].
pub type MakeLedger = Box<dyn Fn() -> Result<Sections, Box<dyn Error + Send + Sync>> + Send + Sync>;

type Sections = [Markup; 2];

/// The ledger of the events, which is made when somebody asks for it.
pub(super) struct Ledger {
    make: Arc<MakeLedger>,
    /// The last one. One request makes it while others wait; the work itself holds the lock, so that requests which are
    /// dropped leave no second work beside it.
    kept: Arc<Mutex<Option<Kept>>>,
}

struct Kept {
    made: Instant,
    cost: Duration,
    sections: Sections,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").finish_non_exhaustive()
    }
}

impl Ledger {
    pub(super) fn new(make: MakeLedger) -> Self {
        Self { make: Arc::new(make), kept: Arc::default() }
    }

    async fn sections(&self) -> Result<Sections, Refusal> {
        let mut kept = self.kept.clone().lock_owned().await;
        let is_fresh = |kept: &&Kept| kept.made.elapsed() < FRESH.max(kept.cost * SHARE);
        if let Some(kept) = kept.as_ref().filter(is_fresh) {
            return Ok(kept.sections.clone());
        }
        let make = self.make.clone();
        let made = spawn_blocking(move || {
            let began = Instant::now();
            let sections = make()?;
            *kept = Some(Kept { made: Instant::now(), cost: began.elapsed(), sections: sections.clone() });
            Ok::<_, Box<dyn Error + Send + Sync>>(sections)
        });
        made.await.map_err(|fault| Refusal::fault(&fault))?.map_err(|fault| Refusal::fault(&fault))
    }
}

/// One rating over all events.
pub(super) async fn page(State(rooms): State<Arc<Rooms>>, visitor: Visitor) -> Result<Page, Refusal> {
    let words = visitor.language;
    let [english, japanese] = rooms.ledger.sections().await?;
    let content = html! {
        h1 { (words.ledger()) }
        p { a href="/" { (words.all_events()) } " · " (words.ledger_about()) }
        (words.pick(english, japanese))
    };
    Ok(Page::new(words.ledger(), "/ledger", content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    #[tokio::test]
    async fn visitors_who_come_and_go_begin_no_second_ledger_beside_the_first() {
        static RUNNING: AtomicU32 = AtomicU32::new(0);
        static MADE: AtomicU32 = AtomicU32::new(0);
        let ledger = Arc::new(Ledger::new(Box::new(|| {
            assert_eq!(RUNNING.fetch_add(1, SeqCst), 0, "one beside another");
            std::thread::sleep(Duration::from_millis(100));
            RUNNING.fetch_sub(1, SeqCst);
            MADE.fetch_add(1, SeqCst);
            Ok([html! { "rated" }, html! { "順位" }])
        })));
        for _ in 0..10 {
            let visitor = tokio::spawn({
                let ledger = ledger.clone();
                async move { ledger.sections().await.is_ok() }
            });
            tokio::time::sleep(Duration::from_millis(5)).await;
            visitor.abort();
        }
        assert!(ledger.sections().await.is_ok_and(|sections| sections[0].0 == "rated"));
        assert_eq!(MADE.load(SeqCst), 1, "a visitor who left has begun it, and the one who stays has it");
    }
}
