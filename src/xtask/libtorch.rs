//! libtorch for renmei-deep: fetched once into `target/libtorch`, unless the user has one.

use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Stdio},
};
use xtask::workspace::{root, run};

/// Python wheels that contain it, and the CUDA libraries that its CPU part is linked against.
const WHEELS: [&str; 3] = ["torch==2.11.0", "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cupti==13.0.85"];
/// Unpacks libraries and headers into the layout that search paths expect, without GPU-only files.
const UNPACK: &str = r#"
import glob, os, sys, zipfile
wheels, target = sys.argv[1:]
parts = ("torch/lib/", "torch/include/", "nvidia/cu13/lib/")
of_gpus = ("libtorch_cuda", "libtorch_nvshmem", "libc10_cuda")
for wheel in glob.glob(os.path.join(wheels, "*.whl")):
    with zipfile.ZipFile(wheel) as packed:
        for name in packed.namelist():
            if name.startswith(parts) and not os.path.basename(name).startswith(of_gpus):
                packed.extract(name, target)
with open(os.path.join(target, "torch", "build-version"), "w") as version:
    version.write("2.11.0\n")
"#;

/// Fetches libtorch unless one is available; prints one sentence if that is impossible. Nothing is fetched if the user
/// has one, or without a C++ compiler.
pub fn fetch_missing() -> bool {
    let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    if !runs(Command::new(&compiler).arg("--version")) {
        eprintln!(
            "continuing without renmei-deep: it needs a C++ compiler, and `{}` does not run (Debian: apt install g++)",
            compiler.to_string_lossy()
        );
        return false;
    }
    if is_there() {
        return true;
    }
    eprintln!("fetching libtorch (540 MB) into {}", place().display());
    let fetched = fetch();
    if !fetched {
        eprintln!(
            "continuing without renmei-deep: libtorch 2.11 could not be fetched by `python3 -m pip download {}`; \
             with a libtorch of your own set LIBTORCH to it",
            WHEELS.join(" ")
        );
    }
    fetched
}

/// Whether libtorch is available without fetching it.
pub fn is_there() -> bool {
    has_own() || place().join("torch/build-version").is_file()
}

/// Whether the user has configured a libtorch; cargo's configuration sets the path of ours.
fn has_own() -> bool {
    let named = env::var_os("LIBTORCH").map(PathBuf::from);
    let other = named.is_some_and(|named| !named.ends_with("target/libtorch/torch"));
    other || env::var_os("LIBTORCH_USE_PYTORCH").is_some()
}

fn place() -> PathBuf {
    root().join("target").join("libtorch")
}

fn fetch() -> bool {
    let wheels = place().join("wheels");
    let mut download = Command::new("python3");
    download.args(["-m", "pip", "download", "--quiet", "--no-deps", "--dest"]).arg(&wheels).args(WHEELS);
    let mut unpack = Command::new("python3");
    unpack.args(["-c", UNPACK]).arg(&wheels).arg(place());
    let done = fs::create_dir_all(&wheels).is_ok() && succeeds(&mut download) && succeeds(&mut unpack);
    // The wheels take half a gigabyte and are not needed any more.
    let _ignored = fs::remove_dir_all(&wheels);
    done
}

fn runs(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn succeeds(command: &mut Command) -> bool {
    run(command.stdin(Stdio::null())).is_ok_and(|status| status.success())
}
