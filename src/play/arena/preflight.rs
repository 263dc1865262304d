//! Checks before the first game: a look at every engine, its options, and the cores.

use crate::{
    CannotPlay, Say,
    cores::{ClaimedCores, EngineFacts, Machine, games_to_pin},
    worker::WorkerSpec,
};
use notation::usi::{OptionDecl, OptionKind, nearest};
use plan::{EnginePlan, Plan, Sandbox, ScoreView};
use referee::{
    entry::{Score, WARNING},
    number::number,
    rules::{Declaration, Rules},
};
use seat::usi::{self, Failing, Handshake, LookFault, Reach, Step, UsiPlayer};
use std::{collections::BTreeMap, io, sync::Arc, time::Duration};
use tokio::sync::{Semaphore, watch};

/// Options that every engine has, declared or not (USI).
const IMPLIED: [&str; 2] = ["USI_Hash", "USI_Ponder"];
/// Time after which a look shows what it waits for.
const LONG: Duration = Duration::from_secs(3);
/// Names of the option for the number of threads.
const THREADS: [&str; 3] = ["Threads", "Thread", "USI_Threads"];

/// What the look at an event has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// What would go wrong; empty if the event can be played.
    pub faults: Vec<String>,
    /// The engines that are started here, in the order of the plan.
    pub engines: Vec<EngineFacts>,
    /// Their handshakes, in the same order; an empty one for an engine with a fault.
    pub shown: Vec<Handshake>,
}

/// Has every engine do once what a game asks of it, as many at the same time as may start up, and finds what would go
/// wrong. What takes long is shown by `say`.
///
/// # Errors
/// When this machine lacks what an engine, or the look, needs.
pub fn look(plan: &Plan, say: &Say) -> io::Result<Findings> {
    look_at_all(plan, false, say)
}

/// The same, with one engine after the other, for a machine on which others play.
///
/// # Errors
/// As [`look`].
pub fn look_in_turn(plan: &Plan, say: &Say) -> io::Result<Findings> {
    look_at_all(plan, true, say)
}

fn look_at_all(plan: &Plan, in_turn: bool, say: &Say) -> io::Result<Findings> {
    let engines: Vec<_> = started_here(plan).map(|engine| Arc::new(engine.clone())).collect();
    let lacks: Vec<_> =
        engines.iter().filter_map(|engine| Some(sandbox_fault(engine)?.to_string())).collect();
    if !lacks.is_empty() {
        return Ok(Findings { faults: lacks, ..Findings::default() });
    }
    if engines.iter().any(|engine| engine.sandbox.kind == Sandbox::Strict) {
        say(seat::sandbox::counting());
    }
    let reach = if plan.look { Reach::Move } else { Reach::Handshake };
    let looked = Look { reach, startups: plan.startups, gpus: plan.gpus, in_turn }.at(&engines, say)?;
    let (mut faults, mut facts, mut shown) = (vec![], vec![], vec![]);
    for (engine, seen) in engines.iter().zip(looked) {
        faults.extend(faults_of(engine, &seen));
        if let Ok(Handshake { device: Some(device), .. }) = &seen {
            say(&format!("engine `{}` computes on {device}", engine.name));
        }
        facts.push(facts_of(engine, seen.as_ref().ok()));
        facts.last().iter().flat_map(|facts| &facts.warnings).for_each(|warning| say(warning));
        shown.push(seen.unwrap_or_default());
    }
    faults.extend(core_fault(plan, &facts, heaviest(&engines, &shown).as_deref()));
    rule_notes(&plan.rules, engines.iter().map(|engine| &**engine).zip(&shown))
        .iter()
        .for_each(|note| say(note));
    Ok(Findings { faults, engines: facts, shown })
}

/// Has one engine do once what a game asks of it; returns the faults of its options, or why it cannot play.
///
/// # Errors
/// As [`look`].
pub fn look_at(engine: &EnginePlan, say: &Say) -> io::Result<Result<Vec<String>, CannotPlay>> {
    if let Some(fault) = sandbox_fault(engine) {
        return Ok(Err(fault));
    }
    if engine.sandbox.kind == Sandbox::Strict {
        say(seat::sandbox::counting());
    }
    let engines = [Arc::new(engine.clone())];
    let looked =
        Look { reach: Reach::Move, startups: 1, gpus: engine.gpu, in_turn: true }.at(&engines, say)?;
    looked.iter().flatten().flat_map(|shown| warnings(engine, shown)).for_each(|warning| say(&warning));
    Ok(looked
        .iter()
        .map(|seen| options_of(engine, seen))
        .collect::<Result<Vec<_>, _>>()
        .map(|all| all.concat()))
}

/// What this machine lacks for the sandbox of an engine.
fn sandbox_fault(engine: &EnginePlan) -> Option<CannotPlay> {
    let strict = engine.sandbox.kind == Sandbox::Strict;
    let lack = if strict { seat::sandbox::available().err() } else { None };
    lack.map(|lack| CannotPlay { engine: engine.name.clone(), host: None, fault: lack.into() })
}

type Seen = Result<Handshake, LookFault>;

fn faults_of(engine: &EnginePlan, seen: &Seen) -> Vec<String> {
    options_of(engine, seen).unwrap_or_else(|fault| vec![fault.to_string()])
}

/// The faults of its options, or why it cannot play.
fn options_of(engine: &EnginePlan, seen: &Seen) -> Result<Vec<String>, CannotPlay> {
    let (name, host) = (engine.name.clone(), engine.host.clone());
    let refused = |fault: &LookFault| CannotPlay { engine: name, host, fault: fault.clone().into() };
    seen.as_ref().map(|shown| option_faults(engine, shown)).map_err(refused)
}

fn facts_of(engine: &EnginePlan, shown: Option<&Handshake>) -> EngineFacts {
    let threads = |option: &OptionDecl| THREADS.contains(&option.name.as_str());
    EngineFacts {
        id_name: shown.and_then(|shown| shown.name.clone()),
        // The threads of an engine on another host are not ours.
        cores: shown
            .filter(|_| engine.host.is_none())
            .map_or(engine.cores, |shown| engine.cores.max(thread_count(engine, shown))),
        declares_threads: shown.is_some_and(|shown| shown.options.iter().any(threads)),
        process_threads: shown.and_then(|shown| shown.threads),
        warnings: shown.map(|shown| warnings(engine, shown)).unwrap_or_default(),
    }
}

/// What the look has seen that ends no game, but costs this engine or its opponent some.
fn warnings(engine: &EnginePlan, shown: &Handshake) -> Vec<String> {
    let busy = shown.busy_at_rest.map(|cores| {
        let ponders = |option: &&OptionDecl| {
            ["USI_Ponder", "Ponder"].contains(&option.name.as_str())
                && option.kind == OptionKind::Check { default: true }
                && !engine.options.iter().any(|(name, _)| *name == option.name)
        };
        let way = match shown.options.iter().find(ponders) {
            Some(option) => format!("`options = {{ {} = false }}` turns that off", option.name),
            None => {
                let cores = (engine.cores + cores).round().max(2.0);
                format!("`cores = {cores}` gives its opponent a core of its own")
            }
        };
        let name = &engine.name;
        format!(
            "{WARNING}engine `{name}` keeps {cores:.1} cores busy while its opponent is to move, without `ponder`; {way}"
        )
    });
    let reversed = shown.reversed.map(|score| {
        let (side, way) = match engine.scores {
            ScoreView::Mover => ("black", "write `scores = \"black\"`"),
            ScoreView::Black => ("the side to move", "leave out `scores = \"black\"`"),
        };
        let value = match score {
            Score::Cp(cp) => cp.to_string(),
            Score::Mate(_) => "lost by mate".to_owned(),
        };
        format!(
            "{WARNING}engine `{}` evaluates a position that White, to move, wins easily as {value} for White: its scores seem \
             to be those of {side}, and adjudication by score would take it for lost where it wins; {way}",
            engine.name
        )
    });
    let stays = shown.stays.then(|| {
        format!(
            "{WARNING}engine `{}` does not end after `quit`, not even at SIGTERM, and had to be killed",
            engine.name
        )
    });
    busy.into_iter().chain(reversed).chain(stays).collect()
}

/// How engines are looked at.
struct Look {
    reach: Reach,
    /// Engines at the same time.
    startups: usize,
    /// GPUs that they share.
    gpus: f64,
    /// True if an engine begins after the end of the one before.
    in_turn: bool,
}

impl Look {
    /// What is seen of each engine; an error where this program or this machine is at fault, and not an engine.
    fn at(&self, engines: &[Arc<EnginePlan>], say: &Say) -> io::Result<Vec<Seen>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let seen = runtime.block_on(self.at_all(engines, say));
        let ours = seen.iter().find_map(|seen| match &seen.as_ref().err()?.how {
            Failing::Ours(why) => Some(why.clone()),
            _ => None,
        });
        ours.map_or(Ok(seen), |why| Err(io::Error::new(io::ErrorKind::QuotaExceeded, why)))
    }

    async fn at_all(&self, engines: &[Arc<EnginePlan>], say: &Say) -> Vec<Seen> {
        let startups = Arc::new(Semaphore::new(self.startups.max(1)));
        // Engines that do not fit into the GPUs together are looked at one after the other.
        let crowded = engines.iter().map(|engine| engine.gpu).sum::<f64>() > self.gpus;
        let turns = Arc::new(Semaphore::new(if self.in_turn { 1 } else { engines.len().max(1) }));
        let gpu = Arc::new(Semaphore::new(if crowded { 1 } else { engines.len().max(1) }));
        let (mut tasks, mut progress) = (vec![], vec![]);
        for engine in engines {
            let (sender, steps) = watch::channel(Step::default());
            let (startups, gpu, turns) = (startups.clone(), gpu.clone(), turns.clone());
            let engine = engine.clone();
            progress.push((engine.clone(), steps));
            let reach = self.reach;
            tasks.push(tokio::spawn(async move {
                let _turn = turns.acquire().await.ok();
                let _share = if engine.gpu > 0.0 { gpu.acquire().await.ok() } else { None };
                usi::look(UsiPlayer { startups, ..UsiPlayer::alone(engine) }, reach, &sender).await
            }));
        }
        let telling = tokio::spawn(tell_waits(progress, say.clone()));
        let mut seen = Vec::with_capacity(tasks.len());
        for task in tasks {
            seen.push(task.await.unwrap_or_else(|panicked| Err(LookFault::of_panic(&panicked.to_string()))));
        }
        telling.abort();
        seen
    }
}

/// Shows which engines take long, and with what.
async fn tell_waits(progress: Vec<(Arc<EnginePlan>, watch::Receiver<Step>)>, say: Say) {
    let mut told = vec![Step::Queued; progress.len()];
    loop {
        tokio::time::sleep(LONG).await;
        for ((engine, steps), told) in progress.iter().zip(&mut told) {
            let step = *steps.borrow();
            // A look that is over has dropped its sender.
            if steps.has_changed().is_err() || step == *told {
                continue;
            }
            *told = step;
            if let Some(owed) = step.owed() {
                say(&format!("engine `{}`: waiting for {owed}", engine.name));
            }
        }
    }
}

/// The engines that this program starts, in the order of the plan: neither players of the network, nor those that were
/// replaced.
pub fn started_here(plan: &Plan) -> impl Iterator<Item = &EnginePlan> {
    plan.engines.iter().filter(|engine| plan.starts(engine))
}

/// Options of the configuration that the engine does not offer, or values that it does not take.
pub fn option_faults(engine: &EnginePlan, shown: &Handshake) -> Vec<String> {
    let mut faults = Vec::new();
    for (at, (name, value)) in engine.options.iter().enumerate() {
        let place = engine.option_sources.get(at).map(|source| format!("{source}: ")).unwrap_or_default();
        match shown.options.iter().find(|option| option.name == *name) {
            Some(option) => {
                if let Err(fault) = option.check(value) {
                    faults.push(format!("{place}engine `{}`: {fault}", engine.name));
                }
            }
            None if IMPLIED.contains(&name.as_str()) => {}
            None => {
                let near = spelled_in_usi(name)
                    .or_else(|| nearest(name, shown.options.iter().map(|option| option.name.as_str())));
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                faults.push(format!("{place}engine `{}` offers no option `{name}`{hint}", engine.name));
            }
        }
    }
    faults
}

/// The option of every USI engine that a UCI engine has without the prefix: `USI_Hash` for `Hash`.
fn spelled_in_usi(name: &str) -> Option<&'static str> {
    let same =
        |implied: &&&str| implied.strip_prefix("USI_").is_some_and(|rest| rest.eq_ignore_ascii_case(name));
    IMPLIED.iter().find(same).copied()
}

/// Threads that the engine uses by its option, set or default.
fn thread_count(engine: &EnginePlan, shown: &Handshake) -> f64 {
    let set = engine.options.iter().find(|(name, _)| THREADS.contains(&name.as_str()));
    if let Some(threads) = set.and_then(|(_, value)| value.parse().ok()) {
        return threads;
    }
    let declared = shown.options.iter().find(|option| THREADS.contains(&option.name.as_str()));
    match declared.map(|option| &option.kind) {
        Some(OptionKind::Spin { default, .. }) => *default as f64,
        _ => 1.0,
    }
}

/// Cores that a game of an event keeps busy, by what is known of its engines: a whole number, 0 if none plays here.
pub fn cores_of_a_game(plan: &Plan, engines: &[EngineFacts]) -> usize {
    let cores: Vec<f64> = engines.iter().map(|engine| engine.cores).collect();
    (cores_per_game(plan, &cores).ceil() as usize).max(usize::from(!cores.is_empty()))
}

/// Cores that a game keeps busy: those of the heaviest engine, as only one of the two thinks; of both if one ponders.
pub fn cores_per_game(plan: &Plan, threads: &[f64]) -> f64 {
    let mut heaviest = threads.to_vec();
    heaviest.sort_by(|a, b| b.total_cmp(a));
    let pondering = plan.engines.iter().any(|engine| engine.ponder);
    heaviest.iter().take(if pondering { 2 } else { 1 }).sum()
}

/// The engine with the most threads by its option, and the way to fewer; `None` if no option asks for more than one.
fn heaviest(engines: &[Arc<EnginePlan>], shown: &[Handshake]) -> Option<String> {
    let here = engines.iter().zip(shown).filter(|(engine, _)| engine.host.is_none());
    let threads = here.filter_map(|(engine, shown)| {
        let declared = shown.options.iter().find(|option| THREADS.contains(&option.name.as_str()))?;
        Some((thread_count(engine, shown), engine, declared))
    });
    let (count, engine, option) = threads.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let is_set = engine.options.iter().any(|(name, _)| *name == option.name);
    (count > 1.0).then(|| {
        format!(
            "`{}` takes {count} by its option `{name}`{}: `options = {{ {name} = 1 }}`",
            engine.name,
            if is_set { "" } else { ", which is not set" },
            name = option.name
        )
    })
}

/// Rules of engines that differ from those of the event, each with the `options` that mend it. The usual move limit is so
/// high that an engine without one is not named for it.
fn rule_notes<'a>(
    rules: &Rules,
    engines: impl Iterator<Item = (&'a EnginePlan, &'a Handshake)>,
) -> Vec<String> {
    let mut notes: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (engine, shown) in engines {
        let value = |option: &OptionDecl| {
            let set = engine.options.iter().find(|(name, _)| *name == option.name);
            set.map(|(_, value)| value.clone()).or_else(|| match &option.kind {
                OptionKind::Combo { default, .. } => Some(default.clone()),
                OptionKind::Spin { default, .. } => Some(default.to_string()),
                _ => None,
            })
        };
        let found = |name: &str| shown.options.iter().find(|option| option.name == name);
        let (mut differs, mut mended) = (vec![], vec![]);
        if let Some(option @ OptionDecl { kind: OptionKind::Combo { choices, .. }, .. }) = found(DECLARES)
            && let Some(own) = value(option)
            && !declarations(rules.declaration).contains(&own.as_str())
        {
            differs.push(format!("declaration by `{own}`"));
            let right =
                choices.iter().find(|choice| declarations(rules.declaration).contains(&choice.as_str()));
            mended.extend(right.map(|right| format!("{DECLARES} = \"{right}\"")));
        }
        if let Some(own) = found(LIMIT).and_then(value).and_then(|value| value.parse::<u32>().ok()) {
            let limit = rules.max_moves.unwrap_or(0);
            let usual = Rules::default().max_moves.unwrap_or(0);
            if own != limit && !(own == 0 && limit >= usual) {
                differs.push(if own == 0 {
                    "no move limit".to_owned()
                } else {
                    format!("{own} moves at most")
                });
                mended.push(format!("{LIMIT} = {limit}"));
            }
        }
        if !differs.is_empty() {
            let way = if mended.is_empty() {
                String::new()
            } else {
                format!(": `options = {{ {} }}`", mended.join(", "))
            };
            notes.entry((differs.join(", "), way)).or_default().push(format!("`{}`", engine.name));
        }
    }
    let limit = rules.max_moves.map_or("no move limit".to_owned(), |limit| format!("{limit} moves at most"));
    let event = format!("the event has {} and {limit}", declaration_words(rules.declaration));
    let note = |((differs, way), names): ((String, String), Vec<String>)| {
        format!("{}: {differs}; {event}{way}", names.join(", "))
    };
    notes.into_iter().map(note).collect()
}

/// Options of engines for the rule of declaration and the move limit (YaneuraOu's names, which others took over).
const DECLARES: &str = "EnteringKingRule";
const LIMIT: &str = "MaxMovesToDraw";

/// Values of the option for the rule of declaration that mean a rule; with and without credit for a handicap.
fn declarations(rule: Declaration) -> &'static [&'static str] {
    match rule {
        Declaration::None => &["NoEnteringKing"],
        Declaration::Csa27 => &["CSARule27", "CSARule27H"],
        Declaration::Csa24 => &["CSARule24", "CSARule24H"],
        Declaration::Try => &["TryRule"],
    }
}

fn declaration_words(rule: Declaration) -> &'static str {
    match rule {
        Declaration::None => "no declaration",
        Declaration::Csa27 => "`declaration = \"27\"`",
        Declaration::Csa24 => "`declaration = \"24\"`",
        Declaration::Try => "`declaration = \"try\"`",
    }
}

fn core_fault(plan: &Plan, engines: &[EngineFacts], heaviest: Option<&str>) -> Option<String> {
    let usable = std::thread::available_parallelism().map_or(1, usize::from);
    let each = cores_per_game(plan, &engines.iter().map(|engine| engine.cores).collect::<Vec<_>>());
    let heaviest = heaviest.map(|engine| format!(" ({engine})")).unwrap_or_default();
    let of_judge = plan.judge.as_ref().map_or(0.0, |judge| judge.engine.cores);
    let needed = each * plan.concurrency as f64 + of_judge;
    let and_judge = if of_judge > 0.0 {
        format!(", and {} for the judge", number(of_judge, "core"))
    } else {
        String::new()
    };
    (needed > usable as f64 + 0.01 && !plan.oversubscribe).then(|| {
        format!(
            "{} at once with up to {} each{heaviest}{and_judge}: {needed} cores are needed, and {usable} can be used here; lower \
             `concurrency` or the engines' threads, or force it with `oversubscribe`",
            number(plan.concurrency, "game"),
            number(each, "core")
        )
    })
}

/// Workers for an event, and the claim on their cores.
#[derive(Debug, Default)]
pub struct Placement {
    /// The workers.
    pub workers: Vec<WorkerSpec>,
    /// Keeps the cores of pinned workers from other managers.
    pub claimed: Option<ClaimedCores>,
    /// What to tell people about it.
    pub words: Option<String>,
}

/// The workers of an event, on cores of their own where the plan wants it, or where it leaves the choice and nobody
/// loses by it (see [`crate::cores`]).
pub fn placement(plan: &Plan, engines: &[EngineFacts]) -> Placement {
    let machine = Machine::read();
    match plan.affinity {
        Some(true) => {
            let workers = pinned_workers(plan, &platform::cores::usable());
            let threads: Vec<usize> = workers.iter().flat_map(|worker| worker.cores.clone()).collect();
            Placement { workers, claimed: Some(ClaimedCores::of_threads(&machine, &threads)), words: None }
        }
        Some(false) => unpinned(plan),
        None => {
            let games = games_to_pin(plan, engines, &machine).ok();
            games.and_then(|games| own_cores(&machine, games)).unwrap_or_else(|| unpinned(plan))
        }
    }
}

/// A worker with one game for each core; `None` if there are not enough free cores.
fn own_cores(machine: &Machine, games: usize) -> Option<Placement> {
    let claimed = ClaimedCores::idle(machine, games)?;
    let threads = claimed.threads();
    let spec = |(number, &thread)| WorkerSpec { number, slots: 1, cores: vec![thread] };
    let workers = threads.iter().enumerate().map(spec).collect();
    let list: Vec<String> = threads.iter().map(usize::to_string).collect();
    let words = format!("each game has a core of its own: {} (`affinity = \"auto\"`)", list.join(", "));
    Some(Placement { workers, claimed: Some(claimed), words: Some(words) })
}

fn unpinned(plan: &Plan) -> Placement {
    let games = plan.concurrency.max(1);
    let workers = games.min(platform::cores::usable().len());
    let spec = |number| WorkerSpec { number, slots: share(games, workers, number), cores: vec![] };
    Placement { workers: (0..workers).map(spec).collect(), claimed: None, words: None }
}

/// Workers on as many hardware threads as a game keeps busy; games beyond the hardware threads share workers.
fn pinned_workers(plan: &Plan, threads: &[usize]) -> Vec<WorkerSpec> {
    let games = plan.concurrency.max(1);
    let cores: Vec<f64> = plan.engines.iter().map(|engine| engine.cores).collect();
    let each = (cores_per_game(plan, &cores).ceil() as usize).max(1);
    let own = |number: usize| (0..each).map(|n| threads[(number * each + n) % threads.len()]).collect();
    let workers = games.min((threads.len() / each).max(1));
    let spec = |number| WorkerSpec { number, slots: share(games, workers, number), cores: own(number) };
    (0..workers).map(spec).collect()
}

/// Games at once on one of the workers.
fn share(games: usize, workers: usize, number: usize) -> usize {
    games / workers + usize::from(number < games % workers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use notation::usi::EngineLine;

    fn engine(name: &str, options: &[(&str, &str)]) -> EnginePlan {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        EnginePlan { name: name.to_owned(), options, ..EnginePlan::default() }
    }

    fn shown(lines: &[&str]) -> Handshake {
        let options = lines.iter().filter_map(|line| match EngineLine::parse(line.as_bytes()) {
            EngineLine::Option(option) => Some(option),
            _ => None,
        });
        Handshake { options: options.collect(), ..Handshake::default() }
    }

    const KING: &str = "option name EnteringKingRule type combo default CSARule27 var NoEnteringKing var CSARule24 \
                        var CSARule27 var TryRule";
    const MOVES: &str = "option name MaxMovesToDraw type spin default 0 min 0 max 100000";

    #[test]
    fn rules_of_an_engine_that_differ_from_the_events_are_named_with_the_options_that_mend_them() {
        let shown = shown(&[KING, MOVES]);
        let [plain, other, set, right] = [
            engine("k1", &[]),
            engine("k4", &[]),
            engine("k2", &[("EnteringKingRule", "TryRule"), ("MaxMovesToDraw", "256")]),
            engine("k3", &[("EnteringKingRule", "CSARule24"), ("MaxMovesToDraw", "100")]),
        ];
        let notes = |rules: &Rules| {
            rule_notes(rules, [&plain, &other, &set, &right].into_iter().map(|it| (it, &shown)))
        };
        let rules = Rules { declaration: Declaration::Csa24, max_moves: Some(100), ..Rules::default() };
        assert_eq!(
            notes(&rules),
            [
                "`k1`, `k4`: declaration by `CSARule27`, no move limit; the event has `declaration = \"24\"` and 100 moves \
                 at most: `options = { EnteringKingRule = \"CSARule24\", MaxMovesToDraw = 100 }`",
                "`k2`: declaration by `TryRule`, 256 moves at most; the event has `declaration = \"24\"` and 100 moves at \
                 most: `options = { EnteringKingRule = \"CSARule24\", MaxMovesToDraw = 100 }`",
            ]
        );
        let usual = rule_notes(&Rules::default(), std::iter::once((&plain, &shown)));
        assert_eq!(usual, [""; 0], "hardly a game reaches the usual limit");
        let endless = Rules { max_moves: None, ..Rules::default() };
        let note = rule_notes(&endless, std::iter::once((&right, &shown))).remove(0);
        assert!(
            note.ends_with(
                "and no move limit: `options = { EnteringKingRule = \"CSARule27\", MaxMovesToDraw = 0 }`"
            ),
            "{note}"
        );
    }

    #[test]
    fn habits_that_cost_games_are_named_with_the_line_that_mends_them() {
        let plain =
            Handshake { busy_at_rest: Some(1.04), reversed: Some(Score::Cp(-2500)), ..Handshake::default() };
        let [busy, black] = &warnings(&engine("odd", &[]), &plain)[..] else { panic!("two") };
        assert_eq!(
            busy,
            "warning: engine `odd` keeps 1.0 cores busy while its opponent is to move, without `ponder`; `cores = 2` gives \
             its opponent a core of its own"
        );
        assert_eq!(
            black,
            "warning: engine `odd` evaluates a position that White, to move, wins easily as -2500 for White: its scores \
             seem to be those of black, and adjudication by score would take it for lost where it wins; write \
             `scores = \"black\"`"
        );
        let ponders = shown(&["option name USI_Ponder type check default true"]);
        let ponders = Handshake { busy_at_rest: Some(4.0), reversed: Some(Score::Mate(-3)), ..ponders };
        let told = EnginePlan { scores: ScoreView::Black, ..engine("odd", &[]) };
        let said = warnings(&told, &ponders).join("\n");
        assert!(said.contains("`options = { USI_Ponder = false }` turns that off"), "{said}");
        assert!(
            said.contains("as lost by mate for White") && said.ends_with("leave out `scores = \"black\"`"),
            "{said}"
        );
        assert!(warnings(&told, &Handshake::default()).is_empty());
    }

    #[test]
    fn too_many_threads_are_those_of_a_named_engine_and_its_option() {
        let threads = shown(&["option name Threads type spin default 4 min 1 max 1024"]);
        let engines = [engine("small", &[("Threads", "1")]), engine("yane", &[])].map(Arc::new);
        let heaviest = heaviest(&engines, &[threads.clone(), threads]).unwrap();
        assert_eq!(
            heaviest,
            "`yane` takes 4 by its option `Threads`, which is not set: `options = { Threads = 1 }`"
        );
        let plan = Plan { concurrency: 1000, ..Plan::of_engines("event", vec![], "event.db".into()) };
        let facts = EngineFacts {
            id_name: None,
            cores: 4.0,
            declares_threads: true,
            process_threads: None,
            warnings: vec![],
        };
        let fault = core_fault(&plan, &[facts], Some(&heaviest)).unwrap();
        assert!(
            fault.starts_with("1000 games at once with up to 4 cores each (`yane` takes 4 by"),
            "{fault}"
        );
    }
}
