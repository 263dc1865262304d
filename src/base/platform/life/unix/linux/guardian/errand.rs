//! What a guardian is told, and what it tells.

use super::{super::core_set, usage::Usage};
use nix::{sched::sched_setaffinity, unistd::Pid};
use std::{
    ffi::{OsStr, OsString},
    io::{self, Read, Write},
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        process::ExitStatusExt,
    },
    path::PathBuf,
    process::ExitStatus,
};

/// Longest text of an errand, a bound for a program that is not ours.
const LONGEST: u32 = 16 * 1024 * 1024;

/// What a guardian has to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Errand {
    /// User of the engine, where this program is root and the engine shall not be.
    pub user: Option<u32>,
    /// Most memory that all processes of the engine may hold, in MiB; 0: any.
    pub memory: u64,
    /// Most threads of all its processes; 0: any number.
    pub threads: u64,
    /// Most files in the directories that it has for its own; 0: any number.
    pub files: u64,
    /// True if it has no variables of this program but those of the errand.
    pub own_environment: bool,
    /// The filter of system calls that the program is handed as `--seccomp`; empty: none.
    pub filter: Vec<u8>,
    /// Its control group, which it joins before the program is executed.
    pub group: Option<PathBuf>,
    /// Hardware threads that it may use; empty: those of this program.
    pub cores: Vec<usize>,
    /// Variables of this program that it does not get.
    pub hidden: Vec<OsString>,
    /// Its directory.
    pub directory: Option<PathBuf>,
    /// Its variables, beside those of this program or in place of them.
    pub environment: Vec<(OsString, OsString)>,
    /// The program and its arguments.
    pub arguments: Vec<OsString>,
}

impl Errand {
    /// Binds the calling thread, and what it starts, to the cores of the errand.
    pub fn take_cores(&self) -> io::Result<()> {
        if self.cores.is_empty() {
            return Ok(());
        }
        Ok(sched_setaffinity(Pid::from_raw(0), &core_set(&self.cores)?)?)
    }

    /// True if there is a limit to look after.
    pub fn is_limited(&self) -> bool {
        self.memory > 0 || self.threads > 0
    }

    /// What the engine has too much of.
    pub fn excess(&self, usage: &Usage) -> Option<News> {
        let is_over = |most: u64, used: u64| most > 0 && used > most;
        match () {
            () if is_over(self.threads, usage.threads) => Some(News::TooManyThreads),
            () if is_over(self.files, usage.files) => Some(News::TooManyFiles),
            () if is_over(self.memory * 1024, usage.kib) => Some(News::TooMuchMemory),
            () => None,
        }
    }

    /// The errand as bytes: numbers, then texts, each after its length.
    pub fn encoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let user = self.user.map_or(u64::MAX, u64::from);
        let lengths = [self.environment.len(), self.arguments.len(), self.hidden.len(), self.cores.len()];
        let numbers = [user, self.memory, self.threads, self.files, self.own_environment.into()];
        let counts = lengths.into_iter().chain(self.cores.iter().copied()).map(|count| count as u64);
        for number in numbers.into_iter().chain(counts) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let [group, directory] = [&self.group, &self.directory]
            .map(|path| path.as_deref().map_or(OsStr::new(""), |path| path.as_os_str()));
        let environment = self.environment.iter().flat_map(|(key, value)| [key.as_os_str(), value]);
        let arguments = self.arguments.iter().map(OsString::as_os_str);
        let hidden = self.hidden.iter().map(OsString::as_os_str);
        let texts = [OsStr::from_bytes(&self.filter), group, directory];
        for text in texts.into_iter().chain(environment).chain(arguments).chain(hidden) {
            bytes.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }

    /// Reads an errand.
    pub fn receive(line: &mut impl Read) -> io::Result<Self> {
        let mut number = || {
            let mut bytes = [0; 8];
            line.read_exact(&mut bytes).map(|()| u64::from_le_bytes(bytes))
        };
        let [user, memory, threads, files, own_environment] =
            [number()?, number()?, number()?, number()?, number()?];
        let [variables, arguments, hidden, cores] = [number()?, number()?, number()?, number()?];
        let cores = (0..cores).map(|_| Ok(number()? as usize)).collect::<io::Result<_>>()?;
        let mut text = || {
            let mut length = [0; 4];
            line.read_exact(&mut length)?;
            let length = u32::from_le_bytes(length);
            if length > LONGEST {
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            }
            let mut bytes = vec![0; length as usize];
            line.read_exact(&mut bytes)?;
            Ok(OsStr::from_bytes(&bytes).to_owned())
        };
        let (filter, group, directory) = (text()?.into_vec(), text()?, text()?);
        Ok(Self {
            user: u32::try_from(user).ok(),
            memory,
            threads,
            files,
            own_environment: own_environment != 0,
            filter,
            group: (!group.is_empty()).then(|| group.into()),
            directory: (!directory.is_empty()).then(|| directory.into()),
            environment: (0..variables).map(|_| Ok((text()?, text()?))).collect::<io::Result<_>>()?,
            arguments: (0..arguments).map(|_| text()).collect::<io::Result<_>>()?,
            hidden: (0..hidden).map(|_| text()).collect::<io::Result<_>>()?,
            cores,
        })
    }
}

/// What a guardian tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum News {
    /// The engine runs as this process.
    Started(i32),
    /// It could not be started, for this reason (`errno`).
    Failed(i32),
    /// It has ended; what it started is being ended.
    Ended(ExitStatus),
    /// It held more memory than it may, and is being ended.
    TooMuchMemory,
    /// It had more processes and threads than it may, and is being ended.
    TooManyThreads,
    /// It had more files than it may, and is being ended.
    TooManyFiles,
    /// It computed while its opponent was to move, and is being ended.
    NoRest,
    /// Nothing that it started is left; the guardian ends.
    Cleared,
}

impl News {
    /// Bytes of the news.
    pub const LENGTH: usize = 8;

    /// Sends the news in one write.
    pub fn send(self, line: &mut impl Write) -> io::Result<()> {
        let (kind, value) = match self {
            Self::Started(pid) => (1, pid),
            Self::Failed(error) => (2, error),
            Self::Ended(status) => (3, status.into_raw()),
            Self::TooMuchMemory => (4, 0),
            Self::TooManyThreads => (5, 0),
            Self::TooManyFiles => (6, 0),
            Self::NoRest => (7, 0),
            Self::Cleared => (8, 0),
        };
        let mut bytes = [0; Self::LENGTH];
        bytes[..4].copy_from_slice(&i32::to_le_bytes(kind));
        bytes[4..].copy_from_slice(&i32::to_le_bytes(value));
        line.write_all(&bytes)
    }

    /// Reads the news; `None` for bytes of no guardian.
    pub fn parse(bytes: [u8; Self::LENGTH]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let value = i32::from_le_bytes([e, f, g, h]);
        match i32::from_le_bytes([a, b, c, d]) {
            1 => Some(Self::Started(value)),
            2 => Some(Self::Failed(value)),
            3 => Some(Self::Ended(ExitStatus::from_raw(value))),
            4 => Some(Self::TooMuchMemory),
            5 => Some(Self::TooManyThreads),
            6 => Some(Self::TooManyFiles),
            7 => Some(Self::NoRest),
            8 => Some(Self::Cleared),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_errand_and_its_news_survive_the_way() {
        let errand = Errand {
            user: Some(65534),
            memory: 4096,
            threads: 64,
            files: 16,
            own_environment: true,
            filter: vec![0, 255],
            group: Some("/sys/fs/cgroup/a".into()),
            cores: vec![0, 300],
            hidden: vec!["SECRET".into()],
            directory: Some("/a b".into()),
            environment: vec![("K".into(), OsStr::from_bytes(b"\xff\n").to_owned())],
            arguments: vec!["/bin/x".into(), "".into(), "-c".into()],
        };
        assert_eq!(Errand::receive(&mut &errand.encoded()[..]).unwrap(), errand);
        assert_eq!(Errand::receive(&mut &Errand::default().encoded()[..]).unwrap(), Errand::default());
        let cut = errand.encoded();
        assert!(Errand::receive(&mut &cut[..cut.len() - 1]).is_err());
        for news in [News::Started(7), News::Failed(2), News::Ended(ExitStatus::from_raw(134))] {
            let mut sent = Vec::new();
            news.send(&mut sent).unwrap();
            assert_eq!(News::parse(sent.try_into().unwrap()), Some(news));
        }
    }
}
