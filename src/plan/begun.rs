//! Defaults that were others when an event was begun.
//!
//! An event goes on as it was begun: where nobody has said anything, then or now, the games after an interruption are
//! played as those before it, whatever has become the default since.

use crate::{EnginePlan, Plan, StoredPlan};

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
        kept.extend(self.engines.iter_mut().filter_map(|engine| {
            engine.keep_defaults_of(begun).then(|| format!("`{}` runs in the current directory", engine.name))
        }));
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
