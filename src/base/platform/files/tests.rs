use super::*;
use nix::sys::stat::Mode;
use std::{
    fs::OpenOptions,
    io::Write,
    os::{
        fd::AsRawFd,
        unix::fs::{OpenOptionsExt, PermissionsExt, symlink},
    },
    path::PathBuf,
    sync::mpsc,
    thread,
    time::Duration,
};

#[test]
fn no_planted_link_redirects_a_write() {
    let directory = tempfile::tempdir().unwrap();
    let (target, link) = (directory.path().join("victim"), directory.path().join("link"));
    fs::write(&target, "precious").unwrap();
    symlink(&target, &link).unwrap();
    for refused in [create(&link), open(&link), read(&link)] {
        let told = refused.unwrap_err().to_string();
        assert_eq!(told, "it is a symbolic link, which is not followed here; remove it");
    }
    assert!(create_new(&link).is_err() && refuse_link(&link).is_err());
    assert_eq!(refuse_link(directory.path()).unwrap_err().to_string(), "is a directory");
    let hard = directory.path().join("hard");
    fs::hard_link(&target, &hard).unwrap();
    assert!(create(&hard).unwrap_err().to_string().contains("hard link"));
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
}

#[test]
fn a_fifo_holds_nothing_up() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    nix::unistd::mkfifo(&fifo, Mode::from_bits_truncate(0o600)).unwrap();
    for refused in [create(&fifo), read(&fifo)] {
        assert_eq!(refused.unwrap_err().to_string(), "it is not a regular file, and is not used");
    }
}

#[test]
fn a_file_below_a_directory_is_written_through_no_link() {
    let directory = tempfile::tempdir().unwrap();
    let (root, elsewhere) = (directory.path().join("records"), directory.path().join("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    let write = |path: &str| write_below(&root, Path::new(path), b"record", Access::Private);
    write("2026/11/22/a.csa").unwrap();
    assert_eq!(fs::read(root.join("2026/11/22/a.csa")).unwrap(), b"record");
    symlink(&elsewhere, root.join("2027")).unwrap();
    assert!(write("2027/01/01/a.csa").unwrap_err().to_string().contains("symbolic link"));
    symlink(elsewhere.join("b.csa"), root.join("2026/11/22/b.csa")).unwrap();
    symlink(elsewhere.join("c"), root.join("2026/11/22/.c.csa.tmp")).unwrap();
    write("2026/11/22/b.csa").unwrap();
    write("2026/11/22/c.csa").unwrap();
    assert!(write("../a.csa").is_err());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "nothing was written there");
    let mode = |path: &str| fs::metadata(root.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("2026"), mode("2026/11/22/b.csa")), (0o700, 0o600));
    write_below(&root, Path::new("2028/a.csa"), b"record", Access::Everybody).unwrap();
    assert_eq!((mode("2028"), mode("2028/a.csa")), (0o755, 0o644));
}

/// The answer of a call that waits for nobody.
fn at_once<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, answer) = mpsc::channel();
    thread::spawn(move || sender.send(call()));
    answer.recv_timeout(Duration::from_secs(60)).expect("it waits for somebody")
}

/// A directory with a pipe that nobody has open.
fn with_pipe() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let pipe = place.path().join("pipe");
    nix::unistd::mkfifo(&pipe, Mode::from_bits_truncate(0o600)).unwrap();
    (place, pipe)
}

#[test]
fn what_a_configuration_names_is_a_regular_file_within_a_bound_or_refused_at_once() {
    let (place, pipe) = with_pipe();
    let path = |name: &str| place.path().join(name);
    let refused = |path: PathBuf| at_once(move || contents(&path, 5)).unwrap_err().to_string();
    symlink(&pipe, path("link")).unwrap();
    for endless in [pipe.clone(), path("link"), "/dev/zero".into(), "/dev/full".into(), "/dev/null".into()] {
        assert_eq!(refused(endless), "it is a pipe or a device; name a regular file");
    }
    assert_eq!(refused(place.path().to_owned()), "is a directory");
    fs::write(path("five"), "moves").unwrap();
    symlink(path("five"), path("linked")).unwrap();
    assert_eq!(contents(&path("linked"), 5).unwrap(), b"moves");
    assert_eq!(contents(&path("none"), 5).unwrap_err().kind(), io::ErrorKind::NotFound);
    symlink(path("none"), path("dangling")).unwrap();
    let dangling = contents(&path("dangling"), 5).unwrap_err();
    assert_eq!(dangling.to_string(), "it is a link to a file that is not there");
    assert_eq!(dangling.kind(), io::ErrorKind::NotFound);
    let large = fs::File::create(path("large")).unwrap();
    large.set_len(SMALL).unwrap();
    assert_eq!(contents(&path("large"), SMALL).unwrap().len() as u64, SMALL);
    large.set_len(SMALL + 1).unwrap();
    assert_eq!(contents(&path("large"), SMALL).unwrap_err().to_string(), "it is larger than 1 MB");
}

#[test]
fn what_is_typed_may_be_a_pipe_that_somebody_writes_or_reads_and_nobody_is_waited_for() {
    let (_place, pipe) = with_pipe();
    let read = |path: PathBuf| at_once(move || typed_contents(&path, SMALL));
    let why = read(pipe.clone()).unwrap_err().to_string();
    assert_eq!(why, "nothing came out of it; start first what writes into a pipe");
    for endless in ["/dev/zero", "/dev/random"] {
        assert_eq!(read(endless.into()).unwrap_err().to_string(), "it is a device; name a file or a pipe");
    }
    // As a shell names what a program writes, which is slower than its reader.
    let (reader, mut writer) = io::pipe().unwrap();
    thread::spawn(move || writer.write_all(&vec![b'x'; SMALL as usize]).unwrap());
    let named = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
    assert_eq!(read(named).unwrap().len() as u64, SMALL);
    let write = |path: PathBuf| {
        let created =
            at_once(move || (create_shared(&path, "a page", |_| false), append(&path, "events", |_| false)));
        (created.0.map_err(|why| why.to_string()), created.1.map_err(|why| why.to_string()))
    };
    let (page, events) = write(pipe.clone());
    assert_eq!(page.unwrap_err(), "it is a pipe that nobody reads, or a socket");
    assert_eq!(events.unwrap_err(), "it is a pipe that nobody reads, or a socket");
    let mut reader = OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(&pipe).unwrap();
    let (page, events) = write(pipe);
    [page, events].into_iter().for_each(|pipe| pipe.unwrap().write_all(b"line").unwrap());
    let mut lines = [0; 8];
    reader.read_exact(&mut lines).unwrap();
    assert_eq!(&lines, b"lineline");
}

#[test]
fn only_what_a_file_holds_already_is_appended_to_it() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let append = |name: &str| append(&path(name), "events", |head| head.starts_with(b"{"));
    for (name, before) in [("new", None), ("empty", Some("")), ("own", Some("{}\n"))] {
        before.into_iter().for_each(|text| fs::write(path(name), text).unwrap());
        append(name).unwrap().write_all(b"{}\n").unwrap();
        let expected = before.unwrap_or_default().to_owned() + "{}\n";
        assert_eq!(fs::read_to_string(path(name)).unwrap(), expected);
    }
    fs::write(path("cup.conf"), "[event]").unwrap();
    let refused = append("cup.conf").unwrap_err().to_string();
    assert_eq!(refused, "it holds something else than events; give the file another name");
    assert_eq!(fs::read_to_string(path("cup.conf")).unwrap(), "[event]");
}
