//! The clocks of a player by colour, stage and round.

use crate::{
    EnginePlan,
    keys::{STAGE, TIME_BY_ROUND},
    reader::{Item, Table},
    time::{Merged, time_control},
    time_text::EXAMPLES,
};
use referee::{
    Color,
    clock::{Accounting, TimeControl},
};
use serde::{Deserialize, Serialize};

/// Clocks that a player has in some games, in place of its usual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockIn {
    /// The stage, from 0; `None`: every stage.
    pub stage: Option<u8>,
    /// The first round with these clocks, from 1.
    pub from: u32,
    /// The clocks as black and as white.
    pub times: [TimeControl; 2],
    /// True if the configuration gives the margin.
    #[serde(skip)]
    pub margin_given: bool,
}

impl EnginePlan {
    /// The clock in games of a round (from 1) of a stage (from 0) with this colour.
    pub fn time_in(&self, stage: u8, round: u32, color: Color) -> TimeControl {
        let holds = |clock: &&ClockIn| clock.stage.is_none_or(|of| of == stage) && clock.from <= round;
        self.clocks.iter().rfind(holds).map_or(self.time, |clock| clock.times[color.index()])
    }

    /// All clocks that it may have.
    pub fn times(&self) -> impl Iterator<Item = &TimeControl> {
        [&self.time].into_iter().chain(self.clocks.iter().flat_map(|clock| &clock.times))
    }

    /// All clocks that it may have.
    pub fn times_mut(&mut self) -> impl Iterator<Item = &mut TimeControl> {
        [&mut self.time].into_iter().chain(self.clocks.iter_mut().flat_map(|clock| &mut clock.times))
    }
}

/// The rounds of a stage with a clock of their own.
struct Period<'a> {
    stage: u8,
    from: u32,
    /// The places that say something about it, the nearest first.
    places: Vec<Item<'a>>,
}

impl Period<'_> {
    fn refuse(&self) {
        if let Some(place) = self.places.first() {
            place.fault("no engine has this clock: each has a `time` of its own; leave out one of the two");
        }
    }
}

/// The periods of all stages, in the order of the games.
#[derive(Default)]
pub struct Periods<'a> {
    list: Vec<Period<'a>>,
    /// True if every stage has a clock of its own.
    is_whole: bool,
    /// How every clock counts, because a remote player hears it.
    network: Option<Accounting>,
}

impl Periods<'_> {
    /// Notes that no engine has any of these clocks.
    pub fn refuse(&self) {
        self.list.iter().for_each(Period::refuse);
    }
}

/// The periods of the stages of a file, and how the network counts, if a player is remote.
pub fn periods<'a>(root: &Table<'a>, network: Option<Accounting>) -> Periods<'a> {
    let tables: Vec<Table<'a>> = match root.item("stage") {
        Some(Item { value: toml::de::DeValue::Array(_), .. }) => {
            let items = root.item("stage").map(|list| list.elements("tables")).unwrap_or_default();
            items.iter().filter(|item| item.is_table()).filter_map(|item| item.table(&STAGE)).collect()
        }
        Some(_) => vec![],
        None => vec![root.table("event", &STAGE)],
    };
    let stages = (0..=u8::MAX).zip(&tables);
    Periods {
        list: stages.flat_map(|(stage, table)| of_stage(stage, table)).collect(),
        is_whole: tables.iter().all(|table| table.has("time")),
        network,
    }
}

fn of_stage<'a>(stage: u8, table: &Table<'a>) -> Vec<Period<'a>> {
    let whole = table.items("time");
    let mut periods = vec![];
    if !whole.is_empty() {
        periods.push(Period { stage, from: 1, places: whole.clone() });
    }
    let by_round = table.item("time_by_round").map(|list| list.elements("tables")).unwrap_or_default();
    for item in &by_round {
        let Some(table) = item.table(&TIME_BY_ROUND) else { continue };
        table.require("from", "say from which round on, such as `from = 4`");
        table.require("time", "say how much time there is then");
        let (from, mut places) = (table.integer("from").unwrap_or(1), table.items("time"));
        table.refuse_unknown();
        if periods.iter().any(|before| before.places.len() > whole.len() && before.from >= from) {
            table.fault("from", "these tables stand in the order of their rounds, each round once");
        }
        places.extend(whole.iter().cloned());
        periods.push(Period { stage, from, places });
    }
    periods
}

/// The clocks of a player as the file says them, the default margin not yet added.
#[derive(Default)]
pub struct Clocks {
    /// The usual clock, as black.
    pub time: TimeControl,
    /// Clocks in some games in place of it, a later one in place of an earlier one.
    pub others: Vec<ClockIn>,
    /// True if some place gives the margin.
    pub margin_given: bool,
    /// True if the player has a clock of its own, which no stage changes.
    pub is_own: bool,
}

impl Clocks {
    /// Reads the clocks of an engine.
    pub fn read(table: &Table<'_>, root: &Table<'_>, periods: &Periods<'_>) -> Self {
        let (own, file) = (table.items("time"), root.items("time"));
        let is_own = time_control(&own, periods.network).is_some();
        let read =
            |between: &[Item<'_>]| time_control(&[&own[..], between, &file[..]].concat(), periods.network);
        let mut others: Vec<ClockIn> = vec![];
        for &Period { stage, from, ref places } in &periods.list {
            let Some(Merged { times, margin_given }) = read(places) else {
                tell_missing(places.first(), root);
                continue;
            };
            others.push(ClockIn { stage: Some(stage), from, times, margin_given });
        }
        let usual = read(&[]).or_else(|| {
            // A file may give every stage its clock, and itself none.
            let &ClockIn { times, margin_given, .. } = others.first().filter(|_| periods.is_whole)?;
            Some(Merged { times, margin_given })
        });
        let Some(Merged { times, margin_given }) = usual else {
            tell_missing(own.first().or(file.first()), root);
            return Self { is_own, ..Self::default() };
        };
        let time = times[0];
        if times[1] != time {
            others.insert(0, ClockIn { stage: None, from: 1, times, margin_given });
        }
        if others.iter().all(|other| other.times == [time; 2]) {
            others.clear();
        }
        Self { time, others, margin_given, is_own }
    }
}

/// Notes that no place says how much time there is.
fn tell_missing(place: Option<&Item<'_>>, root: &Table<'_>) {
    match place {
        Some(place) => place.fault(format!("does not say how much time there is; write it as in {EXAMPLES}")),
        None => root.fault("time", format!("is missing; give the engines a clock as in {EXAMPLES}")),
    }
}
