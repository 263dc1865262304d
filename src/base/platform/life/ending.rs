//! How a process has ended, in words.

use std::fmt;

/// How a process has ended. Its text has "it" as its subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal.
    Signal {
        /// Its name.
        name: &'static str,
        /// True if the system has kept its memory in a file.
        dumped: bool,
    },
    /// By an exception of Windows (`NTSTATUS`).
    Exception(u32),
    /// This program has ended it for what it did beyond its limits: a verb with its object, in the past.
    Excess(&'static str),
    /// This program has ended it, on a system that keeps no trace of that in the exit code.
    Killed,
    /// The system did not tell.
    Unknown,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "it exited with code {code}"),
            Self::Signal { name, dumped } => {
                write!(f, "it was killed by {name}{}", if *dumped { " (core dumped)" } else { "" })
            }
            Self::Exception(code) => match exception(*code) {
                Some(name) => write!(f, "it was ended by {name} ({code:#010X})"),
                None => write!(f, "it was ended by the exception {code:#010X}"),
            },
            Self::Excess(what) => write!(f, "it was ended, because it {what}"),
            Self::Killed => f.write_str("it was killed"),
            Self::Unknown => f.write_str("it ended"),
        }
    }
}

/// The exceptions that end engines, as Windows names them (MS-ERREF, section 2.3.1).
fn exception(code: u32) -> Option<&'static str> {
    Some(match code {
        0x8000_0003 => "a breakpoint",
        0xC000_0005 => "an access violation",
        0xC000_0006 => "an error while a page was read from a file",
        0xC000_0017 => "a lack of memory",
        0xC000_001D => "an illegal instruction",
        0xC000_0094 => "a division by zero",
        0xC000_0096 => "a privileged instruction",
        0xC000_00FD => "a stack overflow",
        0xC000_0135 => "a missing DLL",
        0xC000_0139 => "a missing entry point of a DLL",
        0xC000_013A => "Ctrl-C",
        0xC000_0142 => "a DLL that failed to start",
        0xC000_0374 => "a corrupted heap",
        0xC000_0409 => "a stack buffer overrun or an abort",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_has_a_name_and_its_number() {
        let said = |code| Ending::Exception(code).to_string();
        assert_eq!(said(0xC000_0005), "it was ended by an access violation (0xC0000005)");
        assert_eq!(said(0xC000_00FD), "it was ended by a stack overflow (0xC00000FD)");
        assert_eq!(said(0xC012_3456), "it was ended by the exception 0xC0123456");
    }
}
