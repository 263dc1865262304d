//! Pinning of this thread for a while.

use anyhow::{Context, Result};
use platform::cores::{pin_thread, usable};

/// Restricts this thread, and every process that it starts, to some cores until dropped.
pub struct Pinned {
    before: Vec<usize>,
}

impl Pinned {
    /// Pins this thread.
    pub fn to(cores: &[usize]) -> Result<Self> {
        let before = usable();
        pin_thread(cores).with_context(|| format!("pinning to cores {cores:?} failed"))?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = pin_thread(&self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_the_pin_restores_the_cores_of_the_thread() {
        let all = usable();
        let pinned = Pinned::to(&all[..1]).unwrap();
        assert_eq!(usable(), all[..1]);
        drop(pinned);
        assert_eq!(usable(), all);
    }
}
