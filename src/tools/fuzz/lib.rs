//! What every parser that meets strangers must hold, for any input at all.
//!
//! A [`Target`] is a function of bytes that panics if a property is violated: nothing panics, what is written is read
//! again as the same, and no value grows beyond its input. The functions know nothing of libFuzzer:
//!
//! * `cargo xtask fuzz` builds them with coverage, and libFuzzer (`main.rs`) searches for an input that fails.
//! * the test `corpus.rs` runs them over `corpus/TARGET/*`, in every run of the tests. An input that once failed is
//!   added there, so that it stays mended.
//!
//! Time and memory are bounded from outside, by libFuzzer's `-timeout` and `-rss_limit_mb`.

// The program has no library: its reader of other programs' command lines is compiled into this crate as well.
// (Not where this library is checked as a test: the tests beside it are the program's.)
mod entrances;
#[cfg(not(test))]
#[allow(dead_code, unused_imports, reason = "the program uses the rest")]
#[path = "../../app/habits.rs"]
mod habits;
#[cfg(not(test))]
#[allow(dead_code, unused_macros, reason = "the program uses them")]
#[path = "../../app/event/output.rs"]
mod output;
mod scratch;
mod targets;

pub use entrances::{ENTRANCES, Reads, SIGNS};

/// A parser with its properties.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name, on the command line of `cargo xtask fuzz` and as the directory of its corpus.
    pub name: &'static str,
    /// Longest input, in bytes.
    pub longest: usize,
    /// Checks one input.
    ///
    /// # Panics
    /// When the input violates a property.
    pub check: fn(&[u8]),
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "csa_lines", longest: 4096, check: targets::csa::lines },
    Target { name: "summaries", longest: 8192, check: targets::csa::summaries },
    Target { name: "usi_lines", longest: 4096, check: targets::usi::lines },
    Target { name: "proxies", longest: 4096, check: targets::proxies::proxies },
    Target { name: "records", longest: 16_384, check: targets::records::records },
    Target { name: "imports", longest: 8192, check: targets::records::imports },
    Target { name: "configurations", longest: 4096, check: targets::configurations::configurations },
    Target { name: "databases", longest: 1024, check: targets::databases::databases },
    Target { name: "params", longest: 4096, check: targets::params::params },
    Target { name: "books", longest: 8192, check: targets::books::books },
    Target { name: "machines", longest: 8192, check: targets::machines::machines },
    Target { name: "managers", longest: 8192, check: targets::managers::managers },
    Target { name: "file_lists", longest: 8192, check: targets::file_lists::file_lists },
    Target { name: "browsers", longest: 4096, check: targets::browsers::browsers },
    Target { name: "requests", longest: 4096, check: targets::requests::requests },
    Target { name: "lines", longest: 4096, check: targets::lines::lines },
    Target { name: "packs", longest: 8192, check: targets::packs::packs },
    Target { name: "positions", longest: 4096, check: targets::positions::positions },
    Target { name: "suites", longest: 4096, check: targets::suites::suites },
    #[cfg(not(test))]
    Target { name: "habits", longest: 1024, check: targets::habits::habits },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
