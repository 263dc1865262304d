//! The machines as screens and pages show them: a row of the database each, written where it has changed.

use super::{Act, Manager};
use crate::Moment;
use referee::{
    lease::{MachineState, Presence},
    sink::SideRecord,
};
use std::collections::HashMap;

/// A machine of which nothing is new is written again after so many ms.
const AGAIN: i64 = 10_000;

/// The machines as they were written last, by name.
#[derive(Default)]
pub(super) struct Shown(HashMap<String, MachineState>);

impl Shown {
    /// True if a machine is to be written.
    fn is_news(&self, state: &MachineState) -> bool {
        self.0.get(&state.name).is_none_or(|shown| {
            let (seen, lag, held_since) = (shown.seen, shown.lag, shown.held_since);
            let same = MachineState { seen, lag, held_since, ..state.clone() };
            same != *shown || state.seen - shown.seen >= AGAIN
        })
    }
}

impl Manager {
    /// Writes the machines of which something is new.
    pub(super) fn show(&mut self, now: Moment) {
        let states = self.registry.states(now.steady, now.wall);
        self.write(states);
    }

    /// Writes that no machine is there any more.
    pub(super) fn show_end(&mut self, now: Moment) {
        let mut states = self.registry.states(now.steady, now.wall);
        for state in states.iter_mut().filter(|state| state.presence != Presence::Barred) {
            (state.presence, state.playing, state.held_since) = (Presence::Left, 0, None);
        }
        self.write(states);
    }

    fn write(&mut self, states: Vec<MachineState>) {
        for state in states {
            if self.shown.is_news(&state) {
                self.act(Act::Keep(SideRecord::Machine(Box::new(state.clone()))));
                self.shown.0.insert(state.name.clone(), state);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::clock::Scale;

    #[test]
    fn a_machine_is_written_when_something_is_new_or_ten_seconds_have_gone() {
        let state = MachineState {
            name: "box2".to_owned(),
            slots: 2,
            cores: 4,
            nps: None,
            scale: Scale::ONE,
            playing: 1,
            faults: 0,
            lag: 3,
            presence: Presence::Here,
            word: String::new(),
            seen: 50_000,
            held_since: None,
        };
        let mut shown = Shown::default();
        assert!(shown.is_news(&state));
        shown.0.insert(state.name.clone(), state.clone());
        assert!(!shown.is_news(&MachineState { seen: 55_000, lag: 9, ..state.clone() }));
        assert!(shown.is_news(&MachineState { seen: 60_000, ..state.clone() }));
        assert!(shown.is_news(&MachineState { faults: 1, ..state }));
    }
}
