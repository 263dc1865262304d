//! The keys of a `renmei floodgate` file.

use super::{
    Fallback::{Is, Needed, Says},
    Key,
    Kind::{self, Duration as Span, Flag, Integer, IntegerOr, Other, Path as File, Text, Words},
    Section, key,
};

const ABOVE_ZERO: Kind = Span { zero: false };

/// The top level of the file.
pub const CLIENT: Section = Section {
    title: "Playing on a server",
    about: "The file of `renmei floodgate`.",
    keys: &[&[
        key("floodgate", Other("table"), Needed, "the server, and how to play there"),
        key(
            "engine",
            Other("table"),
            Needed,
            "the engine, with the keys of `[[engines]]`; `time` is the server's",
        ),
        key("notify", Other("table"), Says("nobody"), "who is told of ends and restarts: see `[notify]`"),
        key("http", Other("table"), Says("no pages"), "the games in the browser: see `[http]`"),
        key(
            "ratings",
            Other("table"),
            Is("{}"),
            "ratings of opponents by their names: Elo is measured against them",
        ),
    ]],
};

/// `[floodgate]`.
pub const FLOODGATE: Section = Section { title: "`[floodgate]`", about: "", keys: &[KEYS] };

const KEYS: &[Key] = &[
    key("name", Text, Says("the file's name"), "with it the event is found again in its database"),
    key("database", File, Says("the file's name with `.db`"), "the SQLite file"),
    key("host", Text, Needed, "the server"),
    key("port", Integer(1, 65_535), Is("4081"), "its port"),
    key("tls", Flag, Is("false"), "speak TLS; the server has to show a certificate for the name in `host`"),
    key(
        "ca",
        File,
        Says("the roots that the system trusts"),
        "with `tls`: the certificates that are trusted instead, in PEM, such as that of a league of one's own",
    ),
    key("login", Text, Needed, "name to log in with: 1 to 32 letters, digits, `_`, `-`, `@` or `.`"),
    key(
        "password",
        Text,
        Needed,
        "in CSA mode the game and a secret of your own: `floodgate-300-10F,secret`; in x1 mode the secret alone",
    ),
    key(
        "mode",
        Words(&["csa", "x1"]),
        Is("\"csa\""),
        "how to log in: `csa`, or shogi-server's extended mode",
    ),
    key("game", Text, Says("in CSA mode the password says it"), "in x1 mode: the game to wait for"),
    key("color", Words(&["any", "black", "white"]), Is("\"any\""), "in x1 mode: the colour to ask for"),
    key(
        "games",
        IntegerOr(1, i64::MAX, "unlimited"),
        Is("\"unlimited\""),
        "games to play; `unlimited`: until a signal",
    ),
    key(
        "comments",
        Words(&["auto", "yes", "no"]),
        Is("\"auto\""),
        "send the evaluation and the line expected with each move; `auto`: to servers that are known to take it",
    ),
    key(
        "declare",
        Words(&["engine", "at-once"]),
        Is("\"engine\""),
        "declare a win when the engine declares it and the rule allows it, or as soon as the rule allows it",
    ),
    key(
        "declaration",
        Words(&["announced", "27", "24", "none"]),
        Is("\"announced\""),
        "the rule of declarations; `announced`: 27 points where the server says `Jishogi 1.1`, else none",
    ),
    key("records", File, Says("none"), "directory for the record of each game, in CSA, written at its end"),
    key(
        "record_name",
        Text,
        Is("\"{id}\""),
        "name of these files without `.csa`; `{number}`, `{id}` (the server's Game_ID), `{black}`, `{white}` and `{date}` \
         stand for what they say",
    ),
    key(
        "look",
        Flag,
        Is("true"),
        "before the first login of the event, have the engine set its options, get ready and make a move",
    ),
    key(
        "restarts",
        Integer(0, 1000),
        Is("3"),
        "restarts of the engine within a game, at most; after that the game is resigned",
    ),
    super::LOG,
    key("margin", Span { zero: true }, Is("\"200ms\""), "least time kept back for the network"),
    key("margin_most", ABOVE_ZERO, Is("\"3s\""), "most time kept back for the network, whatever is measured"),
    key(
        "hurry",
        Span { zero: true },
        Is("\"300ms\""),
        "an engine that still thinks this long before its time for a move ends (less what is kept back) gets `stop`",
    ),
    key("untimed", ABOVE_ZERO, Is("\"10s\""), "time for a move in games without a clock"),
    key("keep_alive", ABOVE_ZERO, Is("\"40s\""), "silence after which a blank line is sent"),
    key(
        "patience",
        ABOVE_ZERO,
        Is("\"30s\""),
        "longest time for a connection, and for the answer to a login",
    ),
    key("backoff", ABOVE_ZERO, Is("\"10s\""), "the first wait before logging in again after a failure"),
    key(
        "backoff_most",
        ABOVE_ZERO,
        Is("\"15m\""),
        "longest wait; each wait is twice the one before, half of it random",
    ),
    super::RESERVE,
];
