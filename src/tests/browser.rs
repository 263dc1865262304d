//! The pages in a real browser: what a viewer sees, clicks and hears of, in Chromium. `cargo xtask browser` installs what
//! these tests need and runs them; without it they are left out.
#![allow(clippy::unwrap_used, missing_docs)]

#[allow(dead_code)]
mod support;

#[path = "browser/board.rs"]
mod board;
#[path = "browser/day.rs"]
mod day;
#[path = "browser/desk.rs"]
mod desk;
#[path = "browser/driver.rs"]
mod driver;
#[path = "browser/hostile.rs"]
mod hostile;
#[path = "browser/league.rs"]
mod league;
#[path = "browser/live.rs"]
mod live;
#[path = "browser/loaders.rs"]
mod loaders;
#[path = "browser/newcomer.rs"]
mod newcomer;
#[path = "browser/site.rs"]
mod site;
#[path = "browser/study.rs"]
mod study;
#[path = "browser/tour.rs"]
mod tour;
#[path = "browser/wire.rs"]
mod wire;
