//! The builds of a league: all that are possible, or those of them that tell the effects apart best.
//!
//! A design is chosen by exchanging one level of one build at a time as long as the determinant of its information
//! matrix grows (D-optimality; R. K. Meyer and C. J. Nachtsheim, "The coordinate-exchange algorithm for constructing
//! exact optimal experimental designs", Technometrics 37, 1995). No build is chosen twice, and the engine as it is (every
//! part at its first level) is always among them. The same seed gives the same design.

use super::{Field, Levels};
use nalgebra::{DMatrix, DVector};
use referee::rating::mix::{GOLDEN, mix};
use std::collections::HashSet;

/// Most passes over all builds.
const PASSES: usize = 20;
/// Least gain of an exchange, as a share of the determinant.
const GAIN: f64 = 1e-6;
/// Keeps the information invertible before the builds are spread out.
const RIDGE: f64 = 1e-4;
/// Most effects that a design is chosen for.
const EFFECTS: usize = 1000;
/// Designs that are tried, each from other builds; large ones once.
const TRIES: (usize, usize) = (8, 80);

/// Why there is no design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDesign {
    /// Fewer builds than effects.
    #[error(
        "{builds} builds are too few for {effects} effects: {least} are needed at least{}",
        without_pairs.map_or_else(String::new, |least| {
            format!(", or {least} with `pairs = false`, so that pairs of parts have no effects")
        })
    )]
    Few {
        /// Builds that were asked for.
        builds: usize,
        /// Effects of parts and pairs.
        effects: usize,
        /// The least number of builds.
        least: usize,
        /// The least number if pairs had no effects; `None`: they have none already.
        without_pairs: Option<usize>,
    },
    /// More effects than can be computed with.
    #[error(
        "{effects} effects are more than {EFFECTS}; leave out parts or levels{}",
        if *.pairs { ", or write `pairs = false`" } else { "" }
    )]
    Many {
        /// Effects of parts and pairs.
        effects: usize,
        /// True if they were few enough without pairs.
        pairs: bool,
    },
    /// All possible builds together are too few, for instance those of two parts of two levels.
    #[error(
        "all {builds} possible builds together are too few for {effects} effects and their errors, which take {least}: \
         add a part or a level{}",
        match .pairs {
            Some(true) => ", or write `pairs = false`",
            Some(false) => " and write `pairs = false`",
            None => "",
        }
    )]
    Small {
        /// Possible builds.
        builds: usize,
        /// Effects of parts and pairs.
        effects: usize,
        /// The least number of builds.
        least: usize,
        /// Whether they were enough without effects of pairs; `None` if there are no such effects.
        pairs: Option<bool>,
    },
}

/// The builds of a league: `builds` of them, or if that is `None` twice as many as there are effects; at most all.
///
/// # Errors
/// [`NoDesign`] if no such number of builds tells the effects apart and leaves two more to measure errors by.
pub fn design(field: &Field, builds: Option<usize>, seed: u64) -> Result<Vec<Levels>, NoDesign> {
    let effects = field.effects().len();
    let parts = Field::new(field.levels().to_vec(), false).effects().len();
    if effects > EFFECTS {
        return Err(NoDesign::Many { effects, pairs: parts <= EFFECTS });
    }
    let all = usize::try_from(field.builds()).unwrap_or(usize::MAX);
    let least = least_builds(effects);
    if all < least {
        let pairs = (parts < effects).then(|| all >= least_builds(parts));
        return Err(NoDesign::Small { builds: all, effects, least, pairs });
    }
    let wanted = builds.unwrap_or((2 * (effects + 1)).max(least).next_multiple_of(2));
    if wanted < least {
        let without_pairs = (parts < effects).then(|| least_builds(parts));
        return Err(NoDesign::Few { builds: wanted, effects, least, without_pairs });
    }
    if wanted >= all {
        return Ok((0..all as u128).map(|number| field.build(number)).collect());
    }
    let tries = if effects <= TRIES.1 { TRIES.0 } else { 1 };
    let designs = (0..tries as u64).map(|attempt| {
        let mut lots = Lots::new(seed ^ attempt.wrapping_mul(0xd1b5_4a32_d192_ed03));
        let mut exchange = Exchange::new(field, wanted, &mut lots);
        exchange.improve();
        (exchange.log_determinant(), exchange.builds)
    });
    let best = designs.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, builds)| builds).unwrap_or_default();
    Ok(best)
}

/// The least number of builds for so many effects: one for each, one for the mean, and two for what a build has of its own.
fn least_builds(effects: usize) -> usize {
    effects + 3
}

/// Lots drawn from a seed.
pub struct Lots(u64);

impl Lots {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let bits = mix(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        bits
    }

    /// One of so many.
    pub fn draw(&mut self, below: usize) -> usize {
        (self.bits() % below.max(1) as u64) as usize
    }
}

struct Exchange<'a> {
    field: &'a Field,
    builds: Vec<Levels>,
    chosen: HashSet<Levels>,
    /// The inverse of the information.
    inverse: DMatrix<f64>,
}

impl<'a> Exchange<'a> {
    fn new(field: &'a Field, wanted: usize, lots: &mut Lots) -> Self {
        let base = vec![0; field.levels().len()];
        let mut chosen = HashSet::from([base.clone()]);
        let mut builds = vec![base];
        while builds.len() < wanted {
            let build: Levels = field.levels().iter().map(|&levels| lots.draw(levels)).collect();
            if chosen.insert(build.clone()) {
                builds.push(build);
            }
        }
        let inverse = DMatrix::zeros(0, 0);
        let mut exchange = Self { field, builds, chosen, inverse };
        exchange.invert();
        exchange
    }

    fn row(&self, build: &[usize]) -> DVector<f64> {
        self.field.row(build).insert_row(0, 1.0)
    }

    fn information(&self) -> DMatrix<f64> {
        let matrix = self.field.matrix(&self.builds).insert_column(0, 1.0);
        let mut information = matrix.tr_mul(&matrix);
        for i in 0..information.nrows() {
            information[(i, i)] += RIDGE;
        }
        information
    }

    fn invert(&mut self) {
        if let Some(factor) = self.information().cholesky() {
            self.inverse = factor.inverse();
        }
    }

    fn log_determinant(&self) -> f64 {
        let factor = self.information().cholesky();
        factor.map_or(f64::NEG_INFINITY, |factor| factor.l().diagonal().iter().map(|root| root.ln()).sum())
    }

    fn improve(&mut self) {
        for _ in 0..PASSES {
            let mut exchanged = false;
            // The first build is the engine as it is, which stays.
            for at in 1..self.builds.len() {
                for part in 0..self.field.levels().len() {
                    exchanged |= self.exchange(at, part);
                }
            }
            self.invert();
            if !exchanged {
                return;
            }
        }
    }

    /// Gives a build the level of a part that gains most; whether there is one.
    fn exchange(&mut self, at: usize, part: usize) -> bool {
        let old = self.row(&self.builds[at]);
        let by_old = &self.inverse * &old;
        let leverage = old.dot(&by_old);
        let mut best = (1.0 + GAIN, None);
        for level in (0..self.field.levels()[part]).filter(|level| *level != self.builds[at][part]) {
            let mut build = self.builds[at].clone();
            build[part] = level;
            if self.chosen.contains(&build) {
                continue;
            }
            let new = self.row(&build);
            let gain = (1.0 + new.dot(&(&self.inverse * &new))) * (1.0 - leverage) + new.dot(&by_old).powi(2);
            if gain > best.0 {
                best = (gain, Some((build, new)));
            }
        }
        let Some((build, new)) = best.1 else { return false };
        self.update(&new, 1.0);
        self.update(&old, -1.0);
        self.chosen.remove(&self.builds[at]);
        self.chosen.insert(build.clone());
        self.builds[at] = build;
        true
    }

    /// The inverse with a row more or less (J. Sherman and W. J. Morrison, 1950).
    fn update(&mut self, row: &DVector<f64>, sign: f64) {
        let by_row = &self.inverse * row;
        let scale = -sign / (1.0 + sign * row.dot(&by_row));
        self.inverse.ger(scale, &by_row, &by_row, 1.0);
    }
}
