//! Steps against the slope.

use crate::evaluation::parameters::Parameters;
use crate::evaluation::sharing::{Group, Sharing};

use super::settings::Settings;

/// Piece values move slowly: everything else stands on them.
const MATERIAL_RATE: f32 = 0.5;

/// Remembers how much each parameter has been asked for.
///
/// A step is the slope divided by the root of the sum of all its squares so far. Without it a pawn, which is
/// everywhere, would learn and a dragon would not.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimizer {
    /// Sums of squared slopes.
    pub squares: Vec<f32>,
}

impl Optimizer {
    /// Has seen nothing.
    pub fn new(sharing: &Sharing) -> Self {
        Self { squares: vec![0.0; sharing.parameters()] }
    }

    /// One step of all parameters.
    pub fn step(
        &mut self,
        parameters: &mut Parameters,
        slopes: &[f32],
        sharing: &Sharing,
        settings: &Settings,
    ) {
        let material = sharing.range(Group::Material).end;
        let each = parameters.values.iter_mut().zip(slopes).zip(&mut self.squares);
        for (at, ((value, &slope), squares)) in each.enumerate() {
            if slope != 0.0 {
                *squares += slope * slope;
                let rate = if at < material { MATERIAL_RATE } else { 1.0 } * settings.rate;
                *value -= rate * slope / (squares.sqrt() + settings.damping);
            }
            if at >= material {
                let kept = *value * (1.0 - settings.l2);
                *value = (kept.abs() - settings.l1).max(0.0).copysign(kept);
            }
        }
        parameters.restore_material_sum();
    }
}
