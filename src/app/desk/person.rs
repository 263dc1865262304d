//! A person at the browser as an engine: a program that speaks USI, and whose answers are those that a board was given. So its
//! games are played, refereed and kept as those of all engines are.

use notation::record::{self, Format};
use referee::running::play;
use rsshogi::board::Position;
use std::{
    fs,
    io::{self, BufRead, Write},
    path::Path,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

/// Time between two looks for an answer.
const GLANCE: Duration = Duration::from_millis(50);
/// The subcommand of this program.
pub const COMMAND: &str = "person";

/// Speaks USI on the standard streams. `answers` is the file in which a board puts what the person plays: the position as
/// SFEN, and a move, `resign` or `win`. An answer to another position is dropped.
///
/// # Errors
/// When nobody listens.
pub fn run(answers: &Path) -> io::Result<()> {
    rsshogi::board::init();
    // What was answered in an earlier game is no answer in this one.
    let forget = || drop(fs::remove_file(answers));
    forget();
    let (sender, lines) = mpsc::channel();
    let read =
        move || io::stdin().lock().lines().map_while(Result::ok).try_for_each(|line| sender.send(line));
    thread::Builder::new().name("stdin".to_owned()).spawn(read)?;
    let (mut position, mut is_asked) = (String::new(), false);
    loop {
        match lines.recv_timeout(GLANCE) {
            Ok(line) => match line.split_whitespace().next() {
                Some("usi") => say("id name Person\nid author Renmei\nusiok")?,
                Some("isready") => say("readyok")?,
                Some("position") => position = reached(&line).unwrap_or_default(),
                Some("go") => is_asked = true,
                Some("usinewgame" | "gameover") => {
                    forget();
                    is_asked = false;
                }
                Some("stop") if is_asked => {
                    is_asked = false;
                    say("bestmove resign")?;
                }
                Some("quit") => return Ok(()),
                _ => {}
            },
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if is_asked && let Some(answer) = answer(answers, &position) {
            is_asked = false;
            say(&format!("bestmove {answer}"))?;
        }
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// The position of a line `position ..`, as SFEN.
fn reached(line: &str) -> Option<String> {
    let argument = line.strip_prefix("position ")?.as_bytes();
    let record = record::read(argument, Some(Format::Usi)).ok()?.pop()?;
    let mut position = Position::from_sfen(&record.start).ok()?;
    record.plies.iter().all(|ply| play(&mut position, ply.mv)).then(|| position.to_sfen(None))
}

/// The answer to a position, if there is one. An answer is read once.
fn answer(file: &Path, position: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let _gone = fs::remove_file(file);
    let (of, answer) = text.trim().split_once('\n')?;
    (of == position).then(|| answer.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_given_once_and_to_its_position_alone() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("answers");
        assert_eq!(answer(&file, "x b - 1"), None);
        fs::write(&file, "x b - 1\n7g7f\n").unwrap();
        assert_eq!(answer(&file, "x b - 1").as_deref(), Some("7g7f"));
        assert_eq!(answer(&file, "x b - 1"), None, "it was given");
        fs::write(&file, "x b - 1\n7g7f\n").unwrap();
        assert_eq!(answer(&file, "y w - 2"), None, "a late answer is dropped");
        assert!(!file.exists());
    }

    #[test]
    fn a_position_is_the_one_that_its_moves_reach() {
        rsshogi::board::init();
        let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";
        for line in ["position startpos moves 7g7f", &format!("position sfen {start}")] {
            assert_eq!(reached(line).as_deref(), Some(start), "{line}");
        }
        assert_eq!(reached("position startpos moves 7g7e"), None);
    }
}
