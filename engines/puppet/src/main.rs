//! `renmei-puppet`: an engine that misbehaves on request, for testing what judges engines.
//!
//! Without a request it plays seeded random legal moves. Each setting can be given as an argument
//! (`--mode nifu --ply 10`) or as a USI option; the argument is the option's name without regard to case
//! or hyphens. It does not use the shell's loop, since most faults are breaches of what the shell keeps.
//!
//! | setting | default | meaning |
//! |---|---|---|
//! | `Mode` | `honest` | what goes wrong, see below |
//! | `Ply` | 1 | first move at which it may: the number of the move about to be played, counted from the first position of the `position` line |
//! | `Color` | `any` | only when playing `black` or `white` |
//! | `Game` | 0 | only in this game of the process, counted from 1 by `usinewgame`; 0 is every game |
//! | `Seed` | 1 | of the random moves |
//! | `Delay` | 1000 | ms, for the modes marked D |
//! | `Megabytes` | 8 | for the modes marked M |
//! | `SleepUs` | 0 | microseconds before each answer of `king` and `rook` |
//!
//! # Instead of an honest `bestmove`
//! These happen at a `go` (or `ponderhit`) that `Ply`, `Color` and `Game` allow, each time.
//!
//! | mode | what happens |
//! |---|---|
//! | `crash` | aborts |
//! | `exit` | ends with exit code 3 and without a word |
//! | `dieafter` | prints the move and ends at once |
//! | `hang` | falls silent for good; only `quit` and the end of stdin are heard |
//! | `partial` | prints `bestmove 7g7` without a newline, then as `hang` |
//! | `floodhang` | an info line every ms for ever; hears nothing, ends when nobody reads |
//! | `flood` | the same as fast as it can |
//! | `longline` | the same as one line without an end |
//! | `late` | D: the move after the delay |
//! | `lateillegal` | D: an illegal move (`nopiece`) after the delay |
//! | `lateresign` | D: resigns after the delay |
//! | `garbage`, `empty`, `nullmove` | `bestmove hello`, `bestmove`, `bestmove 0000` |
//! | `misspelled` | `bestmovefoo` and a legal move, which is no answer |
//! | `resign`, `win` | gives up without need, declares a win without right |
//! | `doublemove` | two `bestmove` lines in one write |
//! | `outofturn` | D: the move, and after the delay another one, in the opponent's time |
//! | `noise` | junk, bytes that are no UTF-8 and terminal codes before the move, 50 lines behind it, in one write |
//! | `stderrflood` | M: that much on stderr, then the move |
//! | `memory` | M: takes that much memory and keeps it, then the move |
//! | `ignorestdin` | reads nothing any more, and says nothing |
//! | `closein` | closes stdin and lives on in silence |
//! | `closeout` | closes stdout and lives on until `quit` |
//!
//! # Illegal moves
//! If the position does not offer the fault (or is check, where every reply would have a second fault),
//! an honest move is played and the fault waits for a later one.
//!
//! | mode | what is played |
//! |---|---|
//! | `nifu` | a second unpromoted pawn dropped on a file |
//! | `uchifuzume` | mate by a dropped pawn |
//! | `incheck` | a move after which the own king can be taken |
//! | `deadpiece` | a pawn, lance or knight that could never move again |
//! | `badpromotion` | a promotion away from the promotion zone |
//! | `nothand` | a drop of a piece not in hand |
//! | `occupied` | a drop onto a piece |
//! | `nopiece` | a move from an empty square |
//! | `ownpiece` | the capture of an own piece |
//! | `opponentpiece` | a move of the opponent's piece |
//! | `unreachable` | a move the piece cannot make |
//!
//! # Faults outside a move
//!
//! | mode | what happens |
//! |---|---|
//! | `slowstart`, `nousi` | D: `usiok` late; never |
//! | `slowready`, `noready` | D: `readyok` late; never |
//! | `crashready` | aborts at `isready` |
//! | `crashnewgame` | aborts at `usinewgame` (of the game `Game`, if set) |
//! | `ponderstale` | D: answers `stop` during `go ponder` after the delay |
//! | `ignorequit` | outlives `quit`, the end of stdin and SIGTERM |
//! | `grandchild` | D: at the first `isready`, leaves a child that holds stdout for the delay, whoever dies before |
//! | `zombie` | at the first `isready`, leaves an ended child that it never waits for |
//!
//! # Not faults
//!
//! | mode | what happens |
//! |---|---|
//! | `honest` | random legal moves, resigns when mated |
//! | `king` | from the first position: kings up and down, sennichite after 12 plies |
//! | `rook` | from the first position: rooks round and round, sennichite after 252 plies |
//! | `sleep` | D: no engine at all, sleeps and ends (the child of `grandchild`) |
//!
//! `king` and `rook` look at nothing but the number of moves and answer in one write, so that a
//! benchmark with them measures the manager.

mod illegal;
mod instant;
mod mode;
mod nuisance;
mod puppet;
mod settings;

use std::process::ExitCode;
use std::thread;

use mode::Mode;
use settings::Settings;

fn main() -> ExitCode {
    let settings = match Settings::from_arguments(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(fault) => {
            eprintln!("renmei-puppet: {fault}");
            return ExitCode::from(2);
        }
    };
    if settings.mode() == Mode::Sleep {
        thread::sleep(settings.delay());
    } else {
        puppet::Puppet::new(settings).run();
    }
    ExitCode::SUCCESS
}
