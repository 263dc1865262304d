//! Hosts that are broken or hostile: a shell in place of `ssh` says whatever a stranger could.

use super::*;
use crate::{
    desk::{MachineDesk, tests::event_in},
    frame::HEAD,
    manager::tests::{fixture, hello},
    messages::{Answer, Beat, Hello, Holding},
};
use arena::{
    desk::{DeskNote, RemoteDesk},
    note::Note,
};
use journal::{Journal, now};
use referee::lease::LeaseId;
use std::{
    fs,
    path::Path,
    sync::mpsc::{Receiver, channel},
    thread,
    time::Instant,
};

/// Longer than anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// An event whose only machine is a stranger.
struct Besieged {
    desk: MachineDesk,
    _journal: Journal,
    notes: Receiver<Note>,
    said: Arc<Mutex<Vec<String>>>,
    directory: tempfile::TempDir,
}

impl Besieged {
    /// A stranger who sends these frames as a worker, and keeps what it is sent.
    fn by_frames(frames: &[Frame]) -> Self {
        let bytes: Vec<u8> = frames.iter().flat_map(Frame::bytes).collect();
        Self::by_bytes(&bytes)
    }

    fn by_bytes(bytes: &[u8]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("bytes"), bytes).unwrap();
        let script = format!(
            "cd {} || exit; echo renmei-ssh worker 1; echo >>connections; cat bytes; exec cat 3>&1 >heard",
            directory.path().display()
        );
        Self::in_directory(&script, directory)
    }

    /// A stranger who does what a shell is told.
    fn by(script: &str) -> Self {
        Self::in_directory(script, tempfile::tempdir().unwrap())
    }

    fn in_directory(script: &str, directory: tempfile::TempDir) -> Self {
        let (event, journal) = event_in(&directory.path().join("event.db"), EventId::random());
        let said = Arc::<Mutex<Vec<String>>>::default();
        let heard = said.clone();
        let say: Say = Arc::new(move |line: &str| heard.lock().push(line.to_owned()));
        let options = SshOptions {
            hosts: vec!["evil".to_owned()],
            command: ["sh", "-c", script, "ssh"].map(str::to_owned).to_vec(),
            program: Some("/bin/true".into()),
            directory: None,
            slots: None,
            oversubscribe: false,
            keep: Duration::ZERO,
        };
        let mut desk = MachineDesk::connect(event, say, async { Ok(None) }, Some(options)).unwrap();
        let (sender, notes) = channel();
        desk.open(sender, journal.sink()).unwrap();
        desk.begin().unwrap();
        Self { desk, _journal: journal, notes, said, directory }
    }

    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}: {:?}", self.said.lock());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn until_said(&self, words: &str) {
        self.until(words, || self.said.lock().iter().any(|line| line.contains(words)));
    }

    /// What the stranger was sent.
    fn heard(&self) -> Vec<u8> {
        fs::read(self.directory.path().join("heard")).unwrap_or_default()
    }

    fn until_heard(&self, text: &str) {
        let has = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        self.until(text, || has(&self.heard()));
    }
}

fn ready() -> Frame {
    Frame::json(Kind::Hello, 1, &Hello { name: "box2".to_owned(), ready: true, ..hello() }).unwrap()
}

#[test]
fn endless_bytes_without_a_newline_are_cut_off_and_told_once() {
    let besieged = Besieged::by("yes x | tr -d '\\n'");
    besieged.until_said("machine `evil`: a line has more than 4096 bytes; trying again in 1 s");
    thread::sleep(Duration::from_secs(4));
    assert_eq!(besieged.said.lock().len(), 1, "{:?}", besieged.said.lock());
}

#[test]
fn endless_lines_and_endless_complaints_are_cut_off() {
    Besieged::by("yes hello")
        .until_said("machine `evil`: it says more than 200 lines, and no worker is there");
    let besieged = Besieged::by("echo renmei-ssh worker 1; yes complaint >&2");
    besieged.until_said("complaint (further lines are left out)");
    thread::sleep(Duration::from_secs(1));
    let complaints = besieged.said.lock().iter().filter(|line| line.contains("complaint")).count();
    assert!(complaints < 100, "{complaints}");
}

#[test]
fn another_version_is_refused_in_a_sentence() {
    let besieged = Besieged::by("echo renmei-ssh worker 99; exec cat > /dev/null");
    besieged.until_said("machine `evil`: its worker speaks version 99 of the frames, and this manager 1");
}

#[test]
fn frames_that_are_too_long_or_none_end_the_connection() {
    let mut long = Frame::bare(Kind::Hello, 1).bytes();
    long[..4].copy_from_slice(&u32::MAX.to_be_bytes());
    Besieged::by_bytes(&long).until_said("a frame has 4294967295 bytes, more than");
    Besieged::by_bytes(&[0; HEAD]).until_said("a frame is of the unknown kind 0");
    let forged = Besieged::by_frames(&[ready(), Frame::bare(Kind::Job, 1)]);
    forged.until_said("a frame `Job` came from the wrong side");
}

#[test]
fn a_stranger_is_sent_the_program_once_in_a_connection() {
    let directory = tempfile::tempdir().unwrap();
    let script = format!(
        "cd {} || exit; echo >>connections; for try in 1 2 3; do echo renmei-ssh need Linux mips; done; \
         exec cat >>heard",
        directory.path().display()
    );
    let besieged = Besieged::in_directory(&script, directory);
    besieged.until_said("machine `evil`: it asks for the program twice");
    let program = usize::try_from(fs::metadata("/bin/true").unwrap().len()).unwrap();
    besieged.until("the program came", || !besieged.heard().is_empty());
    let heard = besieged.heard().len();
    let connections = fs::read(besieged.directory.path().join("connections")).unwrap().len();
    assert!(heard <= program * connections, "{heard} bytes in {connections} connections");
}

#[test]
fn requests_and_signs_of_life_without_end_and_those_that_are_too_long_end_the_connection() {
    let nothing = |number| Frame::fetch(number, hub::Sha256Sum::of(b"/etc/shadow"), 0);
    let fetches: Vec<_> = std::iter::once(ready()).chain((2..1000).map(nothing)).collect();
    Besieged::by_frames(&fetches).until_said("machine `evil`: it asks for files again and again");
    let signs: Vec<_> = (0..100_000).map(|number| Frame::bare(Kind::Ping, number)).collect();
    Besieged::by_frames(&signs).until_said("machine `evil`: it gives signs of life without end");
    let long = Frame { kind: Kind::Ping, number: 1, body: vec![0; 600_000] };
    Besieged::by_frames(&[long]).until_said("machine `evil`: a frame `Ping` has 600000 bytes, more than 0");
}

#[test]
fn a_stranger_has_the_name_of_its_host_and_answers_for_no_job_that_it_was_not_given() {
    let answer = Answer { lease: LeaseId(77), repeats: false, games: vec![] };
    let besieged = Besieged::by_frames(&[
        ready(),
        Frame::json(Kind::Result, 2, &answer).unwrap(),
        Frame { kind: Kind::Result, number: 3, body: b"[".to_vec() },
        Frame { kind: Kind::Beat, number: 4, body: b"{}".to_vec() },
        Frame::fetch(5, hub::Sha256Sum::of(b"/etc/shadow"), 0),
        Frame { kind: Kind::Fetch, number: 6, body: vec![] },
    ]);
    besieged.until_said("machine `evil`: it calls itself `box2`");
    besieged.until_heard("\"answer\":\"refused\"");
    besieged.until("two pieces are refused", || {
        let none = |number| Frame::bare(Kind::NoPiece, number).bytes();
        let has = |bytes: Vec<u8>| besieged.heard().windows(HEAD).any(|part| part == bytes);
        has(none(5)) && has(none(6))
    });
    let played = besieged.notes.try_iter().any(|note| matches!(note, Note::Desk(DeskNote::Played(_))));
    assert!(!played, "nothing of it counts");
}

#[test]
fn a_stranger_that_floods_is_dropped_and_its_door_closed_until_it_is_readmitted() {
    let holding = Holding { now: now(), held: (1..30_000).map(LeaseId).collect(), outbox: vec![] };
    let beat = Beat { epoch: 1, session: 1, lag: 0, holding };
    let mut frames = vec![ready()];
    frames.extend((0..60).map(|number| Frame::json(Kind::Beat, number, &beat).unwrap()));
    let mut besieged = Besieged::by_frames(&frames);
    besieged.until("it hinders the event", || {
        besieged
            .notes
            .try_iter()
            .any(|note| matches!(note, Note::Desk(DeskNote::Hinders(machine, _)) if machine == "evil"))
    });
    besieged.desk.bar("evil", "it floods");
    let bye = Frame::bare(Kind::Bye, 0).bytes();
    besieged.until("it is asked to end", || besieged.heard().ends_with(&bye));
    thread::sleep(link::GRACE + Duration::from_secs(3));
    let connections = fs::read(besieged.directory.path().join("connections")).unwrap().len();
    assert_eq!(connections, 1, "it is connected to no more");
    assert!(besieged.desk.give(vec![fixture(0), fixture(1)]).is_none(), "it gets nothing more");
}

#[test]
fn a_program_that_is_not_there_is_told_once() {
    let options = |command: &str| SshOptions {
        hosts: vec!["box2".to_owned()],
        command: vec![command.to_owned()],
        program: Some("/bin/true".into()),
        directory: None,
        slots: None,
        oversubscribe: false,
        keep: Duration::ZERO,
    };
    let start = |command| child::Child::start(&options(command), "box2", "true").map(drop);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    assert!(start("/nonexistent/ssh").is_err() && start("true").is_ok());
    assert!(!Path::new("/nonexistent/ssh").exists());
}
