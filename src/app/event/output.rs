//! Output to stdout and stderr. A closed pipe (`renmei report | head`) is ignored; `println!` would panic.
//!
//! Whatever is printed passes through here, and is made safe for a terminal here, whoever wrote the text: names, errors,
//! paths, what engines and strangers said. A line end is the only control character that comes through.

use notation::printable_lines;
use std::io::{self, Write};

/// Prints a line on stdout.
#[macro_export]
macro_rules! out_line {
    ($($text:tt)*) => {
        $crate::output::print(&mut std::io::stdout(), &format!("{}\n", format_args!($($text)*)))
    };
}

/// Prints text on stdout, without a line end of its own.
#[macro_export]
macro_rules! out {
    ($($text:tt)*) => {
        $crate::output::print(&mut std::io::stdout(), &format!($($text)*))
    };
}

/// Prints a line on stderr.
#[macro_export]
macro_rules! err_line {
    ($($text:tt)*) => {
        $crate::output::print(&mut std::io::stderr(), &format!("{}\n", format_args!($($text)*)))
    };
}

/// Prints text, made safe.
pub fn print(to: &mut impl Write, text: &str) {
    let _reader_gone = to.write_all(printable_lines(text).as_bytes());
}

/// A writer of lines whose content is made safe. A line is written when it is complete.
#[derive(Debug)]
pub struct Printable<W: Write> {
    to: W,
    line: Vec<u8>,
}

impl<W: Write> Printable<W> {
    /// Passes lines on to `to`.
    pub fn new(to: W) -> Self {
        Self { to, line: vec![] }
    }
}

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            let text = notation::printable(&line[..end]);
            writeln!(self.to, "{text}")?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
