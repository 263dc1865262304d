//! The builds of a league: all that are possible, or those of them that tell the effects apart best.
//!
//! A part of all builds is drawn by lot: of many draws the one whose information matrix has the largest determinant
//! (D-optimality). No build is chosen twice, and the engine as it is (every part at its first level) is always among them. The
//! same seed gives the same design.

use super::{Field, Levels};
use referee::rating::mix::{GOLDEN, mix};
use std::collections::HashSet;

/// Most effects that a design is chosen for.
const EFFECTS: usize = 1000;
/// Draws of builds that are compared: of few effects, and of many.
const DRAWS: [u64; 2] = [200, 4];
/// Number of effects up to which there are few.
const FEW: usize = 80;

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
    /// No draw of so many builds tells the effects apart.
    #[error("{builds} builds that were drawn do not tell {effects} effects apart: ask for more builds")]
    Alike {
        /// Builds that were asked for.
        builds: usize,
        /// Effects of parts and pairs.
        effects: usize,
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
    let mut lots = Lots::new(seed);
    let designs = (0..DRAWS[usize::from(effects > FEW)]).map(|_| drawn(field, wanted, &mut lots));
    let best = designs.filter_map(|builds| Some((log_determinant(field, &builds)?, builds)));
    let best = best.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(_, builds)| field.aliased(builds).is_empty());
    best.map(|(_, builds)| builds).ok_or(NoDesign::Alike { builds: wanted, effects })
}

/// The engine as it is and different builds by lot.
fn drawn(field: &Field, wanted: usize, lots: &mut Lots) -> Vec<Levels> {
    let base = vec![0; field.levels().len()];
    let mut chosen = HashSet::from([base.clone()]);
    let mut builds = vec![base];
    while builds.len() < wanted {
        let build: Levels = field.levels().iter().map(|&levels| lots.draw(levels)).collect();
        if chosen.insert(build.clone()) {
            builds.push(build);
        }
    }
    builds
}

/// The logarithm of the determinant of the information of these builds; `None` where it is zero.
fn log_determinant(field: &Field, builds: &[Levels]) -> Option<f64> {
    let matrix = field.matrix(builds).insert_column(0, 1.0);
    let factor = matrix.tr_mul(&matrix).cholesky()?;
    Some(factor.l_dirty().diagonal().iter().map(|root| root.ln()).sum())
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
