//! `renmei-pairwise`: a USI engine on stdin and stdout, and commands that prepare its data.

use std::process::ExitCode;

fn main() -> ExitCode {
    pairwise::program::main()
}
