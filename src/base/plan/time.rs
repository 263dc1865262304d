//! Time controls: the tables of the engine, the defaults and the file, merged into one clock.

use crate::{
    keys::{BUDGET_KEYS, COLOURS, TIME_OF_COLOUR, TIME_TABLE},
    reader::{Item, Table},
    time_text,
};
use referee::clock::{Accounting, Clock, TimeControl};
use std::time::Duration;
use toml::de::DeValue;

/// Time settings of one place in the file; `None`: a more general place decides.
#[derive(Clone, Default)]
struct Layer {
    budget: Option<[TimeControl; 2]>,
    margin: Option<Duration>,
    accounting: Option<Accounting>,
    least: Option<Duration>,
    patience: Option<Duration>,
}

/// A clock as the file says it, the default margin not yet added.
#[derive(Default)]
pub struct Merged {
    /// The clock as black and as white.
    pub times: [TimeControl; 2],
    /// True if some place gives the margin.
    pub margin_given: bool,
}

/// Merges the time settings of several places, the nearest first. The amount of time comes from the nearest place that
/// gives any; how it is counted is taken key by key, or as the network counts. `None` if no place gives an amount: the
/// caller notes that fault.
pub fn time_control(places: &[Item<'_>], network: Option<Accounting>) -> Option<Merged> {
    let layers: Vec<_> = places.iter().map(layer).collect();
    let (budget, place) =
        layers.iter().zip(places).find_map(|(layer, place)| Some((layer.budget?, place)))?;
    let margin = layers.iter().find_map(|layer| layer.margin);
    let said = layers.iter().zip(places).find_map(|(layer, place)| Some((layer.accounting?, place)));
    if let (Some(network), Some((said, place))) = (network, said)
        && network != said
    {
        place.fault("leave out `accounting`: with a `remote` player `time_unit` in `[serve]` says it");
    }
    let times = budget.map(|budget| TimeControl {
        margin: margin.unwrap_or_default(),
        accounting: network.or(said.map(|(said, _)| said)).unwrap_or_default(),
        least: layers.iter().find_map(|layer| layer.least).unwrap_or_default(),
        patience: layers.iter().find_map(|layer| layer.patience).unwrap_or(PATIENCE),
        ..budget
    });
    for message in times.iter().flat_map(|time| contradictions(time, network.is_some())) {
        place.fault(message);
    }
    Some(Merged { times, margin_given: margin.is_some() })
}

/// Overrun that is forgiven where the configuration does not say. Engines aim at the end of their time and stop by
/// polling a clock: sound ones are late by a few milliseconds, on a busy machine by tens. An engine that reads its clock
/// wrongly is late by far more, and still loses.
pub const MARGIN: Duration = Duration::from_millis(100);

/// The margin of a clock for which the configuration gives none. Clocks in whole seconds are those of CSA servers, which
/// forgive nothing; without a clock there is nothing to forgive.
pub fn default_margin(time: &TimeControl) -> Duration {
    match time.accounting {
        Accounting::Milliseconds if time.is_timed() => MARGIN,
        _ => Duration::ZERO,
    }
}

/// Longest silence of an engine on an untimed turn.
pub const PATIENCE: Duration = Duration::from_secs(120);

fn layer(place: &Item<'_>) -> Layer {
    if let DeValue::String(text) = place.value {
        return Layer { budget: Some([short(place, text); 2]), ..Layer::default() };
    }
    let table = match place.value {
        DeValue::Table(_) => place.table(&TIME_TABLE),
        _ => place.wrong("a text such as \"5m+10s\" or a table"),
    };
    let Some(table) = table else {
        return Layer { budget: Some([stand_in(); 2]), ..Layer::default() };
    };
    let (both, by_colour) = (budget(&table), by_colour(&table));
    let layer = Layer {
        budget: by_colour.or(table.budget_key().map(|_| [both; 2])),
        margin: table.duration("margin"),
        accounting: table.word("accounting").map(|word| match word {
            "seconds" => Accounting::Seconds,
            _ => Accounting::Milliseconds,
        }),
        least: table.duration("least"),
        patience: table.duration("patience"),
    };
    table.refuse_unknown();
    layer
}

/// A placeholder for a faulty time control, so that one fault does not cause others.
fn stand_in() -> TimeControl {
    TimeControl { byoyomi: Duration::from_secs(1), ..TimeControl::default() }
}

fn short(place: &Item<'_>, text: &str) -> TimeControl {
    time_text::time_control(text).map_err(|error| place.fault(error)).unwrap_or_else(|()| stand_in())
}

/// The times of black and white, where they are given each.
fn by_colour(table: &Table<'_>) -> Option<[TimeControl; 2]> {
    let times = COLOURS.map(|colour| table.item(colour).map(|item| of_colour(&item)));
    let given = COLOURS.into_iter().find(|colour| table.has(colour))?;
    if let Some(key) = table.budget_key() {
        table.fault(
            given,
            format!("`{key}` already says how much time both colours have; give one of the two"),
        );
    }
    COLOURS.into_iter().for_each(|colour| table.require(colour, "say how much time each colour has"));
    Some(times.map(|time| time.unwrap_or_else(stand_in)))
}

/// The time of one colour: a text, or a table of the keys that say how much there is.
fn of_colour(item: &Item<'_>) -> TimeControl {
    if let DeValue::String(text) = item.value {
        return short(item, text);
    }
    let table = match item.value {
        DeValue::Table(_) => item.table(&TIME_OF_COLOUR),
        _ => item.wrong("a text such as \"5m+10s\" or a table"),
    };
    let Some(table) = table else { return stand_in() };
    let time = budget(&table);
    table.refuse_unknown();
    time
}

fn budget(table: &Table<'_>) -> TimeControl {
    let before = table.context.faults();
    let keys = TimeControl {
        main: table.duration("main").unwrap_or_default(),
        byoyomi: table.duration("byoyomi").unwrap_or_default(),
        increment: table.duration("increment").unwrap_or_default(),
        delay: table.duration("delay").unwrap_or_default(),
        fixed: table.duration("fixed"),
        nodes: table.integer("nodes"),
        jitter: table.integer("jitter").unwrap_or_default(),
        depth: table.integer("depth"),
        ..TimeControl::default()
    };
    let control = table.item("control");
    let control = control.and_then(|item| Some(short(&item, item.text("a time control")?)));
    if table.context.faults() > before {
        return stand_in();
    }
    if let (Some(_), Some(key)) = (control, BUDGET_KEYS[1..].iter().find(|key| table.has(key))) {
        table.fault(key, "`control` already says how much time there is; give one of the two");
    }
    control.unwrap_or(keys)
}

/// Settings of a time control that contradict each other, as messages; `heard`: the clock is announced to a remote player.
pub fn contradictions(time: &TimeControl, heard: bool) -> Vec<String> {
    let mut faults = Vec::new();
    let running = [("main", time.main), ("byoyomi", time.byoyomi), ("increment", time.increment)];
    if let (Some(_), Some((name, _))) = (time.fixed, running.iter().find(|(_, time)| !time.is_zero())) {
        faults.push(format!("`fixed` is all the time of a move; `{name}` cannot go with it"));
    }
    if !time.is_timed() && time.nodes.is_none() && time.depth.is_none() {
        faults.push(format!("there is no time and no limit in it; write it as in {}", time_text::EXAMPLES));
    }
    if time.jitter > 0 && time.nodes.is_none() {
        faults.push("`jitter` varies `nodes`, which are not given".to_owned());
    }
    let others = [("fixed", time.fixed.unwrap_or_default()), ("delay", time.delay), ("least", time.least)];
    let unit = Duration::from_millis(time.unit_ms()).as_nanos();
    let counts = match (time.accounting, heard) {
        (Accounting::Milliseconds, _) => "clocks count whole milliseconds",
        (_, false) => "`accounting = \"seconds\"` counts whole seconds",
        (_, true) => "a `remote` player counts whole seconds, unless `[serve]` has `time_unit = \"msec\"`",
    };
    for (name, time) in running.into_iter().chain(others).filter(|(_, time)| time.as_nanos() % unit != 0) {
        faults.push(format!("`{name}` is {}, but {counts}", time_text::text(time)));
    }
    if time.is_timed() && Clock::new(*time).charge(Duration::ZERO).is_err() {
        faults.push("nobody can win: `least` alone uses up all the time of the first move".to_owned());
    }
    faults
}
