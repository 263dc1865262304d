//! Machines that play games of an event: the seam between the dispatcher and whoever carries games to them. The
//! dispatcher knows no network: it gives the games of a pair to a desk, and hears of them by notes.

pub use crate::note::{DeskNote, PlayedJob};

use crate::{error::RunError, note::Note, play::Fixture};
use referee::{
    clock::Scale,
    lease::{Lease, LeaseId},
    sink::Sink,
};
use std::{
    sync::{Arc, mpsc::Sender},
    time::Duration,
};

/// How the event ends for the machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// It is over: nothing that a machine still holds will count.
    Over,
    /// It is interrupted: machines finish what they hold, and a later run of the manager takes it.
    Interrupted,
}

/// Machines that play games of an event.
pub trait RemoteDesk: Send {
    /// Opens the desk: notes go to `notes`, leases to `sink`. Returns the leases of earlier runs that may still be
    /// answered.
    ///
    /// # Errors
    /// Why it cannot be opened.
    fn open(&mut self, notes: Sender<Note>, sink: Arc<dyn Sink>) -> Result<Vec<Lease>, RunError>;

    /// Takes over a lease of an earlier run: its machine is asked for the answer, and its games are nobody else's.
    fn adopt(&mut self, lease: Lease, games: Vec<Fixture>);

    /// Begins to talk to machines, after all leases were adopted.
    ///
    /// # Errors
    /// Why it cannot.
    fn begin(&mut self) -> Result<(), RunError>;

    /// Number of pairs that can be given now.
    fn places(&self) -> usize;

    /// Number of pairs that all machines play at once.
    fn slots(&self) -> usize;

    /// By how much the clocks of games that are played here are longer than those of the plan.
    fn scale_here(&self) -> Scale {
        Scale::ONE
    }

    /// Gives the games of a pair to a machine; `None` when no machine has a place any more.
    fn give(&mut self, games: Vec<Fixture>) -> Option<LeaseId>;

    /// The machine that has a lease, and for how long, as it follows the name of a pair: "machine `box2` has had for 40 s".
    fn holder(&self, lease: LeaseId) -> Option<String>;

    /// Takes pairs back that machines hoard, as others have places and get none. `longest_here`: the longest game that
    /// was played here, if places are free here, too.
    fn others_wait(&mut self, longest_here: Option<Duration>);

    /// True if a machine of that name is here, or was in this run.
    fn knows(&self, machine: &str) -> bool;

    /// Gives a machine nothing more, and tells it why; what it has is lost.
    fn bar(&mut self, machine: &str, why: &str);

    /// Lets a machine that was barred join again.
    fn readmit(&mut self, machine: &str);

    /// Machines finish the pairs that have begun, and give the others back.
    fn stop(&mut self);

    /// Ends the desk. Answers on their way are told first.
    fn close(&mut self, closing: Closing);
}
