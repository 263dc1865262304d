//! Output to stdout and stderr. A closed pipe (`renmei report | head`) is ignored; `println!` would panic.

/// Prints a line on stdout.
macro_rules! out_line {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _reader_gone = writeln!(std::io::stdout(), $($text)*);
    }};
}

/// Prints text on stdout, without a line end of its own.
macro_rules! out {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _reader_gone = write!(std::io::stdout(), $($text)*);
    }};
}

/// Prints a line on stderr.
macro_rules! err_line {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _reader_gone = writeln!(std::io::stderr(), $($text)*);
    }};
}

/// A word for a POSIX shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
