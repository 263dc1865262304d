//! The engine as seen through USI.
//!
//! The guide to engines (`src/guide/engines.md`) describes the options.
//!
//! With the feature `tune` each [constant](crate::search::Tuned) of the search has an option, with the feature `parts` each [part](crate::search::Parts) of the search has an option that leaves it out.

use opening_book::Openings;
use rsshogi::types::EnteringKingRule;
use usi_shell::{BestMove, Checkmate, Engine, Game, Info, NotReady, OptionSpec, Options, Output, Search};

use crate::evaluation::Weights;
use crate::search::{Outcome, Parts, Progress, RootMove, Searcher, Task, Terms, Tuned, to_score};
use crate::time::Plan;

/// Larger than any score but mate.
const NEVER_RESIGN: i64 = 99_999;

/// The engine.
pub struct Pairwise {
    searcher: Searcher,
    weights: Option<Loaded>,
    openings: Openings,
}

/// Weights, and the value of `EvalFile` they were loaded for.
struct Loaded {
    name: String,
    weights: Weights,
}

impl Default for Pairwise {
    fn default() -> Self {
        Self { searcher: Searcher::new(1), weights: None, openings: Openings::default() }
    }
}

impl Engine for Pairwise {
    fn name(&self) -> String {
        concat!("Renmei pairwise ", env!("CARGO_PKG_VERSION")).to_owned()
    }

    fn author(&self) -> String {
        "the Renmei authors".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        let mut options = vec![
            OptionSpec::spin("USI_Hash", 64, 1..=65_536),
            OptionSpec::check("USI_Ponder", true),
            OptionSpec::spin("Threads", 1, 1..=256),
            OptionSpec::spin("MultiPV", 1, 1..=600),
            OptionSpec::filename("EvalFile", "default"),
            OptionSpec::spin("DepthLimit", 0, 0..=126),
            OptionSpec::spin("NodesLimit", 0, 0..=i64::MAX),
            OptionSpec::spin("DrawValue", 0, -10_000..=10_000),
            OptionSpec::spin("MaxMovesToDraw", 0, 0..=100_000),
            OptionSpec::spin("ResignValue", NEVER_RESIGN, 1..=NEVER_RESIGN),
            OptionSpec::entering_king_rule(),
        ];
        options.extend(Tuned::options());
        options.extend(Openings::options());
        options.extend(Parts::options());
        options
    }

    fn set_option(&mut self, name: &str, options: &Options) {
        self.openings.set_option(name, options);
    }

    fn ready(&mut self, options: &Options, _out: &Output) -> Result<(), NotReady> {
        self.searcher.resize(options.number("USI_Hash"));
        let name = options.text("EvalFile");
        if self.weights.as_ref().is_none_or(|loaded| loaded.name != name) {
            self.weights = Some(Loaded { name: name.to_owned(), weights: Weights::choose(name)? });
        }
        Ok(self.openings.ready(options)?)
    }

    fn new_game(&mut self) {
        self.searcher.clear();
    }

    fn think(&mut self, game: &Game, search: &Search, out: &Output) -> BestMove {
        let options = &*search.options;
        let mut position = game.position().clone();
        position.set_entering_king_rule(options.entering_king_rule());
        if let Some(win) = BestMove::declaration(&position) {
            return win;
        }
        if let Some(best) = self.openings.ask(game, search, out) {
            return best;
        }
        let Some(loaded) = &self.weights else { return BestMove::Resign };
        let task = task(search, options.entering_king_rule());
        let outcome = think(&mut self.searcher, &loaded.weights, game, &task, search, out);
        answer(&outcome, options)
    }

    fn solve_mate(&mut self, game: &Game, search: &Search, _out: &Output) -> Checkmate {
        crate::mate::solve(game.position(), &|| search.clock.is_stopped())
    }
}

fn task(search: &Search, declaration: EnteringKingRule) -> Task {
    let (options, limits) = (&*search.options, &search.limits);
    let smaller = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
    let depth = smaller(limits.depth.map(u64::from), options.limit("DepthLimit"));
    Task {
        clock: Some(search.clock.clone()),
        depth: depth.map(|depth| u32::try_from(depth).unwrap_or(u32::MAX)),
        nodes: smaller(limits.nodes, options.limit("NodesLimit")),
        lines: options.number("MultiPV"),
        threads: options.number("Threads"),
        terms: Terms {
            tuned: Tuned::of(options),
            draw_value: options.spin("DrawValue") as i32,
            max_moves: options.number("MaxMovesToDraw") as u32,
            declaration,
            parts: Parts::of(options),
        },
    }
}

fn think(
    searcher: &mut Searcher,
    weights: &Weights,
    game: &Game,
    task: &Task,
    search: &Search,
    out: &Output,
) -> Outcome {
    let mut plan = Plan::default();
    let mut reported = 0;
    let outcome = searcher.think(weights, game, task, |progress| {
        report(progress, task, search, out);
        reported = progress.nodes;
        plan.note(&progress.found);
        let spending = search.clock.spending();
        !spending.is_some_and(|spending| plan.is_enough(&spending, progress.choices))
    });
    // The result of an interrupted iteration may contain a better move.
    if let Some(best) = outcome.moves.first().filter(|best| outcome.nodes > reported && best.is_searched()) {
        out.info(&info(best, outcome.depth, outcome.nodes, search));
    }
    outcome
}

fn report(progress: &Progress, task: &Task, search: &Search, out: &Output) {
    for (index, best) in progress.found.best.iter().enumerate() {
        out.info(&Info {
            seldepth: Some(progress.found.deepest),
            multipv: (task.lines > 1).then_some(index as u32 + 1),
            hashfull: Some(progress.fullness),
            ..info(best, progress.found.depth, progress.nodes, search)
        });
    }
}

fn info(best: &RootMove, depth: u32, nodes: u64, search: &Search) -> Info {
    Info {
        depth: Some(depth),
        score: Some(to_score(best.value)),
        nodes: Some(nodes),
        time: Some(search.clock.elapsed()),
        pv: best.line.clone(),
        ..Info::default()
    }
}

fn answer(outcome: &Outcome, options: &Options) -> BestMove {
    let best = outcome.moves.first();
    let behind = i64::from(best.map_or(0, |best| -best.value));
    let resigns = options.spin("ResignValue") < NEVER_RESIGN && behind >= options.spin("ResignValue");
    match best.and_then(|best| best.line.first()) {
        Some(&mv) if !resigns => {
            BestMove::Play { mv, ponder: outcome.reply.filter(|_| options.check("USI_Ponder")) }
        }
        _ => BestMove::Resign,
    }
}
