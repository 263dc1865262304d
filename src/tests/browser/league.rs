//! Leagues to look at: one that is over, and one whose games stand still in the middle.

use crate::{
    driver::wait_for,
    site::Site,
    support::{Desk, program},
};
use std::{
    io::Write,
    process::{Child, Command, Stdio},
};

/// Password of the arbiter `kai`.
pub const PASSWORD: &str = "a-long-password";

/// A tournament that is over, with everything that pages show of one: evaluations, rounds, a final, failures.
pub fn finished() -> (Desk, Site) {
    let desk = Desk::new();
    let [pairwise, random, puppet] = engines();
    let engines: String = [
        ("歩の夜明け", &pairwise, "time = \"nodes 400\""),
        ("pairwise 200", &pairwise, "time = \"nodes 200\""),
        ("銀のさざなみ改二・特別参加", &pairwise, "time = \"nodes 60\""),
        ("greedy", &random, "options = { Style = \"greedy\", Seed = 2 }"),
        ("a name without a blank_that_is_as_long_as_names_become", &random, "options = { Seed = 4 }"),
        ("fragile", &puppet, "options = { Mode = \"nifu\", Ply = 31 }"),
    ]
    .iter()
    .map(|(name, program, more)| format!("[[engines]]\nname = \"{name}\"\ncommand = \"{program}\"\n{more}\n"))
    .collect();
    let stages = "[[stage]]\nformat = \"swiss\"\nrounds = 3\ngames = 2\n[[stage]]\nformat = \"knock-out\"\nentrants = 2\ngames = 2\ntie = \"higher-seed\"\n";
    let head = "[event]\nname = \"第一回連盟杯 First Renmei Cup\"\ndatabase = \"event.db\"\n";
    desk.write(
        "cup.toml",
        &format!("{head}{stages}[rules]\nmax_moves = 120\n[time]\nmain = \"300s\"\n{engines}"),
    );
    let played = desk.renmei(&["run", "cup.toml", "--no-dashboard", "--oversubscribe"]);
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    let site = Site::of(&desk, None);
    (desk, site)
}

/// An event that is played: some games are over, and in four a player thinks and thinks. `kai` is its arbiter.
pub fn running() -> (Desk, Site) {
    let desk = Desk::new();
    let [pairwise, random, puppet] = engines();
    arbiter(&desk);
    let thinker = |name: &str, ply: u32| {
        format!(
            "[[engines]]\nname = \"{name}\"\ncommand = \"{puppet}\"\noptions = {{ Mode = \"hang\", Ply = {ply}, Seed = {ply} }}\n"
        )
    };
    let thinkers: String = [("長考", 18), ("ponderer", 14), ("mori-7", 22), ("kawa-12", 26)]
        .iter()
        .map(|(name, ply)| thinker(name, *ply))
        .collect();
    let text = format!(
        "[event]\nname = \"Friday league\"\nformat = \"gauntlet\"\ngames = 2\ndatabase = \"event.db\"\nlook = false\nconcurrency = 4\n\
         [http]\nlisten = [\"127.0.0.1:0\"]\n[rules]\nmax_moves = 160\n[time]\nmain = \"3600s\"\n\
         [[engines]]\nname = \"pairwise\"\ncommand = \"{pairwise}\"\ntime = \"nodes 400\"\n\
         [[engines]]\nname = \"greedy\"\ncommand = \"{random}\"\n{thinkers}"
    );
    desk.write("league.toml", &text);
    let site = Site::start(&desk, &["run", "league.toml", "--no-dashboard", "--oversubscribe"]);
    site.ready();
    (desk, site)
}

/// An event that is played on two machines, with a short game after the other on each.
pub struct OnMachines {
    // In the order in which they end.
    _worker: Ended,
    pub site: Site,
    _desk: Desk,
}

/// A program that ends with the value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _over_already = self.0.kill();
        let _over = self.0.wait();
    }
}

/// Begins an event on two machines; ready when both have played.
pub fn on_machines() -> OnMachines {
    let desk = Desk::new();
    arbiter(&desk);
    let quiet = Stdio::null;
    let random = program("renmei-random").display().to_string();
    let engine = |name: &str, seed: u32| {
        format!(
            "[[engines]]\nname = \"{name}\"\ncommand = \"{random}\"\noptions = {{ ThinkTime = 40, Seed = {seed} }}\n"
        )
    };
    let text = format!(
        "[event]\nname = \"two machines\"\ndatabase = \"event.db\"\ngames = 100000\nlook = false\noversubscribe = true\n\
         [http]\nlisten = [\"127.0.0.1:0\"]\n[rules]\nmax_moves = 40\n[time]\nmain = \"600s\"\n{}{}",
        engine("alpha", 1),
        engine("beta", 2)
    );
    desk.write("event.toml", &text);
    let args = ["run", "event.toml", "--no-dashboard", "--slots", "1", "--hub", "127.0.0.1:0"];
    let site = Site::start(&desk, &args);
    wait_for("the line to join with", || desk.path("event.db-hub/line").exists());
    let mut worker = Command::new(env!("CARGO_BIN_EXE_renmei"));
    worker.current_dir(desk.dir.path()).args(["worker", "--join-file", "event.db-hub/line", "--name", "ann"]);
    worker.args(["--slots", "1", "--oversubscribe", "--state", "ann"]).stdin(quiet());
    let worker = Ended(worker.stdout(quiet()).stderr(quiet()).spawn().unwrap());
    let here = "SELECT count(DISTINCT coalesce(machine, '')) FROM games WHERE ended_at IS NOT NULL";
    wait_for("both machines have played", || desk.try_query(here).is_some_and(|rows| rows[0][0] == "2"));
    OnMachines { _worker: worker, site, _desk: desk }
}

fn engines() -> [String; 3] {
    ["renmei-pairwise", "renmei-random", "renmei-puppet"].map(|name| program(name).display().to_string())
}

/// Makes the account of the arbiter.
pub fn arbiter(desk: &Desk) {
    let mut add = Command::new(env!("CARGO_BIN_EXE_renmei"));
    add.current_dir(desk.dir.path())
        .args(["account", "web", "add", "kai", "--role", "arbiter", "--db", "event.db"]);
    let mut add = add.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    add.stdin.take().unwrap().write_all(format!("{PASSWORD}\n").as_bytes()).unwrap();
    assert!(add.wait().unwrap().success());
}
