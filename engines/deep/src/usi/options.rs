//! USI options: declaration and parsing.

use crate::{
    evaluator::{DeviceChoice, EvaluatorError, TorchEvaluator, TorchOptions},
    search::{self, Constants, Terms},
};
use opening_book::Openings;
use std::{path::Path, thread};
use usi_shell::{OptionSpec, Options};

/// The value of `Network` for the embedded network.
const SHIPPED: &str = "default";

/// Threads that own a GPU: while one batch is computed, the next is formed, and the answers of the last are read.
const OWNERS: usize = 3;

/// All options, in display order.
pub(crate) fn declare() -> Vec<OptionSpec> {
    let constants = Constants::default();
    let thousandths = |value: f32| (value * 1000.0).round() as i64;
    let mut options = vec![
        OptionSpec::combo("Player", "mcts", &["mcts", "softmax", "policy", "value"]),
        OptionSpec::filename("Network", SHIPPED),
        OptionSpec::string("Device", "auto"),
        OptionSpec::check("Half", true),
        OptionSpec::spin("Batch", 0, 0..=4096),
        OptionSpec::spin("Threads", 0, 0..=64),
        OptionSpec::spin("USI_Hash", 256, 16..=1_048_576),
        OptionSpec::check("USI_Ponder", true),
        OptionSpec::spin("MultiPV", 1, 1..=600),
        OptionSpec::spin("PlayoutsLimit", 0, 0..=i64::MAX),
        OptionSpec::check("Deterministic", false),
        OptionSpec::spin("CInit", thousandths(constants.init), 0..=100_000),
        OptionSpec::spin("CBase", constants.base as i64, 1..=10_000_000),
        OptionSpec::spin("CInitRoot", thousandths(constants.root_init), 0..=100_000),
        OptionSpec::spin("CBaseRoot", constants.root_base as i64, 1..=10_000_000),
        OptionSpec::spin("FpuReduction", thousandths(constants.fpu), 0..=1000),
        OptionSpec::spin("FpuReductionRoot", thousandths(constants.root_fpu), 0..=1000),
        OptionSpec::spin("VirtualLoss", i64::from(constants.virtual_loss), 1..=100),
        OptionSpec::spin("PolicyTemperature", 1000, 1..=100_000),
        OptionSpec::check("RootMate", true),
        OptionSpec::spin("LeafMate", -1, -1..=3),
        OptionSpec::spin("Seed", 1, 0..=i64::MAX),
        OptionSpec::spin("MoveTemperature", 0, 0..=100_000),
        OptionSpec::spin("MovesWithTemperature", 1000, 0..=100_000),
        OptionSpec::spin("WalkTemperature", 300, 1..=100_000),
        OptionSpec::spin("BackupTemperature", 300, 1..=100_000),
        OptionSpec::spin("PolicyWeight", 1000, 0..=100_000),
        OptionSpec::spin("PolicyCut", 20, 0..=1000),
        OptionSpec::check("SpendSaved", true),
        OptionSpec::spin("DrawValueBlack", 500, 0..=1000),
        OptionSpec::spin("DrawValueWhite", 500, 0..=1000),
        OptionSpec::spin("MaxMovesToDraw", 0, 0..=100_000),
        OptionSpec::spin("ResignValue", 0, 0..=1000),
        OptionSpec::entering_king_rule(),
    ];
    options.extend(Openings::options());
    options
}

/// The value of an option in thousandths.
pub(crate) fn permille(options: &Options, name: &str) -> f32 {
    options.spin(name) as f32 / 1000.0
}

/// The network and the parameters of its evaluator, which is reloaded when they change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    network: String,
    pub(super) torch: TorchOptions,
}

impl Source {
    /// The parameters by the options. Defaults depend on the device: a GPU needs large batches.
    pub(super) fn of(options: &Options) -> Result<Self, EvaluatorError> {
        let device: DeviceChoice = options.text("Device").parse()?;
        let gpu = device.find()?.is_cuda();
        let or = |value: usize, otherwise: usize| if value == 0 { otherwise } else { value };
        let torch = TorchOptions {
            device,
            half: options.check("Half"),
            batch: or(options.number("Batch"), if gpu { 128 } else { 8 }),
            lanes: if gpu { OWNERS } else { threads(options) },
            threads: 1,
            temperature: permille(options, "PolicyTemperature"),
        };
        Ok(Self { network: options.text("Network").to_owned(), torch })
    }

    /// True for a device of its own, beside the processor.
    pub(super) fn is_gpu(&self) -> bool {
        self.torch.device.find().is_ok_and(|device| device.is_cuda())
    }

    pub(super) fn load(&self) -> Result<TorchEvaluator, EvaluatorError> {
        let network = Some(Path::new(&self.network)).filter(|_| self.network != SHIPPED);
        TorchEvaluator::open(network, &self.torch)
    }
}

/// Search threads: by default one on the processor, and before a GPU as many as the machine has cores to give.
pub(crate) fn threads(options: &Options) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    threads_for(options.number("Threads"), has_gpu(options), cores)
}

/// Depth of the mate search at leaves in plies.
pub(crate) fn leaf_mate(options: &Options) -> u32 {
    u32::try_from(options.spin("LeafMate")).unwrap_or_else(|_| search::leaf_mate(has_gpu(options)))
}

fn has_gpu(options: &Options) -> bool {
    let device = options.text("Device").parse::<DeviceChoice>().and_then(DeviceChoice::find);
    device.is_ok_and(|device| device.is_cuda())
}

/// One core is left to the threads that own the GPU.
fn threads_for(wanted: usize, gpu: bool, cores: usize) -> usize {
    match (wanted, gpu) {
        (0, true) => cores.saturating_sub(1).clamp(1, 64),
        (0, false) => 1,
        _ => wanted,
    }
}

/// The constants of PUCT.
pub(crate) fn constants(options: &Options) -> Constants {
    Constants {
        init: permille(options, "CInit"),
        base: options.spin("CBase") as f32,
        root_init: permille(options, "CInitRoot"),
        root_base: options.spin("CBaseRoot") as f32,
        fpu: permille(options, "FpuReduction"),
        root_fpu: permille(options, "FpuReductionRoot"),
        virtual_loss: options.number("VirtualLoss") as u32,
    }
}

/// The rules of the game and the draw values.
pub(crate) fn terms(options: &Options) -> Terms {
    Terms {
        draw_black: permille(options, "DrawValueBlack"),
        draw_white: permille(options, "DrawValueWhite"),
        max_moves: options.number("MaxMovesToDraw") as u32,
        declaration: options.entering_king_rule(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_at_leaves_have_three_plies_where_the_network_is_slow_unless_the_user_says_otherwise() {
        let plies = |line: &str| {
            let mut options = Options::declare(declare());
            options.apply("setoption name Device value cpu").unwrap();
            options.apply(line).unwrap();
            leaf_mate(&options)
        };
        assert_eq!(plies("setoption name Threads value 1"), 3);
        assert_eq!([0, 1, 3].map(|most| plies(&format!("setoption name LeafMate value {most}"))), [0, 1, 3]);
        assert_eq!(search::leaf_mate(true), 1, "before a GPU");
    }

    #[test]
    fn a_gpu_gets_a_thread_of_every_core_but_one_unless_the_user_says_otherwise() {
        assert_eq!([1, 2, 16, 200].map(|cores| threads_for(0, true, cores)), [1, 1, 15, 64]);
        assert_eq!(threads_for(0, false, 16), 1);
        assert_eq!([true, false].map(|gpu| threads_for(3, gpu, 16)), [3, 3]);
    }
}
