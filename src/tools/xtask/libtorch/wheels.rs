//! The wheels that hold libtorch and what it is linked against, each pinned by its hash.

use std::{env, fmt};

const LIST: &str = include_str!("wheels.txt");

/// A part of libtorch. The processor's half is part of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    /// For processors alone.
    Processor,
    /// With what NVIDIA's GPUs need.
    Cuda,
}

/// A wheel of the Python package index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wheel {
    half: Half,
    /// Package and version.
    requirement: &'static str,
    /// The platform tag by which pip finds it on every machine.
    pub platform: &'static str,
    sha256: &'static str,
    /// Size of the download.
    pub bytes: u64,
}

impl fmt::Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Processor => "for processors alone",
            Self::Cuda => "for processors and NVIDIA's GPUs",
        })
    }
}

impl Wheel {
    /// The name of its package.
    pub fn package(&self) -> &'static str {
        self.requirement.split('=').next().unwrap_or_default()
    }

    /// The requirement for pip, which refuses a file with another hash.
    pub fn requirement(&self) -> String {
        format!("{} --hash=sha256:{}", self.requirement, self.sha256)
    }
}

/// The wheels that a machine of this kind of processor (`x86_64`) needs, without those that it already has. torch comes
/// last: what it is linked against is there when its libraries appear. Empty for a processor without wheels.
pub fn wheels(machine: &str, wanted: Half, there: Option<Half>) -> Vec<Wheel> {
    let of_machine = LIST.lines().filter_map(|line| line.strip_prefix(machine)?.strip_prefix(' '));
    let needed =
        |wheel: &Wheel| wheel.half <= wanted && Some(wheel.half) > there || wheel.package() == "torch";
    let mut wheels: Vec<Wheel> = of_machine.filter_map(wheel).filter(needed).collect();
    wheels.sort_by_key(|wheel| wheel.package() == "torch");
    wheels
}

/// The processor's name in the list of wheels.
pub fn machine() -> &'static str {
    env::consts::ARCH
}

/// Bytes of downloads, as text.
pub fn size(bytes: u64) -> String {
    let mega = bytes as f64 / 1e6;
    if mega < 1000.0 { format!("{mega:.0} MB") } else { format!("{:.1} GB", mega / 1000.0) }
}

fn wheel(line: &'static str) -> Option<Wheel> {
    let mut words = line.split_whitespace();
    let half = match words.next()? {
        "cpu" => Half::Processor,
        "cuda" => Half::Cuda,
        _ => return None,
    };
    let [requirement, platform, sha256] = [words.next()?, words.next()?, words.next()?];
    Some(Wheel { half, requirement, platform, sha256, bytes: words.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(machine: &str, wanted: Half, there: Option<Half>) -> String {
        size(wheels(machine, wanted, there).iter().map(|wheel| wheel.bytes).sum())
    }

    #[test]
    fn every_line_of_the_list_is_a_wheel_with_the_hash_that_pip_checks() {
        let entries = LIST.lines().filter(|line| !line.starts_with('#'));
        for line in entries {
            let wheel = wheel(line.split_once(' ').unwrap().1.trim()).unwrap_or_else(|| panic!("{line}"));
            assert!(
                wheel.sha256.len() == 64 && wheel.sha256.bytes().all(|c| c.is_ascii_hexdigit()),
                "{line}"
            );
            assert!(line.starts_with(wheel.platform.rsplit_once("x86_64").map_or("aarch64", |_| "x86_64")));
        }
        let torch = wheels("x86_64", Half::Processor, None).pop().unwrap();
        assert!(torch.requirement().starts_with("torch==2.11.0 --hash=sha256:0f68f4ac"), "{torch:?}");
        assert_eq!(torch.platform, "manylinux_2_28_x86_64");
    }

    #[test]
    fn the_cuda_half_is_two_and_a_half_gigabytes_and_torch_is_fetched_last() {
        assert_eq!(total("x86_64", Half::Processor, None), "544 MB");
        assert_eq!(total("x86_64", Half::Cuda, None), "2.5 GB");
        let added = wheels("x86_64", Half::Cuda, Some(Half::Processor));
        let packages: Vec<_> = added.iter().map(Wheel::package).collect();
        assert_eq!(packages.last(), Some(&"torch"), "it has libtorch_cuda.so");
        assert!(!packages.contains(&"nvidia-cuda-runtime"), "{packages:?} is there already");
        assert!(packages.contains(&"nvidia-cudnn-cu13"), "{packages:?}");
        assert_eq!(wheels("riscv64", Half::Cuda, None), []);
    }
}
