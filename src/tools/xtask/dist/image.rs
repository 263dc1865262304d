//! An OCI image of the static programs, as one tar that `podman load`, `docker load` and `skopeo` read.

use crate::{
    pack::{Kind, date, entry, gz},
    tree::Tree,
};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The user in the image: without rights, and with a directory for databases.
const USER: u64 = 10_000;
/// Where databases and configurations are in a container.
pub const DATA: &str = "data";

/// A file of the image by its hash.
struct Blob {
    bytes: Vec<u8>,
    sha256: String,
}

impl Blob {
    fn new(bytes: Vec<u8>) -> Self {
        let sha256 = hex(&bytes);
        Self { bytes, sha256 }
    }

    fn of(value: &Value) -> Result<Self> {
        Ok(Self::new(serde_json::to_vec(value).context("JSON")?))
    }

    fn described(&self, kind: &str) -> Value {
        let media = format!("application/vnd.oci.image.{kind}");
        json!({"mediaType": media, "digest": format!("sha256:{}", self.sha256), "size": self.bytes.len()})
    }
}

/// SHA-256 in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _never_fails = write!(text, "{byte:02x}");
        text
    })
}

/// The image: the programs in `/usr/bin` and the licences, nothing else.
pub fn image(files: &Tree, version: &str, architecture: &str, epoch: u64) -> Result<Vec<u8>> {
    let layer = layer(files, epoch)?;
    let packed = Blob::new(gz(&layer)?);
    let created = stamp(epoch);
    let config = Blob::of(&json!({
        "created": created,
        "architecture": architecture,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ["PATH=/usr/bin", format!("HOME=/{DATA}")],
            "Entrypoint": ["/usr/bin/renmei"],
            "Cmd": ["--help"],
            "WorkingDir": format!("/{DATA}"),
            "Volumes": { format!("/{DATA}"): {} },
            "StopSignal": "SIGINT",
            "Labels": {
                "org.opencontainers.image.title": "renmei",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{}", hex(&layer))]},
        "history": [{"created": created, "created_by": "cargo xtask dist"}],
    }))?;
    let manifest = Blob::of(&json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config.described("config.v1+json"),
        "layers": [packed.described("layer.v1.tar+gzip")],
    }))?;
    let mut entry = manifest.described("manifest.v1+json");
    entry["platform"] = json!({"architecture": architecture, "os": "linux"});
    entry["annotations"] = json!({"org.opencontainers.image.ref.name": format!("renmei:{version}")});
    let index = json!({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [entry]});
    layout(&index, [packed, config, manifest], epoch)
}

/// The root of a container.
fn layer(files: &Tree, epoch: u64) -> Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    let place = |path: &str| match path.rsplit_once('/') {
        _ if path.starts_with("LICENSE") => Some(format!("usr/share/doc/renmei/{path}")),
        None if files.get(path).is_some_and(|file| file.runs) => Some(format!("usr/bin/{path}")),
        _ => None,
    };
    let mut root = files.moved(place);
    root.add("etc/passwd", format!("renmei:x:{USER}:{USER}::/{DATA}:\n"));
    root.add("etc/group", format!("renmei:x:{USER}:\n"));
    for directory in root.directories() {
        entry(&mut tar, &format!("{directory}/"), &[], Kind::Directory, epoch)?;
    }
    entry(&mut tar, &format!("{DATA}/"), &[], Kind::Own { user: USER }, epoch)?;
    entry(&mut tar, "tmp/", &[], Kind::Temporary, epoch)?;
    for (path, file) in root.files() {
        entry(&mut tar, path, &file.bytes, Kind::File { runs: file.runs }, epoch)?;
    }
    tar.into_inner().context("a layer could not be ended")
}

/// The image layout of the specification, in a tar.
fn layout(index: &Value, blobs: [Blob; 3], epoch: u64) -> Result<Vec<u8>> {
    let mut files = Tree::default();
    files.add("oci-layout", r#"{"imageLayoutVersion":"1.0.0"}"#);
    files.add("index.json", serde_json::to_vec(index).context("JSON")?);
    for blob in blobs {
        files.add(&format!("blobs/sha256/{}", blob.sha256), blob.bytes);
    }
    crate::pack::tar(&files, epoch)
}

/// A time of RFC 3339.
fn stamp(epoch: u64) -> String {
    let (year, month, day) = date(epoch / 86_400);
    let second = epoch % 86_400;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn files() -> Tree {
        let mut files = Tree::default();
        files.add("LICENSE-MIT", "licence");
        files.add("guides/index.html", "left out");
        files
    }

    #[test]
    fn an_image_is_the_same_twice_and_names_its_blobs_by_their_hashes() {
        let made = || image(&files(), "0.1.0", "amd64", 1_700_000_000).unwrap();
        assert_eq!(made(), made());
        let mut archive = tar::Archive::new(std::io::Cursor::new(made()));
        let mut blobs = 0;
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            if let Some(hash) = path.strip_prefix("blobs/sha256/").filter(|hash| !hash.is_empty()) {
                assert_eq!(hash, hex(&bytes));
                blobs += 1;
            }
        }
        assert_eq!(blobs, 3);
    }

    #[test]
    fn databases_are_in_a_directory_of_a_user_without_rights() {
        let layer = layer(&files(), 0).unwrap();
        let mut archive = tar::Archive::new(layer.as_slice());
        let data = archive
            .entries()
            .unwrap()
            .map(Result::unwrap)
            .find(|entry| entry.path_bytes().as_ref() == b"data/");
        let data = data.unwrap();
        assert_eq!((data.header().uid().unwrap(), data.header().mode().unwrap()), (USER, 0o700));
        assert_eq!(stamp(1_700_000_000), "2023-11-14T22:13:20Z");
    }
}
