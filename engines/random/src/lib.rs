//! `renmei-random`: the smallest honest engine, and the walk-through for authors of larger ones.
//!
//! It plays legal moves without looking ahead, resigns when mated and declares when it may. Read this
//! file from top to bottom: what an engine declares, what it does with its options, how it answers
//! `go`, and how it reports. `style` then chooses the move.
//!
//! | option | meaning |
//! |---|---|
//! | `Seed` | first value of the number sequence; equal seeds give equal games |
//! | `Style` | `uniform`: every legal move is equally likely; `greedy`: takes what it can get |
//! | `ThinkTime` | ms to wait before each answer |
//! | `EnteringKingRule` | when a win may be declared |

mod style;

use std::process::ExitCode;
use std::time::Duration;

use rsshogi::board::{MoveList, Position};
use rsshogi::movegen::generate_legal_all;
use rsshogi::types::Move32;
use usi_shell::{BestMove, Engine, Game, Info, OptionSpec, Options, Output, Score, Search, SplitMix64};

use style::Style;

/// Speaks USI on stdin and stdout until `quit` or the end of the input: all that the program does.
#[must_use]
pub fn main() -> ExitCode {
    usi_shell::run(Random { rng: SplitMix64::new(DEFAULT_SEED) })
}

/// Fixed, so that a game can be played again without asking for it.
const DEFAULT_SEED: u64 = 1;

/// All an engine keeps from move to move is its own business; the position and the options are not.
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

    // Only this restarts the sequence: if `new_game` did, a match of many games would be one game.
    fn set_option(&mut self, name: &str, options: &Options) {
        if name == "Seed" {
            self.rng = SplitMix64::new(options.spin("Seed").unsigned_abs());
        }
    }

    fn think(&mut self, game: &Game, search: &Search, out: &Output) -> BestMove {
        let mut position = game.position().clone();
        position.set_entering_king_rule(search.options.entering_king_rule());
        // `generate_legal_all` includes the moves that seldom make sense, such as a bishop that does not
        // promote. An opponent may play them, so an engine that wants to be tested with should too.
        let mut legal = MoveList::new();
        generate_legal_all(&position, &mut legal);
        let best = declare(&position).unwrap_or_else(|| self.choose(&position, &legal, search));
        // Reported before the wait, as a person at the screen would like to see it.
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

/// The declaration, if the rule in force allows one: `bestmove win`, or under the try rule the move of
/// the king onto its goal.
fn declare(position: &Position) -> Option<BestMove> {
    match position.declaration_win_move() {
        Move32::MOVE_WIN => Some(BestMove::Win),
        mv if mv.is_normal() => Some(BestMove::play(mv)),
        _ => None,
    }
}
