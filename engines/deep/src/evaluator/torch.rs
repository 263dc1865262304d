//! Evaluation by a network on a device.

mod cuda;
mod device;
mod lane;
mod link;

use super::{Answer, Encoding, Evaluator, EvaluatorError, Question};
use crate::network::{Description, Network, NetworkError, outside};
use clap::{ArgAction, Args};
use lane::Lane;
use parking_lot::{Mutex, MutexGuard};
use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};
use tch::{Device, Kind};

pub use cuda::NoGpu;
pub use device::DeviceChoice;
pub(crate) use device::device_name;

/// Parameters of evaluation; the first three are arguments of the commands that use a network.
#[derive(Args, Clone, Copy, Debug, PartialEq)]
pub struct TorchOptions {
    /// auto, cpu, cuda or cuda:N.
    #[arg(long, default_value = "auto")]
    pub device: DeviceChoice,
    /// Compute in 32-bit floats where 16-bit ones would be faster.
    // 16-bit floats: on a GPU, and for the body of the network on a CPU with bfloat16 instructions.
    #[arg(long = "full", action = ArgAction::SetFalse)]
    pub half: bool,
    /// CPU threads per batch; 0 leaves the number to libtorch.
    // With several threads per batch each waits for the slowest: on a busy machine several lanes of one thread each are many
    // times faster.
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Maximum number of positions sent to the device at once.
    #[arg(skip = 64_usize)]
    pub batch: usize,
    /// Number of concurrent batches: while one is on the device, the next is prepared and the last is read.
    #[arg(skip = 2_usize)]
    pub lanes: usize,
    /// Softmax temperature of the priors: above 1 they become more uniform.
    #[arg(skip = 1.0)]
    pub temperature: f32,
}

impl Default for TorchOptions {
    fn default() -> Self {
        Self { device: DeviceChoice::Auto, half: true, batch: 64, threads: 1, lanes: 2, temperature: 1.0 }
    }
}

/// Evaluates with a network. Concurrent calls are served in [`TorchOptions::lanes`].
#[derive(Debug)]
pub struct TorchEvaluator {
    lanes: Vec<Mutex<Lane>>,
    /// The lane that the next caller waits for if all are taken.
    turn: AtomicUsize,
    encoding: Encoding,
    description: Description,
    batch: usize,
    kind: String,
    device: String,
}

impl TorchEvaluator {
    /// Loads the network of a description file, or the embedded one, and evaluates once as a warm-up, so that the first
    /// evaluation of a game is not slow.
    ///
    /// # Errors
    /// When the device or the network is unavailable, or does not fit into the device's memory.
    pub fn open(description: Option<&Path>, options: &TorchOptions) -> Result<Self, EvaluatorError> {
        let device = options.device.find()?;
        let network = Network::load(description, device, kind_for(device, options.half));
        let network = network.map_err(|fault| match fault {
            NetworkError::Torch { source, .. } if lane::is_memory(&source) => {
                lane::failed(device, options.batch, source)
            }
            fault => fault.into(),
        })?;
        Self::of(&network, device, options)
    }

    /// An evaluator for a network that is already on the device.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn of(network: &Network, device: Device, options: &TorchOptions) -> Result<Self, EvaluatorError> {
        let kind = kind_for(device, options.half);
        let description = network.description().clone();
        let lane = || Lane::new(network.for_use(kind)?, device, outside(kind), options).map(Mutex::new);
        let evaluator = Self {
            lanes: (0..options.lanes.max(1)).map(|_| lane()).collect::<Result<_, EvaluatorError>>()?,
            turn: AtomicUsize::new(0),
            encoding: Encoding { features: description.features, labels: description.labels },
            description,
            batch: options.batch.max(1),
            kind: format!("torch {} {}", device_name(device), kind_name(kind)),
            device: options.device.words(device, kind_name(kind)),
        };
        evaluator.warm_up()?;
        Ok(evaluator)
    }

    /// The network's description.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The device with its float type, for people; on a CPU that was not asked for, why there is no GPU.
    pub fn device(&self) -> &str {
        &self.device
    }

    fn warm_up(&self) -> Result<(), EvaluatorError> {
        self.lanes.iter().map(|lane| lane.lock()).try_for_each(|mut lane| {
            lane.forward_only(1)?;
            lane.forward_only(self.batch)
        })
    }

    /// A lane that is free, else the one whose turn it is.
    fn lane(&self) -> MutexGuard<'_, Lane> {
        let next = || self.lanes[self.turn.fetch_add(1, Relaxed) % self.lanes.len()].lock();
        self.lanes.iter().find_map(Mutex::try_lock).unwrap_or_else(next)
    }

    fn check(&self, question: &Question) -> Result<(), EvaluatorError> {
        let (found, wanted) = (question.planes.0.len(), self.encoding.features.packed_len());
        if found != wanted {
            let fault = format!("a question has {found} bytes of planes instead of {wanted}");
            return Err(EvaluatorError::Question(fault));
        }
        let labels = self.encoding.labels.count();
        match question.labels.iter().find(|&&label| usize::from(label) >= labels) {
            Some(label) => Err(EvaluatorError::Question(format!(
                "a question has label {label}, but the network has {labels} labels"
            ))),
            None => Ok(()),
        }
    }
}

impl Evaluator for TorchEvaluator {
    fn evaluate(&self, questions: &[Question]) -> Result<Vec<Answer>, EvaluatorError> {
        questions.iter().try_for_each(|question| self.check(question))?;
        let mut answers = Vec::with_capacity(questions.len());
        for batch in questions.chunks(self.batch) {
            self.lane().answer(batch, &mut answers)?;
        }
        Ok(answers)
    }

    fn forward_only(&self, batch: usize) -> Result<(), EvaluatorError> {
        self.lane().forward_only(batch)
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn encoding(&self) -> Encoding {
        self.encoding
    }

    fn kind(&self) -> &str {
        &self.kind
    }
}

/// The float type in which the body of the network is computed.
pub(crate) fn kind_for(device: Device, half: bool) -> Kind {
    match (half, device.is_cuda()) {
        (true, true) => Kind::Half,
        (true, false) => processor_kind(),
        (false, _) => Kind::Float,
    }
}

/// The float type in which the body of a network is trained: bfloat16, which has the range of 32-bit floats, where the
/// device computes in it.
pub(crate) fn training_kind(device: Device, half: bool) -> Kind {
    match (half, device) {
        (true, Device::Cuda(number)) if device::gpu_has_bfloat16(number) => Kind::BFloat16,
        (true, Device::Cpu) => processor_kind(),
        _ => Kind::Float,
    }
}

/// The fastest float type of the CPU for the body of a network.
fn processor_kind() -> Kind {
    if has_bfloat16() { Kind::BFloat16 } else { Kind::Float }
}

/// True if the CPU has bfloat16 dot products. Otherwise libtorch converts the numbers one by one, which is
/// slower than 32-bit floats.
fn has_bfloat16() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512bf16");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// `f16`, `bf16` or `f32`.
pub(crate) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Half => "f16",
        Kind::BFloat16 => "bf16",
        _ => "f32",
    }
}
