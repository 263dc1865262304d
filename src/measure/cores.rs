//! CPU affinity: usable cores and pinning.

use anyhow::{Context, Result};
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};

/// Process id 0 means the calling thread.
const THIS_THREAD: Pid = Pid::from_raw(0);

/// Cores that this thread may use.
pub fn usable() -> Result<Vec<usize>> {
    let set = sched_getaffinity(THIS_THREAD).context("the usable cores could not be read")?;
    Ok((0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect())
}

/// Restricts this thread, and every process that it starts, to some cores until dropped.
pub struct Pinned {
    before: Vec<usize>,
}

impl Pinned {
    /// Pins this thread.
    pub fn to(cores: &[usize]) -> Result<Self> {
        let before = usable()?;
        pin(cores)?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = pin(&self.before);
    }
}

fn pin(cores: &[usize]) -> Result<()> {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core).with_context(|| format!("there is no core {core}"))?;
    }
    sched_setaffinity(THIS_THREAD, &set).with_context(|| format!("pinning to cores {cores:?} failed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_the_pin_restores_the_cores_of_the_thread() {
        let all = usable().unwrap();
        let pinned = Pinned::to(&all[..1]).unwrap();
        assert_eq!(usable().unwrap(), all[..1]);
        drop(pinned);
        assert_eq!(usable().unwrap(), all);
    }
}
