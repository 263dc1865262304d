//! Accuracy of a network on held-out positions.

use super::{
    Corpus,
    loader::{Batch, BatchBuilder},
    too_few,
};
use crate::{
    evaluator::{Encoding, TorchOptions, kind_for},
    network::{Description, Network, outside},
    samples::Sample,
};
use anyhow::Result;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::{fmt, path::Path};
use tch::{Device, Kind, Reduction, TchError, Tensor};

/// Results of a measurement. Shares and probabilities are 0 to 1; heads that the network lacks are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Number of positions.
    pub positions: usize,
    /// Accuracy of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyAccuracy>,
    /// Accuracy of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<ValueAccuracy>,
}

/// Accuracy of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyAccuracy {
    /// Share of positions whose most probable legal move was played. For legal moves that share a label a hit
    /// counts as 1 / (number of moves).
    pub top1: f64,
    /// Share of positions where the label of the move played is among the five most probable labels of legal
    /// moves.
    pub top5: f64,
    /// Mean of -ln(probability of the move played), softmax over the legal moves.
    pub loss: f64,
}

/// Accuracy of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValueAccuracy {
    /// Number of positions of games with a result.
    pub results: usize,
    /// Mean absolute error to the result of the game (1, 0.5, 0).
    pub error: f64,
    /// Share of positions of decided games in which the value was on the winner's side of 0.5.
    pub winner: f64,
    /// Number of positions with a training target, which mixes result and score.
    pub targets: usize,
    /// Mean squared error to the target.
    pub target_brier: f64,
}

/// Parameters of a measurement.
#[derive(Args, Clone, Copy, Debug)]
pub struct AccuracyOptions {
    /// The device.
    #[command(flatten)]
    pub torch: TorchOptions,
    /// Percent of the games to measure on: those that a training with the same number holds out.
    #[arg(long, default_value_t = 5)]
    pub held_out: u64,
    /// Maximum number of positions.
    #[arg(long, default_value_t = 20_000)]
    pub most: usize,
}

/// Measures the network of a description file on held-out games, as a search computes it.
///
/// # Errors
/// When the network or the device is unavailable, or no game is held out.
pub fn measure_file(network: &Path, corpus: Corpus, options: &AccuracyOptions) -> Result<Accuracy> {
    let AccuracyOptions { torch, held_out, most } = options;
    if torch.threads > 0 {
        tch::set_num_threads(torch.threads as i32);
    }
    let device = torch.device.find()?;
    let kind = kind_for(device, torch.half);
    let network = Network::load(Some(network), device, kind)?;
    let Description { features, labels, .. } = *network.description();
    let batch_builder = BatchBuilder { encoding: Encoding { features, labels }, batch: 128, blend: 0.5 };
    let split = corpus.split(*held_out);
    if split.held_out.is_empty() {
        return Err(too_few(split.training.len(), 0, 1));
    }
    measure(&network, &batch_builder, &split.held_out, *most, (device, outside(kind)))
}

/// `2000 held-out positions: top-1 0.382, ...`.
impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} held-out positions:", self.positions)?;
        if let Some(PolicyAccuracy { top1, top5, loss, .. }) = &self.policy {
            write!(f, " top-1 {top1:.3}, top-5 {top5:.3}, loss {loss:.3}")?;
        }
        if let Some(ValueAccuracy { results, error, winner, targets, target_brier }) = &self.value {
            let comma = if self.policy.is_some() { ";" } else { "" };
            write!(f, "{comma} value ")?;
            if *results > 0 {
                write!(f, "error {error:.3}, winner {winner:.3} of {results} with a result, ")?;
            }
            write!(f, "squared error {target_brier:.4} to the target of {targets}")?;
        }
        Ok(())
    }
}

/// Sums over positions.
#[derive(Default)]
struct Sums {
    positions: f64,
    /// Positions of decided games.
    decided: f64,
    /// Positions with a result, and with a target.
    known: [f64; 2],
    policy: Option<PolicyAccuracy>,
    value: Option<ValueAccuracy>,
}

/// Measures on at most `most` evenly spaced samples.
pub(super) fn measure(
    network: &Network,
    batch_builder: &BatchBuilder,
    samples: &[Sample],
    most: usize,
    (device, kind): (Device, Kind),
) -> Result<Accuracy> {
    let every = samples.len().div_ceil(most.max(1)).max(1);
    let chosen: Vec<Sample> = samples.iter().step_by(every).copied().collect();
    let mut sums = Sums::default();
    for samples in chosen.chunks(batch_builder.batch) {
        let batch = batch_builder.batch(samples, || false).to(batch_builder.encoding.features, device, kind);
        let outputs = tch::no_grad(|| network.forward(&batch.planes, false))?;
        sums.positions += batch.played.size()[0] as f64;
        if let Some(policy) = outputs.policy {
            sums.add_policy(&policy.f_to_kind(Kind::Float)?, &batch)?;
        }
        if let Some(value) = outputs.value {
            sums.add_value(&value.f_to_kind(Kind::Float)?.f_sigmoid()?, &batch)?;
        }
    }
    Ok(sums.exam())
}

impl Sums {
    fn add_policy(&mut self, logits: &Tensor, batch: &Batch) -> Result<(), TchError> {
        let sums = self.policy.get_or_insert_default();
        let played = batch.played.unsqueeze(1);
        let masked = logits.f_add(&batch.mask)?;
        let likelier =
            masked.gt_tensor(&masked.gather(1, &played, false)).sum_dim_intlist(1, false, Kind::Int64);
        let hits = likelier.eq(0).to_kind(Kind::Float).f_div(&batch.sharing)?;
        sums.top1 += total(&hits)?;
        sums.top5 += total(&likelier.lt(5))?;
        let sum = Reduction::Sum;
        sums.loss +=
            masked.f_cross_entropy_loss(&batch.played, None::<&Tensor>, sum, -100, 0.0)?.double_value(&[]);
        Ok(())
    }

    fn add_value(&mut self, value: &Tensor, batch: &Batch) -> Result<(), TchError> {
        let sums = self.value.get_or_insert_default();
        let Batch { points, value: target, .. } = batch;
        let distance = value.f_sub(&points.number)?.f_mul(&points.known)?;
        sums.error += total(&distance.abs())?;
        sums.target_brier += total(&value.f_sub(&target.number)?.f_mul(&target.known)?.square())?;
        self.known[0] += total(&points.known)?;
        self.known[1] += total(&target.known)?;
        let decided = points.number.not_equal(0.5).logical_and(&points.known);
        let same_side = value.gt(0.5).eq_tensor(&points.number.gt(0.5)).logical_and(&decided);
        self.decided += total(&decided)?;
        sums.winner += total(&same_side)?;
        Ok(())
    }

    fn exam(&self) -> Accuracy {
        let share = |sum: f64| sum / self.positions.max(1.0);
        Accuracy {
            positions: self.positions as usize,
            policy: self.policy.map(|sums| PolicyAccuracy {
                top1: share(sums.top1),
                top5: share(sums.top5),
                loss: share(sums.loss),
            }),
            value: self.value.filter(|_| self.known[1] > 0.0).map(|sums| ValueAccuracy {
                results: self.known[0] as usize,
                error: sums.error / self.known[0].max(1.0),
                winner: sums.winner / self.decided.max(1.0),
                targets: self.known[1] as usize,
                target_brier: sums.target_brier / self.known[1].max(1.0),
            }),
        }
    }
}

fn total(numbers: &Tensor) -> Result<f64, TchError> {
    numbers.f_sum(Kind::Double)?.f_double_value(&[])
}
