//! Benchmarks, the soak tests, the siege of a host and the league over the network, started by `cargo xtask bench`, `soak`,
//! `siege` and `league`. `load.sh` beside this file measures a host by a load client.

mod arena;
mod cores;
mod database;
mod days;
mod latency;
mod league;
mod machines;
mod manager;
mod measure;
mod openings;
mod process;
mod screen;
mod siege;
mod soak;
mod table;
mod terminal;
mod web;
mod wine;

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
        ["bench", "latency", flags @ ..] => {
            latency::run(&Flags::read(flags, &latency::SWITCHES, &latency::FLAGS)?)
        }
        ["bench", "dashboard", flags @ ..] => screen::run(&Flags::read(flags, &[], &screen::FLAGS)?),
        ["bench", "openings", flags @ ..] => openings::run(&Flags::read(flags, &[], &openings::FLAGS)?),
        ["bench", "web", flags @ ..] => web::run(&Flags::read(flags, &web::SWITCHES, &web::FLAGS)?),
        ["league"] => league::run(),
        ["soak", "--machines", flags @ ..] => {
            machines::run(&Flags::read(flags, &machines::SWITCHES, &machines::FLAGS)?)
        }
        ["soak", flags @ ..] => soak::run(&Flags::read(flags, &soak::SWITCHES, &soak::FLAGS)?),
        ["siege", flags @ ..] => siege::run(&Flags::read(flags, &siege::SWITCHES, &siege::FLAGS)?),
        _ => bail!("no such command: {}; `cargo xtask help` lists them", words.join(" ")),
    }
}
