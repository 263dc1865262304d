//! Evaluation by a network on a device.

mod cuda;
mod lane;

use super::{Answer, Encoding, Evaluator, EvaluatorError, Question};
use crate::network::{Description, Network, outside};
use lane::{Lane, Lanes};
use std::{path::Path, str::FromStr};
use tch::{Device, Kind};

/// The device to compute on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU if there is one, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU with this number, from 0.
    Cuda(usize),
}

/// Parameters of evaluation.
#[derive(Clone, Copy, Debug)]
pub struct TorchOptions {
    /// The device.
    pub device: DeviceChoice,
    /// Whether to compute in 16-bit floats: on a GPU, and for the body of the network on a CPU with bfloat16
    /// instructions.
    pub half: bool,
    /// Maximum number of positions sent to the device at once.
    pub batch: usize,
    /// CPU threads per batch; 0 leaves the number to libtorch. With several threads per batch each waits for
    /// the slowest: on a busy machine several lanes of one thread each are many times faster.
    pub threads: usize,
    /// Number of concurrent batches: while one is on the device, the next is prepared and the last is read.
    pub lanes: usize,
    /// Softmax temperature of the priors: above 1 they become more uniform.
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
    lanes: Lanes,
    encoding: Encoding,
    description: Description,
    batch: usize,
    kind: String,
}

impl TorchEvaluator {
    /// Loads the network of a description file and evaluates once as a warm-up, so that the first evaluation of
    /// a game is not slow.
    ///
    /// # Errors
    /// When the device or the network is unavailable.
    pub fn open(description: &Path, options: &TorchOptions) -> Result<Self, EvaluatorError> {
        let device = options.device.find()?;
        let kind = kind_for(device, options.half);
        Self::of(&Network::load(description, device, kind)?, device, options)
    }

    /// The same with the embedded network.
    ///
    /// # Errors
    /// When the device is unavailable.
    pub fn shipped(options: &TorchOptions) -> Result<Self, EvaluatorError> {
        let device = options.device.find()?;
        Self::of(&Network::shipped(device, kind_for(device, options.half))?, device, options)
    }

    /// An evaluator for a network that is already on the device.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn of(network: &Network, device: Device, options: &TorchOptions) -> Result<Self, EvaluatorError> {
        let kind = kind_for(device, options.half);
        let description = network.description().clone();
        let lane = || Lane::new(network.for_use(kind)?, device, outside(kind), options);
        let lanes = (0..options.lanes.max(1)).map(|_| lane()).collect::<Result<Vec<_>, EvaluatorError>>()?;
        let evaluator = Self {
            lanes: Lanes::new(lanes),
            encoding: Encoding { features: description.features, labels: description.labels },
            description,
            batch: options.batch.max(1),
            kind: format!("torch {} {}", device_name(device), kind_name(kind)),
        };
        evaluator.warm_up()?;
        Ok(evaluator)
    }

    /// The network's description.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Evaluates a batch of empty boards and waits for the device: the cost of an evaluation without encoding
    /// and decoding.
    ///
    /// # Errors
    /// When the device fails.
    pub fn forward_only(&self, batch: usize) -> Result<(), EvaluatorError> {
        self.lanes.with(|lane| lane.forward_only(batch))
    }

    fn warm_up(&self) -> Result<(), EvaluatorError> {
        self.lanes.each(|lane| {
            lane.forward_only(1)?;
            lane.forward_only(self.batch)
        })
    }

    fn check(&self, question: &Question) -> Result<(), EvaluatorError> {
        let (found, wanted) = (question.planes.0.len(), self.encoding.features.packed_len());
        if found != wanted {
            return Err(EvaluatorError::Planes { found, wanted });
        }
        let labels = self.encoding.labels.count();
        match question.labels.iter().find(|&&label| usize::from(label) >= labels) {
            Some(&label) => Err(EvaluatorError::Label { label, labels }),
            None => Ok(()),
        }
    }
}

impl Evaluator for TorchEvaluator {
    fn evaluate(&self, questions: &[Question]) -> Result<Vec<Answer>, EvaluatorError> {
        questions.iter().try_for_each(|question| self.check(question))?;
        let mut answers = Vec::with_capacity(questions.len());
        for batch in questions.chunks(self.batch) {
            self.lanes.with(|lane| lane.answer(batch, &mut answers))?;
        }
        Ok(answers)
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

impl DeviceChoice {
    /// The device; `Auto` is resolved by asking libtorch for a GPU.
    ///
    /// # Errors
    /// When the requested GPU does not exist.
    pub fn find(self) -> Result<Device, EvaluatorError> {
        let gpus = if self == Self::Cpu { 0 } else { cuda::gpus() };
        match self {
            Self::Auto if gpus > 0 => Ok(Device::Cuda(0)),
            Self::Auto | Self::Cpu => Ok(Device::Cpu),
            Self::Cuda(number) if number < gpus => Ok(Device::Cuda(number)),
            Self::Cuda(number) => Err(EvaluatorError::NoDevice(format!("cuda:{number}"))),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = EvaluatorError;

    fn from_str(text: &str) -> Result<Self, EvaluatorError> {
        let unknown = || EvaluatorError::UnknownDevice(text.to_owned());
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => text.strip_prefix("cuda:").and_then(|n| n.parse().ok()).map(Self::Cuda).ok_or_else(unknown),
        }
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

/// The fastest float type of the CPU for the body of a network.
pub(crate) fn processor_kind() -> Kind {
    if has_bfloat16() { Kind::BFloat16 } else { Kind::Float }
}

/// Whether the CPU has bfloat16 dot products. Otherwise libtorch converts the numbers one by one, which is
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

/// `cpu`, or `cuda:0`.
pub(crate) fn device_name(device: Device) -> String {
    match device {
        Device::Cuda(number) => format!("cuda:{number}"),
        _ => "cpu".to_owned(),
    }
}
