//! What a key is, the keys of tables that become several values, and the list of all tables.
//!
//! The reader checks values by this list and finds unknown keys with it; the reference of the guide is printed from it.

pub mod attribute;

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name of the key.
    pub name: &'static str,
    /// Type and range of its value.
    pub kind: Kind,
    /// Value when the key is absent.
    pub default: Fallback,
    /// Effect of the key.
    pub meaning: &'static str,
}

/// Type and range of a value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A text.
    Text,
    /// A path, relative to the directory of the configuration file.
    Path,
    /// `true` or `false`.
    Flag,
    /// A duration; zero only where `zero` says so.
    Duration {
        /// True if zero makes sense.
        zero: bool,
    },
    /// A whole number from the first to the second.
    Integer(i64, i64),
    /// A whole number from the first to the second, or the word.
    IntegerOr(i64, i64, &'static str),
    /// A number from the first to the second.
    Number(f64, f64),
    /// One of these words.
    Words(&'static [&'static str]),
    /// Another type, in words.
    Other(&'static str),
}

/// Value when a key is absent.
#[derive(Clone, Copy, Debug)]
pub enum Fallback {
    /// The same as this TOML.
    Is(&'static str),
    /// A description.
    Says(&'static str),
    /// None: the key is required.
    Needed,
}

/// A table of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Headline in the reference.
    pub title: &'static str,
    /// Introduction in the reference; may be empty.
    pub about: &'static str,
    /// Keys of the table, in groups; groups after the first are printed with another section.
    pub keys: &'static [&'static [Key]],
}

impl Section {
    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.all().find(|key| key.name == name)
    }

    /// All its keys.
    pub fn all(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.keys.iter().flat_map(|group| group.iter())
    }
}

use Fallback::{Needed, Says};
use Kind::{Duration, Flag, Integer, IntegerOr, Number, Other, Path, Text, Words};

/// Declares keys in the grammar of [`settings!`](crate::settings::settings): `name = default, kind, "meaning";`.
macro_rules! keys {
    ($($name:ident $(= $default:tt)? $(shown $shown:expr)?, $kind:expr, $meaning:expr;)*) => {
        &[$($crate::keys::Key {
            name: stringify!($name),
            kind: $kind,
            default: $crate::keys::keys!(@default [$($default)?] $($shown)?),
            meaning: $meaning,
        },)*]
    };
    (@default [$default:tt]) => { $crate::keys::Fallback::Is(stringify!($default)) };
    (@default [$($default:tt)?] $shown:expr) => { $shown };
}
pub(crate) use keys;

const ZERO: Kind = Duration { zero: true };
const ABOVE_ZERO: Kind = Duration { zero: false };
/// Type of a time control.
pub const TIME: Kind = Other("text or table");

/// The top level of the file.
pub const ROOT: Section = Section {
    title: "Top level",
    about: "A file has these tables and keys; all but `engines` and a `time` may be left out.",
    keys: &[keys![
        event shown Says("all its defaults"), Other("table"), "the event: name, format, resources";
        stage shown Says("one stage, as `event` says"), Other("tables"), "the stages of the event, in order";
        time shown Says("the engines have their own"), TIME, "the clock of every engine without one of its own";
        rules shown Says("all its defaults"), Other("table"), "the rules of the games";
        adjudication shown Says("off"), Other("table"), "endings by score";
        scoring shown Says("1, 0.5 and 0"), Other("table"),
            "what games and byes are worth in the tables: see `[scoring]`";
        tiebreaks shown Says("those of the format"), Other("table"),
            "what ranks players who are level: see `[tiebreaks]`";
        openings shown Says("the even position"), Other("table"), "start positions";
        sprt shown Says("needed by format `sprt`"), Other("table"), "the hypotheses of a sequential test";
        defaults shown Says("none"), Other("table"), "keys for every engine that does not give them itself";
        engines shown Needed, Other("tables"), "the players, at least two (to tune, one); their order is the seeding";
        tune shown Says("nothing is tuned"), Other("table"),
            "options of the only engine are tuned by `renmei tune`: see `[tune]`";
        parameters shown Says("none"), Other("tables"), "the options that are tuned: see `[[parameters]]`";
        notify shown Says("nobody"), Other("table"), "who is notified of verdicts, ends and halts: see `[notify]`";
        http shown Says("no pages"), Other("table"), "the event in the browser: see `[http]`";
        judge shown Says("nobody"), Other("table"),
            "a neutral engine whose evaluations of the running games stand beside those of the players: see `[judge]`";
        serve shown Says("nobody logs in"), Other("table"),
            "the network side of the event, or an open league: see `[serve]`";
    ]],
};

/// The formats.
pub const FORMATS: &[&str] =
    &["round-robin", "double-round-robin", "gauntlet", "random", "information", "swiss", "knock-out", "sprt"];

/// The keys of a stage.
pub const STAGE_KEYS: &[Key] = keys![
    format = "round-robin", Words(FORMATS), "who meets whom";
    games shown Says("2; in a Swiss 1"), Integer(1, 1_000_000),
        "games of an encounter; even numbers give both players both colours; SPRT has `max_games` instead, and with \
         `until` these are the games at most, 20000 by default";
    until shown Says("all games are played"), Text,
        "two engines play until Elo is known so well, such as `\"5 elo\"`: within ±5 at 95 %, by an interval that is \
         right although it is looked at after every pair; in place of an SPRT";
    rounds shown Says("needed by a Swiss, by random pairing and by information"), Integer(1, 10_000),
        "rounds of a Swiss, of random pairing, where all players are paired by lot in every round, or of pairing by \
         information, where the encounters are played that shrink the errors of the ratings most";
    cycles = 1, Integer(1, 1_000_000), "how often each pair meets in a round robin or gauntlet";
    challengers = 1, Integer(1, 65_534),
        "number of engines, from the first, that meet each of the others in a gauntlet";
    entrants = "all", IntegerOr(2, 65_535, "all"),
        "number of players that take part: seeds, and the best of the stage before (in the first stage, the first of \
         the list of engines)";
    seeded = 0, Integer(0, 65_535),
        "of them, how many enter the event with this stage: the first of the list of engines, after the seeds of \
         later stages";
    from_stage shown Says("the stage before"), Integer(1, 255),
        "the number of the stage whose table the others come from";
    skip = 0, Integer(0, 65_535), "so many players at the head of that table do not enter: they play in another stage";
    accelerated = 0, Integer(0, 100),
        "first rounds of a Swiss that are accelerated, by the formula in the guide to events";
    random_rounds = 0, Integer(0, 10_000), "first rounds of a Swiss that are paired by lot";
    forget_rematches = "never", IntegerOr(1, 10_000, "never"),
        "after so many rounds, again and again, a Swiss forgets who has met";
    sits_out = "lowest-score", Words(&["lowest-score", "lowest-seed", "lot"]),
        "in a Swiss of an odd number of players, who of those with the fewest byes has the bye";
    colours = "balanced", Words(&["balanced", "lot", "fixed"]),
        "who has black in the first game of an encounter: everybody as often as white, as far as possible; either, by \
         lot; or the player earlier in the order of entry; not in an SPRT";
    tie = "higher-seed", Words(&["higher-seed", "more-games"]), "what decides a level knock-out encounter";
    extra_pairs = 2, Integer(1, 1000),
        "with `tie = \"more-games\"`, pairs of games at most; then the higher seed goes on";
    time shown Says("`time` of the file"), TIME,
        "the clock of the stage, in place of that of the file, for engines without a clock of their own";
    time_by_round shown Says("none"), Other("tables"), "other clocks from a round on, see `[[stage.time_by_round]]`";
];

/// Meaning of the key `log`.
macro_rules! log {
    () => {
        "log the engine conversation: `\"faults\"` in the database, of games that ended by a fault; a directory: also of all games, as files there; `renmei log` prints them"
    };
}
pub(crate) use log;
/// Type of the key `log`.
pub const LOG: Kind = Other("a directory, `\"faults\"` or `\"off\"`");

/// Meaning of the key `reserve_mb`.
macro_rules! reserve {
    () => {
        "megabytes of free disk, where the database is, below which no new games begin; running games go on, and new ones begin when there is room again; 0: none"
    };
}
pub(crate) use reserve;
/// Type of the key `reserve_mb`.
pub const RESERVE: Kind = Integer(0, 1_000_000_000_000);

/// The keys of the event.
pub const EVENT: Section = Section {
    title: "`[event]`",
    about: "With one stage, the keys of `[[stage]]` are written here too.",
    keys: &[
        keys![
            name shown Says("the file's name"), Text, "with it an interrupted event is found again in its database";
            database shown Says("the file's name with `.db`"), Path, "the SQLite file";
            seed = 1, Integer(0, i64::MAX), "seed of every random choice";
            concurrency = "auto", IntegerOr(1, 65_535, "auto"),
                "games at once; `auto`: as many as the usable cores carry; where all players are `remote`, all that can be played";
            oversubscribe = false, Flag, "play even if the engines need more cores than there are";
            affinity = "auto", Other("`true`, `false` or `\"auto\"`"),
                "pin each game to cores of its own; `auto`: if every engine has one thread, none ponders or uses a \
                 GPU, and every game finds an idle core that no other manager has";
            startups = "auto", IntegerOr(1, 65_535, "auto"),
                "engines that start up at the same time; `auto`: one for each usable core";
            gpus = 0, Number(0.0, 1024.0), "GPUs that the engines share";
            replay_draws = "no", Words(&["no", "same", "swap"]),
                "play drawn games again, with the same colours or with colours swapped; the draw then does not count";
            replay_limit = 4, Integer(1, 1000), "replays of a game, at most; the next draw counts";
            replayed_draws = "all", Words(&["all", "sennichite"]),
                "which draws are played again: all, or only those by sennichite";
            replay_clocks = "fresh", Words(&["fresh", "remaining"]),
                "the clocks of a replay: full ones, or what the drawn game left of the main time";
            starved = "lose", Words(&["lose", "replay"]),
                "a game that an engine loses on time after it has waited for a processor for at least as long as it \
                 was late (only Linux counts that): lost, or played again, up to ten times; it then does not count";
            break = "0", Other("duration or times of the day"),
                "time between the end of the last game of a round and the first game of the next, or the times of the day, \
                 one of which the next round waits for: `\"13:30 +09:00\"`, or several with commas between them, each in \
                 UTC or by the offset behind it; no game of a round then begins before those of the round before have \
                 ended; after a restart between two rounds it is counted anew";
            look = true, Flag,
                "before the first game, have every engine set its options, get ready and make a move; `false`: only \
                 its handshake is read";
            fault_limit shown Says("all its defaults"), Other("table or text"),
                "faults that halt the games of an engine, see `[event.fault_limit]`; `\"off\"`: none do; `\"10\"`: so \
                 many in a row";
            log = "faults", LOG, log!();
            reserve_mb = 512, RESERVE, reserve!();
        ],
        STAGE_KEYS,
    ],
};

/// The limit of faults.
pub const FAULT_LIMIT: Section = Section {
    title: "`[event.fault_limit]`",
    about: "A fault is a game that an engine lost by a crash, an illegal move or declaration, or on time. An engine that \
        reaches its limit is halted: no further game of it begins, and the event ends as halted if it cannot be played \
        to its end without it. A halted event goes on when the limit is raised. Players who log in have no limit.",
    keys: &[keys![
        in_a_row = 5, IntegerOr(1, 1_000_000_000, "off"),
            "games in a row that the engine's faults end; those that a fault of the opponent ends are left out";
        share = 0.1, Number(0.0, 1.0),
            "most of the engine's games that its faults may end, losses on time excepted; `1`: all";
        games = 20, Integer(1, 1_000_000_000), "games of the engine before the share is looked at";
    ]],
};

/// A stage of an event.
pub const STAGE: Section = Section {
    title: "`[[stage]]`",
    about: "Several stages follow each other: a Swiss, then a knock-out of its first eight.",
    keys: &[STAGE_KEYS],
};

/// The keys that say how much time there is: given together or not at all.
pub const BUDGET_KEYS: [&str; 9] =
    ["control", "main", "byoyomi", "increment", "delay", "fixed", "nodes", "jitter", "depth"];

/// The keys that say how much time each colour has.
pub const COLOURS: [&str; 2] = ["black", "white"];

/// The keys that say how much time there is, and more of them.
macro_rules! budget_keys {
    ($($more:tt)*) => {
        keys![
            control shown Says("the keys below"), Text, "the short form; `main` to `depth` are then not given";
            main = "0", ZERO, "main time of a game";
            byoyomi = "0", ZERO, "time for each move once the main time is used up";
            increment = "0", ZERO, "Fischer increment, added for every move, the first included";
            delay = "0", ZERO, "time at the start of each move that is never charged";
            fixed shown Says("none"), ABOVE_ZERO, "time of each move, exactly (`go movetime`)";
            nodes shown Says("none"), Integer(1, i64::MAX), "nodes to search (`go nodes`)";
            jitter shown Says("none"), Integer(1, 50),
                "per cent by which the nodes of a move may differ from `nodes`, drawn by the seed of the event for \
                 each move, so that engines that always answer alike do not repeat their games";
            depth shown Says("none"), Integer(1, 1000), "depth to search, in plies (`go depth`)";
            $($more)*
        ]
    };
}

/// A time control.
pub const TIME_TABLE: Section = Section {
    title: "`[time]`, `[defaults.time]`, `[engines.time]`",
    about: "Either a text (`time = \"5m+10s\"`, `\"10m byoyomi 30s\"`, `\"byoyomi 1s\"`, `\"fixed 100ms\"`, \
        `\"nodes 1000\"`, `\"nodes 4000 jitter 3%\"`, `\"depth 6\"`, `\"60+0.6\"` in seconds) or a table. How much time there is (`control` to \
        `white`) comes from the nearest place that gives any of these keys (the engine's own, `[defaults]`, \
        `time_by_round` of the stage, `time` of the stage, `[time]`) and from no other; how it is counted (`margin` to \
        `patience`) is taken key by key.",
    keys: &[budget_keys![
        black shown Says("the same for both"), TIME,
            "the time of black, as a text or as a table of the keys above; with `white`, in place of the keys above";
        white shown Says("the same for both"), TIME, "the time of white";
        margin shown Says("`\"100ms\"`; in whole seconds `\"0\"`"), ZERO,
            "overrun of a move that is forgiven; `\"0\"`: the flag falls at once";
        accounting = "ms", Words(&["ms", "seconds"]),
            "count milliseconds, or whole seconds as CSA servers do: fractions are dropped, using exactly what is \
             left loses; where a player is `remote`, what `time_unit` in `[serve]` says";
        least = "0", ZERO, "least time charged for a move";
        patience = "2m", ABOVE_ZERO, "with nodes or depth only: silence after which the flag falls";
    ]],
};

/// The time of one colour.
pub const TIME_OF_COLOUR: Section =
    Section { title: "`time.black`, `time.white`", about: "", keys: &[budget_keys![]] };

/// A clock from a round on.
pub const TIME_BY_ROUND: Section = Section {
    title: "`[[stage.time_by_round]]`",
    about: "The clock of the later rounds of a stage. Events with `time = \"10m+2s\"` in one stage and a longer one in the \
        final have a `time` in each `[[stage]]`; this table is for changes within a stage.",
    keys: &[keys![
        from shown Needed, Integer(1, 10_000), "the first round with this clock";
        time shown Needed, TIME, "the clock, until the next of these tables";
    ]],
};

/// The rules.
pub const RULES: Section = Section {
    title: "`[rules]`",
    about: "",
    keys: &[keys![
        max_moves = 512, IntegerOr(1, 100_000, "none"), "move limit in plies, the moves of the opening included";
        at_limit = "draw", Words(&["draw", "mate-wins", "check-extends"]),
            "at the limit: a draw even if the last move mates (floodgate); a mate wins; or play goes on while in check";
        declaration = "27", Words(&["27", "24", "try", "none"]),
            "the rule of entering kings (nyugyoku): 27 points (CSA), 24 points, the try rule, or none";
        handicap_credit = true, Flag, "in handicap games the pieces that White gave count for White's declaration";
        count_start_position = true, Flag, "the start position counts for sennichite; floodgate does not count it";
        mate_ends_game = true, Flag,
            "the game ends at once when a side has no legal move; else the mated side has to resign";
    ]],
};

/// Endings by score.
pub const ADJUDICATION: Section = Section {
    title: "`[adjudication]`",
    about: "Off, unless one of the two tables is given.",
    keys: &[keys![
        resign shown Says("off"), Other("table"), "a side whose own evaluation has been lost for long enough loses";
        draw shown Says("off"), Other("table"),
            "a game that both sides have evaluated as level for long enough is drawn";
    ]],
};

/// The rules of the tables of results that were played elsewhere.
pub const RESULTS_FILE: Section = Section {
    title: "The file of `renmei import --rules`",
    about: "",
    keys: &[keys![
        scoring shown Says("1, 0.5 and 0"), Other("table"), "what games and byes are worth: see `[scoring]`";
        tiebreaks shown Says("those of the format"), Other("table"), "what ranks players who are level";
    ]],
};

/// What games and byes are worth.
pub const SCORING: Section = Section {
    title: "`[scoring]`",
    about: "Points in the tables of round robins, gauntlets, random pairings and Swiss stages, and the scores that a Swiss \
        pairs by; up to three decimals, exact. A lost game is worth nothing. Elo, SPRT, cross tables and knock-outs count wins, draws \
        and losses, whatever they are worth.",
    keys: &[keys![
        win = 1, POINTS, "a won game, also one that the opponent forfeited";
        draw = 0.5, POINTS, "a drawn game; Denryu-sen: `{ black = 0.4, white = 0.6 }`";
        bye = 1, Number(0.0, 1000.0), "a bye, for each game of an encounter";
    ]],
};

/// Points by colour.
pub const BY_COLOUR: Section = Section {
    title: "`scoring.win`, `scoring.draw`",
    about: "",
    keys: &[keys![
        black shown Needed, Number(0.0, 1000.0), "as black";
        white shown Needed, Number(0.0, 1000.0), "as white";
    ]],
};

/// Type of points.
const POINTS: Kind = Other("number from 0 to 1000, or a table by colour");

/// The order of players who are level in score.
pub const TIEBREAKS: Section = Section {
    title: "`[tiebreaks]`",
    about: "Players with equal scores are ranked by the first of these rules in which they differ; players who are equal in \
        all of them share a rank, in the order of entry. An opponent is counted once for each encounter, a score has its byes. \
        `buchholz` (Solkoff, SOS): the sum of the opponents' scores. `sosos`: the sum of the opponents' Buchholz scores. \
        `median`: Buchholz without the highest and the lowest opponent. `median-of-beaten`: the sum of the scores of the \
        beaten opponents without the highest and the lowest of them, as some Japanese tables have it. `sonneborn-berger`: \
        the sum over all games of the points won times the opponent's score. `direct-encounter`: the score against the \
        players who are level so far. `wins`: games won, forfeits of the opponent included, byes not. `wins-as-white`: \
        those as white. `progressive`: the sum of the scores after each round of a Swiss. `seed`: the place in the order of \
        entry, which after another stage is the rank in it. `rating`: the `rating` that an engine declares. `lot`: drawn from \
        `event.seed`. Penalties of arbiters are taken off the scores.",
    keys: &[keys![
        order shown Says("Swiss: `buchholz`, `sonneborn-berger`, `direct-encounter`; else the last two"), Other("list of names"),
            "the rules in their order; an empty list: the order of entry alone";
        bye = "own-score", Words(&["own-score", "nothing"]),
            "what a bye adds to Buchholz, median and Sonneborn-Berger: an opponent with the player's own score, or \
             nothing, as in Japanese events";
    ]],
};

/// Adjudication of a loss.
pub const RESIGN: Section = Section {
    title: "`adjudication.resign`",
    about: "",
    keys: &[keys![
        score shown Needed, Integer(1, 1_000_000),
            "evaluation at or below minus this, in centipawns; on the common scale for an engine with a `scale`";
        moves = 3, Integer(1, 1000), "on this many of its own moves in a row";
        two_sided = false, Flag, "the opponent's evaluations have to agree for as many moves";
        audit = 0, Number(0.0, 1.0),
            "share of such games that are played on all the same; the report says how many of them the rule would \
             have ended wrongly";
    ]],
};

/// Adjudication of a draw.
pub const DRAW: Section = Section {
    title: "`adjudication.draw`",
    about: "",
    keys: &[keys![
        score shown Needed, Integer(0, 1_000_000), "evaluations within this of zero, in centipawns; as in `resign`";
        plies = 20, Integer(1, 10_000), "on this many plies in a row, of both sides";
        from_ply = 80, Integer(1, 100_000), "not before this ply of the game";
    ]],
};

/// The keys of a table of TLS: the addresses that are listened on, and what connections are shown there.
macro_rules! tls_keys {
    ($listen:tt, $meaning:literal) => {
        keys![
            listen = $listen, Other("list of addresses"), $meaning;
            certificate shown Needed, Path,
                "the certificate and those that lead to a root, in PEM (`fullchain.pem`)";
            key shown Needed, Path, "the private key of the certificate, in PEM (`privkey.pem`)";
        ]
    };
}

/// `[http.tls]`.
pub const HTTP_TLS: Section = Section {
    title: "`[http.tls]`",
    about: "With this table the pages speak HTTPS on addresses of their own, beside those of `listen`. A certificate that is \
        renewed on the disk is shown from the next connection on, without a restart; one that is broken is not, and the \
        program says so.",
    keys: &[tls_keys![["127.0.0.1:8443"], "addresses of the pages over HTTPS, such as `\"0.0.0.0:443\"`"]],
};

/// `[serve.tls]`.
pub const SERVE_TLS: Section = Section {
    title: "`[serve.tls]`",
    about: "With this table clients may speak TLS (1.2 or 1.3) on addresses of their own. A certificate that is renewed \
        on the disk is taken within seconds, without a restart; one that is broken is not, and the host says so.",
    keys: &[tls_keys![
        ["127.0.0.1:4082"],
        "addresses to accept encrypted connections on, beside those of `[serve]`"
    ]],
};

/// The top level of a `renmei floodgate` file.
pub const CLIENT: Section = Section {
    title: "Playing on a server",
    about: "The file of `renmei floodgate`.",
    keys: &[keys![
        floodgate shown Needed, Other("table"), "the server, and how to play there";
        engine shown Needed, Other("table"), "the engine, with the keys of `[[engines]]`; `time` is the server's";
        notify shown Says("nobody"), Other("table"), "where notices of ends and restarts go: see `[notify]`";
        http shown Says("no pages"), Other("table"), "the games in the browser: see `[http]`";
        ratings = {}, Other("table"), "ratings of opponents by their names: Elo is measured against them";
    ]],
};

/// The sections of the reference, in order.
pub const REFERENCE: &[&Section] = &[
    &ROOT,
    &EVENT,
    &FAULT_LIMIT,
    &STAGE,
    &TIME_BY_ROUND,
    &TIME_TABLE,
    &TIME_OF_COLOUR,
    &RULES,
    &ADJUDICATION,
    &RESIGN,
    &DRAW,
    &SCORING,
    &BY_COLOUR,
    &TIEBREAKS,
    &crate::OpeningPlan::SECTION,
    &crate::SprtPlan::SECTION,
    &crate::TunePlan::SECTION,
    &crate::ParameterPlan::SECTION,
    &crate::EnginePlan::SECTION,
    &crate::SourcePlan::SECTION,
    &crate::SeatLimits::SECTION,
    &crate::NotifyConfig::SECTION,
    &crate::HttpConfig::SECTION,
    &HTTP_TLS,
    &crate::JudgePlan::SECTION,
    &crate::IdentityPlan::SECTION,
    &crate::ServeConfig::SECTION,
    &crate::serve::PlayerTime::SECTION,
    &crate::serve::RoundsConfig::SECTION,
    &crate::serve::RatingConfig::SECTION,
    &crate::serve::Limits::SECTION,
    &crate::serve::Retention::SECTION,
    &SERVE_TLS,
    &CLIENT,
    &crate::ClientConfig::SECTION,
    &attribute::ATTRIBUTE_FILE,
    &attribute::ATTRIBUTE,
    &attribute::PART,
    &crate::library::LIBRARY,
    &crate::library::ENGINE,
    &crate::HallConfig::SECTION,
    &crate::hall::HallEvent::SECTION,
    &crate::hall::HallPort::SECTION,
];

/// Tables that only one kind of file has, each with the command for it.
pub const FILES: [(&str, &str); 6] = [
    ("parts", "`renmei attribute`"),
    ("attribute", "`renmei attribute`"),
    ("floodgate", "`renmei floodgate`"),
    ("serve", "`renmei serve`"),
    ("event", "`renmei run` or `renmei serve`"),
    ("engines", "`renmei run` or `renmei serve`"),
];

/// Words of other programs, each with the key that has its meaning here.
pub const ELSEWHERE: [(&str, &str); 18] = [
    ("best_of", "games"),
    ("cmd", "command"),
    ("program", "command"),
    ("path", "command"),
    ("dir", "directory"),
    ("env", "environment"),
    ("option", "options"),
    ("tc", "time"),
    ("st", "fixed"),
    ("inc", "increment"),
    ("nodes", "time.nodes"),
    ("depth", "time.depth"),
    ("timemargin", "margin"),
    ("threads", "options.Threads"),
    ("hash", "options.Hash"),
    ("engine", "engines"),
    ("port", "listen"),
    ("address", "listen"),
];
