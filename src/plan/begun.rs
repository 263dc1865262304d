//! Defaults that were others when an event was begun.
//!
//! An event goes on as it was begun: where nobody has said anything, then or now, the games after an interruption are
//! played as those before it, whatever has become the default since.

use crate::{EnginePlan, MARGIN, Plan, StoredPlan};
use std::time::Duration;

impl Plan {
    /// Takes over what a default was when the event was begun. What that is, in words.
    pub fn keep_defaults_of(&mut self, begun: &StoredPlan) -> Vec<String> {
        let mut kept = Vec::new();
        if self.openings.as_ref().is_some_and(|openings| openings.by_default) && !begun.has_openings() {
            self.openings = None;
            kept.push("its games begin from the start position".to_owned());
        }
        if !self.fault_limit_given {
            self.fault_limit = begun.fault_limit;
        }
        kept.extend(self.keep_margins(begun).map(|margin| {
            let (margin, now) = (margin.as_millis(), MARGIN.as_millis());
            format!("its margin stays {margin} ms; new events have {now} ms unless `margin` says otherwise")
        }));
        kept.extend(self.engines.iter_mut().filter_map(|engine| {
            engine.keep_defaults_of(begun).then(|| format!("`{}` runs in the current directory", engine.name))
        }));
        kept
    }

    /// Takes over margins that nobody has given. The first that changes so.
    fn keep_margins(&mut self, begun: &StoredPlan) -> Option<Duration> {
        let mut kept = None;
        for engine in self.engines.iter_mut().filter(|engine| !engine.margin_given) {
            let stored = begun.engines.iter().find(|stored| stored.name == engine.name);
            for (clock, stored) in
                engine.clocks.iter_mut().zip(stored.iter().flat_map(|stored| &stored.clocks))
            {
                let kept = clock.times.iter_mut().zip(&stored.times).filter(|_| !clock.margin_given);
                kept.for_each(|(time, stored)| time.margin = stored.margin);
            }
            let Some(margin) = stored.and_then(|stored| stored.time).map(|time| time.margin) else {
                continue;
            };
            if engine.time.margin != margin {
                engine.time.margin = margin;
                kept.get_or_insert(margin);
            }
        }
        kept
    }
}

impl EnginePlan {
    /// Takes over what a default was when the event was begun; an engine that it did not have is left as it is. Whether
    /// that is another than today.
    pub fn keep_defaults_of(&mut self, begun: &StoredPlan) -> bool {
        let keeps = self.directory.is_some()
            && self.directory_by_default
            && begun.has_directory(&self.name) == Some(false);
        if keeps {
            self.directory = None;
        }
        keeps
    }
}
