//! Notices: each is delivered once, whatever is killed or fails meanwhile, and none is in the way of a game.

use crate::support::{Desk, ended, program, until};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
};

use testing::PATIENCE;

/// A match of two honest engines, or of an honest one and a puppet.
fn words(games: &str, puppet: Option<&str>) -> Vec<String> {
    let cmd = |name: &str| format!("cmd={}", program(name).display());
    let mut words =
        vec!["match", "--db", "event.db", "--no-dashboard", "--oversubscribe", "--concurrency", "1"];
    words.extend(["--time", "600s", "--max-moves", "40", "--openings", "built-in", "--games", games]);
    let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    words.extend(["--engine".to_owned(), cmd("renmei-random"), "name=good".to_owned()]);
    match puppet {
        Some(args) => words.extend([
            "--engine".to_owned(),
            cmd("renmei-puppet"),
            "name=bad".to_owned(),
            format!("args={args}"),
        ]),
        None => words.extend(["--engine".to_owned(), cmd("renmei-random"), "name=other".to_owned()]),
    }
    words
}

fn with(mut words: Vec<String>, more: &[&str]) -> Vec<String> {
    words.extend(more.iter().map(|&word| word.to_owned()));
    words
}

fn start(desk: &Desk, words: &[String]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args(words).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn run(desk: &Desk, words: &[String]) -> (Option<i32>, String) {
    let output = start(desk, words).wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The notices in a file of one line each.
fn notices(desk: &Desk, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(desk.path(file)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kinds(notices: &[Value]) -> Vec<&str> {
    notices.iter().map(|notice| notice["notice"].as_str().unwrap()).collect()
}

/// A web server that answers its requests with these statuses, the last for all further ones, and passes on the bodies.
fn server(statuses: &'static [u16]) -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook/secret", listener.local_addr().unwrap());
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for (at, stream) in listener.incoming().enumerate() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut length, mut line) = (0, String::new());
            while stream.read_line(&mut line).unwrap_or(0) > 2 {
                if let Some(bytes) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let status = statuses[at.min(statuses.len() - 1)];
            let answer = format!(
                "HTTP/1.1 {status} X\r\nLocation: /there\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            let _killed = stream.get_mut().write_all(answer.as_bytes());
            if tell.send(serde_json::from_slice(&body).unwrap()).is_err() {
                return;
            }
        }
    });
    (url, told)
}

/// A configuration of the same match, with a webhook.
fn configuration(desk: &Desk, url: &str) -> Vec<String> {
    let random = program("renmei-random");
    let text = format!(
        "[event]\nname = 'x'\ndatabase = 'event.db'\ngames = 2\n[time]\nmain = '600s'\n[rules]\nmax_moves = 12\n\
         [notify]\nwebhook = '{url}'\n[[engines]]\nname = 'a'\ncommand = '{0}'\n\
         [[engines]]\nname = 'b'\ncommand = '{0}'\n",
        random.display()
    );
    let file = desk.write("x.toml", &text).display().to_string();
    vec!["run".to_owned(), file, "--no-dashboard".to_owned()]
}

#[test]
fn a_command_reads_the_verdict_the_end_and_the_halt_as_json() {
    let desk = Desk::new();
    let sprt = ["--sprt", "elo0=0", "elo1=300", "--notify", "cat >> all", "--on-verdict", "cat >> verdict"];
    let off = with(words("400", Some("--mode resign --ply 3")), &sprt);
    assert_eq!(run(&desk, &off).0, Some(10));
    let all = notices(&desk, "all");
    assert_eq!(kinds(&all), ["verdict", "end"]);
    assert_eq!((&all[0]["sprt"]["verdict"], &all[0]["version"]), (&"H1".into(), &1.into()));
    assert_eq!(all[0]["players"][1]["name"], "bad");
    assert_eq!(kinds(&notices(&desk, "verdict")), ["verdict"]);

    let desk = Desk::new();
    let wide = ["--sprt", "elo0=0", "elo1=10"];
    let broken = with(words("400", Some("--mode crash --ply 3")), &[&wide, &sprt[3..]].concat());
    assert_eq!(run(&desk, &broken).0, Some(12));
    let all = notices(&desk, "all");
    assert_eq!(kinds(&all), ["engine-halted", "fault-limit"]);
    assert_eq!(all[0]["halted"]["name"], "bad");
    assert_eq!(kinds(&notices(&desk, "verdict")), ["fault-limit"], "the test ended without a verdict");
    assert_eq!(run(&desk, &broken).0, Some(12));
    assert_eq!(
        kinds(&notices(&desk, "all")),
        ["engine-halted", "fault-limit", "restarted"],
        "each is told once"
    );
}

#[test]
fn a_webhook_that_leads_elsewhere_has_not_received_the_notice() {
    let desk = Desk::new();
    let (url, told) = server(&[302, 200]);
    let (code, said) = run(&desk, &configuration(&desk, &url));
    assert_eq!(code, Some(0), "{said}");
    let why = "notify (webhook): cannot deliver `end`: the server redirects with status 302";
    assert!(said.contains(why), "{said}");
    let notices: Vec<Value> = told.try_iter().collect();
    assert_eq!(kinds(&notices), ["end", "end"], "it is sent again, to the same address");
}

#[test]
fn a_webhook_that_fails_is_tried_again_until_it_has_the_notice_once() {
    let desk = Desk::new();
    let (url, told) = server(&[503, 500, 204]);
    let words = configuration(&desk, &url);
    let (code, said) = run(&desk, &words);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("notify (webhook): cannot deliver `end`: the server answers with status 503"),
        "{said}"
    );
    assert!(!said.contains("secret"), "a URL may hold a secret: {said}");
    let mut tries: Vec<Value> = told.try_iter().collect();
    // A program that ends tries for a bounded time only; on a slow machine the next one goes on.
    until("the server has been asked three times", || {
        if tries.len() < 3 {
            assert_eq!(run(&desk, &words).0, Some(0));
            tries.extend(told.try_iter());
        }
        tries.len() >= 3
    });
    assert_eq!(kinds(&tries), ["end"; 3]);
    assert_eq!(run(&desk, &words).0, Some(0));
    assert_eq!(told.try_iter().count(), 0, "it was received");
}

#[test]
fn a_notice_that_was_not_received_before_a_kill_is_sent_at_the_next_start() {
    let desk = Desk::new();
    let (url, told) = server(&[503]);
    let mut child = start(&desk, &configuration(&desk, &url));
    let first = told.recv_timeout(PATIENCE).unwrap();
    child.kill().unwrap();
    ended(&mut child);
    let (url, told) = server(&[200]);
    let words = configuration(&desk, &url);
    let mut again = vec![];
    until("a notice arrives", || {
        assert_eq!(run(&desk, &words).0, Some(0));
        again.extend(told.try_iter());
        !again.is_empty()
    });
    assert_eq!(again.iter().filter(|notice| notice["id"] == first["id"]).count(), 1, "{again:?}");
    assert_eq!(run(&desk, &words).0, Some(0));
    assert_eq!(told.try_iter().filter(|notice| notice["notice"] == "end").count(), 0);
}

#[test]
fn games_go_on_while_a_notice_is_delivered() {
    let desk = Desk::new();
    desk.write("hold", "");
    let mut words = words("8", Some("--mode crash --ply 3"));
    let third = format!("cmd={}", program("renmei-random").display());
    words.extend(["--engine".to_owned(), third, "name=third".to_owned()]);
    let slow = "while [ -e hold ]; do sleep 0.1; done; cat >> all";
    let mut child = start(&desk, &with(words, &["--notify", slow]));
    let others =
        "SELECT coalesce(max(games), 0) FROM head_to_head WHERE player = 'good' AND opponent = 'third'";
    until("the others have played, which do not wait for the notice", || {
        assert!(child.try_wait().unwrap().is_none(), "the end waits for the notice");
        desk.db().exists() && desk.try_query(others).is_some_and(|rows| rows == [["8"]])
    });
    assert_eq!(notices(&desk, "all"), Vec::<Value>::new());
    fs::remove_file(desk.path("hold")).unwrap();
    assert_eq!(ended(&mut child).code(), Some(4));
    assert_eq!(kinds(&notices(&desk, "all")), ["engine-halted", "fault-limit"]);
}

#[test]
fn a_host_that_was_started_again_says_so() {
    let desk = Desk::new();
    let league =
        desk.write("league.toml", "[serve]\nlisten = ['127.0.0.1:0']\n[notify]\ncommand = 'cat >> all'\n");
    for starts in 0..3 {
        let words = ["serve".to_owned(), league.display().to_string(), "--no-dashboard".to_owned()];
        let mut child = start(&desk, &words);
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("listening on") {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "it does not listen");
        }
        let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        assert!(ended(&mut child).success());
        assert_eq!(kinds(&notices(&desk, "all")), vec!["restarted"; starts]);
    }
}

#[test]
fn what_cannot_be_notified_is_refused() {
    let desk = Desk::new();
    let (code, said) = run(&desk, &with(words("2", None), &["--on-verdict", "true"]));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--on-verdict needs a test (--sprt, format \"sprt\", or `until`)"), "{said}");
    let mut config = configuration(&desk, "ftp://example.org");
    assert_eq!(run(&desk, &config).0, Some(2));
    config = configuration(&desk, "https://");
    let (code, said) = run(&desk, &config);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("x.toml:10:") && said.contains("notify.webhook") && said.contains("is no URL"),
        "{said}"
    );
}
