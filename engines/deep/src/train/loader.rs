//! From samples to batches, on a thread of its own so that the network never waits for them.

use super::samples::Sample;
use crate::{evaluator::Encoding, planes};
use std::{
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
};
use tch::{Device, Kind, Tensor};
use usi_shell::SplitMix64;

/// Batches that wait at most.
const AHEAD: usize = 4;
/// What is added to the logit of a move that is not legal.
const FORBIDDEN: f32 = -1e4;

/// Which moves the played one is to be likelier than.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// The legal ones: nothing is spent on learning the rules.
    Legal,
    /// All that have a label, as optim-shogi learned.
    All,
}

/// Samples as tensors, on the processor.
#[derive(Debug)]
pub(super) struct Batch {
    /// `[batch, planes, 9, 9]`.
    pub planes: Tensor,
    /// `[batch, labels]`: 0 for a legal move's label, very low for others.
    pub mask: Tensor,
    /// `[batch]`: the label of the move played.
    pub played: Tensor,
    /// `[batch]`: how many legal moves share that label.
    pub sharing: Tensor,
    /// `[batch]`: what the value is to come to.
    pub value: Tensor,
    /// `[batch]`: points of the game's result, 0.5 where none is known.
    pub points: Tensor,
}

/// What a loader makes of samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    pub encoding: Encoding,
    pub batch: usize,
    /// Parts of the result in the value, 0 to 1.
    pub blend: f32,
}

impl Recipe {
    /// Makes a batch. `mirrored`: which samples have left and right exchanged.
    pub(super) fn batch(&self, samples: &[Sample], mut mirrored: impl FnMut() -> bool) -> Batch {
        let mut rows = Rows::new(self, samples.len());
        samples.iter().for_each(|sample| rows.add(sample, mirrored()));
        rows.finish()
    }

    /// Whole batches of all samples in a random order, and again in another, for ever. The same seed makes the same
    /// batches; the first `skip` of them are left out.
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
                // The receiver is gone when the training is over.
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

/// The tensors' numbers while they are gathered.
struct Rows<'a> {
    recipe: &'a Recipe,
    cells: Vec<f32>,
    mask: Vec<f32>,
    played: Vec<i64>,
    sharing: Vec<f32>,
    value: Vec<f32>,
    points: Vec<f32>,
}

impl<'a> Rows<'a> {
    fn new(recipe: &'a Recipe, samples: usize) -> Self {
        Self {
            recipe,
            cells: Vec::with_capacity(samples * recipe.varying() * 81),
            mask: Vec::with_capacity(samples * recipe.encoding.labels.count()),
            played: Vec::with_capacity(samples),
            sharing: Vec::with_capacity(samples),
            value: Vec::with_capacity(samples),
            points: Vec::with_capacity(samples),
        }
    }

    /// A sample that cannot be unpacked is left out: its sources have checked it before.
    fn add(&mut self, sample: &Sample, mirror: bool) {
        let Encoding { features, labels } = self.recipe.encoding;
        let Some((position, legal)) = sample.unpacked() else { return };
        let name = |mv| labels.label(&position, mv).map(|l| if mirror { labels.mirrored(l) } else { l });
        let Some(played) = name(sample.mv) else { return };
        let packed = if mirror {
            features.pack_mirrored(&position, sample.seen)
        } else {
            features.pack(&position, sample.seen)
        };
        let begin = self.cells.len();
        self.cells.resize(begin + self.recipe.varying() * 81, 0.0);
        planes::expand(features, &packed, &mut self.cells[begin..]);
        let begin = self.mask.len();
        self.mask.resize(begin + labels.count(), FORBIDDEN);
        let named: Vec<u16> = legal.iter().filter_map(|&mv| name(mv)).collect();
        named.iter().for_each(|&label| self.mask[begin + usize::from(label)] = 0.0);
        self.played.push(i64::from(played));
        self.sharing.push(named.iter().filter(|&&label| label == played).count() as f32);
        self.value.push(sample.target(self.recipe.blend).unwrap_or(0.5));
        self.points.push(sample.half_points.map_or(0.5, |half| f32::from(half) / 2.0));
    }

    fn finish(self) -> Batch {
        let (batch, labels) = (self.played.len() as i64, self.recipe.encoding.labels.count() as i64);
        let varying = Tensor::from_slice(&self.cells).view([batch, self.recipe.varying() as i64, 9, 9]);
        let constants = planes::constants(self.recipe.encoding.features, Device::Cpu, Kind::Float);
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

impl Recipe {
    fn varying(&self) -> usize {
        self.encoding.features.boards() + self.encoding.features.fills()
    }
}

impl Batch {
    /// The same on a device, the planes in numbers of `kind`, and on the processor with all planes of a square beside
    /// each other: then convolutions need not turn them round, which is a third of the time.
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
