//! A lane takes one batch at a time to the device and back, in reused buffers.

use super::{
    super::{Answer, EvaluatorError, Question, filled_up, uniform},
    TorchOptions, device_name,
    link::{self, Link},
};
use crate::{
    network::{Network, Outputs},
    planes::{self, Features},
};
use tch::{Device, Kind, TchError, Tensor};

/// Legal moves that a position can have: 593 are the most known.
const MOST_MOVES: usize = 600;
/// Legal moves of a position of a usual game.
const USUAL_MOVES: i32 = 80;

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
    /// Where the legal moves of a batch are among its logits.
    places: Vec<i32>,
    /// Logits of these moves, then values.
    numbers: Vec<f32>,
}

/// How input planes reach the device.
#[derive(Debug)]
enum Input {
    /// On the CPU: planes are expanded here, in place; the constant planes are written once at the start. Beside them the packed
    /// planes that they have.
    Cells(Tensor, Vec<u8>),
    /// On a GPU: places of moves and packed planes are written to memory of the link, sent, and expanded there. With the largest
    /// batch that there is room for.
    Packed(Tensor, usize),
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
            places: Vec::new(),
            numbers: Vec::new(),
            network,
        })
    }

    /// Appends the answers to the questions, at most one batch.
    pub(super) fn answer(
        &mut self,
        questions: &[Question],
        answers: &mut Vec<Answer>,
    ) -> Result<(), EvaluatorError> {
        self.compute(questions).map_err(|source| failed(self.device, questions.len(), source))?;
        let (mut logits, values) = self.numbers.split_at(self.places.len());
        for (nth, moves) in questions.iter().map(|question| question.labels.len()).enumerate() {
            answers.push(Answer {
                // Without a policy there are no logits.
                priors: logits.split_off(..moves).map_or_else(|| uniform(moves), |own| self.priors(own)),
                value: values.get(nth).map_or(0.5, |&logit| sigmoid(logit)),
            });
        }
        Ok(())
    }

    pub(super) fn forward_only(&mut self, batch: usize) -> Result<(), EvaluatorError> {
        self.compute_empty(batch).map_err(|source| failed(self.device, batch, source))
    }

    fn compute_empty(&mut self, batch: usize) -> Result<(), TchError> {
        self.limit_threads();
        self.places.clear();
        let rows = (0..).step_by(self.labels).take(batch);
        self.places.extend(rows.flat_map(|row| row..row + USUAL_MOVES));
        let there = || Tensor::f_from_slice(&self.places)?.f_to_device(self.device);
        let there = matches!(self.input, Input::Packed(..)).then(there).transpose()?;
        let shape = [batch as i64, self.features.planes() as i64, 9, 9];
        let planes = Tensor::f_zeros(shape, (self.kind, self.device))?;
        let outputs = tch::no_grad(|| self.network.forward(&planes, false))?;
        self.fetch(outputs, there.as_ref())
    }

    /// Runs the network and copies its outputs to the host, of the policy the legal moves' alone.
    fn compute(&mut self, questions: &[Question]) -> Result<(), TchError> {
        self.limit_threads();
        self.places.clear();
        if self.network.description().policy.is_some() {
            for (row, question) in (0..).step_by(self.labels).zip(questions) {
                self.places.extend(question.labels.iter().map(|&label| row + i32::from(label)));
            }
        }
        let Self { network, features, kind, constants, places, input, link, .. } = self;
        let (planes, there) = input.load(*features, questions, places, &**link, (*kind, constants))?;
        let outputs = tch::no_grad(|| network.forward(&planes, false))?;
        self.fetch(outputs, there.as_ref())
    }

    /// Copies the logits of the legal moves and then the values. A GPU picks the logits by the places that are `there`; those
    /// of the processor are read where they are.
    fn fetch(&mut self, outputs: Outputs, there: Option<&Tensor>) -> Result<(), TchError> {
        let Outputs { policy, value } = outputs;
        if let Some(places) = there {
            let pick = |policy: Tensor| policy.f_flatten(0, -1)?.f_index_select(0, places);
            let parts: Vec<Tensor> = policy.map(pick).transpose()?.into_iter().chain(value).collect();
            let numbers = Tensor::f_cat(&parts, 0)?;
            self.numbers.resize(numbers.numel(), 0.0);
            return self.link.fetch(&numbers, &mut self.numbers);
        }
        self.numbers.clear();
        if let Some(mut policy) = policy {
            let logits = link::cells(&mut policy)?;
            self.numbers.extend(self.places.iter().map(|&place| logits[place as usize]));
        }
        if let Some(mut value) = value {
            self.numbers.extend_from_slice(link::cells(&mut value)?);
        }
        Ok(())
    }

    fn priors(&self, logits: &[f32]) -> Vec<f32> {
        let mut priors: Vec<f32> = logits.iter().map(|logit| logit / self.temperature).collect();
        let highest = priors.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        priors.iter_mut().for_each(|prior| *prior = (*prior - highest).exp());
        let sum: f32 = priors.iter().sum();
        if !sum.is_finite() || sum <= 0.0 {
            return uniform(logits.len());
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
        if let Some(staging) = link.staging(batch * (4 * MOST_MOVES + features.packed_len()))? {
            return Ok(Self::Packed(staging, batch));
        }
        let constants = planes::constants(features, Device::Cpu, Kind::Float);
        let varying = (features.boards() + features.fills()) as i64;
        let empty = Tensor::f_zeros([1, varying, 9, 9], (Kind::Float, Device::Cpu))?;
        let one = Tensor::f_cat(&[empty, constants], 1)?;
        Ok(Self::Cells(one.f_repeat([batch as i64, 1, 1, 1])?, vec![0; batch * features.packed_len()]))
    }

    /// The planes of the questions on the device, and on a GPU the places of moves. They are valid until the next call.
    fn load(
        &mut self,
        features: Features,
        questions: &[Question],
        places: &[i32],
        link: &dyn Link,
        (kind, constants): (Kind, &Tensor),
    ) -> Result<(Tensor, Option<Tensor>), TchError> {
        match self {
            Self::Cells(planes, shown) => {
                let (whole, varying) = (features.planes() * 81, (features.boards() + features.fills()) * 81);
                let rows = link::cells(planes)?.chunks_exact_mut(whole);
                let rows = rows.zip(shown.chunks_exact_mut(features.packed_len()));
                for (question, (cells, shown)) in questions.iter().zip(rows) {
                    planes::replace(features, &question.planes, shown, &mut cells[..varying]);
                }
                Ok((planes.f_narrow(0, 0, questions.len() as i64)?, None))
            }
            Self::Packed(staging, most) => {
                // Behind the questions the memory has rows of earlier batches, whose answers nobody reads.
                let batch = filled_up(questions.len(), *most) as i64;
                let (ahead, length) = (size_of_val(places), features.packed_len());
                let (begin, behind) = (ahead as i64, batch * length as i64);
                // An error for more moves than there is room for.
                let used = staging.f_narrow(0, 0, begin + behind)?;
                let (head, rows) = link::bytes(staging)?.split_at_mut(ahead);
                let numbers = places.iter().flat_map(|place| place.to_ne_bytes());
                head.iter_mut().zip(numbers).for_each(|(byte, number)| *byte = number);
                let rows = rows.chunks_exact_mut(length);
                questions
                    .iter()
                    .zip(rows)
                    .for_each(|(question, row)| row.copy_from_slice(&question.planes.0));
                let there = link.send(&used)?;
                let places = there.f_narrow(0, 0, begin)?.f_view_dtype(Kind::Int)?;
                let packed = there.f_narrow(0, begin, behind)?.f_view([batch, -1])?;
                let varying = planes::unpack_on_device(features, &packed, kind);
                let constants = constants.f_expand([batch, -1, -1, -1], false)?;
                Ok((Tensor::f_cat(&[varying, constants], 1)?, Some(places)))
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
    fn a_gpu_is_sent_one_block_a_batch_and_sends_back_the_logits_of_legal_moves_and_values() {
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
        let planes = Features::Joint.packed_len();
        let batch = |questions: &[Question]| {
            let moves: usize = questions.iter().map(|question| question.labels.len()).sum();
            let (size, number) = (questions.len().next_power_of_two(), size_of::<i32>());
            [Travelled::Sent(place, moves * number + size * planes), Travelled::Fetched(moves + size)]
        };
        // Three are filled up to four. The memory is written again only after the answers of the batch before have come.
        assert_eq!(*travelled, [batch(&questions), batch(&questions[1..])].concat());
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
