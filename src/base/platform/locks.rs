//! Locks of files between processes: the system releases them with the process that holds them.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | [`Lock`] | `flock` | `flock` | `LockFileEx`: other processes cannot read or write the file meanwhile |
//! | held by a child that has inherited the file | until both have closed it, or one releases it | as Linux | by this process alone |

use std::{
    fs::{File, TryLockError},
    ops::Deref,
};

/// A file that is locked until this is dropped.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Locks a file for this process alone, if no other has locked it.
    ///
    /// # Errors
    /// `WouldBlock` if another process has locked it, or the error of the system.
    pub fn exclusive(file: File) -> Result<Self, TryLockError> {
        file.try_lock()?;
        Ok(Self(file))
    }

    /// Locks a file together with other processes that share it, if none has it alone.
    ///
    /// # Errors
    /// `WouldBlock` if another process has locked it alone, or the error of the system.
    pub fn shared(file: File) -> Result<Self, TryLockError> {
        file.try_lock_shared()?;
        Ok(Self(file))
    }
}

impl Deref for Lock {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child may have inherited the file, and would keep the lock.
        let _closed_anyway = self.0.unlock();
    }
}
