//! The files of an artefact, by their paths in it. Packing is a function of them and of the time of the commit: two trees
//! with the same contents give the same bytes.

use anyhow::{Context, Result};
use std::{collections::BTreeMap, fs, path::Path};

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub bytes: Vec<u8>,
    /// True for programs.
    pub runs: bool,
}

/// Files by their paths, with `/` between directories, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree(BTreeMap<String, File>);

impl Tree {
    /// Adds a file that is no program.
    pub fn add(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.0.insert(path.to_owned(), File { bytes: bytes.into(), runs: false });
    }

    /// Adds a program from a file of this machine.
    pub fn add_program(&mut self, path: &str, from: &Path) -> Result<()> {
        self.0.insert(path.to_owned(), File { bytes: read(from)?, runs: true });
        Ok(())
    }

    /// Adds the files of a directory of this machine, but not of those in it.
    pub fn add_directory(&mut self, path: &str, from: &Path) -> Result<()> {
        let listed = fs::read_dir(from).with_context(|| format!("`{}` cannot be read", from.display()))?;
        for entry in listed {
            let file = entry?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if file.is_file() {
                self.add(&format!("{path}/{name}"), read(&file)?);
            }
        }
        Ok(())
    }

    /// The files in order.
    pub fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.0.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// A file.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.0.get(path)
    }

    /// The directories of the files, each before what is in it.
    pub fn directories(&self) -> Vec<String> {
        let above = |path: &str| {
            let cuts: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
            cuts.into_iter().map(|at| path[..at].to_owned()).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = self.0.keys().flat_map(|path| above(path)).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The same files at other paths; those that `place` gives no path are left out.
    pub fn moved(&self, place: impl Fn(&str) -> Option<String>) -> Self {
        Self(self.0.iter().filter_map(|(path, file)| Some((place(path)?, file.clone()))).collect())
    }
}

/// The bytes of a file of this machine.
pub fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("`{}` cannot be read", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_come_in_order_and_once() {
        let mut tree = Tree::default();
        for path in ["a/b/c", "a/d", "e", "a/b/f"] {
            tree.add(path, "x");
        }
        assert_eq!(tree.directories(), ["a", "a/b"]);
        assert_eq!(tree.files().map(|(path, _)| path).collect::<Vec<_>>(), ["a/b/c", "a/b/f", "a/d", "e"]);
        let moved = tree.moved(|path| Some(format!("z/{}", path.strip_prefix("a/")?)));
        assert_eq!(moved.files().map(|(path, _)| path).collect::<Vec<_>>(), ["z/b/c", "z/b/f", "z/d"]);
    }
}
