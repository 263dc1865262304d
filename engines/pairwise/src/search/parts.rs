//! Parts of the search that can be left out, to learn what each is worth (`renmei attribute`).
//!
//! Only a program built with the feature `parts` can leave any out: it has an option for each. In every other program
//! [`Parts`] has no size and every question is answered at compile time.

use usi_shell::{OptionSpec, Options};

/// A part of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum Part {
    /// Null-move pruning.
    NullMove,
    /// Late-move reductions, at the root too.
    Reductions,
    /// Pruning of late, hopeless and losing moves at low depth.
    MovePruning,
    /// Pruning by the static evaluation (razoring and reverse futility).
    StaticPruning,
    /// ProbCut.
    ProbCut,
    /// Killer moves and counter moves.
    Killers,
    /// The history of quiet moves and captures.
    History,
    /// Aspiration windows.
    Aspiration,
    /// Quiet checks and mates in one at the first ply of quiescence search.
    QuiescenceChecks,
    /// Extensions of checks and of singular moves.
    Extensions,
}

#[cfg(feature = "parts")]
impl Part {
    /// Every part.
    const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name of its option.
    fn name(self) -> &'static str {
        match self {
            Self::NullMove => "NullMove",
            Self::Reductions => "LateMoveReductions",
            Self::MovePruning => "LateMovePruning",
            Self::StaticPruning => "StaticPruning",
            Self::ProbCut => "ProbCut",
            Self::Killers => "Killers",
            Self::History => "History",
            Self::Aspiration => "Aspiration",
            Self::QuiescenceChecks => "QuiescenceChecks",
            Self::Extensions => "Extensions",
        }
    }
}

/// The parts of a search; by default it has all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Bits of those that are left out.
    #[cfg(feature = "parts")]
    out: u16,
}

#[cfg(feature = "parts")]
impl Parts {
    /// True if the search has a part.
    #[inline]
    pub const fn has(self, part: Part) -> bool {
        self.out >> part as u16 & 1 == 0
    }

    /// The options: one for each part.
    pub fn options() -> impl Iterator<Item = OptionSpec> {
        Part::ALL.iter().map(|part| OptionSpec::check(part.name(), true))
    }

    /// The parts that the options leave.
    pub fn of(options: &Options) -> Self {
        let out = Part::ALL.iter().filter(|part| !options.check(part.name()));
        Self { out: out.fold(0, |bits, &part| bits | 1 << part as u16) }
    }
}

#[cfg(not(feature = "parts"))]
impl Parts {
    /// Always true: the search has all parts.
    #[inline(always)]
    pub const fn has(self, _part: Part) -> bool {
        true
    }

    /// The options: none.
    pub fn options() -> impl Iterator<Item = OptionSpec> {
        std::iter::empty()
    }

    /// All parts.
    pub fn of(_options: &Options) -> Self {
        Self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "parts"))]
    #[test]
    fn a_program_for_play_has_all_parts_no_options_for_them_and_carries_nothing() {
        assert_eq!((size_of::<Parts>(), Parts::options().count()), (0, 0));
        assert!(Parts::default().has(Part::NullMove));
    }

    #[cfg(feature = "parts")]
    #[test]
    #[allow(clippy::unwrap_used)]
    fn a_search_without_a_part_is_another_one() {
        use crate::{
            evaluation::Weights,
            search::{Searcher, Task, Terms},
        };
        let weights = Weights::choose("default").unwrap();
        let positions = include_str!("../../../../kifu/middlegames.sfen");
        let game = positions.lines().find(|line| line.contains(" b ") || line.contains(" w ")).unwrap();
        let game = usi_shell::Game::from_sfen(game).unwrap();
        let nodes = |parts: Parts| {
            let terms = Terms { parts, ..Terms::default() };
            let task = Task { depth: Some(9), lines: 1, threads: 1, terms, ..Task::default() };
            Searcher::new(4).think(&weights, &game, &task, |_| true).nodes
        };
        let all = nodes(Parts::default());
        for &part in Part::ALL {
            assert_ne!(nodes(Parts { out: 1 << part as u16 }), all, "{}", part.name());
        }
        let options = Options::declare(Parts::options());
        assert_eq!(Parts::of(&options), Parts::default());
    }
}
