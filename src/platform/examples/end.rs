//! Starts a program, asks it to end when a line comes in, and ends with its exit code. On Windows it is asked by Ctrl-Break,
//! which needs a console: `cargo run --package platform --example end -- COMMAND`.

use platform::programs::{Group, Order, order};
use std::{
    env, io,
    process::{Command, ExitCode, Stdio},
};

fn main() -> io::Result<ExitCode> {
    let mut words = env::args_os().skip(1);
    let mut command = Command::new(words.next().ok_or(io::ErrorKind::InvalidInput)?);
    let mut group = Group::start(command.args(words).stdin(Stdio::null()))?;
    io::stdin().read_line(&mut String::new())?;
    order(group.child.id(), Order::End)?;
    let code = group.child.wait()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
