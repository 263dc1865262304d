//! `renmei-pairwise`: a USI engine on stdin and stdout, and the commands that prepare what it plays with.

use std::process::ExitCode;

fn main() -> ExitCode {
    pairwise::program::main()
}
