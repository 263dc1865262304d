//! A lane takes one batch at a time to the device and back, in reused buffers.

use super::{
    super::{Answer, EvaluatorError, Question, uniform},
    TorchOptions, device_name,
};
use crate::{
    network::{Network, Outputs},
    planes::{self, Features},
};
use std::sync::{Condvar, Mutex, PoisonError};
use tch::{Device, Kind, TchError, Tensor};

/// Lanes, each used by one thread at a time. If all are taken, callers wait.
#[derive(Debug)]
pub(super) struct Lanes {
    free: Mutex<Vec<Lane>>,
    returned: Condvar,
}

#[derive(Debug)]
pub(super) struct Lane {
    network: Network,
    features: Features,
    labels: usize,
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
    /// On the CPU: planes are expanded here; the constant planes are written once at the start.
    Cells(Vec<f32>),
    /// On a GPU: packed planes are copied from pinned memory and expanded there.
    Packed { bytes: Vec<u8>, pinned: Tensor },
}

impl Lanes {
    pub(super) fn new(lanes: Vec<Lane>) -> Self {
        Self { free: Mutex::new(lanes), returned: Condvar::new() }
    }

    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Lane) -> T) -> T {
        let mut taken = Taken { lanes: self, lane: None };
        work(taken.lane.insert(self.take()))
    }

    /// Calls `work` with every lane, while none is in use.
    pub(super) fn each<E>(&self, work: impl Fn(&mut Lane) -> Result<(), E>) -> Result<(), E> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().try_for_each(work)
    }

    fn take(&self) -> Lane {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match free.pop() {
                Some(lane) => return lane,
                None => free = self.returned.wait(free).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn give_back(&self, lane: Lane) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(lane);
        self.returned.notify_one();
    }
}

/// A lane in use. It is returned on drop, so that a panic of its user does not block the waiting callers.
struct Taken<'a> {
    lanes: &'a Lanes,
    lane: Option<Lane>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(lane) = self.lane.take() {
            self.lanes.give_back(lane);
        }
    }
}

impl Lane {
    pub(super) fn new(
        network: Network,
        device: Device,
        kind: Kind,
        options: &TorchOptions,
    ) -> Result<Self, EvaluatorError> {
        let (features, labels) = (network.description().features, network.description().labels.count());
        let batch = options.batch.max(1);
        let input = Input::new(features, device, batch).map_err(|source| failed(device, batch, source))?;
        Ok(Self {
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
        let planes = self.input.load(self.features, questions, self.device, self.kind, &self.constants)?;
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
            here(policy).f_copy_data(&mut self.logits[..room], room)?;
        }
        if let Some(value) = &outputs.value {
            here(value).f_copy_data(&mut self.values[..batch], batch)?;
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
    fn new(features: Features, device: Device, batch: usize) -> Result<Self, TchError> {
        if !device.is_cuda() {
            let constants = planes::constants(features, Device::Cpu, Kind::Float);
            let varying = (features.boards() + features.fills()) as i64;
            let empty = Tensor::zeros([1, varying, 9, 9], (Kind::Float, Device::Cpu));
            let one = Vec::<f32>::try_from(Tensor::cat(&[empty, constants], 1).flatten(0, 3))?;
            return Ok(Self::Cells(one.repeat(batch)));
        }
        let length = batch * features.packed_len();
        let pinned = Tensor::zeros([length as i64], (Kind::Uint8, Device::Cpu)).f_pin_memory(device)?;
        Ok(Self::Packed { bytes: Vec::with_capacity(length), pinned })
    }

    fn load(
        &mut self,
        features: Features,
        questions: &[Question],
        device: Device,
        kind: Kind,
        constants: &Tensor,
    ) -> Result<Tensor, TchError> {
        let batch = questions.len() as i64;
        match self {
            Self::Cells(cells) => {
                let (whole, varying) = (features.planes() * 81, (features.boards() + features.fills()) * 81);
                for (question, cells) in questions.iter().zip(cells.chunks_exact_mut(whole)) {
                    planes::expand(features, &question.planes, &mut cells[..varying]);
                }
                let cells = &cells[..questions.len() * whole];
                Tensor::f_from_slice(cells)?.f_view([batch, features.planes() as i64, 9, 9])
            }
            Self::Packed { bytes, pinned } => {
                bytes.clear();
                questions.iter().for_each(|question| bytes.extend_from_slice(&question.planes.0));
                let mut place = pinned.f_narrow(0, 0, bytes.len() as i64)?;
                place.f_copy_(&Tensor::f_from_slice(bytes)?)?;
                let there = place.f_to_device_(device, Kind::Uint8, true, false)?.f_view([batch, -1])?;
                let varying = planes::unpack_on_device(features, &there, kind);
                let constants = constants.f_expand([batch, -1, -1, -1], false)?;
                Tensor::f_cat(&[varying, constants], 1)
            }
        }
    }
}

fn here(tensor: &Tensor) -> Tensor {
    tensor.to_kind(Kind::Float).to_device(Device::Cpu).contiguous()
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
}
