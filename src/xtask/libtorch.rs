//! libtorch for the engine with a network: fetched once into `target/libtorch`, unless the user has one.

use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Stdio},
};
use xtask::workspace::{root, run};

/// The wheels of the Python package index that hold it, and what else of CUDA its CPU half is linked against.
const WHEELS: [&str; 3] = ["torch==2.11.0", "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cupti==13.0.85"];
/// Unpacks libraries and headers, side by side as their search paths expect; what only a GPU needs stays out.
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

/// Makes sure of a libtorch to build against; says in one sentence why there is none. With a user's own nothing is
/// fetched, and nothing where its C++ could not be compiled.
pub fn fetch_missing() -> bool {
    let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    if !runs(Command::new(&compiler).arg("--version")) {
        eprintln!(
            "going on without renmei-deep: it needs a C++ compiler, and `{}` does not run (Debian: apt install g++)",
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
            "going on without renmei-deep: libtorch 2.11 could not be fetched by `python3 -m pip download {}`; \
             with a libtorch of your own set LIBTORCH to it",
            WHEELS.join(" ")
        );
    }
    fetched
}

/// Whether there is a libtorch to build against, without fetching one.
pub fn is_there() -> bool {
    has_own() || place().join("torch/build-version").is_file()
}

/// Whether the user says that there is a libtorch already. Cargo's configuration names the place of ours.
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
    // Half a gigabyte that nothing reads again.
    let _left_if_it_must = fs::remove_dir_all(&wheels);
    done
}

fn runs(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn succeeds(command: &mut Command) -> bool {
    run(command.stdin(Stdio::null())).is_ok_and(|status| status.success())
}
