//! Unix: a service is a program like any other.

use super::{Service, Start};
use std::io;

pub(super) fn serve(_service: Service, _work: Box<dyn FnOnce() -> i32 + Send>) -> io::Result<i32> {
    Err(crate::unanswered("how a service is run"))
}

pub(super) fn await_start(_name: &str) -> io::Result<Start> {
    Err(crate::unanswered("how a service is run"))
}
