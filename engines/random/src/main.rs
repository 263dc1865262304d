//! `renmei-random`: a USI engine on stdin and stdout.

use std::process::ExitCode;

fn main() -> ExitCode {
    random::main()
}
