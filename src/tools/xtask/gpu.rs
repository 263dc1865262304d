//! `cargo xtask gpu`: what `renmei-deep` does on a GPU, in one file to send to somebody who has none.

use crate::libtorch::{self, Wish};
use anyhow::{Context, Result, ensure};
use std::{
    fs::File,
    io::Write,
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::Instant,
};
use xtask::{
    args::Flags,
    workspace::{self, DEEP, Scratch, cargo, release, root},
};

/// Flags with a value.
pub const VALUED: [&str; 5] = ["--device", "--seconds", "--games", "--time", "--output"];
/// The file, unless another one is named.
const FILE: &str = "gpu-report.txt";

/// One step: a heading, and the commands whose words go into the file.
struct Step {
    heading: &'static str,
    commands: Vec<Command>,
}

/// Runs all steps and writes the file. A step that fails is told in the file and does not keep the others from running;
/// the exit code is 1 then.
pub fn run(words: &[&str]) -> Result<ExitCode> {
    let flags = Flags::read(words, &["--no-build"], &VALUED)?;
    let output = root().join(flags.text("--output").unwrap_or(FILE));
    let device = flags.text("--device").unwrap_or("cuda");
    if !flags.has("--no-build") {
        build(device)?;
    }
    let scratch = Scratch::new("gpu")?;
    let mut file = File::create(&output).with_context(|| format!("`{}`", output.display()))?;
    let mut failed = 0;
    for step in steps(device, &flags, &scratch)? {
        eprintln!("{}", step.heading);
        writeln!(file, "# {}\n", step.heading)?;
        for command in step.commands {
            failed += usize::from(!told(command, &mut file)?);
        }
    }
    writeln!(file, "# {failed} commands failed")?;
    eprintln!("{failed} commands failed; send {}", output.display());
    Ok(ExitCode::from(u8::from(failed > 0)))
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

fn steps(device: &str, flags: &Flags, scratch: &Scratch) -> Result<Vec<Step>> {
    let seconds = flags.number("--seconds", 5_u32)?.to_string();
    let games = flags.number("--games", 40_u32)?.to_string();
    let time = flags.text("--time").unwrap_or("fixed 300ms");
    let deep = || of(release(DEEP));
    let bench = |batches: &str, batch: &str| {
        let mut bench = deep();
        bench.args([
            "bench",
            "--device",
            device,
            "--seconds",
            &seconds,
            "--callers",
            "3",
            "--search-threads",
            "3",
        ]);
        bench.args(["--batches", batches, "--search-batch", batch, "--memory", "2048"]);
        bench
    };
    let mut smi = Command::new("nvidia-smi");
    smi.args(["--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit", "--format=csv"]);
    let mut commit = Command::new("git");
    commit.args(["describe", "--always", "--dirty"]).current_dir(root());
    let mut usi = deep();
    usi.arg("ask").args(["--device", device, "engines/deep/weights/small.toml", "startpos"]);
    let database = scratch.file("gpu.db");
    Ok(vec![
        Step {
            heading: "Machine",
            commands: vec![commit, words_of("uname", &["-srm"]), words_of("nproc", &[]), smi],
        },
        Step { heading: "An answer of the network", commands: vec![usi] },
        Step {
            heading: "Speed: forward alone, evaluation, search",
            commands: vec![bench("1,8,32,128,512,2048", "128"), bench("16", "16"), bench("512", "512")],
        },
        Step { heading: "Tests", commands: vec![cargo(["test", "--release", "--package", DEEP])] },
        Step {
            heading: "A match: this device against the processor, equal time",
            commands: vec![game_match(device, &games, time, &database), report(&database)],
        },
    ])
}

/// Both sides have the same network and the same time for each move.
fn game_match(device: &str, games: &str, time: &str, database: &Path) -> Command {
    let mut command = of(release("renmei"));
    let device = format!("option.Device={device}");
    command.args(["match", "--engine", "cmd=renmei-deep", "name=device", &device]);
    command.args(["--engine", "cmd=renmei-deep", "name=processor", "option.Device=cpu"]);
    command.args(["--games", games, "--time", time, "--concurrency", "1", "--no-dashboard"]);
    // The threads of a search wait for the GPU: they need no cores of their own.
    command.arg("--oversubscribe").arg("--db").arg(database);
    command
}

fn report(database: &Path) -> Command {
    let mut command = of(release("renmei"));
    command.arg("report").arg(database);
    command
}

fn of(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command.current_dir(root());
    command
}

fn words_of(program: &str, arguments: &[&str]) -> Command {
    let mut command = of(program);
    command.args(arguments);
    command
}

/// Runs a command with its words in the file, and tells how it ended. Returns whether it succeeded.
fn told(mut command: Command, file: &mut File) -> Result<bool> {
    writeln!(file, "$ {}", line(&command))?;
    let begun = Instant::now();
    let (out, err) = (file.try_clone()?, file.try_clone()?);
    let ended = command.stdin(Stdio::null()).stdout(out).stderr(err).status();
    let (words, done) = match ended {
        Ok(status) => (status.to_string(), status.success()),
        Err(fault) => (format!("not started: {fault}"), false),
    };
    writeln!(file, "-> {words}, {:.1} s\n", begun.elapsed().as_secs_f64())?;
    Ok(done)
}

/// The command as somebody would type it.
fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| word.to_string_lossy().into_owned());
    let words = words.map(|word| if word.contains(' ') { format!("'{word}'") } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_each_command_its_words_and_how_it_ended() {
        let scratch = Scratch::new("gpu-test").unwrap();
        let path = scratch.file("report.txt");
        let mut file = File::create(&path).unwrap();
        assert!(told(words_of("sh", &["-c", "echo found; echo fault >&2"]), &mut file).unwrap());
        assert!(!told(words_of("sh", &["-c", "exit 3"]), &mut file).unwrap());
        assert!(!told(words_of("no-such-program", &[]), &mut file).unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("$ sh -c 'echo found; echo fault >&2'\nfound\nfault\n-> exit status: 0, "),
            "{text}"
        );
        assert!(text.contains("-> exit status: 3") && text.contains("-> not started: "), "{text}");
    }
}
