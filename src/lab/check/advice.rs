//! The engine's table for a configuration file: the keys it needs, with reasons.

use super::report::text;
use notation::usi::{OptionDecl, OptionKind};
use plan::{EnginePlan, GoForms, SeatLimits};
use std::{fmt::Write as _, time::Duration};

/// An overrun up to this may be caused by a busy machine: the default margin covers twice as much.
pub const JITTER: Duration = Duration::from_millis(50);

/// Facts about the engine, from which its configuration is made.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub name: Option<String>,
    pub author: Option<String>,
    pub options: Vec<OptionDecl>,
    pub go: GoForms,
    pub ponders: bool,
    /// Longest time from the first `isready` of a process to `readyok`.
    pub ready: Duration,
    /// Longest time from a later `isready` to `readyok`.
    pub reload: Duration,
    /// Longest time from `stop` to `bestmove`.
    pub stop: Duration,
    pub overrun: Duration,
    pub cores: Option<f64>,
    /// True if the engine is late with main time, as if it read the opponent's clock.
    pub misreads_clock: bool,
    pub grows: bool,
    /// True if its evaluations seem to be from black's side.
    pub black_scores: bool,
}

/// The reserve for an engine with this overrun: a quarter more plus 50 ms, rounded up to 50 ms.
pub fn reserve(overrun: Duration) -> Duration {
    let wanted = overrun.as_millis() as u64 * 5 / 4 + 50;
    Duration::from_millis(wanted.div_ceil(50) * 50)
}

/// An `[[engines]]` table under which this engine loses no games to the faults found.
pub fn toml(plan: &EnginePlan, facts: &Facts) -> String {
    let mut table = "[[engines]]\n".to_owned();
    let mut key = |key: &str, value: String, why: &str| {
        let why = if why.is_empty() { String::new() } else { format!("  # {why}") };
        let _in_memory = writeln!(table, "{key} = {value}{why}");
    };
    key("name", quoted(facts.name.as_deref().unwrap_or(&plan.name)), "");
    if let Some(host) = &plan.host {
        key("host", quoted(host), "");
    }
    key("command", quoted(&plan.command.display().to_string()), "");
    if !plan.args.is_empty() {
        key("args", list(plan.args.iter().map(String::as_str)), "");
    }
    if let Some(directory) = plan.directory.as_ref().filter(|_| !plan.directory_by_default) {
        key("directory", quoted(&directory.display().to_string()), "");
    }
    if !plan.options.is_empty() {
        let pairs = plan
            .options
            .iter()
            .map(|(name, value)| format!("{} = {}", quoted(name), value_of(facts, name, value)));
        key("options", format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", ")), "");
    }
    timing(facts, &mut key);
    if let Some(limits) = limits(facts) {
        key("limits", limits, "measured need, doubled");
    }
    if facts.black_scores {
        key("scores", quoted("black"), "its evaluations seem to be from black's side");
    }
    if facts.grows {
        key("restart", quoted("every-game"), "fails in the second game of a process");
    }
    if cores(facts) > 1 {
        key("cores", cores(facts).to_string(), "cores used while thinking");
    }
    if facts.overrun > Duration::ZERO && facts.overrun <= JITTER {
        let _in_memory = writeln!(
            table,
            "# Overran by {}: the default `margin` of {} covers that, `margin = \"0\"` does not.",
            text(facts.overrun),
            text(plan::MARGIN)
        );
    }
    if facts.ponders {
        table += "# ponder = true  # supported\n";
    }
    table
}

fn timing(facts: &Facts, key: &mut impl FnMut(&str, String, &str)) {
    if let Some(forms) = forms(facts.go) {
        key("go", forms, "the engine does not accept the other forms of `go`");
    }
    if !facts.go.zero_time {
        key("zero_time", "false".to_owned(), "the engine does not accept `btime 0 wtime 0`");
    }
    if facts.misreads_clock {
        key("own_time_only", "true".to_owned(), "seems to read the opponent's clock");
    }
    if facts.overrun <= JITTER {
        return;
    }
    let reserve = reserve(facts.overrun);
    let why = format!("overran by up to {}", text(facts.overrun));
    key("reserve", milliseconds(reserve), &why);
    let least_why = "or any clock with at least this much per move";
    // With less than twice the reserve, hardly any time would be left for the engine.
    let least = (reserve * 2).as_millis().div_ceil(500) * 500;
    key("time", quoted(&format!("byoyomi {}", millis_text(least))), least_why);
}

/// The `go` key; `None` when the engine accepts every form.
fn forms(go: GoForms) -> Option<String> {
    let forms =
        [("increment", go.increment), ("movetime", go.movetime), ("nodes", go.nodes), ("depth", go.depth)];
    let taken: Vec<_> = forms.iter().filter(|(_, taken)| *taken).map(|(name, _)| *name).collect();
    match taken.len() {
        4 => None,
        0 => Some(quoted("byoyomi-only")),
        _ => Some(list(taken.into_iter())),
    }
}

/// Limits beyond the defaults, with as much again to spare.
fn limits(facts: &Facts) -> Option<String> {
    let default = SeatLimits::default();
    let wanted = [
        ("ready", facts.ready, default.ready),
        ("new_game", facts.reload, default.new_game),
        ("stop", facts.stop, default.stop),
    ];
    let needed = wanted.iter().filter(|(_, seen, default)| *seen * 2 > *default);
    let keys: Vec<_> = needed.map(|(name, seen, _)| format!("{name} = {}", seconds(*seen * 2))).collect();
    (!keys.is_empty()).then(|| format!("{{ {} }}", keys.join(", ")))
}

fn cores(facts: &Facts) -> u32 {
    facts.cores.filter(|cores| *cores > 1.3).map_or(1, |cores| cores.ceil() as u32)
}

/// Numbers and booleans are written without quotes where the engine declares such a type.
fn value_of(facts: &Facts, name: &str, value: &str) -> String {
    let kind = facts.options.iter().find(|option| option.name == name).map(|option| &option.kind);
    match kind {
        Some(OptionKind::Spin { .. } | OptionKind::Check { .. }) => value.to_owned(),
        _ => quoted(value),
    }
}

fn milliseconds(time: Duration) -> String {
    quoted(&millis_text(time.as_millis()))
}

fn millis_text(ms: u128) -> String {
    if ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") }
}

fn seconds(time: Duration) -> String {
    quoted(&format!("{}s", time.as_millis().div_ceil(1000)))
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", words.map(quoted).collect::<Vec<_>>().join(", "))
}

/// A TOML basic string (toml.io/en/v1.0.0#string): quotes, backslashes and control characters are escaped.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted += &format!("\\u{:04X}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn plan(arguments: &[&str]) -> EnginePlan {
        Settings::of(&crate::tests::request(arguments)).unwrap().plan
    }

    #[test]
    fn an_engine_without_quirks_needs_nothing_but_its_command() {
        let facts = Facts { name: Some("A \"fine\" engine".to_owned()), ..Facts::default() };
        assert_eq!(
            toml(&plan(&["/opt/a"]), &facts),
            "[[engines]]\nname = \"A \\\"fine\\\" engine\"\ncommand = \"/opt/a\"\n"
        );
    }

    #[test]
    fn every_quirk_has_its_key() {
        let none =
            GoForms { increment: false, movetime: false, nodes: false, depth: false, ..GoForms::default() };
        let facts = Facts {
            name: Some("gps".to_owned()),
            go: none,
            overrun: Duration::from_millis(930),
            ready: Duration::from_secs(90),
            cores: Some(1.9),
            grows: true,
            ..Facts::default()
        };
        let lines = toml(&plan(&["--option", "Style=calm", "/opt/gps", "--num-cpus", "2"]), &facts);
        let starts: Vec<_> = lines.lines().map(|line| line.split("  #").next().unwrap()).collect();
        assert_eq!(
            starts,
            [
                "[[engines]]",
                "name = \"gps\"",
                "command = \"/opt/gps\"",
                "args = [\"--num-cpus\", \"2\"]",
                "options = { \"Style\" = \"calm\" }",
                "go = \"byoyomi-only\"",
                "reserve = \"1250ms\"",
                "time = \"byoyomi 2500ms\"",
                "limits = { ready = \"180s\" }",
                "restart = \"every-game\"",
                "cores = 2",
            ]
        );
    }

    #[test]
    fn some_forms_are_listed_by_name() {
        let go = GoForms { nodes: false, depth: false, ..GoForms::default() };
        assert_eq!(forms(go), Some("[\"increment\", \"movetime\"]".to_owned()));
        assert_eq!(forms(GoForms::default()), None);
    }
}
