//! The keys of a `renmei attribute` file.

use super::{
    Fallback::{Is, Needed, Says},
    Key,
    Kind::{Flag, Integer, IntegerOr, Other, Text},
    Section, key,
};

/// Most levels of a part: each is one digit of a build's name.
pub const LEVELS: usize = 10;
/// Most parts of a file.
pub const PARTS: usize = 32;

const THAT_OF_RUN: &str = "as in a file of `renmei run`";

/// The top level of the file.
pub const ATTRIBUTE_FILE: Section = Section {
    title: "A league of parts",
    about: "The file of `renmei attribute`. `[event]` has no keys of `[[stage]]`: builds are paired at random.",
    keys: &[&[
        key("attribute", Other("table"), Says("all its defaults"), "how many builds and games"),
        key("parts", Other("tables"), Needed, "the parts, each with its levels"),
        key("defaults", Other("table"), Needed, "the engine: the keys of `[[engines]]` that every build has"),
        key("event", Other("table"), Says("all its defaults"), THAT_OF_RUN),
        key("time", Other("text or table"), Says("that of `defaults`"), THAT_OF_RUN),
        key("rules", Other("table"), Says("all its defaults"), THAT_OF_RUN),
        key("adjudication", Other("table"), Says("off"), THAT_OF_RUN),
        key("openings", Other("table"), Says("the built-in ones, shuffled"), THAT_OF_RUN),
        key("notify", Other("table"), Says("nobody"), THAT_OF_RUN),
    ]],
};

/// `[attribute]`.
pub const ATTRIBUTE: Section = Section {
    title: "`[attribute]`",
    about: "",
    keys: &[&[
        key(
            "builds",
            IntegerOr(2, 1000, "auto"),
            Is("\"auto\""),
            "how many of all possible builds are played; `auto`: twice as many as there are effects, or all if they are fewer",
        ),
        key("games", Integer(2, 10_000_000), Is("20000"), "games of the league; it may grow later"),
        key("pairs", Flag, Is("true"), "whether pairs of parts have effects of their own"),
    ]],
};

/// `[[parts]]`.
pub const PART: Section = Section {
    title: "`[[parts]]`",
    about: "A part has two or more levels; the first one is the engine as it is, which the others are measured against. \
        Either `option` and `values`, or `levels`.",
    keys: &[KEYS],
};

const KEYS: &[Key] = &[
    key("name", Text, Says("the option"), "its name in tables and predictions; unique"),
    key("option", Text, Says("`levels`"), "a USI option that has another value at each level"),
    key("values", Other("list"), Says("needed by `option`"), "its values: texts, numbers, `true` or `false`"),
    key(
        "levels",
        Other("list of tables"),
        Says("`option`"),
        "each a `name` and keys of `[[engines]]`: `[{ name = \"new\", command = \"./new\" }, { name = \"old\", command = \"./old\" }]`",
    ),
];
