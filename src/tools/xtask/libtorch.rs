//! libtorch for renmei-deep: fetched once into `target/libtorch`, unless the user has one.

mod driver;
mod wheels;

use anyhow::{Context, Result, bail, ensure};
use driver::Driver;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};
use wheels::{Half, Wheel, machine, size, wheels};
use xtask::{
    args::Flags,
    workspace::{root, run},
};

/// Flags that decide which half is fetched.
pub const FLAGS: [&str; 2] = ["--cpu", "--cuda"];

/// Unpacks libraries and headers of a wheel into the layout that search paths expect. Each file is complete when it
/// takes its place, also where a program uses the one before it; those of GPUs come last, because the program looks
/// for them.
const UNPACK: &str = r#"
import os, sys, zipfile
wheel, target, cuda = sys.argv[1], sys.argv[2], sys.argv[3] == "cuda"
parts = ("torch/lib/", "torch/include/", "torch.libs/", "nvidia/")
of_gpus = ("libtorch_cuda", "libtorch_nvshmem", "libc10_cuda")
def is_gpus(name): return os.path.basename(name).startswith(of_gpus)
def is_wanted(name):
    if not name.startswith(parts) or name.endswith(("/", ".a", ".py")): return False
    if name.startswith("nvidia/") and "/lib/" not in name: return False
    return cuda or not is_gpus(name)
part = os.path.join(target, "part")
with zipfile.ZipFile(wheel) as packed:
    for name in sorted(filter(is_wanted, packed.namelist()), key=lambda name: (is_gpus(name), "libtorch_cuda" in name)):
        unpacked = packed.extract(name, part)
        place = os.path.join(target, name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.replace(unpacked, place)
"#;

/// Which half the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// That with CUDA if the machine has a driver for it.
    Auto,
    /// This one.
    Half(Half),
}

impl Wish {
    /// The wish by the flags.
    pub fn of(flags: &Flags) -> Result<Self> {
        match FLAGS.map(|flag| flags.has(flag)) {
            [true, true] => bail!("`--cpu` and `--cuda` exclude each other"),
            [true, false] => Ok(Self::Half(Half::Processor)),
            [false, true] => Ok(Self::Half(Half::Cuda)),
            [false, false] => Ok(Self::Auto),
        }
    }

    /// The half to fetch, with a sentence for the user unless the choice is obvious.
    fn decide(self, driver: &Driver) -> (Half, Option<String>) {
        match (self, driver) {
            (Self::Half(half), _) => (half, None),
            (Self::Auto, Driver::None) => (Half::Processor, None),
            (Self::Auto, Driver::TooOld(_)) => (Half::Processor, driver.advice()),
            (Self::Auto, Driver::Seen(sign)) => {
                let words =
                    format!("there is a GPU: {sign}; libtorch comes with CUDA (`--cpu` leaves it out)");
                (Half::Cuda, Some(words))
            }
        }
    }
}

/// `cargo xtask libtorch`.
pub fn command(words: &[&str]) -> Result<ExitCode> {
    let wish = Wish::of(&Flags::read(words, &FLAGS, &[])?)?;
    let fetched = fetch_missing(wish);
    if fetched {
        eprintln!("{}", state());
    }
    Ok(ExitCode::from(u8::from(!fetched)))
}

/// Fetches libtorch unless one is available; prints one sentence if that is impossible. Nothing is fetched if the user
/// has one, or without a C++ compiler. Returns whether there is a libtorch, and the half that was asked for.
pub fn fetch_missing(wish: Wish) -> bool {
    let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    if !runs(Command::new(&compiler).arg("--version")) {
        eprintln!(
            "continuing without renmei-deep: it needs a C++ compiler, and `{}` does not run (Debian: apt install g++)",
            compiler.to_string_lossy()
        );
        return false;
    }
    if has_own() {
        return true;
    }
    let (half, why) = wish.decide(&driver::look());
    if Some(half) <= half_in(&place()) {
        return true;
    }
    why.iter().for_each(|why| eprintln!("{why}"));
    match fetch(half) {
        Ok(()) => true,
        Err(fault) if half == Half::Cuda && wish == Wish::Auto => {
            eprintln!(
                "libtorch with CUDA could not be fetched: {fault:#}; `cargo xtask libtorch --cuda` tries again"
            );
            is_there() || fetch_missing(Wish::Half(Half::Processor))
        }
        Err(fault) => {
            eprintln!(
                "continuing without {}: libtorch 2.11 could not be fetched: {fault:#}; with a libtorch of your own set \
                 LIBTORCH to it",
                if is_there() { "CUDA" } else { "renmei-deep" }
            );
            false
        }
    }
}

/// The installed half, for the user.
fn state() -> String {
    let place = place();
    match half_in(&place) {
        _ if has_own() => {
            "libtorch is your own (LIBTORCH or LIBTORCH_USE_PYTORCH is set): nothing is fetched".to_owned()
        }
        Some(half) => format!("libtorch is in {}, {half}", place.display()),
        None => format!("there is no libtorch in {}", place.display()),
    }
}

/// True if libtorch is available without fetching it.
pub fn is_there() -> bool {
    has_own() || half_in(&place()).is_some()
}

/// True if the user has configured a libtorch; cargo's configuration sets the path of ours.
fn has_own() -> bool {
    let named = env::var_os("LIBTORCH").map(PathBuf::from);
    let other = named.is_some_and(|named| !named.ends_with("target/libtorch/torch"));
    other || env::var_os("LIBTORCH_USE_PYTORCH").is_some()
}

fn place() -> PathBuf {
    root().join("target").join("libtorch")
}

/// The half that was fetched into a directory. The last file of a fetch decides.
fn half_in(place: &Path) -> Option<Half> {
    let has = |file: &str| place.join("torch").join(file).is_file();
    let cuda = has("lib/libtorch_cuda.so");
    has("build-version").then_some(if cuda { Half::Cuda } else { Half::Processor })
}

/// Fetches a half, one wheel after the other, so that the disk never holds them all.
fn fetch(half: Half) -> Result<()> {
    let place = place();
    let missing = wheels(machine(), half, half_in(&place));
    ensure!(!missing.is_empty(), "the Python package index has no libtorch 2.11 for {}", machine());
    let bytes: u64 = missing.iter().map(|wheel| wheel.bytes).sum();
    eprintln!("fetching libtorch {half} ({}) into {}", size(bytes), place.display());
    let scratch = place.join("wheels");
    fs::create_dir_all(&scratch).with_context(|| format!("`{}` cannot be created", scratch.display()))?;
    let fetched = ensure_room(&place, &missing)
        .and_then(|()| {
            missing.iter().enumerate().try_for_each(|(nth, wheel)| {
                eprintln!("  {} of {}: {}, {}", nth + 1, missing.len(), wheel.package(), size(wheel.bytes));
                fetch_wheel(wheel, half, &place, &scratch)
            })
        })
        .and_then(|()| if half == Half::Cuda { ensure_resolved(&place) } else { Ok(()) });
    let _ignored = fs::remove_dir_all(&scratch);
    let _ignored = fs::remove_dir_all(place.join("part"));
    fetched?;
    fs::write(place.join("torch/build-version"), "2.11.0\n").context("torch/build-version cannot be written")
}

/// Refuses to begin what the disk cannot hold: unpacked, a wheel takes half as much again, and it is deleted after that.
fn ensure_room(place: &Path, wheels: &[Wheel]) -> Result<()> {
    let largest = wheels.iter().map(|wheel| wheel.bytes).max().unwrap_or(0);
    let needed = wheels.iter().map(|wheel| wheel.bytes).sum::<u64>() * 3 / 2 + largest;
    let told = Command::new("df").args(["-Pk"]).arg(place).output();
    let told = told.map(|told| String::from_utf8_lossy(&told.stdout).into_owned()).unwrap_or_default();
    let free = told.lines().nth(1).and_then(|line| line.split_whitespace().nth(3)?.parse::<u64>().ok());
    let Some(free) = free.map(|kilo| kilo * 1024) else { return Ok(()) };
    ensure!(
        free >= needed,
        "{} are needed in {}, and {} are free",
        size(needed),
        place.display(),
        size(free)
    );
    Ok(())
}

fn fetch_wheel(wheel: &Wheel, half: Half, place: &Path, scratch: &Path) -> Result<()> {
    let requirement = scratch.join("requirement.txt");
    fs::write(&requirement, wheel.requirement())?;
    let mut download = Command::new("python3");
    download.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]);
    download.args(["--python-version", "3.12", "--platform", wheel.platform, "--dest"]).arg(scratch);
    ensure!(
        succeeds(download.arg("--requirement").arg(&requirement)),
        "`python3 -m pip download {}` failed",
        wheel.requirement()
    );
    let files = fs::read_dir(scratch)?.flatten().map(|file| file.path());
    let file = files.into_iter().find(|file| file.extension().is_some_and(|end| end == "whl"));
    let file = file.with_context(|| format!("pip fetched no wheel of {}", wheel.package()))?;
    let mut unpack = Command::new("python3");
    unpack.args(["-c", UNPACK]).args([&file, place]).arg(if half == Half::Cuda { "cuda" } else { "cpu" });
    ensure!(succeeds(&mut unpack), "`{}` cannot be unpacked", file.display());
    fs::remove_file(&file).with_context(|| format!("`{}` cannot be deleted", file.display()))
}

/// Checks that the loader finds every library of the CUDA half by the paths inside the libraries alone.
fn ensure_resolved(place: &Path) -> Result<()> {
    let library = place.join("torch/lib/libtorch_cuda.so");
    let told = Command::new("ldd").arg(&library).env_remove("LD_LIBRARY_PATH").output();
    let told = told.map(|told| String::from_utf8_lossy(&told.stdout).into_owned()).unwrap_or_default();
    let missing = unresolved(&told);
    ensure!(missing.is_empty(), "`{}` lacks {}", library.display(), missing.join(", "));
    Ok(())
}

/// The libraries that `ldd` does not find.
fn unresolved(told: &str) -> Vec<&str> {
    told.lines().filter_map(|line| Some(line.split_once("=> not found")?.0.trim())).collect()
}

fn runs(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn succeeds(command: &mut Command) -> bool {
    run(command.stdin(Stdio::null())).is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(flags: &[&str]) -> Result<Wish> {
        Wish::of(&Flags::read(flags, &FLAGS, &[]).unwrap())
    }

    #[test]
    fn a_driver_brings_the_cuda_half_and_flags_decide_over_what_is_seen() {
        let seen = Driver::Seen("NVIDIA H200, 580.65.06 (nvidia-smi)".to_owned());
        let decide = |flags: &[&str], driver: &Driver| wish(flags).unwrap().decide(driver);
        let (half, why) = decide(&[], &seen);
        assert_eq!(half, Half::Cuda);
        assert!(why.is_some_and(|why| why.contains("NVIDIA H200") && why.contains("--cpu")));
        assert_eq!(decide(&["--cpu"], &seen), (Half::Processor, None));
        assert_eq!(decide(&[], &Driver::None), (Half::Processor, None));
        assert_eq!(decide(&["--cuda"], &Driver::None), (Half::Cuda, None));
        assert!(wish(&["--cpu", "--cuda"]).is_err());
    }

    #[test]
    fn a_driver_that_is_too_old_costs_no_download_and_is_told() {
        let (half, why) = Wish::Auto.decide(&Driver::TooOld("535.183.01".to_owned()));
        assert_eq!(half, Half::Processor);
        assert!(why.is_some_and(|why| why.contains("535.183.01")));
    }

    #[test]
    fn the_half_that_is_there_is_known_by_the_files_that_come_last() {
        let place = env::temp_dir().join(format!("xtask-libtorch-{}", std::process::id()));
        let _fresh = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join("torch/lib")).unwrap();
        assert_eq!(half_in(&place), None, "an interrupted fetch");
        fs::write(place.join("torch/build-version"), "2.11.0\n").unwrap();
        assert_eq!(half_in(&place), Some(Half::Processor));
        fs::write(place.join("torch/lib/libtorch_cuda.so"), "").unwrap();
        assert_eq!(half_in(&place), Some(Half::Cuda));
        fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn libraries_that_the_loader_does_not_find_are_named() {
        let told =
            "\tlibc10.so => /t/libc10.so (0x7f)\n\tlibcudnn.so.9 => not found\n\tlibnccl.so.2 => not found\n";
        assert_eq!(unresolved(told), ["libcudnn.so.9", "libnccl.so.2"]);
    }
}
