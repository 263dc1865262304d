//! Files for workers, on the manager's side: each is named by its hash, and a list of files is one of them. A worker asks for
//! pieces of them.

use crate::hub::{
    FileFault, FileRef, MOST_DIRECTORY_BYTES, MOST_DIRECTORY_FILES, MOST_FILE_BYTES, TreeRef,
    file_ref::{List, Listed, PIECE, is_inside, sha256},
};
use bytes::Bytes;
use parking_lot::Mutex;
use platform::{
    content,
    files::{self, Foreign},
};
use std::{
    collections::BTreeMap,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Files that workers may read by their hash. They stay where they are, and are read whenever they are asked for.
#[derive(Clone, Debug, Default)]
pub struct Shelf(Arc<Mutex<BTreeMap<FileRef, Content>>>);

/// Where a file's content is.
#[derive(Clone, Debug)]
enum Content {
    File(PathBuf, Foreign),
    Text(Bytes),
}

impl Shelf {
    /// Adds files, and a list of them as those of a directory, each with its path below it. No link leads out of what is
    /// foreign.
    ///
    /// # Errors
    /// When there are too many, a path leads out of the directory, or a file cannot be read.
    pub async fn add_files(
        &self,
        found: impl IntoIterator<Item = (String, PathBuf)>,
        foreign: &Foreign,
    ) -> Result<TreeRef, FileFault> {
        let (files, tree) = list(found, foreign).await?;
        self.0.lock().extend(files);
        Ok(tree)
    }

    /// A piece of a file; `None` if no file has this hash, or it has fewer pieces. Whoever receives all pieces checks the
    /// hash of the whole.
    ///
    /// # Errors
    /// When the file cannot be read any more.
    pub async fn piece(&self, sha256: &str, piece: u64) -> Result<Option<Vec<u8>>, FileFault> {
        let found =
            self.0.lock().iter().find(|(file, _)| file.sha256 == sha256).map(|(f, c)| (f.clone(), c.clone()));
        let Some((file, content)) = found.filter(|(file, _)| piece < file.pieces()) else { return Ok(None) };
        blocking(move || content.piece(piece, file.piece_bytes(piece))).await.map(Some)
    }
}

impl Content {
    fn path(&self) -> PathBuf {
        match self {
            Self::File(path, _) => path.clone(),
            Self::Text(_) => PathBuf::from("the list of files"),
        }
    }

    fn piece(&self, piece: u64, bytes: u64) -> Result<Vec<u8>, FileFault> {
        let (from, mut read) = (piece * PIECE, vec![]);
        match self {
            Self::Text(text) => {
                let mut source = io::Cursor::new(text);
                source.set_position(from);
                source.take(bytes).read_to_end(&mut read).map_err(io_fault(&self.path()))?;
            }
            Self::File(path, foreign) => {
                let failed = io_fault(path);
                let mut file = foreign.open(path).map_err(failed)?;
                file.seek(SeekFrom::Start(from)).map_err(failed)?;
                file.take(bytes).read_to_end(&mut read).map_err(failed)?;
            }
        }
        if read.len() as u64 == bytes { Ok(read) } else { Err(FileFault::Altered(self.path())) }
    }
}

/// Files as they are sent, the list of them last.
async fn list(
    found: impl IntoIterator<Item = (String, PathBuf)>,
    foreign: &Foreign,
) -> Result<(Vec<(FileRef, Content)>, TreeRef), FileFault> {
    let (mut files, mut contents) = (vec![], vec![]);
    let mut bytes = 0;
    for (name, path) in found {
        if !is_inside(&name) {
            return Err(FileFault::Kind(path, "its path is too long or too deep, or no plain text"));
        }
        if files.len() == MOST_DIRECTORY_FILES {
            return Err(FileFault::TooMany(path, MOST_DIRECTORY_FILES));
        }
        let (file, content) = look_at(&path, foreign).await?;
        bytes += file.bytes;
        if bytes > MOST_DIRECTORY_BYTES {
            return Err(FileFault::TooLarge { path, bytes, most: MOST_DIRECTORY_BYTES });
        }
        files.push(Listed { path: name, file: file.clone() });
        contents.push((file, content));
    }
    let text = Bytes::from(serde_json::to_vec(&List { files }).unwrap_or_default());
    let file = FileRef { sha256: sha256(&text), bytes: text.len() as u64, executable: false };
    contents.push((file.clone(), Content::Text(text)));
    Ok((contents, TreeRef(file)))
}

/// A file as it is sent.
async fn look_at(path: &Path, foreign: &Foreign) -> Result<(FileRef, Content), FileFault> {
    let (path, foreign) = (path.to_path_buf(), foreign.clone());
    let looked = (path.clone(), foreign.clone());
    let file = blocking(move || measure(&looked.0, &looked.1)).await?;
    Ok((file, Content::File(path, foreign)))
}

/// A file's hash, size, and whether it is a program.
fn measure(path: &Path, foreign: &Foreign) -> Result<FileRef, FileFault> {
    let failed = io_fault(path);
    let mut file = foreign.open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if found.len() > MOST_FILE_BYTES {
        let (bytes, most) = (found.len(), MOST_FILE_BYTES);
        return Err(FileFault::TooLarge { path: path.to_path_buf(), bytes, most });
    }
    let (sha256, bytes) = hash(&mut file).map_err(failed)?;
    Ok(FileRef { sha256, bytes, executable: files::is_executable(path, &found) })
}

/// What waits for the disk, apart from what waits for the network.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileFault> + Send + 'static,
) -> Result<T, FileFault> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(FileFault::Fetch(error.to_string())))
}

/// The error of a file here.
pub(crate) fn io_fault(path: &Path) -> impl Fn(io::Error) -> FileFault + Copy + '_ {
    move |source| FileFault::Io(path.to_path_buf(), source)
}

/// Hash and size of what can be read.
pub(crate) fn hash(source: &mut impl Read) -> io::Result<(String, u64)> {
    content::sha256(source).map(|(hash, bytes)| (content::hex(&hash), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::sha256 as sha256_of;

    #[tokio::test]
    async fn a_file_is_read_by_its_hash_and_piece_by_piece_and_nothing_else_is() {
        let directory = tempfile::tempdir().unwrap();
        let (path, bytes) = (directory.path().join("nn.bin"), vec![7_u8; PIECE as usize + 5]);
        std::fs::write(&path, &bytes).unwrap();
        let shelf = Shelf::default();
        let tree =
            shelf.add_files([("eval/nn.bin".to_owned(), path.clone())], &Foreign::default()).await.unwrap();
        let text = shelf.piece(&tree.list().sha256, 0).await.unwrap().unwrap();
        let listed = List::read(&text, &tree.list().sha256).unwrap();
        let sha256 = &listed.files[0].file.sha256;
        let mut whole = vec![];
        for piece in 0..2 {
            whole.extend(shelf.piece(sha256, piece).await.unwrap().unwrap());
        }
        assert_eq!(whole, bytes);
        assert_eq!(shelf.piece(sha256, 2).await.unwrap(), None);
        assert_eq!(shelf.piece(sha256, u64::MAX).await.unwrap(), None);
        assert_eq!(shelf.piece(&sha256_of(b"/etc/passwd"), 0).await.unwrap(), None);
        std::fs::write(&path, b"short").unwrap();
        assert!(matches!(shelf.piece(sha256, 0).await, Err(FileFault::Altered { .. })));
    }
}
