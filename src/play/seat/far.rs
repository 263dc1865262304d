//! Engines on other hosts: `ssh` is started in their place, and a shell on the far side becomes the engine.
//!
//! A second login asks what the engine is: the far side hashes its program and its files, and answers lines that begin with
//! `renmei-far`; others, such as those of a login script, are ignored. The far side is a stranger: the length of its answer, the
//! time for it and the form of each hash are checked.

#[cfg(test)]
mod tests;

use plan::EnginePlan;
use platform::programs::Group;
use std::{
    fmt::Write as _,
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
    process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    time::{Duration, Instant},
};

/// What lines of ours begin with.
const MARK: &str = "renmei-far ";
/// Time for the far side to hash its files. A network of 10 GB takes a minute from a slow disk.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// Most bytes of an answer.
const MOST_BYTES: u64 = 1 << 20;
/// Most files of a directory.
pub const MOST_FILES: usize = 1000;
/// Most cores that a host is believed to have.
const MOST_CORES: usize = 1024;
/// Times that a line is sent there and back; their median counts.
const ROUNDS: usize = 7;
/// Bytes that are kept of what `ssh` says on stderr.
const MOST_STDERR: usize = 4 << 10;
/// Time for `ssh` to say its last words after its end.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Seconds that an engine has to end after the end of its input, before the far side kills it.
const GRACE: u32 = 5;

/// Options of OpenSSH that come behind those of the user, which count before them: nothing is asked at a terminal, and a
/// host that cannot be reached, or any more, is noticed.
const OPTIONS: [&str; 6] = [
    "BatchMode=yes",
    "ConnectTimeout=15",
    "ServerAliveInterval=10",
    "ServerAliveCountMax=3",
    "LogLevel=ERROR",
    "ClearAllForwardings=yes",
];

/// A command for `ssh`, with our options if it is OpenSSH, up to the host. `None` if it names no program.
pub fn ssh(command: &[String]) -> Option<Vec<String>> {
    let mut words = command.to_vec();
    // Another program may not know them.
    if Path::new(words.first()?).file_stem().is_some_and(|name| name == "ssh") {
        words.push("-T".to_owned());
        OPTIONS.iter().for_each(|option| words.extend(["-o", option].map(str::to_owned)));
    }
    Some(words)
}

/// The command that starts an engine on its host; `None` for an engine of this machine.
///
/// Lines to the engine pass through a `cat` there: when the connection ends, for whatever reason, the host closes its input,
/// and an engine that is still there 5 s later is killed with all of its process group, which is the login's
/// own. The engine is no child of `cat` and answers past it.
pub fn start(engine: &EnginePlan) -> Option<Vec<String>> {
    let words = engine.args.iter().fold(String::new(), |words, word| words + " " + &quoted(word));
    let values = engine.environment.iter().map(|(name, value)| quoted(&format!("{name}={value}")));
    let values: Vec<_> = values.collect();
    let run = match &values[..] {
        [] => format!("\"$p\"{words}"),
        // `env` would take a program with a `=` in its path for a variable.
        values => format!("env {} sh -c 'exec \"$@\"' sh \"$p\"{words}", values.join(" ")),
    };
    // A shell that waits for a process killed by SIGPIPE prints nothing; where that signal is ignored, the other one ends it.
    let script = format!(
        "{}exec 3<&0\n\
         {{ sh -c 'printf \"%s\\n\" \"$PPID\"'; cat <&3 3<&- 2>/dev/null; exec </dev/null >/dev/null 2>&1 3<&-; \
         sleep {GRACE}; kill -9 0; }} | {{ read -r r; {run} 3<&-; s=$?; \
         {{ kill -s PIPE \"$r\"; kill -9 \"$r\"; }} 2>/dev/null; exit \"$s\"; }}",
        prelude(engine)
    );
    login(engine, &script)
}

fn login(engine: &EnginePlan, script: &str) -> Option<Vec<String>> {
    let host = engine.host.clone()?;
    let usual = ["ssh".to_owned()];
    let command = if engine.ssh_command.is_empty() { &usual[..] } else { &engine.ssh_command };
    let mut words = ssh(command)?;
    words.extend([host, transported(script)]);
    Some(words)
}

/// Finds the program, as `$p`, and goes to the directory of the engine.
fn prelude(engine: &EnginePlan) -> String {
    let directory = engine.directory.as_ref().map(|path| quoted(&path.to_string_lossy()));
    format!(
        "unset CDPATH; fail() {{ printf 'renmei: %s\\n' \"$*\" >&2; exit 127; }}\n\
         p={}; case \"$p\" in */*) d=\"${{p%/*}}\"; d=\"$(cd -- \"${{d:-/}}\" 2>/dev/null && pwd)\" || \
         fail \"there is no directory ${{p%/*}}\"; p=\"${{d%/}}/${{p##*/}}\";;\n\
         *) c=\"$(command -v -- \"$p\")\" || fail \"there is no program $p on the path\"; p=\"$c\";; esac\n\
         [ -f \"$p\" ] && [ -x \"$p\" ] || fail \"there is no program $p\"\n\
         cd -- {} || fail 'there is no such directory'\n",
        quoted(&engine.command.to_string_lossy()),
        directory.as_deref().unwrap_or("."),
    )
}

/// A word in single quotes for a POSIX shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A script as one line for the shell of a login, which may be any: all but plain characters travel as octal numbers, so
/// that no quote, blank or line break of a path meets that shell.
fn transported(script: &str) -> String {
    let mut encoded = String::new();
    for byte in script.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'=' => {
                encoded.push(byte.into());
            }
            _ => _ = write!(encoded, "\\0{byte:03o}"),
        }
    }
    format!("sh -c 'eval \"$(printf %b \"{encoded}\")\"'")
}

/// A value of an engine that may name a file or a directory on its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The path, relative to the directory of the engine.
    pub path: String,
    /// True if the configuration lists it. Otherwise directories that merely hold the engine, or that everybody may write
    /// into, are left out.
    pub is_listed: bool,
}

/// What the far side says of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Path of the program there.
    pub program: String,
    /// SHA-256 of the program in hexadecimal digits.
    pub sha256: String,
    /// Directory that the engine runs in.
    pub directory: String,
    /// Files that values name.
    pub files: Vec<FarFile>,
    /// Cores of the host; 1 if it does not know.
    pub cores: usize,
    /// Time that a line takes there and back: the median of several.
    pub round_trip: Duration,
}

/// A file on the far side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarFile {
    /// Number of the value that names the file, or lies above it.
    pub value: usize,
    /// Path: below the directory of the engine without it.
    pub path: String,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// Why there is no answer of the host of an engine.
#[derive(Debug, thiserror::Error)]
pub enum FarError {
    /// An engine of this machine.
    #[error("it has no host")]
    NoHost,
    /// `ssh`, or the command in its place.
    #[error("`{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// The login or the far side.
    #[error("host `{host}`: {fault}{}", .last_words.iter().map(|line| format!("\n  ! {line}")).collect::<String>())]
    Host {
        /// The host.
        host: String,
        /// What is wrong.
        fault: HostFault,
        /// The last lines of `ssh`.
        last_words: Vec<String>,
    },
}

/// What is wrong with the answer of a host.
#[derive(Debug, thiserror::Error)]
pub enum HostFault {
    /// A line that is no answer.
    #[error("malformed answer `{}`", notation::printable(.0.as_bytes()))]
    Malformed(String),
    /// The program is missing in the answer.
    #[error("no hash of the program")]
    NoHash,
    /// More bytes than any answer has.
    #[error("the answer is too long")]
    TooLong,
    /// Nothing came for this long.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Silent(Duration),
    /// The end of the login.
    #[error("the connection ended")]
    Ended,
    /// Nothing can be sent.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Asks the host of an engine what it is. Blocks for `patience` at most.
///
/// # Errors
/// Why there is no answer.
pub fn ask(engine: &EnginePlan, values: &[Value], patience: Duration) -> Result<Answer, FarError> {
    let script = question(engine, values);
    let words = login(engine, &script).ok_or(FarError::NoHost)?;
    let started = Call::start(&words, patience);
    let mut call = started.map_err(|source| FarError::Start { program: words[0].clone(), source })?;
    let answer = call.answer(values.len());
    answer.map_err(|fault| {
        let host = engine.host.clone().unwrap_or_default();
        FarError::Host { host, fault, last_words: call.last_words() }
    })
}

/// The script that answers `file NUMBER SHA256 PATH` for the program (number 0) and for each file of the values, `home PATH`,
/// `end`, and then a line for each that it reads.
fn question(engine: &EnginePlan, values: &[Value]) -> String {
    let mut script = prelude(engine);
    let _infallible = write!(
        script,
        "if command -v sha256sum >/dev/null 2>&1; then s() {{ sha256sum; }}; \
         elif command -v shasum >/dev/null 2>&1; then s() {{ shasum -a 256; }}; \
         else s() {{ openssl dgst -sha256 -r; }}; fi\n\
         say() {{ printf '{MARK}%s\\n' \"$*\"; }}\n\
         one() {{ h=\"$(s < \"$2\" | cut -c1-64)\"; say file \"$1\" \"$h\" \"$2\"; }}\n\
         all() {{ find -L \"$2\" -type f 2>/dev/null | head -n {} | while IFS= read -r f; do one \"$1\" \"$f\"; done; }}\n\
         at() {{ if [ -f \"$2\" ]; then one \"$1\" \"$2\"; elif [ -d \"$2\" ]; then \
         [ \"$3\" = listed ] && {{ all \"$1\" \"$2\"; return; }}\n\
         d=\"$(cd -- \"$2\" && pwd -P)\" || return 0; case \"$(pwd -P)/\" in \"${{d%/}}\"/*) return 0;; esac\n\
         [ -n \"$(find \"$d\" -prune -perm -0002)\" ] || all \"$1\" \"$2\"; fi; }}\n\
         say home \"$(pwd)\"; say cores \"$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)\"; one 0 \"$p\"\n",
        MOST_FILES + 1
    );
    for (at, value) in values.iter().enumerate() {
        let listed = if value.is_listed { " listed" } else { "" };
        let _infallible = writeln!(script, "at {} {}{listed}", at + 1, quoted(&value.path));
    }
    script + "say end; while read -r x; do say pong; done"
}

/// A login that answers.
struct Call {
    group: Group,
    input: ChildStdin,
    lines: Receiver<Result<String, HostFault>>,
    stderr: Receiver<Vec<u8>>,
    deadline: Instant,
    patience: Duration,
}

impl Call {
    fn start(words: &[String], patience: Duration) -> io::Result<Self> {
        let [program, arguments @ ..] = words else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::start(&mut command)?;
        let child = &mut group.child;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (to_lines, lines) = channel();
        let (to_stderr, stderr) = channel();
        std::thread::Builder::new().name("far".to_owned()).spawn(move || read_lines(output, &to_lines))?;
        std::thread::Builder::new().name("far".to_owned()).spawn(move || read_stderr(errors, &to_stderr))?;
        Ok(Self { group, input, lines, stderr, deadline: Instant::now() + patience, patience })
    }

    fn answer(&mut self, values: usize) -> Result<Answer, HostFault> {
        let mut answer = Answer::default();
        loop {
            let line = self.line()?;
            let malformed = || HostFault::Malformed(line.clone());
            match line.splitn(4, ' ').collect::<Vec<_>>()[..] {
                ["end"] => break,
                ["file", number, sha256, path] => {
                    let number = number.parse().ok().filter(|number| *number <= values);
                    let value = number.filter(|_| is_sha256(sha256)).ok_or_else(malformed)?;
                    answer.take(value, sha256, path);
                }
                ["cores", number] => answer.cores = number.parse().unwrap_or(1),
                _ => match line.strip_prefix("home ") {
                    Some(directory) => answer.directory = directory.to_owned(),
                    None => return Err(malformed()),
                },
            }
        }
        if answer.sha256.is_empty() {
            return Err(HostFault::NoHash);
        }
        answer.cores = answer.cores.clamp(1, MOST_CORES);
        answer.round_trip = self.round_trip()?;
        Ok(answer)
    }

    /// The next line of ours, without its mark.
    fn line(&mut self) -> Result<String, HostFault> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(Ok(line)) => match line.strip_prefix(MARK) {
                    Some(line) => return Ok(line.to_owned()),
                    None => continue,
                },
                Ok(Err(fault)) => return Err(fault),
                Err(RecvTimeoutError::Timeout) => return Err(HostFault::Silent(self.patience)),
                Err(RecvTimeoutError::Disconnected) => return Err(HostFault::Ended),
            }
        }
    }

    fn round_trip(&mut self) -> Result<Duration, HostFault> {
        let mut taken = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let since = Instant::now();
            self.input.write_all(b"\n")?;
            self.line()?;
            taken.push(since.elapsed());
        }
        taken.sort_unstable();
        Ok(taken[ROUNDS / 2])
    }

    /// The last lines of `ssh`, which ends.
    fn last_words(&mut self) -> Vec<String> {
        let said = self.stderr.recv_timeout(LAST_WORDS);
        self.group.end();
        let said = said.or_else(|_| self.stderr.recv_timeout(LAST_WORDS)).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<_> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(3)..].iter();
        last.map(|line| notation::printable(line.as_bytes())).collect()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.group.end();
    }
}

impl Answer {
    fn take(&mut self, value: usize, sha256: &str, path: &str) {
        let Some(value) = value.checked_sub(1) else {
            (self.program, self.sha256) = (path.to_owned(), sha256.to_owned());
            return;
        };
        let below = path.strip_prefix(&self.directory).and_then(|path| path.strip_prefix('/'));
        let path = below.unwrap_or(path).trim_start_matches("./").to_owned();
        self.files.push(FarFile { value, path, sha256: sha256.to_owned() });
    }

    /// True if a value names a directory of more files than are hashed.
    pub fn is_beyond_count(&self, value: usize) -> bool {
        self.files.iter().filter(|file| file.value == value).count() > MOST_FILES
    }
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn read_lines(output: ChildStdout, lines: &Sender<Result<String, HostFault>>) {
    let mut output = BufReader::new(output.take(MOST_BYTES));
    let mut line = vec![];
    while let Ok(1..) = output.read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned();
        if lines.send(Ok(text)).is_err() {
            return;
        }
        line.clear();
    }
    if output.get_ref().limit() == 0 {
        let _call_ended = lines.send(Err(HostFault::TooLong));
    }
}

/// Keeps the end of what `ssh` says.
fn read_stderr(mut errors: ChildStderr, said: &Sender<Vec<u8>>) {
    let (mut last, mut chunk) = (vec![], [0; 1024]);
    while let Ok(bytes @ 1..) = errors.read(&mut chunk) {
        last.extend_from_slice(&chunk[..bytes]);
        last.drain(..last.len().saturating_sub(MOST_STDERR));
    }
    let _call_ended = said.send(last);
}

/// How an engine that is started by `ssh` as its `command` is written with `host`; `None` for other programs. Its identity
/// would be that of `ssh`.
pub fn hint(engine: &EnginePlan) -> Option<String> {
    let program = engine.command.file_stem()?.to_str()?;
    if engine.host.is_some() || !["ssh", "plink"].contains(&program) {
        return None;
    }
    let words: Vec<_> = engine.args.iter().flat_map(|word| word.split_whitespace()).collect();
    let example = match words[..] {
        [host, command, ..] if !host.starts_with('-') && !command.starts_with('-') => {
            format!("`host = {host:?}` and `command = {command:?}`")
        }
        _ => "`host = \"HOST\"` and `command = \"PROGRAM\"`, with options of ssh in `ssh_command`".to_owned(),
    };
    Some(format!(
        "`{program}` is hashed in place of the engine that it starts, so that another build there goes unnoticed; write \
         {example}"
    ))
}
