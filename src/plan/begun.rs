//! Defaults that were others when an event was begun.
//!
//! An event goes on as it was begun: where nobody has said anything, then or now, the games after an interruption are
//! played as those before it, whatever has become the default since.

use crate::{EnginePlan, Plan, StoredPlan};

impl Plan {
    /// Takes over what a default was when the event was begun.
    pub fn keep_defaults_of(&mut self, begun: &StoredPlan) {
        if self.openings.as_ref().is_some_and(|openings| openings.by_default) && !begun.has_openings() {
            self.openings = None;
        }
        if !self.fault_limit_given {
            self.fault_limit = begun.fault_limit;
        }
        for engine in &mut self.engines {
            engine.keep_defaults_of(begun);
        }
    }
}

impl EnginePlan {
    /// Takes over what a default was when the event was begun; an engine that it did not have is left as it is.
    pub fn keep_defaults_of(&mut self, begun: &StoredPlan) {
        if self.directory_by_default && begun.has_directory(&self.name) == Some(false) {
            self.directory = None;
        }
    }
}
