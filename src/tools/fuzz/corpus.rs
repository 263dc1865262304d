//! Every input of the corpus holds what its target promises, so that what libFuzzer found once stays mended without it.
#![allow(clippy::unwrap_used)]

use fuzz::{ENTRANCES, Reads, SIGNS};
use std::{
    fs,
    panic::catch_unwind,
    path::{Path, PathBuf},
};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|fault| panic!("{}: {fault}", directory.display()));
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[test]
fn every_input_of_the_corpus_holds_what_its_target_promises() {
    let mut failed = vec![];
    for target in fuzz::TARGETS {
        let inputs = files(&corpus().join(target.name));
        assert!(!inputs.is_empty(), "{} has a corpus", target.name);
        for file in inputs {
            let bytes = fs::read(&file).unwrap();
            assert!(bytes.len() <= target.longest, "{} is longer than its target reads", file.display());
            if catch_unwind(|| (target.check)(&bytes)).is_err() {
                failed.push(file);
            }
        }
    }
    assert!(failed.is_empty(), "what fails is said above: {failed:#?}");
}

#[test]
fn every_directory_of_the_corpus_is_one_of_a_target_and_all_of_them_are_small() {
    let directories = files(&corpus());
    for directory in &directories {
        let name = directory.file_name().and_then(|name| name.to_str()).unwrap();
        assert!(fuzz::target(name).is_some(), "`{name}` is no target");
    }
    let inputs = directories.iter().flat_map(|directory| files(directory));
    let bytes: u64 = inputs.map(|file| file.metadata().unwrap().len()).sum();
    assert!(bytes < 300_000, "the corpus of the repository has {bytes} bytes");
}

/// The sources of the program, as paths below its root, that read bytes by a sign: without comments and tests.
fn readers(root: &Path, directory: &Path, found: &mut Vec<String>) {
    for path in files(directory) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        let below = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let is_left_out = ["tests", "benches", "examples", "target"].contains(&name)
            || ["src/tools", "src/tests"].contains(&&*below)
            || name.starts_with('.')
            || name.ends_with("tests.rs");
        if path.is_dir() && !is_left_out {
            readers(root, &path, found);
        } else if name.ends_with(".rs") && !is_left_out {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let mut lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            if lines.any(|line| SIGNS.iter().any(|sign| line.contains(sign))) {
                found.push(below);
            }
        }
    }
}

#[test]
fn every_place_that_reads_what_a_stranger_wrote_has_a_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let mut found = vec![];
    ["dashboard", "engines", "src"].iter().for_each(|place| readers(root, &root.join(place), &mut found));
    assert!(found.len() > 100, "{} files: the sources are elsewhere", found.len());
    let of = |file: &String| {
        let places = ENTRANCES.iter().filter(|(place, _)| file.starts_with(place));
        places.max_by_key(|(place, _)| place.len())
    };
    let unlisted: Vec<&String> = found.iter().filter(|file| of(file).is_none()).collect();
    assert!(unlisted.is_empty(), "which target checks what they read? Say it in `ENTRANCES`: {unlisted:#?}");
    for entrance in ENTRANCES {
        let (place, reads) = entrance;
        assert!(found.iter().any(|file| of(file) == Some(entrance)), "nothing reads at `{place}` any more");
        match reads {
            Reads::Target(name) => assert!(fuzz::target(name).is_some(), "`{place}`: no target `{name}`"),
            Reads::Value(what) | Reads::Own(what) => assert!(what.len() > 10, "`{place}`: {what}"),
        }
    }
}

#[test]
fn an_input_at_random_holds_what_every_target_promises() {
    for target in fuzz::TARGETS {
        for seed in 0..4_u8 {
            let bytes: Vec<u8> = (0..200_u8).map(|at| at.wrapping_mul(97).wrapping_add(seed)).collect();
            (target.check)(&bytes);
        }
    }
}
