//! The client on several kinds of servers: our own league, misbehaving scripted servers, and transcripts recorded from
//! floodgate's.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "floodgate/cuts.rs"]
mod cuts;
#[path = "floodgate/engines.rs"]
mod engines;
#[path = "csa/client.rs"]
#[allow(dead_code)]
mod host;
#[path = "floodgate/league.rs"]
mod league;
#[path = "floodgate/leaving.rs"]
mod leaving;
#[path = "floodgate/server.rs"]
mod server;
#[path = "floodgate/silence.rs"]
mod silence;
#[path = "floodgate/talk.rs"]
mod talk;
#[path = "floodgate/transcripts.rs"]
mod transcripts;

#[allow(dead_code)]
mod support;
