//! A lane takes one batch at a time to the device and back, in reused buffers.

use super::{
    super::{Answer, EvaluatorError, Question, uniform},
    TorchOptions, device_name,
    link::{self, Link},
};
use crate::{
    network::{Network, Outputs},
    planes::{self, Features},
};
use tch::{Device, Kind, TchError, Tensor};

/// A network with its buffers, used by one thread at a time.
#[derive(Debug)]
pub(super) struct Lane {
    network: Network,
    features: Features,
    labels: usize,
    link: Box<dyn Link>,
    device: Device,
    kind: Kind,
    threads: i32,
    temperature: f32,
    input: Input,
    constants: Tensor,
    logits: Vec<f32>,
    values: Vec<f32>,
}

/// How input planes reach the device.
#[derive(Debug)]
enum Input {
    /// On the CPU: planes are expanded here, in place; the constant planes are written once at the start. Beside them the packed
    /// planes that they have.
    Cells(Tensor, Vec<u8>),
    /// On a GPU: packed planes are written to memory of the link, sent, and expanded there.
    Packed(Tensor),
}

impl Lane {
    pub(super) fn new(
        network: Network,
        device: Device,
        kind: Kind,
        options: &TorchOptions,
    ) -> Result<Self, EvaluatorError> {
        Self::over(link::to(device), network, device, kind, options)
    }

    fn over(
        link: Box<dyn Link>,
        network: Network,
        device: Device,
        kind: Kind,
        options: &TorchOptions,
    ) -> Result<Self, EvaluatorError> {
        let (features, labels) = (network.description().features, network.description().labels.count());
        let batch = options.batch.max(1);
        let input = Input::new(features, &*link, batch).map_err(|source| failed(device, batch, source))?;
        Ok(Self {
            link,
            features,
            labels,
            device,
            kind,
            threads: i32::try_from(options.threads).unwrap_or(0),
            temperature: options.temperature.max(f32::MIN_POSITIVE),
            input,
            constants: planes::constants(features, device, kind),
            logits: vec![0.0; batch * labels],
            values: vec![0.0; batch],
            network,
        })
    }

    /// Appends the answers to the questions, at most one batch.
    pub(super) fn answer(
        &mut self,
        questions: &[Question],
        answers: &mut Vec<Answer>,
    ) -> Result<(), EvaluatorError> {
        let asked = self.compute(questions).map_err(|source| failed(self.device, questions.len(), source))?;
        let answer = |(nth, question): (usize, &Question)| self.read(nth, question, asked);
        answers.extend(questions.iter().enumerate().map(answer));
        Ok(())
    }

    pub(super) fn forward_only(&mut self, batch: usize) -> Result<(), EvaluatorError> {
        self.limit_threads();
        let shape = [batch as i64, self.features.planes() as i64, 9, 9];
        let outputs = Tensor::f_zeros(shape, (self.kind, self.device))
            .and_then(|empty| tch::no_grad(|| self.network.forward(&empty, false)));
        outputs
            .and_then(|outputs| self.fetch(&outputs, batch))
            .map(drop)
            .map_err(|source| failed(self.device, batch, source))
    }

    /// Runs the network and copies its outputs to the host. Returns whether there are a policy and a value.
    fn compute(&mut self, questions: &[Question]) -> Result<(bool, bool), TchError> {
        self.limit_threads();
        let planes = self.input.load(self.features, questions, &*self.link, self.kind, &self.constants)?;
        let outputs = tch::no_grad(|| self.network.forward(&planes, false))?;
        self.fetch(&outputs, questions.len())
    }

    fn fetch(&mut self, outputs: &Outputs, batch: usize) -> Result<(bool, bool), TchError> {
        let room = batch * self.labels;
        if self.logits.len() < room {
            self.logits.resize(room, 0.0);
            self.values.resize(batch, 0.0);
        }
        if let Some(policy) = &outputs.policy {
            self.link.fetch(policy, &mut self.logits[..room])?;
        }
        if let Some(value) = &outputs.value {
            self.link.fetch(value, &mut self.values[..batch])?;
        }
        Ok((outputs.policy.is_some(), outputs.value.is_some()))
    }

    fn read(&self, nth: usize, question: &Question, (policy, value): (bool, bool)) -> Answer {
        let logits = &self.logits[nth * self.labels..][..self.labels];
        Answer {
            priors: if policy {
                self.priors(logits, &question.labels)
            } else {
                uniform(question.labels.len())
            },
            value: if value { sigmoid(self.values[nth]) } else { 0.5 },
        }
    }

    fn priors(&self, logits: &[f32], labels: &[u16]) -> Vec<f32> {
        let mut priors: Vec<f32> =
            labels.iter().map(|&label| logits[usize::from(label)] / self.temperature).collect();
        let highest = priors.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        priors.iter_mut().for_each(|prior| *prior = (*prior - highest).exp());
        let sum: f32 = priors.iter().sum();
        if !sum.is_finite() || sum <= 0.0 {
            return uniform(labels.len());
        }
        priors.iter_mut().for_each(|prior| *prior /= sum);
        priors
    }

    /// Must run on the calling thread: libtorch keeps the number of threads per caller.
    fn limit_threads(&self) {
        if self.threads > 0 && tch::get_num_threads() != self.threads {
            tch::set_num_threads(self.threads);
        }
    }
}

impl Input {
    fn new(features: Features, link: &dyn Link, batch: usize) -> Result<Self, TchError> {
        if let Some(staging) = link.staging(batch * features.packed_len())? {
            return Ok(Self::Packed(staging));
        }
        let constants = planes::constants(features, Device::Cpu, Kind::Float);
        let varying = (features.boards() + features.fills()) as i64;
        let empty = Tensor::f_zeros([1, varying, 9, 9], (Kind::Float, Device::Cpu))?;
        let one = Tensor::f_cat(&[empty, constants], 1)?;
        Ok(Self::Cells(one.f_repeat([batch as i64, 1, 1, 1])?, vec![0; batch * features.packed_len()]))
    }

    /// The planes of the questions on the device. They are valid until the next call.
    fn load(
        &mut self,
        features: Features,
        questions: &[Question],
        link: &dyn Link,
        kind: Kind,
        constants: &Tensor,
    ) -> Result<Tensor, TchError> {
        let batch = questions.len() as i64;
        match self {
            Self::Cells(planes, shown) => {
                let (whole, varying) = (features.planes() * 81, (features.boards() + features.fills()) * 81);
                let places = link::cells(planes)?.chunks_exact_mut(whole);
                let places = places.zip(shown.chunks_exact_mut(features.packed_len()));
                for (question, (cells, shown)) in questions.iter().zip(places) {
                    planes::replace(features, &question.planes, shown, &mut cells[..varying]);
                }
                planes.f_narrow(0, 0, batch)
            }
            Self::Packed(staging) => {
                let length = features.packed_len();
                let places = link::bytes(staging)?.chunks_exact_mut(length);
                questions
                    .iter()
                    .zip(places)
                    .for_each(|(question, place)| place.copy_from_slice(&question.planes.0));
                let there =
                    link.send(&staging.f_narrow(0, 0, batch * length as i64)?)?.f_view([batch, -1])?;
                let varying = planes::unpack_on_device(features, &there, kind);
                let constants = constants.f_expand([batch, -1, -1, -1], false)?;
                Tensor::f_cat(&[varying, constants], 1)
            }
        }
    }
}

fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// The error of a device, told apart by libtorch's words.
pub(super) fn failed(device: Device, batch: usize, source: TchError) -> EvaluatorError {
    let device = device_name(device);
    if is_memory(&source) {
        EvaluatorError::Memory { device, batch, source }
    } else {
        EvaluatorError::Torch { device, source }
    }
}

/// True if libtorch lacked memory, on a GPU or a CPU.
pub(super) fn is_memory(source: &TchError) -> bool {
    let words = source.to_string();
    ["out of memory", "can't allocate memory", "not enough memory", "CUBLAS_STATUS_ALLOC_FAILED"]
        .iter()
        .any(|sign| words.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{evaluator::Encoding, labels::Labels};
    use parking_lot::Mutex;
    use rsshogi::{board::MoveList, movegen::generate_legal_all};
    use std::sync::Arc;

    #[test]
    fn a_device_without_memory_is_told_with_what_needs_less() {
        let full = Tensor::f_zeros([1 << 60], (Kind::Uint8, Device::Cpu)).unwrap_err();
        let text = failed(Device::Cpu, 4096, full).to_string();
        assert!(text.starts_with("the memory of cpu is full: lower `Batch` (now 4096)"), "{text}");
        // The message of the allocator of GPUs (c10/cuda/CUDACachingAllocator.cpp).
        let gpu = TchError::Torch("CUDA out of memory. Tried to allocate 2.00 GiB.".to_owned());
        let text = failed(Device::Cuda(1), 128, gpu).to_string();
        assert!(text.starts_with("the memory of cuda:1 is full") && text.contains("2.00 GiB"), "{text}");
        let other = TchError::Torch("CUDA error: an illegal memory access was encountered".to_owned());
        assert!(failed(Device::Cuda(0), 1, other).to_string().starts_with("evaluation failed on cuda:0"));
    }

    /// What travelled, in order.
    #[derive(Clone, Debug, PartialEq, Eq)]
    enum Travelled {
        /// Bytes from the staging memory at this address.
        Sent(usize, usize),
        /// Floats.
        Fetched(usize),
    }

    /// A device that has staging memory as a GPU has, and writes down what travels.
    #[derive(Clone, Debug, Default)]
    struct Recorded(Arc<Mutex<Vec<Travelled>>>);

    impl Recorded {
        fn note(&self, travelled: Travelled) {
            self.0.lock().push(travelled);
        }
    }

    impl Link for Recorded {
        fn staging(&self, bytes: usize) -> Result<Option<Tensor>, TchError> {
            Tensor::f_zeros([bytes as i64], (Kind::Uint8, Device::Cpu)).map(Some)
        }

        fn send(&self, bytes: &Tensor) -> Result<Tensor, TchError> {
            self.note(Travelled::Sent(bytes.data_ptr() as usize, bytes.numel()));
            Ok(bytes.copy())
        }

        fn fetch(&self, numbers: &Tensor, into: &mut [f32]) -> Result<(), TchError> {
            self.note(Travelled::Fetched(into.len()));
            link::to(Device::Cpu).fetch(numbers, into)
        }
    }

    fn lane(link: Box<dyn Link>) -> Lane {
        let network = Network::load(None, Device::Cpu, Kind::Float).unwrap();
        let options = TorchOptions { batch: 4, ..TorchOptions::default() };
        Lane::over(link, network, Device::Cpu, Kind::Float, &options).unwrap()
    }

    fn questions() -> Vec<Question> {
        let encoding = Encoding { features: Features::Joint, labels: Labels::Directional };
        let question = |moves: &str| {
            let game = usi_shell::Game::parse(&format!("position startpos{moves}")).unwrap();
            let mut legal = MoveList::new();
            generate_legal_all(game.position(), &mut legal);
            encoding.question(game.position(), legal.as_slice(), 0)
        };
        [" moves 7g7f", "", " moves 7g7f 3c3d 8h2b+"].map(question).to_vec()
    }

    #[test]
    fn a_gpu_is_sent_packed_planes_once_a_batch_and_sends_back_logits_and_values() {
        let recorded = Recorded::default();
        let (mut far, mut here) = (lane(Box::new(recorded.clone())), lane(link::to(Device::Cpu)));
        let questions = questions();
        for batch in [&questions[..], &questions[1..]] {
            let (mut one, mut other) = (Vec::new(), Vec::new());
            far.answer(batch, &mut one).unwrap();
            here.answer(batch, &mut other).unwrap();
            assert_eq!(one.len(), batch.len());
            for (one, other) in one.iter().zip(&other) {
                assert!((one.value - other.value).abs() < 1e-5, "{one:?} {other:?}");
                assert!(one.priors.iter().zip(&other.priors).all(|(p, q)| (p - q).abs() < 1e-5));
            }
        }
        let travelled = recorded.0.lock();
        let &Travelled::Sent(place, _) = &travelled[0] else { panic!("{travelled:?}") };
        let (planes, labels) = (Features::Joint.packed_len(), Labels::Directional.count());
        let batch = |size: usize| {
            [
                Travelled::Sent(place, size * planes),
                Travelled::Fetched(size * labels),
                Travelled::Fetched(size),
            ]
        };
        // The memory is written again only after the answers of the batch before have come.
        assert_eq!(*travelled, [batch(3), batch(2)].concat());
        assert_eq!(planes, 434, "bytes of a position, which are 30,780 as floats");
    }

    #[test]
    fn each_lane_sends_from_memory_of_its_own() {
        let recorded = Recorded::default();
        let (mut one, mut other) = (lane(Box::new(recorded.clone())), lane(Box::new(recorded.clone())));
        let questions = questions();
        for lane in [&mut one, &mut other] {
            lane.answer(&questions, &mut Vec::new()).unwrap();
        }
        let travelled = recorded.0.lock();
        let places = travelled.iter().filter_map(|step| match step {
            Travelled::Sent(place, _) => Some(*place),
            Travelled::Fetched(_) => None,
        });
        let places: Vec<usize> = places.collect();
        assert_ne!(places[0], places[1]);
    }
}
