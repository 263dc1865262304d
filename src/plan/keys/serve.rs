//! The keys of `[serve]`: the network side of a file.

use super::{
    Fallback::{Is, Needed, Says},
    Key,
    Kind::{Duration, Flag, Integer, Other, Path, Text, Words},
    Section, key,
};

/// A day, in seconds.
pub const DAY: i64 = 86_400;

/// `[serve]`.
pub const SERVE: Section = Section {
    title: "`[serve]`",
    about: "For `renmei serve`: without `[event]` and `[[engines]]` the file describes an open league, whose games \
        have the rules given here; with them, the network side of an event, whose rules stand in the event's own \
        tables.",
    keys: &[KEYS],
};

const KEYS: &[Key] = &[
    key(
        "name",
        Text,
        Is("\"league\""),
        "open league: its name in the database and in the id of every game; 1 to 32 letters, digits, `_`, `-` or `.`",
    ),
    key("database", Path, Is("\"league.db\""), "open league: the SQLite file"),
    key(
        "listen",
        Other("list of addresses"),
        Is("[\"127.0.0.1:4081\"]"),
        "addresses to accept connections on",
    ),
    key("tls", Other("table"), Says("none"), "addresses on which clients speak TLS, see `[serve.tls]`"),
    key(
        "trusted_proxies",
        Other("list of addresses"),
        Is("[]"),
        "addresses or networks of reverse proxies: a connection from there begins with a line of the PROXY protocol \
         (version 1 or 2), which says where the client comes from, and is refused without it",
    ),
    key(
        "compat",
        Words(&["protocol", "shogi-server"]),
        Is("\"protocol\""),
        "which to follow where the protocol's text and shogi-server differ; shogi-server shows the MD5 of secrets",
    ),
    key("max_moves", Integer(0, 100_000), Is("256"), "open league: move limit in plies; 0: no limit"),
    key("least_time", Integer(0, DAY), Is("0"), "open league: least time charged for a move, in seconds"),
    key(
        "declaration",
        Words(&["27", "24", "try", "none"]),
        Is("\"27\""),
        "open league: the rule of entering kings, as in `[rules]`",
    ),
    key(
        "count_start_position",
        Flag,
        Says("`true`; `false` with `compat = \"shogi-server\"`"),
        "open league: the start position counts for sennichite",
    ),
    key(
        "login",
        Words(&["open", "accounts", "invitation"]),
        Is("\"open\""),
        "who may log in: anybody, under any name, which a secret makes recognisable; the accounts of the database (`renmei \
         account`); the names in `invited`",
    ),
    key(
        "invited",
        Other("list of texts"),
        Is("[]"),
        "with `login = \"invitation\"`: names, or lines as `renmei account invite NAME` prints them, with the hash of \
         a secret",
    ),
    key(
        "records",
        Path,
        Says("none"),
        "directory for a record of every game, `YYYY/MM/DD/<Game_ID>.csa`, as floodgate writes them",
    ),
    key(
        "share_records",
        Flag,
        Is("false"),
        "let other users of the machine read the records, for a web server (files 0644, directories 0755); otherwise \
         only the user of the host may (0600, 0700)",
    ),
    key(
        "grace",
        Integer(0, DAY),
        Says("60; 0 with `compat = \"shogi-server\"`"),
        "seconds that a running game waits for a player whose connection broke; 0: the game is lost at once",
    ),
    key("agreement", Integer(1, DAY), Is("120"), "seconds that both players have to agree to a game"),
    key(
        "comments",
        Flag,
        Is("false"),
        "show the comments of moves (`'* score pv`) to spectators of moves (`%%MONITOR2`)",
    ),
    key(
        "time_unit",
        Words(&["sec", "msec"]),
        Is("\"sec\""),
        "unit of clocks and announced times: seconds or milliseconds",
    ),
    key("time", Other("tables"), Says("none"), "open league: times of single players, see `[[serve.time]]`"),
    key("wait", Integer(0, 365 * DAY), Is("120"), "event: seconds that a game waits for an absent player"),
    key(
        "missing",
        Words(&["forfeit", "skip"]),
        Is("\"forfeit\""),
        "event: a game whose player stays absent is won by the opponent, or is left out",
    ),
    key("rounds", Other("tables"), Says("none"), "open league: timed rounds, see `[[serve.rounds]]`"),
    key("rating", Other("table"), Says("all its defaults"), "how players are rated, see `[serve.rating]`"),
    key("limits", Other("table"), Says("all its defaults"), "limits per client, see `[serve.limits]`"),
    key(
        "retention",
        Other("table"),
        Says("everything is kept"),
        "open league: what is kept of old games, see `[serve.retention]`",
    ),
    super::RESERVE,
];

/// `[[serve.rounds]]`.
pub const SERVE_ROUNDS: Section = Section {
    title: "`[[serve.rounds]]`",
    about: "A schedule for games whose names begin with `floodgate-`: their players wait for a round.",
    keys: &[&[
        key("game", Text, Needed, "name of the game, with its time: `floodgate-300-10F`"),
        key(
            "minutes",
            Other("list of whole numbers, 0 to 59"),
            Says("needed without `every`"),
            "minutes of the hour at which rounds begin",
        ),
        key(
            "hours",
            Other("list of whole numbers, 0 to 23"),
            Says("all"),
            "hours of the day in which rounds begin, with `minutes`",
        ),
        key(
            "timezone",
            Text,
            Is("\"UTC\""),
            "time zone of `minutes` and `hours` as its distance from UTC: `+09:00` is Japan's",
        ),
        key(
            "every",
            Duration { zero: false },
            Says("needed without `minutes`"),
            "time from one round to the next, from the start of the league on",
        ),
        key(
            "pairing",
            Words(&["least-difference", "swiss", "random"]),
            Is("\"least-difference\""),
            "pair players of near rating, players of near points, or by lot",
        ),
    ]],
};

/// `[serve.tls]`.
pub const SERVE_TLS: Section = Section {
    title: "`[serve.tls]`",
    about: "With this table clients may speak TLS (1.2 or 1.3) on addresses of their own. A certificate that is renewed \
        on the disk is taken within seconds, without a restart; one that is broken is not, and the host says so.",
    keys: &[&[
        key(
            "listen",
            Other("list of addresses"),
            Is("[\"127.0.0.1:4082\"]"),
            "addresses to accept encrypted connections on, beside those of `[serve]`",
        ),
        key(
            "certificate",
            Path,
            Needed,
            "the certificate and those that lead to a root, in PEM (`fullchain.pem`)",
        ),
        key("key", Path, Needed, "the private key of the certificate, in PEM (`privkey.pem`)"),
    ]],
};
