use super::*;
use nix::sys::stat::Mode;
use std::os::unix::fs::{PermissionsExt, symlink};

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
