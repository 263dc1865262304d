//! The GPUs that libtorch can use, or the reason why it can use none.
//!
//! The linker drops the CUDA library of libtorch from a program that uses none of its symbols, so it is loaded at run
//! time before libtorch is asked about devices; without it the program runs on the CPU. Which part is missing is found
//! out by asking the driver itself (`libcuda.so.1`, the interface that every version of it keeps).
#![allow(unsafe_code)]

use libloading::Library;
use std::{
    error::Error,
    ffi::{CStr, c_char, c_int},
    sync::OnceLock,
};

/// The GPU half of libtorch.
const LIBRARY: &str = "libtorch_cuda.so";
/// The driver.
const DRIVER: &str = "libcuda.so.1";
/// The first generation that computes in bfloat16.
const AMPERE: c_int = 8;
/// Number of the attribute with the generation, in the driver's interface.
const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
/// Longest name of a GPU, as the driver's interface has it.
const NAME: usize = 256;

/// Why there is no GPU to compute on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGpu {
    /// No driver can be loaded.
    #[error("there is no NVIDIA driver ({0})")]
    NoDriver(String),
    /// libtorch has no part for GPUs.
    #[error(
        "a GPU's driver is here, but libtorch is the half for processors alone: `cargo xtask libtorch --cuda` fetches \
         the other (2.5 GB), without another compilation; a libtorch of your own must be one with CUDA"
    )]
    Processor,
    /// The part for GPUs is there and cannot be loaded.
    #[error(
        "the CUDA half of libtorch cannot be loaded: {0}; `cargo xtask libtorch --cuda` fetches what it needs"
    )]
    Unloadable(String),
    /// The driver is older than libtorch.
    #[error(
        "the NVIDIA driver is too old: it runs CUDA {has}, and this libtorch needs {needs}; install a newer driver"
    )]
    OldDriver {
        /// The newest CUDA that the driver runs.
        has: String,
        /// The CUDA of libtorch.
        needs: String,
    },
    /// The driver sees no GPU.
    #[error("the NVIDIA driver shows no GPU ({0}); `nvidia-smi` and CUDA_VISIBLE_DEVICES may say why")]
    NoneSeen(String),
}

/// The GPUs that can be used.
#[derive(Debug)]
pub(super) struct Gpus {
    /// Their names, in libtorch's order.
    pub(super) names: Vec<String>,
    /// Whether each computes in bfloat16.
    pub(super) bfloat16: Vec<bool>,
    /// Why there is none.
    pub(super) lack: Option<NoGpu>,
}

/// The state of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Driver {
    /// The newest CUDA that it runs: 13000 for 13.0.
    version: i32,
    /// Its error at the start; `None` if it works.
    fault: Option<String>,
    /// The name and the generation of each GPU: the major number of its compute capability, 9 for an H100 or H200.
    gpus: Vec<(String, c_int)>,
}

/// The part of libtorch for GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Half {
    /// The CUDA half is missing.
    Missing,
    /// Why the CUDA half cannot be loaded.
    Broken(String),
    /// The CUDA half was loaded; with the CUDA that it was made for, if known.
    Loaded(Option<i32>),
}

/// The GPUs of this machine. They are looked for once.
pub(super) fn gpus() -> &'static Gpus {
    static GPUS: OnceLock<Gpus> = OnceLock::new();
    GPUS.get_or_init(|| {
        let (driver, half) = (driver(), half());
        let count = if matches!(half, Half::Loaded(_)) { tch::Cuda::device_count() } else { 0 };
        let count = usize::try_from(count).unwrap_or(0);
        let lack = (count == 0).then(|| lack(driver.as_ref().map_err(String::as_str), &half));
        let mut gpus = driver.map(|driver| driver.gpus).unwrap_or_default();
        gpus.resize(count, ("GPU".to_owned(), 0));
        let bfloat16 = gpus.iter().map(|gpu| gpu.1 >= AMPERE).collect();
        Gpus { names: gpus.into_iter().map(|gpu| gpu.0).collect(), bfloat16, lack }
    })
}

/// Why libtorch counts no GPU.
fn lack(driver: Result<&Driver, &str>, half: &Half) -> NoGpu {
    let driver = match driver {
        Ok(driver) => driver,
        Err(fault) => return NoGpu::NoDriver(fault.to_owned()),
    };
    match half {
        Half::Missing => NoGpu::Processor,
        Half::Broken(fault) => NoGpu::Unloadable(fault.clone()),
        // A driver runs every CUDA of its major version.
        Half::Loaded(Some(needs)) if driver.version / 1000 < needs / 1000 => {
            NoGpu::OldDriver { has: version(driver.version), needs: version(*needs) }
        }
        Half::Loaded(_) => {
            let fault =
                driver.fault.clone().or_else(|| driver.gpus.is_empty().then(|| "it counts none".to_owned()));
            NoGpu::NoneSeen(fault.unwrap_or_else(|| "libtorch counts none".to_owned()))
        }
    }
}

/// 13000 as 13.0.
fn version(number: i32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

/// Loads libtorch's part for GPUs and keeps it.
fn half() -> Half {
    static LOADED: OnceLock<Library> = OnceLock::new();
    // SAFETY: the library belongs to the libtorch this program is linked with; its initialisers only register
    // devices. It is never unloaded.
    let library = match unsafe { Library::new(LIBRARY) } {
        Ok(library) => LOADED.get_or_init(|| library),
        Err(fault) => {
            let fault = reason(&fault);
            // A library that it needs and lacks is named by the loader instead.
            let missing = fault.starts_with(&format!("{LIBRARY}: cannot open shared object file"));
            return if missing { Half::Missing } else { Half::Broken(fault) };
        }
    };
    let mut version = 0;
    // SAFETY: a function of the CUDA runtime, which the library is linked with: `cudaRuntimeGetVersion(int *)`.
    let message = unsafe {
        let ask = library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(b"cudaRuntimeGetVersion");
        ask.is_ok_and(|ask| ask(&raw mut version) == 0)
    };
    Half::Loaded(message.then_some(version))
}

/// Asks the driver for its version and its GPUs.
fn driver() -> Result<Driver, String> {
    type Number = unsafe extern "C" fn(*mut c_int) -> c_int;
    type Start = unsafe extern "C" fn(u32) -> c_int;
    type ErrorName = unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int;
    type Name = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
    type Attribute = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int;
    // SAFETY: the driver's interface is stable: `cuDriverGetVersion(int *)`, `cuInit(unsigned)`,
    // `cuGetErrorName(CUresult, const char **)`, `cuDeviceGetCount(int *)`, `cuDeviceGetName(char *, int, CUdevice)`,
    // `cuDeviceGetAttribute(int *, CUdevice_attribute, CUdevice)`, a device being the number of a GPU. Each returns 0 for
    // success; the text of an error is never freed, a name is as long as its buffer at most.
    unsafe {
        let library = Library::new(DRIVER).map_err(|fault| reason(&fault))?;
        let missing = |fault| reason(&fault);
        let (mut version, mut count) = (0, 0);
        library.get::<Number>(b"cuDriverGetVersion").map_err(missing)?(&raw mut version);
        let code = library.get::<Start>(b"cuInit").map_err(missing)?(0);
        let mut driver = Driver { version, fault: None, gpus: Vec::new() };
        let symbols = (library.get::<Number>(b"cuDeviceGetCount"), library.get::<Name>(b"cuDeviceGetName"));
        if code != 0 {
            let mut text = std::ptr::null();
            let name = library.get::<ErrorName>(b"cuGetErrorName");
            let named = name.is_ok_and(|name| name(code, &raw mut text) == 0) && !text.is_null();
            let name = || CStr::from_ptr(text).to_string_lossy().into_owned();
            driver.fault = Some(if named { name() } else { format!("error {code}") });
        } else if let (Ok(counted), Ok(name)) = symbols
            && counted(&raw mut count) == 0
        {
            let attribute = library.get::<Attribute>(b"cuDeviceGetAttribute").ok();
            driver.gpus.extend((0..count).map(|number| {
                let (mut buffer, mut generation) = ([0 as c_char; NAME], 0);
                let named = name(buffer.as_mut_ptr(), NAME as c_int - 1, number) == 0;
                let name = named.then(|| CStr::from_ptr(buffer.as_ptr()).to_string_lossy().into_owned());
                if let Some(ask) = &attribute {
                    ask(&raw mut generation, COMPUTE_CAPABILITY_MAJOR, number);
                }
                (name.unwrap_or_else(|| "GPU".to_owned()), generation)
            }));
        }
        // libtorch uses it, too.
        std::mem::forget(library);
        Ok(driver)
    }
}

/// The loader's own words.
fn reason(fault: &libloading::Error) -> String {
    fault.source().map_or_else(|| fault.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(version: i32) -> Driver {
        Driver { version, fault: None, gpus: vec![("NVIDIA H200".to_owned(), 9)] }
    }

    #[test]
    fn each_part_that_is_missing_is_told_with_what_mends_it() {
        let loaded = Half::Loaded(Some(13_000));
        let message = |driver: Result<&Driver, &str>, half: &Half| lack(driver, half).to_string();
        let none = message(Err("libcuda.so.1: cannot open shared object file"), &loaded);
        assert!(none.contains("no NVIDIA driver (libcuda.so.1"), "{none}");
        let half = message(Ok(&driver(13_000)), &Half::Missing);
        assert!(
            half.contains("`cargo xtask libtorch --cuda`") && half.contains("without another comp"),
            "{half}"
        );
        let broken = message(Ok(&driver(13_000)), &Half::Broken("libcudnn.so.9: no such file".to_owned()));
        assert!(broken.contains("libcudnn.so.9"), "{broken}");
        let old = message(Ok(&driver(12_040)), &loaded);
        assert!(old.contains("runs CUDA 12.4") && old.contains("needs 13.0"), "{old}");
        let newer = lack(Ok(&driver(13_010)), &Half::Loaded(Some(13_000)));
        assert_eq!(newer, NoGpu::NoneSeen("libtorch counts none".to_owned()));
        let hidden = Driver { fault: Some("CUDA_ERROR_NO_DEVICE".to_owned()), ..driver(13_000) };
        assert!(message(Ok(&hidden), &loaded).contains("CUDA_ERROR_NO_DEVICE"));
    }
}
