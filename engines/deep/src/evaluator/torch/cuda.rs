//! Detection of GPUs. The linker drops the CUDA library of libtorch from a program that uses none of its
//! symbols, so it is loaded at run time before libtorch is asked about devices; without it the program runs on
//! the CPU.
#![allow(unsafe_code)]

use libloading::Library;
use std::sync::OnceLock;

/// Number of GPUs available to libtorch.
pub(super) fn gpus() -> usize {
    static LOADED: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: the library belongs to the libtorch this program is linked with; its initialisers only register
    // devices. It is never unloaded.
    let loaded = LOADED.get_or_init(|| unsafe { Library::new("libtorch_cuda.so") }.ok());
    let count = if loaded.is_some() { tch::Cuda::device_count() } else { 0 };
    usize::try_from(count).unwrap_or(0)
}
