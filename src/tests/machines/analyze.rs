//! Records searched on several machines, which a real sshd on loopback and a program in the place of `ssh` stand for.

use super::{
    ssh::{Sshd, user_at},
    *,
};
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::Output,
};

/// An engine that notes each search, in `far` if it came over ssh, and waits while there is a file `hold-here` or `hold-far`.
fn engine(path: &Path, mark: &str) {
    let at = path.parent().unwrap().display().to_string();
    let text = format!(
        "#!/bin/sh\n# {mark}\nat=\"{at}\"; place=here; [ -n \"$SSH_CONNECTION\" ] && place=far\nwhile read -r line; do\n\
         case \"$line\" in go*) echo go >>\"$at/$place\"; while [ -e \"$at/hold-$place\" ]; do sleep 0.1; done;; esac\n\
         echo \"$line\"\ndone | {}\n",
        program("renmei-random").display()
    );
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

const RECORDS: &str =
    "startpos moves 7g7f 3c3d 2g2f 8c8d 2f2e 8d8e\nstartpos moves 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b\n";
/// Their positions.
const POSITIONS: usize = 14;

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The searches that were begun in a place.
fn begun(engine: &Path, place: &str) -> usize {
    fs::read_to_string(engine.with_file_name(place)).unwrap_or_default().lines().count()
}

fn analyze(desk: &Desk, engine: &Path, nodes: &str, more: &[&str]) -> Command {
    desk.write("games.usi", RECORDS);
    let engine = engine.display().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    let words = ["analyze", "games.usi", "--engine", &engine, "--nodes", nodes, "--jobs", "1", "-o", "out"];
    command.current_dir(desk.dir.path()).args(words).args(more);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Every position has an opinion in the records.
fn whole(desk: &Desk) -> bool {
    let record = |name: &str| fs::read_to_string(desk.path(&format!("out/{name}.kifu"))).unwrap_or_default();
    let opinions = |name: &str| record(name).matches("*engine: ").count();
    opinions("games") + opinions("games-2") == POSITIONS
}

#[test]
fn another_machine_takes_its_share_and_one_that_dies_costs_its_running_searches_alone() {
    let Some(mut sshd) = Sshd::start() else { return };
    let (desk, path) = (Desk::new(), sshd.dir.path().join("far/it's one/engine"));
    engine(&path, "1");
    let (host, command) = (user_at("127.0.0.1"), sshd.command_at(sshd.port).join(" "));
    let far = format!("{host}=2");
    let more = ["--ssh", &far, "--ssh-command", &command];
    // This machine does nothing before the other one has done four positions.
    let [here, there] = ["hold-here", "hold-far"].map(|name| path.with_file_name(name));
    fs::write(&here, "").unwrap();
    let child = analyze(&desk, &path, "10", &more).spawn().unwrap();
    until("the other machine searches", || begun(&path, "far") >= 4);
    fs::remove_file(&here).unwrap();
    let done = child.wait_with_output().unwrap();
    let said = text(&done);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(whole(&desk), "{said}");
    assert!(said.contains(&format!("machine `{host}`: 2 at once")), "{said}");
    assert!(!said.contains(&format!(" 0 on `{host}`")) && said.contains("searched here, "), "{said}");
    // The other one holds two positions, and dies.
    [&here, &there].iter().for_each(|hold| fs::write(hold, "").unwrap());
    let before = begun(&path, "far");
    let child = analyze(&desk, &path, "20", &more).spawn().unwrap();
    until("the other machine has two positions", || begun(&path, "far") == before + 2);
    sshd.dies_and_comes_back();
    fs::remove_file(&here).unwrap();
    let done = child.wait_with_output().unwrap();
    let said = text(&done);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(whole(&desk), "{said}");
    assert!(said.contains(&format!("machine `{host}`: engine `engine` failed: ")), "{said}");
    assert!(said.contains("; others do what it had"), "{said}");
    assert!(said.contains(&format!("{POSITIONS} positions searched here, 0 on `{host}`")), "{said}");
    // What another machine has searched is not searched again.
    let before = ["here", "far"].map(|place| begun(&path, place));
    let done = analyze(&desk, &path, "10", &[]).output().unwrap();
    assert!(
        done.status.success() && ["here", "far"].map(|place| begun(&path, place)) == before,
        "{}",
        text(&done)
    );
}

#[test]
fn a_machine_with_another_build_or_without_one_takes_no_part_and_is_named() {
    let (desk, home) = (Desk::new(), tempfile::tempdir().unwrap());
    let instead =
        desk.write("as-ssh", &format!("#!/bin/sh\ncd '{}'\nexec sh -c \"$2\"\n", home.path().display()));
    fs::set_permissions(&instead, fs::Permissions::from_mode(0o755)).unwrap();
    let instead = instead.display().to_string();
    let path = Path::new("new/engine");
    engine(&desk.path("new/engine"), "1");
    let search = |nodes: &str, more: &[&str]| {
        let far = ["--ssh", "box=1", "--ssh-command", &instead];
        // This machine has done nothing when the other one has said why.
        let hold = desk.write("new/hold-here", "");
        let mut child = analyze(&desk, path, nodes, &[&far[..], more].concat()).spawn().unwrap();
        let (mut lines, mut said) = (BufReader::new(child.stderr.take().unwrap()), String::new());
        while !said.contains("takes no part") && lines.read_line(&mut said).unwrap() > 0 {}
        fs::remove_file(hold).unwrap();
        lines.read_to_string(&mut said).unwrap();
        assert!(crate::support::ended(&mut child).success() && whole(&desk), "{said}");
        assert!(said.contains(&format!("{POSITIONS} positions searched here, 0 on `box`")), "{said}");
        said
    };
    assert!(search("10", &[]).contains("machine `box` takes no part: "));
    engine(&home.path().join("new/engine"), "2");
    let said = search("11", &[]);
    assert!(
        said.contains("takes no part: engine `engine`: `") && said.contains("is another build ("),
        "{said}"
    );
    fs::copy(desk.path("new/engine"), home.path().join("new/engine")).unwrap();
    let net = ["--option", "Eval=nn.bin"];
    desk.write("new/nn.bin", "one");
    let said = search("12", &net);
    assert!(said.contains("its file `nn.bin` is not there"), "{said}");
    fs::write(home.path().join("new/nn.bin"), "two").unwrap();
    let said = search("13", &net);
    assert!(said.contains("its file `nn.bin` is another one ("), "{said}");
}

#[test]
fn a_host_that_is_none_is_refused() {
    let desk = Desk::new();
    for (hosts, why) in [
        ("-oProxyCommand=reboot", "is not a host"),
        ("box=0", "`0` is not a number from 1 to 1024"),
        ("box=many", "`many` is not a number"),
        ("box,box=2", "--ssh names `box` twice"),
    ] {
        let words = [&format!("--ssh={hosts}")[..]];
        let done = analyze(&desk, &program("renmei-random"), "10", &words).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{hosts}");
        assert!(text(&done).contains(why), "{hosts}: {}", text(&done));
    }
}
