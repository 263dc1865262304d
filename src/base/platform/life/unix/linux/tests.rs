//! Cores and threads of real processes.

use super::*;
use std::{fs, future::Future, thread};

fn shell(script: &str, cores: &[usize]) -> Program {
    Program {
        file: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        cores: cores.to_vec(),
        ..Program::default()
    }
}

/// Runs on a thread of its own.
fn on_a_thread<T: Send + 'static, F: Future<Output = T>>(work: impl FnOnce() -> F + Send + 'static) -> T {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(work())
    };
    thread::spawn(run).join().unwrap()
}

fn first_core() -> usize {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap();
    (0..CpuSet::count()).find(|&core| set.is_set(core).unwrap()).unwrap()
}

async fn cores_of_child(cores: &[usize]) -> String {
    let mut child = spawn(&shell("grep Cpus_allowed: /proc/self/status", cores)).await.unwrap();
    let mut said = String::new();
    child.stdout.read_to_string(&mut said).await.unwrap();
    said.trim().to_owned()
}

#[test]
fn an_engine_may_use_all_cores_of_the_program_though_its_game_is_pinned() {
    let core = first_core();
    let (free, pinned) = on_a_thread(move || async move {
        let mut set = CpuSet::new();
        set.set(core).unwrap();
        sched_setaffinity(Pid::from_raw(0), &set).unwrap();
        (cores_of_child(&[]).await, cores_of_child(&[core]).await)
    });
    let status = fs::read_to_string(format!("/proc/{}/status", getpid())).unwrap();
    assert!(status.lines().any(|line| line == free), "{free}");
    let digits = pinned.trim_start_matches("Cpus_allowed:").chars().filter_map(|digit| digit.to_digit(16));
    assert_eq!(digits.map(u32::count_ones).sum::<u32>(), 1, "{pinned}");
}

#[test]
fn an_engine_that_a_thread_of_low_priority_asks_for_has_the_priority_of_the_program() {
    let niceness = |stat: &str| stat.rsplit(") ").next().unwrap().split(' ').nth(16).unwrap().to_owned();
    let engine = on_a_thread(|| async {
        crate::threads::yield_by(10).unwrap();
        let mut child = spawn(&shell("exec cat /proc/self/stat", &[])).await.unwrap();
        let mut said = String::new();
        child.stdout.read_to_string(&mut said).await.unwrap();
        said
    });
    let own = fs::read_to_string(format!("/proc/{}/stat", getpid())).unwrap();
    assert_eq!(niceness(&engine), niceness(&own));
}

#[test]
fn what_the_runtime_has_not_heard_of_is_read_too() {
    on_a_thread(|| async {
        let (pipes, [_, theirs, _]) = Pipes::new().unwrap();
        let pipe = crate::life::Reader(super::super::Reader::from_owned_fd(pipes.stdout).unwrap());
        nix::unistd::write(&theirs, b"bestmove").unwrap();
        let mut buffer = [0; 64];
        assert_eq!(pipe.try_read(&mut buffer).unwrap(), 8);
        let nothing = pipe.try_read(&mut buffer).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
    });
}

#[test]
fn an_engine_outlives_the_thread_that_asked_for_it() {
    let child = on_a_thread(|| async {
        let mut command = Command::new("sleep");
        command.arg("600");
        before_exec(&mut command, &[]).unwrap();
        super::super::spawner::start(move || command.spawn()).await.unwrap()
    });
    let pid = child.id().unwrap();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let state = stat.rsplit(") ").next().unwrap().chars().next();
    kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL).unwrap();
    assert!(matches!(state, Some('S' | 'R' | 'D')), "{stat}");
}
