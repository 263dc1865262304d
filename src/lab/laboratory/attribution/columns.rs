//! Parts and pairs as columns of a matrix.

use nalgebra::{DMatrix, DVector};

/// Share of a column that has to be its own, for it to be told apart from those before it.
const LEAST_OWN_SHARE: f64 = 1e-8;

/// The parts of an engine, by the numbers of their levels (two or more each).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    levels: Vec<usize>,
    pairs: bool,
}

/// What may be worth something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// A level of a part, against its first level, on average over the other parts.
    Part {
        /// The part.
        part: usize,
        /// The level, from 1.
        level: usize,
    },
    /// Levels of two parts together, beyond the sum of what both are worth.
    Pair {
        /// The parts, the lower first.
        parts: [usize; 2],
        /// The level of each, from 1.
        levels: [usize; 2],
    },
}

impl Field {
    /// Parts with these numbers of levels; with `pairs`, pairs of parts have effects of their own.
    pub fn new(levels: Vec<usize>, pairs: bool) -> Self {
        Self { levels, pairs }
    }

    /// Number of levels of each part.
    pub fn levels(&self) -> &[usize] {
        &self.levels
    }

    /// Number of builds that are possible; the greatest number there is, if they are more.
    pub fn builds(&self) -> u128 {
        self.levels.iter().fold(1, |product, &levels| product.saturating_mul(levels as u128))
    }

    /// A possible build by its number, the first part's level changing slowest.
    pub fn build(&self, mut number: u128) -> Vec<usize> {
        let mut build = vec![0; self.levels.len()];
        for (level, &levels) in build.iter_mut().zip(&self.levels).rev() {
            *level = (number % levels as u128) as usize;
            number /= levels as u128;
        }
        build
    }

    /// The effects: parts, then pairs.
    pub fn effects(&self) -> Vec<Effect> {
        let own = |part: usize| (1..self.levels[part]).map(move |level| (part, level));
        let parts = (0..self.levels.len()).flat_map(own);
        let mut effects: Vec<Effect> =
            parts.clone().map(|(part, level)| Effect::Part { part, level }).collect();
        if self.pairs {
            for (first, one) in parts.clone() {
                for (second, other) in parts.clone().filter(|(second, _)| *second > first) {
                    effects.push(Effect::Pair { parts: [first, second], levels: [one, other] });
                }
            }
        }
        effects
    }

    /// The entries of a build: an effect of a part is 1 for its level and 0 for others, less its mean over the part's
    /// levels, so that it is the difference to the first level whatever the other parts are; that of a pair is the product.
    pub fn row(&self, build: &[usize]) -> DVector<f64> {
        let own = |part: usize, level: usize| {
            f64::from(u8::from(build[part] == level)) - 1.0 / self.levels[part] as f64
        };
        let entries = self.effects().into_iter().map(|effect| match effect {
            Effect::Part { part, level } => own(part, level),
            Effect::Pair { parts: [a, b], levels: [x, y] } => own(a, x) * own(b, y),
        });
        DVector::from_iterator(self.effects().len(), entries)
    }

    /// The rows of several builds.
    pub fn matrix(&self, builds: &[Vec<usize>]) -> DMatrix<f64> {
        let effects = self.effects().len();
        let rows: Vec<_> = builds.iter().map(|build| self.row(build).transpose()).collect();
        if rows.is_empty() { DMatrix::zeros(0, effects) } else { DMatrix::from_rows(&rows) }
    }

    /// Effects that these builds do not tell apart from those before them, or from the mean.
    pub fn aliased(&self, builds: &[Vec<usize>]) -> Vec<Effect> {
        let matrix = self.matrix(builds);
        let mut basis: Vec<DVector<f64>> = vec![DVector::from_element(builds.len(), 1.0).normalize()];
        let mut aliased = vec![];
        for (column, effect) in matrix.column_iter().zip(self.effects()) {
            let mut rest = column.into_owned();
            // Twice, because the first time leaves errors of rounding.
            for known in basis.iter().chain(&basis) {
                let part = known.dot(&rest);
                rest.axpy(-part, known, 1.0);
            }
            match rest.norm_squared() > LEAST_OWN_SHARE * column.norm_squared() {
                true => basis.push(rest.normalize()),
                false => aliased.push(effect),
            }
        }
        aliased
    }
}
