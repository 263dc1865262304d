use super::*;
use crate::recording::Recording;
use std::{fs, sync::Mutex};
use tokio::time::{Duration, Instant};

/// Pieces, and faults in words.
#[derive(Debug, Default)]
struct Kept(Mutex<Vec<TranscriptPiece>>, Mutex<Vec<String>>);

impl Sink for Kept {
    fn happened(&self, entry: Entry) {
        let Entry::Fault { player: None, text } = entry else { panic!("{entry:?}") };
        self.1.lock().unwrap().push(text);
    }

    fn keep(&self, record: SideRecord) {
        let SideRecord::Transcript(piece) = record else { panic!("{record:?}") };
        self.0.lock().unwrap().push(piece);
    }
}

/// A recording of a process in its first game.
fn begun(now: Instant) -> Recording {
    let mut recording = Recording::new(false);
    recording.process_started();
    recording.announce(GameId(1), Color::White);
    for line in ["usi", "isready", "usinewgame"] {
        recording.push(Direction::Sent, line.as_bytes(), now);
    }
    recording
}

fn kept(complete: Complete) -> Vec<TranscriptPiece> {
    let sink = Arc::new(Kept::default());
    let spec =
        RecorderSpec { event: "e".to_owned(), directory: None, sink: sink.clone(), say: Arc::new(|_| ()) };
    let recorded = Recorded::start(spec).unwrap();
    recorded.handle().complete(&"it".into(), complete);
    recorded.finish();
    std::mem::take(&mut sink.0.lock().unwrap())
}

fn lines(pieces: &[TranscriptPiece]) -> Vec<(Direction, Vec<u8>)> {
    pieces.iter().flat_map(TranscriptPiece::lines).map(|line| (line.way, line.bytes)).collect()
}

#[test]
fn the_start_of_a_process_belongs_to_each_of_its_games() {
    let now = Instant::now();
    let mut recording = begun(now);
    recording.push(Direction::Received, b"bestmove 7g7f", now + Duration::from_micros(1500));
    recording.announce(GameId(2), Color::Black);
    let first = kept(recording.complete(true).unwrap());
    recording.begin_next();
    recording.push(Direction::Sent, b"isready", now + Duration::from_secs(1));
    recording.push(Direction::Stderr, b"a\xff word", now + Duration::from_secs(2));
    let second = kept(recording.complete(true).unwrap());
    let start =
        [(Direction::Sent, &b"usi"[..]), (Direction::Sent, b"isready"), (Direction::Sent, b"usinewgame")];
    let text = |more: &[(Direction, &[u8])]| {
        [&start, more].concat().into_iter().map(|(way, line)| (way, line.to_vec())).collect::<Vec<_>>()
    };
    assert_eq!(lines(&first), text(&[(Direction::Received, b"bestmove 7g7f")]));
    assert_eq!(lines(&second), text(&[(Direction::Sent, b"isready"), (Direction::Stderr, b"a\xff word")]));
    assert_eq!((first[0].game, first[0].color, second[0].game), (GameId(1), Color::White, GameId(2)));
    assert!(recording.complete(true).is_none());
}

#[test]
fn of_a_long_game_the_first_and_the_last_lines_are_kept_and_the_gap_is_told() {
    let now = Instant::now();
    let mut recording = begun(now);
    for number in 0..40_000 {
        let line = format!("info string {number} and a hundred more bytes {}", "x".repeat(100));
        recording.push(Direction::Received, line.as_bytes(), now + Duration::from_micros(number));
    }
    let pieces = kept(recording.complete(true).unwrap());
    let size: usize = pieces.iter().map(|piece| piece.lines.len()).sum();
    assert!((500_000..1_000_000).contains(&size), "{size}");
    let lines = lines(&pieces);
    assert_eq!(lines[0].1, b"usi");
    assert!(lines[3].1.starts_with(b"info string 0 "));
    assert!(lines.last().unwrap().1.starts_with(b"info string 39999 "));
    let gap = lines.iter().position(|(way, _)| *way == Direction::Remark).unwrap();
    let left_out: usize = str::from_utf8(&lines[gap].1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert_eq!(left_out + lines.len() - 4, 40_000, "every line is there or counted");
    assert_eq!(lines.iter().filter(|(way, _)| *way == Direction::Remark).count(), 1);
}

#[test]
fn a_game_that_is_not_kept_leaves_nothing() {
    let mut recording = begun(Instant::now());
    let complete = recording.complete(false).unwrap();
    assert!(complete.recorded.is_none() && complete.fresh.is_none());
}

#[test]
fn a_file_has_day_time_seconds_and_marks_and_no_terminal_codes() {
    let directory = std::env::temp_dir().join(format!("renmei-recorder-{}", std::process::id()));
    let sink = Arc::new(Kept::default());
    let spec = RecorderSpec {
        event: "e/v".to_owned(),
        directory: Some(directory.clone()),
        sink,
        say: Arc::new(|line| panic!("{line}")),
    };
    let recorded = Recorded::start(spec).unwrap();
    let mut recording = Recording::new(true);
    recording.process_started();
    recording.announce(GameId(7), Color::Black);
    let now = Instant::now();
    recording.push(Direction::Sent, b"usi", now);
    recording.push(Direction::Received, b"\x1b[2Jhello", now + Duration::from_micros(2_000_001));
    let (game, color, block) = recording.fresh(now + Duration::from_secs(3)).unwrap();
    recorded.handle().lines(game, color, &"it".into(), block);
    recording.push(Direction::Stderr, b"bye", now + Duration::from_secs(4));
    assert!(recording.fresh(now + Duration::from_millis(4100)).is_none(), "lines wait for company");
    recorded.handle().complete(&"it".into(), recording.complete(false).unwrap());
    recorded.finish();
    let text = std::fs::read_to_string(directory.join("e_v-000007-black-it.log")).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("# game 7, black: it "), "{text}");
    assert!(lines[1].ends_with("    0.000000 > usi"), "{text}");
    assert!(lines[2].ends_with("    2.000001 < \\u{1b}[2Jhello"), "{text}");
    assert!(lines[3].ends_with("    4.000000 ! bye"), "{text}");
}

#[test]
fn the_files_of_an_event_follow_its_name_and_those_of_others_stay() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let put = |event: &str| fs::write(path(place, event, GameId(7), Color::Black, "it"), event).unwrap();
    ["e/v", "e/v-2", "e/v.2"].into_iter().for_each(put);
    rename(place, "e/v", "e/v.1").unwrap();
    rename(&place.join("nowhere"), "e/v", "e/v.1").unwrap();
    let mut names: Vec<_> =
        fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(
        names,
        ["e_v.1-000007-black-it.log", "e_v.2-000007-black-it.log", "e_v_2-000007-black-it.log"]
    );
}

#[test]
fn a_database_that_has_enough_takes_no_more_and_says_so_once() {
    let sink = Arc::new(Kept::default());
    let spec =
        RecorderSpec { event: "e".to_owned(), directory: None, sink: sink.clone(), say: Arc::new(|_| ()) };
    let (lost, files) = (Arc::default(), HashMap::new());
    let mut keeper = Keeper { spec, lost, files, kept: MAX_KEPT - 200, full: false };
    for _ in 0..3 {
        let game = begun(Instant::now()).complete(true).unwrap().recorded.unwrap();
        keeper.keep(GameId(1), Color::Black, &game);
    }
    assert_eq!(sink.0.lock().unwrap().len(), 2, "what fits is kept");
    let said = sink.1.lock().unwrap();
    assert!(said.len() == 1 && said[0].contains("256 MiB"), "{said:?}");
}

#[test]
fn a_full_disk_ends_the_log_and_says_so() {
    let said = Arc::new(Mutex::new(vec![]));
    let told = said.clone();
    let spec = RecorderSpec {
        event: "e".to_owned(),
        directory: Some(PathBuf::from("/nowhere")),
        sink: Arc::new(Kept::default()),
        say: Arc::new(move |line: &str| told.lock().unwrap().push(line.to_owned())),
    };
    let full = File::options().write(true).open("/dev/full").unwrap();
    let log = Log { file: BufWriter::new(full), first: None };
    let files = HashMap::from([((GameId(1), Color::Black), log)]);
    let mut keeper = Keeper { spec, lost: Arc::default(), files, kept: 0, full: false };
    for game in [1, 2] {
        let mut recording = Recording::new(true);
        recording.process_started();
        recording.announce(GameId(game), Color::Black);
        recording.push(Direction::Sent, b"usi", Instant::now());
        let block = recording.fresh(Instant::now() + Duration::from_secs(9)).unwrap().2;
        keeper.write(GameId(game), Color::Black, "bad", &block, false);
    }
    let said = said.lock().unwrap();
    assert_eq!(said.len(), 1, "no further file is begun: {said:?}");
    assert!(said[0].contains("No space left on device") && said[0].contains("the games go on"), "{said:?}");
}

#[test]
fn a_log_is_known_by_its_name_of_whatever_event_and_player() {
    let file = path(Path::new("d"), "cup-1", GameId(1_234_567), Color::White, "a-b");
    assert!(is_log(&file) && is_log(Path::new("e_v-000007-black-it.log")));
    for other in [
        "e-000007-black-it.txt",
        "e-00007-black-it.log",
        "e-00000a-black-it.log",
        "e-000007-grey-it.log",
        "black.log",
    ] {
        assert!(!is_log(Path::new(other)), "{other}");
    }
}

#[test]
fn lines_for_which_the_queue_has_no_room_are_counted_and_a_game_does_not_wait() {
    let (notes, inbox) = mpsc::sync_channel(1);
    let recorder = Recorder { notes, lost: Arc::default(), streams: true };
    assert!(recorder.streams());
    (0..3).for_each(|_| recorder.lines(GameId(1), Color::Black, &"it".into(), Block::default()));
    assert_eq!((recorder.lost.load(Ordering::Relaxed), inbox.try_iter().count()), (2, 1));
    let said = Arc::new(Mutex::new(vec![]));
    let told = said.clone();
    let spec = RecorderSpec {
        event: "e".to_owned(),
        directory: None,
        sink: Arc::new(Kept::default()),
        say: Arc::new(move |line: &str| told.lock().unwrap().push(line.to_owned())),
    };
    let keeper = Keeper { spec, lost: recorder.lost, files: HashMap::new(), kept: 0, full: false };
    let (notes, inbox) = mpsc::channel();
    for _ in 0..3 {
        let (game, color, block) = (GameId(1), Color::Black, Block::default());
        notes.send(Note::Lines { game, color, name: "it".into(), block }).unwrap();
    }
    notes.send(Note::Finish).unwrap();
    keeper.run(&inbox);
    assert_eq!(
        *said.lock().unwrap(),
        ["the disk is too slow for the log: lines of engines are left out of it"]
    );
}
