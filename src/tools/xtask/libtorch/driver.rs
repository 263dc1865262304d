//! Detection of a GPU driver for libtorch.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Stdio},
};

/// The first driver for Linux that runs programs built with CUDA 13 (NVIDIA's table of minimum driver versions).
const NEEDED: u32 = 580;

/// The detected driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Driver {
    /// No sign of one.
    None,
    /// It is too old for libtorch: its version.
    TooOld(String),
    /// A driver: the sign of it.
    Seen(String),
}

/// Looks for the driver of this machine.
pub fn look() -> Driver {
    look_at(Path::new("/dev"), OsStr::new("nvidia-smi"))
}

/// Looks for a driver: asks `smi`, else looks into `devices` (`dxg` is the device of WSL).
fn look_at(devices: &Path, smi: &OsStr) -> Driver {
    if let Some(gpu) = ask(smi) {
        let version = gpu.rsplit(", ").next().unwrap_or_default();
        let major: Option<u32> = version.split('.').next().and_then(|major| major.parse().ok());
        return if major.is_some_and(|major| major < NEEDED) {
            Driver::TooOld(version.to_owned())
        } else {
            Driver::Seen(format!("{gpu} (nvidia-smi)"))
        };
    }
    let nodes = ["nvidiactl", "nvidia0", "dxg"].map(|name| devices.join(name));
    let node = nodes.iter().find(|node| node.exists());
    node.map_or(Driver::None, |node| Driver::Seen(node.display().to_string()))
}

/// The first GPU's name and the driver's version, as `nvidia-smi` prints them.
fn ask(smi: &OsStr) -> Option<String> {
    let mut question = Command::new(smi);
    question.args(["--query-gpu=name,driver_version", "--format=csv,noheader"]).stdin(Stdio::null());
    let told = question.stderr(Stdio::null()).output().ok().filter(|told| told.status.success())?;
    let told = String::from_utf8_lossy(&told.stdout);
    told.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

impl Driver {
    /// Advice on an unusable driver.
    pub fn advice(&self) -> Option<String> {
        let Self::TooOld(version) = self else { return None };
        Some(format!(
            "the GPU's driver {version} is too old for CUDA 13: driver {NEEDED} or newer makes the GPU usable"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, fs, os::unix::fs::PermissionsExt, path::PathBuf};

    /// A directory of a test, with a `nvidia-smi` that prints these words.
    fn place(test: &str, smi: Option<&str>) -> PathBuf {
        let place = env::temp_dir().join(format!("xtask-driver-{test}-{}", std::process::id()));
        let _fresh = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join("dev")).unwrap();
        if let Some(words) = smi {
            fs::write(place.join("smi"), format!("#!/bin/sh\n{words}\n")).unwrap();
            fs::set_permissions(place.join("smi"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        place
    }

    fn seen(place: &Path) -> Driver {
        let driver = look_at(&place.join("dev"), place.join("smi").as_os_str());
        fs::remove_dir_all(place).unwrap();
        driver
    }

    #[test]
    fn a_machine_without_device_and_tool_has_no_driver() {
        assert_eq!(seen(&place("none", None)), Driver::None);
        assert_eq!(seen(&place("failing", Some("echo 'no devices were found'; exit 6"))), Driver::None);
    }

    #[test]
    fn nvidia_smi_names_the_gpu_and_an_old_driver_is_told_from_a_new_one() {
        let new = seen(&place("new", Some("echo 'NVIDIA H200, 580.65.06'; echo 'NVIDIA H200, 580.65.06'")));
        assert_eq!(new, Driver::Seen("NVIDIA H200, 580.65.06 (nvidia-smi)".to_owned()));
        let old = seen(&place("old", Some("echo 'NVIDIA GeForce RTX 2080, 535.183.01'")));
        assert_eq!(old, Driver::TooOld("535.183.01".to_owned()));
        let advice = old.advice().unwrap();
        assert!(advice.contains("535.183.01") && advice.contains("580 or newer"), "{advice}");
    }

    #[test]
    fn a_device_alone_is_a_driver_too() {
        let place = place("device", None);
        fs::write(place.join("dev/nvidiactl"), "").unwrap();
        let node = place.join("dev/nvidiactl").display().to_string();
        assert_eq!(seen(&place), Driver::Seen(node));
    }
}
