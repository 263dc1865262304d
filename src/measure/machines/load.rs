//! Resources of a process over a period: processor time, by thread, and memory.

use crate::measure::{kib, own_time};
use anyhow::{Context, Result};
use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

/// A look at a process.
#[derive(Clone, Debug)]
pub struct Look {
    at: Instant,
    cpu: Duration,
    threads: BTreeMap<u32, (String, Duration)>,
    /// Resident memory in KiB.
    pub resident: u64,
}

impl Look {
    /// Looks at a process.
    pub fn at(pid: u32) -> Result<Self> {
        let proc = format!("/proc/{pid}");
        let gone = || format!("process {pid} is gone");
        let status = fs::read_to_string(format!("{proc}/status")).with_context(gone)?;
        let stat = fs::read_to_string(format!("{proc}/stat")).with_context(gone)?;
        let mut threads = BTreeMap::new();
        for entry in fs::read_dir(format!("{proc}/task")).with_context(gone)?.flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|id| id.parse().ok()) else { continue };
            // A thread may end between listing and reading.
            let read = |file: &str| fs::read_to_string(entry.path().join(file)).unwrap_or_default();
            if let Some(time) = own_time(&read("stat")) {
                threads.insert(id, (read("comm").trim().to_owned(), time));
            }
        }
        let cpu = own_time(&stat).with_context(gone)?;
        Ok(Self { at: Instant::now(), cpu, threads, resident: kib(&status, "VmRSS:").unwrap_or(0) })
    }

    /// Cores that were busy between an earlier look and this one.
    pub fn cores_since(&self, earlier: &Self) -> f64 {
        share(self.cpu.saturating_sub(earlier.cpu), self.at - earlier.at)
    }

    /// Cores that each thread kept busy since an earlier look, the busiest first.
    pub fn threads_since(&self, earlier: &Self) -> Vec<(String, f64)> {
        let wall = self.at - earlier.at;
        let mut busy: Vec<(String, f64)> = self
            .threads
            .iter()
            .map(|(id, (name, time))| {
                let before = earlier.threads.get(id).map_or(Duration::ZERO, |(_, time)| *time);
                (name.clone(), share(time.saturating_sub(before), wall))
            })
            .collect();
        busy.sort_by(|a, b| b.1.total_cmp(&a.1));
        busy
    }
}

fn share(cpu: Duration, wall: Duration) -> f64 {
    cpu.as_secs_f64() / wall.as_secs_f64().max(1e-9)
}
