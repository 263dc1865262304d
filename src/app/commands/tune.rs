//! `renmei tune`: the values of an engine's options by which it is strongest.

use super::{Exit, Failure, OpenScreen, playing::PlayingArgs, values::from_to};
use arena::Shutdown;
use clap::Args;
use contest::schedule::{Format, Stage};
use event::{
    find_event, listen, prepare,
    tuning::{self, Tuner},
    write, write_picture,
};
use journal::{EventSummary, Moves, Store};
use laboratory::{
    Cache,
    landscape::{Assumption, COST, Proposal, Tried, propose},
    params::ParamsFile,
};
use plan::{EnginePlan, Event, Plan, SprtModel, SprtPlan};
use platform::files;
use referee::{
    Outcome,
    clock::TimeControl,
    entry::{Entry, GameId},
};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The file has one engine, `[tune]` with the number of pairs, and the options under `[[parameters]]`. Each pair of games is
played between two engines whose values lie above and below the tuned ones, and moves these towards the winner (SPSA). The
number of pairs is fixed before the first. The same command resumes.

Examples:
  renmei tune tune.toml --simulate
  renmei tune tune.toml --plot tune.svg --confirm
  renmei tune tune.toml --params engine.params --export tuned.params")]
pub struct TuneArgs {
    /// The configuration file.
    pub file: PathBuf,
    /// Take the options from a parameter file of YaneuraOu instead of `[[parameters]]`.
    #[arg(long, value_name = "FILE")]
    pub params: Option<PathBuf>,
    /// Write the tuned values as a parameter file of YaneuraOu.
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    /// Draw the values over the pairs into a file, `.svg` or `.png`.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// At the end, test the tuned values against those before: SPRT with 0 and 5 normalized Elo at the same time, then with
    /// four times as much.
    #[arg(long)]
    pub confirm: bool,
    /// Play nothing: propose pairs, perturbations and steps for an assumed landscape.
    #[arg(long, conflicts_with_all = ["confirm", "export", "plot"])]
    pub simulate: bool,
    /// With --simulate: Elo that an option costs at `c_end` from its best value, for all or for one. May be repeated
    /// [default: 2.5].
    #[arg(long, value_name = "ELO|OPTION=ELO", requires = "simulate")]
    pub cost: Vec<String>,
    /// With --simulate: distance of the best values from the starts, in perturbations.
    #[arg(long, value_name = "C", default_value_t = 2.0, value_parser = from_to::<0, 100>)]
    pub distance: f64,
    /// With --simulate: share of the games that are drawn.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = from_to::<0, 1>)]
    pub draws: f64,
    /// With --simulate: Elo that the tuned values may lose against the best, in 95 of 100 tunings.
    #[arg(long, value_name = "ELO", default_value_t = 1.0, value_parser = from_to::<0, 100>)]
    pub within: f64,
    #[command(flatten)]
    pub playing: PlayingArgs,
}

/// How much longer the second of the tests at the end thinks.
const LONGER: u32 = 4;
/// Most games of a test at the end.
const MOST_GAMES: u64 = 40_000;

/// Tunes the options of an engine.
pub fn tune(args: &TuneArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let mut plan = load(args)?;
    if args.simulate {
        return simulate(&mut plan, args);
    }
    args.playing.apply(&mut plan)?;
    let exit = args.playing.play(plan.clone(), open_screen)?;
    let store = Store::read(&plan.database)?;
    let events = store.events()?;
    let event = find_event(&events, Some(&plan.name))?;
    if exit == Exit::Halted {
        tell_last_words(&store, event)?;
    }
    let Some(tuner) = Tuner::read(&store, event, &report::plan(event)?)? else { return Ok(exit) };
    if let Some(path) = &args.export {
        export(&tuner, args.params.as_deref(), path)?;
    }
    if let Some(path) = &args.plot {
        write_picture(&tuner.plot(&plan.name), path)?;
    }
    if args.confirm && exit == Exit::Done { confirm(&plan, &tuner, args, open_screen) } else { Ok(exit) }
}

/// Shows what an engine said last in a game that ended by its fault.
fn tell_last_words(store: &Store, event: &EventSummary) -> Result<(), Failure> {
    let mut last = None;
    store.replay(event.id, Moves::Without, &mut |stamped| {
        if let Entry::GameEnded(ended) = &stamped.entry
            && matches!(ended.outcome, Outcome::Win { by, .. } if by.is_fault())
        {
            last = Some((ended.game, ended.evidence.clone()));
        }
    })?;
    if let Some((GameId(game), evidence)) = last {
        err_line!("the last such game, {game}:\n{}", evidence.trim_end());
    }
    Ok(())
}

/// The plan of the file, with the parameters of `--params`.
fn load(args: &TuneArgs) -> Result<Plan, Failure> {
    let file = args.file.display();
    let Event::Arranged { plan, .. } = Event::load_hosted(&args.file).map_err(Failure::Config)? else {
        return Err(Failure::Usage(format!(
            "{file}: this file describes an open league; there is nothing to tune"
        )));
    };
    let mut plan = *plan;
    let Some(tune) = &mut plan.tune else {
        return Err(Failure::Usage(format!(
            "{file}: there is no `[tune]`; say how many pairs of games are played, such as `[tune]` with `pairs = 10000`"
        )));
    };
    if let Some(path) = &args.params {
        tune.parameters = params(path)?.parameters().cloned().collect();
    }
    Ok(plan)
}

fn params(path: &Path) -> Result<ParamsFile, Failure> {
    let wrong = |why: String| Failure::Usage(format!("--params {}: {why}", path.display()));
    let text = files::contents(path, files::SMALL).and_then(files::utf8);
    let text = text.map_err(|error| wrong(error.to_string()))?;
    ParamsFile::parse(&text).map_err(|fault| wrong(fault.to_string()))
}

/// Writes the tuned values: into the lines of the file that they came from, or into one of their own.
fn export(tuner: &Tuner, from: Option<&Path>, to: &Path) -> Result<(), Failure> {
    let file = match from {
        Some(path) => params(path)?,
        None => ParamsFile::of(&tuner.parameters()),
    };
    let values = tuner.averaged();
    let text = file.with(&|name| values.get(name).copied()).text();
    write(to, text.as_bytes())
}

/// Plays the tuned values against those before the first pair, at the same time and at a longer one.
fn confirm(plan: &Plan, tuner: &Tuner, args: &TuneArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let mut playing = args.playing.clone();
    playing.event.place.name = None;
    let mut exit = Exit::Done;
    for (what, factor) in [("tuned against start", 1), ("tuned against start, longer", LONGER)] {
        let event = format!("{}, {what}", plan.name);
        err_line!("{event}");
        exit = playing.play(test(plan, tuner, event, factor), open_screen)?;
        if exit != Exit::H1 {
            break;
        }
    }
    Ok(exit)
}

/// The plan of a sequential test between the tuned values and those before.
fn test(plan: &Plan, tuner: &Tuner, name: String, factor: u32) -> Plan {
    let player = |(at, name): (usize, &str)| {
        let engine = plan.engines.get(at).cloned().unwrap_or_default();
        let mut options = engine.options.clone();
        options.extend(tuner.options(at == 0));
        let mut engine = EnginePlan { name: name.to_owned(), options, ..engine };
        engine.times_mut().for_each(|time| *time = longer(time, factor));
        engine
    };
    let engines = ["tuned", "start"].into_iter().enumerate().map(player).collect();
    let stages = vec![Stage { format: Format::Sprt { max_games: MOST_GAMES }, games: 2, ..Stage::default() }];
    let sprt = SprtPlan { model: SprtModel::Normalized, elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05 };
    Plan {
        name,
        engines,
        stages,
        sprt: Some(sprt),
        tune: None,
        seed: plan.seed ^ u64::from(factor),
        ..plan.clone()
    }
}

fn longer(time: &TimeControl, factor: u32) -> TimeControl {
    TimeControl {
        main: time.main * factor,
        byoyomi: time.byoyomi * factor,
        increment: time.increment * factor,
        fixed: time.fixed.map(|fixed| fixed * factor),
        nodes: time.nodes.map(|nodes| nodes.saturating_mul(u64::from(factor))),
        depth: time.depth.map(|depth| if factor > 1 { depth + 1 } else { depth }),
        ..*time
    }
}

/// Plans the tuning on an assumed landscape, before a game is spent.
fn simulate(plan: &mut Plan, args: &TuneArgs) -> Result<Exit, Failure> {
    let shutdown = Shutdown::default();
    listen(&shutdown)?;
    let _in_use = prepare::build(plan, &Cache::here()?, &shutdown, &event::aloud())?;
    let found = prepare::look(&Plan { look: false, ..plan.clone() })?;
    let Some(tuner) = tuning::begin(plan, &found.shown, &|line| err_line!("{line}"))? else {
        return Ok(Exit::Done);
    };
    let assumption = assumption(args, &tuner)?;
    let Some(proposal) = propose(tuner.spec(), &assumption, &|| shutdown.is_finishing()) else {
        if shutdown.is_finishing() {
            return Ok(Exit::Stopped);
        }
        return Err(Failure::Other(
            "the goal needs more than 500000 pairs; tune fewer options, or say a wider `--within`".to_owned(),
        ));
    };
    tell(&proposal, &assumption);
    Ok(Exit::Done)
}

/// What is assumed: each option costs so much Elo at `c_end` from its best value.
fn assumption(args: &TuneArgs, tuner: &Tuner) -> Result<Assumption, Failure> {
    let parameters = &tuner.spec().parameters;
    let mut costs = vec![COST; parameters.len()];
    for word in &args.cost {
        let (name, elo) = word.split_once('=').map_or((None, word.as_str()), |(name, elo)| (Some(name), elo));
        let elo: f64 = elo.parse().ok().filter(|elo| (0.01..=400.0).contains(elo)).ok_or_else(|| {
            Failure::Usage(format!("--cost {word}: it is ELO or OPTION=ELO, from 0.01 to 400"))
        })?;
        match name.map(|name| (name, parameters.iter().position(|it| it.name == name))) {
            None => costs.fill(elo),
            Some((_, Some(at))) => costs[at] = elo,
            Some((name, None)) => {
                return Err(Failure::Usage(format!("--cost {word}: `{name}` is not tuned")));
            }
        }
    }
    let (distance, draws, within) = (args.distance, args.draws, args.within);
    Ok(Assumption { costs, distance, draws, within, confidence: 0.95 })
}

fn tell(proposal: &Proposal, assumption: &Assumption) {
    let Proposal { spec, start, tried, steep, flat } = proposal;
    out_line!(
        "assumed: every best value is {} perturbations away, which is {start:.0} Elo in all; {:.0} % draws",
        assumption.distance,
        100.0 * assumption.draws
    );
    out_line!("\n[tune]\npairs = {}\nwindow = {}", spec.pairs, spec.window);
    for it in &spec.parameters {
        let name = toml::Value::from(it.name.clone());
        out_line!("\n[[parameters]]\nname = {name}\nc_end = {:.4}\nr_end = {:.5}", it.c_end, it.r_end);
    }
    let within = assumption.within;
    out_line!("\n200 simulated tunings of {} games each, by the averaged values:", 2 * spec.pairs);
    let line = |what: &str, tried: &Tried| {
        out_line!(
            "  {what}: {:.1} % lose {within} Elo at most, {:.1} % lose {} at most; median {:.2} Elo",
            100.0 * tried.within,
            100.0 * tried.within_three,
            3.0 * within,
            tried.median
        );
    };
    line("as assumed", tried);
    line("three times as steep, options interact", steep);
    line("three times as flat, options interact", flat);
}
