//! The players: `[defaults]` and `[[engines]]`.

use crate::clocks::{self, Clocks, Periods};
use crate::{
    EnginePlan, GoForms, IdentityPlan, Sandbox, SandboxPlan, SeatLimits, Skipped, is_path, program_name,
};
use crate::{
    environment::NoProgram,
    hosts::check_hosts,
    reader::{Item, Table},
    serve::{Counted, ServeConfig},
    settings::Setting,
    time::{default_margin, time_control},
    time_text::text,
    tune::SIDES,
};
use notation::csa::wire::is_player_name;
use referee::{clock::TimeControl, evaluation::ScoreScale};
use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
};
use toml::de::DeValue;

/// The engines of a file.
#[derive(Default)]
pub struct Engines {
    /// Engines that take part.
    pub present: Vec<EnginePlan>,
    /// Optional engines whose program is absent.
    pub skipped: Vec<Skipped>,
    /// For each engine of the file, in its order, whether it takes part.
    pub listed: Vec<bool>,
    names: BTreeSet<String>,
    /// Those that another one replaces.
    replaced: Vec<String>,
}

enum Entry {
    Present(Box<EnginePlan>),
    Skipped(Skipped),
    Faulty,
}

impl Engines {
    /// Reads all engines and notes their faults.
    pub fn read<'a>(root: &Table<'a>) -> Self {
        let defaults = root.table("defaults", &EnginePlan::SECTION);
        if defaults.has("name") {
            defaults.fault("name", "each engine has a name of its own");
        }
        let items = root.item("engines").map(|list| list.elements("tables, each under `[[engines]]`"));
        let items = items.unwrap_or_default();
        let table = |item: &Item<'a>| item.table(&EnginePlan::SECTION).map(|table| table.over(&defaults));
        let is_remote = |item| table(item).is_some_and(|table| table.flag("remote", false));
        // A clock counts as it is announced.
        let serve = root.table("serve", &ServeConfig::SECTION);
        let network = items.iter().any(is_remote).then(|| serve.choice::<Counted>("time_unit").accounting());
        // The file's clock is checked even where every engine has its own.
        time_control(&root.items("time"), network);
        let periods = clocks::periods(root, network);
        let mut engines = Self::default();
        let replaced: Vec<String> = items.iter().filter_map(|item| replaced_by(&table(item)?)).collect();
        let mut is_free = false;
        for (at, item) in items.iter().enumerate() {
            // To look for the program of an engine takes time, and nothing more would be listed.
            if root.context.is_full(item.at) {
                root.context.pass_over(items.len() - at);
                break;
            }
            let entry = table(item).map(|table| {
                engines.check_replaced(&table);
                let clocks = Clocks::read(&table, root, &periods);
                is_free |= !clocks.is_own;
                let name = engines.name(&table);
                let is_withdrawn =
                    matches!(table.item("withdrawn").map(|item| item.value), Some(DeValue::Boolean(true)));
                let has_left = is_withdrawn || name.as_ref().is_some_and(|name| replaced.contains(name));
                engine(&table, clocks, name, has_left)
            });
            engines.take(entry.unwrap_or(Entry::Faulty));
        }
        if !is_free && !items.is_empty() {
            periods.refuse();
        }
        if root.has("tune") {
            engines.oppose(root);
        } else {
            engines.check_number(root);
        }
        engines.forgive();
        engines
    }

    /// Engines that all take part and have names of their own.
    pub fn listed(present: Vec<EnginePlan>) -> Self {
        let mut engines = Self { listed: vec![true; present.len()], present, ..Self::default() };
        engines.forgive();
        engines
    }

    fn take(&mut self, entry: Entry) {
        self.listed.push(!matches!(entry, Entry::Skipped(_)));
        match entry {
            Entry::Present(engine) => self.present.push(*engine),
            Entry::Skipped(skipped) => self.skipped.push(skipped),
            Entry::Faulty => {}
        }
    }

    fn name(&mut self, table: &Table<'_>) -> Option<String> {
        let name = name(table)?;
        if self.names.contains(&name) {
            let message =
                format!("two engines are named \"{name}\"; write another `name = \"..\"` in one of them");
            table.fault("name", message);
        }
        self.names.insert(name.clone());
        Some(name)
    }

    /// Notes the engine above that this one replaces.
    fn check_replaced(&mut self, table: &Table<'_>) {
        let Some(out) = replaced_by(table) else { return };
        if !self.names.contains(&out) {
            table.fault("replaces", format!("no engine above is named \"{out}\""));
        } else if self.replaced.contains(&out) {
            table.fault("replaces", format!("another engine replaces \"{out}\" already"));
        } else {
            self.replaced.push(out);
        }
    }

    fn check_number(&self, root: &Table<'_>) {
        let withdrawn: Vec<&EnginePlan> = self.present.iter().filter(|engine| engine.withdrawn).collect();
        if self.listed.iter().filter(|present| **present).count() >= 2 + withdrawn.len() {
            return;
        }
        let skipped = self.skipped.iter().map(|s| format!("; {} is left out: {}", s.name, s.reason));
        let withdrawn = withdrawn.iter().map(|engine| format!("; {} is withdrawn", engine.name));
        let out: String = skipped.chain(withdrawn).collect();
        root.fault("engines", format!("an event needs at least two engines{out}"));
    }

    /// Has the only engine play against itself, where its options are tuned.
    fn oppose(&mut self, root: &Table<'_>) {
        if self.listed.len() != 1 {
            let number = self.listed.len();
            return root.fault("engines", format!("to tune, name one engine, here are {number}"));
        }
        let Some(engine) = self.present.pop() else {
            if let Some(Skipped { name, reason }) = self.skipped.first() {
                root.fault("engines", format!("{name}, which is to be tuned, is left out: {reason}"));
            }
            return;
        };
        if engine.remote {
            root.fault("engines", "to tune, the engine is one that is started here, not a `remote` player");
        }
        let side = |mark| EnginePlan { name: format!("{}{mark}", engine.name), ..engine.clone() };
        self.present = SIDES.map(side).to_vec();
        self.listed = vec![true; 2];
    }

    /// Gives a margin to the clocks for which the file has none.
    fn forgive(&mut self) {
        for engine in &mut self.present {
            if !engine.margin_given {
                engine.time.margin = default_margin(&engine.time);
            }
            for clock in engine.clocks.iter_mut().filter(|clock| !clock.margin_given) {
                clock.times.iter_mut().for_each(|time| time.margin = default_margin(time));
            }
        }
    }

    /// Number of engines that take part among the first `n` of the file.
    pub fn present_among(&self, n: usize) -> usize {
        self.listed.iter().take(n).filter(|present| **present).count()
    }

    /// Cores that a game keeps busy: those of the heaviest engine; of the two heaviest if any engine ponders.
    pub fn cores_per_game(&self) -> f64 {
        let mut cores: Vec<_> = self.present.iter().map(|engine| engine.cores).collect();
        cores.sort_by(|a, b| b.total_cmp(a));
        let thinking = if self.present.iter().any(|engine| engine.ponder) { 2 } else { 1 };
        cores.iter().take(thinking).sum()
    }
}

/// A build of an engine, with further values of options; `None` after a fault.
pub fn build<'a>(
    root: &Table<'a>,
    table: &Table<'a>,
    name: String,
    values: impl Iterator<Item = (String, String, Item<'a>)>,
) -> Option<EnginePlan> {
    let clocks = Clocks::read(table, root, &Periods::default());
    let Entry::Present(mut engine) = engine(table, clocks, Some(name), false) else { return None };
    for (option, value, item) in values {
        let at = engine.options.iter().position(|(known, _)| *known == option);
        let at = at.unwrap_or(engine.options.len());
        let (value, line) = ((option, value), item.context.line(item.at));
        match engine.options.get_mut(at) {
            Some(known) => (*known, engine.option_sources[at]) = (value, line),
            None => {
                engine.options.push(value);
                engine.option_sources.push(line);
            }
        }
    }
    engine.cores = cores(table, &engine.options);
    Some(*engine)
}

/// The only engine of a file, whose clock comes from a server; `None` after a fault.
pub fn lone(table: &Table<'_>) -> Option<EnginePlan> {
    if table.has("time") {
        table.fault("time", "has no meaning here: the server says how much time there is");
    }
    if table.has("source") {
        table.fault("source", "has no meaning here: name the program of the engine by `command`");
    }
    for key in ["optional", "remote"] {
        if table.flag(key, false) {
            table.fault(key, "has no meaning here: without its engine a client cannot play");
        }
    }
    match engine(table, Clocks::default(), name(table), false) {
        Entry::Present(engine) => Some(*engine),
        Entry::Skipped(_) | Entry::Faulty => None,
    }
}

/// An engine of a library, and why its program cannot be started; `None` after a fault.
pub fn of_library(table: &Table<'_>, clocks: Clocks) -> Option<(EnginePlan, Option<String>)> {
    let is_here = !["source", "host", "remote"].iter().any(|key| table.has(key));
    let command = table.text("command").filter(|_| is_here);
    let missing = command.and_then(|command| table.context.environment.program(&command).err());
    match engine(table, clocks, name(table), true) {
        Entry::Present(engine) => Some((*engine, missing.map(|missing| missing.to_string()))),
        Entry::Skipped(_) | Entry::Faulty => None,
    }
}

/// The engine that this one replaces.
fn replaced_by(table: &Table<'_>) -> Option<String> {
    match table.item("replaces")?.value {
        DeValue::String(name) => Some(name.to_string()),
        // Its reader reports the fault.
        _ => None,
    }
}

/// An engine. One that plays no more is not started, and needs no program.
fn engine(table: &Table<'_>, clocks: Clocks, name: Option<String>, has_left: bool) -> Entry {
    if table.flag("remote", false) {
        return remote(table, clocks, name);
    }
    let (options, option_sources) = options(table);
    let program = match (table.has("source"), table.has("host")) {
        (true, _) => built(table),
        (false, true) => far_program(table),
        (false, false) => program(table),
    };
    let program = match (program, table.item("command").map(|item| item.value)) {
        (Some(Err(_)), Some(DeValue::String(command))) if has_left => {
            Some(Ok(table.context.environment.path(command)))
        }
        (program, _) => program,
    };
    let engine = EnginePlan {
        name: name.clone().unwrap_or_default(),
        command: program.clone().and_then(Result::ok).unwrap_or_default(),
        directory_by_default: !table.has("directory"),
        cores: cores(table, &options),
        options,
        option_sources,
        time: clocks.time,
        clocks: clocks.others,
        margin_given: clocks.margin_given,
        ..EnginePlan::read(table)
    };
    check_host(table, &engine);
    check_go(table, &engine);
    check_reserve(table, &engine);
    match (name, program) {
        // The faults of its source are reported already.
        _ if table.has("source") && engine.source.is_none() => Entry::Faulty,
        (Some(_), Some(Ok(_))) => Entry::Present(Box::new(engine)),
        (Some(name), Some(Err(why))) if engine.optional => {
            Entry::Skipped(Skipped { name, reason: why.to_string() })
        }
        (_, Some(Err(reason))) => {
            table.fault("command", reason);
            Entry::Faulty
        }
        _ => Entry::Faulty,
    }
}

/// A remote player, which has only a name and a clock.
fn remote(table: &Table<'_>, clocks: Clocks, name: Option<String>) -> Entry {
    let Clocks { time, others, margin_given, .. } = clocks;
    for key in EnginePlan::SECTION
        .all()
        .filter(|key| !["name", "remote", "time", "rating", "scale"].contains(&key.name))
    {
        if table.has_itself(key.name) {
            table.fault(key.name, "has no meaning for a `remote` player, which is started elsewhere");
        }
    }
    let remote = EnginePlan { remote: true, time, clocks: others, margin_given, ..EnginePlan::default() };
    if remote.times().any(|time| time.nodes.is_some() || time.depth.is_some() || !time.is_timed()) {
        table.fault("time", "a `remote` player has a clock: main time, byoyomi or increment");
    }
    match &name {
        None => table.fault("name", "is missing; a `remote` player logs in under it"),
        Some(name) if !is_player_name(name) => {
            table.fault("name", "is not a name for a login: 1 to 32 letters, digits, `_`, `-`, `@` or `.`");
        }
        Some(_) => {}
    }
    let (rating, scale) = (table.integer("rating"), ScoreScale::read(table, "scale"));
    table.refuse_unknown();
    let plan = name.map(|name| EnginePlan { name, rating, scale, ..remote });
    plan.map_or(Entry::Faulty, |plan| Entry::Present(Box::new(plan)))
}

/// The name of an engine: as given, or that of its program.
fn name(table: &Table<'_>) -> Option<String> {
    if let Some(item) = table.item("name") {
        return item.name().map(str::to_owned);
    }
    if table.has("source") {
        table.fault("name", "is missing; an engine with a `source` has a name of its own");
        return None;
    }
    let command = table.item("command")?;
    let DeValue::String(command) = command.value else { return None };
    Some(program_name(command).to_owned())
}

/// The program of an engine that is built later, which has no path yet.
fn built(table: &Table<'_>) -> Option<Result<PathBuf, NoProgram>> {
    if table.has("command") {
        table.fault("command", "stands beside `source`, which names the program; leave one of them out");
    }
    Some(Ok(PathBuf::new()))
}

/// The program, or the reason why there is none; `None` after a fault.
pub fn program(table: &Table<'_>) -> Option<Result<PathBuf, NoProgram>> {
    let Some(item) = table.item("command") else {
        table.fault("command", "is missing; name the engine's program");
        return None;
    };
    if let DeValue::String(name) = item.value
        && name.contains(char::is_control)
    {
        item.fault(r"has a line break or another control character; write a path with `\` in single quotes, as in 'C:\new\engine.exe'");
        return None;
    }
    let name = item.text("the name or path of a program")?;
    if name.trim().is_empty() {
        item.fault("is empty; name the engine's program");
        return None;
    }
    Some(table.context.environment.program(name))
}

/// The program of an engine on another host, which is searched there.
fn far_program(table: &Table<'_>) -> Option<Result<PathBuf, NoProgram>> {
    table.require("command", "name the engine's program on its host");
    let name = table.text("command")?;
    if name.trim().is_empty() || name.contains('\0') {
        table.fault("command", "is no program; name the engine's program on its host");
        return None;
    }
    Some(Ok(far_path(&name)))
}

/// A path on another host, where a login begins in the home directory.
pub fn far_path(path: &str) -> PathBuf {
    path.strip_prefix("~/").unwrap_or(path).into()
}

/// Checks what an engine on another host cannot have.
fn check_host(table: &Table<'_>, engine: &EnginePlan) {
    if engine.host.is_none() {
        if table.has_itself("ssh_command") {
            table.fault("ssh_command", "has no meaning without `host`");
        }
        return;
    }
    let here = [("source", engine.source.is_some()), ("sandbox", engine.sandbox.kind == Sandbox::Strict)];
    for (key, _) in here.into_iter().filter(|(_, given)| *given) {
        table.fault(key, "has no meaning for an engine with a `host`, which is another machine");
    }
    let words = engine.args.iter().chain(engine.environment.iter().flat_map(|(name, value)| [name, value]));
    if words.into_iter().any(|word| word.contains('\0')) {
        table.fault("args", "has a character that no program takes");
    }
}

pub fn host(table: &Table<'_>) -> Option<Option<String>> {
    let host = table.text("host")?;
    if let Err(why) = check_hosts(std::slice::from_ref(&host)) {
        table.fault("host", why);
    }
    Some(Some(host))
}

/// The directory that an engine runs in: as given, or that of its program.
pub fn directory(table: &Table<'_>) -> Option<Option<PathBuf>> {
    if table.has("host") {
        let own = || far_path(&table.text("command").unwrap_or_default()).parent().map(Path::to_path_buf);
        let given = table.text("directory").map(|path| far_path(&path));
        return Some(given.or_else(own).filter(|path| !path.as_os_str().is_empty()));
    }
    let Some(path) = table.path("directory") else { return Some(own_directory(table)) };
    if !path.is_dir() {
        table.fault("directory", format!("there is no directory `{}`", path.display()));
    }
    Some(Some(path))
}

/// The directory of a program that is named by its path: engines look for their evaluation and book there, and the
/// programs with a window in which they are usually played start them there. A program that is searched has no files
/// beside it.
pub fn own_directory(table: &Table<'_>) -> Option<PathBuf> {
    let DeValue::String(command) = table.item("command")?.value else { return None };
    let path = is_path(command).then(|| table.context.environment.path(command))?;
    path.parent().map(Path::to_path_buf)
}

pub fn args(table: &Table<'_>) -> Option<Vec<String>> {
    Some(texts(table, "args"))
}

pub fn environment(table: &Table<'_>) -> Option<Vec<(String, String)>> {
    Some(scalars(table, "environment").into_iter().map(|(name, value, _)| (name, value)).collect())
}

pub fn limits(table: &Table<'_>) -> Option<SeatLimits> {
    Some(SeatLimits::read(&table.table("limits", &SeatLimits::SECTION)))
}

pub fn identity(table: &Table<'_>) -> Option<IdentityPlan> {
    Some(IdentityPlan::read(&table.table("identity", &IdentityPlan::SECTION)))
}

fn texts(table: &Table<'_>, key: &str) -> Vec<String> {
    let items = table.item(key).map(|list| list.elements("a list of texts")).unwrap_or_default();
    items.iter().filter_map(Item::scalar).collect()
}

pub fn identity_files(table: &Table<'_>) -> Option<Vec<String>> {
    patterns(table, "files")
}

pub fn ignored_files(table: &Table<'_>) -> Option<Vec<String>> {
    patterns(table, "ignore")
}

fn patterns(table: &Table<'_>, key: &str) -> Option<Vec<String>> {
    let patterns = texts(table, key);
    if patterns.iter().any(|pattern| pattern.trim().is_empty()) {
        table.fault(key, "names a file without a name");
    }
    Some(patterns)
}

pub fn sandbox(table: &Table<'_>) -> Option<SandboxPlan> {
    let items = table.item("sandbox_write").map(|list| list.elements("a list of paths")).unwrap_or_default();
    let mut write = Vec::new();
    for item in &items {
        match item.path() {
            Some(path) if !path.exists() => item.fault(format!("there is no `{}`", path.display())),
            path => write.extend(path),
        }
    }
    let usual = SandboxPlan::default();
    let memory_mb = table.integer("sandbox_memory_mb").unwrap_or(usual.memory_mb);
    let kind = table.choice("sandbox");
    if kind == Sandbox::Default {
        let meant =
            [("sandbox_write", !write.is_empty()), ("sandbox_memory_mb", memory_mb != usual.memory_mb)];
        for (key, _) in meant.into_iter().filter(|(_, meant)| *meant) {
            table.fault(key, "has no meaning without `sandbox = \"strict\"`");
        }
    }
    Some(SandboxPlan { kind, write, memory_mb })
}

/// The entries of a free table with the places they stand at: those of `[defaults]` first, overridden by the engine's.
fn scalars<'a>(table: &Table<'a>, key: &str) -> Vec<(String, String, Item<'a>)> {
    let mut entries: Vec<(String, String, Item<'_>)> = Vec::new();
    let mut known = HashMap::new();
    for (name, item) in table.items(key).iter().rev().flat_map(Item::free_entries) {
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            item.fault("is no name");
        }
        let Some(value) = item.scalar() else { continue };
        match known.get(&name) {
            Some(&at) => entries[at] = (name, value, item),
            None => {
                known.insert(name.clone(), entries.len());
                entries.push((name, value, item));
            }
        }
    }
    entries
}

pub fn options(table: &Table<'_>) -> (Vec<(String, String)>, Vec<String>) {
    let entries = scalars(table, "options");
    entries.into_iter().map(|(name, value, item)| ((name, value), item.context.line(item.at))).unzip()
}

pub fn cores(table: &Table<'_>, options: &[(String, String)]) -> f64 {
    let threads = options.iter().find(|(name, _)| ["Threads", "Thread"].contains(&name.as_str()));
    let threads = threads.and_then(|(_, value)| value.parse::<f64>().ok());
    let usual = if table.has("host") { 0.0 } else { threads.filter(|n| *n > 0.0).unwrap_or(1.0) };
    table.number("cores").unwrap_or(usual)
}

const GO_FORMS: [&str; 4] = ["increment", "movetime", "nodes", "depth"];

pub fn go(table: &Table<'_>) -> Option<GoForms> {
    let zero_time = table.flag("zero_time", true);
    let own_time_only = table.flag("own_time_only", false);
    let all = GoForms { zero_time, own_time_only, ..GoForms::default() };
    let of = |words: &[&str]| {
        let [increment, movetime, nodes, depth] = GO_FORMS.map(|form| words.contains(&form));
        GoForms { increment, movetime, nodes, depth, zero_time, own_time_only }
    };
    let Some(item) = table.item("go") else { return Some(all) };
    if let DeValue::Array(_) = item.value {
        let words: Vec<_> = item.elements("a list").iter().filter_map(|item| item.word(&GO_FORMS)).collect();
        return Some(of(&words));
    }
    Some(match item.word(&["all", "byoyomi-only"]) {
        Some("byoyomi-only") => of(&[]),
        _ => all,
    })
}

/// An engine that does not understand `go nodes` cannot be held to a number of nodes.
fn check_go(table: &Table<'_>, engine: &EnginePlan) {
    let go = &engine.go;
    let forms = [
        ("nodes", engine.times().any(|time| time.nodes.is_some()), go.nodes),
        ("depth", engine.times().any(|time| time.depth.is_some()), go.depth),
    ];
    for (form, wanted, understood) in forms {
        if wanted && !understood {
            let name = &engine.name;
            let message = format!(
                "\"{name}\" has a clock with `{form}`, which it does not understand; give it a `time` of its own, \
                 or add \"{form}\" to this list"
            );
            table.fault("go", message);
        }
    }
}

/// An engine needs some time after the reserve is taken off.
fn check_reserve(table: &Table<'_>, engine: &EnginePlan) {
    let first = |time: &TimeControl| time.fixed.unwrap_or(time.main + time.byoyomi + time.increment);
    let shortest = engine.times().filter(|time| time.is_timed()).map(first).min();
    if let Some(first) = shortest.filter(|first| engine.reserve >= *first) {
        let (reserve, first) = (text(engine.reserve), text(first));
        let name = &engine.name;
        let message = format!(
            "keeps back {reserve}, but \"{name}\" has only {first} for its first move; lower `reserve`, or give the engine \
             more time"
        );
        table.fault("reserve", message);
    }
}
