//! Where the program reads bytes as texts or values, and what checks it with any bytes.

/// What is read at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Bytes of strangers, which this target checks.
    Target(&'static str),
    /// Bytes of strangers that are a value as soon as `serde` has read them, and are not looked into any further.
    Value(&'static str),
    /// What the program, its user or its system wrote.
    Own(&'static str),
}

use Reads::{Own, Target, Value};

/// Signs by which a line of the sources is one that reads.
pub const SIGNS: &[&str] = &[
    "serde_json::from_",
    "toml::from_str",
    "DocumentMut",
    "reader::read(",
    "from_utf8",
    "memchr(b'",
    "read_until(b'",
    "read_line(",
    "FromStr for",
    "FromRequest",
    "HeaderMap",
    "Query<",
    "Form<",
];

/// The beginning of a path, and what the files there read; the longest beginning counts.
pub const ENTRANCES: &[(&str, Reads)] = &[
    ("dashboard/", Own("what its own libraries print")),
    ("engines/deep/", Own("what it was trained with, and its command line")),
    ("engines/opening-book/", Target("books")),
    ("engines/pairwise/", Own("what it has learned")),
    ("engines/usi-shell/", Target("usi_lines")),
    ("src/app/build.rs", Own("what git prints")),
    ("src/app/commands/", Own("command lines and answers of the user")),
    ("src/app/commands/admin.rs", Target("requests")),
    ("src/app/desk/", Own("forms of the owner of a desk; what they make is a file, as for `configurations`")),
    ("src/app/event/", Target("databases")),
    ("src/app/event/door.rs", Target("requests")),
    ("src/app/event/hall/", Own("what its own events print")),
    ("src/app/event/notify/", Own("what a command of the user prints")),
    ("src/base/journal/", Target("databases")),
    ("src/base/plan/", Target("configurations")),
    ("src/base/platform/", Own("what the system says; of a file that somebody names, whether it is text")),
    ("src/lab/check/", Target("usi_lines")),
    ("src/lab/explain/", Target("databases")),
    ("src/lab/explain/cache.rs", Own("its own searches")),
    ("src/lab/laboratory/", Own("what git and builds print, and the cache of builds")),
    ("src/play/arena/", Target("databases")),
    ("src/play/client/", Target("csa_lines")),
    ("src/play/host/", Target("csa_lines")),
    ("src/play/machines/hub/", Own("its own directory, and what its own server prints")),
    ("src/play/machines/hub/door.rs", Value("a request to be let in: a version, a key and a name")),
    ("src/play/machines/hub/file_ref.rs", Target("file_lists")),
    ("src/play/machines/hub/join.rs", Value("the answer to it: a key, two names and the event")),
    ("src/play/machines/hub/token.rs", Target("machines")),
    ("src/play/machines/manager", Target("managers")),
    ("src/play/machines/wire.rs", Target("machines")),
    ("src/play/seat/conversation.rs", Target("usi_lines")),
    ("src/play/seat/csa_client.rs", Target("csa_lines")),
    ("src/play/seat/far.rs", Own("what a host says that the user logs in to")),
    ("src/play/seat/lines.rs", Target("lines")),
    ("src/rules/notation/csa/", Target("csa_lines")),
    ("src/rules/notation/csa/summary/", Target("summaries")),
    ("src/rules/notation/proxy.rs", Target("proxies")),
    ("src/rules/notation/record/", Target("records")),
    ("src/rules/notation/usi/", Target("usi_lines")),
    ("src/rules/rating/precision.rs", Target("configurations")),
    ("src/rules/referee/lease.rs", Target("managers")),
    ("src/rules/referee/operation.rs", Target("requests")),
    ("src/rules/referee/sink.rs", Target("databases")),
    ("src/views/records/", Target("databases")),
    ("src/views/records/pack.rs", Target("packs")),
    ("src/views/report/", Target("databases")),
    ("src/views/web/", Target("browsers")),
];
