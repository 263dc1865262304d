//! `renmei-random`: a minimal engine, and a walk-through for authors of larger ones.
//!
//! It plays legal moves without search, resigns when mated and declares a win when it can. The file is ordered for
//! reading: declarations, options, the answer to `go`, and `info` lines. `style` chooses the move.
//!
//! | option | meaning |
//! |---|---|
//! | `Seed` | seed of the random numbers; equal seeds give equal games |
//! | `Style` | `uniform`: every legal move is equally likely; `greedy`: mates in one, else gains the most material |
//! | `ThinkTime` | ms to wait before each answer |
//! | `EnteringKingRule` | rule for declaring a win by entering king |

mod style;

use std::process::ExitCode;
use std::time::Duration;

use rsshogi::board::{MoveList, Position};
use rsshogi::movegen::generate_legal_all;
use usi_shell::{BestMove, Engine, Game, Info, OptionSpec, Options, Output, Score, Search, SplitMix64};

use style::Style;

/// The text of `--help`.
const HELP: &str = "\
A mover that needs nothing: an engine for first leagues and for tests. It speaks USI on stdin and stdout and takes no
arguments, but for --help and --version.

Options, set by `setoption name NAME value VALUE`:
  Seed              seed of the random numbers; equal seeds give equal games (1)
  Style             uniform: every legal move is equally likely; greedy: mates in one, else takes what it can (uniform)
  ThinkTime         ms to wait before each answer (0)
  EnteringKingRule  rule by which it declares a win
  NetworkDelay      ms of each move that are lost between engine and clock (50)
  TimePolicy        without effect here: a random mover does not think

Examples:
  renmei check renmei-random
  renmei match --engine cmd=renmei-random option.Style=greedy --engine cmd=renmei-random --games 10";

/// Runs the engine on stdin and stdout until `quit` or the end of the input.
pub fn main() -> ExitCode {
    let engine = Random { rng: SplitMix64::new(DEFAULT_SEED) };
    match std::env::args().nth(1).as_deref() {
        None => return usi_shell::run(engine),
        Some("--help" | "-h") => println!("{}\n\n{HELP}", engine.name()),
        Some("--version" | "-V") => println!("{}", engine.name()),
        Some(other) => {
            eprintln!(
                "renmei-random: `{other}`: it takes no arguments; `renmei-random --help` lists its options"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// Constant, so that a game can be reproduced without setting the option.
const DEFAULT_SEED: u64 = 1;

/// State kept between moves. The position and the option values are kept by the shell.
struct Random {
    rng: SplitMix64,
}

impl Engine for Random {
    fn name(&self) -> String {
        concat!("Renmei random ", env!("CARGO_PKG_VERSION")).to_owned()
    }

    fn author(&self) -> String {
        "the Renmei authors".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![
            OptionSpec::spin("Seed", DEFAULT_SEED.cast_signed(), 0..=i64::MAX),
            OptionSpec::combo("Style", "uniform", &["uniform", "greedy"]),
            OptionSpec::spin("ThinkTime", 0, 0..=600_000),
            OptionSpec::entering_king_rule(),
        ]
    }

    // `new_game` must not restart the sequence, or all games of a match would be alike.
    fn set_option(&mut self, name: &str, options: &Options) {
        if name == "Seed" {
            self.rng = SplitMix64::new(options.spin("Seed").unsigned_abs());
        }
    }

    fn think(&mut self, game: &Game, search: &Search, out: &Output) -> BestMove {
        let mut position = game.position().clone();
        position.set_entering_king_rule(search.options.entering_king_rule());
        // `generate_legal_all` includes moves that are seldom useful, such as a bishop that does not promote.
        // An opponent may play them, so an engine for tests should play them too.
        let mut legal = MoveList::new();
        generate_legal_all(&position, &mut legal);
        let best = BestMove::declaration(&position).unwrap_or_else(|| self.choose(&position, &legal, search));
        // Printed before the wait, so that a spectator sees it in time.
        out.info(&Info {
            depth: Some(1),
            score: Some(Score::Cp(style::material(&position))),
            nodes: Some(legal.as_slice().len() as u64),
            time: Some(search.clock.elapsed()),
            pv: best.mv().into_iter().collect(),
            ..Info::default()
        });
        let think_time = Duration::from_millis(search.options.spin("ThinkTime").unsigned_abs());
        search.clock.wait_until(think_time);
        best
    }
}

impl Random {
    fn choose(&mut self, position: &Position, legal: &MoveList, search: &Search) -> BestMove {
        let style = if search.options.text("Style") == "greedy" { Style::Greedy } else { Style::Uniform };
        let candidates = style.candidates(position, legal.as_slice());
        self.rng.choose(&candidates).map_or(BestMove::Resign, |&mv| BestMove::play(mv))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_every_option() {
        for option in (Random { rng: SplitMix64::new(1) }).options() {
            assert!(HELP.contains(&format!("\n  {} ", option.name())), "{option}");
        }
    }
}
