//! The engine as seen through USI.
//!
//! | option | meaning |
//! |---|---|
//! | `Player` | method of choosing moves: `mcts`, `softmax`, `policy` or `value`, see [`player`] |
//! | `Network` | description file of a network; `default` for the embedded one |
//! | `Device` | `auto` (a GPU if there is one), `cpu`, `cuda`, `cuda:N` |
//! | `Half` | 16-bit floats where they are faster: on a GPU, and on a CPU with bfloat16 instructions |
//! | `Batch` | maximum number of positions per batch; 0: 8 on the CPU, 128 on a GPU |
//! | `Threads` | number of search threads; 0: one on the CPU, on a GPU as many as there are cores but one |
//! | `USI_Hash` | MiB for nodes and evaluations |
//! | `USI_Ponder` | whether `bestmove` names a reply to ponder on |
//! | `MultiPV` | number of principal variations (mcts) |
//! | `PlayoutsLimit` | limit of playouts per move, as `go nodes`; 0 for none |
//! | `Deterministic` | one thread and no dependence on timing: reproducible searches |
//! | `CInit`, `CBase`, `CInitRoot`, `CBaseRoot` | exploration constants of PUCT, below and at the root; `CInit` and `CInitRoot` in thousandths |
//! | `FpuReduction`, `FpuReductionRoot` | first play urgency reduction, in thousandths |
//! | `VirtualLoss` | lost visits per pending playout |
//! | `PolicyTemperature` | softmax temperature of the network's policy, in thousandths |
//! | `RootMate` | whether a mate solver runs beside the search |
//! | `LeafMate` | depth of the mate search at leaves, in plies: 0, 1 or 3; -1: 3 on the CPU, 1 on a GPU |
//! | `Seed` | seed of the random numbers for `MoveTemperature` and the softmax player |
//! | `MoveTemperature` | 0: the best move; else a random one, with probability proportional to weight^(1000 / this). Weights are visits (mcts), priors (policy), odds of winning (softmax, value) |
//! | `MovesWithTemperature` | last ply with `MoveTemperature`; later the best move is played |
//! | `WalkTemperature`, `BackupTemperature` | softmax player: temperatures of descent and backup, in centipawns |
//! | `PolicyWeight` | softmax player: weight of the log priors, in thousandths; 0: none |
//! | `PolicyCut` | softmax player: replies with a prior below this many thousandths of the highest are not evaluated; 0: all are |
//! | `SpendSaved` | whether time saved is spent on later moves, see [`time`](crate::time) |
//! | `DrawValueBlack`, `DrawValueWhite` | value of a draw for each side, in permille of a win |
//! | `MaxMovesToDraw` | a game of this many plies is drawn; 0 for no such rule |
//! | `ResignValue` | resigns when the win probability is below this, in permille; 0 to resign only when mated |
//! | `EnteringKingRule` | rule for declaring a win by entering king |
//! | `BookFile`, `BookMoves`, `BookChoice`, `BookSeed` | the opening book, see [`Openings`] |
//! | `NetworkDelay` | ms of each move lost between engine and clock |
//! | `TimePolicy` | how the clock is divided among the moves, see [`usi_shell::TimePolicy`] |
//!
//! Scores are in centipawns: 600 ln(p / (1 - p)) for a win probability p, draws counted at their value, the inverse of
//! the value target in training. `wdl` splits p into win, draw and loss, in permille.

pub(crate) mod options;

use crate::{
    evaluator::{Desk, Evaluator},
    player::{self, Player, Turn},
    search::{self, Mate},
};
use opening_book::Openings;
use options::Source;
use std::{fmt::Display, sync::Arc};
use usi_shell::{
    BestMove, Checkmate, Engine, Game, NotReady, OptionSpec, Options, Output, Search, SplitMix64,
};

/// The engine.
pub struct Deep {
    network: Option<(Source, Arc<dyn Evaluator>)>,
    player: Option<(PlayerKey, Box<dyn Player>)>,
    openings: Openings,
    rng: SplitMix64,
}

/// The parts of the options that require a new player when they change.
#[derive(Clone, Debug, PartialEq)]
struct PlayerKey {
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

    // `new_game` must not restart the random numbers, or all games of a match would be alike.
    fn set_option(&mut self, name: &str, options: &Options) {
        self.openings.set_option(name, options);
        if name == "Seed" {
            self.rng = SplitMix64::new(options.spin("Seed").unsigned_abs());
        }
    }

    fn ready(&mut self, options: &Options, out: &Output) -> Result<(), NotReady> {
        self.openings.ready(options)?;
        let source = Source::of(options)?;
        if self.network.as_ref().is_none_or(|(loaded, _)| *loaded != source) {
            self.player = None;
            let evaluator = source.load()?;
            out.say(format_args!("network {} on {}", evaluator.description().name, evaluator.kind()));
            out.say(format_args!("device {}", evaluator.device()));
            let desk = Desk::new(Arc::new(evaluator), source.torch.lanes, source.is_gpu());
            self.network = Some((source.clone(), Arc::new(desk)));
        }
        let Some((_, evaluator)) = &self.network else { return Ok(()) };
        let memory = options.number("USI_Hash").saturating_mul(1 << 20);
        let wanted = PlayerKey { player: options.text("Player").to_owned(), source, memory };
        if self.player.as_ref().is_none_or(|(taken, _)| *taken != wanted) {
            let player = player::create(&wanted.player, Arc::clone(evaluator), memory);
            self.player = Some((wanted, player));
        }
        Ok(())
    }

    fn new_game(&mut self) {
        if let Some((_, player)) = &mut self.player {
            player.new_game();
        }
    }

    fn think(&mut self, game: &Game, search: &Search, out: &Output) -> BestMove {
        let mut position = game.position().clone();
        position.set_entering_king_rule(search.options.entering_king_rule());
        if let Some(win) = BestMove::declaration(&position) {
            return win;
        }
        if position.is_mated() {
            return BestMove::Resign;
        }
        if let Some(best) = self.openings.ask(game, search, out) {
            return best;
        }
        let Some((_, player)) = &mut self.player else { return give_up("there is no network", out) };
        self.network.iter().for_each(|(_, evaluator)| evaluator.attend(&search.clock));
        let turn = Turn { game, search, out };
        player.think(&turn, &mut self.rng).unwrap_or_else(|fault| give_up(fault, out))
    }

    fn solve_mate(&mut self, game: &Game, search: &Search, _out: &Output) -> Checkmate {
        match search::solve(game, &search.clock, search.limits.nodes) {
            Mate::Moves(line) => Checkmate::Moves(line),
            Mate::NoMate => Checkmate::NoMate,
            Mate::Unknown => Checkmate::Timeout,
        }
    }
}

fn give_up(reason: impl Display, out: &Output) -> BestMove {
    out.say(reason);
    BestMove::Resign
}
