//! Benchmarks, the soak test and the siege of a host, started by `cargo xtask bench`, `soak` and `siege`. `load.sh` beside this file measures a host by a load client.

mod arena;
mod cores;
mod database;
mod latency;
mod manager;
mod measure;
mod scale;
mod siege;
mod soak;
mod table;

use anyhow::{Result, bail};
use std::process::ExitCode;
use xtask::args::Flags;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run(&words).unwrap_or_else(|fault| {
        eprintln!("measure: {fault:#}");
        ExitCode::FAILURE
    })
}

fn run(words: &[&str]) -> Result<ExitCode> {
    match words {
        ["bench", "arena", flags @ ..] => arena::run(&Flags::read(flags, &[], &arena::FLAGS)?),
        ["bench", "latency", flags @ ..] => latency::run(&Flags::read(flags, &[], &latency::FLAGS)?),
        ["bench", "scale", flags @ ..] => scale::run(&Flags::read(flags, &[], &scale::FLAGS)?),
        ["soak", flags @ ..] => soak::run(&Flags::read(flags, &[], &soak::FLAGS)?),
        ["siege", flags @ ..] => siege::run(&Flags::read(flags, &siege::SWITCHES, &siege::FLAGS)?),
        _ => bail!("no such command: {}; `cargo xtask help` lists them", words.join(" ")),
    }
}
