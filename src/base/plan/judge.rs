//! `[judge]`: a neutral engine that looks at the running games.

use crate::{
    EnginePlan, engines,
    keys::{
        Fallback::{Is, Needed, Says},
        Kind::{Duration as Time, Integer, Number, Other, Text},
    },
    program_name,
    reader::Table,
    settings::settings,
};
use referee::evaluation::ScoreScale;
use std::time::Duration;

settings! {
    /// A neutral engine that looks at positions of the running games, and that no game waits for. It is not stored with the
    /// plan, and may be another one when an event is resumed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct JudgePlan in "`[judge]`", "A neutral engine that looks at the positions of the running games as they come, newest \
        first; it skips what it cannot keep up with, and no game waits for it. Its cores are its own: by default fewer games are \
        played at once."
    with {
        /// The engine.
        engine: EnginePlan = EnginePlan::default();
    };

    command shown Needed, Text, "the program, as at an engine";
    args shown Is("[]"), Other("texts"), "its arguments";
    options shown Is("{}"), Other("table"), "USI options by their names: texts, numbers, `true` or `false`";
    cores shown Says("its threads by option, or 1"), Number(0.01, 1024.0), "cores that it keeps busy";
    nodes: u64 = 100_000, Integer(1, 1_000_000_000_000), "nodes that it searches in each position";
    time: Option<Duration> = None shown Says("by `nodes`"), Time { zero: false },
        "time that it searches each position, in place of `nodes`, such as `\"200ms\"`";
    scale: Option<ScoreScale> = None shown Says("`600`, the common scale"), Integer(1, 1_000_000),
        "centipawns of it that are one unit of log odds of results, as at an engine: its evaluations are written on the common \
         scale of 600";
    patience: Duration = (Duration::from_secs(10)) shown Is("\"10s\""), Time { zero: false },
        "most time for a position, beyond its `time`; a judge that takes longer is ended and started again, five times in a row at most";
}

impl JudgePlan {
    /// The judge of a file; `None` without one, or after a fault.
    pub(crate) fn of(root: &Table<'_>) -> Option<Self> {
        let table = root.table("judge", &Self::SECTION);
        if !table.is_given() {
            return None;
        }
        if table.has("nodes") && table.has("time") {
            table.fault("time", "stands beside `nodes`; leave one of the two out");
        }
        let program = engines::program(&table);
        let name = table.text("command").map(|command| program_name(&command).to_owned());
        let (options, option_sources) = engines::options(&table);
        let engine = EnginePlan {
            name: name.unwrap_or_default(),
            args: engines::args(&table).unwrap_or_default(),
            cores: engines::cores(&table, &options),
            directory_by_default: true,
            options,
            option_sources,
            ..EnginePlan::default()
        };
        let plan = Self::read(&table);
        match program? {
            Ok(command) => {
                let directory = engines::own_directory(&table);
                Some(Self { engine: EnginePlan { command, directory, ..engine }, ..plan })
            }
            Err(reason) => {
                table.fault("command", reason);
                None
            }
        }
    }
}
