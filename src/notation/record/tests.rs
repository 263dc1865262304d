//! Whole files: the public samples where they are at hand, and our own.

use std::path::{Path, PathBuf};

use super::*;

#[test]
fn probe() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/records");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let hint =
            file.extension().and_then(|extension| Format::from_extension(&extension.to_string_lossy()));
        match read(&std::fs::read(&file).unwrap(), hint) {
            Ok(games) => {
                for g in &games {
                    println!(
                        "{name:40.40} {:4} {:?} {:?} {:?} {:?} t={} s={} pv={} c={} {:?}",
                        g.plies.len(),
                        g.ending,
                        g.black,
                        g.white,
                        g.time_control,
                        g.plies.iter().filter(|p| p.time_ms.is_some()).count(),
                        g.plies.iter().filter(|p| p.score.is_some()).count(),
                        g.plies.iter().map(|p| p.pv.len()).sum::<usize>(),
                        g.plies.iter().filter(|p| !p.comment.is_empty()).count(),
                        g.started
                    );
                }
            }
            Err(fault) => println!("{name:40.40} REFUSED {fault}"),
        }
    }
}
