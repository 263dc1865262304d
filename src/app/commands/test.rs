//! `renmei test`: two commits of a repository, and what `bisect` and `queue` share with it: commits as engines.

use super::{
    Exit, Failure, OpenScreen,
    games::{self, GamesArgs, Length, LengthArgs, pair},
    playing::PlayingArgs,
};
use arena::Shutdown;
use clap::Args;
use event::{listen, prepare::build, queue::refuse_same_program};
use laboratory::{
    Cache, Surroundings,
    git::{Commit, short},
};
use std::path::Path;
use toml::{Table, Value};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Both commits are built in a cache of Renmei's own; the repository is only read. The build runs as you, with all your
rights. `worktree` in place of a commit is the directory as it is, uncommitted work included. The same command resumes.

Examples:
  renmei test feature main --repo ../engine --build \"make -j2\" --program src/engine --sprt elo0=0 elo1=5 --time 10s+0.1s
  renmei test worktree HEAD --build \"cargo build --release\" --program target/release/engine --time \"nodes 10000\"")]
pub struct TestArgs {
    /// The two commits, and their games.
    #[command(flatten)]
    pub pair: CommitsArgs,
    #[command(flatten)]
    pub playing: PlayingArgs,
}

/// Two commits, and their games.
#[derive(Clone, Debug, Args)]
pub struct CommitsArgs {
    /// The new commit: anything that `git rev-parse` understands, or `worktree`.
    #[arg(value_name = "NEW")]
    pub new: String,
    /// The old commit.
    #[arg(value_name = "OLD")]
    pub old: String,
    /// The builds.
    #[command(flatten)]
    pub source: SourceArgs,
    /// How long it is played.
    #[command(flatten)]
    pub length: LengthArgs,
    /// What is played.
    #[command(flatten)]
    pub games: GamesArgs,
}

/// How commits are built.
#[derive(Clone, Debug, Args)]
pub struct SourceArgs {
    /// The repository: a directory, or a URL.
    #[arg(long, value_name = "DIR|URL", default_value = ".")]
    pub repo: String,
    /// The command that builds the engine, for `sh -c` in the top directory of the checkout.
    #[arg(long, value_name = "COMMAND")]
    pub build: String,
    /// The program that the build makes, relative to the top directory.
    #[arg(long, value_name = "PATH")]
    pub program: String,
    /// A file or directory that the program reads and git does not track, relative to the top directory.
    #[arg(long, value_name = "PATH")]
    pub keep: Vec<String>,
    /// Time after which a build is given up.
    #[arg(long, value_name = "TIME", default_value = "1h")]
    pub build_timeout: String,
    /// Leave what git ignores in the checkout from build to build.
    #[arg(long)]
    pub incremental: bool,
}

/// Plays two commits of a repository against each other.
pub fn test(args: &TestArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let shutdown = Shutdown::default();
    listen(&shutdown)?;
    let (say, stopped) = (|line: &str| err_line!("{line}"), || shutdown.is_finishing());
    let (cache, around) = (Cache::here()?, Surroundings { say: &say, stopped: &stopped });
    let (pair, place) = (&args.pair, &args.playing.event.place);
    let tested = Tested::resolve(pair, &cache, &around)?;
    let length = Length::of("round-robin", &pair.length);
    let name = place.name.as_deref().unwrap_or("test");
    let mut plan = games::plan(name, &pair.games, length, tested.engines(&pair.source))?;
    let builds = build(&mut plan, &cache, &shutdown, &event::aloud())?;
    refuse_same_program(&builds)?;
    // What a commit or a branch stands for moves while the command stays the same.
    if place.name.is_none() {
        games::take_a_free_name(&mut plan, place.db.as_deref())?;
    }
    tested.tell();
    plan.difference = Some(tested.difference);
    args.playing.play(plan, open_screen)
}

/// The commits of a test.
pub(super) struct Tested {
    /// The repository.
    pub repository: String,
    /// The new commit and the old one, each with what was typed for it.
    pub commits: [(String, Commit); 2],
    /// Size of their difference, in git's words; empty if there is none.
    pub difference: String,
}

impl Tested {
    /// Finds the commits of a test.
    pub fn resolve(args: &CommitsArgs, cache: &Cache, around: &Surroundings<'_>) -> Result<Self, Failure> {
        let repository = repository(&args.source)?;
        let [new, old] = [&args.new, &args.old]
            .map(|rev| cache.resolve(&repository, rev, around).map(|commit| (rev.clone(), commit)));
        let (new, old) = (new?, old?);
        let difference = cache.difference(&repository, &old.1.id, &new.1.id)?;
        Ok(Self { repository, commits: [new, old], difference })
    }

    /// The names of the players: the new one and the old one.
    pub fn names(&self) -> [String; 2] {
        self.commits.each_ref().map(|(rev, commit)| name(rev, commit))
    }

    /// The tables of the engines.
    pub fn engines(&self, source: &SourceArgs) -> Vec<Value> {
        let source = SourceArgs { repo: self.repository.clone(), ..source.clone() };
        let named = self.names().into_iter().zip(&self.commits);
        named.map(|(name, (_, commit))| engine(&source, &name, &commit.id).into()).collect()
    }

    /// Tells what is tested: the commits and the size of their difference.
    fn tell(&self) {
        for (what, (rev, commit)) in ["new", "old"].into_iter().zip(&self.commits) {
            err_line!("{what}: {commit} ({})", notation::printable(rev.as_bytes()));
        }
        let same = "no difference in the files of git";
        err_line!("{}", if self.difference.is_empty() { same } else { &self.difference });
    }
}

/// The name of a commit in an event: its digits, behind what was typed unless that says the same.
fn name(rev: &str, commit: &Commit) -> String {
    let digits = short(&commit.id);
    if commit.id.starts_with(rev) { digits.to_owned() } else { format!("{rev}@{digits}") }
}

/// The repository of the arguments: a URL, or an absolute path.
pub(super) fn repository(args: &SourceArgs) -> Result<String, Failure> {
    let path = Path::new(&args.repo);
    if args.repo.contains("://") || (args.repo.contains(':') && !path.exists()) {
        return Ok(args.repo.clone());
    }
    let absolute =
        path.canonicalize().map_err(|error| Failure::Usage(format!("--repo {}: {error}", args.repo)))?;
    Ok(absolute.display().to_string())
}

/// The table of an engine that is built of a commit.
pub(super) fn engine(args: &SourceArgs, name: &str, commit: &str) -> Table {
    let keep = Value::Array(args.keep.iter().cloned().map(Value::from).collect());
    let source = Table::from_iter([
        pair("git", args.repo.clone()),
        pair("rev", commit),
        pair("build", args.build.clone()),
        pair("program", args.program.clone()),
        pair("keep", keep),
        pair("timeout", args.build_timeout.clone()),
        pair("incremental", args.incremental),
    ]);
    Table::from_iter([pair("name", name), pair("source", source)])
}
