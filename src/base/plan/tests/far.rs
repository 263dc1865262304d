//! Engines on other hosts.

use super::World;
use crate::{Fingerprint, Plan};

fn world() -> World {
    World::new(&["alpha"])
}

fn text(keys: &str) -> String {
    format!("time = \"1s\"\n[[engines]]\ncommand = \"alpha\"\n[[engines]]\nname = \"far\"\n{keys}")
}

fn plan(keys: &str) -> Plan {
    world().plan(&text(keys))
}

#[test]
fn paths_of_an_engine_on_a_host_are_those_of_the_host() {
    let host = |keys: &str| plan(&format!("host = \"ann@box\"\n{keys}")).engines.pop().unwrap();
    let paths = |keys: &str| {
        let engine = host(keys);
        (engine.command.display().to_string(), engine.directory.map(|path| path.display().to_string()))
    };
    let beside = |path: &str, directory: &str| (path.to_owned(), Some(directory.to_owned()));
    assert_eq!(paths("command = \"/opt/e/run\""), beside("/opt/e/run", "/opt/e"));
    assert_eq!(paths("command = \"~/e/run\""), beside("e/run", "e"));
    assert_eq!(paths("command = \"run\""), ("run".to_owned(), None));
    assert_eq!(paths("command = \"e/run\"\ndirectory = \"~/nets\""), beside("e/run", "nets"));
    let engine =
        host("command = \"run\"\nssh_command = [\"ssh\", \"-p\", \"22\"]\noptions = { Threads = 8 }");
    assert_eq!(
        (engine.cores, engine.ssh_command.len()),
        (0.0, 3),
        "its threads are not those of this machine"
    );
}

#[test]
fn an_engine_that_moves_to_another_host_is_another_one() {
    let world = world();
    let of = |host: &str| {
        let plan = world.plan(&text(&format!("host = \"{host}\"\ncommand = \"/e\"")));
        Fingerprint::of(&plan).unwrap()
    };
    assert_eq!(of("a").changes_to(&of("b")), ["engines[far].host was a, is b"]);
    assert!(of("a").changes_to(&of("a")).is_empty());
}

#[test]
fn what_an_engine_on_a_host_cannot_have_is_told() {
    let faults = |keys: &str| world().faults(&text(keys));
    for (keys, fault) in [
        (
            "host = \"-oProxyCommand=reboot\"\ncommand = \"e\"",
            "engines[1].host: `-oProxyCommand=reboot` is not a host",
        ),
        ("host = \"a b\"\ncommand = \"e\"", "engines[1].host: `a b` is not a host"),
        ("host = \"\"\ncommand = \"e\"", "engines[1].host: names a host that is empty or too long"),
        ("host = \"box\"", "engines[1].command: is missing"),
        ("host = \"box\"\ncommand = \" \"", "engines[1].command: is no program"),
        ("host = \"box\"\ncommand = \"e\"\nsandbox = \"strict\"", "engines[1].sandbox: has no meaning"),
        ("host = \"box\"\ncommand = \"e\"\nssh_command = []", "engines[1].ssh_command: is empty"),
        (
            "command = \"alpha\"\nssh_command = [\"ssh\"]",
            "engines[1].ssh_command: has no meaning without `host`",
        ),
        ("remote = true\nhost = \"box\"", "engines[1].host: has no meaning for a `remote` player"),
    ] {
        assert!(faults(keys).contains(fault), "{keys}: {}", faults(keys));
    }
}
