//! An engine whose king moves to and fro, for systems on which `renmei-puppet` does not build. It speaks as that does: the
//! same moves and options, one write for each answer.

use anyhow::Result;
use std::{
    io::{self, BufRead, Write},
    thread,
    time::Duration,
};

/// The moves of both sides; sennichite after 12 plies.
const MOVES: [&str; 4] = ["5i5h", "5a5b", "5h5i", "5b5a"];
/// What it says of itself.
const SELF: &str = "id name floor\noption name Mode type string default king\n\
    option name SleepUs type spin default 0 min 0 max 10000000\nusiok\n";

/// Plays until it hears `quit` or nothing more; `pause` is the time of a move in microseconds.
///
/// # Errors
/// When a pipe fails.
pub fn play(pause: u64) -> Result<()> {
    let (mut pause, mut plies) = (Duration::from_micros(pause), 0);
    let mut stdout = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        let answer = match words.next() {
            Some("usi") => SELF.to_owned(),
            Some("isready") => "readyok\n".to_owned(),
            Some("setoption") => {
                let value = line.strip_prefix("setoption name SleepUs value ");
                pause = value.and_then(|value| value.parse().ok()).map_or(pause, Duration::from_micros);
                continue;
            }
            Some("position") => {
                plies = words.skip_while(|word| *word != "moves").skip(1).count();
                continue;
            }
            Some("go") => {
                thread::sleep(pause);
                let played = MOVES[plies % MOVES.len()];
                format!("info depth 1 score cp 0 nodes 1 time 0 pv {played}\nbestmove {played}\n")
            }
            Some("quit") => break,
            _ => continue,
        };
        stdout.write_all(answer.as_bytes())?;
        stdout.flush()?;
    }
    Ok(())
}
