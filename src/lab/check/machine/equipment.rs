//! Programs that Renmei starts where they are there: engines, the sandbox, git, nats-server, and a GPU.

use super::unknown;
use crate::Row;
use plan::Environment;
use platform::life::sandbox::{self, SandboxError};
use std::process::{Command, Stdio};

/// A program that a part of Renmei needs.
struct Equipment {
    /// The program.
    program: &'static str,
    /// The Debian package that it comes with, if there is one.
    package: Option<&'static str>,
    /// What lacks it.
    used_by: &'static str,
}

/// The engines that presets and guides name, and programs that parts of Renmei start.
const EQUIPMENT: [Equipment; 7] = [
    own("renmei-pairwise"),
    own("renmei-random"),
    debian("fairy-stockfish", "fairy-stockfish", "an engine of the preset `quickstart`"),
    debian("gpsusi", "gpsshogi", "an engine of the preset `quickstart`"),
    debian("git", "git", "`test`, `bisect` and `queue` build commits with it"),
    debian("nats-server", "nats-server", "`--hub` and `worker` send games through it"),
    Equipment {
        program: "renmei-deep",
        package: None,
        used_by: "the engine with a network: see the guide to engines",
    },
];

const fn own(program: &'static str) -> Equipment {
    Equipment {
        program,
        package: None,
        used_by: "an engine that comes with Renmei; it belongs beside `renmei`",
    }
}

const fn debian(program: &'static str, package: &'static str, used_by: &'static str) -> Equipment {
    Equipment { program, package: Some(package), used_by }
}

pub(super) fn all(environment: &Environment, add: &mut impl FnMut(Row)) {
    let has_apt = environment.finds("apt-get");
    EQUIPMENT.iter().for_each(|equipment| add(found(equipment, environment, has_apt)));
    add(strict(sandbox::available(), sandbox::counting()));
    add(gpu(environment));
}

fn found(equipment: &Equipment, environment: &Environment, has_apt: bool) -> Row {
    let Equipment { program, package, used_by } = equipment;
    if environment.finds(program) {
        return Row::pass(*program, "found");
    }
    let row = Row::note(*program, format!("not found: {used_by}"));
    match package {
        Some(package) if has_apt => row.advising(format!("`apt-get install {package}`")),
        _ => row,
    }
}

fn strict(available: Result<(), SandboxError>, counting: &str) -> Row {
    match available {
        Ok(()) => Row::pass("strict sandbox", counting),
        Err(why) => Row::note("strict sandbox", why.to_string()),
    }
}

/// The GPUs that NVIDIA's tool lists; it comes with the driver.
fn gpu(environment: &Environment) -> Row {
    const TOOL: &str = "nvidia-smi";
    if !environment.finds(TOOL) {
        return Row::note("GPU", "no NVIDIA driver: renmei-deep computes on the processor");
    }
    let listed = Command::new(TOOL)
        .args(["--query-gpu=name,driver_version", "--format=csv,noheader"])
        .stdin(Stdio::null())
        .output();
    match listed {
        Ok(output) if output.status.success() => Row::pass("GPU", one_line(&output.stdout)),
        Ok(output) => Row::warn("GPU", format!("`{TOOL}` fails: {}", one_line(&output.stdout))).advising(
            "the driver and the kernel may be of two versions: boot again, or install the driver again",
        ),
        Err(_) => unknown("GPU"),
    }
}

fn one_line(output: &[u8]) -> String {
    notation::printable(output).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use std::path::Path;

    #[test]
    fn what_is_missing_is_named_with_its_use_and_the_command_that_installs_it() {
        let environment = Environment { search: vec![], ..Environment::here(Path::new("")).unwrap() };
        let row = found(&debian("gpsusi", "gpsshogi", "an engine"), &environment, true);
        assert_eq!((row.verdict, row.seen.as_str()), (Verdict::Note, "not found: an engine"));
        assert_eq!(row.advice.unwrap(), "`apt-get install gpsshogi`");
        assert_eq!(found(&own("renmei-random"), &environment, true).advice, None);
        assert_eq!(found(&debian("git", "git", "tests"), &environment, false).advice, None);
    }

    #[test]
    fn a_sandbox_that_cannot_be_had_is_a_note_with_the_reason() {
        assert!(strict(Err(SandboxError::NoWrapper), "").seen.contains("needs `bwrap`"));
        assert_eq!(strict(Ok(()), "the kernel counts").verdict, Verdict::Pass);
    }
}
