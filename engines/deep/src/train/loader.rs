//! Builds batches from samples on threads of their own, so that training does not wait for them.

use crate::{
    evaluator::Encoding,
    planes::{self, Features},
    samples::Sample,
};
use anyhow::ensure;
use std::{
    ops::Range,
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
};
use tch::{Device, Kind, Tensor};
use usi_shell::SplitMix64;

/// Batches that wait in the queues of all threads that build.
const AHEAD: usize = 4;
/// Added to the logits of illegal moves.
const FORBIDDEN: f64 = -1e4;

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
    /// `[batch, planes, 9, 9]`; before [`Batch::to`] `[batch, packed_len]`, bytes.
    pub planes: Tensor,
    /// `[batch, labels]`: 0 for labels of legal moves, a large negative number for others; before [`Batch::to`] whether they are
    /// those of others.
    pub mask: Tensor,
    /// `[batch]`: label of the move played.
    pub played: Tensor,
    /// `[batch]`: number of legal moves with that label.
    pub sharing: Tensor,
    /// `[batch]`: value target.
    pub value: Target,
    /// `[batch]`: result of the game.
    pub points: Target,
}

/// Numbers to be predicted, as far as they are known.
#[derive(Debug)]
pub(super) struct Target {
    /// The numbers; 0 for unknown ones.
    pub number: Tensor,
    /// 1 for known numbers, 0 for others.
    pub known: Tensor,
}

/// The samples of a training in groups, each with its part of every batch.
#[derive(Clone, Debug)]
pub(super) struct Mix {
    samples: Arc<Vec<Sample>>,
    /// The samples of each group, and how many of them are in a batch.
    groups: Vec<(Range<usize>, usize)>,
}

impl Mix {
    /// Of each source its share in every batch; without shares each has as many as it has samples, on average. The samples
    /// are those of the first source, then those of the second, ..
    pub(super) fn new(samples: Vec<Sample>, shares: &[f64], batch: usize) -> anyhow::Result<Self> {
        let all = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let (mut sum, mut groups) = (0.0, Vec::new());
        for (source, share) in shares.iter().enumerate() {
            let of = |source| samples.partition_point(|sample| usize::from(sample.source) < source);
            let (range, before) = (of(source)..of(source + 1), (sum / all * batch as f64).round());
            sum += share;
            let part = ((sum / all * batch as f64).round() - before) as usize;
            ensure!(
                part == 0 || !range.is_empty(),
                "source {} has a share, and no position of its own",
                source + 1
            );
            groups.push((range, part));
        }
        if groups.is_empty() {
            groups.push((0..samples.len(), batch));
        }
        Ok(Self { samples: Arc::new(samples), groups })
    }

    /// The samples of batches by their numbers: those of each group in random order, then in another.
    fn batches(
        self,
        numbers: impl Iterator<Item = usize>,
        seed: u64,
    ) -> impl Iterator<Item = (usize, Vec<Sample>)> {
        let mut orders = vec![(usize::MAX, Vec::new()); self.groups.len()];
        numbers.map(move |number| {
            let mut chosen = Vec::new();
            for (at, ((range, part), order)) in self.groups.iter().zip(&mut orders).enumerate() {
                for index in number * part..(number + 1) * part {
                    let epoch = index / range.len();
                    if order.0 != epoch {
                        let mut rng = SplitMix64::new(seed.wrapping_add(epoch as u64) ^ (at as u64) << 32);
                        *order = (epoch, shuffled(range.len(), &mut rng));
                    }
                    chosen.push(self.samples[range.start + order.1[index % range.len()] as usize]);
                }
            }
            (number, chosen)
        })
    }
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
        let mut rows = Rows::new(self.encoding);
        samples.iter().for_each(|sample| rows.add(sample, self.blend, mirrored()));
        rows.finish()
    }

    /// An endless stream of full batches. It is determined by the seed, whatever the number of threads that build; the first
    /// `skip` batches are left out.
    pub(super) fn endless(self, mix: &Mix, seed: u64, skip: usize, builders: usize) -> Batches {
        let builder = |first| {
            let (sender, batches) = mpsc::sync_channel(AHEAD.div_ceil(builders));
            let mix = mix.clone();
            thread::spawn(move || self.build((skip + first..).step_by(builders), mix, seed, &sender));
            batches
        };
        Batches { builders: (0..builders).map(builder).collect(), next: 0 }
    }

    /// Builds batches by their numbers, until the receiver is dropped at the end of the training.
    fn build(self, numbers: impl Iterator<Item = usize>, mix: Mix, seed: u64, sender: &SyncSender<Batch>) {
        // No samples make no batch.
        if mix.samples.is_empty() {
            return;
        }
        for (number, chosen) in mix.batches(numbers, seed) {
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
struct Rows {
    encoding: Encoding,
    packed: Vec<u8>,
    forbidden: Vec<u8>,
    played: Vec<i64>,
    sharing: Vec<f32>,
    value: Vec<Option<f32>>,
    points: Vec<Option<f32>>,
}

impl Rows {
    fn new(encoding: Encoding) -> Self {
        let (packed, forbidden, played, sharing) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { encoding, packed, forbidden, played, sharing, value: Vec::new(), points: Vec::new() }
    }

    /// Sources have checked their samples; one that cannot be unpacked is left out.
    fn add(&mut self, sample: &Sample, blend: f32, mirror: bool) {
        let Encoding { features, labels } = self.encoding;
        let Some((position, legal)) = sample.unpacked() else { return };
        let name = |mv| labels.label(&position, mv).map(|l| if mirror { labels.mirrored(l) } else { l });
        let Some(played) = name(sample.mv) else { return };
        self.packed.extend_from_slice(&features.pack_view(&position, sample.seen, mirror).0);
        let begin = self.forbidden.len();
        self.forbidden.resize(begin + labels.count(), 1);
        let named: Vec<u16> = legal.iter().filter_map(|&mv| name(mv)).collect();
        named.iter().for_each(|&label| self.forbidden[begin + usize::from(label)] = 0);
        self.played.push(i64::from(played));
        self.sharing.push(named.iter().filter(|&&label| label == played).count() as f32);
        self.value.push(sample.target(blend));
        self.points.push(sample.half_points.map(|half| f32::from(half) / 2.0));
    }

    fn finish(self) -> Batch {
        let batch = self.played.len() as i64;
        Batch {
            planes: Tensor::from_slice(&self.packed).view([batch, -1]),
            mask: Tensor::from_slice(&self.forbidden).view([batch, -1]),
            played: Tensor::from_slice(&self.played),
            sharing: Tensor::from_slice(&self.sharing),
            value: Target::new(&self.value),
            points: Target::new(&self.points),
        }
    }
}

impl Target {
    fn new(numbers: &[Option<f32>]) -> Self {
        let tensor = |number: fn(&Option<f32>) -> f32| {
            Tensor::from_slice(&numbers.iter().map(number).collect::<Vec<_>>())
        };
        Self {
            number: tensor(|number| number.unwrap_or(0.0)),
            known: tensor(|number| f32::from(u8::from(number.is_some()))),
        }
    }

    fn to_device(&self, device: Device) -> Self {
        Self { number: self.number.to_device(device), known: self.known.to_device(device) }
    }
}

impl Batch {
    /// The batch on a device, with planes of type `kind` in the channels-last layout: then convolutions need not
    /// convert them, which takes a third of the time on a CPU; on a GPU 16-bit kernels compute in that layout.
    pub(super) fn to(&self, features: Features, device: Device, kind: Kind) -> Self {
        let planes = planes::unpack_on_device(features, &self.planes.to_device(device), kind);
        let constants = planes::constants(features, device, kind);
        let planes = Tensor::cat(&[&planes, &constants.expand([planes.size()[0], -1, -1, -1], false)], 1);
        Self {
            planes: planes.permute([0, 2, 3, 1]).contiguous().permute([0, 3, 1, 2]),
            mask: self.mask.to_device(device).to_kind(Kind::Float) * FORBIDDEN,
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
    use crate::labels::Labels;
    use usi_shell::Game;

    /// Positions of a game of first legal moves.
    fn samples(count: usize) -> Vec<Sample> {
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
                source: 0,
            };
            let mv = *sample.unpacked().unwrap().1.iter().next().unwrap();
            game.play(&mv.to_usi()).unwrap();
            Sample { mv, ..sample }
        };
        (0..count).map(|_| sample()).collect()
    }

    #[test]
    fn batches_depend_on_the_seed_and_their_number_alone() {
        let encoding = Encoding { features: Features::Joint, labels: Labels::Directional };
        let builder = BatchBuilder { encoding, batch: 4, blend: 0.5 };
        let mix = Mix::new(samples(14), &[], 4).unwrap();
        let of = |seed, skip, builders| {
            let batches = builder.endless(&mix, seed, skip, builders).take(9 - skip);
            batches.map(|batch| Vec::<i64>::try_from(&batch.played).unwrap()).collect::<Vec<_>>()
        };
        let one = of(7, 0, 1);
        assert!(one.iter().all(|batch| batch.len() == 4) && one[..3] != one[3..6], "another order later");
        assert_eq!(of(7, 0, 3), one, "three threads");
        assert_eq!(of(7, 5, 2), one[5..], "resumed after five");
        assert_ne!(of(8, 0, 1), one, "another seed");
        assert!(
            builder.endless(&Mix::new(Vec::new(), &[], 4).unwrap(), 7, 0, 2).next().is_none(),
            "no samples"
        );
    }

    #[test]
    fn each_source_has_its_share_of_every_batch() {
        let of = |source, count| samples(count).into_iter().map(move |sample| Sample { source, ..sample });
        let samples: Vec<_> = of(0, 14).chain(of(1, 3)).collect();
        let mix = Mix::new(samples.clone(), &[5.0, 3.0], 8).unwrap();
        for (_, batch) in mix.batches(0..6, 7) {
            assert_eq!(
                batch.iter().map(|sample| sample.source).collect::<Vec<_>>(),
                [0, 0, 0, 0, 0, 1, 1, 1]
            );
        }
        let fault = Mix::new(samples, &[1.0, 1.0, 1.0], 8).unwrap_err().to_string();
        assert!(fault.contains("source 3"), "{fault}");
    }

    #[test]
    fn a_position_without_result_and_score_has_no_value_target() {
        let encoding = Encoding { features: Features::Joint, labels: Labels::Directional };
        let builder = BatchBuilder { encoding, batch: 3, blend: 0.5 };
        let sample = samples(1)[0];
        let line = Sample { score: None, ..sample };
        let batch = builder.batch(&[line, Sample { half_points: Some(2), ..line }, sample], || false);
        let numbers = |tensor: &Tensor| Vec::<f32>::try_from(tensor).unwrap();
        assert_eq!(numbers(&batch.value.known), [0.0, 1.0, 1.0]);
        assert_eq!(numbers(&batch.points.known), [0.0, 1.0, 0.0]);
        assert_eq!(numbers(&batch.value.number), [0.0, 1.0, 0.5]);
    }
}
