//! Users of the machine, and what this program may use as one of them.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | [`User`] | number | number | security identifier |
//! | [`User::name`] | the user database | the user database | `LookupAccountSidW` |
//! | [`User::is_administrator`] | root | root | the system, and the group of administrators where it owns a file |
//! | [`files`]: how many files and sockets may be open | `RLIMIT_NOFILE`, raised up to its hard limit | as Linux | `None`: no limit that connections reach |

#[cfg_attr(unix, path = "account/unix.rs")]
#[cfg_attr(windows, path = "account/windows.rs")]
mod side;

use std::{fmt, io, path::Path};

/// A user, as the system knows it. [`fmt::Display`] gives the number or the identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User(pub(crate) side::Id);

impl User {
    /// The user that this program runs as.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn own() -> io::Result<Self> {
        side::own().map(Self)
    }

    /// The owner of a file; links are followed.
    ///
    /// # Errors
    /// When the file cannot be asked.
    pub fn owner_of(path: &Path) -> io::Result<Self> {
        side::owner_of(path).map(Self)
    }

    /// The user's name; `None` if the user has none.
    pub fn name(&self) -> Option<String> {
        side::name(&self.0)
    }

    /// True if the user may do everything on the machine anyway.
    pub fn is_administrator(&self) -> bool {
        side::is_administrator(&self.0)
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Lets this process open `needed` files and sockets at once, if it may; returns how many it can open now. `None` where
/// the system has no such limit, or does not tell.
#[must_use]
pub fn files(needed: u64) -> Option<u64> {
    side::files(needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_belongs_to_this_user_who_has_a_name() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        let (owner, own) = (User::owner_of(&file).unwrap(), User::own().unwrap());
        assert!(owner == own || owner.is_administrator());
        assert!(!own.to_string().is_empty());
        assert!(files(64).is_none_or(|files| files >= 64));
    }
}
