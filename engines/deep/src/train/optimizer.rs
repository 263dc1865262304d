//! AdamW (Loshchilov and Hutter, 2019). Its state can be saved, unlike that of libtorch's optimiser through
//! tch.

use crate::network::weights::sorted;
use std::f64::consts::PI;
use tch::{TchError, Tensor, nn::VarStore};

const FIRST: f64 = 0.9;
const SECOND: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Learning rate schedule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// Maximum rate.
    pub rate: f64,
    /// Steps of linear warm-up from 0.
    pub warm_up: usize,
    /// Total number of steps; after the warm-up the rate falls to 0 by a half cosine.
    pub steps: usize,
}

impl Schedule {
    /// The rate of a step, from 0.
    pub(super) fn at(&self, step: usize) -> f64 {
        if step < self.warm_up {
            return self.rate * (step + 1) as f64 / self.warm_up as f64;
        }
        let rest = self.steps.saturating_sub(self.warm_up).max(1);
        let gone = (step - self.warm_up).min(rest) as f64 / rest as f64;
        self.rate * 0.5 * (1.0 + (PI * gone).cos())
    }
}

#[derive(Debug)]
pub(super) struct AdamW {
    learned: Vec<Learned>,
    decay: f64,
}

#[derive(Debug)]
struct Learned {
    name: String,
    weight: Tensor,
    first: Tensor,
    second: Tensor,
}

impl AdamW {
    pub(super) fn new(store: &VarStore, decay: f64) -> Self {
        let trainable = sorted(store).into_iter().filter(|(_, tensor)| tensor.requires_grad());
        let learned = trainable.map(|(name, weight)| {
            let (first, second) = (weight.zeros_like().detach(), weight.zeros_like().detach());
            Learned { name, weight, first, second }
        });
        Self { learned: learned.collect(), decay }
    }

    /// One step by the gradient of `loss`, whose norm is clipped to `longest`.
    pub(super) fn step(
        &mut self,
        loss: &Tensor,
        rate: f64,
        step: usize,
        longest: f64,
    ) -> Result<(), TchError> {
        self.learned.iter_mut().for_each(|learned| learned.weight.zero_grad());
        loss.f_backward()?;
        tch::no_grad(|| {
            let scale = (longest / self.gradient_norm()?.max(1e-12)).min(1.0);
            let nth = step as f64 + 1.0;
            let corrected = rate / (1.0 - FIRST.powf(nth));
            let bias = (1.0 - SECOND.powf(nth)).sqrt();
            self.learned
                .iter_mut()
                .try_for_each(|learned| learned.update(scale, corrected, bias, self.decay * rate))
        })
    }

    fn gradient_norm(&self) -> Result<f64, TchError> {
        let squares: Vec<Tensor> =
            self.gradients().map(|gradient| gradient.square().sum(tch::Kind::Float)).collect();
        Ok(Tensor::f_stack(&squares, 0)?.sum(tch::Kind::Float).f_double_value(&[])?.sqrt())
    }

    fn gradients(&self) -> impl Iterator<Item = Tensor> {
        self.learned.iter().map(|learned| learned.weight.grad()).filter(Tensor::defined)
    }

    /// Copies of the state without the weights, by name.
    pub(super) fn state(&self) -> Vec<(String, Tensor)> {
        let named = |learned: &Learned| {
            let name = &learned.name;
            [
                (format!("first/{name}"), learned.first.copy()),
                (format!("second/{name}"), learned.second.copy()),
            ]
        };
        self.learned.iter().flat_map(named).collect()
    }

    /// The tensors of [`state`](Self::state), to be restored.
    pub(super) fn state_mut(&mut self) -> impl Iterator<Item = (String, &mut Tensor)> {
        self.learned.iter_mut().flat_map(|learned| {
            let name = &learned.name;
            [(format!("first/{name}"), &mut learned.first), (format!("second/{name}"), &mut learned.second)]
        })
    }
}

impl Learned {
    fn update(&mut self, scale: f64, rate: f64, bias: f64, decay: f64) -> Result<(), TchError> {
        let gradient = self.weight.grad();
        // Parameters that the loss does not depend on, such as an untrained value head, have no gradient.
        if !gradient.defined() {
            return Ok(());
        }
        let gradient = gradient.f_mul_scalar(scale)?;
        let _in_place = self.first.f_lerp_(&gradient, 1.0 - FIRST)?;
        let _in_place = self.second.f_lerp_(&gradient.f_square()?, 1.0 - SECOND)?;
        // Biases and normalisation scales have no weight decay.
        if self.weight.dim() > 1 {
            let _in_place = self.weight.f_mul_scalar_(1.0 - decay)?;
        }
        let root = self.second.f_sqrt()?.f_div_scalar(bias)?.f_add_scalar(EPSILON)?;
        let step = self.first.f_div(&root)?.f_mul_scalar(-rate)?;
        let _in_place = self.weight.f_add_(&step)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::{Device, Kind, nn::VarStore};

    #[test]
    fn the_rate_rises_in_a_line_and_falls_along_a_cosine() {
        let schedule = Schedule { rate: 1.0, warm_up: 10, steps: 110 };
        let rates = [0, 4, 9, 10, 60, 109, 500].map(|step| (schedule.at(step) * 1000.0).round());
        assert_eq!(rates, [100.0, 500.0, 1000.0, 1000.0, 500.0, 0.0, 0.0]);
    }

    #[test]
    fn steps_converge_to_the_minimum_of_a_quadratic() {
        let store = VarStore::new(Device::Cpu);
        let place = store.root().var("place", &[2], tch::nn::Init::Const(5.0));
        let bottom = Tensor::from_slice(&[1.0f32, -2.0]);
        let mut optimizer = AdamW::new(&store, 0.0);
        for step in 0..400 {
            let loss = (&place - &bottom).square().sum(Kind::Float);
            optimizer.step(&loss, 0.1, step, 100.0).unwrap();
        }
        let distance = (&place - &bottom).abs().max().double_value(&[]);
        assert!(distance < 0.05, "{distance}");
    }
}
