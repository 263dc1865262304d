//! Whether there is a GPU. The linker leaves the CUDA half of libtorch out of a program that names none of its
//! functions, so it is loaded here, before libtorch is first asked about devices; where it is absent, all goes on
//! without it.
#![allow(unsafe_code)]

use libloading::Library;
use std::sync::OnceLock;

/// The GPUs that libtorch can use.
pub(super) fn gpus() -> usize {
    static LOADED: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: the library is the half of libtorch that belongs to the half this program is linked with; its
    // initialisers register devices and nothing else. It stays loaded to the end.
    let loaded = LOADED.get_or_init(|| unsafe { Library::new("libtorch_cuda.so") }.ok());
    let count = if loaded.is_some() { tch::Cuda::device_count() } else { 0 };
    usize::try_from(count).unwrap_or(0)
}
