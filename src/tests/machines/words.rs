//! What a machine's look has found reaches its manager.

use super::*;

#[test]
fn what_an_engine_computes_on_elsewhere_is_said_to_the_manager_once_and_is_the_last_word_of_the_machine() {
    let Some(hub) = Hub::start() else { return };
    let desk = Desk::new();
    let file = event(&desk, 12, "");
    let random = program("renmei-random").display().to_string();
    let script = format!(
        "#!/bin/sh\nexec 4>&1\nwhile read -r line; do\n  case \"$line\" in isready) echo \"info string device $BOX\" >&4;; \
         esac\n  echo \"$line\"\ndone | {random}\n"
    );
    let path = desk.write("device.sh", &script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let old = desk.path("patient.sh").display().to_string();
    std::fs::write(
        &file,
        text.replace(&old, &path.display().to_string())
            .replace("look = false\n", "")
            .replace("600s", "nodes 100"),
    )
    .unwrap();
    let mut first = manager(&desk, &hub, "0");
    let line = line(&desk);
    until("it is paused", || desk.renmei(&["admin", "event.db", "pause"]).status.success());
    let join = || {
        let log = File::options().create(true).append(true).open(desk.path("ann.log")).unwrap();
        let state = desk.path("ann").display().to_string();
        let args = ["worker", &line, "--name", "ann", "--slots", "2", "--oversubscribe", "--state", &state];
        let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
        command.current_dir(desk.dir.path()).args(args).stdin(Stdio::null()).env("BOX", "the slow CPU");
        command.stdout(log.try_clone().unwrap()).stderr(log);
        Running(command.spawn().unwrap())
    };
    let word = "engine `b` computes on the slow CPU";
    let is_last_word = || {
        let sql =
            format!("SELECT count(*) FROM machines WHERE name = 'ann' AND faults = 0 AND word = '{word}'");
        count(&desk, &sql) == 1
    };
    // A machine that the manager answers late greets it again, so it may be here more often than it has begun.
    let arrivals = || log(&desk, "manager.log").matches("machine `ann` is here").count();
    let comes = |before: usize| {
        let mut ann = join();
        until("it is here, and this is its last word", || {
            assert!(ann.0.try_wait().unwrap().is_none(), "the worker has ended");
            arrivals() > before && is_last_word()
        });
        ann
    };
    comes(0).kill();
    let mut ann = comes(arrivals());
    let said = log(&desk, "manager.log");
    assert_eq!(said.matches(&format!("machine `ann`: {word}")).count(), 1, "{said}");
    // A manager that starts again has not heard it.
    first.kill();
    let mut second = manager(&desk, &hub, "0");
    let twice = || log(&desk, "manager.log").matches(&format!("machine `ann`: {word}")).count() == 2;
    until("the next manager hears it, too", twice);
    assert!(desk.renmei(&["admin", "event.db", "resume"]).status.success());
    assert_eq!(second.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(ann.code(), Some(0), "{}", log(&desk, "ann.log"));
    assert_eq!(count(&desk, "SELECT count(*) FROM faults WHERE text LIKE '%computes on%'"), 0);
}
