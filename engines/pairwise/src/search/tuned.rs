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
            #[must_use]
            pub fn options() -> Vec<OptionSpec> {
                vec![$(OptionSpec::spin($option, $value, $least..=$most),)*]
            }

            /// The values of the options.
            #[must_use]
            pub fn of(options: &Options) -> Self {
                Self { $($name: options.spin($option) as i32,)* }
            }

            $($(#[$doc])* pub(super) const fn $name(self) -> i32 { self.$name })*
        }

        #[cfg(not(feature = "tune"))]
        impl Tuned {
            /// No options: they are constants.
            #[must_use]
            pub fn options() -> Vec<OptionSpec> {
                vec![]
            }

            /// The constants.
            #[must_use]
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
    quiet_margin_ply "QuietMarginPly" 130 in 20 to 600;
    /// Centipawns a squared ply that a quiet move may lose by exchanges.
    quiet_exchange "QuietExchange" 40 in 5 to 250;
    /// Centipawns a ply that a capture may lose by exchanges.
    capture_exchange "CaptureExchange" 220 in 40 to 800;
    /// Centipawns beyond a capture's gain that keep it alive in the quiescence search.
    delta_margin "DeltaMargin" 200 in 0 to 1000;
}
