//! Optional equipment of a machine, and the tests left out without it.

use std::{
    env,
    ffi::OsStr,
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    thread,
};

/// Environment variable: the file to which left-out tests are appended, a line `EQUIPMENT<TAB>TEST` each.
pub const LEFT_OUT: &str = "RENMEI_LEFT_OUT";
/// Environment variable: with the value `1`, missing equipment fails the test that needs it.
pub const REQUIRE_ALL: &str = "RENMEI_REQUIRE_ALL";

/// Debian's directories for games and servers, which the PATH of some users lacks.
const FURTHER: [&str; 2] = ["/usr/games", "/usr/sbin"];

/// Path of an installed program.
#[must_use]
pub fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&path).chain(FURTHER.map(PathBuf::from));
    places.map(|place| place.join(name)).find(|file| file.is_file())
}

/// True if [`REQUIRE_ALL`] is set: as in continuous integration, no test is left out and none takes a sample.
#[must_use]
pub fn requires_all() -> bool {
    env::var_os(REQUIRE_ALL).is_some_and(|value| value == "1")
}

/// How many repetitions a test has: `all` of them where [`requires_all`], else a sample of `few`.
#[must_use]
pub fn repetitions<T>(all: T, few: T) -> T {
    if requires_all() { all } else { few }
}

/// Returns `is_there`. If it is false, the running test is left out: it is named on stderr and in the file of
/// [`LEFT_OUT`], and should return.
///
/// # Panics
/// If it is false and [`REQUIRE_ALL`] is set, or if the file cannot be written.
#[must_use]
pub fn has(equipment: &str, is_there: bool) -> bool {
    if is_there {
        return true;
    }
    assert!(!requires_all(), "{REQUIRE_ALL}=1, and this machine lacks {equipment}");
    let test = running_test();
    eprintln!("left out: {test} needs {equipment}");
    if let Some(file) = env::var_os(LEFT_OUT) {
        append(file.as_ref(), &format!("{equipment}\t{test}\n"));
    }
    false
}

/// Name of the running test, with the program it is part of.
fn running_test() -> String {
    let program = env::current_exe().ok();
    let stem = program.as_deref().and_then(Path::file_stem).and_then(OsStr::to_str).unwrap_or("?");
    let target = stem.rsplit_once('-').map_or(stem, |(target, _hash)| target);
    let thread = thread::current();
    // A runner with a process for each test passes the name, and runs the test on the main thread.
    let exact = || env::args().skip_while(|argument| argument != "--exact").nth(1);
    let name = thread.name().filter(|name| *name != "main").map(str::to_owned).or_else(exact);
    format!("{target}::{}", name.as_deref().unwrap_or("?"))
}

/// One write, so that lines of several processes do not mix.
fn append(file: &Path, line: &str) {
    let opened = OpenOptions::new().append(true).create(true).open(file);
    opened.and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_left_out_test_is_named_with_its_program() {
        assert_eq!(running_test(), "testing::equipment::tests::a_left_out_test_is_named_with_its_program");
    }

    #[test]
    fn a_program_of_the_path_is_found_and_one_that_nobody_wrote_is_not() {
        assert!(program("cargo").is_some() && program("no-such-program-anywhere").is_none());
        assert!(has("cargo", true));
    }
}
