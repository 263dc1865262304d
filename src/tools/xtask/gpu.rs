//! `cargo xtask gpu`: what `renmei-deep` does on a GPU, in one file to send to somebody who has none.

use crate::libtorch::{self, Wish};
use anyhow::{Result, ensure};
use std::{
    env,
    path::Path,
    process::{Command, ExitCode},
};
use xtask::{
    args::Flags,
    workspace::{self, DEEP, Scratch, release, root},
};

/// Flags with a value.
const VALUED: [&str; 5] = ["--device", "--seconds", "--games", "--time", "--output"];

/// Builds the programs, and lets `gpu.sh` write the file; the exit code is 1 if one of its commands fails.
pub fn run(words: &[&str]) -> Result<ExitCode> {
    let flags = Flags::read(words, &["--no-build"], &VALUED)?;
    let device = flags.text("--device").unwrap_or("cuda");
    if !flags.has("--no-build") {
        build(device)?;
    }
    let scratch = Scratch::new("gpu")?;
    let numbers = [flags.number("--seconds", 5_u32)?, flags.number("--games", 40_u32)?];
    let mut script = script(&release(""), &root().join(flags.text("--output").unwrap_or("gpu-report.txt")))?;
    script.arg(device).args(numbers.map(|number| number.to_string()));
    script.arg(flags.text("--time").unwrap_or("fixed 300ms")).arg(scratch.file(""));
    Ok(ExitCode::from(u8::from(!workspace::run(&mut script)?.success())))
}

/// The script, with programs of a directory before all others, and the file that it writes.
fn script(programs: &Path, file: &Path) -> Result<Command> {
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs.to_owned()].into_iter().chain(env::split_paths(&path)))?;
    let mut script = Command::new("sh");
    script.arg("src/tools/xtask/gpu.sh").arg(file).current_dir(root()).env("PATH", path);
    Ok(script)
}

fn build(device: &str) -> Result<()> {
    // A device of another name than these is refused by the engine, with its own words in the file.
    let wish = if device == "cpu" {
        Wish::Auto
    } else {
        Wish::of(&Flags::read(&["--cuda"], &libtorch::FLAGS, &[])?)?
    };
    ensure!(libtorch::fetch_missing(wish), "there is no libtorch");
    workspace::build(&workspace::MANAGER)?;
    workspace::build(&["--release", "--package", DEEP])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn the_file_has_each_command_its_words_and_how_it_ended() {
        let scratch = Scratch::new("gpu-test").unwrap();
        for (program, code) in [("renmei-deep", 3), ("renmei", 0), ("cargo", 0), ("nvidia-smi", 9)] {
            let file = scratch.file(program);
            fs::write(&file, format!("#!/bin/sh\necho found; echo fault >&2; exit {code}\n")).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = scratch.file("report.txt");
        let mut script = script(&scratch.file(""), &path).unwrap();
        let ended = script.args(["cuda", "5", "40", "fixed 300ms"]).arg(scratch.file("")).status().unwrap();
        let text = fs::read_to_string(path).unwrap();
        assert_eq!(ended.code(), Some(1));
        let answer = "$ renmei-deep ask --device cuda engines/deep/weights/small.toml startpos\nfound\nfault\n-> exit status: 3, ";
        assert!(text.contains(answer), "{text}");
        assert!(text.contains("--time fixed 300ms") && text.contains("-> exit status: 0, "), "{text}");
        assert!(text.ends_with("# 5 commands failed\n"), "{text}");
    }
}
