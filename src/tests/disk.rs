//! A disk that is nearly full, or full: on a small file system of its own where the system lets us mount one, and by a
//! reserve that no disk has.

use crate::support::{Desk, ended, program};
use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    process::{Child, Command, Output, Stdio},
    time::Instant,
};

/// Runs a shell script with the program as `$RENMEI` and a random engine as `$ENGINE`, in a directory `disk` of so many
/// megabytes; `None` where the system does not let us mount one.
fn on_a_small_disk(desk: &Desk, megabytes: u32, script: &str) -> Option<Output> {
    std::fs::create_dir(desk.path("disk")).unwrap();
    let mount = format!("mount -t tmpfs -o size={megabytes}m renmei disk || exit 77\ncd disk\n");
    let output = Command::new("unshare")
        .args(["-Urm", "sh", "-c", &format!("{mount}{script}")])
        .current_dir(desk.dir.path())
        .env("RENMEI", env!("CARGO_BIN_EXE_renmei"))
        .env("ENGINE", program("renmei-random"))
        .stdin(Stdio::null())
        .output();
    let mounted = |output: &Output| output.status.code() != Some(77) && !text(output).starts_with("unshare:");
    match output.ok().filter(mounted) {
        Some(output) => Some(output),
        None => {
            eprintln!("not tested: this system does not let users mount a file system (`unshare -Urm`)");
            None
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

const MATCH: &str = "$RENMEI match --engine cmd=$ENGINE name=a --engine cmd=$ENGINE name=b --time 600s --max-moves 40 \
                     --concurrency 1 --oversubscribe --openings none --no-dashboard --rating-interval 0";

#[test]
fn a_full_disk_ends_a_match_with_the_reason_and_keeps_every_game_that_was_announced() {
    let desk = Desk::new();
    let script = format!(
        "{MATCH} --games 100000 --reserve-mb 0 > ../lines 2> ../faults; echo $?\n\
         rm -f filler; cp match.db ../event.db; cp match.db-wal ../event.db-wal 2>/dev/null; cat ../lines ../faults"
    );
    // Half of the disk is taken, so that its end comes in the middle of play.
    let script = format!("dd if=/dev/zero of=filler bs=1M count=2 2>/dev/null\n{script}");
    let Some(output) = on_a_small_disk(&desk, 4, &script) else { return };
    let text = text(&output);
    assert!(text.starts_with("1\n"), "exit code 1: {text}");
    assert!(text.contains("cannot grow: the disk is full"), "{text}");
    let announced = text.lines().filter(|line| line.contains(" - ") && line.contains("by ")).count();
    assert_eq!(desk.query("PRAGMA integrity_check"), [["ok"]]);
    let kept: usize = desk.query("SELECT count(*) FROM games WHERE ended_at > 0")[0][0].parse().unwrap();
    assert!(kept > 0 && kept >= announced, "{announced} games were announced and {kept} are kept: {text}");
}

#[test]
fn an_archive_for_which_the_disk_has_no_room_is_named_and_nothing_of_it_stays() {
    let desk = Desk::new();
    let script = format!(
        "{MATCH} --games 2 --db ../match.db > /dev/null || exit 1\n\
         dd if=/dev/zero of=filler bs=4k 2>/dev/null\n\
         $RENMEI pack ../match.db -o cup.tar.gz; echo $?; ls -A"
    );
    let Some(output) = on_a_small_disk(&desk, 1, &script) else { return };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\nfiller\n", "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("cup.tar.gz") && !said.contains(".tmp"), "{said}");
}

#[test]
fn an_event_of_a_hall_whose_disk_is_full_holds_up_no_other_event() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("hall")).unwrap();
    let event = |name: &str, database: &str, games: u32| {
        let engine = |name: &str| {
            let command = program("renmei-random").display().to_string();
            format!("[[engines]]\nname = \"{name}\"\ncommand = \"{command}\"\n")
        };
        let head = format!(
            "[event]\nformat = \"round-robin\"\ngames = {games}\nreserve_mb = 0\ndatabase = '{database}'\n"
        );
        let rules = "[rules]\nmax_moves = 40\n[time]\ncontrol = \"600s\"\n";
        desk.write(&format!("hall/{name}.toml"), &[&head, rules, &engine("a"), &engine("b")].concat());
    };
    event("full", &desk.path("disk/full.db").display().to_string(), 100_000);
    event("other", "other.db", 60);
    // With pages: they know an event longer than it is played.
    let script = "$RENMEI hall ../hall --concurrency 1 --oversubscribe --until-done --http 127.0.0.1:0 2>&1";
    let Some(output) = on_a_small_disk(&desk, 3, script) else { return };
    let text = text(&output);
    assert!(text.contains("full.db` cannot grow: the disk is full"), "{text}");
    let is_over = |line: &str| line.split_whitespace().take(3).eq(["other", "over", "60/60"]);
    assert!(text.lines().any(is_over), "{text}");
}

#[test]
fn a_match_waits_while_the_disk_is_nearly_full_and_goes_on_when_there_is_room() {
    let desk = Desk::new();
    let notices = "--notify 'cat >> notices; echo >> notices'";
    let script = format!(
        "dd if=/dev/zero of=filler bs=1M count=40 2>/dev/null\n\
         {MATCH} --games 4 --reserve-mb 30 {notices} > lines 2> said & MATCH=$!\n\
         until grep -q 'nearly full' said; do sleep 0.05; done\n\
         sleep 0.3; cp lines before; rm filler; wait $MATCH; echo $?; cat before said lines notices"
    );
    let Some(output) = on_a_small_disk(&desk, 64, &script) else { return };
    let text = text(&output);
    assert!(text.starts_with("0\n"), "{text}");
    assert!(text.contains("and `reserve_mb` keeps 30; no new games begin until there is room"), "{text}");
    assert_eq!(text.matches("nearly full").count(), 3, "said once, and in two fields of a notice: {text}");
    let first = text.find(" wins").or_else(|| text.find("draw")).unwrap();
    assert!(text.find("the disk has room again: new games begin").unwrap() < first, "{text}");
    assert!(text.contains("\"notice\":\"disk\""), "{text}");
}

struct Serving(Child, Vec<String>, String);

impl Drop for Serving {
    fn drop(&mut self) {
        let _over = self.0.kill();
        let _waited = self.0.wait();
    }
}

fn serve(desk: &Desk, reserve: &str) -> Serving {
    let config =
        desk.write("serve.toml", &format!("[serve]\ndatabase = \"league.db\"\nreserve_mb = {reserve}\n"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_renmei"))
        .args(["serve", config.to_str().unwrap(), "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut said = vec![];
    while !said.last().is_some_and(|line: &String| line.starts_with("listening on ")) {
        said.push(lines.next().unwrap().unwrap());
    }
    let address = said.last().unwrap().trim_start_matches("listening on ").to_owned();
    Serving(child, said, address)
}

#[test]
fn a_league_on_a_disk_that_is_nearly_full_refuses_games_and_says_why() {
    let desk = Desk::new();
    let host = serve(&desk, "1000000000");
    assert!(host.1.iter().any(|line| line.starts_with("the disk is nearly full: ")), "{:?}", host.1);
    let mut player = BufReader::new(TcpStream::connect(&host.2).unwrap());
    player.get_mut().set_read_timeout(Some(testing::PATIENCE)).unwrap();
    player.get_mut().write_all(b"LOGIN kuma x x1\n%%GAME t-600-10 +\n").unwrap();
    let mut line = String::new();
    while !line.starts_with("##[ERROR] ") {
        line.clear();
        assert!(player.read_line(&mut line).unwrap() > 0, "the connection ends");
    }
    assert_eq!(
        line,
        "##[ERROR] the disk of this host is nearly full: no new games begin until there is room\n"
    );
}

/// A match of four games of nine plies.
fn four_games(desk: &Desk) {
    let random = format!("cmd={}", program("renmei-random").display());
    let engines: [&[&str]; 2] = [&[&random, "name=a"], &[&random, "name=b"]];
    let played = desk.play(&engines, &["--games", "4", "--max-moves", "20", "--openings", "built-in"]);
    assert_eq!(played.code(), Some(0), "{}", played.text());
}

#[test]
fn prune_drops_the_moves_of_old_games_and_no_result_changes() {
    let desk = Desk::new();
    four_games(&desk);
    let report = || text(&desk.renmei(&["report", "event.db", "--json"]));
    let before = report();
    let dry = text(&desk.renmei(&["prune", "--db", "event.db", "--games", "1", "--dry-run"]));
    assert!(
        dry.contains("the lines of 3 games, about ") && dry.contains(" would be dropped from `"),
        "{dry}"
    );
    assert_eq!(desk.query("SELECT count(*) FROM games WHERE pruned_at > 0"), [["0"]]);
    let pruned = desk.renmei(&["prune", "--db", "event.db", "--games", "1"]);
    assert_eq!(pruned.status.code(), Some(0), "{}", text(&pruned));
    assert!(text(&pruned).contains("event.db is "), "{}", text(&pruned));
    assert_eq!(desk.query("SELECT DISTINCT number FROM games JOIN moves ON game = games.id"), [["4"]]);
    assert_eq!(report(), before);
    let exported = desk.renmei(&["export", "event.db", "-o", "games.csa"]);
    let left_out = "3 games left out, the moves were dropped, as those of old games: 1-3";
    assert!(text(&exported).contains(left_out), "{}", text(&exported));
    let page = desk.renmei(&["report", "event.db", "--html", "page.html"]);
    assert_eq!(page.status.code(), Some(0), "{}", text(&page));
    let none = desk.renmei(&["prune", "--db", "event.db"]);
    assert_eq!(none.status.code(), Some(2), "{}", text(&none));
}

#[test]
fn prune_leaves_an_event_alone_that_somebody_plays() {
    let desk = Desk::new();
    let host = serve(&desk, "0");
    let patience = Instant::now() + testing::PATIENCE;
    loop {
        let refused = desk.renmei(&["prune", "--db", "league.db", "--days", "1"]);
        if text(&refused).contains("event `league` is being run by ") {
            assert_eq!(refused.status.code(), Some(1));
            break;
        }
        assert!(Instant::now() < patience, "{}", text(&refused));
    }
    drop(host);
}

#[test]
fn a_client_does_not_log_in_for_a_game_while_the_disk_is_nearly_full() {
    let desk = Desk::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let config = format!(
        "[floodgate]\nhost = \"127.0.0.1\"\nport = {}\nlogin = \"kuma\"\npassword = \"t-600-10,x\"\n\
         reserve_mb = 1000000000\n[engine]\ncommand = {:?}\n",
        server.local_addr().unwrap().port(),
        program("renmei-random").display().to_string()
    );
    let config = desk.write("client.toml", &config);
    let mut child = Command::new(env!("CARGO_BIN_EXE_renmei"))
        .args(["floodgate", config.to_str().unwrap(), "--games", "1"])
        .current_dir(desk.dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line.contains("the disk is nearly full: ")));
    let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    let rest: Vec<String> = said.collect();
    assert_eq!(ended(&mut child).code(), Some(3), "{rest:?}");
    let nobody = server.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock, "nobody has connected");
}
