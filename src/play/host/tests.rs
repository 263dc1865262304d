//! A league and its clients in this process, without listener, threads or waiting: time stands still until a test lets
//! it pass.
#![cfg(unix)] // The pair of sockets of a client and its host is one of Unix sockets.
#![allow(clippy::unwrap_used)]

mod accounts;
mod clocks;
mod comments;
mod cuts;
mod driver;
mod endings;
mod grace;
mod kept;
mod limits;
mod meddling;
mod orders;
mod quotas;
mod ratings;
mod trips;
mod world;
