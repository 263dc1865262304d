//! The engine as USI sees it.
//!
//! | option | meaning |
//! |---|---|
//! | `Player` | who chooses the moves: `mcts`, `softmax`, `policy` or `value`, see [`player`] |
//! | `Network` | the description file of a network; `default` for the one inside the program |
//! | `Device` | where it computes: `auto` (a GPU if there is one), `cpu`, `cuda`, `cuda:N` |
//! | `Half` | whether to compute in 16-bit numbers where that is faster: on a GPU, and on a processor that multiplies bfloat16 |
//! | `Batch` | the most positions that are evaluated at a time; 0: 8 on the processor, 128 on a GPU |
//! | `Threads` | how many threads search; a GPU wants two or more |
//! | `Lanes` | how many batches are in work at a time; 0: as many as threads |
//! | `NetworkThreads` | threads of the processor for one batch; 0 leaves that to libtorch |
//! | `USI_Hash` | MiB for nodes and evaluations |
//! | `USI_Ponder` | whether a reply to ponder on is named with each move |
//! | `MultiPV` | how many lines are reported (mcts) |
//! | `PlayoutsLimit` | never more playouts than so many for a move, as `go nodes`; 0 for no limit |
//! | `Deterministic` | one thread, and no wait for anything: the same search every time |
//! | `CInit`, `CBase`, `CInitRoot`, `CBaseRoot` | how much the search explores, inside and at the root; the first of each in thousandths |
//! | `FpuReduction`, `FpuReductionRoot` | how much less than its parent an unvisited move is worth, in thousandths |
//! | `VirtualLoss` | what a playout under way counts for |
//! | `PolicyTemperature` | softmax temperature of the network's policy, in thousandths |
//! | `RootMate` | whether a mate is looked for beside the search |
//! | `LeafMate` | plies of a mate that is looked for before the network is asked |
//! | `RootNoise`, `NoiseAlpha` | share of Dirichlet noise in the root's priors and its concentration, in thousandths: for self-play |
//! | `NoiseSeed` | first value of the number sequence for noise and temperature |
//! | `MoveTemperature` | 0: the best move; else any, by its weight to the power of 1000 / this: visits (mcts), probability (policy), odds of winning (softmax, value) |
//! | `MovesWithTemperature` | and after this ply the best move |
//! | `WalkTemperature`, `BackupTemperature` | of the softmax player, in centipawns: how often it follows a worse move, how much that counts |
//! | `PolicyWeight` | what the network's policy has to say in that player's walks, means and choices, in thousandths; 0: nothing |
//! | `PolicyCut` | replies less likely than so many thousandths of the likeliest are not evaluated by that player; 0: all are |
//! | `StoppingModel` | whether a search on a clock ends when its move is unlikely to change, see [`time`](crate::time) |
//! | `ModelFile` | the coefficients that `renmei-deep time-model` has found; `default` for those in the program |
//! | `ChangeProbability` | percent: unlikely is what is no more likely than this |
//! | `SpendSaved` | whether time saved so is given to later moves |
//! | `DrawValueBlack`, `DrawValueWhite` | what a draw is worth to either side, in permille of a win |
//! | `MaxMovesToDraw` | a game of so many plies is drawn; 0 for no such rule |
//! | `ResignValue` | resign when the chance to win is below this, in permille; 0 for never before mate |
//! | `EnteringKingRule` | when a win may be declared |
//! | `BookFile`, `BookMoves`, `BookChoice`, `BookSeed` | the opening book, see [`Openings`] |
//! | `NetworkDelay` | ms of each move that are lost between engine and clock |
//!
//! Scores are centipawns by the law that the network's value was learned with: 600 ln(p / (1 - p)) for a chance p to
//! win, draws counted at their value. `wdl` is that chance in permille, taken apart.

pub(crate) mod options;

use crate::{
    evaluator::{Evaluator, TorchEvaluator},
    player::{self, Player, Turn},
};
use opening_book::Openings;
use options::Source;
use rsshogi::{board::Position, types::Move32};
use std::{fmt::Display, sync::Arc};
use usi_shell::{
    BestMove, Checkmate, Engine, Game, NotReady, OptionSpec, Options, Output, Search, SplitMix64,
};

/// The engine.
pub struct Deep {
    network: Option<(Source, Arc<TorchEvaluator>)>,
    player: Option<(Seat, Box<dyn Player>)>,
    openings: Openings,
    rng: SplitMix64,
}

/// What makes a new player necessary.
#[derive(Clone, Debug, PartialEq)]
struct Seat {
    player: String,
    source: Source,
    memory: usize,
}

impl Default for Deep {
    fn default() -> Self {
        Self { network: None, player: None, openings: Openings::default(), rng: SplitMix64::new(1) }
    }
}

impl Engine for Deep {
    fn name(&self) -> String {
        concat!("Renmei deep ", env!("CARGO_PKG_VERSION")).to_owned()
    }

    fn author(&self) -> String {
        "the Renmei authors".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        options::declare()
    }

    // Only this restarts the sequence: if `new_game` did, every game of a match would be alike.
    fn set_option(&mut self, name: &str, options: &Options) {
        self.openings.set_option(name, options);
        if name == "NoiseSeed" {
            self.rng = SplitMix64::new(options.spin("NoiseSeed").unsigned_abs());
        }
    }

    fn ready(&mut self, options: &Options, out: &Output) -> Result<(), NotReady> {
        self.openings.ready(options)?;
        let source = Source::of(options)?;
        if self.network.as_ref().is_none_or(|(loaded, _)| *loaded != source) {
            self.player = None;
            let evaluator = source.load()?;
            out.say(format_args!("network {} on {}", evaluator.description().name, evaluator.kind()));
            self.network = Some((source.clone(), Arc::new(evaluator)));
        }
        let Some((_, evaluator)) = &self.network else { return Ok(()) };
        let memory = options::number(options, "USI_Hash").saturating_mul(1 << 20);
        let seat = Seat { player: options.text("Player").to_owned(), source, memory };
        if self.player.as_ref().is_none_or(|(taken, _)| *taken != seat) {
            let player = player::seat(&seat.player, Arc::clone(evaluator) as Arc<dyn Evaluator>, memory);
            self.player = Some((seat, player));
        }
        self.player.as_mut().map_or(Ok(()), |(_, player)| player.ready(options))
    }

    fn new_game(&mut self) {
        if let Some((_, player)) = &mut self.player {
            player.new_game();
        }
    }

    fn think(&mut self, game: &Game, search: &Search, out: &Output) -> BestMove {
        let mut position = game.position().clone();
        position.set_entering_king_rule(search.options.entering_king_rule());
        if let Some(win) = declare(&position) {
            return win;
        }
        if position.is_mated() {
            return BestMove::Resign;
        }
        if let Some(best) = self.openings.ask(game, search, out) {
            return best;
        }
        let Some((_, player)) = &mut self.player else { return give_up("there is no network", out) };
        let turn = Turn { game, search, out };
        player.think(&turn, &mut self.rng).unwrap_or_else(|fault| give_up(fault, out))
    }

    fn solve_mate(&mut self, game: &Game, search: &Search, _out: &Output) -> Checkmate {
        player::solve_mate(game, search)
    }
}

fn give_up(reason: impl Display, out: &Output) -> BestMove {
    out.say(reason);
    BestMove::Resign
}

/// The declaration, if the rule in force allows one: `bestmove win`, or under the try rule the move of the king onto
/// its goal.
fn declare(position: &Position) -> Option<BestMove> {
    match position.declaration_win_move() {
        Move32::MOVE_WIN => Some(BestMove::Win),
        mv if mv.is_normal() => Some(BestMove::play(mv)),
        _ => None,
    }
}
