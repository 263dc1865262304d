//! The life of real programs on the system that the tests run on. This program plays its own engines: a role is asked for
//! by a variable. It has a `main` of its own, because engines get guardians only where `main` begins with `life::init`.

use libtest_mimic::{Arguments, Failed, Trial};
use platform::{
    life::{self, Child, Ending, Order, Program, Reader, Strict},
    threads,
};
use std::{
    env,
    error::Error,
    io::{self, BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    process::{Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};
use tokio::{io::AsyncReadExt, time::timeout};

/// The variable that asks for a role.
const ROLE: &str = "RENMEI_LIFE_ROLE";
/// Most time for anything here before it counts as hanging; a busy machine starts programs slowly.
const PATIENCE: Duration = Duration::from_secs(600);

type Done = Result<(), Box<dyn Error>>;
type Test = fn() -> Done;

fn main() -> ExitCode {
    if let Some(ended) = life::init() {
        return ended;
    }
    if let Ok(role) = env::var(ROLE) {
        return play(&role).unwrap_or(ExitCode::FAILURE);
    }
    let tests: [(&str, Test); 13] = [
        ("lines_go_both_ways_and_the_end_of_input_is_seen", lines),
        ("an_engine_that_is_killed_takes_along_what_it_started", kill),
        ("an_engine_that_ends_leaves_nothing_behind", leave),
        ("engines_end_with_a_manager_that_is_killed", orphaned),
        ("engines_go_on_and_others_begin_when_the_process_that_forks_guardians_is_killed", forked),
        ("nothing_of_an_engine_is_left_whenever_its_guardian_is_killed", bereft),
        ("what_a_killed_guardian_leaves_behind_ends_though_nobody_asks_for_it", unasked),
        ("what_a_killed_guardian_leaves_behind_ends_with_a_manager_that_is_killed", bereft_by_all),
        (
            "engines_have_the_priority_of_the_program_though_a_thread_that_gave_way_asks_for_the_first",
            gave_way,
        ),
        ("a_strict_sandbox_leaves_no_ended_process_behind", waited_for),
        ("an_ending_is_told_in_words", endings),
        ("memory_and_threads_are_told_or_absent_but_never_zero", usage),
        ("what_a_system_does_not_have_is_refused", refusals),
    ];
    let trials = tests.map(|(name, test)| {
        Trial::test(name, move || test().map_err(|error| Failed::from(error.to_string())))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

/// What an engine does.
fn play(role: &str) -> io::Result<ExitCode> {
    match role {
        "echo" => {
            for line in io::stdin().lock().lines() {
                println!("{}", line?);
            }
            Ok(ExitCode::from(7))
        }
        "idle" => idle(),
        "parent" | "leave" | "linger" => {
            let mut child = Command::new(env::current_exe()?);
            child.env(ROLE, "idle").stdin(Stdio::null()).spawn()?;
            match role {
                "parent" => idle(),
                "linger" => io::copy(&mut io::stdin(), &mut io::sink()).map(|_| ExitCode::SUCCESS),
                _ => Ok(ExitCode::SUCCESS),
            }
        }
        "manager" => in_time(async {
            let mut child = life::spawn(&program("parent")?).await?;
            for _ in 0..2 {
                println!("{}", line(&mut child.stdout).await?);
            }
            println!("{}", guardian(&child).unwrap_or_default());
            std::future::pending::<Done>().await
        })
        .map(|()| ExitCode::SUCCESS)
        .map_err(|error| io::Error::other(error.to_string())),
        "gave way" => {
            let first = thread::spawn(|| {
                threads::yield_by(10)?;
                niceness_of_engine().map_err(|error| io::Error::other(error.to_string()))
            });
            println!("{}", first.join().map_err(|_| io::Error::other("it panicked"))??);
            Ok(ExitCode::SUCCESS)
        }
        "abort" => std::process::abort(),
        // As if a system had ended it: by its exit code.
        "violation" => std::process::exit(0xC000_0005_u32.cast_signed()),
        _ => Ok(ExitCode::from(3)),
    }
}

/// Says a port, and listens there until it is ended.
fn idle() -> io::Result<ExitCode> {
    let door = TcpListener::bind("127.0.0.1:0")?;
    // One write: two programs say this into one pipe.
    io::stdout().write_all(format!("{}\n", door.local_addr()?.port()).as_bytes())?;
    loop {
        let _guest = door.accept()?;
    }
}

fn program(role: &str) -> io::Result<Program> {
    let environment = vec![(ROLE.into(), role.into())];
    Ok(Program { name: role.to_owned(), file: env::current_exe()?, environment, ..Program::default() })
}

/// Runs a test, within a patience that only a fault exhausts.
fn in_time<T>(test: impl Future<Output = Result<T, Box<dyn Error>>>) -> Result<T, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { timeout(PATIENCE, test).await })?
}

async fn line(stdout: &mut Reader) -> io::Result<String> {
    let mut line = Vec::new();
    loop {
        match stdout.read_u8().await? {
            b'\n' => return String::from_utf8(line).map_err(io::Error::other),
            byte => line.push(byte),
        }
    }
}

async fn port(child: &mut Child) -> Result<u16, Box<dyn Error>> {
    Ok(line(&mut child.stdout).await?.trim().parse()?)
}

/// Waits until nobody listens at a port.
fn await_silence(port: u16) -> Done {
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_ok() {
        if begin.elapsed() > PATIENCE {
            return Err(format!("the process at port {port} lives on").into());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn must(holds: bool, what: impl Into<String>) -> Done {
    if holds { Ok(()) } else { Err(what.into().into()) }
}

fn lines() -> Done {
    in_time(async {
        let mut child = life::spawn(&program("echo")?).await?;
        // More than both pipes hold; a line costs Wine a tenth of a millisecond.
        let sent = "usi\nposition startpos\n".repeat(20_000).into_bytes();
        let (mut written, mut heard) = (0, Vec::new());
        let mut buffer = vec![0; 8192];
        while heard.len() < sent.len() {
            match child.stdin.try_write(&sent[written..]) {
                Ok(more) => written += more,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
            let is_left = written < sent.len();
            tokio::select! {
                read = child.stdout.read(&mut buffer) => heard.extend_from_slice(&buffer[..read?]),
                () = child.stdin.writable(), if is_left => {}
            }
        }
        must(heard == sent, "the lines came back changed")?;
        drop(child.stdin);
        must(child.stdout.read(&mut buffer).await? == 0, "its output ends")?;
        child.exit.of_all().await;
        must(child.exit.ending() == Some(&Ending::Exited(7)), format!("{:?}", child.exit.ending()))
    })
}

fn kill() -> Done {
    let ports = in_time(async {
        let mut child = life::spawn(&program("parent")?).await?;
        let ports = [port(&mut child).await?, port(&mut child).await?];
        child.tree.kill(&child.exit);
        child.exit.of_all().await;
        let said = child.exit.ending().map(ToString::to_string).unwrap_or_default();
        must(said.starts_with("it was killed"), said)?;
        Ok(ports)
    })?;
    ports.into_iter().try_for_each(await_silence)
}

fn leave() -> Done {
    let port = in_time(async {
        let mut child = life::spawn(&program("leave")?).await?;
        let port = port(&mut child).await;
        child.exit.happened().await;
        child.tree.order(Order::Kill)?; // a Unix without guardians needs it
        child.exit.of_all().await;
        must(child.exit.ending() == Some(&Ending::Exited(0)), format!("{:?}", child.exit.ending()))?;
        Ok(port.ok())
    })?;
    // It may have been ended before it said its port.
    port.map_or(Ok(()), await_silence)
}

fn orphaned() -> Done {
    if !cfg!(any(target_os = "linux", windows)) {
        return Ok(()); // nothing ties them there
    }
    let mut manager = Command::new(env::current_exe()?);
    let mut manager = manager.env(ROLE, "manager").stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let said = BufReader::new(manager.stdout.take().ok_or("no pipe")?);
    let ports: Vec<u16> =
        said.lines().take(2).map(|line| Ok(line?.parse()?)).collect::<Result<_, Box<dyn Error>>>()?;
    manager.kill()?;
    manager.wait()?;
    ports.into_iter().try_for_each(await_silence)
}

/// The process above an engine.
fn guardian(child: &Child) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.tree.id())).ok()?;
    Some(stat.rsplit(") ").next()?.split(' ').nth(1)?.to_owned())
}

fn send(signal: &str, process: &str) -> Done {
    must(Command::new("kill").args([signal, process]).status()?.success(), "the process is ours to signal")
}

/// Waits until a process is stopped, or has ended.
fn await_rest(process: &str) -> Done {
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        if !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['R', 'S', 'D'])) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn bereft() -> Done {
    if !cfg!(target_os = "linux") {
        return Ok(()); // there are no guardians
    }
    // At the end: before the guardian knows of it, or while it does nothing about it.
    for (role, stage) in [("parent", "runs"), ("parent", "is ended"), ("linger", "has ended")] {
        let ports = in_time(async {
            let mut child = life::spawn(&program(role)?).await?;
            let guardian = guardian(&child).ok_or("no guardian")?;
            if stage != "runs" {
                send("-STOP", &guardian)?;
                await_rest(&guardian)?;
            }
            let mut ports = vec![port(&mut child).await?];
            if role == "parent" {
                ports.push(port(&mut child).await?);
            }
            match stage {
                "is ended" => child.tree.order(Order::Kill)?,
                "has ended" => {
                    let id = child.tree.id().to_string();
                    drop(child.stdin);
                    await_rest(&id)?;
                }
                _ => {}
            }
            send("-KILL", &guardian)?;
            child.exit.of_all().await;
            Ok(ports)
        })?;
        for port in ports {
            must(
                TcpStream::connect(("127.0.0.1", port)).is_err(),
                format!("{port} after the engine {stage}"),
            )?;
        }
    }
    Ok(())
}

fn unasked() -> Done {
    if !cfg!(target_os = "linux") {
        return Ok(()); // there are no guardians
    }
    let (guardian, ports) = in_time(async {
        let mut child = life::spawn(&program("parent")?).await?;
        let guardian = guardian(&child).ok_or("no guardian")?;
        send("-STOP", &guardian)?;
        await_rest(&guardian)?;
        Ok((guardian, [port(&mut child).await?, port(&mut child).await?]))
    })?;
    send("-KILL", &guardian)?;
    ports.into_iter().try_for_each(await_silence)
}

fn bereft_by_all() -> Done {
    if !cfg!(target_os = "linux") {
        return Ok(()); // there are no guardians
    }
    let mut manager = Command::new(env::current_exe()?);
    let mut manager = manager.env(ROLE, "manager").stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let said = BufReader::new(manager.stdout.take().ok_or("no pipe")?);
    let said: Vec<String> = said.lines().take(3).collect::<io::Result<_>>()?;
    let [ports @ .., guardian] = &said[..] else { return Err("no guardian".into()) };
    let id = manager.id().to_string();
    send("-STOP", &id)?;
    await_rest(&id)?;
    send("-KILL", guardian)?;
    await_rest(guardian)?;
    manager.kill()?;
    manager.wait()?;
    ports.iter().try_for_each(|port| await_silence(port.parse()?))
}

fn niceness(process: u32) -> Result<String, Box<dyn Error>> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let niceness = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(16));
    Ok(niceness.ok_or("no niceness")?.to_owned())
}

fn niceness_of_engine() -> Result<String, Box<dyn Error>> {
    in_time(async {
        let mut child = life::spawn(&program("idle")?).await?;
        port(&mut child).await?;
        let niceness = niceness(child.tree.id())?;
        child.tree.kill(&child.exit);
        child.exit.of_all().await;
        Ok(niceness)
    })
}

fn gave_way() -> Done {
    if !cfg!(target_os = "linux") {
        return Ok(()); // nothing is inherited
    }
    let said = Command::new(env::current_exe()?).env(ROLE, "gave way").stderr(Stdio::inherit()).output()?;
    let said = String::from_utf8(said.stdout)?;
    must(said.trim() == niceness(std::process::id())?, format!("niceness of an engine: {said}"))
}

fn forked() -> Done {
    if !cfg!(target_os = "linux") {
        return Ok(()); // there are no guardians
    }
    let ports = in_time(async {
        let mut before = life::spawn(&program("parent")?).await?;
        let mut ports = vec![port(&mut before).await?, port(&mut before).await?];
        for server in guardians_of_this_program()? {
            must(
                Command::new("kill").args(["-9", &server]).status()?.success(),
                "the process is ours to kill",
            )?;
        }
        let mut after = life::spawn(&program("parent")?).await?;
        ports.extend([port(&mut after).await?, port(&mut after).await?]);
        for port in &ports {
            TcpStream::connect(("127.0.0.1", *port)).map_err(|error| format!("port {port}: {error}"))?;
        }
        for mut child in [before, after] {
            child.tree.kill(&child.exit);
            child.exit.of_all().await;
        }
        Ok(ports)
    })?;
    ports.into_iter().try_for_each(await_silence)
}

/// Children of this program under the name of guardians: the process that forks them, or those that it left.
fn guardians_of_this_program() -> Result<Vec<String>, Box<dyn Error>> {
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let stat = std::fs::read_to_string(format!("/proc/{name}/stat")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
        if parent == Some(&own) && stat.contains("(renmei-guardian)") {
            found.push(name);
        }
    }
    must(!found.is_empty(), "guardians are forked by a process of this program")?;
    Ok(found)
}

/// An engine in a strict sandbox, and the trial of one while this program adopts what others leave behind. Where no sandbox can
/// be had, there is nothing to leave.
fn waited_for() -> Done {
    if life::sandbox::available().is_err() {
        return Ok(());
    }
    in_time(async {
        for _ in 0..3 {
            let strict = Some(Strict { memory_mb: 1024, ..Strict::default() });
            let mut child = life::spawn(&Program { strict, ..program("echo")? }).await?;
            child.stdin.writable().await;
            must(child.stdin.try_write(b"here\n")? == 5, "a line is written")?;
            must(line(&mut child.stdout).await? == "here", "an engine in a sandbox answers")?;
            drop(child.stdin);
            child.exit.of_all().await;
            life::sandbox::available()?;
        }
        Ok(())
    })?;
    let own = std::process::id().to_string();
    let family: Vec<String> = guardians_of_this_program()?.into_iter().chain([own]).collect();
    let ended = || {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let stats = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        let left = |stat: &String| {
            let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            fields.next() == Some("Z")
                && fields.next().is_some_and(|parent| family.iter().any(|it| it == parent))
        };
        stats.filter(left).collect::<Vec<_>>()
    };
    // Its own guardian is waited for a moment after it has said that nothing is left.
    let begin = Instant::now();
    while !ended().is_empty() && begin.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(20));
    }
    must(ended().is_empty(), format!("{:?}", ended()))
}

fn endings() -> Done {
    let [abort, violation] = match cfg!(windows) {
        true => [
            "it was ended by a stack buffer overrun or an abort (0xC0000409)",
            "it was ended by an access violation (0xC0000005)",
        ],
        false => ["it was killed by SIGABRT", "it exited with code 5"],
    };
    for (role, words) in [("other", "it exited with code 3"), ("abort", abort), ("violation", violation)] {
        in_time(async {
            let mut child = life::spawn(&program(role)?).await?;
            child.exit.happened().await;
            let said = child.exit.ending().map(ToString::to_string).unwrap_or_default();
            must(said.starts_with(words), format!("{role}: {said}"))
        })?;
    }
    Ok(())
}

fn usage() -> Done {
    in_time(async {
        let mut child = life::spawn(&program("idle")?).await?;
        port(&mut child).await?;
        let told = (child.tree.peak_kib(), child.tree.threads());
        child.tree.kill(&child.exit);
        child.exit.of_all().await;
        let is_told = told.0.is_some_and(|kib| kib > 100) && told.1.is_some_and(|threads| threads > 0);
        let is_absent = told == (None, None);
        must(if cfg!(any(target_os = "linux", windows)) { is_told } else { is_absent }, format!("{told:?}"))
    })
}

fn refusals() -> Done {
    in_time(async {
        let missing = Program { file: "no-such-engine".into(), ..Program::default() };
        must(life::spawn(&missing).await.is_err(), "a program that is not there")?;
        let far = Program { cores: vec![1_000_000], ..program("idle")? };
        must(life::spawn(&far).await.is_err(), "a core that is not there")?;
        if !cfg!(target_os = "linux") {
            let strict = Program { strict: Some(Strict::default()), ..program("idle")? };
            let said = life::spawn(&strict).await.err().map(|error| error.to_string()).unwrap_or_default();
            must(said.contains("needs Linux") && life::sandbox::available().is_err(), said)?;
        }
        let mut child = life::spawn(&program("idle")?).await?;
        port(&mut child).await?;
        let asked = child.tree.order(Order::Leave);
        match asked {
            Ok(()) => must(cfg!(unix), "Windows has no such order")?,
            Err(error) => {
                must(error.kind() == io::ErrorKind::Unsupported && cfg!(windows), error.to_string())?;
                child.tree.kill(&child.exit);
            }
        }
        child.exit.of_all().await;
        Ok(())
    })
}
