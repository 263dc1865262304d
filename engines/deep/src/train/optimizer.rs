//! AdamW (Loshchilov and Hutter, 2019). Its state can be saved, unlike that of libtorch's optimiser through
//! tch.

use crate::network::weights::sorted;
use std::f64::consts::PI;
use tch::{Kind, TchError, Tensor, nn::VarStore};

const FIRST: f64 = 0.9;
const SECOND: f64 = 0.999;
const EPSILON: f64 = 1e-8;
/// Each parameter begins at a multiple of so many numbers (256 bytes): kernels of CUDA read several at once, and an H100 refused
/// others as a misaligned address.
const ALIGNMENT: i64 = 64;

/// Learning rate schedule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// Maximum rate.
    pub rate: f64,
    /// Steps of linear warm-up from 0.
    pub warm_up: usize,
}

impl Schedule {
    /// The rate of a step, from 0, when so much of the training is over, 0 to 1: it falls to 0 by a half cosine.
    pub(super) fn at(&self, step: usize, gone: f64) -> f64 {
        let warm = ((step + 1) as f64 / self.warm_up.max(1) as f64).min(1.0);
        self.rate * warm * 0.5 * (1.0 + (PI * gone.clamp(0.0, 1.0)).cos())
    }
}

/// All parameters lie in one tensor, of which the network's are parts: a step is a few operations, however many layers there
/// are, and waits for no number from the device.
#[derive(Debug)]
pub(super) struct AdamW {
    parameters: Vec<(String, Tensor)>,
    weights: Tensor,
    first: Tensor,
    second: Tensor,
    /// Decay per rate: 0 for biases and the scales of normalisations.
    decay: Tensor,
}

impl AdamW {
    pub(super) fn new(store: &VarStore, decay: f64) -> Result<Self, TchError> {
        let mut parameters = sorted(store);
        parameters.retain(|(_, tensor)| tensor.requires_grad());
        tch::no_grad(|| {
            let decays = parameters
                .iter()
                .map(|(_, weight)| weight.full_like(if weight.dim() > 1 { decay } else { 0.0 }));
            let decay = flat(decays)?;
            let weights = flat(parameters.iter().map(|(_, weight)| weight.shallow_clone()))?;
            let parts = parts(&parameters, &weights);
            for ((_, weight), part) in parameters.iter_mut().zip(parts) {
                weight.f_set_data(&part)?;
            }
            let (first, second) = (weights.zeros_like(), weights.zeros_like());
            Ok(Self { parameters, weights, first, second, decay })
        })
    }

    /// One step by the gradient of `loss`, whose norm is clipped to `longest`.
    pub(super) fn step(
        &mut self,
        loss: &Tensor,
        rate: f64,
        step: usize,
        longest: f64,
    ) -> Result<(), TchError> {
        self.parameters.iter_mut().for_each(|(_, weight)| weight.zero_grad());
        loss.f_backward()?;
        tch::no_grad(|| {
            let mut gradient = flat(self.gradients())?;
            let norm = gradient.f_square()?.f_sum(Kind::Float)?.f_sqrt()?.f_clamp_min(1e-12)?;
            let _in_place =
                gradient.f_mul_(&norm.f_reciprocal()?.f_mul_scalar(longest)?.f_clamp_max(1.0)?)?;
            let _in_place = self.first.f_lerp_(&gradient, 1.0 - FIRST)?;
            let _in_place = self.second.f_lerp_(&gradient.f_square()?, 1.0 - SECOND)?;
            let nth = step as f64 + 1.0;
            let bias = (1.0 - SECOND.powf(nth)).sqrt();
            let root = self.second.f_sqrt()?.f_div_scalar(bias)?.f_add_scalar(EPSILON)?;
            let change = self.first.f_div(&root)?.f_mul_scalar(-rate / (1.0 - FIRST.powf(nth)))?;
            let kept = self.decay.f_mul_scalar(-rate)?.f_add_scalar(1.0)?;
            let _in_place = self.weights.f_mul_(&kept)?.f_add_(&change)?;
            Ok(())
        })
    }

    /// Parameters that the loss does not depend on, such as an untrained value head, have no gradient.
    fn gradients(&self) -> impl Iterator<Item = Tensor> {
        self.parameters.iter().map(|(_, weight)| {
            let gradient = weight.grad();
            if gradient.defined() { gradient } else { weight.zeros_like().detach() }
        })
    }

    /// The state without the weights, by name. The tensors are parts of the state: what is copied into them restores it.
    pub(super) fn state(&self) -> Vec<(String, Tensor)> {
        let named = |prefix: &str, flat| {
            let parts = parts(&self.parameters, flat).into_iter();
            let names = self.parameters.iter().map(move |(name, _)| format!("{prefix}/{name}"));
            names.zip(parts).collect::<Vec<_>>()
        };
        let mut state = named("first", &self.first);
        state.extend(named("second", &self.second));
        state
    }
}

/// One tensor of all of them, each with zeros behind it up to where the next begins.
fn flat(tensors: impl IntoIterator<Item = Tensor>) -> Result<Tensor, TchError> {
    let padded = |tensor: Tensor| {
        let row = tensor.f_reshape([-1])?;
        let behind = row.numel().next_multiple_of(ALIGNMENT as usize) as i64 - row.numel() as i64;
        row.f_constant_pad_nd([0, behind])
    };
    Tensor::f_cat(&tensors.into_iter().map(padded).collect::<Result<Vec<_>, _>>()?, 0)
}

/// The parts of a tensor of all parameters, in their shapes.
fn parts(parameters: &[(String, Tensor)], flat: &Tensor) -> Vec<Tensor> {
    let mut at = 0;
    let part = |(_, weight): &(String, Tensor)| {
        let (begin, count) = (at, weight.numel() as i64);
        at += count.unsigned_abs().next_multiple_of(ALIGNMENT.unsigned_abs()) as i64;
        flat.narrow(0, begin, count).view(weight.size().as_slice())
    };
    parameters.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    #[test]
    fn the_rate_rises_in_a_line_and_falls_along_a_cosine() {
        let schedule = Schedule { rate: 1.0, warm_up: 10 };
        let rates = [(0, 0.0), (4, 0.0), (9, 0.0), (60, 0.5), (109, 1.0), (500, 2.0)];
        let rates = rates.map(|(step, gone)| (schedule.at(step, gone) * 1000.0).round());
        assert_eq!(rates, [100.0, 500.0, 1000.0, 500.0, 0.0, 0.0]);
    }

    #[test]
    fn every_parameter_begins_where_a_gpu_can_read_it() {
        let store = VarStore::new(Device::Cpu);
        for (name, size) in [("a", 3), ("b", 64), ("c", 65), ("d", 1)] {
            let _ = store.root().var(name, &[size], tch::nn::Init::Const(f64::from(size as i32)));
        }
        let optimizer = AdamW::new(&store, 0.0).unwrap();
        let begin = optimizer.weights.data_ptr() as usize;
        for (name, weight) in &optimizer.parameters {
            assert_eq!((weight.data_ptr() as usize - begin) % 256, 0, "{name}");
            assert_eq!(weight.min().double_value(&[]), weight.numel() as f64, "{name} kept its values");
        }
    }

    #[test]
    fn steps_converge_to_the_minimum_of_a_quadratic() {
        let store = VarStore::new(Device::Cpu);
        let place = store.root().var("place", &[2], tch::nn::Init::Const(5.0));
        let bottom = Tensor::from_slice(&[1.0f32, -2.0]);
        let mut optimizer = AdamW::new(&store, 0.0).unwrap();
        for step in 0..400 {
            let loss = (&place - &bottom).square().sum(Kind::Float);
            optimizer.step(&loss, 0.1, step, 100.0).unwrap();
        }
        let distance = (&place - &bottom).abs().max().double_value(&[]);
        assert!(distance < 0.05, "{distance}");
    }
}
