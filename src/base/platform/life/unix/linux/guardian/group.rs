//! A control group for each strict engine, where the system has delegated a part of its hierarchy to this program
//! (cgroups(7), version 2; `Delegate=` of systemd.unit(5)). The kernel then counts and bounds everything that the engine
//! holds, between two looks too. Elsewhere the guardian counts by itself (`usage.rs`).

use super::{errand::News, tree::Tree};
use nix::unistd::{Uid, access};
use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    thread::sleep,
    time::Duration,
};

/// The hierarchy, where a system has only version 2.
const ROOT: &str = "/sys/fs/cgroup";
/// The group of this program itself: a group whose members are limited by controllers has no processes of its own.
const OWN: &str = "manager";
/// The controllers that bound an engine.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// How often processes are moved that others have started meanwhile.
const ROUNDS: usize = 8;
/// How often a group is tried to be removed while its processes end, and how long after one another.
const REMOVALS: usize = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// The delegated group below which engines get theirs; asked for once, as it moves this program.
static DELEGATED: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let directory = directory(&fs::read_to_string("/proc/self/cgroup").ok()?, Path::new(ROOT))?;
    is_delegated(&directory).then_some(())?;
    prepare(&directory).ok()?;
    Some(directory)
});

/// Groups of engines so far.
static GROUPS: AtomicU64 = AtomicU64::new(0);

/// Whether strict engines get control groups.
pub(in super::super) fn is_available() -> bool {
    DELEGATED.is_some()
}

/// The directory of the group that a process is in, by `/proc/PID/cgroup`.
fn directory(groups: &str, root: &Path) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let directory = root.join(path);
    // The root of all groups has no type; other hierarchies have no controllers here.
    (!path.contains("..") && has_controllers(&directory) && directory.join("cgroup.type").exists())
        .then_some(directory)
}

fn has_controllers(directory: &Path) -> bool {
    let names = fs::read_to_string(directory.join("cgroup.controllers")).unwrap_or_default();
    CONTROLLERS.iter().all(|controller| names.split_ascii_whitespace().any(|name| name == *controller))
}

/// Whether this program may make groups in a directory. Root could do so everywhere: it needs the mark of systemd. Without
/// the mark, another user needs the right to write, and no process but its own may be in the group.
fn is_delegated(directory: &Path) -> bool {
    let files = ["", "cgroup.procs", "cgroup.subtree_control"].map(|file| directory.join(file));
    let is_ours = files.iter().all(|file| access(file, nix::unistd::AccessFlags::W_OK).is_ok());
    is_ours && (is_marked(directory) || !Uid::effective().is_root() && is_alone(directory))
}

/// True if systemd has marked a group as delegated.
#[allow(unsafe_code)]
fn is_marked(directory: &Path) -> bool {
    use std::{ffi::CString, os::unix::ffi::OsStrExt};
    let Ok(path) = CString::new(directory.as_os_str().as_bytes()) else { return false };
    [c"user.delegate", c"trusted.delegate"].iter().any(|name| {
        let mut value = [0_u8; 1];
        // SAFETY: both names end with 0, and the kernel writes at most as many bytes as the value has.
        let bytes =
            unsafe { nix::libc::getxattr(path.as_ptr(), name.as_ptr(), value.as_mut_ptr().cast(), 1) };
        bytes == 1 && value == *b"1"
    })
}

fn is_alone(directory: &Path) -> bool {
    let mut own: HashSet<i32> = Tree::of_this_process().pids().collect();
    own.insert(nix::unistd::getpid().as_raw());
    members(directory).is_ok_and(|members| members.iter().all(|pid| own.contains(pid)))
}

fn members(directory: &Path) -> io::Result<Vec<i32>> {
    let lines = fs::read_to_string(directory.join("cgroup.procs"))?;
    Ok(lines.lines().filter_map(|line| line.parse().ok()).collect())
}

/// Moves this program and its processes into a group of their own, and has the controllers bound the groups beside it.
/// Undoes the move where the controllers cannot be had.
fn prepare(directory: &Path) -> io::Result<()> {
    let own = directory.join(OWN);
    match fs::create_dir(&own) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let words = CONTROLLERS.map(|controller| format!("+{controller}")).join(" ");
    let enabled =
        move_all(directory, &own).and_then(|()| fs::write(directory.join("cgroup.subtree_control"), words));
    if enabled.is_err() {
        let _as_before = move_all(&own, directory).and_then(|()| fs::remove_dir(&own));
    }
    enabled
}

fn move_all(from: &Path, to: &Path) -> io::Result<()> {
    for _ in 0..ROUNDS {
        let members = members(from)?;
        if members.is_empty() {
            return Ok(());
        }
        for pid in members {
            match fs::write(to.join("cgroup.procs"), pid.to_string()) {
                Err(error) if error.raw_os_error() != Some(nix::libc::ESRCH) => return Err(error),
                _ => {}
            }
        }
    }
    Err(io::Error::from(io::ErrorKind::ResourceBusy))
}

/// The control group of one engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Group(pub PathBuf);

impl Group {
    /// A new group that holds at most so many MiB and so many processes and threads; `None` where there is no
    /// delegated group, or it gives none.
    pub fn new(memory: u64, threads: u64) -> Option<Self> {
        let number = GROUPS.fetch_add(1, Ordering::Relaxed);
        let name = format!("engine-{}-{number}", std::process::id());
        let group = Self(DELEGATED.as_ref()?.join(name));
        fs::create_dir(&group.0).ok()?;
        if group.limit(memory, threads).is_err() {
            group.remove();
            return None;
        }
        Some(group)
    }

    fn limit(&self, memory: u64, threads: u64) -> io::Result<()> {
        let write = |file: &str, number: u64| fs::write(self.0.join(file), number.to_string());
        write("memory.max", memory.saturating_mul(1024 * 1024))?;
        // Without swap the file is missing.
        if self.0.join("memory.swap.max").exists() {
            write("memory.swap.max", 0)?;
        }
        write("memory.oom.group", 1)?;
        write("pids.max", threads)
    }

    /// The file to which a process writes `0` to join.
    pub fn door(&self) -> io::Result<fs::File> {
        fs::OpenOptions::new().write(true).open(self.0.join("cgroup.procs"))
    }

    /// What the kernel has ended the engine for, or refused it.
    pub fn excess(&self) -> Option<News> {
        match () {
            () if self.count("memory.events", "oom_kill") > 0 => Some(News::TooMuchMemory),
            () if self.count("pids.events", "max") > 0 => Some(News::TooManyThreads),
            () => None,
        }
    }

    /// A number of a file of lines such as `oom_kill 1`.
    fn count(&self, file: &str, name: &str) -> u64 {
        let lines = fs::read_to_string(self.0.join(file)).unwrap_or_default();
        let words = lines.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        words.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }

    /// Most memory that the group has held, in KiB; `None` before Linux 5.19.
    pub fn peak(&self) -> Option<u64> {
        let bytes: u64 = fs::read_to_string(self.0.join("memory.peak")).ok()?.trim().parse().ok()?;
        Some(bytes / 1024)
    }

    /// Kills what is left in the group and removes it.
    pub fn remove(&self) {
        for _ in 0..REMOVALS {
            let _older_kernel = fs::write(self.0.join("cgroup.kill"), "1");
            match fs::remove_dir(&self.0) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => sleep(PAUSE),
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        directory
    }

    #[test]
    fn the_group_of_a_process_is_found_where_version_2_has_the_controllers() {
        let root = tempfile::tempdir().unwrap();
        let service = root.path().join("a.slice/renmei.service");
        fs::create_dir_all(&service).unwrap();
        let found = || directory("1:name=systemd:/x\n0::/a.slice/renmei.service\n", root.path());
        assert_eq!(found(), None, "no controllers");
        fs::write(service.join("cgroup.controllers"), "cpu memory pids\n").unwrap();
        assert_eq!(found(), None, "the root of all groups");
        fs::write(service.join("cgroup.type"), "domain\n").unwrap();
        assert_eq!(found(), Some(service.clone()));
        fs::write(service.join("cgroup.controllers"), "cpu memory\n").unwrap();
        assert_eq!(found(), None, "processes are not counted");
        assert_eq!(directory("4:memory:/a.slice/renmei.service\n", root.path()), None, "version 1");
    }

    #[test]
    fn a_group_is_limited_and_says_what_it_was_ended_for_and_its_peak() {
        let directory =
            with(&[("memory.swap.max", "max\n"), ("memory.events", "max 3\noom 1\noom_kill 0\n")]);
        let group = Group(directory.path().to_owned());
        group.limit(128, 512).unwrap();
        let read = |file: &str| fs::read_to_string(directory.path().join(file)).unwrap();
        let limits = ["memory.max", "memory.swap.max", "memory.oom.group", "pids.max"].map(read);
        assert_eq!(limits, ["134217728", "0", "1", "512"]);
        assert_eq!((group.excess(), group.peak()), (None, None));
        fs::write(directory.path().join("pids.events"), "max 7\n").unwrap();
        assert_eq!(group.excess(), Some(News::TooManyThreads));
        fs::write(directory.path().join("memory.events"), "max 3\noom 1\noom_kill 1\noom_group_kill 1\n")
            .unwrap();
        fs::write(directory.path().join("memory.peak"), "134217728\n").unwrap();
        assert_eq!((group.excess(), group.peak()), (Some(News::TooMuchMemory), Some(131_072)));
    }

    #[test]
    fn processes_of_strangers_keep_a_group_from_being_taken() {
        let own = std::process::id();
        let directory = with(&[("cgroup.procs", &format!("{own}\n"))]);
        assert!(is_alone(directory.path()));
        fs::write(directory.path().join("cgroup.procs"), format!("{own}\n1\n")).unwrap();
        assert!(!is_alone(directory.path()));
    }
}
