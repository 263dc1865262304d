//! Builds batches from samples on a thread of its own, so that training does not wait for them.

use crate::{
    evaluator::Encoding,
    network::{Network, Outputs},
    planes,
    samples::Sample,
};
use std::{
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
};
use tch::{Device, Kind, TchError, Tensor};
use usi_shell::SplitMix64;

/// Capacity of the queue of batches.
const AHEAD: usize = 4;
/// Added to the logits of illegal moves.
const FORBIDDEN: f32 = -1e4;

/// Moves in the softmax of the policy loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// The legal moves.
    // So the network need not learn the rules.
    Legal,
    /// All moves that have a label.
    // As in optim-shogi.
    All,
}

/// A batch as tensors on the CPU.
#[derive(Debug)]
pub(super) struct Batch {
    /// `[batch, planes, 9, 9]`.
    pub planes: Tensor,
    /// `[batch, labels]`: 0 for labels of legal moves, a large negative number for others.
    pub mask: Tensor,
    /// `[batch]`: label of the move played.
    pub played: Tensor,
    /// `[batch]`: number of legal moves with that label.
    pub sharing: Tensor,
    /// `[batch]`: value target.
    pub value: Tensor,
    /// `[batch]`: result of the game, 0.5 if unknown.
    pub points: Tensor,
}

/// How samples become batches.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchBuilder {
    pub encoding: Encoding,
    pub batch: usize,
    /// Weight of the result in the value target, 0 to 1.
    pub blend: f32,
}

impl BatchBuilder {
    /// Builds a batch. `mirrored` is called per sample and decides whether it is mirrored left to right.
    pub(super) fn batch(&self, samples: &[Sample], mut mirrored: impl FnMut() -> bool) -> Batch {
        let mut rows = Rows::new(self, samples.len());
        samples.iter().for_each(|sample| rows.add(sample, mirrored()));
        rows.finish()
    }

    /// A batch on a device, with the outputs of a network for it.
    pub(super) fn outputs(
        &self,
        samples: &[Sample],
        network: &Network,
        (device, kind): (Device, Kind),
    ) -> Result<(Batch, Outputs), TchError> {
        let batch = self.batch(samples, || false).to(device, kind);
        let outputs = tch::no_grad(|| network.forward(&batch.planes, false))?;
        Ok((batch, outputs))
    }

    /// An endless stream of full batches: all samples in random order, then in another. It is determined by the
    /// seed; the first `skip` batches are left out.
    pub(super) fn endless(self, samples: Arc<Vec<Sample>>, seed: u64, skip: usize) -> Receiver<Batch> {
        let (sender, batches) = mpsc::sync_channel(AHEAD);
        thread::spawn(move || self.shuffle(&samples, seed, skip, &sender));
        batches
    }

    fn shuffle(&self, samples: &[Sample], seed: u64, skip: usize, sender: &SyncSender<Batch>) {
        let per_epoch = samples.len() / self.batch;
        if per_epoch == 0 {
            return;
        }
        for epoch in (skip / per_epoch)..usize::MAX {
            let mut rng = SplitMix64::new(seed.wrapping_add(epoch as u64));
            let order = shuffled(samples.len(), &mut rng);
            let behind = if epoch == skip / per_epoch { skip % per_epoch } else { 0 };
            for chosen in order.chunks_exact(self.batch).skip(behind) {
                let chosen: Vec<Sample> = chosen.iter().map(|&index| samples[index as usize]).collect();
                // The receiver is dropped when the training ends.
                if sender.send(self.batch(&chosen, || rng.next_u64() & 1 == 1)).is_err() {
                    return;
                }
            }
        }
    }
}

fn shuffled(count: usize, rng: &mut SplitMix64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    for last in (1..count).rev() {
        let other = (u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64;
        order.swap(last, other as usize);
    }
    order
}

/// Rows of the tensors under construction.
struct Rows<'a> {
    batch_builder: &'a BatchBuilder,
    cells: Vec<f32>,
    mask: Vec<f32>,
    played: Vec<i64>,
    sharing: Vec<f32>,
    value: Vec<f32>,
    points: Vec<f32>,
}

impl<'a> Rows<'a> {
    fn new(batch_builder: &'a BatchBuilder, samples: usize) -> Self {
        Self {
            batch_builder,
            cells: Vec::with_capacity(samples * batch_builder.varying() * 81),
            mask: Vec::with_capacity(samples * batch_builder.encoding.labels.count()),
            played: Vec::with_capacity(samples),
            sharing: Vec::with_capacity(samples),
            value: Vec::with_capacity(samples),
            points: Vec::with_capacity(samples),
        }
    }

    /// Sources have checked their samples; one that cannot be unpacked is left out.
    fn add(&mut self, sample: &Sample, mirror: bool) {
        let Encoding { features, labels } = self.batch_builder.encoding;
        let Some((position, legal)) = sample.unpacked() else { return };
        let name = |mv| labels.label(&position, mv).map(|l| if mirror { labels.mirrored(l) } else { l });
        let Some(played) = name(sample.mv) else { return };
        let packed = if mirror {
            features.pack_mirrored(&position, sample.seen)
        } else {
            features.pack(&position, sample.seen)
        };
        let begin = self.cells.len();
        self.cells.resize(begin + self.batch_builder.varying() * 81, 0.0);
        planes::expand(features, &packed, &mut self.cells[begin..]);
        let begin = self.mask.len();
        self.mask.resize(begin + labels.count(), FORBIDDEN);
        let named: Vec<u16> = legal.iter().filter_map(|&mv| name(mv)).collect();
        named.iter().for_each(|&label| self.mask[begin + usize::from(label)] = 0.0);
        self.played.push(i64::from(played));
        self.sharing.push(named.iter().filter(|&&label| label == played).count() as f32);
        self.value.push(sample.target(self.batch_builder.blend).unwrap_or(0.5));
        self.points.push(sample.half_points.map_or(0.5, |half| f32::from(half) / 2.0));
    }

    fn finish(self) -> Batch {
        let (batch, labels) = (self.played.len() as i64, self.batch_builder.encoding.labels.count() as i64);
        let varying =
            Tensor::from_slice(&self.cells).view([batch, self.batch_builder.varying() as i64, 9, 9]);
        let constants = planes::constants(self.batch_builder.encoding.features, Device::Cpu, Kind::Float);
        Batch {
            planes: Tensor::cat(&[varying, constants.expand([batch, -1, -1, -1], false)], 1),
            mask: Tensor::from_slice(&self.mask).view([batch, labels]),
            played: Tensor::from_slice(&self.played),
            sharing: Tensor::from_slice(&self.sharing),
            value: Tensor::from_slice(&self.value),
            points: Tensor::from_slice(&self.points),
        }
    }
}

impl BatchBuilder {
    fn varying(&self) -> usize {
        self.encoding.features.boards() + self.encoding.features.fills()
    }
}

impl Batch {
    /// The batch on a device, with planes of type `kind`. On the CPU the planes have the channels-last layout:
    /// then convolutions need not convert them, which takes a third of the time.
    pub(super) fn to(&self, device: Device, kind: Kind) -> Self {
        let planes = self.planes.to_device(device).to_kind(kind);
        let planes = if device.is_cuda() {
            planes
        } else {
            planes.permute([0, 2, 3, 1]).contiguous().permute([0, 3, 1, 2])
        };
        Self {
            planes,
            mask: self.mask.to_device(device),
            played: self.played.to_device(device),
            sharing: self.sharing.to_device(device),
            value: self.value.to_device(device),
            points: self.points.to_device(device),
        }
    }
}
