//! Processes of this machine, as far as `/proc` lists them.

use std::{
    collections::BTreeSet,
    fs,
    process::{Command, Stdio},
};

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub id: u32,
    /// Number of the process that it descends from.
    pub parent: u32,
    /// Words of its command line.
    pub words: Vec<String>,
}

/// Every process.
pub fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn read(id: u32) -> Option<Process> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    let line = fs::read(format!("/proc/{id}/cmdline")).ok()?;
    let words = String::from_utf8_lossy(&line).split_terminator('\0').map(str::to_owned).collect();
    Some(Process { id, parent, words })
}

/// Processes that descend from others, without those themselves.
pub fn below(all: &[Process], is_root: impl Fn(&Process) -> bool) -> Vec<&Process> {
    let mut family: BTreeSet<u32> =
        all.iter().filter(|process| is_root(process)).map(|root| root.id).collect();
    let mut found: Vec<&Process> = vec![];
    loop {
        let is_new = |process: &&Process| {
            family.contains(&process.parent) && found.iter().all(|known| known.id != process.id)
        };
        let new: Vec<&Process> = all.iter().filter(is_new).collect();
        if new.is_empty() {
            return found;
        }
        family.extend(new.iter().map(|process| process.id));
        found.extend(new);
    }
}

/// Sends a signal, named as `kill` names it; the process may be gone.
pub fn signal(name: &str, id: u32) {
    let mut kill = Command::new("kill");
    let _gone = kill.args([&format!("-{name}"), &id.to_string()]).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_through_every_generation_and_others_are_not() {
        let process = |id, parent| Process { id, parent, words: vec![] };
        let all = [process(5, 4), process(1, 0), process(4, 3), process(3, 1), process(9, 1)];
        let found: Vec<u32> =
            below(&all, |process| process.id == 3).iter().map(|process| process.id).collect();
        assert_eq!(found, [4, 5]);
        let own = read(std::process::id()).unwrap();
        assert!(!own.words.is_empty() && super::all().contains(&own));
    }
}
