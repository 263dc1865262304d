//! Writing to people. A reader that is gone (`renmei report | head`) ends nothing: `println!` would panic.

/// A line on stdout.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _reader_gone = writeln!(std::io::stdout(), $($text)*);
    }};
}

/// Text on stdout that ends its own lines.
macro_rules! put {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _reader_gone = write!(std::io::stdout(), $($text)*);
    }};
}

/// A line on stderr.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _reader_gone = writeln!(std::io::stderr(), $($text)*);
    }};
}
