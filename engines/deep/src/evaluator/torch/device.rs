//! The device to compute on.

use super::{
    super::{EvaluatorError, Simulated},
    cuda::{self, Gpus},
};
use std::str::FromStr;
use tch::Device;

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
    /// No device: for [`bench`](crate::bench).
    Simulated(Simulated),
}

impl DeviceChoice {
    /// The device; `Auto` is resolved by asking libtorch for a GPU.
    ///
    /// # Errors
    /// When the requested GPU cannot be used, with the reason.
    pub fn find(self) -> Result<Device, EvaluatorError> {
        if self == Self::Cpu { Ok(Device::Cpu) } else { self.among(cuda::gpus()) }
    }

    fn among(self, gpus: &Gpus) -> Result<Device, EvaluatorError> {
        let count = gpus.names.len();
        match (self, &gpus.lack) {
            (Self::Cpu, _) => Ok(Device::Cpu),
            (Self::Simulated(_), _) => {
                Err(EvaluatorError::Device("a simulated device is for `bench` alone".to_owned()))
            }
            (Self::Auto, _) => Ok(if count > 0 { Device::Cuda(0) } else { Device::Cpu }),
            (Self::Cuda(number), _) if number < count => Ok(Device::Cuda(number)),
            (Self::Cuda(number), Some(lack)) => {
                Err(EvaluatorError::Device(format!("device `cuda:{number}` cannot be used: {lack}")))
            }
            (Self::Cuda(number), None) => {
                let known =
                    gpus.names.iter().enumerate().map(|(number, name)| format!("cuda:{number} {name}"));
                let known = known.collect::<Vec<_>>().join(", ");
                Err(EvaluatorError::Device(format!(
                    "device `cuda:{number}` does not exist: there are {known}"
                )))
            }
        }
    }

    /// The device that was found and its float type, for people: `cuda:0 NVIDIA H200, f16`; `cpu, bf16`, with the
    /// reason if a GPU was looked for.
    pub fn words(self, device: Device, kind: &str) -> String {
        words(device, kind, if self == Self::Cpu { None } else { Some(cuda::gpus()) })
    }
}

fn words(device: Device, kind: &str, gpus: Option<&Gpus>) -> String {
    let name = device_name(device);
    match (device, gpus) {
        (Device::Cuda(number), Some(gpus)) => {
            let known = gpus.names.get(number).map(|known| format!(" {known}"));
            format!("{name}{}, {kind}", known.unwrap_or_default())
        }
        (_, Some(Gpus { lack: Some(lack), .. })) => format!("{name}, {kind}; no GPU: {lack}"),
        _ => format!("{name}, {kind}"),
    }
}

impl FromStr for DeviceChoice {
    type Err = EvaluatorError;

    fn from_str(text: &str) -> Result<Self, EvaluatorError> {
        let unknown = || {
            EvaluatorError::Device(format!("`{text}` is not a device: use `auto`, `cpu`, `cuda` or `cuda:N`"))
        };
        if let Some(times) = text.strip_prefix("simulated:") {
            return times.parse().map(Self::Simulated);
        }
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => text.strip_prefix("cuda:").and_then(|n| n.parse().ok()).map(Self::Cuda).ok_or_else(unknown),
        }
    }
}

/// True if a GPU computes in bfloat16.
pub(super) fn gpu_has_bfloat16(number: usize) -> bool {
    cuda::gpus().bfloat16.get(number).copied().unwrap_or(false)
}

/// `cpu`, or `cuda:0`.
pub(crate) fn device_name(device: Device) -> String {
    match device {
        Device::Cuda(number) => format!("cuda:{number}"),
        _ => "cpu".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::cuda::NoGpu, *};

    fn two() -> Gpus {
        Gpus {
            names: vec!["NVIDIA H200".to_owned(), "NVIDIA L4".to_owned()],
            bfloat16: vec![true; 2],
            lack: None,
        }
    }

    fn none() -> Gpus {
        Gpus { names: vec![], bfloat16: vec![], lack: Some(NoGpu::Processor) }
    }

    #[test]
    fn a_number_beyond_the_last_gpu_is_told_with_those_that_there_are() {
        assert_eq!(DeviceChoice::Cuda(1).among(&two()).unwrap(), Device::Cuda(1));
        let message = DeviceChoice::Cuda(2).among(&two()).unwrap_err().to_string();
        assert_eq!(message, "device `cuda:2` does not exist: there are cuda:0 NVIDIA H200, cuda:1 NVIDIA L4");
    }

    #[test]
    fn a_gpu_that_cannot_be_used_is_refused_with_the_reason_and_auto_goes_on_without_it() {
        let message = DeviceChoice::Cuda(0).among(&none()).unwrap_err().to_string();
        assert!(
            message.starts_with("device `cuda:0` cannot be used: ") && message.contains("xtask libtorch"),
            "{message}"
        );
        assert_eq!(DeviceChoice::Auto.among(&none()).unwrap(), Device::Cpu);
        assert_eq!(DeviceChoice::Auto.among(&two()).unwrap(), Device::Cuda(0));
    }

    #[test]
    fn the_device_is_named_and_so_is_the_reason_for_a_processor() {
        assert_eq!(words(Device::Cuda(1), "f16", Some(&two())), "cuda:1 NVIDIA L4, f16");
        assert!(
            words(Device::Cpu, "bf16", Some(&none()))
                .starts_with("cpu, bf16; no GPU: a GPU's driver is here")
        );
        assert_eq!(words(Device::Cpu, "f32", None), "cpu, f32", "nobody asked for a GPU");
    }
}
