//! Gradient descent.

use crate::evaluation::parameters::Parameters;
use crate::evaluation::sharing::{Group, Sharing};

use super::settings::Settings;

/// Learning rate of piece values relative to the others: all other parameters depend on their scale.
const MATERIAL_RATE: f32 = 0.5;

/// AdaGrad: keeps the sum of squared gradients of each parameter.
///
/// A step is the gradient divided by the square root of that sum, so that rare pieces are learned as fast as
/// pawns, which occur in every position.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimizer {
    /// Sum of squared gradients per parameter.
    pub squares: Vec<f32>,
}

impl Optimizer {
    /// All sums zero.
    pub fn new(sharing: &Sharing) -> Self {
        Self { squares: vec![0.0; sharing.parameters()] }
    }

    /// Updates all parameters by one step.
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
