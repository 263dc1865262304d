//! The keys of a `renmei attribute` file.

use super::{
    Fallback::{Needed, Says},
    Key,
    Kind::{Flag, Integer, IntegerOr, Other, Text},
    Section, keys,
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
    keys: &[keys![
        attribute shown Says("all its defaults"), Other("table"), "how many builds and games";
        parts shown Needed, Other("tables"), "the parts, each with its levels";
        defaults shown Needed, Other("table"), "the engine: the keys of `[[engines]]` that every build has";
        event shown Says("all its defaults"), Other("table"), THAT_OF_RUN;
        time shown Says("that of `defaults`"), Other("text or table"), THAT_OF_RUN;
        rules shown Says("all its defaults"), Other("table"), THAT_OF_RUN;
        adjudication shown Says("off"), Other("table"), THAT_OF_RUN;
        openings shown Says("the built-in ones, shuffled"), Other("table"), THAT_OF_RUN;
        notify shown Says("nobody"), Other("table"), THAT_OF_RUN;
    ]],
};

/// `[attribute]`.
pub const ATTRIBUTE: Section = Section {
    title: "`[attribute]`",
    about: "",
    keys: &[keys![
        builds = "auto", IntegerOr(2, 1000, "auto"),
            "how many of all possible builds are played; `auto`: twice as many as there are effects, or all if they \
             are fewer";
        games = 20000, Integer(2, 10_000_000), "games of the league; it may grow later";
        pairs = true, Flag, "whether pairs of parts have effects of their own";
    ]],
};

/// `[[parts]]`.
pub const PART: Section = Section {
    title: "`[[parts]]`",
    about: "A part has two or more levels; the first one is the engine as it is, which the others are measured against. \
        Either `option` and `values`, or `levels`.",
    keys: &[KEYS],
};

const KEYS: &[Key] = keys![
    name shown Says("the option"), Text, "its name in tables and predictions; unique";
    option shown Says("`levels`"), Text, "a USI option that has another value at each level";
    values shown Says("needed by `option`"), Other("list"), "its values: texts, numbers, `true` or `false`";
    levels shown Says("`option`"), Other("list of tables"),
        "each a `name` and keys of `[[engines]]`: `[{ name = \"new\", command = \"./new\" }, { name = \"old\", \
         command = \"./old\" }]`";
];
