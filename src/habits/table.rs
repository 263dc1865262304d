//! The table: each option of fastchess and cutechess-cli, and each word of their `-engine`, with its meaning here.

use super::{
    reading::{Reading, Words},
    values,
};
use std::fmt::Write as _;

/// An option, with its dash.
pub struct Habit {
    /// Its name.
    pub name: &'static str,
    /// Its values, for the help.
    pub values: &'static str,
    /// What it is here; of a refused one, what to do instead.
    pub here: &'static str,
    /// What the reader does with it.
    pub meaning: Meaning,
}

/// What the reader does with an option.
#[derive(Clone, Copy)]
pub enum Meaning {
    /// The same as a flag of `renmei match`, with the same value if `Habit::values` has one.
    Is(&'static str),
    /// Its values are read.
    Reads(fn(&mut Reading, &Words<'_>) -> Result<(), String>),
    /// It is always so.
    Always,
    /// Renmei does it in another way, which is told.
    Told,
    /// It has no counterpart.
    Refused,
}

/// A word of `-engine` and `-each`.
pub struct EngineWord {
    /// Its key.
    pub key: &'static str,
    /// Its value, for the help; empty: a word without `=`.
    pub value: &'static str,
    /// What it is here; of a refused one, what to do instead.
    pub here: &'static str,
    /// What the reader does with it.
    pub meaning: EngineMeaning,
}

/// What the reader does with a word of an engine.
#[derive(Clone, Copy)]
pub enum EngineMeaning {
    /// The same as a key of `--engine`, with the same value.
    Is(&'static str),
    /// Its value is read: a key of `--engine` and its value.
    Reads(fn(&str) -> Result<(&'static str, String), String>),
    /// It has no counterpart.
    Refused,
}

use EngineMeaning as Word;
use Meaning::{Always, Is, Reads, Refused, Told};

const fn option(name: &'static str, values: &'static str, here: &'static str, meaning: Meaning) -> Habit {
    Habit { name, values, here, meaning }
}

const fn word(key: &'static str, value: &'static str, here: &'static str, meaning: Word) -> EngineWord {
    EngineWord { key, value, here, meaning }
}

/// The options.
pub const OPTIONS: &[Habit] = &[
    option("-engine", "WORD ...", "--engine WORD ..., with the words below", Reads(Reading::engine)),
    option("-each", "WORD ...", "for every engine, instead of its own words", Reads(Reading::each)),
    option(
        "-rounds",
        "N",
        "--games: N rounds, each of as many games as -games says (else 2)",
        Reads(Reading::rounds),
    ),
    option(
        "-games",
        "N",
        "games of a round; without -rounds all games of an encounter: --games N",
        Reads(Reading::games),
    ),
    option("-repeat", "[2]", "always: both colours play each opening", Reads(Reading::repeat)),
    option(
        "-openings",
        "file=FILE [format=F] [order=random] [plies=N] [start=1]",
        "--openings FILE --sequential (but for order=random) --plies N; the format is detected",
        Reads(Reading::openings),
    ),
    option(
        "-sprt",
        "elo0=A elo1=B [alpha=P] [beta=P] [model=normalized|logistic]",
        "--sprt with the same words; --games is the most it may take",
        Reads(Reading::sprt),
    ),
    option(
        "-resign",
        "movecount=N score=S [twosided=true]",
        "--resign moves=N score=S two_sided=true",
        Reads(Reading::resign),
    ),
    option(
        "-draw",
        "movenumber=M movecount=N score=S",
        "--draw from_ply=2M plies=2N score=S: plies are counted here",
        Reads(Reading::draw),
    ),
    option("-maxmoves", "N", "--max-moves 2N: plies are counted here", Reads(Reading::max_moves)),
    option(
        "-concurrency",
        "N",
        "--concurrency N; without it as many as the cores carry",
        Is("--concurrency"),
    ),
    option("-force-concurrency", "", "--oversubscribe", Is("--oversubscribe")),
    option(
        "-use-affinity",
        "[0-1,4]",
        "--affinity; Renmei chooses the cores, among those of `taskset -c 0-1,4 renmei match ...`",
        Reads(Reading::affinity),
    ),
    option(
        "-startup-ms",
        "N",
        "limits.start=Nms of every engine: from its start to `usiok`",
        Reads(Reading::start_limit),
    ),
    option(
        "-ucinewgame-ms",
        "N",
        "limits.new_game=Nms of every engine: `isready` between games",
        Reads(Reading::new_game_limit),
    ),
    option(
        "-ping-ms",
        "N",
        "limits.ready=Nms of every engine: the first `isready`",
        Reads(Reading::ready_limit),
    ),
    option(
        "-strict",
        "",
        "an engine with unknown options does not start here, and illegal moves lose; `--fault-limit N` halts an engine \
         with faults",
        Told,
    ),
    option(
        "-check-mate-pvs",
        "",
        "the database has scores and lines of every move; lines that announce a mate are not played out",
        Told,
    ),
    option("-tournament", "roundrobin|gauntlet", "the default, or --gauntlet", Reads(Reading::tournament)),
    option("-seeds", "1", "of a gauntlet: the first engine meets all others", Reads(Reading::seeds)),
    option("-event", "NAME", "--name NAME", Is("--name")),
    option("-srand", "N", "--seed N", Is("--seed")),
    option("-seed", "N", "--seed N", Is("--seed")),
    option("-variant", "shogi", "always", Reads(Reading::variant)),
    option("-recover", "", "always: an engine is started again after a fault", Always),
    option("-report", "penta=true", "always: pentanomial counts are reported", Always),
    option("-wait", "0", "always: a game follows when the last is over", Reads(Reading::wait)),
    option(
        "-pgnout",
        "[file=]FILE ...",
        "--records FILE: each game as it ends, in CSA, in USI where the name ends in .usi; `renmei export DB` writes other \
         formats",
        Reads(Reading::records),
    ),
    option(
        "-epdout",
        "FILE",
        "every game is kept in the database: `renmei export DB --format usi -o FILE`",
        Told,
    ),
    option("-log", "...", "`--log DIR` keeps what engines say and are told, `-v` prints diagnostics", Told),
    option("-debug", "", "`--log DIR` keeps what engines say and are told, `-v` prints diagnostics", Told),
    option("-ratinginterval", "N", "--rating-interval N", Is("--rating-interval")),
    option("-scoreinterval", "N", "the score is part of what `--rating-interval N` prints", Told),
    option("-outcomeinterval", "N", "a line is printed for each game; `--quiet` leaves them out", Told),
    option("-autosaveinterval", "N", "every game is saved as it ends", Told),
    option("-output", "format=F", "`--json` prints the standings for programs", Told),
    option("-resultformat", "F", "`--json` prints the standings for programs", Told),
    option("-show-latency", "", "the database has the time of every move", Told),
    option("-site", "NAME", "records name no site", Told),
    option(
        "-config",
        "...",
        "the same command goes on with an interrupted match; nothing else is needed",
        Refused,
    ),
    option("-quick", "...", "write `renmei match ./A ./B --openings FILE`", Refused),
    option("-randomseed", "", "a seed makes games repeatable: give `-srand` a number", Refused),
    option("-noswap", "", "both colours play each opening here; leave it out", Refused),
    option("-reverse", "", "name the engines in the other order", Refused),
    option("-bookmode", "...", "name files of openings by -openings", Refused),
    option("-crc32", "...", "games are kept in the database, which guards itself; leave it out", Refused),
    option("-testEnv", "", "leave it out", Refused),
    option("-compliance", "ENGINE", "`renmei check ENGINE`", Refused),
    option("-version", "", "`renmei --version`", Refused),
    option("-help", "", "`renmei match --help`", Refused),
    option("-tb", "...", "shogi has no tablebases; leave it out", Refused),
    option("-tbpieces", "N", "shogi has no tablebases; leave it out", Refused),
    option("-tbignore50", "", "shogi has no tablebases; leave it out", Refused),
    option("-tbadjudicate", "...", "shogi has no tablebases; leave it out", Refused),
];

/// The words of an engine. Others are those of `--engine`.
pub const ENGINE_WORDS: &[EngineWord] = &[
    word("cmd", "PROGRAM", "the same; a path begins in dir=", Word::Is("cmd")),
    word("name", "NAME", "the same; without it the program's", Word::Is("name")),
    word("dir", "DIR", "the same; without it the current directory, not the engine's own", Word::Is("dir")),
    word("args", "\"A B\"", "the same", Word::Is("args")),
    word("arg", "A", "the same: one argument, as it stands; may be repeated", Word::Is("arg")),
    word(
        "tc",
        "TC",
        "time=: 10+0.1, 1:30+1 or 300; inf together with nodes= or depth=",
        Word::Reads(values::clock),
    ),
    word("st", "SECONDS", "fixed=: time of each move", Word::Reads(values::fixed)),
    word("nodes", "N", "the same", Word::Is("nodes")),
    word("depth", "N", "the same", Word::Is("depth")),
    word("plies", "N", "depth=", Word::Is("depth")),
    word("timemargin", "MS", "margin=", Word::Reads(values::margin)),
    word("option.NAME", "VALUE", "the same", Word::Is("option")),
    word("restart", "on|off|auto", "restart=every-game, restart=on-fault", Word::Reads(values::restart)),
    word("ponder", "", "ponder=true", Word::Is("ponder")),
    word("proto", "usi", "always", Word::Reads(values::protocol)),
    word("conf", "NAME", "there is no list of engines; name the program by cmd=", Word::Refused),
    word(
        "stderr",
        "FILE",
        "the last lines of stderr are kept with a fault, all by `--log DIR`; leave it out",
        Word::Refused,
    ),
    word("initstr", "TEXT", "write a script that sends it and then starts the engine", Word::Refused),
    word("trust", "", "every move is judged here; leave it out", Word::Refused),
    word("tscale", "X", "write `limits` in a file for `renmei run`", Word::Refused),
    word(
        "book",
        "FILE",
        "name openings by -openings, or the engine's own book by option.NAME=",
        Word::Refused,
    ),
    word("bookdepth", "N", "use plies= of -openings", Word::Refused),
    word("whitepov", "", "scores of USI are those of the side to move; leave it out", Word::Refused),
    word("debug", "", "`--log DIR` keeps what engines say and are told; leave it out", Word::Refused),
];

/// The option of this name.
pub fn habit(name: &str) -> Option<&'static Habit> {
    OPTIONS.iter().find(|habit| habit.name == name)
}

/// The word of an engine with this key.
pub fn engine_word(key: &str) -> Option<&'static EngineWord> {
    let key = if key.starts_with("option.") { "option.NAME" } else { key };
    ENGINE_WORDS.iter().find(|word| word.key == key)
}

/// The table as the help of `renmei match` prints it.
pub fn help() -> String {
    let mut text = "Options of fastchess and cutechess-cli are understood, and `renmei -engine ...` is `renmei match -engine ...`.\n\
                    What they mean here:\n"
        .to_owned();
    for Habit { name, values, here, meaning } in OPTIONS {
        line(&mut text, &format!("{name} {values}"), here, matches!(meaning, Refused));
    }
    text += "\nWords of -engine and -each; those of --engine may stand there, too:\n";
    for EngineWord { key, value, here, meaning } in ENGINE_WORDS {
        let word = if value.is_empty() { (*key).to_owned() } else { format!("{key}={value}") };
        line(&mut text, &word, here, matches!(meaning, Word::Refused));
    }
    text
}

fn line(text: &mut String, theirs: &str, here: &str, refused: bool) {
    let here = if refused { format!("refused: {here}") } else { here.to_owned() };
    let mut row = format!("  {}", theirs.trim_end());
    // A long one has its meaning in the next line.
    let mut width = if row.len() + 2 > MEANINGS { LINE } else { row.len() };
    for word in here.split(' ') {
        if width + 1 + word.len() > LINE {
            row += &format!("\n{:MEANINGS$}{word}", "");
            width = MEANINGS + word.len();
            continue;
        }
        let gap = MEANINGS.saturating_sub(width).max(1);
        row += &format!("{:gap$}{word}", "");
        width += gap + word.len();
    }
    let _in_memory = writeln!(text, "{row}");
}

/// Column of the meanings in the help.
const MEANINGS: usize = 32;
/// Width of the help.
const LINE: usize = 99;
