//! `renmei analyze`: records with the opinions of engines.

mod hosts;

use super::{
    Exit, Failure,
    values::{COMMENTED, EffortArgs, RECORD_FORMATS, one_of},
};
use clap::{Args, builder::RangedU64ValueParser};
use event::write_picture;
use explain::{Cache, Engine, ExplainFault, Guest, Judged, Line, Pool};
use hosts::Host;
use notation::record::{self, Format, GameRecord};
use plan::EnginePlan;
use platform::files::{self, Access};
use referee::{evaluation::Evaluation, number::number, rules::Rules};
use report::plot::{self, Size};
use rsshogi::{board, types::Move};
use std::{
    cell::Cell,
    collections::HashSet,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};
use tokio_util::task::TaskTracker;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Records of any format that `renmei import` reads: CSA, KIF, KI2, JKF, USI lines. Each game becomes a record with the engine's
evaluation and line of play after every move as a comment, and a picture of the evaluations; where the record has none, the
first engine's evaluations become its scores, which GUIs draw. Every position is a piece of work for one core. What was
searched is kept in DIR/searches.jsonl, so that the same command continues after an interruption.

Examples:
  renmei analyze game.kif --engine ./engine --nodes 1000000 -o analyzed/
  renmei analyze games/ --engine ./old --engine './new --eval nn.bin' --jobs 16 -o analyzed/ --format jkf
  renmei analyze games/ --engine /opt/engine/usi --ssh box2,ann@192.0.2.7=4 -o analyzed/")]
pub struct AnalyzeArgs {
    /// Record files, and directories in and below which record files are read.
    #[arg(required = true)]
    pub records: Vec<PathBuf>,
    /// Command line of an engine; several may be given.
    #[arg(long, value_name = "COMMAND", required = true)]
    pub engine: Vec<String>,
    /// An option of the engines, NAME=VALUE; several may be given.
    #[arg(long, value_name = "NAME=VALUE")]
    pub option: Vec<String>,
    /// Another machine that searches, too, reached by `ssh HOST`, and how many searches run there at once [default: its cores];
    /// several by commas. The engines have to be there, in the same build and with the same files: an absolute path is the
    /// same there, a relative one begins in the home directory.
    #[arg(long, value_name = "HOST[=N]", value_delimiter = ',')]
    pub ssh: Vec<HostArg>,
    /// The program `ssh`, with options that stand before the host.
    #[arg(long, value_name = "COMMAND", default_value = "ssh", requires = "ssh")]
    pub ssh_command: String,
    /// Nodes for a position.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub nodes: u64,
    /// The directory for records and pictures; it is made if it is missing.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Format of the records.
    #[arg(long, value_parser = one_of(&RECORD_FORMATS[..COMMENTED]), default_value = "kifu")]
    pub format: Format,
    #[command(flatten)]
    pub effort: EffortArgs,
}

/// Most searches at once on another machine.
const MOST_JOBS: usize = 1024;

/// Another machine, and how many searches run there at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostArg {
    /// As `ssh` takes it.
    pub name: String,
    /// Searches at once; `None`: as many as it has cores.
    pub jobs: Option<NonZeroUsize>,
}

impl FromStr for HostArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, jobs) = text.rsplit_once('=').map_or((text, None), |(name, jobs)| (name, Some(jobs)));
        plan::check_hosts(&[name.to_owned()]).map_err(|why| why.to_string())?;
        let number = |text: &str| {
            let number = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= MOST_JOBS);
            number.ok_or_else(|| format!("`{text}` is not a number from 1 to {MOST_JOBS}"))
        };
        Ok(Self { name: name.to_owned(), jobs: jobs.map(number).transpose()? })
    }
}

/// Largest file of records or positions that is read.
pub(super) const MOST_BYTES: u64 = 64_000_000;

/// A game that is analyzed.
struct Game {
    /// Name of its files, without extension.
    name: String,
    record: GameRecord,
    line: Line,
    /// By engine, the opinions of its positions as they come.
    opinions: Vec<Vec<Option<Judged>>>,
    /// Opinions that are missing.
    missing: usize,
}

/// A search: game, engine, position.
type Item = (usize, usize, usize);

/// Lets engines search every position of the games of record files.
pub fn analyze(args: &AnalyzeArgs) -> Result<Exit, Failure> {
    board::init();
    let engines: Vec<_> =
        args.engine.iter().map(|command| named(command, &args.option)).collect::<Result<_, _>>()?;
    let hosts = hosts::hosts(args, &engines)?;
    let (games, left_out) = games(&args.records, engines.len());
    left_out.iter().for_each(|line| err_line!("left out: {line}"));
    if games.is_empty() {
        return Err(Failure::Usage("no game could be read".to_owned()));
    }
    let fault = |why| Failure::Other(format!("`{}`: {why}", args.output.display()));
    files::create_directory(&args.output, Access::Shared).map_err(fault)?;
    let cache =
        Cache::open(&args.output.join("searches.jsonl")).map_err(|why| Failure::Other(why.to_string()))?;
    searched(args, games, &engines, &hosts, &cache)?;
    Ok(if left_out.is_empty() { Exit::Done } else { Exit::Failed })
}

fn named(command: &str, options: &[String]) -> Result<(Arc<EnginePlan>, String), Failure> {
    let engine = explain::engine(command, options).map_err(|why| Failure::Usage(why.to_string()))?;
    let digest = explain::digest(&engine)
        .map_err(|why| Failure::Usage(format!("`{}`: {why}", engine.command.display())))?;
    Ok((Arc::new(engine), digest))
}

/// The games of the files, and what could not be read of them.
fn games(paths: &[PathBuf], engines: usize) -> (Vec<Game>, Vec<String>) {
    let (files, faults) = records::found(paths);
    let mut left_out: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let (mut games, mut names) = (vec![], HashSet::new());
    for file in files {
        for (at, read) in records::read(&file, MOST_BYTES).into_iter().enumerate() {
            let game = read.map_err(|fault| fault.to_string()).and_then(|record| {
                let moves: Vec<Move> = record.plies.iter().map(|ply| ply.mv).collect();
                let line = Line::replayed(&record.start, moves, &Rules::default());
                Ok((line.map_err(|why| format!("{}: game {}: {why}", file.display(), at + 1))?, record))
            });
            match game {
                Err(why) => left_out.push(why),
                Ok((line, record)) => {
                    let positions = line.moves() + 1;
                    let opinions = (0..engines).map(|_| (0..positions).map(|_| None).collect()).collect();
                    let name = name(&file, &mut names);
                    games.push(Game { name, record, line, opinions, missing: engines * positions });
                }
            }
        }
    }
    (games, left_out)
}

/// A name that no other game has: that of the file, with a number where it is not the first.
fn name(file: &Path, names: &mut HashSet<String>) -> String {
    let stem = notation::file_name(&file.file_stem().unwrap_or_default().to_string_lossy()).to_string();
    let numbered = (2_u64..).map(|number| format!("{stem}-{number}"));
    let free = std::iter::once(stem.clone()).chain(numbered).find(|name| !names.contains(name));
    let name = free.unwrap_or(stem);
    names.insert(name.clone());
    name
}

/// Searches all positions, and writes each game when its last position was searched.
fn searched(
    args: &AnalyzeArgs,
    games: Vec<Game>,
    engines: &[(Arc<EnginePlan>, String)],
    hosts: &[Host],
    cache: &Cache,
) -> Result<(), Failure> {
    let items = |(at, game): (usize, &Game)| -> Vec<Item> {
        let positions = |engine| (0..=game.line.moves()).map(move |position| (at, engine, position));
        (0..engines.len()).flat_map(positions).collect()
    };
    let items: Vec<Item> = games.iter().enumerate().flat_map(items).collect();
    let lines: Vec<Line> = games.iter().map(|game| game.line.clone()).collect();
    let order = items.clone();
    let counts = vec![Cell::new(0); hosts.len() + 1];
    let seats = Seats { engines, cache, patience: args.effort.patience(), counts };
    let say = |line: &str| err_line!("{line}");
    let pool = Pool { guests: seats.guests(hosts, &say), ..args.effort.pool() };
    let (mut progress, mut fault) = (Progress { args, names: labels(engines), games, done: 0 }, None);
    explain::each(
        pool,
        items,
        |actors| seats.here(actors),
        async |worker, &(game, engine, position)| {
            let judged = worker.engines[engine].judge(&lines[game], position, args.nodes).await?;
            seats.counts[worker.place].set(seats.counts[worker.place].get() + 1);
            Ok(judged)
        },
        |at, judged: Result<Judged, ExplainFault>| {
            let judged = judged.map_err(|why| Failure::Other(format!("{why}; the same command goes on")));
            let kept = judged.and_then(|judged| progress.take(order[at], judged));
            fault = fault.take().or(kept.err());
            fault.is_none()
        },
    )
    .map_err(|why| Failure::Other(why.to_string()))?;
    seats.print_shares(hosts);
    fault.map_or(Ok(()), Err)
}

/// The games while they are searched.
struct Progress<'a> {
    args: &'a AnalyzeArgs,
    /// Names of the engines.
    names: Vec<String>,
    games: Vec<Game>,
    /// Games that are written.
    done: usize,
}

impl Progress<'_> {
    /// Takes the opinion of a position; the last one of a game writes it.
    fn take(&mut self, (game, engine, position): Item, judged: Judged) -> Result<(), Failure> {
        let of = self.games.len();
        let game = &mut self.games[game];
        game.opinions[engine][position] = Some(judged);
        game.missing -= 1;
        if game.missing > 0 {
            return Ok(());
        }
        self.done += 1;
        err_line!("{} of {}: {}", self.done, number(of, "game"), game.name);
        write(self.args, game, &self.names)
    }
}

/// Where engines are opened: on this machine, place 0, and on the others.
struct Seats<'a> {
    engines: &'a [(Arc<EnginePlan>, String)],
    cache: &'a Cache,
    patience: Duration,
    /// By place, the positions that were searched there.
    counts: Vec<Cell<usize>>,
}

/// Engines that are asked for one position at a time.
struct Worker<'a> {
    place: usize,
    engines: Vec<Engine<'a>>,
}

impl<'a> Seats<'a> {
    /// A worker with these engines, whose searches are those of the engines here.
    fn open(
        &self,
        place: usize,
        plans: impl Iterator<Item = Arc<EnginePlan>>,
        actors: &TaskTracker,
    ) -> Worker<'a> {
        let engine = |(plan, (_, digest)): (Arc<EnginePlan>, &(_, String))| {
            Engine::new(&(plan, digest.clone()), self.cache, self.patience, actors)
        };
        Worker { place, engines: plans.zip(self.engines).map(engine).collect() }
    }

    /// Prints how many positions each machine has searched, where there are several.
    fn print_shares(&self, hosts: &[Host]) {
        if !hosts.is_empty() {
            let names = hosts.iter().map(|host| host.name.as_str());
            let there = names.zip(self.counts[1..].iter().map(Cell::get));
            err_line!("{}", hosts::share(self.counts[0].get(), there));
        }
    }

    fn here(&self, actors: &TaskTracker) -> Worker<'a> {
        self.open(0, self.engines.iter().map(|(plan, _)| plan.clone()), actors)
    }

    fn guests<'b>(&'b self, hosts: &'b [Host], say: &'b dyn Fn(&str)) -> Vec<Guest<'b, Worker<'a>>> {
        let guest = |(place, host): (usize, &'b Host)| Guest {
            name: host.shown(),
            muster: host.muster(),
            open: Box::new(move |actors| self.open(place, host.engines.iter().cloned(), actors)),
            say,
        };
        (1..).zip(hosts).map(guest).collect()
    }
}

/// The names of engines; those of one name are numbered.
fn labels(engines: &[(Arc<EnginePlan>, String)]) -> Vec<String> {
    let names: Vec<&str> = engines.iter().map(|engine| engine.0.name.as_str()).collect();
    let label = |(at, name): (usize, &&str)| match names.iter().filter(|other| *other == name).count() {
        1 => (*name).to_owned(),
        _ => format!("{name} {}", names[..=at].iter().filter(|other| *other == name).count()),
    };
    names.iter().enumerate().map(label).collect()
}

/// Writes a game as a record and as a picture.
fn write(args: &AnalyzeArgs, game: &mut Game, names: &[String]) -> Result<(), Failure> {
    let fault = |why: String| Failure::Other(format!("`{}`: {why}", args.output.display()));
    annotate(game, names);
    let bytes =
        record::write(&game.record, args.format).map_err(|why| fault(format!("{}: {why}", game.name)))?;
    let file = PathBuf::from(format!("{}.{}", game.name, args.format.extension()));
    files::write_below(&args.output, &file, &bytes, Access::Shared).map_err(|why| fault(why.to_string()))?;
    let evaluations = |own: &Vec<Option<Judged>>| -> Vec<(u32, Evaluation)> {
        own.iter().flatten().filter_map(|it| Some((u32::try_from(it.at).ok()?, it.evaluation?))).collect()
    };
    let curves: Vec<_> =
        names.iter().map(String::as_str).zip(game.opinions.iter().map(evaluations)).collect();
    let [black, white] = [&game.record.black, &game.record.white].map(|name| name.as_deref().unwrap_or("?"));
    let title = format!("☗ {black} – ☖ {white}");
    write_picture(
        &plot::opinions(&title, &curves, Size::Wide),
        &args.output.join(format!("{}.svg", game.name)),
    )
}

/// Adds the opinions to the comments of a record, and scores where it has none.
fn annotate(game: &mut Game, names: &[String]) {
    let has_scores = game.record.plies.iter().any(|ply| ply.score.is_some());
    for (engine, (name, own)) in names.iter().zip(&game.opinions).enumerate() {
        for judged in own.iter().flatten() {
            let ply = judged.at.checked_sub(1).and_then(|at| game.record.plies.get_mut(at));
            let comment = match ply {
                Some(ply) => {
                    if !has_scores && engine == 0 {
                        ply.score = judged.centipawns;
                    }
                    &mut ply.comment
                }
                None => &mut game.record.comment,
            };
            if !comment.is_empty() {
                comment.push('\n');
            }
            comment.push_str(&judged.comment(name));
        }
    }
}
