//! `renmei-deep`: a USI engine by default; the commands train networks and measure them.

mod command;

use clap::Parser;
use std::process::ExitCode;

/// For libtorch, too: its layers allocate and free for every batch, for which the allocator of glibc takes a quarter of
/// the time of a search.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match command::Arguments::parse().run() {
        Ok(code) => code,
        Err(fault) => {
            eprintln!("renmei-deep: {fault}");
            ExitCode::FAILURE
        }
    }
}
