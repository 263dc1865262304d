//! `renmei pack`: one file to hand over a database with, and its verification by a stranger.
//!
//! The archive (tar, compressed by gzip) begins with `manifest.json`, which names every other file with its size and its
//! SHA-256, and every event with the seal of its last entry. Then come `database.db`, a copy without passwords, and the
//! records of each event. A reader takes nothing from an archive but files that the manifest names, of the sizes that it
//! says, into a new directory, under names of this program's own choice.

use super::{Export, RecordsError, export};
use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};
use journal::{EventSummary, Store, StoreError};
use notation::record::Format;
use platform::{
    content::{self, hex},
    files::{self, Access},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// What the manifest says it is.
const FORMAT: &str = "renmei-pack";
/// The version that this program writes, and the last one that it reads.
const VERSION: u32 = 1;
const MANIFEST: &str = "manifest.json";
const DATABASE: &str = "database.db";
/// Most bytes of a manifest.
const MANIFEST_SIZE: u64 = 16 << 20;
/// Most files of an archive.
const FILES: usize = 100_000;

/// What an archive has, in the order of the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// `renmei-pack`.
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// Version of the program that made it.
    pub program: String,
    /// The events of the database.
    pub events: Vec<PackedEvent>,
    /// Every other file of the archive.
    pub files: Vec<PackedFile>,
}

/// An event of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedEvent {
    /// Its name.
    pub name: String,
    /// Games that count.
    pub games: u64,
    /// True if it is over.
    pub closed: bool,
    /// The seal of its last entry; `None` where nothing has a seal.
    pub head: Option<String>,
    /// The file of its records; `None` without games.
    pub records: Option<String>,
}

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedFile {
    /// Its name in the archive.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// An archive whose files are as its manifest says. Its directory is deleted when this is dropped.
#[derive(Debug)]
pub struct Unpacked {
    /// What it has.
    pub manifest: Manifest,
    directory: TempDir,
    /// Where each file is.
    places: BTreeMap<String, PathBuf>,
}

/// Packs a database: all its events, without passwords, with their records. A process that plays goes on meanwhile.
///
/// # Errors
/// When the database cannot be read, or the archive exists or cannot be written.
pub fn pack(db: &Path, output: &Path) -> Result<Manifest, RecordsError> {
    if output.exists() {
        let taken = io::Error::new(io::ErrorKind::AlreadyExists, "there is such a file already");
        return Err(RecordsError::io(output)(taken));
    }
    files::refuse_input(output).map_err(RecordsError::io(output))?;
    let beside = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = TempDir::new_in(beside).map_err(RecordsError::io(beside))?;
    let copy = directory.path().join(DATABASE);
    let store = Store::read(db)?;
    let prepared = || -> Result<Manifest, RecordsError> {
        store.hand_over(&copy)?;
        manifest_of(directory.path(), &copy)
    };
    // Nobody knows the names of the directory's files: what keeps them from being written keeps the archive from it.
    let manifest = prepared().map_err(|error| match error {
        RecordsError::Store(StoreError::Full(_)) => {
            RecordsError::io(output)(io::ErrorKind::StorageFull.into())
        }
        RecordsError::Io(path, error) if path.starts_with(directory.path()) => {
            RecordsError::Io(output.to_owned(), error)
        }
        error => error,
    })?;
    // Whole or not at all: the archive gets its name when it is written.
    let unfinished = directory.path().join("pack");
    write(&manifest, directory.path(), &unfinished).map_err(RecordsError::io(output))?;
    fs::rename(&unfinished, output).map_err(RecordsError::io(output))?;
    Ok(manifest)
}

/// Writes the records of all events of a database into a directory, and lists everything.
fn manifest_of(directory: &Path, copy: &Path) -> Result<Manifest, RecordsError> {
    let store = Store::read(copy)?;
    let (mut events, mut names) = (vec![], vec![DATABASE.to_owned()]);
    for (at, event) in store.events()?.into_iter().enumerate() {
        let name = format!("records-{}.csa", at + 1);
        let records = records_of(copy, &event.name, &directory.join(&name))?.then_some(name);
        names.extend(records.clone());
        events.push(packed(&store, &event, records)?);
    }
    let files = names.into_iter().map(|name| {
        let path = directory.join(&name);
        let (size, sha256) = digest(&path).map_err(RecordsError::io(path))?;
        Ok(PackedFile { name, size, sha256 })
    });
    let (format, program) = (FORMAT.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let files = files.collect::<Result<_, RecordsError>>()?;
    Ok(Manifest { format, version: VERSION, program, events, files })
}

fn packed(store: &Store, event: &EventSummary, records: Option<String>) -> Result<PackedEvent, StoreError> {
    let (name, games, closed) = (event.name.clone(), event.counted, event.closed);
    Ok(PackedEvent { name, games, closed, head: store.head(event.id)?, records })
}

/// Unpacks an archive into a new directory below `into`, and checks every file by the manifest.
///
/// # Errors
/// When it is no archive of this program, or anything in it is not as its manifest says.
pub fn unpack(archive: &Path, into: &Path) -> Result<Unpacked, RecordsError> {
    unpack_into(archive, into).map_err(RecordsError::io(archive))
}

impl Unpacked {
    /// The database.
    pub fn database(&self) -> &Path {
        self.places.get(DATABASE).map_or(self.directory.path(), PathBuf::as_path)
    }

    /// What of the archive does not follow from its database: seals that the manifest has and the database has not, records
    /// that are not those of the games.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn contradictions(&self) -> Result<Vec<String>, RecordsError> {
        let store = Store::read(self.database())?;
        let (events, listed) = (store.events()?, &self.manifest.events);
        if events.len() != listed.len() {
            let (all, found) = (listed.len(), events.len());
            return Ok(vec![format!("the manifest has {all} events, and the database {found}")]);
        }
        let mut found = vec![];
        for (at, (listed, event)) in listed.iter().zip(&events).enumerate() {
            let name = &event.name;
            if packed(&store, event, listed.records.clone())? != *listed {
                found.push(format!("event `{name}`: name, games, end or seal are not those of the manifest"));
            }
            match self.own_records(event, at) {
                Ok(own) if own == self.records(listed) => {}
                Ok(_) => found.push(format!("event `{name}`: its records are not those of its games")),
                // A row with a value that no game has; the seals name the game.
                Err(error) => found.push(format!("event `{name}`: its records cannot be made anew: {error}")),
            }
        }
        Ok(found)
    }

    /// Size and SHA-256 of the records of an event, by the manifest.
    fn records(&self, event: &PackedEvent) -> Option<(u64, String)> {
        let name = event.records.as_ref()?;
        let file = self.manifest.files.iter().find(|file| file.name == *name)?;
        Some((file.size, file.sha256.clone()))
    }

    /// The same of records that are made from the database now.
    fn own_records(&self, event: &EventSummary, at: usize) -> Result<Option<(u64, String)>, RecordsError> {
        let path = self.directory.path().join(format!("again-{at}"));
        let written = records_of(self.database(), &event.name, &path)?;
        written.then(|| digest(&path)).transpose().map_err(RecordsError::io(path))
    }
}

/// Writes the records of all games of an event; false if there are none.
fn records_of(db: &Path, event: &str, output: &Path) -> Result<bool, RecordsError> {
    let (db, event, output) = (db.to_owned(), Some(event.to_owned()), output.to_owned());
    let (game, all, format, access) = (vec![], true, Format::Csa, Access::Private);
    Ok(export(&Export { db, event, game, all, format, output, access })?.games > 0)
}

fn digest(path: &Path) -> io::Result<(u64, String)> {
    let (hash, size) = content::sha256(&mut File::open(path)?)?;
    Ok((size, hex(&hash)))
}

fn write(manifest: &Manifest, directory: &Path, to: &Path) -> io::Result<()> {
    let text = serde_json::to_vec_pretty(manifest)?;
    let mut archive = tar::Builder::new(GzEncoder::new(files::create(to)?, Compression::default()));
    archive.append_data(&mut header(text.len() as u64), MANIFEST, &text[..])?;
    for file in &manifest.files {
        archive.append_data(&mut header(file.size), &file.name, File::open(directory.join(&file.name))?)?;
    }
    archive.into_inner()?.finish()?.sync_all()
}

/// The head of a file, the same for the same content.
fn header(size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o644);
    header.set_entry_type(tar::EntryType::Regular);
    header
}

fn unpack_into(archive: &Path, into: &Path) -> io::Result<Unpacked> {
    let reader = GzDecoder::new(BufReader::new(files::typed(archive)?));
    let mut archive = tar::Archive::new(reader);
    // As they stand in the archive: the reader would take a long name, or the keys of pax, into memory whole, however long. An
    // archive of this program has neither, and what is no plain file is refused.
    let mut entries = archive.entries()?.raw(true);
    let manifest = read_manifest(entries.next().ok_or_else(|| wrong("it is empty"))??)?;
    let all: u64 = manifest.files.iter().fold(0, |sum, file| sum.saturating_add(file.size));
    let free = platform::disk::free(into)?;
    if all > free {
        return Err(wrong(format!(
            "its files take {all} bytes, and {free} are free in `{}`",
            into.display()
        )));
    }
    let directory = TempDir::new_in(into)?;
    let (mut places, mut listed) = (BTreeMap::new(), manifest.files.iter());
    for entry in entries {
        let file = listed.next().ok_or_else(|| wrong("it has files that its manifest does not name"))?;
        let place = directory.path().join(format!("file-{}", places.len()));
        take(entry?, file, &place)?;
        places.insert(file.name.clone(), place);
    }
    match listed.next() {
        Some(missing) => Err(wrong(format!("`{}` is missing", missing.name))),
        None => Ok(Unpacked { manifest, directory, places }),
    }
}

fn read_manifest(entry: tar::Entry<'_, impl Read>) -> io::Result<Manifest> {
    let is_file = entry.header().entry_type() == tar::EntryType::Regular;
    if !is_file || *entry.path_bytes() != *MANIFEST.as_bytes() || entry.size() > MANIFEST_SIZE {
        return Err(wrong("it does not begin with a manifest"));
    }
    let mut text = vec![];
    entry.take(MANIFEST_SIZE).read_to_end(&mut text)?;
    let manifest = serde_json::from_slice(&text).map_err(|error| wrong(format!("its manifest: {error}")));
    let manifest: Manifest = manifest?;
    if manifest.format != FORMAT || manifest.version > VERSION {
        return Err(wrong(format!("it is `{}` of version {}", manifest.format, manifest.version)));
    }
    let mut names: Vec<&str> = manifest.files.iter().map(|file| file.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if let Some(path) = names.iter().find(|name| !is_plain(name)) {
        return Err(wrong(format!("its manifest names `{path}`, which is no name of a file")));
    }
    if names.len() != manifest.files.len() || names.len() > FILES || !names.contains(&DATABASE) {
        return Err(wrong("its manifest names a file twice, too many files, or no database"));
    }
    Ok(manifest)
}

/// True for a name such as this program gives: letters, digits and `-`, `_`, `.`, not beginning with a dot.
fn is_plain(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && !name.starts_with('.') && name.chars().all(allowed)
}

/// Takes a file of the archive that is to be this one.
fn take(mut entry: tar::Entry<'_, impl Read>, file: &PackedFile, place: &Path) -> io::Result<()> {
    let is_file = entry.header().entry_type() == tar::EntryType::Regular;
    if !is_file || *entry.path_bytes() != *file.name.as_bytes() || entry.size() != file.size {
        return Err(wrong(format!("where `{}` of its manifest should be is another file", file.name)));
    }
    io::copy(&mut entry, &mut files::create(place)?)?;
    match content::sha256_of_file(place)? == file.sha256 {
        true => Ok(()),
        false => Err(wrong(format!("`{}` was altered: its SHA-256 is not that of the manifest", file.name))),
    }
}

fn wrong(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("no sound archive of renmei: {}", why.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(path: &Path, files: &[(&str, &[u8])]) {
        let mut archive = tar::Builder::new(GzEncoder::new(File::create(path).unwrap(), Compression::fast()));
        for (name, content) in files {
            let mut header = header(content.len() as u64);
            // Names that `append_data` would refuse.
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            archive.append(&header, *content).unwrap();
        }
        archive.into_inner().unwrap().finish().unwrap();
    }

    fn listing(files: &[(&str, &[u8])]) -> Vec<u8> {
        let listed = files.iter().map(|(name, bytes)| PackedFile {
            name: (*name).to_owned(),
            size: bytes.len() as u64,
            sha256: hex(&content::sha256(&mut &bytes[..]).unwrap().0),
        });
        let (format, program, files) = (FORMAT.to_owned(), "1".to_owned(), listed.collect());
        serde_json::to_vec(&Manifest { format, version: VERSION, program, events: vec![], files }).unwrap()
    }

    #[test]
    fn nothing_of_an_archive_is_taken_that_its_manifest_does_not_name_and_nothing_leaves_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let (path, into) = (dir.path().join("a.tar.gz"), dir.path().join("into"));
        fs::create_dir(&into).unwrap();
        let db: (&str, &[u8]) = (DATABASE, b"database");
        let evil: (&str, &[u8]) = ("../evil", b"evil");
        let (sound, leaving) = (listing(&[db]), listing(&[db, evil]));
        let manifest: (&str, &[u8]) = (MANIFEST, &sound);
        for (what, files) in [
            ("no manifest", vec![db]),
            ("a second file", vec![manifest, db, evil]),
            ("another content", vec![manifest, (DATABASE, b"dataBase")]),
            ("another size", vec![manifest, (DATABASE, b"data")]),
            ("another name", vec![manifest, ("other.db", b"database")]),
            ("a missing file", vec![manifest]),
            ("a name that is a path", vec![(MANIFEST, &leaving[..]), db, evil]),
            ("a later manifest", vec![(MANIFEST, br#"{"format":"renmei-pack","version":9}"#), db]),
        ] {
            archive(&path, &files);
            assert!(unpack(&path, &into).is_err(), "{what}");
            assert_eq!(fs::read_dir(&into).unwrap().count(), 0, "{what}: something is left");
        }
        archive(&path, &[manifest, db]);
        let unpacked = unpack(&path, &into).unwrap();
        assert_eq!(fs::read(unpacked.database()).unwrap(), b"database");
        drop(unpacked);
        assert_eq!(fs::read_dir(&into).unwrap().count(), 0);
        fs::write(&path, b"no archive").unwrap();
        assert!(unpack(&path, &into).is_err());
    }

    #[test]
    fn a_header_that_names_the_file_behind_it_is_refused_unread() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tar.gz");
        let sound = listing(&[(DATABASE, b"database")]);
        for (kind, name) in [
            (tar::EntryType::GNULongName, &b"manifest.json\0"[..]),
            (tar::EntryType::XHeader, b"22 path=manifest.json\n"),
        ] {
            let mut archive =
                tar::Builder::new(GzEncoder::new(File::create(&path).unwrap(), Compression::fast()));
            let mut long = header(name.len() as u64);
            long.set_entry_type(kind);
            long.set_cksum();
            archive.append(&long, name).unwrap();
            for (name, content) in [("x", &sound[..]), (DATABASE, b"database")] {
                archive.append_data(&mut header(content.len() as u64), name, content).unwrap();
            }
            archive.into_inner().unwrap().finish().unwrap();
            let refused = unpack(&path, dir.path()).unwrap_err().to_string();
            assert!(refused.contains("does not begin with a manifest"), "{refused}");
        }
    }
}
