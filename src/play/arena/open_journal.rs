//! The journal of an event that is open for play: one way to it, whoever pairs the games, sits in them and rules them.

use crate::operations::Operations;
use journal::{EventHead, Journal, Moves, Opening, Reader, StoreError};
use referee::{
    entry::{Entry, Stamped},
    operation::InForce,
};
use std::path::Path;

/// A locked event whose earlier entries are known.
#[derive(Debug)]
pub struct OpenJournal {
    /// The event in its database.
    pub opening: Opening,
    /// The operator's handle, with the orders in force.
    pub operations: Operations,
    /// True if the event was played to its end.
    pub is_closed: bool,
}

impl OpenJournal {
    /// Locks an event. `take_up` compares the stored event with what is played now, and yields what the earlier entries
    /// are folded into.
    ///
    /// # Errors
    /// When another process plays the event, the database fails, or `take_up` refuses.
    pub fn open<T, E: From<StoreError>>(
        database: &Path,
        head: &EventHead<'_>,
        take_up: impl FnOnce(&Opening) -> Result<T, E>,
        fold: impl Fn(&mut T, &Stamped),
    ) -> Result<(Self, T), E> {
        let opening = Journal::open(database, head)?;
        let mut state = take_up(&opening)?;
        let (mut is_closed, mut in_force) = (false, InForce::default());
        opening.replay(Moves::Without, &mut |stamped| {
            is_closed |= stamped.entry == Entry::Closed;
            if let Entry::Operator(operation) = &stamped.entry {
                in_force.fold(operation);
            }
            fold(&mut state, stamped);
        })?;
        let operations = Operations::new(in_force, opening.sink());
        Ok((Self { opening, operations, is_closed }, state))
    }

    /// Starts the writer, which calls `failed` when the database fails. The operator follows the games.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start(
        self,
        mut readers: Vec<Reader>,
        failed: impl FnOnce() + Send + 'static,
    ) -> Result<Journal, StoreError> {
        readers.push(self.operations.reader());
        self.opening.start(readers, failed)
    }
}
