//! A machine that the operator drops.

use super::*;

const AWAY: &str = "SELECT count(*) FROM leases WHERE committed_at IS NULL";
const DROP: [&str; 5] = ["admin", "--reason", "its fan died", "event.db", "drop"];

#[test]
fn a_machine_that_is_dropped_hears_why_and_stays_away_after_a_restart_and_its_games_are_played_again() {
    if !is_server_here() {
        return;
    }
    let (desk, all) = (Desk::new(), 12);
    event(&desk, all, "");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let own = ["--hub", &format!("127.0.0.1:{port}"), "--slots", "0"];
    let mut first = manages(&desk, &own);
    let line = line(&desk);
    let mut ann = joins(&desk, "ann", &line);
    until("it has played", || count(&desk, COUNTED) >= 2);
    hold(&desk);
    until("it has more", || count(&desk, AWAY) >= 1);
    let unknown = desk.renmei(&["admin", "--reason", "x", "event.db", "drop", "nobody"]);
    assert_eq!(unknown.status.code(), Some(1));
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(said.contains("no machine `nobody` has a part in this event"), "{said}");
    let dropped = desk.renmei(&[&DROP[..], &["ann"]].concat());
    let said = String::from_utf8_lossy(&dropped.stdout).into_owned();
    assert_eq!(dropped.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&dropped.stderr));
    assert!(said.contains("`ann` gets no more games") && said.contains("played again, 0 not"), "{said}");
    assert_eq!(ann.code(), Some(5), "{}", log(&desk, "ann.log"));
    let why = "the operator has dropped this machine: its fan died";
    assert!(log(&desk, "ann.log").lines().any(|line| line.contains(why)), "{}", log(&desk, "ann.log"));
    until("its key is no key", || log(&desk, "manager.log").contains("`ann` opens the door no more"));
    assert_eq!(count(&desk, COUNTED), 0, "nothing of it counts");
    let leases = given_to(&desk, "ann");
    first.kill();
    let mut second = manages(&desk, &own);
    let mut again = joins(&desk, "ann", &line);
    assert_eq!(again.code(), Some(5), "{}", log(&desk, "ann.log"));
    assert!(
        log(&desk, "ann.log").contains("`ann` was sent away by the operator"),
        "{}",
        log(&desk, "ann.log")
    );
    release(&desk);
    let mut bob = joins(&desk, "bob", &line);
    assert_eq!(second.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(bob.code(), Some(0), "{}", log(&desk, "bob.log"));
    assert_eq!(given_to(&desk, "ann"), leases, "it was given nothing more");
    assert_eq!(desk.query("SELECT DISTINCT machine FROM games WHERE state = 'counted'"), [["bob"]]);
    assert_eq!(count(&desk, COUNTED), all);
}

#[test]
fn a_machine_dropped_by_mistake_joins_again_once_it_is_readmitted_also_after_a_restart() {
    if !is_server_here() {
        return;
    }
    let (desk, all) = (Desk::new(), 12);
    event(&desk, all, "");
    hold(&desk);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let own = ["--hub", &format!("127.0.0.1:{port}"), "--slots", "0"];
    let mut first = manages(&desk, &own);
    let line = line(&desk);
    let mut ann = joins(&desk, "ann", &line);
    until("it has pairs", || given_to(&desk, "ann") >= 2);
    let admin =
        |words: &[&str]| desk.renmei(&[&["admin", "--reason", "a mistake", "event.db"], words].concat());
    let early = admin(&["readmit", "ann"]);
    let said = String::from_utf8_lossy(&early.stderr).into_owned();
    assert_eq!(early.status.code(), Some(1), "{said}");
    assert!(said.contains("no machine `ann` is dropped"), "{said}");
    assert!(admin(&["drop", "ann"]).status.success());
    assert_eq!(ann.code(), Some(5), "{}", log(&desk, "ann.log"));
    until("its key is no key", || log(&desk, "manager.log").contains("`ann` opens the door no more"));
    let undone = admin(&["undo", "1"]);
    let said = String::from_utf8_lossy(&undone.stderr).into_owned();
    assert!(said.contains("`readmit ann` lets the machine join again"), "{said}");
    let listed = String::from_utf8_lossy(&admin(&["list"]).stdout).into_owned();
    assert!(listed.contains("dropped ann by ") && listed.contains("(operation 1): a mistake"), "{listed}");
    let readmitted = admin(&["readmit", "ann"]);
    let said = String::from_utf8_lossy(&readmitted.stdout).into_owned();
    assert_eq!(readmitted.status.code(), Some(0), "{}", String::from_utf8_lossy(&readmitted.stderr));
    assert!(said.contains("readmitted the machine `ann`, which may join again (operation 2)"), "{said}");
    until("its key is one again", || log(&desk, "manager.log").contains("`ann` opens the door again"));
    let listed = String::from_utf8_lossy(&admin(&["list"]).stdout).into_owned();
    assert!(!listed.contains("dropped"), "{listed}");
    let before = given_to(&desk, "ann");
    let mut again = joins(&desk, "ann", &line);
    until("it has pairs again", || given_to(&desk, "ann") > before);
    first.kill();
    let mut second = manages(&desk, &own);
    release(&desk);
    assert_eq!(second.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(again.code(), Some(0), "{}", log(&desk, "ann.log"));
    assert_eq!(desk.query("SELECT DISTINCT machine FROM games WHERE state = 'counted'"), [["ann"]]);
    assert_eq!(desk.query("SELECT action FROM operations"), [["machine-dropped"], ["machine-readmitted"]]);
    as_alone(&desk, all, "");
}

/// A sequential test that is far from any verdict, of short games.
fn test_event(desk: &Desk, games: usize) {
    let test = format!("format = \"sprt\"\n[sprt]\nelo0 = -1\nelo1 = 1\nmax_games = {games}\n");
    let text = std::fs::read_to_string(event(desk, 0, &test)).unwrap();
    let text = text.replace("games = 0\n", "").replace("max_moves = 30", "max_moves = 10");
    desk.write("event.toml", &text.replace("ThinkTime = 5", "ThinkTime = 1"));
}

#[test]
fn a_sequential_test_goes_on_with_one_of_two_machines_when_the_other_is_dropped_with_all_that_it_has_played()
{
    if !is_server_here() {
        return;
    }
    let (desk, all) = (Desk::new(), 110);
    test_event(&desk, all);
    let mut manager = manages(&desk, &OWN);
    let line = line(&desk);
    let mut ann = joins(&desk, "ann", &line);
    let mut bob = joins(&desk, "bob", &line);
    // More than a test may be ahead of the first pair that is not complete.
    until("both have played much", || count(&desk, COUNTED) >= 70);
    hold(&desk);
    let dropped = desk.renmei(&[&DROP[..], &["ann"]].concat());
    let said = String::from_utf8_lossy(&dropped.stdout).into_owned();
    assert!(dropped.status.success() && said.contains(" of it played again, 0 not"), "{said}");
    let listed = desk.renmei(&["admin", "event.db", "list"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let is_bob = |line: &&str| line.starts_with("machine bob ") && line.contains("here, 2 slots, ");
    assert!(listed.lines().any(|line| is_bob(&line)), "{listed}");
    release(&desk);
    assert_eq!(ann.code(), Some(5), "{}", log(&desk, "ann.log"));
    assert!(matches!(manager.code(), Some(0 | 10..=12)), "{}", log(&desk, "manager.log"));
    assert_eq!(bob.code(), Some(0), "{}", log(&desk, "bob.log"));
    assert_eq!(count(&desk, "SELECT count(DISTINCT index_) FROM games WHERE state = 'counted'"), all);
    assert_eq!(desk.query("SELECT DISTINCT machine FROM games WHERE state = 'counted'"), [["bob"]]);
}

#[test]
fn a_machine_that_was_dropped_does_not_come_back_with_an_empty_directory_before_it_is_readmitted() {
    if !is_server_here() {
        return;
    }
    let desk = Desk::new();
    event(&desk, 12, "");
    hold(&desk);
    let mut manager = manages(&desk, &OWN);
    let line = line(&desk);
    let mut ann = joins(&desk, "ann", &line);
    until("it has pairs", || given_to(&desk, "ann") >= 2);
    assert!(desk.renmei(&[&DROP[..], &["ann"]].concat()).status.success());
    assert_eq!(ann.code(), Some(5), "{}", log(&desk, "ann.log"));
    until("its key is no key", || log(&desk, "manager.log").contains("`ann` opens the door no more"));
    std::fs::remove_dir_all(desk.path("ann")).unwrap();
    let mut again = joins(&desk, "ann", &line);
    assert_eq!(again.code(), Some(5), "{}", log(&desk, "ann.log"));
    let said = log(&desk, "ann.log");
    assert!(said.contains("does not come back by a new key") && said.contains("readmit ann"), "{said}");
    assert!(desk.renmei(&["admin", "event.db", "readmit", "ann"]).status.success());
    let mut again = joins(&desk, "ann", &line);
    release(&desk);
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(again.code(), Some(0), "{}", log(&desk, "ann.log"));
    assert_eq!(desk.query("SELECT DISTINCT machine FROM games WHERE state = 'counted'"), [["ann-2"]]);
}
