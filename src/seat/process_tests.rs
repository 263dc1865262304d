//! Processes of the operating system.

use super::*;
use nix::sched::sched_getaffinity;
use plan::{GoForms, Restart, SeatLimits};
use referee::clock::TimeControl;
use std::{fs, thread};
use tokio::io::AsyncReadExt;

fn shell(script: &str) -> EnginePlan {
    EnginePlan {
        source: None,
        name: "shell".to_owned(),
        remote: false,
        command: "/bin/sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        directory: None,
        directory_by_default: false,
        environment: vec![],
        options: vec![],
        option_sources: vec![],
        time: TimeControl::default(),
        margin_given: true,
        reserve: Duration::ZERO,
        hurry: None,
        go: GoForms::default(),
        ponder: false,
        limits: SeatLimits::default(),
        restart: Restart::OnFault,
        cores: 1.0,
        gpu: 0.0,
        identity: Default::default(),
        optional: false,
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
    let mut process = spawn(&shell("grep Cpus_allowed: /proc/self/status"), cores).await.unwrap();
    let mut said = String::new();
    process.stdout.read_to_string(&mut said).await.unwrap();
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
    let status = fs::read_to_string(format!("/proc/{}/status", nix::unistd::getpid())).unwrap();
    assert!(status.lines().any(|line| line == free), "{free}");
    let digits = pinned.trim_start_matches("Cpus_allowed:").chars().filter_map(|digit| digit.to_digit(16));
    assert_eq!(digits.map(u32::count_ones).sum::<u32>(), 1, "{pinned}");
}

#[test]
fn an_engine_outlives_the_thread_that_asked_for_it() {
    let child = on_a_thread(|| async {
        let mut command = Command::new("sleep");
        command.arg("600");
        before_exec(&mut command, &[]).unwrap();
        spawner::spawn(command, None).await.unwrap()
    });
    let pid = child.id().unwrap();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let state = stat.rsplit(") ").next().unwrap().chars().next();
    nix::sys::signal::kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL).unwrap();
    assert!(matches!(state, Some('S' | 'R' | 'D')), "{stat}");
}

#[tokio::test]
async fn the_end_of_a_process_is_told_in_words() {
    for (script, words) in [
        ("exit 3", "it exited with code 3"),
        ("kill -SEGV $$", "it was killed by SIGSEGV"),
        ("kill -ABRT $$", "it was killed by SIGABRT"),
    ] {
        let mut process = spawn(&shell(script), &[]).await.unwrap();
        let ending = process.ending(Duration::from_secs(60)).await;
        assert!(ending.starts_with(words), "{script}: {ending}");
    }
}

#[tokio::test]
async fn everything_that_an_engine_started_ends_with_it() {
    let mut process = spawn(&shell("sleep 600 & echo $!; wait"), &[]).await.unwrap();
    let mut said = [0; 32];
    let bytes = process.stdout.read(&mut said).await.unwrap();
    let child: i32 = str::from_utf8(&said[..bytes]).unwrap().trim().parse().unwrap();
    process.end(Duration::ZERO, Duration::from_secs(60)).await;
    let gone = || match fs::read_to_string(format!("/proc/{child}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    while !gone() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
