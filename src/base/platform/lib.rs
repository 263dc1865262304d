//! Everything that Renmei asks of an operating system, with one side for each system: Linux, other Unix systems, Windows.
//!
//! No other crate has `cfg(target_os)`, names a file below `/proc`, or depends on a crate of one system. An answer that a
//! side cannot give is absent (`Option`, or an error that names the system), never a zero.

pub mod account;
pub mod content;
pub mod cores;
pub mod disk;
pub mod door;
pub mod files;
pub mod lack;
pub mod life;
pub mod limits;
pub mod locks;
pub mod network;
#[cfg(target_os = "linux")]
mod proc;
pub mod programs;
pub mod service;
pub mod signals;
pub mod terminal;
pub mod threads;
pub mod usage;
#[cfg(windows)]
mod windows;

/// The error of a question that this system does not answer.
fn unanswered(what: &str) -> std::io::Error {
    let why = format!("{what} is not known on {}", std::env::consts::OS);
    std::io::Error::new(std::io::ErrorKind::Unsupported, why)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::{Path, PathBuf},
    };

    /// What may know systems: this crate, and what never leaves the developers' machines.
    const EXEMPT: [&str; 4] = ["src/base/platform", "src/tests", "src/tools", "engines/deep"];
    /// What tells a system in code, apart from `cfg`.
    const TELLING: [&str; 9] = [
        "std::os::",
        "\"/proc",
        "\"/sys/",
        "\"/dev/",
        "nix::",
        "libc::",
        "windows_sys::",
        "signal_hook::",
        "rustix::",
    ];
    /// Names of systems in a `cfg`.
    const SYSTEMS: [&str; 5] = ["target_os", "target_family", "unix", "windows", "linux"];

    /// Sources of the product, tests apart.
    fn sources(directory: &Path, root: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let below = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_left_out = EXEMPT.contains(&below.as_str())
                || ["tests", "target", "build.rs"].contains(&name.as_str())
                || name.starts_with('.')
                || name.ends_with("tests.rs");
            if is_left_out {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                sources(&path, root, found);
            } else if name.ends_with(".rs") || name == "Cargo.toml" {
                found.push(path);
            }
        }
    }

    /// What is compiled into the product: without comments, and without the unit tests at the end of a file.
    fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    #[test]
    fn no_other_crate_of_the_product_knows_a_system() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
        let mut found = vec![];
        for directory in ["src", "dashboard", "engines"] {
            sources(&root.join(directory), root, &mut found);
        }
        assert!(found.len() > 500, "{} files: the sources are elsewhere", found.len());
        let tells = |line: &str| {
            TELLING.iter().any(|sign| line.contains(sign))
                || (line.contains("cfg") && SYSTEMS.iter().any(|system| line.contains(system)))
        };
        let mut told = vec![];
        for file in found {
            let text = fs::read_to_string(&file).unwrap().replace("\r\n", "\n");
            let lines = code(&text).filter(|(_, line)| tells(line));
            told.extend(lines.map(|(at, line)| format!("{}:{}: {}", file.display(), at + 1, line.trim())));
        }
        assert!(told.is_empty(), "asked of a system outside src/base/platform:\n{}", told.join("\n"));
    }
}
