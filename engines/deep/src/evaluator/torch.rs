//! A network on a device.

mod cuda;
mod lane;

use super::{Answer, Encoding, Evaluator, EvaluatorError, Question};
use crate::network::{Description, Network, outside};
use lane::{Lane, Lanes};
use std::{path::Path, str::FromStr};
use tch::{Device, Kind};

/// Where a network computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// On the first GPU, if there is one.
    #[default]
    Auto,
    /// On the processor.
    Cpu,
    /// On the GPU of this number, from 0.
    Cuda(usize),
}

/// How a network is asked.
#[derive(Clone, Copy, Debug)]
pub struct TorchOptions {
    /// Where.
    pub device: DeviceChoice,
    /// Whether to compute in 16-bit numbers: on a GPU, and the body of the network on a processor that multiplies
    /// bfloat16.
    pub half: bool,
    /// The most positions that go to the device at once.
    pub batch: usize,
    /// Threads that the processor uses for one batch; 0 leaves that to libtorch. With more than one, each waits for the
    /// slowest: on a machine that does other work too, several lanes of one thread are many times faster.
    pub threads: usize,
    /// Batches in work at a time: while one is on the device, the next is made ready and the last is read.
    pub lanes: usize,
    /// Softmax temperature of the priors: above 1 they become more alike.
    pub temperature: f32,
}

impl Default for TorchOptions {
    fn default() -> Self {
        Self { device: DeviceChoice::Auto, half: true, batch: 64, threads: 1, lanes: 2, temperature: 1.0 }
    }
}

/// Answers with a network. Threads that ask at the same time are served side by side in [`TorchOptions::lanes`].
#[derive(Debug)]
pub struct TorchEvaluator {
    lanes: Lanes,
    encoding: Encoding,
    description: Description,
    batch: usize,
    kind: String,
}

impl TorchEvaluator {
    /// Loads the network of a description file and asks it once, so that the first question of a game is not the slow
    /// one.
    ///
    /// # Errors
    /// When the device or the network cannot be had.
    pub fn open(description: &Path, options: &TorchOptions) -> Result<Self, EvaluatorError> {
        let device = options.device.find()?;
        let kind = kind_for(device, options.half);
        Self::of(&Network::load(description, device, kind)?, device, options)
    }

    /// The same with the network that ships inside the program.
    ///
    /// # Errors
    /// When the device cannot be had.
    pub fn shipped(options: &TorchOptions) -> Result<Self, EvaluatorError> {
        let device = options.device.find()?;
        Self::of(&Network::shipped(device, kind_for(device, options.half))?, device, options)
    }

    /// Asks a network that is on the device already.
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

    /// Computes a batch of empty boards and waits for the device: what an evaluation costs without questions and
    /// answers.
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
    /// The device, once libtorch knows whether there is a GPU.
    ///
    /// # Errors
    /// When a GPU was asked for that is not there.
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

/// The numbers that a network is asked in, its body at least.
pub(crate) fn kind_for(device: Device, half: bool) -> Kind {
    match (half, device.is_cuda()) {
        (true, true) => Kind::Half,
        (true, false) => processor_kind(),
        (false, _) => Kind::Float,
    }
}

/// The numbers that a processor computes the body of a network in fastest.
pub(crate) fn processor_kind() -> Kind {
    if has_bfloat16() { Kind::BFloat16 } else { Kind::Float }
}

/// Whether the processor multiplies bfloat16 numbers in hardware. Where it does not, libtorch converts them one by one.
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
