//! Every input of the corpus holds what its target promises, so that what libFuzzer found once stays mended without it.

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

#[test]
fn an_input_at_random_holds_what_every_target_promises() {
    for target in fuzz::TARGETS {
        for seed in 0..4_u8 {
            let bytes: Vec<u8> = (0..200_u8).map(|at| at.wrapping_mul(97).wrapping_add(seed)).collect();
            (target.check)(&bytes);
        }
    }
}
