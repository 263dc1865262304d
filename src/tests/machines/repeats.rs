//! Pairs that are played again by another machine, and compared.

use super::*;

/// An engine that waits as long as there is a file `hold-` and the name of its machine, and that plays other moves on the
/// machine `odd`.
fn engine(desk: &Desk) -> PathBuf {
    let random = program("renmei-random").display().to_string();
    let script = format!(
        "#!/bin/sh\nhold=${{0%/*}}/hold-$BOX\nwhile read -r line; do\n  case \"$BOX $line\" in\n  \
         *' go'*) while [ -e \"$hold\" ]; do sleep 0.1; done;;\n  \
         'odd setoption name Seed value '*) line='setoption name Seed value 99';;\n  esac\n  echo \"$line\"\ndone | {random}\n"
    );
    let path = desk.write("engine.sh", &script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// An event of engines that always play the same, as their nodes are limited and each game starts them anew.
fn steady_event(desk: &Desk, games: usize) {
    let file = event(desk, games, "");
    let text = std::fs::read_to_string(&file).unwrap();
    let (old, new) = (desk.path("patient.sh").display().to_string(), engine(desk).display().to_string());
    std::fs::write(file, text.replace(&old, &new).replace("time = \"600s\"", "time = \"nodes 100\""))
        .unwrap();
}

fn on(desk: &Desk, name: &str, args: &[&str]) -> Running {
    let log = File::options().create(true).append(true).open(desk.path(&format!("{name}.log"))).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args(args).stdin(Stdio::null()).env("BOX", name);
    command.stdout(log.try_clone().unwrap()).stderr(log);
    Running(command.spawn().unwrap())
}

/// The event, played by the manager and two machines, of which every pair is played again if there is time. The manager's
/// own pair ends last, so that there is.
fn play_with(desk: &Desk, games: usize, machines: [&str; 2], compared: usize) {
    let Some(hub) = Hub::start() else { return };
    steady_event(desk, games);
    desk.write("hold-manager", "");
    let address = hub.address();
    let args = ["run", "event.toml", "--no-dashboard", "--hub", &address, "--slots", "1", "--repeat", "1"];
    let mut manager = on(desk, "manager", &args);
    let line = line(desk);
    let join = |name: &str| {
        let state = desk.path(name).display().to_string();
        let args = ["worker", &line, "--name", name, "--slots", "1", "--oversubscribe", "--state", &state];
        on(desk, name, &args)
    };
    let mut workers = machines.map(join);
    until("pairs were compared", || count(desk, "SELECT count(*) FROM repeats") >= compared);
    std::fs::remove_file(desk.path("hold-manager")).unwrap();
    assert_eq!(manager.code(), Some(0), "{}", log(desk, "manager.log"));
    assert_eq!(workers.each_mut().map(Running::code), [Some(0), Some(0)]);
    assert_eq!(count(desk, COUNTED), games);
    let places = "SELECT count(DISTINCT index_) FROM games WHERE state = 'counted'";
    assert_eq!(count(desk, places), games, "no game counts twice");
    assert_eq!(desk.query("SELECT count(*), count(DISTINCT number) FROM games")[0][0], games.to_string());
    assert_eq!(desk.renmei(&["verify", "event.db"]).status.code(), Some(0));
}

/// What a report says of the machines, as JSON and as a text.
fn reports(desk: &Desk) -> (serde_json::Value, String) {
    let json = desk.renmei(&["report", "event.db", "--json"]);
    let text = desk.renmei(&["report", "event.db"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    (json["machines"].clone(), String::from_utf8_lossy(&text.stdout).into_owned())
}

const AGAIN: &str = "SELECT text FROM faults WHERE text LIKE '%played again here%'";

#[test]
fn pairs_that_another_machine_has_played_again_as_they_were_are_counted_in_the_report_and_nothing_is_told() {
    if !is_server_here() {
        return;
    }
    let desk = Desk::new();
    play_with(&desk, 12, ["ann", "bob"], 3);
    assert_eq!(desk.query(AGAIN), Vec::<Vec<String>>::new());
    let kept = desk.query("SELECT DISTINCT machine IN ('ann', 'bob'), again IN ('ann', 'bob'), machine <> again, difference FROM repeats");
    assert_eq!(kept, [["1", "1", "1", ""]]);
    let rows = count(&desk, "SELECT count(*) FROM repeats");
    let (machines, text) = reports(&desk);
    for machine in &machines.as_array().unwrap()[1..] {
        assert_eq!((&machine["repeated"], &machine["differed"]), (&rows.into(), &0.into()), "{machines}");
    }
    assert_eq!((&machines[0]["name"], &machines[0]["repeated"]), (&serde_json::Value::Null, &0.into()));
    assert!(text.contains("played twice"), "{text}");
    assert!(!text.contains("were not the same"), "{text}");
    as_alone(&desk, 12, "");
}

#[test]
fn a_machine_whose_engine_plays_other_moves_is_found_by_a_pair_that_another_has_played_and_nothing_counts_twice()
 {
    if !is_server_here() {
        return;
    }
    let desk = Desk::new();
    play_with(&desk, 12, ["ann", "odd"], 2);
    let told = desk.query(AGAIN);
    assert!(!told.is_empty(), "{}", log(&desk, "manager.log"));
    for text in told.iter().map(|row| &row[0]) {
        let names_both = text.starts_with("machine `odd`: ")
            && text.contains("that machine `ann` has played")
            || text.starts_with("machine `ann`: ") && text.contains("that machine `odd` has played");
        assert!(names_both, "{text}");
    }
    assert!(count(&desk, "SELECT count(*) FROM repeats WHERE difference LIKE 'place %: move %'") >= 2);
    let (machines, text) = reports(&desk);
    let differed = |name: &str| {
        let row = machines.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
        row["differed"].as_u64().unwrap()
    };
    assert!(differed("ann") >= 2 && differed("ann") == differed("odd"), "{machines}");
    assert!(text.contains("pairs that both odd and another machine have played were not the same"), "{text}");
    let page = desk.path("page.html").display().to_string();
    assert!(desk.renmei(&["report", "event.db", "--html", &page]).status.success());
    assert!(std::fs::read_to_string(&page).unwrap().contains("played twice"));
}

#[test]
fn pairs_of_engines_with_clocks_are_not_played_again_and_who_wishes_it_is_told_why() {
    let desk = Desk::new();
    event(&desk, 4, "");
    let output = desk.renmei(&["run", "event.toml", "--hub", "127.0.0.1:0", "--repeat", "10"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--repeat: the games of this event need not be the same"), "{said}");
    let alone = desk.renmei(&["run", "event.toml", "--repeat", "10"]);
    assert_eq!(alone.status.code(), Some(2), "there is no other machine");
}
