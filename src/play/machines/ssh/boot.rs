//! From a login on a host to a worker there: a shell takes the program, unless it has it, and starts it.
//!
//! The shell is sent as one argument, as the standard input is for the program and for frames. It and the worker say lines
//! that begin with [`MARK`]; others, such as those of a login script, are ignored as far as there are few.

use super::{SshOptions, reader::Reader};
use crate::frame::{FrameFault, VERSION};
use hub::Sha256Sum;
use std::{env, fs::File, path::PathBuf, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::OnceCell,
    time::timeout,
};

/// What lines of ours begin with.
pub const MARK: &str = "renmei-ssh ";
/// Most lines before a frame.
const MOST_LINES: usize = 200;
/// Time for a piece of the program to be taken.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of the program that are written at once.
const PIECE: usize = 64 << 10;

/// The program that is sent to hosts.
pub(super) struct Program {
    /// `None`: this one.
    path: Option<PathBuf>,
    found: OnceCell<Found>,
}

/// A program as it was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    path: PathBuf,
    sha256: String,
    bytes: u64,
}

/// Why there is no worker.
#[derive(Debug, thiserror::Error)]
pub(super) enum BootFault {
    /// The far side, or the way to it.
    #[error("{0}")]
    Frame(#[from] FrameFault),
    /// The far side, in words of ours.
    #[error("{0}")]
    Far(String),
    /// The program cannot be sent.
    #[error("the program `{}` cannot be sent: {why}", path.display())]
    Program { path: PathBuf, why: std::io::Error },
}

impl Program {
    pub fn new(path: Option<PathBuf>) -> Self {
        Self { path, found: OnceCell::new() }
    }

    /// Finds the program, once.
    pub async fn find(&self) -> Result<&Found, BootFault> {
        let own = || env::current_exe().unwrap_or_else(|_| PathBuf::from("renmei"));
        let path = self.path.clone().unwrap_or_else(own);
        let failed = |why| BootFault::Program { path: path.clone(), why };
        let looked = path.clone();
        let look = move || {
            let mut file = File::open(&looked)?;
            let bytes = file.metadata()?.len();
            Ok(Found { sha256: Sha256Sum::of_all(&mut file)?.to_string(), path: looked, bytes })
        };
        let found = self.found.get_or_try_init(|| async {
            tokio::task::spawn_blocking(look).await.map_err(std::io::Error::other)?
        });
        found.await.map_err(failed)
    }

    /// Why the program does not run on a system, as far as its names say it.
    fn refuse(&self, system: &str, machine: &str) -> Option<String> {
        let os = match system {
            "Linux" => "linux",
            "Darwin" => "macos",
            "FreeBSD" => "freebsd",
            other => other,
        };
        let arch = match machine {
            "arm64" => "aarch64",
            "amd64" => "x86_64",
            other => other,
        };
        let runs = os == env::consts::OS && arch == env::consts::ARCH;
        (self.path.is_none() && !runs).then(|| {
            format!(
                "it is {system} on {machine}, and this renmei is for {} on {}: name one for it by `ssh_program` in \
                 `[machines]`",
                env::consts::OS,
                env::consts::ARCH
            )
        })
    }
}

/// The name of the directory of a worker on its host.
pub(super) fn directory(options: &SshOptions, worker: &hub::WorkerId) -> String {
    format!("{}/{}{worker}", options.directory.as_deref().unwrap_or("$HOME"), crate::work::FAR_DIRECTORY)
}

/// The shell that takes the program and starts a worker. It says `have` or `need SYSTEM MACHINE`; after `need` it reads as
/// many bytes as the program has, and says `sent` or `failed WHY`. It has no single quote, as it is sent in them, and no
/// exclamation mark, which some shells replace also there.
pub(super) fn shell(directory: &str, program: &Found) -> String {
    let Found { sha256, bytes, .. } = program;
    format!(
        "sh -c 'umask 077; d=\"{directory}\"; b=\"$d/renmei-{sha256}\"; say() {{ echo \"{MARK}$*\"; }}; \
         fail() {{ rm -f \"$b.part\"; rmdir \"$d\" 2>/dev/null; say failed \"$*\"; exit 1; }}; \
         [ -L \"$d\" ] && fail \"$d\" is a link; mkdir -p \"$d\" && [ -O \"$d\" ] && chmod 700 \"$d\" || fail cannot use \"$d\"; \
         sum() {{ {{ sha256sum \"$b\" || shasum -a 256 \"$b\" || openssl dgst -sha256 -r \"$b\"; }} 2>/dev/null | cut -c1-64; }}; \
         if [ \"$(sum)\" = {sha256} ]; then say have; else say need \"$(uname -s)\" \"$(uname -m)\"; rm -f \"$d\"/renmei-*; \
         head -c {bytes} > \"$b.part\" && [ \"$(($(wc -c < \"$b.part\")))\" = {bytes} ] && chmod 700 \"$b.part\" && \
         mv \"$b.part\" \"$b\" || fail no room in \"$d\", or the program was cut off; say sent; fi; \
         exec \"$b\" worker --stdio --state \"$d\"'"
    )
}

/// The shell that removes the directory of a worker.
pub(super) fn sweep(directory: &str) -> String {
    format!("sh -c 'rm -rf \"{directory}\"'")
}

/// Talks with that shell until its worker speaks frames.
///
/// # Errors
/// Why there is none.
pub(super) async fn boot(
    input: &mut (impl AsyncWrite + Unpin),
    output: &mut Reader<impl AsyncRead + Unpin>,
    program: &Program,
    found: &Found,
    say: impl Fn(String),
) -> Result<(), BootFault> {
    let mut is_sent = false;
    for _ in 0..MOST_LINES {
        let line = output.line().await?;
        let Some(word) = line.strip_prefix(MARK) else { continue };
        match word.split(' ').collect::<Vec<_>>()[..] {
            ["have" | "sent"] => {}
            ["need", system, machine] => {
                if let Some(why) = program.refuse(system, machine) {
                    return Err(BootFault::Far(why));
                }
                if std::mem::replace(&mut is_sent, true) {
                    return Err(BootFault::Far("it asks for the program twice".to_owned()));
                }
                say(format!("sending renmei, {} MB", found.bytes.div_ceil(1 << 20)));
                send(input, found).await?;
            }
            ["failed", ..] => return Err(BootFault::Far(word.to_owned())),
            ["worker", version] if version == VERSION.to_string() => return Ok(()),
            ["worker", version] => {
                let why =
                    format!("its worker speaks version {version} of the frames, and this manager {VERSION}");
                return Err(BootFault::Far(why));
            }
            _ => return Err(BootFault::Far("it says something else than a worker".to_owned())),
        }
    }
    Err(BootFault::Far(format!("it says more than {MOST_LINES} lines, and no worker is there")))
}

/// Sends the program.
async fn send(input: &mut (impl AsyncWrite + Unpin), found: &Found) -> Result<(), BootFault> {
    let unreadable = |why| BootFault::Program { path: found.path.clone(), why };
    let file = tokio::fs::File::open(&found.path).await.map_err(unreadable)?;
    let mut source = file.take(found.bytes);
    let mut piece = vec![0; PIECE];
    loop {
        let count = source.read(&mut piece).await.map_err(unreadable)?;
        if count == 0 {
            return Ok(());
        }
        let written = timeout(PATIENCE, input.write_all(&piece[..count])).await;
        written.map_err(|_| BootFault::Far("it takes no more bytes".to_owned()))?.map_err(FrameFault::Io)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn found() -> (Program, Found) {
        let found = Found { path: "/bin/true".into(), sha256: "ab".repeat(32), bytes: 7 };
        (Program::new(None), found)
    }

    async fn hears(lines: &[u8]) -> Result<(), BootFault> {
        let (program, found) = found();
        let mut output = Reader::new(lines, PATIENCE);
        boot(&mut tokio::io::sink(), &mut output, &program, &found, |_| ()).await
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_the_workers_directory_leaves_what_it_leads_to_as_it_is() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let place = tempfile::tempdir().unwrap();
        let (own, link) = (place.path().join("own"), place.path().join("link"));
        std::fs::create_dir(&own).unwrap();
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755)).unwrap();
        symlink(&own, &link).unwrap();
        let text = shell(&link.display().to_string(), &found().1);
        let done = std::process::Command::new("sh").args(["-c", &text]).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(said.contains("failed") && said.contains("is a link"), "{said}");
        assert_eq!(std::fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[tokio::test]
    async fn a_worker_is_there_after_its_line_whatever_a_login_script_says_before() {
        hears(b"Last login: today\n\nrenmei-ssh have\nrenmei-ssh worker 1\n").await.unwrap();
        let ended = hears(b"renmei-ssh have\n").await.unwrap_err().to_string();
        assert_eq!(ended, "the connection ended");
    }

    #[tokio::test]
    async fn another_version_or_another_system_or_endless_lines_are_refused_in_a_sentence() {
        let version = hears(b"renmei-ssh have\nrenmei-ssh worker 99\n").await.unwrap_err().to_string();
        assert!(version.contains("version 99 of the frames, and this manager 1"), "{version}");
        let system = hears(b"renmei-ssh need Plan9 mips\n").await.unwrap_err().to_string();
        assert!(system.contains("Plan9 on mips") && system.contains("ssh_program"), "{system}");
        let lines = hears("hello\n".repeat(1000).as_bytes()).await.unwrap_err().to_string();
        assert!(lines.contains("more than 200 lines"), "{lines}");
        let failed = hears(b"renmei-ssh failed cannot use /root\n").await.unwrap_err().to_string();
        assert_eq!(failed, "failed cannot use /root");
        assert!(hears(b"renmei-ssh worker\n").await.is_err());
    }

    #[test]
    fn the_shell_stands_in_one_pair_of_single_quotes_on_one_line() {
        let shell = shell("$HOME/.renmei-ssh-0", &found().1);
        assert_eq!(shell.matches('\'').count(), 2, "{shell}");
        assert!(!shell.contains(['\n', '!', '\\', '`']), "{shell}");
    }
}
