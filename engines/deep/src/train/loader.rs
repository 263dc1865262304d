//! Builds batches from samples on threads of their own, so that training does not wait for them.

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

/// Batches that wait in the queues of all threads that build.
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
    /// seed, whatever the number of threads that build; the first `skip` batches are left out.
    pub(super) fn endless(
        self,
        samples: &Arc<Vec<Sample>>,
        seed: u64,
        skip: usize,
        builders: usize,
    ) -> Batches {
        let builder = |first| {
            let (sender, batches) = mpsc::sync_channel(AHEAD.div_ceil(builders));
            let samples = Arc::clone(samples);
            thread::spawn(move || self.build((skip + first..).step_by(builders), &samples, seed, &sender));
            batches
        };
        Batches { builders: (0..builders).map(builder).collect(), next: 0 }
    }

    /// Builds batches by their numbers, until the receiver is dropped at the end of the training.
    fn build(
        self,
        numbers: impl Iterator<Item = usize>,
        samples: &[Sample],
        seed: u64,
        sender: &SyncSender<Batch>,
    ) {
        let per_epoch = samples.len() / self.batch;
        let mut order = (usize::MAX, Vec::new());
        // Fewer samples than a batch make no batch.
        for number in numbers.take_while(|_| per_epoch > 0) {
            let epoch = number / per_epoch;
            if order.0 != epoch {
                let mut rng = SplitMix64::new(seed.wrapping_add(epoch as u64));
                order = (epoch, shuffled(samples.len(), &mut rng));
            }
            let chosen = order.1.iter().skip(number % per_epoch * self.batch).take(self.batch);
            let chosen: Vec<Sample> = chosen.map(|&index| samples[index as usize]).collect();
            let mut rng = SplitMix64::new(seed ^ (number as u64).rotate_left(32));
            if sender.send(self.batch(&chosen, || rng.next_u64() & 1 == 1)).is_err() {
                return;
            }
        }
    }
}

/// Batches in their order, from threads that each build one of so many.
#[derive(Debug)]
pub(super) struct Batches {
    builders: Vec<Receiver<Batch>>,
    next: usize,
}

impl Iterator for Batches {
    type Item = Batch;

    /// `None` without samples for a batch.
    fn next(&mut self) -> Option<Batch> {
        let batch = self.builders.get(self.next)?.recv().ok();
        self.next = (self.next + 1) % self.builders.len();
        batch
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
    /// The batch on a device, with planes of type `kind` in the channels-last layout: then convolutions need not
    /// convert them, which takes a third of the time on a CPU; on a GPU 16-bit kernels compute in that layout.
    pub(super) fn to(&self, device: Device, kind: Kind) -> Self {
        let planes = self.planes.to_device(device).to_kind(kind);
        Self {
            planes: planes.permute([0, 2, 3, 1]).contiguous().permute([0, 3, 1, 2]),
            mask: self.mask.to_device(device),
            played: self.played.to_device(device),
            sharing: self.sharing.to_device(device),
            value: self.value.to_device(device),
            points: self.points.to_device(device),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{labels::Labels, planes::Features};
    use usi_shell::Game;

    /// Positions of a game of first legal moves.
    fn samples(count: usize) -> Arc<Vec<Sample>> {
        let mut game = Game::parse("position startpos").unwrap();
        let mut sample = || {
            let position = game.position().try_to_packed_sfen().unwrap();
            let sample = Sample {
                position,
                mv: rsshogi::types::Move::MOVE_NONE,
                seen: 0,
                score: Some(0),
                half_points: None,
                game: 0,
            };
            let mv = *sample.unpacked().unwrap().1.iter().next().unwrap();
            game.play(&mv.to_usi()).unwrap();
            Sample { mv, ..sample }
        };
        Arc::new((0..count).map(|_| sample()).collect())
    }

    #[test]
    fn batches_depend_on_the_seed_and_their_number_alone() {
        let encoding = Encoding { features: Features::Joint, labels: Labels::Directional };
        let builder = BatchBuilder { encoding, batch: 4, blend: 0.5 };
        let samples = samples(14);
        let of = |seed, skip, builders| {
            let batches = builder.endless(&samples, seed, skip, builders).take(9 - skip);
            batches.map(|batch| Vec::<i64>::try_from(&batch.played).unwrap()).collect::<Vec<_>>()
        };
        let one = of(7, 0, 1);
        assert!(one.iter().all(|batch| batch.len() == 4) && one[..3] != one[3..6], "another order later");
        assert_eq!(of(7, 0, 3), one, "three threads");
        assert_eq!(of(7, 5, 2), one[5..], "resumed after five");
        assert_ne!(of(8, 0, 1), one, "another seed");
        assert!(builder.endless(&Arc::new(Vec::new()), 7, 0, 2).next().is_none(), "no samples");
    }
}
