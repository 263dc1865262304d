//! Constants of the search that can be tuned. With the feature `tune` each is an option of the engine; in the shipped
//! program they are constants, and cost nothing.

use usi_shell::{OptionSpec, Options};

/// Declares the constants: name of the method, name of the option, value, bounds, meaning.
macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident $option:literal $value:literal in $least:literal to $most:literal;)*) => {
        /// The constants of a search.
        #[cfg(feature = "tune")]
        #[derive(Clone, Copy, Debug)]
        pub struct Tuned { $($name: i32,)* }

        /// The constants of a search.
        #[cfg(not(feature = "tune"))]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Tuned {}

        #[cfg(feature = "tune")]
        impl Default for Tuned {
            fn default() -> Self {
                Self { $($name: $value,)* }
            }
        }

        #[cfg(feature = "tune")]
        impl Tuned {
            /// The options that set them.
            pub fn options() -> Vec<OptionSpec> {
                vec![$(OptionSpec::spin($option, $value, $least..=$most),)*]
            }

            /// The values of the options.
            pub fn of(options: &Options) -> Self {
                Self { $($name: options.spin($option) as i32,)* }
            }

            $($(#[$doc])* pub(super) const fn $name(self) -> i32 { self.$name })*
        }

        #[cfg(not(feature = "tune"))]
        impl Tuned {
            /// No options: they are constants.
            pub fn options() -> Vec<OptionSpec> {
                vec![]
            }

            /// The constants.
            pub fn of(_options: &Options) -> Self {
                Self {}
            }

            $($(#[$doc])* pub(super) const fn $name(self) -> i32 { $value })*
        }
    };
}

constants! {
    /// Centipawns a ply by which an evaluation above beta cuts.
    futility "FutilityMargin" 150 in 20 to 600;
    /// Plies by which the search after a null move is shallower.
    null_reduction "NullReduction" 3 in 1 to 8;
    /// Centipawns above beta for which it is one ply shallower still.
    null_evaluation "NullEvaluation" 300 in 50 to 1500;
    /// Centipawns above beta that a capture has to promise.
    capture_margin "CaptureMargin" 300 in 50 to 1200;
    /// Reduction of late moves: constant part, in hundredths of a ply.
    reduction_base "ReductionBase" 60 in 0 to 250;
    /// Reduction of late moves: divisor of the logarithms, in hundredths.
    reduction_divisor "ReductionDivisor" 210 in 80 to 800;
    /// History of a quiet move that is worth a ply of its reduction.
    reduction_history "ReductionHistory" 6000 in 1000 to 30000;
    /// Quiet moves tried at depth 0.
    late_moves "LateMoves" 4 in 1 to 24;
    /// History a ply below which a quiet move is left out.
    history_pruning "HistoryPruning" 3000 in 300 to 15000;
    /// Centipawns below alpha at which quiet moves are left out.
    quiet_margin "QuietMargin" 180 in 0 to 800;
    /// The same, for each ply.
    quiet_margin_ply "QuietMarginPly" 110 in 20 to 600;
    /// Centipawns a squared ply that a quiet move may lose by exchanges.
    quiet_exchange "QuietExchange" 40 in 5 to 250;
    /// Centipawns a ply that a capture may lose by exchanges.
    capture_exchange "CaptureExchange" 220 in 40 to 800;
    /// Centipawns beyond a capture's gain that keep it alive in the quiescence search.
    delta_margin "DeltaMargin" 200 in 0 to 1000;
    /// Plies of the quiescence search with quiet checks and mates in one.
    check_plies "CheckPlies" 1 in 0 to 4;
    /// Centipawns a ply below alpha at which quiescence search decides.
    razor_margin "RazorMargin" 350 in 50 to 1500;
    /// Centipawns above beta that the evaluation needs before a null move.
    null_margin "NullMargin" 150 in -300 to 800;
    /// Half width of the first aspiration window, in centipawns.
    window "AspirationWindow" 30 in 5 to 400;
    /// Bonus of history a ply for a move that cut.
    history_bonus "HistoryBonus" 127 in 0 to 600;
    /// Centipawns a ply by which all other moves are worse than a singular one.
    singular_margin "SingularMargin" 2 in 0 to 20;
    /// Weight of the relations of a king and a piece, in percent.
    king_relations "KingRelations" 100 in 0 to 400;
    /// Weight of the relations of two pieces, in percent.
    pair_relations "PairRelations" 100 in 0 to 400;
    /// Centipawns for the side to move.
    turn_bonus "TurnBonus" 39 in -300 to 300;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "tune"))]
    #[test]
    fn a_program_for_play_has_no_options_for_its_constants_and_carries_none() {
        assert_eq!((size_of::<Tuned>(), Tuned::options().len()), (0, 0));
    }

    #[cfg(feature = "tune")]
    #[test]
    #[allow(clippy::unwrap_used)]
    fn every_constant_changes_the_search_and_by_default_none_does() {
        use crate::{
            evaluation::Weights,
            search::{Searcher, Task, Terms},
        };
        let weights = Weights::choose("default").unwrap();
        let positions = include_str!("../../../../kifu/middlegames.sfen");
        let game = positions.lines().find(|line| line.contains(" b ") || line.contains(" w ")).unwrap();
        let game = usi_shell::Game::from_sfen(game).unwrap();
        let nodes = |tuned: Tuned| {
            let terms = Terms { tuned, ..Terms::default() };
            let task = Task { depth: Some(9), lines: 1, threads: 1, terms, ..Task::default() };
            Searcher::new(4).think(&weights, &game, &task, |_| true).nodes
        };
        let declared = || Options::declare(Tuned::options());
        let all = nodes(Tuned::of(&declared()));
        assert_eq!(nodes(Tuned::default()), all);
        for option in Tuned::options() {
            let name = option.name().to_owned();
            let changes = |value: i64| {
                let mut options = declared();
                let value = options.spin(&name) + value;
                let set = options.apply(&format!("name {name} value {value}"));
                set.is_ok() && nodes(Tuned::of(&options)) != all
            };
            // One of them is within its bounds.
            assert!([1, -1, 10, -10, 100, -100, 1000, -1000, -2700].into_iter().any(changes), "{name}");
        }
    }
}
