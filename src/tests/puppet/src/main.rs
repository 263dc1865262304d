//! `renmei-puppet`: an engine with configurable faults, for testing match managers.
//!
//! By default it plays seeded random legal moves. Each setting can be given as an argument
//! (`--mode nifu --ply 10`) or as a USI option; argument names ignore case and
//! hyphens. It has a main loop of its own, since `usi-shell` prevents most of these faults.
//!
//! | setting | default | meaning |
//! |---|---|---|
//! | `Mode` | `honest` | the fault, see below |
//! | `Ply` | 1 | first move at which the fault may occur: the number of the move to be played, counted from the start position of the `position` line |
//! | `Color` | `any` | only when playing `black` or `white` |
//! | `Game` | 0 | only in this game of the process, counted from 1 by `usinewgame`; 0 is every game |
//! | `Seed` | 1 | seed of the random moves |
//! | `Delay` | 1000 | delay in ms, for the modes marked D |
//! | `Megabytes` | 8 | size in MiB, for the modes marked M |
//! | `Target` | | what the modes against the machine aim at |
//! | `Nps` | 0 | nodes per second that it tells of honest moves; of `go movetime` it uses the whole time then |
//! | `SleepUs` | 0 | microseconds before each answer of `king` and `rook` |
//!
//! # Faults instead of a correct `bestmove`
//! They occur at every `go` (or `ponderhit`) that `Ply`, `Color` and `Game` select.
//!
//! | mode | what happens |
//! |---|---|
//! | `crash` | says so on stderr and aborts |
//! | `exit` | ends with exit code 3 without output |
//! | `dieafter` | prints the move and ends at once |
//! | `hang` | stops answering; only `quit` and the end of stdin are processed |
//! | `partial` | prints `bestmove 7g7` without a newline, then as `hang` |
//! | `floodhang` | an info line every ms without end; ignores stdin, ends when stdout is closed |
//! | `flood` | the same at full speed |
//! | `longline` | the same as one endless line |
//! | `late` | D: the move after the delay |
//! | `lateillegal` | D: an illegal move (`nopiece`) after the delay |
//! | `lateresign` | D: resigns after the delay |
//! | `garbage`, `empty`, `nullmove` | `bestmove hello`, `bestmove`, `bestmove 0000` |
//! | `misspelled` | `bestmovefoo` and a legal move, which is not a `bestmove` |
//! | `resign`, `win` | resigns, or declares a win, without a reason |
//! | `doublemove` | two `bestmove` lines in one write |
//! | `outofturn` | D: the move, and after the delay another one, in the opponent's time |
//! | `noise` | noise, invalid UTF-8 and terminal codes before the move, 50 lines after it, in one write |
//! | `stderrflood` | M: writes this much to stderr, then the move |
//! | `blackview` | scores of -2500, as if White were ahead and scores were black's, then the move |
//! | `busy` | computes from the first `isready` on, in a thread of its own, and plays honestly beside it |
//! | `memory` | M: allocates this much memory and keeps it, then the move |
//! | `ignorestdin` | stops reading stdin and stops answering |
//! | `closein` | closes stdin and keeps running without output |
//! | `closeout` | closes stdout and keeps running until `quit` |
//!
//! # Illegal moves
//! If the position allows no such move (or is check, where every such move would break a second rule), a legal move is
//! played and the fault is postponed to a later move.
//!
//! | mode | what is played |
//! |---|---|
//! | `nifu` | a second unpromoted pawn dropped on a file |
//! | `uchifuzume` | mate by a dropped pawn |
//! | `incheck` | a move that leaves the own king in check |
//! | `deadpiece` | a pawn, lance or knight to a square without further moves |
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
//! | `ignorequit` | keeps running after `quit`, the end of stdin and SIGTERM |
//! | `grandchild` | D: at the first `isready`, starts a child that keeps stdout open for the delay, even after the engine has ended |
//! | `zombie` | at the first `isready`, leaves a zombie child that it never waits for |
//!
//! # Against the machine
//! They play honestly beside it.
//!
//! | mode | what happens |
//! |---|---|
//! | `daemon` | D: at the first `isready`, leaves a process behind that has called `setsid` and was forked twice |
//! | `kill` | at every `go`, kills its parent and every process with `Target` in its command line |
//! | `network` | at every `go`, connects to `Target` (ADDRESS:PORT, or the path of a socket) |
//! | `write` | at every `go`, writes the file `Target` |
//! | `link` | at every `go`, puts a link in place of the file before the comma in `Target`, to the path after it |
//! | `spin` | M: at the first `go`, starts this number of processes that compute for the delay, each in a session of its own |
//! | `hoard` | M: at every `go`, takes this much of `Target` and stops answering; aborts if it gets less |
//!
//! What `hoard` takes: `memfd`, `sysv` (segments that no process has mapped), `shared` and `zero` (memory that is shared and
//! given back), `sockets` (bytes that nobody reads), all in MiB; `files`, thousands of empty ones in `/tmp`; `processes`.
//!
//! # Not faults
//!
//! | mode | what happens |
//! |---|---|
//! | `honest` | random legal moves, resigns when mated |
//! | `king` | from the first position: king shuffles, sennichite after 12 plies |
//! | `rook` | from the first position: rook cycles, sennichite after 252 plies |
//! | `sleep` | D: speaks no USI, sleeps and ends (the child of `grandchild` and `daemon`) |
//! | `compute` | D: speaks no USI, computes and ends (the child of `spin`) |
//! | `detach` | D: speaks no USI, starts `sleep` in a session of its own and ends (the child of `daemon`) |
//!
//! `king` and `rook` depend only on the number of moves and answer in one write, so that a benchmark with them measures
//! the manager.

mod hoard;
mod illegal;
mod instant;
mod mode;
mod process;
mod puppet;
mod settings;

use std::process::ExitCode;
use std::thread;

use mode::Mode;
use settings::Settings;

/// The description at the head of this file, which `--help` prints.
fn help() -> String {
    let lines = include_str!("main.rs").lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect()
}

fn main() -> ExitCode {
    if std::env::args().skip(1).any(|argument| argument == "--help" || argument == "-h") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let settings = match Settings::from_arguments(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(fault) => {
            eprintln!("renmei-puppet: {fault}");
            return ExitCode::from(2);
        }
    };
    match settings.mode() {
        Mode::Sleep => thread::sleep(settings.delay()),
        Mode::Compute => process::compute(settings.delay()),
        Mode::Detach => process::detach(settings.delay(), settings.seed()),
        _ => puppet::Puppet::new(settings).run(),
    }
    ExitCode::SUCCESS
}
