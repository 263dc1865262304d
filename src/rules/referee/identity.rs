//! What plays under a name: the program, the name by which it introduces itself, and the files that it reads.
//!
//! Games of two builds of an engine do not belong into one Elo. An event therefore keeps the identities of its engines,
//! and a resumed event compares them with those that play now.

use serde::{Deserialize, Serialize};

/// Hexadecimal digits of a hash that people are shown.
const SHOWN: usize = 8;

/// What an engine is, apart from its name in the event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Path of the program, links followed.
    pub program: String,
    /// SHA-256 of the program in hexadecimal digits; `None` if it cannot be read.
    pub hash: Option<String>,
    /// The name by which the engine introduces itself (`id name` of USI).
    pub id_name: Option<String>,
    /// The files that its arguments, its options and its plan name.
    pub files: Vec<FileIdentity>,
}

/// A file that belongs to an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Path: relative to the directory of the engine where it lies below it.
    pub path: String,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
    /// True if the plan lists the file. Such a list may change while an event is interrupted: what it did not name
    /// before is unknown, not changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
}

impl Identity {
    /// What is another than `self` in the engine that plays `now`, in words; empty if the games of both may be counted
    /// together. Files that are `ignored` are left out; what either side does not know is no change.
    pub fn changes_to(&self, now: &Self, ignored: &dyn Fn(&str) -> bool) -> Vec<String> {
        let mut changes = vec![];
        if let (Some(was), Some(is)) = (&self.hash, &now.hash)
            && was != is
        {
            changes.push(format!(
                "the program `{}` was rebuilt or replaced ({} -> {})",
                now.program,
                short(was),
                short(is)
            ));
        }
        if let (Some(was), Some(is)) = (&self.id_name, &now.id_name)
            && was != is
        {
            changes.push(format!("it says that it is `{is}`, and was `{was}`"));
        }
        changes.extend(self.changed_files(now, ignored));
        changes
    }

    fn changed_files(&self, now: &Self, ignored: &dyn Fn(&str) -> bool) -> Vec<String> {
        let counts = |file: &&FileIdentity| !ignored(&file.path);
        let find = |files: &[FileIdentity], path: &str| files.iter().find(|file| file.path == path).cloned();
        let mut changes = vec![];
        for was in self.files.iter().filter(counts) {
            let path = &was.path;
            match find(&now.files, path) {
                Some(is) if is.sha256 != was.sha256 => {
                    let (was, is) = (short(&was.sha256), short(&is.sha256));
                    changes.push(format!("its file `{path}` has changed ({was} -> {is}){}", escape(path)));
                }
                None if !was.listed => {
                    changes.push(format!("its file `{path}` is gone{}", escape(path)));
                }
                _ => {}
            }
        }
        let new = now.files.iter().filter(counts).filter(|file| !file.listed);
        for FileIdentity { path, .. } in new.filter(|file| find(&self.files, &file.path).is_none()) {
            changes.push(format!("its file `{path}` is new{}", escape(path)));
        }
        changes
    }
}

/// The key for files that change by themselves.
fn escape(path: &str) -> String {
    format!("; if the engine writes it itself: `identity.ignore = [{path:?}]`")
}

/// The first digits of a hash.
pub fn short(hash: &str) -> &str {
    hash.get(..SHOWN).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, sha256: &str) -> FileIdentity {
        FileIdentity { path: path.to_owned(), sha256: sha256.to_owned(), listed: false }
    }

    fn engine(hash: &str, files: Vec<FileIdentity>) -> Identity {
        Identity {
            program: "/e/new".to_owned(),
            hash: Some(hash.to_owned()),
            id_name: Some("New 1".to_owned()),
            files,
        }
    }

    fn changes(was: &Identity, is: &Identity) -> Vec<String> {
        was.changes_to(is, &|path| path == "learned.db")
    }

    #[test]
    fn a_rebuilt_program_and_another_name_are_told_with_both_values() {
        let was = engine("3f2a8b1caa", vec![]);
        let is = Identity { id_name: Some("New 2".to_owned()), ..engine("9c1b77aabb", vec![]) };
        assert_eq!(
            changes(&was, &is),
            [
                "the program `/e/new` was rebuilt or replaced (3f2a8b1c -> 9c1b77aa)",
                "it says that it is `New 2`, and was `New 1`"
            ]
        );
        assert_eq!(changes(&was, &was), Vec::<String>::new());
    }

    #[test]
    fn what_is_unknown_is_no_change() {
        let unknown = Identity { hash: None, id_name: None, ..engine("", vec![]) };
        let known = engine("1", vec![]);
        assert!(changes(&unknown, &known).is_empty() && changes(&known, &unknown).is_empty());
    }

    #[test]
    fn files_that_changed_came_or_went_are_named_with_the_key_for_those_that_change_by_themselves() {
        let was = engine("1", vec![file("eval/nn.bin", "aaaaaaaaaa"), file("old.bin", "b")]);
        let is = engine("1", vec![file("eval/nn.bin", "cccccccccc"), file("book.db", "d")]);
        let ignore =
            |path: &str| format!("; if the engine writes it itself: `identity.ignore = [\"{path}\"]`");
        assert_eq!(
            changes(&was, &is),
            [
                format!("its file `eval/nn.bin` has changed (aaaaaaaa -> cccccccc){}", ignore("eval/nn.bin")),
                format!("its file `old.bin` is gone{}", ignore("old.bin")),
                format!("its file `book.db` is new{}", ignore("book.db")),
            ]
        );
    }

    #[test]
    fn an_ignored_file_and_a_changed_list_of_files_are_no_change() {
        let listed = |path: &str| FileIdentity { listed: true, ..file(path, "1") };
        let was = engine("1", vec![file("learned.db", "a"), listed("run.sh")]);
        let is = engine("1", vec![file("learned.db", "b"), listed("lib.py")]);
        assert!(changes(&was, &is).is_empty());
        let edited = engine("1", vec![FileIdentity { listed: true, ..file("run.sh", "2") }]);
        assert_eq!(changes(&was, &edited).len(), 1);
    }
}
