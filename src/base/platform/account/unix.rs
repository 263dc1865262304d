//! Unix: users have numbers, and root's is 0.

use nix::{
    sys::resource::{Resource, getrlimit, setrlimit},
    unistd::{Uid, geteuid},
};
use std::{fs, io, os::unix::fs::MetadataExt, path::Path};

pub(crate) type Id = Uid;

pub(super) fn own() -> io::Result<Id> {
    Ok(geteuid())
}

pub(super) fn owner_of(path: &Path) -> io::Result<Id> {
    Ok(Uid::from_raw(fs::metadata(path)?.uid()))
}

pub(super) fn name(user: &Id) -> Option<String> {
    Some(nix::unistd::User::from_uid(*user).ok().flatten()?.name)
}

pub(super) fn is_administrator(user: &Id) -> bool {
    user.is_root()
}

pub(super) fn files(needed: u64) -> Option<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    let raised = soft.max(needed.min(hard));
    Some(if setrlimit(Resource::RLIMIT_NOFILE, raised, hard).is_ok() { raised } else { soft })
}
