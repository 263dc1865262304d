//! Processes of the operating system.

use super::*;
use std::fs;
use tokio::io::AsyncReadExt;

fn shell(script: &str) -> EnginePlan {
    EnginePlan {
        name: "shell".to_owned(),
        command: "/bin/sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        margin_given: true,
        cores: 1.0,
        ..EnginePlan::default()
    }
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
    process.end(Duration::ZERO, Duration::from_secs(60), &Trace::default()).await;
    let gone = || match fs::read_to_string(format!("/proc/{child}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    while !gone() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
